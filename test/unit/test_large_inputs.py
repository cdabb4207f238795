"""Large inputs: the parts of libraries, limits of kernels, and time and memory by the size of the input."""

from __future__ import annotations

import json
import pathlib
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

import pytest

import incc
from incc.core import cold_run
from incc.core.cached import CachedCore
from incc.driver.commands.mca import main as mca
from incc.driver.commands.scan import main as scan
from incc.driver.sides.analyse import CODE
from incc.driver.sides.read import read_sides
from incc.frontends.asm.graph import loops
from incc.frontends.isa import isa
from incc.frontends.objects import parts
from incc.frontends.objects.kernels import located_kernels
from incc.frontends.objects.spans import Addresses
from incc.models.binding.bind import bind
from incc.models.loading import load
from incc.support import patience
from settings_fixtures import settings_with

BENCH = str(pathlib.Path(__file__).parents[2] / "bench")

SOURCE = """
double sum{0}(const double *a, long n) {{ double s = 0; for (long i = 0; i < n; i++) s += a[i]; return s; }}
static __attribute__((noinline)) long f{0}(long n, long *p) {{
  long s = 0;
  for (long i = 0; i < n; i++) {{ if (__builtin_expect(p[i] == 7, 0)) {{ for (long j = 0; j < i; j++) s ^= p[j] * s; }}
    switch (p[i] & 7) {{
      case 0: s += 3 + {0}; break; case 1: s *= 5; break; case 2: s ^= i; break; case 4: s -= n; break; }} }}
  return s;
}}
long g{0}(long n, long *p) {{ if (n > 100) return f{0}(n, p); return f{0}(n + 1, p) + 1; }}
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    folder = tmp_path_factory.mktemp("library")
    (folder / "a.c").write_text("".join(SOURCE.format(i) for i in range(40)))
    run = ["gcc", "-O2", "-fPIC", "-shared", "-o", "a.so", "a.c"]
    subprocess.run(run, cwd=folder, check=True)
    return folder / "a.so"


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(parts, "PART", 1000)
    monkeypatch.setattr(parts, "LARGE", 2000)
    parts._kept.cache_clear()
    yield
    parts._kept.cache_clear()


def kernels(file: pathlib.Path, part: Addresses | None = None) -> list[tuple[object, ...]]:
    return [(k.name, k.instructions, k.alignment, k.pace) for k in located_kernels(str(file), part=part).kernels]


def test_a_library_without_symbols_has_the_same_loops(
    library: pathlib.Path, tmp_path: pathlib.Path, small_parts: None
) -> None:
    """Functions without symbols are told apart by the tables for unwinding, in the whole and in parts."""
    stripped = tmp_path / "stripped.so"
    subprocess.run(["strip", "-o", stripped, library], check=True)
    expected = located_kernels(str(library))
    whole = located_kernels(str(stripped))
    assert [k.instructions for k in whole.kernels] == [k.instructions for k in expected.kernels]
    assert len(whole.left_out) == len(expected.left_out)
    # Each has a name of its own, from which the loops are as far as from the symbol.
    assert [k.name.partition("+")[2] for k in whole.kernels] == [k.name.partition("+")[2] for k in expected.kernels]
    functions = [{k.region.function for k in each.kernels if k.region} for each in (whole, expected)]
    assert len(functions[0]) == len(functions[1])
    assert any(name.startswith("sub_") for name in functions[0])
    found = [kernel for part in parts.code_parts(str(stripped)) for kernel in kernels(stripped, part)]
    assert found == kernels(stripped)


@pytest.mark.skipif(shutil.which("ld.lld-19") is None, reason="needs lld, which fills gaps with int3")
@pytest.mark.parametrize("option", ["-ffunction-sections", "-fno-function-sections"])
def test_a_library_without_symbols_and_unwinding_has_the_same_loops(
    option: str, library: pathlib.Path, tmp_path: pathlib.Path, small_parts: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Padding separates functions, or else returns divide the code, also beside functions in a table for unwinding."""
    monkeypatch.setattr(parts, "_LONGEST", 1000)
    monkeypatch.setattr(parts, "_LONG", 1000)
    compiled = ["gcc", "-O2", "-fPIC", option, "-fcf-protection=none", "-c"]
    for options, name in ([], "unwound.o"), (["-fno-asynchronous-unwind-tables"], "bare.o"):
        text = (library.parent / "a.c").read_text()
        source = tmp_path / f"{name}.c"
        source.write_text(text if name == "bare.o" else re.sub(r"\b(sum|f|g)(\d+)\(", r"\1_\2(", text))
        subprocess.run([*compiled, *options, "-o", name, source], cwd=tmp_path, check=True)
    subprocess.run(["ld.lld-19", "-shared", "-o", "a.so", "unwound.o", "bare.o"], cwd=tmp_path, check=True)
    subprocess.run(["strip", "-o", "stripped.so", "a.so"], cwd=tmp_path, check=True)
    whole, stripped = located_kernels(str(tmp_path / "a.so")), tmp_path / "stripped.so"
    of_parts = [kernel for part in parts.code_parts(str(stripped)) for kernel in kernels(stripped, part)]
    assert [instructions for _, instructions, _, _ in of_parts] == [k.instructions for k in whole.kernels]
    assert of_parts == kernels(stripped)


