"""Assembly texts: cases of the conformance tests with changes, texts by a grammar, and much of one thing."""

from __future__ import annotations

import functools
import re

from hypothesis import strategies as st

from test.fuzz.corpus import cases
from test.fuzz.kinds.common import arm_cores, cores, many, views, ways
from test.fuzz.kinds.options import some_options
from test.fuzz.kinds.tokens import (
    ARM_OPERANDS,
    ARM_REGISTERS,
    DIRECTIVES,
    MARKERS,
    NUMBERS,
    PIECES,
    REGISTERS,
)  # fmt: skip
from test.fuzz.mutation import LONGEST, changed_text
from test.fuzz.runs import Run


@functools.cache
def _mnemonics() -> list[str]:
    """Return those of the conformance tests."""
    found: set[str] = set()
    for case in cases():
        for data in case.files.values():
            for line in data.decode("utf-8", "replace").split("\n"):
                word = line.strip().split(None, 1)[:1]
                if line[:1] in ("\t", " ") and word and word[0].isalnum():
                    found.add(word[0])
    return sorted(found)


_bases = st.sampled_from(REGISTERS[:10])
_addresses = st.tuples(
    st.sampled_from(("", "*", "%fs:")),
    st.sampled_from(("", *NUMBERS)),
    st.one_of(
        _bases.map(lambda base: f"(%{base})"),
        st.tuples(
            _bases, st.sampled_from((*REGISTERS[:10], "xmm1", "ymm2", "zmm3", "riz")), st.sampled_from("12348")
        ).map(lambda parts: f"(%{parts[0]},%{parts[1]},{parts[2]})"),
        st.sampled_from(("(,%rax,8)", "(%rip)", "")),
    ),
    st.sampled_from(("", "", "", "{1to8}", "{%k1}")),
).map("".join)
_registers = st.tuples(
    st.sampled_from(REGISTERS), st.sampled_from(("", *[""] * 40, "{%k1}", "{%k2}{z}", "{z}", "{", "{sae}"))
).map(lambda parts: f"%{parts[0]}{parts[1]}")
operands = st.one_of(
    _registers,
    _registers,
    st.sampled_from(NUMBERS).map("${}".format),
    _addresses,
    st.sampled_from((".L0", ".L1", "f", "1b", "1f", ".+4", "*%rax", "{rn-sae}", "")),
)
_jumps = st.tuples(
    st.sampled_from(("jne", "jmp", "je", "loop", "jrcxz", "call", "xbegin")),
    st.sampled_from((".L0", ".L1", ".L2", "1b", "f", "*%rax", "*.L0(,%rax,8)", "0")),
).map(" ".join)
_PREFIXES = ("lock ", "rep ", "repne ", "data16 ", "{evex} ", "bnd ", "rex.W ", "{nf} ", "fs ")


@st.composite
def statements(draw: st.DrawFn) -> str:
    """Return an instruction, most of them not valid."""
    if not draw(st.integers(0, 7)):
        return draw(_jumps)
    prefix = draw(st.sampled_from(("", *[""] * 40, *_PREFIXES)))
    words = ", ".join(draw(st.lists(operands, max_size=4)))
    text = f"{prefix}{draw(st.sampled_from(_mnemonics()))} {words}"
    if draw(st.integers(0, 19)) == 19:  # as Intel writes it
        text = text.translate(str.maketrans("()", "[]", "%$"))
    return text


@functools.cache
def _arm_forms() -> list[str]:
    """Return the forms of a model: `fmla/v.4s,v.4s,v.s[]`, `ldr/x,[x,x,lsl#]`."""
    from incc.models.loading import load

    return sorted(load("neoverse-v2").forms())


@st.composite
def _arm_statements(draw: st.DrawFn) -> str:
    """Return an instruction: a form with registers and numbers, most of them valid, or its mnemonic with anything."""
    form = draw(st.sampled_from(_arm_forms()))
    mnemonic, _, text = form.partition("/")
    if not draw(st.integers(0, 3)):
        return f"{mnemonic}\t{', '.join(draw(st.lists(_arm_operands, max_size=4)))}"

    number = draw(st.sampled_from(("0", "1", "2", "3", "8", "16", "-1", "4096")))
    register = draw(st.integers(0, 7))
    text = text.replace("[]", f"[{number}]")
    text = re.sub(
        r"\{([vz])(\.\w+)\*(\d)\}", lambda m: "{" + ", ".join(f"{m[1]}{n}{m[2]}" for n in range(int(m[3]))) + "}", text
    )
    text = re.sub(r"(?<![./\w])([xwvzpbhsdq])(?=[.,/\]]|$)", rf"\g<1>{register}", text)
    text = re.sub("(mul|lsl|lsr|asr|ror|[us]xt[bhwx])?#", lambda m: f"{m[1] or ''} #{number}", text)
    for name, value in (
        ("pattern", "vl4"),
        ("prfop", "pldl1keep"),
        ("cond", "eq"),
        ("label", ".L0"),
        ("vl]", "mul vl]"),
    ):
        text = text.replace(name, value)
    return f"{mnemonic}\t{text}"


_arm_addresses = st.tuples(
    st.sampled_from(("x0", "x1", "sp", "z0.d", "w3", "xzr", "x30")),
    st.sampled_from(
        ("", ", #8", ", x2", ", x2, lsl #3", ", w2, sxtw #2", ", #1, mul vl", ", z1.d, lsl #3", ", :lo12:a", ", #-256")
    ),
    st.sampled_from(("]", "]", "]", "]!", "], #16", "], x2", "", "]]")),
).map(lambda parts: "[" + "".join(parts))
_arm_operands = st.one_of(
    st.sampled_from(ARM_REGISTERS),
    st.sampled_from(ARM_REGISTERS),
    st.sampled_from(NUMBERS).map("#{}".format),
    _arm_addresses,
    st.sampled_from(ARM_OPERANDS),
)


