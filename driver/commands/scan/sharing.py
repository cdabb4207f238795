"""Which groups of kernels have equal analyses, so that one of them is enough."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from itertools import count
from typing import Any

from incc.driver.code import ObjectCode
from incc.frontends.kernel import Instruction, KernelCode, MemoryAccess, Region
from incc.frontends.objects.kernels import KernelSource

KEY = 16
"""The bytes of a key."""

_NUMBER = re.compile(r"\d+")
_ADDRESS = re.compile(r"(0x[0-9a-fA-F]+|\.L[0-9a-f]+)")


def groups(code: ObjectCode) -> Iterator[list[int]]:
    """Yield the numbers of the kernels of each function: the report on a loop depends on the others of its function."""
    of_function: dict[str, list[int]] = {}
    for number, kernel in enumerate(code.kernels):
        of_function.setdefault(kernel.region.function if kernel.region else "", []).append(number)
    yield from of_function.values()


def subset(code: ObjectCode, numbers: Sequence[int]) -> ObjectCode:
    """Return some of the kernels of an object."""
    sources = [code.sources[n] for n in numbers] if code.sources else []
    return ObjectCode([code.kernels[n] for n in numbers], [], sources)


def key_of(code: ObjectCode, place: str = "") -> bytes:
    """Return a key of a group's kernels, equal for groups whose analyses are equal.

    The key leaves out what differs between copies of the same code: addresses, the distances of jumps out of a loop,
    and the names of functions and labels. With a `place`, only groups of that place have the same key.
    """
    digest = blake2b(place.encode("utf-8", "surrogateescape"), digest_size=KEY)
    firsts = {k.region.first_line: n for n, k in enumerate(code.kernels) if k.region}
    for number, kernel in enumerate(code.kernels):
        source = _source(code.sources[number]) if code.sources else None
        digest.update(repr((source, *_contents(kernel, firsts))).encode("utf-8", "surrogateescape"))
    return digest.digest()


def _source(source: KernelSource) -> Any:
    """Return a kernel's place in the source, which sentences on it name."""
    return source.place, sorted(set(source.lines.values()))


def _contents(kernel: KernelCode, firsts: dict[int, int]) -> Iterable[Any]:
    """Yield what the analysis of a kernel depends on.

    Args:
        kernel: the kernel.
        firsts: the numbers of the group's kernels by their first lines.
    """
    start = min((i.offset for i in kernel.instructions), default=0)
    end = max((i.offset + i.length for i in kernel.instructions), default=0)
    symbols: dict[str, tuple[int, int]] = {}
    numbers = count()

    def place(access: MemoryAccess) -> Any:
        """Return a memory operand with the address of a symbol relative to the first use of that symbol."""
        displacement: Any = access.displacement
        if access.symbol:
            if access.symbol not in symbols:
                symbols[access.symbol] = next(numbers), displacement
            number, first = symbols[access.symbol]
            displacement = number, displacement - first, displacement % 64
        parts = access.base and access.base.name, access.index and access.index.name, access.scale, displacement
        return (*parts, access.segment, access.size, access.load, access.store, access.elements, access.element)

    def content(i: Instruction) -> Any:
        if not i.branch and not any(access.symbol for access in i.memory):
            return i.offset - start, i.encoding, i.form
        target = i.target
        if _ADDRESS.fullmatch(target):
            inside = target.startswith("0x") and start <= int(target, 16) < end
            target = str(int(target, 16) - start) if inside else "address"
        registers = [(access.register.name, access.operand, access.write) for access in i.registers]
        shape = i.length, i.immediate, i.immediate_bytes, i.opcode_offset, sorted(i.encoding_traits)
        return i.offset - start, i.form, sorted(i.traits), registers, [*map(place, i.memory)], target, shape

    yield kernel.isa, kernel.is_loop, kernel.alignment, kernel.alignment_unit, kernel.pace, kernel.scalable_pace
    yield [content(i) for i in kernel.instructions]
    yield kernel.entry, kernel.alone, sorted(kernel.products.items()), sorted(kernel.held.items())
    yield sorted(kernel.restarts), [(refused.text, refused.message) for refused in kernel.refused]
    if kernel.region:
        yield from _of_region(kernel.region, firsts)


def _of_region(region: Region, firsts: dict[int, int]) -> Iterable[Any]:
    """Yield what the analysis depends on of a kernel's region. Notes give names and lines, which are left out."""
    yield region.kind, region.shape, region.depth, region.forks, region.is_loop, region.source, region.outer
    yield len(region.lines), len(region.body_lines), len(region.around), region.compiled
    first = min(region.body_lines, default=0)
    yield [line - first for line in region.lines]
    yield [_NUMBER.sub("", _ADDRESS.sub("", note)) for note in region.notes]
    near = region.neighbours
    yield [
        sorted(number for line, number in firsts.items() if line in each) for each in (near.later, near.always_before)
    ]
    yield near.enclosing
