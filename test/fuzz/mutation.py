"""Changes to valid input, as strategies: the fewer there are, the simpler is the example."""

from __future__ import annotations

import json
from collections.abc import Sequence
from copy import deepcopy
from typing import Any

from hypothesis import strategies as st

LONGEST = 1_500_000

NUMBERS = (0, 1, -1, 1 << 31, (1 << 31) - 1, 1 << 20, 1 << 63, (1 << 63) - 1, 0xFFFF, 0xFF00, 64, 40, 24)
"""Numbers that sizes, counts and offsets in binary files are seldom prepared for."""

TEXTS = ("", "x", "\x1b[31m", "\x9b2J", "\u202eabc", "<script>alert(1)</script>", "=1+1", "../x", "a\nb", "9" * 5000)
"""Texts with power over a terminal, a page, a spreadsheet or a path."""

JSON_VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 1e308, 10**30, -(10**19), "\udcff", [], {}, [[]], {"": {}}, ["x"] * 3, 0.1, *TEXTS,
)  # fmt: skip


def _few(most: int) -> st.SearchStrategy[int]:
    """Return a number of changes, mostly small: what is damaged in many places fails at the first of them."""
    return st.sampled_from((0, 1, 1, 1, 2, 3, most))


@st.composite
def changed_text(draw: st.DrawFn, data: bytes, pieces: Sequence[bytes] = (), most: int = 8) -> bytes:
    """Return a text with up to `most` changes: bytes, lines and pieces changed, doubled, dropped and moved."""
    text = bytearray(data)
    pieces = (*pieces, b"\x00", b"\xff\xfe", b"\xf0\x9f\x98\x80", b"\r\n", b"\x1b[2J", b'"', b"'", b"\\")
    for _ in range(draw(_few(most))):
        at = draw(st.integers(0, len(text)))
        end = min(len(text), at + draw(st.sampled_from((1, 2, 4, 16, 200))))
        kind = draw(st.sampled_from(("drop", "byte", "piece", "double", "copy", "line", "cut")))
        if kind == "drop":
            del text[at:end]
        elif kind == "byte":
            text[at:end] = bytes([draw(st.integers(0, 255))])
        elif kind == "piece":
            text[at:at] = draw(st.sampled_from(pieces))
        elif kind == "double":
            text[at:at] = text[at:end] * draw(st.sampled_from((1, 3, 50)))
        elif kind == "copy":
            other = draw(st.integers(0, len(text)))
            text[other:other] = text[at:end]
        elif kind == "line":
            lines = bytes(text).split(b"\n")
            line = lines.pop(draw(st.integers(0, len(lines) - 1)))
            lines.insert(draw(st.integers(0, len(lines))), line)
            text = bytearray(b"\n".join(lines))
        elif draw(st.booleans()):
            del text[at:]
        del text[LONGEST:]
    return bytes(text)


@st.composite
def changed_binary(draw: st.DrawFn, data: bytes, fields: Sequence[tuple[int, int]] = (), most: int = 10) -> bytes:
    """Return a binary file with up to `most` changes, half of them in its `fields`: offsets and widths of numbers."""
    text = bytearray(data)
    for _ in range(draw(_few(most))):
        if not text:
            break
        if fields and draw(st.booleans()):
            at, width = draw(st.sampled_from(fields))
        else:
            # Headers have more to go wrong than what they stand before.
            last = draw(st.sampled_from((len(text) - 1, min(len(text), 64) - 1)))
            at, width = draw(st.integers(0, last)), draw(st.sampled_from((1, 2, 4, 8)))
        kind = draw(st.sampled_from(("number", "any", "bit", "copy", "cut")))
        if at + width > len(text):
            continue
        if kind == "number":
            number = draw(st.sampled_from(NUMBERS)) & (1 << 8 * width) - 1
            text[at : at + width] = number.to_bytes(width, "little")
        elif kind == "any":
            text[at : at + width] = draw(st.binary(min_size=width, max_size=width))
        elif kind == "bit":
            text[at] ^= 1 << draw(st.integers(0, 7))
        elif kind == "copy":
            length = draw(st.sampled_from((1, 4, 8, 24, 64)))
            other = draw(st.integers(0, len(text) - 1))
            text[other : other + length] = text[at : at + length]
        elif draw(st.integers(0, 3)) == 3:
            del text[at:]
    return bytes(text)


@st.composite
def changed_document(draw: st.DrawFn, document: Any, most: int = 4) -> Any:
    """Return a document of lists, dictionaries and values with up to `most` changes. Changes it in place."""
    for _ in range(draw(_few(most))):
        at = document
        while keys := list(at) if isinstance(at, dict) else list(range(len(at))):
            key = draw(st.sampled_from(keys))
            if isinstance(at[key], (dict, list)) and draw(st.integers(0, 9)):
                at = at[key]
                continue
            kind = draw(st.sampled_from(("value", "value", "drop", "double", "key")))
            if kind == "value":
                at[key] = deepcopy(draw(st.sampled_from(JSON_VALUES)))
            elif kind == "drop":
                del at[key]
            elif isinstance(at, list):
                at.append(deepcopy(at[key]))
            else:
                at[draw(st.sampled_from(TEXTS))] = deepcopy(at[key])
            break
    return document


@st.composite
def changed_json(draw: st.DrawFn, data: bytes) -> bytes:
    """Return JSON with changes to its document, or now and then to its text."""
    if draw(st.integers(0, 3)) == 3:
        return draw(changed_text(data, (b"{", b"}", b"[", b"null", b"1e999", b"NaN", b"[" * 10_000)))
    text = json.dumps(draw(changed_document(json.loads(data))))
    return text.replace("1e+308", draw(st.sampled_from(("1e308", "NaN", "Infinity", "1e999")))).encode()
