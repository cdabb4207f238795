"""What must hold for every kernel on every kind of core: bounds, changes for the better, other names, other starts.

The kernels are random ones, always the same, and those of the golden reports; the cores one of each kind.
"""

from __future__ import annotations

import itertools
from copy import copy
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from generated_kernels import some_statements
from msgspec.structs import replace

from bind_kernels import kernel as decoded
from incc.core import Analysis, analyze, simulate, whatif
from incc.core.whatif import CoreChange, Scenario
from incc.frontends.asm.parse import parse
from incc.frontends.asm.regions import innermost_loops
from incc.frontends.x86.kernels import decode_regions
from incc.models.binding.bind import bind
from incc.models.loading import load

if TYPE_CHECKING:
    from collections.abc import Iterator

    from incc.frontends.kernel import Instruction, KernelCode
    from incc.models.binding.bound import BoundKernel

CORES = (
    *("core2", "sandybridge", "haswell", "skylake", "icelake-client", "alderlake"),
    *("znver1", "znver2", "znver4", "znver5", "bonnell", "goldmont-plus", "gracemont"),
)
COUNTER = "dec %r15; jne 1b"
GOLDEN = Path(__file__).parents[1] / "lit" / "golden"


def loop(statements: list[str]) -> KernelCode:
    return replace(decoded(f"1: {'; '.join(statements)}; {COUNTER}"), is_loop=True, alignment=0)


@cache
def random_kernels() -> dict[str, KernelCode]:
    return {f"random {seed}": loop(some_statements(seed, old=True)) for seed in range(16)}


@cache
def golden_kernels() -> dict[str, KernelCode]:
    """The innermost loops of the files that golden reports are made of."""
    found = {}
    for file in sorted(GOLDEN.glob("*.s")):
        text = file.read_text(encoding="utf-8")
        regions = innermost_loops(parse(text))[0]
        for number, k in enumerate(decode_regions(text, regions, file.name, ())):
            found[f"{file.stem} {number}"] = k
    assert len(found) >= 10
    return found


@cache
def kernels(core: str) -> dict[str, BoundKernel]:
    """Those of which the core has all instructions."""
    bound = {}
    for name, k in {**random_kernels(), **golden_kernels()}.items():
        b, forms = bind(k, load(core))
        if all(forms):
            bound[name] = b
    assert len(bound) >= 16
    return bound


def largest_bound(a: Analysis) -> Fraction:
    return max(a.port_bound, a.resource_bound, a.front_end_bound, a.retire_bound, a.latency_bound)


# --- bounds ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("core", CORES)
def test_bounds_and_passes(core: str) -> None:
    for name, k in kernels(core).items():
        a, s = analyze(k), simulate(k)
        # A pattern that is longer than what was watched is cut somewhere: half a per cent, and a cycle in 500.
        assert s.cycles_per_iteration >= largest_bound(a) * Fraction(99, 100), name
        once = simulate(k, iterations=1).cycles
        assert once >= a.critical_path_cycles, name
        # The first iteration finds no store in flight that a load would have to wait for.
        forwarding = copy(k)
        forwarding.blocked_forward_cycles = 0
        assert once >= simulate(forwarding).cycles_per_iteration, name
        several = [simulate(k, iterations=n).cycles for n in (1, 2, 3, 5, 8)]
        assert several == sorted(several), name
        assert several[-1] >= 8 * largest_bound(analyze(forwarding)), name


# --- changes for the better ------------------------------------------------------------------------------------------


def doubled(parameter: str) -> CoreChange:
    def apply(s: Scenario) -> Scenario:
        bound = copy(s.bound)
        bound.pipeline = copy(bound.pipeline)
        whatif.set_parameter(bound, parameter, 2 * whatif.get_parameter(bound, parameter))
        return replace(s, bound=bound)

    return CoreChange(name=f"2 x {parameter}", text="", apply=apply)


def changes(k: BoundKernel) -> Iterator[CoreChange]:
    tried = set()
    for number, name in enumerate(k.port_names[: k.n_ports]):
        users = tuple(ports >> number & 1 for ports in k.uop_ports)
        if any(users) and users not in tried:
            tried.add(users)
            yield whatif.more_ports(name, 1)
    for parameter in ("rob", "rs", "load_buffer", "store_buffer", "idq"):
        if whatif.get_parameter(k, parameter) > 0:
            yield doubled(parameter)
    yield whatif.PERFECT_FRONT_END
    yield whatif.NO_REGISTER_DEPENDENCIES
    yield whatif.NO_MEMORY_DEPENDENCIES
    yield whatif.UNLIMITED_WINDOW
    yield whatif.UNLIMITED_PORTS
    yield whatif.PIPELINED_UNITS


@cache
def ratios(core: str) -> dict[tuple[str, str], float]:
    """By change and kernel: the cycles with it over those without."""
    found = {}
    for name, k in kernels(core).items():
        s = Scenario(next(iter(random_kernels().values())), k, {})
        base = simulate(k).cycles_per_iteration
        for change in changes(k):
            found[change.name, name] = float(whatif.simulate(change.apply(s)).cycles_per_iteration / base)
    return found


def kind(change: str) -> str:
    return "port" if change.startswith("port ") else change


@pytest.mark.long
def test_on_average_no_change_for_the_better_makes_slower() -> None:
    by_kind: dict[str, list[float]] = {}
    for core in CORES:
        for (change, _), ratio in ratios(core).items():
            by_kind.setdefault(kind(change), []).append(ratio)
    assert len(by_kind) == 12
    for change, values in by_kind.items():
        assert sum(values) / len(values) <= 1.005, change


