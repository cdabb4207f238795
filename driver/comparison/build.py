"""Puts a comparison together: rows of matched kernels, their changes, what matters first."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from incc.driver.comparison import types as c
    from incc.driver.comparison.side import Side
    from incc.driver.report.where import Condition

COMPARISON_VERSION = "1.0"


class Wanted(NamedTuple):
    """What is asked of a comparison. `where`: only rows for which it holds in one of the pairs. `fail_if`: the
    condition that must hold for none. `assembly`: with instructions and their alignment."""

    where: Condition | None = None
    fail_if: Condition | None = None
    assembly: bool = False


def compare(sides: Sequence[Side], wanted: Wanted = Wanted()) -> c.Comparison:  # noqa: B008 -- it cannot be changed
    """The comparison of two or more sides; all are compared with the first that has the kernel."""
    raise NotImplementedError
