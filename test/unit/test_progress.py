"""The line that counts what is done."""

from __future__ import annotations

import io
from collections.abc import Iterator
from types import SimpleNamespace

import pytest

from incc.support import progress
from incc.support.progress import counted, progress_shown


class Terminal(io.StringIO):
    """Standard error that is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    stream = Terminal()
    monkeypatch.setattr(progress, "sys", SimpleNamespace(stderr=stream))
    monkeypatch.setattr(progress, "OFTEN", 0.0)
    return stream


def test_a_line_that_is_gone_afterwards(terminal: Terminal) -> None:
    with progress_shown():
        assert list(counted("ab", "analysing", 2)) == ["a", "b"]
        assert terminal.getvalue().replace("\x1b[K", "").split("\r")[1:] == [
            "analysing: 0 of 2",
            "analysing: 1 of 2",
            "analysing: 2 of 2",
            "",
        ]
        terminal.truncate(0)
        assert list(counted("ab", "analysing")) == ["a", "b"]
        assert "analysing: 2\x1b" in terminal.getvalue()


def test_it_is_gone_after_an_error(terminal: Terminal) -> None:
    def fails() -> Iterator[int]:
        yield 1
        raise ValueError("no more")

    with progress_shown(), pytest.raises(ValueError, match="no more"):
        list(counted(fails(), "analysing", 2))
    assert terminal.getvalue().endswith("\r\x1b[K")


def test_nothing_for_a_single_item_in_python_or_without_a_terminal(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    with progress_shown():
        assert list(counted("a", "analysing", 1)) == ["a"]
    assert list(counted("ab", "analysing", 2)) == ["a", "b"]
    assert terminal.getvalue() == ""
    pipe = io.StringIO()
    monkeypatch.setattr(progress, "sys", SimpleNamespace(stderr=pipe))
    with progress_shown():
        assert list(counted("ab", "analysing", 2)) == ["a", "b"]
    assert pipe.getvalue() == ""
