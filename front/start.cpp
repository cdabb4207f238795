//===- start.cpp - The commands incc-mca and incc-scan --------------------===//
//
// Becomes Python with one command of the package. It is started without its
// module `site`, which looks through all that is installed and takes longer
// than the rest of its start: this program knows where the package is. What
// else only `site` knows of is asked for when it is needed, by
// driver/start.py.
//
//===----------------------------------------------------------------------===//

#include "files.h"
#include "processes.h"
#include "python.h"

#include <cerrno>
#include <cstring>
#include <unistd.h>

using namespace incc;

// What CMake knows: the module of the command.
#ifndef INCC_COMMAND
#define INCC_COMMAND "mca"
#endif

namespace {

[[noreturn]] void fail(const std::string &Message) {
  writeAll(2, "incc-" INCC_COMMAND ": error: " + Message + "\n");
  _exit(127);
}

} // namespace

int main(int Count, char **Values) {
  Python Python = findPython();
  if (Python.Interpreter.empty())
    fail("there is no Python beside " + ownPath());
  // The name that it was called by chooses the face (llvm-mca).
  Words Arguments(Values, Values + Count);
  if (Arguments.empty())
    Arguments.push_back("incc-" INCC_COMMAND);
  Words Argv = commandOfPython(Python, INCC_COMMAND, Arguments);
  execv(Python.Interpreter.c_str(), pointers(Argv).data());
  fail(Python.Interpreter + ": " + strerror(errno));
}
