//===- renamer.cpp - Rename and allocate ----------------------------------===//

#include "renamer.h"

#include <algorithm>
#include <utility>

using namespace incc;
using namespace incc::sim;

Renamer::Renamer(const Program &P, const CodeLayout &Code, FrontEnd &Front, Backend &Back,
                 Simulation &Counters)
    : P(P), Code(Code), Front(Front), Back(Back), Counters(Counters), Moves(P), Stack(P.P) {
  // A group wider than the reorder buffer would never fit.
  Width = std::min(P.K.IssueWidth, P.K.Rob > 0 ? P.K.Rob : MostSlots);
}

void Renamer::cycle(int64_t Cycle) {
  Back.Schedulers.newCycle();
  Moves.newCycle();
  if (isDone())
    return;
  SlotsUsed = 0;
  AfterMicrocode = std::exchange(IssuedMicrocode, false);
  std::optional<Stall> Cause = fillSlots(Cycle);
  if (!Cause)
    return;
  Counters.LostSlots[static_cast<size_t>(*Cause)] += Width - SlotsUsed;
  if (Back.Observed && SlotsUsed < Width)
    Back.Observed->stalled(*Cause);
}

/// Fills the slots of a cycle. Returns the obstacle if one was in the way.
std::optional<Stall> Renamer::fillSlots(int64_t Cycle) {
  if (!Back.Rob.hasRoom(Width) && !Back.Rob.empty())
    return Stall::ReorderBuffer;
  if (!Back.Schedulers.hasRoom(Width) && Back.Schedulers.anythingWaiting())
    return Stall::Scheduler;
  if (waitsForBranch(Cycle))
    return Stall::FrontEnd;
  // An instruction that has entered has its entries of the load buffer already.
  if (entry().First && !HasEntered && !Back.Loads.hasRoom(Width))
    return Stall::LoadBuffer;
  while (SlotsUsed < Width && !isDone()) {
    if (Front.Queue.isEmpty() || beginsUnrolledCopy())
      return Stall::FrontEnd;
    if (entry().First && SlotsIssued == 0 && !HasEntered)
      if (std::optional<Stall> Cause = beginInstruction(Cycle))
        return Cause;
    if (WaitsForSync) {
      issueInserted(plan().Sync.Uop >= 0 ? plan().Sync.Uop : P.SyncUop, Cycle);
      WaitsForSync = false;
      Stack.synchronize();
      continue;
    }
    if (std::optional<Stall> Cause = issueEntry(Cycle))
      return Cause;
    if (BranchSlot >= 0)
      return Stall::FrontEnd;
  }
  return std::nullopt;
}

/// Returns true if an unrolled copy of a loop in the loop stream detector begins in the middle of a
/// cycle.
bool Renamer::beginsUnrolledCopy() const {
  int32_t Unrolling = Code.lsdUnrolling();
  return CurrentEntry == 0 && SlotsIssued == 0 && SlotsUsed > 0 && Unrolling > 0 &&
         Iteration % Unrolling == 0;
}

/// Returns true if the right path after a mispredicted branch has not arrived yet.
bool Renamer::waitsForBranch(int64_t Cycle) {
  if (BranchSlot < 0)
    return false;
  std::optional<int64_t> Executed = Back.Rob.done(BranchSlot);
  if (!Executed || Cycle < *Executed + P.P.MispredictPenalty)
    return true;
  BranchSlot = -1;
  return false;
}

// --- step 1: instructions enter -----------------------------------------------------------------

/// Lets the instruction of the current entry enter the backend, and issues the µop that merges
/// registers before it.
std::optional<Stall> Renamer::beginInstruction(int64_t Cycle) {
  if (std::optional<Stall> Obstacle = findObstacle())
    return Obstacle;
  const InstructionPlan &Plan = plan();
  WaitsForSync =
      !Stack.isZero() && (Plan.Sync.Uop >= 0 || (Stack.isBeyondLimit() && P.SyncUop >= 0));
  enterInstructions(Cycle, /*IssuesSync=*/WaitsForSync && Plan.Sync.Uop >= 0);
  Back.Loads.enter(Plan.Loads);
  Back.Stores.enter(Plan.Stores);
  HasEntered = true;
  if (Plan.Merge.Uop < 0)
    return std::nullopt;
  issueInserted(Plan.Merge.Uop, Cycle);
  return Stall::Group;
}

/// Returns what keeps the current instruction from entering.
std::optional<Stall> Renamer::findObstacle() const {
  const InstructionPlan &Plan = plan();
  if (!Back.Loads.hasRoom(Plan.Loads))
    return Stall::LoadBuffer;
  if (!Back.Stores.hasRoom(Plan.Stores))
    return Stall::StoreBuffer;
  if (!hasRegisters())
    return Stall::Registers;
  if (!schedulersAccept(entry().Slots.Begin))
    return Stall::Scheduler;
  if (isIssuedAlone() && (SlotsUsed > 0 || AfterMicrocode))
    return Stall::Group;
  if (Plan.Merge.Uop >= 0 && SlotsUsed > 0)
    return Stall::Group;
  return std::nullopt;
}

