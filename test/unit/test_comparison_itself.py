"""`incc-diff X X` says that nothing changed, for every report in the tests; `incc-diff B A` is the mirror of
`incc-diff A B`."""

from __future__ import annotations

import itertools
import json
import re
import shlex
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import test_comparison_pairs as pairs

import incc
from incc.driver.commands import db, diff, mca

TESTS = Path(__file__).resolve().parents[1]
GOLDEN = sorted((TESTS / "lit" / "golden").glob("*.s"))
CORPUS = sorted(
    path
    for folder in ("lit/asm", "lit/report", "unit/data/asm", "unit/data/marked")
    for path in (TESTS / folder).rglob("*.s")
)
REPORTS = sorted((Path(__file__).parent / "data" / "reports").glob("*.json"))


def commands(source: Path) -> list[list[str]]:
    """The analyses that a golden file makes, without what only views need."""
    found = []
    text = source.read_text().replace("\\\n# RUN:", "")
    for line in re.findall(r"incc-mca (.*)", text):
        words = shlex.split(re.split(r"[|>;&]", line)[0].replace("\\", " "))
        found.append([w for w in words if w != source.name and not w.startswith(("--cfg", "--detail", "-wait-view"))])
    return found


def compared(folder: Path, *inputs: Any) -> Any:
    """What the command says, as JSON."""
    out = folder / "comparison.json"
    assert (
        diff.main([*map(str, inputs), "--format=json", "--fail-if", "cycles > +0% or cycles < -0%", "-o", str(out)])
        == 0
    )
    return json.loads(out.read_text())


def nothing_changed(found: Any, kernels: int) -> None:
    totals = found["totals"][1]
    assert totals.pop("speedup") in (1.0, None)
    assert {name: count for name, count in totals.items() if count} == ({"same": kernels} if kernels else {})
    assert len(found["rows"]) == kernels
    for row in found["rows"]:
        change = row["changes"][1]
        assert (change["outcome"], change["confidence"], change["causes"]) == ("same", 1.0, [])
        assert row["weight"] == 0
        assert row["members"][0] == row["members"][1]


def as_every_input(folder: Path, report: Path) -> None:
    """Compare a report with itself: as a file, in a folder and out of a database, and these with each other."""
    text = json.loads(report.read_text(encoding="utf-8"))
    kernels = sum(len(unit["kernels"]) for unit in text["units"])
    build = folder / "build"
    build.mkdir()
    shutil.copy(report, build / "copy.json")
    database = folder / "a.db"
    assert db.main(["add", f"--db={database}", "--commit=c", str(report)]) == 0
    inputs = [report, build, f"{database}@c"]
    for a, b in itertools.product(inputs, repeat=2):
        nothing_changed(compared(folder, a, b), kernels)


@pytest.mark.parametrize("report", REPORTS, ids=lambda path: path.stem)
def test_a_report_and_itself(tmp_path: Path, report: Path) -> None:
    as_every_input(tmp_path, report)


