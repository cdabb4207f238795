"""The flow of a scan through engines whose processes die, answer in any order, or do not see files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from random import Random
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from properties import examples

pytest.importorskip("pyarrow", reason="no pyarrow")

from incc.fleet import flow as flows
from incc.fleet.dataset.columns import PLACES
from incc.fleet.engines import Done, EngineJob
from incc.fleet.flow import MOST_TRIES, Piece, ScanFlow
from incc.fleet.messages import (
    CHANGED,
    Analyse,
    AnalyseAnswer,
    Group,
    GroupResult,
    InputRead,
    Missing,
    OnCore,
    PlacedKernel,
    Read,
    ReadAnswer,
    Stamp,
    encoded,
    request,
)


class Fate(msgspec.Struct, frozen=True):
    """The fate of processes that read an input, or analyse a key."""

    deaths: int = 0
    """The number of processes that it ends by itself before one answers."""
    final: bool = False
    """It has no answer, and never will."""
    problem: bool = False
    """The answer is a problem."""


class Planned(msgspec.Struct, frozen=True):
    """An input."""

    name: str
    keys: list[int]
    """The keys of its groups that are shared."""
    own: bool = False
    """It also has a group of its own, which is analysed as it is read."""
    file: str = ""
    """"": it is in no file; "seen": everywhere; "shipped": only on this machine; "gone": nowhere. Those in `LATER` are
    seen when they are read; then they are gone, have other code, or no worker takes them."""
    fate: Fate = Fate()


class World(msgspec.Struct, frozen=True):
    """The inputs of a scan, and the fates of keys."""

    pieces: list[list[Planned]]
    keys: list[Fate]


fates = st.builds(
    Fate, deaths=st.sampled_from([0, 0, 0, 1, MOST_TRIES - 1, MOST_TRIES]), final=st.sampled_from([False] * 5 + [True])
)
KEYS = 6
LATER = {"changed": CHANGED, "unread": "other code", "refused": "no worker"}
"""The reason why kernels of a file that was read are not analysed."""


@st.composite
def worlds(draw: st.DrawFn, later: bool = True) -> World:
    """Draw a scan with few keys, so that pieces share them."""
    names = iter(range(10_000))
    inputs = st.builds(
        Planned,
        name=st.builds(lambda: f"input{next(names)}"),
        keys=st.lists(st.integers(0, KEYS - 1), max_size=4, unique=True),
        own=st.booleans(),
        file=st.sampled_from(["", "seen", "seen", "shipped", "gone", *(LATER if later else [])]),
        fate=fates,
    )
    pieces = draw(st.lists(st.lists(inputs, min_size=1, max_size=4), max_size=8))
    keys = draw(st.lists(st.one_of(fates, st.just(Fate(problem=True))), min_size=KEYS, max_size=KEYS))
    return World(pieces, keys)


def key_of(number: int) -> bytes:
    return b"key%13d" % number


def pieces_of(world: World) -> list[Piece]:
    return [
        Piece(
            [each.name for each in piece],
            [encoded(each) for each in piece],
            [Stamp(f"{each.file}/{each.name}", 1, 1) if each.file else None for each in piece],
        )
        for piece in world.pieces
    ]


class Died(Exception):
    """A process has ended."""


class FakeEngine:
    """Answers as processes would that share nothing."""

    def __init__(self, world: World, random: Random, most: int, ships: bool) -> None:
        self.ships = ships
        self.window = 3 * most
        self._world = world
        self._random = random
        self._most = most
        self._jobs: list[EngineJob] = []
        self._alone: dict[Any, int] = {}
        self.answered: list[int] = []
        """The keys that were analysed."""

    @property
    def room(self) -> int:
        return self._most - len(self._jobs)

    def add(self, job: EngineJob) -> None:
        self._jobs.append(job)

    def done(self, seconds: float) -> Iterator[Done]:
        assert self._jobs, "the flow waits for nothing"
        for _ in range(self._random.randint(0, min(3, len(self._jobs)))):
            job = self._jobs.pop(self._random.randrange(len(self._jobs)))
            asked = request(job.request)
            kinds = {stamp.path.partition("/")[0] for stamp in asked.files}
            if isinstance(asked, Analyse) and "refused" in kinds:
                yield Done(job, problem=LATER["refused"], external=True)
                continue
            if isinstance(asked, Analyse) and any(stamp.path.startswith("changed/") for stamp in job.files):
                yield Done(job, problem=CHANGED, final=True, external=True)
                continue
            try:
                yield Done(job, encoded(self._answer(job)), worker=self._random.randrange(3))
            except Died as error:
                yield Done(job, problem="died", final=bool(error.args), ended=True)

    def end(self) -> None:
        self._jobs.clear()

    def _answer(self, job: EngineJob) -> Any:
        asked = request(job.request)
        for stamp in asked.files:
            where = stamp.path.partition("/")[0]
            if where == "gone" or (where == "shipped" and stamp not in job.files):
                return Missing(stamp.path)
            if where == "changed" and isinstance(asked, Analyse):
                return Missing(stamp.path)
        if isinstance(asked, Read):
            return self._read([msgspec.msgpack.decode(each, type=Planned) for each in asked.inputs])
        return self._analyse(asked)

    def _live(self, fate: Fate, name: Any, alone: bool) -> None:
        """Raise Died if something ends its process this time; alone it does so a number of times."""
        if fate.final:
            raise Died("final")
        if self._alone.get(name, 0) < fate.deaths:
            self._alone[name] = self._alone.get(name, 0) + alone
            raise Died

    def _read(self, inputs: list[Planned]) -> ReadAnswer:
        for each in inputs:
            self._live(each.fate, each.name, len(inputs) == 1)
        return ReadAnswer([self._input(each) for each in inputs])

    def _input(self, planned: Planned) -> InputRead:
        read = InputRead(planned.name, groups=[_group(key_of(number), planned) for number in planned.keys])
        if planned.own:
            key = planned.name.encode()
            read.groups.append(_group(key, planned))
            read.analysed.append(_result(key, planned))
        return read

    def _analyse(self, asked: Analyse) -> AnalyseAnswer:
        inputs = [msgspec.msgpack.decode(data, type=Planned) for data in asked.inputs]
        work = [(planned, key) for planned, keys in zip(inputs, asked.keys, strict=True) for key in keys]
        assert all(asked.keys)
        assert len({key for _, key in work}) == len(work)
        answer = AnalyseAnswer([], unread={key: LATER["unread"] for planned, key in work if planned.file == "unread"})
        for planned, key in work:
            assert _number(key) in planned.keys
            if key not in answer.unread:
                self._live(self._world.keys[_number(key)], key, len(work) == 1)
        for planned, key in work:
            if key in answer.unread:
                continue
            if self._world.keys[_number(key)].problem:
                answer.problems[key] = f"problem {_number(key)}"
            else:
                self.answered.append(_number(key))
                answer.groups.append(_result(key, planned))
        return answer


def _number(key: bytes) -> int:
    return int(key[3:])


def _group(key: bytes, planned: Planned) -> Group:
    values: list[Any] = [f"{name} of {planned.name}" for name in PLACES]
    return Group(key, [PlacedKernel(0, values)], 9_000)


def _result(key: bytes, planned: Planned) -> GroupResult:
    """The result for a key. It tells where the key was analysed, which must not depend on chance."""
    return GroupResult(key, 1, encoded([OnCore("core", "1", [[planned.name]], [[0.0]])]))


class FakeKeeper:
    """Keeps results, each once."""

    def __init__(self, kept: Mapping[bytes, bytes] | None = None) -> None:
        self.kept = dict(kept or {})

    def missing(self, keys: Sequence[bytes]) -> list[bytes]:
        return [key for key in dict.fromkeys(keys) if key not in self.kept]

    def keep(self, results: Iterable[tuple[bytes, bytes, bytes]]) -> None:
        for key, values, _ in results:
            assert self.kept.get(key, values) == values  # groups of one input only are analysed again after a resume
            self.kept[key] = values

    def values(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        return {key: self.kept[key] for key in keys if key in self.kept}


Outcome = tuple[int, list[tuple[str, str, list[str], list[str], list[bytes], dict[bytes, list[OnCore]]]]]


def run(world: World, engine: FakeEngine, keeper: FakeKeeper, first: int = 0) -> Iterator[Outcome]:
    """Scan, and yield each piece's number with its inputs."""
    flow = ScanFlow(engine, keeper, iter(pieces_of(world)[first:]), first)
    for number, inputs in flow.results(lambda: None):
        yield (
            number,
            [
                (
                    read.name,
                    read.failure,
                    read.problems,
                    read.quarantined,
                    [group.key for group in read.groups],
                    dict(results),
                )
                for read, results in inputs
            ],
        )
    assert not engine._jobs
    assert not flow._waiting
    assert flow.counts.pieces == len(world.pieces)


