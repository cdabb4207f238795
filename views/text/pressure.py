"""llvm-mca's view of the ports: cycles of an iteration on each, in all and by instruction."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from incc.report import types as t
from incc.views.layout import MIN_TEXT, YELLOW, Layout, unknown_legend


def lines(unit: t.UnitReport, kernel: t.KernelReport, layout: Layout) -> Iterator[str]:
    """Yield the resources, and tables with a column for each."""
    resources = kernel.resources
    yield "Resources:"
    for number, resource in enumerate(resources):
        mark = f"[{number}]"
        yield layout.paint(f"{mark:<5} - {resource.title}", YELLOW if resource.busiest else "")
    yield ""
    yield ""
    heads = [f"[{number}]" for number in range(len(resources))]
    styles = [YELLOW if resource.busiest else "" for resource in resources]
    # llvm-mca's columns are seven wide; narrower ones, with fewer decimals of large numbers, where instructions would
    # be cut to less than is worth reading.
    narrow = bool(layout.width) and layout.width - 7 * len(resources) < MIN_TEXT
    total = [_load(resource.load, narrow) for resource in resources]
    rows = [
        ["X"] * len(resources) if instruction.unknown else [_load(cycles, narrow) for cycles in instruction.pressure]
        for instruction in kernel.instructions
    ]
    column = max(5 if narrow else 7, *(len(cell) + 1 for cells in (heads, total) for cell in cells))

    def row(cells: Sequence[str]) -> str:
        return "".join(layout.paint(f"{c:<{column}}", s) for c, s in zip(cells, styles, strict=True))

    shares = "shared equally between" if kernel.port_assignment == "equal" else "balanced over"
    yield "Resource pressure per iteration:"
    yield row(heads)
    yield row(total)
    yield ""
    if kernel.simulated is not None:
        yield "Simulated, µops per cycle:"
        yield row(heads)
        yield row([_load(count, narrow) for count in kernel.simulated.port_uops])
        yield ""
    yield "Resource pressure by instruction:"
    yield row(heads) + layout.cut("Instructions:", column * len(resources))
    for instruction, cells in zip(kernel.instructions, rows, strict=True):
        yield row(cells) + layout.cut(instruction.text, column * len(resources))
    yield from layout.wrap(f"(cycles, µops {shares} the ports that they may use; -:\xa0none{unknown_legend(kernel)})")


def _load(cycles: float, narrow: bool) -> str:
    text = f"{cycles:.2f}"
    if text == "0.00":
        return " -"
    return text if not narrow or len(text) <= 4 else f"{cycles:.1f}" if len(text) == 5 else f"{cycles:.0f}"
