"""The types of a comparison; its JSON schema is made from them (`views/schemas.py`).

Sides are numbered from 0 in the order of the command line; the others are compared with the first one. Times are in
cycles of the core's clock and per iteration of the kernel, unless stated otherwise.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from incc.frontends.kernel import SourceLocation
from incc.report.types import BoundName, Instruction, Resource, Tool
from incc.support.quantities import Amount, Count, Index, Share

Number = Annotated[float, Meta(description="May be below 0.")]


class ComparedModel(msgspec.Struct, frozen=True):
    """The machine model of kernels of a side."""

    name: Annotated[str, Meta(description="LLVM's -mcpu name.")]
    title: str
    version: str


class Variant(msgspec.Struct, frozen=True):
    """The settings of a side of a matrix; a setting that all sides share is empty."""

    compiler: str
    flags: list[str]
    mcpu: str


class Side(msgspec.Struct, frozen=True, kw_only=True):
    """One of the builds that are compared."""

    label: Annotated[str, Meta(description="A short name, different from those of the other sides.")]
    input: Annotated[str, Meta(description="The input as named on the command line.")]
    compilers: Annotated[list[str], Meta(description="With versions, each once; empty for code that was not compiled.")]
    models: Annotated[list[ComparedModel], Meta(description="Each once.")]
    kernels: Count
    variant: Annotated[Variant | None, Meta(description="The settings of a side of a matrix; otherwise null.")]
    problem: Annotated[
        str, Meta(description="Why there are no kernels, such as a compiler's error; empty if there are.")
    ]
    notes: Annotated[list[str], Meta(description="Notes on the side, one sentence each.")]


class KernelFigures(msgspec.Struct, frozen=True, kw_only=True):
    """The figures of a kernel, per iteration of the assembly's loop. Null stands for an unknown value."""

    cycles: Amount
    cycles_least: Amount
    cycles_most: Annotated[Amount | None, Meta(description="Null where there is no upper limit.")]
    at_least: Annotated[bool, Meta(description="Something is not counted.")]
    elements: Annotated[Amount | None, Meta(description="Elements of the source's loop that an iteration stands for.")]
    cycles_per_element: Amount | None
    port: Amount
    divider: Amount
    front_end: Amount
    retire: Amount
    loop_carried: Amount
    critical_path: Amount
    instructions: Count
    uops: Annotated[Count, Meta(description="As the front end issues them.")]
    port_uops: Annotated[Count, Meta(description="As ports execute them.")]
    bytes: Annotated[Count, Meta(description="Of code.")]
    vector_bits: Annotated[
        Count, Meta(description="The widest packed arithmetic or, where there is none, move; 0 for scalar code.")
    ]
    packed_share: Share | None
    loads: Annotated[Count, Meta(description="Instructions that load.")]
    stores: Annotated[Count, Meta(description="Instructions that store.")]
    spills: Annotated[Count, Meta(description="Stores to fixed places of the function's stack frame.")]
    reloads: Annotated[Count, Meta(description="Loads from fixed places of the function's stack frame.")]
    bytes_loaded: Count
    bytes_stored: Count
    flop: Count


Figures = KernelFigures  # a report has a type of that name already, and the schema knows types by their names


class Member(msgspec.Struct, frozen=True, kw_only=True):
    """A kernel of one side."""

    unit: Annotated[str, Meta(description="The source; for code that was not compiled, its file.")]
    assembly_file: str
    first_line: Annotated[Count, Meta(description="In the assembly.")]
    last_line: Count
    kernel_id: str
    content_hash: str
    function: Annotated[str, Meta(description="The symbol.")]
    function_name: Annotated[str, Meta(description="As the source writes it: C++ names demangled.")]
    source: SourceLocation | None
    label: str
    role: Annotated[str, Meta(description="As in a report: main, remainder …; empty for code that is no loop.")]
    model: Annotated[str, Meta(description="The core, by its -mcpu name.")]
    figures: KernelFigures
    limited_by: list[BoundName]
    limit: Annotated[str, Meta(description="What limits it, in a few words, as the overview of a report has it.")]
    vector: Annotated[str, Meta(description="The width of its vectors, as there.")]
    verdict: str
    hints: Annotated[list[str], Meta(description="The rules of its hints.")]
    parts: Annotated[
        list[str],
        Meta(
            description=(
                "The kernel_ids of loops of this side that do the rest of the work, because the loop was split. "
                "The compared cycles per element are the sum."
            )
        ),
    ]
    instructions: Annotated[list[Instruction] | None, Meta(description="Null where not requested.")]
    resources: Annotated[
        list[Resource] | None, Meta(description="The ports and units of pressure; null like instructions.")
    ]


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
    "unknown-instructions",
    "work",
]


class Cause(msgspec.Struct, frozen=True, kw_only=True):
    """A difference between two kernels that accounts for a difference in cycles."""

    kind: CauseKind
    text: Annotated[str, Meta(description="In a few words, with the cycles: “+2 reloads on the LCD: +8 cycles”.")]
    cycles: Annotated[
        Number | None,
        Meta(description="The share of the difference, on the change's basis; null where there is no number."),
    ]
    a: Annotated[list[Index], Meta(description="The instructions of the first kernel that cause it.")]
    b: Annotated[list[Index], Meta(description="Those of the second kernel.")]
    evidence: dict[str, Any]


