"""A command's manual page, in troff's language (man(7)), made from the table of options: `incc-mca --help=man`.

`whole` writes those of the other commands as well, whose options are in a parser (`parsers.py`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from incc.driver.cli.usage import COMMANDS, entries
from incc.support.version import __version__

if TYPE_CHECKING:
    from collections.abc import Sequence

SEE_ALSO = (
    "incc",
    "incc-mca",
    "incc-scan",
    "incc-diff",
    "incc-db",
    "incc-model",
    "incc-bench",
    "incc-build",
    "incc-report",
)


def page(command: str) -> str:
    """The manual page of a command of the table, for `man -l` or share/man/man1."""
    about = COMMANDS[command]
    options = []
    for group, title in about.groups:
        options.append(heading(title or "other"))
        for entry in entries(command, group):
            options += tagged(", ".join(entry.heads), entry.text)
    for paragraph in about.after:
        options += [".PP", plain(paragraph)]
    return whole(command, about.summary, [about.usage], about.about, options, [], about.environment, about.status)


def heading(text: str) -> str:
    return f".SS {_macro(text)}"


def whole(
    command: str,
    summary: str,
    synopsis: Sequence[str],
    about: Sequence[str],
    options: list[str],
    examples: Sequence[str],
    environment: Sequence[tuple[str, str]],
    status: str,
) -> str:
    """A page. `options` and what `heading` and `tagged` make are troff already, the rest is plain text; `examples` are
    lines that stay as they are."""
    lines = [
        f'.TH {_macro(command.upper())} 1 "" {_macro(f"incc {__version__}")} "User commands"',
        # Names of options are searched for and copied: they are not to be divided.
        ".nh",
        ".SH NAME",
        f"{plain(command)} \\- {plain(summary)}",
        ".SH SYNOPSIS",
    ]
    for number, line in enumerate(synopsis):
        lines += [".br"] * (number > 0) + [plain(" ".join(line.split()))]
    lines.append(".SH DESCRIPTION")
    for number, paragraph in enumerate(about):
        lines += [".PP"] * (number > 0) + [plain(paragraph)]
    lines += [".SH OPTIONS", *options]
    if examples:
        lines += [".SH EXAMPLES", ".nf", *map(plain, examples), ".fi"]
    lines.append(".SH ENVIRONMENT")
    for variables, text in environment:
        lines += tagged(variables, text)
    lines += [".SH EXIT STATUS", plain(" ".join(status.split()))]
    others = ", ".join(f"\\fB{plain(name)}\\fR(1)" for name in SEE_ALSO if name != command)
    lines += [".SH SEE ALSO", others]
    return "".join(f"{line}\n" for line in lines)


def tagged(tag: str, text: str) -> list[str]:
    return [".TP", f"\\fB{plain(tag)}\\fR", plain(text)]


def plain(text: str) -> str:
    """A line of text: nothing in it is a macro or an escape, and its dashes can be searched for and copied."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    escaped = escaped.replace("'", "\\(aq").replace("`", "\\(ga").replace("^", "\\(ha").replace("~", "\\(ti")
    return f"\\&{escaped}" if escaped.startswith(".") else escaped


def _macro(text: str) -> str:
    """An argument of a macro."""
    return '"' + plain(text).replace('"', "\\(dq") + '"'
