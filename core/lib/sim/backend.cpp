//===- backend.cpp - Reorder buffer, scheduler and execution --------------===//
//
// Data flow is event driven: a value that learns its time tells those who wait
// for it, so that a µop is touched when it is issued, when its last input is
// known, when it becomes ready and when it starts.
//
//===----------------------------------------------------------------------===//

#include "backend.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <functional>
#include <utility>

using namespace incc;
using namespace incc::sim;

namespace {

/// Slots that a buffer of unlimited size holds at most; more than fit any core.
constexpr int32_t MostSlots = 1 << 14;

/// In a fingerprint, how long ago is what has no time yet; longer than anything in the machine.
constexpr int64_t NoTime = 1 << 30;

} // namespace

ReorderBuffer::ReorderBuffer(int32_t Size, int32_t RetireWidth)
    : Capacity(Size > 0 ? Size : MostSlots), RetireWidth(RetireWidth),
      Mask(std::bit_ceil(static_cast<size_t>(Capacity) + 1) - 1), States(Mask + 1) {}

int64_t ReorderBuffer::push(int64_t Cycle, int32_t Pending, bool LastOfIteration, Accesses Memory) {
  States[static_cast<size_t>(Tail) & Mask] = {Cycle, Pending, LastOfIteration, Memory};
  return Tail++;
}

Backend::Backend(const Program &P, Simulation &Counters, bool UnlimitedPorts, bool SteadyState)
    : Rob(P.K.Rob, P.K.RetireWidth), Loads(P.K.LoadBuffer), Stores(P.K.StoreBuffer, SteadyState),
      Binder(P), P(P), Counters(Counters), UnlimitedPorts(UnlimitedPorts), Rs(P.K.Rs),
      NumValues(static_cast<size_t>(P.numValues())) {
  // An iteration fills at least as many slots as it has entries in the queue.
  size_t InFlight = static_cast<size_t>(P.K.Rob > 0 ? P.K.Rob : MostSlots) /
                        static_cast<size_t>(std::max(1, static_cast<int32_t>(P.Slots.size()))) +
                    3;
  IterationMask = std::bit_ceil(InFlight) - 1;
  Values.resize((IterationMask + 1) * NumValues);
  Calendar.fill(-1);
  for (uint64_t Set : P.P.PickedFrom)
    WaysUntil.emplace_back(std::popcount(Set), 0);
  SharesUnits = std::ranges::any_of(P.Uops, [](const Uop &U) {
    return U.Shared >= 0 || (U.Held >= 0 && !std::has_single_bit(U.Ports));
  });
  SchedulerOf.fill(-1);
  EntriesUsed.assign(P.P.InOrder ? 0 : P.P.SchedulerPorts.size(), 0);
  for (size_t S = 0; S < EntriesUsed.size(); ++S)
    for (uint64_t Left = P.P.SchedulerPorts[S]; Left != 0; Left &= Left - 1)
      SchedulerOf[static_cast<size_t>(std::countr_zero(Left))] = static_cast<int32_t>(S);
  Counters.PortUops.assign(static_cast<size_t>(P.K.NumColumns), 0);
  for (const Input &In : P.Inputs) {
    LongestWay = std::max<int64_t>(LongestWay, std::abs(In.Latency));
    FarthestBack = std::max<int64_t>(FarthestBack, In.Distance);
  }
}

void Backend::enterIteration(int64_t Iteration) { Newest = Iteration; }

void Backend::addWaiter(DynValue &To, int32_t Uop, int64_t Value, int32_t Latency) {
  int32_t W = FreeWaiter;
  if (W >= 0) {
    FreeWaiter = Waiters[static_cast<size_t>(W)].Next;
  } else {
    W = static_cast<int32_t>(Waiters.size());
    Waiters.emplace_back();
  }
  Waiters[static_cast<size_t>(W)] = {To.FirstWaiter, Uop, Value, Latency};
  To.FirstWaiter = W;
}

