"""Rules of AArch64 pipelines, on text that the reader decodes.

Bundles of the renamer, fused pairs, and updated addresses.
"""

from __future__ import annotations

from fractions import Fraction

import pytest

from incc.core import analyze, simulate
from incc.frontends.aarch64.decode import decode
from incc.frontends.kernel import KernelCode
from incc.models.binding.bind import bind
from incc.models.binding.bound import FUSED_INTO_PREVIOUS, BoundKernel
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


@pytest.mark.parametrize("core", ["apple-m1", "cortex-a72", "neoverse-v1", "neoverse-v2", "thunderx2t99"])
@pytest.mark.parametrize("load", ["ldr x2, [x1], #8", "ldr q2, [x1, #16]!", "ldp x2, x3, [x1], #16"])
def test_an_updated_address_does_not_wait_for_the_load(core: str, load: str) -> None:
    loop = bound(core, load, "subs x0, x0, #1")
    found = analyze(loop)
    assert found.latency_bound == 1
    expected = max(1, found.port_bound, found.front_end_bound)
    assert expected <= simulate(loop).cycles_per_iteration < 1.05 * float(expected)
