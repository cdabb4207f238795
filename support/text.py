"""Characters of foreign texts, such as the names of files and symbols, that must not reach a terminal or a viewer."""

from __future__ import annotations

import re
from typing import Annotated

import msgspec

CONTROLS = {
    **{code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160))},
    **{code: f"\\u{code:04x}" for code in (*range(0x2028, 0x202F), *range(0x2066, 0x206A))},
    9: " ",
    10: "\\n",
    13: "\\r",
}
"""The characters that move the cursor, break lines or turn the direction of text, each as it is written out."""

_WITHIN_LINES = {code: text for code, text in CONTROLS.items() if chr(code) not in "\t\n\r"}

_CONTROL = "".join([f"\\u{code:04x}" for code in _WITHIN_LINES])

Printable = Annotated[str, msgspec.Meta(pattern=rf"^[^{_CONTROL}]*\Z")]
"""The type of texts in files that must not have such characters, except for tabs and line breaks."""


def written_out(text: str) -> str:
    """Return a text with its control characters written out, except for tabs and line breaks."""
    return text if text.isprintable() else text.translate(_WITHIN_LINES)


def without_surrogates(text: str) -> str:
    """Return text with each byte that is not UTF-8, which names of files may have, replaced by U+FFFD."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


_SURROGATE = re.compile("[\ud800-\udfff]")
