//===- Clauses.h - Parsing the clauses of a mark --------------------------===//
//
//   analyze [name(x)] [mcpu(y, …)] [expect(cycles <= 2.5)] …
//
// The clauses are in a pragma or in an attribute's arguments. An error is
// reported with its location and, if there is only one way to correct it, with
// a replacement. Parsing then continues as if the replacement had been written.
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

/// A token of a mark. `Gap` is the number of blanks before it.
struct Piece {
  std::string Text;
  clang::SourceLocation Begin, End;
  unsigned Gap = 0;
  bool Word = false;
};

/// A condition and its location.
struct Condition {
  std::string Text;
  clang::SourceLocation Begin;
};

struct ParsedMark {
  std::string Name;
  std::string Trip;
  std::string Let;
  std::vector<std::string> Cores;
  std::vector<Condition> Expected;
};

/// An error at `At`. `Begin` to `End`, if valid, is the erroneous text. If `Fixed`, `Fix` replaces
/// it, or is inserted if `Begin` and `End` are equal.
struct Problem {
  clang::SourceLocation At;
  std::string Message;
  clang::SourceLocation Begin, End;
  bool Fixed = false;
  std::string Fix;
};

using Report = llvm::function_ref<void(Problem)>;

/// Returns the word of `Known` that is most similar to a misspelled word, "" if none is.
llvm::StringRef nearest(llvm::StringRef Word, llvm::ArrayRef<llvm::StringRef> Known);

/// Parses the clauses after “analyze”. `Where` names the pragma or attribute in messages.
ParsedMark readClauses(llvm::ArrayRef<Piece> Pieces, llvm::StringRef Where, Report Tell);

} // namespace incc

#endif
