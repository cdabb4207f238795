//===- scheduler.cpp - Entries of the schedulers --------------------------===//

#include "scheduler.h"

#include <algorithm>
#include <bit>

using namespace incc;
using namespace incc::sim;

Scheduler::Scheduler(const Program &P, UopPool &Pool, PortBinder &Binder, bool UnlimitedPorts)
    : P(P), Pool(Pool), Binder(Binder),
      QueuedPorts(UnlimitedPorts || P.P.InOrder ? 0 : P.P.WaitingPorts) {
  SchedulerOf.fill(-1);
  EntriesUsed.assign(P.P.InOrder ? 0 : P.P.SchedulerPorts.size(), 0);
  Sent.assign(P.P.InOrder ? 0 : P.P.LimitedPorts.size(), 0);
  for (size_t S = 0; S < EntriesUsed.size(); ++S)
    for (uint64_t Left = P.P.SchedulerPorts[S]; Left != 0; Left &= Left - 1)
      SchedulerOf[static_cast<size_t>(std::countr_zero(Left))] = static_cast<int32_t>(S);
}

void Scheduler::newCycle() {
  Binder.newCycle();
  std::ranges::fill(Sent, 0);
  Served = 0;
}

bool Scheduler::accepts(std::span<const int32_t> SlotUops) const {
  return std::ranges::all_of(SlotUops, [&](int32_t U) {
    uint64_t Allowed = P.Uops[static_cast<size_t>(U)].Ports;
    return waitsInQueue(Allowed) ? static_cast<int32_t>(Queue.size()) < P.P.WaitingEntries
                                 : (Allowed & ~Full & ~Served) != 0;
  });
}

void Scheduler::enter(int32_t N, int32_t Slot) {
  ++Waiting;
  if (waitsInQueue(portsOf(N)))
    Queue.push_back(N);
  else
    bind(N, Slot);
}

/// Binds a µop to a port whose scheduler has room and which may get another µop in this cycle. If
/// there is no such port, the second condition is dropped, and then the first.
void Scheduler::bind(int32_t N, int32_t Slot) {
  uint64_t Allowed = portsOf(N);
  for (uint64_t Closed : {Full | Served, Full})
    if ((Allowed & ~Closed) != 0) {
      Allowed &= ~Closed;
      break;
    }
  int32_t Port = Pool[N].Port = Binder.bind(Allowed, Slot);
  ++AtPort[static_cast<size_t>(Port)];
  for (size_t L = 0; L < Sent.size(); ++L)
    if ((P.P.LimitedPorts[L] >> Port & 1) != 0 && ++Sent[L] >= P.P.LimitedUops[L])
      Served |= P.P.LimitedPorts[L];
  int32_t S = SchedulerOf[static_cast<size_t>(Port)];
  if (S >= 0 &&
      ++EntriesUsed[static_cast<size_t>(S)] == P.P.SchedulerEntries[static_cast<size_t>(S)])
    Full |= P.P.SchedulerPorts[static_cast<size_t>(S)];
}

void Scheduler::leave(int32_t Port) {
  --Waiting;
  --AtPort[static_cast<size_t>(Port)];
  Binder.starts(Port);
  int32_t S = SchedulerOf[static_cast<size_t>(Port)];
  if (S >= 0 &&
      --EntriesUsed[static_cast<size_t>(S)] < P.P.SchedulerEntries[static_cast<size_t>(S)])
    Full &= ~P.P.SchedulerPorts[static_cast<size_t>(S)];
}
