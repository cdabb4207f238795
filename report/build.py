"""Builds the report: JSON-able data with every figure that a view prints. Views lay out, they do not compute.

report.schema.json in this folder describes the versioned format. A report holds nothing that changes between two runs
on the same input, such as dates, machines or the order of a set, except measurements if they were requested.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace as with_fields

from incc.report import types as t
from incc.report.hints.advice import read_build
from incc.report.kernel import kernel_report, remainders
from incc.report.overview import overview
from incc.report.roles import set_role, withhold_not_vectorised
from incc.report.source.demangle import demangle, is_mangled, of_openmp, replace, short_name
from incc.report.unit_result import KernelPlace as KernelPlace
from incc.report.unit_result import UnitResult as UnitResult
from incc.support.version import __version__

if TYPE_CHECKING:
    from incc.core.analysis import KernelResult
    from incc.core.roles import LoopPart
    from incc.frontends.asm.parse import InstructionOrigin
    from incc.models.model import MachineModel

SCHEMA_VERSION: Final = "1.0"


def build_report(units: Iterable[t.UnitReport]) -> t.AnalysisReport:
    """Return the whole report, made of the results of `unit_report` in the given order."""
    units = list(units)
    make_readable([kernel for unit in units for kernel in unit.kernels])
    _demangle_functions(
        [part for u in units for parts in (u.ways, u.control_flow, u.became_calls, u.calls) for part in parts or ()]
    )
    for unit in units:
        if unit.marks:
            from incc.report.source.marks import check_expectations

            check_expectations(unit)
    return t.AnalysisReport(
        schema_version=SCHEMA_VERSION,
        tool=t.Tool(name="incc", version=__version__),
        units=units,
    )


def make_readable(kernels: Sequence[t.KernelReport]) -> None:
    """Demangle the function names in kernels' names, places and notes; then write the kernels' overviews."""
    texts: list[str] = []
    for kernel in kernels:
        texts += (kernel.function_name, kernel.source_function, *kernel.notes)
        texts += [frame.function for frame in (*kernel.inlined, *kernel.inlined_into)]
    readable = demangle(texts)

    def in_words(frames: Iterable[t.Frame]) -> list[t.Frame]:
        return [with_fields(f, function=short_name(replace(f.function, readable))) for f in frames]

    for kernel in kernels:
        kernel.inlined, kernel.inlined_into = in_words(kernel.inlined), in_words(kernel.inlined_into)
        kernel.function_name = of_openmp(replace(kernel.function_name, readable))
        name = kernel.function_name if kernel.source_function == kernel.function else kernel.source_function
        kernel.source_function = short_name(replace(name, readable))
        kernel.notes = [replace(note, readable) for note in kernel.notes]
        kernel.overview = overview(kernel)


def _demangle_functions(parts: Sequence[t.WaysReport | t.ControlFlowReport | t.LibraryCall | t.CallReport]) -> None:
    """Demangle the names of parts of a report that have no other function names."""
    if any(is_mangled(part.function) for part in parts):
        readable = demangle(part.function_name for part in parts)
        for part in parts:
            part.function_name = replace(part.function_name, readable)


def unit_parts(unit_result: UnitResult) -> list[LoopPart]:
    """Return the role and the elements of each of a unit's kernels; none if only a cold start was simulated."""
    from incc.core.roles import NO_PART, parts

    if not all(result.settings.steady for result in unit_result.results):
        return [NO_PART] * len(unit_result.results)
    places = [
        frozenset([place.lines[line] for line in kernel.region.body_lines if line in place.lines])
        if kernel.region
        else frozenset()
        for kernel, place in zip((result.kernel for result in unit_result.results), unit_result.places, strict=False)
    ]

    if not unit_result.unit.assembly or not any(places):
        return parts(unit_result.results, places)

    @cache
    def reader() -> Callable[[str], Sequence[InstructionOrigin]]:
        from incc.frontends.asm.parse import origins_by_function

        return origins_by_function(unit_result.unit.assembly)

    return parts(unit_result.results, places, lambda function: reader()(function))


