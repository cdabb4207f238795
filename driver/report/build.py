"""Builds the report: plain JSON-able data with every figure that a view prints; views lay out, they do not compute.

The format is versioned and described by report.schema.json beside this file. A report holds nothing that changes
between two runs on the same input: no date, no machine, no order of a set.
"""

from __future__ import annotations

from incc import __version__
from incc.driver.report import hints
from incc.driver.report.advice import read_build
from incc.driver.report.kernel import ITERATIONS, kernel_report
from incc.frontends.records import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Final

    from incc.core.analysis import KernelResult
    from incc.driver.report import types as t
    from incc.frontends.kernel import LeftOut, SourceLocation
    from incc.frontends.unit import Unit
    from incc.models.model import MachineModel

SCHEMA_VERSION: Final = "1.4"


def build_report(units: Iterable[t.Unit]) -> t.Report:
    """The whole report from what `unit_report` made of each translation unit, in the order given."""
    units = list(units)
    make_readable([kernel for unit in units for kernel in unit["kernels"]])
    _demangle_functions([part for unit in units for name in ("ways", "control_flow") for part in unit[name] or ()])
    return {
        "schema_version": SCHEMA_VERSION,
        "tool": {"name": "incc", "version": __version__},
        "units": units,
    }


def make_readable(kernels: Sequence[t.Kernel]) -> None:
    """Make C++ and Fortran names readable where people read them: in kernels' function names and notes."""
    from incc.driver.report.demangle import is_mangled

    if not any(is_mangled(text) for kernel in kernels for text in (kernel["function"], *kernel["notes"])):
        return
    from incc.driver.report.demangle import demangle, replace

    readable = demangle(text for kernel in kernels for text in (kernel["function"], *kernel["notes"]))
    for kernel in kernels:
        kernel["function_name"] = replace(kernel["function"], readable)
        kernel["notes"] = [replace(note, readable) for note in kernel["notes"]]


def _demangle_functions(parts: Sequence[t.Ways | t.ControlFlow]) -> None:
    """The same for parts of a report that have a function's name and nothing else of it."""
    from incc.driver.report.demangle import is_mangled

    if any(is_mangled(part["function"]) for part in parts):
        from incc.driver.report.demangle import demangle, replace

        readable = demangle(part["function"] for part in parts)
        for part in parts:
            part["function_name"] = replace(part["function"], readable)


class KernelPlace(NamedTuple):
    """Where a kernel is in the user's source: of each line of the assembly, and what is next to a kernel that comes
    from another file, else None."""

    lines: Mapping[int, SourceLocation]
    near: SourceLocation | None


class UnitResult(NamedTuple):
    """What was found of a translation unit.

    `chosen_by`: what named the model. `results` and `kernel_ids`: of its kernels, in the order given; `places`: one for
    each of them, or none. `left_out`: loops and marked spans that are not analysed. `notes`: what is to be said of
    every kernel. `ways` (from `ways.py`), `control_flow` (from `control_flow.py`): None where they were not asked for.
    `iterations`: how many the summaries count.
    """

    unit: Unit
    model: MachineModel
    chosen_by: str
    results: tuple[KernelResult, ...]
    kernel_ids: tuple[str, ...] = ()
    places: tuple[KernelPlace, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    notes: tuple[str, ...] = ()
    ways: tuple[t.Ways, ...] | None = None
    control_flow: tuple[t.ControlFlow, ...] | None = None
    iterations: int = ITERATIONS


def unit_report(found: UnitResult) -> t.Unit:
    """One translation unit: how its assembly came about, the model and what named it, and its kernels."""
    unit, model = found.unit, found.model
    nowhere = KernelPlace({}, None)
    build = read_build(unit, native=found.chosen_by.startswith("the host"))
    kernels = [
        kernel_report(
            result,
            kernel_id=found.kernel_ids[n] if found.kernel_ids else "",
            source_lines=place.lines,
            near=place.near,
            iterations=found.iterations,
            notes=found.notes,
            build=build,
        )
        for n, result in enumerate(found.results)
        for place in (found.places[n] if found.places else nowhere,)
    ]
    hints.find_remainders(kernels)
    return {
        "source": unit.source,
        "assembly_file": unit.assembly_file,
        "compiler": unit.compiler,
        "compiler_version": unit.compiler_version,
        "command": list(unit.command),
        "target_cpu": unit.cpu,
        "model": {
            "name": model.name,
            "title": model.title,
            "version": model.version,
            "isa": model.isa,
            "chosen_by": found.chosen_by,
        },
        "kernels": kernels,
        "left_out": [
            {
                "first_line": item.first_line,
                "last_line": item.last_line,
                "function": item.function,
                "label": item.label,
                "reason": item.reason,
            }
            for item in found.left_out
        ],
        "ways": None if found.ways is None else list(found.ways),
        "control_flow": None if found.control_flow is None else list(found.control_flow),
        "trials": None,
    }


def problems(report: t.Report) -> list[str]:
    """What of the input was not analysed, as messages with file and line: statements that the assembler refused, loops
    and marked spans that were left out. Ordered by unit and line."""
    messages: list[str] = []
    for unit in report["units"]:
        file = unit["assembly_file"]
        parts = [*unit["kernels"], *(way for loop in unit["ways"] or () for way in loop["ways"])]
        found = [(item["line"], f"error: {item['message']}") for part in parts for item in part["refused"]]
        found += [(item["first_line"], f"warning: not analysed: {item['reason']}") for item in unit["left_out"]]
        messages += [
            f"{file}:{line}: {message}" if line else f"{file}: {message}" for line, message in sorted(set(found))
        ]
    return messages
