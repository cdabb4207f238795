"""The public Python API: `incc.analyze`, `incc.compile`, `incc.load`, `incc.Model`, `incc.figures`, `incc.cores`.

All objects are immutable views of the results of `analyze_kernel` and of the report built from them. Only models and
decoders keep data between calls, in bounded caches.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NoReturn, TypedDict, Unpack

import msgspec

from incc.core import Bounds, Event, Simulation
from incc.core.analysis import KernelResult
from incc.core.whatif import CoreChange
from incc.driver.code import ObjectCode
from incc.driver.settings import Scope, Settings
from incc.frontends.unit import Unit
from incc.models.model import Form, MachineModel
from incc.report import types as t
from incc.report.build import UnitResult
from incc.report.instructions import InstructionFigures
from incc.support.errors import AnalysisError as AnalysisError

if TYPE_CHECKING:
    import networkx

    from incc.frontends.asm.call_path import WantedTrips

Input = Literal["auto", "asm", "hex", "obj"]
Loops = Literal["auto", "marked"]
AssemblySyntax = Literal["auto", "att", "intel"]
Path = str | os.PathLike[str]


class Core(msgspec.Struct, frozen=True, kw_only=True):
    """A core with a machine model."""

    name: str
    """LLVM's -mcpu name."""
    aliases: tuple[str, ...]
    title: str
    """The vendor's name."""
    isa: str
    """The instruction set."""


def cores(model_path: Sequence[Path] = ()) -> tuple[Core, ...]:
    """Return the cores with a model, sorted by name.

    Args:
        model_path: Folders and files of models that are searched first.

    Returns:
        The cores.

    Raises:
        AnalysisError: A folder or file does not exist, or a model is invalid.
    """
    from incc.models.loading import list_models
    from incc.models.model import ModelError

    try:
        models = list_models([os.fspath(place) for place in model_path])
    except ModelError as error:
        raise AnalysisError(str(error)) from error
    return tuple(Core(name=model.name, aliases=model.aliases, title=model.title, isa=model.isa) for model in models)


class _Frozen:
    """Base of classes whose attributes are set only by `__init__`."""

    __slots__ = ()

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} objects cannot be changed")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} objects cannot be changed")

    def __reduce__(self) -> NoReturn:
        # They refer to the whole model of a core.
        raise TypeError(f"{type(self).__name__} objects cannot be pickled; use to_dict(), row() or rows()")


class Model(_Frozen):
    """A machine model: the parameters of a core and the figures of each instruction form (docs/models.md)."""

    __slots__ = ("_machine",)
    _machine: MachineModel

    def __init__(self, name: Path | MachineModel, model_path: Sequence[Path] = ()) -> None:
        """Load a model.

        Args:
            name: Name or alias, in upper or lower case, or a .toml file; "native" for the host.
            model_path: Folders and files of models that are searched first.

        Raises:
            AnalysisError: There is no such model; the message suggests similar names.
        """
        if isinstance(name, MachineModel):
            object.__setattr__(self, "_machine", name)
            return
        from incc.driver.pipeline import choose_model

        choice = choose_model(os.fspath(name) or "native", "", [os.fspath(place) for place in model_path])
        object.__setattr__(self, "_machine", choice.model)

    @classmethod
    def load(cls, name: Path, model_path: Sequence[Path] = ()) -> Model:
        """Return `Model(name, model_path)`."""
        return cls(name, model_path)

    @property
    def name(self) -> str:
        """LLVM's -mcpu name."""
        return self._machine.name

    @property
    def aliases(self) -> tuple[str, ...]:
        return tuple(self._machine.aliases)

    @property
    def title(self) -> str:
        return self._machine.title

    @property
    def isa(self) -> str:
        return self._machine.isa

    @property
    def version(self) -> str:
        """A version that changes with the model's files."""
        return self._machine.version

    @property
    def ports(self) -> tuple[str, ...]:
        return tuple(self._machine.ports)

    @property
    def parameters(self) -> Mapping[str, Any]:
        """All parameters of the pipeline by name (docs/models.md), read-only."""
        return self._machine.parameters

    def forms(self) -> tuple[str, ...]:
        """Return the instruction forms in the model, without conditions."""
        return tuple(self._machine.forms())

    def form(self, form: str, conditions: Iterable[str] = ()) -> Form | None:
        """Return the µops, ports and latencies of a form as in the model.

        Args:
            form: An instruction form, as in `forms()`.
            conditions: Conditions such as "indexed".

        Returns:
            The figures; None if the model lacks the form.
        """
        return self._machine.lookup(form, frozenset(conditions))

    def figures(self, instruction: str) -> InstructionFigures:
        """Return the figures of one instruction, given in assembly or by its form; see `incc.figures`."""
        from incc.driver.instructions import named

        return named(self._machine, instruction)

    def instructions(self, pattern: str = "*") -> tuple[InstructionFigures, ...]:
        """Return the figures of the instructions that a pattern matches, sorted by their spelling.

        Args:
            pattern: A mnemonic, an instruction with operands, or a pattern with `*` and `?`: "vfmadd*pd zmm*".

        Returns:
            The figures, for each instruction also those under conditions such as a mask; empty if none matches.
        """
        from incc.driver.instructions import matching
        from incc.report.instructions import all_figures

        rows = [row for form in matching(self._machine, pattern) for row in all_figures(self._machine, form)]
        return tuple(sorted(rows, key=lambda row: (row.instruction, row.form)))

    def __repr__(self) -> str:
        return f"<incc.Model {self.name}: {self.title}>"


