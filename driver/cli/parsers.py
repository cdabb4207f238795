"""Parsers of all commands but `incc` and `incc-mca`, whose options are in `options.py`.

A command's help, completion and manual page come from its parser.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Any

from incc.driver.cli.options import ENVIRONMENT

HELP = "show this help (=man: manual; =bash, =zsh: completion)"


def positive(text: str, most: int = 0) -> int:
    """Return an option's value as a number from 1 to `most` (0: no limit). Raises ArgumentTypeError."""
    if not (text.isascii() and text.isdigit() and len(text) < 10) or not 0 < int(text) <= (most or int(text)):
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a " + (f"number from 1 to {most}" if most else "positive number")
        )
    return int(text)


class Parser(argparse.ArgumentParser):
    """The parser of a command, or of one of its sub-commands.

    Args:
        summary: The first line of the manual page; only the parser of a whole command has one.
        examples: Lines of examples, which are not filled.
        status: The meanings of exit statuses.
        environment: Variables and their meanings.
        settings: Arguments of `argparse.ArgumentParser`.
    """

    HELP_VALUES = ("man", "bash", "zsh")

    def __init__(
        self,
        *,
        summary: str = "",
        examples: str = "",
        status: str = "",
        environment: Sequence[tuple[str, str]] = (),
        **settings: Any,
    ) -> None:
        self.summary = summary
        self.status = status
        self.examples = examples
        self.environment = (*environment, *(ENVIRONMENT if summary else ()))
        if status:
            epilog = f"exit status: {status}"
            settings["epilog"] = f"examples:\n{examples}\n{epilog}" if examples else epilog
        super().__init__(**settings, add_help=False)
        self.add_argument("-h", "--help", action="help", help=HELP if summary else "show this help")

    def complete(self) -> None:
        """Add options that are expensive to load; a sub-command may override this."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse arguments like argparse; print the output of `--help=man` etc. and exit, even if others are invalid."""
        if self.summary:
            words = list(sys.argv[1:] if args is None else args)
            for word in words[: words.index("--")] if "--" in words else words:
                name, _, wanted = word.partition("=")
                if name == "--help" and wanted in self.HELP_VALUES:
                    from incc.driver.cli.completion import script
                    from incc.driver.cli.help import write

                    sys.exit(write(page(self) if wanted == "man" else script()))
        return super().parse_known_args(args, namespace)


def page(parser: Parser) -> str:
    """Return the manual page of a command."""
    from incc.driver.cli import manual

    usage = parser.format_usage().removeprefix("usage: ")
    # A usage written by hand has a line for each way to call the command.
    synopsis = usage.splitlines() if parser.usage else [usage]
    about = [(parser.description or "").replace("\n", " ")]
    return manual.whole(
        parser.prog,
        parser.summary,
        synopsis,
        about,
        _options(parser),
        parser.examples.splitlines(),
        parser.environment,
        parser.status,
    )


def _options(parser: argparse.ArgumentParser) -> list[str]:
    """Return the options of a parser by group, and those of its sub-commands, in troff."""
    from incc.driver.cli import manual

    if isinstance(parser, Parser):
        parser.complete()
    lines: list[str] = []
    formatter = parser._get_formatter()
    commands: list[argparse._SubParsersAction[argparse.ArgumentParser]] = []
    for group in parser._action_groups:
        shown = []
        for action in group._group_actions:
            if isinstance(action, argparse._SubParsersAction):
                commands.append(action)
            elif isinstance(action, argparse._HelpAction) and not (isinstance(parser, Parser) and parser.summary):
                continue  # all sub-commands have it
            elif action.help != argparse.SUPPRESS and (action.help or action.option_strings):
                shown += manual.tagged(
                    formatter._format_action_invocation(action), formatter._expand_help(action) if action.help else ""
                )
        if shown:
            lines += [manual.heading(group.title or "options"), *shown]
    for action in commands:
        texts = {choice.dest: choice.help or "" for choice in action._choices_actions}
        for name, inner in action.choices.items():
            within = _within(inner)  # first, since it completes the usage
            usage = " ".join(inner.format_usage().removeprefix("usage: ").split())
            lines += [manual.heading(inner.prog), *([manual.plain(f"{texts[name]}.")] if texts.get(name) else [])]
            lines += [".PP", manual.plain(usage), *within]
    return lines


def _within(parser: argparse.ArgumentParser) -> list[str]:
    """Return the options of a sub-command without headings, since the sub-command has one."""
    from incc.driver.cli import manual

    return [
        line
        for line in _options(parser)
        if line not in (manual.heading("options"), manual.heading("positional arguments"))
    ]
