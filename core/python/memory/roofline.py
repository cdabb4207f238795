"""The ceilings of a core in the roofline model: the most operations and bytes per cycle.

The roofline model (Williams, Waterman and Patterson, "Roofline: an insightful visual performance model for multicore
architectures", 2009) bounds a loop's operations per cycle by the core's peak, and by its operations per byte times the
bandwidth of the level that its data come from.

A peak is the highest rate of any mix of additions, multiplications and fused multiply-adds of one width, by the ports
of the model's forms and the width of the front end. The bandwidth of L1 is the highest rate of any mix of vector loads
and stores, and that of other levels the highest rate of loops that read and update arrays, by the predictions for data
in these levels.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import product
from typing import Literal

import msgspec

from incc.core import Stream
from incc.core.memory.levels import times
from incc.core.memory.traffic import traffic
from incc.frontends.isa import SCALABLE, PeakOperation, isa
from incc.models.memory import MemoryHierarchy, exact
from incc.models.model import Form, MachineModel
from incc.models.throughput import of_mix

PeakKind = Literal["separate", "fused", "mixed"]
"""separate: additions and multiplications; fused: fused multiply-adds; mixed: all three."""

ELEMENTS = (16, 32, 64)
"""Bits of the elements of floating-point arithmetic that have ceilings."""

_FLOP: dict[PeakOperation, int] = {"add": 1, "multiply": 1, "fma": 2}

_OF_KIND: dict[PeakKind, tuple[PeakOperation, ...]] = {
    "separate": ("add", "multiply"),
    "fused": ("fma",),
    "mixed": ("add", "multiply", "fma"),
}

_MOST_OF_ONE = 3
"""The most instructions of one kind in a mix; cores have few pipes for each."""


_ARRAYS = 16
"""The number of arrays of the loops that move data; with so many, no single stream limits them."""


class Peak(msgspec.Struct, frozen=True):
    """The most floating-point operations per cycle of one kind of arithmetic."""

    element: int
    """Bits of an element."""
    width: int
    """Bits of the vectors; those of the element for scalar arithmetic."""
    kind: PeakKind
    flop: Fraction
    """Operations per cycle."""


class Bandwidth(msgspec.Struct, frozen=True):
    """The most bytes per cycle that a core moves between a level and the one inside, or its registers."""

    level: str
    cores: int
    """The number of cores that use the level at the same time."""
    bytes: Fraction
    """Bytes per cycle of each of them."""


class Ceilings(msgspec.Struct, frozen=True):
    """The ceilings of a core."""

    peaks: tuple[Peak, ...]
    bandwidths: tuple[Bandwidth, ...]
    """From L1 outwards; for each level first that of a single core."""


def ceilings(model: MachineModel, cores: int = 1) -> Ceilings:
    """Return the ceilings of a core, without those of which the model has no figures.

    Args:
        model: The core.
        cores: The number of cores that use shared levels at the same time; 1 for as many as share them, as far as the
            model says.
    """
    kept: dict[int, Ceilings] = model.caches.setdefault("ceilings", {})
    if cores not in kept:
        kept[cores] = Ceilings(tuple(_peaks(model)), tuple(_bandwidths(model, cores)))
    return kept[cores]


def _peaks(model: MachineModel) -> Iterator[Peak]:
    for element in ELEMENTS:
        for width in (element, *isa(model.isa).vector_widths):
            bits = width or model.parameters["scalable_vector_bits"]
            forms = {operation: form for operation in _FLOP if (form := _form(model, operation, element, width))}
            rates: dict[PeakKind, Fraction] = {}
            for kind, operations in _OF_KIND.items():
                used = [(forms[name], _FLOP[name]) for name in operations if name in forms]
                rates[kind] = _most(model, used, bits) * (bits // element)
            if not rates["fused"] or rates["mixed"] <= rates["fused"]:
                del rates["mixed"]
            for kind, flop in rates.items():
                if flop:
                    yield Peak(element, bits, kind, flop)


def _form(model: MachineModel, operation: PeakOperation, element: int, width: int) -> Form | None:
    """Return the model's form of an operation; None if the core has none."""
    if width == SCALABLE and not model.parameters["scalable_vector_bits"]:
        return None
    for name in isa(model.isa).peak_forms(operation, element, width):
        form = model.lookup(name, frozenset())
        if form is not None and not form.lacking:
            return form
    return None


