"""The instructions of two kernels side by side, with their changes.

Beside them are their cycles on ports, on the critical path and on the longest loop-carried dependency.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from incc.comparison import types as c
from incc.report import types as t
from incc.views.comparison import cells
from incc.views.comparison.cells import NumberedRow
from incc.views.layout import BOLD, GREEN, RED, YELLOW, Layout
from incc.views.text import compact, dependencies

MARKS = {
    "same": (" ", ""),
    "registers": ("~", "other registers"),
    "operands": (":", "other operands"),
    "changed": ("|", "another instruction"),
    "added": (">", "only on the right"),
    "removed": ("<", "only on the left"),
    "moved": ("%", "at another place"),
}
"""The sign between two instructions, that of `diff -y` if there is one, and its meaning."""

STYLES = {"removed": (RED, ""), "added": ("", GREEN), "changed": (RED, GREEN), "operands": (YELLOW, YELLOW)}
"""The styles of both sides."""

ENOUGH = 30
"""The width of an instruction that has priority over optional columns. Most instructions fit into it."""


class _Column(msgspec.Struct, frozen=True, kw_only=True):
    """A column of one side, next to its instructions."""

    title: str
    cells: list[str]
    style: str = ""
    right: bool = True
    total: str = ""
    """The sum, below the cells."""

    @property
    def width(self) -> int:
        return max(len(text) for text in (self.title, self.total, *self.cells))

    def aligned(self, text: str) -> str:
        return f"{text:>{self.width}}" if self.right else f"{text:<{self.width}}"


def lines(comparison: c.ComparisonReport, numbered: NumberedRow, side: int, layout: Layout) -> Iterator[str]:
    """Yield the base's kernel of a row next to that of a side."""
    row = numbered.row
    a, b, change = cells.base(row), row.members[side], row.changes[side]
    assert b is not None
    assert change is not None
    head = f"[{numbered.number}] "
    names = f"{cells.called(comparison, row.base)} next to {cells.called(comparison, side)}"
    yield from layout.wrap(f"{cells.title(row, layout)}: {names}", head, " " * len(head), style=BOLD)
    if a.instructions is None or b.instructions is None or change.alignment is None:
        yield "The comparison has no instructions."
        return
    room = (layout.width - 3) // 2 if layout.width else 0
    left, right = (_half(member, room) for member in (a, b))
    # Both sides have the same columns, so that they can be compared.
    kept = [n for n, _ in enumerate(left) if n in _kept(left, a, room) and n in _kept(right, b, room)]
    shown = [[columns[n] for n in kept] for columns in (left, right)]
    texts = [[i.text.replace("\t", " ") for i in member.instructions or []] for member in (a, b)]
    longest = [max(map(len, column), default=0) for column in texts]
    widths = longest
    if room:
        fixed = sum(column.width + 1 for columns in shown for column in columns)
        widths = _shared(longest, max(layout.width - 3 - fixed, 2))

    def half(which: int, index: int | None, style: str) -> str:
        cells_of_row = [column.aligned("" if index is None else column.cells[index]) for column in shown[which]]
        parts = [layout.paint(text, column.style) for text, column in zip(cells_of_row, shown[which], strict=True)]
        text = "" if index is None else texts[which][index]
        width = widths[which]
        text = text if len(text) <= width else text[: max(width - 1, 0)] + "…"
        parts.append(layout.paint(text, style) + " " * (width - len(text)))
        return " ".join(parts)

    letters = [cells.letter(n) for n in (row.base, side)]
    first, last = _edge(letters, shown, widths, (a, b))
    yield first
    used = {}
    for aligned in change.alignment:
        kind = aligned.change
        mark, meaning = MARKS[kind]
        if meaning:
            used[mark] = meaning
        styles = STYLES.get(kind, ("", ""))
        yield (f"{half(0, aligned.a, styles[0])} {layout.paint(mark, BOLD)} {half(1, aligned.b, styles[1])}".rstrip())
    yield last
    legend = [f"{mark}\xa0 {meaning}".replace(" ", "\xa0") for mark, meaning in used.items()]
    if legend:
        yield from layout.wrap(f"({'; '.join(legend)})")


