//===- lines.cpp - Loads that cross cache lines ---------------------------===//
//
// The symbolic addresses of the loads over a number of iterations (memory.h),
// grouped by linear part; then every residue that the unknown part can have
// modulo the line is tried. Strides repeat modulo a line after at most 64
// iterations, and the number of iterations is a power of two, so the counts are
// exact averages wherever that many could be simulated.
//
//===----------------------------------------------------------------------===//

#include "incc/lines.h"
#include "incc/memory.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <unordered_map>
#include <utility>

using namespace incc;

namespace {

/// The pointers of a program are aligned to their elements; of vectors we do not know the
/// elements, and larger ones than this are rare.
constexpr int64_t LargestElement = 8;

/// Of Kernel::LinePlaces.
constexpr int32_t BestPlace = 1, WorstPlace = 2, AnyPlace = 3;

struct Group {
  std::vector<AccessAddress> Loads;
  bool Symbol = false;

  /// Where the loads' pointer can lie modulo the line: the smallest access is aligned to its
  /// elements. The first place and the distance to the next.
  std::pair<int64_t, int64_t> places() const {
    auto Smallest = std::ranges::min_element(Loads, {}, &AccessAddress::Bytes);
    int64_t Element =
        std::min(LargestElement, int64_t(std::bit_floor(static_cast<uint32_t>(Smallest->Bytes))));
    return {-static_cast<int64_t>(Smallest->Constant) & (Element - 1), Element};
  }

  /// Whether all accesses are as wide as a line. Wherever the pointer lies but at a line's start
  /// all of them cross then, so that nobody who cares for such vectors leaves its place to chance.
  bool isOfWholeLines(int64_t LineBytes) const {
    return std::ranges::all_of(Loads, [&](const AccessAddress &L) { return L.Bytes >= LineBytes; });
  }
};

bool crosses(const AccessAddress &L, int64_t Residue, int64_t LineBytes) {
  int64_t First = (static_cast<int64_t>(L.Constant) + Residue) & (LineBytes - 1);
  return First + L.Bytes > LineBytes;
}

} // namespace

bool incc::mayCrossLines(const Kernel &K) {
  if (K.LineBytes == 0)
    return false;
  for (int32_t V = 0; V < K.numValues(); ++V)
    if (int32_t M = K.MemoryOfValue[V];
        K.valueKind(V) == ValueKind::Load && M >= 0 && K.MemorySize[M] > LargestElement)
      return true;
  return false;
}

LineCrossings incc::lineCrossings(const Kernel &K, const AccessAddresses &Loads) {
  LineCrossings Result;
  Result.Best.assign(static_cast<size_t>(K.numValues()), 0);
  Result.Expected = Result.Worst = Result.Best;
  if (!mayCrossLines(K))
    return Result;

  int64_t Iterations = Result.Iterations = Loads.Iterations;
  std::unordered_map<uint32_t, Group> Groups;
  for (const AccessAddress &L : Loads.Accesses) {
    if (L.Bytes > K.LineBytes)
      continue;
    Group &G = Groups[L.Part];
    G.Loads.push_back(L);
    G.Symbol |= K.MemorySymbol[K.MemoryOfValue[L.Value]] >= 0;
  }
  // By value, in units of 1 / (Iterations * LineBytes) of an iteration.
  std::vector<int64_t> Average(Result.Best.size(), 0);
  bool Shifted = K.LinePlaces == AnyPlace;
  int64_t AllBest = 0;
  // The groups are independent, so the order in which the table gives them does not matter.
  for (const auto &[Part, G] : Groups) {
    auto [Start, Element] = G.places();
    bool IsAligned = G.Symbol || (K.LinePlaces != AnyPlace && G.isOfWholeLines(K.LineBytes));
    int64_t BestCount = -1, WorstCount = -1, BestResidue = 0, WorstResidue = 0;
    for (int64_t Residue = Start; Residue < K.LineBytes; Residue += Element) {
      int64_t Count = 0;
      for (const AccessAddress &L : G.Loads)
        if (crosses(L, Residue, K.LineBytes)) {
          ++Count;
          if (!IsAligned)
            Average[L.Value] += Element;
        }
      if (BestCount < 0 || Count < BestCount) {
        BestCount = Count;
        BestResidue = Residue;
      }
      if (Count > WorstCount) {
        WorstCount = Count;
        WorstResidue = Residue;
      }
    }
    Shifted |= BestCount > 0;
    AllBest += BestCount;
    for (const AccessAddress &L : G.Loads) {
      bool Crosses = crosses(L, BestResidue, K.LineBytes);
      Result.Best[L.Value] += Crosses;
      Result.Worst[L.Value] += crosses(L, G.Symbol ? BestResidue : WorstResidue, K.LineBytes);
      if (IsAligned)
        Average[L.Value] += Crosses * K.LineBytes;
    }
  }
  // Rows of whole lines are all aligned alike: if not all loads can be aligned then, they are
  // shifted against each other, however long the rows are.
  std::unordered_map<int32_t, Group> Objects;
  for (auto &[Part, G] : Groups) {
    Group &Object = Objects[Loads.ObjectOf.at(Part)];
    Object.Loads.insert(Object.Loads.end(), G.Loads.begin(), G.Loads.end());
  }
  int64_t AlignedAlike = 0;
  for (const auto &[Number, G] : Objects) {
    auto [Start, Element] = G.places();
    int64_t Fewest = std::numeric_limits<int64_t>::max();
    for (int64_t Residue = Start; Residue < K.LineBytes; Residue += Element)
      Fewest =
          std::min<int64_t>(Fewest, std::ranges::count_if(G.Loads, [&](const AccessAddress &L) {
                              return crosses(L, Residue, K.LineBytes);
                            }));
    AlignedAlike += Fewest;
  }
  Shifted |= AlignedAlike > AllBest;
  Result.Expected = Result.Best;
  Result.ExpectedIterations = Iterations;
  if (Shifted) {
    // In lowest terms, so that what repeats itself does so soon.
    int64_t Common = Iterations * K.LineBytes;
    for (int64_t Count : Average)
      Common = std::gcd(Common, Count);
    for (int64_t &Count : Average)
      Count /= Common;
    Result.Expected = std::move(Average);
    Result.ExpectedIterations = Iterations * K.LineBytes / Common;
  }
  if (K.LinePlaces == BestPlace || K.LinePlaces == WorstPlace) {
    // Taken for granted, so that bounds hold there too.
    if (K.LinePlaces == WorstPlace)
      Result.Best = Result.Worst;
    Result.Expected = Result.Best;
    Result.ExpectedIterations = Iterations;
  }
  return Result;
}
