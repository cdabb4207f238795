"""Runs of programs with probes as inputs: the files that probes write, and reports of `incc-run` as JSON."""

from __future__ import annotations

import contextlib
import glob
import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import msgspec

from incc.driver import UsageError
from incc.report.documents import InputError, reason
from incc.report.runs import RunReport
from incc.running.profile import ProgramProfile, read_profile
from incc.support.errors import AnalysisError
from incc.support.files import LARGEST_INPUT, read_regular

if TYPE_CHECKING:
    from incc.running.run_report import AnalysedLoop, LoopKey
    from incc.running.units import StoredUnit

TOP = 20
"""Default number of loops."""

_LARGEST_PROGRAM = 2 << 30
"""In bytes."""


def check_core(mcpu: str, model_path: Sequence[str] = ()) -> None:
    """Raise UsageError if there are no predictions for the core of this name."""
    from incc.driver.pipeline import choose_model
    from incc.frontends.isa import isa
    from incc.running.insertion import ISA

    if not mcpu:
        return
    try:
        model = choose_model(mcpu, "", model_path).model
    except AnalysisError as error:
        raise UsageError(str(error)) from error
    if model.isa != ISA:
        raise UsageError(f"--mcpu: {mcpu} has {isa(model.isa).title} code, which has no probes")


# --- inputs -----------------------------------------------------------------------------------------------------------


def is_run(path: str) -> bool:
    """Return True if a file begins as a report of incc-run."""
    try:
        return os.path.isfile(path) and b'"incc-run"' in _start(path, 100)
    except (OSError, ValueError):
        return False


def _start(path: str, size: int) -> bytes:
    """Return the first bytes of a file. Raises OSError."""
    with open(path, "rb") as file:
        return file.read(size)


def is_recorded(path: str) -> bool:
    """Return True if a path is a file that probes wrote, or a folder with such files."""
    return bool(recorded_files(path)) if os.path.isdir(path) else path.endswith(_ENDING)


_ENDING = ".probes"


def recorded_files(folder: str) -> list[str]:
    """Return the files in a folder that probes wrote."""
    return sorted(glob.glob(os.path.join(glob.escape(folder), f"*{_ENDING}")))


def read_run(
    names: Sequence[str], mcpu: str = "", model_path: Sequence[str] = (), most: int = TOP, like: RunReport | None = None
) -> tuple[RunReport, list[str]]:
    """Return the report on what probes recorded in files and folders, and messages on files that cannot be read.

    A report of `incc-run` in their place is returned as it is, also from a database.

    Args:
        names: the files and folders.
        mcpu: the core of the predictions; "" for the host.
        model_path: the places that are searched for models first.
        most: the number of loops to analyse, those that took longest.
        like: the run with whose command one is taken from a database.

    Raises:
        InputError: none of the files can be read.
    """
    if len(names) == 1 and (database := _in_database(names[0])):
        from incc.history.runs import run_like

        return run_like(*database, like), []
    reports = [name for name in names if is_run(name) or name.endswith(".json")]
    if reports and len(names) > 1:
        raise InputError(f"{reports[0]}: a report of incc-run, which cannot be combined with other files")
    if reports:
        return _stored_report(reports[0]), []
    files: list[str] = []
    for name in names:
        below = recorded_files(name) if os.path.isdir(name) else [name]
        if not below:
            raise InputError(
                f"{name}: nothing that probes recorded (*{_ENDING}) in this folder; set INCC_PROBES={name} for a "
                "program that was built with probes"
            )
        files += below
    profiles, problems = read_profiles(dict.fromkeys(files))
    if not profiles:
        raise InputError("\n".join(problems))
    return report_on(profiles, mcpu, model_path, most), problems


def _in_database(name: str) -> tuple[str, str] | None:
    """Return the path of a database and the name of a commit in it, "" for the newest; None for other inputs."""
    from incc.driver.sides.read import SQLITE_MAGIC, database_of

    if not os.path.exists(name):
        return database_of(name)
    with contextlib.suppress(OSError):
        if os.path.isfile(name) and _start(name, len(SQLITE_MAGIC)) == SQLITE_MAGIC:
            return name, ""
    return None


def _stored_report(path: str) -> RunReport:
    try:
        return msgspec.json.decode(read_regular(path, LARGEST_INPUT), type=RunReport)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from error
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise InputError(f"{path}: not a report of this version of incc-run: {error}") from error


