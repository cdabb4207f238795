//===- steady_state.h - The throughput of a run ---------------------------===//
//
// Computes the throughput of a loop from a run: from the cycles in which its
// iterations retired, or from the machine's return to an earlier state.
//
//===----------------------------------------------------------------------===//

#ifndef INCC_LIB_SIM_STEADY_STATE_H
#define INCC_LIB_SIM_STEADY_STATE_H

#include "machine.h"

#include <array>
#include <cstdint>
#include <vector>

namespace incc::sim {

/// The time at which an iteration retired.
struct Retirement {
  int64_t Cycle;
  int32_t Slot; ///< The place of its last slot among those that retired in the cycle.
};

/// The throughput in the steady state.
struct Throughput {
  Rational Cycles;    ///< Per iteration.
  int32_t Period = 0; ///< The iterations after which the run repeats itself; 0: it was not seen to.
};

/// Returns the throughput of the second half of a run. It is exact if retirement repeats itself at
/// least three times in that half; otherwise it is that between the iteration in the middle and the
/// last one.
Throughput readThroughput(const std::vector<Retirement> &Retired);

/// Returns true if the last iteration and the one in the middle retired in the same slot of their
/// cycles, so that the throughput between them is not off by a fraction of a cycle.
bool endsInSameSlot(const std::vector<Retirement> &Retired);

/// Notices that the machine has returned to an earlier state, so that it will repeat what followed.
///
/// States are compared when an iteration has retired. One state is remembered, and replaced by a
/// later one now and then, at growing intervals. A state is compared in parts, beginning with those
/// that are small and tell most states apart.
class RepetitionDetector {
public:
  /// The counters at the time of the remembered state.
  struct Snapshot {
    int64_t Cycle = -1;
    size_t Retired = 0;
    Simulation Counters;
  };

  /// Returns true if the state after `Cycle`, in which an iteration retired, is the remembered one.
  /// Otherwise, remembers the state if the remembered one is old enough.
  bool isRepetition(const Machine &M, int64_t Cycle, size_t Retired, const Simulation &Counters);

  const Snapshot &remembered() const { return Remembered; }

private:
  using Parts = std::array<uint64_t, 3>;

  /// The numbers of a state that may be hashed for each simulated cycle.
  static constexpr int64_t NumbersPerCycle = 16;
  /// The least number of cycles for which a remembered state is kept.
  static constexpr int64_t MinSpan = 24;

  Snapshot Remembered;
  Parts RememberedState{};
  int64_t NumbersHashed = 0;
};

} // namespace incc::sim

#endif // INCC_LIB_SIM_STEADY_STATE_H
