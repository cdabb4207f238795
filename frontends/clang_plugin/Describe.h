//===- Describe.h - Table of a module's innermost loops -------------------===//
//
// After optimisation, gives the header of each innermost loop a name that
// verbose assembly prints next to its label, and writes a table of what is
// known about the loop of that name.
//
//===----------------------------------------------------------------------===//

#ifndef INCC_CLANG_PLUGIN_DESCRIBE_H
#define INCC_CLANG_PLUGIN_DESCRIBE_H

#include "History.h"

#include "llvm/Support/JSON.h"

namespace incc {

/// The version of the table's format. The reader (table.py) rejects other versions.
constexpr int TableVersion = 1;

/// Returns the table of a module's innermost loops, and names their headers.
llvm::json::Value describe(llvm::Module &M, History &Past);

/// Puts the marker comments of llvm-mca and OSACA around innermost loops that have a single exit
/// block. The comments are inline assembly, across which code generation can optimise less. Returns
/// the number of marked loops.
unsigned mark(llvm::Module &M);

/// Writes a table atomically, so that no reader sees an incomplete file. Returns an error message,
/// "" on success.
std::string write(const llvm::json::Value &Table, llvm::StringRef Path);

} // namespace incc

#endif
