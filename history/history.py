"""Kernels over commits and builds: what became of one, and which build of it is the fastest.

A series follows one kernel in one build. From a commit to the next, the kernels of a function are told apart by what
they are known by and their code: equal code first, so that a loop which another one was put before is still itself.
Where a kernel is gone, one with the same code takes its place, if that was not there before: it was renamed or moved.
Where there is none such, one of the same source does that was not there before and that a comparison of the two units
takes for it: it was renamed and changed.
"""

from __future__ import annotations

import datetime
import json
from collections import defaultdict
from typing import TYPE_CHECKING, Any

import msgspec

from incc.history import types as d

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Sequence

    from incc.history.store import Commit, Database

MAIN = ("", "main")
"""Roles of kernels that are shown where no other is asked for: the others run little."""


class Choice(msgspec.Struct, frozen=True, kw_only=True):
    """Which kernels are meant: `name` is what they are known by or their function, or a pattern of it as the shell's;
    "" for all. `line`: of the source, at the newest commit that has it; 0 for any. `model`: the core, "" for any.
    `roles`: those of loops, none for all."""

    name: str = ""
    line: int = 0
    model: str = ""
    roles: tuple[str, ...] = MAIN


def choice(text: str, model: str = "", everything: bool = False) -> Choice:
    """What a user means by KERNEL[:LINE]."""
    name, colon, line = text.rpartition(":")
    if colon and line.isascii() and line.isdecimal() and name and not name.endswith(":"):
        return Choice(name=name, line=int(line), model=model, roles=() if everything else MAIN)
    return Choice(name=text, line=0, model=model, roles=() if everything else MAIN)


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
    found = database.rows(f"{_SELECT} WHERE {where} {_IN_ORDER}", values)
    names = _Row.__struct_fields__
    return [_Row(**dict(zip(names, (*row[:-4], row[-4:]), strict=True))) for row in found]


def _chosen(database: Database, chosen: Choice) -> list[_Row]:
    conditions = []
    if chosen.name:
        named = [f"k.{column} = :name OR k.{column} GLOB :glob" for column in _NAMES]
        conditions.append(f"({' OR '.join(named)})")
    if chosen.model:
        conditions.append("u.model = :model")
    values = {"name": chosen.name, "glob": chosen.name.replace("[!", "[^"), "model": chosen.model}
    rows = _rows(database, " AND ".join(conditions) or "1", values)
    # Who names a remainder by what it is known by means it.
    return [r for r in rows if not chosen.roles or r.role in chosen.roles or r.kernel_id == chosen.name]


_NAMES = ("kernel_id", "function", "function_name", "called", "name")


# --- series -----------------------------------------------------------------------------------------------------------


def history(database: Database, asked: str, chosen: Choice) -> d.History:
    """The series of the kernels that are meant, by function and source."""
    commits = database.commits()
    lanes = _Lanes(database, commits, _chosen(database, chosen)).followed()
    if chosen.line:
        lanes = [lane for lane in lanes if lane[-1].line == chosen.line]
    by_number = {commit.id: commit for commit in commits}
    series = [_series(lane, by_number) for lane in lanes]
    series.sort(key=lambda s: (s.function, s.source, s.kernel_id, s.model))
    return d.History(kernel=asked, commits=len(commits), series=series)


