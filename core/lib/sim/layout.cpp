//===- layout.cpp - Addresses, and what the µop cache holds ---------------===//

#include "frontend.h"

#include <algorithm>
#include <numeric>

using namespace incc;
using namespace incc::sim;

namespace {

/// Code of so many bytes may take `dsb_lines` lines of the µop cache: three a block of 32 bytes
/// (Intel's optimization manual), six one of 64 (Abel and Reineke, uiCA).
constexpr int32_t BytesOfLines = 32;

} // namespace

CodeLayout::CodeLayout(const Program &P, bool Loop, int32_t Alignment)
    : P(P), Loop(Loop), Start(Alignment), Bytes(0) {
  int32_t Last = numInstructions() - 1;
  if (Last >= 0)
    Bytes = P.P.Offset[Last] + P.P.Length[Last];
  Lines.assign(P.Entries.size(), 0);
  if (!Loop || P.P.DsbWidth == 0)
    return;
  fillCache();
  if (P.P.ConstantsMost > 0) {
    int64_t Blocks = (Start + Bytes - 1) / P.P.DsbBlock - Start / P.P.DsbBlock + 1;
    if (fillLines(/*EndInBlocks=*/false) < Blocks)
      fillLines(/*EndInBlocks=*/true);
  }
  int32_t Uops = P.numEntries();
  bool Allowed = std::ranges::find(P.P.NoLsd, 1) == P.P.NoLsd.end();
  // It repeats what is in the µop queue from the µop cache; what the microcode sequencer adds is in
  // neither (the same).
  Allowed &= std::ranges::find_if(P.P.UopsMs, [](auto N) { return N > 0; }) == P.P.UopsMs.end();
  // Pushes and pops must match (Intel's optimization manual on the loop stream detector).
  Allowed &= std::accumulate(P.P.StackChange.begin(), P.P.StackChange.end(), 0) == 0;
  if (P.P.Lsd && Allowed && Cached == numInstructions() && Uops > 0 && Uops <= P.P.Idq) {
    size_t At = static_cast<size_t>(Uops) - 1;
    Unrolling = At < P.P.LsdUnroll.size() ? P.P.LsdUnroll[At] : 1;
  }
}

/// Whether a jump, or the pair that it is fused into, crosses a boundary of 32 bytes or ends there.
bool CodeLayout::endsAtBoundary(int32_t I) const {
  if (!P.K.hasFlag(I, IsBranch))
    return false;
  int32_t First = P.K.hasFlag(I, FusedIntoPrevious) && I > 0 ? I - 1 : I;
  return (Start + P.P.Offset[First]) / 32 != (Start + P.P.Offset[I] + P.P.Length[I]) / 32;
}

/// Lines of as many µops as are read in a cycle, from the loop's start on; their number. The
/// constants of their instructions take places of µops when there are more than some (AMD's
/// optimization guides have the limit of 8; how many µops give place to constants is measured on
/// Zen 3).
///
/// Measured, too: jumps are looked for in one block of code a cycle, so that a loop takes as many
/// cycles as it has blocks. `EndInBlocks`: what is delivered in a cycle also ends with a block.
int32_t CodeLayout::fillLines(bool EndInBlocks) {
  LineEnds.assign(P.Entries.size(), P.numEntries());
  int32_t Used = 0, Constants = 0, Begin = 0, Count = 1;
  int64_t Block = -1;
  for (int32_t I = 0; I < numInstructions(); ++I) {
    Range Entries = P.Instructions[static_cast<size_t>(I)].Entries;
    int32_t Last = I + 1 < numInstructions() && P.K.hasFlag(I + 1, FusedIntoPrevious) ? I + 1 : I;
    int32_t More = P.P.Constants[I] + (Last > I ? P.P.Constants[Last] : 0);
    if (Entries.size() == 0)
      continue;
    int64_t In = (Start + P.P.Offset[Last] + P.P.Length[Last] - 1) / P.P.DsbBlock;
    int32_t Room =
        std::min(P.P.ConstantsMost,
                 P.P.ConstantsBeside + P.P.ConstantsEach * (P.P.DsbWidth - Used - Entries.size()));
    if (Used > 0 && ((EndInBlocks && In != Block) || Used + Entries.size() > P.P.DsbWidth ||
                     Constants + More > Room)) {
      std::fill(LineEnds.begin() + Begin, LineEnds.begin() + Entries.Begin, Entries.Begin);
      Begin = Entries.Begin;
      Used = Constants = 0;
      ++Count;
    }
    Block = In;
    Used += Entries.size();
    Constants += More;
  }
  return Count;
}

