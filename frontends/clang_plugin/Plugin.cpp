//===- Plugin.cpp - LLVM pass plugin that describes loops -----------------===//
//
// This plugin for the new pass manager uses no symbols of Clang: clang loads it
// with -fpass-plugin=, opt with -load-pass-plugin. It changes no instruction
// and attaches no metadata, unless -incc-markers requests comments. It writes
// the table of a module's loops to the file named by the environment variable
// INCC_LOOP_TABLE, or by the option -incc-table of opt and of `clang -Xclang
// -load … -mllvm`.
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
// Part of the C interface since LLVM 16, absent in older versions.
extern "C" __attribute__((weak)) void LLVMGetVersion(unsigned *, unsigned *, unsigned *);
#endif

namespace {

cl::opt<std::string> TableFile("incc-table", cl::Hidden,
                               cl::desc("File for incc's table of loops (else $INCC_LOOP_TABLE)"));

cl::opt<bool>
    Markers("incc-markers", cl::Hidden,
            cl::desc("Put comments of llvm-mca and OSACA around innermost loops; these can "
                     "change the code"));

std::string tableFile() {
  if (TableFile.getNumOccurrences())
    return TableFile;
  const char *Named = std::getenv("INCC_LOOP_TABLE");
  return Named ? Named : "";
}

/// Returns true if the running LLVM has the major version of the headers that the plugin was
/// compiled with. The plugin interface has the same version number for all of them.
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

  /// Runs on functions with optnone, too.
  static bool isRequired() { return true; }

private:
  std::shared_ptr<History> Past;
};

void listen(PassInstrumentationCallbacks &Callbacks, std::shared_ptr<History> Past) {
  auto Forward = [Past](StringRef Pass, Any Unit,
                        void (History::*Callback)(StringRef, Function &)) {
    if (!History::follows(Pass))
      return;
    if (const auto *F = any_cast<const Function *>(&Unit))
      ((*Past).*Callback)(Pass, const_cast<Function &>(**F));
    else if (const auto *L = any_cast<const Loop *>(&Unit))
      ((*Past).*Callback)(Pass, *(*L)->getHeader()->getParent());
    else
      Past->giveUp();
  };
  Callbacks.registerBeforeNonSkippedPassCallback([Forward, Past](StringRef Pass, Any Unit) {
    // This pass merges iterations of an outer loop into the inner loop.
    if (Pass == "LoopUnrollAndJamPass") {
      Past->giveUp();
      return;
    }
    Forward(Pass, std::move(Unit), &History::before);
  });
  Callbacks.registerAfterPassInvalidatedCallback([Past](StringRef Pass, const PreservedAnalyses &) {
    if (History::follows(Pass))
      Past->removed();
  });
  Callbacks.registerAfterPassCallback(
      [Forward](StringRef Pass, Any Unit, const PreservedAnalyses &) {
        Forward(Pass, std::move(Unit), &History::after);
      });
}

void extend(PassBuilder &Builder) {
  if (!fits()) {
    errs() << "warning: incc_markers: built for LLVM " << LLVM_VERSION_MAJOR
           << ", but loaded by another version; ignored\n";
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
