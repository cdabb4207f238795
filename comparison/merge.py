"""The loops of several builds: the pairs of every two of them, merged into groups of at most one kernel of each.

Every two builds are matched on their own (`match.py`), so that a further one never makes a pair worse. The pairs then
join kernels to groups, the surest first. Two groups join if the pairs between their members have more evidence that
they are the same loop than pairs of these members with others have that they are not. In the end, copies of a loop
join those groups that lack one from their build.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from functools import cached_property
from itertools import combinations

import msgspec
from msgspec.structs import replace

from incc.comparison.match import ALMOST, Match, Matching, evidence_kind, interchangeable, match
from incc.comparison.match_features import Features
from incc.comparison.side import SideKernel
from incc.support.progress import counted
from incc.support.workers import in_order

Place = tuple[int, int]
"""A build, and the index of a kernel among its entries."""

LOWEST, HIGHEST = 0.55, 0.995
"""Limits of a pair's confidence as evidence: a pair is better than none, and even equal code may be another loop's."""

ALONE = 0.1
"""The evidence that two kernels are different loops if neither has a partner in the other's build."""


class LoopGroup(msgspec.Struct, frozen=True):
    """Kernels that are one loop."""

    kernels: dict[int, int]
    """The index of the kernel of each build that has one, in the order of builds."""
    matches: dict[int, Match]
    """The match of each further build's kernel with that of the first."""


def groups(builds: Sequence[Sequence[SideKernel]], of_text: Collection[int] = (), jobs: int = 1) -> list[LoopGroup]:
    """Return the loops of all builds, in the order in which their kernels first appear.

    Args:
        builds: The kernels of each build.
        of_text: The numbers of builds that are of one text, such as a file compiled by several compilers.
        jobs: The number of processes.
    """
    pairs = _Pairs(builds, of_text, jobs)
    members: dict[Place, dict[int, int]] = {place: dict([place]) for place in pairs.places}

    def join(one: Place, other: Place) -> bool:
        a, b = members[one], members[other]
        if not a.keys().isdisjoint(b) or math.fsum(pairs.evidence(x, y) for x in a.items() for y in b.items()) <= 0:
            return False
        a |= b
        members.update((place, a) for place in b.items())
        return True

    surest = sorted(pairs.matches, key=lambda pair: (-pairs.matches[pair].confidence, pair))
    for one, other in surest:
        join(one, other)
    for one, other in surest:
        if members[one] is not members[other]:
            any(join(one, copy) for copy in pairs.copies(other))
            any(join(copy, other) for copy in pairs.copies(one))
    different = {id(group): group for group in members.values()}
    return [_group(dict(sorted(group.items())), pairs) for group in different.values()]


