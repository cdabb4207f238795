"""The pictures of the documents: which there are, how large they are, and that they can be made."""

from __future__ import annotations

import re
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "docs" / "pictures.py"
PICTURES = sorted((ROOT / "docs" / "pictures").iterdir())
NEEDED = {"editor": ("clang-19", "nvim", "tmux"), "live": ("chromedriver", "gcc")}
"""Programs that single pictures need."""


def size(picture: Path) -> tuple[int, int]:
    """Return the width and the height of a PNG image in pixels."""
    head = picture.read_bytes()[:24]
    assert head.startswith(b"\x89PNG")
    width, height = struct.unpack(">II", head[16:])
    return width, height


def test_pictures_are_few_and_small() -> None:
    assert 1 <= len(PICTURES) <= 7
    for picture in PICTURES:
        assert picture.stat().st_size <= 150_000, picture.name


def test_documents_show_all_pictures_and_no_others() -> None:
    shown = set()
    for document in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]:
        for target in re.findall(r"!\[[^]]*\]\(([^)]+)\)", document.read_text(encoding="utf-8")):
            shown.add((document.parent / target).resolve())
    assert shown == {picture.resolve() for picture in PICTURES}


@pytest.mark.long
@pytest.mark.parametrize("picture", PICTURES, ids=lambda picture: picture.stem)
def test_each_picture_can_be_made(picture: Path, tmp_path: Path) -> None:
    if not (shutil.which("chromium") or shutil.which("chromium-browser")):
        pytest.skip("no chromium")
    for program in NEEDED.get(picture.stem, ()):
        if not shutil.which(program):
            pytest.skip(f"no {program}")
    subprocess.run([sys.executable, SCRIPT, "-o", tmp_path, picture.stem], check=True)
    assert size(tmp_path / picture.name) == size(picture)


def test_an_unknown_picture_is_an_error(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, SCRIPT, "-o", tmp_path, "none"], capture_output=True, text=True)
    assert done.returncode == 2
    assert "no such picture: none" in done.stderr
