//===- lean.cpp - Lean mode: analysis of the compiler's output ------------===//
//
// The compiler runs as it would without incc. For gcc, sub.cpp keeps the text
// that goes to the assembler; for other compilers, incc reads the output file.
// This makes a job, which is answered from the cache of units, queued for a
// worker, or passed to Python at once. If any of these steps fails, the
// compilation still ends as the compiler ended.
//
//===----------------------------------------------------------------------===//

#include "lean.h"

#include "files.h"
#include "job.h"
#include "processes.h"
#include "seal.h"
#include "service.h"
#include "sub.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <map>
#include <sys/wait.h>
#include <unistd.h>

using namespace incc;

namespace {

/// Returns true if gcc's -wrapper must not be used: an option makes the driver print the commands
/// that it starts, changes what the driver does with a wrapper, or makes the assembler read
/// something other than the compiler's output.
bool keepsWrapperOut(const Command &Command) {
  // The driver passes its options to its sub-commands in one variable, COLLECT_GCC_OPTIONS. Linux
  // limits a variable to 128 KiB.
  size_t Size = 0;
  for (const std::string &Argument : Command.Arguments)
    Size += Argument.size() + strlen("'' ");
  if (Size > 100'000)
    return true;
  return Command.has({"-v", "-time", "-wrapper", "-no-integrated-cpp", "-freport-bug"}) ||
         !Command.last({"-save-temps", "--save-temps", "-time=", "-wrapper=", "-fcompare-debug"})
              .empty();
}

bool isLto(const Words &Words) {
  bool Lto = false, Fat = false;
  for (const std::string &Word : Words) {
    if (Word == "-flto" || Word.starts_with("-flto="))
      Lto = true;
    else if (Word == "-fno-lto")
      Lto = false;
    else if (Word == "-ffat-lto-objects" || Word == "-fno-fat-lto-objects")
      Fat = Word == "-ffat-lto-objects";
  }
  return Lto && !Fat;
}

/// Returns the wrapper's name, which is what gcc's driver prints when a sub-command crashes.
std::string properName(const Compiler &Compiler, const Command &Command) {
  const std::string &Source = Command.Sources.empty() ? "" : Command.Sources[0];
  std::string_view End = ending(Source);
  std::string_view Driver = baseName(Compiler.Path);
  if (!End.empty() && (End[0] == 'f' || End[0] == 'F'))
    return "f951";
  bool Cxx = End == "C" || End == "ii" || (End.size() > 1 && (End[0] == 'c' || End[0] == 'C'));
  return Cxx || Driver.find("++") != Driver.npos ? "cc1plus" : "cc1";
}

/// Finds the user's source in the command of a compiler proper: the word that is one of
/// `Command.Sources`.
std::string sourceIn(const Words &Proper, const Command &Command) {
  for (size_t I = 1; I < Proper.size(); ++I) {
    const std::string &Before = Proper[I - 1];
    if (Before == "-o" || Before == "-dumpbase" || Before == "-auxbase" || Before == "-MF")
      continue;
    if (std::find(Command.Sources.begin(), Command.Sources.end(), Proper[I]) !=
        Command.Sources.end())
      return Proper[I];
  }
  return "";
}

constexpr const char *TookTooLong = "it took too long (INCC_MAX_SECONDS)";

class Lean {
public:
  Lean(const Compiler &Real, const Words &Arguments, const Command &Parsed, Way Chosen,
       const Python &Python, std::string Scratch)
      : Real(Real), Arguments(Arguments), Parsed(Parsed), Chosen(Chosen), Py(Python),
        Scratch(std::move(Scratch)) {}

  /// Runs the compiler. Returns its status, nullopt if it could not be started as a child.
  std::optional<int> compile();
  void findUnits();
  /// Has the units analysed. Returns the exit status for a compilation that succeeded.
  int analyse();

  Processes Children;

private:
  void skip(const std::string &Source, const std::string &Why);
  void unitsOfSubCommands();
  void unitsOfFiles();
  void unitOfLink();
  std::string outputOf(const std::string &Source, const std::string &Made) const;
  bool leave(const std::string &Jobs);
  int analyseNow();

  const Compiler &Real;
  const Words &Arguments;
  const Command &Parsed;
  Way Chosen;
  const Python &Py;
  std::string Scratch;
  Job Work;
};

std::optional<int> Lean::compile() {
  Words Argv = Real.Name;
  std::vector<Processes::Setting> Settings = {{"INCC_DEPTH", std::to_string(depth() + 1)}};
  if (Chosen == Way::Wrapper) {
    // Use a separate folder, because everything in it is found through PATH.
    std::string Bin = Scratch + "/bin", Name = properName(Real, Parsed);
    if (makeFolders(Bin) && symlink(ownPath().c_str(), (Bin + "/" + Name).c_str()) == 0) {
      Argv.push_back("-wrapper");
      Argv.push_back(Name + "," + std::string(SubArgument));
      Settings.push_back({"PATH", Bin + ":" + variable("PATH")});
      Settings.push_back({SubVariable, Scratch});
    } else {
      skip("", "no place for temporary files");
    }
  }
  Argv.insert(Argv.end(), Arguments.begin(), Arguments.end());
  if (!Children.start(Real.Path, Argv, Settings)) {
    // The system has no room for another process, or for the additions to the environment.
    skip("", Real.Path + ": " + strerror(errno));
    return std::nullopt;
  }
  return Children.wait();
}

void Lean::skip(const std::string &Source, const std::string &Why) {
  log("warning: " + (Source.empty() ? "" : Source + ": ") + "not analysed: " + Why);
}

/// Returns the output file for a source. That is the file which the assembler wrote, unless the
/// command links: then it is the program.
std::string Lean::outputOf(const std::string &Source, const std::string &Made) const {
  return Parsed.Until == Command::Stop::Link || Made.empty() ? Parsed.outputOf(Source) : Made;
}

void Lean::unitsOfSubCommands() {
  // Files written by a compiler proper, by name: preprocessed assembly (of a .S source) or its
  // text.
  struct Written {
    Words Proper;
    std::string Source;
    bool Assembly; ///< the user's own assembly, preprocessed
    bool NoCode;   ///< GIMPLE for link-time optimisation
  };
  std::map<std::string, Written> Files;
  for (const SubCommand &Sub : subCommands(Scratch)) {
    JobUnit Unit;
    if (Sub.Program == SubCommand::Compiler) {
      const Words &Words = Sub.Argv;
      auto has = [&](std::string_view Word) {
        return std::find(Words.begin(), Words.end(), Word) != Words.end();
      };
      Written File = {Words, sourceIn(Words, Parsed), has("-lang-asm"), isLto(Words)};
      std::string Made = valueOf(Words, "-o");
      if (has("-E") && !File.Assembly)
        continue;
      if (File.NoCode)
        log("note: " + File.Source +
            ": nothing to analyse: -flto writes GIMPLE; machine code is made when "
            "linking");
      bool Text = Parsed.Until == Command::Stop::Assembly && !File.Assembly;
      if (Made != "-" && !Text) {
        Files[Made] = std::move(File);
        continue;
      }
      if (File.NoCode)
        continue;
      Unit.Source = File.Source;
      Unit.Way = File.Assembly ? "given" : "assembler";
      Unit.Proper = Words;
      if (Text && Made != "-") {
        // The text is the user's output file, which may change before it is read.
        Unit.File = Scratch + "/text." + std::to_string(Work.Units.size()) + ".s";
        Unit.Output = Made;
        if (!isFile(Made)) {
          skip(Unit.Source, Made + " is no file");
          continue;
        }
        if (!copyFile(Made, Unit.File)) {
          skip(Unit.Source, Made + ": " + strerror(errno));
          continue;
        }
      } else {
        Unit.File = Sub.Kept;
        Unit.Output = Parsed.outputOf(Unit.Source);
      }
    } else {
      std::string Read = assemblerInput(Sub.Argv);
      if (Read.empty())
        continue;
      auto Found = Files.find(Read);
      bool Generated = Found != Files.end();
      if (Generated && Found->second.NoCode)
        continue;
      Unit.Source = Generated ? Found->second.Source : Read;
      Unit.Way = Generated && !Found->second.Assembly ? "assembler" : "given";
      if (Generated)
        Unit.Proper = Found->second.Proper;
      Unit.File = Sub.Kept;
      Unit.Output = outputOf(Unit.Source, valueOf(Sub.Argv, "-o"));
    }
    if (Unit.File.empty() || !isFile(Unit.File)) {
      skip(Unit.Source, "the assembly could not be kept");
      continue;
    }
    if (isStdin(Unit.Source))
      Unit.Source = "<stdin>";
    Work.Units.push_back(std::move(Unit));
  }
}

void Lean::unitsOfFiles() {
  for (const std::string &Source : Parsed.Sources) {
    JobUnit Unit;
    Unit.Source = isStdin(Source) ? "<stdin>" : Source;
    Unit.Output = Parsed.outputOf(Source);
    bool Given = ending(Source) == "s";
    Unit.Way = Given ? "given" : Chosen == Way::Object ? "object" : "assembler";
    Unit.File = absolute(Given ? Source : Unit.Output, Work.Folder);
    Unit.Own = false;
    if (!Given && Parsed.has({"-emit-llvm"})) {
      log("note: " + Unit.Source + ": nothing to analyse: -emit-llvm writes LLVM IR, not code");
      continue;
    }
    std::string Start;
    if (!isFile(Unit.File)) {
      skip(Unit.Source, "no file " + Unit.File);
      continue;
    }
    if (Unit.Way == "object" && (!readFile(Unit.File, Start) || !Start.starts_with("\177ELF"))) {
      log("note: " + Unit.Source + ": nothing to analyse: " +
          (isLto(Parsed.Arguments) ? "-flto writes LLVM bitcode; machine code is made when linking"
                                   : "no machine code in " + Unit.Output));
      continue;
    }
    if (Unit.Way == "object" && isLto(Parsed.Arguments)) {
      log("note: " + Unit.Source +
          ": nothing to analyse: -flto; machine code is made when linking");
      continue;
    }
    Work.Units.push_back(std::move(Unit));
  }
}

/// Adds the linked program and the driver's description of the link (-###). The description is made
/// now, because a later reader would find neither the command's response files, which build systems
/// remove, nor the environment that determines where libraries are found.
void Lean::unitOfLink() {
  JobUnit Unit;
  Unit.Output = Parsed.outputOf("");
  Unit.Source = Unit.Output;
  Unit.Way = "link";
  Unit.File = absolute(Unit.Output, Work.Folder);
  Unit.Own = false;
  if (!isFile(Unit.File))
    return; // no output (-o /dev/null), or the command only printed information
  Words Argv = Real.Name;
  Argv.push_back("-###");
  Argv.insert(Argv.end(), Parsed.Arguments.begin(), Parsed.Arguments.end());
  std::string DriverOutput = Scratch + "/asked";
  // Request English messages, and disable everything by which clang's driver, or another part of
  // the compiler, would write files.
  std::vector<Processes::Setting> Settings = {
      {"INCC_DEPTH", std::to_string(depth() + 1)},
      {"LC_ALL", "C"},
      {"TMPDIR", Scratch},
      {"CCC_OVERRIDE_OPTIONS",
       "# X-MJ s/^-MJ.+$/-w/ X--serialize-diagnostics X-serialize-diagnostics"}};
  for (const char *Writing :
       {"DEPENDENCIES_OUTPUT", "SUNPRO_DEPENDENCIES", "CC_PRINT_OPTIONS", "CC_PRINT_HEADERS",
        "CC_PRINT_INTERNAL_STAT", "CC_PRINT_PROC_STAT", "CC_LOG_DIAGNOSTICS"})
    Settings.push_back({Writing, ""});
  if (!Children.start(Real.Path, Argv, Settings, "/dev/null", DriverOutput, "/dev/null"))
    return skip(Unit.Source, Real.Path + ": " + strerror(errno));
  Children.wait();
  if (!readFile(DriverOutput, Unit.LinkOutput) || Unit.LinkOutput.empty())
    return skip(Unit.Source,
                Real.Path + " does not support -###, which lists the inputs of the link");
  Work.Units.push_back(std::move(Unit));
}

void Lean::findUnits() {
  Work.Folder = workingFolder();
  Work.Real = &Real;
  Work.Arguments = &Arguments;
  Work.Expanded = &Parsed.Arguments;
  Work.Output = Parsed.Output;
  if (Work.Folder.empty())
    skip("", "the working directory is gone");
  else if (Chosen == Way::Wrapper)
    unitsOfSubCommands();
  else if (Chosen == Way::Link)
    unitOfLink();
  else
    unitsOfFiles();
}

/// Writes the job into the folder where workers look for jobs.
bool Lean::leave(const std::string &Jobs) {
  std::string Name = uniqueName();
  std::string Partial = Jobs + "/.tmp-" + Name;
  if (!makeFolders(Partial))
    return false;
  bool Done = true;
  int Number = 0;
  for (JobUnit &Unit : Work.Units) {
    std::string Kept = Partial + "/" + std::to_string(Number++) +
                       (Unit.Way == "object" ? ".o"
                        : Unit.Way == "link" ? ".out"
                                             : ".s");
    // The user's files may change or disappear before they are read, so copy them.
    Done = Done && (Unit.Own ? moveFile(Unit.File, Kept) : copyFile(Unit.File, Kept));
    Unit.File = Kept;
    Unit.Own = true;
  }
  std::string Text = Work.json(), Seal = sealOf(Text);
  Done = Done && writeFile(Partial + "/job.json", Text) && writeFile(Partial + "/seal", Seal) &&
         rename(Partial.c_str(), (Jobs + "/" + Name).c_str()) == 0;
  if (!Done) {
    int Error = errno;
    removeTree(Partial);
    errno = Error;
  }
  return Done;
}

int Lean::analyseNow() {
  std::string Place = Scratch + "/job";
  bool Done = makeFolders(Place);
  for (JobUnit &Unit : Work.Units) {
    std::string Kept = Place + "/" + std::string(baseName(Unit.File));
    if (!Unit.Own)
      continue;
    Done = Done && moveFile(Unit.File, Kept);
    Unit.File = Kept;
  }
  std::string Text = Work.json(), Seal = sealOf(Text), Description = Place + "/job.json";
  if (!Done || !writeFile(Description, Text)) {
    skip(Work.Units[0].Source, strerror(errno));
    return 0;
  }
  // Builds compare the output of compilers. Users whose reports go elsewhere find errors in the
  // log.
  bool Shown = reportsToStdout() || isOn("INCC_DEBUG") || isOn("INCC_STRICT");
  // Workers accept only sealed jobs.
  int Problems = 0;
  Served Served = Seal.empty() || !writeFile(Place + "/seal", Seal)
                      ? Served::No
                      : serve(Py, Scratch, Shown, Children, Problems);
  if (Served == Served::TooLong)
    skip(Work.Units[0].Source, TookTooLong);
  // The worker removes the job when it has finished, and may crash after that.
  if (Served != Served::No || !isFile(Description))
    return Problems && isOn("INCC_STRICT") ? 1 : 0;
  std::string Errors = Shown ? "" : "/dev/null";
  Words Argv = pythonCommand(Py, "job", "main", {Place});
  if (Py.Interpreter.empty() || !Children.start(Py.Interpreter, Argv, {}, "/dev/null", Errors, "",
                                                /*IsPython=*/true)) {
    skip(Work.Units[0].Source,
         (Py.Interpreter.empty() ? "python3" : Py.Interpreter) + ": " + strerror(errno));
    return 0;
  }
  int Status = Children.wait();
  if (isOn("INCC_STRICT") && Status != 0)
    return 1;
  // Python reports its own problems. This message is for a Python that failed before it could.
  if (Status != 0 && !Children.interrupted()) {
    bool TooLong = WIFSIGNALED(Status) && WTERMSIG(Status) == SIGPROF;
    skip(Work.Units[0].Source,
         TooLong               ? TookTooLong
         : WIFSIGNALED(Status) ? "Python was ended by signal " + std::to_string(WTERMSIG(Status))
                               : "Python failed");
  }
  return 0;
}

int Lean::analyse() {
  if (Work.Units.empty())
    return 0;
  std::string Reports = folderOfReports();
  identify(Work, Py);
  if (!Reports.empty()) {
    takeCached(Work, Reports);
    if (Work.Units.empty())
      return 0;
    // Workers accept only sealed jobs.
    if ((isOn("INCC_DEFER") || isOn("INCC_QUEUE")) && !sealOf("").empty()) {
      // With INCC_DEFER a part of a build may have its own folder of reports, and its workers look
      // there.
      std::string Jobs = isOn("INCC_DEFER") ? Reports + "/.incc/jobs"
                                            : absolute(variable("INCC_QUEUE"), Work.Folder);
      if (!leave(Jobs))
        skip(Work.Units[0].Source, Jobs + ": " + strerror(errno));
      return 0;
    }
  }
  return analyseNow();
}

} // namespace

void incc::log(const std::string &Line) {
  std::string Text = "incc: " + Line + "\n";
  std::string File = variable("INCC_LOG");
  bool Written = !File.empty() && appendFile(File, Text);
  if (isOn("INCC_DEBUG") || (!Written && reportsToStdout()))
    writeAll(2, Text);
}

std::optional<Way> incc::wayOf(const Compiler &Compiler, const Command &Command) {
  if (Command.Unclear || Command.WritesStdout)
    return std::nullopt;
  // If PATH is unset, programs are searched in default places; setting it would change that.
  bool Wraps = familyOf(Compiler) == Family::Gcc && !keepsWrapperOut(Command) && getenv("PATH");
  // Output to a pipe or a device, such as /dev/null, can only be made by a second compilation.
  bool Gone = exists(Command.Output) && !isFile(Command.Output);
  if (Gone && (Command.Until == Command::Stop::Assembly || !Wraps))
    return std::nullopt;
  if (Wraps)
    return Way::Wrapper;
  if (Command.Until == Command::Stop::Assembly)
    return Way::Text;
  if (Command.Until == Command::Stop::Object)
    return Way::Object;
  return std::nullopt;
}

std::optional<Way> incc::wayOfLink(const Command &Command) {
  if (Command.Unclear || Command.WritesStdout)
    return std::nullopt;
  if (Command.Sources.empty())
    return Way::Link;
  for (const std::string &Source : Command.Sources)
    if (ending(Source) == "s" || ending(Source) == "S" || ending(Source) == "sx")
      return std::nullopt;
  return isLto(Command.Arguments) ? std::optional(Way::Link) : std::nullopt;
}

bool incc::compileLean(const Compiler &Compiler, const Words &Arguments, const Command &Command,
                       Way Way, const Python &Python) {
  std::string Scratch = makeScratch();
  if (Scratch.empty()) {
    log("warning: not analysed: no place for temporary files");
    return false;
  }
  Lean Run(Compiler, Arguments, Command, Way, Python, Scratch);
  std::optional<int> Ended = Run.compile();
  if (!Ended || (*Ended != 0 && isSubCommandMissing(Scratch))) {
    removeTree(Scratch);
    Run.Children.release();
    return false;
  }
  int Status = *Ended;
  // A failed write must not end this process.
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);
  int Code = 0;
  if (Status == 0 && !Run.Children.interrupted()) {
    Run.findUnits();
    Code = Run.analyse();
    if (Run.Children.interrupted()) {
      removeTree(Scratch);
      Processes::dieBy(Run.Children.interrupted());
    }
  }
  removeTree(Scratch);
  if (Status != 0)
    Processes::endAs(Status);
  exit(Code);
}