/// Returns true if there are registers for all instructions that enter with the current entry.
bool Renamer::hasRegisters() const {
  if (!Back.Registers.isCounting())
    return true;
  Registers Needed;
  for (int32_t I = entry().Instructions.Begin; I < entry().Instructions.End; ++I) {
    Needed.General += P.P.GeneralWrites[static_cast<size_t>(I)];
    Needed.Vector += P.P.VectorWrites[static_cast<size_t>(I)];
  }
  return Back.Registers.hasRoom(Needed);
}

/// Returns true if the schedulers take the µops of a slot.
bool Renamer::schedulersAccept(int32_t Slot) const {
  Range Uops = P.Slots[static_cast<size_t>(Slot)];
  return Back.Schedulers.accepts(
      {P.SlotUops.data() + Uops.Begin, static_cast<size_t>(Uops.size())});
}

/// Connects the values of the instructions that enter with the current entry.
void Renamer::enterInstructions(int64_t Cycle, bool IssuesSync) {
  if (CurrentEntry == 0)
    Back.Values.enterIteration(Iteration);
  for (int32_t I = entry().Instructions.Begin; I < entry().Instructions.End; ++I) {
    const InstructionPlan &Plan = P.Instructions[static_cast<size_t>(I)];
    bool IsMove = Plan.Move.Uop >= 0;
    ValueNetwork::Issued Issued;
    if (IsMove) {
      Issued.Move = !Moves.eliminate(I);
      ++(Issued.Move ? Counters.MovesExecuted : Counters.MovesEliminated);
    }
    MoveClass Class = P.P.MoveClasses[static_cast<size_t>(I)];
    if (Back.Observed && Class != MoveClass::None)
      Back.Observed->move(Class == MoveClass::Simd,
                          !Issued.Move && P.K.hasFlag(I, InstructionFlag::Eliminated));
    bool IsEliminated = IsMove && !Issued.Move;
    if (!IsEliminated)
      Moves.overwrite(I);
    if (I == entry().Instruction) {
      Issued.Sync = IssuesSync;
      Issued.Merge = Plan.Merge.Uop >= 0;
      MoveExecuted = Issued.Move;
    }
    Back.Values.enterInstruction(I, Iteration, Cycle, Issued);
    if (Back.Registers.isCounting() && !IsEliminated)
      allocateRegisters(I);
    if (Back.Observed)
      Back.Observed->issued(I, Iteration, Cycle);
    if (Record)
      Record->Issued.push_back(Cycle);
  }
}

void Renamer::allocateRegisters(int32_t I) {
  Registers New{P.P.GeneralWrites[static_cast<size_t>(I)],
                P.P.VectorWrites[static_cast<size_t>(I)]};
  Back.Registers.allocate(New);
  Allocated.General += New.General;
  Allocated.Vector += New.Vector;
  if (Back.Observed)
    Back.Observed->mapped(New, Back.Registers.used());
}

// --- steps 2 and 3: µops are issued -------------------------------------------------------------

/// Issues a µop that the renamer inserts, in a slot of its own.
void Renamer::issueInserted(int32_t Uop, int64_t Cycle) {
  int64_t RobSlot = pushSlot(Cycle, 1, /*EndsIteration=*/false);
  Back.issue(Uop, Iteration, Cycle, SlotsUsed++, RobSlot);
}

/// Issues the slots of the current entry that are left, as far as they fit.
std::optional<Stall> Renamer::issueEntry(int64_t Cycle) {
  int32_t NumSlots = entry().Slots.size();
  if (SlotsUsed > 0 && NumSlots - SlotsIssued > Width - SlotsUsed)
    return Stall::Group;
  while (SlotsIssued < NumSlots && SlotsUsed < Width) {
    if (!schedulersAccept(entry().Slots.Begin + SlotsIssued))
      return Stall::Scheduler;
    issueSlot(Cycle);
    ++SlotsIssued;
    ++SlotsUsed;
  }
  return SlotsIssued == NumSlots ? finishEntry() : std::nullopt;
}

