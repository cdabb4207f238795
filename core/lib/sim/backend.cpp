//===- backend.cpp - From issue to retirement -----------------------------===//

#include "backend.h"

#include <algorithm>
#include <bit>
#include <utility>

using namespace incc;
using namespace incc::sim;

Backend::Backend(const Program &P, Simulation &Counters, bool UnlimitedPorts, bool StoresAtLimit)
    : Rob(P.K.Rob, P.K.RetireWidth), Loads(P.K.LoadBuffer),
      Stores(P.K.StoreBuffer, StoresAtLimit,
             PartialWordRule(P.P.StoreWordWindow, P.P.StoreWordCycles)),
      Compared(P.P, !P.Aliases.empty()),
      Registers(P.P.RegisterFile, {P.P.GeneralRegisters, P.P.VectorRegisters}), Binder(P),
      Schedulers(P, Pool, Binder, UnlimitedPorts), Values(P), P(P), Counters(Counters),
      UnlimitedPorts(UnlimitedPorts), InOrder(P.P.InOrder != 0), Units(P),
      Oldest(P, Pool, Units, UnlimitedPorts),
      InProgramOrder(P, Pool, Units, Binder, UnlimitedPorts) {
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
    Dyn.MissingInputs +=
        Values.connect(N, Iteration, P.Inputs[static_cast<size_t>(X)],
                       [&](size_t Number, int64_t Time) { noteArrival(Dyn, N, Number, Time); });
  if (InOrder)
    InProgramOrder.enter(N);
  else if (Dyn.MissingInputs == 0)
    Oldest.schedule(N);
}

void Backend::watch(int32_t V, int64_t Iteration, int64_t RobSlot) {
  if (int64_t Time = 0; !Values.watch(V, Iteration, RobSlot, Time))
    watchedArrives(RobSlot, Time);
}

void Backend::inputArrives(int32_t N, size_t Number, int64_t Time) {
  DynUop &Dyn = Pool[N];
  noteArrival(Dyn, N, Number, Time);
  if (--Dyn.MissingInputs == 0 && !InOrder)
    Oldest.schedule(N);
}

/// Notes that an input of a µop arrives at `Time`, and later if a delay between ports holds.
void Backend::noteArrival(DynUop &Dyn, int32_t N, size_t Number, int64_t Time) {
  Time += portDelay(Dyn, Number);
  Dyn.Ready = std::max(Dyn.Ready, Time);
  if (RecordUops)
    recordLateInput(N, Number, Time);
}

/// Returns by how many cycles a µop gets a value later than others, because of the ports of both
/// (Kernel::PortDelayCycles). For a µop that has no port yet, because it waits in the queue before
/// its scheduler, only delays that hold at all of its ports count.
int64_t Backend::portDelay(const DynUop &Dyn, size_t Number) const {
  if (Dyn.Delays == 0) [[likely]]
    return 0;
  uint32_t Rules = Dyn.Delays & Values.delaysOf(Number);
  int64_t Longest = Rules == 0 ? 0 : INT64_MIN;
  for (; Rules != 0; Rules &= Rules - 1)
    Longest = std::max<int64_t>(Longest,
                                P.K.PortDelayCycles[static_cast<size_t>(std::countr_zero(Rules))]);
  return Longest;
}

void Backend::leaveQueue() {
  Schedulers.leaveQueue([&](int32_t N) { Oldest.bound(N); });
}

