"""Common parts of probes of a core's pipeline: the machine, the findings, and the log of figures.

A probe is a function that asks a `ProbeBench` for the cycles of loops and derives parameters of models (`Finding`). The
machine is the harness, or anything else that returns cycles of loops: tests use incc's own simulation of a model, whose
parameters the probes must find again.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec.structs import asdict, astuple, replace

from incc.measuring.assemble import loop
from incc.measuring.harness import LoopFailure, MachineLoop, Measurement
from incc.measuring.records import Log, whole_lines

Measure = Callable[[MachineLoop], Measurement | LoopFailure]
"""A function that runs a loop (`harness.Machine.measure`)."""

Value = int | float | bool | str


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """A parameter as a probe measured it."""

    name: str
    """A parameter of models, with a key after a dot if it is a table ("load_latency.gpr").

    A name that begins with "note:" is not a parameter, but becomes a comment.
    """
    value: Value | None
    """The measured value; None if it could not be measured, `text` then says why."""
    text: str
    """The evidence, with the measured cycles."""
    least: float = 0
    """The least value that is possible, for numbers."""
    most: float = 0
    """The largest value that is possible, for numbers."""
    repeats: bool = True
    """True if repeated measurements of its figures agree."""

    def agrees(self, expected: Any) -> bool:
        """Return True if a model's value is compatible with the finding."""
        if self.value is None:
            return True
        if isinstance(self.value, (bool, str)) or isinstance(expected, (bool, str)) or expected is None:
            return bool(expected == self.value)
        return bool(self.least <= expected <= self.most)


def number(name: str, value: float, text: str, least: float | None = None, most: float | None = None) -> Finding:
    """Return a finding that is a whole number, with its certain bounds; without bounds, just this number."""
    rounded = round(value)
    return Finding(
        name=name,
        value=rounded,
        text=text,
        least=rounded if least is None else least,
        most=rounded if most is None else most,
    )


def flag(name: str, value: bool | str, text: str) -> Finding:
    return Finding(name=name, value=value, text=text)


def note(name: str, value: Value, text: str) -> Finding:
    """Return a finding that no parameter describes."""
    return Finding(name=f"note:{name}", value=value, text=text)


def unknown(name: str, why: str) -> Finding:
    """Return a finding of a parameter that could not be measured."""
    return Finding(name=name, value=None, text=why)


class ProbeFailure(Exception):
    """A loop that a probe needs could not be measured, or its figures make no sense; the text says why."""


