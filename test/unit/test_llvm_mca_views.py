"""llvm-mca's views: what llvm-mca itself prints comes out of a report with the same numbers, to the character."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from typing import Any

import msgspec
import pytest
from llvm_mca_output import parse_json, parse_text
from llvm_mca_reports import STATISTICS, as_report
from msgspec.structs import replace

from incc.driver.pipeline import analyze_units
from incc.frontends.unit import Unit
from incc.report import types as t
from incc.views import llvm_mca
from incc.views.llvm_mca.requested import RegionHeading, Views
from settings_fixtures import settings_with

MCA = shutil.which("llvm-mca-19")
needs_mca = pytest.mark.skipif(MCA is None, reason="no llvm-mca-19")


def rendered(report: t.AnalysisReport, options: Views) -> str:
    return llvm_mca.render(report, options)


def theirs(code: str, *arguments: str) -> str:
    """What llvm-mca prints, but that each step of a sequence did happen: a report does not say how often."""
    assert MCA is not None
    run = subprocess.run([MCA, *arguments], input=code, capture_output=True, encoding="utf-8", check=True)
    return re.sub(r"\[ probability: \d+% \]", "[ probability: 100% ]", run.stdout)


ALL = ["-all-views", "-bottleneck-analysis", "-show-encoding", "-show-barriers"]

LOOP = """
    vmovupd (%rsi), %ymm0
    vmulpd (%rdi), %ymm1, %ymm0
    xorl %eax, %eax
    movl %eax, %ecx
    vdivpd %ymm0, %ymm2, %ymm3
    movq %rdx, %rbx
    vmovupd %ymm0, (%rdi)
    addq $32, %rdi
    mfence
    cmpq %rdi, %rsi
    jne .L1
"""
REGIONS = f"""
# LLVM-MCA-BEGIN the first
{LOOP}
# LLVM-MCA-END
# LLVM-MCA-BEGIN
    nop
# LLVM-MCA-END
# LLVM-MCA-BEGIN empty
# LLVM-MCA-END
# LLVM-MCA-BEGIN third
    divsd %xmm1, %xmm0
    idivq %rcx
    leaq (%rax,%rcx,8), %rdx
"""
STORES = "".join(f"    movq %rax, {8 * n}(%rdi)\n" for n in range(12))
CHAIN = "    vaddsd (%rdi), %xmm0, %xmm0\n    vmulsd %xmm0, %xmm1, %xmm1\n    vaddsd %xmm1, %xmm0, %xmm0\n"
LONG = """
    movabsq $0x1234567890abcdef, %rax
    movq $0x12345678, a_symbol_of_a_rather_long_name_indeed+1234(%rip)
    lock cmpxchg16b (%rdi)
    rep movsb
    cpuid
    lfence
"""
SHUFFLES = "    pshufb %xmm1, %xmm0\n    phaddw %xmm0, %xmm2\n    movdqa %xmm2, (%rdi)\n    movdqa (%rdi), %xmm0\n"
NAMES = """
    movq %rax, "größe_関数"(%rip)
    movq "größe_関数"(%rip), %rax
    imulq %rax, %rax
    imulq "e\u0301 of a name"(%rip), %rax
