"""The types of a comparison; its JSON schema is made from them (`views/schemas.py`).

Sides are numbered from 0 in the order of the command line; the others are compared with the first one. Times are in
cycles of the core's clock and per iteration of the kernel, unless stated otherwise.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from incc.frontends.kernel import SourceLocation
from incc.report.types import BoundName, InstructionReport, ResourceReport, Tool
from incc.support.quantities import Amount, Count, Index, Share

Number = Annotated[float, Meta(description="May be below 0.")]


class ComparedModel(msgspec.Struct, frozen=True):
    """The machine model of kernels of a side."""

    name: str
    """LLVM's -mcpu name."""
    title: str
    version: str


class SideVariant(msgspec.Struct, frozen=True):
    """The settings of a side of a matrix; a setting that all sides share is empty."""

    compiler: str
    flags: list[str]
    mcpu: str


class Side(msgspec.Struct, frozen=True, kw_only=True):
    """One of the builds that are compared."""

    label: str
    """A short name, different from those of the other sides."""
    input: str
    """The input as named on the command line."""
    compilers: list[str]
    """The compilers with versions, each once; empty for uncompiled code."""
    models: list[ComparedModel]
    """Each once."""
    kernels: Count
    variant: SideVariant | None
    """The settings of a side of a matrix; otherwise null."""
    problem: str
    """Why there are no kernels, such as a compiler's error; empty if there are."""
    notes: list[str]
    """Notes on the side, one sentence each."""


class KernelFigures(msgspec.Struct, frozen=True, kw_only=True):
    """The figures of a kernel, per iteration of the assembly's loop. Null stands for an unknown value."""

    cycles: Amount
    cycles_least: Amount
    cycles_most: Amount | None
    """Null where there is no upper limit."""
    at_least: bool
    """Something is not counted."""
    elements: Amount | None
    """Elements of the source's loop that an iteration stands for."""
    cycles_per_element: Amount | None
    port: Amount
    divider: Amount
    front_end: Amount
    retire: Amount
    loop_carried: Amount
    critical_path: Amount
    instructions: Count
    uops: Count
    """As the front end issues them."""
    port_uops: Count
    """As ports execute them."""
    bytes: Count
    """Bytes of code."""
    vector_bits: Count
    """The widest packed arithmetic or, where there is none, move; 0 for scalar code."""
    packed_share: Share | None
    loads: Count
    """Instructions that load."""
    stores: Count
    """Instructions that store."""
    spills: Count
    """Stores to fixed places of the function's stack frame."""
    reloads: Count
    """Loads from fixed places of the function's stack frame."""
    bytes_loaded: Count
    bytes_stored: Count
    flop: Count


class RowMember(msgspec.Struct, frozen=True, kw_only=True):
    """A kernel of one side."""

    unit: str
    """The source; for code that was not compiled, its file."""
    assembly_file: str
    first_line: Count
    """In the assembly."""
    last_line: Count
    kernel_id: str
    content_hash: str
    function: str
    """The symbol."""
    function_name: str
    """As the source writes it: C++ names demangled."""
    source: SourceLocation | None
    label: str
    role: str
    """As in a report: main, remainder …; empty for code that is no loop."""
    model: str
    """The core, by its -mcpu name."""
    figures: KernelFigures
    limited_by: list[BoundName]
    limit: str
    """The limit in a few words, as in the overview of a report."""
    vector: str
    """The width of its vectors, as there."""
    verdict: str
    hints: list[str]
    """The rules of its hints."""
    parts: list[str]
    """The kernel_ids of loops of this side that do the rest of the work, because the loop was split. The compared
    cycles per element are the sum."""
    instructions: list[InstructionReport] | None
    """Null where not requested."""
    resources: list[ResourceReport] | None
    """The ports and units of pressure; null like instructions."""


CauseKind = Literal[
    "core",
    "vector-width",
    "vectorised",
    "unrolled",
    "chain",
    "chain-memory",
    "ports",
    "divider",
    "front-end",
    "retirement",
    "pipeline",
    "spills",
    "alignment",
    "branches",
    "calls",
    "transfers",
    "unknown-instructions",
    "work",
]