class ProbeBench:
    """A bench that measures loops given as text, and remembers the figures.

    `keep` names a file of JSON lines that is read first and to which every figure is added at once, so that an
    interrupted run continues. A loop is identified by all fields of `MachineLoop`. `tries` is how often each is
    measured; `worst` is the largest relative spread of a figure used since it was set to 0. Probes share
    `plain_nops` (nops take issue slots as other instructions do) and `seen` (figures by name).
    """

    def __init__(self, run: Measure, keep: str = "", quick: bool = False) -> None:
        self._run = run
        self.keep = keep
        self.quick = quick
        self.known: dict[str, Measurement | LoopFailure] = {}
        self.tried: dict[str, int] = {}
        self.tries = 2 if quick else 4
        self.worst = 0.0
        self.plain_nops = True
        self.seen: dict[str, float] = {}
        for line in whole_lines(keep):
            self._read(line)

    def _read(self, line: bytes) -> None:
        """Read a line of figures; a line of something else is ignored, and that loop is measured again."""
        try:
            data = msgspec.json.decode(line)
            result = msgspec.convert(data, LoopFailure) if "kind" in data else msgspec.convert(data, Measurement)
            self.known[data["loop"]] = result
            self.tried[data["loop"]] = data.get("tried", 0)
        except (msgspec.MsgspecError, ValueError, KeyError, TypeError):
            return

    def measure(self, loops: Sequence[MachineLoop]) -> list[Measurement | LoopFailure]:
        """Return the loops' cycles, without measuring those that are cached."""
        names = [_name(one) for one in loops]
        missing = {name: one for name, one in zip(names, loops, strict=True) if name not in self.known}
        if missing:
            with Log(self.keep) as log:
                for name, result in self._repeat(missing):
                    self.known[name] = result
                    # A loop that failed on a busy machine may succeed the next time.
                    if not (isinstance(result, LoopFailure) and result.is_transient):
                        log.add({"loop": name, **asdict(result)})
        for name in names:
            result = self.known[name]
            if isinstance(result, Measurement):
                self.worst = max(self.worst, result.spread / max(result.cycles, 0.5))
        return [self.known[name] for name in names]

    def reaches(self, body: str, limit: float, pauses: int = 1, registers: Mapping[str, int] | None = None) -> bool:
        """Return True if a loop was ever seen to take no more than `limit` cycles a trip.

        It is measured as often as usual and, while that fails, again after each of several pauses. Figures of an
        earlier run count.
        """
        one = loop(body, registers)
        name = _name(one)
        best = self.known.get(name)
        if isinstance(best, LoopFailure):
            raise ProbeFailure(f"{best.kind}: {best.text}")
        first = self.tried.get(name, 0)
        if first < (1 + pauses) * self.tries and (best is None or (best.cycles > limit and best.spread > 0)):
            with Log(self.keep) as log:
                for turn in range(first, (1 + pauses) * self.tries):
                    if turn and turn % self.tries == 0:
                        time.sleep(_PAUSE)
                    result = self._run(one)
                    if isinstance(result, LoopFailure):
                        raise ProbeFailure(f"{result.kind}: {result.text}")
                    if best is None or (_is_steady(result) and result.cycles < best.cycles):
                        best = result
                    self.tried[name] = turn + 1
                    if best.cycles <= limit or best.spread == 0:
                        break
                assert best is not None
                self.known[name] = best
                log.add({"loop": name, **asdict(best), "tried": self.tried[name]})
        assert isinstance(best, Measurement)
        return best.cycles <= limit

    def _repeat(self, loops: Mapping[str, MachineLoop]) -> Iterator[tuple[str, Measurement | LoopFailure]]:
        """Measure loops in rounds, `tries` at least and until the two lowest figures of each agree.

        Other work on the machine, above all on the core's other thread, only ever adds time, so the lowest figure is
        the least disturbed. The spread is the distance to the next one.
        """
        seen: dict[str, list[Measurement]] = {name: [] for name in loops}
        tries = self.tries
        for turn in range(3 * tries):
            for name in [name for name, figures in seen.items() if not _settled(figures, tries)]:
                result = self._run(loops[name])
                if isinstance(result, LoopFailure):
                    if turn == 0 or not result.is_transient:
                        del seen[name]
                        yield name, result
                    continue
                seen[name].append(result)
                if _settled(seen[name], tries):
                    yield name, _lowest(seen[name])
        for name, figures in seen.items():
            if not _settled(figures, tries):
                yield name, _lowest(figures)

    def cycles(
        self, bodies: Sequence[str], registers: Mapping[str, int] | None = None, content: int | None = None
    ) -> list[float]:
        """Return the cycles a trip of loops of these bodies. Raises ProbeFailure if one of them fails."""
        more = {} if content is None else {"content": content}
        results = self.measure([loop(body, registers, **more) for body in bodies])
        for one in results:
            if isinstance(one, LoopFailure):
                raise ProbeFailure(f"{one.kind}: {one.text}")
            if not one.cycles > 0:
                raise ProbeFailure(f"a loop of {one.cycles:.2f} cycles a trip: the machine is too busy")
        return [one.cycles for one in results if isinstance(one, Measurement)]

    def each(
        self,
        texts: Iterable[str],
        times: int,
        registers: Mapping[str, int] | None = None,
        content: int | None = None,
        start: str = "",
    ) -> list[float]:
        """Return the cycles of each text in a loop that repeats it, after `start`. Raises ProbeFailure."""
        bodies = [start + repeated(text, times) for text in texts]
        return [cycles / times for cycles in self.cycles(bodies, registers, content)]

    def one(self, body: str, registers: Mapping[str, int] | None = None, content: int | None = None) -> float:
        return self.cycles([body], registers, content)[0]

    def runs(self, body: str) -> bool:
        """Return True if the processor has these instructions."""
        return isinstance(self.measure([loop(body)])[0], Measurement)


_PAUSE = 0.2
"""Seconds, longer than an occasional background task runs at a time."""
_AGREE = 0.015
"""Relative difference of figures that repeat; and absolute, in cycles, for short loops."""


def _is_steady(figure: Measurement) -> bool:
    """Return True if the samples of a figure agree.

    The difference of two runs may be too small if one was disturbed.
    """
    return figure.spread <= max(2 * _AGREE * figure.cycles, 0.03)


def _settled(figures: Sequence[Measurement], tries: int) -> bool:
    if figures and figures[0].spread == 0:  # a machine that is exact
        return True
    if len(figures) < max(2, tries):
        return False
    steady = sorted(f.cycles for f in figures if _is_steady(f))
    return len(steady) >= 2 and steady[1] - steady[0] <= max(_AGREE * steady[0], 0.01)


def _lowest(figures: Sequence[Measurement]) -> Measurement:
    steady = [f for f in figures if _is_steady(f)] or list(figures)
    if len(steady) == 1:
        return steady[0]
    low, next_one = sorted(steady, key=lambda m: m.cycles)[:2]
    return replace(low, spread=next_one.cycles - low.cycles)


def _name(one: MachineLoop) -> str:
    """Return the key of a loop in the log."""
    return hashlib.sha256(repr(astuple(one)).encode()).hexdigest()[:24]


def repeated(text: str, times: int) -> str:
    return "\n".join([text] * times)


def listed(cycles: Sequence[float]) -> str:
    return ", ".join(f"{c:.2f}" for c in cycles)


def named(names: Iterable[object], cycles: Iterable[float], separator: str = " ") -> str:
    return ", ".join(f"{name}{separator}{c:.2f}" for name, c in zip(names, cycles, strict=True))
