//===- command.cpp - Parsing the compiler's command line ------------------===//
//
// incc needs certainty only where it concludes that a command compiles nothing.
// In every other case it asks the compiler itself, or looks at the programs
// that the driver starts. The tables come from gcc/common.opt,
// gcc/c-family/c.opt, gcc/gcc.cc (the suffixes of default_compilers) and
// clang/Driver/Options.td, Types.def.
//
//===----------------------------------------------------------------------===//

#include "command.h"

#include <algorithm>
#include <cstdlib>

using namespace incc;

namespace {

/// Options that take the next argument as a name, or pass it to another program. That argument does
/// not belong to incc, even if it looks like one of incc's options.
constexpr std::string_view TakesNext[] = {
    "-Xlinker", "-Xassembler", "-Xpreprocessor", "-Xclang", "-Xanalyzer", "-mllvm", "-o",
    "-D",       "-I",          "-include"};

constexpr std::string_view OwnOptions[] = {"--analyze", "--emit-marked", "--incc-cc", "--marker",
                                           "--try"};

/// Options in the compiler's form that control incc's own warnings.
constexpr std::string_view OwnWarnings[] = {"-Wincc", "-Wno-incc", "-Werror=incc",
                                            "-Wno-error=incc"};

/// Options whose value may be the next argument. If an option is missing here, its value counts as
/// a source if it looks like one, which costs time and does no other harm.
constexpr std::string_view HasValue[] = {"-A",
                                         "-B",
                                         "-D",
                                         "-F",
                                         "-G",
                                         "-I",
                                         "-J",
                                         "-L",
                                         "-MF",
                                         "-MJ",
                                         "-MQ",
                                         "-MT",
                                         "-T",
                                         "-Tbss",
                                         "-Tdata",
                                         "-Ttext",
                                         "-U",
                                         "-Xanalyzer",
                                         "-Xassembler",
                                         "-Xclang",
                                         "-Xlinker",
                                         "-Xopenmp-target",
                                         "-Xpreprocessor",
                                         "-arch",
                                         "-aux-info",
                                         "-cxx-isystem",
                                         "-dumpbase",
                                         "-dumpbase-ext",
                                         "-dumpdir",
                                         "-e",
                                         "-fintrinsic-modules-path",
                                         "-framework",
                                         "-h",
                                         "-idirafter",
                                         "-imacros",
                                         "-imultiarch",
                                         "-imultilib",
                                         "-include",
                                         "-include-pch",
                                         "-install_name",
                                         "-iprefix",
                                         "-iquote",
                                         "-isysroot",
                                         "-isystem",
                                         "-isystem-after",
                                         "-iwithprefix",
                                         "-iwithprefixbefore",
                                         "-ivfsoverlay",
                                         "-l",
                                         "-mllvm",
                                         "-o",
                                         "-rpath",
                                         "-serialize-diagnostics",
                                         "--serialize-diagnostics",
                                         "-target",
                                         "--target",
                                         "-u",
                                         "-wrapper",
                                         "-x",
                                         "-z",
                                         "--param",
                                         "--sysroot",
                                         "--include",
                                         "--output",
                                         "--language",
                                         "-specs",
                                         "-gcc-toolchain",
                                         "-mthread-model",
                                         "-module-dependency-dir",
                                         "-working-directory"};

/// Options that keep the compiler from generating code, whatever the other arguments are.
constexpr std::string_view Compileless[] = {"-###",
                                            "-E",
                                            "-M",
                                            "-MM",
                                            "--preprocess",
                                            "--dependencies",
                                            "--user-dependencies",
                                            "-fsyntax-only",
                                            "--version",
                                            "--help",
                                            "-help",
                                            "--target-help",
                                            "-dumpversion",
                                            "-dumpfullversion",
                                            "-dumpmachine",
                                            "-dumpspecs",
                                            "-emit-ast",
                                            "--precompile",
                                            "--analyze",
                                            "-cc1",
                                            "-cc1as"};
constexpr std::string_view CompilelessBeginnings[] = {"-print-", "--print-",
                                                      "--help=", "-fsyntax-only="};

constexpr std::string_view SourceEndings[] = {
    // C, C++, Objective-C, assembly
    "c", "i", "cc", "cp", "cxx", "cpp", "CC", "CXX", "CPP", "c++", "C", "ii", "m", "mi", "mm", "M",
    "mii", "s", "S", "sx", "asm",
    // C++ modules and what clang has read of sources
    "cppm", "ixx", "c++m", "cxxm", "ccm", "iim", "pcm", "ast",
    // Fortran
    "f", "for", "ftn", "fi", "F", "FOR", "FTN", "fpp", "FPP", "f90", "f95", "f03", "f08", "fii",
    "F90", "F95", "F03", "F08", "cuf", "CUF",
    // other languages that the drivers support
    "d", "dd", "go", "ads", "adb", "mod", "rs", "cob", "cbl", "cu", "cui", "hip", "hipi", "cl",
    "clcpp", "hlsl", "ll", "bc"};

template <size_t N> bool isOneOf(std::string_view Word, const std::string_view (&Words)[N]) {
  return std::find(Words, Words + N, Word) != Words + N;
}

bool isStdout(std::string_view Name) {
  return Name == "-" || Name == "/dev/stdout" || Name == "/dev/fd/1" || Name == "/proc/self/fd/1";
}

/// Returns true if the argument makes the assembler print a listing to standard output (-Wa,-al).
/// With =FILE the listing goes to that file.
bool listsToStdout(std::string_view Argument) {
  if (!Argument.starts_with("-Wa,"))
    return false;
  size_t Comma = Argument.find(',');
  while (Comma != Argument.npos) {
    size_t Next = Argument.find(',', Comma + 1);
    std::string_view Word =
        Argument.substr(Comma + 1, Next == Argument.npos ? Next : Next - Comma - 1);
    if (Word.starts_with("-a") && !Word.starts_with("-alt") &&
        Word.find_first_not_of("-acdghlmns") == Word.npos)
      return true;
    Comma = Next;
  }
  return false;
}

} // namespace

