"""Throughputs of mixtures of instruction forms: asked of an oracle, each once, and kept in a file."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

import msgspec

Copies = Mapping[str, int]
"""How many copies of each form stand in a loop, independent of each other."""

Oracle = Callable[[Copies], "float | None"]
"""Cycles that a loop with so many copies of each form takes, None where it cannot be run.

What is behind it (the harness, a simulation, a bound) sees to it that no copy waits for another one's result.
"""


class Noise(msgspec.Struct, frozen=True):
    """How far a figure may be from what it would be without disturbance: `relative` of it and `absolute` cycles.

    `above`: by how much of it mixtures may be slower besides, since cores bind µops to ports before they know what will
    be free, and do not share ports out as well as is possible. Nothing is faster than that.
    """

    relative: float = 0.03
    absolute: float = 0.02
    above: float = 0.12

    def of(self, cycles: float) -> float:
        return self.relative * cycles + self.absolute


class Experiments:
    """An oracle that is asked everything once.

    With a `path`, answers are added to that file, a JSON object a line, and those that are there are not asked for
    again: what was measured before an interruption is not lost. `asked`: how many answers the oracle gave this time;
    `used`: how many different ones were wanted. Raises OSError, and ValueError for a file that is something else.
    """

    def __init__(self, oracle: Oracle, path: str | None = None) -> None:
        self._oracle = oracle
        self._path = path
        self._known: dict[tuple[tuple[str, int], ...], float | None] = {}
        self._used: set[tuple[tuple[str, int], ...]] = set()
        self.asked = 0
        if path is not None:
            self._read(path)

    @property
    def used(self) -> int:
        return len(self._used)

    def cycles(self, copies: Copies) -> float | None:
        """The cycles of one trip through the loop."""
        key = tuple(sorted((form, n) for form, n in copies.items() if n))
        self._used.add(key)
        if key not in self._known:
            self.asked += 1
            self._known[key] = self._oracle(dict(key))
            if self._path is not None:
                with open(self._path, "a", encoding="utf-8") as f:
                    f.write(json.dumps({"copies": dict(key), "cycles": self._known[key]}) + "\n")
        return self._known[key]

    def _read(self, path: str) -> None:
        try:
            with open(path, encoding="utf-8") as f:
                text = f.read()
        except FileNotFoundError:
            return
        for number, line in enumerate(text.splitlines(), 1):
            try:
                record = json.loads(line)
                key = tuple(sorted((str(form), int(n)) for form, n in record["copies"].items()))
                self._known[key] = None if record["cycles"] is None else float(record["cycles"])
            except (ValueError, TypeError, KeyError, AttributeError):
                if number > text.count("\n"):
                    break  # the line in which the writer was interrupted
                raise ValueError(f"{path}:{number}: no throughput of forms") from None
        if text and not text.endswith("\n"):
            with open(path, "w", encoding="utf-8") as f:
                f.write(text[: text.rfind("\n") + 1])
