"""Rules of AArch64 pipelines, on text that the reader decodes.

Bundles and limits of the renamer, fused pairs, accumulators that are read late, and updated addresses.
"""

from __future__ import annotations

from fractions import Fraction

import pytest

from incc.core import analyze, simulate
from incc.frontends.aarch64.decode import decode
from incc.frontends.kernel import KernelCode
from incc.models.binding.bind import bind
from incc.models.binding.bound import FUSED_INTO_PREVIOUS, UOP_LOAD, UOP_STORE_DATA, BoundKernel
from incc.models.loading import load


def bound(core: str, *lines: str, **parameters: object) -> BoundKernel:
    """The loop of these statements and a jump back, bound to a core with some parameters changed."""
    model = load(core)
    if parameters:
        model = model.with_parameters(parameters)
    instructions = [decode(text, n, 4 * n) for n, text in enumerate([*lines, "b.ne .L1"])]
    code = KernelCode(
        name="loop", isa="aarch64", region=None, instructions=tuple(instructions), is_loop=True, alignment=0
    )
    return bind(code, model)[0]


def cycles(core: str, *lines: str, **parameters: object) -> Fraction:
    return simulate(bound(core, *lines, **parameters)).cycles_per_iteration


STORES = [f"str q{n}, [x1, #{16 * n}]" for n in range(4)]
ADDITIONS = [f"add x{n}, x{n}, #1" for n in range(2, 9)]


def test_a_bundle_with_more_uops_than_slots_takes_another_cycle() -> None:
    loop = [*STORES, *ADDITIONS, "subs x0, x0, #1"]
    # 8 µops for four stores, and two bundles of additions; the last pair is fused.
    assert cycles("thunderx2t99", *loop) == 4
    mixed = [word for pair in zip(STORES, ADDITIONS, strict=False) for word in pair]
    loop = [*mixed, *ADDITIONS[4:], "subs x0, x0, #1"]
    # The same instructions: three bundles, two of them with two stores and six µops.
    assert cycles("thunderx2t99", *loop) == 5
    assert cycles("thunderx2t99", *loop, rename_bundle=0) == 4


def test_flag_writers_fuse_with_branches_behind_them() -> None:
    fused = bound("thunderx2t99", *ADDITIONS, "cmp x2, x3")
    assert [bool(f & FUSED_INTO_PREVIOUS) for f in fused.instruction_flags] == [False] * 8 + [True]
    apart = bound("thunderx2t99", "cmp x2, x3", *ADDITIONS)
    assert not any(f & FUSED_INTO_PREVIOUS for f in apart.instruction_flags)
    whole = bound("thunderx2t99", *ADDITIONS, "cmp x2, x3", jump_fusion={})
    assert not any(f & FUSED_INTO_PREVIOUS for f in whole.instruction_flags)


def test_ports_get_no_more_uops_a_cycle_than_a_limit() -> None:
    def limited(*lines: str, **limits: int) -> float:
        named = {ports.replace("_", ","): most for ports, most in limits.items()}
        return float(cycles("neoverse-v1", *lines, "cmp x2, x3", schedulers={}, dispatch_limits=named))

    loop = [
        f"add x{n}, x20, x21" for n in range(4, 12)
    ]  # eight µops for S0, S1, M0, M1; cmp and the branch are one for B0, B1
    assert limited(*loop) == limited(*loop, S0_S1_M0_M1=4) == 2
    assert limited(*loop, B0_B1_S0_S1_M0_M1=2) == 9 / 2
    assert 8 / 3 <= limited(*loop, S0_S1=1) < 8 / 2
    assert limited(*loop, S0_S1=1, S1_M0_M1=1) == pytest.approx(4, 0.02)
    assert limited(*STORES) == limited(*STORES, S0_S1_M0_M1=1)


CHAINS = [
    # instructions of the chain, cycles on Neoverse V1 by its guide: an accumulator is late only for some sources
    (["fmla v0.2d, v1.2d, v2.2d"], 2),
    (["fmla v0.2d, v0.2d, v2.2d"], 4),
    (["fadd v0.2d, v0.2d, v3.2d", "fmla v0.2d, v1.2d, v2.2d"], 2 + 4),
    (["fmul v0.2d, v0.2d, v3.2d", "fmla v0.2d, v1.2d, v2.2d"], 3 + 2),
    (["fmadd d0, d1, d2, d0"], 2),
    (["fmadd d0, d0, d2, d3"], 4),
    (["madd x1, x2, x3, x1"], 1),
    (["madd x1, x1, x3, x2"], 2),
    (["mul x1, x1, x2", "madd x1, x2, x3, x1"], 2 + 2),
    (["add x1, x1, #4", "madd x1, x2, x3, x1"], 1 + 2),
]


@pytest.mark.parametrize(("chain", "expected"), CHAINS)
def test_accumulators_are_read_late_if_they_come_from_a_multiplier(chain: list[str], expected: int) -> None:
    loop = bound("neoverse-v1", *chain, "subs x0, x0, #1")
    assert analyze(loop).latency_bound == expected
    assert simulate(loop).cycles_per_iteration == expected


