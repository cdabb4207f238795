//===- units.h - Ports, and what is held beside them -----------------------===//
//
// A port takes a µop in a cycle, and longer if the µop keeps it: one that is not
// pipelined, or a load that crosses a cache line. A divider is held beside the
// port, and its port goes on with other µops in the meantime. Where more ports
// than ways lead to a unit (Pipeline::PickedFrom), a µop needs a way beside its
// port. Loads that would need a bank of the first-level cache that already serves
// as many as it can in the cycle wait, and let younger ones pass (measured on
// Golden Cove: of six loads a trip, three of one bank, three of another, the
// scheduler finds two groups of three that go together). One that crosses a line
// goes without any other load (there, too: n of them and m others that have no bank
// in common, n + m/3 cycles, rounded up). On cores where a bank serves whatever is asked
// of one set (Pipeline::BankSets), loads of a set pass together. Likewise µops on wide vectors that
// would exceed what the core starts of them in a cycle (Program::WidePerCycle).
//
//===----------------------------------------------------------------------===//

#ifndef INCC_LIB_SIM_UNITS_H
#define INCC_LIB_SIM_UNITS_H

#include "fingerprint.h"
#include "program.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

namespace incc::sim {

class ExecutionUnits {
public:
  explicit ExecutionUnits(const Program &P)
      : NumColumns(static_cast<size_t>(P.K.NumColumns)), BankLoads(P.P.BankLoads),
        BySet(P.P.BankSets > 0), AnyPlaces(P.AnyPlaces), WidePerCycle(P.WidePerCycle) {
    for (uint64_t Set : P.P.PickedFrom)
      WaysUntil.emplace_back(std::popcount(Set), 0);
  }

  bool isPortFree(int32_t Port, int64_t Cycle) const {
    return FreeAt[static_cast<size_t>(Port)] <= Cycle;
  }
  /// Whether the divider that the µop holds, if any, is free.
  bool isHeldFree(const Uop &U, int64_t Cycle) const {
    return U.Held < 0 || HeldUntil[static_cast<size_t>(U.Held)] <= Cycle;
  }
  bool isWayFree(const Uop &U, int64_t Cycle) const {
    return U.Shared < 0 || std::ranges::min(WaysUntil[static_cast<size_t>(U.Shared)]) <= Cycle;
  }
  /// Whether the banks that a load needs serve one more in this cycle. One that crosses a line
  /// needs all that all of them can give, where sets make no difference.
  bool areBanksFree(LoadBanks Load, bool Crosses, int64_t Cycle) const {
    if (BanksAt != Cycle)
      return true;
    if (Crosses && !BySet)
      return Reading.empty();
    uint64_t Once = 0, Twice = 0;
    for (LoadBanks Other : Reading)
      if (!BySet || (Other.Part == Load.Part ? Other.Set != Load.Set : AnyPlaces)) {
        Twice |= Once & Other.Banks;
        Once |= Other.Banks;
      }
    return (Load.Banks & (BankLoads == 1 ? Once : Twice)) == 0;
  }
  /// Whether a µop on wide vectors has its share of the cycle. A load that crosses a line is two
  /// accesses, and takes two.
  bool isShareFree(const Uop &U, bool Crosses, int64_t Cycle) const {
    return U.Share == 0 || std::max(SharedUntil, Cycle * WidePerCycle) + shareOf(U, Crosses) <=
                               (Cycle + ShareAhead) * WidePerCycle;
  }
  void takeBanks(LoadBanks Load, bool Crosses, int64_t Cycle) {
    if (std::exchange(BanksAt, Cycle) != Cycle)
      Reading.clear();
    if (Crosses && !BySet)
      Load.Banks = ~uint64_t(0);
    Reading.push_back(Load);
    if (Crosses && !BySet)
      Reading.push_back(Load);
  }
  /// A µop starts on a port and takes it for so long; `Ways` if they, and shares, are limited.
  void take(const Uop &U, int32_t Port, int64_t Cycle, int32_t PortCycles, bool Crosses,
            bool Ways) {
    FreeAt[static_cast<size_t>(Port)] = Cycle + PortCycles;
    if (U.Shared >= 0 && Ways)
      *std::ranges::min_element(WaysUntil[static_cast<size_t>(U.Shared)]) = Cycle + PortCycles;
    if (U.Held >= 0)
      HeldUntil[static_cast<size_t>(U.Held)] = Cycle + U.HeldCycles;
    if (U.Share > 0 && Ways)
      SharedUntil = std::max(SharedUntil, Cycle * WidePerCycle) + shareOf(U, Crosses);
  }

  void addTo(Fingerprint &F) const {
    if (WidePerCycle > 0)
      F.add(std::max<int64_t>(SharedUntil - (F.cycle() + 1) * WidePerCycle, 0));
    for (size_t N = 0; N < NumColumns; ++N)
      if (std::max(FreeAt[N], HeldUntil[N]) > F.cycle()) {
        F.deadline(FreeAt[N], static_cast<int32_t>(N));
        F.deadline(HeldUntil[N]);
      }
    for (const std::vector<int64_t> &Ways : WaysUntil)
      for (int64_t Until : Ways)
        F.deadline(Until);
  }

private:
  static int32_t shareOf(const Uop &U, bool Crosses) { return Crosses ? 2 * U.Share : U.Share; }

  /// The limit holds for the mean: so many cycles' worth may start at once. With one alone, loops
  /// whose loads, arithmetic and stores come in turn would be slower than measured; more than three
  /// make no difference to them.
  static constexpr int64_t ShareAhead = 4;
  size_t NumColumns;
  int32_t BankLoads;
  bool BySet, AnyPlaces;
  int32_t WidePerCycle;
  // Of this cycle alone, so that no fingerprint needs them.
  int64_t BanksAt = -1;
  std::vector<LoadBanks> Reading;
  int64_t SharedUntil = 0; ///< In parts of cycles, of which each has WidePerCycle.
  std::array<int64_t, 64> FreeAt{}, HeldUntil{};
  /// By set of Pipeline::PickedFrom: until when each of its ways is taken.
  std::vector<std::vector<int64_t>> WaysUntil;
};

} // namespace incc::sim

#endif // INCC_LIB_SIM_UNITS_H
