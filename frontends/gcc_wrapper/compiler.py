"""The compiler that incc runs, and how to start it so that it notices no difference.

The program `incc` finds out which compiler a build means (front/compiler.cpp).
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
from collections.abc import Callable, Mapping, Sequence
from typing import NoReturn

TAKES_NEXT = frozenset(
    ("-Xlinker", "-Xassembler", "-Xpreprocessor", "-Xclang", "-Xanalyzer", "-mllvm", "-o", "-D", "-I", "-include")
)
"""Arguments whose next argument is a name, or goes to another program."""

COMPILER_NAME = re.compile(
    r"(?!-)(.+-)?(gcc|g\+\+|cc|c\+\+|c89|c99|gfortran|f77|f90|f95|gdc|gccgo|gm2|(amd|arm)?(clang|clang\+\+|flang)|flang-new"
    r"|icx|icpx|ifx|hipcc|dpcpp)(-\d[\d.]*)?"
)
"""Names of compilers that incc replaces, as in front/names.cpp: `x86_64-linux-gnu-gcc-12`, `clang++-19`."""

# Locales to which the interpreter may have set LC_CTYPE (PEP 538).
_COERCED = ("C.UTF-8", "C.utf8", "UTF-8")


class CompilerError(Exception):
    """A compiler that cannot be run."""

    def __init__(self, message: str, status: int = 127) -> None:
        super().__init__(message)
        self.status = status
        """The exit status, as a shell's: 127 for a program that does not exist, 126 for one that is not executable."""


class Compiler:
    """The real compiler."""

    __slots__ = ("path", "words")

    def __init__(self, path: str, words: list[str]) -> None:
        self.path = path
        self.words = words
        """Its name as called, and the arguments that belong to it."""

    @property
    def name(self) -> str:
        """Return its name for reports: the last word that is not an option (`gcc` of `ccache gcc -m64`)."""
        programs = [w for w in self.words if not w.startswith("-")]
        return os.path.basename(programs[-1])


def find_compiler(name: str, environment: Mapping[str, str]) -> Compiler:
    """Return the compiler of this name, which may include arguments: `ccache gcc`. Raises CompilerError."""
    words = _split_words(name)
    return Compiler(find_program(words[0], environment), words)


def find_program(name: str, environment: Mapping[str, str], *, folder: str = "") -> str:
    """Return the path of a compiler: as it is named, or where it is in PATH.

    `folder` is the working directory, "" for this process's. Raises CompilerError.
    """
    if "/" in name:
        path = os.path.join(folder, name)
        if not os.path.exists(path):
            raise CompilerError(f"{name}: no such compiler")
        if not os.access(path, os.X_OK) or os.path.isdir(path):
            raise CompilerError(f"{name}: not executable", 126)
        return os.path.abspath(path) if folder else path
    for place in environment.get("PATH", os.defpath).split(os.pathsep):
        path = os.path.join(folder, place or ".", name)
        if os.access(path, os.X_OK) and not os.path.isdir(path):
            return os.path.abspath(path) if folder else path
    raise CompilerError(f"{name}: no such compiler in PATH")


def files_of(arguments: Sequence[str]) -> list[str]:
    """Return the files that a compiler may read or write for these arguments, and other words."""
    # An argument without a blank before it may be a file too (-oFILE).
    names = [a.removeprefix("-o") for a in arguments if a != "-o"]
    if not any(a.startswith("-o") for a in arguments):
        ending = ".s" if "-S" in arguments else ".o" if "-c" in arguments else ""
        sources = (os.path.splitext(os.path.basename(a))[0] for a in arguments if not a.startswith("-"))
        names += [stem + ending for stem in sources] if ending else ["a.out"]
    return names


def _split_words(command: str) -> list[str]:
    """Return the words of a command as in CC="ccache gcc -m64", with quoting as in a shell."""
    if '"' not in command and "'" not in command and "\\" not in command:
        return command.split()

    try:
        return shlex.split(command)
    except ValueError as error:
        raise CompilerError(f"cannot read the compiler's name {command!r}: {error}") from error


def programs(path: str, wanted: Callable[[str], object], own: str = "") -> list[str]:
    """Return the names of wanted programs in the folders of `path` that are not the program `own`, sorted."""
    names = set()
    for folder in path.split(os.pathsep):
        try:
            with os.scandir(folder or ".") as items:
                for item in items:
                    if wanted(item.name) and os.path.realpath(item.path) != own and os.access(item.path, os.X_OK):
                        names.add(item.name)
        except OSError:
            continue
    return sorted(names)


_SCRIPTS = ("c89", "c99", "c89-gcc", "c99-gcc")
"""Scripts that call another compiler with options of their own."""
_STANDARD = ("", "cc", "c++", "f77", "f90", "f95")


def installed_compilers(path: str) -> list[str]:
    """Return a name for each compiler in the folders of `path`, the one with a version if there is one.

    Compilers for this machine come first, gcc before others, and the newest first.
    """
    by_program: dict[tuple[str, bool], str] = {}
    for name in programs(path, COMPILER_NAME.fullmatch):
        if name not in _SCRIPTS:
            key = os.path.realpath(shutil.which(name, path=path) or name), "++" in name
            by_program[key] = max(by_program.get(key, ""), name, key=_plainness)
    return sorted(by_program.values(), key=_order)


def _plainness(name: str) -> tuple[bool, bool, int]:
    """Return a key that is largest for the name of a compiler that says most: gcc-12 rather than cc."""
    return name not in _STANDARD, any(map(str.isdigit, name)), -len(name)


def _order(name: str) -> tuple[bool, bool, int, str]:
    version = re.search(r"\d+$", name)
    return name.count("-") > 1, "clang" in name or "flang" in name, -int(version[0]) if version else 0, name


def child_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment for the compiler: this one without the interpreter's additions, and with INCC_DEPTH.

    Python sets LC_CTYPE in a C locale (PEP 538), and gcc would then quote ‘so’ instead of 'so' in its messages.
    """
    result = dict(environment)
    initial = _initial_environment()
    if initial is not None and result.get("LC_CTYPE") in _COERCED:
        del result["LC_CTYPE"]
        if original := initial.get("LC_CTYPE"):
            result["LC_CTYPE"] = original
    depth = result.get("INCC_DEPTH") or "0"
    result["INCC_DEPTH"] = str(int(depth) + 1) if depth.isdecimal() else "1"
    return result


def _initial_environment() -> dict[str, str] | None:
    """Return the environment that the process was started with, None if the system does not tell."""
    try:
        with open("/proc/self/environ", "rb") as file:
            entries = os.fsdecode(file.read()).split("\0")
    except OSError:
        return None
    return {name: value for name, _, value in (entry.partition("=") for entry in entries)}


def replace_process(compiler: Compiler, arguments: list[str], environment: Mapping[str, str]) -> NoReturn:
    """Become the compiler. Raises CompilerError if the system refuses."""
    # The interpreter ignores these two, and ignored signals stay ignored in the compiler: `gcc -E x.c | head -1` would
    # then complain about a broken pipe.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    try:
        os.execve(compiler.path, compiler.words + arguments, environment)
    except OSError as error:
        raise CompilerError(f"{compiler.path}: {error.strerror}", 126) from error
