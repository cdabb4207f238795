"""The quality of a kernel's code in reports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import asdict

from incc.core.quality import code_figures
from incc.report import types as t
from incc.report.projections import projections

if TYPE_CHECKING:
    from incc.core.analysis import KernelResult
    from incc.core.elements import Elements


def quality_report(result: KernelResult, elements: Elements | None) -> t.QualityReport:
    """Return the quality of a kernel's code; `elements` are those of an iteration, if they are known."""
    return t.QualityReport(**asdict(code_figures(result)), projections=projections(result, elements))
