"""Whole calls of functions, as sentences."""

from __future__ import annotations

from collections.abc import Iterator

from incc.report import types as t
from incc.views.layout import Layout


def lines(unit: t.UnitReport, layout: Layout) -> Iterator[str]:
    """Yield a paragraph for each function with loops; nothing if no trip counts were given."""
    for call in unit.calls or ():
        yield ""
        if call.reason:
            yield from layout.wrap(f"Calls of {call.function_name or 'the code'} are not predicted: {call.reason}.")
            continue
        yield from layout.wrap(heading(call))
        for sentence in call.text:
            yield from layout.wrap(sentence, "  ", "  ")


def heading(call: t.CallReport) -> str:
    """Return the beginning of the sentences on a call."""
    nested = any(loop.entries > 1 for loop in call.loops) or (not call.loops and call.elements > call.inner_trips)
    around = f", {call.outer_trips} of the loops around" if nested else ""
    name = call.function_name or "the code"
    return f"A call of {name} with {call.inner_trips} iterations of its innermost loops{around}:"
