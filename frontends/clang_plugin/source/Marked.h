//===- Marked.h - Which statement a pragma marks --------------------------===//

#ifndef INCC_CLANG_PLUGIN_SOURCE_MARKED_H
#define INCC_CLANG_PLUGIN_SOURCE_MARKED_H

#include "clang/AST/ASTContext.h"
#include "clang/AST/Stmt.h"

namespace incc {

/// The loop that a statement is, also behind labels, attributes and OpenMP's directives; null for
/// others.
const clang::Stmt *loopOf(const clang::Stmt *S);

/// The loop or function that a pragma marks: what follows it, else the innermost loop that it is
/// in. Invalid for none.
clang::SourceRange markedBy(clang::ASTContext &Context, clang::SourceLocation Pragma);

} // namespace incc

#endif
