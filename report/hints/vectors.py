"""Rules on the use and the width of vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from fractions import Fraction
from typing import TYPE_CHECKING

from msgspec.structs import replace

from incc.core import figures
from incc.frontends.isa import isa
from incc.frontends.kernel import KernelCode
from incc.models.binding.bound import FUSED_INTO_PREVIOUS
from incc.models.throughput import of_form, widest_vector
from incc.report import types as t
from incc.report.hints.advice import ANY, CLANG, GCC, Advice, CompilerCall, advise
from incc.report.hints.aliasing import pairs_not_compared
from incc.report.hints.common import (
    WORTH,
    bound_without,
    calls,
    counting,
    hint,
    inner_branches,
    operations,
    step_of,
    steps,
    waits_for_results,
)
from incc.report.hints.context import HintContext
from incc.report.hints.estimates import (
    ENTRY,
    VECTOR_ENTRY,
    of_width,
    packed_gain,
    short_cycles,
    vector_bits,
)
from incc.report.verdict import chain_instructions

if TYPE_CHECKING:
    from incc.core import Edge, PathStep
    from incc.core.analysis import KernelResult
    from incc.models.model import MachineModel


def scalar_arithmetic(facts: KernelResult, context: HintContext) -> t.Hint | None:
    """Report a loop that is not vectorised: its floating-point arithmetic is all scalar."""
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
        return _scalar_integers(facts, context)
    kernel = facts.kernel
    if calls(kernel):
        return None  # the called function determines the time
    count = f"all {len(scalar)} floating-point instructions are"
    if len(scalar) < 3:
        count = ("its only floating-point instruction is", "both floating-point instructions are")[len(scalar) - 1]
    plain = _is_plain(facts) and not waits_for_results(facts) and not _carries_values(facts, context)
    advice = advise("vectorise", context.build) if plain else None
    reason = "" if advice else _REASONS[context.build.family]
    gain = packed_gain(facts, context) if advice else None
    text = f"the loop is not vectorised: {count} scalar{reason}"
    return _at_another_level(facts, context, text, scalar, advice, gain)


def _at_another_level(
    facts: KernelResult,
    context: HintContext,
    text: str,
    scalar: Sequence[int],
    advice: Advice | None,
    gain: Fraction | None,
) -> t.Hint:
    """Return the hint of `scalar_arithmetic`, which names restrict as well if gcc has too many arrays to compare."""
    # Declared pointers and those that are not look the same. In Fortran, most arrays cannot overlap.
    pairs = pairs_not_compared(facts.kernel, context.build) if advice and not context.build.fortran else 0
    clause = f", and declare pointers restrict (gcc does not compare {pairs} pairs of arrays)" if pairs else ""
    found = hint("scalar-arithmetic", text, {"instructions": scalar}, advice, clause=clause, gain=gain)
    return replace(found, source_change="declare pointers restrict") if pairs else found


_ACCUMULATING = frozenset(("integer additions", "logic", "comparisons", "conditional moves"))
"""The work of sums, counts and extrema of integers."""

_INTEGER_WORK = _ACCUMULATING | {"integer multiplications", "address computations", "shifts", "moves"}
"""The work on integers that compilers do in vectors."""


def _scalar_integers(facts: KernelResult, context: HintContext) -> t.Hint | None:
    """Report a loop of integers that is scalar because of the level of optimisation.

    gcc's -O2 vectorises few loops: nearly all have a remainder.
    """
    kernel, advice = facts.kernel, advise("vectorise", context.build)
    work_of, overhead = isa(kernel.isa).work_of, {*counting(kernel)}
    scalar = [i for i in range(len(kernel.instructions)) if i not in overhead]
    if advice is None or not _is_plain(facts) or any(kernel.instructions[i].arithmetic for i in scalar):
        return None
    if not {work_of(kernel.instructions[i]) for i in scalar} <= _INTEGER_WORK or not _shifts_by_constants(kernel):
        return None
    if not all(_accumulates(facts, {*chain_instructions(chain)} - overhead) for chain in facts.analysis.chains):
        return None
    if _carries_values(facts, context):
        return None
    gain = packed_gain(facts, context, facts.bounds.loop_carried)
    text = "the loop is not vectorised: its integer operations are scalar"
    return _at_another_level(facts, context, text, scalar, advice, gain)


def _accumulates(facts: KernelResult, members: set[int]) -> bool:
    """Return True if these instructions of a chain only make a sum, a count or an extremum of integers."""
    instructions, edges = facts.kernel.instructions, facts.analysis.edges
    work_of = isa(facts.kernel.isa).work_of
    # Extrema are compared before they are chosen.
    compared = {
        e.consumer for e in edges if e.producer in members and work_of(instructions[e.consumer]) == "comparisons"
    }
    read = {edge.consumer for edge in edges if edge.producer in members | compared}
    return {work_of(instructions[i]) for i in members} <= _ACCUMULATING and read <= members | compared


def _carries_values(facts: KernelResult, context: HintContext) -> bool:
    """Return True if an iteration needs a value that the previous one computes and that is no sum.

    clang makes vectors of such loops, and gcc does not (tested up to version 12). Values that the loop loads do not
    count: with vectors, gcc loads them again.
    """
    if context.build.family != GCC:
        return False
    instructions, work_of = facts.kernel.instructions, isa(facts.kernel.isa).work_of
    edges = [edge for edge in facts.analysis.edges if edge.location >= 0 and not advances(facts, edge)]
    moves = {i for i, instruction in enumerate(instructions) if work_of(instruction) == "moves"}
    consumers: dict[int, set[int]] = {}
    copies: dict[int, set[int]] = {}
    for edge in edges:
        consumers.setdefault(edge.producer, set()).add(edge.consumer)
        if edge.consumer in moves:
            copies.setdefault(edge.producer, set()).add(edge.consumer)
    computing = {*range(len(instructions))} - moves - {*counting(facts.kernel)}
    computed = {copy for i in computing for copy in _reached(i, copies)}
    return any(
        edge.distance and edge.producer in computed and edge.producer not in _reached(edge.consumer, consumers)
        for edge in edges
    )


def _reached(start: int, consumers: Mapping[int, AbstractSet[int]]) -> AbstractSet[int]:
    """Return an instruction and those that depend on it."""
    reached = {start}
    work = [start]
    while work:
        new = consumers.get(work.pop(), set()) - reached
        reached |= new
        work += new
    return reached


def _shifts_by_constants(kernel: KernelCode) -> bool:
    work_of = isa(kernel.isa).work_of
    return all("i" in i.operands for i in kernel.instructions if work_of(i) == "shifts")


def without_reason(hint: t.Hint) -> t.Hint:
    """Return a hint without the options that print why a loop is not vectorised."""
    text = hint.text
    for reason in _REASONS.values() if hint.rule == "scalar-arithmetic" else ():
        text = text.replace(reason, "")
    return replace(hint, text=text)


_REASONS = {
    GCC: "; -fopt-info-vec-missed prints the reason",
    CLANG: "; -Rpass-missed=loop-vectorize -Rpass-analysis=loop-vectorize print the reason",
    ANY: "; gcc -fopt-info-vec-missed and clang -Rpass-missed=loop-vectorize print the reason",
}
"""The ends of hints that name options that print why a compiler did not vectorise a loop."""


def _is_plain(facts: KernelResult) -> bool:
    """Return True if nothing visible prevents vectorisation.

    The loop advances from element to element without a branch or a call, and its end does not depend on elements.
    """
    kernel = facts.kernel
    if inner_branches(kernel) or calls(kernel) or ends_by_data(facts):
        return False
    registers = steps(kernel)
    accesses = [access for instruction in kernel.instructions for access in instruction.memory]
    return bool(accesses) and all(
        (step := step_of(access, registers)) is not None and step in (0, access.size) and (step or not access.store)
        for access in accesses
    )


def ends_by_data(facts: KernelResult) -> bool:
    """Return True if the data that a loop loads decide when it ends, as in a search."""
    instructions, registers = facts.kernel.instructions, steps(facts.kernel)
    producers: dict[int, list[int]] = {}
    for edge in facts.analysis.edges:
        if not advances(facts, edge):
            producers.setdefault(edge.consumer, []).append(edge.producer)
    closing = len(instructions) - 1
    fused = bool(facts.bound.instruction_flags[closing] & FUSED_INTO_PREVIOUS)
    deciding = {closing, closing - fused}
    work = [*deciding]
    while work:
        new = {*producers.get(work.pop(), ())} - deciding
        deciding |= new
        work += new
    return any(access.load and step_of(access, registers) != 0 for i in deciding for access in instructions[i].memory)


def advances(facts: KernelResult, edge: Edge | PathStep) -> bool:
    """Return True if a dependency carries an address that an access writes back, by a constant further on."""
    producer = facts.kernel.instructions[edge.producer]
    root = facts.bound.location_names[edge.location] if edge.location >= 0 else ""
    return bool(producer.memory) and producer.affine is not None and producer.affine.terms == ((root, 1),)


def instruction_set(facts: KernelResult, context: HintContext) -> t.Hint | None:
    """Advise -march for packed arithmetic of the baseline instruction set on a core with wider vectors.

    The gain is unknown if shuffles limit the loop: wider vectors take other ones, which move elements across lanes.
    """
    bits = figures.operations(facts.kernel).vector_bits
    march = context.build.march(facts.model.name)
    if not bits or not march or not context.build.baseline or waits_for_results(facts) or calls(facts.kernel):
        return None
    if not _fills_vectors(facts, context):
        return None
    name = facts.model.name
    widest = widest_vector(facts.model)
    if widest <= bits or "divider" in facts.limits:
        return None
    allowed = vector_bits(facts.model, replace(context.build, baseline=False, target=name))
    return hint(
        "instruction-set",
        f"the code uses vectors of {bits} bits, as on any processor, but {name} has vectors of {widest} bits",
        {"vector_bits": bits, "core_bits": widest},
        Advice((march,), ""),
        gain=None if _shuffles_limit(facts) else of_width(facts.model, bits, allowed),
    )


def _shuffles_limit(facts: KernelResult) -> bool:
    """Return True if a loop would be faster without its shuffles, including those that convert integers."""
    work_of = isa(facts.kernel.isa).work_of
    shuffles = [i for i, instruction in enumerate(facts.kernel.instructions) if work_of(instruction) == "shuffles"]
    return bool(shuffles) and bound_without(facts, shuffles) <= WORTH * facts.cycles


def _fills_vectors(facts: KernelResult, context: HintContext) -> bool:
    """Return True if each vector holds elements of as many iterations of the source.

    Compilers also put neighbouring statements into vectors, such as those for the members of a structure or for both
    parts of a complex number. These would not fill wider ones.
    """
    work = figures.operations(facts.kernel)
    sizes = [a.element for i in facts.kernel.instructions if (a := i.arithmetic) is not None and a.packed]
    return work.packed_share == 1 and context.elements * max(sizes) >= work.vector_bits


def vector_width(facts: KernelResult, context: HintContext) -> t.Hint | None:
    """Advise the core's widest vectors if narrower ones limit a loop that may use them.

    Compilers avoid 512 bits because of the lower clock of Skylake-SP and Cascade Lake, or prefer vectors of a fixed
    length to scalable ones. The rule returns None if the core is not faster with them, or if the loop contains shuffles
    or divisions.
    """
    kernel, model = facts.kernel, facts.model
    bits, widest = figures.operations(kernel).vector_bits, widest_vector(model)
    advice = advise(isa(kernel.isa).wide_vectors, context.build)
    if advice is None or not bits or not kernel.is_loop or isa(kernel.isa).passed_over.get(widest) != bits:
        return None
    if not _fills_vectors(facts, context):
        return None
    if "divider" in facts.limits or waits_for_results(facts) or operations(kernel, "shuffle", "gather"):
        return None
    # Loads that cross lines may take the prediction above all bounds.
    if not facts.limits and not facts.analysis.expected_line_crossings:
        return None
    if not _as_fast(model) or not _may_use(context.build, model, widest):
        return None
    return hint(
        "vector-width",
        f"the loop uses vectors of {bits} bits, but the core has vectors of {widest} bits",
        {"vector_bits": bits, "core_bits": widest},
        Advice(tuple([f.replace("512", str(widest)) for f in advice.flags]), _CLOCK if model.name in _SLOWER else ""),
        gain=_gain_of_width(facts, bits, widest),
    )


def _gain_of_width(facts: KernelResult, bits: int, wider: int) -> Fraction | None:
    """Return the gain of wider vectors; None if it is unknown.

    An access of W bytes at a multiple of A bytes crosses a line of L bytes at W - A of L places. With an A of half a
    vector (malloc's 16 bytes for 256 bits), the crossings per byte become 2 - `bits` / `wider` times as many.
    """
    ratio = of_width(facts.model, bits, wider)
    aligned = facts.cycles_after("line-crossings") or facts.cycles
    crossings = 2 - Fraction(bits, wider)
    return None if ratio is None else facts.cycles / (aligned / ratio + crossings * (facts.cycles - aligned))


def short_trips(facts: KernelResult, context: HintContext) -> t.Hint | None:
    """Advise smaller steps for a vectorised loop that has too few iterations for its large ones.

    clang computes several vectors at once, and the remaining elements one by one.
    """
    trips, step, rest = context.trips, context.elements, context.remainder
    bits = figures.operations(facts.kernel).vector_bits
    element = max([i.arithmetic.element for i in facts.kernel.instructions if i.arithmetic], default=0)
    if context.build.family != CLANG or not trips or rest is None or not bits or not element:
        return None
    lanes = bits // element
    if step <= lanes:
        return None
    single = short_cycles(rest, replace(context, elements=Fraction(1)), rest.bounds.loop_carried, trips)

    def cycles(steps: Fraction | int) -> Fraction:
        return (trips - trips % steps) * facts.cycles / step + trips % steps * single + ENTRY + VECTOR_ENTRY

    now, smaller, scalar = cycles(step), cycles(lanes), trips * single + ENTRY
    pragma = "interleave(disable)" if smaller <= scalar else "vectorize(disable)"
    return hint(
        "short-trips",
        f"of {trips} iterations, {int(trips % step)} run one by one, because vectors do {int(step)} at once",
        {"trips": trips, "elements": float(step)},
        None,
        f"put #pragma clang loop {pragma} in front of the loop",
        gain=now / min(smaller, scalar),
    )


_SLOWER = frozenset(("skylake-avx512", "cascadelake"))
_CLOCK = "may lower the clock"


def _as_fast(model: MachineModel) -> bool:
    """Return True if a core does as many additions per cycle with its widest vectors as with the next narrower ones."""
    forms = [form for name, _ in isa(model.isa).widest_vector if (form := model.lookup(name, frozenset())) is not None]
    times = [of_form(form.uops) * form.attributes.get("hold", 1) for form in forms[:2]]
    return len(times) == 2 and times[0] <= times[1]


def _may_use(build: CompilerCall, model: MachineModel, bits: int) -> bool:
    """Return True if the code was compiled for a core with vectors of so many bits."""
    if build.target in ("native", model.name):
        return True
    if not build.target or 0 < isa(model.isa).level_bits(build.target) < bits:
        return False
    from incc.models.loading import find_cpu, load

    target = find_cpu(build.target, ())
    return bool(target.model) and not target.nearest and widest_vector(load(target.model, ())) == bits
