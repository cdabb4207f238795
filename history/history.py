"""Kernels over commits and builds: the history of a kernel, and its fastest build.

A series follows one kernel in one build. From one commit to the next, the kernels of a function are distinguished by
their names and their code: equal code first, so that a loop keeps its series if another one is inserted before it. If a
kernel is gone, a kernel with the same code continues its series, unless that was there before: it was renamed or moved.
Otherwise, a new kernel of the same source continues it if a comparison of the two units matches them: it was renamed
and changed.
"""

from __future__ import annotations

import datetime
import json
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any

import msgspec

from incc.history import types as d
from incc.history.store import Database, StoredCommit
from incc.report.documents import InputError

MAIN = ("", "main")
"""Roles of kernels that are shown by default: the others run little."""


class KernelFilter(msgspec.Struct, frozen=True, kw_only=True):
    """A selection of kernels."""

    name: str = ""
    """The kernel_id or function, or a shell pattern of it; "" for all."""
    line: int = 0
    """The source line, at the newest commit that has the kernel; 0 for any."""
    model: str = ""
    """The core; "" for any."""
    roles: tuple[str, ...] = MAIN
    """The roles of loops; empty for all."""


def choice(text: str, model: str = "", everything: bool = False) -> KernelFilter:
    """Return the selection for a user's KERNEL[:LINE]."""
    name, colon, line = text.rpartition(":")
    if colon and line.isascii() and line.isdecimal() and name and not name.endswith(":"):
        return KernelFilter(name=name, line=int(line), model=model, roles=() if everything else MAIN)
    return KernelFilter(name=text, line=0, model=model, roles=() if everything else MAIN)


class _Row(msgspec.Struct, frozen=True, kw_only=True):
    """A kernel of a unit of a commit."""

    commit: int
    unit: int
    place: int
    source: str
    compiler: str
    compiler_version: str
    command: str
    model: str
    model_version: str
    kernel_id: str
    content_hash: str
    function: str
    called: str
    role: str
    line: int | None
    cycles: float
    at_least: int
    elements: float | None
    cycles_per_element: float | None
    limit: str
    vector: str
    work: tuple[float, ...]

    @property
    def build(self) -> tuple[str, str, str]:
        return self.compiler, self.compiler_version, self.command

    @property
    def known_by(self) -> tuple[str, str, str]:
        return self.source, self.kernel_id, self.model


_SELECT = """SELECT u."commit", u.id, l.place, CASE WHEN u.source = '' THEN u.assembly_file ELSE u.source END,
    u.compiler, u.compiler_version, u.command, u.model, u.model_version, k.kernel_id, k.content_hash, k.function,
    k.called, k.role, nullif(k.source_line, 0), k.cycles, k.at_least, k.elements, k.cycles_per_element, k."limit",
    k.vector, k.flop, k.integer_operations, k.bytes_loaded, k.bytes_stored
    FROM kernels k JOIN unit_kernels l ON l.kernel = k.id JOIN units u ON u.id = l.unit"""
_IN_ORDER = 'ORDER BY u."commit", u.source, u.assembly_file, u."key", u.added, u.digest, l.place'


def _rows(database: Database, where: str, values: dict[str, Any]) -> list[_Row]:
    rows = database.rows(f"{_SELECT} WHERE {where} {_IN_ORDER}", values)
    names = _Row.__struct_fields__
    return [_Row(**dict(zip(names, (*row[:-4], row[-4:]), strict=True))) for row in rows]


def _chosen(database: Database, chosen: KernelFilter) -> list[_Row]:
    conditions = []
    if chosen.name:
        named = [f"k.{column} = :name OR k.{column} GLOB :glob" for column in _NAMES]
        conditions.append(f"({' OR '.join(named)})")
    if chosen.model:
        conditions.append("u.model = :model")
    values = {"name": chosen.name, "glob": chosen.name.replace("[!", "[^"), "model": chosen.model}
    rows = _rows(database, " AND ".join(conditions) or "1", values)
    # A remainder that is named by its kernel_id is meant.
    return [r for r in rows if not chosen.roles or r.role in chosen.roles or r.kernel_id == chosen.name]


_NAMES = ("kernel_id", "function", "function_name", "called", "name")


# --- series -----------------------------------------------------------------------------------------------------------


