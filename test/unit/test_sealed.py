"""Files of what is kept for later runs: whole, or missing."""

from __future__ import annotations

from pathlib import Path

import pytest

from incc.frontends import sealed

CONTENT = (3, "text", {"a": [1, 2]})


def test_what_was_written_is_read(tmp_path: Path) -> None:
    file = str(tmp_path / "folder" / "kept")
    parts = [b"one", b"", b"x" * 100_000]
    sealed.write([file], CONTENT, parts)
    found = sealed.read([str(tmp_path / "other"), file], 3)
    assert found is not None
    assert found[0] == CONTENT
    assert [bytes(found[1].get(number)) for number in range(len(found[1]))] == parts
    assert sealed.read([file], 4) is None
    assert [path.name for path in (tmp_path / "folder").iterdir()] == ["kept"]
    sealed.write([file], (3, "y" * 200_000))  # more than is read at once
    assert sealed.read([file], 3)[0] == (3, "y" * 200_000)  # type: ignore[index]
    # What was read from the file that was there before is still so.
    assert bytes(found[1].get(0)) == b"one"


def test_every_byte_counts(tmp_path: Path) -> None:
    file = tmp_path / "kept"
    sealed.write([str(file)], CONTENT, [b"more"])
    data = file.read_bytes()
    for at in range(len(data)):
        file.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
        found = sealed.read([str(file)], 3)
        assert (found is None) == (at < len(data) - 8)
        if found is not None:
            with pytest.raises(sealed.Damaged):
                found[1].get(0)
        file.write_bytes(data[:at])
        assert sealed.read([str(file)], 3) is None


def test_the_next_place_is_taken(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    files = [str(tmp_path / "file" / "kept"), str(tmp_path / "kept")]
    sealed.write(files, CONTENT)
    assert sealed.read(files, 3) is not None
    sealed.write(files[:1], CONTENT)  # nowhere


def test_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    own, user = sealed.places("/folder", "name")
    assert own.startswith("/folder/__pycache__/name.")
    assert Path(user).parent == tmp_path / "incc"
    assert sealed.places("/folder", "name", own=False) == [user]
