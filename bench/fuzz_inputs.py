"""Inputs and command lines for bench/fuzz.py, generated from a number.

Texts are of the conformance corpus, changed by bytes, tokens and lines, or made by a grammar of statements, operands,
directives and markers that goes wrong now and then; objects (ELF, PE and COFF, Mach-O, archives) have turned bits, odd
numbers in their tables, ends cut off; reports lose keys and get values of other types; databases are changed by bytes.

Who throws the dice does not matter: those of `random` for a seed, or hypothesis's, which makes what fails smaller.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import pathlib
import random
import shutil
import struct
import subprocess
import sys
import tempfile
from typing import Any

import msgspec

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "test" / "conformance"))

from mca_cases import Case, corpus, run_function  # noqa: E402

LONGEST = 1_500_000

STREAMS = ("", "", "stdin closed", "stdout closed", "stderr closed", "stdout full", "stderr full", "reader gone")


class Run(msgspec.Struct, frozen=True):
    """A case to run; the `command` that it is for, `mca`, `compat` (incc-mca as llvm-mca), `scan`, `diff`, `db`
    or `incc`; and for a process of its own what is wrong with its `streams`, None for a run in this one."""

    case: Case
    command: str
    streams: str | None


# --- options ---------------------------------------------------------------------------------------------------------


@functools.cache
def cases() -> list[Case]:
    """The corpus."""
    return list(corpus())


@functools.cache
def option_words() -> list[str]:
    """Options of both faces, with values that are right for some."""
    from incc.driver.cli.kinds import MCA
    from incc.driver.cli.options import options_of
    from incc.driver.llvm_mca.options import IGNORED

    words = [f"-{name}" for name in IGNORED]
    for option in options_of(MCA):
        if option.name != "measure":
            words.append(f"-{option.name}")
            words += [f"-{option.name}={choice.lstrip('=')}" for choice in option.choices() if choice]
    return words


VALUES = (
    "0", "1", "2", "-1", "3", "10", "100", "4294967295", "4294967296", "1000000000000", "99999999999999999999999",
    "0x10", "true", "false", "", "nan", "inf", "1e308", "all", "none", "help", "intel", "att", "skylake", "znver4",
    "native", "skylake,znver3", ",", "btver2", "x86_64", "i386-pc-linux", "aarch64", "+avx512f,-sse", "any", "f", "*",
    "[", "f:3", "3", "a.s:1", "0-10", "0+ffffffffffffffff", "port 5 += 1", "rob = 0", "rob = 100000000", "width = 1000",
    "latency ADD = 1000000000", "-", ".", "/dev/null", "/dev/full", "missing/x", "out.dot", "\x00", "\udcff", "%s%n",
)  # fmt: skip

# What makes most of the program run.
VIEWS = (
    ["-all-views"], ["-all-stats"], ["-json"], ["-timeline"], ["-bottleneck-analysis"], ["-instruction-tables"],
    ["-html=out.html"], ["-dependency-graph=out.dot"], ["-graph=out.graphml"], ["-cfg=out.cfg.dot"],
    ["-sarif=out.sarif"], ["-opt-record=out.yaml"], ["-what-if"], ["-wait-states"], ["-critical-path"],
    ["-loop-carried"], ["-port-model"], ["-views=all"], ["-paths"], ["-branch=1:0.5"], ["-auto"], ["-auto", "-paths"],
    ["-function=*"], ["-function=f*"], ["-mcpu=skylake,znver4,icelake-server"], ["-iterations=1"],
    ["-timeline", "-timeline-max-iterations=3", "-timeline-max-cycles=0"], ["-show-encoding", "-show-barriers"],
    ["-skip-unsupported-instructions=any"], ["-output-asm-variant=1"],
)  # fmt: skip

CORES = (
    "skylake", "znver4", "btver2", "skylake,znver3", "sapphirerapids", "bdver2", "atom", "icelake-server", "generic",
    "x86-64-v3", "knl", "alderlake", "haswell", "znver2", "slm", "rocketlake",
)  # fmt: skip


def options(dice: random.Random, most: int) -> list[str]:
    """Options at random; values are in the same word or the next."""
    words = []
    for _ in range(dice.randrange(most)):
        word = dice.choice(option_words())
        kind = dice.randrange(4)
        if kind == 0:
            words.append(word)
        elif kind == 1:
            words += [word, dice.choice(VALUES)]
        else:
            words.append(f"{word.partition('=')[0]}={dice.choice(VALUES)}" if kind == 2 else f"-{word}")
    return words


# --- texts -----------------------------------------------------------------------------------------------------------

PIECES = (
    b"# LLVM-MCA-BEGIN", b"# LLVM-MCA-END", b"# OSACA-BEGIN", b"# OSACA-END", b"/*", b"*/", b"//", b";", b"\n", b"\t",
    b".intel_syntax noprefix\n", b".att_syntax\n", b".macro m a,b\n", b".endm\n", b"m m m\n", b".rept 1000000\n",
    b".endr\n", b".include \"a.s\"\n", b".incbin \"/dev/zero\"\n", b".fill 1000000000\n", b".org 0x7fffffffffff\n",
    b".align 1073741824\n", b".p2align 62\n", b".section .text,\"ax\"\n", b".loc 1 999999999\n", b".file 1 \"\"\n",
    b".byte 100,103,144\n", b"movl $111, %ebx\n", b"movl $222, %ebx\n", b".if 1\n", b".endif\n", b".set a, a+1\n",
    b"1:\njmp 1b\n", b"jne .L1\n", b".L1:\n", b"%zmm31{%k7}{z}", b"{1to16}", b"$0xffffffffffffffff",
    b"-9223372036854775808",
    b"(%rax,%rax,8)", b"%st(7)", b"rep", b"lock", b"data16", b"\x00", b"\xff\xfe", b"\xf0\x9f\x98\x80",
    b"\r\n", b"\"", b"'",
    b"((((((((((", b"))))", b"vgatherqpd (%rax,%zmm1,8), %zmm2{%k1}\n", b"call f\n", b"ret\n", b"ud2\n", b"xbegin 1b\n",
    b".irp x,1,2\n", b".irpc x,abc\n", b".err\n", b".end\n", b".code32\n", b".cfi_startproc\n", b".quad 1<<64\n",
)  # fmt: skip


def mutated(dice: random.Random, data: bytes, times: int) -> bytes:
    """Bytes and tokens of it changed, doubled, dropped and moved."""
    text = bytearray(data)
    for _ in range(times):
        at = dice.randrange(len(text) + 1)
        end = min(len(text), at + dice.choice((1, 1, 2, 4, 16, 200)))
        kind = dice.randrange(8)
        if kind == 0 and text:
            text[at % len(text)] ^= 1 << dice.randrange(8)
        elif kind == 1 and text:
            text[at % len(text)] = dice.randrange(256)
        elif kind == 2:
            del text[at:end]
        elif kind == 3:
            text[at:at] = text[at:end] * dice.choice((1, 2, 3, 50))
        elif kind in (4, 5):
            text[at:at] = dice.choice(PIECES)
        elif kind == 6:
            other = dice.randrange(len(text) + 1)
            text[other:other] = text[at:end]
        else:
            lines = bytes(text).split(b"\n")
            line = lines.pop(dice.randrange(len(lines)))
            lines.insert(dice.randrange(len(lines) + 1), line)
            text = bytearray(b"\n".join(lines))
        del text[LONGEST:]
    return bytes(text)


@functools.cache
def mnemonics() -> list[str]:
    """Those of the corpus."""
    found: set[str] = set()
    for case in cases():
        for data in case.files.values():
            for line in data.decode("utf-8", "replace").split("\n"):
                word = line.strip().split(None, 1)[:1]
                if line[:1] in ("\t", " ") and word and word[0].isalnum():
                    found.add(word[0])
    return sorted(found)


_REGISTERS = (
    "rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rsp", "rbp", "r8", "r15", "eax", "r9d", "ax", "r10w", "al", "ah", "spl",
    "xmm0", "xmm15", "xmm16", "ymm1", "ymm31", "zmm2", "zmm31", "k0", "k7", "mm0", "st", "st(3)", "cs", "fs", "rip",
    "cr0", "dr7", "bnd0", "tmm1", "r16", "r31d", "riz", "eiz", "nosuch",
)  # fmt: skip
_NUMBERS = ("0", "1", "-1", "8", "0x7f", "255", "65536", "-2147483648", "0x7fffffffffffffff", "0xffffffffffffffff",
            "1<<63", "~0", "a", "a+1", "a-b", ".L0", "f@PLT", "x@GOTPCREL", "(((2)))", "0ffh", "1b", "-(-1)",
            "123456789012345678901234567890")  # fmt: skip
_DIRECTIVES = (
    ".p2align 4", ".align 16,,7", ".byte 0x90", ".byte 0x64,0x67,0x90", ".long 1", ".quad .L0", ".zero 100", ".text",
    '.section .rodata,"a"', ".globl f", ".type f, @function", ".size f, .-f", "f:", ".L0:", ".L1:", ".L2:", "1:",
    "a = 5", ".set b, a+1", ".cfi_startproc", ".cfi_endproc", '.file 1 "x.c"', ".loc 1 3 5", ".rept 3", ".endr",
    ".if a", ".else", ".endif", ".macro m x", ".endm", "m 1", ".irp x,1,2", ".intel_syntax noprefix", ".att_syntax",
    ".code64", ".pushsection .x", ".popsection", ".previous", '.ascii "\\377\\""', ".string \"x", ".ident", ".weak f",
    ".include \"a.s\"", ".org 64", ".fill 3,1,0x90", ".error \"x\"", ".nop", ".loc", '# 7 "x.c"', "#APP", "#NO_APP",
)  # fmt: skip
_MARKERS = ("# LLVM-MCA-BEGIN", "# LLVM-MCA-END", "# LLVM-MCA-BEGIN a", "# LLVM-MCA-END a", "# LLVM-MCA-BEGIN b c",
            "# LLVM-MCA-END b c", "// LLVM-MCA-BEGIN", "/* LLVM-MCA-END */", "# OSACA-BEGIN", "# OSACA-END",
            "# LLVM-MCA-INSTRUMENT", "movl $111, %ebx\n.byte 100,103,144", "movl $222, %ebx\n.byte 100,103,144",
            "# LLVM-MCA-BEGIN \x1b[31m")  # fmt: skip


def operand(dice: random.Random) -> str:
    kind = dice.randrange(8)
    if kind < 4:
        register = "%" + dice.choice(_REGISTERS)
        if dice.random() < 0.08:
            register += dice.choice(("{%k1}", "{%k2}{z}", "{z}", "{", "{sae}"))
        return register
    if kind == 4:
        return "$" + dice.choice(_NUMBERS)
    if kind < 7:
        base, index = dice.choice(_REGISTERS[:10]), dice.choice((*_REGISTERS[:10], "xmm1", "ymm2", "zmm3", "riz"))
        text = dice.choice(("", "", *_NUMBERS)) + dice.choice(
            (f"(%{base})", f"(%{base})", f"(%{base},%{index},{dice.choice('12348')})", f"(,%{index},8)", "(%rip)", "")
        )
        return dice.choice(("", "", "", "*", "%fs:")) + text + dice.choice(("", "", "", "", "{1to8}", "{%k1}"))
    return dice.choice((".L0", ".L1", "f", "1b", "1f", ".+4", "*%rax", "{rn-sae}", ""))


def statement(dice: random.Random) -> str:
    if dice.random() < 0.12:
        return (
            dice.choice(("jne", "jmp", "je", "loop", "jrcxz", "call", "xbegin"))
            + " "
            + dice.choice((".L0", ".L1", ".L2", "1b", "f", "*%rax", "*.L0(,%rax,8)", "0"))
        )
    prefix = (
        dice.choice(("lock ", "rep ", "repne ", "data16 ", "{evex} ", "bnd ", "rex.W ", "{nf} ", "fs "))
        if (dice.random() < 0.04)
        else ""
    )
    count = dice.choice((0, 1, 2, 2, 2, 3, 3, 4))
    text = f"{prefix}{dice.choice(mnemonics())} {', '.join(operand(dice) for _ in range(count))}"
    if dice.random() < 0.05:
        text = text.replace("%", "").replace("$", "").replace("(", "[").replace(")", "]")
    return text


def program(dice: random.Random) -> bytes:
    """Assembly by a grammar."""
    lines = []
    for _ in range(dice.choice((1, 3, 10, 40))):
        chance = dice.random()
        if chance < 0.2:
            lines.append(dice.choice(_DIRECTIVES))
        elif chance < 0.3:
            lines.append(dice.choice(_MARKERS))
        else:
            lines.append("\t" + statement(dice) + dice.choice(("", "", "", "; nop", " # c", "\r")))
    return "\n".join([*lines, dice.choice(("", "jne .L0", ""))]).encode("utf-8", "surrogateescape") + b"\n"


def assembled(dice: random.Random) -> bytes:
    """Assembly of what is mostly right: statements of the corpus, mixed."""
    pool = [line for data in dice.choice(cases()).files.values() for line in data.split(b"\n")] or [b"nop"]
    lines = [dice.choice(pool) for _ in range(dice.choice((3, 10, 60)))]
    if dice.random() < 0.5:
        lines = [b".L0:", *lines, b"\tjne .L0"]
    return b"\n".join(lines) + b"\n"


def many(dice: random.Random) -> bytes:
    """Much of one thing."""
    count = dice.choice((100, 1000, 3000))
    kind = dice.randrange(9)
    if kind == 0:
        count = min(count, 600)  # what is printed of them grows with the square
        return b"".join(b"# LLVM-MCA-BEGIN r%d\nadd %%eax, %%ebx\n" % n for n in range(count // 10)) + b"".join(
            b"# LLVM-MCA-END r%d\n" % n for n in range(count // 10)
        )
    if kind == 1:
        return b"# LLVM-MCA-BEGIN\nadd %eax, %ebx\n# LLVM-MCA-END\n" * (count // 10)
    if kind == 2:
        return b"# LLVM-MCA-BEGIN x\n# LLVM-MCA-END x\n" * (count * 30)
    if kind == 3:
        return b"add %eax, %ebx # " + b"x" * 1_000_000 + b"\n"
    if kind == 4:
        return b"add %eax, %ebx;" * count
    if kind == 5:
        return b'.ascii "' + b"\\377" * 250_000 + b'"\nadd %eax, %ebx\n'
    if kind == 6:
        return (dice.choice(PIECES) + dice.choice((b"", b"\n"))) * (count // 3) + b"\nadd %eax, %ebx\n"
    if kind == 7:
        return b".L0:\n" + b"\n".join(statement(dice).encode() for _ in range(count // 10)) + b"\njne .L0\n"
    return b"a" * 1_000_000 + b":\nadd " + b"(" * 10_000 + b"%eax" + b")" * 10_000 + b", %ebx\n"


# --- objects ---------------------------------------------------------------------------------------------------------

_SOURCES = (
    "double f(double *a, double b, long n) { for (long i = 0; i < n; i++) a[i] += b * a[i]; return a[0]; }",
    "int f(int *a, int n) { int s = 0; for (int i = 0; i < n; i++) s += a[i] > 3 ? a[i] : -s; return s; }",
    "void g(char *); void f(char *a, int n) { for (int i = 0; i < n; i++) g(a + i); }",
    "int f(int *a, int n) { int s = 1; for (int i = 0; i < n; i++) switch (a[i]) { case 0: s += 3; break; "
    "case 1: s *= 5; break; case 2: s ^= i; break; "
    "case 3: s -= n; break; case 4: s <<= 1; break; default: s = 0; } return s; }",
)
_MARKED = "movl $111, %ebx\n.byte 100,103,144\n1: add $1, %rax\njne 1b\nmovl $222, %ebx\n.byte 100,103,144\nret\n"


@functools.cache
def objects() -> list[tuple[str, bytes]]:
    """Small objects and programs with their names: of C, with and without debug information, and with byte markers; of
    other formats what the tools at hand make."""
    found: list[tuple[str, bytes]] = []
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder)

        def made(name: str, *command: str) -> None:
            with contextlib.suppress(OSError):
                done = subprocess.run(command, cwd=folder, capture_output=True, check=False)
                if done.returncode == 0:
                    found.append((name, (path / name).read_bytes()))

        for number, source in enumerate(_SOURCES):
            (path / "a.c").write_text(source)
            for each, given in enumerate(("-O2", "-O3 -g -mavx2", "-O1 -gdwarf-4 -ffunction-sections")):
                made(f"{number}{each}.o", "gcc", *given.split(), "-c", "a.c", "-o", f"{number}{each}.o")
        made("z.o", "gcc", "-O2", "-g", "-gz", "-c", "a.c", "-o", "z.o")
        made("split.o", "gcc", "-O2", "-g", "-gsplit-dwarf", "-c", "a.c", "-o", "split.o")
        made("lto.o", "gcc", "-O2", "-flto", "-c", "a.c", "-o", "lto.o")
        made("f.so", "gcc", "-O2", "-g", "-shared", "-fPIC", "a.c", "-o", "f.so")
        (path / "m.s").write_text(_MARKED)
        made("m.o", "as", "m.s", "-o", "m.o")
        made("m.exe", "ld", "m.o", "-o", "m.exe")
        made("pe.obj", "objcopy", "-O", "pe-x86-64", "02.o", "pe.obj")
        made("pe.exe", "ld", "-m", "i386pep", "-e", "f", "pe.obj", "-o", "pe.exe")
        clang = shutil.which("clang-19") or "clang"
        for name, triple in (("m.macho", "x86_64-apple-darwin"), ("c.obj", "x86_64-pc-windows-msvc"), ("b.bc", "")):
            target = ["-target", triple, "-g"] if triple else ["-emit-llvm"]
            made(name, clang, "-O2", *target, "-c", "a.c", "-o", name)
        made("a.a", "ar", "rc", "a.a", "01.o", "12.o", "m.o")
        made("t.a", "ar", "rcT", "t.a", "01.o", "12.o")
    return found


_ODD = (0, 1, -1, 1 << 31, (1 << 31) - 1, 1 << 20, 1 << 63, (1 << 63) - 1, 0xFFFF, 0xFF00, 64, 40, 24)


def changed_object(dice: random.Random, data: bytes | None = None) -> bytes:
    """An object with something wrong."""
    text = bytearray(dice.choice(objects())[1] if data is None else data)
    kind = dice.randrange(6)
    if kind == 0:
        del text[dice.randrange(len(text)) :]
    for _ in range(dice.choice((0, 1, 2, 10, 100))):
        if not text:
            break
        # Headers have more to go wrong than what they stand before.
        at = dice.randrange(len(text)) if dice.random() < 0.5 or len(text) < 65 else dice.randrange(64)
        if kind == 1:
            text[at] = dice.choice((0, 0xFF, 0x7F, 0x80))
        elif kind == 2:
            size = dice.choice((2, 4, 8))
            text[at : at + size] = (dice.choice(_ODD) & (1 << 64) - 1).to_bytes(8, "little")[:size]
        elif kind == 3:
            _change_table(dice, text)
        elif kind == 4:
            other = dice.randrange(len(text))
            length = dice.choice((1, 4, 8, 24, 64))
            text[other : other + length] = text[at : at + length]
        else:
            text[at % len(text)] ^= 1 << dice.randrange(8)
    return bytes(text)


def _change_table(dice: random.Random, text: bytearray) -> None:
    """Another number in a section's header of an ELF file, or in what it holds; anywhere, if it is none."""
    try:
        assert text[:4] == b"\x7fELF"
        (table,) = struct.unpack_from("<Q", text, 40)
        size, count = struct.unpack_from("<HH", text, 58)
        header = table + size * dice.randrange(count)
        if dice.random() < 0.5:
            at, width = header + dice.choice((0, 4)), 4
            if dice.random() < 0.7:
                at, width = header + 8 * dice.randrange(1, 8), 8
        else:
            offset, length = struct.unpack_from("<QQ", text, header + 24)
            at, width = offset + dice.randrange(length), dice.choice((1, 2, 4, 8))
    except (AssertionError, struct.error, ValueError, OverflowError):
        at, width = dice.randrange(len(text)), 4
    if at + width <= len(text):
        text[at : at + width] = (dice.choice(_ODD) & (1 << 64) - 1).to_bytes(8, "little")[:width]


