//===- rob.h - The reorder buffer ------------------------------------------===//
//
// Every issue slot takes an entry, in program order, and keeps it until it
// retires: in program order again, so many in a cycle, and no earlier than two
// cycles after its last µop was done. An instruction that waits holds back all
// that is behind it, and a full buffer holds back the renamer.
//
//===----------------------------------------------------------------------===//

#ifndef INCC_LIB_SIM_ROB_H
#define INCC_LIB_SIM_ROB_H

#include "fingerprint.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace incc::sim {

/// Slots that a buffer of unlimited size holds at most; more than fit any core.
constexpr int32_t MostSlots = 1 << 14;

/// What an instruction gives back with its last issue slot: entries of the load buffer and, where
/// they are counted, registers. Its stores then take `CommitCycles` on their way to the cache, and
/// so many blocks before them (0: none) was one of which they change parts of words.
struct Accesses {
  int32_t Loads = 0, Stores = 0, CommitCycles = 0;
  int32_t General = 0, Vector = 0;
  int32_t Rewritten = 0;
};

/// In-order buffer of issue slots until they retire.
class ReorderBuffer {
public:
  ReorderBuffer(int32_t Size, int32_t RetireWidth);

  bool hasRoom(int32_t Slots) const { return Capacity == 0 || Tail - Head + Slots <= Capacity; }
  /// A new slot, to be followed by as many calls of executed() as `Pending`.
  int64_t push(int64_t Cycle, int32_t Pending, bool LastOfIteration, Accesses Memory = {});
  void executed(int64_t Slot, int64_t Done) {
    State &S = States[static_cast<size_t>(Slot) & Mask];
    --S.Pending;
    S.Done = std::max(S.Done, Done);
  }
  /// Retires in order what was executed by the cycle before. `Retired` is called with the place
  /// in the cycle of each slot that ends an iteration, `SlotRetired` with the number of every slot
  /// and the cycle in which its last result was there, `AccessesRetired` with its accesses.
  template <typename Fn, typename Each, typename Memory>
  void retire(int64_t Cycle, Fn Retired, Each SlotRetired, Memory AccessesRetired) {
    for (int32_t N = 0; N < RetireWidth && Head < Tail; ++N) {
      const State &S = States[static_cast<size_t>(Head) & Mask];
      if (S.Pending > 0 || S.Done + 1 >= Cycle)
        return;
      SlotRetired(Head++, S.Done + 1);
      if ((S.Memory.Loads | S.Memory.Stores | S.Memory.General | S.Memory.Vector) != 0)
        AccessesRetired(S.Memory);
      if (S.LastOfIteration)
        Retired(N);
    }
  }
  int64_t head() const { return Head; }
  int64_t used() const { return Tail - Head; }
  void addTo(Fingerprint &F) const;
  bool empty() const { return Head == Tail; }

private:
  struct State {
    int64_t Done = 0;
    int32_t Pending = 0;
    bool LastOfIteration = false;
    Accesses Memory;
  };
  int32_t Capacity, RetireWidth;
  size_t Mask;
  std::vector<State> States;
  int64_t Head = 0, Tail = 0;
};

} // namespace incc::sim

#endif // INCC_LIB_SIM_ROB_H
