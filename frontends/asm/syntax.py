"""Detection of the syntax of x86 assembly, AT&T's or Intel's."""

from __future__ import annotations

import re
from typing import Literal

_DIRECTIVE = re.compile(r"^[^#\n]*?\.(?:att|intel)_syntax\b", re.M)
_REGISTER = r"(?:[re]?(?:[abcd]x|[sd]i|bp)|[re]sp|[abcd][lh]|[sd]il|[sb]pl|r(?:[89]|1[0-5])[dwb]?|[xyz]?mm\d+|st\(\d\))"
_ATT = re.compile(rf"%{_REGISTER}\b|\$-?\w")
_INTEL = re.compile(rf"(?<![%\w.$@]){_REGISTER}(?![\w$@:])|\b(?:byte|word|[dqt]word|[xyz]mmword) ptr\b")
_LABELS = re.compile(r"^(?:\s*[\w.$?@]+:)+")
_COMMENT = re.compile(r"#.*|;.*|//.*|/\*.*?(?:\*/|$)|\"[^\"]*\"")


def detect_syntax(text: str) -> Literal["att", "intel"]:
    """Return the syntax in which an assembly text begins; "att" if a directive states the syntax, or nothing does."""
    if _DIRECTIVE.search(text):
        return "att"
    att = intel = 0
    for line in text.lower().split("\n"):
        statement = _LABELS.sub("", _COMMENT.sub("", line)).strip()
        if statement.startswith("."):
            continue
        if _ATT.search(statement):
            att += 1
        elif _INTEL.search(statement):
            intel += 1
    return "intel" if intel > att else "att"
