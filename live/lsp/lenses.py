"""Code lenses: the figures of each loop above its line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from lsprotocol import types as lsp

from incc.live.lsp.documents import ShownLoop

MOST_ON_LINE = 3
"""Most loops at a line, such as copies of an inlined one, that have a lens for each core and way to compile."""

REPORT = "incc.report"


def lenses(loops: Iterable[ShownLoop]) -> Iterator[lsp.CodeLens]:
    """Yield the lenses of a document: for each loop, core and way to compile that is not part of another loop."""
    mains = [loop for loop in loops if not loop.kernel.role.of]
    several = len({loop.unit.model.name for loop in mains}) > 1
    mains.sort(key=lambda loop: loop.line)
    for line, here in groupby(mains, key=lambda loop: loop.line):
        for (also, _), same in groupby(here, key=lambda loop: (loop.analysis.also, loop.unit.model.name)):
            copies = sorted(same, key=lambda loop: -loop.kernel.cycles)
            for loop in copies[:MOST_ON_LINE]:
                name = loop.kernel.overview.function if len(copies) > 1 or loop.inlined else ""
                parts = [also, loop.unit.model.name if several else "", name]
                of = (also, loop.unit.model.name, loop.kernel.kernel_id)
                yield _lens(loop.uri, line, _labelled(parts, title(loop)), of)
            left = len(copies) - MOST_ON_LINE
            if left > 0:
                yield _lens(copies[0].uri, line, _labelled([also], f"{left} more loops from this line"), (also,))


def title(loop: ShownLoop) -> str:
    """Return the figures of a loop in a line."""
    kernel = loop.kernel
    least = "at least " if kernel.at_least else ""
    cycles = f"{least}{kernel.cycles:.2f} cycles"
    if kernel.elements and kernel.elements.per_iteration != 1:
        cycles += f", {kernel.elements.cycles:.3g} per element"
    parts = [cycles, kernel.overview.limit, kernel.overview.vector]
    if loop.old:
        parts.append(f"old: {loop.old}")
    return " · ".join(part for part in parts if part)


def problem_lens(uri: str, also: str, problem: str) -> lsp.CodeLens:
    """Return the lens at the first line for a document that was never analysed."""
    return _lens(uri, 0, _labelled([also], f"not analysed: {problem}"))


def _labelled(labels: Sequence[str], text: str) -> str:
    label = ", ".join(label for label in labels if label)
    return f"{label}: {text}" if label else text


def _lens(uri: str, line: int, text: str, of: Sequence[str] = ()) -> lsp.CodeLens:
    at = lsp.Position(line, 0)
    command = lsp.Command(text, REPORT, arguments=[uri, *of])
    return lsp.CodeLens(lsp.Range(at, at), command)
