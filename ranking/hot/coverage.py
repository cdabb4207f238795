"""Counts of executions, as gcov, llvm-cov and llvm-profdata print them.

gcov: https://gcc.gnu.org/onlinedocs/gcc/Invoking-Gcov.html; llvm-cov and llvm-profdata: LLVM's command guide, and
llvm/tools/llvm-cov/CoverageExporterJson.cpp for the order of numbers in regions and segments.
"""

from __future__ import annotations

import re
from typing import Any

from incc.ranking.hot.records import EXECUTIONS, HotError, HotFunction, Line, Profile, amount

_GCOV_LINE = re.compile(r"^\s*([^:\s]+):\s*(\d+):(.*)$")


def gcov(path: str, text: str) -> Profile:
    """Return the counts of gcov's annotated source.

    It shows all instances of a template together first, then each: the first counts.
    """
    lines: dict[tuple[str, int], float] = {}
    source = ""
    for row in text.split("\n"):
        entry = _GCOV_LINE.match(row)
        if entry is None:
            continue
        count, number, rest = entry[1], int(entry[2]), entry[3]
        if number == 0:
            if rest.startswith("Source:"):
                source = rest.removeprefix("Source:")
            continue
        executed = amount(count.rstrip("*"))
        if executed is not None:
            lines.setdefault((source, number), executed)
    if not source:
        raise HotError(f"{path}: not the text output of gcov, since no line names the source")
    return Profile(
        path=path,
        kind="gcov",
        unit=EXECUTIONS,
        lines=tuple(Line(file=file, line=line, executions=count) for (file, line), count in lines.items()),
    )


def gcov_json(path: str, documents: list[Any]) -> Profile:
    """Return the counts of gcov --json-format, with one object file per document.

    A line appears once for each function that it is in: for each instance of a template.
    """
    lines: list[Line] = []
    folder = ""
    try:
        for document in documents:
            own = document["current_working_directory"]
            for file in document["files"]:
                # One file may have objects of several folders.
                name = file["file"] if file["file"].startswith("/") else f"{own}/{file['file']}"
                lines += (
                    Line(
                        file=name,
                        line=int(line["line_number"]),
                        executions=float(line["count"]),
                        symbol=line.get("function_name", ""),
                    )
                    for line in file["lines"]
                )
            folder = own
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise HotError(f"{path}: not the JSON output of gcov: {_missing(error)}") from None
    return Profile(path=path, kind="gcov-json", unit=EXECUTIONS, folder=folder, lines=tuple(lines))


def _missing(error: Exception) -> str:
    return f"{error} is missing" if isinstance(error, KeyError) else str(error)


_CODE_REGION = 0


def llvm_cov(path: str, documents: list[Any]) -> Profile:
    """Return the counts of llvm-cov export.

    Functions have regions of the source, and each instance of a template its own. Without functions (-skip-functions)
    files have segments, in which instances are added up.
    """
    lines: list[Line] = []
    try:
        for document in documents:
            for export in document["data"]:
                functions = export.get("functions") or ()
                for function in functions:
                    lines += _of_regions(function)
                if not functions:
                    for file in export["files"]:
                        lines += _of_segments(file["filename"], file.get("segments", ()))
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise HotError(f"{path}: not the output of llvm-cov export: {_missing(error)}") from None
    if not lines:
        raise HotError(f"{path}: no counts; run llvm-cov export without -summary-only")
    return Profile(path=path, kind="llvm-cov", unit=EXECUTIONS, lines=tuple(lines))


def _symbol(name: str) -> str:
    """Return a function's symbol without the file that precedes the symbols of static functions."""
    return re.split(r"[:;]", name)[-1] if not name.startswith("_Z") else name


def _of_regions(function: Any) -> list[Line]:
    """Return the counts of a function's lines: the largest of the regions that begin on a line or surround it."""
    name = _symbol(function["name"])
    regions = [
        (first, column, last, end, float(count), function["filenames"][file])
        for first, column, last, end, count, file, _, kind in (region[:8] for region in function["regions"])
        if kind == _CODE_REGION
    ]
    around: dict[tuple[str, int], float] = {}
    starts: dict[tuple[str, int], float] = {}
    # Outer regions come first, so that inner ones replace their counts.
    for first, _, last, _, count, file in sorted(regions, key=lambda r: (r[0], r[1], -r[2], -r[3])):
        starts[file, first] = max(count, starts.get((file, first), 0.0))
        for line in range(first + 1, min(last, first + _LONGEST) + 1):
            around[file, line] = count
    return [
        Line(file=place[0], line=place[1], executions=max(around.get(place, 0.0), starts.get(place, 0.0)), symbol=name)
        for place in sorted(around.keys() | starts.keys())
    ]


