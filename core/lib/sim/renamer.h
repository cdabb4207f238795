//===- renamer.h - Rename and allocate ------------------------------------===//

#ifndef INCC_LIB_SIM_RENAMER_H
#define INCC_LIB_SIM_RENAMER_H

#include "backend.h"
#include "frontend.h"

#include <array>
#include <cstdint>
#include <vector>

namespace incc::sim {

/// Which register moves can be done by naming one physical register twice.
class MoveElimination {
public:
  explicit MoveElimination(const Program &P);

  void newCycle();
  /// Whether the move of an instruction is eliminated; if so its target is now an alias.
  bool eliminate(int32_t I);
  /// The locations that an instruction writes get registers of their own.
  void overwrite(int32_t I);
  void addTo(Fingerprint &F) const;

private:
  struct Kind {
    int32_t Slots = 0;
    int32_t Held = 0;
    std::vector<int32_t> HeldBefore;       ///< By cycle, in a ring.
    std::vector<int32_t> EliminatedBefore; ///< The same; the current cycle's included.
  };
  void leave(int32_t Location);

  const Program &P;
  std::array<Kind, 2> Kinds;
  size_t Now = 0;
  std::vector<int32_t> GroupOf; ///< By location, -1 for none.
  struct Group {
    int32_t Members = 0;
    int32_t Of = 0;
  };
  std::vector<Group> Groups;
  std::vector<int32_t> FreeGroups;
  bool Used = false;
};

/// Takes µops from the queue to reorder buffer and scheduler.
class Renamer {
public:
  Renamer(const Program &P, const CodeLayout &Code, FrontEnd &Front, Backend &Back,
          Simulation &Counters);

  void cycle(int64_t Cycle);
  /// Does not begin further iterations.
  int64_t LastIteration = INT64_MAX;
  bool isDone() const { return Iteration > LastIteration; }
  int64_t iteration() const { return Iteration; }
  void addTo(Fingerprint &F) const;

  /// With a recorder, the cycle in which each instruction was issued, in order, and the number of
  /// the instruction in each slot of the reorder buffer.
  struct Log {
    std::vector<int64_t> Issued, InSlot;
  };
  Log *Record = nullptr;

private:
  void enter(const Entry &E, int64_t Cycle, bool Syncs);
  int64_t pushSlot(int64_t Cycle, int32_t Pending, bool Last, Accesses Memory = {});
  bool hasRegisters(const Entry &E) const;
  bool accepts(int32_t Slot) const;
  bool isAlone(int32_t I) const;
  void issueOwn(int32_t Uop, int32_t Slot, int64_t Cycle);
  void issueSlot(Range Uops, int32_t Slot, int64_t Cycle, bool Last);

  const Program &P;
  const CodeLayout &Code;
  FrontEnd &Front;
  Backend &Back;
  Simulation &Counters;
  MoveElimination Moves;
  int64_t Iteration = 0;
  int32_t At = 0;            ///< Entry.
  int32_t SlotAt = 0;        ///< Slots of it that are already issued.
  bool Entered = false;      ///< The instruction at the head of the queue is known to the backend,
  bool WaitsForSync = false; ///< and waits for the µop that adds the stack engine's offset.
  int64_t StackOffset = 0;
  int64_t FurthestStack;        ///< More than an iteration moves it there and back.
  bool IssuedMicrocode = false; ///< In the cycle before, alone.
  bool MoveExecuted = false;    ///< The current instruction is a move that is not eliminated.
  Registers Taken;              ///< By it, where registers are counted.
};

} // namespace incc::sim

#endif // INCC_LIB_SIM_RENAMER_H
