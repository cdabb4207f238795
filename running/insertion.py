"""Puts probes on the ways into and out of the innermost loops of a compiler's assembly text.

Nothing is put into a loop whose iterations follow from a register. A way that falls through gets its probe in the line;
a jump is led to a probe behind the loop, which jumps on to the old target.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from functools import cached_property

import msgspec

from incc.frontends.asm.control_flow import control_flow
from incc.frontends.asm.graph import ControlFlow
from incc.frontends.asm.loops import FoundLoop, analysed_loops, lines_of
from incc.frontends.asm.parse import INSTRUCTION, LABEL, Assembly, parse
from incc.frontends.asm.regions import innermost_loops
from incc.frontends.isa import DecodeError, isa
from incc.frontends.kernel import Instruction, Region
from incc.report.identity import region_ids
from incc.running import x86
from incc.running.edges import OUTSIDE, Edge, NoProbes, ways
from incc.running.frames import Frames
from incc.running.induction import is_unfinished, moved_register
from incc.running.liveness import FLAGS, Liveness

ISA = "x86"
"""The instruction set for which there are probes."""


class Skipped(msgspec.Struct, frozen=True):
    """A loop without probes."""

    kernel: str
    """Its identity (see `incc.report.identity`)."""
    reason: str


class Probed(msgspec.Struct, frozen=True):
    """A text with probes."""

    text: str
    kernels: tuple[str, ...]
    """The identities of the loops that have probes."""
    skipped: tuple[Skipped, ...]


class LoopDescription(msgspec.Struct, frozen=True, kw_only=True):
    """A loop's description in the program, by which its records find the loop's report."""

    unit: str
    """The key of its unit (see `incc.running.units`)."""
    kernel: str
    """Its identity in the report of the unit."""
    registers: tuple[str, ...]
    """The registers whose values a sample keeps, in their order."""
    counted: bool
    """The loop counts its iterations, which costs time in each."""


def with_probes(
    text: str,
    unit: str = "",
    wanted: Callable[[str], bool] = lambda kernel: True,
    assembler: Sequence[str] | None = None,
) -> Probed:
    """Return an assembly text with probes at its innermost loops.

    Args:
        text: a compiler's assembly for x86-64.
        unit: the key of the unit, for the descriptions.
        wanted: returns False for the identities of loops that get no probes.
        assembler: a command that takes `-o OUT IN`, None for the usual one.

    Raises:
        NoProbes: if the text as a whole cannot have probes.
    """
    assembly = parse(text)
    if assembly.isa != ISA:
        raise NoProbes(f"there are no probes for {isa(assembly.isa).title} code")
    regions, _ = innermost_loops(assembly)
    names = dict(zip([(r.body_lines, r.shape) for r in regions], region_ids(regions, regions), strict=True))
    graphs = [graph for graph in control_flow(assembly) if any(block.label for block in graph.blocks)]
    found = [(graph, loop) for graph in graphs for loop in analysed_loops(graph)[0] if loop.shape != "partial"]
    chosen = []
    for graph, loop in found:
        kernel = names.get((_body_lines(assembly, graph, loop), loop.shape), "")
        if kernel and wanted(kernel):
            chosen.append((graph, loop, kernel))
    code = _decoded(text, assembly, [graph for graph, _, _ in chosen], assembler)
    opaque = _beside_data(assembly)
    editor = _Editor(text, assembly)
    functions: dict[int, _Function] = {}
    skipped = []
    descriptions: list[x86.Description] = []
    for graph, loop, kernel in chosen:
        try:
            if id(graph) not in functions:
                functions[id(graph)] = _Function(assembly, graph, code, opaque)
            planned = _plan(functions[id(graph)], loop, kernel, len(descriptions), unit)
            editor.check(graph, planned)
        except NoProbes as problem:
            skipped.append(Skipped(kernel, str(problem)))
            continue
        editor.add(functions[id(graph)], planned)
        descriptions.append(planned.description)
    return Probed(editor.text(x86.data(descriptions)), tuple(p.kernel for p in editor.planned), tuple(skipped))


def _body_lines(assembly: Assembly, graph: ControlFlow, found: FoundLoop) -> tuple[int, ...]:
    body = [i for b in sorted(found.loop.body) for i in graph.blocks[b].instructions]
    return lines_of(assembly.statements, body)


def _decoded(
    text: str, assembly: Assembly, graphs: Sequence[ControlFlow], assembler: Sequence[str] | None
) -> dict[int, list[Instruction]]:
    """Return the decoded instructions of graphs by the lines of the text. Raises NoProbes."""
    numbers = sorted({i for graph in graphs for block in graph.blocks for i in block.instructions})
    if not numbers:
        return {}
    lines = lines_of(assembly.statements, numbers)
    region = Region(
        kind="file", name="", function="", label="", first_line=lines[0], last_line=lines[-1], lines=lines,
        body_lines=lines,
    )  # fmt: skip
    try:
        (kernel,) = isa(assembly.isa).decode_regions(text, [region], "assembly", assembler, trusted=True)
    except DecodeError as error:
        raise NoProbes(str(error)) from error
    code: dict[int, list[Instruction]] = {}
    for instruction in kernel.instructions:
        code.setdefault(instruction.line, []).append(instruction)
    for refused in kernel.refused:
        code.pop(refused.line, None)
    return code


_PADDING = frozenset((".p2align", ".p2alignw", ".p2alignl", ".balign", ".balignw", ".balignl", ".align", ".nops"))
"""Directives that put nothing but no-operations into code."""


def _beside_data(assembly: Assembly) -> set[int]:
    """Return the numbers of the instructions before and behind data in code.

    Inline assembly writes instructions as data (`.byte 0x0f, 0x05`), or repeats them (`.rept`).
    """
    beside: set[int] = set()
    before: dict[str, int] = {}
    has_data: set[str] = set()
    for number, statement in enumerate(assembly.statements):
        section = statement.section
        if statement.kind == INSTRUCTION:
            if section in has_data:
                beside.add(number)
                has_data.remove(section)
            before[section] = number
        elif statement.kind != LABEL and statement.text.split(None, 1)[0] not in _PADDING and section in before:
            beside.add(before[section])
            has_data.add(section)
    return beside


class _Function:
    """A function with what is needed of it for all of its loops."""

    def __init__(
        self, assembly: Assembly, graph: ControlFlow, by_line: Mapping[int, Sequence[Instruction]], opaque: Set[int]
    ) -> None:
        self.graph = graph
        self.code: dict[int, Sequence[Instruction]] = {}
        """The decoded instructions by their numbers in the graph, as far as their effects are known."""
        block_of: dict[int, int] = {}
        for number, block in enumerate(graph.blocks):
            for instruction in block.instructions:
                statement = assembly.statements[instruction]
                is_first = statement.line not in block_of
                if block_of.setdefault(statement.line, number) != number:
                    raise NoProbes("its function has code on both sides of a branch on one line")
                if block.branch and _RELATIVE.search(statement.text):
                    raise NoProbes(f"its function has a jump by a distance (line {statement.line})")
                if statement.line in by_line and instruction not in opaque:
                    self.code[instruction] = by_line[statement.line] if is_first else ()

    @cached_property
    def liveness(self) -> Liveness:
        """The live registers."""
        return Liveness(self.graph, self.code, x86.REGISTERS)


_RELATIVE = re.compile(r"^(?:bnd |notrack )?(?:j|loop|call)\w*\s+[.$]\s*(?:[-+]|$)")
"""A branch by a distance from its own place, which a probe would change."""


class _Way(msgspec.Struct, frozen=True):
    """A probe on an edge."""

    edge: Edge
    enters: bool
    unfinished: bool = False


class _Planned(msgspec.Struct, frozen=True, kw_only=True):
    """The probes of a loop."""

    kernel: str
    loop: FoundLoop
    description: x86.Description
    ways: tuple[_Way, ...]
    last: int
    """The block behind which the probes of jumps are put."""


def _plan(function: _Function, found: FoundLoop, kernel: str, number: int, unit: str) -> _Planned:
    graph, loop = function.graph, found.loop
    into, out = ways(graph, loop.body)
    if not into or not out:
        raise NoProbes("it has no way in" if out else "it has no way out")
    moved = moved_register(graph, loop.header, loop.body, function.code, x86.NOT_KEPT, out)
    numbers = [n for b in sorted(loop.body) for n in graph.blocks[b].instructions]
    instructions = [i for n in numbers for i in function.code.get(n, ())]
    roots = dict.fromkeys(r.root for i in instructions for m in i.memory for r in (m.base, m.index) if r is not None)
    registers = tuple(root for root in roots if root in x86.REGISTERS.all)[: x86.VALUES]
    text = LoopDescription(unit=unit, kernel=kernel, registers=registers, counted=moved is None)
    description = x86.Description(
        symbol=f".Lincc_loop{number}",
        text=json.dumps(msgspec.to_builtins(text)).encode(),
        moved=moved.root if moved else "",
        bits=moved.bits if moved else 64,
        step=moved.step if moved else 0,
        step_register=moved.step_root if moved else "",
        registers=registers,
    )
    last = loop.header
    while last + 1 in loop.body:
        last += 1
    probes = [_Way(edge, enters=True) for edge in into]
    for edge in out:
        unfinished = moved is not None and is_unfinished(graph, loop.header, loop.body, moved.block, edge)
        probes.append(_Way(edge, enters=False, unfinished=unfinished))
    return _Planned(kernel=kernel, loop=found, description=description, ways=tuple(probes), last=last)


class _Editor:
    """A text with edits by lines."""

    def __init__(self, text: str, assembly: Assembly) -> None:
        self._lines = text.split("\n")
        self._assembly = assembly
        self._statements = assembly.statements
        self._frames = Frames(self._lines)
        self._behind: dict[int, list[str]] = {}
        """The lines that are added behind a line, by its number from 1."""
        self._far: dict[int, list[tuple[str, str, list[str]]]] = {}
        """Likewise the jumps that are led there: the new label, the old target, and the probes between them."""
        self._jumps: dict[int, list[str]] = {}
        """The probes of jumps, by their lines."""
        self._labels = 0
        self.planned: list[_Planned] = []

    def _line(self, instruction: int) -> int:
        return self._statements[instruction].line

    def _end(self, graph: ControlFlow, block: int) -> int:
        """Return the last line of a block with the directives about it."""
        line = self._line(graph.blocks[block].instructions[-1])
        while line < len(self._lines) and self._lines[line].lstrip().startswith(".cfi_"):
            if self._lines[line].lstrip().startswith((".cfi_endproc", ".cfi_startproc")):
                break
            line += 1
        return line

    def _start(self, graph: ControlFlow, block: int) -> int:
        """Return the line behind which a block is entered from above: that of the last statement before its labels."""
        first = graph.blocks[block].instructions[0]
        labels = set()
        at = first - 1
        while at >= 0 and self._statements[at].kind != INSTRUCTION:
            if self._statements[at].kind == LABEL:
                labels.add(at)
            at -= 1
        return min((self._statements[i].line for i in labels), default=self._line(first)) - 1

    # --- checks ------------------------------------------------------------------------------------------------------

    def check(self, graph: ControlFlow, planned: _Planned) -> None:
        """Raise NoProbes if the probes of a loop cannot be written."""
        place = self._frames.at(self._end(graph, planned.last))
        for way in planned.ways:
            edge = way.edge
            if edge.kind == "jump":
                self._check_jump(graph, edge)
                if self._frames.at(self._line(graph.blocks[edge.source].instructions[-1])) != place:
                    raise NoProbes("the frame is another one at a jump out of it")
            elif edge.source == OUTSIDE and self._entry_line(graph, edge.target) == 0:
                raise NoProbes("its function's name is its first label")

    def _check_jump(self, graph: ControlFlow, edge: Edge) -> None:
        line = self._line(graph.blocks[edge.source].instructions[-1])
        text = self._lines[line - 1]
        mnemonic = text.split(None, 1)[0]
        if re.match(r"loop|j[er]?cxz|xbegin", mnemonic):
            raise NoProbes(f"{mnemonic} reaches no further than 128 bytes")
        # The target must mean the same in another place, which "1f" does not.
        if not re.fullmatch(r"\s*(?:bnd\s+|notrack\s+)?j\w+\s+[A-Za-z_.$][\w.$@]*\s*(?:#.*)?", text):
            raise NoProbes(f"the jump in line {line} is not by itself, or not to a name")

    def _entry_line(self, graph: ControlFlow, block: int) -> int:
        """Return the line behind which the function is entered, if its first block is in a loop; else 0."""
        first = graph.blocks[block].instructions[0]
        labels = [i for i in range(first - 1, -1, -1) if self._statements[i].kind == LABEL]
        exported = {name for function in self._assembly.functions for name in (function.name, *function.aliases)}
        jumped = graph.blocks[block].label
        own = next((i for i in labels if self._statements[i].text == jumped), -1)
        if own < 0 or jumped in exported:
            return 0
        line = self._statements[own].line - 1
        while line > 0 and re.match(r"\s*(\.p2align|\.balign|\.align|$)", self._lines[line - 1]):
            line -= 1
        return line

    # --- edits -------------------------------------------------------------------------------------------------------

    def add(self, function: _Function, planned: _Planned) -> None:
        """Add the probes of a loop."""
        self.planned.append(planned)
        graph = function.graph
        behind = self._end(graph, planned.last)
        keep = {*planned.description.registers, planned.description.moved, planned.description.step_register}
        symbol = planned.description.symbol
        tables: set[int] = set()
        for way in planned.ways:
            edge = way.edge
            if edge.kind == "table":
                if edge.target in tables:
                    continue
                tables.add(edge.target)
            line = behind if edge.kind == "jump" else self._place_line(graph, edge)
            place = self._place(function, edge, keep, line)
            end = self._label()
            if way.enters:
                code = x86.enter(symbol, place, end)
            else:
                code = x86.leave(symbol, place, end, way.unfinished)
            self._put(graph, way, code, behind)
        if not planned.description.moved:
            self._count(function, planned, keep)

    def _place_line(self, graph: ControlFlow, edge: Edge) -> int:
        if edge.kind == "table":
            return self._line(graph.blocks[edge.target].instructions[0]) - 1
        if edge.source == OUTSIDE:
            return self._entry_line(graph, edge.target)
        return self._end(graph, edge.source)

    def _put(self, graph: ControlFlow, way: _Way, code: list[str], behind: int) -> None:
        edge = way.edge
        if edge.kind != "jump":
            probes = self._behind.setdefault(self._place_line(graph, edge), [])
        else:
            line = self._line(graph.blocks[edge.source].instructions[-1])
            if line not in self._jumps:
                text = self._lines[line - 1].partition("#")[0].rstrip()
                head, target = text[: len(text) - len(text.split()[-1])], text.split()[-1]
                stub = self._label()
                self._lines[line - 1] = head + stub
                self._jumps[line] = []
                self._far.setdefault(behind, []).append((stub, target, self._jumps[line]))
            probes = self._jumps[line]
        # On a way from one loop into another, the first ends before the other begins.
        probes[:0] = code if not way.enters else ()
        probes += code if way.enters else ()

    def _count(self, function: _Function, planned: _Planned, keep: Iterable[str]) -> None:
        """Add code to a loop that counts its iterations."""
        graph, header = function.graph, planned.loop.loop.header
        line = self._line(graph.blocks[header].instructions[0]) - 1
        place = self._place(function, Edge(OUTSIDE, header, "fall"), set(keep), line)
        self._behind.setdefault(line, []).extend(x86.count(planned.description.symbol, place))

    def _place(self, function: _Function, edge: Edge, keep: set[str], line: int) -> x86.Place:
        live = self._live(function, edge)
        flags = FLAGS in live
        others = [r for r in x86.NUMBERS if r != "rsp" and r not in keep and not (flags and r == "rcx")]
        # Registers that the function does not write may hold values of its callers.
        free = [r for r in others if r not in live and r in function.liveness.written and r in x86.NOT_KEPT]
        return x86.Place(
            scratch=free[0] if free else others[0],
            scratch_is_live=not free,
            rcx_is_live="rcx" in live or "rcx" not in function.liveness.written or "rcx" in keep,
            flags_are_live=flags,
            describes_stack=self._frames.at(line).by_stack_pointer,
        )

    def _live(self, function: _Function, edge: Edge) -> set[str]:
        if edge.target == OUTSIDE:
            return set(x86.REGISTERS.all)
        return function.liveness.at_start[edge.target]

    def _label(self) -> str:
        self._labels += 1
        return f".Lincc_{self._labels}"

    # --- the result --------------------------------------------------------------------------------------------------

    def text(self, data: Sequence[str]) -> str:
        """Return the text with the probes and these lines at its end."""
        changes = [(line, dialect) for line, dialect in self._assembly.dialects]
        result: list[str] = []
        for number, line in enumerate(["", *self._lines]):
            if number:
                result.append(line)
            added = self._behind.get(number, [])
            if far := self._far.get(number):
                over = self._label()
                added = [*added, f"jmp {over}"]
                for stub, target, probes in far:
                    added += [f"{stub}:", *probes, f"jmp {target}"]
                added.append(f"{over}:")
            if added:
                dialect = next((d for at, d in reversed(changes) if at <= number), "")
                result += self._in_att(added, dialect)
        return "\n".join([*result, *self._in_att(list(data), changes[-1][1] if changes else ""), ""])

    def _in_att(self, added: list[str], dialect: str) -> list[str]:
        lines = [each if each.endswith(":") else f"\t{each}" for each in added]
        if dialect and lines:
            return ["\t.att_syntax prefix", *lines, "\t.intel_syntax noprefix"]
        return lines
