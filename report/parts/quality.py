"""The quality of a kernel's code in reports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import asdict

from incc.core.quality import code_figures
from incc.report import types as t

if TYPE_CHECKING:
    from incc.core.analysis import KernelResult


def quality_report(result: KernelResult) -> t.QualityReport:
    """Return the quality of a kernel's code."""
    return t.QualityReport(**asdict(code_figures(result)))
