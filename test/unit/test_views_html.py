"""The report's page: complete in itself, its data what the report says, nothing in the text can end a script; and what
its scripts do, in a browser."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from itertools import accumulate
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import force_setattr, replace

import browser
from browser import browse
from incc.driver.deliver import page
from incc.driver.pipeline import analyze_units
from incc.frontends.unit import Unit
from incc.report import types as t
from incc.views.html import render
from settings_fixtures import settings_with

LOOP = ".L1:\n\tvaddpd (%rsi), %ymm0, %ymm0\n\taddq $32, %rsi\n\tcmpq %rsi, %rdx\n\tjne .L1\n"


def report(text: str = LOOP, name: str = "a.s", iterations: int = 3) -> t.AnalysisReport:
    settings = settings_with(mcpu="skylake", regions="loops", timeline_iterations=iterations)
    return analyze_units([Unit(assembly=text, assembly_file=name)], settings)


def data(page: str) -> list[dict[str, Any]]:
    """What the page's scripts are given, a kernel each."""
    found = re.findall(r'<script type="application/json" id="data-\d+">(.*?)</script>', page)
    assert found
    return [json.loads(text) for text in found]


def times(steps: list[int]) -> list[int]:
    """Times that are counted from the one before."""
    return list(accumulate(steps))


def test_every_event_and_uop_is_there() -> None:
    made = report()
    (kernel,) = data(render(made))
    shown, timeline = kernel["timeline"], made.units[0].kernels[0].timeline
    names = shown["names"]
    assert len(shown["events"]) == 3 * 4
    for row, event in zip(shown["events"], timeline.events, strict=True):
        assert row[:2] == [event.iteration, event.instruction]
        assert times(row[2:]) == [event.dispatched, event.started, event.executed, event.retired]
    # The load, the addition, the counter, the fused comparison.
    assert [names[uop[1]] for uop in shown["uops"]] == 3 * ["load", "compute", "compute", "branch"]
    for number, (row, uop) in enumerate(zip(shown["uops"], timeline.uops, strict=True)):
        assert shown["events"][row[0]][:2] == [uop.iteration, uop.instruction]
        assert times(row[3:9]) == [
            uop.dispatched, uop.earliest, uop.ready, uop.started, uop.executed, uop.retired,
        ]  # fmt: skip
        assert row[9] == (-1 if uop.last_input is None else uop.last_input)
        inputs = [row[n : n + 5] for n in range(10, len(row), 5)]
        assert [
            (number - back, names[kind], names[via], arrived + row[3], latency)
            for back, kind, via, arrived, latency in inputs
        ] == [(i.producer, i.kind, i.via, i.arrived, i.latency) for i in uop.inputs]
    assert shown["cycles"] == timeline.cycles


def test_instructions_ports_and_dependencies_are_those_of_the_report() -> None:
    made = report()
    (kernel,), (shown,) = made.units[0].kernels, data(render(made))
    assert [row[1] for row in shown["instructions"]] == [i.text for i in kernel.instructions]
    for row, instruction in zip(shown["instructions"], kernel.instructions, strict=True):
        pressure = dict(zip(row[7][::2], row[7][1::2], strict=True))
        assert [pressure.get(n, 0) for n in range(len(kernel.resources))] == instruction.pressure
        assert row[4:7] == [instruction.latency, instruction.critical_path_cycles, instruction.chain_cycles]
    assert [row[:3] for row in shown["resources"]] == [[r.name, r.title, r.load] for r in kernel.resources]
    assert [(*row[:2], row[3]) for row in shown["edges"]] == [
        (e.producer, e.to, e.latency) for e in kernel.dependencies
    ]
    assert [name for name, _, _, limits in shown["bounds"] if limits] == ["Loop-carried dependencies"]
    assert shown["verdict"].lower() == kernel.verdict.lower() + "."


