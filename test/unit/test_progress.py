"""The bar that counts what is done."""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Iterator
from contextlib import redirect_stderr

import pytest

from incc.support import progress
from incc.support.progress import counted, progress_shown


class Terminal(io.StringIO):
    """Standard error that is a terminal."""

    def isatty(self) -> bool:
        return True

    def lines(self) -> list[str]:
        """Return what was written, one text for each change, without colours and moves of the cursor."""
        return [re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\n", "", text) for text in self.getvalue().split("\r")]


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    monkeypatch.setattr(progress, "OFTEN", 0.0)
    for name, value in {"TERM": "xterm", "COLUMNS": "80"}.items():
        monkeypatch.setenv(name, value)
    return Terminal()


ERASED = "\r\x1b[1A\x1b[2K"


@pytest.mark.parametrize("total", [2, None])
def test_a_bar_that_is_gone_afterwards(terminal: Terminal, total: int | None) -> None:
    with redirect_stderr(terminal), progress_shown():
        assert list(counted("ab", "analysing", total)) == ["a", "b"]
    shown = [(line[:9], counts[0]) for line in terminal.lines() if (counts := re.findall(r"\d/[\d?]", line))]
    of = total or "?"
    assert list(dict.fromkeys(shown)) == [("analysing", f"{n}/{of}") for n in range(3)]
    assert all(len(line) <= 80 for line in terminal.lines())
    assert terminal.getvalue().endswith(ERASED)


def test_it_is_gone_after_an_error(terminal: Terminal) -> None:
    def fails() -> Iterator[int]:
        yield 1
        raise ValueError("no more")

    with redirect_stderr(terminal), progress_shown(), pytest.raises(ValueError, match="no more"):
        list(counted(fails(), "analysing", 2))
    assert terminal.getvalue().endswith(ERASED)


def test_messages_are_lines_of_their_own(terminal: Terminal, capsys: pytest.CaptureFixture[str]) -> None:
    with redirect_stderr(terminal), progress_shown():
        for item in counted("ab", "analysing", 2):
            print(f"result {item}")
            print(f"note {item}", file=sys.stderr)
    assert capsys.readouterr().out == "result a\nresult b\n"
    assert re.search(r"\x1b\[2K(\x1b\[0m)?note a *\n", terminal.getvalue())


def test_nothing_for_a_single_item_in_python_or_without_a_terminal(terminal: Terminal) -> None:
    with redirect_stderr(terminal):
        with progress_shown():
            assert list(counted("a", "analysing", 1)) == ["a"]
        assert list(counted("ab", "analysing", 2)) == ["a", "b"]
    assert terminal.getvalue() == ""
    pipe = io.StringIO()
    with redirect_stderr(pipe), progress_shown():
        assert list(counted("ab", "analysing", 2)) == ["a", "b"]
    assert pipe.getvalue() == ""
