//===- analysis.h - Every bound of a kernel -------------------------------===//

#ifndef INCC_ANALYSIS_H
#define INCC_ANALYSIS_H

#include "incc/cycles.h"
#include "incc/graph.h"
#include "incc/lines.h"
#include "incc/path.h"
#include "incc/ports.h"

#include <algorithm>

namespace incc {

/// What bounds and simulation are both made from, worked out once for whoever wants both.
struct Groundwork {
  Dataflow Flow;
  LineCrossings Lines;
  AccessAddresses Loads, Stores; ///< Only where asked for.
};

/// \throws std::invalid_argument if the kernel's arrays contradict each other.
Groundwork layGroundwork(const Kernel &K, bool LoadAddresses, bool StoreAddresses);

/// In cycles an iteration; the same as Bounds in core/python/__init__.py, where each is explained.
struct Bounds {
  Rational Port, Divider, FrontEnd, Retire, LoopCarried;

  Rational largest() const { return std::max({Port, Divider, FrontEnd, Retire, LoopCarried}); }
};

/// The bounds of analyze() alone, as fast as can be.
Bounds findBounds(const Kernel &K, const Groundwork &From);

/// The same as Analysis in core/python/__init__.py, where the parts are explained.
struct Analysis {
  PortPressure Balanced, Fixed;
  /// The port bound if pointers were aligned as badly as their elements allow.
  Rational WorstAlignmentBound;
  /// Loads an iteration that cross a cache line, at the best and the worst alignment.
  Rational LineCrossings, WorstLineCrossings, ExpectedLineCrossings;
  Rational Resource, FrontEnd, Retire;
  CriticalPath Path;
  LoopCarried Carried;
  Graph Dependencies;
};

/// \throws std::invalid_argument if the kernel's arrays contradict each other.
Analysis analyze(const Kernel &K);

} // namespace incc

#endif // INCC_ANALYSIS_H
