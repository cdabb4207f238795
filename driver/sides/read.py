"""Reading the sides of a comparison: reports, folders of reports, databases, assembly, objects and programs."""

from __future__ import annotations

import io
import os
import stat
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, BinaryIO

from msgspec.structs import replace

from incc.comparison import types as c
from incc.comparison.side import NOT_COUNTED, ComparedBuild, SideKernel, entries_of, side_info
from incc.driver.code import ASSEMBLY_ENDINGS, kind_of
from incc.driver.completion import completed
from incc.driver.cores import named_cores
from incc.driver.datasets import is_dataset, opened_dataset
from incc.driver.settings import CoreSettings, Scope, Settings
from incc.driver.sides.analyse import CODE, AnalysedPiece, CodePiece, analyse, object_pieces
from incc.driver.sides.labels import distinct, labels
from incc.driver.sources import compiled_source, is_source
from incc.frontends.unit import Unit
from incc.report import types as t
from incc.report.documents import (
    InputError,
    NotAReportError,
    begins_json,
    printable,
    read_report,
    reason,
    special_file,
    texts,
)
from incc.report.folder.manifest import OWN
from incc.report.source.demangle import choose_functions
from incc.support.errors import AnalysisError
from incc.support.files import read_all


def read_sides(names: Sequence[str], settings: Settings = CODE, jobs: int = 1) -> list[ComparedBuild]:
    """Read a side for each name, or for each name and core, with distinct labels.

    An input that cannot be read or analysed has a side with a `problem` instead of kernels.

    Args:
        names: The inputs.
        settings: The settings for code. Cores separated by commas become a side each; in reports for several cores
            they select among them. Functions also select among the kernels of reports.
        jobs: The number of processes that analyse code.

    Raises:
        InputError: No input can be read and analysed.
    """
    if names.count("-") > 1:
        raise InputError("standard input can be read only once")
    inputs = [_sides_or_problem(name, settings) for name in names]
    # The code of all inputs is analysed together, so that all processes have work.
    pieces = [piece for sides in inputs for _, collected in sides for piece in collected.pieces]
    results = iter(analyse(pieces, jobs))
    labelled: list[tuple[str, ComparedBuild]] = []
    for each, label in zip(inputs, labels(names), strict=True):
        read = [(mcpu, collected.side(settings.scope, results)) for mcpu, collected in each]
        sides = [part for mcpu, side in read for part in _by_cores(mcpu, side, settings.core)]
        several = len(sides) > 1
        for mcpu, side in sides:
            # The sides of a single input differ only in their cores.
            own = mcpu if several and len(names) == 1 else f"{label} · {mcpu}" if several else label
            labelled.append((own, side))
    problems = dict.fromkeys(side.info.problem for _, side in labelled)
    if problems and all(problems):
        raise InputError("\n".join(problems))
    return [
        replace(side, info=replace(side.info, label=label))
        for label, (_, side) in zip(distinct([label for label, _ in labelled]), labelled, strict=True)
    ]


def _by_cores(mcpu: str, side: ComparedBuild, core_settings: CoreSettings) -> list[tuple[str, ComparedBuild]]:
    """Split reports for several cores into a side for each requested core, if they have any of them."""
    names = named_cores(core_settings.mcpu)
    if mcpu or not names or len({model.name for model in side.info.models}) < 2:
        return [(mcpu, side)]
    from incc.driver.pipeline import choose_model

    # The notes on instructions that are not counted are generated anew for each core.
    notes = [note for note in side.info.notes if not note.startswith(NOT_COUNTED)]
    found: dict[str, ComparedBuild] = {}
    for core in dict.fromkeys(choose_model(name, "", core_settings.model_path).model.name for name in names):
        if entries := [entry for entry in side.entries if entry.unit.model.name == core]:
            found[core] = ComparedBuild(side_info(entries, "", side.info.input, notes), entries)
    return list(found.items()) or [(mcpu, side)]


# --- kinds of inputs --------------------------------------------------------------------------------------------------

SQLITE_MAGIC = b"SQLite format 3\0"

_PACKED = {b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"\xfd7zXZ\0": "xz", b"\x28\xb5\x2f\xfd": "zstd", b"PK\x03\x04": "zip"}

