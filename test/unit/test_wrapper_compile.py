"""Compiling from Python: the command's files and streams, units for the analysis, and a process left as it was."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from incc.frontends.gcc_wrapper.compile import Compiled, compile_units
from incc.frontends.gcc_wrapper.compiler import Compiler, CompilerError
from incc.frontends.gcc_wrapper.processes import Processes
from incc.frontends.gcc_wrapper.session import Compilation

DATA = Path(__file__).parent / "data" / "wrapper"

COMPILERS = [c for c in ("gcc", "clang", "clang-19", "clang-14") if shutil.which(c)]
every_compiler = pytest.mark.parametrize("cc", COMPILERS)
needs_gcc = pytest.mark.skipif(not shutil.which("gcc"), reason="no gcc")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with sources, which is not this process's; and another for temporary files, empty at the end."""
    folder, temporary = tmp_path / "work", tmp_path / "tmp"
    folder.mkdir()
    temporary.mkdir()
    for name in ("triad.c", "dot.c"):
        shutil.copy(DATA / name, folder)
    monkeypatch.setenv("TMPDIR", str(temporary))
    return folder


def nothing_left(place: Path) -> bool:
    return list((place.parent / "tmp").iterdir()) == []


@every_compiler
def test_the_command_does_what_it_does(place: Path, cc: str) -> None:
    (place / "plain").mkdir()
    subprocess.run([cc, "-O2", "-c", "triad.c", "-o", "plain/triad.o"], cwd=place, check=True)
    done = compile_units([cc, "-O2", "-march=haswell", "-c", "triad.c", "-o", "triad.o"], folder=place)
    subprocess.run([cc, "-O2", "-march=haswell", "-c", "triad.c", "-o", "plain/triad.o"], cwd=place, check=True)
    assert (place / "triad.o").read_bytes() == (place / "plain" / "triad.o").read_bytes()
    assert (done.status, done.warnings, done.notes) == (0, (), ())
    (unit,) = done.units
    assert (unit.source, unit.assembly_file, unit.compiler) == ("triad.c", "triad.s", cc)
    assert unit.command == (cc, "-O2", "-march=haswell", "-c", "triad.c", "-o", "triad.o")
    assert unit.cpu == "haswell"
    assert unit.compiler_version
    assert "triad:" in unit.assembly
    assert sorted(path.name for path in place.iterdir()) == ["dot.c", "plain", "triad.c", "triad.o"]
    assert nothing_left(place)


@needs_gcc
def test_several_sources_and_a_shells_words(place: Path) -> None:
    done = compile_units("gcc -O2 '-DNAME=a b' -S triad.c dot.c", folder=str(place))
    assert [unit.source for unit in done.units] == ["triad.c", "dot.c"]
    assert done.units[0].command[2] == "-DNAME=a b"
    assert (place / "dot.s").exists()


