"""Critical path and loop-carried dependencies, as OSACA shows them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from incc.report import types as t
from incc.views.layout import BOLD, RED, Layout, cycles

MAX_CHAINS = 10
"""Chains that are listed; the report has all of them."""


def lines(unit: t.UnitReport, kernel: t.KernelReport, layout: Layout) -> Iterator[str]:
    """Yield the cycles that each instruction adds to both, and the chains."""
    instructions = kernel.instructions
    chains = kernel.chains
    yield from layout.wrap("Critical path (CP) and longest loop-carried dependency (LCD), in cycles:")
    first, second = place_columns(unit, kernel)
    width = first.width
    column = second.width + 2 if second else 0
    heading = f"{second.title:{column}}" if second else ""
    yield f"{first.title:>{width}}      CP     LCD   {heading}Instructions:"
    for number, instruction in zip(first.cells, instructions, strict=True):
        path, chain = map(latency, (instruction.critical_path_cycles, instruction.chain_cycles))
        if instruction.unknown:
            path = chain = "X"
        row = f"{number:>{width}}  {layout.paint(f'{path:>6}', BOLD)}  {layout.paint(f'{chain:>6}', RED)}   "
        row += f"{second.cells[instruction.index]:{column}}" if second else ""
        yield row + layout.cut(instruction.text, width + 19 + column)
    longest = f"{chains[0].latency}" if chains else "-"
    yield f"{'':{width}}  {kernel.critical_path.cycles:>6}  {longest:>6}   total"
    if kernel.unknown_instructions:
        yield from layout.wrap("(X: not in the model, excluded from all totals)")
    yield ""
    if not chains:
        yield "No loop-carried dependencies."
        return
    yield "Loop-carried dependencies, longest first:"
    title, numbers = line_numbers(kernel.instructions, is_compiled(unit, kernel))
    lines = {"Line": "lines", "asm": "asm"}.get(title, "instructions")
    yield f"  Cycles/it.  Latency  Iterations  Through ({lines})"
    for rank, lcd in enumerate(chains[:MAX_CHAINS]):
        ratio = cycles(lcd.cycles_per_iteration.cycles)
        row = f"  {ratio:>10}  {lcd.latency:>7}  {lcd.iterations:>10}  "
        where = ", ".join(str(numbers[i]) for i in lcd.instructions)
        text = f"{', '.join(lcd.through)} ({where})"
        yield from layout.wrap(text, row, " " * len(row), style=RED if rank == 0 else "")
    if len(chains) > MAX_CHAINS:
        yield f"  and {len(chains) - MAX_CHAINS} more that are not longer"
    if not kernel.chains_complete:
        yield from layout.wrap("There are more chains than the search lists; the longest is among these.", "  ", "  ")


class PlaceColumn(msgspec.Struct, frozen=True):
    """A column with the places of instructions."""

    title: str
    cells: list[str]

    @property
    def width(self) -> int:
        return max(map(len, (self.title, *self.cells)))


def place_columns(unit: t.UnitReport, kernel: t.KernelReport) -> tuple[PlaceColumn, PlaceColumn | None]:
    """Return the columns before figures and before texts of instructions.

    They have the lines of the source and those of the assembly, the latter alone if the source is unknown. Machine
    code has numbers of instructions, and lines of its source if there are several.
    """
    title, numbers = line_numbers(kernel.instructions, is_compiled(unit, kernel))
    own = PlaceColumn(f"{title:>4}", [str(number) for number in numbers])
    lines = source_lines(kernel.instructions, kernel.source)
    if title == "asm":
        return (PlaceColumn("Line", lines), PlaceColumn(title, own.cells)) if any(lines) else (own, None)
    several = len({(at.file, at.line) for i in kernel.instructions if (at := i.source)}) > 1
    return own, PlaceColumn("Source", lines) if several else None


def is_compiled(unit: t.UnitReport, kernel: t.KernelReport) -> bool:
    """Return True for assembly that a compiler wrote: of a source that was compiled, or with lines of one."""
    return bool(unit.source) or bool(kernel.source and any(i.line for i in kernel.instructions))


def line_numbers(instructions: Sequence[t.InstructionReport], compiled: bool) -> tuple[str, list[int]]:
    """Return a title and a number for each instruction: its line, or its index in machine code without lines.

    The title of lines that a compiler wrote is "asm".
    """
    if any(instruction.line for instruction in instructions):
        return "asm" if compiled else "Line", [instruction.line for instruction in instructions]
    return "No.", [instruction.index for instruction in instructions]


def source_lines(instructions: Sequence[t.InstructionReport], own: t.SourceLocation | None) -> list[str]:
    """Return the line of the source for each instruction, with the file unless it is that of `own`."""
    texts = []
    for place in [instruction.source for instruction in instructions]:
        file = "" if not place or (own and place.file == own.file) else place.file.rsplit("/", 1)[-1] + ":"
        texts.append(f"{file}{place.line}" if place else "")
    return texts


def latency(cycles: int | None) -> str:
    """Return the cycles of an instruction on a path, nothing if it is not on it."""
    return "" if cycles is None else str(cycles)
