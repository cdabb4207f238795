"""The comparison's page: complete in itself, its data what the comparison says, nothing in the text can end a script;
and what its scripts do, in a browser."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from made_comparisons import (
    cause,
    change,
    comparison,
    instruction,
    matrix,
    member,
    ordinary,
    row,
    side,
    with_assembly,
)
from msgspec.structs import force_setattr, replace

import browser
from incc.comparison import types as c
from incc.comparison.build import ComparisonSettings, compare
from incc.views.comparison.page import FEW, MOST, render


def data(page: str, name: str = r"data-\d+") -> list[Any]:
    """What the page's scripts are given, a row each."""
    found = re.findall(rf'<script type="application/json" id="{name}">(.*?)</script>', page)
    assert found
    return [json.loads(text) for text in found]


def text_of(markup: str) -> str:
    """A piece of the page as text, with a blank for each element's edge."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", markup)).strip()


def rows_of(page: str) -> list[str]:
    """The rows of the table as text, those of the template, too."""
    (table,) = re.findall(r'<table class="sortable.*?(?=</template>|</main>|<article)', page, re.DOTALL)
    (body,) = re.findall(r"<tbody>(.*?)</tbody>", table, re.DOTALL)
    rest = table.partition("<template")[2]
    return [text_of(found) for found in re.findall(r"<tr.*?</tr>", body + rest, re.DOTALL)]


def many(count: int, changed: int = 3) -> Any:
    """A comparison in which few of many kernels changed."""
    rows: list[Any] = []
    for n in range(count):
        became = change(1.0, 2.0) if n < changed else change(1.0, 1.0, outcome="same", matched_by="content")
        rows.append(row([member(f"f{n}", n + 1), member(f"f{n}", n + 1)], [None, became]))
    return comparison([side("old"), side("new")], rows)


def test_the_table_has_what_the_text_has() -> None:
    page = render(ordinary())
    rows = rows_of(page)
    assert len(rows) == 8
    assert rows[0].startswith(
        "1 triad.c:12 forces 2.00 5.40 ×2.70 elem. ports 2,3 → divider 256-bit → scalar scalar instead"
    )
    assert "? 62 %" in rows[1].replace("\xa0", " ")
    assert rows[2].startswith("3 triad.c:60 dot (4.00) (4.00) ?")
    assert "moved" in rows[4]
    assert "same" in rows[5]
    assert rows[6].startswith("7 triad.c:95 gone 1.00 - only in A elem.")
    assert rows[7].startswith("8 triad.c:99 new_one, remainder - 1.00 only in B elem.")
    assert (
        "6 kernels: 1 the same, 1 moved, 1 equally fast with other code, 1 faster, 1 slower, 1 not comparable" in page
    )
    numbers = dict(re.findall(r'data-filter="(\w+)" data-count="(\d+)"', page))
    assert numbers == {"changed": "3", "slower": "1", "faster": "1", "unmatched": "2", "all": "8"}


def test_a_pair_has_causes_bounds_and_figures_on_one_basis() -> None:
    (shown,) = data(render(with_assembly()))
    became = shown["changes"][1]
    assert became["causes"] == [["+1 reload on the LCD: +1.25 cycles", 1.25, [], [], "1.25"]]
    assert became["of"] == "per element of the source loop"
    assert became["cycles"] == [[1.0, "1.00"], [2.25, "2.25"]]
    # Four elements an iteration.
    assert ["Loop-carried dependencies", [0.25, "0.250"], [3.0, "3.00"], 0, 0] in became["bounds"]
    assert ["Ports", [1.0, "1.00"], [1.0, "1.00"], 1, 1] in became["bounds"]
    assert ["LCD", "0.25", "3", 1] in became["figures"]
    assert became["rows"][1] == [None, 1, "added"]
    a, b = (m["assembly"] for m in shown["members"])
    assert [i[1] for i in a["instructions"]][:2] == [
        "vmovupd\t(%rdx,%rax), %ymm1",
        "vfmadd213pd\t(%rsi,%rax), %ymm2, %ymm1",
    ]
    assert [i[5:7] for i in b["instructions"]] == [[None, None], [5, 5], [4, 4], [None, None], [None, None]]
    assert [names for names, *_ in a["ports"]] == ["0,1", "5"]
    assert a["instructions"][0][8:] == [0.0, 1.0]


def test_without_assembly_there_are_figures() -> None:
    first, *_ = data(render(ordinary()))
    assert "assembly" not in first["members"][0]
    assert first["changes"][1]["rows"] is None
    assert first["changes"][1]["bounds"]


def test_offenders_are_marked_and_listed() -> None:
    made: Any = ordinary()
    force_setattr(
        made, "gate", c.ComparisonGate("cycles > +5% ", [c.FailingKernel(row=0, side=1, text="forces: cycles 2 → 5.4")])
    )
    page = render(made)
    assert "1 kernel for which cycles &gt; +5%" in page
    assert '<a href="#p1/B">[1]</a> forces: cycles 2 → 5.4' in page
    assert [n for n, found in enumerate(rows_of(page)) if "✗ fails" in found] == [0]
    assert data(page)[0]["fails"] == ["forces: cycles 2 → 5.4"]
    made.gate.offenders.clear()
    page = render(made)
    assert "No kernel for which cycles &gt; +5%." in page
    assert "✗ fails</td>" not in page


def test_only_what_changed_is_there_at_once_where_there_is_much() -> None:
    assert "rows-rest" not in render(many(FEW)).partition("<script>\n")[0]
    page = render(many(FEW + 1)).partition("<script>\n")[0]
    table, _, rest = page.partition('<template id="rows-rest">')
    assert (table.count('href="#p'), rest.count('href="#p')) == (3, FEW - 2)
    page = render(many(MOST + 50, MOST + 40)).partition("<script>\n")[0]
    table, _, rest = page.partition('<template id="rows-rest">')
    assert (table.count('href="#p'), rest.count('href="#p')) == (MOST, 50)


@pytest.mark.long
def test_many_rows_make_no_large_page() -> None:
    """A kilobyte and a half for each that did not change."""
    small, large = (len(render(many(count))) for count in (1000, 3000))
    assert (large - small) / 2000 < 1500


def test_the_heat_map_has_cycles_shades_and_sums() -> None:
    page = render(matrix(["one", "two", "three"]))
    rows = rows_of(page)
    assert rows[0].replace("\xa0", " ") == "kernel0 1 triad.c:5 1.00 * 1.10 +10 % -"
    shades = re.findall(r'<td data-key="([\d.]+)" class="number (?:\w+ )?(heat\d)"', page)
    by_ratio = {float(cycles): shade for cycles, shade in shades}
    assert by_ratio[2.0] == "heat0"
    assert by_ratio[2.4] == "heat2"
    foot = text_of(re.findall(r"<tfoot>(.*?)</tfoot>", page, re.DOTALL)[0]).replace("\xa0", " ")
    assert foot == "geom. mean +25 % +25 % fewest in 3 0 0"
    assert '<a href="#p1/B">1.10</a>' in page


def test_the_heat_map_has_doubts() -> None:
    made = matrix(["one", "two", "three"])
    assert "how sure it is" not in render(made)
    change = made.rows[1].changes[2]
    assert change is not None
    change.confidence = 0.62
    page = render(made)
    assert rows_of(page)[1].replace("\xa0", " ").endswith("2.40 +20 % ? 62 %")
    assert "the fewest; ?: how sure it is that both are the same loop." in page


def test_variants_that_differ_in_several_ways_are_grouped() -> None:
    made = matrix(["a", "b", "c", "d"])
    for n, one in enumerate(made.sides):
        variant = c.SideVariant(compiler=("gcc", "clang")[n // 2], flags=[("-O2", "-O3")[n % 2]], mcpu="")
        force_setattr(one, "variant", variant)
    page = render(made)
    spans = re.findall(r'<th scope="colgroup" colspan="(\d)" class="group">([^<]*)</th>', page)
    assert spans == [("2", "gcc"), ("2", "clang"), ("1", "-O2"), ("1", "-O3"), ("1", "-O2"), ("1", "-O3")]
    for one in made.sides:
        one.variant.flags.clear()
    assert 'class="group"' not in render(made)  # the labels say it


def test_nothing_is_loaded_from_elsewhere() -> None:
    for made in (ordinary(), with_assembly(), matrix(["a", "b", "c"])):
        page = render(made)
        assert "default-src 'none'" in page
        assert not re.search(r"https?://|src=|@import|url\(", page)


def test_names_cannot_break_out_of_the_page() -> None:
    bad = "f</script><script>alert(1)</script><!--\"'<img onerror=x>"
    a = member(bad, 1, instructions=[instruction(0, bad)], resources=[], limit=bad, verdict=bad, hints=[bad])
    b = member(bad, 2, {"cycles": 9.0}, instructions=[instruction(0, bad)], resources=[])
    rows = [row([a, b], [None, change(1.0, 2.0, text=bad, causes=[cause(bad, 1.0)])]), row([a, None], [None, None])]
    made = comparison([side(bad, input=bad, notes=[bad]), side("new", problem=bad)], rows, where=bad, notes=[bad])
    force_setattr(made, "gate", c.ComparisonGate(bad, [c.FailingKernel(row=0, side=1, text=bad)]))
    page = render(made)
    assert "<script>alert" not in page
    assert "<img" not in page
    assert len(re.findall(r"<script\b", page)) == len(re.findall(r"</script>", page)) == 4
    assert data(page)[0]["changes"][1]["causes"][0][0] == bad


def test_nothing_to_compare() -> None:
    page = render(comparison([side("a"), side("b", problem="it does not compile")], []))
    assert "There is nothing to compare with." in page
    assert "it does not compile" in page


def test_a_page_has_the_assembly_of_the_first_that_changed() -> None:
    from comparison_fixtures import side_of

    loop = (
        "\t.type f{n}, @function\nf{n}:\n.L{n}:\n\tvaddsd (%rax), %xmm0, %xmm0\n{more}"
        "\taddq $8, %rax\n\tcmpq %rax, %rdx\n\tjne .L{n}\n\tret\n"
    )
    a = side_of("".join(loop.format(n=n, more="") for n in range(4)), "a")
    b = side_of("".join(loop.format(n=n, more="\tvmulsd %xmm1, %xmm0, %xmm0\n" * (n > 0)) for n in range(4)), "b")
    for enough, there in ((None, 4), (100, 3), (3, 2), (2, 1)):
        rows = compare([a, b], ComparisonSettings(assembly=True, enough=enough)).rows
        with_code = [r for r in rows if all(m and m.instructions is not None for m in r.members)]
        assert len(with_code) == there, enough
        assert with_code == rows[:there]
        assert all(bool(r.changes[1] and r.changes[1].alignment) == (r in with_code) for r in rows)


def test_python_writes_the_same_page() -> None:
    import incc

    loop = b".L1:\n\tvaddsd (%rax), %xmm0, %xmm0\n\taddq $8, %rax\n\tcmpq %rax, %rdx\n\tjne .L1\n"
    reports = [incc.analyze(text, mcpu="skylake", name="a.s") for text in (loop, loop.replace(b"vadd", b"vmul"))]
    found = incc.compare(*reports, assembly=True)
    assert found.html() == render(found._found)
    assert "assembly" in data(found.html())[0]["members"][0]


# --- in a browser -----------------------------------------------------------------------------------------------------


CHOOSE = "const choose = kind => $(`[data-filter=${kind}]`).click();"


def ask(page: str, folder: Path, steps: str, at: str = "", dark: bool = False) -> Any:
    """What steps in the page return; `choose(kind)` presses the button of a filter."""
    return browser.ask(page, folder, CHOOSE + steps, "rows", at=at, dark=dark)


@pytest.mark.long
def test_filters_choose_and_bring_the_rest(tmp_path: Path) -> None:
    found = ask(render(many(40)), tmp_path, """
      const seen = [[names().length, $("#rows-count").textContent]];
      await type("f2"); seen.push([names().length]);
      choose("all"); seen.push([names().length]);
      await type(""); seen.push([names().length, $("#rows-count").textContent]);
      choose("slower");
      seen.push([names().length, ...["slower", "all"].map(kind => $(`[data-filter=${kind}]`).ariaPressed)]);
      return seen;
    """)  # fmt: skip
    assert found == [[3, "3 of 40 shown"], [1], [11], [40, "40 shown"], [3, "true", "false"]]


@pytest.mark.long
def test_rows_beyond_the_first_come_when_they_are_asked_for(tmp_path: Path) -> None:
    page = render(many(MOST + 60, MOST + 50))
    found = ask(page, tmp_path, f"""
      const seen = [[names().length, $("#more-rows").hidden, $("#more-rows").textContent]];
      await type("f{MOST + 20}"); seen.push([names().length]);
      await type(""); seen.push([names().length, $("#more-rows").hidden]);
      return seen;
    """)  # fmt: skip
    assert found == [[MOST, False, "50 more"], [1], [MOST + 50, True]]
    found = ask(page, tmp_path, "$('#more-rows').click(); return [names().length, $('#more-rows').hidden]")
    assert found == [MOST + 50, True]


@pytest.mark.long
def test_by_keyboard_to_a_pair_and_back(tmp_path: Path) -> None:
    found = ask(render(ordinary()), tmp_path, """
      const seen = [], state = () => seen.push([document.activeElement.textContent || document.activeElement.id,
        location.hash, $("#summary").hidden]);
      await press("/"); state();
      await press("ArrowDown"); await press("ArrowDown"); state();
      document.activeElement.click(); await settle(); state();
      await press("n"); state();
      await press("Escape"); state();
      await press("?"); seen.push($("#help").open);
      return seen;
    """)  # fmt: skip
    assert found == [
        ["rows-search", "", False],
        ["sum", "", False],
        ["triad.c:40 in sum", "#p2", True],
        ["triad.c:60 in dot", "#p3", True],
        ["dot", "", False],
        True,
    ]


@pytest.mark.long
def test_a_cause_marks_its_instructions_on_both_sides(tmp_path: Path) -> None:
    made: Any = with_assembly()
    causes = made.rows[0].changes[1].causes
    causes[0] = replace(causes[0], a=[1], b=[1, 2])
    found = ask(render(made), tmp_path, """
      const about = side => [...document.querySelectorAll(`table.beside td.code.about.${side}`)]
        .map(cell => cell.textContent);
      const button = $("#causes .cause"), seen = [];
      button.focus(); seen.push([about("a"), about("b")]);
      button.blur(); seen.push([about("a"), about("b")]);
      button.click(); button.blur(); seen.push([about("a").length, about("b").length, button.ariaPressed]);
      button.focus(); await press("Escape"); seen.push([about("b").length, location.hash, button.ariaPressed]);
      const signs = [...document.querySelectorAll("table.beside tbody td.sign")].map(cell => cell.textContent);
      const first = [...$("table.beside tbody tr").cells].map(cell => cell.textContent);
      return {seen, signs, first, fill: $("#causes .fill").className + $("#causes .fill").getAttribute("style"),
        gaps: document.querySelectorAll("table.beside td.gap.a.number, table.beside td.gap.a:first-child").length,
        widths: [...new Set([...$("table.beside").rows].map(row => row.cells.length))],
        portless: (() => {
          $("#ports-shown").checked = false; $("#ports-shown").dispatchEvent(new Event("change"));
          const shown = row => [...row.cells].filter(cell => cell.offsetWidth).length;
          return [...new Set([...$("table.beside").rows].map(shown))];
        })()};
    """, at="#p1")  # fmt: skip
    fma = "vfmadd213pd (%rsi,%rax), %ymm2, %ymm1"
    reload, other = "vmovupd 8(%rsp), %ymm2", "vfmadd213pd (%rsi,%rcx), %ymm2, %ymm3"
    assert found["seen"] == [
        [[fma], [reload, other]],
        [[], []],
        [1, 2, "true"],
        [0, "#p1", "false"],
    ]
    assert [sign[:1] for sign in found["signs"]] == ["~", ">", "~", ":", "|"]
    assert found["signs"][1] == ">only on the right"
    assert found["gaps"] == 1
    # Line, CP, LCD and text on both sides, the sign, and two columns of ports each.
    assert found["widths"] == [13]
    assert found["portless"] == [9]
    assert found["fill"].startswith("fill slower")
    assert "left:50%;width:50%" in found["fill"]
    assert found["first"][3:6] == ["", "", "vmovupd (%rdx,%rax), %ymm1"]


@pytest.mark.long
def test_the_heat_map_leads_from_cells_to_pairs(tmp_path: Path) -> None:
    found = ask(render(matrix(["one", "two", "three", "four"])), tmp_path, """
      const seen = [], state = () => seen.push([document.activeElement.textContent, location.hash]);
      await press("ArrowDown"); state();
      await press("ArrowRight"); await press("ArrowRight"); state();
      await press("ArrowDown"); state();
      await press("ArrowRight"); await press("ArrowRight"); await press("ArrowUp"); state();
      const tabs = document.querySelectorAll("#rows tbody [tabindex='0']").length;
      await press("ArrowDown"); document.activeElement.click(); await settle(); state();
      const builds = [...$("#builds").children].map(one => one.tagName + one.textContent + (one.ariaCurrent || ""));
      await press("Escape"); state();
      const cell = $("#rows tbody tr:nth-child(3) td:nth-child(6)"); cell.click(); await settle(); state();
      return {seen, tabs, builds, sides: [...document.querySelectorAll("#halves .letter")].map(one => one.textContent)};
    """)  # fmt: skip
    seen = found["seen"]
    assert seen[0] == ["kernel0", ""]
    assert seen[1][0] == "1.10"
    assert seen[2][0] == "2.20"
    assert seen[3][0] == "-"  # the last build has not the first kernel
    assert found["tabs"] == 1
    assert seen[4] == ["triad.c:15 in kernel1", "#p2/D"]
    assert found["builds"] == ["SPANA", "AB", "AC", "ADtrue"]
    assert seen[5][1] == ""
    assert seen[6] == ["triad.c:25 in kernel2", "#p3/C"]
    assert found["sides"] == ["A", "C"]


@pytest.mark.long
def test_of_a_kernel_that_is_alone_there_is_its_own_code(tmp_path: Path) -> None:
    made: Any = with_assembly()
    made.rows.append(row([None, made.rows[0].members[1]], [None, None]))
    found = ask(render(made), tmp_path, """
      return [$("#verdict").textContent, document.querySelectorAll("table.beside tbody tr").length,
        $("#causes").hidden,
        document.querySelectorAll("#halves section").length, $("#only-changed").parentElement.hidden];
    """, at="#p2/B")  # fmt: skip
    assert found == ["Only in B (new).", 5, True, 1, True]


@pytest.mark.long
@pytest.mark.parametrize("which", ["two", "matrix", "many"])
def test_no_fault_that_axe_knows(which: str, tmp_path: Path) -> None:
    """axe-core finds no fault of accessibility, in light and dark, in the table and in a pair."""
    made: Any = {"two": ordinary, "matrix": lambda: matrix(list("abcdefgh"), 12), "many": lambda: many(200, 60)}[
        which
    ]()
    if which == "two":
        made.rows.insert(0, with_assembly().rows[0])
        causes = made.rows[0].changes[1].causes
        causes[0] = replace(causes[0], b=[1])
        made = replace(
            made, gate=c.ComparisonGate("cycles > +5%", [c.FailingKernel(row=0, side=1, text="triad: slower")])
        )
    page = render(made)
    before = 'const button = $("#causes .cause"); if (button) button.click();'
    for at in ("", "#p1"):
        for dark in (False, True):
            assert browser.faults(page, tmp_path, at, dark, before) == [], (at, dark)
