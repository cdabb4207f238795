"""The command `incc-scan`: analyse many kernels in one process."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from functools import partial
from io import TextIOWrapper
from typing import TYPE_CHECKING, TextIO

from msgspec.structs import replace

from incc.core.analysis import KernelSettings
from incc.driver import UsageError
from incc.driver.cli import shared
from incc.driver.cli.command import ENVIRONMENT, Command, group
from incc.driver.cli.kinds import Option, check_targets
from incc.driver.cli.parsers import run, settings_of
from incc.driver.cli.shared import COMPILED
from incc.driver.commands.scan.analysis import Input, Scan, ScanOutcome, Worker
from incc.driver.commands.scan.inputs import HexBlock, UnreadableInput, read_inputs
from incc.driver.commands.scan.output import Output
from incc.driver.cores import cores_of, named_cores
from incc.driver.messages import fail, run_command
from incc.driver.pipeline import choose_model
from incc.driver.settings import REPORTED, Settings
from incc.frontends.isa import isa, names
from incc.models.loading import list_models, load
from incc.support.errors import AnalysisError
from incc.support.files import replacement
from incc.support.progress import counted, progress_shown
from incc.support.workers import MOST, WorkerError, cpus, in_order

if TYPE_CHECKING:
    import argparse

CHUNK = 16
"""Blocks that a worker process takes at a time: enough to make handing them over cheap, few enough to share evenly."""


FORMATS = ("text", "json", "cycles")

COMMAND = Command(
    name="incc-scan",
    summary="analyse many kernels in one process",
    about=(
        "Analyse the loops of objects, folders, assembly files or a project, or blocks of machine code. Sources are "
        f"compiled: {COMPILED}",
    ),
    groups=(
        group(
            "options",
            Option(
                "[FILE…]",
                "operand",
                "input files, or folders to search for objects, libraries and programs (default: -, standard input); "
                "with -p: the sources to analyse (default: all)",
                into="files",
            ),
            Option(
                "-p FILE|FOLDER",
                "text",
                "analyse the commands of a compile_commands.json (or of the folder with it), without a build",
                None,
                into="project",
            ),
            Option("--trust", "flag", "with -p: also run compilers outside PATH, and allow options that run programs"),
            Option("--reports FOLDER", "text", "with -p: also write a report of each source to a folder, as incc does"),
            Option(
                "--input-format hex|asm|obj",
                "choice",
                "hex: at the start of each line a block of machine code, a loop if it ends in a jump to its start; "
                "asm: marked regions or innermost loops of assembly; obj: loops of objects (default: what each file "
                "looks like)",
            ),
            shared.mcpu(
                "core, or cores separated by commas, or all (default: the host; with -p: each command's target)"
            ),
            shared.MODEL_PATH,
            shared.TRUST_INCLUDES,
            shared.MAX_SECONDS,
            shared.MAX_MEMORY,
            shared.function("analyse", sets="scope.functions"),
            *shared.formats(
                *FORMATS,
                help="text: a table of the kernels of each file; json: a report on each line; cycles: on each line a "
                "block or kernel and its cycles, with --measure also those measured",
            ),
            replace(shared.OUTPUT, aliases=()),
            Option(
                "--bounds",
                "flag",
                "do not simulate: predict the largest bound",
                True,
                sets="kernel.simulate",
                into="simulate",
            ),
            shared.where("show kernels that meet a condition on any core, as in 'cycles > 1.1*bound and flop > 0'"),
            shared.top("kernels of all files, those with the most to gain"),
            shared.DATA,
            shared.CORES,
            shared.LET,
            shared.CLOCK,
            Option("--measure", "flag", "also run the kernels on this machine and report the cycles they take"),
            shared.UNSAFE,
            shared.jobs("analyse", "; 1 with --measure"),
        ),
    ),
    hidden=(Option("--output FORMAT|FILE", "file", into="former_output", default=None),),
    environment=ENVIRONMENT,
    status="0; 1 if some of the input could not be analysed; 2 for a mistake on the command line, or an output that "
    "cannot be written",
)


def main(arguments: list[str] | None = None) -> int:
    """Run the command and return its exit status."""
    return run(COMMAND, arguments, _run, (AnalysisError, WorkerError), 1)


def _run(options: argparse.Namespace) -> int:
    _read_former_options(options)
    scan = _requested_scan(options)
    inputs, note = _inputs(options)
    jobs = options.jobs or (1 if options.measure else cpus())
    if options.output:
        check_targets([("-o", options.output)], options.files)
        try:
            with replacement(options.output) as file:
                text = TextIOWrapper(file, encoding="utf-8", errors="surrogateescape")
                try:
                    return 0 if _scan(scan, inputs, jobs, note, text) else 1
                finally:
                    text.detach()
        except OSError as error:
            return fail("incc-scan", f"{error.filename or options.output}: {error.strerror}", UsageError.status)
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="surrogateescape")  # file names may contain any bytes
    return 0 if _scan(scan, inputs, jobs, note, sys.stdout) else 1


def _read_former_options(options: argparse.Namespace) -> None:
    """Read options that had another meaning: --output=FORMAT, and -o FOLDER for --reports=FOLDER."""
    former = options.former_output
    if former in ("table", *FORMATS):
        options.format = "text" if former == "table" else former
    elif former:
        options.output = former
    names_folder = options.output and (os.path.isdir(options.output) or options.output.endswith("/"))
    if names_folder and options.project is not None and not options.reports:
        options.output, options.reports = None, options.output


def command() -> int:
    """Run the installed command."""
    return run_command(main)


def _requested_scan(options: argparse.Namespace) -> Scan:
    """Return the settings of the command line. Raises UsageError, and AnalysisError for an unknown core."""
    in_project = options.project is not None
    if options.measure and options.jobs > 1:
        raise UsageError("--measure and -j cannot be combined: kernels are measured one at a time")
    if options.reports and not in_project:
        raise UsageError("--reports requires -p")
    if options.trust and not in_project:
        raise UsageError("--trust requires -p")
    if options.files.count("-") > 1:
        raise UsageError("standard input can be read only once")
    if options.input_format and in_project:
        raise UsageError("--input-format and -p cannot be combined")
    # What runs on this machine is compared with a model of its core, whatever core a command is for.
    mcpu = options.mcpu or ("native" if options.measure else "")
    kernel = REPORTED if options.reports else KernelSettings(arrays="likely")
    settings = settings_of(COMMAND, options, Settings(kernel=kernel))
    each_core = _cores(mcpu, settings) if mcpu else [settings]
    if mcpu or not in_project:
        choose_model(each_core[0].core.mcpu, "", each_core[0].core.model_path)  # for its errors
    if options.format == "cycles" and (len(each_core) > 1 or (in_project and not mcpu)):
        raise UsageError("--format=cycles is for one core; name it with -mcpu")
    return Scan(
        cores=each_core,
        own_cores=in_project and not mcpu,
        format=options.format,
        condition=options.where,
        top=options.top,
        unique=any(os.path.isdir(name) for name in options.files),
        measure=options.measure,
        unsafe=options.unsafe,
        reports=options.reports or "",
        requested=bool(options.files),
    )


def _cores(mcpu: str, settings: Settings) -> list[Settings]:
    """Return the settings for each core of a list. Raises AnalysisError."""
    if "all" in named_cores(mcpu):
        path = settings.core.model_path
        models = [load(entry.path, path) for entry in list_models(path)]
        # Blocks of machine code are read as the first core's.
        mcpu = ",".join(model.name for model in sorted(models, key=lambda model: names().index(model.isa)))
    return cores_of(settings.on(mcpu))


def _inputs(options: argparse.Namespace) -> tuple[Iterable[Input], str]:
    """Return the inputs, and a note on them or "". Raises UsageError for an unusable project."""
    if options.project is not None:
        from incc.driver.commands.scan.project import read_project

        project = read_project(options.project, options.files, options.trust)
        return project.commands, project.note
    return read_inputs(options.files or ["-"], options.input_format), ""


# --- work -------------------------------------------------------------------------------------------------------------


def _scan(scan: Scan, inputs: Iterable[Input], jobs: int, note: str, stream: TextIO) -> bool:
    """Analyse the inputs, write the results and a note to streams, and return True if everything was analysed."""
    output = Output(scan, stream)
    output.add(ScanOutcome(notes=[note] if note else []))
    try:
        # Output on the terminal shows the progress itself.
        with nullcontext() if sys.stdout.isatty() else progress_shown():
            for outcome in counted(_outcomes(Worker(scan), inputs, jobs), "analysing"):
                output.add(outcome)
                stream.flush()
                output.inputs += 1
    finally:
        output.flush()
    output.print_notes()
    return not output.failed


def _outcomes(worker: Worker, inputs: Iterable[Input], jobs: int) -> Iterator[ScanOutcome]:
    if jobs == 1:
        return (worker([item]) for item in inputs)

    # What every worker needs is loaded before they are forked off.
    items = list(inputs)
    isa(worker.models[0].isa if worker.models else names()[0]).load()
    are_blocks = all(isinstance(item, (HexBlock, UnreadableInput)) for item in items)
    size = max(CHUNK if are_blocks else 1, -(-len(items) // MOST))
    chunks = [items[start : start + size] for start in range(0, len(items), size)]
    return in_order(worker, chunks, jobs, partial(_one_by_one, worker))


def _one_by_one(worker: Worker, inputs: Sequence[Input], why: str) -> ScanOutcome:
    """Return the outcome of inputs one of which has crashed its process, each analysed in a process of its own."""
    outcome = ScanOutcome()
    if len(inputs) == 1:
        outcome.add_failure(inputs[0], why)
        return outcome
    for one in in_order(worker, [[item] for item in inputs], 1, partial(_one_by_one, worker)):
        outcome.append(one)
    return outcome
