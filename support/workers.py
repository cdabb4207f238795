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
from typing import Any, TypeVar

T = TypeVar("T")
R = TypeVar("R")

_NUMBER = struct.Struct("=i")
_HEAD = struct.Struct("=iq")
"""The number of the piece of work, and the size of its result in bytes."""

MOST = 65_536 // _NUMBER.size
"""Most pieces of work: the capacity of a pipe before its reader starts (pipe(7): 65,536 bytes)."""


class WorkerError(RuntimeError):
    """A worker ended before its work was done; the message says how."""


def cpus() -> int:
    """Return the number of CPUs that this process may use."""
    return len(os.sched_getaffinity(0))


def in_order(work: Callable[[T], R], pieces: Sequence[T], jobs: int) -> Iterator[R]:
    """Yield the result of `work` for each piece, in order. Workers end with the iterator.

    Args:
        work: The function to run in the workers. Its results are pickled.
        pieces: The pieces of work, at most `MOST`.
        jobs: The number of worker processes.

    Raises:
        WorkerError: A worker died, or `work` raised an exception.
    """
    if len(pieces) > MOST:
        raise ValueError(f"{len(pieces)} pieces of work, but at most {MOST} are supported")
    numbers, numbers_end = os.pipe()
    os.write(numbers_end, b"".join(map(_NUMBER.pack, range(len(pieces)))))
    os.close(numbers_end)
    sys.stdout.flush()  # or each process would write the buffered output
    workers: dict[int, int] = {}  # the processes, by their pipes for results
    try:
        for _ in range(min(jobs, len(pieces))):
            results, results_end = os.pipe()
            process = os.fork()
            if process == 0:
                os.close(results)
                _work_off(work, pieces, numbers, results_end)
            os.close(results_end)
            workers[results] = process
        os.close(numbers)
        yield from _collect(workers, len(pieces))
    finally:
        for results, process in workers.items():
            os.close(results)
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGTERM)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(process, 0)


def _work_off(work: Callable[[T], R], pieces: Sequence[T], numbers: int, results: int) -> None:
    """Run a worker; does not return."""
    status = 1
    try:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends its workers
        with open(results, "wb", buffering=0) as out:
            while number := os.read(numbers, _NUMBER.size):
                (n,) = _NUMBER.unpack(number)
                data = pickle.dumps(work(pieces[n]), pickle.HIGHEST_PROTOCOL)
                left = memoryview(_HEAD.pack(n, len(data)) + data)
                while left:
                    left = left[out.write(left) :]
        status = 0
    except SystemExit:
        pass
    except BaseException as error:  # this process must not continue as a copy of its parent
        with contextlib.suppress(OSError):
            os.write(2, f"{type(error).__name__}: {error}\n".encode())
    finally:
        os._exit(status)


def _collect(workers: dict[int, int], count: int) -> Iterator[Any]:
    """Yield the results of pieces 0 to count - 1, in order."""
    arrived: dict[int, Any] = {}
    buffers = {results: bytearray() for results in workers}
    following = 0
    with selectors.DefaultSelector() as selector:
        for results in workers:
            selector.register(results, selectors.EVENT_READ)
        while following < count:
            for key, _ in selector.select():
                data = os.read(key.fd, 1 << 16)
                if not data:
                    selector.unregister(key.fd)
                    # Forget the process, since its number may be reused.
                    process = workers.pop(key.fd)
                    os.close(key.fd)
                    _, status = os.waitpid(process, 0)
                    if status:
                        raise WorkerError(f"a worker process {_how(status)}")
                    continue
                buffer = buffers[key.fd]
                buffer += data
                while len(buffer) >= _HEAD.size:
                    number, size = _HEAD.unpack_from(buffer)
                    end = _HEAD.size + size
                    if len(buffer) < end:
                        break
                    arrived[number] = pickle.loads(memoryview(buffer)[_HEAD.size : end])
                    del buffer[:end]
            while following in arrived:
                yield arrived.pop(following)
                following += 1


def _how(status: int) -> str:
    code = os.waitstatus_to_exitcode(status)
    return f"was ended by signal {-code}" if code < 0 else "failed"
