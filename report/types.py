"""The types of a report, as mypy and readers see them; the JSON schema is made from them (`schema.py`).

At run time a report is made of plain dictionaries: nothing here is imported but by tools. Times are in cycles of the
core's clock and, where not said otherwise, per iteration of the kernel. Instructions are numbered from 0 within their
kernel, lines from 1; line 0 means that there is none.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

Count = Annotated[int, Meta(ge=0)]
Positive = Annotated[int, Meta(ge=1)]
Amount = Annotated[float, Meta(ge=0)]
Share = Annotated[float, Meta(ge=0, le=1)]
Exact = Annotated[str, Meta(pattern="^[0-9]+(/[0-9]+)?$", description="A fraction, or a whole number.")]
Index = Annotated[int, Meta(ge=0, description="An instruction of the kernel.")]

BoundName = Literal["port", "divider", "front_end", "retire", "loop_carried"]
UopKindName = Literal["load", "store-address", "store-data", "compute", "branch", "renamer"]


class Location(msgspec.Struct, frozen=True):
    """A place in the user's source."""

    file: str
    line: Count


class Ratio(msgspec.Struct, frozen=True):
    """A duration in cycles, as a number and exactly."""

    cycles: Amount
    exact: Exact


class Bound(msgspec.Struct, frozen=True):
    """A lower bound in cycles per iteration and what makes it."""

    cycles: Amount
    exact: Exact
    by: Annotated[str, Meta(description="In words; empty where there is nothing.")]


class RefusedStatement(msgspec.Struct, frozen=True):
    """A statement that could not be decoded: it is missing in instructions."""

    line: Count
    text: str
    message: str


class Model(msgspec.Struct, frozen=True, kw_only=True):
    """The machine model."""

    name: Annotated[str, Meta(description="LLVM's -mcpu name.")]
    title: str
    version: str
    isa: str
    chosen_by: Annotated[str, Meta(description="What named the core.")]
    note: Annotated[
        str, Meta(description='Where the model is not that of the core that was named: which it is, and why; else "".')
    ]


class CorePart(msgspec.Struct, frozen=True):
    """A part of the core before its ports."""

    stage: Literal["front end", "rename", "window", "memory"]
    name: str
    text: Annotated[str, Meta(description="What the model says of it, in words.")]


class CoreScheduler(msgspec.Struct, frozen=True):
    """Entries in which µops wait for some of the ports."""

    ports: list[str]
    entries: Count
    kind: Annotated[
        Literal["scheduler", "queue"],
        Meta(description="queue: before the schedulers of these ports, which µops leave in order."),
    ]


class CoreWork(msgspec.Struct, frozen=True, kw_only=True):
    """A kind of work, by the model's figures for instructions that do it and little else."""

    name: str
    bits: Annotated[
        list[Count], Meta(description="The widths of vectors for which this holds; empty where there are none.")
    ]
    ports: Annotated[list[str], Meta(description="Those that some of its µops can use.")]
    uops: Annotated[Count, Meta(description="On ports.")]
    latency: Annotated[list[Count], Meta(description="The least and the greatest; empty where there is none.")]
    rthroughput: Annotated[Amount | None, Meta(description="Cycles between two; null for a part of an instruction.")]
    unit: Annotated[str | None, Meta(description="Another unit that it takes, such as the divider.")]
    unit_cycles: Annotated[Count, Meta(description="For so long.")]


class Core(msgspec.Struct, frozen=True, kw_only=True):
    """The core as its model has it: what the model does not say is not there."""

    title: str
    model: Annotated[str, Meta(description="LLVM's -mcpu name.")]
    issue_width: Annotated[Count, Meta(description="Fused µops a cycle.")]
    retire_width: Annotated[Count, Meta(description="Likewise.")]
    parts: list[CorePart]
    schedulers: Annotated[list[CoreScheduler], Meta(description="Empty where µops start in program order.")]
    ports: list[str]
    units: Annotated[list[str], Meta(description="What else an instruction may take for itself.")]
    work: list[CoreWork]


class LeftOut(msgspec.Struct, frozen=True, kw_only=True):
    """A loop or marked span that is not analysed."""

    first_line: Count
    last_line: Count
    function: str
    label: str
    reason: str


class Expectation(msgspec.Struct, frozen=True, kw_only=True):
    """What a mark in the source expects of a kernel, and whether it is so."""

    condition: Annotated[str, Meta(description="In the language of docs/filters.md.")]
    kernel_id: Annotated[str, Meta(description="Of the kernel that it was asked of.")]
    holds: Annotated[bool | None, Meta(description="Null where the kernel does not tell.")]
    text: Annotated[str, Meta(description="What is predicted and what was expected; empty where it holds.")]


class Mark(msgspec.Struct, frozen=True, kw_only=True):
    """A mark in the source: what is to be analysed there, and what is expected of it."""

    source: Annotated[Location, Meta(description="The mark's line.")]
    column: Annotated[Count, Meta(description="Of the mark in its line; 0 where it is not known.")]
    at: Annotated[Location, Meta(description="The first line of the statement that it marks.")]
    at_column: Annotated[Count, Meta(description="Of the statement's first character; 0 where it is not known.")]
    last_line: Annotated[Count, Meta(description="Of that statement, or function.")]
    name: Annotated[str, Meta(description="What it calls the kernel; empty for nothing.")]
    mcpu: Annotated[list[str], Meta(description="The cores that it names; none for that of the unit.")]
    kernels: Annotated[list[str], Meta(description="The kernel_id of the unit's kernels that are marked.")]
    expectations: list[Expectation]


class MarkProblem(msgspec.Struct, frozen=True, kw_only=True):
    """A mark that cannot be understood, or of which there is nothing in the code."""

    source: Location
    column: Count
    text: str
    end_column: Annotated[Count, Meta(description="Behind what is meant, if that is known, else 0.")]
    fix: Annotated[
        str | None,
        Meta(description="What to write instead of it, to insert where it ends where it begins; null for no advice."),
    ]


class BecameCall(msgspec.Struct, kw_only=True):
    """A call of a library function that compilers put in the place of loops (and users write)."""

    function: Annotated[str, Meta(description="The symbol of the function with the call.")]
    function_name: Annotated[str, Meta(description="The function as the source writes it: C++ names demangled.")]
    callee: str
    line: Annotated[Positive, Meta(description="In the assembly.")]
    source: Annotated[Location | None, Meta(description="The user's line, from debug information.")]


class NotFound(msgspec.Struct, frozen=True, kw_only=True):
    """A function that was asked for by name and of which nothing is analysed."""

    asked: Annotated[str, Meta(description="The name, as it was given.")]
    text: Annotated[str, Meta(description="Why, in words.")]
    functions: Annotated[list[str], Meta(description="Symbols of functions that are called so, but have no loop.")]
    inlined_into: Annotated[list[str], Meta(description="The functions that have its code, if it has none of its own.")]
    nearest: Annotated[list[str], Meta(description="Names like it, if there is no such function.")]


