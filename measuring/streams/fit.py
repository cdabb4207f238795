"""The costs of a memory hierarchy, from measured streams.

The levels are fitted one after the other, from L2 outwards. For every rule by which the transfers of a level may
combine with the time inside (`core.levels`), a search finds the costs per line with which the predictions for FITTED
come closest to the measurements, by the mean relative error. A cost beyond `read` and `write` is added only if it makes
the error smaller by WORTH. Each cost adds WORTH to the error of its rule; of the rules within ALIKE of the best one,
the simplest is chosen. Predictions are those of `core.levels`, from the loops' own code, but begin with the measured
time for data in L1, so that errors of the core's model are not fitted here.

Vectors of all widths are used, since narrow ones, which take the core longer, show which times overlap. The loop in
HELD_OUT sets no cost. Costs of several cores and of non-temporal stores are measured directly.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import product

import msgspec
from msgspec.structs import replace

from incc.core.analysis import KernelSettings, analyze_kernel
from incc.core.memory.levels import DataTimes, data_times, times
from incc.measuring.streams.loops import LINE, UNROLL, StreamLoop
from incc.measuring.streams.study import StudyPoint
from incc.models.memory import MOST_CYCLES, MemoryHierarchy, MemoryLevel
from incc.models.model import MachineModel

FITTED = ("load", "store", "copy", "update", "triad")
"""The loops that set costs."""
HELD_OUT = ("schoenauer",)
"""The loop that sets no cost, and shows how well the costs predict others."""
WORTH = 0.01
"""The least decrease of the mean error that justifies a further cost."""
ALIKE = 0.005
"""The difference up to which errors count as equal."""
_FAR = 0.03
"""The distance from the least error beyond which a rule gets no further costs."""
_GAIN = 1e-4
"""The least decrease of the error for which the search changes a cost."""
_RULES = tuple(product(("all", "evictions", "none"), (True, False)))
"""Values of `overlap` and `both_ways`, the simplest first."""
_MORE = ("allocate", "one_stream", "one_store_stream")
"""Costs beyond `read` and `write`."""
_FACTORS = (1.3, 1.1, 1.03, 1.01)
"""Factors by which the search changes costs, each until no change is better."""
_SATURATED = 1.05
"""The least ratio of a line's time on all cores to that on one core, if the level limits them."""


class LevelFit(msgspec.Struct, frozen=True, kw_only=True):
    """A fitted level."""

    level: MemoryLevel
    error: float
    """The mean relative error of FITTED."""
    held_out: float | None
    """The mean relative error of HELD_OUT; None without measurements."""
    other_rule: str
    """The next best rule."""
    other_error: float
    """The next best rule's error."""


class Fit(msgspec.Struct, frozen=True, kw_only=True):
    """A fitted memory hierarchy."""

    memory: MemoryHierarchy
    levels: tuple[LevelFit, ...]
    """The levels beyond L1 of which there are measurements."""


Figures = Mapping[StudyPoint, float]
"""Cycles per cache line of each array."""


def measured_at(
    figures: Figures, levels: Sequence[MemoryLevel], number: int, cores: int = 1
) -> dict[StreamLoop, float]:
    """Return the median cycles per cache line of each loop with data that are surely in a level.

    These are sizes from twice the size of the cache inside to 60 % of the level's own; in L1, all that fit. All cores
    that share a level share its size.

    Args:
        figures: The measurements.
        levels: The caches and the memory.
        number: The index of the level in `levels`.
        cores: The number of cores that ran the loop.
    """
    size = levels[number].size
    least = 2 * _share(levels[number - 1], cores) if number else 0
    most = float("inf") if size is None else _share(levels[number], cores) * (0.6 if number else 1.0)
    values: dict[StreamLoop, list[float]] = {}
    for point, cycles in figures.items():
        if point.cores == cores and least <= point.bytes <= most:
            values.setdefault(point.loop, []).append(cycles)
    return {loop: statistics.median(cycles) for loop, cycles in values.items()}


