"""Critical path and loop-carried dependencies, as OSACA shows them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from incc.driver.views.layout import BOLD, RED, cycles

if TYPE_CHECKING:
    from collections.abc import Iterator

    from incc.driver.report import types as t
    from incc.driver.views.layout import Layout


# Chains listed; the report has all of them.
MAX_CHAINS = 10


def lines(unit: t.Unit, kernel: t.Kernel, layout: Layout) -> Iterator[str]:
    """What each instruction adds to both, and the chains."""
    instructions = kernel["instructions"]
    chains = kernel["chains"]
    yield from layout.wrap("Critical path (CP) and longest loop-carried dependency (LCD), in cycles:")
    numbers, by_line = rows(kernel)
    width = max(4, *(len(number) for number in numbers))
    sources = rows_in_source(kernel)
    column = max((len(source) for source in sources), default=-2) + 2
    heading = f"{'Source':{column}}" if sources else ""
    yield f"{'Line' if by_line else 'No.':>{width}}      CP     LCD   {heading}Instructions:"
    for number, instruction in zip(numbers, instructions, strict=True):
        path, chain = (_latency(instruction[name]) for name in ("critical_path_cycles", "chain_cycles"))
        if instruction["unknown"]:
            path = chain = "X"
        row = f"{number:>{width}}  {layout.paint(f'{path:>6}', BOLD)}  {layout.paint(f'{chain:>6}', RED)}   "
        row += f"{sources[instruction['index']]:{column}}" if sources else ""
        yield row + layout.cut(instruction["text"], width + 19 + column)
    longest = f"{chains[0]['latency']}" if chains else "-"
    yield f"{'':{width}}  {kernel['critical_path']['cycles']:>6}  {longest:>6}   in all"
    if kernel["unknown_instructions"]:
        yield from layout.wrap("(X: not in the model, excluded from all totals)")
    yield ""
    if not chains:
        yield "No loop-carried dependencies."
        return
    yield "Loop-carried dependencies, longest first:"
    lines = "lines" if by_line else "instructions"
    yield f"  Cycles/it.  Latency  Iterations  Through ({lines})"
    for rank, lcd in enumerate(chains[:MAX_CHAINS]):
        ratio = cycles(lcd["cycles_per_iteration"]["cycles"])
        row = f"  {ratio:>10}  {lcd['latency']:>7}  {lcd['iterations']:>10}  "
        where = ", ".join(numbers[i] for i in lcd["instructions"])
        text = f"{', '.join(lcd['through'])} ({where})"
        for line in layout.wrap(text, row, " " * len(row)):
            yield layout.paint(line, RED if rank == 0 else "")
    if len(chains) > MAX_CHAINS:
        yield f"  and {len(chains) - MAX_CHAINS} more that are not longer"
    if not kernel["chains_complete"]:
        yield from layout.wrap("There are more than were searched for; the longest is among those found.", "  ", "  ")


def rows(kernel: t.Kernel) -> tuple[list[str], bool]:
    """What names each instruction in a table, and whether that is its line: machine code that comes without lines is
    numbered as in the other views."""
    by_line = any(instruction["line"] for instruction in kernel["instructions"])
    return [str(i["line"] if by_line else i["index"]) for i in kernel["instructions"]], by_line


def rows_in_source(kernel: t.Kernel) -> list[str]:
    """Where in the source each instruction comes from, without the name of the kernel's own file; empty where all come
    from the same line, which the header names."""
    places = [instruction["source"] for instruction in kernel["instructions"]]
    known = {(place["file"], place["line"]) for place in places if place}
    if len(known) < 2:
        return []
    own = kernel["source"]["file"] if kernel["source"] else ""
    texts = []
    for place in places:
        file = "" if not place or place["file"] == own else place["file"].rsplit("/", 1)[-1] + ":"
        texts.append(f"{file}{place['line']}" if place else "")
    # A heading fits above.
    return [f"{text:6}" for text in texts]


def _latency(cycles: int | None) -> str:
    """Cycles of an instruction on a path; nothing for one that is not on it."""
    return "" if cycles is None else str(cycles)
