//===- statistics.cpp - What happens in each cycle, counted ----------------===//
//
// See statistics.h.
//
//===----------------------------------------------------------------------===//

#include "statistics.h"

#include <algorithm>
#include <bit>
#include <utility>

using namespace incc;
using namespace incc::sim;

namespace {

/// Adds a cycle to those in which there were so many.
void addCycle(std::vector<int64_t> &Histogram, int32_t Count) {
  if (Histogram.size() <= static_cast<size_t>(Count))
    Histogram.resize(static_cast<size_t>(Count) + 1);
  ++Histogram[static_cast<size_t>(Count)];
}

void use(Usage &Of, int64_t Entries) {
  Of.Sum += Entries;
  Of.Most = std::max(Of.Most, Entries);
}

/// Counts no more entries than there are; 0 stands for no limit.
void useAtMost(Usage &Of, int64_t Entries) {
  use(Of, Of.Entries > 0 ? std::min<int64_t>(Entries, Of.Entries) : Entries);
}

void map(Statistics::Mappings &To, int32_t New, int32_t Used) {
  To.Count += New;
  To.Most = std::max(To.Most, Used);
}

} // namespace

Observer::Observer(const Program &P, const SimulationOptions &Options)
    : P(P), Parts(Options.Buffers), EventIterations(Options.EventIterations),
      WantsPressure(Options.Pressure), Waiting(Options.Buffers.size()) {
  Counted.ReorderBuffer.Entries = P.K.Rob;
  Counted.AllSchedulers.Entries = P.K.Rs;
  Counted.Queue.Entries = P.P.WaitingPorts != 0 ? P.P.WaitingEntries : 0;
  for (int32_t Entries : P.P.SchedulerEntries)
    Counted.Schedulers.push_back({Entries, 0, 0});
  for (const SimulationOptions::Buffer &B : Parts)
    Counted.Buffers.push_back({B.Entries, 0, 0});
  for (int64_t Iteration = 0; Iteration < this->EventIterations; ++Iteration)
    for (int32_t I = 0; I < P.K.numInstructions(); ++I)
      Events.push_back({static_cast<int32_t>(Iteration), I, 0, 0, -1, 0, -1});
  if (WantsPressure) {
    Counted.Why.ByResource.resize(static_cast<size_t>(P.K.NumColumns));
    findMemoryValues();
  }
}

/// A value that no µop makes is through memory if one is that it hands on.
void Observer::findMemoryValues() {
  ThroughMemory.resize(P.Values.size());
  for (bool Changed = true; std::exchange(Changed, false);)
    for (size_t V = 0; V < P.Values.size(); ++V) {
      const Value &Of = P.Values[V];
      bool Is = Of.Forwarded;
      for (int32_t N = Of.Inputs.Begin; Of.NumUops == 0 && N < Of.Inputs.End; ++N)
        Is |= ThroughMemory[static_cast<size_t>(P.Inputs[static_cast<size_t>(N)].Value)];
      Changed |= Is != ThroughMemory[V];
      ThroughMemory[V] = Is;
    }
}

void Observer::issued(int32_t I, int64_t Iteration, int64_t Cycle) {
  if (!std::exchange(Begun, true))
    First = Cycle;
  if (Event *E = eventOf(Iteration, I))
    E->Dispatched = E->Executed = Cycle;
}

void Observer::issuedSlot(int64_t Iteration, int32_t I) {
  ++Issued;
  Slots.push_back({Iteration, I, 0});
}

void Observer::mapped(Registers New, Registers Used) {
  map(Counted.AllRegisters, New.all(), Used.all());
  map(Counted.General, New.General, Used.General);
  map(Counted.Vector, New.Vector, Used.Vector);
}

void Observer::move(bool Vector, bool IsEliminated) {
  Statistics::Moves &To = Vector ? Counted.VectorMoves : Counted.GeneralMoves;
  ++To.Candidates;
  To.Eliminated += IsEliminated;
  To.Most = std::max<int64_t>(To.Most, Eliminated[Vector] += IsEliminated);
}

void Observer::started(const Uop &Static, int64_t Iteration, int64_t Earliest, int64_t Ready,
                       int64_t Executes) {
  ++Started;
  // The renamer's own µops are nobody's.
  if (Static.Index < 0 && P.Instructions[static_cast<size_t>(Static.Instruction)].Move.Uop !=
                              static_cast<int32_t>(&Static - P.Uops.data()))
    return;
  Event *E = eventOf(Iteration, Static.Instruction);
  if (E && (E->Started < 0 || Executes < E->Started)) {
    E->Started = Executes;
    E->Ready = std::min(std::max(Ready, Earliest), Executes);
  }
}

void Observer::retired(int64_t Number, int64_t Cycle, int64_t Executed) {
  const Slot &Of = Slots[static_cast<size_t>(Number)];
  RetiredNow += Of.Instructions;
  if (Event *E = eventOf(Of.Iteration, Of.Instruction)) {
    E->Retired = Cycle;
    if (E->Started >= 0)
      E->Executed = std::max(E->Executed, Executed);
  }
}

