"""Waiting times: for each instruction the cycles that it waited, and the cycles that others waited for it.

A µop waits for its inputs from the cycle in which the scheduler could have sent it to its port until the last of them
is ready, not counting inputs from its own instruction. Then it waits for its port until it starts. An instruction waits
in each cycle in which one of its µops does. Each such cycle is attributed to every instruction whose result is still
missing, and to the instruction whose µop occupies the port or the divider.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import msgspec

from incc.core import Simulation, StartedUop

Interval = tuple[int, int]


class Waits(msgspec.Struct, frozen=True, kw_only=True):
    """Average waiting cycles per iteration in the second half of a recorded simulation."""

    had: tuple[float, ...]
    """Cycles that each instruction waited."""
    for_inputs: tuple[float, ...]
    """The part of `had` during which an input was missing; the rest was spent waiting for a port."""
    caused: tuple[float, ...]
    """Cycles that others waited for each instruction."""
    inputs: dict[tuple[int, int], float]
    """Cycles that instruction a waited for a result of b, by (a, b)."""
    ports: dict[tuple[int, int], float]
    """Cycles that instruction a waited for port or resource p, by (a, p)."""
    blocked: dict[tuple[int, int], float]
    """Cycles that others waited for port or resource p while a µop of a occupied it, by (a, p)."""


def waits(run: Simulation, instructions: int) -> Waits:
    """Return the waits in a recorded simulation of a kernel with that many instructions.

    Raises ValueError without a record.
    """
    if not run.events:
        raise ValueError("the simulation was not recorded")
    first = run.iterations // 2
    counted = [u for u in run.started if first <= u.iteration < run.iterations]
    taken = _Taken(run.started)
    had, for_inputs, caused = ([0] * instructions for _ in range(3))
    inputs: Counter[tuple[int, int]] = Counter()
    ports: Counter[tuple[int, int]] = Counter()
    blocked: Counter[tuple[int, int]] = Counter()
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
                # A ready µop waits for its divider or similar unit if that is occupied.
                waits_for_unit = uop.unit >= 0 and ready in taken.of(uop.unit)
                at_port.setdefault(uop.unit if waits_for_unit else uop.port, []).append((ready, uop.started))
        waiting_for_inputs = [i for intervals in missing.values() for i in intervals]
        had[waiter] += _covered(waiting_for_inputs + [i for intervals in at_port.values() for i in intervals])
        for_inputs[waiter] += _covered(waiting_for_inputs)
        guilty: dict[int, list[Interval]] = {}
        for producer, intervals in missing.items():
            inputs[waiter, producer] += _covered(intervals)
            guilty.setdefault(producer, []).extend(intervals)
        for port, intervals in at_port.items():
            ports[waiter, port] += _covered(intervals)
            for blocker, cycles in _blockers(taken.of(port), intervals):
                blocked[blocker, port] += len(cycles)
                guilty.setdefault(blocker, []).extend((c, c + 1) for c in cycles)
        for instruction, intervals in guilty.items():
            caused[instruction] += _covered(intervals)
    count = run.iterations - first

    def per_iteration(table: dict[tuple[int, int], int]) -> dict[tuple[int, int], float]:
        return {key: n / count for key, n in sorted(table.items()) if n}

    return Waits(
        had=tuple(n / count for n in had),
        for_inputs=tuple(n / count for n in for_inputs),
        caused=tuple(n / count for n in caused),
        inputs=per_iteration(inputs),
        ports=per_iteration(ports),
        blocked=per_iteration(blocked),
    )


class _Taken:
    """The instruction that occupies a port or resource, by cycle. Tables are built on demand since few are needed."""

    def __init__(self, uops: Iterable[StartedUop]) -> None:
        self._uops: dict[int, list[tuple[int, int, int]]] = {}
        for uop in uops:
            self._uops.setdefault(uop.port, []).append((uop.started, uop.port_cycles, uop.instruction))
            if uop.unit >= 0:
                self._uops.setdefault(uop.unit, []).append((uop.started, uop.unit_cycles, uop.instruction))
        self._tables: dict[int, dict[int, int]] = {}

    def of(self, where: int) -> dict[int, int]:
        """Return the instruction by cycle, for one port or resource."""
        cells = self._tables.get(where)
        if cells is None:
            cells = self._tables[where] = {}
            for started, cycles, instruction in self._uops.get(where, ()):
                if cycles == 1:
                    cells[started] = instruction
                else:
                    cells.update(dict.fromkeys(range(started, started + cycles), instruction))
        return cells


def _blockers(cells: dict[int, int], intervals: Iterable[Interval]) -> Iterable[tuple[int, set[int]]]:
    """Return the instructions that occupied a port during the intervals, each with the cycles.

    The waiting instruction itself may be among them, from another iteration or with another µop.
    """
    blockers: dict[int, set[int]] = {}
    for begin, end in intervals:
        for cycle in range(begin, end):
            blocker = cells.get(cycle)
            if blocker is not None:
                blockers.setdefault(blocker, set()).add(cycle)
    return blockers.items()


def _covered(intervals: Sequence[Interval]) -> int:
    """Return the number of cycles in at least one of the intervals."""
    if len(intervals) == 1:
        return intervals[0][1] - intervals[0][0]
    total, reached = 0, -1
    for begin, end in sorted(intervals):
        if end > reached:
            total += end - max(begin, reached)
            reached = end
    return total
