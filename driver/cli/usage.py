"""The help of `incc` and `incc-mca`, from the table of options and from COMMANDS."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from incc.driver.cli.options import ENVIRONMENT, MCA, PREFIXES, WRAPPER, options_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from incc.driver.cli.options import Option

WIDTH = 120
COLUMN = 30
"""The column of the help texts. Options that leave less than two spaces before it get a line of their own."""


class CommandHelp(msgspec.Struct, frozen=True, kw_only=True):
    """The parts of a command's help apart from its options."""

    usage: str
    summary: str
    """The first line of the manual page."""
    about: tuple[str, ...]
    """Paragraphs before the options."""
    groups: tuple[tuple[str, str], ...]
    """The groups of options and their headings, in order."""
    after: tuple[str, ...]
    """Paragraphs after the options."""
    environment: tuple[tuple[str, str], ...]
    """Environment variables and their meanings."""
    status: str
    """The meanings of exit statuses."""


COMMANDS = {
    MCA: CommandHelp(
        usage="incc-mca [options] [FILE]",
        summary="predict the cycles of loops in assembly and their bottlenecks",
        about=(
            "Analyse the assembly in FILE (default: standard input): the regions marked for OSACA, llvm-mca or IACA, "
            "or the whole file if there are no markers. In an object or executable, analyse the regions between "
            "IACA's byte markers, or the innermost loops. Options may have one dash or two.",
        ),
        groups=(
            ("analyse", "what to analyse"),
            ("show", "what to show"),
            ("write", "what to write (if FILE is a folder: to a file in it named after the input)"),
            ("other", ""),
        ),
        after=(),
        environment=ENVIRONMENT,
        status="0; 1 if some input could not be read or a file could not be written; 2 for a mistake on the command "
        "line",
    ),
    WRAPPER: CommandHelp(
        usage="incc ARGS…",
        summary="run a compiler and report on the loops that it compiled",
        about=(
            "Run the compiler with ARGS. With --analyze, report the cycles per iteration and the bottleneck of each "
            "innermost loop. Without any of the options below (or INCC_ANALYZE), only run the compiler.",
            "The compiler is $INCC_CC, else --incc-cc=NAME, else the one that the name of incc ends in (a link "
            "incc-gcc, incc-clang++-19, incc-gfortran … to incc), else cc.",
        ),
        groups=(
            ("write", "what to write (if FILE is a folder: to a file in it for each compilation)"),
            ("analyse", "what to analyse"),
            ("show", "what to show in addition"),
            ("other", ""),
        ),
        after=(
            "Every --analyze-… option turns the analysis on; --emit-marked alone writes no report.",
            "-Wincc warns if a prediction does not meet the expectation of a mark in the source (// incc: analyze "
            "expect(cycles <= 2), docs/source-marks.md), even without a report. -Werror=incc turns these warnings into "
            "errors, after the object is written. -Wno-incc and -Wno-error=incc undo this.",
        ),
        environment=(
            ("INCC_ANALYZE=1|FILE", "like --analyze; reports are appended to FILE"),
            ("INCC_OUTPUT=FILE|FOLDER", "append reports to FILE, or write one for each compilation to FOLDER"),
            (
                "INCC_FORMAT, INCC_MCPU, INCC_FUNCTION, INCC_STRICT, INCC_LTO",
                "like the options; INCC_FUNCTION may name several functions, separated by spaces",
            ),
            ("INCC_OPTIONS", "further options, quoted as in a shell; they change the analysis but do not turn it on"),
            (
                "INCC_MODE=lean|full",
                "like --analyze-mode (default: lean if only the environment turns the analysis on)",
            ),
            ("INCC_CC", "compiler to run"),
            *ENVIRONMENT,
            ("INCC_DEBUG=1", "print a traceback if the analysis fails"),
        ),
        status="the compiler's; 1 if the analysis fails with --analyze-strict or an expectation with -Werror=incc; 2 "
        "for a mistake in the options",
    ),
}


class HelpEntry(msgspec.Struct, frozen=True):
    """An entry of the help: one option, or several that share a text."""

    heads: tuple[str, ...]
    """The options as written, with their values."""
    text: str


def entries(command: str, group: str) -> Iterator[HelpEntry]:
    """Yield the entries of a group in a command's help; each text ends with the option's other names."""
    heads: list[str] = []
    for option in options_of(command, group):
        first, *others = written(option, command)
        heads.append(first)
        text = (option.wrapper_help if command == WRAPPER else "") or option.help
        if text:
            text += f" (also: {', '.join(others)})" if others else ""
            yield HelpEntry(tuple(heads), text)
            heads = []


def written(option: Option, command: str) -> list[str]:
    """Return an option with its value as written, and its other names without it."""
    first, *others = names(option, command)
    return [first + (option.value if len(first) > 2 else option.value.replace("=", " ")), *others]


def names(option: Option, command: str) -> list[str]:
    """Return an option's names with their prefix: for incc-mca two dashes, or one before a single letter."""
    spelled = []
    for name in (option.name, *option.aliases):
        dashes = ("--" if len(name) > 1 else "-") if command == MCA else PREFIXES[command]
        spelled.append(name if name.startswith("-") else dashes + name)
    return spelled


def help_text(command: str) -> str:
    """Return the help of a command, in lines of at most WIDTH columns."""
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
    """Break a text at spaces into lines of at most WIDTH columns."""
    lines, line, empty = [], first, True
    for word in text.split():
        if not empty and len(line) + 1 + len(word) > WIDTH:
            lines.append(line)
            line, empty = indent, True
        line = f"{line}{'' if empty else ' '}{word}"
        empty = False
    return [*lines, line]