class _Lanes:
    """Rows of many commits, put together to series."""

    def __init__(self, database: Database, commits: Sequence[Commit], rows: Iterable[_Row]) -> None:
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
            # What is left is gone, or has another name now.
            for find in (self._any_same_code, self._like_the_last):
                for lane in ends:
                    if lane[-1].commit == commit or (found := find(lane, commit)) is None:
                        continue
                    lane.append(found)
                    if found in open_rows:
                        open_rows.remove(found)
                    self._watch(found, commit)
            lanes += [[row] for row in open_rows if row in self.wanted]
        for lane in lanes:
            self._look_back(lane)
        return lanes

    def _pair(self, lanes: list[list[_Row]], rows: list[_Row]) -> list[list[_Row]]:
        """Adds rows of a commit to the lanes that they go on, and takes them out of `rows`; returns the lanes that none
        does."""
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
                    # Which of several builds became which of several others nobody knows.
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
        """What a kernel was called before it got the name by which it was asked for."""
        start = end = self.order.index(lane[0].commit)
        for n in reversed(range(start)):
            first = lane[0]
            found = None
            if first not in self.wanted:
                found = self._nearest(first, self._known_by(first, self.order[n]))
            elif found := self._same_code(first, self.order[n]):
                # What it was between then and now.
                for commit in reversed(self.order[n + 1 : end]):
                    between = self._nearest(lane[0], self._known_by(found, commit))
                    if between is not None and between not in self.wanted:
                        lane.insert(0, between)
            else:
                found = self.likenesses.find(first, self.order[n])
            if found is not None and found not in self.wanted:
                lane.insert(0, found)

    def _nearest(self, row: _Row, others: Iterable[_Row]) -> _Row | None:
        """Of several builds of a kernel that most like another one's."""
        return min(
            others,
            key=lambda o: (o.build != row.build, o.content_hash != row.content_hash, o.compiler != row.compiler),
            default=None,
        )

    def _watch(self, row: _Row, since: int) -> None:
        """Follow a kernel under its new name in later commits."""
        for commit in self.order[self.order.index(since) + 1 :]:
            known = set(self.rows[commit])
            self.rows[commit] += [found for found in self._known_by(row, commit) if found not in known]

    def _known_by(self, row: _Row, commit: int) -> list[_Row]:
        return _rows(
            self.database,
            'k.kernel_id = :kernel_id AND u.model = :model AND u."commit" = :commit AND :source IN (u.source, '
            "u.assembly_file)",
            {"kernel_id": row.kernel_id, "model": row.model, "commit": commit, "source": row.source},
        )

    def _any_same_code(self, lane: list[_Row], commit: int) -> _Row | None:
        """A kernel of a commit with the code that one had last, or earlier."""
        hashes: set[str] = set()
        for row in reversed(lane):
            if row.content_hash not in hashes:
                hashes.add(row.content_hash)
                if found := self._same_code(row, commit):
                    return found
            if len(hashes) == _HASHES:
                break
        return None

    def _same_code(self, row: _Row, commit: int) -> _Row | None:
        """A kernel of a commit with the same code as one of another commit that has no such name there; none that
        both have."""
        if self._is_there(row.known_by, commit):
            return None
        found = _rows(
            self.database,
            'k.content_hash = :hash AND u.model = :model AND u."commit" = :commit',
            {"hash": row.content_hash, "model": row.model, "commit": commit},
        )
        new = [other for other in found if not self._is_there(other.known_by, row.commit)]
        new.sort(key=lambda other: (other.build != row.build, other.source != row.source))
        return new[0] if new else None

    def _like_the_last(self, lane: list[_Row], commit: int) -> _Row | None:
        return self.likenesses.find(lane[-1], commit)

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
"""Codes of a kernel that are looked for when it is gone, the last ones: a renamed one has seldom an older one."""

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
"""What rows of two commits have in common that are the same kernel, the surest first: in the same build of it, and in
one that has taken another's place."""


class _Likenesses:
    """What became of kernels that are gone, as a comparison of the units that they were in finds it."""

    def __init__(
        self, database: Database, order: Sequence[int], is_there: Callable[[tuple[str, str, str], int], bool]
    ) -> None:
        self.database = database
        self.order = order
        self.is_there = is_there
        self.units: dict[tuple[int, str, str], list[tuple[int, tuple[str, str, str]]]] = {}
        self.pairs: dict[tuple[int, int], dict[int, int]] = {}

    def find(self, row: _Row, commit: int) -> _Row | None:
        """The kernel of a commit, the next or the last one that has the source, that is most likely the same. None if
        it is there by its name, or what is like it has had its own in both."""
        if self.is_there(row.known_by, commit):
            return None
        at, other = self.order.index(row.commit), self.order.index(commit)
        if any(self._units(between, row) for between in self.order[min(at, other) + 1 : max(at, other)]):
            return None
        units = self._units(commit, row)
        # Which of several other builds took the place of this one nobody knows.
        same = [unit for unit, build in units if build == row.build] or [unit for unit, _ in units]
        if len(same) != 1:
            return None
        place = self._matched(*((row.unit, same[0]) if at < other else (same[0], row.unit)), at < other).get(row.place)
        if place is None:
            return None
        found = _rows(self.database, "u.id = :unit AND l.place = :place", {"unit": same[0], "place": place})
        return next((one for one in found if not self.is_there(one.known_by, row.commit)), None)

    def _units(self, commit: int, row: _Row) -> list[tuple[int, tuple[str, str, str]]]:
        """Units of the kernel's source and core with their builds."""
        key = commit, row.source, row.model
        if key not in self.units:
            found = self.database.rows(
                """SELECT id, compiler, compiler_version, command FROM units
                WHERE "commit" = ? AND ? IN (source, assembly_file) AND model = ?""",
                key,
            )
            self.units[key] = [(number, (compiler, version, command)) for number, compiler, version, command in found]
        return self.units[key]

    def _matched(self, a: int, b: int, forth: bool) -> dict[int, int]:
        """Places of kernels in the one unit to those in the other; `forth`: of a in b."""
        if (a, b) not in self.pairs:
            from incc.comparison.match import match
            from incc.history.read import entries_of_unit
            from incc.report.documents import InputError

            try:
                entries = [entries_of_unit(self.database, unit) for unit in (a, b)]
            except InputError:
                # It can be kept, but not be compared: its report lacks something.
                self.pairs[a, b] = {}
            else:
                self.pairs[a, b] = {found.a: found.b for found in match(*entries).matches}
        places = self.pairs[a, b]
        return places if forth else {other: one for one, other in places.items()}


