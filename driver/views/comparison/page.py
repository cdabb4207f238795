"""A comparison as one self-contained HTML page: what is compared, a table of kernels that sorts, searches and is
filtered (of more than two sides a heat map), and of each pair why it changed, its figures and its assembly.

The page is made as that of a report is (driver/views/html/): tables are written here, pairs are drawn by the scripts
beside this file when they are opened, from data in the page. Rows beyond MOST, and those in which nothing changed,
stand in a template until they are asked for: a comparison of ten thousand kernels opens at once.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from incc.driver.views.comparison import cells, changes, matrix
from incc.driver.views.comparison.pair import row_data
from incc.driver.views.comparison.side_by_side import MARKS
from incc.driver.views.comparison.text import sums
from incc.driver.views.html import frame
from incc.driver.views.html.table import Cell, Column, Row, sortable
from incc.driver.views.layout import Layout, count
from incc.driver.views.page import Html, element, script_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from incc.driver.comparison import types as c
    from incc.driver.views.comparison.cells import Compared, Numbered

MOST = 1000
"""Rows that are in the table when the page opens."""

FEW = 10
"""Rows below which what did not change is shown, too."""

MOST_BUILDS = 6
"""Builds that are described above the table; more are behind a button."""

OFFENDERS = 20
"""Offenders that are listed above the table; the table marks all."""

_STYLES = ("page.css", "table.css", "kernel.css")
_SCRIPTS = ("dom.js", "table.js", "assembly.js")
_OWN_SCRIPTS = ("heat.js", "pair.js", "comparison.js")

_OUTCOMES = (
    ("slower", "slower"),
    ("faster", "faster"),
    ("unknown", "not comparable"),
    ("equal", "as fast with other code"),
    ("moved", "moved"),
    ("same", "the same"),
    ("only_a", "only in the first"),
    ("only_b", "only here"),
)


def render(comparison: c.Comparison) -> str:
    """The page of a comparison. Instructions are there as far as they are in it."""
    layout = Layout(0, False)
    layout.name_paths({**cells.files(comparison), **_source_files(comparison)})
    fails: dict[int, list[str]] = {}
    for offender in comparison["gate"]["offenders"] if comparison["gate"] else ():
        fails.setdefault(offender["row"] + 1, []).append(offender["text"])
    rows = [cells.Numbered(number, row) for number, row in enumerate(comparison["rows"], 1)]
    meta = {
        "sides": [[cells.letter(n), side["label"]] for n, side in enumerate(comparison["sides"])],
        "marks": MARKS,
        "few": FEW,
    }
    scripts = [_script("meta", meta)]
    scripts += [_script(f"data-{r.number}", row_data(r, fails.get(r.number, []), layout)) for r in rows]
    title = _title(comparison)
    own = __package__
    body = Html(
        element(
            "main",
            element(
                "section",
                element("h1", title, id="rows-title", tabindex="-1"),
                *_heading(comparison, layout),
                *_offenders(comparison, layout),
                *([_filters(rows, fails), _table(comparison, rows, fails, layout)] if rows else []),
                id="summary",
            ),
            frame.part("pair.html", own),
            id="content",
        )
        + "".join(scripts)
    )
    return frame.whole_page(
        title,
        f"{comparison['tool']['name']} {comparison['tool']['version']}",
        body,
        [*map(frame.part, _STYLES), frame.part("comparison.css", own)],
        [*map(frame.part, _SCRIPTS), *(frame.part(name, own) for name in _OWN_SCRIPTS)],
    )


def _script(name: str, data: object) -> Html:
    return Html(f'<script type="application/json" id="{name}">{script_json(data)}</script>\n')


def _source_files(comparison: c.Comparison) -> dict[str, None]:
    """The files that instructions come from."""
    return {
        place["file"]: None
        for row in comparison["rows"]
        for member in row["members"]
        if member
        for instruction in member["instructions"] or ()
        if (place := instruction["source"])
    }


def _title(comparison: c.Comparison) -> str:
    labels = [side["label"] for side in comparison["sides"]]
    return " → ".join(labels) if len(labels) == 2 else f"{len(labels)} builds compared with {labels[0]}"


# --- what is compared -------------------------------------------------------------------------------------------------


def _heading(comparison: c.Comparison, layout: Layout) -> Iterator[Html]:
    """The model, what became of how many kernels, the sides, and what a reader must know."""
    sides = comparison["sides"]
    model = cells.common_model(comparison)
    if model:
        yield element(
            "p",
            f"Cycles of {model['title'] or model['name']}, model {model['name']} {model['version']}",
            class_="muted",
        )
    if comparison["where"]:
        yield element("p", f"Kernels for which {comparison['where'].strip()}:")
    if sum(not side["problem"] for side in sides) < 2:
        yield element("p", "There is nothing to compare with.", class_="total")
    elif len(sides) == 2:
        yield element("p", changes.sentence(sums(comparison, 1)), class_="total")
    heads = ("", "Build", "What it is", "Change", "What became of the first one's kernels")
    head = element("tr", *(element("th", text, scope="col") if text else element("td") for text in heads))
    body = [
        element(
            "tr",
            element("th", cells.letter(n), scope="row"),
            element("td", side["label"], class_="code"),
            element("td", cells.side_text(side, model["name"] if model else "", layout)),
            element("td", _mean(comparison["totals"][n]), class_="number"),
            element("td", _outcomes(comparison["totals"][n])),
            class_="problem" if side["problem"] else "",
        )
        for n, side in enumerate(sides)
    ]
    table = element("table", element("thead", head), element("tbody", *body), class_="sides")
    builds = element("div", table, class_="wide", role="region", tabindex="0", aria_label="Builds")
    notes = [
        element("p", note if note.endswith(".") else f"{note}.", class_="note") for note in cells.notes(comparison)
    ]
    if len(sides) > MOST_BUILDS:  # the heat map says it, too
        yield element("details", element("summary", f"The {len(sides)} builds"), builds, *notes)
        return
    yield builds
    yield from notes


def _mean(totals: c.Totals | None) -> Html:
    if totals is None or totals["speedup"] is None:
        return Html("")
    return element("span", cells.relative(totals["speedup"]), title="geometric mean of the changes")


def _outcomes(totals: c.Totals | None) -> Html:
    """A bar of what became of how many, with the numbers beside it."""
    if totals is None:
        return element("span", "what the others are compared with", class_="muted")
    counts = [(kind, words, totals[kind]) for kind, words in _OUTCOMES if totals[kind]]  # type: ignore[literal-required]
    whole = sum(number for _, _, number in counts)
    parts, at = [], 0.0
    for kind, _, number in counts:
        width = 160 * number / whole
        parts.append(f'<rect class="{kind}" x="{at:.1f}" width="{max(width - 0.8, 0.6):.1f}" height="11"/>')
        at += width
    bar = Html(f'<svg class="outcomes" viewBox="0 0 160 11" aria-hidden="true">{"".join(parts)}</svg>')
    words = [
        element("span", Html(f'<i class="key {kind}"></i>'), f"{number} {text}", class_="part")
        for kind, text, number in counts
    ]
    return Html(bar + " ".join(words))


def _offenders(comparison: c.Comparison, layout: Layout) -> Iterator[Html]:
    gate = comparison["gate"]
    if gate is None:
        return
    condition = gate["condition"].strip()
    found = gate["offenders"]
    if not found:
        yield element("p", f"No kernel for which {condition}.", class_="gate")
        return
    yield element("h2", f"{count(len(found), 'kernel')} for which {condition}", class_="gate")
    items = [
        element(
            "li",
            element("a", f"[{o['row'] + 1}]", href=_address(o["row"] + 1, o["side"])),
            f" {o['text']}",
        )
        for o in found[:OFFENDERS]
    ]
    if len(found) > OFFENDERS:
        items.append(element("li", f"and {len(found) - OFFENDERS} more, marked in the table"))
    yield element("ul", *items, class_="offenders")


def _address(number: int, side: int) -> str:
    return f"#p{number}/{cells.letter(side)}"


# --- the table --------------------------------------------------------------------------------------------------------


def _kinds(row: c.Row, fails: bool) -> list[str]:
    """The filters that a row passes."""
    found = {change["outcome"] for _, _, change in cells.pairs(row)}
    kinds: list[str] = [kind for kind in ("slower", "faster") if kind in found]
    if not found:
        kinds.append("unmatched")
    if found - {*cells.UNCHANGED, "equal"}:
        kinds.append("changed")
    return [*kinds, "fails"] if fails else kinds


def _filters(rows: Sequence[Numbered], fails: dict[int, list[str]]) -> Html:
    """Buttons that choose among the rows, with the numbers of these. The page presses one: comparison.js."""
    numbers = {"changed": 0, "slower": 0, "faster": 0, "fails": 0, "unmatched": 0}
    for found in rows:
        for kind in _kinds(found.row, found.number in fails):
            numbers[kind] += 1
    words = {"changed": "Changed", "slower": "Slower", "faster": "Faster", "fails": "Fails", "unmatched": "Unmatched"}
    buttons = [
        element("button", f"{words[kind]} {number}", type="button", data_filter=kind, data_count=str(number))
        for kind, number in numbers.items()
        if number or kind == "changed"
    ]
    all_of_them = str(len(rows))
    buttons.append(element("button", f"All {all_of_them}", type="button", data_filter="all", data_count=all_of_them))
    return element("div", *buttons, class_="filters", role="group", aria_label="Rows to show")


def _table(comparison: c.Comparison, rows: list[Numbered], fails: dict[int, list[str]], layout: Layout) -> Html:
    if len(comparison["sides"]) > 2:
        return _matrix(comparison, rows, fails, layout)
    return _changes(comparison, rows, fails, layout)


def _divided(rows: Sequence[Numbered], made: Sequence[Row]) -> tuple[list[Row], list[Row]]:
    """The rows that are there at once, and the rest."""
    if len(rows) <= FEW:
        return list(made), []
    first: list[Row] = []
    rest: list[Row] = []
    for row in made:
        there = len(first) < MOST and not {"changed", "unmatched"}.isdisjoint(row.kinds.split())
        (first if there else rest).append(row)
    return first, rest


def _searched(found: Numbered) -> str:
    """What a row is found by beside what is to be read in it."""
    row = found.row
    words: dict[str, None] = {}
    for member in row["members"]:
        if member:
            words.update(dict.fromkeys((member["unit"], member["function"], member["kernel_id"], *member["hints"])))
    for _, _, change in cells.pairs(row):
        words.update(dict.fromkeys(cause["text"] for cause in change["causes"][1:]))
    words.pop(row["name"], None)
    return " ".join(filter(None, words))


def _changes(comparison: c.Comparison, rows: list[Numbered], fails: dict[int, list[str]], layout: Layout) -> Html:
    """Two sides: a row a kernel, with what became of it."""
    a, b = (side["label"] for side in comparison["sides"])
    if max(len(a), len(b)) > 2 * changes.MOST_LABEL:
        a, b = "A", "B"
    columns = (
        Column(heading="#", number=True, meaning="Number of the row, in every view the same"),
        Column(heading="Line", number=False, meaning="Where the loop is, in the last build that says so", code=True),
        Column(
            heading="Function",
            number=False,
            meaning="The function that the loop is written in, and its role",
            code=True,
        ),
        Column(
            heading=a,
            number=True,
            meaning="Cycles of the first build; in parentheses, of an iteration, where they cannot be compared",
        ),
        Column(heading=b, number=True, meaning="Cycles of the second build"),
        Column(
            heading="Of",
            number=False,
            meaning="What the cycles are of: an element, as much work, an iteration",
            spare=True,
        ),
        Column(heading="Change", number=True, meaning="Second over first"),
        Column(
            heading="±",
            number=False,
            meaning="The change, faster to the left, slower to the right",
            spare=True,
            sorts=False,
        ),
        Column(heading="Bound by", number=False, meaning="What limits it"),
        Column(heading="Vectors", number=False, meaning="Width of its vectors", spare=True),
        Column(
            heading="Match",
            number=False,
            meaning="How sure it is that they are the same loop, where that is not sure",
            spare=True,
        ),
        Column(heading="Fails", number=False, meaning="Whether the condition of --fail-if holds"),
        Column(heading="Why", number=False, meaning="The cause that accounts for most"),
    )
    made = [_row(found, found.number in fails, layout) for found in rows]
    first, rest = _divided(rows, made)
    caption = "Cycles for the same work in both builds, what matters most first"
    return sortable("rows", caption, columns, first, rest)


def _row(found: Numbered, fails: bool, layout: Layout) -> Row:
    row = found.row
    name = element("a", cells.short(row), href=f"#p{found.number}")
    fail = element("strong", "✗ fails") if fails else ""
    search, kinds = _searched(found), " ".join(_kinds(row, fails))
    if not any(row["changes"]):
        member, side = cells.base(row), row["base"]
        each = member["figures"]["cycles_per_element"]
        value = member["figures"]["cycles"] if each is None else each
        both = [Cell("-", None), Cell("-", None)]
        both[side] = Cell(cells.taken(member, value), value)
        shown = (
            *both,
            Cell("iter." if each is None else "elem."),
            Cell(f"only in {cells.letter(side)}", None, "only"),
            Cell(""),
            Cell(member["limit"]),
            Cell(member["vector"]),
            Cell(""),
            Cell(fail),
            Cell(""),
        )
    else:
        ((_, _, change),) = cells.pairs(row)
        _, _, _, a, b, outcome, of, limit, vector, doubt, why = changes.cells_of(found, layout)
        same = change["outcome"] in cells.UNCHANGED
        shown = (
            Cell(a, change["cycles_a"]),
            Cell(b, change["cycles_b"]),
            Cell(of),
            Cell(outcome, 1.0 if same else change["ratio"], change["outcome"]),
            Cell("" if same else _signed_bar(change["ratio"])),
            Cell(limit),
            Cell(vector),
            Cell(doubt),
            Cell(fail),
            Cell(why),
        )
    return Row(
        (Cell(str(found.number), found.number), Cell(cells.place(row, layout)), Cell(name, cells.short(row)), *shown),
        search,
        kinds,
    )


def _signed_bar(ratio: float | None) -> Html:
    """A ratio as a bar from the middle, as long as its logarithm: half and twice fill it."""
    if not ratio or abs(ratio - 1) < 0.005:
        return Html("")
    length = 22 * min(abs(math.log2(ratio)), 1)
    kind, at = ("slower", 22.0) if ratio > 1 else ("faster", 22 - length)
    return Html(
        '<svg class="change" viewBox="0 0 44 11" aria-hidden="true"><path d="M22 0V11"/>'
        f'<rect class="{kind}" x="{at:.1f}" y="2" width="{max(length, 0.7):.1f}" height="7"/></svg>'
    )


# --- of more than two sides -------------------------------------------------------------------------------------------

_HEAT = (1.02, 1.1, 1.25, 1.5, 2.0, 4.0)
"""Up to which ratio to the row's best a cell has which shade; beyond the last one the darkest."""


