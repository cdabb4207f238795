"""The error of a whole analysis, and suggestions for misspelt names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


class AnalysisError(Exception):
    """The analysis is not possible; the message tells the user why."""


class UnknownCoreError(AnalysisError):
    """The user has named a core without a model, or models that do not exist."""

    status = 2
    """The exit status of commands."""


def nearest(name: str, names: Iterable[str], number: int = 1) -> Sequence[str]:
    """Return the names that are most similar to a misspelt one, at most `number`, the nearest first."""
    from difflib import get_close_matches

    return get_close_matches(name, list(names), number)


def suggestion(name: str, names: Iterable[str], number: int = 1, otherwise: str = "") -> str:
    """Return "; did you mean X, Y?" with the names that are most similar, or `otherwise` if none is."""
    near = nearest(name, names, number)
    return f"; did you mean {', '.join(near)}?" if near else otherwise
