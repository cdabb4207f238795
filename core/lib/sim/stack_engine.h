//===- stack_engine.h - Changes of the stack pointer ----------------------===//
//
// The stack engine sums up the changes of the stack pointer by push, pop, call
// and ret, so that these need no µop for it. A µop (a stack synchronisation
// µop) adds the accumulated offset to the stack pointer before an instruction
// that uses the stack pointer itself, or before any instruction if the offset
// exceeds `stack_offset_limit`. Then the offset is 0 again.
//
//===----------------------------------------------------------------------===//

#ifndef INCC_LIB_SIM_STACK_ENGINE_H
#define INCC_LIB_SIM_STACK_ENGINE_H

#include "fingerprint.h"
#include "program.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>

namespace incc::sim {

/// The offset of the stack pointer.
class StackEngine {
public:
  explicit StackEngine(const Pipeline &P)
      : Limit(P.StackOffsetLimit), IsLimited(P.StackOffsetLimit < Unlimited) {
    for (int32_t Change : P.StackChange)
      ChangePerIteration += std::abs(int64_t(Change));
  }

  void change(int32_t Bytes) { Offset += Bytes; }
  bool isZero() const { return Offset == 0; }
  /// Returns true if the offset has to be added whatever the next instruction is.
  bool isBeyondLimit() const { return IsLimited && std::abs(Offset) > Limit; }
  void synchronize() { Offset = 0; }

  void addTo(Fingerprint &F) const {
    // Without a limit, only whether the offset is 0 matters. All offsets that an iteration cannot
    // bring back to 0 are alike then.
    int64_t Farthest = ChangePerIteration + 1;
    F.add(IsLimited ? Offset : std::clamp(Offset, -Farthest, Farthest));
  }

private:
  int32_t Limit;
  bool IsLimited;
  int64_t Offset = 0;
  int64_t ChangePerIteration = 0; ///< The sum of all changes, whatever their direction.
};

} // namespace incc::sim

#endif // INCC_LIB_SIM_STACK_ENGINE_H
