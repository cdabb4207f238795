"""`incc-mca` in llvm-mca's place: the views that it prints, its diagnostics and its exit status."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from incc.driver.commands import mca
from incc.views.llvm_mca.requested import RegionHeading, Views
from mca_masks import diagnostics

ADD = "addl %eax, %ebx\n"
HOST = ["-mcpu=skylake"]
NO_TARGET = "there is no target 'frob'; use x86-64, x86 or aarch64, or a triple such as x86_64-linux-gnu"

Run = Callable[..., tuple[int, Any, Any, str]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    """Runs the command as `llvm-mca` on a text: status, report and views (None if nothing is printed), messages."""
    monkeypatch.chdir(tmp_path)
    seen: list[tuple[Any, Views]] = []

    def render(report: Any, views: Views) -> str:
        seen.append((report, views))
        return "printed\n"

    monkeypatch.setattr("incc.views.llvm_mca.render", render)

    def run_it(text: str, *arguments: str, cpu: bool = True) -> tuple[int, Any, Any, str]:
        seen.clear()
        (tmp_path / "f.s").write_text(text)
        status = mca.main([*(HOST if cpu else []), *arguments, "f.s"], "/opt/bin/llvm-mca")
        result = capfd.readouterr()
        assert result.out == ("printed\n" if seen else "")
        report, views = seen[0] if seen else (None, None)
        return status, report, views, result.err

    return run_it


def test_what_is_printed_by_default(run: Run) -> None:
    status, report, views, said = run(ADD)
    assert (status, said) == (0, "")
    target = {"triple": "x86_64-pc-linux-gnu", "march": "x86_64", "cpu": "skylake"}
    assert views == Views(**target, headings=(RegionHeading(),))
    (kernel,) = report.units[0].kernels
    assert kernel.cold.iterations == kernel.summary.iterations == 100
    assert [i.line for i in kernel.instructions] == [1]


SHOWN = {
    "": "summary info pressure",
    "-all-views": "summary bottleneck info pressure timeline dispatch scheduler retire registers",
    "-all-views=false": "",
    "-all-views -timeline=0": "summary bottleneck info pressure dispatch scheduler retire registers",
    "-timeline=0 -all-views": "summary bottleneck info pressure timeline dispatch scheduler retire registers",
    "-all-views=0 -timeline": "timeline",
    "-timeline -all-views=0": "",
    "-all-stats": "summary info pressure dispatch scheduler retire registers",
    "-all-stats -all-views=0": "",
    "-all-views=0 -all-stats": "dispatch scheduler retire registers",
    "-all-stats=0 -all-views": "summary bottleneck info pressure timeline dispatch scheduler retire registers",
    "-all-views -all-stats=0": "summary bottleneck info pressure timeline",
    "-dispatch-stats -all-stats=0": "summary info pressure",
    "-all-stats=0 -dispatch-stats": "summary info pressure dispatch",
    "-all-views=0 -bottleneck-analysis": "bottleneck",
    "-resource-pressure=0 -instruction-info=False": "summary",
}
FIELDS = {
    "summary": "summary", "bottleneck": "bottleneck_analysis", "info": "info", "pressure": "pressure",
    "timeline": "timeline", "dispatch": "dispatch_stats", "scheduler": "scheduler_stats", "retire": "retire_stats",
    "registers": "register_file_stats",
}  # fmt: skip
HEADS = {
    "summary": "Iterations:", "bottleneck": ("No resource or data dep", "Cycles with backend"),
    "info": "Instruction Info:", "pressure": "Resources:", "timeline": "Timeline view:",
    "dispatch": "Dynamic Dispatch Stall", "scheduler": "Schedulers - number", "retire": "Retire Control Unit",
    "registers": "Register File stat",
}  # fmt: skip


@pytest.mark.parametrize("options", SHOWN)
def test_views(run: Run, options: str) -> None:
    _, _, views, _ = run(ADD, *options.split())
    assert [name for name, field in FIELDS.items() if getattr(views, field)] == SHOWN[options].split()


@pytest.mark.skipif(not shutil.which("llvm-mca-19"), reason="no llvm-mca-19")
@pytest.mark.parametrize("options", SHOWN)
def test_llvm_mca_shows_the_same(options: str) -> None:
    command = ["llvm-mca-19", "-mtriple=x86_64", *HOST, *options.split()]
    lines = subprocess.run(command, capture_output=True, text=True, input=ADD).stdout.splitlines()
    found = [name for name, head in HEADS.items() if any(line.startswith(head) for line in lines)]
    assert found == SHOWN[options].split()


def test_what_options_say(run: Run) -> None:
    _, report, views, said = run(
        ADD, "--iterations", "0x5", "-dispatch=3", "-noalias=0", "-lqueue=7", "-show-encoding", "-json",
        "-timeline-max-cycles=0", "-timeline-max-iterations=20", "-mtriple=x86_64-apple-macos",
    )  # fmt: skip
    assert said == ""
    assert views.parameters == (("-dispatch", 3), ("-lqueue", 7), ("-noalias", False))
    assert (views.timeline_cycles, views.timeline_iterations) == (0, 5)
    assert (views.encoding, views.json, views.triple) == (True, True, "x86_64-apple-macos")
    assert report.units[0].kernels[0].cold.iterations == 5


def test_instruction_tables(run: Run) -> None:
    assert run(ADD, "-instruction-tables", "-resource-pressure=0")[2].pressure
    assert not run(ADD, "-instruction-tables=0", "-resource-pressure=0")[2].pressure


@pytest.mark.parametrize(
    ("options", "triple", "march"),
    [
        ("-march=x86-64", "x86_64-pc-linux-gnu", "x86_64"),
        ("-march=x86-64 -mtriple=aarch64", "x86_64--", "x86_64"),
        ("-march=x86-64 -mtriple=amd64-apple-macos-macho", "x86_64-apple-macos-macho", "x86_64"),
        ("-mtriple=amd64", "amd64", "amd64"),
    ],
)
def test_targets(run: Run, options: str, triple: str, march: str) -> None:
    _, _, views, said = run(ADD, *options.split())
    assert (views.triple, views.march, said) == (triple, march, "")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("-march=frob", f"error: {NO_TARGET}"),
        ("-mtriple=frob", f"error: {NO_TARGET}"),
        ("-mtriple=riscv64", "error: cannot read code of LLVM's target 'riscv64', only of x86, x86-64 and aarch64"),
        ("-mcpu=frob", "error: no machine model named 'frob'; did you mean rome, kryo?"),
        ("-mcpu=SkyLake", "error: no core is called 'SkyLake'; did you mean 'skylake'?"),
        ("-mcpu=neoverse-n1", "error: 'neoverse-n1' is not a core of the target 'x86_64-pc-linux-gnu'"),
        ("-mcpu=", "llvm-mca: error: -mcpu needs a value: -mcpu=…; see llvm-mca --help"),
        (
            "-mcpu=athlon",
            "error: llvm-mca has no model of 'athlon'; incc-mca without --compat takes that of znver1",
        ),
        (
            "-mcpu=skylake -output-asm-variant=7",
            "llvm-mca: error: -output-asm-variant is 0 (AT&T) or 1 (Intel), not 7; see llvm-mca --help",
        ),
        ("-mcpu=skylake -x", "llvm-mca: error: unknown option -x; see llvm-mca --help"),
        ("-mcpu=skylake ---json", "llvm-mca: error: unknown option ---json; see llvm-mca --help"),
        ("-mcpu=skylake g.s", "llvm-mca: error: one input file at a time, not g.s and f.s; see llvm-mca --help"),
    ],
)
def test_mistakes(run: Run, options: str, said: str) -> None:
    status, _, views, err = run(ADD, *options.split(), cpu=False)
    assert (status, views, err) == (1, None, f"{said}\n")


def test_features(run: Run) -> None:
    assert run(ADD, "-mattr=avx,+sse,frob")[3] == "note: unknown feature '+frob' is ignored\n"
    assert "-mattr=-avx has no effect" in run(ADD, "-mattr=-avx")[3]
    assert run(ADD, "-mattr=help")[3].startswith("Available CPUs for this target:\n\n  alderlake  ")


def test_options_without_effect_are_named_once(run: Run) -> None:
    status, _, views, said = run(ADD, "-mc-relax-all", "-disable-cb", "-mc-relax-all", "-dwarf-version", "4")
    assert status == 0
    assert views is not None
    assert sorted(said.splitlines()) == [
        f"note: {name} has no effect" for name in ("-disable-cb", "-dwarf-version", "-mc-relax-all")
    ]


def test_headings(run: Run) -> None:
    text = (
        f"{ADD}# LLVM-MCA-BEGIN a\n# LLVM-MCA-END\n# LLVM-MCA-BEGIN\n{ADD}# LLVM-MCA-END\n"
        f"# LLVM-MCA-BEGIN b\n{ADD}# LLVM-MCA-BEGIN c\n{ADD}# LLVM-MCA-END b\n"
    )
    _, report, views, _ = run(text)
    assert views.headings == (RegionHeading(0, ""), RegionHeading(1, "b"), RegionHeading(2, "c"))
    lines = [[i.line for i in kernel.instructions] for kernel in report.units[0].kernels]
    assert lines == [[5], [8, 10], [10]]


@pytest.mark.parametrize("text", ["", "# nothing\n", ".text\n", "# LLVM-MCA-BEGIN x\n# LLVM-MCA-END x\n" + ADD])
def test_no_instructions(run: Run, text: str) -> None:
    assert run(text) == (1, None, None, "f.s: error: no instructions to analyse\n")


def test_what_cannot_be_read(run: Run) -> None:
    text = f"# LLVM-MCA-BEGIN\n{ADD}\tfrob\t%eax\n# LLVM-MCA-END\n movl %eax, %q\n # LLVM-MCA-END z\n"
    status, _, views, said = run(text)
    assert (status, views) == (1, None)
    assert diagnostics(said.splitlines()) == ["f.s:3:2: error", "f.s:5:13: error", "f.s:6:3: error", "f.s:6:3: note"]
    assert "\n        frob    %eax\n        ^" in said
    assert said.endswith(
        "f.s: error: 2 statements cannot be read; to skip such statements, add "
        "-skip-unsupported-instructions=parse-failure\n"
    )


def test_what_cannot_be_read_is_skipped(run: Run) -> None:
    text = f"{ADD}frob # LLVM-MCA-BEGIN x\n{ADD}"
    status, report, views, said = run(text, "-skip-unsupported-instructions=parse-failure")
    assert (status, views.headings) == (0, (RegionHeading(0, "x"),))
    assert [i.line for i in report.units[0].kernels[0].instructions] == [3]
    assert said.count("f.s:2:1: error: ") == 1
    assert run("frob\n", "-skip-unsupported-instructions=any")[3].endswith("error: no instructions to analyse\n")


CALL = "f.s:{}: warning: the called function is not analysed; calls take {} cycles\n"
RETURN = "f.s:{}: warning: the return is analysed as an instruction that does not jump\n"


def test_calls_and_returns(run: Run) -> None:
    assert run(f"{ADD}call f\ncall *%rax\nret\nretq\n")[3] == CALL.format(2, 100) + RETURN.format(4)
    said = run(f"{ADD}bad\nret\n", "-skip-unsupported-instructions=any")[3]
    assert said.endswith(f"\n{RETURN.format(3)}")
    assert run(".rept 2\nret\n.endr\n")[3] == RETURN.replace(":{}", "")  # in a line of LLVM's text
    assert run("ret\ncall f\n", "-call-latency=7")[3] == RETURN.format(1) + CALL.format(2, 7)


def test_instructions_without_figures(run: Run) -> None:
    text = f"# LLVM-MCA-BEGIN a\n{ADD}# LLVM-MCA-END\n# LLVM-MCA-BEGIN b\n{ADD}ud0 %eax, %ebx\n# LLVM-MCA-END\n"
    status, report, views, said = run(text)
    assert said == (
        "f.s:6: error: skylake has no figures for 'ud0l %eax, %ebx'; to skip such instructions, add "
        "-skip-unsupported-instructions=lack-sched\n"
    )
    assert (status, len(report.units[0].kernels), len(views.headings)) == (1, 1, 2)
    assert run(text, "-json")[:3] == (1, None, None)
    status, report, views, said = run(text, "-skip-unsupported-instructions=lack-sched")
    assert said == "f.s:6: warning: 'ud0l %eax, %ebx' is skipped: skylake has no figures for it\n"
    assert (status, [len(kernel.instructions) for kernel in report.units[0].kernels]) == (0, [1, 1])


def test_syntax(run: Run) -> None:
    text = "add eax, ebx\n"
    _, report, _, said = run(text, "-x86-asm-syntax=intel")
    assert (said, report.units[0].kernels[0].instructions[0].line) == ("", 1)
    assert run(f".intel_syntax noprefix\n{text}")[0] == 0


def test_several_cores(run: Run) -> None:
    _, report, views, _ = run(ADD, "-mcpu=skylake,znver4", cpu=False)
    assert [unit.model.name for unit in report.units] == ["skylake", "znver4"]
    assert views.cpu == "skylake,znver4"
    assert len(views.headings) == 2


def test_files(run: Run, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "out").write_text("old")
    run(ADD)
    assert mca.main([*HOST, "-o", "/nonexistent/x", "f.s"], "llvm-mca-19") == 1
    assert capfd.readouterr() == ("", "/nonexistent/x: error: No such file or directory\n")
    assert mca.main([*HOST, "-o=out", "f.s"], "llvm-mca-19") == 0
    assert (tmp_path / "out").read_text() == "printed\n"
    assert mca.main([*HOST, "none.s"], "llvm-mca-19") == 1


def test_compat_is_the_same_face(run: Run, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(ADD, "--compat")[0] == 0
    assert mca.main([*HOST, "--compat", "f.s"]) == 0
    assert capfd.readouterr().out == "printed\n"


def test_incc_mca_takes_the_same_options(run: Run, capfd: pytest.CaptureFixture[str]) -> None:
    run(ADD)
    arguments = [*HOST, "-march=x86-64", "-mattr=+avx", "-iterations=0x20", "-views=summary", "-mc-relax-all", "f.s"]
    assert mca.main(arguments) == 0
    result = capfd.readouterr()
    assert "Instructions:      32" in result.out
    assert result.err == "incc-mca: note: -mc-relax-all has no effect\n"
    assert mca.main([*HOST, "-march=fnord", "f.s"]) == 2
    assert "there is no target 'fnord'" in capfd.readouterr().err
    assert mca.main([*HOST, "-march=riscv64", "f.s"]) == 1  # not misspelt, but nothing that can be read
    assert "cannot read code of LLVM's target 'riscv64'" in capfd.readouterr().err
    assert mca.main([*HOST, "-dispatch-stats", "-views=none", "f.s"]) == 0
    assert capfd.readouterr().out.endswith("\nprinted\n")


def printed(tmp_path: Path, text: str, *options: str) -> list[str]:
    """The instructions as the view of information has them."""
    (tmp_path / "p.s").write_text(text)
    assert (
        mca.main([*HOST, "--compat", "-resource-pressure=0", "-o", f"{tmp_path}/p", *options, f"{tmp_path}/p.s"]) == 0
    )
    rows = (tmp_path / "p").read_text().partition("Instructions:\n")[2].split("\n")
    return [row[42:] for row in rows if row]


def test_a_run_that_is_given_up_is_told_of(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """And what comes of it: its views would be missing without a word."""

    def given_up(*_: object, **__: object) -> None:
        raise RuntimeError("the simulation was given up")

    monkeypatch.setattr("incc.core.cold_run", given_up)
    expected = (
        "note: f.s:1: not simulated from a cold start: the simulation was given up; the cycles are those of the"
        " steady state, and the run has no views\n"
    )
    for options in (["-all-views"], ["-json"]):
        status, _, _, said = run(ADD, *options)
        assert (status, said) == (0, expected)


def test_calls_of_32_bit_mode_are_those_of_the_target(tmp_path: Path) -> None:
    text = "call f\ncall *%eax\npushl %ecx\n"
    assert printed(tmp_path, f".code32\n{text}") == ["callq\tf", "calll\t*%eax", "pushl\t%ecx"]
    assert printed(tmp_path, text, "-mtriple=i686-linux-gnu") == ["calll\tf", "calll\t*%eax", "pushl\t%ecx"]


def test_registers_that_are_addresses_of_32_bits(tmp_path: Path) -> None:
    """They make no other instruction of it: there are figures of the one alone."""
    text = "enqcmd (%eax), %ecx\nmovdir64b (%rax), %rcx\nmovdir64b (%eax), %ecx\n"
    assert printed(tmp_path, text) == text.replace(" ", "\t", 1).replace("64b ", "64b\t").rstrip().split("\n")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("-mtriple=frob", f"{NO_TARGET}; see incc-mca --help"),
        ("-march=frob", f"{NO_TARGET}; see incc-mca --help"),
        ("-march=arm", "cannot read code of LLVM's target 'arm', only of x86, x86-64 and aarch64"),
        ("-output-asm-variant=7", "-output-asm-variant is 0 (AT&T) or 1 (Intel), not 7; see incc-mca --help"),
        ("-raw", "f.s: offset 0x0: not an x86-64 instruction: 06"),
        ("-function=g", ""),
    ],
)
def test_mistakes_without_compat(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], options: str, said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("f.s").write_text("\x06\n" if options == "-raw" else ADD)
    status = mca.main([*HOST, options, "f.s"])
    found = capfd.readouterr()
    if said:
        assert (status > 0, found.out) == (True, "")
        assert found.err.startswith(f"incc-mca: error: {said}")
    else:
        assert "No function has the name 'g', since the input has no functions." in found.out


def test_only_the_statement_at_fault_is_skipped(run: Run) -> None:
    report = run(f"{ADD}x: bad; {ADD}", "-skip-unsupported-instructions=any")[1]
    assert [i.line for i in report.units[0].kernels[0].instructions] == [1, 2]
