"""Counters of the simulation, by source and by cause.

Generated from core/include/incc/fields.def by core/generate.py.
"""

from __future__ import annotations

import msgspec

from incc.support.quantities import Amount


class UopsBySource(msgspec.Struct, frozen=True, kw_only=True):
    """Fused µops by the part that delivered them: the number in a run, in reports the share."""

    decoders: Amount
    uop_cache: Amount
    loop_stream_detector: Amount
    microcode: Amount


class LostSlots(msgspec.Struct, frozen=True, kw_only=True):
    """Empty issue slots by the first cause: the number in a run, in reports the share."""

    no_uops: Amount
    """The µop queue was empty, or a mispredicted branch was waited for."""
    reorder_buffer: Amount
    """The reorder buffer was full."""
    scheduler: Amount
    """A scheduler, or the queue before it, was full."""
    group: Amount
    """µops that must be issued together did not fit, or one had to be issued alone."""
    load_buffer: Amount
    """The load buffer was full."""
    store_buffer: Amount
    """The store buffer was full."""
    registers: Amount
    """No physical register was free, on cores that limit their number."""
