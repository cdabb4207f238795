"""The table of options, and what comes of it: what is read, help, manual pages and completion."""

from __future__ import annotations

import argparse
import contextlib
import pathlib
import shutil
import subprocess
import sys
from collections.abc import Iterator
from operator import attrgetter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incc.driver import UsageError
from incc.driver.cli import own_options
from incc.driver.cli.command import Command, help_text, names, written
from incc.driver.cli.completion import script
from incc.driver.cli.kinds import BOTH, KINDS, MANY, MCA, WRAPPER, Option
from incc.driver.cli.manual import page
from incc.driver.cli.options import OPTIONS, options_of
from incc.driver.cli.parsers import Parser
from incc.driver.cli.usage import COMMANDS
from incc.driver.cli.values import READERS, OptionValues
from incc.driver.commands import bench, build, db, diff, mca, model, report, scan
from incc.driver.settings import Settings
from incc.frontends.asm.call_path import WantedTrips
from incc.frontends.objects.spans import Addresses
from incc.report.source.places import NamedKernels, NamedLine
from settings_fixtures import FIELDS, fields_of

ROOT = pathlib.Path(__file__).parents[2]

each_command = pytest.mark.parametrize("command", BOTH)
each_option = pytest.mark.parametrize(
    ("command", "option"), [pytest.param(c, o, id=f"{c} {o.name}") for c in BOTH for o in options_of(c)]
)

# A value that each kind takes, and what it is read as.
VALUES = {
    "text": ("some", "some"),
    "file": ("some.dot", "some.dot"),
    "picture": ("some.svg", "some.svg"),
    "number": ("7", 7),
    "uint": ("0x11", 17),
    "int": ("1", 1),
    "commas": ("+avx,-sse", ("+avx", "-sse")),
    "count": ("0", 0),
    "list": ("/some", ("/some",)),
    "probability": ("0.25", 0.25),
    "clock": ("3.5", 3.5),
    "bytes": ("3K", 3 << 10),
    "trips": ("inner=27,outer=9", WantedTrips(inner=27, outer=9)),
    "alignment": ("all", -2),
    "data": ("l2,4M", ("L2", 4 << 20)),
    "thousand": ("8", 8),
    "let": ("rsi=-0x10", (("rsi", -16),)),
    "addresses": ("401000+40", (Addresses(0x401000, 0x401040),)),
    "lines": ("3,8-18,20:24", ((3, 3), (8, 18), (20, 24))),
    "changes": ("rob = 512", None),
    "condition": ("cycles > 2", None),
    "places": ("a.c:12", (NamedLine("a.c", 12),)),
    "kernels": ("dot:12", (NamedKernels("dot", 12),)),
    "attached": ("x.s", "x.s"),
    "views": ("compact,waits", ("compact", "waits")),
}


def value_of(option: Option) -> tuple[str | None, object]:
    """What to write behind an option, and what it is read as."""
    if option.kind == "switch":
        return ("false", False) if option.default else (None, True)
    if option.kind == "flag":
        return None, True
    if option.kind in ("choice", "mode"):
        other = next(choice for choice in option.choices() if choice != option.default)
        return other, other
    return VALUES[option.kind]


def read(command: str, arguments: list[str]) -> OptionValues:
    """What a command reads from its command line."""
    if command == MCA:
        return mca.McaOptions(arguments).given
    options, rest = own_options.split(arguments, {})
    assert rest == []
    return options.all()


# --- reading ---------------------------------------------------------------------------------------------------------


@each_option
def test_every_option_is_read(command: str, option: Option) -> None:
    value, expected = value_of(option)
    for name in names(option, command):
        argument = name if value is None else f"{name}={value}"
        if option.name == "version" and command == MCA:  # read before the others
            continue
        if option.name in ("--analyze", "--incc-cc"):
            options, rest = own_options.split([argument], {})
            assert (options.output or options.compiler, rest) == (expected, [])
            continue
        chosen = read(command, [argument])
        if option.kind == "changes":
            assert [change.name for change in chosen[option.name]] == ["rob"]
            continue
        if option.kind == "condition":
            assert chosen[option.name].text == value
            continue
        assert chosen[option.name] == expected
        assert chosen[option.name] != option.default
        if option.stands_for:
            assert chosen[option.into] == option.stands_for
        assert chosen.names == {option.name, *([option.into] if option.stands_for else [])}
        assert list(fields_of(chosen.settings())) == FIELDS
        if command == MCA:
            # With one dash, and with the value as the next word.
            assert read(command, ["-" + argument.lstrip("-")])[option.name] == expected
            if option.needs_value:
                assert read(command, [name, str(value)])[option.name] == expected


