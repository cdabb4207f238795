//===- watch.cpp - Outliving the part of incc that is Python --------------===//

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

/// What Python has told, each a letter, a number and the end of a line.
struct Told {
  bool Ended = false;    ///< E: it ends, or becomes another program, on purpose
  pid_t Compiler = 0;    ///< P: the compiler's process
  bool Finished = false; ///< S: the compiler's status, as waitpid(2) has it
  int Status = 0;
};

Told readTold(int Pipe) {
  std::string Text;
  // Somebody may have the other end still, and nothing to say.
  fcntl(Pipe, F_SETFL, O_NONBLOCK);
  readAll(Pipe, Text);
  Told Result;
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

/// Removes the temporary folders of a process that is no more (session.py, assembler.py name them).
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
    // Others may make folders of such names there.
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
  // The compiler is Python's child; should Python end, it becomes ours.
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
  Told Said = readTold(Pipe[0]);
  close(Pipe[0]);
  if (Said.Ended || Children.interrupted())
    Processes::endAs(Ended);
  std::string Why = WIFSIGNALED(Ended)
                        ? "Python was ended by signal " + std::to_string(WTERMSIG(Ended))
                        : "Python failed";
  if (!Said.Compiler) {
    removeScratchOf(Process);
    Children.release();
    return Why;
  }
  if (!Said.Finished) {
    Children.adopt(Said.Compiler);
    Said.Status = Children.wait();
  }
  removeScratchOf(Process);
  if (Said.Status == 0 && !Children.interrupted()) {
    warn("not analysed: " + Why);
    exit(Strict ? 1 : 0);
  }
  Processes::endAs(Said.Status);
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