void Backend::enterInstruction(int32_t I, int64_t Iteration, int64_t Cycle, Issued Optional) {
  const InstructionPlan &Plan = P.Instructions[static_cast<size_t>(I)];
  LastEntered = I;
  auto Connect = [&](int32_t V) {
    const Value &Static = P.Values[static_cast<size_t>(V)];
    DynValue &Dyn = valueAt(Iteration, V);
    Dyn.Time = Cycle;
    Dyn.FirstWaiter = -1;
    Dyn.Known = false;
    Dyn.Missing = Static.NumUops;
    if ((Optional.Move && V == Plan.Move.Value) || (Optional.Sync && V == Plan.Sync.Value) ||
        (Optional.Merge && V == Plan.Merge.Value)) {
      Dyn.Missing = 1;
      return;
    }
    for (int32_t N = Static.Inputs.Begin; N < Static.Inputs.End; ++N) {
      const Input &In = P.Inputs[static_cast<size_t>(N)];
      DynValue *From = find(Iteration, In);
      if (!From)
        continue;
      if (From->Known) {
        Dyn.Time = std::max(Dyn.Time, From->Time + In.Latency);
        continue;
      }
      ++Dyn.Missing;
      addWaiter(*From, -1, &Dyn - Values.data(), In.Latency);
    }
    Dyn.Known = Dyn.Missing == 0;
  };
  // Hidden values first: nothing of the instruction itself may find an old one.
  Range Hidden = P.HiddenValues[static_cast<size_t>(I)];
  for (int32_t V = Hidden.Begin; V < Hidden.End; ++V)
    Connect(V);
  for (int32_t V = P.K.ValueStart[I]; V < P.K.ValueStart[I + 1]; ++V)
    Connect(V);
}

bool Backend::accepts(std::span<const int32_t> SlotUops) const {
  return std::ranges::all_of(SlotUops, [&](int32_t U) {
    uint64_t Allowed = P.Uops[static_cast<size_t>(U)].Ports;
    return waitsInQueue(Allowed) ? static_cast<int32_t>(Upstream.size()) < P.P.WaitingEntries
                                 : (Allowed & ~Full & ~Given) != 0;
  });
}

void Backend::newCycle() {
  Binder.newCycle();
  Given = 0;
}

/// Chooses a port, if possible one that gets a µop more in this cycle, of a scheduler with room.
void Backend::bind(int32_t N, uint64_t Allowed, int32_t Slot) {
  DynUop &Dyn = Pool[static_cast<size_t>(N)];
  for (uint64_t Closed : {Full | Given, Full})
    if ((Allowed & ~Closed) != 0) {
      Allowed &= ~Closed;
      break;
    }
  Dyn.Port = Binder.choose(Allowed, Slot);
  Given |= uint64_t(1) << Dyn.Port & P.P.OneACycle;
  if (int32_t S = SchedulerOf[static_cast<size_t>(Dyn.Port)];
      S >= 0 &&
      ++EntriesUsed[static_cast<size_t>(S)] == P.P.SchedulerEntries[static_cast<size_t>(S)])
    Full |= P.P.SchedulerPorts[static_cast<size_t>(S)];
}

void Backend::leaveQueue() {
  for (int32_t Left = P.K.IssueWidth; Left > 0 && !Upstream.empty(); --Left) {
    int32_t N = Upstream.front();
    uint64_t Allowed = P.Uops[static_cast<size_t>(Pool[static_cast<size_t>(N)].Static)].Ports;
    if ((Allowed & ~Full) == 0)
      return;
    Upstream.pop_front();
    bind(N, Allowed, P.K.IssueWidth - Left);
    if (Pool[static_cast<size_t>(N)].IsReady)
      makeReady(N);
  }
}

