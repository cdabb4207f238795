"""The program that measures how far scans scale: its made-up kernels pass through a scan like others."""

import json
from pathlib import Path

import pytest

from incc.fleet.flow import Piece

pytest.importorskip("pyarrow")
scan_scale = pytest.importorskip("scan_scale")


def test_made_up_kernels_fill_a_dataset(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scan_scale, "OF_PIECE", 7)
    pieces = (Piece([str(n)], [str(n).encode()], [None]) for n in range(3))
    engine = scan_scale.Here(scan_scale.MadeUp())
    assert scan_scale.written(engine, pieces, str(tmp_path / "out")) == 21
    about = json.loads((tmp_path / "out" / "_about.json").read_text())
    assert (about["complete"], about["kernels"], about["failures"]) == (True, 21, 0)
    assert len(engine.sizes) == 6
