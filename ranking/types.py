"""The types of a ranking, as mypy and readers see them; the JSON schema is made from them (`schema.py`).

At run time a ranking is made of plain dictionaries. Times are in cycles of each core's clock and, where not said
otherwise, per iteration of the kernel.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from incc.report.types import Amount, Count, Location, Positive, Share, Tool


class Whence(msgspec.Struct, frozen=True, kw_only=True):
    """Where one of the kernels of a row comes from."""

    report: Annotated[str, Meta(description="The file of its report, with its line where there are several in it.")]
    source: Annotated[str, Meta(description="The file that was compiled, or that of the assembly.")]
    folder: Annotated[str, Meta(description="The folder that the command ran in; empty where that is not known.")]
    output: Annotated[
        str, Meta(description="The file that the command made of the source, as it names it; empty for none.")
    ]
    kernel_id: str


class Headroom(msgspec.Struct, frozen=True, kw_only=True):
    """How much faster the kernel might be: its prediction beside the best of what was tried."""

    cycles: Annotated[Amount, Meta(description="With the best of it.")]
    gained: Annotated[Amount, Meta(description="Cycles fewer than the prediction.")]
    share: Annotated[Share, Meta(description="The same as a part of the prediction.")]
    by: Annotated[
        Literal["what-if", "bounds", "trial", ""],
        Meta(
            description=(
                "what-if: a changed core; bounds: no change was tried, and without the largest bound the next one "
                "would hold; "
                "trial: the flags of hints, with which it was compiled again; empty where nothing makes the kernel "
                "faster."
            )
        ),
    ]
    change: Annotated[
        str, Meta(description="The change of the core as in the report's what_ifs, the bound, or the flags.")
    ]
    text: Annotated[str, Meta(description="The same in words.")]


class Weight(msgspec.Struct, frozen=True, kw_only=True):
    """How hot the kernel is, by what was given."""

    amount: Annotated[Amount, Meta(description="In the unit of the ranking's hotness.")]
    share: Annotated[Share, Meta(description="Of all that the files tell of.")]
    saved: Annotated[Share, Meta(description="What would be saved with the headroom, as a part of the same.")]
    iterations: Annotated[Amount | None, Meta(description="Iterations of the kernel, where executions were counted.")]
    by: Annotated[
        list[Literal["address", "code", "line", "function"]],
        Meta(
            description=(
                "How it was found: by addresses in the object, by the code that a disassembly shows, by lines of the "
                "source, "
                "or by the function, whose part is divided among its loops."
            )
        ),
    ]


class Row(msgspec.Struct, kw_only=True):
    """Kernels of one function name with the same code on the same core."""

    name: Annotated[str, Meta(description="The function that the loop is written in, as one speaks of it.")]
    function: Annotated[str, Meta(description="The function's symbol.")]
    function_name: Annotated[str, Meta(description="The function as the source writes it.")]
    kernel_id: str
    content_hash: str
    source: Annotated[Location | None, Meta(description="Where the loop is in the user's source.")]
    assembly: Annotated[Location, Meta(description="Where it is in the assembly; line 0 for machine code.")]
    label: str
    model: Annotated[str, Meta(description="The core, by LLVM's -mcpu name.")]
    role: Annotated[str, Meta(description="What part it has in its function; empty for code that is no loop.")]
    depth: Count
    cycles: Amount
    at_least: bool
    least: Annotated[Amount, Meta(description="The fewest cycles that data and places may make of it.")]
    most: Annotated[Amount | None, Meta(description="The most; null where there is no end to be told.")]
    cycles_per_element: Amount | None
    elements: Annotated[Amount | None, Meta(description="Elements of the source's loop an iteration stands for.")]
    limit: Annotated[str, Meta(description="What limits it, in a few words.")]
    limited_by: list[str]
    vector: str
    look: Annotated[str, Meta(description="Why it is worth looking at; empty if not.")]
    verdict: str
    rules: Annotated[list[str], Meta(description="The rules of its hints.")]
    advice: Annotated[list[str], Meta(description="The texts of its hints.")]
    flags: Annotated[list[str], Meta(description="Compiler flags that its hints name.")]
    unknown: Annotated[Count, Meta(description="Instructions that are not in the model.")]
    headroom: Headroom
    weight: Annotated[Weight | None, Meta(description="Null without hotness, and where nothing in it is the kernel's.")]
    copies: Annotated[Positive, Meta(description="How many kernels of the build are this one.")]
    variants: Annotated[
        Positive,
        Meta(description="How many rows of the ranking are the same loop of the source, compiled to other code."),
    ]
    members: Annotated[list[Whence], Meta(description="Where its kernels come from; at most 20.")]


class Group(msgspec.Struct, frozen=True, kw_only=True):
    """Rows with something in common."""

    key: Annotated[
        str, Meta(description="What they have in common: a file, a function, what limits them, the rule of a hint.")
    ]
    rows: Positive
    loops: Annotated[Positive, Meta(description="Loops of the source among them.")]
    headroom: Annotated[
        Share, Meta(description="The headroom of all: of their time with hotness, else the largest of them.")
    ]
    weight: Annotated[Share | None, Meta(description="Their part of the time; null without hotness.")]
    saved: Share | None
    first: Annotated[Count, Meta(description="Which of the rows is the one that is most worth a look.")]


class HotFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file that says how often what runs, or for how long."""

    file: str
    kind: str
    matched: Annotated[Share, Meta(description="Which part of what it tells belongs to rows of the ranking.")]
    text: Annotated[str, Meta(description="What it told, in words.")]


