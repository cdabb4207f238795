"""Puts probes on the ways into and out of the innermost loops of a compiler's assembly text.

Nothing is put into a loop whose iterations follow from a register. A way that falls through gets its probe in the line;
a jump is led to a probe behind the loop, which jumps on to the old target.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from itertools import groupby
from operator import itemgetter

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
from incc.running.edges import NoProbes
from incc.running.editing import Editor
from incc.running.plan import Function, LoopPlan, plan_probes

ISA = "x86"
"""The instruction set for which there are probes."""


class SkippedLoop(msgspec.Struct, frozen=True):
    """A loop without probes."""

    kernel: str
    """Its identity (see `incc.report.identity`)."""
    reason: str


class Probed(msgspec.Struct, frozen=True):
    """A text with probes."""

    text: str
    kernels: tuple[str, ...]
    """The identities of the loops that have probes."""
    skipped: tuple[SkippedLoop, ...]


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
    loops = [(graph, loop) for graph in graphs for loop in analysed_loops(graph)[0] if loop.shape != "partial"]
    chosen = []
    for graph, loop in loops:
        kernel = names.get((_body_lines(assembly, graph, loop), loop.shape), "")
        if kernel and wanted(kernel):
            chosen.append((graph, loop, kernel))
    bodies: dict[int, list[Set[int]]] = {}
    for graph, loop, _ in chosen:
        bodies.setdefault(id(graph), []).append(loop.loop.body)
    code = _decoded(text, assembly, [graph for graph, _, _ in chosen], assembler)
    opaque = _beside_data(assembly)
    editor = Editor(text, assembly)
    functions: dict[int, Function] = {}
    skipped = []
    plans: list[tuple[Function, LoopPlan]] = []
    for graph, loop, kernel in chosen:
        try:
            if id(graph) not in functions:
                functions[id(graph)] = Function(assembly, graph, bodies[id(graph)], code, opaque)
            planned = plan_probes(functions[id(graph)], loop, kernel, len(plans), unit)
            editor.check(graph, planned)
        except NoProbes as problem:
            skipped.append(SkippedLoop(kernel, str(problem)))
            continue
        plans.append((functions[id(graph)], planned))
    for function, of_function in groupby(plans, key=itemgetter(0)):
        editor.add(function, [planned for _, planned in of_function])
    descriptions = [planned.description for _, planned in plans]
    return Probed(editor.text(x86.data(descriptions)), tuple(planned.kernel for _, planned in plans), tuple(skipped))


def _body_lines(assembly: Assembly, graph: ControlFlow, loop: FoundLoop) -> tuple[int, ...]:
    body = [i for b in sorted(loop.loop.body) for i in graph.blocks[b].instructions]
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
