"""The waits of the instructions in some lines: their inputs and ports, and the instructions that wait for them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from incc.report import types as t
from incc.report.source.places import NamedLine, is_at
from incc.views.layout import Layout, cycles
from incc.views.text.dependencies import is_compiled


def lines(unit: t.UnitReport, kernel: t.KernelReport, layout: Layout, places: Sequence[NamedLine]) -> Iterator[str]:
    """Yield the details of the instructions at some places, nothing without a simulation."""
    waits = kernel.waits
    if waits is None:
        return
    for chosen in kernel.instructions:
        if not any(is_at(chosen, unit, place) for place in places):
            continue
        own = waits.instructions[chosen.index]
        yield ""
        yield layout.cut(f"{_place(is_compiled(unit, kernel), chosen, layout)}: {chosen.text}", 0)
        yield f"  waited {own.had_to_wait:.2f}, made others wait {own.caused_to_wait:.2f} cycles per iteration"
        yield from _partners(unit, kernel, layout, chosen.index)
        waited = {w.resource: w.cycles for w in waits.ports if w.instruction == chosen.index}
        caused = {w.resource: w.cycles for w in waits.blocked if w.instruction == chosen.index}
        names = [r.name for r in kernel.resources if r.name in waited or r.name in caused]
        if names:
            yield "  Port    waited  caused"
            for name in names:
                yield f"  {name:<4}  {waited.get(name, 0):>8.2f}  {caused.get(name, 0):>6.2f}"


def _place(compiled: bool, instruction: t.InstructionReport, layout: Layout) -> str:
    source = layout.place(instruction.source) if instruction.source else ""
    if not compiled:
        return f"Line {instruction.line}{f' ({source})' if source else ''}"
    return f"{source}, asm {instruction.line}" if source else f"asm {instruction.line}"


def _partners(unit: t.UnitReport, kernel: t.KernelReport, layout: Layout, index: int) -> Iterator[str]:
    """Yield an instruction's partners in dependencies, with latencies and waits in both directions."""
    sources = {d.producer: d.latency for d in reversed(kernel.dependencies) if d.to == index}
    targets = {d.to: d.latency for d in reversed(kernel.dependencies) if d.producer == index}
    inputs = kernel.waits.inputs if kernel.waits else []
    waited = {w.producer: w.cycles for w in inputs if w.instruction == index}
    caused = {w.instruction: w.cycles for w in inputs if w.producer == index}
    partners = sorted({*sources, *targets, *waited, *caused})
    if not partners:
        yield "  no dependencies"
        return
    title = " asm" if is_compiled(unit, kernel) else "Line"
    yield f"  {title}  latency from    to    waited    caused   Instructions:"
    for partner in partners:
        instruction = kernel.instructions[partner]
        from_there, to_there = (str(table.get(partner, "-")) for table in (sources, targets))
        row = f"  {instruction.line:>4}  {from_there:>12}  {to_there:>4}"
        row += f"  {cycles(waited.get(partner, 0)):>8}  {cycles(caused.get(partner, 0)):>8}   "
        yield row + layout.cut(instruction.text, len(row))