def _share(level: MemoryLevel, cores: int) -> float:
    return (level.size or 0) / min(level.cores, cores)


class CoreTimes(msgspec.Struct, frozen=True):
    """The times that a loop takes in the core, to which those of transfers are added."""

    times: DataTimes
    cycles: Fraction
    """Cycles per iteration with data in L1."""

    def predicted(self, memory: MemoryHierarchy, cores: int = 1) -> list[float]:
        """Return the cycles per cache line of each array, by level."""
        core = self.times
        result = times(memory, core.traffic, self.cycles, core.overlapping, core.loading, cores)
        return [float(level.cycles) * LINE / UNROLL for level in result.levels]


def core_times(loop: StreamLoop, model: MachineModel, cycles: float | None = None, line: int = LINE) -> CoreTimes:
    """Return the times that a loop takes in a core.

    Args:
        loop: The loop.
        model: The model of the core.
        cycles: Measured cycles per cache line with data in L1, in place of the model's.
        line: Bytes of a cache line.
    """
    kernel = loop.kernel(model.isa)
    result = analyze_kernel(kernel, model, KernelSettings())
    # The traffic of non-temporal stores is only known where their cost is.
    l1 = MemoryHierarchy(levels=(MemoryLevel(name="L1", size=1, non_temporal=1.0),), line=line, source="")
    within = data_times(kernel, result.bound, l1, result.cycles, result.bounds)
    assert within is not None
    return CoreTimes(within, result.cycles if cycles is None else Fraction(str(round(cycles, 4))) * UNROLL / LINE)


def fit(figures: Figures, levels: Sequence[MemoryLevel], line: int, model: MachineModel) -> Fit:
    """Return the hierarchy that explains measurements best.

    Args:
        figures: The measurements.
        levels: The caches, without costs.
        line: Bytes of a cache line.
        model: The model of the core, or of its nearest relative, for the ports of loads.
    """
    widest = max(point.loop.bits for point in figures)
    within = measured_at(figures, levels, 0)
    loops = sorted({point.loop for point in figures})
    in_core = {loop: core_times(loop, model, within.get(loop), line) for loop in loops}
    memory = MemoryHierarchy(levels=(levels[0],), line=line, source="measured")
    fits: list[LevelFit] = []
    every = [*levels, MemoryLevel(name="memory")]
    for number in range(1, len(every)):
        measured = measured_at(figures, every, number)
        fitted = {loop: c for loop, c in measured.items() if loop.name in FITTED and not loop.non_temporal}
        held_out = {loop: c for loop, c in measured.items() if loop.name in HELD_OUT}
        if not {"load", "store"} <= {loop.name for loop in fitted}:
            break
        best = _fitted(memory, every[number], fitted, in_core)
        level = best.level
        direct = [cycles for loop, cycles in measured.items() if loop == StreamLoop("store", widest, True)]
        if level.size is None and direct:
            level = replace(level, non_temporal=_rounded(direct[0]))
        level = replace(level, all_cores=_all_cores(figures, every, number, level))
        memory = replace(memory, levels=(*memory.levels, level))
        fits.append(replace(best, level=level, held_out=_error(memory, held_out, in_core) if held_out else None))
    return Fit(memory=memory, levels=tuple(fits))


def error_of(memory: MemoryHierarchy, figures: Figures, levels: Sequence[MemoryLevel], model: MachineModel) -> float:
    """Return the mean relative error of a hierarchy's predictions beyond L1, of the loops that are HELD_OUT."""
    within = measured_at(figures, levels, 0)
    errors = []
    every = [*levels, MemoryLevel(name="memory")]
    names = [level.name for level in memory.levels]
    for number in range(1, len(every)):
        if every[number].name not in names:
            continue
        for loop, cycles in measured_at(figures, every, number).items():
            if loop.name in HELD_OUT:
                predicted = core_times(loop, model, within.get(loop), memory.line).predicted(memory)
                errors.append(abs(predicted[names.index(every[number].name)] / cycles - 1))
    return statistics.mean(errors) if errors else 0.0


