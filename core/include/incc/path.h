//===- path.h - The critical path of one iteration ------------------------===//

#ifndef INCC_PATH_H
#define INCC_PATH_H

#include "incc/graph.h"

#include <cstdint>
#include <vector>

namespace incc {

struct CriticalPath {
  /// Cycles until the last value of the iteration is ready, if everything from before the
  /// iteration is there at cycle 0 and nothing but dependencies delays.
  int64_t Cycles = 0;
  /// Cycles until the path's first value is ready: the longest latency from one of its inputs from
  /// outside (for a load, its latency). Cycles is this plus the latencies of the steps.
  int64_t Start = 0;
  std::vector<Edge> Steps;
  /// In program order; empty if no value takes any time.
  std::vector<int32_t> Instructions;
};

/// The longest path over edges inside the iteration. Of equally long ones the one that ends first
/// in program order, and the one of fewer outside inputs.
CriticalPath findCriticalPath(const Kernel &K, const Graph &G);

} // namespace incc

#endif // INCC_PATH_H
