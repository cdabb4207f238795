"""Regular expressions that are kept compiled: they are those that `re` makes, and whatever is wrong with a file is no
matter."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pytest

from incc.frontends import regex, sealed

TEXTS = [
    (r"a+(?P<name>b|c)?(\d{2,3})", 0),
    (r"(?i)[re]?(?:[abcd]x)\b(?<!x)x*?", 0),
    (r" # a comment\n (?:\w+) $", re.X | re.M | re.S),
    ("[äöü€-₿\U0001f600]+", re.I),
    (r'(?s)"(?:[^"\\\n]|\\.)*"?', 0),
]


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file, with nothing known."""
    file = tmp_path / "kept"
    monkeypatch.setattr(regex, "_files", lambda: [str(file)])
    forget(monkeypatch)
    return file


def forget(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a new process knows."""
    for name, value in (("_compiled", {}), ("_kept", None), ("_new", False)):
        monkeypatch.setattr(regex, name, value)


def compiled(text: Any, flags: int) -> Any:
    return regex._get(text, flags)  # type: ignore[attr-defined]


def test_they_are_those_of_re(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(2):  # compiled, and as they were kept
        for text, flags in TEXTS:
            found, expected = compiled(text, flags), re.compile(text, flags)
            # Of two patterns, this compares their programs.
            assert found == expected
            assert (found.groups, found.groupindex, found.flags) == (
                expected.groups, expected.groupindex, expected.flags
            )  # fmt: skip
        regex.keep()
        forget(monkeypatch)
    assert compiled(*TEXTS[0]).fullmatch("aab123")["name"] == "b"


def test_what_was_kept_is_not_compiled(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled(*TEXTS[0])
    regex.keep()
    forget(monkeypatch)
    monkeypatch.setitem(sys.modules, "re", None)
    assert regex.compile(*TEXTS[0]).search("xab12")[2] == "12"
    assert regex.sub("a+(?P<name>b|c)?(\\d{2,3})", "-", "aab123") == "-"
    before = kept.stat().st_mtime_ns
    regex.keep()
    assert kept.stat().st_mtime_ns == before


@pytest.mark.parametrize("fault", ["cut", "flipped", "empty", "folder", "other"])
def test_files_that_are_not_as_they_should_be(kept: Path, monkeypatch: pytest.MonkeyPatch, fault: str) -> None:
    compiled(*TEXTS[0])
    regex.keep()
    forget(monkeypatch)
    data = kept.read_bytes()
    if fault == "folder":
        kept.unlink()
        kept.mkdir()
    elif fault == "other":
        # What the engine would not take, and what is no expression at all.
        version = regex._VERSION  # type: ignore[attr-defined]
        wrong = {TEXTS[0]: (0, [2**31], 1, {}, ()), TEXTS[1]: ("x",)}
        sealed.write([str(kept)], (version, wrong))
    else:
        kept.write_bytes({"cut": data[:-9], "flipped": data[:-2] + b"\0\0", "empty": b""}[fault])
    for text, flags in TEXTS:
        assert compiled(text, flags) == re.compile(text, flags)
    regex.keep()


def test_they_do_not_become_ever_more(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(regex, "MOST", 10)
    for number in range(30):
        assert regex.fullmatch(f"a{number}", f"a{number}")
    regex.keep()
    found = sealed.read([str(kept)], regex._VERSION)  # type: ignore[attr-defined]
    assert found is not None
    assert len(found[0][1]) == 10


def test_the_rest_is_that_of_re(kept: Path) -> None:
    assert regex.escape("a.b") == r"a\.b"
    assert regex.findall("A", "aA", regex.I) == ["a", "A"]
    assert regex.split(",", "a,b,c", 1) == ["a", "b,c"]
    assert [m.start() for m in regex.finditer("a", "aba")] == [0, 2]
    assert regex.sub(rb"\d", rb"-", b"a1") == b"a-"
    assert regex.sub(r"(a)", r"\1\1", "ab") == "aab"
    pattern = regex.compile("a(b)", regex.I)
    assert regex.match(pattern, "AB")
    assert pattern.sub("-", "xab") == "x-"
    assert pattern.pattern == "a(b)"
    with pytest.raises(re.error):
        regex.search("(", "a")
