"""OSACA's table: the cycles of each instruction on ports, critical path and longest loop-carried dependency."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from incc.report import types as t
from incc.views.layout import BOLD, MIN_TEXT, RED, YELLOW, Layout, unknown_legend
from incc.views.text import dependencies


def lines(unit: t.UnitReport, kernel: t.KernelReport, layout: Layout) -> Iterator[str]:
    """Yield a row for each instruction, and the sums.

    Unused ports have no column, and ports with the same cycles for every instruction share one. Where there is no room
    for instructions, the second column of places and the ports with the least load give way.
    """
    instructions = kernel.instructions
    together = everything = groups(kernel.instructions, kernel.resources)
    before, behind = dependencies.place_columns(unit, kernel)
    number = before.width
    mark = max((len(_mark(i)) + 1 for i in instructions if _mark(i)), default=0)
    room = layout.width - (number + 14 + mark) - MIN_TEXT if layout.width else None
    columns = _columns(together, kernel.resources, behind.width + 2 if behind else 0, room)
    together, heads, widths, least = columns.groups, columns.heads, columns.widths, columns.least
    behind = behind if columns.behind else None
    source = columns.behind
    styles = [YELLOW if kernel.resources[group[0]].busiest else "" for group in together]
    fine = least > 3

    def row(first: str, cells: list[str], path: str, chain: str, where: str) -> str:
        """Return a line up to its instruction."""
        loads = "".join(
            "  " + layout.paint(f"{cell:>{width}}", style)
            for cell, width, style in zip(cells, widths, styles, strict=True)
        )
        latencies = f"  {layout.paint(f'{path:>4}', BOLD)}  {layout.paint(f'{chain:>4}', RED)}"
        return f"{first:>{number}}{loads}{latencies}  {where:{source}}"

    room = number + sum(widths) + 2 * len(widths) + 14 + source
    yield from layout.wrap(
        "Cycles on each port, of the critical path (CP) and of the longest loop-carried dependency (LCD):"
    )
    *above, last = zip(*heads, strict=True) if heads else [()]
    for line in above:
        yield row("", list(line), "", "", "").rstrip()
    yield (
        row(before.title, list(last), "CP", "LCD", behind.title if behind else "")
        + " " * mark
        + (layout.cut("Instructions:", room + mark))
    )
    for i, instruction in enumerate(instructions):
        cells = [load(instruction.pressure[group[0]], fine) for group in together]
        path, chain = map(dependencies.latency, (instruction.critical_path_cycles, instruction.chain_cycles))
        if instruction.unknown:
            cells, path, chain = ["X"] * len(together), "X", "X"
        text = row(before.cells[i], cells, path, chain, behind.cells[i] if behind else "")
        yield text + f"{_mark(instruction):{mark}}" + layout.cut(instruction.text, room + mark)
    chains = kernel.chains
    sums = [load(kernel.resources[group[0]].load, fine) for group in together]
    longest = str(chains[0].latency) if chains else ""
    over = f"; LCD over {chains[0].iterations} iterations" if chains and chains[0].iterations > 1 else ""
    yield row("", sums, str(kernel.critical_path.cycles), longest, "") + " " * mark + f"total{over}"
    yield from _legend(kernel, layout)
    if left_out := [kernel.resources[p].name for group in everything if group not in together for p in group]:
        yield from layout.wrap(f"(no room for ports with less load: {', '.join(left_out)})")


class _Columns(msgspec.Struct, frozen=True):
    """The columns of a table."""

    groups: list[list[int]]
    """The ports that share each column."""
    heads: list[list[str]]
    widths: list[int]
    least: int
    """The least width of a column."""
    behind: int
    """The width of the second column of places, 0 without it."""


def _columns(
    together: Sequence[list[int]], resources: Sequence[t.ResourceReport], behind: int, room: int | None
) -> _Columns:
    """Return the columns that fit into the room, which includes that for `behind`."""
    together = list(together)
    while True:
        left = None if room is None else room - behind
        heads, widths, least = _fit([[resources[p].name for p in group] for group in together], left)
        if left is None or sum(widths) + 2 * len(widths) <= left or (not behind and len(together) < 2):
            return _Columns(together, heads, widths, least, behind)
        if not behind:
            together.remove(min(together, key=lambda group: resources[group[0]].load))
        behind = 0


def _fit(names: Sequence[Sequence[str]], room: int | None) -> tuple[list[list[str]], list[int], int]:
    """Return the lines of each column's head, the columns' widths and the least width, so that they fit into the room.

    A head is one line or, if that is too wide, a line for each of the names that share a column. None is unlimited
    room.
    """
    tallest = max((len(group) for group in names), default=1)
    in_line = [[_names(group)] for group in names]
    stacked = [[""] * (tallest - len(group)) + list(group) for group in names]
    for heads, least in ((in_line, 4), (in_line, 3), (stacked, 4), (stacked, 3), (in_line, 3)):
        widths = [max(least, *(len(line) for line in head)) for head in heads]
        if room is None or sum(widths) + 2 * len(widths) <= room:
            break
    return heads, widths, least


def _legend(kernel: t.KernelReport, layout: Layout) -> Iterator[str]:
    """Yield the meanings of the marks in the rows."""
    legend = [meaning for letter, meaning in _MARKS.items() if any(letter in i.remarks for i in kernel.instructions)]
    if legend:
        yield from layout.wrap(f"({'; '.join(legend)}{unknown_legend(kernel)})")
    elif kernel.unknown_instructions:
        yield from layout.wrap(f"({unknown_legend(kernel).removeprefix('; ')})")


def _names(names: Sequence[str]) -> str:
    """Return names in a row, with a common stem once: ALU0,3 for ALU0 and ALU3."""
    joined, before = "", ""
    for name in names:
        stem = name.rstrip("0123456789")
        joined += f",{name.removeprefix(stem) if stem == before and name != stem else name}"
        before = stem
    return joined[1:]


_MARKS = {
    "F": "F:\xa0macro-fused with the previous one",
    "E": "E:\xa0move eliminated",
    "Z": "Z:\xa0zero idiom",
    "L": "L:\xa0lacking on this core, figures of another",
}


def _mark(instruction: t.InstructionReport) -> str:
    return "".join(letter for letter in instruction.remarks if letter in _MARKS)


def groups(instructions: Sequence[t.InstructionReport], resources: Sequence[t.ResourceReport]) -> list[list[int]]:
    """Return the used resources, in groups that have the same cycles for every instruction."""
    by_pressure: dict[tuple[str, ...], list[int]] = {}
    for p, resource in enumerate(resources):
        if any(instruction.pressure[p] for instruction in instructions):
            shown = [f"{i.pressure[p]:.2f}" for i in instructions]
            by_pressure.setdefault((*shown, resource.kind, str(resource.busiest)), []).append(p)
    return list(by_pressure.values())


def load(cycles: float, fine: bool) -> str:
    """Return cycles on a port, nothing for none, with one decimal unless `fine`."""
    if f"{cycles:.2f}" == "0.00":
        return ""
    return f"{cycles:.2f}" if fine or cycles < 0.1 else f"{cycles:.1f}"
