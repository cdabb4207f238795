"""Tells the program in front of Python (front/watch.cpp) what became of the compiler.

Should this process be ended in the middle, by a limit of the system or a mistake in a library, that program goes on
with the compilation: it waits for a compiler that was started, and starts one that was not.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import MutableMapping

_VARIABLE = "INCC_WATCH"

_pipe = -1


def begin(environment: MutableMapping[str, str]) -> None:
    """Find whom to tell, and take that out of what others see."""
    global _pipe
    number = environment.pop(_VARIABLE, "")
    if number.isdecimal() and int(number) > 2:
        try:
            os.set_inheritable(int(number), False)
        except OSError:
            return
        _pipe = int(number)


def started(process: int) -> None:
    """The compiler runs."""
    _tell(f"P{process}")


def finished(status: int) -> None:
    """The compiler has ended; `status` as waitpid(2) has it."""
    _tell(f"S{status}")


def leaving() -> None:
    """This process ends now, or becomes another program, and its status is the command's."""
    _tell("E")


def _tell(line: str) -> None:
    if _pipe >= 0:
        try:
            os.write(_pipe, f"{line}\n".encode("ascii"))
        except OSError:  # nobody is there any more
            return
