"""Throughputs of mixtures of instruction forms: each measured once by an oracle, and kept in a file."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

import msgspec

from incc.measuring.records import Log, whole_lines

Copies = Mapping[str, int]
"""The number of independent copies of each form in a loop."""

Oracle = Callable[[Copies], "float | None"]
"""The cycles of a loop with a number of copies of each form, None if it cannot be run.

The implementation, a harness, simulation or bound, ensures that no copy waits for another one's result.
"""


class Noise(msgspec.Struct, frozen=True):
    """The deviation of a figure from an undisturbed one: `relative` of it and `absolute` cycles."""

    relative: float = 0.03
    absolute: float = 0.02
    above: float = 0.12
    """The share by which mixtures may be slower besides.

    Cores bind µops to ports before they know which will be free, and do not share ports out optimally. Nothing is
    faster than that.
    """

    def of(self, cycles: float) -> float:
        return self.relative * cycles + self.absolute

    def allows(self, expected: float, measured: float, factor: float) -> bool:
        """Return True if a mixture's figure may be the expected one, with a multiple of the uncertainty."""
        margin = factor * self.of(expected)
        return -margin <= measured - expected <= margin + self.above * expected


class Experiments:
    """An oracle that measures each mixture once.

    With a `path`, answers are added to that file, a JSON object a line, and those in it are not measured again, so an
    interruption loses nothing. `used` counts the different mixtures that were wanted. Raises OSError, and ValueError
    for a file that is something else.
    """

    def __init__(self, oracle: Oracle, path: str = "") -> None:
        self._oracle = oracle
        self._path = path
        self._known: dict[tuple[tuple[str, int], ...], float | None] = {}
        self._used: set[tuple[tuple[str, int], ...]] = set()
        for number, line in enumerate(whole_lines(path), 1):
            try:
                record = json.loads(line)
                key = tuple(sorted((str(form), int(n)) for form, n in record["copies"].items()))
                self._known[key] = None if record["cycles"] is None else float(record["cycles"])
            except (ValueError, TypeError, KeyError, AttributeError):
                raise ValueError(f"{path}:{number}: no throughput of forms") from None

    @property
    def used(self) -> int:
        return len(self._used)

    def cycles(self, copies: Copies) -> float | None:
        """Return the cycles of one trip through the loop."""
        key = tuple(sorted((form, n) for form, n in copies.items() if n))
        self._used.add(key)
        if key not in self._known:
            self._known[key] = self._oracle(dict(key))
            with Log(self._path) as log:
                log.add({"copies": dict(key), "cycles": self._known[key]})
        return self._known[key]
