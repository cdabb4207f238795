"""What files of hotness tell, whatever tool wrote them."""

from __future__ import annotations

import msgspec

EXECUTIONS, SAMPLES = "executions", "samples"


class HotError(Exception):
    """A file that cannot be used; the message names it, says where in it and why, and what helps."""


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """So often a line of the source was executed. `symbol`: in that function, "" where that is not told."""

    file: str
    line: int
    executions: float
    symbol: str = ""


class Function(msgspec.Struct, frozen=True):
    """So much of a function. `inlined`: whether what was inlined from it elsewhere is in it, as in counts, and not in
    the function that it was inlined into, as in samples."""

    name: str
    amount: float
    inlined: bool


class Sample(msgspec.Struct, frozen=True, kw_only=True):
    """So much at a place: in the function of that symbol, `offset` bytes behind its start (negative where that is not
    told), at a line of the source (0 where that is not told; without a `file` one of the function's)."""

    symbol: str
    amount: float
    offset: int = -1
    file: str = ""
    line: int = 0


class Listing(msgspec.Struct, frozen=True):
    """The instructions of a function in the order of their addresses: each its mnemonic, how much of the samples it
    has, and its line (0 where that is not told)."""

    symbol: str
    rows: tuple[tuple[str, float, int], ...]


class Told(msgspec.Struct, frozen=True, kw_only=True):
    """What a file tells. `kind`: what it is. `unit`: EXECUTIONS or SAMPLES. `folder`: what relative names of its files
    are relative to, "" where that is not told. `elsewhere`: samples that are at no place that could be anybody's."""

    path: str
    kind: str
    unit: str
    folder: str = ""
    lines: tuple[Line, ...] = ()
    functions: tuple[Function, ...] = ()
    samples: tuple[Sample, ...] = ()
    listings: tuple[Listing, ...] = ()
    elsewhere: float = 0.0
    notes: tuple[str, ...] = ()


_SCALES = {"": 1, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18}


def amount(text: str) -> float | None:
    """A count as tools write it for people, 81.9M; None for anything else."""
    scale = text[-1:] if text[-1:] in _SCALES else ""
    digits = text[: len(text) - len(scale)]
    if not digits or not digits.isascii() or len(digits) > 30 or digits.count(".") > 1:
        return None
    if not digits.replace(".", "").isdecimal():
        return None
    return float(digits) * _SCALES[scale]
