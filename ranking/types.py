"""The types of a ranking; its JSON schema is made from them (`views/schemas.py`).

Times are in cycles of each core's clock and, unless stated otherwise, per iteration of the kernel.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from incc.frontends.kernel import SourceLocation
from incc.report.runs import LoopRun
from incc.report.types import CeilingsReport, ProjectionName, RooflineReport, Tool
from incc.support.quantities import Amount, Count, Positive, Share


class KernelOrigin(msgspec.Struct, frozen=True, kw_only=True):
    """The origin of one of the kernels of a row."""

    report: str
    """The file of its report, with the line if the file has several."""
    source: str
    """The file that was compiled, or the assembly file."""
    folder: str
    """The folder that the command ran in; empty where that is unknown."""
    output: str
    """The file that the command made of the source, as it names it; empty for none."""
    kernel_id: str


class Headroom(msgspec.Struct, frozen=True, kw_only=True):
    """The possible gain of the kernel: its prediction compared with the best change that was tried."""

    cycles: Amount
    """Cycles with the best change."""
    gained: Amount
    """Cycles fewer than the prediction."""
    share: Share
    """The gain as a share of the prediction."""
    by: Literal["what-if", "bounds", "trial", ""]
    """what-if: a changed core; bounds: no change was tried, and without the largest bound the next one would apply;
    trial: the flags of hints, with which the code was compiled again; empty where nothing makes the kernel faster."""
    change: str
    """The change of the core as in the report's what_ifs, the bound, or the flags."""
    text: str
    """The change in words."""


class Projected(msgspec.Struct, frozen=True, kw_only=True):
    """The change to a kernel's code that saves most of its cycles, by a simulation (docs/quality.md)."""

    change: ProjectionName
    cycles: Amount
    """Cycles for the work of an iteration as it is."""
    share: Share
    """The saved share of the prediction."""
    text: str
    """The condition of the change; empty if there is none."""


class Saving(msgspec.Struct, frozen=True, kw_only=True):
    """The part of the kernel's cycles that following its advice would save."""

    share: Share
    """Share of the prediction; 0 where it is unknown or there is no remedy."""
    by: Literal["trial", "hint", "unknown", ""]
    """trial: the prediction after compiling with the hints' flags; hint: a hint's predicted speedup; unknown: there is
    a remedy, but its effect is not predicted; empty: there is no advice, or none but to use another algorithm."""
    text: str
    """The flags, or the rule of the hint."""


class RankedInstruction(msgspec.Struct, frozen=True):
    """An instruction of a kernel."""

    line: Count
    """Its line in the assembly; 0 for machine code."""
    source_line: Count
    """Its line in the source; 0 if unknown."""
    text: str


class Weight(msgspec.Struct, frozen=True, kw_only=True):
    """The weight of a kernel, from profiles."""

    amount: Amount
    """In the unit of the ranking's hotness."""
    share: Share
    """The share of everything in the profiles."""
    saved: Share
    """The share that following the advice would save, as far as that is predicted."""
    iterations: Amount | None
    """Iterations of the kernel, where executions were counted."""
    by: list[Literal["address", "code", "line", "function"]]
    """The ways in which it was located: by addresses in the object, by the code in a disassembly, by source lines, or
    by the function, whose amount is divided among its loops."""


class LevelCycles(msgspec.Struct, frozen=True):
    """The prediction for data in a level beyond L1."""

    name: str
    """"L2", "L3" or "memory"."""
    cycles: Amount
    least_cycles: Amount
    """Cycles if L1 holds all lines of which that is uncertain; equal to `cycles` without such lines."""


class RankingRow(msgspec.Struct, kw_only=True):
    """The kernels that were made of one loop of the source, on one core and in one role.

    These are copies in several functions, instances or objects. The figures are those of the code most worth a
    look. With --copies, a row has only kernels of one function name with the same code.
    """

    name: str
    """The short name of the function that the loop is written in."""
    function: str
    """The function's symbol."""
    function_name: str
    """The function as the source writes it."""
    kernel_id: str
    content_hash: str
    source: SourceLocation | None
    """The loop's place in the user's source."""
    outer: SourceLocation | None
    """The place of the loop around."""
    assembly: SourceLocation
    """The loop's place in the assembly; if that is not kept, the file that was compiled, with line 0."""
    label: str
    """The loop's label in the assembly, or its place relative to a symbol if that is not kept."""
    model: str
    """The core, by LLVM's -mcpu name."""
    role: str
    """Its role in its function; empty for code that is no loop."""
    depth: Count
    cycles: Amount
    at_least: bool
    least: Amount
    """The fewest cycles, depending on data and alignment."""
    most: Amount | None
    """The most cycles; null where there is no upper limit."""
    cycles_per_element: Amount | None
    elements: Amount | None
    """Elements of the source's loop an iteration stands for."""
    levels: list[LevelCycles] = []
    """The predictions for data in the levels beyond L1 that the report was made for."""
    limit: str
    """The limit, in a few words."""
    limited_by: list[str]
    vector: str
    look: str
    """The reason to look at it; empty for none."""
    verdict: str
    rules: list[str]
    """The rules of its hints."""
    advice: list[str]
    """The texts of its hints."""
    flags: list[str]
    """Compiler flags that its hints name."""
    unknown: Count
    """Instructions that are not in the model."""
    headroom: Headroom
    spare: Share
    """The share of the cycles above the second largest of the bounds of ports and units, of the front end and
    retirement, and of chains. No change of the core saves more: it leaves two of these as they are."""
    saving: Saving
    projection: Projected | None = None
    """The change to the code that saves most; null if none saves anything, or the report has no projections."""
    weight: Weight | None
    """Null without profiles, and where they have nothing of the kernel."""
    run: LoopRun | None = None
    """The kernel as it ran in a program with probes, of copies that which took longest; null without --probes."""
    roofline: RooflineReport | None = None
    """The points of that code in the roofline model; null if they were not requested."""
    flop_elements: list[Count] = []
    """The sizes of its floating-point elements in bits, that of most operations first."""
    copies: Positive
    """The number of the build's kernels in this row."""
    variants: Positive
    """The number of different codes of the same loop of the source."""
    instructions: list[RankedInstruction]
    """The instructions of the code that the figures are of."""
    members: list[KernelOrigin]
    """The origins of its kernels; at most 20."""

    @property
    def place(self) -> SourceLocation:
        """The loop's place in the source or, if that is unknown, in the assembly."""
        return self.source or self.assembly


