//===- critical_sequence.h - The chain that determines a run's length -----===//
//
// The critical sequence is the chain of µops that made the last µop of a run start
// when it did. It is followed backwards: from the µop whose result came last to
// the reason why it started so late (the input that arrived last, or the µop that
// held its port or resource), from there to that µop's reason, and so on, until
// the chain comes back to a µop that it contains already, in an earlier iteration,
// or to a µop that nothing held up.
//
//===----------------------------------------------------------------------===//

#ifndef INCC_LIB_SIM_CRITICAL_SEQUENCE_H
#define INCC_LIB_SIM_CRITICAL_SEQUENCE_H

#include "incc/sim.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace incc::sim {

/// Returns the critical sequence in the order of starts. If it repeats itself, its ends are the
/// same µop in different iterations.
///
/// \param LinkInputs is called with each µop whose inputs are needed, and completes them as
///        Recorder::link does. Results must have their times before.
std::vector<SequenceStep> findSequence(const std::vector<StartedUop> &Uops,
                                       const std::function<void(int32_t)> &LinkInputs);

} // namespace incc::sim

#endif // INCC_LIB_SIM_CRITICAL_SEQUENCE_H
