"""The report as text: an overview of all kernels, a verdict, OSACA's table, llvm-mca's views and dependencies.

Unless the user chooses, a text is brief: for each main loop the verdict, a few hints and OSACA's table. A single main
loop has the other views as well, and among very many each has only its verdict and hints.

Each view is a file of its own in this folder, with a function `lines(unit, kernel, layout)` that yields its lines. It
lays out the report's contents, and decides only the width of columns.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from incc.report import types as t
from incc.views.layout import Layout, harmless, in_order, terminal
from incc.views.text import header as header

if TYPE_CHECKING:
    from incc.report.source.places import NamedKernels, NamedLine

    View = Callable[[t.UnitReport, t.KernelReport, Layout], Iterable[str]]

__all__ = ["UNIT_VIEWS", "VIEWS", "TextParts", "render", "terminal"]

VIEWS = (
    "compact",
    "summary",
    "what-if",
    "info",
    "pressure",
    "waits",
    "timeline",
    "dependencies",
    "critical-path",
    "loop-carried",
    "memory",
    "quality",
    "decremental",
    "assembly",
)
"""The views of a kernel in the report's order: the names that users know and, with _ for -, those of their files."""

UNIT_VIEWS = ("port-model",)
"""The views of a unit, before its kernels."""

_ON_REQUEST = ("what-if", "critical-path", "loop-carried", "memory", "quality", "decremental", "assembly")

USUAL = tuple(view for view in VIEWS if view not in _ON_REQUEST)
"""The views of a kernel by default."""


class TextParts(msgspec.Struct, frozen=True, kw_only=True):
    """The parts of a report that a text shows."""

    views: Sequence[str] = USUAL
    """Views of VIEWS that follow header and verdict of each kernel, and of UNIT_VIEWS before all kernels."""
    details: Sequence[NamedLine] = ()
    """Lines whose instructions are shown with all their waits."""
    overview: int = 0
    """Number of kernels from which on a table of them comes first, 0 for never."""
    kernels: Sequence[NamedKernels] = ()
    """Kernels that are shown in full, all if empty; the overview has all of them."""
    brief: bool = False
    """Nothing was chosen by name: only main loops are shown, and without views if there are several."""
    how: str = ""
    """The user's way to ask for more, where a brief text leaves something out."""
    uops: bool = True
    """The timeline has rows for µops."""
    sources: Mapping[str, Mapping[int, str]] = {}
    """Lines of source files by number, by the report's names of the files."""


_ALL = TextParts()

MOST_HINTS = 3
"""The most hints on a loop in a brief text."""

TABLES = 8
"""The most main loops whose tables of instructions a brief text shows."""


def render(report: t.AnalysisReport, width: int = 80, colour: bool = False, show: TextParts = _ALL) -> str:
    """Return the report as text of lines no wider than `width` columns (0: as wide as they get).

    Raises ValueError for a view that does not exist.
    """
    for view in show.views:
        if view not in (*VIEWS, *UNIT_VIEWS):
            raise ValueError(f"unknown view {view!r}; valid views: {', '.join((*VIEWS, *UNIT_VIEWS))}")
    layout = Layout(width, colour, show.uops, show.views, show.sources)
    layout.name_files(report)
    units = in_order(report).units
    count = sum(len(unit.kernels) for unit in units)
    several = _on_several_cores(units)
    mains = sum(not kernel.role.of for unit in units for kernel in unit.kernels)
    many = show.brief and mains > TABLES
    if show.brief and mains > 1:
        show = replace(show, views=[view for view in show.views if view in ("compact", *UNIT_VIEWS)])
    lines: list[str] = []
    for n, unit in enumerate(units):
        lines += [""] if lines else []
        if n in several and several[n][0] is unit:
            from incc.views.text import cores

            lines += [*cores.lines(several[n], layout), ""]
        lines += _head(report, unit, layout, show)
        if unit.assembly_file or unit.source:  # else a core by itself
            # On several cores they are the same kernels.
            table = 0 < show.overview <= (len(unit.kernels) if n in several else count)
            lines += _body(unit, layout, show, table, many)
    if show.brief:
        lines += _closing(units, layout, show.how)
    return "".join(harmless(line.rstrip(), colour) + "\n" for line in lines)


def _closing(units: Sequence[t.UnitReport], layout: Layout, how: str) -> Iterator[str]:
    """Yield the best gains, and the options that show what a brief text omits; nothing after trials."""
    kernels = [kernel for unit in units for kernel in unit.kernels]
    mains = sum(not kernel.role.of for kernel in kernels)
    if not how or any(unit.trials is not None for unit in units):
        return
    if mains > 1:
        yield from _most_to_gain(units, layout)
    if mains > 1 or len(kernels) > mains:
        rest = "Loops that belong to a main loop are only in the first table. " if len(kernels) > mains else ""
        yield ""
        yield from layout.wrap(f"{rest}{how}")


