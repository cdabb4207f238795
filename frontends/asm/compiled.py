"""Which loop of the assembly is which of those that the compiler says something of.

The compiler names the block that begins each of its innermost loops `incc.loop.N`, and verbose assembly prints the
names of blocks beside their labels:

    .LBB0_4:                                # %incc.loop.0

or, of a block that nothing jumps to, where its label would be:

    # %bb.4:                                # %incc.loop.0

A loop that is entered in its middle has such a first block: what jumps back is then the block before it in the layout.
Code generation deletes, merges, splits and repeats blocks. A block that was split has its name at several labels, and
so has one that was repeated. So a loop of the assembly is the compiler's loop N if all places with that name are inside
of it, and no place with the name of another is. A loop that is none of the compiler's in this sense has nothing of it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec.structs import replace

from incc.frontends.asm.parse import INSTRUCTION

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from incc.frontends.asm.parse import Assembly
    from incc.frontends.kernel import CompiledLoop, Region

_NAMED = r'^("[^"\n]*"|[\w.$?@]+):[ \t]*(?:#|//|;|@)+[ \t]*%incc\.loop\.(\d+)[ \t]*\r?$'
_FALLEN_INTO = r"^(?:#|//|;|@)+[ \t]*%bb\.\d+:[ \t]*(?:#|//|;|@)+[ \t]*%incc\.loop\.(\d+)[ \t]*\r?$"


def named_labels(text: str) -> list[tuple[str, int]]:
    """The labels beside which assembly text has a loop's number, and these numbers, in the order of the text."""
    if "%incc.loop." not in text:
        return []
    return [(label.strip('"'), int(number)) for label, number in re.findall(_NAMED, text, re.MULTILINE)]


def named_comments(text: str) -> list[tuple[int, int]]:
    """The lines where a block without a label begins whose name is a loop's number, and these numbers."""
    if "%incc.loop." not in text:
        return []
    found, line, at = [], 1, 0
    for match in re.finditer(_FALLEN_INTO, text, re.MULTILINE):
        line += text.count("\n", at, match.start())
        at = match.start()
        found.append((line, int(match[1])))
    return found


def with_compiled(
    assembly: Assembly, text: str, regions: Sequence[Region], loops: Iterable[CompiledLoop]
) -> list[Region]:
    """Regions with what the compiler says of them."""
    loop_of = {loop.number: loop for loop in loops}
    lines: dict[int, list[int]] = {}
    for label, number in named_labels(text):
        if (line := _line_behind(assembly, label)) and number in loop_of:
            lines.setdefault(number, []).append(line)
    for comment, number in named_comments(text):
        if number in loop_of and (line := _line_from(assembly, comment)):
            lines.setdefault(number, []).append(line)
    regions_at: dict[int, list[int]] = {}
    for n, region in enumerate(regions):
        if region.is_loop:
            for line in region.body_lines:
                regions_at.setdefault(line, []).append(n)
    found: dict[int, list[CompiledLoop]] = {}
    touched: dict[int, int] = {}  # how many of the compiler's loops have their name in a region
    for number, of_loop in lines.items():
        inside = [set(regions_at.get(line, ())) for line in of_loop]
        for n in set().union(*inside):
            touched[n] = touched.get(n, 0) + 1
        for n in set.intersection(*inside):
            found.setdefault(n, []).append(loop_of[number])
    return [
        replace(region, compiled=found[n][0]) if n in found and touched[n] == 1 else region
        for n, region in enumerate(regions)
    ]


def _line_behind(assembly: Assembly, label: str) -> int:
    """The line of the first instruction behind a label, 0 if there is none."""
    at = assembly.labels.get(label, -1)
    if at < 0:
        return 0
    for i in range(at + 1, len(assembly.statements)):
        if assembly.statements[i].kind == INSTRUCTION:
            return assembly.statements[i].line
    return 0


def _line_from(assembly: Assembly, line: int) -> int:
    """The line of the first instruction from a line on, 0 if there is none."""
    from bisect import bisect_left

    for i in range(bisect_left(assembly.statements, line, key=lambda s: s.line), len(assembly.statements)):
        if assembly.statements[i].kind == INSTRUCTION:
            return assembly.statements[i].line
    return 0