class Unit(msgspec.Struct, kw_only=True):
    """One translation unit and how its assembly came about."""

    source: Annotated[
        str,
        Meta(
            description=(
                "The file that was compiled; the linked file for code that was generated at the link; empty for "
                "assembly that "
                "was given."
            )
        ),
    ]
    assembly_file: Annotated[str, Meta(description="What the lines of instructions refer to.")]
    compiler: str
    compiler_version: str
    command: Annotated[list[str], Meta(description="The user's command line.")]
    folder: Annotated[str, Meta(description="The folder that the command ran in; empty where that is not known.")]
    output: Annotated[
        str, Meta(description="The file that the command made of the source, as it names it; empty for none.")
    ]
    way: Annotated[
        Literal["given", "second-run", "assembler", "object"],
        Meta(
            description=(
                "Where the code comes from: it was given as it is, a second run of the compiler beside the user's "
                "wrote it, it "
                "is what the compiler handed to the assembler, or it was read from the object."
            )
        ),
    ]
    target_cpu: Annotated[str, Meta(description="The core that the command line implies; empty if none.")]
    model: Model
    core: Annotated[Core | None, Meta(description="Null where it was not asked for.")]
    kernels: list[Kernel]
    left_out: list[LeftOut]
    system_loops: Annotated[
        Count,
        Meta(
            description=(
                "Loops that are not analysed since they are the system headers' alone: no line of the user's is in "
                "them, nor "
                "in what they were inlined into."
            )
        ),
    ]
    became_calls: Annotated[
        list[BecameCall],
        Meta(
            description=(
                "Calls outside of analysed loops that may stand for a loop of the source, or be written there: what "
                "they cost "
                "is in no model."
            )
        ),
    ]
    not_found: Annotated[
        list[NotFound], Meta(description="Functions that were asked for by name, without a loop to show.")
    ]
    ways: Annotated[
        list[Ways] | None,
        Meta(description="Loops with branches inside and the ways through them; null if they were not asked for."),
    ]
    control_flow: Annotated[
        list[ControlFlow] | None,
        Meta(description="Control-flow graphs of the functions that kernels are in; null if they were not asked for."),
    ]
    marks: Annotated[
        list[Mark],
        Meta(
            description="The marks in the source that this unit is analysed for: with any there are only kernels "
            "that are marked."
        ),
    ]
    mark_problems: list[MarkProblem]
    trials: Annotated[
        list[Trial] | None,
        Meta(
            description=(
                "What the flags of the hints bring, each hint's by themselves and then all together; null if that was "
                "not "
                "asked for."
            )
        ),
    ]


class TriedLoop(msgspec.Struct, frozen=True, kw_only=True):
    """A loop of the source before and after a trial: of those for one line of a function the one that does most."""

    kernel_id: Annotated[str, Meta(description="Of the kernel before it.")]
    function_name: str
    source: Location | None
    hinted: Annotated[bool, Meta(description="A hint on it names these flags.")]
    before: Annotated[
        Amount,
        Meta(
            description="Cycles per iteration; where they depend on the place that the linker chooses, on the average."
        ),
    ]
    after: Annotated[Amount | None, Meta(description="The same after it; null if there is no such loop any more.")]
    element_before: Annotated[
        Amount | None, Meta(description="Cycles per element of the source's loop; null where that is not known.")
    ]
    element_after: Amount | None
    work: Annotated[
        Amount | None, Meta(description="How many times as much an iteration does; null where that is not known.")
    ]
    gain: Annotated[
        float | None, Meta(description="How many times as fast it is, less 1; null where that is not known.")
    ]
    text: Annotated[str, Meta(description="The same in words.")]


class Trial(msgspec.Struct, frozen=True, kw_only=True):
    """The unit compiled again with more flags, to nowhere, and analysed."""

    flags: Annotated[list[str], Meta(description="What stood behind the command's arguments.", min_length=1)]
    rules: Annotated[list[str], Meta(description="Of the hints that name them.")]
    problem: Annotated[str, Meta(description="Why there is nothing of it; empty if there is.")]
    loops: list[TriedLoop]


class Branch(msgspec.Struct, frozen=True):
    """A branch at which a way through a loop could have gone on elsewhere."""

    line: Positive
    taken: bool


class Way(msgspec.Struct, frozen=True, kw_only=True):
    """One way from the loop's start back to it."""

    share: Annotated[Share, Meta(description="How often the loop goes this way.")]
    branches: Annotated[list[Branch], Meta(description="The branches at which it could have gone another way.")]
    lines: Annotated[list[Positive], Meta(description="The lines of its instructions, in the order of execution.")]
    lines_skipped: Annotated[list[Positive], Meta(description="The lines of the loop's other instructions.")]
    instructions: Count
    unknown_instructions: Annotated[Count, Meta(description="Instructions that are not in the model, and not counted.")]
    ports: Annotated[Ratio, Meta(description="Bound by ports, the divider included.")]
    front_end: Annotated[Ratio, Meta(description="Bound by the front end or retirement.")]
    loop_carried: Annotated[Ratio, Meta(description="Bound by loop-carried dependencies.")]
    cycles: Annotated[Ratio, Meta(description="Simulated, or the largest bound.")]
    refused: Annotated[list[RefusedStatement], Meta(description="Statements that the assembler did not accept.")]


class Ways(msgspec.Struct, kw_only=True):
    """A loop with branches inside and the ways through it, each as if every iteration went that way."""

    kind: Annotated[
        Literal["branch", "paths"],
        Meta(
            description="branch: the sides of the first branch, each going on in the likeliest way; paths: every way."
        ),
    ]
    function: Annotated[str, Meta(description="The function's symbol.")]
    function_name: Annotated[str, Meta(description="The function as the source writes it: C++ names demangled.")]
    label: str
    first_line: Count
    last_line: Count
    source: Location | None
    complete: Annotated[bool, Meta(description="Whether these are all ways; if not, shares are among these.")]
    simulated: Annotated[bool, Meta(description="Whether cycles are those of simulations; else the largest bounds.")]
    weighted_cycles: Annotated[
        Amount, Meta(description="The ways' cycles weighted by their shares; mispredicted branches are not in it.")
    ]
    ways: Annotated[list[Way], Meta(min_length=2)]


class BlockInstruction(msgspec.Struct, frozen=True):
    """An instruction of a basic block."""

    line: Positive
    text: str


class Successor(msgspec.Struct, frozen=True):
    """A way from a basic block to another one."""

    block: Annotated[Count, Meta(description="The index of a block.")]
    jump: Annotated[str, Meta(description="The jump's mnemonic; empty where control falls through.")]
    closes_loop: Annotated[bool, Meta(description="Whether it goes back to the start of a loop.")]