/// Goes on with the next entry.
std::optional<Stall> Renamer::finishEntry() {
  bool EndsInstruction = endsInstruction();
  bool WasAlone = EndsInstruction && isIssuedAlone();
  if (EndsInstruction) {
    if (Back.Observed)
      Back.Observed->issuedAll(
          P.Entries[static_cast<size_t>(plan().Entries.Begin)].Instructions.size());
    Stack.change(P.P.StackChange[entry().Instruction]);
  }
  SlotsIssued = 0;
  HasEntered = false;
  ++Front.Queue.Head;
  if (isLastEntry()) {
    CurrentEntry = 0;
    ++Iteration;
  } else {
    ++CurrentEntry;
  }
  bool EndsBundle = EndsInstruction && P.P.RenameBundle > 0 && ++InBundle == P.P.RenameBundle;
  if (EndsBundle)
    InBundle = 0;
  IssuedMicrocode = WasAlone;
  return WasAlone || EndsBundle ? std::optional(Stall::Group) : std::nullopt;
}

/// Issues the next slot of the current entry.
void Renamer::issueSlot(int64_t Cycle) {
  bool EndsIteration = isLastEntry() && isLastSlot();
  HeldResources Held;
  if (endsInstruction() && isLastSlot())
    Held = heldUntilRetired();
  if (int32_t Move = plan().Move.Uop; Move >= 0 && MoveExecuted) {
    int64_t RobSlot = pushSlot(Cycle, 1, EndsIteration, Held);
    Back.issue(Move, Iteration, Cycle, SlotsUsed, RobSlot);
    return;
  }
  Range Uops = P.Slots[static_cast<size_t>(entry().Slots.Begin + SlotsIssued)];
  // A load that may get its data from a store has executed when these have arrived, too.
  int32_t Watched = -1;
  for (int32_t N = Uops.Begin; N < Uops.End; ++N) {
    const Uop &U = P.Uops[static_cast<size_t>(P.SlotUops[static_cast<size_t>(N)])];
    if (U.Kind != UopKind::Load || U.Feeds.size() == 0)
      continue;
    int32_t V = P.Feeds[static_cast<size_t>(U.Feeds.Begin)].Value;
    if (P.Values[static_cast<size_t>(V)].Forwarded)
      Watched = V;
  }
  int64_t RobSlot = pushSlot(Cycle, Uops.size() + (Watched >= 0 ? 1 : 0), EndsIteration, Held);
  if (endsInstruction() && isLastSlot() && plan().Mispredicted)
    BranchSlot = RobSlot;
  for (int32_t N = Uops.Begin; N < Uops.End; ++N)
    Back.issue(P.SlotUops[static_cast<size_t>(N)], Iteration, Cycle, SlotsUsed, RobSlot);
  if (Watched >= 0)
    Back.watch(Watched, Iteration, RobSlot);
}

/// Returns what the current instruction holds until its last slot retires.
HeldResources Renamer::heldUntilRetired() {
  HeldResources Held;
  Held.Loads = P.P.LoadsLeaveWhenDone ? 0 : plan().Loads;
  Held.Stores = plan().Stores;
  Held.Physical = std::exchange(Allocated, {});
  if (Held.Stores > 0 && P.Commits.isLimited()) {
    Held.CommitCycles = P.Commits.cycles(Iteration, entry().Instruction);
    Held.RewriteDistance = P.Commits.rewriteDistance(Iteration, entry().Instruction);
  }
  return Held;
}

/// Takes a slot of the reorder buffer for the current instruction.
int64_t Renamer::pushSlot(int64_t Cycle, int32_t Pending, bool EndsIteration, HeldResources Held) {
  int32_t I = entry().Instruction;
  if (Record)
    Record->InSlot.push_back(Iteration * P.K.numInstructions() + I);
  if (Back.Observed)
    Back.Observed->issuedSlot(Iteration, I);
  return Back.Rob.push(Cycle, Pending, EndsIteration, Held);
}

void Renamer::addTo(Fingerprint &F) const {
  F.iteration(Iteration);
  F.add(int64_t(CurrentEntry) << 32 | SlotsIssued);
  F.add(HasEntered | WaitsForSync << 1 | MoveExecuted << 2 | IssuedMicrocode << 3 |
        (BranchSlot >= 0) << 4);
  if (P.P.RenameBundle > 0)
    F.add(InBundle);
  Stack.addTo(F);
  if (Back.Registers.isCounting())
    F.add(int64_t(Back.Registers.used().all()) << 32 | Allocated.all());
  // Add state that repeats itself only after several iterations.
  if (int32_t Unrolling = Code.lsdUnrolling())
    F.add(Iteration % Unrolling);
  if (P.Commits.isLimited())
    F.add(Iteration % P.Commits.period());
  if (P.Banks.period() > 1)
    F.add(Iteration % P.Banks.period());
  if (P.anyCrossings())
    F.add(Iteration % P.CrossingIterations);
  if (BranchSlot >= 0)
    F.deadline(Back.Rob.done(BranchSlot).value_or(0) + P.P.MispredictPenalty);
  Moves.addTo(F);
}
