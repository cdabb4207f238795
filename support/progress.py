"""Progress of long work: a bar on the terminal that counts completed items."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

T = TypeVar("T")

_shown: ContextVar[bool] = ContextVar("_shown", default=False)

OFTEN = 0.1
"""The least number of seconds between two changes of the bar."""


@contextmanager
def progress_shown() -> Iterator[None]:
    """Show progress during a `with` block. Only commands do so, since in Python's API the terminal is the user's."""
    token = _shown.set(True)
    try:
        yield
    finally:
        _shown.reset(token)


@contextmanager
def bar(what: str, total: int) -> Iterator[Callable[[int, str], None]]:
    """Show a bar during a `with` block on standard error if it is a terminal and progress is shown.

    Args:
        what: The name of the work: `analysing`.
        total: The number of its parts.

    Yields:
        A function that is told how many parts are done, and a text to show beside the bar.
    """
    if not _shown.get() or sys.stderr is None or not sys.stderr.isatty():
        yield lambda done, text: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = TextColumn("{task.description}"), BarColumn(8), TaskProgressColumn(), TimeRemainingColumn()
    console = Console(stderr=True)
    with Progress(
        *columns,
        TextColumn("{task.fields[text]}"),
        console=console,
        auto_refresh=False,
        transient=True,
        redirect_stdout=False,
    ) as shown:
        task = shown.add_task(what, total=total, text="")
        last = 0.0

        def show(done: int, text: str) -> None:
            nonlocal last
            if (now := time.monotonic()) >= last + OFTEN:
                last = now
                shown.update(task, completed=done, text=text, refresh=True)

        yield show


def counted(items: Iterable[T], what: str, total: int | None = None) -> Iterator[T]:
    """Yield the items, and count them on standard error if it is a terminal and progress is shown.

    Args:
        items: The results of the work, in any number of processes.
        what: The name of the work: `analysing`.
        total: The number of items; None if it is unknown.
    """
    if not _shown.get() or total in (0, 1) or sys.stderr is None or not sys.stderr.isatty():
        yield from items
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    # Without a thread that refreshes the bar, since the work forks. Redirected, standard output would go to the bar's
    # console.
    with Progress(
        *columns, console=Console(stderr=True), auto_refresh=False, transient=True, redirect_stdout=False
    ) as bar:
        task = bar.add_task(what, total=total)
        bar.refresh()
        last = time.monotonic()
        for item in items:
            bar.advance(task)
            if (now := time.monotonic()) >= last + OFTEN:
                last = now
                bar.refresh()
            yield item