@needs_gcc
def test_streams(place: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (place / "bad.c").write_text("int f(void) { return x; }\n")
    kept = compile_units("gcc -c bad.c", folder=place, capture=True)
    assert (kept.status, kept.units, kept.output) == (1, (), b"")
    assert b"bad.c:1:" in kept.errors
    assert capfd.readouterr() == ("", "")
    passed = compile_units("gcc -c bad.c", folder=place)
    assert passed == Compiled(units=(), status=1, warnings=(), notes=(), output=b"", errors=b"")
    assert capfd.readouterr() == ("", kept.errors.decode())
    written = compile_units("gcc -O1 -S -o - triad.c", folder=place, capture=True)
    assert b"triad:" in written.output
    assert len(written.units) == 1
    assert nothing_left(place)


@needs_gcc
def test_standard_input(place: Path) -> None:
    """The compiler reads what is given, not what this process could read."""
    source = (place / "triad.c").read_bytes()
    done = compile_units("gcc -O2 -x c -c - -o x.o", folder=place, stdin=source)
    assert [unit.source for unit in done.units] == ["<stdin>"]
    assert "triad:" in done.units[0].assembly
    reader, writer = os.pipe()
    try:
        os.write(writer, b"int left;")
        kept = os.dup(0)
        os.dup2(reader, 0)
        try:
            assert compile_units("gcc -O2 -x c -c - -o y.o", folder=place).status == 0
            assert os.read(0, 100) == b"int left;"
        finally:
            os.dup2(kept, 0)
            os.close(kept)
    finally:
        os.close(reader)
        os.close(writer)


@needs_gcc
def test_the_process_is_left_as_it_was(place: Path) -> None:
    watched = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGCHLD, signal.SIGPIPE]
    before = [signal.getsignal(number) for number in watched], os.getcwd(), dict(os.environ)
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    descriptors = os.listdir("/proc/self/fd")
    compile_units("gcc -c triad.c", folder=place)
    assert before == ([signal.getsignal(number) for number in watched], os.getcwd(), dict(os.environ))
    assert signal.pthread_sigmask(signal.SIG_BLOCK, ()) == mask
    assert len(os.listdir("/proc/self/fd")) == len(descriptors)


@needs_gcc
def test_threads(place: Path) -> None:
    """Several at once, none of them in the main thread."""
    results: dict[int, Compiled] = {}
    folders = []
    for number in range(4):
        folder = place / str(number)
        folder.mkdir()
        (folder / "x.c").write_text(f"int f{number}(int n) {{ int s = 0; while (n--) s ^= n; return s; }}\n")
        folders.append(folder)

    def work(number: int) -> None:
        results[number] = compile_units("gcc -O1 -c x.c", folder=folders[number], capture=True)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number in range(4):
        assert results[number].status == 0
        assert f"f{number}:" in results[number].units[0].assembly
        assert (folders[number] / "x.o").exists()


@needs_gcc
def test_environment(place: Path) -> None:
    """The one that is given counts, and incc's own variables choose no other compiler."""
    environment = dict(os.environ) | {"INCC_CC": "no-such-compiler", "C_INCLUDE_PATH": str(place / "include")}
    (place / "include").mkdir()
    (place / "include" / "only-here.h").write_text("int here;\n")
    (place / "x.c").write_text("#include <only-here.h>\n")
    assert compile_units("gcc -c x.c", folder=place, environment=environment).status == 0
    assert compile_units("gcc -c x.c", folder=place, capture=True).status == 1


@needs_gcc
def test_what_there_is_nothing_to_say_of(place: Path) -> None:
    done = compile_units("gcc -O2 -flto -c triad.c", folder=place)
    assert (done.status, done.units) == (0, ())
    assert done.notes == ("triad.c: nothing to analyse: -flto writes GIMPLE; machine code is made when linking",)
    done = compile_units("gcc --version", folder=place, capture=True)
    assert (done.units, done.status, done.notes) == ((), 0, ())
    assert done.output.startswith(b"gcc")


def program(folder: Path, name: str, text: str) -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def test_a_compiler_that_does_not_say_what_it_runs(place: Path) -> None:
    program(place, "fakecc", 'case "$1" in -\\#*) echo "unknown option $1" >&2; exit 1;; esac; touch compiled')
    done = compile_units("./fakecc -c triad.c", folder=place)
    assert done == Compiled(
        units=(),
        status=0,
        warnings=("not analysed: fakecc does not support -###, which lists its sub-commands",),
        notes=(),
        output=b"",
        errors=b"",
    )
    assert (place / "compiled").exists()


def test_death_by_signal(place: Path) -> None:
    program(place, "fakecc", 'case "$1" in -\\#*) exit 0;; esac; kill -9 $$')
    assert compile_units("./fakecc -c triad.c", folder=place).status == -9


