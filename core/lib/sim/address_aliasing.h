//===- address_aliasing.h - Loads taken for loads of a store in flight ----===//
//
// A load is compared with the older stores that are not in the cache yet. The first
// comparison takes only the lower bits of the addresses (twelve on the cores that
// are known: "4K aliasing"). If these agree, but not the whole addresses, the load
// gets its data late:
//
//   Intel   One such store is enough. The load starts again, which takes its port a
//           second time (Intel's event LD_BLOCKS_PARTIAL.ADDRESS_ALIAS).
//   Zen 5   Two such stores are needed. Measured in chains of loads: one store in
//           flight costs nothing, two or three cost 7 cycles.
//
// A store is compared from the start of its address µop until some cycles after its
// retirement, when it is in the cache. These cycles are measured, too: `retire` of
// StoreQueue has the throughput of this way, not its latency.
//
// Which stores a load aliases with follows from their addresses (AccessAddress). Loads
// and stores through pointers whose distance is not known do not alias, unless they move
// and Kernel::AliasPlaces assumes the worst. Neither do those that move at different speeds
// and therefore meet only now and then. A load that reads what a store wrote aliases
// only with younger stores.
//
//===----------------------------------------------------------------------===//

#ifndef INCC_LIB_SIM_ADDRESS_ALIASING_H
#define INCC_LIB_SIM_ADDRESS_ALIASING_H

#include "fingerprint.h"
#include "incc/memory.h"
#include "incc/sim.h"

#include <cstdint>
#include <span>
#include <vector>

namespace incc::sim {

/// Stores that a load aliases with: those of a stored value, from `First` to `Last` iterations
/// before.
struct AliasedStores {
  int32_t Value, First, Last;
};

/// The stores that each load of a kernel aliases with.
class AliasPlan {
public:
  AliasPlan(const Kernel &K, const Pipeline &P, const AccessAddresses &Loads,
            const AccessAddresses &Stores);

  /// Returns the stores that a loaded value aliases with.
  std::span<const AliasedStores> of(int32_t Value) const {
    return ByValue.empty() ? std::span<const AliasedStores>() : ByValue[static_cast<size_t>(Value)];
  }
  bool empty() const { return ByValue.empty(); }

private:
  std::vector<std::vector<AliasedStores>> ByValue;
};

/// The stores that loads are compared with. Each has a number, in program order.
class ComparedStores {
public:
  /// `IsActive`: some load may alias. Otherwise nothing is noted.
  ComparedStores(const Pipeline &P, bool IsActive)
      : Window(P.AliasingAfterRetirement), Stores(IsActive ? static_cast<size_t>(Size) : 0) {}

  /// Notes that the address of a store is known.
  void addressKnown(int64_t Store) {
    if (!Stores.empty())
      at(Store).IsAddressKnown = true;
  }
  /// Notes that the next stores retire.
  void retire(int64_t Cycle, int32_t Count) {
    for (; !Stores.empty() && Count > 0; --Count)
      at(Retired++) = {Cycle + Window, false};
  }
  /// Returns true if a load that starts now is compared with a store.
  bool isCompared(int64_t Store, int64_t Cycle) const {
    if (Store >= Retired)
      return at(Store).IsAddressKnown;
    return Store >= 0 && Retired - Store < Size && at(Store).Until > Cycle;
  }
  void addTo(Fingerprint &F) const {
    for (int64_t N = Retired - 1; N >= 0 && Retired - N < Size && at(N).Until > F.cycle(); --N)
      F.time(at(N).Until);
  }

private:
  struct Store {
    int64_t Until = 0;           ///< Since its retirement: when it is in the cache.
    bool IsAddressKnown = false; ///< Before its retirement. It follows from the µops in flight.
  };
  static constexpr int64_t Size = 1024; ///< More stores than any core holds.
  Store &at(int64_t N) { return Stores[static_cast<size_t>(N % Size)]; }
  const Store &at(int64_t N) const { return Stores[static_cast<size_t>(N % Size)]; }

  int32_t Window;            ///< Cycles after its retirement for which a store is compared.
  int64_t Retired = 0;       ///< The number of stores that have retired.
  std::vector<Store> Stores; ///< A ring.
};

} // namespace incc::sim

#endif // INCC_LIB_SIM_ADDRESS_ALIASING_H