"""
MANY = "".join(f"    addq %rax, %r{8 + n % 8}\n" for n in range(113))

CASES = {
    "loop": (LOOP, "skylake-avx512"),
    "regions": (REGIONS, "skylake-avx512"),
    "regions-btver2": (REGIONS, "btver2"),
    "instances": (LOOP, "znver4"),
    "instances-first": (SHUFFLES, "bdver2"),
    "hybrid": (REGIONS, "alderlake"),
    "stores": (STORES, "haswell", "-iterations=40"),
    "stores-btver2": (STORES, "btver2", "-iterations=40", "-squeue=4"),
    "one-iteration": (LOOP, "skylake", "-iterations=1"),
    "one-instruction": ("xorl %eax, %eax", "skylake", "-iterations=1"),
    "one-nop": ("nop", "btver2"),
    "chain": (CHAIN, "znver3", "-timeline-max-iterations=3", "-timeline-max-cycles=0"),
    "chain-cut": (CHAIN, "icelake-server", "-timeline-max-cycles=17"),
    "cut-at-once": (CHAIN, "icelake-server", "-timeline-max-cycles=3"),
    "long-timeline": (LOOP, "btver2", "-timeline-max-iterations=5", "-timeline-max-cycles=0"),
    "many": (MANY, "sandybridge", "-timeline-max-iterations=12", "-timeline-max-cycles=400"),
    "long-instructions": (LONG, "skylake-avx512"),
    "long-instructions-znver2": (LONG, "znver2"),
    "shuffles": (SHUFFLES, "slm"),
    "intel": (LOOP, "skylake-avx512", "-output-asm-variant=1"),
    "names": (NAMES, "skylake", "-iterations=50"),
    "narrow": (STORES, "btver2", "-dispatch=1", "-register-file-size=8"),
}
cases = pytest.mark.parametrize("case", CASES)


def asked(arguments: list[str], regions: list[dict[str, Any]], code: str) -> Views:
    """The options that belong to a case."""
    given = dict(argument.lstrip("-").split("=") for argument in arguments if "=" in argument)
    marked = "LLVM-MCA-BEGIN" in code
    return replace(
        STATISTICS,
        timeline_iterations=int(given.get("timeline-max-iterations", 10)),
        timeline_cycles=int(given.get("timeline-max-cycles", 80)),
        cpu=given["mcpu"],
        headings=tuple(RegionHeading(n if marked else -1, region["name"]) for n, region in enumerate(regions)),
        parameters=tuple(
            (f"-{name}", int(given[name])) for name in ("dispatch", "register-file-size", "squeue") if name in given
        ),
    )


def without_incc(document: str) -> str:
    """The lines of a document that are llvm-mca's."""
    lines = document.split("\n")
    others = [line for line in lines if not line.startswith('  "Incc": {')]
    assert len(others) == len(lines) - 1
    return "\n".join(others)


@needs_mca
@cases
def test_text_is_llvm_mcas(case: str) -> None:
    code, cpu, *arguments = CASES[case]
    arguments = [f"-mcpu={cpu}", *arguments]
    text = theirs(code, *arguments, *ALL)
    regions = parse_text(text)
    assert rendered(as_report(regions), asked(arguments, regions, code)) == text


@needs_mca
@cases
def test_json_is_llvm_mcas(case: str) -> None:
    code, cpu, *arguments = CASES[case]
    arguments = [f"-mcpu={cpu}", *arguments]
    regions = parse_text(theirs(code, *arguments, *ALL))
    text = theirs(code, *arguments, *ALL, "-json")
    report = as_report(regions, json.loads(text))
    ours = rendered(report, replace(asked(arguments, regions, code), json=True))
    assert json.loads(ours)["Incc"] == msgspec.to_builtins(report)
    assert without_incc(ours) == text


@needs_mca
@cases
def test_both_forms_have_one_structure(case: str) -> None:
    """The regions of the text and those of the JSON are the same but for what is rounded in the text."""
    code, cpu, *arguments = CASES[case]
    arguments = [f"-mcpu={cpu}", *arguments, *ALL]
    ours = parse_json(json.loads(theirs(code, *arguments, "-json")))
    for mine, other in zip(parse_text(theirs(code, *arguments)), ours, strict=True):
        assert mine["name"] == other["name"]
        assert mine["stalls"] == other["stalls"]
        assert mine["resources"] == other["resources"]
        assert [row["text"] for row in mine["info"]] == [row["text"] for row in other["info"]]
        assert mine["summary"] == pytest.approx(other["summary"], abs=0.051)
        for cells, exact in zip(mine["pressure"], other["pressure"], strict=True):
            assert cells == pytest.approx(exact, abs=0.0051)
        charted = [{key: row[key] for key in ("dispatched", "executed", "retired")} for row in mine["timeline"]]
        assert charted == [
            {key: row[key] for key in ("dispatched", "executed", "retired")} for row in other["timeline"]
        ]


SWITCHES = {
    "summary": "-summary-view",
    "info": "-instruction-info",
    "encoding": "-show-encoding",
    "barriers": "-show-barriers",
    "pressure": "-resource-pressure",
    "timeline": "-timeline",
    "dispatch_stats": "-dispatch-stats",
    "scheduler_stats": "-scheduler-stats",
    "retire_stats": "-retire-stats",
    "register_file_stats": "-register-file-stats",
    "bottleneck_analysis": "-bottleneck-analysis",
}


