"""Who waits for whom: for each instruction the cycles that it waited, and that others waited for it.

A µop waits for its inputs from the cycle in which the scheduler could have sent it to its port until the last of them
is there, not counting those from its own instruction; and for its port from when all of them are there until it starts.
An instruction waits in each cycle in which one of its µops does. To blame are, in each of these cycles, every
instruction whose result is still missing, and the one whose µop takes the port or the divider.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from incc.core import Simulation, StartedUop

Interval = tuple[int, int]


class Waits(msgspec.Struct, frozen=True, kw_only=True):
    """Average cycles an iteration, in the second half of a recorded simulation.

    By instruction: `had` that it waited, of these `for_inputs` while an input was missing, the rest for a port;
    `caused` that others waited for it. `inputs[a, b]`: instruction a waited for a result of b. `ports[a, p]`: a waited
    for port or resource p; `blocked[a, p]`: others waited for p while a µop of a took it.
    """

    had: tuple[float, ...]
    for_inputs: tuple[float, ...]
    caused: tuple[float, ...]
    inputs: dict[tuple[int, int], float]
    ports: dict[tuple[int, int], float]
    blocked: dict[tuple[int, int], float]


def waits(run: Simulation, instructions: int) -> Waits:
    """The waits in the recorded simulation of a kernel of so many instructions. Raises ValueError without a record."""
    if not run.events:
        raise ValueError("the simulation was not recorded")
    first = run.iterations // 2
    counted = [u for u in run.started if first <= u.iteration < run.iterations]
    taken = _Taken(run.started)
    had, for_inputs, caused = ([0] * instructions for _ in range(3))
    inputs: dict[tuple[int, int], int] = {}
    ports: dict[tuple[int, int], int] = {}
    blocked: dict[tuple[int, int], int] = {}
    together: dict[tuple[int, int], list[StartedUop]] = {}
    for uop in counted:
        if uop.started > uop.earliest:
            together.setdefault((uop.iteration, uop.instruction), []).append(uop)
    for (_, waiter), uops in together.items():
        missing: dict[int, list[Interval]] = {}
        at_port: dict[int, list[Interval]] = {}
        for uop in uops:
            for producer, arrived in uop.late_inputs:
                missing.setdefault(producer, []).append((uop.earliest, min(arrived, uop.started)))
            ready = max(uop.ready, uop.earliest)
            if ready < uop.started:
                at_port.setdefault(uop.unit if _unit_taken(uop, taken, ready) else uop.port, []).append(
                    (ready, uop.started)
                )
        waiting_for_inputs = [i for intervals in missing.values() for i in intervals]
        had[waiter] += _covered(waiting_for_inputs + [i for intervals in at_port.values() for i in intervals])
        for_inputs[waiter] += _covered(waiting_for_inputs)
        guilty: dict[int, list[Interval]] = {}
        for producer, intervals in missing.items():
            _add(inputs, (waiter, producer), _covered(intervals))
            guilty.setdefault(producer, []).extend(intervals)
        for port, intervals in at_port.items():
            _add(ports, (waiter, port), _covered(intervals))
            for blocker, cycles in _blockers(taken.of(port), intervals):
                _add(blocked, (blocker, port), len(cycles))
                guilty.setdefault(blocker, []).extend((c, c + 1) for c in cycles)
        for instruction, intervals in guilty.items():
            caused[instruction] += _covered(intervals)
    count = run.iterations - first

    def per_iteration(table: dict[tuple[int, int], int]) -> dict[tuple[int, int], float]:
        return {key: n / count for key, n in sorted(table.items())}

    return Waits(
        had=tuple(n / count for n in had),
        for_inputs=tuple(n / count for n in for_inputs),
        caused=tuple(n / count for n in caused),
        inputs=per_iteration(inputs),
        ports=per_iteration(ports),
        blocked=per_iteration(blocked),
    )


class _Taken:
    """By port or resource and cycle, the instruction whose µop takes it. Few of them are asked about."""

    __slots__ = ("_found", "_uops")

    def __init__(self, uops: Iterable[StartedUop]) -> None:
        self._uops: dict[int, list[tuple[int, int, int]]] = {}
        for uop in uops:
            self._uops.setdefault(uop.port, []).append((uop.started, uop.port_cycles, uop.instruction))
            if uop.unit >= 0:
                self._uops.setdefault(uop.unit, []).append((uop.started, uop.unit_cycles, uop.instruction))
        self._found: dict[int, dict[int, int]] = {}

    def of(self, where: int) -> dict[int, int]:
        """The instruction by cycle, for one port or resource."""
        cells = self._found.get(where)
        if cells is None:
            cells = self._found[where] = {}
            for started, cycles, instruction in self._uops.get(where, ()):
                if cycles == 1:
                    cells[started] = instruction
                else:
                    cells.update(dict.fromkeys(range(started, started + cycles), instruction))
        return cells


def _unit_taken(uop: StartedUop, taken: _Taken, cycle: int) -> bool:
    """Whether a µop that needs a resource beside its port waits for that: it does if it is taken when it is ready."""
    return uop.unit >= 0 and cycle in taken.of(uop.unit)


def _blockers(cells: dict[int, int], intervals: Iterable[Interval]) -> Iterable[tuple[int, set[int]]]:
    """The instructions that took a port in the cycles of intervals, and in which; an instruction of another iteration,
    or another µop of the same one, may be the waiting one itself."""
    found: dict[int, set[int]] = {}
    for begin, end in intervals:
        for cycle in range(begin, end):
            blocker = cells.get(cycle)
            if blocker is not None:
                found.setdefault(blocker, set()).add(cycle)
    return found.items()


def _covered(intervals: Sequence[Interval]) -> int:
    """The cycles in at least one of the intervals."""
    if len(intervals) == 1:
        return intervals[0][1] - intervals[0][0]
    total, reached = 0, -1
    for begin, end in sorted(intervals):
        if end > reached:
            total += end - max(begin, reached)
            reached = end
    return total


def _add(table: dict[tuple[int, int], int], key: tuple[int, int], cycles: int) -> None:
    if cycles:
        table[key] = table.get(key, 0) + cycles
