"""The loops of the assembly that the compiler's plugin describes.

The compiler names the first block of each of its innermost loops `incc.loop.N`, and verbose assembly prints the names
of blocks after their labels:

    .LBB0_4:                                # %incc.loop.0

or, for a block that nothing jumps to, where its label would be:

    # %bb.4:                                # %incc.loop.0

A loop that is entered in its middle has such a first block; the block before it in the layout then jumps back. Code
generation deletes, merges, splits and repeats blocks, so that several labels may have the same name. A loop of the
assembly is the compiler's loop N if all places with that name are inside of it, and no place with another name is.
Other loops of the assembly have no description.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from incc.frontends.asm.parse import INSTRUCTION, Assembly
from incc.frontends.kernel import CompiledLoop, Region

_NAMED = r'^("[^"\n]*"|[\w.$?@]+):[ \t]*(?:#|//|;|@)+[ \t]*%incc\.loop\.(\d+)[ \t]*\r?$'
_FALLEN_INTO = r"^(?:#|//|;|@)+[ \t]*%bb\.\d+:[ \t]*(?:#|//|;|@)+[ \t]*%incc\.loop\.(\d+)[ \t]*\r?$"


def named_labels(text: str) -> list[tuple[str, int]]:
    """Return the labels followed by the number of a loop, and these numbers, in the order of the text."""
    if "%incc.loop." not in text:
        return []
    return [(label.strip('"'), int(number)) for label, number in re.findall(_NAMED, text, re.MULTILINE)]


def named_comments(text: str) -> list[tuple[int, int]]:
    """Return the lines at which a block without a label begins that is named after a loop, and the loops' numbers."""
    if "%incc.loop." not in text:
        return []
    comments, line, at = [], 1, 0
    for match in re.finditer(_FALLEN_INTO, text, re.MULTILINE):
        line += text.count("\n", at, match.start())
        at = match.start()
        comments.append((line, int(match[1])))
    return comments


def with_compiled(
    assembly: Assembly, text: str, regions: Sequence[Region], loops: Iterable[CompiledLoop]
) -> list[Region]:
    """Return the regions with the compiler's descriptions of their loops."""
    loop_of = {loop.number: loop for loop in loops}
    lines: dict[int, list[int]] = {}
    for label, number in named_labels(text):
        if number in loop_of and label in assembly.labels:
            lines.setdefault(number, []).extend(_line_from(assembly, assembly.labels[label]))
    for comment, number in named_comments(text):
        if number in loop_of:
            at = bisect_left(assembly.statements, comment, key=lambda s: s.line)
            lines.setdefault(number, []).extend(_line_from(assembly, at))
    regions_at: dict[int, list[int]] = {}
    for n, region in enumerate(regions):
        if region.is_loop and region.shape != "partial":
            for line in region.body_lines:
                regions_at.setdefault(line, []).append(n)
    compiled: dict[int, list[CompiledLoop]] = {}
    touched: dict[int, int] = {}  # how many of the compiler's loops have their name in a region
    for number, of_loop in lines.items():
        inside = [set(regions_at.get(line, ())) for line in of_loop]
        for n in set().union(*inside):
            touched[n] = touched.get(n, 0) + 1
        for n in set.intersection(*inside):
            compiled.setdefault(n, []).append(loop_of[number])
    return [
        replace(region, compiled=compiled[n][0]) if n in compiled and touched[n] == 1 else region
        for n, region in enumerate(regions)
    ]


def _line_from(assembly: Assembly, start: int) -> list[int]:
    """Return the line of the first instruction from a statement on, none if there is none."""
    statements = assembly.statements
    return next(([statements[i].line] for i in range(start, len(statements)) if statements[i].kind == INSTRUCTION), [])
