"""Lines of a text before and after edits: a result is shown at an equal line, or not at all."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incc.live.lsp import lines
from incc.live.lsp.documents import Document, DocumentAnalysis, shown_loops
from incc.live.lsp.lines import LineMap, lines_of

# Few different lines, so that many are alike, as closing braces and empty lines are.
TEXT = st.lists(st.sampled_from(["}\n", "\n", "for (;;)\n", "x += a[i];\n", "return x;\n"]), max_size=30)


def mapped(before: Sequence[str], now: Sequence[str]) -> dict[int, int]:
    """Return where lines are now, by their numbers from 0."""
    lines = LineMap(before, now)
    places = {number: lines.now(number + 1) for number in range(len(before))}
    return {number: place for number, place in places.items() if place is not None}


@given(TEXT, TEXT)
def test_lines_are_mapped_to_equal_lines_in_their_order(before: list[str], now: list[str]) -> None:
    places = mapped(before, now)
    assert all(before[number] == now[place] for number, place in places.items())
    assert [*places.values()] == sorted(set(places.values()))


@given(TEXT, TEXT, TEXT, TEXT)
def test_unchanged_starts_and_ends_stay(start: list[str], old: list[str], new: list[str], end: list[str]) -> None:
    before, now = [*start, *old, *end], [*start, *new, *end]
    places = mapped(before, now)
    assert [places.get(number) for number in range(len(start))] == [*range(len(start))]
    # Of lines that are added or removed among equal ones, the last ones count as new or gone.
    if [*start, *old] != [*start, *new][: len(start) + len(old)] and [*start, *new] != [*start, *old][
        : len(start) + len(new)
    ]:
        kept = range(len(start) + len(old), len(before))
        assert [places.get(number) for number in kept] == [number + len(now) - len(before) for number in kept]


@given(TEXT)
def test_all_lines_of_an_equal_text_stay(text: list[str]) -> None:
    assert mapped(text, [*text]) == {number: number for number in range(len(text))}


@given(TEXT, st.integers(max_value=0), st.integers(min_value=1))
def test_there_are_no_other_lines(text: list[str], low: int, beyond: int) -> None:
    lines = LineMap(text, text)
    assert lines.now(low) is None
    assert lines.now(len(text) + beyond) is None


def test_too_many_changed_lines_are_not_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "MOST_COMPARED", 3)
    assert mapped(["a", "1", "2", "3", "4", "z"], ["a", "5", "1", "2", "4", "6", "z"]) == {0: 0, 5: 6}
    assert mapped(["a", "1", "2", "3", "z"], ["a", "5", "1", "2", "z"]) == {0: 0, 1: 2, 2: 3, 4: 4}


@given(st.text(st.sampled_from("ab\n\r\f\v\x1c\x85\u2028"), max_size=30))
def test_lines_end_where_those_of_the_protocol_do(text: str) -> None:
    found = lines_of(text)
    assert "".join(found) == text
    assert len(found) == len(text.replace("\r\n", "\n").replace("\r", "\n").removesuffix("\n").split("\n")) or not text
    assert all(not set(line[:-2]) & {"\n", "\r"} for line in found)


# --- loops of analyses, in the documents that are open ----------------------------------------------------------------


def loop_at(file: str, line: int) -> Any:
    """Return as much of a report on one loop as its place needs."""
    kernel = SimpleNamespace(
        source=SimpleNamespace(file=file, line=line, column=1), column=1, remarks=[], instructions=[], inlined_into=[]
    )
    return SimpleNamespace(units=[SimpleNamespace(folder="/p", source="a.c", kernels=[kernel], assembly_file="")])


@given(st.lists(st.sampled_from(["edit", "save", "analyse"]), max_size=12), st.data())
def test_loops_of_headers_are_at_their_lines(steps: list[str], data: st.DataObject) -> None:
    """A header has results of a source's analyses, which saw it as it was on disk."""
    texts = st.lists(st.sampled_from(["loop\n", "a\n", "b\n"]), min_size=1, max_size=5)
    header = Document("h", "/p/a.h", 1, ["a\n", "loop\n"])
    source = Document("c", "/p/a.c", 1, ["source\n"])
    on_disk = header.lines
    for step in ("analyse", *steps):
        if step == "edit":
            header.edit(header.version + 1, data.draw(texts))
        elif step == "save":
            on_disk = header.lines
        else:
            line = data.draw(st.integers(1, len(on_disk)))
            answer: Any = SimpleNamespace(problem="", report=loop_at("a.h", line))
            source.take("", answer, {source.real: source.lines, header.real: on_disk})
        analysed: DocumentAnalysis = source.analyses[""]
        (kernel,) = analysed.report.units[0].kernels  # type: ignore[union-attr]
        expected = analysed.texts[header.real][kernel.source.line - 1]  # type: ignore[union-attr]
        for loop in shown_loops(header, [source, header]):
            assert header.lines[loop.line] == expected
            assert bool(loop.old) == (analysed.texts[header.real] != header.lines)
