"""llvm-mca's command line: what LLVM's cl::opt reads, and what it says of mistakes."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incc.driver.llvm_mca.help import help_text, lists
from incc.driver.llvm_mca.options import TABLE, read
from incc.driver.options import MCA, Given
from incc.frontends.gcc_wrapper.response_files import expanded_by_llvm
from properties import examples

PROGRAM = "/usr/bin/llvm-mca"

needs_llvm_mca = pytest.mark.skipif(not shutil.which("llvm-mca-19"), reason="no llvm-mca-19")


def value(argument: str, *more: str) -> object:
    words = read([argument, *more], PROGRAM)
    assert words.errors == []
    return words.values[argument.lstrip("-").partition("=")[0]]


def error(*arguments: str) -> str:
    words = read(arguments, PROGRAM)
    return "".join(words.errors)


@pytest.mark.parametrize("text", ["", "=", "=1", "=true", "=TRUE", "=True"])
def test_yes(text: str) -> None:
    assert value(f"-json{text}") is value(f"--json{text}") is True


@pytest.mark.parametrize("text", ["0", "false", "FALSE", "False"])
def test_no(text: str) -> None:
    assert value(f"-json={text}") is False


@pytest.mark.parametrize("text", ["2", "yes", "tRUE", " 1"])
def test_neither(text: str) -> None:
    said = f"llvm-mca: for the --json option: '{text}' is invalid value for boolean argument! Try 0 or 1\n"
    assert error(f"-json={text}") == said


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0", 0),
        ("7", 7),
        ("0x1F", 31),
        ("0X1f", 31),
        ("0b101", 5),
        ("0o17", 15),
        ("017", 15),
        ("4294967295", 2**32 - 1),
    ],
)
def test_numbers(text: str, number: int) -> None:
    assert value(f"-iterations={text}") == value("--iterations", text) == number


@pytest.mark.parametrize("text", ["", "-1", "+1", "4294967296", "08", "0x", "0b2", "1_0", "١", "1e3", "9" * 5000])
def test_no_numbers(text: str) -> None:
    said = f"llvm-mca: for the --iterations option: '{text}' value invalid for uint argument!\n"
    assert error(f"-iterations={text}") == said


def test_signed_numbers() -> None:
    assert value("-output-asm-variant=-1") == -1
    assert value("-output-asm-variant=-0x80000000") == -(2**31)
    assert "value invalid for integer argument!" in error("-output-asm-variant=2147483648")


def test_values_behind_the_option() -> None:
    assert value("-mcpu", "-json") == "-json"  # whatever it is
    assert error("-o") == "llvm-mca: for the -o option: requires a value!\n"
    assert error("a.s", "--mcpu") == "llvm-mca: for the --mcpu option: requires a value!\n"


def test_the_last_one_wins_but_of_lists() -> None:
    words = read(["-iterations=5", "-mattr=+a,-b", "--iterations", "6", "-mattr", "c"], PROGRAM)
    assert words.values == {"iterations": 6, "mattr": ("+a", "-b", "c")}
    assert words.places["iterations"] < words.places["mattr"]


def test_files() -> None:
    assert read(["-", "-json"], PROGRAM).files == ["-"]
    assert read(["--", "-json"], PROGRAM).files == ["-json"]
    assert error("a.s", "b.s") == (
        "llvm-mca: Too many positional arguments specified!\n"
        f"Can specify at most 1 positional arguments: See: {PROGRAM} --help\n"
    )


def test_unknown() -> None:
    said = f"llvm-mca: Unknown command line argument '--timelin=1'.  Try: '{PROGRAM} --help'\n"
    assert error("--timelin=1") == f"{said}llvm-mca: Did you mean '--timeline=1'?\n"


def test_groups_of_letters() -> None:
    assert error("-oout").startswith("llvm-mca: for the -o option: may not occur within a group!\n")
    assert read(["-hx"], PROGRAM).wanted == "h"
    assert error("-h=1") == "llvm-mca: for the -h option: does not allow a value! '1' specified.\n"


def test_help_ends_all() -> None:
    words = read(["-json=x", "--help-list", "-foo"], PROGRAM)
    assert (words.wanted, len(words.errors)) == ("help-list", 1)


def test_what_llvm_does_not_know_may_be_ours() -> None:
    taken = []
    words = read(["-auto", "--function=f"], PROGRAM, lambda *option: taken.append(option) is None)
    assert (words.errors, taken) == ([], [("auto", None, ["--function=f"]), ("function", "f", [])])


def test_every_option_of_the_tool_is_one_of_incc_mca() -> None:
    """So each is read, explained and completed in the other face as well."""
    table = Given(MCA)
    for option in TABLE:
        if option.group in ("Tool", "View"):
            table[option.name]  # raises KeyError where there is none


@examples(100)
@given(
    st.lists(st.sampled_from(["-json", "-mcpu=x", "-mcpu", "--", "-o", "-h", "-x", "@", "", "-=", "a", "-W", "--=3"]))
)
def test_nothing_is_too_odd(arguments: list[str]) -> None:
    read(arguments, PROGRAM)


@needs_llvm_mca
@pytest.mark.parametrize("wanted", ["help", "help-hidden", "help-list", "help-list-hidden"])
def test_help_is_llvm_mcas(wanted: str) -> None:
    found = subprocess.run(["llvm-mca-19", f"--{wanted}"], capture_output=True, text=True)
    assert help_text(wanted, "llvm-mca-19") == found.stdout


@needs_llvm_mca
def test_lists_are_llvm_mcas() -> None:
    found = subprocess.run(
        ["llvm-mca-19", "-mtriple=x86_64", "-mcpu=help"], capture_output=True, text=True, stdin=subprocess.DEVNULL
    )
    assert lists() == found.stderr


@needs_llvm_mca
@pytest.mark.parametrize(
    "arguments",
    [
        ["-jsn"], ["-iterations=abc", "-x"], ["--foobarqux"], ["-bar=3"], ["-oout"], ["-W=2"], ["-all"], ["-sched"],
        ["-queue=3"], ["-summary"], ["-versio=2"], ["-skip-unsupported-instructions=foo"], ["---json"], ["-x=y=z"],
        ["-instruction-tables=full"], ["a", "b", "-c"], ["-mcpuu"], ["-timelime"], ["-disable"], ["-noalia"],
    ],
)  # fmt: skip
def test_messages_are_llvm_mcas(arguments: list[str]) -> None:
    found = subprocess.run(["llvm-mca-19", *arguments], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert "".join(read(arguments, "llvm-mca-19").errors) == found.stderr


# --- response files --------------------------------------------------------------------------------------------------


def test_response_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "one").write_text("-json\n@two 'a b'\\ c \"\"")
    (tmp_path / "two").write_text('-mcpu="sky"lake\t@none')
    assert expanded_by_llvm(["x", "@one", "@none"]) == ["x", "-json", "-mcpu=skylake", "@none", "a b c", "@none"]


def test_response_files_that_cannot_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "self").write_text("@self")
    with pytest.raises(ValueError, match=r"^recursive expansion of: '.*self'$"):
        expanded_by_llvm(["@self"])
    os.mkdir(tmp_path / "folder")
    with pytest.raises(ValueError, match="Is a directory"):
        expanded_by_llvm(["@folder"])
