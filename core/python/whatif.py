"""Simulations on a core with one change each, the evidence for a kernel's bottleneck."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import astuple, replace

from incc import core
from incc.core import Analysis, Simulation
from incc.core.aliasing import known_pairs
from incc.frontends.kernel import KernelCode
from incc.models.binding import bound as b
from incc.models.binding.bound import BoundKernel
from incc.models.binding.pipeline import copied

if TYPE_CHECKING:
    from incc.core.cached import CachedCore

# The least share of busy cycles from which on a second port of the same kind is tried.
BUSY = 0.5
WORTH_TRYING = Fraction(1, 100)
"""The least share of the cycles to gain. A change is not simulated if the bounds that it keeps leave less."""


class InapplicableError(ValueError):
    """A change that does not apply to a kernel, such as the latency of an instruction that it does not have."""


class Scenario(msgspec.Struct, frozen=True):
    """A kernel on a core that may be changed."""

    kernel: KernelCode
    bound: BoundKernel
    assumed: dict[str, bool]
    """Options of core.simulate."""


class CoreChange(msgspec.Struct, frozen=True, kw_only=True):
    """A change to a core."""

    name: str
    """The name for programs."""
    text: str
    """The text for people (“with …”, “without …”)."""
    apply: Callable[[Scenario], Scenario]
    """The function that makes the change."""
    keeps: tuple[str, ...] = ()
    """The bounds that stay at least as large, by their attributes in core.Analysis."""
    removes: tuple[str, ...] = ()
    """The only causes of lost issue slots that it removes, by their names in Simulation.lost_slots."""
    within: tuple[CoreChange, ...] = ()
    """Changes that remove at least the limits that this one removes."""


class WhatIf(msgspec.Struct, frozen=True, kw_only=True):
    """A kernel's cycles after one change or several together."""

    name: str
    text: str
    cycles: Fraction
    """Cycles per iteration."""
    asked: bool
    """True if the user named the change."""


def simulate(scenario: Scenario, cache: CachedCore | None = None) -> Simulation:
    """Simulate until the throughput is steady, reusing a result in `cache`.

    Raises RuntimeError if the run does not end.
    """
    return (cache or core).simulate(scenario.bound, **scenario.assumed)


def applicable(
    requested: Sequence[CoreChange], kernel: KernelCode, bound: BoundKernel
) -> tuple[list[CoreChange], list[str]]:
    """Return the changes that apply to a kernel, and the reasons why the others do not.

    Raises ValueError for changes that are impossible on this core.
    """
    changes, reasons = [], []
    for change in requested:
        try:
            change.apply(Scenario(kernel, bound, {}))
            changes.append(change)
        except InapplicableError as error:
            reasons.append(str(error))
    return changes, reasons


def what_ifs(
    kernel: KernelCode,
    bound: BoundKernel,
    analysis: Analysis,
    base: Simulation,
    requested: Sequence[CoreChange] = (),
    usual: bool = True,
    cache: CachedCore | None = None,
) -> tuple[WhatIf, ...]:
    """Return the results of changes to the core, fewest cycles first.

    Changes that mean nothing to the kernel are not tried: a divider that it does not use, ports that are mostly idle.
    Changes that are known to gain next to nothing get the cycles of `base` without a simulation (see `_Trials`).

    Args:
        kernel: the kernel.
        bound: the kernel on the unchanged core.
        analysis: its bounds.
        base: the simulation of the unchanged core.
        requested: changes that the user requested, tried alone and together.
        usual: also try the changes that make sense for the kernel.
        cache: results of kernels that were analysed before.

    Raises:
        RuntimeError: as `simulate` does.
    """
    start = Scenario(kernel, bound, {})
    names = {c.name for c in requested}
    trials = _Trials(start, analysis, base, cache)
    tried = [c for c in changes(bound, analysis, base) if c.name not in names] if usual else []
    results = [WhatIf(name=c.name, text=c.text, cycles=trials.cycles(c), asked=False) for c in tried]
    results += [
        WhatIf(name=c.name, text=c.text, cycles=simulate(c.apply(start), cache).cycles_per_iteration, asked=True)
        for c in requested
    ]
    if len(requested) > 1:
        together = start
        for change in requested:
            together = change.apply(together)
        name = ", ".join(c.name for c in requested)
        text = f"all together: {', '.join(c.text for c in requested)}"
        results.append(WhatIf(name=name, text=text, cycles=simulate(together, cache).cycles_per_iteration, asked=True))
    # The sort is stable: of equal changes the more tangible one, which is tried first, stays in front.
    return tuple(sorted(results, key=lambda w: w.cycles))