def history(database: Database, query: str, chosen: KernelFilter) -> d.History:
    """Return the series of the selected kernels, by function and source."""
    commits = database.commits()
    lanes = _Lanes(database, commits, _chosen(database, chosen)).followed()
    if chosen.line:
        lanes = [lane for lane in lanes if lane[-1].line == chosen.line]
    by_number = {commit.id: commit for commit in commits}
    series = [_series(lane, by_number) for lane in lanes]
    series.sort(key=lambda s: (s.function, s.source, s.kernel_id, s.model))
    return d.History(kernel=query, commits=len(commits), series=series)


class _Lanes:
    """The rows of many commits, joined to series."""

    def __init__(self, database: Database, commits: Sequence[StoredCommit], rows: Iterable[_Row]) -> None:
        self.database = database
        self.order = [commit.id for commit in commits]
        self.rows: defaultdict[int, list[_Row]] = defaultdict(list)
        self.wanted: set[_Row] = set()
        for row in rows:
            self.rows[row.commit].append(row)
            self.wanted.add(row)
        self.builds = _Builds(self.order, self.wanted)
        self.there: dict[tuple[int, tuple[str, str, str]], bool] = {}
        self.likenesses = _Likenesses(database, self.order, self._is_there)

    def followed(self) -> list[list[_Row]]:
        lanes: list[list[_Row]] = []
        for commit in self.order:
            open_rows = list(self.rows[commit])
            ends = self._pair(lanes, open_rows)
            # The remaining kernels are gone, or have another name now.
            for find in (self._any_same_code, lambda lane, commit: self.likenesses.find(lane[-1], commit)):
                for lane in ends:
                    if lane[-1].commit == commit or (successor := find(lane, commit)) is None:
                        continue
                    lane.append(successor)
                    if successor in open_rows:
                        open_rows.remove(successor)
                    self._watch(successor, commit)
            lanes += [[row] for row in open_rows if row in self.wanted]
        for lane in lanes:
            self._look_back(lane)
        return lanes

    def _pair(self, lanes: list[list[_Row]], rows: list[_Row]) -> list[list[_Row]]:
        """Append rows of a commit to the lanes that they continue, and remove them from `rows`.

        Returns the lanes that no row continues.
        """
        left = lanes
        for key in (*_SAME_BUILD, *_NEW_BUILD):
            new_build = key in _NEW_BUILD
            by_key: defaultdict[Hashable, list[_Row]] = defaultdict(list)
            for row in rows:
                by_key[key(row)].append(row)
            ends: defaultdict[Hashable, list[list[_Row]]] = defaultdict(list)
            for lane in left:
                if key(lane[-1]) in by_key:
                    ends[key(lane[-1])].append(lane)
            paired: set[int] = set()
            used: set[_Row] = set()
            for value, some in ends.items():
                others = by_key[value]
                if new_build:
                    # If there are several builds on one side, it is unknown which became which.
                    some = [lane for lane in some if any(self.builds.follow(lane[-1], row) for row in others)]
                    others = [row for row in others if any(self.builds.follow(lane[-1], row) for lane in some)]
                    if len(some) > 1 or len(others) > 1:
                        continue
                for lane, row in zip(some, others, strict=False):
                    lane.append(row)
                    paired.add(id(lane))
                    used.add(row)
            rows[:] = [row for row in rows if row not in used]
            left = [lane for lane in left if id(lane) not in paired]
            if not rows or not left:
                break
        return left

    def _look_back(self, lane: list[_Row]) -> None:
        """Prepend the rows that a kernel had under earlier names."""
        start = end = self.order.index(lane[0].commit)
        for n in reversed(range(start)):
            first = lane[0]
            earlier = None
            if first not in self.wanted:
                earlier = self._nearest(first, self._known_by(first, self.order[n]))
            elif earlier := self._same_code(first, self.order[n]):
                # The rows between that commit and the first one belong to the lane as well.
                for commit in reversed(self.order[n + 1 : end]):
                    between = self._nearest(lane[0], self._known_by(earlier, commit))
                    if between is not None and between not in self.wanted:
                        lane.insert(0, between)
            else:
                earlier = self.likenesses.find(first, self.order[n])
            if earlier is not None and earlier not in self.wanted:
                lane.insert(0, earlier)

    def _nearest(self, row: _Row, others: Iterable[_Row]) -> _Row | None:
        """Return the row whose build is most like that of `row`."""
        return min(
            others,
            key=lambda o: (o.build != row.build, o.content_hash != row.content_hash, o.compiler != row.compiler),
            default=None,
        )

    def _watch(self, row: _Row, since: int) -> None:
        """Follow a kernel under its new name in later commits."""
        for commit in self.order[self.order.index(since) + 1 :]:
            present = set(self.rows[commit])
            self.rows[commit] += [row_there for row_there in self._known_by(row, commit) if row_there not in present]

    def _known_by(self, row: _Row, commit: int) -> list[_Row]:
        return _rows(
            self.database,
            'k.kernel_id = :kernel_id AND u.model = :model AND u."commit" = :commit AND :source IN (u.source, '
            "u.assembly_file)",
            {"kernel_id": row.kernel_id, "model": row.model, "commit": commit, "source": row.source},
        )

    def _any_same_code(self, lane: list[_Row], commit: int) -> _Row | None:
        """Return a kernel of a commit with the last, or an earlier, code of a lane."""
        hashes: set[str] = set()
        for row in reversed(lane):
            if row.content_hash not in hashes:
                hashes.add(row.content_hash)
                if match := self._same_code(row, commit):
                    return match
            if len(hashes) == _HASHES:
                break
        return None

    def _same_code(self, row: _Row, commit: int) -> _Row | None:
        """Return a kernel of a commit with the code of `row`, unless either one's name is in both commits."""
        if self._is_there(row.known_by, commit):
            return None
        candidates = _rows(
            self.database,
            'k.content_hash = :hash AND u.model = :model AND u."commit" = :commit',
            {"hash": row.content_hash, "model": row.model, "commit": commit},
        )
        new = [other for other in candidates if not self._is_there(other.known_by, row.commit)]
        new.sort(key=lambda other: (other.build != row.build, other.source != row.source))
        return new[0] if new else None

    def _is_there(self, known_by: tuple[str, str, str], commit: int) -> bool:
        key = commit, known_by
        if key not in self.there:
            source, kernel_id, model = known_by
            self.there[key] = bool(
                self.database.row(
                    """SELECT 1 FROM kernels k JOIN unit_kernels l ON l.kernel = k.id JOIN units u ON u.id = l.unit
                    WHERE k.kernel_id = ? AND u.model = ? AND u."commit" = ? AND ? IN (u.source, u.assembly_file)""",
                    [kernel_id, model, commit, source],
                )
            )
        return self.there[key]


