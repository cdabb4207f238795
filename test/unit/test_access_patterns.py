"""The patterns of memory accesses, and the share of cache lines that loops use."""

from __future__ import annotations

import re
from fractions import Fraction
from math import gcd
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import incc
from incc.report.parts.accesses import _use
from properties import examples

LINE = 64


def patterns(body: str, mcpu: str = "skylake-avx512", before: str = "", **options: Any) -> list[dict[str, Any]]:
    """Return the patterns of a loop of these instructions, separated by semicolons."""
    lines = "\n\t".join(part.strip() for part in body.split(";"))
    first = "\n\t".join(part.strip() for part in before.split(";"))
    (kernel,) = incc.analyze(f"f:\n\t{first}\n.L3:\n\t{lines}\n\tret\n", mcpu=mcpu, **options)
    found: list[dict[str, Any]] = kernel.to_dict()["accesses"]
    return found


def pattern(body: str, mcpu: str = "skylake-avx512", **options: Any) -> dict[str, Any]:
    (only,) = patterns(body, mcpu, **options)
    return only


COUNT = "; cmpq %r8, %rdi; jne .L3"


@pytest.mark.parametrize(
    ("body", "name", "stride", "used", "share"),
    [
        ("vaddpd (%rdi), %ymm0, %ymm0; addq $32, %rdi", "contiguous", None, 32, 1),
        ("movb %al, (%rdi); decq %rdi", "contiguous", None, 1, 1),
        # Overlapping accesses, as of a filter, use each byte once.
        ("vaddpd (%rdi), %ymm0, %ymm0; vaddpd 8(%rdi), %ymm0, %ymm0; addq $32, %rdi", "contiguous", None, 32, 1),
        # One field of a structure of 48 bytes, two neighbours, and two at equal distances.
        ("vaddsd (%rdi), %xmm0, %xmm0; addq $48, %rdi", "strided", 48, 8, Fraction(1, 6)),
        (
            "vaddsd (%rdi), %xmm0, %xmm0; vaddsd 8(%rdi), %xmm0, %xmm0; addq $48, %rdi",
            "strided",
            48,
            16,
            Fraction(1, 3),
        ),
        ("vmovsd (%rdi), %xmm0; vmovsd %xmm0, 24(%rdi); addq $48, %rdi", "strided", 48, 16, Fraction(1, 3)),
        # All parts of complex numbers
        ("vaddsd (%rdi), %xmm0, %xmm0; vaddsd 8(%rdi), %xmm1, %xmm1; addq $16, %rdi", "contiguous", None, 16, 1),
        # A column, downwards, and one of a stencil of three neighbours, which may cross a line.
        ("vaddsd (%rdi), %xmm0, %xmm0; subq $8000, %rdi", "strided", 8000, 8, Fraction(1, 8)),
        (
            "vmovups (%rdi), %xmm0; vaddsd 16(%rdi), %xmm0, %xmm0; addq $8000, %rdi",
            "strided",
            8000,
            24,
            Fraction(3, 10),
        ),
        # A piece of a structure that reaches around its end, as the base is not its first byte.
        (
            "vaddsd 40(%rdi), %xmm0, %xmm0; vaddsd 48(%rdi), %xmm0, %xmm0; addq $48, %rdi",
            "strided",
            48,
            16,
            Fraction(1, 3),
        ),
        # Whole lines, every second one
        ("vaddpd (%rdi), %zmm0, %zmm0; addq $128, %rdi", "strided", 128, 64, 1),
        ("incl (%rsi); addq $8, %rdi", "fixed", None, 4, None),
    ],
)
def test_patterns_with_known_steps(
    body: str, name: str, stride: int | None, used: int, share: float | Fraction | None
) -> None:
    found = pattern(body + COUNT)
    assert (found["pattern"], found["stride"], found["used_bytes"]) == (name, stride, used)
    assert found["line_use"] == (None if share is None else pytest.approx(float(share), abs=1e-6))


def test_lines_of_256_bytes_are_used_less() -> None:
    body = "ldr d0, [x0]; add x0, x0, 512; cmp x0, x1; b.ne .L3"
    assert pattern(body, "a64fx")["line_use"] == 8 / 256
    assert pattern(body, "neoverse-v1")["line_use"] == 8 / 64


