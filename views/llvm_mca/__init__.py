"""llvm-mca 19's views of a report, identical to the character except for the numbers.

Each view is a module with `lines(kernel, views)`, which two blank lines precede, and with `document(kernel)` if
llvm-mca's JSON has it. docs/llvm-mca.md defines each column, and says where its definition is not llvm-mca's.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Iterator

from incc.report import types as t
from incc.views.layout import harmless
from incc.views.llvm_mca.requested import Views

View = Callable[[t.KernelReport, Views], Iterable[str]]

__all__ = ["render"]

_ORDER = (
    ("summary", "summary"),
    ("bottleneck", "bottleneck_analysis"),
    ("info", "info"),
    ("statistics.dispatch", "dispatch_stats"),
    ("statistics.schedulers", "scheduler_stats"),
    ("statistics.retirement", "retire_stats"),
    ("statistics.registers", "register_file_stats"),
    ("pressure", "pressure"),
    ("timeline", "timeline"),
    ("timeline.waits", "timeline"),
)
"""The views in llvm-mca's order: the names of their modules, of their functions unless these are called `lines`, and
the fields of `Views` that request them."""

_TABLES = ("info", "pressure")
"""The views of `-instruction-tables`."""
_WITHOUT_RUN = ("summary", *_TABLES)
"""The views that need no run from a cold start. The others are left out where the report has none."""


def render(report: t.AnalysisReport, views: Views) -> str:
    """Return all kernels of the report as text or, if `views` says so, as JSON, with a line break at the end."""
    if views.json:
        from incc.views.llvm_mca.json import render as as_json

        return as_json(report, views)
    text = "\n".join([*_lines(report, views), ""])
    # Most text is printable: checking line by line would take a tenth of the time.
    if _is_printable(text, "\t\n"):
        return text
    return "\n".join([line if _is_printable(line, "\t") else _escaped(line) for line in text.split("\n")])


def _lines(report: t.AnalysisReport, views: Views) -> Iterator[str]:
    chosen = [
        (name, _view(name))
        for name, field in _ORDER
        if getattr(views, field) and (name in _TABLES or not views.instruction_tables)
    ]
    headings = iter(views.headings)
    for unit in report.units:
        for kernel in unit.kernels:
            heading = next(headings, None)
            if not kernel.instructions:
                continue
            if heading is not None and heading.number >= 0:
                yield from ("", f"[{heading.number}] Code Region" + (f" - {heading.name}" if heading.name else ""), "")
            for name, view in chosen:
                if name in _WITHOUT_RUN or kernel.cold is not None:
                    for number, line in enumerate(view(kernel, views)):
                        if not number and name != "summary":
                            yield from ("", "")
                        yield line


def _view(name: str) -> View:
    """Return the function of a view. Only the modules of requested views are imported, because start-up time counts."""
    module, _, function = name.partition(".")
    view: View = getattr(importlib.import_module(f"incc.views.llvm_mca.{module}"), function or "lines")
    return view


def _escaped(line: str) -> str:
    """Write out the control characters of a line, which names of regions and symbols may contain, except for tabs."""
    return "\t".join([harmless(part, False) for part in line.split("\t")])


def _is_printable(text: str, controls: str) -> bool:
    for control in controls:
        text = text.replace(control, "")
    return text.isprintable()