def _shared(wanted: Sequence[int], room: int) -> list[int]:
    """Return the widths of both sides' instructions: half the room each, plus the room that the other does not need."""
    a, b = wanted
    if a + b <= room:
        return [a, b]
    a, b = min(a, max(room // 2, room - b)), min(b, max(room - room // 2, room - a))
    return [a, b]


def _half(member: c.RowMember, room: int) -> list[_Column]:
    """Return the columns of one side: line, place in the source, ports, critical path, loop-carried dependency.

    Each port has a column if there is room, else all ports share one.
    """
    instructions = member.instructions or []
    title, lines = dependencies.line_numbers(instructions, compiled=True)
    number = _Column(title=title, cells=[str(line) for line in lines])
    sources = dependencies.source_lines(instructions, member.source) or [""] * len(instructions)
    each = _ports(member, instructions)
    longest = max((len(i.text) for i in instructions), default=0)
    fits = not room or sum(c.width + 1 for c in (number, *each)) + 12 + min(longest, ENOUGH) <= room
    together = _Column(title="Ports", cells=[_short(i) for i in instructions], right=False)
    # Always as many columns, so that both sides can be matched up.
    ports = _joined(each, len(instructions)) if fits else together
    paths = [_path(i, i.critical_path_cycles) for i in instructions]
    chains = [_path(i, i.chain_cycles) for i in instructions]
    path, chain = (f"{value:.4g}" for value in (member.figures.critical_path, member.figures.loop_carried))
    return [
        number,
        _Column(title="Source", cells=sources, right=False),
        ports,
        _Column(title="CP", cells=paths, style=BOLD, total=path),
        _Column(title="LCD", cells=chains, style=RED, total=chain),
    ]


ORDER = (1, 2, 0, 3, 4)
"""The columns of a side in the order in which they go without room: source, ports, line, CP, LCD."""


def _kept(columns: Sequence[_Column], member: c.RowMember, room: int) -> set[int]:
    """Return the indices of the columns that fit next to the instructions."""
    kept = {n for n, column in enumerate(columns) if any(column.cells)}
    longest = max((len(i.text) for i in member.instructions or []), default=0)
    for n in ORDER:
        if not room or sum(columns[m].width + 1 for m in kept) + min(longest, ENOUGH) <= room:
            break
        kept.discard(n)
    return kept


def _ports(member: c.RowMember, instructions: Sequence[t.InstructionReport]) -> list[_Column]:
    """Return a column for each port or group of ports with equal load, as in the compact table."""
    resources = member.resources
    if resources is None:
        return []
    return [
        _Column(
            title=",".join(resources[p].name for p in group),
            cells=["X" if i.unknown else compact.load(i.pressure[group[0]], True) for i in instructions],
        )
        for group in compact.groups(instructions, resources)
    ]


def _joined(columns: Sequence[_Column], rows: int) -> _Column:
    title = " ".join(column.aligned(column.title) for column in columns)
    texts = [" ".join(column.aligned(column.cells[n]) for column in columns) for n in range(rows)]
    return _Column(title=title, cells=texts, right=False)


def _short(instruction: t.InstructionReport) -> str:
    """Return the ports that an instruction may use: p01 for one µop on either of two, 2*p23 for two µops."""
    if instruction.unknown:
        return "X"
    return "+".join(part.removeprefix("1*") for part in instruction.ports.split("+"))


def _path(instruction: t.InstructionReport, cycles: int | None) -> str:
    return "X" if instruction.unknown else dependencies.latency(cycles)


def _edge(
    letters: Sequence[str], shown: Sequence[Sequence[_Column]], widths: Sequence[int], members: Sequence[c.RowMember]
) -> Iterator[str]:
    """Yield the first and the last line: titles with the sides' letters, and sums."""
    for last in (False, True):
        halves = []
        for letter, columns, width, member in zip(letters, shown, widths, members, strict=True):
            parts = [column.aligned(column.total if last else column.title) for column in columns]
            text = f"{member.figures.cycles:.2f} cycles" if last else letter
            halves.append(" ".join([*parts, f"{text[:width]:<{width}}"]))
        yield "   ".join(halves).rstrip()
