"""What is found out about registers at a loop's entry, against running the code before it."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from bind_kernels import loop
from incc.frontends.asm.parse import parse
from incc.frontends.asm.preceding import code_before
from incc.frontends.asm.regions import innermost_loops, marked_regions
from incc.frontends.x86.kernels import decode_regions
from properties import examples

if TYPE_CHECKING:
    from incc.frontends.kernel import Affine

MASK = 2**64 - 1
# rsi and rdi are the loop's own pointers; a called function keeps rbx and r12.
REGISTERS = ("rax", "rbx", "rdx", "rsi", "rdi", "r12")
NOT_KEPT = ("rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11")

LOOP = """\
.Linner:
	vmovupd (%rax,%rbx), %ymm0
	vaddpd (%rdx,%rsi), %ymm0, %ymm0
	vmovupd %ymm0, (%rdi,%r12)
	addq $32, %rsi
	cmpq %r11, %rsi
	jne .Linner
"""


def entry_of(text: str) -> dict[str, Affine]:
    return {a.target: a for a in loop(f"\t.text\n\t.type f, @function\nf:\n{text}\tret\n\t.size f, .-f\n").entry}


def apart(entry: dict[str, Affine], a: str, b: str) -> int | None:
    """By how many bytes b lies behind a, None if that is not known."""
    if a not in entry or b not in entry or entry[a].terms != entry[b].terms:
        return None
    return entry[b].constant - entry[a].constant


@pytest.mark.parametrize(
    "step",
    [
        "addq $8, %rsi",
        "imulq %rcx, %rsi",
        "imulq %rsi, %rsi",
        "imulq %rcx, %rsi\n imulq %rsi, %rcx",
        "movq %rsi, 8(%rsp)\n movq 8(%rsp), %rsi",
        "movq $-16, %rcx\n andq %rcx, %rsi",
        "cmpq %rcx, %rsi\n je .Lout\n addq $8, %rsi",
        "testq %rcx, %rcx\n je 1f\n addq $8, %rsi\n1:",
    ],
)
@pytest.mark.parametrize("count", [1, 3000])
def test_values_of_any_number_of_steps(step: str, count: int) -> None:
    code = "\n ".join([step] * count)
    entry = entry_of(f"{code}\n movq %rsi, %rdi\n{LOOP}.Lout:\n")
    assert count > 1 or apart(entry, "rdi", "rsi") == 0


# --- by example ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("movq %rdi, %rsi\n addq $16, %rsi", 16),
        ("leaq 24(%rdi), %rsi", 24),
        ("leaq -8(%rdi,%rcx,8), %rsi\n leaq (%rdi,%rcx,8), %rdi", -8),
        ("leaq 1(%rcx), %rdx\n leaq (%r9,%rdx,8), %rsi\n leaq (%r9,%rcx,8), %rdi", 8),
        ("movq %rcx, %rax\n shlq $3, %rcx\n addq %r9, %rcx\n leaq 8(%r9,%rax,8), %rsi\n movq %rcx, %rdi", 8),
        ("movq %r9, %rsi\n subq %rcx, %rsi\n negq %rcx\n leaq 8(%r9,%rcx), %rdi", -8),
        ("leaq 8(%rdi), %rsi\n testq %rcx, %rcx\n je .L1\n incq %rax\n.L1:", 8),
        ("testq %rcx, %rcx\n je .L1\n leaq 8(%rdi), %rsi\n jmp .L2\n.L1: leaq 8(%rdi), %rsi\n.L2:", 8),
        ("leaq 8(%rbx), %rsi\n call g\n movq %rbx, %rdi\n leaq 8(%rbx), %rsi", 8),
        ("movq %rbx, 16(%rsp)\n call g\n movq 16(%rsp), %rdi\n leaq 8(%rbx), %rsi", 8),
        # What is not known:
        ("leaq 8(%rdi), %rsi\n call g", None),
        ("testq %rcx, %rcx\n je .L1\n leaq 8(%rdi), %rsi\n jmp .L2\n.L1: leaq 16(%rdi), %rsi\n.L2:", None),
        ("movq %rdi, %rsi\n imulq %rcx, %rsi", None),
        ("movq %rdi, %rsi\n cmoveq %rcx, %rsi", None),
        ("movq %rdi, %rsi\n movb $0, %sil", None),
        ("movl $a, %edi\n movl $b, %esi", None),
        ("leaq a(%rip), %rdi\n leaq b(%rip), %rsi", None),
        # Set by the callee, which was told the address.
        ("movq %rbx, 16(%rsp)\n leaq 16(%rsp), %rdi\n call g\n movq 16(%rsp), %rdi\n leaq 8(%rbx), %rsi", None),
        ("movq $0, 16(%rsp)\n movq $0, 24(%rsp)\n call g\n movq 16(%rsp), %rdi\n movq 24(%rsp), %rsi", None),
        ("movq %rbx, 16(%rsp)\n movl %ecx, 20(%rsp)\n movq 16(%rsp), %rdi\n leaq 8(%rbx), %rsi", None),
        ("movq %rbx, 16(%rsp)\n vmovups %ymm0, (%rsp)\n movq 16(%rsp), %rdi\n leaq 8(%rbx), %rsi", None),
        ("movq %rbx, 16(%rsp)\n movq %rcx, 8(%rsp,%rax,8)\n movq 16(%rsp), %rdi\n leaq 8(%rbx), %rsi", None),
        ("movq %rbx, 16(%rsp)\n subq $32, %rsp\n movq 16(%rsp), %rdi\n leaq 8(%rbx), %rsi", None),
    ],
)
def test_distance_of_two_pointers(code: str, expected: int | None) -> None:
    assert apart(entry_of(code + "\n" + LOOP), "rdi", "rsi") == expected


def test_pointers_set_before_loops_around_it() -> None:
    # Both are spilled before two loops around this one, and each way round leads through meetings of blocks.
    entry = entry_of(
        " leaq 8(%rbx), %rax\n movq %rax, 8(%rsp)\n movq %rbx, 16(%rsp)\n"
        ".Louter: testq %rcx, %rcx\n je .Lmiddle\n incq %rcx\n"
        ".Lmiddle: call g\n testq %rax, %rax\n jle .Lskip\n movq 8(%rsp), %rsi\n movq 16(%rsp), %rdi\n"
        + LOOP
        + ".Lskip: decl %r14d\n jne .Lmiddle\n decl %r13d\n jne .Louter\n"
    )
    assert apart(entry, "rdi", "rsi") == 8


def test_pointer_that_moves_in_a_loop_around_it() -> None:
    entry = entry_of(" leaq 8(%rdi), %rsi\n.Louter:\n" + LOOP + " addq $8, %rdi\n decl %r13d\n jne .Louter\n")
    assert apart(entry, "rdi", "rsi") is None


@pytest.mark.parametrize(
    ("before", "inside", "after", "expected"),
    [
        # Rows of an array, which a loop around steps through by the same number of bytes.
        (" leaq 8(%rdi), %rsi\n", "", " addq %rcx, %rdi\n addq %rcx, %rsi\n", 8),
        (" leaq 8(%rdi), %rsi\n", "", " addq $80, %rdi\n addq $80, %rsi\n", 8),
        (" xorl %r8d, %r8d\n", " leaq (%r9,%r8,8), %rdi\n leaq 16(%r9,%r8,8), %rsi\n", " addq %rcx, %r8\n", 16),
        (" leaq 8(%rdi), %rsi\n", "", " addq %rcx, %rdi\n addq %rax, %rsi\n", None),
        (" leaq 8(%rdi), %rsi\n", "", " addq $80, %rdi\n addq $88, %rsi\n", None),
        (" leaq 8(%rdi), %rsi\n", "", " addq %rcx, %rdi\n call g\n addq %rcx, %rsi\n", None),
    ],
)
def test_pointers_that_move_together_in_a_loop_around_it(
    before: str, inside: str, after: str, expected: int | None
) -> None:
    indexed = LOOP.replace("%rsi", "%r10").replace("(%rdx,%r10)", "(%rsi,%r10)")
    outer = f".Louter:\n xorl %r10d, %r10d\n{inside}{indexed}{after} decl %r13d\n jne .Louter\n"
    entry = entry_of(before + outer)
    assert apart(entry, "rdi", "rsi") == expected


def test_entered_in_the_middle() -> None:
    text = (
        "f: leaq 16(%rdi), %rsi\n jmp .L2\n movl $111, %ebx\n .byte 100,103,144\n"
        ".L1: vmovupd (%rdi,%rax), %ymm0\n.L2: vaddpd (%rsi,%rax), %ymm0, %ymm0\n addq $32, %rax\n cmpq %r9, %rax\n"
        " jne .L1\n"
        " movl $222, %ebx\n .byte 100,103,144\n ret\n"
    )
    assembly = parse(text)
    regions, _ = marked_regions(assembly)
    (kernel,) = decode_regions(text, regions, "f.s", before=code_before(assembly, regions))
    assert kernel.instructions[0].text.startswith("vmovupd")
    assert apart({a.target: a for a in kernel.entry}, "rdi", "rsi") == 16


# --- against running it ----------------------------------------------------------------------------------------------

register = st.sampled_from(REGISTERS)
small = st.integers(-4, 4).map(lambda n: 8 * n)
instruction = st.one_of(
    st.tuples(st.just("mov"), register, register),
    st.tuples(st.just("lea"), register, register, st.sampled_from((1, 2, 8)), small, register),
    st.tuples(st.sampled_from(("add", "sub")), register, register),
    st.tuples(st.just("addi"), small, register),
    st.tuples(st.just("shl"), st.integers(0, 3), register),
    st.tuples(st.sampled_from(("neg", "imul")), register),
    st.tuples(st.sampled_from(("spill", "reload")), register, st.sampled_from((16, 24))),
    st.tuples(st.just("call")),
)
block = st.lists(instruction, max_size=5)

TEXT = {
    "mov": "movq %{}, %{}",
    "lea": "leaq {3}(%{0},%{1},{2}), %{4}",
    "add": "addq %{}, %{}",
    "sub": "subq %{}, %{}",
    "addi": "addq ${}, %{}",
    "shl": "shlq ${}, %{}",
    "neg": "negq %{}",
    "imul": "imulq $7, %{0}, %{0}",
    "spill": "movq %{}, {}(%rsp)",
    "reload": "movq {1}(%rsp), %{0}",
    "call": "call g",
}
Code = list[tuple[object, ...]]


def assembly_of(code: Code) -> str:
    return "".join("\t" + TEXT[str(name)].format(*operands) + "\n" for name, *operands in code)


def run(code: Code, state: dict[object, int], numbers: random.Random) -> None:
    for name, *o in code:
        match name:
            case "mov":
                state[o[1]] = state[o[0]]
            case "lea":
                state[o[4]] = (state[o[0]] + state[o[1]] * int(str(o[2])) + int(str(o[3]))) & MASK
            case "add":
                state[o[1]] = (state[o[1]] + state[o[0]]) & MASK
            case "sub":
                state[o[1]] = (state[o[1]] - state[o[0]]) & MASK
            case "addi":
                state[o[1]] = (state[o[1]] + int(str(o[0]))) & MASK
            case "shl":
                state[o[1]] = (state[o[1]] << int(str(o[0]))) & MASK
            case "neg":
                state[o[0]] = -state[o[0]] & MASK
            case "imul":
                state[o[0]] = state[o[0]] * 7 & MASK
            case "spill":
                state[o[1]] = state[o[0]]
            case "reload":
                state[o[0]] = state[o[1]]
            case "call":
                for root in NOT_KEPT:
                    state[root] = numbers.getrandbits(64)


@examples(150)
@given(block, block, block, block, block, st.integers(0, 2**32))
def test_what_is_claimed_holds_whenever_the_loop_is_entered(
    first: Code, outer: Code, left: Code, right: Code, after: Code, seed: int
) -> None:
    entry = entry_of(
        assembly_of(first) + ".Louter:\n" + assembly_of(outer) + "\ttestq %r13, %r13\n\tje .Lright\n"
        + assembly_of(left) + "\tjmp .Lmeet\n.Lright:\n" + assembly_of(right) + ".Lmeet:\n" + LOOP + assembly_of(after)
        + "\tdecq %r14\n\tjne .Louter\n"
    )  # fmt: skip
    numbers = random.Random(seed)
    for _ in range(3):
        state: dict[object, int] = {place: numbers.getrandbits(64) for place in (*REGISTERS, *NOT_KEPT, 16, 24)}
        run(first, state, numbers)
        for _ in range(3):
            run(outer, state, numbers)
            run(numbers.choice((left, right)), state, numbers)
            for a in entry.values():
                if not a.terms:
                    assert state[a.target] == a.constant & MASK
                for b in entry.values():
                    if a.terms == b.terms:
                        assert (state[a.target] - state[b.target] - a.constant + b.constant) & MASK == 0
            state["rsi"] = (state["rsi"] + 32 * numbers.randrange(1, 5)) & MASK
            run(after, state, numbers)


def test_each_of_several_paths_through_a_loop_has_the_code_before_it() -> None:
    text = "f:\n  leaq 8(%rdi), %rsi\n.L1:\n  testl %eax, %eax\n  je .L2\n  addl $1, (%rdi)\n.L2:\n  addq $4, %rdi\n"
    text += "  cmpq %rdi, %rsi\n  jne .L1\n  ret\n"
    parsed = parse(text)
    (region,) = innermost_loops(parsed)[0]
    short = replace(region, lines=tuple(line for line in region.lines if line != 6))
    first, second = code_before(parsed, [region, short])
    assert first is not None
    assert first == second


ENTRIES = """
import sys
from msgspec.structs import replace
from incc.frontends.asm.parse import parse
from incc.frontends.asm.preceding import code_before
from incc.frontends.asm.regions import innermost_loops
from incc.frontends.x86.kernels import decode_regions

