"""Unknown distances between the accesses of a loop, in terms of the source's variables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction

from incc.core.memory.traffic import Front, Traffic
from incc.frontends.kernel import KernelCode

_Terms = dict[str, int]
"""Coefficients by unknown values."""


def row_distance(kernel: KernelCode, front: Front, fronts: Iterable[Front], element: Fraction | None) -> str:
    """Return the distance of a front to the nearest one that goes through the same array at an unknown distance.

    Args:
        kernel: The kernel.
        front: Accesses at the front of the same lines.
        fronts: All such accesses of the kernel.
        element: Bytes of an element.

    Returns:
        The distance, such as "n elements" or "8*n*m bytes"; "" if it depends on values that no variable holds.
    """
    return in_variables(kernel, _distance(kernel, front, fronts), element)


def in_variables(kernel: KernelCode, terms: _Terms, element: Fraction | None) -> str:
    """Return a sum of unknown values in terms of variables: "n elements", "8*n*m bytes"; "" if one has no name."""
    if not all(_names(kernel, unknown) for unknown in terms):
        return ""
    unit = "bytes"
    if element and element.denominator == 1 and all(factor % element.numerator == 0 for factor in terms.values()):
        terms, unit = {unknown: factor // element.numerator for unknown, factor in terms.items()}, "elements"
    summands = []
    for unknown, factor in terms.items():
        product = "*".join([str(abs(factor))] * (abs(factor) != 1) + _names(kernel, unknown))
        summands.append(f"{'-' if factor < 0 else '+'} {product}")
    return f"{' '.join(summands).removeprefix('+ ')} {unit}" if terms else ""


def at_entry(kernel: KernelCode, terms: Mapping[str, int]) -> _Terms:
    """Return the unknown part of a sum of registers as they are when the loop is entered."""
    entries = {entry.target: entry for entry in (*kernel.entry, *kernel.alone)}
    return _sum(
        *[(dict(entries[root].terms) if root in entries else {root: 1}, times) for root, times in terms.items()]
    )


def variables(kernel: KernelCode, traffic: Traffic) -> list[str]:
    """Return the variables that unknown steps, or else unknown distances between rows, depend on."""
    entries = {entry.target: entry for entry in (*kernel.entry, *kernel.alone)}
    unknowns: list[str] = []
    for number in traffic.unknown:
        moved = {a.register.root for a in kernel.instructions[number].registers if a.address}
        for affine in [i.affine for i in kernel.instructions if i.affine is not None and i.affine.target in moved]:
            steps = [root for root, _ in affine.terms if root != affine.target and root in entries]
            unknowns += [unknown for root in steps for unknown, _ in entries[root].terms]
    if not traffic.unknown:
        for front in traffic.fronts:
            unknowns += _distance(kernel, front, traffic.fronts) if front.neighbour else ()
    return list(dict.fromkeys([name for unknown in unknowns for name in _names(kernel, unknown)]))


def _distance(kernel: KernelCode, front: Front, fronts: Iterable[Front]) -> _Terms:
    """Return the distance of a front to the nearest one at an unknown distance, nothing if no variables tell it."""
    own = _address(kernel, front)
    distances = []
    for other in fronts:
        terms = _sum((own, 1), (_address(kernel, other), -1)) if other.step == front.step else {}
        if terms and all(_names(kernel, unknown) for unknown in terms):
            # The distance is positive, at least if variables are.
            sign = 1 if sum(terms.values()) > 0 else -1
            distances.append({unknown: sign * factor for unknown, factor in sorted(terms.items())})
    return min(distances, key=lambda terms: (len(terms), sum(terms.values()), len(str(terms))), default={})


def _address(kernel: KernelCode, front: Front) -> _Terms:
    """Return the unknown part of the address of a front when the loop is entered."""
    registers: _Terms = {}
    for access in kernel.instructions[front.instructions[0]].memory[:1]:
        for register, times in ((access.base, 1), (access.index, access.scale)):
            if register is not None:
                registers[register.root] = registers.get(register.root, 0) + times
    return at_entry(kernel, registers)


def _sum(*parts: tuple[Mapping[str, int], int]) -> _Terms:
    total: _Terms = {}
    for terms, times in parts:
        for unknown, factor in terms.items():
            total[unknown] = total.get(unknown, 0) + times * factor
    return {unknown: factor for unknown, factor in total.items() if factor}


def _names(kernel: KernelCode, unknown: str) -> list[str]:
    """Return the variables whose product is an unknown value, none if it depends on others."""
    names = [name for name, value in kernel.variables.items() if value == unknown][:1]
    if names or unknown not in kernel.products:
        return names
    factors = [_names(kernel, factor) for factor in kernel.products[unknown]]
    return [name for factor in factors for name in factor] if all(factors) else []
