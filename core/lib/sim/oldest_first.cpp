//===- oldest_first.cpp - The stage that starts µops: the oldest first -----===//
//
// See oldest_first.h.
//
//===----------------------------------------------------------------------===//

#include "oldest_first.h"

#include <algorithm>
#include <bit>
#include <functional>

using namespace incc;
using namespace incc::sim;

OldestFirst::OldestFirst(const Program &P, UopPool &Pool, const ExecutionUnits &Units,
                         bool UnlimitedPorts)
    : P(P), Pool(Pool), Units(Units), UnlimitedPorts(UnlimitedPorts) {
  Calendar.fill(-1);
  SharesUnits = std::ranges::any_of(P.Uops, [](const Uop &U) {
    return U.Shared >= 0 || U.Banks >= 0 || U.Share > 0 ||
           (U.Held >= 0 && !std::has_single_bit(U.Ports));
  });
}

void OldestFirst::inputsKnown(int32_t N) {
  DynUop &Dyn = Pool[N];
  // A µop whose inputs become ready just as it could leave may be held up.
  int64_t Time = Dyn.Ready == Dyn.Earliest || Dyn.Ready == Dyn.Earliest + 1
                     ? Dyn.Ready + P.P.JustReadyPenalty
                     : std::max(Dyn.Ready, Dyn.Earliest);
  Time = std::max(Time, Now + 1);
  Dyn.Inputs = std::max(Dyn.Ready, Dyn.Earliest - P.P.IssueToDispatch);
  Dyn.Ready = Time;
  wakeUpAt(N, Time);
}

/// Or, where that is too far ahead, once before to look again.
void OldestFirst::wakeUpAt(int32_t N, int64_t Time) {
  int64_t Slot = std::min(Time, Now + Horizon - 1) % Horizon;
  Pool[N].Next = std::exchange(Calendar[static_cast<size_t>(Slot)], N);
}

/// Puts a µop among those that its port chooses from.
void OldestFirst::makeReady(int32_t N) {
  const DynUop &Dyn = Pool[N];
  std::vector<Aged> &AtPort = Ready[static_cast<size_t>(Dyn.Port)];
  AtPort.emplace_back(Dyn.Order, N);
  std::push_heap(AtPort.begin(), AtPort.end(), std::greater());
  Busy |= uint64_t(1) << Dyn.Port;
}

std::span<const int32_t> OldestFirst::portsInTurn() {
  auto OldestAt = [&](int32_t Port) { return Ready[static_cast<size_t>(Port)].front().first; };
  size_t Count = 0;
  for (uint64_t Left = Busy; Left != 0; Left &= Left - 1) {
    size_t At = Count++;
    int32_t Number = std::countr_zero(Left);
    for (; SharesUnits && At > 0 && OldestAt(InTurn[At - 1]) > OldestAt(Number); --At)
      InTurn[At] = InTurn[At - 1];
    InTurn[At] = Number;
  }
  return {InTurn.data(), Count};
}

int32_t OldestFirst::choose(int32_t Port, int64_t Cycle) {
  if (!Units.isPortFree(Port, Cycle))
    return -1;
  std::vector<Aged> &AtPort = Ready[static_cast<size_t>(Port)];
  auto IsFree = [&](int32_t N) {
    const Uop &U = staticOf(N);
    if (!Units.isHeldFree(U, Cycle))
      return false;
    bool Crosses = P.crosses(U, Pool[N].Iteration);
    return Units.isShareFree(U, Crosses, Cycle) &&
           (U.Banks < 0 || Units.areBanksFree(P.banksOf(U, Pool[N].Iteration), Crosses, Cycle));
  };
  size_t At = 0;
  if (!IsFree(AtPort.front().second)) {
    // The oldest of those that need not wait for the divider, a bank of the cache or their share
    // of the cycle.
    At = AtPort.size();
    for (size_t N = 0; N < AtPort.size(); ++N)
      if (IsFree(AtPort[N].second) && (At == AtPort.size() || AtPort[N] < AtPort[At]))
        At = N;
    if (At == AtPort.size())
      return -1;
  }
  int32_t Uop = AtPort[At].second;
  if (!Units.isWayFree(staticOf(Uop), Cycle))
    return -1;
  if (At == 0) {
    std::pop_heap(AtPort.begin(), AtPort.end(), std::greater());
    AtPort.pop_back();
  } else {
    AtPort.erase(AtPort.begin() + static_cast<std::ptrdiff_t>(At));
    std::make_heap(AtPort.begin(), AtPort.end(), std::greater());
  }
  if (AtPort.empty())
    Busy &= ~(uint64_t(1) << Port);
  return Uop;
}
