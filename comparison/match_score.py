"""The evidence that two kernels are the same loop of the source.

Each observation adds its weight of evidence: the logarithm of the ratio by which it is more frequent for two kernels
that are the same loop than for two that are not. The ratios are rough, from experience with code in two versions and
from several compilers (bench/matching.py counts how often the sum is right). The sums are logarithms of odds, so the
sums of several candidates give a probability. Each observation is symmetric.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

import msgspec

from incc.comparison.match_features import Features, likeness, path_likeness, tail

UNIT = 1000
"""The number of units in a weight of 1: weights are integers, so that sums do not depend on their order."""

NEEDED = 2.0
"""The evidence that a pair of a function needs: without any, two kernels are probably different loops."""

FAR = 8
"""The distance in lines beyond which a larger one makes no difference."""


class Sides(msgspec.Struct, frozen=True, kw_only=True):
    """The knowledge about two builds as wholes."""

    functions_a: frozenset[str]
    """The symbols and short names of the first build's functions."""
    functions_b: frozenset[str]
    """The symbols and short names of the second build's functions."""
    aliases: frozenset[tuple[str, str]]
    """Pairs of symbols that are one function with two names."""
    same_sources: frozenset[str]
    """Files whose lines are the same in both builds."""
    shifts: dict[tuple[str, str], int]
    """The number of lines by which a function's loops have moved, by the pair of symbols."""
    origins: frozenset[str]
    """Names of functions from which loops of both builds come."""
    moves: dict[tuple[str, str], int]
    """The number of lines by which a function's text has moved, wherever it was inlined, by file and name."""
    rarity: Callable[[Features], float]
    """The evidence of sharing a signature."""
    beside: dict[tuple[str, str], int]
    """Pairs of symbols at the same place between matched functions, with the number of sides that agree."""
    pool: dict[str, int]
    """The number of kernels still without a partner, by the file's name; "" for all."""


def function_evidence(a: Features, b: Features, sides: Sides) -> float:
    """Return the evidence of function names: 3 or more for the same function."""
    if a.function and a.function == b.function:
        return 3.5
    if (a.function, b.function) in sides.aliases:
        return 3.0
    if a.base and a.base == b.base:
        return 3.0
    elsewhere = a.function in sides.functions_b and b.function in sides.functions_a
    if a.origin and a.origin == b.origin:
        # The function was inlined into both, and each build has both callers: the copy in the same caller is closer.
        return 1.0 if elsewhere else 2.5
    if (a.origin and a.origin == b.base) or (b.origin and b.origin == a.base):
        # One compiler inlined it, the other did not.
        return 2.5
    if a.names & b.names:
        return -1.0 if elsewhere else 1.0
    evidence = 0.0
    # A function that both builds have was not renamed to the other; one that only one build has may well have been.
    if a.function in sides.functions_b:
        evidence -= 1.5
    if b.function in sides.functions_a:
        evidence -= 1.5
    if a.last and a.last == b.last:
        # The function is in another class or namespace.
        evidence += 2.5
    elif a.words and b.words:
        evidence += 2.0 * len(a.words & b.words) / len(a.words | b.words)
    return evidence


def place_evidence(a: Features, b: Features, sides: Sides) -> float:
    """Return the evidence of source lines, or else of the order of a function's loops."""
    has_lines = bool(a.line and b.line and path_likeness(a.file, b.file) > 0)
    if has_lines and tail(a.file) in sides.same_sources:
        return _lines_evidence(a, b)
    # If both builds have loops of both texts, these two belong to different ones.
    evidence = -3.0 if a.origin != b.origin and {a.origin, b.origin} <= sides.origins else 0.0
    moved = sides.moves.get((tail(a.file), a.origin)) if has_lines and a.origin == b.origin else None
    if moved is not None:
        evidence += _distance_evidence(a, b, moved, 3.0, 4.0)
        # Copies of a loop keep their order.
        return evidence + (0.3 * _order(a.rank, b.rank) if a.function == b.function else 0.0)
    if a.function and (a.function == b.function or (a.function, b.function) in sides.aliases):
        return evidence + _evidence_in_function(a, b, sides, has_lines)
    return evidence + sides.beside.get((a.function, b.function), 0)


def _evidence_in_function(a: Features, b: Features, sides: Sides, has_lines: bool) -> float:
    """Return the evidence of the places of two loops of one function."""
    evidence = 0.0
    alone = a.rank[1] == b.rank[1] == 1
    # Inlined code is not a part of the function's own text.
    inlined = (a.origin and a.origin != a.base) or (b.origin and b.origin != b.base)
    shift = None if inlined else sides.shifts.get((a.function, b.function))
    if has_lines and shift is not None and not alone:
        evidence += _distance_evidence(a, b, shift, 2.0, 2.0)
    if a.main and b.main:
        evidence += _order(a.rank, b.rank)
    return evidence + (0.3 if a.part == b.part else 0.0)


