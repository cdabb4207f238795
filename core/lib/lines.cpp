//===- lines.cpp - Loads that cross cache lines ---------------------------===//
//
// The symbolic addresses of the loads over a number of iterations (memory.h) are
// grouped by their linear part. For each group, every residue modulo the line is
// tried that the unknown part can have. Strides repeat modulo a line after at most
// 64 iterations, and the number of iterations is a power of two, so the counts are
// exact averages if that many iterations could be simulated.
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

/// The alignment of malloc()'s results on 64-bit systems (glibc; the ABI's max_align_t).
constexpr int64_t MallocAlignment = 16;

/// Loads or stores through pointers that are aligned alike.
struct Group {
  std::vector<AccessAddress> Accesses;
  bool IsPlaced = false; ///< It has a symbol, or an access that is known to be aligned.
  bool IsAlone = false;  ///< No other group accesses the same object.

  const AccessAddress &smallest() const {
    return *std::ranges::min_element(Accesses, {}, &AccessAddress::Bytes);
  }
  /// The bytes of the elements to which the smallest access is aligned.
  int64_t element() const {
    return std::min(LargestElement,
                    int64_t(std::bit_floor(static_cast<uint32_t>(std::max(smallest().Bytes, 1)))));
  }
  /// Calls F(residue, step) for each residue modulo the line that the group's pointer can have. The
  /// smallest access is aligned to its elements, whose size is the step from residue to residue.
  template <typename Fn> void forEachResidue(int64_t LineBytes, Fn F) const {
    int64_t Element = element();
    int64_t First = -static_cast<int64_t>(smallest().Constant) & (Element - 1);
    for (int64_t Residue = First; Residue < LineBytes; Residue += Element)
      F(Residue, Element);
  }

  /// Returns true if all accesses are as wide as a line. They cross lines at every place but one,
  /// so a program that uses them does not leave their place to chance.
  bool isOfWholeLines(int64_t LineBytes) const {
    return std::ranges::all_of(Accesses,
                               [&](const AccessAddress &L) { return L.Bytes >= LineBytes; });
  }
};

bool crosses(const AccessAddress &L, int64_t Residue, int64_t LineBytes) {
  int64_t First = (static_cast<int64_t>(L.Constant) + Residue) & (LineBytes - 1);
  return First + L.Bytes > LineBytes;
}

int64_t countCrossings(const Group &G, int64_t Residue, int64_t LineBytes) {
  return std::ranges::count_if(
      G.Accesses, [&](const AccessAddress &L) { return crosses(L, Residue, LineBytes); });
}

/// Returns the groups of all accesses up to a size, by part.
std::unordered_map<uint32_t, Group> groupsOf(const Kernel &K, const AccessAddresses &Accesses,
                                             int32_t MostBytes) {
  std::unordered_map<uint32_t, Group> Groups;
  std::unordered_map<int32_t, int32_t> PartsOf;
  for (const AccessAddress &A : Accesses.Accesses) {
    if (A.Bytes > MostBytes)
      continue;
    auto [Place, IsNew] = Groups.try_emplace(A.Part);
    Group &G = Place->second;
    if (IsNew)
      ++PartsOf[Accesses.ObjectOf.at(A.Part)];
    G.Accesses.push_back(A);
    G.IsPlaced |= K.MemorySymbol[K.MemoryOfValue[A.Value]] >= 0 ||
                  std::ranges::find(K.AlignedValue, A.Value) != K.AlignedValue.end();
  }
  for (auto &[Part, G] : Groups)
    G.IsAlone = PartsOf[Accesses.ObjectOf.at(Part)] == 1;
  return Groups;
}

/// Counts the crossings of the groups.
class CrossingCounter {
public:
  CrossingCounter(const Kernel &K, LineCrossings &Result)
      : K(K), Result(Result), Average(Result.Best.size(), 0),
        Shifted(K.LinePlaces == AnyPlace || K.LinePlaces == LikelyPlace) {}

  void count(const Group &G, bool IsOffset);
  void countObjects(const std::unordered_map<uint32_t, Group> &Groups,
                    const AccessAddresses &Loads);
  void setExpected();
  void setPattern(const AccessAddresses &Loads);

private:
  const Kernel &K;
  LineCrossings &Result;
  /// By value: the expected crossings if pointers lie anywhere, in units of 1 / (Iterations *
  /// LineBytes) of an iteration.
  std::vector<int64_t> Average;
  std::unordered_map<uint32_t, int64_t> ChosenResidue; ///< By part, at the best or worst place.
  bool Shifted;        ///< The kernel works on shifted views of its arrays.
  int64_t AllBest = 0; ///< The sum of all counts in Best.
};