void Backend::startUops(int64_t Cycle) {
  Loads.cycle(Cycle);
  Units.newCycle(Stores.isWriting(Cycle));
  if (InOrder)
    InProgramOrder.cycle(Cycle, [&](int32_t N) {
      start(N, Cycle, P.Uops[static_cast<size_t>(Pool[N].Static)].Stage);
    });
  else
    Oldest.cycle(
        Cycle, [&](int32_t N) { start(N, Cycle, 0); },
        [&](int32_t N, int32_t Port) {
          Schedulers.rebind(Pool[N].Port, Port);
          Pool[N].Port = Port;
        },
        [&](int32_t N, auto Call) {
          Range Feeds = P.Uops[static_cast<size_t>(Pool[N].Static)].Feeds;
          for (int32_t X = Feeds.Begin; X < Feeds.End; ++X) {
            const Feed &To = P.Feeds[static_cast<size_t>(X)];
            Values.forEachWaiter(Pool[N].Iteration, To.Value, [&](int32_t W, int32_t Latency) {
              const DynUop &Dyn = Pool[W];
              if (Dyn.MissingInputs == 1 && To.Latency + Latency == 1 && Dyn.Ready <= Cycle &&
                  Dyn.Earliest <= Cycle &&
                  (P.Uops[static_cast<size_t>(Dyn.Static)].Ports & P.P.PortsAtStart) != 0)
                Call(W);
            });
          }
        });
}

/// Starts a µop: it takes its port now and executes `Stage` cycles later.
void Backend::start(int32_t N, int64_t Cycle, int32_t Stage) {
  int64_t Executes = Cycle + Stage;
  DynUop Dyn = Pool.remove(N);
  const Uop &Static = P.Uops[static_cast<size_t>(Dyn.Static)];
  Schedulers.leave(Dyn.Port);
  bool CrossesLine = P.crossesLine(Static, Dyn.Iteration);
  bool IsAliased = Static.Aliased >= 0 && isAliased(Static, Dyn.Iteration, Cycle);
  int32_t Late = IsAliased ? P.P.AliasingCycles : 0;
  Units.take(Static, Dyn.Port, Cycle, CrossesLine, IsAliased, /*IsLimited=*/!UnlimitedPorts);
  if (Static.Store >= 0)
    Compared.addressKnown(P.storeNumber(Static.Store, Dyn.Iteration));
  if (Static.BankRow >= 0)
    Units.takeBanks(P.Banks.banks(Static.BankRow, Dyn.Iteration), CrossesLine, Cycle);
  ++Counters.PortUops[static_cast<size_t>(Dyn.Port)];
  if (Static.Resource >= 0)
    ++Counters.PortUops[static_cast<size_t>(Static.Resource)];
  Rob.executed(Dyn.RobSlot, Executes + Late + Static.Done - 1);
  if (P.P.LoadsLeaveWhenDone && Static.Kind == UopKind::Load)
    Loads.leaveWhenDone(Executes, Late + Static.Done);
  if (Observed)
    Observed->started(Static, Dyn.Iteration, Dyn.Earliest + Static.Stage, Dyn.InputsArrived,
                      Executes);
  if (Record)
    Record->push_back({Dyn.Iteration, Dyn.Static, Dyn.Port, Dyn.InputsArrived, Executes});
  if (RecordUops)
    recordStart(N, Dyn, Executes, Late);
  uint32_t Delays = P.delaysFrom(Static, Dyn.Port);
  for (int32_t X = Static.Feeds.Begin; X < Static.Feeds.End; ++X) {
    const Feed &To = P.Feeds[static_cast<size_t>(X)];
    // Latencies within an instruction include all delays.
    Values.feed(Dyn.Iteration, To.Value, Executes + Late + To.Latency,
                To.Value < P.K.numValues() ? Delays : 0, *this);
  }
}

/// Returns true if a load has to wait until its whole address is compared with those of stores.
bool Backend::isAliased(const Uop &Load, int64_t Iteration, int64_t Cycle) const {
  int32_t Compares = 0;
  for (const AliasedStores &By : P.Aliases.of(Load.Aliased))
    for (int32_t Distance = By.First; Distance <= By.Last; ++Distance)
      if (Compared.isCompared(P.storeNumber(By.Value, Iteration - Distance), Cycle) &&
          ++Compares == P.P.AliasingStores)
        return true;
  return false;
}