@st.composite
def arm_programs(draw: st.DrawFn) -> bytes:
    """Return assembly for AArch64 by a grammar that goes wrong now and then."""
    line = st.one_of(
        st.sampled_from((".L0:", "f:", "// LLVM-MCA-BEGIN", ".inst 0xd503201f", "1:")), *[_arm_statements()] * 6
    )
    lines = draw(many(line, 40))
    end = draw(st.sampled_from(("", "\n\tb.ne .L0", "\n\tcbnz x0, .L0", "\n\tb 1b")))
    return b".L0:\n\tadd x0, x0, #1\n" + ("\n".join(lines) + end).encode("utf-8", "surrogateescape") + b"\n"


_lines = st.one_of(
    st.sampled_from(DIRECTIVES),
    st.sampled_from(MARKERS),
    *[st.tuples(statements(), st.sampled_from(("", "", "", "; nop", " # c", "\r"))).map("\t".join)] * 6,
)


@st.composite
def programs(draw: st.DrawFn) -> bytes:
    """Return assembly by a grammar that goes wrong now and then."""
    lines = draw(many(_lines, 40))
    end = draw(st.sampled_from(("", "\n\tjne .L0")))
    return ("\n".join(lines) + end).encode("utf-8", "surrogateescape") + b"\n"


@st.composite
def _mixed(draw: st.DrawFn) -> bytes:
    """Return mostly valid assembly: lines of a case, mixed."""
    pool = [line for data in draw(st.sampled_from(cases())).files.values() for line in data.split(b"\n")] or [b"nop"]
    lines = draw(many(st.sampled_from(pool), 60))
    if draw(st.booleans()):
        lines = [b".L0:", *lines, b"\tjne .L0"]
    return draw(changed_text(b"\n".join(lines) + b"\n", PIECES, 3))


@st.composite
def _much(draw: st.DrawFn) -> bytes:
    """Return much of one thing."""
    count = draw(st.sampled_from((10, 100, 1000, 3000)))
    nested = min(count, 600)  # what is printed of nested regions grows with the square of their number
    return draw(
        st.sampled_from(
            (
                b"".join(b"# LLVM-MCA-BEGIN r%d\nadd %%eax, %%ebx\n" % n for n in range(nested // 10))
                + b"".join(b"# LLVM-MCA-END r%d\n" % n for n in range(nested // 10)),
                b"# LLVM-MCA-BEGIN\nadd %eax, %ebx\n# LLVM-MCA-END\n" * (count // 10),
                b"# LLVM-MCA-BEGIN x\n# LLVM-MCA-END x\n" * (count * 30),
                b"add %eax, %ebx # " + b"x" * (count * 300) + b"\n",
                b"add %eax, %ebx;" * count,
                b'.ascii "' + b"\\377" * (count * 80) + b'"\nadd %eax, %ebx\n',
                b"a" * (count * 300) + b":\nadd " + b"(" * (count * 3) + b"%eax" + b")" * (count * 3) + b", %ebx\n",
                b"".join(b".L%d:\n" % n for n in range(count)) + b"add %eax, %ebx\n"
                + b"".join(b"jne .L%d\n" % n for n in range(count // 10)),
            )
        )
        | st.sampled_from(PIECES).map(lambda piece: (piece + b"\n") * (count // 3) + b"add %eax, %ebx\n")
    )  # fmt: skip


@st.composite
def _case(draw: st.DrawFn) -> Run:
    """Return a case of the conformance tests with changes to its text and its options."""
    case = draw(st.sampled_from(cases()))
    files = {
        name: draw(changed_text(data, PIECES)) if len(data) < LONGEST else data for name, data in case.files.items()
    }
    args = [word for word in case.args if not word.startswith("/")]
    at = draw(st.integers(0, len(args)))
    args[at:at] = draw(some_options("incc-mca"))
    stdin = draw(changed_text(case.stdin or b"", PIECES, 3))
    return Run(command="incc-mca", args=(*draw(_faces), *args), files=files, stdin=stdin, **draw(ways()))


_faces = st.sampled_from(((), ("--compat",)))


@st.composite
def _texts(draw: st.DrawFn) -> Run:
    text = draw(st.one_of(programs(), programs(), _mixed(), _mixed(), _much(), st.binary(max_size=300)))
    return draw(_on_a_core(text, cores))


@st.composite
def arm_runs(draw: st.DrawFn) -> Run:
    """Return runs on assembly for AArch64."""
    return draw(_on_a_core(draw(arm_programs()), arm_cores))


@st.composite
def _on_a_core(draw: st.DrawFn, text: bytes, cores: st.SearchStrategy[str]) -> Run:
    if draw(st.integers(0, 5)) == 5:
        return Run(
            command="incc-scan",
            args=(f"--mcpu={draw(cores)}", "-j1", "a.s"),
            files={"a.s": text},
            **draw(ways(jobs=True)),
        )
    args = (*draw(_faces), f"-mcpu={draw(cores)}", *draw(views))
    if draw(st.integers(0, 3)) == 3:
        return Run(command="incc-mca", args=args, stdin=text, **draw(ways()))
    return Run(command="incc-mca", args=(*args, "a.s"), files={"a.s": text}, **draw(ways()))


def runs() -> st.SearchStrategy[Run]:
    """Return runs on assembly."""
    return st.one_of(_texts(), _texts(), _case())
