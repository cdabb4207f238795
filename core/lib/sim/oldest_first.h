//===- oldest_first.h - The stage that starts µops: the oldest first -------===//
//
// In each cycle every port starts its oldest µop that is ready. A µop is ready when
// its inputs are there and it has gone the way from issue to execution
// (issue_to_dispatch); on some cores one whose inputs come just as it could leave
// is held up (just_ready_penalty). One that needs a divider or a bank of the cache
// which is busy lets younger ones pass; one that finds no way to its unit (ExecutionUnits) does
// not: the oldest µop holds back those behind it at its port (measured on Zen 4).
//
// Ports choose in the order of their numbers, or, where µops of different ports may
// want the same unit, the port with the oldest µop first. Without limits of the
// ports every µop starts when it is ready.
//
//===----------------------------------------------------------------------===//

#ifndef INCC_LIB_SIM_OLDEST_FIRST_H
#define INCC_LIB_SIM_OLDEST_FIRST_H

#include "units.h"
#include "uops.h"

#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace incc::sim {

class OldestFirst {
public:
  OldestFirst(const Program &P, UopPool &Pool, const ExecutionUnits &Units, bool UnlimitedPorts);

  /// All inputs of a µop have their times.
  void inputsKnown(int32_t N);
  /// A µop got its port; it may be ready.
  void bound(int32_t N) {
    if (Pool[N].IsReady)
      makeReady(N);
  }
  /// Calls Start(µop) for every one that starts.
  template <typename Fn> void cycle(int64_t Cycle, Fn Start) {
    Now = Cycle;
    wakeUp(Cycle, Start);
    for (int32_t Port : portsInTurn())
      if (int32_t N = choose(Port, Cycle); N >= 0)
        Start(N);
  }

private:
  template <typename Fn> void wakeUp(int64_t Cycle, Fn Start) {
    for (int32_t N = std::exchange(Calendar[static_cast<size_t>(Cycle % Horizon)], -1); N >= 0;) {
      DynUop &Dyn = Pool[N];
      int32_t Next = Dyn.Next;
      if (Dyn.Ready > Cycle) {
        wakeUpAt(N, Dyn.Ready);
      } else if (UnlimitedPorts) {
        Start(N);
      } else {
        Dyn.IsReady = true;
        if (Dyn.Port >= 0)
          makeReady(N);
      }
      N = Next;
    }
  }
  void wakeUpAt(int32_t N, int64_t Time);
  void makeReady(int32_t N);
  std::span<const int32_t> portsInTurn();
  /// The µop that a port starts, -1 for none.
  int32_t choose(int32_t Port, int64_t Cycle);
  const Uop &staticOf(int32_t N) const { return P.Uops[static_cast<size_t>(Pool[N].Static)]; }

  const Program &P;
  UopPool &Pool;
  const ExecutionUnits &Units;
  bool UnlimitedPorts;
  bool SharesUnits; ///< µops of different ports may want the same unit.
  int64_t Now = 0;

  static constexpr int64_t Horizon = 256;
  std::array<int32_t, Horizon> Calendar; ///< First µop that becomes ready in a cycle.
  using Aged = std::pair<uint64_t, int32_t>;
  std::array<std::vector<Aged>, 64> Ready; ///< By port: a heap, oldest first.
  uint64_t Busy = 0;                       ///< Ports with ready µops.
  std::array<int32_t, 64> InTurn;
};

} // namespace incc::sim

#endif // INCC_LIB_SIM_OLDEST_FIRST_H