void Backend::issue(int32_t U, int64_t Iteration, int64_t Cycle, int32_t Slot, int64_t RobSlot) {
  int32_t N = FreeUop;
  if (N >= 0) {
    FreeUop = Pool[static_cast<size_t>(N)].Next;
  } else {
    N = static_cast<int32_t>(Pool.size());
    Pool.emplace_back();
  }
  const Uop &Static = P.Uops[static_cast<size_t>(U)];
  {
    DynUop &Dyn = Pool[static_cast<size_t>(N)];
    Dyn = DynUop();
    Dyn.Iteration = Iteration;
    Dyn.Ready = INT64_MIN / 2;
    Dyn.Earliest = Cycle + P.P.IssueToDispatch;
    Dyn.RobSlot = RobSlot;
    Dyn.Order = NextOrder++;
    Dyn.Static = U;
    for (int32_t X = Static.Inputs.Begin; X < Static.Inputs.End; ++X) {
      const Input &In = P.Inputs[static_cast<size_t>(X)];
      DynValue *From = find(Iteration, In);
      if (!From)
        continue;
      if (From->Known) {
        Dyn.Ready = std::max(Dyn.Ready, From->Time + In.Latency);
        noteInput(N, *From, From->Time + In.Latency);
        continue;
      }
      ++Dyn.Missing;
      addWaiter(*From, N, -1, In.Latency);
    }
  }
  ++Waiting;
  if (waitsInQueue(Static.Ports))
    Upstream.push_back(N);
  else
    bind(N, Static.Ports, Slot);
  if (P.P.InOrder)
    InOrder.push_back(N);
  else if (Pool[static_cast<size_t>(N)].Missing == 0)
    schedule(N);
}

void Backend::watch(int32_t V, int64_t Iteration, int64_t RobSlot) {
  DynValue &Dyn = valueAt(Iteration, V);
  if (Dyn.Known)
    Rob.executed(RobSlot, Dyn.Time - 1);
  else
    addWaiter(Dyn, -2, RobSlot, 0);
}

void Backend::noteInput(int32_t N, const DynValue &From, int64_t Time) {
  const DynUop &Dyn = Pool[static_cast<size_t>(N)];
  if (!RecordUops || Time <= Dyn.Earliest)
    return;
  size_t Index = static_cast<size_t>(&From - Values.data());
  size_t V = Index % NumValues;
  int32_t Own = P.Uops[static_cast<size_t>(Dyn.Static)].Instruction;
  // What passes between the µops of an instruction is no wait for anybody.
  if (V >= static_cast<size_t>(P.K.numValues()))
    return;
  int32_t Producer = P.Flow.InstructionOf[V];
  if (Producer == Own && Index / NumValues == (static_cast<size_t>(Dyn.Iteration) & IterationMask))
    return;
  Late.resize(Pool.size());
  Late[static_cast<size_t>(N)].push_back({Producer, Time});
}

void Backend::schedule(int32_t N) {
  DynUop &Dyn = Pool[static_cast<size_t>(N)];
  // A µop whose inputs become ready just as it could leave may be held up.
  int64_t Time = Dyn.Ready == Dyn.Earliest || Dyn.Ready == Dyn.Earliest + 1
                     ? Dyn.Ready + P.P.JustReadyPenalty
                     : std::max(Dyn.Ready, Dyn.Earliest);
  Time = std::max(Time, Now + 1);
  Dyn.Inputs = std::max(Dyn.Ready, Dyn.Earliest - P.P.IssueToDispatch);
  Dyn.Ready = Time;
  int64_t Slot = std::min(Time, Now + Horizon - 1) % Horizon;
  Dyn.Next = Calendar[static_cast<size_t>(Slot)];
  Calendar[static_cast<size_t>(Slot)] = N;
}

/// Puts a µop among those that its port chooses from.
void Backend::makeReady(int32_t N) {
  const DynUop &Dyn = Pool[static_cast<size_t>(N)];
  PortState &Port = Ports[static_cast<size_t>(Dyn.Port)];
  Port.Ready.emplace_back(Dyn.Order, N);
  std::push_heap(Port.Ready.begin(), Port.Ready.end(), std::greater());
  Busy |= uint64_t(1) << Dyn.Port;
}

