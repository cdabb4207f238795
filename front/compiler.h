//===- compiler.h - Which compiler incc stands in for -----------*- C++ -*-===//

#ifndef INCC_FRONT_COMPILER_H
#define INCC_FRONT_COMPILER_H

#include "text.h"

namespace incc {

/// The real compiler: `Path` of the program, and `Name`, its name as called and the arguments that
/// belong to it. If there is none, `Error` says why and `Status` is the exit status, as a shell's:
/// 127 not found, 126 not executable.
struct Compiler {
  std::string Path;
  Words Name;
  std::string Error;
  int Status = 0;
};

/// What the compiler is built on, as far as its name says.
enum class Family {
  Gcc,      ///< gcc's driver itself, which knows -wrapper
  Clang,    ///< clang and what is built on it
  Launcher, ///< a program in front of a compiler
  Unknown
};

/// How often incc was started by what it started itself.
int depth();

/// The compiler that the first of `Arguments` names (then it is taken out of them), else $INCC_CC,
/// else `Option` (--incc-cc), else the name `CalledAs`, else `cc` stands for. incc itself is passed
/// over in PATH, so that it may be installed under the compiler's own name in front of it.
/// `Executed` is the path of the program that the preloaded library has put incc in front of, which
/// is to see the name `CalledAs`; "" if incc was called itself.
Compiler findCompiler(Words &Arguments, const std::string &Option, const std::string &CalledAs,
                      const std::string &Executed);

/// What to make of a compiler: by the names of the programs that its name leads to.
Family familyOf(const Compiler &Compiler);

/// Becomes the compiler, with INCC_DEPTH. Returns only with an error (errno).
void become(const Compiler &Compiler, const Words &Arguments);

/// INCC_DEPTH for what is started now.
void setDepth();

} // namespace incc

#endif
