"""A ranking as Markdown, for a pull request's comment or a job's summary."""

from __future__ import annotations

from collections.abc import Iterator

from incc.ranking import types as r
from incc.support.text import counted
from incc.views.layout import Layout
from incc.views.markdown import LIMIT, bullets, code, cut, details, prose
from incc.views.ranking import cells
from incc.views.table import markdown_lines

MOST_OPENED = 10
"""Rows with verdicts and advice to open."""

_NARROW = ("Inside", "/elem.", "Vectors", "Copies")
"""Columns that a comment has no room for."""


def render(ranking: r.Ranking, top: int = 25, limit: int = LIMIT) -> str:
    """Return the ranking with at most `top` rows (0: all), in at most `limit` characters, with a note on the rest."""
    layout = Layout(0, False)
    layout.name_paths(cells.files(ranking))
    while True:
        text = "\n\n".join(_parts(ranking, layout, top)) + "\n"
        number = len(ranking.groups if ranking.by else ranking.rows)
        shown = min(top or number, number)
        if len(text) <= limit or shown <= 1:
            return cut(text, limit)
        top = min(shown - 1, max(1, shown * limit // len(text)))


def _parts(ranking: r.Ranking, layout: Layout, top: int) -> Iterator[str]:
    yield f"**{prose(cells.summary(ranking))}**"
    yield from map(prose, (*cells.hotness(ranking), *cells.gaps(ranking)))
    if ranking.where:
        yield f"Kernels for which {code(ranking.where.strip())}:"
    if ranking.rows:
        table, more = cells.table(ranking, layout, top)
        yield "\n".join(markdown_lines(table, {}, _NARROW))
        if more:
            yield f"… and {more}."
    else:
        yield "No kernel."
    yield from map(prose, filter(None, (cells.total_saving(ranking), cells.lines_wanted(ranking))))
    for gate in ranking.gates:
        condition = code(gate.condition.strip())
        if not gate.offenders:
            yield f"No kernel for which {condition}."
            continue
        yield f"{'🔴' if gate.fails else '⚠️'} {counted(len(gate.offenders), 'kernel')} for which {condition}:"
        yield "\n".join(bullets([offender.text for offender in gate.offenders], MOST_OPENED))
    for row in [] if ranking.by else ranking.rows[: min(top or MOST_OPENED, MOST_OPENED)]:
        if row.advice:
            body = "\n".join([prose(row.verdict), "", *(f"- {prose(text)}" for text in row.advice)])
            yield details(row.name, cells.place(row, layout), body)
