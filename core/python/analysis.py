"""The analysis of one kernel on one core, which every command uses to get numbers for a kernel."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from types import ModuleType
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from incc import core
from incc.core import Analysis, Bounds, Event, Simulation, StartedUop
from incc.core.altered import UNALTERED, AlteredCore, alter
from incc.core.places import ArrayPlaces, place_arrays
from incc.core.prediction import BoundName, bounds_of, limiting, predicted
from incc.frontends.isa import isa
from incc.frontends.kernel import KernelCode, with_values, with_vectors
from incc.models.binding.bind import bind
from incc.models.binding.bound import UNKNOWN, BoundKernel
from incc.models.memory import NAMES, level_of
from incc.models.model import Form, MachineModel, ModelError

if TYPE_CHECKING:
    from fractions import Fraction

    from incc.core.cached import CachedCore
    from incc.core.memory.levels import DataTimes
    from incc.core.waits import Waits
    from incc.core.whatif import CoreChange, WhatIf

AS_FOUND, EVERYWHERE = -1, -2
"""Values of KernelSettings.alignment."""


MOST_EVENTS = 1 << 17
"""The most recorded events of a run; limits timelines with more iterations than anybody reads."""


class KernelSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The settings of one kernel's analysis."""

    simulate: bool = True
    """Simulate the kernel in addition to computing bounds."""
    fixed_ports: bool = False
    """Give equal shares to all ports that a µop may use, as OSACA does. This contradicts a simulation, so none is
    made."""
    flag_dependencies: bool = True
    """If False, no instruction waits for flags, as in OSACA by default."""
    what_ifs: bool = False
    """Try the changes to the core that make sense for the kernel, and the addresses that the linker may choose."""
    for_advice: bool = False
    """Simulate only those of `what_ifs` that advice depends on, on demand (`KernelResult.cycles_after`)."""
    changes: tuple[CoreChange, ...] = ()
    """Additional changes to try."""
    altered: AlteredCore = UNALTERED
    """Parameters of the core that differ from its model's."""
    waits: bool = False
    """Compute waiting times and their causes."""
    cold_iterations: int = 0
    """Also simulate this many iterations from a cold start (0: none)."""
    arrays: ArrayPlaces = "aligned"
    """The places of arrays that are assumed: as aligned as the code allows, or the average over likely places."""
    alignment: int = AS_FOUND
    """The address of the first byte modulo 64, or AS_FOUND, or EVERYWHERE to simulate all 64."""
    timeline_iterations: int = 0
    """Record the events of this many iterations (0: none)."""
    timeline_cycles: int = 80
    """Omit instructions that are dispatched after this cycle (0: none)."""
    steady: bool = True
    """If False, only the bounds, which are the prediction then, and the cold start are wanted."""
    pressure: bool = False
    """Analyse the causes of waiting µops in the run from a cold start."""
    explained: bool = True
    """If False, ports and dependencies are analysed only on demand."""
    beyond_l1: bool = False
    """Predict the kernel for data in each level of the memory hierarchy."""
    data: tuple[str | int, ...] = ()
    """Levels, or sizes of the data in bytes, whose predictions to show; they imply `beyond_l1`."""
    let: tuple[tuple[str, int], ...] = ()
    """(register or variable of the source, value) of those whose values at the start of the loop are known."""
    cores: int = 1
    """The number of cores that run the kernel at the same time, each on its own data."""

    @property
    def names_values(self) -> bool:
        """True if the analysis uses the variables of the source that hold values with which loops are entered."""
        return bool(self.beyond_l1 or self.data or self.let)

    def for_cycles_alone(self) -> KernelSettings:
        """Return the settings without all results but the cycles per iteration; the assumptions stay the same."""
        return replace(
            self,
            what_ifs=False,
            for_advice=False,
            changes=(),
            waits=False,
            cold_iterations=0,
            alignment=max(self.alignment, AS_FOUND),
            timeline_iterations=0,
            beyond_l1=False,
            data=(),
        )


