"""What to do about a kernel's limit, where that follows from the data with certainty.

A rule is a function from the facts to a hint or None. A hint names the rule, says its advice in a sentence and carries
its evidence: the instructions (indices) and figures that it follows from. A rule that could be wrong stays silent.
"""

from __future__ import annotations

from incc.driver.report import wording
from incc.driver.report.verdict import chain_instructions
from incc.models.bound import IS_LOAD, IS_STORE, UOP_LOAD, UOP_STORE_ADDRESS
from incc.models.throughput import port_bound

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from incc.core import Chain
    from incc.core.analysis import KernelResult
    from incc.driver.report import types as t
    from incc.frontends.kernel import Instruction


def hints(facts: KernelResult) -> list[t.Hint]:
    """The hints of all rules that apply, in a fixed order."""
    return [hint for rule in RULES if (hint := rule(facts)) is not None]


def unknown_instructions(facts: KernelResult) -> t.Hint | None:
    """Instructions that are not in the model make every figure a lower bound."""
    unknown = list(facts.unknown)
    if not unknown:
        return None
    verb = "is" if len(unknown) == 1 else "are"
    where = wording.places(facts.kernel, unknown)
    return {
        "rule": "unknown-instructions",
        "text": f"{wording.counted(len(unknown), 'instruction')} {verb} not in the model ({where}); totals exclude "
        f"{'it' if len(unknown) == 1 else 'them'}.",
        "evidence": {"instructions": unknown},
    }


def refused_statements(facts: KernelResult) -> t.Hint | None:
    """Statements that could not be decoded are missing in the analysis."""
    refused = facts.kernel.refused
    if not refused:
        return None
    lines = ", ".join(str(statement.line) for statement in refused)
    noun, them = ("line", "it") if len(refused) == 1 else ("lines", "them")
    return {
        "rule": "refused-statements",
        "text": f"{wording.counted(len(refused), 'statement')} could not be decoded "
        f"({noun} {lines}); totals exclude {them}.",
        "evidence": {"lines": [statement.line for statement in refused]},
    }


def sum_chain(facts: KernelResult) -> t.Hint | None:
    """A chain of floating-point additions whose partial sums nobody else reads is a reduction: with several
    accumulators the additions of different iterations overlap.

    A running sum that is stored in each iteration is no reduction, nor is a recurrence that multiplies what it carries.
    Where several chains limit the loop alike, all of them must be reductions.
    """
    if _limiting_chain(facts) is None:
        return None
    limit = facts.analysis.chains[0].cycles_per_iteration
    chains = [chain for chain in facts.analysis.chains if chain.cycles_per_iteration == limit]
    if not all(_is_reduction(chain, facts) for chain in chains):
        return None
    members = [i for chain in chains for i in chain_instructions(chain)]
    packed = all(arithmetic.packed for i in members if (arithmetic := facts.kernel.instructions[i].arithmetic))
    if packed:
        remedy = (
            "unrolling with several accumulators would break it (gcc: -funroll-loops -fvariable-expansion-in-unroller)"
        )
    else:
        remedy = (
            "several accumulators would break it (-ffast-math or -fassociative-math lets the compiler reorder a sum)"
        )
    what = "the sum is one chain in which each addition waits for the one before"
    if len(chains) > 1:
        what = f"the sum is in {len(chains)} chains, and in each every addition waits for the one before"
        remedy = "more accumulators would overlap more of them"
    return {
        "rule": "sum-chain",
        "text": f"{what}: {remedy}.",
        "evidence": {
            "instructions": members,
            "latency": facts.analysis.chains[0].latency,
            "chains": len(chains),
            "packed": packed,
        },
    }


