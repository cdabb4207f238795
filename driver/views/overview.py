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
    kernels = unit["kernels"]
    numbers = {kernel["kernel_id"]: number for number, kernel in enumerate(kernels, 1)}
    columns = [
        Column("#", right=True),
        Column("Line", least=6),
        Column("Function", least=10, gives_way=2),
        Column("Role", least=4, gives_way=3),
        Column("Cycles", right=True),
        Column("/elem.", right=True),
        Column("Bound by", least=8, gives_way=4),
        Column("Vectors"),
        Column("Worth a look", least=8, gives_way=5),
    ]
    rows = [_row(kernel, numbers, layout) for kernel in kernels]
    # A column that says nothing of any kernel is left out.
    used = [n for n, _ in enumerate(columns) if n < 2 or any(row[n] for row in rows)]
    widths = fitted([columns[n] for n in used], [[row[n] for n in used] for row in rows], layout.width)
    yield layout.paint(_line([columns[n] for n in used], [columns[n].title for n in used], widths), BOLD)
    for row in rows:
        yield _line([columns[n] for n in used], [row[n] for n in used], widths)


def _row(kernel: t.Kernel, numbers: dict[str, int], layout: Layout) -> list[str]:
    overview, elements = kernel["overview"], kernel["elements"]
    source = kernel["source"]
    if source:
        place = layout.place(source)
    else:
        place = f"{kernel['first_line']}-{kernel['last_line']}" if kernel["first_line"] else kernel["label"]
    return [
        str(numbers[kernel["kernel_id"]]),
        place,
        # What a user has marked and named is known by that name.
        kernel["name"] if kernel["kind"] == "marker" else _function(kernel),
        _role(kernel, numbers),
        _cycles(kernel),
        f"{elements['cycles']:.2f}" if elements else "",
        overview["limit"],
        overview["vector"],
        overview["look"],
    ]


def _function(kernel: t.Kernel) -> str:
    """The function that the loop is written in, of which the one that it is compiled in may be another."""
    if kernel["inlined_into"] and kernel["source_function"]:
        return kernel["source_function"]
    return kernel["function_name"] or kernel["name"]


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
