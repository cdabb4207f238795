"""The public Python API: `incc.analyze`, `incc.compile`, `incc.Model`, `incc.cores` and what they return.

Everything here is a frozen view of what `analyze_kernel` found and of the report that is built of it; nothing is kept
between calls but what models and decoders keep, which is bounded.
"""

from __future__ import annotations

import os
from fractions import Fraction
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NoReturn

import msgspec
from msgspec.structs import replace

from incc.core import Bounds, Event, Simulation
from incc.driver.pipeline import Settings
from incc.support.errors import AnalysisError as AnalysisError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import networkx

    from incc.core.analysis import KernelResult
    from incc.core.whatif import Change
    from incc.driver.code import ObjectCode
    from incc.frontends.unit import Unit
    from incc.models.model import Form, MachineModel
    from incc.report import types as t
    from incc.report.build import UnitResult

Input = Literal["asm", "hex", "obj"]
Loops = Literal["auto", "marked"]
Path = str | os.PathLike[str]


class Core(msgspec.Struct, frozen=True, kw_only=True):
    """A core that there is a model of: LLVM's -mcpu name, other names for it, what people call it, its instruction
    set."""

    name: str
    aliases: tuple[str, ...]
    title: str
    isa: str


def cores(model_path: Sequence[Path] = ()) -> tuple[Core, ...]:
    """The cores that can be named, by name. `model_path`: folders and files of models to look in first.

    Raises AnalysisError for a place that is not there or a model that cannot be read.
    """
    from incc.models.loading import list_models
    from incc.models.model import ModelError

    try:
        found = list_models([os.fspath(place) for place in model_path])
    except ModelError as error:
        raise AnalysisError(str(error)) from error
    return tuple(Core(name=model.name, aliases=model.aliases, title=model.title, isa=model.isa) for model in found)


class _Frozen:
    """Attributes that are set once, by `__init__`."""

    __slots__ = ()

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} objects cannot be changed")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} objects cannot be changed")

    def __reduce__(self) -> NoReturn:
        # They hold the whole model of a core.
        raise TypeError(f"{type(self).__name__} objects stay in their process: send to_dict(), row() or rows()")


class Model(_Frozen):
    """A machine model: what one microarchitecture does with each instruction form (docs/models.md)."""

    __slots__ = ("_machine",)
    _machine: MachineModel

    def __init__(self, machine: MachineModel) -> None:
        object.__setattr__(self, "_machine", machine)

    @classmethod
    def load(cls, name: str, model_path: Sequence[Path] = ()) -> Model:
        """The model of that name or alias, in any case, or of that .toml file; "native" is the host's.

        Raises AnalysisError with the names that come close.
        """
        from incc.driver.pipeline import choose_model

        return cls(choose_model(name or "native", "", [os.fspath(place) for place in model_path]).model)

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
        """Changes with the model's files."""
        return self._machine.version

    @property
    def ports(self) -> tuple[str, ...]:
        return tuple(self._machine.ports)

    @property
    def parameters(self) -> Mapping[str, Any]:
        """All parameters of the pipeline by their names in docs/models.md; they cannot be changed."""
        return self._machine.parameters

    def forms(self) -> tuple[str, ...]:
        """The instruction forms that the model knows, without conditions."""
        return tuple(self._machine.forms())

    def figures(self, form: str, conditions: Iterable[str] = ()) -> Form | None:
        """µops, ports and latencies of a form under conditions ("indexed", …); None if the model does not have it."""
        return self._machine.lookup(form, frozenset(conditions))

    def __repr__(self) -> str:
        return f"<incc.Model {self.name}: {self.title}>"


class _Found:
    """What was found, and the report that is built of it when it is first asked for."""

    __slots__ = ("_report", "units")

    def __init__(self, units: Sequence[UnitResult]) -> None:
        self.units = tuple(units)
        self._report: t.Report | None = None

    def report(self) -> t.Report:
        if self._report is None:
            from incc.report.build import build_report, unit_report

            # Two threads may do this at the same time, with the same result.
            self._report = build_report(unit_report(unit) for unit in self.units)
        return self._report