def memory_chain(facts: KernelResult) -> t.Hint | None:
    """The limiting chain stores a value and loads it back."""
    chain = _limiting_chain(facts)
    if chain is None:
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
    store = wording.places(facts.kernel, [step.producer])
    load = wording.places(facts.kernel, [step.consumer])
    spent = sum(s.latency for s in through)
    share = f"{wording.cycles(spent)} of store forwarding in {wording.cycles(chain.latency)}"
    others = f" (and {wording.counted(len(through) - 1, 'more such step')})" if len(through) > 1 else ""
    return {
        "rule": "memory-chain",
        "text": f"the chain passes through memory: what {store} stores, {load} loads back {when}{others}; a value kept "
        f"in a register would save up to {share}.",
        "evidence": {
            "stores": [s.producer for s in through],
            "loads": [s.consumer for s in through],
            "latency": spent,
            "chain_latency": chain.latency,
        },
    }


def store_addresses(facts: KernelResult) -> t.Hint | None:
    """Store-address µops with an indexed address compete with loads for the load ports, where the core has a port for
    simple store addresses only (port 7 of Haswell to Cascade Lake; Intel's optimisation manual, “Load and Store
    Operation Enhancements” of Haswell). Silent unless the port bound would really be lower with simple addresses, and
    unless it alone limits the kernel.
    """
    if facts.limits != ("port",):
        return None
    bound = facts.bound
    names = facts.model.functions.get("store_address", "").split(",")
    execution_ports = list(enumerate(bound.port_names[: bound.n_ports]))
    anywhere = sum(1 << p for p, name in execution_ports if name in names)
    shared = 0
    stores: list[int] = []
    loads: list[int] = []
    uops: list[tuple[int, int]] = []
    for i, instruction in enumerate(facts.kernel.instructions):
        for u in range(bound.uop_start[i], bound.uop_start[i + 1]):
            allowed, kind = bound.uop_ports[u], bound.uop_kind[u]
            if kind == UOP_LOAD:
                loads.append(i)
            elif kind == UOP_STORE_ADDRESS and "indexed" in instruction.traits and anywhere & ~allowed:
                stores.append(i)
                shared |= allowed
                allowed |= anywhere
            if not allowed >> bound.n_ports:
                uops.append((allowed, bound.uop_cycles[u]))
    if not stores or not loads:
        return None
    simple = [name for p, name in execution_ports if anywhere & ~shared & (1 << p)]
    busy = [name for p, name in execution_ports if shared & (1 << p)]
    numerator, denominator = port_bound(uops, bound.n_ports)
    if not simple or numerator >= facts.analysis.port_bound * denominator:
        return None
    allow = wording.value(numerator / denominator)
    take = "takes" if len(simple) == 1 else "take"
    subject = "the indexed store address" if len(stores) == 1 else f"the {len(stores)} indexed store addresses"
    return {
        "rule": "indexed-store-address",
        "text": f"{subject} ({wording.places(facts.kernel, stores)}) and the loads compete for {wording.ports(busy)}, "
        f"because {wording.ports(simple)} {take} only simple addresses (base and displacement); with these the ports "
        f"would allow {allow}.",
        "evidence": {
            "stores": stores,
            "loads": list(dict.fromkeys(loads)),
            "ports": busy,
            "simple_ports": simple,
            "port_bound": numerator / denominator,
        },
    }


def invariant_divisor(facts: KernelResult) -> t.Hint | None:
    """The divider limits the loop, and a divisor does not change in it: its reciprocal can be computed before."""
    if "divider" not in facts.limits or not facts.kernel.is_loop:
        return None
    written = {
        access.register.root
        for instruction in facts.kernel.instructions
        for access in instruction.registers
        if access.write
    }
    divisions = []
    for i, instruction in enumerate(facts.kernel.instructions):
        divisor = instruction.divisor
        if divisor is None:
            continue
        roots = [a.register.root for a in instruction.registers if a.operand == divisor and a.read and not a.address]
        if instruction.operands[divisor : divisor + 1] == "r" and roots and roots[0] not in written:
            divisions.append(i)
    if not divisions:
        return None
    where = wording.places(facts.kernel, divisions)
    return {
        "rule": "invariant-divisor",
        "text": f"the divisor of {where} does not change in the loop: multiplying by its reciprocal would free the "
        "divider (-freciprocal-math lets the compiler do so).",
        "evidence": {"instructions": divisions},
    }


