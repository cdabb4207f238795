"""Sources that commands are given: they are compiled for their assembly alone."""

from __future__ import annotations

import json
import pathlib
import shutil
from collections.abc import Callable

import pytest

from incc.driver.commands import db, diff, mca, report, scan
from incc.driver.sources import compiled_source, is_source, source_commands
from incc.support.errors import AnalysisError

SUM = "double sum(const double *a, int n) { double s = 0; for (int i = 0; i < n; i++) s += a[i]; return s; }\n"

pytestmark = pytest.mark.skipif(not shutil.which("cc"), reason="no compiler")


@pytest.fixture(autouse=True)
def no_flags(monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> None:
    for name in ("CC", "CFLAGS", "CXX", "CXXFLAGS", "FC", "FFLAGS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    pathlib.Path("sum.c").write_text(SUM)


@pytest.mark.parametrize("name", ["a.c", "a.cpp", "a.C", "a.cc", "a.f90", "a.F", "a.i"])
def test_sources(name: str) -> None:
    assert is_source(name)


@pytest.mark.parametrize("name", ["a.s", "a.S", "a.o", "a.h", "a.json", "c", "-"])
def test_other_files(name: str) -> None:
    assert not is_source(name)


def test_the_environment_names_compiler_and_flags(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = [command.words for command in source_commands("sum.c", "skylake,znver4")]
    assert first == ("cc", "-O3", "-march=skylake", "-c", "sum.c")
    assert second == ("cc", "-O3", "-c", "sum.c")
    assert source_commands("x.cpp", "")[0].words == ("c++", "-O3", "-march=native", "-c", "x.cpp")
    monkeypatch.setenv("CC", "ccache gcc")
    monkeypatch.setenv("CFLAGS", "-O1 -DX='a b'")
    assert [command.words for command in source_commands("sum.c", "")] == [
        ("ccache", "gcc", "-O1", "-DX=a b", "-c", "sum.c")
    ]
    monkeypatch.setenv("CFLAGS", "'")
    with pytest.raises(AnalysisError, match="CC or CFLAGS: no closing quotation"):
        source_commands("sum.c", "")


def test_a_core_that_the_compiler_does_not_know() -> None:
    unit, note = compiled_source("sum.c", "no-such-core")
    assert unit.source == "sum.c"
    assert note == "sum.c: compiled by cc -O3 -c sum.c"
    assert [path.name for path in pathlib.Path().iterdir()] == ["sum.c"]


def test_both_commands_compile(capfd: pytest.CaptureFixture[str]) -> None:
    assert scan.main(["--mcpu=skylake", "--format=cycles", "sum.c"]) == 0
    shown = capfd.readouterr()
    assert shown.out.startswith("sum.c:sum:.L")
    assert shown.err == "incc-scan: note: sum.c: compiled by cc -O3 -march=skylake -c sum.c\n"
    assert mca.main(["--mcpu=skylake", "sum.c"]) == 0
    shown = capfd.readouterr()
    assert "sum.c:1 in sum" in shown.out
    assert shown.err == "incc-mca: note: sum.c: compiled by cc -O3 -march=skylake -c sum.c\n"


def test_sources_are_compared(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    pathlib.Path("faster.cpp").write_text(SUM.replace("s += a[i]", "s += a[i] + a[i + n]"))
    assert diff.main(["--mcpu=skylake", "--json", "sum.c", "faster.cpp"]) == 0
    found = json.loads(capfd.readouterr().out)
    assert [side["label"] for side in found["sides"]] == ["sum.c", "faster.cpp"]
    assert [side["notes"] for side in found["sides"]] == [
        ["Compiled by cc -O3 -march=skylake -c sum.c."],
        ["Compiled by c++ -O3 -march=skylake -c faster.cpp."],
    ]
    assert [row["changes"][1]["outcome"] for row in found["rows"]] == ["equal"]
    monkeypatch.setenv("CFLAGS", "-O1")
    assert diff.main(["--mcpu=znver4,skylake", "--json", "sum.c"]) == 0
    found = json.loads(capfd.readouterr().out)
    assert [side["label"] for side in found["sides"]] == ["znver4", "skylake"]
    assert [cause["kind"] for cause in found["rows"][0]["changes"][1]["causes"]] == ["core"]
    assert found["sides"][1]["notes"] == ["Compiled by cc -O1 -c sum.c."]
    pathlib.Path("x.c").write_text("int f( {")
    assert diff.main(["sum.c", "x.c"]) == 2
    assert capfd.readouterr().err.startswith("incc-diff: error: x.c:1:")
    assert diff.main(["sum.c", "y.c"]) == 2
    assert capfd.readouterr().err == "incc-diff: error: y.c: no such file or directory\n"


@pytest.mark.parametrize("main", [lambda: report.main(["sum.c"]), lambda: db.main(["add", "--commit=x", "sum.c"])])
def test_commands_that_read_reports_name_the_command_that_makes_one(
    main: Callable[[], int], capfd: pytest.CaptureFixture[str]
) -> None:
    assert main() > 0
    message = "sum.c: not a JSON report; incc-scan --format=reports makes one of sources, assembly and objects\n"
    assert capfd.readouterr().err.endswith(message)


def test_a_text_report_is_called_one(capfd: pytest.CaptureFixture[str]) -> None:
    assert mca.main(["--mcpu=skylake", "sum.c", "-o", "sum.txt"]) == 0
    assert report.main(["sum.txt"]) == 2
    assert capfd.readouterr().err.endswith(
        "sum.txt: a text report, which cannot be read back; make it with --json, or INCC_FORMAT=json in a build\n"
    )


def test_marks_in_a_source_count(capfd: pytest.CaptureFixture[str]) -> None:
    text = SUM.replace("s += a[i];", '{ asm("# LLVM-MCA-BEGIN x"); s += a[i]; asm("# LLVM-MCA-END x"); }')
    pathlib.Path("marked.c").write_text(text)
    assert mca.main(["--mcpu=skylake", "--json", "marked.c"]) == 0
    assert '"name": "x"' in capfd.readouterr().out


@pytest.mark.parametrize(
    ("text", "message"), [(None, "x.c: no such file"), ("int f( {", "x.c:1"), ("", "no loop to analyse")]
)
def test_a_source_without_a_loop(text: str | None, message: str, capfd: pytest.CaptureFixture[str]) -> None:
    if text is not None:
        pathlib.Path("x.c").write_text(text)
    status = 0 if text == "" else 1
    assert scan.main(["x.c"]) == status
    error = capfd.readouterr().err
    assert message in error
    assert "Traceback" not in error
    assert mca.main(["x.c"]) == status
