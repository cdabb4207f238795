"""The costs of a memory hierarchy, from measured streams.

Each level is fitted from the inside out. For every rule by which its transfers may combine with the time inside
(`core.levels`), the costs per line are searched with which the predictions for FITTED come closest to the measurements,
by the mean relative error. Costs beyond `read` and `write` are added only if each of them makes the error smaller by
WORTH. Of the rules whose errors, with WORTH for each further cost, are within ALIKE of the least one, the simplest is
taken. Predictions are those of `core.levels`, from the loops' own code, but
begin with the measured time for data in L1, so that errors of the core's model are not fitted here.

Vectors of all widths are used, since narrow ones, which take the core longer, tell what overlaps. The loop that is
HELD_OUT sets no cost. Costs of several cores and of non-temporal stores are read off directly.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import product

import msgspec
from msgspec.structs import replace

from incc.core.analysis import KernelSettings, analyze_kernel
from incc.core.levels import DataTimes, data_times, times
from incc.frontends.isa import isa
from incc.measuring.streams.loops import LINE, UNROLL, StreamLoop
from incc.measuring.streams.study import Point
from incc.models.memory import MemoryHierarchy, MemoryLevel
from incc.models.model import MachineModel

FITTED = ("load", "store", "copy", "update", "triad")
"""The loops that set costs."""
HELD_OUT = ("schoenauer",)
"""The loop that sets none, and judges them."""
WORTH = 0.01
"""By how much less the mean error must be for a further cost."""
ALIKE = 0.005
"""Errors that are this close are taken for equal."""
_FAR = 0.03
"""By how much more than the least error a rule has to which no further costs are added."""
_GAIN = 1e-4
"""The gain of a step with which the search goes on."""
_RULES = tuple(product(("all", "evictions", "none"), (True, False)))
"""Values of `overlap` and `both_ways`, the simplest first."""
_MORE = ("allocate", "one_stream", "one_store_stream")
"""Further costs."""
_FACTORS = (1.3, 1.1, 1.03, 1.01)
"""Steps of the search, each until no cost becomes better."""
_SATURATED = 1.05
"""By how much longer a line must take if all cores run, for the level to limit them."""


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


Figures = Mapping[Point, float]
"""Cycles per cache line of each array."""


def measured_at(
    figures: Figures, levels: Sequence[MemoryLevel], number: int, cores: int = 1
) -> dict[StreamLoop, float]:
    """Return the median cycles of each loop with data that are surely in a level.

    Those are sizes from twice the size of the cache inside to 60 % of the level's own; in L1 all that fit. All cores
    that share a level share its size.
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


class _Inside(msgspec.Struct, frozen=True):
    """The times of a loop beside transfers."""

    times: DataTimes
    cycles: Fraction
    """Cycles per iteration with data in L1."""

    def predicted(self, memory: MemoryHierarchy, cores: int = 1) -> list[float]:
        """Return the cycles per cache line of each array, by level."""
        own = self.times
        result = times(memory, own.traffic, self.cycles, own.overlapping, own.loading, cores)
        return [float(level.cycles) * LINE / UNROLL for level in result.levels]


def inside(loop: StreamLoop, model: MachineModel, cycles: float | None = None, line: int = LINE) -> _Inside:
    """Return the times of a loop on a core beside transfers; `cycles` per line with data in L1 replace the model's."""
    kernel = isa(model.isa).decode_bytes(loop.code(), loop.title, True, False)
    result = analyze_kernel(kernel, model, KernelSettings())
    # The traffic of non-temporal stores is only known where their cost is.
    l1 = MemoryHierarchy(levels=(MemoryLevel(name="L1", size=1, non_temporal=1.0),), line=line, source="")
    own = data_times(kernel, result.bound, l1, result.cycles, result.bounds)
    assert own is not None
    return _Inside(own, result.cycles if cycles is None else Fraction(str(round(cycles, 4))) * UNROLL / LINE)


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
    inner = {x: inside(x, model, within.get(x), line) for x in sorted({point.loop for point in figures})}
    memory = MemoryHierarchy(levels=(levels[0],), line=line, source="measured")
    fits: list[LevelFit] = []
    every = [*levels, MemoryLevel(name="memory")]
    for number in range(1, len(every)):
        measured = measured_at(figures, every, number)
        trained = {x: c for x, c in measured.items() if x.name in FITTED and not x.non_temporal}
        judges = {x: c for x, c in measured.items() if x.name in HELD_OUT}
        if not {"load", "store"} <= {loop.name for loop in trained}:
            break
        best = _fitted(memory, every[number], trained, inner)
        level = best.level
        direct = [cycles for loop, cycles in measured.items() if loop == StreamLoop("store", widest, True)]
        if level.size is None and direct:
            level = replace(level, non_temporal=_rounded(direct[0]))
        level = replace(level, all_cores=_all_cores(figures, every, number, level))
        memory = replace(memory, levels=(*memory.levels, level))
        fits.append(replace(best, level=level, held_out=_error(memory, judges, inner) if judges else None))
    return Fit(memory=memory, levels=tuple(fits))


