"""The regions of an assembly text as llvm-mca 19 finds them: comments as LLVM's lexer sees them, and its rules for what
they begin and end.

Markers of other tools are nothing here. Places are offsets in the text; a region has the statements that begin between
its marks, so that regions may overlap.
"""

from __future__ import annotations

from bisect import bisect_left

from incc.frontends import regex as re
from incc.frontends.records import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence


class Marked(NamedTuple):
    """A region: its name, "" for none, and the offsets of its marks' texts; `begin` is -1 for the region that no marker
    begins, `end` for one that goes to the end of the text."""

    name: str
    begin: int
    end: int


class Message(NamedTuple):
    """What is said of the text at an offset; `kind`: error or note."""

    at: int
    kind: str
    text: str


# What a comment may begin in, or a comment: strings, character constants, and comments' signs of x86.
_TOKENS = r"""(?s)"(?:[^"\\\n]|\\.)*"?|'(?:\\?.)'|/\*.*?\*/|//[^\r\n]*|\#[^\r\n]*"""
# The lexer looks at two tokens behind # at the start of a statement, which may be lines of a preprocessor, and meets a
# comment that begins there; so `## LLVM-MCA-BEGIN` is a marker.
_SECOND = r"[ \t]*(?:[\w.$@]+[ \t]*)?#"
_MARKER = r"[ \t]*LLVM-MCA-(BEGIN|END)([^\0]*)"


def comments(text: str) -> Iterator[tuple[int, str]]:
    """The comments that may be markers, with the offsets of their texts."""
    for token in re.finditer(_TOKENS, text):
        said = token[0]
        if "LLVM-MCA-" not in said or said[0] in "\"'":
            continue
        at = token.start()
        if said[0] == "#" or said[1] == "/":
            # At the very end of the text the lexer takes the last character for the line break that is missing.
            said = said[:-1] if token.end() == len(text) else said
        if said[0] == "#":
            if _starts_statement(text, at) and (second := re.match(_SECOND, said[1:])):
                yield at + 1 + second.end(), said[1 + second.end() :]
            yield at + 1, said[1:]
        elif said[1] == "*":
            yield at + 2, said[2:-2]
        else:
            yield at + 2, said[2:]


def _starts_statement(text: str, at: int) -> bool:
    before = text[text.rfind("\n", 0, at) + 1 : at].rstrip()
    return not before or before[-1] in ";:"


def regions(text: str) -> tuple[list[Marked], list[Message]]:
    """The regions in the order of their beginnings, empty ones too, and what is wrong with the markers. A text without
    markers is one region. Of the same text they are found once."""
    last = _LAST[0]
    if last[0] != text:
        last = _LAST[0] = text, _regions(text)
    found, messages = last[1]
    return [*found], [*messages]


_LAST: list[tuple[str, tuple[list[Marked], list[Message]]]] = [("", ([Marked("", -1, -1)], []))]
"""The text that was read last, and what was found: parsing, messages and headings all ask."""


def _regions(text: str) -> tuple[list[Marked], list[Message]]:
    found = [Marked("", -1, -1)]
    messages: list[Message] = []
    active: dict[str, int] = {}
    if "LLVM-MCA-" not in text:
        return found, messages
    for at, comment in comments(text):
        marker = re.match(_MARKER, comment)
        if not marker:
            continue
        name = marker[2].lstrip(" \t") or marker[2]
        if marker[1] == "BEGIN":
            if name in active:
                again = f"region '{name}' begins" if name else "a region without a name begins"
                messages.append(Message(at, "error", f"{again} again before it ends; use different names"))
                messages.append(Message(found[active[name]].begin, "note", "it began here"))
            elif not active and found == [Marked("", -1, -1)]:
                found[0] = Marked(name, at, -1)
                active[name] = 0
            else:
                active[name] = len(found)
                found.append(Marked(name, at, -1))
            continue
        ended = -1
        if name in active:
            ended = active.pop(name)
        elif not name and len(active) == 1:
            _, ended = active.popitem()
        elif not name and not active and found == [Marked("", -1, -1)]:
            ended = 0
        if ended >= 0:
            found[ended] = found[ended]._replace(end=at)
            continue
        unmatched = f"region '{name}' is not open" if name else "a name is needed unless just one region is open"
        messages.append(Message(at, "error", unmatched))
        messages.append(Message(at, "note", f"open regions: {', '.join(map(repr, [*active][:5])) or 'none'}"))
    return found, messages


def spans(text: str, found: Sequence[Marked]) -> list[tuple[int, int]]:
    """The first and the last line, 1-based, with statements of each region. Where a marker stands among the statements
    of a line, they are all taken to be on that side where the first one is."""
    breaks = [each.start() for each in re.finditer("\n", text)]
    lines = []
    for region in found:
        first, last = 1, len(breaks) + 1
        if region.begin >= 0:
            first = bisect_left(breaks, region.begin) + 1 + (not _leads(text, region.begin))
        if region.end >= 0:
            last = bisect_left(breaks, region.end) + 1 - _leads(text, region.end)
        lines.append((first, last))
    return lines


def _leads(text: str, at: int) -> bool:
    """Whether a comment whose text begins there is the first thing in its line."""
    return not text[text.rfind("\n", 0, at) + 1 : at].strip(" \t#/*")


def places(text: str, offsets: Iterable[int]) -> Iterator[tuple[int, int, str]]:
    """Yield the line of each offset, its column in bytes, both counted from 1, and the text of the line."""
    breaks = [each.start() for each in re.finditer("\n", text)]
    for at in offsets:
        number = bisect_left(breaks, at)
        begin = breaks[number - 1] + 1 if number else 0
        end = breaks[number] if number < len(breaks) else len(text)
        column = len(text[begin:at].encode("utf-8", "surrogateescape")) + 1
        yield number + 1, column, text[begin:end].rstrip("\r")
