"""The program `incc` in the lean mode: one compilation, as without incc whatever happens, and what it leaves."""

from __future__ import annotations

import hashlib
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from test_wrapper_same import CXX, DATA, FORTRAN, SEED, C, code_of, if_there, script
from wrapper_launcher import Result, front, make_incc, run, tree

from incc.driver.builds.jobs import read_job

GCCS = [if_there("gcc"), if_there("gcc-11")]
CLANGS = [if_there(f"clang-{version}") for version in (14, 16, 19)]
each_gcc = pytest.mark.parametrize("cc", GCCS)
each_clang = pytest.mark.parametrize("cc", CLANGS)
each_compiler = pytest.mark.parametrize("cc", GCCS + CLANGS)
needs_gcc = pytest.mark.skipif(not shutil.which("gcc"), reason="no gcc")


def nothing(place: Path) -> None:
    """What a test puts into the folder beside the sources."""


class Lean:
    """Runs a command in two equal folders, plainly and in the lean mode, and compares."""

    def __init__(self, folder: Path) -> None:
        self.incc = make_incc(folder)
        # An analysis would be one too many: jobs are left.
        script(folder, "python3", "echo started >&2\n")
        self.place = folder / "work"
        self.reports = folder / "reports"
        self.temporary = folder / "tmp"
        self.log = folder / "log"
        self.temporary.mkdir()
        self.environment = {
            "INCC_ANALYZE": "1",
            "INCC_OUTPUT": str(self.reports),
            "INCC_DEFER": "1",
            "INCC_CACHE": "0",
            "INCC_LOG": str(self.log),
            "TMPDIR": str(self.temporary),
        }

    def __call__(
        self,
        cc: str,
        *arguments: str,
        sources: list[str] | None = None,
        prepare: Callable[[Path], Any] = nothing,
        stdin: bytes | None = None,
        path: str = "",
        warned: bytes = b"",
        **environment: str,
    ) -> Result:
        """The result with incc, after making sure that it is the same without, but for what incc `warned` of."""
        shutil.rmtree(self.reports, ignore_errors=True)
        self.reports.mkdir()
        results = []
        common = {"TMPDIR": str(self.temporary), "PATH": path or os.environ["PATH"], **environment}
        for command, variables in (
            ([cc, *arguments], common),
            ([self.incc, *arguments], {**self.environment, "INCC_CC": cc, **common}),
        ):
            # Debug information and __FILE__ name the folder, so both runs use the same one, one after the other.
            shutil.rmtree(self.place, ignore_errors=True)
            self.place.mkdir()
            for name in sources or []:
                shutil.copy(DATA / name, self.place / name)
            prepare(self.place)
            results.append((run(command, self.place, stdin, **variables), tree(self.place)))
        (expected, expected_files), (got, files) = results
        assert got == Result(expected.status, expected.out, warned + expected.err)
        assert sorted(files) == sorted(expected_files)
        for name, content in files.items():
            # What is in a precompiled header is another each time.
            assert name.endswith(".gch") or content == expected_files[name], f"{name} differs"
        assert list(self.temporary.iterdir()) == [], "temporary files are left"
        return got

    def units(self) -> list[dict[str, Any]]:
        """What was left to be analysed, with the text or object as `content`."""
        found = []
        for job in sorted((self.reports / ".incc" / "jobs").glob("*")):
            for unit in json.loads((job / "job.json").read_text())["units"]:
                found.append({**unit, "content": (job / unit["file"]).read_bytes()})
        return found

    def said(self) -> str:
        return self.log.read_text() if self.log.exists() else ""


@pytest.fixture
def lean(tmp_path: Path) -> Lean:
    return Lean(tmp_path)


# --- the same as without incc -----------------------------------------------------------------------------------------


@each_compiler
@pytest.mark.parametrize("flags", [["-O0"], ["-O1", "-g"], ["-O2", "-pipe"], ["-O3", "-march=native", "-ffast-math"]])
def test_c_objects(lean: Lean, cc: str, flags: list[str]) -> None:
    lean(cc, *flags, "-c", *C, sources=C)
    units = lean.units()
    assert [u["source"] for u in units] == C
    assert {u["way"] for u in units} == {"object" if "clang" in cc else "assembler"}
    for unit in units:
        made = (lean.place / unit["output"]).read_bytes()
        assert unit["output"] == unit["source"].removesuffix(".c") + ".o"
        if "clang" in cc:
            assert unit["content"] == made
    (job,) = (lean.reports / ".incc" / "jobs").iterdir()
    assert read_job(str(job)).digest == {
        u["output"]: hashlib.blake2b((lean.place / u["output"]).read_bytes(), digest_size=16).hexdigest() for u in units
    }


