"""Instructions as LLVM 19 prints them, and what it says that they do.

Where its tools are installed (Debian: llvm-19, llvm-19-dev), they are asked about all forms that the decoder knows.
"""

from __future__ import annotations

import contextlib
import json
import pathlib
import re
import shutil
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from incc.driver.pipeline import analyze_units
from incc.frontends.asm.expressions import NotAnExpressionError, evaluate, expression, shown
from incc.frontends.isa import Effects, isa, split_operands
from incc.frontends.kernel import Instruction, KernelCode, Region
from incc.frontends.unit import Unit
from incc.frontends.x86.decode import decode
from incc.frontends.x86.kernels import decode_regions
from incc.frontends.x86.llvm.text import printed
from incc.frontends.x86.statements import Names
from incc.models.importers.llvm import text as importer
from incc.models.importers.llvm.importer import print_x86
from settings_fixtures import settings_with

X86 = isa("x86")
MC, MCA = shutil.which("llvm-mc-19"), shutil.which("llvm-mca-19")
CONFIG = shutil.which("llvm-config-19")


def decoded(text: str) -> KernelCode:
    """All lines of a text, which are instructions or nothing that has bytes."""
    lines = tuple(range(1, text.count("\n") + 2))
    region = Region(
        kind="file",
        name="f",
        function="",
        label="",
        first_line=1,
        last_line=len(lines),
        lines=lines,
        body_lines=lines,
        is_loop=False,
        depth=0,
        source=None,
        notes=(),
    )
    (kernel,) = decode_regions(text, [region], "f")
    return kernel


def instructions(text: str) -> tuple[Instruction, ...]:
    kernel = decoded(text)
    assert not kernel.refused
    return kernel.instructions


def one(statement: str) -> Instruction:
    (found,) = instructions(statement)
    return found


# --- what LLVM 19 prints ----------------------------------------------------------------------------------------------

