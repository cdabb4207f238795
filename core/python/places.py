"""The places of arrays within cache lines and pages that a prediction assumes.

Elements up to eight bytes are aligned and never cross a line. For vectors it depends on the place of the array.
Symbols, the stack and what instructions need aligned are known to be aligned. Of other arrays, *likely* places are
multiples of 16 bytes, as malloc() returns them, and any multiple of the element's size for the rows of an array, whose
length is not known; the prediction is then the average over these. *Aligned* are the places with the fewest crossings,
as buffers in benchmarks have them; only kernels that work on shifted views of their arrays get the average over all
places (core/include/incc/lines.h).
"""

from __future__ import annotations

from typing import Literal

from msgspec.structs import replace

from incc.frontends.isa import isa
from incc.frontends.kernel import KernelCode
from incc.models.binding.bound import BoundKernel

BEST_PLACES, WORST_PLACES, LIKELY_PLACES = 1, 2, 4
"""Values of `BoundKernel.line_places`."""

LARGEST_ELEMENT = 8
"""Bytes: accesses up to this size lie within a line at the alignment that elements have (core/lib/lines.cpp)."""


ArrayPlaces = Literal["aligned", "likely"]


def place_arrays(kernel: KernelCode, bound: BoundKernel, arrays: ArrayPlaces) -> None:
    """Set the places of arrays and the values that are surely aligned in a bound kernel."""
    if max(bound.memory_size, default=0) <= LARGEST_ELEMENT:
        return
    of = isa(kernel.isa)
    bound.aligned_value = [
        value
        for n, instruction in enumerate(kernel.instructions)
        # Data at the stack pointer itself are aligned even with an index: compilers align their arrays.
        if instruction.memory
        and (
            of.is_aligned(instruction)
            or all(of.on_frame(replace(access, index=None, displacement=0)) for access in instruction.memory)
        )
        for value in range(bound.value_start[n], bound.value_start[n + 1])
        if bound.memory_of_value[value] >= 0
    ]
    if arrays == "likely" and placed_anywhere(bound):
        bound.line_places = LIKELY_PLACES


def placed_anywhere(bound: BoundKernel) -> tuple[int, ...]:
    """Return the instructions that access vectors relative to pointers with unknown alignment."""
    aligned = set(bound.aligned_value)
    return tuple(
        [
            n
            for n in range(len(bound.value_start) - 1)
            if any(
                (operand := bound.memory_of_value[value]) >= 0
                and bound.memory_size[operand] > LARGEST_ELEMENT
                and bound.memory_symbol[operand] < 0
                and value not in aligned
                for value in range(bound.value_start[n], bound.value_start[n + 1])
            )
        ]
    )