_HASHES = 8
"""The most codes of a kernel, latest first, that are looked for when it is gone: older ones rarely return."""

_SAME_BUILD: tuple[Callable[[_Row], Hashable], ...] = (
    lambda r: (r.known_by, r.build, r.content_hash),
    lambda r: (r.source, r.function, r.model, r.build, r.content_hash),
    lambda r: (r.known_by, r.build),
)
_NEW_BUILD: tuple[Callable[[_Row], Hashable], ...] = (
    lambda r: (r.known_by, r.compiler, r.command),
    lambda r: (r.known_by, r.compiler, r.compiler_version),
    lambda r: (r.known_by, r.compiler),
    lambda r: (r.known_by, r.content_hash),
    lambda r: r.known_by,
)
"""Keys that rows of one kernel share in two commits, the most certain first.

The first list is for rows of the same build, the second for a build that replaced another.
"""


class _Likenesses:
    """Successors of kernels that are gone, from comparisons of the units that they were in."""

    def __init__(
        self, database: Database, order: Sequence[int], is_there: Callable[[tuple[str, str, str], int], bool]
    ) -> None:
        self.database = database
        self.order = order
        self.is_there = is_there
        self.units: dict[tuple[int, str, str], list[tuple[int, tuple[str, str, str]]]] = {}
        self.pairs: dict[tuple[int, int], dict[int, int]] = {}

    def find(self, row: _Row, commit: int) -> _Row | None:
        """Return the kernel of a commit that a comparison matches with `row`, which is gone there.

        None if a commit between the two has the source, if the kernel is there under its name, or if its match is a
        kernel that both commits have.
        """
        if self.is_there(row.known_by, commit):
            return None
        at, other = self.order.index(row.commit), self.order.index(commit)
        if any(self._units(between, row) for between in self.order[min(at, other) + 1 : max(at, other)]):
            return None
        units = self._units(commit, row)
        # If there are several other builds, it is unknown which one replaced this one.
        same = [unit for unit, build in units if build == row.build] or [unit for unit, _ in units]
        if len(same) != 1:
            return None
        place = self._matched(*((row.unit, same[0]) if at < other else (same[0], row.unit)), at < other).get(row.place)
        if place is None:
            return None
        candidates = _rows(self.database, "u.id = :unit AND l.place = :place", {"unit": same[0], "place": place})
        return next((one for one in candidates if not self.is_there(one.known_by, row.commit)), None)

    def _units(self, commit: int, row: _Row) -> list[tuple[int, tuple[str, str, str]]]:
        """Return the units of the kernel's source and core, with their builds."""
        key = commit, row.source, row.model
        if key not in self.units:
            rows = self.database.rows(
                """SELECT id, compiler, compiler_version, command FROM units
                WHERE "commit" = ? AND ? IN (source, assembly_file) AND model = ?""",
                key,
            )
            self.units[key] = [(number, (compiler, version, command)) for number, compiler, version, command in rows]
        return self.units[key]

    def _matched(self, a: int, b: int, forth: bool) -> dict[int, int]:
        """Return the places of matched kernels: from unit `a` to `b` if `forth`, otherwise from `b` to `a`."""
        if (a, b) not in self.pairs:
            from incc.comparison.match import match
            from incc.history.read import entries_of_unit

            try:
                entries = [entries_of_unit(self.database, unit) for unit in (a, b)]
            except InputError:
                # The report lacks a part that comparisons need, although it can be stored.
                self.pairs[a, b] = {}
            else:
                self.pairs[a, b] = {pair.a: pair.b for pair in match(*entries).matches}
        places = self.pairs[a, b]
        return places if forth else {other: one for one, other in places.items()}


