"""Rules on divisions, conversions and functions of the mathematical library."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from incc.core.dataflow import dataflow
from incc.core.figures import operations as operations_of
from incc.core.ranges import rare_calls
from incc.frontends.isa import isa
from incc.frontends.kernel import Instruction, KernelCode
from incc.models.binding.bound import IS_LOAD, IS_STORE, UOP_COMPUTE, BoundKernel
from incc.models.throughput import of_mix
from incc.report import types as t
from incc.report import wording
from incc.report.hints.advice import GCC, Advice, advise, both
from incc.report.hints.common import (
    WORTH,
    bound_without,
    callee,
    calls,
    counting,
    hint,
    inner_branches,
    operations,
    speedup,
    stored_in_place,
    waits_for_results,
    written_roots,
)
from incc.report.hints.context import HintContext
from incc.report.hints.estimates import (
    access_step,
    changed,
    of_width,
    packed_cycles,
    packed_gain,
    simulated_without,
    vector_bits,
    vector_forms,
)
from incc.report.verdict import chain_instructions

if TYPE_CHECKING:
    from incc.core.analysis import KernelResult


def invariant_divisor(facts: KernelResult, context: HintContext) -> t.Hint | None:
    """Advise to multiply by the reciprocal if divisions limit the loop and a divisor does not change.

    Quotients of integers that become integers again are exact, which products are not.
    """
    if not _may_limit(facts):
        return None
    written = written_roots(facts.kernel)
    divisions = []
    for i, instruction in enumerate(facts.kernel.instructions):
        divisor = instruction.divisor
        if divisor is None:
            continue
        roots = [a.register.root for a in instruction.registers if a.operand == divisor and a.read and not a.address]
        if instruction.operands[divisor : divisor + 1] == "r" and roots and roots[0] not in written:
            divisions.append(i)
    if not divisions or not _limit(facts, divisions):
        return None
    rounded = not _results_of(facts, divisions).isdisjoint(operations(facts.kernel, "to-integer"))
    if rounded and not _results_of(facts, operations(facts.kernel, "from-integer")).isdisjoint(divisions):
        return None
    where = wording.places(facts.kernel, divisions)
    advice = advise("reciprocal", context.build)
    change = "multiply by its reciprocal, computed before the loop"
    if advice is None:
        change += " (may change rounding)"
    return hint(
        "invariant-divisor",
        f"the divisor of {where} does not change in the loop",
        {"instructions": divisions},
        advice,
        change,
        "; quotients that become integers may then differ by one" if rounded else "",
        gain=speedup(facts, simulated_without(facts, divisions)),
    )


def _results_of(facts: KernelResult, instructions: Sequence[int]) -> set[int]:
    """Return the instructions that use results of these in the same iteration, directly or not."""
    edges = [(e.producer, e.consumer) for e in facts.analysis.edges if e.location >= 0 and not e.distance]
    results: set[int] = set()
    while more := {reader for i, reader in edges if i in results or i in instructions} - results:
        results |= more
    return results


def _may_limit(facts: KernelResult) -> bool:
    """Return True if the limit of a loop may be divisions."""
    return facts.kernel.is_loop and not {"divider", "port"}.isdisjoint(facts.limits)


def _limit(facts: KernelResult, divisions: Sequence[int]) -> bool:
    """Return True if the unit that does these divisions limits the loop.

    Models without a figure for the divider count the cycles of a division on its port.
    """
    counted = all((form := facts.forms[i]) and not form.divider for i in divisions)
    return ("port" if counted else "divider") in facts.limits


def integer_division(facts: KernelResult, context: HintContext) -> t.Hint | None:
    """Advise to divide as doubles if integer divisions by an invariant limit the loop.

    Divisions of 32-bit integers are exact as divisions of doubles, which are faster and which compilers vectorise,
    unless the compiler may multiply by the reciprocal instead.
    """
    kernel = facts.kernel
    if not _may_limit(facts) or context.build.state.get("reciprocal-math"):
        return None
    of_isa = isa(kernel.isa).integer_divisions
    written = written_roots(kernel)
    divisions = []
    bits = 0
    for i, instruction in enumerate(kernel.instructions):
        if instruction.mnemonic not in of_isa:
            continue
        operand = of_isa[instruction.mnemonic].divisor
        divisors = [a.register for a in instruction.registers if a.operand == operand and a.read and not a.address]
        if instruction.operands[operand] == "r" and divisors[0].kind == "general" and divisors[0].root not in written:
            divisions.append(i)
            bits = max(bits, divisors[0].width)
    if bits < 32 or not _limit(facts, divisions) or bound_without(facts, divisions) > WORTH * facts.cycles:
        return None
    signed = all(of_isa[kernel.instructions[i].mnemonic].signed for i in divisions)
    gain = None
    if all(_divides_counter(facts, i) for i in divisions):
        change = "count to the divisor and start again (or add 1 to the quotient), which takes no division"
    else:
        quotient = f"({'int' if signed else 'unsigned'})((double)a / d)"
        change = f"divide as doubles, {quotient}, which is exact for 32-bit integers"
        if _only_remainders(facts, divisions):
            change = (
                f"take the remainder of a division of doubles, a - {quotient} * d, which is exact for 32-bit integers"
            )
        flow = dataflow(kernel)
        # Not with elements at places that depend on the results.
        if all(access_step(access, kernel) is not None for access in (*flow.loads, *flow.stores)):
            change += " and can be vectorised"
            gain = _gain_of_doubles(facts, context, len(divisions))
        if bits > 32:
            change = f"if the values fit into 32 bits, {change}"
    return hint(
        "integer-division",
        f"{bits}-bit integers are divided by a divisor that does not change in the loop "
        f"({wording.places(kernel, divisions)})",
        {"instructions": divisions, "bits": bits},
        None,
        change,
        gain=gain,
    )


def _divides_counter(facts: KernelResult, division: int) -> bool:
    """Return True if a division's operands are only copies of the loop's counter and values that do not change."""
    kernel, counters = facts.kernel, {*counting(facts.kernel)}
    sources = {division}
    while more := {e.producer for e in facts.analysis.edges if e.consumer in sources - counters} - sources:
        sources |= more
    between = [kernel.instructions[i] for i in sources - counters - {division}]
    return not sources.isdisjoint(counters) and not any(each.memory or _computes(each, kernel.isa) for each in between)


def _computes(instruction: Instruction, instruction_set: str) -> bool:
    """Return True if an instruction does more than copy, extend or clear a register."""
    return isa(instruction_set).work_of(instruction) != "moves" and not instruction.idiom


def _only_remainders(facts: KernelResult, divisions: Sequence[int]) -> bool:
    """Return True if the loop uses only the remainders of divisions that return both."""
    names, of_isa = facts.bound.location_names, isa(facts.kernel.isa).integer_divisions
    remainders = {of_isa[facts.kernel.instructions[i].mnemonic].remainder for i in divisions}
    results = {names[e.location] for e in facts.analysis.edges if e.producer in divisions and e.location >= 0}
    return results == remainders


def _gain_of_doubles(facts: KernelResult, context: HintContext, divisions: int) -> Fraction | None:
    """Return the gain of divisions of doubles in vectors, with conversions there and back; None if it is unknown."""
    bits = vector_bits(facts.model, context.build)
    names = vector_forms(facts.model, bits)
    forms = [facts.model.lookup(names.get(kind, ""), frozenset()) for kind in ("divide", "convert", "convert")]
    mix = [(form, divisions) for form in forms if form is not None]
    cycles = of_mix(facts.model, mix) if len(mix) == len(forms) else 0
    return facts.cycles * bits / (64 * cycles) if cycles else None


def conversions(facts: KernelResult, context: HintContext) -> t.Hint | None:
    """Report conversions that limit the loop.

    These are conversions from float to double and back, caused by a constant or a function of the wrong type, or
    conversions between integers and floating-point numbers of the same size in memory. An array of ints that becomes
    doubles is better left as it is: as doubles it would be twice as many bytes.
    """
    kernel = facts.kernel
    wider, narrower = operations(kernel, "widen"), operations(kernel, "narrow")
    integers = operations(kernel, "from-integer", "to-integer")
    mixed = sorted(wider + narrower) if wider and narrower else []
    # If integers become doubles and these floats, a constant or a function is a double.
    through_double = bool(narrower) and not wider and bool(operations(kernel, "from-integer"))
    converting = mixed or sorted({*integers, *(narrower if through_double else ())})
    if not converting or not kernel.is_loop or waits_for_results(facts):
        return None
    if mixed or through_double:
        least = _cycles_as_floats(facts, context, converting, bool(mixed))
    elif facts.limits and _moved(facts, converting):
        loads = _memory_uops(facts.bound, converting)
        least = facts.cycles * bound_without(facts, converting, loads) / facts.bounds.largest
    else:
        # The loop waits for something else, or computes the numbers, or would have to load more bytes.
        return None
    if least > WORTH * facts.cycles:
        return None
    where = wording.places(kernel, converting)
    if mixed or through_double:
        change = "if float is precise enough, write constants with an f (0.5f) and call the float functions (fabsf)"
        conversion = "float to double and back" if mixed else "integers to double and then to float"
        text = f"numbers are converted from {conversion} ({where})"
    else:
        change = "keep the numbers in the type that the loop computes with"
        text = f"numbers are converted between integers and floating point ({where})"
    evidence = {"instructions": converting, "bound_without": float(least)}
    return hint("conversions", text, evidence, None, change, gain=speedup(facts, least))


def _cycles_as_floats(facts: KernelResult, context: HintContext, converting: Sequence[int], mixed: bool) -> Fraction:
    """Return the cycles of a loop that does not convert its numbers to double.

    Twice as many floats are in a vector, and nothing is moved between the halves of two. Accesses to whole vectors of
    floats stay as many. Vectors of the parts of one element (the three coordinates of a point) stay as they are.

    Args:
        facts: the loop.
        context: the facts about it besides its figures.
        converting: the instructions that convert numbers.
        mixed: whether floats become doubles and these floats; otherwise integers do.
    """
    instructions = facts.kernel.instructions
    widths = [a.width for i in instructions if (a := i.arithmetic) is not None and a.packed]
    width = max(widths, default=0) if context.elements > 1 else 0
    others = operations(facts.kernel, "shuffle") if width else ()
    kept = () if mixed else converting[:1]
    least = simulated_without(facts, {*converting, *others} - {*kept})
    if not width or not mixed:
        return least
    whole = {i for i, each in enumerate(instructions) if any(8 * a.size >= width for a in each.memory)}
    parts = {*range(len(instructions))} - whole - {*counting(facts.kernel)}
    return max(least / 2, simulated_without(facts, parts))


def _memory_uops(bound: BoundKernel, instructions: Sequence[int]) -> list[tuple[int, int]]:
    """Return ports and cycles of the instructions' µops that load or store."""
    return [
        (bound.uop_ports[u], bound.uop_cycles[u])
        for i in instructions
        for u in range(bound.uop_start[i], bound.uop_start[i + 1])
        if bound.uop_kind[u] != UOP_COMPUTE
    ]