class Block(msgspec.Struct, frozen=True, kw_only=True):
    """A basic block."""

    label: Annotated[str, Meta(description="Empty where there is none.")]
    instructions: list[BlockInstruction]
    in_innermost_loop: bool
    successors: Annotated[list[Successor], Meta(description="Where control goes at the block's end.")]


class ControlFlow(msgspec.Struct, kw_only=True):
    """The control-flow graph of a function, with its cold part and whatever else it jumps into."""

    function: Annotated[str, Meta(description="The function's symbol; empty for text outside of functions.")]
    function_name: Annotated[str, Meta(description="The function as the source writes it: C++ names demangled.")]
    blocks: Annotated[list[Block], Meta(description="Basic blocks in the order of the text.")]


class Size(msgspec.Struct, frozen=True, kw_only=True):
    """Counts per iteration."""

    instructions: Count
    bytes: Count
    issue_slots: Annotated[Count, Meta(description="µops in the fused domain, as the front end issues them.")]
    retire_slots: Annotated[Count, Meta(description="µops in the fused domain, as they retire.")]
    uops: Annotated[Count, Meta(description="µops in the unfused domain, as ports execute them.")]


class Arithmetic(msgspec.Struct, frozen=True, kw_only=True):
    """Arithmetic on vector registers, counted by element."""

    flop: Count
    flop_packed: Annotated[Count, Meta(description="Of them in packed instructions.")]
    integer_operations: Count
    integer_operations_packed: Count
    packed_share: Annotated[
        Share | None, Meta(description="Share of all operations in packed instructions; null without arithmetic.")
    ]
    vector_bits: Annotated[Count, Meta(description="The widest packed arithmetic.")]
    flop_per_byte: Annotated[
        Amount | None,
        Meta(
            description=(
                "Arithmetic intensity over bytes loaded and stored by instructions; null where no bytes, or an "
                "unknown number, are moved."
            )
        ),
    ]
    text: Annotated[str, Meta(description="The same in words.")]


class Memory(msgspec.Struct, frozen=True, kw_only=True):
    """Data moved by loads and stores."""

    bytes_loaded: Count
    bytes_stored: Count
    unsized_accesses: Annotated[Count, Meta(description="Accesses whose size is not fixed, not counted in the bytes.")]
    loads: Annotated[Count, Meta(description="Instructions that load.")]
    stores: Annotated[Count, Meta(description="Instructions that store.")]
    spills: Annotated[
        Count,
        Meta(description="Stores to a fixed place of the function's stack frame."),
    ]
    reloads: Annotated[Count, Meta(description="Loads from a fixed place of the function's stack frame.")]
    step: Annotated[
        Count,
        Meta(
            description="Bytes by which the fastest of its loads and stores moves on in an iteration; 0 where none "
            "is known to."
        ),
    ]
    widest_access_bits: Count
    line_crossings: Annotated[
        Amount,
        Meta(
            description=(
                "Loads an iteration that reach into a second cache line at the best alignment of each pointer; the "
                "port bound contains them."
            )
        ),
    ]
    worst_line_crossings: Annotated[
        Amount, Meta(description="The same at the worst alignment that elements of up to 8 bytes allow.")
    ]
    expected_line_crossings: Annotated[
        Amount,
        Meta(
            description=(
                "What is simulated: the best alignment where all loads of the kernel can be aligned, else the average"
                " over all alignments."
            )
        ),
    ]
    worst_alignment_port_bound: Annotated[
        Amount, Meta(description="The port bound at the worst alignment, in cycles per iteration.")
    ]


class Hint(msgspec.Struct, frozen=True, kw_only=True):
    """Advice that follows from the data."""

    rule: Literal[
        "unknown-instructions",
        "refused-statements",
        "sum-chain",
        "memory-chain",
        "code-placement",
        "indexed-store-address",
        "invariant-divisor",
        "scalar-arithmetic",
        "not-optimised",
        "extremum-chain",
        "stored-accumulator",
        "recurrence",
        "strided",
        "gather",
        "repeated-place",
        "loop-overhead",
        "integer-division",
        "conversions",
        "math-errno",
        "math-call",
        "instruction-set",
        "vector-width",
    ]
    text: str
    evidence: dict[str, Any]
    flags: Annotated[
        list[str],
        Meta(
            description=(
                "Compiler flags to try, exactly as on a command line, none of which is in use; none where there are "
                "none that "
                "help with this compiler."
            )
        ),
    ]
    source_change: Annotated[str, Meta(description="What to change in the source, in words; empty for nothing.")]


class Remark(msgspec.Struct, frozen=True, kw_only=True):
    """What the compiler said of the loop in the source."""

    kind: Annotated[
        Literal["vectorised", "not-vectorised", "versioned", "unrolled", "other"],
        Meta(description="versioned: there is another loop for where this one cannot run."),
    ]
    text: Annotated[str, Meta(description="In words, alike for all compilers where they mean the same.")]
    said: Annotated[str, Meta(description="In the compiler's words.")]
    by: Annotated[str, Meta(description="The compiler's pass; empty where it does not say.")]
    source: Annotated[Location | None, Meta(description="The place that the compiler names.")]
    column: Annotated[Count, Meta(description="Of that line; 0 where it is not known.")]


class Frame(msgspec.Struct, kw_only=True):
    """A function around a loop."""

    function: Annotated[
        str, Meta(description="Its name as the source writes it, without parameters and template arguments.")
    ]
    file: str
    line: Annotated[
        Count, Meta(description="In that function: where the next one was inlined, in the last one that of the loop.")
    ]


class Elements(msgspec.Struct, frozen=True, kw_only=True):
    """How many elements of the source's loop an iteration of the assembly's stands for."""

    per_iteration: Annotated[float, Meta(ge=0)]
    cycles: Annotated[Amount, Meta(description="The prediction for an element.")]
    basis: Annotated[
        Literal["inferred", "compiler"],
        Meta(description="inferred: from steps and widths of accesses; compiler: the compiler said so."),
    ]
    why: Annotated[str, Meta(description="What it is inferred from, in words.")]
    text: Annotated[str, Meta(description="Cycles an iteration and an element, in words.")]


class Rates(msgspec.Struct, frozen=True, kw_only=True):
    """What the prediction comes to in a cycle, and at a clock in a second: in units of 10^9. Bytes are those that
    instructions load and store, which is traffic with the L1 cache."""

    flop_per_cycle: Amount
    bytes_per_cycle: Amount
    elements_per_cycle: Annotated[Amount | None, Meta(description="Null where elements are not known.")]
    ghz: Annotated[
        Amount | None, Meta(description="The clock that was given; null without one, and then the rest is null too.")
    ]
    gflop_per_second: Amount | None
    gigabytes_per_second: Amount | None
    gigaelements_per_second: Amount | None
    text: Annotated[str, Meta(description="What is done in a second, in words; empty without a clock.")]


