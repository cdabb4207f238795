"""Replay the finds of the fuzzer: each file in finds/ is a run that once had the fault that it states."""

from __future__ import annotations

from pathlib import Path

import pytest

from test.fuzz.execute import load_commands
from test.fuzz.judge import fault_of
from test.fuzz.runs import FINDS, load


@pytest.mark.parametrize("path", sorted(FINDS.glob("*.json")), ids=lambda path: path.stem)
def test_a_find_is_no_fault_any_more(path: Path, tmp_path: Path) -> None:
    load_commands()
    assert fault_of(load(path), tmp_path) == ""
