"""The pattern of each stream of memory accesses, and the share of the cache lines that it uses.

Accesses with the same unknown base and the same step are one pattern: the fields of a structure, the copies of an
unrolled loop, the rows of a stencil. Together they use some bytes of each step, the same in each of its equal parts,
whose length is the stride. So unrolling a loop changes neither the pattern nor the share.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from fractions import Fraction
from math import gcd
from typing import TYPE_CHECKING, Literal

import msgspec

from incc.core import Stream
from incc.core.dataflow import INVARIANT, Address, MovingAddress, moving_addresses
from incc.core.elements import equal_parts
from incc.core.figures import DECIMALS
from incc.report import types as t
from incc.report.parts.distances import at_entry, in_variables
from incc.report.wording import percent, places
from incc.support.text import counted

if TYPE_CHECKING:
    from incc.core.analysis import KernelResult
    from incc.core.elements import Elements
    from incc.frontends.kernel import KernelCode

LINE = 64
"""Bytes of a cache line where the model has none."""
PAGE = 4096
"""Bytes of the smallest page."""
_LARGEST_STRUCTURE = 256
"""A larger constant stride is taken for a row's length."""


_Group = tuple[int, int]
"""The part and the step of streams."""


class _Use(msgspec.Struct, frozen=True):
    """The bytes that a loop uses of each stride."""

    stride: int
    pieces: tuple[tuple[int, int], ...]
    """The place and the length of each part that it uses; a single one of the stride's length if it uses all."""
    unit: int
    """The bytes at whose multiples accesses may begin in a line."""

    @property
    def used(self) -> int:
        return sum(size for _, size in self.pieces)

    def share(self, line: int) -> Fraction:
        """Return the share of the bytes of the lines that the loop touches, on average over their places in lines."""
        if self.used == self.stride:
            return Fraction(1)
        begins = range(0, line, gcd(self.unit, line))
        lines = 0
        for begin in begins:
            last = (begin + sum(self.pieces[-1]) - self.stride - 1) // line
            for at, size in self.pieces:
                end = (begin + at + size - 1) // line
                lines += end - max((begin + at) // line - 1, last)
                last = end
        return Fraction(self.used * len(begins), lines * line)


def _use(spans: Sequence[tuple[int, int]], step: int, elements: int = 0) -> _Use:
    """Return what accesses (offset and size) use that move by `step` bytes per iteration.

    An iteration handles so many elements of the source, 0 if that is unknown.
    """
    period = abs(step)
    first = spans[0][0]
    unit = gcd(period, *[value for at, size in spans for value in (at - first, size)])
    # The bytes modulo the step, beginning with some access, so that only the last piece may reach around.
    pieces: list[tuple[int, int]] = []
    for at, size in sorted(((at - first) % period, max(size, 1)) for at, size in spans):
        if pieces and at <= sum(pieces[-1]):
            begin, length = pieces[-1]
            pieces[-1] = begin, max(length, at + size - begin)
        else:
            pieces.append((at, size))
    around = max(sum(piece) for piece in pieces) - period
    while around >= 0 and len(pieces) > 1 and pieces[0][0] <= around:
        begin, length = pieces.pop(0)
        pieces[-1] = pieces[-1][0], max(pieces[-1][1], begin + length + period - pieces[-1][0])
        around = max(around, begin + length)
    if len(pieces) == 1 and pieces[0][1] >= period:
        return _Use(period, ((0, period),), unit)
    # Equal fields of one structure are parts as well, but no elements.
    parts = gcd(max(equal_parts({(at % period, size, False) for at, size in pieces}, period), 1), elements)
    stride = period // parts
    start = pieces[0][0]
    of_part = sorted((at - start, size) for at, size in pieces)[: len(pieces) // parts]
    return _Use(stride, tuple(of_part), gcd(unit, stride))


def access_patterns(result: KernelResult, elements: Elements | None = None) -> list[t.AccessPattern]:
    """Return the patterns of a kernel's accesses in program order, without those of calls to the stack."""
    kernel = result.kernel
    count = elements.per_iteration.numerator if elements and elements.per_iteration.denominator == 1 else 0
    accessing = {
        n
        for n, instruction in enumerate(kernel.instructions)
        if instruction.branch != "call" and any(access.load or access.store for access in instruction.memory)
    }
    regular: dict[_Group, list[Stream]] = {}
    group_of: dict[int, _Group] = {}
    for stream in result.analysis.streams:
        if stream.step is not None and stream.instruction in accessing:
            group_of[stream.instruction] = stream.part, stream.step
            regular.setdefault((stream.part, stream.step), []).append(stream)
    patterns = [_regular(result, members, step, count) for (_, step), members in regular.items()]
    if accessing - group_of.keys():
        patterns += _irregular(kernel, accessing, group_of)
    return sorted(patterns, key=lambda pattern: pattern.instructions)


def access_notes(kernel: KernelCode, patterns: Iterable[t.AccessPattern]) -> list[str]:
    """Return a sentence for each pattern by which a loop does not use all bytes that it passes."""
    alike: dict[tuple[str, str], list[int]] = {}
    for pattern in patterns:
        if kernel.is_loop and pattern.pattern not in ("fixed", "contiguous"):
            used = "" if pattern.line_use is None else f"; {percent(pattern.line_use)} of each line is used"
            alike.setdefault((_NOUNS[pattern.kind], pattern.text + used), []).extend(pattern.instructions)
    return [f"{noun} of {places(kernel, sorted(numbers))}: {text}" for (noun, text), numbers in alike.items()]


_NOUNS: dict[t.AccessKind, str] = {"load": "Loads", "store": "Stores", "load, store": "Loads and stores"}


def _regular(result: KernelResult, members: Sequence[Stream], step: int, elements: int) -> t.AccessPattern:
    """Return the pattern of accesses of the same part that move by a known number of bytes per iteration."""
    kernel = result.kernel
    spans = [(stream.offset, stream.size) for stream in members]
    numbers = sorted({stream.instruction for stream in members})
    kind = _kind(not stream.store for stream in members)
    if not step:
        return _pattern(numbers, kind, "fixed", "the same address in each iteration", used=_covered(spans), step=0)
    use = _use(spans, step, elements)
    if use.used == use.stride:
        text = "all bytes, one after the other" + (" downwards" if step < 0 else "")
        return _pattern(numbers, kind, "contiguous", text, used=abs(step), step=step, share=Fraction(1))
    memory = result.model.memory
    line = memory.line if memory else LINE
    structure: Literal["", "one field", "some fields"] = ""
    if use.stride <= _LARGEST_STRUCTURE and _is_constant(kernel, numbers[0]):
        structure = "one field" if len({(at % use.stride, size) for at, size in spans}) == 1 else "some fields"
    return t.AccessPattern(
        instructions=numbers,
        kind=kind,
        pattern="strided",
        step=step,
        stride=use.stride,
        used_bytes=use.used,
        pieces=[size for _, size in use.pieces],
        structure=structure,
        line_use=round(float(use.share(line)), DECIMALS),
        sources=[],
        text=f"{use.used:,} of every {use.stride:,} bytes"
        + (f", like {structure} of an array of structures" if structure else "")
        + (f", each in a new {'page' if use.stride >= PAGE else 'line'}" if use.stride >= line else "")
        + (", downwards" if step < 0 else ""),
    )


def _is_constant(kernel: KernelCode, number: int) -> bool:
    """Return True if the code alone determines the step of an instruction's accesses."""
    steps = [each.step for each in moving_addresses(kernel) if each.instruction == number]
    return all(step is not None and not step.terms for step in steps)


def _irregular(kernel: KernelCode, accessing: Set[int], group_of: Mapping[int, _Group]) -> Iterator[t.AccessPattern]:
    """Yield the patterns of accesses that do not move by a known number of bytes.

    Copies of an unrolled loop differ in values that come from the same loads, or by multiples of an unknown step.
    """
    addresses = [each for each in moving_addresses(kernel) if each.instruction in accessing - group_of.keys()]
    sources = {each.instruction: each.sources for each in addresses}
    groups: dict[tuple[bool, object], list[MovingAddress]] = {}
    for each in addresses:
        # All fields of a list's nodes are chased, not only the pointer to the next node.
        is_chased = any(load in _behind(sources, load) for load in each.sources)
        step = each.step and (each.step.constant, frozenset(each.step.terms.items()))
        loaded = frozenset([group_of.get(load) for load in each.sources])
        groups.setdefault((is_chased, (step, loaded, _fixed_terms(each))), []).append(each)
    for (is_chased, _), members in groups.items():
        instructions = sorted({each.instruction for each in members})
        kind = _kind(each.access.load for each in members)
        loads = frozenset().union(*[each.sources for each in members])
        size = _covered([(each.address.constant, each.access.size) for each in members])
        name: t.PatternName = "unknown"
        data = counted(size, "byte")
        if loads:
            name = "chased" if is_chased else "indirect"
            text = (
                f"pointer chasing: {data} at each place, which depends on a value from the place before"
                if is_chased
                else f"indirect: {data} at each place, which depends on loaded values"
                f"{_other_place(kernel, instructions, sorted(loads))}"
            )
        elif (step := members[0].step) is not None:
            name, text = "strided", _unknown_stride(kernel, step, data)
            if not step.terms:
                gathered = counted(sum(each.access.elements for each in members), "element")
                text = f"{gathered} of {data} gathered from every {abs(step.constant):,} bytes"
                if not step.constant:
                    name, text = "fixed", "the same addresses in each iteration"
        elif any(each.is_chosen for each in members):
            text = f"{data} at a time; loaded values decide how far the next ones are"
        else:
            text = f"{data} at places that the loop computes"
        moved = 0 if name == "fixed" else None
        yield _pattern(instructions, kind, name, text, used=size, step=moved, sources=sorted(loads))


def _other_place(kernel: KernelCode, numbers: Sequence[int], loads: Sequence[int]) -> str:
    """Return the lines of loads in parentheses, unless they are those of the accesses that depend on them."""
    loaded = places(kernel, loads)
    return "" if loaded == places(kernel, numbers) else f" ({loaded})"


def _fixed_terms(moving: MovingAddress) -> tuple[object, ...]:
    """Return the terms of an address that do not vary, and the factors of the others."""
    varying = moving.step.terms if moving.step else {each for each in moving.address.terms if each.kind != INVARIANT}
    terms = moving.address.terms
    factors = [] if moving.step else sorted(terms[each] for each in varying)
    return frozenset((each, times) for each, times in terms.items() if each not in varying), *factors


def _unknown_stride(kernel: KernelCode, step: Address, data: str) -> str:
    """Return a clause on parts at a distance that the code alone does not tell."""
    registers = {unknown.name: times for unknown, times in step.terms.items()}
    distance = "" if step.constant else in_variables(kernel, at_entry(kernel, registers), None)
    return f"{data} every {distance}" if distance else f"{data} at an unknown stride"


def _behind(sources: Mapping[int, frozenset[int]], number: int) -> set[int]:
    """Return the loads that the address of an access depends on, directly or through the addresses of others."""
    result: set[int] = set()
    waiting = [number]
    while waiting:
        more = sources.get(waiting.pop(), frozenset()) - result
        result |= more
        waiting += more
    return result


def _covered(spans: Iterable[tuple[int, int]]) -> int:
    """Return the number of bytes that spans (offset and size) cover."""
    total, reach = 0, -(1 << 64)
    for at, size in sorted(spans):
        total += max(at + size - max(at, reach), 0)
        reach = max(reach, at + size)
    return total


def _kind(loads: Iterable[bool]) -> t.AccessKind:
    """Return the kind of accesses, each of which loads or stores."""
    kinds = set(loads)
    return "load, store" if len(kinds) > 1 else "load" if True in kinds else "store"


def _pattern(
    instructions: list[int],
    kind: t.AccessKind,
    name: t.PatternName,
    text: str,
    used: int,
    step: int | None = None,
    share: Fraction | None = None,
    sources: Sequence[int] = (),
) -> t.AccessPattern:
    """Return a pattern without a known stride."""
    return t.AccessPattern(
        instructions=instructions,
        kind=kind,
        pattern=name,
        step=step,
        stride=None,
        used_bytes=used,
        pieces=[],
        structure="",
        line_use=None if share is None else float(share),
        sources=list(sources),
        text=text,
    )
