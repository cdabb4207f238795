"""With and without incc, a compiler does the same: files byte for byte, both output streams, exit status."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from wrapper_launcher import REPORT, Result, make_incc, run, tree

DATA = Path(__file__).parent / "data" / "wrapper"
C = sorted(p.name for p in DATA.glob("*.c"))
CXX = sorted(p.name for p in DATA.glob("*.cpp"))
FORTRAN = sorted(p.name for p in DATA.iterdir() if p.suffix.lower() in (".f", ".f90"))

FLAGS = {"g": ["-g"], "O0": ["-O0"], "O2": ["-O2"], "fast": ["-O3", "-ffast-math", "-march=haswell"]}


def first_of(*names: str) -> str:
    return next((n for n in names if shutil.which(n)), "")


def if_there(name: str) -> Any:
    """A parameter whose tests are skipped, by its name, where there is no such program."""
    return pytest.param(name, marks=pytest.mark.skipif(not shutil.which(name), reason=f"no {name}"))


CLANG = first_of("clang", "clang-19", "clang-18", "clang-17", "clang-16", "clang-15", "clang-14")
COMPILERS = [if_there(c) for c in ("gcc", CLANG or "clang")]
CXX_COMPILERS = [if_there(c) for c in ("g++", (CLANG or "clang").replace("clang", "clang++"))]
OTHERS = [if_there(c) for c in ("gcc-11", "clang-14") if c != CLANG]

# gcc puts a random number into some files unless it is given; clang takes no notice.
SEED = ["-frandom-seed=1"]

needs_gcc = pytest.mark.skipif(not shutil.which("gcc"), reason="no gcc")
needs_clang = pytest.mark.skipif(not CLANG, reason="no clang")
each_compiler = pytest.mark.parametrize("cc", COMPILERS)
every_compiler = pytest.mark.parametrize("cc", COMPILERS + OTHERS)


@pytest.fixture(scope="module")
def incc(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_incc(tmp_path_factory.mktemp("bin"))


class Both:
    """Runs a command in two equal folders, with and without incc, and compares."""

    def __init__(self, incc: Path, folder: Path) -> None:
        self.incc = incc
        self.folder = folder
        self.notes = folder / "notes.json"
        self.temporary = folder / "tmp"
        self.temporary.mkdir()

    def __call__(
        self, cc: str, *arguments: str, sources: list[str] | None = None, stdin: bytes | None = None, **environment: str
    ) -> Result:
        """The result with --analyze, after making sure that all but the report is as without incc."""
        # Debug information and __FILE__ name the folder, so both runs use the same one, one after the other.
        place = self.folder / "work"
        results = []
        for command in ([cc, *arguments], [self.incc, f"--incc-cc={cc}", "--analyze", *arguments]):
            shutil.rmtree(place, ignore_errors=True)
            place.mkdir()
            for name in sources or []:
                shutil.copy(DATA / name, place / name)
            self.prepare(place)
            done = run(command, place, stdin, NOTED_UNITS=str(self.notes), TMPDIR=str(self.temporary), **environment)
            results.append((done, tree(place)))
        (expected, expected_files), (got, files) = results
        if got.status != 0:
            assert REPORT.encode() not in got.out + got.err
        assert got.status == expected.status
        assert sorted(files) == sorted(expected_files)
        for name, content in files.items():
            assert content == expected_files[name], f"{name} differs"
        out, err = got.out, got.err
        if self.notes.exists() and got.status == 0:
            # The report is one of the two streams' last lines.
            if out.endswith(REPORT.encode()):
                out = out[: -len(REPORT)]
            else:
                assert err.endswith(REPORT.encode())
                err = err[: -len(REPORT)]
        assert out == expected.out
        lines = [line for line in err.splitlines(keepends=True) if not line.startswith(b"incc: note: ")]
        assert b"".join(lines) == expected.err
        assert list(self.temporary.iterdir()) == [], "temporary files are left"
        return got

    def prepare(self, place: Path) -> None:
        """What a test puts into the folder beside the sources."""

    def units(self) -> list[dict[str, str]]:
        """What was given to the analysis; empty if nothing was."""
        if not self.notes.exists():
            return []
        units: list[dict[str, str]] = json.loads(self.notes.read_text())["units"]
        return units


@pytest.fixture
def both(incc: Path, tmp_path: Path) -> Both:
    return Both(incc, tmp_path)


# --- objects -----------------------------------------------------------------------------------------------------


def test_there_are_enough_sources() -> None:
    assert len(C + CXX + FORTRAN) >= 20


@each_compiler
@pytest.mark.parametrize("flags", FLAGS)
def test_c_objects(both: Both, cc: str, flags: str) -> None:
    both(cc, *FLAGS[flags], "-c", *C, sources=C)
    assert [u["source"] for u in both.units()] == C
    assert all(".loc" in u["assembly"] for u in both.units() if u["source"] != "empty.c")


@pytest.mark.long
@pytest.mark.parametrize("cc", CXX_COMPILERS)
@pytest.mark.parametrize("flags", FLAGS)
def test_cxx_objects(both: Both, cc: str, flags: str) -> None:
    both(cc, *FLAGS[flags], "-std=c++17", "-c", *CXX, sources=CXX)
    assert [u["source"] for u in both.units()] == CXX


@pytest.mark.skipif(not shutil.which("gfortran"), reason="no gfortran")
@pytest.mark.parametrize("flags", FLAGS)
def test_fortran_objects(both: Both, flags: str) -> None:
    both("gfortran", *FLAGS[flags], "-c", *FORTRAN, sources=FORTRAN)
    assert [u["source"] for u in both.units()] == FORTRAN


@pytest.mark.skipif(not shutil.which("gfortran"), reason="no gfortran")
def test_fortran_modules_go_where_the_user_wants(both: Both) -> None:
    both.prepare = lambda place: (place / "mods").mkdir()  # type: ignore[method-assign]
    both("gfortran", "-O2", "-Jmods", "-c", "field.f90", "daxpy.f90", sources=["field.f90", "daxpy.f90"])
    assert len(both.units()) == 2


@pytest.mark.parametrize("cc", OTHERS)
def test_other_versions(both: Both, cc: str) -> None:
    both(cc, "-O3", "-c", *C, sources=C)
    assert [u["source"] for u in both.units()] == C
    assert all(u["compiler_version"].startswith(cc.rpartition("-")[2]) for u in both.units())


@pytest.mark.long
@every_compiler
def test_assembly_has_the_code_of_the_object(both: Both, cc: str, tmp_path: Path) -> None:
    """The second run, with its line information, generates the same instructions."""
    both(cc, "-O3", "-march=haswell", "-c", *C, sources=C)
    for unit in both.units():
        plain = subprocess.run(
            [cc, "-O3", "-march=haswell", "-S", "-o", "-", unit["source"]], cwd=DATA, capture_output=True, text=True
        ).stdout
        assert code_of(unit["assembly"]) == code_of(plain), unit["source"]


def code_of(assembly: str) -> list[str]:
    """The instructions in an assembly text, with the names of labels left out: line information uses up numbers."""
    lines = [re.sub(r"\.L[A-Za-z_]*\d+(_\d+)?", ".L", line.split("#")[0].strip()) for line in assembly.splitlines()]
    code = [" ".join(line.split()) for line in lines]
    return [line for line in code if line and not line.startswith(".") and not line.endswith(":")]


# --- other kinds of command ----------------------------------------------------------------------------------------


@every_compiler
@pytest.mark.parametrize(
    "arguments",
    [
        ["--version"],
        ["-dumpmachine"],
        ["-dumpversion"],
        ["-print-file-name=libc.so"],
        ["-print-search-dirs"],
        ["--help"],
        ["-v"],
        [],
        ["-E", "triad.c"],
        ["-E", "-dM", "triad.c"],
        ["-M", "dot.c"],
        ["-fsyntax-only", "triad.c"],
        ["-c", "missing.c"],
        ["-c", "triad.c", "missing.c"],
        ["-c", "triad.c", "-fno-such-option"],
    ],
    ids=" ".join,
)
def test_nothing_to_analyse(both: Both, cc: str, arguments: list[str]) -> None:
    result = both(cc, *arguments, sources=["triad.c", "dot.c"])
    # A source may have been analysed already when a later one fails; there is no report then.
    assert result.status != 0 or both.units() == []


@every_compiler
@pytest.mark.parametrize(
    "arguments",
    [
        ["-S", "triad.c"],
        ["-S", "triad.c", "-g", "-o", "out.s"],
        ["-c", "triad.c", "-pipe"],
        ["-c", "triad.c", "-pipe", "-save-temps"],
        ["-c", "triad.c", "-save-temps"],
        ["-c", "triad.c", "-save-temps=obj", "-o", "deep.o"],
        ["-c", "triad.c", "-MD"],
        ["-c", "triad.c", "-MMD", "-MP", "-MF", "x.d", "-MT", "a target"],
        ["-c", "triad.c", "-MMD", "-MFx.d", "-MQa$b"],
        ["-c", "triad.c", "-g", "-gsplit-dwarf"],
        ["-c", "triad.c", "-g3", "-O2"],
        ["-c", "triad.c", "--coverage", *SEED],
        ["-c", "triad.c", "-fprofile-arcs", "-ftest-coverage", "-o", "other.o", *SEED],
        ["-c", "triad.c", "-fstack-usage"],
        ["-c", "triad.c", "-Wall", "-Wextra", "-fdiagnostics-color=always", "-Dn=unused", "-Wfatal-errors"],
        ["-c", "-x", "c++", "triad.c"],
        ["-c", "-x", "c", "triad.c", "-x", "none", "dot.c"],
        ["-c", "-O3", "-fPIC", "-fno-plt", "-fvisibility=hidden", "-fstack-protector-all", "weak.c"],
        ["-c", "-masm=intel", "-O2", "triad.c"],
        ["-c", "math.c", "-o", "quo'te \"d.o"],
        ["-c", '-DX="a \\"b\\" $c\n d"', "strings.c"],
        ["-shared", "-fPIC", "triad.c", "dot.c", "-o", "lib.so"],
    ],
    ids=" ".join,
)
def test_kinds_of_command(both: Both, cc: str, arguments: list[str]) -> None:
    if "-Dn=unused" in arguments:
        arguments = [a for a in arguments if a != "-Dn=unused"]
    result = both(cc, *arguments, sources=["triad.c", "dot.c", "weak.c", "math.c", "strings.c"])
    # What a compiler does not know (-fno-plt …) it refuses alike, and then there is nothing to analyse.
    assert len(both.units()) == (len([a for a in arguments if a.endswith(".c")]) if result.status == 0 else 0)


@pytest.mark.long
@needs_gcc
@pytest.mark.parametrize(
    "arguments",
    [
        ["-c", "triad.c", "-fdump-tree-all", "-fdump-rtl-all", "-O2"],
        ["-c", "triad.c", "-da"],
        ["-c", "triad.c", "-dumpdir", "pre-", "-fdump-tree-optimized"],
        ["-c", "triad.c", "-fopt-info-vec=info.txt", "-O3"],
        ["-c", "triad.c", "-fcallgraph-info"],
        ["-c", "triad.c", "-aux-info", "prototypes.txt"],
        ["-c", "triad.c", "-Wa,-adhln=list.txt"],
        ["-c", "triad.c", "-no-integrated-cpp"],
        ["-c", "triad.c", "-no-integrated-cpp", "-pipe"],
        ["-c", "triad.c", "-fcompare-debug", "-O2"],
        ["-c", "triad.c", "-wrapper", "env,FOO=1"],
        ["-c", "triad.c", "-ffat-lto-objects", "-flto", "-frandom-seed=1"],
        ["-c", "triad.c", "-fprofile-use", "-Wno-missing-profile", "-O2"],
    ],
    ids=" ".join,
)
def test_kinds_of_gcc_command(both: Both, arguments: list[str]) -> None:
    both("gcc", *arguments, sources=["triad.c"])
    assert len(both.units()) == 1


@pytest.mark.long
@needs_clang
@pytest.mark.parametrize(
    "arguments",
    [
        ["-c", "triad.c", "-MJ", "part.json"],
        ["-c", "triad.c", "-fno-integrated-as"],
        ["-c", "triad.c", "-fno-integrated-cc1"],
        ["-c", "triad.c", "--serialize-diagnostics", "x.dia"],
        ["-c", "triad.c", "-O2", "-Rpass=loop-vectorize"],
        ["-c", "triad.c", "-save-temps", "-O2"],
        ["-c", "triad.c", "-fno-color-diagnostics", "-frecord-command-line"],
    ],
    ids=" ".join,
)
def test_kinds_of_clang_command(both: Both, arguments: list[str]) -> None:
    both(CLANG, *arguments, sources=["triad.c"])
    assert len(both.units()) == 1


@pytest.mark.long
@every_compiler
@pytest.mark.parametrize("option", ["-ftime-trace", "-fsave-optimization-record"])
def test_files_that_differ_each_time(incc: Path, cc: str, option: str, tmp_path: Path) -> None:
    """Times and addresses are in them, so only the names can be compared."""
    names = []
    for command in ([cc], [incc, f"--incc-cc={cc}", "--analyze"]):
        folder = tmp_path / Path(command[0]).name
        folder.mkdir()
        shutil.copy(DATA / "triad.c", folder)
        run([*command, option, "-O2", "-c", "triad.c"], folder)
        names.append(sorted(p.name for p in folder.iterdir()))
    assert names[0] == names[1]


@every_compiler
def test_warnings_and_errors(both: Both, cc: str) -> None:
    def prepare(place: Path) -> None:
        (place / "warn.c").write_text("int f(int a) { int unused; return a + 1.5; }\n")
        (place / "wrong.c").write_text("int f(void) { return nowhere; }\nint g( {\n")

    both.prepare = prepare  # type: ignore[method-assign]
    flags = ["-Wall", "-Wextra", "-Wconversion", "-fdiagnostics-color=always", "-c"]
    assert b"\x1b[" in both(cc, *flags, "warn.c").err
    assert len(both.units()) == 1
    assert both(cc, *flags, "-Werror", "warn.c").status != 0
    assert both(cc, *flags, "wrong.c").status != 0
    assert both(cc, *flags, "warn.c", "wrong.c").status != 0


@every_compiler
def test_a_failing_link_has_no_report(both: Both, cc: str) -> None:
    arguments = ["-nostdlib", "-fPIC", "-Wl,--undefined=nowhere,--require-defined=nowhere"]
    assert both(cc, *arguments, "triad.c", "-o", "program", sources=["triad.c"]).status != 0


@every_compiler
def test_standard_input(both: Both, cc: str) -> None:
    source = (DATA / "stencil.c").read_bytes()
    both(cc, "-O2", "-x", "c", "-c", "-", "-o", "out.o", stdin=source)
    (unit,) = both.units()
    assert unit["source"] == "<stdin>"
    assert "stencil:" in unit["assembly"]


@every_compiler
def test_standard_input_by_another_name(both: Both, cc: str) -> None:
    both(cc, "-O2", "-x", "c", "-c", "/dev/stdin", "-o", "out.o", stdin=(DATA / "stencil.c").read_bytes())
    assert "stencil:" in both.units()[0]["assembly"]


@every_compiler
def test_standard_input_is_left_alone(incc: Path, cc: str, tmp_path: Path) -> None:
    """`while read file; do incc …; done < list` must not lose its list."""
    shutil.copy(DATA / "triad.c", tmp_path)
    script = f'"{incc}" --incc-cc={cc} --analyze -c triad.c; cat'
    done = run(["sh", "-c", script], tmp_path, stdin=b"what follows\n")
    assert done == Result(0, REPORT.encode() + b"what follows\n", b"")


@every_compiler
def test_assembly_to_standard_output(both: Both, cc: str) -> None:
    result = both(cc, "-O2", "-S", "triad.c", "-o", "-", sources=["triad.c"])
    assert result.err.endswith(REPORT.encode())
    assert len(both.units()) == 1


@needs_gcc
def test_listing_to_standard_output(incc: Path, tmp_path: Path) -> None:
    shutil.copy(DATA / "triad.c", tmp_path)
    done = run([incc, "--incc-cc=gcc", "--analyze", "-c", "-Wa,-al", "triad.c"], tmp_path)
    assert done.out.startswith(b"GAS LISTING")
    assert (done.status, done.err) == (0, REPORT.encode())


@every_compiler
def test_response_file(both: Both, cc: str) -> None:
    def prepare(place: Path) -> None:
        (place / "args").write_text('-O2 -c "triad.c" -march=haswell @more')
        (place / "more").write_text("-o 'in quotes.o'")

    both.prepare = prepare  # type: ignore[method-assign]
    both(cc, "@args", sources=["triad.c"])
    (unit,) = both.units()
    assert unit["source"] == "triad.c"
    assert unit["cpu"] == "haswell"


@every_compiler
def test_names_with_blanks_and_quotes(both: Both, cc: str) -> None:
    name = 'it\'s a "file" $x.c'
    both.prepare = lambda place: shutil.copy(DATA / "triad.c", place / name)  # type: ignore[method-assign,assignment]
    both(cc, "-O2", "-c", name)
    assert both.units()[0]["source"] == name


@every_compiler
def test_link_only(both: Both, cc: str, tmp_path: Path) -> None:
    main = tmp_path / "main.c"
    main.write_text("int main(void) { return 0; }\n")
    subprocess.run([cc, "-c", "main.c"], cwd=tmp_path, check=True)

    both.prepare = lambda place: shutil.copy(tmp_path / "main.o", place)  # type: ignore[method-assign,assignment]
    both(cc, "main.o", "-o", "program")
    assert both.units() == []


@every_compiler
def test_assembler_sources(both: Both, cc: str) -> None:
    def prepare(place: Path) -> None:
        (place / "plain.s").write_text("f:\n\taddl $1, %eax\n\tjne f\n")
        (place / "macros.S").write_text("#define ONE $1\n#include <limits.h>\ng:\n\taddl ONE, %ebx\n\tjne g\n")

    both.prepare = prepare  # type: ignore[method-assign]
    both(cc, "-c", "plain.s", "macros.S", "triad.c", sources=["triad.c"])
    plain, macros, triad = both.units()
    assert (plain["assembly_file"], plain["source"]) == ("plain.s", "")
    assert "addl $1, %eax" in plain["assembly"]
    assert macros["assembly_file"] == "macros.S"
    assert "addl $1, %ebx" in macros["assembly"]
    assert triad["source"] == "triad.c"


@every_compiler
def test_lto_has_nothing_to_analyse(both: Both, cc: str) -> None:
    result = both(cc, "-O2", "-flto", *SEED, "-c", "triad.c", sources=["triad.c"])
    assert both.units() == []
    assert b"incc: note: triad.c: nothing to analyse: -flto writes " in result.err


@needs_clang
def test_llvm_ir_has_nothing_to_analyse(both: Both) -> None:
    result = both(CLANG, "-S", "-emit-llvm", "triad.c", sources=["triad.c"])
    assert both.units() == []
    assert b"nothing to analyse: -emit-llvm writes LLVM IR" in result.err


@every_compiler
def test_precompiled_header(both: Both, cc: str) -> None:
    both.prepare = lambda place: (place / "all.h").write_text("int f(int);\n")  # type: ignore[method-assign,assignment]
    both(cc, "-x", "c-header", "all.h", *SEED, "-fsyntax-only")
    assert both.units() == []


@every_compiler
def test_dependencies_by_environment(both: Both, cc: str) -> None:
    both(cc, "-c", "triad.c", sources=["triad.c"], DEPENDENCIES_OUTPUT="deps.txt", SUNPRO_DEPENDENCIES="sun.txt")
    assert len(both.units()) == 1


@needs_gcc
def test_locale_is_not_changed(both: Both) -> None:
    """Python sets LC_CTYPE in a C locale, and gcc then writes other quotes."""
    assert b"'-fno-such-option'" in both("gcc", "-fno-such-option", "-c", "triad.c", sources=["triad.c"]).err
    assert "‘-fno-such-option’".encode() in both("gcc", "-fno-such-option", "-c", "triad.c", LC_CTYPE="C.UTF-8").err


@pytest.mark.parametrize("cc", [if_there("gcc"), if_there("gcc-11")])  # clang takes the profile by its full name
def test_profile_is_read_from_the_same_place(incc: Path, cc: str, tmp_path: Path) -> None:
    """With -fprofile-use the assembly shows the optimisation that the profile brings."""
    (tmp_path / "main.c").write_text(
        "int f(int a) { if (a == 3) return a * 7; for (int i = 0; i < a; i++) a ^= i; return a; }\n"
        "int main(void) { int s = 0; for (int i = 9; i < 99; i++) s += f(i); return s == 1; }\n"
    )
    subprocess.run([cc, "-O2", "-fprofile-generate", "-c", "main.c"], cwd=tmp_path, check=True)
    subprocess.run([cc, "-fprofile-generate", "main.o", "-o", "main"], cwd=tmp_path, check=True)
    subprocess.run(["./main"], cwd=tmp_path, check=True)
    flags = ["-O2", "-fprofile-use", "-Wmissing-profile"]
    plain = subprocess.run([cc, *flags, "-S", "main.c", "-o", "main.s"], cwd=tmp_path, check=True, capture_output=True)
    assert plain.stderr == b"", "the test itself: no profile found"
    notes = tmp_path / "notes"
    done = run([incc, f"--incc-cc={cc}", "--analyze", *flags, "-c", "main.c"], tmp_path, NOTED_UNITS=str(notes))
    assert done.err == b""
    assembly = json.loads(notes.read_text())["units"][0]["assembly"]
    assert code_of(assembly) == code_of((tmp_path / "main.s").read_text())


@needs_gcc
def test_pipes_are_read_once(incc: Path, tmp_path: Path) -> None:
    """`incc -x c <(generate)` must not lose half of its source to the second run."""
    script = f'"{incc}" --incc-cc=gcc --analyze -x c -c <(cat "{DATA}/triad.c") -o out.o'
    done = run(["bash", "-c", script], tmp_path)
    assert done.status == 0
    assert b"is a pipe, which can be read only once" in done.err
    assert done.out == b""
    expected = subprocess.run(["gcc", "-c", DATA / "triad.c", "-o", tmp_path / "plain.o"])
    assert expected.returncode == 0
    symbols = [subprocess.run(["nm", tmp_path / n], capture_output=True).stdout for n in ("out.o", "plain.o")]
    assert symbols[0] == symbols[1]


# --- processes -----------------------------------------------------------------------------------------------------


def script(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{text}")
    path.chmod(0o755)
    return path


# One write each: the compiler and the question to it run at the same time.
RECORD = r"""
printf '%s\0' "$0" "$@" '
' >> "$RECORD"
"""


@pytest.mark.parametrize("analyze", [False, True])
def test_command_is_unchanged(incc: Path, tmp_path: Path, analyze: bool) -> None:
    # A compiler that fails at once would end the question too, so it waits for that.
    wait = "until grep -q -e '-###' \"$RECORD\"; do sleep 0.01; done\n" if analyze else ""
    fake = script(tmp_path, "fakecc", f"{RECORD}{wait}cat; echo out; echo err >&2; exit 42\n")
    arguments = [
        "-O2",
        "x.c",
        "",
        "a b",
        "--",
        "'\"$x`\\",
        "-o",
        "--analyze",
        "-DX=\n",
        "-Xlinker",
        "--marker=x",
        "µ",
        "\udcff",
    ]
    own = ["--analyze", "--marker=iaca", "--analyze-mcpu=skx"] if analyze else []
    done = subprocess.run(
        [incc, f"--incc-cc={fake}", *own, *arguments],
        cwd=tmp_path,
        input=b"stdin\n",
        capture_output=True,
        env=os.environ | {"RECORD": str(tmp_path / "record")},
    )
    assert (done.returncode, done.stdout, done.stderr) == (42, b"stdin\nout\n", b"err\n")
    commands = [line.split(b"\0") for line in (tmp_path / "record").read_bytes().split(b"\0\n\0")[:-1]]
    want = [os.fsencode(fake), *[os.fsencode(a) for a in arguments]]
    plain = [c for c in commands if b"-###" not in c]
    assert plain == [want]
    # Beside it only the question, with the same arguments.
    assert [c for c in commands if c not in plain] == ([[want[0], b"-###", *want[1:]]] if analyze else [])


@pytest.mark.parametrize("own", [[], ["--analyze"]])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL, signal.SIGSEGV, signal.SIGINT])
def test_death_by_signal(incc: Path, tmp_path: Path, own: list[str], number: signal.Signals) -> None:
    fake = script(tmp_path, "fakecc", f'case "$1" in -\\#\\#\\#) exit 0;; esac\nkill -{int(number)} $$\n')
    done = run([incc, f"--incc-cc={fake}", *own, "-c", "x.c"], tmp_path)
    assert (done.status, done.out, done.err) == (-number, b"", b"")


@pytest.mark.parametrize("own", [[], ["--analyze"]])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_signals_reach_the_compiler(incc: Path, tmp_path: Path, own: list[str], number: signal.Signals) -> None:
    fake = script(
        tmp_path,
        "fakecc",
        'case "$1" in -\\#\\#\\#) exit 0;; esac\n'
        f"trap 'echo got it; kill -9 $sleep; exit 3' {int(number)}\n"
        "sleep 60 & sleep=$!\necho ready\nwait\n",
    )
    process = subprocess.Popen(
        [incc, f"--incc-cc={fake}", *own, "-c", "x.c"], cwd=tmp_path, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    if own:
        time.sleep(0.3)  # past the question; before it, the signal is passed on all the same
    process.send_signal(number)
    out, _ = process.communicate(timeout=30)
    assert (process.returncode, out) == (3, "got it\n")


@pytest.mark.long
@needs_gcc
def test_interrupted_analysis_leaves_nothing(incc: Path, tmp_path: Path) -> None:
    """The compiler is done, the second run hangs, somebody loses patience."""
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    shutil.copy(DATA / "triad.c", tmp_path)
    hanging = script(tmp_path, "cc1", "echo started >&3; exec sleep 60\n")
    fake = script(
        tmp_path,
        "fakecc",
        f'case "$1" in -\\#\\#\\#) echo "fake version 1" >&2; echo " {hanging} triad.c -o x.s" >&2;; esac\n',
    )
    read, write = os.pipe()
    process = subprocess.Popen(
        ["bash", "-c", f'exec 3>&{write}; exec "$0" "$@"', incc, f"--incc-cc={fake}", "--analyze", "-c", "triad.c"],
        cwd=tmp_path,
        pass_fds=(write,),
        env=os.environ | {"TMPDIR": str(temporary)},
    )
    os.close(write)
    assert os.read(read, 100) == b"started\n"
    process.terminate()
    assert process.wait(30) == -signal.SIGTERM
    assert list(temporary.iterdir()) == []
    assert os.read(read, 100) == b"", "the second run still holds the pipe"
    os.close(read)


@every_compiler
def test_broken_pipe(incc: Path, cc: str, tmp_path: Path) -> None:
    """A reader that goes away ends the compiler quietly, as without incc, and the report has no traceback."""
    big = tmp_path / "big.c"
    big.write_text("int a;\n" * 200_000)
    shutil.copy(DATA / "triad.c", tmp_path)
    for own in ([], ["--analyze"]):
        command = " ".join(f"'{c}'" for c in (incc, f"--incc-cc={cc}", *own, "-E", "big.c"))
        done = run(["bash", "-c", f"{command} | head -1 >/dev/null; echo ${{PIPESTATUS[0]}}"], tmp_path)
        plain = run(["bash", "-c", f"{cc} -E big.c | head -1 >/dev/null; echo ${{PIPESTATUS[0]}}"], tmp_path)
        assert done == plain
    done = run(
        ["bash", "-c", f"'{incc}' --incc-cc={cc} --analyze -c triad.c | true; echo ${{PIPESTATUS[0]}}"], tmp_path
    )
    assert done == Result(0, b"0\n", b"")


@needs_gcc
def test_closed_streams(incc: Path, tmp_path: Path) -> None:
    shutil.copy(DATA / "triad.c", tmp_path)
    for closed in ("<&-", ">&-", "2>&-", "<&- >&- 2>&-"):
        done = run(["sh", "-c", f"'{incc}' --incc-cc=gcc --analyze -c triad.c {closed}"], tmp_path)
        assert done.status == 0
        assert b"Traceback" not in done.out + done.err


@needs_gcc
def test_ignored_signals_stay_ignored(incc: Path, tmp_path: Path) -> None:
    fake = script(tmp_path, "fakecc", "exec grep -E '^Sig(Ign|Blk)' /proc/self/status\n")
    if not Path("/proc/self/status").exists():
        pytest.skip("no /proc")

    def masks(command: str) -> list[int]:
        lines = run(["sh", "-c", f"trap '' HUP; exec {command}"], tmp_path).out.splitlines()
        # Signals 32 and 33 are the C library's own; its posix_spawn leaves them ignored.
        return [int(line.split()[1], 16) & ~(3 << 31) for line in lines]

    plain = masks(str(fake))
    assert plain[1] & 1 << signal.SIGHUP - 1
    assert masks(f"'{incc}' --incc-cc={fake}") == plain
    assert masks(f"'{incc}' --incc-cc={fake} --analyze") == plain


def test_inherited_descriptors_reach_the_compiler(incc: Path, tmp_path: Path) -> None:
    """make's job server is a pair of those."""
    fake = script(tmp_path, "fakecc", 'case "$1" in -\\#\\#\\#) exit 0;; esac\necho token >&7\n')
    for own in ("", "--analyze"):
        done = run(["bash", "-c", f"'{incc}' --incc-cc={fake} {own} 7>&1"], tmp_path)
        assert done.out == b"token\n"


