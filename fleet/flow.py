"""The flow of a scan: pieces of input are read, kernels that are new are analysed, and results leave in order.

Each piece is read by one process, which says where which kernels are. Groups of kernels get keys; equal keys stand for
equal results. A key belongs to the first piece, in the order of the scan, that has it: only there it is analysed, near
the process that has just read the piece. So it does not matter how many processes there are, and which is the fastest.
"""

from __future__ import annotations

import zlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Protocol

import msgspec
from msgspec.structs import replace

from incc.fleet.dataset.columns import PLACES
from incc.fleet.engines import Done, Engine, EngineJob
from incc.fleet.messages import (
    CHANGED,
    Analyse,
    AnalyseAnswer,
    GroupResult,
    InputRead,
    Missing,
    OnCore,
    Read,
    ReadAnswer,
    Stamp,
    answer,
    decoded,
    encoded,
)

MOST_TRIES = 3
"""Attempts at a single input or key before it is left out. Other work may have ended some of the processes."""

COST = 20_000
"""The instructions that a request has analysed: one to two seconds of work."""

_POLL_SECONDS = 0.5
"""Seconds after which the progress is shown if nothing happens."""


class Piece(msgspec.Struct, array_like=True):
    """Some inputs that one process reads."""

    names: list[str]
    """Their names in messages."""
    inputs: list[bytes]
    """The inputs, encoded."""
    files: list[Stamp | None]
    """The file that each is in, None for an input without one."""


class Counts(msgspec.Struct):
    """The progress of a scan."""

    pieces: int = 0
    inputs: int = 0
    kernels: int = 0
    analysed: int = 0
    """Those that were analysed; the others are equal to one of these."""
    failures: int = 0


class Keeper(Protocol):
    """Keeps the results by the keys of groups (`dataset.store.Store`)."""

    def missing(self, keys: Sequence[bytes]) -> list[bytes]:
        """Return those of the keys that have no results."""

    def keep(self, results: Iterable[tuple[bytes, bytes, bytes]]) -> None:
        """Add results: key, encoded values, and packed reports, which may be those of several keys."""

    def values(self, keys: Sequence[bytes]) -> Mapping[bytes, bytes]:
        """Return the encoded values of the keys that have some."""


Results = Mapping[bytes, list[OnCore]]


class _Open(msgspec.Struct, eq=False):
    """A piece on its way."""

    number: int
    piece: Piece
    answers: list[bytes | None]
    """The answer for each input, as `_packed` returns it: with many workers, many wait for the first."""
    workers: list[object]
    """The worker that has read each input."""
    waits_for: set[bytes] = msgspec.field(default_factory=set)
    """The keys without results, after the piece was claimed."""
    failures: dict[tuple[int, bytes], str] = msgspec.field(default_factory=dict)
    """The reason why the analysis of a key of an input failed, if it lies outside of the code."""


class _Request(msgspec.Struct, eq=False):
    """The subject of a job."""

    piece: _Open
    inputs: list[int]
    """The numbers of its inputs in the piece, each once."""
    keys: list[list[bytes]] = []
    """The keys to analyse of each of them; none to read the inputs."""
    tries: int = 0
    ships: bool = False
    """The files' contents were sent along."""


_FUNCTION = PLACES.index("function")
_values = msgspec.msgpack.Decoder(list[OnCore])
_input = msgspec.msgpack.Decoder(InputRead)


def _packed(read: InputRead) -> bytes:
    """Return an answer compressed: names of functions and files are repeated in it."""
    return zlib.compress(encoded(read), 1)


def _unpacked(data: bytes) -> InputRead:
    return decoded(zlib.decompress(data), _input)


_Work = tuple[int, bytes, int]
"""The number of an input, the key of one of its groups, and the cost of that."""


def _requests(work: Sequence[_Work], workers: Sequence[object]) -> Iterator[tuple[object, list[_Work]]]:
    """Yield the worker and the work of each request: work of about `COST` on inputs that this worker has read.

    Args:
        work: the work on a piece.
        workers: the worker that has read each input.
    """
    some: list[_Work] = []
    total = 0
    for each in work:
        if some and (workers[each[0]] != workers[some[0][0]] or total >= COST):
            yield workers[some[0][0]], some
            some, total = [], 0
        some.append(each)
        total += each[2]
    if some:
        yield workers[some[0][0]], some