class KernelResult(msgspec.Struct, frozen=True, eq=False, dict=True):
    """Every number about one kernel on one core, made by `analyze_kernel`."""

    kernel: KernelCode
    model: MachineModel
    bound: BoundKernel
    """The kernel's arrays for this core."""
    forms: tuple[Form | None, ...]
    """The model's form of each instruction; None if the model lacks it."""
    bounds: Bounds
    simulation: Simulation | None = None
    """The run that the prediction comes from; None if it comes from the bounds."""
    settings: KernelSettings = KernelSettings()
    known_analysis: Analysis | None = None
    """The result of `analysis`, if it was needed before."""
    what_ifs: tuple[WhatIf, ...] = ()
    """The results of changes to the core, best first."""
    cold: Simulation | None = None
    """The run of `cold_iterations` iterations from a cold start; its `cycles` are not a prediction."""
    alignments: tuple[Fraction, ...] = ()
    """The prediction for each address of the first byte modulo 64, if requested."""
    placements: tuple[tuple[int, Fraction], ...] = ()
    """(address, prediction) for the addresses that the linker may choose, if they differ."""
    waits: Waits | None = None
    events: tuple[Event, ...] | None = None
    """The timeline's instructions; None if no timeline was requested."""
    started: tuple[StartedUop, ...] = ()
    """The timeline's µops; empty if no timeline was requested."""
    data: DataTimes | None = None
    """The predictions for data in each level of the memory hierarchy; None if they were not requested, or if the model
    describes no levels."""
    notes: tuple[str, ...] = ()
    """Sentences on parts of the analysis that were left out."""
    cache: CachedCore | None = None
    """The shared results of kernels that were analysed together; None for one alone."""

    @cached_property
    def cycles(self) -> Fraction:
        """The prediction in cycles per iteration of the steady state; see `prediction.predicted`."""
        return predicted(self.bounds, self.simulation.cycles_per_iteration if self.simulation else None)

    def cycles_after(self, change: str) -> Fraction | None:
        """Return the cycles per iteration after a change that makes sense for the kernel, by its name; else None."""
        if self.settings.for_advice:
            return self._changed_cycles(change) if self.simulation else None
        return next((w.cycles for w in self.what_ifs if w.name == change), None)

    @cached_property
    def cycles_at(self) -> tuple[tuple[int, Fraction], ...]:
        """The `placements`, simulated on first use if only advice needs them."""
        if not self.settings.for_advice or not self.simulation or self.settings.alignment != AS_FOUND:
            return self.placements
        try:
            return placements(self.kernel, self.bound, self.bounds, self.simulation, self.cache)
        except RuntimeError:
            return ()

    @cached_property
    def _changed_cycles(self) -> Callable[[str], Fraction | None]:
        from incc.core.whatif import trials

        assert self.simulation is not None
        return trials(self.kernel, self.bound, self.analysis, _steady(self.bounds, self.simulation), self.cache)

    @cached_property
    def limits(self) -> tuple[BoundName, ...]:
        """The names of the bounds that limit the kernel; see `prediction.limiting`."""
        return limiting(self.bounds, self.cycles)

    @cached_property
    def analysis(self) -> Analysis:
        """Port pressure, dependency graph, critical path and chains, computed on first use."""
        return self.known_analysis or (self.cache or core).analyze(self.bound)

    @property
    def unknown(self) -> tuple[int, ...]:
        """The indices of the instructions that the model lacks."""
        return tuple([i for i, flags in enumerate(self.bound.instruction_flags) if flags & UNKNOWN])

    def total_cycles(self, iterations: int) -> int:
        """Return the cycles of exactly `iterations` iterations from a cold start.

        They count from the dispatch of the first µop to the retirement of the last instruction. Raises ValueError for
        fewer than one iteration and RuntimeError if the run takes too long.
        """
        cold = self.cold
        run = cold if cold and cold.iterations == iterations else cold_run(self.bound, iterations)
        assert run.statistics is not None
        return run.statistics.cycles


