//===- analysis.cpp - Every bound of a kernel -----------------------------===//

#include "incc/analysis.h"

#include <numeric>
#include <utility>

using namespace incc;

Groundwork incc::layGroundwork(const Kernel &K, bool LoadAddresses, bool StoreAddresses) {
  validate(K);
  Groundwork W;
  MemoryAccesses Memory = followMemory(K, /*Dependencies=*/true,
                                       /*Loads=*/LoadAddresses || mayCrossLines(K), StoreAddresses);
  W.Flow = findDataflow(K, std::move(Memory.Dependencies));
  W.Lines = lineCrossings(K, Memory.Loads);
  if (LoadAddresses)
    W.Loads = std::move(Memory.Loads);
  W.Stores = std::move(Memory.Stores);
  return W;
}

Bounds incc::findBounds(const Kernel &K, const Groundwork &From) {
  return {portBound(K, portWork(K, From.Lines.Best, From.Lines.Iterations)), resourceBound(K),
          frontEndBound(K), retireBound(K), loopCarriedBound(buildUnsortedGraph(K, From.Flow))};
}

Analysis incc::analyze(const Kernel &K) {
  Groundwork From = layGroundwork(K, /*LoadAddresses=*/false, /*StoreAddresses=*/false);
  Analysis A;
  const LineCrossings &Lines = From.Lines;
  PortWork Work = portWork(K, Lines.Best, Lines.Iterations);
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
  A.Dependencies = buildGraph(K, std::move(From.Flow));
  A.Path = findCriticalPath(K, A.Dependencies);
  A.Carried = findLoopCarried(A.Dependencies);
  return A;
}
