//===- lean.h - Lean mode: analysis of the compiler's output ----*- C++ -*-===//

#ifndef INCC_FRONT_LEAN_H
#define INCC_FRONT_LEAN_H

#include "command.h"
#include "compiler.h"
#include "python.h"

#include <optional>

namespace incc {

/// The source of the code to analyse.
enum class Way {
  Wrapper, ///< text that gcc's driver passes to the assembler
  Object,  ///< the object file
  Text,    ///< the assembly file (-S)
  Link     ///< the output of a link with link-time optimisation
};

/// Returns where to find the code of a command, nullopt if that needs a second compilation.
std::optional<Way> wayOf(const Compiler &Compiler, const Command &Command);

/// Returns where to find the code of a command that links with link-time optimisation, nullopt if
/// some of its own sources are compiled or assembled outside of that optimisation.
std::optional<Way> wayOfLink(const Command &Command);

/// Runs the compiler and has its output analysed. Does not return if the compiler could be started.
/// `Arguments` are the compiler's arguments as given. Returns false, with nothing done, if there is
/// no space for temporary files, if no process can be started, or if a part of the compiler is
/// missing.
bool compileLean(const Compiler &Compiler, const Words &Arguments, const Command &Command, Way Way,
                 const Python &Python);

/// Writes one line about the analysis to the file that INCC_LOG names. Writes it to standard error
/// with INCC_DEBUG, or if the report goes to standard output and no log was written. In other cases
/// it writes nothing, because builds compare the output of compilers.
void log(const std::string &Line);

} // namespace incc

#endif
