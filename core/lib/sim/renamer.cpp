//===- renamer.cpp - Rename and allocate ----------------------------------===//

#include "renamer.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

using namespace incc;
using namespace incc::sim;

// --- move elimination ---------------------------------------------------------------------------

MoveElimination::MoveElimination(const Program &P)
    : P(P), GroupOf(static_cast<size_t>(P.K.NumLocations), -1) {
  Kinds[0].Slots = P.P.MoveElimGpr;
  Kinds[1].Slots = P.P.MoveElimSimd;
  size_t Ring = static_cast<size_t>(std::max(1, P.P.MoveElimPipeline)) + 1;
  for (Kind &K : Kinds) {
    K.HeldBefore.assign(Ring, 0);
    K.EliminatedBefore.assign(Ring, 0);
  }
  for (const InstructionPlan &I : P.Instructions)
    Used |= I.Move.Uop >= 0;
}

void MoveElimination::newCycle() {
  if (!Used)
    return;
  Now = (Now + 1) % Kinds[0].HeldBefore.size();
  for (Kind &K : Kinds) {
    K.HeldBefore[Now] = K.Held;
    K.EliminatedBefore[Now] = 0;
  }
}

bool MoveElimination::eliminate(int32_t I) {
  Kind &K = Kinds[P.P.MoveClasses[I] == MoveClass::Simd];
  size_t Ring = K.HeldBefore.size();
  // Ring has one entry more than the pipeline is long: the oldest is that many cycles ago.
  int32_t Free = K.Slots - K.HeldBefore[(Now + 1) % Ring];
  for (size_t Ago = 0; Ago + 1 < Ring; ++Ago)
    Free -= K.EliminatedBefore[(Now + Ring - Ago) % Ring];
  if (Free <= 0)
    return false;
  ++K.EliminatedBefore[Now];
  int32_t From = P.P.MoveFrom[I], To = P.P.MoveTo[I];
  if (From == To)
    return true;
  leave(To);
  if (GroupOf[From] < 0) {
    int32_t New;
    if (FreeGroups.empty()) {
      New = static_cast<int32_t>(Groups.size());
      Groups.emplace_back();
    } else {
      New = FreeGroups.back();
      FreeGroups.pop_back();
    }
    Groups[New] = {1, static_cast<int32_t>(&K - Kinds.data())};
    GroupOf[From] = New;
    ++K.Held;
  }
  GroupOf[To] = GroupOf[From];
  ++Groups[GroupOf[To]].Members;
  return true;
}

void MoveElimination::leave(int32_t Location) {
  int32_t Old = std::exchange(GroupOf[Location], -1);
  if (Old < 0)
    return;
  int32_t Left = --Groups[Old].Members;
  if (Left > (P.P.MoveElimAllAliases ? 0 : 1))
    return;
  --Kinds[Groups[Old].Of].Held;
  FreeGroups.push_back(Old);
  if (Left > 0)
    std::ranges::replace(GroupOf, Old, -1);
}

void MoveElimination::overwrite(int32_t I) {
  if (!Used)
    return;
  for (int32_t Out = P.K.OutputStart[P.K.ValueStart[I]];
       Out < P.K.OutputStart[P.K.ValueStart[I + 1]]; ++Out)
    leave(P.K.OutputLocation[Out]);
}

// --- renamer ------------------------------------------------------------------------------------

Renamer::Renamer(const Program &P, const CodeLayout &Code, FrontEnd &Front, Backend &Back,
                 Simulation &Counters)
    : P(P), Code(Code), Front(Front), Back(Back), Counters(Counters), Moves(P) {
  FurthestStack = 1;
  for (int32_t Change : P.P.StackChange)
    FurthestStack += std::abs(int64_t(Change));
}

