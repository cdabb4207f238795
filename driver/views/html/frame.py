"""The frame of a page: its parts, styles and scripts are files of this folder, put into the page as they are."""

from __future__ import annotations

from importlib.resources import files

from incc.driver.views.page import Html, document, element

STYLES = ("page.css", "table.css", "kernel.css", "graph.css", "timeline.css")
SCRIPTS = ("dom.js", "table.js", "bars.js", "assembly.js", "graph.js", "timeline.js", "kernel.js", "report.js")
"""In this order: each uses what stands before it."""


def part(name: str) -> Html:
    """A file of this folder as it is."""
    return Html(files(__package__).joinpath(name).read_text(encoding="utf-8"))


def report_page(title: str, tool: str, body: Html) -> str:
    """A page with the styles and the scripts of reports. `tool`: who wrote it."""
    whole = (
        element("a", "Skip to the content", href="#content", class_="skip"),
        body,
        element(
            "footer", f"Written by {tool}. ", element("button", "Keys", type="button", id="help-open"), class_="page"
        ),
    )
    return document(f"{title} - incc", "".join(map(part, STYLES)), Html("\n".join(whole)), "".join(map(part, SCRIPTS)))
