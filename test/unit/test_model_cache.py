"""Tables of models: those that come with incc, and those that a user keeps, which nobody else can have made."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
import pytest

from incc.models import cache, loading
from incc.support.trust import KEY_FILE, seal_of


class Content(msgspec.Struct, frozen=True):
    text: str
    numbers: tuple[int, ...] = ()


CONTENT = Content("text", (1, 2))


@pytest.fixture(autouse=True)
def tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    return tmp_path / "home" / "incc" / "tables"


def test_what_was_kept_is_found_under_its_name(tables: Path) -> None:
    assert cache.kept("/folder/name", 3, Content) is None
    cache.keep("/folder/name", 3, CONTENT)
    assert cache.kept("/folder/name", 3, Content) == CONTENT
    assert cache.kept("/folder/name", 4, Content) is None
    assert cache.kept("/other/name", 3, Content) is None
    (file,) = tables.iterdir()
    assert file.name.startswith("name-")
    assert tables.stat().st_mode & 0o777 == 0o700


def test_every_byte_counts(tables: Path) -> None:
    cache.keep("name", 3, CONTENT)
    (file,) = tables.iterdir()
    data = file.read_bytes()
    for at in range(len(data)):
        file.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
        assert cache.kept("name", 3, Content) is None
        file.write_bytes(data[:at])
        assert cache.kept("name", 3, Content) is None


def test_tables_of_another_name_or_key_count_as_missing(tables: Path) -> None:
    cache.keep("name", 3, CONTENT)
    (file,) = tables.iterdir()
    data = cache.packed(Content("altered"), 3)
    file.write_bytes(seal_of(b"name\0" + data, b"").encode() + data)
    assert cache.kept("name", 3, Content) is None
    cache.keep("other", 3, CONTENT)
    (other,) = set(tables.iterdir()) - {file}
    file.write_bytes(other.read_bytes())
    assert cache.kept("name", 3, Content) is None
    assert cache.kept("other", 3, Content) == CONTENT


def test_an_altered_model_with_a_new_checksum_is_not_used(tmp_path: Path, tables: Path) -> None:
    """Whoever does not have the user's key cannot change what an analysis says."""
    path = tmp_path / "mine.toml"
    path.write_text(
        Path(loading.find_model("skylake", loading.search_places(())))
        .read_text()
        .replace("issue_width = 4", "issue_width = 3")
    )
    assert loading.load(str(path)).parameters["issue_width"] == 3
    (file,) = tables.glob("mine.toml-*.incc")
    content = file.read_bytes()[64:]
    altered = content.replace(b"issue_width\x03", b"issue_width\x09")
    assert altered != content
    file.write_bytes(seal_of(os.fsencode(path) + b"\0" + altered, b"k" * 32).encode() + altered)
    loading.purge()
    assert loading.load(str(path)).parameters["issue_width"] == 3


@pytest.mark.parametrize("wrong", ["link", "group", "everybody", "file", "no home", "relative", "no key"])
def test_folders_that_others_may_write_keep_nothing(
    wrong: str, tmp_path: Path, tables: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache.keep("name", 3, CONTENT)
    assert cache.kept("name", 3, Content) == CONTENT
    if wrong == "link":
        tables.rename(tmp_path / "elsewhere")
        tables.symlink_to(tmp_path / "elsewhere")
    elif wrong == "file":
        tables.rename(tmp_path / "elsewhere")
        tables.touch()
    elif wrong == "no home":
        monkeypatch.delenv("XDG_CACHE_HOME")
        monkeypatch.delenv("HOME")
    elif wrong == "relative":
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("XDG_CACHE_HOME", "home")
        monkeypatch.setenv("HOME", str(tmp_path / "user"))
    elif wrong == "no key":
        monkeypatch.setenv(KEY_FILE, "/dev/null/key")
    else:
        tables.chmod(0o770 if wrong == "group" else 0o707)
    assert cache.kept("name", 3, Content) is None
    cache.keep("name", 3, CONTENT)
    assert (cache.kept("name", 3, Content) == CONTENT) == (wrong == "relative")
    if wrong == "relative":
        assert (tmp_path / "user" / ".cache" / "incc" / "tables").is_dir(), "as the specification says"


def test_tables_that_come_with_incc(tmp_path: Path) -> None:
    file = tmp_path / "shipped"
    assert cache.shipped(str(file), 3, Content) is None
    data = cache.packed(CONTENT, 3)
    file.write_bytes(data)
    assert cache.shipped(str(file), 3, Content) == CONTENT
    assert cache.shipped(str(file), 4, Content) is None
    for damaged in (b"", data[:-1], data[:5], data.replace(b"text", b"\xff\xfe__")):
        file.write_bytes(damaged)
        assert cache.shipped(str(file), 3, Content) is None
    file.unlink()
    os.mkfifo(file)
    assert cache.shipped(str(file), 3, Content) is None
