//===- store_commits.cpp - Stores on their way to the cache ---------------===//

#include "store_commits.h"

#include "incc/lines.h"

#include <algorithm>
#include <utility>

using namespace incc;
using namespace incc::sim;

namespace {

constexpr int64_t PageBytes = 4096;

/// Returns the number of places within a page, of those that its pointer may have, at which a store
/// crosses the page.
int64_t pageCrossings(const AccessAddress &A, const StorePlace &Place) {
  if (Place.Step == 0 || A.Bytes <= Place.Step)
    return 0;
  return Place.Shift != 0 ? A.Bytes : A.Bytes - Place.Step;
}

/// Returns a set of the first `Count` bytes, as bits.
uint64_t lowBytes(uint64_t Count) { return ~uint64_t(0) >> (64 - Count); }

/// Returns all bytes of those words of a block that `Bytes` are part of. If `Incomplete`, returns
/// only the words that `Bytes` do not cover completely.
uint64_t wordsOf(const Pipeline &P, uint64_t Bytes, bool Incomplete) {
  uint64_t Words = 0;
  for (int32_t Begin = 0; Begin < P.StoreCommitBytes; Begin += P.StoreWordBytes) {
    uint64_t Word = lowBytes(static_cast<uint64_t>(P.StoreWordBytes)) << Begin;
    if ((Bytes & Word) != 0 && !(Incomplete && (Bytes & Word) == Word))
      Words |= Word;
  }
  return Words;
}

} // namespace

StoreCommitPlan::StoreCommitPlan(const Kernel &K, const Pipeline &P,
                                 const AccessAddresses &Stores) {
  if (P.StoreCommitBytes <= 0)
    return;
  std::vector<int32_t> InstructionOf(static_cast<size_t>(K.numValues()), -1);
  std::vector<int32_t> Untracked(static_cast<size_t>(K.numInstructions()), 0);
  for (int32_t I = 0; I < K.numInstructions(); ++I)
    for (int32_t V = K.ValueStart[I]; V < K.ValueStart[I + 1]; ++V)
      if (K.valueKind(V) == ValueKind::Store) {
        InstructionOf[static_cast<size_t>(V)] = I;
        Untracked[static_cast<size_t>(I)] +=
            K.MemoryOfValue[V] < 0 || K.MemorySize[K.MemoryOfValue[V]] <= 0;
      }
  if (std::ranges::all_of(InstructionOf, [](int32_t I) { return I < 0; }))
    return;
  Cycles.assign(static_cast<size_t>(Stores.Iterations), Untracked);
  std::vector<Block> Blocks = planBlocks(K, P, Stores, InstructionOf);
  // Between stores whose addresses cannot be followed, blocks cannot be counted.
  if (P.StoreWordBytes > 0 &&
      std::ranges::all_of(Untracked, [](int32_t Count) { return Count == 0; }))
    planRewrites(K, P, Blocks);
}

