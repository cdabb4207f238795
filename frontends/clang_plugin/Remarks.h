//===- Remarks.h - Reading passes' remarks about loops --------------------===//
//
// Vector widths and unroll factors are known only from a pass's remarks:
// afterwards the metadata only tells that a loop was changed. A `RemarkScope`
// listens to the remarks during one run of one pass. It replaces the installed
// diagnostic handler and forwards to it everything that it would have received
// without the plugin, so the output of the compiler does not change.
//
//===----------------------------------------------------------------------===//

#ifndef INCC_CLANG_PLUGIN_REMARKS_H
#define INCC_CLANG_PLUGIN_REMARKS_H

#include "llvm/IR/BasicBlock.h"
#include "llvm/IR/LLVMContext.h"

#include <functional>

namespace incc {

/// A pass's remark that it changed a loop. `Header` is the loop's header at the time of the remark.
struct LoopRemark {
  enum Change { Vectorized, Unrolled, Peeled } Kind;
  const llvm::BasicBlock *Header;
  /// For a vectorised loop, the lanes (times vscale if `Scalable`) and copies; for an unrolled
  /// loop, its copies; for a peeled loop, the iterations that were peeled off.
  unsigned Width = 1;
  bool Scalable = false;
  unsigned Copies = 1;
};

using RemarkCallback = std::function<void(const LoopRemark &)>;

/// Calls a function for each remark of a pass, from construction to destruction.
class RemarkScope {
public:
  RemarkScope(llvm::LLVMContext &Context, llvm::StringRef PassName, RemarkCallback Callback);
  ~RemarkScope();
  RemarkScope(const RemarkScope &) = delete;
  RemarkScope &operator=(const RemarkScope &) = delete;

private:
  llvm::LLVMContext &Context;
};

} // namespace incc

#endif
