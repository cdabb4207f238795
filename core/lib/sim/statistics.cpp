//===- statistics.cpp - Statistics of a run -------------------------------===//

#include "statistics.h"

#include <algorithm>
#include <bit>
#include <utility>

using namespace incc;
using namespace incc::sim;

namespace {

/// Adds a cycle with a count to a histogram.
void addCycle(std::vector<int64_t> &Histogram, int32_t Count) {
  if (Histogram.size() <= static_cast<size_t>(Count))
    Histogram.resize(static_cast<size_t>(Count) + 1);
  ++Histogram[static_cast<size_t>(Count)];
}

/// Adds a cycle at whose end `Entries` were in use.
void addUse(Usage &To, int64_t Entries) {
  To.Sum += Entries;
  To.Most = std::max(To.Most, Entries);
}

/// Counts at most as many entries as there are; 0 stands for no limit.
void addLimitedUse(Usage &Of, int64_t Entries) {
  addUse(Of, Of.Entries > 0 ? std::min<int64_t>(Entries, Of.Entries) : Entries);
}

void addMapping(Statistics::Mappings &To, int32_t New, int32_t Used) {
  To.Count += New;
  To.Most = std::max(To.Most, Used);
}

} // namespace

void incc::sim::completeEvents(std::vector<Event> &Events, int64_t FirstCycle) {
  int64_t PreviousRetired = FirstCycle;
  for (Event &E : Events) {
    if (E.Started < 0)
      E.Ready = E.Started = E.Dispatched;
    if (E.Retired < 0)
      E.Retired = std::max(PreviousRetired, E.Dispatched + 1);
    PreviousRetired = E.Retired;
  }
}

Observer::Observer(const Program &P, const SimulationOptions &Options)
    : P(P), Buffers(Options.Buffers), EventIterations(Options.EventIterations),
      WantsPressure(Options.Pressure), BufferUse(Options.Buffers.size()) {
  Stats.ReorderBuffer.Entries = P.K.Rob;
  Stats.AllSchedulers.Entries = P.K.Rs;
  Stats.Queue.Entries = P.P.WaitingPorts != 0 ? P.P.WaitingEntries : 0;
  for (int32_t Entries : P.P.SchedulerEntries)
    Stats.Schedulers.push_back({Entries, 0, 0});
  for (const SimulationOptions::Buffer &B : Buffers)
    Stats.Buffers.push_back({B.Entries, 0, 0});
  for (int64_t Iteration = 0; Iteration < this->EventIterations; ++Iteration)
    for (int32_t I = 0; I < P.K.numInstructions(); ++I)
      Events.push_back({static_cast<int32_t>(Iteration), I, 0, 0, -1, 0, -1});
  if (WantsPressure) {
    Stats.Pressure.ByResource.resize(static_cast<size_t>(P.K.NumColumns));
    findMemoryValues();
  }
}

/// Marks the values that are loaded from stored locations, and those that no µop makes and that
/// follow one of these.
void Observer::findMemoryValues() {
  ThroughMemory.resize(P.Values.size());
  for (bool Changed = true; std::exchange(Changed, false);)
    for (size_t V = 0; V < P.Values.size(); ++V) {
      const Value &Static = P.Values[V];
      bool IsMarked = Static.Forwarded;
      for (int32_t N = Static.Inputs.Begin; Static.NumUops == 0 && N < Static.Inputs.End; ++N)
        IsMarked |= ThroughMemory[static_cast<size_t>(P.Inputs[static_cast<size_t>(N)].Value)];
      Changed |= IsMarked != ThroughMemory[V];
      ThroughMemory[V] = IsMarked;
    }
}

void Observer::issued(int32_t I, int64_t Iteration, int64_t Cycle) {
  if (!std::exchange(HasBegun, true))
    FirstCycle = Cycle;
  if (Event *E = eventOf(Iteration, I))
    E->Dispatched = E->Executed = Cycle;
}

void Observer::issuedSlot(int64_t Iteration, int32_t I) {
  ++Issued;
  Slots.push_back({Iteration, I, 0});
}

void Observer::mapped(Registers New, Registers Used) {
  addMapping(Stats.AllRegisters, New.all(), Used.all());
  addMapping(Stats.General, New.General, Used.General);
  addMapping(Stats.Vector, New.Vector, Used.Vector);
}

void Observer::move(bool IsVector, bool IsEliminated) {
  Statistics::Moves &To = IsVector ? Stats.VectorMoves : Stats.GeneralMoves;
  ++To.Candidates;
  To.Eliminated += IsEliminated;
  To.Most = std::max<int64_t>(To.Most, MovesEliminated[IsVector] += IsEliminated);
}

void Observer::started(const Uop &Static, int64_t Iteration, int64_t Earliest,
                       int64_t InputsArrived, int64_t Executes) {
  ++Started;
  if (P.isInserted(static_cast<int32_t>(&Static - P.Uops.data())))
    return;
  Event *E = eventOf(Iteration, Static.Instruction);
  if (E && (E->Started < 0 || Executes < E->Started)) {
    E->Started = Executes;
    E->Ready = std::min(std::max(InputsArrived, Earliest), Executes);
  }
}

void Observer::retired(int64_t Number, int64_t Cycle, int64_t Executed) {
  const Slot &S = Slots[static_cast<size_t>(Number)];
  Retired += S.Instructions;
  if (Event *E = eventOf(S.Iteration, S.Instruction)) {
    E->Retired = Cycle;
    if (E->Started >= 0)
      E->Executed = std::max(E->Executed, Executed);
  }
}

