//===- Marked.h - Finding the statement that a pragma marks ---------------===//

#ifndef INCC_CLANG_PLUGIN_SOURCE_MARKED_H
#define INCC_CLANG_PLUGIN_SOURCE_MARKED_H

#include "clang/AST/ASTContext.h"
#include "clang/AST/Stmt.h"

namespace incc {

/// Returns the loop that a statement is, looking through labels, attributes and OpenMP directives.
/// Null if it is not a loop.
const clang::Stmt *loopOf(const clang::Stmt *S);

/// Returns the loop or function that a pragma marks: the one that follows it, else the innermost
/// loop around it. Invalid if there is none.
clang::SourceRange markedBy(clang::ASTContext &Context, clang::SourceLocation Pragma);

} // namespace incc

#endif