def _distance_evidence(a: Features, b: Features, shift: int, same: float, far: float) -> float:
    """Return the evidence of lines, once those of `b` are moved: `same` for a common line, less up to FAR lines."""
    distance = _distance(a, b, shift)
    return same if distance == 0 else 0.5 - far * min(distance, FAR) / FAR


def _order(a: tuple[int, int], b: tuple[int, int]) -> float:
    """Return the evidence of the place among the main loops of the function."""
    if a[1] == b[1]:
        return 1.0 if a == b else -0.5
    # If loops were added or removed, counting starts from either end.
    off = min(abs(a[0] - b[0]), abs((a[1] - a[0]) - (b[1] - b[0])))
    return 0.5 if off == 0 else -0.3 * min(off, 3)


def _distance(a: Features, b: Features, shift: int) -> int:
    """Return the distance of two kernels in lines; 0 if they share a line."""
    lines_a = a.lines
    lines_b = b.lines if not shift else frozenset(line - shift for line in b.lines)
    if not lines_a.isdisjoint(lines_b):
        return 0
    return min(abs(x - y) for x in lines_a for y in lines_b)


def _lines_evidence(a: Features, b: Features) -> float:
    """Return the evidence of the lines of two kernels of one text.

    Instructions of a loop may have a line of the next loop, or of a function that is inlined into both. So unless the
    loops have the same line, it counts how many lines they share. Of loops at different depths or of different
    functions, one may be unrolled or inlined in the other: its lines are then a part of the other's.
    """
    if a.line == b.line:
        return 4.0
    shared = len(a.lines & b.lines)
    if a.depth != b.depth:
        return max(-6.0, 11.0 * shared / len(a.lines | b.lines) - 7.0)
    if not shared:
        return -1.0 if _distance(a, b, 0) <= 1 else -6.0
    lines = min(len(a.lines), len(b.lines)) if a.origin == b.origin else len(a.lines | b.lines)
    return 10.0 * shared / lines - 6.0


def work_evidence(a: Features, b: Features, alike: float) -> float:
    """Return the evidence of the work: -2.5 for nothing in common, 3 for exactly the same mix."""
    evidence = 5.5 * alike - 2.5
    memory_a, memory_b = a.entry.kernel.memory, b.entry.kernel.memory
    evidence += 0.3 if bool(memory_a.bytes_stored) == bool(memory_b.bytes_stored) else -1.0
    evidence += 0.2 if a.depth == b.depth else -0.5 * min(abs(a.depth - b.depth), 3)
    if a.leftover != b.leftover:
        evidence -= 1.5
    if a.kind != b.kind:
        evidence -= 1.0
    elif a.kind == "marker" and a.part.startswith("region ") and a.part == b.part:
        evidence += 3.0
    return evidence


def content_evidence(a: Features, b: Features) -> float:
    """Return the evidence of equal code, which grows with its length: tiny loops are equal by chance.

    The remainder of a loop unrolled by hand has the code that the loop had before, but it is not that loop.
    """
    return min(5.0, 0.5 * a.instructions) if a.content == b.content and a.leftover == b.leftover else 0.0


def unit_evidence(a: Features, b: Features) -> float:
    """Return the evidence of file names."""
    return path_likeness(a.unit, b.unit) - 0.3 if a.unit and b.unit else 0.0


def alike(a: Features, b: Features) -> float:
    """Return how similar two kernels are, 1 for equal code."""
    return 1.0 if a.content == b.content else likeness(a, b)


def score(a: Features, b: Features, sides: Sides, sparse: bool = False) -> int:
    """Return the evidence for a pair, minus the evidence needed.

    If `sparse` is set, the pair comes from all kernels instead of one function, so the evidence needed grows with the
    number of other candidates.
    """
    similarity = alike(a, b)
    evidence = (
        function_evidence(a, b, sides)
        + place_evidence(a, b, sides)
        + work_evidence(a, b, similarity)
        + content_evidence(a, b)
        + unit_evidence(a, b)
    )
    if sparse:
        file = tail(a.unit)
        pool = sides.pool.get(file, 0) if file and file == tail(b.unit) else sides.pool[""]
        evidence += min(sides.rarity(a), sides.rarity(b)) * max(0.0, 2.0 * similarity - 1.0)
        evidence -= math.log(1 + pool)
    else:
        evidence -= NEEDED
    return round(evidence * UNIT)


