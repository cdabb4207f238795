"""Views of the report on a run of a program with probes."""

from __future__ import annotations

from incc.report.decrement import LessWorkReport
from incc.report.runs import RunReport


def render_less_work(report: LessWorkReport, form: str, width: int, colour: bool) -> str:
    """Return a report on variants of a program as "text" or "json"."""
    if form == "json":
        from incc.views.json import render as render_json

        return render_json(report)
    from incc.views.layout import Layout, harmless
    from incc.views.running.decrement import lines

    return "".join(f"{harmless(line, colour)}\n" for line in lines(report, Layout(width, colour)))


def render(report: RunReport, form: str, width: int, colour: bool, *, top: int) -> str:
    """Return a report as "text" with at most `top` loops, or as "json" or "html" with all."""
    if form == "json":
        from incc.views.json import render as render_json

        return render_json(report)
    if form == "html":
        from incc.views.running.page import page

        return page(report)
    from incc.views.layout import Layout, harmless
    from incc.views.running.text import lines

    return "".join(f"{harmless(line, colour)}\n" for line in lines(report, Layout(width, colour), top))
