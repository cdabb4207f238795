//===- ports.h - The load of the execution ports --------------------------===//

#ifndef INCC_PORTS_H
#define INCC_PORTS_H

#include "incc/kernel.h"
#include "incc/rational.h"

#include <cstdint>
#include <vector>

namespace incc {

/// The port cycles of each µop in `Scale` iterations. These are whole numbers even if a µop is
/// repeated in some iterations only.
struct PortWork {
  std::vector<int64_t> OfUop;
  int64_t Scale = 1;
};

/// Returns the port cycles of the µops alone.
PortWork portWork(const Kernel &K);

/// Returns the port cycles of the µops and of the second accesses of loads that cross a line:
/// `Crossings`, by value, in `Iterations`.
PortWork portWork(const Kernel &K, const std::vector<int64_t> &Crossings, int64_t Iterations);

/// An assignment of the µops of an iteration to ports. µops can be shared between ports.
struct PortPressure {
  /// Cycles of instruction I on port or resource P at [I * NumColumns + P].
  std::vector<double> Pressure;
  /// The column sums of `Pressure`.
  std::vector<double> Load;
  /// The load of the busiest port, without resources.
  Rational Bound;
  /// The ports that carry this load, as bits.
  uint64_t Busiest = 0;
};

/// Finds the balanced assignment: the load of the busiest port is as small as possible, then that
/// of the second busiest, and so on (the lexicographically least loads, which are unique). Of all
/// assignments with these loads it is the most even one, that of greatest entropy. µops with the
/// same set of ports get the same shares.
PortPressure balancedPressure(const Kernel &K, const PortWork &Work);

/// Computes the bound of the balanced assignment alone.
Rational portBound(const Kernel &K, const PortWork &Work);

/// Finds the assignment with equal shares on all allowed ports.
PortPressure fixedPressure(const Kernel &K, const PortWork &Work);

/// Computes the cycles for which the most used resource (a divider, say) is held.
Rational resourceBound(const Kernel &K);

/// Computes the issue slots of an iteration over the issue width. Instructions that are not in the
/// model do not count.
Rational frontEndBound(const Kernel &K);

/// Computes the retire slots of an iteration over the retire width. Instructions that are not in
/// the model do not count.
Rational retireBound(const Kernel &K);

} // namespace incc

#endif // INCC_PORTS_H