class Role(msgspec.Struct, frozen=True, kw_only=True):
    """What part a loop has among those that do the same work of the same function."""

    name: Annotated[
        Literal["main", "remainder", "prologue", "fallback", "outer", ""],
        Meta(
            description=(
                "main: most of the work; remainder: what the main loop leaves over; prologue: elements before it; "
                "fallback: "
                "runs instead of it (where arrays overlap, or are short); outer: an outer loop's, where the inner one "
                "has "
                "nothing to do; empty for code that is no loop."
            )
        ),
    ]
    of: Annotated[
        str,
        Meta(description="The kernel_id of the main loop; empty for a main loop. For an outer one: of the inner loop."),
    ]
    instead: Annotated[
        bool, Meta(description="A remainder that also runs instead of the main loop, where that cannot run.")
    ]
    basis: Annotated[
        Literal["inferred", "compiler"],
        Meta(
            description="inferred: from the code, its places in the source and control flow; compiler: the compiler "
            "said so."
        ),
    ]
    text: Annotated[str, Meta(description="The same in words.")]


class CompiledStream(msgspec.Struct, frozen=True, kw_only=True):
    """Loads or stores of a loop that are alike, as the compiler has them."""

    store: bool
    element_bytes: Amount
    lanes: Annotated[int, Meta(description="Elements of each access.", ge=1)]
    scalable: Annotated[bool, Meta(description="That many times vscale.")]
    step: Annotated[
        int | None, Meta(description="Bytes by which it goes on in an iteration; null where that is no constant.")
    ]
    accesses: Annotated[int, Meta(ge=1)]


class Compiled(msgspec.Struct, frozen=True, kw_only=True):
    """What the compiler says of the loop: what its own passes made of the source's."""

    kind: Annotated[
        Literal["plain", "vector-body", "interleaved", "epilogue", "scalar", "unroll-rest", "unversioned", "unknown"],
        Meta(
            description=(
                "plain: as it was, or unrolled; vector-body: in vectors; interleaved: copies side by side without "
                "vectors; "
                "epilogue: shorter vectors, for what the vector body leaves; scalar: the loop that was vectorised, for "
                "what is "
                "left or where vectors cannot be used; unroll-rest: what an unrolled loop leaves over; unversioned: "
                "without assumptions that are checked before the loop; unknown: its origin was lost."
            )
        ),
    ]
    iterations: Annotated[
        int | None, Meta(description="Of the source's loop in one of this one; times vscale if scalable.")
    ]
    width: Annotated[
        int, Meta(description="Lanes of the vectoriser's vectors, 1 without; times vscale if scalable.", ge=1)
    ]
    scalable: bool
    interleave: Annotated[int, Meta(description="Vectors of the vectoriser side by side.", ge=1)]
    unroll: Annotated[int, Meta(description="How often that was unrolled again.", ge=1)]
    peeled: Annotated[int, Meta(description="Iterations that are done before the loop.", ge=0)]
    trip_count: Annotated[
        int | None, Meta(description="Iterations of this loop each time that it is entered, if that is a constant.")
    ]
    max_trip_count: Annotated[int | None, Meta(description="The most that there can be.")]
    trip_multiple: Annotated[int, Meta(description="Their number is a multiple of this one.", ge=1)]
    expected_trip_count: Annotated[
        int | None, Meta(description="By the profile that the compiler was given; null without one.")
    ]
    source_trip_count: Annotated[
        int | None, Meta(description="Iterations of the loop that it was made of, if that is a constant.")
    ]
    source_max_trip_count: Annotated[int | None, Meta(description="The most that there can be of those.")]
    streams: Annotated[list[CompiledStream], Meta(description="What it loads and stores.")]
    text: Annotated[str, Meta(description="The same in words.")]


class RangeCause(msgspec.Struct, frozen=True, kw_only=True):
    """Why a kernel may take more than its prediction, or less."""

    kind: Literal["aliasing", "forwarding", "line-crossings", "branches", "unknown-instructions"]
    least: Annotated[Amount, Meta(description="Cycles per iteration if it never comes to that.")]
    most: Annotated[
        Amount | None, Meta(description="Cycles per iteration if it always does; null where that cannot be told.")
    ]
    instructions: list[Index]
    when: Annotated[str, Meta(description="When it takes least and when most, in words.")]


class Range(msgspec.Struct, frozen=True, kw_only=True):
    """What the data, which cannot be seen in the code, may make of the prediction."""

    least: Amount
    most: Annotated[Amount | None, Meta(description="Null where there is no end to be told.")]
    causes: Annotated[list[RangeCause], Meta(min_length=1)]
    text: Annotated[str, Meta(description="The two ends and what decides between them.")]


class Overview(msgspec.Struct, frozen=True, kw_only=True):
    """The kernel in a few words."""

    function: Annotated[str, Meta(description="The function that the loop is written in, as one speaks of it.")]
    limit: Annotated[str, Meta(description="What limits it.")]
    vector: Annotated[
        str, Meta(description="How wide its vectors are, and the share of operations in them if that is not all.")
    ]
    look: Annotated[
        str,
        Meta(description="Why it is worth looking at: the rules of its hints, causes of a wide range; empty if not."),
    ]


class Mispredictions(msgspec.Struct, frozen=True, kw_only=True):
    """What wrong predictions of the branches inside add to the prediction, at the rate that was given."""

    rate: Annotated[Share, Meta(description="Of the executions of the branches inside whose conditions are data.")]
    branches: Annotated[Positive, Meta(description="How many of these an iteration executes.")]
    miss_cycles: Annotated[Amount, Meta(description="What one wrong prediction costs, on average.")]
    cycles: Annotated[Amount, Meta(description="Cycles per iteration for them.")]
    total: Annotated[Amount, Meta(description="The prediction and these.")]
    text: Annotated[str, Meta(description="The same as a sum.")]


class Measured(msgspec.Struct, frozen=True, kw_only=True):
    """What the kernel takes on the processor that the report was made on, where its own code was run."""

    cycles: Annotated[Amount | None, Meta(description="Cycles per iteration; null where it could not be measured.")]
    spread: Annotated[
        Amount | None,
        Meta(description="By how much undisturbed samples differ, in cycles per iteration; null likewise."),
    ]
    way: Annotated[
        Literal["clock", "counters", ""],
        Meta(
            description=(
                "How time was had: from the clock beside a chain of dependent additions, or from performance counters; "
                "empty "
                "where nothing was measured."
            )
        ),
    ]
    exit: Annotated[
        Literal["own", "replaced", "added", "repeated", ""],
        Meta(
            description=(
                "How the loop came to an end. own: by its own counter; replaced: by another one in the place of the "
                "comparison; added: by another one, whose cost is taken off; repeated: it is no loop, copies of it "
                "ran; empty "
                "where nothing was measured."
            )
        ),
    ]
    core: Annotated[str, Meta(description="LLVM's name of the core that it ran on; empty if that is not known.")]
    same_core: Annotated[
        bool, Meta(description="Whether the prediction is for that core, not for another or the nearest one.")
    ]
    difference: Annotated[
        float | None,
        Meta(
            description="By which part of the measured cycles the prediction is above them; null where there are none."
        ),
    ]
    failure: Annotated[str, Meta(description="Why it could not be measured, in a word; empty if it was.")]
    notes: Annotated[
        list[str], Meta(description="What of data and code was otherwise than where the kernel comes from.")
    ]
    explanations: Annotated[
        list[str], Meta(description="What could explain a difference of more than 10 %; empty below that.")
    ]
    text: Annotated[str, Meta(description="The same in words.")]


