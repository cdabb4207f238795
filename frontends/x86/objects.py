"""Loops of x86-64 machine code in object files: control flow from the decoded instructions, kernels out.

A first pass over a section takes of each instruction only where it ends and where control goes; those of loops, and of
the code before them, are decoded in full.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING, Any

import msgspec
from iced_x86 import FlowControl, OpKind
from msgspec.structs import replace

from incc.frontends.asm.before import before_loops
from incc.frontends.asm.graph import Jump, Routine, build, group, hot_part, returns
from incc.frontends.asm.loops import Listing, call_notes, innermost
from incc.frontends.container import CodeAddresses, ContainerCode
from incc.frontends.kernel import Kernel, LeftOut, Region
from incc.frontends.x86.decode import decode, disassemble
from incc.frontends.x86.entry import Follower, entry_values
from incc.frontends.x86.kernels import ISA, finished
from incc.frontends.x86.pace import pace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from incc.frontends.asm.graph import ControlFlow
    from incc.frontends.container import Container, DebugInformation, Section, Span
    from incc.frontends.kernel import Affine, Instruction, Relocation, SourceLocation

_NEXT, _CALL, _INDIRECT_CALL = FlowControl.NEXT, FlowControl.CALL, FlowControl.INDIRECT_CALL
_INDIRECT = FlowControl.INDIRECT_BRANCH
_KINDS = {
    FlowControl.UNCONDITIONAL_BRANCH: "unconditional",
    _INDIRECT: "indirect",
    FlowControl.CONDITIONAL_BRANCH: "conditional",
    FlowControl.RETURN: "return",
    FlowControl.EXCEPTION: "stop",  # ud2 and its like
    FlowControl.XBEGIN_XABORT_XEND: "conditional",
}
_NEAR_BRANCH = OpKind.NEAR_BRANCH64
_ADDRESSES = (1 << 64) - 1


def container_kernels(container: Container, paces: bool) -> ContainerCode:
    """The innermost loops of an object's functions, and the cycles that are left out. `paces`: the kernels' `pace` is
    wanted."""
    code = ContainerCode([], [], [])
    for section in container.sections:
        if section.executable:
            found = _section_kernels(section, container, paces)
            code.kernels.extend(found.kernels)
            code.left_out.extend(found.left_out)
            code.addresses.extend(found.addresses)
    return code


def _section_kernels(section: Section, container: Container, paces: bool) -> ContainerCode:
    code = _Code(section)
    graphs = _graphs(code, _Tables(code, container))
    places: Any
    if container.debug is None:
        places = [_Place(line, None) for line in range(1, len(code.offsets) + 1)]
    else:
        places = _LocatedPlaces(code.offsets, section.debug_address, container.debug)
    listing = Listing(places, code.notes)
    regions, left_out = innermost(graphs, listing)

    def statement(line: int) -> tuple[Instruction, ...]:
        return (code.instruction(line - 1),)

    def address(line: int) -> str:
        return _address(code.instruction(line - 1))

    befores = before_loops(regions, lambda: graphs, listing.places, lambda n: False, None if paces else address)
    unit = min(64, section.alignment)
    kernels = []
    for region, before in zip(regions, befores, strict=True):
        chosen = [code.instruction(line - 1) for line in region.lines]
        entry: tuple[Affine, ...] = ()
        counted = 0
        if before is not None:
            follower = Follower(before, statement)
            entry, counted = entry_values(chosen, follower), pace(chosen, follower) if paces else 0
        offset = chosen[0].offset - section.address
        start = code.start_of(offset)
        name = f"{code.names.get(start, section.name)}+{offset - start:#x}"
        kernels.append(
            Kernel(
                name=name,
                isa=ISA,
                region=replace(region, name=name),
                instructions=finished(chosen),
                is_loop=True,
                alignment=chosen[0].offset % unit,
                entry=entry,
                alignment_unit=unit,
                pace=counted,
            )
        )
    start = section.debug_address
    addresses = [
        CodeAddresses(*(tuple([start + code.offsets[line - 1] for line in lines]) for lines in (r.lines, r.body_lines)))
        for r in regions
    ]
    return ContainerCode(kernels, left_out, addresses)


def container_spans(container: Container, spans: Sequence[Span]) -> ContainerCode:
    """The code of each span as one straight kernel; what holds bytes that are no instruction is left out."""
    found = ContainerCode([], [], [])
    codes: dict[int, _Code] = {}
    for number in {span.section for span in spans}:
        cuts = [at for span in spans if span.section == number for at in (span.start, span.end)]
        codes[number] = _Code(
            container.sections[number], [at for at in cuts if at < len(container.sections[number].data)]
        )
    for span in spans:
        code = codes[span.section]
        first, last = bisect_left(code.offsets, span.start), bisect_left(code.offsets, span.end)
        function_start = code.start_of(span.start)
        function = code.names.get(function_start, "")
        name = span.name or f"{function or code.section.name}+{span.start - function_start:#x}"
        chosen = [code.instruction(n) for n in range(first, last)]
        gap = _gap(code, first, last, span)
        if not chosen or gap is not None:
            where = code.section.address + (span.start if gap is None else gap)
            reason = f"there is no instruction at {where:#x}" if gap is not None else "no instruction in it"
            found.left_out.append(
                LeftOut(first_line=first + 1, last_line=last, function=function, label=name, reason=reason)
            )
            continue
        lines = tuple(range(first + 1, last + 1))
        is_loop = _goes_back(code, chosen[-1], function_start, span.start)
        inside = [n for n in range(first, last - 1) if n in code.branches and code.callee(n, code.branches[n]) is None]
        notes = code.notes(range(first, last))
        if span.kind == "address" and _Code(code.section).number_at(span.start) < 0:
            notes.append(f"read from its start on, {code.section.address + span.start:#x} is within an instruction")
        if inside:
            count = "1 branch" if len(inside) == 1 else f"{len(inside)} branches"
            notes.append(f"{count} inside: instructions are analysed in their order, as if none were taken")
        region = Region(
            kind=span.kind,
            name=name,
            function=function,
            label="",
            first_line=lines[0],
            last_line=lines[-1],
            lines=lines,
            body_lines=lines,
            is_loop=is_loop,
            depth=0,
            source=None,
            notes=tuple(notes),
        )
        unit = min(64, code.section.alignment)
        kernels = finished(chosen)
        found.kernels.append(
            Kernel(
                name=name,
                isa=ISA,
                region=region,
                instructions=kernels,
                is_loop=is_loop,
                alignment=chosen[0].offset % unit,
                alignment_unit=unit,
            )
        )
        addresses = tuple([code.section.debug_address + at for at in code.offsets[first:last]])
        found.addresses.append(CodeAddresses(addresses, addresses))
    return found


def _gap(code: _Code, first: int, last: int, span: Span) -> int | None:
    """Where in a span the first byte is that belongs to no instruction; None if there is none."""
    at = span.start
    for n in range(first, last):
        if code.offsets[n] != at:
            return at
        at += code.instruction(n).length
    return at if at < span.end else None


def _goes_back(code: _Code, last: Instruction, function_start: int, start: int) -> bool:
    """Whether the last instruction jumps to a span's start, or to what leads to it."""
    if last.branch not in ("conditional", "unconditional") or not last.target.startswith("0x"):
        return False
    return function_start <= int(last.target, 16) - code.section.address <= start


