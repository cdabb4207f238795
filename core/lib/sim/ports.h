//===- ports.h - Which port a µop is bound to -----------------------------===//
//
// A µop that several ports could execute gets one of them when it is issued (or
// leaves the queue before its scheduler), from what is bound to them then, and
// keeps it. The rules of Intel's cores are those found by Abel and Reineke (uiCA,
// ICS 2022); their constants are in the models.
//
// "First" and "last" among ports that are alike is by number here, that is by
// their place in Pipeline::PortOrder: see order.h.
//
//===----------------------------------------------------------------------===//

#ifndef INCC_LIB_SIM_PORTS_H
#define INCC_LIB_SIM_PORTS_H

#include "fingerprint.h"
#include "program.h"

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

namespace incc::sim {

class PortBinder {
public:
  explicit PortBinder(const Program &P);

  /// Before the issue of a cycle: what has left for its port in the cycle before counts no more.
  void newCycle();
  /// The port of a µop in an issue slot of this cycle.
  int32_t choose(uint64_t Allowed, int32_t Slot);
  void hasLeft(int32_t Port) { ++Leaving[Port]; }
  /// A µop that was bound to one port starts on another one.
  void moves(int32_t From, int32_t To) {
    --Bound[From];
    ++Bound[To];
  }
  /// As after the last µop of a cycle was bound.
  void addTo(Fingerprint &F) const;

private:
  /// The port with the fewest µops bound to it, those of this cycle included; of several the first.
  int32_t leastLoaded(uint64_t Allowed) const;
  /// Zen, and loads on Intel's cores: the ports of a set are taken in turn through all cycles,
  /// unless the next one has more than `alternating_imbalance` µops more than another of them.
  int32_t inTurn(size_t Set, uint64_t Allowed);
  /// Sandy Bridge and Ivy Bridge: even issue slots take the least used port (of several the first),
  /// odd ones the most used (the last), as they were used before the cycle. If these are
  /// `ports_apart` or more apart, all take the least used one. The set of all arithmetic has a
  /// table instead (`ports_by_slot`): by the least used port, a port for each slot.
  int32_t sixPorts(uint64_t Allowed, int32_t Slot) const;
  /// Haswell to Cascade Lake: even issue slots take the least used port, odd ones the second least
  /// used (of several the last), as they were used before the cycle. If these are `ports_apart` or
  /// more apart, all take the least used one.
  int32_t eightPorts(uint64_t Allowed, int32_t Slot) const;
  /// Ice Lake and newer: the µops of a cycle with the same set take its ports in turn, the least
  /// used one first (of several the last), as they were used one cycle before. Ports with
  /// `ports_apart` or more µops more than that one are left out. In issue slot `second_port_slot`
  /// the first µop of a set takes the second one; in `first_port_slot` every µop takes the first.
  int32_t tenPorts(uint64_t Allowed, int32_t Slot);

  PortBinding Policy;
  size_t NumPorts;
  std::vector<uint64_t> Alternating;
  std::vector<int32_t> Turn; ///< By alternating set.
  int32_t MostAhead, Apart, SecondPortSlot, FirstPortSlot;
  uint64_t SlotSet;
  std::vector<int32_t> SlotPorts; ///< A row for each port of the set.
  size_t SlotsInRow = 1;
  std::array<int32_t, 64> Bound{};         ///< µops bound to each port and not executed.
  std::array<int32_t, 64> Use{}, Before{}; ///< As it stood at the start of this and the last cycle.
  std::array<int32_t, 64> Leaving{};
  std::vector<std::pair<uint64_t, int32_t>> SeenInCycle; ///< Port sets and how often, ten ports.
};

} // namespace incc::sim

#endif // INCC_LIB_SIM_PORTS_H
