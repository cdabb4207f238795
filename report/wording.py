"""The wording of numbers, ports, registers and lines, the same in every sentence and view of a report."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Literal

from incc.core import WITHIN_INSTRUCTION, Edge, PathStep
from incc.frontends.kernel import Instruction, KernelCode
from incc.models.binding.bound import BoundKernel

if TYPE_CHECKING:
    from fractions import Fraction

    Carrier = Literal["register", "flag", "memory", "internal"]

# A list of lines longer than this is given as its range.
MAX_LISTED_LINES = 6


def number(value: float | Fraction) -> str:
    """Return a number with up to two decimals and no trailing zeros: 16, 6.5, 2.25."""
    return f"{float(value):.2f}".rstrip("0").rstrip(".")


def value(value: float | Fraction) -> str:
    """Return a number without a unit, with at least one decimal to look like a measure and not like a count: 2.0."""
    text = number(value)
    return text if "." in text else f"{text}.0"


def counted(count: int, singular: str, plural: str = "") -> str:
    """Return a count with its noun: 1 instruction, 2 instructions."""
    return f"{count} {singular if count == 1 else plural or singular + 's'}"


def cycles(count: float | Fraction) -> str:
    """Return a duration for a sentence: 1 cycle, 2.25 cycles."""
    text = number(count)
    return f"{text} cycle" if text == "1" else f"{text} cycles"


HUGE = 1e9
"""The number from which on a figure cannot be a loop's, and its digits only take room."""


def relative(ratio: float) -> str:
    """Return a change such that the change from B to A is its mirror image.

    Examples are “+50 %” and “-33 %”, and from a factor of 2 on “×2.70” and “÷2.70”.
    """
    if ratio >= 2:
        return f"×{ratio:.2f}" if ratio < 1e6 else f"×{ratio:.3g}"
    if 0 < ratio <= 0.5:
        times = 1 / ratio
        return f"÷{times:.2f}" if times < 1e6 else f"÷{times:.3g}"
    text = f"{100 * (ratio - 1):+.1f}"
    # Tenths matter for small changes only.
    if abs(ratio - 1) >= 0.0995:
        text = f"{100 * (ratio - 1):+.0f}"
    return "0\xa0%" if float(text) == 0 else f"{text}\xa0%"


def listed(words: Sequence[str]) -> str:
    """Return a list in words: a; a and b; a, b and c."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"


def distinct(items: Iterable[str]) -> list[str]:
    """Return the different strings in the order of their first occurrence."""
    return list(dict.fromkeys(items))


def ports(names: Sequence[str]) -> str:
    """Return ports in words: port 5; ports 2 and 3."""
    return f"{'port' if len(names) == 1 else 'ports'} {listed(names)}"


def places(kernel: KernelCode, indices: Iterable[int]) -> str:
    """Return the places of instructions, in the given order.

    Examples are “line 12”, “lines 12, 15”, for many “lines 12–18” or, with others between them, “7 of lines 12–47”.
    Machine code without lines gives “instruction 3”, counted from 0 as in every view.
    """
    chosen = list(dict.fromkeys(indices))
    lines = [kernel.instructions[i].line for i in chosen]
    noun = "line"
    if not all(lines):
        noun, lines = "instruction", chosen
    lines = list(dict.fromkeys(lines))
    if len(lines) == 1:
        return f"{noun} {lines[0]}"
    if len(lines) > MAX_LISTED_LINES:
        if sorted(lines) == list(range(min(lines), max(lines) + 1)):
            return f"{noun}s {min(lines)}–{max(lines)}"
        return f"{len(lines)} of {noun}s {min(lines)}–{max(lines)}"
    return f"{noun}s {', '.join(str(line) for line in lines)}"


def input_carrier(kernel: KernelCode, bound: BoundKernel, instruction: int, location: int) -> tuple[Carrier, str]:
    """Return the carrier of an input of an instruction's µop (`core.UopInput`), as `carrier` does.

    Registers are named as the instruction reads them.
    """
    if location < 0:
        return ("internal", "") if location == WITHIN_INSTRUCTION else ("memory", "memory")
    return _register(kernel.instructions[instruction], bound.location_names[location], "read")


def carrier(kernel: KernelCode, bound: BoundKernel, edge: Edge | PathStep) -> tuple[Carrier, str]:
    """Return the carrier of a dependency: its kind and its name in the assembly text.

    The kind is "register", "flag", "memory" or, from an instruction's own load to its result, "internal". The name is
    "ymm0" if that is the text's, even if the hardware renames zmm0.
    """
    if edge.location < 0:
        internal = edge.producer == edge.consumer and edge.distance == 0
        return ("internal", "") if internal else ("memory", "memory")
    return _register(kernel.instructions[edge.producer], bound.location_names[edge.location], "write")


def _register(
    instruction: Instruction, location: str, direction: Literal["read", "write"]
) -> tuple[Literal["register", "flag"], str]:
    """Return the name by which an instruction reads or writes a location."""
    if location.startswith("flag"):
        return "flag", location
    root, _, part = location.partition(".")
    for access in instruction.registers:
        register = access.register
        if getattr(access, direction) and register.root == root and (register.offset != 0) == (part == "high"):
            return "register", register.name
    return "register", location
