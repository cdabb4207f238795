"""The cycles on each changed core that was tried, and from cold starts and at other alignments.

The summary has the changes that gain something. Without the summary, those are shown that were requested by name.
"""

from __future__ import annotations

from collections.abc import Iterator

from incc.report import types as t
from incc.support.text import counted
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


def requested(unit: t.UnitReport, kernel: t.KernelReport, layout: Layout) -> Iterator[str]:
    """Yield the requested simulations whose view is switched off."""
    changed = "what-if" not in layout.views and any(change.asked for change in kernel.what_ifs)
    if changed:
        yield from changes(kernel, layout)
    yield from places(kernel, changed)


def changes(kernel: t.KernelReport, layout: Layout) -> Iterator[str]:
    """Yield the cycles on changed cores, for those that gain something and those that were requested."""
    before = kernel.cycles
    yield "Simulated with a changed core, in cycles per iteration:"
    shown = [w for w in kernel.what_ifs if w.asked or w.gained >= 0.01 * before]
    for change in shown:
        row = f"  {cycles(before):>8} → {cycles(change.cycles):>5}  "
        yield from layout.wrap(change.text, row, " " * len(row))
    rest = [w.text.replace(" ", "\xa0") for w in kernel.what_ifs if w not in shown]
    if rest:
        yield from layout.wrap(", ".join(rest), "  No gain ", "    ")


def places(kernel: t.KernelReport, before: bool) -> Iterator[str]:
    """Yield the requested cold starts and alignments; `before`: other lines come before them."""
    if kernel.cold:
        cold = kernel.cold
        yield f"{counted(cold.iterations, 'iteration')} from a cold start: {counted(cold.cycles, 'cycle')}"
    if kernel.alignments:
        if kernel.cold or before:
            yield ""
        yield "Simulated cycles per iteration by the offset of the first byte within 64 bytes:"
        yield "       " + "".join(f"{f'+{n}':>6}" for n in range(8))
        for first in range(0, 64, 8):
            cells = kernel.alignments[first : first + 8]
            yield f"  {first:>4} " + "".join(f"{cycles(cell.cycles):>6}" for cell in cells)
