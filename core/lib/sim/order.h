//===- order.h - Ports by their place in the model's order ----------------===//
//
// Rules for ports distinguish between ports that are alike by which comes first.
// That is what the model says (Pipeline::PortOrder), and the ports' numbers only
// where it says nothing. The simulator gets its ports numbered by their place in
// the order, so that no rule need look it up; what it reports has the numbers of
// the model again.
//
//===----------------------------------------------------------------------===//

#ifndef INCC_LIB_SIM_ORDER_H
#define INCC_LIB_SIM_ORDER_H

#include "incc/sim.h"

#include <array>
#include <cstdint>

namespace incc::sim {

class PortOrder {
public:
  explicit PortOrder(const Pipeline &P);

  /// Whether the order is that of the numbers, so that nothing has to be done.
  bool isByNumber() const { return ByNumber; }
  /// All sets of ports in them, by places.
  void toPlaces(Kernel &K, Pipeline &P) const;
  /// All ports in it, by numbers.
  void toNumbers(Simulation &S) const;
  /// A set of ports by places.
  uint64_t places(uint64_t Mask) const;

private:
  bool ByNumber = true;
  /// Resources, which are behind the ports, keep their numbers: ports that are not named come
  /// before them.
  std::array<int8_t, 64> PlaceOf, At;
};

} // namespace incc::sim

#endif // INCC_LIB_SIM_ORDER_H
