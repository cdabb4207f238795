//===- path.h - The critical path of one iteration ------------------------===//

#ifndef INCC_PATH_H
#define INCC_PATH_H

#include "incc/graph.h"

#include <cstdint>
#include <vector>

namespace incc {

/// The longest path through the dependencies within one iteration.
///
/// A store is taken as a whole, as OSACA's critical path does: a register that it also changes (the
/// base of a write-back) counts as ready with the stored data. Cores write the base back earlier,
/// so nothing else in the core does this. The path is no bound but the longest that an iteration on
/// its own may take.
struct CriticalPath {
  /// Cycles until the last value of the iteration is ready, if all values from before the iteration
  /// are there in cycle 0 and only dependencies delay anything.
  int64_t Cycles = 0;
  /// Cycles until the path's first value is ready: the longest latency from one of its inputs from
  /// before the iteration (for a load, its latency). `Cycles` is this plus the latencies of the
  /// steps.
  int64_t Start = 0;
  std::vector<Edge> Steps;
  /// The instructions in program order; empty if no value takes any time.
  std::vector<int32_t> Instructions;
};

/// Finds the critical path. Of equally long paths, it is the one that ends first in program order,
/// and the one that begins earlier in the iteration.
CriticalPath findCriticalPath(const Kernel &K, const Graph &G);

} // namespace incc

#endif // INCC_PATH_H
