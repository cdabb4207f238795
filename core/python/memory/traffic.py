"""The cache lines that a loop moves: by stream, and how far back each line was used before.

Accesses with the same unknown base and the same step form a group. In the direction of movement, the access that is
furthest ahead touches each line first; the line is new to the loop, and comes from wherever the data are. Accesses
further behind touch the same lines later. Those within a line of the one ahead are one *front*: it brings a line in
once. A front further behind, like the other rows of a stencil, uses the line again after as many iterations as it lies
behind, and finds it in the smallest cache that holds everything that the loop touches meanwhile, its reuse distance.

A cache of several ways holds as many lines of a set, which is their number modulo the sets. Streams whose steps are at
most a line spread over all sets alike; those with long steps may pass through few sets, and rows that lie a multiple of
the sets' span apart fall into the same ones. Where the sets are given, a line is found again if its set holds the lines
that fall into it meanwhile, and an array's line that is used over several iterations, as long as no more lines of a set
are used in one iteration than it has ways.

Everything is an exact fraction: lines per iteration are averages over the positions that the alignment of the accesses
allows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate
from math import gcd, lcm

import msgspec
from msgspec.structs import replace

from incc.core import Stream

_MOST_POSITIONS = 1 << 12
"""The most places of accesses whose lines are counted exactly; of more, no two are taken to share a line."""


class AccessSpan(msgspec.Struct, frozen=True):
    """The bytes of an access in a group, mirrored if it moves down, so that the largest `end` is ahead."""

    begin: int
    end: int
    step: int
    """Bytes per iteration, as of the stream."""
    instruction: int
    store: bool
    unit: int = 1
    """The bytes at whose multiples the accesses that touch the same lines may begin in a line."""


class Front(msgspec.Struct, frozen=True, kw_only=True):
    """Accesses that touch the same lines, each at most a line behind the one ahead."""

    part: int
    """The number of the unknown base (`Stream.part`)."""
    step: int
    """Bytes by which the accesses move per iteration."""
    instructions: tuple[int, ...]
    """Its instructions, in program order."""
    lines: Fraction
    """Lines per iteration: all new ones, or all those that the front ahead has touched before."""
    stores: tuple[AccessSpan, ...]
    """Its stores."""
    first: bool
    """True for the first of the fronts that touch the same lines."""
    stores_first: bool
    """True if a store touches each line first, so that the line is fetched only to be modified."""
    non_temporal: bool
    """True if all its stores are non-temporal and it has no loads: the lines are not fetched."""
    behind: Fraction | None
    """Iterations since the front ahead touched the same lines; None for the first front, whose lines are new."""
    reuse: Fraction | None = None
    """Bytes that the loop touches in these iterations; None if the lines are new."""
    begin: int
    """The first byte of its accesses, mirrored if they move down, as of `AccessSpan`."""
    end: int
    neighbour: bool = False
    """True for new lines of an array that another front goes through an unknown distance away, as in another row: they
    may have been used in an earlier pass."""


class Traffic(msgspec.Struct, frozen=True, kw_only=True):
    """The lines that a loop moves per iteration."""

    fronts: tuple[Front, ...]
    line: int
    """Bytes of a line."""
    fixed: int
    """Lines that are touched in every iteration, and stay in L1."""
    unknown: tuple[int, ...]
    """Instructions whose addresses do not change by a known number of bytes per iteration."""

    @property
    def furthest(self) -> Fraction:
        """Lines per iteration that are touched if nothing is found again."""
        return sum((front.lines for front in self.fronts if front.behind is None), Fraction(0))

    @property
    def mixes_strides(self) -> bool:
        """True if arrays an unknown distance apart are passed through in steps longer than a line."""
        return len({front.part for front in self.fronts if abs(front.step) > self.line}) > 1

    def missing(self, size: int, neighbours: bool = False, ways: int | None = None) -> MovedLines:
        """Return the lines per iteration that a cache of `size` bytes exchanges with the level outside.

        All new lines come from outside. A line is written back once each time that it leaves, if any front has
        modified it since it came.

        Args:
            size: Bytes of the cache.
            neighbours: Return the least number of lines: those of neighbouring rows are found in the cache, arrays an
                unknown distance apart fall into different sets, and no line of a crowd (`crowds`) is replaced early.
            ways: The cache's associativity; None for a fully associative one.
        """
        read = allocate = written = direct = Fraction(0)
        modifying: list[AccessSpan] = []
        sets = sets_of(size, ways, self.line)
        crowds = [] if sets is None or neighbours else self.crowds(sets)
        crowded = {front: lines for crowd in crowds for front, lines in crowd.lines.items()}
        written += sum((crowd.written for crowd in crowds), Fraction(0))
        for front in self.fronts:
            if front in crowded:
                if front.stores_first:
                    allocate += crowded[front]
                else:
                    read += crowded[front]
                continue
            reuse = front.reuse
            held = reuse is not None and (reuse <= size if sets is None else self._holds(front, sets, neighbours))
            missed = not held and not (neighbours and front.neighbour)
            if front.first or (missed and reuse is not None):
                written += _lines(tuple(modifying), self.line)
                modifying = []
            if front.non_temporal:
                direct += front.lines if missed else 0
                continue
            modifying += front.stores
            if missed and front.stores_first:
                allocate += front.lines
            elif missed:
                read += front.lines
        written += _lines(tuple(modifying), self.line)
        return MovedLines(read, allocate, written, direct)

    def _holds(self, front: Front, sets: Sets, apart: bool) -> bool:
        """Return True if the set of a line holds it from its last use by the front ahead until this one uses it.

        With `apart`, other arrays with long steps fall into other sets.
        """
        assert front.behind is not None
        group = [other for other in self.fronts if (other.part, other.step) == (front.part, front.step)]
        ahead = group[group.index(front) - 1]
        others = Fraction(0)  # lines that fall into the set in between
        strided = abs(front.step) > self.line
        for other in self.fronts:
            if strided and other in group:
                others += _in_the_set(front, ahead, other, sets)
                continue
            lines = other.lines * (front.behind if other.behind is None else min(front.behind, other.behind))
            used = sets.passed(other.step)
            others += 0 if apart and used < sets.number else lines / used
        # Unless the front is strided, `others` includes the line itself.
        return others < sets.ways if strided else others <= sets.ways

    def crowds(self, sets: Sets) -> list[Crowd]:
        """Return the groups of fronts of which more lines fall into a set at a time than it has ways.

        Lines then leave before the next iteration uses them.
        """
        groups: dict[tuple[int, int], list[Front]] = {}
        for front in self.fronts:
            if abs(front.step) < self.line and not front.non_temporal:
                groups.setdefault((front.part, front.step), []).append(front)
        crowds = [_crowd(fronts, sets) for fronts in groups.values() if len(fronts) > sets.ways]
        return [crowd for crowd in crowds if crowd is not None]


class Crowd(msgspec.Struct, frozen=True):
    """Fronts of a group that use more lines of a set at a time than it has ways."""

    lines: dict[Front, Fraction]
    """Lines per iteration that each of them fetches."""
    written: Fraction
    """Lines per iteration that are written back."""


class Sets(msgspec.Struct, frozen=True):
    """The sets of a cache."""

    number: int
    ways: int
    line: int

    @property
    def span(self) -> int:
        """Bytes after which addresses fall into the same set again."""
        return self.number * self.line

    def passed(self, step: int) -> int:
        """Return the number of sets that addresses fall into which move by `step` bytes."""
        return self.span // max(gcd(step, self.span), self.line)


def sets_of(size: int, ways: int | None, line: int) -> Sets | None:
    """Return the sets of a cache; None if its ways are unknown."""
    return Sets(size // (line * ways), ways, line) if ways and size >= line * ways else None


def _in_the_set(front: Front, ahead: Front, other: Front, sets: Sets) -> int:
    """Return the lines of a front that fall into the set of a line between its uses by two fronts of the group.

    The line is used by `ahead` in iteration 0 and by `front` in iteration `front.behind`.
    """
    assert front.behind is not None
    step, last = abs(front.step), round(front.behind)
    spacing, used = max(gcd(step, sets.span), sets.line), sets.passed(step)
    apart = front.end + last * step - other.end
    if not -sets.line < (apart + spacing // 2) % spacing - spacing // 2 < sets.line:
        return 0
    # Iterations in which the other front's line falls into the set: a multiple of `used` from the one in which it does.
    at = round(Fraction(apart, spacing)) * pow(step // spacing, -1, used) % used if used > 1 else 0
    first = 0 if other.instructions > ahead.instructions else 1
    final = last if other.instructions < front.instructions else last - 1
    return (final - at) // used - (first - 1 - at) // used


def _crowd(fronts: Sequence[Front], sets: Sets) -> Crowd | None:
    """Return the group if it uses more lines of a set in an iteration than it has ways.

    Its accesses are followed through the cache: once through all sets to fill it, and once more to count.
    """
    step = abs(fronts[0].step)
    ordered = sorted(fronts, key=lambda front: front.instructions)

    def touched(iteration: int) -> list[tuple[Front, int]]:
        lines = []
        for front in ordered:
            first = front.begin - fronts[0].begin + iteration * step
            last = first + front.end - front.begin - 1
            lines += [(front, number) for number in range(first // sets.line, last // sets.line + 1)]
        return lines

    around = sets.line // gcd(step, sets.line)
    if all(max(_by_set(touched(n), sets).values()) <= sets.ways for n in range(around)):
        return None
    iterations = sets.span // gcd(step, sets.span)
    held: dict[int, dict[int, bool]] = {}
    written = 0
    misses: dict[Front, int] = dict.fromkeys(fronts, 0)
    for iteration in range(2 * iterations):
        for front, number in touched(iteration):
            lines = held.setdefault(number % sets.number, {})
            misses[front] += number not in lines and iteration >= iterations
            # The dictionary has the most recently used line last; its values are True for modified lines.
            lines[number] = lines.pop(number, False) or bool(front.stores)
            if len(lines) > sets.ways:
                written += lines.pop(next(iter(lines))) and iteration >= iterations
    return Crowd({front: Fraction(count, iterations) for front, count in misses.items()}, Fraction(written, iterations))


def _by_set(touched: Iterable[tuple[Front, int]], sets: Sets) -> Counter[int]:
    """Return the number of different lines in each set."""
    return Counter(number % sets.number for number in {number for _, number in touched})


class MovedLines(msgspec.Struct, frozen=True):
    """Lines per iteration between two levels."""

    read: Fraction
    """Fetched for loads."""
    allocate: Fraction
    """Fetched because a store misses (write-allocate)."""
    written: Fraction
    """Modified, and written back."""
    direct: Fraction
    """Written by non-temporal stores without being fetched."""

    @property
    def total(self) -> Fraction:
        """All lines, in both directions."""
        return self.read + self.allocate + self.written + self.direct


def traffic(
    streams: Sequence[Stream], line: int, non_temporal: Collection[int] = (), unknown: Iterable[int] = ()
) -> Traffic:
    """Return the lines that a loop moves.

    Args:
        streams: All its accesses with known address patterns (`core.streams`).
        line: Bytes of a cache line.
        non_temporal: Instructions whose stores bypass the caches.
        unknown: Instructions with other accesses: gathers, and those of unknown size.
    """
    groups: dict[tuple[int, int], list[Stream]] = {}
    fixed: set[tuple[int, int]] = set()
    unclear = set(unknown)
    for stream in streams:
        if stream.step is None:
            unclear.add(stream.instruction)
        elif stream.step:
            groups.setdefault((stream.part, stream.step), []).append(stream)
        else:
            fixed.add((stream.part, stream.offset // line))
    fronts = [
        front
        for (part, step), members in groups.items()
        for spans in _by_residue(_spans(members, step), abs(step), line)
        for front in _fronts(part, step, spans, line, non_temporal)
    ]
    object_of = {stream.part: stream.object for stream in streams}
    seen: dict[tuple[int, int], int] = {}
    for number, front in enumerate(fronts):
        first = seen.setdefault((object_of[front.part], front.step), front.part)
        if first != front.part and front.behind is None:
            fronts[number] = replace(front, neighbour=True)
    fronts = _with_reuse(fronts, len(fixed), line)
    return Traffic(fronts=tuple(fronts), line=line, fixed=len(fixed), unknown=tuple(sorted(unclear)))


def _with_reuse(fronts: Sequence[Front], fixed: int, line: int) -> list[Front]:
    """Return fronts with the bytes that the loop touches until they use lines again.

    In a number of iterations, a front touches as many new lines as it moves through, and one that uses lines again
    adds those that the front ahead left at the beginning.
    """
    new = sum((front.lines for front in fronts if front.behind is None), Fraction(0))
    behind = sorted((front.behind, front.lines) for front in fronts if front.behind is not None)
    # Of fronts less far behind, all lines count.
    within = Fraction(fixed)
    beyond = new + sum((lines for _, lines in behind), Fraction(0))
    touched: dict[Fraction, Fraction] = {}
    for distance, lines in behind:
        touched.setdefault(distance, within + beyond * distance)
        within += lines * distance
        beyond -= lines
    return [front if front.behind is None else replace(front, reuse=touched[front.behind] * line) for front in fronts]


def _spans(members: Iterable[Stream], step: int) -> list[AccessSpan]:
    spans = []
    for stream in members:
        begin, end = stream.offset, stream.offset + max(stream.size, 1)
        spans.append(
            AccessSpan(-end, -begin, step, stream.instruction, stream.store)
            if step < 0
            else AccessSpan(begin, end, step, stream.instruction, stream.store)
        )
    return spans


def _by_residue(spans: list[AccessSpan], step: int, line: int) -> list[list[AccessSpan]]:
    """Split the accesses of a group into those that can touch the same lines in some iteration."""
    if step <= line:
        return [spans]
    ordered = sorted(spans, key=lambda span: span.begin % step)
    parts = [[ordered[0]]]
    reach = ordered[0].begin % step + ordered[0].end - ordered[0].begin
    for span in ordered[1:]:
        start = span.begin % step
        if start - reach < line:
            parts[-1].append(span)
        else:
            parts.append([span])
        reach = max(reach, start + span.end - span.begin)
    # The last part goes on in the next period.
    if len(parts) > 1 and parts[0][0].begin % step + step - reach < line:
        parts[0] += parts.pop()
    return parts


def _fronts(part: int, step: int, spans: list[AccessSpan], line: int, non_temporal: Collection[int]) -> Iterable[Front]:
    """Yield the fronts of accesses that touch the same lines, the one that is furthest ahead first."""
    unit = _unit(spans, abs(step), line)
    ordered = sorted(
        [replace(span, unit=unit) for span in spans], key=lambda span: (-span.end, span.store, span.instruction)
    )
    grouped: list[list[AccessSpan]] = []
    reach = 0
    for span in ordered:
        if grouped and reach - span.end <= line:
            grouped[-1].append(span)
            reach = min(reach, span.begin)
        else:
            grouped.append([span])
            reach = span.begin
    step_bytes, ahead = abs(step), Fraction(0)
    for number, (members, touched) in enumerate(zip(grouped, _touched(grouped, line), strict=True)):
        lines = _lines(tuple(members), line)
        # With long steps, accesses further behind may touch some lines that none ahead has touched.
        new, ahead = touched - ahead, touched
        direct = all(span.store and span.instruction in non_temporal for span in members)
        behind = Fraction(grouped[number - 1][0].end - members[0].end, step_bytes) if number else None
        for count, distance in ((new, None), (lines - new, behind)):
            if count:
                yield Front(
                    part=part,
                    step=step,
                    instructions=tuple(sorted({span.instruction for span in members})),
                    lines=count,
                    stores=() if direct else tuple(span for span in members if span.store),
                    first=not number,
                    stores_first=members[0].store,
                    non_temporal=direct,
                    behind=distance,
                    begin=min(span.begin for span in members),
                    end=members[0].end,
                )


@lru_cache(maxsize=256)
def _lines(spans: tuple[AccessSpan, ...], line: int) -> Fraction:
    """Return the number of different lines per iteration that accesses of the same step touch."""
    return _touched([spans], line)[0] if spans else Fraction(0)


def _unit(spans: Sequence[AccessSpan], step: int, line: int) -> int:
    first = spans[0].begin
    return gcd(line, step, *[value for span in spans for value in (span.begin - first, span.end - span.begin)])


def _touched(groups: Sequence[Sequence[AccessSpan]], line: int) -> list[Fraction]:
    """Return the number of different lines per iteration that accesses of the same step touch.

    There is a number for each group of accesses, for those of it and of all groups before.
    """
    step, unit = abs(groups[0][0].step), groups[0][0].unit
    if step <= line:
        return [Fraction(step, line)] * len(groups)
    spans = [span for group in groups for span in group]
    first = spans[0].begin
    iterations = lcm(step, line) // step
    places = range(0, gcd(step, line), unit)
    if iterations * len(places) * len(spans) > _MOST_POSITIONS:
        lines = [
            sum((1 + Fraction(span.end - span.begin - unit, line) for span in group), Fraction(0)) for group in groups
        ]
        return list(accumulate(lines))
    period = iterations * step // line
    touched: list[set[int]] = [set() for _ in places]
    result = []
    for group in groups:
        for place, seen in zip(places, touched, strict=True):
            for iteration in range(iterations):
                for span in group:
                    begin = place + iteration * step + span.begin - first
                    end = begin + span.end - span.begin
                    seen.update(number % period for number in range(begin // line, (end - 1) // line + 1))
        result.append(Fraction(sum(map(len, touched)), iterations * len(places)))
    return result
