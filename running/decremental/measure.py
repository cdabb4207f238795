"""Runs of a program without parts of a loop's work, each in its own copy of the working directory."""

from __future__ import annotations

import contextlib
import math
import os
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

import msgspec

from incc.core.decrement import Replaced, control_registers
from incc.running.decremental.passes import passes
from incc.running.decremental.patching import CodePlaces
from incc.running.decremental.traced import RunEnd, Start, run_traced
from incc.support.errors import AnalysisError
from incc.support.progress import counted

_LARGEST_FOLDER = 1 << 30
"""The largest size of a working directory in bytes, which is copied for every run."""
_LEAST_SECONDS, _FACTOR = 5.0, 10.0
"""A variant may take this long and this many times as long as the program."""


class Program(msgspec.Struct, frozen=True, kw_only=True):
    """A program to run."""

    words: tuple[str, ...]
    """The command."""
    executable: str
    """The absolute path of the program."""
    module: str
    """The absolute path of the file with the loop: the program, or a library."""
    environment: Mapping[str, str]
    stdin: str
    """The path of a file with the standard input."""
    limit: float
    """The longest time of the unchanged program in seconds."""


class LoopTime(msgspec.Struct, frozen=True, kw_only=True):
    """The record of the loop that probes made in a run."""

    cycles: float
    """Per iteration."""
    entries: int
    iterations: float
    iterations_error: float
    """The standard error."""


class Measured(msgspec.Struct, kw_only=True):
    """The runs of a variant."""

    values: list[float] = []
    """Cycles per iteration, or seconds."""
    loop: LoopTime | None = None
    """The last run's loop; None without probes."""
    skipped: str = ""
    course: list[tuple[int, ...]] = []
    """Without probes: the registers that decide over further iterations, at the beginning of the first ones; empty if
    they differ from run to run."""

    @property
    def least(self) -> float | None:
        return min(self.values) if self.values and not self.skipped else None

    @property
    def spread(self) -> float:
        return max(self.values) / min(self.values) - 1 if self.values and min(self.values) > 0 else 0.0


def measure_variants(
    program: Program,
    places: CodePlaces,
    variants: Sequence[Replaced],
    repetitions: int,
    read_loop: Callable[[str], LoopTime | None] | None,
) -> tuple[Measured, list[Measured]]:
    """Run the unchanged program and its variants in turn.

    A variant is skipped if it ends otherwise than the program, takes too long, runs another number of iterations, or
    raises other floating-point exceptions.

    Args:
        program: the program.
        places: the loop's code in the module.
        variants: for each variant, the instructions in place of others.
        repetitions: the number of runs of each.
        read_loop: returns what probes recorded in a folder; None without probes, where the processor time counts.

    Raises:
        AnalysisError: the unchanged program cannot be run or copied.
    """
    unchanged, results = Measured(), [Measured() for _ in variants]
    course = _course(program, places, {}) if read_loop is None else None
    if course is not None and course == _course(program, places, {}):
        unchanged.course = course
    first, limit = None, program.limit
    each = ((None, unchanged), *zip(variants, results, strict=True))
    for replaced, measured in counted(each * repetitions, "running", len(each) * repetitions):
        if measured.skipped:
            continue
        write = None if replaced is None else partial(places.write_copy, replaced)
        outcome, loop = _run(program, write, read_loop, limit)
        if replaced is None:
            if outcome.status is None:
                raise AnalysisError(f"{program.words[0]}: takes more than {limit:g} s; allow more with --limit")
            if first is None:
                first, limit = outcome, max(_LEAST_SECONDS, _FACTOR * outcome.seconds)
            if read_loop is not None and loop is None:
                raise AnalysisError(f"{program.words[0]}: the loop was not entered")
        elif problem := _difference(first, outcome, unchanged.loop, loop, limit):
            measured.skipped = problem
            continue
        elif unchanged.course and not measured.values and unchanged.course != _course(program, places, replaced):
            measured.skipped = "ran other iterations"
            continue
        measured.loop = loop
        measured.values.append(loop.cycles if loop is not None else outcome.seconds)
    return unchanged, results


def _course(program: Program, places: CodePlaces, replaced: Replaced) -> list[tuple[int, ...]] | None:
    """Return the registers that decide over further iterations, at the beginning of the first ones."""
    with _placed(program, partial(places.write_copy, replaced), "") as (start, module):
        return passes(start, module, places.offsets[0], control_registers(places.kernel))


