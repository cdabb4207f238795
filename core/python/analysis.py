"""The analysis of one kernel on one core, which every command uses to get numbers for a kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from incc import core
from incc.core.altered import UNALTERED, Alterations, alter
from incc.core.prediction import bounds_of, limiting, predicted
from incc.models.binding.bind import bind
from incc.models.binding.bound import UNKNOWN
from incc.models.model import ModelError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction
    from types import ModuleType

    from incc.core import Analysis, Bounds, Event, Simulation, StartedUop
    from incc.core.known import Known
    from incc.core.prediction import BoundName
    from incc.core.waits import Waits
    from incc.core.whatif import CoreChange, WhatIf
    from incc.frontends.kernel import Kernel
    from incc.models.binding.bound import BoundKernel
    from incc.models.model import Form, MachineModel

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
    what_ifs: bool = False
    """Try the changes to the core that make sense for the kernel, and the addresses that the linker may choose."""
    changes: tuple[CoreChange, ...] = ()
    """Additional changes to try."""
    altered: Alterations = UNALTERED
    """Parameters of the core that differ from its model's."""
    waits: bool = False
    """Compute waiting times and their causes."""
    cold_iterations: int = 0
    """Also simulate this many iterations from a cold start (0: none)."""
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


class KernelResult:
    """Every number about one kernel on one core, made by `analyze_kernel` and never changed."""

    __slots__ = (
        "_analysis",
        "alignments",
        "bound",
        "bounds",
        "cold",
        "cycles",
        "events",
        "forms",
        "kernel",
        "known",
        "model",
        "notes",
        "placements",
        "settings",
        "simulation",
        "started",
        "waits",
        "what_ifs",
    )

    kernel: Kernel
    model: MachineModel
    settings: KernelSettings
    bound: BoundKernel
    """The kernel's arrays for this core."""
    forms: tuple[Form | None, ...]
    """The model's form of each instruction; None if the model lacks it."""
    bounds: Bounds
    cycles: Fraction
    """The prediction in cycles per iteration of the steady state; see `prediction.predicted`."""
    simulation: Simulation | None
    """The run that the prediction comes from; None if it comes from the bounds."""
    what_ifs: tuple[WhatIf, ...]
    """The results of changes to the core, best first."""
    cold: Simulation | None
    """The run of `cold_iterations` iterations from a cold start; its `cycles` are not a prediction."""
    alignments: tuple[Fraction, ...]
    """The prediction for each address of the first byte modulo 64, if requested."""
    placements: tuple[tuple[int, Fraction], ...]
    """(address, prediction) for the addresses that the linker may choose, if they differ."""
    waits: Waits | None
    events: tuple[Event, ...] | None
    """The timeline's instructions; None if no timeline was requested."""
    started: tuple[StartedUop, ...]
    """The timeline's µops; empty if no timeline was requested."""
    notes: tuple[str, ...]
    """Sentences on parts of the analysis that were left out."""
    known: Known | None
    """The shared results of kernels that were analysed together; None for one alone."""
    _analysis: Analysis | None

    def __init__(
        self,
        kernel: Kernel,
        model: MachineModel,
        bound: BoundKernel,
        forms: tuple[Form | None, ...],
        bounds: Bounds,
        simulation: Simulation | None = None,
        settings: KernelSettings = KernelSettings(),  # noqa: B008 -- it cannot be changed
        *,
        analysis: Analysis | None = None,
        what_ifs: tuple[WhatIf, ...] = (),
        cold: Simulation | None = None,
        alignments: tuple[Fraction, ...] = (),
        placements: tuple[tuple[int, Fraction], ...] = (),
        waits: Waits | None = None,
        events: tuple[Event, ...] | None = None,
        started: tuple[StartedUop, ...] = (),
        notes: tuple[str, ...] = (),
        known: Known | None = None,
    ) -> None:
        self.kernel = kernel
        self.model = model
        self.settings = settings
        self.bound = bound
        self.forms = forms
        self.bounds = bounds
        self.cycles = predicted(bounds, simulation.cycles_per_iteration if simulation else None)
        self.simulation = simulation
        self.what_ifs = what_ifs
        self.cold = cold
        self.alignments = alignments
        self.placements = placements
        self.waits = waits
        self.events = events
        self.started = started
        self.notes = notes
        self.known = known
        self._analysis = analysis

    @property
    def limits(self) -> tuple[BoundName, ...]:
        """The names of the bounds that limit the kernel; see `prediction.limiting`."""
        return limiting(self.bounds, self.cycles)

    @property
    def analysis(self) -> Analysis:
        """Port pressure, dependency graph, critical path and chains, computed on first use."""
        if self._analysis is None:
            self._analysis = (self.known or core).analyze(self.bound)
        return self._analysis

    @property
    def unknown(self) -> tuple[int, ...]:
        """The indices of the instructions that the model lacks."""
        return tuple([i for i, flags in enumerate(self.bound.instruction_flags) if flags & UNKNOWN])

    def total_cycles(self, iterations: int) -> int:
        """Return the cycles of exactly `iterations` iterations from a cold start.

        They count from the dispatch of the first µop to the retirement of the last instruction. Raises ValueError for
        fewer than one iteration and RuntimeError if the run takes too long.
        """
        if not self.cold or self.cold.iterations != iterations:
            run = cold_run(self.bound, iterations)
        else:
            run = self.cold
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
    known: Known | None = None,
) -> Simulation:
    """Run `core.cold_run`, with an ideal pipeline if the model describes none."""
    return (known or core).cold_run(
        bound,
        iterations,
        ideal=bound.pipeline is None,
        event_iterations=events,
        event_cycles=event_cycles,
        pressure=pressure,
        buffers=buffers,
    )


