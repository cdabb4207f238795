"""Commands: the records from which their parsers, help, manual pages and completion are made."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import msgspec

from incc.driver.cli.kinds import MCA, PREFIXES, WRAPPER, Option

if TYPE_CHECKING:
    import argparse

HELP = Option("--help[=man|bash|zsh]", "mode", "show this help, the manual page, or completion", aliases=("-h",))
VERSION = Option("--version", "flag", "show the version")
"""Options of every command."""

WIDTH = 120
COLUMN = 30
"""The column of the help texts. Options that leave less than two spaces before it get a line of their own."""

NAMES = (
    "incc",
    "incc-mca",
    "incc-scan",
    "incc-diff",
    "incc-db",
    "incc-model",
    "incc-bench",
    "incc-build",
    "incc-lsp",
    "incc-report",
    "incc-run",
    "incc-web",
)
"""The names of all commands."""

ENVIRONMENT = (("INCC_MODEL_PATH", "folders and files of models separated by colons, after those of the option"),)
"""Environment variables of every command, with their meanings."""


class OptionGroup(msgspec.Struct, frozen=True):
    """A group of options in the help."""

    heading: str
    options: tuple[Option, ...]


def group(heading: str, *options: Option) -> OptionGroup:
    """Return a group of options."""
    return OptionGroup(heading, options)


class Command(msgspec.Struct, frozen=True, kw_only=True):
    """A command, or a sub-command of one."""

    name: str
    """The name as written on a command line; for a sub-command with those of the commands above it."""
    summary: str
    """The first line of the manual page, or the text of a sub-command in the list of all."""
    usage: tuple[str, ...] = ()
    """The ways to call the command; empty to list its operands."""
    about: tuple[str, ...] = ()
    """Paragraphs before the options; empty for the summary."""
    groups: tuple[OptionGroup, ...] = ()
    after: tuple[str, ...] = ()
    """Paragraphs after the options."""
    examples: tuple[str, ...] = ()
    """Lines of examples."""
    environment: tuple[tuple[str, str], ...] = ()
    """Environment variables and their meanings."""
    status: str = ""
    """The meanings of exit statuses; empty for a sub-command."""
    commands: tuple[Command, ...] = ()
    """The sub-commands."""
    everywhere: tuple[Option, ...] = ()
    """Options that a command and its sub-commands accept."""
    hidden: tuple[Option, ...] = ()
    """Former spellings, which are accepted but not shown."""
    run: Callable[[argparse.Namespace], int] | None = None
    """Runs a sub-command and returns its exit status."""
    extend: Callable[[argparse.ArgumentParser], None] | None = None
    """Adds options that only the part of the program that uses them knows."""
    abbreviations: bool = True
    """Accept the unambiguous beginning of an option's name."""

    def all_groups(self) -> list[OptionGroup]:
        """Return the groups of options and operands that the help shows."""
        groups = [*self.groups, OptionGroup("", self.everywhere)]
        if self.extend:
            groups.append(OptionGroup("", _declared(self.extend)))
        if self.status and self.name not in PREFIXES:
            groups.append(OptionGroup("", (HELP, VERSION)))
        return [group for group in groups if group.options]

    def synopsis(self) -> tuple[str, ...]:
        """Return the ways to call the command."""
        options = [option for group in self.all_groups() for option in group.options]
        operands = [option.syntax for option in options if option.kind == "operand"]
        return self.usage or (" ".join([self.name, "[options]", *operands, *["COMMAND"] * bool(self.commands)]),)

    def description(self) -> tuple[str, ...]:
        """Return the paragraphs before the options."""
        return self.about or (f"{self.summary[0].upper()}{self.summary[1:]}.",)


def command_lines(command: Command, words: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Command]]:
    """Yield a command without sub-commands, else each of its sub-commands, with the words that choose it."""
    if not command.commands:
        yield words, command
    for each in command.commands:
        yield from command_lines(each, (*words, each.name.rpartition(" ")[2]))


def _declared(extend: Callable[[argparse.ArgumentParser], None]) -> tuple[Option, ...]:
    """Return the options that a function adds to a parser."""
    import argparse

    parser = argparse.ArgumentParser(add_help=False)
    extend(parser)
    declared = []
    for action in parser._actions:
        *aliases, name = action.option_strings or [""]
        kind = "operand" if not name else "flag" if action.nargs == 0 else "text"
        value = "" if kind == "flag" else f" {action.metavar}" if name else f"{action.metavar}…"
        declared.append(Option(f"{name}{value}", kind, action.help or "", aliases=tuple(aliases), into=action.dest))
    return tuple(declared)


class HelpEntry(msgspec.Struct, frozen=True):
    """An entry of the help: one option, or several that share a text."""

    heads: tuple[str, ...]
    """The options as written, with their values."""
    text: str


def entries(command: Command, options: Sequence[Option]) -> Iterator[HelpEntry]:
    """Yield the entries of options in a command's help; each text ends with the option's other names."""
    heads: list[str] = []
    for option in options:
        if option.kind == "operand" and not option.help:
            continue  # the usage shows it
        first, *others = written(option, command.name)
        heads.append(first)
        text = (option.wrapper_help if command.name == WRAPPER else "") or option.help
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
    if command not in PREFIXES:
        return [option.name, *option.aliases]
    spelled = []
    for name in (option.name, *option.aliases):
        dashes = ("--" if len(name) > 1 else "-") if command == MCA else PREFIXES[command]
        spelled.append(name if name.startswith("-") else dashes + name)
    return spelled


def help_text(command: Command) -> str:
    """Return the help of a command, in lines of at most WIDTH columns."""
    lines = usage_lines(command)
    for paragraph in command.description():
        lines += ["", *_wrapped(paragraph)]
    listed = [(group.heading, list(entries(command, group.options))) for group in command.all_groups()]
    if command.commands:
        inner = [HelpEntry((each.name.rpartition(" ")[2],), each.summary) for each in command.commands]
        listed.append(("commands", inner))
    for heading, shown in listed:
        if shown:
            lines += ["", heading] if heading else [""]
        for entry in shown:
            lines += _aligned(", ".join(entry.heads), entry.text)
    for paragraph in command.after:
        lines += ["", *_wrapped(paragraph)]
    if command.examples:
        lines += ["", "examples", *(f"  {line}" for line in command.examples)]
    if command.environment:
        lines += ["", "environment"]
    for variables, text in command.environment:
        lines += _aligned(variables, text)
    if command.status:
        lines += ["", *_wrapped(f"exit status: {command.status}")]
    return "".join(f"{line}\n" for line in lines)


def usage_lines(command: Command) -> list[str]:
    """Return the first lines of the help."""
    first, *others = command.synopsis()
    return [f"usage: {first}", *(f"       {line}" for line in others)]


def _aligned(head: str, text: str) -> list[str]:
    if len(head) + 4 > COLUMN:
        return [*_wrapped(head, "  ", "  "), *_wrapped(text, " " * COLUMN, " " * COLUMN)]
    return _wrapped(text, f"  {head}".ljust(COLUMN), " " * COLUMN)


def _wrapped(text: str, first: str = "", indent: str = "") -> list[str]:
    """Break a text at spaces into lines of at most WIDTH columns."""
    return textwrap.wrap(
        text, WIDTH, initial_indent=first, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )
