"""Search for a fault among the examples of one kind of input, and make what is found as small as hypothesis can."""

from __future__ import annotations

import contextlib
import random
import tempfile
import time
import zlib
from pathlib import Path

import hypothesis
import msgspec
from hypothesis import HealthCheck, Phase, given, settings

from test.fuzz.execute import load_commands
from test.fuzz.judge import fault_of, signature
from test.fuzz.kinds import KINDS
from test.fuzz.runs import Run

SHRINKING_SECONDS = 60


class Finding(msgspec.Struct, frozen=True):
    """A run with a fault."""

    kind: str
    run: Run
    fault: str

    @property
    def signature(self) -> str:
        return signature(self.fault)


class Batch(msgspec.Struct, frozen=True):
    """The result of some examples of one kind."""

    kind: str
    seed: int
    runs: int
    found: Finding | None


class FaultError(Exception):
    """Tells hypothesis that an example has a fault."""


def search(kind: str, seed: int, examples: int, seconds: float) -> Batch:
    """Run examples of a kind until one has a fault, there are enough of them, or the time is up."""
    load_commands()
    random.seed(seed)
    end, runs = time.monotonic() + seconds, 0
    best: Finding | None = None

    # zlib's sum, because that of `hash` differs from process to process.
    @hypothesis.seed(zlib.crc32(f"{kind} {seed}".encode()))
    @settings(
        max_examples=examples,
        database=None,
        deadline=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )
    @given(KINDS[kind]())
    def attempt(run: Run) -> None:
        nonlocal best, runs, end
        if time.monotonic() > end:
            return
        runs += 1
        fault = fault_of(run, top)
        # Another fault than the first is left to another batch.
        if not fault or (best and signature(fault) != best.signature):
            return
        if best is None:
            end = time.monotonic() + SHRINKING_SECONDS
        if best is None or run.size() <= best.run.size():
            best = Finding(kind, run, fault)
        raise FaultError

    with tempfile.TemporaryDirectory(prefix="incc-fuzz-") as folder, contextlib.suppress(FaultError):
        top = Path(folder)
        # Once the time for shrinking is over, examples do not fail any more.
        with contextlib.suppress(hypothesis.errors.Flaky):
            attempt()
    return Batch(kind, seed, runs, best)
