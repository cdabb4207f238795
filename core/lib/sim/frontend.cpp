//===- frontend.cpp - Predecoder, decoders, µop cache, microcode ----------===//
//
// The rules are those of Intel's cores as found by Abel and Reineke (uiCA, ICS 2022); what differs
// between cores is in Pipeline.
//
//===----------------------------------------------------------------------===//

#include "frontend.h"

#include <algorithm>

using namespace incc;
using namespace incc::sim;

namespace {

/// Cycles without µops from the decoders to the microcode sequencer and back, in all.
constexpr int32_t MicrocodeSwitch = 2;

} // namespace

// --- predecoder ---------------------------------------------------------------------------------

void Predecoder::restart(Position At) {
  Next = At;
  Block = Code.address(At) / P.P.PredecodeBlockBytes;
  Active = true;
  InBlock = false;
  Restarted = true;
  ExtraCycles = 0;
}

/// Counts the instructions that end in the block and the cycles that they take.
void Predecoder::startBlock() {
  int64_t End = (Block + 1) * P.P.PredecodeBlockBytes;
  int32_t Prefixes = 0;
  Left = 0;
  StopsBehind = false;
  Position At = Next;
  while (!StopsBehind && Code.address(At) + P.P.Length[At.Instruction] <= End) {
    ++Left;
    Prefixes += P.P.Lcp[At.Instruction];
    StopsBehind = Code.isLoop() && At.Instruction + 1 == Code.numInstructions();
    At = Code.next(At);
  }
  // One that crosses the end takes part if its opcode is in the block.
  bool Crosses = !StopsBehind && Code.address(At) + P.P.OpcodeOffset[At.Instruction] < End;
  int32_t Counted = Left + (Crosses ? 1 : 0);
  CyclesLeft = std::max(1, (Counted + P.P.PredecodeWidth - 1) / P.P.PredecodeWidth);
  Stalled = std::max(0, Prefixes * P.P.LcpStall - ExtraCycles);
  ExtraCycles = CyclesLeft - 1;
  InBlock = true;
}

