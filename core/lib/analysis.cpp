//===- analysis.cpp - Every bound of a kernel -----------------------------===//

#include "incc/analysis.h"
#include "incc/lines.h"

#include <numeric>

using namespace incc;

Analysis incc::analyze(const Kernel &K) {
  validate(K);
  Analysis A;
  LineCrossings Lines = lineCrossings(K);
  PortWork Work = portWork(K, Lines.Best, Lines.Iterations);
  A.Balanced = balancedPressure(K, Work);
  A.Fixed = fixedPressure(K, Work);
  A.WorstAlignmentBound = A.Balanced.Bound;
  if (Lines.Worst != Lines.Best)
    A.WorstAlignmentBound = balancedPressure(K, portWork(K, Lines.Worst, Lines.Iterations)).Bound;
  auto PerIteration = [](const std::vector<int64_t> &Crossings, int64_t Iterations) {
    return Rational(std::accumulate(Crossings.begin(), Crossings.end(), int64_t(0)), Iterations);
  };
  A.LineCrossings = PerIteration(Lines.Best, Lines.Iterations);
  A.WorstLineCrossings = PerIteration(Lines.Worst, Lines.Iterations);
  A.ExpectedLineCrossings = PerIteration(Lines.Expected, Lines.ExpectedIterations);
  A.Resource = resourceBound(K);
  A.FrontEnd = frontEndBound(K);
  A.Retire = retireBound(K);
  A.Dependencies = buildGraph(K);
  A.Path = findCriticalPath(K, A.Dependencies);
  A.Carried = findLoopCarried(A.Dependencies);
  return A;
}