def calm(k: BoundKernel) -> Scenario:
    """Without what depends on the moment at which a µop is renamed: which port it gets, and whether a move finds one of
    the few slots of move elimination."""
    s = Scenario(next(iter(random_kernels().values())), k, {})
    return whatif.ALL_MOVES_ELIMINATED.apply(whatif.UNLIMITED_PORTS.apply(s))


@pytest.mark.parametrize("core", CORES)
def test_what_makes_single_kernels_slower(core: str) -> None:
    """µops get their ports when they are issued, from what waits at that time, and moves are eliminated if slots are
    free. So more room, another port or an earlier µop may have a chain's µops wait behind others, or a move executed.
    Without these two nothing is left of it."""
    for (change, name), ratio in ratios(core).items():
        assert ratio <= 1.3, (change, name)
        if ratio > 1.05:
            s = calm(kernels(core)[name])
            (changed,) = (c for c in changes(s.bound) if c.name == change)
            left = whatif.simulate(changed.apply(s)).cycles_per_iteration / whatif.simulate(s).cycles_per_iteration
            assert left <= 1.01, (change, name)


@pytest.mark.parametrize("core", CORES)
def test_without_that_nothing_makes_slower(core: str) -> None:
    for name, k in kernels(core).items():
        s = calm(k)
        base = whatif.simulate(s).cycles_per_iteration
        for change in changes(s.bound):
            if not change.name.startswith("port "):
                cycles = whatif.simulate(change.apply(s)).cycles_per_iteration
                assert cycles <= base * Fraction(101, 100) + Fraction(1, 50), (change.name, name)


# --- other names, other starts ---------------------------------------------------------------------------------------

# In the order of their numbers, four of them encoded with a prefix for the higher ones; rax has short forms of its own.
LOW = ("rcx", "rdx", "rbx", "rsi", "rdi")
HIGH = ("r8", "r9", "r10", "r11", "r14")


@pytest.mark.parametrize("core", CORES)
@pytest.mark.parametrize("turn", [1, 2, 3])
def test_names_of_registers_do_not_matter(core: str, turn: int) -> None:
    def named(low: tuple[str, ...], high: tuple[str, ...], vectors: tuple[int, ...]) -> KernelCode:
        a, b, c, d, e = low
        p, q, r, *_ = high
        v, w, x, _ = vectors
        return loop(
            [
                *(f"add %{a}, %{b}", f"imul %{p}, %{q}", f"mov %{b}, %{c}", f"lea 8(%{d},%{e}), %{a}"),
                *(f"mov %{r}, %{p}", f"xor %{c}, %{c}", f"mulpd %xmm{v}, %xmm{w}", f"addps %xmm{w}, %xmm{x}"),
                *(f"shl $3, %{e}", f"sub %{q}, %{r}", f"movaps %xmm{x}, %xmm{v}", f"add %{e}, %{d}"),
            ]
        )

    model = load(core)
    vectors = (0, 1, 2, 3)
    one = simulate(bind(named(LOW, HIGH, vectors), model)[0])
    other = simulate(
        bind(named(LOW[turn:] + LOW[:turn], HIGH[turn:] + HIGH[:turn], vectors[turn:] + vectors[:turn]), model)[0]
    )
    assert one == other


def placed(instructions: list[Instruction]) -> tuple[Instruction, ...]:
    """The instructions one behind another in memory."""
    ends = itertools.accumulate(i.length for i in instructions)
    return tuple(replace(i, offset=end - i.length) for i, end in zip(instructions, ends, strict=True))


@pytest.mark.parametrize("core", CORES)
def test_where_a_loop_begins_changes_no_bound_of_the_back_end(core: str) -> None:
    # A copy and the operation that it fuses with take two slots where the loop begins between them.
    fuses_copies = bool(load(core).parameters["move_fusion"])

    def bounds(k: KernelCode) -> list[object]:
        a = analyze(bind(k, load(core))[0])
        return [a.port_bound, a.resource_bound, a.latency_bound, sorted(a.port_load), fuses_copies or a.retire_bound]

    for k in random_kernels().values():
        body, counter = k.instructions[:-2], k.instructions[-2:]
        first = bounds(k)
        for start in range(1, len(body)):
            assert bounds(replace(k, instructions=placed([*body[start:], *body[:start], *counter]))) == first, start


@pytest.mark.parametrize("core", CORES)
@pytest.mark.parametrize("prefix", ["addl %ecx, %edx", "addw $1000, %cx"])
def test_bytes_between_distant_blocks_are_not_fetched(core: str, prefix: str) -> None:
    def far(distance: int) -> KernelCode:
        text = f".p2align 6\n1: movl (%rdi,%rax,4), %ecx; {prefix}; incq %rax; jmp 3f\n2: cmpq %rsi, %rax; jne 1b\n"
        text += f"ret\n.p2align 6\n.fill {distance}, 1, 0x90\n3: addl $3, %edx; jmp 2b\n"
        regions, _ = innermost_loops(parse(text))
        (kernel,) = decode_regions(text, regions, "far.s", ())
        assert len(kernel.instructions) == 8
        return kernel

    near, *distant = [
        simulate(bind(far(distance), load(core))[0]).cycles_per_iteration for distance in (256, 4096, 1 << 20)
    ]
    assert near is not None
    assert near < 20
    assert distant == [near, near]
