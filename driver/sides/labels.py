"""What the sides of a comparison are called: short, and each another name."""

from __future__ import annotations

import os
from string import ascii_uppercase
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_ENDINGS = frozenset((".json", ".jsonl", ".db", ".sqlite", ".s", ".S", ".asm", ".o", ".obj", ".a", ".so", ".dll"))


def labels(names: Sequence[str]) -> list[str]:
    """A label for each of the names of inputs: the file's stem, where these are alike what is different of their paths,
    and letters where whole names are alike.

    "old/report.json" and "new/report.json" are old and new.
    """
    paths = [_parts(name) for name in names]
    if len(set(map(tuple, paths))) == len(paths):
        found = [path[-1] for path in paths]
        if _distinct(found):
            return found
        # A part of all paths at the same height, counted from their ends; then ever more of their ends.
        longest = max(map(len, paths))
        for back in range(2, longest + 1):
            found = [path[-back] if back <= len(path) else "" for path in paths]
            if _distinct(found):
                return found
        for count in range(2, longest + 1):
            found = ["/".join(path[-count:]) for path in paths]
            if _distinct(found):
                return _without_common_end(found)
    return letters(len(names))


def letters(count: int) -> list[str]:
    """A, B, C …, and behind Z numbers."""
    return [ascii_uppercase[n] if n < len(ascii_uppercase) else str(n + 1) for n in range(count)]


def distinct(found: Sequence[str]) -> list[str]:
    """The same with numbers behind those that were there before."""
    taken: set[str] = set()
    result = []
    for label in found:
        name, again = label, 1
        while name in taken:
            again += 1
            name = f"{label} ({again})"
        taken.add(name)
        result.append(name)
    return result


def _distinct(found: Sequence[str]) -> bool:
    return all(found) and len(set(found)) == len(found)


def _parts(name: str) -> list[str]:
    """The parts of a path, made fit for a line of text, the last one without the ending of its kind of file."""
    if name == "-":
        return ["stdin"]
    printable = "".join(c if c.isprintable() else "?" for c in name)
    parts = [part for part in os.path.normpath(printable).split("/") if part not in ("", ".")] or ["/"]
    file, at, baseline = parts[-1].partition("@")
    stem, ending = os.path.splitext(file)
    if stem and ending in _ENDINGS:
        file = stem
    # What a baseline is called says more than the database that it is in.
    return [*parts[:-1], file, baseline] if at and baseline else [*parts[:-1], file]


def _without_common_end(found: Sequence[str]) -> list[str]:
    """Without the part at their ends that all have, as long as they stay what they are."""
    paths = [label.split("/") for label in found]
    while all(len(path) > 1 for path in paths) and len({path[-1] for path in paths}) == 1:
        for path in paths:
            path.pop()
    return ["/".join(path) for path in paths]
