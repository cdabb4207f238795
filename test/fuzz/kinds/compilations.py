"""Compilations by incc, which have to end as the compiler's do whatever becomes of the analysis."""

from __future__ import annotations

from hypothesis import strategies as st

from test.fuzz.corpus import SOURCES
from test.fuzz.kinds.assembly import statements
from test.fuzz.mutation import changed_text
from test.fuzz.runs import Run

_FLAGS = ("-O2", "-O3 -march=skylake", "-O1 -g", "-Os -g3", "-O2 -flto", "-O0", "-O3 -fno-verbose-asm")
_WORDS = (
    "-c a.c -o a.o", "-c a.c", "-S a.c", "-E a.c -o a.i", "-c a.c -MD -MF a.d", "-c a.c -o missing/a.o",
    "-c -x c a.c -",
    "a.c -o a.out", "-c a.c a.c", "-c missing.c", "-fsyntax-only a.c", "-c -x assembler a.c", "-c a.c -save-temps",
    "-c -x c - -o a.o", "-c a.c -o .", "-c a.c -pipe -o a.o", "-c -masm=intel a.c", "-c a.c -Wa,--noexecstack",
    "-v -c a.c", "-c a.c -D", "-nosuch -c a.c", "-c -- a.c", "-c a.c -include incc.toml",
)  # fmt: skip
_OWN = (
    "--analyze=r.json --analyze-format=json", "--analyze=r.txt", "--analyze=.", "--analyze=/dev/full",
    "--analyze=missing/x", "--analyze", "--analyze=r.txt --analyze-mcpu=nosuch", "--analyze=r.txt --analyze-remarks",
    "--analyze=r.txt --analyze-html=/dev/full", "--analyze-mode=lean --analyze=.", "--analyze-mode=full", "",
    "--analyze=r.txt --analyze-mcpu=skylake,znver4 --analyze-top=1", "--analyze=r.txt --analyze-where=cycles<1",
    "-Wincc",
)  # fmt: skip
_TOML = (b"[analyze]\ncores = ['skylake', 'nosuch']\n", b"[thresholds]\nfail-if = ['cycles > 0']\n", b"[[", b"")


@st.composite
def runs(draw: st.DrawFn) -> Run:
    """Return compilations, with incc's own options before `--`."""
    source = draw(changed_text(draw(st.sampled_from(SOURCES)).encode(), (b"// incc: analyze", b"#error x\n"), 1))
    if not draw(st.integers(0, 4)):
        text = draw(statements()).replace('"', "").replace("\\", "")
        source = f'__asm__("{text}");\n'.encode("utf-8", "replace") + source
    own = draw(st.sampled_from(_OWN)).split()
    words = f"{draw(st.sampled_from(_FLAGS))} {draw(st.sampled_from(_WORDS))}".split()
    files = {"a.c": source, "incc.toml": draw(st.sampled_from(_TOML))}
    return Run(command="incc", args=(*own, "--", *words), files=files, stdin=source if "-" in words else b"")
