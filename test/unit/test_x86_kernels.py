"""Regions and raw machine code to kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

from incc.frontends.assembling import AssemblerError
from incc.frontends.kernel import Region
from incc.frontends.x86 import assembler, kernels
from incc.frontends.x86.kernels import decode_bytes, decode_regions

if TYPE_CHECKING:
    from collections.abc import Iterable

TEXT = "\n".join(
    [
        "\t.text",
        "\t.p2align 6",
        "f:",
        "\txorl %eax, %eax",  # 4
        "\t.p2align 4",
        ".L3:",
        "\tvmovupd (%rsi,%rax), %ymm0",  # 7
        "\tvaddpd a+32(%rip), %ymm0, %ymm0",  # 8
        "\tvbogus %ymm0",  # 9
        "\tvmovupd %ymm0, (%rdi,%rax) ; addq $32, %rax",  # 10
        "\tcmpq %rax, %rdx",  # 11
        "\tjne .L3",  # 12
        "\tret",
    ]
)


def region(lines: tuple[int, ...], is_loop: bool = True, name: str = "k") -> Region:
    return Region(
        kind="loop",
        name=name,
        function="f",
        label=".L3",
        first_line=lines[0],
        last_line=lines[-1],
        lines=lines,
        body_lines=lines,
        is_loop=is_loop,
        depth=1,
        source=None,
        notes=(),
    )


def test_regions() -> None:
    loop = region((7, 8, 9, 10, 11, 12), name="f.c:3")
    straight = region((4,), is_loop=False)
    first, second = decode_regions(TEXT, [loop, straight], "x.s")
    assert (first.name, first.isa, first.region, first.is_loop, first.alignment) == ("f.c:3", "x86", loop, True, 16)
    assert [(i.line, i.mnemonic, i.offset) for i in first.instructions] == [
        (7, "vmovupd", 16),
        (8, "vaddpd", 21),
        (10, "vmovupd", 29),
        (10, "add", 34),
        (11, "cmp", 38),
        (12, "jne", 41),
    ]
    (access,) = first.instructions[1].memory
    assert (access.displacement, access.symbol) == (32, "a")
    assert first.instructions[-1].target == ".L3"
    assert [(r.line, r.text) for r in first.refused] == [(9, "vbogus %ymm0")]
    assert [(i.text, i.offset) for i in second.instructions] == [("xorl %eax, %eax", 0)]
    assert (second.is_loop, second.alignment, second.refused) == (False, 0, ())


def test_order_of_execution() -> None:
    """A path may run through the lines in another order than the file."""
    (kernel,) = decode_regions(TEXT, [region((11, 12, 7))], "x.s")
    assert [i.line for i in kernel.instructions] == [11, 12, 7]


def test_a_macro_is_several_instructions() -> None:
    text = "\t.macro both a, b\n\taddl \\a, \\b\n\tsubl sym(%rip), \\b\n\t.endm\n\tboth %eax, %ebx\n"
    (kernel,) = decode_regions(text, [region((5,))], "x.s")
    assert [(i.mnemonic, i.text, i.offset) for i in kernel.instructions] == [
        ("add", "both %eax, %ebx", 0),
        ("sub", "both %eax, %ebx", 2),
    ]
    assert kernel.instructions[0].memory == ()
    assert kernel.instructions[1].memory[0].symbol == "sym"


def test_x87_stack() -> None:
    """s += a[i] * a[i] in long double: the sum stays one register while the product is pushed on it and popped."""
    text = "\n".join(["fldt (%rax)", "fmul %st(0), %st", "addq $16, %rax", "faddp %st, %st(1)", "jne ."])
    (kernel,) = decode_regions(text, [region((1, 2, 3, 4, 5))], "x.s")
    x87 = [
        [(a.register.name, a.read, a.write) for a in i.registers if a.register.root.startswith("st")]
        for i in kernel.instructions
    ]
    assert x87 == [
        [("st7", False, True)],
        [("st7", True, True), ("st7", True, False)],
        [],
        [("st0", True, True), ("st7", True, False)],
        [],
    ]


def test_target_of_a_jump_in_a_macro() -> None:
    text = "\t.macro count r\n\tdecl \\r\n\tjne 0b\n\t.endm\n0:\tcount %eax\n"
    (kernel,) = decode_regions(text, [region((5,))], "x.s")
    assert [i.target for i in kernel.instructions] == ["", "0x0"]


def test_no_regions() -> None:
    assert decode_regions(TEXT, [], "x.s", ["/no/such/as"]) == []


def test_assembler_error_names_the_file() -> None:
    with pytest.raises(AssemblerError, match=r"^x\.s: cannot run the assembler"):
        decode_regions(TEXT, [region((4,))], "x.s", ["/no/such/as"])


def test_bytes() -> None:
    kernel = decode_bytes(bytes.fromhex("c5fd10044883c00848ffc975f2"), "loop")
    # 48 83 c0 08: the second byte pair of the index belongs to the first instruction
    assert [i.mnemonic for i in kernel.instructions][-1] == "jne"
    assert kernel.name == "loop"
    block = decode_bytes(bytes.fromhex("4883c00848ffc975f7"))
    assert [(i.text, i.offset, i.length) for i in block.instructions] == [
        ("add $8, %rax", 0, 4),
        ("dec %rcx", 4, 3),
        ("jne 0", 7, 2),
    ]
    assert block.is_loop
    assert not decode_bytes(bytes.fromhex("4883c00848ffc975f8")).is_loop
    assert not decode_bytes(bytes.fromhex("4883c008")).is_loop
    assert decode_bytes(bytes.fromhex("4883c008"), is_loop=True).is_loop


def test_bytes_refused() -> None:
    with pytest.raises(ValueError, match=r"offset 0x4: not an x86-64 instruction: 06 90"):
        decode_bytes(bytes.fromhex("4883c0080690"))
    with pytest.raises(ValueError, match="no machine code"):
        decode_bytes(b"")


@pytest.mark.parametrize("code", ["4801c048ffc975f8", "8b0500000000eb04", "d9c0d9c9", "ff2500000000"])
def test_instructions_without_text_are_the_same_otherwise(code: str) -> None:
    shown, hidden = (decode_bytes(bytes.fromhex(code), text=text) for text in (True, False))
    assert [replace(i, text="?") for i in shown.instructions] == list(hidden.instructions)
    assert shown.is_loop == hidden.is_loop


@pytest.mark.parametrize(
    ("text", "refused"),
    [
        ("nop\n" + "addl %eax, %ebx\n" * 5, []),
        ("nop\n" + "addl %eax, %ebx\nfrobnicate %eax\n" * 3, [3, 5, 7]),
        # What is right in one place and wrong in another.
        ("nop\naddl %eax, %ebx\n.intel_syntax noprefix\naddl %eax, %ebx\nadd eax, ebx\n", [4]),
        ("nop\naddl %eax, %ebx\n.if 0\naddl %eax, %ebx\n.endif\n", [4]),
        ("nop\nlock\nnop\nlock\n.text\nincl (%rax)\n", [4]),
        # Bytes that the assembler writes and the decoder does not take.
        ("nop\naddl %eax, %ebx\nmovq %rax, %cr1\nmovq %rax, %cr1\n", [3, 4]),
        ("nop\naddl %eax, %ebx; frobnicate\naddl %eax, %ebx\nx: frobnicate\n", [2, 4]),
    ],
)
def test_lines_that_are_only_checked_are_as_if_they_were_decoded(text: str, refused: list[int]) -> None:
    lines = [n for n, line in enumerate(text.splitlines(), 1) if n > 1 and line[0] != "."]
    (kernel,) = decode_regions(text, [region((1,))], "x.s", checked=lines)
    alone, others = decode_regions(text, [region((1,)), region(tuple(lines))], "x.s")
    assert kernel == replace(alone, refused=others.refused)
    assert [each.line for each in kernel.refused] == refused


def test_of_lines_that_say_the_same_one_is_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def assemble(text: str, lines: Iterable[int], *rest: Any, **more: Any) -> object:
        asked[:] = sorted(lines)
        return assembler.assemble(text, lines, *rest, **more)

    monkeypatch.setattr(kernels, "assemble", assemble)
    text = "nop\n" + "\taddl %eax, %ebx\n  addl %eax, %ebx # again\naddl %ebx, %eax\n" * 50
    decode_regions(text, [region((1,))], "x.s", checked=range(2, 152))
    # A line with more than a statement on it is looked at each time.
    assert asked == sorted([1, 2, 4, *range(3, 152, 3)])
