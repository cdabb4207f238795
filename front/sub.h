//===- sub.h - Looking at what gcc's driver starts --------------*- C++ -*-===//

#ifndef INCC_FRONT_SUB_H
#define INCC_FRONT_SUB_H

#include "text.h"

namespace incc {

/// The argument by which the front knows that gcc's driver started it as its -wrapper.
constexpr std::string_view SubArgument = "--incc-sub";
/// The variable that has the folder for what is found.
constexpr const char *SubVariable = "INCC_JOB";

/// What gcc's driver started.
struct SubCommand {
  enum Kind : char {
    Compiler = 'C', ///< a compiler proper
    Assembler = 'A'
  };
  Kind What;
  /// The file with the text that it read (an assembler) or wrote to a pipe (a compiler), "" if that
  /// could not be kept.
  std::string Kept;
  Words Argv;
};

/// Does what is to be done for a sub-command, and becomes it.
[[noreturn]] void runSubCommand(const Words &Argv, const std::string &Scratch);

/// Whether a sub-command could not be started, such as cc1plus where only C is installed.
bool missedSubCommand(const std::string &Scratch);

/// What was noted in a folder, in the order of its start.
std::vector<SubCommand> subCommands(const std::string &Scratch);

/// The argument behind the last `Option`, "" if there is none.
std::string valueOf(const Words &Argv, std::string_view Option);
/// The file that an assembler reads, "" for standard input: drivers write it last.
std::string assemblerInput(const Words &Argv);

} // namespace incc

#endif
