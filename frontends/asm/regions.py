"""What to analyse in an assembly file: its innermost loops, the spans between markers, or all of it."""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import TYPE_CHECKING, NamedTuple

from incc.frontends.asm import control_flow as cfg
from incc.frontends.asm.parse import DIRECTIVE, INSTRUCTION, LABEL
from incc.frontends.kernel import LeftOut, Region

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from incc.frontends.asm.control_flow import ControlFlow, IrreducibleCycle, Loop
    from incc.frontends.asm.parse import Assembly, CommentMarker, Function
    from incc.frontends.kernel import RegionKind, SourceLocation

# Directives that put bytes among the instructions, which may be instructions that we do not see.
_EMITTING = frozenset(
    {
        ".byte", ".1byte", ".2byte", ".4byte", ".8byte", ".short", ".value", ".word", ".hword", ".long", ".int",
        ".quad", ".xword", ".octa", ".inst", ".insn", ".ascii", ".asciz", ".string", ".incbin", ".rept", ".rep", ".irp",
        ".irpc",
    }
)  # fmt: skip


def innermost_loops(
    assembly: Assembly, wanted: Callable[[str], bool] | None = None
) -> tuple[list[Region], list[LeftOut]]:
    """The innermost natural loops of all functions or of those that are `wanted` (by name), and what is left out.

    Both are in the order of the text; left out are cycles that are no natural loops.
    """
    regions: list[Region] = []
    left_out: list[LeftOut] = []
    for graph in cfg.control_flow(assembly, wanted):
        loops, irreducible = cfg.loops([block.successors for block in graph.blocks], graph.entries)
        for loop in loops:
            if loop.innermost:
                regions.append(_loop_region(assembly, graph, loop))
        for cycle in irreducible:
            if cycle.innermost:
                left_out.append(_irreducible(assembly, graph, cycle))
    regions.sort(key=lambda region: region.first_line)
    left_out.sort(key=lambda span: span.first_line)
    return regions, left_out


# --- loops -----------------------------------------------------------------------------------------------------------


def _loop_region(assembly: Assembly, graph: ControlFlow, loop: Loop, chosen: list[int] | None = None) -> Region:
    """The loop along the path `chosen` (blocks from the header on), by default the likeliest."""
    statements = assembly.statements
    blocks = graph.blocks
    header = blocks[loop.header]
    path, indirect = (chosen, 0) if chosen is not None else _likeliest_path(graph, loop)
    body = [i for b in sorted(loop.body) for i in blocks[b].instructions]
    on_path = [i for b in path for i in blocks[b].instructions]

    notes: list[str] = []
    forks = sum(len(loop.body.intersection(blocks[b].successors)) > 1 for b in loop.body)
    if chosen is None and len(on_path) < len(body):
        off = sorted(set(body).difference(on_path))
        branches = "1 branch" if forks == 1 else f"{forks} branches"
        missing = (
            f"1 of {len(body)} instructions is not on it"
            if len(off) == 1
            else f"{len(off)} of {len(body)} instructions are not on it"
        )
        notes.append(
            f"{branches} inside: analysed the likeliest path (backward branches taken, else fall-through); {missing}"
            f" ({line_list(statements[i].line for i in off)})"
        )
    if indirect:
        notes.append(f"an indirect jump with {indirect} targets inside: analysed the first")
    leaves = [b for b in path if any(s not in loop.body for s in blocks[b].successors) or _leaves(blocks[b])]
    if len(leaves) > 1:
        where = line_list(statements[blocks[b].instructions[-1]].line for b in leaves)
        notes.append(f"{len(leaves)} exits ({where}): analysed as if none were taken")
    notes += _notes(assembly, on_path)

    source = _source(assembly, on_path, statements[on_path[-1]].location, (i for b in blocks for i in b.instructions))

    lines = _lines(assembly, on_path)
    body_lines = _lines(assembly, body)
    function = graph.functions[loop.header]
    cold_of_main = function != graph.name and function.startswith(graph.name + ".cold")
    if cold_of_main or not function:
        function = graph.name
    label = header.label
    name = ":".join(part for part in (function, label) if part) or f"line {min(lines)}"
    return Region(
        "loop", name, function, label, min(body_lines), max(body_lines), lines, body_lines, True, loop.depth, source,
        tuple(notes),
    )  # fmt: skip


