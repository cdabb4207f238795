"""incc-mca with streams, files and numbers that are not as they should be."""

from __future__ import annotations

import importlib
import os
import pathlib
import re
import resource
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Callable

import pytest

from incc.core import cold_run
from incc.driver.cli.command import NAMES
from incc.driver.commands import db
from incc.driver.commands.mca import main
from incc.driver.pipeline import analyze_unit
from incc.frontends.unit import Unit
from incc.frontends.x86.llvm import reading as llvm_reading
from incc.support import files
from settings_fixtures import settings_with

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


NUL = [
    ("mca", ["-o", "a\0b", "a.s"]),
    ("mca", ["-html=a\0b", "a.s"]),
    ("mca", ["a\0.s"]),
    ("mca", ["--raw", "a\0.s"]),
    ("mca", ["--compat", "-o", "a\0b", "a.s"]),
    ("mca", ["--compat", "a\0.s"]),
    ("scan", ["a\0"]),
    ("diff", ["-o", "a\0", "a.s", "a.s"]),
    ("report", ["-o", "a\0", "a.s"]),
    ("build", ["-o", "a\0", "--", "true"]),
]


@pytest.mark.parametrize(("command", "words"), NUL)
def test_a_name_that_no_file_has(
    folder: pathlib.Path,
    command: str,
    words: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(folder)
    own = ["-mcpu=skylake"] if command == "mca" else []
    assert importlib.import_module(f"incc.driver.commands.{command}").main([*own, *words]) in (1, 2)
    said = capsys.readouterr().err
    assert "name contains a NUL" in said
    assert sorted(path.name for path in folder.iterdir()) == ["a.s", "bad.s"]


@pytest.mark.long
@pytest.mark.parametrize("face", [[], ["--compat"]], ids=["incc-mca", "llvm-mca"])
@pytest.mark.parametrize("streams", STREAMS)
def test_streams_that_are_closed_or_full(folder: pathlib.Path, streams: str, face: list[str]) -> None:
    """The exit status says what went wrong, where nothing else can."""
    for words in WORDS:
        command = [sys.executable, "-m", "incc.driver.commands.mca", *face, *words]
        done = subprocess.run(
            ["sh", "-c", f'"$@" {streams}', "sh", *command], cwd=folder, capture_output=True, input=b"addl %eax, %ebx\n"
        )
        assert done.returncode in (0, 1, 2), (words, done)
        assert b"Traceback" not in done.stderr, done.stderr.decode()


@pytest.mark.parametrize("option", ["--html=-", "--roofline=-", "--dg=-", "--cfg=-"])
def test_a_reader_that_ends_early_is_no_error(folder: pathlib.Path, option: str) -> None:
    (folder / "loop.s").write_text("f:\n.L1:\nvaddpd (%rdi,%rax), %ymm0, %ymm0\naddq $32, %rax\njne .L1\nret\n")
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "incc.driver.commands.mca", "-mcpu=skylake", "--auto", option, "loop.s"]
    done = subprocess.run(command, cwd=folder, stdout=writer, stderr=subprocess.PIPE)
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.long
@pytest.mark.parametrize("command", [name for name in NAMES if name != "incc"])
def test_help_and_usage_errors_to_streams_that_are_closed_or_full(command: str) -> None:
    for word in ("--help", "--version", "--no-such-option"):
        for streams in STREAMS:
            done = subprocess.run(["sh", "-c", f"{command} {word} {streams}"], capture_output=True)
            unwritten = not {">/dev/full", ">&-"}.isdisjoint(streams.split())
            assert done.returncode in ((1, 2) if unwritten or word == "--no-such-option" else (0,)), (word, done)
            assert b"Traceback" not in done.stderr
            assert b"Exception ignored" not in done.stderr


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


@pytest.mark.long
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
    result = analyze_unit(
        Unit(assembly="frob %eax\n", assembly_file="a.s"),
        settings_with(mcpu="skylake", regions="marked", cold_iterations=3),
    )
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