class Kernel(_Frozen):
    """One loop or region and its analysis on one core. Times are in cycles of the core's clock per iteration."""

    __slots__ = ("_found", "_number", "_unit")
    _found: _Found
    _unit: int
    _number: int

    def __init__(self, found: _Found, unit: int, number: int) -> None:
        object.__setattr__(self, "_found", found)
        object.__setattr__(self, "_unit", unit)
        object.__setattr__(self, "_number", number)

    @property
    def _result(self) -> KernelResult:
        return self._found.units[self._unit].results[self._number]

    @property
    def _report(self) -> t.Kernel:
        return self._found.report().units[self._unit].kernels[self._number]

    @property
    def cycles(self) -> float:
        """The prediction: cycles per iteration of the steady state, simulated and never below a bound."""
        return float(self._result.cycles)

    def total_cycles(self, iterations: int) -> int:
        """The cycles of exactly so many iterations from a cold start: from the one in which the first µop is dispatched
        to the one in which the last instruction retires. Raises ValueError for fewer iterations than one, RuntimeError
        where the simulation does not come to an end."""
        return self._result.total_cycles(iterations)

    @property
    def exact_cycles(self) -> Fraction:
        """The same as a fraction."""
        return self._result.cycles

    @property
    def range(self) -> tuple[float, float | None]:
        """The fewest and the most cycles that data and places, which the code does not tell, may make of the
        prediction (docs/report.md); None for the most where there is no end. Both are `cycles` where nothing is to be
        said; what decides between them is in `to_dict()["range"]`."""
        found = self._report.range
        return (found.least, found.most) if found else (self.cycles, self.cycles)

    @property
    def measured(self) -> float | None:
        """Cycles per iteration that were measured on this machine; None where that was not asked for, or failed, which
        `to_dict()["measured"]` says more of."""
        found = self._report.measured
        return found.cycles if found else None

    @property
    def bounds(self) -> Bounds:
        """What no execution can be faster than: `port`, `divider`, `front_end`, `retire`, `loop_carried`; exact."""
        return self._result.bounds

    @property
    def limited_by(self) -> tuple[str, ...]:
        """The names of the bounds that limit the kernel; empty where something else in the pipeline does."""
        return self._result.limits

    @property
    def critical_path(self) -> int:
        """Cycles from start to end of one iteration on its own."""
        return self._result.analysis.critical_path_cycles

    @property
    def simulation(self) -> Simulation | None:
        """The run that the prediction comes from, with its counters; None where it comes from the bounds."""
        return self._result.simulation

    @property
    def events(self) -> tuple[Event, ...]:
        """The life of each instruction in the first iterations, as many as `analyze` was asked for."""
        return self._result.events or ()

    @property
    def name(self) -> str:
        return self._result.kernel.name

    @property
    def kernel_id(self) -> str:
        """What the kernel is known by, whatever lines it has moved to."""
        return self._report.kernel_id

    @property
    def content_hash(self) -> str:
        """Equal for equal code."""
        return self._report.content_hash

    @property
    def function(self) -> str:
        """The function as the source writes it."""
        return self._report.function_name

    @property
    def source(self) -> tuple[str, int] | None:
        """File and line in the user's source, where debug information says it."""
        place = self._report.source
        return (place.file, place.line) if place else None

    @property
    def elements(self) -> float | None:
        """How many elements of the source's loop an iteration stands for, as the compiler says or is
        inferred; None where it cannot be told."""
        elements = self._report.elements
        return elements.per_iteration if elements else None

    @property
    def cycles_per_element(self) -> float | None:
        """The prediction for an element of the source's loop; None where `elements` is."""
        elements = self._report.elements
        return elements.cycles if elements else None

    @property
    def role(self) -> str:
        """What part the loop has among those that do the same work: "main", "remainder", "prologue", "fallback",
        "outer"; empty for what is no loop."""
        return self._report.role.name

    @property
    def verdict(self) -> str:
        """What limits the kernel, in one sentence."""
        return self._report.verdict

    @property
    def hints(self) -> tuple[str, ...]:
        """What to do about it, where that follows from the data."""
        return tuple(hint.text for hint in self._report.hints)

    @property
    def notes(self) -> tuple[str, ...]:
        """What was left out or taken for granted."""
        return tuple(self._report.notes)

    @property
    def instructions(self) -> tuple[str, ...]:
        """The instructions' texts."""
        return tuple(instruction.text for instruction in self._result.kernel.instructions)

    @property
    def unknown(self) -> tuple[int, ...]:
        """The instructions (indices) that are not in the model: every figure is without them."""
        return self._result.unknown

    @property
    def what_ifs(self) -> Mapping[str, float]:
        """Cycles per iteration on a core with one thing changed, by the change; those that gain most first."""
        return MappingProxyType({w.text: float(w.cycles) for w in self._result.what_ifs})

    @property
    def model(self) -> Model:
        return Model(self._result.model)

    def graph(self) -> networkx.MultiDiGraph[int]:
        """The dependencies: nodes are instructions, edges carry latencies, critical path (`critical_path`) and
        loop-carried dependencies (`lcd`) are marked; see `views.exchange.graph.graph`. A new graph at each call."""
        from incc.views.exchange.graph import graph

        return graph(self._report)

    def to_dict(self) -> dict[str, Any]:
        """Return the kernel as the report's JSON has it (report/report.schema.json)."""
        kernel: dict[str, Any] = msgspec.to_builtins(self._report)
        return kernel

    def row(self) -> dict[str, Any]:
        """The figures by name, flat, as filters have them (docs/filters.md): for `pandas.DataFrame([k.row() for
        …])`."""
        from incc.report.where import kernel_values

        return dict(kernel_values(self._found.report().units[self._unit], self._report))

    def _repr_html_(self) -> str:
        from incc.views.html.notebook import kernel

        return kernel(self._found.report().units[self._unit], self._report)

    def __repr__(self) -> str:
        return f"<incc.Kernel {self.name}: {self.cycles:.2f} cycles on {self._result.model.name}>"


