"""The effect of the hints' flags, set by set, on the loops that they change."""

from __future__ import annotations

from collections.abc import Iterator

from incc.report import types as t
from incc.views.layout import Layout, count


def lines(unit: t.UnitReport, layout: Layout) -> Iterator[str]:
    """Yield a paragraph for each set of flags."""
    trials = unit.trials
    if trials is None:
        return
    yield ""
    if not trials:
        yield "No trials: no hint suggests flags."
        return
    yield "Trials of the suggested flags, as predicted:"
    for trial in trials:
        yield ""
        yield from layout.wrap(" ".join(trial.flags), "  ", "  ")
        if trial.problem:
            yield from layout.wrap(trial.problem, "    ", "      ")
        same = 0
        for loop in trial.loops:
            if not loop.hinted and loop.before == loop.after and loop.work == 1:
                same += 1
                continue
            place = loop.source
            where = f"{layout.place(place)} in " if place else ""
            yield from layout.wrap(f"{where}{loop.function_name}: {loop.text}", "    ", "      ")
        if same:
            yield f"    {count(same, 'other loop')} unchanged"