void Observer::accesses(const LoadQueue &Loads, const StoreQueue &Stores) {
  if (!Begun)
    return;
  Counted.Loads.Entries = Loads.capacity();
  Counted.Stores.Entries = Stores.capacity();
  use(Counted.Loads, Loads.used());
  use(Counted.Stores, Stores.used());
}

void Observer::endCycle(int64_t Rob, const Scheduler &Schedulers) {
  if (!Begun)
    return;
  addCycle(Counted.Issued, Issued);
  addCycle(Counted.Started, Started);
  addCycle(Counted.Retired, RetiredNow);
  Counted.Uops += Issued;
  use(Counted.ReorderBuffer, Rob);
  // A scheduler with room takes all the µops of an issue slot: they share the entries left.
  useAtMost(Counted.AllSchedulers, Schedulers.waiting());
  use(Counted.Queue, static_cast<int64_t>(Schedulers.queued()));
  for (size_t S = 0; S < Schedulers.used().size(); ++S)
    useAtMost(Counted.Schedulers[S], Schedulers.used()[S]);
  for (size_t N = 0; N < Parts.size(); ++N)
    use(Counted.Buffers[N], std::min(std::exchange(Waiting[N], 0), Parts[N].Entries));
  Eliminated = {};
  if (wantsWaiting()) {
    Pressure &Why = Counted.Why;
    ++Why.Increase;
    Why.Resources += Resource;
    Why.Registers += Register;
    Why.Memory += Memory;
    Why.Data += Register || Memory;
    for (; Lacking != 0; Lacking &= Lacking - 1)
      ++Why.ByResource[static_cast<size_t>(std::countr_zero(Lacking))];
  }
  Issued = Entered = Started = RetiredNow = 0;
  SchedulerFull = Register = Memory = Resource = false;
}

void Observer::multiply(const Statistics &Then, int64_t Times) {
  auto Add = [&](int64_t &Now, int64_t Before) { Now += Times * (Now - Before); };
  auto AddAll = [&](auto &Now, const auto &Before) {
    for (size_t N = 0; N < Now.size(); ++N)
      Add(Now[N], N < Before.size() ? Before[N] : 0);
  };
  Add(Counted.Uops, Then.Uops);
  AddAll(Counted.Stalls, Then.Stalls);
  AddAll(Counted.Issued, Then.Issued);
  AddAll(Counted.Started, Then.Started);
  AddAll(Counted.Retired, Then.Retired);
  Add(Counted.ReorderBuffer.Sum, Then.ReorderBuffer.Sum);
  Add(Counted.AllSchedulers.Sum, Then.AllSchedulers.Sum);
  Add(Counted.Queue.Sum, Then.Queue.Sum);
  for (size_t S = 0; S < Counted.Schedulers.size(); ++S)
    Add(Counted.Schedulers[S].Sum, Then.Schedulers[S].Sum);
  for (size_t N = 0; N < Counted.Buffers.size(); ++N)
    Add(Counted.Buffers[N].Sum, Then.Buffers[N].Sum);
  Add(Counted.Loads.Sum, Then.Loads.Sum);
  Add(Counted.Stores.Sum, Then.Stores.Sum);
  Add(Counted.GeneralMoves.Candidates, Then.GeneralMoves.Candidates);
  Add(Counted.GeneralMoves.Eliminated, Then.GeneralMoves.Eliminated);
  Add(Counted.VectorMoves.Candidates, Then.VectorMoves.Candidates);
  Add(Counted.VectorMoves.Eliminated, Then.VectorMoves.Eliminated);
  Add(Counted.AllRegisters.Count, Then.AllRegisters.Count);
  Add(Counted.General.Count, Then.General.Count);
  Add(Counted.Vector.Count, Then.Vector.Count);
  Add(Counted.Why.Increase, Then.Why.Increase);
  Add(Counted.Why.Resources, Then.Why.Resources);
  Add(Counted.Why.Registers, Then.Why.Registers);
  Add(Counted.Why.Memory, Then.Why.Memory);
  Add(Counted.Why.Data, Then.Why.Data);
  AddAll(Counted.Why.ByResource, Then.Why.ByResource);
}

Statistics Observer::finish(int64_t End, int64_t EventCycles) {
  Counted.Cycles = End - First;
  Counted.Waits.resize(static_cast<size_t>(P.K.numInstructions()));
  int64_t Before = First;
  for (Event &E : Events) {
    if (E.Started < 0)
      E.Ready = E.Started = E.Dispatched;
    // Without a slot of its own an instruction retires with the one before.
    if (E.Retired < 0)
      E.Retired = std::max(Before, E.Dispatched + 1);
    Before = E.Retired;
    for (int64_t *Time : {&E.Dispatched, &E.Ready, &E.Started, &E.Executed, &E.Retired})
      *Time -= First;
    Statistics::Wait &Sum = Counted.Waits[static_cast<size_t>(E.Instruction)];
    ++Sum.Executions;
    Sum.InScheduler += E.Started - E.Dispatched;
    Sum.WhileReady += E.Started - E.Ready;
    Sum.UntilRetired += std::max<int64_t>(0, E.Retired - E.Executed - 1);
  }
  std::erase_if(Events, [&](const Event &E) { return E.Retired >= EventCycles; });
  Counted.Events = std::move(Events);
  return std::move(Counted);
}

