"""The core that this runs on: by its number, unless its features contradict that."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incc.driver.pipeline import choose_model
from incc.models import loading
from incc.models.processors import arm, host
from properties import examples

CORES = {core.name: core for core in host.cores()}
INTEL, AMD = host.INTEL, host.AMD


def made_up(name: str, vendor: str, flags: str, family: int = 6, model: int = 1) -> host.Host:
    text = f"vendor_id\t: {vendor}\ncpu family\t: {family}\nmodel\t\t: {model}\nstepping\t: 2\nflags\t\t: fpu {flags}\n"
    return host.from_cpuinfo(text, name)


SERVER = "avx avx2 fma f16c bmi2 adx avx512f avx512bw avx512vl avx512_vnni avx512_vbmi2 gfni vaes sha_ni"


@pytest.mark.parametrize(
    ("name", "vendor", "flags", "core", "why"),
    [
        # AMX on "Rocket Lake" is none.
        ("rocketlake", INTEL, f"{SERVER} amx_tile amx_int8 amx_bf16", "sapphirerapids", "which rocketlake"),
        ("icelake-client", INTEL, f"{SERVER} avx512_fp16", "sapphirerapids", "avx512fp16, which icelake-client"),
        ("tigerlake", INTEL, f"{SERVER} avx512_fp16 avx512_bf16 avx_vnni", "sapphirerapids", "which tigerlake"),
        ("cooperlake", INTEL, f"{SERVER} avx512_bf16 avx512_fp16", "sapphirerapids", "which cooperlake"),
        ("sapphirerapids", INTEL, f"{SERVER} amx_tile amx_fp16", "graniterapids", "amxfp16, which sapphirerapids"),
        # A Granite Rapids whose number is Rocket Lake's, with AMX hidden.
        ("rocketlake", INTEL, f"{SERVER} avx512_fp16 avx_vnni prefetchi", "graniterapids", "which rocketlake"),
        ("skylake", INTEL, "avx2 fma avx512f avx512vl", "skylake-avx512", "avx512f, avx512vl, which skylake"),
        # Early Alder Lakes with AVX-512: the same core as Sapphire Rapids.
        ("alderlake", INTEL, f"{SERVER} avx512_fp16 avx_vnni", "sapphirerapids", "which alderlake"),
        ("znver3", AMD, "avx2 fma avx512f avx512_bf16", "znver4", "which znver3"),
        ("znver4", AMD, "avx2 avx512f avx512_vp2intersect", "znver5", "avx512vp2intersect, which znver4"),
        ("k8-sse3", AMD, "avx2 avx512f avx512vl", "znver4", "which k8-sse3"),
        # No number that LLVM knows.
        ("x86-64", AMD, "avx avx2 avx512f", "znver4", "avx512f; no core is known"),
        ("", INTEL, f"{SERVER} avx512_fp16", "sapphirerapids", "avx512fp16; no core is known"),
        ("generic", INTEL, "avx avx2 f16c fma bmi2 avx_vnni", "alderlake", "no core is known"),
        # What is hidden proves nothing.
        ("emeraldrapids", INTEL, SERVER, "emeraldrapids", ""),
        ("sapphirerapids", INTEL, "avx", "sapphirerapids", ""),
        ("znver5", AMD, "", "znver5", ""),
        ("rocketlake", INTEL, SERVER, "rocketlake", ""),
        ("gracemont", INTEL, "avx2 avx_vnni", "gracemont", ""),
        # What nobody here knows stays as LLVM names it.
        ("apple-m1", "", "", "apple-m1", ""),
        ("knl", INTEL, "avx512f", "knl", ""),
        ("x86-64", "", "avx2", "x86-64", ""),
        ("x86-64", "CentaurHauls", "avx2", "x86-64", ""),
        ("", "", "", "", ""),
    ],
)
def test_made_up_hosts(name: str, vendor: str, flags: str, core: str, why: str) -> None:
    found, said = host.recognise(made_up(name, vendor, flags))
    assert found == core
    assert said.startswith("host recognised by its features: ") if why else said == ""
    assert why in said
    assert not said or "family 6, model 1" in said


@examples(100)
@given(st.sampled_from(sorted(CORES)), st.sampled_from([*sorted(CORES), "x86-64", ""]), st.data())
def test_a_core_is_never_called_by_one_that_lacks_what_it_has(core: str, name: str, data: st.DataObject) -> None:
    """Whatever name is given and whatever is hidden: the features that are seen are the found core's."""
    shown = data.draw(st.sets(st.sampled_from(sorted(CORES[core].features)))) if CORES[core].features else set()
    vendor = CORES[core].vendor
    found, why = host.recognise(
        host.Host(vendor=vendor, family=6, model=1, stepping=0, name=name, features=frozenset(shown))
    )
    if found in CORES and shown:
        assert shown <= CORES[found].features
    if name == core:
        assert (found, why) == (name, "")
    if found != name:
        assert shown


