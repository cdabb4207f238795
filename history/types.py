"""Results of queries on a database: the JSON of `incc-db list`, `log` and `best`, and the input of the views.

Times are in cycles of the core's clock.
"""

from __future__ import annotations

from typing import Literal

import msgspec


def shown(name: str) -> str:
    """Return a commit's name for people: a hash is shortened."""
    is_hash = len(name) in (40, 64) and all(c in "0123456789abcdef" for c in name)
    return name[:10] if is_hash else name


class Commit(msgspec.Struct, frozen=True, kw_only=True):
    """A commit and the size of its contents."""

    commit: str
    date: str
    """The date, ISO 8601 in UTC; empty if unknown."""
    branches: list[str]
    baselines: list[str]
    units: int
    kernels: int
    runs: int = 0
    """Runs of programs with probes."""


class RecordedBuild(msgspec.Struct, frozen=True, kw_only=True):
    """A build: the compiler, its command, and the core of the analysis."""

    compiler: str
    compiler_version: str
    command: list[str]
    model: str
    model_version: str


class Point(msgspec.Struct, frozen=True, kw_only=True):
    """A kernel at one commit."""

    commit: str
    date: str
    build: RecordedBuild
    source: str
    kernel_id: str
    function: str
    line: int | None
    content_hash: str
    cycles: float
    at_least: bool
    elements: float | None
    cycles_per_element: float | None
    limit: str
    vector: str
    basis: Literal["element", "iteration", ""]
    """The basis of `change`; empty for the first point, and if iterations may do different work."""
    change: float | None
    """The relative change of cycles since the previous point, on the basis; null if unknown."""
    code: Literal["", "same", "changed"]
    """The code compared with that of the previous point; empty for the first."""
    renamed: bool
    """True if the name or the file differs from the previous point.

    The kernel was then identified by its code or, if that changed too, by a comparison.
    """
    model_changed: bool
    """True if the machine model has another version than at the previous point."""
    build_changed: bool
    """True if the compiler, its version or the command line differs from the previous point."""


class Series(msgspec.Struct, frozen=True, kw_only=True):
    """The history of a kernel in one of its builds, the oldest commit first."""

    function: str
    kernel_id: str
    source: str
    model: str
    points: list[Point]


class RunPoint(msgspec.Struct, frozen=True, kw_only=True):
    """A loop as it ran at one commit."""

    commit: str
    date: str
    kernel_id: str
    line: int | None
    share: float | None
    """Its share of the processor time; null if unknown."""
    entries: int
    iterations: float
    """All of them."""
    elements: float | None
    """Elements of the source's loop per iteration; null if unknown."""
    cycles: float | None
    """Measured cycles per iteration; null if unknown."""
    cycles_error: float
    """The standard error."""
    predicted: float | None
    """Predicted cycles per iteration of endless iterations with data in L1."""
    parts: dict[str, float]
    """The parts of the difference in cycles per iteration, by their kinds, the largest first."""
    unexplained: float | None
    basis: Literal["element", "iteration", ""]
    """The basis of `change`; empty for the first point."""
    change: float | None
    """The relative change of the measured cycles since the previous point, on the basis; null if unknown."""
    renamed: bool
    """True if the name differs from the previous point."""


class RunSeries(msgspec.Struct, frozen=True, kw_only=True):
    """The history of a loop in the runs of a command on a core, the oldest commit first."""

    function: str
    kernel_id: str
    source: str
    command: list[str]
    """The command, without the program's folder."""
    model: str
    points: list[RunPoint]


class History(msgspec.Struct, frozen=True):
    """The result of `incc-db log`."""

    kernel: str
    commits: int
    """The number of commits in the database; a series has those that have the kernel."""
    series: list[Series]
    runs: list[RunSeries] = []
    """The measured cycles of the same loops, if the database has runs."""


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """A build of a kernel."""

    build: RecordedBuild
    commit: str
    date: str
    line: int | None
    cycles: float
    elements: float
    cycles_per_element: float
    limit: str
    vector: str


class Best(msgspec.Struct, frozen=True, kw_only=True):
    """The builds of a kernel on one core, the fastest first; of equal builds, that of the newest commit."""

    function: str
    source: str
    number: int
    """The number of the loop in its function, in the order of lines, from 1."""
    model: str
    builds: list[Candidate]


class Bests(msgspec.Struct, frozen=True):
    """The result of `incc-db best`."""

    kernel: str
    kernels: list[Best]
    without_elements: int
    """The number of kernels that cannot be compared, because the number of elements per iteration is unknown."""
