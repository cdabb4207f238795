"""Parsers of all commands but `incc` and `incc-mca`, made from their tables of options."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

from incc.driver.cli.command import HELP, VERSION, Command, help_text, usage_lines
from incc.driver.cli.kinds import MANY, Option, read_value
from incc.driver.messages import guarded, tell
from incc.support.errors import suggestion
from incc.support.version import __version__

if TYPE_CHECKING:
    from incc.driver.settings import Settings


def run(
    command: Command,
    arguments: Sequence[str] | None,
    work: Callable[[argparse.Namespace], int],
    errors: tuple[type[Exception], ...] = (),
    failed: int = 2,
    prints: bool = True,
) -> int:
    """Parse a command line (None for that of the process), do the work, and return the exit status.

    The other arguments are those of `messages.guarded`.
    """
    return guarded(command.name, lambda: work(Parser(command).parse_args(arguments)), errors, failed, prints)


def settings_of(command: Command, options: argparse.Namespace, settings: Settings) -> Settings:
    """Return the settings with the values of a command's options."""
    from incc.driver.settings import with_values

    values = {
        option.sets: getattr(options, option.destination)
        for group in command.groups
        for option in group.options
        if option.sets
    }
    return with_values(settings, {name: tuple(v) if isinstance(v, list) else v for name, v in values.items()})


