"""The help of the commands, laid out from the table of options; what else there is to say is in COMMANDS."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from incc.driver.cli.options import MCA, PREFIXES, WRAPPER, options_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from incc.driver.cli.options import Option

WIDTH = 120
# Where an option's text begins; options that leave less than two blanks before it have a line of their own.
COLUMN = 30


class Command(msgspec.Struct, frozen=True, kw_only=True):
    """What the help of a command says beside its options.

    `summary`: what it does, for the first line of its manual page. `about`: paragraphs in front of the options.
    `groups`: the groups of options in order, with their headings. `after`: paragraphs behind them. `environment`: pairs
    of variables and what they do. `status`: what exit statuses mean.
    """

    usage: str
    summary: str
    about: tuple[str, ...]
    groups: tuple[tuple[str, str], ...]
    after: tuple[str, ...]
    environment: tuple[tuple[str, str], ...]
    status: str


_OF_ALL = (("INCC_MODEL_PATH", "folders and files of models, with colons between them, after those of the option"),)

COMMANDS = {
    MCA: Command(
        usage="incc-mca [options] [FILE]",
        summary="cycles of loops in assembly, and what bounds them",
        about=(
            "Analyse the assembly in FILE (standard input for - or none): its marked regions (markers of OSACA, "
            "llvm-mca or IACA), or without any the whole file as one region. Of an object or executable: what is "
            "between IACA's byte markers, or without any the innermost loops. Options may be written with one dash or "
            "two.",
        ),
        groups=(
            ("analyse", "what to analyse"),
            ("show", "what to show"),
            ("write", "what to write; each FILE may be a folder, which gets a file named after the input"),
            ("other", ""),
        ),
        after=(),
        environment=_OF_ALL,
        status="0; 1 if the input could not be read, or not all of it, or a file not be written; 2 for a mistake on "
        "the command line",
    ),
    WRAPPER: Command(
        usage="incc ARGS…",
        summary="run a compiler, and report on the loops of what it compiled",
        about=(
            "Runs the compiler with ARGS, and with --analyze reports on the innermost loops of what was compiled: how "
            "many cycles an iteration takes, and what bounds it. Without any of the options below (or INCC_ANALYZE) it "
            "only runs the compiler.",
            "The compiler is $INCC_CC, else --incc-cc=NAME, else what incc was called by (a link incc-gcc, "
            "incc-clang++-19, incc-gfortran … to incc), else cc.",
        ),
        groups=(
            ("write", "what to write; each FILE may be a folder, which gets a file for each compilation"),
            ("analyse", "what to analyse"),
            ("show", "what to show, beside what is shown anyway"),
            ("other", ""),
        ),
        after=(
            "Every --analyze-… option asks for the analysis; --emit-marked alone writes no report.",
            "-Wincc warns where marks in the source (// incc: analyze expect(cycles <= 2), docs/source-marks.md) "
            "expect something else than what is predicted, also without a report; -Werror=incc does so as an error, "
            "after the object is written; -Wno-incc and -Wno-error=incc take that back.",
        ),
        environment=(
            ("INCC_ANALYZE=1|FILE", "as --analyze; reports are added to FILE"),
            (
                "INCC_OUTPUT=FILE|FOLDER",
                "where reports go: added to FILE, or one file for each compilation in FOLDER",
            ),
            (
                "INCC_FORMAT, INCC_MCPU, INCC_FUNCTION, INCC_STRICT",
                "as the options; INCC_FUNCTION may name several, with blanks between them",
            ),
            (
                "INCC_OPTIONS",
                "more of the options above, with blanks between them and quotes as in a shell; they say how to "
                "analyse, not that",
            ),
            (
                "INCC_MODE=lean|full",
                "as --analyze-mode; lean where only the environment asks",
            ),
            ("INCC_CC", "the compiler"),
            *_OF_ALL,
            ("INCC_DEBUG=1", "a traceback where the analysis fails"),
        ),
        status="the compiler's; 1 with --analyze-strict if the analysis fails, and with -Werror=incc if what the "
        "source expects is not so; 2 for a mistake in the options",
    ),
}


class Entry(msgspec.Struct, frozen=True):
    """What the help says of an option, or of several that share an explanation: how they are written, and that."""

    heads: tuple[str, ...]
    text: str


def entries(command: str, group: str) -> Iterator[Entry]:
    """The entries of a group in a command's help, in the table's order; other names of an option are at the end."""
    heads: list[str] = []
    for option in options_of(command):
        if option.group != group:
            continue
        first, *others = written(option, command)
        heads.append(first)
        text = (option.wrapper_help if command == WRAPPER else "") or option.help
        if text:
            text += f" (also: {', '.join(others)})" if others else ""
            yield Entry(tuple(heads), text)
            heads = []


def written(option: Option, command: str) -> list[str]:
    """How an option is written, with its value; its other names follow without it."""
    first, *others = names(option, command)
    return [first + (option.value if len(first) > 2 else option.value.replace("=", " ")), *others]


def names(option: Option, command: str) -> list[str]:
    """An option's names with what stands before them: for incc-mca two dashes, or one before a single letter."""
    found = []
    for name in (option.name, *option.aliases):
        dashes = ("--" if len(name) > 1 else "-") if command == MCA else PREFIXES[command]
        found.append(name if name.startswith("-") else dashes + name)
    return found


def help_text(command: str) -> str:
    """The help of a command, in lines of at most WIDTH columns."""
    about = COMMANDS[command]
    lines = [f"usage: {about.usage}"]
    for paragraph in about.about:
        lines += ["", *_wrapped(paragraph, "", "")]
    for group, heading in about.groups:
        lines += ["", heading] if heading else [""]
        for entry in entries(command, group):
            lines += _aligned(", ".join(entry.heads), entry.text)
    for paragraph in about.after:
        lines += ["", *_wrapped(paragraph, "", "")]
    lines += ["", "environment"]
    for variables, text in about.environment:
        lines += _aligned(variables, text)
    lines += ["", *_wrapped(f"exit status: {about.status}", "", "")]
    return "".join(f"{line}\n" for line in lines)


def _aligned(head: str, text: str) -> list[str]:
    if len(head) + 4 > COLUMN:
        return [*_wrapped(head, "  ", "  "), *_wrapped(text, " " * COLUMN, " " * COLUMN)]
    return _wrapped(text, f"  {head}".ljust(COLUMN), " " * COLUMN)


def _wrapped(text: str, first: str, indent: str) -> list[str]:
    """The text in lines of at most WIDTH columns, broken at blanks."""
    lines, line, empty = [], first, True
    for word in text.split():
        if not empty and len(line) + 1 + len(word) > WIDTH:
            lines.append(line)
            line, empty = indent, True
        line = f"{line}{'' if empty else ' '}{word}"
        empty = False
    return [*lines, line]
