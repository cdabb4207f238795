"""Lists of line numbers in words."""

from __future__ import annotations

from collections.abc import Iterable


def line_list(lines: Iterable[int]) -> str:
    """Return "line 4" or "lines 12-15, 20"."""
    spans: list[list[int]] = []
    for line in sorted(set(lines)):
        if spans and line == spans[-1][1] + 1:
            spans[-1][1] = line
        else:
            spans.append([line, line])
    text = ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in spans)
    return ("line " if len(spans) == 1 and spans[0][0] == spans[0][1] else "lines ") + text