def _stays_as_large(instruction: Instruction) -> bool:
    """Return True if a conversion between integers and floating point keeps the size of numbers."""
    widths = {
        access.register.width for access in instruction.registers if access.operand in (0, 1) and not access.address
    }
    general = {a.register.width for a in instruction.registers if a.register.kind == "general" and not a.address}
    mnemonic = instruction.mnemonic.lower()
    if general or mnemonic.removeprefix("v").startswith(("cvtsi2", "cvtusi2")):
        source = general or {8 * access.size for access in instruction.memory}
        return source == {64 if "sd" in mnemonic else 32}
    return len(widths | {8 * access.size for access in instruction.memory}) == 1


def _moved(facts: KernelResult, converting: Sequence[int]) -> bool:
    """Return True if converted values keep their size, and are loaded or stored without another operation."""
    kernel, flags = facts.kernel, facts.bound.instruction_flags
    if not all(_stays_as_large(kernel.instructions[i]) for i in converting):
        return False
    edges = [(edge.producer, edge.consumer) for edge in facts.analysis.edges if not edge.distance]
    overhead = {*counting(kernel)}

    def accesses(i: int, direction: int) -> bool:
        memory = IS_LOAD if direction else IS_STORE
        others = [edge[1 - direction] for edge in edges if edge[direction] == i]
        return bool(flags[i] & memory) or any(flags[n] & memory for n in others if n not in overhead)

    return all(accesses(i, 1) or accesses(i, 0) for i in converting)