def test_lines_of_the_source_lose_what_all_are_indented_by() -> None:
    made = report()
    instructions = made.units[0].kernels[0].instructions
    for instruction, line in zip(instructions, (7, 7, 6, 9), strict=True):
        force_setattr(instruction, "source", t.SourceLocation("a.c", line))
    sources = {"a.c": {6: "\tfor (;;)", 7: "\t\ts += <a>[i];  ", 9: ""}}
    (kernel,) = data(render(made, sources))
    assert kernel["sources"] == [["a.c:7", "        s += <a>[i];"], ["a.c:6", "for (;;)"], ["a.c:9", ""]]
    assert [row[8] for row in kernel["instructions"]] == [0, 0, 1, 2]
    (kernel,) = data(render(made))
    assert [text for _, text in kernel["sources"]] == [None, None, None]


def test_one_kernel_needs_no_table() -> None:
    page = render(report())
    assert 'class="sortable"' not in page
    two = render(report(ADDITION + ADDITION.replace("L1", "L2")))
    assert 'class="sortable"' in two
    assert re.findall(r'<a href="#k(\d+)"', two) == ["1", "2"]


def test_python_writes_the_same_page() -> None:
    import incc

    found = incc.analyze(ADDITION.encode(), mcpu="skylake", timeline=3, name="a.s")
    assert data(found.html()) == data(render(msgspec.convert(found.to_dict(), t.AnalysisReport)))
    with pytest.raises(ValueError, match="no kernel to show"):
        incc.analyze(b"f:\n\tret\n", mcpu="skylake").html()


def test_what_is_not_analysed_is_said() -> None:
    made = report()
    assert 'id="left-out"' not in render(made)
    made.units[0].left_out = [
        t.LeftOut(first_line=7, last_line=9, function="g", label=".L9", reason="entered in the <middle>")
    ]
    assert "a.s:7 in g: entered in the &lt;middle&gt;" in render(made)


def test_only_columns_that_say_something() -> None:
    one = report(ADDITION + ADDITION.replace("L1", "L2"))
    assert ">Unit<" not in render(one)
    other = replace(one.units[0], assembly_file="b.s")
    one.units.append(other)
    page = render(one)
    assert ">Unit<" in page
    assert ">Core<" not in page
    other.model = replace(other.model, name="znver4")
    assert ">Core<" in render(one)
    assert len(data(page)) == 4


def test_nothing_is_loaded_from_elsewhere() -> None:
    page = render(report())
    assert not re.search(r"https?://|src=|@import|url\(", page)


def test_names_cannot_break_out_of_the_page() -> None:
    made = report()
    bad = "f</script><script>alert(1)</script><!--"
    kernel = made.units[0].kernels[0]
    kernel.overview = replace(kernel.overview, function=bad)
    kernel.hints[0] = replace(kernel.hints[0], text=bad)
    kernel.instructions[0] = replace(kernel.instructions[0], text=bad)
    kernel.function_name = kernel.verdict = bad
    made.units[0].kernels.append(kernel)
    page = render(made, {"a.c": {1: bad}})
    scripts: list[str | None] = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            if tag == "script":
                scripts.append(dict(attrs).get("type"))

    Reader().feed(page)
    assert scripts == ["application/json"] * 2 + [None]
    assert data(page)[0]["title"].startswith(bad + ", ")
    assert bad not in page


def test_without_a_timeline_and_without_a_kernel() -> None:
    (kernel,) = data(render(report(iterations=0)))
    assert kernel["timeline"] is None
    with pytest.raises(ValueError, match="no kernel to show"):
        render(report("f:\n\tret\n"))


# --- in a browser -----------------------------------------------------------------------------------------------------

ADDITION = ".L1:\n\tvaddsd (%rax), %xmm0, %xmm0\n\taddq $8, %rax\n\tcmpq %rax, %rdx\n\tjne .L1\n"
STORE = ".L1:\n\timulq %rbx, %rbx\n\tmovq %rbx, (%rdi)\n\taddq $8, %rdi\n\tcmpq %rdi, %rdx\n\tjne .L1\n"
COUNTED = 400  # rows at least, in the page of many


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
    # The larger loop does more work for the same elements, so the other belongs to it and comes after it.
    first = browse(page, tmp_path, at="#k2")
    second = browse(page, tmp_path, point_at("5,3", "compute"), at="#k1")
    assert first.title != second.title
    assert len(first.rows) < len(second.rows) > COUNTED
    assert any(a["data-from"] == "4,3 compute" and a["class"].startswith("in") for a in second.arrows)


