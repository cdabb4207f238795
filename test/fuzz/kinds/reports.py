"""Reports in JSON with lost keys and values of other types, for every command that reads reports."""

from __future__ import annotations

from hypothesis import strategies as st

from test.fuzz.corpus import reports
from test.fuzz.kinds.common import conditions, values, ways
from test.fuzz.mutation import changed_json
from test.fuzz.runs import Run

_changed = st.sampled_from(range(3)).flatmap(lambda number: changed_json(reports()[number]))
_FORMATS = ("text", "json", "markdown", "html")
_diffs = st.one_of(
    st.sampled_from(_FORMATS).map("--format={}".format),
    st.sampled_from(
        ("--where=cycles_b > 1.1*cycles_a", "--fail-if=cycles > +5%", "--side-by-side=*", "--junit=j.xml",
         "--mcpu=skylake", "--github", "--html=x.html", "--all")
    ),
    conditions.map("--where={}".format),
    conditions.map("--fail-if={}".format),
)  # fmt: skip
_rankings = st.one_of(
    st.sampled_from(_FORMATS).map("--format={}".format),
    st.sampled_from(("--html=x.html", "--all", "--by=hint", "--by=file", "--by=function", "--stale", "--sort=cycles")),
    conditions.map("--where={}".format),
    values.map("--function={}".format),
)


@st.composite
def runs(draw: st.DrawFn) -> Run:
    """Return runs of incc-diff, incc-report and incc-db on changed reports."""
    files = {"a.json": reports()[draw(st.integers(0, 2))], "b.json": draw(_changed)}
    command = draw(st.sampled_from(("incc-diff", "incc-report", "incc-db")))
    if command == "incc-diff":
        inputs = draw(st.sampled_from((("a.json", "b.json"), ("b.json", "a.json"), ("b.json", "b.json"))))
        return Run(
            command=command, args=(*inputs, *draw(st.lists(_diffs, max_size=2))), files=files, **draw(ways(jobs=True))
        )
    if command == "incc-report":
        inputs = draw(st.sampled_from((("b.json",), (".",), ("a.json", "b.json"))))
        return Run(command=command, args=(*inputs, *draw(st.lists(_rankings, max_size=2))), files=files, **draw(ways()))
    args = ("--db", "x.db", "add", "--commit", "c2", "--date", "2026-01-01", draw(st.sampled_from(("b.json", "."))))
    return Run(command=command, args=args, files=files)  # the same again writes another time into the database