@pytest.mark.long
@pytest.mark.parametrize("cc", [if_there("g++"), if_there("g++-11"), if_there("clang++-14"), if_there("clang++-19")])
def test_cxx_objects(lean: Lean, cc: str) -> None:
    lean(cc, "-O2", "-std=c++17", "-g1", "-c", *CXX, sources=CXX)
    assert [u["source"] for u in lean.units()] == CXX


@pytest.mark.parametrize("cc", [if_there("gfortran"), if_there("gfortran-11")])
def test_fortran_objects(lean: Lean, cc: str) -> None:
    lean(cc, "-O3", "-c", *FORTRAN, sources=FORTRAN)
    assert [u["source"] for u in lean.units()] == FORTRAN
    lean(cc, "-O2", "-Jmods", "-c", "field.f90", sources=["field.f90"], prepare=lambda p: (p / "mods").mkdir())
    assert len(lean.units()) == 1


@pytest.mark.long
@each_gcc
def test_text_is_that_of_the_object(lean: Lean, cc: str) -> None:
    for more in ([], ["-pipe"]):
        lean(cc, *more, "-O3", "-march=haswell", "-c", *C, sources=C)
        for unit in lean.units():
            plain = subprocess.run(
                [cc, "-O3", "-march=haswell", "-S", "-o", "-", unit["source"]], cwd=DATA, capture_output=True
            )
            assert code_of(unit["content"].decode()) == code_of(plain.stdout.decode()), unit["source"]
            assert Path(unit["proper"][0]).name == "cc1"
            assert "-march=haswell" in unit["proper"]


@each_compiler
@pytest.mark.parametrize(
    "arguments",
    [
        ["-S", "triad.c"],
        ["-S", "triad.c", "-g", "-o", "out.s"],
        ["-c", "triad.c", "-MD"],
        ["-c", "triad.c", "-MMD", "-MP", "-MF", "x.d", "-MT", "a target"],
        ["-c", "triad.c", "-g", "-gsplit-dwarf"],
        ["-c", "triad.c", "-ffunction-sections", "-fdata-sections", "-fPIC"],
        ["-c", "triad.c", "--coverage", *SEED],
        ["-c", "triad.c", "-fprofile-arcs", "-ftest-coverage", "-o", "other.o", *SEED],
        ["-c", "triad.c", "-fprofile-generate", *SEED],
        ["-c", "triad.c", "-fstack-usage"],
        ["-c", "-x", "c++", "triad.c"],
        ["-c", "-x", "c", "triad.c", "-x", "none", "dot.c"],
        ["-c", "-masm=intel", "-O2", "triad.c"],
        ["-c", "math.c", "-o", "quo'te \"d.o"],
        ["-c", '-DX="a \\"b\\" $c\n d"', "strings.c"],
        ["-c", "triad.c", "-Wall", "-Wextra", "-fdiagnostics-color=always"],
    ],
    ids=" ".join,
)
def test_kinds_of_command(lean: Lean, cc: str, arguments: list[str]) -> None:
    result = lean(cc, *arguments, sources=["triad.c", "dot.c", "math.c", "strings.c"])
    units = lean.units()
    if result.status != 0:
        # Such as C++ where there is only a compiler for C, which says so.
        assert units == []
        return
    assert [u["source"] for u in units] == [a for a in arguments if a.endswith(".c")]
    assert all((lean.place / u["output"]).exists() for u in units)


@each_gcc
@pytest.mark.parametrize(
    "arguments",
    [
        ["-shared", "-fPIC", "triad.c", "dot.c", "-o", "lib.so"],
        ["-shared", "-fPIC", "-pipe", "triad.c", "-o", "lib.so"],
        ["-c", "triad.c", "-flto", "-ffat-lto-objects", *SEED],
        ["-c", "triad.c", "-frecord-gcc-switches"],
        ["-c", "triad.c", "-fdump-tree-all", "-O2"],
        ["-c", "triad.c", "-Wa,-adhln=list.txt"],
        ["-c", "triad.c", "-fopt-info-vec=info.txt", "-O3"],
        ["-c", "triad.c", "-save-temps"],
        ["-c", "triad.c", "-wrapper", "env,FOO=1"],
        ["-c", "triad.c", "-no-integrated-cpp"],
        ["-c", "triad.c", "-fcompare-debug", "-O2"],
    ],
    ids=" ".join,
)
def test_kinds_of_gcc_command(lean: Lean, cc: str, arguments: list[str]) -> None:
    lean(cc, *arguments, sources=["triad.c", "dot.c"])
    units = lean.units()
    assert [u["source"] for u in units] == [a for a in arguments if a.endswith(".c")]
    assert {u["output"] for u in units} == {"lib.so" if "-shared" in arguments else "triad.o"}


