"""Kernels of machine code in object files, from the control flow of the decoded instructions.

A first pass over a section notes only where each instruction ends and where control goes. Instructions of loops, and
of the code before them, are decoded in full. What depends on the instruction set is in its `Disassembler`.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Protocol

import msgspec
from msgspec.structs import replace

from incc.frontends.asm.entry import Blocks, Convention, Follower, PointerEffects, entry_of, with_steps
from incc.frontends.asm.graph import ControlFlow, Jump, Routine, build, group, hot_part, returns
from incc.frontends.asm.loops import InstructionFacts, call_notes, innermost
from incc.frontends.asm.pace import Pace, pace
from incc.frontends.asm.preceding import before_loops
from incc.frontends.container import CodeAddresses, Container, ContainerCode, DebugInformation, Section, Span
from incc.frontends.isa import is_padding
from incc.frontends.jump_tables import JumpTables, TableReader
from incc.frontends.kernel import (
    CodeSpan,
    Instruction,
    KernelCode,
    LeftOut,
    Region,
    Relocation,
    SourceLocation,
)


class Flow(msgspec.Struct, frozen=True):
    """A transfer of control."""

    kind: str
    """One of "conditional", "unconditional", "indirect", "call", "return", "stop" (a trap), "" for no transfer."""
    target: int | None
    """The address that it goes to; None if that is in a register or in memory."""
    length: int
    """The instruction's length in bytes."""


class Disassembler(Protocol):
    """The machine code of an instruction set."""

    isa: str
    convention: Convention
    branch_bias: int
    """The distance of a branch's target from the symbol and the addend of its relocation."""

    def scan(self, code: Code, start: int, end: int) -> None:
        """Add the instructions between two offsets of a section to its code, up to bytes that are none."""

    def decode(self, code: Code, n: int) -> Instruction:
        """Return an instruction without a line, as it is in a kernel.

        A branch that the linker fills in may have any target.
        """

    def effects(self, code: Code, lines: tuple[int, ...]) -> list[PointerEffects]:
        """Return the effects of the instructions of a block's lines, which need not be decoded in full for that."""

    def finished(self, instructions: list[Instruction]) -> tuple[Instruction, ...]:
        """Return the instructions of a kernel, once all are decoded."""

    def tables(self, code: Code) -> TableReader:
        """Return how the indirect jumps of a section read their tables."""


def container_kernels(container: Container, paces: bool, of_isa: Disassembler) -> ContainerCode:
    """Return the innermost loops of an object's functions. Without `paces` the kernels' `pace` is not computed."""
    sections = [
        _section_kernels(section, container, paces, of_isa) for section in container.sections if section.executable
    ]
    return ContainerCode(
        [kernel for section in sections for kernel in section.kernels],
        [cycle for section in sections for cycle in section.left_out],
        [addresses for section in sections for addresses in section.addresses],
    )


