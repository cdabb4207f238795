//===- predecoder.cpp - Instruction boundaries ----------------------------===//

#include "predecoder.h"

#include <algorithm>

using namespace incc;
using namespace incc::sim;

void Predecoder::restart(Position At) {
  Next = At;
  Block = Code.address(At) / P.P.PredecodeBlockBytes;
  IsActive = true;
  InBlock = false;
  IsRestarted = true;
  ExtraCycles = 0;
}

/// Counts the instructions of the current block and the cycles that they take.
void Predecoder::startBlock() {
  int64_t End = (Block + 1) * P.P.PredecodeBlockBytes;
  int32_t Prefixes = 0;
  Left = 0;
  EndsWithJump = false;
  Position At = Next;
  while (!EndsWithJump && Code.address(At) + P.P.Length[At.Instruction] <= End) {
    ++Left;
    Prefixes += P.P.Lcp[At.Instruction];
    EndsWithJump = Code.jumpsBehind(At.Instruction);
    At = Code.next(At);
  }
  bool CountsNext = !EndsWithJump && Code.address(At) + P.P.OpcodeOffset[At.Instruction] < End;
  int32_t Counted = Left + (CountsNext ? 1 : 0);
  CyclesLeft = std::max(1, (Counted + P.P.PredecodeWidth - 1) / P.P.PredecodeWidth);
  Stalled = std::max(0, Prefixes * P.P.LcpStall - ExtraCycles);
  ExtraCycles = CyclesLeft - 1;
  InBlock = true;
}

void Predecoder::cycle(int64_t Cycle) {
  if (!IsActive)
    return;
  if (IsRestarted) {
    IsRestarted = false;
    return;
  }
  if (!InBlock)
    startBlock();
  if (Stalled > 0) {
    --Stalled;
    return;
  }
  if (P.P.Iq > 0 && static_cast<int32_t>(Queue.size()) + P.P.PredecodeWidth > P.P.Iq)
    return;
  int32_t Now = std::min(Left, P.P.PredecodeWidth);
  Left -= Now;
  for (; Now > 0; --Now) {
    Queue.push_back(Cycle);
    Next = Code.next(Next);
  }
  if (--CyclesLeft > 0)
    return;
  InBlock = false;
  ++Block;
  if (!EndsWithJump)
    return;
  if (Code.isCached(Next.Instruction))
    IsActive = false;
  else
    Block = Code.address(Next) / P.P.PredecodeBlockBytes;
}

void Predecoder::addTo(Fingerprint &F) const {
  for (int64_t Arrival : Queue)
    F.deadline(Arrival + P.P.PredecodeToDecode);
  F.add(IsActive);
  if (!IsActive)
    return; // restart() sets the rest.
  F.iteration(Next.Iteration);
  F.add(Next.Instruction);
  // Copies of the code in a row lie at different places in the blocks.
  F.add(Code.address(Next) - Block * P.P.PredecodeBlockBytes);
  F.add(InBlock | IsRestarted << 1 | EndsWithJump << 2);
  F.add(Left);
  F.add(CyclesLeft);
  F.add(Stalled);
  F.add(ExtraCycles);
}