def _difference(
    first: RunEnd | None, outcome: RunEnd, before: LoopTime | None, loop: LoopTime | None, limit: float
) -> str:
    """Return how a variant's run differs from the program's such that their times cannot be compared, "" if not."""
    assert first is not None
    if outcome.status is None:
        return f"took more than {limit:.3g} s"
    if outcome.status < 0 and outcome.status != first.status:
        return f"ended by signal {-outcome.status}"
    if before is not None and (loop is None or not _same_iterations(before, loop)):
        ran = "none" if loop is None else f"{loop.iterations:,.0f} in {loop.entries:,} entries"
        return f"ran other iterations ({ran})"
    if before is None and outcome.status != first.status:
        return f"ended with status {outcome.status}"
    others = (outcome.exceptions or frozenset()) - (first.exceptions or frozenset())
    return f"raised other floating-point exceptions ({', '.join(sorted(others))})" if others else ""


def _same_iterations(before: LoopTime, loop: LoopTime) -> bool:
    if before.entries != loop.entries:
        return False
    error = 4 * math.hypot(before.iterations_error, loop.iterations_error)
    return abs(before.iterations - loop.iterations) <= error + 0.001 * before.iterations


def run_copy(program: Program, write: Callable[[str], None] | None, recorded: str, limit: float) -> RunEnd:
    """Run the program in a copy of the working directory for at most `limit` seconds.

    Args:
        program: the program.
        write: writes a changed copy of the module to a path; None for the module as it is.
        recorded: a folder for what probes record; "" to switch them off.
        limit: the longest time in seconds.

    Raises:
        AnalysisError: the working directory cannot be copied, or the program not started.
    """
    with _placed(program, write, recorded) as (start, _):
        return run_traced(start, limit)


@contextlib.contextmanager
def _placed(program: Program, write: Callable[[str], None] | None, recorded: str) -> Iterator[tuple[Start, str]]:
    """Yield the program in a copy of the working directory, which is removed afterwards, and the path of its module."""
    here = os.getcwd()
    with tempfile.TemporaryDirectory(prefix="incc-decrement-") as top, _copied(here, top) as folder:
        module = program.module
        if write is not None:
            inside = os.path.relpath(module, here)
            is_outside = inside.startswith(os.pardir + os.sep)
            module = os.path.join(top, os.path.basename(module)) if is_outside else os.path.join(folder, inside)
            write(module)
        environment = dict(program.environment)
        if recorded:
            environment["INCC_PROBES"] = recorded
        executable = module
        if program.module != program.executable:
            executable, earlier = program.executable, environment.get("LD_PRELOAD")
            environment["LD_PRELOAD"] = f"{module}:{earlier}" if earlier else module
        with open(program.stdin, "rb") as stdin:
            start = Start(
                words=program.words, executable=executable, folder=folder, environment=environment, stdin=stdin
            )
            yield start, module


def _run(
    program: Program,
    write: Callable[[str], None] | None,
    read_loop: Callable[[str], LoopTime | None] | None,
    limit: float,
) -> tuple[RunEnd, LoopTime | None]:
    """Run the program and return its end, and what probes recorded of the loop."""
    if read_loop is None:
        return run_copy(program, write, "", limit), None
    with tempfile.TemporaryDirectory(prefix="incc-decrement-") as recorded:
        return run_copy(program, write, recorded, limit), read_loop(recorded)


@contextlib.contextmanager
def _copied(folder: str, top: str) -> Iterator[str]:
    """Yield a copy of a folder below another one. Raises AnalysisError if it is too large or cannot be read."""
    size = 0
    for path, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                size += os.lstat(os.path.join(path, name)).st_size
        if size > _LARGEST_FOLDER:
            raise AnalysisError(
                f"{folder}: the working directory is larger than 1 GiB, and every run gets a copy of it; start the "
                "program in a smaller one"
            )
    copy = os.path.join(top, "folder")
    try:
        shutil.copytree(folder, copy, symlinks=True, ignore=_special)
    except (OSError, shutil.Error) as error:
        text = error.args[0][0][2] if isinstance(error, shutil.Error) else error.strerror
        raise AnalysisError(f"{folder}: the working directory cannot be copied: {text}") from error
    yield copy


def _special(folder: str, names: Sequence[str]) -> list[str]:
    """Return the names that are neither files, folders nor links."""
    found = []
    for name in names:
        mode = os.lstat(os.path.join(folder, name)).st_mode
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISLNK(mode)):
            found.append(name)
    return found
