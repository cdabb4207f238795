"""The requests of the live page, and the answers. They are sent between processes, and as JSON to the browser."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import msgspec
from msgspec import Meta

if TYPE_CHECKING:
    from incc.report import types as t

Language = Literal["c", "c++", "fortran", "assembly"]

_Text = Annotated[str, Meta(max_length=2000)]


class Exploration(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A source, and one way to compile and analyse it."""

    source: Annotated[str, Meta(max_length=500_000)]
    language: Language
    compiler: _Text = ""
    """The name of a compiler from the list; empty for assembly."""
    options: _Text = ""
    """The compiler's options as one writes them on a command line."""
    core: _Text = ""
    """The core to analyse for; empty for the target that the options imply."""
    changes: Annotated[tuple[_Text, ...], Meta(max_length=20)] = ()
    """Changes of the core to simulate, as `--what-if` takes them."""
    data: _Text = ""
    """Levels or sizes of the data, as `--data` takes them; empty for L1."""


class Explored(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to an exploration."""

    problem: str = ""
    """The reason why there is no report, in one line; empty if there is one."""
    messages: str = ""
    """The output of the compiler."""
    command: str = ""
    """The compiler's command."""
    report: t.AnalysisReport | None = None
    html: str = ""
    """The report's page."""


class CompilerChoice(msgspec.Struct, frozen=True, kw_only=True):
    """A compiler that the page offers."""

    name: str
    title: str
    """Its name and version."""
    languages: tuple[Language, ...]
    default_options: str


class CoreChoice(msgspec.Struct, frozen=True, kw_only=True):
    """A core that the page offers."""

    name: str
    title: str
    isa: str
    ports: tuple[str, ...]
    rob: int


class Choices(msgspec.Struct, frozen=True, kw_only=True):
    """The choices that the page offers."""

    compilers: tuple[CompilerChoice, ...]
    cores: tuple[CoreChoice, ...]
    options: tuple[str, ...]
    host: str
    """The name of this machine's core; empty if it is unknown."""
