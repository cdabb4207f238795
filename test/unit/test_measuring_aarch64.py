"""Loops of AArch64 forms: what they are, and that an assembler takes them. Nobody has run them."""

from __future__ import annotations

import platform
import shutil
import subprocess
from pathlib import Path

import pytest
from msgspec.structs import replace

from incc.driver.commands import make_host
from incc.measuring.forms import aarch64 as forms
from incc.measuring.harness import LoopFailure, MachineLoop, Measurement
from incc.measuring.host import aarch64 as host_aarch64
from incc.measuring.host import forms as host_forms
from incc.measuring.host import model as host
from incc.models.check import check
from incc.models.loading import load, search_places

NAMED = ["add/x,x,x", "add/w,w,#", "madd/x,x,x,x", "fmul/d,d,d", "fmla/v.4s,v.4s,v.4s", "eor/v.16b,v.16b,v.16b"]


def test_chains_go_through_one_operand() -> None:
    found = {code.operand: code.text.splitlines()[1] for code in forms.latencies("madd/x,x,x,x")}
    assert found == {1: "madd x0, x0, x11, x12", 2: "madd x0, x10, x0, x12", 3: "madd x0, x10, x11, x0"}


def test_copies_write_to_different_registers() -> None:
    code = forms.throughput("fmul/d,d,d")
    lines = code.text.splitlines()
    assert (lines[0], lines[-2:], len(lines)) == ("0:", ["subs x28, x28, #1", "b.ne 0b"], code.copies + 3)
    assert len({line.split()[1] for line in lines[1:-2]}) == 16


@pytest.mark.parametrize("form", ["ldr/x,[x]", "b/label", "b.cond/label", "add/z.s,z.s,z.s", "nop", "cbz/x,label"])
def test_what_is_no_data_processing_is_refused(form: str) -> None:
    with pytest.raises(forms.NotMeasurable):
        forms.throughput(form)


@pytest.mark.skipif(platform.machine() == "aarch64", reason="here it can")
def test_elsewhere_nothing_is_assembled() -> None:
    with pytest.raises(forms.NotMeasurable, match="on AArch64 only"):
        forms.machine_code(forms.throughput(NAMED[0]))


@pytest.mark.skipif(shutil.which("clang-19") is None, reason="no clang-19")
def test_loops_are_assembled(tmp_path: Path) -> None:
    known = set(load("neoverse-v2").forms())
    assert {"add/w,w,#", "fmul/d,d,d"} <= known
    for number, form in enumerate(NAMED):
        codes = [forms.throughput(form), *forms.latencies(form)]
        assert len(codes) > 1
        for code in codes:
            source = tmp_path / f"{number}.ll"
            source.write_text(forms.intermediate(code))
            arguments = ["--target=aarch64-linux-gnu", "-w", "-c", str(source), "-o", str(tmp_path / "a.o")]
            done = subprocess.run(["clang-19", *arguments], capture_output=True, text=True, check=False)
            assert done.returncode == 0, (form, done.stderr)


# --- beside the nearest relative's figures ----------------------------------------------------------------------------


def test_nothing_differs_from_the_model_that_is_the_machine(tmp_path: Path) -> None:
    for name in ("neoverse-n1", "neoverse-v2"):
        model = load(name)
        todo = host_aarch64.wanted(model)
        assert len(todo) > 1000
        bench, path = host_aarch64.AArch64Bench(host_aarch64.ModelMachine(model), model), str(tmp_path / name)
        measured = host_forms.measure(bench, todo, path, host_forms.MeasuredForms({}, {}), lambda: True)
        result = host_forms.compare(measured, bench, bench, model, path)
        assert result == host_forms.FormsComparison(same=len(todo), different=[], unsteady=[], faster=[], missing=[])