STATEMENTS = [
    # constants are what the statement says, not what the bytes do
    ("mov %eax, %ebx", "movl\t%eax, %ebx", "mov\tebx, eax"),
    ("add $0x10,%rax", "addq\t$16, %rax", "add\trax, 16"),
    ("andl $0xfffffff0, %edx", "andl\t$4294967280, %edx", "and\tedx, 4294967280"),
    ("andl $-16, %edx", "andl\t$-16, %edx", "and\tedx, -16"),
    ("movb $200, %al", "movb\t$200, %al", "mov\tal, 200"),
    ("vpermilps $-1, %xmm0, %xmm1", "vpermilps\t$255, %xmm0, %xmm1", "vpermilps\txmm1, xmm0, 255"),
    ("mov $(1<<4)|2, %ebx", "movl\t$18, %ebx", "mov\tebx, 18"),
    ("shl $1, %eax", "shll\t%eax", "shl\teax"),
    ("enter $8, $1", "enter\t$8, $1", "enter\t8, 1"),
    # addresses
    ("mov (%rax,%rbx,1), %rcx", "movq\t(%rax,%rbx), %rcx", "mov\trcx, qword ptr [rax + rbx]"),
    ("mov (,%rbx,1), %rbx", "movq\t(,%rbx), %rbx", "mov\trbx, qword ptr [1*rbx]"),
    ("mov 0x1000, %rbx", "movq\t4096, %rbx", "mov\trbx, qword ptr [4096]"),
    ("mov %fs:-8(%rax), %rax", "movq\t%fs:-8(%rax), %rax", "mov\trax, qword ptr fs:[rax - 8]"),
    ("movabs $0x1122334455667788, %rax", "movabsq\t$1234605616436508552, %rax", "movabs\trax, 1234605616436508552"),
    # symbols
    ("mov .LC0+8(%rip), %rax", "movq\t.LC0+8(%rip), %rax", "mov\trax, qword ptr [rip + .LC0+8]"),
    ("mov .LC0+8+16(%rip), %rax", "movq\t(.LC0+8)+16(%rip), %rax", "mov\trax, qword ptr [rip + (.LC0+8)+16]"),
    ("mov -8+.LC0(%rip), %rax", "movq\t(-8)+.LC0(%rip), %rax", "mov\trax, qword ptr [rip + (-8)+.LC0]"),
    ("mov foo@gotpcrel(%rip), %rax", "movq\tfoo@GOTPCREL(%rip), %rax", "mov\trax, qword ptr [rip + foo@GOTPCREL]"),
    ("mov foo(,%rax,8), %rbx", "movq\tfoo(,%rax,8), %rbx", "mov\trbx, qword ptr [8*rax + foo]"),
    ("mov $foo+8, %ebx", "movl\t$foo+8, %ebx", "mov\tebx, offset foo+8"),
    ("call foo@PLT", "callq\tfoo@PLT", "call\tfoo@PLT"),
    ("jne foo+4", "jne\tfoo+4", "jne\tfoo+4"),
    ("call *foo(%rip)", "callq\t*foo(%rip)", "call\tqword ptr [rip + foo]"),
    ("xbegin foo", "xbegin\tfoo", "xbegin\tfoo"),
    # prefixes
    ("lock incq (%rax)", "lock\t\tincq\t(%rax)", "lock\t\tinc\tqword ptr [rax]"),
    ("rep stosb", "rep\t\tstosb\t%al, %es:(%rdi)", "rep\t\tstosb\tbyte ptr es:[rdi], al"),
    ("repz cmpsb", "rep\t\tcmpsb\t%es:(%rdi), (%rsi)", "rep\t\tcmpsb\tbyte ptr [rsi], byte ptr es:[rdi]"),
    ("notrack jmp *%rax", "notrack\t\tjmpq\t*%rax", "notrack\t\tjmp\trax"),
    ("{evex} vaddps %xmm3, %xmm2, %xmm1", "{evex}\tvaddps\t%xmm3, %xmm2, %xmm1", "{evex}\tvaddps\txmm1, xmm2, xmm3"),
    ("{vex} vpdpbusd %ymm1, %ymm2, %ymm3", "{vex}\tvpdpbusd\t%ymm1, %ymm2, %ymm3", "{vex}\tvpdpbusd\tymm3, ymm2, ymm1"),
    # AVX-512
    (
        "vaddpd (%rax){1to8}, %zmm1, %zmm2 {%k1}{z}",
        "vaddpd\t(%rax){1to8}, %zmm1, %zmm2 {%k1} {z}",
        "vaddpd\tzmm2 {k1} {z}, zmm1, qword ptr [rax]{1to8}",
    ),
    (
        "vaddpd {rn-sae}, %zmm1, %zmm2, %zmm3",
        "vaddpd\t{rn-sae}, %zmm1, %zmm2, %zmm3",
        "vaddpd\tzmm3, zmm2, zmm1, {rn-sae}",
    ),
    ("vcmpps $1, %zmm0, %zmm1, %k1", "vcmpltps\t%zmm0, %zmm1, %k1", "vcmpltps\tk1, zmm1, zmm0"),
    ("vcmpps $33, %ymm0, %ymm1, %k1", "vcmpps\t$33, %ymm0, %ymm1, %k1", "vcmpps\tk1, ymm1, ymm0, 33"),
    ("vpcmpd $4, %zmm0, %zmm1, %k1", "vpcmpneqd\t%zmm0, %zmm1, %k1", "vpcmpneqd\tk1, zmm1, zmm0"),
    # exchanges, which assemblers encode one way or the other
    ("xchg %ecx, %edx", "xchgl\t%ecx, %edx", "xchg\tedx, ecx"),
    ("xchg %ax, %ax", "xchgw\t%ax, %ax", "xchg\tax, ax"),
    # x87 and others
    ("fadd %st(1)", "fadd\t%st(1), %st", "fadd\tst, st(1)"),
    ("fldt (%rax)", "fldt\t(%rax)", "fld\ttbyte ptr [rax]"),
    ("movsl", "movsl\t(%rsi), %es:(%rdi)", "movsd\tdword ptr es:[rdi], dword ptr [rsi]"),
    ("nopw 0x0(%rax,%rax,1)", "nopw\t(%rax,%rax)", "nop\tword ptr [rax + rax]"),
    ("cltq", "cltq", "cdqe"),
    ("ret", "retq", "ret"),
    # GNU as writes other bytes, which come to the same
    ("movq %fs, %r8", "movq\t%fs, %r8", "mov\tr8, fs"),
    ("movl %eax, %gs", "movl\t%eax, %gs", "mov\tgs, eax"),
    ("movq %rax, %gs", "movq\t%rax, %gs", "mov\tgs, rax"),
    ("strq %rsi", "strq\t%rsi", "str\trsi"),
    ("repz nop", "rep\t\tnop", "rep\t\tnop"),
    ("pause", "pause", "pause"),
]


