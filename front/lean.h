//===- lean.h - One compilation, analysed by what it makes ------*- C++ -*-===//

#ifndef INCC_FRONT_LEAN_H
#define INCC_FRONT_LEAN_H

#include "command.h"
#include "compiler.h"
#include "python.h"

#include <optional>

namespace incc {

/// Where the code to be analysed comes from.
enum class Way {
  Wrapper, ///< from what gcc's driver starts
  Object,  ///< from the object that was made
  Text,    ///< from the assembly that was made
  Link     ///< from what was linked, with link-time optimisation
};

/// The way for a command, none if its code can only be had from a second compilation.
std::optional<Way> wayOf(const Compiler &Compiler, const Command &Command);

/// The same of a command that links what is to be optimised: none if some of the code comes of the
/// command's own sources.
std::optional<Way> wayOfLink(const Command &Command);

/// Compiles, and has what was made analysed; does not return if the compiler could be started.
/// `Arguments` are the compiler's as they were given. Returns false, with nothing done, if there is
/// no place for temporary files or no room for a process, or a part of the compiler is missing.
bool compileLean(const Compiler &Compiler, const Words &Arguments, const Command &Command, Way Way,
                 const Python &Python);

/// Says something of the analysis, in a line: in the file that INCC_LOG names, and on standard
/// error with INCC_DEBUG, or where the report goes to standard output and there is no log. Builds
/// compare what compilers write, so elsewhere nothing is said.
void log(const std::string &Line);

} // namespace incc

#endif
