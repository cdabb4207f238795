"""`incc-bench --memory`: the caches and the memory of this machine, from loops that stream through arrays."""

from __future__ import annotations

import json
import statistics
import sys
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from incc.driver import UsageError
from incc.driver.deliver import write_stream
from incc.driver.messages import say
from incc.measuring.harness import Unavailable, missing
from incc.measuring.host.model import processor_name
from incc.measuring.records import OtherRun, Records, StreamRecord
from incc.measuring.streams import caches, study
from incc.measuring.streams.aarch64 import scalable_bits
from incc.measuring.streams.fit import Figures, Fit, fit, measured_at, rule_text
from incc.measuring.streams.loops import LINE, NAMES, StreamLoop, inclusive, widths
from incc.measuring.streams.simulated import SimulatedStreams
from incc.models.memory import MemoryLevel, described
from incc.models.model import MachineModel
from incc.models.processors import host
from incc.support.errors import AnalysisError
from incc.support.files import write_file
from incc.support.progress import counted, progress_shown
from incc.support.signals import interruptible
from incc.views import streams as view
from incc.views.layout import Layout

if TYPE_CHECKING:
    import argparse


class MeasuredMachine(msgspec.Struct, frozen=True, kw_only=True):
    """A machine whose caches and memory are measured."""

    streams: study.StreamMachine
    levels: tuple[MemoryLevel, ...]
    """The caches, without costs."""
    line: int
    bits: tuple[int, ...]
    """Widths of vectors."""
    most_bytes: int
    """The most bytes of arrays on each core; 0 for no limit."""
    name: str


def machine_of_host(model: MachineModel, features: frozenset[str]) -> MeasuredMachine:
    """Return this machine. Raises Unavailable."""
    if reason := missing():
        raise Unavailable(reason)
    cpus = caches.one_cpu_per_core()[::-1]  # interrupts most often come to the first
    levels, line = caches.read(cpus[0])
    bits = widths(model.isa, features, scalable_bits())
    if not levels or not bits:
        raise Unavailable("the system does not describe caches" if bits else "this processor has no AVX")
    most = caches.available_bytes() // 2 // len(cpus)
    longest = study.BEYOND * (levels[-1].size or 0)
    streams = study.HostStreams(model.isa, cpus, min(longest, most) if most else longest)
    virtual = " (virtual machine)" if "hypervisor" in host.read().features else ""
    name = f"{processor_name() or model.title}{virtual}"
    return _machine(streams, levels, line, bits, most, name, model, inclusive(model.isa))


def _simulated(model: MachineModel, features: frozenset[str]) -> MeasuredMachine:
    if model.memory is None or model.memory.with_costs != model.memory.levels:
        raise UsageError(f"the model of {model.name} has no costs of caches; --memory --simulated needs them")
    memory = model.memory
    levels = [
        MemoryLevel(name=level.name, size=level.size, ways=level.ways, cores=level.cores)
        for level in memory.levels
        if level.size is not None
    ]
    cores = max(level.cores for level in levels)
    bits = widths(model.isa, features, model.parameters["scalable_vector_bits"])
    return _machine(SimulatedStreams(model, cores), levels, memory.line, bits, 0, model.title, model)


def _machine(
    streams: study.StreamMachine,
    levels: Sequence[MemoryLevel],
    line: int,
    bits: Sequence[int],
    most: int,
    name: str,
    model: MachineModel,
    copies: Mapping[str, bool] = MappingProxyType({}),
) -> MeasuredMachine:
    """Return a machine.

    Times do not show whether a cache holds lines that another one evicts. The model says it, or for an L3 the
    processor: without `copies` of all inner lines it is filled by evictions, as on Skylake servers and Zen.
    """
    victims = {level.name for level in (model.memory.levels if model.memory else ()) if level.victim}
    if "L3" in copies:
        victims = victims - {"L3"} if copies["L3"] else victims | {"L3"}
    return MeasuredMachine(
        streams=streams,
        levels=tuple(replace(level, victim=level.name in victims) for level in levels),
        line=line,
        bits=tuple(bits),
        most_bytes=most,
        name=name,
    )


