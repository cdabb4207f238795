//===- frontend.h - The sources of µops -----------------------------------===//
//
// In each cycle, the front end fills the µop queue (IDQ) from one source. Which
// source that is, is its state:
//
//   Cache       The µop cache (DSB) delivers up to `dsb_width` µops of up to
//               `dsb_read_lines` lines. The first instruction that it does not hold
//               switches to Decoders.
//   Decoders    The first decoder takes any instruction, the others simple ones, in
//               program order, from those that the predecoder has found. The loop's
//               start switches to Cache if the µop cache holds it.
//   LoopStream  The loop stream detector (LSD) replays the loop from the µop queue,
//               which is always full. There is no way out of this state.
//   Groups      Only widths of the front end are known: of the µop cache in a loop,
//               of each cluster of decoders elsewhere. Each delivers a group of µops
//               of its width in a cycle. A jump to the loop's start ends a group, and
//               so does a line of the µop cache. Where `dsb_block_again` describes it, up to
//               `dsb_groups` groups come in a cycle that begin in one block of code, or in
//               two with one group each if a taken jump ends one of them; others of the
//               block come that many cycles later.
//   Ideal       The front end is not described, and the µop queue is always full.
//
// In states Cache and Decoders, the microcode sequencer (MS) takes over for the
// microcode of an instruction, `ms_width` µops in a cycle, after the instruction's
// other µops. Switching to it and back takes cycles without µops: `dsb_ms_stall` from
// the µop cache, `mite_ms_stall` from the decoders.
//
// The rules are those of Intel's cores as found by Abel and Reineke (uiCA, ICS 2022).
// Differences between cores are in Pipeline.
//
//===----------------------------------------------------------------------===//

#ifndef INCC_LIB_SIM_FRONTEND_H
#define INCC_LIB_SIM_FRONTEND_H

#include "fingerprint.h"
#include "layout.h"
#include "predecoder.h"

#include <cstdint>

namespace incc::sim {

/// The queue between front end and renamer. Entries have numbers, counted through all iterations.
struct UopQueue {
  int64_t Head = 0, Tail = 0; ///< The oldest entry, and the next one.
  int32_t Size = 0;

  bool isEmpty() const { return Head == Tail; }
  /// Returns true if this many entries are free. An empty queue takes any delivery of a cycle.
  bool hasRoom(int64_t Entries) const { return isEmpty() || Tail - Head + Entries <= Size; }
};

/// Fills the µop queue.
class FrontEnd {
public:
  FrontEnd(const Program &P, const CodeLayout &Code, Simulation &Counters);

  void cycle(int64_t Cycle);
  void addTo(Fingerprint &F) const;

  UopQueue Queue;

private:
  enum class State { Ideal, Groups, LoopStream, Cache, Decoders };

  void deliver(int64_t Entries, UopSource From);
  void fillQueue(UopSource From);
  void deliverGroups();
  void deliverBlocks();
  void enter(Position At);
  void advance() { enter(Code.next(Next)); }
  void startMicrocode(const InstructionPlan &I, int32_t StallCycles);
  void sequenceMicrocode();
  void readUopCache();
  void decode(int64_t Cycle);
  bool canDecode(int32_t Place, int64_t Cycle) const;

  const Program &P;
  const CodeLayout &Code;
  Simulation &Counters;
  Predecoder Predecode;
  State Now;

  // In state Groups:
  int32_t GroupWidth = 0, GroupsPerCycle = 0;
  UopSource GroupSource = UopSource::UopCache;
  int32_t Idle = 0; ///< Cycles left until the µop cache reads the next block, or a block again.

  // In states Cache and Decoders:
  Position Next;           ///< The instruction whose µops are delivered next,
  int32_t EntryOfNext = 0; ///< and the number of its entries that have been delivered.
  int32_t Stalled = 0;     ///< Cycles left of switching to and from the microcode sequencer.
  int32_t Microcode = 0;   ///< Entries that the microcode sequencer has yet to deliver.
};

} // namespace incc::sim

#endif // INCC_LIB_SIM_FRONTEND_H