/// Adds the cycles of the stores that can be followed, and returns their blocks in order.
std::vector<StoreCommitPlan::Block>
StoreCommitPlan::planBlocks(const Kernel &K, const Pipeline &P, const AccessAddresses &Stores,
                            const std::vector<int32_t> &InstructionOf) {
  std::vector<Block> Blocks;
  auto Size = static_cast<uint64_t>(P.StoreCommitBytes);
  size_t PerIteration = Stores.Accesses.size() / static_cast<size_t>(Stores.Iterations);
  std::unordered_map<uint32_t, StorePlace> Places = storePlaces(K, Stores);
  int64_t Crossing = 0; // Cycles of stores that cross pages, times PageBytes.
  int32_t Joinable = 0; // Stores that are written together so far and that another one may join,
  int32_t InCycle = 0;  // and the blocks that these are to.
  for (size_t N = 0; N < Stores.Accesses.size(); ++N) {
    AccessAddress A = Stores.Accesses[N], Previous = Stores.Accesses[N > 0 ? N - 1 : N];
    A.Constant += static_cast<uint64_t>(Places[A.Part].Shift);
    Previous.Constant += static_cast<uint64_t>(Places[Previous.Part].Shift);
    uint64_t First = A.Constant / Size;
    uint64_t Last = A.lastByte() / Size;
    bool SameBlock = A.Part == Previous.Part && First == Previous.lastByte() / Size;
    bool Joins = Joinable > 0 && (SameBlock || InCycle < P.StoreCommitBlocks);
    // At the worst, a store that would share a block with a wide one comes too late for that.
    Joins = Joins && (K.LinePlaces != WorstPlace || static_cast<uint64_t>(A.Bytes) < 2 * Size);
    if (P.StoreCommitMost > 0) {
      bool Alone = First != Last || static_cast<uint64_t>(A.Bytes) >= Size;
      Joins = Joins && !Alone && Joinable < P.StoreCommitMost;
      Joinable = Alone ? 0 : Joins ? Joinable + 1 : 1;
    } else {
      Joinable = 1;
    }
    InCycle = Joins ? InCycle + !SameBlock : 1;
    // A store that reaches into another block may take both in one cycle.
    auto Further = static_cast<int32_t>(Last - First) / P.StoreCommitBlocks;
    size_t Iteration = N / PerIteration;
    int32_t Instruction = InstructionOf[static_cast<size_t>(A.Value)];
    Cycles[Iteration][static_cast<size_t>(Instruction)] += Further + (Joins ? 0 : 1);
    const AccessAddress &Other =
        Stores.Accesses[N + PerIteration < Stores.Accesses.size() ? N + PerIteration
                                                                  : N % PerIteration];
    if (Other.Part == A.Part && Other.Constant != Stores.Accesses[N].Constant)
      Crossing += P.PageCrossingStoreCycles * pageCrossings(A, Places[A.Part]);
    Cycles[Iteration][static_cast<size_t>(Instruction)] +=
        static_cast<int32_t>(Crossing / PageBytes);
    Crossing %= PageBytes;
    if (P.StoreWordBytes <= 0)
      continue;
    for (uint64_t Number = First; Number <= Last; ++Number) {
      if (Number > First || !Joins)
        Blocks.push_back({A.Part, Number, Iteration, Instruction, 0});
      uint64_t Begin = Number == First ? A.Constant % Size : 0;
      uint64_t End = Number == Last ? A.lastByte() % Size + 1 : Size;
      Blocks.back().Bytes |= lowBytes(End - Begin) << Begin;
    }
  }
  return Blocks;
}

/// Finds the blocks to which PartialWordRule applies: those with incomplete words that an earlier
/// block, not of the same instruction, wrote.
void StoreCommitPlan::planRewrites(const Kernel &K, const Pipeline &P,
                                   const std::vector<Block> &Blocks) {
  size_t Iterations = Cycles.size();
  std::vector<std::vector<int32_t>> Distances(
      Iterations, std::vector<int32_t>(static_cast<size_t>(K.numInstructions()), 0));
  bool AnyRewrite = false;
  size_t FirstOf = 0; // The first block of the same instruction in the same iteration.
  for (size_t N = 0; N < Blocks.size(); ++N) {
    const Block &B = Blocks[N];
    if (B.Iteration != Blocks[FirstOf].Iteration || B.Instruction != Blocks[FirstOf].Instruction)
      FirstOf = N;
    uint64_t Incomplete = wordsOf(P, B.Bytes, true);
    int32_t &Distance = Distances[B.Iteration][static_cast<size_t>(B.Instruction)];
    size_t Furthest = std::min(N, static_cast<size_t>(P.StoreWordWindow));
    for (size_t Back = N - FirstOf + 1; Back <= Furthest && Distance == 0; ++Back) {
      const Block &Earlier = Blocks[N - Back];
      if (Earlier.Part == B.Part && Earlier.Number == B.Number &&
          (wordsOf(P, Earlier.Bytes, false) & Incomplete) != 0) {
        Distance = static_cast<int32_t>(Back - (N - FirstOf));
        AnyRewrite = true;
      }
    }
  }
  if (!AnyRewrite)
    return;
  // The blocks before the first iteration are not in the list, so that iteration is taken to be
  // like one in the middle.
  if (Iterations > 1)
    Distances[0] = Distances[Iterations / 2];
  RewriteDistances = std::move(Distances);
}