@needs_gcc
def test_compiler_and_second_run_overlap(incc: Path, tmp_path: Path) -> None:
    """Each of the two waits for the other to have started: one after the other would never end."""
    for name in ("compiler", "assembly"):
        os.mkfifo(tmp_path / name)
    cc1 = script(
        tmp_path, "cc1", 'echo > assembly; cat compiler >/dev/null; for o; do last=$o; done; echo nop > "$last"\n'
    )
    fake = script(
        tmp_path,
        "fakecc",
        f'case "$1" in -\\#\\#\\#) echo "fake version 1" >&2; echo " {cc1} triad.c -o x.s" >&2; exit;; esac\n'
        "cat assembly > /dev/null; echo > compiler\n",
    )
    process = subprocess.Popen(
        [incc, f"--incc-cc={fake}", "--analyze", "-c", "triad.c"], cwd=tmp_path, stdout=subprocess.PIPE
    )
    watchdog = threading.Timer(60, process.kill)
    watchdog.start()
    out, _ = process.communicate()
    watchdog.cancel()
    assert (process.returncode, out) == (0, REPORT.encode())


@pytest.mark.parametrize(
    "arguments",
    [["-c", "x.c"], ["--analyze", "-E", "x.c"], ["--analyze", "-M", "x.c"], ["--analyze", "--version"]],
    ids=" ".join,
)
def test_python_is_not_started_without_need(tmp_path: Path, arguments: list[str]) -> None:
    fake = script(tmp_path, "fakecc", 'echo "$@"\n')
    own = make_incc(tmp_path)
    script(tmp_path, "python3", "echo started\n")
    done = run([own, f"--incc-cc={fake}", *arguments], tmp_path)
    assert done.out.decode().split() == [a for a in arguments if a != "--analyze"]
    assert run([own, f"--incc-cc={fake}", "--analyze", "-c", "x.c"], tmp_path).out.startswith(b"started\n")
