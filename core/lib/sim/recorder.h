//===- recorder.h - The events of a recorded run --------------------------===//
//
// In a recorded run, each unit notes what only it knows: the renamer when an
// instruction was issued, the backend when a µop started, the reorder buffer
// when a slot retired. Everything that follows from these notes and from the
// program is computed after the run: the life of each instruction, when the
// result of each µop was ready, and which µops made its inputs. Runs that are
// not recorded therefore have no overhead.
//
//===----------------------------------------------------------------------===//

#ifndef INCC_LIB_SIM_RECORDER_H
#define INCC_LIB_SIM_RECORDER_H

#include "renamer.h"

#include <cstdint>
#include <vector>

namespace incc::sim {

/// The notes of a run.
struct Recorder {
  /// A slot of the reorder buffer that has retired.
  struct RetiredSlot {
    int64_t Retired, Executed;
  };
  Renamer::Log Issue;
  std::vector<Backend::Started> Started; ///< In the order of Simulation::Started.
  std::vector<RetiredSlot> Slots;        ///< By number.

  /// Notes that the next slot retires.
  void retire(int64_t Cycle, int64_t Executed) { Slots.push_back({Cycle, Executed}); }

  /// Returns the life of every instruction.
  Timeline collect(const Program &P, int64_t Iterations) const;
  /// Fills StartedUop::Inputs of all µops, and completes StartedUop::Executed of loads of what was
  /// stored. The maker of a value that no µop makes (the result of an eliminated move, say) is that
  /// of the values that it follows.
  void link(const Program &P, std::vector<StartedUop> &Uops) const;
  /// Returns the critical sequence of µops that are not linked. Links those that are part of it.
  std::vector<SequenceStep> findSequence(const Program &P, std::vector<StartedUop> &Uops) const;
};

/// Returns the events of a kernel that takes no issue slot, which is over as soon as it begins.
Timeline idleTimeline(const Kernel &K, int64_t Iterations);

} // namespace incc::sim

#endif // INCC_LIB_SIM_RECORDER_H