class Report(_Frozen):
    """The kernels of one or several units, in the order of the text."""

    __slots__ = ("_found", "compiler_messages", "kernels", "status")
    _found: _Found
    kernels: tuple[Kernel, ...]
    status: int
    compiler_messages: tuple[str, ...]

    def __init__(self, found: _Found, status: int = 0, compiler_messages: Sequence[str] = ()) -> None:
        kernels = [
            Kernel(found, number, k) for number, unit in enumerate(found.units) for k in range(len(unit.results))
        ]
        object.__setattr__(self, "_found", found)
        object.__setattr__(self, "kernels", tuple(kernels))
        object.__setattr__(self, "status", status)
        object.__setattr__(self, "compiler_messages", tuple(compiler_messages))

    @property
    def problems(self) -> tuple[str, ...]:
        """What of the input was not analysed, with file and line: statements that could not be decoded, loops that were
        left out."""
        from incc.report.source.problems import problems

        return tuple(problems(self._found.report()))

    def where(self, condition: str) -> tuple[Kernel, ...]:
        """The kernels for which a condition holds, such as "cycles > 4 and function like 'gemm*'" (docs/filters.md).

        Raises ValueError for what is no condition.
        """
        from incc.report.where import parse

        wanted = parse(condition)
        return tuple(kernel for kernel in self.kernels if wanted.holds(kernel.row()))

    def rows(self) -> list[dict[str, Any]]:
        """A row of figures for each kernel: `pandas.DataFrame(report.rows())`."""
        return [kernel.row() for kernel in self.kernels]

    def to_dict(self) -> dict[str, Any]:
        """Return the report as its JSON has it (report/report.schema.json)."""
        report: dict[str, Any] = msgspec.to_builtins(self._found.report())
        return report

    def to_json(self) -> str:
        """The same as `incc-mca --json` prints."""
        from incc.views.json import render

        return render(self._found.report())

    def text(self, width: int = 120) -> str:
        """The same as `incc-mca` prints, in lines of at most so many columns."""
        from incc.views.text import Show, render

        return render(self._found.report(), width, show=Show(overview=2))

    def html(self) -> str:
        """The page that `incc-mca --html` writes, with the lines of those sources that can be read from here. Raises
        ValueError where there is no kernel."""
        from incc.driver.deliver import source_lines
        from incc.views.html import render

        found = self._found.report()
        return render(found, source_lines(found))

    def __iter__(self) -> Iterator[Kernel]:
        return iter(self.kernels)

    def __len__(self) -> int:
        return len(self.kernels)

    def __getitem__(self, number: int) -> Kernel:
        return self.kernels[number]

    def _repr_html_(self) -> str:
        from incc.views.html.notebook import report

        return report(self._found.report())

    def __repr__(self) -> str:
        return f"<incc.Report of {len(self.kernels)} kernels>"


