//===- backend.h - From issue to retirement --------------------------------===//
//
// The boxes behind the renamer, put together: schedulers, the stage that starts
// µops (oldest first, or in program order), ports and dividers, the values that flow
// between µops, load and store buffer, reorder buffer.
//
//===----------------------------------------------------------------------===//

#ifndef INCC_LIB_SIM_BACKEND_H
#define INCC_LIB_SIM_BACKEND_H

#include "in_order.h"
#include "memory_queues.h"
#include "oldest_first.h"
#include "register_file.h"
#include "rob.h"
#include "scheduler.h"
#include "statistics.h"
#include "values.h"

#include <cstdint>
#include <span>
#include <vector>

namespace incc::sim {

class Backend {
public:
  Backend(const Program &P, Simulation &Counters, bool UnlimitedPorts = false,
          bool SteadyState = true);

  ReorderBuffer Rob;
  LoadQueue Loads;
  StoreQueue Stores;
  RegisterFile Registers;
  PortBinder Binder;

private:
  UopPool Pool;

public:
  Scheduler Schedulers;
  ValueNetwork Values;

  /// Gives a µop to a scheduler, or to the queue before it.
  void issue(int32_t U, int64_t Iteration, int64_t Cycle, int32_t Slot, int64_t RobSlot);
  /// Starts µops; what has its data leaves the load buffer.
  void dispatch(int64_t Cycle);
  /// µops leave the queue before the schedulers.
  void leaveQueue();
  /// Tells when a load that may be forwarded has its data, too.
  void watch(int32_t V, int64_t Iteration, int64_t RobSlot);

  /// Without reorder buffer, load and store queue and port binder. Iterations before `Retired` have
  /// retired.
  void addTo(Fingerprint &F, int64_t Retired) const;

  /// A µop that started; its inputs were there in cycle `Ready`.
  struct Started {
    int64_t Iteration;
    int32_t Uop, Port;
    int64_t Ready, Start;
  };
  std::vector<Started> *Record = nullptr;
  std::vector<StartedUop> *RecordUops = nullptr;
  Observer *Observed = nullptr;

  /// Tells the observer what a cycle has left behind.
  [[gnu::noinline]] void observe(int64_t Cycle);

  // What the network of values tells.
  void inputKnown(int32_t N, size_t Number, int64_t Time);
  void watchedKnown(int64_t RobSlot, int64_t Time) { Rob.executed(RobSlot, Time - 1); }

private:
  /// The µop takes its port now and executes `Stage` cycles later.
  void start(int32_t N, int64_t Cycle, int32_t Stage);
  /// How much later than others a µop gets a value, by its number, since both have the ports that
  /// they have (Kernel::PortDelayCycles). For a µop that waits in a queue before it gets its port,
  /// what is so on all of them.
  int64_t portDelay(const DynUop &Dyn, size_t Number) const;
  // With a recorder; kept apart, so that runs without one are not slowed by what they jump over.
  /// The input of a µop is there at `Time`.
  [[gnu::noinline]] void noteInput(int32_t N, size_t Number, int64_t Time);
  void noteWaiting(int64_t Cycle);
  [[gnu::noinline]] void noteStart(int32_t N, const DynUop &Dyn, int64_t Executes);

  const Program &P;
  Simulation &Counters;
  bool UnlimitedPorts, InOrder;
  ExecutionUnits Units;
  // One of these starts µops.
  OldestFirst Oldest;
  ProgramOrder InTurn;
  std::vector<std::vector<StartedUop::LateInput>> Late; ///< As Pool, with a recorder.
};

} // namespace incc::sim

#endif // INCC_LIB_SIM_BACKEND_H
