"""Cycles per iteration when the data of a loop come from L2, L3 or memory.

The lines that a loop exchanges with each level (`traffic`) take the cycles that the core's model states per line
(`models.memory`). They are composed with the core's own time from the inside out:

- The transfers of a level take `read` cycles for each line fetched, `allocate` for each line fetched by a store, and
  `write` for each line written back. If the level is `both_ways`, lines come while others go, and the longer of the two
  counts. A single stream takes at least `one_stream` cycles per line.
- `overlap` says how these transfers combine with the time inside, that is, with the cycles in which the core loads from
  L1, and with the transfers of levels further in. With "none" they add up, as in the ECM model (Treibig and Hager,
  "Introducing a performance model for bandwidth-limited loop kernels", 2010). With "evictions" only the lines written
  back overlap with the time inside. With "all" the longest of the times counts. The costs of such a level are those of
  the whole way to the core, so lines that come from a level further in cost what they cost from there, and lines from
  different levels take turns.
- Non-temporal stores take their time in addition to that of the lines that come from memory meanwhile.
- The prediction is never less than that for data in L1.

With several cores, each takes at least its share of the cycles that a line costs a level that all of them use
(`all_cores`).
"""

from __future__ import annotations

from collections.abc import Collection
from fractions import Fraction

import msgspec
from msgspec.structs import replace

from incc import core
from incc.core import Bounds
from incc.core.memory.traffic import MovedLines, Traffic, sets_of, traffic
from incc.frontends.isa import isa
from incc.frontends.kernel import Instruction, KernelCode
from incc.models.binding.bound import UOP_LOAD, BoundKernel
from incc.models.memory import MemoryHierarchy, MemoryLevel, exact
from incc.models.throughput import port_bound

_ZERO = Fraction(0)


class LevelTime(msgspec.Struct, frozen=True, kw_only=True):
    """The time of an iteration whose data come from a level."""

    level: str
    cycles: Fraction
    """The prediction in cycles per iteration."""
    least_cycles: Fraction
    """The prediction if all lines are found in L1 of which that is uncertain: those of neighbouring rows at an unknown
    distance, and those that share their sets with too many others."""
    transfer: Fraction
    """Cycles per iteration of the transfers between this level and the one inside; 0 for L1."""
    lines: MovedLines
    """The lines that they move."""
    cores: int | None = None
    """The number of cores from which on the level is saturated; None if it never is, or unknown."""


class DataTimes(msgspec.Struct, frozen=True, kw_only=True):
    """The predictions for data in each level of a core's memory hierarchy."""

    traffic: Traffic
    overlapping: Fraction
    """Cycles per iteration of everything but loads from L1 (T_OL of the ECM model)."""
    loading: Fraction
    """Cycles per iteration in which the core loads from L1 (T_nOL)."""
    levels: tuple[LevelTime, ...]
    """From L1 outwards; only L1 if the traffic is not known completely."""


def data_times(
    kernel: KernelCode,
    bound: BoundKernel,
    memory: MemoryHierarchy | None,
    cycles: Fraction,
    bounds: Bounds,
    cores: int = 1,
) -> DataTimes | None:
    """Return the predictions for a kernel's data in each level; None without a memory hierarchy.

    Args:
        kernel: The kernel.
        bound: The kernel on its core.
        memory: The core's memory hierarchy.
        cycles: The prediction for data in L1, in cycles per iteration.
        bounds: The kernel's bounds.
        cores: The number of cores that run the kernel, each on its own data.
    """
    if memory is None:
        return None
    streams = core.streams(bound)
    is_non_temporal = isa(kernel.isa).is_non_temporal
    direct = [n for n, instruction in enumerate(kernel.instructions) if is_non_temporal(instruction.mnemonic)]
    unclear = _unclear(kernel, {stream.instruction for stream in streams})
    if memory.levels[-1].non_temporal is None:
        unclear += direct
    lines = traffic(streams, memory.line, direct, unclear)
    overlapping = max(
        _busiest(bound, loads=False), bounds.divider, bounds.front_end, bounds.retire, bounds.loop_carried
    )
    return times(memory, lines, cycles, overlapping, _busiest(bound, loads=True), cores)


def _unclear(kernel: KernelCode, regular: Collection[int]) -> list[int]:
    """Return the instructions of which it is unknown which lines they move.

    Args:
        kernel: The kernel.
        regular: Instructions whose addresses change by a known number of bytes per iteration, or not at all.
    """
    of = isa(kernel.isa)
    loaded = {_address(kernel.instructions[number]) for number in regular}
    result = []
    for number, instruction in enumerate(kernel.instructions):
        match of.moves_lines(instruction.mnemonic):
            case "early":
                # Lines that a load with the same registers gets anyway.
                unclear = _address(instruction) not in loaded
            case "other":
                unclear = True
            case _:
                unclear = number not in regular and any(access.load or access.store for access in instruction.memory)
        if unclear or instruction.branch == "call":
            result.append(number)
    return result


def _address(instruction: Instruction) -> frozenset[str]:
    """Return the registers of an instruction's address."""
    return frozenset(access.register.root for access in instruction.registers if access.address)


def _busiest(bound: BoundKernel, loads: bool) -> Fraction:
    """Return the cycles per iteration for which the loads, or all other µops, keep their ports busy at least."""
    uops = [
        (ports, cycles)
        for kind, ports, cycles in zip(bound.uop_kind, bound.uop_ports, bound.uop_cycles, strict=True)
        if (kind == UOP_LOAD) == loads and ports
    ]
    return Fraction(*port_bound(uops, bound.n_ports))


