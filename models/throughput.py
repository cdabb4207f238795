"""Limits of a core: the cycles that a few µops need on their ports, exactly, and the width of its vectors.

The native core computes port bounds of whole kernels by the same definition (core/include/incc/ports.h).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from math import gcd
from typing import TYPE_CHECKING

from incc.frontends.isa import isa

if TYPE_CHECKING:
    from fractions import Fraction

    from incc.models.model import Form, MachineModel


def port_bound(uops: Iterable[tuple[int, int]], n_ports: int) -> tuple[int, int]:
    """Return the least possible load of the busiest port over all distributions of some µops.

    By Hall's theorem it is the largest of (work confined to a set of ports) / (ports of the set), and only unions of
    occurring masks need to be examined: at most 2^n_ports, a handful in practice.

    Args:
        uops: (bit mask of allowed ports, cycles) of each µop.
        n_ports: Masks beyond this many bits are units whose cycles are simply added up.

    Returns:
        The load in cycles, as a reduced fraction (numerator, denominator).
    """
    ports = (1 << n_ports) - 1
    work: dict[int, int] = {}
    for mask, cycles in uops:
        work[mask] = work.get(mask, 0) + cycles
    numerator, denominator = 0, 1
    unions = {0}
    for mask, cycles in work.items():
        if mask & ports:
            unions |= {union | mask for union in unions}
        elif cycles * denominator > numerator:
            numerator, denominator = cycles, 1
    for union in unions:
        confined = sum(cycles for mask, cycles in work.items() if mask & ports and not mask & ~union)
        size = union.bit_count()
        if confined * denominator > numerator * size:
            numerator, denominator = confined, size
    divisor = gcd(numerator, denominator)
    return numerator // divisor, denominator // divisor


def of_form(uops: Iterable[tuple[str, int]]) -> Fraction:
    """Return the port bound of µops as a form has them: (ports joined by ",", count), a cycle each."""
    from fractions import Fraction

    names: dict[str, int] = {}
    masks = [
        (sum(1 << names.setdefault(port, len(names)) for port in ports.split(",")), count) for ports, count in uops
    ]
    return Fraction(*port_bound(masks, len(names)))


def of_mix(model: MachineModel, mix: Collection[tuple[Form, int]]) -> Fraction:
    """Return the cycles that independent instructions need on ports and units, or as measured if that is more.

    Args:
        model: The core.
        mix: The form and the number of instructions of each kind.
    """
    from fractions import Fraction

    masks = [
        (sum(1 << model.ports.index(port) for port in ports.split(",")), uops * number * hold_of(form))
        for form, number in mix
        for ports, uops in form.uops
    ]
    return max(
        Fraction(*port_bound(masks, len(model.ports))),
        Fraction(sum(form.divider * number for form, number in mix)),
        sum((Fraction(form.throughput or 0) * number for form, number in mix), Fraction(0)),
    )


def hold_of(form: Form) -> int:
    """Return the cycles for which each µop of a form keeps its port busy."""
    return max(1, int(form.attributes.get("hold", 1)))


def widest_vector(model: MachineModel) -> int:
    """Return the width in bits of the widest vectors that a core computes with; 0 if it has none."""
    forms = isa(model.isa).widest_vector
    there = (bits for name, bits in forms if (form := model.lookup(name, frozenset())) and not form.lacking)
    return next((bits or int(model.parameters["scalable_vector_bits"]) for bits in there), 0)
