//===- preload.cpp - Intercepting compilers called by path ----------------===//
//
// incc-build loads this library into the programs of a build (LD_PRELOAD). When
// one of them is about to execute a compiler, the library executes `incc
// --incc-exec PATH NAME ARGUMENT...` instead, and incc runs the compiler under
// the name that the program gave it (main.cpp). In any unusual situation the
// library makes the original call unchanged.
//
// The functions may run between vfork and exec, and in several threads at once.
// Therefore they prepare everything when the library is loaded, write only to
// the stack, and make only system calls. The library depends only on the C
// library, in any version.
//
// A program that cannot load the library is started without it. The loader
// would complain if the program is for another machine or C library;
// AddressSanitizer would complain if its run-time library is not the first one.
// In programs that contain a sanitizer's run-time library this library does
// nothing.
//
//===----------------------------------------------------------------------===//

#include "names.h"

#include <alloca.h>
#include <cerrno>
#include <climits>
#include <cstdarg>
#include <cstdint>
#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <spawn.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

extern "C" {
extern char **environ;
/// This library's ELF header, a symbol that the linker defines.
extern const ElfW(Ehdr) __ehdr_start __attribute__((visibility("hidden")));
/// A function of every sanitizer's run-time library, null in programs without one.
void __sanitizer_report_error_summary(const char *) __attribute__((weak));
}