_LONGEST = 100_000
"""The most lines of a function; a damaged file may claim more."""


def _of_segments(file: str, segments: Any) -> list[Line]:
    lines: dict[int, float] = {}
    before: tuple[int, float, bool] = (0, 0.0, False)
    for segment in segments:
        number, count, counted, entry = int(segment[0]), float(segment[2]), bool(segment[3]), bool(segment[4])
        if before[2]:
            for line in range(before[0] + 1, min(number, before[0] + _LONGEST) + 1):
                lines[line] = max(lines.get(line, 0.0), before[1])
        if counted and entry:
            lines[number] = max(lines.get(number, 0.0), count)
        before = number, count, counted
    return [Line(file=file, line=number, executions=count) for number, count in lines.items()]


_SHOWN = re.compile(r"^(\s*\|)?\s*(\d+)\|\s*([0-9.]+[kMGTPE]?)?\|")
_INSTANCE = re.compile(r"^\s*\| (\S.*):$")
_NAMED = re.compile(r"^(\S.*):$")


def llvm_cov_show(path: str, text: str) -> Profile:
    """Return the counts of llvm-cov show, which have three digits.

    It names files only if it shows several of them (or with -show-expansions …).
    """
    lines: dict[tuple[str, int, str], float] = {}
    file = instance = ""
    inside = False
    instances: set[tuple[str, int]] = set()
    for row in text.split("\n"):
        if set(row.strip()) == {"-"} and row.startswith("  "):
            instance, inside = "", False
        elif title := _INSTANCE.match(row):
            instance, inside = _symbol(title[1]), True
        elif (named := _NAMED.match(row)) and "|" not in row:
            file = named[1]
        elif shown := _SHOWN.match(row):
            count = amount(shown[3]) if shown[3] else None
            if count is None or (shown[1] and not inside):
                continue
            name = instance if shown[1] else ""
            if name:
                instances.add((file, int(shown[2])))
            lines[file, int(shown[2]), name] = count
    if not lines:
        raise HotError(f"{path}: no counts")
    if not file:
        raise HotError(f"{path}: no file name, since llvm-cov show omits it for a single file; use llvm-cov export")
    # If there are instances, their sum adds nothing.
    kept = [(place, n) for place, n in lines.items() if place[2] or place[:2] not in instances]
    return Profile(
        path=path,
        kind="llvm-cov-show",
        unit=EXECUTIONS,
        lines=tuple(Line(file=at[0], line=at[1], executions=n, symbol=at[2]) for at, n in kept),
    )


_COUNTERS = re.compile(r"^  (\S.*):$")
_ENTRY = re.compile(r"^    Function count: (\d+)")
_BLOCKS = re.compile(r"^    Block counts: \[((?:\d+(?:, \d+)*)?)\]")


def llvm_profdata(path: str, text: str) -> Profile:
    """Return the counts of llvm-profdata show --all-functions --counts.

    It does not say which block a count belongs to, so a function's largest count is taken for its innermost loops.
    """
    functions: list[HotFunction] = []
    name, entry = "", 0.0
    blocks = False
    for row in text.split("\n"):
        if match := _COUNTERS.match(row):
            name, entry = _symbol(match[1]), 0.0
        elif (match := _ENTRY.match(row)) and name:
            entry = float(match[1])
            functions.append(HotFunction(name, entry, True))
        elif (match := _BLOCKS.match(row)) and functions:
            blocks = True
            counts = [float(count) for count in match[1].split(", ") if count]
            functions[-1] = HotFunction(name, max([entry, *counts]), True)
    if not functions:
        raise HotError(f"{path}: no functions; run llvm-profdata show with --all-functions --counts")
    if not blocks:
        raise HotError(f"{path}: counts of functions, not of their loops; run llvm-profdata show with --counts")
    note = (
        "Block counts have no lines, so the largest count of a function is divided among its loops; llvm-cov export "
        "has counts by line."
    )
    return Profile(path=path, kind="llvm-profdata", unit=EXECUTIONS, functions=tuple(functions), notes=(note,))
