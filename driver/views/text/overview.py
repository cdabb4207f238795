"""The overview that a report begins with: a row for each kernel, numbered as the parts that follow."""

from __future__ import annotations

from typing import TYPE_CHECKING

from incc.driver.views.layout import Column, each
from incc.driver.views.table import table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from incc.driver.report import types as t
    from incc.driver.views.layout import Layout


def lines(unit: t.Unit, layout: Layout) -> Iterator[str]:
    """The table of a unit's kernels, with the meaning of its columns where that is not plain."""
    numbers = {kernel["kernel_id"]: number for number, kernel in enumerate(unit["kernels"], 1)}
    columns = [
        Column("#", right=True),
        Column("Line", glad=12, least=5, gives_way=2),
        Column("Function", glad=12, least=8, gives_way=3, ample=26),
        Column("Role", glad=9, least=5, gives_way=1),
        Column("Cycles", right=True),
        Column("Measured", right=True),
        Column("/elem.", right=True),
        Column("GFLOP/s", right=True),
        Column("GB/s", right=True),
        Column("Bound by", glad=11, least=6, gives_way=5),
        Column("Vectors", glad=7, least=6, gives_way=6),
        Column("Worth a look", glad=12, least=6, gives_way=4),
    ]
    rows = [
        [f"{alike[0]}-{alike[-1]}" if len(alike) > 1 else str(alike[0]), *row]
        for alike, row in _alike([_with_rates(row_of(unit, k, numbers, layout), k) for k in unit["kernels"]])
    ]
    # Where not even narrow columns have room, the table goes without some.
    yield from table(columns, rows, layout, ("Vectors", "Worth a look", "Bound by"))


def _with_rates(row: list[str], kernel: t.Kernel) -> list[str]:
    """Return a row with a kernel's rates before what limits it."""
    rates = kernel["rates"]
    per_second = (rates["gflop_per_second"], rates["gigabytes_per_second"]) if rates else (None, None)
    return [*row[:6], *("" if rate is None else f"{rate:.1f}" for rate in per_second), *row[6:]]


def alike(unit: t.Unit, layout: Layout) -> list[list[int]]:
    """The numbers of kernels that have one row together: those next to each other of which there is the same to say,
    such as the copies that a compiler makes of a loop."""
    numbers = {kernel["kernel_id"]: number for number, kernel in enumerate(unit["kernels"], 1)}
    return [together for together, _ in _alike([row_of(unit, kernel, numbers, layout) for kernel in unit["kernels"]])]


def _alike(rows: Sequence[list[str]]) -> list[tuple[list[int], list[str]]]:
    found: list[tuple[list[int], list[str]]] = []
    for number, row in enumerate(rows, 1):
        # Where there is no line of the source, each has its own lines of the assembly. Copies may carry their chains in
        # other registers.
        if found and _but_registers(found[-1][1]) == _but_registers(row):
            found[-1][0].append(number)
        else:
            found.append(([number], row))
    return found


def _but_registers(row: list[str]) -> list[str]:
    return ["chain" if cell.startswith("chain ") else cell for cell in row]


def row_of(unit: t.Unit, kernel: t.Kernel, numbers: dict[str, int], layout: Layout) -> list[str]:
    """The cells of a kernel's row but its number."""
    overview, elements = kernel["overview"], kernel["elements"]
    source = kernel["source"]
    if source:
        # The source that is compiled is named above.
        here = unit["source"] and layout.file(source["file"]) == layout.file(unit["source"])
        place = str(source["line"]) if here else layout.place(source)
    else:
        place = f"{kernel['first_line']}-{kernel['last_line']}" if kernel["first_line"] else kernel["label"]
    return [
        place,
        # What a user has marked and named is known by that name.
        kernel["name"] if kernel["kind"] == "marker" else overview["function"],
        _role(kernel, numbers),
        cycles_of(kernel),
        measured(kernel),
        each(elements["cycles"]) if elements else "",
        overview["limit"],
        overview["vector"],
        overview["look"],
    ]


def _role(kernel: t.Kernel, numbers: dict[str, int]) -> str:
    role = kernel["role"]
    if role["name"] in ("", "main"):
        return "" if kernel["is_loop"] else "no loop"
    return f"{role['name']} ({numbers[role['of']]})" if role["of"] in numbers else role["name"]


def measured(kernel: t.Kernel) -> str:
    """What was measured, a dash where that failed, nothing where it was not asked for."""
    found = kernel["measured"]
    if found is None:
        return ""
    return "-" if found["cycles"] is None else f"{found['cycles']:.2f}"


def cycles_of(kernel: t.Kernel) -> str:
    """The prediction, or its two ends; at least so many where something is not counted."""
    spread = kernel["range"]
    text = f"{(spread['least'] if spread else kernel['cycles']):.2f}"
    # That there is no upper end is said by the sign already.
    if spread is not None and not (kernel["at_least"] and spread["most"] is None):
        most = "?" if spread["most"] is None else f"{spread['most']:.2f}"
        text = f"{spread['least']:.2f}–{most}"
    return f"≥ {text}" if kernel["at_least"] else text