/// The ports with ready µops: in their order, or the one with the oldest µop first where µops of
/// different ports may want the same unit.
std::span<const int32_t> Backend::portsInTurn() {
  size_t Count = 0;
  for (uint64_t Left = Busy; Left != 0; Left &= Left - 1) {
    size_t At = Count++;
    int32_t Number = std::countr_zero(Left);
    for (; SharesUnits && At > 0 && oldestAt(InTurn[At - 1]) > oldestAt(Number); --At)
      InTurn[At] = InTurn[At - 1];
    InTurn[At] = Number;
  }
  return {InTurn.data(), Count};
}

void Backend::dispatch(int64_t Cycle) {
  Now = Cycle;
  Loads.leave(std::exchange(LoadsDone[static_cast<size_t>(Cycle % Horizon)], 0));
  if (P.P.InOrder)
    return dispatchInOrder(Cycle);
  int32_t &First = Calendar[static_cast<size_t>(Cycle % Horizon)];
  for (int32_t N = std::exchange(First, -1); N >= 0;) {
    DynUop &Dyn = Pool[static_cast<size_t>(N)];
    int32_t Next = Dyn.Next;
    if (Dyn.Ready > Cycle) {
      int64_t Slot = std::min(Dyn.Ready, Cycle + Horizon - 1) % Horizon;
      Dyn.Next = Calendar[static_cast<size_t>(Slot)];
      Calendar[static_cast<size_t>(Slot)] = N;
    } else if (UnlimitedPorts) {
      start(N, Cycle);
    } else {
      Dyn.IsReady = true;
      if (Dyn.Port >= 0)
        makeReady(N);
    }
    N = Next;
  }
  for (int32_t Number : portsInTurn()) {
    PortState &Port = Ports[static_cast<size_t>(Number)];
    if (Port.FreeAt > Cycle)
      continue;
    auto IsFree = [&](int32_t N) {
      int32_t Held = P.Uops[static_cast<size_t>(Pool[static_cast<size_t>(N)].Static)].Held;
      return Held < 0 || HeldUntil[static_cast<size_t>(Held)] <= Cycle;
    };
    size_t At = 0;
    if (!IsFree(Port.Ready.front().second)) {
      // The oldest of those that need not wait for the divider.
      At = Port.Ready.size();
      for (size_t N = 0; N < Port.Ready.size(); ++N)
        if (IsFree(Port.Ready[N].second) &&
            (At == Port.Ready.size() || Port.Ready[N] < Port.Ready[At]))
          At = N;
      if (At == Port.Ready.size())
        continue;
    }
    int32_t Uop = Port.Ready[At].second;
    // The oldest µop holds back those behind it until there is a way for it (measured on Zen 4).
    int32_t Set = P.Uops[static_cast<size_t>(Pool[static_cast<size_t>(Uop)].Static)].Shared;
    if (Set >= 0 && std::ranges::min(WaysUntil[static_cast<size_t>(Set)]) > Cycle)
      continue;
    if (At == 0) {
      std::pop_heap(Port.Ready.begin(), Port.Ready.end(), std::greater());
      Port.Ready.pop_back();
    } else {
      Port.Ready.erase(Port.Ready.begin() + static_cast<std::ptrdiff_t>(At));
      std::make_heap(Port.Ready.begin(), Port.Ready.end(), std::greater());
    }
    if (Port.Ready.empty())
      Busy &= ~(uint64_t(1) << Number);
    start(Uop, Cycle);
  }
}

