"""Results that several steps of one analysis need, computed once."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")

_MOST = 4
"""The objects whose results are kept: the rules on a kernel ask one after the other, some also about a second one."""


def recent(function: Callable[[T], R]) -> Callable[[T], R]:
    """Decorate a function of one object to keep its results, which nobody changes, for the last few objects."""
    kept: tuple[tuple[T, R], ...] = ()

    @wraps(function)
    def result_of(argument: T) -> R:
        nonlocal kept
        for each, result in kept:
            if each is argument:
                return result
        made = function(argument)
        kept = ((argument, made), *kept[: _MOST - 1])
        return made

    return result_of