class _Place(msgspec.Struct, frozen=True):
    line: int
    location: SourceLocation | None


class _LocatedPlaces:
    """The places of a section's instructions. Each is looked up when it is asked for: those of loops are."""

    __slots__ = ("_debug", "_offsets", "_start")

    def __init__(self, offsets: Sequence[int], start: int, debug: DebugInformation) -> None:
        self._offsets = offsets
        self._start = start
        self._debug = debug

    def __len__(self) -> int:
        return len(self._offsets)

    def __getitem__(self, n: int) -> _LocatedPlace:
        return _LocatedPlace(n + 1, self._start + self._offsets[n], self._debug)


class _LocatedPlace:
    __slots__ = ("_address", "_debug", "line")

    def __init__(self, line: int, address: int, debug: DebugInformation) -> None:
        self.line = line
        self._address = address
        self._debug = debug

    @property
    def location(self) -> SourceLocation | None:
        return self._debug.location(self._address)


def _address(i: Instruction) -> str:
    """What a memory operand's address is made of, without displacement, to tell pointers apart; "" without one, and
    where it is the stack or the code itself."""
    registers = [a.register.name for a in i.registers if a.address]
    if registers.count("rsp") == len(registers):
        return ""
    scale = i.memory[0].scale if i.memory else i.affine.terms[-1][1] if i.affine and i.affine.terms else 1
    return f"{registers} {scale}"