def figures(instruction: str, mcpu: str = "native", model_path: Sequence[Path] = ()) -> InstructionFigures:
    """Return latency, throughput, µops and ports of an instruction on a core.

    Args:
        instruction: As people spell it: with kinds of operands ("vfmadd231pd ymm, ymm, ymm", "imul r64, m") or in
            assembly of either syntax ("add $1, %rax"). If several forms match, the assembler's choice.
        mcpu: Core; "native" for the host.
        model_path: Folders and files of models that are searched first.

    Returns:
        The figures.

    Raises:
        AnalysisError: There is no such core or instruction, or the core lacks it. The message suggests similar names.
    """
    return Model(mcpu or "native", model_path).figures(instruction)


class _Results:
    """The results of an analysis, and the report, which is built on first use."""

    __slots__ = ("_report", "units")

    def __init__(self, units: Sequence[UnitResult]) -> None:
        self.units = tuple(units)
        self._report: t.AnalysisReport | None = None

    def report(self) -> t.AnalysisReport:
        if self._report is None:
            from incc.driver.pipeline import report_of

            # Several threads may do this at the same time with equal results.
            self._report = report_of(self.units)
        return self._report


class Kernel(_Frozen):
    """A loop or region and its analysis for a core. Times are in core cycles per iteration."""

    __slots__ = ("_found", "_number", "_unit")
    _found: _Results
    _unit: int
    _number: int

    def __init__(self, results: _Results, unit: int, number: int) -> None:
        object.__setattr__(self, "_found", results)
        object.__setattr__(self, "_unit", unit)
        object.__setattr__(self, "_number", number)

    @property
    def _result(self) -> KernelResult:
        return self._found.units[self._unit].results[self._number]

    @property
    def _report(self) -> t.KernelReport:
        return self._found.report().units[self._unit].kernels[self._number]

    @property
    def cycles(self) -> float:
        """Predicted cycles per iteration in the steady state: simulated, but at least the largest bound."""
        return float(self._result.cycles)

    def total_cycles(self, iterations: int) -> int:
        """Simulate exactly this many iterations from a cold start.

        Args:
            iterations: The number of iterations.

        Returns:
            Cycles from the dispatch of the first µop to the retirement of the last instruction.

        Raises:
            ValueError: `iterations` is less than 1.
            RuntimeError: The simulation does not end.
        """
        return self._result.total_cycles(iterations)

    @property
    def exact_cycles(self) -> Fraction:
        """`cycles` as an exact fraction."""
        return self._result.cycles

    @property
    def range(self) -> tuple[float, float | None]:
        """The fewest and most cycles for unknown data and addresses (docs/report.md); None if there is no maximum.

        Both are `cycles` if the code determines them. The reasons are in `to_dict().range`.
        """
        found = self._report.range
        return (found.least, found.most) if found else (self.cycles, self.cycles)

    @property
    def measured(self) -> float | None:
        """Cycles per iteration measured on this machine; None if not requested or failed.

        `to_dict().measured` has the reason for a failure.
        """
        found = self._report.measured
        return found.cycles if found else None

    @property
    def bounds(self) -> Bounds:
        """Exact lower bounds: `port`, `divider`, `front_end`, `retire`, `loop_carried`."""
        return self._result.bounds

    @property
    def limited_by(self) -> tuple[str, ...]:
        """The names of the bounds that limit the kernel; empty if something else in the pipeline does."""
        return self._result.limits

    @property
    def critical_path(self) -> int:
        """Latency of one iteration in cycles."""
        return self._result.analysis.critical_path_cycles

    @property
    def simulation(self) -> Simulation | None:
        """The simulation of the steady state, with its counters; None if the prediction is a bound."""
        return self._result.simulation

    @property
    def events(self) -> tuple[Event, ...]:
        """The events of each instruction in the first iterations (argument `timeline` of `analyze`)."""
        return self._result.events or ()

    @property
    def name(self) -> str:
        return self._result.kernel.name

    @property
    def kernel_id(self) -> str:
        """An identifier that does not depend on line numbers."""
        return self._report.kernel_id

    @property
    def content_hash(self) -> str:
        """A hash of the code."""
        return self._report.content_hash

    @property
    def function(self) -> str:
        """The function's name in the source."""
        return self._report.function_name

    @property
    def source(self) -> tuple[str, int] | None:
        """File and line in the user's source; None without debug information."""
        place = self._report.source
        return (place.file, place.line) if place else None

    @property
    def elements(self) -> float | None:
        """Elements of the source's loop per iteration of the kernel; None if unknown.

        From the compiler's remarks, or inferred.
        """
        elements = self._report.elements
        return elements.per_iteration if elements else None

    @property
    def cycles_per_element(self) -> float | None:
        """Predicted cycles per element of the source's loop; None if `elements` is None."""
        elements = self._report.elements
        return elements.cycles if elements else None

    @property
    def role(self) -> str:
        """The role among loops with the same work, one of `RoleName`; "" for code that is not a loop."""
        return self._report.role.name

    @property
    def verdict(self) -> str:
        """The bottleneck in one sentence."""
        return self._report.verdict

    @property
    def hints(self) -> tuple[str, ...]:
        """Suggestions for optimising the kernel."""
        return tuple(hint.text for hint in self._report.hints)

    @property
    def notes(self) -> tuple[str, ...]:
        """Omissions and assumptions of the analysis."""
        return tuple(self._report.notes)

    @property
    def instructions(self) -> tuple[str, ...]:
        """The instructions in assembly."""
        return tuple(instruction.text for instruction in self._result.kernel.instructions)

    @property
    def unknown(self) -> tuple[int, ...]:
        """The indices of instructions that the model lacks; all figures exclude them."""
        return self._result.unknown

    @property
    def what_ifs(self) -> Mapping[str, float]:
        """Cycles per iteration on changed cores, by the change; the largest gain first."""
        return MappingProxyType({w.text: float(w.cycles) for w in self._result.what_ifs})

    @property
    def decrements(self) -> Mapping[str, float]:
        """Cycles per iteration without parts of the work (argument `decrements` of `analyze`), by the part in words."""
        return MappingProxyType({each.text: each.cycles for each in self._report.decrements or ()})

    @property
    def quality(self) -> t.QualityReport | None:
        """Code quality and projections (argument `quality` of `analyze`), docs/quality.md; None if not requested."""
        return self._report.quality

    @property
    def levels(self) -> Mapping[str, float]:
        """Cycles per iteration by the level that the data are in (argument `data` of `analyze`); empty without it."""
        data = self._report.data
        return MappingProxyType({level.name: level.cycles for level in data.levels} if data else {})

    @property
    def model(self) -> Model:
        return Model(self._result.model)

    def graph(self) -> networkx.MultiDiGraph[int]:
        """Return a new graph of the dependencies.

        Returns:
            Nodes are instructions. Edges have latencies and mark the critical path (`critical_path`) and loop-carried
            dependencies (`lcd`); see `views.exchange.graph.graph`.
        """
        from incc.views.exchange.graph import graph

        return graph(self._report)

    def to_dict(self) -> dict[str, Any]:
        """Return the kernel as in the report's JSON (report/report.schema.json)."""
        kernel: dict[str, Any] = msgspec.to_builtins(self._report)
        return kernel

    def row(self) -> dict[str, Any]:
        """Return the figures by their names in filters (docs/filters.md), for `pandas.DataFrame([k.row() for …])`."""
        from incc.report.where import kernel_values

        return dict(kernel_values(self._found.report().units[self._unit], self._report))

    def _repr_html_(self) -> str:
        from incc.views.html.notebook import kernel

        return kernel(self._found.report().units[self._unit], self._report)

    def __repr__(self) -> str:
        return f"<incc.Kernel {self.name}: {self.cycles:.2f} cycles on {self._result.model.name}>"


