"""Causes of the difference between two kernels: shares of the difference in cycles, and other differences.

A prediction is its largest bound plus what the simulation adds to that. So the difference of two predictions is the
difference of the largest bounds plus the difference of what is above them. Both are broken down here, and the parts add
up to the whole.

- The bound that limits the slower kernel is examined. The contributions of instructions to it are compared, as far as
  they show: if the faster kernel is limited by something else, growth up to that limit cost nothing, and every
  contribution is scaled down by the same factor.
- A bound that is larger in the kernel that is faster on the whole is examined in the same way, with the opposite sign.
- Wider vectors divide all costs per element. If they explain at least half of the difference, and at most half as much
  again, they come first, and the rest is the difference from a kernel that is faster by that factor.
- Above the bounds are the costs of loads that cross cache lines, the cost of the loop's placement, and a rest.

All of this goes from the faster kernel to the slower one, and is reversed if the change is the other way, so that a
change and its opposite have the same causes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Literal

import msgspec
from msgspec.structs import asdict, replace

from incc.comparison import types as c
from incc.report import types as t
from incc.report.hints.work import calls, expected_cycles, places
from incc.report.types import BoundName
from incc.report.wording import HUGE, listed, ports, unit

Kind = c.CauseKind

SMALL = 0.05
"""The smallest share of the difference that is a cause of its own."""

MOST = 3
"""The most kinds of µops that are causes of their own for one bound; the others are summed up."""

_NOISE = 1e-6
"""The precision of figures: reports have six decimals."""

_BOUNDS: tuple[BoundName, ...] = ("loop_carried", "port", "divider", "front_end", "retire")
"""The order in which equal bounds are named: the most tangible first."""


class ComparedKernel(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """A kernel as the comparison sees it."""

    kernel: t.KernelReport
    instructions: Sequence[t.InstructionReport]
    scale: float
    """The factor that brings its cycles to as much work as the other kernel's."""

    def bound(self, name: BoundName) -> float:
        return self.kernel.bounds.of(name).cycles * self.scale

    def expected(self) -> float:
        return expected_cycles(self.kernel) * self.scale

    def largest_bound(self) -> float:
        return max(self.bound(name) for name in _BOUNDS)

    @cached_property
    def branches(self) -> list[tuple[int, ...]]:
        """The branches of an iteration, each with the instruction fused with it."""
        branches: list[tuple[int, ...]] = []
        for n, instruction in enumerate(self.instructions):
            if "branches" not in _works(instruction):
                continue
            if instruction.macro_fused and branches and branches[-1] == (n - 1,):
                branches[-1] = (n - 1, n)
            else:
                branches.append((n,))
        return branches

    @cached_property
    def closing(self) -> tuple[int, ...]:
        """The branch that closes the loop.

        It is the last instruction or, in a loop that is tested at its start, the only branch.
        """
        branches = self.branches
        if branches and (len(branches) == 1 or branches[-1][-1] == len(self.instructions) - 1):
            return branches[-1]
        return ()

    @cached_property
    def overhead(self) -> frozenset[int]:
        """The instructions that only keep the loop going: its branch, what is fused with that, and counters.

        A counter takes one cycle and depends only on itself; addresses are made from it, or the branch tests it.
        """
        overhead = set(self.closing)
        texts = [instruction.text for instruction in self.instructions]
        addresses = {name for text in texts for inside in _ADDRESS.findall(text) for name in _WORD.findall(inside)}
        tested = {name for n in self.closing for name in _WORD.findall(texts[n])}
        for chain in self.kernel.chains:
            first = chain.instructions[0]
            if first >= len(texts) or len(chain.instructions) > 1 or chain.latency > 1 or chain.iterations > 1:
                continue
            if self.instructions[first].loads or self.instructions[first].stores:
                continue
            if {step.via for step in chain.steps} & (addresses | tested) or first + 1 in self.closing:
                overhead.add(first)
        return frozenset(overhead)

    @cached_property
    def ports(self) -> frozenset[str]:
        """The names of the core's ports."""
        return frozenset(r.name for r in self.kernel.resources if r.kind == "port")


_ADDRESS = re.compile(r"[(\[]([^)\]]*)[)\]]")
_WORD = re.compile(r"\w+")


