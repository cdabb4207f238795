"""The command `incc-scan`: many kernels in one process, as a table, JSON lines or plain cycles."""

from __future__ import annotations

import os
import sys

from incc.driver.messages import run_command
from incc.driver.scan_files import printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any, TextIO

    from incc.core.analysis import KernelResult
    from incc.core.roles import Part
    from incc.driver.pipeline import Settings
    from incc.driver.report import types as t
    from incc.driver.report.build import KernelPlace
    from incc.driver.report.where import Condition
    from incc.driver.scan_files import CodeFile, Found
    from incc.driver.scan_project import Project
    from incc.frontends.gcc_wrapper.compile_commands import Command
    from incc.frontends.kernel import Kernel, Region
    from incc.measuring.harness import Failure
    from incc.measuring.kernels import KernelMeasurement, Measurer
    from incc.models.model import MachineModel

# Blocks that a worker process takes at a time: enough to make handing them over cheap, few enough to share out evenly.
CHUNK = 16


class Item(msgspec.Struct, frozen=True, kw_only=True):
    """One thing to analyse: where it stands in the input, and for `hex` its first word, else its file. `code`: of
    objects which. `command`: of a project's."""

    number: int
    text: str
    code: CodeFile | None = None
    command: Command | None = None


class Line(msgspec.Struct, frozen=True):
    """What is printed of a kernel, and what the same code in another file is known by, "" where that is not asked."""

    text: str
    same: str = ""


class Result(msgspec.Struct, frozen=True):
    """What came of items: lines for the output, messages about what could not be analysed, and what else is to be
    said."""

    lines: list[Line]
    problems: list[str]
    notes: list[str]


class Columns(msgspec.Struct, frozen=True, kw_only=True):
    """What the table has beside the usual: cycles of an element; rates at that clock in GHz, if it is not 0; what the
    kernels take on this machine. `width`: of the cores' names, 0 for those at hand."""

    elements: bool = False
    ghz: float = 0.0
    measured: bool = False
    width: int = 0