// --- the critical sequence ----------------------------------------------------------------------

namespace {

/// A µop that made another one start when it did, or its result be there.
struct Reason {
  int32_t Uop = -1; ///< -1: there is none.
  SequenceStep::Kind Because = SequenceStep::None;
  int32_t Via = 0;
};

class Reasons {
public:
  explicit Reasons(const std::vector<StartedUop> &Uops) : Uops(Uops) {
    for (size_t N = 0; N < Uops.size(); ++N) {
      On[static_cast<size_t>(Uops[N].Port)].push_back(static_cast<int32_t>(N));
      if (Uops[N].Unit >= 0)
        On[static_cast<size_t>(Uops[N].Unit)].push_back(static_cast<int32_t>(N));
    }
  }

  /// Why a µop started; of one of which the result is waited for, why that came so late.
  Reason of(int32_t N, bool Result) const {
    const StartedUop &U = Uops[static_cast<size_t>(N)];
    const StartedUop::Input *Last = nullptr;
    for (const StartedUop::Input &In : U.Inputs) {
      bool Stored = In.Location == StartedUop::ThroughMemory;
      if (Stored && Result && In.Arrived >= U.Executed)
        return {In.Producer, SequenceStep::Memory, In.Location};
      if (!Stored && (!Last || In.Arrived > Last->Arrived))
        Last = &In;
    }
    if (U.Started > U.Ready)
      if (Reason Busy = holder(N); Busy.Uop >= 0)
        return Busy;
    if (U.Ready > U.Earliest && Last)
      return {Last->Producer, SequenceStep::Register, Last->Location};
    return {};
  }

private:
  /// Who had its port or unit while it waited: the last one that started there.
  Reason holder(int32_t N) const {
    const StartedUop &U = Uops[static_cast<size_t>(N)];
    Reason Found;
    for (int32_t Unit : {U.Port, U.Unit}) {
      if (Unit < 0)
        continue;
      const std::vector<int32_t> &There = On[static_cast<size_t>(Unit)];
      auto At = std::ranges::lower_bound(There, N);
      if (At == There.begin())
        continue;
      const StartedUop &Before = Uops[static_cast<size_t>(*--At)];
      int64_t Until = Before.Started + (Unit == U.Port ? Before.PortCycles : Before.UnitCycles);
      if (Before.Started < U.Started && Until > U.Ready && (Found.Uop < 0 || Until >= U.Started))
        Found = {*At, SequenceStep::Resource, Unit};
    }
    return Found;
  }

  const std::vector<StartedUop> &Uops;
  std::array<std::vector<int32_t>, 64> On; ///< By port and unit, in the order of their starts.
};

} // namespace

std::vector<SequenceStep> incc::sim::findSequence(const std::vector<StartedUop> &Uops,
                                                  const std::function<void(int32_t)> &LinkInputs) {
  if (Uops.empty())
    return {};
  // From the µop whose result came last. Its own wait for retirement is of no interest.
  auto Latest = std::ranges::max_element(Uops, {}, &StartedUop::Executed);
  struct Link {
    int32_t Uop;
    Reason Because;
  };
  std::vector<Link> Back; // From the last one.
  Reasons Why(Uops);
  auto IsSame = [&](int32_t A, int32_t B) {
    const StartedUop &One = Uops[static_cast<size_t>(A)], &Other = Uops[static_cast<size_t>(B)];
    return One.Instruction == Other.Instruction && One.Uop == Other.Uop;
  };
  int32_t At = static_cast<int32_t>(Latest - Uops.begin());
  // Inputs are always made by what started before, but for those that are needed late.
  for (size_t Left = Uops.size(); Left > 0; --Left) {
    LinkInputs(At);
    Reason Because = Why.of(At, /*Result=*/true);
    Back.push_back({At, Because});
    if (Because.Uop < 0)
      break;
    At = Because.Uop;
    // Where the chain comes back to one of its µops, an iteration before, all else leads there.
    auto Again = std::ranges::find_if(Back, [&](const Link &L) { return IsSame(L.Uop, At); });
    if (Again != Back.end()) {
      Back.erase(Back.begin(), Again);
      Back.push_back({At, {}});
      break;
    }
  }
  std::ranges::reverse(Back);
  std::vector<SequenceStep> Found;
  const StartedUop &First = Uops[static_cast<size_t>(Back.front().Uop)];
  int64_t Before = First.Started;
  for (size_t N = 0; N < Back.size(); ++N) {
    const StartedUop &U = Uops[static_cast<size_t>(Back[N].Uop)];
    bool Begins = N == 0;
    Found.push_back({U.Instruction, static_cast<int32_t>(U.Iteration - First.Iteration),
                     Begins ? SequenceStep::None : Back[N].Because.Because,
                     Begins ? -1 : Back[N].Because.Via, U.Started - Before});
    Before = U.Started;
  }
  return Found;
}
