//===- timeline.h - A simple out-of-order machine -------------------------===//

#ifndef INCC_TIMELINE_H
#define INCC_TIMELINE_H

#include "incc/kernel.h"

#include <cstdint>
#include <vector>

namespace incc {

/// The life of one dynamic instruction, in cycles from 0.
struct Event {
  int32_t Iteration, Instruction;
  int64_t Dispatched; ///< Enters reorder buffer and scheduler, with its last issue slot.
  int64_t Ready;      ///< The inputs of the µop that starts first are there.
  int64_t Started;    ///< That µop starts.
  int64_t Executed;   ///< The last result is there: consumers may start in this cycle.
  int64_t Retired;    ///< With its last retire slot; at least one cycle after Executed.
};

struct Timeline {
  std::vector<Event> Events; ///< In program order.
  /// The port or resource of each µop of each event, in the events' order.
  std::vector<int8_t> Ports;
};

/// Runs the first iterations through a machine of which only the kernel's core parameters are
/// known. In each cycle it
///
///  - retires in order, up to the retire width; load and store buffer entries are free again then,
///  - starts on each free port its oldest µop whose inputs are there,
///  - dispatches in order, up to the issue width, while reorder buffer, scheduler, load and store
///    buffer have room; an instruction of more slots than are left goes on in the next cycle. A µop
///    is bound to its port here: to the allowed one with the fewest waiting µops, of several the
///    highest. It can start `issue_to_execute` cycles later, at least one.
///
/// Loads wait for their address, stored data and store addresses each for their own inputs, all
/// other µops for the rest. An input with a smaller latency than the longest may come later by the
/// difference. An instruction that is not executed (NO_EXECUTION, not in the model) counts as
/// executed when dispatched; its results are still ready no earlier than its inputs.
///
/// \param MaxCycles if above 0, only instructions dispatched before that cycle are returned; their
///        later times are still right.
/// \throws std::invalid_argument if the arrays contradict each other, or Iterations is negative.
Timeline runTimeline(const Kernel &K, int32_t Iterations, int64_t MaxCycles = 0);

} // namespace incc

#endif // INCC_TIMELINE_H