def scalar_arithmetic(facts: KernelResult) -> t.Hint | None:
    """A loop whose floating-point arithmetic is all scalar is not vectorised."""
    if not facts.kernel.is_loop:
        return None
    scalar = []
    for i, instruction in enumerate(facts.kernel.instructions):
        arithmetic = instruction.arithmetic
        if arithmetic is not None and arithmetic.floating:
            if arithmetic.packed:
                return None
            scalar.append(i)
    if not scalar:
        return None
    return {
        "rule": "scalar-arithmetic",
        "text": f"the loop is not vectorised: {'both' if len(scalar) == 2 else f'all {len(scalar)}'} of its "
        "floating-point instructions are scalar "
        "(gcc -fopt-info-vec-missed and clang -Rpass-missed=loop-vectorize say why)."
        if len(scalar) > 1
        else "the loop is not vectorised: its one floating-point instruction is scalar "
        "(gcc -fopt-info-vec-missed and clang -Rpass-missed=loop-vectorize say why).",
        "evidence": {"instructions": scalar},
    }


def code_placement(facts: KernelResult) -> t.Hint | None:
    """Fetch, decoders and µop cache work on aligned blocks of code, and where a section will lie is not known before
    the program is linked. Each place is simulated; what is said of an aligned loop was simulated too."""
    if not facts.placements:
        return None
    unit = facts.kernel.alignment_unit
    possible = [cycles for place, cycles in facts.placements if place % unit == facts.kernel.alignment]
    aligned = dict(facts.placements)[0]
    least, most = min(possible), max(possible)
    if most < _PLACE_MATTERS * min(least, aligned):
        return None
    taken = f"an iteration takes {wording.cycles(least)}"
    if most > least:
        depending = "depending on where the linker puts it"
        taken = f"an iteration takes {wording.number(least)} to {wording.cycles(most)}, {depending}"
    advice = ""
    if 2 * aligned <= least + most and most >= _PLACE_MATTERS * aligned and facts.kernel.is_loop:
        advice = f"; with the loop aligned to 64 bytes (gcc and clang -falign-loops=64) {wording.number(aligned)}"
    return {
        "rule": "code-placement",
        "text": f"the front end works on aligned blocks of code: {taken}{advice}.",
        "evidence": {
            "cycles_at": {str(place): float(cycles) for place, cycles in facts.placements},
            "known_modulo": unit,
        },
    }


# How much slower than the fastest place one must be to be worth a word.
_PLACE_MATTERS = 1.05


RULES = (
    unknown_instructions,
    refused_statements,
    sum_chain,
    memory_chain,
    store_addresses,
    code_placement,
    invariant_divisor,
    scalar_arithmetic,
)


def _limiting_chain(facts: KernelResult) -> Chain | None:
    if "loop_carried" not in facts.limits or not facts.analysis.chains:
        return None
    return facts.analysis.chains[0]


def _is_reduction(chain: Chain, facts: KernelResult) -> bool:
    """Whether the chain only adds to what it carries, and nothing outside reads the partial sums."""
    for step in chain.steps:
        root = facts.bound.location_names[step.location] if step.location >= 0 else ""
        if root not in _addend_roots(facts.kernel.instructions[step.consumer]):
            return False
    members = chain_instructions(chain)
    return all(edge.consumer in members for edge in facts.analysis.edges if edge.producer in members)


def _addend_roots(instruction: Instruction) -> frozenset[str]:
    """The registers that an addition, subtraction or fused multiply-add adds without scaling them; empty for anything
    else. A register that is a factor too is not among them."""
    if instruction.sum is None:
        return frozenset()
    roots = dict(_operand_roots(instruction))
    others = {roots[operand] for operand in instruction.sum.others if operand in roots}
    found = [roots[operand] for operand in instruction.sum.addends if operand in roots]
    return frozenset(root for root in found if found.count(root) == 1) - others


def _operand_roots(instruction: Instruction) -> Iterator[tuple[int, str]]:
    for access in instruction.registers:
        if access.operand is not None and access.operand >= 0 and not access.address:
            yield access.operand, access.register.root
