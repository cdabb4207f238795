//===- layout.cpp - Addresses of the code and what the µop cache holds ----===//

#include "layout.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

using namespace incc;
using namespace incc::sim;

namespace {

/// The bytes of code that `dsb_lines` lines of the µop cache may hold. A block of 32 bytes has up
/// to three lines (Intel's optimization manual), a block of 64 bytes up to six (Abel and Reineke).
constexpr int32_t BytesOfLines = 32;
constexpr int64_t CacheLineBytes = 64;
/// Jumps that cross or end at a multiple of this many bytes are subject to the JCC erratum.
constexpr int64_t JccErratumBytes = 32;

} // namespace

CodeLayout::CodeLayout(const Program &P, bool Loop, int32_t Alignment)
    : P(P), Loop(Loop), Start(Alignment), Bytes(0), Cached(P.Instructions.size(), false),
      Lines(P.Entries.size(), 0) {
  if (int32_t Last = numInstructions() - 1; Last >= 0)
    Bytes = P.P.Offset[Last] + P.P.Length[Last];
  if (!Loop || P.P.DsbWidth == 0)
    return;
  fillUopCache();
  if (P.P.DsbBlockAgain > 0) {
    fillGroups();
  } else if (P.P.ConstantsMost > 0) {
    if (fillLinesWithConstants(/*EndInBlocks=*/false) < numBlocks())
      fillLinesWithConstants(/*EndInBlocks=*/true);
  } else {
    fillLinesByJumps();
  }
  if (canReplayLoop()) {
    size_t Last = P.Entries.size() - 1;
    Unrolling = Last < P.P.LsdUnroll.size() ? P.P.LsdUnroll[Last] : 1;
  }
}

bool CodeLayout::jumpsBehind(int32_t I) const {
  if (I + 1 == numInstructions())
    return Loop;
  int64_t Distance = address(I + 1) - endAddress(I);
  return Distance != 0 && (P.K.hasFlag(I, IsBranch) || std::abs(Distance) >= CacheLineBytes);
}

/// Returns the number of blocks of code that an iteration goes through.
int64_t CodeLayout::numBlocks() const {
  int64_t Number = 0, LastBlock = -1;
  for (int32_t I = 0; I < numInstructions(); ++I)
    for (int64_t Block : {block(I), (endAddress(I) - 1) / P.P.DsbBlock}) {
      Number += Block != LastBlock;
      LastBlock = Block;
    }
  return Number;
}

/// Returns true if the loop stream detector replays the loop. It repeats µops in the µop queue that
/// came from the µop cache, so the loop must fit into both and have no microcode. Pushes and pops
/// must match (Intel's optimization manual).
bool CodeLayout::canReplayLoop() const {
  return P.P.Lsd && std::ranges::find(P.P.NoLsd, 1) == P.P.NoLsd.end() &&
         std::ranges::none_of(P.P.UopsMs, [](int32_t Uops) { return Uops > 0; }) &&
         std::accumulate(P.P.StackChange.begin(), P.P.StackChange.end(), 0) == 0 &&
         std::ranges::find(Cached, false) == Cached.end() && !P.Entries.empty() &&
         P.numEntries() <= P.P.Idq;
}

// --- the µop cache of Intel's cores -------------------------------------------------------------

/// Finds the instructions that the µop cache holds. It holds a block of code (`dsb_block` bytes) if
/// the block's µops fit into `dsb_lines` lines for every 32 bytes and no jump in it is subject to
/// the JCC erratum. With `both_32B_halves_must_be_cacheable`, it holds a cache line of code
/// completely or not at all. The front end leaves the µop cache at an instruction that is not in
/// it, and returns to it only after a taken jump, such as the one to the loop's start.
void CodeLayout::fillUopCache() {
  int32_t N = numInstructions();
  Cached.assign(static_cast<size_t>(N), true);
  int32_t Line = -1;
  for (int32_t Begin = 0, End = 0; Begin < N; Begin = End) {
    while (End < N && block(End) == block(Begin) && (End == Begin || !jumpsBehind(End - 1)))
      ++End;
    if (cacheBlock(Begin, End, Line))
      continue;
    std::fill(Cached.begin() + Begin, Cached.begin() + End, false);
    // The pair that a jump is fused into may begin in the block before.
    if (Begin > 0 && isFusedWithNext(Begin - 1) && !P.P.BranchMayEndCachedBlock &&
        hasJccErratum(Begin))
      Cached[static_cast<size_t>(Begin) - 1] = false;
  }
  excludeWholeBlocks(Cached, P.P.DsbBlock);
  if (P.P.BothHalvesMustBeCacheable)
    excludeWholeBlocks(Cached, CacheLineBytes);
  for (int32_t I = 1; I < N; ++I)
    if (!Cached[static_cast<size_t>(I) - 1] && !jumpsBehind(I - 1))
      Cached[static_cast<size_t>(I)] = false;
}

