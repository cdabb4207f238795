//===- Trips.cpp - Trip counts from scalar evolution ----------------------===//

#include "Trips.h"

#include "llvm/IR/Module.h"
#if __has_include("llvm/TargetParser/Triple.h")
#include "llvm/TargetParser/Triple.h"
#else
#include "llvm/ADT/Triple.h"
#endif

using namespace llvm;
using namespace incc;

Evolution::Evolution(Function &F, Loops &Of)
    : Library(Triple(F.getParent()->getTargetTriple())), Functions(Library, &F), Assumptions(F),
      SE(F, Functions, Assumptions, Of.Dominators, Of.Info) {}

SourceLoop Evolution::trips(const Loop &L) {
  SourceLoop Found;
  Found.TripCount = SE.getSmallConstantTripCount(&L);
  Found.MaxTripCount = SE.getSmallConstantMaxTripCount(&L);
  Found.TripMultiple = SE.getSmallConstantTripMultiple(&L);
  Found.Innermost = L.isInnermost();
  return Found;
}