# --- reports and databases -------------------------------------------------------------------------------------------


@functools.cache
def reports() -> list[bytes]:
    """Reports as JSON."""
    from incc.driver.commands.mca import main

    text = b".L0:\n\tvmulpd (%rax), %ymm0, %ymm1\n\taddq $32, %rax\n\tcmpq %rax, %rbx\n\tjne .L0\n"
    found = []
    for words in (["--auto", "-mcpu=skylake"], ["--auto", "-mcpu=znver4,skylake", "-what-if"], ["-mcpu=skylake"]):
        output = run_function(
            main, [], Case(name="report", args=[*words, "-json", "a.s"], stdin=None, files={"a.s": text})
        )
        found.append(output.stdout.encode())
    return found


@functools.cache
def databases() -> list[bytes]:
    from incc.driver.commands.db import main

    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder, "x.db")
        words = ["add", "--db", str(place), "--commit", "c1", "--date", "2026-01-01", "r.json"]
        run_function(main, [], Case(name="database", args=words, stdin=None, files={"r.json": reports()[0]}))
        return [place.read_bytes()] if place.exists() else [b""]


_JSON_VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 1e308, 10**30, -(10**19), "", "x", "\x1b[31m", "\udcff", [], {}, [[]], {"": {}},
    ["x"] * 3, 0.1, "9" * 5000,
)  # fmt: skip


