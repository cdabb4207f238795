"""Loops of random instructions, the same in every run: what properties of the simulation are tested on."""

from __future__ import annotations

import random
from collections.abc import Callable

REGISTERS = ["rax", "rbx", "rcx", "rdx", "rsi", "rdi", "r8", "r9"]
STATEMENTS: list[Callable[[random.Random], str]] = [
    lambda r: f"add %{r.choice(REGISTERS)}, %{r.choice(REGISTERS)}",
    lambda r: f"mov %{r.choice(REGISTERS)}, %{r.choice(REGISTERS)}",
    lambda r: f"imul %{r.choice(REGISTERS)}, %{r.choice(REGISTERS)}",
    lambda r: f"lea {r.randrange(99)}(%{r.choice(REGISTERS)},%{r.choice(REGISTERS)}), %{r.choice(REGISTERS)}",
    lambda r: f"mov {8 * r.randrange(4)}(%rbp), %{r.choice(REGISTERS)}",
    lambda r: f"mov %{r.choice(REGISTERS)}, {8 * r.randrange(4)}(%rbp)",
    lambda r: f"xor %{r.choice(REGISTERS)}, %{r.choice(REGISTERS)}",
    lambda r: f"shl $3, %{r.choice(REGISTERS)}",
    lambda r: f"vfmadd231pd %ymm{r.randrange(4)}, %ymm{r.randrange(4)}, %ymm{r.randrange(4)}",
    lambda r: f"vaddpd {32 * r.randrange(4)}(%rbp), %ymm{r.randrange(4)}, %ymm{r.randrange(4)}",
    lambda r: f"vpshufd $3, %xmm{r.randrange(4)}, %xmm{r.randrange(4)}",
]
# For cores without AVX.
OLD_STATEMENTS: list[Callable[[random.Random], str]] = [
    *STATEMENTS[:8],
    lambda r: f"mulpd %xmm{r.randrange(4)}, %xmm{r.randrange(4)}",
    lambda r: f"addps {16 * r.randrange(4)}(%rbp), %xmm{r.randrange(4)}",
    lambda r: f"pshufd $3, %xmm{r.randrange(4)}, %xmm{r.randrange(4)}",
    lambda r: f"sub %{r.choice(REGISTERS)}, {8 * r.randrange(4)}(%rbp)",
    lambda r: f"divsd %xmm{r.randrange(4)}, %xmm{r.randrange(4)}" if r.randrange(8) == 0 else "nop",
]


def some_statements(seed: int, length: int = 0, old: bool = False) -> list[str]:
    """1 to 13 instructions if no length is given; none reads flags or branches."""
    r = random.Random(seed)
    return [r.choice(OLD_STATEMENTS if old else STATEMENTS)(r) for _ in range(length or r.randrange(1, 14))]


def some_body(seed: int, length: int = 0) -> str:
    """The same as one line of assembly."""
    return "; ".join(some_statements(seed, length))