@each_compiler
@pytest.mark.parametrize(
    "arguments",
    [
        ["--version"],
        [],
        ["-E", "triad.c"],
        ["-M", "dot.c"],
        ["-fsyntax-only", "triad.c"],
        ["-c", "missing.c"],
        ["-c", "triad.c", "missing.c"],
        ["-c", "triad.c", "-fno-such-option"],
        ["-c", "triad.c", "-flto", *SEED],
        ["nowhere.o", "-o", "program"],
    ],
    ids=" ".join,
)
def test_nothing_to_analyse(lean: Lean, cc: str, arguments: list[str]) -> None:
    lean(cc, *arguments, sources=["triad.c", "dot.c"])
    assert lean.units() == []
    assert ("-flto writes" in lean.said()) == ("-flto" in arguments)


@each_compiler
def test_precompiled_headers(lean: Lean, cc: str) -> None:
    def prepare(place: Path) -> None:
        (place / "all.h").write_text("static inline int twice(int a) { return 2 * a; }\n")
        (place / "use.c").write_text("int f(int a) { return twice(a); }\n")
        made = subprocess.run([cc, "-x", "c-header", "all.h", "-o", "all.h.gch", *SEED], cwd=place)
        assert made.returncode == 0

    # What gcc writes there is another each time.
    lean.reports.mkdir()
    environment = lean.environment | {"INCC_CC": cc}
    assert (
        run([lean.incc, "-x", "c-header", os.devnull, "-o", lean.temporary / "x"], lean.reports, **environment).status
        == 0
    )
    assert lean.units() == []
    (lean.temporary / "x").unlink()
    pch = "all.h.gch" if "clang" in cc else "all.h"
    lean(cc, "-c", "use.c", "-include-pch" if "clang" in cc else "-include", pch, prepare=prepare)
    assert [u["source"] for u in lean.units()] == ["use.c"]


@each_compiler
def test_standard_input(lean: Lean, cc: str) -> None:
    source = (DATA / "stencil.c").read_bytes()
    for more in ([], ["-pipe"]):
        lean(cc, "-O2", *more, "-x", "c", "-c", "-", "-o", "out.o", stdin=source)
        (unit,) = lean.units()
        assert (unit["source"], unit["output"]) == ("<stdin>", "out.o")


@each_compiler
def test_response_files(lean: Lean, cc: str) -> None:
    def prepare(place: Path) -> None:
        (place / "args").write_text('-O2 -c "triad.c" -march=haswell @more')
        (place / "more").write_text("-o 'in quotes.o'")

    lean(cc, "@args", sources=["triad.c"], prepare=prepare)
    (unit,) = lean.units()
    assert (unit["source"], unit["output"]) == ("triad.c", "in quotes.o")


@each_compiler
def test_assembler_sources(lean: Lean, cc: str) -> None:
    plain = b"f:\n\taddl $1, %eax\n\tjne f\n"

    def prepare(place: Path) -> None:
        (place / "plain.s").write_bytes(plain)
        (place / "macros.S").write_text("#define ONE $1\ng:\n\taddl ONE, %ebx\n\tjne g\n")

    for more in ([], ["-pipe"]):
        lean(cc, *more, "-c", "plain.s", "macros.S", "triad.c", sources=["triad.c"], prepare=prepare)
        given, macros, triad = lean.units()
        assert (given["source"], given["way"], given["content"]) == ("plain.s", "given", plain)
        assert macros["source"] == "macros.S"
        assert triad["source"] == "triad.c"
        if "gcc" in cc:
            assert macros["way"] == "given"
            assert b"addl $1, %ebx" in macros["content"]
        # The user's file is his: no second name of it is left.
        assert (lean.place / "plain.s").stat().st_nlink == 1


@each_compiler
def test_absolute_names(lean: Lean, cc: str) -> None:
    target = lean.place / "deep" / "x.o"
    lean(
        cc,
        "-O2",
        "-c",
        str(lean.place / "triad.c"),
        "-o",
        str(target),
        sources=["triad.c"],
        prepare=lambda p: (p / "deep").mkdir(),
    )
    (unit,) = lean.units()
    assert (unit["source"], unit["output"]) == (str(lean.place / "triad.c"), str(target))


@needs_gcc
def test_names_of_any_bytes(lean: Lean) -> None:
    name = 'it\'s a "file" \udcff\n$x.c'
    lean("gcc", "-O2", "-c", name, prepare=lambda p: shutil.copy(DATA / "triad.c", p / name))
    (job,) = (lean.reports / ".incc" / "jobs").iterdir()
    (unit,) = read_job(str(job)).units
    assert unit.source == name
    assert unit.output == name.removesuffix(".c") + ".o"


@needs_gcc
def test_ccache_may_keep_what_gcc_makes(lean: Lean) -> None:
    """A launcher gets no -wrapper, which would make the call one that it does not keep."""
    seen = lean.place.parent / "bin"
    seen.mkdir()
    script(seen, "ccache", f'echo "$@" >> "{seen}/calls"; exec "$@"\n')
    path = f"{seen}:{os.environ['PATH']}"
    lean("gcc", "-c", "triad.c", sources=["triad.c"], path=path, INCC_CC="ccache gcc")
    assert (seen / "calls").read_text() == "gcc -c triad.c\n"
    assert [u["way"] for u in lean.units()] == ["object"]


