"""The effect of the hints' flags, set by set, on the loops that they change."""

from __future__ import annotations

from collections.abc import Iterator

from incc.report import types as t
from incc.views.layout import Layout


def lines(unit: t.UnitReport, layout: Layout) -> Iterator[str]:
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
