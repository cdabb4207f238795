"""Input that no compiler makes, streams that are closed or full, assemblers that do not end: what is said of them."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import pytest

import incc
from bind_kernels import bound
from incc.core import simulate
from incc.driver.commands import mca
from incc.frontends import assembling
from incc.frontends.x86 import assembler

LOOP = ".L0:\n addq $1, %rax\n jne .L0\n"


def run(module: str, *arguments: str, **streams: Any) -> subprocess.CompletedProcess[str]:
    command = [
        sys.executable,
        "-c",
        f"import sys; from incc.driver.commands import {module} as m; sys.exit(getattr(m, 'command', m.main)())",
    ]
    streams.setdefault("stdout", subprocess.PIPE)
    return subprocess.run(
        [*command, *arguments], stderr=subprocess.PIPE, text=True, check=False, timeout=120, **streams
    )


# --- the assembler ---------------------------------------------------------------------------------------------------


def test_an_assembler_that_writes_without_end_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(assembling, "LIMIT_BYTES", 1 << 20)
    with pytest.raises(incc.AnalysisError, match="was stopped: more than 1 MiB of output"):
        incc.analyze(".L0: .fill 100000000, 8, 0\n addq $1, %rax\n jne .L0\n", input="asm", mcpu="skylake")


@pytest.mark.parametrize("body", ["exec sleep 100", "while :; do :; done"])
def test_an_assembler_that_does_not_end_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str) -> None:
    monkeypatch.setattr(assembling, "LIMIT_SECONDS", 1)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    script = tmp_path / "as"
    script.write_text(f"#!/bin/sh\n{body}\n")
    script.chmod(0o755)
    begin = time.monotonic()
    with pytest.raises(assembling.LimitError, match="more than 1 s"):
        assembler.assemble(LOOP, [2], [str(script)])
    assert time.monotonic() - begin < 50
    assert os.listdir(tmp_path) == ["as"]


def test_an_analysis_that_ends_early_ends_the_assembler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    monkeypatch.setenv("TMPDIR", str(tmp_path))
    script = tmp_path / "as"
    script.write_text("#!/bin/sh\nexec sleep 100\n")
    script.chmod(0o755)
    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        assembler.assemble(LOOP, [2], [str(script)], interrupt)
    assert time.monotonic() - begin < 50
    assert os.listdir(tmp_path) == ["as"]


# --- objects ---------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    folder = tmp_path_factory.mktemp("library")
    (folder / "a.s").write_text(f".globl f\n.type f,@function\nf:{LOOP} ret\n.size f,.-f\n")
    subprocess.run(["gcc", "-shared", "-nostdlib", "-o", folder / "a.so", folder / "a.s"], check=True)
    return (folder / "a.so").read_bytes()


def test_section_over_the_end_of_the_address_space(library: bytes) -> None:
    data = bytearray(library)
    table, size, count = (int.from_bytes(data[at : at + n], "little") for at, n in ((0x28, 8), (0x3A, 2), (0x3C, 2)))
    for at in range(table, table + size * count, size):
        if int.from_bytes(data[at + 8 : at + 16], "little") & 4:  # it holds code
            data[at + 16 : at + 24] = b"\xff" * 8
    (kernel,) = incc.analyze(bytes(data), input="obj", mcpu="skylake")
    (whole,) = incc.analyze(library, input="obj", mcpu="skylake")
    assert kernel.content_hash == whole.content_hash


def test_damaged_objects_give_no_warnings_of_libraries(library: bytes) -> None:
    data = bytearray(library)
    data[18:20] = b"\xff\xff"  # the machine
    message = "code for machine 65535"
    with warnings.catch_warnings(record=True) as caught, pytest.raises(incc.AnalysisError, match=message):
        incc.analyze(bytes(data), input="obj", mcpu="skylake")
    assert not caught


# --- numbers ---------------------------------------------------------------------------------------------------------


def test_names_that_are_no_sequence() -> None:
    for name in ("port_names", "location_names"):
        k = bound("add %rax, %rbx", "skylake")
        setattr(k, name, 1)
        with pytest.raises(ValueError, match=f"^{name}: not a sequence"):
            simulate(k)


def test_an_instruction_of_many_slots_takes_no_time_to_speak_of() -> None:
    k = bound("add %rax, %rbx", "skylake")
    k.issue_slots = [1 << 16]
    begin = time.monotonic()
    simulation = simulate(k)
    assert simulation.cycles_per_iteration >= (1 << 16) / 4
    assert time.monotonic() - begin < 60


@pytest.mark.parametrize("number", ["1000000000001", "9" * 30, "9" * 5000])
def test_numbers_that_the_core_cannot_count_to(tmp_path: Path, number: str) -> None:
    (tmp_path / "k.s").write_text(LOOP)
    for option in ("loop", "iterations", "timeline-max-iterations"):
        found = run("mca", "--mcpu=skylake", f"--{option}={number}", str(tmp_path / "k.s"))
        assert (found.returncode, found.stdout) == (2, "")
        assert f"-{option} is at most 1000000000000" in found.stderr
    found = run("mca", "--mcpu=skylake", f"--alignment={number}", str(tmp_path / "k.s"))
    assert (found.returncode, found.stdout) == (2, "")
    assert "-alignment is a number below 64, or all" in found.stderr


@pytest.mark.long
def test_a_timeline_that_nobody_reads_is_cut_off_with_a_note() -> None:
    (kernel,) = incc.analyze(LOOP, input="asm", mcpu="skylake", timeline=100_000_000, what_ifs=False)
    assert any(note.startswith("the timeline shows only the first ") for note in kernel.notes)


def test_a_form_that_cannot_be_read_is_an_error_of_the_analysis(tmp_path: Path) -> None:
    path = tmp_path / "wrong.toml"
    path.write_text(
        'format = 1\nname = "wrong"\ninherits = "skylake"\n[forms]\n"ADD_RM64_IMM8/r" = { ports = "p01" }\n'
    )
    with pytest.raises(incc.AnalysisError, match="ADD_RM64_IMM8/r: malformed port usage 'p01'"):
        incc.analyze(LOOP, input="asm", mcpu="wrong", model_path=[str(path)])


SWAP = str(Path(__file__).parent.parent / "lit" / "golden" / "swap.s")


# --- streams ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("module", "arguments"),
    [("mca", ["--version"]), ("mca", ["--help"]), ("model", ["list"]), ("scan", ["--mcpu=skylake", SWAP])],
)
def test_output_that_cannot_be_written(module: str, arguments: list[str]) -> None:
    with open("/dev/full", "w", encoding="utf-8") as full:
        found = run(module, *arguments, stdout=full)
    assert (found.returncode, "Traceback" in found.stderr, "Exception" in found.stderr) == (1, False, False)


@pytest.mark.parametrize(("module", "arguments"), [("mca", ["--mcpu=skylake"]), ("scan", ["--mcpu=skylake"])])
def test_standard_input_that_is_closed(module: str, arguments: list[str]) -> None:
    found = run(module, *arguments, preexec_fn=lambda: os.close(0))
    assert (found.returncode, "Traceback" in found.stderr) == (1, False)


@pytest.mark.parametrize(("module", "arguments"), [("model", ["list"]), ("scan", ["--mcpu=skylake", os.devnull])])
def test_standard_output_that_is_closed(module: str, arguments: list[str]) -> None:
    found = run(module, *arguments, preexec_fn=lambda: os.close(1), stdout=None)
    assert (found.returncode, "Traceback" in found.stderr) == (1, False)
    assert "Bad file descriptor" in found.stderr


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"\x7fELF junk", "the ELF file is cut off in its header"),
        (b"\tnop\n\0\n", "not assembly: it contains NUL bytes"),
    ],
)
def test_a_binary_is_no_assembly(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes, reason: str
) -> None:
    file = tmp_path / "x.s"
    file.write_bytes(content)
    assert mca.main(["-mcpu=skylake", "--auto", str(file)]) == 1
    assert f"{file}: {reason}" in capsys.readouterr().err


# --- input without anything in it -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("module", "options"), [("mca", []), ("mca", ["--auto"]), ("mca", ["--auto", "--function=f"]), ("scan", [])]
)
@pytest.mark.parametrize("content", ["", "# nothing\n", "\t.data\nx:\t.long 1\n"])
def test_a_file_without_an_instruction_is_no_input(
    module: str, options: list[str], content: str, tmp_path: Path
) -> None:
    """As to llvm-mca."""
    path = tmp_path / "empty.s"
    path.write_text(content)
    done = run(module, *options, str(path))
    assert done.returncode == 1
    assert "empty.s: " in done.stderr
    assert done.stderr.endswith("not analysed: the file has no instruction\n")


@pytest.mark.parametrize(("module", "options"), [("mca", ["--auto"]), ("scan", [])])
def test_code_without_a_loop_is_no_error_but_is_told(module: str, options: list[str], tmp_path: Path) -> None:
    path = tmp_path / "straight.s"
    path.write_text("f:\n\tret\n")
    done = run(module, *options, str(path))
    assert done.returncode == 0
    assert "no loop to analyse" in (done.stdout + done.stderr).lower()


def test_conditions_that_hold_for_nothing_are_told_of(tmp_path: Path) -> None:
    path = tmp_path / "loop.s"
    path.write_text("f:\n.L1:\n\tdecl %eax\n\tjne .L1\n\tret\n")
    done = run("scan", "--where=cycles > 1000", str(path))
    assert (done.returncode, done.stderr) == (0, "incc-scan: note: no loop to analyse that meets the condition\n")
    assert run("scan", str(path)).stderr == ""