def cold_run(
    bound: BoundKernel,
    iterations: int,
    *,
    events: int = 0,
    event_cycles: int = 0,
    pressure: bool = False,
    buffers: Sequence[tuple[int, int]] = (),
    cache: CachedCore | None = None,
) -> Simulation:
    """Run `core.cold_run`, with an ideal pipeline if the model describes none."""
    return (cache or core).cold_run(
        bound,
        iterations,
        ideal=bound.pipeline is None,
        event_iterations=events,
        event_cycles=event_cycles,
        pressure=pressure,
        buffers=buffers,
    )


def analyze_kernel(
    kernel: KernelCode,
    model: MachineModel,
    settings: KernelSettings = KernelSettings(),  # noqa: B008
    cache: CachedCore | None = None,
) -> KernelResult:
    """Analyse a kernel on a core.

    A loop is simulated as a loop, other code as consecutive copies. The result's notes list parts that could not be
    simulated.

    Args:
        kernel: the kernel.
        model: the core's model.
        settings: the analysis's settings.
        cache: results for kernels that were analysed before; this kernel's are added.

    Raises:
        ValueError: if the kernel cannot be analysed on this core, or a requested change cannot be applied to it.
    """
    kernel = _as_set(kernel, model, settings)
    try:
        bound, forms = bind(kernel if settings.flag_dependencies else _without_flags(kernel), model)
    except ModelError as error:  # forms are parsed on first use
        raise ValueError(str(error)) from error
    place_arrays(kernel, bound, settings.arrays)
    of = cache or core
    simulation: Simulation | None = None
    parts: dict[str, Any] = {}
    notes = [*alter(kernel, bound, settings.altered)] if settings.altered != UNALTERED else []
    if settings.fixed_ports or (settings.explained and not settings.steady):
        analysis = parts["known_analysis"] = of.analyze(bound)
        bounds = bounds_of(analysis, settings.fixed_ports)
    elif settings.steady:
        bounds, simulation = _predict(bound, model, settings, of, notes)
    else:
        bounds = of.bounds(bound)
    if not settings.flag_dependencies:
        notes.append("dependencies through flags are left out")
    if simulation is not None:
        try:
            _more_simulations(kernel, bound, bounds, simulation, settings, parts, notes, cache)
        except RuntimeError as error:
            notes.append(f"not simulated with changes: {error}")
    if not settings.steady or (settings.simulate and not settings.fixed_ports):
        parts["cold"] = _cold(bound, model, settings, notes, cache)
    if settings.steady and settings.timeline_iterations and kernel.instructions:
        parts |= _timeline(bound, settings, of, simulation is None, notes)
    if settings.waits and simulation is not None:
        try:
            parts["waits"] = _waits(bound, len(kernel.instructions), cache)
        except RuntimeError as error:
            notes.append(f"no waits: {error}")
    notes += _unused_values(kernel, bound, settings)
    if (settings.beyond_l1 or settings.data) and settings.steady:
        cycles = predicted(bounds, simulation.cycles_per_iteration if simulation else None)
        parts["data"] = _data(kernel, bound, model, cycles, bounds, settings, notes)
    return KernelResult(
        kernel, model, bound, forms, bounds, simulation, settings, notes=tuple(notes), cache=cache, **parts
    )


def _as_set(kernel: KernelCode, model: MachineModel, settings: KernelSettings) -> KernelCode:
    """Return the kernel with the core's vectors, and the place and values that the settings give."""
    kernel = with_vectors(kernel, model.parameters["scalable_vector_bits"])
    if settings.alignment >= 0:
        kernel = replace(kernel, alignment=settings.alignment)
    return with_values(kernel, dict(settings.let)) if settings.let else kernel


def _unused_values(kernel: KernelCode, bound: BoundKernel, settings: KernelSettings) -> Iterator[str]:
    """Yield notes on values that the settings give and that the kernel does not use."""
    registers = isa(kernel.isa).debug_registers
    others = {access.register.name for i in kernel.instructions for access in i.registers}
    for name, _ in settings.let:
        if name in kernel.variables or (name.lower() in registers and name.lower() in bound.location_names):
            continue
        if name.lower() in others:
            yield (
                f"the value of {name.lower()} has no effect: values can be given for 64-bit integer registers such as "
                f"{registers[0]}, and for variables"
            )
        elif name.lower() in registers:
            yield f"no instruction uses a 64-bit register {name.lower()}, whose value was given"
        else:
            yield (
                f"no address is known to depend on a variable {name}, whose value was given; debug information (-g) "
                "tells which do"
            )