@pytest.mark.parametrize("face", [[], ["--compat"]], ids=["incc-mca", "llvm-mca"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_it_as_it_does_others(tmp_path: pathlib.Path, face: list[str], number: int) -> None:
    """Without a traceback, and without a folder left behind, whatever it is doing."""
    # It can write to no other folder than its own.
    (tmp_path / "as").write_text('#!/bin/sh\nfor input; do :; done\n: > "${input%/*}/started"\nexec sleep 100\n')
    (tmp_path / "as").chmod(0o755)
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "TMPDIR": str(temporary)}
    command = [sys.executable, "-m", "incc.driver.commands.mca", *face, "-mcpu=skylake", "-"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    for text in (b"", b"addl %eax, %ebx\n"):  # while it waits for input, and for the assembler
        process = subprocess.Popen(command, cwd=tmp_path, env=environment, **pipes)  # type: ignore[call-overload]
        assert process.stdin is not None
        if text:
            process.stdin.write(text)
            process.stdin.close()
            process.stdin = None
            wait_for(lambda: any(temporary.glob("*/started")))
        else:
            # It has handlers of its own by then.
            wait_for(lambda: int(_signals_caught(process.pid), 16) >> 14 & 1 == 1)  # noqa: B023
        process.send_signal(number)
        _, said = process.communicate(timeout=60)
        assert said == b""
        assert process.returncode == -number
        assert os.listdir(temporary) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_inside_a_callback_ends_it_too(number: int) -> None:
    """Python only prints an exception that leaves a callback of the garbage collector, and goes on."""
    program = f"""
import os, time
from incc.driver.messages import run_command

class Dropped:
    def __del__(self):
        os.kill(os.getpid(), {number})

def main():
    Dropped()
    time.sleep(20)
    return 0

raise SystemExit(run_command(main))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (-number, b"", b"")


def _signals_caught(process: int) -> str:
    lines = pathlib.Path(f"/proc/{process}/status").read_text().splitlines()
    return next(line.split()[1] for line in lines if line.startswith("SigCgt:"))


def wait_for(done: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not done():
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.mark.parametrize("face", [[], ["--compat"]], ids=["incc-mca", "llvm-mca"])
def test_input_without_an_end(face: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    assert main([*face, "-mcpu=skylake", "/dev/zero"]) == 1
    assert capfd.readouterr().err.endswith(
        "/dev/zero: error: more than 256 MiB\n" if face else "error: /dev/zero: more than 256 MiB\n"
    )


def test_an_object_is_not_limited_by_its_size(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """What lies in a file is read where it is needed: programs are larger than any text."""
    (tmp_path / "a.s").write_text("f: addl %eax, %ebx\njne f\n.data\n.fill 20000\n")
    subprocess.run(["as", "a.s", "-o", "a.o"], cwd=tmp_path, check=True)
    monkeypatch.setattr(files.read_bytes, "__defaults__", (10000,))
    for face in ([], ["--compat"]):
        assert main([*face, "-mcpu=skylake", str(tmp_path / "a.o")]) == 0
        assert "ebx" in capfd.readouterr().out
        assert main([*face, "-mcpu=skylake", "--raw", str(tmp_path / "a.o")]) == 1
        assert "more than 0.00954 MiB" in capfd.readouterr().err


def test_a_line_of_labels(tmp_path: pathlib.Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.s").write_text("".join(f".L{n}: " for n in range(100_000)) + "addl %eax, %ebx\n")
    begin = time.process_time()
    assert main(["-mcpu=skylake", str(tmp_path / "a.s")]) == 0
    assert time.process_time() - begin < 4
    assert "addl" in capfd.readouterr().out


@pytest.mark.parametrize("face", [[], ["--compat"]], ids=["incc-mca", "llvm-mca"])
def test_a_pipe_is_read_once(tmp_path: pathlib.Path, face: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    os.mkfifo(tmp_path / "pipe")
    with subprocess.Popen(["sh", "-c", "echo 'addl %eax, %ebx' > pipe"], cwd=tmp_path):
        assert main([*face, "-mcpu=skylake", str(tmp_path / "pipe")]) == 0
    assert "addl" in capfd.readouterr().out


def test_llvm_that_cannot_be_loaded(tmp_path: pathlib.Path) -> None:
    """As under a limit of memory."""
    (tmp_path / "a.s").write_text("frob %eax\n")
    (tmp_path / "llvmlite").mkdir()
    (tmp_path / "llvmlite" / "__init__.py").write_text("")
    (tmp_path / "llvmlite" / "binding.py").write_text("raise OSError('no room')\n")
    command = [sys.executable, "-m", "incc.driver.commands.mca", "--compat", "-mcpu=skylake", "a.s"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.startswith("a.s:1:1: error: no such instruction: `frob %eax'\n"), done.stderr


def test_a_cache_that_is_no_file(tmp_path: pathlib.Path) -> None:
    """A pipe would be waited for, and a device has no end."""
    model = tmp_path / "models" / "own.toml"
    model.parent.mkdir()
    found = list((ROOT / "models").rglob("skylake.toml"))
    model.write_bytes(found[0].read_bytes())
    (tmp_path / "a.s").write_text("addl %eax, %ebx\n")
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    command = [sys.executable, "-m", "incc.driver.commands.mca", "--compat", "--model-path=models", "-mcpu=own", "a.s"]

    def output() -> bytes:
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, check=True, timeout=100)
        return done.stdout

    expected = output()
    kept = list(tmp_path.rglob("*.incc"))
    assert kept
    for path in kept:
        path.unlink()
        os.mkfifo(path)
    assert output() == expected
    for path in kept:
        path.unlink(missing_ok=True)
        path.symlink_to("/dev/zero")
    assert output() == expected


def test_an_operand_as_deep_as_a_file_is_long(tmp_path: pathlib.Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.s").write_text(f"movl $1{'+1' * 100_000}, %eax\n")
    assert main(["--compat", "-mcpu=skylake", str(tmp_path / "a.s")]) == 0
    assert "movl\t$100001, %eax\n" in capfd.readouterr().out


@pytest.mark.long
@pytest.mark.parametrize(
    "text",
    [
        "# LLVM-MCA-BEGIN x\n# LLVM-MCA-END x\n" * 20_000,
        "addl %eax, %ebx\n" + "# LLVM-MCA-END x\n" * 40_000,
        "addl %eax, %ebx\n" + "/* LLVM-MCA-END x */" * 5_000,
        "movl $111, %ebx\n.byte 100,103,144\n" * 20_000,
        '"\n' * 20_000 + "addl %eax, %ebx\n",
        "frob %eax;" * 8_000 + "\naddl %eax, %ebx\n",
    ],
    ids=["empty", "end", "line", "iaca", "refused", "refused in one"],
)
@pytest.mark.parametrize("face", [[], ["--compat"]], ids=["incc-mca", "llvm-mca"])
def test_messages_take_time_by_their_number(
    tmp_path: pathlib.Path, text: str, face: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.s").write_text(text)
    begin = time.process_time()
    assert main([*face, "-mcpu=skylake", str(tmp_path / "a.s")]) == int(not (face and "movl" in text))
    assert time.process_time() - begin < 8
    assert len(capfd.readouterr().err) < 1 << 25


def test_what_llvm_cannot_tell_the_line_of_is_told(tmp_path: pathlib.Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.s").write_text(".macro m a\nm \\a\nm \\a\n.endm\nm x\n")
    assert main(["--compat", "-mcpu=skylake", str(tmp_path / "a.s")]) == 1
    assert "error: macros cannot be nested more than 20 levels deep" in capfd.readouterr().err


@pytest.mark.long
@pytest.mark.parametrize(
    ("text", "over"),
    [
        (".rept 1000000\naddl %eax, %ebx\n.endr\n", "4 MiB of output"),
        ('.include "/dev/zero"\n', "1024 MiB of memory"),
        ('.include "pipe"\n', "1 s"),
        (".rept 1000000000\nnop\n.endr\n", "1 s of the processor"),
    ],
    ids=["rept", "zero", "pipe", "time"],
)
def test_what_llvm_reads_has_an_end(
    tmp_path: pathlib.Path,
    monkeypatch: pytest.MonkeyPatch,
    text: str,
    over: str,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe")
    (tmp_path / "a.s").write_text(text)
    if over.startswith("1 s"):
        monkeypatch.setattr(llvm_reading, "_PATIENCE", 1 if over == "1 s" else 60)
        monkeypatch.setattr(llvm_reading, "processor_seconds", lambda size: 1)
    assert main(["--compat", "--trust-includes", "-mcpu=skylake", "a.s"]) == 1
    assert capfd.readouterr().err == f"a.s: error: LLVM's assembler was stopped: more than {over}\n"


def test_messages_have_one_limit_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each takes another run over the text."""
    monkeypatch.setattr(llvm_reading, "processor_seconds", lambda size: 0.5)
    begin = os.times()
    reading = llvm_reading.read(".rept 100000\nnop\n.endr\n" + "frob\n" * 50)
    end = os.times()
    assert reading is not None
    assert 0 < len(reading.diagnostics) < 50
    assert end.children_user + end.children_system - begin.children_user - begin.children_system < 5


@pytest.mark.parametrize(
    ("module", "arguments", "status"),
    [
        ("scan", ["--mcpu=skylake"], 1),
        ("scan", ["--mcpu=skylake", "--input-format=asm", "-"], 1),
        ("diff", ["a.json", "-"], 2),
        ("db", ["--db=a.db", "add", "--commit=c", "--date=2026-01-01", "-"], 1),
        ("db", ["--db=a.db", "add", "--commit=c", "--date=2026-01-01", "/dev/zero"], 1),
        ("report", ["-"], 2),
    ],
)
def test_other_commands_with_input_without_an_end(
    tmp_path: pathlib.Path, module: str, arguments: list[str], status: int
) -> None:
    (tmp_path / "a.s").write_text(".L0:\naddl %eax, %ebx\njne .L0\n")
    assert main(["-mcpu=skylake", "--auto", "-json", str(tmp_path / "a.s"), "-o", str(tmp_path / "a.json")]) == 0
    code = (
        f"import sys; from incc.driver.commands import {module} as m; from incc.support import files; "
        "files.read_bytes.__defaults__ = (1 << 20,); "
        "files.read_all.__defaults__ = (1 << 20,); sys.exit(getattr(m, 'command', m.main)())"
    )
    with open("/dev/zero", "rb") as zero:
        command = [sys.executable, "-c", code, *arguments]
        done = subprocess.run(command, cwd=tmp_path, stdin=zero, capture_output=True, text=True, timeout=100)
    assert done.returncode == status, done.stderr
    assert re.search("more than (1|2|16) MiB", done.stderr)
    assert "Traceback" not in done.stderr


def test_an_alignment_that_fills_the_memory(tmp_path: pathlib.Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Of a section of Mach-O it is a power of two, which is a number of 32 bits."""
    code = bytes.fromhex("01c3 75fc")  # 1: addl %eax, %ebx; jne 1b
    names = b"__text".ljust(16, b"\0") + b"__TEXT".ljust(16, b"\0")
    at = 32 + 72 + 80
    data = struct.pack("<8I", 0xFEEDFACF, 0x01000007, 3, 1, 1, 72 + 80, 0, 0)
    data += struct.pack("<2I16s4Q4I", 0x19, 72 + 80, b"", 0, len(code), at, len(code), 7, 7, 1, 0)
    data += names + struct.pack("<2Q8I", 0, len(code), at, 0xFFFFFFF0, 0, 0, 0x80000400, 0, 0, 0) + code
    (tmp_path / "a.o").write_bytes(data)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert main(["-mcpu=skylake", str(tmp_path / "a.o")]) == 0
    assert "ebx" in capfd.readouterr().out
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200 << 10


def test_a_database_whose_schema_is_no_text(tmp_path: pathlib.Path, capfd: pytest.CaptureFixture[str]) -> None:
    """SQLite quotes it in a message, which then is none that Python can read."""
    (tmp_path / "a.s").write_text(".L0:\naddl %eax, %ebx\njne .L0\n")
    report, place = str(tmp_path / "a.json"), tmp_path / "a.db"
    assert main(["-mcpu=skylake", "--auto", "-json", str(tmp_path / "a.s"), "-o", report]) == 0
    assert db.main([f"--db={place}", "add", "--commit=c", "--date=2026-01-01", report]) == 0
    data = place.read_bytes()
    at = data.index(b"PRIMARY KEY", data.index(b"CREATE TABLE kernels"))
    place.write_bytes(data[: at + 10] + b"\xb7" + data[at + 11 :])
    capfd.readouterr()
    for words in (["best"], ["list"], ["export", "csv"], ["add", "--commit=d", "--date=2026-01-02", report]):
        assert db.main([f"--db={place}", *words]) == 2
        assert f"incc-db: error: {place}: damaged; " in capfd.readouterr().err


def test_a_model_without_an_end(tmp_path: pathlib.Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "skylake.toml").symlink_to("/dev/zero")
    (tmp_path / "a.s").write_text("addl %eax, %ebx\n")
    assert main([f"--model-path={tmp_path}", "-mcpu=skylake", str(tmp_path / "a.s")]) == 1
    assert "error: " in capfd.readouterr().err


def test_messages_have_no_power_over_a_terminal(folder: pathlib.Path, capfd: pytest.CaptureFixture[str]) -> None:
    (folder / "c.s").write_text("frob \033[31m%eax\n\tfrob\t\x9b2J\n")
    assert main(["-mcpu=skylake", f"{folder}/c.s"]) == 1
    assert main(["-mcpu=skylake", f"{folder}/\033[2J.s"]) == 1
    assert main(["-mcpu=skylake", "-\033[2J"]) == 2
    said = capfd.readouterr().err
    assert all(line.isprintable() for line in said.split("\n"))
    assert "frob \\x1b[31m%eax" in said
    assert "unknown option -\\x1b[2J" in said
