//===- rob.cpp - The reorder buffer ---------------------------------------===//

#include "rob.h"

#include <bit>

using namespace incc;
using namespace incc::sim;

ReorderBuffer::ReorderBuffer(int32_t Size, int32_t RetireWidth)
    : Capacity(Size > 0 ? Size : MostSlots), RetireWidth(RetireWidth),
      Mask(std::bit_ceil(static_cast<size_t>(Capacity) + 1) - 1), Entries(Mask + 1) {}

int64_t ReorderBuffer::push(int64_t Cycle, int32_t Pending, bool EndsIteration,
                            HeldResources Held) {
  Entries[static_cast<size_t>(Tail) & Mask] = {Cycle, Pending, EndsIteration, Held};
  return Tail++;
}

void ReorderBuffer::addTo(Fingerprint &F) const {
  F.add(Tail - Head);
  for (int64_t Slot = Head; Slot < Tail; ++Slot) {
    const Entry &E = Entries[static_cast<size_t>(Slot) & Mask];
    F.deadline(E.Done + 1, E.Pending * 2 + E.EndsIteration);
    const HeldResources &Held = E.Held;
    if (Held.Loads + Held.Stores > 0)
      F.add(int64_t(Held.Loads) << 48 | int64_t(Held.Stores) << 32 |
            int64_t(Held.RewriteDistance) << 24 | Held.CommitCycles);
    if (Held.Physical.all() > 0)
      F.add(int64_t(Held.Physical.General) << 32 | Held.Physical.Vector);
  }
}
