"""Sets of ports that explain figures: systems of sets from the sizes of their intersections, and µops from counts.

Ports are bits here, and nothing is measured. Times only tell which µops can use a port. Two systems of sets are
therefore the same if, for each choice of their sets, the same number of ports lies in exactly those; only one
representative of systems that differ by the names of ports is enumerated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from incc.models.throughput import port_bound

Usage = tuple[tuple[int, int], ...]
"""µops as (bit mask of the ports that they can use, how many), sorted by the mask."""


def usage_of(uops: Iterable[tuple[int, int]]) -> Usage:
    """Return a usage in the order in which usages are compared."""
    counts: dict[int, int] = {}
    for mask, n in uops:
        counts[mask] = counts.get(mask, 0) + n
    return tuple(sorted((mask, n) for mask, n in counts.items() if n))


def total(usage: Usage) -> int:
    """Return the number of µops."""
    return sum(n for _, n in usage)


def cycles(uops: Iterable[tuple[int, int]], ports: int) -> float:
    """Return the least cycles in which the µops can be done."""
    numerator, denominator = port_bound(uops, ports)
    return numerator / denominator


def confined(usage: Usage, mask: int) -> int:
    """Return the number of µops that can only use some ports."""
    return sum(n for ports, n in usage if not ports & ~mask)


# --- systems of sets -------------------------------------------------------------------------------------------------


class TooMany(Exception):
    """There are more systems or usages than the limit of steps allows to enumerate."""


def systems(
    sizes: Sequence[int],
    shared: Mapping[tuple[int, int], tuple[int, int]],
    ports: int,
    agrees: Callable[[Sequence[int], frozenset[int]], bool],
    steps: int,
) -> Iterator[tuple[int, ...]]:
    """Yield all systems of sets of these sizes, up to renaming of the ports, as bit masks.

    `shared` has the fewest and the most ports that sets i < j have in common. `agrees` is called with the masks and the
    indices of the sets that are decided, the newest last. Raises TooMany after `steps` steps.
    """
    order = _order(sizes, shared)
    masks = [0] * len(sizes)
    left = steps

    def place(step: int, cells: list[int]) -> Iterator[tuple[int, ...]]:
        nonlocal left
        if step == len(order):
            yield tuple(masks)
            return
        i = order[step]
        limits = [(masks[j], *shared[min(i, j), max(i, j)]) for j in order[:step]]
        for mask in _choices(cells, sizes[i], limits):
            left -= 1
            if left < 0:
                raise TooMany
            masks[i] = mask
            if agrees(masks, frozenset(order[: step + 1])):
                yield from place(step + 1, [part for c in cells for part in (c & mask, c & ~mask) if part])
        masks[i] = 0

    yield from place(0, [(1 << ports) - 1])


def _order(sizes: Sequence[int], shared: Mapping[tuple[int, int], tuple[int, int]]) -> list[int]:
    """Return an order in which each set is constrained by those before it: the most constrained one comes next."""
    order: list[int] = []
    rest = list(range(len(sizes)))
    while rest:

        def constraints(i: int) -> tuple[int, int, int, int]:
            limits = [shared[min(i, j), max(i, j)] for j in order]
            loose = sum(most - least for least, most in limits)
            return loose, -sum(least > 0 for least, _ in limits), sizes[i], i

        order.append(min(rest, key=constraints))
        rest.remove(order[-1])
    return order


def _choices(cells: Sequence[int], size: int, limits: Sequence[tuple[int, int, int]]) -> Iterator[int]:
    """Yield the ways to take a number of ports out of cells of interchangeable ports.

    `limits` are (mask, fewest, most) of the ports that are taken from masks, of which each cell is in or out.
    """

    def take(n: int, mask: int, missing: int) -> Iterator[int]:
        if any((mask & m).bit_count() > most for m, _, most in limits):
            return
        if missing == 0:
            if all((mask & m).bit_count() >= least for m, least, _ in limits):
                yield mask
            return
        if n == len(cells):
            return
        for count in range(min(missing, cells[n].bit_count()), -1, -1):
            yield from take(n + 1, mask | lowest(cells[n], count), missing - count)

    yield from take(0, 0, size)


def lowest(mask: int, count: int) -> int:
    """Return the mask of this many of its lowest bits."""
    result = 0
    for _ in range(count):
        bit = mask & -mask
        result |= bit
        mask ^= bit
    return result


def cells(masks: Iterable[int], ports: int) -> list[int]:
    """Return the ports that no set tells apart, as masks: each is in the same sets as the others of its cell."""
    groups = [(1 << ports) - 1]
    for mask in masks:
        groups = [part for c in groups for part in (c & mask, c & ~mask) if part]
    return groups


def kind(masks: Sequence[int], ports: int) -> tuple[int, ...]:
    """Return a key that is equal for two systems that differ only by the names of the ports."""
    return tuple(sorted(sum((mask >> p & 1) << i for i, mask in enumerate(masks)) for p in range(ports)))


def aligned(masks: Sequence[int], other: Sequence[int | None], ports: int, names: int) -> list[int]:
    """Return for each port the one of another core, with `names` ports, that is in the most corresponding sets.

    `other` has that core's set for each mask, None where there is none. Further ports get numbers from `names` on. The
    naming is exactly one with the fewest differences, which add up port by port.
    """
    import numpy
    from scipy.optimize import linear_sum_assignment

    pairs = [(a, b) for a, b in zip(masks, other, strict=True) if b is not None]
    cost = numpy.zeros((ports, max(ports, names)))
    for p in range(ports):
        here = any(mask >> p & 1 for mask in masks)
        for q in range(max(ports, names)):
            differences = sum((a >> p & 1) != (b >> q & 1) for a, b in pairs)
            # Of equally good ways, take the one in which no port that is seen has the name of one that is in none of
            # its sets, and ports that are not seen are not the new ones; and which leaves ports their places.
            shares = any(a >> p & 1 and b >> q & 1 for a, b in pairs)
            strange = not shares and q < names if here else q >= names
            cost[p, q] = differences + 1e-3 * strange + 1e-6 * abs(p - q)
    rows, columns = linear_sum_assignment(cost)
    names_of_ports = [0] * ports
    for p, q in zip(rows, columns, strict=True):
        names_of_ports[int(p)] = int(q)
    # Ports that are new are numbered without gaps.
    new = sorted(q for q in names_of_ports if q >= names)
    return [names + new.index(q) if q >= names else q for q in names_of_ports]


def renamed(mask: int, names: Sequence[int]) -> int:
    """Return a mask with each port's new number."""
    return sum(1 << names[p] for p in range(len(names)) if mask >> p & 1)


