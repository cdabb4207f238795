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

/// Returns true if a program, given by name or path, runs the compiler that its arguments name,
/// like ccache.
bool isLauncher(std::string_view Program);

/// Returns true if a program, given by name or path, is a compiler: `gcc`,
/// `x86_64-linux-gnu-g++-12`.
bool isCompilerName(std::string_view Program);

/// Returns true if a program's name is that of gcc's driver, or of a driver built on clang. Any
/// prefix must be a target: `x86_64-linux-gnu-gcc` matches, `afl-gcc` does not, because it is
/// another program.
bool isGccName(std::string_view Program);
bool isClangName(std::string_view Program);

} // namespace incc

#endif
