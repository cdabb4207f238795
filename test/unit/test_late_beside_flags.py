"""cmov and setcc with flags of logic, as measured on Redwood Cove (cycles a trip)."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from bind_kernels import kernel as decoded
from incc.core import bounds, simulate
from incc.models.binding.bind import bind
from incc.models.loading import load


@pytest.mark.parametrize(
    ("lines", "least", "simulated", "measured"),
    [
        (["test %rdx, %rdx", "cmovne %rdx, %r13"] * 3, 3, 6, 5.49),
        (["test %r11, %r11", "cmovne %r11, %r10", "xor %eax, %eax", "mov %r10, (%rdx)"] * 2, 2, 4, 3.99),
        (["testb $12, 0x1B(%rsi)", "sete %al"] * 3, 3, 6, 5.49),
        (["cmpl $0x51, 0x24(%rdx)", "cmove %rcx, %rax"] * 3, 3, 3, 2.99),
        (["cmpq $1, 0x18(%r12)", "sete %al"] * 3, 3, 3, 3.00),
    ],
)
def test_chains(lines: list[str], least: int, simulated: int, measured: float) -> None:
    text = "1: " + "; ".join([*lines, "dec %r15", "jne 1b"])
    k = bind(replace(decoded(text), alignment=0), load("graniterapids"))[0]
    assert bounds(k).largest == least <= measured + 0.02
    assert simulate(k).cycles_per_iteration == simulated == pytest.approx(measured, rel=0.1)
