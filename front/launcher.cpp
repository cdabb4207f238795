//===- launcher.cpp - The commands incc-mca, incc-build … -----------------===//
//
// Each command but `incc` is Python. This program starts it isolated from
// Python's variables, the user's own packages and the working directory, which
// belong to the project that is built, not to incc. INCC_COMMAND is the
// command's name without incc- (driver/commands).
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
  // The command looks for other programs beside it, and behaves as the name that it is called by.
  std::string Name = folderOf(ownPath()) + "/" + CalledAs.substr(CalledAs.find_last_of('/') + 1);
  Words Command = installedCommand(Python, INCC_COMMAND, Name,
                                   Words(Values + std::min(Count, 1), Values + Count));
  // Until Python has started, it answers Ctrl-C with a traceback.
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
