"""The roles of loops that do the same work in a function, and the number of elements that each handles.

Compilers make several loops of one: a vectorised loop and its remainder, a prologue that aligns, a plain loop for
arrays that overlap. They do the same work: they come from the same lines of the source, as far as lines are known;
their streams advance by multiples of one number; they do the same operations on elements of the same kind. The main
loop is the one with the largest steps. Control flow determines the roles of the others: a loop that the main loop
leads to is its remainder, one that leads to the main loop its prologue, and one that does neither replaces it. A
remainder that can also be reached past the main loop replaces it as well, since compilers share the scalar loop
between the two.

If two source loops do the same work in one function and no lines are known, their main loops have the same steps; each
remainder belongs to the main loop from which control reaches it last.

Versions for a stride of 1 have larger steps than the loop that runs for any other stride. Whether a loop is such a
version shows only in what a call executes (`with_unit_strides` in `driver/calls.py`).

All this is inferred. The compiler's own record of a loop (`Region.compiled`) takes precedence: it tells which loops a
source loop became, and how many of its iterations one iteration of each contains.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from math import gcd

import msgspec
from msgspec.structs import replace

from incc.core import elements
from incc.core.analysis import KernelResult
from incc.core.dataflow import moving_addresses
from incc.core.elements import Elements, Work
from incc.frontends.asm.parse import InstructionOrigin
from incc.frontends.kernel import Basis, KernelCode, Region, RoleName, SourceLocation


class Role(msgspec.Struct, frozen=True, kw_only=True):
    """The role of a loop among those that do the same work."""

    name: RoleName
    """The role's name in the report."""
    of: int = -1
    """The number of the main loop; -1 for a main loop and for code that is not a loop."""
    instead: bool = False
    """True for a remainder that also replaces the main loop where that cannot run."""
    unit_stride: bool = False
    """True for a fallback that runs only if a stride, which the main loop takes as it is, is 1."""
    basis: Basis = "inferred"
    """Reported by the compiler, or inferred from the code."""


class LoopPart(msgspec.Struct, frozen=True):
    """The role and the elements of one kernel."""

    role: Role
    elements: Elements | None
    step: int = 0
    """Bytes by which the fastest stream advances per iteration; 0 if none is known to."""


NO_PART = LoopPart(Role(name=""), None)
"""The part of code that is not a loop, and of kernels whose roles are not needed."""


def parts(
    results: Sequence[KernelResult],
    places: Sequence[frozenset[SourceLocation]] = (),
    origins: Callable[[str], Sequence[InstructionOrigin]] | None = None,
) -> list[LoopPart]:
    """Return the role and the elements of each of a unit's kernels.

    `places` holds for each kernel the places in the source of its instructions, if lines are known. `origins` returns
    the origin of each instruction of a function; it is called only if needed.
    """
    kernel_parts = [NO_PART] * len(results)
    functions: dict[str, list[int]] = {}
    for number, result in enumerate(results):
        region = result.kernel.region
        if region is not None and region.shape != "innermost":
            # It has no part in what its function's innermost loops do.
            kernel_parts[number] = LoopPart(Role(name="partial" if region.shape == "partial" else "main"), None)
        elif result.kernel.is_loop:
            functions.setdefault(region.function if region else f"{number}", []).append(number)
    for members in functions.values():
        works = {number: elements.work(results[number]) for number in members}
        roles = _roles(members, [results[n].kernel.region for n in members], works, places)
        for group in roles:
            numbers = group.roles.keys()
            smallest = min(numbers, key=lambda n: (works[n].steps, works[n].vector_bytes))
            paces = len({works[n].steps for n in numbers})
            surroundings = None
            if origins is not None and works[smallest].units != 1:
                kernel = results[smallest].kernel
                if kernel.region is not None:
                    others = [line for n in numbers if n != smallest for line in _lines(results[n])]
                    surroundings = elements.surroundings(kernel, origins(kernel.region.function), others)
            counted = [works[n] for n in numbers if works[n].pace]
            for number, role in group.roles.items():
                kernel_parts[number] = LoopPart(
                    role,
                    elements.elements(works[number], works[smallest], paces, surroundings, counted),
                    max(works[number].steps, default=0),
                )
        _as_compiled(members, results, kernel_parts)
    return kernel_parts


