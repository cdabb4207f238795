"""Rules on avoidable loop-carried dependencies: sums, maxima, and values that go through memory."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from collections.abc import Set as AbstractSet
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from incc.core import Chain, PathStep
from incc.core.prediction import CLOSE
from incc.frontends.isa import isa
from incc.frontends.kernel import Instruction, MemoryAccess
from incc.models.binding.bound import IS_LOAD, IS_STORE
from incc.report import types as t
from incc.report import wording
from incc.report.hints.advice import CLANG, GCC, advise, both
from incc.report.hints.arithmetic import tests_products
from incc.report.hints.common import (
    bound_without,
    calls,
    hint,
    inner_branches,
    operations,
    speedup,
    stored_in_place,
    worth_breaking,
    written_roots,
)
from incc.report.hints.context import HintContext
from incc.report.hints.estimates import MOST_TRIPS, gain_at, least_trips, packed_gain
from incc.report.verdict import chain_instructions

if TYPE_CHECKING:
    from incc.core.analysis import KernelResult


def sum_chain(facts: KernelResult, context: HintContext) -> t.Hint | None:
    """Advise several accumulators, or reordering, if a reduction limits the loop.

    A chain of floating-point additions is a reduction if nothing else reads its partial sums; with several accumulators
    the additions of different iterations overlap. The same holds for multiplications. A running sum that is stored in
    each iteration is no reduction, nor is a recurrence that multiplies what it carries. If several chains limit the
    loop alike, all of them must be reductions.
    """
    chains = _chains_alike(facts)
    product = bool(chains) and all(is_product(chain, facts) for chain in chains)
    if not chains or not (product or all(is_reduction(chain, facts) for chain in chains)):
        return None
    members = [i for chain in chains for i in chain_instructions(chain)]
    packed = all(arithmetic.packed for i in members if (arithmetic := facts.kernel.instructions[i].arithmetic))
    operation, combine = ("multiplication", "multiply them") if product else ("addition", "add them up")
    advice = advise("accumulators", context.build)
    if not packed:
        advice = advise("vectorise" if context.build.reorders else "reassociate", context.build) or advice
    if advice is not None and tests_products(facts, context):
        more = None if packed else advise("complex", context.build)
        advice = more and both(advice, more)
    several = _several(facts, len(chains))
    of_each = f" for each {'product' if product else 'sum'}" if len(chains) > 1 else ""
    change = f"use {several // len(chains)} independent accumulators{of_each} and {combine} after the loop"
    number = "a reduction chain" if len(chains) == 1 else f"{len(chains)} reduction chains"
    text = f"each {operation} waits for the previous one ({number}, {wording.places(facts.kernel, members)})"
    vectors = advice is not None and not packed
    gain = _gain(facts, context, chains, several, vectors)
    clause = _from_trips(facts, context, chains) if vectors else ""
    return hint("sum-chain", text, _evidence(facts, chains, members, packed), advice, change, clause, gain)


def _from_trips(facts: KernelResult, context: HintContext, chains: Sequence[Chain]) -> str:
    """Return a clause on the iterations from which on vectors gain, if an inner loop may have fewer."""
    region = facts.kernel.region
    if context.trips or region is None or region.depth < 2:
        return ""
    least = least_trips(facts, context, chains[0].cycles_per_iteration)
    return f" if the loop has at least {least} iterations" if 1 < least < MOST_TRIPS else ""


def _gain(
    facts: KernelResult, context: HintContext, chains: Sequence[Chain], several: int, vectors: bool
) -> Fraction | None:
    """Return the gain of several partial results per reduction, or of vectors of them if that is larger."""
    carried = chains[0].cycles_per_iteration
    split = gain_at(facts, context, carried, max(_least(facts), carried * len(chains) / several), 1)
    if not vectors:
        return split
    # gcc's vectors hold both parts of complex numbers, and so half as many numbers.
    parts = 2 if context.build.family == GCC and tests_products(facts, context) else 1
    gain = packed_gain(facts, context, carried * parts)
    if gain is None:
        # The loop has vectors, whose elements it adds one by one.
        members = {i for chain in chains for i in chain_instructions(chain)}
        shuffles = _taking_apart(facts, members)
        one = Fraction(chains[0].latency, max(1, len(chain_instructions(chains[0]))))
        after = max(bound_without(facts, {*members, *shuffles}), one)
        gain = gain_at(facts, context, carried, after, context.elements)
    return max(gain, split)


def _taking_apart(facts: KernelResult, members: AbstractSet[int]) -> set[int]:
    """Return the shuffles that only take vectors apart for a sum of single elements, made by these instructions."""
    apart = {*operations(facts.kernel, "shuffle")}
    edges = facts.analysis.edges
    while others := {e.producer for e in edges if e.producer in apart and e.consumer not in apart | members}:
        apart -= others
    return apart


def _least(facts: KernelResult) -> Fraction:
    """Return the largest bound of a loop without its chains."""
    bounds = facts.bounds
    return max(bounds.port, bounds.divider, bounds.front_end, bounds.retire)


def extremum_chain(facts: KernelResult, context: HintContext) -> t.Hint | None:
    """Report a limiting chain of maxima or minima.

    Their order does not matter, except for NaN and the sign of zero, which is why a compiler keeps it.
    """
    extrema = operations(facts.kernel, "extremum")
    chains = _chains_alike(facts, CLOSE) if extrema else []
    if not chains:
        return None
    members = sorted({i for chain in chains for i in chain_instructions(chain)})
    choosing = _choosing(facts, members)
    if choosing.isdisjoint(extrema) or not {*members} <= choosing:
        return None
    if any(step.location < 0 for chain in chains for step in chain.steps):
        return None
    packed = all(arithmetic.packed for i in members if (arithmetic := facts.kernel.instructions[i].arithmetic))
    # No compiler makes vectors of a loop that also keeps the place of the extremum.
    alone = all(edge.consumer in choosing for edge in facts.analysis.edges if edge.producer in choosing)
    advice = None
    if alone and not packed:
        advice = advise("extremum", context.build) or advise("vectorise", context.build)
    several = _several(facts, len(chains))
    variables = "independent variables" + (" for each" if len(chains) > 1 else "")
    variables += "" if alone else ", each with what belongs to it,"
    change = f"use {several // len(chains)} {variables} and compare them after the loop"
    return hint(
        "extremum-chain",
        f"each maximum or minimum waits for the previous one ({wording.places(facts.kernel, members)})",
        _evidence(facts, chains, members, packed),
        advice,
        change,
        gain=_gain(facts, context, chains, several, vectors=advice is not None),
    )


_CHOICES = frozenset(("maxima and minima", "vector comparisons", "vector logic", "blends", "moves"))
"""The work of maxima and minima, and the tests and choices of fmax and fmin, which prefer numbers to NaN."""


def _choosing(facts: KernelResult, members: Sequence[int]) -> AbstractSet[int]:
    """Return the instructions that choose among numbers and are in a chain or depend on one that is."""
    work_of, instructions = isa(facts.kernel.isa).work_of, facts.kernel.instructions
    choices = {i for i, instruction in enumerate(instructions) if work_of(instruction) in _CHOICES}
    reached = {*members} & choices
    while more := {e.consumer for e in facts.analysis.edges if e.producer in reached} & choices - reached:
        reached |= more
    return reached


def _evidence(facts: KernelResult, chains: Sequence[Chain], members: list[int], packed: bool) -> dict[str, Any]:
    latency = facts.analysis.chains[0].latency
    return {"instructions": members, "latency": latency, "chains": len(chains), "packed": packed}


def memory_chain(facts: KernelResult, context: HintContext) -> t.Hint | None:
    """Report a limiting chain that stores a value and loads it back."""
    chain = _limiting_chain(facts)
    # A function that is called may change every register that could hold the value.
    if chain is None or calls(facts.kernel) or not worth_breaking(facts):
        return None
    flags = facts.bound.instruction_flags
    through = [
        s
        for s in chain.steps
        if s.location < 0
        and (s.producer != s.consumer or s.distance > 0)
        # Not from one load to the next that waits for the same store.
        and flags[s.producer] & (IS_LOAD | IS_STORE) != IS_LOAD
    ]
    if not through:
        return None
    step = through[0]
    when = "in the same iteration"
    if step.distance:
        when = "in the next iteration" if step.distance == 1 else f"{step.distance} iterations later"
    store, load = wording.two_places(facts.kernel, step.producer, step.consumer)
    spent = sum(s.latency for s in through)
    others = f" (and {wording.counted(len(through) - 1, 'more such step')})" if len(through) > 1 else ""
    change = "keep the value in a local variable from one iteration to the next"
    return hint(
        "memory-chain",
        f"{spent} of the chain's {wording.cycles(chain.latency)} are store forwarding: {store} stores a value that "
        f"{load} loads {when}{others}",
        {
            "stores": [s.producer for s in through],
            "loads": [s.consumer for s in through],
            "latency": spent,
            "chain_latency": chain.latency,
        },
        change=change,
        gain=speedup(facts, max(_least(facts), Fraction(chain.latency - spent, chain.distance))),
    )


# The last tested clang that does not vectorise such a loop. Version 19 does, with a run-time check for overlap.
_WITHOUT_ALIAS_CHECKS = 14


def _checks_overlap(context: HintContext) -> bool:
    """Return True if the compiler checks at run time whether the place of a sum is part of the array that is read."""
    return context.build.family == CLANG and context.build.version > _WITHOUT_ALIAS_CHECKS


def stored_accumulator(facts: KernelResult, context: HintContext) -> t.Hint | None:
    """Advise a local accumulator if a sum is stored to one place in each iteration.

    The place may be part of the array that is read, so the sum has to be in memory before each element is. Compilers
    keep it in a register as well, but add several elements at once only with a check for overlap, and those of
    floating point only if they may reorder the sum.
    """
    kernel, build = facts.kernel, context.build
    places = stored_in_place(kernel)
    if not kernel.is_loop or not places or not _only_adds_up(facts, context, places):
        return None
    chains = _chains_alike(facts)
    sums = [i.arithmetic for i in kernel.instructions if i.arithmetic]
    floating = any(arithmetic.floating for arithmetic in sums)
    if any(arithmetic.packed for arithmetic in sums) or any(_recurrence_kind(chain, facts) for chain in chains):
        return None  # a hash, for example, is no sum
    if floating and not (chains and all(is_reduction(chain, facts, places) for chain in chains)):
        return None
    checks = _checks_overlap(context)
    change = "add up in a local variable and store it after the loop"
    advice = advise("vectorise" if build.reorders else "reassociate", build) if floating else None
    gain: Fraction | None
    if floating and not build.reorders:
        several = _several(facts, len(chains))
        gain = _gain(facts, context, chains, several, vectors=advice is not None)
        # Without the local variable, the flags gain nothing.
        flags = advice.text if advice is not None and not checks else ""
        change = _several_variables(len(chains), several, flags)
        advice = None if flags else advice
    elif not build.family or not build.vectorises or checks:
        return None
    else:
        gain = packed_gain(facts, context, facts.bounds.loop_carried)
    return hint(
        "stored-accumulator",
        f"the sum is stored in each iteration ({wording.places(kernel, places)}), perhaps to an element that the loop "
        "reads later",
        {"stores": places},
        advice,
        change,
        gain=gain,
    )


def _several_variables(sums: int, variables: int, flags: str) -> str:
    """Return the advice to add up sums in several local variables, or in one each with flags if there are any."""
    of_each, their = (" for each sum", "sums") if sums > 1 else ("", "sum")
    change = f"add up in {variables // sums} local variables{of_each}, and store their {their} after the loop"
    return f"{change}, or add up in one{of_each} and compile with {flags}" if flags else change


def _only_adds_up(facts: KernelResult, context: HintContext, places: Sequence[int]) -> bool:
    """Return True if a loop without branches and calls carries the values that it stores to these places."""
    if calls(facts.kernel) or inner_branches(facts.kernel) or memory_chain(facts, context) is not None:
        return False
    return _carries_stored_value(facts, places)


def recurrence(facts: KernelResult, context: HintContext) -> t.Hint | None:
    """Report a limiting chain that only another algorithm breaks.

    No compiler may change, or changes, the order of such operations: floating-point numbers that are both added to and
    multiplied, or whose running sums are stored; a load from the address that the last one loaded, or at an index
    computed from its value; integers that are looked up in tables, or multiplied or shifted and then processed
    further. A possible reduction, perhaps under a condition, does not count, so chains with any other operation are
    ignored.
    """
    chains = _chains_alike(facts, CLOSE)
    kinds = {_recurrence_kind(chain, facts) for chain in chains}
    kind = kinds.pop() if len(kinds) == 1 else None
    # Integers only where the chain alone explains the time.
    if kind is None or (kind == "integer" and _limiting_chain(facts) is None):
        return None
    members = sorted({i for chain in chains for i in chain_instructions(chain)})
    first = facts.analysis.chains[0]
    why, change = _RECURRENCES[kind]
    loads = sum(step.location >= 0 and _addresses(step, facts) != [] for step in first.steps)
    why = why.format(
        where=wording.places(facts.kernel, members), latency=wording.cycles(Fraction(first.latency, loads or 1))
    )
    evidence = {"instructions": members, "kind": kind, "latency": first.latency}
    text = f"{why}, and no compiler flag changes that"
    return hint("recurrence", text, evidence, None, change)


def _carries_stored_value(facts: KernelResult, places: Sequence[int]) -> bool:
    """Return True if a value that is stored to one of these places is carried into the next iteration."""
    edges = facts.analysis.edges
    carried = {e.producer for e in edges if e.distance == 1 and e.producer == e.consumer}
    carried |= {s.producer for chain in facts.analysis.chains for s in chain.steps if s.distance}
    stored = {e.producer for e in edges if e.consumer in places and e.distance == 0} | set(places)
    return bool(stored & carried)


_RECURRENCES = {
    "arithmetic": (
        "each iteration needs the result of the previous one ({where})",
        "interleave independent work (several polynomials, rows or filters) or use another algorithm",
    ),
    "pointer": (
        "each load needs the address that the previous one loaded ({where}), {latency} from the L1 cache and more "
        "from elsewhere",
        "follow several lists at once or keep the elements in an array",
    ),
    "lookup": (
        "each load needs an index computed from the value of the previous one ({where}), {latency} from the L1 cache "
        "and more from elsewhere",
        "interleave independent work (several streams) or use another algorithm",
    ),
    "integer": (
        "each iteration needs the result of the previous one ({where})",
        "interleave independent work (several streams) or use another algorithm",
    ),
}
"""The cause and the remedy of each kind of recurrence."""

_FLOATING = frozenset(
    ("floating-point additions", "floating-point multiplications", "FMAs", "divisions", "square roots")
)
# Integer work that a recurrence may consist of, besides moves. Conditional moves are not included, since they may be a
# sum of some elements, or a maximum.
_IN_ORDER = frozenset(("integer multiplications", "logic", "integer additions", "shifts", "address computations"))


def _recurrence_kind(chain: Chain, facts: KernelResult) -> str | None:
    """Return the kind of a recurrence; None if the chain may be something else."""
    kernel = facts.kernel
    # From an instruction's load to its result nothing is carried; what goes through memory a register would shorten.
    steps = [step for step in chain.steps if step.location >= 0 or step.producer != step.consumer or step.distance]
    if any(step.location < 0 for step in steps):
        return None
    work_of = {i: isa(kernel.isa).work_of(kernel.instructions[i]) for i in chain_instructions(chain)}
    works = {work for work in work_of.values() if work != "moves"}
    arithmetic = [kernel.instructions[i].arithmetic for i, work in work_of.items() if work != "moves"]
    if arithmetic and all(a is not None and a.floating for a in arithmetic):
        computing = [step for step in steps if work_of[step.consumer] != "moves"]
        return "arithmetic" if works <= _FLOATING and _is_polynomial(computing, list(work_of), facts) else None
    return None if any(arithmetic) or not works <= _IN_ORDER else _integer_kind(steps, works, facts)


def _integer_kind(steps: Sequence[PathStep], works: AbstractSet[str], facts: KernelResult) -> str | None:
    """Return the kind of a recurrence of integer work in a fixed order; None if it may be a sum."""
    if any(_addresses(step, facts) for step in steps):
        if not works <= {"address computations"}:
            return "integer"
        return "pointer" if all(_keeps_pointer(step, facts) for step in steps) else "lookup"
    scaled = works & {"integer multiplications", "shifts"}
    return "integer" if scaled and works - scaled else None


def _is_polynomial(steps: Sequence[PathStep], members: Sequence[int], facts: KernelResult) -> bool:
    """Return True if a chain of floating-point steps both adds to its value and multiplies it, or stores its sums."""
    consumers = [(step, facts.kernel.instructions[step.consumer]) for step in steps]
    if all(instruction.sum is None for _, instruction in consumers):
        return False
    names = facts.bound.location_names
    return any(names[step.location] not in _addend_roots(i) for step, i in consumers) or _is_stored(members, facts)


def _is_stored(members: Sequence[int], facts: KernelResult) -> bool:
    """Return True if a chain's value is stored in each iteration, to another place each time."""
    flags = facts.bound.instruction_flags
    stores = {e.consumer for e in facts.analysis.edges if e.producer in members and flags[e.consumer] & IS_STORE}
    return bool(stores) and not stores & set(stored_in_place(facts.kernel))


