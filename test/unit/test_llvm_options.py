"""The command line of incc-mca and llvm-mca: options, values, files and response files."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incc.driver import UsageError
from incc.driver.cli.kinds import MCA
from incc.driver.cli.options import has
from incc.driver.llvm_mca.help import lists
from incc.driver.llvm_mca.options import IGNORED, read, requested_help
from incc.frontends.gcc_wrapper.response_files import expanded_by_llvm
from properties import examples

needs_llvm_mca = pytest.mark.skipif(not shutil.which("llvm-mca-19"), reason="no llvm-mca-19")


def value(argument: str, *more: str) -> object:
    return read([argument, *more]).given[argument.lstrip("-").partition("=")[0]]


def error(*arguments: str) -> str:
    with pytest.raises(UsageError) as failure:
        read(arguments)
    return str(failure.value)


@pytest.mark.parametrize("text", ["", "=", "=1", "=true", "=TRUE", "=True"])
def test_yes(text: str) -> None:
    assert value(f"-json{text}") is value(f"--json{text}") is True


@pytest.mark.parametrize("text", ["0", "false", "FALSE", "False"])
def test_no(text: str) -> None:
    assert value(f"-json={text}") is False


@pytest.mark.parametrize("text", ["2", "yes", "tRUE", " 1"])
def test_neither(text: str) -> None:
    assert error(f"-json={text}") == f"-json is true or false, not {text!r}"


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
    assert value(f"-dispatch={text}") == value("--dispatch", text) == number


@pytest.mark.parametrize("text", ["-1", "+1", "08", "0x", "0b2", "1_0", "١", "1e3", "9" * 5000])
def test_no_numbers(text: str) -> None:
    assert error(f"-dispatch={text}").startswith("-dispatch ")


def test_values_behind_the_option() -> None:
    assert value("-mcpu", "-json") == "-json"  # whatever it is
    assert error("-mcpu=") == error("a.s", "-mcpu") == "-mcpu needs a value: -mcpu=…"
    assert error("--mcpu=") == "--mcpu needs a value: --mcpu=…"


def test_the_last_one_wins_but_of_lists() -> None:
    line = read(["-iterations=5", "-mattr=+a,-b", "--iterations", "6", "-mattr", "c"])
    assert (line.given["iterations"], list(line.given["mattr"])) == (6, ["+a", "-b", "c"])
    assert line.order["iterations"] < line.order["mattr"]


def test_files() -> None:
    assert read(["-", "-json"]).file == "-"
    assert read(["--", "-json"]).file == "-json"
    assert error("a.s", "b.s") == "one input file at a time, not a.s and b.s"


def test_unknown() -> None:
    assert error("--timelin=1") == "unknown option --timelin; did you mean --timeline?"
    assert error("-timelin=1") == "unknown option -timelin; did you mean -timeline?"
    assert error("-j", "4").startswith("unknown option -j; incc-scan, ")
    assert error("---timeline") == "unknown option ---timeline"


def test_options_without_effect() -> None:
    line = read(["-W", "-disable-cb", "--dwarf-version", "4", "-dwarf-version=5", "-mc-relax-all=1", "-", "-json"])
    assert line.ignored == ["-W", "-dwarf-version", "-mc-relax-all", "-disable-cb"]
    assert (line.file, line.given["json"]) == ("-", True)


def test_help_is_requested_anywhere() -> None:
    assert requested_help(["-json=x", "--help-list", "-foo"]) == "all"
    assert requested_help(["-version", "-h"]) == "version"
    assert requested_help(["-json", "help"]) == ""


@needs_llvm_mca
def test_every_option_of_llvm_mca_is_read() -> None:
    found = subprocess.run(["llvm-mca-19", "--help-list-hidden"], capture_output=True, text=True).stdout
    listed = set(re.findall(r"^  --?([\w-]+)", found, re.M)) - {"help", "help-hidden", "help-list", "help-list-hidden"}
    assert {name for name in listed if name not in IGNORED and not has(MCA, f"-{name}")} <= {"h", "version"}


@examples(100)
@given(
    st.lists(st.sampled_from(["-json", "-mcpu=x", "-mcpu", "--", "-o", "-h", "-x", "@", "", "-=", "a", "-W", "--=3"]))
)
def test_nothing_is_too_odd(arguments: list[str]) -> None:
    with contextlib.suppress(UsageError):
        read(arguments)


SINCE_LLVM_19 = ("diamondrapids", "novalake", "wildcatlake")


@needs_llvm_mca
@pytest.mark.parametrize(("isa", "triple"), [("x86", "x86_64"), ("aarch64", "aarch64")])
def test_lists_are_llvm_mcas(isa: str, triple: str) -> None:
    found = subprocess.run(
        ["llvm-mca-19", f"-mtriple={triple}", "-mcpu=help"], capture_output=True, text=True, stdin=subprocess.DEVNULL
    )
    own = [line for line in lists(isa).split("\n") if line.strip().partition(" ")[0] not in SINCE_LLVM_19]
    assert own == found.stderr.split("\n")


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
