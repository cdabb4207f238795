//===- move_elimination.h - Register moves in the renamer -----------------===//
//
// The renamer can execute a register move by letting both registers' names refer
// to one physical register. All names that refer to one physical register form a
// group, and each group takes one of a few slots, of general-purpose or of vector
// registers (`move_elim_gpr`, `move_elim_simd`). A move is eliminated if a slot is
// free; otherwise it is executed as a µop.
//
// A slot is freed when the names of its group were overwritten: all of them
// (`move_elim_all_aliases_overwritten`), or all but one. It can be used again
// `move_elim_pipeline` cycles later. So the slots that are free in a cycle are those
// that were free that many cycles ago, less the moves that were eliminated since.
//
// Found on Intel's cores by Abel and Reineke (uiCA, ICS 2022).
//
//===----------------------------------------------------------------------===//

#ifndef INCC_LIB_SIM_MOVE_ELIMINATION_H
#define INCC_LIB_SIM_MOVE_ELIMINATION_H

#include "fingerprint.h"
#include "program.h"

#include <array>
#include <cstdint>
#include <vector>

namespace incc::sim {

/// The names that share physical registers, and the slots that they take.
class MoveElimination {
public:
  explicit MoveElimination(const Program &P);

  void newCycle() {
    if (HasMoves)
      beginCycle();
  }
  /// Eliminates an instruction's move if a slot is free, and returns true if so. Its target then
  /// shares a register with its source.
  bool eliminate(int32_t I);
  /// Gives the locations that an instruction writes registers of their own.
  void overwrite(int32_t I) {
    if (HasMoves)
      ungroupOutputs(I);
  }
  void addTo(Fingerprint &F) const;

private:
  /// The slots of one kind of register. The histories are rings, by cycle; they are one entry
  /// longer than the pipeline, so that the oldest entry is that many cycles ago.
  struct Slots {
    int32_t Count = 0;
    int32_t Taken = 0;
    std::vector<int32_t> TakenAt;      ///< Slots that were taken when the cycle began.
    std::vector<int32_t> EliminatedIn; ///< Moves that were eliminated in the cycle.
  };
  /// Locations that share a physical register.
  struct Group {
    int32_t Members = 0;
    int32_t Kind = 0; ///< Which of SlotsOf it takes a slot of.
  };

  void beginCycle();
  void ungroupOutputs(int32_t I);
  int32_t newGroup(int32_t Kind);
  void leaveGroup(int32_t Location);

  const Program &P;
  bool HasMoves = false;
  std::array<Slots, 2> SlotsOf; ///< Slots of general-purpose and vector registers.
  size_t Now = 0;               ///< The current cycle's place in the histories.
  std::vector<int32_t> GroupOf; ///< By location, -1 for none.
  std::vector<Group> Groups;
  std::vector<int32_t> FreeGroups; ///< Groups that are not in use, the next one last.
};

} // namespace incc::sim

#endif // INCC_LIB_SIM_MOVE_ELIMINATION_H
