"""A limit on the processor time of some work, which long computations check."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from math import inf

_end: ContextVar[float] = ContextVar("_end", default=inf)


class TookTooLong(Exception):
    """The work has taken more than its time."""


@contextmanager
def limited(seconds: int) -> Iterator[None]:
    """Let `check` raise TookTooLong after this many seconds of the thread's processor time; 0 for no limit."""
    token = _end.set(min(_end.get(), time.thread_time() + seconds if seconds else inf))
    try:
        yield
    finally:
        _end.reset(token)


def end() -> float:
    """Return the processor time of this thread at which the work has to end, in seconds."""
    return _end.get()


def check() -> None:
    """Raise TookTooLong if the time is over."""
    if end() < inf and time.thread_time() > end():
        raise TookTooLong
