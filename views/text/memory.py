"""The cache lines that each stream of a kernel moves, the traffic between levels, and where it is saturated."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from incc.report import types as t
from incc.report.wording import listed, percent
from incc.support.text import line_list
from incc.views.layout import Layout, cycles
from incc.views.table import Table, TableSection, number_column, part_lines, row, text_column

_STREAMS = (
    text_column("Lines", "Lines of the instructions", 12, 5, priority=2),
    text_column("Stream", "Kind of access", 18, 8, priority=1),
    number_column("Bytes", "Bytes by which the addresses move per iteration"),
    number_column("CL/it.", "Cache lines per iteration"),
    number_column("Used", "Share of the bytes of these lines that the loop uses"),
    number_column("Reuse", "Bytes that the loop touches until the lines are used again"),
    text_column("From", "Level in which the lines are found", 20, 8, priority=3),
    text_column("Pattern", "Places of the accesses", 18, 8, priority=2),
)

_LEVELS = (
    text_column("From", "Level of the data", 6, 6),
    number_column("Cycles", "Predicted cycles per iteration, or their range"),
    number_column("/elem.", "Predicted cycles per element"),
    number_column("Transfer", "Cycles per iteration of the transfers between this level and the one inside"),
    number_column("Read", "Cache lines fetched for loads, per iteration"),
    number_column("Alloc.", "Cache lines fetched because a store misses (write-allocate)"),
    number_column("Written", "Modified cache lines written back"),
    number_column("Passed", "Unmodified cache lines passed on to a victim cache"),
    number_column("Direct", "Cache lines of non-temporal stores"),
    number_column("Cores", "Number of cores that saturate the level"),
)


def lines(unit: t.UnitReport, kernel: t.KernelReport, layout: Layout) -> Iterator[str]:
    """Yield a table of the streams and one of the levels."""
    data = kernel.data
    if data is None:
        yield from layout.wrap(f"No prediction beyond L1: the model of {unit.model.name} has no memory hierarchy.")
        return
    yield from part_lines(parts(kernel, data), layout)


def parts(kernel: t.KernelReport, data: t.DataReport) -> Iterator[TableSection]:
    """Yield the streams and, if they are all known, the levels."""
    sentences = [*_reuse(kernel, data), *data.thrashing]
    if data.unknown:
        places = line_list(kernel.instructions[number].line for number in data.unknown)
        sentences = [
            f"Nothing is predicted beyond L1, because it is unknown which cache lines some instructions move, or what "
            f"that costs: {places}.{_decided(data)}",
        ]
    rows = [row(*_stream(kernel, stream)) for stream in data.streams]
    rows += [row(*cells) for cells in _others(kernel)]
    yield TableSection("Streams of cache lines, per iteration", Table(_STREAMS, rows), sentences)
    if data.unknown or len(data.levels) < 2:  # without costs
        return
    figures = dict.fromkeys(level.figures for level in data.levels if level.figures)
    yield TableSection(
        "Cycles and cache lines between each level and the one inside, per iteration",
        Table(_LEVELS, [row(*_level(level)) for level in data.levels]),
        [f"Costs: {'; '.join(figures)} ({data.configuration})."] if figures else [],
    )


class _Ends(Protocol):
    """A prediction with two ends."""

    @property
    def least_cycles(self) -> float: ...

    @property
    def cycles(self) -> float: ...


def level_cycles(level: _Ends) -> str:
    """Return the prediction for data in a level, or its two ends."""
    if level.least_cycles == level.cycles:
        return cycles(level.cycles)
    return f"{cycles(level.least_cycles)}–{cycles(level.cycles)}"


def _reuse(kernel: t.KernelReport, data: t.DataReport) -> Iterator[str]:
    """Yield sentences on the distances at which lines are used again, and on those at which caches hold them."""
    for streams in _by_distance(data):
        numbers = [number for stream in streams for number in stream.instructions]
        places = line_list(kernel.instructions[number].line for number in numbers).capitalize()
        verb = "use" if places.startswith("Lines") else "uses"
        yield f"{places} {verb} data again at a distance of {_distances(streams)}. {_reaches(streams[0])}."
    rows = [stream for stream in data.streams if stream.neighbour]
    if rows:
        apart = dict.fromkeys(stream.apart for stream in rows)
        distance = "an unknown distance" if "" in apart else listed(list(apart))
        ends = (
            " The lower ends hold if each row finds the lines of its neighbour in L1, the higher ends if it finds none."
            if len(data.levels) > 1
            else ""
        )
        yield f"Rows of an array lie {distance} apart.{_decided(data)}{ends} {_reaches(rows[0])}."


def _decided(data: t.DataReport) -> str:
    """Return a sentence on the variables that decide, with a blank before it."""
    if not data.deciding:
        return ""
    values = " ".join(f"--let {name}=VALUE" for name in data.deciding)
    return f" The value of {listed(data.deciding)} decides ({values})."


def _by_distance(data: t.DataReport) -> list[list[t.DataStream]]:
    """Return the streams that use lines again, together if their distances differ by less than a line."""
    groups: list[list[t.DataStream]] = []
    for stream in sorted((s for s in data.streams if s.distance), key=_bytes):
        if groups and _bytes(stream) - _bytes(groups[-1][0]) < data.line_bytes:
            groups[-1].append(stream)
        else:
            groups.append([stream])
    return groups


def _bytes(stream: t.DataStream) -> int:
    return stream.distance.bytes if stream.distance else 0


def _distances(streams: list[t.DataStream]) -> str:
    """Return the distance of streams, or the least and the largest."""
    first, *_, last = [_distance(stream.distance) for stream in [streams[0], *streams] if stream.distance]
    return last if first == last else f"{first.split()[0]} to {last}"


def _reaches(stream: t.DataStream) -> str:
    """Return the distances up to which data are found again."""
    limits = [f"{reach.level} up to {_distance(reach.distance)}" for reach in stream.reaches]
    return f"They are found in {', '.join(limits)}"


def _distance(distance: t.DataDistance) -> str:
    if distance.elements is None:
        return f"{distance.bytes:,} bytes"
    return f"{distance.elements:,} elements"


def _others(kernel: t.KernelReport) -> Iterator[list[str]]:
    """Yield the cells of accesses that do not move, or not by a known number of bytes, those alike together."""
    alike: dict[tuple[t.AccessKind, str, t.PatternName, str], list[int]] = {}
    for pattern in kernel.accesses:
        if not pattern.step:
            step = "" if pattern.step is None else str(pattern.step)
            alike.setdefault((pattern.kind, step, pattern.pattern, pattern.text), []).extend(pattern.instructions)
    for (kind, step, name, _), numbers in alike.items():
        lines = line_list(kernel.instructions[number].line for number in sorted(numbers))
        yield [lines, kind, step, "", "", "", "" if step else "unknown", _PATTERNS[name]]


_PATTERNS: dict[t.PatternName, str] = {
    "fixed": "the same place",
    "contiguous": "contiguous",
    "strided": "unknown stride",
    "indirect": "indirect",
    "chased": "pointer chasing",
    "unknown": "irregular",
}


def _stream(kernel: t.KernelReport, stream: t.DataStream) -> list[str]:
    reuse = stream.reuse_bytes
    pattern = kernel.accesses[stream.access] if stream.access is not None else None
    used = pattern.line_use if pattern else None
    stride = f"{pattern.used_bytes:,} of {pattern.stride:,} bytes" if pattern and pattern.stride else ""
    return [
        line_list(kernel.instructions[number].line for number in stream.instructions),
        stream.kind,
        str(stream.step),
        f"{stream.lines:.2f}",
        "" if used is None else percent(used),
        "" if reuse is None else f"{reuse:,.0f}",
        stream.level or ("unknown" if stream.neighbour else "the data's level"),
        stride or (_PATTERNS[pattern.pattern] if pattern else ""),
    ]


def _level(level: t.DataLevel) -> list[str]:
    elements, lines = level.cycles_per_element, level.lines
    moved = (lines.read, lines.allocate, lines.written, lines.passed, lines.direct)
    return [
        level.name,
        level_cycles(level),
        "" if elements is None else f"{elements:.3f}",
        cycles(level.transfer) if level.transfer else "",
        *[f"{number:.2f}" if number else "" for number in moved],
        str(level.saturating_cores or ""),
    ]
