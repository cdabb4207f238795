//===- History.h - Tracking loops through the passes that copy them -------===//
//
// Loops have no identity in LLVM. Passes clone them, and any mark that the
// plugin attached to a loop would change what later passes do. This class
// therefore identifies a loop by its header block and its metadata, from the
// first pass on that turns one loop into several. Each loop that such a pass
// leaves either is a known one, by its header or its metadata, or is new. The
// vectoriser and the unroller work on one loop after the other and emit a
// remark after each, so a loop that is new at a remark was made from the loop
// that the remark names.
//
//===----------------------------------------------------------------------===//

#ifndef INCC_CLANG_PLUGIN_HISTORY_H
#define INCC_CLANG_PLUGIN_HISTORY_H

#include "Remarks.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/ValueHandle.h"

#include <memory>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

namespace incc {

/// The properties of a loop before the first pass that multiplies loops.
struct SourceLoop {
  /// Constant trip counts. The counts are 0, and the multiple is 1, if they are not constant.
  unsigned TripCount = 0, MaxTripCount = 0, TripMultiple = 1;
  bool Innermost = true;
};

/// The kind of a loop that a source loop became.
enum class LoopKind {
  Plain,       ///< the original loop, possibly unrolled
  VectorBody,  ///< the vectoriser's main loop
  Interleaved, ///< the vectoriser's main loop with interleaved scalar copies
  Epilogue,    ///< the vectoriser's epilogue loop, with shorter vectors
  Scalar,      ///< the original of a vectorised loop, for the remainder or after failed checks
  UnrollRest,  ///< the remainder of an unrolled loop, before or after it
  Unversioned, ///< the copy that does not rely on run-time checks before the loop
};

/// One of the loops that a source loop became. `Iterations` is the number of source iterations per
/// trip, times vscale if `Scalable`; 0 if it is unknown.
struct LoopFacts {
  unsigned Source = 0;
  LoopKind Kind = LoopKind::Plain;
  unsigned Width = 1, Interleave = 1, Unroll = 1, Peeled = 0;
  bool Scalable = false;
  uint64_t Iterations = 1;

  bool operator==(const LoopFacts &Other) const {
    auto All = [](const LoopFacts &F) {
      return std::tie(F.Source, F.Kind, F.Width, F.Interleave, F.Unroll, F.Peeled, F.Scalable,
                      F.Iterations);
    };
    return All(*this) == All(Other);
  }
};

/// The loops of a function, computed without the pass manager. Its cached analyses stay as they
/// would be without the plugin.
struct Loops {
  llvm::DominatorTree Dominators;
  llvm::LoopInfo Info;
  explicit Loops(llvm::Function &F) : Dominators(F), Info(Dominators) {}
};

class History {
public:
  /// Callbacks before and after each pass that runs on a function.
  void before(llvm::StringRef Pass, llvm::Function &F);
  void after(llvm::StringRef Pass, llvm::Function &F);

  /// Declares the loops of a function, or all loops, unknown: a pass has changed them in a way that
  /// this class does not follow.
  void giveUp(llvm::Function &F);
  void giveUp() { Lost = true; }

  /// Callback for a pass that has removed the unit it ran on.
  void removed() { Listening.reset(); }

  /// Returns what is known about a loop at the end of the pipeline, nullopt if its origin is
  /// unknown. In a function in which no pass has multiplied loops, every loop is its own source
  /// loop.
  std::optional<LoopFacts> facts(const llvm::Loop &L);
  const SourceLoop &source(const LoopFacts &Facts) const { return Sources[Facts.Source]; }

  /// Returns true if a pass multiplies loops in a way that this class follows.
  static bool follows(llvm::StringRef Pass);

private:
  struct Known {
    llvm::WeakVH Header;
    const llvm::MDNode *Id;
    LoopFacts Facts;
  };
  struct OfFunction {
    bool Begun = false, Lost = false;
    std::vector<Known> Loops;
  };

  void capture(llvm::Function &F, OfFunction &Of);
  /// Updates headers that were merged with other blocks since the last pass.
  void refresh(const llvm::LoopInfo &Info, OfFunction &Of);
  Known *find(OfFunction &Of, const llvm::BasicBlock *Header);

  /// Records a remark of LoopFullUnrollPass. That pass runs before functions are inlined, so
  /// headers do not last; in some versions it unrolls by a factor if a pragma requests it. The
  /// iterations of loops at such a source location are therefore unknown: their code is that of
  /// several iterations, or the remainder.
  void unrolledEarly(const LoopRemark &Remark);
  bool isUnrolledEarly(const llvm::Loop &L) const;

  /// Handles a remark about a loop while the pass runs.
  void handleRemark(const LoopRemark &Remark, llvm::Function &F);
  void vectorized(const LoopRemark &Remark, const Loops &Now, OfFunction &Of,
                  llvm::ArrayRef<const llvm::Loop *> New);
  void unrolled(const LoopRemark &Remark, const Loops &Now, OfFunction &Of,
                llvm::ArrayRef<const llvm::Loop *> New);
  void versioned(OfFunction &Of, llvm::ArrayRef<const llvm::Loop *> New);

  /// Adds the copies of loops inside of an outer loop that was unrolled; they have the metadata of
  /// the originals.
  void cloned(OfFunction &Of, llvm::ArrayRef<const llvm::Loop *> New);

  llvm::SmallVector<const llvm::Loop *, 8> newIn(Loops &Now, OfFunction &Of);
  static void add(OfFunction &Of, const llvm::Loop &L, const LoopFacts &Facts);

  llvm::DenseMap<const llvm::Function *, OfFunction> Functions;
  std::vector<SourceLoop> Sources;
  /// The locations of loops that were unrolled early, by scope, line and column, which inlined
  /// copies share. A null scope stands for loops without a location.
  std::set<std::tuple<const llvm::DISubprogram *, unsigned, unsigned>> UnrolledEarly;
  std::unique_ptr<RemarkScope> Listening;
  bool Lost = false;
};

/// Returns the source location of a loop: its own, else that of one of its branches, null if there
/// is none.
const llvm::DILocation *startOf(const llvm::Loop &L);

/// Returns the loop headers that control reaches from a loop or, if `Backward`, those from which it
/// reaches the loop; nearest first, without passing through headers of enclosing loops.
llvm::SmallVector<const llvm::BasicBlock *, 8> headersAround(const llvm::LoopInfo &Info,
                                                             const llvm::Loop &L, bool Backward);

} // namespace incc

#endif
