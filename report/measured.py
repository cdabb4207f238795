"""Measurements of kernels on this machine in words, with possible explanations of a difference to the prediction."""

from __future__ import annotations

from typing import TYPE_CHECKING

from incc.core import figures
from incc.core.figures import DECIMALS
from incc.core.prediction import bounds_above
from incc.measuring.harness import Failure
from incc.report import types as t
from incc.report import wording

if TYPE_CHECKING:
    from collections.abc import Iterator

    from incc.core.analysis import KernelResult
    from incc.measuring.kernels import KernelMeasurement
    from incc.report.types import BoundName

WORTH_EXPLAINING = 0.1
"""The least difference that is explained, as a fraction of the measured cycles."""

_NOISY = 0.05
"""The spread of samples from which on the measurement is in doubt, as a fraction of the measured cycles."""

_TELLS = 0.25
"""The largest spread of samples that cannot explain a difference, as a fraction of the difference."""

_EXITS = {
    "own": "its own counter",
    "replaced": "a counter in place of the comparison",
    "added": "a counter more, whose cost is taken off",
    "repeated": "copies of it in a row",
}

_BOUNDS: dict[BoundName, str] = {
    "port": "ports",
    "divider": "the divider",
    "front_end": "the front end",
    "retire": "retirement",
    "loop_carried": "a loop-carried chain",
}


def measured_part(
    result: KernelResult,
    measurement: KernelMeasurement | Failure,
    host: tuple[str, bool],
    spread: t.Range | None,
) -> t.MeasurementReport:
    """Return the report on a measurement.

    `host` is the host's core, and True if the result's model is of that core; `spread` is the range of the prediction.
    """
    core, same = host
    where = f"on {core}" if core else "on this processor"
    if isinstance(measurement, Failure):
        return t.MeasurementReport(
            cycles=None,
            spread=None,
            way="",
            exit="",
            core=core,
            same_core=same,
            difference=None,
            failure=measurement.kind,
            notes=[],
            explanations=[],
            text=f"not measured {where}: {measurement.text}",
        )
    predicted = float(result.cycles)
    difference = figures.difference(predicted, measurement.cycles)
    # A difference hidden by the rounding of the figures does not count.
    far = difference is not None and abs(difference) > WORTH_EXPLAINING and abs(predicted - measurement.cycles) > 0.005
    explanations = list(_explanations(result, measurement, host, spread)) if far else []
    return t.MeasurementReport(
        cycles=round(measurement.cycles, DECIMALS),
        spread=round(measurement.spread, DECIMALS),
        way=measurement.way,
        exit=measurement.exit,
        core=core,
        same_core=same,
        difference=None if difference is None else round(difference, DECIMALS),
        failure="",
        notes=list(measurement.notes),
        explanations=explanations,
        text=_text(measurement, where, difference, far, explanations),
    )


def _text(measured: KernelMeasurement, where: str, difference: float | None, far: bool, explanations: list[str]) -> str:
    cycles, spread = wording.cycles(measured.cycles), wording.number(measured.spread)
    text = f"measured {where}: {cycles} ± {spread}, with {_EXITS[measured.exit]}"
    if measured.way == "counters":
        text += ", by performance counters"
    if difference is None:
        return text
    if abs(difference) < 0.005:
        return f"{text}; the prediction is the same"
    text += f"; the prediction is {100 * abs(difference):.0f} % {'more' if difference > 0 else 'less'}"
    if not far:
        return text
    return (
        f"{text}. It could be that {'; or that '.join(explanations)}"
        if explanations
        else f"{text}; nothing explains it"
    )


def _explanations(
    result: KernelResult, measurement: KernelMeasurement, host: tuple[str, bool], spread: t.Range | None
) -> Iterator[str]:
    """Yield possible explanations of a difference between prediction and measurement, as clauses."""
    core, same = host
    kernel, cycles, predicted = result.kernel, measurement.cycles, float(result.cycles)
    if not same:
        yield f"{core or 'this processor'} differs from {result.model.title}, whose model is used"
    if measurement.spread > max(_NOISY * cycles, _TELLS * abs(predicted - cycles)):
        spread_text = wording.cycles(measurement.spread)
        yield f"the measurement is not sure: samples differ by {spread_text} (is the machine busy?)"
    if result.unknown:
        noun = (
            "an instruction that the model lacks is"
            if len(result.unknown) == 1
            else "instructions that the model lacks are"
        )
        yield f"{noun} not counted ({wording.places(kernel, result.unknown)})"
    if spread is not None:
        near = WORTH_EXPLAINING * cycles
        within = spread.least - near <= cycles and (spread.most is None or cycles <= spread.most + near)
        if within:
            for cause in spread.causes:
                # The measurement aligns arrays to cache lines; the prediction may be the average over all alignments.
                best = cause.kind == "line-crossings" and predicted <= cause.least
                if cause.kind != "unknown-instructions" and not best:
                    yield f"data or places decide ({cause.kind.replace('-', ' ')}): {cause.when}"
    if kernel.is_loop and cycles > predicted and figures.lines_more(kernel):
        yield f"its place costs: the code lies across one more boundary of {figures.CODE_LINE} bytes than it needs to"
    if result.simulation is None:
        yield "the prediction is a bound, not a simulation"
    elif above := bounds_above(result.bounds, cycles * (1 + _NOISY)):
        names = wording.listed([_BOUNDS[name] for name in above])
        yield f"figures of the model are too high for this core: the kernel is faster than its bound by {names}"
    derived = [n for n, form in enumerate(result.forms) if form is not None and form.derived]
    if derived:
        noun = "an instruction are" if len(derived) == 1 else f"{len(derived)} instructions are"
        yield f"figures of {noun} derived from others and not measured ({wording.places(kernel, derived)})"
    yield from (f"data differ: {note}" for note in measurement.notes)
