//===- python.h - Starting the part of incc that is Python ------*- C++ -*-===//

#ifndef INCC_FRONT_PYTHON_H
#define INCC_FRONT_PYTHON_H

#include "text.h"

namespace incc {

/// Where Python and the package are.
struct Python {
  /// The interpreter: beside this program, else the one that it was built with, else one of the
  /// same version in PATH; "" if there is none.
  std::string Interpreter;
  /// The folder that has the package, "" if the interpreter knows it by itself.
  std::string Place;
  /// The package's folder, as far as it can be told without the interpreter, else "".
  std::string Package;
};

Python findPython();

/// The words of a command that calls `main(arguments)` of a module of the package. The interpreter
/// takes no notice of PYTHONHOME, PYTHONPATH and their like, which may be the build's. `Otherwise`:
/// where the package cannot be imported, it becomes this program again, with that argument, the
/// reason and `Arguments`.
Words pythonCommand(const Python &Python, const std::string &Module, const std::string &Function,
                    const Words &Arguments, std::string_view Otherwise = {});

/// The words of a command that calls `command()` of a module, which reads sys.argv: `Name`, the
/// path that it was started by, and `Arguments`. SIGINT may be blocked until then.
Words installedCommand(const Python &Python, const std::string &Module, const std::string &Name,
                       const Words &Arguments);

} // namespace incc

#endif
