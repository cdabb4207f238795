//===- in_order.h - Starting µops in program order ------------------------===//
//
// The pipeline of a core without a scheduler. Instructions leave the queue in
// program order, as many in a cycle as are issued, and an instruction that cannot
// go on holds up all younger ones.
//
// An instruction passes through fixed stages without a stop. Addresses are computed
// in the first stage, and arithmetic is done `address_to_execute` stages later,
// after the access to the cache. So a loaded value is there for the instruction
// right after the load, whereas an address that was just computed comes late by as
// many cycles. Uop::Stage is the stage that a µop executes in.
//
// A µop takes the first of its ports that is free when it starts.
//
//===----------------------------------------------------------------------===//

#ifndef INCC_LIB_SIM_IN_ORDER_H
#define INCC_LIB_SIM_IN_ORDER_H

#include "ports.h"
#include "units.h"
#include "uops.h"

#include <cstdint>
#include <deque>

namespace incc::sim {

/// Sets the stages of a program's µops (Uop::Stage).
void assignStages(Program &P);

/// The stage that starts µops on an in-order core.
class ProgramOrder {
public:
  ProgramOrder(const Program &P, UopPool &Pool, const ExecutionUnits &Units, PortBinder &Binder,
               bool UnlimitedPorts)
      : P(P), Pool(Pool), Units(Units), Binder(Binder), UnlimitedPorts(UnlimitedPorts) {}

  void enter(int32_t N) { Queue.push_back(N); }
  /// Calls Start(µop) for each µop that starts in a cycle.
  template <typename Fn> void cycle(int64_t Cycle, Fn Start) {
    int64_t LastSlot = -1;
    int32_t SlotsLeft = P.K.IssueWidth;
    for (int32_t N = select(Cycle, LastSlot, SlotsLeft); N >= 0;
         N = select(Cycle, LastSlot, SlotsLeft))
      Start(N);
  }

private:
  /// Removes the µop that starts next from the queue and returns it; -1 if none does. `LastSlot` is
  /// the issue slot of the µop that started before it in this cycle, `SlotsLeft` the number of
  /// slots that may still begin in the cycle.
  int32_t select(int64_t Cycle, int64_t &LastSlot, int32_t &SlotsLeft);
  bool tryToBind(DynUop &Dyn, int64_t Cycle) const;
  const Uop &staticOf(int32_t N) const { return P.Uops[static_cast<size_t>(Pool[N].Static)]; }

  const Program &P;
  UopPool &Pool;
  const ExecutionUnits &Units;
  PortBinder &Binder;
  bool UnlimitedPorts;
  std::deque<int32_t> Queue;
};

} // namespace incc::sim

#endif // INCC_LIB_SIM_IN_ORDER_H
