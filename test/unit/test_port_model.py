"""The core drawn in text: what of it follows from its model, for every core."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from incc.driver.commands import mca
from incc.driver.commands.model import main as model_main
from incc.frontends.isa import isa
from incc.models.loading import list_models, load
from incc.report import types as t
from incc.report.core import core_report
from incc.views.layout import Layout
from incc.views.schemas import schema
from incc.views.text.port_model import lines, port_groups

MODELS = [entry.name for entry in list_models(())]


@pytest.mark.parametrize("name", MODELS)
def test_every_core_is_drawn(name: str) -> None:
    model = load(name)
    core = core_report(model)
    for width in (80, 200):
        text = list(lines(core, Layout(width, False)))
        assert max(map(len, text)) <= 80, max(text, key=len)
        assert not any("…" in line for line in text)
        assert sum(line.startswith("┌") for line in text) == sum(line.startswith("└") for line in text) > 1
        assert {len(line) for line in text if line[:1] in ("┌", "│", "└")} == {80}
        # Every kind of work has its row of marks, one for each port.
        marks = [line for line in text if "·" in line or "●" in line]
        drawn = [line for line in marks if not line.startswith("(")]
        assert [sum(line.count(mark) for mark in "·●") for line in drawn] == [len(model.ports)] * len(core.work)
        assert [line.count("●") for line in drawn] == [len(work.ports) for work in core.work]
    assert {work.name for work in core.work} >= {"load", "store address", "FP add", "shift"}
    assert all(work.ports or not work.uops for work in core.work)
    assert {port for work in core.work for port in work.ports} <= set(model.ports)


@pytest.mark.parametrize("name", MODELS)
def test_common_work_is_what_forms_say(name: str) -> None:
    """Each row is of a form that the model has, and no form of a table is misspelled for all cores."""
    model = load(name)
    known = {form for _, widths in isa(model.isa).common_work for _, forms in widths for form in forms}
    assert sum(model.lookup(form, frozenset()) is not None for form in known) >= 15


def test_no_form_of_the_tables_is_in_no_model() -> None:
    for name in ("x86", "aarch64"):
        models = [load(entry.name) for entry in list_models(()) if entry.isa == name]
        for _, widths in isa(name).common_work:
            for _, forms in widths:
                for form in forms:
                    assert any(model.lookup(form, frozenset()) is not None for model in models), form


def test_figures_of_a_core() -> None:
    core = core_report(load("skylake-avx512"))
    rows = {(work.name, tuple(work.bits)): work for work in core.work}
    load_row = rows["load", ()]
    assert (load_row.ports, load_row.latency, load_row.rthroughput) == (["2", "3"], [5, 7], None)
    assert rows["store address", ()].ports == ["2", "3", "7"]
    assert rows["indexed store address", ()].ports == ["2", "3"]
    assert rows["FMA", (128, 256)].ports == ["0", "1"]
    assert rows["FMA", (512,)].ports == ["0", "5"]
    assert (rows["multiply", ()].latency, rows["multiply", ()].rthroughput) == ([3, 3], 1.0)
    assert (rows["FP divide", (256,)].unit, rows["FP divide", (256,)].unit_cycles) == ("0DV", 8)
    assert core.schedulers == [t.CoreScheduler(ports=list("01234567"), entries=97, kind="scheduler")]
    parts = {part.name: part.text for part in core.parts}
    assert parts["Reorder buffer"].startswith("224 entries")
    assert parts["512-bit vectors"].endswith("on port 1")
    assert parts["Load latency"] == "5 (gpr), 6 (xmm), 7 (ymm, zmm) cycles"


def test_what_a_model_does_not_say_is_not_drawn() -> None:
    core = core_report(load("neoverse-n1"))
    assert not any(part.stage == "front end" for part in core.parts)
    text = "\n".join(lines(core, Layout(80, False)))
    assert "Front end" not in text
    assert "µop cache" not in text
    # An in-order core has no scheduler.
    assert core_report(load("bonnell")).schedulers == []


def test_parameters_are_drawn_as_they_are() -> None:
    changed = load("skylake").with_parameters({"rob": 1234, "decoders": 7, "store_buffer": 0})
    parts = {part.name: part.text for part in core_report(changed).parts}
    assert parts["Reorder buffer"].startswith("1234 entries")
    assert parts["Decoders"].startswith("7,")
    assert "Store buffer" not in parts


def test_groups_of_ports() -> None:
    assert port_groups(["ALU0", "ALU1", "BR", "AG0", "FP0", "FP1"]) == [
        ("ALU", ["0", "1"]),
        ("BR", [""]),
        ("AG0", [""]),
        ("FP", ["0", "1"]),
    ]
    assert port_groups([*"01AB"]) == [("", [*"01AB"])]
    assert port_groups(["FLA", "FLB", "PR"]) == [("FL", ["A", "B"]), ("PR", [""])]


@given(st.lists(st.text("ABF01", min_size=1, max_size=4), min_size=1, max_size=24, unique=True))
def test_groups_spell_every_port(ports: list[str]) -> None:
    assert [stem + own for stem, owns in port_groups(ports) for own in owns] == ports


def run(capfd: Any, *arguments: str) -> tuple[int, str, str]:
    status = mca.main(list(arguments))
    out, err = capfd.readouterr()
    return status, out, err


def test_without_a_file_nothing_is_read(capfd: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", None)
    status, out, err = run(capfd, "-mcpu=skylake", "-port-model")
    assert (status, err) == (0, "")
    assert out.startswith("Core: Intel Skylake (client) (skylake)\n")
    assert "No loop" not in out
    status, out, err = run(capfd, "-mcpu=skylake,znver4,neoverse-v1", "-port-model")
    assert (status, err) == (0, "")
    assert [line.split("(")[-1] for line in out.splitlines() if line.startswith("Core: ")] == [
        "skylake)",
        "znver4)",
        "neoverse-v1)",
    ]
    status, out, err = run(capfd, "-mcpu=skylake", "-port-model", "-json")
    jsonschema.Draft202012Validator(schema("report/report")).validate(json.loads(out))
    (unit,) = json.loads(out)["units"]
    assert (status, unit["core"]["model"], unit["kernels"]) == (0, "skylake", [])
    # What is no drawing of a core needs its input all the same.
    assert run(capfd, "-mcpu=skylake", "-port-model", "-")[0] == 1
    assert run(capfd, "-mcpu=skylake", "-port-model=false")[0] == 1
    assert run(capfd, "-mcpu=nothing", "-port-model") == (
        2,
        "",
        "incc-mca: error: no machine model named 'nothing'; did you mean turin?\n",
    )


def test_with_a_file_it_is_before_the_kernels(tmp_path: Any, capfd: Any) -> None:
    path = tmp_path / "a.s"
    path.write_text("addq %rax, %rbx\n")
    status, out, _ = run(capfd, "-mcpu=skylake", "-all-views", str(path))
    assert status == 0
    assert out.index("for Intel Skylake") < out.index("Core: Intel Skylake") < out.index("Bound by")
    assert "Core:" not in run(capfd, "-mcpu=skylake", str(path))[1]
    assert json.loads(run(capfd, "-mcpu=skylake", "-json", str(path))[1])["units"][0]["core"] is None


def test_incc_model_draws_the_same(capfd: Any) -> None:
    assert model_main(["show", "--ports", "-mcpu=znver4"]) == 0
    drawn = capfd.readouterr().out
    assert drawn == run(capfd, "-mcpu=znver4", "-port-model")[1]