def main(arguments: list[str] | None = None) -> int:
    """Run the command; returns its exit status: 0, 1 if not all of the input could be analysed, 2 for usage."""
    options = _parser().parse_args(sys.argv[1:] if arguments is None else arguments)
    try:
        project = _project(options)
        commands = project.commands if project else None
        options.input_format = "project" if commands is not None else options.input_format or _format_of(options.files)
        if options.reports and commands is None:
            raise ValueError("-o writes the reports of a project's units: it is for -p")
    except ValueError as error:
        print(f"incc-scan: error: {printable(str(error))}", file=sys.stderr)
        return 2
    if options.measure and options.jobs > 1:
        print("incc-scan: error: --measure runs one kernel after the other: not with -j", file=sys.stderr)
        return 2
    condition = None
    if options.where is not None:
        from incc.driver.report.where import parse

        try:
            condition = parse(options.where)
            if condition.needs_baseline:
                raise ValueError(f"{options.where!r} compares with a baseline, and there is none")
        except ValueError as error:
            print(f"incc-scan: error: --where: {error}", file=sys.stderr)
            return 2
    try:
        # Without a name each unit of a project has the core that its command is for.
        chosen = _models(options.mcpu or "native") if options.mcpu or commands is None else {}
    except ValueError as error:
        print(f"incc-scan: error: {error}", file=sys.stderr)
        return 1
    models = [model for model, _ in chosen.values()]
    if options.output == "cycles" and len(models) > 1:
        print("incc-scan: error: --output=cycles is for one core", file=sys.stderr)
        return 2
    for _, note in chosen.values():
        if note:
            print(f"incc-scan: note: {note}", file=sys.stderr)
    failed = False
    try:
        if sys.stdout is None:  # closed when we were started
            import errno

            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        if hasattr(sys.stdout, "reconfigure"):
            sys.stdout.reconfigure(errors="surrogateescape")  # names of files may have any bytes in them
        columns = Columns(
            elements=options.elements, ghz=options.ghz, measured=options.measure, width=_core_width(models)
        )
        sys.stdout.write(_heading(options.output, columns))
        found = _find(options)
        for problem in found.problems:
            failed = True
            print(f"incc-scan: {printable(problem)}", file=sys.stderr)
        seen: set[str] = set()
        again = lines = units = 0
        notes = dict.fromkeys([project.note] if project and project.note else ())
        items = _items(options, found.files, commands)
        results = _results(options, models, condition, columns, items, found.in_folders)
        if commands is not None:
            results = _ending_in_order(results)
        for result in _progress(results, options):
            for problem in result.problems:
                failed = True
                print(f"incc-scan: {printable(problem)}", file=sys.stderr)
            notes.update(dict.fromkeys(result.notes))
            units += 1
            lines += len(result.lines)
            for line in result.lines:
                if line.same in seen:
                    again += 1
                    continue
                if line.same:
                    seen.add(line.same)
                sys.stdout.write(line.text)
        sys.stdout.flush()
        if again:
            what = "1 kernel that is" if again == 1 else f"{again} kernels that are"
            notes[f"left out {what} in another file as well"] = None
        if not lines and not failed:
            # An empty table alone could be a mistake of whoever has called.
            where = " for which the condition holds" if condition else ""
            notes["no loop to analyse" + where if units else "nothing to analyse"] = None
        for note in notes:
            print(f"incc-scan: note: {printable(note)}", file=sys.stderr)
    except KeyboardInterrupt:
        # What was found is not lost; of a scan that measures it may have taken a while.
        sys.stdout.flush()
        print("incc-scan: interrupted", file=sys.stderr)
        return 1
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 0
    except RuntimeError as error:  # a worker process died
        print(f"incc-scan: error: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        what = f"{error.filename or 'the output could not be written'}: {error.strerror}"
        print(f"incc-scan: error: {printable(what)}", file=sys.stderr)
        return 1
    return 1 if failed else 0


def _parser() -> argparse.ArgumentParser:
    from incc.driver.parsers import Parser, positive

    parser = Parser(
        prog="incc-scan",
        summary="cycles of many kernels, a line each",
        description="Analyse many kernels in one process, in the order of the input.",
        status="0; 1 if not all of the input could be analysed; 2 for a mistake on the command line",
    )
    parser.add_argument(
        "files",
        nargs="*",
        metavar="FILE",
        help="input files, and folders, which are searched for objects, libraries and programs; - or none: standard "
        "input (hex only); with -p sources, none for all",
    )
    parser.add_argument(
        "-p",
        dest="project",
        metavar="PATH",
        help="analyse what a project's commands compile, without building it: its compile_commands.json, or the folder "
        "with that",
    )
    parser.add_argument(
        "-o",
        "--reports",
        dest="reports",
        metavar="DIR",
        help="with -p, also write a report of each unit there, as incc does in a build",
    )
    parser.add_argument(
        "--input-format",
        choices=("hex", "asm", "obj"),
        help="hex: each line's first word is the machine code of a block, a loop if it ends in a branch to its start; "
        "asm: assembly, its marked regions or innermost loops; obj: objects, static libraries and programs, their "
        "loops (default: what the files look like)",
    )
    parser.add_argument(
        "-mcpu",
        "--mcpu",
        default="",
        metavar="NAME",
        help="the core, several with commas between them, or `all` (default: the host; with -p what each command is "
        "for)",
    )
    parser.add_argument(
        "--output",
        choices=("table", "json", "cycles"),
        default="table",
        help="table (default); json: one object a line; cycles: the input's first word and the cycles, with "
        "--measure also those measured",
    )
    parser.add_argument(
        "--bounds",
        action="store_true",
        help="the largest bound instead of the simulation, which is left out (cores whose pipeline the model does not "
        "describe: always)",
    )
    parser.add_argument(
        "--where",
        metavar="CONDITION",
        help="only kernels for which this holds, on any of the cores: 'cycles > 1.1*bound and flop > 0' "
        "(docs/filters.md)",
    )
    parser.add_argument(
        "--elements",
        action="store_true",
        help="in the table also the cycles of an element of the source's loop, as inferred; - where it cannot be told",
    )
    parser.add_argument(
        "--ghz",
        type=_clock,
        default=0.0,
        metavar="GHZ",
        help="in the table also GFLOP/s and GB/s (of the L1 cache) at that clock; in JSON `rates` a second",
    )
    parser.add_argument(
        "--measure",
        action="store_true",
        help="also run each kernel's code on this machine: a column of what it takes, or of why it cannot run",
    )
    parser.add_argument("-j", dest="jobs", type=positive, default=1, metavar="N", help="worker processes (1)")
    return parser


def _clock(text: str) -> float:
    from incc.driver import UsageError
    from incc.driver.options import clock

    try:
        return clock("--ghz", text)
    except UsageError:
        raise ValueError from None


def _models(name: str) -> dict[str, tuple[MachineModel, str]]:
    """The models to analyse for by their names, each once, and what must be said of the choice ("" if nothing). Raises
    ValueError with a message for unknown names."""
    from incc.driver.pipeline import AnalysisError, choose_model
    from incc.frontends.isa import isa
    from incc.models.loading import list_models, load
    from incc.models.model import ModelError

    if "," in name:
        chosen = {key: found for part in name.split(",") if part for key, found in _models(part).items()}
        if len({model.isa for model, _ in chosen.values()}) > 1:
            raise ValueError(f"{name}: cores of several instruction sets")
        return chosen
    try:
        if name == "all":
            models = [m for m in (load(entry.name) for entry in list_models()) if not isa(m.isa).unreadable]
            return {model.name: (model, "") for model in models}
        each_choice = choose_model(name, "")
    except (ModelError, AnalysisError) as error:
        raise ValueError(str(error)) from error
    if unreadable := isa(each_choice.model.isa).unreadable:
        raise ValueError(f"{each_choice.model.name} is an {each_choice.model.isa} core, and {unreadable}")
    return {each_choice.model.name: (each_choice.model, each_choice.note)}


# --- input ------------------------------------------------------------------------------------------------------------


def _format_of(files: Sequence[str]) -> str:
    """What the files look like: objects by their first bytes, assembly by the ending, else machine code.

    Raises ValueError for files of several kinds. What cannot be read is complained of by its reader.
    """
    from incc.driver.code import ASSEMBLY_ENDINGS, OBJECT_MAGIC
    from incc.driver.scan_files import kind_of

    found: dict[str, str] = {}
    for name in files:
        kind = "asm" if name.endswith(ASSEMBLY_ENDINGS) else "hex"
        if os.path.isdir(name):
            kind = "obj"
        elif name != "-" and os.path.isfile(name):
            try:
                with open(name, "rb") as file:
                    start = file.read(4096)
            except OSError:
                start = b""
            # Text has no zeros; what is no object and has some, the reader of objects complains of.
            if kind_of(start) or start[:4].startswith(OBJECT_MAGIC) or (kind == "hex" and b"\0" in start):
                kind = "obj"
        found.setdefault(kind, name)
    if len(found) > 1:
        named = ", ".join(f"{name} ({kind})" for kind, name in found.items())
        raise ValueError(f"files of several kinds: {named}; --input-format says how to read them")
    return next(iter(found), "hex")


def _ending_in_order(results: Iterator[Result]) -> Iterator[Result]:
    """The same; when this process is told to end, so do the workers, with their compilers."""
    from incc.driver.scan_project import ends_in_order

    with ends_in_order():
        yield from results


def _project(options: argparse.Namespace) -> Project | None:
    """The project that is named, None if none is. Raises ValueError."""
    if not options.project:
        return None
    from incc.driver.scan_project import project_of

    if options.input_format:
        raise ValueError("--input-format is for files of code, not for -p")
    if options.output == "cycles" and options.mcpu == "":
        raise ValueError("--output=cycles is for one core: name it with -mcpu")
    return project_of(options.project, options.files)


def _find(options: argparse.Namespace) -> Found:
    """The objects to look at, none if the input are no objects."""
    from incc.driver.scan_files import Found, find

    return find(options.files or ["-"]) if options.input_format == "obj" else Found([], [], False)


def _items(options: argparse.Namespace, files: Sequence[CodeFile], commands: list[Command] | None) -> Iterator[Item]:
    if commands is not None:
        for number, command in enumerate(commands):
            yield Item(number=number, text=command.file, command=command)
        return
    if options.input_format == "obj":
        for number, file in enumerate(files):
            yield Item(number=number, text=file.name, code=file)
        return
    if options.input_format != "hex":
        for number, name in enumerate(options.files or ["-"]):
            yield Item(number=number, text=name)
        return
    from incc.driver.files import no_file_name

    for name in options.files or ["-"]:
        if "\0" in name:
            raise no_file_name(name)
        with open(0 if name == "-" else name, encoding="ascii", errors="replace") as opened:
            for number, line in enumerate(_lines(opened, name), start=1):
                words = line.split(maxsplit=1)
                if words and not words[0].startswith("#"):
                    yield Item(number=number, text=words[0])


_LONGEST_LINE = 1 << 24
"""Characters: what is longer is no line of numbers, and /dev/zero one without an end."""


def _lines(opened: TextIO, name: str) -> Iterator[str]:
    while line := opened.readline(_LONGEST_LINE):
        if len(line) == _LONGEST_LINE:
            import errno

            raise OSError(errno.EFBIG, f"a line of more than {_LONGEST_LINE >> 20} MiB", name)
        yield line


def _results(
    options: argparse.Namespace,
    models: list[MachineModel],
    condition: Condition | None,
    columns: Columns,
    given: Iterable[Item],
    merge: bool,
) -> Iterator[Result]:
    name = ", ".join(options.files) or "<stdin>"
    worker = _Worker(
        options.input_format,
        models,
        name,
        options.output,
        not options.bounds,
        condition,
        columns,
        merge,
        options.mcpu,
        options.reports or "",
        bool(options.files),
    )
    if options.jobs == 1:
        yield from map(worker, ([item] for item in given))
        return
    from incc.driver.workers import MOST, in_order

    items = list(given)
    size = max(CHUNK if options.input_format == "hex" else 1, -(-len(items) // MOST))
    chunks = [items[start : start + size] for start in range(0, len(items), size)]
    _load_everything(models)
    yield from in_order(worker, chunks, options.jobs)


def _load_everything(models: Iterable[MachineModel]) -> None:
    """Import what every worker needs before they are forked off, so that it is done once."""
    import importlib

    from incc.frontends.isa import isa

    for name in ("core.analysis", "models.bind"):
        importlib.import_module(f"incc.{name}")
    for name in {model.isa for model in models}:
        isa(name).load()


class _Worker:
    """Analyses items in whichever process it is called, up to the lines to print.

    `output`: as the option. `simulate`: not the bounds alone. `condition`: of `--where`. `merge`: the same code may be
    in several files. `mcpu`: as the option; without models each unit has its own. `reports`: where to write reports.
    `chosen`: sources of a project are named.
    """

    def __init__(
        self,
        input_format: str,
        models: list[MachineModel],
        name: str,
        output: str = "json",
        simulate: bool = True,
        condition: Condition | None = None,
        columns: Columns = Columns(),  # noqa: B008 -- it cannot be changed
        merge: bool = False,
        mcpu: str = "",
        reports: str = "",
        chosen: bool = False,
    ) -> None:
        from incc.core.analysis import KernelSettings

        self.input_format = input_format
        self.name = name
        self.output = output
        self.settings = KernelSettings(simulate=simulate)
        self.models = models
        self.isa = models[0].isa if models else ""
        self.merge = merge
        self.mcpu = mcpu
        self.reports = reports
        self.chosen = chosen
        self.condition = condition
        self.columns = columns
        # Some know a loop by the others of its function, which takes time.
        self.measurer: Measurer | None = None
        self.hosts: dict[str, tuple[str, bool]] = {}
        if columns.measured:
            from incc.driver.pipeline import host_of
            from incc.measuring.kernels import Measurer

            self.measurer = Measurer()
            self.hosts = {model.name: host_of(model) for model in models}
        self.needs_parts = output == "json" or condition is not None or columns.elements or columns.ghz > 0

    def __call__(self, items: Sequence[Item]) -> Result:
        found = Result([], [], [])
        line = _LINES[self.output]
        for item in items:
            for kernel in self._kernels(item, found):
                if self.condition is None or any(_holds(self.condition, kernel, name) for name in kernel.results):
                    same = _same(kernel) if self.merge else ""
                    found.lines.append(Line(line(kernel, self.columns), same))
        return found

    def _kernels(self, item: Item, found: Result) -> Iterator[Analyzed]:
        if item.command is None:
            kernels = _READERS[self.input_format](item, self, found)
            yield from self._analyzed(item, kernels, self.models, found.problems)
            return
        from incc.driver.scan_project import read_unit, settings_of, units_of, write_report

        asked = settings_of(item.command, self._unit_settings(), found.notes, self.chosen)
        if not asked:
            return
        for unit in units_of(item.command, found.problems, remarks=bool(self.reports)):
            if self.reports:
                write_report(unit, item.command, asked, self.reports, found.problems)
            read = read_unit(unit, self.models, asked, found.problems, found.notes)
            if read is not None:
                kernels = [
                    Identified(kernel, Identity(f"{read.name}:{kernel.name}", _first_line(kernel)), place)
                    for kernel, place in zip(read.kernels, read.places, strict=True)
                ]
                yield from self._analyzed(item, kernels, read.models, found.problems)

    def _unit_settings(self) -> list[Settings]:
        """What is asked of the report of a unit, for each core."""
        from incc.driver.pipeline import Settings

        settings = Settings(simulate=self.settings.simulate, ghz=self.columns.ghz, measure=self.columns.measured)
        return [replace(settings, mcpu=model.name) for model in self.models] or [settings]

    def _analyzed(
        self, item: Item, found: list[Identified], models: Sequence[MachineModel], problems: list[str]
    ) -> Iterator[Analyzed]:
        """The kernels of an item, analysed; those of a function together if what they are to each other is needed."""
        from incc.core.analysis import analyze_kernel

        ids = _kernel_ids(found) if self.output == "json" or self.condition else [""] * len(found)
        together: list[Analyzed] = []
        for identified, kernel_id in zip(found, ids, strict=True):
            try:
                results = {model.name: analyze_kernel(identified.kernel, model, self.settings) for model in models}
            except (ValueError, RuntimeError) as error:
                where = f"{self.name}:{item.number}" if self.input_format == "hex" else identified.identity.input
                problems.append(f"{where}: {error}")
                continue
            one = Analyzed(identity=identified.identity, kernel_id=kernel_id, results=results, place=identified.place)
            if self.measurer is not None:
                one = replace(one, measured=self.measurer.measure(identified.kernel), hosts=self.hosts)
            if not self.needs_parts:
                yield one
                continue
            if together and _function(together[-1]) != _function(one):
                yield from _with_parts(together)
                together = []
            together.append(one)
        if together:
            yield from _with_parts(together)


def _first_line(kernel: Kernel) -> int:
    return kernel.region.first_line if kernel.region else 0


def _region(kernel: Analyzed) -> Region | None:
    return next(iter(kernel.results.values())).kernel.region


def _function(kernel: Analyzed) -> str | None:
    region = _region(kernel)
    return region.function if region else None


def _same(kernel: Analyzed) -> str:
    """What the same code has in common in an object, a library and a program."""
    from incc.driver.report.identity import content_hash

    found = next(iter(kernel.results.values())).kernel
    return f"{_function(kernel)} {content_hash(found)}"


def _with_parts(kernels: list[Analyzed]) -> Iterator[Analyzed]:
    """Kernels of one function, with what part they have in it."""
    from incc.core.roles import parts

    places = [
        frozenset([lines[n] for n in region.body_lines if n in lines]) if region and lines else frozenset()
        for kernel in kernels
        for region, lines in [(_region(kernel), kernel.place.lines if kernel.place else {})]
    ]
    found = parts([next(iter(kernel.results.values())) for kernel in kernels], places if any(places) else ())
    for kernel, part in zip(kernels, found, strict=True):
        main = kernels[part.role.of] if part.role.of >= 0 else None
        yield replace(kernel, part=part, main=main)


def _holds(condition: Condition, kernel: Analyzed, core: str) -> bool:
    from incc.driver.report.build import UnitResult, unit_report
    from incc.driver.report.where import kernel_values
    from incc.frontends.unit import Unit

    assert kernel.part is not None
    result = kernel.results[core]
    alone = replace(kernel.part, role=replace(kernel.part.role, of=-1))
    unit = unit_report(
        UnitResult(
            unit=Unit(assembly="", assembly_file=kernel.identity.input),
            model=result.model,
            chosen_by="",
            results=(result,),
            kernel_ids=(kernel.kernel_id,),
            places=(kernel.place,) if kernel.place else (),
            parts=(alone,),
            measured=(kernel.measured,) if kernel.measured is not None else (),
            host=kernel.hosts.get(core, ("", False)),
        )
    )
    return condition.holds(kernel_values(unit, unit["kernels"][0]))


class Identity(msgspec.Struct, frozen=True):
    """What a kernel of the input is called, and its line there, 0 where there is none."""

    input: str
    line: int


class Identified(msgspec.Struct, frozen=True):
    """A kernel of the input, what it is called, and where it is in the source, if that is known."""

    kernel: Kernel
    identity: Identity
    place: KernelPlace | None = None


class Analyzed(msgspec.Struct, frozen=True, kw_only=True):
    """A kernel with its analysis on each core; where it is in the source, if that is known; where it was needed, also
    its part among the loops of its function, and the main one among these. `measured`: what it takes here, if that was
    asked for; `hosts`: of each core what `pipeline.host_of` says."""

    identity: Identity
    kernel_id: str
    results: dict[str, KernelResult]
    place: KernelPlace | None = None
    part: Part | None = None
    main: Analyzed | None = None
    measured: KernelMeasurement | Failure | None = None
    hosts: Mapping[str, tuple[str, bool]] = {}


def _kernel_ids(found: list[Identified]) -> list[str]:
    from incc.driver.report.identity import kernel_ids

    return kernel_ids(one.kernel for one in found)


def _read_hex(item: Item, worker: _Worker, found: Result) -> list[Identified]:
    from incc.frontends.isa import isa

    problems = found.problems
    try:
        code = bytes.fromhex(item.text)
    except ValueError:
        problems.append(f"{worker.name}:{item.number}: not hexadecimal: {_shown(item.text)}")
        return []
    try:
        # Only JSON shows the text.
        kernel = isa(worker.isa).decode_bytes(code, text=worker.output == "json")
    except ValueError as error:
        problems.append(f"{worker.name}:{item.number}: {error}")
        return []
    return [Identified(kernel, Identity(item.text, item.number))]


def _shown(text: str) -> str:
    """The beginning of a word, fit for a terminal."""
    return printable(text[:60])


def _read_asm(item: Item, worker: _Worker, found: Result) -> list[Identified]:
    from incc.driver.files import read_input
    from incc.driver.pipeline import AnalysisError, Settings, decode_unit, find_regions, read_assembly
    from incc.frontends.unit import Unit

    problems = found.problems
    try:
        unit = Unit(assembly=read_input(item.text), assembly_file=item.text)
        parsed = read_assembly(unit, worker.isa)
        regions, left_out = find_regions(parsed, Settings(regions="marked"))
        if regions and all(region.kind == "file" for region in regions):
            regions, left_out = find_regions(parsed, Settings(regions="loops"))
        kernels = decode_unit(unit, parsed, regions)
    except OSError as error:
        problems.append(f"{item.text}: {error.strerror}")
        return []
    except AnalysisError as error:
        problems.append(str(error))
        return []
    for x in left_out:
        where = f"{item.text}:{x.first_line}" if x.first_line else item.text
        problems.append(f"{where}: not analysed: {x.reason}")
    problems += [f"{item.text}:{r.line}: {r.message}" for kernel in kernels for r in kernel.refused]
    return [Identified(k, Identity(f"{item.text}:{k.name}", _first_line(k))) for k in kernels]


def _read_obj(item: Item, worker: _Worker, found: Result) -> list[Identified]:
    from incc.driver.report.build import KernelPlace
    from incc.frontends.objects.kernels import located_kernels
    from incc.frontends.objects.read import ObjectError

    assert item.code is not None
    try:
        # Of a library's members other files may lie beside it.
        folder = os.path.dirname(item.code.path)
        object_kernels = located_kernels(item.code.source(), worker.needs_parts, folder)
    except OSError as error:
        found.problems.append(f"{item.text}: {error.strerror}")
        return []
    except ObjectError as error:
        # Of all that a folder or library has in it, much is data.
        if not (error.empty and (worker.merge or item.code.member)):
            found.problems.append(f"{item.text}: {error}")
        return []
    found.problems.extend(f"{item.text}: {x.function}: not analysed: {x.reason}" for x in object_kernels.left_out)
    if object_kernels.note:
        found.notes.append(f"{item.text}: {object_kernels.note}")
    places = [KernelPlace(lines=source.lines, near=None, place=source.place) for source in object_kernels.sources]
    return [
        Identified(kernel, Identity(f"{item.text}:{kernel.name}", 0), places[n] if places else None)
        for n, kernel in enumerate(object_kernels.kernels)
    ]


_READERS = {"hex": _read_hex, "asm": _read_asm, "obj": _read_obj}


# --- output -----------------------------------------------------------------------------------------------------------


def _heading(output: str, columns: Columns) -> str:
    if output != "table":
        return ""
    more = (
        f"  {'measured':>9}" * columns.measured
        + f"  {'an element':>10}" * columns.elements
        + f"  {'GFLOP/s':>8}  {'GB/s':>8}" * (columns.ghz > 0)
    )
    return f"{'cycles':>9}{more}  {'bound':>8}  {'instr.':>6}  {'core':<{columns.width}}{'limited by':<28}kernel\n"


def _core_width(models: Sequence[MachineModel]) -> int:
    """Columns for the names of cores; where each unit has its own, of any."""
    if models:
        return max(len(model.name) for model in models) + 2
    from incc.models.loading import list_models

    return max(len(entry.name) for entry in list_models()) + 2


def _cycles_line(kernel: Analyzed, columns: Columns) -> str:
    (result,) = kernel.results.values()
    more = f" {_took(kernel, '.6g')}" if columns.measured else ""
    return f"{printable(kernel.identity.input)} {round(float(result.cycles), 6):.6g}{more}\n"


def _took(kernel: Analyzed, form: str) -> str:
    """What a kernel takes here, - where it could not be measured."""
    cycles = getattr(kernel.measured, "cycles", None)
    return "-" if cycles is None else format(cycles, form)


def _json_line(kernel: Analyzed, columns: Columns) -> str:
    import json

    from incc.driver.report.build import make_readable
    from incc.driver.report.kernel import kernel_report
    from incc.driver.report.roles import set_role

    assert kernel.part is not None
    role, elements, step = kernel.part.role, kernel.part.elements, kernel.part.step
    cpus = {
        cpu: kernel_report(
            result,
            kernel_id=kernel.kernel_id,
            elements=elements,
            step=step,
            source_lines=kernel.place.lines if kernel.place else None,
            near=kernel.place.near if kernel.place else None,
            place=kernel.place.place if kernel.place else None,
            ghz=columns.ghz,
            measured=kernel.measured,
            host=kernel.hosts.get(cpu, ("", False)),
        )
        for cpu, result in kernel.results.items()
    }
    for report in cpus.values():
        if kernel.main is None:
            set_role(report, role)
        else:
            set_role(report, role, kernel.main.kernel_id, next(iter(kernel.main.results.values())).kernel)
    make_readable(list(cpus.values()))
    line: t.ScanLine = {"input": kernel.identity.input, "line": kernel.identity.line, "cpus": cpus}
    return json.dumps(line, ensure_ascii=False) + "\n"


def _table_lines(kernel: Analyzed, columns: Columns) -> str:
    region = _region(kernel)
    name = printable(kernel.identity.input)
    if region and region.source:
        name += f"  {printable(str(region.source))}"
    lines = []
    for cpu, result in kernel.results.items():
        unknown = f" ({len(result.unknown)} X)" if result.unknown else ""
        limits = ", ".join(result.limits).replace("_", " ")
        if not limits and result.cycles:
            limits = "pipeline"
        took = f"  {getattr(kernel.measured, 'kind', '') or _took(kernel, '.2f'):>9}" * columns.measured
        cells = f"{float(result.cycles):>9.2f}{took}{_more_cells(kernel, result, columns)}"
        cells += f"  {float(result.bounds.largest):>8.2f}  "
        cells += f"{len(result.kernel.instructions):>6}  {cpu:<{columns.width}}"
        lines.append(f"{cells}{limits + unknown:<27} {name}\n")
    return "".join(lines)


def _more_cells(kernel: Analyzed, result: KernelResult, columns: Columns) -> str:
    if kernel.part is None:
        return ""
    cells = ""
    if columns.elements:
        elements = kernel.part.elements
        cells = f"  {float(result.cycles / elements.per_iteration):>10.3f}" if elements else f"  {'-':>10}"
    if columns.ghz:
        from incc.core import figures

        rates = figures.rates(
            figures.operations(result.kernel), figures.traffic(result.kernel), result.cycles, ghz=columns.ghz
        )
        amounts = [rates.in_a_second(rates.flop), rates.in_a_second(rates.bytes)] if rates else [None, None]
        cells += "".join("  " + ("-" if amount is None else f"{amount:.1f}").rjust(8) for amount in amounts)
    return cells


_LINES = {"cycles": _cycles_line, "json": _json_line, "table": _table_lines}


def _progress(results: Iterable[Result], options: argparse.Namespace) -> Iterator[Result]:
    """The results, with a counter on a terminal where they do not themselves go there."""
    if not sys.stderr.isatty() or sys.stdout.isatty():
        yield from results
        return
    from rich.progress import track  # 0.1 s: only for people who watch

    yield from track(results, description="analysing", total=None, transient=True, console=_stderr_console())


def _stderr_console() -> Any:
    from rich.console import Console

    return Console(stderr=True)


def command() -> int:
    """Run the installed command."""
    return run_command(main)


if __name__ == "__main__":
    sys.exit(command())
