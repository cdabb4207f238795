"""The table of a report's kernels, as the overview of the text has it: a row each, which leads to the kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING

from incc.driver.views.html.table import Cell, Column, Row, sortable
from incc.driver.views.page import Html, element
from incc.driver.views.text import header
from incc.driver.views.text.overview import row_of

if TYPE_CHECKING:
    from incc.driver.report import types as t
    from incc.driver.views.layout import Layout


def summary(report: t.Report, layout: Layout) -> Html:
    """The table, under what was analysed and with which model."""
    units = report["units"]
    several = len({unit["source"] or unit["assembly_file"] for unit in units}) > 1
    cores = len({unit["model"]["name"] for unit in units}) > 1
    columns = (
        Column(heading="#", number=True, meaning="Number in the report"),
        Column(heading="Unit", number=False, meaning="What was compiled or given", spare=True, code=True),
        Column(heading="Core", number=False, meaning="The machine model", spare=True),
        Column(
            heading="Line", number=False, meaning="Line of the source, of the assembly where there is none", code=True
        ),
        Column(heading="Function", number=False, meaning="The function that the loop is written in", code=True),
        Column(heading="Role", number=False, meaning="What part it has in its function; nothing for the main loop"),
        Column(heading="Cycles", number=True, meaning="Predicted cycles per iteration, or the two ends of their range"),
        Column(heading="Measured", number=True, meaning="Measured cycles per iteration, where the report was made"),
        Column(heading="/elem.", number=True, meaning="Predicted cycles per element of the source's loop"),
        Column(heading="Bounds", number=False, meaning="Each relative to the prediction", spare=True, sorts=False),
        Column(heading="Bound by", number=False, meaning="What limits it"),
        Column(
            heading="Vectors",
            number=False,
            meaning="Width of its vectors, and the share of operations in them",
            spare=True,
        ),
        Column(heading="Worth a look", number=False, meaning="Rules of its hints, causes of a wide range"),
    )
    rows = []
    first = 1
    for unit in units:
        numbers = {kernel["kernel_id"]: number for number, kernel in enumerate(unit["kernels"], first)}
        for number, kernel in enumerate(unit["kernels"], first):
            place, function, role, cycles, took, each, limit, vector, look = row_of(unit, kernel, numbers, layout)
            name = unit["source"] or unit["assembly_file"]
            elements, of_host = kernel["elements"], kernel["measured"]
            cells = (
                Cell(str(number), number),
                Cell(layout.file(name) if several else ""),
                Cell(unit["model"]["name"] if cores else ""),
                Cell(place),
                Cell(element("a", function or kernel["name"], href=f"#k{number}"), function or kernel["name"]),
                Cell(role),
                Cell(cycles, kernel["cycles"]),
                Cell(took, of_host["cycles"] if of_host else None),
                Cell(each, elements["cycles"] if elements else None),
                Cell(_bounds(kernel)),
                Cell(limit),
                Cell(vector),
                Cell(look),
            )
            words = [name, kernel["function"], kernel["function_name"], kernel["label"], kernel["verdict"]]
            words += [kernel["source"]["file"]] if kernel["source"] else []
            words += [text for hint in kernel["hints"] for text in (hint["rule"], hint["text"])]
            rows.append(Row(cells, " ".join(filter(None, words))))
        first += len(unit["kernels"])
    heading = element("h1", f"{len(rows)} kernels", id="kernels-title", tabindex="-1")
    what = [element("p", text, class_="muted") for text in _inputs(report, layout)]
    caption = Html(
        'Predicted cycles per iteration of each kernel<span class="spare">, and its bounds beside them: '
        '<i class="mark port"></i>ports, <i class="mark front"></i>front end, <i class="mark chain"></i>dependencies'
        "</span>"
    )
    return element("section", heading, *what, sortable("kernels", caption, columns, rows), id="summary")


def left_out(report: t.Report, layout: Layout) -> Html:
    """What is not analysed, and why: as the text has it at its end."""
    found = []
    for unit in report["units"]:
        text = "\n".join(header.left_out(unit, layout)).strip("\n")
        if text:
            name = layout.file(unit["source"] or unit["assembly_file"])
            found.append(
                element("h3", name) + element("pre", text) if len(report["units"]) > 1 else element("pre", text)
            )
    if not found:
        return Html("")
    title = element("summary", "Not analysed, and other remarks")
    return element("section", element("details", title, *map(Html, found)), id="left-out")


def _inputs(report: t.Report, layout: Layout) -> list[str]:
    """Units, how they were compiled and for which core: those with the same compiler and core together."""
    groups: dict[str, list[str]] = {}
    for unit in report["units"]:
        compiler = f"{unit['compiler']} {unit['compiler_version']}".strip()
        with_what = f"{compiler}; {unit['model']['title']}" if compiler else unit["model"]["title"]
        groups.setdefault(with_what, []).append(layout.file(unit["source"] or unit["assembly_file"]))
    texts = []
    for with_what, names in groups.items():
        unique = list(dict.fromkeys(names))
        shown = ", ".join(unique[:4]) + (f" and {len(unique) - 4} more" if len(unique) > 4 else "")
        texts.append(f"{shown}: {with_what}")
    return texts


def _bounds(kernel: t.Kernel) -> Html:
    """Three small bars, with the numbers for those who do not see them."""
    bounds, cycles = kernel["bounds"], kernel["cycles"]
    rows = (
        ("port", "ports", max(bounds["port"]["cycles"], bounds["divider"]["cycles"])),
        ("front", "front end", max(bounds["front_end"]["cycles"], bounds["retire"]["cycles"])),
        ("chain", "dependencies", bounds["loop_carried"]["cycles"]),
    )
    text = ", ".join(f"{name} {value:.2f}" for _, name, value in rows)
    bars = "".join(
        f'<rect class="{kind}" y="{4 * n}" width="{44 * min(value / cycles, 1) if cycles else 0:.1f}" height="3"/>'
        for n, (kind, _, value) in enumerate(rows)
    )
    return Html(
        f'<svg class="spark" viewBox="0 0 44 11" role="img" aria-label="{text}"><title>{text}</title>'
        f'<rect class="room" width="44" height="11"/>{bars}</svg>'
    )
