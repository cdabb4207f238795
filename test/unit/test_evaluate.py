"""The evaluator of integer code, against the processor that the test runs on."""

from __future__ import annotations

import ctypes
import mmap
import platform
import shutil
import struct
import sys
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from incc.frontends.isa import isa, words
from incc.frontends.kernel import Instruction, Region
from incc.frontends.x86.evaluate import IntegerEvaluator

# r15 holds the address of the state while code runs natively, and rsp is the stack's.
ROOTS = ["rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rbp", *(f"r{n}" for n in range(8, 15))]
FLAGS = {"C": 0, "P": 2, "A": 4, "Z": 6, "S": 7, "O": 11}
NEWER = words("popcnt tzcnt lzcnt blsr blsi blsmsk andn shlx shrx sarx bextr bzhi rorx")
CONDITIONS = words("o no b ae e ne be a s ns p np l ge le g")


def decoded(text: str) -> list[Instruction]:
    """Return the instructions of an assembly text, with one statement a line."""
    lines = tuple(range(1, text.count("\n") + 2))
    region = Region(kind="file", name="", first_line=1, last_line=lines[-1], lines=lines, body_lines=lines)
    (kernel,) = isa("x86").decode_regions(text, [region], "t.s")
    assert not kernel.refused
    return list(kernel.instructions)


def evaluated(text: str, **registers: int) -> IntegerEvaluator:
    evaluator = IntegerEvaluator()
    evaluator.reset(registers, {})
    for instruction in decoded(text):
        evaluator.run(instruction)
    return evaluator


# --- natively --------------------------------------------------------------------------------------------------------

IS_NATIVE = platform.machine() == "x86_64" and sys.platform == "linux" and shutil.which("as") is not None
native_only = pytest.mark.skipif(not IS_NATIVE, reason="no x86-64 Linux with an assembler")


@cache
def _frame() -> tuple[bytes, bytes]:
    """Return the code that loads the registers from a state in rdi, and the code that stores them there."""
    saved = ["rbx", "rbp", "r12", "r13", "r14", "r15"]
    before = [f"pushq %{root}" for root in saved] + ["movq %rdi, %r15"]
    before += ["pushq 112(%r15)", "popfq", *(f"movq {8 * n}(%r15), %{root}" for n, root in enumerate(ROOTS))]
    after = [*(f"movq %{root}, {8 * n}(%r15)" for n, root in enumerate(ROOTS)), "pushfq", "popq 112(%r15)"]
    after += [f"popq %{root}" for root in reversed(saved)] + ["ret"]
    first, second = (b"".join(i.encoding for i in decoded("\n".join(lines))) for lines in (before, after))
    return first, second


def run_natively(instructions: list[Instruction], values: list[int], flags: int) -> tuple[list[int], int]:
    """Run straight code on this processor; returns the registers `ROOTS` and the flags."""
    before, after = _frame()
    with mmap.mmap(-1, 1 << 14, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC) as page:
        page.write(before + b"".join(i.encoding for i in instructions) + after)
        state = (ctypes.c_uint64 * 16)(*values, flags | 2)
        view = ctypes.c_char.from_buffer(page)
        ctypes.CFUNCTYPE(None, ctypes.c_void_p)(ctypes.addressof(view))(ctypes.addressof(state))
        del view
        return list(state)[: len(ROOTS)], state[14]


# --- random code -----------------------------------------------------------------------------------------------------


def _named(root: str, width: int) -> str:
    if root[1:].isdigit():
        return f"%{root}" + {64: "", 32: "d", 16: "w", 8: "b"}[width]
    stem = root[1:]
    if width == 8:
        return f"%{stem[0]}l" if stem[1] == "x" else f"%{stem}l"
    return "%" + {64: "r", 32: "e", 16: ""}[width] + stem


roots = st.sampled_from(ROOTS)
widths = st.sampled_from([8, 16, 32, 64])
wide = st.sampled_from([16, 32, 64])
numbers = st.one_of(st.integers(-130, 130), st.integers(-(2**31), 2**31 - 1))
SUFFIX = {8: "b", 16: "w", 32: "l", 64: "q"}