# --- what goes wrong --------------------------------------------------------------------------------------------------


@each_gcc
@pytest.mark.parametrize(
    "what", ["kill -SEGV $$", "kill -KILL $$", "kill -TERM $$", "echo wrong >&2; exit 1", "exit 4"]
)
@pytest.mark.parametrize("more", [[], ["-pipe"]])
def test_a_compiler_proper_that_fails(lean: Lean, cc: str, what: str, more: list[str]) -> None:
    """Also what the driver says of it: the name of the program that crashed."""

    def prepare(place: Path) -> None:
        (place / "B").mkdir()
        script(place / "B", "cc1", what + "\n")

    assert lean(cc, *more, "-BB/", "-c", "triad.c", sources=["triad.c"], prepare=prepare).status != 0
    assert lean.units() == []


@each_compiler
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_in_the_middle(lean: Lean, cc: str, number: signal.Signals) -> None:
    """As without incc: the same death, nothing half-written, nothing temporary."""
    lean.place.mkdir()
    lean.reports.mkdir()
    for analyze in (False, True):
        read, write = os.pipe()
        environment = {k: v for k, v in os.environ.items() if not k.startswith("INCC_")} | {
            "TMPDIR": str(lean.temporary)
        }
        if analyze:
            environment |= lean.environment | {"INCC_CC": cc}
        process = subprocess.Popen(
            [lean.incc if analyze else cc, "-x", "c", "-c", "-", "-o", "x.o"],
            cwd=lean.place,
            stdin=read,
            stderr=subprocess.DEVNULL,
            env=environment,
            start_new_session=True,
        )
        os.close(read)
        # Until the compiler proper reads what comes.
        os.write(write, b"int a;\n" * 9000)
        deadline = time.monotonic() + 30
        while not unread(write) and time.monotonic() < deadline:
            time.sleep(0.01)
        process.send_signal(number)
        time.sleep(0.05)
        os.close(write)
        if not analyze:
            expected = process.wait(60)
        else:
            assert process.wait(60) == expected
        # cc1 may write its text after the driver has removed it, with incc and without.
        wait_until(lambda: list(lean.temporary.glob("incc-*")) == [], "temporary files are left")
    assert lean.units() == []


def unread(write: int) -> bool:
    """Whether somebody has read from the pipe."""
    import array
    import fcntl
    import termios

    left = array.array("i", [0])
    fcntl.ioctl(write, termios.FIONREAD, left)
    return left[0] < 9000 * 7


def wait_until(holds: Callable[[], bool], otherwise: str) -> None:
    deadline = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < deadline, otherwise
        time.sleep(0.02)


@needs_gcc
@pytest.mark.parametrize("fault", ["read-only", "file", "full"])
def test_a_folder_of_reports_that_cannot_be_written(lean: Lean, fault: str) -> None:
    # Root may write anywhere but there; others are told at once.
    target = {"read-only": "/sys/fs", "full": "/proc", "file": "/dev/full"}[fault]
    if not Path(target).exists():
        pytest.skip(f"no {target}")
    told = os.geteuid() != 0 and fault != "file"
    warned = f"incc: warning: not analysed: INCC_OUTPUT: {target}: Permission denied\n" if told else ""
    lean("gcc", "-O2", "-c", "triad.c", sources=["triad.c"], warned=warned.encode(), INCC_OUTPUT=target)
    if fault != "file" and not told:
        assert "triad.c: not analysed: " in lean.said()


@needs_gcc
def test_a_folder_of_reports_without_its_parent(lean: Lean) -> None:
    """Nothing of a whole build would be analysed: that is said where it is seen, not in a log."""
    target = lean.place.parent / "missing"
    warned = f"incc: warning: not analysed: INCC_OUTPUT: {target}/: No such file or directory\n"
    lean("gcc", "-O2", "-c", "triad.c", sources=["triad.c"], warned=warned.encode(), INCC_OUTPUT=f"{target}/reports")
    assert not target.exists()


@pytest.mark.long
@needs_gcc
def test_files_that_may_not_grow(lean: Lean) -> None:
    """A limit on the size of files holds the copies of the text, but not the compiler."""
    (lean.place.parent / "big.c").write_text(
        "".join(f"int f{i}(int a) {{ return a * {i} + 7; }}\n" for i in range(3000))
    )
    for more in ([], ["-pipe"]):
        limits = (200_000, resource.getrlimit(resource.RLIMIT_FSIZE)[1])
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        try:
            result = lean(
                "gcc",
                "-O1",
                *more,
                "-c",
                "big.c",
                "-o",
                "/dev/null",
                prepare=lambda p: shutil.copy(p.parent / "big.c", p),
            )
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        if more:
            assert result.status == 0
            assert "could not be kept" in lean.said()


