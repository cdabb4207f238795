"""incc-mca as a tool of Compiler Explorer: called as its classes for llvm-mca and OSACA do, in its sandbox."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from compiler_explorer import Result, filtered, install, no_sandbox, rewritten, run

from incc.driver.commands import mca
from incc.driver.pipeline import analyze_for_cores
from incc.report import types as t
from incc.support import workers

TREE = Path(__file__).parents[2]
SOURCES = (
    "examples/triad.c",
    "examples/particles.c",
    "bench/functions/mandelbrot.c",
    "bench/functions/lennard_jones.c",
)
"""Without headers, which other targets may not have here."""

INTEL = ("-mllvm", "--x86-asm-syntax=intel")
WIDE, NARROW = ("-mtriple=x86_64",), ("-mtriple=x86_64", "-mcpu=generic", "-march=x86")
BUILDS = (
    (("gcc-12", "-O2", "-masm=intel"), (*WIDE, "-mcpu=generic")),
    (("gcc-12", "-O3", "-march=skylake", "-masm=intel"), (*WIDE, "-mcpu=skylake")),
    (("gcc-12", "-O3", "-march=x86-64-v3"), (*WIDE, "-mcpu=x86-64-v3")),
    (("gcc-12", "-O2", "-m32", "-masm=intel"), NARROW),
    (("gcc-12", "-O1", "-m32", "-fPIC"), NARROW),
    (("clang-14", "-O2", *INTEL), (*WIDE, "-mcpu=generic")),
    (("clang-14", "-O2", "-m32"), NARROW),
    (("clang-16", "-O3", "-march=znver3"), (*WIDE, "-mcpu=znver3")),
    (("clang-16", "-O2", "-m32", *INTEL), NARROW),
    (("clang-19", "-O3", "-march=skylake-avx512", *INTEL), (*WIDE, "-mcpu=skylake-avx512")),
    (("clang-19", "-O2", "-m32", "-g0"), NARROW),
    (("aarch64-linux-gnu-gcc", "-O2"), ("-mtriple=aarch64", "-mcpu=generic")),
    (("aarch64-linux-gnu-gcc", "-O3", "-mcpu=neoverse-v1"), ("-mtriple=aarch64", "-mcpu=neoverse-v1")),
    (("clang-19", "-O2", "--target=aarch64-linux-gnu"), ("-mtriple=aarch64-linux-gnu", "-mcpu=generic")),
    (
        ("clang-19", "-O3", "--target=arm64-apple-macos", "-mcpu=apple-m1"),
        ("-mtriple=arm64-apple-macos", "-mcpu=apple-m1"),
    ),
)
"""Compilers with their options, and the options for the core that Compiler Explorer makes of these."""

QUICK = (0, 3, 11)
"""The builds that `make check` tests, too."""

LOOP = ".L1:\n\tvmovupd\t(%rdx,%rax), %ymm1\n\taddq\t$32, %rax\n\tcmpq\t%rcx, %rax\n\tjne\t.L1\n"


class Place(msgspec.Struct, frozen=True):
    """An installation, and the folder of a run."""

    installation: Path
    app: Path

    def write(self, name: str, text: str | bytes) -> str:
        (self.app / name).write_bytes(text.encode() if isinstance(text, str) else text)
        return f"/app/{name}"

    def run(self, *arguments: str, **others: str | int) -> Result:
        result = run(self.installation, self.app, [*arguments], **others)  # type: ignore[arg-type]
        assert "Traceback" not in result.err
        return result


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """An installation that was moved after it was made."""
    if no_sandbox():
        pytest.skip(no_sandbox())
    folder = tmp_path_factory.mktemp("compiler-explorer")
    yield install(folder / "made").rename(folder / "moved")
    shutil.rmtree(folder)


@pytest.fixture
def place(installation: Path, tmp_path: Path) -> Place:
    (tmp_path / "app").mkdir()
    return Place(installation, tmp_path / "app")


def compiled(command: tuple[str, ...], source: str) -> str:
    if not shutil.which(command[0]):
        pytest.skip(f"no {command[0]}")
    done = subprocess.run(
        [*command[:1], "-g", "-S", "-o", "-", *command[1:], source], cwd=TREE, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def check(result: Result, loops: bool) -> None:
    """The report is complete, and there is nothing to warn of."""
    assert result.status == 0, result.err
    assert not re.search("warning|error", result.err)
    # Of many loops, only the overview is printed.
    assert re.search("Loop at|One loop in full" if loops else "Total Cycles:", result.out)
    assert "Not analysed" not in result.out
    assert len(result.out) < 1 << 20  # Compiler Explorer cuts off what is longer
    assert "\x1b" not in result.out


@pytest.mark.parametrize(
    "number", [n if n in QUICK else pytest.param(n, marks=pytest.mark.long) for n in range(len(BUILDS))]
)
def test_compilers_output(place: Place, number: int) -> None:
    command, options = BUILDS[number]
    assert len(BUILDS) * len(SOURCES) == 60
    for source in SOURCES:
        text = compiled(command, source)
        file = place.write("output.s.mca", rewritten(text))
        check(place.run(*options, "--auto", file), True)
        check(place.run("--auto", place.write("output.s.osaca", filtered(text))), True)
    check(place.run(*options, file), False)


@pytest.mark.parametrize("options", [("--x86-asm-syntax=intel", "-output-asm-variant=1"), ()])
@pytest.mark.parametrize("number", [0, 3, 11])
def test_as_a_compiler(place: Place, number: int, options: tuple[str, ...]) -> None:
    command, target = BUILDS[number]
    file = place.write("example.asm", rewritten(compiled(command, SOURCES[0])))
    result = place.run("-o", "/app/output.s", *options, "--auto", *target, file)
    assert (result.status, result.out) == (0, "")
    report = (place.app / "output.s").read_text()
    check(Result(0, report, result.err), True)


def test_its_questions_when_it_starts(place: Place) -> None:
    assert re.fullmatch(r"incc-mca \d+\.\d+\.\d+\n", place.run("--version").out)
    assert "--mcpu" in place.run("--help").out
    assert place.run("-mllvm", "--help-list-hidden", "-x", "c++", "/dev/null", "-c").status == 0
    refused = place.run("--print-targets")
    assert (refused.status, refused.err.count("\n")) == (2, 1)


@pytest.mark.parametrize("temporary", ["noexec", "none"])
@pytest.mark.parametrize("path", ["", "/nowhere"], ids=["as", "llvm"])
def test_temporary_files(place: Place, temporary: str, path: str) -> None:
    narrow = LOOP.replace("%r", "%e").replace("q\t", "l\t")
    for options, text in (((*WIDE, "-mcpu=generic"), LOOP), (NARROW, narrow)):
        check(place.run(*options, place.write("a.s", text), temporary=temporary, path=path), False)
    assert [entry.name for entry in place.app.iterdir()] == ["a.s"]


def test_few_processes_and_little_memory(place: Place) -> None:
    file = place.write("a.s", LOOP)
    check(place.run("-mcpu=skylake", file, **{"as": 400 << 20}, nproc=6), False)
    if os.geteuid() == 0:  # or processes outside of the sandbox count, too
        refused = place.run("-mcpu=skylake", file, nproc=1)
        assert refused.status == 1
        assert refused.err.startswith("incc-mca: error: /app/a.s: cannot run the assembler")


def test_few_processes_on_many_processors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """The sandbox tells neither its limit of memory nor that of processes."""
    jobs: list[int] = []

    def noted(tasks: Any, most: int) -> t.AnalysisReport:
        jobs.append(most)
        return analyze_for_cores(tasks, 1)

    monkeypatch.setattr(workers, "cpus", lambda: 256)
    monkeypatch.setattr(mca, "analyze_for_cores", noted)
    (tmp_path / "a.s").write_text(LOOP)
    assert mca.main(["-mcpu=skylake", str(tmp_path / "a.s")]) == 0
    assert jobs == [8]


@pytest.mark.parametrize("listing", ["msvc64.asm", "msvc32.asm"])
def test_listings_of_msvc(place: Place, listing: str) -> None:
    text = (TREE / "test/lit/mca/Inputs" / listing).read_text()
    check(place.run("--auto", *WIDE, "-mcpu=generic", place.write("output.s.mca", rewritten(text))), True)


def test_without_a_python_of_its_own_and_caches(tmp_path: Path) -> None:
    if no_sandbox():
        pytest.skip(no_sandbox())
    made = install(tmp_path / "made", own_python=False)
    for folder in made.rglob("__pycache__"):
        shutil.rmtree(folder)
    (tmp_path / "app").mkdir()
    place = Place(made.rename(tmp_path / "moved"), tmp_path / "app")
    check(place.run("-mcpu=skylake", "--auto", place.write("a.s", LOOP)), True)
    assert not [*place.installation.rglob("__pycache__")]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", "/app/a.s: warning: not analysed: the file has no instruction"),
        (b"<Compilation failed>\n", "/app/a.s:1:1: error: "),
        (b"int main() { return 0; }\n", "/app/a.s:1:1: error: "),
        (bytes(range(1, 32)) + b"\x1b[31mred\n", "/app/a.s:1:1: error: "),
        (bytes(range(256)), "incc-mca: error: /app/a.s: not assembly: it contains NUL bytes"),
        (b"a" * (5 << 20), "incc-mca: error: /app/a.s: line 1 has 5,242,880 characters"),
        (
            b"f:\n" + b"\tnop\n\taddl %eax, %eax\n" * 200_000,
            "/app/a.s:2:2: warning: not analysed: 400,000 instructions",
        ),
        (b".rept 100000000\nnop\n.endr\n", "incc-mca: error: /app/a.s: LLVM's assembler was stopped: more than"),
        (
            b'f:\n.incbin "/dev/zero"\n.include "/etc/passwd"\n',
            "/app/a.s: warning: not analysed: the file has no instr",
        ),
    ],
    ids=["empty", "failed", "source", "control", "binary", "line", "huge", "repeat", "include"],
)
def test_hostile_input(place: Place, text: bytes, message: str) -> None:
    result = place.run("-mtriple=x86_64", "-mcpu=generic", place.write("a.s", text))
    assert result.status == 1
    assert re.search(f"^{re.escape(message)}", result.err, re.MULTILINE), result.err
    assert not re.search(r"[^\n\x20-\x7e]", result.err)


def test_a_target_that_cannot_be_read(place: Place) -> None:
    """Compiler Explorer runs llvm-mca again for this machine if it finds "unable to get target" in the message."""
    refused = place.run("-mtriple=riscv64", "-mcpu=generic", place.write("a.s", LOOP))
    assert refused.status == 1
    assert refused.err == (
        "incc-mca: error: cannot read code of LLVM's target 'riscv64', only of x86, x86-64 and aarch64\n"
    )


def test_code_that_does_not_show_its_instruction_set_is_the_targets(place: Place) -> None:
    file = place.write("a.s", "f:\n\tret\n")
    assert "for Arm Cortex-A510" in place.run("-mtriple=aarch64", "-mcpu=generic", file).out
    assert "for x86-64 in general" in place.run("-mtriple=x86_64", "-mcpu=generic", file).out
