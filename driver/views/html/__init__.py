"""The report as one self-contained HTML page: a table of the kernels that sorts and searches, and of each kernel its
verdict, bounds, ports, assembly, dependency graph and timeline. Opens offline in a browser.

What is written here is the frame of the page and the table. The parts of a kernel are drawn by the scripts beside this
file, when it is opened, from the data that `data.py` writes: a page of hundreds of kernels opens at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from incc.driver.views.html.data import kernel_data
from incc.driver.views.html.frame import part, report_page
from incc.driver.views.html.summary import left_out, summary
from incc.driver.views.layout import Layout
from incc.driver.views.page import Html, element, script_json

if TYPE_CHECKING:
    from collections.abc import Mapping

    from incc.driver.report import types as t


def render(report: t.Report, sources: Mapping[str, Mapping[int, str]] | None = None) -> str:
    """The page of a report. `sources`: lines of source files, by the names that the report has for them, to stand
    beside the instructions that come from them. Raises ValueError where there is no kernel."""
    layout = Layout(0, False)
    layout.name_files(report)
    kernels = [(unit, kernel) for unit in report["units"] for kernel in unit["kernels"]]
    if not kernels:
        raise ValueError("no kernel to show")
    data = [kernel_data(unit, kernel, layout, sources or {}) for unit, kernel in kernels]
    # Each kernel by itself: what is not opened is not read.
    scripts = [
        Html(f'<script type="application/json" id="data-{number}">{script_json(kernel)}</script>\n')
        for number, kernel in enumerate(data, 1)
    ]
    if len(kernels) == 1:
        title = data[0]["title"]
    else:
        title = f"{len(kernels)} kernels, {_inputs(report, layout)}"
    table = summary(report, layout) if len(kernels) > 1 else ""
    main = element("main", table, part("kernel.html"), left_out(report, layout), id="content")
    body = Html(main + part("help.html") + "".join(scripts))
    return report_page(title, f"{report['tool']['name']} {report['tool']['version']}", body)


def _inputs(report: t.Report, layout: Layout) -> str:
    """What was analysed, in a few words."""
    names = list(dict.fromkeys(unit["source"] or unit["assembly_file"] for unit in report["units"]))
    first = layout.file(names[0])
    return f"{first} and {len(names) - 1} more" if len(names) > 1 else first