def _section_kernels(section: Section, container: Container, paces: bool, of_isa: Disassembler) -> ContainerCode:
    if section.chosen is not None and not section.chosen:
        return ContainerCode([], [], [])
    code = Code(section, of_isa)
    graphs = _graphs(code, JumpTables(code, container, of_isa.tables(code)))
    start, debug = section.debug_address, container.debug
    listing = InstructionFacts(_Places(code, debug), code.notes)
    regions, left_out = innermost(graphs, listing)
    if section.chosen is not None:
        # Functions that others jump into belong to the graphs of these, but their loops to another part.
        regions = [region for region in regions if code.is_chosen(region.lines[0] - 1)]
        left_out = [cycle for cycle in left_out if code.is_chosen(cycle.first_line - 1)]

    def address(line: int) -> str:
        return _address(code.instruction(line - 1), of_isa.convention.stack[0])

    def does_nothing(n: int) -> bool:
        return is_padding(code.instruction(n).mnemonic)

    befores = before_loops(
        regions, lambda: graphs, listing.places, lambda n: False, None if paces else address, lambda: does_nothing
    )
    unit = min(64, section.alignment)
    blocks = Blocks(code.statement, of_isa.convention, partial(of_isa.effects, code))
    kernels = []
    for region, before in zip(regions, befores, strict=True):
        chosen = [code.instruction(line - 1) for line in region.lines]
        offset = chosen[0].offset - section.address
        begin = code.function_start(offset)
        name = f"{code.function_at(begin) or section.name}+{offset - begin:#x}"
        follower = None if before is None else Follower(before, blocks)
        chosen = with_steps(chosen, follower) if follower and of_isa.convention.of_elements else chosen
        paced = pace(chosen, follower) if follower and paces else Pace(0)
        entry = entry_of(chosen, follower, start - section.address)
        kernels.append(
            KernelCode(
                name=name,
                isa=of_isa.isa,
                region=replace(region, name=name),
                instructions=of_isa.finished(chosen),
                is_loop=True,
                alignment=chosen[0].offset % unit,
                entry=entry.values,
                alone=entry.alone,
                products=entry.products,
                origins=entry.origins,
                held=entry.held,
                alignment_unit=unit,
                spans=_spans(code, region),
                base=section.address + code.symbol_start(code.offsets[region.runs[0][1] - 1]),
                pace=paced.number,
                scalable_pace=paced.scalable,
            )
        )
    addresses = [
        CodeAddresses(*(tuple([start + code.offsets[line - 1] for line in lines]) for lines in (r.lines, r.body_lines)))
        for r in regions
    ]
    return ContainerCode(kernels, left_out, addresses)


def _spans(code: Code, region: Region) -> tuple[CodeSpan, ...]:
    """Return the places of a loop's instructions relative to symbols; none if one has no symbol."""
    spans = []
    for _, first, last in region.runs:
        at = code.offsets[first - 1]
        start = code.symbol_start(at)
        if start not in code.names:
            return ()
        spans.append(CodeSpan(code.names[start], at - start, code.end_of(last - 1) - at))
    return tuple(spans)


def container_spans(container: Container, spans: Sequence[Span], of_isa: Disassembler) -> ContainerCode:
    """Return the code of each span as a straight-line kernel. Spans with bytes that are no instruction are left out."""
    result = ContainerCode([], [], [])
    codes: dict[int, Code] = {}
    for number in {span.section for span in spans}:
        section = container.sections[number]
        cuts = [at for span in spans if span.section == number for at in (span.start, span.end)]
        codes[number] = Code(section, of_isa, [at for at in cuts if at < len(section.data)])
    for span in spans:
        code = codes[span.section]
        first, last = bisect_left(code.offsets, span.start), bisect_left(code.offsets, span.end)
        function_start = code.symbol_start(span.start)
        function = code.names.get(function_start, "")
        name = span.name or f"{function or code.section.name}+{span.start - function_start:#x}"
        chosen = [code.instruction(n) for n in range(first, last)]
        gap = _gap(code, first, last, span)
        if gap is not None or not chosen:
            reason = "no instruction in it"
            if gap is not None:
                reason = f"there is no instruction at {code.section.address + gap:#x}"
            result.left_out.append(
                LeftOut(first_line=first + 1, last_line=last, function=function, label=name, reason=reason)
            )
            continue
        lines = tuple(range(first + 1, last + 1))
        is_loop = _goes_back(code, chosen[-1], function_start, span.start)
        region = Region(
            kind=span.kind,
            name=name,
            function=function,
            first_line=lines[0],
            last_line=lines[-1],
            lines=lines,
            body_lines=lines,
            is_loop=is_loop,
            notes=_span_notes(code, first, last, span),
        )
        unit = min(64, code.section.alignment)
        result.kernels.append(
            KernelCode(
                name=name,
                isa=of_isa.isa,
                region=region,
                instructions=of_isa.finished(chosen),
                is_loop=is_loop,
                alignment=chosen[0].offset % unit,
                alignment_unit=unit,
            )
        )
        addresses = tuple([code.section.debug_address + at for at in code.offsets[first:last]])
        result.addresses.append(CodeAddresses(addresses, addresses))
    return result


