//===- Describe.h - The innermost loops that are left, and their table ----===//
//
// Gives the header of each innermost loop a name that verbose assembly prints
// beside its label, and says in a table what is known of the loop of that name.
//
//===----------------------------------------------------------------------===//

#ifndef INCC_CLANG_PLUGIN_DESCRIBE_H
#define INCC_CLANG_PLUGIN_DESCRIBE_H

#include "History.h"

#include "llvm/Support/JSON.h"

namespace incc {

/// The version of the table's format; the reader refuses others (table.py).
constexpr int TableVersion = 1;

/// Describe a module's loops and name their headers.
llvm::json::Value describe(llvm::Module &M, History &Past);

/// Put comments of llvm-mca and OSACA around the innermost loops that lead to one place, as
/// inline assembly, behind whose back code generation can do less. Returns how many got them.
unsigned mark(llvm::Module &M);

/// Write a table so that nobody sees a part of it. Returns what went wrong, "" for nothing.
std::string write(const llvm::json::Value &Table, llvm::StringRef Path);

} // namespace incc

#endif
