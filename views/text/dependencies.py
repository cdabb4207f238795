"""Critical path and loop-carried dependencies, as OSACA shows them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from incc.report import types as t
from incc.views.layout import BOLD, RED, Layout, cycles

MAX_CHAINS = 10
"""Chains that are listed; the report has all of them."""


def lines(unit: t.UnitReport, kernel: t.KernelReport, layout: Layout) -> Iterator[str]:
    """Yield the cycles that each instruction adds to both, and the chains."""
    instructions = kernel.instructions
    chains = kernel.chains
    yield from layout.wrap("Critical path (CP) and longest loop-carried dependency (LCD), in cycles:")
    title, numbers = line_numbers(instructions)
    width = max(4, *(len(str(number)) for number in numbers))
    sources = source_lines(instructions, kernel.source)
    column = max(map(len, ("Source", *sources))) + 2 if sources else 0
    heading = f"{'Source':{column}}" if sources else ""
    yield f"{title:>{width}}      CP     LCD   {heading}Instructions:"
    for number, instruction in zip(numbers, instructions, strict=True):
        path, chain = map(latency, (instruction.critical_path_cycles, instruction.chain_cycles))
        if instruction.unknown:
            path = chain = "X"
        row = f"{number:>{width}}  {layout.paint(f'{path:>6}', BOLD)}  {layout.paint(f'{chain:>6}', RED)}   "
        row += f"{sources[instruction.index]:{column}}" if sources else ""
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
    lines = "lines" if title == "Line" else "instructions"
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


def line_numbers(instructions: Sequence[t.InstructionReport]) -> tuple[str, list[int]]:
    """Return a title and a number for each instruction: its line, or its index in machine code without lines."""
    if any(instruction.line for instruction in instructions):
        return "Line", [instruction.line for instruction in instructions]
    return "No.", [instruction.index for instruction in instructions]


def source_lines(instructions: Sequence[t.InstructionReport], own: t.SourceLocation | None) -> list[str]:
    """Return the line of the source for each instruction, with the file unless it is that of `own`.

    Returns nothing if all instructions come from the same line, which the header names.
    """
    places = [instruction.source for instruction in instructions]
    if len({(place.file, place.line) for place in places if place}) < 2:
        return []
    texts = []
    for place in places:
        file = "" if not place or (own and place.file == own.file) else place.file.rsplit("/", 1)[-1] + ":"
        texts.append(f"{file}{place.line}" if place else "")
    return texts


def latency(cycles: int | None) -> str:
    """Return the cycles of an instruction on a path, nothing if it is not on it."""
    return "" if cycles is None else str(cycles)
