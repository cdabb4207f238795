"""The simulation does not depend on how ports are numbered: only the order that the model gives them matters."""

from __future__ import annotations

import random
import runpy
from pathlib import Path

import pytest
from generated_kernels import some_body
from msgspec.structs import replace

from bind_kernels import apart
from bind_kernels import kernel as decoded
from incc.core import Simulation, analyze, simulate, whatif
from incc.models.binding import bound as b
from incc.models.binding.bind import bind
from incc.models.loading import load

CORES = ["sandybridge", "haswell", "skylake", "icelake-client", "sapphirerapids"]
CORES += ["znver3", "znver4", "znver5", "bonnell"]
BODIES = [
    *[some_body(seed) for seed in range(12)],
    "divsd %xmm0, %xmm1; add %rax, %rbx; mov %rbx, (%rsi); mov 8(%rsi), %rcx",
    "push %rax; pop %rcx; mov %ah, %dl; add %rax, %rsp; movzx %dl, %ebx; mov %rax, %r8",
    "movups -8(%rax), %xmm1; addps %xmm1, %xmm2; movups %xmm2, (%rbx); add $16, %rax",
]
PORT_SETS = ("alternating", "picked_from", "queued_at", "scheduler_ports", "limited_ports", "move_ports")
PORT_SETS += ("groups_in_turn",)
PORT_SET = ("slot_set", "waiting_ports", "ports_at_start", "renamer_ports")


def permuted(k: b.BoundKernel, number: list[int]) -> b.BoundKernel:
    """The kernel on a core whose port p has the number number[p], and whose rules go by the old order."""

    def mask(ports: int) -> int:
        kept = ports >> k.n_ports << k.n_ports
        return kept | sum(1 << number[p] for p in range(k.n_ports) if ports >> p & 1)

    result = whatif.copy(k)
    pipeline = result.pipeline
    assert pipeline is not None
    result.uop_ports = [mask(ports) for ports in k.uop_ports]
    for name in PORT_SETS:
        setattr(pipeline, name, [mask(ports) for ports in getattr(pipeline, name)])
    for name in PORT_SET:
        setattr(pipeline, name, mask(getattr(pipeline, name)))
    pipeline.slot_ports = [number[p] for p in pipeline.slot_ports]
    pipeline.port_order = number
    return result


def in_old_numbers(s: Simulation, number: list[int]) -> Simulation:
    old = {new: p for p, new in enumerate(number)}

    def port(p: int) -> int:
        return old.get(p, p)

    return replace(
        s,
        port_uops=tuple(s.port_uops[number[p]] if p < len(number) else n for p, n in enumerate(s.port_uops)),
        events=tuple(replace(e, ports=tuple(map(port, e.ports))) for e in s.events),
        started=tuple(replace(u, port=port(u.port)) for u in s.started),
    )


@pytest.mark.parametrize("cpu", CORES)
def test_renumbered_ports_change_nothing(cpu: str) -> None:
    model = load(cpu)
    for seed, body in enumerate(BODIES):
        k, _ = bind(decoded(f"1: {body}; dec %r15; jne 1b"), model)
        number = list(range(k.n_ports))
        random.Random(seed).shuffle(number)
        other = permuted(k, number)
        assert in_old_numbers(simulate(other), number) == simulate(k), body
        recorded = simulate(other, iterations=5, record=True)
        assert in_old_numbers(recorded, number) == simulate(k, iterations=5, record=True), body
        assert simulate(other, loop=False).cycles_per_iteration == simulate(k, loop=False).cycles_per_iteration
        assert analyze(other).port_bound == analyze(k).port_bound


def test_every_set_of_ports_is_renumbered() -> None:
    """The lists above name all fields that are sets of ports."""
    generator = runpy.run_path(str(Path(__file__).parents[2] / "core" / "generate.py"))
    entries = generator["read"](generator["DEFINITION"].read_text(encoding="utf-8"))
    assert {e.arguments[1] for e in entries if e.kind == "PIPELINE_MASKS"} == set(PORT_SETS)
    assert {e.arguments[1] for e in entries if e.kind == "PIPELINE_MASK"} == set(PORT_SET)


def test_the_order_decides_between_ports_that_are_alike() -> None:
    """On Skylake, of ports that are used alike the last in order."""
    k = apart(bind(decoded("1: add %rax, %rbx; dec %r15; jne 1b"), load("skylake"))[0])
    assert k.pipeline is not None
    first = simulate(k, iterations=1, record=True).events[0].ports
    k.pipeline.port_order = [6, 5, 1, 0]
    second = simulate(k, iterations=1, record=True).events[0].ports
    assert (first, second) == ((6,), (0,))


def test_ports_that_the_order_does_not_name_follow_by_number() -> None:
    k = apart(bind(decoded("1: add %rax, %rbx; dec %r15; jne 1b"), load("skylake"))[0])
    assert k.pipeline is not None
    k.pipeline.port_order = [6]
    assert simulate(k, iterations=1, record=True).events[0].ports == (5,)