/// Assigns the entries of a block of instructions to lines of the µop cache, and returns true if
/// the cache holds the block. `Line` is the last line so far. An instruction's µops are all in one
/// line, and microcode fills a line of its own.
bool CodeLayout::cacheBlock(int32_t Begin, int32_t End, int32_t &Line) {
  int32_t LineSlots = P.P.DsbLineUops;
  int32_t Used = LineSlots, LinesUsed = 0;
  bool IsAllowed = true;
  for (int32_t N = Begin; N < End; ++N) {
    if (!P.P.BranchMayEndCachedBlock && hasJccErratum(N)) {
      UncachedJumps.push_back(N);
      IsAllowed = false;
    }
    const InstructionPlan &I = P.Instructions[static_cast<size_t>(N)];
    if (I.Entries.size() == 0)
      continue;
    bool HasMicrocode = I.NonMicrocode < I.Entries.size();
    int32_t Slots = HasMicrocode ? LineSlots : I.Entries.size() + P.P.DsbExtraSlots[N];
    if (Used + Slots > LineSlots) {
      ++LinesUsed;
      ++Line;
      Used = 0;
    }
    std::fill(Lines.begin() + I.Entries.Begin, Lines.begin() + I.Entries.End, Line);
    Used += Slots;
  }
  return IsAllowed && LinesUsed <= int64_t(P.P.DsbLines) * P.P.DsbBlock / BytesOfLines;
}

/// Returns true if a jump, or the pair that it is fused into, crosses a boundary of 32 bytes or
/// ends at one. With the microcode update for the jump conditional code erratum, Skylake and its
/// relatives do not hold such jumps in the µop cache (Intel, "Mitigations for Jump Conditional Code
/// Erratum", 2019).
bool CodeLayout::hasJccErratum(int32_t I) const {
  if (!P.K.hasFlag(I, IsBranch))
    return false;
  int32_t First = P.K.hasFlag(I, FusedIntoPrevious) && I > 0 ? I - 1 : I;
  return address(First) / JccErratumBytes != endAddress(I) / JccErratumBytes;
}

/// Excludes all instructions of an aligned block of code if one of them is excluded.
void CodeLayout::excludeWholeBlocks(std::vector<bool> &IsCached, int64_t BlockBytes) const {
  int32_t N = numInstructions();
  for (int32_t Begin = 0, End = 0; Begin < N; Begin = End) {
    while (End < N && address(End) / BlockBytes == address(Begin) / BlockBytes)
      ++End;
    if (std::find(IsCached.begin() + Begin, IsCached.begin() + End, false) !=
        IsCached.begin() + End)
      std::fill(IsCached.begin() + Begin, IsCached.begin() + End, false);
  }
}

// --- op caches with a known width and unknown rules ---------------------------------------------

