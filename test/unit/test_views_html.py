"""The timeline page: complete in itself, its data what the report says, nothing in the text can end the script."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from incc.driver.pipeline import Settings, analyze_units
from incc.driver.views.html import render
from incc.frontends.unit import Unit

LOOP = ".L1:\n\tvaddpd (%rsi), %ymm0, %ymm0\n\taddq $32, %rsi\n\tcmpq %rsi, %rdx\n\tjne .L1\n"


def report(text: str = LOOP, name: str = "a.s", iterations: int = 3) -> dict[str, Any]:
    settings = Settings(mcpu="skylake", regions="loops", timeline_iterations=iterations)
    return analyze_units([Unit(text, name)], settings)


def data(page: str) -> list[dict[str, Any]]:
    found = re.search(r"^const kernels = (.*);$", page, re.MULTILINE)
    assert found
    kernels: list[dict[str, Any]] = json.loads(found[1])
    return kernels


def test_every_event_and_uop_is_there() -> None:
    made = report()
    (kernel,) = data(render(made))
    timeline = made["units"][0]["kernels"][0]["timeline"]
    assert len(kernel["events"]) == 3 * 4
    for shown, event in zip(kernel["events"], timeline["events"], strict=True):
        assert shown == [
            event[key] for key in ("iteration", "instruction", "dispatched", "started", "executed", "retired")
        ]
    # The load, the addition, the counter, the fused comparison.
    assert [uop["kind"] for uop in kernel["uops"]] == 3 * ["load", "compute", "compute", "branch"]
    for shown, uop in zip(kernel["uops"], timeline["uops"], strict=True):
        times = ("dispatched", "earliest", "ready", "started", "executed", "retired")
        assert shown["times"] == [uop[key] for key in times] == sorted(shown["times"])
        assert shown["place"] == [uop["iteration"], uop["instruction"]]
        for producer, *_ in shown["inputs"]:
            assert kernel["uops"][producer]["place"] <= shown["place"]
    assert kernel["cycles"] == timeline["cycles"]


def test_nothing_is_loaded_from_elsewhere() -> None:
    page = render(report())
    assert not re.search(r"https?://|src=|@import|url\(", page)
    assert "@DATA@" not in page
    assert "@TITLE@" not in page


def test_names_cannot_break_out_of_the_page() -> None:
    made = report()
    kernel = made["units"][0]["kernels"][0]
    kernel["function_name"] = "f</script><script>alert(1)</script>"
    page = render(made)
    scripts: list[str] = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            if tag == "script":
                scripts.append(tag)

    Reader().feed(page)
    assert len(scripts) == 1
    assert data(page)[0]["title"].startswith("f</script><script>alert(1)</script>, ")


def test_no_timeline_is_an_error() -> None:
    with pytest.raises(ValueError, match="timeline"):
        render(report(iterations=0))


# --- in a browser -----------------------------------------------------------------------------------------------------

ADDITION = ".L1:\n\tvaddsd (%rax), %xmm0, %xmm0\n\taddq $8, %rax\n\tcmpq %rax, %rdx\n\tjne .L1\n"
STORE = ".L1:\n\timulq %rbx, %rbx\n\tmovq %rbx, (%rdi)\n\taddq $8, %rdi\n\tcmpq %rdi, %rdx\n\tjne .L1\n"
COUNTED = 400  # rows at least, in the page of many


class Dom(HTMLParser):
    """The page as it stands after its scripts have run: rows with their bars, arrows, and the words below."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.rows: list[dict[str, Any]] = []
        self.arrows: list[dict[str, str]] = []
        self.words = ""
        self.title = ""
        self._in = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        has = {key: value or "" for key, value in attributes}
        classes = has.get("class", "").split()
        if "row" in classes:
            self.rows.append({**has, "classes": classes, "hidden": "hidden" in has, "bars": {}})
        elif "bar" in classes and "data-cycles" in has and "lane" not in classes:
            first, last = has["data-cycles"].split("-")
            self.rows[-1]["bars"][classes[1]] = (int(first), int(last))
        elif tag == "g" and "data-from" in has:
            self.arrows.append({**has, "label": ""})
        elif has.get("id") in ("detail", "title"):
            self._in = has["id"]
        if tag == "text":
            self._in = "label"

    def handle_endtag(self, tag: str) -> None:
        if tag in ("footer", "h1", "text"):
            self._in = ""

    def handle_data(self, data: str) -> None:
        if self._in == "detail":
            self.words += data
        elif self._in == "title":
            self.title += data
        elif self._in == "label":
            self.arrows[-1]["label"] += data

    def row(self, place: str, kind: str) -> dict[str, Any]:
        (found,) = [r for r in self.rows if (r["data-place"], r.get("data-kind")) == (place, kind)]
        return found


