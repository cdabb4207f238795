//===- oldest_first.cpp - Starting µops out of order ----------------------===//

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
    return U.PipeSet >= 0 || U.BankRow >= 0 || U.WideShares > 0 ||
           (U.Resource >= 0 && !std::has_single_bit(U.Ports));
  });
}

void OldestFirst::schedule(int32_t N) {
  DynUop &Dyn = Pool[N];
  bool IsJustReady = Dyn.Ready == Dyn.Earliest || Dyn.Ready == Dyn.Earliest + 1;
  int64_t Time = IsJustReady ? Dyn.Ready + P.P.JustReadyPenalty : std::max(Dyn.Ready, Dyn.Earliest);
  Time = std::max(Time, Now + 1);
  Dyn.InputsArrived = std::max(Dyn.Ready, Dyn.Earliest - P.P.IssueToDispatch);
  Dyn.Ready = Time;
  wakeUpAt(N, Time);
}

/// Enters a µop into the calendar. If the time is beyond the horizon, the µop is woken up earlier
/// and entered again.
void OldestFirst::wakeUpAt(int32_t N, int64_t Time) {
  int64_t Slot = std::min(Time, Now + Horizon - 1) % Horizon;
  Pool[N].Next = std::exchange(Calendar[static_cast<size_t>(Slot)], N);
}

/// Adds a µop to those that its port selects from.
void OldestFirst::makeReady(int32_t N) {
  const DynUop &Dyn = Pool[N];
  if ((staticOf(N).Ports & P.P.PortsAtStart) != 0) {
    Unbound.emplace_back(Dyn.Order, N);
    return;
  }
  std::vector<Aged> &AtPort = Ready[static_cast<size_t>(Dyn.Port)];
  AtPort.emplace_back(Dyn.Order, N);
  std::push_heap(AtPort.begin(), AtPort.end(), std::greater());
  PortsWithReady |= uint64_t(1) << Dyn.Port;
}

/// Returns the ports with ready µops, in the order in which they choose.
std::span<const int32_t> OldestFirst::portsToServe() {
  auto OldestAt = [&](int32_t Port) { return Ready[static_cast<size_t>(Port)].front().first; };
  size_t Count = 0;
  for (uint64_t Left = PortsWithReady; Left != 0; Left &= Left - 1) {
    size_t Place = Count++;
    int32_t Port = std::countr_zero(Left);
    for (; SharesUnits && Place > 0 && OldestAt(ServingOrder[Place - 1]) > OldestAt(Port); --Place)
      ServingOrder[Place] = ServingOrder[Place - 1];
    ServingOrder[Place] = Port;
  }
  return {ServingOrder.data(), Count};
}

/// Returns true if a µop finds its resource, the cache and its banks, and its shares of the cycle
/// free.
bool OldestFirst::findsUnitsFree(int32_t N, int64_t Cycle) const {
  const Uop &U = staticOf(N);
  if (!Units.isResourceFree(U, Cycle) || !Units.isCacheFree(U))
    return false;
  bool CrossesLine = P.crossesLine(U, Pool[N].Iteration);
  return Units.areSharesFree(U, CrossesLine, Cycle) &&
         (U.BankRow < 0 ||
          Units.areBanksFree(P.Banks.banks(U.BankRow, Pool[N].Iteration), CrossesLine, Cycle));
}

/// Returns the first port, of those not taken, that a µop finds free with all that it needs, -1 if
/// there is none.
int32_t OldestFirst::freePort(int32_t N, int64_t Cycle, uint64_t Taken) const {
  if (!findsUnitsFree(N, Cycle) || !Units.isPipeFree(staticOf(N), Cycle))
    return -1;
  for (uint64_t Left = staticOf(N).Ports & ~Taken; Left != 0; Left &= Left - 1)
    if (int32_t Port = std::countr_zero(Left); Units.isPortFree(Port, Cycle))
      return Port;
  return -1;
}

/// Removes the µop that a port starts from its ready µops and returns it; -1 if it starts none.
int32_t OldestFirst::select(int32_t Port, int64_t Cycle) {
  if (!Units.isPortFree(Port, Cycle))
    return -1;
  std::vector<Aged> &AtPort = Ready[static_cast<size_t>(Port)];
  size_t Selected = 0;
  if (!findsUnitsFree(AtPort.front().second, Cycle)) {
    Selected = AtPort.size();
    for (size_t N = 0; N < AtPort.size(); ++N)
      if (findsUnitsFree(AtPort[N].second, Cycle) &&
          (Selected == AtPort.size() || AtPort[N] < AtPort[Selected]))
        Selected = N;
    if (Selected == AtPort.size())
      return -1;
  }
  int32_t Uop = AtPort[Selected].second;
  if (!Units.isPipeFree(staticOf(Uop), Cycle))
    return -1;
  if (Selected == 0) {
    std::pop_heap(AtPort.begin(), AtPort.end(), std::greater());
    AtPort.pop_back();
  } else {
    AtPort.erase(AtPort.begin() + static_cast<std::ptrdiff_t>(Selected));
    std::make_heap(AtPort.begin(), AtPort.end(), std::greater());
  }
  if (AtPort.empty())
    PortsWithReady &= ~(uint64_t(1) << Port);
  return Uop;
}
