"""The overview that a report begins with: a row for each kernel, with the number of the part on it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from incc.report import types as t
from incc.report.source.places import assembly_is_kept
from incc.views.layout import Layout, each
from incc.views.table import Table, number_column, row, text_column, text_lines
from incc.views.text.memory import level_cycles

VECTORS = text_column(
    "Vectors", "Width of the vectors, and the share of operations in them", 7, 6, priority=1, optional=True, spare=True
)

COLUMNS = (
    text_column(
        "Line", "Line of the source, or of the assembly if the source is unknown", 12, 5, priority=5, code=True
    ),
    text_column("Function", "Function that the loop is written in", 12, 8, ample=26, priority=4, code=True),
    text_column("Role", "Role of the loop in its function; empty for the main loop", 9, 5, priority=6),
    number_column("Cycles", "Predicted cycles per iteration, or their range"),
    number_column("Measured", "Measured cycles per iteration on the host"),
    number_column("/elem.", "Predicted cycles per element of the source's loop"),
    text_column("Bound by", "Resource that limits the loop", 11, 6, priority=3, optional=True),
    VECTORS,
    text_column("Worth a look", "Rules of the hints, causes of a wide range", 12, 6, priority=2, optional=True),
)
"""The columns of row_of."""

_RATES = tuple(
    number_column(f"G{unit}/s", f"{meaning} per second, at the core's clock")
    for unit, meaning in (("FLOP", "Floating-point operations"), ("B", "Bytes"))
)
LEVELS = ("L2", "L3", "memory")
"""The levels beyond L1 that have columns."""

_LEVELS = tuple(
    column
    for level in LEVELS
    for column in (
        number_column(level, f"Predicted cycles per iteration with data in {level}"),
        number_column(f"{level}/el.", f"Predicted cycles per element with data in {level}", optional=True, priority=7),
    )
)
"""The columns of predictions for data beyond L1."""

_BEFORE_RATES = 6
"""The columns before those of the rates."""

ALL_COLUMNS = (*COLUMNS[:_BEFORE_RATES], *_LEVELS, *_RATES, *COLUMNS[_BEFORE_RATES:])
"""The columns of full_row_of."""


def lines(unit: t.UnitReport, layout: Layout) -> Iterator[str]:
    """Yield the table of a unit's kernels."""
    columns = (number_column("#"), *ALL_COLUMNS)
    rows = [
        row(f"{numbers[0]}-{numbers[-1]}" if len(numbers) > 1 else str(numbers[0]), *texts)
        for numbers, texts in _alike(_rows(unit, layout))
    ]
    yield from text_lines(Table(columns, rows), layout)


def _levels(kernel: t.KernelReport) -> list[str]:
    levels = {level.name: level for level in kernel.data.beyond_l1} if kernel.data else {}
    texts = []
    for name in LEVELS:
        level = levels.get(name)
        elements = level.cycles_per_element if level else None
        texts += [level_cycles(level) if level else "", "" if elements is None else each(elements)]
    return texts


def alike(unit: t.UnitReport, layout: Layout) -> list[list[int]]:
    """Return the numbers of the kernels that share a row: neighbours with equal cells, such as copies of a loop."""
    return [numbers for numbers, _ in _alike(_rows(unit, layout))]


def _rows(unit: t.UnitReport, layout: Layout) -> list[list[str]]:
    numbers = {kernel.kernel_id: number for number, kernel in enumerate(unit.kernels, 1)}
    return [full_row_of(unit, kernel, numbers, layout) for kernel in unit.kernels]


def _alike(rows: Sequence[list[str]]) -> list[tuple[list[int], list[str]]]:
    groups: list[tuple[list[int], list[str]]] = []
    for number, texts in enumerate(rows, 1):
        # Without a line of the source each has its own lines of the assembly. Copies may carry their chains in other
        # registers.
        if groups and _but_registers(groups[-1][1]) == _but_registers(texts):
            groups[-1][0].append(number)
        else:
            groups.append(([number], texts))
    return groups


def _but_registers(texts: list[str]) -> list[str]:
    return ["chain" if text.startswith("chain ") else text for text in texts]


def full_row_of(unit: t.UnitReport, kernel: t.KernelReport, numbers: dict[str, int], layout: Layout) -> list[str]:
    """Return a kernel's row with its predictions for data beyond L1 and its rates before what limits it."""
    texts = row_of(unit, kernel, numbers, layout)
    rates = kernel.rates
    per_second = (rates.gflop_per_second, rates.gigabytes_per_second) if rates else (None, None)
    of_rates = ["" if rate is None else f"{rate:.1f}" for rate in per_second]
    return [*texts[:_BEFORE_RATES], *_levels(kernel), *of_rates, *texts[_BEFORE_RATES:]]


def row_of(unit: t.UnitReport, kernel: t.KernelReport, numbers: dict[str, int], layout: Layout) -> list[str]:
    """Return the texts of a kernel's row, without its number."""
    overview, elements = kernel.overview, kernel.elements
    source = kernel.source
    if source:
        # The source that is compiled is named above.
        here = unit.source and layout.file(source.file) == layout.file(unit.source)
        place = str(source.line) if here else layout.place(source)
    else:
        lines = f"{kernel.first_line}-{kernel.last_line}"
        lines = lines if assembly_is_kept(unit.source, unit.assembly_file) else f"asm {lines}"
        place = lines if kernel.first_line else kernel.label
    return [
        place,
        # A kernel that the user has marked and named is shown by that name.
        kernel.name if kernel.kind == "marker" else overview.function,
        _role(kernel, numbers),
        cycles_of(kernel),
        measured(kernel),
        each(elements.cycles) if elements else "",
        overview.limit,
        overview.vector,
        overview.look,
    ]


def _role(kernel: t.KernelReport, numbers: dict[str, int]) -> str:
    role = kernel.role
    if role.name in ("", "main"):
        return "" if kernel.is_loop else "no loop"
    return f"{role.name} ({numbers[role.of]})" if role.of in numbers else role.name


def measured(kernel: t.KernelReport) -> str:
    """Return the measured cycles, a dash for a failed measurement, nothing without one."""
    measurement = kernel.measured
    if measurement is None:
        return ""
    return "-" if measurement.cycles is None else f"{measurement.cycles:.2f}"


def cycles_of(kernel: t.KernelReport) -> str:
    """Return the prediction or its two ends, with ≥ for a lower bound."""
    spread = kernel.range
    text = f"{(spread.least if spread else kernel.cycles):.2f}"
    # The sign shows already that there is no upper end.
    if spread is not None and not (kernel.at_least and spread.most is None):
        most = "?" if spread.most is None else f"{spread.most:.2f}"
        text = f"{spread.least:.2f}–{most}"
    return f"≥ {text}" if kernel.at_least else text