def _likeliest_path(graph: ControlFlow, loop: Loop) -> tuple[list[int], int]:
    """The blocks from the header back to it, and the number of targets of an indirect jump on the way (0: none).

    Static prediction as compilers lay code out: stay in the loop; else take branches that go backward, and fall through
    the others. There is always a way on, since every block of an innermost loop lies on a way to its header, and none
    repeats before the header does.
    """
    path: list[int] = []
    indirect = 0
    block = loop.header
    while True:
        path.append(block)
        inside = [t for t in graph.blocks[block].taken if t in loop.body]
        if graph.blocks[block].branch == "indirect" and len(inside) > 1:
            indirect = len(inside)
        block = _likeliest_next(graph, loop, block)
        if block == loop.header:
            return path, indirect


def _likeliest_next(graph: ControlFlow, loop: Loop, block: int) -> int:
    _, _, kind, taken, fall = graph.blocks[block]
    inside = [t for t in taken if t in loop.body]
    backward = [t for t in inside if t <= block]
    if kind == "indirect" and len(inside) > 1:
        return inside[0]
    if backward:
        return backward[0]
    return fall if fall in loop.body else inside[0]


class LoopPath(NamedTuple):
    """One way through a loop, from its header back to it.

    `branches` are the lines of the branches inside at which it could have gone another way, and whether it takes them;
    `probability` is that of going this way at all of these.
    """

    region: Region
    branches: tuple[tuple[int, bool], ...]
    probability: float


def loop_paths(
    assembly: Assembly, region: Region, limit: int = 16, first_side: float | None = None, sides: bool = False
) -> tuple[list[LoopPath], bool]:
    """The ways through an innermost loop (a region of `innermost_loops`), and whether these are all.

    At each fork the side without jump comes first. Its probability is `first_side`, the others share the rest; by
    default all sides are equally likely. With `sides` only the first fork on the way from the header counts: one path
    for each of its sides, which goes on in the likeliest way. No more than `limit` paths. A region that is no innermost
    loop has none.
    """
    for graph in cfg.control_flow(assembly, None):
        for loop in cfg.loops([block.successors for block in graph.blocks], graph.entries)[0]:
            body = (i for b in loop.body for i in graph.blocks[b].instructions)
            if loop.innermost and {assembly.statements[i].line for i in body} == set(region.body_lines):
                return _paths_of(assembly, graph, loop, limit, first_side, sides)
    return [], True


def _paths_of(
    assembly: Assembly, graph: ControlFlow, loop: Loop, limit: int, first_side: float | None, sides: bool
) -> tuple[list[LoopPath], bool]:
    found: list[LoopPath] = []
    # Without inner cycles every way leads back to the header, so each path begun is one found. Depth first, first
    # sides first.
    begun: list[tuple[list[int], tuple[tuple[int, bool], ...], float]] = [([loop.header], (), 1.0)]
    while begun:
        path, branches, probability = begun.pop()
        while len(path) == 1 or path[-1] != loop.header:
            block = graph.blocks[path[-1]]
            following = [t for t in block.successors if t in loop.body]
            forks = len(following) > 1
            if forks and sides and branches:
                following, forks = [_likeliest_next(graph, loop, path[-1])], False
            if forks:
                line = assembly.statements[block.instructions[-1]].line
                shares = _shares(len(following), first_side)
                others = [
                    ([*path, t], (*branches, (line, t != block.fall)), probability * share)
                    for t, share in zip(following[1:], shares[1:], strict=True)
                ]
                begun += reversed(others)
                branches = (*branches, (line, following[0] != block.fall))
                probability *= shares[0]
            path = [*path, following[0]]
        if len(found) == limit:
            return found, False
        found.append(LoopPath(_loop_region(assembly, graph, loop, path[:-1]), branches, probability))
    return found, True


def _shares(sides: int, first: float | None) -> list[float]:
    if first is None:
        return [1 / sides] * sides
    return [first, *([(1 - first) / (sides - 1)] * (sides - 1))]


