"""The command `incc-run`: run a program that was built with probes, and report on its loops."""

from __future__ import annotations

import contextlib
import glob
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Collection, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from incc.driver import UsageError
from incc.driver.cli import shared
from incc.driver.cli.command import ENVIRONMENT, Command, group
from incc.driver.cli.kinds import Option
from incc.driver.cli.parsers import run
from incc.driver.deliver import write_rendered, write_stream
from incc.driver.messages import run_command, say
from incc.report.runs import RunReport
from incc.running.profile import ProfileError, ProgramProfile, read_profile
from incc.support.errors import AnalysisError
from incc.support.files import read_regular
from incc.support.signals import die_by

if TYPE_CHECKING:
    import argparse

    from incc.running.run_report import Analysed, LoopKey
    from incc.running.units import StoredUnit

USAGE, NOT_EXECUTABLE, NOT_FOUND = 2, 126, 127

_FORWARDED = (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM)
"""The signals that are sent on to the program, as those who send them know no other process."""

COMMAND = Command(
    name="incc-run",
    summary="run a program that was built with probes, and report on its loops",
    usage=("incc-run [options] -- COMMAND…", "incc-run [options] --profiles=FOLDER"),
    about=(
        "Run a program that was built with `incc --analyze-probe` (INCC_PROBE=1) or `incc-build --probe`, and report "
        "what its loops took: their share of the time, entries, iterations, cycles per iteration, the prediction, and "
        "what explains the difference. The program's output and exit status stay as they are; the report goes to "
        "standard error.",
        "Without a command, report on the profiles in a folder.",
    ),
    groups=(
        group(
            "options",
            Option("-o FILE", "text", "write the report to FILE (default: standard error)", "", aliases=("--output",),
                   into="output"),
            *shared.formats("text", "json", help="report format"),
            shared.HTML,
            Option("--profiles FOLDER", "text", "keep the profiles of the processes in FOLDER, or read them there", ""),
            shared.mcpu("core of the predictions (default: the host)"),
            shared.MODEL_PATH,
            shared.top("loops", "20"),
            Option("COMMAND…", "rest", "program with its arguments", into="command"),
        ),
    ),
    examples=(
        "incc gcc -O3 --analyze-probe -g sum.c -o sum && incc-run -- ./sum 1000",
        "incc-run -o run.json --json -- ./sum 1000",
        "incc-run --profiles=profiles -- make test; incc-run --profiles=profiles --top=50",
    ),
    environment=(
        *ENVIRONMENT,
        ("INCC_PROBES", "folder for profiles of programs that are started without incc-run"),
    ),
    status="that of the program, or 128 plus the number of the signal that ended it; 127 if it does not exist; 2 for a "
    "mistake on the command line, or a report that cannot be written",
)  # fmt: skip

_LARGEST_PROGRAM = 2 << 30
"""In bytes."""

TOP = 20
"""Default number of loops."""


def main(arguments: list[str] | None = None) -> int:
    """Run the command and return the program's exit status, or 2 for a mistake on the command line."""
    return run(COMMAND, arguments, _run, (AnalysisError,), USAGE, prints=False)


def command() -> int:
    """Run the installed command."""
    return run_command(main)


_say = partial(say, "incc-run")


def _run(options: argparse.Namespace) -> int:
    words: list[str] = options.command
    if words[:1] == ["--"]:
        del words[0]
    if not words and not options.profiles:
        raise UsageError("no program; name one after --, as in: incc-run -- ./program")
    if not words and not os.path.isdir(options.profiles):
        raise UsageError(f"--profiles: {options.profiles} is not a folder")
    _check_core(options)
    if not words:
        _deliver(options, _report(options, options.profiles, (), None))
        return 0
    with _folder(options.profiles) as folder:
        before = set(_files(folder))
        status = _execute(words, folder)
        if status in (NOT_EXECUTABLE, NOT_FOUND) and not _files(folder):
            return status
        problem = _deliver(options, _report(options, folder, words, status, before))
    if status < 0:
        die_by(-status)
    return status or problem


def _check_core(options: argparse.Namespace) -> None:
    """Raise UsageError before the program runs if there are no predictions for the named core."""
    from incc.driver.pipeline import choose_model
    from incc.frontends.isa import isa
    from incc.running.insertion import ISA

    if not options.mcpu:
        return
    try:
        model = choose_model(options.mcpu, "", options.model_path).model
    except AnalysisError as error:
        raise UsageError(str(error)) from error
    if model.isa != ISA:
        raise UsageError(f"--mcpu: {options.mcpu} has {isa(model.isa).title} code, which has no probes")


@contextlib.contextmanager
def _folder(named: str) -> Iterator[str]:
    """Yield the folder for profiles, which is removed afterwards if it has no name."""
    if named:
        os.makedirs(named, exist_ok=True)
        yield os.path.abspath(named)
        return
    folder = tempfile.mkdtemp(prefix="incc-run-")
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _wait_on(number: int, frame: object) -> None:
    """Do nothing about a signal."""