class DirectedCause(msgspec.Struct, frozen=True, kw_only=True):
    """A cause on the way from the faster kernel to the slower one."""

    kind: Kind
    more: str
    """The wording in this direction."""
    fewer: str
    """The wording in the other direction."""
    cycles: float | None = None
    """The share of the difference; None if unknown."""
    fast: tuple[int, ...] = ()
    slow: tuple[int, ...] = ()
    of_fast: Mapping[str, Any] = {}
    """The figures of the faster kernel."""
    of_slow: Mapping[str, Any] = {}
    """The figures of the slower kernel."""
    summed: bool = False
    """True for several kinds of work, which have no common name."""

    def turned(self) -> DirectedCause:
        """Return this cause in the other direction."""
        cycles = None if self.cycles is None else -self.cycles
        swapped = {"fast": self.slow, "slow": self.fast, "of_fast": self.of_slow, "of_slow": self.of_fast}
        return replace(self, cycles=cycles, more=self.fewer, fewer=self.more, **swapped)

    def cause(self) -> c.Cause:
        """Return the record of this cause in a comparison."""
        cycles = None if self.cycles is None else round(self.cycles, 6)
        text = self.more if cycles is None else f"{self.more}: {cycles_text(cycles)}"
        evidence = {"a": dict(self.of_fast), "b": dict(self.of_slow)} if self.of_fast or self.of_slow else {}
        return c.Cause(
            kind=self.kind, text=text, cycles=cycles, a=list(self.fast), b=list(self.slow), evidence=evidence
        )


def explain(a: ComparedKernel, b: ComparedKernel) -> list[c.Cause]:
    """Return the causes of the difference between kernels on the same core, the most important first.

    Causes without a number of cycles come last.
    """

    def causes(fast: ComparedKernel, slow: ComparedKernel) -> list[DirectedCause]:
        parts = _difference(fast, slow)
        facts = _facts(fast, slow, {each.kind for each in parts})
        return [*_summed(parts, slow.expected() - fast.expected()), *facts]

    return _from_faster(a, b, causes)


def other_core(a: ComparedKernel, b: ComparedKernel) -> list[c.Cause]:
    """Return the differences between kernels of different cores, besides the core itself.

    The share of the difference that is due to the code is unknown.
    """
    return _from_faster(a, b, lambda fast, slow: _facts(fast, slow, set()))


def _from_faster(
    a: ComparedKernel, b: ComparedKernel, causes: Callable[[ComparedKernel, ComparedKernel], list[DirectedCause]]
) -> list[c.Cause]:
    """Return the causes of the change from `a` to `b`; `causes` explains the one from the faster to the slower."""
    if _order(a) <= _order(b):
        return [each.cause() for each in causes(a, b)]
    return [each.turned().cause() for each in causes(b, a)]


def alignment(a: ComparedKernel, b: ComparedKernel) -> list[c.Cause]:
    """Return the reason why the same code on the same core is slower in one place than in another."""
    difference = b.expected() - a.expected()
    if abs(difference) <= _NOISE:
        return []
    return [DirectedCause(kind="alignment", cycles=difference, more=_ELSEWHERE, fewer=_ELSEWHERE).cause()]


_ELSEWHERE = "the same code at another address, or with differently aligned data"


def cycles_text(cycles: float) -> str:
    """Return a difference as text: +8 cycles, -1 cycle."""
    amount = amount_text(abs(cycles))
    return f"{'-' if cycles < 0 else '+'}{amount} {'cycle' if amount == '1' else 'cycles'}"


def amount_text(amount: float) -> str:
    """Return an amount with three digits, and below ten with up to three decimals: 0.125, 2.333, 12.5, 1200."""
    if amount >= 10:
        return f"{amount:.0f}" if 100 <= amount < HUGE else f"{amount:.3g}"
    return f"{amount:.3g}" if amount < 0.1 else f"{amount:.3f}".rstrip("0").rstrip(".")


def _order(compared: ComparedKernel) -> tuple[float, str, str]:
    return round(compared.expected(), 6), compared.kernel.content_hash, compared.kernel.kernel_id


def _summed(causes: Iterable[DirectedCause], whole: float) -> list[DirectedCause]:
    """Return the causes, the largest first; small ones are omitted or, if that would lose too much, summed up."""
    kept = [each for each in causes if abs(each.cycles or 0.0) >= SMALL * abs(whole) and abs(each.cycles or 0) > _NOISE]
    rest = whole - sum(each.cycles or 0.0 for each in kept)
    # Explained causes come before sums of small ones, and causes that explain much before those that explain a detail.
    kept.sort(
        key=lambda each: (each.kind not in _AT_LARGE, each.summed, -abs(each.cycles or 0.0), each.more, each.fewer)
    )
    if abs(rest) > max(SMALL * abs(whole), _NOISE):
        kept.append(DirectedCause(kind="pipeline", cycles=rest, more="other causes", fewer="other causes"))
    return kept


_AT_LARGE = ("vectorised", "vector-width")

# --- the difference ---------------------------------------------------------------------------------------------------


