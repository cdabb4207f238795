"""Tables of instructions as people spell them, as text, JSON and a page."""

from __future__ import annotations

import json
import pathlib
import re

import pytest

import browser
from incc.driver.commands import model as command
from incc.driver.instructions import matching
from incc.models.loading import load
from incc.report.instructions import SORTS, InstructionTable, instruction_table


def table(pattern: str, *cores: str, sort: str = "instruction", top: int = 0) -> InstructionTable:
    models = [load(name) for name in cores or ("skylake",)]
    forms = [form for model in models for form in matching(model, pattern)]
    return instruction_table(models, forms, pattern, sort, top)


def shown(pattern: str, *cores: str) -> list[str]:
    return [row.instruction for row in table(pattern, *cores).rows]


@pytest.mark.parametrize(
    ("pattern", "instructions"),
    [
        ("imul r64, r64", ["imul r64, r64"]),
        ("IMUL  R64,R64", ["imul r64, r64"]),
        ("imul r64, m", ["imul r64, m64"]),
        ("vfmadd231pd y*", ["vfmadd231pd ymm, ymm, m256", "vfmadd231pd ymm, ymm, m256 [indexed]",
                            "vfmadd231pd ymm, ymm, ymm"]),
        ("vfmadd231pd ymm, ymm, ymm", ["vfmadd231pd ymm, ymm, ymm"]),
        ("vpadd[bw] ymm, ymm, ymm", ["vpaddb ymm, ymm, ymm", "vpaddw ymm, ymm, ymm"]),
        ("add rax, rbx", ["add r64, r64"]),
        ("movzbl (%rdi), %eax", ["movzx r32, m8"]),
        ("MUL_RM64/r", ["mul r64"]),
        ("mul_rm64/?", ["mul m64", "mul m64 [indexed]", "mul r64"]),
        ("nosuch", []),
        ("nosuch*", []),
    ],
)  # fmt: skip
def test_patterns(pattern: str, instructions: list[str]) -> None:
    assert shown(pattern) == instructions


def test_of_twins_the_one_with_evex_is_marked() -> None:
    assert shown("vfmadd231pd ymm, ymm, ymm", "skylake", "znver4") == [
        "vfmadd231pd ymm, ymm, ymm",
        "vfmadd231pd ymm, ymm, ymm (EVEX)",
        "vfmadd231pd ymm, ymm, ymm {k}",
    ]
    # Without other figures it is left out.
    assert "(EVEX)" not in " ".join(shown("vfmadd231pd ymm, ymm, ymm", "znver4"))


def test_cores_side_by_side() -> None:
    (row,) = [row for row in table("vfmadd231pd ymm, ymm, ymm", "skylake", "znver4").rows if len(row.cores) == 2]
    assert (row.cores["skylake"].ports, row.cores["znver4"].ports) == ("1*p01", "1*FP01")
    # An instruction that only one has leaves the other's cells empty.
    assert {tuple(row.cores) for row in table("vaddpd zmm, zmm, zmm", "skylake", "znver4").rows} == {("znver4",)}


@pytest.mark.parametrize("sort", SORTS)
def test_order(sort: str) -> None:
    rows = table("*", sort=sort).rows
    if sort == "instruction":
        assert [row.instruction for row in rows] == sorted(row.instruction for row in rows)
        return
    field = "latency_cycles" if sort == "latency" else sort
    figures = [getattr(row.cores["skylake"], field) or 0 for row in rows]
    assert figures == sorted(figures, reverse=True)
    assert table("*", sort=sort, top=3).rows == rows[:3]