void Predecoder::cycle(int64_t Cycle) {
  if (!Active)
    return;
  if (Restarted) {
    Restarted = false;
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
  if (!StopsBehind)
    return;
  if (Code.numCached() > 0)
    Active = false; // The next iteration begins in the µop cache.
  else
    Block = Code.address(Next) / P.P.PredecodeBlockBytes;
}

// --- front end ----------------------------------------------------------------------------------

FrontEnd::FrontEnd(const Program &P, const CodeLayout &Code, Simulation &Counters)
    : P(P), Code(Code), Counters(Counters), Predecode(P, Code) {
  Queue.Size = P.P.Idq;
  bool Described = P.P.NumDecoders > 0 && P.P.PredecodeBlockBytes > 0;
  if (Code.lsdUnrolling() > 0) {
    Now = Mode::LoopStream;
  } else if (!Described) {
    if (Code.isLoop() && P.P.DsbWidth > 0) {
      GroupWidth = P.P.DsbWidth;
      Groups = P.P.DsbGroups;
    } else {
      GroupWidth = P.P.NumDecoders;
      Groups = Code.isLoop() || !P.P.ClustersNeedJumps ? P.P.DecodeClusters : 1;
      GroupsFrom = UopSource::Decoders;
    }
    GroupWidth = std::min(GroupWidth, Queue.Size);
    Now = GroupWidth > 0 ? Mode::Groups : Mode::Ideal;
  } else {
    Now = Mode::Cache;
    enter({0, 0});
  }
}

void FrontEnd::cycle(int64_t Cycle) {
  if (Now == Mode::Groups)
    return deliverGroups();
  if (Now == Mode::Ideal || Now == Mode::LoopStream) {
    UopSource From = Now == Mode::LoopStream ? UopSource::LoopStream
                     : P.P.DsbWidth > 0      ? UopSource::UopCache
                                             : UopSource::Decoders;
    Counters.Uops[static_cast<size_t>(From)] += Queue.Head + Queue.Size - Queue.Tail;
    Queue.Tail = Queue.Head + Queue.Size;
    return;
  }
  Predecode.cycle(Cycle);
  if (Stalled > 0)
    --Stalled;
  else if (Microcode > 0)
    sequenceMicrocode();
  else if (Now == Mode::Cache)
    readCache();
  else
    decode(Cycle);
}

void FrontEnd::deliver(int64_t Entries, UopSource From) {
  Queue.Tail += Entries;
  EntryOfNext += static_cast<int32_t>(Entries);
  Counters.Uops[static_cast<size_t>(From)] += Entries;
}

/// Of this front end only the widths are known: of the µop cache, or of each cluster of decoders. A
/// jump to the loop's start, and the end of a line, end what one of them delivers in a cycle.
void FrontEnd::deliverGroups() {
  for (int32_t N = 0; N < Groups && Queue.hasRoom(GroupWidth); ++N) {
    auto At = static_cast<int32_t>(Queue.Tail % P.numEntries());
    int64_t Left = Code.lineEnd(At) - At;
    deliver(Code.isLoop() ? std::min<int64_t>(GroupWidth, Left) : GroupWidth, GroupsFrom);
  }
}

/// The next instruction comes from the µop cache or the decoders.
void FrontEnd::enter(Position At) {
  Next = At;
  EntryOfNext = 0;
  if (At.Instruction < Code.numCached()) {
    Now = Mode::Cache;
  } else if (Now != Mode::Decoders) {
    Now = Mode::Decoders;
    Predecode.restart(At);
  }
}

void FrontEnd::advance() { enter(Code.next(Next)); }

void FrontEnd::sequenceMicrocode() {
  if (!Queue.hasRoom(P.P.MsWidth))
    return;
  int32_t Entries = std::min(Microcode, P.P.MsWidth);
  deliver(Entries, UopSource::Microcode);
  Microcode -= Entries;
  if (Microcode == 0)
    advance();
}

void FrontEnd::readCache() {
  if (!Queue.hasRoom(P.P.DsbWidth))
    return;
  int32_t Width = P.P.DsbWidth, LinesRead = 0, Line = -1;
  while (Now == Mode::Cache) {
    const InstructionPlan &I = P.Instructions[static_cast<size_t>(Next.Instruction)];
    int32_t Entries = std::min(I.Mite, I.Entries.size());
    if (EntryOfNext < Entries) {
      if (Width == 0)
        return;
      int32_t LineOfNext = Code.line(I.Entries.Begin + EntryOfNext);
      if (LineOfNext != Line) {
        if (++LinesRead > 2)
          return;
        Line = LineOfNext;
      }
      int32_t Count = std::min(Width, Entries - EntryOfNext);
      deliver(Count, UopSource::UopCache);
      Width -= Count;
      if (EntryOfNext < Entries)
        return;
    }
    if (I.Mite < I.Entries.size()) {
      Microcode = I.Entries.size() - I.Mite;
      Stalled = P.P.DsbMsStall;
      return;
    }
    // A µop with an extra slot may be the last of its cycle (seen in loops of such instructions).
    if (P.P.DsbExtraSlotEnds && Entries > 0 && P.P.DsbExtraSlots[Next.Instruction])
      Width = 0;
    int64_t Block = Code.block(Next.Instruction);
    advance();
    // A block that was just read cannot be read once more from another line in the same cycle.
    if (Next.Instruction == 0 && Code.block(0) == Block && Line >= 0 && Code.line(0) != Line)
      return;
  }
}

void FrontEnd::decode(int64_t Cycle) {
  int32_t Used = 0, Left = P.P.NumDecoders;
  while (Left > 0 && Predecode.isAvailable(Cycle)) {
    int32_t N = Next.Instruction;
    const InstructionPlan &I = P.Instructions[static_cast<size_t>(N)];
    bool Complex = P.P.ComplexDecoder[N] != 0;
    if (Used > 0 && Complex)
      return;
    Position Behind = Code.next(Next);
    bool Pair = Behind.Instruction > N && P.K.hasFlag(Behind.Instruction, FusedIntoPrevious);
    // At the loop's end there is nothing to wait for if what follows is in the µop cache.
    bool IsFollowed = Behind.Instruction > N || Code.numCached() == 0;
    if (P.P.Fusible[N]) {
      if (IsFollowed && !Predecode.isAvailable(Cycle, 1))
        return;
      if (Used == P.P.NumDecoders - 1 && !P.P.FusibleMayBeLastDecoded)
        return;
    }
    if (!Queue.hasRoom(I.Mite))
      return;
    Left = Used++ == 0 ? std::min(P.P.NumDecoders - 1, P.P.SimpleDecoders[N]) : Left - 1;
    Predecode.take(Pair ? 2 : 1);
    deliver(I.Mite, UopSource::Decoders);
    bool Ends = P.P.EndsGroup[N] || Pair;
    if (I.Mite < I.Entries.size()) {
      Microcode = I.Entries.size() - I.Mite;
      Stalled = MicrocodeSwitch;
      return;
    }
    advance();
    if (Pair)
      advance();
    if (Ends || Now != Mode::Decoders)
      return;
  }
}

// --- fingerprint --------------------------------------------------------------------------------

void Predecoder::addTo(Fingerprint &F) const {
  for (int64_t Arrival : Queue)
    F.deadline(Arrival + P.P.PredecodeToDecode);
  F.add(Active);
  if (!Active)
    return; // The rest is set when it starts again.
  F.iteration(Next.Iteration);
  F.add(Next.Instruction);
  // Copies of the code in a row lie differently in the blocks.
  F.add(Code.address(Next) - Block * P.P.PredecodeBlockBytes);
  F.add(InBlock | Restarted << 1 | StopsBehind << 2);
  F.add(Left);
  F.add(CyclesLeft);
  F.add(Stalled);
  F.add(ExtraCycles);
}

void FrontEnd::addTo(Fingerprint &F) const {
  F.add(Queue.Tail - Queue.Head);
  F.add(static_cast<int64_t>(Now));
  if (Now != Mode::Cache && Now != Mode::Decoders)
    return;
  F.iteration(Next.Iteration);
  F.add(Next.Instruction);
  F.add(EntryOfNext);
  F.add(Stalled);
  F.add(Microcode);
  Predecode.addTo(F);
}