namespace {

using Strings = char *const *;

/// The limit of pointers in arrays that are copied to the stack. A call with more is left alone.
constexpr size_t MostPointers = 1 << 15;

constexpr char Preload[] = "LD_PRELOAD=";
constexpr char ProgramVariable[] = "INCC_PROGRAM=";
constexpr char DepthVariable[] = "INCC_DEPTH=";

// --- state that is prepared when the library is loaded -----------------------------------------

decltype(&execve) RealExecve;
decltype(&execvpe) RealExecvpe;
decltype(&posix_spawn) RealSpawn, RealSpawnp;

/// The path of `incc`, "" if it is unknown. Then every call is left alone.
const char *Program = "";
/// The identity of the file `Program`, which does not depend on links.
struct stat ProgramFile;
/// This library's path, as it stands in LD_PRELOAD.
const char *Library = "";
/// The path of this process's loader (PT_INTERP).
const char *Loader = "";
/// incc's variables, to be restored if a process has cleared its environment.
constexpr size_t MostVariables = 40;
const char *Variables[MostVariables];
size_t VariableCount;
/// Storage for copies of these strings, since a process may overwrite its environment.
char Store[1 << 14];
size_t Stored;

bool startsWith(const char *Text, const char *Beginning) {
  return strncmp(Text, Beginning, strlen(Beginning)) == 0;
}

const char *stored(const char *Text, size_t Length) {
  if (Length >= sizeof Store - Stored)
    return nullptr;
  char *Copy = Store + Stored;
  memcpy(Copy, Text, Length);
  Copy[Length] = 0;
  Stored += Length + 1;
  return Copy;
}

/// Returns the value of a variable, null if it is not set. `Name` ends in "=".
const char *valueIn(Strings Environment, const char *Name) {
  for (; Environment && *Environment; ++Environment)
    if (startsWith(*Environment, Name))
      return *Environment + strlen(Name);
  return nullptr;
}

const char *ownInterpreter() {
  auto *Header = reinterpret_cast<const ElfW(Phdr) *>(getauxval(AT_PHDR));
  size_t Count = getauxval(AT_PHNUM);
  uintptr_t Base = 0;
  for (size_t I = 0; Header && I < Count; ++I)
    if (Header[I].p_type == PT_PHDR)
      Base = reinterpret_cast<uintptr_t>(Header) - Header[I].p_vaddr;
  for (size_t I = 0; Header && I < Count; ++I)
    if (Header[I].p_type == PT_INTERP)
      return reinterpret_cast<const char *>(Base + Header[I].p_vaddr);
  return "";
}

/// Returns true if a value of LD_PRELOAD contains a library.
bool names(const char *Libraries, const char *Library) {
  size_t Length = strlen(Library);
  const char *Found = Libraries ? strstr(Libraries, Library) : nullptr;
  return Found && (Found[Length] == 0 || strchr(": ", Found[Length]));
}

__attribute__((constructor)) void prepare() {
  static bool Done;
  if (Done)
    return;
  Done = true;
  int Error = errno;
  RealExecve = reinterpret_cast<decltype(RealExecve)>(dlsym(RTLD_NEXT, "execve"));
  RealExecvpe = reinterpret_cast<decltype(RealExecvpe)>(dlsym(RTLD_NEXT, "execvpe"));
  RealSpawn = reinterpret_cast<decltype(RealSpawn)>(dlsym(RTLD_NEXT, "posix_spawn"));
  RealSpawnp = reinterpret_cast<decltype(RealSpawnp)>(dlsym(RTLD_NEXT, "posix_spawnp"));
  // Sanitizers replace functions that this library calls, and do not know its memory.
  if (__sanitizer_report_error_summary)
    return;
  Loader = ownInterpreter();
  Dl_info Own;
  const char *Entry = nullptr;
  if (dladdr(reinterpret_cast<void *>(&prepare), &Own) && Own.dli_fname &&
      names(valueIn(environ, Preload), Own.dli_fname))
    Entry = stored(Own.dli_fname, strlen(Own.dli_fname));
  bool Complete = Entry != nullptr;
  for (char **Variable = environ; Variable && *Variable; ++Variable) {
    if (!startsWith(*Variable, "INCC_"))
      continue;
    const char *Copy = stored(*Variable, strlen(*Variable));
    Complete = Complete && Copy && VariableCount < MostVariables;
    if (!Complete)
      break;
    Variables[VariableCount++] = Copy;
  }
  const char *Path = valueIn(environ, ProgramVariable);
  if (Complete && Path && stat(Path, &ProgramFile) == 0) {
    Library = Entry;
    Program = Variables[0];
    for (size_t I = 0; I < VariableCount; ++I)
      if (startsWith(Variables[I], ProgramVariable))
        Program = Variables[I] + strlen(ProgramVariable);
  }
  errno = Error;
}

// --- the program to be executed ----------------------------------------------------------------

/// The properties of a file as a program.
struct Executable {
  /// The kernel can execute the file.
  bool Runs = false;
  /// This library cannot be loaded into the program.
  bool Refuses = false;
};

/// Returns true if the program depends on a sanitizer's run-time library, which checks the order of
/// loaded libraries.
bool isSanitized(int File, const ElfW(Phdr) * Headers, size_t Count, const ElfW(Phdr) & Dynamic) {
  auto offsetOf = [&](uintptr_t Address) -> off_t {
    for (size_t I = 0; I < Count; ++I)
      if (Headers[I].p_type == PT_LOAD && Address - Headers[I].p_vaddr < Headers[I].p_filesz)
        return Address - Headers[I].p_vaddr + Headers[I].p_offset;
    return -1;
  };
  constexpr size_t Most = 64;
  ElfW(Dyn) Entries[Most];
  size_t Size = Dynamic.p_filesz < sizeof Entries ? Dynamic.p_filesz : sizeof Entries;
  ssize_t Got = pread(File, Entries, Size, Dynamic.p_offset);
  size_t Read = Got > 0 ? Got / sizeof Entries[0] : 0;
  off_t Names = -1;
  for (size_t I = 0; I < Read; ++I)
    if (Entries[I].d_tag == DT_STRTAB)
      Names = offsetOf(Entries[I].d_un.d_ptr);
  for (size_t I = 0; I < Read && Names >= 0 && Entries[I].d_tag == DT_NEEDED; ++I) {
    char Name[32] = {};
    if (pread(File, Name, sizeof Name - 1, Names + Entries[I].d_un.d_val) <= 0)
      break;
    for (const char *Runtime :
         {"libasan.", "libhwasan.", "liblsan.", "libtsan.", "libubsan.", "libclang_rt."})
      if (startsWith(Name, Runtime))
        return true;
  }
  return false;
}

Executable inspected(const char *Path, int Level = 0) {
  Executable Found;
  int File = open(Path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (File < 0)
    return Found;
  alignas(ElfW(Ehdr)) char Start[1024] = {};
  ssize_t Size = pread(File, Start, sizeof Start - 1, 0);
  ElfW(Ehdr) Header;
  memcpy(&Header, Start, sizeof Header);
  if (Size > 2 && Start[0] == '#' && Start[1] == '!') {
    // The interpreter's path ends at a blank or at the end of the line.
    char *Interpreter = Start + 2 + strspn(Start + 2, " \t");
    Interpreter[strcspn(Interpreter, " \t\n")] = 0;
    close(File);
    // The kernel follows up to four levels of scripts.
    return Level < 4 ? inspected(Interpreter, Level + 1) : Found;
  }
  if (Size > static_cast<ssize_t>(sizeof Header) && memcmp(Header.e_ident, ELFMAG, SELFMAG) == 0) {
    constexpr unsigned char Class = sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32;
    bool Same = Header.e_ident[EI_CLASS] == Class && Header.e_machine == __ehdr_start.e_machine;
    Found.Runs = Same;
    Found.Refuses = !Same;
    auto *Headers = reinterpret_cast<const ElfW(Phdr) *>(Start + Header.e_phoff);
    size_t End = Header.e_phoff + size_t(Header.e_phnum) * sizeof Headers[0];
    bool Whole = Same && Header.e_phoff % alignof(ElfW(Phdr)) == 0 && End <= size_t(Size);
    for (size_t I = 0; Whole && I < Header.e_phnum; ++I) {
      if (Headers[I].p_type == PT_INTERP) {
        char Name[128] = {};
        bool Read = pread(File, Name, sizeof Name - 1, Headers[I].p_offset) > 0;
        Found.Refuses |= !Read || strcmp(Name, Loader) != 0;
      } else if (Headers[I].p_type == PT_DYNAMIC) {
        Found.Refuses |= isSanitized(File, Headers, Header.e_phnum, Headers[I]);
      }
    }
  }
  close(File);
  return Found;
}

/// Finds a program in PATH as execvp does. Returns false if there is none, or if a path is too long
/// to decide.
bool findInPath(const char *Name, char (&Path)[PATH_MAX]) {
  const char *Places = valueIn(environ, "PATH=");
  size_t Length = strlen(Name);
  while (Places) {
    size_t Size = strcspn(Places, ":");
    if (Size + Length + 2 > sizeof Path)
      return false;
    memcpy(Path, Places, Size);
    size_t Slash = Size ? Size : 1;
    if (!Size)
      Path[0] = '.';
    Path[Slash] = '/';
    memcpy(Path + Slash + 1, Name, Length + 1);
    struct stat File;
    if (stat(Path, &File) == 0 && S_ISREG(File.st_mode) && access(Path, X_OK) == 0)
      return true;
    Places = Places[Size] ? Places + Size + 1 : nullptr;
  }
  return false;
}

bool isCompiler(const char *Path) {
  struct stat File;
  return (incc::isCompilerName(Path) || incc::isLauncher(Path)) && stat(Path, &File) == 0 &&
         S_ISREG(File.st_mode) && access(Path, X_OK) == 0 &&
         (File.st_dev != ProgramFile.st_dev || File.st_ino != ProgramFile.st_ino);
}

// --- the call ----------------------------------------------------------------------------------

/// The arguments of a call of one of the exported functions.
struct Call {
  const char *Name;
  Strings Arguments, Environment;
  /// The function searches PATH for the name.
  bool InPath;
  /// For posix_spawn; null for exec.
  pid_t *Process = nullptr;
  const posix_spawn_file_actions_t *Actions = nullptr;
  const posix_spawnattr_t *Attributes = nullptr;
  bool Spawns = false;

  int make(const char *Path, bool Searched, Strings Words, Strings Variables) const {
    if (Spawns)
      return (Searched ? RealSpawnp : RealSpawn)(Process, Path, Actions, Attributes, Words,
                                                 Variables);
    return (Searched ? RealExecvpe : RealExecve)(Path, Words, Variables);
  }
  int make(Strings Variables) const { return make(Name, InPath, Arguments, Variables); }
};

size_t lengthOf(Strings Words) {
  size_t Count = 0;
  while (Words && Words[Count])
    ++Count;
  return Count;
}

/// Writes to `Changed` a copy of an environment in which LD_PRELOAD is `Entry` (removed if null).
/// With `Restored`, the copy also contains incc's variables.
void change(Strings Environment, char *Entry, bool Restored, char **Changed) {
  for (; Environment && *Environment; ++Environment)
    if (!startsWith(*Environment, Preload))
      *Changed++ = *Environment;
  char **End = Changed;
  if (Entry)
    *End++ = Entry;
  for (size_t I = 0; Restored && I < VariableCount; ++I)
    *End++ = const_cast<char *>(Variables[I]);
  *End = nullptr;
}

/// Writes LD_PRELOAD's entry to `Entry`, with this library last or without it. Returns null if no
/// library is left.
char *entryFor(const char *Libraries, bool With, char *Entry) {
  char *End = Entry + strlen(Preload);
  memcpy(Entry, Preload, strlen(Preload));
  size_t Own = strlen(Library);
  while (Libraries && *Libraries) {
    size_t Size = strcspn(Libraries, ": ");
    if (Size && (Size != Own || memcmp(Libraries, Library, Own) != 0)) {
      memcpy(End, Libraries, Size);
      End[Size] = ':';
      End += Size + 1;
    }
    Libraries += Size + (Libraries[Size] != 0);
  }
  if (With) {
    memcpy(End, Library, Own);
    End += Own + 1;
  }
  End[-1] = 0;
  return End == Entry + strlen(Preload) ? nullptr : Entry;
}

int carryOut(const Call &Call) {
  prepare();
  Strings Environment = Call.Environment;
  const char *Depth = valueIn(Environment, DepthVariable);
  size_t Words = lengthOf(Call.Arguments), Set = lengthOf(Environment);
  char Found[PATH_MAX];
  const char *Path = Call.Name;
  if (!*Program || !Path || !Words || (Depth && *Depth && *Depth != '0') ||
      Words + Set > MostPointers)
    return Call.make(Environment);
  int Error = errno;
  if (Call.InPath && !strchr(Path, '/')) {
    if (!findInPath(Path, Found)) {
      errno = Error;
      return Call.make(Environment);
    }
    Path = Found;
  }
  Executable Target = inspected(Path);
  const char *Libraries = valueIn(Environment, Preload);
  // The library's file does not exist after chroot.
  bool Has = names(Libraries, Library), Known = Target.Runs || Target.Refuses;
  bool Wanted = !Target.Refuses && access(Library, R_OK) == 0;
  if (Known && Has != Wanted) {
    bool Restored = Wanted && !valueIn(Environment, ProgramVariable);
    size_t Size = strlen(Preload) + strlen(Library) + (Libraries ? strlen(Libraries) : 0) + 2;
    auto **Changed = static_cast<char **>(alloca((Set + VariableCount + 2) * sizeof(char *)));
    char *Entry = Size < PATH_MAX ? static_cast<char *>(alloca(Size)) : nullptr;
    if (Entry) {
      change(Environment, entryFor(Libraries, Wanted, Entry), Restored, Changed);
      Environment = Changed;
    }
  }
  if (Target.Runs && isCompiler(Path)) {
    char Option[] = "--incc-exec";
    auto **Changed = static_cast<char **>(alloca((Words + 4) * sizeof(char *)));
    Changed[0] = const_cast<char *>(Program);
    Changed[1] = Option;
    Changed[2] = const_cast<char *>(Path);
    memcpy(Changed + 3, Call.Arguments, (Words + 1) * sizeof(char *));
    int Status = Call.make(Program, /*Searched=*/false, Changed, Environment);
    if (Call.Spawns && Status == 0)
      return 0;
  }
  errno = Error;
  return Call.make(Environment);
}

/// Calls `carryOut` with the arguments of a variadic function. If it `HasEnvironment`, the
/// environment follows them.
int carryOut(const char *Name, const char *First, va_list &List, bool HasEnvironment, bool InPath) {
  va_list Counted;
  va_copy(Counted, List);
  size_t Count = 1;
  while (va_arg(Counted, char *))
    ++Count;
  va_end(Counted);
  auto **Words = static_cast<char **>(alloca((Count + 1) * sizeof(char *)));
  Words[0] = const_cast<char *>(First);
  for (size_t I = 1; I <= Count; ++I)
    Words[I] = va_arg(List, char *);
  return carryOut({Name, Words, HasEnvironment ? va_arg(List, char **) : environ, InPath});
}

} // namespace

#define INCC_EXPORTED extern "C" __attribute__((visibility("default")))

INCC_EXPORTED int execve(const char *Path, Strings Words, Strings Environment) {
  return carryOut({Path, Words, Environment, false});
}

INCC_EXPORTED int execv(const char *Path, Strings Words) {
  return carryOut({Path, Words, environ, false});
}

INCC_EXPORTED int execvp(const char *Name, Strings Words) {
  return carryOut({Name, Words, environ, true});
}

INCC_EXPORTED int execvpe(const char *Name, Strings Words, Strings Environment) {
  return carryOut({Name, Words, Environment, true});
}

INCC_EXPORTED int execl(const char *Path, const char *First, ...) {
  va_list List;
  va_start(List, First);
  int Status = carryOut(Path, First, List, false, false);
  va_end(List);
  return Status;
}

INCC_EXPORTED int execlp(const char *Name, const char *First, ...) {
  va_list List;
  va_start(List, First);
  int Status = carryOut(Name, First, List, false, true);
  va_end(List);
  return Status;
}

INCC_EXPORTED int execle(const char *Path, const char *First, ...) {
  va_list List;
  va_start(List, First);
  int Status = carryOut(Path, First, List, true, false);
  va_end(List);
  return Status;
}

INCC_EXPORTED int posix_spawn(pid_t *Process, const char *Path,
                              const posix_spawn_file_actions_t *Actions,
                              const posix_spawnattr_t *Attributes, Strings Words,
                              Strings Environment) {
  return carryOut({Path, Words, Environment, false, Process, Actions, Attributes, true});
}

INCC_EXPORTED int posix_spawnp(pid_t *Process, const char *Name,
                               const posix_spawn_file_actions_t *Actions,
                               const posix_spawnattr_t *Attributes, Strings Words,
                               Strings Environment) {
  return carryOut({Name, Words, Environment, true, Process, Actions, Attributes, true});
}