@each_option
def test_every_field_is_set(command: str, option: Option) -> None:
    """What an option says reaches the analysis, in the field that the table names."""
    if not option.sets:
        return
    value, expected = value_of(option)
    if value == "register":
        value = "memory"
    start = [] if command == MCA else ["--analyze"]
    name = names(option, command)[0]
    before = read(command, start).settings()
    if option.name == "timeline-max-iterations":
        start.append("--timeline")
    after = read(command, [*start, name if value is None else f"{name}={value}"]).settings()
    of_option = attrgetter(option.sets)
    assert of_option(before) != of_option(after)
    if option.sets not in READERS:
        assert of_option(after) == expected
        assert of_option(before) == option.default == of_option(Settings())


def test_the_table_is_consistent() -> None:
    assert {option.kind for option in OPTIONS} <= KINDS
    # Whether to try changes, and to predict, is for programs: a command prints what it finds; LLVM's figures of what a
    # core lacks are for llvm-mca's face. Where arrays lie follows from the kind of input. Latencies are in the text.
    # The length of calls is worked out where nothing else is chosen.
    assert {option.sets for option in OPTIONS if option.sets} == set(FIELDS) - {
        "kernel.what_ifs",
        "kernel.steady",
        "kernel.explained",
        "kernel.arrays",
        "kernel.altered.latencies",
        "core.lacking",
        # The instruction set of the target, which incc-mca sets.
        "core.isa",
        "scope.near_trips",
        # Builds leave details for later.
        "kernel.for_advice",
        "later",
        # Commands leave out what they do not print.
        "report.most_with_tables",
    }
    assert set(READERS) <= set(FIELDS)
    # One name is enough for the arguments of the Python API, and in tests.
    assert len({name.rpartition(".")[2] for name in FIELDS}) == len(FIELDS)
    for command in BOTH:
        spelled = [name for option in options_of(command) for name in names(option, command)]
        assert len(spelled) == len(set(spelled))
        shown = [option for group in COMMANDS[command].groups for option in group.options]
        assert sorted(shown, key=OPTIONS.index) == options_of(command)
    # Those that the wrapper has to tell from the compiler's without looking at the table.
    others = {option.name for option in options_of(WRAPPER) if not own_options._is_own(option.spelled(WRAPPER))}
    assert others == set()
    spelled = [name for option in options_of(WRAPPER) for name in (option.name, *option.aliases)]
    assert {name for name in spelled if name.startswith("--")} == set(own_options.OTHERS)


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ("--pathz", "unknown option --pathz; did you mean --paths?"),
        ("-timelin=true", "unknown option -timelin; did you mean -timeline?"),
        ("--xyzzy", "unknown option --xyzzy"),
        ("--mcpu=", "--mcpu needs a value: --mcpu=…"),
        ("-o", "-o needs a value: -o=…"),
        ("--version=1", "--version takes no value"),
        ("--json=maybe", "--json is true or false, not 'maybe'"),
        ("a.s b.s", "one input file at a time, not a.s and b.s; incc-scan takes several"),
        ("--html --auto", "--html needs a file name; --auto is an option"),
        ("--help=html", "-help takes man or bash or zsh, not 'html'"),
    ],
)
def test_mistakes(argument: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert mca.main(argument.split()) == 2
    assert capsys.readouterr().err == f"incc-mca: error: {message}; see incc-mca --help\n"


@given(st.text(min_size=1), st.one_of(st.none(), st.text()))
def test_any_name_is_read_or_refused(name: str, value: str | None) -> None:
    for command in BOTH:
        with contextlib.suppress(UsageError):
            OptionValues(command).take(name, value)


@given(st.sampled_from([option for option in OPTIONS if option.kind != "flag"]), st.text())
def test_any_value_is_read_or_refused(option: Option, value: str) -> None:
    (command, *_) = option.commands
    with contextlib.suppress(UsageError):
        OptionValues(command).take(option.spelled(command), value)


# --- help ------------------------------------------------------------------------------------------------------------


@each_command
def test_help(command: str) -> None:
    text = help_text(COMMANDS[command])
    words = {word.strip("(),") for word in text.split()}
    for option in options_of(command):
        for name in written(option, command):
            assert name.split(" ")[0] in words
    assert max(map(len, text.splitlines())) <= 120
    for variable, _ in COMMANDS[command].environment:
        assert variable in text
    # Aligned: what explains an option begins in one column.
    columns = {len(line) - len(line.lstrip()) for line in text.splitlines()}
    assert columns == {0, 2, 30}


def test_help_of_both_commands(capfd: pytest.CaptureFixture[str]) -> None:
    for argument in ("-h", "--help", "-help"):
        assert mca.main(["--nonsense", argument]) == 0
        assert capfd.readouterr().out == help_text(COMMANDS[MCA])
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "import sys; from incc.driver.commands.incc import main; sys.exit(main())",
            "--analyze-help",
        ],
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, help_text(COMMANDS[WRAPPER]), "")