def changed_report(dice: random.Random) -> bytes:
    """A report with something wrong."""
    data = dice.choice(reports())
    if dice.random() < 0.25:
        return mutated(dice, data, dice.choice((0, 1, 3)))
    document = json.loads(data)
    for _ in range(dice.choice((1, 1, 2, 10))):
        at = document
        while True:
            keys = list(at) if isinstance(at, dict) else list(range(len(at)))
            if not keys:
                break
            key = dice.choice(keys)
            if not isinstance(at[key], (dict, list)) or dice.random() < 0.1:
                if dice.random() < 0.3:
                    del at[key]
                elif dice.random() < 0.2 and isinstance(at, list):
                    at.append(at[key])
                else:
                    at[key] = dice.choice(_JSON_VALUES)
                break
            at = at[key]
    text = json.dumps(document)
    return text.replace("1e+308", dice.choice(("1e308", "NaN", "Infinity", "1e999"))).encode()


# --- runs ------------------------------------------------------------------------------------------------------------


def _of_corpus(dice: random.Random) -> tuple[list[str], bytes | None, dict[str, bytes]]:
    case = dice.choice(cases())
    files = {
        name: mutated(dice, data, dice.choice((0, 1, 3, 20))) if len(data) < LONGEST else data
        for name, data in case.files.items()
    }
    args, stdin = list(case.args), case.stdin
    if stdin is not None:
        stdin = mutated(dice, stdin, dice.choice((0, 1, 5)))
    if dice.random() < 0.5:
        at = dice.randrange(len(args) + 1)
        args[at:at] = options(dice, 5)
    if dice.random() < 0.2 and args:
        at = dice.randrange(len(args))
        args[at] = os.fsdecode(mutated(dice, os.fsencode(args[at]), 1).replace(b"\0", b"").replace(b"/", b""))
    return args, stdin, files


