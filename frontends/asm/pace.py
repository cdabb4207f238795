"""The number of source iterations that an iteration of a loop stands for.

Before a loop that is vectorised or unrolled, compilers compute its number of iterations from that of the source's loop:
`n >> 3` if an iteration does eight, as a count, as the end of an index (`n & -8`), or as the end of a pointer (`a + ((n
>> 3) << 5)`). A loop that is unchanged from the source runs to `n` itself, or to `a + 12 * n`. The number of
iterations, which follows from the last comparison and from its registers' values on entry, is therefore c * floor(x /
d) + m; if m is 0, an iteration stands for d / c of the units of x.

A loop that has a step of two in the source has a number of iterations of the same kind, but rounded up: ((x - 1) / 2) +
1. Such a number is ambiguous and ignored, and so is a difference of pointers, which counts bytes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from math import gcd

import msgspec

from incc.frontends.asm.entry import Convention, Follower
from incc.frontends.kernel import Instruction


def pace(instructions: Sequence[Instruction], follower: Follower) -> Pace:
    """Return the source iterations per iteration."""
    return _by_elements(instructions, follower) or Pace(_by_iterations(instructions, follower))


class Pace(msgspec.Struct, frozen=True):
    """The source iterations per iteration of a loop."""

    number: int
    """0 where the code before the loop does not tell."""
    scalable: bool = False
    """It grows with the length of vectors."""


def _by_elements(instructions: Sequence[Instruction], follower: Follower) -> Pace | None:
    """Return the pace of a loop that compares its counter with the number of elements, for each of a vector's."""
    at = _comparison(instructions)
    if at < 0 or instructions[at].mnemonic not in follower.convention.of_elements:
        return None
    counter = next((a.register.root for a in instructions[at].registers if a.read and a.operand == 1), "")
    changes = [i.affine for i in instructions for a in i.registers if a.write and a.register.root == counter]
    if len(changes) != 1 or (affine := changes[0]) is None or affine.terms != ((counter, 1),) or affine.constant < 1:
        return None
    return Pace(affine.constant, affine.scalable)


def _by_iterations(instructions: Sequence[Instruction], follower: Follower) -> int:
    """Return the pace that follows from the number of iterations, 0 where the code before the loop does not tell."""
    if len(instructions) < 2:
        return 0
    equal = instructions[-1].mnemonic in follower.convention.until_equal
    if not equal and instructions[-1].mnemonic not in follower.convention.while_less:
        return 0
    iterations = _iterations(instructions, follower)
    if iterations is None:
        return 0
    unknown, factor, constant, step = iterations
    divided = follower.quotients.get(unknown)
    by = 1
    if divided is not None:
        (terms, _), by = divided
        if constant or len(terms) != 1 or gcd(terms[0][1], by) > 1:
            return 0
    units, rest = divmod(-step * by, factor)
    if rest or units < 1:
        return 0
    if by == 1 and units > 1:
        # A loop that has such steps in the source also stops below some value.
        return units if equal else 0
    # An unknown number of iterations may have been divided before.
    is_counted = divided is not None or (unknown in follower.given and not unknown.endswith(" at the start"))
    return units if is_counted else 0


def _iterations(instructions: Sequence[Instruction], follower: Follower) -> tuple[str, int, int, int] | None:
    """Return the number of iterations as (factor * unknown + constant) / -step: unknown, factor, constant, step.

    The result is None if it is anything else.
    """
    at = _comparison(instructions)
    # The compared value on entry to the loop, and its changes up to and after the comparison.
    distance: Counter[str] = Counter()
    constant = step = 0
    for place, sign in _compared(instructions[at], follower.convention) if at >= 0 else ():
        if not place:
            constant += sign
            continue
        steps = _steps(instructions, place, at)
        if steps is None:
            return None
        until, after = steps
        step += sign * (until + after)
        terms, addend = follower.entering(place)
        # The value on entry and `until` is compared first, and it is 0 after (iterations - 1) steps.
        constant += sign * (addend - after)
        for unknown, factor in terms:
            distance[unknown] += sign * factor
    remaining = [(unknown, factor) for unknown, factor in distance.items() if factor]
    if not step or len(remaining) != 1:
        return None
    return *remaining[0], constant, step


def _comparison(instructions: Sequence[Instruction]) -> int:
    """Return the instruction by which a loop's last branch decides, -1 for none."""
    last = len(instructions) - 1
    if not instructions[last].flags_read:  # it compares a register with 0 by itself
        return last
    return next((n for n in range(last - 1, -1, -1) if "Z" in instructions[n].flags_written), -1)


def _compared(instruction: Instruction, convention: Convention) -> list[tuple[str, int]]:
    """Return the places whose sum, each times 1 or -1, is compared with 0; a constant has no place."""
    by_operand = {a.operand: a.register for a in instruction.registers if a.operand is not None}
    if instruction.branch:
        return [(by_operand[0].root, 1)] if by_operand.keys() == {0} and by_operand[0].width >= 32 else []
    if instruction.mnemonic in convention.counts and instruction.affine is not None:
        return [(instruction.affine.target, 1)] if instruction.affine.target else []
    if instruction.mnemonic == convention.test and instruction.operands == "rr" and by_operand[0] == by_operand[1]:
        return [(by_operand[0].root, 1)] if by_operand[0].width >= 32 else []
    if (
        instruction.mnemonic != convention.compare
        or len(instruction.operands) != 2
        or any(register.width < 32 for register in by_operand.values())
    ):
        return []
    return _operands(instruction, {n: r.root for n, r in by_operand.items() if n is not None}, convention)


def _operands(instruction: Instruction, roots: Mapping[int, str], convention: Convention) -> list[tuple[str, int]]:
    """Return the places that a comparison compares, as `_compared` does."""
    places: list[tuple[str, int]] = []
    for operand, kind in enumerate(instruction.operands):
        sign = 1 if operand == 0 else -1
        if kind == "r":
            if operand not in roots:  # the zero register
                continue
            places.append((roots[operand], sign))
        elif kind == "m":
            access = instruction.memory[0]
            if access.base is None or access.base.root not in convention.stack or access.index or access.size != 8:
                return []
            places.append((f"{access.displacement}({access.base.root})", sign))
        elif instruction.immediate is None:
            return []
        else:
            places.append(("", sign * instruction.immediate))
    return places


def _steps(instructions: Sequence[Instruction], place: str, at: int) -> tuple[int, int] | None:
    """Return a place's changes per iteration up to and after instruction `at`.

    None if it is not changed by constants.
    """
    if place[-1] == ")":
        return (0, 0)
    until = after = 0
    for number, instruction in enumerate(instructions):
        for access in instruction.registers:
            if access.write and access.register.root == place:
                affine = instruction.affine
                if affine is None or affine.target != place or affine.terms != ((place, 1),) or affine.scalable:
                    return None
                if number <= at:
                    until += affine.constant
                else:
                    after += affine.constant
                break
    return until, after
