"""The requests of an editor for analyses, and the answers. They are sent between processes."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from incc.report import types as t  # takes as long to import as all else that a server needs at its start


PREPROCESSED = (".S", ".sx")
"""The endings of assembly that the compiler preprocesses."""


class EditorSettings(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """The settings of a workspace. Empty ones are those of the project's incc.toml."""

    cores: tuple[str, ...] = ()
    """The cores to analyse for; empty for the target of the file's command."""
    compiler: str = ""
    """The compiler in place of the command's; with arguments if it needs any."""
    flags: tuple[str, ...] = ()
    """Flags that are added to the command."""
    also: tuple[str, ...] | None = None
    """Other ways to compile, shown too: a compiler, flags that are added, or both, as in "clang-19 -O2"; None for those
    of incc.toml."""
    where: str = ""
    """The condition of docs/filters.md that a loop must meet to be shown; empty for all loops."""
    compilation_database: str = ""
    """The folder of compile_commands.json; empty to search for it."""
    trust: bool = False
    """Run the compilers and options of the compilation database even if they could run other programs."""


class EditedFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file as an editor has it, and how to analyse it."""

    path: str
    """The absolute path."""
    text: str
    settings: EditorSettings = EditorSettings()
    also: str = ""
    """The entry of `EditorSettings.also` to compile for; empty for the file's own command."""
    added: tuple[str, ...] = ()
    """Flags that are tried."""


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """The analysis of a file."""

    report: t.AnalysisReport | None = None
    """The report, with a unit for each core; None if there is none."""
    also: tuple[str, ...] = ()
    """The other ways to compile that the settings or incc.toml name."""
    problem: str = ""
    """The reason why there is no report, in one line."""
    notes: tuple[str, ...] = ()
    """Remarks on settings, commands and models."""


class TrialRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A trial of flags."""

    file: EditedFile
    """The file, with the flags in `added`."""
    report: t.AnalysisReport
    """The report without these flags."""


class TrialAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of a trial."""

    trials: tuple[t.Trial, ...] = ()
    """The trial for each core."""
    problem: str = ""


def words_of(text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the compiler with its arguments, and the flags, of an entry such as "clang-19 -O2".

    Raises ValueError if a quote is not closed.
    """
    words = shlex.split(text)
    flags = next((n for n, word in enumerate(words) if word.startswith("-")), len(words))
    return tuple(words[:flags]), tuple(words[flags:])