def _difference(fast: ComparedKernel, slow: ComparedKernel) -> list[DirectedCause]:
    """Return the causes that add up to the difference of two kernels."""
    wider = _width(fast, slow)
    if wider is None:
        return _apart(fast, slow)
    cause, times = wider
    narrow = replace(slow, scale=slow.scale / times)
    if narrow.expected() >= fast.expected():
        return [cause, *_apart(fast, narrow)]
    return [cause, *(each.turned() for each in _apart(narrow, fast))]


def _apart(fast: ComparedKernel, slow: ComparedKernel) -> list[DirectedCause]:
    """Return the causes of the difference of the largest bounds and of what is above them."""
    causes: list[DirectedCause] = []
    high, low = slow.largest_bound(), fast.largest_bound()
    if high - low > _NOISE:
        causes += _of_bound(fast, slow, high - low)
    elif low - high > _NOISE:
        causes += [each.turned() for each in _of_bound(slow, fast, low - high)]
    above = (slow.expected() - high) - (fast.expected() - low)
    for cost, more, fewer in (
        (_placement, "higher average cost of code placement", "lower average cost of code placement"),
        (_crossings, "more loads that cross cache lines", "fewer loads that cross cache lines"),
    ):
        costs = cost(fast), cost(slow)
        part = costs[1] - costs[0]
        # The cause explains no more than the remaining difference.
        part = max(min(part, max(above, 0.0)), min(above, 0.0))
        if abs(part) > _NOISE:
            above -= part
            causes.append(
                DirectedCause(
                    kind="alignment",
                    cycles=part,
                    more=more if part > 0 else fewer,
                    fewer=fewer if part > 0 else more,
                    of_fast={"cycles": round(costs[0], 6)},
                    of_slow={"cycles": round(costs[1], 6)},
                )
            )
    if abs(above) > _NOISE:
        most = slow if above > 0 else fast
        to = _lost_to(most)
        words = f"more cycles above the bounds{to}", f"fewer cycles above the bounds{to}"
        more, fewer = words if above > 0 else words[::-1]
        causes.append(
            DirectedCause(
                kind="pipeline", cycles=above, more=more, fewer=fewer, of_fast=_lost(fast), of_slow=_lost(slow)
            )
        )
    return causes


def _placement(compared: ComparedKernel) -> float:
    """Return the cycles lost on average because the linker does not choose the best address."""
    return compared.expected() - min(places(compared.kernel)) * compared.scale


def _crossings(compared: ComparedKernel) -> float:
    """Return the cycles that the simulation would gain if no load crossed a cache line."""
    gained = [w.gained for w in compared.kernel.what_ifs if w.change == "line-crossings" and not w.asked]
    return max([0.0, *gained]) * compared.scale


def _lost_to(compared: ComparedKernel) -> str:
    """Return the reason why the simulated cycles exceed the bounds, as a clause.

    If the bounds do not limit the kernel, it is what the report names as the limit; otherwise what left most of the
    empty issue slots.
    """
    kernel = compared.kernel
    if not kernel.bounds.prediction.limited_by and kernel.overview.limit:
        limits = kernel.overview.limit.split("; ")
        return f" because of {listed([_LIMITS.get(limit, limit) for limit in limits])}"
    shares: dict[str, Any] = asdict(kernel.simulated.lost_slots) if kernel.simulated else {}
    name = max(shares, key=lambda name: shares[name], default="")
    return _EMPTY_SLOTS.get(name, "") if name and shares[name] else ""


_LIMITS = {"front end": "the front end"}

_EMPTY_SLOTS = {
    "no_uops": " because of the front end",
    "reorder_buffer": " because of a full reorder buffer",
    "scheduler": " because of a full scheduler",
    "group": " because of µops that must be issued together",
    "load_buffer": " because of a full load buffer",
    "store_buffer": " because of a full store buffer",
    "registers": " because of too few physical registers",
}


def _lost(compared: ComparedKernel) -> dict[str, Any]:
    """Return the shares of empty issue slots in a simulation, by reason."""
    simulation = compared.kernel.simulated
    above = compared.expected() - compared.largest_bound()
    lost = {name: share for name, share in asdict(simulation.lost_slots).items() if share} if simulation else {}
    return {"above_bounds": round(above, 6), "lost_slots": lost}


def _of_bound(low: ComparedKernel, high: ComparedKernel, shown: float) -> list[DirectedCause]:
    """Return the causes that make the largest bound of `high` larger than in `low`; `shown` of its cycles show."""
    name = next(name for name in _BOUNDS if high.bound(name) >= high.largest_bound() - _NOISE)
    causes = _BY_BOUND[name](low, high)
    growth = sum(each.cycles or 0.0 for each in causes)
    if growth <= _NOISE or abs(growth - (high.bound(name) - low.bound(name))) > 0.02 * growth + _NOISE:
        # The contributions of instructions do not add up to the bounds, so only the bounds themselves are reported.
        kind, words = _BOUND_WORDS[name]
        more, fewer = f"a higher bound by {words}", f"a lower bound by {words}"
        one, other = ({"bound": round(compared.bound(name), 6)} for compared in (low, high))
        return [DirectedCause(kind=kind, cycles=shown, more=more, fewer=fewer, of_fast=one, of_slow=other)]
    return [replace(each, cycles=(each.cycles or 0.0) * shown / growth) for each in causes]