@pytest.mark.parametrize(
    ("body", "name", "sources"),
    [
        # a[idx[i]], twice the same structure, a gather, and pointers to structures
        ("movslq (%rdi), %rax; vaddsd (%rsi,%rax,8), %xmm0, %xmm0; addq $4, %rdi", "indirect", [0]),
        ("movq (%rdi), %rax; movq 8(%rax), %rbx; addq %rbx, 32(%rax); addq $8, %rdi", "indirect", [0]),
        (
            "vmovdqu (%rdi), %xmm1; vpcmpeqd %ymm2, %ymm2, %ymm2; vgatherdpd %ymm2, (%rsi,%xmm1,8), %ymm0;"
            "addq $16, %rdi",
            "indirect",
            [0],
        ),
        # A shifted and masked index, as in a hash table
        ("movq (%rdi), %rax; shrq $7, %rax; andl $1023, %eax; incl (%rsi,%rax,4); addq $8, %rdi", "indirect", [0]),
        # Steps that a comparison of loaded values decides
        ("xorl %eax, %eax; cmpl $7, (%rsi); setl %al; leaq (%rsi,%rax,4), %rsi; addq $8, %rdi", "unknown", []),
        # A random number generator
        ("imulq %r9, %rax; movzbl %al, %ebx; addl (%rsi,%rbx,4), %ecx; addq $8, %rdi", "unknown", []),
    ],
)
def test_irregular_patterns(body: str, name: str, sources: list[int]) -> None:
    found = [each for each in patterns(body + COUNT) if each["pattern"] != "contiguous"]
    assert [(each["pattern"], each["sources"], each["line_use"]) for each in found] == [(name, sources, None)]


@pytest.mark.parametrize(
    ("body", "instructions"),
    [
        ("movq (%rdi), %rdi; testq %rdi, %rdi; jne .L3", [[0]]),
        ("addq 32(%rdi), %rax; movq (%rdi), %rdi; testq %rdi, %rdi; jne .L3", [[0, 1]]),
        # Two pointers in turns
        ("movq 8(%rdi), %rsi; movq 16(%rsi), %rdi; testq %rdi, %rdi; jne .L3", [[0, 1]]),
        # A tree, whose comparison decides which pointer is next
        (
            "xorl %eax, %eax; cmpq %rsi, 16(%rdi); setl %al; movq (%rdi,%rax,8), %rdi; testq %rdi, %rdi; jne .L3",
            [[1], [3]],
        ),
    ],
)
def test_pointers_that_are_chased(body: str, instructions: list[list[int]]) -> None:
    found = patterns(body)
    assert [(each["pattern"], each["instructions"]) for each in found] == [("chased", each) for each in instructions]


def test_a_list_of_pointers_to_data_is_chased_and_its_data_are_indirect() -> None:
    found = patterns("movq 8(%rdi), %rax; addq (%rax), %rbx; movq (%rdi), %rdi; testq %rdi, %rdi; jne .L3")
    assert [(each["pattern"], each["instructions"]) for each in found] == [("chased", [0, 2]), ("indirect", [1])]


def test_a_step_in_a_register_is_a_stride_that_values_tell() -> None:
    body = "vaddsd (%rdi), %xmm0, %xmm0; addq %rdx, %rdi; cmpq %r8, %rdi; jne .L3"
    unknown = pattern(body)
    assert (unknown["pattern"], unknown["stride"], unknown["line_use"]) == ("strided", None, None)
    column = pattern(body, let={"rdx": 4000})
    assert (column["pattern"], column["stride"], column["line_use"]) == ("strided", 4000, 0.125)
    assert not column["structure"]
    # A small stride that the code does not contain is no structure's size.
    assert not pattern(body, let={"rdx": 48})["structure"]
    assert pattern(body, let={"rdx": 8})["pattern"] == "contiguous"


def test_copies_of_an_unrolled_loop_with_an_unknown_stride_are_one_pattern() -> None:
    body = "vaddsd (%rdi), %xmm0, %xmm0; vaddsd (%rdi,%rdx), %xmm0, %xmm0; leaq (%rdi,%rdx,2), %rdi" + COUNT
    assert pattern(body)["instructions"] == [0, 1]


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (
            "vaddsd (%rdi), %xmm0, %xmm0; addq $48, %rdi",
            "8 of every 48 bytes, like one field of an array of structures",
        ),
        (
            "vaddsd (%rdi), %xmm0, %xmm0; vaddsd 32(%rdi), %xmm0, %xmm0; addq $72, %rdi",
            "16 of every 72 bytes, like some fields of an array of structures, each in a new line",
        ),
        ("vaddsd (%rdi), %xmm0, %xmm0; addq $800, %rdi", "8 of every 800 bytes, each in a new line"),
        ("vaddsd (%rdi), %xmm0, %xmm0; subq $4096, %rdi", "8 of every 4,096 bytes, each in a new page, downwards"),
    ],
)
def test_structures_and_columns_have_their_names(body: str, text: str) -> None:
    found = pattern(body + COUNT)
    assert found["text"] == text
    assert found["structure"] == (
        "one field" if "one field" in text else "some fields" if "some fields" in text else ""
    )


