"""The critical path of one iteration step by step: the cycles of each instruction, and the value that it passes on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from incc.report import types as t
from incc.views.layout import BOLD, Layout
from incc.views.text.dependencies import is_compiled, line_numbers


def lines(unit: t.UnitReport, kernel: t.KernelReport, layout: Layout) -> Iterator[str]:
    """Yield a row for each instruction on the path, in its order."""
    path = kernel.critical_path
    yield from layout.wrap(
        f"Critical path, {path.cycles} cycles for one iteration on its own:"
        if path.instructions
        else "No critical path: no instruction has a latency."
    )
    # An instruction that passes a value on in two steps, as one that loads it first, has one row.
    arrives = {step.to: step for step in path.steps if step.kind != "internal"}
    steps = [
        (instruction, kernel.instructions[instruction].critical_path_cycles or 0, arrives.get(instruction))
        for instruction in path.instructions
    ]
    if steps:
        yield from step_rows(unit, kernel, steps, layout)


def step_rows(
    unit: t.UnitReport,
    kernel: t.KernelReport,
    steps: Sequence[tuple[int, int, t.StepReport | None]],
    layout: Layout,
    indent: str = "",
) -> Iterator[str]:
    """Yield a table of the instructions on a path, with the cycles of each and the origin of its input."""
    title, numbers = line_numbers(kernel.instructions, is_compiled(unit, kernel))
    names = [str(number) for number in numbers]
    carried = [(step.via or "memory", _origin(step, names)) if step else ("", "") for _, _, step in steps]
    heads = (title, "Cycles", "Ready", "Through", "From")
    cells = []
    ready = 0
    for (instruction, takes, _), (via, origin) in zip(steps, carried, strict=True):
        ready += takes
        cells.append((names[instruction], str(takes), str(ready), via, origin))
    widths = [max(len(row[n]) for row in (heads, *cells)) for n in range(len(heads))]
    # A single instruction has nothing from another one.
    shown = [n for n in range(len(heads)) if n < 3 or any(row[n] for row in cells)]
    # The sum so far gives way to the text of instructions.
    longest = max(len(kernel.instructions[instruction].text) for instruction, _, _ in steps)
    if 0 < layout.width < len(indent) + sum(widths[n] + 2 for n in shown) + longest:
        shown.remove(2)

    def row(texts: Sequence[str]) -> str:
        parts = [f"{texts[n]:>{widths[n]}}" if n < 3 else f"{texts[n]:<{widths[n]}}" for n in shown]
        return f"{indent}{'  '.join(parts)}  "

    head = row(heads)
    yield layout.paint(f"{head}Instructions:", BOLD)
    for texts, (instruction, _, _) in zip(cells, steps, strict=True):
        yield row(texts) + layout.cut(kernel.instructions[instruction].text, len(head))


def _origin(step: t.StepReport, names: Sequence[str]) -> str:
    """Return the instruction that a value comes from, with the iterations between."""
    return names[step.producer] + (f" (it. -{step.distance})" if step.distance else "")