def test_head_has_cycles_elements_and_range() -> None:
    scalar = ".L1:\n\tvaddsd (%rsi), %xmm0, %xmm0\n\taddq $8, %rsi\n\tcmpq %rsi, %rdx\n\tjne .L1\n"
    (kernel,) = data(render(report(scalar)))
    figures = {name: (value, unit) for name, value, unit in kernel["figures"]}
    assert figures["Prediction"] == ("4.00", "cycles / iteration")
    assert figures["Per element"] == ("4.00", "cycles")
    assert kernel["more"] == []
    histogram = ".L1:\n\tmovslq (%rdi,%rax,4), %rcx\n\tincl (%rsi,%rcx,4)\n\tincq %rax\n\tcmpq %rax, %rdx\n\tjne .L1\n"
    made = report(histogram)
    made.units[0].kernels[0].elements = None
    (kernel,) = data(render(made))
    assert re.match(r"[\d.]+–[\d.]+$", kernel["figures"][0][1])
    assert "Per element" not in [name for name, _, _ in kernel["figures"]]
    spread = made.units[0].kernels[0].range.text
    assert [text.lower() for text in kernel["more"]] == [spread.lower() + "."]
    assert "same address" in spread


# --- the report in a browser ------------------------------------------------------------------------------------------

CHAIN = ".L{n}:\n\tvaddsd (%rax), %xmm0, %xmm0\n\taddq $8, %rax\n\tcmpq %rax, %rdx\n\tjne .L{n}\n"
LOADS = ".L{n}:\n\tmovq (%rax), %rbx\n\tmovq 8(%rax), %rcx\n\taddq $16, %rax\n\tcmpq %rax, %rdx\n\tjne .L{n}\n"
DIVIDE = CHAIN.replace("vaddsd (%rax), %xmm0, %xmm0", "vdivsd (%rax), %xmm1, %xmm2\n\tvdivsd (%rax), %xmm1, %xmm3")


def three() -> str:
    """The page of three kernels: one bound by a chain, one by ports, one by the divider."""
    texts = [f"\t.type {name}, @function\n{name}:\n{text.format(n=n)}\tret\n" for n, (name, text) in
             enumerate([("chained", CHAIN), ("loading", LOADS), ("dividing", DIVIDE)])]  # fmt: skip
    made = report("".join(texts))
    assert len(made.units[0].kernels) == 3
    return render(made)


def ask(page: str, folder: Path, steps: str, at: str = "", dark: bool = False) -> Any:
    """What steps in the page return."""
    return browser.ask(page, folder, steps, "kernels", at=at, dark=dark)


@pytest.mark.long
def test_headings_sort(tmp_path: Path) -> None:
    found = ask(three(), tmp_path, """
      const heading = [...document.querySelectorAll("#kernels th")].find(th => th.textContent === "Cycles");
      const seen = [[names(), heading.ariaSort]];
      for (let n = 0; n < 3; n += 1) {
        heading.querySelector("button").click();
        seen.push([names(), heading.ariaSort]);
      }
      const name = [...document.querySelectorAll("#kernels th")].find(th => th.textContent === "Function");
      name.querySelector("button").click();
      return [...seen, [names(), name.ariaSort]];
    """)  # fmt: skip
    order = ["chained", "loading", "dividing"]
    assert found == [
        [order, None],
        [["dividing", "chained", "loading"], "descending"],
        [["loading", "chained", "dividing"], "ascending"],
        [order, None],
        [["chained", "dividing", "loading"], "ascending"],
    ]


@pytest.mark.long
def test_the_search_takes_all_words_and_what_is_said_of_a_kernel(tmp_path: Path) -> None:
    found = ask(three(), tmp_path, """
      const seen = [];
      for (const text of ["DIVID", "chain xmm0", "loading divider", "nothing", ""]) {
        await type(text);
        seen.push([names(), $("#kernels-count").textContent, $("#kernels").classList.contains("none")]);
      }
      return seen;
    """)  # fmt: skip
    assert found == [
        [["dividing"], "1 of 3 shown", False],
        [["chained"], "1 of 3 shown", False],
        [[], "0 of 3 shown", True],
        [[], "0 of 3 shown", True],
        [["chained", "loading", "dividing"], "3 shown", False],
    ]


