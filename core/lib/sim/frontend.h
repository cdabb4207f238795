//===- frontend.h - Where µops come from ----------------------------------===//

#ifndef INCC_LIB_SIM_FRONTEND_H
#define INCC_LIB_SIM_FRONTEND_H

#include "fingerprint.h"
#include "program.h"

#include <cstdint>
#include <deque>
#include <vector>

namespace incc::sim {

/// A dynamic instruction.
struct Position {
  int64_t Iteration = 0;
  int32_t Instruction = 0;
};

/// What is fixed about the code: addresses, and what of it the µop cache can hold.
class CodeLayout {
public:
  CodeLayout(const Program &P, bool Loop, int32_t Alignment);

  bool isLoop() const { return Loop; }
  int32_t numInstructions() const { return static_cast<int32_t>(P.Instructions.size()); }
  int64_t address(Position At) const {
    return Start + (Loop ? 0 : At.Iteration * Bytes) + P.P.Offset[At.Instruction];
  }
  Position next(Position At) const {
    return ++At.Instruction == numInstructions() ? Position{At.Iteration + 1, 0} : At;
  }
  /// Instructions from the loop's start on that come from the µop cache; those behind are decoded.
  int32_t numCached() const { return Cached; }
  /// The block of the µop cache that an instruction of a loop is in.
  int64_t block(int32_t Instruction) const {
    return (Start + P.P.Offset[Instruction]) / P.P.DsbBlock;
  }
  /// The line of the µop cache that an entry of the queue is in.
  int32_t line(int32_t Entry) const { return Lines[static_cast<size_t>(Entry)]; }
  /// Of a loop of which the µop cache gives a line a cycle: the entry of the queue behind the last
  /// one of the line that an entry is in. Else that behind the last one of all.
  int32_t lineEnd(int32_t Entry) const {
    return LineEnds.empty() ? P.numEntries() : LineEnds[static_cast<size_t>(Entry)];
  }
  /// How often the loop stream detector unrolls the loop, 0 if it does not replay it.
  int32_t lsdUnrolling() const { return Unrolling; }

private:
  void fillCache();
  int32_t fillLines(bool EndInBlocks);
  bool endsAtBoundary(int32_t I) const;

  const Program &P;
  bool Loop;
  int64_t Start, Bytes;
  int32_t Cached = 0, Unrolling = 0;
  std::vector<int32_t> Lines, LineEnds;
};

/// The queue between front end and renamer, by numbers of entries counted through all iterations.
struct UopQueue {
  int64_t Head = 0, Tail = 0;
  int32_t Size = 0;
  /// What is delivered together enters an empty queue in any case.
  bool hasRoom(int64_t Entries) const { return Tail == Head || Tail - Head + Entries <= Size; }
};

/// Finds the instructions in blocks of code and puts them into the instruction queue.
class Predecoder {
public:
  Predecoder(const Program &P, const CodeLayout &Code) : P(P), Code(Code) {}

  void cycle(int64_t Cycle);
  /// Goes on with this instruction, from the next cycle on.
  void restart(Position At);
  /// Whether the instruction at the head of the queue, or the one behind, can be decoded.
  bool isAvailable(int64_t Cycle, size_t Ahead = 0) const {
    return Ahead < Queue.size() && Queue[Ahead] + P.P.PredecodeToDecode <= Cycle;
  }
  void take(size_t Instructions) {
    Queue.erase(Queue.begin(), Queue.begin() + static_cast<std::ptrdiff_t>(Instructions));
  }
  void addTo(Fingerprint &F) const;

private:
  void startBlock();

  const Program &P;
  const CodeLayout &Code;
  std::deque<int64_t> Queue; ///< Cycles of arrival.
  Position Next;
  int64_t Block = 0; ///< The number of the block in the works, or the next one.
  bool Active = false, InBlock = false, Restarted = false;
  int32_t Left = 0;         ///< Instructions of the block not yet handed on.
  int32_t CyclesLeft = 0;   ///< For them.
  int32_t Stalled = 0;      ///< Cycles for length-changing prefixes.
  int32_t ExtraCycles = 0;  ///< That the block before took beyond the first.
  bool StopsBehind = false; ///< The block ends with the loop's last instruction.
};

/// Fills the µop queue from the decoders, the µop cache, the microcode sequencer or (then there is
/// nothing to do) the loop stream detector.
class FrontEnd {
public:
  FrontEnd(const Program &P, const CodeLayout &Code, Simulation &Counters);

  void cycle(int64_t Cycle);
  void addTo(Fingerprint &F) const;

  UopQueue Queue;

private:
  enum class Mode { Ideal, Groups, LoopStream, Cache, Decoders };

  void deliver(int64_t Entries, UopSource From);
  void enter(Position At);
  void advance();
  void deliverGroups();
  void sequenceMicrocode();
  void readCache();
  void decode(int64_t Cycle);

  const Program &P;
  const CodeLayout &Code;
  Simulation &Counters;
  Predecoder Predecode;
  Mode Now;
  int32_t GroupWidth = 0, Groups = 0; ///< Of a front end of which only widths are known.
  UopSource GroupsFrom = UopSource::UopCache;
  Position Next;           ///< The instruction whose µops are delivered next.
  int32_t EntryOfNext = 0; ///< How many of them have been.
  int32_t Stalled = 0;     ///< Cycles of switching to and from the microcode sequencer.
  int32_t Microcode = 0;   ///< Entries that it still has to deliver.
};

} // namespace incc::sim

#endif // INCC_LIB_SIM_FRONTEND_H