def _heat(cycles: float, best: float) -> int:
    ratio = cycles / best if best else 1.0
    return sum(ratio > limit for limit in _HEAT)


def _matrix(comparison: c.Comparison, rows: list[Numbered], fails: dict[int, list[str]], layout: Layout) -> Html:
    """A heat map of kernels and sides."""
    compared = {found.number: cells.compared(found.row) for found in rows}
    matched = [found for found in rows if any(found.row["changes"])]
    what, mixed = matrix.measured([compared[found.number] for found in matched])
    sides = comparison["sides"]
    leads = [
        Column(
            heading="Function",
            number=False,
            meaning="The function that the loop is written in, and its role",
            code=True,
        ),
        Column(heading="#", number=True, meaning="Number of the row, in every view the same"),
        Column(
            heading="Line",
            number=False,
            meaning="Where the loop is, in the last build that says so",
            spare=True,
            code=True,
        ),
    ]
    if fails:
        leads.append(
            Column(heading="Fails", number=False, meaning="The builds for which the condition of --fail-if holds")
        )
    # Each row's mark is the text's; what it fails in is with the pair.
    short = [
        side["label"] if len(side["label"]) <= matrix.MOST_LABEL else cells.letter(n) for n, side in enumerate(sides)
    ]
    heads = _variants(sides)
    columns = [
        *leads,
        *(
            Column(heading=name, number=True, meaning=f"{cells.called(comparison, n)}: cycles")
            for n, name in enumerate([cells.letter(n) for n in range(len(sides))] if heads else short)
        ),
    ]
    made = []
    for found in rows:
        values = compared[found.number]
        mark = " (it.)" * (mixed and values.basis == "iteration")
        name = element("a", cells.short(found.row) + mark, href=f"#p{found.number}")
        fail = [Cell(element("strong", "✗ fails") if found.number in fails else "")] if fails else []
        made.append(
            Row(
                (
                    Cell(name, cells.short(found.row)),
                    Cell(str(found.number), found.number),
                    Cell(cells.place(found.row, layout)),
                    *fail,
                    *(_heat_cell(found, values, side) for side in range(len(sides))),
                ),
                _searched(found),
                " ".join(_kinds(found.row, found.number in fails)),
            )
        )
    first, rest = _divided(rows, made)
    # As many cells as there are columns before the builds, which go with them where there is no room.
    blank = [element("td", class_="spare" if lead.spare else "") for lead in leads[1:]]
    below = [
        element(
            "tr",
            element("th", words, scope="row"),
            *blank,
            *(element("td", cell.change or cell.cycles, class_="number") for cell in line),
        )
        for words, line in zip(("geom. mean", "fewest in"), matrix.sums(comparison, matched), strict=True)
    ]
    above = [element("tr", element("th", title, scope="row"), *blank, *spans) for title, spans in heads]
    shades = zip(("heat0", *(f"heat{n}" for n in range(1, 7))), _shades(), strict=True)
    legend = element(
        "p",
        f"Cycles of {what}; ",
        element("b", "*"),
        " the fewest. Shades: times the fewest of the row, ",
        *(element("span", words, class_=f"shade {kind}") for kind, words in shades),
        class_="legend",
    )
    caption = (
        "Below the cycles the change from the first build that has the kernel; a cell leads to both beside each other"
    )
    return Html(legend + sortable("rows", caption, columns, first, rest, above, below, "heat"))


