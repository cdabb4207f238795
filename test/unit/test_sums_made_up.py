"""Where additions of constants that the renamer folds are made up: cycles a trip as measured on a Golden Cove."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from bind_kernels import kernel as decoded
from incc.core import simulate
from incc.models.binding.bind import bind
from incc.models.binding.bound import BoundKernel
from incc.models.loading import load

SHIFTS = [f"shl $1, %r{n}" for n in range(9, 14)]
CHAINS = [line for r in ("rax", "rbx", "rcx", "rdx") for line in (f"add $5, %{r}", f"shl $1, %{r}")]


def bound(*lines: str) -> BoundKernel:
    text = "1: " + "; ".join([*lines, "dec %r15", "jne 1b"])
    return bind(replace(decoded(text), alignment=0), load("sapphirerapids"))[0]


@pytest.mark.parametrize(
    ("lines", "measured"),
    [
        (["shl $1, %rax", *SHIFTS], 3.50),
        (["add $5, %rax", "shl $1, %rax", *SHIFTS], 3.99),
        (["add $5, %rax", "rorx $3, %rax, %rbx", *SHIFTS, "shl $1, %r14", "shl $1, %rdi"], 4.99),
        (["add $5, %rax", "vmovq %rax, %xmm0", *SHIFTS], 3.01),
        (["add $5, %rax", "mov %rax, (%rsi,%r8,8)", *SHIFTS], 3.01),
        (CHAINS[:2], 3.00),
        (CHAINS, 4.62),
    ],
)
def test_for_shifts_on_their_ports(lines: list[str], measured: float) -> None:
    assert float(simulate(bound(*lines)).cycles_per_iteration) == pytest.approx(measured, rel=0.02)


def test_the_port_is_that_of_what_needs_the_sum() -> None:
    def ports(*lines: str) -> list[str]:
        k = bound(*lines)
        return [name for n, name in enumerate(k.port_names) if k.uop_ports[0] >> n & 1]

    assert ports("add $5, %rax", "shl $1, %rax") == ["0", "6"]
    assert ports("add $5, %rax", "mov %rax, %rbx", "shl $1, %rbx") == ["0", "6"]
    assert ports("add $5, %rax", "vmovq %rax, %xmm0") == ["0", "1", "5", "6", "B"]
    assert ports("add $5, %rax", "adc %rsi, %rax") == ["0", "1", "5", "6", "B"]
