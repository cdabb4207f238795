"""What the simulation counts by source and by cause.

Made from core/include/incc/fields.def by core/generate.py: change it there.
"""

from __future__ import annotations

import msgspec


class UopsBySource(msgspec.Struct, frozen=True, kw_only=True):
    """Where fused µops came from, over a whole run."""

    decoders: int
    uop_cache: int
    loop_stream_detector: int
    microcode: int


class LostSlots(msgspec.Struct, frozen=True, kw_only=True):
    """Why issue slots stayed empty, over a whole run."""

    # There was no µop in the queue.
    no_uops: int
    # No room in the reorder buffer.
    reorder_buffer: int
    # No room in a scheduler, or in the queue before it.
    scheduler: int
    # µops that must be issued together did not fit, or one must be issued alone.
    group: int
    # No room in the load buffer.
    load_buffer: int
    # No room in the store buffer.
    store_buffer: int
    # No register was free, where their number is limited.
    registers: int
