"""The names of the source's variables for unknown values with which loops are entered, from debug information."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from incc.frontends.asm.parse import Assembly
from incc.frontends.isa import isa
from incc.frontends.kernel import KernelCode, Origin, Region, Variable, VariablePlace
from incc.frontends.objects.kernels import KernelSource
from incc.frontends.objects.text_debug import TextDebug


class TextVariables:
    """The variables in the debug information of an assembly text."""

    def __init__(self, assembly: Assembly, text: str) -> None:
        self._isa = assembly.isa
        self._debug = TextDebug(assembly, text)
        self._number = {statement.line: n for n, statement in enumerate(assembly.statements)}

    def registers(self, regions: Sequence[Region]) -> list[tuple[str, ...]]:
        """Return the registers that hold variables when each of these regions begins."""
        starts = [self._address(region.lines[0]) if region.lines else 0 for region in regions]
        variables = self._debug.variables(starts)
        held = [
            [v.place for v in variables.get(start, ()) if v.place and v.place.displacement is None] for start in starts
        ]
        return [
            tuple(sorted({_root(self._isa, place) for place in places if not place.earlier} - {""})) for places in held
        ]

    def named(self, kernels: Sequence[KernelCode]) -> list[KernelCode]:
        """Return kernels with the names of unknown values."""
        places = [
            _Places(
                self._address(kernel.region.lines[0]),
                [self._address(origin.line) + origin.after for origin in kernel.origins],
            )
            if kernel.region and kernel.origins
            else _Places(0, [])
            for kernel in kernels
        ]
        return _named(kernels, places, self._debug.variables)

    def _address(self, line: int) -> int:
        return self._debug.address(self._number[line])


def with_variables_of_object(kernels: Sequence[KernelCode], sources: Sequence[KernelSource]) -> list[KernelCode]:
    """Return the kernels of an object, which have these sources, with the names of unknown values."""
    result = list(kernels)
    # The parts of a large object have debug information of their own.
    for debug in {id(source.debug): source.debug for source in sources}.values():
        chosen = [n for n, source in enumerate(sources) if source.debug is debug and kernels[n].origins]
        places = [_Places(sources[n].address, [origin.address for origin in kernels[n].origins]) for n in chosen]
        for n, kernel in zip(chosen, _named([kernels[n] for n in chosen], places, debug.variables), strict=True):
            result[n] = kernel
    return result


class _Places(NamedTuple):
    """The addresses of a kernel's first instruction, and of its origins."""

    start: int
    origins: list[int]


def _named(
    kernels: Sequence[KernelCode],
    places: Sequence[_Places],
    find: Callable[[Iterable[int]], Mapping[int, tuple[Variable, ...]]],
) -> list[KernelCode]:
    """Return kernels with the names of unknown values.

    A name means the variable that the loop's code sees, and the value that this has when the loop is entered. If it had
    several values before, it names none. Nor does a name that a register has, too.
    """
    variables = find([address for each in places if each.origins for address in (each.start, *each.origins)])
    return [
        replace(kernel, variables=_unknowns(kernel, each, variables)) if each.origins else kernel
        for kernel, each in zip(kernels, places, strict=True)
    ]


def _unknowns(kernel: KernelCode, places: _Places, variables: Mapping[int, tuple[Variable, ...]]) -> dict[str, str]:
    """Return the unknown values of a kernel by the names of variables."""
    seen = {variable.name: variable for variable in variables.get(places.start, ())}
    unknowns: dict[str, set[str]] = {}
    for name, variable in seen.items():
        place = variable.place
        is_held = place is not None and place.displacement is None and not place.earlier
        if place and is_held and (unknown := kernel.held.get(_root(kernel.isa, place))):
            unknowns.setdefault(name, set()).add(unknown)
    for origin, address in zip(kernel.origins, places.origins, strict=True):
        if origin.symbol and origin.symbol not in seen:
            unknowns.setdefault(origin.symbol, set()).add(origin.unknown)
        for variable in variables.get(address, ()):
            at_start = seen.get(variable.name)
            if at_start is None or at_start.entry != variable.entry:
                continue
            if _is_at(kernel.isa, variable.place, origin) and _keeps(kernel, origin, at_start.place):
                unknowns.setdefault(variable.name, set()).add(origin.unknown)
    roots = isa(kernel.isa).debug_registers
    return {name: each.pop() for name, each in unknowns.items() if len(each) == 1 and name.lower() not in roots}


def _is_at(isa_name: str, place: VariablePlace | None, origin: Origin) -> bool:
    """Return True if a variable's place is that of an unknown value."""
    if place is None or place.earlier:
        return False
    return (_root(isa_name, place), place.displacement) == (origin.register, origin.displacement)


def _keeps(kernel: KernelCode, origin: Origin, place: VariablePlace | None) -> bool:
    """Return False if a variable with this place at the start of a kernel may hold another value than the unknown."""
    if place is None or place.displacement is not None:
        return True
    root = _root(kernel.isa, place)
    if place.earlier:
        return origin.register == root and origin.displacement is None and not origin.after
    return kernel.held.get(root) == origin.unknown


def _root(isa_name: str, place: VariablePlace) -> str:
    """Return the register of a place, "" if it is not a general-purpose one."""
    roots = isa(isa_name).debug_registers
    return roots[place.register] if place.register < len(roots) else ""