def error_of(memory: MemoryHierarchy, figures: Figures, levels: Sequence[MemoryLevel], model: MachineModel) -> float:
    """Return the mean relative error of a hierarchy's predictions beyond L1, of the loops that are HELD_OUT."""
    within = measured_at(figures, levels, 0)
    errors = []
    every = [*levels, MemoryLevel(name="memory")]
    for number in range(1, len(every)):
        for loop, cycles in measured_at(figures, every, number).items():
            if loop.name in HELD_OUT:
                predicted = inside(loop, model, within.get(loop), memory.line).predicted(memory)
                names = [level.name for level in memory.levels]
                if every[number].name in names:
                    errors.append(abs(predicted[names.index(every[number].name)] / cycles - 1))
    return statistics.mean(errors) if errors else 0.0


def _fitted(
    memory: MemoryHierarchy,
    level: MemoryLevel,
    measured: Mapping[StreamLoop, float],
    inner: Mapping[StreamLoop, _Inside],
) -> LevelFit:
    """Return the level with the rule and the costs that explain the measurements best."""
    read, write = (min(cycles for loop, cycles in measured.items() if loop.name == name) for name in ("load", "store"))
    rules = [replace(level, overlap=overlap, both_ways=both_ways) for overlap, both_ways in _RULES]
    # Lines that are written back while others come may take as long as these, and more would be seen.
    starts = [{"read": read, "write": write if rule.both_ways else write / 2} for rule in rules]
    searched = [_searched(memory, rule, start, measured, inner) for rule, start in zip(rules, starts, strict=True)]
    least = min(error for error, _ in searched)
    outcomes: list[tuple[float, float, MemoryLevel]] = []
    for rule, (error, costs) in zip(rules, searched, strict=True):
        for name in _MORE if error < least + _FAR else ():
            less, more = _searched(memory, rule, {**costs, name: costs["read"] * 1.2}, measured, inner)
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
    inner: Mapping[StreamLoop, _Inside],
) -> tuple[float, dict[str, float]]:
    """Return the least mean error, and the costs that have it, by a search from `start` in ever smaller steps."""

    def error(costs: dict[str, float]) -> float:
        candidate = replace(level, **{name: _rounded(cost) for name, cost in costs.items()})
        return _error(replace(memory, levels=(*memory.levels, candidate)), measured, inner)

    costs, least = start, error(start)
    for factor in _FACTORS:
        better = True
        while better:
            better = False
            for name, step in product(costs, (factor, 1 / factor)):
                changed = {**costs, name: min(costs[name] * step, _MOST)}
                if (now := error(changed)) < least - _GAIN:
                    costs, least, better = changed, now, True
    return least, {name: _rounded(cost) for name, cost in costs.items()}


_MOST = 10_000
"""The highest cost that a model may state."""


def _rounded(cost: float) -> float:
    """Return a cost with three digits."""
    return max(float(f"{cost:.3g}"), 0.001)


def _error(memory: MemoryHierarchy, measured: Mapping[StreamLoop, float], inner: Mapping[StreamLoop, _Inside]) -> float:
    """Return the mean relative error of the predictions for the last level."""
    return statistics.mean(
        abs(inner[loop].predicted(memory)[-1] - cycles) / cycles for loop, cycles in measured.items()
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
