"""The types of a ranking; its JSON schema is made from them (`views/schemas.py`).

Times are in cycles of each core's clock and, unless stated otherwise, per iteration of the kernel.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from incc.frontends.kernel import SourceLocation
from incc.report.types import Tool
from incc.support.quantities import Amount, Count, Positive, Share


class Whence(msgspec.Struct, frozen=True, kw_only=True):
    """The origin of one of the kernels of a row."""

    report: Annotated[str, Meta(description="The file of its report, with the line if the file has several.")]
    source: Annotated[str, Meta(description="The file that was compiled, or the assembly file.")]
    folder: Annotated[str, Meta(description="The folder that the command ran in; empty where that is unknown.")]
    output: Annotated[
        str, Meta(description="The file that the command made of the source, as it names it; empty for none.")
    ]
    kernel_id: str


class Headroom(msgspec.Struct, frozen=True, kw_only=True):
    """The possible gain of the kernel: its prediction compared with the best change that was tried."""

    cycles: Annotated[Amount, Meta(description="Cycles with the best change.")]
    gained: Annotated[Amount, Meta(description="Cycles fewer than the prediction.")]
    share: Annotated[Share, Meta(description="The gain as a share of the prediction.")]
    by: Annotated[
        Literal["what-if", "bounds", "trial", ""],
        Meta(
            description=(
                "what-if: a changed core; bounds: no change was tried, and without the largest bound the next one "
                "would apply; trial: the flags of hints, with which the code was compiled again; empty where nothing "
                "makes the kernel faster."
            )
        ),
    ]
    change: Annotated[
        str, Meta(description="The change of the core as in the report's what_ifs, the bound, or the flags.")
    ]
    text: Annotated[str, Meta(description="The change in words.")]


class Weight(msgspec.Struct, frozen=True, kw_only=True):
    """The weight of a kernel, from profiles."""

    amount: Annotated[Amount, Meta(description="In the unit of the ranking's hotness.")]
    share: Annotated[Share, Meta(description="The share of everything in the profiles.")]
    saved: Annotated[Share, Meta(description="The share that the headroom would save.")]
    iterations: Annotated[Amount | None, Meta(description="Iterations of the kernel, where executions were counted.")]
    by: Annotated[
        list[Literal["address", "code", "line", "function"]],
        Meta(
            description=(
                "The ways in which it was located: by addresses in the object, by the code in a disassembly, by source "
                "lines, or by the function, whose amount is divided among its loops."
            )
        ),
    ]


class Row(msgspec.Struct, kw_only=True):
    """Kernels of one function name with the same code on the same core."""

    name: Annotated[str, Meta(description="The short name of the function that the loop is written in.")]
    function: Annotated[str, Meta(description="The function's symbol.")]
    function_name: Annotated[str, Meta(description="The function as the source writes it.")]
    kernel_id: str
    content_hash: str
    source: Annotated[SourceLocation | None, Meta(description="The loop's place in the user's source.")]
    assembly: Annotated[SourceLocation, Meta(description="The loop's place in the assembly; line 0 for machine code.")]
    label: str
    model: Annotated[str, Meta(description="The core, by LLVM's -mcpu name.")]
    role: Annotated[str, Meta(description="Its role in its function; empty for code that is no loop.")]
    depth: Count
    cycles: Amount
    at_least: bool
    least: Annotated[Amount, Meta(description="The fewest cycles, depending on data and alignment.")]
    most: Annotated[Amount | None, Meta(description="The most cycles; null where there is no upper limit.")]
    cycles_per_element: Amount | None
    elements: Annotated[Amount | None, Meta(description="Elements of the source's loop an iteration stands for.")]
    limit: Annotated[str, Meta(description="The limit, in a few words.")]
    limited_by: list[str]
    vector: str
    look: Annotated[str, Meta(description="The reason to look at it; empty for none.")]
    verdict: str
    rules: Annotated[list[str], Meta(description="The rules of its hints.")]
    advice: Annotated[list[str], Meta(description="The texts of its hints.")]
    flags: Annotated[list[str], Meta(description="Compiler flags that its hints name.")]
    unknown: Annotated[Count, Meta(description="Instructions that are not in the model.")]
    headroom: Headroom
    weight: Annotated[
        Weight | None, Meta(description="Null without profiles, and where they have nothing of the kernel.")
    ]
    copies: Annotated[Positive, Meta(description="The number of the build's kernels in this row.")]
    variants: Annotated[
        Positive,
        Meta(description="The number of rows that are the same loop of the source, compiled to different code."),
    ]
    members: Annotated[list[Whence], Meta(description="The origins of its kernels; at most 20.")]


class Group(msgspec.Struct, frozen=True, kw_only=True):
    """Rows with something in common."""

    key: Annotated[str, Meta(description="The common property: a file, a function, a limit, or the rule of a hint.")]
    rows: Positive
    loops: Annotated[Positive, Meta(description="The number of source loops among them.")]
    headroom: Annotated[
        Share, Meta(description="The common headroom: of their time with profiles, otherwise the largest of them.")
    ]
    weight: Annotated[Share | None, Meta(description="Their share of the time; null without profiles.")]
    saved: Share | None
    first: Annotated[Count, Meta(description="The index of the row that is most worth a look.")]


class HotFile(msgspec.Struct, frozen=True, kw_only=True):
    """A profile: a file of execution counts or samples."""

    file: str
    kind: str
    matched: Annotated[Share, Meta(description="The share of its contents that belongs to rows of the ranking.")]
    text: Annotated[str, Meta(description="A description of its contents.")]


class Hotness(msgspec.Struct, frozen=True, kw_only=True):
    """The profiles that weigh the kernels."""

    unit: Annotated[
        Literal["cycles", "samples"],
        Meta(description="cycles: executions times predicted cycles; samples: of a profiler."),
    ]
    total: Annotated[
        Amount, Meta(description="The sum over all kernels for cycles; over the whole profiles for samples.")
    ]
    matched: Annotated[Share, Meta(description="The share of the profiles that belongs to kernels.")]
    files: list[HotFile]
    notes: Annotated[list[str], Meta(description="Notes on the profiles, one sentence each.")]


class Offender(msgspec.Struct, frozen=True):
    """A row for which a condition holds that makes the run fail, or that warns."""

    row: Count
    text: str


class Gate(msgspec.Struct, frozen=True, kw_only=True):
    """A condition on kernels, and those for which it holds."""

    condition: str
    fails: Annotated[bool, Meta(description="True if it makes the run fail; otherwise it warns.")]
    origin: Annotated[str, Meta(description="--fail-if, or the project file that has it.")]
    offenders: list[Offender]


class Totals(msgspec.Struct, frozen=True, kw_only=True):
    """The numbers of reports, kernels and problems in the input."""

    reports: Annotated[Count, Meta(description="Reports that count.")]
    units: Count
    kernels: Annotated[Count, Meta(description="The selected kernels.")]
    rows: Annotated[Count, Meta(description="Different kernels: equal code of functions of one name counts once.")]
    loops: Annotated[Count, Meta(description="Loops of the source: several compilations of the same line count once.")]
    left_out: Annotated[Count, Meta(description="Loops that were not analysed.")]
    system_loops: Annotated[
        Count, Meta(description="Loops that come only from system headers, which are not in the reports.")
    ]
    unknown: Annotated[Count, Meta(description="Instructions that are missing in the models, in kernels that count.")]
    refused: Annotated[Count, Meta(description="Statements that could not be decoded.")]
    replaced: Annotated[Count, Meta(description="Reports that a later one of the same file replaces.")]
    pending: Annotated[Count, Meta(description="Compilations that still wait for their analysis.")]
    without_lines: Annotated[
        Count,
        Meta(description="Kernels without a source line, which compiling with -g1 would have provided."),
    ]
    models: Annotated[list[str], Meta(description="The cores, most kernels first.")]


class Stale(msgspec.Struct, frozen=True):
    """A report whose source or output has changed since."""

    report: str
    why: str


class Unread(msgspec.Struct, frozen=True):
    """A report that could not be read."""

    report: str
    why: str


class Ranking(msgspec.Struct, frozen=True, kw_only=True):
    """The kernels of a build, those most worth a look first.

    Times are in cycles of each core's clock, per iteration.
    """

    schema_version: Literal["1.0"]
    tool: Tool
    inputs: list[str]
    totals: Totals
    hotness: Annotated[Hotness | None, Meta(description="Null without profiles.")]
    where: Annotated[str, Meta(description="The condition that all rows meet; empty for none.")]
    sort: str
    rows: list[Row]
    by: Annotated[
        Literal["file", "function", "bottleneck", "hint", ""], Meta(description="The common property of groups.")
    ]
    groups: list[Group]
    gates: list[Gate]
    stale: Annotated[list[Stale], Meta(description="Reports that are omitted.")]
    stale_shown: Annotated[bool, Meta(description="True if they are in the rows nevertheless.")]
    unread: list[Unread]
    notes: Annotated[list[str], Meta(description="Notes on the ranking, one sentence each.")]