def _addresses(step: PathStep, facts: KernelResult) -> list[MemoryAccess]:
    """Return the loads of a step's consumer whose addresses the step's value is, or is part of."""
    root = facts.bound.location_names[step.location]
    consumer = facts.kernel.instructions[step.consumer]
    return [
        access
        for access in consumer.memory
        if access.load and root in {register.root for register in (access.base, access.index) if register is not None}
    ]


def _keeps_pointer(step: PathStep, facts: KernelResult) -> bool:
    """Return True if a step's value is a pointer if its result is: loaded from, copied, or displaced by a constant.

    As part of an address it is the base. One of two registers that are added unscaled may be either.
    """
    consumer = facts.kernel.instructions[step.consumer]
    if accesses := _addresses(step, facts):
        root = facts.bound.location_names[step.location]
        return all(
            access.base is not None
            and access.base.root == root
            and not access.symbol
            and (access.index is None or access.scale > 1)
            for access in accesses
        )
    affine = consumer.affine
    return affine is None or [times for _, times in affine.terms] == [1]


def _chains_alike(facts: KernelResult, reached: float = 1) -> list[Chain]:
    """Return the chains that limit a loop, all of the same length; none if the loop would not gain without them.

    If no bound explains the prediction, chains count if they reach the share `reached` of it.
    """
    close = not facts.limits and facts.bounds.loop_carried >= Fraction(reached) * facts.cycles
    if _limiting_chain(facts) is None and not (close and facts.analysis.chains):
        return []
    if calls(facts.kernel) or not worth_breaking(facts):
        return []
    limit = facts.analysis.chains[0].cycles_per_iteration
    return [chain for chain in facts.analysis.chains if chain.cycles_per_iteration == limit]


