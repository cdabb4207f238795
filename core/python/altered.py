"""Changes to a core's parameters for one analysis, as llvm-mca's options make them, for bounds and simulation alike."""

from __future__ import annotations

import msgspec

from incc.frontends.kernel import KernelCode
from incc.models.binding import bound as b
from incc.models.binding.bound import BoundKernel
from incc.models.binding.pipeline import copied

LONGEST_CALL = 1 << 12
"""Cycles of the longest simulated call; a simulation of longer ones would not end."""

WIDEST = 16
"""The largest issue width in µops per cycle. Issue waits until all buffers have room for a full cycle's µops, so a core
much wider than its buffers would be slower."""

UNLIMITED = 1 << 10
"""The number of buffer entries from which on a buffer counts as unlimited."""

MOST_PAIRS = 1 << 14
"""The most pairs of loads and stores that are made dependent; beyond it each load waits only for the last store before
it."""


class AlteredCore(msgspec.Struct, frozen=True, kw_only=True):
    """Changes to a core's parameters; 0 leaves the model's value."""

    dispatch_width: int = 0
    """Issue slots per cycle."""
    load_queue: int = 0
    """Entries of the load buffer."""
    store_queue: int = 0
    """Entries of the store buffer."""
    register_file: int = 0
    """Physical registers of all kinds together, which instructions hold from issue to retirement."""
    uop_queue: int = 0
    """Entries before the renamer."""
    decoders: int = 0
    """Fused µops per cycle from the front end; all its other limits, such as decoder rules and µop caches, are
    removed."""
    call_latency: int = 0
    """The least number of cycles from a call's start to its retirement, which also holds up everything that retires
    after it. Otherwise only the call's jump and return address are counted."""
    latencies: tuple[tuple[int, int, int], ...] = ()
    """First line, last line and cycles of the spans of the text whose instructions have another latency."""
    noalias: bool = True
    """If False, each load may depend on every earlier store of the same or the previous iteration, and waits
    for it."""


UNALTERED = AlteredCore()
"""The core of the model."""


def alter(kernel: KernelCode, bound: BoundKernel, settings: AlteredCore) -> tuple[str, ...]:
    """Change the core of a kernel that was just bound, and return notes on the changes."""
    changed = []
    if settings.dispatch_width:
        changed.append(f"issue width {settings.dispatch_width} instead of {bound.issue_width}")
        bound.issue_width = min(settings.dispatch_width, WIDEST)
    if settings.load_queue:
        changed.append(f"load buffer of {settings.load_queue} instead of {_entries(bound.load_buffer)}")
        bound.load_buffer = _limit(settings.load_queue)
    if settings.store_queue:
        changed.append(f"store buffer of {settings.store_queue} instead of {_entries(bound.store_buffer)}")
        bound.store_buffer = _limit(settings.store_queue)
    if not settings.noalias:
        changed.append("loads wait for the stores before them")
        _wait_for_stores(bound)
    longer = _with_latencies(kernel, bound, settings.latencies)
    if longer:
        changed.append(f"other latencies of {len(longer)} instruction{'s' * (len(longer) > 1)}")
    p = bound.pipeline
    if p is None:
        names = ("register_file", "uop_queue", "decoders", "call_latency")
        ignored = ", ".join(name for name in names if getattr(settings, name))
        return (*_note(changed), *([f"the model describes no pipeline: {ignored} ignored"] if ignored else ()))
    calls = settings.call_latency > 0 and any(i.branch == "call" for i in kernel.instructions)
    if settings.register_file or settings.uop_queue or settings.decoders or calls or longer:
        # Similar kernels share their pipeline, so change a copy.
        p = bound.pipeline = copied(p)
    if settings.register_file:
        changed.append(f"{settings.register_file} physical registers")
        p.register_file = _limit(settings.register_file)
    if settings.uop_queue:
        changed.append(f"µop queue of {settings.uop_queue} instead of {p.idq}")
        p.idq = min(settings.uop_queue, UNLIMITED)
    if settings.decoders:
        changed.append(f"{settings.decoders} µops a cycle from the front end")
        p.decoders = min(settings.decoders, UNLIMITED)
        p.decode_clusters = 1
        p.predecode_block_bytes = p.dsb_width = p.lsd = 0
    if calls:
        cycles = min(settings.call_latency, LONGEST_CALL)
        p.least_cycles = [cycles if i.branch == "call" else 0 for i in kernel.instructions]
        changed.append(f"calls of {cycles} cycles")
    if longer:
        p.least_cycles = [longer.get(n, cycles) for n, cycles in enumerate(p.least_cycles)]
    return _note(changed)


def _with_latencies(kernel: KernelCode, bound: BoundKernel, spans: tuple[tuple[int, int, int], ...]) -> dict[int, int]:
    """Give the instructions in these spans their latencies, from the slowest input to the slowest result.

    A load gets the difference, other instructions the latency from each input. Returns the cycles by instruction.
    """
    chosen = {
        n: min(cycles, LONGEST_CALL)
        for n, instruction in enumerate(kernel.instructions)
        for first, last, cycles in spans
        if first <= instruction.line <= last
    }
    if chosen:
        bound.input_latency, bound.latency = list(bound.input_latency), list(bound.latency)
        bound.input_early = list(bound.input_early)
    for n, cycles in chosen.items():
        values = range(bound.value_start[n], bound.value_start[n + 1])
        loads = [v for v in values if bound.value_kind[v] == b.VALUE_LOAD]
        more = cycles - bound.latency[n] if loads else 0
        for value in loads or values:
            for at in range(bound.input_start[value], bound.input_start[value + 1]):
                bound.input_latency[at] = max(1, bound.input_latency[at] + more) if loads else max(1, cycles)
                bound.input_early[at] = 0
        bound.latency[n] = cycles
    return chosen


def _limit(entries: int) -> int:
    return entries if entries < UNLIMITED else 0


def _entries(number: int) -> str:
    return str(number or "unlimited")


def _note(changed: list[str]) -> tuple[str, ...]:
    return (f"not the model's core: {', '.join(changed)}",) if changed else ()


def _wait_for_stores(bound: BoundKernel) -> None:
    """Make each load depend on all earlier stores of its iteration and on the later stores of the previous one.

    In the previous iteration, stores before the load in program order precede these.
    """
    loads = [v for v, kind in enumerate(bound.value_kind) if kind == b.VALUE_LOAD]
    stores = [v for v, kind in enumerate(bound.value_kind) if kind == b.VALUE_STORE]
    owner = [0] * len(bound.value_kind)
    for i, (first, end) in enumerate(zip(bound.value_start, bound.value_start[1:], strict=False)):
        owner[first:end] = [i] * (end - first)
    if len(loads) * len(stores) <= MOST_PAIRS:
        pairs = [(load, store, int(owner[store] >= owner[load])) for load in loads for store in stores]
    else:
        pairs = []
        for load in loads:
            before = [store for store in stores if owner[store] < owner[load]]
            pairs.append((load, (before or stores)[-1], int(not before)))
    bound.assumed_load = [load for load, _, _ in pairs]
    bound.assumed_store = [store for _, store, _ in pairs]
    bound.assumed_distance = [distance for _, _, distance in pairs]
