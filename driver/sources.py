"""Compilation of sources for their assembly alone, for commands that analyse code. Nothing else is written."""

from __future__ import annotations

import os
import shlex
import signal
from collections.abc import Iterator
from contextlib import contextmanager

from msgspec.structs import replace

from incc.frontends.gcc_wrapper.compile_commands import CompilerCommand
from incc.frontends.gcc_wrapper.compiler import Compiler, CompilerError, child_environment, find_program
from incc.frontends.gcc_wrapper.processes import Processes
from incc.frontends.gcc_wrapper.session import AssemblyFailure, Compilation
from incc.frontends.unit import Unit
from incc.support.errors import AnalysisError
from incc.support.signals import kill_children

_LANGUAGES = (
    ("CC", "cc", "CFLAGS", (".c", ".i", ".m", ".mi")),
    ("CXX", "c++", "CXXFLAGS", (".cc", ".cp", ".cpp", ".cxx", ".c++", ".C", ".CPP", ".ii", ".mm", ".mii")),
    ("FC", "gfortran", "FFLAGS", (".f", ".for", ".f77", ".f90", ".f95", ".f03", ".f08", ".F", ".FOR", ".F90", ".F95")),
)
"""The variables of the compiler and its flags as for make, the default compiler, and the endings of sources."""

DEFAULT_FLAGS = ("-O3",)
"""The flags of a source if the variable of its language is not set. A -march for the core is added to these."""


def is_source(name: str) -> bool:
    """Return True for the name of a source that `compiled_source` can compile."""
    return any(name.endswith(endings) for *_, endings in _LANGUAGES)


def source_commands(name: str, mcpu: str) -> list[CompilerCommand]:
    """Return the commands that may compile a source, the first choice first.

    Args:
        name: The source.
        mcpu: The cores of the analysis, of which the code is for the first; "" and "all" mean the host.

    Raises:
        AnalysisError: A variable of the environment is not quoted correctly.
    """
    compiler_variable, default, flags_variable, _ = next(each for each in _LANGUAGES if name.endswith(each[-1]))
    try:
        words = shlex.split(os.environ.get(compiler_variable, "")) or [default]
        flags = shlex.split(os.environ.get(flags_variable, "")) or [*DEFAULT_FLAGS]
    except ValueError as error:
        raise AnalysisError(f"{compiler_variable} or {flags_variable}: {str(error).lower()}") from None
    core = mcpu.partition(",")[0].strip()
    core = "native" if core in ("", "all") else core
    targets = [[]] if flags_variable in os.environ else [[f"-march={core}"], []]
    return [
        CompilerCommand(file=name, folder=os.getcwd(), words=(*words, *flags, *target, "-c", name))
        for target in targets
    ]


def compiled_source(name: str, mcpu: str, remarks: bool = False, variables: bool = False) -> tuple[Unit, str]:
    """Compile a source, and return its unit and a note on the command.

    The compiler and its flags are those of CC and CFLAGS, CXX and CXXFLAGS, or FC and FFLAGS; the default is -O3 with
    the core's -march if the compiler knows the core.

    Args:
        name: The source.
        mcpu: The cores of the analysis, of which the code is for the first.
        remarks: Let the unit have the compiler's remarks on loops.
        variables: Let the unit have debug information on variables.

    Raises:
        AnalysisError: The source cannot be compiled.
    """
    if not os.path.isfile(name):
        raise AnalysisError(f"{name}: no such file")
    problems: list[str] = []
    for command in source_commands(name, mcpu):
        problems = []
        for unit in units_of(command, problems, remarks, variables):
            # The analysis is for the host, unless cores are named.
            return replace(unit, cpu=""), f"{name}: compiled by {shlex.join(command.words)}"
    raise AnalysisError(problems[0] if problems else f"{name}: the compiler makes no assembly of it")


def units_of(
    command: CompilerCommand,
    problems: list[str],
    remarks: bool = False,
    variables: bool = False,
    messages: list[str] | None = None,
) -> list[Unit]:
    """Return a command's compilation units, as `compiled_source` does.

    Failures go to `problems`, and what the compiler wrote to `messages`.
    """
    if command.problem:
        problems.append(f"{command.file}: {command.problem}")
        return []
    if not os.path.isdir(command.folder):
        problems.append(f"{command.file}: not analysed: its folder {command.folder} does not exist")
        return []
    environment = child_environment(os.environ)
    words = list(command.words)
    try:
        compiler = Compiler(find_program(words[0], environment, folder=command.folder), words[:1])
    except CompilerError as error:
        problems.append(f"{command.file}: not analysed: {error}")
        return []
    processes = Processes(command.folder, b"", None)
    compilation = Compilation(
        compiler,
        words[1:],
        environment,
        processes,
        command.folder,
        without_lto=True,
        remarks=remarks,
        variables=variables,
    )
    with _terminated_in_order():
        try:
            return compilation.assembly_alone()
        except AssemblyFailure as error:
            text = error.compiler_message or str(error)
            problems.append(text if text.startswith(f"{command.file}:") else f"{command.file}: {text}")
        except OSError as error:
            problems.append(f"{command.file}: not analysed: {error.filename or words[0]}: {error.strerror}")
        finally:
            if messages is not None:
                messages += compilation.messages
            processes.end()
            compilation.close()
    return []


@contextmanager
def _terminated_in_order() -> Iterator[None]:
    """Let SIGTERM raise SystemExit, so that its compiler ends and temporary files go when a worker is terminated."""

    def end(number: int, frame: object) -> None:
        kill_children()  # with all that they have started, and one that is just being started
        raise SystemExit(128 + number)

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
