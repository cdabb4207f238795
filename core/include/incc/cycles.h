//===- cycles.h - Loop-carried dependencies -------------------------------===//

#ifndef INCC_CYCLES_H
#define INCC_CYCLES_H

#include "incc/graph.h"
#include "incc/rational.h"

#include <cstdint>
#include <vector>

namespace incc {

/// An elementary cycle of the dependency graph: one that visits no value twice.
struct Chain {
  int64_t Latency = 0;  ///< The sum over its edges, in cycles.
  int64_t Distance = 0; ///< The sum over its edges, in iterations; at least 1.
  std::vector<Edge> Steps;

  Rational ratio() const { return Rational(Latency, Distance); }
};

/// The budget of the search for chains.
struct ChainLimits {
  int64_t Steps = 100'000; ///< Edges that the enumeration visits or writes into chains.
  int64_t Cycles = 10'000; ///< Cycles that it examines.
  size_t Reported = 64;    ///< Chains in the result.
};

/// The loop-carried dependencies of a kernel.
struct LoopCarried {
  /// The greatest latency per distance of all cycles, in cycles per iteration; 0 without cycles.
  Rational Bound;
  /// Chains that differ in their instructions, the greatest ratio first, none of latency 0. The
  /// first one has the bound's ratio. Steps begin with the producer that is first in program order.
  std::vector<Chain> Chains;
  /// False if there are, or may be, more chains than listed.
  bool Complete = true;
};

/// Finds the loop-carried dependencies. The bound is exact whatever the limits are. Where these cut
/// the list, it still has a chain through every instruction that is part of one, as far as there is
/// room.
LoopCarried findLoopCarried(const Graph &G, const ChainLimits &Limits = {});

/// Computes the bound of findLoopCarried() alone. The graph may have parallel edges.
Rational loopCarriedBound(const Graph &G);

} // namespace incc

#endif // INCC_CYCLES_H
