//===- analysis.cpp - All bounds of a kernel ------------------------------===//

#include "incc/analysis.h"

#include <numeric>
#include <utility>

using namespace incc;

KernelInfo incc::computeKernelInfo(const Kernel &K, bool LoadAddresses, bool StoreAddresses) {
  validate(K);
  KernelInfo Info;
  MemoryAccesses Memory = followMemory(K, /*Dependencies=*/true,
                                       /*Loads=*/LoadAddresses || mayCrossLines(K), StoreAddresses);
  Info.Flow = findDataflow(K, std::move(Memory.Dependencies));
  Info.Lines = lineCrossings(K, Memory.Loads);
  if (LoadAddresses)
    Info.Loads = std::move(Memory.Loads);
  Info.Stores = std::move(Memory.Stores);
  return Info;
}

/// Returns the ports' work for the assumed places of arrays. The bounds assume the best places or,
/// like the simulation, likely ones.
static PortWork assumedWork(const Kernel &K, const LineCrossings &Lines) {
  return K.LinePlaces == LikelyPlace ? portWork(K, Lines.Expected, Lines.ExpectedIterations)
                                     : portWork(K, Lines.Best, Lines.Iterations);
}

Bounds incc::findBounds(const Kernel &K, const KernelInfo &Info) {
  return {portBound(K, assumedWork(K, Info.Lines)), resourceBound(K), frontEndBound(K),
          retireBound(K), loopCarriedBound(buildUnsortedGraph(K, Info.Flow))};
}

Analysis incc::analyze(const Kernel &K) {
  KernelInfo Info = computeKernelInfo(K, /*LoadAddresses=*/true, /*StoreAddresses=*/true);
  Analysis A;
  A.Streams = findStreams(K, Info.Loads, Info.Stores);
  const LineCrossings &Lines = Info.Lines;
  PortWork Work = assumedWork(K, Lines);
  A.Balanced = balancedPressure(K, Work);
  A.Fixed = fixedPressure(K, Work);
  A.WorstAlignmentBound = A.Balanced.Bound;
  if (Lines.Worst != Lines.Best)
    A.WorstAlignmentBound = portBound(K, portWork(K, Lines.Worst, Lines.Iterations));
  auto PerIteration = [](const std::vector<int64_t> &Crossings, int64_t Iterations) {
    return Rational(std::accumulate(Crossings.begin(), Crossings.end(), int64_t(0)), Iterations);
  };
  A.LineCrossings = PerIteration(Lines.Best, Lines.Iterations);
  A.WorstLineCrossings = PerIteration(Lines.Worst, Lines.Iterations);
  A.ExpectedLineCrossings = PerIteration(Lines.Expected, Lines.ExpectedIterations);
  A.Resource = resourceBound(K);
  A.FrontEnd = frontEndBound(K);
  A.Retire = retireBound(K);
  A.Dependencies = buildGraph(K, std::move(Info.Flow));
  A.Path = findCriticalPath(K, A.Dependencies);
  A.Carried = findLoopCarried(A.Dependencies);
  return A;
}