class _Document(_Frozen):
    """Base of reports: the methods that print and write them."""

    __slots__ = ()

    @property
    def _document(self) -> t.AnalysisReport:
        raise NotImplementedError

    def rows(self) -> list[dict[str, Any]]:
        """Return a row of figures for each kernel, for `pandas.DataFrame(report.rows())`."""
        from incc.report.where import kernel_values

        return [dict(kernel_values(unit, kernel)) for unit in self._document.units for kernel in unit.kernels]

    def to_dict(self) -> dict[str, Any]:
        """Return the report as a JSON object (report/report.schema.json)."""
        report: dict[str, Any] = msgspec.to_builtins(self._document)
        return report

    def to_json(self) -> str:
        """Return the output of `incc-mca --json`."""
        from incc.views.json import render

        return render(self._document)

    def text(self, width: int = 120) -> str:
        """Return the output of `incc-mca`, in lines of at most `width` columns."""
        from incc.views.text import TextParts, render

        return render(self._document, width, show=TextParts(overview=2, brief=True))

    def html(self) -> str:
        """Return the page of `incc-mca --html`, with the source lines that can be read.

        Raises ValueError if there is no kernel.
        """
        from incc.driver.deliver import page

        return page(self._with_roofline())

    def roofline(self, page: bool = False) -> str:
        """Return the loops below the ceilings of their cores (docs/memory.md), as `incc-mca --roofline` draws them.

        Args:
            page: True for a page with a table of the loops, False for an SVG file.

        Returns:
            The page or the file.

        Raises:
            ValueError: There is no kernel.
        """
        from incc.driver.deliver import roofline

        return roofline(".html" if page else ".svg", self._with_roofline())

    def _with_roofline(self) -> t.AnalysisReport:
        """Return the report with the ceilings of its cores."""
        from incc.driver.rooflines import ReportedModels

        return ReportedModels().with_rooflines(self._document)

    def _repr_html_(self) -> str:
        from incc.views.html.notebook import report

        return report(self._document)

    def __str__(self) -> str:
        return self.text().rstrip("\n")

    def __repr__(self) -> str:
        units = self._document.units
        kernels = [kernel for unit in units for kernel in unit.kernels]
        cycles = ", ".join(f"{kernel.name} {kernel.cycles:.2f}" for kernel in kernels[:3]) + ", …" * (len(kernels) > 3)
        models = ", ".join(dict.fromkeys(unit.model.name for unit in units))
        count = "1 kernel" if len(kernels) == 1 else f"{len(kernels)} kernels"
        return f"<incc.{type(self).__name__} of {count} on {models}{f': {cycles}' if cycles else ''}>"