def _data(
    kernel: KernelCode,
    bound: BoundKernel,
    model: MachineModel,
    cycles: Fraction,
    bounds: Bounds,
    settings: KernelSettings,
    notes: list[str],
) -> DataTimes | None:
    """Return the predictions for data beyond L1; adds a note if the model describes no caches."""
    from incc.core.memory.levels import data_times

    if model.memory is None:
        notes.append(f"the model of {model.name} describes no caches beyond L1: the prediction is for data in L1")
    elif (priced := model.memory.with_costs) != model.memory.levels:
        notes.append(
            f"the model of {model.name} has sizes of caches, but no costs of lines beyond {priced[-1].name}: the "
            f"prediction is for data in {priced[-1].name}"
        )
    elif (last := model.memory.levels[-1]).size and any(
        size > last.size if isinstance(size, int) else size == "memory" for size in settings.data
    ):
        notes.append(f"the model of {model.name} describes no memory: predictions for {last.name} are too low for it")
    if model.memory is not None:
        names = [level.name for level in model.memory.levels]
        for level in dict.fromkeys(each for each in settings.data if each in NAMES and each not in names):
            instead = level_of([(each.name, each.size) for each in model.memory.levels], level)
            if level != instead and level != "memory":
                notes.append(f"the core has no {level}: the results for data in {level} are those for {instead}")
    return data_times(kernel, bound, model.memory, cycles, bounds, settings.cores)


def _timeline(
    bound: BoundKernel, settings: KernelSettings, of: CachedCore | ModuleType, ideal: bool, notes: list[str]
) -> dict[str, Any]:
    """Return the timeline's fields of KernelResult; adds notes if a part of the timeline is missing."""
    count = _recorded(bound, settings)
    try:
        run = of.simulate(bound, ideal=ideal, iterations=count, record=True)
    except RuntimeError as error:
        notes.append(f"no timeline: {error}")
        return {}
    cycles = settings.timeline_cycles
    events = tuple([e for e in run.events if not cycles or e.dispatched < cycles])
    if count < settings.timeline_iterations and len(events) == len(run.events):
        notes.append(f"the timeline shows only the first {count} of the requested iterations")
    return {"events": events, "started": run.started}


def _predict(
    bound: BoundKernel, model: MachineModel, settings: KernelSettings, of: CachedCore | ModuleType, notes: list[str]
) -> tuple[Bounds, Simulation | None]:
    """Return the bounds and the run to the steady state; adds a note if a requested run is missing."""
    if settings.simulate and any(bound.issue_slots):
        if bound.pipeline is None:
            notes.append(f"not simulated: {model.why_not_simulated}")
        else:
            try:
                both: tuple[Bounds, Simulation] = of.bounds_and_simulation(bound)
                return both
            except RuntimeError as error:
                notes.append(f"not simulated: {error}")
    return of.bounds(bound), None