def test_a_made_core_becomes_a_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "changed.toml"
    path.write_text(
        'format = 1\nname = "changed"\ntitle = "x"\nisa = "aarch64"\ninherits = "neoverse-n1"\n[forms]\n'
        '"add/x,x,x" = { latency = "0<1,2:3" }\n'
        '"fmul/d,d,d" = { latency = "0<1,2:5", tp = 2.0 }\n'
    )
    relative, output = load("neoverse-n1"), tmp_path / "mine.toml"

    class Counting(host_aarch64.ModelMachine):
        count = 0

        def measure(self, code: forms.FormLoop) -> Measurement | LoopFailure:
            Counting.count += 1
            if code.form == "sub/x,x,x":
                return LoopFailure("SIGILL", "no such instruction")
            found = super().measure(code)
            if code.form == "eor/x,x,x" and isinstance(found, Measurement):
                return replace(found, cycles=(2 + Counting.count % 5) * found.cycles)
            return found

    folder = str(tmp_path / "kept")
    for _ in range(2):  # the second time from the file alone
        with make_host._own_folder(folder):
            options = make_host.MakeHostOptions(output=str(output))
            assert make_host.make_aarch64(options, relative, Counting(load(str(path))), folder) == 0
        said = capsys.readouterr().out
        assert "the AArch64 loops have not run on hardware yet" in said
        assert "2 differ" in said
        assert "1 cannot be measured" in said
        text = output.read_text()
        assert "# Not tested: the AArch64 loops have not run on hardware yet" in text
        assert check(str(output), search_places(())) == []
        count, Counting.count = Counting.count, 0
    assert count == 0
    made = load(str(output))
    form = made.lookup("fmul/d,d,d", frozenset())
    assert form is not None
    assert (form.latency, form.throughput, form.source) == ((("0", "1", 5), ("0", "2", 5)), 2.0, "measured")
    same = made.lookup("mul/x,x,x", frozenset())
    before = relative.lookup("mul/x,x,x", frozenset())
    assert same is not None
    assert before is not None
    assert same.latency == before.latency


def test_time_that_is_over_leaves_the_rest_for_the_next_run(tmp_path: Path) -> None:
    model, known = load("neoverse-n1"), host_forms.MeasuredForms({}, {})
    said = iter([True, True, False])
    todo = host_aarch64.wanted(model)[:10]
    path = str(tmp_path / "forms.jsonl")
    bench = host_aarch64.AArch64Bench(host_aarch64.ModelMachine(model), model)
    assert len(list(host_forms.measure(bench, todo, path, known, lambda: next(said)))) == 2
    assert len(known.records) == 3
    assert host_forms.read(path).records == known.records


def test_the_harness_gets_machine_code(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[MachineLoop] = []

    class Machine:
        def measure(self, loop: MachineLoop) -> Measurement | LoopFailure:
            asked.append(loop)
            return Measurement(cycles=16.0, spread=0.0, way="clock", events={})

    one = next(forms.latencies("add/x,x,x"))
    if platform.machine() != "aarch64":
        found = host_aarch64.HostMachine(Machine()).measure(one)
        assert isinstance(found, LoopFailure)
        assert (found.kind, asked) == ("encoding", [])
    monkeypatch.setattr(forms, "machine_code", lambda code: bytes(4 * code.copies))
    assert host_aarch64.HostMachine(Machine()).measure(one) == Measurement(
        cycles=16.0, spread=0.0, way="clock", events={}
    )
    assert (asked[0].counter, len(asked[0].registers), asked[0].code) == (28, 32, bytes(64))


def test_the_command_takes_the_forms_of_an_aarch64_processor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from incc.driver.commands.model import main

    class Machine:
        counters_missing = ""
        busy = 0.0

        def __enter__(self) -> Machine:
            return self

        def __exit__(self, *_: object) -> None: ...

    model = load("neoverse-n1")
    monkeypatch.setattr(make_host, "missing", lambda: "")
    monkeypatch.setattr(host, "isa_here", lambda: "aarch64")
    monkeypatch.setattr(make_host, "Harness", lambda unsafe: Machine())
    monkeypatch.setattr(host_aarch64, "HostMachine", lambda _: host_aarch64.ModelMachine(model))
    output = str(tmp_path / "mine.toml")
    assert main(["make", "host", "--relative", "neoverse-n1", "-o", output]) == 0
    assert f"forms: {len(host_aarch64.wanted(model))} as in neoverse-n1, 0 differ" in capsys.readouterr().out
    assert main(["make", "host", "--relative", "skylake", "-o", output]) == 1
    assert "skylake has another instruction set than this machine" in capsys.readouterr().err
