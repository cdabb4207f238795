"""What became of a kernel: cycles on a common basis, and what accounts for the difference."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from incc.driver.comparison import types as c
    from incc.driver.comparison.match import Match
    from incc.driver.comparison.side import Entry


def figures(entry: Entry) -> c.Figures:
    """The figures of a kernel."""
    raise NotImplementedError


def change(a: Entry, b: Entry, match: Match, parts_a: Sequence[Entry] = (), parts_b: Sequence[Entry] = ()) -> c.Change:
    """The change from a to b, without alignment. `change(b, a, …)` says the opposite: figures swapped, ratios inverted,
    cycles of causes with the other sign."""
    raise NotImplementedError