def _leaves(block: cfg.Block) -> bool:
    """Whether a conditional branch jumps out of the function (to another function's name)."""
    return block.branch == "conditional" and not block.taken


def _irreducible(assembly: Assembly, graph: ControlFlow, cycle: IrreducibleCycle) -> LeftOut:
    lines = _lines(assembly, [i for b in sorted(cycle.nodes) for i in graph.blocks[b].instructions])
    entered = [graph.blocks[b].label or f"line {_first_line(assembly, graph, b)}" for b in cycle.entries]
    where = ", ".join(entered[:-1]) + " and " + entered[-1] if len(entered) > 1 else "".join(entered)
    return LeftOut(
        min(lines), max(lines), graph.name, graph.blocks[min(cycle.entries)].label,
        f"irreducible: entered at {where}, so no instruction begins every iteration",
    )  # fmt: skip


def _first_line(assembly: Assembly, graph: ControlFlow, block: int) -> int:
    return assembly.statements[graph.blocks[block].instructions[0]].line


# --- markers ---------------------------------------------------------------------------------------------------------


class _Span(NamedTuple):
    """Statements [first, last) between two markers, and the lines of the markers. `name` is that of a named region."""

    first: int
    last: int
    begin_line: int
    end_line: int
    name: str


class _ByteMarker(NamedTuple):
    """A marker made of instructions, IACA's and OSACA's: statements [first, last)."""

    begin: bool
    first: int
    last: int


def marked_regions(assembly: Assembly) -> tuple[list[Region], list[LeftOut]]:
    """The spans between markers of OSACA, llvm-mca and IACA in the order of the text; markers that mark nothing.

    A span that several pairs of markers enclose is one region; the instructions of markers belong to none.
    """
    left_out: list[LeftOut] = []
    byte_markers = _byte_markers(assembly)
    own = _statements_of(byte_markers)
    spans = [
        *_osaca_spans(assembly, left_out),
        *_llvm_mca_spans(assembly, left_out),
        *_byte_spans(assembly, byte_markers, left_out),
    ]
    spans.sort(key=lambda span: (span.first, -span.last))
    members: dict[tuple[int, int, str], tuple[int, ...]] = {}
    for span in spans:
        inside = tuple(
            i for i in range(span.first, span.last) if assembly.statements[i].kind == INSTRUCTION and i not in own
        )
        if inside:
            members.setdefault((inside[0], inside[-1], span.name), inside)
        else:
            _report(assembly, left_out, span.begin_line, span.end_line, span.name, "no instruction between the markers")
    # Where one pair of markers has a name, the nameless pairs around the same instructions mean the same region.
    named = {(first, last) for first, last, name in members if name}
    regions = [
        _straight(assembly, "marker", name, inside, own)
        for (first, last, name), inside in members.items()
        if name or (first, last) not in named
    ]
    left_out.sort(key=lambda problem: problem.first_line)
    return _with_depth(assembly, regions), left_out


def whole_file(assembly: Assembly) -> tuple[list[Region], list[LeftOut]]:
    """All instructions of the file as one region, in the order of the text, as llvm-mca takes an unmarked file."""
    own = marker_statements(assembly)
    inside = tuple(i for i, s in enumerate(assembly.statements) if s.kind == INSTRUCTION and i not in own)
    if not inside:
        return [], [LeftOut(0, 0, "", "", "the file has no instruction")]
    return _with_depth(assembly, [_straight(assembly, "file", assembly.source_file, inside, own)]), []


