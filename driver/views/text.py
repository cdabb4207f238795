"""The report as text: a verdict for people, then llvm-mca's views in llvm-mca's layout, then dependencies as OSACA has.

Each view is a file of its own in this folder, with a function `lines(unit, kernel, layout)` that yields its lines. It
lays out what is in the report; the only thing decided there is how wide a column is.
"""

from __future__ import annotations

from incc.driver.views import header
from incc.driver.views.layout import Layout, terminal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from incc.driver.report import types as t
    from incc.driver.report.places import Place

    View = Callable[[t.Unit, t.Kernel, Layout], Iterable[str]]

__all__ = ["VIEWS", "render", "terminal"]

VIEWS = ("summary", "info", "pressure", "waits", "timeline", "dependencies")
"""The views of a kernel in the report's order: the names that users know and those of their files."""


def render(
    report: t.Report,
    width: int = 80,
    colour: bool = False,
    views: Sequence[str] = VIEWS,
    details: Sequence[Place] = (),
) -> str:
    """The report as text of lines no wider than `width` columns (0: as wide as they get).

    Header and verdict of each kernel are always there; `views` are those of VIEWS that follow. `details`: lines whose
    instructions are shown with all that they wait for. Raises ValueError for a view that does not exist.
    """
    for view in views:
        if view not in VIEWS:
            raise ValueError(f"no view {view!r}; there are {', '.join(VIEWS)}")
    layout = Layout(width, colour)
    # What was asked for by name stays where the summary, which it belongs to, is switched off.
    order = VIEWS if "summary" in views else ("asked", *VIEWS)
    sections = [(view, _view(view)) for view in order if view in views or view == "asked"]
    lines: list[str] = []
    for unit in report["units"]:
        lines += header.unit_lines(report, unit, layout)
        for kernel in unit["kernels"]:
            lines.append("")
            lines += header.lines(unit, kernel, layout)
            for view, section in sections:
                if kernel["instructions"] or view == "summary":
                    lines += _set_off(section(unit, kernel, layout))
            if details:
                from incc.driver.views import detail

                lines += detail.lines(unit, kernel, layout, details)
        lines += header.left_out(unit, layout)
        if unit["ways"] is not None:
            from incc.driver.views import ways

            lines += ways.lines(unit, layout)
        if unit["trials"] is not None:
            from incc.driver.views import trials

            lines += trials.lines(unit, layout)
    return "".join(line.rstrip() + "\n" for line in lines)


def _view(name: str) -> View:
    """The function of the view of this name. Only views that are printed are imported: a compiler is started often."""
    module = __import__(f"incc.driver.views.{name}", fromlist=["lines"])
    lines: View = module.lines
    return lines


def _set_off(lines: Iterable[str]) -> Iterator[str]:
    """The lines with an empty one before them; nothing where there are none."""
    for number, line in enumerate(lines):
        if not number:
            yield ""
        yield line
