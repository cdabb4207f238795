"""What goes wrong as a whole, beside what a report says of single statements and loops."""

from __future__ import annotations


class AnalysisError(Exception):
    """The analysis cannot be made at all; the message says why, in words for the user."""
