"""Markdown for comments on GitHub.

Names in reports are anybody's text: they are printed as code, or with everything escaped that Markdown, HTML and GitHub
interpret.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from incc.views.layout import harmless

LIMIT = 65_536
"""Characters that GitHub accepts in a comment."""

_BREAK = "\u200b"
"""A blank of no width, which keeps mentions and references from being links."""

_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
_HTML = str.maketrans({**_ENTITIES, "#": f"#{_BREAK}", "`": "&#96;"})
_INLINE = str.maketrans(
    _ENTITIES
    | {x: f"\\{x}" for x in "*_[]~$"}
    | {"#": f"\\#{_BREAK}"}
    # A backslash does not always escape these: in a table, it does not after another backslash.
    | {x: f"&#{ord(x)};" for x in "\\|`"}
)
# Lists and underlines of headings begin like this.
_START = re.compile(r"^([0-9]*)([-=]|[+.)](?=\s|$))")


def prose(text: str) -> str:
    """Return a paragraph in which nothing is Markdown, HTML, a mention, a reference or a link."""
    return _START.sub(r"\1\\\2", inline(text))


def inline(text: str) -> str:
    """Return text for the middle of a line or a cell of a table, in which nothing is interpreted."""
    return _unlinked(_line_of(text).strip().translate(_INLINE))


def html(text: str) -> str:
    """Return text for an HTML element within Markdown."""
    return _unlinked(_line_of(text).translate(_HTML))


def code(text: str) -> str:
    """Return text as code."""
    line = _line_of(text)
    if not line.strip():
        return ""
    # Nothing can be escaped between backticks.
    return f"<code>{prose(line)}</code>" if any(x in line for x in "\\|`") else f"`{line}`"


def code_block(lines: Sequence[str], language: str) -> str:
    """Return lines as a block of code."""
    texts = [_line_of(line) for line in lines]
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", "\n".join(texts))), default=0))
    return "\n".join((f"{fence}{language}", *texts, fence))


def bullets(texts: Sequence[str], most: int) -> list[str]:
    """Return a list of texts as lines, at most `most` of them, with the number of the others."""
    more = [f"- and {len(texts) - most} more"] if len(texts) > most else []
    return [f"- {prose(text)}" for text in texts[:most]] + more


def details(name: str, rest: str, body: str) -> str:
    """Return a part to open, with a title of a name in code and further text."""
    return f"<details><summary><code>{html(name)}</code> {html(rest)}</summary>\n\n{body}\n\n</details>"


def cut(text: str, limit: int) -> str:
    """Return as many whole lines of a text as `limit` characters have room for, and a note if some are missing."""
    if len(text) <= limit:
        return text
    return text[: text.rfind("\n", 0, limit - 100) + 1] + "\nThe rest exceeds the size of a comment.\n"


def _unlinked(text: str) -> str:
    return text.replace("@", f"@{_BREAK}").replace("://", f":{_BREAK}//").replace("www.", f"www{_BREAK}.")


def _line_of(text: str) -> str:
    """Return a text in one line, without control characters, that can be encoded."""
    return harmless(text.replace("\n", " ").replace("\r", " "), False).encode("utf-8", "replace").decode()
