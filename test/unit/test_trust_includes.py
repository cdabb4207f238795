"""Assembly that was given reads no other files, however it names them, unless the user trusts it."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
from collections.abc import Callable, Mapping

import pytest

import incc
from incc.driver.commands.mca import main as mca
from incc.driver.commands.scan import main as scan
from incc.frontends import assembling
from incc.frontends.x86 import assembler
from incc.frontends.x86.llvm import assembler as llvm_assembler
from incc.support import confined

LOOP = ".L3:\n\tvmovsd (%rdi,%rax,8), %xmm1\n\taddq $1, %rax\n\tcmpq %rax, %rdx\n\tjne .L3\n"
SECRET = "secretword of another file"

DIRECT = {
    "include": '.include "secret"',
    "incbin": '\t.INCBIN "secret"',
    "behind a label": 'x: .incbin "secret"',
    "behind a statement": 'nop; .include "secret"',
    "in a macro": '.macro m f\n.incbin "\\f"\n.endm\n.rept 2\nm secret\n.endr',
}
WRITTEN = {
    "macro": '.macro m a, b, f\n.\\a\\b "\\f"\n.endm\nm inc, lude, secret',
    "macro with parentheses": '.macro m a\n.inc\\()\\a "secret"\n.endm\nm bin',
    "irp": '.irp x, lude, bin\n.inc\\x "secret"\n.endr',
    "irpc": '.irpc x, l\n.inc\\x\\()ude "secret"\n.endr',
    "altmacro": '.altmacro\n.macro m x\n.inc&x "secret"\n.inc\\x "secret"\n.endm\nm bin',
}
PLACES = {
    "a link": "link",
    "a folder above": "../{folder}/secret",
    "the root": "{root}/secret",
    "the process": "/proc/self/environ",
    "an open file": "/proc/self/fd/{fd}",
    "the folder of the process": "/proc/self/cwd/secret",
    "the output": "/dev/stderr",
    "software": "/usr/include/stdio.h",
}


@pytest.fixture
def folder(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "secret").write_text(f"{SECRET}\n")
    (tmp_path / "link").symlink_to("secret")
    return tmp_path


def commands() -> dict[str, Callable[[], int]]:
    return {
        "incc-mca": lambda: mca(["-mcpu=skylake", "--auto", "a.s"]),
        "llvm-mca": lambda: mca(["--compat", "-mcpu=skylake", "a.s"]),
        "incc-scan": lambda: scan(["-mcpu=skylake", "a.s"]),
    }


@pytest.mark.parametrize("text", [*DIRECT.values(), *WRITTEN.values()], ids=[*DIRECT, *WRITTEN])
@pytest.mark.parametrize("command", commands())
def test_no_other_file_is_read(
    folder: pathlib.Path, command: str, text: str, capfd: pytest.CaptureFixture[str]
) -> None:
    (folder / "a.s").write_text(f"{text}\n{LOOP}")
    status = commands()[command]()
    output = "".join(capfd.readouterr())
    assert "secretword" not in output
    if command == "llvm-mca":
        assert status == 1
    elif text in DIRECT.values():
        assert "--trust-includes" in output
    else:
        assert status == 1
        assert "a.s: a macro of the text reads another file, which needs --trust-includes" in output


@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
def test_no_way_to_a_file_is_open(folder: pathlib.Path, place: str) -> None:
    with open("secret", "rb") as file:
        os.set_inheritable(file.fileno(), True)
        name = place.format(folder=folder.name, root=folder, fd=file.fileno())
        text = f".macro m a\n.inc\\a {name!r}\n.endm\nm bin\n{LOOP}".replace("'", '"')
        with pytest.raises(assembling.TextError, match="a macro of the text reads another file"):
            assembler.assemble(text, [5])


@pytest.mark.parametrize("text", [*WRITTEN.values()], ids=[*WRITTEN])
def test_a_text_that_may_name_files_is_refused_without_landlock(
    folder: pathlib.Path, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(confined, "_CREATE_RULESET", 100_000)  # no such call
    with pytest.raises(assembling.TextError, match=r"cannot confine the assembler's access to files.*--trust-includes"):
        assembler.assemble(f"{text}\n{LOOP}", [])
    assert assembler.assemble(LOOP, [2]).statements[2][0].code


def test_python_s_assembler_opens_no_files(folder: pathlib.Path) -> None:
    (folder / "a.s").write_text(f'.include "secret"\n{LOOP}')
    run = [sys.executable, llvm_assembler.__file__, "-o", "a.o", "a.s"]
    failed = subprocess.run(run, capture_output=True, text=True, check=False)
    assert failed.returncode
    assert "Could not find include file" in failed.stderr
    trusted = subprocess.run([*run[:2], "--trusted", *run[2:]], capture_output=True, text=True, check=False)
    assert "secretword" in trusted.stderr


def test_secure_logs_are_not_written(folder: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AS_SECURE_LOG_FILE", "log")
    monkeypatch.setattr(assembler, "_default_commands", lambda narrow: [[sys.executable, llvm_assembler.__file__]])
    assembler.assemble(f'.secure_log_unique "x"\n{LOOP}', [3])
    assert not (folder / "log").exists()


def test_trusted_assembly_reads_files(folder: pathlib.Path) -> None:
    (folder / "code").write_text("\taddq $1, %rax\n")
    (folder / "a.s").write_text('.L3:\n.include "code"\n\tsubq $1, %rax\n\tjne .L3\n.incbin "secret"\n')
    assert mca(["-mcpu=skylake", "--auto", "--trust-includes", "-o", "out", "a.s"]) == 0
    report = incc.analyze((folder / "a.s"), mcpu="skylake", trust_includes=True)
    assert not report.problems


def test_a_compiler_s_own_assembly_reads_files(folder: pathlib.Path) -> None:
    environment: Mapping[str, str] = {**os.environ, "INCC_MCPU": "skylake"}
    (folder / "a.s").write_text(f'.include "code"\n{LOOP}m\n')
    (folder / "code").write_text(".macro m\nnop\n.endm\n")
    run = ["incc", "gcc", "--analyze", "-c", "a.s"]
    result = subprocess.run(run, env=environment, capture_output=True, text=True, check=False)
    assert result.returncode == 0
    assert "trust-includes" not in result.stdout + result.stderr
    assert "Loop at .L3" in result.stdout
