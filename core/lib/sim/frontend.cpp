//===- frontend.cpp - The sources of µops ---------------------------------===//

#include "frontend.h"

#include <algorithm>

using namespace incc;
using namespace incc::sim;

FrontEnd::FrontEnd(const Program &P, const CodeLayout &Code, Simulation &Counters)
    : P(P), Code(Code), Counters(Counters), Predecode(P, Code) {
  Queue.Size = P.P.Idq;
  bool HasDecoders = P.P.NumDecoders > 0 && P.P.PredecodeBlockBytes > 0;
  if (Code.lsdUnrolling() > 0) {
    Now = State::LoopStream;
  } else if (HasDecoders) {
    Now = State::Cache;
    enter({0, 0});
  } else {
    if (Code.isLoop() && P.P.DsbWidth > 0) {
      GroupWidth = P.P.DsbWidth;
      GroupsPerCycle = P.P.DsbGroups;
    } else {
      GroupWidth = P.P.NumDecoders;
      GroupsPerCycle = Code.isLoop() || !P.P.ClustersNeedJumps ? P.P.DecodeClusters : 1;
      GroupSource = UopSource::Decoders;
    }
    GroupWidth = std::min(GroupWidth, Queue.Size);
    Now = GroupWidth > 0 ? State::Groups : State::Ideal;
  }
}

void FrontEnd::cycle(int64_t Cycle) {
  switch (Now) {
  case State::Groups:
    return deliverGroups();
  case State::LoopStream:
    return fillQueue(UopSource::LoopStream);
  case State::Ideal:
    return fillQueue(P.P.DsbWidth > 0 ? UopSource::UopCache : UopSource::Decoders);
  case State::Cache:
  case State::Decoders:
    break;
  }
  Predecode.cycle(Cycle);
  if (Stalled > 0)
    --Stalled;
  else if (Microcode > 0)
    sequenceMicrocode();
  else if (Now == State::Cache)
    readUopCache();
  else
    decode(Cycle);
}

void FrontEnd::deliver(int64_t Entries, UopSource From) {
  Queue.Tail += Entries;
  EntryOfNext += static_cast<int32_t>(Entries);
  Counters.UopsBySource[static_cast<size_t>(From)] += Entries;
}

void FrontEnd::fillQueue(UopSource From) {
  int64_t Free = Queue.Head + Queue.Size - Queue.Tail;
  Queue.Tail += Free;
  Counters.UopsBySource[static_cast<size_t>(From)] += Free;
}

void FrontEnd::deliverGroups() {
  if (GroupSource == UopSource::UopCache && Code.group(0) != nullptr)
    return deliverBlocks();
  for (int32_t N = 0; N < GroupsPerCycle && Queue.hasRoom(GroupWidth); ++N) {
    auto First = static_cast<int32_t>(Queue.Tail % P.numEntries());
    int64_t InLine = Code.lineEnd(First) - First;
    deliver(Code.isLoop() ? std::min<int64_t>(GroupWidth, InLine) : GroupWidth, GroupSource);
  }
}

/// Delivers the groups of a block of code, as many as are read in a cycle.
void FrontEnd::deliverBlocks() {
  if (Idle > 0) {
    --Idle;
    return;
  }
  const CodeLayout::Group *Before = nullptr;
  for (int32_t N = 0; N < GroupsPerCycle && Queue.hasRoom(GroupWidth); ++N) {
    auto First = static_cast<int32_t>(Queue.Tail % P.numEntries());
    const CodeLayout::Group &G = *Code.group(First);
    if (Before != nullptr) {
      bool IsSameBlock = Before->Block == G.Block && !Before->EndsInJump;
      bool IsPair = Before->IsAlone && G.IsAlone && Before->EmptyBlocks == 0 &&
                    (Before->EndsInJump || (G.EndsInJump && G.EmptyBlocks == 0));
      if (!IsSameBlock && !IsPair)
        return;
    }
    deliver(G.End - First, GroupSource);
    Before = &G;
    const CodeLayout::Group &Next = *Code.group(static_cast<int32_t>(Queue.Tail % P.numEntries()));
    Idle = G.EmptyBlocks;
    if (N + 1 == GroupsPerCycle && !G.EndsInJump && Next.Block == G.Block)
      Idle += P.P.DsbBlockAgain - 1;
  }
}

/// Goes on with an instruction, from the µop cache or the decoders.
void FrontEnd::enter(Position At) {
  Next = At;
  EntryOfNext = 0;
  if (Code.isCached(At.Instruction)) {
    Now = State::Cache;
  } else if (Now != State::Decoders) {
    Now = State::Decoders;
    Predecode.restart(At);
  }
}

