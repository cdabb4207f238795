//===- in_order.cpp - Execution in program order ---------------------------===//
//
// The pipeline of a core without a scheduler: instructions leave the queue in program order, so
// many in a cycle as are renamed, and what cannot go on holds up all that is behind it. Addresses
// are computed in the first stage and arithmetic is done `address_to_execute` stages later, behind
// the cache. So a loaded value is there for the instruction behind the load, and an address that
// was just computed is late by as many cycles.
//
//===----------------------------------------------------------------------===//

#include "backend.h"

#include <bit>

using namespace incc;
using namespace incc::sim;

bool Backend::mayStart(DynUop &Dyn, int64_t Cycle) const {
  const Uop &Static = P.Uops[static_cast<size_t>(Dyn.Static)];
  if (Dyn.Missing > 0 || Dyn.Earliest > Cycle || Dyn.Ready > Cycle + Static.Stage)
    return false;
  if (UnlimitedPorts)
    return true;
  if (Static.Held >= 0 && HeldUntil[static_cast<size_t>(Static.Held)] > Cycle)
    return false;
  for (uint64_t Left = Static.Ports; Left != 0; Left &= Left - 1)
    if (int32_t Port = std::countr_zero(Left); Ports[static_cast<size_t>(Port)].FreeAt <= Cycle) {
      Dyn.Port = Port;
      return true;
    }
  return false;
}

void Backend::dispatchInOrder(int64_t Cycle) {
  int64_t LastSlot = -1;
  int32_t Width = P.K.IssueWidth;
  while (!InOrder.empty()) {
    // The µops of an instruction may be in any order: what one needs may be computed by the next.
    const DynUop &Head = Pool[static_cast<size_t>(InOrder.front())];
    int64_t Iteration = Head.Iteration;
    int32_t Instruction = P.Uops[static_cast<size_t>(Head.Static)].Instruction;
    bool Started = false;
    for (size_t At = 0; At < InOrder.size(); ++At) {
      int32_t N = InOrder[At];
      DynUop &Dyn = Pool[static_cast<size_t>(N)];
      if (Dyn.Iteration != Iteration ||
          P.Uops[static_cast<size_t>(Dyn.Static)].Instruction != Instruction)
        break;
      if (Dyn.RobSlot != LastSlot && Width == 0)
        return;
      int32_t Bound = Dyn.Port;
      if (!mayStart(Dyn, Cycle))
        continue;
      if (Dyn.RobSlot != LastSlot)
        --Width;
      LastSlot = Dyn.RobSlot;
      // It was counted for another port when it was renamed.
      Binder.moves(Bound, Dyn.Port);
      Dyn.Inputs = std::max(Dyn.Ready, Dyn.Earliest - P.P.IssueToDispatch);
      InOrder.erase(InOrder.begin() + static_cast<std::ptrdiff_t>(At));
      start(N, Cycle, P.Uops[static_cast<size_t>(Dyn.Static)].Stage);
      Started = true;
      break;
    }
    if (!Started)
      return;
  }
}
