"""Instructions of one core, or of several side by side, as a self-contained page."""

from __future__ import annotations

from collections import Counter

from incc.report.instructions import InstructionRow, InstructionTable
from incc.support.version import __version__
from incc.views.html import templates
from incc.views.instructions import COLUMNS, heading, instructions_table, row_cells
from incc.views.table import Table, TableRow, select

MOST = 500
"""The rows in the table when the page opens. Others stay in a template until the user requests them."""

_FILTERS = {
    "all": "All",
    "general": "General purpose",
    "xmm": "XMM",
    "ymm": "YMM",
    "zmm": "ZMM",
    "memory": "Memory",
    "mask": "Masked",
}


def render(table: InstructionTable) -> str:
    """Return the page of a table."""
    kinds = [_kinds(row) for row in table.rows]
    rows = [
        TableRow(row_cells(row, table, f"#i{n}"), f"{row.form} {' '.join(row.cores)}", passed)
        for n, (row, passed) in enumerate(zip(table.rows, kinds, strict=True), start=1)
    ]
    several = len(table.cores) > 1
    columns = [instructions_table(table).columns[0], *(COLUMNS * len(table.cores))]
    shown = Table(columns, rows) if several else select(Table(instructions_table(table).columns, rows))
    numbers = Counter(kind for passed in kinds for kind in passed)
    return templates.render(
        "instructions/page.html.j2",
        title=f"Instructions of {', '.join(core.name for core in table.cores)} - incc",
        heading=heading(table),
        version=__version__,
        cores=table.cores,
        width=len(COLUMNS),
        filters=[(kind, text, numbers[kind]) for kind, text in _FILTERS.items() if numbers[kind] or kind == "all"],
        table=shown,
        most=MOST,
        data=[[_details(row) for row in table.rows], {core.name: core.sources for core in table.cores}],
    )


def _kinds(row: InstructionRow) -> list[str]:
    """Return the filters that an instruction passes."""
    operands = row.instruction.partition(" ")[2]
    vectors = [width for width in ("xmm", "ymm", "zmm") if width in operands]
    kinds = ["all", *(vectors or ["general"])]
    kinds += ["memory"] if row.form.partition(" ")[0].endswith("/m") else []
    return [*kinds, "mask"] if "{k}" in operands else kinds


def _details(row: InstructionRow) -> list[object]:
    """Return the texts that `page.js` shows of a row: its key, and for each core latencies, notes and source."""
    cores = []
    for name, figures in row.cores.items():
        latencies = ", ".join(f"{source} → {to}: {cycles}" for to, source, cycles in figures.latencies)
        cores.append([name, latencies, ", ".join(figures.notes), figures.source, figures.derived])
    return [row.form, cores]
