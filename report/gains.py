"""The simulated changes of the core that make a kernel faster, and the one of them that its report names."""

from __future__ import annotations

from collections.abc import Sequence

from incc.core.prediction import WORTH_SAYING
from incc.report import types as t

_GENERAL = ("unlimited-ports", "dependencies", "window")
"""Changes that no real core could have. A change with a similar gain that one could have says more."""


def gaining(what_ifs: Sequence[t.WhatIfReport], cycles: float) -> list[t.WhatIfReport]:
    """Return the changes that gain enough of a kernel's cycles to be mentioned, best first; not those of the user."""
    least = WORTH_SAYING * cycles
    return [w for w in what_ifs if not w.asked and w.gained >= least and w.gained > 0]


def most_tangible(changes: Sequence[t.WhatIfReport], cycles: float) -> t.WhatIfReport:
    """Return the change that gains most or, of those that gain about as much, the first that could be built."""
    most = max(w.gained for w in changes)
    alike = [w for w in changes if w.gained >= most - WORTH_SAYING * cycles]
    return next((w for w in alike if w.change not in _GENERAL), alike[0])