def _recorded(bound: BoundKernel, settings: KernelSettings) -> int:
    """Return the number of iterations to record: at least one, if any."""
    return min(settings.timeline_iterations, max(1, MOST_EVENTS // max(1, len(bound.issue_slots))))


def _cold(
    bound: BoundKernel, model: MachineModel, settings: KernelSettings, notes: list[str], cache: CachedCore | None
) -> Simulation | None:
    """Return the run from a cold start; adds a note if a requested run is missing."""
    if not settings.cold_iterations or not bound.issue_slots:  # nothing to run
        return None
    try:
        return cold_run(
            bound,
            settings.cold_iterations,
            events=_recorded(bound, settings),
            event_cycles=settings.timeline_cycles,
            pressure=settings.pressure,
            buffers=_llvm_buffers(model),
            cache=cache,
        )
    except RuntimeError as error:
        notes.append(f"not simulated from a cold start: {error}")
        return None


def _without_flags(kernel: KernelCode) -> KernelCode:
    """Return the kernel with instructions that read no flags."""
    return replace(kernel, instructions=tuple([replace(i, flags_read="") for i in kernel.instructions]))


def _llvm_buffers(model: MachineModel) -> tuple[tuple[int, int], ...]:
    """Return ports and entries of LLVM's schedulers except those that stand for load and store buffers."""
    buffers: tuple[tuple[int, int], ...] | None = model.caches.get("llvm buffers")
    if buffers is None:
        names = (*model.ports, *model.resources)
        buffers = model.caches["llvm buffers"] = tuple(
            [
                (sum(1 << port for port, name in enumerate(names) if name in scheduler.ports), scheduler.entries)
                for scheduler in (model.llvm.schedulers if model.llvm else ())
                if not scheduler.queue
            ]
        )
    return buffers


def _more_simulations(
    kernel: KernelCode,
    bound: BoundKernel,
    bounds: Bounds,
    base: Simulation,
    settings: KernelSettings,
    parts: dict[str, Any],
    notes: list[str],
    cache: CachedCore | None,
) -> None:
    """Add the results of the other requested simulations to `parts`, with the analysis if it was needed."""
    if (settings.what_ifs and not settings.for_advice) or settings.changes:
        from incc.core import whatif

        analysis = parts["known_analysis"] = (cache or core).analyze(bound)
        requested, reasons = whatif.applicable(settings.changes, kernel, bound)
        notes += reasons
        steady = _steady(bounds, base)
        parts["what_ifs"] = whatif.what_ifs(kernel, bound, analysis, steady, requested, settings.what_ifs, cache)
    if settings.alignment == EVERYWHERE:
        parts["alignments"] = tuple([at(bound, bounds, place, cache) for place in range(64)])
    elif settings.alignment == AS_FOUND and settings.what_ifs and not settings.for_advice:
        parts["placements"] = placements(kernel, bound, bounds, base, cache)


def _steady(bounds: Bounds, base: Simulation) -> Simulation:
    """Return the run that changes are compared with: one that gains nothing has the prediction, not its own average."""
    return replace(base, cycles_per_iteration=predicted(bounds, base.cycles_per_iteration))


def _waits(bound: BoundKernel, instructions: int, cache: CachedCore | None) -> Waits:
    """Return the waiting times in a recorded simulation. Raises RuntimeError if the run does not end."""
    if cache is not None:
        return cache.waits(bound, instructions)
    from incc.core.waits import waits

    return waits(core.simulate(bound, record=True), instructions)


def at(bound: BoundKernel, bounds: Bounds, place: int, cache: CachedCore | None = None) -> Fraction:
    """Return the prediction for a kernel whose first byte is at `place` modulo 64."""
    return predicted(bounds, (cache or core).simulate(bound, alignment=place).cycles_per_iteration)


# The share of slots left empty by the front end from which on the code's address may matter.
_STARVED = 0.05
# Compilers align functions to 16 bytes; a section with less alignment is a snippet at an unknown address.
_LEAST_UNIT = 8


def placements(
    kernel: KernelCode, bound: BoundKernel, bounds: Bounds, base: Simulation, cache: CachedCore | None = None
) -> tuple[tuple[int, Fraction], ...]:
    """Return the addresses modulo 64 that the linker may choose for the first byte, with their predictions.

    For a kernel that waits for its front end these are 0 and the addresses that its section's alignment allows. Returns
    an empty result if all predictions are equal.
    """
    unit = kernel.alignment_unit
    slots = base.cycles * bound.issue_width
    if not _LEAST_UNIT <= unit < 64 or base.lost_slots.no_uops < _STARVED * slots:
        return ()
    predictions = [(kernel.alignment, predicted(bounds, base.cycles_per_iteration))]
    for place in {0, *range(kernel.alignment, 64, unit)} - {kernel.alignment}:
        predictions.append((place, at(bound, bounds, place, cache)))
    return tuple(sorted(predictions)) if len({cycles for _, cycles in predictions}) > 1 else ()
