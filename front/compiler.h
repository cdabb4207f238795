//===- compiler.h - Finding the compiler that incc runs ---------*- C++ -*-===//

#ifndef INCC_FRONT_COMPILER_H
#define INCC_FRONT_COMPILER_H

#include "text.h"

namespace incc {

/// The real compiler. `Path` is the program's path; `Name` holds its argv[0] and the arguments that
/// belong to it (those of a launcher). If there is no compiler, `Error` gives the reason and
/// `Status` the exit status that a shell would use: 127 if it was not found, 126 if it is not
/// executable.
struct Compiler {
  std::string Path;
  Words Name;
  std::string Error;
  int Status = 0;
};

/// The kind of a compiler, according to its name.
enum class Family {
  Gcc,      ///< gcc's own driver, which supports -wrapper
  Clang,    ///< clang and compilers built on it
  Launcher, ///< a program that runs a compiler, such as ccache
  Unknown
};

/// Returns how many instances of incc are among this process's ancestors (INCC_DEPTH).
int depth();

/// Finds the compiler. In order of precedence, it is given by the first of `Arguments` (which is
/// then removed from them), $INCC_CC, `Option` (--incc-cc), the name `CalledAs`, and `cc`. The
/// search in PATH skips incc itself, so incc can be installed under the compiler's name in an
/// earlier folder. `Executed` is the path of the program that the preloaded library replaced by
/// incc, to be run with `CalledAs` as its argv[0]; "" if incc was called directly.
Compiler findCompiler(Words &Arguments, const std::string &Option, const std::string &CalledAs,
                      const std::string &Executed);

/// Classifies a compiler by the file that its name leads to.
Family familyOf(const Compiler &Compiler);

/// Replaces this process by the compiler, with INCC_DEPTH incremented. Returns only if execv fails
/// (errno).
void become(const Compiler &Compiler, const Words &Arguments);

/// Increments INCC_DEPTH in the environment of this process.
void setDepth();

} // namespace incc

#endif