void Renamer::cycle(int64_t Cycle) {
  Back.Schedulers.newCycle();
  Moves.newCycle();
  if (isDone())
    return;
  // No more than the reorder buffer holds, should that be less.
  int32_t Width = std::min(P.K.IssueWidth, P.K.Rob > 0 ? P.K.Rob : MostSlots), Used = 0;
  bool AfterMicrocode = std::exchange(IssuedMicrocode, false);
  auto Lost = [&](Stall Cause) {
    Counters.LostSlots[static_cast<size_t>(Cause)] += Width - Used;
    if (Back.Observed && Used < Width)
      Back.Observed->stalled(Cause);
  };
  if (!Back.Rob.hasRoom(Width) && !Back.Rob.empty())
    return Lost(Stall::ReorderBuffer);
  if (!Back.Schedulers.hasRoom(Width) && Back.Schedulers.anythingWaiting())
    return Lost(Stall::Scheduler);
  // An instruction of which a part is issued has its entries.
  if (P.Entries[static_cast<size_t>(At)].First && !Entered && !Back.Loads.hasRoom(Width))
    return Lost(Stall::LoadBuffer);
  while (Used < Width && !isDone()) {
    if (Front.Queue.Head == Front.Queue.Tail)
      return Lost(Stall::FrontEnd);
    const Entry &E = P.Entries[static_cast<size_t>(At)];
    int32_t Unrolling = Code.lsdUnrolling();
    if (At == 0 && SlotAt == 0 && Used > 0 && Unrolling > 0 && Iteration % Unrolling == 0)
      return Lost(Stall::FrontEnd);
    const InstructionPlan &Plan = P.Instructions[static_cast<size_t>(E.Instruction)];
    if (E.First && SlotAt == 0 && !Entered) {
      bool TooFar =
          P.P.StackOffsetLimit < Unlimited && std::abs(StackOffset) > P.P.StackOffsetLimit;
      bool Syncs = StackOffset != 0 && (Plan.Sync.Uop >= 0 || (TooFar && P.SyncUop >= 0));
      if (!Back.Loads.hasRoom(Plan.Loads))
        return Lost(Stall::LoadBuffer);
      if (!Back.Stores.hasRoom(Plan.Stores))
        return Lost(Stall::StoreBuffer);
      if (!hasRegisters(E))
        return Lost(Stall::Registers);
      if (!accepts(E.Slots.Begin))
        return Lost(Stall::Scheduler);
      if (isAlone(E.Instruction) && (Used > 0 || AfterMicrocode))
        return Lost(Stall::Group);
      // Merging is done alone in its cycle.
      if (Plan.Merge.Uop >= 0 && Used > 0)
        return Lost(Stall::Group);
      enter(E, Cycle, Syncs && Plan.Sync.Uop >= 0);
      Back.Loads.enter(Plan.Loads);
      Back.Stores.enter(Plan.Stores);
      Entered = true;
      if (Plan.Merge.Uop >= 0) {
        issueOwn(Plan.Merge.Uop, Used++, Cycle);
        WaitsForSync = Syncs;
        return Lost(Stall::Group);
      }
      WaitsForSync = Syncs;
    }
    if (WaitsForSync) {
      issueOwn(Plan.Sync.Uop >= 0 ? Plan.Sync.Uop : P.SyncUop, Used++, Cycle);
      WaitsForSync = false;
      StackOffset = 0;
      continue;
    }
    int32_t Slots = E.Slots.size() - SlotAt;
    if (Used > 0 && Slots > Width - Used)
      return Lost(Stall::Group);
    bool LastEntry = At + 1 == P.numEntries();
    for (int32_t Left = std::min(Slots, Width - Used); Left > 0; --Left, ++SlotAt) {
      bool Last = LastEntry && SlotAt + 1 == E.Slots.size();
      if (!accepts(E.Slots.Begin + SlotAt))
        return Lost(Stall::Scheduler);
      issueSlot(P.Slots[static_cast<size_t>(E.Slots.Begin + SlotAt)], Used++, Cycle, Last);
    }
    if (SlotAt < E.Slots.size())
      return;
    SlotAt = 0;
    Entered = false;
    bool Ends = At + 1 == Plan.Entries.End;
    if (Ends && Back.Observed)
      Back.Observed->issuedAll(P.Entries[static_cast<size_t>(Plan.Entries.Begin)].Entered.size());
    if (Ends)
      StackOffset += P.P.StackChange[E.Instruction];
    ++Front.Queue.Head;
    if (LastEntry) {
      At = 0;
      ++Iteration;
    } else {
      ++At;
    }
    if (Ends && isAlone(E.Instruction)) {
      IssuedMicrocode = true;
      return Lost(Stall::Group);
    }
  }
}

