"""What queries of a database find: the JSON of `incc-db list`, `log` and `best`, and what the views print.

Times are in cycles of the core's clock.
"""

from __future__ import annotations

from typing import Literal

import msgspec


class Commit(msgspec.Struct, frozen=True, kw_only=True):
    """A commit and how much there is of it. `date`: ISO 8601 in UTC, empty if nobody knows."""

    commit: str
    date: str
    branches: list[str]
    baselines: list[str]
    units: int
    kernels: int


class Build(msgspec.Struct, frozen=True, kw_only=True):
    """How code came about: what compiled it, for which core it is analysed."""

    compiler: str
    compiler_version: str
    command: list[str]
    model: str
    model_version: str


class Point(msgspec.Struct, frozen=True, kw_only=True):
    """A kernel at one commit."""

    commit: str
    date: str
    build: Build
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
    """Of `change`: empty for the first point, and where an iteration may do other work than in the one before."""
    change: float | None
    """Cycles relative to the point before, less 1, on the basis; null where that cannot be told."""
    code: Literal["", "same", "changed"]
    """Whether it is the code of the point before; empty for the first."""
    renamed: bool
    """It is known by another name, or in another file, than in the point before: it was found by its code,
    or, where that changed too, as comparisons find it."""
    model_changed: bool
    """The machine model has another version than in the point before."""
    build_changed: bool
    """Another compiler, version or command line than in the point before."""


class Series(msgspec.Struct, frozen=True, kw_only=True):
    """The history of a kernel in one of its builds, the oldest commit first."""

    function: str
    kernel_id: str
    source: str
    model: str
    points: list[Point]


class History(msgspec.Struct, frozen=True):
    """What `incc-db log` finds."""

    kernel: str
    commits: int
    """Commits in the database; a series has those of them that have the kernel."""
    series: list[Series]


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """A build of a kernel."""

    build: Build
    commit: str
    date: str
    line: int | None
    cycles: float
    elements: float
    cycles_per_element: float
    limit: str
    vector: str


class Best(msgspec.Struct, frozen=True, kw_only=True):
    """The builds of a kernel on one core, the fastest first; of builds that are alike the newest commit."""

    function: str
    source: str
    number: int
    """Which of the function's loops it is, in the order of their lines, from 1."""
    model: str
    builds: list[Candidate]


class Bests(msgspec.Struct, frozen=True):
    """What `incc-db best` finds."""

    kernel: str
    kernels: list[Best]
    without_elements: int
    """Kernels that cannot be compared, since nobody knows how many elements an iteration stands for."""