text = sys.stdin.read()
assembly = parse(text)
regions, _ = innermost_loops(assembly)
before = [each and replace(each, wanted=tuple({"rax", "rbx", "rdx", "r12"})) for each in code_before(assembly, regions)]
for kernel in decode_regions(text, regions, "random.s", before=before):
    print(kernel.name, kernel.entry, kernel.alone, kernel.held)
"""


def random_function(number: int, numbers: random.Random) -> str:
    """Return a function of many blocks that jump anywhere and seldom write a register, and of LOOP."""
    blocks = numbers.randint(8, 20)
    lines = [f".type f{number}, @function", f"f{number}:"]
    for block in range(blocks):
        lines.append(f".L{number}_{block}:")
        if numbers.random() < 0.2:
            one, other = numbers.sample(REGISTERS, 2)
            written = numbers.choice([f"addq $8, %{one}", f"movq %{one}, %{other}", f"leaq 8(%{one},%{other}), %{one}"])
            lines.append(written)
        lines += ["cmpq %rcx, %r8", f"jl .L{number}_{numbers.randrange(blocks)}"]
    return "\n".join([*lines, LOOP.replace("inner", f"inner{number}"), "ret", f".size f{number}, .-f{number}\n"])


def test_entries_do_not_depend_on_the_order_of_sets() -> None:
    """Python orders the strings of a set by the process's hash seed."""
    numbers = random.Random(0)
    text = ".text\n" + "".join(random_function(number, numbers) for number in range(400))
    outputs = {
        subprocess.run(
            [sys.executable, "-c", ENTRIES],
            input=text,
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in "0123"
    }
    assert len(outputs) == 1
    assert outputs.pop().count("Affine") > 400
