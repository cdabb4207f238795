"""Manual pages in troff (man(7)): `incc-mca --help=man`.

`page` takes the options from the table of options; `parsers.py` calls `whole` for the other commands.
"""

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
    """Return the manual page of `incc` or `incc-mca`, for `man -l` or share/man/man1."""
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
    """Return a manual page.

    Args:
        command: The command's name.
        summary: The line after the name.
        synopsis: The ways to call the command.
        about: Paragraphs of the description.
        options: Lines of troff, as `heading` and `tagged` return them; all other arguments are plain text.
        examples: Lines that are not filled.
        environment: Variables and their meanings.
        status: The meanings of exit statuses.
    """
    lines = [
        f'.TH {_macro(command.upper())} 1 "" {_macro(f"incc {__version__}")} "User commands"',
        # No hyphenation: readers search for and copy names of options.
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
    """Escape a line of text, with dashes that readers can search for and copy."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    escaped = escaped.replace("'", "\\(aq").replace("`", "\\(ga").replace("^", "\\(ha").replace("~", "\\(ti")
    return f"\\&{escaped}" if escaped.startswith(".") else escaped


def _macro(text: str) -> str:
    """Quote a text as an argument of a macro."""
    return '"' + plain(text).replace('"', "\\(dq") + '"'
