//===- full.h - The full mode behind the compiler ---------------*- C++ -*-===//

#ifndef INCC_FRONT_FULL_H
#define INCC_FRONT_FULL_H

#include "compiler.h"
#include "python.h"

namespace incc {

/// Compiles, and has a warm worker do what the full mode adds: assembly with lines, the analysis,
/// and the report. `Started` are the words for the Python part of incc. Returns if the compiler
/// could not be started from here, or has to run beside Python: where it may read standard input.
void compileFull(const Compiler &Compiler, const Words &Arguments, const Words &Started,
                 const Python &Python);

} // namespace incc

#endif