class _Pairs:
    """The pairs of kernels of every two builds."""

    def __init__(self, builds: Sequence[Sequence[SideKernel]], of_text: Collection[int], jobs: int) -> None:
        self.places = [(build, n) for build, entries in enumerate(builds) for n in range(len(entries))]
        self.features = {place: Features(place[1], builds[place[0]][place[1]]) for place in self.places}
        self.matches: dict[tuple[Place, Place], Match] = {}
        self.partners: dict[tuple[Place, int], tuple[Place, float]] = {}
        """The partner of a kernel in another build, and the confidence of the pair."""
        for (a, b), matching in _matchings(builds, of_text, jobs):
            for each in matching.matches:
                one, other = (a, each.a), (b, each.b)
                self.matches[one, other] = each
                self.partners[one, b] = other, each.confidence
                self.partners[other, a] = one, each.confidence

    def evidence(self, one: Place, other: Place) -> float:
        """Return the evidence that two kernels are the same loop, as the logarithm of odds."""
        ties = list(self._ties(one, other))
        return math.fsum(ties) / 2 if ties else -ALONE

    def _ties(self, one: Place, other: Place) -> Iterable[float]:
        """Yield the evidence of the partner that each of two kernels has in the other's build."""
        for place, wanted in ((one, other), (other, one)):
            partner, confidence = self.partners.get((place, wanted[0]), (None, 0.0))
            if partner is not None:
                confidence = max(LOWEST, min(confidence, HIGHEST))
                odds = confidence / (1 - confidence)
                yield math.log(odds) if partner == wanted or self._are_copies(partner, wanted) else -math.log(odds)

    def confidence(self, one: Place, other: Place) -> float:
        """Return the confidence that two kernels, or copies of them, are a pair; 0 if there is none."""
        sure = 0.0
        for place, wanted in ((one, other), (other, one)):
            partner, confidence = self.partners.get((place, wanted[0]), (None, 0.0))
            if partner == wanted:
                return confidence
            if partner is not None and self._are_copies(partner, wanted):
                sure = max(sure, min(confidence, ALMOST))
        return sure

    def copies(self, place: Place) -> list[Place]:
        """Return the other kernels of the same build that may be meant as well."""
        own = self.features[place]
        near = dict.fromkeys(other for key in _copy_keys(own) for other in self._by_copy_key[place[0], key])
        return [other for other in near if other != place and self.features[other].main == own.main]

    def _are_copies(self, one: Place, other: Place) -> bool:
        a, b = self.features[one], self.features[other]
        return a.main == b.main and interchangeable(a, b)

    @cached_property
    def _by_copy_key(self) -> dict[object, list[Place]]:
        by_key: dict[object, list[Place]] = {}
        for place in self.places:
            for key in _copy_keys(self.features[place]):
                by_key.setdefault((place[0], key), []).append(place)
        return by_key


def _matchings(
    builds: Sequence[Sequence[SideKernel]], of_text: Collection[int], jobs: int
) -> Iterable[tuple[tuple[int, int], Matching]]:
    """Yield the matching of every two builds."""
    pairs = list(combinations(range(len(builds)), 2))

    def matching(pair: tuple[int, int]) -> Matching:
        a, b = pair
        return match(builds[a], builds[b], same_text=a in of_text and b in of_text)

    in_processes = jobs > 1 and len(pairs) > 1
    matchings = in_order(matching, pairs, jobs) if in_processes else map(matching, pairs)
    return zip(pairs, counted(matchings, "matching", len(pairs)), strict=True)


def _copy_keys(f: Features) -> list[object]:
    """Return the keys of a kernel; interchangeable kernels share one."""
    line = (f.file, f.line)
    if f.line > 0 and f.origin:
        return [("origin", f.origin, line)]
    return [(f.unit, f.function, f.content), *([(f.unit, f.function, line)] if f.line > 0 else [])]


def _group(kernels: dict[int, int], pairs: _Pairs) -> LoopGroup:
    """Return a group with the match of each kernel with the first one."""
    first, *others = kernels.items()
    matches = {}
    for other, sure in _along_paths(first, others, pairs).items():
        sure = min(sure, ALMOST)
        direct = pairs.matches.get((first, other))
        if direct is None:
            # Evidence against the pair makes it less sure than the path.
            sure = 1 / (1 + (1 / sure - 1) * math.exp(-min(0.0, pairs.evidence(first, other))))
            by = evidence_kind(pairs.features[first], pairs.features[other])
            direct = Match(a=first[1], b=other[1], by=by, confidence=0.0)
        matches[other[0]] = replace(direct, confidence=max(direct.confidence, round(sure, 2)))
    return LoopGroup(kernels, dict(sorted(matches.items())))


def _along_paths(first: Place, others: Iterable[Place], pairs: _Pairs) -> dict[Place, float]:
    """Return the confidence of each kernel: the product of those of the pairs on the surest path from the first one."""
    sure = dict.fromkeys(others, 0.0)
    done: dict[Place, float] = {}
    here, confidence = first, 1.0
    while sure:
        for other in sure:
            sure[other] = max(sure[other], confidence * pairs.confidence(here, other))
        here = max(sure, key=sure.__getitem__)
        confidence = done[here] = sure.pop(here)
    return done