def lost(planned: Planned, ships: bool) -> str:
    """The reason why an input is lost as a whole, if it is."""
    if planned.file == "gone" or (planned.file == "shipped" and not ships):
        return CHANGED
    return "died" if planned.fate.final or planned.fate.deaths >= MOST_TRIES else ""


@examples(25)
@given(worlds(), st.randoms(use_true_random=False), st.integers(1, 9), st.booleans())
def test_results_leave_in_order_and_only_what_fails_is_lost(
    world: World, random: Random, most: int, ships: bool
) -> None:
    engine = FakeEngine(world, random, most, ships)
    pieces = [*run(world, engine, FakeKeeper())]
    assert [number for number, _ in pieces] == [*range(len(world.pieces))]
    assert len(engine.answered) == len({*engine.answered})
    first: dict[bytes, str] = {}
    bad: set[int] = set()
    for (_, inputs), planned_piece in zip(pieces, world.pieces, strict=True):
        for (name, failure, problems, quarantined, keys, results), planned in zip(inputs, planned_piece, strict=True):
            assert name == planned.name
            assert failure == lost(planned, ships)
            if failure:
                assert (problems, keys) == ([], [])
                assert quarantined == ([] if failure == CHANGED else [failure])
                continue
            assert keys == [*map(key_of, planned.keys), *([name.encode()] if planned.own else [])]
            expected: dict[int, str] = {}
            for number in planned.keys:
                fate = world.keys[number]
                # Whatever happens to a file costs no other file with the same code its results.
                if planned.file in LATER and key_of(number) not in first and number not in bad:
                    expected[number] = LATER[planned.file]
                elif fate.problem or fate.final or fate.deaths >= MOST_TRIES:
                    bad.add(number)
                    expected[number] = f"problem {number}" if fate.problem else "died"
            assert [number for number in planned.keys if key_of(number) not in results] == [*expected]
            assert problems == [f"{name}: function of {name}: not analysed: {why}" for why in expected.values()]
            assert quarantined == [problem for problem in problems if problem.endswith(" died")]
            for key, (core,) in results.items():
                # The first input that has a key has it analysed.
                assert core.kernels == [[first.setdefault(key, name)]]