def _of_mca(dice: random.Random) -> tuple[list[str], bytes | None, dict[str, bytes]]:
    if dice.random() < 0.3:
        return _of_corpus(dice)
    args, stdin, files = [f"-mcpu={dice.choice(CORES)}"], None, {}
    name = "a.s"
    kind = dice.randrange(14)
    if kind < 4:
        name, data = "a.o", changed_object(dice)
        args += dice.choice(
            ([], ["--auto"], ["--function=f"], ["--address=0+40"], ["--address=3-5", "--address=0-1"], ["--function=*"])
        )
    elif kind == 4:
        data = dice.randbytes(dice.choice((1, 5, 15, 100, 2000)))
        args.append("--raw")
    elif kind == 5:
        text = dice.randbytes(dice.choice((1, 15, 200))).hex(" ").encode()
        data = mutated(dice, text, dice.choice((0, 0, 3)))
        args.append("--hex")
    elif kind == 6:
        data = many(dice)
    elif kind == 7:
        data = dice.randbytes(dice.choice((10, 1000, 100_000)))
    elif kind < 11:
        data = program(dice)
    elif kind < 13:
        data = mutated(dice, assembled(dice), dice.choice((0, 0, 1, 3)))
    else:
        data = dice.choice(cases()).files.get(name) or b"1:\taddl %eax, %ebx\n\tvmulpd (%rax), %ymm0, %ymm1\n\tjne 1b\n"
        args += options(dice, 12)
    for _ in range(dice.choice((0, 0, 1, 1, 2, 4))):
        args += dice.choice(VIEWS)
    args += options(dice, 3) if dice.random() < 0.3 else []
    if dice.random() < 0.2:
        stdin = data
    else:
        files[name] = data
        args.append(name)
    return args, stdin, files


