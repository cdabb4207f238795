"""The overview that a report begins with: a row for each kernel, numbered as the parts that follow."""

from __future__ import annotations

from incc.driver.views.layout import BOLD, Column, fitted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from incc.driver.report import types as t
    from incc.driver.views.layout import Layout


def lines(unit: t.Unit, layout: Layout) -> Iterator[str]:
    """The table of a unit's kernels, with the meaning of its columns where that is not plain."""
    numbers = {kernel["kernel_id"]: number for number, kernel in enumerate(unit["kernels"], 1)}
    columns = [
        Column("#", right=True),
        Column("Line", least=6, gives_way=1),
        Column("Function", least=10, gives_way=2),
        Column("Role", least=4, gives_way=3),
        Column("Cycles", right=True),
        Column("/elem.", right=True),
        Column("Bound by", least=8, gives_way=4),
        Column("Vectors"),
        Column("Worth a look", least=5, gives_way=5),
    ]
    rows = [
        [f"{alike[0]}-{alike[-1]}" if len(alike) > 1 else str(alike[0]), *row]
        for alike, row in _alike([_row(kernel, numbers, layout) for kernel in unit["kernels"]])
    ]
    # A column that says nothing of any kernel is left out.
    used = [n for n, _ in enumerate(columns) if n < 2 or any(row[n] for row in rows)]
    widths = fitted([columns[n] for n in used], [[row[n] for n in used] for row in rows], layout.width)
    yield layout.paint(_line([columns[n] for n in used], [columns[n].title for n in used], widths), BOLD)
    for row in rows:
        yield _line([columns[n] for n in used], [row[n] for n in used], widths)


def alike(unit: t.Unit, layout: Layout) -> list[list[int]]:
    """The numbers of kernels that have one row together: those next to each other of which there is the same to say,
    such as the copies that a compiler makes of a loop."""
    numbers = {kernel["kernel_id"]: number for number, kernel in enumerate(unit["kernels"], 1)}
    return [together for together, _ in _alike([_row(kernel, numbers, layout) for kernel in unit["kernels"]])]


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


def _row(kernel: t.Kernel, numbers: dict[str, int], layout: Layout) -> list[str]:
    """The cells of a kernel's row but its number."""
    overview, elements = kernel["overview"], kernel["elements"]
    source = kernel["source"]
    if source:
        place = layout.place(source)
    else:
        place = f"{kernel['first_line']}-{kernel['last_line']}" if kernel["first_line"] else kernel["label"]
    return [
        place,
        # What a user has marked and named is known by that name.
        kernel["name"] if kernel["kind"] == "marker" else overview["function"],
        _role(kernel, numbers),
        _cycles(kernel),
        f"{elements['cycles']:.2f}" if elements else "",
        overview["limit"],
        overview["vector"],
        overview["look"],
    ]


def _role(kernel: t.Kernel, numbers: dict[str, int]) -> str:
    role = kernel["role"]
    if role["name"] in ("", "main"):
        return "" if kernel["is_loop"] else "no loop"
    return f"{role['name']} ({numbers[role['of']]})" if role["of"] in numbers else role["name"]


def _cycles(kernel: t.Kernel) -> str:
    """The prediction, or its two ends; at least so many where something is not counted."""
    spread = kernel["range"]
    text = f"{kernel['cycles']:.2f}"
    if spread is not None:
        most = "" if spread["most"] is None else f"{spread['most']:.2f}"
        text = f"{spread['least']:.2f}–{most}"
    return f"≥ {text}" if kernel["at_least"] else text


def _line(columns: Sequence[Column], cells: Sequence[str], widths: Sequence[int]) -> str:
    """A row of cells in columns of these widths."""
    parts = []
    for column, cell, width in zip(columns, cells, widths, strict=True):
        cut = cell if len(cell) <= width else cell[: max(width - 1, 0)] + "…"
        parts.append(f"{cut:>{width}}" if column.right else f"{cut:<{width}}")
    return "  ".join(parts).rstrip()
