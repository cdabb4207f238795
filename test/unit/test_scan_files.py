"""Inputs of incc-scan in folders and libraries, and the commands of projects: each failure has a line of its own."""

from __future__ import annotations

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incc.driver import UsageError
from incc.driver.code import kind_of
from incc.driver.commands import scan
from incc.driver.commands.scan.inputs import CodeFile, HexBlock, UnreadableInput, read_inputs
from incc.driver.commands.scan.pieces import PieceList
from incc.driver.commands.scan.project import read_project
from incc.fleet.flow import Piece
from incc.frontends.gcc_wrapper.compile_commands import CompilerCommand, read_commands
from incc.frontends.objects.archive import listed, members
from incc.support.errors import AnalysisError
from properties import examples

LOOP = "\t.globl {0}\n\t.type {0}, @function\n{0}:\n.L1:\n\tmulsd %xmm1, %xmm0\n\tdecq %rdi\n\tjne .L1\n\tret\n"


@pytest.fixture(scope="module")
def objects(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """A folder with the objects of two functions."""
    folder = tmp_path_factory.mktemp("objects")
    if shutil.which("as") is None:
        pytest.skip("no as")
    for name in ("one", "two"):
        (folder / f"{name}.s").write_text(LOOP.format(name) + "\tnop\n" * (name == "two"))
        subprocess.run(["as", "--64", folder / f"{name}.s", "-o", folder / f"{name}.o"], check=True)
    return folder


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, list[str], str]:
    """The exit status, the names of the kernels, and the messages."""
    status = scan.main(["-mcpu=skylake", "--format=cycles", *arguments])
    result = capsys.readouterr()
    return status, [line.rsplit(" ", 1)[0] for line in result.out.splitlines()], result.err


def find(path: pathlib.Path) -> tuple[list[str], list[str]]:
    """The names of the files at a path, and what could not be read."""
    found = list(read_inputs([str(path)], ""))
    files = [file.name for file in found if isinstance(file, CodeFile)]
    return files, [item.message for item in found if isinstance(item, UnreadableInput)]


def archive(path: pathlib.Path, *files: pathlib.Path, flags: str = "rcs") -> None:
    subprocess.run(["ar", flags, path, *files], check=True)


def test_members_are_listed_without_being_read(tmp_path: pathlib.Path, objects: pathlib.Path) -> None:
    long = tmp_path / "a_name_of_more_than_sixteen_characters.o"
    shutil.copy(objects / "two.o", long)
    archive(tmp_path / "x.a", objects / "one.o", long)
    found = list(listed(str(tmp_path / "x.a")))
    assert [member.name for member in found] == ["one.o", long.name]
    assert [(member.name, member.read()) for member in found] == list(members(str(tmp_path / "x.a")))
    assert found[1].read() == long.read_bytes()


