//===- uops.h - The µops in flight -----------------------------------------===//
//
// A µop has a number from its issue until it starts. What is here of it is what
// the scheduler knows: when it may start, how many of its inputs have no time yet,
// and its age.
//
//===----------------------------------------------------------------------===//

#ifndef INCC_LIB_SIM_UOPS_H
#define INCC_LIB_SIM_UOPS_H

#include "fingerprint.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace incc::sim {

struct DynUop {
  int64_t Iteration = 0;
  int64_t Ready = 0;    ///< The latest time of the inputs that are known; then when it is ready.
  int64_t Earliest = 0; ///< The cycle in which it can start, were its inputs there.
  int64_t RobSlot = 0;
  int64_t Inputs = 0;  ///< When they were there, for the record.
  uint64_t Order = 0;  ///< By age.
  int32_t Static = -1; ///< The µop of the program; -1: the number is not in use.
  int32_t Missing = 0; ///< Inputs without a time.
  int32_t Next = -1;   ///< In a list of numbers.
  int32_t Port = -1;   ///< -1: in the queue before the schedulers.
  uint32_t Delays = 0; ///< Between ports: those for its inputs, at its port.
  bool IsReady = false;
};

/// The µops by number.
class UopPool {
public:
  DynUop &operator[](int32_t N) { return Uops[static_cast<size_t>(N)]; }
  const DynUop &operator[](int32_t N) const { return Uops[static_cast<size_t>(N)]; }
  size_t size() const { return Uops.size(); }

  /// A new one, the youngest.
  int32_t add() {
    int32_t N = Free;
    if (N >= 0) {
      Free = (*this)[N].Next;
    } else {
      N = static_cast<int32_t>(Uops.size());
      Uops.emplace_back();
    }
    (*this)[N] = DynUop();
    (*this)[N].Order = NextOrder++;
    return N;
  }
  /// What it was; its number is free again.
  DynUop remove(int32_t N) {
    DynUop Uop = (*this)[N];
    (*this)[N].Static = -1;
    (*this)[N].Next = std::exchange(Free, N);
    return Uop;
  }

  /// Who waits for whom follows from what is missing to whom, and from the program; the queues
  /// before the schedulers and of an in-order core follow from the order.
  void addTo(Fingerprint &F, int64_t RobHead) const {
    for (const DynUop &Dyn : Uops) {
      if (Dyn.Static < 0)
        continue;
      Fingerprint U = F.member();
      U.time(Dyn.Earliest, Dyn.Static);
      // As long as none of its inputs is known, there is no time.
      U.time(std::max(Dyn.Ready, F.cycle() - NoTime), Dyn.Missing << 8 | (Dyn.Port & 255));
      U.iteration(Dyn.Iteration, static_cast<int32_t>(Dyn.RobSlot - RobHead));
      U.add(static_cast<int64_t>(Dyn.Order - NextOrder));
      F.addToSet(U);
    }
  }

private:
  /// How long ago is what has no time yet; longer than anything in the machine.
  static constexpr int64_t NoTime = 1 << 30;
  std::vector<DynUop> Uops;
  int32_t Free = -1;
  uint64_t NextOrder = 0;
};

} // namespace incc::sim

#endif // INCC_LIB_SIM_UOPS_H
