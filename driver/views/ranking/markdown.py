"""A ranking as Markdown, for a pull request's comment or a job's summary."""

from __future__ import annotations

from typing import TYPE_CHECKING

from incc.driver.views.comparison.markdown import LIMIT, code, html, prose
from incc.driver.views.layout import Layout, count
from incc.driver.views.ranking import cells

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from incc.driver.ranking import types as r

MOST_OPENED = 10
"""Rows with verdicts and advice to open."""


def render(ranking: r.Ranking, top: int = 25, limit: int = LIMIT) -> str:
    """The ranking with at most `top` rows (0: all), in at most `limit` characters: what is left out is said."""
    layout = Layout(0, False)
    layout.name_paths(cells.files(ranking))
    while True:
        text = _text(ranking, layout, top)
        number = len(ranking["groups"] if ranking["by"] else ranking["rows"])
        shown = min(top or number, number)
        if len(text) <= limit or shown <= 1:
            break
        top = min(shown - 1, max(1, shown * limit // len(text)))
    if len(text) <= limit:
        return text
    return text[: text.rfind("\n", 0, limit - 100) + 1] + "\nThe rest has no room in a comment.\n"


def _text(ranking: r.Ranking, layout: Layout, top: int) -> str:
    parts = [f"**{prose(cells.summary(ranking))}**"]
    parts += [prose(sentence) for sentence in (*cells.hotness(ranking), *cells.gaps(ranking))]
    if ranking["where"]:
        parts.append(f"Kernels for which {code(ranking['where'].strip())}:")
    rows = ranking["groups"] if ranking["by"] else ranking["rows"]
    if rows:
        lines = list(_groups(ranking, layout, top) if ranking["by"] else _table(ranking, layout, top))
        if top and len(rows) > top:
            lines += ["", f"… and {count(len(rows) - top, 'more group' if ranking['by'] else 'more row')}."]
        parts.append("\n".join(lines))
    else:
        parts.append("No kernel.")
    if wholly := cells.wholly(ranking):
        parts.append(prose(wholly))
    if wanted := cells.lines_wanted(ranking):
        parts.append(prose(wanted))
    parts += _gates(ranking)
    if not ranking["by"]:
        parts += _opened(ranking, layout, top)
    return "\n\n".join(parts) + "\n"


def _line(texts: Sequence[str]) -> str:
    return f"| {' | '.join(texts)} |"


def _columns(ranking: r.Ranking, titles: Sequence[tuple[str, bool]]) -> Iterator[str]:
    yield _line([title for title, _ in titles])
    yield _line(["--:" if number else "--" for _, number in titles])


def _table(ranking: r.Ranking, layout: Layout, top: int) -> Iterator[str]:
    hot = ranking["hotness"] is not None
    cores = len(ranking["totals"]["models"]) > 1
    titles = [("#", True), ("Loop", False)]
    titles += [("Core", False)] if cores else []
    titles += [("Time", True), ("Saves", True)] if hot else []
    titles += [("Cycles", True), ("Room", True), ("If", False), ("Bound by", False), ("Worth a look", False)]
    yield from _columns(ranking, titles)
    for number, row in enumerate(ranking["rows"][: top or None], 1):
        name = " ".join(filter(None, (code(row["name"]), prose(cells.place(row, layout)), cells.codes(row))))
        parts = [str(number), f"{name} {prose(cells.role(row))}".strip()]
        parts += [prose(row["model"])] if cores else []
        parts += [cells.weight(row), cells.saved(row)] if hot else []
        parts += [cells.cycles(row), cells.headroom(row), prose(cells.without(row))]
        yield _line([*parts, prose(row["limit"]), prose(cells.look(row))])


def _groups(ranking: r.Ranking, layout: Layout, top: int) -> Iterator[str]:
    hot = ranking["hotness"] is not None
    titles = [(cells.GROUPED[ranking["by"]], False), ("Kernels", True), ("Loops", True)]
    titles += [("Time", True), ("Saves", True)] if hot else []
    yield from _columns(ranking, [*titles, ("Room", True), ("Most worth a look", False)])
    for group in ranking["groups"][: top or None]:
        first = ranking["rows"][group["first"]]
        parts = [prose(cells.group_key(ranking, group, layout)), str(group["rows"]), str(group["loops"])]
        parts += [cells.share(group["weight"]), cells.share(group["saved"])] if hot else []
        parts += [f"{100 * group['headroom']:.0f} %" if group["headroom"] else "-"]
        yield _line([*parts, f"{code(first['name'])} {prose(cells.place(first, layout))}"])


def _gates(ranking: r.Ranking) -> Iterator[str]:
    for gate in ranking["gates"]:
        condition = code(gate["condition"].strip())
        if not gate["offenders"]:
            yield f"No kernel for which {condition}."
            continue
        mark = "🔴" if gate["fails"] else "⚠️"
        head = f"{mark} {count(len(gate['offenders']), 'kernel')} for which {condition}:"
        shown = gate["offenders"][:MOST_OPENED]
        items = [f"- {prose(offender['text'])}" for offender in shown]
        more = [f"- and {len(gate['offenders']) - len(shown)} more"] if len(shown) < len(gate["offenders"]) else []
        yield "\n".join([head, "", *items, *more])


def _opened(ranking: r.Ranking, layout: Layout, top: int) -> Iterator[str]:
    for row in ranking["rows"][: min(top or MOST_OPENED, MOST_OPENED)]:
        if not row["advice"]:
            continue
        title = f"<code>{html(row['name'])}</code> {html(cells.place(row, layout))}"
        lines = [prose(row["verdict"]), "", *(f"- {prose(text)}" for text in row["advice"])]
        yield f"<details><summary>{title}</summary>\n\n{chr(10).join(lines)}\n\n</details>"
