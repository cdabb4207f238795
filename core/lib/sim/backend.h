//===- backend.h - From issue to retirement -------------------------------===//
//
// The units after the renamer, combined: schedulers, the stage that starts µops
// (OldestFirst or ProgramOrder), ports and other execution units, the values
// that flow between µops, load and store buffer, register file and reorder
// buffer.
//
// The backend is event driven: a µop is touched when it is issued, when the
// arrival time of its last input becomes known, when it becomes ready, and when
// it starts.
//
//===----------------------------------------------------------------------===//

#ifndef INCC_LIB_SIM_BACKEND_H
#define INCC_LIB_SIM_BACKEND_H

#include "address_aliasing.h"
#include "in_order.h"
#include "memory_queues.h"
#include "oldest_first.h"
#include "register_file.h"
#include "rob.h"
#include "scheduler.h"
#include "statistics.h"
#include "values.h"

#include <cstdint>
#include <vector>

namespace incc::sim {

/// All units from issue to retirement.
class Backend {
public:
  /// `StoresAtLimit`: begin with a full store buffer (see StoreQueue).
  Backend(const Program &P, Simulation &Counters, bool UnlimitedPorts, bool StoresAtLimit);

  ReorderBuffer Rob;
  LoadQueue Loads;
  StoreQueue Stores;
  ComparedStores Compared;
  RegisterFile Registers;
  PortBinder Binder;

private:
  UopPool Pool;

public:
  Scheduler Schedulers;
  ValueNetwork Values;

  /// Issues a µop, into a scheduler or the queue before it.
  void issue(int32_t U, int64_t Iteration, int64_t Cycle, int32_t Slot, int64_t RobSlot);
  /// Makes a slot of the reorder buffer wait for a value, too.
  void watch(int32_t V, int64_t Iteration, int64_t RobSlot);
  /// Starts the µops of a cycle.
  void startUops(int64_t Cycle);
  /// Moves µops from the queue before the schedulers into these.
  void leaveQueue();

  /// Adds everything except reorder buffer, load and store buffer and port binder, which the caller
  /// adds, and the register file, which the renamer adds. Iterations before `Retired` have retired.
  void addTo(Fingerprint &F, int64_t Retired) const;

  /// A µop that started, for the recorder.
  struct Started {
    int64_t Iteration;
    int32_t Uop, Port;
    int64_t InputsArrived, Start;
  };
  // Set for a run that is recorded. Both lists are in the order of starts.
  std::vector<Started> *Record = nullptr;
  std::vector<StartedUop> *RecordUops = nullptr;
  /// Set if statistics are requested.
  Observer *Observed = nullptr;

  /// Reports the state at the end of a cycle to the observer.
  [[gnu::noinline]] void observe(int64_t Cycle);

  // The listener of the value network.
  void inputArrives(int32_t N, size_t Number, int64_t Time);
  void watchedArrives(int64_t RobSlot, int64_t Time) { Rob.executed(RobSlot, Time - 1); }

private:
  void start(int32_t N, int64_t Cycle, int32_t Stage);
  bool isAliased(const Uop &Load, int64_t Iteration, int64_t Cycle) const;
  void noteArrival(DynUop &Dyn, int32_t N, size_t Number, int64_t Time);
  int64_t portDelay(const DynUop &Dyn, size_t Number) const;
  void observeWaiting(int64_t Cycle);
  // These are not inlined, so that they do not slow down runs that are not recorded.
  [[gnu::noinline]] void recordLateInput(int32_t N, size_t Number, int64_t Time);
  [[gnu::noinline]] void recordStart(int32_t N, const DynUop &Dyn, int64_t Executes, int32_t Late);

  const Program &P;
  Simulation &Counters;
  bool UnlimitedPorts, InOrder;
  ExecutionUnits Units;
  // One of these two starts µops.
  OldestFirst Oldest;
  ProgramOrder InProgramOrder;
  /// By number of the µop, for a run that is recorded.
  std::vector<std::vector<StartedUop::LateInput>> LateInputs;
};

} // namespace incc::sim

#endif // INCC_LIB_SIM_BACKEND_H