# The library functions that a square root calls for a negative argument.
_ROOTS = frozenset(("sqrt", "sqrtf"))

# Functions that are an instruction each, but for errno.
_ROUNDING = frozenset(("lrint", "lrintf", "llrint", "llrintf"))


def math_errno(facts: KernelResult, context: HintContext) -> t.Hint | None:
    """Advise -fno-math-errno for square roots.

    A square root that has to set errno for negative numbers is an instruction and a branch around a library call, and
    no loop with it is vectorised. What else prevents vectors is not known, except a sum that is kept in memory.
    """
    kernel = facts.kernel
    called = [i for i in calls(kernel) if callee(kernel, i) in _ROOTS]
    advice = advise("errno", context.build)
    if advice is None or "-fno-math-errno" not in advice.flags or not kernel.is_loop:
        return None
    names = {callee(kernel, i) for i in calls(kernel)}
    if names and names <= _ROUNDING:
        where = wording.places(kernel, calls(kernel))
        text = f"the loop calls {wording.listed(sorted(names))} ({where}) only because of errno"
        return hint("math-errno", text, {"instructions": calls(kernel)}, advice)
    roots, compared = _scalar_roots(kernel), _comparisons(kernel)
    if not called and not (roots and compared):
        return None
    if len(calls(kernel)) > len(called):
        return None
    instructions = sorted({*called, *roots, *compared})
    gain, reorder = _gain_without_errno(facts, context)
    return hint(
        "math-errno",
        f"the square root ({wording.places(kernel, called or roots)}) must set errno, which takes a comparison and a "
        f"branch and prevents vectorisation{', and sums are added up in a fixed order' if reorder else ''}",
        {"instructions": instructions},
        both(advice, reorder) if reorder else advice,
        gain=gain,
    )