def trials(
    kernel: KernelCode, bound: BoundKernel, analysis: Analysis, base: Simulation, cache: CachedCore | None = None
) -> Callable[[str], Fraction | None]:
    """Return a function that returns the cycles after a single change by its name, as `what_ifs` has them.

    It returns None for a change that means nothing to the kernel, and for a run that does not end.
    """
    of_kernel = _Trials(Scenario(kernel, bound, {}), analysis, base, cache)
    by_name = {change.name: change for change in changes(bound, analysis, base)}

    def cycles(name: str) -> Fraction | None:
        try:
            return of_kernel.cycles(by_name[name]) if name in by_name else None
        except RuntimeError:
            return None

    return cycles


class _Trials:
    """Simulations with one change each, as few as are needed to find the changes that gain something.

    A change gains next to nothing, and gets the cycles of the unchanged core, if

    - a bound that it keeps leaves less than WORTH_TRYING to gain;
    - it only fills issue slots that were lost for some causes, and hardly any were;
    - another change that removes more of the core's limits gains nothing.
    """

    def __init__(self, start: Scenario, analysis: Analysis, base: Simulation, before: CachedCore | None = None) -> None:
        self.start = start
        self.before = before
        self.analysis = analysis
        self.base = base
        self.enough = base.cycles_per_iteration * (1 - WORTH_TRYING)
        self.cache: dict[str, Fraction] = {}
        # This run pays only if it is likely to save others.
        self.front_end_alone = 2 * base.lost_slots.no_uops > sum(astuple(base.lost_slots))

    def cycles(self, change: CoreChange) -> Fraction:
        """Return the cycles per iteration after a change. Raises RuntimeError as `simulate` does."""
        cycles = self.cache.get(change.name)
        if cycles is None:
            cycles = self.base.cycles_per_iteration
            if not self._is_hopeless(change):
                cycles = simulate(change.apply(self.start), self.before).cycles_per_iteration
            self.cache[change.name] = cycles
        return cycles

    def _is_hopeless(self, change: CoreChange) -> bool:
        if max([getattr(self.analysis, name) for name in change.keeps], default=0) >= self.enough:
            return True
        # Each lost slot may have delayed everything else by a cycle.
        lost = sum(getattr(self.base.lost_slots, name) for name in change.removes)
        if change.removes and lost < WORTH_TRYING * self.base.cycles:
            return True
        return any(
            self.cycles(wider) >= self.enough
            for wider in change.within
            if wider is not ALL_BUT_FRONT_END or self.front_end_alone
        )


def changes(bound: BoundKernel, analysis: Analysis, base: Simulation) -> list[CoreChange]:
    """Return the changes that the report tries, the most tangible first; see `what_ifs`."""
    result = [WHOLE_ADDRESSES] if known_pairs(bound, analysis.streams) else []
    for ports in _alike(bound):
        uses = max(base.port_uops[p] for p in ports)
        if 2 * uses >= base.cycles * 2 * BUSY:
            names = [bound.port_names[p] for p in ports]
            result.append(more_ports(names[0], 1, ports=names))
    if any(mask >> bound.n_ports for mask in bound.uop_ports):
        result.append(PIPELINED_UNITS)
    if analysis.expected_line_crossings:
        result.append(NO_LINE_CROSSINGS)
    through_memory = any(e.location < 0 and (e.producer != e.consumer or e.distance) for e in analysis.edges)
    if through_memory:
        result.append(_no_memory_dependencies(analysis))
    if any(e.location >= 0 for e in analysis.edges):
        result.append(NO_REGISTER_DEPENDENCIES)
    if through_memory:
        result.append(NO_DEPENDENCIES)
    if get_parameter(bound, "decoders") or get_parameter(bound, "lsd"):
        result.append(PERFECT_FRONT_END)
    if b.UOP_STORE_DATA in bound.uop_kind and get_parameter(bound, "store_commit_bytes"):
        result.append(STORES_AT_ONCE)
    result += [WIDER_ISSUE, UNLIMITED_WINDOW]
    if base.moves_executed:
        result.append(ALL_MOVES_ELIMINATED)
    result.append(UNLIMITED_PORTS)
    return result