@needs_gcc
def test_no_place_for_temporary_files(lean: Lean) -> None:
    result = lean("gcc", "-O2", "-c", "triad.c", sources=["triad.c"])
    assert result == Result(0, b"", b"")
    # gcc takes /tmp then, and so does incc.
    environment = lean.environment | {"TMPDIR": "/no/where", "INCC_CC": "gcc"}
    assert run([lean.incc, "-c", "triad.c"], lean.place, **environment) == Result(0, b"", b"")
    assert len(lean.units()) == 2


@needs_gcc
@pytest.mark.parametrize("python", ["missing", "broken", "fails", "killed"])
def test_python_that_does_not_do_its_part(lean: Lean, python: str) -> None:
    place = lean.incc.parent / "python3"
    place.unlink()
    if python == "broken":
        place.write_bytes(b"\x7fELF nonsense")
        place.chmod(0o755)
    elif python != "missing":
        script(lean.incc.parent, "python3", "exit 1\n" if python == "fails" else "kill -9 $$\n")
    if python == "missing":
        place.write_text("#!/no/such/interpreter\n")
        place.chmod(0o755)
    result = lean("gcc", "-O2", "-c", "triad.c", sources=["triad.c"], INCC_DEFER="0")
    assert result == Result(0, b"", b"")
    if python != "fails":
        assert "triad.c: not analysed: " in lean.said()
    # In the full mode the compiler still compiles, if Python cannot even start.
    if python in ("missing", "broken"):
        (lean.place / "triad.o").unlink()
        done = run([lean.incc, "--incc-cc=gcc", "--analyze", "-c", "triad.c"], lean.place)
        assert (done.status, done.out, done.err.count(b"\n")) == (0, b"", 1)
        assert done.err.startswith(b"incc: warning: not analysed: ")
        assert (lean.place / "triad.o").exists()


@needs_gcc
def test_a_package_that_cannot_be_imported(tmp_path: Path) -> None:
    """In the full mode Python is what compiles; one that cannot goes back to the program."""
    incc = make_incc(tmp_path)
    program = "import sys; sys.modules['incc'] = None; program = sys.argv[3]; del sys.argv[1:4]; exec(program)"
    script(tmp_path, "python3", f'exec "{sys.executable}" -c "{program}" "$@"\n')
    shutil.copy(DATA / "triad.c", tmp_path)
    done = run([incc, "--incc-cc=gcc", "--analyze", "-c", "triad.c"], tmp_path)
    assert (done.status, done.out) == (0, b"")
    assert done.err.startswith(b"incc: warning: not analysed: ModuleNotFoundError: ")
    assert (tmp_path / "triad.o").exists()


@needs_gcc
@pytest.mark.parametrize("variables", [{"PYTHONHOME": "/no/where"}, {"PYTHONPATH": "/no/where", "PYTHONSTARTUP": "x"}])
def test_variables_of_python_are_the_builds(tmp_path: Path, variables: dict[str, str]) -> None:
    shutil.copy(DATA / "triad.c", tmp_path)
    done = run([front(), "--incc-cc=gcc", "-O2", "-c", "triad.c", "--analyze"], tmp_path, **variables)
    assert (done.status, done.err) == (0, b"")
    assert b"triad" in done.out
    fake = script(tmp_path, "fakecc", "env | grep ^PYTHON\n")
    seen = run([front(), f"--incc-cc={fake}", "-c", "triad.c"], tmp_path, **variables).out.decode().split()
    assert {f"{name}={value}" for name, value in variables.items()} <= set(seen)


@needs_gcc
def test_what_is_started_does_not_see_incc(lean: Lean) -> None:
    """Neither in its environment nor in its arguments, but for INCC_DEPTH."""

    def prepare(place: Path) -> None:
        (place / "B").mkdir()
        real = subprocess.run(["gcc", "-print-prog-name=cc1"], capture_output=True, text=True).stdout.strip()
        script(place / "B", "cc1", f'env | grep -v -e ^INCC_ -e ^_= | sort > seen; exec {real} "$@"\n')

    lean("gcc", "-BB/", "-c", "triad.c", sources=["triad.c"], prepare=prepare)
    assert len(lean.units()) == 1
    assert b"COLLECT_GCC_OPTIONS='-B' 'B/' '-c'" in (lean.place / "seen").read_bytes()


@needs_gcc
def test_closed_streams(lean: Lean) -> None:
    lean.place.mkdir()
    lean.reports.mkdir()
    shutil.copy(DATA / "triad.c", lean.place)
    for closed in ("<&-", ">&-", "2>&-", "<&- >&- 2>&-"):
        (lean.place / "triad.o").unlink(missing_ok=True)
        done = run(["sh", "-c", f"'{lean.incc}' -c triad.c {closed}"], lean.place, **lean.environment, INCC_CC="gcc")
        assert done == Result(0, b"", b"")
        assert (lean.place / "triad.o").exists()
    assert len(lean.units()) == 4


