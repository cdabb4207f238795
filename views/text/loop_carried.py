"""Each loop-carried dependency step by step: its instructions in order, with latencies and the values passed on."""

from __future__ import annotations

from collections.abc import Iterator

from incc.report import types as t
from incc.support.text import counted
from incc.views.layout import BOLD, RED, Layout, cycles
from incc.views.text.critical_path import step_rows


def lines(unit: t.UnitReport, kernel: t.KernelReport, layout: Layout) -> Iterator[str]:
    """Yield a table for each chain, the longest first."""
    chains = kernel.chains
    if not chains:
        yield "No loop-carried dependencies."
        return
    yield from layout.wrap(f"{counted(len(chains), 'loop-carried chain')}, with the cycles of one round:")
    for number, chain in enumerate(chains, 1):
        yield ""
        ratio = f"{cycles(chain.cycles_per_iteration.cycles)} cycles per iteration"
        if chain.iterations > 1:
            ratio += f", {chain.latency} over {chain.iterations} iterations"
        title = f"[{number}] {ratio}, through {', '.join(chain.through)}"
        yield from layout.wrap(title, "", "    ", style=RED if number == 1 else BOLD)
        yield from step_rows(unit, kernel, _around(chain), layout, "    ")
    if not kernel.chains_complete:
        yield ""
        yield from layout.wrap("There are more chains than the search lists; the longest is among these.")


def _around(chain: t.ChainReport) -> list[tuple[int, int, t.StepReport | None]]:
    """Return the instructions of a chain in order, with the cycles of each and the step that brings its input.

    The first one has its input from an earlier iteration. An instruction includes the work on its own load.
    """
    steps = chain.steps
    first = next((n for n, step in enumerate(steps) if step.distance), 0)
    around: list[tuple[int, int, t.StepReport | None]] = []
    for step in (*steps[first:], *steps[:first]):
        if step.kind == "internal" and around and around[-1][0] == step.to:
            instruction, takes, arrives = around[-1]
            around[-1] = instruction, takes + step.latency, arrives
        else:
            around.append((step.to, step.latency, step))
    return around