@pytest.mark.long
def test_by_keyboard_through_the_table_to_a_kernel_and_back(tmp_path: Path) -> None:
    found = ask(three(), tmp_path, """
      const seen = [], state = () => seen.push([document.activeElement.textContent || document.activeElement.id,
        location.hash, $("#summary").hidden, $("#title").textContent.split(",")[0]]);
      await press("/"); state();
      await press("ArrowDown"); state();
      await press("ArrowDown"); state();
      await press("End"); await press("ArrowUp"); state();
      document.activeElement.click(); await settle(); state();
      await press("n"); state();
      await press("p"); await press("p"); state();
      await press("d"); state();
      await press("Escape"); state();
      await press("?");
      seen.push($("#help").open);
      return [seen, document.querySelectorAll('#kernels a[tabindex="0"]').length];
    """)  # fmt: skip
    seen, links = found
    titles = [first.partition(",")[0] for first, *_ in seen[:-1]]
    assert titles[:4] == ["kernels-search", "chained", "loading", "loading"]
    assert seen[4][1:] == ["#k2", True, "loading"]
    assert titles[4] == "loading"  # the heading of the kernel
    assert seen[5][1:] == ["#k3", True, "dividing"]
    assert seen[6][1:] == ["#k1", True, "chained"]
    assert (titles[7], seen[7][1]) == ("Dependencies", "#k1/graph")
    assert (titles[8], seen[8][1:3]) == ("chained", ["", False])
    assert seen[9] is True
    assert links == 1


@pytest.mark.long
def test_an_address_leads_to_a_kernel(tmp_path: Path) -> None:
    found = ask(three(), tmp_path, """
      const seen = [$("#title").textContent.split(",")[0]];
      location.hash = "#k2"; await settle(); seen.push($("#title").textContent.split(",")[0]);
      location.hash = "#k99"; await settle(); seen.push($("#summary").hidden);
      return seen;
    """, at="#k3")  # fmt: skip
    assert found == ["dividing", "loading", False]


@pytest.mark.long
def test_bars_and_assembly_say_what_the_report_says(tmp_path: Path) -> None:
    made = report(CHAIN.format(n=1))
    (kernel,) = made.units[0].kernels
    found = ask(render(made), tmp_path, """
      const cells = row => [...row.cells].map(cell => cell.textContent);
      return {bounds: [...document.querySelectorAll("#bounds > table tbody tr")].map(cells),
        widths: [...document.querySelectorAll("#bounds > table .fill")].map(fill => parseFloat(fill.style.width)),
        ports: [...document.querySelectorAll("#ports tbody tr")].map(cells),
        head: cells($("table.assembly thead tr")),
        rows: [...document.querySelectorAll("table.assembly tbody tr")].map(cells)};
    """)  # fmt: skip
    bounds = {row[0]: (row[1], row[3]) for row in found["bounds"]}
    assert bounds["Prediction"] == ("4.00", "simulated")
    assert bounds["Loop-carried dependencies"][1].startswith("limits through xmm0")
    assert [name for name, (_, words) in bounds.items() if words.startswith("limits")] == ["Loop-carried dependencies"]
    assert found["widths"] == [pytest.approx(25 * float(row[1]), abs=0.3) for row in found["bounds"]]
    used = [r for r in kernel.resources if r.load]
    shown = {row[0]: row for row in found["ports"]}
    assert [shown[r.name][1] for r in used] == [f"{r.load:.2f}" for r in used]
    assert {n for n, row in shown.items() if "busiest" in row[3]} == {r.name for r in used if r.busiest}
    assert found["head"][1 : 1 + len(used)] == [r.name for r in used]
    column = found["head"].index("LCD")
    assert [row[column] for row in found["rows"]] == ["4", "", "", ""]
    assert [row[column + 1] for row in found["rows"]] == ["", "", "", "F"]


