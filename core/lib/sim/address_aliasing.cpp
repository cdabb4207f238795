//===- address_aliasing.cpp - Loads taken for loads of a store in flight --===//

#include "address_aliasing.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

using namespace incc;
using namespace incc::sim;

namespace {

/// The most pairs of loads and stores that are compared.
constexpr size_t MostPairs = 1 << 14;
/// The most distances of two pointers that are tried in search of the worst one.
constexpr size_t MostShifts = 16;
/// The most instructions between a store and a load, if the reorder buffer is not known.
constexpr int32_t UsualWindow = 256;

/// A load or store that moves by the same number of bytes from each iteration to the next.
struct Walk {
  int32_t Instruction = 0;
  AccessAddress First; ///< In the first iteration that was followed.
  uint64_t Step = 0;
};

/// Returns the accesses that move steadily, in program order.
std::vector<Walk> walksOf(const AccessAddresses &Of, const std::vector<int32_t> &InstructionOf) {
  std::vector<Walk> Walks;
  size_t PerIteration = Of.Accesses.size() / static_cast<size_t>(Of.Iterations);
  for (size_t N = 0; Of.Iterations > 1 && N < PerIteration; ++N) {
    const AccessAddress &First = Of.Accesses[N];
    uint64_t Step = Of.Accesses[N + PerIteration].Constant - First.Constant;
    bool IsSteady = true;
    for (size_t Next = N + PerIteration; Next < Of.Accesses.size(); Next += PerIteration)
      IsSteady &= Of.Accesses[Next].Part == First.Part &&
                  Of.Accesses[Next].Constant - Of.Accesses[Next - PerIteration].Constant == Step;
    if (IsSteady)
      Walks.push_back({InstructionOf[static_cast<size_t>(First.Value)], First, Step});
  }
  return Walks;
}

/// Returns true if the bytes of a load and of a store overlap, as far as the bits of `Mask` go. The
/// load begins `Behind` bytes behind the store.
bool overlaps(const Walk &Load, const Walk &Store, uint64_t Behind, uint64_t Mask) {
  return (Behind & Mask) < static_cast<uint64_t>(std::max(Store.First.Bytes, 1)) ||
         (~Behind & Mask) < static_cast<uint64_t>(std::max(Load.First.Bytes, 1)) - 1;
}

/// The loads and stores of a kernel, and how far apart they are.
class Meetings {
public:
  Meetings(const Kernel &K, const Pipeline &P) : Mask((uint64_t(1) << P.AliasingBits) - 1) {
    int32_t Window = (K.Rob > 0 ? K.Rob : UsualWindow) + P.AliasingAfterRetirement * K.IssueWidth;
    Furthest = Window / std::max(1, K.numInstructions()) + 1;
  }

  /// Returns the least distance in iterations of a store that is older than the load.
  static int32_t nearest(const Walk &Load, const Walk &Store) {
    return Store.Instruction < Load.Instruction ? 0 : 1;
  }
  /// Returns how many bytes a load begins behind the store of some iterations before, if pointers
  /// are equal.
  static uint64_t behind(const Walk &Load, const Walk &Store, int32_t Distance) {
    return Load.First.Constant - Store.First.Constant +
           static_cast<uint64_t>(Distance) * Store.Step;
  }

  /// Returns the stores of a stored value that a load aliases with, or reads, if its pointer is
  /// `Shift` bytes behind the store's.
  std::vector<AliasedStores> find(const Walk &Load, const Walk &Store, uint64_t Shift) const {
    std::vector<AliasedStores> Found;
    for (int32_t Distance = nearest(Load, Store); Distance <= Furthest; ++Distance) {
      uint64_t Behind = behind(Load, Store, Distance) + Shift;
      if (!overlaps(Load, Store, Behind, Mask))
        continue;
      if (!Found.empty() && Found.back().Last == Distance - 1)
        Found.back().Last = Distance;
      else
        Found.push_back({Store.First.Value, Distance, Distance});
    }
    return Found;
  }

  /// Returns true if a load aliases with the last store of a stored value before it (see find()).
  bool isAliasedAtNearest(const Walk &Load, const Walk &Store, uint64_t Shift) const {
    return Load.Step == Store.Step &&
           overlaps(Load, Store, behind(Load, Store, nearest(Load, Store)) + Shift, Mask);
  }

