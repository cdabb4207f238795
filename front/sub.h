//===- sub.h - Interception of gcc's sub-commands ---------------*- C++ -*-===//

#ifndef INCC_FRONT_SUB_H
#define INCC_FRONT_SUB_H

#include "text.h"

namespace incc {

/// The argument that tells incc that gcc's driver started it as its -wrapper.
constexpr std::string_view SubArgument = "--incc-sub";
/// The variable that holds the folder for the results.
constexpr const char *SubVariable = "INCC_JOB";

/// A sub-command that gcc's driver started.
struct SubCommand {
  enum Kind : char {
    Compiler = 'C', ///< a compiler proper
    Assembler = 'A'
  };
  Kind Program;
  /// The file with a copy of the assembly that the assembler read or that the compiler wrote to a
  /// pipe; "" if it could not be copied.
  std::string Kept;
  Words Argv;
};

/// Records a sub-command and replaces this process by it.
[[noreturn]] void runSubCommand(const Words &Argv, const std::string &Scratch);

/// Returns true if a sub-command could not be started, such as cc1plus where only C is installed.
bool isSubCommandMissing(const std::string &Scratch);

/// Returns the sub-commands recorded in a folder, in the order in which they started.
std::vector<SubCommand> subCommands(const std::string &Scratch);

/// Returns the argument after the last `Option`, "" if there is none.
std::string valueOf(const Words &Argv, std::string_view Option);
/// Returns the file that an assembler reads, "" for standard input. Drivers pass it as the last
/// argument.
std::string assemblerInput(const Words &Argv);

} // namespace incc

#endif