def analyze(
    source: Path | bytes,
    *,
    mcpu: str = "native",
    input: Input = "asm",
    loops: Loops = "auto",
    functions: Sequence[str] = (),
    simulate: bool = True,
    fixed_ports: bool = False,
    what_ifs: bool = True,
    changes: Sequence[str] = (),
    alignment: int | Literal["all"] | None = None,
    cold_iterations: int = 0,
    timeline: int = 2,
    waits: bool = False,
    model_path: Sequence[Path] = (),
    system_headers: bool = False,
    name: str = "",
    ghz: float = 0.0,
    measure: bool = False,
) -> Report:
    """Analyse assembly, machine code or an object for a core.

    `source`: for "asm" the text (str or bytes), or a path; a str of one line that names a file is a path. For "hex" a
    block of machine code, as hexadecimal digits (str) or as it is (bytes). For "obj" a path, or what is in such a file
    (bytes). A path of another kind than str (`pathlib.Path`) is always one. `loops`: of assembly, "auto" finds the
    innermost loops, "marked" takes what is between markers of OSACA, llvm-mca or IACA and, without any, the whole text.
    `functions`: globs of function names, none for all. `mcpu`: the core, "native" for the host's. `model_path`: folders
    and files of models to look in first. `name`: what to call the source in messages. `simulate`: False for the bounds
    alone. `fixed_ports`: equal shares to all ports that a µop may use. `what_ifs`: try the changes to the core that
    make sense; `changes`: those to try besides ("port 5 += 1", "rob = 512"). `alignment`: of a kernel's first byte
    within 64, "all" for each. `cold_iterations`: also simulate exactly so many from a cold start. `timeline`: record so
    many iterations. `waits`: who waits for whom. `system_headers`: also loops that are the system headers' alone.
    `ghz`: a clock, for rates a second. `measure`: run the kernels' code on this machine too (docs/report.md).

    Raises AnalysisError where nothing can be analysed (unknown core, unreadable file, no assembler), ValueError for
    arguments that are no good. What of the source could not be analysed is in the report's `problems`. Safe to call
    from several threads.
    """
    from incc.driver.code import of_functions
    from incc.driver.pipeline import analyze_kernels, analyze_unit, choose_model

    settings = _settings(
        mcpu or "native",
        loops,
        functions=functions,
        simulate=simulate,
        fixed_ports=fixed_ports,
        what_ifs=what_ifs,
        changes=changes,
        alignment=alignment,
        cold_iterations=cold_iterations,
        timeline=timeline,
        waits=waits,
        model_path=model_path,
        system_headers=system_headers,
        ghz=ghz,
        measure=measure,
    )
    if input == "asm":
        return Report(_Found([analyze_unit(_assembly(source, name), settings)]))
    reader = _one_of("input", input, {"asm": None, "hex": _machine_code, "obj": _object})
    assert reader is not None, "assembly is read above"
    choice = choose_model(settings.mcpu, "", settings.model_path)
    unit, code = reader(source, name, choice.model.isa)
    code = of_functions(code, settings.functions)
    result = analyze_kernels(
        unit, code.kernels, settings, choice.model, choice.reason, places=code.places(), left_out=code.left_out
    )
    return Report(_Found([replace(result, model_note=choice.note)]))


def compile(
    command: str | Sequence[str],
    *,
    mcpu: str = "",
    folder: Path = "",
    functions: Sequence[str] = (),
    simulate: bool = True,
    fixed_ports: bool = False,
    what_ifs: bool = True,
    changes: Sequence[str] = (),
    alignment: int | Literal["all"] | None = None,
    cold_iterations: int = 0,
    timeline: int = 2,
    waits: bool = False,
    model_path: Sequence[Path] = (),
    system_headers: bool = False,
    ghz: float = 0.0,
    measure: bool = False,
) -> Report:
    """Run a compiler's command, unchanged, and analyse the innermost loops of what it compiles, as `incc` does.

    `command`: the words, or a text with quotes as in a shell: ["gcc", "-O3", "-c", "foo.c"]. It is run in `folder`, ""
    for the current one. `mcpu`: the core; by default the one that the command tunes for or targets, else the host's.
    The other arguments are those of `analyze`.

    The report's `status` is the compiler's exit status; where that is not 0 there are no kernels. `compiler_messages`
    are the lines that the compiler wrote, and what kept the analysis from a source. Raises AnalysisError where there is
    no such compiler, or no model of the core; ValueError for a command without words and for arguments that are no
    good.
    """
    from incc.driver.pipeline import analyze_unit
    from incc.frontends.gcc_wrapper.compile import compile_units
    from incc.frontends.gcc_wrapper.compiler import CompilerError

    settings = _settings(
        mcpu,
        "auto",
        functions=functions,
        simulate=simulate,
        fixed_ports=fixed_ports,
        what_ifs=what_ifs,
        changes=changes,
        alignment=alignment,
        cold_iterations=cold_iterations,
        timeline=timeline,
        waits=waits,
        model_path=model_path,
        system_headers=system_headers,
        ghz=ghz,
        measure=measure,
    )
    try:
        compiled = compile_units(command, folder=folder, capture=True)
    except CompilerError as error:
        raise AnalysisError(str(error)) from error
    said = (compiled.output + compiled.errors).decode("utf-8", "replace").splitlines()
    found = _Found([analyze_unit(unit, settings) for unit in compiled.units])
    return Report(found, compiled.status, [*said, *compiled.warnings, *compiled.notes])