@pytest.mark.long
@pytest.mark.parametrize("source", GOLDEN, ids=lambda path: path.stem)
def test_a_golden_report_and_itself(tmp_path: Path, source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(source.parent)
    asked = commands(source)
    assert asked
    for number, options in enumerate(asked):
        folder = tmp_path / str(number)
        folder.mkdir()
        report = folder / "report.json"
        assert mca.main([*options, "--json", "-o", str(report), source.name]) == 0
        assert json.loads(report.read_text())["units"][0]["kernels"]
        as_every_input(folder, report)


@pytest.mark.long
def test_the_corpus_and_itself(tmp_path: Path) -> None:
    """All assembly of the tests in one build; also code itself, which is analysed each time."""
    build = tmp_path / "build"
    build.mkdir()
    kernels = 0
    for number, source in enumerate([*CORPUS, *GOLDEN]):
        try:
            report = incc.analyze(source.read_bytes(), mcpu="skylake-avx512", name=f"{number}/{source.name}")
        except incc.AnalysisError:
            continue  # made to be refused
        kernels += sum(len(unit["kernels"]) for unit in report.to_dict()["units"])
        (build / f"{number}.json").write_text(report.to_json(), encoding="utf-8")
    assert kernels >= 30
    assert db.main(["add", f"--db={tmp_path}/a.db", "--commit=c", str(build)]) == 0
    for a, b in itertools.product([build, f"{tmp_path}/a.db"], repeat=2):
        nothing_changed(compared(tmp_path, a, b), kernels)


# --- the opposite -----------------------------------------------------------------------------------------------------


@cache
def assembly(compiler: str, level: str, version: str) -> bytes:
    source = pairs.DATA / f"{version}.c"
    command = [pairs.program(compiler, ".c"), *level.split(), "-g1", "-S", str(source), "-o", "-"]
    return subprocess.run(command, check=True, capture_output=True).stdout


def written(folder: Path, name: str, *build: str) -> Path:
    report = incc.analyze(assembly(*build), mcpu="skylake-avx512", timeline=0, name="pairs.s")
    path = folder / f"{name}.json"
    path.write_text(report.to_json(), encoding="utf-8")
    return path


def pairs_of(found: Any) -> dict[Any, Any]:
    """Of each pair, by its kernels, the numbers and words that its mirror has as well, the other way round."""
    rows = {}
    for row in found["rows"]:
        a, b = (member and (member["kernel_id"], member["content_hash"]) for member in row["members"])
        change = row["changes"][1]
        if change is None:
            rows[a, b] = row["weight"], row["base"]
            continue
        parts = [member["parts"] for member in row["members"]]
        causes = [(c["kind"], c["cycles"], c["a"], c["b"]) for c in change["causes"]]
        words = [change[name] for name in ("matched_by", "confidence", "outcome", "basis")]
        figures = [change[name] for name in ("work", "ratio", "cycles_a", "cycles_b")]
        rows[a, b] = row["weight"], row["best"], parts, causes, words, figures
    return rows


OPPOSITE = {"faster": "slower", "slower": "faster"}


def mirrored(rows: dict[Any, Any]) -> dict[Any, Any]:
    """What the mirror of these is to have."""
    found: dict[Any, Any] = {}
    for (a, b), row in rows.items():
        if a is None or b is None:
            found[b, a] = row[0], 1 - row[1]
            continue
        weight, best, parts, causes, words, (work, ratio, cycles_a, cycles_b) = row
        found[b, a] = (
            weight,
            sorted(1 - side for side in best),
            parts[::-1],
            [(kind, None if cycles is None else -cycles, at_b, at_a) for kind, cycles, at_a, at_b in causes],
            [*words[:2], OPPOSITE.get(words[2], words[2]), words[3]],
            [None if x is None else pytest.approx(1 / x, rel=1e-5) for x in (work, ratio)] + [cycles_b, cycles_a],
        )
    return found


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("gcc-12", "-O2", "before"), ("gcc-12", "-O3 -march=skylake-avx512", "before")),
        (("gcc-12", "-O3 -march=skylake-avx512", "before"), ("clang-19", "-O3 -march=skylake-avx512", "after")),
        pytest.param(
            ("gcc-11", "-O2", "before"), ("clang-14", "-O3 -march=skylake-avx512", "after"), marks=pytest.mark.long
        ),
    ],
    ids=["flags", "compilers", "more"],
)
def test_the_opposite_is_the_mirror(tmp_path: Path, one: tuple[str, ...], other: tuple[str, ...]) -> None:
    a, b = written(tmp_path, "a", *one), written(tmp_path, "b", *other)
    out = tmp_path / "comparison.json"
    documents = []
    for inputs in ((a, b), (b, a)):
        assert diff.main([*map(str, inputs), "--format=json", "-o", str(out)]) == 0
        documents.append(json.loads(out.read_text()))
    forth, back = documents
    assert sum(1 for row in forth["rows"] if row["changes"][1]) > 10
    assert pairs_of(back) == mirrored(pairs_of(forth))
    totals, others = forth["totals"][1], back["totals"][1]
    swapped = {"faster": "slower", "slower": "faster", "only_a": "only_b", "only_b": "only_a"}
    assert {n: others[swapped.get(n, n)] for n in totals if n != "speedup"} == {
        n: count for n, count in totals.items() if n != "speedup"
    }
    assert totals["speedup"] * others["speedup"] == pytest.approx(1, rel=1e-5)
    assert [row["weight"] for row in forth["rows"]] == [row["weight"] for row in back["rows"]]