def test_json(capfd: pytest.CaptureFixture[str]) -> None:
    assert command.main(["show", "skylake", "--json", "div*"]) == 0
    document = json.loads(capfd.readouterr().out)
    assert document["cores"][0]["name"] == "skylake"
    assert [row["instruction"] for row in document["rows"]] == shown("div*")
    assert document["rows"][0]["cores"]["skylake"]["throughput"] == table("div*").rows[0].cores["skylake"].throughput


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["skylaek"], 1, "no machine model named 'skylaek'; did you mean skylake"),
        (["skylaek", "add"], 2, "no machine model named 'skylaek'; did you mean skylake"),
        (["skylake", "nosuch"], 1, "skylake has no form that matches 'nosuch'"),
        (["skylake", "vadpd"], 1, "did you mean vandpd, vaddpd"),
        (["skylake", "mulsd xmm, xm"], 1, "matches 'mulsd xmm, xm'; there are mulsd xmm, m64; mulsd xmm, xmm"),
        ([], 2, "name a core, or a pattern of instructions"),
        ([",", "add"], 2, "no core in ','"),
        (["--mcpu=skylake", "add", "sub"], 2, "name the cores either with --mcpu or before the pattern"),
        (["skylake", "add", "--top=-1"], 2, "--top needs a number above 0, not '-1'"),
        (["skylake", "--json", "--ports"], 2, "--ports and --format=json cannot be combined"),
        (["skylake", "add", "-o", "/"], 2, "/: Is a directory"),
        (["skylake", "add", "-o", "/nonexistent/x"], 2, "/nonexistent/x: No such file or directory"),
        (["skylake", "--html", "/nonexistent/x"], 2, "/nonexistent/x: No such file or directory"),
    ],
)
def test_mistakes(arguments: list[str], status: int, message: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert command.main(["show", *arguments]) == status
    error = capfd.readouterr().err
    assert error.startswith("incc-model: error: ")
    assert message in error
    assert error.count("\n") == 1


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    path = tmp_path_factory.mktemp("page") / "instructions.html"
    assert command.main(["show", "skylake,znver4", "v*", "--format=html", "-o", str(path)]) == 0
    return path


def test_page(page: pathlib.Path) -> None:
    text = page.read_text()
    assert "<title>Instructions of skylake, znver4 - incc</title>" in text
    assert len(re.findall("<tr><td|<tr data-search", text)) == len(shown("v*", "skylake", "znver4"))
    # Nothing is fetched.
    assert "default-src 'none'" in text
    content = text.partition("<script")[0]
    assert not re.search(r"(?:src|href)=\"(?!#)", content)
    assert "http" not in content.partition("<body>")[2]


def test_page_of_one_core(capfd: pytest.CaptureFixture[str]) -> None:
    assert command.main(["show", "skylake", "div r64", "--format=html"]) == 0
    text = capfd.readouterr().out
    assert '<button type="button" title="the source of the figures">Source</button>' in text
    assert "uops.info" in text


def test_page_in_a_browser(page: pathlib.Path, tmp_path: pathlib.Path) -> None:
    steps = """
      const first = names().length;
      await type("vfmadd231pd ymm");
      const searched = names();
      await type("");
      $("button[data-filter=zmm]").click();
      await settle();
      const wide = names().every(name => name.includes("zmm"));
      $("button[data-filter=all]").click();
      [...document.querySelectorAll("#rows thead button")][1].click();
      await settle();
      const latencies = [...document.querySelectorAll("#rows tbody tr")].slice(0, 50)
        .map(row => Number(row.cells[1].dataset.key));
      await type("vaddpd ymm, ymm, ymm");
      await press("/");
      const focus = document.activeElement.id;
      await press("Enter");
      await settle();
      const opened = [$("#details").open, $("#details-title").textContent, $("#details-cores").textContent];
      let closed = false;
      $("#details").addEventListener("close", () => { closed = true; });
      $("#details").close();
      while (!closed) await settle();
      return [first, searched, wide, latencies, focus, opened, document.activeElement.tagName];
    """
    text = page.read_text()
    first, searched, wide, latencies, focus, opened, after = browser.ask(text, tmp_path, steps, "rows")
    assert first == 500
    assert searched == shown("vfmadd231pd ymm*", "skylake", "znver4")
    assert wide
    assert latencies == sorted(latencies, reverse=True)
    assert focus == "rows-search"
    assert (opened[0], opened[1].partition(",")[0]) == (True, "vaddpd ymm")
    assert "skylakeLatencies" in opened[2]
    assert after == "A"


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("at", ["", "#i1"])
def test_page_is_accessible(tmp_path: pathlib.Path, at: str, dark: bool) -> None:
    path = tmp_path / "few.html"
    assert command.main(["show", "skylake,znver4", "vadd*", "--html", str(path)]) == 0
    assert browser.faults(path.read_text(), tmp_path, at, dark) == []


def test_cores_that_lack_instructions_are_named(capfd: pytest.CaptureFixture[str]) -> None:
    assert command.main(["show", "znver4,skylake", "vfmadd231pd zmm, zmm, zmm"]) == 0
    assert "No figures: skylake lacks all of these." in capfd.readouterr().out
    assert command.main(["show", "znver4,skylake", "mulsd"]) == 0
    assert "No figures" not in capfd.readouterr().out


def test_cores_without_room_side_by_side_are_below_each_other(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    beside = ["show", "znver4,znver5,alderlake", "vfmadd231pd ymm, ymm, m256"]
    monkeypatch.setenv("COLUMNS", "160")
    assert command.main(beside) == 0
    assert re.search(r"^Instruction +znver4 +znver5 +alderlake$", capfd.readouterr().out, re.MULTILINE)
    monkeypatch.setenv("COLUMNS", "80")
    assert command.main(beside) == 0
    narrow = capfd.readouterr().out
    assert re.search(r"^  znver5 ", narrow, re.MULTILINE)
    assert "…" not in narrow
