"""The frame of a page: its parts, styles and scripts are files of this folder, put into the page as they are."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING

from incc.driver.views.page import Html, document, element

if TYPE_CHECKING:
    from collections.abc import Iterable

STYLES = ("page.css", "table.css", "kernel.css", "graph.css", "timeline.css")
SCRIPTS = ("dom.js", "table.js", "bars.js", "assembly.js", "graph.js", "timeline.js", "kernel.js", "report.js")
"""In this order: each uses what stands before it."""


def part(name: str, package: str = __package__) -> Html:
    """A file of this folder, or of another package, as it is."""
    return Html(files(package).joinpath(name).read_text(encoding="utf-8"))


def report_page(title: str, tool: str, body: Html) -> str:
    """A page with the styles and the scripts of reports. `tool`: who wrote it."""
    return whole_page(title, tool, body, map(part, STYLES), map(part, SCRIPTS))


def whole_page(title: str, tool: str, body: Html, styles: Iterable[str], scripts: Iterable[str]) -> str:
    """A page of these parts, with a link for those who do not want to go through its head, and a button that has help
    (report.js and comparison.js open it)."""
    whole = (
        element("a", "Skip to the content", href="#content", class_="skip"),
        body,
        element(
            "footer", f"Written by {tool}. ", element("button", "Keys", type="button", id="help-open"), class_="page"
        ),
    )
    return document(f"{title} - incc", "".join(styles), Html("\n".join(whole)), "".join(scripts))
