"""What llvm-mca 19 prints, from incc's report: its views in its layout, to the character but for the numbers.

Each view is a file of its own with a function `lines(unit, kernel, options)`, and `document(kernel)` where llvm-mca has
it in JSON. Which numbers stand in the columns, and where they are other ones than llvm-mca's by definition, is in
docs/llvm-mca.md. What views print are the report's numbers, counts also as shares of their totals.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from incc.report import types as t
    from incc.views.llvm_mca.asked import Options

    View = Callable[[t.Unit, t.Kernel, Options], Iterable[str]]

__all__ = ["document", "render"]

_ORDER = (
    ("summary", "summary"),
    ("bottleneck", "bottleneck_analysis"),
    ("info", "info"),
    ("dispatch", "dispatch_stats"),
    ("scheduler", "scheduler_stats"),
    ("retire", "retire_stats"),
    ("registers", "register_file_stats"),
    ("pressure", "pressure"),
    ("timeline", "timeline"),
    ("waits", "timeline"),
)
"""The views in llvm-mca's order: the names of their files, and the options that ask for them."""

_TABLES = ("info", "pressure")
"""The views of the instruction tables, for which nothing is simulated."""


def render(report: t.Report, options: Options) -> str:
    """All kernels of the report, as text or, if the options say so, as JSON; ends in a line break."""
    if options.json:
        from incc.views.llvm_mca.json import render as as_json

        return as_json(report, options)
    lines = _lines(report, options)
    lines.append("")
    text = "\n".join(lines)
    # Most text is harmless as a whole: asking each line would be a tenth of the time.
    return text if _harmless_but("\t\n", text) else "\n".join([_harmless(line) for line in lines])


def document(report: t.Report, options: Options) -> Any:
    """What is written as JSON: an object, or a list of such where the report has several units, that is cores."""
    from incc.views.llvm_mca.json import document as made

    return made(report, options)


def _lines(report: t.Report, options: Options) -> list[str]:
    from incc.views.llvm_mca.heading import lines as heading

    views = [_view(name) for name, asked in _ORDER if getattr(options, asked) and _simulated(name, options)]
    headings = iter(options.headings)
    found: list[str] = []
    for unit in report.units:
        for kernel in unit.kernels:
            above = next(headings, None)
            if kernel.instructions:
                found += heading(above)
                for view in views:
                    found += view(unit, kernel, options)
    return found


def _simulated(name: str, options: Options) -> bool:
    return not options.instruction_tables or name in _TABLES


def _view(name: str) -> View:
    """Return the function of the view of this name. Only views that are printed are imported."""
    lines: View = importlib.import_module(f"incc.views.llvm_mca.{name}").lines
    return lines


def _harmless(line: str) -> str:
    """A line whose control characters are written out, but for the tabs of LLVM's printer: names of regions and symbols
    may hold any."""
    if _harmless_but("\t", line):
        return line
    from incc.views.layout import harmless

    return "\t".join([harmless(part, False) for part in line.split("\t")])


def _harmless_but(controls: str, text: str) -> bool:
    for control in controls:
        text = text.replace(control, "")
    return text.isprintable()
