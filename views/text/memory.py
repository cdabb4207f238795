"""The cache lines that each stream of a kernel moves, the traffic between levels, and where it is saturated."""

from __future__ import annotations

from collections.abc import Iterator

from incc.report import types as t
from incc.views.layout import Layout, cycles, line_list
from incc.views.table import Table, number_column, row, text_column, text_lines

_STREAMS = (
    text_column("Lines", "Lines of the instructions", 12, 5, priority=2),
    text_column("Stream", "Kind of access", 18, 8, priority=1),
    number_column("Bytes", "Bytes by which the addresses move per iteration"),
    number_column("CL/it.", "Cache lines per iteration"),
    number_column("Reuse", "Bytes that the loop touches until the lines are used again"),
    text_column("From", "Level in which the lines are found", 20, 8, priority=3),
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
    if data.streams:
        yield "Streams of cache lines, per iteration:"
        yield from text_lines(Table(_STREAMS, [row(*_stream(kernel, stream)) for stream in data.streams]), layout)
    if data.unknown:
        places = line_list(kernel.instructions[number].line for number in data.unknown)
        yield from layout.wrap(
            f"Nothing is predicted beyond L1, because addresses do not move by a known number of bytes per iteration: "
            f"{places}."
        )
        return
    yield ""
    yield "Cycles and cache lines between each level and the one inside, per iteration:"
    yield from text_lines(Table(_LEVELS, [row(*_level(level)) for level in data.levels]), layout)
    yield from layout.wrap(_rows(data))
    figures = dict.fromkeys(level.figures for level in data.levels if level.figures)
    if figures:
        yield from layout.wrap(f"Costs: {'; '.join(figures)} ({data.configuration}).")


def level_cycles(level: t.DataLevel) -> str:
    """Return the prediction for data in a level, or its two ends."""
    if level.least_cycles == level.cycles:
        return cycles(level.cycles)
    return f"{cycles(level.least_cycles)}–{cycles(level.cycles)}"


def _rows(data: t.DataReport) -> str:
    """Return a sentence on neighbouring rows whose distance is unknown; "" without any."""
    conditions = [f"{level.row_bytes:,} bytes in {level.name}" for level in data.levels if level.row_bytes]
    if not conditions:
        return ""
    return (
        "Rows of an array lie an unknown distance apart. The lower ends hold if each row finds the lines of its "
        "neighbour in L1, the higher ends if it finds none. Rows are surely found at distances up to "
        f"{', '.join(conditions)}."
    )


def _stream(kernel: t.KernelReport, stream: t.DataStream) -> list[str]:
    reuse = stream.reuse_bytes
    return [
        line_list(kernel.instructions[number].line for number in stream.instructions),
        stream.kind,
        str(stream.step),
        f"{stream.lines:.2f}",
        "" if reuse is None else f"{reuse:,.0f}",
        stream.level or ("unknown" if stream.neighbour else "the data's level"),
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