class _Builds:
    """The builds of kernels and their commits: a build replaces another, or exists in parallel."""

    def __init__(self, order: Sequence[int], rows: Iterable[_Row]) -> None:
        self.number = {commit: n for n, commit in enumerate(order)}
        self.first: dict[Hashable, int] = {}
        self.last: dict[Hashable, int] = {}
        seen: defaultdict[Hashable, set[Hashable]] = defaultdict(set)
        self.beside: set[Hashable] = set()
        for row in rows:
            number = self.number[row.commit]
            key = row.known_by, row.build
            self.first[key] = min(self.first.get(key, number), number)
            self.last[key] = max(self.last.get(key, number), number)
            builds = seen[row.known_by, number]
            builds.add(row.build)
            if len(builds) > 1:
                self.beside.add(row.known_by)

    def follow(self, a: _Row, b: _Row) -> bool:
        """Return True if the build of `b`, at a later commit, may have replaced that of `a`.

        It may if no commit has several builds of the kernel, or if the one ends before the other begins.
        """
        if a.known_by not in self.beside:
            return True
        number = self.number[b.commit]
        ended = self.last.get((a.known_by, a.build), -1) < number
        return ended and self.first.get((b.known_by, b.build), number) == number


def _series(lane: Sequence[_Row], commits: dict[int, StoredCommit]) -> d.Series:
    last = lane[-1]
    points = [_point(row, commits[row.commit], before) for row, before in zip(lane, [None, *lane[:-1]], strict=True)]
    return d.Series(function=last.called, kernel_id=last.kernel_id, source=last.source, model=last.model, points=points)


def _point(row: _Row, commit: StoredCommit, before: _Row | None) -> d.Point:
    basis: Any = _basis(before, row) if before else ""
    change = None
    if before and basis:
        a, b = (each.cycles_per_element if basis == "element" else each.cycles for each in (before, row))
        assert a is not None
        assert b is not None
        change = 0.0 if a == b else b / a - 1 if a else None
    return d.Point(
        commit=commit.name,
        date=iso(commit.date),
        build=_build(row),
        source=row.source,
        kernel_id=row.kernel_id,
        function=row.called,
        line=row.line,
        content_hash=row.content_hash,
        cycles=row.cycles,
        at_least=bool(row.at_least),
        elements=row.elements,
        cycles_per_element=row.cycles_per_element,
        limit=row.limit,
        vector=row.vector,
        basis=basis,
        change=change,
        code="" if before is None else "same" if before.content_hash == row.content_hash else "changed",
        renamed=before is not None and before.known_by != row.known_by,
        model_changed=before is not None and before.model_version != row.model_version,
        build_changed=before is not None and before.build != row.build,
    )


def _basis(a: _Row, b: _Row) -> str:
    """Return the basis on which cycles of two kernels are compared; "" for none.

    An iteration is a basis for equal code, and if it computes, loads and stores as much.
    """
    if a.cycles_per_element is not None and b.cycles_per_element is not None:
        return "element"
    if a.content_hash == b.content_hash or (a.work == b.work and any(a.work)):
        return "iteration"
    return ""


