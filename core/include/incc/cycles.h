//===- cycles.h - Loop-carried dependencies -------------------------------===//

#ifndef INCC_CYCLES_H
#define INCC_CYCLES_H

#include "incc/graph.h"
#include "incc/rational.h"

#include <cstdint>
#include <vector>

namespace incc {

/// An elementary cycle of the dependency graph: no value twice.
struct Chain {
  int64_t Latency = 0;  ///< Sum over the edges, cycles.
  int64_t Distance = 0; ///< Sum over the edges, iterations; at least 1.
  std::vector<Edge> Steps;

  Rational ratio() const { return Rational(Latency, Distance); }
};

/// How far the search for chains goes.
struct ChainLimits {
  int64_t Steps = 100'000; ///< Edges that the enumeration looks at or writes down.
  int64_t Cycles = 10'000; ///< Cycles that it examines.
  size_t Reported = 64;
};

struct LoopCarried {
  /// The greatest latency per distance of all cycles: the loop-carried bound in cycles per
  /// iteration, 0 without cycles.
  Rational Bound;
  /// Chains of different instructions, greatest ratio first, none of latency 0. The first one is
  /// the bound's. Steps begin with the producer that is first in program order.
  std::vector<Chain> Chains;
  /// False if there may be, or are, more chains than listed.
  bool Complete = true;
};

/// The loop-carried bound is exact whatever the limits. Where they cut, the list still has, as far
/// as it is long enough, a chain through every instruction that is part of one.
LoopCarried findLoopCarried(const Graph &G, const ChainLimits &Limits = {});

/// The loop-carried bound alone; parallel edges in the graph do not matter.
Rational loopCarriedBound(const Graph &G);

} // namespace incc

#endif // INCC_CYCLES_H
