"""Mistakes and warnings that an assembler finds in a text, each with its place."""

from __future__ import annotations

from typing import Literal

import msgspec

LINE_MARKER = r'#[ \t]+(\d+)[ \t]+"([^"]*)"'
"""A line that says which line of which file the next one is, as preprocessors write it."""


class Diagnostic(msgspec.Struct, frozen=True, kw_only=True):
    """A mistake that LLVM finds, or a warning."""

    line: int
    """The line of the text that leads to it, from 1: for an included file that of the directive."""
    column: int
    """The column in bytes, from 1."""
    kind: Literal["error", "warning"]
    message: str
    source: str
    """The line that `column` counts in."""
    file: str = ""
    """The file that a line marker or `.include` names, "" for the text itself."""
    file_line: int = 0
    """The line in `file`."""


class Reading(msgspec.Struct, frozen=True):
    """An assembler's reading of a text."""

    diagnostics: list[Diagnostic]
    text: str
    """The text without the statements at fault, with repetitions, macros and conditions carried out, and with its
    comments; "" if the assembler does not write text, or could not read it to the end."""
    remaining: str
    """The text without the statements at fault, otherwise as it was, with included files in which there are some."""