void Observer::accesses(const LoadQueue &Loads, const StoreQueue &Stores) {
  if (!HasBegun)
    return;
  Stats.Loads.Entries = Loads.capacity();
  Stats.Stores.Entries = Stores.capacity();
  addUse(Stats.Loads, Loads.used());
  addUse(Stats.Stores, Stores.used());
}

void Observer::endCycle(int64_t Rob, const Scheduler &Schedulers) {
  if (!HasBegun)
    return;
  addCycle(Stats.Issued, Issued);
  addCycle(Stats.Started, Started);
  addCycle(Stats.Retired, Retired);
  Stats.Uops += Issued;
  addUse(Stats.ReorderBuffer, Rob);
  // A scheduler takes all µops of a slot if it has an entry left, so it may hold more µops than it
  // has entries.
  addLimitedUse(Stats.AllSchedulers, Schedulers.waiting());
  addUse(Stats.Queue, static_cast<int64_t>(Schedulers.queued()));
  for (size_t S = 0; S < Schedulers.used().size(); ++S)
    addLimitedUse(Stats.Schedulers[S], Schedulers.used()[S]);
  for (size_t N = 0; N < Buffers.size(); ++N)
    addUse(Stats.Buffers[N], std::min(std::exchange(BufferUse[N], 0), Buffers[N].Entries));
  MovesEliminated = {};
  if (wantsWaiting()) {
    PressureCycles &Pressure = Stats.Pressure;
    ++Pressure.Increase;
    Pressure.Resources += LacksResource;
    Pressure.Registers += LacksRegister;
    Pressure.Memory += LacksMemory;
    Pressure.Data += LacksRegister || LacksMemory;
    for (; LackingUnits != 0; LackingUnits &= LackingUnits - 1)
      ++Pressure.ByResource[static_cast<size_t>(std::countr_zero(LackingUnits))];
  }
  Issued = Entered = Started = Retired = 0;
  SchedulerFull = LacksRegister = LacksMemory = LacksResource = false;
}

void Observer::multiply(const Statistics &Then, int64_t Times) {
  auto Add = [&](int64_t &Now, int64_t Before) { Now += Times * (Now - Before); };
  auto AddAll = [&](auto &Now, const auto &Before) {
    for (size_t N = 0; N < Now.size(); ++N)
      Add(Now[N], N < Before.size() ? Before[N] : 0);
  };
  Add(Stats.Uops, Then.Uops);
  AddAll(Stats.Stalls, Then.Stalls);
  AddAll(Stats.Issued, Then.Issued);
  AddAll(Stats.Started, Then.Started);
  AddAll(Stats.Retired, Then.Retired);
  Add(Stats.ReorderBuffer.Sum, Then.ReorderBuffer.Sum);
  Add(Stats.AllSchedulers.Sum, Then.AllSchedulers.Sum);
  Add(Stats.Queue.Sum, Then.Queue.Sum);
  for (size_t S = 0; S < Stats.Schedulers.size(); ++S)
    Add(Stats.Schedulers[S].Sum, Then.Schedulers[S].Sum);
  for (size_t N = 0; N < Stats.Buffers.size(); ++N)
    Add(Stats.Buffers[N].Sum, Then.Buffers[N].Sum);
  Add(Stats.Loads.Sum, Then.Loads.Sum);
  Add(Stats.Stores.Sum, Then.Stores.Sum);
  Add(Stats.GeneralMoves.Candidates, Then.GeneralMoves.Candidates);
  Add(Stats.GeneralMoves.Eliminated, Then.GeneralMoves.Eliminated);
  Add(Stats.VectorMoves.Candidates, Then.VectorMoves.Candidates);
  Add(Stats.VectorMoves.Eliminated, Then.VectorMoves.Eliminated);
  Add(Stats.AllRegisters.Count, Then.AllRegisters.Count);
  Add(Stats.General.Count, Then.General.Count);
  Add(Stats.Vector.Count, Then.Vector.Count);
  Add(Stats.Pressure.Increase, Then.Pressure.Increase);
  Add(Stats.Pressure.Resources, Then.Pressure.Resources);
  Add(Stats.Pressure.Registers, Then.Pressure.Registers);
  Add(Stats.Pressure.Memory, Then.Pressure.Memory);
  Add(Stats.Pressure.Data, Then.Pressure.Data);
  AddAll(Stats.Pressure.ByResource, Then.Pressure.ByResource);
}

Statistics Observer::finish(int64_t End, int64_t EventCycles) {
  Stats.Cycles = End - FirstCycle;
  Stats.Waits.resize(static_cast<size_t>(P.K.numInstructions()));
  completeEvents(Events, FirstCycle);
  for (Event &E : Events) {
    for (int64_t *Time : {&E.Dispatched, &E.Ready, &E.Started, &E.Executed, &E.Retired})
      *Time -= FirstCycle;
    Statistics::Wait &Sum = Stats.Waits[static_cast<size_t>(E.Instruction)];
    ++Sum.Executions;
    Sum.InScheduler += E.Started - E.Dispatched;
    Sum.WhileReady += E.Started - E.Ready;
    Sum.UntilRetired += std::max<int64_t>(0, E.Retired - E.Executed - 1);
  }
  std::erase_if(Events, [&](const Event &E) { return E.Retired >= EventCycles; });
  Stats.Events = std::move(Events);
  return std::move(Stats);
}
