//===- Remarks.h - What a pass says of the loops that it changes ----------===//
//
// Widths and factors are to be had from nothing but a pass's own remarks:
// afterwards the metadata only say that a loop was changed. A `RemarkScope`
// listens to the remarks of one run of one pass. It stands in front of the
// handler that is installed and hands everything on that this would have got
// without it, so that nobody notices.
//
//===----------------------------------------------------------------------===//

#ifndef INCC_CLANG_PLUGIN_REMARKS_H
#define INCC_CLANG_PLUGIN_REMARKS_H

#include "llvm/IR/BasicBlock.h"
#include "llvm/IR/LLVMContext.h"

#include <functional>

namespace incc {

/// A loop that a pass has changed. `Header` is its header when the pass said so.
struct LoopRemark {
  enum Change { Vectorized, Unrolled, Peeled } What;
  const llvm::BasicBlock *Header;
  /// Lanes (with `Scalable`, times vscale) and copies of a vectorised loop; copies of an unrolled
  /// one; iterations that were peeled off.
  unsigned Width = 1;
  bool Scalable = false;
  unsigned Copies = 1;
};

using Hearing = std::function<void(const LoopRemark &)>;

/// Tells of each remark when it is made, from its construction to its end.
class RemarkScope {
public:
  RemarkScope(llvm::LLVMContext &Context, llvm::StringRef PassName, Hearing Hear);
  ~RemarkScope();
  RemarkScope(const RemarkScope &) = delete;
  RemarkScope &operator=(const RemarkScope &) = delete;

private:
  llvm::LLVMContext &Context;
};

} // namespace incc

#endif
