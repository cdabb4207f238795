"""What LLVM calls a core's resources: as llvm-mca lists them, in model files and in reports."""

from __future__ import annotations

import re
import shutil
import subprocess
from typing import Any

import msgspec
import pytest
from msgspec.structs import astuple

from incc.driver.pipeline import AnalysisError, analyze_unit, choose_model
from incc.frontends.unit import Unit
from incc.models import loading
from incc.models.files import llvm_table
from incc.models.importers.llvm import units as llvm_units
from incc.models.llvm_names import unpacked
from incc.report.build import unit_report
from settings_fixtures import settings_with

NAMED = [m.name for m in loading.list_models() if (names := loading.load(m.name).llvm) is not None and names.units]

# Ports of these are kinds of unit, or LLVM analyses them as another core (docs/llvm-mca.md).
OTHERS = {
    *("arrowlake", "crestmont", "goldmont", "goldmont-plus", "gracemont", "skymont"),
    *("apple-m1", "exynos-m3", "exynos-m4", "exynos-m5", "tremont", "znver5"),
}


TRIPLES = {"x86": "x86_64", "aarch64": "aarch64"}
# Schedulers are shown if any is used: Silvermont's are those of vectors.
TEXTS = {"x86": "addq %rax, %rbx\naddps %xmm0, %xmm1\n", "aarch64": "add x0, x1, x2\nfadd v0.4s, v1.4s, v2.4s\n"}


def llvm_mca(*arguments: str, isa: str = "x86") -> str:
    if shutil.which("llvm-mca-19") is None:
        pytest.skip("no llvm-mca-19")
    command = ["llvm-mca-19", f"-mtriple={TRIPLES[isa]}", *arguments]
    text = TEXTS[isa]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout


def llvm_names() -> list[str]:
    """What `-mcpu=help` lists."""
    done = subprocess.run(
        ["llvm-mca-19", "-mtriple=x86_64", "-mcpu=help"], input="", capture_output=True, text=True, check=False
    )
    listed = (done.stderr + done.stdout).partition("Available CPUs")[2].partition("Available features")[0]
    return [line.split()[0] for line in listed.splitlines() if " - Select the" in line]


def test_cores_without_names_are_known() -> None:
    cores = {m.name for m in loading.list_models()}
    assert cores - set(NAMED) == OTHERS


@pytest.mark.parametrize("name", NAMED)
def test_units_are_those_of_llvm_mca(name: str) -> None:
    model = loading.load(name)
    names = model.llvm
    assert names is not None
    shown = (
        llvm_mca(f"-mcpu={names.cpu}", "-iterations=1", isa=model.isa).partition("Resources:\n")[2].partition("\n\n")[0]
    )
    rows = [re.match(r"\[([\d.]+)\]\s+- (\S+)$", line) for line in shown.splitlines()]
    assert [(u.number, u.name) for u in names.units] == [(row[1], row[2]) for row in rows if row]


@pytest.mark.parametrize("name", NAMED)
def test_schedulers_and_register_files_are_those_of_llvm_mca(name: str) -> None:
    model = loading.load(name)
    names = model.llvm
    assert names is not None
    options = ["-iterations=1", "-scheduler-stats", "-register-file-stats"]
    shown = llvm_mca(f"-mcpu={names.cpu}", *options, isa=model.isa)
    table = shown.partition("[4] Total number of buffer entries.\n\n")[2].partition("\n\n")[0].splitlines()[1:]
    assert [(s.name, s.entries) for s in names.schedulers] == [(r.split()[0], int(r.split()[3])) for r in table]
    files = re.findall(r"\*  Register File #\d+ -- (\S+):\n\s+Number of physical registers:\s+(\d+)", shown)
    assert [(f.name, f.registers) for f in names.register_files] == [(n, int(registers)) for n, registers in files]


def test_every_name_of_llvm_mca_is_taken() -> None:
    if shutil.which("llvm-mca-19") is None:
        pytest.skip("no llvm-mca-19")
    names = llvm_names()
    assert len(names) > 100
    chosen = {name: choose_model(name, "").model for name in names}
    assert {model.isa for model in chosen.values()} == {"x86"}
    assert {name: choose_model(name.replace("-", "_"), "").model.name for name in names} == {
        name: model.name for name, model in chosen.items()
    }