class Cause(msgspec.Struct, frozen=True, kw_only=True):
    """A difference between two kernels that accounts for a difference in cycles."""

    kind: CauseKind
    text: str
    """In a few words, with the cycles: “+2 reloads on the LCD: +8 cycles”."""
    cycles: Number | None
    """The share of the difference, on the change's basis; null where there is no number."""
    a: list[Index]
    """The instructions of the first kernel that cause it."""
    b: list[Index]
    """Those of the second kernel."""
    evidence: dict[str, Any]


class Aligned(msgspec.Struct, frozen=True):
    """A row of two kernels side by side."""

    a: Index | None
    """Null where only b has an instruction."""
    b: Index | None
    """Null where only a has one."""
    change: Literal["same", "registers", "operands", "changed", "added", "removed", "moved"]


class KernelChange(msgspec.Struct, kw_only=True):
    """The change of a kernel, relative to that of the row's base side."""

    matched_by: Literal["content", "identity", "function", "similarity"]
    """content: the same code; identity: the same loop of the same function; function: another loop of the same
    function; similarity: a loop of another function."""
    confidence: Share
    """The probability that they are the same loop of the source."""
    outcome: Literal["same", "moved", "equal", "faster", "slower", "unknown"]
    """same: equal code and figures; moved: the same, at another place or under another name; equal: other code, equal
    cycles; unknown: their work cannot be compared."""
    basis: Literal["element", "work", "iteration", ""]
    """The unit whose cycles are compared. element: of the source's loop; work: as much work as an iteration of the
    kernel that does more; iteration: of the assembly's loop, which does the same in both; empty where they cannot be
    compared."""
    work: Amount | None
    """The work of an iteration of b relative to one of a; null if unknown."""
    scale_a: Amount | None
    """The factor that brings figures of an iteration of a to that basis; null if there is none."""
    scale_b: Amount | None
    cycles_a: Amount | None
    """Cycles on that basis."""
    cycles_b: Amount | None
    ratio: Amount | None
    """cycles_b over cycles_a: below 1 is faster; null if unknown."""
    text: str
    """The change in one sentence."""
    causes: list[Cause]
    """The causes of the difference, the most important first."""
    alignment: list[Aligned] | None
    """Null where not requested."""


class ComparisonRow(msgspec.Struct, frozen=True, kw_only=True):
    """Kernels of the sides that are one loop of the source."""

    name: str
    """The function's short name; with the core where a side has several."""
    source: SourceLocation | None
    """Its place, in the last side that has one."""
    members: list[RowMember | None]
    """By side; null where it has none."""
    base: Annotated[int, Meta(ge=0)]
    """The side that the others are compared with: the first that has it."""
    changes: list[KernelChange | None]
    """By side; null for the base and for sides without it."""
    best: list[Count]
    """The sides with the fewest cycles on a common basis; empty where that is unknown."""
    weight: Amount
    """The importance of the row: rows come in falling order of it."""


class FailingKernel(msgspec.Struct, frozen=True):
    """A kernel for which the condition of --fail-if holds."""

    row: Count
    """The index of the row."""
    side: Count
    text: str
    """The violation, in one sentence with the figures that the condition names."""


class ComparisonGate(msgspec.Struct, frozen=True):
    """The result of --fail-if."""

    condition: str
    offenders: list[FailingKernel]


class PairTotals(msgspec.Struct, frozen=True, kw_only=True):
    """The pairs of one side with the base side, counted by outcome."""

    same: Count
    moved: Count
    equal: Count
    faster: Count
    slower: Count
    unknown: Count
    only_a: Count
    """Kernels of the first side without a counterpart here."""
    only_b: Count
    """Kernels of this side that no earlier one has."""
    speedup: Amount | None
    """Geometric mean of the known ratios; below 1 is faster; null for none."""


class ComparisonReport(msgspec.Struct, frozen=True, kw_only=True):
    """The kernels of several builds and their changes."""

    schema_version: Literal["1.0"]
    """The first number changes when a reader of the old format would misread the new one, the second with every
    addition."""
    tool: Tool
    sides: Annotated[list[Side], Meta(min_length=2)]
    totals: list[PairTotals | None]
    """By side; null for the first."""
    where: str
    """The condition that selected the rows; empty for all."""
    rows: list[ComparisonRow]
    gate: ComparisonGate | None
    """Null where there was no --fail-if."""
    notes: list[str]
    """Notes on the comparison, one sentence each."""
