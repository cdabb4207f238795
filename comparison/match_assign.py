"""The best one-to-one assignment among weighted pairs, computed exactly, component by component."""

from __future__ import annotations

from collections.abc import Mapping

Pair = tuple[int, int]


def assign(weights: Mapping[Pair, int]) -> list[Pair]:
    """Return the pairs (row, column) with the largest sum of weights, at most one per row and per column.

    Pairs with a weight of 0 or less are ignored. The result is in ascending order. Ties are broken by the numbers of
    rows and columns alone.
    """
    rows: dict[int, dict[int, int]] = {}
    columns: dict[int, dict[int, int]] = {}
    for (row, column), weight in sorted(weights.items()):
        if weight > 0:
            rows.setdefault(row, {})[column] = weight
            columns.setdefault(column, {})[row] = weight
    chosen: list[Pair] = []
    _take_certain(rows, columns, chosen)
    for component in _components(rows, columns):
        chosen += _solve(component, rows)
    return sorted(chosen)


def _take_certain(
    rows: dict[int, dict[int, int]], columns: dict[int, dict[int, int]], chosen: list[tuple[int, int]]
) -> None:
    """Take the pairs that outweigh the best other pair of their row plus the best other pair of their column.

    Taking such a pair instead of those two never makes the sum smaller. Most pairs are of this kind and need no solver.
    """
    waiting = list(rows)
    while waiting:
        again: set[int] = set()
        for row in waiting:
            ways = rows.get(row)
            if not ways:
                continue
            best = max(ways, key=lambda column: (ways[column], -column))
            others = max((weight for column, weight in ways.items() if column != best), default=0)
            rivals = max((weight for other, weight in columns[best].items() if other != row), default=0)
            if ways[best] > others + rivals or not (others or rivals):
                chosen.append((row, best))
                again.update(other for other in columns[best] if other != row)
                for column in ways:
                    again.update(other for other in columns[column] if other != row)
                    del columns[column][row]
                del rows[row]
                for other in columns.pop(best):
                    del rows[other][best]
        waiting = sorted(again)


def _components(rows: dict[int, dict[int, int]], columns: dict[int, dict[int, int]]) -> list[list[int]]:
    """Return the groups of rows that are connected by columns."""
    components: list[list[int]] = []
    seen: set[int] = set()
    for start in rows:
        if start in seen or not rows[start]:
            continue
        seen.add(start)
        component = [start]
        for row in component:
            for column in rows[row]:
                for other in columns[column]:
                    if other not in seen:
                        seen.add(other)
                        component.append(other)
        components.append(sorted(component))
    return components


def _solve(component: list[int], rows: dict[int, dict[int, int]]) -> list[tuple[int, int]]:
    if len(component) == 1:
        ways = rows[component[0]]
        return [(component[0], max(ways, key=lambda column: (ways[column], -column)))]
    import numpy as np
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching

    columns = sorted({column for row in component for column in rows[row]})
    place = {column: number for number, column in enumerate(columns)}
    # Each row has a column of its own in which it stays unmatched, at the price of a pair without worth.
    nothing = 1 + max(weight for row in component for weight in rows[row].values())
    data: list[int] = []
    at_row: list[int] = []
    at_column: list[int] = []
    for number, row in enumerate(component):
        for column, weight in rows[row].items():
            data.append(nothing - weight)
            at_row.append(number)
            at_column.append(place[column])
        data.append(nothing)
        at_row.append(number)
        at_column.append(len(columns) + number)
    costs = csr_matrix(
        (np.array(data, dtype=np.float64), (np.array(at_row), np.array(at_column))),
        shape=(len(component), len(columns) + len(component)),
    )
    found_rows, found_columns = min_weight_full_bipartite_matching(costs)
    return [
        (component[int(row)], columns[int(column)])
        for row, column in zip(found_rows, found_columns, strict=True)
        if column < len(columns)
    ]