_Read = tuple["Unit", "ObjectCode"]


def _assembly(source: Path | bytes, name: str) -> Unit:
    from incc.frontends.unit import Unit

    if isinstance(source, bytes):
        return Unit(assembly=source.decode("utf-8", "surrogateescape"), assembly_file=name or "<text>")
    if isinstance(source, str) and ("\n" in source or not os.path.exists(source)):
        if "\n" not in source and source.endswith((".s", ".S", ".asm")):
            raise AnalysisError(f"{source}: no such file")
        return Unit(assembly=source, assembly_file=name or "<text>")
    path = os.fspath(source)
    return Unit(assembly=_contents(path).decode("utf-8", "surrogateescape"), assembly_file=name or path)


def _contents(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise AnalysisError(f"{path}: {error.strerror}") from error


def _machine_code(source: Path | bytes, name: str, isa_name: str) -> _Read:
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


def _object(source: Path | bytes, name: str, _isa_name: str) -> _Read:
    from incc.driver.code import object_code
    from incc.frontends.unit import Unit

    path = name or "<object>" if isinstance(source, bytes) else os.fspath(source)
    return Unit(assembly="", assembly_file=name or path, way="object"), object_code(
        source if isinstance(source, bytes) else path, path
    )


# --- arguments --------------------------------------------------------------------------------------------------------


def _settings(
    mcpu: str,
    loops: Loops,
    *,
    functions: Sequence[str],
    simulate: bool,
    fixed_ports: bool,
    what_ifs: bool,
    changes: Sequence[str],
    alignment: int | Literal["all"] | None,
    cold_iterations: int,
    timeline: int,
    waits: bool,
    model_path: Sequence[Path],
    system_headers: bool,
    ghz: float,
    measure: bool,
) -> Settings:
    return Settings(
        mcpu=mcpu,
        functions=_texts("functions", functions),
        fixed_ports=fixed_ports,
        regions=_one_of("loops", loops, {"auto": "loops", "marked": "marked"}),
        timeline_iterations=_at_least("timeline", timeline, 0),
        timeline_cycles=1 << 30,
        model_path=tuple(os.fspath(place) for place in model_path),
        simulate=simulate,
        what_if=_changes(_texts("changes", changes)),
        waits=waits,
        cold_iterations=_at_least("cold_iterations", cold_iterations, 0),
        alignment=_alignment(alignment),
        what_ifs=what_ifs,
        system_headers=system_headers,
        ghz=_ghz(ghz),
        measure=measure,
    )


def _ghz(value: float) -> float:
    if not 0 <= value <= 1000:
        raise ValueError(f"ghz is a clock in GHz, 0 for none, not {value!r}")
    return float(value)


def _texts(name: str, values: Sequence[str]) -> tuple[str, ...]:
    if isinstance(values, str):  # it would be taken letter by letter
        raise ValueError(f"{name} is a list of texts, not {values!r}")
    return tuple(values)


def _one_of(name: str, value: str, meanings: Mapping[str, Any]) -> Any:
    if value not in meanings:
        raise ValueError(f"{name} is one of {', '.join(map(repr, meanings))}, not {value!r}")
    return meanings[value]


def _at_least(name: str, value: int, least: int) -> int:
    if value < least:
        raise ValueError(f"{name} is at least {least}, not {value}")
    from incc.driver.cli.options import MOST

    if value > MOST:
        raise ValueError(f"{name} is at most {MOST}, not {value}")
    return value


def _changes(texts: tuple[str, ...]) -> tuple[Change, ...]:
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
        raise ValueError(f"alignment is below 64, or 'all', not {value!r}")
    return value