@pytest.mark.parametrize(("statement", "att", "intel"), STATEMENTS, ids=[each[0] for each in STATEMENTS])
def test_statements_are_printed_as_llvm_does(statement: str, att: str, intel: str) -> None:
    found = one(statement)
    assert printed(found, "att") == att
    assert printed(found, "intel") == intel
    # What is printed once is kept.
    assert printed(found, "att") == att


@pytest.mark.parametrize(
    ("statement", "att"),
    [
        ("mov rax, qword ptr [rip + foo + 8]", "movq\tfoo+8(%rip), %rax"),
        ("mov rax, foo[rip+8]", "movq\tfoo+8(%rip), %rax"),
        ("mov rax, [8 + rbx*4 + rax - 16 + foo]", "movq\tfoo-8(%rax,%rbx,4), %rax"),
        ("mov eax, offset foo + 8", "movl\t$foo+8, %eax"),
        ("lea rax, [rip + foo]", "leaq\tfoo(%rip), %rax"),
        ("mov rax, qword ptr fs:0", "movq\t%fs:0, %rax"),
        ("add dword ptr [rax], 0xffffffff", "addl\t$4294967295, (%rax)"),
        ("xchg ecx, edx", "xchgl\t%edx, %ecx"),
        ("vaddps xmm1{k1}{z}, xmm2, xmm3", "vaddps\t%xmm3, %xmm2, %xmm1 {%k1} {z}"),
        ("jne foo", "jne\tfoo"),
    ],
)
def test_statements_in_intel_syntax(statement: str, att: str) -> None:
    (found,) = instructions(f".intel_syntax noprefix\n{statement}")
    assert printed(found, "att") == att


def test_hexadecimal_numbers() -> None:
    assert printed(one("andl $-16, -8(%rdx)"), "att", True) == "andl\t$-0x10, -0x8(%rdx)"
    assert printed(one("andl $-16, -8(%rdx)"), "intel", True) == "and\tdword ptr [rdx - 0x8], -0x10"
    # Of addresses with symbols LLVM leaves numbers as they are.
    assert printed(one("mov foo+16(%rip), %eax"), "att", True) == "movl\tfoo+16(%rip), %eax"


def test_names_of_the_text() -> None:
    text = "N = 8\n1: mov $N, %eax\njne 1b\njne 1f\n.set M, N*2+1\n1: add $M, %eax\nmov foo+N*2(%rip), %ebx\nloop 1b"
    names = Names(text)
    found = [printed(i, "att", False, names) for i in instructions(text)]
    assert found == [
        "movl\t$8, %eax",
        "jne\t.Ltmp0",
        "jne\t.Ltmp1",
        "addl\t$17, %eax",
        "movl\tfoo+(8*2)(%rip), %ebx",
        "loop\t.Ltmp1",
    ]


def test_encodings_of_named_constants() -> None:
    text = "N = 5\nM = N*2\ncmpl $M+N, %eax\nleaq foo-.(%rip), %rax"
    names = Names(text)
    first, second = instructions(text)
    assert X86.llvm_encoding(first, names).hex() == "83f80f"
    assert printed(second, "att", False, names) == 'leaq\tfoo-""(%rip), %rax'


