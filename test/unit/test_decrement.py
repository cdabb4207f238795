"""Loops without parts of their work: the code in place of accesses and arithmetic, and the predictions."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from generated_kernels import BLOCKS
from hypothesis import given
from hypothesis import strategies as st

import incc
from incc.core.decrement import decides_addresses, less_work, with_replaced
from incc.frontends.aarch64.decode import decode as decode_aarch64
from incc.frontends.isa import isa
from incc.frontends.kernel import Instruction, KernelCode
from incc.frontends.x86.decode import decode
from incc.frontends.x86.kernels import decode_bytes
from incc.models.binding.bind import bind
from incc.models.loading import load
from properties import examples

# What loads, and what stands in its place without a move, and with one. Registers 0 are written by the loop and zmm9,
# xmm9 and rsi only read.
LOADS = {
    "f20f1004c7": ("nopl (%rax,%rax)", "movaps %xmm9, %xmm0"),  # movsd (%rdi,%rax,8), %xmm0
    "c5fd1007": ("nopl (%rax)", "vmovaps %ymm1, %ymm0"),  # vmovupd (%rdi), %ymm0: ymm9 takes a byte more
    "c4e27d1907": ("nopl (%rax,%rax)", "vmovaps %ymm9, %ymm0"),  # vbroadcastsd (%rdi), %ymm0
    "8b07": ("xchg %ax, %ax", "mov %esi, %eax"),
    "0fb607": ("nopl (%rax)", "mov %esi, %eax"),  # movzbl (%rdi), %eax
    "f20f5804c7": ("addsd %xmm9, %xmm0", "addsd %xmm9, %xmm0"),
    "62f1fd585807": ("vaddpd %zmm9, %zmm0, %zmm0", "vaddpd %zmm9, %zmm0, %zmm0"),  # vaddpd (%rdi){1to8}, %zmm0, %zmm0
    "c4e2fdb88700010000": ("vfmadd231pd %ymm9, %ymm0, %ymm0", "vfmadd231pd %ymm9, %ymm0, %ymm0"),
    "3b07": ("cmp %esi, %eax", "cmp %esi, %eax"),
    "0f1607": ("nopl (%rax)", "nopl (%rax)"),  # movhps (%rdi), %xmm0
    "c4e269920c87": ("nopw (%rax,%rax)", "nopw (%rax,%rax)"),  # vgatherdps %xmm2, (%rdi,%xmm0,4), %xmm1
    "c5f97e07": ("nopl (%rax)", "nopl (%rax)"),  # vmovd %xmm0, (%rdi)
    "ff07": ("xchg %ax, %ax", "xchg %ax, %ax"),  # incl (%rdi)
}


@pytest.mark.parametrize("code", LOADS)
def test_an_access_is_replaced_in_its_length(code: str) -> None:
    instruction = decode(bytes.fromhex(code))
    for move, wanted in zip((False, True), LOADS[code], strict=True):
        left = isa("x86").without_access(instruction, {"zmm0", "rax"}, ["zmm9", "rsi", "zmm0"], move)
        assert left is not None
        assert [each.text for each in left] == [wanted]
        assert sum(each.length for each in left) == instruction.length
        assert not any(each.memory for each in left)


@pytest.mark.parametrize(
    "code",
    [
        "50",  # push %rax
        "dd07",  # fldl (%rdi), on whose push later instructions depend
        "f0ff07",  # lock incl (%rdi)
        "ff17",  # call *(%rdi)
        "f3a4",  # rep movsb
    ],
)
def test_some_accesses_stay(code: str) -> None:
    assert isa("x86").without_access(decode(bytes.fromhex(code)), set(), [], False) is None


@pytest.mark.parametrize(
    ("code", "wanted"),
    [
        ("c5fb580511111111", "vmovsd 0x11111111(%rip), %xmm0"),  # vaddsd: the address counts from the same end
        ("c4e2fdb88700010000", "vmovups 0x100(%rdi), %ymm0"),
        ("f20f5804c7", "movsd (%rdi,%rax,8), %xmm0"),
        ("c5fb5847f8", "vmovsd -8(%rdi), %xmm0"),
        ("c5fb58c1", "nopl (%rax)"),
    ],
)
def test_without_arithmetic_an_operation_still_loads(code: str, wanted: str) -> None:
    instruction = decode(bytes.fromhex(code))
    (left,) = isa("x86").without_arithmetic(instruction)
    assert (left.text, left.length, left.memory) == (wanted, instruction.length, instruction.memory)


@pytest.mark.parametrize(
    ("text", "still", "moved"),
    [
        ("ldr x0, [x1]", "nop", "mov x0, #0"),
        ("ldr q0, [x1], #16", "add x1, x1, #16", "add x1, x1, #16"),
        ("str q0, [x1, #-16]!", "sub x1, x1, #16", "sub x1, x1, #16"),
        ("ld1d z0.d, p0/z, [x1, x2, lsl 3]", "nop", "movi v0.2d, #0"),
        ("ldp x0, x2, [x1]", "nop", ""),
        ("stp x0, x2, [x1]", "nop", "nop"),
    ],
)
def test_an_access_on_arm_is_replaced(text: str, still: str, moved: str) -> None:
    instruction = decode_aarch64(text)
    for move, wanted in ((False, still), (True, moved)):
        left = isa("aarch64").without_access(instruction, {"x0", "z0"}, [], move)
        assert [each.text for each in left or ()] == [wanted][: bool(wanted)]


def _bytes(instructions: tuple[Instruction, ...]) -> bytes:
    return b"".join(each.encoding for each in instructions)


@examples(60)
@given(
    st.sampled_from(BLOCKS),
    st.sampled_from(["skylake", "znver4"]),
    st.sampled_from([(), ("vector",), ("vector", "general")]),
)
def test_variants_are_code_of_the_same_length(block: str, core: str, moves: tuple[str, ...]) -> None:
    kernel = decode_bytes(bytes.fromhex(block), "loop", True)
    bound, _ = bind(kernel, load(core))
    for work in less_work(kernel, bound, moves):
        variant = with_replaced(kernel, work.replaced)
        code = _bytes(variant.instructions)
        assert len(code) == len(bytes.fromhex(block))
        assert [i.encoding for i in decode_bytes(code, "loop", True).instructions] == [
            i.encoding for i in variant.instructions
        ]
        _assert_left_out(kernel, variant, work.kind, len(work.kept))


def _assert_left_out(kernel: KernelCode, variant: KernelCode, kind: str, kept: int) -> None:
    def count(code: KernelCode, store: bool) -> int:
        return sum(any(m.store if store else m.load for m in i.memory) for i in code.instructions)

    if kind in ("loads", "memory"):
        assert count(variant, store=False) <= kept
    if kind in ("stores", "memory"):
        assert count(variant, store=True) <= kept
    if kind == "load":
        assert count(variant, store=False) == count(kernel, store=False) - 1 + kept


# Its three accesses take 1.5 cycles on ports 2 and 3, and 1.75 with the lines that unaligned arrays cross.
TRIAD = """
.L3:
	vmovupd	(%rsi,%rax), %ymm0
	vfmadd213pd	(%rdx,%rax), %ymm1, %ymm0
	vmovupd	%ymm0, (%rdi,%rax)
	addq	$32, %rax
	cmpq	%rax, %rcx
	jne	.L3
