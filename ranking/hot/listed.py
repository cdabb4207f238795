"""Handwritten lists: lines of `FILE:LINE AMOUNT` or `FUNCTION AMOUNT`.

The amounts are executions, or all of them percentages of the time.
"""

from __future__ import annotations

import re

from incc.ranking.hot.records import EXECUTIONS, SAMPLES, HotError, HotFunction, Line, Profile, Sample, amount

ENTRY = re.compile(r"^\s*(\S.*?)[\s,]+([0-9][0-9.]*[kKMGTPE]?)\s*(%?)\s*(?:#.*)?$")
_PLACE = re.compile(r"^(.+):([0-9]{1,9})$")


def listed(path: str, text: str) -> Profile:
    """Return the amounts of a list. Raises HotError with the line that has none."""
    lines: list[Line] = []
    samples: list[Sample] = []
    functions: list[HotFunction] = []
    percent: bool | None = None
    total = 0.0
    for number, row in enumerate(text.split("\n"), 1):
        if not row.strip() or row.lstrip().startswith("#"):
            continue
        match = ENTRY.match(row)
        value = amount(match[2]) if match else None
        if match is None or value is None:
            raise HotError(f"{path}:{number}: expected FILE:LINE AMOUNT or FUNCTION AMOUNT, found {row.strip()[:60]!r}")
        if percent is not None and percent != bool(match[3]):
            raise HotError(f"{path}:{number}: percentages of the time and counts of executions cannot be mixed")
        percent = bool(match[3])
        total += value
        place = _PLACE.match(match[1])
        if percent and place:
            samples.append(Sample(symbol="", amount=value, offset=-1, file=place[1], line=int(place[2])))
        elif place:
            lines.append(Line(file=place[1], line=int(place[2]), executions=value))
        else:
            functions.append(HotFunction(match[1], value, not percent))
    if percent is None:
        raise HotError(f"{path}: no data, only comments")
    if percent and total > 100.5:
        raise HotError(f"{path}: the percentages add up to {total:.0f} %, more than the whole time")
    rest = max(100 - total, 0.0) if percent else 0.0
    unit = SAMPLES if percent else EXECUTIONS
    return Profile(
        path=path,
        kind="list",
        unit=unit,
        folder="",
        lines=tuple(lines),
        functions=tuple(functions),
        samples=tuple(samples),
        elsewhere=rest,
    )
