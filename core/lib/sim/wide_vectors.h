//===- wide_vectors.h - A limit to µops on wide vectors -------------------===//
//
// Golden Cove and Redwood Cove start fewer µops on vectors of 256 and 512 bits in
// a cycle than their ports allow (`starts_256bit`, `starts_512bit`; measured). An
// instruction counts once for its load, once for its arithmetic and once for its
// stored data, in however many µops; the address of a store does not count, and a
// load that crosses a cache line counts twice.
//
// The limit holds on average. A cycle is divided into shares, as many as make
// whole numbers of both limits, and a µop takes its shares of the first cycles in
// which some are left. It may start if these are less than `wide_starts_ahead`
// cycles ahead.
//
//===----------------------------------------------------------------------===//

#ifndef INCC_LIB_SIM_WIDE_VECTORS_H
#define INCC_LIB_SIM_WIDE_VECTORS_H

#include "fingerprint.h"
#include "incc/sim.h"

#include <algorithm>
#include <cstdint>

namespace incc::sim {

/// The shares of cycles that µops on wide vectors have taken.
class WideVectorRule {
public:
  explicit WideVectorRule(const Pipeline &P) : Ahead(P.WideStartsAhead) {
    if (std::ranges::any_of(P.VectorBits, [&](int32_t Bits) { return sharesOf(P, Bits) > 0; }))
      SharesPerCycle = sharesPerCycle(P);
  }

  /// Returns the shares of a cycle that a µop on vectors of a number of bits takes, 0 if they are
  /// not limited.
  static int32_t sharesOf(const Pipeline &P, int32_t VectorBits) {
    int32_t Limit = VectorBits == 512 ? P.Starts512Bit : VectorBits == 256 ? P.Starts256Bit : 0;
    return Limit == 0 ? 0 : sharesPerCycle(P) / Limit;
  }

  /// Returns true if a µop that takes this many shares can start in this cycle.
  bool isFree(int32_t Shares, int64_t Cycle) const {
    return Shares == 0 || std::max(TakenUntil, Cycle * SharesPerCycle) + Shares <=
                              (Cycle + Ahead) * SharesPerCycle;
  }
  void take(int32_t Shares, int64_t Cycle) {
    if (Shares > 0)
      TakenUntil = std::max(TakenUntil, Cycle * SharesPerCycle) + Shares;
  }
  void addTo(Fingerprint &F) const {
    if (SharesPerCycle > 0)
      F.add(std::max<int64_t>(TakenUntil - (F.cycle() + 1) * SharesPerCycle, 0));
  }

private:
  static int32_t sharesPerCycle(const Pipeline &P) {
    return std::max(P.Starts256Bit, 1) * std::max(P.Starts512Bit, 1);
  }

  int32_t SharesPerCycle = 0; ///< 0: no instruction of the kernel is limited.
  int64_t Ahead;
  int64_t TakenUntil = 0; ///< In shares from cycle 0.
};

} // namespace incc::sim

#endif // INCC_LIB_SIM_WIDE_VECTORS_H