"""


def test_the_parts_of_a_triad() -> None:
    (kernel,) = incc.analyze(TRIAD, mcpu="skylake", what_ifs=False, decrements=True)
    assert kernel.cycles == 1.75
    assert dict(kernel.decrements) == {
        "the load of (%rsi,%rax) (line 3)": 1.5,  # six issue slots, one of them for a no-operation
        "the load of (%rdx,%rax) (line 4)": 1.25,  # the load and the addition took a slot each
        "the store of (%rdi,%rax) (line 5)": 1.5,
        "all 2 loads": 1.25,
        "all 3 accesses to memory": 1.25,
        "floating-point arithmetic": 1.75,
        "anything but floating-point arithmetic and branches": 1.25,
    }


def test_a_chain_through_a_removed_load_is_gone() -> None:
    """A list's load is its chain; where the rest would chain, a move stands in place of the load."""
    (kernel,) = incc.analyze("1: movq (%rdi), %rdi\n testq %rdi, %rdi\n jne 1b\n", mcpu="skylake", decrements=True)
    assert kernel.cycles == 4
    assert dict(kernel.decrements) == {"the load of (%rdi) (line 1)": 1}
    text = "1: movsd (%rdi), %xmm0\n mulsd %xmm1, %xmm0\n addq $8, %rdi\n cmpq %rdi, %rsi\n jne 1b\n"
    (kernel,) = incc.analyze(text, mcpu="skylake", decrements=True)
    assert kernel.decrements["the load of (%rdi) (line 1)"] < 2, "not the latency of a multiplication"


def test_loads_of_indices_decide_addresses() -> None:
    gather = decode_bytes(bytes.fromhex("488b0ef20f5804cf4883c6084839d675ef"), "loop", True)
    assert [decides_addresses(gather, [load]) for load in (0, 1)] == [True, False]
    assert not decides_addresses(gather, [0, 1])


def test_nothing_is_simulated_without_a_request() -> None:
    assert dict(incc.analyze(TRIAD, mcpu="skylake")[0].decrements) == {}


def test_accesses_of_an_array_are_left_out_together(tmp_path: Path) -> None:
    text = (
        "1: movsd -8(%rsi,%rax,8), %xmm0\n addsd 8(%rsi,%rax,8), %xmm0\n addsd (%rdx,%rax,8), %xmm0\n"
        " movsd %xmm0, (%rdi,%rax,8)\n addq $1, %rax\n cmpq %rax, %rcx\n jne 1b\n"
    )
    (kernel,) = incc.analyze(text, mcpu="skylake", decrements=True)
    assert "the 2 accesses to one array (lines 1, 2)" in kernel.decrements


@pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc")
def test_the_store_of_an_aliasing_stencil_costs_cycles(tmp_path: Path) -> None:
    """The example of docs/decremental.md: with 64 bytes more between its arrays the store costs nothing."""
    source = Path(__file__).parents[2] / "examples/decan/stencil.c"
    gains = []
    for pad in (0, 1):
        target = tmp_path / f"{pad}.s"
        flags = ("-O1", f"-DPAD={pad}", "-march=haswell", "-S")
        subprocess.run(["gcc", *flags, str(source), "-o", str(target)], check=True)
        report = incc.analyze(target, mcpu="haswell", functions=["product"], what_ifs=False, decrements=True)
        (kernel,) = report
        (store,) = (cycles for text, cycles in kernel.decrements.items() if text.startswith("the store of"))
        gains.append(kernel.cycles - store)
    assert gains[0] > gains[1] + 0.5