def test_the_wrappers_page_has_every_option() -> None:
    text = (ROOT / "docs" / "wrapper.md").read_text()
    for option in options_of(WRAPPER):
        for name in names(option, WRAPPER):
            assert f"`{name}" in text, name


# --- manual page -----------------------------------------------------------------------------------------------------


@each_command
def test_manual_page(command: str) -> None:
    text = page(COMMANDS[command])
    assert text.startswith(f'.TH "{command.upper()}"'.replace("-", "\\-"))
    for option in options_of(command):
        for name in names(option, command):
            assert name.replace("-", "\\-") in text
    macros = (".TH ", ".nh", ".SH ", ".SS ", ".TP", ".PP")
    assert all(line.startswith(macros) for line in text.splitlines() if line.startswith((".", "'")))
    assert "-" not in text.replace("\\-", "")


@each_command
@pytest.mark.skipif(not shutil.which("groff"), reason="no groff")
def test_manual_page_in_troff(command: str) -> None:
    done = subprocess.run(
        ["groff", "-man", "-Tutf8", "-ww", "-k", "-P-c", "-rLL=110n"],
        input=page(COMMANDS[command]),
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")
    # Without overstriking, which stands for bold.
    letters = "".join(c for i, c in enumerate(done.stdout) if done.stdout[i + 1 : i + 2] != "\b" and c != "\b")
    for option in options_of(command):
        assert written(option, command)[0] in letters


PARSED = {made.name: made for made in (each.COMMAND for each in (bench, build, db, diff, model, report, scan))}
each_parsed = pytest.mark.parametrize("command", PARSED.values(), ids=PARSED)


def _spelled(command: Command) -> Iterator[str]:
    """The options of a command and of its sub-commands."""
    for group in command.all_groups():
        for option in group.options:
            if option.kind not in ("operand", "rest"):
                yield from (option.name, *option.aliases)
    for inner in command.commands:
        yield from _spelled(inner)


def _parsers(parser: Parser) -> Iterator[Parser]:
    """A parser and those of its sub-commands."""
    yield parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for inner in action.choices.values():
                yield from _parsers(inner)


@each_parsed
def test_the_parser_has_the_options_of_the_table(command: Command) -> None:
    for parser in _parsers(Parser(command)):
        options = [option for group in parser.command.all_groups() for option in group.options]
        assert {option.kind for option in options} <= KINDS
        if parser.command.extend:
            parser.command.extend(parser)
        taken = {name for action in parser._actions for name in action.option_strings}
        options += parser.command.hidden
        named = {name for o in options if o.kind not in ("operand", "rest") for name in (o.name, *o.aliases)}
        assert taken | {"-h", "--help"} == named | {"-h", "--help"}
        # A value of the kind is read, with the defaults of all others.
        for option in options:
            if option.kind in VALUES and option.kind != "condition" and not option.value.endswith("…"):
                (action,) = [action for action in parser._actions if option.name in action.option_strings]
                value, expected = VALUES[option.kind]
                if action.type is None:  # an importer's
                    continue
                assert action.type(value) == (expected[0] if option.kind in MANY else expected)


@each_parsed
def test_manual_page_of_a_parsed_command(command: Command) -> None:
    text = page(command)
    assert text.startswith(f'.TH "{command.name.upper()}"'.replace("-", "\\-"))
    assert f"{command.name} - {command.summary}" in text.replace("\\-", "-")
    for name in _spelled(command):
        assert name.replace("-", "\\-") in text
    assert command.status in text.replace("\\-", "-").replace("\\(aq", "'")
    macros = (".TH ", ".nh", ".SH ", ".SS ", ".TP", ".PP", ".br", ".nf", ".fi")
    assert all(line.startswith(macros) for line in text.splitlines() if line.startswith((".", "'")))
    assert "-" not in text.replace("\\-", "")


@each_parsed
@pytest.mark.skipif(not shutil.which("groff"), reason="no groff")
def test_manual_page_of_a_parsed_command_in_troff(command: Command) -> None:
    done = subprocess.run(
        ["groff", "-man", "-Tutf8", "-ww", "-k", "-P-c", "-rLL=110n"],
        input=page(command),
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")


@each_parsed
def test_help_of_a_parsed_command(command: Command, capfd: pytest.CaptureFixture[str]) -> None:
    parser = Parser(command)
    # Whatever stands beside it: what is missing or wrong is no matter then.
    for wanted, text in (("man", page(command)), ("bash", script()), ("zsh", script())):
        with pytest.raises(SystemExit) as end:
            parser.parse_args(["--nonsense", f"--help={wanted}"])
        assert end.value.code == 0
        assert capfd.readouterr().out == text
    with pytest.raises(SystemExit) as end:
        parser.parse_args(["--help=html"])
    assert end.value.code == 2
    capfd.readouterr()
    with pytest.raises(SystemExit) as end:
        parser.parse_args(["-h"])
    assert end.value.code == 0
    shown = capfd.readouterr().out
    assert shown == help_text(command)
    assert max(map(len, shown.splitlines())) <= 120


# --- completion ------------------------------------------------------------------------------------------------------

COMPLETE = """
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=()
incc-model() { printf 'skylake x86\\nznver4 x86\\n'; }
_${1//-/_}
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.fixture(scope="module")
def completion(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    path = tmp_path_factory.mktemp("completion") / "incc.bash"
    path.write_text(script())
    return path


@pytest.mark.skipif(not shutil.which("bash"), reason="no bash")
@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("incc-mca --mc", "--mcpu="),
        ("incc-mca -mc", "--mcpu="),
        ("incc-mca --mcpu = sky", "skylake"),
        ("incc-mca --mcpu=sky", "--mcpu=skylake"),
        ("incc-mca -mcpu sky", "skylake"),
        ("incc-mca --no-dependencies =", "register memory"),
        ("incc-mca --paths = f", "false"),
        ("incc-mca -o fi", "file.s"),
        ("incc-mca fi", "file.s"),
        ("incc-mca --graph = fi", "file.s"),
        ("incc -O2 --analyze-form", "--analyze-format="),
        ("incc --analyze-format = j", "json"),
        ("incc --marker = o", "osaca"),
        ("incc --analyze-mcpu=z", "--analyze-mcpu=znver4"),
        ("incc -c fi", "file.s"),
        ("incc -O", ""),
        ("incc-scan --out", ""),
        ("incc-scan --format = c", "cycles"),
        ("incc-diff --side", "--side-by-side --side-by-side="),
        ("incc-diff --side-by-side fi", "file.s"),
        ("incc-diff --format = m", "markdown"),
        ("incc-diff --baseline fi", "file.s"),
        ("incc-diff --sort=r", "--sort=ratio"),
        ("incc-diff --mcpu = z", "znver4"),
        ("incc-model sh", "show"),
        ("incc-bench --help = z", "zsh"),
        ("incc-mca --help = z", "zsh"),
        ("incc-model show --mcpu = z", "znver4"),
    ],
)
def test_completion(completion: pathlib.Path, tmp_path: pathlib.Path, line: str, words: str) -> None:
    (tmp_path / "file.s").touch()
    command = ["bash", "-c", f". {completion}\n{COMPLETE}", "bash", *line.split()]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert (done.stderr, done.stdout.split()) == ("", words.split())


@pytest.mark.skipif(not shutil.which("bash"), reason="no bash")
@each_command
def test_completion_of_every_option(completion: pathlib.Path, command: str) -> None:
    shell = ["bash", "-c", f". {completion}\n{COMPLETE}", "bash", command, "--"]
    offered = subprocess.run(shell, capture_output=True, text=True, check=True).stdout.split()
    expected = {name for option in options_of(command) for name in names(option, command) if len(name) > 2}
    assert {word.rstrip("=") for word in offered} == expected
