//===- Trips.h - How often loops run, and what they go through ------------===//

#ifndef INCC_CLANG_PLUGIN_TRIPS_H
#define INCC_CLANG_PLUGIN_TRIPS_H

#include "History.h"

#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/TargetLibraryInfo.h"

namespace incc {

/// Scalar evolution of a function, apart from the one that the pipeline has: its answers depend on
/// what it was asked before, and code would depend on us.
class Evolution {
public:
  Evolution(llvm::Function &F, Loops &Of);

  SourceLoop trips(const llvm::Loop &L);

  llvm::ScalarEvolution &get() { return SE; }

private:
  llvm::TargetLibraryInfoImpl Library;
  llvm::TargetLibraryInfo Functions;
  llvm::AssumptionCache Assumptions;
  llvm::ScalarEvolution SE;
};

} // namespace incc

#endif
