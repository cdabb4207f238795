"""Phrases that are the same in sentences of a report and in its views."""

from __future__ import annotations

EXITS = {
    "own": "ended by its own counter",
    "replaced": "ended by a counter in place of its comparison",
    "added": "ended by an additional counter, whose cost is subtracted",
    "repeated": "as copies in a row",
}
"""Descriptions of the values of `MeasurementReport.exit`."""

LOST_SLOTS = {
    "no_uops": "the front end delivers no µop",
    "reorder_buffer": "the reorder buffer is full",
    "scheduler": "the scheduler is full",
    "group": "µops that must be issued together do not fit",
    "registers": "no physical register is free",
    "load_buffer": "the load buffer is full",
    "store_buffer": "the store buffer is full",
}
"""The reasons for empty issue slots, by field of `LostSlots`."""

BOUNDS = {
    "port": "the ports",
    "divider": "the divider",
    "front_end": "the front end",
    "retire": "retirement",
    "loop_carried": "the longest loop-carried chain",
}
"""The names of the bounds in sentences."""
