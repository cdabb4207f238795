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
    assert done.added == 1


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