class MemoryMeasurements(msgspec.Struct, frozen=True, kw_only=True):
    """The measurements of a machine."""

    machine: MeasuredMachine
    records: list[StreamRecord]
    fit: Fit | None
    """The hierarchy that they show; None if they are incomplete."""

    @property
    def figures(self) -> Figures:
        return study.fastest(self.records)

    @property
    def ghz(self) -> float:
        """The core's usual clock."""
        return statistics.median([record.ghz for record in self.records] or [0.0])


def plan(machine: MeasuredMachine, quick: bool) -> study.Plan:
    """Return the points to measure."""
    return study.plan(machine.levels, machine.bits, machine.streams.cores, quick, machine.most_bytes)


def measure(
    machine: MeasuredMachine, model: MachineModel, records: Records, wanted: study.Plan, measured: list[StreamRecord]
) -> MemoryMeasurements:
    """Measure streams, and return the memory hierarchy that they show, which is also added to the records.

    The measurements are added to `measured` one by one, so that an interruption loses none. Raises Unavailable.
    """
    try:
        with progress_shown():
            measured += counted(study.run(machine.streams, wanted, records), "measuring", wanted.measurements)
    finally:
        machine.streams.close()
    outcome = MemoryMeasurements(machine=machine, records=measured, fit=None)
    if len(outcome.figures) < len(wanted.points):
        return outcome
    fitted = fit(outcome.figures, machine.levels, machine.line, model)
    names = [level.level.name for level in fitted.levels]
    cores = f"{machine.streams.cores} core{'s' * (machine.streams.cores > 1)}"
    memory = replace(fitted.memory, configuration=f"{machine.name}, {outcome.ghz:.1f} GHz, {cores}, huge pages")
    records.add(
        {
            "memory": described(memory),
            "errors": dict(zip(names, (round(level.error, 4) for level in fitted.levels), strict=True)),
            "held_out": dict(
                zip(names, (None if x.held_out is None else round(x.held_out, 4) for x in fitted.levels), strict=True)
            ),
        }
    )
    return replace(outcome, fit=replace(fitted, memory=memory))


def run(options: argparse.Namespace, model: MachineModel, features: frozenset[str]) -> bool:
    """Measure, write the results, and return True if they are complete. Raises UsageError and AnalysisError."""
    try:
        machine = _simulated(model, features) if options.simulated else machine_of_host(model, features)
        records = Records(options.resume or options.output, model.name, bool(options.resume))
    except OtherRun as error:
        raise UsageError(str(error)) from None
    except Unavailable as error:
        raise AnalysisError(str(error)) from None
    wanted = plan(machine, options.quick)
    measured: list[StreamRecord] = []
    try:
        records.begin({"core": model.name})
        left = study.remaining(wanted, records)
        if left.points and not options.simulated:
            _say(f"note: {left.measurements} measurements take about {max(round(left.seconds), 1)} s")
        with interruptible():
            outcome = measure(machine, model, records, wanted, measured)
        if outcome.fit is None:
            _say(f"the time limit is reached after {len(measured)} of {wanted.measurements}{_continues(records)}")
    except Unavailable as error:
        raise AnalysisError(str(error)) from None
    except KeyboardInterrupt:
        outcome = MemoryMeasurements(machine=machine, records=measured, fit=None)
        _say(f"interrupted after {len(measured)} of {wanted.measurements}{_continues(records)}")
    finally:
        records.close()
    _write(options, outcome, f"{model.title}, {model.name}")
    return outcome.fit is not None


def _continues(records: Records) -> str:
    return f"; the results are in {records.path}, and the same command continues" if records.path else ""


def _say(text: str) -> None:
    say("incc-bench", text)


# --- output -----------------------------------------------------------------------------------------------------------


