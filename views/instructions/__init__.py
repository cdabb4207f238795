"""Tables of instructions with their figures on one core, or on several side by side."""

from __future__ import annotations

from collections.abc import Iterator

from incc.report.instructions import InstructionFigures, InstructionRow, InstructionTable
from incc.report.wording import listed
from incc.support.text import counted
from incc.views.layout import Layout
from incc.views.table import Cell, Column, Table, TableRow, number_column, text_lines

COLUMNS = (
    number_column("Latency", "cycles from an operand to a result, least and greatest"),
    number_column("Throughput", "reciprocal throughput: cycles per instruction if many are independent"),
    number_column("µops", "fused-domain µops, as the front end issues them"),
    Column(
        title="Ports",
        meaning="unfused-domain µops by the ports that can execute them",
        code=True,
        comfortable=24,
        least=8,
    ),
)
"""The columns of each core."""

_ALONE = (
    Column(title="Source", meaning="the source of the figures", comfortable=9, spare=True),
    Column(title="Notes", meaning="further facts", comfortable=20, least=8, spare=True, optional=True),
)
"""The columns that only a table for a single core has."""


def instructions_table(table: InstructionTable) -> Table:
    """Return the table of instructions; with several cores, the first column of each has its name."""
    several = len(table.cores) > 1
    columns = [Column(title="Instruction", code=True, comfortable=30, least=20, priority=5)]
    for core in table.cores:
        columns += COLUMNS if not several else [
            Column(title=core.name, right=True),
            *(Column(title="", right=column.right, code=column.code, comfortable=column.comfortable)
              for column in COLUMNS[1:]),
        ]  # fmt: skip
    rows = [TableRow(row_cells(row, table)) for row in table.rows]
    if several:
        heads = [Cell(text=column.title) for column in COLUMNS] * len(table.cores)
        return Table(columns, [TableRow([Cell(), *heads]), *rows])
    return Table([*columns, *_ALONE], rows)


def row_cells(row: InstructionRow, table: InstructionTable, href: str = "") -> list[Cell]:
    """Return the cells of an instruction."""
    cells = [Cell(text=row.instruction, href=href)]
    for core in table.cores:
        cells += figure_cells(row.cores.get(core.name))
    if len(table.cores) == 1:
        figures = row.cores[table.cores[0].name]
        cells += [Cell(text=figures.source), Cell(text=", ".join(figures.notes))]
    return cells


def figure_cells(figures: InstructionFigures | None) -> list[Cell]:
    """Return the cells of a core; empty ones if it lacks the instruction."""
    if figures is None:
        return [Cell(text="", key=None)] * len(COLUMNS)
    return [
        Cell(text=figures.latency, key=figures.latency_cycles),
        Cell(text=f"{figures.throughput:.2f}", key=figures.throughput),
        Cell(text=str(figures.uops), key=figures.uops),
        Cell(text=figures.ports),
    ]


def heading(table: InstructionTable) -> str:
    """Return a line on the table."""
    cores = listed([f"{core.title} ({core.name} {core.version})" for core in table.cores])
    number = counted(len(table.rows), "instruction")
    return f"{number} of {cores}" + (f", matching {table.pattern!r}" if table.pattern else "")


def lacking(table: InstructionTable) -> str:
    """Return a sentence on the cores that lack instructions of the table, "" if none does."""
    missing = {core.name: sum(core.name not in row.cores for row in table.rows) for core in table.cores}
    parts = [
        f"{name} lacks {'all' if number == len(table.rows) else number} of these"
        for name, number in missing.items()
        if number
    ]
    return f"No figures: {listed(parts)}." if parts else ""


def lines(table: InstructionTable, layout: Layout) -> Iterator[str]:
    """Yield the lines of the text."""
    yield from layout.wrap(heading(table))
    yield ""
    yield from text_lines(instructions_table(table), layout)
    yield ""
    if sentence := lacking(table):
        yield from layout.wrap(sentence)
    yield from layout.wrap(
        "Latency: cycles from an operand to a result, least-greatest; throughput: cycles per instruction if many are "
        "independent; µops: fused; operands: i constant, r64 register, m memory, {k} mask, {z} zeroing"
    )
