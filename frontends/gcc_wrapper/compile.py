"""Compiles a command for a program, such as a notebook, that wants the assembly of what was compiled."""

from __future__ import annotations

import os
import shlex
import tempfile
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from incc.frontends.gcc_wrapper.compiler import Compiler, child_environment, find_program
from incc.frontends.gcc_wrapper.processes import Processes
from incc.frontends.gcc_wrapper.session import Compilation, Failure

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from incc.frontends.unit import Unit

# Programs that run the compiler which follows them (ccache's manual, "Run modes"; those of distcc, sccache, icecream).
_LAUNCHERS = frozenset(("ccache", "distcc", "icecc", "sccache"))


class Compiled(msgspec.Struct, frozen=True, kw_only=True):
    """What came of a command.

    `units`: the sources' assembly. `status`: the compiler's exit status, negative for death by that signal; if it is
    not 0, there are no units, and what the compiler wrote says why. `warnings`: what could not be got for the analysis,
    a line each; `notes`: where there is nothing to get. `output` and `errors`: what the compiler wrote to its streams,
    if that was captured.
    """

    units: tuple[Unit, ...]
    status: int
    warnings: tuple[str, ...]
    notes: tuple[str, ...]
    output: bytes
    errors: bytes


def compile_units(
    command: str | Sequence[str],
    *,
    folder: str | os.PathLike[str] = "",
    environment: Mapping[str, str] | None = None,
    stdin: bytes = b"",
    capture: bool = False,
) -> Compiled:
    """Run a compiler's command, unchanged, and get the assembly of what it compiles from a second run beside it.

    `command`: the words, the first of them the compiler (or a launcher such as ccache and then the compiler), or a text
    with quotes as in a shell. It is run in `folder` ("" for the current one) with `environment` (None for this
    process's) and reads `stdin`. `capture`: what the compiler writes is in the result, not on this process's streams.

    Nothing of this process is changed: no signal handlers, streams or folder, so that it may be called from any thread.
    Raises ValueError for a command without words or with an unclosed quote, and CompilerError if there is no such
    compiler.
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
    """A command from its compiler on."""
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
        except Failure as error:
            compilation.warnings.append(str(error))
        except OSError as error:
            compilation.warnings.append(f"not analysed: {error.filename or 'output'}: {error.strerror}")
        status = compilation.finish()
    finally:
        processes.end()
        compilation.close()
    if status != 0:
        return Compiled(units=(), status=status, warnings=(), notes=(), output=b"", errors=b"")
    notes = [f"{name}: nothing to analyse: {compilation.until_link_why}" for name in compilation.until_link]
    return Compiled(
        units=tuple(units),
        status=status,
        warnings=tuple(compilation.warnings),
        notes=(*compilation.notes, *notes),
        output=b"",
        errors=b"",
    )
