"""The instructions of each source line under the line, with its cost: its use of the resource that limits the loop."""

from __future__ import annotations

from collections.abc import Iterator

from incc.report import types as t
from incc.views.layout import BOLD, Layout, cycles
from incc.views.text.dependencies import is_compiled


def lines(unit: t.UnitReport, kernel: t.KernelReport, layout: Layout) -> Iterator[str]:
    """Yield the source lines, most expensive first, each with its instructions in the order of execution."""
    what, costs = _costs(kernel)
    compiled = is_compiled(unit, kernel)
    of_line: dict[tuple[str, int], list[t.InstructionReport]] = {}
    for instruction in kernel.instructions:
        at = instruction.source
        of_line.setdefault((at.file, at.line) if at else ("", 0), []).append(instruction)
    yield from layout.wrap(f"Source lines with their instructions, most expensive first, in {what}:")
    ranked = sorted(of_line.items(), key=lambda item: -sum(costs[i.index] for i in item[1]))
    for (file, number), instructions in ranked:
        text = layout.sources.get(file, {}).get(number, "").strip()
        place = f"{layout.file(file)}:{number}" if file else "no line of the source"
        cost = cycles(sum(costs[i.index] for i in instructions))
        yield layout.paint(layout.cut(f"{cost:>7}  {place}  {text}".rstrip(), 0), BOLD)
        for instruction in instructions:
            line = f"asm {instruction.line}" if compiled else str(instruction.line or instruction.index)
            row = f"{cycles(costs[instruction.index]):>16}  {line:>8}  "
            yield row + layout.cut(instruction.text, len(row))


def _costs(kernel: t.KernelReport) -> tuple[str, list[float]]:
    """Return the unit of the costs in words, and the cost of each instruction in cycles per iteration."""
    limits = kernel.bounds.prediction.limited_by
    instructions = kernel.instructions
    if "loop_carried" in limits and kernel.chains:
        around = kernel.chains[0].iterations
        return (
            "cycles of the loop-carried chain, which limits the loop",
            [(i.chain_cycles or 0) / around for i in instructions],
        )
    chosen = []
    if "port" in limits:
        chosen = [n for n, resource in enumerate(kernel.resources) if resource.busiest]
    elif "divider" in limits:
        units = [n for n, resource in enumerate(kernel.resources) if resource.kind == "unit"]
        chosen = [max(units, key=lambda n: kernel.resources[n].load)]
    if chosen:
        what = "divider" if "port" not in limits else "port" if len(chosen) == 1 else "ports"
        names = ", ".join(kernel.resources[n].name for n in chosen)
        return (
            f"cycles on {what} {names}, which limit{'s' if len(chosen) == 1 else ''} the loop",
            [sum(i.pressure[n] for n in chosen) / len(chosen) for i in instructions],
        )
    # The front end and retirement process µops; if the cycles exceed all bounds, no other limit is known.
    each = kernel.dispatch_width
    return f"cycles of the front end, {each} µops each", [i.issue_slots / each for i in instructions]