def _write(options: argparse.Namespace, outcome: MemoryMeasurements, core: str) -> None:
    results = _results(outcome, core, options.simulated)
    if options.format == "json":
        lines = [json.dumps(msgspec.to_builtins(record)) for record in outcome.records]
        lines += [json.dumps({"memory": described(outcome.fit.memory)})] if outcome.fit else []
        write_stream(sys.stdout, lambda width, colour: "".join(f"{line}\n" for line in lines))
    else:
        write_stream(
            sys.stdout,
            lambda width, colour: "".join(f"{line}\n" for line in view.lines(results, Layout(width, colour))),
        )
    if options.html:
        try:
            write_file(options.html, view.picture(results) if options.html.endswith(".svg") else view.page(results))
        except OSError as error:  # whose own message names a temporary file
            raise UsageError(f"{options.html}: {error.strerror}") from None


def _results(outcome: MemoryMeasurements, core: str, simulated: bool) -> dict[str, Any]:
    """Return the cells of the tables and the curves of the plot, as the view takes them."""
    figures = outcome.figures
    every = [*outcome.machine.levels, MemoryLevel(name="memory")]
    cores = outcome.machine.streams.cores
    alone = [measured_at(figures, every, n) for n in range(len(every))]
    together = [measured_at(figures, every, n, cores) if cores > 1 else {} for n in range(len(every))]
    loops = sorted(
        {point.loop for point in figures}, key=lambda loop: (-loop.bits, loop.non_temporal, NAMES.index(loop.name))
    )
    return {
        "core": core,
        "way": "simulated, not measured"
        if simulated
        else f"core cycles by a chain of additions; clock {outcome.ghz:.1f} GHz",
        "levels": [level.name for level in every],
        "cores": cores,
        "times": [
            [loop.title, str(loop.bits), *[_cycles(at.get(loop)) for at in (*alone, *together)]] for loop in loops
        ],
        "hierarchy": _hierarchy(outcome.fit, [_gigabytes(outcome.ghz, at) for at in (alone, together)], cores)
        if outcome.fit
        else [],
        "fits": [
            f"{each.level.name}: {rule_text(each.level)}; mean error {each.error:.1%}"
            + ("" if each.held_out is None else f", held out {each.held_out:.1%}")
            + f" (next: {each.other_rule}, {each.other_error:.1%})"
            for each in (outcome.fit.levels if outcome.fit else ())
        ],
        "curves": [
            {
                "name": loop.title,
                "bits": loop.bits,
                "cores": number,
                "points": sorted(
                    (point.bytes, cycles)
                    for point, cycles in figures.items()
                    if point.loop == loop and point.cores == number
                ),
            }
            for loop in loops
            for number in sorted({1, cores})
        ],
        "sizes": [(level.name, level.size) for level in outcome.machine.levels],
    }


def _hierarchy(fitted: Fit, gigabytes: Sequence[Sequence[float | None]], cores: int) -> list[list[str]]:
    """Return the cells of the levels.

    Args:
        fitted: The hierarchy.
        gigabytes: Gigabytes per second that a core loads from each level: alone, and while all cores do.
        cores: The number of cores.
    """
    rows = []
    for level, alone, together in zip(fitted.memory.levels, *gigabytes, strict=False):
        costs = [_cycles(getattr(level, name), "") for name in view.COSTS]
        bandwidths = ["" if each is None else f"{each * n:.0f}" for each, n in ((alone, 1), (together, cores))]
        rows.append([level.name, _size(level), str(level.ways or ""), str(level.cores), *costs, *bandwidths])
    return rows


def _gigabytes(ghz: float, levels: Sequence[dict[StreamLoop, float]]) -> list[float | None]:
    """Return the gigabytes per second that a core loads from each level with its widest vectors."""
    return [
        min(
            (ghz * LINE / cycles for loop, cycles in at.items() if loop.name == "load" and loop.bits == widest),
            default=None,
        )
        for at in levels
        for widest in [max((loop.bits for loop in at), default=0)]
    ]


def _size(level: MemoryLevel) -> str:
    return "" if level.size is None else f"{level.size // 1024:,} KiB"


def _cycles(value: float | None, none: str = "-") -> str:
    return none if value is None else f"{value:.2f}"
