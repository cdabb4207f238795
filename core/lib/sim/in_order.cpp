//===- in_order.cpp - The stage that starts µops: in program order ---------===//
//
// See in_order.h.
//
//===----------------------------------------------------------------------===//

#include "in_order.h"

#include <algorithm>
#include <bit>

using namespace incc;
using namespace incc::sim;

/// Whether a µop at the head of the queue can go on; if so its port is one that is free.
bool ProgramOrder::mayStart(DynUop &Dyn, int64_t Cycle) const {
  const Uop &Static = P.Uops[static_cast<size_t>(Dyn.Static)];
  if (Dyn.Missing > 0 || Dyn.Earliest > Cycle || Dyn.Ready > Cycle + Static.Stage)
    return false;
  if (UnlimitedPorts)
    return true;
  if (!Units.isHeldFree(Static, Cycle))
    return false;
  for (uint64_t Left = Static.Ports; Left != 0; Left &= Left - 1)
    if (int32_t Port = std::countr_zero(Left); Units.isPortFree(Port, Cycle)) {
      Dyn.Port = Port;
      return true;
    }
  return false;
}

int32_t ProgramOrder::next(int64_t Cycle, int64_t &LastSlot, int32_t &Width) {
  // The µops of an instruction may be in any order: what one needs may be computed by the next.
  for (size_t At = 0; At < Queue.size(); ++At) {
    int32_t N = Queue[At];
    DynUop &Dyn = Pool[N];
    const DynUop &Head = Pool[Queue.front()];
    if (Dyn.Iteration != Head.Iteration ||
        staticOf(N).Instruction != staticOf(Queue.front()).Instruction)
      return -1;
    if (Dyn.RobSlot != LastSlot && Width == 0)
      return -1;
    int32_t Bound = Dyn.Port;
    if (!mayStart(Dyn, Cycle))
      continue;
    if (Dyn.RobSlot != LastSlot)
      --Width;
    LastSlot = Dyn.RobSlot;
    // It was counted for another port when it was renamed.
    Binder.moves(Bound, Dyn.Port);
    Dyn.Inputs = std::max(Dyn.Ready, Dyn.Earliest - P.P.IssueToDispatch);
    Queue.erase(Queue.begin() + static_cast<std::ptrdiff_t>(At));
    return N;
  }
  return -1;
}
