"""Predictions for data beyond L1 against published loops: within 10 % of the figures of papers and their artefacts."""

from __future__ import annotations

import pytest
from published_levels import PUBLISHED, Published

import incc


@pytest.mark.parametrize("loop", PUBLISHED, ids=str)
def test_published_loops_are_within_ten_percent(loop: Published) -> None:
    (kernel,) = incc.analyze(loop.text, mcpu=loop.cpu, data="all", let=dict(loop.let))
    data = kernel.to_dict()["data"]
    assert not data["unknown"]
    lines = 64 / data["streams"][0]["step"]
    predicted = {name: float(kernel.levels[name] * lines) for name in loop.cycles}
    assert predicted == pytest.approx(loop.cycles, rel=0.1), loop.source
