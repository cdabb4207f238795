"""Work done by forked processes, its results in the order of the work.

Workers are forked off when everything that they need is loaded, and find the work itself in their memory: what goes to
them through a pipe are numbers, so that starting them and handing work out costs next to nothing (a pool of
`multiprocessing` takes 30 to 60 ms to come and go).
"""

from __future__ import annotations

import contextlib
import os
import pickle
import selectors
import signal
import struct
import sys
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

T = TypeVar("T")
R = TypeVar("R")

_NUMBER = struct.Struct("=i")
_HEAD = struct.Struct("=iq")  # the number of the work, and how many bytes its result has
# What fits into a pipe whose reader has not started yet (pipe(7): 65,536 bytes).
MOST = 65_536 // _NUMBER.size


class WorkerError(RuntimeError):
    """A worker ended before its work was done; the message says how."""


def in_order(work: Callable[[T], R], pieces: Sequence[T], jobs: int) -> Iterator[R]:
    """The results of `work` for each of the pieces, at most `MOST`, done by as many forked processes as `jobs` says.

    Whoever is free takes the next piece. Results are pickled. Raises WorkerError if a worker dies or `work` raises;
    workers end with the iterator.
    """
    if len(pieces) > MOST:
        raise ValueError(f"{len(pieces)} pieces of work, at most {MOST} can be handed out")
    numbers, numbers_end = os.pipe()
    os.write(numbers_end, b"".join(map(_NUMBER.pack, range(len(pieces)))))
    os.close(numbers_end)
    sys.stdout.flush()  # or each process would write what waits there
    workers: dict[int, int] = {}  # the pipe that results come through, and the process
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
    """What a worker does; it does not come back."""
    status = 1
    try:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # from the terminal: the parent ends its workers
        with open(results, "wb", buffering=0) as out:
            while number := os.read(numbers, _NUMBER.size):
                (n,) = _NUMBER.unpack(number)
                data = pickle.dumps(work(pieces[n]), pickle.HIGHEST_PROTOCOL)
                left = memoryview(_HEAD.pack(n, len(data)) + data)
                while left:
                    left = left[out.write(left) :]
        status = 0
    except SystemExit:  # told to end, which it did in good order
        pass
    except BaseException as error:  # whatever it is, this process must not go on as its parent
        with contextlib.suppress(OSError):
            os.write(2, f"{type(error).__name__}: {error}\n".encode())
    finally:
        os._exit(status)


def _collect(workers: dict[int, int], count: int) -> Iterator[Any]:
    """The results of pieces 0 to count - 1, read as they come."""
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
                    # No worker any more: its number may soon be another process's, which nobody must end.
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
