"""Matching: the pairs of kernels of two builds that are the same loop.

Each stage takes the pairs for which there is enough evidence, and leaves the others to the next one:

1. equal code: of the same function, of functions whose names the other build lacks, or so much code
   that it cannot be chance;
2. main loops of the same function, or of one that was inlined into it;
3. similar loops among all kernels, with a few candidates for each kernel from indexes;
4. remainders, prologues and fallbacks of matched main loops;
5. equal code among the rest;
6. loops that do a part of the work of a matched loop, which was split.

Each stage chooses the pairs whose weights (`match_score.py`) add up to the most. The sides are sorted first, so that
neither the order of kernels nor the order of sides influences the result.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Container, Iterable, Sequence
from typing import Literal

import msgspec
from msgspec.structs import replace

from incc.comparison.match_assign import assign
from incc.comparison.match_features import Features, features, mark_leftovers, mix_likeness, tail, together
from incc.comparison.match_score import Sides, Weights, attendant_score, probability, same_sources, score, shifts
from incc.comparison.side import SideKernel

Keys = Callable[[Features], Iterable[object]]
Group = tuple[list[int], list[int]]
ByLine = dict[int, Features]

By = Literal["content", "identity", "function", "similarity"]

MANY = 1500
"""The most pairs of a group that are all scored; in a larger group, only pairs that agree in something else as well."""

CANDIDATES = 8
"""The number of candidates of a kernel in the sparse stage."""

ENOUGH_CODE = 8
"""The number of instructions that are rarely equal by chance, if each side has them once."""

ALMOST = 0.99
"""The highest confidence for code that is not equal."""

SURE = 0.8
"""The least probability of a pair within a function before other functions are considered."""

POSSIBLE = 0.5
"""The least probability of a pair within a function."""

LIKELY = 0.6
"""The least probability of a pair among all kernels: no match is better than a wrong one."""

SPLIT_GAIN = 0.1
"""The least gain in likeness by a further loop that makes it a part of a kernel's work."""

SPLIT_LIKE = 0.7
"""The least likeness together with the further loop."""


class Match(msgspec.Struct, frozen=True, kw_only=True):
    """Two kernels that are the same loop of the source."""

    a: int
    """The index of the first kernel among its side's entries."""
    b: int
    """The index of the second kernel among its side's entries."""
    by: By
    """The kind of evidence."""
    confidence: float
    """The probability that the match is right, 0 to 1."""
    parts_a: tuple[int, ...] = ()
    """Further loops of the first side that do a part of the work of `b`."""
    parts_b: tuple[int, ...] = ()
    """Further loops of the second side that do a part of the work of `a`."""


class Matching(msgspec.Struct, frozen=True):
    """The result of matching two sides."""

    matches: tuple[Match, ...]
    """The pairs, in the order of b."""
    only_a: tuple[int, ...]
    """Entries of the first side that are in no pair, nor a part of one."""
    only_b: tuple[int, ...]
    """Entries of the second side that are in no pair, nor a part of one."""


def match(a: Sequence[SideKernel], b: Sequence[SideKernel], *, same_text: bool = False) -> Matching:
    """Return the matching of the kernels of two builds, which are of one text if `same_text` is set.

    `match(b, a)` finds the same pairs. If a side has been analysed for several cores, kernels are matched within each
    core that both sides have, if there is one.
    """
    cores_a, cores_b = _of_cores(a), _of_cores(b)
    both = [core for core in cores_a if core in cores_b]
    if not both or len(cores_a) == len(cores_b) == 1:
        return _match(a, b, same_text)
    matches: list[Match] = []
    for core in both:
        of_a, of_b = cores_a[core], cores_b[core]
        for m in _match([a[n] for n in of_a], [b[n] for n in of_b], same_text).matches:
            parts_a, parts_b = tuple([of_a[n] for n in m.parts_a]), tuple([of_b[n] for n in m.parts_b])
            matches.append(replace(m, a=of_a[m.a], b=of_b[m.b], parts_a=parts_a, parts_b=parts_b))
    return _with_the_rest(matches, len(a), len(b))


def _of_cores(entries: Sequence[SideKernel]) -> dict[str, list[int]]:
    cores: dict[str, list[int]] = {}
    for n, entry in enumerate(entries):
        cores.setdefault(entry.unit.model.name, []).append(n)
    return cores