class Report(_Document):
    """The kernels of one or several units, in the order of the code."""

    __slots__ = ("_found", "compiler_messages", "kernels", "status")
    _found: _Results
    kernels: tuple[Kernel, ...]
    status: int
    compiler_messages: tuple[str, ...]

    def __init__(self, results: _Results, status: int = 0, compiler_messages: Sequence[str] = ()) -> None:
        kernels = [
            Kernel(results, number, k) for number, unit in enumerate(results.units) for k in range(len(unit.results))
        ]
        object.__setattr__(self, "_found", results)
        object.__setattr__(self, "kernels", tuple(kernels))
        object.__setattr__(self, "status", status)
        object.__setattr__(self, "compiler_messages", tuple(compiler_messages))

    @property
    def _document(self) -> t.AnalysisReport:
        return self._found.report()

    def _with_roofline(self) -> t.AnalysisReport:
        from incc.report.parts.roofline import with_roofline

        report = self._found.report()
        pairs = zip(report.units, self._found.units, strict=True)
        return msgspec.structs.replace(report, units=[with_roofline(unit, result.model) for unit, result in pairs])

    @property
    def problems(self) -> tuple[str, ...]:
        """The parts of the input that were not analysed, with file and line: statements and loops."""
        from incc.report.source.problems import problems

        return tuple(problems(self._found.report()))

    def where(self, condition: str) -> tuple[Kernel, ...]:
        """Return the kernels that meet a condition.

        Args:
            condition: A condition such as "cycles > 4 and function like 'gemm*'" (docs/filters.md).

        Returns:
            The kernels.

        Raises:
            ValueError: The condition is invalid.
        """
        from incc.report.where import parse

        parsed = parse(condition)
        return tuple(kernel for kernel in self.kernels if parsed.holds(kernel.row()))

    def __iter__(self) -> Iterator[Kernel]:
        return iter(self.kernels)

    def __len__(self) -> int:
        return len(self.kernels)

    def __getitem__(self, number: int) -> Kernel:
        return self.kernels[number]