@st.composite
def binary(draw: st.DrawFn) -> str:
    width = draw(widths)
    name = draw(st.sampled_from(words("add sub adc sbb and or xor cmp test mov"))) + SUFFIX[width]
    target = draw(st.one_of(roots.map(lambda root: _named(root, width)), st.just("-16(%rsp)")))
    if draw(st.booleans()):
        return f"{name} {_named(draw(roots), width)}, {target}"
    number = draw(numbers)
    number = number if width >= 32 else (number + 2 ** (width - 1)) % 2**width - 2 ** (width - 1)
    return f"{name} ${number}, {target}"


@st.composite
def unary(draw: st.DrawFn) -> str:
    width = draw(widths)
    name = draw(st.sampled_from(words("inc dec neg not")))
    return f"{name}{SUFFIX[width]} {_named(draw(roots), width)}"


@st.composite
def shift(draw: st.DrawFn) -> str:
    width = draw(widths)
    count = draw(st.one_of(st.integers(0, 70).map(lambda n: f"${n}"), st.just("%cl")))
    return f"{draw(st.sampled_from(words('shl shr sar rol ror')))}{SUFFIX[width]} {count}, {_named(draw(roots), width)}"


@st.composite
def other(draw: st.DrawFn) -> str:
    width = draw(wide)
    one, two = (_named(draw(roots), width) for _ in range(2))
    long, longer = (draw(roots) for _ in range(2))
    condition = draw(st.sampled_from(CONDITIONS))
    return draw(
        st.sampled_from(
            [
                f"set{condition} {_named(long, 8)}",
                f"cmov{condition} {one}, {two}",
                f"leaq {draw(numbers)}(%{long},%{longer},{draw(st.sampled_from([1, 2, 4, 8]))}), %{draw(roots)}",
                f"leal 3(,%{long},4), {_named(longer, 32)}",
                f"movzbl {_named(long, 8)}, {_named(longer, 32)}",
                f"movswq {_named(long, 16)}, %{longer}",
                f"movslq {_named(long, 32)}, %{longer}",
                f"movabsq ${draw(st.integers(-(2**63), 2**63 - 1))}, %{long}",
                f"xchg {one}, {two}",
                f"imul {one}, {two}",
                f"imul ${draw(st.integers(-100, 100))}, {one}, {two}",
                f"mul{SUFFIX[width]} {one}",
                f"imul{SUFFIX[width]} {one}",
                *words("cbtw cwtl cltq cwtd cltd cqto"),
                f"bt {one}, {two}",
                f"bts ${draw(st.integers(0, 15))}, {two}",
                f"bswapq %{long}",
                f"pushq %{long}\npopq %{longer}",
                f"movq %{long}, -16(%rsp)\nmovl -14(%rsp), {_named(longer, 32)}",
                f"bsf {one}, {two}",
                f"bsr {one}, {two}",
            ]
        )
    )


@cache
def has_bmi() -> bool:
    information = Path("/proc/cpuinfo")
    return information.exists() and {"bmi1", "bmi2", "abm", "popcnt"} <= set(information.read_text().split())


@st.composite
def newer(draw: st.DrawFn) -> str:
    width = draw(st.sampled_from([32, 64]))
    one, two, three = (_named(draw(roots), width) for _ in range(3))
    name = draw(st.sampled_from(NEWER))
    if name == "rorx":
        return f"rorx ${draw(st.integers(0, 63))}, {one}, {two}"
    if name in ("andn", "shlx", "shrx", "sarx", "bextr", "bzhi"):
        return f"{name} {one}, {two}, {three}"
    return f"{name} {one}, {two}"


values = st.one_of(st.integers(0, 2**64 - 1), st.integers(0, 300), st.sampled_from([0, 1, 2**31, 2**63, 2**64 - 1]))