RETURN, CALL, JUMP = "c3", "e800000000", "e900000000"


@pytest.mark.parametrize(
    ("before", "starts"),
    [
        *((f"{end} cc", True) for end in (RETURN, CALL, JUMP, "eb00", "0f0b", "ffe0", "ffd0", "ff2500000000")),
        *((f"90 {padding}", True) for padding in ("cccc", "cccccc")),
        ("660feecc", False),  # pmaxsw %xmm4, %xmm1
        ("7201cc", False),  # jb, which jumps over int3
        ("488b05000000cc", False),  # a load's displacement
        ("f30f1efa 90 90 90", False),
        ("c3", False),
    ],
)
def test_int3_between_functions_is_told_from_its_byte_in_instructions(before: str, starts: bool) -> None:
    code = bytes.fromhex(before).rjust(32, b"\x90") + b"\x55" * 16
    assert list(isa("x86").function_starts(code, 0, len(code), 0x1000)) == [32] * starts
    assert list(isa("x86").function_starts(memoryview(code), 0, len(code), 0x1008)) == []


def test_long_code_is_divided_after_a_return() -> None:
    code = bytes.fromhex("b8c3c3c3c3 0f1f4000 5b c3 0f1f440000") * 4
    assert isa("x86").dividing_place(code, 1, len(code), 0) == 16
    assert isa("x86").dividing_place(code, 17, len(code), 0) == 32
    assert isa("x86").dividing_place(b"\x90" * 64, 5, 64, 0) == 5


def test_parts_of_a_library_have_the_kernels_of_the_whole(library: pathlib.Path, small_parts: None) -> None:
    of_parts = parts.code_parts(str(library))
    assert len(of_parts) > 5
    assert [kernel for part in of_parts for kernel in kernels(library, part)] == kernels(library)


FOREIGN = {
    "object.obj": ("windows-gnu", ""),
    "library.dll": ("windows-gnu", "lld-link-19 /dll /noentry /export:g1 /out:{out} {object}"),
    "object.o": ("apple-macos11", ""),
    "library.dylib": (
        "apple-macos11",
        "ld64.lld-19 -arch {arch} -platform_version macos 11 11 -dylib -o {out} {object}",
    ),
}


@pytest.fixture(params=[f"{arch} {name}" for name in FOREIGN for arch in ("x86_64", "arm64")])
def foreign(request: pytest.FixtureRequest, tmp_path: pathlib.Path) -> pathlib.Path:
    """A file for Windows or macOS; libraries without local symbols."""
    arch, name = request.param.split()
    system, link = FOREIGN[name]
    linker = link.partition(" ")[0]
    if not shutil.which("clang-19") or (linker and not shutil.which(linker)):
        pytest.skip(f"no clang-19 or no {linker}")
    (tmp_path / "a.c").write_text("".join(SOURCE.format(i) for i in range(20)))
    made = tmp_path / ("made.o" if link else name)
    target = f"--target={arch}-{system}".replace("arm64-windows", "aarch64-windows")
    subprocess.run(["clang-19", target, "-O2", "-c", "-o", made, tmp_path / "a.c"], check=True)
    if link:
        link = link.format(arch=arch, out=tmp_path / name, object=made)
        subprocess.run(link.split(), check=True)
    if name.endswith("dylib"):
        subprocess.run(["llvm-strip-19", tmp_path / name], check=True)
    return tmp_path / name


def test_other_formats_in_parts_have_the_kernels_of_the_whole(foreign: pathlib.Path, small_parts: None) -> None:
    """Functions without symbols are told apart by the tables for unwinding, and by macOS' table of functions."""
    of_parts = parts.code_parts(str(foreign))
    assert len(of_parts) > 3
    whole = kernels(foreign)
    linked = foreign.with_name("made.o")
    assert not linked.exists() or len(whole) == len(kernels(linked))
    assert [kernel for part in of_parts for kernel in kernels(foreign, part)] == whole


