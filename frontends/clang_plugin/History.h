//===- History.h - What becomes of the loops of a module ------------------===//
//
// Loops have no identity of their own: passes clone them, and what they attach
// to them would change what later passes do. So a loop is known here by its
// header, watched from the first pass on that makes several loops of one. Each
// loop that such a pass leaves is an old one, by its header or its metadata,
// or a new one. The vectoriser and the unroller work on one loop after the
// other and say so after each, so that a loop that is new when they do was made
// of the one that they name.
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

/// What a loop was when the passes that multiply loops had not begun.
struct SourceLoop {
  /// Of constant trip counts; 0 where they are none, and 1 for the multiple.
  unsigned TripCount = 0, MaxTripCount = 0, TripMultiple = 1;
  bool Innermost = true;
};

/// What was made of it.
enum class LoopKind {
  Plain,       ///< as it was, or unrolled
  VectorBody,  ///< the vectoriser's main loop
  Interleaved, ///< the same, of copies side by side without vectors
  Epilogue,    ///< the vectoriser's second, with shorter vectors
  Scalar,      ///< the loop that was vectorised, for what is left over or fails checks
  UnrollRest,  ///< what an unrolled loop leaves over, before or after it
  Unversioned, ///< the copy without assumptions that are checked before the loop
};

/// One loop of those that a source loop became. `Iterations`: of the source loop in one trip, times
/// vscale if `Scalable`; 0 if that is not known.
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

/// The loops of a function, worked out apart from the pass manager: analyses that the pipeline
/// keeps remain what they would be without us.
struct Loops {
  llvm::DominatorTree Dominators;
  llvm::LoopInfo Info;
  explicit Loops(llvm::Function &F) : Dominators(F), Info(Dominators) {}
};

class History {
public:
  /// To be told of each pass that is run on a function, before and after.
  void before(llvm::StringRef Pass, llvm::Function &F);
  void after(llvm::StringRef Pass, llvm::Function &F);

  /// A pass has changed loops in a way that cannot be followed.
  void giveUp(llvm::Function &F);
  void giveUp() { Lost = true; }

  /// A pass has removed what it was run on.
  void removed() { Listening.reset(); }

  /// What is known of the loops of a function at its end: nothing of one whose origin is lost. A
  /// function in which no pass has multiplied loops has the loops that it had.
  std::optional<LoopFacts> facts(const llvm::Loop &L);
  const SourceLoop &source(const LoopFacts &Facts) const { return Sources[Facts.Source]; }

  /// Whether a pass is one of those that multiply loops.
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
  /// Headers may have been merged with other blocks since the last pass.
  void refresh(const llvm::LoopInfo &Info, OfFunction &Of);
  Known *find(OfFunction &Of, const llvm::BasicBlock *Header);

  /// Functions have not been inlined yet when LoopFullUnrollPass runs, so that headers do not last;
  /// in some versions it unrolls by a factor if a pragma says so. Loops of such a place are then
  /// not known: their code is that of several iterations, and those of what is left over.
  void unrolledEarly(const LoopRemark &Remark);
  bool isUnrolledEarly(const llvm::Loop &L) const;

  /// What a pass says of a loop of a function, while it is at work.
  void heard(const LoopRemark &Remark, llvm::Function &F);
  void vectorized(const LoopRemark &Remark, const Loops &Now, OfFunction &Of,
                  llvm::ArrayRef<const llvm::Loop *> New);
  void unrolled(const LoopRemark &Remark, const Loops &Now, OfFunction &Of,
                llvm::ArrayRef<const llvm::Loop *> New);
  void versioned(OfFunction &Of, llvm::ArrayRef<const llvm::Loop *> New);

  /// Loops in an outer one that was unrolled are copied with it, and have its metadata.
  void cloned(OfFunction &Of, llvm::ArrayRef<const llvm::Loop *> New);

  llvm::SmallVector<const llvm::Loop *, 8> newIn(Loops &Now, OfFunction &Of);
  static void add(OfFunction &Of, const llvm::Loop &L, const LoopFacts &Facts);

  llvm::DenseMap<const llvm::Function *, OfFunction> Functions;
  std::vector<SourceLoop> Sources;
  /// The places of loops that were unrolled early, by scope, line and column: inlined copies have
  /// the same. Null stands for those that are nowhere.
  std::set<std::tuple<const llvm::DISubprogram *, unsigned, unsigned>> UnrolledEarly;
  std::unique_ptr<RemarkScope> Listening;
  bool Lost = false;
};

/// Where the source has a loop: its own place, else that of a branch of it; null if that is
/// nowhere.
const llvm::DILocation *startOf(const llvm::Loop &L);

/// The headers to which control comes from a loop, or (`Backward`) from which it comes to it, the
/// nearest first, without going around loops that enclose it.
llvm::SmallVector<const llvm::BasicBlock *, 8> headersAround(const llvm::LoopInfo &Info,
                                                             const llvm::Loop &L, bool Backward);

} // namespace incc

#endif
