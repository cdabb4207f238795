"""Measurements of kernels on this machine in words, with possible explanations of a difference to the prediction."""

from __future__ import annotations

import math
from collections.abc import Iterator

from incc.core import figures
from incc.core.analysis import KernelResult
from incc.core.figures import DECIMALS
from incc.core.prediction import bounds_above
from incc.measuring.harness import LoopFailure
from incc.measuring.kernels import KernelMeasurement
from incc.models.binding.pipeline import CODE_LINE
from incc.report import phrases, wording
from incc.report import types as t

WORTH_EXPLAINING = 0.1
"""The least difference that is explained, as a fraction of the measured cycles."""

_NOISY = 0.05
"""The spread of samples from which on the measurement is in doubt, as a fraction of the measured cycles."""

_TELLS = 0.25
"""The largest spread of samples that cannot explain a difference, as a fraction of the difference."""


def measured_part(
    result: KernelResult,
    measurement: KernelMeasurement | LoopFailure,
    host: tuple[str, bool],
    spread: t.Range | None,
) -> t.MeasurementReport:
    """Return the report on a measurement.

    `host` is the host's core, and True if the result's model is of that core; `spread` is the range of the prediction.
    """
    core, same = host
    where = f"on {core}" if core else "on this processor"
    if isinstance(measurement, LoopFailure):
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
    text = f"measured {where}: {cycles} ± {spread}, {phrases.EXITS[measured.exit]}"
    if measured.way == "counters":
        text += ", with performance counters"
    if difference is None:
        return text
    if abs(difference) < 0.005:
        return f"{text}; the prediction is the same"
    text += f"; the prediction is {100 * abs(difference):.0f} % {'higher' if difference > 0 else 'lower'}"
    if not far:
        return text
    return f"{text}. Possible causes: {'; '.join(explanations)}" if explanations else f"{text}, for unknown reasons"


def _explanations(
    result: KernelResult, measurement: KernelMeasurement, host: tuple[str, bool], spread: t.Range | None
) -> Iterator[str]:
    """Yield possible explanations of a difference between prediction and measurement, as clauses."""
    core, same = host
    kernel, cycles, predicted = result.kernel, measurement.cycles, float(result.cycles)
    if not same:
        yield f"the prediction is for {result.model.title}, not for {core or 'this processor'}"
    if measurement.spread > max(_NOISY * cycles, _TELLS * abs(predicted - cycles)):
        yield f"the samples differ by {wording.cycles(measurement.spread)} (is the machine busy?)"
    if result.unknown:
        number = wording.counted(len(result.unknown), "instruction")
        yield f"the model lacks {number} ({wording.places(kernel, result.unknown)})"
    yield from _by_range(spread, cycles, predicted)
    if kernel.is_loop and cycles > predicted and figures.lines_more(kernel):
        yield f"the code's alignment makes it cross one more {CODE_LINE}-byte boundary than necessary"
    if result.simulation is None:
        yield "the prediction is a bound, not a simulation"
    elif above := bounds_above(result.bounds, cycles * (1 + _NOISY)):
        names = wording.listed([phrases.BOUNDS[name] for name in above])
        yield f"the model's figures are too high for this core, since the kernel is faster than its bound by {names}"
    derived = [n for n, form in enumerate(result.forms) if form is not None and form.derived]
    if derived:
        number = wording.counted(len(derived), "instruction")
        yield f"the figures of {number} are derived from others, not measured ({wording.places(kernel, derived)})"
    yield from (f"the data differ: {note}" for note in measurement.notes)


def _by_range(spread: t.Range | None, cycles: float, predicted: float) -> Iterator[str]:
    """Yield the causes of the prediction's range if the measured cycles are within it."""
    near = WORTH_EXPLAINING * cycles
    if spread is None or not spread.least - near <= cycles <= (spread.most or math.inf) + near:
        return
    for cause in spread.causes:
        # The measurement aligns arrays to cache lines, and no load has the lower bits of a store in flight. The
        # prediction may be the average over all alignments.
        best = cause.kind == "4k-aliasing" or (cause.kind == "line-crossings" and predicted <= cause.least)
        if cause.kind != "unknown-instructions" and not best:
            yield f"{cause.kind.replace('-', ' ')} ({cause.when})"
