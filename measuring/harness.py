"""Cycles of loops of machine code on this machine.

What is timed is compiled just in time from LLVM's intermediate representation with inline assembly, so no compiler is
needed. Each loop runs in a forked child, which catches faults and has a limit of time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple


class Loop(NamedTuple):
    """Machine code that runs as a loop.

    `code`: all of it, with its last instructions counting `counter` down and jumping to its start while it is not zero.
    `counter`: the number of the general-purpose register (0 is rax, 15 is r15) that holds the trips. `registers`: what
    the sixteen general-purpose registers hold at first. `content`: the 64-bit word that memory and vector registers are
    full of. Memory that is touched is mapped when it is, within bounds.
    """

    code: bytes
    counter: int
    registers: tuple[int, ...]
    content: int


Way = Literal["clock", "counters"]


class Measurement(NamedTuple):
    """`cycles`: core cycles a trip. `spread`: between samples that are not disturbed, in cycles a trip. `way`: how time
    was had: the time-stamp counter beside a chain of dependent additions, or the processor's performance counters.
    `events`: counts a trip of performance counters, by name; empty without them."""

    cycles: float
    spread: float
    way: Way
    events: dict[str, float]


class Failure(NamedTuple):
    """Why a loop could not be measured: a signal's name, "timeout", "address", "stride" …, and in words."""

    kind: str
    text: str


def measure(loops: Iterable[Loop]) -> Iterator[Measurement | Failure]:
    """The loops' cycles, in their order, each as soon as it is known."""
    raise NotImplementedError
