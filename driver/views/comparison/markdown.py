"""A comparison as Markdown, for a pull request's comment: sums, a table of what changed, causes and assembly to open.

What stands in names is nobody's to interpret: as code, or with what Markdown, HTML and GitHub read as theirs escaped.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from incc.driver.report import wording
from incc.driver.views.comparison import cells, changes
from incc.driver.views.comparison.cells import Show
from incc.driver.views.comparison.text import sums
from incc.driver.views.layout import Layout, count, harmless

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from incc.driver.comparison import types as c
    from incc.driver.views.comparison.cells import Numbered

LIMIT = 65_536
"""Characters that GitHub takes in a comment."""

MOST_ROWS = 20
"""Rows of the table, unless it is said how many."""

MOST_OPENED = 10
"""Rows with causes and assembly to open."""

_MARKS = {"faster": "🟢", "slower": "🔴", "unknown": "⚪"}

_ALL = Show()


def render(comparison: c.Comparison, show: Show = _ALL, limit: int = LIMIT) -> str:
    """The comparison in at most `limit` characters: what is left out is said at the end."""
    layout = Layout(0, False)
    layout.name_paths(cells.files(comparison))
    rows = cells.matched(comparison, show)
    parts = [*_heading(comparison, layout), *_table(comparison, rows, layout, show), *_gate(comparison)]
    tail = [*_only(comparison, layout, show), *_notes(comparison)]
    opened = rows if show.detail else rows[:MOST_OPENED]
    text = "\n\n".join([*parts, *tail]) + "\n"
    room = limit - 200  # for the note
    if len(text) > room:
        return _cut(text, room)
    kept: list[str] = []
    for found in opened:
        detail = _detail(comparison, found, layout, show)
        if len(text) + len(detail) + 2 > room:
            break
        kept.append(detail)
        text = "\n\n".join([*parts, *kept, *tail]) + "\n"
    if len(kept) < len(opened):
        left = count(len(opened) - len(kept), "more kernel")
        text += f"\nFigures and causes of {left} have no room in a comment.\n"
    return text


def _cut(text: str, room: int) -> str:
    """So much of a text as there is room for, in whole lines."""
    return text[: text.rfind("\n", 0, room) + 1] + "\nThe rest has no room in a comment.\n"


def _heading(comparison: c.Comparison, layout: Layout) -> Iterator[str]:
    model = cells.common_model(comparison)
    sides = []
    for number, one in enumerate(comparison["sides"]):
        label = "" if one["label"] == cells.letter(number) else f" {code(one['label'])}"
        what = cells.side_text(one, model["name"] if model else "", layout)
        sides.append(f"- **{cells.letter(number)}**{label}: {prose(what)}")
    for side, totals in enumerate(comparison["totals"]):
        if totals is not None and not comparison["sides"][side]["problem"]:
            lead = f"{cells.letter(side)}: " if len(comparison["sides"]) > 2 else ""
            yield f"**{prose(lead + sums(comparison, side))}**"
    if comparison["where"]:
        yield f"Kernels for which {code(comparison['where'].strip())}."
    yield "\n".join(sides)
    if model:
        title = prose(model["title"] or model["name"])
        yield f"Cycles of {title}, model {code(model['name'])} {prose(model['version'])}."


def _table(comparison: c.Comparison, rows: Sequence[Numbered], layout: Layout, show: Show) -> Iterator[str]:
    if not rows:
        return
    shown = rows[: show.top or MOST_ROWS]
    pair = len(comparison["sides"]) == 2
    lines = list(_changes(comparison, shown, layout) if pair else _matrix(comparison, shown, layout))
    if len(shown) < len(rows):
        lines += ["", f"… and {count(len(rows) - len(shown), 'more row')}."]
    yield "\n".join(lines)


def _line(texts: Sequence[str]) -> str:
    return f"| {' | '.join(texts)} |"


def _changes(comparison: c.Comparison, rows: Sequence[Numbered], layout: Layout) -> Iterator[str]:
    yield _line(["", "Loop", "A", "B", "Change", "Cycles of", "Bound by", "Why"])
    yield _line(["--", "--", "--:", "--:", "--:", "--", "--", "--"])
    for found in rows:
        row, a = found.row, cells.base(found.row)
        _, b, change = next(cells.pairs(row))
        doubt = cells.doubt(change)
        yield _line(
            [
                _MARKS.get(change["outcome"], ""),
                _loop(row, layout) + (f" ({doubt})" if doubt else ""),
                *cells.both(row, b, change),
                changes.outcome(change),
                cells.BASES[change["basis"]],
                prose(cells.arrow(a["limit"], b["limit"])),
                prose(change["causes"][0]["text"]) if change["causes"] else "",
            ]
        )


def _matrix(comparison: c.Comparison, rows: Sequence[Numbered], layout: Layout) -> Iterator[str]:
    sides = range(len(comparison["sides"]))
    yield _line(["Loop", "Cycles of", *(cells.letter(side) for side in sides)])
    yield _line(["--", "--", *("--:" for _ in sides)])
    for found in rows:
        row, compared = found.row, cells.compared(found.row)
        texts = []
        for side in sides:
            change, cycles = row["changes"][side], compared.cycles[side]
            member = row["members"][side]
            text = cells.taken(member, cycles) if member and cycles is not None else "–"
            text = f"**{text}**" if side in row["best"] else text
            texts.append(f"{text} {cells.relative(change['ratio'])}" if change and cycles is not None else text)
        yield _line([_loop(row, layout), "an element" if compared.basis == "element" else "an iteration", *texts])


def _loop(row: c.Row, layout: Layout) -> str:
    return f"{code(cells.name(row))} {prose(cells.place(row, layout))}"


def _gate(comparison: c.Comparison) -> Iterator[str]:
    gate = comparison["gate"]
    if gate is None:
        return
    condition = code(gate["condition"].strip())
    if not gate["offenders"]:
        yield f"✅ No kernel for which {condition}."
        return
    lines = [f"❌ **{count(len(gate['offenders']), 'kernel')}** for which {condition}:", ""]
    for offender in gate["offenders"][: 2 * MOST_ROWS]:
        where = f" ({cells.letter(offender['side'])})" if len(comparison["sides"]) > 2 else ""
        lines.append(f"- {prose(offender['text'])}{where}")
    if len(gate["offenders"]) > 2 * MOST_ROWS:
        lines.append(f"- … and {len(gate['offenders']) - 2 * MOST_ROWS} more")
    yield "\n".join(lines)


def _detail(comparison: c.Comparison, found: Numbered, layout: Layout, show: Show) -> str:
    """A row's causes and figures, and its assembly, in a part to open."""
    row, a = found.row, cells.base(found.row)
    heads = []
    lines: list[str] = []
    for side, b, change in cells.pairs(row):
        lead = f"{cells.letter(side)}: " if len(comparison["sides"]) > 2 else ""
        heads.append(f"{lead}{changes.outcome(change)}")
        lines += [prose(changes.sentence(lead + change["text"])), ""]
        lines += [f"- {prose(cause)}" for cause in changes.causes(change)]
        figures = cells.differing(a, b, change)
        per = cells.per(a, b, change)
        for on_basis, what in ((True, changes.sentence(per).rstrip(".")), (False, "The loop")):
            texts = [f"{f.name} {f.a} → {f.b}" for f in figures if f.on_basis == on_basis]
            if texts:
                lines.append(f"- {what}: {', '.join(texts)}")
        lines.append("")
        if _wants_assembly(row, show):
            lines += _assembly(a, b, change)
    title = f"<code>{html(cells.name(row))}</code> {html(cells.place(row, layout))}: {html(', '.join(heads))}"
    body = "\n".join(lines).rstrip()
    return f"<details><summary>{title}</summary>\n\n{body}\n\n</details>"


