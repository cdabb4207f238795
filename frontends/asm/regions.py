"""The regions of an assembly file to analyse: its innermost loops, the spans between markers, or all of it."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

import msgspec
from msgspec.structs import replace

from incc.frontends.asm import loops
from incc.frontends.asm.control_flow import control_flow, label_index
from incc.frontends.asm.graph import loops as natural_loops
from incc.frontends.asm.loops import LoopPath, call_notes, first_location, lines_of, source_of
from incc.frontends.asm.parse import DIRECTIVE, INSTRUCTION, LABEL, AsmFunction, Assembly, CommentMarker, Statement
from incc.frontends.isa import ByteMarkers, isa, word_set
from incc.frontends.kernel import LeftOut, Region, RegionKind
from incc.support.text import line_list

_Mark = TypeVar("_Mark")

# The reason to leave out a pair of markers that are correct.
EMPTY_REGION = "no instruction between the markers"

# Directives that put bytes among the instructions, which may be instructions as well.
_EMITTING = word_set(
    ".byte .1byte .2byte .4byte .8byte .short .value .word .hword .long .int .quad .xword .octa .inst .insn .ascii"
    " .asciz .string .incbin .rept .rep .irp .irpc"
)


def innermost_loops(
    assembly: Assembly, wanted: Callable[[str], bool] | None = None
) -> tuple[list[Region], list[LeftOut]]:
    """Return the innermost natural loops of all functions, or of those whose names are `wanted`, and other cycles.

    Both are in the order of the text.
    """
    return loops.innermost(control_flow(assembly, wanted), _listing(assembly))


def loop_paths(
    assembly: Assembly, region: Region, limit: int = 16, first_side: float | None = None, sides: bool = False
) -> tuple[list[LoopPath], bool]:
    """Return the ways through an innermost loop (a region of `innermost_loops`), and True if these are all.

    At each fork the side without a jump comes first. A region that is no innermost loop has no ways.

    Args:
        assembly: the text.
        region: the loop.
        limit: the largest number of ways.
        first_side: the probability of the first side at each fork; the others share the rest. By default all sides are
            equally likely.
        sides: only split at the first fork on the way from the header, and follow the likeliest way from there.
    """
    return loops.LoopFinder(control_flow(assembly), _listing(assembly), [region]).paths(
        region, limit, first_side, sides
    )


def paths_inside(assembly: Assembly, regions: Sequence[Region], limit: int) -> list[tuple[list[LoopPath], bool]]:
    """Return the ways through each of the regions, as `loop_paths` does; none for regions without branches inside.

    If there are more than `limit`, they are the likeliest, the shortest and the longest.
    """
    if not any(region.forks for region in regions):
        return [([], True)] * len(regions)
    forking = [region for region in regions if region.forks]
    finder = loops.LoopFinder(control_flow(assembly), _listing(assembly), forking)
    result = []
    for region in regions:
        ways: tuple[list[LoopPath], bool] = ([], True)
        if region.forks:
            ways = finder.paths(region, limit, None, False)
            if not ways[1]:
                likeliest = [way for way in ways[0] if way.region.lines == region.lines]
                ways = [*likeliest, *finder.shortest_and_longest(region)], False
        result.append(ways)
    return result


def _listing(assembly: Assembly) -> loops.InstructionFacts:
    return loops.InstructionFacts(assembly.statements, lambda members: _notes(assembly, members))


# --- markers ---------------------------------------------------------------------------------------------------------


class _Span(msgspec.Struct, frozen=True, kw_only=True):
    """The statements [first, last) between two markers."""

    first: int
    last: int
    begin_line: int
    """The line of the begin marker."""
    end_line: int
    """The line of the end marker."""
    name: str
    """The name of the region, "" for none."""


class _Marker(msgspec.Struct, frozen=True):
    """A marker of OSACA or IACA: statements [first, last), which is empty for a comment."""

    begin: bool
    first: int
    last: int
    line: int


def marked_regions(assembly: Assembly) -> tuple[list[Region], list[LeftOut]]:
    """Return the spans between markers of OSACA, llvm-mca and IACA, and the markers that mark nothing.

    Both are in the order of the text. A span that several pairs of markers enclose is one region. The instructions of
    markers belong to no region.
    """
    left_out: list[LeftOut] = []
    byte_markers = _byte_markers(assembly)
    own = _statements_of(byte_markers)
    osaca = [_Marker(m.begin, m.position, m.position, m.line) for m in assembly.markers if m.dialect == "osaca"]
    spans = [
        *_spans_between(assembly, osaca, "OSACA-BEGIN", "OSACA-END", left_out),
        *_llvm_mca_spans(assembly, left_out),
        *_spans_between(assembly, byte_markers, "IACA begin marker", "IACA end marker", left_out),
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
            _report(assembly, left_out, span.begin_line, span.end_line, span.name, EMPTY_REGION)
    # Pairs of markers without a name around the same instructions as one with a name mean the same region.
    named = {(first, last) for first, last, name in members if name}
    regions = [
        _straight(assembly, "marker", name, inside, own)
        for (first, last, name), inside in members.items()
        if name or (first, last) not in named
    ]
    left_out.sort(key=lambda problem: problem.first_line)
    return _with_depth(assembly, regions), left_out


def region_of_lines(assembly: Assembly, spans: Sequence[tuple[int, int]]) -> tuple[list[Region], list[LeftOut]]:
    """Return the instructions in these spans of lines as one region, without those of markers."""
    own = marker_statements(assembly)
    inside = tuple(
        i
        for i, s in enumerate(assembly.statements)
        if s.kind == INSTRUCTION and i not in own and any(first <= s.line <= last for first, last in spans)
    )
    if not inside:
        first, last = min(spans)[0], max(last for _, last in spans)
        return [], [LeftOut(first_line=first, last_line=last, reason="no instruction in these lines")]
    return _with_depth(assembly, [_straight(assembly, "marker", "", inside, own)]), []


def whole_file(assembly: Assembly) -> tuple[list[Region], list[LeftOut]]:
    """Return all instructions of the file as one region, in the order of the text, as llvm-mca does without markers."""
    own = marker_statements(assembly)
    inside = tuple(i for i, s in enumerate(assembly.statements) if s.kind == INSTRUCTION and i not in own)
    if not inside:
        return [], [LeftOut(reason="the file has no instruction")]
    return _with_depth(assembly, [_straight(assembly, "file", assembly.source_file, inside, own)]), []


def llvm_mca_regions(assembly: Assembly, text: str) -> list[Region]:
    """Return the regions as llvm-mca finds them: those of its own markers, or the whole text.

    Regions without instructions are left out. Wrong markers are reported by `llvm_regions.regions`.
    """
    from incc.frontends.asm.llvm_regions import regions, spans

    statements = assembly.statements
    lines = [s.line for s in statements]
    marked = regions(text)[0]
    result = []
    for each, (first, last) in zip(marked, spans(text, marked), strict=True):
        among = range(bisect_left(lines, first), bisect_left(lines, last + 1))
        members = tuple(i for i in among if statements[i].kind == INSTRUCTION)
        if members:
            kind: RegionKind = "file" if each.begin < 0 else "marker"
            result.append(_straight(assembly, kind, each.name, members, frozenset()))
    return _with_depth(assembly, result)


def _straight(assembly: Assembly, kind: RegionKind, name: str, members: Sequence[int], own: frozenset[int]) -> Region:
    """Return a region of instructions in the order of the text. `own` are the statements of byte markers."""
    statements = assembly.statements
    branch_of = isa(assembly.isa).branch
    first, last = members[0], members[-1]
    branches = sum(
        branch_of(statements[i].text)[0] in ("conditional", "unconditional", "indirect") for i in members[:-1]
    )
    label = ""
    branch, target_name = branch_of(statements[last].text)
    target = label_index(assembly, target_name, last) if branch in ("conditional", "unconditional") else -1
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
    function_name = function.name if function else ""
    notes: list[str] = []
    if branches:
        jumps = "1 branch" if branches == 1 else f"{branches} branches"
        notes.append(
            f"{jumps}{' before the last instruction' if is_loop else ' inside'}: instructions are analysed in the order"
            " of the text, as if none were taken"
        )
        if kind == "file" and _goes_back(assembly, members):
            notes.append("contains a loop; --auto analyses each loop separately")
    notes += _notes(assembly, members)
    latch = statements[last].location if is_loop else None
    begin = first_location(statements, function.statements if function else members) if latch else None
    lines = lines_of(statements, members)
    return Region(
        kind=kind,
        name=name or ":".join(filter(None, (function_name, label))) or f"line {lines[0]}",
        function=function_name,
        label=label,
        first_line=min(lines),
        last_line=max(lines),
        lines=lines,
        body_lines=lines,
        is_loop=is_loop,
        source=source_of(statements, members, latch, begin),
        notes=tuple(notes),
    )


def _goes_back(assembly: Assembly, members: Sequence[int]) -> bool:
    """Return True if a branch of these statements goes back to one of them."""
    branch_of = isa(assembly.isa).branch
    for i in members:
        kind, name = branch_of(assembly.statements[i].text)
        if kind in ("conditional", "unconditional") and 0 <= label_index(assembly, name, i) <= i:
            return True
    return False


def _with_depth(assembly: Assembly, regions: list[Region]) -> list[Region]:
    """Return the regions with the nesting depth of those that are loops."""
    wanted = {region.function for region in regions if region.is_loop}
    if not wanted:
        return regions
    depth: dict[int, int] = {}
    for graph in control_flow(assembly, wanted.__contains__):
        for loop in natural_loops([block.successors for block in graph.blocks], graph.entries)[0]:
            for b in loop.body:
                for i in graph.blocks[b].instructions:
                    line = assembly.statements[i].line
                    depth[line] = max(depth.get(line, 0), loop.depth)
    return [
        replace(region, depth=max((depth.get(line, 0) for line in region.lines), default=0))
        if region.is_loop
        else region
        for region in regions
    ]


def _spans_between(
    assembly: Assembly, markers: Iterable[_Marker], begin: str, end: str, left_out: list[LeftOut]
) -> list[_Span]:
    spans: list[_Span] = []
    marks = [(marker, marker.begin, f"in line {marker.line}") for marker in markers]
    for first, last, problem in paired(marks, begin, end):
        if problem:
            _report(assembly, left_out, first.line, first.line, "", problem)
        else:
            spans.append(_Span(first=first.last, last=last.first, begin_line=first.line, end_line=last.line, name=""))
    return spans


def paired(marks: Iterable[tuple[_Mark, bool, str]], begin: str, end: str) -> Iterator[tuple[_Mark, _Mark, str]]:
    """Yield the markers before and after each region, or twice one without a counterpart, and the problem with it.

    `marks` are markers in their order, each with True for one before a region, and its place. `begin` and `end` are the
    markers' names.
    """
    start: list[_Mark] = []
    for mark, begins, where in marks:
        if start:
            yield start[0], start[0] if begins else mark, f"{begin}, and again {where}" if begins else ""
        elif not begins:
            yield mark, mark, f"{end} without {begin.removeprefix('IACA ')}"
        start = [mark] if begins else []
    if start:
        yield start[0], start[0], f"{begin} without {end.removeprefix('IACA ')}"


def _llvm_mca_spans(assembly: Assembly, left_out: list[LeftOut]) -> list[_Span]:
    """Return the spans by llvm-mca's rules.

    Regions may overlap if their names differ. An end without a name ends the only open region.
    """
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
                spans.append(
                    _Span(first=start.position, last=marker.position, begin_line=start.line, end_line=line, name=name)
                )
            elif name:
                reason = f"LLVM-MCA-END: no region named {name!r} is open"
            elif active:
                reason = f"LLVM-MCA-END without a name, but {len(active)} named regions are open"
            else:
                reason = "LLVM-MCA-END without LLVM-MCA-BEGIN"
        if reason:
            _report(assembly, left_out, line, line, marker.name, reason)
    # As in llvm-mca, a region without an end extends to the end of the text.
    end = len(assembly.statements)
    last = assembly.statements[-1].line if end else 0
    for start in active.values():
        spans.append(
            _Span(
                first=start.position, last=end, begin_line=start.line, end_line=max(start.line, last), name=start.name
            )
        )
    return spans


_BYTES = (".byte ", ".1byte ")
"""The beginnings of statements with the bytes of a marker."""


def _byte_markers(assembly: Assembly) -> list[_Marker]:
    """Return the markers that are made of instructions, IACA's and OSACA's."""
    statements = assembly.statements
    forms = isa(assembly.isa).markers
    nops, store_sign = forms.nops, forms.store_sign
    markers: list[_Marker] = []
    for i in _candidates(statements, forms):
        statement = statements[i]
        text = statement.text
        before = statements[i - 1].text if i and statements[i - 1].kind == INSTRUCTION else ""
        number = first = last = 0
        if statement.kind == DIRECTIVE:
            if before and text.startswith(_BYTES):
                last = _bytes_end(assembly, i, forms.data)
        elif statement.kind == INSTRUCTION:
            if store_sign and store_sign in text and (store := re.match(forms.store, text)):
                groups = {name.rstrip("2"): value for name, value in store.groupdict().items() if value}
                number = _integer(groups["number"])
                first, last = (i - 1 if "register" in groups and before else i), i + 1
            elif text.lower() in nops:
                last = i + 1
        if last and not number and (move := re.match(forms.move, before)):
            number = _integer(next(group for group in move.groups() if group))
            first = i - 1
        if number in (111, 222):
            markers.append(_Marker(number == 111, first, last, statements[first].line))
    return markers


def _candidates(statements: Sequence[Statement], forms: ByteMarkers) -> list[int]:
    """Return the statements that may end a marker, which are few."""
    sign, nops = forms.store_sign, forms.nops
    return [
        i
        for i, statement in enumerate(statements)
        if (text := statement.text).startswith(_BYTES) or (sign and sign in text) or text.lower() in nops
    ]


def _bytes_end(assembly: Assembly, start: int, wanted: tuple[int, ...]) -> int:
    """Return the statement after the `.byte` directives from `start` on that are `wanted`, 0 for other bytes."""
    values: list[int] = []
    for i in range(start, min(start + len(wanted), len(assembly.statements))):
        statement = assembly.statements[i]
        directive, _, operands = statement.text.partition(" ")
        if statement.kind != DIRECTIVE or directive not in (".byte", ".1byte"):
            return 0
        values.extend(_integer(operand) for operand in operands.split(","))
        if len(values) >= len(wanted):
            return i + 1 if tuple(values) == wanted else 0
        if tuple(values) != wanted[: len(values)]:
            return 0
    return 0


def _integer(text: str) -> int:
    """Return a number as the assembler reads it, -1 for other text."""
    text = text.strip().lower()
    try:
        return int(text[:-1], 16) if text.endswith("h") and text[:1].isdigit() else int(text, 0)
    except ValueError:
        return -1


def without_byte_markers(assembly: Assembly, text: str) -> str:
    """Return the text with blank lines in place of the markers that are made of instructions.

    The code then has the layout that it has without markers. Lines keep their numbers. Lines that also have other
    statements stay.
    """
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
    """Return the indices of the statements of markers that are made of instructions."""
    return _statements_of(_byte_markers(assembly))


def _statements_of(markers: list[_Marker]) -> frozenset[int]:
    return frozenset(i for marker in markers for i in range(marker.first, marker.last))


def _report(
    assembly: Assembly, left_out: list[LeftOut], first_line: int, last_line: int, name: str, reason: str
) -> None:
    at = min(bisect_left(assembly.statements, first_line, key=lambda s: s.line), len(assembly.statements) - 1)
    function = _function_at(assembly, at)
    where = function.name if function else ""
    left_out.append(LeftOut(first_line=first_line, last_line=last_line, function=where, label=name, reason=reason))


# --- common ----------------------------------------------------------------------------------------------------------


def _function_at(assembly: Assembly, statement: int) -> AsmFunction | None:
    """Return the function of a statement."""
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


def _notes(assembly: Assembly, members: Sequence[int]) -> list[str]:
    """Return the notes on instructions of a region: calls, macros, bytes written as data."""
    statements = assembly.statements
    branch_of = isa(assembly.isa).branch
    calls: dict[str, None] = {}
    macros: dict[str, None] = {}
    data: list[int] = []
    repeated: list[int] = []
    previous = -1
    for i in members:
        text = statements[i].text
        kind, target = branch_of(text)
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
    notes = call_notes(calls)
    notes += [f"branches inside the macro {name} are not seen" for name in macros]
    if data:
        notes.append(f"contains bytes written as data ({line_list(data)}): they are not analysed")
    if repeated:
        notes.append(f"contains a repeated block ({line_list(repeated)}): it is not analysed")
    return notes
