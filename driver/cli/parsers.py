"""Parsers of the commands whose options are not those of the analysis (`options.py` has these).

Help, completion and manual page of such a command all come from its parser; what a manual page says beside the
options is given to the parser as well.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

HELP = "this text; or the manual page (--help=man), or completion for shells (--help=bash, --help=zsh)"

_MODELS = ("INCC_MODEL_PATH", "folders and files of models, with colons between them, after those of the option")


def positive(text: str, most: int = 0) -> int:
    """Return an option's value as a number from 1 to `most` (0: any). Raises ArgumentTypeError."""
    if not (text.isascii() and text.isdigit() and len(text) < 10) or not 0 < int(text) <= (most or int(text)):
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a " + (f"number from 1 to {most}" if most else "positive number")
        )
    return int(text)


class Parser(argparse.ArgumentParser):
    """A command's parser, or that of one of its sub-commands.

    `summary`: what the command does, for the first line of its manual page; only the parser of a whole command has one.
    `examples`: lines as they are. `status`: what exit statuses mean. `environment`: pairs of variables and what they
    do.
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
        self.environment = (*environment, *((_MODELS,) if summary else ()))
        if status:
            told = f"exit status: {status}"
            settings["epilog"] = f"examples:\n{examples}\n{told}" if examples else told
        super().__init__(**settings, add_help=False)
        self.add_argument("-h", "--help", action="help", help=HELP if summary else "this text")

    def complete(self) -> None:
        """Adds the options that are loaded when they are needed; nothing, unless a sub-command has some."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """As argparse does it; `--help=man` and its like print that and end, whatever stands beside them."""
        import sys

        if self.summary:
            given = list(sys.argv[1:] if args is None else args)
            own = given[: given.index("--")] if "--" in given else given
            for word in own:
                name, _, wanted = word.partition("=")
                if name == "--help" and wanted in self.HELP_VALUES:
                    from incc.driver.cli.completion import script
                    from incc.driver.cli.help import write

                    # One script is for both shells.
                    sys.exit(write(page(self) if wanted == "man" else script()))
        return super().parse_known_args(args, namespace)


def page(parser: Parser) -> str:
    """The manual page of a command."""
    from incc.driver.cli import manual

    usage = parser.format_usage().removeprefix("usage: ")
    # One that is laid out by hand has a line for each way to call the command.
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
    """The options of a parser by their groups, and those of its sub-commands."""
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
                continue  # every sub-command's, alike
            elif action.help != argparse.SUPPRESS and (action.help or action.option_strings):
                shown += manual.tagged(
                    formatter._format_action_invocation(action), formatter._expand_help(action) if action.help else ""
                )
        if shown:
            lines += [manual.heading(group.title or "options"), *shown]
    for action in commands:
        texts = {choice.dest: choice.help or "" for choice in action._choices_actions}
        for name, inner in action.choices.items():
            within = _within(inner)  # first, since it loads what the usage is to have
            usage = " ".join(inner.format_usage().removeprefix("usage: ").split())
            lines += [manual.heading(inner.prog), *([manual.plain(f"{texts[name]}.")] if texts.get(name) else [])]
            lines += [".PP", manual.plain(usage), *within]
    return lines


def _within(parser: argparse.ArgumentParser) -> list[str]:
    """The options of a sub-command, without headings of their own, since it has one."""
    from incc.driver.cli import manual

    return [
        line
        for line in _options(parser)
        if line not in (manual.heading("options"), manual.heading("positional arguments"))
    ]
