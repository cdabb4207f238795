"""Bottleneck analysis: in how many cycles the pressure on the back end grew, what by, and the critical sequence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from incc.views.llvm_mca.columns import padded, rounded, share
from incc.views.llvm_mca.resources import called
from incc.views.llvm_mca.run import statistics

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from incc.report import types as t
    from incc.views.llvm_mca.asked import Options

INSTRUCTION, DEPENDENCY = 14, 58
_CARRIED = (" |", " |    < loop carried > ", " |")


def lines(unit: t.Unit, kernel: t.Kernel, options: Options) -> Iterator[str]:
    """Shares of all cycles, then the instructions with arrows along the sequence."""
    run = statistics(kernel)
    if run is None or run["pressure"] is None:
        return
    pressure = run["pressure"]
    yield ""
    yield ""
    # What piles up is no bottleneck as long as it holds up nothing: the front end is none of the back end's causes.
    held_up = any(cycles for cause, cycles in run["stalls"].items() if cause != "front_end")
    if not pressure["increase"] or not held_up:
        yield "No resource or data dependency bottlenecks discovered."
        return

    def part(cycles: int) -> str:
        return f"[ {rounded(share(cycles, run['cycles']), 2)}% ]"

    registers, memory = pressure["registers"], pressure["memory"]
    yield f"Cycles with backend pressure increase {part(pressure['increase'])}"
    yield "Throughput Bottlenecks: "
    yield f"  Resource Pressure       {part(pressure['resources'])}"
    for each in pressure["by_resource"]:
        yield f"  - {called(kernel, each['resource'])}  {part(each['cycles'])}"
    yield f"  Data Dependencies:      {part(pressure['data'])}"
    yield f"  - Register Dependencies {part(registers)}"
    yield f"  - Memory Dependencies   {part(memory)}"
    steps = _instructions(pressure["sequence"])
    if len(steps) > 1:
        yield ""
        yield "Critical sequence based on the simulation:"
        yield ""
        yield padded(padded("", INSTRUCTION) + "Instruction", DEPENDENCY) + "Dependency Information"
        yield from _sequence(kernel, steps)


def _instructions(sequence: Sequence[Any]) -> list[Any]:
    """The steps from one instruction to another: those between the µops of one have no row."""
    steps: list[Any] = []
    for step in sequence:
        if not steps or any(step[key] != steps[-1][key] for key in ("instruction", "iteration_offset")):
            steps.append(step)
    return steps


def _sequence(kernel: t.Kernel, steps: Sequence[Any]) -> Iterator[str]:
    """The instructions in their order, those of the sequence with an arrow, those between with a line at the left.

    A step into another iteration has the mark `loop carried` before it. From then on llvm-mca shows the instructions of
    the sequence alone, unless that is its first step; and so it is done here behind a step that goes back to an earlier
    instruction of the same iteration, as one may that waits for a port.
    """
    count = len(kernel.instructions)

    def row(lead: str, instruction: int) -> str:
        return padded(f"{lead}{instruction}.", INSTRUCTION) + kernel.instructions[instruction].text

    first, iteration = steps[0]["instruction"], steps[0]["iteration_offset"]
    following = 0  # the instruction whose row is next, `count` when there are none any more
    if steps[1]["iteration_offset"] == iteration:
        for instruction in range(first):
            yield row("        ", instruction)
        following = first + 1
    yield row(" +----< ", first)
    for n, step in enumerate(steps[1:]):
        target = step["instruction"]
        carried = step["iteration_offset"] != iteration
        iteration = step["iteration_offset"]
        if carried and not n:
            yield from _CARRIED
            carried = False
        onward = not carried and target >= following
        if onward or carried:
            for instruction in range(following, target if onward else count):
                yield row(" |      ", instruction)
        if carried:
            yield from _CARRIED
        yield padded(row(" +----> ", target), DEPENDENCY) + _dependency(kernel, step)
        following = target + 1 if onward else count
    for instruction in range(following, count):
        yield row("        ", instruction)


def _dependency(kernel: t.Kernel, step: Any) -> str:
    if step["kind"] == "memory":
        return "## MEMORY dependency."
    if step["kind"] == "register":
        return f"## REGISTER dependency:  {_register(kernel, step['via'])}"
    name = step["via"]
    for index, resource in enumerate(kernel.resources):
        if resource.name == name:
            name = called(kernel, index)
            break
    # A report that does not tell has those that are always there.
    return f"## RESOURCE interference:  {name} [ probability: {step.get('probability', 100)}% ]"


def _register(kernel: t.Kernel, name: str) -> str:
    """As LLVM's printer has it: all flags are one register, and the text around it says whether there is a mark."""
    if name.startswith("flag"):
        name = "eflags"
    marked = any("%" in instruction.text for instruction in kernel.instructions)
    return f"%{name}" if marked and not name.startswith("%") else name