def times(
    memory: MemoryHierarchy,
    traffic: Traffic,
    cycles: Fraction,
    overlapping: Fraction,
    loading: Fraction,
    cores: int = 1,
) -> DataTimes:
    """Return the predictions for data in each level.

    Args:
        memory: The core's memory hierarchy.
        traffic: The lines that the loop moves.
        cycles: The prediction for data in L1, in cycles per iteration.
        overlapping: Cycles per iteration of everything but loads from L1.
        loading: Cycles per iteration in which the core loads from L1.
        cores: The number of cores that run the loop, each on its own data.
    """
    result = [
        LevelTime(level=memory.levels[0].name, cycles=cycles, least_cycles=cycles, transfer=_ZERO, lines=_NO_LINES)
    ]
    direct = traffic.missing(0).direct * (exact(memory.levels[-1].non_temporal) or _ZERO)
    if traffic.unknown or (traffic.missing(0).direct and not direct):
        return DataTimes(traffic=traffic, overlapping=overlapping, loading=loading, levels=tuple(result))
    highest = _through_levels(memory, traffic, max(cycles, direct), loading, direct, False, cores)
    lowest = highest
    l1 = memory.levels[0]
    sets = sets_of(l1.size or 0, l1.ways, memory.line)
    if (
        traffic.mixes_strides
        or any(front.neighbour for front in traffic.fronts)
        or (sets is not None and traffic.crowds(sets))
    ):
        lowest = _through_levels(memory, traffic, max(cycles, direct), loading, direct, True, cores)
    result = [replace(most, least_cycles=least.cycles) for least, most in zip(lowest, highest, strict=True)]
    return DataTimes(traffic=traffic, overlapping=overlapping, loading=loading, levels=tuple(result))


def _through_levels(
    memory: MemoryHierarchy,
    traffic: Traffic,
    cycles: Fraction,
    loading: Fraction,
    direct: Fraction,
    neighbours: bool,
    cores: int,
) -> list[LevelTime]:
    """Return the times for data in each level.

    Args:
        memory: The core's memory hierarchy.
        traffic: The lines that the loop moves.
        cycles: The prediction for data in L1, in cycles per iteration.
        loading: Cycles per iteration in which the core loads from L1.
        direct: Cycles per iteration of non-temporal stores.
        neighbours: True if neighbouring rows are found in L1.
        cores: The number of cores that run the loop.
    """
    first = memory.levels[0]
    result = [LevelTime(level=first.name, cycles=cycles, least_cycles=cycles, transfer=_ZERO, lines=_NO_LINES)]
    inside = loading
    nearer, before, closer = _ZERO, _NO_LINES, first
    for inner, level in zip(memory.with_costs, memory.with_costs[1:], strict=False):
        assert inner.size is not None
        # The outer caches choose sets by physical addresses, which are unknown here.
        lines = traffic.missing(inner.size, neighbours, inner.ways if inner is first else None)
        nearer += _together(closer, *_transfer(closer, _fewer(before, lines)))
        before, closer = lines, level
        coming, going = _transfer(level, lines)
        stored = direct if level is memory.levels[-1] else _ZERO
        slowest = _slowest_stream(level, traffic, inner.size)
        transfer = max(_together(level, coming, going) + stored, slowest)
        if level.overlap == "all":
            transfer += nearer
        match level.overlap:
            case "none":
                inside += transfer
            case "evictions":
                inside = max(coming + stored, slowest) + max(inside, going)
            case "all":
                inside = max(inside, transfer)
        alone = max(result[-1].cycles, inside)
        shared = exact(level.all_cores)
        together = shared * lines.total if shared else _ZERO
        result.append(
            LevelTime(
                level=level.name,
                cycles=max(alone, together * cores),
                least_cycles=alone,
                transfer=transfer,
                lines=lines,
                cores=-(-alone // together) if together else None,
            )
        )
    return result


_NO_LINES = MovedLines(_ZERO, _ZERO, _ZERO, _ZERO)


def _transfer(level: MemoryLevel, lines: MovedLines) -> tuple[Fraction, Fraction]:
    """Return the cycles per iteration in which lines come from a level, and in which they go there."""
    read, write = exact(level.read) or _ZERO, exact(level.write) or _ZERO
    coming = lines.read * read + lines.allocate * (exact(level.allocate) or read)
    return coming, lines.written * write


def _together(level: MemoryLevel, coming: Fraction, going: Fraction) -> Fraction:
    """Return the cycles per iteration in which lines come and go."""
    return max(coming, going) if level.both_ways else coming + going


def _fewer(lines: MovedLines, further: MovedLines) -> MovedLines:
    """Return the lines of a level without those that the level further out exchanges with it."""
    return MovedLines(
        lines.read - further.read,
        lines.allocate - further.allocate,
        lines.written - further.written,
        lines.direct - further.direct,
    )


def _slowest_stream(level: MemoryLevel, traffic: Traffic, inside: int) -> Fraction:
    """Return the most cycles per iteration that a single stream takes which a cache of `inside` bytes misses."""
    return max(
        (
            front.lines * (exact(level.one_store_stream if front.stores_first else level.one_stream) or _ZERO)
            for front in traffic.fronts
            if not front.non_temporal and (front.reuse is None or front.reuse > inside)
        ),
        default=_ZERO,
    )