def analyze_kernel(
    kernel: Kernel,
    model: MachineModel,
    settings: KernelSettings = KernelSettings(),  # noqa: B008
    known: Known | None = None,
) -> KernelResult:
    """Analyse a kernel on a core.

    A loop is simulated as a loop, other code as consecutive copies. The result's notes list parts that could not be
    simulated.

    Args:
        kernel: the kernel.
        model: the core's model.
        settings: the analysis's settings.
        known: results for kernels that were analysed before; this kernel's are added.

    Raises:
        ValueError: if the kernel cannot be analysed on this core, or a requested change cannot be applied to it.
    """
    if settings.alignment >= 0:
        kernel = replace(kernel, alignment=settings.alignment)
    try:
        bound, forms = bind(kernel, model)
    except ModelError as error:  # forms are parsed on first use
        raise ValueError(str(error)) from error
    of = known or core
    analysis: Analysis | None = None
    simulation: Simulation | None = None
    more: dict[str, Any] = {}
    notes: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()
    if settings.altered != UNALTERED:
        changes = alter(kernel, bound, settings.altered)
    if not settings.steady:
        if settings.explained or settings.fixed_ports:
            analysis = of.analyze(bound)
        cold, notes = _cold(bound, model, settings, known)
        return KernelResult(
            kernel,
            model,
            bound,
            forms,
            bounds_of(analysis, settings.fixed_ports) if analysis else of.bounds(bound),
            None,
            settings,
            analysis=analysis,
            cold=cold,
            notes=(*changes, *notes),
            known=known,
        )
    if settings.fixed_ports:
        analysis = of.analyze(bound)
        bounds = bounds_of(analysis, fixed_ports=True)
    else:
        bounds, simulation, notes = _predict(bound, model, settings, of)
    if simulation is not None:
        try:
            analysis = _more_simulations(kernel, bound, bounds, simulation, settings, more, known)
        except RuntimeError as error:
            notes = (f"not simulated with changes: {error}",)
        notes = (*more.pop("notes", ()), *notes)
    if settings.cold_iterations and settings.simulate and not settings.fixed_ports:
        more["cold"], problems = _cold(bound, model, settings, known)
        notes = (*notes, *problems)
    if settings.timeline_iterations and kernel.instructions:
        recorded, problems = _timeline(bound, settings, of, ideal=simulation is None)
        more |= recorded
        notes = (*notes, *problems)
    if settings.waits and simulation is not None:
        try:
            more["waits"] = _waits(bound, len(kernel.instructions), known)
        except RuntimeError as error:
            notes = (*notes, f"no waits: {error}")
    return KernelResult(
        kernel,
        model,
        bound,
        forms,
        bounds,
        simulation,
        settings,
        analysis=analysis,
        notes=(*changes, *notes),
        known=known,
        **more,
    )


