//===- order.h - Ports by their place in the model's order ----------------===//
//
// The rules that bind µops to ports treat ports that can execute the same µops
// alike, and break ties by which port comes first. That order is the model's
// (Pipeline::PortOrder); ports that it does not name follow by number.
//
// The simulator works on ports that are renumbered by their place in the order,
// so that no rule has to look the order up. PortOrder renumbers the ports of a
// kernel and a pipeline before a run, and those of the results after it.
//
//===----------------------------------------------------------------------===//

#ifndef INCC_LIB_SIM_ORDER_H
#define INCC_LIB_SIM_ORDER_H

#include "incc/sim.h"

#include <array>
#include <cstdint>

namespace incc::sim {

/// The permutation between the numbers of ports and their places in the model's order.
class PortOrder {
public:
  explicit PortOrder(const Pipeline &P);

  /// Returns true if each port's place is its number, so that nothing has to be renumbered.
  bool isByNumber() const { return ByNumber; }
  /// Renumbers all sets of ports in a kernel and its pipeline, from numbers to places.
  void toPlaces(Kernel &K, Pipeline &P) const;
  /// Renumbers all ports in the results, from places to numbers.
  void toNumbers(Simulation &S) const;
  /// Returns a set of ports by their places.
  uint64_t places(uint64_t Mask) const;

private:
  bool ByNumber = true;
  /// Place by number, and number by place. Resources come after the ports, named or not, so they
  /// keep their numbers.
  std::array<int8_t, 64> PlaceOf, NumberAt;
};

} // namespace incc::sim

#endif // INCC_LIB_SIM_ORDER_H
