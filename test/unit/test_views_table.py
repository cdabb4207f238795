"""Tables whose columns give way."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incc.driver.views.layout import RED, Column, Layout
from incc.driver.views.table import table


def lines(columns: list[Column], rows: list[list[str]], width: int, without: tuple[str, ...] = ()) -> list[str]:
    return list(table(columns, rows, Layout(width, False), without))


PLACE = Column("Line", glad=10, least=8, end=True)


@pytest.mark.parametrize(
    ("width", "shown"), [(30, "src/linear/gemm.c:12"), (14, "…/gemm.c:12"), (10, "gemm.c:12"), (8, "…mm.c:12")]
)
def test_of_a_path_the_end_stays(width: int, shown: str) -> None:
    assert lines([PLACE], [["src/linear/gemm.c:12"]], width)[1] == shown


def test_columns_go_where_there_is_no_room() -> None:
    columns = [Column("A"), Column("B"), Column("C", least=4, glad=4), Column("D")]
    rows = [["aaaa", "bbbb", "cccccccc", ""]]
    # What says nothing is left out; what may give way does; then whole columns go, in the order that is wanted.
    assert lines(columns, rows, 0) == ["A     B     C", "aaaa  bbbb  cccccccc"]
    assert lines(columns, rows, 15, ("B", "C"))[1] == "aaaa bbbb cccc…"
    assert lines(columns, rows, 13, ("B", "C"))[1] == "aaaa cccccccc"
    assert lines(columns, rows, 8, ("B", "C"))[1] == "aaaa"


def test_cells_have_styles_of_their_own() -> None:
    columns = [Column("A"), Column("B", right=True)]
    found = list(table(columns, [["a", "b"]], Layout(0, True), style=lambda row, title: RED if title == "B" else ""))
    assert found[1] == "a  \033[31mb\033[0m"


@given(st.lists(st.lists(st.text("ab/:. µ", max_size=30), min_size=3, max_size=3), min_size=1, max_size=5))
def test_cells_stay_below_their_headings(rows: list[list[str]]) -> None:
    columns = [Column("One", glad=10, least=5), Column("Two", right=True), Column("Three", least=6, glad=8, end=True)]
    head, *found = lines(columns, rows, 50)
    assert max(map(len, [head, *found])) <= 50
    assert len(found) == len(rows)
