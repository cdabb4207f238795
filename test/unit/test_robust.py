"""incc-mca with streams, files and numbers that are not as they should be: what a fuzzer (bench/fuzz.py) has found."""

from __future__ import annotations

import pathlib
import subprocess
import sys

import pytest

from incc.core import cold_run
from incc.driver.mca import main
from incc.driver.pipeline import Settings, analyze_unit
from incc.frontends.unit import Unit

ROOT = pathlib.Path(__file__).resolve().parents[2]
STREAMS = ["<&-", ">&-", "2>&-", "<&- >&- 2>&-", ">/dev/full", "2>/dev/full", ">/dev/full 2>/dev/full"]
WORDS = [
    ["-mcpu=skylake", "a.s"],
    ["-mcpu=skylake", "-"],
    ["-mcpu=skylake", "bad.s"],
    ["-frob"],
    ["-mcpu=help"],
    ["--version"],
    ["-mcpu=nosuch", "a.s"],
]


@pytest.fixture
def folder(tmp_path: pathlib.Path) -> pathlib.Path:
    (tmp_path / "a.s").write_text("addl %eax, %ebx\n")
    (tmp_path / "bad.s").write_text("frob %eax\n")
    return tmp_path


@pytest.mark.parametrize("face", [[], ["--compat"]], ids=["incc-mca", "llvm-mca"])
@pytest.mark.parametrize("streams", STREAMS)
def test_streams_that_are_closed_or_full(folder: pathlib.Path, streams: str, face: list[str]) -> None:
    """The exit status says what went wrong, where nothing else can."""
    for words in WORDS:
        command = [sys.executable, "-m", "incc.driver.mca", *face, *words]
        done = subprocess.run(
            ["sh", "-c", f'"$@" {streams}', "sh", *command], cwd=folder, capture_output=True, input=b"addl %eax, %ebx\n"
        )
        assert done.returncode in (0, 1, 2), (words, done)
        assert b"Traceback" not in done.stderr, done.stderr.decode()


@pytest.mark.parametrize("text", ["frob %eax\n", "add 0.0e\n", "# LLVM-MCA-BEGIN\n, %eax\n# LLVM-MCA-END\n"])
def test_nothing_that_could_be_read(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, text: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """A region whose statements were all refused is not run."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.s").write_text(text)
    for words in (["--compat"], ["--compat", "-skip-unsupported-instructions=any"], ["-loop=3", "-all-views"]):
        assert main([*words, "-mcpu=skylake", "a.s"]) == 1
        assert "error: " in capfd.readouterr().err


@pytest.mark.parametrize("face", [[], ["--compat"]], ids=["incc-mca", "llvm-mca"])
def test_a_few_bytes_that_ask_for_any_time(
    tmp_path: pathlib.Path, face: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    """What the assembler may compute grows with its text."""
    (tmp_path / "a.s").write_text("frob\n.rept 1000000000\nnop\n.endr\n")
    assert main([*face, "-mcpu=skylake", str(tmp_path / "a.s")]) == 1
    said = capfd.readouterr().err
    assert "error: " in said
    # As llvm-mca it is LLVM that reads such a text.
    assert ("the assembler " if not face else "invalid instruction mnemonic 'frob'") in said


def test_a_cold_run_of_nothing() -> None:
    result = analyze_unit(Unit("frob %eax\n", "a.s"), Settings(mcpu="skylake", regions="marked", cold_iterations=3))
    assert result.results[0].cold is None
    with pytest.raises(ValueError, match="there are none"):
        cold_run(result.results[0].bound, 3)


def test_all_views_have_statistics(folder: pathlib.Path, capfd: pytest.CaptureFixture[str]) -> None:
    """As llvm-mca's -all-views; one that is named is as it is said."""
    heads = ["Dispatch Logic", "Schedulers - ", "Retire Control Unit", "Register File statistics"]
    file = str(folder / "a.s")
    for words, shown in ((["-all-views"], heads), (["-all-views", "-retire-stats=0"], [*heads[:2], heads[3]]),
                         (["-all-views", "-all-stats=0"], []), ([], [])):  # fmt: skip
        assert main(["-mcpu=skylake", *words, file]) == 0
        text = capfd.readouterr().out
        assert [head for head in heads if head in text] == shown


def test_the_fuzzer() -> None:
    """Some of its runs; an hour of them is for who changes how input is read."""
    command = [sys.executable, str(ROOT / "bench" / "fuzz.py"), "--seconds=600", "--runs=25", "--first=7"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout == "25 runs from seed 7, 0 failed\n"