def _wants_assembly(row: c.Row, show: Show) -> bool:
    return show.side_by_side is not None and (
        not show.side_by_side or any(cells.fits(row, choice) for choice in show.side_by_side)
    )


def _assembly(a: c.Member, b: c.Member, change: c.Change) -> Iterator[str]:
    """Both kernels' instructions as a diff."""
    if a["instructions"] is None or b["instructions"] is None or change["alignment"] is None:
        return
    lines = []
    gone: list[str] = []
    new: list[str] = []
    for aligned in change["alignment"]:
        one = _instruction(a, aligned["a"])
        other = _instruction(b, aligned["b"])
        if aligned["change"] == "same" and one is not None:
            lines += [*gone, *new, f"  {one}"]
            gone, new = [], []
            continue
        gone += [f"- {one}"] if one is not None else []
        new += [f"+ {other}"] if other is not None else []
    lines += [*gone, *new]
    # More backticks than there are next to each other.
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", "\n".join(lines))), default=0))
    yield from (f"{fence}diff", *lines, fence, "")


def _instruction(member: c.Member, index: int | None) -> str | None:
    if index is None or member["instructions"] is None:
        return None
    return _line_of(member["instructions"][index]["text"])


def _only(comparison: c.Comparison, layout: Layout, show: Show) -> Iterator[str]:
    for side in range(len(comparison["sides"])):
        rows = cells.unmatched(comparison, side, show)
        if rows:
            aside = {} if show.everything else cells.aside(rows)
            rows = rows if show.everything else [f for f in rows if cells.base(f.row)["role"] in ("", "main")]
            shown = rows if show.everything else rows[:MOST_ROWS]
            parts = [_loop(found.row, layout) for found in shown]
            parts += [f"{len(rows) - len(shown)} more"] if len(shown) < len(rows) else []
            parts += [count(number, role) for role, number in aside.items()]
            yield f"Only in {cells.letter(side)}: {wording.listed(parts)}."


