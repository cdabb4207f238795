//===- command.h - What a compiler's command asks for -----------*- C++ -*-===//

#ifndef INCC_FRONT_COMMAND_H
#define INCC_FRONT_COMMAND_H

#include "text.h"

namespace incc {

/// Whether a file's name is one of standard input's.
bool isStdin(std::string_view Name);

/// Whether `Argument` is one of incc's own options. What only looks alike is the compiler's.
bool isOwn(const std::string &Argument);

/// Takes incc's own options out of a command's arguments. They are not taken where another option
/// takes what follows (-Xlinker --analyze).
void split(const Words &Arguments, Words &Own, Words &Rest);

/// What a compiler's arguments ask for, as far as this can be told without asking the compiler.
struct Command {
  enum class Stop { Object, Assembly, Link };

  /// The arguments, with those of response files.
  Words Arguments;
  /// Nothing is compiled to code, for certain.
  bool CompilesNothing = false;
  /// There is an option by which no command compiles, or there are files: not just words that
  /// nobody understands.
  bool MeansSomething = false;
  /// Files are linked. `Lto`: by an option with link-time optimisation.
  bool Links = false, Lto = false;
  /// What is compiled cannot be told from here (response files that are pipes), or cannot be kept
  /// by looking on (assembly from standard input).
  bool Unclear = false;
  /// The command itself writes to standard output.
  bool WritesStdout = false;
  /// The option without which one of the names here could be another one's.
  Stop Until = Stop::Link;
  /// Sources that are compiled to code, as they are named.
  Words Sources;
  /// -o, "" if there is none.
  std::string Output;

  /// Whether there is one of these options.
  bool has(std::initializer_list<std::string_view> Options) const;
  /// The last option that begins with one of these, "" if there is none.
  std::string last(std::initializer_list<std::string_view> Beginnings) const;
  /// The file that is made of a source. Of a link it is the program.
  std::string outputOf(const std::string &Source) const;
};

/// Whether a command that is run in `Folder` is one by which autoconf, CMake or meson find out what
/// a compiler can do: nobody reads of its loops, and there are more of them than of others in a
/// small project.
bool isTrial(const Command &Command, const std::string &Folder);

/// Reads a command without incc's own options.
Command readCommand(const Words &Arguments);

} // namespace incc

#endif
