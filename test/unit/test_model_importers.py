"""Importers and rules of forms stand behind their protocols; what becomes of imported forms is decided in one place."""

from __future__ import annotations

import argparse
import inspect
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from incc.driver.commands.model import main
from incc.models import importers
from incc.models.forms import rules
from incc.models.importers import merge
from incc.models.importers.common import Imported, ImportFailed


@pytest.mark.parametrize("source", importers.SOURCES)
def test_importers_have_what_the_protocol_says(source: str) -> None:
    module = importers.importer(source)
    for name in ("add_arguments", "import_forms"):
        promised = inspect.signature(getattr(importers.Importer, name)).parameters
        assert [p for p in promised if p != "self"] == list(inspect.signature(getattr(module, name)).parameters)
    assert set(module.ISAS) <= set(rules.INSTRUCTION_SETS)
    if module.NEW_MODEL:
        assert tomllib.loads(module.NEW_MODEL.format(name="x"))["isa"] == module.ISAS[0]
    module.add_arguments(argparse.ArgumentParser())


@pytest.mark.parametrize("isa", rules.INSTRUCTION_SETS)
def test_rules_of_instruction_sets(isa: str) -> None:
    own_rules = rules.rules_of(isa)
    assert isinstance(own_rules.TITLE, str)
    assert isinstance(own_rules.RESULTS_ARE_COMPUTED, bool)
    for name in ("findings", "needs_latency", "is_called", "dependences"):
        promised = inspect.signature(getattr(rules.FormRules, name)).parameters
        assert [p for p in promised if p != "self"] == list(inspect.signature(getattr(own_rules, name)).parameters)


def test_importers_are_loaded_when_needed() -> None:
    program = (
        "import sys; from incc.driver.commands.model import main; main(['list'])\n"
        "print(sorted(m for m in sys.modules if m.startswith('incc.models.importers.') or m == 'iced_x86'))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_sources_without_anything_for_an_instruction_set(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = tmp_path / "core.toml"
    text = 'format = 1\nname = "core"\nisa = "aarch64"\n[ports]\nnames = ["0"]\n[forms]\n'
    model.write_text(text)
    (tmp_path / "x.jsonl").write_text("")
    for source in (["derive"], ["predecessor", "--mcpu", "skylake"], ["measured", str(tmp_path / "x.jsonl")]):
        assert main(["import", *source, "-o", str(model)]) == 1
        assert f"core.toml: {source[0]} has nothing for AArch64" in capsys.readouterr().err
    assert model.read_text() == text


class _Source:
    """A source with one form."""

    ISAS = ("x86",)
    NEW_MODEL = ""

    def __init__(self, imported: Imported) -> None:
        self.imported = imported

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        pass

    def import_forms(self, request: importers.ImportRequest) -> Imported:
        return self.imported


MODEL = """\
format = 1
name = "core"
isa = "x86"
source = "guess"
# by hand
[ports]
names = ["0", "1"]
[macro_fusion]
old = "je"
[forms]
"A/r" = { ports = "1*p0", retire = 1, latency = "0<1:3" }
"B/r" = { ports = "1*p0", retire = 1 }
"""


@pytest.mark.parametrize(
    ("options", "fields", "ports", "also", "added"),
    [
        ({}, {}, {"A/r": "1*p1", "C/r": "1*p1"}, {}, 2),
        ({"fill": True}, {}, {"A/r": "1*p0", "B/r": "1*p0", "C/r": "1*p1"}, {}, 1),
        (
            {"prefer": True},
            {},
            {"A/r": "1*p1", "B/r": "1*p0", "C/r": "1*p1"},
            {"guess": {"A/r": {"ports": "1*p0", "latency": 3}}},
            2,
        ),
        (
            {"compare": True},
            {},
            {"A/r": "1*p0", "B/r": "1*p0"},
            {"new": {"A/r": {"ports": "1*p1", "latency": 4}}},
            0,
        ),
        ({"prefer": True}, {"prefers": False}, {"A/r": "1*p0", "B/r": "1*p0", "C/r": "1*p1"}, {}, 1),
        ({"fill": True}, {"prefers": True}, {"A/r": "1*p1", "B/r": "1*p0", "C/r": "1*p1"}, {}, 2),
    ],
)
def test_what_is_taken(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    options: dict[str, bool],
    fields: dict[str, bool],
    ports: dict[str, str],
    also: dict[str, object],
    added: int,
) -> None:
    path = tmp_path / "core.toml"
    path.write_text(MODEL)
    entry = {(): {"ports": "1*p1", "retire": 1, "latency": "0<1:4"}}
    imported = Imported(
        forms={"A/r": entry, "C/r": entry}, fusion={"new": ("jne",)}, unmatched=[], skipped=[], notes=[], **fields
    )
    monkeypatch.setattr(merge, "importer", lambda _: _Source(imported))
    given = argparse.Namespace(**{"fill": False, "prefer": False, "compare": False, **options})
    done = merge.import_into(str(path), "new", given)
    written = tomllib.loads(path.read_text())
    assert {form: f["ports"] for form, f in written["forms"].items()} == ports
    assert written.get("also", {}) == also
    assert done.added == added
    assert {f: e.get("source", "guess") for f, e in written["forms"].items()} == {
        f: "new" if p == "1*p1" else "guess" for f, p in ports.items()
    }
    assert written.get("macro_fusion", {}) == ({"old": "je"} if options else {})
    assert "# by hand" in path.read_text()


def test_macro_fusion_of_the_source_and_what_is_done_at_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "core.toml"
    path.write_text(MODEL)

    def finish(forms: dict[str, dict[tuple[str, ...], dict[str, object]]]) -> int:
        forms["B/r"]["same_reg",] = {"breaks": True}
        return 1

    imported = Imported(
        forms={}, fusion={"new": ("jne",)}, unmatched=[], skipped=[], notes=[], replaces_fusion=True, finish=finish
    )
    monkeypatch.setattr(merge, "importer", lambda _: _Source(imported))
    done = merge.import_into(str(path), "new", argparse.Namespace(fill=True, prefer=False, compare=False))
    written = tomllib.loads(path.read_text())
    assert written["macro_fusion"] == {"new": "jne"}
    assert written["forms"]["B/r [same_reg]"] == {"breaks": True}
    assert (done.added, done.completed) == (0, 1)


def test_what_is_done_at_the_end_sees_the_requested_forms_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "core.toml"
    path.write_text(MODEL)
    entry = {(): {"ports": "1*p1"}}
    imported = Imported(forms={"C/r": entry}, fusion={}, unmatched=[], skipped=[], notes=[], finish=len)
    monkeypatch.setattr(merge, "importer", lambda _: _Source(imported))
    options = argparse.Namespace(fill=True, prefer=False, compare=False)
    assert merge.import_into(str(path), "new", options, "C*").completed == 1


def test_a_file_that_cannot_be_written_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        merge, "importer", lambda _: _Source(Imported(forms={}, fusion={}, unmatched=[], skipped=[], notes=[]))
    )
    given = argparse.Namespace(fill=False, prefer=False, compare=False)
    with pytest.raises(ImportFailed, match="the model's header must be written first"):
        merge.import_into(str(tmp_path / "nothing.toml"), "new", given)
    assert not list(tmp_path.iterdir())


