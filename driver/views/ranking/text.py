"""A ranking as text: what was read, by what it is weighed, a row for each kernel or group, and what to do about the
first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from incc.driver.views.layout import BOLD, RED, YELLOW, Column, Layout, count, harmless
from incc.driver.views.ranking import cells
from incc.driver.views.table import table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from incc.driver.ranking import types as r

FEW = 3
"""Rows whose verdict and advice are below the table."""


def render(ranking: r.Ranking, width: int = 80, colour: bool = False, top: int = 25) -> str:
    """The ranking as text of lines no wider than `width` columns (0: as wide as they get), with at most `top` rows (0:
    all)."""
    layout = Layout(width, colour)
    layout.name_paths(cells.files(ranking))
    lines = (line.replace("\xa0", " ").rstrip() for line in _lines(ranking, layout, top))
    return "".join(f"{harmless(line, colour)}\n" for line in lines)


def _lines(ranking: r.Ranking, layout: Layout, top: int) -> Iterator[str]:
    for line in layout.wrap(cells.summary(ranking)):
        yield layout.paint(line, BOLD)
    for sentence in (*cells.hotness(ranking), *cells.gaps(ranking)):
        yield from layout.wrap(sentence, "", "  ")
    if ranking["where"]:
        yield from layout.wrap(f"Kernels for which {ranking['where'].strip()}:", "", "  ")
    if cells.only_stale(ranking) and not ranking["gates"]:
        return
    yield ""
    if not ranking["rows"]:
        yield "No kernel." if not ranking["where"] else "No kernel for which it holds."
    elif ranking["by"]:
        yield from _groups(ranking, layout, top)
    else:
        yield from _table(ranking, layout, top)
    if wholly := cells.wholly(ranking):
        yield ""
        yield from layout.wrap(wholly)
    if wanted := cells.lines_wanted(ranking):
        yield ""
        yield from layout.wrap(wanted)
    if not ranking["by"]:
        yield from _details(ranking, layout)
    if ranking["stale_shown"] and ranking["stale"]:
        yield ""
        yield layout.paint("Stale reports", BOLD)
        for stale in ranking["stale"]:
            yield from layout.wrap(f"{stale['report']}: {stale['why']}", "  ", "    ")
    yield from _gates(ranking, layout)


def _table(ranking: r.Ranking, layout: Layout, top: int) -> Iterator[str]:
    hot = ranking["hotness"] is not None
    columns = [
        Column("#", right=True),
        Column("Function", glad=18, least=12, gives_way=3, ample=26),
        Column("Line", glad=16, least=12, gives_way=2, end=True),
        Column("Role", glad=9, least=5, gives_way=1),
        Column("Core", glad=8, least=5, gives_way=1),
        Column("Time", right=True),
        Column("Saves", right=True),
        Column("Cycles", right=True),
        Column("/elem.", right=True),
        Column("Room", right=True),
        Column("If", glad=18, least=14, gives_way=6),
        Column("Bound by", glad=11, least=10, gives_way=5),
        Column("Vectors", glad=7, least=6, gives_way=7),
        Column("Copies", right=True),
        Column("Codes", right=True),
        Column("Worth a look", glad=20, least=12, gives_way=4),
    ]
    shown = ranking["rows"][: top or None]
    rows = [
        [
            str(number),
            row["name"],
            cells.place(row, layout),
            cells.role(row),
            cells.model(row, ranking),
            cells.weight(row) if hot else "",
            cells.saved(row) if hot else "",
            cells.cycles(row),
            cells.element(row),
            cells.headroom(row),
            cells.without(row),
            row["limit"],
            row["vector"],
            cells.copies(row),
            cells.codes(row),
            cells.look(row),
        ]
        for number, row in enumerate(shown, 1)
    ]
    yield from table(
        columns, rows, layout, ("Vectors", "If", "/elem.", "Copies", "Codes", "Role", "Worth a look", "Bound by")
    )
    yield from _more(len(ranking["rows"]) - len(shown), "row", layout)


def _more(number: int, what: str, layout: Layout) -> Iterator[str]:
    if number > 0:
        yield f"and {count(number, f'more {what}')}: --all shows them, -n N so many"


def _groups(ranking: r.Ranking, layout: Layout, top: int) -> Iterator[str]:
    hot = ranking["hotness"] is not None
    columns = [
        Column(cells.GROUPED[ranking["by"]], glad=20, least=10, gives_way=2, ample=50, end=ranking["by"] == "file"),
        Column("Kernels", right=True),
        Column("Loops", right=True),
        Column("Time", right=True),
        Column("Saves", right=True),
        Column("Room", right=True),
        Column("Most worth a look", glad=20, least=10, gives_way=3),
    ]
    shown = ranking["groups"][: top or None]
    rows = []
    for group in shown:
        first = ranking["rows"][group["first"]]
        rows.append(
            [
                cells.group_key(ranking, group, layout),
                str(group["rows"]),
                str(group["loops"]),
                cells.share(group["weight"]) if hot else "",
                cells.share(group["saved"]) if hot else "",
                f"{100 * group['headroom']:.0f} %" if group["headroom"] else "-",
                f"{first['name']}, {cells.place(first, layout)}",
            ]
        )
    yield from table(columns, rows, layout, ("Most worth a look",))
    yield from _more(len(ranking["groups"]) - len(shown), "group", layout)


def _details(ranking: r.Ranking, layout: Layout) -> Iterator[str]:
    """What is to be done about the first rows for which there is something."""
    chosen = [(n, row) for n, row in enumerate(ranking["rows"], 1) if row["advice"] and _matters(ranking, row)]
    for number, row in chosen[:FEW]:
        yield ""
        lead = f"[{number}] {row['name']}, {cells.place(row, layout)}: "
        yield from layout.wrap(row["verdict"], lead, "    ")
        for text in row["advice"]:
            yield from layout.wrap(text, "    - ", "      ")
        # What tells copies of a loop from each other is what was compiled.
        first = row["members"][0]
        where = f"{first['source']} ({first['output']})" if first["output"] else first["source"]
        more = f" and {row['copies'] - 1} more" if row["copies"] > 1 else ""
        yield from layout.wrap(f"In {where}{more}; the whole report: {first['report']}", "    ", "      ")


def _matters(ranking: r.Ranking, row: r.Row) -> bool:
    """With hotness what takes no time is none of the first."""
    return ranking["hotness"] is None or bool(row["weight"] and row["weight"]["share"] >= _LEAST)


_LEAST = 0.001


def _gates(ranking: r.Ranking, layout: Layout) -> Iterator[str]:
    """What conditions hold for, at the end, where one looks."""
    for gate in ranking["gates"]:
        yield ""
        condition = gate["condition"].strip()
        whence = f" ({gate['origin']})" if gate["origin"] else ""
        if not gate["offenders"]:
            yield from layout.wrap(f"No kernel for which {condition}{whence}.", "", "  ")
            continue
        what = f"{count(len(gate['offenders']), 'kernel')} for which {condition}{whence}:"
        style = RED if gate["fails"] else YELLOW
        for line in layout.wrap(what, "" if gate["fails"] else "Warning: ", "  "):
            yield layout.paint(line, BOLD)
        for offender in gate["offenders"]:
            for line in layout.wrap(offender["text"], f"  [{offender['row'] + 1}] ", "      "):
                yield layout.paint(line, style)
