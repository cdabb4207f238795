//===- lines.h - Loads that cross cache lines -----------------------------===//

#ifndef INCC_LINES_H
#define INCC_LINES_H

#include "incc/kernel.h"
#include "incc/memory.h"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace incc {

/// Values of Kernel::LinePlaces.
constexpr int32_t BestPlace = 1, WorstPlace = 2, AnyPlace = 3, LikelyPlace = 4;

/// The loads of a kernel that cross the end of a cache line, which costs a second access.
///
/// Accesses whose addresses differ by a known number of bytes form a group. The place of the
/// group's pointer modulo the line is unknown. `Best` and `Worst` are the counts at the places with
/// the fewest and the most crossings, for each group on its own. If a group has several worst
/// places, every second group takes the last one, so that loads cross lines in different
/// iterations. `Best` is unavoidable: of two streams of vectors that are half a vector apart, one
/// always crosses lines.
///
/// `Expected` is the simulated count. By default, allocators and compilers align what can be
/// aligned, so it is `Best` as long as no access of the kernel has to cross a line. If one has to,
/// the kernel works on shifted views of its arrays, as stencils do. All places of its pointers are
/// then equally likely, and `Expected` is the average over all places, except for groups of
/// accesses as wide as a line. Such accesses cross lines at every place but one, and programs that
/// use them align their rows. With likely places, `Expected` is always an average: over multiples
/// of the 16 bytes that malloc() aligns to for the only group of an object, and over all places for
/// the rows of an array, whose length is unknown.
///
/// Groups with a symbol, or with an access that is known to be aligned, have their best place.
struct LineCrossings {
  int64_t Iterations = 1;           ///< The iterations that `Best` and `Worst` are counted in.
  std::vector<int64_t> Best, Worst; ///< By value; 0 for values that are not loaded.
  int64_t ExpectedIterations = 1;   ///< The iterations that `Expected` is counted in.
  std::vector<int64_t> Expected;
  /// By value: the iterations of ExpectedIterations in which it crosses a line, as bits, if all
  /// pointers are at their best or worst places; else 0.
  std::vector<uint64_t> Pattern;
};

/// Returns true if any load may cross a line. Without vectors none does, since elements are
/// aligned.
bool mayCrossLines(const Kernel &K);

/// Counts the crossings from the addresses of the loads, which are ignored if none may cross a
/// line. `Worst` and `Expected` leave out accesses with a symbol's address, since compilers align
/// their constants and objects.
LineCrossings lineCrossings(const Kernel &K, const AccessAddresses &Loads);

/// The place of the pointer of some stores.
struct StorePlace {
  int64_t Shift = 0; ///< Bytes from a multiple of a line.
  int64_t Step = 0;  ///< The pointer is at any multiple of this many bytes; 0: at a known place.
};

/// Returns the places of stores by part, according to Kernel::LinePlaces. At the worst place,
/// stores of vectors begin one element after a multiple of their size.
std::unordered_map<uint32_t, StorePlace> storePlaces(const Kernel &K,
                                                     const AccessAddresses &Stores);

} // namespace incc

#endif // INCC_LINES_H
