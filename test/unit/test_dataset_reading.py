"""Datasets are read as the reports of the same scan: by incc-report, incc-diff, incc-db and for single kernels."""

from __future__ import annotations

import contextlib
import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("pyarrow", reason="no pyarrow")

from incc.driver.commands import db, diff, report, scan
from incc.fleet.dataset import reading, store
from incc.fleet.dataset.reading import Dataset
from incc.fleet.dataset.store import DatasetError, Store
from incc.report import types as t
from incc.report.documents import read_report
from incc.report.source.places import NamedKernels
from incc.report.where import NAMES, Condition, kernel_values, parse
from properties import examples

CORES = "skylake,znver4"

LOOPS = {
    "scale": "vmulsd (%rdi,%rax,8), %xmm0, %xmm1\n\tvmovsd %xmm1, (%rdi,%rax,8)\n\tincq %rax\n\tcmpq %rax, %rsi",
    "sum": "vaddsd (%rdi,%rax,8), %xmm0, %xmm0\n\tincq %rax\n\tcmpq %rax, %rsi",
    "fast": "vaddsd (%rdi,%rax,8), %xmm0, %xmm0\n\tvaddsd %xmm2, %xmm3, %xmm2\n\tincq %rax\n\tcmpq %rax, %rsi",
    "count": "addq $3, %rax\n\tdecq %rsi",
}


def assembly(*functions: tuple[str, str]) -> str:
    """Functions of these names, each with the loop of another name."""
    text = ""
    for n, (name, loop) in enumerate(functions):
        text += f"\t.globl {name}\n\t.type {name}, @function\n{name}:\n\txorl %eax, %eax\n.L{n}:\n\t{LOOPS[loop]}\n"
        text += f"\tjne .L{n}\n\tret\n\t.size {name}, .-{name}\n"
    return text


class Scanned(msgspec.Struct):
    """A scan, as a folder of reports and as a dataset."""

    reports: Path
    dataset: Path
    documents: list[t.AnalysisReport]


def both(folder: Path, name: str, kind: str, *texts: str) -> Scanned:
    files = []
    for n, text in enumerate(texts):
        source = folder / f"{n}.s"
        source.write_text(text)
        files.append(source)
        if kind == "objects":
            files[-1] = source.with_suffix(".o")
            subprocess.run(["as", "-o", files[-1], source], check=True)
    reports = folder / f"{name}-reports"
    reports.mkdir()
    documents = []
    for n, file in enumerate(files):
        out = reports / f"{n}.json"
        assert scan.main([f"-mcpu={CORES}", "-j1", "--format=reports", str(file), "-o", str(out)]) == 0
        documents.append(read_report(out.read_bytes(), "x"))
    assert scan.main([f"-mcpu={CORES}", "-j1", *map(str, files), "-o", str(folder / name)]) == 0
    return Scanned(reports, folder / name, documents)


@pytest.fixture(params=["assembly", "objects"])
def kind(request: pytest.FixtureRequest) -> str:
    if request.param == "objects" and not shutil.which("as"):
        pytest.skip("no assembler")
    return str(request.param)