def test_a_statement_that_is_a_macro_says_nothing() -> None:
    text = ".macro both\nmov $1, %eax\nadd $-1, %ebx\n.endm\nboth"
    region = Region(
        kind="file",
        name="f",
        function="",
        label="",
        first_line=5,
        last_line=5,
        lines=(5,),
        body_lines=(5,),
        is_loop=False,
        depth=0,
        source=None,
        notes=(),
    )
    (kernel,) = decode_regions(text, [region], "f")
    assert [printed(i) for i in kernel.instructions] == ["movl\t$1, %eax", "addl\t$-1, %ebx"]


def test_bytes_without_a_statement() -> None:
    assert printed(replace(decode(bytes.fromhex("83c0ff")), text="")) == "addl\t$-1, %eax"
    assert printed(replace(decode(bytes.fromhex("75f0"), 0x20), text="")) == "jne\t0x12"


@pytest.mark.parametrize(
    ("statement", "code"),
    [
        ("jne foo", "0f8500000000"),
        ("1: jne 1b", "0f8500000000"),
        ("1: jmp 1b", "e900000000"),
        ("1: loop 1b", "e200"),
        ("1: lea 1b(%rip), %rax", "488d0500000000"),
        ("xchg %r8, %r9", "4d87c8"),
        ("xchg %ecx, %edx", "87d1"),
        ("addl $1, 8(%rax)", "83400801"),
        ("movq %fs, %r8", "498ce0"),
        ("sldtq %rax", "480f00c0"),
        ("rep movsw", "f366a5"),
        ("lodsl %gs:(%esi), %eax", "6765ad"),
        ("lock addw $1, %fs:(%rdi)", "6466f0830701"),
        ("cmpq $foo, %rax", "4881f800000000"),
        ("addw $foo, %ax", "6681c00000"),
        ("cmpq $0x12345, %rax", "483d45230100"),
        ("addb $foo, %al", "0400"),
    ],
)
def test_encodings_are_those_of_llvms_assembler(statement: str, code: str) -> None:
    assert X86.llvm_encoding(one(statement)).hex() == code


@pytest.mark.parametrize(
    ("statement", "effects"),
    [
        (
            "addl %eax, (%rbx)",
            Effects(may_load=True, may_store=True, side_effects=False, load_barrier=False, store_barrier=False),
        ),
        ("mfence", Effects(may_load=True, may_store=True, side_effects=True, load_barrier=True, store_barrier=True)),
        ("lfence", Effects(may_load=True, may_store=True, side_effects=True, load_barrier=True, store_barrier=False)),
        ("sfence", Effects(may_load=True, may_store=True, side_effects=True, load_barrier=False, store_barrier=True)),
        (
            "prefetcht0 (%rax)",
            Effects(may_load=True, may_store=True, side_effects=False, load_barrier=False, store_barrier=False),
        ),
        (
            "lea (%rax), %rbx",
            Effects(may_load=False, may_store=False, side_effects=False, load_barrier=False, store_barrier=False),
        ),
        (
            "call foo",
            Effects(may_load=False, may_store=False, side_effects=False, load_barrier=False, store_barrier=False),
        ),
        (
            "enter $16, $0",
            Effects(may_load=False, may_store=False, side_effects=True, load_barrier=False, store_barrier=False),
        ),
        (
            "enter $16, $3",
            Effects(may_load=False, may_store=False, side_effects=True, load_barrier=False, store_barrier=False),
        ),
        ("pause", Effects(may_load=True, may_store=True, side_effects=True, load_barrier=False, store_barrier=False)),
        (
            "repz nop",
            Effects(may_load=False, may_store=False, side_effects=False, load_barrier=False, store_barrier=False),
        ),
        ("cpuid", Effects(may_load=False, may_store=False, side_effects=True, load_barrier=False, store_barrier=False)),
        (
            "vcompressps %zmm0, %zmm1",
            Effects(may_load=False, may_store=False, side_effects=True, load_barrier=False, store_barrier=False),
        ),
        (
            "vcompressps %zmm0, %zmm1 {%k1}",
            Effects(may_load=False, may_store=False, side_effects=False, load_barrier=False, store_barrier=False),
        ),
        (
            "vexpandps (%rdi), %zmm1 {%k1} {z}",
            Effects(may_load=True, may_store=False, side_effects=False, load_barrier=False, store_barrier=False),
        ),
    ],
)
def test_effects_are_what_llvm_describes(statement: str, effects: Effects) -> None:
    assert X86.llvm_effects(one(statement)) == effects