def read_profiles(files: Iterable[str]) -> tuple[list[ProgramProfile], list[str]]:
    """Return what processes recorded in these files, and messages on files that cannot be read."""
    profiles: list[ProgramProfile] = []
    problems: list[str] = []
    for path in files:
        try:
            profiles.append(read_profile(path))
        except (AnalysisError, OSError, ValueError) as error:
            text = reason(error)
            problems.append(text if text.startswith(f"{path}: ") else f"{path}: {text}")
    return profiles, problems


# --- the report -------------------------------------------------------------------------------------------------------


def report_on(
    profiles: Sequence[ProgramProfile],
    mcpu: str = "",
    model_path: Sequence[str] = (),
    most: int = TOP,
    words: Sequence[str] = (),
    status: int | None = None,
    notes: Iterable[str] = (),
) -> RunReport:
    """Return the report on what processes recorded; see `read_run`.

    Args:
        profiles: what they recorded.
        mcpu: the core of the predictions.
        model_path: the places that are searched for models first.
        most: the number of loops to analyse.
        words: the command that was run.
        status: its exit status.
        notes: further notes.
    """
    from incc.running.run_report import longest, merged, run_report

    all_notes = list(notes)
    if not profiles:
        all_notes.append(
            "no process has recorded anything: build the program with incc --analyze-probe, and link it with incc, too"
        )
    loops = merged(profiles)
    modules = {loop.module for loop in loops.values()}
    units, analysed = analysed_loops(mcpu, model_path, modules, longest(loops, most), all_notes)
    for module in sorted({loop.module for (unit, _), loop in loops.items() if unit not in units}):
        if not any(note.startswith(f"{module}: ") for note in all_notes):
            all_notes.append(f"{module}: loops are not analysed, because it was built anew since they ran")
    return run_report(profiles, analysed, units, words, status, all_notes)


def analysed_loops(
    mcpu: str, model_path: Sequence[str], modules: set[str], wanted: set[LoopKey], notes: list[str]
) -> tuple[dict[str, StoredUnit], dict[LoopKey, AnalysedLoop]]:
    """Return the units in programs and libraries, and the analyses of the loops that ran."""
    from incc.driver.pipeline import analyze_unit, report_of
    from incc.driver.settings import Settings, with_values
    from incc.running.run_report import AnalysedLoop
    from incc.running.units import SECTION, units_in

    values = {
        "core.mcpu": mcpu or "native",
        "core.model_path": tuple(model_path),
        "kernel.beyond_l1": True,
        "kernel.timeline_iterations": 0,
    }
    settings = with_values(Settings(), values)
    units: dict[str, StoredUnit] = {}
    analysed: dict[LoopKey, AnalysedLoop] = {}
    for module in sorted(modules):
        try:
            stored_units = list(units_in(_section(module)))
        except (OSError, AnalysisError, ValueError) as error:
            notes.append(f"{module}: its loops are not analysed: {reason(error)}")
            continue
        if not stored_units:
            notes.append(f"{module}: its loops are not analysed: it has lost the section {SECTION}")
        for stored, unit in stored_units:
            if stored.key in units:
                continue
            units[stored.key] = stored
            kernels = {kernel for key, kernel in wanted if key == stored.key}
            if not kernels:
                continue
            functions = tuple(sorted({kernel.partition("/")[0] for kernel in kernels}))
            try:
                result = analyze_unit(unit, with_values(settings, {"scope.functions": functions}))
                report = report_of([result]).units[0]
            except Exception as error:  # what was measured must be printed
                if os.environ.get("INCC_DEBUG"):
                    raise
                text = " ".join(str(error).split())[:200]
                notes.append(f"{stored.source or module}: its loops are not analysed: {text}")
                continue
            of_kernel = {kernel.kernel_id: kernel for kernel in report.kernels}
            ways = result.inside or [None] * len(result.results)
            for identity, each, through in zip(result.kernel_ids, result.results, ways, strict=True):
                if identity in kernels and identity in of_kernel:
                    analysed[stored.key, identity] = AnalysedLoop(each, of_kernel[identity], result.model.name, through)
    return units, analysed


def _section(module: str) -> bytes:
    """Return the units in a program or library. Raises OSError and ValueError."""
    from incc.frontends.elf import read_elf
    from incc.running.units import SECTION

    return bytes(read_elf(read_regular(module, _LARGEST_PROGRAM)).content(SECTION))
