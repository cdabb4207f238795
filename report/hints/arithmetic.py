"""Rules on divisions, conversions and functions of the mathematical library."""

from __future__ import annotations

from typing import TYPE_CHECKING

from incc.report import types as t
from incc.report import wording
from incc.report.hints.advice import CompilerCall, advise
from incc.report.hints.common import (
    WORTH,
    bound_without,
    callee,
    calls,
    hint,
    inner_branches,
    operations,
    written_roots,
)

if TYPE_CHECKING:
    from incc.core.analysis import KernelResult


def invariant_divisor(facts: KernelResult, build: CompilerCall) -> t.Hint | None:
    """Advise to multiply by the reciprocal if the divider limits the loop and a divisor does not change."""
    if "divider" not in facts.limits or not facts.kernel.is_loop:
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
    if not divisions:
        return None
    where = wording.places(facts.kernel, divisions)
    advice = advise("reciprocal", build)
    change = "multiply by its reciprocal, computed before the loop"
    if advice is None:
        change += " (may change rounding)"
    return hint(
        "invariant-divisor",
        f"the divisor of {where} does not change in the loop",
        {"instructions": divisions},
        advice,
        change,
    )


def integer_division(facts: KernelResult, build: CompilerCall) -> t.Hint | None:
    """Advise to divide as doubles if integer divisions by an invariant limit the loop.

    Divisions of 32-bit integers are exact as divisions of doubles, which are faster and which compilers vectorise.
    """
    kernel = facts.kernel
    if "divider" not in facts.limits or not kernel.is_loop:
        return None
    written = written_roots(kernel)
    divisions = []
    bits = 0
    for i in operations(kernel, "integer-division"):
        divisors = [a.register for a in kernel.instructions[i].registers if a.operand == 0 and a.read and not a.address]
        if kernel.instructions[i].operands[:1] == "r" and divisors and divisors[0].root not in written:
            divisions.append(i)
            bits = max(bits, divisors[0].width)
    if not divisions or bits < 32 or bound_without(facts, divisions) > WORTH * facts.cycles:
        return None
    signed = all(kernel.instructions[i].mnemonic.lower().startswith("idiv") for i in divisions)
    kind = "int" if signed else "unsigned"
    change = f"divide as doubles, ({kind})((double)a / d), which is exact for 32-bit integers and can be vectorised"
    if bits > 32:
        change = f"if the values fit into 32 bits, {change}"
    verb = "divides" if len(divisions) == 1 else "divide"
    return hint(
        "integer-division",
        f"{wording.places(kernel, divisions)} {verb} {bits}-bit integers by a divisor that does not change in the loop",
        {"instructions": divisions, "bits": bits},
        None,
        change,
    )


def conversions(facts: KernelResult, build: CompilerCall) -> t.Hint | None:
    """Report conversions that limit the loop.

    These are conversions from float to double and back, caused by a constant or a function of the wrong type, or
    conversions between integers and floating point.
    """
    kernel = facts.kernel
    wider, narrower = operations(kernel, "widen"), operations(kernel, "narrow")
    integers = operations(kernel, "from-integer", "to-integer")
    mixed = sorted(wider + narrower) if wider and narrower else []
    # If integers become doubles and these floats, a constant or a function is a double.
    through_double = bool(narrower) and not wider and bool(operations(kernel, "from-integer"))
    converting = mixed or sorted({*integers, *(narrower if through_double else ())})
    if not converting or not kernel.is_loop or "loop_carried" in facts.limits:
        return None
    least = bound_without(facts, converting)
    if least > WORTH * facts.cycles:
        return None
    where = wording.places(kernel, converting)
    spent = f"takes {wording.number(facts.cycles - least)} of {wording.cycles(facts.cycles)}"
    if mixed or through_double:
        change = "if float is precise enough, write constants with an f (0.5f) and call the float functions (fabsf)"
        conversion = "float to double and back" if mixed else "integers to double and then to float"
        text = f"{where} convert {conversion}, which {spent}"
    else:
        change = "keep the numbers in the type that the loop computes with"
        verb = "converts" if len(converting) == 1 else "convert"
        text = f"{where} {verb} between integers and floating point, which {spent}"
    return hint("conversions", text, {"instructions": converting, "bound_without": float(least)}, None, change)


# The library functions that a square root calls for a negative argument.
_ROOTS = frozenset(("sqrt", "sqrtf"))


def math_errno(facts: KernelResult, build: CompilerCall) -> t.Hint | None:
    """Advise -fno-math-errno for square roots.

    A square root that has to set errno for negative numbers is an instruction and a branch around a library call, and
    no loop with it is vectorised.
    """
    kernel = facts.kernel
    called = [i for i in calls(kernel) if callee(kernel, i) in _ROOTS]
    advice = advise("errno", build)
    if advice is None or "-fno-math-errno" not in advice.flags or not kernel.is_loop:
        return None
    roots = [
        i
        for i in operations(kernel, "root")
        if (arithmetic := kernel.instructions[i].arithmetic) is not None and not arithmetic.packed
    ]
    # The library's function may be off the path, behind a comparison of the argument with zero.
    compared = [
        i
        for i in inner_branches(kernel)
        if i and (arithmetic := kernel.instructions[i - 1].arithmetic) is not None and arithmetic.floating
    ]
    if not called and not (roots and compared):
        return None
    if len(calls(kernel)) > len(called):
        return None
    instructions = sorted({*called, *roots, *compared})
    return hint(
        "math-errno",
        f"the square root ({wording.places(kernel, called or roots)}) must set errno, which takes a comparison and a "
        f"branch and prevents vectorisation",
        {"instructions": instructions},
        advice,
    )


# Functions that glibc has for vectors, from 2.22 on (its manual, "Vector functions"; math-vector.h).
_VECTOR_FUNCTIONS = frozenset(name + end for name in ("exp", "log", "pow", "sin", "cos") for end in ("", "f"))


def math_call(facts: KernelResult, build: CompilerCall) -> t.Hint | None:
    """Advise the vector library if a loop calls only functions for which glibc has vector versions."""
    kernel = facts.kernel
    called = calls(kernel)
    advice = advise("vector-functions", build)
    # This also holds for Fortran, since gfortran reads glibc's list of vector functions.
    if not called or advice is None or not kernel.is_loop or inner_branches(kernel):
        return None
    names = list(dict.fromkeys(callee(kernel, i) for i in called))
    if not set(names) <= _VECTOR_FUNCTIONS:
        return None
    return hint(
        "math-call",
        f"the loop calls {wording.listed(names)} ({wording.places(kernel, called)}) for each element, and glibc has "
        f"{'a vector version' if len(names) == 1 else 'vector versions'}",
        {"instructions": called, "functions": names},
        advice,
    )
