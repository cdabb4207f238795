"""Parallel work in forked processes, with results in order.

Workers are forked after all modules are loaded and inherit the work in their memory; they receive only numbers through
a pipe. That takes almost no time, whereas a `multiprocessing` pool takes 30 to 60 ms to start and stop.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import selectors
import signal
import struct
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn, TypeVar

from incc.support.signals import fork

T = TypeVar("T")
R = TypeVar("R")

_NUMBER = struct.Struct("=i")
_HEAD = struct.Struct("=iq")
"""The number of the piece of work, and the size of its result in bytes: _BEGUN without one, negative for a message."""

_BEGUN = 0

MOST = 65_536 // _NUMBER.size
"""Most pieces of work: the capacity of a pipe before its reader starts (pipe(7): 65,536 bytes)."""


class WorkerError(RuntimeError):
    """A worker ended before its work was done; the message says how."""


def cpus() -> int:
    """Return the number of CPUs that this process may use."""
    return len(os.sched_getaffinity(0))


def in_order(
    work: Callable[[T], R], pieces: Sequence[T], jobs: int, instead: Callable[[T, str], R] | None = None
) -> Iterator[R]:
    """Yield the result of `work` for each piece, in order. Workers end with the iterator.

    Args:
        work: The function to run in the workers. Its results are pickled.
        pieces: The pieces of work, at most `MOST`.
        jobs: The number of worker processes.
        instead: Returns the result for a piece that ended its worker, or for which `work` raised an exception, with the
            reason. Without it these raise WorkerError.

    Raises:
        WorkerError: There is no process to do the work.
    """
    if len(pieces) > MOST:
        raise ValueError(f"{len(pieces)} pieces of work, but at most {MOST} are supported")
    numbers, numbers_end = os.pipe()
    os.write(numbers_end, b"".join(map(_NUMBER.pack, range(len(pieces)))))
    os.close(numbers_end)
    crew = _Crew(work, pieces, numbers)
    try:
        for _ in range(min(jobs, len(pieces))):
            crew.add()
        for piece, (data, problem) in zip(pieces, crew.results(), strict=True):
            if not problem:
                yield pickle.loads(data)
            elif instead is None:
                raise WorkerError(problem)
            else:
                yield instead(piece, problem)
    finally:
        crew.end()


class _Worker:
    """A worker process, and what has arrived from it."""

    def __init__(self, process: int) -> None:
        self.process = process
        self.buffer = bytearray()
        self.piece = -1
        """The number of the piece that it is working on, -1 for none."""


class _Crew:
    """The workers of one call of `in_order`."""

    def __init__(self, work: Callable[[Any], Any], pieces: Sequence[Any], numbers: int) -> None:
        self.work = work
        self.pieces = pieces
        self.numbers = numbers
        self.workers: dict[int, _Worker] = {}
        """The workers, by their pipes for results."""
        self.arrived: dict[int, tuple[bytes, str]] = {}
        """Pickled results or reasons why there is none, by the number of the piece."""
        self.begun = 0

    def add(self) -> None:
        """Start a worker. Raises WorkerError if there is none then."""
        if sys.stdout is not None:
            sys.stdout.flush()  # or each process would write the buffered output
        results, results_end = os.pipe()
        try:
            process = fork()
        except OSError as error:
            os.close(results)
            os.close(results_end)
            if not self.workers:
                raise WorkerError(f"no process for the work: {error.strerror}") from None
            return
        if process == 0:
            os.close(results)
            _work_off(self.work, self.pieces, self.numbers, results_end)
        os.close(results_end)
        self.workers[results] = _Worker(process)

    def results(self) -> Iterator[tuple[bytes, str]]:
        """Yield the pickled result of each piece in order, or the reason why there is none."""
        following = 0
        while following < len(self.pieces):
            with selectors.DefaultSelector() as selector:
                for results in self.workers:
                    selector.register(results, selectors.EVENT_READ)
                ready = [key.fd for key, _ in selector.select()] if self.workers else []
            for results in ready:
                self._receive(results)
            if not self.workers:  # a worker ended before it could say which piece it had taken
                for n in range(following, len(self.pieces)):
                    self.arrived.setdefault(n, (b"", "a worker process ended"))
            while following in self.arrived:
                yield self.arrived.pop(following)
                following += 1

    def _receive(self, results: int) -> None:
        """Read from a worker's pipe. A worker that ended at a piece is replaced."""
        worker = self.workers[results]
        data = os.read(results, 1 << 16)
        if not data:
            # Forget the process, since its number may be reused.
            del self.workers[results]
            os.close(results)
            _, status = os.waitpid(worker.process, 0)
            if status and worker.piece >= 0:
                self.arrived[worker.piece] = b"", f"a worker process {how_ended(os.waitstatus_to_exitcode(status))}"
            if status and self.begun < len(self.pieces):
                self.add()
            return
        buffer = worker.buffer
        buffer += data
        while len(buffer) >= _HEAD.size:
            number, size = _HEAD.unpack_from(buffer)
            end = _HEAD.size + abs(size)
            if len(buffer) < end:
                break
            content = bytes(memoryview(buffer)[_HEAD.size : end])
            del buffer[:end]
            if size == _BEGUN:
                worker.piece = number
                self.begun += 1
            else:
                worker.piece = -1
                self.arrived[number] = (content, "") if size > 0 else (b"", content.decode("utf-8", "replace"))

    def end(self) -> None:
        """End all workers."""
        os.close(self.numbers)
        for results, worker in self.workers.items():
            os.close(results)
            with contextlib.suppress(ProcessLookupError):
                os.kill(worker.process, signal.SIGTERM)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(worker.process, 0)


def _work_off(work: Callable[[T], R], pieces: Sequence[T], numbers: int, results: int) -> NoReturn:
    """Run a worker."""
    status = 1
    try:
        with open(results, "wb", buffering=0) as out:
            while number := os.read(numbers, _NUMBER.size):
                (n,) = _NUMBER.unpack(number)
                out.write(_HEAD.pack(n, _BEGUN))
                try:
                    data = pickle.dumps(work(pieces[n]), pickle.HIGHEST_PROTOCOL)
                    size = len(data)
                except Exception as error:
                    data = problem_of(error).encode("utf-8", "replace")
                    size = -len(data)
                left = memoryview(_HEAD.pack(n, size) + data)
                while left:
                    left = left[out.write(left) :]
        status = 0
    except BaseException as error:  # this process must not continue as a copy of its parent
        with contextlib.suppress(OSError):
            os.write(2, f"{type(error).__name__}: {error}\n".encode())
    finally:
        os._exit(status)


def problem_of(error: Exception) -> str:
    """Return an exception as a line."""
    if isinstance(error, MemoryError):
        return "out of memory"
    return f"{type(error).__name__}: {' '.join(str(error).split())}"


def how_ended(code: int) -> str:
    """Return how a process ended, by its exit code, or by the negative number of the signal that ended it."""
    return f"was ended by signal {-code}" if code < 0 else "failed"