def _no_memory_dependencies(analysis: Analysis) -> CoreChange:
    """Return the change that removes dependencies through memory.

    It keeps the loop-carried bound if the longest chain runs through registers only.
    """
    change = NO_MEMORY_DEPENDENCIES
    # A step without a location that stays in its instruction is from the loaded value to the result.
    registers_alone = analysis.chains and all(
        step.location >= 0 or (step.producer == step.consumer and not step.distance)
        for step in analysis.chains[0].steps
    )
    return replace(change, keeps=change.keeps + _CHAINS) if registers_alone else change


def _alike(bound: BoundKernel) -> list[list[int]]:
    """Return the execution ports that some µop may use, in groups of ports that all µops treat alike."""
    groups: dict[tuple[bool, ...], list[int]] = {}
    masks = sorted({mask for mask in bound.uop_ports if not mask >> bound.n_ports})
    for port in range(bound.n_ports):
        used = tuple(bool(mask >> port & 1) for mask in masks)
        if any(used):
            groups.setdefault(used, []).append(port)
    return list(groups.values())


# --- changes ----------------------------------------------------------------------------------------------------------


def copy(bound: BoundKernel) -> BoundKernel:
    """Return a copy of a bound kernel whose attributes, including its pipeline's, can be set independently."""
    result = b.BoundKernel()
    for name in b.BoundKernel.__slots__:
        setattr(result, name, getattr(bound, name))
    if bound.pipeline is not None:
        result.pipeline = copied(bound.pipeline)
    return result


def _assuming(**options: bool) -> Callable[[Scenario], Scenario]:
    return lambda s: replace(s, assumed={**s.assumed, **options})


def _changing(change: Callable[[BoundKernel], object]) -> Callable[[Scenario], Scenario]:
    """Return a function that applies a change to a copy of the bound kernel."""

    def apply(s: Scenario) -> Scenario:
        bound = copy(s.bound)
        change(bound)
        return replace(s, bound=bound)

    return apply


def _setting(**parameters: int) -> Callable[[Scenario], Scenario]:
    def change(bound: BoundKernel) -> None:
        for name, value in parameters.items():
            set_parameter(bound, name, value)

    return _changing(change)


def get_parameter(bound: BoundKernel, name: str) -> int:
    """Return a parameter of the core by its name in the model; see `PARAMETERS`."""
    owner = bound.pipeline if name in b.PIPELINE_PARAMETERS else bound
    return int(getattr(owner, name))


def set_parameter(bound: BoundKernel, name: str, value: int) -> None:
    """Set a parameter of the core; b.UNLIMITED removes the limit."""
    if name in WINDOW and value == b.UNLIMITED:
        value = 0
    setattr(bound.pipeline if name in b.PIPELINE_PARAMETERS else bound, name, value)


WINDOW = ("rob", "rs", "load_buffer", "store_buffer")
"""The sizes of buffers; 0 for an unlimited one."""

PARAMETERS = ("issue_width", "retire_width", *WINDOW, *b.PIPELINE_PARAMETERS)
"""The parameters that can be changed, by their names in the model (docs/models.md)."""


def _pipeline_units(bound: BoundKernel) -> None:
    bound.uop_cycles = [
        1 if mask >> bound.n_ports else cycles for mask, cycles in zip(bound.uop_ports, bound.uop_cycles, strict=True)
    ]


def _widen(bound: BoundKernel) -> None:
    bound.issue_width *= 2
    bound.retire_width *= 2


