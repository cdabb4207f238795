"""Progress of long work: a line on the terminal that counts what is done."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

T = TypeVar("T")

_shown: ContextVar[bool] = ContextVar("_shown", default=False)

OFTEN = 0.1
"""The least number of seconds between two changes of the line."""


@contextmanager
def progress_shown() -> Iterator[None]:
    """Show the progress of what happens meanwhile; only commands do, since Python's users own their terminal."""
    token = _shown.set(True)
    try:
        yield
    finally:
        _shown.reset(token)


def counted(items: Iterable[T], what: str, total: int | None = None) -> Iterator[T]:
    """Yield the items, and count them in a line on standard error if it is a terminal and progress is shown.

    Args:
        items: The results of the work, in any number of processes.
        what: The name of the work: `analysing`.
        total: The number of items; None if it is unknown.
    """
    if not _shown.get() or total in (0, 1) or sys.stderr is None or not sys.stderr.isatty():
        yield from items
        return
    last = time.monotonic()
    whole = "" if total is None else f" of {total}"
    _write(f"\r{what}: 0{whole}\x1b[K")
    try:
        for done, item in enumerate(items, 1):
            if (now := time.monotonic()) >= last + OFTEN:
                last = now
                _write(f"\r{what}: {done}{whole}\x1b[K")
            yield item
    finally:
        _write("\r\x1b[K")


def _write(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()
