//===- backend.cpp - From issue to retirement ------------------------------===//
//
// Data flow is event driven: a value that learns its time tells those who wait for
// it, so that a µop is touched when it is issued, when its last input is known, when
// it becomes ready and when it starts.
//
//===----------------------------------------------------------------------===//

#include "backend.h"

#include <algorithm>
#include <bit>
#include <utility>

using namespace incc;
using namespace incc::sim;

Backend::Backend(const Program &P, Simulation &Counters, bool UnlimitedPorts, bool SteadyState)
    : Rob(P.K.Rob, P.K.RetireWidth), Loads(P.K.LoadBuffer),
      Stores(P.K.StoreBuffer, SteadyState, P.P.StoreWordWindow, P.P.StoreWordCycles),
      Registers(P.P.RegisterFile), Binder(P), Schedulers(P, Pool, Binder, UnlimitedPorts),
      Values(P), P(P), Counters(Counters), UnlimitedPorts(UnlimitedPorts),
      InOrder(P.P.InOrder != 0), Units(P), Oldest(P, Pool, Units, UnlimitedPorts),
      InTurn(P, Pool, Units, Binder, UnlimitedPorts) {
  Counters.PortUops.assign(static_cast<size_t>(P.K.NumColumns), 0);
}

void Backend::issue(int32_t U, int64_t Iteration, int64_t Cycle, int32_t Slot, int64_t RobSlot) {
  const Uop &Static = P.Uops[static_cast<size_t>(U)];
  int32_t N = Pool.add();
  DynUop &Dyn = Pool[N];
  Dyn.Iteration = Iteration;
  Dyn.Ready = INT64_MIN / 2;
  Dyn.Earliest = Cycle + P.P.IssueToDispatch;
  Dyn.RobSlot = RobSlot;
  Dyn.Static = U;
  Schedulers.enter(N, Slot);
  if (Observed)
    Observed->enteredScheduler();
  if (Static.DelaysTo != 0)
    Dyn.Delays = P.delaysTo(Static, Dyn.Port);
  for (int32_t X = Static.Inputs.Begin; X < Static.Inputs.End; ++X)
    Dyn.Missing += Values.connect(N, Iteration, P.Inputs[static_cast<size_t>(X)],
                                  [&](size_t Number, int64_t Time) {
                                    Time += portDelay(Dyn, Number);
                                    Dyn.Ready = std::max(Dyn.Ready, Time);
                                    if (RecordUops)
                                      noteInput(N, Number, Time);
                                  });
  if (InOrder)
    InTurn.enter(N);
  else if (Dyn.Missing == 0)
    Oldest.inputsKnown(N);
}

void Backend::inputKnown(int32_t N, size_t Number, int64_t Time) {
  DynUop &Dyn = Pool[N];
  Time += portDelay(Dyn, Number);
  Dyn.Ready = std::max(Dyn.Ready, Time);
  if (RecordUops)
    noteInput(N, Number, Time);
  if (--Dyn.Missing == 0 && !InOrder)
    Oldest.inputsKnown(N);
}

int64_t Backend::portDelay(const DynUop &Dyn, size_t Number) const {
  if (Dyn.Delays == 0) [[likely]]
    return 0;
  uint32_t Rules = Dyn.Delays & Values.delaysOf(Number);
  int64_t Most = Rules == 0 ? 0 : INT64_MIN;
  for (; Rules != 0; Rules &= Rules - 1)
    Most =
        std::max<int64_t>(Most, P.K.PortDelayCycles[static_cast<size_t>(std::countr_zero(Rules))]);
  return Most;
}

void Backend::leaveQueue() {
  Schedulers.leaveQueue([&](int32_t N) { Oldest.bound(N); });
}

void Backend::watch(int32_t V, int64_t Iteration, int64_t RobSlot) {
  if (int64_t Time = 0; !Values.watch(V, Iteration, RobSlot, Time))
    watchedKnown(RobSlot, Time);
}

void Backend::dispatch(int64_t Cycle) {
  Loads.cycle(Cycle);
  if (InOrder)
    InTurn.cycle(Cycle, [&](int32_t N) {
      start(N, Cycle, P.Uops[static_cast<size_t>(Pool[N].Static)].Stage);
    });
  else
    Oldest.cycle(Cycle, [&](int32_t N) { start(N, Cycle, 0); });
}

