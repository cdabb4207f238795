"""The bounds of a kernel with their causes, and the verdict: one sentence that names its limit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from incc.core import Analysis, Chain
from incc.core.prediction import CLOSE, ORDER, WORTH_SAYING, BoundName
from incc.core.ranges import blocked, bytes_of, not_counted
from incc.frontends.isa import isa
from incc.frontends.kernel import KernelCode
from incc.models.binding.bound import (
    UOP_BRANCH,
    UOP_COMPUTE,
    UOP_LOAD,
    UOP_STORE_ADDRESS,
    UOP_STORE_DATA,
    BoundKernel,
)
from incc.report import phrases, wording
from incc.report import types as t
from incc.report.gains import gaining, most_tangible

if TYPE_CHECKING:
    from fractions import Fraction

    from incc.core.analysis import KernelResult


def bounds(result: KernelResult, explained: bool = True) -> t.BoundsReport:
    """Return all lower bounds in cycles per iteration, with causes in words if `explained`, and the prediction."""
    causes: dict[BoundName, str] = dict.fromkeys(ORDER, "")
    if explained:
        causes = _causes(result)

    def bound_by(name: BoundName) -> t.Bound:
        cycles: Fraction = getattr(result.bounds, name)
        return t.Bound(cycles=float(cycles), exact=str(cycles), by=causes[name])

    return t.BoundsReport(
        port=bound_by("port"),
        divider=bound_by("divider"),
        front_end=bound_by("front_end"),
        retire=bound_by("retire"),
        loop_carried=bound_by("loop_carried"),
        prediction=t.Prediction(
            cycles=float(result.cycles),
            exact=str(result.cycles),
            by="simulation" if result.simulation else "bounds",
            limited_by=list(result.limits),
        ),
    )


def _causes(result: KernelResult) -> dict[BoundName, str]:
    """Return the cause of each bound."""
    kernel, bound, analysis = result.kernel, result.bound, result.analysis
    fixed_ports = result.settings.fixed_ports
    return {
        "port": _port_cause(kernel, bound, busiest_ports(bound, analysis, fixed_ports), fixed_ports),
        "divider": _divider_cause(kernel, bound, analysis),
        "front_end": _width_cause(sum(bound.issue_slots), bound.issue_width),
        "retire": _width_cause(sum(bound.retire_slots), bound.retire_width),
        "loop_carried": _chain_cause(kernel, bound, analysis),
    }


def sentence(result: KernelResult, bounds: t.BoundsReport, what_ifs: Sequence[t.WhatIfReport]) -> str:
    """Return the verdict on a kernel: its limit, and by how much it exceeds the next one.

    The evidence is the gain of changes to the core; without a simulation it is the next bound.
    """
    kernel, analysis = result.kernel, result.analysis
    least = "at least " if kernel.refused or not_counted(result) else ""
    if not kernel.instructions:
        return "nothing to analyse: no instruction could be decoded"
    if len(result.unknown) == len(kernel.instructions):
        return "no prediction: the model lacks all of the instructions"
    limits, limit = bounds.prediction.limited_by, bounds.prediction.cycles
    if not limits and not limit:
        return "no bound: the instructions take neither ports nor issue slots"
    if not limits:
        largest = _descending(ORDER, bounds)[0]
        above = f"{least}{wording.cycles(limit)} simulated"
        if bounds.of(largest).cycles:
            above += f", more than the largest bound ({_short_with_cycles(largest, bounds)})"
        return above + _lost(result, what_ifs) + _evidence(limit, what_ifs)
    causes = [_limit(name, result, bounds) for name in limits]
    equally, each = (" equally", " each") if len(causes) > 1 else ("", "")
    by = wording.listed([f"by {cause}" for cause in causes])
    text = f"bound{equally} {by}: {least}{wording.cycles(limit)}{each}"
    if "loop_carried" in limits and analysis.chains and analysis.chains[0].distance > 1:
        chain = analysis.chains[0]
        text += f" ({chain.latency} over {chain.distance} iterations)"
    if "loop_carried" in limits:
        text += _blocked(result)
    if bounds.prediction.by == "simulation" and any(not w.asked for w in what_ifs):
        return text + _evidence(limit, what_ifs, len(limits))
    return text + _runners_up(limits, bounds)


def _lost(result: KernelResult, what_ifs: Sequence[t.WhatIfReport]) -> str:
    """Return the reason why a simulation exceeds the bounds: the first cause of empty issue slots."""
    run = result.simulation
    if run is None:
        return ""
    slots = run.cycles * result.bound.issue_width
    lost = max(phrases.LOST_SLOTS, key=lambda name: getattr(run.lost_slots, name))
    share = getattr(run.lost_slots, lost) / slots if slots else 0.0
    if share < WORTH_SAYING:
        return ""
    cause = phrases.LOST_SLOTS[lost]
    if lost in _FULL:
        cause += _waiting(what_ifs, float(result.cycles))
    elif lost == "no_uops":
        cause += _starved(result)
    return f": {wording.number(round(100 * share))} % of the issue slots stay empty because {cause}"


def _starved(result: KernelResult) -> str:
    """Return a clause on the instructions that keep the front end from delivering µops, where they are known."""
    run, p, kernel = result.simulation, result.bound.pipeline, result.kernel
    if run is None or p is None or not run.uops_by_source.decoders:
        return ""
    prefixed = [i for i, stalls in enumerate(p.lcp) if stalls and p.lcp_stall]
    if prefixed:
        verb = "has" if len(prefixed) == 1 else "have"
        return f" while {wording.places(kernel, prefixed)} {verb} a length-changing prefix, which stalls the decoders"
    if not run.uncached_jumps:
        return ""
    what = "the jump in {} crosses or ends" if len(run.uncached_jumps) == 1 else "jumps in {} cross or end"
    place = what.format(wording.places(kernel, run.uncached_jumps))
    return f": {place} at a 32-byte boundary, so its code is decoded each time (JCC erratum)"


_FULL = frozenset(("reorder_buffer", "scheduler", "load_buffer"))
"""Buffers that fill up because their entries wait; the cause is what those wait for."""

_DEPENDENCIES = ("register-dependencies", "memory-dependencies", "dependencies")


def _waiting(what_ifs: Sequence[t.WhatIfReport], cycles: float) -> str:
    """Return what the µops in a full buffer are waiting for, confirmed by what-if simulations."""
    gained = {w.change for w in gaining(what_ifs, cycles)}
    if not gained & {*_DEPENDENCIES, "unlimited-ports", "divider"}:
        return " of µops that wait for inputs and ports" if not what_ifs else ""
    if "divider" in gained:
        return " of µops that wait for the divider or for its results"
    if "unlimited-ports" not in gained:
        return " of µops that wait for inputs"
    if not gained & set(_DEPENDENCIES):
        return " of µops that wait for ports"
    # Each of the two would be fast enough without the other: the µops of a chain wait behind other work.
    return " of µops that wait for ports or for the results of such µops"


def _blocked(result: KernelResult) -> str:
    """Return a clause on a limiting chain that waits for stores to reach the cache, since they cannot be forwarded."""
    chain = result.analysis.chains[0] if result.analysis.chains else None
    if chain is None:
        return ""
    members = {step.consumer for step in chain.steps if step.location < 0}
    edges = [edge for edge in blocked(result) if edge.consumer in members]
    if not edges:
        return ""
    kernel, edge = result.kernel, edges[0]
    stored, loaded = bytes_of(kernel, edge)
    store, load = wording.two_places(kernel, edge.producer, edge.consumer)
    return (
        f"; {load} loads {wording.counted(loaded, 'byte')}, but {store} stores only {stored} of them, so store "
        "forwarding fails and the load waits until the store is in the cache"
    )


WORTH_SHOWING = 0.01
"""The least gain of a change that is listed in the table of changes."""

_TESTS = {
    "sum-chain": "register-dependencies",
    "memory-chain": "memory-dependencies",
    "recurrence": "register-dependencies",
    "invariant-divisor": "divider",
}
"""Hints that remove a limit, and the change whose simulation removes it."""


def consistent(hints: Sequence[t.Hint], result: KernelResult) -> list[t.Hint]:
    """Return the hints without those that gain nothing according to a simulation.

    If another limit is as narrow, a verdict that nothing alone helps must not accompany the advice to use more
    accumulators.
    """
    enough = (1 - WORTH_SAYING) * float(result.cycles)
    return [
        hint
        for hint in hints
        if (test := _TESTS.get(hint.rule)) is None
        or (cycles := result.cycles_after(test)) is None
        or float(cycles) <= enough
    ]


def _evidence(limit: float, what_ifs: Sequence[t.WhatIfReport], limits: int = 0) -> str:
    """Return the single change to the core that gains most, and its cycles; `limits` bounds are equally tight."""
    tried = [w for w in what_ifs if not w.asked]
    if not tried:
        return ""
    best = gaining(tried, limit)
    if not best:
        if limits > 1:
            return ""
        # The table of changes also lists smaller gains.
        some = any(w.cycles <= (1 - WORTH_SHOWING) * limit for w in tried)
        gain = f"gains {wording.number(round(100 * WORTH_SAYING))} %" if some else "makes it faster"
        return f"; no simulated change of the core {gain}"
    chosen = most_tangible(best, limit)
    text = f"; {wording.cycles(chosen.cycles)} {chosen.text}"
    # Above all bounds, a chain is late because it waits for ports, if it is not where there are enough.
    ports = next((w for w in best if w.change == "unlimited-ports"), None)
    if not limits and ports is not None and chosen.change in _DEPENDENCIES:
        text += f", {wording.cycles(ports.cycles)} {ports.text}"
    return text


def busiest_ports(bound: BoundKernel, analysis: Analysis, fixed_ports: bool) -> tuple[int, ...]:
    """Return the ports that determine the port bound; with fixed shares those with the highest load."""
    if not fixed_ports:
        return analysis.busiest_ports
    load = analysis.fixed_port_load[: bound.n_ports]
    top = max(load, default=0.0)
    return tuple(p for p, cycles in enumerate(load) if top > 0 and cycles > top - 1e-9)


def carriers(kernel: KernelCode, bound: BoundKernel, chain: Chain) -> list[str]:
    """Return the carriers of a chain into the next iteration: names of registers and flags, or "memory"."""
    return wording.distinct(wording.carrier(kernel, bound, step)[1] for step in chain.steps if step.distance > 0)


def chain_instructions(chain: Chain) -> list[int]:
    """Return the instructions of a chain in execution order, each once.

    The first takes the value over from the previous iteration.
    """
    steps = chain.steps
    first = next((i for i, step in enumerate(steps) if step.distance > 0), 0)
    turned = steps[first:] + steps[:first]
    return list(dict.fromkeys(step.consumer for step in turned))


def _limit(name: BoundName, result: KernelResult, bounds: t.BoundsReport) -> str:
    kernel, bound, analysis = result.kernel, result.bound, result.analysis
    fixed_ports = result.settings.fixed_ports
    cause: str = bounds.of(name).by
    match name:
        case "loop_carried":
            if not analysis.chains:
                return "a loop-carried chain"
            chain = analysis.chains[0]
            through = wording.listed(carriers(kernel, bound, chain))
            where = wording.places(kernel, chain_instructions(chain))
            others = sum(c.cycles_per_iteration == chain.cycles_per_iteration for c in analysis.chains) - 1
            if others:
                where += f"; {others} {'other is' if others == 1 else 'others are'} as long"
            return f"the loop-carried chain through {through} ({where})"
        case "port":
            head, _, uses = cause.partition(": ")
            where = wording.places(kernel, at_busiest_ports(bound, analysis, fixed_ports))
            return f"{uses} on {head} ({where})"
        case "divider":
            return f"the {cause}"
        case "front_end":
            return f"the front end ({cause})"
        case _:
            return f"retirement ({cause})"


def _runners_up(limits: list[BoundName], bounds: t.BoundsReport) -> str:
    """Return the bounds close to the limit, or else the next one."""
    limit = bounds.prediction.cycles
    rest = [name for name in ORDER if name not in limits and bounds.of(name).cycles > 0]
    # Retirement next to a front end of the same width would repeat the same limit.
    if "retire" in rest and bounds.retire.cycles <= bounds.front_end.cycles:
        rest.remove("retire")
    rest = _descending(rest, bounds)
    close = [name for name in rest if bounds.of(name).cycles >= CLOSE * limit]
    if close:
        return f"; close behind: {wording.listed([_short_with_cycles(name, bounds) for name in close])}"
    return f"; next limit: {_short_with_cycles(rest[0], bounds)}" if rest else ""


def _descending(names: Sequence[BoundName], bounds: t.BoundsReport) -> list[BoundName]:
    """Return the largest bounds first, equal ones in their order."""
    return sorted(names, key=lambda name: -bounds.of(name).cycles)


def _short_with_cycles(name: BoundName, bounds: t.BoundsReport) -> str:
    """Return a bound in a few words with its cycles: the front end at 1.5 cycles."""
    bound = bounds.of(name)
    words = (bound.by.partition(":")[0] if name == "port" else "") or phrases.BOUNDS[name]
    return f"{words} at {wording.cycles(bound.cycles)}"


def _port_cause(kernel: KernelCode, bound: BoundKernel, busiest: tuple[int, ...], fixed_ports: bool) -> str:
    """Return the busiest ports and the kinds of work that must go there (with fixed shares: that go there)."""
    if not busiest:
        return ""
    # An instruction from microcode may have thousands of µops, but few kinds.
    alike: dict[tuple[int, int, int], list[int]] = {}
    for i, u in _uops_at(busiest, bound, fixed_ports):
        alike.setdefault((i, bound.uop_kind[u], bound.uop_ports[u]), []).append(u)
    uses: Counter[str] = Counter()
    for (i, _, _), uops in alike.items():
        uses[use_of(kernel, bound, i, uops[0])] += len(uops)
    # Loads and stores first, in the order of the machine; then what computes, the most frequent first.
    fixed = list(_USES.values())
    words = [use for use in fixed[:-1] if use in uses]
    computing = [use for use in uses if use not in fixed]
    words += sorted(computing, key=lambda use: -uses[use])
    words += [use for use in fixed[-1:] if use in uses]
    if len(computing) > _MOST_NAMED:
        words = [use for use in words if use not in computing] + ["other computation"]
    return f"{wording.ports([bound.port_names[p] for p in busiest])}: {wording.listed(words)}"


def at_busiest_ports(bound: BoundKernel, analysis: Analysis, fixed_ports: bool) -> list[int]:
    """Return the instructions whose µops must go to the busiest ports (with fixed shares: that go there)."""
    busiest = busiest_ports(bound, analysis, fixed_ports)
    return list(dict.fromkeys(i for i, _ in _uops_at(busiest, bound, fixed_ports)))


def _uops_at(busiest: Sequence[int], bound: BoundKernel, fixed_ports: bool) -> Iterator[tuple[int, int]]:
    """Yield instruction and index of the µops that must go to these ports (with fixed shares: that go there)."""
    inside = sum(1 << port for port in busiest)
    for i, (start, end) in enumerate(pairwise(bound.uop_start)):
        for u in range(start, end):
            if bound.uop_ports[u] & inside and (fixed_ports or not bound.uop_ports[u] & ~inside):
                yield i, u


def use_of(kernel: KernelCode, bound: BoundKernel, i: int, u: int) -> str:
    """Return the work of the µop `u` of instruction `i` according to its kind, else the work of its instruction.

    A µop on the ports of the instruction's load is the second half of a wide load, and one on those of its store's
    address that of a wide store.
    """
    instruction, kind = kernel.instructions[i], bound.uop_kind[u]
    if kind == UOP_COMPUTE:
        alike = [v for v in range(*bound.uop_start[i : i + 2]) if bound.uop_ports[v] == bound.uop_ports[u]]
        kind = next((k for v in alike if (k := bound.uop_kind[v]) in (UOP_LOAD, UOP_STORE_ADDRESS)), kind)
    if kind == UOP_STORE_ADDRESS and any(m.store and m.elements > 1 for m in instruction.memory):
        return "scatters"
    if kind == UOP_LOAD:
        gathers = any(m.load and m.elements > 1 for m in instruction.memory)
        return "gathers" if gathers else _USES[UOP_LOAD]
    return _USES[kind] if kind != UOP_COMPUTE else isa(kernel.isa).work_of(instruction)


_USES = {
    UOP_LOAD: "loads",
    UOP_STORE_ADDRESS: "store addresses",
    UOP_STORE_DATA: "store data",
    UOP_BRANCH: "branches",
}
_MOST_NAMED = 4
"""The most kinds of computation that are named; more would only say that there are many."""


MEASURED_THROUGHPUT = "measured throughput"


def _mnemonics(kernel: KernelCode, indices: Sequence[int]) -> list[str]:
    return [kernel.instructions[i].text.split()[0] if kernel.instructions[i].text else "it" for i in indices]


def _divider_cause(kernel: KernelCode, bound: BoundKernel, analysis: Analysis) -> str:
    loads = analysis.port_load[bound.n_ports :]
    if not analysis.resource_bound or not loads:
        return ""
    resource = bound.n_ports + loads.index(max(loads))
    users = [i for i, row in enumerate(analysis.pressure) if row[resource] > 0]
    name = bound.port_names[resource]
    if name.startswith("TP "):
        # Serialising and locked instructions: measured to take this long, which their µops' ports do not explain.
        title = f"{MEASURED_THROUGHPUT} of {wording.listed(wording.distinct(_mnemonics(kernel, users)))}"
    else:
        title = wording.unit(name)
    return f"{title} ({wording.places(kernel, users)})"


def _width_cause(slots: int, width: int) -> str:
    return f"{wording.counted(slots, 'µop')} at {width} per cycle" if slots else ""


def _chain_cause(kernel: KernelCode, bound: BoundKernel, analysis: Analysis) -> str:
    if not analysis.chains:
        return ""
    chain = analysis.chains[0]
    through = wording.listed(carriers(kernel, bound, chain))
    over = f", {chain.latency} over {chain.distance} iterations" if chain.distance > 1 else ""
    return f"through {through}, {wording.places(kernel, chain_instructions(chain))}{over}"
