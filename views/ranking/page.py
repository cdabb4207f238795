"""A ranking as one self-contained HTML page.

The table sorts, searches and is filtered by hints and limits; a row opens with its verdict, its advice and the places
that its kernels come from. Rows beyond MOST stay in a template until the user requests them, so that a build of ten
thousand kernels opens at once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from incc.ranking import types as r
from incc.support.text import counted
from incc.views.html import templates
from incc.views.layout import Layout
from incc.views.ranking import cells
from incc.views.running.text import steps
from incc.views.table import Table, TableRow, select

MOST = 1000
"""Rows in the table when the page opens."""

MOST_FILTERS = 12
"""Hints that have a button, those of most rows."""

MOST_GROUPS = 100

OFFENDERS = 20
"""Offenders listed above the table, which marks all of them."""


def render(ranking: r.Ranking, rooflines: Sequence[Mapping[str, Any]] = ()) -> str:
    """Return the page of a ranking, with rooflines (`views.roofline.panels`)."""
    layout = Layout(0, False)
    layout.name_paths(cells.files(ranking))
    fails = {offender.row: gate.fails for gate in ranking.gates for offender in gate.offenders}
    table = cells.rows_table(ranking, layout, fails=fails)
    kinds = [_kinds(row, number in fails) for number, row in enumerate(ranking.rows)]
    rows = [
        TableRow(shown.cells, _search(row), passed)
        for shown, row, passed in zip(table.rows, ranking.rows, kinds, strict=True)
    ]
    heading = cells.summary(ranking).rstrip(".")
    return templates.render(
        "ranking/page.html.j2",
        title=f"{heading} - incc",
        tool=ranking.tool,
        heading=heading,
        where=ranking.where.strip(),
        hotness=list(cells.hotness(ranking)),
        total_saving=cells.total_saving(ranking),
        lines_wanted=cells.lines_wanted(ranking),
        gaps=list(cells.gaps(ranking)),
        gates=[
            (
                gate.condition.strip(),
                counted(len(gate.offenders), "kernel"),
                len(gate.offenders),
                [(f"#r{o.row + 1}", o.row + 1, o.text) for o in gate.offenders[:OFFENDERS]],
            )
            for gate in ranking.gates
        ],
        groups=select(cells.groups_table(ranking, layout, MOST_GROUPS)) if ranking.by else None,
        filters=_filters(kinds),
        table=select(Table(table.columns, rows)),
        most=MOST,
        rooflines=rooflines,
        data=[_data(row, layout, n < MOST) for n, row in enumerate(ranking.rows)],
    )


def _kinds(row: r.RankingRow, fails: bool) -> list[str]:
    """Return the filters that a row passes."""
    kinds = [f"hint-{rule}" for rule in dict.fromkeys(row.rules)]
    kinds += ["look"] if row.look else []
    kinds += ["hot"] if row.weight and row.weight.share >= 0.001 else []
    return [*kinds, "fails"] if fails else kinds


def _filters(kinds: Sequence[Sequence[str]]) -> list[tuple[str, str, int]]:
    """Return the kind, text and number of rows of each filter."""
    numbers = Counter(kind for passed in kinds for kind in passed)
    named = {"all": "All", "fails": "Fails", "hot": "Runs", "look": "Worth a look"}
    hints = [kind for kind, _ in numbers.most_common() if kind.startswith("hint-")][:MOST_FILTERS]
    named |= {kind: kind.removeprefix("hint-").replace("-", " ") for kind in hints}
    numbers["all"] = len(kinds)
    return [(kind, text, numbers[kind]) for kind, text in named.items() if numbers[kind]]


def _search(row: r.RankingRow) -> str:
    """Return the words that a search matches, besides those in the table."""
    words = [row.function, row.function_name, row.kernel_id, row.place.file, row.verdict]
    words += [member.source for member in row.members[:3]]
    return " ".join(dict.fromkeys(filter(None, words)))


def _data(row: r.RankingRow, layout: Layout, listed: bool) -> dict[str, object]:
    """Return the texts of a row that is opened, with its instructions if `listed`; `ranking.js` reads them."""
    weight, headroom = row.weight, row.headroom
    facts = {
        "Function": row.function_name or row.function or row.name,
        "Core": row.model,
        "Role": row.role,
        "Bound by": row.limit,
        "Headroom": f"{cells.headroom(headroom.share)} {headroom.text}" if headroom.share else "",
        "Inside": cells.outer(row, layout),
        "Gain": f"{cells.gain(row.saving)} with {row.saving.text}" if row.saving.share else "",
        "Flags to try": " ".join(row.flags),
        "Copies": f"{row.copies}, of {row.variants} different codes" if row.copies > 1 else "",
    }
    if weight:
        by = f" (matched by {', '.join(weight.by)})" if weight.by else ""
        facts["Time"] = f"{cells.share(weight.share)}, of which {cells.share(weight.saved)} might be saved{by}"
        facts["Iterations"] = "" if weight.iterations is None else f"{weight.iterations:.0f}"
    if row.run and cells.explained(row):
        facts["Cycles in the run"] = "; ".join(f"{number} {text}" for number, text in steps(row.run))
    return {
        "title": f"{row.name}, {cells.place(row, layout)}",
        "verdict": row.verdict,
        "advice": row.advice,
        "facts": [fact for fact in facts.items() if fact[1]],
        "instructions": [[i.source_line or i.line, i.text] for i in row.instructions] if listed else [],
        "members": [[m.source, m.output, m.folder, m.kernel_id, m.report] for m in row.members],
        "more": row.copies - len(row.members),
    }
