"""Edits an assembly text: puts the code of probes on ways between blocks."""

from __future__ import annotations

import re
from collections.abc import Sequence

from incc.frontends.asm.graph import ControlFlow
from incc.frontends.asm.parse import LABEL, Assembly
from incc.running import x86
from incc.running.edges import OUTSIDE, ControlEdge, NoProbes
from incc.running.frames import Frames
from incc.running.liveness import FLAGS
from incc.running.plan import Function, LoopPlan, ProbedEdge


class Editor:
    """A text with edits by lines."""

    def __init__(self, text: str, assembly: Assembly) -> None:
        """Args: a text, and the same parsed."""
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

    # --- checks ------------------------------------------------------------------------------------------------------

    def check(self, graph: ControlFlow, planned: LoopPlan) -> None:
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

    def _check_jump(self, graph: ControlFlow, edge: ControlEdge) -> None:
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

    def add(self, function: Function, plans: Sequence[LoopPlan]) -> None:
        """Add the probes of a function's loops."""
        for planned in plans:
            self._add(function, planned, plans)

    def _add(self, function: Function, planned: LoopPlan, plans: Sequence[LoopPlan]) -> None:
        graph = function.graph
        behind = self._end(graph, planned.last)
        symbol = planned.description.symbol
        tables: set[int] = set()
        for way in planned.ways:
            edge = way.edge
            if edge.kind == "table":
                if edge.target in tables:
                    continue
                tables.add(edge.target)
            line = behind if edge.kind == "jump" else self._place_line(graph, edge)
            place = self._place(function, edge, plans, planned, line)
            end = self._label()
            probe = x86.enter if way.enters else x86.leave
            code = probe(symbol, place, end, way.place)
            self._put(graph, way, code, behind)
        if planned.is_counted:
            self._count(function, planned, plans)

    def _place_line(self, graph: ControlFlow, edge: ControlEdge) -> int:
        if edge.kind == "table":
            return self._line(graph.blocks[edge.target].instructions[0]) - 1
        if edge.source == OUTSIDE:
            return self._entry_line(graph, edge.target)
        return self._end(graph, edge.source)

    def _put(self, graph: ControlFlow, way: ProbedEdge, code: list[str], behind: int) -> None:
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

    def _count(self, function: Function, planned: LoopPlan, plans: Sequence[LoopPlan]) -> None:
        """Add code to a loop that counts its iterations."""
        graph, header = function.graph, planned.loop.loop.header
        line = self._line(graph.blocks[header].instructions[0]) - 1
        if planned.counter is not None:
            code = x86.count_in(planned.counter)
        else:
            place = self._place(function, ControlEdge(OUTSIDE, header, "fall"), plans, planned, line)
            code = x86.count(planned.description.symbol, place)
        self._behind.setdefault(line, []).extend(code)

    def _place(
        self, function: Function, edge: ControlEdge, plans: Sequence[LoopPlan], planned: LoopPlan, line: int
    ) -> x86.ProbePlace:
        live = self._live(function, edge)
        flags = FLAGS in live
        keep = set(planned.read)
        others = [r for r in x86.NUMBERS if r != "rsp" and r not in keep and not (flags and r == "rcx")]
        # Loops may overlap, and what another loop's probes read need not be live. Pushed registers are restored.
        for other in plans:
            if edge.source in other.loop.loop.body or edge.target in other.loop.loop.body:
                keep |= other.read
        # Registers that the function does not write may hold values of its callers.
        free = [
            r
            for r in others
            if r not in live and r not in keep and r in function.liveness.written and r in x86.REGISTERS.lost_at_call
        ]
        return x86.ProbePlace(
            scratch=free[0] if free else others[0],
            scratch_is_live=not free,
            rcx_is_live="rcx" in live or "rcx" not in function.liveness.written or "rcx" in keep,
            flags_are_live=flags,
            describes_stack=self._frames.at(line).by_stack_pointer,
        )

    def _live(self, function: Function, edge: ControlEdge) -> set[str]:
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
