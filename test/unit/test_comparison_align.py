"""Two kernels' instructions side by side."""

from __future__ import annotations

import random
from typing import Any

import pytest
from comparison_fixtures import make_instruction
from hypothesis import given
from hypothesis import strategies as st

from incc.comparison import align as module
from incc.comparison.align import align

WORKS = {"j": "branches", "add": "integer additions", "cmp": "comparisons", "vmovups": "loads"}


def code(*texts: str) -> list[Any]:
    """Instructions whose form is told by the mnemonic and how its operands are written."""
    made = []
    for i, text in enumerate(texts):
        mnemonic, _, operands = text.partition(" ")
        work = next((w for prefix, w in WORKS.items() if mnemonic.startswith(prefix)), mnemonic)
        kinds = "".join("m" if "(" in o else "i" if o.startswith("$") else o[1:2] for o in operands.split(", "))
        made.append(make_instruction(i, text, form=f"{mnemonic}/{kinds}", work=[work]))
    return made


def shown(a: list[Any], b: list[Any]) -> list[tuple[int | None, int | None, str]]:
    return [(row.a, row.b, row.change) for row in align(a, b)]


def pairs(a: list[Any], b: list[Any]) -> set[tuple[int | None, int | None, str]]:
    return {row for row in shown(a, b) if row[0] is not None and row[1] is not None}


def mirrored(rows: Any) -> set[Any]:
    opposite = {"added": "removed", "removed": "added"}
    return {(b, a, opposite.get(change, change)) for a, b, change in rows}


LOOP = ("vmovups (%rdi,%rax), %ymm0", "vfmadd213pd (%rdx,%rax), %ymm1, %ymm0", "vmovupd %ymm0, (%rsi,%rax)")
TAIL = ("addq $32, %rax", "cmpq %rcx, %rax", "jne .L3")


def test_the_same_code_with_another_label() -> None:
    a, b = code(*LOOP, *TAIL), code(*LOOP, *TAIL[:-1], "jne .L17")
    assert shown(a, b) == [(i, i, "same") for i in range(6)]


def test_an_insertion_and_other_registers() -> None:
    b = code(
        "vmovups (%rdi,%rbx), %ymm5",
        "vmulpd %ymm5, %ymm5, %ymm5",
        "vfmadd213pd (%rdx,%rbx), %ymm1, %ymm5",
        "vmovupd %ymm5, (%rsi,%rbx)",
        "addq $64, %rbx",
        "cmpq %rcx, %rbx",
        "jne .L3",
    )
    assert shown(code(*LOOP, *TAIL), b) == [
        (0, 0, "registers"),
        (None, 1, "added"),
        (1, 2, "registers"),
        (2, 3, "registers"),
        (3, 4, "operands"),
        (4, 5, "registers"),
        (5, 6, "same"),
    ]


def test_wider_vectors_and_another_instruction_for_the_same_work() -> None:
    a = code("vmovups (%rdi), %xmm0", "addq $4, %rdi", "cmpq %rdi, %rsi", "jne .L1")
    b = code("vmovups (%rdi), %ymm0", "addl $8, %edi", "cmpq %rdi, %rsi", "jb .L1")
    assert [row[2] for row in shown(a, b)] == ["operands", "changed", "same", "changed"]


def test_a_register_that_became_another_one_decides() -> None:
    """Of two loads that are alike but for registers the one is taken that agrees with the rest."""
    a = code("vmulpd %ymm1, %ymm1, %ymm1", "vaddpd %ymm1, %ymm2, %ymm2", "vmovups %ymm1, (%rdi)")
    b = code(
        "vmulpd %ymm8, %ymm8, %ymm8",
        "vmulpd %ymm4, %ymm4, %ymm4",
        "vaddpd %ymm4, %ymm2, %ymm2",
        "vmovups %ymm4, (%rdi)",
    )
    assert (0, 1, "registers") in pairs(a, b)


def test_a_turned_loop() -> None:
    body = [*LOOP, "vsqrtpd %ymm4, %ymm5", "vdivpd %ymm5, %ymm6, %ymm7", "vxorps %ymm8, %ymm9, %ymm10"]
    b = code(*body[3:], *body[:3])
    rows = shown(code(*body), b)
    assert rows == [(i, (i + 3) % 6, "same") for i in range(6)]
    assert mirrored(rows) == set(shown(b, code(*body)))


def test_one_instruction_that_moved() -> None:
    a = code("vsqrtpd %ymm4, %ymm5", *LOOP, *TAIL)
    b = code(*LOOP, *TAIL[:-1], "vsqrtpd %ymm4, %ymm5", TAIL[-1])
    rows = shown(a, b)
    assert rows[0] == (0, 5, "moved")
    assert [row[2] for row in rows[1:]] == ["same"] * 6


def test_one_copy_of_an_unrolled_body() -> None:
    copies = []
    for n in range(4):
        copies += [text.replace("%rax)", f"%rax,{n})") if n else text for text in LOOP]
    rows = shown(code(*LOOP, *TAIL), code(*copies, "addq $128, %rax", *TAIL[1:]))
    beside = [b for a, b, _ in rows if a is not None]
    assert beside[:3] == [0, 1, 2]
    assert beside[3:] == [12, 13, 14]
    assert sum(change == "added" for _, _, change in rows) == 9


def test_nothing_beside_something() -> None:
    assert shown([], []) == []
    assert shown([], code("nop", "nop")) == [(None, 0, "added"), (None, 1, "added")]
    assert shown(code("nop"), []) == [(0, None, "removed")]


TEXTS = st.sampled_from(
    [*LOOP, *TAIL, "vmovupd %ymm3, (%rsi,%rax)", "addq $8, %rbx", "vxorps %ymm1, %ymm1, %ymm1", "nop"]
)
CODE = st.lists(TEXTS, max_size=12).map(lambda texts: code(*texts))


@given(CODE, CODE)
def test_each_instruction_is_in_one_row_and_the_opposite_is_the_mirror(a: list[Any], b: list[Any]) -> None:
    rows = shown(a, b)
    assert sorted(i for i, _, _ in rows if i is not None) == list(range(len(a)))
    assert sorted(j for _, j, _ in rows if j is not None) == list(range(len(b)))
    for i, j, change in rows:
        assert (change == "added") == (i is None)
        assert (change == "removed") == (j is None)
        if change in ("same", "moved"):
            assert a[i].text.split(".L")[0] == b[j].text.split(".L")[0]  # type: ignore[index]
    assert mirrored(rows) == set(shown(b, a))


@given(CODE)
def test_nothing_changed_in_the_same_code(a: list[Any]) -> None:
    assert shown(a, a) == [(i, i, "same") for i in range(len(a))]


def test_large_kernels() -> None:
    """A thousand instructions beside another thousand, and as many as are not compared each with each."""
    choose = random.Random(1)
    texts = [
        choose.choice(["vaddpd", "vmulpd", "vmovups"]) + f" %ymm{n % 16}, %ymm{n % 13}, %ymm{n % 7}"
        for n in range(1000)
    ]
    other = [text for n, text in enumerate(texts) if n % 9]
    rows = shown(code(*texts), code(*other))
    assert sum(change == "same" for _, _, change in rows) == len(other)


def test_too_large_kernels_have_their_equal_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CELLS", 10)
    a, b = code(*LOOP, *TAIL), code("nop", *LOOP, *TAIL)
    assert shown(a, b) == [(None, 0, "added"), *((i, i + 1, "same") for i in range(6))]