# --- what becomes of a job --------------------------------------------------------------------------------------------


@each_compiler
def test_reports_of_a_folder_and_of_the_cache(tmp_path: Path, cc: str) -> None:
    """The second time the program takes the report from the cache, without Python; a change of anything is another."""
    shutil.copy(DATA / "triad.c", tmp_path)
    (tmp_path / "reports").mkdir()
    incc = tmp_path / "incc"
    shutil.copy(front(), incc)
    real = tmp_path / "python3"
    calls = tmp_path / "calls"
    path = os.pathsep.join(p for p in sys.path if p)
    real.write_text(f'#!/bin/sh\necho x >> "{calls}"\nshift\nPYTHONPATH="{path}" exec "{sys.executable}" "$@"\n')
    real.chmod(0o755)
    variables = {
        "INCC_ANALYZE": "1",
        "INCC_OUTPUT": "reports",
        "INCC_CC": cc,
        "INCC_CACHE": str(tmp_path / "cache"),
        "INCC_MCPU": "skylake",
        "INCC_WORKERS": "0",
        "INCC_LOG": str(tmp_path / "log"),
    }

    def compiled(*arguments: str, **more: str) -> int:
        """How often Python was started for it."""
        calls.write_text("")
        assert run([incc, *arguments, "-c", "triad.c"], tmp_path, **{**variables, **more}) == Result(0, b"", b"")
        return len(calls.read_text().splitlines())

    def report() -> Path:
        (found,) = (tmp_path / "reports").glob("*.json")
        return found

    assert compiled("-O2") == 1, (tmp_path / "log").read_text()
    first = report().read_bytes()
    unit = json.loads(first)["units"][0]
    assert (unit["source"], unit["output"], unit["folder"]) == ("triad.c", "triad.o", str(tmp_path))
    assert unit["kernels"]
    report().unlink()
    assert compiled("-O2") == 0
    assert report().read_bytes() == first
    lines = [json.loads(line) for line in (tmp_path / "reports/.incc/manifest.jsonl").read_text().splitlines()]
    assert len(lines) == 2
    assert lines[0] == lines[1]
    assert lines[0]["digest"] == hashlib.blake2b((tmp_path / "triad.o").read_bytes(), digest_size=16).hexdigest()
    # Each of these is another unit, or asks for another report.
    assert compiled("-O3") == 1
    assert compiled("-O2", INCC_MCPU="haswell") == 1
    assert compiled("-O2", INCC_CACHE="0") == 1
    (tmp_path / "incc.toml").write_text('[analyze]\nfunctions = ["none"]\n')
    assert compiled("-O2") == 1
    (tmp_path / "incc.toml").unlink()
    assert compiled("-O2") == 0
    with (tmp_path / "triad.c").open("a") as source:
        source.write("int more(int a) { return a + 1; }\n")
    assert compiled("-O2") == 1
    # What others may have written counts as missing.
    units = tmp_path / "cache/units"
    assert compiled("-O2") == 0
    units.chmod(0o770)
    assert compiled("-O2") == 1
    units.chmod(0o700)
    assert compiled("-O2") == 0
    units.rename(tmp_path / "units")
    units.symlink_to(tmp_path / "units")
    assert compiled("-O2") == 1
    units.unlink()
    (tmp_path / "units").rename(units)
    # What is damaged counts as missing.
    for entry in units.glob("*/*"):
        entry.write_bytes(entry.read_bytes()[:-1])
    assert compiled("-O2") == 1


@needs_gcc
def test_report_to_standard_output_and_to_a_file(tmp_path: Path) -> None:
    shutil.copy(DATA / "triad.c", tmp_path)
    common = {"INCC_CC": "gcc", "INCC_ANALYZE": "1", "INCC_MCPU": "skylake", "INCC_CACHE": "0"}
    done = run([front(), "-O2", "-c", "triad.c"], tmp_path, **common)
    assert (done.status, done.err) == (0, b"")
    assert b"triad" in done.out
    done = run([front(), "-O2", "-c", "triad.c"], tmp_path, **common, INCC_OUTPUT="all", INCC_FORMAT="json")
    assert done == Result(0, b"", b"")
    (line,) = (tmp_path / "all").read_text().splitlines()
    assert json.loads(line)["units"][0]["way"] == "assembler"


