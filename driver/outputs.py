"""What an analysis writes beside its report: graphs, control flow, the timeline as a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from incc.driver.report import types as t


def render(name: str, report: t.Report) -> str:
    """The contents of the file that the option of this name (one of options.FILES) asks for.

    Raises AnalysisError where the report has nothing for it.
    """
    if name == "graph":
        from incc.driver.views.dot import render as render_graph

        return render_graph(report)
    if name == "cfg":
        from incc.driver.views.flow import render as render_flow

        return render_flow(report)
    from incc.driver.pipeline import AnalysisError
    from incc.driver.views.html import render as render_page

    try:
        return render_page(report)
    except ValueError as error:
        raise AnalysisError(str(error)) from error