def browse(page: str, folder: Path, action: str = "") -> Dom:
    """Open the page in a browser, do something as a script, and look at what came of it."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if not chromium:
        pytest.skip("no chromium")
    # What goes wrong in the page's own script is an error here.
    watch = "<script>addEventListener('error', e => document.documentElement.dataset.error = e.message);</script>"
    file = folder / "page.html"
    page = page.replace("<body>", f"<body>{watch}", 1)
    file.write_text(page.replace("</body>", f"<script>{action}</script></body>"), encoding="utf-8")
    done = subprocess.run(
        [chromium, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder / 'profile'}",
         "--window-size=1200,800", "--dump-dom", file.as_uri()],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    error = re.search(r'<html[^>]* data-error="([^"]*)"', done.stdout)
    assert not error, error[1] if error else ""
    return Dom(done.stdout)


def row_of(place: str, kind: str) -> str:
    """The script's words for a row."""
    return f"""document.querySelector('[data-place="{place}"][data-kind="{kind}"]')"""


def point_at(place: str, kind: str) -> str:
    return f"{row_of(place, kind)}.dispatchEvent(new MouseEvent('mouseover', {{bubbles: true}}));"


def press(place: str, kind: str, *keys: str) -> str:
    """Go to a row, and press keys wherever that leads to."""
    return f"{row_of(place, kind)}.focus();" + "".join(
        f"document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {{key: '{key}', bubbles: true}}));"
        for key in keys
    )


@pytest.mark.long
def test_what_waits_is_the_addition_for_the_sum(tmp_path: Path) -> None:
    dom = browse(render(report(ADDITION)), tmp_path, point_at("1,0", "compute"))
    load, addition = dom.row("1,0", "load"), dom.row("1,0", "compute")
    # The addition waits long for its inputs, the load is done by then and never waited for the sum.
    begin, end = addition["bars"]["inputs"]
    assert end - begin >= 8
    assert end == addition["bars"]["executing"][0] > load["bars"]["executing"][1]
    assert "hit" in addition["classes"]
    assert "last xmm0 from the compute of [0,0]" in dom.words
    arrows = {(a["data-from"], a["data-to"]): (a["class"], a["label"]) for a in dom.arrows}
    assert arrows["0,0 compute", "1,0 compute"] == ("in last", "xmm0 +4")
    assert arrows["1,0 load", "1,0 compute"][0] == "in"
    assert arrows["1,0 compute", "2,0 compute"] == ("out", "xmm0 +4")
    assert len(arrows) == len(dom.arrows) == 3
    assert "cause" in dom.row("0,0", "compute")["classes"]
    assert "effect" in dom.row("2,0", "compute")["classes"]


@pytest.mark.long
def test_the_load_does_not_wait_for_the_sum(tmp_path: Path) -> None:
    dom = browse(render(report(ADDITION)), tmp_path, point_at("1,0", "load"))
    assert "last rax from the compute of [0,1]" in dom.words
    assert "xmm0" not in dom.words.split("\n", 1)[1]
    assert {(a["data-from"], a["data-to"]) for a in dom.arrows} == {
        ("0,1 compute", "1,0 load"),
        ("1,0 load", "1,0 compute"),
    }


