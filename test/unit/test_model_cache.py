"""Files of compiled tables are whole, or count as missing."""

from __future__ import annotations

from pathlib import Path

import pytest

from incc.models import cache

CONTENT = ("text", {"a": [1, 2]})


def test_what_was_written_is_read(tmp_path: Path) -> None:
    file = str(tmp_path / "folder" / "kept")
    cache.write([file], 3, CONTENT)
    assert cache.read([str(tmp_path / "other"), file], 3) == CONTENT
    assert cache.read([file], 4) is None
    assert [path.name for path in (tmp_path / "folder").iterdir()] == ["kept"]


def test_every_byte_counts(tmp_path: Path) -> None:
    file = tmp_path / "kept"
    cache.write([str(file)], 3, CONTENT)
    data = file.read_bytes()
    for at in range(len(data)):
        file.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
        assert cache.read([str(file)], 3) is None
        file.write_bytes(data[:at])
        assert cache.read([str(file)], 3) is None


def test_the_next_place_is_taken(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    files = [str(tmp_path / "file" / "kept"), str(tmp_path / "kept")]
    cache.write(files, 3, CONTENT)
    assert cache.read(files, 3) == CONTENT
    cache.write(files[:1], 3, CONTENT)  # nowhere


def test_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    own, user = cache.places("/folder", "name")
    assert own.startswith("/folder/__pycache__/name.")
    assert Path(user).parent == tmp_path / "incc"
    assert cache.places("/folder", "name", own=False) == [user]