def _unlimit_window(bound: BoundKernel) -> None:
    """Remove the limits of all buffers.

    The store buffer stays as it is if stores leave it at a limited rate: an unlimited one would hide the rate.
    """
    bound.rob = bound.rs = bound.load_buffer = 0
    if not get_parameter(bound, "store_commit_bytes"):
        bound.store_buffer = 0
    if bound.pipeline is not None:
        bound.pipeline.scheduler_ports, bound.pipeline.scheduler_entries = [], []
        bound.pipeline.waiting_ports = 0


def _all_but_front_end(s: Scenario) -> Scenario:
    return ALL_MOVES_ELIMINATED.apply(WIDER_ISSUE.apply(UNLIMITED_PORTS.apply(NO_DEPENDENCIES.apply(s))))


_PORTS, _UNITS, _ISSUE = ("port_bound",), ("resource_bound",), ("front_end_bound", "retire_bound")
_CHAINS = ("latency_bound",)
_NO_ROOM = ("reorder_buffer", "scheduler", "load_buffer", "store_buffer", "registers")

PERFECT_FRONT_END = CoreChange(
    name="front-end",
    text="with a perfect front end",
    apply=_setting(decoders=0, dsb_width=0, lsd=0),
    keeps=_PORTS + _UNITS + _ISSUE + _CHAINS,
    removes=("no_uops",),
)
ALL_BUT_FRONT_END = CoreChange(
    name="all but the front end",
    text="with everything but the front end perfect",
    apply=_all_but_front_end,
)
"""An internal change: if it gains nothing, neither does any change that removes fewer limits."""
NO_LINE_CROSSINGS = CoreChange(
    name="line-crossings",
    text="if no load crossed a cache line",
    apply=_changing(lambda bound: setattr(bound, "line_crossing_cycles", 0)),
    keeps=_UNITS + _ISSUE + _CHAINS,
)
WHOLE_ADDRESSES = CoreChange(
    name="4k-aliasing",
    text="if whole addresses of loads and stores were compared",
    apply=_changing(lambda bound: setattr(bound.pipeline, "aliasing_bits", 0)),
    keeps=_PORTS + _UNITS + _ISSUE + _CHAINS,
)
WIDER_ISSUE = CoreChange(
    name="issue-width",
    text="with twice the issue and retire width",
    apply=_changing(_widen),
    keeps=_PORTS + _UNITS + _CHAINS,
    within=(ALL_BUT_FRONT_END,),
)
UNLIMITED_PORTS = CoreChange(
    name="unlimited-ports",
    text="with unlimited ports",
    apply=_assuming(unlimited_ports=True),
    keeps=_ISSUE + _CHAINS,
    within=(ALL_BUT_FRONT_END,),
)
UNLIMITED_WINDOW = CoreChange(
    name="window",
    text="with an unlimited window of µops",
    apply=_changing(_unlimit_window),
    keeps=_PORTS + _UNITS + _ISSUE + _CHAINS,
    removes=_NO_ROOM,
)
STORES_AT_ONCE = CoreChange(
    name="store-commit",
    text="with stores that go to the cache when they retire",
    apply=_setting(store_commit_bytes=0),
    keeps=_PORTS + _UNITS + _ISSUE + _CHAINS,
    removes=("store_buffer",),
)
NO_DEPENDENCIES = CoreChange(
    name="dependencies",
    text="without any dependencies",
    apply=_assuming(no_register_dependencies=True, no_memory_dependencies=True),
    keeps=_PORTS + _UNITS + _ISSUE,
    within=(ALL_BUT_FRONT_END,),
)
NO_REGISTER_DEPENDENCIES = CoreChange(
    name="register-dependencies",
    text="without dependencies through registers",
    apply=_assuming(no_register_dependencies=True),
    keeps=_PORTS + _UNITS + _ISSUE,
    within=(ALL_BUT_FRONT_END,),
)
NO_MEMORY_DEPENDENCIES = CoreChange(
    name="memory-dependencies",
    text="without dependencies through memory",
    apply=_assuming(no_memory_dependencies=True),
    keeps=_PORTS + _UNITS + _ISSUE,
    within=(ALL_BUT_FRONT_END, NO_DEPENDENCIES),
)
ALL_MOVES_ELIMINATED = CoreChange(
    name="move-elimination",
    text="with every move eliminated that can be",
    apply=_setting(move_elim_gpr=b.UNLIMITED, move_elim_simd=b.UNLIMITED),
    keeps=_PORTS + _UNITS + _ISSUE + _CHAINS,
    within=(ALL_BUT_FRONT_END,),
)
PIPELINED_UNITS = CoreChange(
    name="divider",
    text="with a pipelined divider",
    apply=_changing(_pipeline_units),
    keeps=_PORTS + _ISSUE + _CHAINS,
    within=(UNLIMITED_PORTS,),
)