class ScanFlow:
    """A scan on its way through an engine."""

    def __init__(self, engine: Engine, keeper: Keeper, pieces: Iterator[Piece], first: int = 0) -> None:
        """Prepare a scan.

        Args:
            engine: has requests answered.
            keeper: keeps results.
            pieces: the pieces of input.
            first: the number of the first piece.
        """
        self.counts = Counts(pieces=first)
        self._engine = engine
        self._keeper = keeper
        self._pieces = pieces
        self._next = first
        self._open: deque[_Open] = deque()
        self._claimed = 0
        """The number of pieces in `_open` whose new keys are being analysed."""
        self._waiting: dict[bytes, list[tuple[_Open, int]]] = {}
        """The pieces that wait for a key which is being analysed, each with the number of an input that has the key.
        The first one has requested it."""
        self._failed: dict[bytes, tuple[str, bool]] = {}
        """The reason why no input's code with a key can be analysed, and whether it has ended a process."""

    def results(self, idle: Callable[[], None]) -> Iterator[tuple[int, Iterator[tuple[InputRead, Results]]]]:
        """Yield the number of each piece with its inputs and the results for their groups, in order.

        A group without results has a problem among those of the input. `idle` is called about twice a second.

        Raises:
            WorkerError, ClusterError: The engine has no processes.
        """
        more = True
        while more or self._open:
            while more and self._engine.room > 0 and len(self._open) < self._engine.window:
                piece = next(self._pieces, None)
                if piece is None:
                    more = False
                    break
                self._begin(piece)
            if not self._open:
                continue
            for done in self._engine.done(_POLL_SECONDS):
                self._take(done)
            self._claim()
            while self._claimed and not self._open[0].waits_for:
                opened = self._open.popleft()
                self._claimed -= 1
                yield opened.number, self._outcomes(opened)
                self.counts.pieces = opened.number + 1
            idle()

    def _begin(self, piece: Piece) -> None:
        count = len(piece.inputs)
        opened = _Open(self._next, piece, [None] * count, [None] * count)
        self._next += 1
        self._open.append(opened)
        self._ask(_Request(opened, list(range(count))))

    def _ask(self, request: _Request, worker: object = None) -> None:
        """Hand a request to the engine."""
        piece = request.piece.piece
        inputs = [piece.inputs[n] for n in request.inputs]
        files = list(dict.fromkeys(stamp for n in request.inputs if (stamp := piece.files[n])))
        message = Analyse(inputs, request.keys, files) if request.keys else Read(inputs, files)
        first = bool(request.keys) or request.tries > 0 or len(inputs) < len(piece.inputs)
        self._engine.add(EngineJob(encoded(message), worker, first, request, tuple(files) if request.ships else ()))

    def _take(self, done: Done) -> None:
        """Note the end of a job."""
        request = done.job.subject
        assert isinstance(request, _Request)
        if done.problem:
            self._retry(request, done)
            return
        try:
            received = answer(done.answer)
        except msgspec.DecodeError as error:
            problem = f"an answer that cannot be read: {error}"
            self._retry(request, Done(done.job, problem=problem, final=True))
            return
        if isinstance(received, Missing):
            if request.ships or not self._engine.ships:
                self._retry(request, Done(done.job, problem=CHANGED, final=True, external=True))
            else:
                request.ships = True
                self._ask(request, done.worker)
        elif isinstance(received, ReadAnswer):
            for n, read in zip(request.inputs, received.inputs, strict=True):
                self._keep(read.analysed, read.reports)
                self.counts.analysed += sum(group.kernels for group in read.analysed)
                read.analysed, read.reports = [], b""
                request.piece.answers[n], request.piece.workers[n] = _packed(read), done.worker
        else:
            self._analysed(request, received)

    def _analysed(self, request: _Request, received: AnalyseAnswer) -> None:
        self._keep(received.groups, received.reports)
        self.counts.analysed += sum(group.kernels for group in received.groups)
        analysed = {group.key for group in received.groups}
        for n, keys in zip(request.inputs, request.keys, strict=True):
            for key in keys:
                if key not in analysed and key not in received.unread:
                    self._failed[key] = received.problems.get(key, "no reason given"), False
            self._settle(key for key in keys if key not in received.unread)
            self._pass_on(request.piece, n, {key: received.unread[key] for key in keys if key in received.unread})

    def _keep(self, groups: Sequence[GroupResult], reports: bytes) -> None:
        self._keeper.keep((group.key, group.cores, b"" if n else reports) for n, group in enumerate(groups))

    def _settle(self, keys: Iterable[bytes]) -> None:
        """Note that keys have results, or will have none."""
        for key in keys:
            for opened, _ in self._waiting.pop(key, ()):
                opened.waits_for.discard(key)

    def _pass_on(self, opened: _Open, n: int, reasons: Mapping[bytes, str]) -> None:
        """Give up keys of an input for reasons that lie outside of their code.

        The next inputs that wait for them request them.

        Args:
            opened: the piece of the input, which has requested the keys.
            n: the number of the input.
            reasons: the reasons by the keys.
        """
        following: dict[tuple[_Open, int], list[bytes]] = {}
        for key, reason in reasons.items():
            opened.failures[n, key] = reason
            waiting = self._waiting[key]
            waiting.remove((opened, n))
            if all(other is not opened for other, _ in waiting):
                opened.waits_for.discard(key)
            if waiting:
                following.setdefault(waiting[0], []).append(key)
            else:
                del self._waiting[key]
        for (other, m), keys in following.items():
            self._ask(_Request(other, [m], [keys]), other.workers[m])

    def _retry(self, request: _Request, failed: Done) -> None:
        """Try each part of a request that failed by itself; give up one that has failed too often."""
        by_key = bool(request.keys) and not failed.external
        if by_key and sum(map(len, request.keys)) > 1:
            for n, keys in zip(request.inputs, request.keys, strict=True):
                for key in keys:
                    self._ask(replace(request, inputs=[n], keys=[[key]], tries=0))
        elif len(request.inputs) > 1:
            for n, keys in zip(request.inputs, request.keys or [[]] * len(request.inputs), strict=True):
                self._ask(replace(request, inputs=[n], keys=[keys] if keys else [], tries=0))
        elif not failed.final and request.tries + 1 < MOST_TRIES:
            self._ask(replace(request, tries=request.tries + 1))
        elif by_key:
            ((key,),) = request.keys
            self._failed[key] = failed.problem, failed.ended
            self._settle([key])
        elif request.keys:
            (n,), (keys,) = request.inputs, request.keys
            self._pass_on(request.piece, n, dict.fromkeys(keys, failed.problem))
        else:
            (n,) = request.inputs
            quarantined = [failed.problem] if failed.ended else []
            read = InputRead(request.piece.piece.names[n], failure=failed.problem, quarantined=quarantined)
            request.piece.answers[n] = _packed(read)

    def _claim(self) -> None:
        """Request the analysis of the new keys of pieces that have been read, in order."""
        while self._claimed < len(self._open) and None not in self._open[self._claimed].answers:
            opened = self._open[self._claimed]
            self._claimed += 1
            work: list[_Work] = []
            for n, data in enumerate(opened.answers):
                assert data is not None
                groups = {group.key: group for group in _unpacked(data).groups}
                for key in self._keeper.missing(list(groups)):
                    if self._wait_for(key, opened, n):
                        work.append((n, key, groups[key].cost))
            for worker, some in _requests(work, opened.workers):
                inputs = [n for n, _ in groupby(n for n, _, _ in some)]
                keys = [[key for _, key, _ in of_input] for _, of_input in groupby(some, key=itemgetter(0))]
                self._ask(_Request(opened, inputs, keys), worker)

    def _wait_for(self, key: bytes, opened: _Open, n: int) -> bool:
        """Let an input of a piece wait for the results of a key, unless these failed.

        Returns True if it has to request them.
        """
        if key in self._failed:
            return False
        opened.waits_for.add(key)
        waiting = self._waiting.setdefault(key, [])
        waiting.append((opened, n))
        return len(waiting) == 1

    def _outcomes(self, opened: _Open) -> Iterator[tuple[InputRead, Results]]:
        """Yield the inputs of a piece with their results."""
        for n, data in enumerate(opened.answers):
            assert data is not None
            read = _unpacked(data)
            # What failed for this input may have been analysed for another one.
            keys = [group.key for group in read.groups if (n, group.key) not in opened.failures]
            values = self._keeper.values(keys)
            for group in read.groups:
                if group.key not in values:
                    function = group.kernels[0].values[_FUNCTION]
                    external = opened.failures.get((n, group.key), "")
                    reason, ended = (external, False) if external else self._failed.get(group.key, ("", False))
                    read.problems.append(f"{read.name}: {function or 'kernels'}: not analysed: {reason}")
                    if ended:
                        read.quarantined.append(read.problems[-1])
            self.counts.inputs += 1
            self.counts.kernels += sum(len(group.kernels) for group in read.groups)
            self.counts.failures += bool(read.failure or read.problems)
            yield read, {key: decoded(value, _values) for key, value in values.items()}
