"""What the face of llvm-mca is to print: the types that its views (`views/llvm_mca/`) take beside a report."""

from __future__ import annotations

import msgspec


class Heading(msgspec.Struct, frozen=True):
    """What stands above a kernel: `[number] Code Region - name`. `name`: as the marker has it, "" for none. `number`:
    counted from 0 over the regions that have instructions, -1 where there is no heading, since no marker begins the
    region."""

    number: int = -1
    name: str = ""


class Views(msgspec.Struct, frozen=True, kw_only=True):
    """Which views are printed, and what of them is not in the report; defaults are llvm-mca's.

    `instruction_tables`: the table of resources alone, and if `info` the instructions'. `timeline_iterations` and
    `timeline_cycles`: how much of the timeline is shown, 0 for no limit of cycles. `triple`, `march` and `cpu`: the
    target as JSON names it (x86_64-pc-linux-gnu, x86_64, skylake). `headings`: one for each kernel of the report, in
    their order. `parameters`: what changes the core for the run, as JSON repeats it: names
    of options with their values.
    """

    summary: bool = True
    info: bool = True
    encoding: bool = False
    barriers: bool = False
    pressure: bool = True
    timeline: bool = False
    timeline_iterations: int = 10
    timeline_cycles: int = 80
    dispatch_stats: bool = False
    scheduler_stats: bool = False
    retire_stats: bool = False
    register_file_stats: bool = False
    bottleneck_analysis: bool = False
    instruction_tables: bool = False
    json: bool = False
    triple: str = "x86_64-pc-linux-gnu"
    march: str = "x86_64"
    cpu: str = ""
    headings: tuple[Heading, ...] = ()
    parameters: tuple[tuple[str, int | bool], ...] = ()
