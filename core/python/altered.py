"""A core with other numbers for one analysis: what llvm-mca's options change, for bounds and simulation alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from incc.models.binding import bound as b
from incc.models.binding.pipeline import copied

if TYPE_CHECKING:
    from incc.frontends.kernel import Kernel
    from incc.models.binding.bound import BoundKernel

    class Altering(Protocol):
        """What of KernelSettings is needed here."""

        @property
        def dispatch_width(self) -> int: ...
        @property
        def load_queue(self) -> int: ...
        @property
        def store_queue(self) -> int: ...
        @property
        def register_file(self) -> int: ...
        @property
        def uop_queue(self) -> int: ...
        @property
        def decoders(self) -> int: ...
        @property
        def call_latency(self) -> int: ...
        @property
        def noalias(self) -> bool: ...


LONGEST_CALL = 1 << 12
"""Cycles; a simulation of longer ones would not end."""

WIDEST = 16
"""µops that are issued in a cycle. None is before there is room in all buffers for a whole cycle's, so that a core
which is much wider than these are long would be a slower one."""

UNLIMITED = 1 << 10
"""Entries of a buffer: what is more is as good as no limit."""

MOST_PAIRS = 1 << 14
"""Of loads and stores that may meet; of more, each load waits for the last store before it alone."""


def alter(kernel: Kernel, bound: BoundKernel, settings: Altering) -> tuple[str, ...]:
    """Change a kernel that was just bound; returns what is to be said of that.

    A number of 0 leaves what the model has. `dispatch_width`: issue slots a cycle. `load_queue`, `store_queue`: entries
    of the load and the store buffer. `register_file`: physical registers of all kinds together, which instructions have
    from their issue to their retirement. `uop_queue`: entries before the renamer. `decoders`: so many fused µops a
    cycle come from the front end, and no other limit of it is left: neither what decoders can take together nor caches
    of µops. `call_latency`: a call, of which otherwise only its jump and the return address are counted, retires so
    many cycles after it started at the earliest, which holds up all that retire after it. `noalias`: False if each load
    may read what each store before it wrote, in the same iteration or the one before, and waits for it.
    """
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
    p = bound.pipeline
    if p is None:
        ignored = [
            name for name in ("register_file", "uop_queue", "decoders", "call_latency") if getattr(settings, name)
        ]
        said = f"the model describes no pipeline: {', '.join(ignored)} without meaning"
        return (*_said(changed), *([said] if ignored else ()))
    calls = settings.call_latency > 0 and any(i.branch == "call" for i in kernel.instructions)
    if settings.register_file or settings.uop_queue or settings.decoders or calls:
        # Kernels that are alike have their pipeline in common.
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
    return _said(changed)


def _limit(entries: int) -> int:
    return entries if entries < UNLIMITED else 0


def _entries(number: int) -> str:
    return str(number or "unlimited")


def _said(changed: list[str]) -> tuple[str, ...]:
    return (f"not the model's core: {', '.join(changed)}",) if changed else ()


def _wait_for_stores(bound: BoundKernel) -> None:
    """Each load follows the stores before it. Of those in the iteration before the ones behind it do: earlier ones are
    before these."""
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
