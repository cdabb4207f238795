"""Builds the report: plain JSON-able data with every figure that a view prints; views lay out, they do not compute.

The format is versioned and described by report.schema.json beside this file. A report holds nothing that changes
between two runs on the same input: no date, no machine, no order of a set.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import incc
from incc.driver.report import hints

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Final

    from incc.driver.report import types as t
    from incc.frontends.kernel import LeftOut
    from incc.frontends.unit import Unit
    from incc.models.model import MachineModel

SCHEMA_VERSION: Final = "1.3"

Dict = dict[str, Any]


def build_report(units: Iterable[t.Unit]) -> t.Report:
    """The whole report from what `unit_report` made of each translation unit, in the order given."""
    units = list(units)
    make_readable([kernel for unit in units for kernel in unit["kernels"]])
    _demangle_functions([part for unit in units for name in ("ways", "control_flow") for part in unit[name] or ()])
    return {
        "schema_version": SCHEMA_VERSION,
        "tool": {"name": "incc", "version": incc.__version__},
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


def unit_report(
    unit: Unit,
    model: MachineModel,
    chosen_by: str,
    kernels: Iterable[t.Kernel],
    left_out: Iterable[LeftOut] = (),
    *,
    ways: Sequence[t.Ways] | None = None,
    control_flow: Sequence[t.ControlFlow] | None = None,
) -> t.Unit:
    """One translation unit: how its assembly came about, the model and what named it, its kernels in the order given,
    and the loops and marked spans that are not analysed. `ways` (from `ways.py`) and `control_flow` (from
    `control_flow.py`): None where they were not asked for."""
    kernels = list(kernels)
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
            "chosen_by": chosen_by,
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
            for item in left_out
        ],
        "ways": list(ways) if ways is not None else None,
        "control_flow": list(control_flow) if control_flow is not None else None,
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
