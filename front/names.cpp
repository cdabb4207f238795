//===- names.cpp - Names of compilers and launchers -----------------------===//

#include "names.h"

#include <cstddef>

using namespace incc;

namespace {

constexpr std::string_view Launchers[] = {"ccache",     "sccache", "distcc",
                                          "buildcache", "icecc",   "fastbuild"};
// frontends/gcc_wrapper/compiler.py lists the same compilers.
constexpr std::string_view GccNames[] = {"gcc", "g++", "gfortran", "gdc", "gccgo", "gm2", "cc",
                                         "c++", "c89", "c99",      "f77", "f90",   "f95"};
constexpr std::string_view ClangNames[] = {
    "clang",      "clang++",  "flang",    "flang-new",  "icx",      "icpx",  "ifx",  "amdclang",
    "amdclang++", "amdflang", "armclang", "armclang++", "armflang", "hipcc", "dpcpp"};

/// Returns the last part of a path without a version suffix: `x86_64-linux-gnu-gcc` for `…-gcc-12`.
std::string_view unversioned(std::string_view Program) {
  for (size_t I = Program.size(); I-- > 0;)
    if (Program[I] == '/') {
      Program.remove_prefix(I + 1);
      break;
    }
  size_t End = Program.size();
  while (End > 0 &&
         ((Program[End - 1] >= '0' && Program[End - 1] <= '9') || Program[End - 1] == '.'))
    --End;
  if (End > 1 && End < Program.size() && Program[End] != '.' && Program[End - 1] == '-')
    Program.remove_suffix(Program.size() - End + 1);
  return Program;
}

/// Returns true if a name is one of `Names`, alone or after a prefix with at least `Dashes` dashes.
template <size_t N>
bool isOneOf(std::string_view Program, const std::string_view (&Names)[N], unsigned Dashes) {
  for (std::string_view Known : Names) {
    if (Program == Known)
      return true;
    if (Program.size() < Known.size() + 2)
      continue;
    std::string_view Prefix = Program, Last = Program;
    Prefix.remove_suffix(Known.size());
    Last.remove_prefix(Prefix.size());
    unsigned Found = 0;
    for (char C : Prefix)
      Found += C == '-';
    if (Last == Known && Prefix.back() == '-' && Prefix[0] != '-' && Found >= Dashes)
      return true;
  }
  return false;
}

/// The dashes that a prefix needs. A target has at least a processor and a system:
/// aarch64-linux-gnu-, x86_64-w64-mingw32-. `Any` also admits Debian's scripts such as c89-gcc,
/// which run gcc.
constexpr unsigned OfTarget = 2, Any = 1;

} // namespace

bool incc::isLauncher(std::string_view Program) {
  size_t Slash = Program.size();
  while (Slash > 0 && Program[Slash - 1] != '/')
    --Slash;
  Program.remove_prefix(Slash);
  for (std::string_view Known : Launchers)
    if (Program == Known)
      return true;
  return false;
}

bool incc::isCompilerName(std::string_view Program) {
  Program = unversioned(Program);
  return isOneOf(Program, GccNames, Any) || isOneOf(Program, ClangNames, Any);
}

bool incc::isGccName(std::string_view Program) {
  return isOneOf(unversioned(Program), GccNames, OfTarget);
}

bool incc::isClangName(std::string_view Program) {
  return isOneOf(unversioned(Program), ClangNames, OfTarget);
}