class Prediction(msgspec.Struct, frozen=True, kw_only=True):
    """The simulated cycles, without a simulation the largest bound."""

    cycles: Amount
    exact: Exact
    by: Literal["simulation", "bounds"]
    limited_by: Annotated[
        list[BoundName],
        Meta(
            description=(
                "The largest bounds, if they reach it (within 2 % where it is simulated). Retirement is left out "
                "beside an equal front end."
            )
        ),
    ]


class Bounds(msgspec.Struct, frozen=True, kw_only=True):
    """Lower bounds on the cycles per iteration."""

    port: Annotated[Bound, Meta(description="Execution ports.")]
    divider: Annotated[Bound, Meta(description="Units that an instruction occupies exclusively.")]
    front_end: Bound
    retire: Bound
    loop_carried: Bound
    prediction: Prediction

    def of(self, name: BoundName) -> Bound:
        """Return a bound by its name."""
        bound: Bound = getattr(self, name)
        return bound


class WhatIf(msgspec.Struct, frozen=True, kw_only=True):
    """What a change to the core makes of the kernel."""

    change: Annotated[
        str,
        Meta(
            description=(
                "front-end, issue-width, port NAME, unlimited-ports, divider, window, register-dependencies, memory-"
                "dependencies, dependencies, move-elimination; or what was asked for."
            )
        ),
    ]
    text: Annotated[str, Meta(description="The same for people.")]
    cycles: Amount
    exact: Exact
    gained: Annotated[float, Meta(description="Cycles fewer than without it; negative if it makes the kernel slower.")]
    asked: Annotated[bool, Meta(description="Named by the user, not one of those that are always tried.")]


class Cold(msgspec.Struct, frozen=True, kw_only=True):
    """A run of exactly so many iterations from a cold start, which is no prediction of the steady state. Cycle 0 is the
    one in which the first µop is dispatched. Where the model describes no pipeline, of an ideal one."""

    iterations: Positive
    cycles: Annotated[Count, Meta(description="To the one in which the last instruction retires.")]
    uops: Annotated[Count, Meta(description="Issue slots.")]
    stalls: Stalls
    dispatched: Annotated[
        list[CyclesOf], Meta(description="The cycles in which so many µops filled issue slots, ascending.")
    ]
    issued: Annotated[list[CyclesOf], Meta(description="In which so many µops started on their ports.")]
    retired: Annotated[list[CyclesOf], Meta(description="In which so many instructions retired.")]
    schedulers: list[Scheduler]
    reorder_buffer: Buffer
    registers: Annotated[
        list[RegisterFile], Meta(min_length=1, description="The first is all of them, without a name.")
    ]
    events: Annotated[
        list[ColdEvent],
        Meta(description="Of the iterations that a timeline shows, those that retire before its last cycle."),
    ]
    waits: Annotated[
        list[ColdWait], Meta(description="For each instruction, over these iterations; empty without events.")
    ]
    waits_total: Annotated[ColdWait | None, Meta(description="Of all instructions; null without events.")]
    pressure: Annotated[Pressure | None, Meta(description="Null unless asked for.")]


class Stalls(msgspec.Struct, frozen=True, kw_only=True):
    """Cycles in which the renamer left issue slots empty though there were instructions to come, by what stood in the
    way of the next."""

    registers: Annotated[Count, Meta(description="No register was free, where their number is limited.")]
    reorder_buffer: Count
    scheduler: Count
    load_buffer: Count
    store_buffer: Count
    group: Annotated[Count, Meta(description="What is issued together did not fit.")]
    front_end: Annotated[Count, Meta(description="No µop was there.")]
    other: Count


class CyclesOf(msgspec.Struct, frozen=True):
    """In so many cycles there were so many."""

    count: Count
    cycles: Positive


class Buffer(msgspec.Struct, frozen=True):
    """How full a buffer was at the ends of the cycles."""

    entries: Annotated[Count, Meta(description="0 for no limit.")]
    average: Amount
    most: Count


class Scheduler(Buffer, frozen=True, kw_only=True):
    """A scheduler, or a queue before some."""

    name: str


class RegisterFile(msgspec.Struct, frozen=True, kw_only=True):
    """Registers that instructions got, from their issue to their retirement."""

    name: str
    entries: Annotated[Count, Meta(description="0 for no limit.")]
    mappings: Annotated[Count, Meta(description="How often an instruction got one.")]
    most: Annotated[Count, Meta(description="In use at once.")]
    moves: MovesOf


class MovesOf(msgspec.Struct, frozen=True, kw_only=True):
    """The moves from register to register that the renamer may eliminate."""

    candidates: Count
    eliminated: Count
    zero: Annotated[
        Count,
        Meta(description="Of these, those of a register that was known to be zero; no core is told apart by that: 0."),
    ]
    most: Annotated[Count, Meta(description="Eliminated in one cycle.")]


class ColdEvent(msgspec.Struct, frozen=True, kw_only=True):
    """The life of one dynamic instruction. One that takes no port is ready, issued and executed when it is
    dispatched."""

    iteration: Count
    instruction: Index
    dispatched: Count
    ready: Annotated[Count, Meta(description="The µop that starts first could start, were its port free.")]
    issued: Annotated[Count, Meta(description="It starts.")]
    executed: Annotated[Count, Meta(description="The last result is there.")]
    retired: Count


class ColdWait(msgspec.Struct, frozen=True, kw_only=True):
    """llvm-mca's average waiting times in cycles."""

    executions: Count
    queue: Annotated[Amount, Meta(description="From dispatch to the start of the first µop.")]
    ready: Annotated[Amount, Meta(description="Of these, while its inputs were there.")]
    writeback: Annotated[Amount, Meta(description="From the result to retirement.")]