_BOUND_WORDS: dict[BoundName, tuple[Kind, str]] = {
    "loop_carried": ("chain", "loop-carried dependencies"),
    "port": ("ports", "ports"),
    "divider": ("divider", "the divider"),
    "front_end": ("front-end", "the front end"),
    "retire": ("retirement", "retirement"),
}

# --- what instructions are --------------------------------------------------------------------------------------------

_MEMORY = frozenset(("loads", "store addresses", "store data", "gathers", "scatters"))


def _works(instruction: t.InstructionReport) -> list[str]:
    """Return the kinds of work of an instruction's µops; in reports before 1.5, its mnemonic."""
    return instruction.work or instruction.text.split(None, 1)[:1] or ["?"]


def computes(instruction: t.InstructionReport) -> str:
    """Return an instruction's work other than loading and storing; its first work if there is no other."""
    works = _works(instruction)
    return next((work for work in reversed(works) if work not in _MEMORY), works[0])


def counted(count: float, plural: str) -> str:
    """Return a count with its noun: 1 load, 2 loads, 0.5 loads, 1 µop for gathers."""
    amount = amount_text(count)
    head, tail = re.match(r"(\S+(?: (?!for |of |between |from |and |inside |that )\S+)*)(.*)", plural).groups()  # type: ignore[union-attr]
    if amount == "1":
        head = head[:-2] if head.endswith(("ches", "shes", "sses")) else head.removesuffix("s")
    return f"{amount} {head}{tail}"


def _more_and_fewer(more: float, plural: str, where: str) -> tuple[str, str]:
    """Return “+2 reloads on the LCD” and “2 fewer reloads on the LCD”, in the order of the sign."""
    words = counted(abs(more), plural)
    texts = f"+{words}{where}", words.replace(" ", " fewer ", 1) + where
    return texts if more > 0 else texts[::-1]


# --- contributions to a bound -----------------------------------------------------------------------------------------


class Contribution(msgspec.Struct, frozen=True, kw_only=True):
    """A contribution of an instruction to a bound."""

    heading: tuple[str, str]
    """The kind of cause and the label under which it is counted."""
    instruction: int | None
    """The index of the instruction; None for none in particular."""
    number: float
    """The count, per as much work."""
    cycles: float
    """The cycles, per as much work."""


class HeadingContributions:
    """The contributions of one heading to a bound in both kernels."""

    __slots__ = ("count", "cycles", "instructions")

    def __init__(self) -> None:
        self.count = [0.0, 0.0]
        self.cycles = [0.0, 0.0]
        self.instructions: tuple[dict[int, None], dict[int, None]] = ({}, {})

    @property
    def more(self) -> float:
        """Return the number that the slower kernel has more."""
        return self.count[1] - self.count[0]

    def is_of_instructions(self, scales: Sequence[float]) -> bool:
        """Return True if each instruction counts once: counts of µops and of instructions may differ."""
        sides = zip(self.count, self.instructions, scales, strict=True)
        return all(abs(count - len(each) * scale) <= _NOISE for count, each, scale in sides)

    def evidence(self, side: int) -> dict[str, Any]:
        return {"count": round(self.count[side], 6), "cycles": round(self.cycles[side], 6)}


def _headings(low: Iterable[Contribution], high: Iterable[Contribution]) -> dict[tuple[str, str], HeadingContributions]:
    """Return the contributions by heading; those to the faster kernel first."""
    headings: dict[tuple[str, str], HeadingContributions] = {}
    for side, contributions in enumerate((low, high)):
        for each in contributions:
            heading = headings.setdefault(each.heading, HeadingContributions())
            heading.count[side] += each.number
            heading.cycles[side] += each.cycles
            if each.instruction is not None:
                heading.instructions[side][each.instruction] = None
    return headings


def _cause(kind: Kind, heading: HeadingContributions, more: str, fewer: str) -> DirectedCause:
    return DirectedCause(
        kind=kind,
        cycles=heading.cycles[1] - heading.cycles[0],
        more=more,
        fewer=fewer,
        fast=tuple(heading.instructions[0]),
        slow=tuple(heading.instructions[1]),
        of_fast=heading.evidence(0),
        of_slow=heading.evidence(1),
    )


# --- the longest chain ------------------------------------------------------------------------------------------------