class SavedReport(_Document):
    """A report that was read from a file, with the file's contents only; `analyze` returns a `Report` with more."""

    __slots__ = ("_document", "kernels")
    _document: t.AnalysisReport
    kernels: tuple[t.KernelReport, ...]
    """The kernels of all units, with the fields of the JSON (report/types.py)."""

    def __init__(self, report: t.AnalysisReport) -> None:
        object.__setattr__(self, "_document", report)
        object.__setattr__(self, "kernels", tuple(kernel for unit in report.units for kernel in unit.kernels))

    @property
    def units(self) -> tuple[t.UnitReport, ...]:
        """The analysis of each source for each core (report/types.py)."""
        return tuple(self._document.units)

    def where(self, condition: str) -> tuple[t.KernelReport, ...]:
        """Return the kernels that meet a condition (docs/filters.md). Raises ValueError if it is invalid."""
        from incc.report.where import parse

        parsed = parse(condition)
        return tuple(kernel for kernel, row in zip(self.kernels, self.rows(), strict=True) if parsed.holds(row))

    def __iter__(self) -> Iterator[t.KernelReport]:
        return iter(self.kernels)

    def __len__(self) -> int:
        return len(self.kernels)

    def __getitem__(self, number: int) -> t.KernelReport:
        return self.kernels[number]


class AnalysisOptions(TypedDict, total=False):
    """The arguments of `analyze` and `compile` about the analysis."""

    functions: Sequence[str]
    """Globs of function names; all functions if empty, which is the default."""
    simulate: bool
    """False to compute only bounds (default: True)."""
    fixed_ports: bool
    """Split µops equally over their ports (default: False)."""
    what_ifs: bool
    """Simulate the standard changes of the core (default: True)."""
    changes: Sequence[str]
    """Further changes to simulate, such as "port 5 += 1" or "rob = 512" (default: none)."""
    alignment: int | Literal["all"] | None
    """Offset of a kernel's first byte within 64 bytes; "all" for each offset, None (default) for that of the code."""
    cold_iterations: int
    """Also simulate this many iterations from a cold start; 0 (default) for none."""
    timeline: int
    """Number of iterations whose events are recorded (default: 2)."""
    waits: bool
    """Record which instruction waits for which (default: False)."""
    decrements: bool
    """Simulate the kernels without each part of their work, docs/decremental.md (default: False)."""
    quality: bool
    """Rate the code of the kernels and simulate changes to it, docs/quality.md (default: False)."""
    model_path: Sequence[Path]
    """Folders and files of models that are searched first (default: none)."""
    system_headers: bool
    """Include loops that come only from system headers (default: False)."""
    trust_includes: bool
    """Let assembly read the files that `.include` and `.incbin` name (default: False)."""
    ghz: float
    """Clock in GHz, for rates per second; 0 (default) for no rates."""
    measure: bool
    """Also run the kernels on this machine, docs/report.md (default: False)."""
    data: str
    """Also predict for data in these levels, or of this size: "L2,64M", "all"; "" (default): L1 alone."""
    cores: int
    """With `data`: the number of cores that run the kernel, each on its own data (default: 1)."""
    let: Mapping[str, int]
    """Values of variables or 64-bit registers at the start of the loops, such as {"n": 1000} (default: none)."""
    trip: int | str
    """Also predict whole calls with these iterations of loops, 27 or "inner=27,outer=1000"; "" (default): do not."""


def analyze(
    source: Path | bytes,
    *,
    mcpu: str = "",
    input: Input = "auto",
    loops: Loops = "auto",
    syntax: AssemblySyntax = "auto",
    name: str = "",
    **options: Unpack[AnalysisOptions],
) -> Report:
    """Analyse assembly, machine code, an object or a source for a core. Thread-safe.

    Args:
        source: For "asm", a text (str or bytes) or a path; a str of one line that names a file is a path. For "hex",
            machine code as hexadecimal digits (str) or bytes. For "obj", a path or the contents of the file (bytes).
            A `pathlib.Path` is always a path.
        mcpu: Core; "native" for the host, "" also for the default of the instruction set if that is not the host's.
        input: Kind of the source: "asm", "hex" or "obj". "auto" is "obj" for objects, libraries' members and programs,
            and "asm" for anything else; C, C++ and Fortran sources are compiled, by CC and CFLAGS as for make.
        loops: In assembly: "auto" for the innermost loops, or for all of a text without labels; "marked" for regions
            between markers of OSACA, llvm-mca or IACA, or the whole text without markers.
        syntax: Syntax at the start of x86 assembly: "att", "intel", or "auto" to detect it.
        name: Name of the source in messages.
        options: The arguments in `AnalysisOptions`.

    Returns:
        The report. Its `problems` list the parts of the source that could not be analysed.

    Raises:
        AnalysisError: Nothing can be analysed: unknown core, missing or unreadable file, source that cannot be
            compiled, text without an instruction, no assembler.
        ValueError: An argument is invalid.
    """
    from incc.driver.code import of_functions
    from incc.driver.pipeline import analyze_code, choose_model

    _check_options(options)
    settings = _settings(mcpu, loops, **options)
    readers = {"auto": _object if _is_object(source) else None, "asm": None, "hex": _machine_code, "obj": _object}
    reader = _one_of("input", input, readers)
    _one_of("syntax", syntax, {"auto": None, "att": None, "intel": None})
    if reader is None:
        if input == "auto" and not isinstance(source, bytes) and _is_source_path(source):
            return _of_source(os.fspath(source), settings)
        return _of_assembly(_assembly(source, name), syntax, settings)
    model = choose_model(settings.core.mcpu, "", settings.core.model_path).model
    unit, code = reader(source, name, model.isa, settings.scope)
    return Report(_Results([analyze_code(unit, of_functions(code, settings.scope.functions), settings)]))


