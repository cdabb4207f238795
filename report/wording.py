"""The wording of numbers, ports, registers and lines, the same in every sentence and view of a report."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Literal

from incc.core import WITHIN_INSTRUCTION, Edge, PathStep
from incc.frontends.kernel import Instruction, KernelCode
from incc.models.binding.bound import BoundKernel
from incc.support.text import counted as counted

if TYPE_CHECKING:
    from fractions import Fraction

    Carrier = Literal["register", "flag", "memory", "internal"]

# A list of lines longer than this is given as its range.
MAX_LISTED_LINES = 6


def number(value: float | Fraction) -> str:
    """Return a number with up to two decimals and no trailing zeros: 16, 6.5, 2.25."""
    return f"{float(value):.2f}".rstrip("0").rstrip(".")


def percent(share: float) -> str:
    """Return a share with three digits: 12.5 %, 100 %."""
    return f"{100 * share:.3g} %"


def value(value: float | Fraction) -> str:
    """Return a number without a unit, with at least one decimal to look like a measure and not like a count: 2.0."""
    text = number(value)
    return text if "." in text else f"{text}.0"


def unit(name: str) -> str:
    """Return the name of a unit that is no port, as the models spell it, for a sentence."""
    if not name.endswith("DV"):
        return f"unit {name}"
    return {"": "divider", "I": "integer divider", "F": "floating-point divider"}.get(
        name[:-2], f"divider of port {name[:-2]}"
    )


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
    """Return the places of instructions, in the given order: lines of the source as far as they have one.

    Examples are “line 12”, “lines 12, 15”, for many “lines 12–18” or, with others between them, “7 of lines 12–47”;
    “vec.h:7” in another file of the source, “asm 30” for a line of a compiler's assembly. Machine code without lines
    gives “instruction 3”, counted from 0 as in every view.
    """
    chosen = list(dict.fromkeys(indices))
    lines = [kernel.instructions[i].line for i in chosen]
    return lines_of(kernel, lines) if all(lines) else numbered("instruction", chosen)


def lines_of(kernel: KernelCode, lines: Iterable[int]) -> str:
    """Return the places of a kernel's lines of assembly as `places` does."""
    lines = list(dict.fromkeys(lines))
    if kernel.line_names is None:
        return numbered("line", lines)
    names = distinct(name for line in lines if (name := kernel.line_names.get(line)))
    own = [int(name) for name in names if name.isdecimal()]
    assembly = [line for line in lines if line not in kernel.line_names]
    parts = [numbered("line", own)] if own else []
    parts += [name for name in names if not name.isdecimal()]
    parts += [numbered("asm", assembly, "asm")] if assembly else []
    return listed(parts)


def two_places(kernel: KernelCode, first: int, second: int) -> tuple[str, str]:
    """Return the places of two instructions; if a line of the source has both, their lines in the assembly."""
    one, other = places(kernel, [first]), places(kernel, [second])
    if one == other and first != second and kernel.line_names is not None:
        return f"asm {kernel.instructions[first].line}", f"asm {kernel.instructions[second].line}"
    return one, other


def numbered(noun: str, numbers: Sequence[int], several: str = "") -> str:
    """Return numbers of lines or the like, as a range if there are many; `several` is the plural of the noun."""
    if len(numbers) == 1:
        return f"{noun} {numbers[0]}"
    several = several or f"{noun}s"
    if len(numbers) > MAX_LISTED_LINES:
        if sorted(numbers) == list(range(min(numbers), max(numbers) + 1)):
            return f"{several} {min(numbers)}–{max(numbers)}"
        return f"{len(numbers)} of {several} {min(numbers)}–{max(numbers)}"
    return f"{several} {', '.join(str(number) for number in numbers)}"


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
