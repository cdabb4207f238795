//===- in_order.h - The stage that starts µops: in program order -----------===//
//
// The pipeline of a core without a scheduler: instructions leave the queue in program
// order, so many in a cycle as are renamed, and what cannot go on holds up all that is
// behind it. Addresses are computed in the first stage and arithmetic is done
// `address_to_execute` stages later, behind the cache. So a loaded value is there for
// the instruction behind the load, and an address that was just computed is late by as
// many cycles. A µop takes the first of its ports that is free when it starts.
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

class ProgramOrder {
public:
  ProgramOrder(const Program &P, UopPool &Pool, const ExecutionUnits &Units, PortBinder &Binder,
               bool UnlimitedPorts)
      : P(P), Pool(Pool), Units(Units), Binder(Binder), UnlimitedPorts(UnlimitedPorts) {}

  void enter(int32_t N) { Queue.push_back(N); }
  /// Calls Start(µop) for every one that starts.
  template <typename Fn> void cycle(int64_t Cycle, Fn Start) {
    int64_t LastSlot = -1;
    int32_t Width = P.K.IssueWidth;
    for (int32_t N = next(Cycle, LastSlot, Width); N >= 0; N = next(Cycle, LastSlot, Width))
      Start(N);
  }

private:
  /// The µop that starts next, -1 if none does. `LastSlot` is the issue slot of the one before,
  /// `Width` how many more slots may begin in this cycle.
  int32_t next(int64_t Cycle, int64_t &LastSlot, int32_t &Width);
  bool mayStart(DynUop &Dyn, int64_t Cycle) const;
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