def _of_scan(dice: random.Random) -> tuple[list[str], bytes | None, dict[str, bytes]]:
    files = {}
    for _ in range(dice.choice((1, 1, 3))):
        name, data = dice.choice(objects())
        files[name] = changed_object(dice, data)
    if dice.random() < 0.3:
        files["x.s"] = program(dice)
    args = [f"--mcpu={dice.choice(CORES)}", dice.choice((".", ".", *files))]
    for _ in range(dice.choice((0, 0, 1, 2))):
        args += dice.choice(
            (["--output=json"], ["--output=cycles"], ["--function=*"], ["--where", "cycles > 1"], ["--bounds"],
             ["--where", dice.choice(VALUES)], ["--ghz", dice.choice(VALUES)], ["--input-format=objects"], ["nosuch"],
             ["--input-format=hex"], ["--input-format=asm"])
        )  # fmt: skip
    return args, None, files


def _of_diff(dice: random.Random) -> tuple[list[str], bytes | None, dict[str, bytes]]:
    files = {"a.json": dice.choice(reports()), "b.json": changed_report(dice)}
    if dice.random() < 0.2:
        files["b.o"] = changed_object(dice)
    args = dice.choice((["a.json", "b.json"], ["b.json", "a.json"], [*files], ["b.json", "b.json"], ["."]))
    for _ in range(dice.choice((0, 0, 1, 2))):
        args = args + dice.choice(
            (["--format=json"], ["--format=markdown"], ["--format=html"], ["--where", "cycles_b > 1.1*cycles_a"],
             ["--fail-if", "cycles > +5%"], ["--side-by-side=*"], ["--junit=j.xml"], ["--mcpu=skylake"], ["--github"],
             ["--where", dice.choice(VALUES)], ["--fail-if", dice.choice(VALUES)], ["--html=x.html"])
        )  # fmt: skip
    return args, None, files