def _fitted(
    memory: MemoryHierarchy,
    level: MemoryLevel,
    measured: Mapping[StreamLoop, float],
    in_core: Mapping[StreamLoop, CoreTimes],
) -> LevelFit:
    """Return the level with the rule and the costs that explain the measurements best."""
    read, write = (min(cycles for loop, cycles in measured.items() if loop.name == name) for name in ("load", "store"))
    rules = [replace(level, overlap=overlap, both_ways=both_ways) for overlap, both_ways in _RULES]
    # Lines that are written back while others come may take as long as these, and more would be seen.
    starts = [{"read": read, "write": write if rule.both_ways else write / 2} for rule in rules]
    searched = [_searched(memory, rule, start, measured, in_core) for rule, start in zip(rules, starts, strict=True)]
    least = min(error for error, _ in searched)
    outcomes: list[tuple[float, float, MemoryLevel]] = []
    for rule, (error, costs) in zip(rules, searched, strict=True):
        for name in _MORE if error < least + _FAR else ():
            less, more = _searched(memory, rule, {**costs, name: costs["read"] * 1.2}, measured, in_core)
            if less < error - WORTH:
                error, costs = less, more
        outcomes.append((error + WORTH * len(costs), error, replace(rule, **costs)))
    best = min(score for score, _, _ in outcomes)
    chosen = next(outcome for outcome in outcomes if outcome[0] <= best + ALIKE)
    other = min((outcome for outcome in outcomes if outcome is not chosen), key=lambda outcome: outcome[0])
    return LevelFit(
        level=chosen[2],
        error=chosen[1],
        held_out=None,
        other_rule=rule_text(other[2]),
        other_error=other[1],
    )


def rule_text(level: MemoryLevel) -> str:
    """Return the rule by which the transfers of a level combine with the time inside."""
    return f"overlap {level.overlap}, {'both ways at once' if level.both_ways else 'one way at a time'}"


def _searched(
    memory: MemoryHierarchy,
    level: MemoryLevel,
    start: dict[str, float],
    measured: Mapping[StreamLoop, float],
    in_core: Mapping[StreamLoop, CoreTimes],
) -> tuple[float, dict[str, float]]:
    """Return the least mean error, and the costs that have it, by a search from `start` in ever smaller steps."""

    def error(costs: dict[str, float]) -> float:
        candidate = replace(level, **{name: _rounded(cost) for name, cost in costs.items()})
        return _error(replace(memory, levels=(*memory.levels, candidate)), measured, in_core)

    costs, least = start, error(start)
    for factor in _FACTORS:
        better = True
        while better:
            better = False
            for name, step in product(costs, (factor, 1 / factor)):
                changed = {**costs, name: min(costs[name] * step, MOST_CYCLES)}
                if (now := error(changed)) < least - _GAIN:
                    costs, least, better = changed, now, True
    return least, {name: _rounded(cost) for name, cost in costs.items()}


def _rounded(cost: float) -> float:
    """Return a cost with three digits."""
    return max(float(f"{cost:.3g}"), 0.001)


def _error(
    memory: MemoryHierarchy, measured: Mapping[StreamLoop, float], in_core: Mapping[StreamLoop, CoreTimes]
) -> float:
    """Return the mean relative error of the predictions for the last level."""
    return statistics.mean(
        abs(in_core[loop].predicted(memory)[-1] - cycles) / cycles for loop, cycles in measured.items()
    )


def _all_cores(figures: Figures, levels: Sequence[MemoryLevel], number: int, level: MemoryLevel) -> float | None:
    """Return the least cycles per line of all cores together; None if they do not limit each other, or unknown."""
    cores = max((point.cores for point in figures), default=1)
    if cores == 1 or (level.size is not None and level.cores == 1):
        return None
    together = measured_at(figures, levels, number, cores)
    alone = measured_at(figures, levels, number)
    load = next((loop for loop in together if loop.name == "load"), None)
    if load is None or together[load] < _SATURATED * alone[load]:
        return None
    return _rounded(together[load] / min(cores, level.cores if level.size is not None else cores))