class Pressure(msgspec.Struct, frozen=True, kw_only=True):
    """Why µops pile up, in cycles of the run."""

    increase: Annotated[
        Count, Meta(description="More µops got into the schedulers than started, or these had no room for another one.")
    ]
    resources: Annotated[
        Count, Meta(description="Of these, those in which a µop whose inputs were there found its port or unit taken.")
    ]
    registers: Annotated[Count, Meta(description="Of these, those in which one waited for a result.")]
    memory: Annotated[
        Count,
        Meta(description="Of these, those in which one waited for what was loaded from where it had been stored."),
    ]
    data: Annotated[Count, Meta(description="Of these, those of `registers` or `memory`.")]
    by_resource: Annotated[
        list[ResourcePressure], Meta(description="Those of `resources` by port or unit; several may be in a cycle.")
    ]
    sequence: Annotated[
        list[SequenceStep],
        Meta(
            description=(
                "µops of which each one started when it did because of the one before. If the first and the last are "
                "the same "
                "in different iterations, it repeats itself."
            )
        ),
    ]


class ResourcePressure(msgspec.Struct, frozen=True):
    """The cycles in which µops waited for a resource."""

    resource: Annotated[int, Meta(ge=0, description="In `resources`.")]
    cycles: Positive


SequenceKind = Literal["", "register", "memory", "resource"]


class SequenceStep(msgspec.Struct, frozen=True, kw_only=True):
    """A µop of the critical sequence."""

    instruction: Index
    iteration_offset: Annotated[int, Meta(description="From the first one's iteration.")]
    kind: Annotated[SequenceKind, Meta(description="What it waited for; empty for the first.")]
    via: Annotated[str, Meta(description="The register or flag, or the resource.")]
    cycles: Annotated[int, Meta(description="From the start of the one before.")]


class Resource(msgspec.Struct, frozen=True, kw_only=True):
    """A port or another unit."""

    name: str
    kind: Literal["port", "unit"]
    title: str
    load: Annotated[Amount, Meta(description="Cycles per iteration.")]
    busiest: Annotated[bool, Meta(description="One of the ports that make the port bound.")]


class LlvmResource(msgspec.Struct, frozen=True, kw_only=True):
    """A unit as LLVM's scheduling model of the core names it."""

    name: str
    number: Annotated[
        str, Meta(description="LLVM's number of it, as llvm-mca prints it: 3, or 3.1 of a resource with several units.")
    ]
    resource: Annotated[
        Index | None,
        Meta(description="Which of `resources` it is, the first of several; null where none, or none that is used."),
    ]
    cycles: Annotated[Amount, Meta(description="Per iteration.")]
    instructions: Annotated[list[Amount], Meta(description="Cycles of each instruction.")]


class CriticalPath(msgspec.Struct, frozen=True):
    """The longest path through one iteration on its own."""

    cycles: Count
    instructions: list[Index]
    steps: list[Step]


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """A dependency on a path."""

    producer: Index = msgspec.field(name="from")
    to: Index
    kind: Annotated[
        Literal["register", "flag", "memory", "internal"],
        Meta(description="What carries the dependency; internal: from an instruction's own load to its result."),
    ]
    via: Annotated[
        str,
        Meta(description='Register or flag in the words of the assembly text, "memory", or empty for internal steps.'),
    ]
    latency: Annotated[Count, Meta(description="Cycles from the one value being ready to the other.")]
    distance: Annotated[Count, Meta(description="Iterations between producer and consumer.")]


class Dependency(Step, frozen=True, kw_only=True):
    """An edge of the dependency graph."""

    critical_path: Annotated[bool, Meta(description="The critical path runs along it.")]
    chains: Annotated[list[Count], Meta(description="Indices of the chains that run along it.")]


class UnknownInstruction(msgspec.Struct, frozen=True, kw_only=True):
    """An instruction that is not in the model: it counts nowhere."""

    index: Index
    line: Count
    text: str
    form: str


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """llvm-mca's summary."""

    iterations: Positive
    instructions: Count
    cycles: Annotated[Count, Meta(description="Iterations times the prediction, rounded up.")]
    uops: Annotated[Count, Meta(description="Issue slots.")]
    dispatch_width: Count
    uops_per_cycle: Amount
    ipc: Amount
    block_rthroughput: Annotated[Amount, Meta(description="The prediction without dependencies.")]