def _gain_without_errno(facts: KernelResult, context: HintContext) -> tuple[Fraction | None, Advice | None]:
    """Return the gain of vectors, None if it is unknown, and the advice to reorder sums if it depends on that."""
    carried = _sums(facts)
    in_order = carried and not context.build.reorders
    # gcc's vectors can add up one element after the other, which takes as long as now.
    alone = facts.cycles / carried if in_order and context.build.family == GCC else Fraction()
    reorder = advise("reassociate", context.build) if in_order and WORTH * alone <= 1 else None
    if stored_in_place(facts.kernel):
        return None, reorder
    gain = packed_gain(facts, context, Fraction() if in_order else carried)
    return min(gain, alone) if gain and alone and not reorder else gain, reorder


def _scalar_roots(kernel: KernelCode) -> list[int]:
    """Return the square roots of single numbers."""
    of = {i: kernel.instructions[i].arithmetic for i in operations(kernel, "root")}
    return [i for i, arithmetic in of.items() if arithmetic is not None and not arithmetic.packed]


def _comparisons(kernel: KernelCode) -> list[int]:
    """Return the branches after which a function may be off the path, for an argument that was compared with zero."""
    before = {i: kernel.instructions[i - 1].arithmetic for i in inner_branches(kernel) if i}
    return [i for i, arithmetic in before.items() if arithmetic is not None and arithmetic.floating]


def _sums(facts: KernelResult) -> Fraction:
    """Return the cycles per iteration of the longest chain of floating-point additions; 0 if there is none."""
    instructions = facts.kernel.instructions
    return max(
        [
            chain.cycles_per_iteration
            for chain in facts.analysis.chains
            if all(instructions[i].sum is not None for i in chain_instructions(chain))
        ],
        default=Fraction(),
    )


# What compilers call for NaN and the sign of zero, in place of an instruction.
_EXTREMA = frozenset(("fmax", "fmin", "fmaxf", "fminf"))


def extremum_call(facts: KernelResult, context: HintContext) -> t.Hint | None:
    """Advise flags that make an instruction of fmax and fmin: gcc calls the library for NaN and the sign of zero."""
    kernel = facts.kernel
    called = calls(kernel)
    names = sorted({callee(kernel, i) for i in called})
    advice = advise("extremum", context.build)
    if not called or advice is None or not kernel.is_loop or not {*names} <= _EXTREMA:
        return None
    where = wording.places(kernel, called)
    return hint(
        "extremum-call",
        f"the loop calls {wording.listed(names)} ({where}) for NaN and the sign of zero, and so is not vectorised",
        {"instructions": called, "functions": names},
        advice,
    )