@examples(25)
@given(worlds(), st.randoms(use_true_random=False), st.randoms(use_true_random=False), st.integers(1, 9))
def test_results_do_not_depend_on_the_number_and_speed_of_processes(
    world: World, random: Random, other: Random, most: int
) -> None:
    one = [*run(world, FakeEngine(world, random, 1, True), FakeKeeper())]
    assert [*run(world, FakeEngine(world, other, most, True), FakeKeeper())] == one


@examples(25)
@given(worlds(later=False), st.randoms(use_true_random=False), st.integers(0, 7), st.integers(1, 9))
def test_a_scan_goes_on_where_it_was_interrupted(world: World, random: Random, at: int, most: int) -> None:
    whole = [*run(world, FakeEngine(world, random, most, True), FakeKeeper())]
    keeper, done, engine = FakeKeeper(), [], FakeEngine(world, random, most, True)
    results = run(world, engine, keeper)
    for outcome in results:
        done.append(outcome)
        if len(done) > at:
            break
    results.close()  # type: ignore[attr-defined]
    again = FakeEngine(world, random, most, True)
    assert [*done, *run(world, again, FakeKeeper(keeper.kept), len(done))] == whole
    assert not {*engine.answered} & {*again.answered}


def test_an_unreadable_answer_costs_only_its_input(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World([[Planned("a", []), Planned("b", [])], [Planned("c", [1])]], [Fate()] * KEYS)
    engine = FakeEngine(world, Random(1), 2, False)
    answer = flows.answer

    def damaged(data: bytes) -> Any:
        return answer(b"\xc1" if b"\xa1b\xa0" in data else data)

    monkeypatch.setattr(flows, "answer", damaged)
    failures = [failure for _, inputs in run(world, engine, FakeKeeper()) for _, failure, *_ in inputs]
    assert [bool(failure) for failure in failures] == [False, True, False]
    assert failures[1].startswith("an answer that cannot be read: ")