@pytest.mark.parametrize(
    ("name", "model"),
    [
        ("generic", "generic-x86-64"),
        ("x86-64", "generic-x86-64"),
        ("x86_64_v2", "generic-x86-64"),
        ("x86-64-v3", "haswell"),
        ("x86-64-v4", "skylake-avx512"),
    ],
)
def test_levels_are_what_llvm_takes(name: str, model: str) -> None:
    """Who names a level gets the model that LLVM's scheduler takes, and is told; as a compiler's target it has none."""
    assert astuple(loading.find_cpu(name, (), levels=True))[:2] == (model, True)
    assert loading.find_cpu(name).model == ""
    chosen = choose_model(name, "")
    assert chosen.model.name == model
    assert "LLVM takes its model of" in chosen.note
    names = chosen.model.llvm
    assert names is not None
    there = llvm_mca(f"-mcpu={name.replace('_', '-')}", "-iterations=1")
    assert [u.name for u in names.units] == re.findall(r"^\[[\d.]+\]\s+- (\S+)$", there, re.MULTILINE)
    with pytest.raises(AnalysisError):
        choose_model("intel", "")


@pytest.mark.parametrize("name", ["generic", "generic+sve"])
def test_generic_is_another_core_on_aarch64(name: str) -> None:
    chosen = choose_model(name, "", code_isa="aarch64")
    assert chosen.model.name == "cortex-a510"
    assert "LLVM takes its model of the Cortex-A510" in chosen.note


def reported(text: str, cpu: str) -> Any:
    return unit_report(analyze_unit(Unit(assembly=text, assembly_file="a.s"), settings_with(mcpu=cpu))).kernels[0]


CODE = """\
	.text
f:
.L1:
	divps	%xmm1, %xmm2
	divl	%ecx
	addl	%eax, %ebx
	movq	(%rdi), %rsi
	movq	%rsi, (%r8)
	decl	%r9d
	jne	.L1
	ret
"""


@pytest.mark.parametrize("name", ["skylake", "znver3", "btver2", "bdver2", "silvermont", "graniterapids"])
def test_pressure_by_llvms_units(name: str) -> None:
    """Each port's cycles are under its name, and none of them twice; dividers take what is theirs."""
    kernel = reported(CODE, name)
    rows = kernel.llvm_resources
    names = loading.load(name).llvm
    assert names is not None
    assert [(row.number, row.name) for row in rows] == [(u.number, u.name) for u in names.units]
    for row in rows:
        assert row.cycles == pytest.approx(sum(row.instructions), abs=1e-5)
        assert len(row.instructions) == 7
    for index, resource in enumerate(kernel.resources):
        plain = [r for r, u in zip(rows, names.units, strict=True) if r.resource == index and not u.forms]
        if plain:
            assert sum(r.cycles for r in plain) == pytest.approx(resource.load, abs=1e-4)


def test_a_port_of_llvms_may_be_several_of_ours() -> None:
    kernel = reported(CODE, "bonnell")
    names = loading.load("bonnell").llvm
    assert names is not None
    loads = {resource.title: resource.load for resource in kernel.resources}
    for row, unit in zip(kernel.llvm_resources, names.units, strict=True):
        assert row.cycles == pytest.approx(sum(loads[of] for of in unit.of.split(",")), abs=1e-4)
        assert row.cycles > 0


def test_dividers_are_told_apart() -> None:
    rows = {row.name: row.instructions for row in reported(CODE, "skylake").llvm_resources}
    assert [bool(c) for c in rows["SKLFPDivider"]] == [True] + 6 * [False]
    assert [bool(c) for c in rows["SKLDivider"]] == [False, True] + 5 * [False]


def test_cores_without_names_have_none_in_the_report() -> None:
    assert reported(CODE, "gracemont").llvm_resources is None


TABLE = {"cpu": "x", "units": [{"name": "A", "of": "0"}, {"name": "A", "of": "1"}, {"name": "B"}]}


