//===- recorder.h - What a recorded run is told afterwards -----------------===//
//
// Boxes note down what only they know, and only in a run that is recorded: the
// renamer when an instruction was issued, the backend when a µop started, the
// reorder buffer when a slot retired. What follows from that and from the program
// is put together when the run is over: the life of each instruction, when the
// result of each µop was there, and what fed its inputs. So a run that nobody
// records does nothing for it.
//
//===----------------------------------------------------------------------===//

#ifndef INCC_LIB_SIM_RECORDER_H
#define INCC_LIB_SIM_RECORDER_H

#include "renamer.h"

#include <cstdint>
#include <vector>

namespace incc::sim {

struct Recorder {
  Renamer::Log Issue;
  std::vector<Backend::Started> Started; ///< In step with Simulation::Started.
  struct Slot {
    int64_t Retired, Executed;
  };
  std::vector<Slot> Slots; ///< Of the reorder buffer.

  void retire(int64_t Number, int64_t Cycle, int64_t Executed);

  /// The life of every instruction.
  Timeline collect(const Program &P, int64_t Iterations) const;
  /// Fills StartedUop::Inputs, and for loads of what was stored before Executed. A value that no
  /// µop makes (an eliminated move, an instruction that is not in the model) hands on what made
  /// those that it follows.
  void link(const Program &P, std::vector<StartedUop> &Uops) const;
  /// The critical sequence (findSequence) of µops that are not linked: those are that it leads
  /// through.
  std::vector<SequenceStep> findSequence(const Program &P, std::vector<StartedUop> &Uops) const;
};

/// Of a kernel that takes no issue slot: all of it is over as soon as it begins.
Timeline idleTimeline(const Kernel &K, int64_t Iterations);

} // namespace incc::sim

#endif // INCC_LIB_SIM_RECORDER_H