@needs_mca
@pytest.mark.parametrize("form", ["text", "json"])
def test_any_choice_of_views(form: str) -> None:
    """Each view by itself, all but one, and pairs: they do not depend on each other."""
    cpu = "-mcpu=btver2"
    regions = parse_text(theirs(REGIONS, cpu, *ALL))
    whole = asked([cpu], regions, REGIONS)
    report = as_report(regions, json.loads(theirs(REGIONS, cpu, *ALL, "-json")))
    names = [*SWITCHES]
    choices = [{name} for name in names] + [set(names) - {name} for name in names]
    choices += [{name, names[n - 3]} for n, name in enumerate(names)]
    for chosen in choices:
        flags = [f"{switch}={'true' if name in chosen else 'false'}" for name, switch in SWITCHES.items()]
        options = replace(whole, **{name: name in chosen for name in names}, json=form == "json")
        ours = rendered(report, options)
        if form == "json":
            ours = without_incc(ours)
        assert ours == theirs(REGIONS, cpu, *flags, *(["-json"] if form == "json" else [])), chosen


@needs_mca
@pytest.mark.parametrize("cpu", ["skylake-avx512", "znver4", "bdver2"])
def test_instruction_tables_are_llvm_mcas(cpu: str) -> None:
    code = REGIONS.replace("vdivpd %ymm0, %ymm2, %ymm3", "divpd %xmm0, %xmm1")
    arguments = [f"-mcpu={cpu}", *ALL]
    regions = parse_text(theirs(code, *arguments))
    text = theirs(code, *arguments, "-instruction-tables")
    tables = [{**region, **table} for region, table in zip(regions, parse_text(text), strict=True)]
    options = replace(asked(arguments, regions, code), instruction_tables=True)
    assert rendered(as_report(tables), options) == text
    document = theirs(code, *arguments, "-instruction-tables", "-json")
    # It has no summary, which the report is made with, and is not to show.
    summaries = json.loads(theirs(code, *arguments, "-json"))
    merged = json.loads(document)
    for region, other in zip(merged["CodeRegions"], summaries["CodeRegions"], strict=True):
        region |= {name: other[name] for name in ("SummaryView", "TimelineView")}
    ours = rendered(as_report(tables, merged), replace(options, json=True))
    assert without_incc(ours) == document


TRIAD = """
# LLVM-MCA-BEGIN triad
    vmovupd (%rsi,%rax), %ymm0
    vfmadd213pd (%rdx,%rax), %ymm1, %ymm0
    vmovupd %ymm0, (%rdi,%rax)
    addq $32, %rax
    cmpq %rax, %rcx
    jne .L4
# LLVM-MCA-END
"""


@pytest.mark.parametrize("cpu", ["skylake-avx512", "znver4", "alderlake"])
def test_reports_of_incc(cpu: str) -> None:
    """What incc finds out itself passes the same readers, with the same kernel in both forms."""
    settings = settings_with(mcpu=cpu, regions="marked", cold_iterations=100)
    report = analyze_units([Unit(assembly=TRIAD, assembly_file="triad.s")], settings)
    kernel = report.units[0].kernels[0]
    assert kernel.cold is not None
    options = replace(STATISTICS, headings=(RegionHeading(0, "triad"),), cpu=cpu)
    (text,) = parse_text(rendered(report, options))
    document = json.loads(rendered(report, replace(options, json=True)))
    (data,) = parse_json(document)
    assert document["Incc"] == msgspec.to_builtins(report)
    assert text["name"] == data["name"] == "triad"
    assert text["summary"]["Instructions"] == 600
    assert text["summary"]["Total Cycles"] == kernel.cold.cycles
    assert text["summary"] == pytest.approx(data["summary"], abs=0.051)
    assert [row["text"] for row in text["info"]] == [row["text"] for row in data["info"]] == text["texts"]
    assert [row["MayStore"] for row in text["info"]] == [False, False, True, False, False, False]
    assert text["resources"] == data["resources"]
    for cells, exact in zip(text["pressure"], data["pressure"], strict=True):
        assert cells == pytest.approx(exact, abs=0.0051)
    assert sum(text["pressure"][-1]) == pytest.approx(sum(map(sum, text["pressure"][:-1])), abs=0.2)
