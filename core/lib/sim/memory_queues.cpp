//===- memory_queues.cpp - Load and store buffers --------------------------===//
//
// See memory_queues.h.
//
//===----------------------------------------------------------------------===//

#include "memory_queues.h"

using namespace incc;
using namespace incc::sim;

void LoadQueue::addTo(Fingerprint &F) const {
  F.add(Used);
  for (int64_t From = 1; AnyDone && From < Horizon; ++From)
    if (int32_t Loads = Done[static_cast<size_t>((F.cycle() + From) % Horizon)])
      F.add(From << 32 | Loads);
}

void StoreQueue::addTo(Fingerprint &F) const {
  F.add(Used);
  F.deadline(FreeAt);
  for (auto [When, Count] : Committing)
    F.time(When, Count);
  for (int32_t N = 0; N < Window; ++N)
    F.deadline(Recent[static_cast<size_t>(N)] + Window);
}