class Parser(argparse.ArgumentParser):
    """The parser of a command, or of one of its sub-commands."""

    def __init__(self, command: Command, **_: Any) -> None:  # argparse names sub-commands itself
        super().__init__(prog=command.name, add_help=False, allow_abbrev=command.abbreviations)
        self.command = command
        self._is_extended = False
        self._is_intermixed = False
        self.add_argument("-h", "--help", action="help")
        if command.status:
            self.add_argument(VERSION.name, action="version", version=f"{command.name} {__version__}")
        for group in command.groups:
            self.add_options(group.options)
        self.add_options(command.hidden)
        # Sub-commands have no default, which would override a value before their names.
        self.add_options(command.everywhere, **({} if command.status else {"default": argparse.SUPPRESS}))
        if command.run:
            self.set_defaults(run=command.run)
        if not command.commands:
            return
        self.set_defaults(run=self._show_usage)
        inner = self.add_subparsers(metavar="COMMAND")
        for each in command.commands:
            inner.add_parser(each.name.rpartition(" ")[2], command=each)

    def add_options(self, options: Iterable[Option], **more: Any) -> None:
        """Add options and operands."""
        alternatives: dict[str, Any] = {}
        for option in options:
            parser: Any = self
            if option.excludes:
                parser = alternatives.setdefault(option.excludes, self.add_mutually_exclusive_group())
            names = [option.into] if option.kind in ("operand", "rest") else [option.name, *option.aliases]
            parser.add_argument(*names, **{**_settings(option), **more})

    def _show_usage(self, _: argparse.Namespace) -> int:
        self.print_usage(sys.stderr)
        return 2

    def format_usage(self) -> str:
        return "".join(f"{line}\n" for line in usage_lines(self.command))

    def format_help(self) -> str:
        return help_text(self.command)

    def error(self, message: str) -> NoReturn:
        for pattern, text in _REWORDED:
            message = re.sub(pattern, text, message)
        self.exit(2, f"{self.prog}: error: {message}; see {self.prog} --help\n")

    def _print_message(self, message: str, file: Any = None) -> None:
        if file is not sys.stdout:
            tell(message)
        else:
            from incc.driver.cli.help import write

            if status := write(message):
                sys.exit(status)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        names = [] if action.choices is None else list(action.choices)
        if not names or value in names:
            return
        if self.command.commands:
            near = suggestion(value, names, otherwise=f"; there are {', '.join(names)}")
            self.error(f"unknown command {value!r}{near}")
        self.error(f"{value!r} is not one of {', '.join(names)}")

    def _refuse(self, rest: Sequence[str]) -> None:
        """Exit with an error if there are arguments that nothing has read."""
        if not rest:
            return
        name = rest[0].partition("=")[0]
        if not name.startswith("-"):
            self.error(f"unexpected argument {rest[0]!r}")
        from incc.driver.cli.usage import others_with

        known = [option for option in self._option_string_actions if option.startswith("--")]
        self.error(f"unknown option {name}{others_with(name) or suggestion(name, known)}")

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse arguments like argparse; print the output of `--help=man` etc. and exit, even if others are invalid.

        Raises UsageError for an invalid value.
        """
        if self.command.extend and not self._is_extended:
            self._is_extended = True
            self.command.extend(self)
        if self.command.status:
            words = list(sys.argv[1:] if args is None else args)
            for word in words[: words.index("--")] if "--" in words else words:
                name, _, wanted = word.partition("=")
                if name == "--help" and wanted in HELP.choices():
                    from incc.driver.cli.help import print_help

                    sys.exit(print_help(self.command, wanted))
        parsed = super().parse_known_args(args, namespace)
        if self._is_intermixed or namespace is not None:
            return parsed
        if parsed[1] and not self._has_rest():
            # Operands may follow options that follow other operands.
            self._is_intermixed = True
            parsed = self.parse_known_intermixed_args(args)
        self._refuse([word for word in parsed[1] if word != "--"])
        return parsed[0], []

    def _has_rest(self) -> bool:
        """Return True if the parser has sub-commands, or an operand that takes all further arguments."""
        kinds = {option.kind for group in self.command.groups for option in group.options}
        return bool(self.command.commands) or "rest" in kinds


def _settings(option: Option) -> dict[str, Any]:
    """Return the arguments of `add_argument` for an option or operand."""
    value, kind = option.value, option.kind
    settings: dict[str, Any] = {"dest": option.into} if option.into and kind not in ("operand", "rest") else {}
    if kind == "flag" and option.stands_for:
        return {**settings, "action": "store_const", "const": option.stands_for, "default": argparse.SUPPRESS}
    if kind == "flag":
        return {**settings, "action": "store_false" if option.default else "store_true"}
    settings["default"] = option.default
    if kind == "rest":
        return {"nargs": argparse.REMAINDER}
    if kind == "operand":
        settings["metavar"] = option.syntax.strip("[…]")
        many = option.syntax.endswith(("…", "…]"))
        optional = option.syntax.startswith("[")
        if many or optional:
            settings["nargs"] = ("*" if optional else "+") if many else "?"
        if many:
            settings["default"] = []
        if option.syntax.islower():  # words that stand for themselves
            settings["choices"] = option.syntax.strip("[]").split("|")
        return settings
    if isinstance(option.default, str):
        settings["default"] = _Default(option.default)
    if kind in MANY:
        settings |= {"action": "append", "default": None if option.default is None else []}
    if value.startswith("["):
        settings |= {"nargs": "?", "const": _Default()}
    elif value.endswith("…"):
        settings["nargs"] = "+"
    return {**settings, "type": partial(_read, option), "required": option.required}


class _Default(str):
    """A default value, to tell it from the same value on a command line: argparse reads defaults, too."""


def _read(option: Option, text: str) -> Any:
    return str(text) if isinstance(text, _Default) else read_value(option, option.name, text)


_REWORDED = (
    (r"argument -h/--help: ignored explicit argument .*", f"--help takes {' or '.join(HELP.choices())}, or no value"),
    (r"argument ([^/: ]+)\S*: ignored explicit argument .*", r"\1 takes no value"),
    (r"argument ([^/: ]+)\S*: not allowed with argument ([^/ ]+).*", r"\2 and \1 cannot be combined"),
    (r"argument ([^/: ]+)\S*: expected .*", r"\1 needs a value"),
    (r"the following arguments are required: ([^/ ,]+).*", r"\1 is required"),
)
"""Patterns of argparse's messages, and messages in their place."""