def _span_notes(code: Code, first: int, last: int, span: Span) -> tuple[str, ...]:
    notes = code.notes(range(first, last))
    if span.kind == "address" and Code(code.section, code.of_isa).number_at(span.start) < 0:
        notes.append(f"read from its start on, {code.section.address + span.start:#x} is within an instruction")
    branches = sum(n in code.branches and code.callee(n) is None for n in range(first, last - 1))
    if branches:
        count = "1 branch" if branches == 1 else f"{branches} branches"
        notes.append(f"{count} inside: instructions are analysed in their order, as if none were taken")
    return tuple(notes)


def _gap(code: Code, first: int, last: int, span: Span) -> int | None:
    """Return the offset of the first byte of a span that belongs to no instruction, None if there is none."""
    at = span.start
    for n in range(first, last):
        if code.offsets[n] != at:
            return at
        at = code.end_of(n)
    return at if at < span.end else None


def _goes_back(code: Code, last: Instruction, function_start: int, start: int) -> bool:
    """Return True if the last instruction of a span jumps to its start, or to code of the function before it."""
    if last.branch not in ("conditional", "unconditional") or not last.target.startswith("0x"):
        return False
    return function_start <= int(last.target, 16) - code.section.address <= start


class _Places(dict[int, "_Place"]):
    """The places of instructions by their numbers, made as they are needed: only those of loops are."""

    def __init__(self, code: Code, debug: DebugInformation | None) -> None:
        super().__init__()
        self._code = code
        self._debug = debug

    def __missing__(self, n: int) -> _Place:
        code = self._code
        place = self[n] = _Place(n + 1, code.section.debug_address + code.offsets[n], self._debug)
        return place


class _Place(msgspec.Struct, frozen=True):
    """The place of an instruction in the source, which is looked up when it is needed."""

    line: int
    address: int
    debug: DebugInformation | None

    @property
    def location(self) -> SourceLocation | None:
        return self.debug.location(self.address) if self.debug else None


def _address(i: Instruction, stack: str) -> str:
    """Return the registers and the scale of a memory operand's address, to tell pointers apart.

    The result is "" if there is no memory operand, or it is on the stack or relative to the instruction.
    """
    registers = [a.register.name for a in i.registers if a.address]
    if registers.count(stack) == len(registers):
        return ""
    scale = i.memory[0].scale if i.memory else i.affine.terms[-1][1] if i.affine and i.affine.terms else 1
    return f"{registers} {scale}"


_MOST_OTHERS = 50_000
"""The most instructions besides twice the chosen ones of functions that these jump into. Without symbols functions are
not told apart, so that most of them seem to jump into each other."""


