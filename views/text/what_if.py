"""The cycles on each changed core that was tried; the summary has only those that gain something."""

from __future__ import annotations

from collections.abc import Iterator

from incc.report import types as t
from incc.views.layout import BOLD, Layout, cycles, percent


def lines(unit: t.UnitReport, kernel: t.KernelReport, layout: Layout) -> Iterator[str]:
    """Yield a row for each change, those with the fewest cycles first."""
    if not kernel.what_ifs:
        why = "nothing was simulated" if kernel.simulated is None else "no change was tried"
        yield f"No changed core: {why}."
        return
    before = kernel.cycles
    yield f"Simulated with a changed core ({cycles(before)} cycles per iteration unchanged):"
    yield layout.paint("  Cycles    Gain  The core", BOLD)
    for change in kernel.what_ifs:
        share = percent(change.gained / before).replace("\xa0", " ") if before else ""
        # A difference by rounding alone is no gain or loss.
        gain = share if abs(change.gained) >= 0.005 else "-"
        row = f"{cycles(change.cycles):>8}  {gain:>6}  "
        text = f"{change.text}{' (requested)' if change.asked else ''}"
        yield from layout.wrap(text, row, " " * len(row), style=BOLD if change.gained >= 0.01 * before else "")
