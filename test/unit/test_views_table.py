"""Tables whose columns give way."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incc.views.layout import RED, Layout
from incc.views.table import STYLES, Cell, Column, Table, TableRow, markdown_lines, row, text_lines


def lines(columns: list[Column], rows: list[list[str]], width: int) -> list[str]:
    return list(text_lines(Table(columns, [row(*texts) for texts in rows]), Layout(width, False)))


PLACE = Column(title="Line", comfortable=10, least=8, keep_end=True)


@pytest.mark.parametrize(
    ("width", "shown"), [(30, "src/linear/gemm.c:12"), (14, "…/gemm.c:12"), (10, "gemm.c:12"), (8, "…mm.c:12")]
)
def test_of_a_path_the_end_stays(width: int, shown: str) -> None:
    assert lines([PLACE], [["src/linear/gemm.c:12"]], width)[1] == shown


def test_columns_go_where_there_is_no_room() -> None:
    columns = [
        Column(title="A"),
        Column(title="B", optional=True, priority=1),
        Column(title="C", least=4, comfortable=4, optional=True, priority=2),
        Column(title="D"),
    ]
    rows = [["aaaa", "bbbb", "cccccccc", ""]]
    # What says nothing is left out; what may shrink does; then optional columns go, those of low priority first.
    assert lines(columns, rows, 0) == ["A     B     C", "aaaa  bbbb  cccccccc"]
    assert lines(columns, rows, 15)[1] == "aaaa bbbb cccc…"
    assert lines(columns, rows, 13)[1] == "aaaa cccccccc"
    assert lines(columns, rows, 8)[1] == "aaaa"


def test_cells_have_styles_of_their_own() -> None:
    columns = [Column(title="A"), Column(title="B", right=True)]
    table = Table(columns, [TableRow([Cell(text="a"), Cell(text="b", kind="slower heat2")])])
    assert STYLES["slower"] == RED
    assert list(text_lines(table, Layout(0, True)))[1] == "a  \033[31mb\033[0m"


def test_markdown_escapes_all_cells() -> None:
    columns = [
        Column(title="a|b"),
        Column(title="C", code=True),
        Column(title="D", right=True),
        Column(title="E", draw="signed_bar"),
    ]
    cells = [Cell(text="x|*y*"), Cell(text="f<int>"), Cell(text="-5 %", kind="slower"), Cell(key=0.5)]
    best = [Cell(), Cell(text="`"), Cell(text="1.00", kind="best heat0", note="+1 %"), Cell()]
    assert list(markdown_lines(Table(columns, [TableRow(cells), TableRow(best)]), {"slower": "!"})) == [
        "| a&#124;b | C | D |",
        "| -- | -- | --: |",
        "| x&#124;\\*y\\* | `f<int>` | ! -5 % |",
        "|  | <code>&#96;</code> | **1.00** +1 % |",
    ]


@given(st.lists(st.lists(st.text("ab/:. µ", max_size=30), min_size=3, max_size=3), min_size=1, max_size=5))
def test_cells_stay_below_their_headings(rows: list[list[str]]) -> None:
    columns = [
        Column(title="One", comfortable=10, least=5),
        Column(title="Two", right=True),
        Column(title="Three", least=6, comfortable=8, keep_end=True),
    ]
    head, *body = lines(columns, rows, 50)
    assert max(map(len, [head, *body])) <= 50
    assert len(body) == len(rows)
