//===- layout.h - Addresses of the code and what the µop cache holds ------===//
//
// A CodeLayout is worked out once before the run. It says where each instruction
// lies in memory and, for a loop, which of its instructions the µop cache holds, in
// which lines, and if the loop stream detector replays the loop.
//
// The rules of Intel's µop cache are those of Abel and Reineke (uiCA, ICS 2022) and
// of Intel's optimization manual; those of lines with constants were measured on
// Zen 3. Each is explained at the function that implements it (layout.cpp).
//
//===----------------------------------------------------------------------===//

#ifndef INCC_LIB_SIM_LAYOUT_H
#define INCC_LIB_SIM_LAYOUT_H

#include "program.h"

#include <cstdint>
#include <vector>

namespace incc::sim {

/// A dynamic instruction.
struct Position {
  int64_t Iteration = 0;
  int32_t Instruction = 0;
};

/// The layout of a kernel's code, which does not change during a run.
class CodeLayout {
public:
  /// `Alignment` is the address of the first byte modulo 64.
  CodeLayout(const Program &P, bool Loop, int32_t Alignment);

  bool isLoop() const { return Loop; }
  int32_t numInstructions() const { return static_cast<int32_t>(P.Instructions.size()); }
  /// Returns the address of an instruction. Code that is no loop is repeated in memory.
  int64_t address(Position At) const {
    return address(At.Instruction) + (Loop ? 0 : At.Iteration * Bytes);
  }
  /// Returns the position after another one.
  Position next(Position At) const {
    return ++At.Instruction == numInstructions() ? Position{At.Iteration + 1, 0} : At;
  }

  /// Returns true if execution continues elsewhere after an instruction: at the end of a loop,
  /// after a jump that skips code, and where at least a cache line of unknown code follows, which
  /// is assumed not to be executed.
  bool jumpsBehind(int32_t I) const;

  /// Returns true if the µops of an instruction come from the µop cache. Instructions after one
  /// that is not in it are decoded until the next jump.
  bool isCached(int32_t I) const { return Loop && Cached[static_cast<size_t>(I)]; }
  /// The jumps whose blocks the µop cache does not hold because of the JCC erratum.
  const std::vector<int32_t> &uncachedJumps() const { return UncachedJumps; }
  /// Returns the block of code of the µop cache that an instruction of a loop is in.
  int64_t block(int32_t I) const { return address(I) / P.P.DsbBlock; }
  /// Returns the line of the µop cache that an entry of the µop queue comes from.
  int32_t line(int32_t Entry) const { return Lines[static_cast<size_t>(Entry)]; }
  /// Returns, for a µop cache with a known width and unknown rules, the entry after the last one
  /// that is delivered in a cycle with this one, because a line ends there or a jump is taken.
  int32_t lineEnd(int32_t Entry) const {
    return LineEnds.empty() ? P.numEntries() : LineEnds[static_cast<size_t>(Entry)];
  }
  /// A group of instructions in the µop cache, if `dsb_block_again` describes it.
  struct Group {
    int32_t End = 0;         ///< The entry of the µop queue after the last one,
    int64_t Block = 0;       ///< the block of code that the group begins in,
    bool IsAlone = true;     ///< if no other group begins in that block,
    bool EndsInJump = false; ///< if a taken jump ends it,
    int32_t EmptyBlocks = 0; ///< and the blocks up to the next group in which none begins.
  };
  /// The group of an entry of the µop queue; null where blocks of code do not matter.
  const Group *group(int32_t Entry) const {
    return Groups.empty() ? nullptr : &Groups[static_cast<size_t>(line(Entry))];
  }
  /// The number of times that the loop stream detector unrolls the loop, 0 if it does not replay
  /// it.
  int32_t lsdUnrolling() const { return Unrolling; }

private:
  int64_t address(int32_t I) const { return Start + P.P.Offset[static_cast<size_t>(I)]; }
  int64_t endAddress(int32_t I) const { return address(I) + P.P.Length[static_cast<size_t>(I)]; }
  bool isFusedWithNext(int32_t I) const {
    return I + 1 < numInstructions() && P.K.hasFlag(I + 1, FusedIntoPrevious);
  }

  void fillUopCache();
  bool cacheBlock(int32_t Begin, int32_t End, int32_t &Line);
  bool hasJccErratum(int32_t I) const;
  void excludeWholeBlocks(std::vector<bool> &IsCached, int64_t BlockBytes) const;
  int32_t fillLinesWithConstants(bool EndInBlocks);
  void fillLinesByJumps();
  void fillGroups();
  bool canReplayLoop() const;
  int64_t numBlocks() const;

  const Program &P;
  bool Loop;
  int64_t Start, Bytes;
  int32_t Unrolling = 0;
  std::vector<bool> Cached; ///< By instruction, as isCached().
  std::vector<int32_t> UncachedJumps;
  std::vector<int32_t> Lines, LineEnds; ///< By entry of the µop queue.
  std::vector<Group> Groups;            ///< By line.
};

} // namespace incc::sim

#endif // INCC_LIB_SIM_LAYOUT_H
