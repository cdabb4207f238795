//===- main.cpp - Entry point of the command incc -------------------------===//
//
// incc runs in place of the compiler. Builds start it thousands of times,
// mostly for commands that have nothing to analyse, so it decides from its
// arguments and environment alone, within a millisecond, how to proceed. It
// replaces itself by the compiler, compiles in the lean mode (lean.h) or the
// full mode (full.h), or replaces itself by the Python part of incc
// (driver/commands/incc.py). That part knows all options, reports errors in
// them, and runs the full mode where full.h cannot.
//
//===----------------------------------------------------------------------===//

#include "command.h"
#include "compiler.h"
#include "files.h"
#include "full.h"
#include "job.h"
#include "lean.h"
#include "names.h"
#include "processes.h"
#include "python.h"
#include "sub.h"
#include "watch.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

using namespace incc;

namespace {

constexpr std::string_view CompilerOption = "--incc-cc";
/// The argument by which Python reports that it cannot do its part. It is followed by the reason,
/// the compiler and the compiler's arguments.
constexpr std::string_view BareArgument = "--incc-bare";
/// The argument by which the preloaded library (preload.cpp) reports that a build executes a
/// compiler. It is followed by the compiler's path, its argv[0] and its arguments.
constexpr std::string_view ExecutedArgument = "--incc-exec";
constexpr std::string_view PreloadName = "libincc-preload.so";

[[noreturn]] void fail(const std::string &Message, int Status) {
  writeAll(2, "incc: error: " + Message + "\n");
  _exit(Status);
}

[[noreturn]] void becomeCompiler(const Compiler &Compiler, const Words &Arguments) {
  if (!Compiler.Error.empty())
    fail(Compiler.Error, Compiler.Status);
  become(Compiler, Arguments);
  fail(Compiler.Path + ": " + strerror(errno), 126);
}

/// Removes the preloaded library from LD_PRELOAD, so that compilers and their children run without
/// it.
void leavePreload() {
  std::string Libraries = variable("LD_PRELOAD"), Left;
  if (Libraries.find(PreloadName) == Libraries.npos)
    return;
  for (size_t Start = 0; Start < Libraries.size();) {
    size_t End = std::min(Libraries.find_first_of(": ", Start), Libraries.size());
    std::string_view Library = std::string_view(Libraries).substr(Start, End - Start);
    if (!Library.empty() && baseName(Library) != PreloadName)
      (Left += Left.empty() ? "" : ":") += Library;
    Start = End + 1;
  }
  if (Left.empty())
    unsetenv("LD_PRELOAD");
  else
    setenv("LD_PRELOAD", Left.c_str(), /*overwrite=*/1);
}

/// Prefixes arguments with a description of the compiler, for passing both to Python and back.
Words withCompiler(const Compiler &Compiler, const Words &Arguments) {
  Words Result = {Compiler.Path, std::to_string(Compiler.Name.size())};
  Result.insert(Result.end(), Compiler.Name.begin(), Compiler.Name.end());
  Result.insert(Result.end(), Arguments.begin(), Arguments.end());
  return Result;
}

[[noreturn]] void becomeBare(const std::string &Why, const Compiler &Compiler,
                             const Words &Arguments) {
  Words Own, Rest;
  split(Arguments, Own, Rest);
  warn("not analysed: " + Why);
  becomeCompiler(Compiler, Rest);
}

/// Runs the compiler alone. Python executes this if it cannot do its part, before it has had any
/// effect.
[[noreturn]] void resumeBare(const Words &Arguments) {
  leaveWatch();
  // Python ignores these two signals; the compiler must not inherit that.
  signal(SIGPIPE, SIG_DFL);
  signal(SIGXFSZ, SIG_DFL);
  Compiler Compiler;
  Compiler.Path = Arguments.at(1);
  size_t Count = std::stoul(Arguments.at(2));
  Compiler.Name.assign(Arguments.begin() + 3, Arguments.begin() + 3 + Count);
  becomeBare(Arguments[0], Compiler, Words(Arguments.begin() + 3 + Count, Arguments.end()));
}

[[noreturn]] void becomePython(const Compiler &Compiler, const Words &Arguments) {
  Python Python = findPython();
  Words Argv =
      pythonCommand(Python, "incc", "started", withCompiler(Compiler, Arguments), BareArgument);
  bool Strict = isOn("INCC_STRICT") || std::find(Arguments.begin(), Arguments.end(),
                                                 "--analyze-strict") != Arguments.end();
  becomeBare(runWatched(Python, Argv, Strict), Compiler, Arguments);
}

/// The variable by which Python, when it has a compiler start this program as its assembler,
/// describes the compilation (running/compiling.py).
constexpr const char *ProbeVariable = "INCC_PROBE_COMMAND";

/// Puts probes into the text for the assembler, and runs the real one.
[[noreturn]] void becomeAssembler(const Words &Arguments) {
  Words Argv = pythonCommand(findPython(), "assemble", "main", Arguments);
  execv(Argv[0].c_str(), pointers(Argv).data());
  fail("as: no Python", 127);
}

/// The spellings of the option that names the report's file (driver/cli/options.py).
constexpr const char *OutputOptions[] = {"--analyze=", "--analyze-o=", "--analyze-output="};

/// Copies incc's command-line options into the environment, where the lean mode reads them.
void passOptions(const Words &Own) {
  std::string Options = variable("INCC_OPTIONS");
  for (const std::string &Argument : Own) {
    if (Argument.starts_with(CompilerOption) || Argument.starts_with("--analyze-mode"))
      continue;
    bool Output = std::any_of(std::begin(OutputOptions), std::end(OutputOptions),
                              [&](const char *Option) { return Argument.starts_with(Option); });
    if (Output) {
      setenv("INCC_OUTPUT", Argument.c_str() + Argument.find('=') + 1, /*overwrite=*/1);
      continue;
    }
    if (Argument == "--analyze")
      continue;
    Options += Options.empty() ? "'" : " '";
    for (char C : Argument)
      Options += C == '\'' ? std::string("'\\''") : std::string(1, C);
    Options += '\'';
  }
  if (!Options.empty())
    setenv("INCC_OPTIONS", Options.c_str(), /*overwrite=*/1);
  if (!isOn("INCC_ANALYZE"))
    setenv("INCC_ANALYZE", "1", /*overwrite=*/1);
}

/// Returns true if INCC_OPTIONS contains an option that needs the full mode. Sets `Requests` if
/// such an option turns the analysis on by itself.
bool optionsWantFull(bool &Requests) {
  std::string Options = variable("INCC_OPTIONS");
  bool Written = Options.find("--emit-marked") != Options.npos ||
                 Options.find("--analyze-keep-assembly") != Options.npos;
  Requests |= Written;
  return Written || Options.find("--try") != Options.npos ||
         Options.find("--analyze-try") != Options.npos ||
         Options.find("--analyze-measure") != Options.npos;
}

/// Returns when to analyse code that link-time optimisation generates, from the last option or
/// variable that sets it: "link", "compile", or "". The default "" means at the link if the command
/// has an option for link-time optimisation.
std::string ltoMode(const Words &Own) {
  constexpr std::string_view Option = "--analyze-lto=";
  for (size_t I = Own.size(); I-- > 0;)
    if (Own[I].starts_with(Option))
      return Own[I].substr(Option.size());
  return variable("INCC_LTO");
}

/// Returns true if a source may contain marks (docs/source-marks.md), that is, comments, pragmas or
/// attributes. Only marks state expectations.
bool mayHaveMarks(const Command &Command) {
  return Command.Unclear ||
         std::any_of(Command.Sources.begin(), Command.Sources.end(), [](const std::string &Source) {
           std::string Text;
           return isFile(Source) && readFile(Source, Text) && Text.find("incc") != Text.npos;
         });
}

} // namespace