class Kernel(msgspec.Struct, kw_only=True):
    """One loop or region."""

    kernel_id: Annotated[
        str,
        Meta(
            description=(
                "What the kernel is known by in its unit, whatever lines it has moved to: the function and which of "
                "its loops "
                "or regions it is."
            )
        ),
    ]
    content_hash: Annotated[
        str,
        Meta(
            pattern="^[0-9a-f]{16}$",
            description="Of the code, without what the linker fills in and how far jumps go: equal for equal code.",
        ),
    ]
    name: Annotated[str, Meta(description="What it is called in messages.")]
    cycles: Annotated[
        Amount, Meta(description="The prediction: cycles per iteration of the steady state, as in bounds.prediction.")
    ]
    kind: Annotated[
        Literal["loop", "marker", "address", "file", "code"],
        Meta(
            description=(
                "loop: an innermost loop; marker: between markers; address: machine code between two addresses; file: "
                "a whole "
                "assembly file; code: machine code without text."
            )
        ),
    ]
    function: Annotated[str, Meta(description="The function's symbol.")]
    function_name: Annotated[str, Meta(description="The function as the source writes it: C++ names demangled.")]
    source: Annotated[
        Location | None,
        Meta(
            description=(
                "Where the loop is in the user's source, from debug information: the innermost line around it that is "
                "not in a "
                "system header, if there is one."
            )
        ),
    ]
    column: Annotated[
        Count,
        Meta(
            description="Of that line, where the line information has one for the branch that closes the loop: 0 "
            "where it has not."
        ),
    ]
    source_function: Annotated[
        str,
        Meta(
            description="The function which that line is in, without parameters: another one than the symbol's if it "
            "was inlined."
        ),
    ]
    near: Annotated[
        Location | None,
        Meta(
            description=(
                "In assembly with lines but without other debug information: where the function's own source is next "
                "to a "
                "kernel that comes from another file, as inlined code; else null."
            )
        ),
    ]
    inlined: Annotated[
        list[Frame],
        Meta(description="The functions inlined at that place, the outermost first; the loop is in the last one."),
    ]
    inlined_into: Annotated[
        list[Frame],
        Meta(
            description=(
                "The functions that source_function was inlined into, the outermost first: the last one's line is that "
                "of its "
                "call."
            )
        ),
    ]
    remarks: Annotated[
        list[Remark],
        Meta(description="What the compiler said of the loop of the source, from a second run with its remarks."),
    ]
    role: Role
    compiled: Annotated[
        Compiled | None,
        Meta(
            description=(
                "What the compiler says of the loop (clang with incc's pass plugin); null where it was not asked, or "
                "code "
                "generation has left nothing of what it said."
            )
        ),
    ]
    elements: Annotated[Elements | None, Meta(description="Null where it cannot be told.")]
    rates: Annotated[
        Rates | None, Meta(description="Null where nothing takes any time, or accesses of unknown size are left out.")
    ]
    range: Annotated[Range | None, Meta(description="Null where nothing but the prediction is to be said.")]
    mispredictions: Annotated[
        Mispredictions | None,
        Meta(
            description="Null where no rate was given, no branch inside depends on data, or the model has no penalty."
        ),
    ]
    measured: Annotated[Measured | None, Meta(description="Null where it was not asked for.")]
    at_least: Annotated[
        bool, Meta(description="Something is not counted, so that the kernel takes at least what is predicted.")
    ]
    overview: Overview
    label: Annotated[str, Meta(description="Label of the loop's header.")]
    first_line: Annotated[Count, Meta(description="Of the region in the assembly.")]
    last_line: Count
    depth: Annotated[
        Count, Meta(description="Nesting depth of the loop, 1 for an outermost one, 0 for code that is no loop.")
    ]
    is_loop: Annotated[
        bool,
        Meta(
            description="The last instruction branches back to the first; other code is analysed as if it were "
            "repeated."
        ),
    ]
    isa: str
    notes: Annotated[list[str], Meta(description="What a reader must know, one sentence each.")]
    size: Size
    arithmetic: Arithmetic
    memory: Memory
    verdict: Annotated[str, Meta(description="What limits the kernel, in one sentence.")]
    hints: list[Hint]
    bounds: Bounds
    simulated: Annotated[
        Simulated | None,
        Meta(
            description=(
                "What the cycle by cycle simulation found; null where the model does not describe the core's "
                "pipeline, or no simulation was wanted."
            )
        ),
    ]
    what_ifs: Annotated[
        list[WhatIf], Meta(description="Simulations with a changed core, those that take the fewest cycles first.")
    ]
    cold: Annotated[
        Cold | None,
        Meta(
            description="Cycles from the first µop in the queue to the last one retired of a number of iterations, "
            "if asked for."
        ),
    ]
    alignments: Annotated[
        list[Ratio],
        Meta(
            description="Simulated cycles per iteration with the first byte at 0 to 63 within 64, if asked for; else "
            "empty."
        ),
    ]
    dispatch_width: Annotated[Count, Meta(description="µops that the front end issues in a cycle.")]
    port_assignment: Annotated[
        Literal["balanced", "equal"],
        Meta(
            description=(
                "balanced: µops distributed over allowed ports so that the busiest carries least; equal: equal shares"
                " to all allowed ports."
            )
        ),
    ]
    resources: list[Resource]
    llvm_resources: Annotated[
        list[LlvmResource] | None,
        Meta(
            description=(
                "The same under the names, and in the order, of LLVM's scheduling model of the core; null where its "
                "resources"
                " are not the model's (docs/llvm-mca.md)."
            )
        ),
    ]
    instructions: list[Instruction]
    critical_path: CriticalPath
    chains: Annotated[list[Chain], Meta(description="Loop-carried dependencies, longest first.")]
    chains_complete: Annotated[
        bool, Meta(description="False where there were too many to list; the longest is listed in any case.")
    ]
    dependencies: list[Dependency]
    waits: Annotated[
        Waits | None,
        Meta(
            description="Who waits for whom (docs/report.md); null where that was not asked for, or nothing was "
            "simulated."
        ),
    ]
    timeline: Annotated[Timeline | None, Meta(description="Null where none was asked for.")]
    unknown_instructions: list[UnknownInstruction]
    refused: list[RefusedStatement]
    summary: Summary


class Figures(msgspec.Struct, frozen=True):
    """Where the figures come from."""

    source: str
    derived: Annotated[str, Meta(description="The rule that derived them from another form; empty for direct figures.")]


class Instruction(msgspec.Struct, frozen=True, kw_only=True):
    """One instruction, in the order of execution."""

    index: Index
    line: Annotated[Count, Meta(description="In the assembly file.")]
    source: Location | None
    text: str
    bytes: Annotated[Count, Meta(description="Length of its encoding.")]
    encoding: Annotated[
        str,
        Meta(
            pattern="^([0-9a-f]{2})*$",
            description=(
                "Its bytes. Where texts are LLVM's, what LLVM's assembler makes of it by itself: without what depends "
                "on where "
                "symbols are, and with long jumps to them."
            ),
        ),
    ]
    form: Annotated[str, Meta(description="Its name in the model.")]
    unknown: Annotated[bool, Meta(description="Not in the model.")]
    latency: Annotated[Count, Meta(description="Cycles from the slowest input to the slowest result.")]
    load_latency: Annotated[Count, Meta(description="Cycles from address to loaded value, 0 where nothing is loaded.")]
    issue_slots: Count
    retire_slots: Count
    uops: Annotated[Count, Meta(description="µops on ports.")]
    ports: Annotated[
        str, Meta(description="µops times the ports that they may use, 1*p01+1*p23; cycles on other units, 4*0DV.")
    ]
    work: Annotated[
        list[str],
        Meta(
            description=(
                "What the µops of each term of `ports` do, for people: loads, store addresses, shuffles; that of "
                "the instruction alone, where it has no µop on a port."
            )
        ),
    ]
    rthroughput: Annotated[
        Ratio, Meta(description="Cycles between two instances as far as its own ports and units say.")
    ]
    measured_rthroughput: Annotated[
        Amount | None, Meta(description="The model's figure where ports do not explain the throughput, else null.")
    ]
    loads: bool
    stores: bool
    may_load: Annotated[
        bool, Meta(description="LLVM's description of it says so, as do the following; it need not be true.")
    ]
    may_store: bool
    side_effects: Annotated[
        bool, Meta(description="Others than on registers, flags and memory (hasUnmodeledSideEffects).")
    ]
    load_barrier: bool
    store_barrier: bool
    frame: Annotated[
        bool, Meta(description="It accesses a fixed place of the function's stack frame: a spill or a reload.")
    ]
    macro_fused: Annotated[bool, Meta(description="Second half of a macro-fused pair.")]
    eliminated: Annotated[bool, Meta(description="Move done by the renamer.")]
    zero_idiom: Annotated[bool, Meta(description="Known to the core not to depend on its inputs.")]
    pressure: Annotated[list[Amount], Meta(description="Cycles on each of the resources.")]
    critical_path_cycles: Annotated[
        Count | None, Meta(description="Its share of the critical path; null off the path.")
    ]
    chain_cycles: Annotated[
        Count | None, Meta(description="Its share of the longest loop-carried dependency; null outside.")
    ]
    figures: Figures | None
    remarks: Annotated[
        str,
        Meta(
            pattern="^X?F?E?Z?D?$",
            description="X unknown, F macro-fused, E eliminated, Z zero idiom, D derived figures.",
        ),
    ]