def compile(
    command: str | Sequence[str], *, mcpu: str = "", folder: Path = "", **options: Unpack[AnalysisOptions]
) -> Report:
    """Run a compiler's command, unchanged, and analyse the innermost loops that it compiles, like `incc`.

    Args:
        command: Words, or a text quoted as in a shell: ["gcc", "-O3", "-c", "foo.c"].
        mcpu: Core; by default the one that the command tunes for or targets, else the host.
        folder: Working directory of the command; "" for the current one.
        options: The arguments in `AnalysisOptions`.

    Returns:
        The report, without kernels if the compiler failed. `status` is the compiler's exit status;
        `compiler_messages` are its output and messages on sources that could not be analysed.

    Raises:
        AnalysisError: There is no such compiler, or no model of the core.
        ValueError: The command is empty, or an argument is invalid.
    """
    from incc.driver.pipeline import analyze_unit
    from incc.frontends.gcc_wrapper.compile import compile_units
    from incc.frontends.gcc_wrapper.compiler import CompilerError

    _check_options(options)
    settings = _settings(mcpu, "auto", **options)
    try:
        compiled = compile_units(command, folder=folder, capture=True)
    except CompilerError as error:
        raise AnalysisError(str(error)) from error
    output = (compiled.output + compiled.errors).decode("utf-8", "replace").splitlines()
    results = _Results([analyze_unit(unit, settings) for unit in compiled.units])
    return Report(results, compiled.status, [*output, *compiled.warnings, *compiled.notes])


def load(path: Path) -> SavedReport:
    """Read a report that a command has written as JSON.

    Args:
        path: A file with a report, or with several, one a line, which are taken together.

    Returns:
        The report.

    Raises:
        AnalysisError: The file cannot be read, or is not a report; the message names file and line.
    """
    from incc.driver.completion import completed
    from incc.report.documents import InputError, read_report, reason, texts

    name = os.fspath(path)
    try:
        with open(name, "rb") as file:
            reports = [completed(read_report(text, name, line)).report for line, text in texts(file)]
    except (OSError, ValueError) as error:
        raise AnalysisError(f"{name}: {reason(error)}") from error
    except InputError as error:
        raise AnalysisError(str(error)) from error
    if not reports:
        raise AnalysisError(f"{name}: the file is empty")
    first = reports[0]
    return SavedReport(msgspec.structs.replace(first, units=[unit for each in reports for unit in each.units]))


_Read = tuple["Unit", "ObjectCode"]


def _is_object(source: Path | bytes) -> bool:
    """Return True for the contents, or the path, of an object, a program or a library."""
    from incc.driver.code import kind_of

    start = source[:4096] if isinstance(source, bytes) else b""
    if not isinstance(source, bytes) and "\n" not in os.fspath(source) and os.path.isfile(source):
        try:
            with open(source, "rb") as file:
                start = file.read(4096)
        except OSError:
            return False
    return kind_of(start) in ("object", "library", "bitcode")


def _is_source_path(source: Path) -> bool:
    from incc.driver.sources import is_source

    return "\n" not in os.fspath(source) and is_source(os.fspath(source))


def _of_source(path: str, settings: Settings) -> Report:
    from incc.driver.pipeline import analyze_unit, with_likely_regions
    from incc.driver.sources import compiled_source

    unit, note = compiled_source(path, settings.core.mcpu, True, settings.kernel.names_values)
    return Report(_Results([analyze_unit(unit, with_likely_regions(unit, settings))]), 0, [note])


