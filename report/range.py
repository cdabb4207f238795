"""The range of a prediction in words: its two ends and their causes (core/python/ranges.py)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from incc.core.dataflow import COUNTED, DATA
from incc.core.figures import DECIMALS
from incc.core.ranges import bytes_of, mispredictions
from incc.report import types as t
from incc.report import wording

if TYPE_CHECKING:
    from collections.abc import Sequence

    from incc.core.analysis import KernelResult
    from incc.core.ranges import Branching, Fork, KernelRange, Meeting, RangeCause
    from incc.core.ways import Ways
    from incc.frontends.kernel import Kernel


def kernel_range(result: KernelResult, ends: KernelRange | None) -> t.Range | None:
    """Return the report on the range; None if the prediction depends on nothing but the code."""
    if ends is None:
        return None
    causes = [(cause, _when(result, cause)) for cause in ends.causes]
    return t.Range(
        least=float(ends.least),
        most=None if ends.most is None else float(ends.most),
        causes=[
            t.RangeCauseReport(
                kind=cause.kind,
                least=float(cause.least),
                most=None if cause.most is None else float(cause.most),
                instructions=list(cause.instructions),
                when=when,
            )
            for cause, when in causes
        ],
        text=_text(ends, [when for _, when in causes]),
    )


def mispredicted(result: KernelResult, ways: Ways | None, rate: float | None) -> t.MispredictionsReport | None:
    """Return the cost of mispredictions at the given rate; None without a cost or a rate."""
    cost = None if rate is None else mispredictions(result, ways, rate)
    if cost is None:
        return None
    total = float(result.cycles) + cost.cycles
    branches = "" if cost.branches == 1 else f"{cost.branches} branches × "
    return t.MispredictionsReport(
        rate=cost.rate,
        branches=cost.branches,
        miss_cycles=round(cost.miss_cycles, DECIMALS),
        cycles=round(cost.cycles, DECIMALS),
        total=round(total, DECIMALS),
        text=f"with {wording.number(100 * cost.rate)} % of the branches inside predicted wrongly: "
        f"{wording.number(result.cycles)} + {branches}{cost.rate:g} × {wording.number(cost.miss_cycles)} = "
        f"{wording.cycles(total)}",
    )


def _text(ends: KernelRange, whens: Sequence[str]) -> str:
    if len(whens) == 1:
        return whens[0]
    if ends.most is None:
        head = f"at least {wording.cycles(ends.least)}"
    elif ends.most == ends.least:
        head = wording.cycles(ends.least)
    else:
        head = f"{wording.number(ends.least)} to {wording.cycles(ends.most)}"
    return f"{head}: {'; '.join(whens)}"


def _when(result: KernelResult, cause: RangeCause) -> str:
    kernel = result.kernel
    match cause.kind:
        case "aliasing":
            least, most = wording.cycles(cause.least), wording.number(cause.most or 0)
            return f"{least} if {_never(kernel, cause.meetings)}, {most} if always"
        case "line-crossings":
            return _crossings(result, cause)
        case "branches":
            assert cause.branching is not None
            return _branches(cause, cause.branching)
        case "forwarding":
            return _forwarding(result, cause)
        case _:
            return _at_least(result, cause)


def _never(kernel: Kernel, meetings: Sequence[Meeting]) -> str:
    """Return the clause on the events that must not occur for the lower end."""
    stores = list(dict.fromkeys(m.store for m in meetings))
    loads = list(dict.fromkeys(m.load for m in meetings))
    before = "in the iteration before" if all(m.distance for m in meetings) else "just before"
    place = _array(kernel, stores)
    if set(stores) == set(loads):
        where = wording.places(kernel, sorted(stores))
        if len(stores) == 1:
            return f"{where} never hits the same place{place} as {before}"
        return f"no two of {where} hit the same place{place} one after the other"
    where, written = wording.places(kernel, sorted(loads)), wording.places(kernel, sorted(stores))
    if len(loads) == 1:
        return f"{where} never reads{place} what {written} stored {before}"
    return f"none of {where} reads{place} what {written} stored {before}"


def _array(kernel: Kernel, stores: Sequence[int]) -> str:
    """Return the name of the array that is stored to, if the assembly contains it."""
    names = {m.symbol for i in stores for m in kernel.instructions[i].memory if m.store}
    name = names.pop() if len(names) == 1 else ""
    return f" of `{name}`" if name and not name.startswith(".") else ""


def _crossings(result: KernelResult, cause: RangeCause) -> str:
    analysis = result.analysis
    line = result.bound.line_bytes
    crossed = f"a {line}-byte cache line" if line == 64 else f"a boundary of {line} bytes"
    at_best = wording.number(analysis.line_crossings) if analysis.line_crossings else "none"
    text = (
        f"{wording.cycles(cause.least)} where the arrays begin best, {wording.number(cause.most or 0)} where they "
        f"begin worst: of the loads an iteration {at_best} to {wording.number(analysis.worst_line_crossings)} cross "
        f"{crossed}"
    )
    if analysis.expected_line_crossings != analysis.line_crossings:
        text += f" ({wording.number(analysis.expected_line_crossings)}, the average over all places, are simulated)"
    return text


def _forwarding(result: KernelResult, cause: RangeCause) -> str:
    edge = cause.blocked[0]
    stored, loaded = bytes_of(result.kernel, edge)
    store, load = (wording.places(result.kernel, [i]) for i in (edge.producer, edge.consumer))
    return (
        f"more than {wording.cycles(cause.least)}: {load} loads {wording.counted(loaded, 'byte')}, of which {store} "
        f"stores only {stored} shortly before, which cannot be forwarded; how long the load waits on this core until "
        "the store is in the cache is not known"
    )


def _at_least(result: KernelResult, cause: RangeCause) -> str:
    kernel = result.kernel
    calls = [i for i in cause.instructions if kernel.instructions[i].branch == "call"]
    unknown = [i for i in cause.instructions if i not in calls]
    left_out = []
    if unknown:
        noun = "an instruction" if len(unknown) == 1 else f"{len(unknown)} instructions"
        left_out.append(f"{noun} that the model lacks ({wording.places(kernel, unknown)})")
    if calls:
        noun = "a call" if len(calls) == 1 else f"{len(calls)} calls"
        left_out.append(f"what {noun} cost{'s' if len(calls) == 1 else ''} ({wording.places(kernel, calls)})")
    if kernel.refused:
        noun = "a statement" if len(kernel.refused) == 1 else f"{len(kernel.refused)} statements"
        left_out.append(f"{noun} that the assembler refused")
    return f"at least {wording.cycles(cause.least)}, without {wording.listed(left_out)}"


def _branches(cause: RangeCause, branching: Branching) -> str:
    least, most = branching.predicted
    data = [fork for fork in branching.forks if fork.depends == DATA]
    steady = [fork for fork in branching.forks if fork.depends != DATA]
    parts = []
    ways = f"by which of {len(branching.ways)} ways the loop goes"
    if not branching.complete:
        ways = "by which way the loop goes, of many the shortest and the longest"
    if least == most:
        parts.append(f"{wording.cycles(least)} {ways.replace('by which', 'whichever', 1)}")
    else:
        parts.append(f"{wording.number(least)} to {wording.cycles(most)} {ways}")
    if steady:
        parts.append(_predictable(steady))
    if data:
        depend = "depends" if len(data) == 1 else "depend"
        costs = sorted({branching.miss_cycles(fork) for fork in data})
        text = f"{_branch(data)} {depend} on data"
        if branching.penalty:
            cost = " to ".join(str(cycles) for cycles in dict.fromkeys((costs[0], costs[-1])))
            text += f", and a wrong prediction costs about {cost} cycles"
            if cause.most is not None and cause.most > most:
                text += f": up to {wording.number(cause.most)} an iteration with half of them wrong"
        parts.append(text)
    return "; ".join(parts)


def _predictable(forks: Sequence[Fork]) -> str:
    counted = [fork for fork in forks if fork.depends == COUNTED]
    fixed = [fork for fork in forks if fork.depends != COUNTED]
    parts = []
    if fixed:
        verb = "tests" if len(fixed) == 1 else "test"
        parts.append(f"{_branch(fixed)} {verb} what the loop does not change (it is not unswitched)")
    if counted:
        verb = "follows" if len(counted) == 1 else "follow"
        parts.append(f"{_branch(counted)} {verb} the count of iterations, not data")
    return "; ".join(parts)


def _branch(forks: Sequence[Fork]) -> str:
    lines = [str(fork.line) for fork in forks]
    if len(lines) == 1:
        return f"the branch in line {lines[0]}"
    if len(lines) > wording.MAX_LISTED_LINES:
        return f"{len(lines)} branches in lines {lines[0]}–{lines[-1]}"
    return f"the branches in lines {wording.listed(lines)}"
