"""Manual pages in troff (man(7)): `incc-mca --help=man`."""

from __future__ import annotations

from incc.driver.cli.command import NAMES, Command, entries
from incc.support.version import __version__


def page(command: Command) -> str:
    """Return the manual page of a command, for `man -l` or share/man/man1."""
    name = command.name
    lines = [
        f'.TH {_macro(name.upper())} 1 "" {_macro(f"incc {__version__}")} "User commands"',
        # No hyphenation: readers search for and copy names of options.
        ".nh",
        ".SH NAME",
        f"{plain(name)} \\- {plain(command.summary)}",
        ".SH SYNOPSIS",
    ]
    for number, line in enumerate(command.synopsis()):
        lines += [".br"] * (number > 0) + [plain(line)]
    lines.append(".SH DESCRIPTION")
    for number, paragraph in enumerate(command.description()):
        lines += [".PP"] * (number > 0) + [plain(paragraph)]
    lines += [".SH OPTIONS", *_options(command)]
    for paragraph in command.after:
        lines += [".PP", plain(paragraph)]
    if command.examples:
        lines += [".SH EXAMPLES", ".nf", *map(plain, command.examples), ".fi"]
    lines.append(".SH ENVIRONMENT")
    for variables, text in command.environment:
        lines += _tagged(variables, text)
    lines += [".SH EXIT STATUS", plain(command.status)]
    others = ", ".join(f"\\fB{plain(each)}\\fR(1)" for each in NAMES if each != name)
    lines += [".SH SEE ALSO", others]
    return "".join(f"{line}\n" for line in lines)


def _options(command: Command, is_whole: bool = True) -> list[str]:
    """Return the options of a command by group, and those of its sub-commands."""
    lines = []
    for group in command.all_groups():
        shown = list(entries(command, group.options))
        if is_whole and shown:
            lines.append(f".SS {_macro(group.heading or 'other')}")
        for entry in shown:
            lines += _tagged(", ".join(entry.heads), entry.text)
    for inner in command.commands:
        summary = f"{inner.summary[0].upper()}{inner.summary[1:]}."
        lines += [f".SS {_macro(inner.name)}", plain(summary), ".PP", *map(plain, inner.synopsis())]
        lines += _options(inner, is_whole=False)
    return lines


def _tagged(tag: str, text: str) -> list[str]:
    return [".TP", f"\\fB{plain(tag)}\\fR".replace("|", "|\\:"), plain(text)]


def plain(text: str) -> str:
    """Escape a line of text, with dashes that readers can search for and copy."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    escaped = escaped.replace("'", "\\(aq").replace("`", "\\(ga").replace("^", "\\(ha").replace("~", "\\(ti")
    return f"\\&{escaped}" if escaped.startswith(".") else escaped


def _macro(text: str) -> str:
    """Quote a text as an argument of a macro."""
    return '"' + plain(text).replace('"', "\\(dq") + '"'