void FrontEnd::startMicrocode(const InstructionPlan &I, int32_t StallCycles) {
  Microcode = I.Entries.size() - I.NonMicrocode;
  Stalled = StallCycles;
}

void FrontEnd::sequenceMicrocode() {
  if (!Queue.hasRoom(P.P.MsWidth))
    return;
  int32_t Entries = std::min(Microcode, P.P.MsWidth);
  deliver(Entries, UopSource::Microcode);
  Microcode -= Entries;
  if (Microcode == 0)
    advance();
}

void FrontEnd::readUopCache() {
  if (!Queue.hasRoom(P.P.DsbWidth))
    return;
  int32_t Width = P.P.DsbWidth, LinesRead = 0, Line = -1;
  while (Now == State::Cache) {
    const InstructionPlan &I = P.Instructions[static_cast<size_t>(Next.Instruction)];
    int32_t Entries = std::min(I.NonMicrocode, I.Entries.size());
    if (EntryOfNext < Entries) {
      if (Width == 0)
        return;
      int32_t LineOfNext = Code.line(I.Entries.Begin + EntryOfNext);
      if (LineOfNext != Line) {
        if (++LinesRead > P.P.DsbReadLines)
          return;
        Line = LineOfNext;
      }
      int32_t Count = std::min(Width, Entries - EntryOfNext);
      deliver(Count, UopSource::UopCache);
      Width -= Count;
      if (EntryOfNext < Entries)
        return;
    }
    if (I.NonMicrocode < I.Entries.size())
      return startMicrocode(I, P.P.DsbMsStall);
    // A µop with an extra slot may be the last one of its cycle (observed in loops of such
    // instructions).
    if (P.P.DsbExtraSlotEnds && Entries > 0 && P.P.DsbExtraSlots[Next.Instruction])
      Width = 0;
    int64_t Block = Code.block(Next.Instruction);
    bool Jumps = Code.jumpsBehind(Next.Instruction);
    advance();
    // A block that was just read cannot be read again in this cycle, from another line.
    const InstructionPlan &Target = P.Instructions[static_cast<size_t>(Next.Instruction)];
    if (Jumps && Code.block(Next.Instruction) == Block && Line >= 0 &&
        Code.line(Target.Entries.Begin % P.numEntries()) != Line)
      return;
  }
}

/// Returns true if the decoder at `Place` can decode the next instruction in this cycle, as far as
/// the decoders are concerned. A complex instruction needs the first decoder. An instruction that
/// might fuse with the next one waits for it, and on some cores cannot be decoded by the last
/// decoder.
bool FrontEnd::canDecode(int32_t Place, int64_t Cycle) const {
  int32_t I = Next.Instruction;
  if (Place > 0 && P.P.ComplexDecoder[I])
    return false;
  if (!P.P.Fusible[I])
    return true;
  // No instruction follows the last one of a loop whose start is in the µop cache.
  bool IsFollowed = I + 1 < Code.numInstructions() || !Code.isCached(0);
  if (IsFollowed && !Predecode.isAvailable(Cycle, 1))
    return false;
  return Place < P.P.NumDecoders - 1 || P.P.FusibleMayBeLastDecoded;
}

void FrontEnd::decode(int64_t Cycle) {
  int32_t Used = 0, DecodersLeft = P.P.NumDecoders;
  while (DecodersLeft > 0 && Predecode.isAvailable(Cycle)) {
    int32_t N = Next.Instruction;
    const InstructionPlan &I = P.Instructions[static_cast<size_t>(N)];
    if (!canDecode(Used, Cycle) || !Queue.hasRoom(I.NonMicrocode))
      return;
    DecodersLeft =
        Used == 0 ? std::min(P.P.NumDecoders - 1, P.P.SimpleDecoders[N]) : DecodersLeft - 1;
    ++Used;
    Position Behind = Code.next(Next);
    bool IsPair = Behind.Instruction > N && P.K.hasFlag(Behind.Instruction, FusedIntoPrevious);
    Predecode.take(IsPair ? 2 : 1);
    deliver(I.NonMicrocode, UopSource::Decoders);
    if (I.NonMicrocode < I.Entries.size())
      return startMicrocode(I, P.P.MiteMsStall);
    advance();
    if (IsPair)
      advance();
    if (P.P.EndsGroup[N] || IsPair || Now != State::Decoders)
      return;
  }
}

void FrontEnd::addTo(Fingerprint &F) const {
  F.add(Queue.Tail - Queue.Head);
  F.add(static_cast<int64_t>(Now));
  F.add(Idle);
  if (Now != State::Cache && Now != State::Decoders)
    return;
  F.iteration(Next.Iteration);
  F.add(Next.Instruction);
  F.add(EntryOfNext);
  F.add(Stalled);
  F.add(Microcode);
  Predecode.addTo(F);
}
