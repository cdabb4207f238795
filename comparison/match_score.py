"""How much speaks for two kernels being the same loop of the source.

Each observation adds its weight of evidence: the logarithm of how many times as often it is made of two kernels that
are the same loop as of two that are not, roughly and from experience with code in two versions and from several
compilers (bench/matching.py counts how often the sum is right). So sums are the logarithm of odds, and what several
candidates have of it gives a probability. Each observation is the same from either side.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import msgspec

from incc.comparison.match_features import likeness, path_likeness, tail

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from incc.comparison.match_features import Features

UNIT = 1000
"""Weights are whole numbers of this part, so that sums do not depend on their order."""

NEEDED = 2.0
"""What must speak for a pair of a function: before anything is looked at, two kernels are rather not the same loop."""

FAR = 8
"""Lines from which on it does not matter how many they are."""


class Sides(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of the two builds as wholes.

    `functions_a`, `functions_b`: their symbols and short names. `aliases`: pairs of symbols that are one function with
    two names. `same_sources`: files whose lines are the same in both builds. `shifts`: by how many lines a function's
    loops have moved, by the pair of symbols and the file.
    `origins`: names of functions that loops of both builds come from. `moves`: by how many lines the text of such a
    function has moved, by file and name: what was inlined elsewhere moves with the function it is written in.
    `rarity`: of a signature, how much it says that two kernels share it. `beside`: pairs of symbols whose functions
    stand at the same place between others that are known to be the same, and how many sides of it say so. `pool`: how
    many kernels are still without a partner, by the file's name, "" for all."""

    functions_a: frozenset[str]
    functions_b: frozenset[str]
    aliases: frozenset[tuple[str, str]]
    same_sources: frozenset[str]
    shifts: dict[tuple[str, str], int]
    origins: frozenset[str]
    moves: dict[tuple[str, str], int]
    rarity: Callable[[Features], float]
    beside: dict[tuple[str, str], int]
    pool: dict[str, int]


def function_evidence(a: Features, b: Features, sides: Sides) -> float:
    """From the names of functions: 3 and more for the same one."""
    if a.function and a.function == b.function:
        return 3.5
    if (a.function, b.function) in sides.aliases:
        return 3.0
    if a.base and a.base == b.base:
        return 3.0
    elsewhere = a.function in sides.functions_b and b.function in sides.functions_a
    if a.origin and a.origin == b.origin:
        # Inlined into both, and each build has both: the other copy is the nearer one.
        return 1.0 if elsewhere else 2.5
    if (a.origin and a.origin == b.base) or (b.origin and b.origin == a.base):
        # One compiler inlined it, the other did not.
        return 2.5
    if a.names & b.names:
        return -1.0 if elsewhere else 1.0
    evidence = 0.0
    # A function that both builds have did not get the other's name; of those that only one has, one may well have.
    if a.function in sides.functions_b:
        evidence -= 1.5
    if b.function in sides.functions_a:
        evidence -= 1.5
    if a.last and a.last == b.last:
        # In another class or namespace.
        evidence += 2.5
    elif a.words and b.words:
        evidence += 2.0 * len(a.words & b.words) / len(a.words | b.words)
    return evidence


def place_evidence(a: Features, b: Features, sides: Sides) -> float:
    """From lines of the source, or else from the order of a function's loops."""
    known = a.line and b.line and path_likeness(a.file, b.file) > 0
    if known and tail_of(a) in sides.same_sources:
        distance = _distance(a, b, 0)
        if distance == 0:
            return 4.0
        return -1.0 if distance <= 1 else -4.0
    evidence = 0.0
    if a.origin != b.origin and a.origin in sides.origins and b.origin in sides.origins:
        # Both builds have loops of both texts: this is one of the one, that one of the other.
        evidence -= 3.0
    moved = sides.moves.get((tail_of(a), a.origin)) if known and a.origin == b.origin else None
    if moved is not None:
        distance = _distance(a, b, moved)
        evidence += 3.0 if distance == 0 else 0.5 - 4.0 * min(distance, FAR) / FAR
        # Copies of a loop follow each other as they did.
        return evidence + (0.3 * _order(a.rank, b.rank) if a.function == b.function else 0.0)
    if a.function and (a.function == b.function or (a.function, b.function) in sides.aliases):
        alone = a.rank[1] == b.rank[1] == 1
        # What was inlined is not a part of the function's own text.
        inlined = (a.origin and a.origin != a.base) or (b.origin and b.origin != b.base)
        shift = None if inlined else sides.shifts.get((a.function, b.function))
        if known and shift is not None and not alone:
            distance = _distance(a, b, shift)
            evidence += 2.0 if distance == 0 else 0.5 - 2.0 * min(distance, FAR) / FAR
        if a.main and b.main:
            evidence += _order(a.rank, b.rank)
        if a.part == b.part:
            evidence += 0.3
    else:
        evidence += 1.0 * sides.beside.get((a.function, b.function), 0)
    return evidence


