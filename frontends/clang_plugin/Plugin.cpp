//===- Plugin.cpp - Loops, described where the compiler knows them --------===//
//
// A pass plugin for the new pass manager, without Clang's symbols: clang loads
// it with -fpass-plugin=, opt with -load-pass-plugin. It changes no instruction
// and attaches nothing to any, unless -incc-markers asks for comments. The table of a module's
// loops goes to the file that the environment variable INCC_LOOP_TABLE names, or the option
// -incc-table of opt and of `clang -Xclang -load … -mllvm`.
//
//===----------------------------------------------------------------------===//

#include "Describe.h"
#include "History.h"

#include "llvm/IR/PassManager.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Passes/PassPlugin.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>

using namespace llvm;
using namespace incc;

#if defined(__GNUC__)
// Of the C interface since LLVM 16: absent in older ones.
extern "C" __attribute__((weak)) void LLVMGetVersion(unsigned *, unsigned *, unsigned *);
#endif

namespace {

cl::opt<std::string> TableFile("incc-table", cl::Hidden,
                               cl::desc("File for incc's table of loops (else $INCC_LOOP_TABLE)"));

cl::opt<bool> Markers("incc-markers", cl::Hidden,
                      cl::desc("Comments of llvm-mca and OSACA around innermost loops; these can "
                               "change the code"));

std::string tableFile() {
  if (TableFile.getNumOccurrences())
    return TableFile;
  const char *Named = std::getenv("INCC_LOOP_TABLE");
  return Named ? Named : "";
}

/// Headers are of one major version, and so must be what loads us: the plugin interface has one
/// number for all of them.
bool fits() {
#if defined(__GNUC__)
  unsigned Major = 0, Minor, Patch;
  if (LLVMGetVersion)
    LLVMGetVersion(&Major, &Minor, &Patch);
  return Major ? Major == LLVM_VERSION_MAJOR : LLVM_VERSION_MAJOR < 16;
#else
  return true;
#endif
}

class DescribeLoops : public PassInfoMixin<DescribeLoops> {
public:
  explicit DescribeLoops(std::shared_ptr<History> Past) : Past(std::move(Past)) {}

  PreservedAnalyses run(Module &M, ModuleAnalysisManager &) {
    json::Value Table = describe(M, *Past);
    if (std::string Path = tableFile(); !Path.empty()) {
      std::string Problem = write(Table, Path);
      if (!Problem.empty())
        errs() << "warning: incc_markers: " << Path << ": " << Problem << '\n';
    }
    if (!Markers || !mark(M))
      return PreservedAnalyses::all();
    return PreservedAnalyses::none();
  }

  /// Also of functions that are not to be optimised.
  static bool isRequired() { return true; }

private:
  std::shared_ptr<History> Past;
};

void listen(PassInstrumentationCallbacks &Callbacks, std::shared_ptr<History> Past) {
  auto Told = [Past](StringRef Pass, Any Unit, void (History::*What)(StringRef, Function &)) {
    if (!History::follows(Pass))
      return;
    if (const auto *F = any_cast<const Function *>(&Unit))
      ((*Past).*What)(Pass, const_cast<Function &>(**F));
    else if (const auto *L = any_cast<const Loop *>(&Unit))
      ((*Past).*What)(Pass, *(*L)->getHeader()->getParent());
    else
      Past->giveUp();
  };
  Callbacks.registerBeforeNonSkippedPassCallback([Told, Past](StringRef Pass, Any Unit) {
    // Iterations of an outer loop are put into the inner one.
    if (Pass == "LoopUnrollAndJamPass") {
      Past->giveUp();
      return;
    }
    Told(Pass, std::move(Unit), &History::before);
  });
  Callbacks.registerAfterPassInvalidatedCallback([Past](StringRef Pass, const PreservedAnalyses &) {
    if (History::follows(Pass))
      Past->removed();
  });
  Callbacks.registerAfterPassCallback([Told](StringRef Pass, Any Unit, const PreservedAnalyses &) {
    Told(Pass, std::move(Unit), &History::after);
  });
}

void extend(PassBuilder &Builder) {
  if (!fits()) {
    errs() << "warning: incc_markers: built for LLVM " << LLVM_VERSION_MAJOR
           << ", and this is another one: not used\n";
    return;
  }
  auto Past = std::make_shared<History>();
  if (PassInstrumentationCallbacks *Callbacks = Builder.getPassInstrumentationCallbacks())
    listen(*Callbacks, Past);
  else
    Past->giveUp();
  Builder.registerOptimizerLastEPCallback(
      [Past](ModulePassManager &Passes, auto...) { Passes.addPass(DescribeLoops(Past)); });
  // For tests: -passes=…,incc-loops.
  Builder.registerPipelineParsingCallback(
      [Past](StringRef Name, ModulePassManager &Passes, ArrayRef<PassBuilder::PipelineElement>) {
        if (Name != "incc-loops")
          return false;
        Passes.addPass(DescribeLoops(Past));
        return true;
      });
}

} // namespace

extern "C" LLVM_ATTRIBUTE_WEAK PassPluginLibraryInfo llvmGetPassPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "incc_markers", "1", extend};
}