def _most(
    model: MachineModel, forms: Sequence[tuple[Form, int]], bits: int, committed: Mapping[str, int] = {}
) -> Fraction:
    """Return the highest sum of values per cycle of any mix of instructions.

    Args:
        model: The core.
        forms: The form and the value of each kind of instruction.
        bits: The width of their registers.
        committed: Bytes that instructions of a form store, by its key.
    """
    parameters = model.parameters
    slots = min(parameters["issue_width"], parameters["retire_width"])
    starts, commit = parameters.get(f"starts_{bits}bit", 0), parameters["store_commit_bytes"]
    best = Fraction(0)
    for numbers in product(range(_MOST_OF_ONE + 1), repeat=len(forms)):
        mix = [(form, number) for (form, _), number in zip(forms, numbers, strict=True) if number]
        if not mix:
            continue
        cycles = [
            of_mix(model, mix),
            Fraction(sum(form.retire_slots * number for form, number in mix), slots),
            Fraction(sum(numbers), starts) if starts else Fraction(0),
            Fraction(sum(committed.get(form.key, 0) * number for form, number in mix), commit)
            if commit
            else Fraction(0),
        ]
        value = sum(value * number for (_, value), number in zip(forms, numbers, strict=True))
        best = max(best, value / max(cycles))
    return best


def _bandwidths(model: MachineModel, cores: int) -> Iterator[Bandwidth]:
    l1 = max((_of_l1(model, width) for width in isa(model.isa).vector_widths), default=Fraction(0))
    if l1:
        yield Bandwidth("L1", 1, l1)
    if (memory := model.memory) is None:
        return
    sharing = 1
    for level, alone in zip(memory.with_costs[1:], _beyond_l1(memory), strict=True):
        yield Bandwidth(level.name, 1, alone)
        # As many cores share a level as share the one inside, at least.
        sharing = max(sharing, level.cores)
        together = cores if cores > 1 else sharing
        if (line := exact(level.all_cores)) and together > 1 and memory.line / (line * together) < alone:
            yield Bandwidth(level.name, together, memory.line / (line * together))


def _beyond_l1(memory: MemoryHierarchy) -> list[Fraction]:
    """Return the most bytes per cycle from each level beyond L1, according to `levels.times`.

    The loops do nothing but read some arrays and update the others, or write all of them with non-temporal stores.
    """
    best = [Fraction(0) for _ in memory.with_costs]
    for updated in range(_ARRAYS + 2):
        direct = updated > _ARRAYS
        accesses = [
            Stream(
                instruction=2 * n + store, store=store, size=memory.line, part=n, object=n, offset=0, step=memory.line
            )
            for n in range(_ARRAYS)
            for store in ((True,) if direct else (False, True) if n < updated else (False,))
        ]
        moved = traffic(accesses, memory.line, [each.instruction for each in accesses] if direct else ())
        zero = Fraction(0)
        for n, time in enumerate(times(memory, moved, cycles=zero, overlapping=zero, loading=zero).levels):
            if time.cycles:
                best[n] = max(best[n], time.lines.total * memory.line / time.cycles)
    return best[1:]


def _of_l1(
    model: MachineModel, width: int, operations: Sequence[Literal["load", "store"]] = ("load", "store")
) -> Fraction:
    """Return the most bytes per cycle of loads and stores of vectors of one width, or of one of them alone."""
    bits = width or model.parameters["scalable_vector_bits"]
    forms = {name: form for name in operations if (form := _form(model, name, 0, width)) is not None}
    committed = {forms["store"].key: bits // 8} if "store" in forms else {}
    return _most(model, [(form, bits // 8) for form in forms.values()], bits, committed)


def peak_bytes(model: MachineModel) -> tuple[Fraction, Fraction]:
    """Return the most bytes per cycle that a core loads from L1, and that it stores to L1; 0 if it is unknown."""
    kept: tuple[Fraction, Fraction] | None = model.caches.get("peak_bytes")
    if kept is None:
        widths = isa(model.isa).vector_widths
        loaded, stored = (
            max((_of_l1(model, width, [name]) for width in widths), default=Fraction(0)) for name in ("load", "store")
        )
        kept = model.caches["peak_bytes"] = loaded, stored
    return kept
