"""Messages on input that was not analysed: file and line and, for a given text, column, line and a caret."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from incc.frontends.asm.regions import EMPTY_REGION
from incc.report import types as t


class Problem(msgspec.Struct, frozen=True, kw_only=True, order=True):
    """A part of the input that was not analysed."""

    file: str
    line: int
    """The line from 1; 0 if unknown."""
    kind: str
    """"error" or "warning"."""
    text: str
    statement: str = ""
    """The statement as the source writes it; empty if there is none."""
    harmless: bool = False
    """True if the part is empty."""


def problems(report: t.AnalysisReport) -> list[str]:
    """Return one line for each of `found_problems`."""
    return [f"{_place(each)}: {each.kind}: {each.text}" for each in found_problems(report)]


def found_problems(report: t.AnalysisReport) -> list[Problem]:
    """Return rejected statements, and loops and marked spans that were left out, by unit and line.

    Each occurs once. Empty marked spans are harmless if the unit has kernels.
    """
    result: list[Problem] = []
    for unit in report.units:
        file = unit.assembly_file
        refused = [item for kernel in unit.kernels for item in kernel.refused]
        refused += [item for loop in unit.ways or () for way in loop.ways for item in way.refused]
        of_unit = {
            Problem(file=file, line=item.line, kind="error", text=item.message, statement=item.text) for item in refused
        }
        for item in unit.left_out:
            text = f"not analysed: {item.reason}"
            harmless = item.reason == EMPTY_REGION and bool(unit.kernels)
            of_unit.add(Problem(file=file, line=item.first_line, kind="warning", text=text, harmless=harmless))
        result += sorted(of_unit)
    return result


LONGEST_LINE = 10_000
"""The most characters of a line that is shown. Programs write longer lines, which each of many messages would
repeat."""


def shown(problem: Problem, lines: Sequence[str]) -> str:
    """Return a problem as compilers show it, without a line break at the end. `lines` are those of its file."""
    if not 0 < problem.line <= len(lines):
        return f"{_place(problem)}: {problem.kind}: {problem.text}"
    line = lines[problem.line - 1].rstrip("\r")
    words = problem.statement.split(None, 1)
    start = max(line.find(words[0]) if words else len(line) - len(line.lstrip()), 0)
    # A message on an operand begins with it.
    operand = re.match(r"'([^']+)'", problem.text) if problem.kind == "error" else None
    if operand and (at := line.find(operand[1], start)) > start:
        start = at
    before = line[:start]
    column = len(before.encode("utf-8", "surrogateescape")) + 1
    return message(_place(problem), column, problem.kind, problem.text, line)


def message(place: str, column: int, kind: str, text: str, source: str) -> str:
    """Return a message with its source line, and a caret below the column, which counts bytes from 1.

    Tabs reach to the next multiple of 8. Lines longer than LONGEST_LINE are left out.
    """
    head = f"{place}:{column}: {kind}: {text}"
    if len(source) > LONGEST_LINE:
        return head
    before = source.encode("utf-8", "surrogateescape")[: column - 1].decode("utf-8", "replace")
    return f"{head}\n{source.expandtabs(8)}\n{' ' * len(before.expandtabs(8))}^"


def _place(problem: Problem) -> str:
    return f"{problem.file}:{problem.line}" if problem.line else problem.file
