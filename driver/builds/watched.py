"""Reports on the compiler's state to the front (front/watch.cpp).

If this process dies, because of a limit of the system or an error in a library, the front continues the compilation: it
waits for the compiler, or starts it.
"""

from __future__ import annotations

import os
from collections.abc import MutableMapping

_VARIABLE = "INCC_WATCH"

_pipe = -1


def begin(environment: MutableMapping[str, str]) -> None:
    """Find the pipe to the front, and remove it from the environment of children."""
    global _pipe
    number = environment.pop(_VARIABLE, "")
    if number.isdecimal() and int(number) > 2:
        try:
            os.set_inheritable(int(number), False)
        except OSError:
            return
        _pipe = int(number)


def started(process: int) -> None:
    """Report that the compiler is running."""
    _send(f"P{process}")


def finished(status: int) -> None:
    """Report that the compiler has ended, with its status as of waitpid(2)."""
    _send(f"S{status}")


def leaving() -> None:
    """Report that this process ends or executes another program, and that its status is the command's."""
    _send("E")


def _send(line: str) -> None:
    if _pipe >= 0:
        try:
            os.write(_pipe, f"{line}\n".encode("ascii"))
        except OSError:  # the front has ended
            return
