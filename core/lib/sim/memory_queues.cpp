//===- memory_queues.cpp - The load buffer and the store buffer -----------===//

#include "memory_queues.h"

using namespace incc;
using namespace incc::sim;

void LoadQueue::addTo(Fingerprint &F) const {
  F.add(Used);
  for (int64_t Ahead = 1; AnyLeaving && Ahead < Horizon; ++Ahead)
    if (int32_t Loads = LeavingAt[static_cast<size_t>((F.cycle() + Ahead) % Horizon)])
      F.add(Ahead << 32 | Loads);
}

void PartialWordRule::addTo(Fingerprint &F) const {
  for (int32_t N = 0; N < Window; ++N)
    F.deadline(WrittenAt[static_cast<size_t>(N)] + Window);
}

void StoreQueue::addTo(Fingerprint &F) const {
  F.add(Used);
  F.deadline(FreeAt);
  for (auto [Cycle, Stores] : Committing)
    F.time(Cycle, Stores);
  PartialWords.addTo(F);
}
