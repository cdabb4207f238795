"""Shared options: every command spells the option for a job alike."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from incc.driver.cli.command import NAMES, Command
from incc.driver.cli.completion import _command
from incc.driver.cli.kinds import MCA, WRAPPER, Option

JOBS = {
    "--json",
    "--format",
    "-o",
    "-j",
    "--mcpu",
    "--model-path",
    "--function",
    "--where",
    "--top",
    "--version",
    "--help",
}

_OF_THE_MAIN_COMMAND = {"--version", "--help"}
_NO_KERNELS = {"--function", "--where", "--top"}
_CHANGES_A_DATABASE = JOBS - _OF_THE_MAIN_COMMAND

LACKING: dict[str, set[str]] = {
    "incc": {"-j"},  # one compilation
    MCA: {"-j"},  # one file
    "incc-scan": set(),
    "incc-diff": set(),
    # Measurements run one at a time, of forms.
    "incc-bench": {"-j", *_NO_KERNELS},
    # The build's output is not incc's; incc-report prints formats of the folder that -o names.
    "incc-build": {"--json", "--format"},
    # Reports name their models.
    "incc-report": {"--model-path"},
    # The sub-commands have the others.
    "incc-db": JOBS - _OF_THE_MAIN_COMMAND,
    "incc-model": JOBS - _OF_THE_MAIN_COMMAND - {"--model-path"},
    # A database has reports, whose models have names, and operands that choose commits and kernels.
    **dict.fromkeys(("incc-db add", "incc-db merge", "incc-db prune", "incc-db baseline"), _CHANGES_A_DATABASE),
    **dict.fromkeys((f"incc-db baseline {name}" for name in ("set", "get", "list", "remove")), _CHANGES_A_DATABASE),
    "incc-db list": {"-j", "--mcpu", "--model-path", "--function", "--where"},
    "incc-db show": {"-j", "--mcpu", "--model-path", *_NO_KERNELS},
    "incc-db log": {"-j", "--model-path", "--function", "--where"},
    "incc-db best": {"-j", "--model-path", "--function", "--where"},
    "incc-db export": {"-j", "--mcpu", "--model-path", "--function", "--top"},
    # Its operands are models.
    "incc-model list": {"-j", "--mcpu", *_NO_KERNELS},
    "incc-model show": {"-j", "--function", "--where"},
    "incc-model diff": {"-j", "--mcpu", *_NO_KERNELS},
    "incc-model coverage": {"-j", *_NO_KERNELS},
    "incc-model check": {"-j", "--mcpu", *_NO_KERNELS},
    # They write models.
    "incc-model make": {"-j", "--json", "--format", "--mcpu", *_NO_KERNELS},
    "incc-model import": JOBS - _OF_THE_MAIN_COMMAND - {"--model-path"},
}

SAME = {"output": "-o", "jobs": "-j", "mcpu": "--mcpu", "top": "--top", "function": "--function", "format": "--format"}
"""The name of each option by the name of its value among the parsed ones."""


def commands() -> Iterator[Command]:
    """Every command, with its sub-commands below it."""
    waiting = [_command(name) for name in NAMES]
    while waiting:
        command = waiting.pop(0)
        yield command
        waiting += [inner for inner in command.commands if not inner.name.startswith("incc-model import ")]


def spelled(command: Command) -> dict[str, Option]:
    """The options that a command shows, by their names without the prefix."""
    options = [option for group in command.all_groups() for option in group.options]
    dashes = "--" if command.name in (MCA, WRAPPER) else ""
    named: dict[str, Option] = {}
    for option in options:
        for name in (option.name, *option.aliases):
            named[name if name.startswith("-") else f"{dashes if len(name) > 1 else '-'}{name}"] = option
    return named


COMMANDS = {command.name: command for command in commands()}
each = pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)


def test_the_list_has_every_command() -> None:
    assert COMMANDS.keys() == LACKING.keys()


@each
def test_every_job_has_its_option(command: Command) -> None:
    # A sub-command leaves these to its command.
    lacking = LACKING[command.name] | (_OF_THE_MAIN_COMMAND if " " in command.name else set())
    assert JOBS - spelled(command).keys() == lacking


@each
def test_no_job_has_another_option(command: Command) -> None:
    shown = spelled(command)
    for name, option in shown.items():
        main = next(other for other, same in shown.items() if same is option)
        if option.kind in ("operand", "rest"):
            continue
        meant = SAME.get(option.destination) if option.stands_for == "" else None
        if meant and name == main:
            assert meant == name or name == "--analyze"
        if option.kind == "choice" and "json" in option.choices():
            assert main == "--format"
        if option.sets == "core.mcpu":
            assert main == "--mcpu"
        if option.sets == "scope.functions":
            assert main == "--function"
        if "condition" in option.kind:
            assert main in ("--where", "--fail-if")


@each
def test_the_options_are_alike(command: Command) -> None:
    kinds = {
        "-j": {"number", "count"},
        "--top": {"number"},
        "--function": {"list"},
        "--mcpu": {"text"},
        "--model-path": {"list"},
        "--format": {"choice"},
        "--json": {"flag", "switch"},
        "--version": {"flag"},
        "--help": {"mode"},
    }
    for name, option in spelled(command).items():
        assert name not in kinds or option.kind in kinds[name]
        if name == "-j":
            assert "all CPUs" in option.help
