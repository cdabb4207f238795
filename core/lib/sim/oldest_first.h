//===- oldest_first.h - Starting µops out of order ------------------------===//
//
// In each cycle, every port starts the oldest of its µops that is ready and finds
// all that it needs free (units.h). A µop becomes ready when its inputs have
// arrived and `issue_to_dispatch` cycles have passed since its issue. On some
// cores, a µop whose inputs arrive just when it could leave the scheduler at the
// earliest is held up (`just_ready_penalty`).
//
// A µop that waits for a resource, a cache bank or its shares of the cycle lets
// younger µops at its port pass. A µop that finds no free pipe (SharedPipes) does
// not: it holds back those behind it (measured on Zen 4).
//
// µops of the ports `ports_at_start` were bound to none of them: the oldest ready one
// takes the first of its ports that is free. With `wakes_early`, a µop is woken
// together with the one that it waits for, if that takes a cycle. If that one could
// have started in an earlier cycle, but others had the ports, the woken µop competes
// with all others by its age, and takes a port in vain (a "pileup victim" in Brown,
// Stark and Patt, "Select-Free Instruction Scheduling Logic", MICRO 2001).
//
// Ports choose in the order of their numbers. Where µops of different ports
// compete for the same unit, the port with the oldest ready µop chooses first.
// With unlimited ports, every µop starts when it is ready.
//
//===----------------------------------------------------------------------===//

#ifndef INCC_LIB_SIM_OLDEST_FIRST_H
#define INCC_LIB_SIM_OLDEST_FIRST_H

#include "units.h"
#include "uops.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace incc::sim {

/// The stage that starts µops on an out-of-order core.
class OldestFirst {
public:
  OldestFirst(const Program &P, UopPool &Pool, const ExecutionUnits &Units, bool UnlimitedPorts);

  /// Schedules a µop, when the arrival times of all its inputs are known.
  void schedule(int32_t N);
  /// Notes that a µop was bound to its port when it left the queue before the schedulers. It may be
  /// ready already.
  void bound(int32_t N) {
    if (Pool[N].IsReady)
      makeReady(N);
  }
  /// Calls Start(µop) for each µop that starts in a cycle, and before that Take(µop, port) if it
  /// takes another port than it was bound to. Dependents(µop, Fn) calls Fn(µop) for those that wait
  /// for the result of a µop and for nothing else.
  template <typename Fn, typename TakeFn, typename DependentsFn>
  void cycle(int64_t Cycle, Fn Start, TakeFn Take, DependentsFn Dependents) {
    Now = Cycle;
    wakeUp(Cycle, Start);
    std::ranges::sort(Unbound);
    InVain.clear();
    for (const Aged &Waiting : Unbound)
      if (P.P.WakesEarly != 0 && Pool[Waiting.second].Ready < Cycle)
        Dependents(Waiting.second, [&](int32_t N) { InVain.emplace_back(Pool[N].Order, N); });
    std::ranges::sort(InVain);
    auto Vain = InVain.begin();
    uint64_t TakenInVain = 0;
    std::erase_if(Unbound, [&](const Aged &Oldest) {
      for (; Vain != InVain.end() && *Vain < Oldest; ++Vain)
        if (int32_t Port = freePort(Vain->second, Cycle, TakenInVain); Port >= 0)
          TakenInVain |= uint64_t(1) << Port;
      int32_t N = Oldest.second;
      int32_t Port = freePort(N, Cycle, TakenInVain);
      if (Port < 0)
        return false;
      Take(N, Port);
      Start(N);
      return true;
    });
    for (int32_t Port : portsToServe())
      if (int32_t N = select(Port, Cycle); N >= 0)
        Start(N);
  }

private:
  /// Handles the µops that become ready in this cycle.
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
  std::span<const int32_t> portsToServe();
  int32_t select(int32_t Port, int64_t Cycle);
  int32_t freePort(int32_t N, int64_t Cycle, uint64_t Taken) const;
  bool findsUnitsFree(int32_t N, int64_t Cycle) const;
  const Uop &staticOf(int32_t N) const { return P.Uops[static_cast<size_t>(Pool[N].Static)]; }

  const Program &P;
  UopPool &Pool;
  const ExecutionUnits &Units;
  bool UnlimitedPorts;
  bool SharesUnits; ///< µops of different ports may compete for the same unit.
  int64_t Now = 0;

  static constexpr int64_t Horizon = 256;
  /// By cycle, in a ring: the first of the µops that become ready, linked by DynUop::Next.
  std::array<int32_t, Horizon> Calendar;
  using Aged = std::pair<uint64_t, int32_t>; ///< The age of a µop, and its number.
  std::array<std::vector<Aged>, 64> Ready;   ///< By port: a heap, the oldest first.
  uint64_t PortsWithReady = 0;
  std::vector<Aged> Unbound; ///< Ready µops that take a port when they start.
  std::vector<Aged> InVain;  ///< Those that were woken with one of these (`wakes_early`).
  std::array<int32_t, 64> ServingOrder; ///< Scratch space of portsToServe().
};

} // namespace incc::sim

#endif // INCC_LIB_SIM_OLDEST_FIRST_H
