//===- rob.h - The reorder buffer -----------------------------------------===//
//
// Every issue slot of an instruction takes one entry of the reorder buffer, in
// program order. An entry goes through these states:
//
//   pending   some of the slot's µops have not started;
//   executed  the slot's last result has a time, which may lie in the future;
//   retired   the entry is free.
//
// Slots retire in program order, up to `retire_width` in a cycle, and no earlier
// than two cycles after their last result. So an instruction that waits holds back
// all younger ones, and a full buffer stalls the renamer.
//
//===----------------------------------------------------------------------===//

#ifndef INCC_LIB_SIM_ROB_H
#define INCC_LIB_SIM_ROB_H

#include "fingerprint.h"
#include "register_file.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace incc::sim {

/// The number of slots of an unlimited reorder buffer; more than any core has.
constexpr int32_t MostSlots = 1 << 14;

/// The resources that an instruction releases when its last issue slot retires.
struct HeldResources {
  int32_t Loads = 0;  ///< Entries of the load buffer.
  int32_t Stores = 0; ///< Stores that begin their way to the cache, as StoreQueue::retire has it:
  int32_t CommitCycles = 0, RewriteDistance = 0;
  Registers Physical; ///< Physical registers, if these are counted.
};

/// The issue slots that have not retired. Slots have consecutive numbers, which do not repeat.
class ReorderBuffer {
public:
  /// `Size`: 0 for no limit.
  ReorderBuffer(int32_t Size, int32_t RetireWidth);

  bool hasRoom(int32_t Slots) const { return Tail - Head + Slots <= Capacity; }
  /// Adds a slot and returns its number. executed() must follow for it as many times as `Pending`.
  int64_t push(int64_t Cycle, int32_t Pending, bool EndsIteration, HeldResources Held = {});
  /// Notes that a part of a slot has its last result at the end of cycle `Done`.
  void executed(int64_t Slot, int64_t Done) {
    Entry &E = Entries[static_cast<size_t>(Slot) & Mask];
    --E.Pending;
    E.Done = std::max(E.Done, Done);
  }
  /// Returns the cycle at whose end a slot's last result is there, std::nullopt if it is pending.
  /// No slot may have been added since it retired.
  std::optional<int64_t> done(int64_t Slot) const {
    const Entry &E = Entries[static_cast<size_t>(Slot) & Mask];
    return E.Pending > 0 ? std::nullopt : std::optional(E.Done);
  }
  /// Retires, in order, the slots whose last result was there by the end of the cycle before the
  /// last. Calls for each of them SlotRetired(number, cycle from which its last result was there),
  /// for an instruction's last slot Released(what the instruction held) if it held anything, and
  /// for an iteration's last slot IterationRetired(place of the slot among those of the cycle).
  template <typename OnIteration, typename OnSlot, typename OnRelease>
  void retire(int64_t Cycle, OnIteration IterationRetired, OnSlot SlotRetired, OnRelease Released) {
    for (int32_t N = 0; N < RetireWidth && Head < Tail; ++N) {
      const Entry &E = Entries[static_cast<size_t>(Head) & Mask];
      if (E.Pending > 0 || E.Done + 1 >= Cycle)
        return;
      SlotRetired(Head++, E.Done + 1);
      const HeldResources &Held = E.Held;
      if ((Held.Loads | Held.Stores | Held.Physical.General | Held.Physical.Vector) != 0)
        Released(Held);
      if (E.EndsIteration)
        IterationRetired(N);
    }
  }
  int64_t head() const { return Head; }
  int64_t used() const { return Tail - Head; }
  bool empty() const { return Head == Tail; }
  void addTo(Fingerprint &F) const;

private:
  struct Entry {
    int64_t Done = 0;    ///< The cycle at whose end the last result is there.
    int32_t Pending = 0; ///< Calls of executed() that are still to come.
    bool EndsIteration = false;
    HeldResources Held;
  };
  int32_t Capacity, RetireWidth;
  size_t Mask;
  std::vector<Entry> Entries; ///< A ring.
  int64_t Head = 0, Tail = 0; ///< The oldest slot, and the next one.
};

} // namespace incc::sim

#endif // INCC_LIB_SIM_ROB_H