@needs_gcc
def test_lean_by_the_command_line(tmp_path: Path) -> None:
    shutil.copy(DATA / "triad.c", tmp_path)
    command = [front(), "--incc-cc=gcc", "-O2", "-c", "triad.c", "--analyze-mode=lean"]
    more = ["--analyze-mcpu=skylake", "--analyze-format=json", "--analyze-what-if=port 5 += 1"]
    done = run([*command, *more], tmp_path, INCC_CACHE="0")
    assert (done.status, done.err) == (0, b"")
    report = json.loads(done.out)
    assert report["units"][0]["way"] == "assembler"
    assert run([*command, *more, "--analyze=all"], tmp_path, INCC_CACHE="0") == Result(0, b"", b"")
    assert json.loads((tmp_path / "all").read_text())["units"][0]["way"] == "assembler"
    done = run([*command, "--analyze-xyzzy"], tmp_path, INCC_CACHE="0")
    assert (done.status, done.out) == (0, b"")
    assert b"unknown option --analyze-xyzzy" in done.err


@needs_gcc
def test_full_by_the_environment(lean: Lean) -> None:
    place = lean.incc.parent
    script(place, "python3", 'for a; do case "$a" in import*) ;; *) echo "$a";; esac; done\n')
    os.mkfifo(place / "pipe")
    variables = {"INCC_CC": "gcc -m64", "INCC_ANALYZE": "1", "INCC_WORKERS": "0"}
    # What only the full mode makes, what a first compilation does not show, and who asks for it.
    for arguments, more in (
        (["-c", "x.c"], {"INCC_MODE": "full"}),
        (["-c", "x.c"], {"INCC_MODE": "else"}),
        (["-c", "x.c"], {"INCC_OPTIONS": "--emit-marked=x", "INCC_ANALYZE": "0"}),
        (["-S", "x.c", "-o", "-"], {}),
        (["-c", "-Wa,-al", "x.c"], {}),
        (["x.c", "-v"], {}),
        (["-S", "x.c", "-o", "/dev/null"], {}),
        (["-S", "x.c", "-o", "pipe"], {}),
        (["-c", "-x", "assembler", "-"], {}),
    ):
        done = run([lean.incc, *arguments], place, **{**variables, **more})
        assert done.out.decode().splitlines()[-len(arguments) - 3 :] == ["2", "gcc", "-m64", *arguments]


@pytest.mark.parametrize("cc", [if_there("gcc"), if_there("g++"), if_there("gfortran"), *CLANGS])
def test_endings_of_sources_are_those_of_compilers(cc: str, tmp_path: Path) -> None:
    """A file that the front takes for an object has no report, without a word."""
    table = (Path(__file__).parents[2] / "front/command.cpp").read_text()
    listed = table.partition("SourceEndings[] = {")[2].partition("};")[0]
    endings = set(re.findall(r'"([^"]+)"', listed))
    # Endings of clang/lib/Driver/Types.cpp and of gcc/gcc.cc with its lang-specs.h; headers make no code.
    others = {"o", "a", "so", "lo", "x", "txt", "def", "inc", "f77", "f18", "F18", "i90", "py", "CPPM", "cuh", "asm"}
    asked = []
    for ending in sorted(endings | others):
        (tmp_path / f"x.{ending}").write_text("")
        done = subprocess.run([cc, "-###", "-c", f"x.{ending}"], cwd=tmp_path, capture_output=True, text=True)
        if re.search(r'"-emit-obj"|"-cc1as"|/cc1 |/cc1plus |/f951 |^ as ', done.stderr, re.MULTILINE):
            asked.append(ending)
    assert len(asked) > 10
    assert set(asked) <= endings


@needs_gcc
@pytest.mark.parametrize("mode", ["lean", "full"])
@pytest.mark.parametrize(
    "arguments",
    [["-S", "-xc", "/dev/null", "-o", "/dev/null"], ["-c", "-xc", "/dev/null"], ["-xc", "-", "-o", "/dev/null"]],
)
def test_trials_of_kbuild_are_not_analysed(lean: Lean, arguments: list[str], mode: str) -> None:
    lean("gcc", *arguments, stdin=b"int main(void) { return 0; }\n", INCC_MODE=mode)
    assert lean.units() == []
    assert lean.said() == ""


@needs_gcc
@pytest.mark.parametrize(
    "source", ["conftest.c", "build/CMakeFiles/CMakeScratch/TryCompile-1/src.c", "b/meson-private/tmp1/testfile.c"]
)
def test_trials_of_configure_are_not_analysed(lean: Lean, source: str) -> None:
    def prepare(place: Path) -> None:
        (place / source).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(DATA / "triad.c", place / source)

    lean("gcc", "-c", source, prepare=prepare)
    assert lean.units() == []


