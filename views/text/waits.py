"""The waits of each instruction, and those that it causes."""

from __future__ import annotations

from collections.abc import Iterator

from incc.report import types as t
from incc.views.layout import Layout, cycles


def lines(unit: t.UnitReport, kernel: t.KernelReport, layout: Layout) -> Iterator[str]:
    """Yield a row for each instruction, nothing if waits were not requested."""
    if kernel.waits is None:
        return
    yield "Waiting times in cycles per iteration:"
    yield "[1]: Waited"
    yield "[2]:   for inputs"
    yield "[3]:   for a port or unit"
    yield "[4]: Caused others to wait"
    yield ""
    yield "[1]      [2]      [3]      [4]      Instructions:"
    for instruction, wait in zip(kernel.instructions, kernel.waits.instructions, strict=True):
        waited = wait.had_to_wait, wait.for_inputs, wait.for_ports, wait.caused_to_wait
        cells = ["X" if instruction.unknown else cycles(value) for value in waited]
        row = "".join(f"{cell:<9}" for cell in cells)
        yield row + layout.cut(instruction.text, len(row))