bool incc::isStdin(std::string_view Name) {
  return Name == "-" || Name == "/dev/stdin" || Name == "/dev/fd/0" || Name == "/proc/self/fd/0";
}

bool incc::isOwn(const std::string &Argument) {
  if (isOneOf(Argument, OwnWarnings))
    return true;
  if (!Argument.starts_with("--"))
    return false;
  std::string_view Name = std::string_view(Argument).substr(0, Argument.find('='));
  return isOneOf(Name, OwnOptions) || Name.starts_with("--analyze-");
}

void incc::split(const Words &Arguments, Words &Own, Words &Rest) {
  bool IsOperand = false;
  for (const std::string &Argument : Arguments) {
    if (!IsOperand && isOwn(Argument)) {
      Own.push_back(Argument);
      continue;
    }
    Rest.push_back(Argument);
    IsOperand = isOneOf(Argument, TakesNext);
  }
}

bool Command::has(std::initializer_list<std::string_view> Options) const {
  return std::any_of(Arguments.begin(), Arguments.end(), [&](const std::string &Argument) {
    return std::find(Options.begin(), Options.end(), Argument) != Options.end();
  });
}

std::string Command::last(std::initializer_list<std::string_view> Beginnings) const {
  for (size_t I = Arguments.size(); I-- > 0;)
    for (std::string_view Beginning : Beginnings)
      if (Arguments[I].starts_with(Beginning))
        return Arguments[I];
  return "";
}

std::string Command::outputOf(const std::string &Source) const {
  if (!Output.empty())
    return Output;
  if (Until == Stop::Link)
    return "a.out";
  std::string_view Base = baseName(Source);
  std::string Stem(Base.substr(0, Base.rfind('.')));
  return Stem + (Until == Stop::Object ? ".o" : ".s");
}

