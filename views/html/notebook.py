"""A report as a piece of HTML for notebooks: a row of figures for each kernel, then the verdict and hints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from incc.report import types as t
from incc.report.types import BoundName
from incc.support.text import counted
from incc.views.html import templates
from incc.views.layout import cycles

_BOUNDS: dict[BoundName, tuple[str, str]] = {
    "port": ("Ports", "execution ports"),
    "divider": ("Divider", "units that an instruction occupies alone"),
    "front_end": ("Front end", "issued µops"),
    "retire": ("Retire", "retired µops"),
    "loop_carried": ("Carried", "loop-carried dependencies"),
}

_COLUMNS = (
    ("Cycles", "Cycles per iteration: simulated, or the largest bound"),
    ("An element", "Cycles per element of the source's loop; empty if unknown"),
    *((title, f"Bound by {resource}, in cycles per iteration") for title, resource in _BOUNDS.values()),
)


def kernel(unit: t.UnitReport, kernel: t.KernelReport) -> str:
    """Return one kernel of a unit: function, place, cycles, bounds (limiting ones in bold), verdict and hints."""
    return _render([_unit(unit, [kernel], [])])


def report(report: t.AnalysisReport) -> str:
    """Return all kernels of a report, a table for each unit, and a list of the code that was not analysed."""
    return _render([_unit(unit, unit.kernels, list(_left_out(unit))) for unit in report.units])


def _render(units: Sequence[dict[str, object]]) -> str:
    return templates.render("html/notebook.html.j2", units=units, columns=_COLUMNS)


def _unit(unit: t.UnitReport, kernels: Sequence[t.KernelReport], left_out: Sequence[str]) -> dict[str, object]:
    return {
        "title": f"{unit.source or unit.assembly_file}, {unit.model.title}",
        "kernels": [_kernel(unit, kernel) for kernel in kernels],
        "left_out": left_out,
    }


def _kernel(unit: t.UnitReport, kernel: t.KernelReport) -> dict[str, object]:
    bounds, elements = kernel.bounds, kernel.elements
    prediction = bounds.prediction
    source, name = kernel.source, kernel.function_name or kernel.name
    place = f"{source.file}:{source.line}" if source else ""
    if not place and kernel.first_line:
        place = f"{unit.assembly_file}:{kernel.first_line}-{kernel.last_line}"
    return {
        "name": f"{name} ({kernel.role.name})" if kernel.role.of else name,
        "place": ", ".join(filter(None, (place, counted(kernel.size.instructions, "instruction")))),
        "figures": [
            (cycles(prediction.cycles), True),
            (cycles(elements.cycles) if elements else "", False),
            *((cycles(bounds.of(bound).cycles), bound in prediction.limited_by) for bound in _BOUNDS),
        ],
        "verdict": f"{kernel.verdict[:1].upper()}{kernel.verdict[1:]}.",
        "hints": [hint.text[:1].upper() + hint.text[1:] for hint in kernel.hints],
    }


def _left_out(unit: t.UnitReport) -> Iterator[str]:
    for item in unit.left_out:
        line = f":{item.first_line}" if item.first_line else ""
        function = f" in {item.function}" if item.function else ""
        yield f"{unit.assembly_file}{line}{function}: {item.reason}"
