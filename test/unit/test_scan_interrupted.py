"""incc-scan that is interrupted: what was found is printed, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from incc.driver.commands import scan
from incc.driver.commands.scan.analysis import CyclesLine, ScanOutcome


def test_what_was_found_is_printed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Any) -> None:
    def outcomes(*_: object) -> Iterator[Any]:
        yield ScanOutcome(rows=[CyclesLine("the first")])
        raise KeyboardInterrupt

    monkeypatch.setattr(scan, "_outcomes", outcomes)
    source = tmp_path / "a.hex"
    source.write_text("4801d8\n", encoding="utf-8")
    assert scan.main(["--input-format=hex", "-mcpu=skylake", str(source)]) == 1
    printed = capsys.readouterr()
    assert printed.out.endswith("the first\n")
    assert printed.err == "incc-scan: interrupted\n"
