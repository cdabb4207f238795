"""Pages in headless Chromium: what became of them, and what axe-core finds in them."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

AXE = [f"{folder}/axe-core/axe.min.js" for folder in ("/usr/local/lib/node_modules", "/usr/lib/node_modules")]
"""Where `npm install --global axe-core` puts it."""


class Dom(HTMLParser):
    """The page as it stands after its scripts have run: rows with their bars, arrows, and the words below."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.rows: list[dict[str, Any]] = []
        self.arrows: list[dict[str, str]] = []
        self.words = ""
        self.title = ""
        self.found: str | None = None
        self._in = ""
        self._in_chart = False
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        has = {key: value or "" for key, value in attributes}
        classes = has.get("class", "").split()
        if "row" in classes:
            self.rows.append({**has, "classes": classes, "hidden": "hidden" in has, "bars": {}})
        elif "bar" in classes and "data-cycles" in has and "lane" not in classes:
            first, last = has["data-cycles"].split("-")
            self.rows[-1]["bars"][classes[1]] = (int(first), int(last))
        elif tag == "g" and "data-from" in has and self._in_chart:
            self.arrows.append({**has, "label": ""})
        elif tag == "html":
            self.found = has.get("data-found")
        elif has.get("id") in ("detail", "title"):
            self._in = has["id"]
        if tag == "text" and self.arrows and "x" in has:
            self._in = "label" if self._in_chart else ""
        if has.get("id") in ("chart", "help"):
            self._in_chart = has["id"] == "chart"

    def handle_endtag(self, tag: str) -> None:
        if tag in ("div", "h1", "text"):
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


def browse(page: str, folder: Path, action: str = "", at: str = "", library: str = "", dark: bool = False) -> Dom:
    """Open the page in a browser, do something as a script, and look at what came of it."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if not chromium:
        pytest.skip("no chromium")
    # What goes wrong in the page's own script is an error here.
    watch = "<script>addEventListener('error', e => document.documentElement.dataset.error = e.message);</script>"
    file = folder / "page.html"
    page = page.replace("<body>", f"<body>{watch}", 1)
    file.write_text(
        page.replace("</body>", f"<script>{library}</script><script>{action}</script></body>"), encoding="utf-8"
    )
    colours = ["--blink-settings=preferredColorScheme=0"] if dark else []
    done = subprocess.run(
        [chromium, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder / 'profile'}",
         "--window-size=1200,800", "--virtual-time-budget=60000", *colours, "--dump-dom", file.as_uri() + at],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    error = re.search(r'<html[^>]* data-error="([^"]*)"', done.stdout)
    assert not error, error[1] if error else ""
    return Dom(done.stdout)


def ask(page: str, folder: Path, steps: str, table: str, *, at: str = "", library: str = "", dark: bool = False) -> Any:
    """Do `steps` as the body of an async function in the page, where `press(key)` presses a key wherever the focus is
    and `settle()` waits until the page has followed; what they return. `names()` are the rows of `table` that are
    shown, `type(text)` goes into its search."""
    action = """
      const settle = () => new Promise(done => setTimeout(done, 20));
      const press = async key => {
        document.activeElement.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true, cancelable: true}));
        await settle();
      };
      const $ = selector => document.querySelector(selector);
      const names = () => [...document.querySelectorAll("#TABLE tbody tr")].filter(row => !row.hidden)
        .map(row => row.querySelector("a").textContent);
      const type = async text => { $("#TABLE-search").value = text;
        $("#TABLE-search").dispatchEvent(new Event("input")); await settle(); };
      (async () => { STEPS })().then(
        found => { document.documentElement.dataset.found = JSON.stringify(found === undefined ? null : found); },
        error => { document.documentElement.dataset.error = String(error); });
    """
    dom = browse(page, folder, action.replace("TABLE", table).replace("STEPS", steps), at, library, dark)
    assert dom.found is not None, "the steps came to no end"
    return json.loads(dom.found)


def axe_core() -> str:
    """The script of axe-core. Skips without it."""
    axe = next(filter(os.path.isfile, (os.environ.get("AXE_CORE", ""), *AXE)), None)
    if not axe:
        pytest.skip("no axe-core")
    return Path(axe).read_text(encoding="utf-8")


def faults(page: str, folder: Path, at: str, dark: bool, before: str = "") -> Any:
    """The faults of accessibility that axe-core finds, after steps `before`: rules, with where they are broken."""
    library = axe_core()
    steps = """
      const found = await axe.run(document, {resultTypes: ["violations"]});
      return found.violations.map(v => [v.id, v.nodes.slice(0, 3).map(node => node.target + node.failureSummary)]);
    """
    return ask(page, folder, before + steps, "none", at=at, library=library, dark=dark)