def test_units_of_one_resource_are_numbered() -> None:
    names, wrong = llvm_table.read(TABLE, ("0", "1"), ())
    assert wrong == []
    assert [(u.name, u.number) for u in names.units] == [("A", "0.0"), ("A", "0.1"), ("B", "1")]
    assert unpacked(msgspec.msgpack.encode(names)) == names
    assert unpacked(b"") is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"cpu": ""}, "llvm.cpu must be"),
        ({"units": []}, "llvm.units is missing"),
        ({"units": [{"name": "A", "of": "7"}]}, "A is of '7', which the model does not have"),
        ({"units": [{"of": "0"}]}, "'name' is missing"),
        ({"units": [{"name": "A", "off": "0"}]}, "unknown key 'off'"),
        ({"units": ["A"]}, "a row is a table"),
        ({"schedulers": {}}, "must be a list of tables"),
        ({"schedulers": [{"name": "S", "entries": True}]}, "of a wrong type"),
        ({"schedulers": [{"name": "S", "entries": -1}]}, "entries of -1"),
        ({"schedulers": [{"name": "S", "entries": 1, "ports": "0,9"}]}, "S has the port '9'"),
        ({"schedulers": [{"name": "S", "entries": 1, "queue": "both"}]}, "'queue' must be one of"),
        ({"register_files": [{"name": "R", "registers": 4, "kind": "x"}]}, "'kind' must be one of"),
        ({"more": []}, "unknown key llvm.more"),
    ],
)
def test_what_is_wrong_with_a_table(change: dict[str, Any], message: str) -> None:
    _, wrong = llvm_table.read({**TABLE, **change}, ("0", "1"), ())
    assert any(message in each for each in wrong), wrong


def test_names_are_written_as_they_are_read() -> None:
    import tomllib

    table = {
        **TABLE,
        "schedulers": [{"name": "S", "entries": 3, "ports": "0,1", "queue": ""}],
        "register_files": [{"name": "R", "registers": 9, "kind": "integer", "moves": 0}],
    }
    header = llvm_units.with_names('name = "c"\n', table)
    again = llvm_units.with_names(header, table)
    assert header == again
    read = tomllib.loads(again)["llvm"]
    assert llvm_table.read(read, ("0", "1"), ()) == llvm_table.read(table, ("0", "1"), ())


def test_what_is_written_by_hand_around_the_names_is_kept() -> None:
    for text in ("[llvm]\n", f"{llvm_table.MARK}\n[llvm]\n"):
        header = f'name = "c"\n\n{text}cpu = "old"\n\n# By hand.\n[memory]\nsource = "s"\n\n'
        written = llvm_units.with_names(header, TABLE)
        assert written == header.replace(f'{text}cpu = "old"\n', llvm_table.write(TABLE))


def test_what_the_file_says_of_a_unit_is_kept() -> None:
    processor = {
        "cpu": "x",
        "extra": None,
        "resources": [
            {"name": "XPort0", "units": 1, "buffer": -1, "members": ["XPort0"]},
            {"name": "XPort23", "units": 2, "buffer": -1, "members": ["XPort23"]},
            {"name": "XPortAny", "units": 3, "buffer": 9, "members": ["XPort0", "XPort23"]},
            {"name": "XDivider", "units": 1, "buffer": -1, "members": ["XDivider"]},
        ],
    }
    ports = ("0", "2", "3")
    made = llvm_units.names_of(processor, {}, ports, ("0DV",), {})
    assert [u["of"] for u in made["units"]] == ["0", "2", "3", "0DV"]
    assert made["schedulers"] == [{"name": "XPortAny", "entries": 9, "ports": "0,2,3", "queue": ""}]
    old = {"units": [{"name": "XPort23"}, {"name": "XDivider", "of": "0DV", "forms": "DIV_*"}]}
    made = llvm_units.names_of(processor, old, ports, ("0DV",), {"XPort0": ("3",), "XPort23": ("0", "9")})
    assert [(u.get("of", ""), u.get("forms", "")) for u in made["units"]] == [
        *(("3", ""), ("", ""), ("", "")),
        ("0DV", "DIV_*"),
    ]