class _Builds:
    """Which builds there are of kernels, and when: whether one takes the place of another or stands beside it."""

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
        """Whether the build of b, at a later commit, may be what became of that of a: no commit has several builds of
        the kernel, or the one ends before the other begins."""
        if a.known_by not in self.beside:
            return True
        number = self.number[b.commit]
        ended = self.last.get((a.known_by, a.build), -1) < number
        return ended and self.first.get((b.known_by, b.build), number) == number


def _series(lane: Sequence[_Row], commits: dict[int, Commit]) -> d.Series:
    last = lane[-1]
    points = [_point(row, commits[row.commit], before) for row, before in zip(lane, [None, *lane[:-1]], strict=True)]
    return d.Series(
        function=last.called,
        kernel_id=last.kernel_id,
        source=last.source,
        model=last.model,
        points=points,
    )


def _point(row: _Row, commit: Commit, before: _Row | None) -> d.Point:
    basis: Any = _basis(before, row) if before else ""
    change = None
    if before and basis:
        a = before.cycles_per_element if basis == "element" else before.cycles
        b = row.cycles_per_element if basis == "element" else row.cycles
        assert a is not None
        assert b is not None
        change = b / a - 1 if a else None
        change = 0.0 if a == b else change
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
    """On what basis cycles of two kernels are compared. An iteration is the same in equal code, and where as much is
    computed, loaded and stored in it."""
    if a.cycles_per_element is not None and b.cycles_per_element is not None:
        return "element"
    if a.content_hash == b.content_hash or (a.work == b.work and any(a.work)):
        return "iteration"
    return ""


def _build(row: _Row) -> d.Build:
    return d.Build(
        compiler=row.compiler,
        compiler_version=row.compiler_version,
        command=json.loads(row.command),
        model=row.model,
        model_version=row.model_version,
    )


def iso(seconds: int | None) -> str:
    """A date and time in UTC; empty for none."""
    if seconds is None:
        return ""
    try:
        when = datetime.datetime.fromtimestamp(seconds, datetime.UTC)
    except (OverflowError, OSError, ValueError):
        return ""
    return when.strftime("%Y-%m-%dT%H:%M:%SZ")


# --- the best ---------------------------------------------------------------------------------------------------------


def best(database: Database, asked: str, chosen: Choice) -> d.Bests:
    """The builds of each kernel, the fastest first."""
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
        # Of several loops for one line of the source none can be left out; the slowest says how fast they are at most.
        build = row.unit, row.build
        if build not in of or (of[build].cycles_per_element or 0) < row.cycles_per_element:
            of[build] = row
    found: list[d.Best] = []
    for (source, _, number, model), builds in sorted(kernels.items()):
        fastest: dict[tuple[str, str, str], _Row] = {}
        for row in sorted(builds.values(), key=lambda r: (r.cycles_per_element or 0, age[r.commit], r.build)):
            fastest.setdefault(row.build, row)
        candidates = [_candidate(row, by_number[row.commit]) for row in fastest.values()]
        called = next(iter(fastest.values())).called
        found.append(d.Best(function=called, source=source, number=number, model=model, builds=candidates))
    return d.Bests(kernel=asked, kernels=found, without_elements=without)


def _numbers(rows: Iterable[_Row]) -> dict[_Row, int]:
    """Which of the loops of its function each kernel is: those of one line count as one."""
    by_function: defaultdict[tuple[int, str], list[_Row]] = defaultdict(list)
    for row in rows:
        by_function[row.unit, row.function].append(row)
    found = {}
    for some in by_function.values():
        places = sorted({(row.line or 0, 0 if row.line else row.place) for row in some})
        for row in some:
            found[row] = 1 + places.index((row.line or 0, 0 if row.line else row.place))
    return found


def _candidate(row: _Row, commit: Commit) -> d.Candidate:
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
    """All commits, the newest first."""
    counts = {
        row[0]: row[1:]
        for row in database.rows(
            """SELECT u."commit", count(DISTINCT u.id), count(l.kernel) FROM units u
            LEFT JOIN unit_kernels l ON l.unit = u.id GROUP BY u."commit" """
        )
    }
    branches: defaultdict[int, list[str]] = defaultdict(list)
    for number, name in database.rows('SELECT "commit", name FROM branches ORDER BY name'):
        branches[number].append(name)
    baselines: defaultdict[int, list[str]] = defaultdict(list)
    for number, name in database.rows('SELECT "commit", name FROM baselines ORDER BY name'):
        baselines[number].append(name)
    return [
        d.Commit(
            commit=commit.name,
            date=iso(commit.date),
            branches=branches[commit.id],
            baselines=baselines[commit.id],
            units=counts.get(commit.id, (0, 0))[0],
            kernels=counts.get(commit.id, (0, 0))[1],
        )
        for commit in reversed(database.commits())
    ]
