"""The hint on old values of registers that results do not need, and cores that do not wait for them."""

from __future__ import annotations

import pytest

import incc


def analysed(*body: str, mcpu: str = "skylake-avx512") -> incc.Kernel:
    text = "".join(f"\t{line}\n" for line in (*body, "incq %rax", "cmpq %rdx, %rax", "jne .L1"))
    (kernel,) = incc.analyze(f".L1:\n{text}", mcpu=mcpu)
    return kernel


def hint(kernel: incc.Kernel) -> dict[str, object] | None:
    found = [each for each in kernel.to_dict()["hints"] if each["rule"] == "old-destination"]
    return found[0] if found else None


STORED = "vmovsd %xmm0, (%rsi,%rax,8)"
GATHER = "vgatherdpd (%rdi,%ymm1,8), %zmm0{%k1}"


@pytest.mark.parametrize(
    ("body", "register"),
    [
        (("cvtsi2sdl (%rdi,%rax,4), %xmm0", "movsd %xmm0, (%rsi,%rax,8)"), "xmm0"),
        (("vcvtsi2sdl (%rdi,%rax,4), %xmm0, %xmm0", STORED), "xmm0"),
        (("vsqrtsd (%rdi,%rax,8), %xmm2, %xmm0", "vaddsd %xmm0, %xmm1, %xmm2", "vmovsd %xmm2, (%rsi,%rax,8)"), "xmm2"),
        (("roundsd $1, (%rdi,%rax,8), %xmm3", "movsd %xmm3, (%rsi,%rax,8)"), "xmm3"),
        (("vmovupd (%rdi,%rax,8), %ymm1", "kmovb %k2, %k1", GATHER, "vmovapd %zmm0, %zmm3"), "zmm0"),
    ],
)
def test_the_gain_is_that_of_the_loop_with_the_register_cleared(body: tuple[str, ...], register: str) -> None:
    kernel = analysed(*body)
    found = hint(kernel)
    assert found is not None
    assert found["evidence"]["registers"] == [register]  # type: ignore[index]
    assert "clear the register before" in str(found["source_change"])
    number = next(i for i, line in enumerate(body) if register in line and "mov" not in line)
    clear = f"vpxor %x{register[1:]}, %x{register[1:]}, %x{register[1:]}"
    cleared = analysed(*body[:number], clear, *body[number:])
    assert hint(cleared) is None
    assert found["gain"] == pytest.approx(kernel.cycles / cleared.cycles, rel=0.08)


@pytest.mark.parametrize(
    "body",
    [
        ("vcvtsi2sdl (%rdi,%rax,4), %xmm0, %xmm0", "vmovupd %xmm0, (%rsi,%rax,8)"),  # the whole register is stored
        ("vcvtsi2sdl (%rdi,%rax,4), %xmm1, %xmm0", STORED),  # nothing in the loop writes the operand
        ("vxorps %xmm0, %xmm0, %xmm0", "vcvtsi2sdl (%rdi,%rax,4), %xmm0, %xmm0", STORED),
        ("vaddsd (%rdi,%rax,8), %xmm0, %xmm0",),  # a sum
        ("vaddsd (%rsi), %xmm1, %xmm0", "vmovsd %xmm0, (%rsi)"),  # a sum in memory
        ("vmovupd (%rdi,%rax,8), %ymm1", "vpcmpgtd %zmm5, %zmm1, %k1", GATHER, "vmovapd %zmm0, %zmm3"),
        ("movb (%rdi,%rax), %cl", "movq %rcx, (%rsi,%rax,8)"),
    ],
)
def test_needed_values_are_no_mistake(body: tuple[str, ...]) -> None:
    assert hint(analysed(*body)) is None


def test_a_byte_is_written_into_a_register() -> None:
    body = ("movb (%rdi,%rax), %cl", "addb $3, %cl", "addb %cl, %cl", "addb $5, %cl", "movb %cl, (%rsi,%rax)")
    found = hint(analysed(*body))
    assert found is not None
    assert found["evidence"]["registers"] == ["cl"]  # type: ignore[index]
    assert "zero extension" in str(found["source_change"])


@pytest.mark.parametrize(
    ("instruction", "cycles"),
    [
        # Cycles measured on a Zen 5: 0.99, 0.97, 0.97, 17.4, 2.97.
        ("cvtsi2sdl (%rdi), %xmm0", 1.0),
        ("vroundsd $1, (%rdi), %xmm0, %xmm0", 1.0),
        ("rcpss (%rdi), %xmm0", 1.0),
        ("vsqrtsd (%rdi), %xmm0, %xmm0", None),
        ("vrndscalesd $1, (%rdi), %xmm0, %xmm0", 3.0),
    ],
)
def test_zen_5_skips_elements_that_are_zero(instruction: str, cycles: float | None) -> None:
    kernel = analysed(instruction, mcpu="znver5")
    assert cycles is None or kernel.cycles == pytest.approx(cycles)
    assert (hint(kernel) is None) == (cycles == 1.0)


def test_zen_5_waits_for_elements_that_a_loop_uses() -> None:
    scalar = analysed("cvtsi2sdl (%rdi), %xmm0", mcpu="znver5")
    assert analysed("cvtsi2sdl (%rdi), %xmm0", "addpd %xmm0, %xmm1", mcpu="znver5").cycles > scalar.cycles + 1
