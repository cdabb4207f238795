"""Jump tables in machine code: where the indirect jumps of a switch lead to."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

import msgspec

from incc.frontends.asm.graph import Jump
from incc.frontends.container import Container, Section
from incc.frontends.kernel import Instruction, Relocation

TABLE = -1
"""In place of an address: that of the table itself."""

_LONGEST = 15
"""Bytes of the longest instruction, on x86."""


class JumpTableLayout(msgspec.Struct, frozen=True, kw_only=True):
    """The computation of a jump's target from an entry of its table."""

    size: int
    """Bytes of an entry."""
    signed: bool = False
    factor: int = 1
    """The number that entries are multiplied by."""
    relative_to: int = 0
    """The address that this is added to: of some code, `TABLE`, or 0 for entries that are addresses."""
    entries: int = 1 << 16
    """The most entries that the jump may read."""
    register: str = ""
    """The register with the table's address; "" if it is unknown."""


class DecodedCode(Protocol):
    """The code of a section, whose instructions have numbers: `incc.frontends.machine_code.Code`."""

    section: Section
    offsets: list[int]
    """The offset of each instruction in bytes, ascending."""

    def instruction(self, n: int) -> Instruction:
        """Return an instruction."""

    def number_at(self, offset: int) -> int:
        """Return the number of the instruction at an offset, a negative number if there is none."""

    def relocations(self, first: int, end: int) -> tuple[Relocation, ...]:
        """Return the fields between two offsets."""


class TableReader(Protocol):
    """An instruction set's jumps through tables, in the code of a section."""

    field_bias: int
    """The distance of a relative field's start from the address that its value counts from."""

    def layouts(self, at: int, previous: int, jumps: Sequence[Jump]) -> tuple[JumpTableLayout, ...]:
        """Return how an indirect jump may read its table, none for a jump that does not seem to have one.

        Args:
            at: the jump.
            previous: the last transfer of control before it.
            jumps: those of its function.
        """

    def address(self, n: int) -> int | None:
        """Return the address of data that an instruction names."""

    def addresses(self) -> Iterable[int]:
        """Return all addresses that instructions name."""