def has_open_stride(kernel: KernelCode) -> bool:
    """Return True if an access advances by a value that the loop does not change, and that only a call knows."""
    return any(address.step is not None and address.step.terms for address in moving_addresses(kernel))


def has_fixed_strides(kernel: KernelCode) -> bool:
    """Return True if each access, of one at least, advances by a constant or stays where it is."""
    addresses = moving_addresses(kernel)
    return bool(addresses) and all(address.step is not None and not address.step.terms for address in addresses)


def with_unit_stride(
    parts: Sequence[LoopPart], results: Sequence[KernelResult], main: int, others: Sequence[int], fixed: Sequence[int]
) -> list[LoopPart]:
    """Return the parts of a unit's kernels with those of a loop that has a version for a stride of 1.

    Args:
        parts: The parts of all kernels.
        results: The results of all kernels.
        main: The number of the loop that runs for any other stride.
        others: The numbers of its remainders and the like, which take the stride as it is.
        fixed: The numbers of the version's loops.
    """
    changed = list(parts)
    regions = {n: results[n].kernel.region for n in (main, *others)}
    changed[main] = replace(parts[main], role=Role(name="main"))
    for n in others:
        changed[n] = replace(parts[n], role=_relation(n, [main], regions))
    for n in fixed:
        changed[n] = replace(parts[n], role=Role(name="fallback", of=main, unit_stride=True))
    return changed


def _as_compiled(members: Sequence[int], results: Sequence[KernelResult], kernel_parts: list[LoopPart]) -> None:
    """Replace inferred roles by the compiler's record of a function's loops.

    A loop without a record keeps its inferred role: it may be part of one that has a record. It becomes a main loop if
    its inferred main loop is not one according to the compiler.
    """
    compiled = {}
    for number in members:
        region = results[number].kernel.region
        if region is not None and region.compiled is not None and region.compiled.role:
            compiled[number] = region.compiled
    number_of = {loop.number: number for number, loop in compiled.items()}
    for number, loop in compiled.items():
        # The record may refer to a loop that code generation changed beyond recognition, which has no kernel.
        role = Role(name=loop.role, of=number_of.get(loop.of, -1), instead=loop.instead, basis="compiler")
        inferred = kernel_parts[number]
        kernel_parts[number] = LoopPart(role, elements.of_compiler(loop) or inferred.elements, inferred.step)
    for number in members:
        role = kernel_parts[number].role
        if number not in compiled and role.of in compiled and kernel_parts[role.of].role.name != "main":
            kernel_parts[number] = replace(kernel_parts[number], role=Role(name="main"))


def _lines(result: KernelResult) -> Sequence[int]:
    region = result.kernel.region
    return region.body_lines if region else ()


def _roles(
    members: Sequence[int],
    regions: Sequence[Region | None],
    works: dict[int, Work],
    places: Sequence[frozenset[SourceLocation]],
) -> list[_Group]:
    """Return the groups of a function's loops that do the same work."""
    region_of = dict(zip(members, regions, strict=True))
    kinds = {n: _Kind(works[n].stores, works[n].computes, works[n].steps, works[n].whole) for n in members}
    groups: list[list[int]] = []
    # One loop per kind and place represents each group, since most of thousands are alike.
    unlike: list[dict[tuple[_Kind, frozenset[SourceLocation]], int]] = []
    # Candidate groups by the places of their first loops; None for loops without places.
    groups_at: dict[SourceLocation | None, list[int]] = {}
    # The same by the work of their first loops, which decides about loops without places.
    groups_like: dict[Hashable, list[int]] = {}
    for number in members:
        kind = kinds[number]
        at: frozenset[SourceLocation] = places[number] if places else frozenset()
        possible: Sequence[int] = groups_like.get(kind.likeness, ())
        if at:
            possible = sorted({n for place in (None, *at) for n in groups_at.get(place, ())})
        for chosen in possible:
            others = unlike[chosen].values()
            if _may_be_one(places, number, others) and all(_same_work(kind, kinds[n], bool(at)) for n in others):
                groups[chosen].append(number)
                unlike[chosen].setdefault((kind, at), number)
                break
        else:
            for place in at or (None,):
                groups_at.setdefault(place, []).append(len(groups))
            if kind.steps:
                groups_like.setdefault(kind.likeness, []).append(len(groups))
            groups.append([number])
            unlike.append({(kind, at): number})
    # The loops inside the loop at each place of the source.
    inside: dict[SourceLocation, list[int]] = {}
    for number, region in region_of.items():
        for place in region.neighbours.enclosing if region else ():
            inside.setdefault(place, []).append(number)
    roles = []
    for group in groups:
        longest = max(kinds[number].steps for number in group)
        main = [number for number in group if kinds[number].steps == longest]
        mains, all_of_it = frozenset(main), frozenset(group)
        of_group = {}
        for number in group:
            role = Role(name="main") if number in mains else _relation(number, _nearest(number, main), region_of)
            of_group[number] = _outer(number, all_of_it, region_of, inside) or role
        roles.append(_Group(of_group))
    return roles


