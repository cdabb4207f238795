//===- python.cpp - Starting the part of incc that is Python --------------===//

#include "python.h"

#include "files.h"

#include <string_view>

#include <sys/resource.h>
#include <sys/statvfs.h>

using namespace incc;

// What CMake knows: the interpreter, its version (3.11), and for a program that is run from the
// tree the folder with the package.
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

/// The path of a program in PATH, "" if there is none.
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
  // As pip installs it: for an environment, for a user (whose folder an isolated interpreter does
  // not look into), as Debian has it, or with --target.
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

/// Whether files may come out short: Python does not look whether its compiled modules were written
/// whole, and would not start again with what is left.
bool filesMayBeCutOff(const std::string &Place) {
  constexpr rlim_t Enough = 64 << 20;
  rlimit Limit;
  if (getrlimit(RLIMIT_FSIZE, &Limit) == 0 && Limit.rlim_cur < Enough)
    return true;
  struct statvfs Space;
  return !Place.empty() && statvfs(Place.c_str(), &Space) == 0 &&
         static_cast<unsigned long long>(Space.f_bavail) * Space.f_frsize < Enough;
}

/// The words of a command that runs a program of Python with the package's place in sys.path.
/// The interpreter takes no notice of its environment or of the working directory.
Words isolated(const Python &Python, const std::string &Program, const Words &Rest) {
  // Who interrupts a command before it can clean up wants no traceback.
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
                          std::string_view Otherwise) {
  std::string Program;
  Words Rest;
  if (Otherwise.empty()) {
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
    Rest = {ownPath(), std::string(Otherwise)};
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