def _most_to_gain(units: Sequence[t.UnitReport], layout: Layout) -> Iterator[str]:
    """Yield the hints with the largest predicted gains, which a long text would otherwise have in the middle."""
    several_cores = len({unit.model.name for unit in units}) > 1
    best = []
    for unit in units:
        core = f" on {unit.model.name}" if several_cores else ""
        for n, kernel in enumerate(unit.kernels, 1):
            hints = [hint for hint in kernel.hints if hint.gain]
            if hints and not kernel.role.of:
                # One hint of each loop: others gain less, or do not add up.
                hint = max(hints, key=lambda hint: hint.gain or 0)
                best.append((hint.gain or 0, hint.rule, f"[{n}] {header.title(kernel, layout)}{core}"))
    if best:
        yield ""
        yield "Most to gain:"
    for gain, rule, loop in sorted(best, key=lambda each: -each[0])[:MOST_HINTS]:
        text = f"{loop}: {rule.replace('-', ' ')}, up to {gain:.1f} times as fast"
        yield from layout.wrap(text, "  ", "      ")


def _head(report: t.AnalysisReport, unit: t.UnitReport, layout: Layout, show: TextParts) -> list[str]:
    """Return input and model of a unit, and the views of it."""
    lines: list[str] = []
    if unit.assembly_file or unit.source:
        lines += header.unit_lines(report, unit, layout)
    for view in UNIT_VIEWS:
        if view in show.views:
            lines += [*([""] if lines else []), *_module(view).of_unit(unit, layout)]
    return lines


def _body(unit: t.UnitReport, layout: Layout, show: TextParts, table: bool, many: bool) -> Iterator[str]:
    """Yield the overview of a unit, its kernels, and the code that is not analysed; of trials only their changes.

    With `many` kernels, each has only a few lines.
    """
    if unit.trials is not None:
        from incc.views.text import unit as of_unit

        yield from of_unit.trial_lines(unit, layout)
        return
    if unit.kernels and (table or many):
        from incc.views.text import overview

        if table:
            yield from ("", *overview.lines(unit, layout))
        for numbers in overview.alike(unit, layout) if many else ():
            if not unit.kernels[numbers[0] - 1].role.of:
                yield from ("", *_short(unit, numbers, layout, show))
    for number, kernel in enumerate(() if many else unit.kernels, 1):
        if show.brief and kernel.role.of:
            continue
        if not show.kernels or any(choice.fits(kernel) for choice in show.kernels):
            yield from ("", *_whole(unit, kernel, layout, show, number if table and len(unit.kernels) > 1 else 0))
    yield from header.left_out(unit, layout)
    if unit.ways is not None:
        from incc.views.text import ways

        yield from ways.lines(unit, layout)
    if unit.calls is not None:
        from incc.views.text import unit as of_unit

        yield from of_unit.call_lines(unit, layout)


def _on_several_cores(units: Sequence[t.UnitReport]) -> dict[int, list[t.UnitReport]]:
    """Return the units that are one code on several cores, by the index of each of them."""
    files = [unit.assembly_file for unit in units if unit.assembly_file]
    if len(set(files)) == len(files):
        return {}
    from incc.views.text.cores import groups

    all_groups = groups(units)
    each = [group for group in all_groups for _ in group]
    return {n: group for n, group in enumerate(each) if len(group) > 1 and any(unit.kernels for unit in group)}


def _short(unit: t.UnitReport, numbers: Sequence[int], layout: Layout, show: TextParts) -> Iterator[str]:
    """Yield a few lines on kernels that have these numbers and are alike."""
    yield from header.short_lines(unit, numbers, layout, MOST_HINTS)
    for number in numbers:
        yield from _details(unit, unit.kernels[number - 1], layout, show)


def _whole(unit: t.UnitReport, kernel: t.KernelReport, layout: Layout, show: TextParts, number: int) -> Iterator[str]:
    """Yield header, verdict and views of a kernel; `number` is that of its row in the overview, 0 for none."""
    yield from header.lines(unit, kernel, layout, number, MOST_HINTS if show.brief else None)
    if "summary" not in show.views and kernel.instructions:
        # A part of the summary that was requested by name stays.
        yield from _set_off(_module("what-if").requested(unit, kernel, layout))
    for view in VIEWS:
        if view in show.views and (kernel.instructions or view == "summary"):
            yield from _set_off(_view(view)(unit, kernel, layout))
    yield from _details(unit, kernel, layout, show)


def _details(unit: t.UnitReport, kernel: t.KernelReport, layout: Layout, show: TextParts) -> Iterator[str]:
    if show.details:
        from incc.views.text import detail

        yield from detail.lines(unit, kernel, layout, show.details)


def _view(name: str) -> View:
    """Return the function of a view. Only views that are printed are imported: a compiler is started often."""
    lines: View = _module(name).lines
    return lines


def _module(name: str) -> Any:
    return importlib.import_module(f"incc.views.text.{name.replace('-', '_')}")


def _set_off(lines: Iterable[str]) -> Iterator[str]:
    """Yield the lines with an empty one before them, nothing if there are none."""
    for number, line in enumerate(lines):
        if not number:
            yield ""
        yield line