def _straight(assembly: Assembly, kind: RegionKind, name: str, members: Sequence[int], own: frozenset[int]) -> Region:
    """A region whose instructions are analysed in the order of the text. `own` are the statements of byte markers."""
    statements = assembly.statements
    first, last = members[0], members[-1]
    branches = sum(
        cfg.branch(statements[i].text, assembly.isa)[0] in ("conditional", "unconditional", "indirect")
        for i in members[:-1]
    )
    label = ""
    branch, target_name = cfg.branch(statements[last].text, assembly.isa)
    target = cfg.label_index(assembly, target_name, last) if branch in ("conditional", "unconditional") else -1
    is_loop = 0 <= target <= first
    if is_loop:
        label = statements[target].text
    else:
        for i in range(first - 1, -1, -1):
            if statements[i].kind == LABEL:
                label = statements[i].text
                break
            if statements[i].kind == INSTRUCTION and i not in own:
                break
    function = _function_at(assembly, first)
    notes: list[str] = []
    if branches:
        jumps = "1 branch" if branches == 1 else f"{branches} branches"
        notes.append(
            f"{jumps}{' before the last instruction' if is_loop else ' inside'}: instructions are analysed in the order"
            " of the text, as if none were taken"
        )
    notes += _notes(assembly, members)
    latch = statements[last].location if is_loop else None
    lines = _lines(assembly, members)
    return Region(
        kind,
        name or ":".join(part for part in (function.name if function else "", label) if part) or f"line {lines[0]}",
        function.name if function else "",
        label,
        min(lines),
        max(lines),
        lines,
        lines,
        is_loop,
        0,
        _source(assembly, members, latch, function.statements if function else members),
        tuple(notes),
    )


def _with_depth(assembly: Assembly, regions: list[Region]) -> list[Region]:
    """The regions with the nesting depth of those that are loops."""
    wanted = {region.function for region in regions if region.is_loop}
    if not wanted:
        return regions
    depth: dict[int, int] = {}
    for graph in cfg.control_flow(assembly, wanted.__contains__):
        loops, _ = cfg.loops([block.successors for block in graph.blocks], graph.entries)
        for loop in loops:
            for b in loop.body:
                for i in graph.blocks[b].instructions:
                    line = assembly.statements[i].line
                    depth[line] = max(depth.get(line, 0), loop.depth)
    return [
        region._replace(depth=max((depth.get(line, 0) for line in region.lines), default=0))
        if region.is_loop
        else region
        for region in regions
    ]


def _osaca_spans(assembly: Assembly, left_out: list[LeftOut]) -> list[_Span]:
    spans: list[_Span] = []
    start = None
    for marker in assembly.markers:
        if marker.dialect != "osaca":
            continue
        if marker.begin:
            if start:
                _report(assembly, left_out, start.line, start.line, "", f"OSACA-BEGIN, and again in line {marker.line}")
            start = marker
        elif start:
            spans.append(_Span(start.position, marker.position, start.line, marker.line, ""))
            start = None
        else:
            _report(assembly, left_out, marker.line, marker.line, "", "OSACA-END without OSACA-BEGIN")
    if start:
        _report(assembly, left_out, start.line, start.line, "", "OSACA-BEGIN without OSACA-END")
    return spans


def _llvm_mca_spans(assembly: Assembly, left_out: list[LeftOut]) -> list[_Span]:
    """llvm-mca's rules: regions may overlap if their names differ; an end without a name ends the only open region."""
    spans: list[_Span] = []
    active: dict[str, CommentMarker] = {}
    for marker in assembly.markers:
        if marker.dialect != "llvm-mca":
            continue
        name, line = marker.name, marker.line
        reason = ""
        if marker.begin:
            if name not in active:
                active[name] = marker
            elif name:
                reason = f"overlapping regions cannot have the same name: {name!r} began in line {active[name].line}"
            else:
                reason = f"overlapping anonymous regions: one began in line {active[name].line}"
        else:
            if not name and len(active) == 1:
                name = next(iter(active))
            if name in active:
                start = active.pop(name)
                spans.append(_Span(start.position, marker.position, start.line, line, name))
            elif name:
                reason = f"LLVM-MCA-END: no region named {name!r} is open"
            elif active:
                reason = f"LLVM-MCA-END without a name, but {len(active)} named regions are open"
            else:
                reason = "LLVM-MCA-END without LLVM-MCA-BEGIN"
        if reason:
            _report(assembly, left_out, line, line, marker.name, reason)
    for start in active.values():
        _report(assembly, left_out, start.line, start.line, start.name, "LLVM-MCA-BEGIN without LLVM-MCA-END")
    return spans