void Backend::start(int32_t N, int64_t Cycle, int32_t Stage) {
  int64_t Executes = Cycle + Stage;
  DynUop Dyn = Pool[static_cast<size_t>(N)];
  const Uop &Static = P.Uops[static_cast<size_t>(Dyn.Static)];
  Pool[static_cast<size_t>(N)].Static = -1;
  Pool[static_cast<size_t>(N)].Next = FreeUop;
  FreeUop = N;
  --Waiting;
  Binder.hasLeft(Dyn.Port);
  if (int32_t S = SchedulerOf[static_cast<size_t>(Dyn.Port)]; S >= 0) {
    --EntriesUsed[static_cast<size_t>(S)];
    if (EntriesUsed[static_cast<size_t>(S)] < P.P.SchedulerEntries[static_cast<size_t>(S)])
      Full &= ~P.P.SchedulerPorts[static_cast<size_t>(S)];
  }
  ++Counters.PortUops[static_cast<size_t>(Dyn.Port)];
  // A load that crosses a cache line takes its port once more.
  bool Crosses =
      Static.Crossings > 0 && Dyn.Iteration * Static.Crossings / P.CrossingIterations !=
                                  (Dyn.Iteration + 1) * Static.Crossings / P.CrossingIterations;
  Ports[static_cast<size_t>(Dyn.Port)].FreeAt =
      Cycle + Static.PortCycles + (Crosses ? P.K.LineCrossingCycles : 0);
  if (Static.Shared >= 0 && !UnlimitedPorts) {
    std::vector<int64_t> &Ways = WaysUntil[static_cast<size_t>(Static.Shared)];
    *std::ranges::min_element(Ways) = Ports[static_cast<size_t>(Dyn.Port)].FreeAt;
  }
  if (Static.Held >= 0) {
    HeldUntil[static_cast<size_t>(Static.Held)] = Cycle + Static.HeldCycles;
    ++Counters.PortUops[static_cast<size_t>(Static.Held)];
  }
  Rob.executed(Dyn.RobSlot, Executes + Static.Done - 1);
  if (P.P.LoadsLeaveWhenDone && Static.Kind == UopKind::Load)
    ++LoadsDone[static_cast<size_t>((Executes + std::min<int64_t>(Static.Done, Horizon / 2)) %
                                    Horizon)];
  if (Record)
    Record->push_back({Dyn.Iteration, Dyn.Static, Dyn.Port, Dyn.Inputs, Executes});
  if (RecordUops) {
    Late.resize(Pool.size());
    RecordUops->push_back({Dyn.Iteration, Static.Instruction, Dyn.Port, Static.PortCycles,
                           Static.Held, Static.HeldCycles, Dyn.Earliest, Dyn.Ready, Executes,
                           std::exchange(Late[static_cast<size_t>(N)], {})});
  }
  auto Feed = [&](int32_t V, int32_t Latency) {
    DynValue &Fed = valueAt(Dyn.Iteration, V);
    Fed.Time = std::max(Fed.Time, Executes + Latency);
    if (--Fed.Missing == 0)
      publish(Fed);
  };
  for (int32_t X = Static.Feeds.Begin; X < Static.Feeds.End; ++X)
    Feed(P.Feeds[static_cast<size_t>(X)].Value, P.Feeds[static_cast<size_t>(X)].Latency);
}

void Backend::publish(DynValue &First) {
  News.push_back(&First - Values.data());
  while (!News.empty()) {
    DynValue &Known = Values[static_cast<size_t>(News.back())];
    News.pop_back();
    Known.Known = true;
    for (int32_t W = std::exchange(Known.FirstWaiter, -1); W >= 0;) {
      Waiter Told = Waiters[static_cast<size_t>(W)];
      Waiters[static_cast<size_t>(W)].Next = FreeWaiter;
      FreeWaiter = W;
      W = Told.Next;
      if (Told.Uop >= 0) {
        DynUop &Dyn = Pool[static_cast<size_t>(Told.Uop)];
        Dyn.Ready = std::max(Dyn.Ready, Known.Time + Told.Latency);
        noteInput(Told.Uop, Known, Known.Time + Told.Latency);
        if (--Dyn.Missing == 0 && !P.P.InOrder)
          schedule(Told.Uop);
      } else if (Told.Uop == -1) {
        DynValue &Next = Values[static_cast<size_t>(Told.Value)];
        Next.Time = std::max(Next.Time, Known.Time + Told.Latency);
        if (--Next.Missing == 0)
          News.push_back(Told.Value);
      } else {
        Rob.executed(Told.Value, Known.Time - 1);
      }
    }
  }
}

