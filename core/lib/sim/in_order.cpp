//===- in_order.cpp - Starting µops in program order ----------------------===//

#include "in_order.h"

#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

using namespace incc;
using namespace incc::sim;

namespace {

/// Returns the stage that a µop would execute in if its instruction computed nothing that it needs:
/// the first one for addresses, else the one for arithmetic.
int32_t naturalStage(const Program &P, const Uop &U) {
  int32_t Latency = 0;
  for (int32_t N = U.Feeds.Begin; N < U.Feeds.End; ++N)
    Latency = std::max(Latency, P.Feeds[N].Latency);
  bool IsAddress = U.Kind == UopKind::Load || U.Kind == UopKind::StoreAddress ||
                   (P.P.AddressUnit[U.Instruction] && Latency > P.P.AddressToExecute);
  return IsAddress ? 0 : P.P.AddressToExecute;
}

/// Returns the instruction of each value, hidden ones included.
std::vector<int32_t> instructionsOfValues(const Program &P) {
  std::vector<int32_t> InstructionOf(P.Values.size(), -1);
  for (int32_t I = 0; I < P.K.numInstructions(); ++I)
    for (Range Values : {Range{P.K.ValueStart[I], P.K.ValueStart[I + 1]}, P.HiddenValues[I]})
      std::fill(InstructionOf.begin() + Values.Begin, InstructionOf.begin() + Values.End, I);
  return InstructionOf;
}

} // namespace

/// A µop that needs a result of its own instruction executes in a later stage, when that is there.
/// There are only a few steps within an instruction, so times are raised until none changes.
void incc::sim::assignStages(Program &P) {
  for (Uop &U : P.Uops)
    U.Stage = naturalStage(P, U);
  std::vector<int32_t> InstructionOf = instructionsOfValues(P);
  std::vector<int32_t> ReadyAt(P.Values.size(), 0); // From the instruction's start.
  bool Changed = true;
  auto Raise = [&](int32_t &Time, int32_t AtLeast) {
    Changed |= AtLeast > Time;
    Time = std::max(Time, AtLeast);
  };
  auto RaiseByInputs = [&](int32_t &Time, Range Inputs, int32_t Instruction) {
    for (int32_t N = Inputs.Begin; N < Inputs.End; ++N)
      if (const Input &In = P.Inputs[N]; In.Distance == 0 && InstructionOf[In.Value] == Instruction)
        Raise(Time, ReadyAt[In.Value] + In.Latency);
  };
  while (std::exchange(Changed, false)) {
    for (size_t V = 0; V < P.Values.size(); ++V)
      RaiseByInputs(ReadyAt[V], P.Values[V].Inputs, InstructionOf[V]);
    for (Uop &U : P.Uops) {
      RaiseByInputs(U.Stage, U.Inputs, U.Instruction);
      for (int32_t N = U.Feeds.Begin; N < U.Feeds.End; ++N)
        Raise(ReadyAt[P.Feeds[N].Value], U.Stage + P.Feeds[N].Latency);
    }
  }
}

/// Returns true if a µop can start, and sets its port to one that is free.
bool ProgramOrder::tryToBind(DynUop &Dyn, int64_t Cycle) const {
  const Uop &Static = P.Uops[static_cast<size_t>(Dyn.Static)];
  if (Dyn.MissingInputs > 0 || Dyn.Earliest > Cycle || Dyn.Ready > Cycle + Static.Stage)
    return false;
  if (UnlimitedPorts)
    return true;
  if (!Units.isResourceFree(Static, Cycle) || !Units.isCacheFree(Static))
    return false;
  for (uint64_t Left = Static.Ports; Left != 0; Left &= Left - 1)
    if (int32_t Port = std::countr_zero(Left); Units.isPortFree(Port, Cycle)) {
      Dyn.Port = Port;
      return true;
    }
  return false;
}

int32_t ProgramOrder::select(int64_t Cycle, int64_t &LastSlot, int32_t &SlotsLeft) {
  // Only µops of the oldest instruction may start. They may do so in any order, since one of them
  // may need what a later one computes.
  for (size_t Place = 0; Place < Queue.size(); ++Place) {
    int32_t N = Queue[Place];
    DynUop &Dyn = Pool[N];
    if (Dyn.Iteration != Pool[Queue.front()].Iteration ||
        staticOf(N).Instruction != staticOf(Queue.front()).Instruction)
      return -1;
    if (Dyn.RobSlot != LastSlot && SlotsLeft == 0)
      return -1;
    int32_t PortAtIssue = Dyn.Port;
    if (!tryToBind(Dyn, Cycle))
      continue;
    if (Dyn.RobSlot != LastSlot)
      --SlotsLeft;
    LastSlot = Dyn.RobSlot;
    Binder.rebind(PortAtIssue, Dyn.Port);
    Dyn.InputsArrived = std::max(Dyn.Ready, Dyn.Earliest - P.P.IssueToDispatch);
    Queue.erase(Queue.begin() + static_cast<std::ptrdiff_t>(Place));
    return N;
  }
  return -1;
}
