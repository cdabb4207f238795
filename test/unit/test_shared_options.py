"""Shared options: every command spells the option for a job alike."""

from __future__ import annotations

import contextlib
import io
import pathlib
from collections.abc import Iterator

import pytest

from incc.driver import UsageError
from incc.driver.cli.command import NAMES, Command
from incc.driver.cli.kinds import MCA, NO_VALUE, PREFIXES, WRAPPER, Option
from incc.driver.cli.parsers import Parser
from incc.driver.cli.usage import command_of
from incc.driver.commands import mca, scan

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
    # Measurements run one at a time.
    "incc-bench": {"-j", "--where", "--top"},
    # The build's output is not incc's; incc-report prints formats of the folder that -o names.
    "incc-build": {"--json", "--format"},
    # Reports name their models.
    "incc-report": {"--model-path"},
    # One program, whose loops are those that ran.
    "incc-run": {"-j", "--function", "--where"},
    # An editor starts it, and has settings of its own.
    "incc-lsp": JOBS - _OF_THE_MAIN_COMMAND,
    # The page has choices of its own.
    "incc-web": JOBS - _OF_THE_MAIN_COMMAND,
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
    waiting = [command_of(name) for name in NAMES]
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


# --- mistakes --------------------------------------------------------------------------------------------------------

PARSED = {name: command for name, command in COMMANDS.items() if name not in PREFIXES}


def mistake(command: Command, *arguments: str) -> str:
    """The message of a command about its arguments."""
    output = io.StringIO()
    with contextlib.redirect_stderr(output), pytest.raises((UsageError, SystemExit)) as failure:
        Parser(command).parse_args(arguments)
    return str(failure.value) if isinstance(failure.value, UsageError) else output.getvalue()


@pytest.mark.parametrize("command", PARSED.values(), ids=PARSED)
def test_an_empty_value_is_a_mistake(command: Command) -> None:
    for option in (option for group in command.all_groups() for option in group.options):
        if option.kind in (*NO_VALUE, "operand", "rest", "texts"):
            continue
        for name in (option.name, *option.aliases):
            arguments = [f"{name}="] if name.startswith("--") else [name, ""]
            assert f"{option.name} " in mistake(command, *arguments)


def takes_options_alone(command: Command) -> bool:
    options = [option for group in command.groups for option in group.options]
    return not command.commands and not any(option.required or option.kind == "rest" for option in options)


@pytest.mark.parametrize("name", [name for name, command in PARSED.items() if takes_options_alone(command)])
def test_a_misspelt_option_has_a_suggestion(name: str) -> None:
    command = PARSED[name]
    options = [option for group in command.groups for option in group.options]
    operands = [option.syntax for option in options if option.kind == "operand" and not option.syntax.startswith("[")]
    for option in options:
        if option.name.startswith("--") and len(option.name) > 6:
            message = mistake(command, *operands, f"{option.name[:-1]}zq=1")
            assert "unknown option" in message
            assert "; did you mean --" in message


@pytest.mark.parametrize(
    ("command", "arguments", "message"),
    [
        ("incc-diff", "a b --json=x", "--json takes no value"),
        ("incc-diff", "a b --json --format=text", "--json and --format cannot be combined"),
        ("incc-diff", "a b -j", "-j needs a value"),
        ("incc-diff", "a b --help=foo", "--help takes man or bash or zsh, or no value"),
        ("incc-scan", "x.o --views=all", "unknown option --views; incc-mca, incc-report have it"),
        ("incc-model", "lst", "unknown command 'lst'; did you mean list?"),
        ("incc-model", "list --jsn", "unknown option --jsn; did you mean --json?"),
        ("incc-model", "list foo", "unexpected argument 'foo'"),
        ("incc-model", "coverage x.s", "--mcpu is required"),
    ],
)
def test_mistakes(command: str, arguments: str, message: str) -> None:
    assert f"error: {message}; see incc" in mistake(COMMANDS[command], *arguments.split())


def test_two_dashes_without_operands() -> None:
    assert Parser(COMMANDS["incc-model"]).parse_args(["list", "--"]).format == "text"


def test_a_dash_is_standard_output(tmp_path: pathlib.Path, capfd: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "x.s"
    source.write_text("1:\taddq $1, %rax\n\tjne 1b\n")
    (tmp_path / "empty").mkdir()
    with contextlib.chdir(tmp_path / "empty"):
        assert mca.main(["-mcpu=skylake", "-o", "-", str(source)]) == 0
        assert "for Intel Skylake" in capfd.readouterr().out
        assert mca.main(["-mcpu=skylake", "--views=none", "--sarif=-", "--emit-marked=-", str(source)]) == 0
        output = capfd.readouterr().out
        assert "LLVM-MCA-BEGIN" in output
        assert '"$schema"' in output
        assert scan.main(["-mcpu=skylake", "-o", "-", str(source)]) == 0
        assert "for Intel Skylake" in capfd.readouterr().out
        assert list(pathlib.Path().iterdir()) == []
