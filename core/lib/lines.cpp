//===- lines.cpp - Loads that cross cache lines ---------------------------===//
//
// The symbolic addresses of the loads over a number of iterations (memory.h) are
// grouped by their linear part. For each group, every residue modulo the line is
// tried that the unknown part can have. Strides repeat modulo a line after at most
// 64 iterations, and the number of iterations is a power of two, so the counts are
// exact averages wherever so many iterations could be simulated.
//
//===----------------------------------------------------------------------===//

#include "incc/lines.h"
#include "incc/memory.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <tuple>
#include <unordered_map>
#include <utility>

using namespace incc;

namespace {

/// The largest element whose alignment is assumed. The elements of vectors are not known, and
/// larger ones are rare.
constexpr int64_t LargestElement = 8;

/// Values of Kernel::LinePlaces.
constexpr int32_t BestPlace = 1, WorstPlace = 2, AnyPlace = 3;

/// Loads through pointers that are aligned alike.
struct Group {
  std::vector<AccessAddress> Loads;
  bool HasSymbol = false;

  /// Calls F(residue, step) for each residue modulo the line that the group's pointer can have. The
  /// smallest access is aligned to its elements, whose size is the step from residue to residue.
  template <typename Fn> void forEachResidue(int64_t LineBytes, Fn F) const {
    auto Smallest = std::ranges::min_element(Loads, {}, &AccessAddress::Bytes);
    int64_t Element =
        std::min(LargestElement, int64_t(std::bit_floor(static_cast<uint32_t>(Smallest->Bytes))));
    int64_t First = -static_cast<int64_t>(Smallest->Constant) & (Element - 1);
    for (int64_t Residue = First; Residue < LineBytes; Residue += Element)
      F(Residue, Element);
  }

  /// Returns true if all accesses are as wide as a line. They cross lines at every place but one,
  /// so a program that uses them does not leave their place to chance.
  bool isOfWholeLines(int64_t LineBytes) const {
    return std::ranges::all_of(Loads, [&](const AccessAddress &L) { return L.Bytes >= LineBytes; });
  }
};

bool crosses(const AccessAddress &L, int64_t Residue, int64_t LineBytes) {
  int64_t First = (static_cast<int64_t>(L.Constant) + Residue) & (LineBytes - 1);
  return First + L.Bytes > LineBytes;
}

int64_t countCrossings(const Group &G, int64_t Residue, int64_t LineBytes) {
  return std::ranges::count_if(
      G.Loads, [&](const AccessAddress &L) { return crosses(L, Residue, LineBytes); });
}

/// Counts the crossings of the groups.
class CrossingCounter {
public:
  CrossingCounter(const Kernel &K, LineCrossings &Result)
      : K(K), Result(Result), Average(Result.Best.size(), 0), Shifted(K.LinePlaces == AnyPlace) {}

  void count(const Group &G);
  void countObjects(const std::unordered_map<uint32_t, Group> &Groups,
                    const AccessAddresses &Loads);
  void setExpected();

private:
  const Kernel &K;
  LineCrossings &Result;
  /// By value: the expected crossings if pointers lie anywhere, in units of 1 / (Iterations *
  /// LineBytes) of an iteration.
  std::vector<int64_t> Average;
  bool Shifted;        ///< The kernel works on shifted views of its arrays.
  int64_t AllBest = 0; ///< The sum of all counts in Best.
};

/// Counts the best, the worst and the average crossings of a group.
void CrossingCounter::count(const Group &G) {
  // Places of symbols, and of vectors as wide as a line, are those with the fewest crossings.
  bool IsAligned = G.HasSymbol || (K.LinePlaces != AnyPlace && G.isOfWholeLines(K.LineBytes));
  int64_t BestCount = -1, WorstCount = -1, BestResidue = 0, WorstResidue = 0;
  G.forEachResidue(K.LineBytes, [&](int64_t Residue, int64_t Step) {
    int64_t Count = 0;
    for (const AccessAddress &L : G.Loads)
      if (crosses(L, Residue, K.LineBytes)) {
        ++Count;
        if (!IsAligned)
          Average[L.Value] += Step;
      }
    if (BestCount < 0 || Count < BestCount)
      std::tie(BestCount, BestResidue) = std::pair(Count, Residue);
    if (Count > WorstCount)
      std::tie(WorstCount, WorstResidue) = std::pair(Count, Residue);
  });
  Shifted |= BestCount > 0;
  AllBest += BestCount;
  if (G.HasSymbol)
    WorstResidue = BestResidue;
  for (const AccessAddress &L : G.Loads) {
    bool Crosses = crosses(L, BestResidue, K.LineBytes);
    Result.Best[L.Value] += Crosses;
    Result.Worst[L.Value] += crosses(L, WorstResidue, K.LineBytes);
    if (IsAligned)
      Average[L.Value] += Crosses * K.LineBytes;
  }
}

/// Checks if the groups of each object can be aligned together. The rows of an array that are whole
/// lines long are all aligned alike: if not all loads can be aligned then, they are shifted against
/// each other, however long the rows are.
void CrossingCounter::countObjects(const std::unordered_map<uint32_t, Group> &Groups,
                                   const AccessAddresses &Loads) {
  std::unordered_map<int32_t, Group> Objects;
  for (const auto &[Part, G] : Groups) {
    Group &Object = Objects[Loads.ObjectOf.at(Part)];
    Object.Loads.insert(Object.Loads.end(), G.Loads.begin(), G.Loads.end());
  }
  int64_t AlignedAlike = 0;
  for (const auto &[Number, G] : Objects) {
    int64_t Fewest = std::numeric_limits<int64_t>::max();
    G.forEachResidue(K.LineBytes, [&](int64_t Residue, int64_t) {
      Fewest = std::min(Fewest, countCrossings(G, Residue, K.LineBytes));
    });
    AlignedAlike += Fewest;
  }
  Shifted |= AlignedAlike > AllBest;
}

void CrossingCounter::setExpected() {
  Result.Expected = Result.Best;
  Result.ExpectedIterations = Result.Iterations;
  if (K.LinePlaces == WorstPlace)
    // The worst places are an assumption of the analysis, so the bounds use them, too.
    Result.Expected = Result.Best = Result.Worst;
  if (!Shifted || K.LinePlaces == BestPlace || K.LinePlaces == WorstPlace)
    return;
  // In lowest terms, so that a simulation repeats itself soon.
  int64_t Unit = Result.Iterations * K.LineBytes;
  for (int64_t Count : Average)
    Unit = std::gcd(Unit, Count);
  for (int64_t &Count : Average)
    Count /= Unit;
  Result.Expected = std::move(Average);
  Result.ExpectedIterations = Result.Iterations * K.LineBytes / Unit;
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
  Result.Iterations = Loads.Iterations;
  std::unordered_map<uint32_t, Group> Groups;
  for (const AccessAddress &L : Loads.Accesses) {
    if (L.Bytes > K.LineBytes)
      continue;
    Group &G = Groups[L.Part];
    G.Loads.push_back(L);
    G.HasSymbol |= K.MemorySymbol[K.MemoryOfValue[L.Value]] >= 0;
  }
  CrossingCounter Counter(K, Result);
  for (const auto &[Part, G] : Groups)
    Counter.count(G);
  Counter.countObjects(Groups, Loads);
  Counter.setExpected();
  return Result;
}