def _match(a: Sequence[SideKernel], b: Sequence[SideKernel], same_text: bool) -> Matching:
    features_a, features_b = features(a), features(b)
    swapped = [f.key for f in features_b] < [f.key for f in features_a]
    if swapped:
        features_a, features_b = features_b, features_a
    matcher = _Matcher(features_a, features_b, same_text)
    matcher.run()
    matches: list[Match] = []
    for row, column in matcher.partner.items():
        one, other = matcher.a[row].index, matcher.b[column].index
        parts_one = tuple(sorted(matcher.a[part].index for part in matcher.parts_a.get(row, ())))
        parts_other = tuple(sorted(matcher.b[part].index for part in matcher.parts_b.get(column, ())))
        by, sure = matcher.how[row]
        if swapped:
            one, other, parts_one, parts_other = other, one, parts_other, parts_one
        matches.append(Match(a=one, b=other, by=by, confidence=sure, parts_a=parts_one, parts_b=parts_other))
    counts = len(matcher.a), len(matcher.b)
    return _with_the_rest(matches, *(reversed(counts) if swapped else counts))


def _with_the_rest(matches: list[Match], count_a: int, count_b: int) -> Matching:
    used_a = {index for m in matches for index in (m.a, *m.parts_a)}
    used_b = {index for m in matches for index in (m.b, *m.parts_b)}
    return Matching(
        tuple(sorted(matches, key=lambda m: m.b)),
        tuple(index for index in range(count_a) if index not in used_a),
        tuple(index for index in range(count_b) if index not in used_b),
    )


