//===- cache_banks.h - Banks of the first-level cache ---------------------===//
//
// On some cores, a line of the first-level cache lies across banks of a few bytes
// each (`bank_bytes`), and a bank serves few loads in a cycle (`bank_loads`). A
// load that needs a bank which is taken waits, and lets younger loads pass. There
// are two variants:
//
//   Golden Cove   Two loads of any lines may read the same bank in a cycle. A load
//                 that crosses a line starts without any other load. Measured
//                 there with loads of 1 to 64 bytes: of six loads per iteration,
//                 three of one bank and three of another, the scheduler makes two
//                 groups of three that start together; n loads that cross a line
//                 and m others that share no bank take n + m/3 cycles, rounded up.
//   Sandy Bridge  One load reads a bank in a cycle, but loads of the same set of
//                 the cache do not hinder each other (Intel's optimization manual,
//                 "Handling L1D Cache Bank Conflict"). The model gives the number
//                 of sets (`bank_sets`).
//
// Which banks a load needs follows from its address. The places of loads with the
// same linear part (AccessAddress) relative to each other are known. For different
// pointers, see Kernel::LinePlaces: by default, pointers are taken to be aligned
// to lines where loads of all lines conflict, as allocators align large arrays
// alike (and as the arrays were with which the rule was measured), and not to meet
// in a bank where sets matter, which is most likely.
//
//===----------------------------------------------------------------------===//

#ifndef INCC_LIB_SIM_CACHE_BANKS_H
#define INCC_LIB_SIM_CACHE_BANKS_H

#include "incc/memory.h"
#include "incc/sim.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace incc::sim {

/// The banks that a load needs, as bits, and the set of the cache that it reads (0 where sets make
/// no difference). Both hold relative to other loads of the same part.
struct LoadBanks {
  uint64_t Banks = 0, Set = 0;
  uint32_t Part = 0; ///< As AccessAddress::Part.
  bool operator==(const LoadBanks &) const = default;
};

/// The banks that the loads of a kernel need in each iteration. Constants, whose places are not
/// known, and loads whose addresses cannot be followed need no bank.
class BankPlan {
public:
  BankPlan(const Kernel &K, const Pipeline &P, const AccessAddresses &Loads);

  /// Returns the row of a loaded value in the plan, -1 if it needs no bank.
  int32_t rowOf(int32_t Value) const {
    return RowOf.empty() ? -1 : RowOf[static_cast<size_t>(Value)];
  }
  LoadBanks banks(int32_t Row, int64_t Iteration) const {
    const std::vector<LoadBanks> &ByIteration = Rows[static_cast<size_t>(Row)];
    return ByIteration[static_cast<size_t>(Iteration) & (ByIteration.size() - 1)];
  }
  /// The number of iterations after which all loads need the same banks again.
  int64_t period() const { return Period; }
  /// True if each pointer lies anywhere, so that different parts have known places, too.
  bool hasAnyPlaces() const { return AnyPlaces; }

private:
  bool AnyPlaces = false;
  int64_t Period = 1;
  std::vector<int32_t> RowOf;               ///< By value.
  std::vector<std::vector<LoadBanks>> Rows; ///< By load, then by iteration, modulo a power of two.
};

/// The banks that are taken in the current cycle.
class CacheBanks {
public:
  CacheBanks(const Pipeline &P, const BankPlan &Plan)
      : LoadsPerBank(P.BankLoads), BySet(P.BankSets > 0), AnyPlaces(Plan.hasAnyPlaces()) {}

  /// Returns true if a load can start in this cycle, as far as banks go.
  bool areFree(LoadBanks Load, bool CrossesLine, int64_t Cycle) const {
    if (TakenIn != Cycle)
      return true;
    if (CrossesLine && !BySet)
      return Started.empty();
    uint64_t Once = 0, Twice = 0;
    for (LoadBanks Other : Started)
      if (canConflict(Load, Other)) {
        Twice |= Once & Other.Banks;
        Once |= Other.Banks;
      }
    return (Load.Banks & (LoadsPerBank == 1 ? Once : Twice)) == 0;
  }
  /// Notes that a load starts.
  void take(LoadBanks Load, bool CrossesLine, int64_t Cycle) {
    if (std::exchange(TakenIn, Cycle) != Cycle)
      Started.clear();
    bool TakesAll = CrossesLine && !BySet;
    if (TakesAll)
      Load.Banks = ~uint64_t(0);
    Started.insert(Started.end(), TakesAll ? 2 : 1, Load);
  }

private:
  /// Returns true if two loads of the same bank hinder each other.
  bool canConflict(LoadBanks Load, LoadBanks Other) const {
    if (!BySet)
      return true;
    return Load.Part == Other.Part ? Load.Set != Other.Set : AnyPlaces;
  }

  int32_t LoadsPerBank;
  bool BySet, AnyPlaces;
  // These hold for one cycle only, so no fingerprint needs them.
  int64_t TakenIn = -1;
  std::vector<LoadBanks> Started; ///< The loads of this cycle. Those that cross a line count twice.
};

} // namespace incc::sim

#endif // INCC_LIB_SIM_CACHE_BANKS_H
