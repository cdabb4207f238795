"""Decremental analysis of a program: its loop is found, predicted without parts of its work, and run without them."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import msgspec

from incc.core.analysis import KernelResult
from incc.core.decrement import Decrement, decides_addresses, decrements
from incc.driver.sides.runs import analysed_loops, read_profiles, recorded_files
from incc.frontends.unit import Unit
from incc.report import types as t
from incc.report.decrement import LessWorkReport, LessWorkRun
from incc.report.identity import content_hash
from incc.report.parts.decrements import work_text
from incc.report.source.places import NamedKernels
from incc.running.decremental.measure import LoopTime, Measured, Program, measure_variants, run_copy
from incc.running.decremental.patching import CodePlaces
from incc.running.profile import ProgramProfile
from incc.support.errors import AnalysisError

if TYPE_CHECKING:
    from incc.running.run_report import LoopKey

_MOST_LOOPS = 50
"""The most loops of a program with probes among which the one that is named is searched."""
_MUCH_MORE, _LEAST_SHARE = 2.0, 0.1
"""Loads miss L1 if the loop saves this many times the predicted cycles without them, and more of its cycles than this
share, or than those by which the runs differ, beyond what is predicted."""
_FITTING = 1.5
"""The largest ratio of measured and modelled cycles for a level that fits."""
_FIRST_RUN = 60.0


class _ProgramLoop(msgspec.Struct, frozen=True):
    """A loop in a program or library."""

    module: str
    result: KernelResult
    report: t.KernelReport
    core: str


def measure_decrements(
    words: Sequence[str],
    environment: Mapping[str, str],
    loop: str,
    mcpu: str,
    model_path: Sequence[str],
    repetitions: int,
    limit: float,
) -> LessWorkReport:
    """Return the report on a program without each part of a loop's work.

    Args:
        words: the command.
        environment: its environment.
        loop: the loop: FUNCTION, FUNCTION:LINE, FUNCTION:LOOP, such as main:loop2, or its name, such as .text+0x150.
        mcpu: the core of the predictions; "" for the host.
        model_path: the places that are searched for models first.
        repetitions: the number of runs of each variant.
        limit: the longest time of the unchanged program in seconds.

    Raises:
        AnalysisError: the program or the loop cannot be found, or it cannot be run.
    """
    executable = _executable(words[0], environment)
    chosen = _named(loop)
    notes: list[str] = []
    with _input() as stdin:
        program = Program(
            words=tuple(words),
            executable=executable,
            module=executable,
            environment=environment,
            stdin=stdin,
            limit=limit,
        )
        found = _candidates(program, chosen, mcpu, model_path)
        if not found:
            raise AnalysisError(f"{words[0]}: no loop is named {loop!r}, in the program or its libraries")
        key, one = _with_probes(program, found, notes) or (None, _only(loop, found))
        program = msgspec.structs.replace(program, module=one.module)
        parts = [each for each in decrements(one.result) if each.work.left_out]
        unchanged, measured = measure_variants(
            program,
            CodePlaces(one.module, one.result.kernel),
            [each.work.replaced for each in parts],
            repetitions,
            None if key is None else lambda folder: _loop_time(folder, key),
        )
    least = unchanged.least
    assert least is not None
    if key is None:
        notes.append(
            "the program has no probes at this loop, so its whole processor time is compared"
            + ("" if unchanged.course else ", and it is unknown if the loop runs the same iterations")
            + "; build it with incc --analyze-probe"
        )
    return LessWorkReport(
        command=tuple(words),
        module=one.module,
        function_name=one.report.function_name,
        loop=one.report.kernel_id.rpartition("/")[2],
        source=one.report.source,
        core=one.core,
        unit="cycles" if key is not None else "seconds",
        iterations=unchanged.loop.iterations if unchanged.loop else None,
        repetitions=repetitions,
        predicted=float(one.result.cycles),
        measured=least,
        spread=unchanged.spread,
        variants=tuple(
            _variant(one, each, runs, unchanged if key is not None else None)
            for each, runs in zip(parts, measured, strict=True)
        ),
        notes=tuple(notes),
    )


def _variant(one: _ProgramLoop, part: Decrement, runs: Measured, unchanged: Measured | None) -> LessWorkRun:
    """Return a variant's report; `unchanged` are the runs of the program if cycles are measured."""
    lines = {i: each.source.line for i, each in enumerate(one.report.instructions) if each.source}
    return LessWorkRun(
        text=work_text(one.result.kernel, part.work, lines),
        predicted=float(part.cycles),
        measured=runs.least,
        spread=runs.spread,
        skipped=runs.skipped,
        remark=_miss(one.result, part, runs, unchanged) if unchanged else "",
    )