@pytest.mark.long
def test_the_graph_draws_all_dependencies_and_marks_what_is_asked_for(tmp_path: Path) -> None:
    made = report(CHAIN.format(n=1))
    (kernel,) = made.units[0].kernels
    found = ask(render(made), tmp_path, """
      const box = "#graph-box ";
      const edges = () => [...document.querySelectorAll(box + ".edge")].map(
        e => [+e.dataset.from, +e.dataset.to, e.classList.contains("later"), e.classList.contains("lcd")]);
      const first = edges(), heights = [...document.querySelectorAll(box + ".node")].map(
        n => +/ ([\\d.]+)\\)/.exec(n.getAttribute("transform"))[1]);
      $(box + ".node").focus(); await settle();
      const told = $("#graph-info").textContent, row = $("table.assembly tr.hit").dataset.index;
      await press("ArrowDown");
      const down = document.activeElement.dataset.index;
      await press("End");
      const end = [document.activeElement.dataset.index, document.querySelectorAll(box + '[tabindex="0"]').length];
      await press("Escape");
      const none = document.querySelectorAll(box + ".hit").length;
      $("#graph-chain").value = "1"; $("#graph-chain").dispatchEvent(new Event("change"));
      const other = edges();
      $("#graph-path").checked = false; $("#graph-path").dispatchEvent(new Event("change"));
      return {first, heights, told, row, down, end, none, other, paths: document.querySelectorAll(box + ".cp").length};
    """)  # fmt: skip
    expected = sorted((e.producer, e.to, e.distance > 0, 0 in e.chains) for e in kernel.dependencies)
    assert sorted(map(tuple, found["first"])) == expected
    assert any(lcd for *_, lcd in expected)
    # Time goes down: the counter is there first, the addition last.
    assert found["heights"][1] < found["heights"][0] == max(found["heights"])
    assert found["told"].startswith("2 vaddsd (%rax), %xmm0, %xmm0 (")
    latency = kernel.instructions[0].latency
    assert f"latency {latency}, ready in cycle {latency}; on the critical path" in found["told"]
    assert "xmm0 +4, next iteration" in found["told"]
    assert found["row"] == "0"
    assert found["end"] == ["3", 1]
    assert found["none"] == 0
    assert [lcd for *_, lcd in sorted(found["other"])] == [
        1 in e.chains for e in sorted(kernel.dependencies, key=lambda e: (e.producer, e.to))
    ]
    assert found["paths"] == 0


@pytest.mark.long
@pytest.mark.parametrize("count", [1, 5, 500])
def test_no_fault_that_axe_knows(count: int, tmp_path: Path) -> None:
    """axe-core finds no fault of accessibility, in light and dark, in the table and in a kernel."""
    parts = (CHAIN, LOADS, DIVIDE)
    page = render(report("".join(parts[n % 3].format(n=n) for n in range(count)), iterations=2))
    # Of the large page each half once: it takes its time.
    looks = [("", False), (f"#k{count}", True)] + ([("", True), (f"#k{count}", False)] if count < 500 else [])
    for at, dark in looks:
        assert browser.faults(page, tmp_path, at, dark) == [], (at, dark)


def test_data_beyond_l1_have_columns_tables_and_figures() -> None:
    settings = settings_with(mcpu="haswell", regions="loops", data=("L2", "memory"))
    made = analyze_units([Unit(assembly=ADDITION + ADDITION.replace("L1", "L2"), assembly_file="a.s")], settings)
    text = page(made)
    titles = re.findall(r'<th scope="col" class="[^"]*"><button type="button" title="[^"]*">([^<]*)</button>', text)
    assert [title for title in titles if title in ("L2", "L3", "memory")] == ["L2", "memory"]
    shown = data(text)[0]
    levels = made.units[0].kernels[0].data.levels
    ((title, line, parts),) = shown["tables"]
    captions, columns, rows, sentences = zip(*parts, strict=True)
    assert title == "Data beyond L1"
    assert "each level" in captions[0]
    assert "Streams" in captions[1]
    assert [row[0] for row in rows[0]] == [level.name for level in levels]
    assert [title for title, _, _ in columns[0]][:2] == ["From", "Cycles"]
    assert [row[1] for row in rows[0]] == [f"{level.cycles:.2f}" for level in levels]
    assert sentences[0][0].startswith("Costs: ")
    assert line.startswith("Per 64-byte line")
    assert ["From L2", f"{levels[1].cycles:.2f}", "cycles / iteration"] in shown["figures"]
    assert data(page(report()))[0]["tables"] == []