def _byte_spans(assembly: Assembly, markers: list[_ByteMarker], left_out: list[LeftOut]) -> list[_Span]:
    statements = assembly.statements
    spans: list[_Span] = []
    start: _ByteMarker | None = None
    for marker in markers:
        line = statements[marker.first].line
        start_line = statements[start.first].line if start else 0
        if marker.begin:
            if start:
                _report(assembly, left_out, start_line, start_line, "", f"IACA begin marker, and again in line {line}")
            start = marker
        elif start:
            spans.append(_Span(start.last, marker.first, start_line, line, ""))
            start = None
        else:
            _report(assembly, left_out, line, line, "", "IACA end marker without begin marker")
    if start:
        line = statements[start.first].line
        _report(assembly, left_out, line, line, "", "IACA begin marker without end marker")
    return spans


# What IACA looks for in the code: `mov $111, %ebx` (begin) or 222 (end), then a three-byte no-operation; OSACA's
# for AArch64 is a move to x1 and a no-operation. Sources: iacaMarks.h of Intel Architecture Code Analyzer 3.0; the
# section on markers of OSACA's README.
_MARKER_BYTES = {"x86": (100, 103, 144), "aarch64": (213, 3, 32, 31)}
_MARKER_NOPS = frozenset(("fs addr32 nop", "addr32 fs nop"))
_MARKER_MOVE = r"(?i)movl? (?:\$(\w+), ?%ebx|ebx, ?(\w+))$|movz? [xw]1, ?#?(\w+)$"
# For 64-bit MSVC, which has no inline assembly, iacaMarks.h stores the number to gs:111 or gs:222.
_MARKER_STORE = (
    r"(?i)movb? (?:byte ptr )?gs:\[?(?P<number>\w+)\]?, ?(?P<value>\w+)$"
    r"|movb (?P<value2>\$\w+|%al), ?%gs:(?P<number2>\w+)$"
)


def _byte_markers(assembly: Assembly) -> list[_ByteMarker]:
    statements = assembly.statements
    wanted = _MARKER_BYTES[assembly.isa]
    markers: list[_ByteMarker] = []
    for i, (kind, _, text, _, _) in enumerate(statements):
        before = statements[i - 1].text if i and statements[i - 1].kind == INSTRUCTION else ""
        number = first = last = 0
        if kind == DIRECTIVE:
            if before and text.startswith((".byte ", ".1byte ")):
                last = _bytes_end(assembly, i, wanted)
        elif kind == INSTRUCTION:
            if "gs:" in text and (store := re.match(_MARKER_STORE, text)):
                number = _integer(store["number"] or store["number2"])
                by_register = (store["value"] or store["value2"]).lower().lstrip("%") == "al"
                first, last = (i - 1 if by_register and before else i), i + 1
            elif text.lower() in _MARKER_NOPS:
                last = i + 1
        if last and not number and (move := re.match(_MARKER_MOVE, before)):
            number = _integer(move[1] or move[2] or move[3])
            first = i - 1
        if number in (111, 222):
            markers.append(_ByteMarker(number == 111, first, last))
    return markers


def _bytes_end(assembly: Assembly, start: int, wanted: tuple[int, ...]) -> int:
    """The statement behind the `.byte` directives from `start` on that give `wanted`, 0 if they give other bytes."""
    values: list[int] = []
    for i in range(start, min(start + len(wanted), len(assembly.statements))):
        kind, _, text, _, _ = assembly.statements[i]
        directive, _, operands = text.partition(" ")
        if kind != DIRECTIVE or directive not in (".byte", ".1byte"):
            return 0
        values.extend(_integer(operand) for operand in operands.split(","))
        if len(values) >= len(wanted):
            return i + 1 if tuple(values) == wanted else 0
        if tuple(values) != wanted[: len(values)]:
            return 0
    return 0


def _integer(text: str) -> int:
    """A number as the assembler reads it, -1 if it is none."""
    text = text.strip().lower()
    try:
        return int(text[:-1], 16) if text.endswith("h") and text[:1].isdigit() else int(text, 0)
    except ValueError:
        return -1


def without_byte_markers(assembly: Assembly, text: str) -> str:
    """The text with blank lines for the markers that are made of instructions: the code is laid out again as it is
    when it is run without them. Lines keep their numbers; a line with other statements beside a marker's stays."""
    marked = marker_statements(assembly)
    if not marked:
        return text
    of_markers = {assembly.statements[i].line for i in marked}
    of_others = {s.line for i, s in enumerate(assembly.statements) if i not in marked}
    lines = text.split("\n")
    for line in of_markers - of_others:
        lines[line - 1] = ""
    return "\n".join(lines)