int main(int Count, char **Values) {
  leavePreload();
  Words Arguments(Values + std::min(Count, 1), Values + Count);
  std::string CalledAs = Count ? Values[0] : "", Executed;
  if (Arguments.size() > 2 && Arguments[0] == ExecutedArgument) {
    Executed = Arguments[1];
    CalledAs = Arguments[2];
    Arguments.erase(Arguments.begin(), Arguments.begin() + 3);
  }
  if (!Arguments.empty() && Arguments[0] == SubArgument) {
    std::string Scratch = variable(SubVariable);
    if (!Scratch.empty())
      runSubCommand(Words(Arguments.begin() + 1, Arguments.end()), Scratch);
  }
  if (Arguments.size() > 3 && Arguments[0] == BareArgument)
    resumeBare(Words(Arguments.begin() + 1, Arguments.end()));

  if (baseName(CalledAs) == "as" && !variable(ProbeVariable).empty())
    becomeAssembler(Arguments);

  Words Own, Rest;
  split(Arguments, Own, Rest);
  // A build that calls clang by name means clang's option --analyze.
  bool CalledAsClang = isClangName(Executed.empty() ? CalledAs : Executed);
  if (CalledAsClang && std::erase(Own, "--analyze"))
    Rest.insert(Rest.begin(), "--analyze");
  std::string Option;
  bool Commanded = false, CommandedLean = false, Checks = false;
  for (const std::string &Argument : Own) {
    if (Argument.starts_with(CompilerOption) && Argument.size() > CompilerOption.size() + 1)
      Option = Argument.substr(CompilerOption.size() + 1);
    else if (Argument.starts_with("--analyze-mode="))
      CommandedLean = Argument == "--analyze-mode=lean", Commanded |= !CommandedLean;
    else if (Argument.starts_with("-W"))
      Checks = Argument != "-Wno-incc" && (Checks || Argument != "-Wno-error=incc");
    else
      Commanded = true;
  }
  Compiler Compiler = findCompiler(Rest, Option, CalledAs, Executed);
  // Another incc above this one does the analysis already, so only remove incc's options.
  if (depth() > 0)
    becomeCompiler(Compiler, Rest);

  if (CommandedLean) {
    passOptions(Own);
    Commanded = Checks = false;
  }
  bool Probes =
      isOn("INCC_PROBE") || std::any_of(Own.begin(), Own.end(), [](const std::string &Argument) {
        return Argument.starts_with("--analyze-probe");
      });
  std::string Analyze = variable("INCC_ANALYZE");
  bool Requested = !Analyze.empty() && Analyze != "0";
  bool Full = optionsWantFull(Requested);
  if (!Commanded && !Requested && !Checks && !Probes)
    becomeCompiler(Compiler, Rest);

  bool Help = std::any_of(Own.begin(), Own.end(), [](const std::string &Argument) {
    return Argument.starts_with("--analyze-help") || Argument == "--analyze-version";
  });
  Command Command = readCommand(Rest);
  // Python gives the compiler another command, for a link as well.
  if (Probes && Compiler.Error.empty() && (!Command.CompilesNothing || Command.Links)) {
    setenv("INCC_PROGRAM", ownPath().c_str(), /*overwrite=*/1);
    Words Given = Own;
    Given.insert(Given.end(), Rest.begin(), Rest.end());
    becomePython(Compiler, Given);
  }
  if (Checks && !Command.CompilesNothing)
    Commanded |= mayHaveMarks(Command);
  if (!Commanded && !Requested)
    becomeCompiler(Compiler, Rest);
  // Decide whether to analyse the linked file. gcc generates code from objects for link-time
  // optimisation whether or not -flto is given at the link. Without -flto, a link is analysed only
  // if the command itself asks for the analysis, not if it applies to the whole build.
  std::string Lto = ltoMode(Own);
  bool AtLink = Command.Links && Lto != "compile" && (Commanded || Command.Lto || Lto == "link");
  bool Recompiled = Lto == "compile" && Command.Lto;
  if (Command.CompilesNothing && Command.HasInputOrAction && !Help && !AtLink)
    becomeCompiler(Compiler, Rest);
  if (!Commanded && Command.CompilesNothing && !AtLink)
    becomeCompiler(Compiler, Rest);
  std::string Folder = workingFolder();
  if (!Commanded && isTrial(Command, Folder))
    becomeCompiler(Compiler, Rest);
  if (!Compiler.Error.empty() && !Help)
    fail(Compiler.Error, Compiler.Status);
  if (Commanded) {
    // Keep incc's options; the compiler's name has been removed from the rest.
    Words Given = Own;
    Given.insert(Given.end(), Rest.begin(), Rest.end());
    becomePython(Compiler, Given);
  }
  std::string Mode = variable("INCC_MODE");
  std::optional<Way> Way;
  if (!Full && !Recompiled && (CommandedLean || Mode.empty() || Mode == "lean"))
    Way = AtLink ? wayOfLink(Command) : wayOf(Compiler, Command);
  std::string Why = Way ? whyNoReports() : "";
  if (!Why.empty()) {
    // This affects the whole build, so print it instead of writing it to a log that nobody opens.
    writeAll(2, "incc: warning: not analysed: " + Why + "\n");
    becomeCompiler(Compiler, Rest);
  }
  if (Way) {
    compileLean(Compiler, Rest, Command, *Way, findPython());
    becomeCompiler(Compiler, Rest);
  }
  compileFull(Compiler, Rest, withCompiler(Compiler, Rest), findPython());
  becomePython(Compiler, Rest);
}