  /// Returns the distance of the youngest store that wrote bytes which a load reads.
  std::optional<int32_t> read(const Walk &Load, const Walk &Store) const {
    for (int32_t Distance = nearest(Load, Store); Distance <= Furthest; ++Distance)
      if (overlaps(Load, Store, behind(Load, Store, Distance), ~uint64_t(0)))
        return Distance;
    return std::nullopt;
  }

private:
  uint64_t Mask;
  int32_t Furthest; ///< The greatest distance in iterations of a store that is still compared.
};

/// Returns how far the pointer of some loads would be behind that of some stores, for as many loads
/// as possible to alias with the last store before them: the first load does with one of them.
uint64_t worstShift(const Meetings &M, const std::vector<const Walk *> &Loads,
                    const std::vector<const Walk *> &Stores) {
  uint64_t Worst = 0;
  int64_t Most = -1;
  for (const Walk *Met : std::span(Stores).first(std::min(Stores.size(), MostShifts))) {
    uint64_t Shift =
        -Meetings::behind(*Loads.front(), *Met, Meetings::nearest(*Loads.front(), *Met));
    int64_t Count = std::ranges::count_if(Loads, [&](const Walk *Load) {
      return std::ranges::any_of(
          Stores, [&](const Walk *Store) { return M.isAliasedAtNearest(*Load, *Store, Shift); });
    });
    if (Count > Most) {
      Most = Count;
      Worst = Shift;
    }
  }
  return Worst;
}

} // namespace

AliasPlan::AliasPlan(const Kernel &K, const Pipeline &P, const AccessAddresses &Loads,
                     const AccessAddresses &Stores) {
  if (P.AliasingBits <= 0)
    return;
  std::vector<int32_t> InstructionOf(static_cast<size_t>(K.numValues()));
  for (int32_t I = 0; I < K.numInstructions(); ++I)
    std::fill(InstructionOf.begin() + K.ValueStart[I], InstructionOf.begin() + K.ValueStart[I + 1],
              I);
  std::vector<Walk> Loading = walksOf(Loads, InstructionOf),
                    Storing = walksOf(Stores, InstructionOf);
  if (Loading.empty() || Storing.empty() || Loading.size() * Storing.size() > MostPairs)
    return;
  Meetings M(K, P);
  std::unordered_map<uint32_t, std::vector<const Walk *>> LoadsOf, StoresOf; // By part.
  for (const Walk &W : Loading)
    LoadsOf[W.First.Part].push_back(&W);
  for (const Walk &W : Storing)
    StoresOf[W.First.Part].push_back(&W);
  std::map<std::pair<uint32_t, uint32_t>, uint64_t> Shifts; // By the parts of load and store.
  // Returns the distance of two pointers beyond that of the constants, if it is known or assumed.
  auto ShiftOf = [&](uint32_t Load, uint32_t Store) -> std::optional<uint64_t> {
    if (Load == Store)
      return 0;
    if (K.AliasPlaces == 0)
      return std::nullopt;
    auto [Place, IsNew] = Shifts.try_emplace({Load, Store});
    if (IsNew)
      Place->second = worstShift(M, LoadsOf[Load], StoresOf[Store]);
    return Place->second;
  };
  ByValue.resize(InstructionOf.size());
  bool Any = false;
  for (const Walk &Load : Loading) {
    std::vector<AliasedStores> &Aliased = ByValue[static_cast<size_t>(Load.First.Value)];
    // The youngest store that the load reads from: its distance, and its instruction, negated.
    std::pair<int32_t, int32_t> Read(std::numeric_limits<int32_t>::max(), 0);
    for (const Walk &Store : Storing) {
      bool IsKnown = Load.First.Part == Store.First.Part;
      if (Load.Step != Store.Step || (!IsKnown && Load.Step == 0))
        continue;
      std::optional<uint64_t> Shift = ShiftOf(Load.First.Part, Store.First.Part);
      if (!Shift)
        continue;
      std::vector<AliasedStores> By = M.find(Load, Store, *Shift);
      Aliased.insert(Aliased.end(), By.begin(), By.end());
      if (IsKnown)
        if (std::optional<int32_t> Distance = M.read(Load, Store))
          Read = std::min(Read, std::pair(*Distance, -Store.Instruction));
    }
    // That store, and all older ones, are compared in vain: the load has found its data.
    std::erase_if(Aliased, [&](AliasedStores &By) {
      bool IsYounger = -InstructionOf[static_cast<size_t>(By.Value)] < Read.second;
      By.Last = std::min(By.Last, Read.first - (IsYounger ? 0 : 1));
      return By.First > By.Last;
    });
    Any |= !Aliased.empty();
  }
  if (!Any)
    ByValue.clear();
}