def marker_statements(assembly: Assembly) -> frozenset[int]:
    """The indices of the statements of markers that are made of instructions."""
    return _statements_of(_byte_markers(assembly))


def _statements_of(markers: list[_ByteMarker]) -> frozenset[int]:
    return frozenset(i for marker in markers for i in range(marker.first, marker.last))


def _report(
    assembly: Assembly, left_out: list[LeftOut], first_line: int, last_line: int, name: str, reason: str
) -> None:
    at = next((i for i, s in enumerate(assembly.statements) if s.line >= first_line), len(assembly.statements) - 1)
    function = _function_at(assembly, at)
    left_out.append(LeftOut(first_line, last_line, function.name if function else "", name, reason))


# --- common ----------------------------------------------------------------------------------------------------------


def _function_at(assembly: Assembly, statement: int) -> Function | None:
    """The function in which a statement stands."""
    for function in assembly.functions:
        inside = function.statements
        if inside[0] <= statement <= inside[-1]:
            at = bisect_left(inside, statement)
            if (
                inside[at] == statement
                or assembly.statements[statement].section == assembly.statements[inside[0]].section
            ):
                return function
    return None


def _lines(assembly: Assembly, statements: Iterable[int]) -> tuple[int, ...]:
    """The lines of statements in their order, a line with several once."""
    return tuple(dict.fromkeys([assembly.statements[i].line for i in statements]))


def line_list(lines: Iterable[int]) -> str:
    """ "line 4" or "lines 12-15, 20"."""
    spans: list[list[int]] = []
    for line in sorted(set(lines)):
        if spans and line == spans[-1][1] + 1:
            spans[-1][1] = line
        else:
            spans.append([line, line])
    text = ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in spans)
    return ("line " if len(spans) == 1 and spans[0][0] == spans[0][1] else "lines ") + text


def _source(
    assembly: Assembly, members: Iterable[int], latch: SourceLocation | None, function: Iterable[int]
) -> SourceLocation | None:
    """Where a region is in the source: where its branch back is, if that is in the function's own file.

    gcc and clang give the branch back the line of the `for` or `while`. Where it was inlined from elsewhere (an
    iterator's `operator!=`), the line with the most instructions says more.
    """
    statements = assembly.statements
    if latch:
        own = next((location for i in function if (location := statements[i].location)), None)
        if own and own.file == latch.file:
            return latch
    count: dict[SourceLocation, int] = {}
    for i in members:
        location = statements[i].location
        if location:
            count[location] = count.get(location, 0) + 1
    return min(count, key=lambda location: (-count[location], location)) if count else None


def _notes(assembly: Assembly, members: Sequence[int]) -> list[str]:
    """What the instructions of a region hide: calls, macros, bytes written as data."""
    statements = assembly.statements
    calls: dict[str, None] = {}
    macros: dict[str, None] = {}
    data: list[int] = []
    repeated: list[int] = []
    previous = -1
    for i in members:
        text = statements[i].text
        kind, target = cfg.branch(text, assembly.isa)
        if kind == "call":
            calls[target] = None
        elif assembly.macros and (name := text.partition(" ")[0]) in assembly.macros:
            macros[name] = None
        if 0 <= previous < i - 1:
            between = statements[previous + 1 : i]
            if all(s.kind != INSTRUCTION and s.section == statements[i].section for s in between):
                for s in between:
                    if s.kind == DIRECTIVE and s.text.partition(" ")[0] in _EMITTING:
                        (repeated if s.text.startswith((".r", ".ir")) else data).append(s.line)
        previous = i
    notes = [
        f"contains a call to {name}: what it costs is not counted"
        if name
        else "contains an indirect call: what it costs is not counted"
        for name in calls
    ]
    notes += [f"branches inside the macro {name} are not seen" for name in macros]
    if data:
        notes.append(f"contains bytes written as data ({line_list(data)}): they are not analysed")
    if repeated:
        notes.append(f"contains a repeated block ({line_list(repeated)}): it is not analysed")
    return notes
