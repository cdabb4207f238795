"""Short, distinct labels for the sides of a comparison."""

from __future__ import annotations

import os
from collections.abc import Sequence
from string import ascii_uppercase

from incc.report.documents import printable

_ENDINGS = frozenset(
    (".json", ".jsonl", ".db", ".sqlite", ".s", ".S", ".asm", ".cod", ".o", ".obj", ".a", ".so", ".dll")
)


def labels(names: Sequence[str]) -> list[str]:
    """Return a label for each input: the file's stem, else the part of the path that differs, else a letter.

    "old/report.json" and "new/report.json" become old and new.
    """
    paths = [_parts(name) for name in names]
    if len(set(map(tuple, paths))) == len(paths):
        if _are_distinct(stems := [path[-1] for path in paths]):
            return stems
        # One part of all paths, counted from their ends; then ever longer ends.
        longest = max(map(len, paths))
        for back in range(2, longest + 1):
            if _are_distinct(parts := [path[-back] if back <= len(path) else "" for path in paths]):
                return parts
        for count in range(2, longest + 1):
            if _are_distinct(ends := ["/".join(path[-count:]) for path in paths]):
                return _without_common_end(ends)
    return letters(len(names))


def letters(count: int) -> list[str]:
    """Return A, B, C …, and numbers after Z."""
    return [ascii_uppercase[n] if n < len(ascii_uppercase) else str(n + 1) for n in range(count)]


def distinct(names: Sequence[str]) -> list[str]:
    """Return the names with numbers appended to repeated ones."""
    taken: set[str] = set()
    result = []
    for label in names:
        name, again = label, 1
        while name in taken:
            again += 1
            name = f"{label} ({again})"
        taken.add(name)
        result.append(name)
    return result


def _are_distinct(names: Sequence[str]) -> bool:
    return all(names) and len(set(names)) == len(names)


def _parts(name: str) -> list[str]:
    """Split a path into printable parts, the last one without its ending."""
    if name == "-":
        return ["stdin"]
    parts = [part for part in os.path.normpath(printable(name)).split("/") if part not in ("", ".")] or ["/"]
    file, at, baseline = parts[-1].partition("@")
    stem, ending = os.path.splitext(file)
    if stem and ending in _ENDINGS:
        file = stem
    # The name of a baseline says more than that of its database.
    return [*parts[:-1], file, baseline] if at and baseline else [*parts[:-1], file]


def _without_common_end(names: Sequence[str]) -> list[str]:
    """Remove the last parts that all paths share."""
    paths = [name.split("/") for name in names]
    while all(len(path) > 1 for path in paths) and len({path[-1] for path in paths}) == 1:
        for path in paths:
            path.pop()
    return ["/".join(path) for path in paths]