class _Matcher:
    """The state of matching: rows are indices into `a`, columns indices into `b`."""

    def __init__(self, a: Sequence[Features], b: Sequence[Features], same_text: bool) -> None:
        self.a = a
        self.b = b
        self.same_text = same_text
        self.partner: dict[int, int] = {}
        self.back: dict[int, int] = {}
        self.how: dict[int, tuple[By, float]] = {}
        self.parts_a: dict[int, list[int]] = {}
        self.parts_b: dict[int, list[int]] = {}

    def run(self) -> None:
        self.sides = Sides(
            functions_a=frozenset(f.function for f in self.a),
            functions_b=frozenset(f.function for f in self.b),
            aliases=frozenset(),
            same_sources=frozenset(tail(f.file) for f in self.a) if self.same_text else same_sources(self.a, self.b),
            shifts={},
            origins=frozenset(f.origin for f in self.a if f.origin) & frozenset(f.origin for f in self.b),
            moves={},
            rarity=_rarity(self.a, self.b),
            beside={},
            pool={},
        )
        self._same_kernels()
        mark_leftovers([self.a[row] for row in self._open_rows()])
        mark_leftovers([self.b[column] for column in self._open_columns()])
        self._measure_moves()
        self._equal_code()
        self._learn_aliases()
        # Less likely pairs wait until all functions have been considered: a loop may have moved, and another one may
        # have taken its place.
        self._same_function(least=SURE)
        self._sparse()
        self._learn_aliases()
        self._same_function(least=POSSIBLE)
        self._attendants()
        self._left_over()
        self._find_parts(self.a, self.b, self.partner, self.parts_b)
        self._find_parts(self.b, self.a, self.back, self.parts_a)

    # --- stages ---

    def _same_kernels(self) -> None:
        """Pair the same code under the same name in the same file, which most kernels of two builds are."""
        places: dict[tuple[object, ...], list[int]] = {}
        for column, each in enumerate(self.b):
            places.setdefault(_name(each), []).append(column)
        counted = Counter(_name(each) for each in self.a)
        for row, each in enumerate(self.a):
            columns = places.get(_name(each), [])
            # Several kernels of the same name differ only in their order.
            if columns and (len(columns) == counted[_name(each)] or (len(columns) == 1 and counted[_name(each)] == 1)):
                done = [column for column in columns if column not in self.back]
                self._pair(row, done[0], "content", 1.0)

    def _equal_code(self) -> None:
        def fits(a: Features, b: Features) -> bool:
            if not (a.main and b.main) or a.content != b.content or a.leftover != b.leftover:
                return False
            if _one_function(a, b) or a.function not in functions_b or b.function not in functions_a:
                return True
            return a.instructions >= ENOUGH_CODE and often_a[a.content] == often_b[b.content] == 1

        functions_a, functions_b = self.sides.functions_a, self.sides.functions_b
        often_a, often_b = Counter(f.content for f in self.a), Counter(f.content for f in self.b)
        self._solve(self._pairs(lambda f: [f.content] if f.main else [], fits), least=POSSIBLE)

    def _same_function(self, least: float = 0.0) -> None:
        aliases = dict(self.sides.aliases)

        def names_a(f: Features) -> list[str]:
            return _function_names(f, aliases.get(f.function, ""))

        pairs = self._pairs(names_a, lambda a, b: a.main and b.main, lambda f: _function_names(f, ""))
        self._measure_shifts(pairs)
        self._solve(pairs, least=least)

    def _sparse(self) -> None:
        self._count_pool()
        self._look_beside()
        pairs = set(self._nearest())
        # In a file with few kernels left, all pairs are candidates.
        for rows, columns in self._groups(self._open_rows(), self._open_columns(), _by_unit, _by_unit):
            if len(rows) * len(columns) <= MANY:
                pairs.update((r, c) for r in rows for c in columns if self.a[r].main and self.b[c].main)
        self._solve(sorted(pairs), sparse=True)

    def _attendants(self) -> None:
        of_a, of_b = _by_main(self.a), _by_main(self.b)
        mains = [(row, column) for row, column in self.partner.items() if self.a[row].main]
        weights: dict[tuple[int, int], int] = {}
        for row, column in mains:
            ones = of_a.get((self.a[row].unit, self.a[row].entry.kernel.kernel_id), ())
            others = of_b.get((self.b[column].unit, self.b[column].entry.kernel.kernel_id), ())
            if len(ones) * len(others) > MANY:
                continue
            for one in ones:
                for other in others:
                    if one not in self.partner and other not in self.back:
                        weights[one, other] = attendant_score(self.a[one], self.b[other])
        sure = {(self.a[row].unit, self.a[row].entry.kernel.kernel_id): self.how[row][1] for row, _ in mains}
        self._take(weights, lambda row: sure.get((self.a[row].unit, self.a[row].of), 1.0))

    def _left_over(self) -> None:
        """Match equal code of the same function or of any, and loops whose main loop is missing."""

        def free(f: Features, mains: set[tuple[str, str]]) -> bool:
            return not f.main and (f.unit, f.of) not in mains

        mains_a = {(self.a[r].unit, self.a[r].entry.kernel.kernel_id) for r in self.partner if self.a[r].main}
        mains_b = {(self.b[c].unit, self.b[c].entry.kernel.kernel_id) for c in self.back if self.b[c].main}

        def fits(a: Features, b: Features) -> bool:
            if a.content != b.content:
                return False
            if a.main and b.main:
                return True
            return _one_function(a, b) and (a.main or free(a, mains_a)) and (b.main or free(b, mains_b))

        self._count_pool()
        self._solve(self._pairs(lambda f: [f.content], fits), sparse=True)

        def orphans(a: Features, b: Features) -> bool:
            return free(a, mains_a) and free(b, mains_b) and a.role == b.role

        self._solve(self._pairs(lambda f: [] if f.main else _function_names(f, ""), orphans))

    def _find_parts(
        self, whole: Sequence[Features], split: Sequence[Features], partner: dict[int, int], parts: dict[int, list[int]]
    ) -> None:
        """Find unmatched loops of the same function that, with a matched one, do what its partner does."""
        matched = set(partner.values()) | {part for members in parts.values() for part in members}
        loose: dict[tuple[str, str], list[int]] = {}
        for number, each in enumerate(split):
            if each.main and number not in matched and each.elements:
                loose.setdefault((each.unit, each.function), []).append(number)
        wishes: list[tuple[int, int, int]] = []
        for one, other in partner.items():
            a, b = whole[one], split[other]
            near = loose.get((b.unit, b.function), [])
            if not near or not a.main or a.content == b.content or not a.elements or not b.elements:
                continue
            alone = mix_likeness(a.mix, b.mix, a.elements, b.elements)
            for number in near:
                part = split[number]
                mix, elements = together([(b.mix, b.elements), (part.mix, part.elements)])
                joined = mix_likeness(a.mix, mix, a.elements, elements)
                if joined >= SPLIT_LIKE and joined - alone >= SPLIT_GAIN:
                    wishes.append((round(1000 * (joined - alone)), other, number))
        taken: set[int] = set()
        for _, other, number in sorted(wishes, key=lambda w: (-w[0], w[1], w[2])):
            if number not in taken:
                taken.add(number)
                parts.setdefault(other, []).append(number)

    # --- candidates ---

    def _pairs(
        self, names: Keys, fits: Callable[[Features, Features], bool], names_b: Keys | None = None
    ) -> list[tuple[int, int]]:
        """Return pairs of kernels without a partner that share a name and fit, in order.

        In large groups, only pairs that are also in the same file, similar, or at the same place.
        """
        pairs: set[tuple[int, int]] = set()
        groups = self._groups(self._open_rows(), self._open_columns(), names, names_b or names)
        for finer in (*_FINER, None):
            if not groups:
                break
            large: list[Group] = []
            for rows, columns in groups:
                if len(rows) * len(columns) > MANY:
                    large.append((rows, columns))
                    continue
                pairs.update((r, c) for r in rows for c in columns if fits(self.a[r], self.b[c]))
            groups = []
            for rows, columns in large:
                if finer is None:
                    # Nothing distinguishes these kernels, so they are paired in order.
                    pairs.update((r, c) for r, c in zip(rows, columns, strict=False) if fits(self.a[r], self.b[c]))
                else:
                    groups += self._groups(rows, columns, finer, finer)
        return sorted(pairs)

    def _open_rows(self) -> list[int]:
        return [row for row in range(len(self.a)) if row not in self.partner]

    def _open_columns(self) -> list[int]:
        return [column for column in range(len(self.b)) if column not in self.back]

    def _groups(self, rows: Iterable[int], columns: Iterable[int], keys_a: Keys, keys_b: Keys) -> list[Group]:
        """Return the rows and columns that share a key."""
        of_rows, of_columns = _by_key(self.a, rows, keys_a), _by_key(self.b, columns, keys_b)
        return [(some, of_columns[key]) for key, some in of_rows.items() if key in of_columns]

    def _nearest(self) -> Iterable[tuple[int, int]]:
        """Yield, for each kernel of either side, the few of the other side with which it has most in common."""
        rows = [row for row in self._open_rows() if self.a[row].main]
        columns = [column for column in self._open_columns() if self.b[column].main]
        index_a, index_b = _by_key(self.a, rows, _signs), _by_key(self.b, columns, _signs)
        for row in rows:
            yield from ((row, column) for column in _candidates(self.a[row], index_b))
        for column in columns:
            yield from ((row, column) for row in _candidates(self.b[column], index_a))

    # --- choosing ---

    def _solve(self, pairs: Iterable[tuple[int, int]], sparse: bool = False, least: float = 0.0) -> None:
        sides = self.sides
        weights = {(r, c): score(self.a[r], self.b[c], sides, sparse) for r, c in pairs}
        self._take(weights, least=LIKELY if sparse else least)

    def _take(
        self, weights: dict[tuple[int, int], int], sure: Callable[[int], float] = lambda _: 1.0, least: float = 0.0
    ) -> None:
        chosen = assign(weights)
        weighted = Weights(weights)
        forth = dict(chosen)
        back = {column: row for row, column in chosen}
        for row, column in chosen:
            likely = probability((row, column), forth, back, weighted, self._alike) * sure(row)
            if likely >= least:
                by = evidence_kind(self.a[row], self.b[column])
                # Different code is never certain to be the same loop.
                most = 1.0 if by == "content" else ALMOST
                self._pair(row, column, by, min(most, math.floor(100 * likely + 0.5) / 100))

    def _alike(self, side: int, one: int, other: int) -> bool:
        loops = self.b if side else self.a
        return interchangeable(loops[one], loops[other])

    def _count_pool(self) -> None:
        counts = []
        for loops, done in ((self.a, self.partner), (self.b, self.back)):
            counts.append(Counter(tail(f.unit) for number, f in enumerate(loops) if f.main and number not in done))
        pool = {file: max(counts[0][file], counts[1][file]) for file in sorted(counts[0].keys() | counts[1].keys())}
        pool[""] = max(sum(count.values()) for count in counts)
        self.sides = replace(self.sides, pool=pool)

    def _look_beside(self) -> None:
        """Find functions at corresponding places: equally far before or after the nearest matched function."""
        same = {(self.a[row].function, self.b[column].function) for row, column in self.partner.items()}
        forth = dict(sorted(same))
        known_b = {other for _, other in same}
        at_b: dict[tuple[str, int, str], set[str]] = {}
        for order in _orders(self.b):
            for function, nearest, steps in _from_known(order, known_b):
                at_b.setdefault((nearest, steps, order[0]), set()).add(function)
        counts: Counter[tuple[str, str]] = Counter()
        for order in _orders(self.a):
            for function, nearest, steps in _from_known(order, forth):
                for other in at_b.get((forth[nearest], steps, order[0]), ()):
                    counts[function, other] += 1
        self.sides = replace(self.sides, beside=dict(counts))

    def _pair(self, row: int, column: int, by: By, confidence: float) -> None:
        self.partner[row] = column
        self.back[column] = row
        self.how[row] = by, confidence

    def _learn_aliases(self) -> None:
        """Learn functions that have two names: most kernels of one were matched to those of the other, both ways."""
        met: Counter[tuple[str, str]] = Counter()
        for row, column in self.partner.items():
            one, other = self.a[row], self.b[column]
            if one.function and other.function:
                met[one.function, other.function] += 1
        best_a: dict[str, tuple[int, str]] = {}
        best_b: dict[str, tuple[int, str]] = {}
        for (name, other_name), count in sorted(met.items()):
            best_a[name] = max(best_a.get(name, (0, "")), (count, other_name))
            best_b[other_name] = max(best_b.get(other_name, (0, "")), (count, name))
        functions_a, functions_b = self.sides.functions_a, self.sides.functions_b
        aliases = frozenset(
            (name, other_name)
            for name, other_name in met
            if name != other_name
            and (name not in functions_b or other_name not in functions_a)
            and best_a[name][1] == other_name
            and best_b[other_name][1] == name
        )
        self.sides = replace(self.sides, aliases=self.sides.aliases | aliases)

    def _measure_moves(self) -> None:
        """Measure by how many lines the text of functions moved, wherever it was inlined."""

        def text(f: Features) -> tuple[str, str]:
            return tail(f.file), f.origin

        def by_line(loops: Sequence[Features], wanted: Container[tuple[str, str]]) -> dict[tuple[str, str], ByLine]:
            """Return the loops of each text by line; one of several copies per line is enough."""
            texts: dict[tuple[str, str], ByLine] = {}
            for each in loops:
                if each.main and each.line and each.origin and text(each) in wanted:
                    texts.setdefault(text(each), {}).setdefault(each.line, each)
            return texts

        # Only texts with unmatched kernels are needed.
        wanted = {text(self.a[row]) for row in self._open_rows() if self._may_have_moved(self.a[row])}
        wanted &= {text(self.b[c]) for c in self._open_columns()}
        texts_b = by_line(self.b, wanted)
        texts_a = by_line(self.a, texts_b)
        pairs = [
            (a, b)
            for name, of_line in texts_a.items()
            # A single loop would only confirm its own place; a large number of loops would pair every line with every
            # other.
            if len(of_line) > 1 and len(texts_b[name]) > 1 and len(of_line) * len(texts_b[name]) <= MANY
            for a in of_line.values()
            for b in texts_b[name].values()
        ]
        self.sides = replace(self.sides, moves=shifts(pairs, lambda a, _: text(a)))

    def _may_have_moved(self, f: Features) -> bool:
        return tail(f.file) not in self.sides.same_sources

    def _measure_shifts(self, pairs: Iterable[tuple[int, int]]) -> None:
        there = [(self.a[r], self.b[c]) for r, c in self.partner.items() if self.a[r].main]
        open_ = [(self.a[r], self.b[c]) for r, c in pairs]
        moved = [(a, b) for a, b in (*there, *open_) if a.line and b.line and self._may_have_moved(a)]
        self.sides = replace(self.sides, shifts=shifts(moved))