def test_every_text_names_an_array_of_structures() -> None:
    loop = ".L3:\nvaddsd (%rdi), %xmm0, %xmm0\naddq $48, %rdi\ncmpq %r8, %rdi\njne .L3\n"
    many = "".join(loop.replace("L3", f"L{n}").replace("48", str(48 + n)) for n in range(9))
    for text in (loop, many):
        assert "Loads of line 2: 8 of every 48 bytes, like one field" in str(incc.analyze(text, mcpu="znver4"))


def test_conditions_choose_by_strides() -> None:
    (kernel,) = incc.analyze(
        ".L3:\nvaddsd (%rdi), %xmm0, %xmm0\naddq $48, %rdi\ncmpq %r8, %rdi\njne .L3\n", mcpu="znver4"
    )
    values = kernel.row()
    assert (values["patterns"], values["stride"], values["line_use"]) == ("strided", 48, pytest.approx(1 / 6, abs=1e-6))


SPANS = st.lists(st.tuples(st.integers(-64, 300), st.sampled_from([1, 2, 4, 8, 16, 32, 64])), min_size=1, max_size=6)


def simulated(spans: list[tuple[int, int]], step: int, unit: int) -> tuple[int, Fraction]:
    """Return the bytes used per step, and the used share of lines, counted byte by byte over many iterations."""
    reach = 1 + 700 // step
    begin, end = reach, reach + LINE * (1 + 256 // step)
    starts = [(n * step + at - spans[0][0], size) for n in range(end + reach) for at, size in spans]
    touched = {start + k for start, size in starts for k in range(size)}
    inside = [byte for byte in touched if begin * step <= byte < end * step]
    lines = sum(len({(place + byte) // LINE for byte in inside}) for place in range(0, LINE, unit))
    return len(inside) // (end - begin), Fraction(len(inside) * LINE // unit, lines * LINE)


@given(SPANS, st.sampled_from([3, 8, 12, 16, 24, 48, 64, 72, 96, 128, 192, 256]))
@examples(20)
def test_the_share_is_that_of_bytes_counted_one_by_one(spans: list[tuple[int, int]], step: int) -> None:
    use = _use(spans, step)
    assert 0 < use.share(LINE) <= 1
    assert use.used <= use.stride
    assert step % use.stride == 0
    used, share = simulated(spans, step, gcd(use.unit, LINE))
    assert use.used * step == used * use.stride
    assert float(use.share(LINE)) == pytest.approx(float(share), rel=0.05)


@given(SPANS, st.sampled_from([8, 12, 24, 48, 64, 96, 256]), st.sampled_from([2, 3, 4]), st.sampled_from([1, -1]))
def test_unrolling_changes_neither_stride_nor_share(
    spans: list[tuple[int, int]], step: int, times: int, sign: int
) -> None:
    once = _use(spans, sign * step)
    unrolled = [(at + sign * copy * step, size) for copy in range(times) for at, size in spans]
    again = _use(unrolled, sign * step * times)
    assert again.share(LINE) == once.share(LINE)
    assert Fraction(again.used, again.stride) == Fraction(once.used, once.stride)
    if once.used < once.stride:
        assert (again.stride, again.pieces) == (once.stride, once.pieces)


REGISTERS = ("rdi", "rsi", "rax", "rbx", "rdx", "r8")


@given(st.permutations(["rdi", "rsi", "rbx", "r9", "r12", "rax"]))
@examples(20)
def test_names_of_registers_change_nothing(names: list[str]) -> None:
    body = (
        "movslq (%rdi), %rax; vaddsd (%rsi,%rax,8), %xmm0, %xmm0; vaddsd 24(%rbx), %xmm0, %xmm0; vmovsd %xmm0, (%rdx);"
        "addq $4, %rdi; addq $48, %rbx; cmpq %r8, %rdi; jne .L3"
    )
    new = dict(zip(REGISTERS, names, strict=True))
    renamed = re.sub(r"%(r\w+)", lambda match: f"%{new[match[1]]}", body)
    assert patterns(renamed) == patterns(body)
