"""Bottleneck analysis: cycles with increasing back-end pressure, their causes, and the critical sequence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec.structs import asdict

from incc.report import types as t
from incc.views.llvm_mca.columns import padded, percent
from incc.views.llvm_mca.requested import Views
from incc.views.llvm_mca.resources import llvm_name

INSTRUCTION, DEPENDENCY = 14, 58
_CARRIED = (" |", " |    < loop carried > ", " |")


def lines(kernel: t.KernelReport, views: Views) -> Iterator[str]:
    """Yield the causes with their shares of all cycles, then the instructions with arrows along the sequence."""
    run: Any = kernel.cold
    pressure = run.pressure
    if pressure is None:
        return
    # Pressure is a bottleneck only if the back end stalled dispatch.
    stalled = any(cycles for cause, cycles in asdict(run.stalls).items() if cause != "front_end")
    if not pressure.increase or not stalled:
        yield "No resource or data dependency bottlenecks discovered."
        return

    def part(cycles: int) -> str:
        return f"[ {percent(cycles, run.cycles, 2)}% ]"

    registers, memory = pressure.registers, pressure.memory
    yield f"Cycles with backend pressure increase {part(pressure.increase)}"
    yield "Throughput Bottlenecks: "
    yield f"  Resource Pressure       {part(pressure.resources)}"
    for each in pressure.by_resource:
        yield f"  - {llvm_name(kernel, each.resource)}  {part(each.cycles)}"
    yield f"  Data Dependencies:      {part(pressure.data)}"
    yield f"  - Register Dependencies {part(registers)}"
    yield f"  - Memory Dependencies   {part(memory)}"
    steps = _instructions(pressure.sequence)
    if len(steps) > 1:
        yield ""
        yield "Critical sequence based on the simulation:"
        yield ""
        yield padded(padded("", INSTRUCTION) + "Instruction", DEPENDENCY) + "Dependency Information"
        yield from _sequence(kernel, steps)


def _instructions(sequence: Sequence[t.SequenceStepReport]) -> list[t.SequenceStepReport]:
    """Return the steps between different instructions; steps between the µops of one have no row."""
    steps: list[t.SequenceStepReport] = []
    for step in sequence:
        place = (step.instruction, step.iteration_offset)
        if not steps or place != (steps[-1].instruction, steps[-1].iteration_offset):
            steps.append(step)
    return steps


def _sequence(kernel: t.KernelReport, steps: Sequence[t.SequenceStepReport]) -> Iterator[str]:
    """Yield the instructions in order: those of the sequence with an arrow, those between with a line at the left.

    `loop carried` precedes a step into another iteration. After it, unless it is the first step, llvm-mca shows only
    instructions of the sequence. The same holds after a step back to an earlier instruction of the same iteration, as
    one may wait for a port.
    """
    count = len(kernel.instructions)

    def row(lead: str, instruction: int) -> str:
        return padded(f"{lead}{instruction}.", INSTRUCTION) + kernel.instructions[instruction].text

    first, iteration = steps[0].instruction, steps[0].iteration_offset
    following = 0  # the next row between the steps; `count` once only the sequence is shown
    if steps[1].iteration_offset == iteration:
        for instruction in range(first):
            yield row("        ", instruction)
        following = first + 1
    yield row(" +----< ", first)
    for n, step in enumerate(steps[1:]):
        target = step.instruction
        carried = step.iteration_offset != iteration
        iteration = step.iteration_offset
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


def _dependency(kernel: t.KernelReport, step: t.SequenceStepReport) -> str:
    if step.kind == "memory":
        return "## MEMORY dependency."
    if step.kind == "register":
        return f"## REGISTER dependency:  {_register(kernel, step.via)}"
    name = step.via
    for index, resource in enumerate(kernel.resources):
        if resource.name == name:
            name = llvm_name(kernel, index)
            break
    # llvm-mca counts iterations; the step of a simulated sequence did happen.
    return f"## RESOURCE interference:  {name} [ probability: 100% ]"


def _register(kernel: t.KernelReport, name: str) -> str:
    """Return LLVM's name of a register: all flags are one, and a % precedes it if the instructions have any."""
    if name.startswith("flag"):
        name = "eflags"
    in_att_syntax = any("%" in instruction.text for instruction in kernel.instructions)
    return f"%{name}" if in_att_syntax and not name.startswith("%") else name
