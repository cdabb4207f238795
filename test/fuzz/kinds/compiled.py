"""Assembly of gcc and clang, for x86 and Arm, with changes: of what builds feed incc, the most frequent."""

from __future__ import annotations

from hypothesis import strategies as st

from test.fuzz.corpus import assembly
from test.fuzz.kinds.common import arm_cores, some_cores, views, ways
from test.fuzz.kinds.tokens import PIECES
from test.fuzz.mutation import changed_text
from test.fuzz.runs import Run


@st.composite
def runs(draw: st.DrawFn) -> Run:
    """Return runs of incc-mca and incc-scan on changed assembly of compilers."""
    name = draw(st.sampled_from(sorted(assembly())))
    text = draw(changed_text(assembly()[name], PIECES))
    core = draw(arm_cores if name.startswith("arm") and draw(st.integers(0, 9)) else some_cores)
    if draw(st.booleans()):
        args = (f"--mcpu={core}", "-j1", f"--format={draw(st.sampled_from(('text', 'json')))}", "a.s")
        return Run(command="incc-scan", args=args, files={"a.s": text}, **draw(ways(jobs=True)))
    return Run(
        command="incc-mca", args=(f"-mcpu={core}", "--auto", *draw(views), "a.s"), files={"a.s": text}, **draw(ways())
    )