def _by_key(loops: Sequence[Features], numbers: Iterable[int], keys: Keys) -> dict[object, list[int]]:
    """Return numbers of loops by each of their keys."""
    by_key: dict[object, list[int]] = {}
    for number in numbers:
        for key in keys(loops[number]):
            by_key.setdefault(key, []).append(number)
    return by_key


def _candidates(each: Features, index: dict[object, list[int]]) -> list[int]:
    """Return the numbers of the loops in an index that have most signs in common with a kernel."""
    votes: dict[int, float] = {}
    for key in _signs(each):
        numbers = index.get(key, ())
        # A sign that many kernels share is no evidence.
        if 0 < len(numbers) <= COMMON:
            worth = 1.0 + 1.0 / len(numbers)
            for number in numbers:
                votes[number] = votes.get(number, 0.0) + worth
    return sorted(votes, key=lambda number: (-votes[number], number))[:CANDIDATES]


COMMON = 60
"""The most kernels with the same sign for which it is evidence."""


def _orders(loops: Sequence[Features]) -> list[list[str]]:
    """Return the functions of each unit in the order of the text, after the file's name."""
    units: dict[str, list[tuple[int, str]]] = {}
    for each in loops:
        units.setdefault(each.unit, []).append((each.entry.kernel.first_line, each.function))
    return [
        [tail(unit), *dict.fromkeys(name for _, name in sorted(functions) if name)] for unit, functions in units.items()
    ]