def _miss(result: KernelResult, part: Decrement, runs: Measured, unchanged: Measured) -> str:
    """Return a clause if leaving out loads saves much more than predicted, with the level of their data if one fits."""
    if part.work.kind not in ("load", "array", "loads", "memory") or runs.least is None or unchanged.least is None:
        return ""
    saved = unchanged.least - runs.least
    predicted = max(0.0, float(result.cycles - part.cycles))
    doubt = max(_LEAST_SHARE, unchanged.spread, runs.spread) * unchanged.least
    if saved - predicted < doubt or saved < _MUCH_MORE * predicted:
        return ""
    loads = [i for i in part.work.left_out if any(access.load for access in result.kernel.instructions[i].memory)]
    if decides_addresses(result.kernel, loads):
        return ""
    level = _level(result, loads, saved - predicted)
    return "misses L1" + (f": its cycles fit data in {level}" if level else "")


def _level(result: KernelResult, loads: Sequence[int], cycles: float) -> str:
    """Return the level of the memory hierarchy whose lines take about these cycles per iteration, "" if none does."""
    memory = result.model.memory
    if memory is None:
        return ""
    fronts = [
        front for front in (result.data.traffic.fronts if result.data else ()) if {*front.instructions} & {*loads}
    ]
    if {*loads} - {i for front in fronts for i in front.instructions}:
        return ""  # it is unknown how many lines the others need
    lines = sum(float(front.lines) for front in fronts)
    best, ratio = "", _FITTING
    cost = 0.0
    for level in memory.levels[1:]:
        if level.read is None:
            break
        cost += float(level.read)
        expected = cost * lines
        if expected > 0 and (off := max(expected / cycles, cycles / expected)) <= ratio:
            best, ratio = level.name, off
    return best


# --- the program and its loop -----------------------------------------------------------------------------------------


def _executable(name: str, environment: Mapping[str, str]) -> str:
    path = shutil.which(name, path=environment.get("PATH"))
    if path is None:
        raise AnalysisError(f"{name}: {'not executable' if os.path.exists(name) else 'no such program'}")
    return os.path.abspath(path)


@contextmanager
def _input() -> Iterator[str]:
    """Yield the path of a file with the standard input, from its present position on."""
    mode = os.fstat(0).st_mode if _is_open(0) else 0
    if not (stat.S_ISREG(mode) or stat.S_ISFIFO(mode)):
        yield os.devnull
        return
    with tempfile.NamedTemporaryFile(prefix="incc-decrement-") as copy:
        shutil.copyfileobj(sys.stdin.buffer, copy)
        copy.flush()
        yield copy.name


