"""The report as LLVM's optimisation remarks, for opt-viewer and editors: the YAML of `-fsave-optimization-record`.

Kernels are analyses of the pass `incc`, hints are missed optimisations.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from incc.report import types as t
from incc.views.exchange.diagnostics import headline, place


def render(report: t.AnalysisReport) -> str:
    """Return a YAML document for each remark."""
    return "".join(f"{line}\n" for unit in report.units for kernel in unit.kernels for line in _of(unit, kernel))


def _of(unit: t.UnitReport, kernel: t.KernelReport) -> Iterator[str]:
    where = place(unit, kernel)
    function = kernel.function or kernel.name
    cycles = f"{kernel.cycles:.2f}"
    before, _, after = headline(unit, kernel).partition(cycles)
    parts = [("String", before)] * bool(before) + [("Cycles", cycles), ("String", after)]
    yield from _document("Analysis", "Cycles", where, function, parts)
    yield from _document("Analysis", "Verdict", where, function, [("String", kernel.verdict)])
    for hint in kernel.hints:
        name = "".join(word.capitalize() for word in hint.rule.split("-"))
        yield from _document("Missed", name, where, function, [("String", hint.text)])
    for mark in unit.marks:
        for expectation in mark.expectations:
            if not expectation.holds and expectation.kernel_id == kernel.kernel_id:
                yield from _document("Failure", "Expectation", where, function, [("String", expectation.text)])


def _document(
    tag: str, name: str, where: tuple[str, int, int], function: str, arguments: Sequence[tuple[str, str]]
) -> Iterator[str]:
    file, line, column = where
    yield f"--- !{tag}"
    yield "Pass:            incc"
    yield f"Name:            {name}"
    if line:
        yield f"DebugLoc:        {{ File: {_quoted(file)}, Line: {line}, Column: {column} }}"
    yield f"Function:        {_quoted(function)}"
    yield "Args:"
    for key, text in arguments:
        yield f"  - {key + ':':<16} {_quoted(text)}"
    yield "..."


def _quoted(text: str) -> str:
    """Return a scalar as LLVM quotes it: in single quotes, or in double quotes if characters need escapes."""
    if text.isprintable():
        return "'" + text.replace("'", "''") + "'"
    parts = []
    for character in text:
        code = ord(character)
        if character in '"\\':
            parts.append(f"\\{character}")
        elif character.isprintable():
            parts.append(character)
        elif 0xDC80 <= code <= 0xDCFF:  # a byte that is no character
            parts.append(f"\\x{code - 0xDC00:02X}")
        else:
            parts.append(f"\\x{code:02X}" if code < 256 else f"\\u{code:04X}" if code < 65536 else f"\\U{code:08X}")
    return '"' + "".join(parts) + '"'
