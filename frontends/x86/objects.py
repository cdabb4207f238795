"""The machine code of x86-64 in object files, for `incc.frontends.machine_code`."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from typing import Any

from iced_x86 import FlowControl, OpKind

from incc.frontends.asm.graph import Jump
from incc.frontends.container import Container
from incc.frontends.kernel import Instruction, Relocation
from incc.frontends.machine_code import Code, Flow
from incc.frontends.x86.convention import CONVENTION
from incc.frontends.x86.decode import decode, disassemble
from incc.frontends.x86.kernels import ISA, finished

_NEXT = FlowControl.NEXT
_KINDS = {
    FlowControl.UNCONDITIONAL_BRANCH: "unconditional",
    FlowControl.INDIRECT_BRANCH: "indirect",
    FlowControl.CONDITIONAL_BRANCH: "conditional",
    FlowControl.RETURN: "return",
    FlowControl.EXCEPTION: "stop",  # ud2 and its like
    FlowControl.XBEGIN_XABORT_XEND: "conditional",
    FlowControl.CALL: "call",
    FlowControl.INDIRECT_CALL: "call",
}
_NEAR_BRANCH = OpKind.NEAR_BRANCH64
_ADDRESSES = (1 << 64) - 1


class X86Disassembler:
    """See `incc.frontends.machine_code.Disassembler`."""

    isa = ISA
    convention = CONVENTION
    branch_bias = 4  # the addend counts from the field, which ends the instruction

    def scan(self, code: Code, start: int, end: int) -> None:
        """Add the instructions between two offsets, up to bytes that are none."""
        section, add = code.section, code.offsets.append
        for native in disassemble(bytes(section.data[start:end]), section.address + start):
            if native.flow_control != _NEXT:
                code.branches[len(code.offsets)] = native
            if native.is_ip_rel_memory_operand:
                code.addresses[len(code.offsets)] = native.ip_rel_memory_address
            # A damaged file's section may reach over the end of the address space.
            add((native.ip - section.address) & _ADDRESSES)

    def flow(self, branch: Any) -> Flow:
        """Return how an instruction of iced-x86's transfers control."""
        kind, direct = _KINDS.get(branch.flow_control, ""), branch.op0_kind == _NEAR_BRANCH
        if not direct and (kind == "conditional" or branch.flow_control == FlowControl.CALL):
            kind = ""  # xend, xabort; a system call
        return Flow(kind, branch.near_branch_target if direct else None, branch.len)

    def decode(self, code: Code, n: int) -> Instruction:
        """Return an instruction."""
        section, at = code.section, code.offsets[n]
        end = code.offsets[n + 1] if n + 1 < len(code.offsets) else len(section.data)
        data = bytes(section.data[at : min(end, at + 15)])
        instruction = decode(data, section.address + at, section=section.name)
        fields = code.relocations(at, at + instruction.length)
        if fields and not instruction.branch:  # only objects have them, and their sections are at address 0
            instruction = decode(data[: instruction.length], at, "", 0, fields, section.name)
        return instruction

    def finished(self, instructions: list[Instruction]) -> tuple[Instruction, ...]:
        """Return the instructions of a kernel."""
        return finished(instructions)

    def tables(self, code: Code, container: Container) -> _Tables:
        """Return the tables of a section's indirect jumps."""
        return _Tables(code, container)