def _execute(words: Sequence[str], folder: str) -> int:
    """Run the program and return its exit status, negative for a signal."""
    # The launcher hides some variables from Python (front/python.cpp).
    environment = {name.removeprefix("INCC_HIDDEN_"): value for name, value in os.environ.items()}
    environment["INCC_PROBES"] = folder
    child: subprocess.Popen[bytes] | None = None
    early: list[int] = []

    def forward(number: int, frame: object) -> None:
        if child is None:
            early.append(number)
        else:
            child.send_signal(number)

    # The terminal sends the first two to the program as well, whose end this process waits for. Signals that are
    # ignored stay so, also in the program.
    handlers = {signal.SIGINT: _wait_on, signal.SIGQUIT: _wait_on, **dict.fromkeys(_FORWARDED, forward)}
    kept = {n: signal.signal(n, each) for n, each in handlers.items() if signal.getsignal(n) != signal.SIG_IGN}
    try:
        child = subprocess.Popen(words, env=environment)
        for number in early:
            child.send_signal(number)
        return child.wait()
    except OSError as error:
        _say(f"error: {words[0]}: {error.strerror}")
        return NOT_FOUND if isinstance(error, FileNotFoundError) else NOT_EXECUTABLE
    finally:
        for number, handler in kept.items():
            signal.signal(number, handler)


# --- the report -------------------------------------------------------------------------------------------------------


def _files(folder: str) -> list[str]:
    return sorted(glob.glob(os.path.join(glob.escape(folder), "*.probes")))


def _report(
    options: argparse.Namespace, folder: str, words: Sequence[str], status: int | None, before: Collection[str] = ()
) -> RunReport:
    from incc.running.run_report import longest, merged, run_report

    profiles: list[ProgramProfile] = []
    notes: list[str] = []
    for path in _files(folder):
        if path in before:
            continue
        try:
            profiles.append(read_profile(path))
        except ProfileError as error:
            notes.append(str(error))
        except OSError as error:
            notes.append(f"{path}: error: {error.strerror}")
    if not profiles:
        notes.append(
            "no process has recorded anything: build the program with incc --analyze-probe, and link it with incc, too"
        )
    loops = merged(profiles)
    wanted = longest(loops, options.top or TOP)
    units, analysed = _analysed(options, {loop.module for loop in loops.values()}, wanted, notes)
    return run_report(profiles, analysed, units, words, status, notes)


def _analysed(
    options: argparse.Namespace, modules: set[str], wanted: set[LoopKey], notes: list[str]
) -> tuple[dict[str, StoredUnit], dict[LoopKey, Analysed]]:
    """Return the units in programs and libraries, and the analyses of the loops that ran."""
    from incc.driver.pipeline import analyze_unit, report_of
    from incc.driver.settings import Settings, with_values
    from incc.running.run_report import Analysed
    from incc.running.units import SECTION, units_in

    values = {
        "core.mcpu": options.mcpu or "native",
        "core.model_path": tuple(options.model_path),
        "kernel.beyond_l1": True,
        "kernel.timeline_iterations": 0,
    }
    settings = with_values(Settings(), values)
    units: dict[str, StoredUnit] = {}
    analysed: dict[LoopKey, Analysed] = {}
    for module in sorted(modules):
        try:
            stored_units = list(units_in(_section(module)))
        except (OSError, AnalysisError, ValueError) as error:
            notes.append(f"{module}: its loops are not analysed: {error}")
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
            for identity, each in zip(result.kernel_ids, result.results, strict=True):
                if identity in kernels and identity in of_kernel:
                    analysed[stored.key, identity] = Analysed(each, of_kernel[identity], result.model.name)
    return units, analysed


def _section(module: str) -> bytes:
    """Return the units in a program or library. Raises OSError and ValueError."""
    from incc.frontends.elf import read_elf
    from incc.running.units import SECTION

    return bytes(read_elf(read_regular(module, _LARGEST_PROGRAM)).content(SECTION))


def _deliver(options: argparse.Namespace, report: RunReport) -> int:
    """Write the report and return 0, or the status for a report that cannot be written."""
    from incc.views.running.text import lines

    top = options.top or TOP

    def render(width: int, colour: bool) -> str:
        if options.format == "json":
            return msgspec.json.format(msgspec.json.encode(report), indent=1).decode() + "\n"
        from incc.views.layout import Layout

        return "".join(f"{line}\n" for line in lines(report, Layout(width, colour), top))

    if options.html:
        from incc.views.running.page import page

        write_rendered(None if options.html == "-" else options.html, lambda width, colour: page(report))
    if options.output:
        write_rendered(options.output, render)
    else:
        try:
            write_stream(sys.stderr, render)
        except OSError:
            return USAGE
    return 0