@pytest.fixture
def a(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Scanned:
    monkeypatch.chdir(tmp_path)
    first = assembly(("scale", "scale"), ("f", "sum"), ("count", "count"))
    second = assembly(("_ZN1a4copyEi", "sum"), ("g", "scale"), ("count", "count"))
    return both(tmp_path, "a", kind, first, second)


@pytest.fixture
def b(a: Scanned, kind: str, tmp_path: Path) -> Scanned:
    first = assembly(("scale", "scale"), ("f", "fast"), ("new", "count"))
    second = assembly(("_ZN1a4copyEi", "sum"), ("g", "scale"), ("count", "count"))
    return both(tmp_path, "b", kind, first, second)


def json_of(capsys: pytest.CaptureFixture[str], main: Callable[[list[str]], int], *arguments: str) -> Any:
    capsys.readouterr()
    assert main([*arguments, "--format=json"]) == 0
    return json.loads(capsys.readouterr().out)


def units(dataset: Path, *conditions: Condition, **wanted: Any) -> list[t.UnitReport]:
    with Dataset(str(dataset)) as opened:
        return [*opened.units(*conditions, **wanted)]


def test_kernels_are_those_of_the_reports(a: Scanned) -> None:
    """Also those whose report is of the same code in another file, under another name."""
    expected = [unit for document in a.documents for unit in document.units]
    for unit, other in zip(units(a.dataset), expected, strict=True):
        assert (unit.assembly_file, unit.model.name, unit.model.version, unit.model.title) == (
            other.assembly_file,
            other.model.name,
            other.model.version,
            other.model.title,
        )
        assert [kernel_values(unit, k) for k in unit.kernels] == [kernel_values(other, k) for k in other.kernels]
        for kernel, expected_kernel in zip(unit.kernels, other.kernels, strict=True):
            assert msgspec.to_builtins(kernel) == msgspec.to_builtins(expected_kernel)


def test_large_files_are_read_in_parts(a: Scanned, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MOST", 2)
    monkeypatch.setattr(reading, "_ROWS", 1)
    found = units(a.dataset)
    assert [len(unit.kernels) for unit in found] == [2, 2, 1, 1] * 2
    assert [unit.model.name for unit in found[:4]] == ["skylake", "znver4"] * 2


@pytest.mark.parametrize(
    "text", ["cycles > 1", "function like '*copy*'", "is_loop and model == 'znver4'", "role == 'main' and line > 9"]
)
def test_conditions_are_tested_on_rows(a: Scanned, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    condition = parse(text)
    everything = [(unit, kernel) for document in a.documents for unit in document.units for kernel in unit.kernels]
    expected = [values for u, k in everything if condition.holds(values := kernel_values(u, k))]
    read: list[str] = []
    reports = Store.reports
    monkeypatch.setattr(Store, "reports", lambda store, hash_: read.append(hash_) or reports(store, hash_))
    found = [kernel_values(unit, k) for unit in units(a.dataset, condition=condition) for k in unit.kernels]
    assert found == expected
    assert len(read) == len(expected)


def test_cores_and_functions_are_selected(a: Scanned) -> None:
    found = units(a.dataset, cores={"znver4"}, functions=["a::*"])
    assert [(u.model.name, k.function) for u in found for k in u.kernels] == [("znver4", "_ZN1a4copyEi")]
    found = units(a.dataset, parse("cycles > 1"), kernels=[NamedKernels("f", 0), NamedKernels("count", 0)])
    assert {k.function for u in found for k in u.kernels} == {"f"}


def test_report_ranks_datasets_like_reports(a: Scanned, capsys: pytest.CaptureFixture[str]) -> None:
    for options in ([], ["--where=cycles > 1 and function != 'g'"], ["--where=copies > 1"], ["-mcpu=znver4"]):
        expected = json_of(capsys, report.main, str(a.reports), *options)
        found = json_of(capsys, report.main, str(a.dataset), *options)
        for ranking in (expected, found):
            for row in ranking["rows"]:
                for member in row["members"]:
                    del member["report"]
                for instruction in row["instructions"]:
                    del instruction["line"]
            ranking["inputs"] = []
            ranking["totals"]["reports"] = 0
            if options:
                ranking["totals"]["units"] = 0
        assert found == expected


def test_kernels_of_datasets_are_rendered(a: Scanned, capsys: pytest.CaptureFixture[str]) -> None:
    """With the command that a ranking prints."""
    texts = []
    for name in (a.reports / "0.json", a.dataset):
        assert report.main(["--render", str(name), "--kernel=f/loop1"]) == 0
        text = capsys.readouterr().out
        texts.append(text[text.rindex("Loop at") :])
    assert texts[0] == texts[1]
    assert report.main(["--render", str(a.dataset)]) == 2
    assert "requires --kernel" in capsys.readouterr().err


def test_diff_says_the_same_of_datasets_and_reports(a: Scanned, b: Scanned, capsys: pytest.CaptureFixture[str]) -> None:
    for options in ([], ["-mcpu=znver4"], ["--function=g", "--function=f"], ["--where=outcome != 'same'"]):
        expected = json_of(capsys, diff.main, str(a.reports), str(b.reports), *options)
        found = json_of(capsys, diff.main, str(a.dataset), str(b.dataset), *options)
        assert expected["rows"]
        for side in (*expected["sides"], *found["sides"]):
            del side["input"], side["label"]
        assert found == expected


def test_database_takes_datasets(a: Scanned, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    csv = []
    for n, folder in enumerate((a.reports, a.dataset)):
        path = tmp_path / f"{n}.db"
        assert db.main(["add", str(folder), f"--db={path}", "--commit=c"]) == 0
        assert "4 units with 12 kernels added" in capsys.readouterr().out
        assert db.main(["export", "csv", f"--db={path}"]) == 0
        csv.append(capsys.readouterr().out)
    assert csv[0] == csv[1]


def test_kernels_are_shown_by_hash(a: Scanned) -> None:
    kernel = a.documents[0].units[0].kernels[1]
    with Dataset(str(a.dataset)) as dataset:
        shown = [*dataset.show(kernel.content_hash, ["skylake"])]
        assert msgspec.json.decode(shown[0], type=t.KernelReport) == kernel
        for hash_ in ("0" * 16, "zz", "", "../" * 9):
            with pytest.raises(DatasetError, match="no kernel has the hash"):
                [*dataset.show(hash_)]
        with pytest.raises(DatasetError, match="on haswell"):
            [*dataset.show(kernel.content_hash, ["haswell"])]


def test_scan_shows_kernels(a: Scanned, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kernel = a.documents[0].units[1].kernels[1]
    capsys.readouterr()
    command = [sys.executable, "-m", "incc.driver.commands.scan", "--show", kernel.content_hash]
    shown = subprocess.run([*command, "-mcpu=znver4", a.dataset], capture_output=True, check=True).stdout
    assert msgspec.json.decode(shown.splitlines()[0], type=t.KernelReport) == kernel
    for arguments in ([], [a.dataset, a.dataset], [tmp_path], [a.reports], [tmp_path / "missing"]):
        found = subprocess.run([*command, *arguments], capture_output=True, text=True)
        assert (found.returncode, found.stdout, len(found.stderr.splitlines())) == (2, "", 1), found


def test_unfinished_datasets_are_read_as_far_as_they_go(a: Scanned, capsys: pytest.CaptureFixture[str]) -> None:
    about = a.dataset / "_about.json"
    about.write_text(
        about.read_text().replace('"rows": 6', '"rows": 4').replace('"complete": true', '"complete": false')
    )
    assert "has not finished" in json_of(capsys, report.main, str(a.dataset))["notes"][0]
    assert [len(unit.kernels) for unit in units(a.dataset)] == [3, 3, 1, 1]


DAMAGE = {
    "about": lambda folder: (folder / "_about.json").write_text("{"),
    "format": lambda folder: (folder / "_about.json").write_text('{"format": 2}'),
    "store": lambda folder: (folder / "_kernels.sqlite").write_bytes(b"x" * 5000),
    "no store": lambda folder: (folder / "_kernels.sqlite").unlink(),
    "rows": lambda folder: next(folder.glob("core=skylake/*")).write_bytes(b"PAR1" * 100),
    "batch": lambda folder: _broken(folder),
    "folder": lambda folder: _replaced(folder / "core=skylake/rows-000001.parquet", Path.mkdir),
    "no rows": lambda folder: (folder / "core=znver4/rows-000001.parquet").unlink(),
    "not the first rows": lambda folder: (folder / "core=znver4/rows-000001.parquet").rename(
        folder / "core=znver4/rows-000002.parquet"
    ),
    "no core": lambda folder: shutil.rmtree(folder / "core=skylake"),
    "sum of rows": lambda folder: _changed(folder / "core=skylake/rows-000001.parquet", 0x100),
}


def _replaced(path: Path, make: Callable[[Path], object]) -> None:
    path.unlink()
    make(path)


def _changed(path: Path, at: int) -> None:
    data = bytearray(path.read_bytes())
    data[at] ^= 0xFF
    path.write_bytes(data)


def _broken(folder: Path) -> None:
    store = Store(str(folder / "_kernels.sqlite"))
    store._connection.execute("UPDATE batches SET data = x'0102'")
    store.commit()
    store.close()


@pytest.mark.parametrize("kind", DAMAGE)
def test_damaged_datasets_are_named(a: Scanned, kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    DAMAGE[kind](a.dataset)
    capsys.readouterr()
    assert report.main([str(a.dataset)]) == 2
    errors = capsys.readouterr().err
    assert str(a.dataset) in errors
    assert len(errors.splitlines()) <= 2, errors
    assert db.main(["add", str(a.dataset), "--db=x.db", "--commit=c"]) == 1
    assert diff.main([str(a.dataset), str(a.reports)]) == 2


@pytest.fixture(scope="module")
def scanned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("scanned")
    return both(folder, "a", "assembly", assembly(("scale", "scale"), ("f", "sum"), ("count", "count"))).dataset


@examples(200)
@given(st.data())
def test_datasets_with_other_bytes_are_read_or_named(scanned: Path, data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(["_about.json", "_kernels.sqlite", "core=skylake/rows-000001.parquet"]))
    file = scanned / name
    whole = file.read_bytes()
    changed = bytearray(whole)
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(whole) - 1) | st.integers(max(0, len(whole) - 4000), len(whole) - 1))
        changed[at] = data.draw(st.sampled_from((0, 1, 0x7F, 0xFF)))
    file.write_bytes(changed)
    message = str(scanned)
    try:
        units(scanned)
    except DatasetError as error:
        message = str(error)
    finally:
        file.write_bytes(whole)
    assert str(scanned) in message
    assert len(message.splitlines()) == 1


@given(st.data())
def test_reports_with_other_bytes_are_refused(data: st.DataObject) -> None:
    reports = [store.StoredReport(f"{n:016x}", "skylake", b'{"cycles":%d}' % n) for n in range(20)]
    batch = store._compressed(reports)
    changed = bytearray(batch.data)
    changed[data.draw(st.integers(0, len(changed) - 1))] ^= data.draw(st.integers(1, 255))
    with contextlib.suppress(ValueError, msgspec.MsgspecError):
        assert store._unpacked(batch.size, bytes(changed)) == reports


def test_names_of_conditions_are_columns() -> None:
    assert set(NAMES) <= set(reading.COLUMNS)
