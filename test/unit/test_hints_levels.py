"""Hints for loops whose data come from memory."""

from __future__ import annotations

from typing import Any

import pytest
from test_levels import loop

import incc


def hints(*body: str, data: str = "memory", mcpu: str = "znver5", **options: Any) -> dict[str, dict[str, Any]]:
    """Return the hints on a loop by rule."""
    (kernel,) = incc.analyze(loop(*body), mcpu=mcpu, data=data, **options)
    return {hint["rule"]: hint for hint in kernel.to_dict()["hints"]}


FILL = ("vmovupd %ymm0, (%rdi,%rax)", "addq $32, %rax")


def test_stores_of_whole_lines_to_memory_had_better_be_non_temporal() -> None:
    found = hints(*FILL)["non-temporal-stores"]
    assert found["evidence"] == {"instructions": [0], "lines": 0.5}
    assert found["gain"] == pytest.approx(7.5 / 6.1, rel=0.01)


@pytest.mark.parametrize(
    ("body", "options"),
    [
        (FILL, {"data": "L3"}),
        (FILL, {"data": ""}),
        (FILL, {"mcpu": "skylake-avx512"}),  # costs unknown
        (("vmovsd %xmm0, (%rdi,%rax)", "addq $8, %rax"), {}),  # there is no such store
        (("vmovupd %ymm0, (%rdi,%rax)", "addq $64, %rax"), {}),  # half of each line
        (("vmovupd %zmm0, (%rdi,%rax){%k1}", "addq $64, %rax"), {}),
        (("vmaskmovpd %ymm0, %ymm1, (%rdi,%rax)", "addq $32, %rax"), {}),
        (("fxsave64 (%rdi,%rax)", "addq $512, %rax"), {}),
        (("vaddpd (%rdi,%rax), %ymm1, %ymm0", *FILL), {}),
        (("vmovupd 8192(%rdi,%rax), %ymm0", *FILL), {}),
        (("vmovntpd %ymm0, (%rdi,%rax)", "addq $32, %rax"), {}),
    ],
)
def test_other_stores_had_better_stay(body: tuple[str, ...], options: dict[str, Any]) -> None:
    assert "non-temporal-stores" not in hints(*body, **options)


def rows(row: int) -> tuple[str, ...]:
    """Return a loop over three rows of so many bytes."""
    return (
        "vmovupd (%rsi,%rax), %ymm0",
        f"vaddpd {row}(%rsi,%rax), %ymm0, %ymm0",
        f"vaddpd {2 * row}(%rsi,%rax), %ymm0, %ymm0",
        "vmovupd %ymm0, (%rdi,%rax)",
        "addq $32, %rax",
    )


def test_rows_that_the_last_cache_does_not_hold_need_blocks() -> None:
    # Four rows are touched until one is used again: 64 MiB, and in a block half of L2's 1 MiB.
    found = hints(*rows(1 << 24))["blocks"]
    assert found["evidence"] == {"instructions": [0, 1], "distance": 1 << 24, "limit": 1 << 17, "level": "L2"}
    assert found["gain"] > 1.2
    assert "at most 131,072 bytes" in found["source_change"]


@pytest.mark.parametrize(("row", "data"), [(1 << 22, "memory"), (1 << 24, "L3"), (1 << 24, "")])
def test_rows_that_a_cache_holds_need_no_blocks(row: int, data: str) -> None:
    assert "blocks" not in hints(*rows(row), data=data)


@pytest.mark.parametrize(
    ("step", "why", "change"),
    [
        (64, "like one field of an array of structures", "arrays of their own (a structure of arrays); if they"),
        (32768, "because addresses move by 32,768 bytes per iteration", "interchange the loops; otherwise keep"),
    ],
)
def test_lines_of_which_little_is_used(step: int, why: str, change: str) -> None:
    found = hints("vaddsd (%rdi), %xmm0, %xmm0", f"addq ${step}, %rdi")["partly-used-lines"]
    assert (found["evidence"]["used"], found["evidence"]["fetched"]) == (8, 64)
    assert why in found["text"]
    assert change in found["source_change"]
    assert found["gain"] == pytest.approx(5.9 / 2)  # then the additions limit the loop, 2 cycles each


