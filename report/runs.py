"""The report on a program that was run with probes: what its loops took, and what explains that.

The schema of rankings contains the records of loops, so run `make describe` after a change.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from incc.frontends.kernel import SourceLocation
from incc.support.quantities import Finite, Positive

PartKind = Literal["places", "aliasing", "entry", "faults", "sides", "data"]
"""The part of the measured cycles: the places of arrays in lines and pages; loads that the core takes for loads of a
store, because the lower bits of their addresses agree; the exit; page faults; the sides of branches; data beyond L1."""


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """A part of the difference between the measured cycles and the prediction for endless iterations in L1."""

    kind: PartKind
    cycles: Finite
    """Cycles per iteration, from a simulation or the model of memory."""
    text: str
    """The cause, in a clause."""


class TripCount(msgspec.Struct, frozen=True, kw_only=True):
    """The entries of a loop with a similar number of iterations."""

    least: int
    most: int
    """The range of iterations."""
    entries: Finite
    cycles: Finite
    """Cycles per iteration; per entry if there is none."""


class LoopRun(msgspec.Struct, frozen=True, kw_only=True):
    """A loop that ran. Numbers are scaled from samples to all entries."""

    kernel_id: str
    """Its identity in the report of its unit."""
    function_name: str
    """The function as the source writes it."""
    source: SourceLocation | None = None
    """Its place in the source; None if unknown."""
    unit: str
    """The file that was compiled, "" if unknown."""
    module: str
    """The program or library that it is in."""
    share: Finite | None
    """Its share of the processor time; None if the processes did not end by themselves."""
    entries: Positive
    """Exact."""
    samples: int
    lost: int
    """Samples whose exit was not seen: exceptions, longjmp."""
    nested: Finite = 0.0
    """Entries within an entry, by recursion, on average. What an entry takes is shared equally with them."""
    disturbed: int
    """Samples that are left out because another process may have run meanwhile."""
    counted: bool
    """The loop counts its iterations, which slows it down."""
    iterations: Finite
    """All of them."""
    iterations_error: Finite
    """The standard error."""
    cycles: Finite | None
    """Measured cycles per iteration; None without any iteration, or if the clock is unknown."""
    cycles_error: Finite
    """The standard error."""
    is_short: bool = False
    """An entry has so few instructions that the core overlaps it with others: `cycles` are until it reaches the end."""
    cycles_done: Finite | None = None
    """For short entries: cycles per iteration until all work of an entry has ended; None if unknown."""
    elements: Finite | None = None
    """Elements of the source's loop in an iteration of the compiled loop; None if unknown."""
    predicted: Finite | None = None
    """Predicted cycles per iteration of endless iterations with data in L1; None if the loop was not analysed."""
    core: str = ""
    """The core of the prediction, "" if the loop was not analysed."""
    at_least: bool = False
    """The prediction is a lower bound, since some of the work is not counted."""
    parts: tuple[Part, ...] = ()
    """The parts of the difference, largest first."""
    unexplained: Finite | None = None
    """The rest of the difference in cycles per iteration."""
    possible: tuple[str, ...] = ()
    """Causes that may explain the rest, with the most cycles that they can take."""
    calls: tuple[str, ...] = ()
    """The functions that it calls, whose time is in the measured cycles; "?" for unknown ones."""
    data_bytes: int | None = None
    """The estimated size of its data, from the addresses of samples; None if unknown."""
    role: str = ""
    """The role among the loops of its function, such as "remainder"; "" for a main loop, and if it is unknown."""
    others: tuple[str, ...] = ()
    """Loops that ran in addition to it, or instead of it, with their share of the time and their iterations."""
    verdict: str = ""
    """The limit of endless iterations, in one sentence; "" if the loop was not analysed."""
    accesses: tuple[str, ...] = ()
    """Sentences on the accesses by which it does not use all bytes that it passes, with the strides of samples."""
    trips: tuple[TripCount, ...]
    notes: tuple[str, ...] = ()


class RunReport(msgspec.Struct, frozen=True, kw_only=True):
    """A run of a program with probes."""

    schema: Literal["incc-run"] = "incc-run"
    version: Literal[1] = 1
    command: tuple[str, ...]
    """The command; empty if the files were read later."""
    status: int | None
    """Its exit status, negative for a signal; None if unknown."""
    processes: int
    """The processes that recorded something."""
    unfinished: int
    """Those among them that did not end by themselves: what they recorded counts, but not their time."""
    seconds: Finite
    """The processor time of the others."""
    clock_ghz: Finite
    """Cycles of the core in a nanosecond, from chains of additions; 0 if unknown."""
    unsampled_cost: Finite
    """Measured cycles of an entry with its exit that is not a sample."""
    sampled_cost: Finite
    """Measured cycles of one that is; both are subtracted."""
    loops: tuple[LoopRun, ...]
    """Those that were entered, those that took longest first."""
    without_probes: tuple[str, ...]
    """Loops of the program without probes, with the reasons."""
    notes: tuple[str, ...]


# --- comparisons of two runs ------------------------------------------------------------------------------------------

CauseOfChange = Literal[PartKind, "predicted", "unexplained"]
"""The part of the cycles that changed; predicted: the code itself."""


class ChangedPart(msgspec.Struct, frozen=True, kw_only=True):
    """The change of a part of a loop's cycles."""

    kind: CauseOfChange
    cycles: Finite
    """Cycles per element or iteration, in the second run more than in the first."""


class ChangedLoop(msgspec.Struct, frozen=True, kw_only=True):
    """A loop of the source in two runs; None for a run without it."""

    first: LoopRun | None
    second: LoopRun | None
    per: Literal["element", "iteration"]
    """The basis of cycles: elements of the source's loop if they are known in both runs, else compiled iterations."""
    cycles: Finite
    """The cycles that it took in the whole second run more than in the first."""
    parts: tuple[ChangedPart, ...] = ()
    """The changes of the cycles on this basis, the largest first."""

    def work(self, loop: LoopRun) -> float:
        """Return the elements or iterations of an iteration of one of the two."""
        return (loop.elements or 1.0) if self.per == "element" else 1.0


class RunComparison(msgspec.Struct, frozen=True, kw_only=True):
    """Two runs, without their loops, and the changes of these."""

    schema: Literal["incc-run-comparison"] = "incc-run-comparison"
    version: Literal[1] = 1
    first: RunReport
    second: RunReport
    rows: tuple[ChangedLoop, ...]
    """Loops, those first that changed most."""
