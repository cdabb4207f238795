//===- ports.h - Binding µops to ports ------------------------------------===//
//
// A µop that several ports can execute is bound to one of them when it is issued,
// or when it leaves the queue before its scheduler, and keeps this port until it
// starts. The choice depends on how many µops are bound to each port.
//
// Each way to choose is a class: LeastLoadedRule, AlternatingRule,
// GroupsInTurnRule, SixPortRule, EightPortRule and TenPortRule. A model names the
// rule (Pipeline::Binding) and has its constants. The rules of Intel's cores were
// found by Abel and Reineke ("uiCA: Accurate Throughput Prediction of Basic Blocks
// on Recent Intel Microarchitectures", ICS 2022).
//
// "First" and "last" among ports that are equally used refer to the ports'
// numbers, which are their places in the model's order here (order.h).
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

/// The numbers of µops at each port, on which the rules are based.
struct PortCounts {
  using Counts = std::array<int32_t, 64>;

  Counts Bound{};         ///< µops that are bound to the port and have not started.
  Counts Leaving{};       ///< Those of them that start in this cycle.
  Counts Used{};          ///< Bound as it was at the start of this cycle's issue.
  Counts PreviousCycle{}; ///< Bound as it was at the start of the previous cycle's issue.
};

/// Chooses the port with the fewest µops bound to it, including those of this cycle; if several
/// have the fewest, the first of them. This is the rule for cores about which nothing else is
/// known.
class LeastLoadedRule {
public:
  static int32_t choose(const PortCounts &Ports, uint64_t Allowed);
};

/// The ports of a set take turns, across cycles. If the next port has more than
/// `alternating_imbalance` µops more than another port of the set, the least loaded port gets the
/// µop instead, and the turn continues after that port.
///
/// The floating-point pipes of Zen work like this (US patent 12118411 describes the two modes; the
/// imbalance is measured). So do the ports of loads and, from Ice Lake on, of stores on Intel's
/// cores, without a limit to the imbalance.
class AlternatingRule {
public:
  explicit AlternatingRule(const Pipeline &P)
      : Sets(P.Alternating), Turn(P.Alternating.size(), 0), MaxImbalance(P.AlternatingImbalance) {}

  /// Returns the index of a set of ports that take turns, or -1 if it is no such set.
  int32_t find(uint64_t Allowed) const;
  int32_t choose(const PortCounts &Ports, int32_t Set);
  void addTo(Fingerprint &F) const;

private:
  std::vector<uint64_t> Sets;
  std::vector<int32_t> Turn; ///< By set: which of its ports is next.
  int32_t MaxImbalance;
};

/// µops for the ports of some groups (`groups_in_turn`) take these groups in turn, across cycles:
/// each gets the next group behind that of the µop before it in which it can use a port, and there
/// the least loaded port.
///
/// Measured on Zen 5, whose address generators are two groups, and only those of one of them load
/// vectors: of two stores behind two such loads, the second one takes a generator from the loads.
class GroupsInTurnRule {
public:
  explicit GroupsInTurnRule(const Pipeline &P) : Groups(P.GroupsInTurn) {
    for (uint64_t Group : Groups)
      All |= Group;
  }

  bool appliesTo(uint64_t Allowed) const { return (Allowed & ~All) == 0; }
  int32_t choose(const PortCounts &Ports, uint64_t Allowed);
  void addTo(Fingerprint &F) const { F.add(static_cast<int64_t>(Next)); }

private:
  std::vector<uint64_t> Groups;
  uint64_t All = 0;
  size_t Next = 0; ///< The group after that of the last µop.
};

/// Sandy Bridge and Ivy Bridge: even issue slots take the least used port (the first in case of a
/// tie), odd slots the most used port (the last in case of a tie), according to the use before the
/// cycle. If the use of the two differs by `ports_apart` or more, all slots take the least used
/// port. The set of all arithmetic ports has a table instead (`ports_by_slot`), which gives a port
/// for each slot, by the least used port.
class SixPortRule {
public:
  explicit SixPortRule(const Pipeline &P);

  int32_t choose(const PortCounts &Ports, uint64_t Allowed, int32_t Slot) const;

private:
  int32_t PortsApart;
  uint64_t TableSet;          ///< The set that has a table.
  std::vector<int32_t> Table; ///< A row for each of its ports, which the row begins with.
  size_t RowSize = 1;
};

/// Haswell to Cascade Lake: even issue slots take the least used port, odd slots the second least
/// used (the last in case of a tie), according to the use before the cycle. If the use of the two
/// differs by `ports_apart` or more, all slots take the least used port.
class EightPortRule {
public:
  explicit EightPortRule(const Pipeline &P) : PortsApart(P.PortsApart) {}

  int32_t choose(const PortCounts &Ports, uint64_t Allowed, int32_t Slot) const;

private:
  int32_t PortsApart;
};

/// Ice Lake and later: the µops of a cycle with the same set of ports take these in turn, beginning
/// with the least used port (the last in case of a tie), according to the use one cycle before.
/// Ports with `ports_apart` or more µops more than the least used port are skipped. In issue slot
/// `second_port_slot`, the first µop of a set takes the second port; in slot `first_port_slot`,
/// every µop takes the first.
class TenPortRule {
public:
  explicit TenPortRule(const Pipeline &P)
      : PortsApart(P.PortsApart), SecondPortSlot(P.SecondPortSlot), FirstPortSlot(P.FirstPortSlot) {
  }

  void newCycle() { TurnOf.clear(); }
  int32_t choose(const PortCounts &Ports, uint64_t Allowed, int32_t Slot);

private:
  int32_t PortsApart, SecondPortSlot, FirstPortSlot;
  /// The sets of ports that µops of this cycle had, and each one's turn.
  std::vector<std::pair<uint64_t, int32_t>> TurnOf;
};

/// Binds µops to ports by the rules of the core, and counts them.
class PortBinder {
public:
  explicit PortBinder(const Program &P);

  /// Begins the issue of a cycle: µops that started in this cycle no longer count.
  void newCycle();
  /// Binds a µop in an issue slot of this cycle to one of the allowed ports, and returns the port.
  int32_t bind(uint64_t Allowed, int32_t Slot);
  /// Notes that a µop that was bound to a port starts.
  void starts(int32_t Port) { ++Ports.Leaving[Port]; }
  /// Binds a µop to another port than before.
  void rebind(int32_t From, int32_t To) {
    --Ports.Bound[From];
    ++Ports.Bound[To];
  }
  /// Adds the state at the end of a cycle. What newCycle() sets is left out.
  void addTo(Fingerprint &F) const;

private:
  int32_t choose(uint64_t Allowed, int32_t Slot);

  size_t NumPorts;
  PortCounts Ports;
  PortBinding Policy;
  GroupsInTurnRule GroupsInTurn;
  AlternatingRule Alternating;
  SixPortRule SixPorts;
  EightPortRule EightPorts;
  TenPortRule TenPorts;
};

} // namespace incc::sim

#endif // INCC_LIB_SIM_PORTS_H