// --- fingerprint --------------------------------------------------------------------------------

void ReorderBuffer::addTo(Fingerprint &F) const {
  F.add(Tail - Head);
  for (int64_t Slot = Head; Slot < Tail; ++Slot) {
    const State &S = States[static_cast<size_t>(Slot) & Mask];
    F.deadline(S.Done + 1, S.Pending * 2 + S.LastOfIteration);
    if (S.Memory.Loads + S.Memory.Stores > 0)
      F.add(int64_t(S.Memory.Loads) << 48 | int64_t(S.Memory.Stores) << 32 | S.Memory.CommitCycles);
  }
}

void StoreQueue::addTo(Fingerprint &F) const {
  F.add(Used);
  F.deadline(FreeAt);
  for (auto [When, Count] : Committing)
    F.time(When, Count);
}

void Backend::addTo(Fingerprint &F, int64_t Retired) const {
  F.add(Waiting);
  F.iteration(Newest);
  F.add(LastEntered);
  for (size_t N = 0; N < static_cast<size_t>(P.K.NumColumns); ++N)
    if (std::max(Ports[N].FreeAt, HeldUntil[N]) > F.cycle()) {
      F.deadline(Ports[N].FreeAt, static_cast<int32_t>(N));
      F.deadline(HeldUntil[N]);
    }
  for (int64_t From = 1; P.P.LoadsLeaveWhenDone && From < Horizon; ++From)
    if (int32_t Loads = LoadsDone[static_cast<size_t>((F.cycle() + From) % Horizon)])
      F.add(From << 32 | Loads);
  for (const std::vector<int64_t> &Ways : WaysUntil)
    for (int64_t Until : Ways)
      F.deadline(Until);
  // Who waits for what follows from what is missing to whom, and from the program; the queues
  // before the schedulers and of an in-order core follow from the order.
  for (const DynUop &Dyn : Pool) {
    if (Dyn.Static < 0)
      continue;
    Fingerprint U = F.member();
    U.time(Dyn.Earliest, Dyn.Static);
    // As long as none of its inputs is known, there is no time.
    U.time(std::max(Dyn.Ready, F.cycle() - NoTime), Dyn.Missing << 8 | (Dyn.Port & 255));
    U.iteration(Dyn.Iteration, static_cast<int32_t>(Dyn.RobSlot - Rob.head()));
    U.add(static_cast<int64_t>(Dyn.Order - NextOrder));
    F.addToSet(U);
  }
  // A value that was ready so long ago that nothing waits for it is like any other one.
  int64_t First = std::min(Retired, Newest) - FarthestBack;
  First = std::max({First, int64_t(0), Newest - static_cast<int64_t>(IterationMask)});
  auto AddValue = [&](int64_t Iteration, size_t V) {
    const DynValue &Dyn = Values[(static_cast<size_t>(Iteration) & IterationMask) * NumValues + V];
    F.deadline(Dyn.Time + LongestWay + 2, Dyn.Known ? -1 : Dyn.Missing);
  };
  for (int64_t Iteration = First; Iteration < Newest; ++Iteration)
    for (size_t V = 0; V < NumValues; ++V)
      AddValue(Iteration, V);
  for (int32_t I = 0; I <= LastEntered; ++I) {
    Range Hidden = P.HiddenValues[static_cast<size_t>(I)];
    for (int32_t V = P.K.ValueStart[I]; V < P.K.ValueStart[I + 1]; ++V)
      AddValue(Newest, static_cast<size_t>(V));
    for (int32_t V = Hidden.Begin; V < Hidden.End; ++V)
      AddValue(Newest, static_cast<size_t>(V));
  }
}