def _order(a: tuple[int, int], b: tuple[int, int]) -> float:
    """From the place among the main loops of the function."""
    if a[1] == b[1]:
        return 1.0 if a == b else -0.5
    # Where loops came or went, count from either end.
    off = min(abs(a[0] - b[0]), abs((a[1] - a[0]) - (b[1] - b[0])))
    return 0.5 if off == 0 else -0.3 * min(off, 3)


def _distance(a: Features, b: Features, shift: int) -> int:
    """How many lines apart they are, 0 where they have one in common."""
    lines_a = a.lines
    lines_b = b.lines if not shift else frozenset(line - shift for line in b.lines)
    if not lines_a.isdisjoint(lines_b):
        return 0
    return min(abs(x - y) for x in lines_a for y in lines_b)


def tail_of(a: Features) -> str:
    return a.file.rpartition("/")[2]


def work_evidence(a: Features, b: Features, alike: float) -> float:
    """From what they do: -2.5 for nothing in common, 3 for exactly the same mix."""
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
    """From equal code, the more the longer it is: tiny loops are equal by chance. What a loop unrolled by hand leaves
    over is the code that the loop was before, but not the loop."""
    return min(5.0, 0.5 * a.instructions) if a.content == b.content and a.leftover == b.leftover else 0.0


def unit_evidence(a: Features, b: Features) -> float:
    """From the names of files."""
    if not a.unit or not b.unit:
        return 0.0
    alike = path_likeness(a.unit, b.unit)
    return alike - 0.3


def score(a: Features, b: Features, sides: Sides, sparse: bool = False) -> int:
    """What speaks for a pair, less what is needed. `sparse`: the pair was found among all kernels, not within a
    function: then what is needed grows with the number of those that might be it as well."""
    alike = 1.0 if a.content == b.content else likeness(a, b)
    evidence = (
        function_evidence(a, b, sides)
        + place_evidence(a, b, sides)
        + work_evidence(a, b, alike)
        + content_evidence(a, b)
        + unit_evidence(a, b)
    )
    if sparse:
        file = tail(a.unit)
        pool = sides.pool.get(file, 0) if file and file == tail(b.unit) else sides.pool[""]
        evidence += min(sides.rarity(a), sides.rarity(b)) * max(0.0, 2.0 * alike - 1.0)
        evidence -= math.log(1 + pool)
    else:
        evidence -= NEEDED
    return round(evidence * UNIT)


def attendant_score(a: Features, b: Features) -> int:
    """What speaks for two remainders, prologues or fallbacks of one and the same main loop."""
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
    """How likely a chosen pair is: against either being alone, and against changing partners with any other pair.

    `alike(side, one, other)`: two kernels of a side (0: rows, 1: columns) are one loop of the source, or the same
    code, so that it does not matter which of them is meant."""
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
    """Weighed pairs, and the others of each row and column."""

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
    alike: Callable[[Features, Features], float],
    of: Callable[[Features, Features], tuple[str, str]] = lambda a, b: (a.function, b.function),
) -> dict[tuple[str, str], int]:
    """By how many lines the loops of each function, or of what else `of` says, have moved: what most of its pairs say,
    each as loud as the two are alike. Nothing where no two loops say the same: what one says of itself is no evidence
    for it."""
    votes: dict[tuple[str, str], dict[int, dict[int, int]]] = {}
    for a, b in pairs:
        if a.line and b.line:
            loud = votes.setdefault(of(a, b), {}).setdefault(b.line - a.line, {})
            loud[a.line] = max(loud.get(a.line, 0), round(UNIT * alike(a, b) ** 3))
    found = {}
    for functions, of_function in votes.items():
        moved = max(of_function, key=lambda m: (sum(of_function[m].values()), -abs(m), m))
        if len(of_function[moved]) > 1:
            found[functions] = moved
    return found


def same_sources(a: Sequence[Features], b: Sequence[Features]) -> frozenset[str]:
    """Names of files of which both builds were made from the same text, as far as lines of loops tell: those of each
    function are the same."""
    lines: list[dict[tuple[str, str], set[int]]] = [{}, {}]
    for side, loops in zip(lines, (a, b), strict=True):
        for each in loops:
            if each.line and each.main:
                side.setdefault((tail_of(each), each.origin or each.base or each.function), set()).update((each.line,))
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