@pytest.mark.parametrize(
    ("body", "used"),
    [
        # The store follows the step, so that its displacement differs from that of the load.
        (("vaddsd (%rdi), %xmm1, %xmm0", "addq $-4096, %rdi", "vmovsd %xmm0, 4096(%rdi)"), 8),
        (("vaddpd (%rdi), %ymm1, %ymm0", "vaddpd 16(%rdi), %xmm1, %xmm2", "addq $4096, %rdi"), 32),
        (("vaddsd (%rdi), %xmm1, %xmm0", "vaddsd 8192(%rdi), %xmm1, %xmm2", "addq $4096, %rdi"), 8),
        (("vaddsd (%rdi), %xmm1, %xmm0", "vaddsd 16(%rdi), %xmm1, %xmm2", "addq $4096, %rdi"), 16),
    ],
)
def test_bytes_that_several_accesses_use_count_once(body: tuple[str, ...], used: int) -> None:
    assert hints(*body)["partly-used-lines"]["evidence"]["used"] == used


@pytest.mark.parametrize(
    "body",
    [
        ("vaddsd (%rdi), %xmm0, %xmm0", "addq $8, %rdi"),
        ("vaddsd (%rdi), %xmm0, %xmm0", "vaddsd 8(%rdi), %xmm0, %xmm0", "addq $24, %rdi"),
        ("vaddsd (%rdi), %xmm0, %xmm0", "movq 64(%rdi), %rdi"),
    ],
)
def test_lines_that_are_used_need_no_other_order(body: tuple[str, ...]) -> None:
    assert "partly-used-lines" not in hints(*body)


CHOSEN = ("movslq (%rsi,%rax,4), %rdx", "vaddsd (%rdi,%rdx,8), %xmm0, %xmm0", "incq %rax", "vmulsd %xmm1, %xmm2, %xmm3")


@pytest.mark.parametrize(
    "body",
    [
        CHOSEN,
        ("movl (%rsi,%rax,4), %edx", "shlq $4, %rdx", "vaddsd (%rdi,%rdx), %xmm0, %xmm0", "incq %rax"),
        (
            "movslq (%rsi,%rax,4), %rdx",
            "vaddsd (%rdi,%rdx,8), %xmm1, %xmm0",
            "vmovsd %xmm0, (%rdi,%rdx,8)",
            *CHOSEN[2:],
        ),
    ],
)
def test_what_an_array_of_indices_leads_to_had_better_be_prefetched(body: tuple[str, ...]) -> None:
    found = hints(*body)["prefetch"]
    assert found["evidence"]["indices"] == [0]
    assert found["gain"] is None
    assert "__builtin_prefetch(&x[index[i + 64]])" in found["source_change"]


@pytest.mark.parametrize(
    ("body", "options"),
    [
        (CHOSEN, {"data": "L3"}),
        (CHOSEN, {"mcpu": "znver4"}),  # not measured
        (CHOSEN[:3], {"mcpu": "skylake-avx512"}),
        # So many accesses are in flight that prefetches help less.
        ((*CHOSEN[:2], "movslq 4(%rsi,%rax,4), %rdx", "vaddsd (%rdi,%rdx,8), %xmm1, %xmm1", "addq $2, %rax"), {}),
        (("prefetcht0 (%rdi,%rcx,8)", *CHOSEN), {}),
        (("movq (%rdi), %rdi", "vaddsd 8(%rdi), %xmm0, %xmm0", "incq %rax", "incq %rcx"), {}),  # a list
        (("vaddsd (%rdi,%rax,8), %xmm0, %xmm0", "incq %rax", "incq %rcx", "incq %rdx"), {}),
    ],
)
def test_other_accesses_had_better_not_be_prefetched(body: tuple[str, ...], options: dict[str, Any]) -> None:
    assert "prefetch" not in hints(*body, **options)
