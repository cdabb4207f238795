"""The contents of a profile, whatever tool wrote it."""

from __future__ import annotations

import msgspec

from incc.report.runs import LoopRun

EXECUTIONS, SAMPLES = "executions", "samples"


class HotError(Exception):
    """A file that cannot be used; the message names the file, the place, the reason and the remedy."""


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """A source line with its number of executions."""

    file: str
    line: int
    executions: float
    symbol: str = ""
    """The function in which it was executed; "" if unknown."""


class HotFunction(msgspec.Struct, frozen=True):
    """A function with its amount."""

    name: str
    amount: float
    inlined: bool
    """True if the amount includes copies inlined elsewhere, as in counts but not in samples."""


class Sample(msgspec.Struct, frozen=True, kw_only=True):
    """An amount at one place."""

    symbol: str
    """The function; "" if unknown."""
    amount: float
    offset: int = -1
    """The offset in the function, in bytes; negative if unknown."""
    function: tuple[str, int] = ("", 0)
    """The program or library, and the function's address in it, to distinguish functions of one name."""
    file: str = ""
    """The source file; "" for the function's."""
    line: int = 0
    """The source line; 0 if unknown."""
    kernel: str = ""
    """The identity of the loop in the report of its unit; "" if unknown."""
    source: str = ""
    """The source of that unit, as its command names it."""


class FunctionListing(msgspec.Struct, frozen=True):
    """The instructions of a function, in the order of their addresses."""

    symbol: str
    rows: tuple[tuple[str, float, int], ...]
    """The mnemonic of each instruction, its amount of samples, and its source line (0 if unknown)."""


class Profile(msgspec.Struct, frozen=True, kw_only=True):
    """The contents of one profile."""

    path: str
    kind: str
    """The kind of file, one of `read.KINDS`."""
    unit: str
    """EXECUTIONS or SAMPLES."""
    folder: str = ""
    """The folder that relative file names start from; "" if unknown."""
    lines: tuple[Line, ...] = ()
    functions: tuple[HotFunction, ...] = ()
    samples: tuple[Sample, ...] = ()
    listings: tuple[FunctionListing, ...] = ()
    elsewhere: float = 0.0
    """Samples at places outside any function."""
    runs: tuple[LoopRun, ...] = ()
    """Loops as they ran in a program with probes."""
    notes: tuple[str, ...] = ()


_SCALES = {"": 1, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18}


def amount(text: str) -> float | None:
    """Return the value of a count as tools abbreviate it, 81.9M; None for anything else."""
    scale = text[-1:] if text[-1:] in _SCALES else ""
    digits = text[: len(text) - len(scale)]
    if not digits or not digits.isascii() or len(digits) > 30 or digits.count(".") > 1:
        return None
    if not digits.replace(".", "").isdecimal():
        return None
    return float(digits) * _SCALES[scale]