def _from_known(order: Sequence[str], matched: Container[str]) -> Iterable[tuple[str, str, int]]:
    """Yield (unmatched function, matched function, distance) for the nearest matched function on either side.

    The distance counts functions in the order of the text, and is negative if the matched function comes later.
    """
    functions = order[1:]
    for sign in (1, -1):
        last, steps = "", 0
        for function in functions[::sign]:
            if function in matched:
                last, steps = function, 0
            elif last:
                steps += 1
                yield function, last, sign * steps


def _signs(f: Features) -> Iterable[object]:
    """Yield the signs that two kernels of functions with different names may have in common."""
    file = tail(f.file) or tail(f.unit)
    yield "content", f.content
    for word in f.words:
        if len(word) > 2:
            yield "word", word
    if f.line:
        yield "line", file, f.line
    mix = f.mix
    if mix.signature:
        kernel = f.entry.kernel
        yield "mix", mix.signature
        yield "mix in file", mix.signature, file
        yield "fine", tuple(sorted((name, round(5 * share)) for name, share in mix.fine.items() if share >= 0.1))
        yield (
            "amount",
            mix.signature,
            bool(kernel.memory.bytes_stored),
            f.elements and round(4 * math.log2(max(mix.weight / f.elements, 0.01))),
        )


def _name(f: Features) -> tuple[object, ...]:
    return f.content, f.function, f.entry.kernel.kernel_id, tail(f.unit)


