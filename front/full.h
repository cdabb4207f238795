//===- full.h - Full mode: analysis after the compilation -------*- C++ -*-===//

#ifndef INCC_FRONT_FULL_H
#define INCC_FRONT_FULL_H

#include "compiler.h"
#include "python.h"

namespace incc {

/// Runs the compiler, then has a warm worker do the additional work of the full mode: compile to
/// assembly with line information, analyse, and write the report. `Started` holds the arguments for
/// the Python part of incc. Returns, without having run the compiler, if this process cannot start
/// it, if INCC_WORKERS=0 or INCC_DEBUG is set, or if Python has to run the compiler because it may
/// read its source from standard input.
void compileFull(const Compiler &Compiler, const Words &Arguments, const Words &Started,
                 const Python &Python);

} // namespace incc

#endif
