//===- predecoder.h - Instruction boundaries ------------------------------===//
//
// The predecoder finds the instructions in one aligned block of code
// (`predecode_block_bytes`) after the other and puts them into the instruction
// queue. It takes a block's instructions at `predecode_width` in a cycle; an
// instruction that crosses the block's end counts if its opcode is in the block,
// but is handed on with the next block. Length-changing prefixes stall it for
// `lcp_stall` cycles each, less those that the block before took beyond one.
//
// Its states are:
//
//   idle       the front end reads the µop cache;
//   restarted  it was told where to go on, and begins in the next cycle;
//   stalled    it waits for length-changing prefixes of the current block;
//   active     it hands on instructions, if the instruction queue has room for
//              `predecode_width` of them.
//
// After a block with a taken jump, it goes on with the block of the target, or becomes
// idle if that is a loop's start in the µop cache. The rules are those of Intel's
// cores as found by Abel and Reineke (uiCA, ICS 2022).
//
//===----------------------------------------------------------------------===//

#ifndef INCC_LIB_SIM_PREDECODER_H
#define INCC_LIB_SIM_PREDECODER_H

#include "fingerprint.h"
#include "layout.h"

#include <cstddef>
#include <cstdint>
#include <deque>

namespace incc::sim {

/// The predecoder and the instruction queue.
class Predecoder {
public:
  Predecoder(const Program &P, const CodeLayout &Code) : P(P), Code(Code) {}

  void cycle(int64_t Cycle);
  /// Goes on with this instruction, from the next cycle on.
  void restart(Position At);
  /// Returns true if the instruction at this place of the instruction queue can be decoded.
  bool isAvailable(int64_t Cycle, size_t Place = 0) const {
    return Place < Queue.size() && Queue[Place] + P.P.PredecodeToDecode <= Cycle;
  }
  /// Removes instructions from the head of the instruction queue.
  void take(size_t Instructions) {
    Queue.erase(Queue.begin(), Queue.begin() + static_cast<std::ptrdiff_t>(Instructions));
  }
  void addTo(Fingerprint &F) const;

private:
  void startBlock();

  const Program &P;
  const CodeLayout &Code;
  std::deque<int64_t> Queue; ///< By instruction: the cycle in which it was put into the queue.
  Position Next;             ///< The next instruction to hand on.
  int64_t Block = 0;         ///< The number of the current block, or of the next one.
  bool IsActive = false, InBlock = false, IsRestarted = false;
  int32_t Left = 0;          ///< Instructions of the block that are not handed on yet,
  int32_t CyclesLeft = 0;    ///< and the cycles that it takes for them.
  int32_t Stalled = 0;       ///< Cycles for length-changing prefixes.
  int32_t ExtraCycles = 0;   ///< Cycles beyond the first that the last block took.
  bool EndsWithJump = false; ///< The block's last instruction is a taken jump.
};

} // namespace incc::sim

#endif // INCC_LIB_SIM_PREDECODER_H