def _several(facts: KernelResult, chains: int) -> int:
    """Return the number of variables of all chains that are in flight if nothing waits: 2, 4 or 8 for each chain.

    It is the chain's latency divided by the cycles that the loop's other limits allow for an addition.
    """
    least = _least(facts)
    count = 2 * chains
    while count < 8 * chains and facts.bounds.loop_carried * chains > count * least:
        count *= 2
    return count


def _limiting_chain(facts: KernelResult) -> Chain | None:
    if "loop_carried" not in facts.limits or not facts.analysis.chains:
        return None
    return facts.analysis.chains[0]


def is_reduction(chain: Chain, facts: KernelResult, stores: Collection[int] = ()) -> bool:
    """Return True if the chain only adds to its value, and nothing outside but these stores reads the partial sums."""
    for step in chain.steps:
        root = facts.bound.location_names[step.location] if step.location >= 0 else ""
        if root not in _addend_roots(facts.kernel.instructions[step.consumer]):
            return False
    members = {*chain_instructions(chain), *stores}
    return all(edge.consumer in members for edge in facts.analysis.edges if edge.producer in members)


def is_product(chain: Chain, facts: KernelResult) -> bool:
    """Return True if the chain only multiplies its value by other values, and nothing outside reads it."""
    members = chain_instructions(chain)
    instructions = [facts.kernel.instructions[i] for i in members]
    if any(isa(facts.kernel.isa).work_of(i) != "floating-point multiplications" for i in instructions):
        return False
    roots = [[root for _, root in _operand_roots(i)] for i in instructions]
    carried = {facts.bound.location_names[step.location] for step in chain.steps if step.location >= 0}
    # A power, by a factor that the loop does not change, is computed otherwise.
    changing = written_roots(facts.kernel) - carried
    if not all(i.memory or changing & set(r) for i, r in zip(instructions, roots, strict=True)):
        return False
    # Exclude the square of the carried value; the destination may be a source as well.
    if any(sum(a.read for a in i.registers if a.register.root in carried) != 1 for i in instructions) or not all(roots):
        return False
    return all(edge.consumer in members for edge in facts.analysis.edges if edge.producer in members)


def _addend_roots(instruction: Instruction) -> frozenset[str]:
    """Return the registers that an addition, subtraction or fused multiply-add adds unscaled, or that a move copies.

    The result is empty for other instructions. A register that is also a factor is not included.
    """
    if instruction.move:  # hands the sum on
        return frozenset(root for operand, root in _operand_roots(instruction) if operand == 1)
    if instruction.sum is None:
        return frozenset()
    roots = dict(_operand_roots(instruction))
    others = {roots[operand] for operand in instruction.sum.others if operand in roots}
    addends = [roots[operand] for operand in instruction.sum.addends if operand in roots]
    return frozenset(root for root in addends if addends.count(root) == 1) - others


def _operand_roots(instruction: Instruction) -> Iterator[tuple[int, str]]:
    for access in instruction.registers:
        if access.operand is not None and access.operand >= 0 and not access.address:
            yield access.operand, access.register.root
