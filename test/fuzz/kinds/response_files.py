"""Response files, `@file`, of incc-mca and of the compiler."""

from __future__ import annotations

from hypothesis import strategies as st

from test.fuzz.corpus import SOURCES
from test.fuzz.kinds.common import ways
from test.fuzz.mutation import changed_text
from test.fuzz.runs import Run

_CODE = b".L0:\n\taddl %eax, %ebx\n\tjne .L0\n"
_PIECES = (
    b"@rsp",
    b"@other",
    b"@missing",
    b"@",
    b"'",
    b'"',
    b"\\",
    b"\\\n",
    b"\0",
    b"\xff",
    b"\xef\xbb\xbf",
    b"-all-views ",
    b" ",
)


@st.composite
def runs(draw: st.DrawFn) -> Run:
    """Return runs of incc-mca, and of incc beside the compiler, with changed response files."""
    other = draw(changed_text(b"-g 'a b.c' -DA=\"x y\"", _PIECES, 3))
    if draw(st.booleans()):
        text = draw(changed_text(b"-mcpu=skylake --auto\n-timeline a.s", _PIECES, 4))
        args = (*draw(st.sampled_from(((), ("--compat",)))), "@rsp")
        return Run(command="incc-mca", args=args, files={"rsp": text, "other": other, "a.s": _CODE}, **draw(ways()))
    text = draw(changed_text(b"-O2 -c a.c -o a.o", _PIECES, 4))
    own = draw(st.sampled_from((("--analyze=r.txt",), ("--analyze=.", "--analyze-json"), ())))
    return Run(
        command="incc", args=(*own, "--", "@rsp"), files={"rsp": text, "other": other, "a.c": SOURCES[0].encode()}
    )