# --- µops from counts ------------------------------------------------------------------------------------------------


def usages(
    pool: Sequence[int],
    limits: Sequence[tuple[int, int, int]],
    most: int,
    agrees: Callable[[Usage], bool],
    can_be_part: Callable[[Usage], bool],
    steps: int,
) -> list[Usage]:
    """Yield the smallest usages with sets from a pool that explain counts, all of the same number of µops.

    `limits` are (mask, fewest, most) µops that are confined to masks; `most` is the largest number of µops. `agrees`
    decides; `can_be_part` returns True if no figure so far contradicts, however many µops are added. Raises
    TooMany after too many steps.
    """
    within = [[n for n, (mask, _, _) in enumerate(limits) if not ports & ~mask] for ports in pool]
    # A count that is not reached yet is filled before anything else, that of the fewest ports first.
    by_size = sorted(range(len(limits)), key=lambda n: (limits[n][0].bit_count(), n))
    inside = [[k for k in range(len(pool)) if n in within[k]] for n in range(len(limits))]
    left = steps

    def add(first: int, missing: int, chosen: tuple[int, ...], seen: set[tuple[int, ...]]) -> Iterator[Usage]:
        nonlocal left
        left -= 1
        if left < 0:
            raise TooMany
        lacking = next((n for n in by_size if lack[n] > 0), None)
        if missing == 0:
            usage = usage_of((pool[k], 1) for k in chosen)
            if lacking is None and agrees(usage):
                yield usage
            return
        if max(lack, default=0) > missing:
            return
        for k in range(first, len(pool)) if lacking is None else inside[lacking]:
            more = tuple(sorted((*chosen, k)))
            if any(room[n] == 0 for n in within[k]) or (lacking is not None and more in seen):
                continue
            seen.add(more)
            for n in within[k]:
                room[n] -= 1
                lack[n] -= 1
            if can_be_part(usage_of((pool[j], 1) for j in more)):
                yield from add(k if lacking is None else 0, missing - 1, more, seen)
            for n in within[k]:
                room[n] += 1
                lack[n] += 1

    for count in range(most + 1):
        room, lack = [m for _, _, m in limits], [least for _, least, _ in limits]
        smallest = list(dict.fromkeys(add(0, count, (), set())))
        if smallest:
            return smallest
    return []