def _of_db(dice: random.Random) -> tuple[list[str], bytes | None, dict[str, bytes]]:
    files = {"x.db": dice.choice(databases()), "r.json": dice.choice(reports())}
    if dice.random() < 0.6:
        at = dice.choice(("bytes", "head", "cut"))
        data = bytearray(files["x.db"])
        if at == "cut":
            del data[dice.randrange(len(data) + 1) :]
        for _ in range(dice.choice((1, 5, 50))):
            if data:
                data[dice.randrange(100 if at == "head" else len(data)) % len(data)] = dice.randrange(256)
        files["x.db"] = bytes(data)
    else:
        files["r.json"] = changed_report(dice)
    words = dice.choice(
        (["list"], ["show"], ["show", "c1"], ["log", "*"], ["best"], ["export", "csv"], ["export", "json"],
         ["add", "--commit", "c2", "r.json"], ["add", "--commit", dice.choice(VALUES), "r.json"], ["merge", "r.json"],
         ["baseline", "set", "m"], ["baseline", "get"], ["log", dice.choice(VALUES)], ["list", "--format", "json"],
         ["best", "--format=json", "--mcpu", dice.choice(VALUES)], ["add", "--date", dice.choice(VALUES), "r.json"])
    )  # fmt: skip
    return ["--db", "x.db", *words], None, files


