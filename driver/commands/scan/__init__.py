"""The command `incc-scan`: analyse many kernels in many processes."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, nullcontext
from io import TextIOWrapper
from typing import TYPE_CHECKING, TextIO

import msgspec

from incc.driver import UsageError
from incc.driver.cli.kinds import check_targets
from incc.driver.cli.parsers import run
from incc.driver.commands.scan.analysis import Input, InputAnalyser, Scan, ScanOutcome
from incc.driver.commands.scan.inputs import read_inputs
from incc.driver.commands.scan.options import COMMAND as COMMAND
from incc.driver.commands.scan.options import FORMATS
from incc.driver.commands.scan.output import Output, messages_of, say_scan, summary, watched
from incc.driver.commands.scan.pieces import PieceList
from incc.driver.commands.scan.request import encoded_scan, requested_scan, responding
from incc.driver.commands.scan.table import DatasetRows, JsonLines, RowSelection
from incc.driver.cores import named_cores
from incc.driver.datasets import opened_dataset
from incc.driver.messages import fail, run_command
from incc.driver.pipeline import choose_model
from incc.fleet.dataset.store import Store
from incc.fleet.engines import Engine, Limits, LocalEngine
from incc.fleet.flow import ScanFlow
from incc.fleet.messages import decoded
from incc.report.documents import InputError, printable
from incc.report.where import Condition
from incc.support.errors import AnalysisError
from incc.support.files import replacement, write_output
from incc.support.progress import counted, progress_shown
from incc.support.signals import interruptible
from incc.support.version import __version__
from incc.support.workers import WorkerError, cpus

if TYPE_CHECKING:
    import argparse

    from incc.fleet.dataset.writing import DatasetWriter


def main(arguments: list[str] | None = None) -> int:
    """Run the command and return its exit status."""
    words = sys.argv[1:] if arguments is None else arguments
    return run(COMMAND, arguments, lambda options: _run(options, words), (AnalysisError, WorkerError), 1)


def command() -> int:
    """Run the installed command."""
    return run_command(main)


class _Command(msgspec.Struct, frozen=True):
    """A command line, and the scan that it requests."""

    words: list[str]
    options: argparse.Namespace
    scan: Scan


def _run(options: argparse.Namespace, words: list[str]) -> int:
    if options.show:
        return _show(options)
    command = _Command(words, options, requested_scan(options))
    if options.resume and not command.scan.dataset:
        raise UsageError("--resume requires -o FOLDER")
    try:
        if command.scan.dataset:
            return 0 if _write_dataset(command) else 1
        if options.output:
            check_targets([("-o", options.output)], options.files)
            with replacement(options.output) as file:
                text = TextIOWrapper(file, encoding="utf-8", errors="surrogateescape")
                try:
                    return 0 if _print(command, text) else 1
                finally:
                    text.detach()
    except OSError as error:
        return fail("incc-scan", f"{error.filename or options.output}: {error.strerror}", UsageError.status)
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="surrogateescape")  # file names may contain any bytes
    return 0 if _print(command, sys.stdout) else 1


def _show(options: argparse.Namespace) -> int:
    """Print kernels of a dataset as lines of JSON."""
    if len(options.files) != 1 or options.output or options.former_output:
        raise UsageError("--show requires the folder of a dataset, and prints to standard output")
    cores = {choose_model(name, "", options.model_path).model.name for name in named_cores(options.mcpu)}
    try:
        with opened_dataset(options.files[0]) as dataset:
            for line in dataset.show(options.show, cores):
                write_output(line + b"\n")
    except InputError as error:
        return fail("incc-scan", str(error), UsageError.status)
    return 0


def _inputs(options: argparse.Namespace) -> tuple[Iterable[Input], str]:
    """Return the inputs, and a note on them or "". Raises UsageError for an unusable project, and AnalysisError."""
    if options.project is not None:
        from incc.driver.commands.scan.project import read_project

        project = read_project(options.project, options.files, options.trust)
        return project.commands, project.note
    if _reads_stdin(options):
        try:
            os.fstat(0)
        except OSError as error:  # closed: the next file that is opened would take its place
            raise AnalysisError(f"<stdin>: {error.strerror}") from None
    return read_inputs(options.files or ["-"], options.input_format), ""


def _reads_stdin(options: argparse.Namespace) -> bool:
    """Return True if standard input is one of the inputs."""
    return options.project is None and "-" in (options.files or ["-"])


def _described(options: argparse.Namespace) -> dict[str, object]:
    """Return the options that results depend on, by their names, without those that have their defaults."""
    other = ("output", "resume", "cluster", "jobs", "input_seconds", "input_memory", "mcpu", "files", "show")
    return {
        option.name: str(value.text if isinstance(value, Condition) else value)
        for part in COMMAND.groups
        for option in part.options
        if option.destination not in other
        and not option.stands_for
        and (value := getattr(options, option.destination)) not in (option.default, "", None, [])
        and (value is not False or option.default is True)
    }


# --- work -------------------------------------------------------------------------------------------------------------


@contextmanager
def _engine(command: _Command) -> Iterator[Engine]:
    """Start the processes that do the work, and end them. Raises ClusterError."""
    options = command.options
    limits = Limits(options.input_seconds, options.input_memory)
    engine: Engine
    if options.cluster:
        from incc.fleet.cluster import ClusterEngine
        from incc.fleet.cluster_worker import WorkerProgram

        if _reads_stdin(options):
            raise UsageError("a cluster does not see standard input; name files")
        described = encoded_scan(command.words, command.scan)
        program = WorkerProgram("incc.driver.commands.scan.serve", described, limits, os.getcwd())
        engine = ClusterEngine(options.cluster, program, lambda text: say_scan(f"note: {text}"))
    else:
        # What every process needs is loaded before they are forked off.
        engine = LocalEngine(responding(command.scan), options.jobs or (1 if options.measure else cpus()), limits)
    try:
        yield engine
    finally:
        engine.end()


def _print(command: _Command, stream: TextIO) -> bool:
    """Analyse the inputs, write the results and notes to streams, and return True if everything was analysed."""
    scan = command.scan
    inputs, note = _inputs(command.options)
    output = Output(scan, stream)
    output.add(ScanOutcome(notes=[note] if note else []))
    lines = JsonLines(stream)
    table = RowSelection(scan, lines.write) if scan.rows else None
    outcomes = msgspec.msgpack.Decoder(ScanOutcome)
    with _engine(command) as engine, closing(Store("")) as store:
        try:
            # Output on the terminal shows the progress itself.
            with nullcontext() if sys.stdout.isatty() else progress_shown():
                listed = PieceList.of(counted(inputs, "listing"))
                flow = ScanFlow(engine, store, listed.after(0))
                with watched(flow.counts, listed.count) as show:
                    for _, done in flow.results(show):
                        for read, results in done:
                            outcome = decoded(read.outcome, outcomes) if read.outcome else ScanOutcome()
                            outcome.problems += messages_of(read)
                            outcome.notes += read.notes
                            output.add_input(outcome)
                            if table:
                                table.add(read, results)
                        stream.flush()
            if table:
                table.finish()
                output.kernels = lines.kernels
        finally:
            output.flush()
    output.print_notes()
    return not output.failed


def _write_dataset(command: _Command) -> bool:
    """Write a dataset, or continue one, and return True if everything was analysed."""
    from incc.fleet.dataset.writing import About, DatasetWriter

    scan, options = command.scan, command.options
    folder = options.output
    if scan.top:
        raise UsageError("--top and -o FOLDER cannot be combined; ask the dataset")
    if options.format != FORMATS[0]:
        raise UsageError(f"--format and -o FOLDER cannot be combined; {printable(folder)} is one, so name a file")
    about = About(
        incc_version=__version__,
        cores=[(model.name, model.version) for model in InputAnalyser(scan).models],
        settings=_described(options),
        inputs=options.files,
    )
    output = Output(scan, sys.stdout)
    begin = DatasetWriter.resume if options.resume else DatasetWriter.create
    with closing(begin(folder, about)) as writer:
        if writer.complete:
            say_scan(f"note: {folder}: complete already")
            return not writer.store.failures()
        path = os.path.join(folder, "_inputs")
        if writer.pieces or (options.resume and os.path.exists(path)):
            listed = PieceList.read(path)
        else:
            inputs, note = _inputs(options)
            output.notes |= {note: None} if note else {}
            with progress_shown():
                listed = PieceList.of(counted(inputs, "listing"), path)
        if not _fill(command, writer, listed, output):
            return False
        os.unlink(path)
    output.print_notes()
    return not output.failed


def _fill(command: _Command, writer: DatasetWriter, listed: PieceList, output: Output) -> bool:
    """Write the results for the inputs that a dataset lacks, and return False if the user has interrupted that."""
    rows = DatasetRows(writer)
    table = RowSelection(command.scan, rows.write, rows.kernels)
    with _engine(command) as engine, interruptible():
        flow = ScanFlow(engine, writer.store, listed.after(writer.pieces), writer.pieces)
        try:
            with progress_shown(), watched(flow.counts, listed.count) as show:
                for number, done in flow.results(show):
                    for read, results in done:
                        for problem in [read.failure] if read.failure else read.problems:
                            name = read.name or problem.partition(": ")[0]
                            writer.add_failure(name, problem.removeprefix(f"{name}: "), problem in read.quarantined)
                        output.add_input(ScanOutcome(problems=messages_of(read), notes=read.notes))
                        table.add(read, results)
                    rows.commit_at_times(number + 1, table.kernels)
            rows.commit(listed.count, table.kernels)
            writer.finish()
        except KeyboardInterrupt:
            # What has come since the last commit may be half of a piece.
            say_scan("note: interrupted; --resume continues")
            return False
    output.failed = bool(writer.store.failures())  # also those before --resume
    output.kernels = table.kernels
    output.notes[("since it was resumed: " if command.options.resume else "") + summary(flow.counts)] = None
    return True