class Chain(msgspec.Struct, frozen=True, kw_only=True):
    """A loop-carried dependency: a cycle of the dependency graph."""

    cycles_per_iteration: Ratio
    latency: Annotated[Count, Meta(description="Cycles once around.")]
    iterations: Annotated[Positive, Meta(description="Iterations once around.")]
    through: Annotated[list[str], Meta(description="What carries it into later iterations.")]
    instructions: list[Index]
    lines: list[Count]
    steps: list[Step]


class Uops(msgspec.Struct, frozen=True, kw_only=True):
    """Share of the fused µops that each source delivered."""

    decoders: Amount
    uop_cache: Amount
    loop_stream_detector: Amount
    microcode: Amount


class LostSlots(msgspec.Struct, frozen=True, kw_only=True):
    """Share of the issue slots left empty: no µop was there, the reorder buffer was full, the scheduler was full,
    µops that are issued together did not fit, the load or the store buffer was full, or no register was free."""

    no_uops: Amount
    reorder_buffer: Amount
    scheduler: Amount
    group: Amount
    load_buffer: Amount
    store_buffer: Amount
    registers: Amount


class Moves(msgspec.Struct, frozen=True):
    """Share of the register moves that the renamer can eliminate, by what became of them."""

    eliminated: Amount
    executed: Amount


class Simulated(msgspec.Struct, frozen=True, kw_only=True):
    """Cycles per iteration in the steady state, and counters over the whole run, its start included."""

    cycles: Amount
    exact: Exact
    period: Annotated[
        Count, Meta(description="Iterations after which the retirement repeats exactly; 0 if that was not seen.")
    ]
    iterations: Annotated[Positive, Meta(description="Simulated.")]
    run_cycles: Annotated[Count, Meta(description="Cycles of the whole run.")]
    uops: Uops
    lost_slots: LostSlots
    port_uops: Annotated[
        list[Amount], Meta(description="µops started in a cycle on each of the resources, on average.")
    ]
    moves: Moves


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """The life of one dynamic instruction."""

    iteration: Count
    instruction: Index
    dispatched: Count
    earliest: Annotated[
        Count,
        Meta(description="From here on its first µop could start, were its inputs there: it has got to its port."),
    ]
    ready: Annotated[Count, Meta(description="The inputs of its first µop are there.")]
    started: Count
    executed: Annotated[Count, Meta(description="Its last result is there.")]
    retired: Count
    ports: Annotated[list[str | None], Meta(description="The port of each µop.")]


class UopInput(msgspec.Struct, frozen=True, kw_only=True):
    """What another µop made for a µop, perhaps handed on by a move that the renamer eliminated."""

    producer: Annotated[Count, Meta(description="Which of the timeline's µops.")]
    kind: Annotated[
        Literal["register", "flag", "memory", "internal"],
        Meta(
            description=(
                "What carries it; internal: between the µops of an instruction. A load does not wait for what comes "
                "through "
                "memory: its result does (unless the renamer hands it on)."
            )
        ),
    ]
    via: Annotated[
        str, Meta(description='Register or flag as the instruction names it, "memory", or empty between µops of one.')
    ]
    arrived: Annotated[
        Count, Meta(description="The µop could start as far as this input goes; memory: the loaded value was there.")
    ]
    latency: Annotated[
        int, Meta(description="Cycles from the start of the producer; negative if the µop needs it so late.")
    ]


class TimelineUop(msgspec.Struct, frozen=True, kw_only=True):
    """The life of one dynamic µop."""

    iteration: Count
    instruction: Index
    kind: Annotated[
        UopKindName,
        Meta(description="renamer: what the renamer puts before an instruction, such as the stack engine's offset."),
    ]
    port: str
    unit: Annotated[str | None, Meta(description="What else it takes, such as the divider.")]
    dispatched: Annotated[Count, Meta(description="It enters its scheduler.")]
    earliest: Annotated[
        Count, Meta(description="From here on it could start, were its inputs there: it has got to its port.")
    ]
    ready: Annotated[
        Count, Meta(description="From here on it could start with its inputs, and waits for its port or unit.")
    ]
    started: Count
    executed: Annotated[Count, Meta(description="Its last result is there.")]
    retired: Annotated[Count, Meta(description="Its instruction retires.")]
    inputs: Annotated[list[UopInput], Meta(description="All that other µops of the timeline made for it.")]
    last_input: Annotated[
        Count | None,
        Meta(
            description=(
                "Which of the inputs that it waited for came last, for a load's result that of memory; null if it "
                "waited for "
                "none."
            )
        ),
    ]


class Timeline(msgspec.Struct, frozen=True, kw_only=True):
    """The simulated first iterations, in cycles from 0."""

    iterations: Count
    cycles: Count
    events: list[Event]
    uops: Annotated[list[TimelineUop], Meta(description="The µops of the events, in program order.")]
    waits: Annotated[list[Wait], Meta(description="Average waiting times by instruction.")]
    total_wait: Wait


class WaitsInstruction(msgspec.Struct, frozen=True, kw_only=True):
    """Of one instruction; for_inputs and for_ports add up to had_to_wait."""

    had_to_wait: Amount
    for_inputs: Amount
    for_ports: Amount
    caused_to_wait: Amount


class InputWait(msgspec.Struct, frozen=True):
    """The instruction waited for a result of the producer."""

    instruction: Index
    producer: Index
    cycles: Amount


class Waits(msgspec.Struct, frozen=True, kw_only=True):
    """Average cycles an iteration in the second half of the simulation."""

    instructions: list[WaitsInstruction]
    inputs: list[InputWait]
    ports: Annotated[list[PortWait], Meta(description="The instruction waited for the resource.")]
    blocked: Annotated[
        list[PortWait], Meta(description="Others waited for the resource while the instruction took it.")
    ]


class PortWait(msgspec.Struct, frozen=True):
    """Cycles that have to do with a port or a unit."""

    instruction: Index
    resource: Annotated[str, Meta(description="Its name.")]
    cycles: Amount


class Wait(msgspec.Struct, frozen=True, kw_only=True):
    """llvm-mca's average waiting times in cycles."""

    executions: Count
    in_scheduler: Amount
    in_scheduler_while_ready: Amount
    until_retire: Amount


class Tool(msgspec.Struct, frozen=True):
    """What wrote the report."""

    name: str
    version: str


class Report(msgspec.Struct, frozen=True):
    """What incc found out. Times are in cycles of the core's clock and, where not said otherwise, per iteration of the
    kernel. Instructions are numbered from 0 within their kernel, lines from 1; line 0 means that there is none."""

    schema_version: Annotated[
        Literal["1.0"],
        Meta(
            description=(
                "The first number changes when a reader of the old format would misread the new one, the second with "
                "every addition."
            )
        ),
    ]
    tool: Tool
    units: Annotated[list[Unit], Meta(description="Translation units, in the order of the command line.")]