/// Zen 3: divides the loop's entries into lines of as many µops as are read in a cycle
/// (`dsb_width`), and returns the number of lines. A line also holds constants of its instructions:
/// `constants_beside` of them in a line full of µops, `constants_each` more for every µop less, and
/// `constants_most` at most. (AMD's optimization guides have the limit of 8; how many constants
/// take the place of a µop is measured.)
///
/// Jumps are looked for in one block of code in a cycle, so a loop takes as many cycles as it has
/// blocks (measured, too). With `EndInBlocks`, the delivery of a cycle also ends with a block.
int32_t CodeLayout::fillLinesWithConstants(bool EndInBlocks) {
  LineEnds.assign(P.Entries.size(), P.numEntries());
  int32_t Used = 0, Constants = 0, LineBegin = 0, NumLines = 1;
  int64_t LastBlock = -1;
  bool Jumped = false;
  for (int32_t I = 0; I < numInstructions(); ++I) {
    Range Entries = P.Instructions[static_cast<size_t>(I)].Entries;
    if (Entries.size() == 0)
      continue;
    int32_t Last = isFusedWithNext(I) ? I + 1 : I;
    int32_t NewConstants = P.P.Constants[I] + (Last > I ? P.P.Constants[Last] : 0);
    int64_t Block = (endAddress(Last) - 1) / P.P.DsbBlock;
    int32_t Room =
        std::min(P.P.ConstantsMost,
                 P.P.ConstantsBeside + P.P.ConstantsEach * (P.P.DsbWidth - Used - Entries.size()));
    if (Used > 0 && (Jumped || (EndInBlocks && Block != LastBlock) ||
                     Used + Entries.size() > P.P.DsbWidth || Constants + NewConstants > Room)) {
      std::fill(LineEnds.begin() + LineBegin, LineEnds.begin() + Entries.Begin, Entries.Begin);
      LineBegin = Entries.Begin;
      Used = Constants = 0;
      ++NumLines;
    }
    LastBlock = Block;
    Jumped = jumpsBehind(Last);
    Used += Entries.size();
    Constants += NewConstants;
  }
  return NumLines;
}

/// Without limits for constants, the delivery of a cycle ends only at a taken jump.
void CodeLayout::fillLinesByJumps() {
  LineEnds.assign(P.Entries.size(), P.numEntries());
  int32_t Begin = 0;
  for (int32_t I = 0; I + 1 < numInstructions(); ++I)
    if (int32_t End = P.Instructions[static_cast<size_t>(I) + 1].Entries.Begin; jumpsBehind(I)) {
      std::fill(LineEnds.begin() + Begin, LineEnds.begin() + End, End);
      Begin = End;
    }
}

/// Zen 5: divides the loop's instructions into groups of `dsb_width` with at most `constants_most`
/// constants. Groups continue across the ends of blocks and end at taken jumps (measured with loops
/// of n nops of one to ten bytes, and of nops and comparisons with constants).
void CodeLayout::fillGroups() {
  int32_t Count = 0, Constants = 0;
  bool Jumped = true;
  for (int32_t I = 0; I < numInstructions(); ++I) {
    Range Entries = P.Instructions[static_cast<size_t>(I)].Entries;
    if (Entries.size() == 0)
      continue;
    int32_t Last = isFusedWithNext(I) ? I + 1 : I;
    int32_t NewConstants = P.P.Constants[I] + (Last > I ? P.P.Constants[Last] : 0);
    if (Jumped || Count == P.P.DsbWidth ||
        (P.P.ConstantsMost > 0 && Constants + NewConstants > P.P.ConstantsMost)) {
      if (!Groups.empty() && !Jumped) {
        Group &Before = Groups.back();
        Before.EmptyBlocks =
            std::max<int32_t>(0, static_cast<int32_t>(block(I) - Before.Block) - 1);
        Before.IsAlone = Before.IsAlone && Before.Block != block(I);
      }
      bool IsAlone = Jumped || Groups.back().Block != block(I);
      Groups.push_back({.Block = block(I), .IsAlone = IsAlone});
      Count = Constants = 0;
    }
    ++Count;
    Constants += NewConstants;
    Group &Now = Groups.back();
    Now.End = Entries.End;
    std::fill(Lines.begin() + Entries.Begin, Lines.begin() + Entries.End,
              static_cast<int32_t>(Groups.size()) - 1);
    Jumped = jumpsBehind(Last);
    Now.EndsInJump = Jumped;
    if (Jumped)
      Now.EmptyBlocks = static_cast<int32_t>((endAddress(Last) - 1) / P.P.DsbBlock - Now.Block);
  }
}