class Code:
    """The instructions of an executable section, by number.

    Each chosen function is disassembled from its start up to the next one's, or to bytes that are no instruction: data,
    or code of another mode. So are the functions that a chosen one jumps into, and its cold part. An instruction also
    begins at each of the `cuts`.
    """

    def __init__(self, section: Section, of_isa: Disassembler, cuts: Iterable[int] = ()) -> None:
        self.section = section
        self.of_isa = of_isa
        symbols = _symbols(section)
        self.names = symbols.names
        self.starts = symbols.starts
        """The offsets at which functions start, and the section's own start."""
        self._symbols = symbols
        self._cuts = sorted({*symbols.bounds, *cuts}) if cuts else symbols.bounds
        self.offsets: list[int] = []
        """The offset of each instruction in bytes, ascending."""
        self.branches: dict[int, Flow] = {}
        """The instructions that may transfer control, by number, in order."""
        self.addresses: dict[int, int] = {}
        """Addresses that instructions name relative to their own."""
        self._decoded: dict[int, Instruction] = {}
        self._relocated = [r.offset for r in section.relocations]
        self.functions: list[tuple[int, int, int]] = []
        """The offset, the first instruction and that after the last of each function with instructions."""
        if section.chosen is None:
            self._disassemble(self._cuts)
        else:
            self._disassemble(sorted(section.chosen))
            most = 2 * len(self.offsets) + _MOST_OTHERS
            chosen = set(section.chosen)
            while not chosen.issuperset(others := self._jumped_into()):
                chosen |= others
                self._disassemble(sorted(chosen))
                if len(self.offsets) > most:
                    self._disassemble(sorted(section.chosen))
                    break

    def _disassemble(self, begins: Sequence[int]) -> None:
        """Disassemble from each of these offsets up to the next place where something begins."""
        section = self.section
        for each in (self.offsets, self.branches, self.addresses, self.functions):
            each.clear()
        for start in begins:
            at = bisect_right(self._cuts, start)
            end = self._cuts[at] if at < len(self._cuts) else len(section.data)
            first = len(self.offsets)
            self.of_isa.scan(self, start, end)
            if first < len(self.offsets):
                self.functions.append((start, first, len(self.offsets)))

    def _jumped_into(self) -> set[int]:
        """Return the functions that the disassembled ones jump into, and their other parts."""
        parts = self._symbols.parts
        others = {parts[start] for start, _, _ in self.functions if start in parts}
        for n in self.branches:
            offset = self._target_of(n)
            if 0 <= offset < len(self.section.data):
                start = self.function_start(offset)
                if start != offset:  # a tail call does not make two functions one graph
                    others.add(start)
        return others

    def runs(self) -> list[int]:
        """Return for each function the number of the run of code that it is in; others than chosen ones end a run."""
        if self.section.chosen is None:
            return [0] * len(self.functions)
        places = [bisect_left(self._symbols.bounds, start) for start, _, _ in self.functions]
        return [place - number for number, place in enumerate(places)]

    def is_chosen(self, n: int) -> bool:
        """Return True if an instruction is in a chosen function."""
        chosen = self.section.chosen
        return chosen is None or self.function_start(self.offsets[n]) in chosen

    def symbol_start(self, offset: int) -> int:
        """Return the offset of the symbol of the function of the instruction at `offset`, 0 without a symbol."""
        return self.starts[bisect_right(self.starts, offset) - 1]

    def function_start(self, offset: int) -> int:
        """Return the offset at which the function of the instruction at `offset` begins, even without a symbol."""
        bounds = self._symbols.bounds
        return bounds[bisect_right(bounds, offset) - 1]

    def function_at(self, start: int) -> str:
        """Return the name of the function that begins at an offset; one without a symbol is named after its address."""
        if start in self.names or start == 0:
            return self.names.get(start, "")
        return f"sub_{self.section.address + start:x}"

    def number_at(self, offset: int) -> int:
        """Return the number of the instruction that begins at `offset`, -1 if none does."""
        n = bisect_left(self.offsets, offset)
        return n if n < len(self.offsets) and self.offsets[n] == offset else -1

    def end_of(self, n: int) -> int:
        """Return the offset after an instruction."""
        return self.offsets[n] + self.instruction(n).length

    def relocations(self, first: int, end: int) -> tuple[Relocation, ...]:
        """Return the fields between two offsets."""
        if not self._relocated:
            return ()
        low = bisect_left(self._relocated, first)
        return self.section.relocations[low : bisect_left(self._relocated, end, low)]

    def instruction(self, n: int) -> Instruction:
        """Return an instruction as it is in a kernel, without a line."""
        if n not in self._decoded:
            instruction = self.of_isa.decode(self, n)
            at = self.offsets[n]
            if instruction.branch and (fields := self.relocations(at, at + instruction.length)):
                instruction = replace(instruction, target=self._target(instruction.branch, fields[0]))
            self._decoded[n] = instruction
        return self._decoded[n]

    def statement(self, line: int) -> tuple[Instruction, ...]:
        """Return the instruction of a line of the disassembly."""
        return (self.instruction(line - 1),)

    def _target(self, kind: str, field: Relocation) -> str:
        """Return the target of a branch that the linker fills in: an address in this section, else a name."""
        start = self._symbols.start_of.get(field.symbol)
        if start is None or kind == "call":
            return field.symbol
        return f"{start + field.addend + self.of_isa.branch_bias:#x}"

    def callee(self, n: int) -> str | None:
        """Return the name or address that a call goes to, "" for an indirect call, None if it is no call."""
        flow = self.branches[n]
        if flow.kind != "call":
            return None
        if fields := self.relocations(self.offsets[n], self.offsets[n] + flow.length):
            return fields[0].symbol
        if flow.target is None:
            return ""
        return self.names.get(flow.target - self.section.address, f"{flow.target:#x}")

    def notes(self, members: Sequence[int]) -> list[str]:
        """Return the notes on the calls among these instructions."""
        callees = [self.callee(n) for n in members if n in self.branches]
        return call_notes([callee for callee in callees if callee is not None])

    def jumps(self) -> Iterator[Jump]:
        """Yield the control transfers except calls that return, in order. Indirect jumps have no targets yet."""
        for n, flow in self.branches.items():
            callee = self.callee(n)
            if callee is not None:
                if not returns(callee):
                    yield Jump(at=n, kind="stop", targets=())
            elif flow.kind:
                target = self.number_at(self._target_of(n))
                yield Jump(at=n, kind=flow.kind, targets=() if target < 0 else (target,))

    def _target_of(self, n: int) -> int:
        """Return the offset that a direct jump goes to, -1 for none in this section, calls and other instructions."""
        flow = self.branches[n]
        if flow.kind not in ("conditional", "unconditional") or flow.target is None:
            return -1
        if fields := self.relocations(self.offsets[n], self.offsets[n] + flow.length):
            where = self._target(flow.kind, fields[0])
            return int(where, 16) if where[:2] == "0x" else -1
        return flow.target - self.section.address