@pytest.mark.parametrize("options", [["--format=cycles"], ["--json"], []], ids=["cycles", "json", "text"])
def test_a_scan_in_parts_is_the_same_in_any_number_of_processes(
    library: pathlib.Path, small_parts: None, options: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    outputs = []
    for jobs in (1, 3):
        assert scan(["-mcpu=skylake", f"-j{jobs}", *options, str(library)]) in (0, 1)
        outputs.append(capfd.readouterr())
    assert outputs[0] == outputs[1]
    assert outputs[0].out.count(f"{library} (0x") > 5


def test_a_report_in_parts_has_the_kernels_of_the_whole(
    library: pathlib.Path, small_parts: None, capfd: pytest.CaptureFixture[str]
) -> None:
    count = len(located_kernels(str(library)).kernels)
    assert mca(["-mcpu=skylake", "--auto", "--json", str(library)]) == 0
    reports = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    assert len(reports) > 5
    assert sum(len(report["units"][0]["kernels"]) for report in reports) == count
    assert mca(["-mcpu=skylake", "--auto", "--function=sum7", str(library)]) == 0
    assert capfd.readouterr().out.count("sum7") > 0
    assert mca(["-mcpu=skylake", "--auto", "--html=a.html", str(library)]) == 2
    assert "is large; pages and graphs need a choice of kernels" in capfd.readouterr().err
    assert [k.function for k in incc.analyze(library, mcpu="skylake", functions=["sum7"]).kernels] == ["sum7"]


@pytest.mark.parametrize("choice", ["--top=3", "--kernel=sum7", "--kernel=sum7/loop1", "--where=cycles > 3"])
def test_kernels_are_chosen_from_all_parts(
    library: pathlib.Path, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, choice: str
) -> None:
    """They are those that the whole has, in one report, with pages and graphs."""

    def chosen(name: str) -> list[tuple[str, float, list[str]]]:
        files = [f"-o={tmp_path}/{name}.json", "--json", f"--graph={tmp_path}/{name}.dot", f"--html={tmp_path}/x.html"]
        assert mca(["-mcpu=skylake", "--auto", choice, *files, str(library)]) == 0
        (unit,) = json.loads((tmp_path / f"{name}.json").read_text())["units"]
        assert unit["assembly_file"] == str(library)
        kernels = [(k["kernel_id"], k["cycles"], [i["text"] for i in k["instructions"]]) for k in unit["kernels"]]
        return [kernel for kernel in kernels if "--kernel" not in choice or kernel[0].startswith("sum7/")]

    whole = chosen("whole")
    assert whole
    monkeypatch.setattr(parts, "PART", 1000)
    monkeypatch.setattr(parts, "LARGE", 2000)
    parts._kept.cache_clear()
    assert chosen("parts") == whole
    parts._kept.cache_clear()


def test_a_comparison_in_parts_has_the_kernels_of_the_whole(
    library: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def compared() -> list[tuple[str, str, float]]:
        (side,) = read_sides([str(library)], settings_with(CODE, mcpu="skylake"))
        assert not side.info.problem
        return [(e.kernel.kernel_id, e.kernel.role, e.kernel.cycles) for e in side.entries]

    whole = compared()
    monkeypatch.setattr(parts, "PART", 1000)
    monkeypatch.setattr(parts, "LARGE", 2000)
    parts._kept.cache_clear()
    assert compared() == whole
    parts._kept.cache_clear()


def test_top_keeps_the_same_kernels_however_many_come_later(
    library: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    outputs = []
    for most in (1000, 0):
        monkeypatch.setattr("incc.driver.commands.scan.output.MOST_LATER", most)
        scan(["-mcpu=skylake", "-j1", "--top=3", "--format=cycles", str(library)])
        outputs.append(capfd.readouterr().out)
    assert outputs[0] == outputs[1]
    assert outputs[0].count("\n") == 3


LOOP = ".L1:\n\taddsd (%rdi,%rax,8), %xmm0\n\taddq $1, %rax\n\tcmpq %rax, %rdx\n\tjne .L1\n"
LONG = ".L2:\n" + "\timulq %rbx, %rcx\n" * 30 + "\tjne .L2\n"


def test_a_kernel_that_takes_too_long_has_bounds_only(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.s").write_text(LOOP + LONG)
    whole = incc.analyze(tmp_path / "a.s", mcpu="skylake")
    times = iter(range(0, 10_000, 10))
    monkeypatch.setattr(patience.time, "thread_time", lambda: next(times))
    monkeypatch.setattr("incc.core.cached.of_thread", CachedCore)  # results that are known take no time
    assert scan(["-mcpu=skylake", "-j1", "--max-seconds=1", "--format=cycles", str(tmp_path / "a.s")]) == 1
    output = capfd.readouterr()
    assert output.out.splitlines() == [f"{tmp_path}/a.s:.L1 4", f"{tmp_path}/a.s:.L2 90"]
    assert whole.kernels[1].cycles == 90
    assert output.err.count("only bounds: its simulation takes more than 1 s; --max-seconds allows more") == 2


@pytest.mark.parametrize("command", [mca, scan], ids=["mca", "scan"])
def test_a_kernel_that_takes_too_much_memory_is_left_out_alone(
    tmp_path: pathlib.Path, command: Callable[[list[str]], int], capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.s").write_text(LOOP + LONG)
    options = ["--auto"] if command is mca else ["-j1"]
    assert command(["-mcpu=skylake", *options, "--max-memory=200k", str(tmp_path / "a.s")]) == 1
    output = capfd.readouterr()
    assert ".L1" in output.out
    assert ".L2" not in output.out
    assert "31 instructions, but at most 20 are analysed in 0 MiB; --max-memory allows more" in output.err


def test_regions_that_take_too_much_memory_are_named_in_llvm_mcas_place(
    tmp_path: pathlib.Path, capfd: pytest.CaptureFixture[str]
) -> None:
    add = "\taddq\t%rax, %rbx\n"
    command = ["--compat", "-mcpu=skylake", "--max-memory=200k"]
    (tmp_path / "a.s").write_text(30 * add)
    assert mca([*command, str(tmp_path / "a.s")]) == 1
    output = capfd.readouterr()
    assert output.out == ""
    assert output.err.startswith(f"{tmp_path}/a.s:1: warning: not analysed: 30 instructions, but at most 20")
    (tmp_path / "b.s").write_text(
        f"# LLVM-MCA-BEGIN a\n{30 * add}# LLVM-MCA-END a\n# LLVM-MCA-BEGIN b\n{add}# LLVM-MCA-END b\n"
    )
    assert mca([*command, str(tmp_path / "b.s")]) == 0
    output = capfd.readouterr()
    assert "Code Region - b" in output.out
    assert output.err.startswith(f"{tmp_path}/b.s:2: warning: not analysed: 30 instructions, but at most 20")


def test_simulations_end_with_their_time() -> None:
    with patience.limited(5), patience.limited(0):
        patience.check()
    end = time.thread_time() + 3
    with patience.limited(1), pytest.raises(patience.TookTooLong):
        check_until(end)
    check_until(time.thread_time())


def test_a_single_simulation_ends_with_its_time() -> None:
    bound, _ = bind(isa("x86").decode_bytes(bytes.fromhex("4801d8480fafc375f7")), load("skylake"))
    start = time.thread_time()
    with patience.limited(1):
        check_until(start + 0.9)
        with pytest.raises(patience.TookTooLong):
            cold_run(bound, 10**9, every_cycle=True)  # would take half a second, and end with another error
    assert time.thread_time() - start < 1.2
    assert cold_run(bound, 1000).cycles > 0


def check_until(end: float) -> None:
    while time.thread_time() < end:
        patience.check()


def test_nested_loops_take_no_space_of_their_own() -> None:
    """Of n loops around each other; sets of blocks would have n²/2 elements."""
    n = 4000
    successors = [[i + 1] for i in range(n)] + [[i + 1, 2 * n - 1 - i] for i in range(n, 2 * n)] + [[]]
    natural, irreducible = loops(successors, [0])
    assert len(natural) == n
    assert not irreducible
    assert [len(loop.body) for loop in natural] == [2 * (n - i) for i in range(n)]
    assert [loop.header for loop in natural if loop.innermost] == [n - 1]
    assert len({id(loop.body._order) for loop in natural}) == 1  # type: ignore[attr-defined]


def growth_of(name: str, first: int, command: str = "incc-scan -mcpu=skylake -j1 --format=reports") -> str:
    program = [sys.executable, f"{BENCH}/growth.py", "--steps=2", f"--first={first}", f"--command={command}", name]
    return subprocess.run(program, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("name", ["nested", "branches", "functions.o", "archive"])
def test_growth_is_reported(name: str) -> None:
    lines = growth_of(name, 50).splitlines()
    assert [line.split()[:2] for line in lines[1:]] == [[name, "50"], [name, "100"]]
    assert not any("status" in line for line in lines)