def _chain_steps(compared: ComparedKernel) -> Iterator[Contribution]:
    """Yield the steps of the longest chain: the cycles that each adds for as much work."""
    chain = next(iter(compared.kernel.chains), None)
    if chain is None or max((step.to for step in chain.steps), default=0) >= len(compared.instructions):
        return  # in the latter case, the report contradicts itself
    once = compared.scale / chain.iterations
    for n, step in enumerate(chain.steps):
        to = compared.instructions[step.to]
        after = chain.steps[(n + 1) % len(chain.steps)]
        if step.kind == "memory":
            heading = "memory", "reloads" if to.frame else "loads of values that the loop stored"
        elif step.kind != "internal" and after.kind == "internal" and after.to == step.to:
            heading = "work", "loads"
        else:
            heading = "work", computes(to)
        yield Contribution(heading=heading, instruction=step.to, number=once, cycles=step.latency * once)


def _chain(low: ComparedKernel, high: ComparedKernel) -> list[DirectedCause]:
    causes = []
    for (kind, label), heading in _headings(_chain_steps(low), _chain_steps(high)).items():
        more = heading.more
        if abs(more) <= _NOISE:
            each = [heading.cycles[n] / heading.count[n] if heading.count[n] else 0.0 for n in (0, 1)]
            first, second = (amount_text(cycles) for cycles in each)
            this, other = ("faster", "slower") if each[1] < each[0] else ("slower", "faster")
            words = (
                f"{this} {label} on the LCD ({first} → {second} cycles)",
                f"{other} {label} on the LCD ({second} → {first} cycles)",
            )
        else:
            words = _more_and_fewer(more, label, " on the LCD")
            if kind == "work" and _as_much(low, high, label):
                # All of the work is still done, but less of it on the chain.
                sides = "fewer parallel chains: ", "more parallel chains: "
                sides = sides if more > 0 else sides[::-1]
                words = sides[0] + words[0], sides[1] + words[1]
        causes.append(_cause("chain-memory" if kind == "memory" else "chain", heading, *words))
    return causes


def _as_much(low: ComparedKernel, high: ComparedKernel, label: str) -> bool:
    """Return True if both kernels do as much of a kind of work, on the chain or elsewhere."""
    done = [compared.scale * sum(computes(i) == label for i in compared.instructions) for compared in (low, high)]
    return bool(done[0]) and abs(done[1] - done[0]) <= 0.01 * max(done)


# --- ports, slots, dividers -------------------------------------------------------------------------------------------


def _headed(compared: ComparedKernel, i: int, work: str) -> tuple[str, str]:
    """Return the heading for an instruction's µops of some work in a bound by throughput.

    If an instruction computes with a value that it reloads, only its load is counted as a reload.
    """
    instruction = compared.instructions[i]
    if instruction.frame and work in _MEMORY:
        return "spills", "spills" if instruction.stores else "reloads"
    if i in compared.overhead:
        return "loop", "loop overhead"
    if instruction.eliminated:
        return "work", "eliminated moves"
    return "work", work


def _parts(compared: ComparedKernel, i: int, slots: int) -> list[tuple[str, int]]:
    """Return the slots that an instruction takes, by the work that they are for.

    A load or store takes only the slots that its computation alone would not: a load that is fused with it takes none.
    """
    instruction = compared.instructions[i]
    works = _works(instruction)
    computing = computes(instruction)
    if not instruction.frame or computing in _MEMORY:
        return [(computing, slots)]
    terms = zip(_terms(instruction, compared.ports), works, strict=False)
    alone = min(slots, max(1, sum(count for (count, _), work in terms if work not in _MEMORY)))
    memory = next(work for work in works if work in _MEMORY) if slots > alone else ""
    return [(computing, alone), *([(memory, slots - alone)] if memory else [])]


def _terms(instruction: t.InstructionReport, names: frozenset[str]) -> list[tuple[int, frozenset[str]]]:
    """Return the numbers of µops and the ports that they may use, among `names`; units are omitted."""
    terms = []
    for count, text in re.findall(r"(\d+)\*p(\([^)]*\)|[^+]+)", instruction.ports):
        inside = text[1:-1].split(",") if text[0] == "(" else [text] if text in names else list(text)
        if names.issuperset(inside):
            terms.append((int(count), frozenset(inside)))
    return terms