@native_only
@settings(max_examples=120, deadline=None)
@given(
    st.lists(st.one_of(binary(), unary(), shift(), other(), newer()), min_size=1, max_size=12),
    st.lists(values, min_size=len(ROOTS), max_size=len(ROOTS)),
    st.integers(0, 63),
)
def test_registers_and_flags_are_those_of_the_processor(code: list[str], first: list[int], flags: int) -> None:
    if not has_bmi():
        code = [line for line in code if line.split()[0] not in NEWER]
    instructions = decoded("\n".join(["movq $77, -16(%rsp)", *code]))
    word = sum(1 << bit for n, bit in enumerate(FLAGS.values()) if flags >> n & 1)
    after, flags_after = run_natively(instructions, first, word)
    evaluator = IntegerEvaluator()
    evaluator.reset(dict(zip(ROOTS, first, strict=True)), {})
    evaluator.flags = {flag: word >> bit & 1 for flag, bit in FLAGS.items()}
    for instruction in instructions:
        evaluator.run(instruction)
    registers = evaluator.registers
    for root, value in zip(ROOTS, after, strict=True):
        assert registers[root] in (None, value), root
    for flag, bit in FLAGS.items():
        assert evaluator.flags[flag] in (None, flags_after >> bit & 1), flag
    undefined = ("bsf", "bsr", "shl", "sar", "shr", "mul", "imul", "bt", "bts", "bextr", "andn", "and", "or", "xor")
    if not any(i.mnemonic in (*undefined, "test", "rol", "ror", "popcnt", "bzhi") for i in instructions):
        assert None not in [registers[root] for root in ROOTS]


@native_only
@given(st.integers(0, 2**64 - 1), st.integers(1, 2**63), st.sampled_from(["div", "idiv"]))
@settings(max_examples=30, deadline=None)
def test_divisions(dividend: int, divisor: int, name: str) -> None:
    text = ("cqto" if name == "idiv" else "xorl %edx, %edx") + f"\n{name}q %rcx"
    first = [dividend if root == "rax" else divisor if root == "rcx" else 5 for root in ROOTS]
    after, _ = run_natively(decoded(text), first, 0)
    registers = evaluated(text, rax=dividend, rcx=divisor).registers
    assert [registers["rax"], registers["rdx"]] == [after[ROOTS.index("rax")], after[ROOTS.index("rdx")]]


# --- what is not known -----------------------------------------------------------------------------------------------


def test_a_32_bit_write_of_something_unknown_clears_the_upper_half() -> None:
    registers = evaluated("movl (%rsi), %eax\nshrq $32, %rax\nmovl (%rsi), %ecx", rsi=64).registers
    assert registers["rax"] is None
    assert evaluated("movl (%rsi), %eax\nmovb $3, %al\nmovzbl %al, %eax").registers["rax"] == 3


def test_memory_that_was_stored_is_loaded_again() -> None:
    evaluator = evaluated(
        "pushq %rdi\nmovl $7, 8(%rsi)\nmovq 8(%rsi), %rax\nmovl 8(%rsi), %edx\npopq %rcx", rdi=9, rsi=64
    )
    registers = evaluator.registers
    assert registers["rax"] is None
    assert (registers["rdx"], registers["rcx"]) == (7, 9)


def test_a_vector_store_makes_memory_unknown() -> None:
    assert evaluated("movl $7, 8(%rsi)\nmovups %xmm0, (%rsi)\nmovl 8(%rsi), %eax", rsi=64).registers["rax"] is None


def test_calls_keep_the_registers_of_the_abi() -> None:
    registers = evaluated("call f", rax=1, rbx=2, r11=3, r12=4).registers
    assert [registers[root] for root in ("rax", "rbx", "r11", "r12")] == [None, 2, None, 4]


def test_zero_idioms_need_no_known_register() -> None:
    assert evaluated("xorl %eax, %eax").registers["rax"] == 0