def _of_assembly(unit: Unit, syntax: AssemblySyntax, settings: Settings) -> Report:
    from incc.driver.pipeline import analyze_unit, read_assembly
    from incc.frontends.asm.parse import INSTRUCTION

    parsed = read_assembly(unit)
    if not any(statement.kind == INSTRUCTION for statement in parsed.statements):
        raise AnalysisError(f"{unit.assembly_file}: there is no instruction to analyse")
    given = unit.assembly_file == _TEXT
    if given and settings.scope.regions == "loops" and not parsed.labels:
        settings = msgspec.structs.replace(settings, scope=msgspec.structs.replace(settings.scope, regions="marked"))
    text = unit.assembly
    if syntax != "auto":  # on the first line, so that the numbers of lines stay
        directive = ".intel_syntax noprefix" if syntax == "intel" else ".att_syntax"
        unit = msgspec.structs.replace(unit, assembly=f"{directive}; {text}")
    result = analyze_unit(unit, settings)
    if not result.left_out and not any(each.kernel.instructions for each in result.results):
        _check_assembly(unit, settings, text.strip() if given else "")
    return Report(_Results([result]))


def _check_assembly(unit: Unit, settings: Settings, text: str) -> None:
    """Raise AnalysisError if none of a unit's statements is an instruction. `text` is the given text, if it was one."""
    from incc.driver.pipeline import analyze_unit

    scope = msgspec.structs.replace(settings.scope, regions="marked", functions=())
    kernel = msgspec.structs.replace(settings.kernel, simulate=False, what_ifs=False)
    whole = analyze_unit(unit, msgspec.structs.replace(settings, scope=scope, kernel=kernel)).results
    if any(each.kernel.instructions for each in whole):
        return
    what = f"{unit.assembly_file}: not assembly"
    if text and "\n" not in text:
        what = f"{text!r} is neither a file nor assembly"
    binary = bool(text) and not text.replace("\n", "").replace("\t", "").isprintable()
    if binary or re.fullmatch(r"([0-9a-fA-F]{2})+", text):
        what = f"{unit.assembly_file}: not assembly" if binary else what
        raise AnalysisError(f'{what}; for machine code, pass input="hex"')
    refused = next((statement for each in whole for statement in each.kernel.refused), None)
    raise AnalysisError(f"{what}: {refused.message}" if refused else what)


_TEXT = "<text>"
"""The name of a text in messages."""


def _assembly(source: Path | bytes, name: str) -> Unit:
    from incc.frontends.unit import Unit

    if isinstance(source, bytes):
        return Unit(assembly=source.decode("utf-8", "surrogateescape"), assembly_file=name or _TEXT)
    if isinstance(source, str) and ("\n" in source or not os.path.exists(source)):
        if "\n" not in source and _looks_like_path(source):
            raise AnalysisError(f"{source}: no such file")
        return Unit(assembly=source, assembly_file=name or _TEXT)
    path = os.fspath(source)
    return Unit(assembly=_contents(path).decode("utf-8", "surrogateescape"), assembly_file=name or path)


def _looks_like_path(text: str) -> bool:
    """Return True for a line that is a path rather than an instruction, though there is no such file."""
    return text.endswith((".s", ".S", ".asm", ".cod", ".o", ".so", ".a")) or (
        "/" in text and not any(map(str.isspace, text))
    )