bool incc::isTrial(const Command &Command, const std::string &Folder) {
  // The folder is tested separately, because the sources of a test may be CMake's own
  // (CMakeCCompilerABI.c) or the project's (try_run).
  auto isTrialPath = [](const std::string &Path) {
    for (std::string_view Part :
         {"/CMakeFiles/CMakeScratch/", "/CMakeFiles/CMakeTmp/", "/CMakeFiles/_CMakeLTOTest-",
          "/CMakeFiles/FortranCInterface/", "/CompilerIdC", "/CompilerIdFortran/",
          "/CompilerIdOBJC", "/meson-private/"})
      if (Path.find(Part) != Path.npos)
        return true;
    return false;
  };
  auto isTrialFile = [&](const std::string &File) {
    std::string_view Name = baseName(File);
    return Name == "conftest" || Name.starts_with("conftest.") ||
           isTrialPath(absolute(File, Folder));
  };
  if (isTrialPath(Folder + "/") || (!Command.Output.empty() && isTrialFile(Command.Output)))
    return true;
  // kbuild and scripts test options on an empty source, or discard the output of a line of code.
  auto isNothing = [&](const std::string &Source) {
    return Source == "/dev/null" || (Source == "-" && Command.Output == "/dev/null");
  };
  if (!Command.Sources.empty() &&
      std::all_of(Command.Sources.begin(), Command.Sources.end(), isNothing))
    return true;
  return !Command.Sources.empty() &&
         std::all_of(Command.Sources.begin(), Command.Sources.end(), isTrialFile);
}

Command incc::readCommand(const Words &Arguments) {
  Command Read;
  Read.Arguments = expanded(Arguments, Read.Unclear);
  bool Compileless = false, Inputs = false, OnlyNames = false;
  std::string Language;
  const Words &All = Read.Arguments;
  for (size_t I = 0; I < All.size(); ++I) {
    const std::string &Argument = All[I];
    if (OnlyNames || Argument.empty() || Argument[0] != '-' || Argument == "-") {
      Inputs = true;
      bool Header = Language.find("-header") != Language.npos;
      bool Named = !Language.empty() && Language != "none";
      if (!Header && (Named || Argument == "-" || isOneOf(ending(Argument), SourceEndings)))
        Read.Sources.push_back(Argument);
      // An assembler reads it by itself: there is no file to keep.
      Read.Unclear |= Language == "assembler" && isStdin(Argument);
    } else if (Argument == "--") {
      OnlyNames = true;
    } else if (isOneOf(Argument, HasValue) || Argument.starts_with("-Xarch_")) {
      if (++I == All.size())
        break;
      if (Argument == "-x" || Argument == "--language")
        Language = All[I];
      else if (Argument == "-o" || Argument == "--output")
        Read.Output = All[I];
      else if (Argument.starts_with("-MF"))
        Read.WritesStdout |= isStdout(All[I]);
    } else if (Argument.starts_with("-x")) {
      Language = Argument.substr(2);
    } else if (Argument.starts_with("-o") && !Argument.starts_with("-objc") &&
               !Argument.starts_with("-opt")) {
      Read.Output = Argument.substr(2);
    } else if (Argument == "-c" || Argument == "--compile") {
      if (Read.Until == Command::Stop::Link)
        Read.Until = Command::Stop::Object;
    } else if (Argument == "-S" || Argument == "--assemble") {
      Read.Until = Command::Stop::Assembly;
    } else if (isOneOf(Argument, ::Compileless) ||
               std::any_of(std::begin(CompilelessBeginnings), std::end(CompilelessBeginnings),
                           [&](std::string_view B) { return Argument.starts_with(B); })) {
      Compileless = true;
    } else if (Argument == "-flto" || Argument.starts_with("-flto=") || Argument == "-fno-lto") {
      Read.Lto = Argument != "-fno-lto";
    } else if (listsToStdout(Argument)) {
      Read.WritesStdout = true;
    }
  }
  Read.WritesStdout |= isStdout(Read.Output);
  Read.HasInputOrAction = Compileless || Inputs;
  // clang's driver also applies this variable's edits to the arguments of response files.
  Read.Unclear |= getenv("CCC_OVERRIDE_OPTIONS") != nullptr;
  Read.Links = Inputs && !Compileless && Read.Until == Command::Stop::Link;
  Read.CompilesNothing = Compileless || (Read.Sources.empty() && !Read.Unclear);
  return Read;
}
