"""The prediction and its limits: the only definition of both, and of the thresholds behind the report's sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from incc.core import Analysis, Bounds

if TYPE_CHECKING:
    from fractions import Fraction

BoundName = Literal["port", "divider", "front_end", "retire", "loop_carried"]

# The order in which equal bounds are named: the most tangible first.
ORDER: tuple[BoundName, ...] = ("loop_carried", "port", "divider", "front_end", "retire")

# A bound of at least this share of the prediction is called close: improving the first alone gains less than a sixth.
CLOSE = 0.85

# A bound of at least this share of the predicted cycles explains them; a run's average is not exact either.
REACHED = 0.98

# The least gain of a change that is mentioned, as a share of the prediction.
WORTH_SAYING = 0.02


def bounds_of(analysis: Analysis, fixed_ports: bool = False) -> Bounds:
    """Return the bounds of an analysis; with `fixed_ports` the port bound is the load of the busiest port."""
    return Bounds(
        port=analysis.fixed_port_bound if fixed_ports else analysis.port_bound,
        divider=analysis.resource_bound,
        front_end=analysis.front_end_bound,
        retire=analysis.retire_bound,
        loop_carried=analysis.latency_bound,
    )


def predicted(bounds: Bounds, simulated: Fraction | None) -> Fraction:
    """Return *the* prediction in cycles per iteration of the steady state.

    It is the simulated number, but at least the largest bound, which no execution can beat; without a simulation it is
    the largest bound. If a kernel has no period, or long chains of work still pile up when the throughput is read, the
    simulated average may be a fraction below an exact bound.
    """
    largest = bounds.largest
    return largest if simulated is None else max(largest, simulated)


def bounds_above(bounds: Bounds, cycles: float) -> tuple[BoundName, ...]:
    """Return the names of the bounds that exceed this number of cycles and thus are too high, in the order of ORDER."""
    return tuple([name for name in ORDER if getattr(bounds, name) > cycles])


def limiting(bounds: Bounds, cycles: Fraction) -> tuple[BoundName, ...]:
    """Return the names of the bounds that limit a kernel of that many predicted cycles, in the order of ORDER.

    These are the largest bounds, unless none of them explains the cycles. Retirement is not a limit of its own if the
    front end is at least as narrow; it is named only if its bound is larger.
    """
    largest = bounds.largest
    if not largest or largest < REACHED * cycles:
        return ()
    limits = [name for name in ORDER if getattr(bounds, name) == largest]
    if "retire" in limits and "front_end" in limits:
        limits.remove("retire")
    return tuple(limits)
