"""From the text of A64 statements to instructions: registers, flags, memory, values, and what is refused."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incc.core.analysis import analyze_kernel
from incc.driver.pipeline import read_assembly
from incc.frontends.aarch64.branches import BRANCHES
from incc.frontends.aarch64.decode import decode
from incc.frontends.aarch64.forms import read
from incc.frontends.aarch64.rules import RULES, is_known, names_of
from incc.frontends.aarch64.written_out import written_out
from incc.frontends.asm.parse import parse
from incc.frontends.asm.regions import innermost_loops, marked_regions
from incc.frontends.isa import detect, isa
from incc.frontends.kernel import Affine, Instruction, KernelCode, Region
from incc.frontends.unit import Unit
from incc.models.loading import load

STATEMENTS = (Path(__file__).parent / "data" / "aarch64" / "statements.txt").read_text(encoding="utf-8").splitlines()


def accesses(instruction: Instruction) -> str:
    """The registers as `w:x0 r:x1 u:x2`, with `@` before those of addresses."""
    words = []
    for access in instruction.registers:
        letter = "u" if access.read and access.write else "w" if access.write else "r"
        words.append(f"{'@' if access.address else ''}{letter}:{access.register.name}")
    return " ".join(words)


@pytest.mark.parametrize(
    ("text", "expected", "flags_read", "flags_written"),
    [
        ("add x0, x1, x2", "w:x0 r:x1 r:x2", "", ""),
        ("ADDS W0, WZR, W2, LSL #3", "w:w0 r:w2", "", "COSZ"),
        ("subs xzr, x1, #1", "r:x1", "", "COSZ"),
        ("cmp w0, #3", "r:w0", "", "COSZ"),
        ("adcs x0, x1, xzr", "w:x0 r:x1", "C", "COSZ"),
        ("csel w0, w1, w2, hi", "w:w0 r:w1 r:w2", "CZ", ""),
        ("ccmp x0, x1, #4, lt", "r:x0 r:x1", "OS", "COSZ"),
        ("cset w0, eq", "w:w0", "Z", ""),
        ("csinc x0, xzr, xzr, al", "w:x0", "", ""),
        ("b.le .L1", "", "OSZ", ""),
        ("bmi .L1", "", "S", ""),
        ("b.any .L1", "", "Z", ""),
        ("cbz x3, .L1", "r:x3", "", ""),
        ("bl f", "w:x30", "", ""),
        ("ret", "r:x30", "", ""),
        ("movk x0, #1, lsl 16", "u:x0", "", ""),
        ("bfi w0, w1, 3, 4", "u:w0 r:w1", "", ""),
        ("cfinv", "", "C", "C"),
        ("setf8 w0", "r:w0", "", "OSZ"),
        # loads and stores, with write-back
        ("ldr x0, [x1, x2, lsl 3]", "w:x0 @r:x1 @r:x2", "", ""),
        ("ldr d0, [x1], 8", "w:d0 @u:x1", "", ""),
        ("ld1 {v0.16b}, [x1], x2", "w:v0 @u:x1 @r:x2", "", ""),
        ("ldp x0, x1, [sp, -16]!", "w:x0 w:x1 @u:sp", "", ""),
        ("stp x29, x30, [sp, 16]", "r:x29 r:x30 @r:sp", "", ""),
        ("str xzr, [x0]", "@r:x0", "", ""),
        ("stxr w0, x1, [x2]", "w:w0 r:x1 @r:x2", "", ""),
        ("ldaddal w0, w1, [x2]", "r:w0 w:w1 @r:x2", "", ""),
        ("stadd x0, [x2]", "r:x0 @r:x2", "", ""),
        ("casp x0, x1, x2, x3, [x4]", "u:x0 u:x1 r:x2 r:x3 @r:x4", "", ""),
        ("prfm pldl1keep, [x0, 64]", "@r:x0", "", ""),
        # vectors
        ("fmla v0.2d, v1.2d, v2.d[1]", "u:v0 r:v1 r:v2", "", ""),
        ("fmadd d0, d1, d2, d3", "w:d0 r:d1 r:d2 r:d3", "", ""),
        ("mov v0.d[1], x1", "u:v0 r:x1", "", ""),
        ("mov x0, v1.d[1]", "w:x0 r:v1", "", ""),
        ("ld1 {v0.s}[2], [x0]", "u:v0 @r:x0", "", ""),
        ("ld2 {v31.4s - v0.4s}, [x0]", "w:v31 w:v0 @r:x0", "", ""),
        ("tbl v0.16b, {v1.16b, v2.16b}, v3.16b", "w:v0 r:v1 r:v2 r:v3", "", ""),
        ("orr v0.4s, #1", "u:v0", "", ""),
        ("xtn2 v0.16b, v1.8h", "u:v0 r:v1", "", ""),
        ("aese v0.16b, v1.16b", "u:v0 r:v1", "", ""),
        ("fcmp d0, #0.0", "r:d0", "", "COSZ"),
        # SVE
        ("add z0.d, z1.d, z2.d", "w:z0 r:z1 r:z2", "", ""),
        ("add z0.d, p0/m, z0.d, z2.d", "u:z0 r:p0 r:z0 r:z2", "", ""),
        ("abs z0.d, p0/m, z1.d", "u:z0 r:p0 r:z1", "", ""),
        ("movprfx z0.d, p0/z, z1.d", "w:z0 r:p0 r:z1", "", ""),
        ("fmla z0.d, p0/m, z1.d, z2.d", "u:z0 r:p0 r:z1 r:z2", "", ""),
        ("ldff1d z0.d, p0/z, [x0, x1, lsl 3]", "w:z0 r:p0 u:ffr @r:x0 @r:x1", "", ""),
        ("st1d z0.d, p0, [x0, z1.d, lsl 3]", "r:z0 r:p0 @r:x0 @r:z1", "", ""),
        ("whilelo p0.d, x0, x1", "w:p0 r:x0 r:x1", "", "COSZ"),
        ("cmpeq p0.b, p1/z, z0.b, z1.b", "w:p0 r:p1 r:z0 r:z1", "", "COSZ"),
        ("fcmgt p0.d, p1/z, z0.d, #0.0", "w:p0 r:p1 r:z0", "", ""),
        ("ctermeq x0, x1", "r:x0 r:x1", "C", "OS"),
        ("incd x0, all, mul 2", "u:x0", "", ""),
        ("sqincb x0, w0", "u:x0", "", ""),
        ("fmopa za0.d, p0/m, p1/m, z0.d, z1.d", "u:za r:p0 r:p1 r:z0 r:z1", "", ""),
        ("mov z0.s, p0/m, za0h.s[w12, 1]", "u:z0 r:p0 r:za r:w12", "", ""),
        # system
        ("mrs x0, nzcv", "w:x0", "COSZ", ""),
        ("msr nzcv, x0", "r:x0", "", "COSZ"),
        ("mrs x0, fpcr", "w:x0 r:fpcr", "", ""),
        ("mrs x0, tpidr_el0", "w:x0", "", ""),
        ("dmb ish", "", "", ""),
        ("autiasp", "r:sp u:x30", "", ""),
        ("pacia x0, x1", "u:x0 r:x1", "", ""),
        ("cpyp [x0]!, [x1]!, x2!", "u:x2 @u:x0 @u:x1", "", "COSZ"),
    ],
)
def test_registers_and_flags(text: str, expected: str, flags_read: str, flags_written: str) -> None:
    instruction = decode(text)
    assert (accesses(instruction), instruction.flags_read, instruction.flags_written) == (
        expected,
        flags_read,
        flags_written,
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ldr q0, [x1, x2, lsl 4]", "load 16 x1+x2*16"),
        ("ldrsb w0, [x1, -3]", "load 1 x1-3"),
        ("ldr w0, [x1, w2, uxtw 2]", "load 4 x1+w2*4"),
        ("ldpsw x0, x1, [x2]", "load 8 x2"),
        ("ldp q0, q1, [x2], 32", "load 32 x2"),
        ("stp w0, wzr, [x2, 8]!", "store 8 x2+8"),
        ("str xzr, [x2]", "store 8 x2"),
        ("ldr x0, .LC0", "load 8 .LC0"),
        ("ldr x0, [x1, :lo12:a]", "load 8 x1+:lo12:a"),
        ("ldaddb w0, w1, [x2]", "load store 1 x2"),
        ("casp x0, x1, x2, x3, [x4]", "load store 16 x4"),
        ("ldrab x0, [x1]", "load 8 x1"),
        ("ld1 {v0.8b - v3.8b}, [x0]", "load 32 x0"),
        ("ld3 {v0.s, v1.s, v2.s}[1], [x0]", "load 12 x0"),
        ("ld1r {v0.4s}, [x0]", "load 4 x0"),
        ("st2 {v0.2d, v1.2d}, [x0]", "store 32 x0"),
        ("ld1w z0.d, p0/z, [x0, x1, lsl 2]", "load 8 x0+x1*4"),
        ("ld1d {z0.d}, p0/z, [x0, #2, mul vl]", "load 16 x0+32"),
        ("ld2w {z0.s, z1.s}, p0/z, [x0]", "load 32 x0"),
        ("ld2d {z0.d, z1.d}, p0/z, [x0, #2, mul vl]", "load 32 x0+32"),
        ("st4w {z0.s - z3.s}, p0, [x0, #-4, mul vl]", "store 64 x0-64"),
        ("ld1w {z0.d}, p0/z, [x0, #1, mul vl]", "load 8 x0+8"),
        ("ld1rqd z0.d, p0/z, [x0]", "load 16 x0"),
        ("ld1rw z0.s, p0/z, [x0, 4]", "load 4 x0+4"),
        ("ldr z0, [x0, #1, mul vl]", "load 16 x0+16"),
        ("str p0, [x0]", "store 2 x0"),
        ("ld1d z0.d, p0/z, [x0, z1.d, lsl 3]", "load 8 x0+z1*8 2 times"),
        ("st1w z0.s, p0, [z1.s, 8]", "store 4 z1+8 4 times"),
        ("prfm pldl1keep, [x0]", ""),
    ],
)
def test_memory(text: str, expected: str) -> None:
    found = []
    for m in decode(text).memory:
        words = [*["load"] * m.load, *["store"] * m.store, str(m.size)]
        place = [m.base.name] if m.base else []
        if m.index:
            place.append(m.index.name + f"*{m.scale}" * (m.scale > 1))
        place += [m.symbol] * bool(m.symbol)
        words.append("+".join(place) + (f"{m.displacement:+}" if m.displacement else ""))
        found.append(" ".join(words) + f" {m.elements} times" * (m.elements > 1))
    assert found == [expected] * bool(expected)


@pytest.mark.parametrize(
    ("text", "affine"),
    [
        ("add x0, x1, 16", Affine("x0", (("x1", 1),), 16)),
        ("sub sp, sp, #32", Affine("sp", (("sp", 1),), -32)),
        ("add x0, x1, x2, lsl 3", Affine("x0", (("x1", 1), ("x2", 8)), 0)),
        ("sub x0, x1, x1", Affine("x0", (), 0)),
        ("add x0, x1, 1, lsl 12", Affine("x0", (("x1", 1),), 4096)),
        ("mov x0, x1", Affine("x0", (("x1", 1),), 0)),
        ("mov x0, xzr", Affine("x0", (), 0)),
        ("neg x0, x1", Affine("x0", (("x1", -1),), 0)),
        ("mov w0, 5", Affine("x0", (), 5)),
        ("lsl x0, x1, 3", Affine("x0", (("x1", 8),), 0)),
        ("ldr d0, [x1], -8", Affine("x1", (("x1", 1),), -8)),
        ("str d0, [x1, 8]!", Affine("x1", (("x1", 1),), 8)),
        ("incw x0", Affine("x0", (("x0", 1),), 4, scalable=True)),
        ("decb x0, all, mul 2", Affine("x0", (("x0", 1),), -32, scalable=True)),
        ("addvl x0, x1, 2", Affine("x0", (("x1", 1),), 32, scalable=True)),
        ("add x0, x1, w2, sxtw 2", Affine("x0", (("x1", 1), ("x2", 4)), 0)),
        ("add x0, x1, x2, lsr 2", None),
        ("mov x0, v0.d[0]", None),
        ("incd x0, pow2", None),
        ("ld1 {v0.16b}, [x1], x2", None),
        ("mul x0, x1, x2", None),
    ],
)
def test_linear_effects(text: str, affine: Affine | None) -> None:
    assert decode(text).affine == affine


def test_moves_copy_whole_registers() -> None:
    moves = ["mov x0, x1", "mov v0.16b, v1.16b", "fmov d0, d1", "mov z0.d, z1.d"]
    others = ["mov x0, 1", "mov v0.d[0], v1.d[0]", "fmov x0, d1", "mov z0.d, p0/m, z1.d", "mov x0, xzr"]
    assert [decode(text).move for text in (*moves, *others)] == [True] * len(moves) + [False] * len(others)


@pytest.mark.parametrize(
    "text", ["", "1: add", "add x0,, x1", "ldr x0, [x1", "ld1 {v0.2d, [x0]", "ldr x0, [w1]", "%foo x0", "ld1 {x0-}, x"]
)
def test_other_text_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        decode(text)


def test_every_rule_concerns_a_mnemonic_that_compilers_or_the_manual_have() -> None:
    """Alternatives in braces are balanced, and no name is in the table of branches and in a rule that ignores it."""
    names = [name for rule in RULES for name in names_of(rule.names)]
    assert all(re.fullmatch(r"[a-z][a-z0-9]*", name) for name in names)
    assert all(set(rule.operands) <= set("wru-") and rule.operands for rule in RULES)
    assert {"ldaddalb", "sqdecp", "fcvtxnt", "b.none"} <= {*names, *BRANCHES}
    assert names_of("a{,b}{c,d{1,2}} e") == ["ac", "ad1", "ad2", "abc", "abd1", "abd2", "e"]


def test_every_statement_of_compilers_is_known() -> None:
    assert [text for text in STATEMENTS if not is_known(decode(text).mnemonic)] == []


def test_vectors_are_as_long_as_the_core_has_them() -> None:
    """A64FX has 512 bits: four times the bytes, steps, elements and operations of the shortest vectors."""
    (kernel,) = kernels(
        ".L1:\n\tld1d z0.d, p0/z, [x0, #1, mul vl]\n\tld1w z1.s, p0/z, [x1, z2.s, uxtw]\n\tld1rd z3.d, p0/z, [x2, 8]\n"
        "\tldr q4, [x3, 16]\n\tfmla z0.d, p0/m, z1.d, z3.d\n\tfmul v5.2d, v5.2d, v4.2d\n\tincb x0\n"
        "\tadd x3, x3, 16\n\tb.ne .L1\n"
    )
    made = analyze_kernel(kernel, load("a64fx")).kernel
    memory = [(m.size, m.displacement, m.elements) for i in made.instructions for m in i.memory]
    assert memory == [(64, 64, 1), (4, 0, 16), (8, 8, 1), (16, 16, 1)]
    assert [i.affine.constant for i in made.instructions if i.affine] == [64, 16]
    assert [(i.arithmetic.width, i.arithmetic.operations) for i in made.instructions if i.arithmetic] == [
        (512, 16),
        (128, 2),
    ]
    assert analyze_kernel(kernel, load("neoverse-v2")).kernel == kernel


# --- properties -------------------------------------------------------------------------------------------------------

_NUMBERED = re.compile(r"(?<![\w.:])([wxbhsdqvzp])(\d+)(?![\w])")


def renamed(text: str, shift: int) -> str:
    """A statement with other registers: the numbers go up in turn, apart from those that stand for themselves."""

    def other(match: re.Match[str]) -> str:
        kind, number = match[1], int(match[2])
        limit = 16 if kind == "p" else 30 if kind in "wx" else 32
        return f"{kind}{(number + shift) % limit}" if number < limit else match[0]

    mnemonic, blank, operands = text.partition(" ")
    return mnemonic + blank + _NUMBERED.sub(other, operands)


def structure(instruction: Instruction) -> tuple[object, ...]:
    """All of an instruction but which registers it names: a register is the number of its first place."""
    first: dict[str, int] = {}
    registers = [
        (first.setdefault(a.register.root, len(first)), a.register.width, a.read, a.write, a.operand, a.address)
        for a in instruction.registers
    ]
    memory = [(m.size, m.scale, m.displacement, m.load, m.store, m.elements) for m in instruction.memory]
    return (instruction.form, instruction.traits, registers, memory, instruction.flags_read, instruction.flags_written)


@given(st.sampled_from(STATEMENTS), st.integers(0, 31))
def test_the_numbers_of_registers_do_not_matter(text: str, shift: int) -> None:
    assert structure(decode(renamed(text, shift))) == structure(decode(text))


@given(st.sampled_from(STATEMENTS))
def test_what_is_read_can_be_written_and_read_again(text: str) -> None:
    """Operands keep their text, in any case, with any blanks, and with or without the sign of an immediate."""
    mnemonic, operands = read(text)
    written = f"{mnemonic} {', '.join(operand.text for operand in operands)}".strip()
    assert read(written) == (mnemonic, operands)
    for other in (written.upper(), re.sub(r",\s*", " ,\t", written), re.sub(r"#(?=[-\d])", "", written)):
        assert structure(decode(other)) == structure(decode(text))


# --- kernels ----------------------------------------------------------------------------------------------------------


def kernels(text: str) -> list[KernelCode]:
    regions = list(innermost_loops(parse(text))[0])
    return isa("aarch64").decode_regions(text, regions, "x.s")


def test_a_loop_with_statements_that_are_none() -> None:
    (kernel,) = kernels(
        "\t.macro twice\n\t.if 1\n\t.endm\n.L1:\n\tldr d0, [x0], 8 // a comment\n\tfoo x1, x2; twice\n\tadd x3,,\n"
        "\tsubs x4, x4, 1\n\tb.ne .L1\n"
    )
    assert [(i.text, i.line, i.offset) for i in kernel.instructions] == [
        ("ldr d0, [x0], 8", 5, 0), ("foo x1, x2", 6, 4), ("subs x4, x4, 1", 8, 8), ("b.ne .L1", 9, 12),
    ]  # fmt: skip
    assert accesses(kernel.instructions[1]) == "w:x1 r:x2"
    assert [(r.line, r.text, r.message) for r in kernel.refused] == [
        (6, "twice", "macros are not expanded"), (7, "add x3,,", "an operand is missing"),
    ]  # fmt: skip
    assert isinstance(kernel.region, Region)
    assumed = "assumes that an unknown instruction writes its first operand and reads the others: `foo` (line 6)"
    assert kernel.region.notes[-1] == assumed


@pytest.mark.parametrize(
    ("access", "chain"),
    [
        ("ldr d0, [x0], 8", 1),  # neither the loaded value nor …
        ("fmul d1, d1, d1\n\tstr d0, [x0], 8", 3),
        ("fmul d0, d0, d0\n\tstr d0, [x0], 8", 3),  # … the stored one makes the new address wait
        ("ldr x0, [x0]", 4),
        ("ldr x1, [x0], 8\n\tadd x0, x0, x1", 5),
    ],
)
def test_an_address_is_written_back_on_its_own(access: str, chain: int) -> None:
    (kernel,) = kernels(f".L1:\n\t{access}\n\tsubs x4, x4, 1\n\tb.ne .L1\n")
    assert analyze_kernel(kernel, load("neoverse-v2")).bounds.loop_carried == chain


@pytest.mark.parametrize(
    ("begin", "end"),
    [
        ("// OSACA-BEGIN", "// OSACA-END"),
        ("// LLVM-MCA-BEGIN name", "// LLVM-MCA-END name"),
        ("mov x1, #111\n\t.byte 213,3,32,31", "mov x1, #222\n\t.byte 213,3,32,31"),
        ("movz\tx1, 111\n\t.byte 0xd5,0x03,0x20,0x1f", "movz\tx1, 222\n\t.byte 0xd5,0x03,0x20,0x1f"),
    ],
)
def test_markers(begin: str, end: str) -> None:
    text = f"f:\n\tmov x0, 0\n\t{begin}\n\tadd x0, x0, 1\n\tfmul d0, d0, d1\n\t{end}\n\tret\n"
    regions = marked_regions(parse(text))[0]
    (kernel,) = isa("aarch64").decode_regions(text, regions, "x.s")
    assert [i.mnemonic for i in kernel.instructions] == ["add", "fmul"]


@pytest.mark.parametrize(
    ("apple", "arm"),
    [
        ("fmla.2d v0, v1, v2", "fmla v0.2d, v1.2d, v2.2d"),
        ("FMLA.4S V0, V1, V2[1]", "fmla v0.4s, v1.4s, v2.s[1]"),
        ("smull2.4s v0, v1, v2", "smull2 v0.4s, v1.8h, v2.8h"),
        ("uaddw.2d v0, v1, v2", "uaddw v0.2d, v1.2d, v2.2s"),
        ("xtn2.8h v0, v1", "xtn2 v0.8h, v1.4s"),
        ("uadalp.2d v0, v1", "uadalp v0.2d, v1.4s"),
        ("udot.4s v0, v1, v2[1]", "udot v0.4s, v1.16b, v2.4b[1]"),
        ("addv.4s s0, v1", "addv s0, v1.4s"),
        ("tbl.8b v0, { v1, v2 }, v3", "tbl v0.8b, { v1.16b, v2.16b }, v3.8b"),
        ("st1.d {v0}[1], [x0]", "st1 {v0.d}[1], [x0]"),
        ("ld1.4s {v1, v2}, [x0], #32", "ld1 {v1.4s, v2.4s}, [x0], #32"),
        ("dup.4s v0, v1[2]", "dup v0.4s, v1.s[2]"),
        ("mov d0, v1[1]", "mov d0, v1.d[1]"),
        ("movi.2d v0, #0000000000000000", "movi v0.2d, #0000000000000000"),
    ],
)
def test_apples_syntax(apple: str, arm: str) -> None:
    one, other = decode(apple), decode(arm)
    assert (one.form, one.registers, one.memory) == (other.form, other.registers, other.memory)


def test_names_and_constants_of_the_assembler() -> None:
    text = (
        "\t.set SIZE, 8\nCOUNT = SIZE * 2\nacc .req d0\nvec .req v1\n.L1:\n\tldr d1, [x1], SIZE\n"
        "\tfadd acc, acc, d1 // acc\n\tadd x3, x3, #(COUNT+1)\n\tfmla vec.2d, v2.2d, v3.2d\n\t.inst 0x1e622821\n"
        "\tb.ne .L1\n"
    )
    (kernel,) = isa("aarch64").decode_regions(text, innermost_loops(parse(text, "aarch64"))[0], "")
    assert kernel.refused == ()
    assert [(i.line, " ".join(i.text.split())) for i in kernel.instructions] == [
        (6, "ldr d1, [x1], 8"),
        (7, "fadd d0, d0, d1"),
        (8, "add x3, x3, #(16+1)"),
        (9, "fmla v1.2d, v2.2d, v3.2d"),
        (10, "fadd d1, d1, d2"),
        (11, "b.ne .L1"),
    ]
    assert kernel.instructions[2].immediate == 17


def test_macros_and_repetitions_are_written_out_in_place() -> None:
    text = (
        ".macro pair a, b=d9, off\n ldr \\a, [x1, #\\off]\n ldr \\b, [x1, #\\off+8]\n.endm\n"
        ".macro twice reg:req\n pair d4, off=16\n fadd \\reg, \\reg, d4 // sum\n.endm\n"
        "twice d7\nl: pair d1 d2 0\n.rept 2\n nop\n.endr\n.irp r, 3, 4\n add x\\r, x\\r, 1\n.endr\n"
    )
    written = written_out(text)
    assert [" ".join(line.split()) for line in written.split("\n")] == [
        *[""] * 8,
        "ldr d4, [x1, #16]; ldr d9, [x1, #16+8]; fadd d7, d7, d4",
        "l: ldr d1, [x1, #0]; ldr d2, [x1, #0+8]",
        *("nop; nop", "", ""),
        *("add x3, x3, 1; add x4, x4, 1", "", "", ""),
    ]


@pytest.mark.parametrize(
    "text",
    [
        ".macro r\nr\n.endm\nr\n",  # endless
        ".macro c x\n.if \\x\nnop\n.endif\n.endm\nc 1\n",
        ".rept 1000000\nnop\n.endr\n",
        ".macro never\nnop\n",
        ".rept N\nnop\n.endr\n",
    ],
)
def test_what_cannot_be_written_out_stays(text: str) -> None:
    assert written_out(text).count("\n") == text.count("\n")
    assert "nop; nop" not in written_out(text)


def test_the_matrix_extension_is_refused() -> None:
    text = ".L1:\n\tfmopa za0.s, p0/m, p1/m, z0.s, z1.s\n\tsubs x0, x0, #1\n\tb.ne .L1\n"
    (kernel,) = isa("aarch64").decode_regions(text, innermost_loops(parse(text, "aarch64"))[0], "")
    assert [r.message for r in kernel.refused] == [
        "'fmopa za0.s, p0/m, p1/m, z0.s, z1.s' belongs to SME, which no model covers"
    ]


def test_text_without_a_sign_is_of_the_core_that_is_named() -> None:
    assert detect("frob\n") == "x86"
    assert detect("frob\n", "aarch64") == "aarch64"
    assert detect("movq %rax, %rbx\n", "aarch64") == "x86"
    unit = Unit(assembly="frob\n", assembly_file="f.s")
    assert read_assembly(unit, "aarch64").isa == "aarch64"


@pytest.mark.parametrize(
    ("text", "packed", "element", "operations"),
    [
        ("fadd d0, d1, d2", False, 64, 1),
        ("fmul d0, d1, v2.d[0]", False, 64, 1),
        ("fmla v0.4s, v1.4s, v2.s[1]", True, 32, 8),
        ("fadda d0, p0, d0, z1.d", True, 64, 2),
        ("fmaxv s0, v1.4s", True, 32, 4),
        ("udot v0.4s, v1.16b, v2.16b", True, 32, 32),
        ("smmla v0.4s, v1.16b, v2.16b", True, 32, 64),
        ("bfmmla z0.s, z1.h, z2.h", True, 32, 32),
    ],
)
def test_operations_of_instructions(text: str, packed: bool, element: int, operations: int) -> None:
    """A reduction is as packed as the vector that it reads; products of matrices count each product and addition."""
    done = decode(text, 1, 0).arithmetic
    assert done is not None
    assert (done.packed, done.element, done.operations) == (packed, element, operations)
