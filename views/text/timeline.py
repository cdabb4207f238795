"""llvm-mca's timeline of the first iterations: a line for each instruction, a column for each cycle.

With µops, an instruction of several µops has a line for each, and letters show the resource that a µop waits for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from incc.report import types as t
from incc.views.layout import MIN_TEXT, Layout, unknown_legend


def lines(unit: t.UnitReport, kernel: t.KernelReport, layout: Layout) -> Iterator[str]:
    """Yield the timeline and the average waits in it, nothing without one."""
    timeline = kernel.timeline
    if timeline is None or not timeline.events:
        return
    instructions = kernel.instructions
    margin = max(10, *(len(_index(event)) + 1 for event in timeline.events))
    cycles = timeline.cycles
    if layout.width:
        cycles = min(cycles, max(10, layout.width - margin - 3 - MIN_TEXT))
    yield "Timeline view:"
    if cycles < timeline.cycles:
        yield f"(the first {cycles} of {timeline.cycles} cycles)"
    ruler = ["0123456789"[cycle % 10] for cycle in range(cycles)]
    odd, even = (
        "".join(mark if cycle // 10 % 2 == parity else " " for cycle, mark in enumerate(ruler)) for parity in (1, 0)
    )
    if cycles > 10:
        yield " " * margin + odd
    yield f"{'Index':<{margin}}{even}"
    yield ""
    uops_of: dict[tuple[int, int], list[t.TimelineUop]] = {}
    if layout.uops:
        for uop in timeline.uops:
            uops_of.setdefault((uop.iteration, uop.instruction), []).append(uop)
    for event in timeline.events:
        if event.dispatched >= cycles:
            continue
        instruction = instructions[event.instruction]
        text = ("X " if instruction.unknown else "") + instruction.text
        uops = uops_of.get((event.iteration, event.instruction), [])
        life = _uop_life(uops[0]) if len(uops) == 1 else "" if uops else _life(event)
        row = f"{_index(event):<{margin}}{_marks(life, event.dispatched, cycles)}   "
        note = f"  {_note(uops[0], timeline.uops)}" if len(uops) == 1 else ""
        yield row + layout.cut(text + note, len(row))
        for uop in uops if len(uops) > 1 else ():
            if uop.dispatched < cycles:
                row = f"  {_KINDS[uop.kind]:<{margin - 2}}{_marks(_uop_life(uop), uop.dispatched, cycles)}     "
                yield row + layout.cut(_note(uop, timeline.uops), len(row))
    yield ""
    yield from layout.wrap(_legend(kernel, layout.uops))
    yield ""
    yield ""
    yield "Average Wait times (based on the timeline view):"
    yield "[0]: Executions"
    yield "[1]: Average time spent waiting in a scheduler's queue, in cycles"
    yield "[2]: Average time spent waiting in a scheduler's queue while ready, in cycles"
    yield "[3]: Average time elapsed from WB until retire stage, in cycles"
    yield ""
    yield "      [0]    [1]    [2]    [3]"
    for number, (instruction, wait) in enumerate(zip(instructions, timeline.waits, strict=True)):
        row = f"{f'{number}.':<7}{_wait(wait)}"
        mark = "X " if instruction.unknown else ""
        yield row + layout.cut(mark + instruction.text, len(row))
    yield f"{'':<7}{_wait(timeline.total_wait)}<total>"


_KINDS: dict[t.UopKindName, str] = {
    "load": "load",
    "store-address": "address",
    "store-data": "data",
    "compute": "compute",
    "branch": "branch",
    "renamer": "renamer",
}


def _legend(kernel: t.KernelReport, uops: bool) -> str:
    waits = (
        "=:\xa0on the way to its port, i:\xa0waits for inputs, s:\xa0waits for data to store, "
        "p:\xa0waits for its port, "
        if uops
        else "=:\xa0waiting for inputs, for a port, or on the way to it, "
    )
    rows = "; each µop of an instruction with several has its own row; address and data are the µops of a store"
    return (
        f"(a column is a cycle; D:\xa0dispatched, {waits}e:\xa0executing, E:\xa0executed, "
        f"-:\xa0waiting to retire, R:\xa0retired{rows if uops else ''}{unknown_legend(kernel)})"
    )


def _index(event: t.EventReport | t.TimelineUop) -> str:
    return f"[{event.iteration},{event.instruction}]"


def _life(event: t.EventReport) -> str:
    """Return an instruction's life from its dispatch on, in llvm-mca's letters."""
    return _letters(event.dispatched, [("=", event.started), ("e", event.executed)], event.executed, event.retired)


def _uop_life(uop: t.TimelineUop) -> str:
    """Return a µop's life from its dispatch on."""
    waits = "s" if uop.kind == "store-data" else "i"
    parts = [("=", uop.earliest), (waits, uop.ready), ("p", uop.started), ("e", uop.executed)]
    return _letters(uop.dispatched, parts, uop.executed, uop.retired)


def _letters(dispatched: int, parts: Sequence[tuple[str, int]], executed: int, retired: int) -> str:
    """Return the letter of each cycle from dispatch to retirement; `parts`: letters and the cycles that they end at."""
    life = "D"
    for letter, until in parts:
        life += letter * (min(until, retired) - dispatched - len(life))
    if len(life) == executed - dispatched < retired - dispatched:
        life += "E"
    return life + "-" * (retired - dispatched - len(life)) + "R"


def _marks(life: str, dispatched: int, cycles: int) -> str:
    """Return a row: a life, which may be empty, and a dot in every fifth column outside of it."""
    ground = (".    " * (cycles // 5 + 1))[:cycles]
    end = dispatched + len(life)
    marks = (ground[:dispatched] + life + ground[end:])[:cycles]
    return marks[:-1] + "." if end < cycles else marks


def _note(uop: t.TimelineUop, uops: Sequence[t.TimelineUop]) -> str:
    """Return a µop's port, and the input that it waited for longest."""
    unit = f" and {uop.unit}" if uop.unit else ""
    text = f"port {uop.port}{unit}"
    if uop.last_input is None:
        return text
    last = uop.inputs[uop.last_input]
    producer = uops[last.producer]
    if last.kind == "internal":
        return f"{text}, for its {_KINDS[producer.kind]}"
    return f"{text}, for {last.via} of {_index(producer)}"


def _wait(wait: t.Wait) -> str:
    """Return llvm-mca's four columns."""
    averages = (wait.in_scheduler, wait.in_scheduler_while_ready, wait.until_retire)
    return f"{wait.executions:<6}" + "".join(f"{f'{average:.1f}':<7}" for average in averages) + "   "
