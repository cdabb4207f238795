"""The requested views of llvm-mca, and the facts about the run that a report does not hold."""

from __future__ import annotations

import msgspec


class RegionHeading(msgspec.Struct, frozen=True):
    """The line above a kernel: `[number] Code Region - name`."""

    number: int = -1
    """The number of the region, counted from 0 over regions with instructions; -1 for no heading."""
    name: str = ""
    """The region's name in its marker, "" for none."""


class Views(msgspec.Struct, frozen=True, kw_only=True):
    """The requested views and their limits; the defaults are llvm-mca's."""

    summary: bool = True
    info: bool = True
    encoding: bool = False
    """Instruction info has columns for the encoding and its size."""
    barriers: bool = False
    """Instruction info has columns for load and store barriers."""
    pressure: bool = True
    timeline: bool = False
    timeline_iterations: int = 10
    timeline_cycles: int = 80
    """Cycles after which the timeline is cut off, 0 for no limit."""
    dispatch_stats: bool = False
    scheduler_stats: bool = False
    retire_stats: bool = False
    register_file_stats: bool = False
    bottleneck_analysis: bool = False
    instruction_tables: bool = False
    """Only resource pressure, and instruction info if requested: nothing is simulated."""
    full_tables: bool = False
    """Instruction info has the resources of each instruction."""
    json: bool = False
    triple: str = ""
    march: str = ""
    cpu: str = ""
    """Together with `triple` and `march` the target as JSON names it."""
    headings: tuple[RegionHeading, ...] = ()
    """One heading for each kernel of the report, in the report's order."""
    parameters: tuple[tuple[str, int | bool], ...] = ()
    """Options that change the core for this run, with their values: JSON repeats them."""