@needs_gcc
@pytest.mark.parametrize(
    ("folder", "output"),
    [
        ("build/CMakeFiles/CMakeTmp", "x.o"),  # try_run of a project's source
        ("build/CMakeFiles/3.25.1/CompilerIdCXX", "x.o"),
        ("build/CMakeFiles/_CMakeLTOTest-C/bin", "x.o"),
        (".", "CMakeFiles/CMakeScratch/TryCompile-1/x.o"),
        (".", "conftest.o"),
        (".", "out/conftest"),
    ],
)
def test_trials_are_known_by_where_they_are_compiled_and_what_to(lean: Lean, folder: str, output: str) -> None:
    lean.reports.mkdir()
    lean.place.mkdir()
    (lean.place / folder / output).parent.mkdir(parents=True, exist_ok=True)
    (lean.place / "main.c").write_text("int main(int n, char **v) { while (n--) v++; return !v; }\n")
    command = [lean.incc, *(["-c"] if output.endswith(".o") else []), str(lean.place / "main.c"), "-o"]
    environment = {**lean.environment, "INCC_CC": "gcc"}
    assert run([*command, output], lean.place / folder, **environment) == Result(0, b"", b"")
    assert lean.units() == []
    assert run([*command, str(lean.place / "other.o")], lean.place, **environment) == Result(0, b"", b"")
    assert len(lean.units()) == 1


@needs_gcc
def test_strict(tmp_path: Path) -> None:
    shutil.copy(DATA / "triad.c", tmp_path)
    common = {
        "INCC_CC": "gcc",
        "INCC_ANALYZE": "1",
        "INCC_MCPU": "no-such-core",
        "INCC_CACHE": "0",
        "INCC_OUTPUT": "out",
    }
    (tmp_path / "out").mkdir()
    assert run([front(), "-c", "triad.c"], tmp_path, **common) == Result(0, b"", b"")
    done = run([front(), "-c", "triad.c"], tmp_path, **common, INCC_STRICT="1")
    assert (done.status, done.out) == (1, b"")
    assert b"no machine model named 'no-such-core'" in done.err
    assert (tmp_path / "triad.o").exists()


@each_clang
def test_intermediate_code_has_a_note(lean: Lean, cc: str) -> None:
    for option in ("-c", "-S"):
        lean.log.unlink(missing_ok=True)
        lean(cc, "-O2", "-emit-llvm", option, "triad.c", sources=["triad.c"])
        assert lean.log.read_text() == (
            "incc: note: triad.c: nothing to analyse: -emit-llvm writes LLVM IR, not code\n"
        )


@needs_gcc
def test_a_folder_of_links_is_hidden_from_compilers(tmp_path: Path) -> None:
    """What a compiler says of itself is what it would say without incc, however it was called."""
    incc, links, mixed = make_incc(tmp_path), tmp_path / "links", tmp_path / "mixed"
    for folder in (links, mixed):
        folder.mkdir()
        for name in ("gcc", "g++"):
            (folder / name).symlink_to(incc)
    rest = os.environ["PATH"]
    plain = run(["sh", "-c", "exec gcc -v"], tmp_path)
    assert b"COLLECT_GCC=gcc\n" in plain.err
    for path in (f"{links}:{rest}", f"{links}:/no/where:{links}:{rest}"):
        assert run(["sh", "-c", "exec gcc -v"], tmp_path, PATH=path) == plain
    script(tmp_path / "links", "clang", "echo $PATH\n").rename(tmp_path / "clang")
    (links / "clang").symlink_to(incc)
    done = run(["sh", "-c", "exec clang"], tmp_path, PATH=f"{links}:{tmp_path}:{rest}")
    assert done.out.decode() == f"{tmp_path}:{rest}\n"
    # A folder with other programs stays, and gcc is told where it is.
    script(mixed, "other", "")
    done = run(["sh", "-c", "exec gcc -v"], tmp_path, PATH=f"{mixed}:{rest}")
    assert f"COLLECT_GCC={shutil.which('gcc')}\n" in done.err.decode()


def test_analyze_is_clang_s_option_if_the_build_does_not_know_of_incc(tmp_path: Path) -> None:
    incc = make_incc(tmp_path)
    real, links = tmp_path / "real", tmp_path / "links"
    for folder in (real, links):
        folder.mkdir()
    script(real, "clang-19", 'echo "$@"\n')
    path = f"{links}:{real}:{os.environ['PATH']}"
    for name in ("clang-19", "incc-clang-19"):
        (links / name).symlink_to(incc)
    asked = {"INCC_ANALYZE": "1", "INCC_OUTPUT": str(tmp_path / "r")}
    for environment in ({}, asked):
        done = run([links / "clang-19", "--analyze", "a.c"], tmp_path, PATH=path, **environment)
        assert done == Result(0, b"--analyze a.c\n", b"")
    executed = [incc, "--incc-exec", real / "clang-19", "clang-19", "a.c", "--analyze"]
    assert run(executed, tmp_path, PATH=path, **asked) == Result(0, b"--analyze a.c\n", b"")
    assert b"--analyze" not in run([links / "incc-clang-19", "--analyze", "-v"], tmp_path, PATH=path).out
