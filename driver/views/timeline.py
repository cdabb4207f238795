"""llvm-mca's timeline of the first iterations: one line for each instruction, one column for each cycle."""

from __future__ import annotations

from incc.driver.views.layout import MIN_TEXT, unknown_legend

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from incc.driver.report import types as t
    from incc.driver.views.layout import Layout


def lines(unit: t.Unit, kernel: t.Kernel, layout: Layout) -> Iterator[str]:
    """The timeline and the average waits in it; nothing where there is none."""
    timeline = kernel["timeline"]
    if timeline is None or not timeline["events"]:
        return
    instructions = kernel["instructions"]
    margin = max(10, *(len(_index(event)) + 1 for event in timeline["events"]))
    cycles = timeline["cycles"]
    if layout.width:
        cycles = min(cycles, max(10, layout.width - margin - 3 - MIN_TEXT))
    yield "Timeline view:"
    if cycles < timeline["cycles"]:
        yield f"(the first {cycles} of {timeline['cycles']} cycles)"
    ruler = ["0123456789"[cycle % 10] for cycle in range(cycles)]
    odd, even = (
        "".join(mark if cycle // 10 % 2 == parity else " " for cycle, mark in enumerate(ruler)) for parity in (1, 0)
    )
    if cycles > 10:
        yield " " * margin + odd
    yield f"{'Index':<{margin}}{even}"
    yield ""
    for event in timeline["events"]:
        if event["dispatched"] >= cycles:
            continue
        row = f"{_index(event):<{margin}}{_life(event, cycles)}   "
        instruction = instructions[event["instruction"]]
        mark = "X " if instruction["unknown"] else ""
        yield row + layout.cut(mark + instruction["text"], len(row))
    yield ""
    yield from layout.wrap(
        "(a column is a cycle; D:\xa0dispatched, =:\xa0on the way to a port or waiting for it or for inputs, "
        "e:\xa0executing, E:\xa0executed, "
        f"-:\xa0waiting to retire, R:\xa0retired{unknown_legend(kernel)})"
    )
    yield ""
    yield ""
    yield "Average Wait times (based on the timeline view):"
    yield "[0]: Executions"
    yield "[1]: Average time spent waiting in a scheduler's queue, in cycles"
    yield "[2]: Average time spent waiting in a scheduler's queue while ready, in cycles"
    yield "[3]: Average time elapsed from WB until retire stage, in cycles"
    yield ""
    yield "      [0]    [1]    [2]    [3]"
    for number, (instruction, wait) in enumerate(zip(instructions, timeline["waits"], strict=True)):
        row = f"{f'{number}.':<7}{_wait(wait)}"
        mark = "X " if instruction["unknown"] else ""
        yield row + layout.cut(mark + instruction["text"], len(row))
    yield f"{'':<7}{_wait(timeline['total_wait'])}<total>"


def _index(event: t.Event) -> str:
    return f"[{event['iteration']},{event['instruction']}]"


def _life(event: t.Event, cycles: int) -> str:
    """One line of the timeline in llvm-mca's letters, a dot in every fifth column outside the instruction's life."""
    dispatched, started, executed = event["dispatched"], event["started"], event["executed"]
    retired = event["retired"]
    marks = []
    for cycle in range(cycles):
        if cycle < dispatched or cycle > retired:
            mark = "." if cycle % 5 == 0 or (cycle == cycles - 1 and cycle > retired) else " "
        elif cycle == dispatched:
            mark = "D"
        elif cycle == retired:
            mark = "R"
        elif cycle == executed:
            mark = "E"
        elif cycle < started:
            mark = "="
        else:
            mark = "e" if cycle < executed else "-"
        marks.append(mark)
    return "".join(marks)


def _wait(wait: t.Wait) -> str:
    """llvm-mca's four columns."""
    averages = (wait["in_scheduler"], wait["in_scheduler_while_ready"], wait["until_retire"])
    return f"{wait['executions']:<6}" + "".join(f"{f'{average:.1f}':<7}" for average in averages) + "   "
