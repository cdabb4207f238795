"""The types of a comparison, as mypy and readers see them; its JSON schema is made from them (`schema.py`).

At run time it is made of plain dictionaries. Sides are numbered from 0 in the order of the command line, the first one
is what the others are compared with. Times are in cycles of the core's clock and per iteration of the kernel where not
said otherwise.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from incc.report.types import (
    Amount,
    BoundName,
    Count,
    Index,
    Instruction,
    Location,
    Resource,
    Share,
    Tool,
)

Number = Annotated[float, Meta(description="May be below 0.")]


class ComparedModel(msgspec.Struct, frozen=True):
    """The machine model of kernels of a side."""

    name: Annotated[str, Meta(description="LLVM's -mcpu name.")]
    title: str
    version: str


class Variant(msgspec.Struct, frozen=True):
    """How a side of a matrix came about: what of it is the same in all sides is empty."""

    compiler: str
    flags: list[str]
    mcpu: str


class Side(msgspec.Struct, frozen=True, kw_only=True):
    """One of the builds that are compared."""

    label: Annotated[str, Meta(description="What it is called: short, and another one than those of the other sides.")]
    input: Annotated[str, Meta(description="What was named on the command line.")]
    compilers: Annotated[list[str], Meta(description="With versions, each once; empty for code that was given.")]
    models: Annotated[list[ComparedModel], Meta(description="Each once.")]
    kernels: Count
    variant: Annotated[Variant | None, Meta(description="Of a matrix; else null.")]
    problem: Annotated[
        str, Meta(description="Why there is nothing of it, such as a compiler's error; empty if there is.")
    ]
    notes: Annotated[list[str], Meta(description="What a reader must know of it, one sentence each.")]


class KernelFigures(msgspec.Struct, frozen=True, kw_only=True):
    """The figures of a kernel, per iteration of the assembly's loop. Null is what is not known."""

    cycles: Amount
    cycles_least: Amount
    cycles_most: Annotated[Amount | None, Meta(description="Null where there is no end.")]
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

    unit: Annotated[str, Meta(description="The source, for code that was given the file of it.")]
    assembly_file: str
    first_line: Annotated[Count, Meta(description="In the assembly.")]
    last_line: Count
    kernel_id: str
    content_hash: str
    function: Annotated[str, Meta(description="The symbol.")]
    function_name: Annotated[str, Meta(description="As the source writes it: C++ names demangled.")]
    source: Location | None
    label: str
    role: Annotated[str, Meta(description="As in a report: main, remainder …; empty for what is no loop.")]
    model: Annotated[str, Meta(description="The core, by its -mcpu name.")]
    figures: KernelFigures
    limited_by: list[BoundName]
    limit: Annotated[str, Meta(description="What limits it, in a few words, as the overview of a report has it.")]
    vector: Annotated[str, Meta(description="How wide its vectors are, as there.")]
    verdict: str
    hints: Annotated[list[str], Meta(description="The rules of its hints.")]
    parts: Annotated[
        list[str],
        Meta(
            description=(
                "The kernel_ids of loops of this side that do the rest of the work: the loop was split. Cycles an "
                "element that "
                "are compared are the sum."
            )
        ),
    ]
    instructions: Annotated[list[Instruction] | None, Meta(description="Null where they were not asked for.")]
    resources: Annotated[
        list[Resource] | None, Meta(description="Ports and units, to which pressure belongs; null like instructions.")
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
    """Something that differs between two kernels and accounts for a difference in cycles."""

    kind: CauseKind
    text: Annotated[str, Meta(description="In a few words, with the cycles: “+2 reloads on the LCD: +8 cycles”.")]
    cycles: Annotated[
        Number | None,
        Meta(
            description="What it adds to the difference, on the change's basis; null where no number can be put to it."
        ),
    ]
    a: Annotated[list[Index], Meta(description="Instructions of the first kernel that it is about.")]
    b: Annotated[list[Index], Meta(description="Of the second.")]
    evidence: dict[str, Any]


class Aligned(msgspec.Struct, frozen=True):
    """A row of two kernels side by side."""

    a: Annotated[Index | None, Meta(description="Null where only b has an instruction.")]
    b: Annotated[Index | None, Meta(description="Null where only a has one.")]
    change: Literal["same", "registers", "operands", "changed", "added", "removed", "moved"]


class Change(msgspec.Struct, kw_only=True):
    """What became of a kernel, relative to that of the row's base side."""

    matched_by: Annotated[
        Literal["content", "identity", "function", "similarity"],
        Meta(
            description=(
                "content: the same code; identity: the same loop of the same function; function: another loop of the "
                "same "
                "function; similarity: of another function."
            )
        ),
    ]
    confidence: Annotated[Share, Meta(description="How sure it is that they are the same loop of the source.")]
    outcome: Annotated[
        Literal["same", "moved", "equal", "faster", "slower", "unknown"],
        Meta(
            description=(
                "same: code and figures are; moved: so they are, at another place or under another name; equal: other "
                "code as "
                "fast; unknown: what they do cannot be compared."
            )
        ),
    ]
    basis: Annotated[
        Literal["element", "work", "iteration", ""],
        Meta(
            description=(
                "What cycles are compared of. element: of the source's loop; work: as much work as an iteration does "
                "of the "
                "one that does more; iteration: of the assembly's loop, which does the same in both; empty where they "
                "cannot "
                "be compared."
            )
        ),
    ]
    work: Annotated[
        Amount | None, Meta(description="How many times as much an iteration of b does as one of a; null if not known.")
    ]
    scale_a: Annotated[
        Amount | None,
        Meta(
            description="What figures of an iteration of a are multiplied by to be on that basis; null if there is "
            "none."
        ),
    ]
    scale_b: Amount | None
    cycles_a: Annotated[Amount | None, Meta(description="Cycles on that basis.")]
    cycles_b: Amount | None
    ratio: Annotated[Amount | None, Meta(description="cycles_b over cycles_a: below 1 is faster; null if not known.")]
    text: Annotated[str, Meta(description="The change in one sentence.")]
    causes: Annotated[list[Cause], Meta(description="What accounts for it, what matters most first.")]
    alignment: Annotated[list[Aligned] | None, Meta(description="Null where it was not asked for.")]


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """Kernels of the sides that are one loop of the source."""

    name: Annotated[str, Meta(description="The function as one speaks of it; with the core where a side has several.")]
    source: Annotated[Location | None, Meta(description="Where it is, in the last side that says so.")]
    members: Annotated[list[Member | None], Meta(description="By side; null where it has none.")]
    base: Annotated[
        Annotated[int, Meta(ge=0)],
        Meta(description="The side that the others are compared with: the first that has it."),
    ]
    changes: Annotated[list[Change | None], Meta(description="By side; null for the base and for sides without it.")]
    best: Annotated[
        list[Count],
        Meta(description="The sides with the fewest cycles on a common basis; empty where that is not known."),
    ]
    weight: Annotated[Amount, Meta(description="How much the row matters: rows come in falling order of it.")]


class Offender(msgspec.Struct, frozen=True):
    """A kernel for which the condition of --fail-if holds."""

    row: Annotated[Count, Meta(description="Of the rows.")]
    side: Count
    text: Annotated[str, Meta(description="What is wrong, in one sentence with the figures that the condition names.")]


class Gate(msgspec.Struct, frozen=True):
    """What --fail-if found."""

    condition: str
    offenders: list[Offender]


class Totals(msgspec.Struct, frozen=True, kw_only=True):
    """Pairs with the base side by their outcome, of one side."""

    same: Count
    moved: Count
    equal: Count
    faster: Count
    slower: Count
    unknown: Count
    only_a: Annotated[Count, Meta(description="Kernels of the first side without one here.")]
    only_b: Annotated[Count, Meta(description="Kernels of this side that no earlier one has.")]
    speedup: Annotated[
        Amount | None,
        Meta(
            description="Geometric mean of the ratios, of all whose ratio is known; below 1 is faster; null for none."
        ),
    ]


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """Kernels of several builds and what became of them."""

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
    where: Annotated[str, Meta(description="The condition that chose among the rows; empty for all.")]
    rows: list[Row]
    gate: Annotated[Gate | None, Meta(description="Null where there was no --fail-if.")]
    notes: Annotated[list[str], Meta(description="What a reader must know, one sentence each.")]