/// Whether an instruction is issued with nothing else in its cycles, and not right behind another
/// such one.
bool Renamer::isAlone(int32_t I) const { return P.P.MicrocodeAlone && P.P.UopsMs[I] > 0; }

/// Whether there are registers for all that an entry begins.
bool Renamer::hasRegisters(const Entry &E) const {
  if (P.P.RegisterFile == 0)
    return true;
  int32_t Wanted = 0;
  for (int32_t I = E.Entered.Begin; I < E.Entered.End; ++I)
    Wanted += P.P.GeneralWrites[static_cast<size_t>(I)] + P.P.VectorWrites[static_cast<size_t>(I)];
  return Back.Registers.hasRoom(Wanted);
}

/// Whether the schedulers take the µops of a slot.
bool Renamer::accepts(int32_t Slot) const {
  Range Uops = P.Slots[static_cast<size_t>(Slot)];
  return Back.Schedulers.accepts(
      {P.SlotUops.data() + Uops.Begin, static_cast<size_t>(Uops.size())});
}

int64_t Renamer::pushSlot(int64_t Cycle, int32_t Pending, bool Last, Accesses Memory) {
  if (Record)
    Record->InSlot.push_back(Iteration * P.K.numInstructions() +
                             P.Entries[static_cast<size_t>(At)].Instruction);
  if (Back.Observed)
    Back.Observed->issuedSlot(Iteration, P.Entries[static_cast<size_t>(At)].Instruction);
  if (Memory.Stores > 0 && !P.CommitCycles.empty()) {
    size_t Of = static_cast<size_t>(Iteration) % P.CommitCycles.size();
    auto I = static_cast<size_t>(P.Entries[static_cast<size_t>(At)].Instruction);
    Memory.CommitCycles = P.CommitCycles[Of][I];
    if (!P.Rewritten.empty())
      Memory.Rewritten = P.Rewritten[Of][I];
  }
  return Back.Rob.push(Cycle, Pending, Last, Memory);
}

void Renamer::issueOwn(int32_t Uop, int32_t Slot, int64_t Cycle) {
  int64_t RobSlot = pushSlot(Cycle, 1, false);
  Back.issue(Uop, Iteration, Cycle, Slot, RobSlot);
}

void Renamer::enter(const Entry &E, int64_t Cycle, bool Syncs) {
  if (&E == P.Entries.data())
    Back.Values.enterIteration(Iteration);
  for (int32_t I = E.Entered.Begin; I < E.Entered.End; ++I) {
    const InstructionPlan &Plan = P.Instructions[static_cast<size_t>(I)];
    ValueNetwork::Issued Issued;
    if (Plan.Move.Uop >= 0) {
      Issued.Move = !Moves.eliminate(I);
      ++(Issued.Move ? Counters.MovesExecuted : Counters.MovesEliminated);
      if (Back.Observed)
        Back.Observed->move(P.P.MoveClasses[static_cast<size_t>(I)] == MoveClass::Simd,
                            !Issued.Move);
    }
    if (Plan.Move.Uop < 0 || Issued.Move)
      Moves.overwrite(I);
    if (I == E.Instruction) {
      Issued.Sync = Syncs;
      Issued.Merge = Plan.Merge.Uop >= 0;
      MoveExecuted = Issued.Move;
    }
    Back.Values.enterInstruction(I, Iteration, Cycle, Issued);
    if (Back.Registers.counts() && (Plan.Move.Uop < 0 || Issued.Move)) {
      Registers New{P.P.GeneralWrites[static_cast<size_t>(I)],
                    P.P.VectorWrites[static_cast<size_t>(I)]};
      Back.Registers.take(New);
      Taken.General += New.General;
      Taken.Vector += New.Vector;
      if (Back.Observed)
        Back.Observed->mapped(New, Back.Registers.used());
    }
    if (Back.Observed)
      Back.Observed->issued(I, Iteration, Cycle);
    if (Record)
      Record->Issued.push_back(Cycle);
  }
}

