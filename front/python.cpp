//===- python.cpp - Starting the Python part of incc ----------------------===//

#include "python.h"

#include "files.h"

#include <cstdlib>
#include <string_view>

#include <sys/resource.h>
#include <sys/statvfs.h>

using namespace incc;

// Set by CMake: the interpreter, its version (3.11), and for a program that runs from the source
// tree the folder that contains the package.
#ifndef INCC_PYTHON
#define INCC_PYTHON ""
#endif
#ifndef INCC_PYTHON_VERSION
#define INCC_PYTHON_VERSION ""
#endif
#ifndef INCC_PLACE
#define INCC_PLACE ""
#endif

namespace {

constexpr const char *Packages = "/lib/python" INCC_PYTHON_VERSION "/site-packages";

/// Returns the path of a program in PATH, "" if there is none.
std::string inPath(const std::string &Name) {
  std::string Variable = variable("PATH");
  std::string_view Places = Variable;
  while (!Places.empty()) {
    size_t Colon = Places.find(':');
    std::string File = std::string(Places.substr(0, Colon)) + "/" + Name;
    if (Places[0] == '/' && isProgram(File))
      return File;
    Places.remove_prefix(Colon == Places.npos ? Places.size() : Colon + 1);
  }
  return "";
}

} // namespace

Python incc::findPython() {
  Python Found;
  std::string Folder = folderOf(ownPath());
  Found.Interpreter = Folder + "/python3";
  if (!isProgram(Found.Interpreter))
    Found.Interpreter = INCC_PYTHON;
  if (!isProgram(Found.Interpreter))
    Found.Interpreter = inPath("python" INCC_PYTHON_VERSION);
  // The folders into which pip installs: for an environment, for a user (a folder that an isolated
  // interpreter does not search), on Debian, and with --target.
  std::string Above = folderOf(Folder);
  for (const std::string &Place :
       {std::string(INCC_PLACE), Above + Packages,
        Above + "/lib64/python" INCC_PYTHON_VERSION "/site-packages",
        Above + "/lib/python" INCC_PYTHON_VERSION "/dist-packages", Above}) {
    if (Place.empty() || !isFile(Place + "/incc/driver/commands/incc.py"))
      continue;
    Found.Place = Place;
    Found.Package = Place + "/incc";
    break;
  }
  return Found;
}

namespace {

/// Returns true if files may be truncated when they are written. Python does not check that it
/// wrote a compiled module completely, and could not start again with a truncated one.
bool filesMayBeCutOff(const std::string &Place) {
  constexpr rlim_t Enough = 64 << 20;
  rlimit Limit;
  if (getrlimit(RLIMIT_FSIZE, &Limit) == 0 && Limit.rlim_cur < Enough)
    return true;
  struct statvfs Space;
  return !Place.empty() && statvfs(Place.c_str(), &Space) == 0 &&
         static_cast<unsigned long long>(Space.f_bavail) * Space.f_frsize < Enough;
}

/// Renames the variables from which even an isolated interpreter takes the place of its modules.
/// incc-build gives them back to the build (driver/commands/build.py).
void hideVariables() {
  for (std::string Name : {"PYTHONEXECUTABLE", "__PYVENV_LAUNCHER__"}) {
    if (const char *Value = std::getenv(Name.c_str())) {
      setenv(("INCC_HIDDEN_" + Name).c_str(), Value, /*overwrite=*/1);
      unsetenv(Name.c_str());
    }
  }
}

/// Returns a command that runs a Python program with the package's folder in sys.path. The
/// interpreter ignores its environment variables and the working directory.
Words isolated(const Python &Python, const std::string &Program, const Words &Rest) {
  hideVariables();
  // A user who interrupts a command before it can clean up should see no traceback.
  std::string Start = "import signal, sys\n"
                      "if signal.getsignal(signal.SIGINT) == signal.default_int_handler:\n"
                      "  signal.signal(signal.SIGINT, signal.SIG_DFL)\n"
                      "signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])\n"
                      "place = sys.argv.pop(1)\n"
                      "if place and place not in sys.path: sys.path.insert(0, place)\n";
  Words Result = {Python.Interpreter, filesMayBeCutOff(Python.Package) ? "-IB" : "-I", "-c",
                  Start + Program, Python.Place};
  Result.insert(Result.end(), Rest.begin(), Rest.end());
  return Result;
}

std::string importOf(const std::string &Module, const std::string &Function) {
  return "from incc.driver.commands." + Module + " import " + Function + " as main\n";
}

} // namespace

Words incc::pythonCommand(const Python &Python, const std::string &Module,
                          const std::string &Function, const Words &Arguments,
                          std::string_view Fallback) {
  std::string Program;
  Words Rest;
  if (Fallback.empty()) {
    Program = importOf(Module, Function);
  } else {
    Program = "front, otherwise = sys.argv[1:3]\n"
              "del sys.argv[1:3]\n"
              "try: " +
              importOf(Module, Function) +
              "except Exception as error:\n"
              "  import os\n"
              "  why = ' '.join(f'{type(error).__name__}: {error}'.split())\n"
              "  os.execv(front, [front, otherwise, why, *sys.argv[1:]])\n";
    Rest = {ownPath(), std::string(Fallback)};
  }
  Rest.insert(Rest.end(), Arguments.begin(), Arguments.end());
  return isolated(Python, Program + "sys.exit(main(sys.argv[1:]))", Rest);
}

Words incc::installedCommand(const Python &Python, const std::string &Module,
                             const std::string &Name, const Words &Arguments) {
  Words Rest = {Name};
  Rest.insert(Rest.end(), Arguments.begin(), Arguments.end());
  return isolated(Python, "del sys.argv[0]\n" + importOf(Module, "command") + "sys.exit(main())",
                  Rest);
}
