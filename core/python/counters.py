"""Counters of the simulation, by source and by cause.

Generated from core/include/incc/fields.def by core/generate.py.
"""

from __future__ import annotations

import msgspec


class UopsBySource(msgspec.Struct, frozen=True, kw_only=True):
    """Fused µops by where they came from, over a whole run."""

    decoders: int
    uop_cache: int
    loop_stream_detector: int
    microcode: int


class LostSlots(msgspec.Struct, frozen=True, kw_only=True):
    """Issue slots that stayed empty, by cause, over a whole run."""

    no_uops: int
    """The µop queue was empty."""
    reorder_buffer: int
    """The reorder buffer was full."""
    scheduler: int
    """A scheduler, or the queue before it, was full."""
    group: int
    """µops that must be issued together did not fit, or one had to be issued alone."""
    load_buffer: int
    """The load buffer was full."""
    store_buffer: int
    """The store buffer was full."""
    registers: int
    """No physical register was free, on cores that limit their number."""
