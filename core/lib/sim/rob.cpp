//===- rob.cpp - The reorder buffer ----------------------------------------===//
//
// See rob.h.
//
//===----------------------------------------------------------------------===//

#include "rob.h"

#include <bit>

using namespace incc;
using namespace incc::sim;

ReorderBuffer::ReorderBuffer(int32_t Size, int32_t RetireWidth)
    : Capacity(Size > 0 ? Size : MostSlots), RetireWidth(RetireWidth),
      Mask(std::bit_ceil(static_cast<size_t>(Capacity) + 1) - 1), States(Mask + 1) {}

int64_t ReorderBuffer::push(int64_t Cycle, int32_t Pending, bool LastOfIteration, Accesses Memory) {
  States[static_cast<size_t>(Tail) & Mask] = {Cycle, Pending, LastOfIteration, Memory};
  return Tail++;
}

void ReorderBuffer::addTo(Fingerprint &F) const {
  F.add(Tail - Head);
  for (int64_t Slot = Head; Slot < Tail; ++Slot) {
    const State &S = States[static_cast<size_t>(Slot) & Mask];
    F.deadline(S.Done + 1, S.Pending * 2 + S.LastOfIteration);
    if (S.Memory.Loads + S.Memory.Stores > 0)
      F.add(int64_t(S.Memory.Loads) << 48 | int64_t(S.Memory.Stores) << 32 |
            int64_t(S.Memory.Rewritten) << 24 | S.Memory.CommitCycles);
    if (S.Memory.General + S.Memory.Vector > 0)
      F.add(int64_t(S.Memory.General) << 32 | S.Memory.Vector);
  }
}