def test_reports_have_it() -> None:
    text = ".L3:\n vmovupd (%rsi,%rax,8), %ymm1\n cmp $0x10, %rax\n jne .L3\n"

    def asked(**settings: object) -> list[tuple[str, str]]:
        report = analyze_units(
            [Unit(assembly=text, assembly_file="k.s")], settings_with(mcpu="skylake", what_ifs=False, **settings)
        )  # type: ignore[arg-type]
        (kernel,) = report.units[0].kernels
        return [(i.text, i.encoding) for i in kernel.instructions]

    assert asked() == [
        ("vmovupd (%rsi,%rax,8), %ymm1", "c5fd100cc6"),
        ("cmp $0x10, %rax", "4883f810"),
        ("jne .L3", "75f5"),
    ]
    assert [text for text, _ in asked(syntax="att")] == ["vmovupd\t(%rsi,%rax,8), %ymm1", "cmpq\t$16, %rax", "jne\t.L3"]
    assert asked(syntax="intel", hex_immediates=True) == [
        ("vmovupd\tymm1, ymmword ptr [rsi + 8*rax]", "c5fd100cc6"),
        ("cmp\trax, 0x10", "4883f810"),
        ("jne\t.L3", "0f8500000000"),
    ]


# --- expressions ------------------------------------------------------------------------------------------------------

NUMBERS = st.integers(-(2**62), 2**62)
EXPRESSIONS = st.recursive(
    st.integers(0, 2**32).map(str) | st.sampled_from(["foo", ".L3", "bar@PLT", '"a b"']),
    lambda inner: (
        st.tuples(inner, st.sampled_from(["+", "-", "*", "|", "&", "<<"]), inner).map(lambda x: f"({x[0]}{x[1]}{x[2]})")
        | inner.map(lambda x: f"-{x}")
    ),
    max_leaves=6,
)


@given(EXPRESSIONS)
def test_what_is_shown_is_the_same_expression(text: str) -> None:
    found = expression(text)
    assert expression(shown(found)) == found
    assert evaluate(found) is None or found == evaluate(found)


@given(st.integers(0, 2**20), st.integers(0, 2**20), st.integers(1, 50))
def test_constants_are_folded(a: int, b: int, c: int) -> None:
    assert expression(f"{a}+{b}*{c}") == a + b * c
    assert expression(f"-{a:#x}-({b}|{c})") == -a - (b | c)
    assert expression(f"{a}/{c}%7") == a // c % 7
    assert expression(f"{a:x}h", intel=True) == a if f"{a:x}"[0].isdigit() else True


@given(st.text(alphabet="ab1+-*()@.$%, ", max_size=12))
def test_any_text_is_an_expression_or_not(text: str) -> None:
    with contextlib.suppress(NotAnExpressionError):
        shown(expression(text))


@given(st.binary(min_size=1, max_size=15))
def test_all_that_decodes_is_printed(code: bytes) -> None:
    try:
        found = decode(code)
    except ValueError:
        return
    for syntax in ("att", "intel"):
        text = printed(replace(found, text=""), syntax)
        assert text == text.strip()
        assert "<" not in text
    assert X86.llvm_encoding(replace(found, text="")) == found.encoding


def test_operands_are_split() -> None:
    assert split_operands('$1, foo(,%rax,8), "a,b"(%rip), {1to8}') == ["$1", "foo(,%rax,8)", '"a,b"(%rip)', "{1to8}"]


# --- all forms, asked of LLVM -----------------------------------------------------------------------------------------

pytestmark_llvm = pytest.mark.skipif(not (MC and MCA and CONFIG), reason="LLVM 19's tools and development files")


