"""AArch64: what the code before a loop says of its registers and of its number of iterations."""

from __future__ import annotations

import pytest

from incc.frontends.asm.parse import parse
from incc.frontends.asm.preceding import code_before
from incc.frontends.asm.regions import innermost_loops
from incc.frontends.isa import isa
from incc.frontends.kernel import Affine, KernelCode, with_vectors


def loop(before: str, body: str) -> KernelCode:
    text = "\n".join(part.strip() for part in f".type f, %function; f:; {before}; .L3:; {body}; ret".split(";"))
    parsed = parse(text, "aarch64")
    regions, _ = innermost_loops(parsed)
    (kernel,) = isa("aarch64").decode_regions(text, regions, "x.s", before=code_before(parsed, regions))
    return kernel


GCC = "lsr w6, w4, 1; mov x5, 0; lsl x6, x6, 4"
INDEX = "ldr q2, [x2, x5]; str q2, [x0, x5]; add x5, x5, 16; cmp x6, x5; bne .L3"


@pytest.mark.parametrize(
    ("before", "body", "expected"),
    [
        (GCC, INDEX, 2),
        (GCC, INDEX.replace("bne", "b.ne"), 2),
        # the end of a pointer, from a count that is extended
        ("lsr w0, w1, 4; add x0, x3, w0, uxtw 4; mov x2, x3", "ldr q0, [x2], 16; cmp x0, x2; bne .L3", 16),
        ("lsr w0, w1, 2; ubfiz x0, x0, 4, 32; add x0, x3, x0; mov x2, x3", "ldr q0, [x2], 16; cmp x0, x2; bne .L3", 4),
        # a mask, and a counter that counts down with the flags that it sets
        ("and x10, x9, -8; mov x11, x10", "ldp q0, q1, [x0], 64; subs x11, x11, 8; b.ne .L3", 8),
        ("and x10, x9, 0x7ffffff8; mov x11, x10", "ldp q0, q1, [x0], 64; sub x11, x11, 8; cbnz x11, .L3", 8),
        # n from memory, and from the stack
        ("ldrsw x3, [x1]; add x3, x0, x3, lsl 3", "ldr d0, [x0], 8; cmp x0, x3; b.ne .L3", 1),
        ("lsr x3, x3, 2; str x3, [sp, 8]; bl g; ldr x3, [sp, 8]", "ldr q0, [x19], 16; subs x3, x3, 1; b.ne .L3", 4),
        # --- nothing is known: divided before, shifted in the comparison, other elements than those of a vector
        ("", "ldr q0, [x0], 16; subs x3, x3, 1; b.ne .L3", 0),
        ("lsr x3, x3, 2", "ldr q0, [x0], 16; add x4, x4, 1; cmp x3, x4, lsl 1; b.ne .L3", 0),
        ("bl g", "ldr q0, [x0], 16; cmp x0, xzr; b.ne .L3", 0),
    ],
)
def test_pace(before: str, body: str, expected: int) -> None:
    assert loop(before, body).pace == expected


@pytest.mark.parametrize(
    ("before", "step", "lanes"),
    [("cntd x6", "add x5, x5, x6", 4), ("", "incd x5", 4), ("rdvl x6, 2", "add x5, x5, x6", 64)],
)
def test_vectors_of_any_length_pace_loops_that_compare_elements(before: str, step: str, lanes: int) -> None:
    body = f"ld1d z0.d, p0/z, [x1, x5, lsl 3]; {step}; whilelo p0.d, x5, x4; b.any .L3"
    kernel = with_vectors(loop(f"mov x5, 0; {before}", body), 256)
    assert kernel.pace == lanes
    assert kernel.instructions[1].affine == Affine("x5", (("x5", 1),), lanes)


def test_pointers_at_known_distances_are_related_on_entry() -> None:
    kernel = loop("add x1, x0, 256", "ldr q0, [x0], 16; str q0, [x1], 16; cmp x0, x3; b.ne .L3")
    assert {value.target: value.constant for value in kernel.entry} == {"x0": 0, "x1": 256}
    assert len({value.terms for value in kernel.entry}) == 1


@pytest.mark.parametrize("bits", [128, 256, 512])
def test_distances_of_whole_vectors_are_known_where_the_core_tells_their_length(bits: int) -> None:
    before = "cntb x7; neg x7, x7; addvl x1, x0, #2; rdvl x2, #-1; add x2, x0, x2"
    body = (
        "ldr z0, [x0]; ldr z1, [x1]; ldr z2, [x2]; add x0, x0, x7; add x1, x1, x7; add x2, x2, x7; cmp x0, x3; b.ne .L3"
    )
    kernel = with_vectors(loop(before, body), bits)
    values = {value.target: (value.terms, value.constant) for value in kernel.entry}
    (pointer, _) = values["x0"]
    assert values["x1"] == (pointer, bits // 4)
    assert values["x2"] == (pointer, -bits // 8)
    affine = kernel.instructions[3].affine
    assert affine is not None
    assert (affine.target, affine.terms, affine.constant) == ("x0", (("x0", 1),), -bits // 8)
