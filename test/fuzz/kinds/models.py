"""Machine models in TOML with changes, for the commands that read models of users."""

from __future__ import annotations

import functools

from hypothesis import strategies as st

from test.fuzz.corpus import ROOT
from test.fuzz.kinds.common import ways
from test.fuzz.mutation import NUMBERS, TEXTS, changed_text
from test.fuzz.runs import Run

_CODE = b".L0:\n\taddq (%rax), %rbx\n\timulq %rbx, %rcx\n\tvmulpd %ymm0, %ymm1, %ymm2\n\tdivq %rsi\n\tjne .L0\n"
_WORDS = (
    *(f"{number}" for number in NUMBERS), "1e308", "nan", "-inf", "true", "[]", "{}", '""', '"p0"', '"p0156"', '"1*p"',
    '"1*p05+1*p23"', "[[1, 2], [3]]", "1979-05-27", "[" * 2000,
    *(f'"""{text}"""' for text in TEXTS if "\x1b" not in text),
)  # fmt: skip
_LINES = (
    b"[forms]\n", b'"ADD_R64_RM64/m" = { ports = "1*p0" }\n', b'"ADD_R64_RM64/m" = { latency = 1000000000 }\n',
    b'inherits = "own"\n', b'inherits = "znver4"\n', b'isa = "aarch64"\n', b"[parameters]\n", b"issue_width = 0\n",
    b"rob = 0\n", b"rob = 100000000\n", b'names = ["0"]\n', b"[ports]\n", b'aliases = ["own", "skylake"]\n', b"[[",
    b"format = 99\n",
)  # fmt: skip


_FORMS = ('"ADD_R64_RM64/', '"IMUL_R64_RM64/', '"VEX_VMULPD_YMM', '"DIV_RM64/', '"JNE_REL8_64', '"JCC_REL8')


@functools.cache
def _heads() -> list[bytes]:
    """Return models with a few of their forms: all of them take long to read."""
    found = []
    for name in ("skylake", "znver4", "neoverse-n1"):
        text = (ROOT / "models" / "data" / f"{name}.toml").read_text().replace(f'name = "{name}"', 'name = "own"', 1)
        head, _, forms = text.partition("\n[forms]\n")
        few = [line for line in forms.partition("\n[")[0].split("\n") if line.startswith(_FORMS)]
        found.append("\n".join([head, "[forms]", *few, ""]).encode())
    return found


@st.composite
def _changed(draw: st.DrawFn) -> bytes:
    head = draw(st.sampled_from(_heads()))
    lines = draw(st.sampled_from((head, head, b'format = 1\nname = "own"\ninherits = "skylake"\n'))).split(b"\n")
    for _ in range(draw(st.sampled_from((0, 1, 1, 1, 2, 4)))):
        at = draw(st.integers(0, len(lines) - 1))
        name, equals, _ = lines[at].partition(b" = ")
        kind = draw(st.sampled_from(("value", "value", "drop", "line")))
        if kind == "value" and equals:
            lines[at] = name + equals + draw(st.sampled_from(_WORDS)).encode()
        elif kind == "drop":
            del lines[at : at + 1]
            lines = lines or [b""]
        else:
            lines.insert(at, draw(st.sampled_from(_LINES)))
    text = b"\n".join(lines)
    return draw(changed_text(text, _LINES, 2)) if draw(st.integers(0, 4)) == 4 else text


_commands = st.sampled_from(
    (
        ("incc-mca", "--model-path=own.toml", "-mcpu=own", "a.s"),
        ("incc-mca", "--model-path=.", "-mcpu=own", "--auto", "-all-views", "a.s"),
        ("incc-mca", "--compat", "--model-path=own.toml", "-mcpu=own", "-all-views", "a.s"),
        ("incc-scan", "-j1", "--model-path=own.toml", "--mcpu=own", "a.s"),
        ("incc-model", "check", "own.toml"),
        ("incc-model", "show", "own.toml"),
        ("incc-model", "show", "own.toml", "--ports"),
        ("incc-model", "show", "own.toml", "add r64, m"),
        ("incc-model", "show", "own.toml", "--json"),
        ("incc-model", "diff", "own.toml", "skylake"),
        ("incc-model", "list", "--model-path=own.toml"),
        ("incc-model", "coverage", "--mcpu=own.toml", "a.s"),
    )
)


@st.composite
def runs(draw: st.DrawFn) -> Run:
    """Return runs with changed models."""
    command, *args = draw(_commands)
    return Run(command=command, args=tuple(args), files={"own.toml": draw(_changed()), "a.s": _CODE}, **draw(ways()))