def _one_function(a: Features, b: Features) -> bool:
    return bool(a.function and a.function == b.function) or bool(a.names & b.names)


def _function_names(f: Features, alias: str) -> list[str]:
    """Return the names by which a kernel of the same function is looked up.

    Symbols are kept apart from names in the source.
    """
    names = {f"name {name}" for name in f.names}
    if f.function:
        names.add(f"symbol {f.function}")
    if alias:
        names.add(f"symbol {alias}")
    return sorted(names)


def interchangeable(one: Features, other: Features) -> bool:
    """Return True if it does not matter which of two kernels of a build is matched."""
    if one.line > 0 and one.origin and one.origin == other.origin:
        # These are copies of one loop, inlined in several places.
        return (one.file, one.line) == (other.file, other.line)
    if (one.unit, one.function) != (other.unit, other.function):
        return False
    return one.content == other.content or (one.line > 0 and (one.file, one.line) == (other.file, other.line))


def evidence_kind(a: Features, b: Features) -> By:
    """Return the kind of evidence for a pair."""
    if a.content == b.content:
        return "content"
    if a.function == b.function and (a.part == b.part or (a.line and (a.file, a.line) == (b.file, b.line))):
        return "identity"
    return "function" if _one_function(a, b) else "similarity"


def _by_unit(f: Features) -> list[object]:
    return [tail(f.unit)]


_FINER: tuple[Keys, ...] = (
    _by_unit,
    lambda f: [(tail(f.unit), tail(f.file), f.line)],
    lambda f: [(tail(f.unit), f.mix.signature)],
    lambda f: [(tail(f.unit), f.function, f.part)],
)
"""Keys that divide a group with too many pairs: the file, and in it the line, the work or the part of a function."""


def _by_main(loops: Sequence[Features]) -> dict[object, list[int]]:
    """Return the remainders, prologues and fallbacks by their main loop."""
    return _by_key(loops, (n for n, each in enumerate(loops) if not each.main), lambda f: [(f.unit, f.of)])


def _rarity(a: Sequence[Features], b: Sequence[Features]) -> Callable[[Features], float]:
    """Return a function for the evidence of a shared signature: the logarithm of how rare it is."""
    counts: Counter[tuple[str, ...]] | None = None

    def rarity(f: Features) -> float:
        nonlocal counts
        if counts is None:
            counts = Counter(each.mix.signature for side in (a, b) for each in side)
        return min(3.0, math.log((len(a) + len(b)) / counts[f.mix.signature])) if f.mix.signature else 0.0

    return rarity
