//===- store_commits.h - Stores on their way to the cache -----------------===//
//
// Retired stores are written to the first-level cache in program order, one
// aligned block (`store_commit_bytes`) in a cycle. Stores right after each other
// to the same block are written together. On some cores, only a few stores are
// written together (`store_commit_most`), and neither a store that reaches into
// another block nor one that fills a block is written with others. On some of them,
// those written together may be to several blocks (`store_commit_blocks`).
//
// Which stores are to the same block follows from their addresses. Stores through
// pointers whose distance is not known are taken to be to different blocks, and
// pointers to be aligned to blocks, unless Kernel::LinePlaces says otherwise. Then
// stores of vectors that move through memory cross pages
// (`page_crossing_store_cycles`), whose cycles are spread evenly. A store whose address cannot be
// followed takes a cycle of its own.
//
//===----------------------------------------------------------------------===//

#ifndef INCC_LIB_SIM_STORE_COMMITS_H
#define INCC_LIB_SIM_STORE_COMMITS_H

#include "incc/memory.h"
#include "incc/sim.h"

#include <cstdint>
#include <vector>

namespace incc::sim {

/// The way of each instruction's stores to the cache, by iteration.
class StoreCommitPlan {
public:
  StoreCommitPlan(const Kernel &K, const Pipeline &P, const AccessAddresses &Stores);

  /// Returns true if the core limits how stores reach the cache and the kernel has any.
  bool isLimited() const { return !Cycles.empty(); }
  /// The number of iterations after which the plan repeats itself.
  int64_t period() const { return static_cast<int64_t>(Cycles.size()); }
  /// The cycles that the stores of an instruction take.
  int32_t cycles(int64_t Iteration, int32_t Instruction) const {
    return Cycles[static_cast<size_t>(Iteration) % Cycles.size()][static_cast<size_t>(Instruction)];
  }
  /// Returns the RewriteDistance of an instruction's first block (see PartialWordRule).
  int32_t rewriteDistance(int64_t Iteration, int32_t Instruction) const {
    return RewriteDistances.empty()
               ? 0
               : RewriteDistances[static_cast<size_t>(Iteration) % RewriteDistances.size()]
                                 [static_cast<size_t>(Instruction)];
  }

private:
  /// Bytes of a block that are written together. They belong to the instruction whose store is the
  /// first of them.
  struct Block {
    uint32_t Part;
    uint64_t Number;
    size_t Iteration;
    int32_t Instruction;
    uint64_t Bytes; ///< As bits.
  };

  std::vector<Block> planBlocks(const Kernel &K, const Pipeline &P, const AccessAddresses &Stores,
                                const std::vector<int32_t> &InstructionOf);
  void planRewrites(const Kernel &K, const Pipeline &P, const std::vector<Block> &Blocks);

  /// By iteration, then by instruction.
  std::vector<std::vector<int32_t>> Cycles, RewriteDistances;
};

} // namespace incc::sim

#endif // INCC_LIB_SIM_STORE_COMMITS_H
