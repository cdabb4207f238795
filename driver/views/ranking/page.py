"""A ranking as one self-contained HTML page: the table sorts, searches and is filtered by hints and limits, and a row
opens with its verdict, its advice and where its kernels come from.

Rows beyond MOST stand in a template until they are asked for: a build of ten thousand kernels opens at once.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from incc.driver.views.html import frame
from incc.driver.views.html.table import Cell, Column, Row, sortable
from incc.driver.views.layout import Layout, count
from incc.driver.views.page import Html, element, script_json
from incc.driver.views.ranking import cells

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from incc.driver.ranking import types as r

MOST = 1000
"""Rows that are in the table when the page opens."""

MOST_FILTERS = 12
"""Hints that have a button, those of most rows."""

_STYLES = ("page.css", "table.css", "kernel.css")
_SCRIPTS = ("dom.js", "table.js")


def render(ranking: r.Ranking) -> str:
    """The page of a ranking."""
    layout = Layout(0, False)
    layout.name_paths(cells.files(ranking))
    rows = ranking["rows"]
    fails = {o["row"]: gate["fails"] for gate in ranking["gates"] for o in gate["offenders"]}
    title = cells.summary(ranking).rstrip(".")
    scripts = [
        Html(f'<script type="application/json" id="data-{n}">{script_json(_data(row, ranking, layout))}</script>\n')
        for n, row in enumerate(rows, 1)
    ]
    body = Html(
        element(
            "main",
            element(
                "section",
                element("h1", title, id="rows-title", tabindex="-1"),
                *_heading(ranking),
                *_gates(ranking),
                *([_group_table(ranking, layout)] if ranking["by"] and rows else []),
                *([_filters(rows, fails), _table(ranking, fails, layout)] if rows else []),
                id="summary",
            ),
            frame.part("row.html", __package__),
            id="content",
        )
        + "".join(scripts)
    )
    return frame.whole_page(
        title,
        f"{ranking['tool']['name']} {ranking['tool']['version']}",
        body,
        [*map(frame.part, _STYLES), frame.part("ranking.css", __package__)],
        [*map(frame.part, _SCRIPTS), frame.part("ranking.js", __package__)],
    )


def _heading(ranking: r.Ranking) -> Iterator[Html]:
    if ranking["where"]:
        yield element("p", f"Kernels for which {ranking['where'].strip()}.")
    for sentence in cells.hotness(ranking):
        yield element("p", sentence)
    if wholly := cells.wholly(ranking):
        yield element("p", wholly, class_="total")
    if wanted := cells.lines_wanted(ranking):
        yield element("p", wanted)
    gaps = list(cells.gaps(ranking))
    if gaps:
        yield element("ul", *(element("li", text) for text in gaps), class_="gaps")


def _gates(ranking: r.Ranking) -> Iterator[Html]:
    for gate in ranking["gates"]:
        condition = gate["condition"].strip()
        found = gate["offenders"]
        if not found:
            yield element("p", f"No kernel for which {condition}.")
            continue
        yield element("h2", f"{count(len(found), 'kernel')} for which {condition}", class_="gate")
        items = [
            element("li", element("a", f"[{o['row'] + 1}]", href=f"#r{o['row'] + 1}"), f" {o['text']}")
            for o in found[:20]
        ]
        items += [element("li", f"and {len(found) - 20} more, marked in the table")] if len(found) > 20 else []
        yield element("ul", *items, class_="offenders")


def _kinds(row: r.Row, fails: bool) -> list[str]:
    """The filters that a row passes."""
    kinds = [f"hint-{rule}" for rule in dict.fromkeys(row["rules"])]
    kinds += ["look"] if row["look"] else []
    kinds += ["hot"] if row["weight"] and row["weight"]["share"] >= 0.001 else []
    return [*kinds, "fails"] if fails else kinds


def _filters(rows: Sequence[r.Row], fails: dict[int, bool]) -> Html:
    """Buttons that choose among the rows, with the numbers of these."""
    numbers = Counter(kind for n, row in enumerate(rows) for kind in _kinds(row, n in fails))
    words = {"fails": "Fails", "hot": "Runs", "look": "Worth a look"}
    hints = [kind for kind, _ in numbers.most_common() if kind.startswith("hint-")][:MOST_FILTERS]
    chosen = [(kind, words[kind]) for kind in words if numbers[kind]]
    chosen += [(kind, kind.removeprefix("hint-").replace("-", " ")) for kind in hints]
    buttons = [
        element("button", f"{text} {numbers[kind]}", type="button", data_filter=kind, data_count=str(numbers[kind]))
        for kind, text in chosen
    ]
    number = str(len(rows))
    every = element("button", f"All {number}", type="button", data_filter="all", data_count=number)
    return element("div", every, *buttons, class_="filters", role="group", aria_label="Rows to show")


def _table(ranking: r.Ranking, fails: dict[int, bool], layout: Layout) -> Html:
    columns = (
        Column(heading="#", number=True, meaning="Number of the row, in every view the same"),
        Column(heading="Function", number=False, meaning="The function that the loop is written in", code=True),
        Column(heading="Line", number=False, meaning="Where the loop is", code=True),
        Column(
            heading="Role",
            number=False,
            meaning="What part it has in its function; nothing for the main loop",
            spare=True,
        ),
        Column(heading="Core", number=False, meaning="The machine model", spare=True),
        Column(heading="Time", number=True, meaning="Its part of the time, by the hotness that was given"),
        Column(heading="Saves", number=True, meaning="The part of the time that its headroom is"),
        Column(heading="Cycles", number=True, meaning="Predicted cycles per iteration, or the two ends of their range"),
        Column(heading="/elem.", number=True, meaning="Predicted cycles per element of the source's loop", spare=True),
        Column(
            heading="Room", number=True, meaning="The part of its cycles that the best of what was tried takes away"
        ),
        Column(heading="If", number=False, meaning="What that is", spare=True),
        Column(heading="Bound by", number=False, meaning="What limits it"),
        Column(
            heading="Vectors",
            number=False,
            meaning="Width of its vectors, and the share of operations in them",
            spare=True,
        ),
        Column(heading="Copies", number=True, meaning="How many kernels of the build are this one", spare=True),
        Column(
            heading="Codes", number=False, meaning="How many codes there are of the same loop of the source", spare=True
        ),
        Column(heading="Fails", number=False, meaning="Whether a condition holds for it"),
        Column(heading="Worth a look", number=False, meaning="Rules of its hints, causes of a wide range"),
    )
    hot = ranking["hotness"] is not None
    rows = [_row(n, row, ranking, hot, fails.get(n - 1), layout) for n, row in enumerate(ranking["rows"], 1)]
    return sortable("rows", "What is worth a look first", columns, rows[:MOST], rows[MOST:])


def _row(number: int, row: r.Row, ranking: r.Ranking, hot: bool, fails: bool | None, layout: Layout) -> Row:
    weight = row["weight"]
    mark = "" if fails is None else element("strong", "✗ fails" if fails else "warns")
    shown = (
        Cell(str(number), number),
        Cell(element("a", row["name"], href=f"#r{number}"), row["name"]),
        Cell(cells.place(row, layout)),
        Cell(cells.role(row)),
        Cell(cells.model(row, ranking)),
        Cell(cells.weight(row) if hot else "", weight["share"] if weight else None),
        Cell(cells.saved(row) if hot else "", weight["saved"] if weight else None),
        Cell(cells.cycles(row), row["cycles"]),
        Cell(cells.element(row), row["cycles_per_element"]),
        Cell(cells.headroom(row), row["headroom"]["share"]),
        Cell(cells.without(row)),
        Cell(row["limit"]),
        Cell(row["vector"]),
        Cell(cells.copies(row), float(row["copies"])),
        Cell(cells.codes(row)),
        Cell(mark),
        Cell(cells.look(row)),
    )
    words = [row["function"], row["function_name"], row["kernel_id"], cells.place_of(row)["file"], row["verdict"]]
    words += [member["source"] for member in row["members"][:3]]
    return Row(shown, " ".join(dict.fromkeys(filter(None, words))), " ".join(_kinds(row, fails is not None)))


def _group_table(ranking: r.Ranking, layout: Layout) -> Html:
    """A plain table of groups, above that of rows."""
    hot = ranking["hotness"] is not None
    heads = [cells.GROUPED[ranking["by"]], "Kernels", "Loops", *(["Time", "Saves"] if hot else []), "Room"]
    body = []
    for group in ranking["groups"][:100]:
        first = ranking["rows"][group["first"]]
        texts = [str(group["rows"]), str(group["loops"])]
        texts += [cells.share(group["weight"]), cells.share(group["saved"])] if hot else []
        texts += [f"{100 * group['headroom']:.0f} %" if group["headroom"] else "-"]
        link = element("a", first["name"], href=f"#r{group['first'] + 1}")
        body.append(
            element(
                "tr",
                element("th", cells.group_key(ranking, group, layout), scope="row"),
                *(element("td", text, class_="number") for text in texts),
                element("td", link, class_="code"),
            )
        )
    head = element("tr", *(element("th", text, scope="col") for text in (*heads, "Most worth a look")))
    table = element("table", element("thead", head), element("tbody", *body), class_="groups")
    return element("div", table, class_="wide", role="region", tabindex="0", aria_label="Groups")


def _data(row: r.Row, ranking: r.Ranking, layout: Layout) -> dict[str, Any]:
    """What a row is drawn from: texts alone."""
    weight = row["weight"]
    facts = [
        ["Function", row["function_name"] or row["function"] or row["name"]],
        ["Core", row["model"]],
        ["Role", row["role"]],
        ["Bound by", row["limit"]],
        ["Headroom", f"{cells.headroom(row)} {row['headroom']['text']}" if row["headroom"]["share"] else ""],
        ["Flags to try", " ".join(row["flags"])],
        ["Kernels", f"{row['copies']} with this code" if row["copies"] > 1 else ""],
        ["Codes", f"{row['variants']} of this loop of the source" if row["variants"] > 1 else ""],
    ]
    if weight:
        ways = ", ".join(weight["by"])
        found = f" (found by {ways})" if ways else ""
        facts.append(["Time", f"{cells.weight(row)}, of which {cells.saved(row)} might be saved{found}"])
        if weight["iterations"] is not None:
            facts.append(["Iterations", f"{weight['iterations']:.0f}"])
    members = [[m["source"], m["output"], m["folder"], m["kernel_id"], m["report"]] for m in row["members"]]
    return {
        "title": f"{row['name']}, {cells.place(row, layout)}",
        "verdict": row["verdict"],
        "advice": row["advice"],
        "facts": [fact for fact in facts if fact[1]],
        "members": members,
        "more": row["copies"] - len(members),
    }