def _contents(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise AnalysisError(f"{path}: {error.strerror}") from error


def _machine_code(source: Path | bytes, name: str, isa_name: str, _scope: Scope) -> _Read:
    from incc.driver.code import ObjectCode
    from incc.frontends.isa import DecodeError, isa
    from incc.frontends.unit import Unit

    name = name or "<machine code>"
    if not isinstance(source, bytes):
        digits = source if isinstance(source, str) else _contents(os.fspath(source)).decode("ascii", "replace")
        try:
            source = bytes.fromhex(digits)
        except ValueError as error:
            raise AnalysisError(f"{name}: not hexadecimal: {error}") from error
    try:
        return Unit(assembly="", assembly_file=name), ObjectCode([isa(isa_name).decode_bytes(source)], [])
    except (ValueError, DecodeError) as error:
        raise AnalysisError(f"{name}: {error}") from error


def _object(source: Path | bytes, name: str, _isa_name: str, scope: Scope) -> _Read:
    from incc.driver.code import object_code
    from incc.frontends.unit import Unit

    path = name or "<object>" if isinstance(source, bytes) else os.fspath(source)
    code = object_code(source if isinstance(source, bytes) else path, path, Scope(functions=scope.functions))
    return Unit(assembly="", assembly_file=name or path, way="object"), code


# --- arguments --------------------------------------------------------------------------------------------------------


def _check_options(options: Mapping[str, object]) -> None:
    """Raise TypeError for a name that `AnalysisOptions` lacks."""
    from incc.support.errors import suggestion

    for name in options:
        if name not in AnalysisOptions.__annotations__:
            raise TypeError(f"unexpected argument {name!r}{suggestion(name, AnalysisOptions.__annotations__)}")


def _settings(
    mcpu: str,
    loops: Loops,
    *,
    functions: Sequence[str] = (),
    simulate: bool = True,
    fixed_ports: bool = False,
    what_ifs: bool = True,
    changes: Sequence[str] = (),
    alignment: int | Literal["all"] | None = None,
    cold_iterations: int = 0,
    timeline: int = 2,
    waits: bool = False,
    decrements: bool = False,
    quality: bool = False,
    model_path: Sequence[Path] = (),
    system_headers: bool = False,
    trust_includes: bool = False,
    ghz: float = 0.0,
    measure: bool = False,
    data: str = "",
    cores: int = 1,
    let: Mapping[str, int] = MappingProxyType({}),
    trip: int | str = "",
) -> Settings:
    from incc.core.analysis import KernelSettings
    from incc.driver.settings import CoreSettings, Scope, Settings
    from incc.report.unit_result import ReportSettings

    return Settings(
        scope=Scope(
            functions=_texts("functions", functions),
            regions=_one_of("loops", loops, {"auto": "loops", "marked": "marked"}),
            system_headers=system_headers,
            trust_includes=trust_includes,
            trips=None if trip == "" else _trips(str(trip)),
        ),
        core=CoreSettings(mcpu=mcpu, model_path=tuple(os.fspath(place) for place in model_path)),
        kernel=KernelSettings(
            arrays="likely",
            simulate=simulate,
            fixed_ports=fixed_ports,
            what_ifs=what_ifs,
            changes=_changes(_texts("changes", changes)),
            waits=waits,
            cold_iterations=_at_least("cold_iterations", cold_iterations, 0),
            alignment=_alignment(alignment),
            timeline_iterations=_at_least("timeline", timeline, 0),
            timeline_cycles=1 << 30,
            data=_data(data),
            cores=_at_least("cores", cores, 1),
            let=_let(let),
        ),
        report=ReportSettings(ghz=_ghz(ghz), measure=measure, decrements=decrements, quality=quality),
    )


def _data(text: str) -> tuple[str | int, ...]:
    from incc.driver import UsageError
    from incc.driver.cli.kinds import ONE

    if not isinstance(text, str):
        raise ValueError(f"data must be a string such as 'L2,64M', not {text!r}")
    try:
        levels: tuple[str | int, ...] = ONE["data"]("data", text) if text else ()
    except UsageError as error:
        raise ValueError(str(error)) from None
    return levels


def _let(values: Mapping[str, int]) -> tuple[tuple[str, int], ...]:
    if not isinstance(values, Mapping) or not all(isinstance(value, int) for value in values.values()):
        raise ValueError(f"let must be integers by the names of variables or registers, not {values!r}")
    return tuple(values.items())


def _trips(text: str) -> WantedTrips:
    from incc.frontends.asm.call_path import parse_trips

    try:
        return parse_trips(text)
    except ValueError as error:
        raise ValueError(f"trip {error}") from error


def _ghz(value: float) -> float:
    if not 0 <= value <= 1000:
        raise ValueError(f"ghz must be a clock in GHz, or 0 for none, not {value!r}")
    return float(value)


def _texts(name: str, values: Sequence[str]) -> tuple[str, ...]:
    if isinstance(values, str):  # a sequence of its characters
        raise ValueError(f"{name} must be a list of strings, not {values!r}")
    return tuple(values)


def _one_of(name: str, value: str, meanings: Mapping[str, Any]) -> Any:
    if value not in meanings:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, meanings))}, not {value!r}")
    return meanings[value]


def _at_least(name: str, value: int, least: int) -> int:
    if value < least:
        raise ValueError(f"{name} must be at least {least}, not {value}")
    from incc.driver.cli.kinds import MOST

    if value > MOST:
        raise ValueError(f"{name} must be at most {MOST}, not {value}")
    return value


def _changes(texts: tuple[str, ...]) -> tuple[CoreChange, ...]:
    if not texts:
        return ()
    from incc.core.changes import parse

    return tuple(parse(text) for text in texts)


def _alignment(value: int | Literal["all"] | None) -> int:
    from incc.core.analysis import AS_FOUND, EVERYWHERE

    if value is None:
        return AS_FOUND
    if value == "all":
        return EVERYWHERE
    if not 0 <= value < 64:
        raise ValueError(f"alignment must be below 64, or 'all', not {value!r}")
    return value