void Backend::start(int32_t N, int64_t Cycle, int32_t Stage) {
  int64_t Executes = Cycle + Stage;
  DynUop Dyn = Pool.remove(N);
  const Uop &Static = P.Uops[static_cast<size_t>(Dyn.Static)];
  Schedulers.leave(Dyn.Port);
  // A load that crosses a cache line takes its port once more.
  bool Crosses = P.crosses(Static, Dyn.Iteration);
  Units.take(Static, Dyn.Port, Cycle, Static.PortCycles + (Crosses ? P.K.LineCrossingCycles : 0),
             Crosses, /*Ways=*/!UnlimitedPorts);
  if (Static.Banks >= 0)
    Units.takeBanks(P.banksOf(Static, Dyn.Iteration), Crosses, Cycle);
  ++Counters.PortUops[static_cast<size_t>(Dyn.Port)];
  if (Static.Held >= 0)
    ++Counters.PortUops[static_cast<size_t>(Static.Held)];
  Rob.executed(Dyn.RobSlot, Executes + Static.Done - 1);
  if (P.P.LoadsLeaveWhenDone && Static.Kind == UopKind::Load)
    Loads.leaveWhenDone(Executes, Static.Done);
  if (Observed)
    Observed->started(Static, Dyn.Iteration, Dyn.Earliest + Static.Stage, Dyn.Inputs, Executes);
  if (Record)
    Record->push_back({Dyn.Iteration, Dyn.Static, Dyn.Port, Dyn.Inputs, Executes});
  if (RecordUops)
    noteStart(N, Dyn, Executes);
  uint32_t Delays = P.delaysFrom(Static, Dyn.Port);
  for (int32_t X = Static.Feeds.Begin; X < Static.Feeds.End; ++X) {
    const Feed &To = P.Feeds[static_cast<size_t>(X)];
    // Within the instruction, latencies have all that there is.
    Values.feed(Dyn.Iteration, To.Value, Executes + To.Latency,
                To.Value < P.K.numValues() ? Delays : 0, *this);
  }
}

void Backend::noteStart(int32_t N, const DynUop &Dyn, int64_t Executes) {
  const Uop &Static = P.Uops[static_cast<size_t>(Dyn.Static)];
  Late.resize(Pool.size());
  // In order a µop goes through its stages without a stop.
  int64_t Earliest = Dyn.Earliest + Static.Stage;
  RecordUops->push_back({Dyn.Iteration,
                         Static.Instruction,
                         P.nameOf(Dyn.Static),
                         Dyn.Port,
                         Static.PortCycles,
                         Static.Held,
                         Static.HeldCycles,
                         Dyn.Earliest - P.P.IssueToDispatch,
                         Earliest,
                         std::max(Dyn.Ready, Earliest),
                         Executes,
                         Executes + Static.Done,
                         std::exchange(Late[static_cast<size_t>(N)], {}),
                         {}});
}

void Backend::noteInput(int32_t N, size_t Number, int64_t Time) {
  const DynUop &Dyn = Pool[N];
  if (Time <= Dyn.Earliest + P.Uops[static_cast<size_t>(Dyn.Static)].Stage)
    return;
  int32_t V = Values.staticOf(Number);
  // What passes between the µops of an instruction is no wait for anybody.
  if (V >= P.K.numValues())
    return;
  int32_t Producer = P.Flow.InstructionOf[static_cast<size_t>(V)];
  int32_t Own = P.Uops[static_cast<size_t>(Dyn.Static)].Instruction;
  if (Producer == Own && Values.isOf(Number, Dyn.Iteration))
    return;
  Late.resize(Pool.size());
  Late[static_cast<size_t>(N)].push_back({Producer, Time});
}

void Backend::observe(int64_t Cycle) {
  if (Observed->wantsWaiting())
    noteWaiting(Cycle);
  if (Observed->wantsBuffers()) {
    if (InOrder) {
      for (int32_t N = 0; N < static_cast<int32_t>(Pool.size()); ++N)
        if (const DynUop &Dyn = Pool[N]; Dyn.Static >= 0 && Dyn.Port >= 0)
          Observed->waits(Dyn.Port, 1);
    } else {
      for (int32_t Port = 0; Port < P.K.NumPorts; ++Port)
        if (int32_t There = Schedulers.atPorts()[static_cast<size_t>(Port)]; There > 0)
          Observed->waits(Port, There);
    }
  }
  Observed->accesses(Loads, Stores);
  Observed->endCycle(Rob.used(), Schedulers);
}

/// What of the µops that could start in this cycle, had they all that they need, did not.
void Backend::noteWaiting(int64_t Cycle) {
  for (int32_t N = 0; N < static_cast<int32_t>(Pool.size()); ++N) {
    const DynUop &Dyn = Pool[N];
    if (Dyn.Static < 0 || Dyn.Earliest > Cycle)
      continue;
    const Uop &Static = P.Uops[static_cast<size_t>(Dyn.Static)];
    bool Late = false;
    for (int32_t X = Static.Inputs.Begin; X < Static.Inputs.End; ++X)
      if (const Input &In = P.Inputs[static_cast<size_t>(X)];
          !Values.isThere(Dyn.Iteration, In, Cycle + Static.Stage)) {
        Observed->lacks(In.Value);
        Late = true;
      }
    if (!Late && (Dyn.Missing > 0 || Dyn.Ready > Cycle + Static.Stage))
      continue; // Delayed on the way, by nobody.
    if (!Late)
      Observed->lacksUnit(Units.isHeldFree(Static, Cycle) ? Dyn.Port : Static.Held);
  }
}

void Backend::addTo(Fingerprint &F, int64_t Retired) const {
  F.add(Schedulers.waiting());
  Units.addTo(F);
  Pool.addTo(F, Rob.head());
  Values.addTo(F, Retired);
}