@needs_gcc
def test_launcher(place: Path) -> None:
    (place / "bin").mkdir()
    program(place / "bin", "ccache", 'exec "$@"')
    environment = dict(os.environ) | {"PATH": f"{place / 'bin'}:{os.environ['PATH']}"}
    done = compile_units(["ccache", "gcc", "-O2", "-c", "triad.c"], folder=place, environment=environment)
    assert done.status == 0
    assert [(unit.compiler, unit.command[0]) for unit in done.units] == [("gcc", "ccache")]


@pytest.mark.parametrize("command", ["no-such-compiler -c x.c", ["/no/where/gcc", "x.c"], ["./gcc"]])
def test_no_compiler(place: Path, command: str | list[str]) -> None:
    with pytest.raises(CompilerError, match="no such compiler"):
        compile_units(command, folder=place)


@pytest.mark.parametrize(("command", "words"), [("", "needs a compiler"), ([], "needs"), ("gcc 'x.c", "quotation")])
def test_no_command(command: str | list[str], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        compile_units(command)


@needs_gcc
def test_temporary_files_go_where_the_compilers_go(place: Path) -> None:
    """To /tmp, where the folder that is named is none."""
    done = compile_units("gcc -c triad.c", folder=place, environment=dict(os.environ) | {"TMPDIR": "/no/where"})
    assert (done.status, len(done.units), done.warnings) == (0, 1, ())
    assert (place / "triad.o").exists()


def test_interrupted(place: Path) -> None:
    """Ctrl-C in a notebook: the compiler is told to stop, and nothing is left."""
    program(
        place,
        "fakecc",
        'case "$1" in -\\#*) exit 0;; esac; trap "touch told; exit 1" TERM; touch started; sleep 60 & wait',
    )
    code = (
        "import os, signal, sys, threading, time\n"
        "from incc.frontends.gcc_wrapper.compile import compile_units\n"
        "def stop():\n"
        "    while not os.path.exists('started'): time.sleep(0.01)\n"
        "    time.sleep(0.2)  # the compiler may be faster than the return from its start\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "threading.Thread(target=stop).start()\n"
        "try:\n    compile_units('./fakecc -c triad.c')\n"
        "except KeyboardInterrupt:\n    sys.exit(5)\n"
    )
    path = os.pathsep.join(os.path.abspath(p) for p in sys.path if p)
    environment = dict(os.environ) | {"PYTHONPATH": path}
    done = subprocess.run([sys.executable, "-c", code], cwd=place, env=environment, timeout=60)
    assert done.returncode == 5
    assert (place / "told").exists()
    assert nothing_left(place)


def test_nothing_of_the_driver_is_imported() -> None:
    code = "import sys, incc.frontends.gcc_wrapper.compile; print(*[m for m in sys.modules if m.startswith('incc.')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    modules = done.stdout.split()
    assert "incc.frontends.gcc_wrapper.compile" in modules
    assert not [module for module in modules if not module.startswith(("incc.frontends", "incc.support"))]


@needs_gcc
def test_what_is_not_wanted_is_not_compiled_again(place: Path) -> None:
    started: list[str] = []

    class Noted(Processes):
        def start(self, path: str, words: Any, *rest: Any, **more: Any) -> int:
            started.append(" ".join(words))
            return super().start(path, words, *rest, **more)

    gcc = shutil.which("gcc")
    assert gcc
    arguments = ["-c", "triad.c", "dot.c"]
    processes = Noted(str(place), b"", None)
    compilation = Compilation(
        Compiler(gcc, ["gcc"]), arguments, dict(os.environ), processes, str(place), wanted=lambda name: name != "dot.c"
    )
    try:
        assert [unit.source for unit in compilation.units()] == ["triad.c"]
        assert compilation.unwanted == ["dot.c"]
        assert compilation.finish() == 0
        assert (place / "dot.o").exists()
        assert [unit.source for unit in compilation.assembly_with(["-O3"])] == ["triad.c"]
        proper = [words for words in started if "cc1" in words.split()[0]]
        assert len(proper) == 2
        assert not any("dot.c" in words for words in proper)
    finally:
        processes.end()
        compilation.close()