def _notes(comparison: c.Comparison) -> Iterator[str]:
    notes = list(cells.notes(comparison))
    if notes:
        yield "\n".join(f"- {prose(note)}" for note in notes)


# --- escapes ----------------------------------------------------------------------------------------------------------

_BREAK = "\u200b"
"""A blank of no width: what mentions somebody, or refers to something, does not with it."""

_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
_HTML = str.maketrans({**_ENTITIES, "#": f"#{_BREAK}", "`": "&#96;"})
_PROSE = str.maketrans(
    _ENTITIES
    | {x: f"\\{x}" for x in "*_[]~$"}
    | {"#": f"\\#{_BREAK}"}
    # A backslash in front of these does not help everywhere: not behind another one in a table.
    | {x: f"&#{ord(x)};" for x in "\\|`"}
)
# What begins lists and underlines headings does so at the start.
_START = re.compile(r"^([0-9]*)([-=]|[+.)](?=\s|$))")


def prose(text: str) -> str:
    """A text in which nothing is Markdown, HTML, a mention, a reference or a link."""
    return _unlinked(_START.sub(r"\1\\\2", _line_of(text).strip().translate(_PROSE)))


def html(text: str) -> str:
    """The same where HTML is written and Markdown is not read."""
    return _unlinked(_line_of(text).translate(_HTML))


def code(text: str) -> str:
    """A text as code."""
    line = _line_of(text)
    if not line.strip():
        return ""
    # In backticks nothing can be escaped.
    return f"<code>{prose(line)}</code>" if any(x in line for x in "\\|`") else f"`{line}`"


def _unlinked(text: str) -> str:
    return text.replace("@", f"@{_BREAK}").replace("://", f":{_BREAK}//").replace("www.", f"www{_BREAK}.")


def _line_of(text: str) -> str:
    """A text in one line, without control characters, and of characters that can be written."""
    return harmless(text.replace("\n", " ").replace("\r", " "), False).encode("utf-8", "replace").decode()
