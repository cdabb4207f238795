"""The machine code of AArch64 in object files, for `incc.frontends.machine_code`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from incc.frontends.aarch64.convention import CONVENTION
from incc.frontends.aarch64.decode import LENGTH
from incc.frontends.aarch64.disassemble import instruction, may_transfer, transfer, words
from incc.frontends.aarch64.kernels import ISA
from incc.frontends.asm.graph import Jump
from incc.frontends.container import Container
from incc.frontends.kernel import Instruction
from incc.frontends.machine_code import Code, Flow


class A64Disassembler:
    """See `incc.frontends.machine_code.Disassembler`."""

    isa = ISA
    convention = CONVENTION
    branch_bias = 0

    def scan(self, code: Code, start: int, end: int) -> None:
        """Add the instructions between two offsets, without the data that symbols mark."""
        data_spans = code.section.data_spans
        for first, last in _outside(data_spans, start + -start % LENGTH, end) if data_spans else ((start, end),):
            self._scan(code, first + -first % LENGTH, last)

    def _scan(self, code: Code, start: int, end: int) -> None:
        section, number = code.section, len(code.offsets)
        address = section.address + start
        code.offsets.extend(range(start, end - LENGTH + 1, LENGTH))
        for at, word in enumerate(words(bytes(section.data[start:end]))):
            if may_transfer(word):
                code.branches[number + at] = word, address + LENGTH * at

    def flow(self, branch: Any) -> Flow:
        """Return how a word at an address transfers control."""
        return Flow(*transfer(*branch), LENGTH)

    def decode(self, code: Code, n: int) -> Instruction:
        """Return an instruction."""
        section, at = code.section, code.offsets[n]
        word = int.from_bytes(section.data[at : at + LENGTH], "little")
        field = next(iter(code.relocations(at, at + LENGTH)), None)
        return instruction(word, section.address + at, field)

    def finished(self, instructions: list[Instruction]) -> tuple[Instruction, ...]:
        """Return the instructions of a kernel."""
        return tuple(instructions)

    def tables(self, code: Code, container: Container) -> _NoTables:
        """Return the tables of a section's indirect jumps."""
        return _NoTables()


class _NoTables:
    """Jump tables that are not read."""

    def targets(self, begin: int, jumps: Sequence[Jump], inside: Callable[[int], bool]) -> dict[int, tuple[int, ...]]:
        """Return the targets of indirect jumps that are known."""
        return {}


def _outside(spans: Sequence[tuple[int, int]], start: int, end: int) -> list[tuple[int, int]]:
    """Return what is left of a stretch of code without spans of data."""
    left = []
    for first, last in spans:
        if last > start and first < end:
            left.append((start, first))
            start = last
    return [(a, b) for a, b in (*left, (start, end)) if a < b]