_MOST_MAIN = 50
"""The most main loops on each side of a loop that may be its own, in the order of the code."""


def _nearest(number: int, main: Sequence[int]) -> Sequence[int]:
    at = bisect_left(main, number)
    return main[max(at - _MOST_MAIN, 0) : at + _MOST_MAIN]


class _Group(msgspec.Struct, frozen=True):
    """The loops of a function that do the same work."""

    roles: dict[int, Role]
    """By the numbers of the loops."""


class _Kind(msgspec.Struct, frozen=True):
    """The properties of a kernel's `Work` that are compared."""

    stores: bool
    computes: frozenset[tuple[str, int]]
    steps: tuple[int, ...]
    whole: bool

    @property
    def likeness(self) -> Hashable:
        """A value that kernels which do the same work have in common, if their analysed paths are comparable."""
        unit = gcd(*self.steps)
        return self.stores, self.computes, tuple([step // unit for step in self.steps])


def _same_work(one: _Kind, other: _Kind, same_lines: bool) -> bool:
    # Loops with several paths may do the same work although their analysed paths differ.
    comparable = one.whole and other.whole
    if (comparable or not same_lines) and (one.stores != other.stores or one.computes != other.computes):
        return False
    larger, smaller = (one, other) if one.steps > other.steps else (other, one)
    times = elements.ratio(larger.steps, smaller.steps)
    return times is not None and times.denominator == 1


def _may_be_one(places: Sequence[frozenset[SourceLocation]], number: int, group: Iterable[int]) -> bool:
    """Return True if a kernel may come from the same source as a group of kernels, judged by lines."""
    if not places or not places[number]:
        return True
    return all(not places[other] or places[number] & places[other] for other in group)


def _relation(number: int, main: Sequence[int], region_of: dict[int, Region | None]) -> Role:
    region = region_of[number]
    if region is None:
        return Role(name="main")

    def leads(here: int, there: int) -> bool:
        one, other = region_of[here], region_of[there]
        return one is not None and other is not None and other.first_line in one.neighbours.later

    before = [m for m in main if leads(m, number)]
    last = [m for m in before if not any(leads(m, other) for other in before if other != m)] or before
    if last:
        of = last[-1]
        leading = region_of[of]
        always = leading is not None and leading.first_line in region.neighbours.always_before
        return Role(name="remainder", of=of, instead=not always)
    after = [m for m in main if leads(number, m)]
    if after:
        return Role(name="prologue", of=after[0])
    lines = {m: main_region.first_line if (main_region := region_of[m]) else 0 for m in main}
    return Role(name="fallback", of=min(main, key=lambda m: abs(lines[m] - region.first_line)))


def _outer(
    number: int,
    group: frozenset[int],
    region_of: dict[int, Region | None],
    inside: Mapping[SourceLocation, Sequence[int]],
) -> Role | None:
    """Return the role of a loop that is an outer one in the source, if it is one.

    The line of its backward branch belongs to a loop around another loop, which here has nothing to do.
    """
    region = region_of[number]
    if region is None or region.source is None:
        return None
    for other in inside.get(region.source, ()):
        inner = region_of[other]
        if inner is not None and other not in group and inner.source not in (None, region.source):
            return Role(name="outer", of=other)
    return None
