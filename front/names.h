//===- names.h - Names of compilers and launchers ---------------*- C++ -*-===//
//
// For the program incc and for the preloaded library (preload.cpp), in which
// nothing may allocate or throw.
//
//===----------------------------------------------------------------------===//

#ifndef INCC_FRONT_NAMES_H
#define INCC_FRONT_NAMES_H

#include <string_view>

namespace incc {

/// Whether a program, given by name or path, starts the compiler that its arguments name (ccache).
bool isLauncher(std::string_view Program);

/// Whether a program, given by name or path, is a compiler: `gcc`, `x86_64-linux-gnu-g++-12`.
bool isCompilerName(std::string_view Program);

/// Whether a program's name is that of gcc's driver, or of one built on clang, where what stands in
/// front of it is a target: `x86_64-linux-gnu-gcc` but not `afl-gcc`, which is another program.
bool isGccName(std::string_view Program);
bool isClangName(std::string_view Program);

} // namespace incc

#endif