@pytest.mark.long
def test_a_store_waits_for_its_data(tmp_path: Path) -> None:
    dom = browse(render(report(STORE)), tmp_path, point_at("2,1", "store-data"))
    data_row, address = dom.row("2,1", "store-data"), dom.row("2,1", "store-address")
    assert "data" in data_row["bars"]
    assert "inputs" not in data_row["bars"]
    assert "data" not in address["bars"]
    assert "for data to store, last rbx from the compute of [2,0]" in dom.words
    assert [(a["data-from"], a["label"]) for a in dom.arrows] == [("2,0 compute", "rbx +3")]


@pytest.mark.long
def test_keys_go_through_the_rows_and_fold_them(tmp_path: Path) -> None:
    page = render(report(ADDITION))
    dom = browse(page, tmp_path, press("1,0", "load", "ArrowDown"))
    assert "hit" in dom.row("1,0", "compute")["classes"]
    # To the instruction, and its µops away: arrows go to what is left to be seen.
    dom = browse(page, tmp_path, press("1,0", "compute", "ArrowLeft", "ArrowLeft"))
    assert dom.row("1,0", "load")["hidden"]
    assert dom.row("1,0", "compute")["hidden"]
    assert not dom.row("0,0", "compute")["hidden"]
    (head,) = [r for r in dom.rows if r["data-place"] == "1,0" and r["aria-level"] == "1"]
    assert head["aria-expanded"] == "false"
    assert "hit" in head["classes"]
    assert {"0,0 compute", "0,1 compute"} == {a["data-from"] for a in dom.arrows if a["class"].startswith("in")}
    dom = browse(page, tmp_path, press("1,0", "load", "Escape"))
    assert not any("hit" in r["classes"] for r in dom.rows)
    assert not dom.arrows
    assert dom.words.startswith("Point at a row")


@pytest.mark.long
def test_a_page_of_many_rows_and_kernels(tmp_path: Path) -> None:
    many = "".join(ADDITION.replace("vaddsd (%rax), %xmm0, %xmm0", f"vaddsd {8 * n}(%rax), %xmm{n}, %xmm{n}").split(
        "\n\taddq", 1)[0].replace(".L1:\n", "") + "\n" for n in range(10))  # fmt: skip
    text = ADDITION + ".L2:\n" + many + "\taddq $80, %rax\n\tcmpq %rax, %rdx\n\tjne .L2\n"
    page = render(report(text, iterations=20))
    choose = (
        "const choice = document.getElementById('kernel'); choice.value = '1';"
        "choice.dispatchEvent(new Event('change'));"
    )
    first, second = browse(page, tmp_path), browse(page, tmp_path, choose + point_at("5,3", "compute"))
    assert first.title != second.title
    assert len(first.rows) < len(second.rows) > COUNTED
    assert any(a["data-from"] == "4,3 compute" and a["class"].startswith("in") for a in second.arrows)


def test_header_has_cycles_elements_and_range() -> None:
    scalar = ".L1:\n\tvaddsd (%rsi), %xmm0, %xmm0\n\taddq $8, %rsi\n\tcmpq %rsi, %rdx\n\tjne .L1\n"
    (kernel,) = data(render(report(scalar)))
    assert kernel["model"].startswith("4.00 cycles an iteration, ")
    assert " an element" in kernel["model"]
    assert kernel["range"] == ""
    histogram = ".L1:\n\tmovslq (%rdi,%rax,4), %rcx\n\tincl (%rsi,%rcx,4)\n\tincq %rax\n\tcmpq %rax, %rdx\n\tjne .L1\n"
    made = report(histogram)
    made["units"][0]["kernels"][0]["elements"] = None
    (kernel,) = data(render(made))
    assert re.match(r"\d+\.\d\d cycles an iteration; ", kernel["model"])
    assert kernel["range"] == made["units"][0]["kernels"][0]["range"]["text"] != ""
    assert "never hits" in kernel["range"]
