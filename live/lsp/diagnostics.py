"""Diagnostics: hints on loops with the lowest severity, and warnings for expectations that are not met."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from lsprotocol import types as lsp

from incc.live.lsp.documents import ShownLoop
from incc.report import types as t

SOURCE = "incc"


def diagnostics(loops: Iterable[ShownLoop], lines: Sequence[str]) -> list[lsp.Diagnostic]:
    """Return the diagnostics of a document. Hints that several cores have in common appear once."""
    rows: dict[tuple[int, str], lsp.Diagnostic] = {}
    units: dict[int, ShownLoop] = {}
    for loop in loops:
        if loop.analysis.also:
            continue
        units.setdefault(id(loop.unit), loop)
        if loop.kernel.role.of:
            continue
        for hint in loop.kernel.hints:
            message = f"{hint.text}{tried(loop, hint)}"
            rows.setdefault(
                (loop.line, message), _row(loop.line, lines, lsp.DiagnosticSeverity.Hint, message, hint.rule)
            )
    for loop in units.values():
        for line, text in _unmet(loop):
            rows.setdefault((line, text), _row(line, lines, lsp.DiagnosticSeverity.Warning, text, "expectation"))
    return list(rows.values())


def tried(loop: ShownLoop, hint: t.Hint) -> str:
    """Return the outcome of a trial of a hint's flags, "" if there was none."""
    answer = loop.analysis.trials.get(tuple(hint.flags)) if hint.flags else None
    if answer is None:
        return ""
    texts = [each.text for trial in answer.trials for each in trial.loops if each.kernel_id == loop.kernel.kernel_id]
    return f" (tried {' '.join(hint.flags)}: {'; '.join(dict.fromkeys(texts)) or answer.problem or 'no such loop'})"


def _unmet(loop: ShownLoop) -> Iterator[tuple[int, str]]:
    for mark in loop.unit.marks:
        line = loop.line_of(mark.at)
        for expectation in mark.expectations if line is not None else ():
            if expectation.holds is False and line is not None:
                yield line, expectation.text
    for problem in loop.unit.mark_problems:
        line = loop.line_of(problem.source)
        if line is not None:
            yield line, problem.text


def _row(line: int, lines: Sequence[str], severity: lsp.DiagnosticSeverity, message: str, code: str) -> lsp.Diagnostic:
    text = lines[line] if line < len(lines) else ""
    start, end = len(text) - len(text.lstrip()), len(text.rstrip().encode("utf-16-le")) // 2
    here = lsp.Range(lsp.Position(line, start), lsp.Position(line, max(start, end)))
    return lsp.Diagnostic(here, message, severity, code=code, source=SOURCE)
