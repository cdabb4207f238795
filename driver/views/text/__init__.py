"""The report as text: an overview of all kernels, a verdict for people, OSACA's table, then llvm-mca's views in
llvm-mca's layout, and dependencies.

Each view is a file of its own in this folder, with a function `lines(unit, kernel, layout)` that yields its lines. It
lays out what is in the report; the only thing decided there is how wide a column is.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from incc.driver.views.layout import Layout, harmless, terminal
from incc.driver.views.text import header as header

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from incc.driver.report import types as t
    from incc.driver.report.places import Choice, Place

    View = Callable[[t.Unit, t.Kernel, Layout], Iterable[str]]

__all__ = ["UNIT_VIEWS", "VIEWS", "Show", "render", "terminal"]

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
)
"""The views of a kernel in the report's order: the names that users know and, with _ for -, those of their files."""

UNIT_VIEWS = ("port-model",)
"""The views of a unit, before its kernels."""

USUAL = tuple(view for view in VIEWS if view not in ("what-if", "critical-path", "loop-carried"))
"""What a text has of a kernel where nobody says: of what an analysis has to be asked for, what is there."""


class Show:
    """What a text shows.

    `views`: those of VIEWS that follow header and verdict of each kernel, and those of UNIT_VIEWS before all kernels.
    `details`: lines whose instructions are shown with all that they wait for. `overview`: with so many kernels in the
    report there is a table of them before all else, 0 for never. `kernels`: only of these there is more than the
    overview has, all if empty. `few`: with more kernels than that each has a few lines without views, None for never.
    `how`: how the user asks for more. `uops`: the timeline has rows for µops.
    """

    __slots__ = ("details", "few", "how", "kernels", "overview", "uops", "views")

    def __init__(
        self,
        views: Sequence[str] = USUAL,
        details: Sequence[Place] = (),
        overview: int = 0,
        kernels: Sequence[Choice] = (),
        few: int | None = None,
        how: str = "",
        uops: bool = True,
    ) -> None:
        self.views = views
        self.details = details
        self.overview = overview
        self.kernels = kernels
        self.few = few
        self.how = how
        self.uops = uops


_ALL = Show()


def render(report: t.Report, width: int = 80, colour: bool = False, show: Show = _ALL) -> str:
    """The report as text of lines no wider than `width` columns (0: as wide as they get).

    Raises ValueError for a view that does not exist.
    """
    for view in show.views:
        if view not in (*VIEWS, *UNIT_VIEWS):
            raise ValueError(f"no view {view!r}; there are {', '.join((*VIEWS, *UNIT_VIEWS))}")
    layout = Layout(width, colour, show.uops, show.views)
    layout.name_files(report)
    count = sum(len(unit["kernels"]) for unit in report["units"])
    several = _on_several_cores(report["units"])
    many = show.few is not None and count > show.few
    left = False
    lines: list[str] = []
    for n, unit in enumerate(report["units"]):
        lines += [""] if lines else []
        if n in several and several[n][0] is unit:
            from incc.driver.views.text import cores

            lines += [*cores.lines(several[n], layout), ""]
        alone = not (unit["assembly_file"] or unit["source"])
        if not alone:
            lines += [*header.unit_lines(report, unit, layout), ""]
        for view in UNIT_VIEWS:
            if view in show.views:
                lines += [*_module(view).of_unit(unit, layout), ""]
        lines.pop()
        if alone:  # cores by themselves
            continue
        # On several cores they are the same kernels.
        once = len(unit["kernels"]) if n in several else count
        if 0 < show.overview <= once and unit["kernels"]:
            from incc.driver.views.text import overview

            lines += ["", *overview.lines(unit, layout)]
        if many:
            from incc.driver.views.text import overview

            for together in overview.alike(unit, layout):
                if _of_another(unit["kernels"][together[0] - 1]):
                    left = True
                else:
                    lines += ["", *_short(unit, together, layout, show)]
        else:
            for kernel in unit["kernels"]:
                if not show.kernels or any(choice.fits(kernel) for choice in show.kernels):
                    lines += ["", *_whole(unit, kernel, layout, show)]
        lines += header.left_out(unit, layout)
        if unit["ways"] is not None:
            from incc.driver.views.text import ways

            lines += ways.lines(unit, layout)
        if unit["trials"] is not None:
            from incc.driver.views.text import trials

            lines += trials.lines(unit, layout)
    if many and show.how:
        lines.append("")
        rest = "Loops beside a main loop are in the table alone. " if left else ""
        lines += layout.wrap(f"{rest}{show.how}")
    return "".join(harmless(line.rstrip(), colour) + "\n" for line in lines)


def _on_several_cores(units: Sequence[t.Unit]) -> dict[int, list[t.Unit]]:
    """The units that are one code on several cores, by the index of each of them."""
    files = [unit["assembly_file"] for unit in units if unit["assembly_file"]]
    if len(set(files)) == len(files):
        return {}
    from incc.driver.views.text.cores import groups

    all_groups = groups(units)
    each = [group for group in all_groups for _ in group]
    return {n: group for n, group in enumerate(each) if len(group) > 1 and any(unit["kernels"] for unit in group)}


def _of_another(kernel: t.Kernel) -> bool:
    """Whether a loop is a remainder or the like, of which the overview says enough."""
    return bool(kernel["role"]["of"])


def _short(unit: t.Unit, numbers: Sequence[int], layout: Layout, show: Show) -> Iterator[str]:
    """A few lines of kernels that have these numbers and are alike."""
    from incc.driver.views.text import short

    yield from short.lines(unit, numbers, layout)
    for number in numbers:
        yield from _details(unit, unit["kernels"][number - 1], layout, show)


def _whole(unit: t.Unit, kernel: t.Kernel, layout: Layout, show: Show) -> Iterator[str]:
    yield from header.lines(unit, kernel, layout)
    # What was asked for by name stays where the summary, which it belongs to, is switched off.
    order = VIEWS if "summary" in show.views else ("asked", *VIEWS)
    for view in order:
        if (view in show.views or view == "asked") and (kernel["instructions"] or view == "summary"):
            yield from _set_off(_view(view)(unit, kernel, layout))
    yield from _details(unit, kernel, layout, show)


def _details(unit: t.Unit, kernel: t.Kernel, layout: Layout, show: Show) -> Iterator[str]:
    if show.details:
        from incc.driver.views.text import detail

        yield from detail.lines(unit, kernel, layout, show.details)


def _view(name: str) -> View:
    """Return the function of the view of this name. Only views that are printed are imported."""
    lines: View = _module(name).lines
    return lines


def _module(name: str) -> Any:
    return importlib.import_module(f"incc.driver.views.text.{name.replace('-', '_')}")


def _set_off(lines: Iterable[str]) -> Iterator[str]:
    """The lines with an empty one before them; nothing where there are none."""
    for number, line in enumerate(lines):
        if not number:
            yield ""
        yield line
