//===- Trips.h - Trip counts from scalar evolution ------------------------===//

#ifndef INCC_CLANG_PLUGIN_TRIPS_H
#define INCC_CLANG_PLUGIN_TRIPS_H

#include "History.h"

#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/TargetLibraryInfo.h"

namespace incc {

/// Scalar evolution of a function, separate from the pipeline's. Its answers depend on earlier
/// queries, so queries of the plugin would change the generated code.
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