def test_the_program_that_reads_llvm_is_kept_in_a_private_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from incc.models.importers.llvm import importer

    build = 'echo x >> "$0.calls"; while [ "$1" != -o ]; do shift; done; touch "$2"'
    for name, text in (("config", "echo 19.1.0"), ("compile", build)):
        (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("CXX", str(tmp_path / "compile"))
    program = Path(importer._program(str(tmp_path / "config")))
    folder = tmp_path / "cache" / "incc" / "llvm_sched"
    assert program.parent == folder
    assert folder.stat().st_mode & 0o777 == 0o700
    assert importer._program(str(tmp_path / "config")) == str(program)
    assert (tmp_path / "compile.calls").read_text() == "x\n"
    folder.chmod(0o777)
    with pytest.raises(ImportFailed, match="everybody can write to it"):
        importer._program(str(tmp_path / "config"))
    folder.rename(tmp_path / "elsewhere")
    folder.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ImportFailed, match="it is a link"):
        importer._program(str(tmp_path / "config"))


MANUAL = """\
 Table 16-1   Instruction Attributes/Latency (ARMv8)
          Instruction   Alias   Control option   µOP decode sync sync Blocking   Latency   Pipeline
          STP   Post-index   3   NA, NA / NA, NA / 1   EAG*, EXA / EAG*, EXA / EX*| EAG*   2
                    Signed offset   2   NA, NA / NA, NA   EAG*, EXA / EAG*, EXA   2
 Table 16-2   Instruction Attributes/Latency (ARMv8 SIMD&FP)
   FMLA (by element)   2   6 / [1]9   FLA / FL*   2
   FMLA (vector)   1   9   FL*   2
   FSQRT (vector)   <T> = {2S|4S}   1   E   29   FLA   1
                    <T> = 2D   1   E   43   FLA
   FCVTZS (scalar, integer)   1   9+1 ; 15   FLA + NULL ; EAG*  1
 Table 16-3   Instruction Attributes/Latency (SVE)
FADDA   <V> = D   128   3   ✓   9 / 6 / [1,2]9   FL* / FLA / FL*   1

                    512   15   ✓   9 / 6 / ([1,2]9 / [2]6) x 6 / [1,2]9   FL* / FLA / (FL* / FLA) x 6 / FL*
REV (predicate)   1   3   PRX
REV (vector)   1   6   FLA
STR (predicate)   1   NA, NA   EAGA, PRX   1   1
STR (vector)   1   NA, NA   EAGA, FLA   1   1
LD1D (vector plus immediate)   1   4+Pipe(11, 2)   FLA + Pipe((EAGA & EAGB), 2)   4   1
"""


