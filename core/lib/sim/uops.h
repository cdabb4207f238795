//===- uops.h - The µops in the schedulers --------------------------------===//
//
// A dynamic µop exists from its issue until it starts, and has a number for that
// time. DynUop holds what the schedulers know about it: the earliest cycle in
// which it may start, the number of inputs whose arrival is not known yet, and its
// age.
//
// A µop goes through these states:
//
//   waiting    some input has no arrival time yet (MissingInputs > 0);
//   scheduled  all arrival times are known, and Ready is the cycle in which the
//              µop becomes ready;
//   ready      that cycle has come (IsReady), and the µop competes for its port;
//   started    it is removed from the pool and its number is free again.
//
//===----------------------------------------------------------------------===//

#ifndef INCC_LIB_SIM_UOPS_H
#define INCC_LIB_SIM_UOPS_H

#include "fingerprint.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace incc::sim {

/// A µop between its issue and its start.
struct DynUop {
  int64_t Iteration = 0;
  /// While waiting, the latest of the arrival times known so far; once scheduled, the cycle in
  /// which the µop becomes ready.
  int64_t Ready = 0;
  int64_t Earliest = 0;      ///< The cycle in which it could start if its inputs were there.
  int64_t RobSlot = 0;       ///< Its slot of the reorder buffer.
  int64_t InputsArrived = 0; ///< When its last input arrived, for events and statistics.
  uint64_t Order = 0;        ///< Its age: older µops have smaller numbers.
  int32_t Static = -1;       ///< Its index in Program::Uops; -1: the number is not in use.
  int32_t MissingInputs = 0; ///< Inputs whose arrival time is not known yet.
  int32_t Next = -1;         ///< The next number of a linked list.
  int32_t Port = -1;         ///< Its port; -1 in the queue before the schedulers.
  uint32_t Delays = 0;       ///< The port delays that hold for its inputs at its port, as bits.
  bool IsReady = false;
};

/// The µops in flight, by number.
class UopPool {
public:
  DynUop &operator[](int32_t N) { return Uops[static_cast<size_t>(N)]; }
  const DynUop &operator[](int32_t N) const { return Uops[static_cast<size_t>(N)]; }
  size_t size() const { return Uops.size(); }

  /// Adds a µop, the youngest of all, and returns its number.
  int32_t add() {
    int32_t N = FirstFree;
    if (N >= 0) {
      FirstFree = (*this)[N].Next;
    } else {
      N = static_cast<int32_t>(Uops.size());
      Uops.emplace_back();
    }
    (*this)[N] = DynUop();
    (*this)[N].Order = NextOrder++;
    return N;
  }
  /// Frees a number and returns the µop that had it.
  DynUop remove(int32_t N) {
    DynUop Uop = (*this)[N];
    (*this)[N].Static = -1;
    (*this)[N].Next = std::exchange(FirstFree, N);
    return Uop;
  }

  /// Adds the µops as a set. The waiters of each value follow from the µops' missing inputs and
  /// from the program, and the queues before the schedulers and of an in-order core follow from
  /// the µops' age, so neither is added.
  void addTo(Fingerprint &F, int64_t RobHead) const {
    for (const DynUop &Dyn : Uops) {
      if (Dyn.Static < 0)
        continue;
      Fingerprint U = F.member();
      U.time(Dyn.Earliest, Dyn.Static);
      // Before the first arrival time is known, Ready holds no time.
      U.time(std::max(Dyn.Ready, F.cycle() - NoTime), Dyn.MissingInputs << 8 | (Dyn.Port & 255));
      U.iteration(Dyn.Iteration, static_cast<int32_t>(Dyn.RobSlot - RobHead));
      U.add(static_cast<int64_t>(Dyn.Order - NextOrder));
      F.addToSet(U);
    }
  }

private:
  /// The age in cycles that stands for "no time yet". Nothing stays in the machine for so long.
  static constexpr int64_t NoTime = 1 << 30;
  std::vector<DynUop> Uops;
  int32_t FirstFree = -1;
  uint64_t NextOrder = 0;
};

} // namespace incc::sim

#endif // INCC_LIB_SIM_UOPS_H