def test_prefixes_cost_nothing_before_an_instruction_that_takes_them() -> None:
    taken = bound("neoverse-v1", "movprfx z0, z1", "fadd z0.d, p0/m, z0.d, z2.d", "subs x0, x0, #1")
    assert list(taken.uop_start[:3]) == [0, 0, 1]
    for lines in (
        ["movprfx z0, z1", "fadd z3.d, p0/m, z3.d, z2.d"],
        ["movprfx z0, z1", "add x3, x3, #1"],
    ):
        assert bound("neoverse-v1", *lines, "subs x0, x0, #1").uop_start[1] == 1, lines
    apart = bound("neoverse-v1", "movprfx z0, z1", "fadd z0.d, p0/m, z0.d, z2.d", prefix_fusion={})
    assert apart.uop_start[1] == 1


@pytest.mark.parametrize("core", ["apple-m1", "cortex-a72", "neoverse-v1", "neoverse-v2", "thunderx2t99"])
@pytest.mark.parametrize("load", ["ldr x2, [x1], #8", "ldr q2, [x1, #16]!", "ldp x2, x3, [x1], #16"])
def test_an_updated_address_does_not_wait_for_the_load(core: str, load: str) -> None:
    loop = bound(core, load, "subs x0, x0, #1")
    found = analyze(loop)
    assert found.latency_bound == 1
    expected = max(1, found.port_bound, found.front_end_bound)
    assert expected <= simulate(loop).cycles_per_iteration < 1.05 * float(expected)


@pytest.mark.parametrize(
    "core",
    [
        "neoverse-n1",
        "neoverse-n2",
        "neoverse-v1",
        "neoverse-v2",
        "thunderx2t99",
        "ampere1",
        "a64fx",
        "cortex-a72",
    ],
)
@pytest.mark.parametrize(
    "load", ["ldp x1, x2, [x1]", "ldpsw x1, x2, [x1]", "ldr x1, [x1, x3]", "ldrsw x1, [x1, w3, sxtw]"]
)
def test_chains_of_loads_take_their_latency_with_all_their_uops(core: str, load: str) -> None:
    """Neither a pair's other half nor the arithmetic of an address comes on top of the latency of the instruction."""
    walk = bound(core, load, "add x0, x0, x2")
    latency = analyze(walk).latency_bound
    assert 4 <= latency <= simulate(walk).cycles_per_iteration < latency + Fraction(1, 10)


@pytest.mark.parametrize(
    ("core", "divisions", "expected"),
    [
        # The lowest throughput in the guides: 1/7, 2/9, 8/9 and 1/20 a cycle; 2/7 on the V2.
        ("neoverse-v1", ["fdiv v{0}.2d, v8.2d, v9.2d"], 7),
        ("neoverse-v1", ["fdiv v{0}.4s, v8.4s, v9.4s"], 4.5),
        ("neoverse-v1", ["fdiv s{0}, s8, s9"], 1),
        ("neoverse-v1", ["sdiv x{0}, x8, x9"], 20),
        ("neoverse-v2", ["fdiv d{0}, d8, d9"], 3.5),
    ],
)
def test_divisions_block_their_pipeline(core: str, divisions: list[str], expected: float) -> None:
    loop = [line.format(n) for n in range(2, 6) for line in divisions]
    assert float(cycles(core, *loop, "cmp x20, x21")) / 4 == pytest.approx(expected, rel=0.02)


@pytest.mark.parametrize(
    ("chain", "expected"),
    [("fadd d0, d0, d1", 3), ("fmul d0, d0, d1", 4), ("fmadd d0, d0, d1, d2", 7), ("fmadd d0, d1, d2, d0", 3)],
)
def test_the_cortex_a72_has_its_own_latencies(chain: str, expected: int) -> None:
    assert cycles("cortex-a72", chain, "subs x0, x0, #1") == expected


def test_the_a64fx_writes_a_store_or_starts_loads() -> None:
    loads = [f"ldr q{n}, [x0, #{64 * n}]" for n in range(4)]

    def copies(apart: int, **parameters: object) -> float:
        stores = [f"str q{n}, [x1, #{apart * n}]" for n in range(4)]
        return float(cycles("a64fx", *loads, *stores, "add x0, x0, #256", "cmp x0, x2", **parameters))

    # Two cycles for four loads in two pipelines, and one for each block of 64 bytes that is written.
    assert copies(64) == pytest.approx(6, rel=0.05)
    assert copies(64, stores_stop_loads=False) == pytest.approx(4, rel=0.1)
    # A block takes four stores, whose addresses take the two pipelines, too.
    assert copies(16) == pytest.approx(4, rel=0.1)


def test_the_a64fx_takes_stored_data_to_a_pipeline_of_their_kind() -> None:
    kinds = bound("a64fx", "str q0, [x1], #16", "str x3, [x2]", "str z4, [x5]")
    assert list(kinds.uop_kind)[: kinds.uop_start[3]].count(UOP_STORE_DATA) == 3
    loads = bound("a64fx", "ldr z0, [x1]", "ldr d1, [x2], #8")
    assert list(loads.uop_kind)[: loads.uop_start[2]].count(UOP_LOAD) == 2
