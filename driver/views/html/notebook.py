"""A report as a piece of HTML for notebooks: a row of figures for each kernel, then the verdict and hints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from incc.driver.views.layout import count, cycles
from incc.driver.views.page import Column, Html, element, escaped, fragment, table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from incc.driver.report import types as t
    from incc.driver.report.types import BoundName


_BOUNDS: dict[BoundName, tuple[str, str]] = {
    "port": ("Ports", "Bound by execution ports"),
    "divider": ("Divider", "Bound by units that an instruction occupies alone"),
    "front_end": ("Front end", "Bound by µops that are issued"),
    "retire": ("Retire", "Bound by µops that retire"),
    "loop_carried": ("Carried", "Bound by loop-carried dependencies"),
}

_COLUMNS = (
    Column("Kernel"),
    Column("Cycles", True, "Per iteration: simulated, or the largest bound"),
    Column("An element", True, "Cycles for an element of the source's loop; empty where it cannot be told"),
    *(Column(heading, True, f"{meaning}, in cycles per iteration") for heading, meaning in _BOUNDS.values()),
)


def kernel(unit: t.Unit, kernel: t.Kernel) -> str:
    """One kernel of a unit's report: function, place, cycles per iteration, bounds (those that it is bound by are
    bold), verdict and hints."""
    return fragment(_table(unit, [kernel]))


def report(report: t.Report) -> str:
    """All kernels of a report, a table for each unit, and what was not analysed."""
    parts: list[Html] = []
    for unit in report["units"]:
        if unit["kernels"]:
            parts.append(_table(unit, unit["kernels"]))
        else:
            parts.append(element("p", f"{_title(unit)}: no loop that can be analysed."))
        if unit["left_out"]:
            parts.append(element("p", "Not analysed:"))
            parts.append(element("ul", *(element("li", text) for text in _left_out(unit))))
    if not report["units"]:
        parts.append(element("p", "Nothing was analysed."))
    return fragment(*parts)


def _title(unit: t.Unit) -> str:
    return f"{unit['source'] or unit['assembly_file']}, {unit['model']['title']}"


def _table(unit: t.Unit, kernels: Sequence[t.Kernel]) -> Html:
    return table(_COLUMNS, (_rows(unit, kernel) for kernel in kernels), _title(unit))


def _rows(unit: t.Unit, kernel: t.Kernel) -> Iterator[Sequence[str]]:
    bounds = kernel["bounds"]
    prediction = bounds["prediction"]
    figures = [_figure(bounds[name]["cycles"], name in prediction["limited_by"]) for name in _BOUNDS]
    elements = kernel["elements"]
    each = cycles(elements["cycles"]) if elements else ""
    yield [_name(unit, kernel), _figure(prediction["cycles"], True), each, *figures]
    verdict = kernel["verdict"]
    hints = [element("li", hint["text"][:1].upper() + hint["text"][1:]) for hint in kernel["hints"]]
    yield [Html(escaped(f"{verdict[:1].upper()}{verdict[1:]}.") + (element("ul", *hints) if hints else ""))]


def _figure(number: float, bold: bool) -> str:
    return element("b", cycles(number)) if bold else cycles(number)


def _name(unit: t.Unit, kernel: t.Kernel) -> Html:
    """The function, and under it where the kernel is and how large."""
    source = kernel["source"]
    place = f"{source['file']}:{source['line']}" if source else ""
    if not place and kernel["first_line"]:
        place = f"{unit['assembly_file']}:{kernel['first_line']}-{kernel['last_line']}"
    size = count(kernel["size"]["instructions"], "instruction")
    name = kernel["function_name"] or kernel["name"]
    if kernel["role"]["of"]:
        name += f" ({kernel['role']['name']})"
    where = element("span", f"{place}, {size}" if place else size, class_="incc-place")
    return Html(f"{escaped(name)}<br>{where}")


def _left_out(unit: t.Unit) -> Iterator[str]:
    for item in unit["left_out"]:
        line = f":{item['first_line']}" if item["first_line"] else ""
        function = f" in {item['function']}" if item["function"] else ""
        yield f"{unit['assembly_file']}{line}{function}: {item['reason']}"
