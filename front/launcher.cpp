//===- launcher.cpp - Entry point of incc-mca, incc-build … ---------------===//
//
// Every command except `incc` is written in Python. This program starts it
// isolated from Python's environment variables, the user's site-packages and
// the working directory, which belong to the project being built. INCC_COMMAND
// is the command's name without `incc-` (a module of driver/commands).
//
//===----------------------------------------------------------------------===//

#include "files.h"
#include "processes.h"
#include "python.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <unistd.h>

using namespace incc;

int main(int Count, char **Values) {
  Python Python = findPython();
  std::string CalledAs = Count ? Values[0] : "incc-" INCC_COMMAND;
  // The command looks for other programs in its own folder, and takes its behaviour from the name
  // that it was called by.
  std::string Name = folderOf(ownPath()) + "/" + CalledAs.substr(CalledAs.find_last_of('/') + 1);
  Words Command = installedCommand(Python, INCC_COMMAND, Name,
                                   Words(Values + std::min(Count, 1), Values + Count));
  // Before incc's code runs, Python would answer Ctrl-C with a traceback.
  sigset_t Interrupts;
  sigemptyset(&Interrupts);
  sigaddset(&Interrupts, SIGINT);
  sigprocmask(SIG_BLOCK, &Interrupts, nullptr);
  std::vector<char *> Argv = pointers(Command);
  execv(Argv[0], Argv.data());
  writeAll(2, "incc-" INCC_COMMAND ": error: " +
                  (Python.Interpreter.empty() ? "no Python" : Python.Interpreter) + ": " +
                  strerror(errno) + "\n");
  return 127;
}
