"""Code of an assembly text that is read from the object made of it, instead of being assembled again."""

from __future__ import annotations

import platform
import shutil
import subprocess
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incc.frontends.asm.parse import INSTRUCTION, parse
from incc.frontends.asm.placed import place
from incc.frontends.kernel import MadeObject
from incc.frontends.x86.assembler import AssembledLines, assemble
from incc.frontends.x86.kernels import read_lines
from properties import examples

pytestmark = [
    pytest.mark.skipif(platform.machine() != "x86_64", reason="the compiler must make x86-64 code"),
    pytest.mark.skipif(not shutil.which("gcc") or not shutil.which("as"), reason="no gcc"),
]

C = """
extern double s[];
__attribute__((cold, noinline)) static void rare(double *a) { a[0] = 1; }
double f(double *a, int n)
{
  double x = 0;
  for (int i = 0; i < n; i++) { if (a[i] > 3) x += a[i] * s[i & 7]; else a[i] = x; }
  if (__builtin_expect(x > 1e9, 0)) { rare(a); for (int i = 0; i < n; i++) a[i] *= x; }
  return x;
}
int g(const char *p)
{
  int h = 0;
  while (*p) {
    switch (*p++) { case 1: h++; break; case 2: h *= 3; break; case 3: h ^= 5; break; case 4: h -= 9; break;
                    case 5: h |= 64; break; default: h = -h; }
    __asm__("rep bsfl %0, %0; lock addl $1, (%1)\\n\\t# a comment" : "+r"(h) : "r"(p) : "memory");
  }
  return h;
}
"""
CXX = """
template <class T> struct Sum { T of(const T *a, int n); };
template <class T> T Sum<T>::of(const T *a, int n) { T s = 0; for (int i = 0; i < n; i++) s += a[i]; return s; }
template struct Sum<int>; template struct Sum<float>;
struct Name { int n; Name(int *p) : n(0) { while (*p++) n++; } };
static int table[9]; static Name name(table);
"""


def made(text: str, folder: Path, *options: str) -> MadeObject:
    """Return the object that GNU as makes of a text."""
    path = folder / "x.o"
    subprocess.run(["as", "--64", *options, "-o", path], input=text, text=True, check=True)
    return MadeObject(path.read_bytes(), partial(place, parse(text, "x86")))


def lines_of(text: str) -> list[int]:
    return sorted({s.line for s in parse(text, "x86").statements if s.kind == INSTRUCTION})


def content(assembled: AssembledLines) -> dict[int, list[Any]]:
    """Return all that is known of the statements but the numbers of sections, of which an object has more."""
    return {
        line: [(s.text, s.line, s.section, s.alignment, s.offset, s.code, s.relocations) for s in statements]
        for line, statements in assembled.statements.items()
    }


@pytest.mark.parametrize(
    "flags",
    [
        "-O0",
        "-O2 -g",
        "-O3 -march=x86-64-v4 -fPIC",
        "-Os -ffunction-sections -fcf-protection",
        "-O2 -masm=intel",
        "-O3 -falign-loops=32 -falign-functions=64 -pg",
    ],
)
@pytest.mark.parametrize("language", ["c", "c++"])
def test_the_object_has_what_the_assembler_makes_of_the_text(tmp_path: Path, flags: str, language: str) -> None:
    source = C.replace("__asm__", "//" if "intel" in flags else "__asm__") if language == "c" else CXX
    words = ["gcc", *flags.split(), "-x", language, "-S", "-o", "-", "-"]
    text = subprocess.run(words, input=source, capture_output=True, text=True, check=True).stdout
    lines = lines_of(text)
    assembled = assemble(text, lines)
    read = read_lines(made(text, tmp_path), lines)
    assert read is not None
    assert content(read) == content(assembled)
    functions = {function.name for function in parse(text, "x86").functions}
    assert functions <= read.symbols.keys()
    assert all(read.symbols[name][1] == assembled.symbols[name][1] for name in functions)