# Endings of code that is read from a folder without reports; the folder of a build has many other files.
_CODE = (*ASSEMBLY_ENDINGS, ".o", ".obj", ".a", ".so", ".dll", ".dylib", ".lib")


def _sides_or_problem(name: str, settings: Settings) -> list[tuple[str, Collected]]:
    try:
        return _sides(name, settings)
    except InputError as error:
        collected = Collected(name)
        collected.problem = str(error)
        return [("", collected)]


def _sides(name: str, settings: Settings) -> list[tuple[str, Collected]]:
    """Read the sides of an input, each with its core, "" if the input determines it."""
    if name == "-":
        return _of_stream(name, 0, settings)
    try:
        mode = os.stat(name).st_mode
    except (OSError, ValueError) as error:  # a path with a NUL byte in it
        if database := database_of(name):
            return [("", _of_database(name, *database))]
        raise InputError(f"{printable(name)}: {reason(error)}") from None
    if stat.S_ISDIR(mode):
        return _of_folder(name, settings)
    if not stat.S_ISREG(mode):
        # Pipes of a shell's <(command) are safe; opening others may block for ever.
        if stat.S_ISFIFO(mode) and name.startswith(("/dev/fd/", "/proc/self/fd/", "/dev/stdin")):
            with _opened(name) as file:
                return _of_stream(name, file.fileno(), settings)
        raise special_file(name, mode)
    with _opened(name) as file:
        start = _read(file, name, 4096)
    kind = _kind(name, start)
    if kind == "database":
        return [("", _of_database(name, name, ""))]
    if kind == "report":
        collected = Collected(name)
        _read_reports(name, name, collected)
        return [("", collected)]
    if kind == "source":
        return _of_source(name, settings)
    return _of_code([(name, name, kind)], name, settings)


def _kind(name: str, start: bytes) -> str:
    """Return the kind of a file by its first bytes, else by its name.

    Kinds are "report", "database", "assembly", "source", "object" and "library". Raises InputError for other files.
    """
    shown = printable(name)
    ending = os.path.splitext(name)[1]
    if not start:
        raise InputError(f"{shown}: the file is empty")
    if start.startswith(SQLITE_MAGIC):
        return "database"
    if (kind := kind_of(start)) in ("library", "object"):
        return kind
    for magic, program in _PACKED.items():
        if start.startswith(magic):
            raise InputError(f"{shown}: compressed with {program}; decompress it first")
    if is_source(name):
        return "source"
    if begins_json(start) and b"\0" not in start and ending not in ASSEMBLY_ENDINGS:
        return "report"
    if start.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise InputError(f"{shown}: UTF-16; convert it to UTF-8")
    if ending in ASSEMBLY_ENDINGS:
        return "assembly"
    if not start.removeprefix(b"\xef\xbb\xbf").strip() and len(start) < 4096:
        raise InputError(f"{shown}: the input is empty")
    if b"\0" in start:
        raise InputError(f"{shown}: not a report, database, object, library or program")
    if ending == ".json":
        raise InputError(f"{shown}:1: not JSON: it begins with {start[:20].decode('utf-8', 'replace')!r}")
    raise InputError(f"{shown}: not a report (JSON), a source in C, C++ or Fortran, or assembly (.s, .S, .asm, .cod)")


def _opened(name: str) -> BinaryIO:
    try:
        return open(name, "rb")
    except OSError as error:
        raise InputError(f"{printable(name)}: {reason(error)}") from None


def _read(file: BinaryIO, name: str, size: int = -1) -> bytes:
    """Read `size` bytes, or the rest of a stream."""
    try:
        return file.read(size) if size >= 0 else read_all(file)
    except OSError as error:
        raise InputError(f"{printable(name)}: {reason(error)}") from None


def database_of(name: str) -> tuple[str, str] | None:
    """Split FILE@NAME into the path of a database and a name in it; None if there is no such file."""
    at = name.find("@")
    while at >= 0:
        path = name[:at]
        if os.path.isfile(path):
            with _opened(path) as file:
                if _read(file, path, len(SQLITE_MAGIC)) == SQLITE_MAGIC:
                    return path, name[at + 1 :]
            raise InputError(
                f"{printable(path)}: not a database, so {printable(name[at:])} cannot name a baseline in it"
            )
        at = name.find("@", at + 1)
    return None


