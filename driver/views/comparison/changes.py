"""What changed between two sides: a table with a row for each kernel, and below it each in full."""

from __future__ import annotations

from typing import TYPE_CHECKING

from incc.driver.report import wording
from incc.driver.views.comparison import cells
from incc.driver.views.layout import BOLD, GREEN, RED, YELLOW, Column
from incc.driver.views.table import table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from incc.driver.comparison import types as c
    from incc.driver.views.comparison.cells import Numbered
    from incc.driver.views.layout import Layout

STYLES = {"faster": GREEN, "slower": RED, "unknown": YELLOW}

SHORT = {"element": "elem.", "work": "work", "iteration": "iter.", "": ""}
"""What cycles are of, in the table."""

MOST_LABEL = 8
"""Columns of a label that heads a column; else letters do."""

MATCHED = {
    "content": "the same code",
    "identity": "the same loop of the same function",
    "function": "another loop of the same function",
    "similarity": "a loop of another function",
}


def lines(comparison: c.Comparison, rows: Sequence[Numbered], layout: Layout) -> Iterator[str]:
    """The table."""
    a, b = (side["label"] for side in comparison["sides"])
    columns = [
        Column("#", right=True),
        Column("Line", glad=14, least=12, gives_way=2, end=True),
        Column("Function", glad=16, least=10, gives_way=5, ample=30),
        Column(a, right=True),
        Column(b, right=True),
        Column("Change", right=True),
        Column("Of"),
        Column("Bound by", glad=24, least=16, gives_way=4, ample=36),
        Column("Vectors", glad=20, least=16, gives_way=7),
        Column("Match", glad=6, least=6, gives_way=8),
        Column("Why", glad=40, least=24, gives_way=3),
    ]
    titles = [column.title for column in columns]
    if max(len(a), len(b)) > MOST_LABEL or len({*titles}) < len(titles):
        a, b = columns[3].title, columns[4].title = "A", "B"
    changes = [change for found in rows for _, _, change in cells.pairs(found.row)]
    cell_rows = [cells_of(found, layout) for found in rows]
    bases = [basis for basis in cells.MEANINGS if any(change["basis"] == basis for change in changes)]
    if len(bases) == 1:  # said once
        yield from layout.wrap(f"Cycles of {cells.MEANINGS[bases[0]]}:")
        for row in cell_rows:
            row[6] = ""
    elif bases:
        texts = [f"{cells.MEANINGS[basis]} ({SHORT[basis]})" for basis in bases]
        yield from layout.wrap(f"Cycles of {', or of '.join(texts)}:")

    def style(row: int, title: str) -> str:
        return STYLES.get(changes[row]["outcome"], "") if title in ("Change", b) else ""

    yield from table(columns, cell_rows, layout, ("Vectors", "Match", "Bound by", "Of"), style=style)


def cells_of(found: Numbered, layout: Layout) -> list[str]:
    """The texts of a row of the table."""
    row = found.row
    a = cells.base(row)
    _, b, change = next(cells.pairs(row))
    return [
        str(found.number),
        cells.place(row, layout),
        cells.short(row),
        *cells.both(row, b, change),
        outcome(change),
        SHORT[change["basis"]],
        cells.arrow(a["limit"], b["limit"]),
        cells.arrow(a["vector"], b["vector"]),
        cells.doubt(change),
        change["causes"][0]["text"] if change["causes"] else "",
    ]


def outcome(change: c.Change) -> str:
    """What became of it, as short as it gets."""
    if change["outcome"] in ("same", "moved"):
        return change["outcome"]
    if change["outcome"] == "unknown":
        return "?"
    return cells.relative(change["ratio"])


def detail(comparison: c.Comparison, found: Numbered, layout: Layout) -> Iterator[str]:
    """A row in full: where its kernels are, what became of them, why, and which figures differ."""
    row = found.row
    head = f"[{found.number}] "
    for line in layout.wrap(cells.title(row, layout), head, " " * len(head)):
        yield layout.paint(line, BOLD)
    a = cells.base(row)
    several = len(comparison["sides"]) > 2
    yield from layout.wrap(where(row["base"], a, row, layout), "    ", "      ")
    for side, b, change in cells.pairs(row):
        yield from layout.wrap(f"{where(side, b, row, layout)}; {matched_by(change)}", "    ", "      ")
    for side, b, change in cells.pairs(row):
        text = f"{cells.letter(side)}: {change['text']}" if several else change["text"]
        for line in layout.wrap(sentence(text), "    ", "      "):
            yield layout.paint(line, STYLES.get(change["outcome"], ""))
        for cause in causes(change):
            yield from layout.wrap(cause, "    - ", "      ")
        yield from _figures(a, b, change, layout)


def causes(change: c.Change) -> list[str]:
    """The causes that are not in the sentence on the change."""
    return [cause["text"] for cause in change["causes"] if cause["text"] not in change["text"]]


def sentence(text: str) -> str:
    """A text as a sentence."""
    return text and text[0].upper() + text[1:] + ("" if text.endswith((".", "?", "!", ":")) else ".")


def where(side: int, member: c.Member, row: c.Row, layout: Layout) -> str:
    """Where a kernel is: in the source only where that is not what the row says."""
    texts = []
    place = cells.member_place(member, layout)
    function = member["function_name"]
    same = place == cells.place(row, layout) and row["name"] in (function, f"{function} ({member['model']})")
    if member["source"] and not same:
        texts.append(f"{place} in {member['function_name']}" if member["function_name"] else place)
    where = layout.file(member["assembly_file"])
    texts.append(f"{where}:{member['first_line']}-{member['last_line']}" if member["first_line"] else where)
    if member["role"] not in ("", "main"):
        texts.append(member["role"])
    if member["parts"]:
        texts.append(f"and {wording.listed(member['parts'])} for the rest of its work")
    return f"{cells.letter(side)}: {', '.join(text for text in texts if text)}"


def matched_by(change: c.Change) -> str:
    """How two kernels were found to be one loop."""
    sure = f", {100 * change['confidence']:.0f}\xa0% sure" if change["confidence"] < 0.995 else ""
    return MATCHED[change["matched_by"]] + sure


def _figures(a: c.Member, b: c.Member, change: c.Change, layout: Layout) -> Iterator[str]:
    figures = cells.differing(a, b, change)
    per = cells.per(a, b, change)
    for on_basis in (True, False):
        texts = [f"{f.name} {f.a} → {f.b}".replace(" ", "\xa0") for f in figures if f.on_basis == on_basis]
        if texts:
            lead = f"{per[:1].upper()}{per[1:]}: " if on_basis else "The loop: "
            yield from layout.wrap(", ".join(texts), f"    {lead}", "      ")
    for words, one, other in (("Bound by", a["limit"], b["limit"]), ("Vectors", a["vector"], b["vector"])):
        if one != other:
            yield from layout.wrap(cells.arrow(one, other), f"    {words}: ", "      ")
    gone, new = ([h for h in x["hints"] if h not in y["hints"]] for x, y in ((a, b), (b, a)))
    texts = [f"{', '.join(hints)} {words}" for hints, words in ((gone, "no more"), (new, "new")) if hints]
    if texts:
        yield from layout.wrap("; ".join(texts), "    Hints: ", "      ")
