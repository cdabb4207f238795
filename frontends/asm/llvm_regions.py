"""The regions of an assembly text as llvm-mca 19 finds them, with comments as LLVM's lexer reads them.

Markers of other tools are ignored. Places are offsets in the text. A region has the statements that begin between its
marks; regions may overlap.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence

import msgspec
from msgspec.structs import replace


class MarkedRegion(msgspec.Struct, frozen=True):
    """A region."""

    name: str
    """The name, "" for none."""
    begin: int
    """The offset of the text in its begin marker, -1 without one."""
    end: int
    """The offset of the text in its end marker, -1 for a region that extends to the end of the text."""


class Message(msgspec.Struct, frozen=True):
    """A message on the text at an offset."""

    at: int
    kind: str
    """One of "error" and "note"."""
    text: str


# Comments of x86, and strings and character constants, in which no comment begins.
_TOKENS = r"""(?s)"(?:[^"\\\n]|\\.)*"?|'(?:\\?.)'|/\*.*?\*/|//[^\r\n]*|\#[^\r\n]*"""
# The lexer reads two tokens after # at the start of a statement, which may be a preprocessor's line, and finds a
# comment that begins there; so `## LLVM-MCA-BEGIN` is a marker.
_SECOND = r"[ \t]*(?:[\w.$@]+[ \t]*)?#"
_LATENCY = r"[ \t]*LLVM-MCA-LATENCY(?:[ \t]+(\d{1,9})[ \t]*$|[ \t]|$)"
_MARKER = r"[ \t]*LLVM-MCA-(BEGIN|END)([^\0]*)"


def comments(text: str) -> Iterator[tuple[int, str]]:
    """Yield the comments that may be markers, with the offsets of their texts."""
    for token in re.finditer(_TOKENS, text):
        comment = token[0]
        if "LLVM-MCA-" not in comment or comment[0] in "\"'":
            continue
        at = token.start()
        if comment[0] == "#" or comment[1] == "/":
            # At the very end of the text the lexer takes the last character for the missing line break.
            comment = comment[:-1] if token.end() == len(text) else comment
        if comment[0] == "#":
            before = text[text.rfind("\n", 0, at) + 1 : at].rstrip()
            if before[-1:] in ("", ";", ":") and (second := re.match(_SECOND, comment[1:])):
                yield at + 1 + second.end(), comment[1 + second.end() :]
            yield at + 1, comment[1:]
        elif comment[1] == "*":
            yield at + 2, comment[2:-2]
        else:
            yield at + 2, comment[2:]


def regions(text: str) -> tuple[list[MarkedRegion], list[Message]]:
    """Return the regions in the order of their beginnings, also empty ones, and messages on wrong markers.

    A text without markers is one region. The result for the last text is cached.
    """
    last = _LAST[0]
    if last[0] != text:
        last = _LAST[0] = text, _regions(text)
    marked, messages = last[1]
    return [*marked], [*messages]


_LAST: list[tuple[str, tuple[list[MarkedRegion], list[Message]]]] = [("", ([MarkedRegion("", -1, -1)], []))]
"""The last text and its regions, which parsing, messages and headings all need."""


def _regions(text: str) -> tuple[list[MarkedRegion], list[Message]]:
    marked = [MarkedRegion("", -1, -1)]
    messages: list[Message] = []
    active: dict[str, int] = {}
    if "LLVM-MCA-" not in text:
        return marked, messages
    for at, comment in comments(text):
        marker = re.match(_MARKER, comment)
        if not marker:
            continue
        name = marker[2].lstrip(" \t") or marker[2]
        if marker[1] == "BEGIN":
            if name in active:
                again = f"region '{name}' begins" if name else "a region without a name begins"
                messages.append(Message(at, "error", f"{again} again before it ends; use different names"))
                messages.append(Message(marked[active[name]].begin, "note", "it began here"))
            elif not active and marked == [MarkedRegion("", -1, -1)]:
                marked[0] = MarkedRegion(name, at, -1)
                active[name] = 0
            else:
                active[name] = len(marked)
                marked.append(MarkedRegion(name, at, -1))
            continue
        ended = -1
        if name in active:
            ended = active.pop(name)
        elif not name and len(active) == 1:
            _, ended = active.popitem()
        elif not name and not active and marked == [MarkedRegion("", -1, -1)]:
            ended = 0
        if ended >= 0:
            marked[ended] = replace(marked[ended], end=at)
            continue
        unmatched = f"region '{name}' is not open" if name else "a name is needed unless just one region is open"
        messages.append(Message(at, "error", unmatched))
        messages.append(Message(at, "note", f"open regions: {', '.join(map(repr, [*active][:5])) or 'none'}"))
    return marked, messages


def spans(text: str, marked: Sequence[MarkedRegion]) -> list[tuple[int, int]]:
    """Return the first and the last line, 1-based, with statements of each region.

    All statements of a line with a marker count for the side of the marker where the first one is.
    """
    breaks = [each.start() for each in re.finditer("\n", text)]
    lines = []
    for region in marked:
        first, last = 1, len(breaks) + 1
        if region.begin >= 0:
            first = bisect_left(breaks, region.begin) + 1 + (not _leads(text, region.begin))
        if region.end >= 0:
            last = bisect_left(breaks, region.end) + 1 - _leads(text, region.end)
        lines.append((first, last))
    return lines


def _leads(text: str, at: int) -> bool:
    """Return True if nothing comes before a comment in its line. `at` is the offset of the comment's text."""
    return not text[text.rfind("\n", 0, at) + 1 : at].strip(" \t#/*")


def latencies(text: str) -> tuple[tuple[int, int, int], ...]:
    """Return the spans of `# LLVM-MCA-LATENCY n` in a text: first and last line with statements, and the cycles.

    Each of these comments ends the span before it; one without a number begins none.
    """
    if "LLVM-MCA-LATENCY" not in text:
        return ()
    found = [(at, match[1]) for at, comment in comments(text) if (match := re.match(_LATENCY, comment))]
    ends = [*[at for at, _ in found[1:]], -1]
    marked = [(MarkedRegion("", at, end), cycles) for (at, cycles), end in zip(found, ends, strict=True) if cycles]
    lines = spans(text, [region for region, _ in marked])
    return tuple([(first, last, int(cycles)) for (first, last), (_, cycles) in zip(lines, marked, strict=True)])


def places(text: str, offsets: Iterable[int]) -> Iterator[tuple[int, int, str]]:
    """Yield the line of each offset, its column in bytes, both counted from 1, and the text of the line."""
    breaks = [each.start() for each in re.finditer("\n", text)]
    for at in offsets:
        number = bisect_left(breaks, at)
        begin = breaks[number - 1] + 1 if number else 0
        end = breaks[number] if number < len(breaks) else len(text)
        column = len(text[begin:at].encode("utf-8", "surrogateescape")) + 1
        yield number + 1, column, text[begin:end].rstrip("\r")
