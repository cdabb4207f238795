"""Files with many loops: simulated, but without the what-ifs, and the report says so."""

from __future__ import annotations

import pytest

from incc.driver import pipeline
from incc.frontends.unit import Unit
from incc.report import types as t
from settings_fixtures import settings_with


def text(count: int) -> str:
    return "".join(f".L{n}:\n\tmulsd %xmm1, %xmm0\n\tdecq %rcx\n\tjne .L{n}\n" for n in range(count)) + "\tret\n"


def test_what_ifs_are_for_files_that_people_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipeline, "MOST_WITH_WHAT_IFS", 7)
    settings = settings_with(mcpu="skylake", timeline_iterations=0)
    for count, tried in ((pipeline.MOST_WITH_WHAT_IFS, True), (pipeline.MOST_WITH_WHAT_IFS + 1, False)):
        report = pipeline.analyze_units([Unit(assembly=text(count), assembly_file="a.s")], settings)
        kernels = report.units[0].kernels
        assert len(kernels) == count
        for kernel in kernels:
            assert bool(kernel.what_ifs) == tried
            assert any("no what-ifs" in note for note in kernel.notes) != tried
            assert kernel.bounds.prediction == t.Prediction(
                cycles=4.0, exact="4", by="simulation", limited_by=["loop_carried"]
            )
        assert ("next limit" in kernels[0].verdict) != tried