def _timeline(
    bound: BoundKernel, settings: KernelSettings, of: Known | ModuleType, ideal: bool
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the timeline's fields of KernelResult, and notes if a part of the timeline is missing."""
    count = _recorded(bound, settings)
    try:
        run = of.simulate(bound, ideal=ideal, iterations=count, record=True)
    except RuntimeError as error:
        return {}, (f"no timeline: {error}",)
    cycles = settings.timeline_cycles
    events = tuple([e for e in run.events if not cycles or e.dispatched < cycles])
    notes: tuple[str, ...] = ()
    if count < settings.timeline_iterations and len(events) == len(run.events):
        notes = (f"the timeline has the first {count} iterations, not all that were asked for",)
    return {"events": events, "started": run.started}, notes


def _predict(
    bound: BoundKernel, model: MachineModel, settings: KernelSettings, of: Known | ModuleType
) -> tuple[Bounds, Simulation | None, tuple[str, ...]]:
    """Return the bounds, the run to the steady state, and notes if a requested run is missing."""
    if not settings.simulate or not any(bound.issue_slots):
        return of.bounds(bound), None, ()
    if bound.pipeline is None:
        return of.bounds(bound), None, (f"not simulated: {model.why_not_simulated}",)
    try:
        return *of.bounds_and_simulation(bound), ()
    except RuntimeError as error:
        return of.bounds(bound), None, (f"not simulated: {error}",)


def _recorded(bound: BoundKernel, settings: KernelSettings) -> int:
    """Return the number of iterations to record: at least one, if any."""
    return min(settings.timeline_iterations, max(1, MOST_EVENTS // max(1, len(bound.issue_slots))))


def _cold(
    bound: BoundKernel, model: MachineModel, settings: KernelSettings, known: Known | None
) -> tuple[Simulation | None, tuple[str, ...]]:
    """Return the run from a cold start, and notes if a requested run is missing."""
    if not settings.cold_iterations or not bound.issue_slots:  # nothing to run
        return None, ()
    try:
        return cold_run(
            bound,
            settings.cold_iterations,
            events=_recorded(bound, settings),
            event_cycles=settings.timeline_cycles,
            pressure=settings.pressure,
            buffers=_llvm_buffers(model),
            known=known,
        ), ()
    except RuntimeError as error:
        return None, (f"not simulated from a cold start: {error}",)


def _llvm_buffers(model: MachineModel) -> tuple[tuple[int, int], ...]:
    """Return ports and entries of LLVM's schedulers except those that stand for load and store buffers."""
    buffers: tuple[tuple[int, int], ...] | None = model.pieces.get("llvm buffers")
    if buffers is None:
        names = (*model.ports, *model.resources)
        buffers = model.pieces["llvm buffers"] = tuple(
            [
                (sum(1 << port for port, name in enumerate(names) if name in scheduler.ports), scheduler.entries)
                for scheduler in (model.llvm.schedulers if model.llvm else ())
                if not scheduler.queue
            ]
        )
    return buffers


def _more_simulations(
    kernel: Kernel,
    bound: BoundKernel,
    bounds: Bounds,
    base: Simulation,
    settings: KernelSettings,
    more: dict[str, Any],
    known: Known | None,
) -> Analysis | None:
    """Add the results of the other requested simulations to `more`; return the analysis if it was needed."""
    analysis = None
    if settings.what_ifs or settings.changes:
        from incc.core import whatif

        analysis = (known or core).analyze(bound)
        requested, notes = whatif.applicable(settings.changes, kernel, bound)
        more["notes"] = tuple(notes)
        # The result of a change that gains nothing is the prediction, not the run's own average.
        steady = replace(base, cycles_per_iteration=predicted(bounds, base.cycles_per_iteration))
        more["what_ifs"] = whatif.what_ifs(kernel, bound, analysis, steady, requested, settings.what_ifs, known)
    if settings.alignment == EVERYWHERE:
        more["alignments"] = tuple([at(bound, bounds, place, known) for place in range(64)])
    elif settings.alignment == AS_FOUND and settings.what_ifs:
        more["placements"] = placements(kernel, bound, bounds, base, known)
    return analysis


def _waits(bound: BoundKernel, instructions: int, known: Known | None) -> Waits:
    """Return the waiting times in a recorded simulation. Raises RuntimeError if the run does not end."""
    if known is not None:
        return known.waits(bound, instructions)
    from incc.core.waits import waits

    return waits(core.simulate(bound, record=True), instructions)


def at(bound: BoundKernel, bounds: Bounds, place: int, known: Known | None = None) -> Fraction:
    """Return the prediction for a kernel whose first byte is at `place` modulo 64."""
    return predicted(bounds, (known or core).simulate(bound, alignment=place).cycles_per_iteration)


# The share of slots left empty by the front end from which on the code's address may matter.
_STARVED = 0.05
# Compilers align functions to 16 bytes; a section with less alignment is a snippet at an unknown address.
_LEAST_UNIT = 8


def placements(
    kernel: Kernel, bound: BoundKernel, bounds: Bounds, base: Simulation, known: Known | None = None
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
        predictions.append((place, at(bound, bounds, place, known)))
    return tuple(sorted(predictions)) if len({cycles for _, cycles in predictions}) > 1 else ()
