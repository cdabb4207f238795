"""Whole calls of a unit's functions, and the effect of the hints' flags on its loops."""

from __future__ import annotations

from collections.abc import Iterator

from incc.report import types as t
from incc.views.layout import Layout


def call_lines(unit: t.UnitReport, layout: Layout) -> Iterator[str]:
    """Yield a paragraph for each function with loops; nothing if no trip counts were given."""
    for call in unit.calls or ():
        yield ""
        if call.reason:
            yield from layout.wrap(f"Calls of {call.function_name or 'the code'} are not predicted: {call.reason}.")
            continue
        yield from layout.wrap(call_heading(call))
        for sentence in call.text:
            yield from layout.wrap(sentence, "  ", "  ")


def call_heading(call: t.CallReport) -> str:
    """Return the beginning of the sentences on a call."""
    nested = any(loop.entries > 1 for loop in call.loops) or (not call.loops and call.elements > call.inner_trips)
    around = f", {call.outer_trips} of the loops around" if nested else ""
    name = call.function_name or "the code"
    return f"A call of {name} with {call.inner_trips} iterations of its innermost loops{around}:"


def trial_lines(unit: t.UnitReport, layout: Layout) -> Iterator[str]:
    """Yield a paragraph for each set of flags that changes a loop as no set before it."""
    trials = unit.trials
    if trials is None:
        return
    yield ""
    if not trials:
        yield "No trials: no hint suggests flags."
        return
    measured = any(loop.measured_gain is not None for trial in trials for loop in trial.loops)
    yield f"Trials of the suggested flags, as predicted{' and measured' if measured else ''}:"
    for number, trial in enumerate(trials):
        changed = [loop for loop in trial.loops if _is_new(loop, trials[:number])]
        if not changed and not trial.problem:
            continue
        yield ""
        yield from layout.wrap(" ".join(trial.flags), "  ", "  ")
        if trial.problem:
            yield from layout.wrap(trial.problem, "    ", "      ")
        for loop in changed:
            place = loop.source
            where = f"{layout.place(place)} in " if place else ""
            yield from layout.wrap(f"{where}{loop.function_name}: {loop.text}", "    ", "      ")


def _is_new(loop: t.TriedLoop, earlier: list[t.Trial]) -> bool:
    """Return True for a loop that a hint names or that changes, unless other flags had the same effect before."""
    if not loop.hinted and loop.before == loop.after and loop.work == 1:
        return False
    return not any(
        other.kernel_id == loop.kernel_id and (other.after, other.work) == (loop.after, loop.work)
        for trial in earlier
        for other in trial.loops
    )
