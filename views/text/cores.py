"""One code on several cores: for each kernel a table with a row for each core, before the report of each core."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from incc.report import types as t
from incc.support.text import counted
from incc.views.layout import BOLD, Layout, cycles, each
from incc.views.table import Cell, Column, Table, TableRow, number_column, row, text_lines
from incc.views.text import header
from incc.views.text.overview import cycles_of, measured

BEST = "*"

LIMIT = 20
"""Smallest width of the column of limits."""


def groups(units: Sequence[t.UnitReport]) -> list[list[t.UnitReport]]:
    """Return the units in their order, in groups of neighbours that are one code on several cores."""
    neighbours: list[list[t.UnitReport]] = []
    for unit in units:
        if (
            neighbours
            and _code(neighbours[-1][0]) == _code(unit)
            and unit.model.name not in [other.model.name for other in neighbours[-1]]
        ):
            neighbours[-1].append(unit)
        else:
            neighbours.append([unit])
    return neighbours


def _code(unit: t.UnitReport) -> tuple[object, ...]:
    return unit.source, unit.assembly_file, unit.folder, unit.output, unit.way, *unit.command


def lines(units: Sequence[t.UnitReport], layout: Layout) -> Iterator[str]:
    """Yield the tables of a group of units, one for each kernel that some of them have."""
    first = units[0]
    names = [unit.model.name for unit in units]
    yield from layout.wrap(f"{first.source or first.assembly_file} on {counted(len(names), 'core')}:")
    on: dict[str, list[t.KernelReport | None]] = {}
    for n, unit in enumerate(units):
        for kernel in unit.kernels:
            on.setdefault(kernel.kernel_id, [None] * len(units))[n] = kernel
    if not on:
        return
    best = [_best(kernels) for kernels in on.values()]
    head, *rows = _table(names, list(on.values()), best, layout)
    for kernels, of_kernel in zip(on.values(), _split(rows, list(on.values()), layout), strict=True):
        yield ""
        subject = next(kernel for kernel in kernels if kernel is not None)
        where = f", {header.span(first, subject)}" if subject.first_line else ""
        title = header.title(subject, layout) + where
        yield from layout.wrap(title, style=BOLD)
        yield head
        yield from of_kernel
    yield ""
    notes = "cycles of each core's own clock, per iteration; Ports to Chain: lower bounds"
    yield from layout.wrap(f"({notes}{f'; {BEST}: fewest cycles' if any(best) else ''})")


def _best(kernels: Sequence[t.KernelReport | None]) -> set[int]:
    """Return the indices of the kernels with the fewest cycles, none if all have as many.

    Lower bounds do not count: the kernel may take more than another. Neither do cores that cannot execute it.
    """
    exact = {n: k.cycles for n, k in enumerate(kernels) if k and not k.at_least and not _lacking(k)}
    least = min(exact.values(), default=0.0)
    # Compare as printed: values that differ after the second decimal look alike.
    fastest = {n for n, each_cycles in exact.items() if f"{each_cycles:.2f}" == f"{least:.2f}"}
    return fastest if len(fastest) < len(exact) else set()


def _table(
    names: Sequence[str], on: Sequence[Sequence[t.KernelReport | None]], best: Sequence[set[int]], layout: Layout
) -> Iterator[str]:
    """Yield the titles, and the rows of all kernels one after the other, in the same columns."""
    # Each core's own views have the columns that a narrow table goes without.
    optional = ("Retire", "µops", "Divider", "Front")
    numbers = ("Cycles", "Measured", "/elem.", "IPC", "µops", "Ports", "Divider", "Front", "Retire", "Chain")
    columns = [
        Column(title=""),
        Column(title="Core"),
        *(
            number_column(title, optional=title in optional, priority=optional.index(title) if title in optional else 0)
            for title in numbers
        ),
        Column(title="Bound by", comfortable=28, least=LIMIT),
    ]
    rows = []
    for kernels, fastest in zip(on, best, strict=True):
        for n, (name, kernel) in enumerate(zip(names, kernels, strict=True)):
            first, *more = _limits(kernel, layout)
            texts = [*_cells(kernel), first] if kernel else [""] * (len(columns) - 2)
            kind = "good" if n in fastest else ""
            head = [Cell(text=text, kind=kind) for text in (BEST if kind else "", name, texts[0])]
            rows.append(TableRow([*head, *row(*texts[1:]).cells]))
            rows += [row(*[""] * (len(columns) - 1), limit) for limit in more]
    return text_lines(Table(columns, rows), layout)


def _lacking(kernel: t.KernelReport) -> int:
    """Return the number of instructions that the core does not have, with figures of another one."""
    return sum("L" in instruction.remarks for instruction in kernel.instructions)


NARROW = 100
"""Width of lines below which each part of a limit has a line, instead of being cut."""


def _limits(kernel: t.KernelReport | None, layout: Layout) -> list[str]:
    """Return the limits of a kernel, in the lines that they take."""
    if kernel is None:
        return [""]
    unknown, lacking = len(kernel.unknown_instructions), _lacking(kernel)
    parts = [f"{unknown} not in the model"] if unknown else []
    parts += [f"{lacking} lacking"] if lacking else []
    parts += [kernel.overview.limit] if kernel.overview.limit else []
    text = "; ".join(parts)
    return text.split("; ") if 0 < layout.width < NARROW and len(text) > LIMIT else [text]


def _split(rows: Sequence[str], on: Sequence[Sequence[t.KernelReport | None]], layout: Layout) -> Iterator[list[str]]:
    """Yield the rows of each kernel."""
    left = list(rows)
    for kernels in on:
        count = sum(len(_limits(kernel, layout)) for kernel in kernels)
        yield left[:count]
        left = left[count:]


def _cells(kernel: t.KernelReport) -> list[str]:
    bounds, elements = kernel.bounds, kernel.elements
    own = [bounds.of(name).cycles for name in ("port", "divider", "front_end", "retire", "loop_carried")]
    ports, divider, front_end, retire, chain = (cycles(value) for value in own)
    unknown = len(kernel.unknown_instructions)
    least = "≥ " if kernel.at_least else ""
    return [
        cycles_of(kernel),
        measured(kernel),
        f"{least}{each(elements.cycles)}" if elements else "",
        # The known value alone would say nothing.
        "-" if unknown else f"{kernel.summary.ipc:.2f}",
        str(kernel.size.issue_slots),
        ports,
        "" if divider == "-" else divider,
        front_end,
        retire,
        chain,
    ]
