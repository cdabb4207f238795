//===- machine.h - All units of the pipeline ------------------------------===//

#ifndef INCC_LIB_SIM_MACHINE_H
#define INCC_LIB_SIM_MACHINE_H

#include "renamer.h"

#include <cstdint>

namespace incc::sim {

/// The units that a kernel runs through. sim.h describes what they do in a cycle.
struct Machine {
  Machine(const Program &P, const CodeLayout &Code, Simulation &Counters, bool UnlimitedPorts,
          bool StoresAtLimit)
      : Back(P, Counters, UnlimitedPorts, StoresAtLimit), Front(P, Code, Counters),
        Rename(P, Code, Front, Back, Counters) {}

  /// Simulates a cycle. The callbacks are those of ReorderBuffer::retire.
  template <typename OnIteration, typename OnSlot>
  void cycle(int64_t Cycle, OnIteration IterationRetired, OnSlot SlotRetired) {
    Back.Rob.retire(Cycle, IterationRetired, SlotRetired, [&](const HeldResources &Held) {
      Back.Loads.leave(Held.Loads);
      if (Held.Stores > 0) {
        Back.Stores.retire(Cycle, Held.Stores, Held.CommitCycles, Held.RewriteDistance);
        Back.Compared.retire(Cycle, Held.Stores);
      }
      Back.Registers.release(Held.Physical);
    });
    Back.Stores.cycle(Cycle);
    Back.startUops(Cycle);
    Back.leaveQueue();
    Rename.cycle(Cycle);
    Front.cycle(Cycle);
  }

  Backend Back;
  FrontEnd Front;
  Renamer Rename;
};

} // namespace incc::sim

#endif // INCC_LIB_SIM_MACHINE_H
