//===- analysis.h - All bounds of a kernel --------------------------------===//

#ifndef INCC_ANALYSIS_H
#define INCC_ANALYSIS_H

#include "incc/cycles.h"
#include "incc/graph.h"
#include "incc/lines.h"
#include "incc/path.h"
#include "incc/ports.h"

#include <algorithm>

namespace incc {

/// The inputs that bounds and simulation share, computed once for both.
struct KernelInfo {
  Dataflow Flow;
  LineCrossings Lines;
  AccessAddresses Loads, Stores; ///< Empty unless requested.
};

/// Computes the information about a kernel, with the addresses of loads and stores if requested.
///
/// \throws std::invalid_argument if the kernel's arrays contradict each other.
KernelInfo computeKernelInfo(const Kernel &K, bool LoadAddresses, bool StoreAddresses);

/// Lower bounds in cycles per iteration. See Bounds in core/python/__init__.py.
struct Bounds {
  Rational Port, Divider, FrontEnd, Retire, LoopCarried;

  Rational largest() const { return std::max({Port, Divider, FrontEnd, Retire, LoopCarried}); }
};

/// Computes the bounds of analyze() without their explanations, in a fraction of the time.
Bounds findBounds(const Kernel &K, const KernelInfo &Info);

/// All bounds of a kernel with their explanations. See Analysis in core/python/__init__.py.
struct Analysis {
  PortPressure Balanced, Fixed;
  Rational WorstAlignmentBound; ///< The port bound at the worst alignment of each pointer.
  /// Loads per iteration that cross a cache line, at the best and the worst alignment, and as they
  /// are simulated (see lines.h).
  Rational LineCrossings, WorstLineCrossings, ExpectedLineCrossings;
  Rational Resource, FrontEnd, Retire;
  CriticalPath Path;
  LoopCarried Carried;
  Graph Dependencies;
  std::vector<Stream> Streams;
};

/// Computes all bounds of a kernel.
///
/// \throws std::invalid_argument if the kernel's arrays contradict each other.
Analysis analyze(const Kernel &K);

} // namespace incc

#endif // INCC_ANALYSIS_H
