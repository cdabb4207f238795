//===- watch.cpp - Surviving a crash of the Python part -------------------===//

#include "watch.h"

#include "files.h"
#include "processes.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace incc;

namespace {

/// Python's reports. Each is a letter, a number and a newline.
struct WatchReport {
  bool Ended = false;    ///< E: Python exits, or executes another program, on purpose
  pid_t Compiler = 0;    ///< P: the compiler's process ID
  bool Finished = false; ///< S: the compiler's status in waitpid(2)'s form
  int Status = 0;
};

WatchReport readReport(int Pipe) {
  std::string Text;
  // Another process may still hold the other end open without writing.
  fcntl(Pipe, F_SETFL, O_NONBLOCK);
  readAll(Pipe, Text);
  WatchReport Result;
  for (size_t Start = 0, End; (End = Text.find('\n', Start)) != Text.npos; Start = End + 1) {
    int Number = atoi(Text.c_str() + Start + 1);
    if (Text[Start] == 'E')
      Result.Ended = true;
    else if (Text[Start] == 'P')
      Result.Compiler = Number;
    else if (Text[Start] == 'S')
      Result.Finished = true, Result.Status = Number;
  }
  return Result;
}

/// Removes the temporary folders of an ended process (session.py and assembler.py name them).
void removeScratchOf(pid_t Process) {
  std::string Beginning = "incc-" + std::to_string(Process) + "-";
  for (const std::string &Place : {variable("TMPDIR"), std::string("/tmp")}) {
    DIR *Entries = Place.empty() ? nullptr : opendir(Place.c_str());
    if (!Entries)
      continue;
    Words Found;
    while (dirent *Entry = readdir(Entries))
      if (std::string_view(Entry->d_name).starts_with(Beginning))
        Found.push_back(Place + "/" + Entry->d_name);
    closedir(Entries);
    // Other users may create folders with such names there.
    for (const std::string &Folder : Found)
      if (isPrivate(Folder))
        removeTree(Folder);
  }
}

} // namespace

void incc::warn(const std::string &What) {
  std::string Line = "incc: warning: " + What + "\n", Log = variable("INCC_LOG");
  if (Log.empty() || !appendFile(Log, Line))
    writeAll(2, Line);
}

std::string incc::runWatched(const Python &Python, const Words &Argv, bool Strict) {
  int Pipe[2];
  if (Python.Interpreter.empty())
    return "python3: " + std::string(strerror(ENOENT));
  if (!openPipe(Pipe))
    return strerror(errno);
  // If Python ends, its child, the compiler, becomes ours.
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  Processes Children;
  fcntl(Pipe[1], F_SETFD, 0);
  bool Started =
      Children.start(Python.Interpreter, Argv, {{WatchVariable, std::to_string(Pipe[1])}}, "", "",
                     "", /*IsPython=*/true);
  int Error = errno;
  close(Pipe[1]);
  if (!Started) {
    close(Pipe[0]);
    Children.release();
    return Python.Interpreter + ": " + strerror(Error);
  }
  pid_t Process = Children.child();
  int Ended = Children.wait();
  WatchReport Report = readReport(Pipe[0]);
  close(Pipe[0]);
  if (Report.Ended || Children.interrupted())
    Processes::endAs(Ended);
  std::string Why = WIFSIGNALED(Ended)
                        ? "Python was ended by signal " + std::to_string(WTERMSIG(Ended))
                        : "Python failed";
  if (!Report.Compiler) {
    removeScratchOf(Process);
    Children.release();
    return Why;
  }
  if (!Report.Finished) {
    Children.adopt(Report.Compiler);
    Report.Status = Children.wait();
  }
  removeScratchOf(Process);
  if (Report.Status == 0 && !Children.interrupted()) {
    warn("not analysed: " + Why);
    exit(Strict ? 1 : 0);
  }
  Processes::endAs(Report.Status);
}

void incc::leaveWatch() {
  std::string Pipe = variable(WatchVariable);
  unsetenv(WatchVariable);
  int End = atoi(Pipe.c_str());
  if (End < 3)
    return;
  writeAll(End, "E\n");
  close(End);
}