class Hotness(msgspec.Struct, frozen=True, kw_only=True):
    """What weighs the kernels."""

    unit: Annotated[
        Literal["cycles", "samples"],
        Meta(description="cycles: executions times predicted cycles; samples: of a profiler."),
    ]
    total: Annotated[Amount, Meta(description="Of all kernels for cycles; of all that the files tell for samples.")]
    matched: Annotated[Share, Meta(description="Which part of what the files tell belongs to kernels.")]
    files: list[HotFile]
    notes: Annotated[list[str], Meta(description="What a reader must know of it, a sentence each.")]


class Offender(msgspec.Struct, frozen=True):
    """A row for which a condition holds that makes the run fail, or that warns."""

    row: Count
    text: str


class Gate(msgspec.Struct, frozen=True, kw_only=True):
    """A condition on kernels, and those for which it holds."""

    condition: str
    fails: Annotated[bool, Meta(description="Whether it makes the run fail; else it warns.")]
    origin: Annotated[str, Meta(description="--fail-if, or the project file that has it.")]
    offenders: list[Offender]


class Totals(msgspec.Struct, frozen=True, kw_only=True):
    """What was read."""

    reports: Annotated[Count, Meta(description="Reports that count.")]
    units: Count
    kernels: Annotated[Count, Meta(description="Kernels in them that were wanted.")]
    rows: Annotated[Count, Meta(description="Different ones: equal code of functions of one name counts once.")]
    loops: Annotated[Count, Meta(description="Loops of the source: another compilation of the same line counts once.")]
    left_out: Annotated[Count, Meta(description="Loops that were not analysed.")]
    system_loops: Annotated[Count, Meta(description="Loops of system headers alone, which are not in the reports.")]
    unknown: Annotated[Count, Meta(description="Instructions that no model has, in kernels that count.")]
    refused: Annotated[Count, Meta(description="Statements that could not be decoded.")]
    replaced: Annotated[Count, Meta(description="Reports that a later one of the same file replaces.")]
    pending: Annotated[Count, Meta(description="Compilations whose analysis is still to come.")]
    without_lines: Annotated[
        Count,
        Meta(
            description="Kernels of which no line of the source is known, where the compiler's -g1 would have told it."
        ),
    ]
    models: Annotated[list[str], Meta(description="The cores, most kernels first.")]


class Stale(msgspec.Struct, frozen=True):
    """A report of what is not what it was."""

    report: str
    why: str


class Unread(msgspec.Struct, frozen=True):
    """A report that could not be read."""

    report: str
    why: str


class Ranking(msgspec.Struct, frozen=True, kw_only=True):
    """The kernels of a build, what is worth a look first. Times are in cycles of each core's clock, per iteration."""

    schema_version: Literal["1.0"]
    tool: Tool
    inputs: list[str]
    totals: Totals
    hotness: Annotated[Hotness | None, Meta(description="Null where nothing was given by which kernels weigh.")]
    where: Annotated[str, Meta(description="The condition that all rows meet; empty for none.")]
    sort: str
    rows: list[Row]
    by: Annotated[
        Literal["file", "function", "bottleneck", "hint", ""], Meta(description="What groups have in common.")
    ]
    groups: list[Group]
    gates: list[Gate]
    stale: Annotated[list[Stale], Meta(description="Reports that are left out.")]
    stale_shown: Annotated[bool, Meta(description="Whether they are in the rows nevertheless.")]
    unread: list[Unread]
    notes: Annotated[list[str], Meta(description="What a reader must know, a sentence each.")]
