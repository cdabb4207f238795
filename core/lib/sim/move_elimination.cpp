//===- move_elimination.cpp - Register moves in the renamer ---------------===//

#include "move_elimination.h"

#include <algorithm>
#include <utility>

using namespace incc;
using namespace incc::sim;

MoveElimination::MoveElimination(const Program &P)
    : P(P), GroupOf(static_cast<size_t>(P.K.NumLocations), -1) {
  SlotsOf[0].Count = P.P.MoveElimGpr;
  SlotsOf[1].Count = P.P.MoveElimSimd;
  size_t History = static_cast<size_t>(std::max(1, P.P.MoveElimPipeline)) + 1;
  for (Slots &S : SlotsOf) {
    S.TakenAt.assign(History, 0);
    S.EliminatedIn.assign(History, 0);
  }
  for (const InstructionPlan &I : P.Instructions)
    HasMoves |= I.Move.Uop >= 0;
}

void MoveElimination::beginCycle() {
  Now = (Now + 1) % SlotsOf[0].TakenAt.size();
  for (Slots &S : SlotsOf) {
    S.TakenAt[Now] = S.Taken;
    S.EliminatedIn[Now] = 0;
  }
}

bool MoveElimination::eliminate(int32_t I) {
  int32_t Kind = P.P.MoveClasses[I] == MoveClass::Simd;
  Slots &S = SlotsOf[static_cast<size_t>(Kind)];
  size_t History = S.TakenAt.size();
  int32_t Free = S.Count - S.TakenAt[(Now + 1) % History];
  for (size_t Ago = 0; Ago + 1 < History; ++Ago)
    Free -= S.EliminatedIn[(Now + History - Ago) % History];
  if (Free <= 0)
    return false;
  ++S.EliminatedIn[Now];
  int32_t From = P.P.MoveFrom[I], To = P.P.MoveTo[I];
  if (From == To)
    return true;
  leaveGroup(To);
  if (GroupOf[From] < 0) {
    GroupOf[From] = newGroup(Kind);
    ++S.Taken;
  }
  GroupOf[To] = GroupOf[From];
  ++Groups[GroupOf[To]].Members;
  return true;
}

/// Returns a new group with one member.
int32_t MoveElimination::newGroup(int32_t Kind) {
  if (FreeGroups.empty()) {
    Groups.push_back({1, Kind});
    return static_cast<int32_t>(Groups.size()) - 1;
  }
  int32_t New = FreeGroups.back();
  FreeGroups.pop_back();
  Groups[New] = {1, Kind};
  return New;
}

/// Removes a location from its group, and frees the group's slot if that makes it free.
void MoveElimination::leaveGroup(int32_t Location) {
  int32_t Old = std::exchange(GroupOf[Location], -1);
  if (Old < 0)
    return;
  int32_t Left = --Groups[Old].Members;
  if (Left > (P.P.MoveElimAllAliases ? 0 : 1))
    return;
  --SlotsOf[static_cast<size_t>(Groups[Old].Kind)].Taken;
  FreeGroups.push_back(Old);
  if (Left > 0)
    std::ranges::replace(GroupOf, Old, -1);
}

void MoveElimination::ungroupOutputs(int32_t I) {
  for (int32_t Out = P.K.OutputStart[P.K.ValueStart[I]];
       Out < P.K.OutputStart[P.K.ValueStart[I + 1]]; ++Out)
    leaveGroup(P.K.OutputLocation[Out]);
}

void MoveElimination::addTo(Fingerprint &F) const {
  if (!HasMoves)
    return;
  for (const Slots &S : SlotsOf) {
    F.add(S.Taken);
    for (size_t Ago = 0; Ago < S.TakenAt.size(); ++Ago) {
      size_t Place = (Now + S.TakenAt.size() - Ago) % S.TakenAt.size();
      F.add(int64_t(S.TakenAt[Place]) << 32 | S.EliminatedIn[Place]);
    }
  }
  for (int32_t Group : GroupOf)
    F.add(Group < 0 ? -1 : int64_t(Group) << 32 | Groups[Group].Members << 1 | Groups[Group].Kind);
  // The order matters, since the next group takes the number that was freed last.
  for (int32_t Group : FreeGroups)
    F.add(Group);
}
