"""What changed between two sides: a table with a row for each kernel, and below it each in full."""

from __future__ import annotations

from incc.driver.views.comparison import cells
from incc.driver.views.layout import BOLD, GREEN, RED, YELLOW, Column
from incc.driver.views.table import table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from incc.driver.comparison import types as c
    from incc.driver.views.comparison.cells import Numbered
    from incc.driver.views.layout import Layout

STYLES = {"faster": GREEN, "slower": RED, "unknown": YELLOW}

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
        Column("Line", glad=14, least=10, gives_way=2, end=True),
        Column("Function", glad=12, least=8, gives_way=3, ample=30),
        Column(a, right=True),
        Column(b, right=True),
        Column("Change", right=True),
        Column("Cycles of", glad=10, least=9, gives_way=6),
        Column("Bound by", glad=20, least=12, gives_way=5, ample=36),
        Column("Vectors", glad=16, least=9, gives_way=7),
        Column("Match", glad=6, least=6, gives_way=8),
        Column("Why", glad=36, least=24, gives_way=4),
    ]
    titles = [column.title for column in columns]
    if max(len(a), len(b)) > MOST_LABEL or len({*titles}) < len(titles):
        a, b = columns[3].title, columns[4].title = "A", "B"
    changes = [change for found in rows for _, _, change in cells.pairs(found.row)]
    cell_rows = [_row(found, layout) for found in rows]
    bases = {change["basis"] for change in changes if change["basis"]}
    if len(bases) == 1:  # said once
        yield from layout.wrap(f"Cycles of {cells.MEANINGS[bases.pop()]}:")
        for row in cell_rows:
            row[6] = ""

    def style(row: int, title: str) -> str:
        return STYLES.get(changes[row]["outcome"], "") if title in ("Change", b) else ""

    yield from table(columns, cell_rows, layout, ("Cycles of", "Vectors", "Match", "Bound by"), style=style)


def _row(found: Numbered, layout: Layout) -> list[str]:
    row = found.row
    a = cells.base(row)
    _, b, change = next(cells.pairs(row))
    known = change["basis"] != ""
    return [
        str(found.number),
        cells.place(row, layout),
        cells.name(row),
        cells.amount(change["cycles_a"]) if known else f"({cells.amount(a['figures']['cycles'])})",
        cells.amount(change["cycles_b"]) if known else f"({cells.amount(b['figures']['cycles'])})",
        outcome(change),
        cells.BASES[change["basis"]],
        cells.arrow(a["limit"], b["limit"]),
        cells.arrow(a["vector"], b["vector"]),
        cells.doubt(change),
        change["causes"][0]["text"] if change["causes"] else "",
    ]


def outcome(change: c.Change) -> str:
    """What became of it, as short as it gets."""
    if change["outcome"] in ("same", "moved"):
        return change["outcome"]
    return cells.relative(change["ratio"])


def detail(comparison: c.Comparison, found: Numbered, layout: Layout) -> Iterator[str]:
    """A row in full: where its kernels are, what became of them, why, and which figures differ."""
    row = found.row
    head = f"[{found.number}] "
    for line in layout.wrap(cells.title(row, layout), head, " " * len(head)):
        yield layout.paint(line, BOLD)
    a = cells.base(row)
    several = len(comparison["sides"]) > 2
    yield from layout.wrap(_where(row["base"], a, layout), "    ", "      ")
    for side, b, change in cells.pairs(row):
        yield from layout.wrap(f"{_where(side, b, layout)}; {_match(change)}", "    ", "      ")
    for side, b, change in cells.pairs(row):
        lead = f"{cells.letter(side)}: " if several else ""
        text = change["text"]
        style = STYLES.get(change["outcome"], "")
        for line in layout.wrap(sentence(lead + text if several else text), "    ", "      "):
            yield layout.paint(line, style)
        for cause in change["causes"]:
            yield from layout.wrap(cause["text"], "    - ", "      ")
        yield from _figures(a, b, change, layout)


def sentence(text: str) -> str:
    """A text as a sentence."""
    return text and text[0].upper() + text[1:] + ("" if text.endswith((".", "?", "!", ":")) else ".")


def _where(side: int, member: c.Member, layout: Layout) -> str:
    where = layout.file(member["assembly_file"])
    if member["first_line"]:
        where += f":{member['first_line']}-{member['last_line']}"
    text = f"{cells.letter(side)}: {cells.member_place(member, layout)}"
    text += f" in {member['function_name']}" if member["function_name"] else ""
    text += f", {member['role']}" if member["role"] not in ("", "main") else ""
    text += f", {where}" if member["source"] else ""
    if member["parts"]:
        text += f", and {cells.listed(member['parts'])} for the rest of its work"
    return text


def _match(change: c.Change) -> str:
    sure = f", {100 * change['confidence']:.0f}\xa0% sure" if change["confidence"] < 0.995 else ""
    return MATCHED[change["matched_by"]] + sure


def _figures(a: c.Member, b: c.Member, change: c.Change, layout: Layout) -> Iterator[str]:
    figures = cells.differing(a, b, change)
    per = cells.BASES[change["basis"]]
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