STATEMENTS = [
    *("addl $1, %eax", "vaddps %ymm1, %ymm2, %ymm3", "movabsq $1234567890123, %rax", "leaq a(,%rax,8), %rcx", "nop"),
    *("rep bsfl %eax, %eax", "cltq", "lock addl $1, a(%rip)", "jmp *%rax", "call f", "cmpb $1, a+4(%rip)"),
    *(".p2align 4,,10", ".p2align 3", ".p2align 5", ".p2align 6,,20", ".p2align 4,,0", ".p2align 0"),
    *("jne .L0", "jmp .L1", "jmp .L2", "je f"),
]
"""They need no other labels than `f` and .L0 to .L2."""


@given(st.lists(st.sampled_from(STATEMENTS), max_size=200), st.lists(st.integers(0, 200), min_size=3, max_size=3))
@examples(40)
def test_any_order_of_code_and_alignments(tmp_path_factory: Any, order: list[str], labels: list[int]) -> None:
    body = list(order)
    for number, at in enumerate(labels):
        body.insert(at, f".L{number}:")
    text = "\n".join(["\t.text", "\tnop", "\t.type f, @function", "f:", *body, "\tret", "\t.size f, .-f", ""])
    lines = [line for line in lines_of(text) if line > 3]
    read = read_lines(made(text, tmp_path_factory.mktemp("any")), lines)
    assert read is not None
    assert content(read) == content(assemble(text, lines))


LOOP = """\
\t.text
\t.type f, @function
f:
\tmovl $1000, %eax
\t.p2align 4
.L2:
\taddss (%rdi), %xmm0
\tsubl $1, %eax
\tjne .L2
\tje g
\t.type h, @function
h:
\tret
"""


def test_code_whose_place_is_uncertain_is_not_read(tmp_path: Path) -> None:
    own = made(LOOP, tmp_path)
    lines = lines_of(LOOP)
    assert read_lines(own, lines) is not None
    others = {
        "one instruction more": ("\tsubl", "\tnop\n\tsubl"),
        "one fewer": ("\taddss (%rdi), %xmm0\n", ""),
        "another instruction": ("\tsubl", "\taddl"),
        "another alignment": (".p2align 4", ".p2align 5"),
        "a jump elsewhere": (".L2:\n\taddss (%rdi), %xmm0", "\taddss (%rdi), %xmm0\n.L2:"),
        "data": ("\tje g", "\t.byte 0x90\n\tje g"),
        "no symbol": ("f:", ".Lf:"),
        "no code at all": (LOOP[LOOP.index("f:") :], ""),
    }
    for name, (before, after) in others.items():
        text = LOOP.replace(before, after, 1)
        assert text != LOOP
        assert read_lines(MadeObject(made(text, tmp_path).data, own.place), lines) is None, name
    for data in (b"", b"\x7fELF", own.data[:200], bytes(8) + own.data[8:]):
        read_lines(MadeObject(data, own.place), lines)  # raises nothing
    subprocess.run(["gcc", "-shared", "-o", tmp_path / "x.so", tmp_path / "x.o"], check=True)
    assert read_lines(MadeObject((tmp_path / "x.so").read_bytes(), own.place), lines) is None


@pytest.mark.parametrize(
    "statements", [".byte 0x90", ".org 100", ".rept 2\nnop\n.endr", ".subsection 1", "rep\nnop", "x = .", ".align 4"]
)
def test_functions_with_other_directives_are_assembled(tmp_path: Path, statements: str) -> None:
    text = LOOP.replace("\tsubl", f"{statements}\n\tsubl")
    *of_loop, last = lines_of(text)
    assert read_lines(made(text, tmp_path), of_loop) is None
    # Only the functions with the wanted lines matter.
    read = read_lines(made(text, tmp_path), [last])
    assert read is not None
    assert content(read) == content(assemble(text, [last]))