/// Counts the best, the worst and the average crossings of a group.
void CrossingCounter::count(const Group &G, bool IsOffset) {
  // Places of symbols, and of vectors as wide as a line, are those with the fewest crossings.
  bool IsLikely = K.LinePlaces == LikelyPlace;
  bool IsAligned =
      G.IsPlaced || (!IsLikely && K.LinePlaces != AnyPlace && G.isOfWholeLines(K.LineBytes));
  int64_t BestCount = -1, WorstCount = -1, BestResidue = 0, WorstResidue = 0;
  G.forEachResidue(K.LineBytes, [&](int64_t Residue, int64_t) {
    int64_t Count = countCrossings(G, Residue, K.LineBytes);
    if (BestCount < 0 || Count < BestCount)
      std::tie(BestCount, BestResidue) = std::pair(Count, Residue);
    if (Count > WorstCount || (IsOffset && Count == WorstCount))
      std::tie(WorstCount, WorstResidue) = std::pair(Count, Residue);
  });
  // If a load has to cross a line, the group is a shifted view, which may begin anywhere.
  int64_t Apart = IsLikely && G.IsAlone && BestCount == 0 ? MallocAlignment : 1;
  G.forEachResidue(K.LineBytes, [&](int64_t Residue, int64_t Step) {
    for (const AccessAddress &L : G.Accesses)
      if (!IsAligned && Residue / Step * Step % Apart == 0 && crosses(L, Residue, K.LineBytes))
        Average[L.Value] += std::max(Step, Apart);
  });
  Shifted |= BestCount > 0;
  AllBest += BestCount;
  if (G.IsPlaced)
    WorstResidue = BestResidue;
  ChosenResidue[G.Accesses.front().Part] = K.LinePlaces == WorstPlace ? WorstResidue : BestResidue;
  for (const AccessAddress &L : G.Accesses) {
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
    Object.Accesses.insert(Object.Accesses.end(), G.Accesses.begin(), G.Accesses.end());
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
  // Reduce the fraction, so that a simulation soon repeats itself.
  int64_t Unit = Result.Iterations * K.LineBytes;
  for (int64_t Count : Average)
    Unit = std::gcd(Unit, Count);
  for (int64_t &Count : Average)
    Count /= Unit;
  Result.Expected = std::move(Average);
  Result.ExpectedIterations = Result.Iterations * K.LineBytes / Unit;
}

/// Notes the iterations in which loads cross lines at the chosen places.
void CrossingCounter::setPattern(const AccessAddresses &Loads) {
  size_t PerIteration = Loads.Accesses.size() / static_cast<size_t>(Loads.Iterations);
  for (size_t N = 0; N < Loads.Accesses.size(); ++N) {
    const AccessAddress &L = Loads.Accesses[N];
    auto Residue = ChosenResidue.find(L.Part);
    if (Residue != ChosenResidue.end() && L.Bytes <= K.LineBytes &&
        crosses(L, Residue->second, K.LineBytes))
      Result.Pattern[L.Value] |= uint64_t(1) << N / PerIteration;
  }
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

std::unordered_map<uint32_t, StorePlace> incc::storePlaces(const Kernel &K,
                                                           const AccessAddresses &Stores) {
  std::unordered_map<uint32_t, StorePlace> Places;
  for (const auto &[Part, G] : groupsOf(K, Stores, std::numeric_limits<int32_t>::max())) {
    StorePlace &Place = Places[Part];
    if (G.IsPlaced || K.LinePlaces < WorstPlace)
      continue;
    Place.Step = K.LinePlaces == LikelyPlace && G.IsAlone ? MallocAlignment : G.element();
    if (K.LinePlaces == WorstPlace)
      Place.Shift = G.element();
  }
  return Places;
}

LineCrossings incc::lineCrossings(const Kernel &K, const AccessAddresses &Loads) {
  LineCrossings Result;
  Result.Best.assign(static_cast<size_t>(K.numValues()), 0);
  Result.Expected = Result.Worst = Result.Best;
  Result.Pattern.assign(Result.Best.size(), 0);
  if (!mayCrossLines(K))
    return Result;
  Result.Iterations = Loads.Iterations;
  std::unordered_map<uint32_t, Group> Groups = groupsOf(K, Loads, K.LineBytes);
  CrossingCounter Counter(K, Result);
  std::vector<uint32_t> Parts; // In program order.
  for (const AccessAddress &L : Loads.Accesses)
    if (Groups.contains(L.Part) && std::ranges::find(Parts, L.Part) == Parts.end())
      Parts.push_back(L.Part);
  for (size_t N = 0; N < Parts.size(); ++N)
    Counter.count(Groups.at(Parts[N]), K.LinePlaces == WorstPlace && N % 2 == 1);
  Counter.countObjects(Groups, Loads);
  Counter.setExpected();
  if ((K.LinePlaces == BestPlace || K.LinePlaces == WorstPlace) && Loads.Iterations <= 64)
    Counter.setPattern(Loads);
  return Result;
}
