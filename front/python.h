//===- python.h - Starting the Python part of incc --------------*- C++ -*-===//

#ifndef INCC_FRONT_PYTHON_H
#define INCC_FRONT_PYTHON_H

#include "text.h"

namespace incc {

/// The locations of Python and the package.
struct Python {
  /// The interpreter: the one in this program's folder, else the one that incc was built with, else
  /// one of the same version in PATH. "" if there is none.
  std::string Interpreter;
  /// The folder that contains the package, "" if the interpreter finds it by itself.
  std::string Place;
  /// The package's own folder, "" if only the interpreter knows it.
  std::string Package;
};

Python findPython();

/// Returns a command that calls `main(arguments)` of a module of the package. The interpreter
/// ignores PYTHONHOME, PYTHONPATH and similar variables, which may belong to the build. With
/// `Fallback`, a Python that cannot import the package executes this program again with
/// `Fallback`, the reason and `Arguments`.
Words pythonCommand(const Python &Python, const std::string &Module, const std::string &Function,
                    const Words &Arguments, std::string_view Fallback = {});

/// Returns a command that calls `command()` of a module. That function reads sys.argv, which holds
/// `Name`, the path that the command was called by, and `Arguments`. SIGINT may be blocked until
/// then.
Words installedCommand(const Python &Python, const std::string &Module, const std::string &Name,
                       const Words &Arguments);

} // namespace incc

#endif
