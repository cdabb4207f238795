"""The range of a prediction in words: its two ends and their causes (core/python/ranges.py)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from incc.core.dataflow import COUNTED, DATA
from incc.core.figures import DECIMALS
from incc.core.places import LIKELY_PLACES
from incc.core.ranges import Branching, Fork, KernelRange, Meeting, RangeCause, bytes_of, mispredictions
from incc.frontends.kernel import KernelCode
from incc.models.binding.bound import IS_LOAD, IS_STORE
from incc.report import types as t
from incc.report import wording

if TYPE_CHECKING:
    from incc.core.analysis import KernelResult
    from incc.core.ways import Ways


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
        text=f"{wording.cycles(total)} if {wording.number(100 * cost.rate)} % of the inner branches are mispredicted: "
        f"{wording.number(result.cycles)} + {branches}{cost.rate:g} × {wording.number(cost.miss_cycles)}",
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
    match cause.kind:
        case "aliasing":
            least, most = wording.number(cause.least), wording.number(cause.most or 0)
            return f"{least} to {most} cycles depending on data: {most} if {_meeting(result.kernel, cause.meetings)}"
        case "line-crossings":
            return _crossings(result, cause)
        case "4k-aliasing":
            return _four_k(result, cause)
        case "branches":
            assert cause.branching is not None
            return _branches(result.kernel, cause, cause.branching)
        case "forwarding":
            return _forwarding(result, cause)
        case _:
            return _at_least(result, cause)


def _meeting(kernel: KernelCode, meetings: Sequence[Meeting]) -> str:
    """Return the clause on the accesses that meet in each iteration at the upper end."""
    stores, loads = sorted({m.store for m in meetings}), sorted({m.load for m in meetings})
    written, read = wording.places(kernel, stores), wording.places(kernel, loads)
    iterations = min(m.distance for m in meetings)
    when = ("just before", "in the previous iteration", "two iterations before")[iterations]
    names = {m.symbol for i in stores for m in kernel.instructions[i].memory if m.store}
    name = names.pop() if len(names) == 1 else ""
    array = f"`{name}`" if name and not name.startswith(".") else ""
    if stores == loads:
        place = f"the same element of {array}" if array else "the same address"
        if len(stores) > 1:
            return f"{written} access {place} one after the other"
        return f"{written} accesses {place} as {when}"
    source = f" from {array}" if array else ""
    one = len({wording.places(kernel, [i]) for i in loads}) == 1
    return f"{read} {'loads' if one else 'load'}{source} the value that {written} stored {when}"


def _crossings(result: KernelResult, cause: RangeCause) -> str:
    analysis, bound = result.analysis, result.bound
    line = bound.line_bytes
    crossed = "cache line" if line == 64 else "boundary"
    likely = bound.line_places == LIKELY_PLACES
    causes = []
    if analysis.worst_line_crossings != analysis.line_crossings:
        fewest, highest = (wording.number(n) for n in (analysis.line_crossings, analysis.worst_line_crossings))
        loads = f"{fewest} to {highest} loads per iteration cross a {line}-byte {crossed}"
        if analysis.expected_line_crossings != analysis.line_crossings:
            average = "" if likely else ", the average over all alignments"
            loads += f" ({wording.number(analysis.expected_line_crossings)} in the simulation{average})"
        causes.append(loads)
    slow_stores = bound.pipeline is not None and bound.pipeline.page_crossing_store_cycles
    if slow_stores and any(bound.instruction_flags[n] & IS_STORE for n in cause.instructions):
        causes.append("stores cross cache lines and pages")
    least, most = wording.number(cause.least), wording.cycles(cause.most or 0)
    text = f"{least} to {most} depending on array alignment" + (f": {', and '.join(causes)}" if causes else "")
    if likely:
        text += f"; {wording.number(result.cycles)} is the average for arrays at multiples of 16 bytes, as from malloc"
    return text


def _four_k(result: KernelResult, cause: RangeCause) -> str:
    assert result.bound.pipeline is not None
    flags, bits = result.bound.instruction_flags, result.bound.pipeline.aliasing_bits
    loads = [n for n in cause.instructions if flags[n] & IS_LOAD]
    stores = [n for n in cause.instructions if flags[n] & IS_STORE]
    least, most = wording.number(cause.least), wording.number(cause.most or 0)
    subject, verb = ("the load", "agrees") if len(loads) == 1 else (f"the {len(loads)} loads", "agree")
    span = wording.number(2**bits / 1024)
    return (
        f"{least} to {most} cycles depending on the distance of arrays modulo {span} KiB: {most} if {subject} in "
        f"{wording.places(result.kernel, loads)} {verb} in the lower {bits} bits of the address with a "
        f"store in flight ({wording.places(result.kernel, stores)})"
    )


def _forwarding(result: KernelResult, cause: RangeCause) -> str:
    edge = cause.blocked[0]
    stored, loaded = bytes_of(result.kernel, edge)
    store, load = wording.two_places(result.kernel, edge.producer, edge.consumer)
    return (
        f"more than {wording.cycles(cause.least)}: {load} loads {wording.counted(loaded, 'byte')}, but {store} stores "
        f"only {stored} of them shortly before, so store forwarding fails, at a cost that is unknown for this core"
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
        left_out.append(f"the time of {noun} ({wording.places(kernel, calls)})")
    if kernel.refused:
        noun = "a statement" if len(kernel.refused) == 1 else f"{len(kernel.refused)} statements"
        left_out.append(f"{noun} that the assembler rejected")
    return f"at least {wording.cycles(cause.least)}, excluding {wording.listed(left_out)}"


def _branches(kernel: KernelCode, cause: RangeCause, branching: Branching) -> str:
    least, most = branching.predicted
    paths = f"{len(branching.ways)}" if branching.complete else "the shortest and the longest of many"
    span = f"{wording.number(least)} to {wording.cycles(most)} depending on the path"
    parts = [f"{wording.cycles(least)} on each path ({paths} paths)" if least == most else f"{span} ({paths} paths)"]
    if fixed := [fork for fork in branching.forks if fork.depends not in (DATA, COUNTED)]:
        verb = "tests" if len(fixed) == 1 else "test"
        parts.append(f"{_branch(kernel, fixed)} {verb} a loop-invariant condition (the loop is not unswitched)")
    if counted := [fork for fork in branching.forks if fork.depends == COUNTED]:
        verb = "depends" if len(counted) == 1 else "depend"
        parts.append(f"{_branch(kernel, counted)} {verb} on the iteration count, not on data")
    if data := [fork for fork in branching.forks if fork.depends == DATA]:
        text = f"{_branch(kernel, data)} {'depends' if len(data) == 1 else 'depend'} on data"
        if branching.penalty:
            costs = sorted({branching.miss_cycles(fork) for fork in data})
            cost = " to ".join(str(cycles) for cycles in dict.fromkeys((costs[0], costs[-1])))
            text += f", and a misprediction costs about {cost} cycles"
            if cause.most is not None and cause.most > most:
                text += f": up to {wording.number(cause.most)} per iteration if half of them are mispredicted"
        parts.append(text)
    return "; ".join(parts)


def _branch(kernel: KernelCode, forks: Sequence[Fork]) -> str:
    lines = wording.lines_of(kernel, [fork.line for fork in forks])
    return f"the branch in {lines}" if len(forks) == 1 else f"{len(forks)} branches in {lines.split(' of ')[-1]}"