def _of_database(name: str, path: str, wanted: str) -> Collected:
    from incc.history.read import read_commit

    collected = Collected(name)

    def take(document: t.AnalysisReport) -> None:
        for unit in document.units:
            collected.add(unit)

    notes = read_commit(path, wanted, take)
    collected.notes.update(dict.fromkeys(notes))
    return collected


def _of_stream(name: str, descriptor: int, settings: Settings) -> list[tuple[str, Collected]]:
    """Read reports, assembly or an object from a pipe."""
    with open(descriptor, "rb", closefd=False) as file:
        data = _read(file, name)
    shown = "<stdin>" if name == "-" else printable(name)
    if not data.strip():
        raise InputError(f"{shown}: the input is empty")
    kind = "assembly"
    if data.startswith(b"\xef\xbb\xbf") or begins_json(data[:4096]) or b"\0" in data[:4096]:
        kind = _kind(shown, data[:4096])
    if kind in ("database", "library"):
        raise InputError(f"{shown}: a {kind} cannot be read from a pipe; name the file")
    if kind != "report":
        return _of_code([(shown, data, kind)], name, settings)

    collected = Collected(name)
    _read_documents(io.BytesIO(data), shown, collected)
    return [("", collected)]


# --- reports ----------------------------------------------------------------------------------------------------------


def side_of_file(file: BinaryIO, name: str, scope: Scope) -> ComparedBuild:
    """Read the reports in an open file as a side called `name`. Raises InputError."""
    collected = Collected(name)
    _read_documents(file, name, collected)
    side = collected.side(scope)
    return replace(side, info=replace(side.info, label=name))


