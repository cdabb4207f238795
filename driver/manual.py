"""A command's manual page, in troff's language (man(7)), made from the table of options: `incc-mca --help=man`."""

from __future__ import annotations

from incc import __version__
from incc.driver.usage import COMMANDS, entries

SEE_ALSO = ("incc", "incc-mca", "incc-scan", "incc-diff", "incc-db", "incc-model", "incc-bench")


def page(command: str) -> str:
    """The manual page of a command, for `man -l` or share/man/man1."""
    about = COMMANDS[command]
    lines = [
        f'.TH {_macro(command.upper())} 1 "" {_macro(f"incc {__version__}")} "User commands"',
        # Names of options are searched for and copied: they are not to be divided.
        ".nh",
        ".SH NAME",
        f"{_text(command)} \\- {_text(about.summary)}",
        ".SH SYNOPSIS",
        _text(about.usage),
        ".SH DESCRIPTION",
    ]
    for number, paragraph in enumerate(about.about):
        lines += [".PP"] * (number > 0) + [_text(paragraph)]
    lines.append(".SH OPTIONS")
    for group, heading in about.groups:
        lines.append(f".SS {_macro(heading)}" if heading else ".SS other")
        for entry in entries(command, group):
            lines += _tagged(", ".join(entry.heads), entry.text)
    for paragraph in about.after:
        lines += [".PP", _text(paragraph)]
    lines.append(".SH ENVIRONMENT")
    for variables, text in about.environment:
        lines += _tagged(variables, text)
    lines += [".SH EXIT STATUS", _text(about.status)]
    others = ", ".join(f"\\fB{_text(name)}\\fR(1)" for name in SEE_ALSO if name != command)
    lines += [".SH SEE ALSO", others]
    return "".join(f"{line}\n" for line in lines)


def _tagged(tag: str, text: str) -> list[str]:
    return [".TP", f"\\fB{_text(tag)}\\fR", _text(text)]


def _text(text: str) -> str:
    """A line of text: nothing in it is a macro or an escape, and its dashes can be searched for and copied."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    escaped = escaped.replace("'", "\\(aq").replace("`", "\\(ga").replace("^", "\\(ha").replace("~", "\\(ti")
    return f"\\&{escaped}" if escaped.startswith(".") else escaped


def _macro(text: str) -> str:
    """An argument of a macro."""
    return '"' + _text(text).replace('"', "\\(dq") + '"'
