"""The machine code of AArch64 in object files, for `incc.frontends.machine_code`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cached_property

from incc.frontends.aarch64.convention import CONVENTION
from incc.frontends.aarch64.decode import LENGTH
from incc.frontends.aarch64.disassemble import instruction, may_transfer, transfer, words
from incc.frontends.aarch64.kernels import ISA
from incc.frontends.asm.entry import PointerEffects, effects_of
from incc.frontends.asm.graph import Jump
from incc.frontends.jump_tables import TABLE, JumpTableLayout
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
                code.branches[number + at] = Flow(*transfer(word, address + LENGTH * at), LENGTH)

    def decode(self, code: Code, n: int) -> Instruction:
        """Return an instruction."""
        section, at = code.section, code.offsets[n]
        word = int.from_bytes(section.data[at : at + LENGTH], "little")
        field = next(iter(code.relocations(at, at + LENGTH)), None)
        return instruction(word, section.address + at, field)

    def effects(self, code: Code, lines: tuple[int, ...]) -> list[PointerEffects]:
        """Return the effects of the instructions of a block's lines."""
        return [effects_of(code.instruction(line - 1), CONVENTION) for line in lines]

    def finished(self, instructions: list[Instruction]) -> tuple[Instruction, ...]:
        """Return the instructions of a kernel."""
        return tuple(instructions)

    def tables(self, code: Code) -> _Tables:
        """Return how the indirect jumps of a section read their tables."""
        return _Tables(code)


_SUM = re.compile(r"add (x\d+), (x\d+), [wx](\d+)(?:, (lsl|[su]xt[bhwx])(?: #(\d+))?)?")
_LOAD = re.compile(r"ldr(s?)([bhw]?) ([wx])\d+, \[(x\d+).*")
_SIGNED = {1: "sxtb", 2: "sxth", 4: "sxtw"}
_UP_TO = {"b.hi": 1, "b.ls": 1, "b.hs": 0, "b.cs": 0, "b.lo": 0, "b.cc": 0}
"""Branches after the comparison of an index with that of the last entry (1), or with the number of entries (0)."""


class _Tables:
    """See `incc.frontends.jump_tables.TableReader`.

    gcc and clang add an entry, times 4, to the address of some code (`adr`, then `add` with a shift), or one of 4
    bytes to the table's own address.
    """

    field_bias = 0

    def __init__(self, code: Code) -> None:
        self._code = code

    def layouts(self, at: int, previous: int, jumps: Sequence[Jump]) -> tuple[JumpTableLayout, ...]:
        """Return how an indirect jump reads its table, none for a jump that does not seem to have one."""
        code = self._code
        jump = next((a.register.root for a in code.instruction(at).registers), "")
        summed = self._writer(jump, at, previous)
        match = _SUM.fullmatch(code.instruction(summed).text) if summed >= 0 else None
        if match is None:
            return ()
        base, index, extension = match[2], f"x{match[3]}", match[4] or ""
        loads = self._writer(index, summed, previous)
        load = _LOAD.fullmatch(code.instruction(loads).text) if loads >= 0 else None
        if load is None:
            return ()
        size = {"b": 1, "h": 2, "w": 4}.get(load[2], 4 if load[3] == "w" else 8)
        names = self._writer(base, summed, previous)
        word = self._word(names) if names >= 0 else 0
        return (
            JumpTableLayout(
                size=size,
                signed=bool(load[1]) or extension == _SIGNED.get(size),
                factor=1 << int(match[5] or 0),
                relative_to=_named(word, code.section.address + code.offsets[names]) if _is_adr(word) else TABLE,
                entries=self._entries(at, previous, jumps),
                register=load[4],
            ),
        )

    def _writer(self, register: str, before: int, previous: int) -> int:
        """Return the last instruction that writes a register, -1 for none since the last transfer of control."""
        for n in range(before - 1, previous, -1):
            if any(a.write and a.register.root == register for a in self._code.instruction(n).registers):
                return n
        return -1

    def _entries(self, at: int, previous: int, jumps: Sequence[Jump]) -> int:
        """Return the number of entries by the comparison before the branches that lead to the jump."""
        entries = 0
        for jump in jumps:
            leads = jump.at == previous or any(previous < target <= at for target in jump.targets)
            more = (
                _UP_TO.get(self._code.instruction(jump.at).mnemonic) if leads and jump.kind == "conditional" else None
            )
            compare = self._code.instruction(jump.at - 1) if more is not None and jump.at else None
            if more is not None and compare and compare.mnemonic in ("cmp", "subs") and compare.immediate is not None:
                entries = max(entries, compare.immediate + more)
        return entries or JumpTableLayout(size=1).entries

    def address(self, n: int) -> int | None:
        """Return the address of data that an instruction names."""
        return self._addresses.get(n)

    def addresses(self) -> Iterable[int]:
        """Return all addresses that instructions name."""
        return self._addresses.values()

    @cached_property
    def _addresses(self) -> dict[int, int]:
        """The addresses by instruction: of `adr`, and of `add` to the page of the last `adrp` of a register."""
        code = self._code
        addresses: dict[int, int] = {}
        pages: dict[int, int] = {}
        for n, at in enumerate(code.offsets):
            word, address = self._word(n), code.section.address + at
            if _is_adr(word):
                addresses[n] = _named(word, address)
            elif word & 0x9F000000 == 0x90000000:  # adrp
                pages[word & 31] = _named(word, address)
            elif word & 0xFFC00000 == 0x91000000 and (page := pages.get(word >> 5 & 31)) is not None:
                addresses[n] = page + (word >> 10 & 0xFFF)  # add of an immediate
        return addresses

    def _word(self, n: int) -> int:
        at = self._code.offsets[n]
        return int.from_bytes(self._code.section.data[at : at + LENGTH], "little")


def _is_adr(word: int) -> bool:
    """Return True if an instruction's encoding is that of `adr` (Arm Architecture Reference Manual, C4.1)."""
    return word & 0x9F000000 == 0x10000000


def _named(word: int, address: int) -> int:
    """Return the address that an `adr`, or the page that an `adrp`, names."""
    value = (word >> 5 & 0x7FFFF) << 2 | word >> 29 & 3
    value -= (value >> 20) << 21
    return address + value if _is_adr(word) else (address & ~0xFFF) + (value << 12)


def _outside(spans: Sequence[tuple[int, int]], start: int, end: int) -> list[tuple[int, int]]:
    """Return what is left of a stretch of code without spans of data."""
    left = []
    for first, last in spans:
        if last > start and first < end:
            left.append((start, first))
            start = last
    return [(a, b) for a, b in (*left, (start, end)) if a < b]
