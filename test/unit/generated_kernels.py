"""Loops of random instructions, the same in every run, and of compiled programs, for tests of properties."""

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


# Loops of compiled programs, as machine code that ends in `dec; jne`.
BLOCKS = (
    "84c04c8b5c24084c8b44241084c04c8b5c24084c8b44241048ffc975e3",
    "4c8bbd68ffffff4c8ba560ffffff4983ff0a4c8bbd68ffffff4c8ba560ffffff4983ff0a48ffc875d7",
    "488b124883c008807a3c00488b124883c008807a3c0048ffc975e5",
    "84c04c8b5c24084c8b44241084c04c8b5c24084c8b44241048ffc975e3",
    "488b742468488b7c2448488b742468488b7c2448488b742468488b7c244848ffc875dd",
    "498d4424184c8dad90fdffff31d248898560fdffffbf0800000048899578fdffff48ffc975da",
    "498bbf8000000031d24889c6488b0f498bbf8000000031d24889c6488b0f48ffcd75dd",
    "4939dd4989dc4c8d73384939dd4989dc4c8d733848ffc875e7",
    "498b7d38498d5d684839df498b7d38498d5d684839df48ffc875e5",
    "488b5c2440be4d0500004889df488b5c2440be4d0500004889df48ffc875e1",
    "4983c60144397424084983c60144397424084983c601443974240848ffc875e0",
    "4c89ef4c895c24084c89ef4c895c24084c89ef4c895c240848ffc875e3",
    "be0100000048d3e64889f183e12bbe0100000048d3e64889f183e12b48ffc875df",
    "4939d04939d04939d04939d04939d048ffc875ec",
    "4839dd48c703000000004839dd48c703000000004839dd48c7030000000048ffc875dd",
    "4c89284c8978084883c60189b424880100004c89284c8978084883c60189b4248801000048ffc975d7",
    "4d89f04c89e94c89e24889ee4c89ff48ffc875ec",
    "498b47184c89e78b1418498b46188b342848ffc975ea",
    "89d94c89eabe3e0000004889ef89d94c89eabe3e0000004889ef48ffc875e1",
    "85c94c0f44c083fa0a85c94c0f44c083fa0a48ffcf75e9",
    "bf0100000001fe8d6f014421d689f748c1e7044c01c74c8b1f4c39db48ffc875df",
    "4885d2488b7d504885d2488b7d504885d2488b7d5048ffc875e6",
    "41807e190041807e190041807e190041807e190041807e190048ffc875e2",
    "488b74241031c94889c24889df488b74241031c94889c24889df48ffcd75e1",
    "418b552c488d0cd6418b552c488d0cd6418b552c488d0cd648ffc875e3",
    "83fa2683fa2683fa2683fa2683fa2648ffc875ec",
    "41837d3c0341837d3c0341837d3c0341837d3c0341837d3c0348ffc875e2",
)