def _ports(low: ComparedKernel, high: ComparedKernel) -> list[DirectedCause]:
    """Return the causes on the ports that are busiest in `high`: µops that can go nowhere else."""
    busiest = [r.name for r in high.kernel.resources if r.busiest and r.kind == "port"]
    if not busiest:
        return []
    inside = frozenset(busiest)

    def contributions_of(compared: ComparedKernel) -> Iterator[Contribution]:
        for i, instruction in enumerate(compared.instructions):
            works = _works(instruction)
            for n, (count, allowed) in enumerate(_terms(instruction, compared.ports)):
                if allowed <= inside:
                    heading = _headed(compared, i, works[min(n, len(works) - 1)])
                    number = count * compared.scale
                    yield Contribution(heading=heading, instruction=i, number=number, cycles=number / len(inside))

    contributions = [list(contributions_of(compared)) for compared in (low, high)]
    whole = sum(each.cycles for each in contributions[1])
    if abs(whole - high.bound("port")) > 0.001 * whole + _NOISE and high.kernel.memory.line_crossings:
        # A load that crosses a line takes its port twice.
        for each, compared in zip(contributions, (low, high), strict=True):
            crossings = compared.kernel.memory.line_crossings * compared.scale
            if crossings:
                heading, cycles = ("lines", "line crossings"), crossings / len(inside)
                each.append(Contribution(heading=heading, instruction=None, number=crossings, cycles=cycles))
    where = f" on {ports(busiest)}"
    causes = _throughput(low, high, contributions, "ports", where)
    short = high.bound("port") - low.bound("port")
    growth = sum(each.cycles or 0.0 for each in causes)
    # Other ports may be busiest in the faster kernel; then less than all of the growth shows.
    return (
        [replace(each, cycles=(each.cycles or 0.0) * short / growth) for each in causes]
        if growth > short > 0
        else causes
    )


def _slots(low: ComparedKernel, high: ComparedKernel, name: Literal["front_end", "retire"]) -> list[DirectedCause]:
    """Return the causes of a bound by µops that are issued or retired per cycle."""

    def contributions_of(compared: ComparedKernel) -> Iterator[Contribution]:
        slots = [i.issue_slots if name == "front_end" else i.retire_slots for i in compared.instructions]
        each_takes = compared.bound(name) / sum(slots) if sum(slots) else 0.0
        for i, taken in enumerate(slots):
            for work, number in _parts(compared, i, taken):
                if number:
                    heading, cycles = _headed(compared, i, work), number * each_takes
                    yield Contribution(heading=heading, instruction=i, number=number * compared.scale, cycles=cycles)

    contributions = contributions_of(low), contributions_of(high)
    if name == "front_end":
        return _throughput(low, high, contributions, "front-end", " to issue")
    return _throughput(low, high, contributions, "retirement", " to retire")


def _throughput(
    low: ComparedKernel, high: ComparedKernel, contributions: Sequence[Iterable[Contribution]], kind: Kind, where: str
) -> list[DirectedCause]:
    """Return the causes of a bound by throughput.

    They are spills, loop overhead, and the other µops by kinds of work, of which the most important have causes of
    their own.
    """
    headings = _headings(*contributions)
    causes: list[DirectedCause] = []
    works: list[tuple[str, HeadingContributions]] = []
    for (what, label), heading in headings.items():
        more = heading.more
        if abs(heading.cycles[1] - heading.cycles[0]) <= _NOISE:
            continue
        if what == "spills":
            # Instructions are counted here, because an instruction may have two µops, for an address and for data.
            times = [
                len(each) * compared.scale for each, compared in zip(heading.instructions, (low, high), strict=True)
            ]
            if abs(times[1] - times[0]) > _NOISE:
                more = times[1] - times[0]
            else:
                label = f"µops for {label}"
            causes.append(_cause("spills", heading, *_more_and_fewer(more, label, where)))
        elif what == "lines":
            causes.append(_cause("alignment", heading, *_more_and_fewer(more, label, where)))
        elif what == "loop" and abs(low.scale - high.scale) > _NOISE * high.scale:
            texts = "loop overhead spread over less work", "loop overhead spread over more work"
            causes.append(_cause("unrolled", heading, *(texts if more > 0 else texts[::-1])))
        elif what == "loop":
            causes.append(_cause(kind, heading, *_more_and_fewer(more, "µops of loop overhead", where)))
        else:
            works.append((label, heading))
    works.sort(key=lambda each: (-abs(each[1].cycles[1] - each[1].cycles[0]), each[0]))
    for label, heading in works[:MOST]:
        more = heading.more
        if not heading.is_of_instructions((low.scale, high.scale)):
            label = f"µops for {label}"
        causes.append(_cause(kind, heading, *_more_and_fewer(more, label, where)))
    if works[MOST:]:
        rest = HeadingContributions()
        for _, heading in works[MOST:]:
            for side in (0, 1):
                rest.count[side] += heading.count[side]
                rest.cycles[side] += heading.cycles[side]
                rest.instructions[side].update(heading.instructions[side])
        more = rest.more
        texts = _more_and_fewer(more, "other µops", where) if abs(more) > _NOISE else (f"other µops{where}",) * 2
        causes.append(replace(_cause(kind, rest, *texts), summed=True))
    return causes


