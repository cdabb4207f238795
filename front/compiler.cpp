//===- compiler.cpp - Finding the compiler that incc runs -----------------===//
//
// Compilers find their components by their own name: gcc called by a bare name
// looks itself up in PATH. incc therefore runs the compiler under the name that
// the user wrote. Where incc comes first in PATH under that name, it runs the
// compiler by its path instead.
//
//===----------------------------------------------------------------------===//

#include "compiler.h"

#include "files.h"
#include "names.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

using namespace incc;

namespace {

/// Limits recursion: two installations of incc that each find the other as the next gcc in PATH
/// would call each other forever.
constexpr int MaxDepth = 8;

/// Returns true if a file's contents are a program. Objects and libraries may have execute
/// permission, too.
bool holdsProgram(const std::string &Path) {
  unsigned char Start[18] = {};
  int File = open(Path.c_str(), O_RDONLY | O_CLOEXEC);
  if (File < 0)
    return access(Path.c_str(), X_OK) == 0; // executable but not readable
  ssize_t Count = read(File, Start, sizeof Start);
  close(File);
  if (Count == sizeof Start && memcmp(Start, "\177ELF", 4) == 0)
    return Start[16] != 1; // ET_REL; all supported machines are little-endian
  return Count >= 2 && Start[0] == '#' && Start[1] == '!';
}

/// Returns the path of a program: the name itself if it contains a slash, else its path in PATH, ""
/// if there is none. Sets `PassedOver` if the search skipped incc itself.
std::string findProgram(const std::string &Name, bool &PassedOver) {
  if (Name.find('/') != Name.npos)
    return isProgram(Name) ? Name : "";
  const char *Path = getenv("PATH");
  std::string_view Places = Path ? Path : "/bin:/usr/bin";
  while (true) {
    size_t Colon = Places.find(':');
    std::string_view Place = Places.substr(0, Colon);
    std::string File = std::string(Place.empty() ? "." : Place) + "/" + Name;
    if (isProgram(File)) {
      if (realPath(File) != ownPath())
        return File;
      PassedOver = true;
    }
    if (Colon == Places.npos)
      return "";
    Places.remove_prefix(Colon + 1);
  }
}

/// Returns true if a folder contains only links to incc. incc-build creates such a folder.
bool containsOnlyOwnLinks(const std::string &Folder) {
  DIR *Entries = opendir(Folder.c_str());
  if (!Entries)
    return false;
  bool Links = true;
  while (dirent *Entry = Links ? readdir(Entries) : nullptr) {
    std::string_view Name = Entry->d_name;
    if (Name != "." && Name != "..")
      Links = realPath(Folder + "/" + Entry->d_name) == ownPath();
  }
  closedir(Entries);
  return Links;
}

/// Removes folders of links to incc from PATH where they hide `Program`, so that a compiler that
/// looks itself up finds itself, as it would without incc. Returns false if another file still
/// hides it.
bool uncover(const std::string &Program) {
  // An empty PATH is another one than none, without which programs are looked for in /bin.
  if (!getenv("PATH"))
    return true;
  std::string Path = variable("PATH"), Left;
  bool First = true, Uncovered = true, Passed = false;
  for (size_t Start = 0; Start <= Path.size();) {
    size_t End = std::min(Path.find(':', Start), Path.size());
    std::string Place = Path.substr(Start, End - Start);
    std::string File = (Place.empty() ? "." : Place) + "/" + std::string(baseName(Program));
    Start = End + 1;
    Passed |= File == Program;
    if (!Passed && isProgram(File) && containsOnlyOwnLinks(Place))
      continue;
    Uncovered &= Passed || !isProgram(File);
    Left += (First ? "" : ":") + Place;
    First = false;
  }
  setenv("PATH", Left.c_str(), /*overwrite=*/1);
  return Uncovered;
}

/// Returns the compiler's name from the name of a link to incc: `gcc` for `incc-gcc` and `gcc`, ""
/// for `incc`.
std::string nameCalled(const std::string &CalledAs) {
  std::string_view Name = baseName(CalledAs);
  if (Name.starts_with("incc-"))
    return std::string(Name.substr(5));
  return Name == "incc" ? "" : std::string(Name);
}

/// Removes a leading compiler, with any launchers before it, from `Arguments` and returns it.
/// Returns an empty list if the first argument is no compiler. For `ccache incc` it returns the
/// launcher alone; the caller finds the compiler in another way.
Words takeLeadingCompiler(Words &Arguments) {
  size_t Count = 0;
  while (Count < Arguments.size()) {
    const std::string &Word = Arguments[Count];
    bool Launches = isLauncher(Word);
    // ccache accepts settings before the compiler: `ccache depend_mode=true gcc`.
    if (Count > 0 && !Launches && Word.find('=') != Word.npos && isalpha(Word[0])) {
      ++Count;
      continue;
    }
    if (Count > 0 && Word.ends_with("incc") && nameCalled(Word).empty()) {
      Words Result(Arguments.begin(), Arguments.begin() + Count);
      Arguments.erase(Arguments.begin(), Arguments.begin() + Count + 1);
      return Result;
    }
    // A link to incc (incc-gcc) means the compiler that it is named after.
    if (Word.empty() || Word[0] == '-' || (!Launches && !isCompilerName(nameCalled(Word))))
      break;
    bool PassedOver = false;
    std::string Path = findProgram(Word, PassedOver);
    bool IsProgram = Path.empty() ? PassedOver : holdsProgram(Path);
    // Without a file of its name, it is a compiler that is missing rather than an input.
    if (!IsProgram && exists(Word))
      break;
    ++Count;
    if (!Launches) {
      Words Result(Arguments.begin(), Arguments.begin() + Count);
      Arguments.erase(Arguments.begin(), Arguments.begin() + Count);
      return Result;
    }
  }
  return {};
}

/// Replaces incc by the real compiler's path in a command of ccache or sccache. Such a cache
/// identifies a compiler by its executable, so it would take incc for the compiler, and for the
/// same one whichever compiler incc runs. Other launchers need the name (distcc, on other
/// machines).
void bypassOwnInCaches(Words &Name) {
  if (Name.size() < 2 || (baseName(Name[0]) != "ccache" && baseName(Name[0]) != "sccache"))
    return;
  std::string &Last = Name.back();
  bool IsOwn = Last.find('/') != Last.npos && realPath(Last) == ownPath(), PassedOver = false;
  std::string Path = findProgram(IsOwn ? nameCalled(Last) : Last, PassedOver);
  if (!Path.empty() && (IsOwn || (PassedOver && !uncover(Path))))
    Last = Path;
}

} // namespace