def attendant_score(a: Features, b: Features) -> int:
    """Return the evidence for two remainders, prologues or fallbacks of the same main loop."""
    evidence = 0.0
    role_a, role_b = a.entry.kernel.role, b.entry.kernel.role
    if role_a.name == role_b.name:
        evidence += 1.5 + (0.3 if role_a.instead == role_b.instead else 0.0)
    elif {role_a.name, role_b.name} == {"remainder", "fallback"} and (role_a.instead or role_b.instead):
        evidence += 0.2
    else:
        evidence -= 4.0
    if a.content == b.content:
        evidence += 3.0
    evidence += 3.0 * likeness(a, b) - 1.5
    if a.elements and b.elements:
        evidence += 0.5 - 0.5 * abs(math.log2(a.elements / b.elements))
    if a.part == b.part:
        evidence += 0.2
    return round(evidence * UNIT)


def probability(
    pair: tuple[int, int],
    forth: dict[int, int],
    back: dict[int, int],
    weights: Weights,
    alike: Callable[[int, int, int], bool],
) -> float:
    """Return the probability of a chosen pair, against either kernel being alone and against exchanging partners.

    `alike(side, one, other)` returns True if two kernels of a side (0: rows, 1: columns) are one loop of the source, or
    the same code, so that either may be meant.
    """
    row, column = pair
    odds = math.exp(min(0.0, -weights.of[pair] / UNIT))
    for other in weights.rows[row]:
        if other != column and not alike(1, column, other):
            partner = back.get(other)
            gain = weights.of[row, other]
            lost = weights.of[pair]
            if partner is not None:
                lost += weights.of[partner, other]
                gain += max(0, weights.of.get((partner, column), 0))
            odds += math.exp(min(0, gain - lost) / UNIT)
    for other in weights.columns[column]:
        if other != row and other not in forth and not alike(0, row, other):
            odds += math.exp(min(0, weights.of[other, column] - weights.of[pair]) / UNIT)
    return 1.0 / (1.0 + odds)


class Weights:
    """Weighted pairs, and the partners of each row and column."""

    __slots__ = ("columns", "of", "rows")

    def __init__(self, of: dict[tuple[int, int], int]) -> None:
        self.of = of
        self.rows: dict[int, list[int]] = {}
        self.columns: dict[int, list[int]] = {}
        for row, column in of:
            self.rows.setdefault(row, []).append(column)
            self.columns.setdefault(column, []).append(row)


def shifts(
    pairs: Iterable[tuple[Features, Features]],
    of: Callable[[Features, Features], tuple[str, str]] = lambda a, b: (a.function, b.function),
) -> dict[tuple[str, str], int]:
    """Return by how many lines the loops of each function, or of each key from `of`, have moved.

    Most pairs decide, each with its likeness as its weight. A shift that only one loop supports is omitted, because it
    would be evidence for itself.
    """
    votes: dict[tuple[str, str], dict[int, dict[int, int]]] = {}
    for a, b in pairs:
        if a.line and b.line:
            best_of_line = votes.setdefault(of(a, b), {}).setdefault(b.line - a.line, {})
            best_of_line[a.line] = max(best_of_line.get(a.line, 0), round(UNIT * alike(a, b) ** 3))
    shifts = {}
    for functions, of_function in votes.items():
        moved = max(of_function, key=lambda m: (sum(of_function[m].values()), -abs(m), m))
        if len(of_function[moved]) > 1:
            shifts[functions] = moved
    return shifts


def same_sources(a: Sequence[Features], b: Sequence[Features]) -> frozenset[str]:
    """Return the names of files that are the same in both builds, judging by the lines of loops."""
    lines: list[dict[tuple[str, str], set[int]]] = [{}, {}]
    for side, loops in zip(lines, (a, b), strict=True):
        for each in loops:
            if each.line and each.main:
                side.setdefault((tail(each.file), each.origin or each.base or each.function), set()).add(each.line)
    met: dict[str, list[int]] = {}
    for key in sorted(lines[0].keys() & lines[1].keys()):
        one, other = lines[0][key], lines[1][key]
        # Compilers give a loop the line of its head or of its body.
        near = sum(any(abs(x - y) <= 1 for y in other) for x in one) + sum(
            any(abs(x - y) <= 1 for y in one) for x in other
        )
        counts = met.setdefault(key[0], [0, 0])
        counts[0] += near
        counts[1] += len(one) + len(other)
    return frozenset(file for file, (near, all_) in met.items() if near >= 0.8 * all_)