void Renamer::issueSlot(Range Uops, int32_t Slot, int64_t Cycle, bool Last) {
  const Entry &E = P.Entries[static_cast<size_t>(At)];
  int32_t Move = P.Instructions[static_cast<size_t>(E.Instruction)].Move.Uop;
  // An instruction's accesses leave the machine, or go to the cache, when all of it has retired.
  const InstructionPlan &Plan = P.Instructions[static_cast<size_t>(E.Instruction)];
  Accesses Memory;
  if (At + 1 == Plan.Entries.End && E.Slots.Begin + SlotAt + 1 == E.Slots.End) {
    auto [General, Vector] = std::exchange(Taken, {});
    Memory = {.Loads = P.P.LoadsLeaveWhenDone ? 0 : Plan.Loads,
              .Stores = Plan.Stores,
              .General = General,
              .Vector = Vector};
  }
  if (Move >= 0 && MoveExecuted) {
    int64_t RobSlot = pushSlot(Cycle, 1, Last, Memory);
    Back.issue(Move, Iteration, Cycle, Slot, RobSlot);
    return;
  }
  int32_t Watched = -1;
  for (int32_t N = Uops.Begin; N < Uops.End; ++N) {
    const Uop &U = P.Uops[static_cast<size_t>(P.SlotUops[static_cast<size_t>(N)])];
    if (U.Kind == UopKind::Load && U.Feeds.size() > 0) {
      int32_t V = P.Feeds[static_cast<size_t>(U.Feeds.Begin)].Value;
      if (P.Values[static_cast<size_t>(V)].Forwarded)
        Watched = V;
    }
  }
  int64_t RobSlot = pushSlot(Cycle, Uops.size() + (Watched >= 0 ? 1 : 0), Last, Memory);
  for (int32_t N = Uops.Begin; N < Uops.End; ++N)
    Back.issue(P.SlotUops[static_cast<size_t>(N)], Iteration, Cycle, Slot, RobSlot);
  if (Watched >= 0)
    Back.watch(Watched, Iteration, RobSlot);
}

// --- fingerprint --------------------------------------------------------------------------------

void MoveElimination::addTo(Fingerprint &F) const {
  if (!Used)
    return;
  for (const Kind &K : Kinds) {
    F.add(K.Held);
    for (size_t Ago = 0; Ago < K.HeldBefore.size(); ++Ago) {
      size_t At = (Now + K.HeldBefore.size() - Ago) % K.HeldBefore.size();
      F.add(int64_t(K.HeldBefore[At]) << 32 | K.EliminatedBefore[At]);
    }
  }
  for (int32_t Group : GroupOf)
    F.add(Group < 0 ? -1 : int64_t(Group) << 32 | Groups[Group].Members << 1 | Groups[Group].Of);
  // The next group takes the number that was freed last.
  for (int32_t Group : FreeGroups)
    F.add(Group);
}

void Renamer::addTo(Fingerprint &F) const {
  F.iteration(Iteration);
  F.add(int64_t(At) << 32 | SlotAt);
  F.add(Entered | WaitsForSync << 1 | MoveExecuted << 2 | IssuedMicrocode << 3);
  // It begins with 0. Where it is further away than an iteration moves it, it goes on from there,
  // and without a limit nobody asks how far that is.
  F.add(P.P.StackOffsetLimit < Unlimited ? StackOffset
                                         : std::clamp(StackOffset, -FurthestStack, FurthestStack));
  if (Back.Registers.counts())
    F.add(int64_t(Back.Registers.used().all()) << 32 | Taken.all());
  if (int32_t Unrolling = Code.lsdUnrolling())
    F.add(Iteration % Unrolling);
  if (!P.CommitCycles.empty())
    F.add(Iteration % static_cast<int64_t>(P.CommitCycles.size()));
  if (P.BankIterations > 1)
    F.add(Iteration % P.BankIterations);
  if (P.anyCrossings())
    F.add(Iteration % P.CrossingIterations);
  Moves.addTo(F);
}