NAMED = {c.name: c for c in (PERFECT_FRONT_END, UNLIMITED_PORTS, NO_DEPENDENCIES)} | {
    c.name: c for c in (NO_REGISTER_DEPENDENCIES, NO_MEMORY_DEPENDENCIES)
}
"""Changes that have a command-line option of their own."""


def more_ports(name: str, count: int, ports: Sequence[str] = ()) -> CoreChange:
    """Return a change that adds `count` ports like the port `name`; `ports` are those equivalent for the kernel.

    Applying it raises ValueError if the core has no such port, or if the result has more than 64 ports.
    """

    def apply(s: Scenario) -> Scenario:
        bound = copy(s.bound)
        execution = bound.port_names[: bound.n_ports]
        if name not in execution:
            raise ValueError(f"no port {name!r}; there are {', '.join(execution)}")
        if len(bound.port_names) + count > 64:
            raise ValueError(f"{len(bound.port_names) + count} ports are too many; there may be 64")
        port, old = execution.index(name), bound.n_ports
        copies = ((1 << count) - 1) << old

        def extended(mask: int) -> int:
            """Return the mask with the copies inserted after the execution ports, which moves up all higher bits."""
            moved = (mask & ((1 << old) - 1)) | (mask >> old << (old + count))
            return moved | copies if mask >> port & 1 else moved

        def with_schedulers(pipeline: b.Pipeline) -> None:
            """Give each copy of a port that has its own scheduler a scheduler of the same size.

            If a µop can choose between ports of one scheduler, the copies join that scheduler.
            """
            masks, entries = [], list(pipeline.scheduler_entries)
            for mask, size in zip(pipeline.scheduler_ports, pipeline.scheduler_entries, strict=True):
                shared = any((ports & mask).bit_count() > 1 for ports in s.bound.uop_ports)
                masks.append(mask | copies if mask >> port & 1 and shared else mask)
                if mask >> port & 1 and not shared:
                    entries += [size] * count
            own = len(entries) - len(masks)
            pipeline.scheduler_ports = [*masks, *(1 << (old + n) for n in range(own))]
            pipeline.scheduler_entries = entries

        bound.port_names = [*execution, *(f"{name}'" for _ in range(count)), *bound.port_names[old:]]
        bound.n_ports = old + count
        bound.uop_ports = [extended(mask) for mask in bound.uop_ports]
        if bound.pipeline is not None:
            pipeline = bound.pipeline
            for field in ("move_ports", "alternating", "groups_in_turn", "picked_from", "queued_at"):
                setattr(pipeline, field, [extended(mask) for mask in getattr(pipeline, field)])
            for field in ("waiting_ports", "renamer_ports"):
                setattr(pipeline, field, extended(getattr(pipeline, field)))
            with_schedulers(pipeline)
            limits = zip(pipeline.limited_uops, pipeline.limited_ports, strict=True)
            pipeline.limited_uops = [most + count * (mask >> port & 1) for most, mask in limits]
            pipeline.limited_ports = [extended(mask) for mask in pipeline.limited_ports]
            if pipeline.port_binding == b.PORTS_SIX:
                # This rule is a table for exactly three arithmetic ports; the successors' rule works for any number.
                pipeline.port_binding = b.PORTS_EIGHT
        return replace(s, bound=bound)

    number = "one more port" if count == 1 else f"{count} more ports"
    like = " or ".join(ports or [name])
    text = f"with {number} like {like}"
    return CoreChange(
        name=f"port {name}", text=text, apply=apply, keeps=_UNITS + _ISSUE + _CHAINS, within=(UNLIMITED_PORTS,)
    )