def _is_open(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True


def _named(loop: str) -> NamedKernels:
    """Return the loops that the user names."""
    function, colon, which = loop.rpartition(":")
    if colon and which.isdecimal():
        return NamedKernels(function, int(which))
    if colon and which.startswith(("loop", "partial")) and not function.endswith(":"):
        return NamedKernels(f"{function}/{which}", 0)
    return NamedKernels(loop, 0)


def _candidates(program: Program, chosen: NamedKernels, mcpu: str, model_path: Sequence[str]) -> list[_ProgramLoop]:
    """Return the loops with the name, of the program or of the first library that has one.

    Raises AnalysisError if there is none, and the program or a library cannot be read.
    """
    problems = []
    for module in (program.executable, *_libraries(program)):
        try:
            if found := list(_loops_of(module, chosen, mcpu, model_path)):
                return found
        except AnalysisError as error:
            problems.append(str(error))
    if problems:
        raise AnalysisError(problems[0])
    return []


def _loops_of(module: str, chosen: NamedKernels, mcpu: str, model_path: Sequence[str]) -> Iterator[_ProgramLoop]:
    from incc.driver.pipeline import analyze_object, report_of
    from incc.driver.settings import Settings, with_values

    # Without symbols, loops are named after the section: .text+0x150.
    functions = () if "+0x" in chosen.function else (chosen.function.partition("/")[0],)
    values = {
        "scope.functions": functions,
        "core.mcpu": mcpu or "native",
        "core.model_path": tuple(model_path),
        "kernel.arrays": "likely",
        "kernel.beyond_l1": True,
    }
    unit = Unit(assembly="", assembly_file=module, way="object")
    result = analyze_object(unit, module, with_values(Settings(), values))
    (report,) = report_of([result]).units
    for each, kernel in zip(result.results, report.kernels, strict=True):
        if chosen.fits(kernel):
            yield _ProgramLoop(module, each, kernel, result.model.name)


def _libraries(program: Program) -> list[str]:
    """Return the shared libraries that the loader loads with the program."""
    environment = {**program.environment, "LD_TRACE_LOADED_OBJECTS": "1"}
    try:
        run = subprocess.run(
            [program.executable], env=environment, capture_output=True, timeout=_FIRST_RUN, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return []
    paths = [
        line.partition(" => ")[2].rpartition(" (")[0] for line in run.stdout.decode("utf-8", "replace").splitlines()
    ]
    return [os.path.realpath(path) for path in paths if os.path.isfile(path)]


def _only(loop: str, found: Sequence[_ProgramLoop]) -> _ProgramLoop:
    if len(found) == 1:
        return found[0]
    names = ", ".join(
        f"{each.report.function_name}:{each.report.kernel_id.rpartition('/')[2]}"
        + (f" ({each.report.source})" if each.report.source else "")
        for each in found
    )
    raise AnalysisError(f"{loop!r} names {len(found)} loops; choose one of {names}")


# --- probes -----------------------------------------------------------------------------------------------------------


def _with_probes(
    program: Program, found: Sequence[_ProgramLoop], notes: list[str]
) -> tuple[LoopKey, _ProgramLoop] | None:
    """Return the one of the loops that took longest in a run with probes, and its key; None without probes."""
    from incc.running.run_report import longest, merged

    with tempfile.TemporaryDirectory(prefix="incc-decrement-") as recorded:
        run_copy(program, None, recorded, program.limit)
        profiles, _ = read_profiles(recorded_files(recorded))
    loops = merged(profiles)
    wanted = longest(loops, _MOST_LOOPS)
    _, analysed = analysed_loops("", (), {loop.module for loop in loops.values()}, wanted, notes)
    by_code = {content_hash(each.result.kernel): each for each in found}
    ticks = {key: loops[key].ticks for key, each in analysed.items() if content_hash(each.result.kernel) in by_code}
    if not ticks:
        return None
    key = max(ticks, key=lambda each: ticks[each])
    return key, by_code[content_hash(analysed[key].result.kernel)]


def _loop_time(folder: str, key: LoopKey) -> LoopTime | None:
    """Return what probes recorded of a loop in a folder; None if it was not entered, or the clock is unknown."""
    from incc.running.run_report import merged

    profiles, _ = read_profiles(recorded_files(folder))
    loop = merged(profiles).get(key)
    rate = _rate(profiles)
    if loop is None or not loop.iterations or not rate:
        return None
    return LoopTime(
        cycles=loop.ticks * rate / loop.iterations,
        entries=loop.entries,
        iterations=loop.iterations,
        iterations_error=loop.iterations_error,
    )


def _rate(profiles: Sequence[ProgramProfile]) -> float:
    rates = [profile.cycles_per_tick for profile in profiles if profile.cycles_per_tick]
    return sum(rates) / len(rates) if rates else 0.0
