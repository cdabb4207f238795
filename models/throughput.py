"""The port bound of a few µops: cycles that they need on the ports that they may use, exactly.

Of whole kernels the native core finds it, by the same definition (core/include/incc/ports.h).
"""

from __future__ import annotations

from math import gcd
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from fractions import Fraction


def port_bound(uops: Iterable[tuple[int, int]], n_ports: int) -> tuple[int, int]:
    """The least possible load in cycles of the busiest port, as a reduced fraction (numerator, denominator), over all
    distributions of µops, given as (bit mask of allowed ports, cycles). Masks beyond the first `n_ports` bits are units
    that are simply added up.

    By Hall's theorem it is the largest of (work confined to a set of ports) / (ports of the set), and only unions of
    occurring masks need to be looked at: at most 2^n_ports, a handful in practice.
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
    """The same for µops as a form has them: (ports joined by ",", how many), a cycle each."""
    from fractions import Fraction

    names: dict[str, int] = {}
    found = [
        (sum(1 << names.setdefault(port, len(names)) for port in ports.split(",")), count) for ports, count in uops
    ]
    return Fraction(*port_bound(found, len(names)))