int incc::depth() {
  std::string Text = variable("INCC_DEPTH");
  bool Decimal = !Text.empty() && Text.size() < 6 && std::all_of(Text.begin(), Text.end(), isdigit);
  return Decimal ? atoi(Text.c_str()) : 0;
}

void incc::setDepth() {
  setenv("INCC_DEPTH", std::to_string(depth() + 1).c_str(), /*overwrite=*/1);
}

Compiler incc::findCompiler(Words &Arguments, const std::string &Option,
                            const std::string &CalledAs, const std::string &Executed) {
  Compiler Found;
  if (!Executed.empty())
    uncover(Executed);
  if (!Executed.empty() && !isLauncher(Executed)) {
    Found.Path = Executed;
    Found.Name = {CalledAs};
    return Found;
  }
  auto fail = [&](std::string Message, int Status) {
    Found.Error = std::move(Message);
    Found.Status = Status;
    return Found;
  };
  if (depth() > MaxDepth)
    return fail(
        "the compilers found in PATH call incc again and again; set INCC_CC to the real one", 126);
  std::string Called = nameCalled(Executed.empty() ? CalledAs : Executed);
  bool Launched = false;
  // If incc is called by a link named after a launcher, the launcher belongs in front: `ccache gcc`
  // becomes `incc ccache gcc`.
  bool Launches = isLauncher(Called);
  if (Launches)
    Arguments.insert(Arguments.begin(), Called);
  if (Called.empty() || Launches) {
    Found.Name = takeLeadingCompiler(Arguments);
    Launched = !Found.Name.empty();
    if (Launches && !Launched)
      Arguments.erase(Arguments.begin());
  }
  // Ignore INCC_CC below another incc (INCC_CC="ccache gcc", where gcc is a link to incc): there
  // the called name is the right one.
  bool Open = Launched ? isLauncher(Found.Name.back()) : !Launches;
  std::string Setting = depth() == 0 ? variable("INCC_CC") : "";
  if (Setting.empty())
    Setting = Option;
  if (Open && !Setting.empty()) {
    std::string Error;
    Words Named = splitShell(Setting, Error);
    if (!Error.empty())
      return fail("cannot read the compiler's name '" + Setting + "': " + Error, 127);
    Found.Name.insert(Found.Name.end(), Named.begin(), Named.end());
    Open = Named.empty();
  }
  if (Found.Name.empty() || (Launched && Open))
    Found.Name.push_back(Called.empty() || Launched ? "cc" : Called);
  std::string &First = Found.Name[0];
  if (First.find('/') != First.npos) {
    if (exists(First) && realPath(First) == ownPath()) {
      if (!Launched)
        return fail(First + " is incc itself, not a compiler", 126);
      First = nameCalled(First);
    } else if (!isProgram(First)) {
      bool There = exists(First);
      return fail(First + (There ? ": not executable" : ": no such compiler"), There ? 126 : 127);
    }
  }
  if (Launched && First.starts_with("incc-"))
    First = nameCalled(First);
  bool PassedOver = false;
  Found.Path = findProgram(First, PassedOver);
  if (!Executed.empty()) {
    Found.Path = Executed;
    First = CalledAs;
  }
  if (Found.Path.empty())
    return fail(First + ": no such compiler in PATH", 127);
  if (PassedOver && !uncover(Found.Path))
    First = Found.Path;
  bypassOwnInCaches(Found.Name);
  return Found;
}

Family incc::familyOf(const Compiler &Compiler) {
  if (isLauncher(Compiler.Path))
    return Family::Launcher;
  // `cc` and `gcc` may be links to any compiler, so classify the target's name.
  std::string Real = realPath(Compiler.Path);
  if (isLauncher(Real))
    return Family::Launcher;
  if (isClangName(Real))
    return Family::Clang;
  unsigned char Start[4] = {};
  int File = open(Real.c_str(), O_RDONLY | O_CLOEXEC);
  if (File >= 0) {
    if (read(File, Start, sizeof Start) != sizeof Start)
      Start[0] = 0;
    close(File);
  }
  // Only a binary counts as gcc: a script of that name may start any program.
  if (isGccName(Real) && memcmp(Start, "\177ELF", 4) == 0)
    return Family::Gcc;
  return Family::Unknown;
}

void incc::become(const Compiler &Compiler, const Words &Arguments) {
  setDepth();
  std::vector<char *> Argv;
  for (const Words *Part : {&Compiler.Name, &Arguments})
    for (const std::string &Word : *Part)
      Argv.push_back(const_cast<char *>(Word.c_str()));
  Argv.push_back(nullptr);
  execv(Compiler.Path.c_str(), Argv.data());
}
