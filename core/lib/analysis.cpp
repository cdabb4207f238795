//===- analysis.cpp - Every bound of a kernel -----------------------------===//

#include "incc/analysis.h"

using namespace incc;

Analysis incc::analyze(const Kernel &K) {
  validate(K);
  Analysis A;
  A.Balanced = balancedPressure(K);
  A.Fixed = fixedPressure(K);
  A.Resource = resourceBound(K);
  A.FrontEnd = frontEndBound(K);
  A.Retire = retireBound(K);
  A.Dependencies = buildGraph(K);
  A.Path = findCriticalPath(K, A.Dependencies);
  A.Carried = findLoopCarried(A.Dependencies);
  return A;
}
