//===- sub.cpp - Interception of gcc's sub-commands -----------------------===//
//
// With `-wrapper`, gcc's driver starts its sub-commands through another
// program. That program is incc. It records the command of a compiler proper,
// keeps a copy of the text that goes to the assembler, and then replaces itself
// by the sub-command. The driver therefore waits for the right process, and
// reports the right process if it dies by a signal.
//
// The sub-command must not notice any of this. The driver passes its options to
// sub-commands in COLLECT_GCC_OPTIONS, which LTO writes into objects, and it
// prints the wrapper's name when a sub-command crashes. Therefore the wrapper
// has the name of a compiler proper, in a folder at the start of PATH, and the
// sub-command gets PATH and COLLECT_GCC_OPTIONS without it.
//
//===----------------------------------------------------------------------===//

#include "sub.h"

#include "files.h"
#include "processes.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

using namespace incc;

namespace {

/// gcc's compilers proper, which write assembly.
constexpr std::array<std::string_view, 13> Proper = {
    "cc1", "cc1plus", "cc1obj", "cc1objplus", "f951",  "gnat1", "d21",
    "go1", "cc1gm2",  "gm2",    "crab1",      "rust1", "cobol1"};

std::string notesOf(const std::string &Scratch) { return Scratch + "/subs"; }
std::string missingOf(const std::string &Scratch) { return Scratch + "/missing"; }

/// Records a sub-command with a single write, because the commands of a pipeline run concurrently.
void note(const std::string &Scratch, const SubCommand &Command) {
  std::string Text = {static_cast<char>(Command.Program)};
  Text += std::to_string(Command.Argv.size()) + '\0';
  Text += Command.Kept + '\0';
  for (const std::string &Word : Command.Argv)
    Text += Word + '\0';
  appendFile(notesOf(Scratch), Text);
}

/// Copies a pipe to `To` and to a file. Ends when the reader of `To` does, so that the writer sees
/// a broken pipe as it would without this process.
[[noreturn]] void copyPipe(int From, int To, const std::string &Kept) {
  int File = open(Kept.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  static char Buffer[1 << 16];
  ssize_t Count;
  while ((Count = read(From, Buffer, sizeof Buffer)) > 0 || (Count < 0 && errno == EINTR)) {
    if (Count < 0)
      continue;
    if (File >= 0 && !writeAll(File, {Buffer, static_cast<size_t>(Count)})) {
      // The disk is full. Remove the file, since an incomplete text must not be analysed.
      close(File);
      File = -1;
      unlink(Kept.c_str());
    }
    if (!writeAll(To, {Buffer, static_cast<size_t>(Count)}))
      break;
  }
  _exit(0);
}

/// Redirects our standard output through a process that keeps a copy.
bool keepOutput(const std::string &Kept) {
  int Pipe[2];
  if (!openPipe(Pipe))
    return false;
  pid_t Process = fork();
  if (Process < 0) {
    close(Pipe[0]);
    close(Pipe[1]);
    return false;
  }
  if (Process == 0) {
    close(Pipe[1]);
    // Close standard error: a program that reads the compiler's messages to their end must not wait
    // for this process.
    close(2);
    signal(SIGPIPE, SIG_IGN);
    copyPipe(Pipe[0], 1, Kept);
  }
  dup2(Pipe[1], 1);
  close(Pipe[0]);
  close(Pipe[1]);
  return true;
}

void hideWrapper(const std::string &Scratch) {
  unsetenv(SubVariable);
  std::string Path = variable("PATH");
  std::string Own = Scratch + "/bin:";
  if (Path.starts_with(Own))
    setenv("PATH", Path.c_str() + Own.size(), /*overwrite=*/1);
  std::string Options = variable("COLLECT_GCC_OPTIONS");
  // '-wrapper' 'cc1,--incc-sub' and a blank, as gcc's set_collect_gcc_options quotes them.
  size_t Start = Options.find("'-wrapper' '");
  while (Start != Options.npos) {
    size_t End = Options.find('\'', Start + strlen("'-wrapper' '"));
    if (End == Options.npos)
      break;
    if (std::string_view(Options).substr(0, End).ends_with("," + std::string(SubArgument))) {
      Options.erase(Start, End + 1 - Start + (End + 1 < Options.size()));
      setenv("COLLECT_GCC_OPTIONS", Options.c_str(), /*overwrite=*/1);
      break;
    }
    Start = Options.find("'-wrapper' '", End);
  }
}

} // namespace

std::string incc::valueOf(const Words &Argv, std::string_view Option) {
  for (size_t I = Argv.size(); I-- > 1;)
    if (Argv[I - 1] == Option)
      return Argv[I];
  return "";
}

std::string incc::assemblerInput(const Words &Argv) {
  const std::string &Last = Argv.back();
  bool OfOption = Argv.size() > 1 && Argv[Argv.size() - 2] == "-o";
  return Argv.size() == 1 || Last.starts_with("-") || OfOption ? "" : Last;
}

void incc::runSubCommand(const Words &Argv, const std::string &Scratch) {
  hideWrapper(Scratch);
  // A driver that is killed does not stop its sub-commands, which would go on writing into our
  // folder.
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  std::string_view Program = Argv.empty() ? std::string_view() : baseName(Argv[0]);
  // A limit on file sizes must end the sub-command, not this process.
  struct sigaction Ignored = {}, Before;
  Ignored.sa_handler = SIG_IGN;
  sigaction(SIGXFSZ, &Ignored, &Before);
  std::string Kept = Scratch + "/text." + std::to_string(getpid());
  if (std::find(Proper.begin(), Proper.end(), Program) != Proper.end()) {
    bool Piped = valueOf(Argv, "-o") == "-";
    note(Scratch, {SubCommand::Compiler, Piped && keepOutput(Kept) ? Kept : "", Argv});
  } else if (Program == "as" || Program.ends_with("-as")) {
    std::string File = assemblerInput(Argv);
    // A hard link is not enough: the driver writes the next source's text to the same file.
    bool Keeps = !File.empty() && isFile(File) && copyFile(File, Kept);
    note(Scratch, {SubCommand::Assembler, Keeps ? Kept : "", Argv});
  }
  sigaction(SIGXFSZ, &Before, nullptr);
  if (!Argv.empty())
    execvp(Argv[0].c_str(), pointers(Argv).data());
  // The driver will report this itself, in the user's language, when it runs again without incc.
  writeFile(missingOf(Scratch), "");
  _exit(1);
}

bool incc::isSubCommandMissing(const std::string &Scratch) { return exists(missingOf(Scratch)); }

std::vector<SubCommand> incc::subCommands(const std::string &Scratch) {
  std::vector<SubCommand> Result;
  std::string Notes;
  if (!readFile(notesOf(Scratch), Notes))
    return Result;
  size_t Position = 0;
  auto next = [&] {
    size_t End = Notes.find('\0', Position);
    End = End == Notes.npos ? Notes.size() : End;
    std::string Text = Notes.substr(Position, End - Position);
    Position = End + 1;
    return Text;
  };
  while (Position < Notes.size()) {
    std::string Head = next();
    SubCommand Command;
    Command.Program = static_cast<SubCommand::Kind>(Head[0]);
    Command.Kept = next();
    for (int Count = atoi(Head.c_str() + 1); Count > 0 && Position < Notes.size(); --Count)
      Command.Argv.push_back(next());
    Result.push_back(std::move(Command));
  }
  return Result;
}