def _build(row: _Row) -> d.RecordedBuild:
    return d.RecordedBuild(
        compiler=row.compiler,
        compiler_version=row.compiler_version,
        command=json.loads(row.command),
        model=row.model,
        model_version=row.model_version,
    )


def iso(seconds: int | None) -> str:
    """Return a date and time in UTC; "" for None."""
    if seconds is None:
        return ""
    try:
        when = datetime.datetime.fromtimestamp(seconds, datetime.UTC)
    except (OverflowError, OSError, ValueError):
        return ""
    return when.strftime("%Y-%m-%dT%H:%M:%SZ")


# --- the best ---------------------------------------------------------------------------------------------------------


def best(database: Database, query: str, chosen: KernelFilter) -> d.Bests:
    """Return the builds of each kernel, the fastest first."""
    commits = database.commits()
    age = {commit.id: n for n, commit in enumerate(reversed(commits))}
    by_number = {commit.id: commit for commit in commits}
    rows = _chosen(database, chosen)
    numbers = _numbers(rows)
    kernels: defaultdict[tuple[str, str, int, str], dict[tuple[int, tuple[str, str, str]], _Row]] = defaultdict(dict)
    without = 0
    for row in rows:
        if chosen.line and row.line != chosen.line:
            continue
        if row.cycles_per_element is None:
            without += row.role == "main"
            continue
        of = kernels[row.source, row.function, numbers[row], row.model]
        # All loops of one source line are needed; the slowest one is the bound on their speed.
        build = row.unit, row.build
        if build not in of or (of[build].cycles_per_element or 0) < row.cycles_per_element:
            of[build] = row
    bests: list[d.Best] = []
    for (source, _, number, model), builds in sorted(kernels.items()):
        fastest: dict[tuple[str, str, str], _Row] = {}
        for row in sorted(builds.values(), key=lambda r: (r.cycles_per_element or 0, age[r.commit], r.build)):
            fastest.setdefault(row.build, row)
        candidates = [_candidate(row, by_number[row.commit]) for row in fastest.values()]
        called = next(iter(fastest.values())).called
        bests.append(d.Best(function=called, source=source, number=number, model=model, builds=candidates))
    return d.Bests(kernel=query, kernels=bests, without_elements=without)


def _numbers(rows: Iterable[_Row]) -> dict[_Row, int]:
    """Return the number of each kernel among the loops of its function; loops of one line count as one."""
    by_function: defaultdict[tuple[int, str], list[_Row]] = defaultdict(list)
    for row in rows:
        by_function[row.unit, row.function].append(row)
    numbers = {}
    for some in by_function.values():
        places = {row: (row.line or 0, 0 if row.line else row.place) for row in some}
        in_order = sorted(set(places.values()))
        numbers.update({row: 1 + in_order.index(place) for row, place in places.items()})
    return numbers


def _candidate(row: _Row, commit: StoredCommit) -> d.Candidate:
    assert row.elements is not None
    assert row.cycles_per_element is not None
    return d.Candidate(
        build=_build(row),
        commit=commit.name,
        date=iso(commit.date),
        line=row.line,
        cycles=row.cycles,
        elements=row.elements,
        cycles_per_element=row.cycles_per_element,
        limit=row.limit,
        vector=row.vector,
    )


# --- lists ------------------------------------------------------------------------------------------------------------


def commits(database: Database) -> list[d.Commit]:
    """Return all commits, the newest first."""
    sql = """SELECT u."commit", count(DISTINCT u.id), count(l.kernel) FROM units u
        LEFT JOIN unit_kernels l ON l.unit = u.id GROUP BY u."commit" """
    counts = {number: (units, kernels) for number, units, kernels in database.rows(sql)}
    ran = dict(database.rows('SELECT "commit", count(*) FROM runs GROUP BY "commit"'))
    names: dict[str, defaultdict[int, list[str]]] = {}
    for table in ("branches", "baselines"):
        names[table] = defaultdict(list)
        for number, name in database.rows(f'SELECT "commit", name FROM {table} ORDER BY name'):
            names[table][number].append(name)
    return [
        d.Commit(
            commit=commit.name,
            date=iso(commit.date),
            branches=names["branches"][commit.id],
            baselines=names["baselines"][commit.id],
            units=counts.get(commit.id, (0, 0))[0],
            kernels=counts.get(commit.id, (0, 0))[1],
            runs=ran.get(commit.id, 0),
        )
        for commit in reversed(database.commits())
    ]