class Collected:
    """The part of a side that has been read."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.entries: list[SideKernel] = []
        self.notes: dict[str, None] = {}
        self.left_out = 0
        self.in_parts = False
        """Objects may be in several units."""
        self.pieces: list[CodePiece] = []
        """The code that is still to be analysed."""
        self.variant: c.SideVariant | None = None
        self.problem = ""
        """The reason why the side is empty; "" if it is not."""

    def add(self, unit: t.UnitReport) -> None:
        """Take the kernels of a unit."""
        self._number_again(unit)
        self.take(entries_of(unit), len(unit.left_out), unit.model.note)

    def take(self, entries: Sequence[SideKernel], left_out: int, note: str) -> None:
        """Take the kernels of a unit, whose model has this note."""
        self.entries += entries
        self.left_out += left_out
        if note:
            self.notes[f"{note[:1].upper()}{note[1:]}."] = None

    def _number_again(self, unit: t.UnitReport) -> None:
        """Give kernels ids of their own where several of a unit have the same."""
        ids = [kernel.kernel_id for kernel in unit.kernels]
        if len(set(ids)) == len(ids):
            return

        for kernel, name in zip(unit.kernels, distinct(ids), strict=True):
            kernel.kernel_id = name
        where = unit.source or unit.assembly_file
        again = next(name for name in ids if ids.count(name) > 1)
        self.notes[f"{printable(where)} has several kernels called {again!r}, which are numbered here."] = None

    def _number_parts(self) -> None:
        """Give kernels of different parts of an object ids of their own."""
        of_object: dict[tuple[str, str, str], list[t.KernelReport]] = {}
        in_parts = self.in_parts or any(piece.part is not None for piece in self.pieces)
        for entry in self.entries if in_parts else ():
            unit = entry.unit
            key = unit.source, unit.assembly_file, unit.model.name
            of_object.setdefault(key, []).append(entry.kernel)
        for kernels in of_object.values():
            for kernel, name in zip(kernels, distinct([kernel.kernel_id for kernel in kernels]), strict=True):
                kernel.kernel_id = name

    def side(self, scope: Scope, analysed: Iterator[AnalysedPiece] = iter(())) -> ComparedBuild:  # noqa: B008
        """Return the side, without a label, restricted to the requested functions.

        Args:
            scope: The functions.
            analysed: The results of its pieces, which have only these functions; those of other sides may follow.
        """
        for result in islice(analysed, len(self.pieces)):
            self.problem = self.problem or result.problem
            self.take(result.entries, result.left_out, result.note)
        entries = [] if self.problem else self.entries
        self._number_parts()
        if scope.functions and not self.pieces:
            wanted = choose_functions({e.kernel.function for e in entries}, scope.functions)
            entries = [entry for entry in entries if entry.kernel.function in wanted]
        notes = list(self.notes)
        if self.left_out and not self.problem:
            notes.append(f"{self.left_out} {'loop was' if self.left_out == 1 else 'loops were'} not analysed.")
        if not entries and not self.problem:
            notes.append("No function has such a name." if scope.functions else "It has no kernels.")
        info = side_info(entries, "", self.name, notes)
        return ComparedBuild(replace(info, variant=self.variant, problem=self.problem), entries)


def _read_reports(path: str, shown: str, collected: Collected) -> None:
    """Read the reports of a file."""
    with _opened(path) as file:
        _read_documents(file, printable(shown), collected)


def _read_documents(file: BinaryIO, shown: str, collected: Collected) -> None:

    builds = _Builds(collected)
    documents = 0
    try:
        for line, text in texts(file):
            done = completed(read_report(text, shown, line))
            collected.notes.update(dict.fromkeys([f"{problem[:1].upper()}{problem[1:]}." for problem in done.problems]))
            documents += 1
            builds.add(done.report)
    except OSError as error:
        raise InputError(f"{shown}: {reason(error)}") from None
    except MemoryError:
        raise InputError(f"{shown}: too large for the available memory") from None
    if not documents:
        raise InputError(f"{shown}: the input is empty")
    builds.end()


class _Builds:
    """The reports in a file to which a build appends; the last compilation of each output counts."""

    def __init__(self, collected: Collected) -> None:
        self.collected = collected
        self.places: dict[Any, slice] = {}
        self.replaced: dict[str, None] = {}

    def add(self, report: t.AnalysisReport) -> None:
        for unit in report.units:
            ids = {kernel.kernel_id for kernel in unit.kernels}
            start = len(self.collected.entries)
            self.collected.add(unit)
            if not unit.command:  # code without a command, which cannot be identified
                continue
            has_output = bool(unit.folder and unit.output)
            # The same output may be compiled again with other options.
            made = (unit.folder, unit.output) if has_output else tuple(unit.command)
            key = has_output, made, unit.source, unit.model.name
            before = self.places.get(key)
            # Without a folder, the source may be another file of the same name.
            if before and (has_output or any(e.kernel.kernel_id in ids for e in self.collected.entries[before])):
                self.replaced[unit.source] = None
                self.collected.entries[before] = [_GONE] * (before.stop - before.start)
            self.places[key] = slice(start, len(self.collected.entries))

    def end(self) -> None:
        if not self.replaced:
            return
        self.collected.entries = [entry for entry in self.collected.entries if entry is not _GONE]
        first, *others = self.replaced
        more = f" and {len(others)} more" if others else ""
        self.collected.notes[f"{printable(first)}{more} was compiled several times; the last time counts."] = None


_GONE: Any = object()


# --- folders ----------------------------------------------------------------------------------------------------------


def _of_dataset(name: str, settings: Settings) -> list[tuple[str, Collected]]:
    """Read the kernels of a scan, those of the requested functions and cores."""
    from incc.driver.pipeline import choose_model

    collected = Collected(name)
    with opened_dataset(name) as dataset:
        requested = [choose_model(core, "", settings.core.model_path) for core in named_cores(settings.core.mcpu)]
        cores = {choice.model.name for choice in requested} & set(dataset.cores)
        for unit in dataset.units(cores=cores, functions=settings.scope.functions):
            collected.add(unit)
        collected.notes.update(dict.fromkeys(dataset.notes))
    collected.in_parts = True
    return [("", collected)]


def _of_folder(name: str, settings: Settings) -> list[tuple[str, Collected]]:
    if is_dataset(name):
        return _of_dataset(name, settings)
    files = list(_files(name))
    collected = Collected(name)
    others: list[str] = []
    read = False
    for path, shown in files:
        if not shown.endswith(".json"):
            continue

        try:
            with _opened(path) as file:
                start = _read(file, path, 4096)
            if _kind(path, start) != "report":
                continue
            _read_reports(path, path, collected)
            read = True
        except NotAReportError:
            others.append(shown)
    if read:
        if others:
            more = f" and {len(others) - 1} more files" if len(others) > 1 else ""
            collected.notes[f"{printable(others[0])}{more}: not a report, skipped."] = None
        return [("", collected)]
    code: list[tuple[str, str | bytes | Unit, str]] = []
    for path, shown in files:
        if shown.endswith(_CODE):
            with _opened(path) as file:
                start = _read(file, path, 4096)
            if start and not start.startswith(b"/*"):  # a linker script instead of a library
                code.append((shown, path, _kind(path, start)))
    if code:
        return _of_code(code, name, settings)
    what = "only JSON files that are not reports" if others else "no report (*.json), assembly or object"
    raise InputError(f"{printable(name)}: {what} in this folder")


def _files(folder: str) -> Iterator[tuple[str, str]]:
    """Yield the regular files in a folder and its subfolders, sorted: paths, and names relative to the folder."""

    def failed(error: OSError) -> None:
        raise InputError(f"{printable(error.filename)}: {reason(error)}")

    for place, folders, names in os.walk(folder, onerror=failed):
        # Waiting jobs in a folder of reports are JSON, too.
        folders[:] = sorted(name for name in folders if name != OWN)
        for name in sorted(names):
            path = os.path.join(place, name)
            if os.path.isfile(path):
                yield path, os.path.relpath(path, folder)


# --- code -------------------------------------------------------------------------------------------------------------


def _of_source(name: str, settings: Settings) -> list[tuple[str, Collected]]:
    """Compile a source, once for all cores, and return a side for each core."""
    from incc.driver.pipeline import with_likely_regions

    unit, note = compiled_source(name, settings.core.mcpu, variables=settings.kernel.names_values)
    note = printable(note.removeprefix(f"{name}: "))
    sides = _of_code([(name, unit, "source")], name, with_likely_regions(unit, settings))
    for _, collected in sides:
        collected.notes[f"{note[:1].upper()}{note[1:]}."] = None
    return sides


def _of_code(
    files: Sequence[tuple[str, str | bytes | Unit, str]], name: str, settings: Settings
) -> list[tuple[str, Collected]]:
    """Read files of code (names for messages; paths, contents or units; kinds), and return a side for each core."""
    sides = []
    cores = named_cores(settings.core.mcpu) or [""]
    for core in cores:
        collected = Collected(name)
        for file in files:
            collected.pieces += _pieces(*file, settings.on(core), collected)
        if len(cores) > 1:
            collected.variant = c.SideVariant(compiler="", flags=[], mcpu=core)
        sides.append((core, collected))
    return sides


def _pieces(
    shown: str, source: str | bytes | Unit, kind: str, settings: Settings, collected: Collected
) -> list[CodePiece]:
    from incc.frontends.objects.read import ObjectError

    if isinstance(source, Unit):
        return [CodePiece(unit=source, settings=settings)]
    shown = printable(shown)
    if kind == "assembly":
        if not isinstance(source, bytes):
            with _opened(source) as file:
                source = _read(file, shown)
        unit = Unit(assembly=source.decode("utf-8", "surrogateescape"), assembly_file=shown)
        return [CodePiece(unit=unit, settings=settings)]
    try:
        if kind == "object":
            return object_pieces(source, shown, settings)
        from incc.frontends.objects.archive import members

        assert isinstance(source, str), "libraries are files"
        pieces: list[CodePiece] = []
        for member, data in members(source):
            try:
                pieces += object_pieces(data, f"{shown}({printable(member)})", settings)
            except AnalysisError as error:
                text = str(error)
                collected.notes[f"{text}{'' if text.endswith('.') else '.'}"] = None
        return pieces
    except (AnalysisError, ObjectError) as error:
        text = str(error)
        raise InputError(text if text.startswith(shown) else f"{shown}: {text}") from error
    except OSError as error:
        raise InputError(f"{printable(error.filename or shown)}: {reason(error)}") from None