def _shades() -> Iterator[str]:
    yield f"≤ {_HEAT[0]:g}"
    yield from (f"≤ {limit:g}" for limit in _HEAT[1:])
    yield f"> {_HEAT[-1]:g}"


def _heat_cell(found: Numbered, compared: Compared, side: int) -> Cell:
    row = found.row
    shown = matrix.cell(row, compared, side)
    cycles = compared.cycles[side]
    if row["members"][side] is None:
        return Cell(element("span", "-", class_="stop"), None)
    alone = not any(row["changes"])
    text = shown.cycles.strip("()") if alone else shown.cycles
    best = min((value for value in compared.cycles if value is not None), default=0.0)
    kind = "" if cycles is None or alone else f"heat{_heat(cycles, best)}"
    link = element("a", text, href=_address(found.number, side), tabindex="-1")
    parts = [element("b", link, "*") if shown.mark else link]
    if shown.change:
        parts.append(element("small", shown.change))
    return Cell(Html("".join(parts)), cycles if cycles is not None else None, f"{kind} best" if shown.mark else kind)


def _variants(sides: Sequence[c.Side]) -> list[tuple[str, list[Html]]]:
    """What heads the columns where the sides are variants that differ in several ways: compiler, flags, core, each
    with those side by side together that have the same."""
    variants = [side["variant"] for side in sides]
    if any(variant is None for variant in variants):
        return []
    named = [
        ("Compiler", [v["compiler"] if v else "" for v in variants]),
        ("Flags", [" ".join(v["flags"]) if v else "" for v in variants]),
        ("Core", [v["mcpu"] if v else "" for v in variants]),
    ]
    differ = [(title, values) for title, values in named if len(set(values)) > 1]
    found = []
    for title, values in differ if len(differ) > 1 else []:
        spans, start = [], 0
        for end in range(1, len(values) + 1):
            if end == len(values) or values[end] != values[start]:
                text = values[start] or "(none)"
                spans.append(element("th", text, scope="colgroup", colspan=str(end - start), class_="group"))
                start = end
        found.append((title, spans))
    return found