class Aligned(msgspec.Struct, frozen=True):
    """A row of two kernels side by side."""

    a: Annotated[Index | None, Meta(description="Null where only b has an instruction.")]
    b: Annotated[Index | None, Meta(description="Null where only a has one.")]
    change: Literal["same", "registers", "operands", "changed", "added", "removed", "moved"]


class Change(msgspec.Struct, kw_only=True):
    """The change of a kernel, relative to that of the row's base side."""

    matched_by: Annotated[
        Literal["content", "identity", "function", "similarity"],
        Meta(
            description=(
                "content: the same code; identity: the same loop of the same function; function: another loop of the "
                "same function; similarity: a loop of another function."
            )
        ),
    ]
    confidence: Annotated[Share, Meta(description="The probability that they are the same loop of the source.")]
    outcome: Annotated[
        Literal["same", "moved", "equal", "faster", "slower", "unknown"],
        Meta(
            description=(
                "same: equal code and figures; moved: the same, at another place or under another name; equal: other "
                "code, equal cycles; unknown: their work cannot be compared."
            )
        ),
    ]
    basis: Annotated[
        Literal["element", "work", "iteration", ""],
        Meta(
            description=(
                "The unit whose cycles are compared. element: of the source's loop; work: as much work as an "
                "iteration of the kernel that does more; iteration: of the assembly's loop, which does the same in "
                "both; empty where they cannot be compared."
            )
        ),
    ]
    work: Annotated[
        Amount | None, Meta(description="How many times as much an iteration of b does as one of a; null if unknown.")
    ]
    scale_a: Annotated[
        Amount | None,
        Meta(description="The factor that brings figures of an iteration of a to that basis; null if there is none."),
    ]
    scale_b: Amount | None
    cycles_a: Annotated[Amount | None, Meta(description="Cycles on that basis.")]
    cycles_b: Amount | None
    ratio: Annotated[Amount | None, Meta(description="cycles_b over cycles_a: below 1 is faster; null if unknown.")]
    text: Annotated[str, Meta(description="The change in one sentence.")]
    causes: Annotated[list[Cause], Meta(description="The causes of the difference, the most important first.")]
    alignment: Annotated[list[Aligned] | None, Meta(description="Null where not requested.")]


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """Kernels of the sides that are one loop of the source."""

    name: Annotated[str, Meta(description="The function's short name; with the core where a side has several.")]
    source: Annotated[SourceLocation | None, Meta(description="Its place, in the last side that has one.")]
    members: Annotated[list[Member | None], Meta(description="By side; null where it has none.")]
    base: Annotated[
        Annotated[int, Meta(ge=0)],
        Meta(description="The side that the others are compared with: the first that has it."),
    ]
    changes: Annotated[list[Change | None], Meta(description="By side; null for the base and for sides without it.")]
    best: Annotated[
        list[Count],
        Meta(description="The sides with the fewest cycles on a common basis; empty where that is unknown."),
    ]
    weight: Annotated[Amount, Meta(description="The importance of the row: rows come in falling order of it.")]


class Offender(msgspec.Struct, frozen=True):
    """A kernel for which the condition of --fail-if holds."""

    row: Annotated[Count, Meta(description="The index of the row.")]
    side: Count
    text: Annotated[str, Meta(description="The violation, in one sentence with the figures that the condition names.")]


class Gate(msgspec.Struct, frozen=True):
    """The result of --fail-if."""

    condition: str
    offenders: list[Offender]


class Totals(msgspec.Struct, frozen=True, kw_only=True):
    """The pairs of one side with the base side, counted by outcome."""

    same: Count
    moved: Count
    equal: Count
    faster: Count
    slower: Count
    unknown: Count
    only_a: Annotated[Count, Meta(description="Kernels of the first side without a counterpart here.")]
    only_b: Annotated[Count, Meta(description="Kernels of this side that no earlier one has.")]
    speedup: Annotated[
        Amount | None,
        Meta(description="Geometric mean of the known ratios; below 1 is faster; null for none."),
    ]


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """The kernels of several builds and their changes."""

    schema_version: Annotated[
        Literal["1.0"],
        Meta(
            description=(
                "The first number changes when a reader of the old format would misread the new one, the second with "
                "every "
                "addition."
            )
        ),
    ]
    tool: Tool
    sides: Annotated[list[Side], Meta(min_length=2)]
    totals: Annotated[list[Totals | None], Meta(description="By side; null for the first.")]
    where: Annotated[str, Meta(description="The condition that selected the rows; empty for all.")]
    rows: list[Row]
    gate: Annotated[Gate | None, Meta(description="Null where there was no --fail-if.")]
    notes: Annotated[list[str], Meta(description="Notes on the comparison, one sentence each.")]
