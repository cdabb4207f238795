"""The report on a kernel whose data come from beyond L1."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

from incc.core.figures import DECIMALS
from incc.core.memory.traffic import sets_of
from incc.report import types as t
from incc.report.parts.distances import row_distance, variables
from incc.report.wording import places

if TYPE_CHECKING:
    from incc.core.analysis import KernelResult
    from incc.core.elements import Elements
    from incc.core.memory.levels import DataTimes, LevelTime
    from incc.core.memory.traffic import Front, Traffic
    from incc.frontends.kernel import KernelCode
    from incc.models.memory import MemoryHierarchy, MemoryLevel


def data_report(
    result: KernelResult,
    elements: Elements | None,
    accesses: Sequence[t.AccessPattern],
    passes: Sequence[t.DataPass] = (),
) -> t.DataReport | None:
    """Return the predictions for data in each level, with those of passes; None without them."""
    times = result.data
    memory = result.model.memory if times is not None else None
    if times is None or memory is None:
        return None
    per_element = elements.per_iteration if elements else None
    requested = memory.holding(result.settings.data)
    iterations = _line_iterations(times)
    scale = iterations or Fraction(1)
    sources = result.model.sources
    return t.DataReport(
        levels=[
            _level(
                times, time, level, per_element, level.name in requested, sources.get(level.source or memory.source, "")
            )
            for time, level in zip(times.levels, memory.levels, strict=False)
        ],
        streams=[_stream(result, times, memory, front, per_element, accesses) for front in times.traffic.fronts],
        overlapping=_number(times.overlapping),
        loading=_number(times.loading),
        line_iterations=_number(iterations) if iterations else None,
        line_bytes=memory.line,
        cores=result.settings.cores,
        notation=_notation(times, memory, scale),
        prediction="{" + " | ".join(_short(time.cycles * scale) for time in times.levels) + "}",
        unknown=list(times.traffic.unknown),
        deciding=variables(result.kernel, times.traffic),
        thrashing=[] if times.traffic.unknown else list(_thrashing(result.kernel, times.traffic, memory)),
        configuration=memory.configuration,
        passes=list(passes),
    )


def _number(value: Fraction) -> float:
    return round(float(value), DECIMALS)


def _short(value: Fraction) -> str:
    return f"{float(value):.1f}"


def _line_iterations(times: DataTimes) -> Fraction | None:
    """Return the iterations in which the fastest stream touches one cache line."""
    fastest = max((front.lines for front in times.traffic.fronts), default=Fraction(0))
    return 1 / fastest if fastest else None


def _notation(times: DataTimes, memory: MemoryHierarchy, scale: Fraction) -> str:
    """Return the times in the ECM model's notation, with ‖ between times of which the longest counts."""
    text = f"{_short(times.overlapping * scale)} ‖ {_short(times.loading * scale)}"
    for time, level in zip(times.levels[1:], memory.levels[1:], strict=False):
        text += f" {'‖' if level.overlap == 'all' else '|'} {_short(time.transfer * scale)}"
    return f"{{{text}}}"


def _level(
    times: DataTimes, time: LevelTime, level: MemoryLevel, per_element: Fraction | None, requested: bool, source: str
) -> t.DataLevel:
    lines = time.lines
    return t.DataLevel(
        name=time.level,
        cycles=_number(time.cycles),
        cycles_per_element=_number(time.cycles / per_element) if per_element else None,
        least_cycles=_number(time.least_cycles),
        transfer=_number(time.transfer),
        lines=t.LinesReport(
            read=_number(lines.read),
            allocate=_number(lines.allocate),
            written=_number(lines.written),
            passed=_number(max(lines.read + lines.allocate - lines.written, Fraction(0))) if level.victim else 0.0,
            direct=_number(lines.direct),
        ),
        size=level.size,
        requested=requested,
        saturating_cores=time.cores,
        figures=source if level.read is not None else "",
    )


def _stream(
    result: KernelResult,
    times: DataTimes,
    memory: MemoryHierarchy,
    front: Front,
    per_element: Fraction | None,
    accesses: Sequence[t.AccessPattern],
) -> t.DataStream:
    reuse = front.reuse
    step = abs(front.step)
    element = step / per_element if per_element else None
    # Without any reuse, the loop touches this many bytes per byte of the distance.
    share = times.traffic.furthest * times.traffic.line / step
    if reuse is not None and front.behind is not None:
        share = reuse / (front.behind * step)
    return t.DataStream(
        instructions=list(front.instructions),
        kind=_kind(result, front),
        step=front.step,
        lines=_number(front.lines),
        reuse_bytes=None if reuse is None else _number(reuse),
        level="" if reuse is None else _found_in(memory.levels, reuse),
        distance=None if front.behind is None else _distance(int(front.behind * step), element),
        reaches=[
            t.DataReach(level=level.name, distance=_distance(int(level.size / share), element, round_down=True))
            for level in memory.levels
            if level.size and (reuse is not None or front.neighbour)
        ],
        neighbour=front.neighbour,
        apart=row_distance(result.kernel, front, times.traffic.fronts, element) if front.neighbour else "",
        access=next(
            (
                number
                for number, pattern in enumerate(accesses)
                if pattern.step == front.step and front.instructions[0] in pattern.instructions
            ),
            None,
        ),
    )


def _thrashing(kernel: KernelCode, traffic: Traffic, memory: MemoryHierarchy) -> Iterator[str]:
    """Yield a sentence for each group of streams that share few sets of L1."""
    first = memory.levels[0]
    sets = sets_of(first.size or 0, first.ways, memory.line)
    if sets is None:
        return
    for crowd in traffic.crowds(sets):
        numbers = [number for front in crowd.lines for number in front.instructions]
        fetched = _number(sum(crowd.lines.values(), Fraction(0)))
        yield (
            f"Cache thrashing: {fetched:g} lines per iteration do not stay in {first.name}, wherever the data are, "
            f"since the {len(crowd.lines)} streams of {places(kernel, numbers)} fall into the same sets of "
            f"{sets.ways} lines. Put another distance than a multiple of {sets.span:,} bytes between them, such as a "
            "line more."
        )
    strided: dict[int, list[int]] = {}
    for front in traffic.fronts:
        used = sets.passed(front.step)
        # So few sets hold no more lines than a single way of the cache.
        if abs(front.step) > memory.line and used * sets.ways <= sets.number:
            strided.setdefault(abs(front.step), []).extend(front.instructions)
    for step, numbers in strided.items():
        used = sets.passed(step)
        yield (
            f"Cache thrashing: {first.name} holds only {used * sets.ways} lines of the data of "
            f"{places(kernel, numbers)}, since a step of {step:,} bytes uses {used} of its {sets.number} sets. "
            "Make rows a line longer if a later pass uses these lines again."
        )


def _distance(size: int, element: Fraction | None, round_down: bool = False) -> t.DataDistance:
    """Return a distance in bytes and elements of a size."""
    number = size / element if element else None
    whole = number is not None and (round_down or number.denominator == 1)
    return t.DataDistance(bytes=size, elements=int(number) if number is not None and whole else None)


def _kind(result: KernelResult, front: Front) -> Literal["load", "store", "load, store", "non-temporal store"]:
    if front.non_temporal:
        return "non-temporal store"
    accesses = [access for number in front.instructions for access in result.kernel.instructions[number].memory]
    loads, stores = any(access.load for access in accesses), any(access.store for access in accesses)
    return "load, store" if loads and stores else "store" if stores else "load"


def _found_in(levels: Iterable[MemoryLevel], reuse: Fraction) -> str:
    return next((level.name for level in levels if level.size is None or level.size >= reuse), "")