def _of_incc(dice: random.Random) -> tuple[list[str], bytes | None, dict[str, bytes]]:
    source = dice.choice(_SOURCES).encode()
    if dice.random() < 0.3:
        source = mutated(dice, source, 1)
    if dice.random() < 0.2:
        source = b'__asm__("' + statement(dice).replace('"', "").encode("utf-8", "replace") + b'");\n' + source
    given = dice.choice(("-O2", "-O3 -march=skylake", "-O1 -g", "-Os -g3", "-O2 -flto", "-O0", "-O3 -fno-verbose-asm"))
    what = dice.choice(
        ("-c a.c -o a.o", "-c a.c", "-S a.c", "-E a.c -o a.i", "-c a.c -MD -MF a.d", "-c a.c -o missing/a.o",
         "a.c -o a.out", "-c a.c a.c", "-c missing.c", "-fsyntax-only a.c", "-c -x assembler a.c",
         "-c a.c -save-temps", "-c -x c - -o a.o", "-c a.c -o .", "@rsp", "-c a.c -pipe -o a.o", "-c -masm=intel a.c",
         "-c a.c -Wa,--noexecstack", "-v -c a.c")
    )  # fmt: skip
    own = dice.choice(("--analyze=r.json --format=json", "--analyze=r.txt", "--analyze=.", "--analyze=/dev/full",
                       "--analyze=missing/x", "--analyze", "--analyze=r.txt --analyze-mcpu=nosuch",
                       "--analyze=r.txt --analyze-html=/dev/full", "--analyze=r.txt --remarks"))  # fmt: skip
    own = own.replace(" --format", " --analyze-format").replace(" --remarks", " --analyze-remarks")
    files = {"a.c": source, "rsp": b"-c a.c -O2" + dice.choice((b"", b"\xff", b" @rsp", b" '"))}
    return [*own.split(), "--", *given.split(), *what.split()], source if " - " in what else None, files


