//===- renamer.h - Rename and allocate ------------------------------------===//
//
// In each cycle, the renamer takes entries from the µop queue, in order, and fills
// up to `issue_width` issue slots. An instruction goes through these steps:
//
//  1. It enters the backend with its first entry, if load buffer, store buffer,
//     register file and scheduler have room for it: its values are connected to
//     their sources, and its move is eliminated if it has one and a slot is free.
//  2. The µops are issued that the renamer inserts before it: to merge bits 8-15 of
//     a register, alone in their cycle, and to add the stack engine's offset.
//  3. Its slots are issued, one after the other: each takes an entry of the reorder
//     buffer, and its µops go to the schedulers. The slots of one entry of the queue
//     are issued in one cycle if they fit into one.
//
// On cores with `microcode_alone`, an instruction with microcode is issued alone in
// its cycles, and not right after another such instruction. A loop that the loop
// stream detector replays begins a new cycle with each unrolled copy.
//
// On cores with `rename_bundle`, that many instructions pass the renamer together, and
// the next bundle begins in another cycle. A bundle with more µops than `issue_width`
// takes several cycles, whose last slots stay empty. A fused pair counts once.
//
// Behind a mispredicted branch, nothing is issued until `mispredict_penalty` cycles
// after the branch was executed.
//
// The renamer stops for the cycle at the first obstacle, which the slots that stay
// empty are attributed to (Stall).
//
//===----------------------------------------------------------------------===//

#ifndef INCC_LIB_SIM_RENAMER_H
#define INCC_LIB_SIM_RENAMER_H

#include "backend.h"
#include "frontend.h"
#include "move_elimination.h"
#include "stack_engine.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace incc::sim {

/// Takes µops from the queue to reorder buffer and schedulers.
class Renamer {
public:
  Renamer(const Program &P, const CodeLayout &Code, FrontEnd &Front, Backend &Back,
          Simulation &Counters);

  void cycle(int64_t Cycle);
  /// The last iteration that the renamer begins.
  int64_t LastIteration = INT64_MAX;
  bool isDone() const { return Iteration > LastIteration; }
  int64_t iteration() const { return Iteration; }
  void addTo(Fingerprint &F) const;

  /// The input of the recorder: the cycle in which each instruction was issued, in order, and the
  /// number of the dynamic instruction in each slot of the reorder buffer.
  struct Log {
    std::vector<int64_t> Issued, InSlot;
  };
  Log *Record = nullptr;

private:
  std::optional<Stall> fillSlots(int64_t Cycle);
  std::optional<Stall> beginInstruction(int64_t Cycle);
  std::optional<Stall> findObstacle() const;
  void enterInstructions(int64_t Cycle, bool IssuesSync);
  void allocateRegisters(int32_t I);
  std::optional<Stall> issueEntry(int64_t Cycle);
  std::optional<Stall> finishEntry();
  void issueInserted(int32_t Uop, int64_t Cycle);
  void issueSlot(int64_t Cycle);
  int64_t pushSlot(int64_t Cycle, int32_t Pending, bool EndsIteration, HeldResources Held = {});
  HeldResources heldUntilRetired();

  const Entry &entry() const { return P.Entries[static_cast<size_t>(CurrentEntry)]; }
  const InstructionPlan &plan() const {
    return P.Instructions[static_cast<size_t>(entry().Instruction)];
  }
  bool isLastEntry() const { return CurrentEntry + 1 == P.numEntries(); }
  bool isLastSlot() const { return SlotsIssued + 1 == entry().Slots.size(); }
  bool endsInstruction() const { return CurrentEntry + 1 == plan().Entries.End; }
  bool isIssuedAlone() const { return P.P.MicrocodeAlone && P.P.UopsMs[entry().Instruction] > 0; }
  bool schedulersAccept(int32_t Slot) const;
  bool hasRegisters() const;
  bool beginsUnrolledCopy() const;
  bool waitsForBranch(int64_t Cycle);

  const Program &P;
  const CodeLayout &Code;
  FrontEnd &Front;
  Backend &Back;
  Simulation &Counters;
  MoveElimination Moves;
  StackEngine Stack;

  int64_t Iteration = 0;
  int32_t CurrentEntry = 0;     ///< The entry at the head of the queue,
  int32_t SlotsIssued = 0;      ///< and the number of its slots that have been issued.
  bool HasEntered = false;      ///< Its instruction has entered the backend (step 1),
  bool WaitsForSync = false;    ///< and waits for the µop that adds the stack engine's offset.
  bool MoveExecuted = false;    ///< The instruction is a move that was not eliminated.
  Registers Allocated;          ///< The instruction's registers, if these are counted.
  int32_t InBundle = 0;         ///< Instructions of the current bundle that have been issued.
  bool IssuedMicrocode = false; ///< The last cycle ended with an instruction that is issued alone.
  int64_t BranchSlot = -1; ///< The reorder buffer's slot of a mispredicted branch, -1 for none.

  // State of the current cycle:
  int32_t Width = 0, SlotsUsed = 0;
  bool AfterMicrocode = false; ///< IssuedMicrocode of the cycle before.
};

} // namespace incc::sim

#endif // INCC_LIB_SIM_RENAMER_H