def _divider(low: ComparedKernel, high: ComparedKernel) -> list[DirectedCause]:
    """Return the causes on the divider that is busiest in `high`."""
    units = [r for r in high.kernel.resources if r.kind == "unit"]
    if not units:
        return []
    name = max(units, key=lambda r: r.load).name
    divider = f"the {unit(name)}"

    def contributions_of(compared: ComparedKernel) -> Iterator[Contribution]:
        column = next((p for p, r in enumerate(compared.kernel.resources) if r.name == name), None)
        for n, i in enumerate(compared.instructions):
            if column is not None and any(i.pressure[column : column + 1]):
                heading, cycles = ("work", computes(i)), i.pressure[column] * compared.scale
                yield Contribution(heading=heading, instruction=n, number=compared.scale, cycles=cycles)

    causes = []
    for (_, label), heading in _headings(contributions_of(low), contributions_of(high)).items():
        more = heading.more
        if abs(more) > _NOISE:
            words = _more_and_fewer(more, label, f" on {divider}")
        else:
            texts = f"{label} occupy {divider} longer", f"{label} occupy {divider} more briefly"
            words = texts if heading.cycles[1] > heading.cycles[0] else texts[::-1]
        causes.append(_cause("divider", heading, *words))
    return causes


_BY_BOUND: dict[BoundName, Callable[[ComparedKernel, ComparedKernel], list[DirectedCause]]] = {
    "loop_carried": _chain,
    "port": _ports,
    "divider": _divider,
    "front_end": lambda low, high: _slots(low, high, "front_end"),
    "retire": lambda low, high: _slots(low, high, "retire"),
}

# --- how wide ---------------------------------------------------------------------------------------------------------


def vector_bits(kernel: t.KernelReport) -> int:
    """Return the width of the vectors that a kernel computes with or, if it does not, moves; 0 for scalar code."""
    arithmetic, widest = kernel.arithmetic, kernel.memory.widest_access_bits
    if arithmetic.packed_share is None:
        return widest if widest >= 128 else 0
    return arithmetic.vector_bits


def _width(fast: ComparedKernel, slow: ComparedKernel) -> tuple[DirectedCause, float] | None:
    """Return the cause that the faster kernel has wider vectors, and the factor; None if that explains too little."""
    times = _times_as_wide(slow.kernel, fast.kernel)
    if times is None or times <= 1:
        return None
    # Wider loads cross more cache lines, which is a cause of its own.
    apart = slow.expected() - _crossings(slow)
    whole, part = apart - (fast.expected() - _crossings(fast)), apart * (1 - 1 / times)
    if not 0.5 * whole <= part <= 1.5 * whole:
        return None
    return _width_cause(fast, slow, slow.expected() * (1 - 1 / times)), times


def _width_cause(fast: ComparedKernel, slow: ComparedKernel, cycles: float | None) -> DirectedCause:
    wide, narrow = vector_bits(fast.kernel), vector_bits(slow.kernel)
    kind: Kind = "vector-width" if wide and narrow else "vectorised"
    return DirectedCause(
        kind=kind,
        cycles=cycles,
        more=f"{_width_words(narrow)} instead of {_width_words(wide)}",
        fewer=f"{_width_words(wide)} instead of {_width_words(narrow)}",
        of_fast=_width_evidence(fast),
        of_slow=_width_evidence(slow),
    )


def _width_words(bits: int) -> str:
    return f"{bits}-bit vectors" if bits else "scalar code"


def _width_evidence(compared: ComparedKernel) -> dict[str, Any]:
    return {"vector_bits": vector_bits(compared.kernel), "packed_share": compared.kernel.arithmetic.packed_share}


def _times_as_wide(narrow: t.KernelReport, wide: t.KernelReport) -> float | None:
    """Return how many times as many elements an operation of `wide` handles on average; None if unknown."""
    bits, shares = [], []
    for kernel in (narrow, wide):
        bits.append(vector_bits(kernel))
        share = kernel.arithmetic.packed_share
        shares.append(1.0 if share is None else share)
    if all(bits) and shares == [1.0, 1.0]:
        return bits[1] / bits[0]
    # Scalar code shows how wide an element is: its loads and stores move one.
    element = next((k.memory.widest_access_bits for k, b in zip((narrow, wide), bits, strict=True) if not b), 0)
    if not 8 <= element <= 64:
        return None
    each = [1.0 if not b else 1 / (share * element / b + 1 - share) for b, share in zip(bits, shares, strict=True)]
    return each[1] / each[0]


# --- what else differs ------------------------------------------------------------------------------------------------