class RowGroup(msgspec.Struct, frozen=True, kw_only=True):
    """Rows with something in common."""

    key: str
    """The common property: a file, a function, a limit, or the rule of a hint."""
    rows: Positive
    loops: Positive
    """The number of source loops among them."""
    headroom: Share
    """The common headroom: of their time with profiles, otherwise the largest of them."""
    weight: Share | None
    """Their share of the time; null without profiles."""
    saved: Share | None
    first: Count
    """The index of the row that is most worth a look."""


class HotFile(msgspec.Struct, frozen=True, kw_only=True):
    """A profile: a file of execution counts or samples."""

    file: str
    kind: str
    matched: Share
    """The share of its contents that belongs to rows of the ranking."""
    text: str
    """A description of its contents."""


class Hotness(msgspec.Struct, frozen=True, kw_only=True):
    """The profiles that weigh the kernels."""

    unit: Literal["cycles", "samples"]
    """cycles: executions times predicted cycles; samples: of a profiler."""
    total: Amount
    """The sum over all kernels for cycles; over the whole profiles for samples."""
    matched: Share
    """The share of the profiles that belongs to kernels."""
    files: list[HotFile]
    notes: list[str]
    """Notes on the profiles, one sentence each."""


class FailingRow(msgspec.Struct, frozen=True):
    """A row for which a condition holds that makes the run fail, or that warns."""

    row: Count
    text: str


class RankingGate(msgspec.Struct, frozen=True, kw_only=True):
    """A condition on kernels, and those for which it holds."""

    condition: str
    fails: bool
    """True if it makes the run fail; otherwise it warns."""
    origin: str
    """--fail-if, or the project file that has it."""
    offenders: list[FailingRow]


class RankingTotals(msgspec.Struct, frozen=True, kw_only=True):
    """The numbers of reports, kernels and problems in the input."""

    reports: Count
    """Reports that count."""
    units: Count
    kernels: Count
    """The selected kernels."""
    rows: Count
    """Different kernels: equal code of functions of one name counts once."""
    loops: Count
    """Loops of the source: several compilations of the same line count once."""
    left_out: Count
    """Loops that were not analysed."""
    system_loops: Count
    """Loops that come only from system headers, which are not in the reports."""
    unknown: Count
    """Instructions that are missing in the models, in kernels that count."""
    refused: Count
    """Statements that could not be decoded."""
    replaced: Count
    """Reports that a later one of the same file replaces."""
    pending: Count
    """Compilations that still wait for their analysis."""
    without_lines: Count
    """Kernels without a source line, which compiling with -g1 would have provided."""
    models: list[str]
    """The cores, most kernels first."""


class Stale(msgspec.Struct, frozen=True):
    """A report whose source or output has changed since."""

    report: str
    why: str


class Unread(msgspec.Struct, frozen=True):
    """A report that could not be read."""

    report: str
    why: str


class CoreCeilings(msgspec.Struct, frozen=True, kw_only=True):
    """A core's ceilings in the roofline model."""

    model: str
    """The core, by LLVM's -mcpu name."""
    title: str
    ceilings: CeilingsReport


class Ranking(msgspec.Struct, frozen=True, kw_only=True):
    """The kernels of a build, those most worth a look first.

    Times are in cycles of each core's clock, per iteration.
    """

    schema_version: Literal["1.0"]
    tool: Tool
    inputs: list[str]
    totals: RankingTotals
    hotness: Hotness | None
    """Null without profiles."""
    where: str
    """The condition that all rows meet; empty for none."""
    copies_apart: bool
    """True if different codes of a loop of the source have rows of their own."""
    sort: str
    ceilings: list[CoreCeilings] = []
    """The ceilings of the cores; empty if the roofline was not requested."""
    rows: list[RankingRow]
    by: Literal["file", "function", "bottleneck", "hint", ""]
    """The common property of groups."""
    groups: list[RowGroup]
    gates: list[RankingGate]
    stale: list[Stale]
    """Reports that are omitted."""
    stale_shown: bool
    """True if they are in the rows nevertheless."""
    unread: list[Unread]
    notes: list[str]
    """Notes on the ranking, one sentence each."""