class _Code:
    """An executable section: `offsets` are those of its instructions, in bytes from its start, ascending.

    Each function that is looked at is disassembled from its start up to the next one's or to bytes that are no
    instruction: data, or code of another mode; at `cuts`, too, an instruction begins. `starts` are all functions'
    starts, the section's own among them, and `branches` iced-x86's instructions, by number, that transfer control.
    `addresses` are those that instructions name relative to their own, by number.
    """

    def __init__(self, section: Section, cuts: Iterable[int] = ()) -> None:
        self.section = section
        self.names = dict(section.functions)
        self.starts = sorted({0, *self.names})
        begins = sorted({*self.starts, *cuts})
        self.offsets: list[int] = []
        self.branches: dict[int, Any] = {}
        self.addresses: dict[int, int] = {}
        self._known: dict[int, Instruction] = {}
        self._relocated = [r.offset for r in section.relocations]
        self._start_of_symbol = {name: start for start, name in section.functions}
        self._start_of_symbol[section.name] = 0
        add = self.offsets.append
        for start, end in zip(begins, [*begins[1:], len(section.data)], strict=True):
            if section.chosen is not None and start not in section.chosen:
                continue
            for native in disassemble(section.data[start:end], section.address + start):
                if native.flow_control != _NEXT:
                    self.branches[len(self.offsets)] = native
                if native.is_ip_rel_memory_operand:
                    self.addresses[len(self.offsets)] = native.ip_rel_memory_address
                # A damaged file's section may reach over the end of the address space.
                add((native.ip - section.address) & _ADDRESSES)

    def start_of(self, offset: int) -> int:
        """Where the function begins that the instruction at `offset` is in."""
        return self.starts[bisect_right(self.starts, offset) - 1]

    def number_at(self, offset: int) -> int:
        """The number of the instruction that begins there, -1 if none does."""
        n = bisect_left(self.offsets, offset)
        return n if n < len(self.offsets) and self.offsets[n] == offset else -1

    def relocations(self, first: int, end: int) -> tuple[Relocation, ...]:
        low = bisect_left(self._relocated, first)
        return self.section.relocations[low : bisect_left(self._relocated, end, low)]

    def instruction(self, n: int) -> Instruction:
        """The instruction of that number, as it is in a kernel: without line."""
        found = self._known.get(n)
        if found is not None:
            return found
        section, at = self.section, self.offsets[n]
        end = self.offsets[n + 1] if n + 1 < len(self.offsets) else len(section.data)
        code = section.data[at : min(end, at + 15)]
        found = decode(code, section.address + at, section=section.name)
        fields = self.relocations(at, at + found.length)
        if fields and found.branch:
            found = replace(found, target=self._target(found.branch, fields[0]))
        elif fields:  # only objects have them, and their sections are at address 0
            found = decode(code[: found.length], at, "", 0, fields, section.name)
        self._known[n] = found
        return found

    def _target(self, kind: str, field: Relocation) -> str:
        """Where the linker will let a branch go: a name, unless that is in this section."""
        start = self._start_of_symbol.get(field.symbol)
        return field.symbol if start is None or kind == "call" else f"{start + field.addend + 4:#x}"

    def callee(self, n: int, native: Any) -> str | None:
        """The name or address that a call goes to, "" where memory or a register holds it; None for what is no call."""
        flow = native.flow_control
        direct = native.op0_kind == _NEAR_BRANCH
        if flow != _INDIRECT_CALL and (flow != _CALL or not direct):
            return None  # among them system calls
        fields = self.relocations(self.offsets[n], self.offsets[n] + native.len)
        if fields:
            return fields[0].symbol
        target = native.near_branch_target
        return self.names.get(target - self.section.address, f"{target:#x}") if direct else ""

    def notes(self, members: Sequence[int]) -> list[str]:
        """What calls on a path hide."""
        callees = [self.callee(n, self.branches[n]) for n in members if n in self.branches]
        return call_notes([callee for callee in callees if callee is not None])

    def jumps(self) -> Iterator[Jump]:
        """The control transfers but calls that come back, in order; indirect ones without targets."""
        for n, native in self.branches.items():
            callee = self.callee(n, native)
            if callee is not None:
                if not returns(callee):
                    yield Jump(at=n, kind="stop", targets=())
                continue
            kind = _KINDS.get(native.flow_control, "")
            if kind == "conditional" and native.op0_kind != _NEAR_BRANCH:
                continue  # xend, xabort
            target = -1
            if kind in ("conditional", "unconditional"):
                fields = self.relocations(self.offsets[n], self.offsets[n] + native.len)
                if fields:
                    where = self._target(kind, fields[0])
                    target = self.number_at(int(where, 16)) if where[:2] == "0x" else -1
                else:
                    target = self.number_at(native.near_branch_target - self.section.address)
            if kind:
                yield Jump(at=n, kind=kind, targets=() if target < 0 else (target,))