def statements() -> list[str]:
    """How LLVM writes an example of every form, in AT&T syntax."""
    examples = list(importer.examples())
    found = [json.loads(line) for line in print_x86([f"{key} {code.hex()}" for key, code in examples])]
    texts = [re.sub(r"\s*#.*", "", each["att"]).strip() for each in found if "error" not in each]
    # Prefixes are instructions of their own to LLVM's parser.
    return [text for text in dict.fromkeys(texts) if not re.match(r"rep|.*addr32", text)]


@pytest.mark.long
@pytestmark_llvm
def test_the_tables_are_what_llvm_says() -> None:
    written, _ = importer.read("llvm-config-19", list(importer.examples()))
    masked, _ = importer.read("llvm-config-19", list(importer.masked_examples()))
    narrow, _ = importer.read("llvm-config-19", list(importer.narrow_examples()))
    assert len(written) > 8000
    assert importer.forms_file(written, narrow) == pathlib.Path(importer.FORMS).read_text()
    assert importer.flags_file(written, masked, narrow) == pathlib.Path(importer.FLAGS).read_text()


# GNU as leaves out a prefix that changes nothing here, LLVM does not.
OTHER_SIZE = re.compile(r"mov[lq]\t%(?:fs|r9), |sldtq|strq|xbegin")


@pytestmark_llvm
def test_all_forms_are_read_and_printed_as_llvm_does() -> None:
    texts = statements()
    assert MC is not None
    # One after another, each behind a mark, so that one that is refused moves none of the others.
    marked = "".join(f'.ascii "@{n}@"\n{text}\n' for n, text in enumerate(texts))
    want: dict[tuple[int, str], str] = {}
    for variant, syntax in enumerate(("att", "intel")):
        command = [MC, "-triple=x86_64", f"-output-asm-variant={variant}"]
        done = subprocess.run(command, input=marked, capture_output=True, text=True, check=False)
        place = -1
        for line in done.stdout.split("\n"):
            if ".ascii" in line:
                place = int(line.split("@")[1])
            elif place >= 0 and line.startswith("\t"):
                want[place, syntax] = line.partition(" #")[0].strip()
    kernel = decoded("\n".join(texts))
    found = {(i.line - 1, syntax): printed(i, syntax) for i in kernel.instructions for syntax in ("att", "intel")}
    assert len(want) > 14000
    wrong = {
        texts[n]: (text, found.get((n, syntax))) for (n, syntax), text in want.items() if found.get((n, syntax)) != text
    }
    assert {text: both for text, both in wrong.items() if not OTHER_SIZE.match(text)} == {}


@pytestmark_llvm
def test_encodings_and_effects_of_all_forms() -> None:
    texts = statements()
    assert MCA is not None
    command = [MCA, "-mtriple=x86_64", "-mcpu=sapphirerapids", "-instruction-tables", "-resource-pressure=0"]
    command += ["-show-encoding", "-show-barriers", "-skip-unsupported-instructions=any"]
    done = subprocess.run(command, input="\n".join(texts), capture_output=True, text=True, check=True)
    head, _, rows = done.stdout.partition("Instructions:\n")
    at = len(head.split("\n")[-1])
    told = {}
    for row in rows.split("\n"):
        columns = re.match(r" *\d+ +\d+ +[\d.-]+ (.{7})(.{7})(.{7})(.{7})(.{7}) *\d+ +((?:[0-9a-f]{2} )+)", row)
        if columns:
            cells = [bool(cell.strip()) for cell in columns.groups()[:5]]
            effects = Effects(**dict(zip(Effects.__struct_fields__, cells, strict=True)))
            told[row[at:]] = effects, columns[6].strip()
    known = [i for i in decoded("\n".join(texts)).instructions if printed(i) in told and i.mnemonic != "enter"]
    assert len(known) > 7000
    for instruction in known:
        assert (X86.llvm_effects(instruction), X86.llvm_encoding(instruction).hex(" ")) == told[printed(instruction)]