# The functions of compilers' run-time libraries for complex numbers (GCC's internals, “Soft float library routines”).
_COMPLEX = re.compile(r"__(mul|div)[sdxt]c3")


def complex_range(facts: KernelResult, context: HintContext) -> t.Hint | None:
    """Advise -fcx-limited-range for products and quotients of complex numbers.

    C and C++ want infinities where the usual formula results in NaN, so compilers test each product and call a function
    if it is NaN, which prevents vectorisation. For a quotient they always call one.
    """
    kernel = facts.kernel
    called = [i for i in calls(kernel) if _COMPLEX.fullmatch(callee(kernel, i))]
    advice = advise("complex", context.build)
    if advice is None or not kernel.is_loop or len(calls(kernel)) > len(called):
        return None
    if not called and not tests_products(facts, context):
        return None
    if called:
        kind = "quotient" if "div" in callee(kernel, called[0]) else "product"
        cause = f"each complex {kind} is a call of {callee(kernel, called[0])} ({wording.places(kernel, called)})"
        return hint("complex-range", cause, {"instructions": called}, advice)
    tests = sorted(_tests_for_nan(kernel))
    return hint(
        "complex-range",
        f"each complex product is tested for NaN ({wording.places(kernel, tests)}), which prevents vectorisation",
        {"instructions": tests},
        advice,
        gain=speedup(facts, _without_tests(facts, context, tests)),
    )


def tests_products(facts: KernelResult, context: HintContext) -> bool:
    """Return True if a loop tests products of complex numbers for NaN, which no compiler vectorises."""
    return any(_COMPLEX.fullmatch(call.target.partition("@")[0]) for call in rare_calls(facts, context.ways))


def _tests_for_nan(kernel: KernelCode) -> set[int]:
    """Return the branches on comparisons of floating-point numbers, without the one that closes the loop, and these."""
    tests: set[int] = set()
    setter = 0
    for i, instruction in enumerate(kernel.instructions[:-1]):
        compares = any(access.register.kind == "vector" for access in kernel.instructions[setter].registers)
        if instruction.branch == "conditional" and compares:
            tests |= {setter, i}
        if instruction.flags_written:
            setter = i
    return tests


def _without_tests(facts: KernelResult, context: HintContext, tests: Sequence[int]) -> Fraction:
    """Return the cycles of a loop without its tests for NaN, as vectors if the compiler vectorises."""
    plain = changed(facts, tests)
    if not context.build.vectorises:
        return plain.cycles
    own = {*range(len(plain.kernel.instructions))} - {*counting(plain.kernel)}
    chains = [chain for chain in plain.analysis.chains if own & {*chain_instructions(chain)}]
    carried = max([chain.cycles_per_iteration for chain in chains], default=Fraction())
    present = operations_of(plain.kernel).vector_bits
    if present:
        # Both parts of a number are in a vector.
        packed = plain.cycles / (of_width(facts.model, present, vector_bits(facts.model, context.build)) or 1)
    else:
        packed = packed_cycles(plain, context) or plain.cycles
    return max(carried, min(plain.cycles, packed))


def math_call(facts: KernelResult, context: HintContext) -> t.Hint | None:
    """Advise the vector library if a loop calls only functions for which glibc has vector versions."""
    kernel = facts.kernel
    called = calls(kernel)
    advice = advise("vector-functions", context.build)
    # This also holds for Fortran, since gfortran reads glibc's list of vector functions.
    if not called or advice is None or not kernel.is_loop or inner_branches(kernel):
        return None
    names = list(dict.fromkeys(callee(kernel, i) for i in called))
    if not set(names) <= isa(kernel.isa).vector_functions:
        return None
    return hint(
        "math-call",
        f"the loop calls {wording.listed(names)} ({wording.places(kernel, called)}) for each element, and glibc has "
        f"{'a vector version' if len(names) == 1 else 'vector versions'}",
        {"instructions": called, "functions": names},
        advice,
    )