def test_symbols_are_far_apart_and_constant() -> None:
    text = "leaq a+8(%rip), %rax\nmovl $a, %ecx\nleaq b(%rip), %rdx\nmovl $3, a+8(%rip)\nmovl (%rax), %esi"
    registers = evaluated(text).registers
    assert registers["rsi"] == 3
    assert registers["rax"] is not None
    assert registers["rdx"] is not None
    assert registers["rdx"] - registers["rax"] > 1 << 30


@pytest.mark.parametrize(
    ("n", "condition", "taken"), [(7, "jb", True), (8, "jb", False), (-1, "jl", True), (-1, "jb", False)]
)
def test_a_conditional_branch_is_taken_or_not(n: int, condition: str, taken: bool) -> None:
    evaluator = IntegerEvaluator()
    evaluator.reset({"rdi": n}, {})
    compare, branch, label, _ = [*decoded(f"cmpq $8, %rdi\n{condition} .L1\n.L1:\nret"), None]
    assert compare is not None
    assert branch is not None
    evaluator.run(compare)
    assert evaluator.run(branch) is taken
    assert label is not None


def test_a_trace_follows_linear_sources() -> None:
    evaluator = IntegerEvaluator()
    evaluator.reset({"rdi": 1 << 44, "rsi": 1 << 45}, {}, trace=True)
    for instruction in decoded("leaq (%rdi,%rsi,8), %rax\nmovl -8(%rax), %ecx\nshrq $2, %rsi\ncmpq %rcx, %rsi"):
        evaluator.run(instruction)
    assert (("rdi", 1), ("rsi", 8)) in evaluator.addresses
    assert set(evaluator.flag_terms) == {"rsi", ((1 << 44) + (1 << 48) - 8, 4)}


def test_packed_memory_is_read_by_bytes() -> None:
    evaluator = IntegerEvaluator()
    evaluator.reset({"rdi": 256}, {(256, 8): struct.unpack("<Q", b"abcdefgh")[0]})
    for instruction in decoded("movzwl 3(%rdi), %eax"):
        evaluator.run(instruction)
    assert evaluator.registers["rax"] == int.from_bytes(b"de", "little")


def test_other_instruction_sets_have_no_evaluator() -> None:
    assert isa("aarch64").evaluator() is None


# --- vector registers -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("between", "rax"),
    [
        ("", 0x1122334455667788),
        ("vmovdqa %xmm1, %xmm2\nvpxor %xmm1, %xmm1, %xmm1\nmovaps %xmm2, %xmm1", 0x1122334455667788),
        ("vmovq %xmm1, -8(%rsp)\nvmovd -8(%rsp), %xmm1", 0x55667788),
        ("vmovd %xmm1, %ecx\nmovd %ecx, %xmm1", 0x55667788),
        ("vpaddq %xmm1, %xmm1, %xmm1", None),
        ("call f", None),
        ("vmovdqu (%rdi), %xmm1", None),
        ("vmovdqa64 %xmm3, %xmm1{%k1}", None),
    ],
)
def test_integers_in_vector_registers_are_known_until_something_else_writes_them(between: str, rax: int | None) -> None:
    text = "\n".join(filter(None, ("movq %rbx, %xmm1", between, "movq %xmm1, %rax")))
    assert evaluated(text, rbx=0x1122334455667788).registers["rax"] == rax


def test_blocks_compute_what_single_instructions_do() -> None:
    text = "addq %rbx, %rax\nincq %rax\nshlq %cl, %rbx\nadcq $0, %rax\ncmpq %rax, %rbx\nja f"
    evaluator = IntegerEvaluator()
    run = evaluator.block(decoded(text))
    for rax, rbx, rcx in ((1, 2, 0), (2**64 - 1, 7, 0), (2**64 - 5, 3, 63), (9, 2**63, 1)):
        registers = {"rax": rax, "rbx": rbx, "rcx": rcx}
        evaluator.reset(registers, {})
        taken = run()
        alone = evaluated(text, **registers)
        assert (evaluator.registers, evaluator.flags) == (alone.registers, alone.flags)
        assert taken == (not alone.flags["C"] and not alone.flags["Z"])