def _graphs(code: _Code, tables: _Tables) -> list[ControlFlow]:
    """The control flow of all functions of a section."""
    bounds = [*(bisect_left(code.offsets, start) for start in code.starts), len(code.offsets)]
    # Where nothing could be disassembled, there is no function.
    functions = [
        (code.names.get(start, ""), range(begin, end))
        for start, begin, end in zip(code.starts, bounds, bounds[1:], strict=False)
        if begin < end
    ]
    begins = [numbers.start for _, numbers in functions]
    jumps: list[list[Jump]] = [[] for _ in functions]
    for jump in code.jumps():
        jumps[bisect_right(begins, jump.at) - 1].append(jump)
    number_of = {name: number for number, (name, _) in enumerate(functions) if name}
    # The other part, hot or cold, of each function that has one.
    other = {cold: number_of[hot] for name, cold in number_of.items() if (hot := hot_part(name)) in number_of}
    other |= {hot: cold for cold, hot in other.items()}

    def owner(n: int) -> int:
        return bisect_right(begins, n) - 1

    routines = []
    for number, (name, numbers) in enumerate(functions):
        parts = {number, other.get(number, number)}
        through = tables.targets(numbers.start, jumps[number], lambda n, parts=parts: owner(n) in parts)  # type: ignore[misc]
        found = []
        for jump in jumps[number]:
            targets = jump.targets or through.get(jump.at, ())
            # A jump to where another function begins is a tail call.
            calls = tuple([n for n in targets if owner(n) not in parts and begins[owner(n)] == n])
            found.append(Jump(at=jump.at, kind=jump.kind, targets=targets, calls=calls))
        routines.append(Routine(name=name, section="", instructions=numbers, jumps=found))
    jumped_to = {n for routine in routines for jump in routine.jumps for n in jump.targets}

    def label(n: int) -> str:
        offset = code.offsets[n]
        return f".L{code.section.address + offset:x}" if n in jumped_to else code.names.get(offset, "")

    return [build(routines, members, label) for members in group(routines, owner)]


class _Tables:
    """Jump tables of a section's code: of distances from the table's start, 4 bytes each, or of addresses.

    Where a table ends is not written anywhere: at the next place that the code names, or before what is no instruction.
    """

    def __init__(self, code: _Code, container: Container) -> None:
        self._code = code
        self._data = [section for section in container.sections if not section.executable]
        self._by_name = {section.name: number for number, section in enumerate(self._data)}
        self._named: list[list[int]] | None = None
        self._read: dict[tuple[int, int], tuple[int, ...]] = {}

    def targets(self, begin: int, jumps: Sequence[Jump], inside: Callable[[int], bool]) -> dict[int, tuple[int, ...]]:
        """The targets of the indirect jumps of a function that begins with instruction `begin`, where they are found.

        The table is named by an instruction before the jump, back to the last transfer of control; where its address is
        computed further away, as before a loop, the jump may go wherever the function's tables lead that no other jump
        has claimed. `inside` says whether an instruction is one of the function.
        """
        found: dict[int, tuple[int, ...]] = {}
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
                        found[jump.at] = entries
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
            found |= dict.fromkeys(unclaimed, targets)
        return found

    def _by_table(self, at: int, previous: int) -> bool:
        """Whether an indirect jump looks as if it went through a table: to what is loaded with an index, or to a sum of
        two registers. Others are tail calls."""
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
        """The data that an instruction names: the section's number in `_data`, and the offset in it."""
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
        # Of a relative field that ends the instruction: addends count from the field, addresses from behind it.
        return None if number < 0 else (number, field.addend + (4 if field.pc_relative else 0))

    def _at(self, address: int) -> tuple[int, int] | None:
        for number, section in enumerate(self._data):
            if section.address <= address < section.address + len(section.data):
                return number, address - section.address
        return None

    def _entries(self, place: tuple[int, int], inside: Callable[[int], bool]) -> tuple[int, ...]:
        """The instructions of a function to which the table there leads, each once; none where there is no table."""
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
            found: list[int] = []
            for position in range(start, end - size + 1, size):
                if code.section.relocations:
                    field = fields.get(position)
                    if field is None or field.pc_relative != (size == 4):
                        break
                    # A distance counts from its own place here, and is to count from the table's start.
                    target = field.addend - (position - start if size == 4 else 0)
                else:
                    value = int.from_bytes(section.data[position : position + size], "little", signed=True)
                    target = value - code.section.address + (section.address + start if size == 4 else 0)
                entry = code.number_at(target)
                if entry < 0:
                    break
                found.append(entry)
            if found:
                return found
        return []

    def _starts(self) -> list[list[int]]:
        """The places in each section of data that the code names, ascending."""
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
