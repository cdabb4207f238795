"""Loads whose addresses agree with those of stores in the bits that the core compares first.

The simulation decides which of them wait (core/lib/sim/address_aliasing.h). This module lists those that may: at a
known distance, and at one that depends on where arrays begin.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from incc.core import Stream
from incc.models.binding.bound import BoundKernel

_MOST_PAIRS = 10_000
_IN_FLIGHT = 512
"""The most µops from a store to a load that may meet on a core without a limit."""


class Pair(msgspec.Struct, frozen=True):
    """A load and a store that may agree: their instructions."""

    load: int
    store: int


def known_pairs(bound: BoundKernel, streams: Sequence[Stream]) -> tuple[Pair, ...]:
    """Return the loads that agree with a store of this or one of the last iterations to other bytes."""
    return tuple([Pair(a.instruction, b.instruction) for a, b in _pairs(bound, streams) if _agree(bound, a, b)])


def unknown_pairs(bound: BoundKernel, streams: Sequence[Stream]) -> tuple[Pair, ...]:
    """Return the loads and stores that move alike through memory, at a distance that is not known."""
    return tuple([Pair(a.instruction, b.instruction) for a, b in _pairs(bound, streams) if a.part != b.part and a.step])


def _pairs(bound: BoundKernel, streams: Sequence[Stream]) -> list[tuple[Stream, Stream]]:
    """Return the loads and stores that the core compares and that move alike."""
    if bound.pipeline is None or not bound.pipeline.aliasing_bits:
        return []
    loads = [stream for stream in streams if not stream.store and stream.step is not None]
    stores = [stream for stream in streams if stream.store]
    if len(loads) * len(stores) > _MOST_PAIRS:
        return []
    return [(load, store) for load in loads for store in stores if load.step == store.step]


def _agree(bound: BoundKernel, load: Stream, store: Stream) -> bool:
    if load.part != store.part or bound.pipeline is None:
        return False
    bits = 1 << bound.pipeline.aliasing_bits
    slots = bound.rob + bound.pipeline.aliasing_after_retirement * bound.retire_width if bound.rob else _IN_FLIGHT
    for iterations in range(1 + slots // max(1, sum(bound.retire_slots))):
        if iterations == 0 and store.instruction >= load.instruction:
            continue
        behind = load.offset - store.offset + iterations * (load.step or 0)
        if -load.size < behind < store.size:  # The load reads what was stored.
            return False
        if behind % bits < store.size or -behind % bits < load.size:
            return True
    return False
