"""AArch64: the operations of instructions for counts of elements, comparisons and hints."""

from __future__ import annotations

import pytest

from incc.frontends.aarch64.decode import decode
from incc.frontends.isa import FormWork, Operation, isa
from incc.report.hints.advice import CompilerCall, advise

AARCH64 = isa("aarch64")


def floating(kind: str, source: int, result: int, packed: bool) -> Operation:
    return Operation(kind=kind, source=source, result=result, packed=packed, floating=True)


def integer(kind: str, source: int, result: int) -> Operation:
    return Operation(kind=kind, source=source, result=result, packed=True, floating=False)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("fmla v0.2d, v1.2d, v2.2d", floating("fma", 64, 64, True)),
        ("fmla v0.4s, v1.4s, v2.s[1]", floating("fma", 32, 32, True)),
        ("fmadd d0, d1, d2, d3", floating("fma", 64, 64, False)),
        ("fadd z0.s, p0/m, z0.s, z1.s", floating("add", 32, 32, True)),
        ("fcvtl v0.2d, v1.2s", floating("convert", 32, 64, True)),
        ("fcvt s0, d1", floating("convert", 64, 32, False)),
        ("scvtf d0, w1", floating("convert", 0, 64, False)),
        ("fcvtzs x0, d1", floating("convert", 64, 0, False)),
        ("saddw v1.4s, v1.4s, v2.4h", integer("add", 16, 32)),
        ("sxtl v2.8h, v0.8b", integer("convert", 8, 16)),
        ("mla v0.4s, v1.4s, v2.4s", integer("fma", 32, 32)),
        ("add x0, x1, x2", None),
        ("mul w0, w1, w2", None),
        ("and v0.16b, v1.16b, v2.16b", None),
        ("zip1 v0.4s, v1.4s, v2.4s", None),
        ("ldr q0, [x0]", None),
    ],
)
def test_operations_on_elements(text: str, expected: Operation | None) -> None:
    assert AARCH64.operation(text.split()[0], text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("fmla v0.2d, v1.2d, v2.2d", FormWork(("fmul", "fadd"), "f64", 2)),
        ("fmsub s0, s1, s2, s3", FormWork(("fmul", "fadd"), "f32", 1)),
        ("fmul z0.d, z1.d, z2.d", FormWork(("fmul",), "f64", 2)),
        ("sxtl v2.8h, v0.8b", FormWork(("resize",), "8-16", 8)),
        ("add x0, x1, 8", FormWork(("index",), "", 1)),
        ("add w0, w1, w2", FormWork(("iadd",), "i32", 1)),
        ("eor v0.16b, v1.16b, v2.16b", FormWork(("logic",), "", 1)),
        ("csel x0, x1, x2, lt", FormWork(("select",), "", 1)),
        ("bl f", FormWork(("call",), "", 1)),
        ("b.ne .L3", FormWork((), "", 0)),
        ("ldr q0, [x0]", FormWork((), "", 0)),
    ],
)
def test_work_of_forms(text: str, expected: FormWork) -> None:
    assert AARCH64.form_work(decode(text).form) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("fmaxnm d0, d1, d2", "extremum"),
        ("fsqrt v0.2d, v1.2d", "root"),
        ("udiv w0, w1, w2", "integer-division"),
        ("fcvt d0, s1", "widen"),
        ("fcvtn v0.2s, v1.2d", "narrow"),
        ("ucvtf d0, x1", "from-integer"),
        ("fcvtzu w0, s1", "to-integer"),
        ("ld1d z0.d, p0/z, [x0, z1.d, lsl 3]", "gather"),
        ("ld1d z0.d, p0/z, [x0, x1, lsl 3]", ""),
        ("trn1 v0.4s, v1.4s, v2.4s", "shuffle"),
        ("fadd d0, d1, d2", ""),
    ],
)
def test_classes_for_advice(text: str, expected: str) -> None:
    assert AARCH64.advice_class(text.split()[0], text) == expected


def test_branches_for_operands_that_are_no_numbers() -> None:
    compare, other = decode("fcmp d0, d1"), decode("cmp x0, x1")
    assert AARCH64.nan_direction(compare, decode("b.vs .L1")) is True
    assert AARCH64.nan_direction(compare, decode("bvc .L1")) is False
    assert AARCH64.nan_direction(compare, decode("b.gt .L1")) is None
    assert AARCH64.nan_direction(other, decode("b.vs .L1")) is None


def test_flags_of_aarch64() -> None:
    build = CompilerCall(family="gcc", version=12, state={"level": "3"}, isa="aarch64")
    assert build.march("neoverse-v1") == "-mcpu=neoverse-v1"
    assert build.march("neoverse-v2") == ""  # gcc 13 was the first
    assert CompilerCall(family="clang", version=19, native=True, isa="aarch64").march("a64fx") == "-mcpu=native"
    clang = CompilerCall(family="clang", version=19, state={"level": "3"}, isa="aarch64")
    assert advise("vector-functions", clang) is None
    scalable = advise(AARCH64.wide_vectors, clang)
    assert scalable is not None
    assert scalable.flags == ("-msve-vector-bits=512",)
    assert [AARCH64.level_bits(t) for t in ("armv8.2-a", "armv8.2-a+sve", "armv9-a", "a64fx", "a64fx+nosve")] == [
        128,
        2048,
        2048,
        0,
        128,
    ]