def test_all_names_lead_to_a_model() -> None:
    assert [name for name in CORES if not loading.find_cpu(name).model] == []


def _macro(feature: str) -> str:
    spelled = {"sse42": "SSE4_2", "sse41": "SSE4_1"}.get(feature, feature.upper())
    return f"__{spelled.replace('AMX', 'AMX_')}__"


@pytest.mark.parametrize("core", sorted(CORES))
def test_features_are_those_that_clang_knows(core: str) -> None:
    if shutil.which("clang-19") is None:
        pytest.skip("no clang-19")
    done = subprocess.run(
        ["clang-19", "--target=x86_64-linux-gnu", f"-march={core}", "-dM", "-E", "-xc", "/dev/null"],
        capture_output=True,
        text=True,
    )
    if done.returncode:
        assert core == "diamondrapids"
        return
    macros = {line.split()[1] for line in done.stdout.splitlines()}
    telling = frozenset[str]().union(*(c.features for c in CORES.values()))
    assert CORES[core].features == {feature for feature in telling if _macro(feature) in macros}


def test_this_host() -> None:
    """Whatever it is: what it shows is what the core that it is taken for has."""
    this = host.read()
    name, why = host.recognise(this)
    assert loading.host_cpu() == (name, why)
    assert loading.host_cpu_name() == name


def test_what_llvm_says_of_a_host_is_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """For as long as the kernel says the same of it, but for what changes all the time."""
    monkeypatch.setattr(loading, "data_folder", lambda: str(tmp_path))
    text = f"vendor_id\t: {INTEL}\ncpu family\t: 6\nmodel\t: 85\nflags\t: avx512f\n"
    asked = []

    def read(said: str) -> host.Host:
        asked.append(said)
        return made_up("cascadelake" if "avx512_vnni" in said else "skylake-avx512", INTEL, "avx512f")

    monkeypatch.setattr(host, "read", read)
    for said, name, reads in (
        (f"{text}cpu MHz\t: 2000.5", "skylake-avx512", 1),
        (f"{text}cpu MHz\t: 3100.0", "skylake-avx512", 1),
        (text.replace("avx512f", "avx512f avx512_vnni"), "cascadelake", 2),
        (f"{text}cpu MHz\t: 3100.0", "skylake-avx512", 3),
        ("", "skylake-avx512", 4),
        ("", "skylake-avx512", 5),
    ):
        monkeypatch.setattr(host, "cpuinfo", lambda said=said: said)
        assert loading.host_cpu_name() == name
        assert len(asked) == reads


def test_it_is_said_how_a_host_was_recognised(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host, "cpuinfo", lambda: "")
    monkeypatch.setattr(host, "read", lambda _: made_up("rocketlake", INTEL, f"{SERVER} amx_tile"))
    choice = choose_model("native", "")
    assert choice.model.name == "sapphirerapids"
    assert choice.reason == (
        "the host, sapphirerapids; host recognised by its features: amxtile, which rocketlake (family 6, model 1) "
        "does not have"
    )
    assert choice.note == ""


@pytest.mark.parametrize(
    ("machine", "core", "why"),
    [
        ("graviton3", "neoverse-v1", ""),
        ("thunderx2", "thunderx2t99", ""),
        ("rk3588", "cortex-a76", "the largest core of the host, which also has cortex-a55"),
        ("unknown", "implementer 0x41, part 0xfff", ""),
    ],
)
def test_arm_hosts_are_recognised_by_their_numbers(machine: str, core: str, why: str) -> None:
    text = (Path(__file__).parent / "data" / "cpuinfo" / machine).read_text()
    assert host.recognise(host.from_cpuinfo(text, "generic")) == (core, why)


def test_native_on_an_arm_host(monkeypatch: pytest.MonkeyPatch) -> None:
    text = (Path(__file__).parent / "data" / "cpuinfo" / "rk3588").read_text()
    found = host.recognise(host.from_cpuinfo(text, ""))
    monkeypatch.setattr(loading, "host_cpu", lambda: found)
    choice = choose_model("native", "")
    assert choice.model.name == "neoverse-n1"
    assert "cortex-a76; the largest core of the host, which also has cortex-a55" in choice.reason
    assert choose_model("", "", code_isa="aarch64").model.name == "neoverse-n1"
    assert choose_model("", "", code_isa="x86").model.name == "generic-x86-64"


def test_names_of_arm_cores_have_models_or_a_reason() -> None:
    for cores in arm._CORES.values():
        for name in cores.split()[1::2]:
            cpu = loading.find_cpu(name)
            assert cpu.model or cpu.why, name