_MAKERS = {"scan": _of_scan, "diff": _of_diff, "db": _of_db, "incc": _of_incc}


def thrown(dice: random.Random, name: str, commands: tuple[str, ...] = ("mca", "compat")) -> Run:
    """A run by these dice. `commands`: those that it may be of."""
    command = dice.choice(commands)
    args, stdin, files = _MAKERS.get(command, _of_mca)(dice)
    streams = dice.choice(STREAMS) if dice.random() < 0.03 else None
    if command == "incc":
        streams = ""
    # Never run what is under attack, nor write elsewhere.
    args = [word for word in args if "measure" not in word and not (word.startswith("/") and word[:5] != "/dev/")]
    if streams is not None:
        args = [
            word.replace("\0", "").encode("utf-8", "surrogateescape").decode("utf-8", "surrogateescape")
            for word in args
        ]
        if dice.random() < 0.2 and command in ("mca", "compat"):
            args.append(dice.choice((".", "missing", "pipe", "/dev/null", "/dev/full")))
    return Run(Case(name=name, args=args, stdin=stdin, files=files), command, streams)


COMMANDS = (*("mca",) * 10, *("compat",) * 10, "scan", "scan", "diff", "diff", "db", "incc")


def made(seed: int) -> Run:
    """The run of a seed."""
    return thrown(random.Random(seed), f"seed {seed}", COMMANDS)
