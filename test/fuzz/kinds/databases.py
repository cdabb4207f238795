"""Damaged databases of reports."""

from __future__ import annotations

from hypothesis import strategies as st

from test.fuzz.corpus import database, reports
from test.fuzz.kinds.common import conditions, values, ways
from test.fuzz.mutation import changed_binary
from test.fuzz.runs import Run

_HEADER = tuple((at, width) for at, width in ((16, 2), (18, 1), (20, 1), (28, 4), (32, 4), (40, 4), (52, 4), (100, 8)))

_words = st.one_of(
    st.sampled_from(
        (("list",), ("show",), ("show", "c1"), ("log", "*"), ("best",), ("export", "csv"), ("export", "json"),
         ("add", "--commit", "c2", "--date", "2026-01-02", "r.json"), ("merge", "r.json"), ("merge", "y.db"),
         ("baseline", "set", "m"), ("baseline", "get"), ("baseline", "list"), ("prune", "--keep", "0"),
         ("list", "--format", "json"), ("log", "*", "--format", "json"), ("best", "--format", "json"))
    ),
    values.map(lambda value: ("add", "--commit", value, "--date", "2026-01-02", "r.json")),
    values.map(lambda value: ("add", "--commit", "c3", "--date", value, "r.json")),
    values.map(lambda value: ("log", value)),
    values.map(lambda value: ("baseline", "set", value)),
    conditions.map(lambda value: ("export", "csv", "--where", value)),
    values.map(lambda value: ("prune", "--before", value)),
)  # fmt: skip


@st.composite
def runs(draw: st.DrawFn) -> Run:
    """Return runs of incc-db on changed databases."""
    changed = draw(changed_binary(database(), _HEADER, most=50))
    files = {"x.db": changed, "y.db": database(), "r.json": reports()[0]}
    words = draw(_words)
    if words[0] in ("add", "merge", "prune") or words[:2] == ("baseline", "set"):
        return Run(command="incc-db", args=("--db", "x.db", *words), files=files)
    return Run(command="incc-db", args=("--db", "x.db", *words), files=files, **draw(ways()))
