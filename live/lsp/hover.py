"""Hovers: the table of a loop's instructions, and why it takes so long."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from incc.live.lsp.documents import ShownLoop
from incc.live.lsp.lenses import title

WIDTH = 100
"""Columns of the table."""


def hover(loops: Iterable[ShownLoop], line: int) -> str:
    """Return Markdown on the loops that have code at a line, main loops first; "" if there are none."""
    here = [loop for loop in loops if loop.line == line or any(line == at for at in _lines(loop))]
    here.sort(key=lambda loop: (bool(loop.kernel.role.of), loop.line != line))
    return "\n\n".join(part for n, loop in enumerate(here) for part in _parts(loop, n == 0))


def _lines(loop: ShownLoop) -> Iterator[int | None]:
    for instruction in loop.kernel.instructions:
        yield loop.instruction_line(instruction)


def _parts(loop: ShownLoop, table: bool) -> Iterator[str]:
    kernel = loop.kernel
    label = ", ".join(part for part in (loop.analysis.also, loop.unit.model.name, kernel.role.name) if part)
    yield f"**{label}**: {title(loop)}"
    if not table:
        return
    from incc.views.layout import Layout
    from incc.views.text import compact

    yield kernel.verdict
    rows = [line.rstrip() for line in compact.lines(loop.unit, kernel, Layout(WIDTH, False))]
    yield "\n".join(["```text", *rows, "```"])
    for hint in kernel.hints:
        yield f"- {hint.text}"
