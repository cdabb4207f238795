"""Runs a compiler's command for a program, such as a notebook, and returns the assembly of its sources."""

from __future__ import annotations

import os
import shlex
import tempfile
from collections.abc import Mapping, Sequence

import msgspec
from msgspec.structs import replace

from incc.frontends.gcc_wrapper.compiler import Compiler, child_environment, find_program
from incc.frontends.gcc_wrapper.processes import Processes
from incc.frontends.gcc_wrapper.session import AssemblyFailure, Compilation
from incc.frontends.unit import Unit

# Programs that run the compiler named by their arguments (the manuals of ccache, distcc, sccache and icecream).
_LAUNCHERS = frozenset(("ccache", "distcc", "icecc", "sccache"))


class Compiled(msgspec.Struct, frozen=True, kw_only=True):
    """The results of a command."""

    units: tuple[Unit, ...] = ()
    """The sources' assembly, none if the compiler failed."""
    status: int
    """The compiler's exit status, or the negative number of the signal that killed it."""
    warnings: tuple[str, ...] = ()
    """Sources whose assembly could not be made, a line each."""
    notes: tuple[str, ...] = ()
    """Sources without assembly, and why, a line each."""
    output: bytes = b""
    """The compiler's standard output, if it was captured."""
    errors: bytes = b""
    """The compiler's standard error, if it was captured."""


def compile_units(
    command: str | Sequence[str],
    *,
    folder: str | os.PathLike[str] = "",
    environment: Mapping[str, str] | None = None,
    stdin: bytes = b"",
    capture: bool = False,
) -> Compiled:
    """Run a compiler's command, unchanged, and make the assembly of its sources by a second run.

    This process's signal handlers, streams and folder stay as they are, so it may be called from any thread.

    Args:
        command: the words of the command, or a text with quotes as in a shell. The first word is the compiler, or a
            launcher such as ccache before the compiler.
        folder: the folder to run it in, "" for the current one.
        environment: its environment, None for this process's.
        stdin: its standard input.
        capture: return the compiler's output, instead of writing it to this process's streams.

    Raises:
        ValueError: if the command has no words, or an unclosed quote.
        CompilerError: if there is no such compiler.
    """
    words = shlex.split(command) if isinstance(command, str) else list(command)
    if not words:
        raise ValueError("a command needs a compiler")
    count = len(words) - len(without_launchers(words)) + 1
    place = os.fspath(folder)
    given = dict(os.environ if environment is None else environment)
    compiler = Compiler(find_program(words[0], given, folder=place), words[:count])
    if not capture:
        return _compile(compiler, words[count:], given, place, Processes(place, stdin, None))
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        processes = Processes(place, stdin, (output, errors))
        compiled = _compile(compiler, words[count:], given, place, processes)
        output.seek(0)
        errors.seek(0)
        return replace(compiled, output=output.read(), errors=errors.read())


def without_launchers(words: Sequence[str]) -> Sequence[str]:
    """Return a command from its compiler on."""
    count = 0
    while count < len(words) - 2 and os.path.basename(words[count]) in _LAUNCHERS:
        count += 1
    return words[count:]


def _compile(
    compiler: Compiler, arguments: list[str], environment: Mapping[str, str], folder: str, processes: Processes
) -> Compiled:
    compilation = Compilation(compiler, arguments, child_environment(environment), processes, folder, remarks=True)
    units: list[Unit] = []
    try:
        try:
            for unit in compilation.units():
                units.append(unit)
        except AssemblyFailure as error:
            compilation.warnings.append(str(error))
        except OSError as error:
            compilation.warnings.append(f"not analysed: {error.filename or 'output'}: {error.strerror}")
        status = compilation.finish()
    finally:
        processes.end()
        compilation.close()
    if status != 0:
        return Compiled(status=status)
    notes = [f"{name}: nothing to analyse: {compilation.until_link_why}" for name in compilation.until_link]
    notes = [*compilation.notes, *notes]
    return Compiled(units=tuple(units), status=status, warnings=tuple(compilation.warnings), notes=tuple(notes))
