"""Comparison of two runs of programs with probes: loops of the same source, and what changed of their cycles."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence

from msgspec.structs import replace

from incc.report.runs import CauseOfChange, ChangedLoop, ChangedPart, LoopRun, RunComparison, RunReport
from incc.report.source.demangle import short_name


def compare_runs(first: RunReport, second: RunReport) -> RunComparison:
    """Return the changes of loops from one run to another, perhaps of another build or on another input."""
    rows = [changed(*pair) for pair in pairs(first.loops, second.loops)]
    return RunComparison(
        first=replace(first, loops=()),
        second=replace(second, loops=()),
        rows=tuple(sorted(rows, key=lambda row: -abs(row.cycles))),
    )


# --- pairs ------------------------------------------------------------------------------------------------------------


def _place(loop: LoopRun) -> Hashable:
    return (os.path.basename(loop.source.file), loop.source.line) if loop.source else None


def _unit(loop: LoopRun) -> str:
    return os.path.basename(loop.unit)


_KEYS: tuple[Callable[[LoopRun], tuple[Hashable, ...]], ...] = (
    lambda loop: (loop.unit, loop.kernel_id, _place(loop)),
    lambda loop: (short_name(loop.function_name), loop.role, _place(loop)),
    lambda loop: (loop.role, _place(loop)),
    lambda loop: (_unit(loop), loop.kernel_id),
    lambda loop: (_unit(loop), short_name(loop.function_name), loop.kernel_id.rpartition("/")[2]),
)
"""Properties that loops of two builds have in common, the most certain first.

Compilers clone functions and inline them, and edits move lines. Keys with None, for an unknown place, match nothing.
"""


def pairs(first: Iterable[LoopRun], second: Iterable[LoopRun]) -> Iterator[tuple[LoopRun | None, LoopRun | None]]:
    """Yield the loops of two runs in pairs of the same loop of the source, and None for a run that lacks it."""
    before, after = list(first), list(second)
    for key in _KEYS:
        by_key: defaultdict[tuple[Hashable, ...], list[LoopRun]] = defaultdict(list)
        for loop in after:
            by_key[key(loop)].append(loop)
        unmatched = []
        for loop in before:
            named = key(loop)
            if None in named or not by_key[named]:
                unmatched.append(loop)
                continue
            other = by_key[named].pop(0)  # those that took longest come first
            after = [each for each in after if each is not other]
            yield loop, other
        before = unmatched
    yield from ((loop, None) for loop in before)
    yield from ((None, loop) for loop in after)


# --- changes ----------------------------------------------------------------------------------------------------------


def changed(first: LoopRun | None, second: LoopRun | None) -> ChangedLoop:
    """Return the changes of a loop from one run to another."""
    cycles = _cycles(second) - _cycles(first)
    if first is None or second is None:
        return ChangedLoop(first=first, second=second, per="iteration", cycles=cycles)
    row = ChangedLoop(
        first=first,
        second=second,
        per="element" if first.elements and second.elements else "iteration",
        cycles=cycles,
    )
    return replace(row, parts=tuple(_parts(row, ((-1, first), (1, second)))))


def _cycles(loop: LoopRun | None) -> float:
    return (loop.cycles or 0.0) * loop.iterations if loop else 0.0


def _parts(row: ChangedLoop, signed: Sequence[tuple[int, LoopRun]]) -> list[ChangedPart]:
    changes: defaultdict[CauseOfChange, float] = defaultdict(float)
    if any(loop.predicted is None or loop.cycles is None for _, loop in signed):
        return []
    for sign, loop in signed:
        parts: list[tuple[CauseOfChange, float]] = [(part.kind, part.cycles) for part in loop.parts]
        parts += [("predicted", loop.predicted or 0.0), ("unexplained", loop.unexplained or 0.0)]
        for kind, cycles in parts:
            changes[kind] += sign * cycles / row.work(loop)
    ordered = sorted(changes.items(), key=lambda change: -abs(change[1]))
    return [ChangedPart(kind=kind, cycles=cycles) for kind, cycles in ordered if cycles]
