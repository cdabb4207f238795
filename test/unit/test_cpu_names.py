"""Every name that compilers give to processors stands for a model, for the nearest one, or is known to have none."""

from __future__ import annotations

import shutil
import subprocess
import sys

import pytest

from incc.driver.model import main
from incc.driver.pipeline import AnalysisError, choose_model
from incc.models import cpu_names, loading
from incc.models import model as m

# gcc 14's -march= for x86-64 (gcc/common/config/i386/i386-common.cc).
GCC_X86 = """
nocona core2 nehalem corei7 westmere sandybridge corei7-avx ivybridge core-avx-i haswell core-avx2 broadwell skylake
skylake-avx512 cannonlake icelake-client rocketlake icelake-server cascadelake tigerlake cooperlake sapphirerapids
emeraldrapids alderlake raptorlake meteorlake graniterapids graniterapids-d arrowlake arrowlake-s lunarlake pantherlake
bonnell atom silvermont slm goldmont goldmont-plus tremont gracemont sierraforest grandridge clearwaterforest knl knm
intel geode k6 k6-2 k6-3 athlon athlon-tbird athlon-4 athlon-xp athlon-mp x86-64 x86-64-v2 x86-64-v3 x86-64-v4 eden-x2
nano nano-1000 nano-2000 nano-3000 nano-x2 eden-x4 nano-x4 lujiazui yongfeng k8 k8-sse3 opteron opteron-sse3 athlon64
athlon64-sse3 athlon-fx amdfam10 barcelona bdver1 bdver2 bdver3 bdver4 znver1 znver2 znver3 znver4 znver5 btver1 btver2
generic i386 i486 i586 i686 pentium lakemont pentium-mmx winchip-c6 winchip2 c3 samuel-2 c3-2 nehemiah c7 esther
pentiumpro pentium2 pentium3 pentium3m pentium-m pentium4 pentium4m prescott
"""

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

# LLVM 19's -mcpu= (llvm/lib/Target/X86/X86.td, llvm/lib/Target/AArch64/AArch64Processors.td), 64-bit cores.
LLVM = """
alderlake amdfam10 arrowlake arrowlake-s arrowlake_s athlon-fx athlon64 athlon64-sse3 atom atom_sse4_2
atom_sse4_2_movbe barcelona bdver1 bdver2 bdver3 bdver4 bonnell broadwell btver1 btver2 cannonlake cascadelake
clearwaterforest cooperlake core-avx-i core-avx2 core2 core_2_duo_sse4_1 core_2_duo_ssse3 core_2nd_gen_avx
core_3rd_gen_avx core_4th_gen_avx core_4th_gen_avx_tsx core_5th_gen_avx core_5th_gen_avx_tsx core_aes_pclmulqdq
core_i7_sse4_2 corei7 corei7-avx emeraldrapids generic goldmont goldmont-plus goldmont_plus gracemont grandridge
graniterapids graniterapids-d graniterapids_d haswell icelake-client icelake-server icelake_client icelake_server
ivybridge k8 k8-sse3 knl knm lunarlake meteorlake mic_avx512 nehalem nocona opteron opteron-sse3 pantherlake penryn
raptorlake rocketlake sandybridge sapphirerapids sierraforest silvermont skx skylake skylake-avx512 skylake_avx512 slm
tigerlake tremont westmere x86-64 x86-64-v2 x86-64-v3 x86-64-v4 znver1 znver2 znver3 znver4
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


@pytest.mark.parametrize("names", [GCC_X86, GCC_AARCH64, LLVM], ids=["gcc x86", "gcc aarch64", "LLVM"])
def test_names_of_compilers(names: str) -> None:
    assert [name for name in names.split() if not known(name)] == []


def test_names_of_tools() -> None:
    """All of them have a model, or a nearest one."""
    assert [name for name in TOOLS.split() if not loading.find_cpu(name).model] == []


@pytest.mark.parametrize("option", ["-march", "-mtune"])
def test_names_of_this_gcc(option: str) -> None:
    """What the gcc that is here says of itself."""
    gcc = shutil.which("gcc")
    if gcc is None:
        pytest.skip("no gcc")
    done = subprocess.run(
        [gcc, f"{option}=nonsense", "-xc", "-c", "-", "-o", "/dev/null"], input="", capture_output=True, text=True
    )
    lines = [line.partition("switch are:")[2] for line in done.stderr.splitlines() if "switch are:" in line]
    names = lines[0].partition("; did you")[0].split() if lines else []
    if not names:
        pytest.skip("this gcc does not list its names")
    assert len(names) > 20
    assert [name for name in names if name != "native" and not known(name)] == []


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
        ("cannonlake", "skylake-avx512", True),
        ("graniterapids_d", "sapphirerapids", True),
        ("cortex-x3+sve2", "neoverse-v2", True),
        ("x86-64-v3", "", False),
        ("knl", "", False),
        ("no such core", "", False),
        ("", "", False),
    ],
)
def test_what_names_stand_for(name: str, model: str, nearest: bool) -> None:
    found = loading.find_cpu(name)
    assert (found.model, found.nearest) == (model, nearest)
    assert loading.resolve_cpu_name(name) == (None if nearest or not model else model)


def test_loading_says_what_is_wrong_with_a_name() -> None:
    for name, message in (
        ("cannonlake", r"no machine model of its own for 'cannonlake' \(.*\); the nearest is 'skylake-avx512'"),
        ("x86-64-v3", "no machine model for 'x86-64-v3': it is a name for many cores"),
        ("skylak", "no machine model named 'skylak'; did you mean skylake"),
    ):
        with pytest.raises(m.ModelError, match=message):
            loading.load(name)


def test_how_a_model_was_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another core than the one that was asked for is never taken silently."""
    monkeypatch.setattr(loading, "host_cpu_name", lambda: "haswell")
    model, how = choose_model("", "cannonlake")
    assert (model.name, how) == (
        "skylake-avx512",
        "the command's target, cannonlake; the nearest model is that of skylake-avx512: Skylake's core with AVX-512",
    )
    model, how = choose_model("graniterapids", "")
    assert model.name == "sapphirerapids"
    assert how.startswith("-mcpu=graniterapids; the nearest model is that of sapphirerapids: ")
    model, how = choose_model("", "btver2")
    assert model.name == "haswell"
    assert how == "the host, haswell; btver2, the command's target, has no model (an AMD core before Zen)"
    assert choose_model("", "skylake")[1] == "the command's target, skylake"
    assert choose_model("", "")[1] == "the host, haswell"
    monkeypatch.setattr(loading, "host_cpu_name", lambda: "cooperlake")
    assert choose_model("native", "")[1] == (
        "the host, cooperlake; the nearest model is that of cascadelake: the same core with bfloat16"
    )
    monkeypatch.setattr(loading, "host_cpu_name", lambda: "knl")
    with pytest.raises(AnalysisError, match="no machine model for the host"):
        choose_model("", "")
    with pytest.raises(AnalysisError, match="it is an AMD core before Zen"):
        choose_model("btver2", "")


def test_list_of_names(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "--names"]) == 0
    rows = {line.split()[0]: " ".join(line.split()[1:]) for line in capsys.readouterr().out.splitlines()}
    assert rows["SKX"] == "skylake-avx512"
    assert rows["cannonlake"] == "nearest: skylake-avx512 Skylake's core with AVX-512"
    assert rows["x86-64-v3"] == "none a name for many cores, not for one"