class _Symbols(msgspec.Struct, frozen=True, kw_only=True):
    """The functions of a section."""

    names: dict[int, str]
    starts: list[int]
    """The offsets of functions with symbols, and 0; ascending."""
    bounds: list[int]
    """`starts`, and in a section that is analysed in parts the offsets of functions without symbols."""
    start_of: dict[str, int]
    parts: dict[int, int]
    """The other part, hot or cold, of each function that has one."""


_kept: dict[str, tuple[Section, _Symbols]] = {}
"""The functions of the last section, which has many parts if it is large."""


def _symbols(section: Section) -> _Symbols:
    kept = _kept.get("last")
    if kept is not None and kept[0].functions is section.functions and kept[0].cuts is section.cuts:
        return kept[1]
    names = dict(section.functions)
    start_of = {name: start for start, name in section.functions}
    parts = {start: start_of[hot] for name, start in start_of.items() if (hot := hot_part(name)) in start_of}
    parts |= {hot: cold for cold, hot in parts.items()}
    start_of[section.name] = 0
    starts = sorted({0, *names})
    bounds = sorted({*starts, *section.cuts}) if section.cuts else starts
    symbols = _Symbols(names=names, starts=starts, bounds=bounds, start_of=start_of, parts=parts)
    _kept["last"] = section, symbols
    return symbols


def _graphs(code: Code, tables: JumpTables) -> list[ControlFlow]:
    """Return the control flow of the functions of a section that have loops."""
    functions = [(code.function_at(start), range(begin, end)) for start, begin, end in code.functions]
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
    runs = code.runs()
    for number, (name, numbers) in enumerate(functions):
        parts = {number, other.get(number, number)}
        through = tables.targets(numbers.start, jumps[number], lambda n, parts=parts: owner(n) in parts)  # type: ignore[misc]
        resolved = []
        for jump in jumps[number]:
            targets = jump.targets or through.get(jump.at, ())
            # A jump to where another function begins is a tail call.
            calls = tuple([n for n in targets if owner(n) not in parts and begins[owner(n)] == n])
            resolved.append(Jump(at=jump.at, kind=jump.kind, targets=targets, calls=calls))
        routines.append(Routine(name=name, section=str(runs[number]), instructions=numbers, jumps=resolved))
    jumped_to = {n for routine in routines for jump in routine.jumps for n in jump.targets}
    going_back = {
        number
        for number, routine in enumerate(routines)
        if any(target <= jump.at for jump in routine.jumps for target in jump.targets)
    }

    def label(n: int) -> str:
        offset = code.offsets[n]
        return f".L{code.section.address + offset:x}" if n in jumped_to else code.names.get(offset, "")

    groups = group(routines, owner)
    return [build(routines, members, label) for members in groups if not going_back.isdisjoint(members)]
