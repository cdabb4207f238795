//===- command.h - Parsing the compiler's command line ----------*- C++ -*-===//

#ifndef INCC_FRONT_COMMAND_H
#define INCC_FRONT_COMMAND_H

#include "text.h"

namespace incc {

/// Returns true if a file name stands for standard input.
bool isStdin(std::string_view Name);

/// Returns true if `Argument` is one of incc's own options. Options that merely look similar belong
/// to the compiler.
bool isOwn(const std::string &Argument);

/// Splits a command's arguments into incc's own options and the rest. An argument that belongs to
/// the option before it (-Xlinker --analyze) stays in the rest.
void split(const Words &Arguments, Words &Own, Words &Rest);

/// The actions of a compiler command, as far as its arguments tell without asking the compiler.
struct Command {
  enum class Stop { Object, Assembly, Link };

  /// The arguments, with response files expanded.
  Words Arguments;
  /// The command certainly compiles nothing to machine code.
  bool CompilesNothing = false;
  /// The command has input files or an option such as --version or -E. Otherwise its arguments are
  /// unknown words.
  bool HasInputOrAction = false;
  /// `Links`: the command links. `Lto`: an option requests link-time optimisation.
  bool Links = false, Lto = false;
  /// The arguments do not tell what is compiled (a response file is a pipe), or the lean mode
  /// cannot keep it (assembly from standard input).
  bool Unclear = false;
  /// The command itself writes to standard output.
  bool WritesStdout = false;
  /// The last stage that the options request (-c, -S, or neither).
  Stop Until = Stop::Link;
  /// Sources that are compiled to machine code, named as in the arguments.
  Words Sources;
  /// The operand of -o, "" if there is none.
  std::string Output;

  /// Returns true if any of these options is given.
  bool has(std::initializer_list<std::string_view> Options) const;
  /// Returns the last argument that begins with one of these prefixes, "" if there is none.
  std::string last(std::initializer_list<std::string_view> Beginnings) const;
  /// Returns the output file for a source. For a command that links, that is the program.
  std::string outputOf(const std::string &Source) const;
};

/// Returns true if a command, run in `Folder`, is a feature test of autoconf, CMake or meson.
/// Nobody reads about the loops of such a test, and in a small project there are more tests than
/// compilations.
bool isTrial(const Command &Command, const std::string &Folder);

/// Parses a command from which incc's own options have been removed.
Command readCommand(const Words &Arguments);

} // namespace incc

#endif
