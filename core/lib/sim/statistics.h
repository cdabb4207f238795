//===- statistics.h - What happens in each cycle, counted ------------------===//
//
// An observer that the boxes tell what they do, in a run that somebody wants such
// figures of; in others nobody tells anything. What it counts is what performance
// tools show of a run: how many µops were issued, started and retired in a cycle,
// what stopped the renamer, how full the buffers were, when each instruction went
// through the pipeline. The run begins, for these figures, in the cycle in which its
// first µop is issued, and ends with the one in which its last µop retires.
//
// With `Pressure` it also asks, in each cycle in which the schedulers fill up, what the
// µops in them are waiting for: that is what may become a bottleneck.
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
#include <functional>
#include <vector>

namespace incc::sim {

class Observer {
public:
  Observer(const Program &P, const SimulationOptions &Options);

  // The renamer: an instruction and what goes along with it is issued; the slots that it takes, in
  // order; the last one of an instruction that is so many, with those that have no slot; registers.
  void issued(int32_t I, int64_t Iteration, int64_t Cycle);
  void issuedSlot(int64_t Iteration, int32_t I);
  void issuedAll(int32_t Instructions) { Slots.back().Instructions = Instructions; }
  void mapped(Registers New, Registers Used);
  void move(bool Vector, bool Eliminated);
  void stalled(Stall Cause) {
    // One that is not issued because nothing is there is not held up before there was something.
    if (Begun)
      ++Counted.Stalls[static_cast<size_t>(Cause)];
    SchedulerFull = Cause == Stall::Scheduler;
  }

  // The backend: a µop gets into its scheduler, and starts.
  void enteredScheduler() { ++Entered; }
  void started(const Uop &Static, int64_t Iteration, int64_t Earliest, int64_t Ready,
               int64_t Executes);

  /// The reorder buffer: `Executed` as in ReorderBuffer::retire.
  void retired(int64_t Slot, int64_t Cycle, int64_t Executed);

  /// Whether it is to be told what the µops in the schedulers lack: `lacks` for each value that is
  /// late, `lacksUnit` for a port or resource, -1 for a place at a port.
  bool wantsWaiting() const { return WantsPressure && (Entered > Started || SchedulerFull); }
  void lacks(int32_t V) { (ThroughMemory[static_cast<size_t>(V)] ? Memory : Register) = true; }
  void lacksUnit(int32_t Unit) {
    Resource = true;
    if (Unit >= 0)
      Lacking |= uint64_t(1) << Unit;
  }
  /// Whether it is to be told of the µops that wait for ports.
  bool wantsBuffers() const { return Begun && !Parts.empty(); }
  void waits(int32_t Port, int32_t Uops) {
    for (size_t N = 0; N < Parts.size(); ++N)
      Waiting[N] += static_cast<int32_t>(Parts[N].Ports >> Port & 1) * Uops;
  }
  void accesses(const LoadQueue &Loads, const StoreQueue &Stores);
  void endCycle(int64_t Rob, const Scheduler &Schedulers);

  /// What was counted so far,
  const Statistics &counted() const { return Counted; }
  /// and again so many times what has been since.
  void multiply(const Statistics &Then, int64_t Times);

  /// All that was counted, when the run is over: with cycle `End` as the first that is not part of
  /// it, and the events of instructions that retire before `EventCycles`.
  Statistics finish(int64_t End, int64_t EventCycles);

private:
  struct Slot {
    int64_t Iteration;
    int32_t Instruction;
    int32_t Instructions; ///< That are over with it.
  };
  /// Nullptr for iterations of which no events are wanted.
  Event *eventOf(int64_t Iteration, int32_t I) {
    return Iteration < EventIterations
               ? &Events[static_cast<size_t>(Iteration * P.K.numInstructions() + I)]
               : nullptr;
  }
  void findMemoryValues();

  const Program &P;
  const std::vector<SimulationOptions::Buffer> Parts;
  int64_t EventIterations;
  bool WantsPressure;
  Statistics Counted; ///< But for events, and what follows from them.
  std::vector<Event> Events;
  bool Begun = false;
  int64_t First = 0;
  std::vector<Slot> Slots; ///< Of the reorder buffer, from slot 0 on.
  // Of this cycle.
  int32_t Issued = 0, Entered = 0, Started = 0, RetiredNow = 0;
  bool SchedulerFull = false, Register = false, Memory = false, Resource = false;
  uint64_t Lacking = 0;
  std::vector<int32_t> Waiting;        ///< By part.
  std::array<int32_t, 2> Eliminated{}; ///< General moves, vector moves.
  std::vector<bool> ThroughMemory;     ///< By value: it is loaded from where it was stored.
};

/// The chain of µops that made the last one start when it did, back to where it repeats itself or
/// begins with one that nothing held up, in the order of their starts. If it repeats itself its
/// ends are the same µop in different iterations. `LinkInputs` is called with each µop of which the
/// inputs are asked for, and leaves it as Recorder::link does; when results were there is known of
/// all.
std::vector<SequenceStep> findSequence(const std::vector<StartedUop> &Uops,
                                       const std::function<void(int32_t)> &LinkInputs);

} // namespace incc::sim

#endif // INCC_LIB_SIM_STATISTICS_H
