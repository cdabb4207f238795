"""Errors of a whole analysis; problems with single statements and loops are in the report."""

from __future__ import annotations


class AnalysisError(Exception):
    """The analysis is not possible; the message tells the user why."""