def unit_report(unit_result: UnitResult, only_complete: bool = False) -> t.UnitReport:
    """Return the report on one translation unit: its compilation, its model and its kernels.

    With `only_complete`, kernels that are incomplete have no hints.
    """
    unit, model, settings = unit_result.unit, unit_result.model, unit_result.settings
    parts = unit_result.parts or unit_parts(unit_result)
    unit_result = with_fields(unit_result, parts=parts)
    written = None
    if settings.syntax:
        from incc.report.source.written import Written

        written = Written(unit, model.isa, settings.syntax, settings.hex_immediates)
    build = read_build(unit, native=unit_result.chosen_by.startswith("the host"), code_isa=unit_result.model.isa)
    single = remainders(unit_result)
    advised = [not (only_complete and result.settings.for_advice) for result in unit_result.results]
    most = settings.most_with_tables
    tables = most is None or sum(part.role.of < 0 for part in parts) <= most
    kernels = [
        kernel_report(unit_result, n, part, build, written, single.get(n), advised[n], tables)
        for n, part in enumerate(parts)
    ]
    for kernel, part in zip(kernels, parts, strict=True):
        role = part.role
        if 0 <= role.of < len(kernels):
            set_role(kernel, role, kernels[role.of].kernel_id, unit_result.results[role.of].kernel)
        else:
            set_role(kernel, role)
    withhold_not_vectorised(kernels)
    if unit.remarks and unit_result.places:
        from incc.report.source.remarks import set_remarks

        set_remarks(
            kernels,
            [_places(result, place) for result, place in zip(unit_result.results, unit_result.places, strict=True)],
            unit.remarks,
            unit.folder,
            {kernels[part.role.of].kernel_id for part in parts if part.role.unit_stride},
        )
    marks: list[t.MarkReport] = []
    problems: list[t.MarkError] = []
    if unit_result.marks or unit_result.mark_errors:
        from incc.report.source.marks import marks_part

        marks, misread = marks_part(kernels, unit_result.marks, unit_result.marked)
        problems = [*unit_result.mark_errors, *misread]
    report = t.UnitReport(
        source=unit.source,
        assembly_file=unit.assembly_file,
        compiler=unit.compiler,
        compiler_version=unit.compiler_version,
        command=list(unit.command),
        folder=unit.folder,
        output=unit.output,
        way=unit.way,
        target_cpu=unit.cpu,
        model=t.ModelReport(
            name=model.name,
            title=model.title,
            version=model.version,
            isa=model.isa,
            chosen_by=unit_result.chosen_by,
            note=unit_result.model_note,
        ),
        core=_core(model) if settings.port_model else None,
        kernels=kernels,
        left_out=list(unit_result.left_out),
        system_loops=unit_result.system_loops,
        became_calls=list(unit_result.calls),
        not_found=list(unit_result.not_found),
        ways=None if unit_result.ways is None else list(unit_result.ways),
        control_flow=None if unit_result.control_flow is None else list(unit_result.control_flow),
        marks=marks,
        mark_problems=problems,
        trials=None,
        calls=None if unit_result.call_reports is None else list(unit_result.call_reports),
        code=unit_result.code if kernels else "",
    )
    if not settings.roofline:
        return report
    from incc.report.parts.roofline import with_roofline

    return with_roofline(report, model)


def _core(model: MachineModel) -> t.CoreReport:
    from incc.report.core import core_report

    return core_report(model)


def _places(result: KernelResult, place: KernelPlace) -> dict[int, tuple[str, int, int]]:
    """Return file, line and column of the instructions on a kernel's path, by their lines in the assembly."""
    region = result.kernel.region
    places: dict[int, tuple[str, int, int]] = {}
    for line in region.lines if region else ():
        if where := place.lines.get(line):
            at = place.columns.get(line, (0, 0))
            places[line] = where.file, where.line, at[1] if at[0] == where.line else 0
    return places