class _Tables:
    """The jump tables of a section's code: of distances from the table's start, 4 bytes each, or of addresses.

    The length of a table is not in the code. A table ends at the next data that the code names, or before an entry
    that leads to no instruction.
    """

    def __init__(self, code: Code, container: Container) -> None:
        self._code = code
        self._data = [section for section in container.sections if not section.executable]
        self._by_name = {section.name: number for number, section in enumerate(self._data)}
        self._named: list[list[int]] | None = None
        self._read: dict[tuple[int, int], tuple[int, ...]] = {}

    def targets(self, begin: int, jumps: Sequence[Jump], inside: Callable[[int], bool]) -> dict[int, tuple[int, ...]]:
        """Return the targets of a function's indirect jumps, as far as their tables can be read.

        The table is named by an instruction before the jump, back to the last transfer of control. If its address is
        computed further away, as before a loop, the jump may go wherever those tables of the function lead that no
        other jump has claimed.

        Args:
            begin: the first instruction of the function.
            jumps: its jumps.
            inside: returns True for the function's instructions.
        """
        targets_of: dict[int, tuple[int, ...]] = {}
        claimed: set[tuple[int, int]] = set()
        unclaimed = []
        previous = begin - 1
        for jump in jumps:
            if jump.kind == "indirect" and self._by_table(jump.at, previous):
                for n in range(jump.at, previous, -1):
                    place = self._place(n)
                    entries = self._entries(place, inside) if place else ()
                    if place and entries:
                        claimed.add(place)
                        targets_of[jump.at] = entries
                        break
                else:
                    unclaimed.append(jump.at)
            previous = jump.at
        if unclaimed:
            mentioned: dict[tuple[int, int], tuple[int, ...]] = {}
            for n in range(begin, jumps[-1].at + 1):
                place = self._place(n)
                if place and (entries := self._entries(place, inside)):
                    mentioned[place] = entries
            rest = [place for place in mentioned if place not in claimed] or list(mentioned)
            targets = tuple(dict.fromkeys([t for place in rest for t in mentioned[place]]))
            targets_of |= dict.fromkeys(unclaimed, targets)
        return targets_of

    def _by_table(self, at: int, previous: int) -> bool:
        """Return True if an indirect jump seems to go through a table. Other indirect jumps are tail calls.

        Its target is loaded with an index, or is the sum of two registers.
        """
        jump = self._code.instruction(at)
        if jump.memory:
            return jump.memory[0].index is not None
        register = next((a.register.root for a in jump.registers), "")
        for n in range(at - 1, previous, -1):
            i = self._code.instruction(n)
            if any(a.write and a.register.root == register for a in i.registers):
                if i.mnemonic == "add":
                    return i.operands == "rr"
                return i.mnemonic == "mov" and bool(i.memory) and i.memory[0].index is not None
        return False

    def _place(self, n: int) -> tuple[int, int] | None:
        """Return the data that an instruction names: the section's number in `_data`, and the offset in it."""
        code = self._code
        if code.section.relocations:
            begin = code.offsets[n]
            end = code.offsets[n + 1] if n + 1 < len(code.offsets) else begin + 15
            return next((place for r in code.relocations(begin, end) if (place := self._field(r))), None)
        address = code.addresses.get(n)
        if address is None:
            memory = code.instruction(n).memory
            if not memory or memory[0].base is not None or memory[0].index is None:
                return None
            address = memory[0].displacement
        return self._at(address)

    def _field(self, field: Relocation) -> tuple[int, int] | None:
        number = self._by_name.get(field.symbol, -1)
        # The addend of a relative field counts from the field, the address from its end: it ends the instruction.
        return None if number < 0 else (number, field.addend + (4 if field.pc_relative else 0))

    def _at(self, address: int) -> tuple[int, int] | None:
        for number, section in enumerate(self._data):
            if section.address <= address < section.address + len(section.data):
                return number, address - section.address
        return None

    def _entries(self, place: tuple[int, int], inside: Callable[[int], bool]) -> tuple[int, ...]:
        """Return the instructions of a function to which the table at a place leads, each once."""
        entries = self._read.get(place)
        if entries is None:
            entries = self._read[place] = tuple(dict.fromkeys(self._table(*place)))
        return tuple([n for n in entries if inside(n)])

    def _table(self, number: int, start: int) -> list[int]:
        section, code = self._data[number], self._code
        named = self._starts()[number]
        at = bisect_right(named, start)
        end = named[at] if at < len(named) else len(section.data)
        fields: dict[int, Relocation] = {}
        if section.relocations:
            low = bisect_left(section.relocations, start, key=lambda r: r.offset)
            high = bisect_left(section.relocations, end, low, key=lambda r: r.offset)
            fields = {r.offset: r for r in section.relocations[low:high] if r.symbol == code.section.name}
        for size in (4, 8):
            entries: list[int] = []
            for position in range(start, end - size + 1, size):
                if code.section.relocations:
                    field = fields.get(position)
                    if field is None or field.pc_relative != (size == 4):
                        break
                    # The addend counts from the field's own place, the distance from the table's start.
                    target = field.addend - (position - start if size == 4 else 0)
                else:
                    value = int.from_bytes(section.data[position : position + size], "little", signed=True)
                    target = value - code.section.address + (section.address + start if size == 4 else 0)
                entry = code.number_at(target)
                if entry < 0:
                    break
                entries.append(entry)
            if entries:
                return entries
        return []

    def _starts(self) -> list[list[int]]:
        """Return the offsets in each section of data that the code names, ascending."""
        if self._named is None:
            code = self._code
            if code.section.relocations:
                places = {self._field(r) for r in code.section.relocations}
            else:
                places = {self._at(address) for address in set(code.addresses.values())}
            self._named = [[] for _ in self._data]
            for place in sorted(place for place in places if place):
                self._named[place[0]].append(place[1])
        return self._named
