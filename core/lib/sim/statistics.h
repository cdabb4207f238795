//===- statistics.h - Statistics of a run ---------------------------------===//
//
// An Observer counts what performance tools show of a run: how many µops were
// issued, started and retired in a cycle, what stalled the renamer, how full the
// buffers were, and when each instruction went through the pipeline. The units
// report to it if it exists; a run without statistics only tests a pointer.
//
// The statistics begin in the cycle in which the first µop is issued and end with
// the cycle in which the last µop retires.
//
// With SimulationOptions::Pressure, the observer also asks, in each cycle in which
// the schedulers fill up, what the µops in them wait for: that may become a
// bottleneck.
//
//===----------------------------------------------------------------------===//

#ifndef INCC_LIB_SIM_STATISTICS_H
#define INCC_LIB_SIM_STATISTICS_H

#include "memory_queues.h"
#include "program.h"
#include "register_file.h"
#include "scheduler.h"

#include <array>
#include <cstdint>
#include <vector>

namespace incc::sim {

/// Completes the events of a run. An instruction without µops starts when it is dispatched, and one
/// without a slot of its own retires with the instruction before it.
void completeEvents(std::vector<Event> &Events, int64_t FirstCycle);

/// Collects the statistics of a run.
class Observer {
public:
  Observer(const Program &P, const SimulationOptions &Options);

  // --- reported by the renamer

  /// An instruction is issued.
  void issued(int32_t I, int64_t Iteration, int64_t Cycle);
  /// The next issue slot of an instruction is issued.
  void issuedSlot(int64_t Iteration, int32_t I);
  /// The last issued slot was the last one of `Instructions`: one that has slots, and those without
  /// slots that go along with it.
  void issuedAll(int32_t Instructions) { Slots.back().Instructions = Instructions; }
  /// An instruction gets registers; `Used` are in use then.
  void mapped(Registers New, Registers Used);
  /// A move that can be eliminated is, or is executed.
  void move(bool IsVector, bool IsEliminated);
  void stalled(Stall Cause) {
    // Before the first µop is there, the renamer has nothing that could stall.
    if (HasBegun)
      ++Stats.Stalls[static_cast<size_t>(Cause)];
    SchedulerFull = Cause == Stall::Scheduler;
  }

  // --- reported by the backend

  void enteredScheduler() { ++Entered; }
  void started(const Uop &Static, int64_t Iteration, int64_t Earliest, int64_t InputsArrived,
               int64_t Executes);
  /// A slot of the reorder buffer retires; `Executed` as in ReorderBuffer::retire.
  void retired(int64_t Slot, int64_t Cycle, int64_t Executed);

  // --- reported at the end of a cycle

  /// Returns true if the backend should report what the µops in the schedulers lack.
  bool wantsWaiting() const { return WantsPressure && (Entered > Started || SchedulerFull); }
  /// A µop lacks an input, this value.
  void lacksInput(int32_t V) {
    (ThroughMemory[static_cast<size_t>(V)] ? LacksMemory : LacksRegister) = true;
  }
  /// A µop lacks its port or resource; -1: it was not bound to a port yet.
  void lacksUnit(int32_t Unit) {
    LacksResource = true;
    if (Unit >= 0)
      LackingUnits |= uint64_t(1) << Unit;
  }
  /// Returns true if the backend should report the µops at each port.
  bool wantsBuffers() const { return HasBegun && !Buffers.empty(); }
  /// `Uops` µops wait at a port.
  void waits(int32_t Port, int32_t Uops) {
    for (size_t N = 0; N < Buffers.size(); ++N)
      BufferUse[N] += static_cast<int32_t>(Buffers[N].Ports >> Port & 1) * Uops;
  }
  void accesses(const LoadQueue &Loads, const StoreQueue &Stores);
  void endCycle(int64_t Rob, const Scheduler &Schedulers);

  // --- asked by the simulation

  /// The counts so far.
  const Statistics &counts() const { return Stats; }
  /// Adds `Times` times the difference between the counters and `Then`.
  void multiply(const Statistics &Then, int64_t Times);
  /// Returns the statistics when the run is over. `End` is the first cycle after it. Events of
  /// instructions that retire in `EventCycles` or later are left out.
  Statistics finish(int64_t End, int64_t EventCycles);

private:
  /// A slot of the reorder buffer.
  struct Slot {
    int64_t Iteration;
    int32_t Instruction;
    int32_t Instructions; ///< Those that have retired with it.
  };
  /// Returns the event of a dynamic instruction, nullptr if it is not recorded.
  Event *eventOf(int64_t Iteration, int32_t I) {
    return Iteration < EventIterations
               ? &Events[static_cast<size_t>(Iteration * P.K.numInstructions() + I)]
               : nullptr;
  }
  void findMemoryValues();

  const Program &P;
  const std::vector<SimulationOptions::Buffer> Buffers;
  int64_t EventIterations;
  bool WantsPressure;
  Statistics Stats; ///< Without the events and what finish() computes from them.
  std::vector<Event> Events;
  bool HasBegun = false;
  int64_t FirstCycle = 0;
  std::vector<Slot> Slots; ///< By number.
  // Counts of the current cycle:
  int32_t Issued = 0, Entered = 0, Started = 0, Retired = 0;
  bool SchedulerFull = false, LacksRegister = false, LacksMemory = false, LacksResource = false;
  uint64_t LackingUnits = 0;
  std::vector<int32_t> BufferUse;           ///< By buffer.
  std::array<int32_t, 2> MovesEliminated{}; ///< General moves, vector moves.

  std::vector<bool> ThroughMemory; ///< By value: it is loaded from where it was stored.
};

} // namespace incc::sim

#endif // INCC_LIB_SIM_STATISTICS_H
