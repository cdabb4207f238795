//===- Clauses.h - What a mark says ---------------------------------------===//
//
//   analyze [name(x)] [mcpu(y, …)] [expect(cycles <= 2.5)] …
//
// as it stands in a pragma, or in the string of an attribute. What is wrong is
// reported with its place and, where there is one way to mend it, with what to
// write instead; then reading goes on as if that had been written.
//
//===----------------------------------------------------------------------===//

#ifndef INCC_CLANG_PLUGIN_SOURCE_CLAUSES_H
#define INCC_CLANG_PLUGIN_SOURCE_CLAUSES_H

#include "clang/Basic/SourceLocation.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace incc {

/// A token of a mark. `Gap`: how many blanks stand between it and the one before.
struct Piece {
  std::string Text;
  clang::SourceLocation Begin, End;
  unsigned Gap = 0;
  bool Word = false;
};

/// A condition, and where it begins.
struct Condition {
  std::string Text;
  clang::SourceLocation Begin;
};

struct Said {
  std::string Name;
  std::string Trip;
  std::vector<std::string> Cores;
  std::vector<Condition> Expected;
};

/// What is wrong, at `At`. `Begin` to `End`, if valid, is what it is about, `Fix` what to write
/// instead of it, if `Fixed`; where both are the same, to insert.
struct Problem {
  clang::SourceLocation At;
  std::string Message;
  clang::SourceLocation Begin, End;
  bool Fixed = false;
  std::string Fix;
};

using Report = llvm::function_ref<void(Problem)>;

/// What of `Known` a word is most likely meant to be, "" for nothing.
llvm::StringRef nearest(llvm::StringRef Word, llvm::ArrayRef<llvm::StringRef> Known);

/// Read the clauses behind “analyze”. `Where`: what they stand in, for messages.
Said readClauses(llvm::ArrayRef<Piece> Pieces, llvm::StringRef Where, Report Tell);

} // namespace incc

#endif
