//===- lines.h - Loads that cross cache lines -----------------------------===//

#ifndef INCC_LINES_H
#define INCC_LINES_H

#include "incc/kernel.h"
#include "incc/memory.h"

#include <cstdint>
#include <vector>

namespace incc {

/// How often the loads of a kernel reach over the end of a cache line, which costs a second access.
///
/// Accesses whose addresses differ by a known number of bytes form a group; what the group's
/// pointer is modulo the line is not known. `Best` and `Worst` are the counts for the alignments
/// with the fewest and the most crossings, found for each group on its own. `Best` is what cannot
/// be avoided: of two streams of vectors half a vector apart one always crosses.
///
/// `Expected` is what to reckon with. Allocators and compilers align what can be aligned, so it is
/// `Best` as long as no access of the kernel has to cross. Where one has to, the kernel works on
/// shifted views of its arrays, as stencils do: its pointers are then as likely anywhere as
/// aligned, and `Expected` is the average over all places; but for groups of accesses as wide as a
/// line, which cross at every place but one: whoever computes with such vectors aligns his rows.
struct LineCrossings {
  int64_t Iterations = 1;           ///< That the counts of Best and Worst are for.
  std::vector<int64_t> Best, Worst; ///< By value; 0 for what is not a load.
  int64_t ExpectedIterations = 1;
  std::vector<int64_t> Expected;
};

/// Whether any load may cross a line: without vectors nothing does at the alignment that elements
/// have.
bool mayCrossLines(const Kernel &K);

/// From the addresses of the loads, which are not looked at if none may cross a line. Worst and
/// Expected leave out what has a symbol's address: compilers align their constants and objects.
LineCrossings lineCrossings(const Kernel &K, const AccessAddresses &Loads);

} // namespace incc

#endif // INCC_LINES_H