def _facts(fast: ComparedKernel, slow: ComparedKernel, explained: set[Kind]) -> list[DirectedCause]:
    """Return differences without a number of cycles; `explained` has the kinds of causes that have one."""
    causes: list[DirectedCause] = []
    if vector_bits(fast.kernel) != vector_bits(slow.kernel) and not explained & {"vectorised", "vector-width"}:
        causes.append(_width_cause(fast, slow, None))
    if "unrolled" not in explained:
        causes += _unrolled(fast, slow)
    causes += _calls(fast, slow)
    for kind, plural, where, indices in _COUNTED:
        if kind != "spills" or not explained & {"spills", "chain-memory"}:
            causes += _counts(fast, slow, kind, plural, where, indices)
    for name, words in (("flop", "floating-point operations"), ("integer_operations", "integer vector operations")):
        done = [getattr(compared.kernel.arithmetic, name) * compared.scale for compared in (fast, slow)]
        if abs(done[1] - done[0]) > 0.01 * max(done) + _NOISE:
            texts = _more_and_fewer(done[1] - done[0], words, "")
            one, other = ({name: round(each, 6)} for each in done)
            causes.append(DirectedCause(kind="work", more=texts[0], fewer=texts[1], of_fast=one, of_slow=other))
    return causes


def _unrolled(fast: ComparedKernel, slow: ComparedKernel) -> list[DirectedCause]:
    """Return the cause that an iteration does more for another reason than wider vectors."""
    times = fast.scale / slow.scale if slow.scale else 1.0
    wide = _times_as_wide(fast.kernel, slow.kernel) if vector_bits(fast.kernel) != vector_bits(slow.kernel) else 1.0
    # An iteration of the slower kernel does this many times as much.
    if wide is None or not times or abs(times / wide - 1) <= 0.01:
        return []
    ratio, what = times / wide, "unroll factor"
    if any(compared.kernel.arithmetic.packed_share not in (None, 0.0, 1.0) for compared in (fast, slow)):
        # If only some operations are packed, it is unknown if they are packed across iterations or within one.
        if abs(times - 1) <= 0.01:
            return []
        ratio, what = times, "work of an iteration"
    more, fewer = f"{what} ×{amount_text(max(ratio, 1 / ratio))}", f"{what} ÷{amount_text(max(ratio, 1 / ratio))}"
    more, fewer = (more, fewer) if ratio > 1 else (fewer, more)
    return [DirectedCause(kind="unrolled", more=more, fewer=fewer)]


_COUNTED: tuple[tuple[Kind, str, str, Callable[[ComparedKernel], list[int]]], ...] = (
    (
        *("unknown-instructions", "instructions that the model lacks", ""),
        lambda compared: [i.index for i in compared.kernel.unknown_instructions],
    ),
    (
        *("branches", "branches", " inside the loop"),
        lambda compared: [branch[-1] for branch in compared.branches if branch != compared.closing],
    ),
    ("spills", "spills", "", lambda compared: [n for n, i in enumerate(compared.instructions) if i.frame and i.stores]),
    ("spills", "reloads", "", lambda compared: [n for n, i in enumerate(compared.instructions) if i.frame and i.loads]),
)
"""Kinds of instructions that are counted: kind of cause, noun, place and function for the instructions' indices."""


def _counts(
    fast: ComparedKernel,
    slow: ComparedKernel,
    kind: Kind,
    plural: str,
    where: str,
    indices: Callable[[ComparedKernel], list[int]],
) -> list[DirectedCause]:
    """Return a cause if there are more of some instructions for as much work."""
    ours, theirs = indices(fast), indices(slow)
    counts = len(ours) * fast.scale, len(theirs) * slow.scale
    if abs(counts[1] - counts[0]) <= 0.01 * max(counts) + _NOISE:
        return []
    more, fewer = _more_and_fewer(counts[1] - counts[0], plural, where)
    one, other = ({"count": round(count, 6)} for count in counts)
    return [
        DirectedCause(
            kind=kind, more=more, fewer=fewer, fast=tuple(ours), slow=tuple(theirs), of_fast=one, of_slow=other
        )
    ]


def _calls(fast: ComparedKernel, slow: ComparedKernel) -> list[DirectedCause]:
    """Return a cause for each call that only one kernel has."""
    ours, theirs = (dict.fromkeys(calls(compared.kernel)) for compared in (fast, slow))
    causes = [
        DirectedCause(kind="calls", more=f"with {call}", fewer=f"without {call}") for call in theirs if call not in ours
    ]
    causes += [
        DirectedCause(kind="calls", more=f"without {call}", fewer=f"with {call}") for call in ours if call not in theirs
    ]
    return sorted(causes, key=lambda each: min(each.more, each.fewer))
