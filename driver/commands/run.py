"""The command `incc-run`: run a program that was built with probes, and report on its loops."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from incc.driver import UsageError
from incc.driver.cli import shared
from incc.driver.cli.command import ENVIRONMENT, Command, group
from incc.driver.cli.kinds import Option, check_targets
from incc.driver.cli.parsers import run
from incc.driver.deliver import write_rendered, write_stream
from incc.driver.messages import run_command, say
from incc.driver.sides.runs import TOP, check_core, read_profiles, recorded_files, report_on
from incc.report.runs import RunReport
from incc.support.errors import AnalysisError
from incc.support.progress import progress_shown
from incc.support.signals import die_by, interruptible
from incc.support.text import without_surrogates
from incc.views.running import render, render_less_work

if TYPE_CHECKING:
    import argparse

USAGE, NOT_EXECUTABLE, NOT_FOUND = 2, 126, 127

_FORWARDED = (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM)
"""The signals that are sent on to the program, as those who send them know no other process."""

COMMAND = Command(
    name="incc-run",
    summary="run a program that was built with probes, and report on its loops",
    usage=("incc-run [options] -- COMMAND…",),
    about=(
        "Run a program that was built with `incc --analyze-probe` (INCC_PROBE=1) or `incc-build --probe`, and report "
        "what its loops took: their share of the time, entries, iterations, cycles per iteration, the prediction, and "
        "what explains the difference. The program's output and exit status stay as they are; the report goes to "
        "standard error. incc-report --probes prints it later, from what the probes have recorded.",
    ),
    groups=(
        group(
            "options",
            Option("-o FILE", "text", "write the report to FILE (default: standard error)", "", aliases=("--output",),
                   into="output"),
            *shared.formats("text", "json", help="report format"),
            shared.HTML,
            Option("--probes FOLDER", "text", "keep what probes record in FOLDER, for incc-report --probes", ""),
            shared.mcpu("core of the predictions (default: the host)"),
            shared.MODEL_PATH,
            shared.top("loops", "20"),
            Option("--decrement LOOP", "text",
                   "run copies of the program without each part of the work of LOOP: FUNCTION[:LINE|:loopN]", ""),
            Option("--repeat N", "count", "with --decrement: runs of each copy (default: 3)", 3),
            Option("--limit N", "count", "with --decrement: longest run of the program in seconds (default: 60)", 60),
            Option("COMMAND…", "rest", "program with its arguments", into="command"),
        ),
    ),
    examples=(
        "incc gcc -O3 --analyze-probe -g sum.c -o sum && incc-run -- ./sum 1000",
        "incc-run -o run.json --json -- ./sum 1000",
        "incc-run --probes=recorded -- make test; incc-report --probes=recorded --top=50",
    ),
    environment=(
        *ENVIRONMENT,
        ("INCC_PROBES", "folder for what probes record in programs that are started without incc-run"),
    ),
    status="that of the program, or 128 plus the number of the signal that ended it; 127 if it does not exist; 2 for a "
    "mistake on the command line, or a report that cannot be written",
)  # fmt: skip


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
    if not words:
        raise UsageError(
            "no program; name one after --, as in: incc-run -- ./program; incc-report --probes reports on earlier runs"
        )
    check_core(options.mcpu, options.model_path)
    _check_files(options)
    if options.decrement:
        return _decrement(options, words)
    with _folder(options.probes) as folder:
        before = set(recorded_files(folder))
        status = _execute(words, folder)
        files = [file for file in recorded_files(folder) if file not in before]
        if status in (NOT_EXECUTABLE, NOT_FOUND) and not files:
            return status
        top = options.top or TOP
        profiles, problems = read_profiles(files)
        report = report_on(profiles, options.mcpu, options.model_path, top, words, status, problems)
        problem = _deliver(options, report, top)
    if status < 0:
        die_by(-status)
    return status or problem


def _check_files(options: argparse.Namespace) -> None:
    """Raise UsageError before the program runs if a file cannot be written afterwards."""
    targets = [
        (name, file) for name, file in (("-o", options.output), ("--html", options.html)) if file not in (None, "", "-")
    ]
    check_targets(targets)
    for name, file in targets:
        folder = os.path.dirname(file) or "."
        if not os.path.isdir(folder):
            raise UsageError(f"{name}: there is no folder {folder}")
        if not os.access(file if os.path.exists(file) else folder, os.W_OK):
            raise UsageError(f"{name}: {file} cannot be written to")


@contextlib.contextmanager
def _folder(named: str) -> Iterator[str]:
    """Yield the folder that probes record in, which is removed afterwards if it has no name."""
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


def _environment() -> dict[str, str]:
    # The launcher hides some variables from Python (front/python.cpp).
    return {name.removeprefix("INCC_HIDDEN_"): value for name, value in os.environ.items()}


def _decrement(options: argparse.Namespace, words: Sequence[str]) -> int:
    """Run the program without parts of a loop's work, and return the exit status."""
    from incc.driver.sides.decrement import measure_decrements

    if options.html or options.probes:
        raise UsageError(f"--decrement and --{'html' if options.html else 'probes'} cannot be combined")
    try:
        with progress_shown(), interruptible():
            report = measure_decrements(
                words,
                _environment(),
                options.decrement,
                options.mcpu,
                options.model_path,
                max(1, options.repeat),
                options.limit,
            )
    except KeyboardInterrupt:
        return USAGE  # `run_command` ends by the signal
    rendered = partial(render_less_work, report, options.format)
    if options.output:
        write_rendered(options.output, rendered)
    else:
        write_stream(sys.stderr, lambda width, colour: without_surrogates(rendered(width, colour)))
    return 0


def _execute(words: Sequence[str], folder: str) -> int:
    """Run the program and return its exit status, negative for a signal."""
    environment = {**_environment(), "INCC_PROBES": folder}
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


def _deliver(options: argparse.Namespace, report: RunReport, top: int) -> int:
    """Write the report and return 0, or the status for a report that cannot be written to standard error."""
    if options.html:
        write_rendered(None if options.html == "-" else options.html, partial(render, report, "html", top=top))
    rendered = partial(render, report, options.format, top=top)
    if options.output:
        write_rendered(options.output, rendered)
        return 0
    try:
        write_stream(sys.stderr, lambda width, colour: without_surrogates(rendered(width, colour)))
    except OSError:
        return USAGE
    return 0