@examples(60)
@given(st.data())
def test_damaged_libraries_are_read_as_far_as_they_go(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    header = b"%-16s%-12d%-6d%-6d%-8o%-10d`\n"
    whole = b"!<arch>\n" + b"".join(
        header % (name, 0, 0, 0, 0o644, 6) + b"\x7fELF12" for name in (b"one.o/", b"two.o/", b"three.o/")
    )
    damaged = bytearray(whole[: data.draw(st.integers(0, len(whole)))])
    for _ in range(data.draw(st.integers(0, 4))):
        if damaged:
            damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path_factory.getbasetemp() / "damaged.a"
    path.write_bytes(bytes(damaged))
    files, _ = find(path)
    assert len(files) <= 3
    assert bytes(damaged) != whole or len(files) == 3


def test_messages_are_in_the_order_of_the_inputs_with_any_j(
    tmp_path: pathlib.Path, objects: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "broken.o").write_bytes(b"\x7fELF" + bytes(60))
    archive(tmp_path / "a.a", tmp_path / "broken.o")
    with open(tmp_path / "a.a", "ab") as library:
        library.write(b"no member")
    shown = [run(capsys, f"-j{jobs}", str(tmp_path / "a.a"), str(objects / "one.o")) for jobs in (1, 2)]
    assert shown[0] == shown[1]
    first, second = shown[0][2].splitlines()
    assert "a.a(broken.o): " in first
    assert "a damaged static library" in second


@pytest.mark.parametrize("name", ["a\0b", "pipe", "/dev/zero", "folder", "gone"])
def test_thin_libraries_may_not_name_pipes_devices_or_folders(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    """Nothing is waited for, or read without end."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    header = "%-16s%-12d%-6d%-6d%-8o%-10d`\n"
    text = "!<thin>\n" + header % (f"{name}/", 0, 0, 0, 0o644, 6)
    (tmp_path / "thin.a").write_bytes(text.encode())
    status, lines, problems = run(capsys, str(tmp_path / "thin.a"))
    assert (status, lines) == (1, [])
    assert problems.startswith(f"incc-scan: error: {tmp_path}/thin.a(")
    assert problems.count("\n") == 1


def test_folders_are_searched_by_content(tmp_path: pathlib.Path, objects: pathlib.Path) -> None:
    (tmp_path / "b" / "deep").mkdir(parents=True)
    shutil.copy(objects / "one.o", tmp_path / "b" / "deep" / "data.bin")
    shutil.copy(objects / "two.o", tmp_path / "b" / "z.o")
    archive(tmp_path / "a.a", objects / "one.o", objects / "two.o")
    (tmp_path / "loop").symlink_to(tmp_path)
    (tmp_path / "outside.o").symlink_to(objects / "one.o")
    (tmp_path / "dangling.o").symlink_to(tmp_path / "nowhere")
    os.mkfifo(tmp_path / "pipe.o")
    (tmp_path / "text.o").write_text("no object\n")
    (tmp_path / "Main.class").write_bytes(b"\xca\xfe\xba\xbe\x00\x00\x00\x41" + bytes(40))
    (tmp_path / "MZ.txt").write_bytes(b"MZ is how programs for DOS begin" * 4)
    assert find(tmp_path) == ([str(tmp_path / "b/z.o"), str(tmp_path / "b/deep/data.bin")], [])


def test_the_same_code_counts_once_in_a_folder(
    tmp_path: pathlib.Path, objects: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copy(objects / "one.o", tmp_path / "one.o")
    subprocess.run(["ld", "-shared", objects / "one.o", objects / "two.o", "-o", tmp_path / "a.so"], check=True)
    status, lines, errors = run(capsys, str(tmp_path))
    assert status == 0
    assert [line.rsplit("/", 1)[1] for line in lines] == ["one.o:one+0x0", "a.so:two+0x0"]
    assert run(capsys, "--where=cycles > 0", str(tmp_path)) == (status, lines, errors)
    assert scan.main(["-mcpu=skylake", "--format=reports", str(tmp_path)]) == 0
    result = capsys.readouterr()
    reports = [json.loads(line)["units"] for line in result.out.splitlines()]
    assert [unit["assembly_file"] for (unit,) in reports] == [line.partition(":")[0] for line in lines]
    assert [len(unit["kernels"]) for (unit,) in reports] == [1, 1]
    assert result.err == errors
    assert errors == "incc-scan: note: left out 1 kernel that is in another file as well\n"
    # What is named itself is all shown.
    _, lines, errors = run(capsys, str(tmp_path / "one.o"), str(tmp_path / "a.so"))
    assert (len(lines), errors) == (3, "")


@pytest.mark.parametrize("output", ["text", "reports", "json", "cycles"])
def test_names_with_any_bytes(
    tmp_path: pathlib.Path, objects: pathlib.Path, capfdbinary: pytest.CaptureFixture[bytes], output: str
) -> None:
    name = os.fsdecode(os.fsencode(tmp_path) + b"/a\nb\x1b[31m\xff\xc2\x9b2J\xe2\x80\xae.o")
    shutil.copy(objects / "one.o", name)
    with open(name + ".bad.o", "wb") as file:
        file.write(b"\x7fELF and no more")
    assert scan.main(["-mcpu=skylake", f"--format={output}", str(tmp_path)]) == 1
    result = capfdbinary.readouterr()
    assert result.out.count(b"one") >= 1
    for control in (b"\x1b", "\x9b".encode(), "\u202e".encode()):
        assert control not in result.out + result.err
    assert result.err.startswith(b"incc-scan: error: ")
    assert result.err.count(b"\n") == 1
    assert b"a\\nb\\x1b[31m" in result.err


def test_inputs_that_cannot_be_read_have_a_line_each(
    tmp_path: pathlib.Path, objects: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good = tmp_path / "good.o"
    shutil.copy(objects / "one.o", good)
    (tmp_path / "noise.bin").write_bytes(bytes(range(256)) * 4096)
    status, lines, errors = run(capsys, str(tmp_path / "noise.bin"), str(good))
    assert status == 1
    assert len(lines) == 1
    assert errors == f"incc-scan: error: {tmp_path / 'noise.bin'}: not an ELF, PE/COFF or Mach-O file\n"
    assert run(capsys, "/dev/null") == (0, [], "incc-scan: note: nothing to analyse\n")
    archive(tmp_path / "gone.a", good, flags="rcsT")
    good.unlink()
    status, lines, errors = run(capsys, str(tmp_path / "gone.a"))
    assert (status, lines) == (1, [])
    assert errors.endswith("good.o): No such file or directory\n")
    (tmp_path / "code.bc").write_bytes(b"BC\xc0\xde" + bytes(60))
    _, _, errors = run(capsys, str(tmp_path / "code.bc"))
    assert "LLVM bitcode" in errors


def test_folders_that_cannot_be_read_are_named(
    tmp_path: pathlib.Path, objects: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(objects / "one.o", tmp_path / "one.o")
    (tmp_path / "locked").mkdir()
    scandir = os.scandir

    def refuse(path: str) -> object:
        if str(path).endswith("locked"):
            raise PermissionError(13, "Permission denied", path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    assert find(tmp_path) == ([str(tmp_path / "one.o")], [f"{tmp_path / 'locked'}: Permission denied"])


@given(st.binary(max_size=64))
def test_any_bytes_are_of_some_kind(start: bytes) -> None:
    assert kind_of(start) in ("object", "library", "bitcode", "")


@given(st.data())
def test_a_damaged_list_of_inputs_is_named(data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "_inputs")
        blocks = [HexBlock("x", n, "90") for n in range(3)]
        PieceList.of(blocks, str(path))
        content = bytearray(path.read_bytes())
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
        path.write_bytes(content[: data.draw(st.integers(0, len(content)))])
        with suppress(AnalysisError):
            assert all(isinstance(piece, Piece) for piece in PieceList.read(str(path)).after(0))


# --- projects ---------------------------------------------------------------------------------------------------------


def database(folder: pathlib.Path, content: object) -> str:
    path = folder / "compile_commands.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return str(path)


def test_commands_are_read_in_either_form(tmp_path: pathlib.Path) -> None:
    (tmp_path / "sub").mkdir()
    here = str(tmp_path)
    path = database(
        tmp_path,
        [
            {"directory": here, "file": "a b.c", "command": 'ccache distcc gcc -DX="1 2" -c "a b.c"'},
            {"directory": "sub", "file": "../x.c", "arguments": ["gcc", "-c", "../x.c"], "output": "x.o"},
            {"directory": "sub", "file": "../x.c", "arguments": ["gcc", "-c", "../x.c"]},
            {"file": "y.c", "command": "ccache"},
        ],
    )
    assert read_commands(path) == [
        CompilerCommand(file="a b.c", folder=here, words=("gcc", "-DX=1 2", "-c", "a b.c")),
        CompilerCommand(file="../x.c", folder=f"{here}/sub", words=("gcc", "-c", "../x.c")),
        CompilerCommand(file="y.c", folder=f"{here}/", words=("ccache",)),
    ]
    assert [command.file for command in read_project(here, [f"{here}/sub/../x.c"]).commands] == ["../x.c"]
    with pytest.raises(UsageError, match=r"no command for z\.c"):
        read_project(here, ["z.c"])


def test_each_source_of_a_command_has_its_reports(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyarrow", reason="no pyarrow")
    from incc.driver.datasets import opened_dataset

    monkeypatch.chdir(tmp_path)
    for name in ("one", "two"):
        text = f"long {name}(long *a, long n) {{ long s = 0; for (long i = 0; i < n; i++) s ^= a[i]; return s; }}"
        pathlib.Path(f"{name}.c").write_text(text)
    command = {"directory": str(tmp_path), "file": "one.c", "command": "gcc -O2 -c one.c two.c"}
    path = database(tmp_path, [command])
    assert scan.main(["-mcpu=skylake", "-j1", "-p", path, "-o", "loops"]) == 0
    with opened_dataset("loops") as dataset:
        assert [kernel.function for unit in dataset.units() for kernel in unit.kernels] == ["one", "two"]


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        (None, "it has no file"),
        ({"file": "x.c"}, "it has no command"),
        ({"file": "x.c", "command": "gcc 'x.c"}, "its command cannot be read: No closing quotation"),
        ({"file": "x.c", "command": 5}, "it has no command"),
        ({"file": "x.c", "arguments": ["gcc", 5]}, "it has no command"),
        ({"file": "x.c", "arguments": "gcc -c x.c"}, "it has no command"),
        ({"file": "x.c", "directory": ["y"], "command": "gcc"}, "it has no file"),
        ({"file": "x.c", "arguments": ["gcc", "x\0.c"]}, "NUL"),
        ({"file": "x.c", "arguments": ["gcc", "\ud800.c"]}, "not UTF-8"),
        ({"file": "\ud800.c", "arguments": ["gcc", "x.c"]}, "not UTF-8"),
    ],
)
def test_entries_that_are_no_commands_have_a_problem(tmp_path: pathlib.Path, entry: object, problem: str) -> None:
    (command,) = read_commands(database(tmp_path, [entry]))
    assert problem in command.problem


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["./gcc"], "its compiler ./gcc is not in PATH"),
        (["{here}/gcc"], "its compiler {here}/gcc is not in PATH"),
        (["gcc", "-B", "."], "-B may run other programs"),
        (["gcc", "-B."], "-B. may run other programs"),
        (["gcc", "-specs=x"], "-specs=x may run other programs"),
        (["gcc", "--specs", "x"], "--specs may run other programs"),
        (["gcc", "-wrapper", "sh"], "-wrapper may run other programs"),
        (["gcc", "-fplugin=./x.so"], "-fplugin=./x.so may run other programs"),
        (["clang", "-Xclang", "-load", "-Xclang", "./x.so"], "-load may run other programs"),
        (["clang", "-fpass-plugin=x.so"], "-fpass-plugin=x.so may run other programs"),
        (["clang", "--config=x"], "--config=x may run other programs"),
        (["gcc", "@options"], "-wrapper may run other programs"),
        (["gcc", "@missing"], "@missing may run other programs"),
        (["gcc", "-O3", "-Iinclude", "-DB=-B", "-march=native", "-Wa,--gdwarf-5"], ""),
        (["{path}/gcc", "-O3"], ""),
    ],
)
def test_commands_that_may_run_other_programs_are_refused(
    tmp_path: pathlib.Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    reason: str,
) -> None:
    path = tmp_path / "bin"
    path.mkdir()
    for folder in (tmp_path, path):
        (folder / "gcc").touch(0o755)
    (tmp_path / "options").write_text("-wrapper sh\n")
    monkeypatch.setenv("PATH", f"bin:{path}")
    monkeypatch.chdir(tmp_path)
    words = [word.format(here=tmp_path, path=path) for word in (*arguments, "-c", "x.c")]
    database(tmp_path, [{"directory": str(tmp_path), "file": "x.c", "arguments": words}])
    (command,) = read_project(str(tmp_path), []).commands
    assert command.problem.partition(";")[0] == reason.format(here=tmp_path)
    assert not read_project(str(tmp_path), [], trust=True).commands[0].problem
    if reason:
        assert scan.main([f"{tmp_path}/compile_commands.json"]) == 1
        assert reason.format(here=tmp_path) in capsys.readouterr().err


@pytest.mark.parametrize("text", ["", "{}", "5", "[", "[" * 100_000, "\udcff"])
def test_files_that_are_no_databases_are_refused(tmp_path: pathlib.Path, text: str) -> None:
    path = tmp_path / "compile_commands.json"
    path.write_text(text, errors="surrogateescape")
    with pytest.raises(UsageError, match="not a compilation database: "):
        read_project(str(tmp_path), [])


OTHERS = [
    ("cmake", "-E rm -f x.c", "x.c"),
    ("/usr/bin/ar", "qc libx.a x.c.o", "x.c.o"),
    ("python3", "generate.py x.c", "generate.py"),
    ("rm", "-f x.c", "x.c"),
    (":", "&& g++ x.o -o x", "x.o"),
    ("g++", "x.o -o x", "x.o"),
    ("gcc", "-c x.c && rm x.c", "x.c"),
    ("clang-cl", "/c x.c", "x.c"),
    ("accounting", "x.c", "x.c"),
]


def test_programs_that_are_no_compilers_are_never_run(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    here = str(tmp_path)
    (tmp_path / "x.c").write_text("void f(int *a) { for (int i = 0; i < 99; ++i) a[i] = i * i; }\n")
    entries = [{"directory": here, "file": file, "command": f"{name} {rest}"} for name, rest, file in OTHERS]
    database(tmp_path, entries)
    with pytest.raises(UsageError, match="no command of a known compiler, only of "):
        read_project(here, [])
    database(tmp_path, [*entries, {"directory": here, "file": "x.c", "command": "x86_64-linux-gnu-gcc-12.1 -c x.c"}])
    project = read_project(here, [])
    assert [command.words[0] for command in project.commands] == ["x86_64-linux-gnu-gcc-12.1"]
    assert project.note.startswith("9 commands compile no source and are skipped (:, accounting, ar, …")
    database(tmp_path, [*entries, {"directory": here, "file": "x.c", "command": "gcc -O1 -c x.c"}])
    status, lines, errors = run(capsys, "-p", here)
    assert (status, len(lines)) == (0, 1)
    assert errors == f"incc-scan: note: {project.note}\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["compile_commands.json", "x.c"]


def test_an_empty_database_is_refused(tmp_path: pathlib.Path) -> None:
    database(tmp_path, [])
    with pytest.raises(UsageError, match=r"no command of a known compiler$"):
        read_project(str(tmp_path), [])


@pytest.mark.parametrize("jobs", ["-j1", "-j2"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_scan_leaves_nothing(tmp_path: pathlib.Path, jobs: str, number: int) -> None:
    """The compiler is in the middle of its work when the signal comes."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    compiler = tmp_path / "slow-gcc"
    compiler.write_text(f"#!/bin/sh\necho started > {tmp_path}/pipe\nexec sleep 600\n")
    compiler.chmod(0o755)
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "x.c").write_text("int x;\n")
    entry = {"directory": str(tmp_path), "arguments": [str(compiler), "-c", "x.c"]}
    # Of two commands one is of no compiler, so that one process works.
    database(tmp_path, [{**entry, "file": "x.c"}, {"directory": str(tmp_path), "file": "y.c", "command": "no-such-cc"}])
    process = subprocess.Popen(
        [sys.executable, "-m", "incc.driver.commands.scan", "-mcpu=skylake", "-p", str(tmp_path), "--trust", jobs],
        env={**os.environ, "TMPDIR": str(scratch)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    assert (tmp_path / "pipe").read_text() == "started\n"
    if number == signal.SIGINT:  # as from a terminal
        os.killpg(process.pid, number)
    else:
        process.send_signal(number)
    _, errors = process.communicate()
    assert process.returncode != 0
    assert b"Traceback" not in errors
    assert list(scratch.iterdir()) == []


@pytest.mark.parametrize("jobs", ["-j1", "-j2"])
@pytest.mark.parametrize("end", ["signal.raise_signal(signal.SIGKILL)", "raise MemoryError", "1 / 0"])
def test_a_block_that_ends_its_analysis_costs_only_itself(tmp_path: pathlib.Path, jobs: str, end: str) -> None:
    if jobs == "-j1" and "KILL" in end:
        pytest.skip("there is only one process")
    program = f"""
import signal, sys
from incc.driver.commands.scan import analysis, main
real = analysis.analyze_kernel
def analyze_kernel(kernel, *more):
    if kernel.name.endswith(":33"):
        {end}
    return real(kernel, *more)
analysis.analyze_kernel = analyze_kernel
sys.exit(main(sys.argv[1:]))
"""
    (tmp_path / "a.hex").write_text("4801d8\n" * 64)
    command = [sys.executable, "-c", program, "-mcpu=skylake", "--format=cycles", jobs, "a.hex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stdout == "4801d8 1\n" * 63
    assert re.fullmatch(
        r"incc-scan: error: a.hex:33: not analysed: (a worker .* signal 9|out of memory|Zero.*)\n", done.stderr
    )