class JumpTables:
    """The jump tables of a section's code.

    Unless the code shows its length, a table ends at the next data that the code names, or before an entry that leads
    to no instruction.
    """

    def __init__(self, code: DecodedCode, container: Container, reader: TableReader) -> None:
        self._code = code
        self._reader = reader
        self._data = [section for section in container.sections if not section.executable]
        self._by_name = {section.name: number for number, section in enumerate(self._data)}
        self._named: list[list[int]] | None = None
        self._read: dict[tuple[tuple[int, int], tuple[JumpTableLayout, ...]], tuple[int, ...]] = {}

    def targets(self, begin: int, jumps: Sequence[Jump], inside: Callable[[int], bool]) -> dict[int, tuple[int, ...]]:
        """Return the targets of a function's indirect jumps, as far as their tables can be read.

        The table is named by an instruction before the jump: the last one that writes the register with its address,
        or, if that is not known, one behind the last transfer of control. If there is none, as where the address is
        computed before a loop, the jump may go wherever those tables of the function lead that no other jump has
        claimed.

        Args:
            begin: the first instruction of the function.
            jumps: its jumps.
            inside: returns True for the function's instructions.
        """
        targets_of: dict[int, tuple[int, ...]] = {}
        claimed: set[tuple[int, int]] = set()
        unclaimed: dict[int, tuple[JumpTableLayout, ...]] = {}
        previous = begin - 1
        for jump in jumps:
            if jump.kind == "indirect" and (layouts := self._reader.layouts(jump.at, previous, jumps)):
                for n in range(jump.at, begin - 1 if layouts[0].register else previous, -1):
                    place = self._place(n)
                    entries = self._entries(place, layouts, inside) if place and self._sets(n, layouts) else ()
                    if place and entries:
                        claimed.add(place)
                        targets_of[jump.at] = entries
                        break
                else:
                    unclaimed[jump.at] = layouts
            previous = jump.at
        if unclaimed:
            mentioned = [place for n in range(begin, jumps[-1].at + 1) if (place := self._place(n))]
        for at, layouts in unclaimed.items():
            read = {place: entries for place in mentioned if (entries := self._entries(place, layouts, inside))}
            rest = [place for place in read if place not in claimed] or list(read)
            targets_of[at] = tuple(dict.fromkeys([t for place in rest for t in read[place]]))
        return targets_of

    def _sets(self, n: int, layouts: tuple[JumpTableLayout, ...]) -> bool:
        """Return True if an instruction may set the register with the table's address."""
        register = layouts[0].register
        return not register or any(a.write and a.register.root == register for a in self._code.instruction(n).registers)

    def _place(self, n: int) -> tuple[int, int] | None:
        """Return the data that an instruction names: the section's number in `_data`, and the offset in it."""
        code = self._code
        if code.section.relocations:
            begin = code.offsets[n]
            end = code.offsets[n + 1] if n + 1 < len(code.offsets) else begin + _LONGEST
            return next((place for r in code.relocations(begin, end) if (place := self._field(r))), None)
        address = self._reader.address(n)
        return None if address is None else self._at(address)

    def _field(self, field: Relocation) -> tuple[int, int] | None:
        number = self._by_name.get(field.symbol, -1)
        return None if number < 0 else (number, field.addend + (self._reader.field_bias if field.pc_relative else 0))

    def _at(self, address: int) -> tuple[int, int] | None:
        for number, section in enumerate(self._data):
            if section.address <= address < section.address + len(section.data):
                return number, address - section.address
        return None

    def _entries(
        self, place: tuple[int, int], layouts: tuple[JumpTableLayout, ...], inside: Callable[[int], bool]
    ) -> tuple[int, ...]:
        """Return the instructions of a function to which the table at a place leads, each once."""
        key = place, layouts
        if key not in self._read:
            tables = (self._table(*place, layout) for layout in layouts)
            self._read[key] = tuple(dict.fromkeys(next((entries for entries in tables if entries), ())))
        return tuple([n for n in self._read[key] if inside(n)])

    def _table(self, number: int, start: int, layout: JumpTableLayout) -> list[int]:
        section, code = self._data[number], self._code
        named = self._starts()[number]
        at = bisect_right(named, start)
        end = named[at] if at < len(named) else len(section.data)
        end = min(end, start + layout.size * layout.entries)
        fields: dict[int, Relocation] | None = None
        if code.section.relocations and layout.relative_to in (0, TABLE):
            low = bisect_left(section.relocations, start, key=lambda r: r.offset)
            high = bisect_left(section.relocations, end, low, key=lambda r: r.offset)
            fields = {r.offset: r for r in section.relocations[low:high] if r.symbol == code.section.name}
        base = section.address + start if layout.relative_to == TABLE else layout.relative_to
        entries: list[int] = []
        for position in range(start, end - layout.size + 1, layout.size):
            if fields is not None:
                field = fields.get(position)
                if field is None or field.pc_relative != (layout.relative_to == TABLE):
                    break
                # The addend counts from the field's own place, the distance from the table's start.
                target = field.addend - (position - start if layout.relative_to == TABLE else 0)
            else:
                value = int.from_bytes(section.data[position : position + layout.size], "little", signed=layout.signed)
                target = base + layout.factor * value - code.section.address
            entry = code.number_at(target)
            if entry < 0:
                break
            entries.append(entry)
        return entries

    def _starts(self) -> list[list[int]]:
        """Return the offsets in each section of data that the code names, ascending."""
        if self._named is None:
            if self._code.section.relocations:
                places = {self._field(r) for r in self._code.section.relocations}
            else:
                places = {self._at(address) for address in set(self._reader.addresses())}
            self._named = [[] for _ in self._data]
            for place in sorted(place for place in places if place):
                self._named[place[0]].append(place[1])
        return self._named