void CodeLayout::fillCache() {
  int32_t N = numInstructions();
  int64_t Size = P.P.DsbBlock;
  int32_t LineSlots = P.P.DsbLineUops;
  auto BlockOf = [&](int32_t I) { return (Start + P.P.Offset[I]) / Size; };
  std::vector<bool> Fits(static_cast<size_t>(N), true);
  int32_t Line = -1;
  for (int32_t Begin = 0; Begin < N;) {
    int32_t End = Begin;
    int32_t Used = LineSlots, LinesUsed = 0;
    bool Good = true;
    auto NewLine = [&] {
      ++LinesUsed;
      ++Line;
      Used = 0;
    };
    for (; End < N && BlockOf(End) == BlockOf(Begin); ++End) {
      const InstructionPlan &I = P.Instructions[static_cast<size_t>(End)];
      if (!P.P.BranchMayEndCachedBlock && endsAtBoundary(End)) {
        Good = false;
        // The pair's first half, if it lies in the block before.
        if (P.K.hasFlag(End, FusedIntoPrevious) && End == Begin && End > 0)
          Fits[static_cast<size_t>(End) - 1] = false;
      }
      if (I.Entries.size() == 0)
        continue;
      bool FromMicrocode = I.Mite < I.Entries.size();
      int32_t Slots = FromMicrocode ? LineSlots : I.Entries.size() + P.P.DsbExtraSlots[End];
      if (Used + Slots > LineSlots)
        NewLine();
      for (int32_t E = I.Entries.Begin; E < I.Entries.End; ++E)
        Lines[static_cast<size_t>(E)] = Line;
      Used += Slots;
    }
    if (LinesUsed > P.P.DsbLines * Size / BytesOfLines || !Good)
      std::fill(Fits.begin() + Begin, Fits.begin() + End, false);
    Begin = End;
  }
  // A block is left out as a whole, also where only its last pair was found to be in the way.
  for (int32_t I = N - 1; I > 0; --I)
    if (!Fits[static_cast<size_t>(I)] && BlockOf(I - 1) == BlockOf(I))
      Fits[static_cast<size_t>(I) - 1] = false;
  auto Whole = [&](int32_t I) {
    if (!P.P.BothHalvesMustBeCacheable)
      return Fits[static_cast<size_t>(I)] == true;
    int64_t CacheLine = (Start + P.P.Offset[I]) / 64;
    for (int32_t J = 0; J < N; ++J)
      if ((Start + P.P.Offset[J]) / 64 == CacheLine && !Fits[static_cast<size_t>(J)])
        return false;
    return true;
  };
  std::vector<bool> Usable(static_cast<size_t>(N));
  int64_t Checked = -1;
  bool Good = false;
  for (int32_t I = 0; I < N; ++I) {
    int64_t CacheLine = (Start + P.P.Offset[I]) / (P.P.BothHalvesMustBeCacheable ? 64 : Size);
    if (CacheLine != Checked)
      Good = Whole(I);
    Checked = CacheLine;
    Usable[static_cast<size_t>(I)] = Good;
  }
  Cached = static_cast<int32_t>(std::ranges::find(Usable, false) - Usable.begin());
}