def test_rows_of_fujitsus_manual(tmp_path: Path) -> None:
    """Variants of an instruction are told apart by operands; what a row does not say stays as it was."""
    forms = {
        "fmla/v.2d,v.2d,v.d[]": "0<0,1,2:1",
        "fmla/v.2d,v.2d,v.2d": "0<0,1,2:1",
        "fsqrt/v.2d,v.2d": "0<1:1",
        "fcvtzs/w,d": "0<1:1",
        "fadda/d,p,d,z.d": "0<1,2,3:1",
        "rev/z.d,z.d": "0<1:1",
        "stp/x,x,[x],#": "a<a:1 M<0:0",
        "stp/x,x,[x,#]": "M<0,1:0",
        "str/z,[x]": "M<0:0",
        "ld1d/{z.d*1},p/z,[z.d,#]": "0<m:0",
    }
    model = tmp_path / "core.toml"
    model.write_text(
        'format = 1\nname = "core"\nisa = "aarch64"\nsource = "llvm"\n'
        '[sources]\nllvm = "x"\nfujitsu = "x"\n'
        '[ports]\nnames = ["FLA", "FLB", "PR", "EXA", "EXB", "EAGA", "EAGB"]\n[forms]\n'
        + "".join(
            f'"{form}" = {{ ports = "1*PR", retire = 9, latency = "{pairs}" }}\n' for form, pairs in forms.items()
        )
    )
    manual = tmp_path / "manual.txt"
    manual.write_text(MANUAL)
    assert main(["import", "fujitsu", "--prefer", "-o", str(model), str(manual)]) == 0
    written = tomllib.loads(model.read_text())["forms"]
    own = {"source": "fujitsu"}
    assert written == {
        "fmla/v.2d,v.2d,v.d[]": {"ports": "1*FLA+1*FLAB", "retire": 2, "latency": "0<0,1:9 0<2:15", **own},
        "fmla/v.2d,v.2d,v.2d": {"ports": "1*FLAB", "retire": 1, "latency": "0<0,1,2:9", **own},
        "fsqrt/v.2d,v.2d": {"ports": "1*FLA", "retire": 1, "latency": "0<1:43", "divider": 43, **own},
        "fcvtzs/w,d": {"ports": "1*PR", "retire": 9, "latency": "0<1:1"},
        "fadda/d,p,d,z.d": {"ports": "7*FLA+8*FLAB", "retire": 15, "latency": "0<1,2,3:72", **own},
        "rev/z.d,z.d": {"ports": "1*FLA", "retire": 1, "latency": "0<1:6", **own},
        "stp/x,x,[x],#": {
            "ports": "2*EAGAB+1*p(EAGA|EAGB|EXA|EXB)+2*EXA",
            "retire": 3,
            "latency": "a<a:1 M<0:0",
            **own,
        },
        "stp/x,x,[x,#]": {"ports": "2*EAGAB+2*EXA", "retire": 2, "latency": "M<0,1:0", **own},
        "str/z,[x]": {"ports": "1*EAGA+1*FLA", "retire": 1, "latency": "M<0:0", **own},
        "ld1d/{z.d*1},p/z,[z.d,#]": {"ports": "1*PR", "retire": 1, "latency": "0<m:0"},
    }


def test_a_text_without_the_manuals_tables(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model, manual = tmp_path / "core.toml", tmp_path / "manual.txt"
    model.write_text('format = 1\nname = "core"\nisa = "aarch64"\n[ports]\nnames = ["0"]\n[forms]\n')
    manual.write_text("FADD (vector)    1    9    FL*\n")
    assert main(["import", "fujitsu", "--prefer", "-o", str(model), str(manual)]) == 1
    assert "manual.txt: no table of chapter 16" in capsys.readouterr().err
