"""The keys of AArch64 forms: one for each way in which an instruction can be written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incc.frontends.aarch64.forms import form_key, form_of, operand_shape
from incc.frontends.isa import split_operands


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("fmla v0.2d, v1.2d, v2.2d", "fmla/v.2d,v.2d,v.2d"),
        ("fmla\tv0.4s, v1.4s, v2.s[3]", "fmla/v.4s,v.4s,v.s[]"),
        ("FADD D0, D1, D31", "fadd/d,d,d"),
        ("ldr q0, [x1, #16]", "ldr/q,[x,#]"),
        ("ldr q0, [x1]", "ldr/q,[x]"),
        ("ldr x0, [sp, 8]", "ldr/x,[x,#]"),
        ("ldr d0, [x0, #:lo12:.LC0]", "ldr/d,[x,#]"),
        ("ldr d0, [x0, :lo12:.LC0]", "ldr/d,[x,#]"),
        ("ldr x0, [x1], 8", "ldr/x,[x],#"),
        ("ldp x0, x1, [x2], #16", "ldp/x,x,[x],#"),
        ("stp d8, d9, [sp, -16]!", "stp/d,d,[x,#]!"),
        ("str q0, [x1, x2, lsl #4]", "str/q,[x,x,lsl#]"),
        ("str q0, [x1, x2]", "str/q,[x,x]"),
        ("ldr x0, [x1, w2, sxtw #3]", "ldr/x,[x,w,sxtw#]"),
        ("ldr x0, [x1, w2, uxtw]", "ldr/x,[x,w,uxtw]"),
        ("ldr x0, .LC1", "ldr/x,label"),
        ("ldr x0, #-8", "ldr/x,label"),
        ("ld1 {v0.4s, v1.4s}, [x0], x2", "ld1/{v.4s*2},[x],x"),
        ("ld1 { v30.16b - v1.16b }, [x0]", "ld1/{v.16b*4},[x]"),
        ("st1 {v0.d}[1], [x0]", "st1/{v.d*1}[],[x]"),
        ("ld1d { z0.d }, p0/z, [x0, x1, lsl #3]", "ld1d/{z.d*1},p/z,[x,x,lsl#]"),
        ("ld1w { z0.s }, p1/z, [x2, #1, mul vl]", "ld1w/{z.s*1},p/z,[x,#,vl]"),
        ("ld1d { z0.d }, p0/z, [x0, z1.d, lsl #3]", "ld1d/{z.d*1},p/z,[x,z.d,lsl#]"),
        ("fmla z0.d, p0/m, z1.d, z2.d", "fmla/z.d,p/m,z.d,z.d"),
        ("ptrue p0.d, all", "ptrue/p.d,pattern"),
        ("whilelo p0.d, x0, xzr", "whilelo/p.d,x,x"),
        ("incd x0, all, mul #2", "incd/x,pattern,mul#"),
        ("b.ne .L3", "b.cond/label"),
        ("bne .L3", "b.cond/label"),
        ("b.any .L3", "b.cond/label"),
        ("bl memcpy", "bl/label"),
        ("b #-16", "b/label"),
        ("cbnz x0, .L2", "cbnz/x,label"),
        ("tbz w1, #3, .L2", "tbz/w,#,label"),
        ("adrp x0, :got:errno", "adrp/x,label"),
        ("csel x0, x1, x2, ne", "csel/x,x,x,cond"),
        ("fccmp d0, d1, #4, ge", "fccmp/d,d,#,cond"),
        ("prfm pldl1keep, [x0, #64]", "prfm/prfop,[x,#]"),
        ("mrs x0, tpidr_el0", "mrs/x,sysreg"),
        ("dmb ish", "dmb/option"),
        ("add x0, x1, w2, uxtw #2", "add/x,x,w,uxtw#"),
        ("add x0, x1, x2, uxtw 2", "add/x,x,w,uxtw#"),
        ("cmp w0, #3, lsl #12", "cmp/w,#,lsl#"),
        ("fmov d0, 1.0e+0", "fmov/d,#"),
        ("umov w0, v0.s[1]", "mov/w,v.s[]"),
        ("umov w0, v0.h[1]", "umov/w,v.h[]"),
        ("sxtl v0.2d, v1.2s", "sshll/v.2d,v.2s,#"),
        ("not v0.16b, v1.16b", "mvn/v.16b,v.16b"),
        ("ret", "ret/"),
    ],
)
def test_keys(text: str, key: str) -> None:
    assert form_of(text)[0] == key
    assert form_of(f"  {text.upper()}  ")[0] == key


@pytest.mark.parametrize(
    ("text", "traits"),
    [
        ("movi v0.2d, #0000000000000000", {"imm0"}),
        ("mov x0, 0", {"imm0"}),
        ("mov x0, 0x10", set()),
        ("fcmp d0, #0.0", {"imm0"}),
        ("ldr x0, [x1, #0]", set()),
        ("add x0, x1, x2, lsl 3", {"shift1-4"}),
        ("add x0, x1, x2, lsl #4", {"shift1-4"}),
        ("add x0, x1, x2, lsl #5", set()),
        ("add x0, x1, x2, lsr #2", set()),
        ("cmp w0, #3, lsl #12", set()),
        ("ldr x0, [x1, x2, lsl #3]", set()),
    ],
)
def test_traits(text: str, traits: set[str]) -> None:
    assert form_of(text)[1] == traits


@pytest.mark.parametrize(
    "text", ["", "1: add", "add x0,, x1", "ldr x0, [x1", "ld1 {v0.2d, [x0]", "ldr x0, [w1]", "%foo x0"]
)
def test_what_is_no_instruction(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        form_of(text)


REGISTERS = st.sampled_from("wxbhsdq").flatmap(lambda k: st.integers(0, 30).map(lambda n: (k, f"{k}{n}")))
VECTORS = st.tuples(st.integers(0, 31), st.sampled_from(["16b", "8h", "4s", "2d", "8b"])).map(
    lambda v: (f"v.{v[1]}", f"v{v[0]}.{v[1]}")
)
IMMEDIATES = st.integers(-4096, 4096).flatmap(lambda n: st.sampled_from([("#", f"#{n}"), ("#", str(n))]))
ADDRESSES = st.integers(0, 30).flatmap(
    lambda n: st.sampled_from(
        [
            ("[x]", f"[x{n}]"),
            ("[x,#]", f"[x{n}, #{8 * n + 8}]"),
            ("[x,x,lsl#]", f"[x{n}, x1, lsl #3]"),
            ("[x,#]!", f"[x{n}, -16]!"),
        ]
    )
)


@given(st.lists(st.one_of(REGISTERS, VECTORS, IMMEDIATES), max_size=3), st.lists(ADDRESSES, max_size=1))
def test_shapes_add_up(operands: list[tuple[str, str]], address: list[tuple[str, str]]) -> None:
    """The key of an instruction is made of its operands' shapes, whatever the numbers and the blanks."""
    everything = operands + address
    key = form_key("fancy", [shape for shape, _ in everything])
    text = "fancy " + ", ".join(t for _, t in everything)
    assert form_of(text)[0] == key
    assert form_of(text.replace(", ", ","))[0] == key
    assert [operand_shape(o) for o in split_operands(text[6:])] == [shape for shape, _ in everything]
