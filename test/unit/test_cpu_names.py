"""Every name that compilers give to processors stands for a model, for the nearest one, or is known to have none."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from incc.driver.commands.model import main
from incc.driver.pipeline import AnalysisError, analyze_unit, choose_model
from incc.frontends.gcc_wrapper.compile import compile_units
from incc.frontends.unit import Unit
from incc.models import loading
from incc.models import model as m
from incc.models.processors import names as cpu_names
from settings_fixtures import settings_with

LEVELS = "x86-64 x86-64-v2 x86-64-v3 x86-64-v4 i386 i486 i586 i686 generic intel"
NO_CORES = frozenset(LEVELS.split())


def _x86_names() -> dict[str, list[str]]:
    """The names that versions of compilers take for -march= and -mtune=, 32-bit and 64-bit."""
    names: dict[str, list[str]] = {}
    for line in (Path(__file__).parent / "data" / "cpu_names.txt").read_text().split("\n"):
        compiler, colon, rest = line.partition(":")
        if colon and not line.startswith("#"):
            names[compiler] = [name for word in rest.split() for name in names.get(word.lstrip("+"), [word])]
    return names


X86 = _x86_names()

# gcc 14's -mcpu= for AArch64 (gcc/config/aarch64/aarch64-cores.def).
GCC_AARCH64 = """
cortex-a34 cortex-a35 cortex-a53 cortex-a57 cortex-a72 cortex-a73 thunderx thunderxt88 octeontx octeontx81 octeontx83
thunderxt81 thunderxt83 ampere1 ampere1a ampere1b emag xgene1 falkor qdf24xx exynos-m1 phecda thunderx2t99p1 vulcan
thunderx2t99 cortex-a55 cortex-a75 cortex-a76 cortex-a76ae cortex-a77 cortex-a78 cortex-a78ae cortex-a78c cortex-a65
cortex-a65ae cortex-x1 cortex-x1c neoverse-n1 ares neoverse-e1 octeontx2 octeontx2t98 octeontx2t96 octeontx2t93
octeontx2f95 octeontx2f95n octeontx2f95mm a64fx tsv110 thunderx3t110 neoverse-v1 zeus neoverse-512tvb saphira
cortex-a57.cortex-a53 cortex-a72.cortex-a53 cortex-a73.cortex-a35 cortex-a73.cortex-a53 cortex-a75.cortex-a55
cortex-a76.cortex-a55 cortex-r82 cortex-a510 cortex-a520 cortex-a710 cortex-a715 cortex-a720 cortex-x2 cortex-x3
cortex-x4 neoverse-n2 cobalt-100 neoverse-v2 grace demeter generic generic-armv8-a generic-armv9-a
"""

# LLVM 19's -mcpu= for AArch64 (llvm/lib/Target/AArch64/AArch64Processors.td), and older spellings for x86-64 that
# __attribute__((cpu_dispatch)) takes.
LLVM = """
arrowlake_s atom_sse4_2 atom_sse4_2_movbe core_2_duo_sse4_1 core_2_duo_ssse3 core_2nd_gen_avx core_3rd_gen_avx
core_4th_gen_avx core_4th_gen_avx_tsx core_5th_gen_avx core_5th_gen_avx_tsx core_aes_pclmulqdq core_i7_sse4_2 generic
goldmont_plus graniterapids_d icelake_client icelake_server mic_avx512 skylake_avx512
a64fx ampere1 ampere1a ampere1b apple-a10 apple-a11 apple-a12 apple-a13 apple-a14 apple-a15 apple-a16 apple-a17
apple-a7 apple-a8 apple-a9 apple-latest apple-m1 apple-m2 apple-m3 apple-m4 apple-s4 apple-s5 carmel cortex-a34
cortex-a35 cortex-a510 cortex-a520 cortex-a520ae cortex-a53 cortex-a55 cortex-a57 cortex-a65 cortex-a65ae cortex-a710
cortex-a715 cortex-a72 cortex-a720 cortex-a720ae cortex-a725 cortex-a73 cortex-a75 cortex-a76 cortex-a76ae cortex-a77
cortex-a78 cortex-a78ae cortex-a78c cortex-r82 cortex-r82ae cortex-x1 cortex-x1c cortex-x2 cortex-x3 cortex-x4
cortex-x925 cyclone exynos-m3 exynos-m4 exynos-m5 falkor grace kryo neoverse-512tvb neoverse-e1 neoverse-n1
neoverse-n2 neoverse-n3 neoverse-v1 neoverse-v2 neoverse-v3 neoverse-v3ae oryon-1 saphira thunderx thunderx2t99
thunderx3t110 thunderxt81 thunderxt83 thunderxt88 tsv110
"""

# uops.info's columns, OSACA's --arch, uiCA's -arch.
TOOLS = """
CON WOL NHM WSM SNB IVB HSW BDW SKL SKX KBL CFL CNL CLX ICL TGL RKL ADL-P ADL-E MTL-P MTL-E ARL-P ARL-E LNL BNL AMT GLM
GLP TRM ZEN+ ZEN2 ZEN3 ZEN4 ZEN5 ZEN1 CSX ICX SPR TX2 N1 A64FX TSV110 A72 M1 V1 V2 N2
"""


def known(name: str) -> bool:
    cpu = loading.find_cpu(name)
    return bool(cpu.model or cpu.why)


@pytest.mark.parametrize("names", [GCC_AARCH64, LLVM], ids=["gcc aarch64", "LLVM"])
def test_names_of_compilers(names: str) -> None:
    assert [name for name in names.split() if not known(name)] == []


@pytest.mark.parametrize("compiler", sorted(X86))
def test_x86_names_of_compilers(compiler: str) -> None:
    """Each leads to a model, except those that are no core."""
    names = X86[compiler]
    assert len(names) > 80
    assert {name for name in names if not loading.find_cpu(name).model} <= NO_CORES
    assert [name for name in names if not known(name)] == []


@pytest.mark.parametrize("option", ["-march", "-mtune"])
@pytest.mark.parametrize("compiler", ["gcc", "gcc-11", "clang-19", "clang-14", "clang"])
def test_x86_names_of_compilers_at_hand(compiler: str, option: str) -> None:
    """What they say of themselves leads to a model; and what the list for their version has, where there is one."""
    if shutil.which(compiler) is None:
        pytest.skip(f"no {compiler}")
    target = ["--target=x86_64-linux-gnu"] if "clang" in compiler else []
    done = subprocess.run(
        [compiler, *target, f"{option}=nonsense", "-xc", "-c", "-", "-o", "/dev/null"],
        input="",
        capture_output=True,
        text=True,
    )
    found = re.search(r"valid (?:arguments to .* switch|target CPU values) are: ([^;\n]*)", done.stderr)
    if found is None:
        pytest.skip(f"this {compiler} does not list its names")
    names = set(found[1].replace(",", "").split()) - {"native"}
    assert len(names) > 50
    assert {name for name in names if not loading.find_cpu(name).model} <= NO_CORES
    if compiler in ("clang-19", "clang-14"):
        assert names <= set(X86[compiler])


def test_names_of_tools() -> None:
    """All of them have a model, or a nearest one."""
    assert [name for name in TOOLS.split() if not loading.find_cpu(name).model] == []


@pytest.mark.parametrize("target", ["x86_64-linux-gnu", "aarch64-linux-gnu"])
def test_names_of_this_llvm(target: str) -> None:
    """What llvmlite's LLVM lists."""
    pytest.importorskip("llvmlite")
    program = (
        "from llvmlite import binding as b\nb.initialize_all_targets()\n"
        f"b.Target.from_triple({target!r}).create_target_machine(cpu='help')"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    text = (done.stderr or done.stdout).partition("Available CPUs")[2].partition("Available features")[0]
    names = [line.split()[0] for line in text.splitlines() if " - Select the" in line]
    if not names:
        pytest.skip("this LLVM does not list its names")
    assert len(names) > 50
    assert [name for name in names if not known(name)] == []


def test_names_are_written_once() -> None:
    here = [name for name, _, _ in cpu_names.all_names()]
    assert len(here) == len(set(here))
    models = {n.lower() for e in loading.list_models() for n in (e.name, *e.aliases)}
    assert models.isdisjoint(here)
    assert {model for _, model, _ in cpu_names.all_names() if model} <= {e.name for e in loading.list_models()}
    assert all(name == name.lower() and "_" not in name for name in here)


@pytest.mark.parametrize(
    ("name", "model", "nearest"),
    [
        ("skylake-avx512", "skylake-avx512", False),
        ("SKX", "skylake-avx512", False),
        ("core_2nd_gen_avx", "sandybridge", False),
        ("neoverse-v1+sve+nocrypto", "neoverse-v1", False),
        ("grace", "neoverse-v2", False),
        ("ZEN+", "znver1", False),
        ("cannonlake", "cannonlake", False),
        ("diamondrapids", "graniterapids", True),
        ("graniterapids_d", "graniterapids", False),
        ("cortex-x3+sve2", "neoverse-v2", True),
        ("cooperlake", "cooperlake", False),
        ("emeraldrapids", "sapphirerapids", False),
        ("x86-64-v3", "", False),
        ("knl", "knl", False),
        ("mic_avx512", "knl", False),
        ("bdver4", "bdver2", True),
        ("btver2", "btver2", False),
        ("no such core", "", False),
        ("", "", False),
    ],
)
def test_what_names_stand_for(name: str, model: str, nearest: bool) -> None:
    found = loading.find_cpu(name)
    assert (found.model, found.nearest) == (model, nearest)


def test_loading_says_what_is_wrong_with_a_name() -> None:
    for name, message in (
        ("znver6", r"no machine model of its own for 'znver6' \(.*\); the nearest is 'znver5'"),
        ("x86-64-v3", "no machine model for 'x86-64-v3': it is a name for many cores"),
        ("skylak", "no machine model named 'skylak'; did you mean skylake"),
    ):
        with pytest.raises(m.ModelError, match=message):
            loading.load(name)


def reason_and_note(mcpu: str, target: str) -> tuple[str, str]:
    choice = choose_model(mcpu, target)
    return choice.reason, choice.note


def test_how_a_model_was_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another core than the one that was asked for is never taken silently."""
    monkeypatch.setattr(loading, "host_cpu", lambda: ("haswell", ""))
    choice = choose_model("", "znver6")
    model, how, note = choice.model, choice.reason, choice.note
    assert (model.name, how) == (
        "znver5",
        "the command's target, znver6; the nearest model is that of znver5: the generation after it",
    )
    assert note == "no model for znver6: analysed for znver5, the nearest (the generation after it)"
    choice = choose_model("diamondrapids", "")
    model, how, note = choice.model, choice.reason, choice.note
    assert model.name == "graniterapids"
    assert how.startswith("-mcpu=diamondrapids; the nearest model is that of graniterapids: ")
    assert note.startswith("no model for diamondrapids: analysed for graniterapids, the nearest (")
    choice = choose_model("", "x86-64-v3")
    model, how, note = choice.model, choice.reason, choice.note
    assert model.name == "haswell"
    assert (
        how == "the host, haswell; x86-64-v3, the command's target, has no model (a name for many cores, not for one)"
    )
    assert note == (
        "no model for the command's target, x86-64-v3 (a name for many cores, not for one): analysed for the host, "
        "haswell"
    )
    assert reason_and_note("", "emeraldrapids") == ("the command's target, emeraldrapids", "")
    assert reason_and_note("skx", "") == ("-mcpu=skx", "")
    assert reason_and_note("", "skylake") == ("the command's target, skylake", "")
    assert reason_and_note("", "") == ("the host, haswell", "")
    monkeypatch.setattr(loading, "host_cpu", lambda: ("znver6", ""))
    assert reason_and_note("native", "") == (
        "the host, znver6; the nearest model is that of znver5: the generation after it",
        "no model for the host, znver6: analysed for znver5, the nearest (the generation after it)",
    )
    monkeypatch.setattr(loading, "host_cpu", lambda: ("exynos-m1", ""))
    with pytest.raises(AnalysisError, match="no machine model for the host"):
        choose_model("", "")
    with pytest.raises(AnalysisError, match="it is a core of Samsung's"):
        choose_model("exynos-m1", "")


def test_list_of_names(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "--names"]) == 0
    rows = {line.split()[0]: " ".join(line.split()[1:]) for line in capsys.readouterr().out.splitlines()}
    assert rows["SKX"] == "skylake-avx512"
    assert rows["znver6"] == "nearest: znver5 the generation after it"
    assert rows["x86-64-v3"] == "none a name for many cores, not for one"


NATIVE = Unit(
    assembly=" .text\nf:\n addl $1, %eax\n ret\n",
    assembly_file="a.s",
    cpu="diamondrapids",
    command=("gcc", "-march=native", "a.c"),
)


@pytest.mark.parametrize(
    ("host", "mcpu", "command", "changed"),
    [
        ("emeraldrapids", "", NATIVE.command, True),
        ("graniterapids", "", NATIVE.command, False),
        ("emeraldrapids", "haswell", NATIVE.command, False),
        ("emeraldrapids", "", ("gcc", "-march=diamondrapids", "-mtune=native", "a.c"), False),
        ("emeraldrapids", "", ("gcc", "a.c"), False),
    ],
)
def test_a_compiler_that_takes_the_host_for_another(
    host: str, mcpu: str, command: tuple[str, ...], changed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loading, "host_cpu", lambda: (host, ""))
    found = analyze_unit(replace(NATIVE, command=command), settings_with(mcpu=mcpu))
    reason = f"the host, {host} (the compiler resolves native to diamondrapids)"
    assert (found.chosen_by == reason) == changed
    if changed:
        assert found.model.name == loading.find_cpu(host).model


@pytest.mark.parametrize("cc", ["gcc", "gcc-11", "clang-19", "clang-14"])
@pytest.mark.parametrize("tune", ["", "-mtune=haswell"])
def test_native_is_what_the_compiler_makes_of_it(cc: str, tune: str) -> None:
    if shutil.which(cc) is None:
        pytest.skip(f"no {cc}")
    done = subprocess.run([cc, "-march=native", "-###", "-c", "-xc", "/dev/null"], capture_output=True, text=True)
    found = re.search(r'"-march=([\w-]+)"|"-target-cpu" "([\w-]+)"', done.stderr)
    assert found is not None
    resolved = found[1] or found[2]
    command = [cc, "-O1", "-march=native", *tune.split(), "-xc", "-S", "-", "-o", "-"]
    (unit,) = compile_units(command, stdin=b"int f(int x) { return x + 1; }", capture=True).units
    if tune:
        assert unit.cpu == "haswell"
    elif loading.find_cpu(resolved).model:
        assert unit.cpu == resolved
