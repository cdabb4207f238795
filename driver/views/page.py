"""HTML: whole pages that need nothing beside them, and fragments for notebooks. All that stands in a report is escaped.

Pages follow the reader's choice of light or dark. Fragments take text and background from where they are put, and have
no ids, so that many may be on one page.
"""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class Html(str):
    """Text that is markup already; every other text is escaped where it becomes part of a page."""

    __slots__ = ()


class Column(msgspec.Struct, frozen=True):
    """A column of a table: its heading, whether it has numbers (they stand on the right), and what it means, for
    those who point at the heading."""

    heading: str
    number: bool = False
    meaning: str = ""


def escaped(text: str) -> Html:
    """The text as markup. Bytes that were not UTF-8 and control characters, which no page may have, become �."""
    if isinstance(text, Html):
        return text
    if not text.isprintable():
        text = "".join(
            "�" if (c < " " and c not in "\t\n") or c == "\x7f" or "\ud800" <= c <= "\udfff" else c for c in text
        )
    return Html(html.escape(text))


def element(name: str, *content: str, **attributes: str) -> Html:
    """An element with its content; attributes that are empty are left out, `class_` is the attribute class."""
    inside = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escaped(value)}"' for key, value in attributes.items() if value
    )
    return Html(f"<{name}{inside}>{''.join(escaped(part) for part in content)}</{name}>")


def script_json(value: Any) -> Html:
    """JSON that may stand in a script element: `<` could end it."""
    import json

    return Html(json.dumps(value, ensure_ascii=True, separators=(",", ":")).replace("<", "\\u003c"))


def document(title: str, style: str, body: Html, script: str = "") -> str:
    """A page of its own: no other file or address is needed, and none is asked for. `style` and `script` are taken as
    they are; colours of STYLE may be used by name."""
    # The policy holds the page to what it says of itself, whatever a name in a report should smuggle in.
    policy = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
    code = f'<script>\n"use strict";\n{script}</script>\n' if script else ""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{escaped(title)}</title>\n<style>\n{STYLE}{style}</style>\n</head>\n"
        f"<body>\n{body}\n{code}</body>\n</html>\n"
    )


STYLE = """\
:root { --text: #1a1a1a; --paper: #ffffff; --grid: #e4e4e4; --head: #f4f4f4; --muted: #666; }
@media (prefers-color-scheme: dark) { :root { --text: #e8e8e8; --paper: #1b1b1b; --grid: #333; --head: #262626;
  --muted: #aaa; } }
body { margin: 0; font: 13px/1.4 system-ui, sans-serif; color: var(--text); background: var(--paper); }
h1 { font-size: 15px; margin: 0 0 2px; overflow-wrap: anywhere; }
.muted { color: var(--muted); }
"""
"""What all pages have: colours by name for light and dark, and type."""


def fragment(*content: Html) -> str:
    """A piece for a notebook or another page, with its style; without it (where it is taken out, as on GitHub), plain
    tables are left."""
    return f'<div class="incc-report"><style>{_FRAGMENT_STYLE}</style>{"".join(content)}</div>'


# Notebooks say dark in many ways: colours are those around, more or less transparent. The selectors have two classes'
# weight or more, for notebooks have rules for tables of their own.
_FRAGMENT_STYLE = """
div.incc-report{overflow-x:auto;font-size:13px;line-height:1.4;max-width:100%}
div.incc-report table.incc-table{border-collapse:collapse;margin:4px 0;max-width:1100px;font-size:inherit;
color:inherit;border:0}
div.incc-report table.incc-table caption{caption-side:top;text-align:left;padding:4px 0;color:inherit;opacity:.75;
overflow-wrap:anywhere}
div.incc-report table.incc-table tr{background:transparent}
div.incc-report table.incc-table th,div.incc-report table.incc-table td{text-align:left;vertical-align:top;
padding:3px 10px 3px 0;border:0;white-space:normal;max-width:none;background:transparent}
div.incc-report table.incc-table thead th{font-weight:600;vertical-align:bottom;
border-bottom:1px solid color-mix(in srgb,currentColor 40%,transparent)}
div.incc-report table.incc-table .incc-number{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap;
width:1%}
div.incc-report table.incc-table td.incc-name{font-family:ui-monospace,monospace;overflow-wrap:anywhere;
min-width:16em}
div.incc-report table.incc-table .incc-place{opacity:.75;font-size:12px;overflow-wrap:anywhere}
div.incc-report table.incc-table tbody.incc-kernel+tbody.incc-kernel{
border-top:1px solid color-mix(in srgb,currentColor 15%,transparent)}
div.incc-report table.incc-table td.incc-words{padding:0 10px 6px 0;overflow-wrap:anywhere}
div.incc-report ul{margin:2px 0 0;padding-left:1.4em}
div.incc-report p{margin:4px 0;overflow-wrap:anywhere}
"""


def table(columns: Sequence[Column], bodies: Iterable[Iterable[Sequence[str]]], caption: str = "") -> Html:
    """A table of groups of rows, each group set off from the next. A row has a cell for each column; one with a single
    cell has words that go across all. Cells are escaped unless they are Html."""
    head = element("tr", *(element("th", c.heading, class_=_kind(c), title=c.meaning, scope="col") for c in columns))
    groups = [element("tbody", *(_row(columns, row) for row in rows), class_="incc-kernel") for rows in bodies]
    titled = [element("caption", caption)] if caption else []
    return element("table", *titled, element("thead", head), *groups, class_="incc-table")


def _row(columns: Sequence[Column], row: Sequence[str]) -> Html:
    if len(row) == 1 < len(columns):
        return element("tr", element("td", row[0], class_="incc-words", colspan=str(len(columns))))
    cells = (element("td", cell, class_=_kind(column)) for column, cell in zip(columns, row, strict=True))
    return element("tr", *cells)


def _kind(column: Column) -> str:
    return "incc-number" if column.number else "incc-name"
