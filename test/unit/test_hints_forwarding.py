"""The hint on stores that cannot be forwarded to a load."""

from __future__ import annotations

from typing import Any

import pytest

from incc.driver.pipeline import Settings, analyze_units
from incc.frontends.unit import Unit


def hints(body: str) -> list[dict[str, Any]]:
    text = f".L1:\n{body}\n\tdecq %rcx\n\tjne .L1\n"
    settings = Settings(mcpu="skylake-avx512", regions="loops", timeline_iterations=0, simulate=False)
    (kernel,) = analyze_units([Unit(text, "x.s")], settings)["units"][0]["kernels"]
    return [hint for hint in kernel["hints"] if hint["rule"] == "blocked-forwarding"]


def test_a_wide_load_of_narrow_stores() -> None:
    (hint,) = hints("\tmovl %eax, (%rdi)\n\tmovl %edx, 4(%rdi)\n\tmovq (%rdi), %rbx")
    assert hint["evidence"]["bytes_loaded"] == 8
    assert hint["evidence"]["bytes_stored"] == 4
    assert hint["text"].startswith("line 4 loads 8 bytes, of which line ")


def test_from_the_iteration_before() -> None:
    assert hints("\tvmovups (%rdi), %ymm0\n\tmovl %eax, 8(%rdi)")


@pytest.mark.parametrize(
    "body",
    [
        "\tmovq %rax, (%rdi)\n\tmovq (%rdi), %rbx",
        "\tmovq %rax, (%rdi)\n\tmovl 4(%rdi), %ebx",
        "\tmovl %eax, 8(%rdi)\n\tmovq (%rdi), %rbx",
        "\taddq %rax, (%rdi)",
        "\tmovl %eax, (%rdi)\n\tvmovups (%rdi), %zmm0{%k1}{z}",
        # Far enough apart that the store may be in the cache.
        "\tmovl %eax, (%rdi)\n" + "\tnop\n" * 40 + "\tmovq (%rdi), %rbx",
    ],
)
def test_what_is_forwarded_or_far_away(body: str) -> None:
    assert not hints(body)
