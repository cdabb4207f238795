//===- ports.h - How busy the execution ports are at least ----------------===//

#ifndef INCC_PORTS_H
#define INCC_PORTS_H

#include "incc/kernel.h"
#include "incc/rational.h"

#include <cstdint>
#include <vector>

namespace incc {

/// Port cycles of each µop, `Scale` times what an iteration takes: whole numbers also where a µop
/// is repeated in some iterations only.
struct PortWork {
  std::vector<int64_t> OfUop;
  int64_t Scale = 1;
};

/// The µops' cycles.
PortWork portWork(const Kernel &K);

/// The µops' cycles, and for loads those of the accesses that cross a line: `Crossings` by value
/// over `Iterations`.
PortWork portWork(const Kernel &K, const std::vector<int64_t> &Crossings, int64_t Iterations);

/// One way to share out the µops of an iteration over the ports.
struct PortPressure {
  /// Cycles of instruction I on port or resource P at [I * NumColumns + P].
  std::vector<double> Pressure;
  /// The column sums of Pressure.
  std::vector<double> Load;
  /// The load of the busiest port; resources do not count.
  Rational Bound;
  /// Bit mask of the ports that carry this load.
  uint64_t Busiest = 0;
};

/// Shares that make the load of the busiest port as small as any sharing can, then that of the
/// second busiest, and so on (the lexicographically least loads, which are unique). Among all
/// shares with these loads, the most even: the ones of greatest entropy. µops with the same set of
/// ports get the same shares.
PortPressure balancedPressure(const Kernel &K, const PortWork &Work);

/// The load of the busiest port under them, without the shares.
Rational portBound(const Kernel &K, const PortWork &Work);

/// Equal shares to all allowed ports.
PortPressure fixedPressure(const Kernel &K, const PortWork &Work);

/// Cycles that the most used resource (a divider, say) is held.
Rational resourceBound(const Kernel &K);

/// Issue slots of an iteration over the issue width; instructions that are not in the model do not
/// count.
Rational frontEndBound(const Kernel &K);

/// Retire slots of an iteration over the retire width; as frontEndBound.
Rational retireBound(const Kernel &K);

} // namespace incc

#endif // INCC_PORTS_H