/// `Late`: cycles by which its results are there later than usual.
void Backend::recordStart(int32_t N, const DynUop &Dyn, int64_t Executes, int32_t Late) {
  const Uop &Static = P.Uops[static_cast<size_t>(Dyn.Static)];
  LateInputs.resize(Pool.size());
  int64_t Earliest = Dyn.Earliest + Static.Stage;
  RecordUops->push_back({.Iteration = Dyn.Iteration,
                         .Instruction = Static.Instruction,
                         .Uop = P.nameOf(Dyn.Static),
                         .Port = Dyn.Port,
                         .PortCycles = Static.PortCycles,
                         .Unit = Static.Resource,
                         .UnitCycles = Static.ResourceCycles,
                         .Dispatched = Dyn.Earliest - P.P.IssueToDispatch,
                         .Earliest = Earliest,
                         .Ready = std::max(Dyn.Ready, Earliest),
                         .Started = Executes,
                         .Executed = Executes + Late + Static.Done,
                         .Late = std::exchange(LateInputs[static_cast<size_t>(N)], {}),
                         .Inputs = {}});
}

/// Records an input of a µop if it arrives after the µop could have started and comes from another
/// instruction, or from the same one in an earlier iteration.
void Backend::recordLateInput(int32_t N, size_t Number, int64_t Time) {
  const DynUop &Dyn = Pool[N];
  if (Time <= Dyn.Earliest + P.Uops[static_cast<size_t>(Dyn.Static)].Stage)
    return;
  int32_t V = Values.staticOf(Number);
  if (V >= P.K.numValues())
    return; // A hidden value, which passes between the µops of one instruction.
  int32_t Producer = P.Flow.InstructionOf[static_cast<size_t>(V)];
  int32_t Own = P.Uops[static_cast<size_t>(Dyn.Static)].Instruction;
  if (Producer == Own && Values.isOf(Number, Dyn.Iteration))
    return;
  LateInputs.resize(Pool.size());
  LateInputs[static_cast<size_t>(N)].push_back({Producer, Time});
}

void Backend::observe(int64_t Cycle) {
  if (Observed->wantsWaiting())
    observeWaiting(Cycle);
  if (Observed->wantsBuffers()) {
    if (InOrder) {
      for (int32_t N = 0; N < static_cast<int32_t>(Pool.size()); ++N)
        if (const DynUop &Dyn = Pool[N]; Dyn.Static >= 0 && Dyn.Port >= 0)
          Observed->waits(Dyn.Port, 1);
    } else {
      for (int32_t Port = 0; Port < P.K.NumPorts; ++Port)
        if (int32_t Uops = Schedulers.atPorts()[static_cast<size_t>(Port)]; Uops > 0)
          Observed->waits(Port, Uops);
    }
  }
  Observed->accesses(Loads, Stores);
  Observed->endCycle(Rob.used(), Schedulers);
}

/// Reports what each µop lacks that could have started in this cycle with everything it needs.
void Backend::observeWaiting(int64_t Cycle) {
  for (int32_t N = 0; N < static_cast<int32_t>(Pool.size()); ++N) {
    const DynUop &Dyn = Pool[N];
    if (Dyn.Static < 0 || Dyn.Earliest > Cycle)
      continue;
    const Uop &Static = P.Uops[static_cast<size_t>(Dyn.Static)];
    bool LacksInput = false;
    for (int32_t X = Static.Inputs.Begin; X < Static.Inputs.End; ++X)
      if (const Input &In = P.Inputs[static_cast<size_t>(X)];
          !Values.hasArrived(Dyn.Iteration, In, Cycle + Static.Stage)) {
        Observed->lacksInput(In.Value);
        LacksInput = true;
      }
    // A µop whose inputs have arrived but which is not ready lacks nothing: a delay between ports
    // or the penalty for inputs that arrive just in time holds it up.
    bool IsReady = Dyn.MissingInputs == 0 && Dyn.Ready <= Cycle + Static.Stage;
    if (!LacksInput && IsReady)
      Observed->lacksUnit(Units.isResourceFree(Static, Cycle) ? Dyn.Port : Static.Resource);
  }
}

void Backend::addTo(Fingerprint &F, int64_t Retired) const {
  F.add(Schedulers.waiting());
  Units.addTo(F);
  Pool.addTo(F, Rob.head());
  Values.addTo(F, Retired);
  Compared.addTo(F);
}
