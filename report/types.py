"""The types of a report: incc builds, reads and writes these structs, and the JSON schema is made from them.

A record `XReport` is the report's form of the record `X` of the front ends or the core. Records of theirs that need no
other form are used as they are. The schema describes records and fields by their docstrings (`views/schemas.py`).

Durations are in cycles of the core's clock, per iteration of the kernel unless stated otherwise. Instructions are
numbered from 0 within their kernel and lines from 1; line 0 means that there is no line.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from incc.core.counters import LostSlots, UopsBySource
from incc.core.figures import AccessTraffic, Operations, Rates, Summary
from incc.core.figures import Wait as Wait
from incc.core.prediction import BoundName as BoundName
from incc.core.quality import CodeFigures
from incc.core.quality import StackUse as StackUse
from incc.frontends.kernel import Basis, RegionKind, RoleName, Transformations
from incc.frontends.kernel import CodeSpan as CodeSpan
from incc.frontends.kernel import Frame as Frame
from incc.frontends.kernel import LeftOut as LeftOut
from incc.frontends.kernel import Refused as Refused
from incc.frontends.kernel import SourceLocation as SourceLocation
from incc.frontends.marks import MarkError as MarkError
from incc.support.quantities import Above, Amount, Count, Exact, Index, Positive, Share

AccessKind = Literal["load", "store", "load, store"]
PatternName = Literal["fixed", "contiguous", "strided", "indirect", "chased", "unknown"]
UopKindName = Literal["load", "store-address", "store-data", "compute", "branch", "renamer"]


class Ratio(msgspec.Struct, frozen=True):
    """A duration in cycles, as a number and exactly."""

    cycles: Amount
    exact: Exact


class Bound(msgspec.Struct, frozen=True):
    """A lower bound in cycles per iteration and what makes it."""

    cycles: Amount
    exact: Exact
    by: str
    """The cause in words; empty if there is none."""


class ModelReport(msgspec.Struct, frozen=True, kw_only=True):
    """The machine model."""

    name: str
    """LLVM's -mcpu name."""
    title: str
    version: str
    isa: str
    chosen_by: str
    """The option, command or default that selected the core."""
    note: str
    """The model that replaces the named core's own, and the reason; empty if the core has its own model."""


class CorePart(msgspec.Struct, frozen=True):
    """A part of the core before its ports."""

    stage: Literal["front end", "rename", "window", "memory"]
    name: str
    text: str
    """The model's data on this part, in words."""


class CoreScheduler(msgspec.Struct, frozen=True):
    """Entries in which µops wait for the listed ports."""

    ports: list[str]
    entries: Count
    kind: Literal["scheduler", "queue"]
    """scheduler: µops leave out of order; queue: µops leave in order, towards the schedulers of these ports."""


class CoreWork(msgspec.Struct, frozen=True, kw_only=True):
    """A kind of work, with the model's figures for instructions that do little else."""

    name: str
    bits: list[Count]
    """The vector widths that these figures hold for; empty if there are no vectors."""
    ports: list[str]
    """The ports that at least one of its µops can use."""
    uops: Count
    """µops on ports."""
    latency: list[Count]
    """The smallest and the largest latency in cycles; empty if there is none."""
    rthroughput: Amount | None
    """Cycles between two instances; None for a part of an instruction."""
    unit: str | None
    """Another unit that it occupies, such as the divider; None if there is none."""
    unit_cycles: Count
    """Cycles for which it occupies that unit."""


class CoreReport(msgspec.Struct, frozen=True, kw_only=True):
    """The core as its model describes it; facts that the model lacks are left out."""

    title: str
    model: str
    """LLVM's -mcpu name."""
    issue_width: Count
    """Fused µops issued per cycle."""
    retire_width: Count
    """Fused µops retired per cycle."""
    parts: list[CorePart]
    schedulers: list[CoreScheduler]
    """The schedulers; empty if µops start in program order."""
    ports: list[str]
    units: list[str]
    """Other units that an instruction can occupy exclusively."""
    work: list[CoreWork]


class Expectation(msgspec.Struct, frozen=True, kw_only=True):
    """A condition that a mark in the source sets for a kernel, and its outcome."""

    condition: str
    """The condition, in the language of docs/filters.md."""
    kernel_id: str
    """The kernel_id of the kernel that was checked."""
    holds: bool | None
    """True if the condition holds; None if the kernel lacks a value that it needs."""
    text: str
    """The predicted and the expected value; empty if the condition holds."""


class MarkReport(msgspec.Struct, frozen=True, kw_only=True):
    """A mark in the source that selects code for analysis and sets expectations for it."""

    source: SourceLocation
    """The mark's line."""
    column: Count
    """The mark's column in its line; 0 if unknown."""
    at: SourceLocation
    """The first line of the statement that the mark applies to."""
    at_column: Count
    """The column of the statement's first character; 0 if unknown."""
    last_line: Count
    """The last line of that statement or function."""
    name: str
    """The name that the mark gives to the kernel; empty if it gives none."""
    mcpu: list[str]
    """The cores that the mark names; empty for the unit's core."""
    kernels: list[str]
    """The kernel_id of each marked kernel of the unit."""
    expectations: list[Expectation]


class LibraryCall(msgspec.Struct, kw_only=True):
    """A call of a library function that compilers substitute for loops, and that users also write themselves."""

    function: str
    """The symbol of the calling function."""
    function_name: str
    """The calling function as the source writes it, with C++ names demangled."""
    callee: str
    line: Positive
    """The call's line in the assembly."""
    source: SourceLocation | None
    """The user's line according to the debug information; None if unknown."""


class NotFound(msgspec.Struct, frozen=True, kw_only=True):
    """A function that was requested by name and has no analysed loop."""

    asked: str
    """The requested name."""
    text: str
    """The reason, in words."""
    functions: list[str]
    """The symbols of matching functions that have no loop."""
    inlined_into: list[str]
    """The functions that it was inlined into, if it has no code of its own."""
    nearest: list[str]
    """Similar names, if no function matches."""


class UnitReport(msgspec.Struct, kw_only=True):
    """One translation unit, its compilation and its kernels."""

    source: str
    """The compiled file; for code generated at link time the linked file; empty for assembly input."""
    assembly_file: str
    """The file that the instructions' lines refer to."""
    compiler: str
    compiler_version: str
    command: list[str]
    """The user's command line."""
    folder: str
    """The folder that the command ran in; empty if unknown."""
    output: str
    """The command's output file, as the command names it; empty if there is none."""
    way: Literal["given", "second-run", "assembler", "object"]
    """The origin of the code. given: direct input; second-run: a second run of the compiler; assembler: the compiler's
    output to the assembler; object: the object file."""
    target_cpu: str
    """The core that the command line implies; empty if it implies none."""
    model: ModelReport
    core: CoreReport | None
    """The core's description; None if it was not requested."""
    ceilings: CeilingsReport | None = None
    """The core's ceilings in the roofline model; None if they were not requested."""
    kernels: list[KernelReport]
    left_out: list[LeftOut]
    system_loops: Count
    """The number of loops that come only from system headers and are therefore not analysed. Neither they nor the
    functions that they were inlined into contain a line of the user's code."""
    became_calls: list[LibraryCall]
    """Calls outside analysed loops that may replace a loop of the source. No model includes their cost."""
    not_found: list[NotFound]
    """Functions that were requested by name and have no analysed loop."""
    ways: list[WaysReport] | None
    """Loops with branches inside and the paths through them; None if they were not requested."""
    control_flow: list[ControlFlowReport] | None
    """Control-flow graphs of the functions that contain kernels; None if they were not requested."""
    marks: list[MarkReport]
    """The marks in the source. If there are any, only marked kernels are analysed."""
    mark_problems: list[MarkError]
    trials: list[Trial] | None
    """The effect of the hints' flags, for each hint alone and then for all together; None if trials were not
    requested."""
    calls: list[CallReport] | None = None
    """Whole calls of the functions that contain kernels; None if no trip counts were given."""
    code: str = ""
    """The unit's code, compressed, from which incc completes its kernels; empty if all are complete."""


class CallLoop(msgspec.Struct, frozen=True, kw_only=True):
    """An innermost loop on the path of a call."""

    kernel_id: str
    role: str
    first_line: Count
    last_line: Count
    entries: Amount
    """Entries into the loop in a call."""
    iterations: Amount
    """Its iterations in all entries together."""
    cycles: Amount
    """The cycles of these iterations of the loop by itself."""


class CallReport(msgspec.Struct, kw_only=True):
    """A whole call of a function, simulated from its entry to its return for given trip counts.

    Calls follow each other, so that the end of one overlaps with the start of the next.
    """

    function: str
    """The function's symbol."""
    function_name: str
    """The function as the source writes it, with C++ names demangled."""
    reason: str = ""
    """The reason why the call is not predicted; empty if it is. Then all figures are 0."""
    inner_trips: Count = 0
    """Iterations of the source's innermost loops."""
    outer_trips: Count = 0
    """Iterations of each loop around them."""
    near_trips: Count | None = None
    """Iterations from which on a call takes at most 10 % more per element than an endless one. None if it is not known,
    and if trip counts of outer loops were given."""
    inputs: dict[str, int] = {}
    """Values of registers and places in memory that the trip counts come from."""
    elements: Amount = 0
    """Elements of a call: of the source loop with most iterations. 0 if unknown."""
    cycles: Amount = 0
    """Cycles from call to call."""
    cycles_per_element: Amount | None = None
    loops_cycles: Amount = 0
    """Cycles of the loops by themselves, added up. A call may take less, since loops overlap with what surrounds
    them."""
    mispredictions: Amount = 0
    """Mispredicted branches: exits of loops that run more often than the core foresees."""
    misprediction_cycles: Amount = 0
    """Cycles that these cost."""
    mispredictions_counted: bool = True
    """True if `cycles` includes these, False if it is not known for the core which exits it mispredicts."""
    instructions: Amount = 0
    """Executed instructions, including the caller's that set arguments."""
    unknown_instructions: Amount = 0
    """Those that the model lacks; they are not counted in the cycles."""
    function_calls: Amount = 0
    """Calls of other functions, whose cycles are not counted."""
    assumed: list[Positive] = []
    """Lines of branches whose direction depends on data and is assumed."""
    loops: list[CallLoop] = []
    text: list[str] = []
    """The figures in sentences."""


class TriedLoop(msgspec.Struct, frozen=True, kw_only=True):
    """A loop of the source before and after a trial.

    If one line of a function has several loops, this is the one that does most work.
    """

    kernel_id: str
    """The kernel_id before the trial."""
    function_name: str
    source: SourceLocation | None
    hinted: bool
    """True if a hint for this loop names these flags."""
    before: Amount
    """Cycles per iteration before the trial; the average if they depend on code placement by the linker."""
    after: Amount | None
    """Cycles per iteration after the trial; None if the loop no longer exists."""
    element_before: Amount | None
    """Cycles per element of the source's loop before the trial; None if unknown."""
    element_after: Amount | None
    work: Amount | None
    """The work of an iteration after the trial relative to before; None if unknown."""
    gain: float | None
    """The speedup minus 1; None if unknown."""
    measured_before: Amount | None = None
    """Cycles per iteration measured on this machine before the trial; None if not measured."""
    measured_after: Amount | None = None
    measured_gain: float | None = None
    """The measured speedup minus 1; None if not measured, or if the work per iteration cannot be compared."""
    text: str
    """The comparison in words."""


class Trial(msgspec.Struct, frozen=True, kw_only=True):
    """A compilation of the unit with additional flags, analysed without writing any output."""

    flags: Annotated[list[str], Meta(min_length=1)]
    """The flags that were appended to the command's arguments."""
    rules: list[str]
    """The rules of the hints that suggest these flags."""
    problem: str
    """The reason why the trial has no result; empty if it has one."""
    loops: list[TriedLoop]


class Branch(msgspec.Struct, frozen=True):
    """A branch inside a loop, and its direction on the path."""

    line: Positive
    taken: bool


class WayReport(msgspec.Struct, frozen=True, kw_only=True):
    """One path from the loop's start back to it."""

    share: Share
    """The fraction of iterations that take this path."""
    branches: list[Branch]
    """The branches at which other paths leave this one."""
    lines: list[Positive]
    """The lines of the path's instructions, in execution order."""
    lines_skipped: list[Positive]
    """The lines of the loop's other instructions."""
    instructions: Count
    unknown_instructions: Count
    """The number of instructions that the model lacks; other figures exclude them."""
    ports: Ratio
    """The bound by ports, including the divider."""
    front_end: Ratio
    """The bound by the front end or retirement."""
    loop_carried: Ratio
    """The bound by loop-carried dependencies."""
    cycles: Ratio
    """Simulated cycles, or the largest bound without a simulation."""
    refused: list[Refused]
    """Statements that the assembler rejected."""


class WaysReport(msgspec.Struct, kw_only=True):
    """A loop with branches inside and the paths through it, each analysed as if every iteration took it."""

    kind: Literal["branch", "paths"]
    """branch: both directions of the first branch, each continued along its likeliest path; paths: every path."""
    function: str
    """The function's symbol."""
    function_name: str
    """The function as the source writes it, with C++ names demangled."""
    label: str
    first_line: Count
    last_line: Count
    source: SourceLocation | None
    complete: bool
    """True if all paths are listed; if not, shares are relative to the listed paths."""
    simulated: bool
    """True if cycles come from simulations, False if they are the largest bounds."""
    weighted_cycles: Amount
    """The average of the paths' cycles weighted by their shares; it excludes branch mispredictions."""
    ways: Annotated[list[WayReport], Meta(min_length=2)]


class BlockInstruction(msgspec.Struct, frozen=True):
    """An instruction of a basic block."""

    line: Positive
    text: str


class Successor(msgspec.Struct, frozen=True):
    """An edge from a basic block to the next one."""

    block: Count
    """The index of the target block."""
    jump: str
    """The jump's mnemonic; empty where control falls through."""
    closes_loop: bool
    """True if the edge returns to the start of a loop."""


class BlockReport(msgspec.Struct, frozen=True, kw_only=True):
    """A basic block."""

    label: str
    """The block's label; empty if it has none."""
    instructions: list[BlockInstruction]
    in_innermost_loop: bool
    successors: list[Successor]
    """The blocks that control can reach from the block's end."""


class ControlFlowReport(msgspec.Struct, kw_only=True):
    """The control-flow graph of a function, including its cold part and other code that it jumps to."""

    function: str
    """The function's symbol; empty for code outside functions."""
    function_name: str
    """The function as the source writes it, with C++ names demangled."""
    blocks: list[BlockReport]
    """Basic blocks in the order of the text."""


class Size(msgspec.Struct, frozen=True, kw_only=True):
    """Counts per iteration."""

    instructions: Count
    bytes: Count
    issue_slots: Count
    """µops in the fused domain, as the front end issues them."""
    retire_slots: Count
    """µops in the fused domain, as they retire."""
    uops: Count
    """µops in the unfused domain, as ports execute them."""


class ArithmeticReport(Operations, frozen=True, kw_only=True):
    """Arithmetic on vector registers, counted by element."""

    flop_per_byte: Amount | None
    """Arithmetic intensity: operations per byte that instructions load and store; None if no bytes or an unknown number
    of bytes are moved."""
    text: str
    """A summary in words."""


class Memory(AccessTraffic, frozen=True, kw_only=True):
    """Data moved by loads and stores."""

    line_crossings: Amount
    """Loads per iteration that cross a cache line at the best alignment of each pointer; the port bound includes
    them."""
    worst_line_crossings: Amount
    """Loads per iteration that cross a cache line at the worst alignment that elements of up to 8 bytes allow."""
    expected_line_crossings: Amount
    """Line crossings per iteration in the simulation: those at the best alignment if it aligns all loads of the kernel,
    otherwise the average over all alignments."""
    worst_alignment_port_bound: Amount
    """The port bound at the worst alignment, in cycles per iteration."""


class AccessPattern(msgspec.Struct, frozen=True, kw_only=True):
    """Accesses with the same unknown base that move alike from iteration to iteration."""

    instructions: list[Index]
    kind: AccessKind
    pattern: PatternName
    """fixed: the same address in each iteration; contiguous: all bytes, one after the other; strided: parts at a
    constant distance; indirect: addresses that depend on loaded values; chased: each address is loaded from the place
    before, as in a list; unknown: others."""
    step: int | None
    """Bytes by which the addresses move per iteration; None if the number is unknown or varies."""
    stride: Count | None
    """For strided ones the bytes from each part that the loop uses to the next, however often it is unrolled; None if
    it is unknown."""
    used_bytes: Count
    """The bytes that it uses of each stride, of each step if it is contiguous, and otherwise at each place."""
    pieces: list[Count]
    """The lengths of the separate pieces of the bytes that it uses of each stride, such as fields of a structure."""
    structure: Literal["", "one field", "some fields"]
    """The part of an array of structures that the pieces look like; empty for longer strides, and others."""
    line_use: Share | None
    """The share of the bytes of the cache lines that it touches which it uses; None if the places are unknown."""
    sources: list[Index]
    """The loads whose values the addresses of indirect and chased ones depend on."""
    text: str
    """The pattern in a clause."""


class Hint(msgspec.Struct, frozen=True, kw_only=True):
    """Advice that follows from the data with certainty."""

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
        "old-destination",
        "failing-check",
        "invariant-access",
        "many-arrays",
        "strided",
        "gather",
        "register-blocking",
        "distance-of-arrays",
        "repeated-place",
        "loop-overhead",
        "integer-division",
        "conversions",
        "math-errno",
        "math-call",
        "extremum-call",
        "complex-range",
        "instruction-set",
        "vector-width",
        "short-trips",
        "non-temporal-stores",
        "blocks",
        "partly-used-lines",
        "prefetch",
    ]
    text: str
    evidence: dict[str, Any]
    flags: list[str]
    """Compiler flags to try, exactly as on a command line. Flags in use are left out; empty if no flag of this compiler
    helps."""
    source_change: str
    """The change to make in the source, in words; empty if there is none."""
    gain: float | None = None
    """The predicted speedup of the loop: 2 is twice as fast. None if it is unknown, or depends on data."""


class RemarkReport(msgspec.Struct, frozen=True, kw_only=True):
    """A message of the compiler about the loop in the source."""

    kind: Literal["vectorised", "not-vectorised", "versioned", "unrolled", "other"]
    """The message's subject; versioned: another loop runs if this one's run-time checks fail."""
    text: str
    """The message in words that are the same for all compilers."""
    said: str
    """The compiler's own words."""
    by: str
    """The compiler's pass; empty if unknown."""
    source: SourceLocation | None
    """The place that the compiler names."""
    column: Count
    """The column in that line; 0 if unknown."""


class ElementsReport(msgspec.Struct, frozen=True, kw_only=True):
    """The number of elements of the source's loop that one iteration of the compiled loop handles."""

    per_iteration: Annotated[float, Meta(ge=0)]
    cycles: Amount
    """Predicted cycles per element."""
    basis: Basis
    """inferred: derived from steps and widths of accesses; compiler: reported by the compiler."""
    why: str
    """The evidence, in words."""
    near_trips: Count | None = None
    """Elements from which on a whole call takes at most 10 % more per element. None if it is not known."""
    text: str
    """Cycles per iteration and per element, in words."""


class RoleReport(msgspec.Struct, frozen=True, kw_only=True):
    """The part that a loop plays among the loops of a function that do the same work."""

    name: RoleName
    """main: most of the work; remainder: the iterations that the main loop leaves over; prologue: the elements before
    the main loop; fallback: replaces the main loop if arrays overlap or are short, or if a stride is 1; outer: an outer
    loop around an inner one that has nothing to do; partial: the iterations of a loop that enter no loop inside; empty
    for code that is not a loop."""
    of: str
    """The kernel_id of the main loop, or of the inner loop for an outer one; empty for a main loop."""
    instead: bool
    """True for a remainder that also replaces the main loop where that cannot run."""
    basis: Basis
    """inferred: derived from the code, its source lines and its control flow; compiler: reported by the compiler."""
    text: str
    """The role in words."""


class TransformationsReport(Transformations, frozen=True, kw_only=True):
    """The compiler's own record of a loop: the transformations that its passes applied."""

    text: str
    """A summary in words."""


class RangeCauseReport(msgspec.Struct, frozen=True, kw_only=True):
    """A reason why a kernel may take more or fewer cycles than predicted."""

    kind: Literal["aliasing", "forwarding", "line-crossings", "4k-aliasing", "branches", "unknown-instructions"]
    least: Amount
    """Cycles per iteration if the cause never occurs."""
    most: Amount | None
    """Cycles per iteration if the cause always occurs; None if unknown."""
    instructions: list[Index]
    when: str
    """The conditions for the fewest and for the most cycles, in words."""


class Range(msgspec.Struct, frozen=True, kw_only=True):
    """The range of cycles that the prediction may take, depending on data that the code does not show."""

    least: Amount
    most: Amount | None
    """The upper end in cycles per iteration; None if there is no known upper end."""
    causes: Annotated[list[RangeCauseReport], Meta(min_length=1)]
    text: str
    """Both ends and their causes, in words."""


class Overview(msgspec.Struct, frozen=True, kw_only=True):
    """A summary of the kernel in a few words."""

    function: str
    """The short name of the function that the loop is written in."""
    limit: str
    """The kernel's limit."""
    vector: str
    """The width of its vectors, and the share of operations in them if it is below 100 %."""
    look: str
    """Reasons to look at the kernel: the rules of its hints and the causes of a wide range; empty if there are none."""


class MispredictionsReport(msgspec.Struct, frozen=True, kw_only=True):
    """The cost of branch mispredictions inside the kernel at a given rate."""

    rate: Share
    """Mispredictions per execution of the inner branches that depend on data."""
    branches: Positive
    """The number of such branches that an iteration executes."""
    miss_cycles: Amount
    """The average cost of one misprediction in cycles."""
    cycles: Amount
    """Cycles per iteration lost to mispredictions."""
    total: Amount
    """The prediction plus these cycles."""
    text: str
    """The sum in words."""


class MeasurementReport(msgspec.Struct, frozen=True, kw_only=True):
    """A measurement of the kernel's own code on the processor that made the report."""

    cycles: Amount | None
    """Cycles per iteration; None if the measurement failed."""
    spread: Amount | None
    """The spread of undisturbed samples in cycles per iteration; None if the measurement failed."""
    way: Literal["clock", "counters", ""]
    """The time source. clock: the clock, calibrated with a chain of dependent additions; counters: performance
    counters; empty if nothing was measured."""
    exit: Literal["own", "replaced", "added", "repeated", ""]
    """The way the loop was ended. own: by its own counter; replaced: by a counter in place of the comparison; added: by
    an additional counter, whose cost is subtracted; repeated: the code is not a loop, and copies of it were run; empty
    if nothing was measured."""
    core: str
    """LLVM's name of the core that ran the measurement; empty if unknown."""
    same_core: bool
    """True if the prediction is for that core, False if it is for another or the nearest one."""
    difference: float | None
    """The prediction minus the measured cycles, as a fraction of the measured cycles; None if the measurement
    failed."""
    failure: str
    """The reason why the measurement failed, in a word; empty if it succeeded."""
    notes: list[str]
    """The differences in data and code between the measurement and the kernel's own program."""
    explanations: list[str]
    """Possible explanations of a difference above 10 %; empty below that."""
    text: str
    """The result in words."""


class Prediction(msgspec.Struct, frozen=True, kw_only=True):
    """The predicted cycles: simulated, or the largest bound without a simulation."""

    cycles: Amount
    exact: Exact
    by: Literal["simulation", "bounds"]
    limited_by: list[BoundName]
    """The largest bounds, if they reach the prediction (within 2 % of a simulation). Retirement is left out if the
    front end has the same bound."""


class BoundsReport(msgspec.Struct, frozen=True, kw_only=True):
    """Lower bounds on the cycles per iteration."""

    port: Bound
    """Execution ports."""
    divider: Bound
    """Units that an instruction occupies exclusively."""
    front_end: Bound
    retire: Bound
    loop_carried: Bound
    prediction: Prediction

    def of(self, name: BoundName) -> Bound:
        """Return the bound of this name."""
        bound: Bound = getattr(self, name)
        return bound


class WhatIfReport(msgspec.Struct, frozen=True, kw_only=True):
    """The kernel's cycles on a core with one change."""

    change: str
    """front-end, issue-width, port NAME, unlimited-ports, divider, window, register-dependencies, memory-dependencies,
    dependencies, move-elimination; or a change that the user requested."""
    text: str
    """The change in words."""
    cycles: Amount
    exact: Exact
    gained: float
    """Cycles saved by the change; negative if it makes the kernel slower."""
    asked: bool
    """True if the user requested the change, False if it is one that is always tried."""


class DecrementReport(msgspec.Struct, frozen=True, kw_only=True):
    """The kernel's cycles without some of its work (docs/decremental.md)."""

    kind: Literal["load", "store", "array", "loads", "stores", "memory", "arithmetic", "other"]
    """The work: a load or store, the accesses to one array, all loads, stores or accesses to memory, all floating-point
    arithmetic, or everything but that arithmetic and the branches."""
    instructions: list[Index]
    """The instructions without their access or arithmetic."""
    kept: list[Index]
    """Instructions with such work that cannot be left out, and that stay as they are."""
    text: str
    """The work in words, after “without”."""
    cycles: Amount
    exact: Exact
    gained: float
    """Cycles saved; negative if the kernel becomes slower."""


class Cold(msgspec.Struct, frozen=True, kw_only=True):
    """A run of a fixed number of iterations from a cold start, which is no prediction of the steady state.

    The first µop is dispatched in cycle 0. If the model describes no pipeline, an ideal one is simulated.
    """

    iterations: Positive
    cycles: Count
    """Cycles until the last instruction retires."""
    uops: Count
    """Issue slots."""
    stalls: Stalls
    dispatched: list[CyclesOf]
    """The number of cycles in which each number of µops filled issue slots, in ascending order."""
    issued: list[CyclesOf]
    """The number of cycles in which each number of µops started on their ports."""
    retired: list[CyclesOf]
    """The number of cycles in which each number of instructions retired."""
    schedulers: list[Scheduler]
    reorder_buffer: Buffer
    registers: Annotated[list[RegisterFile], Meta(min_length=1)]
    """The register files; the first has no name and stands for all of them together."""
    events: list[ColdEvent]
    """The events of the timeline's iterations that retire before its last cycle."""
    waits: list[ColdWait]
    """Waiting times of each instruction over these iterations; empty without events."""
    waits_total: ColdWait | None
    """Waiting times of all instructions; None without events."""
    pressure: PressureReport | None
    """The reasons for waiting µops; None if they were not requested."""


class Stalls(msgspec.Struct, frozen=True, kw_only=True):
    """Cycles in which the renamer left issue slots empty although instructions were waiting, by cause."""

    registers: Count
    """No physical register was free."""
    reorder_buffer: Count
    scheduler: Count
    load_buffer: Count
    store_buffer: Count
    group: Count
    """µops that must be issued together did not fit."""
    front_end: Count
    """The front end delivered no µop."""
    other: Count


class CyclesOf(msgspec.Struct, frozen=True):
    """The number of cycles in which a count occurred."""

    count: Count
    cycles: Positive


class Buffer(msgspec.Struct, frozen=True):
    """The fill level of a buffer at the end of each cycle."""

    entries: Count
    """The number of entries; 0 if unlimited."""
    average: Amount
    most: Count


class Scheduler(Buffer, frozen=True, kw_only=True):
    """The fill level of a scheduler, or of a queue before several schedulers."""

    name: str


class RegisterFile(msgspec.Struct, frozen=True, kw_only=True):
    """Physical registers, which instructions hold from issue to retirement."""

    name: str
    entries: Count
    """The number of registers; 0 if unlimited."""
    mappings: Count
    """The number of registers that were allocated."""
    most: Count
    """The most registers in use at once."""
    moves: MovesOf


class MovesOf(msgspec.Struct, frozen=True, kw_only=True):
    """The register moves that the renamer may eliminate."""

    candidates: Count
    eliminated: Count
    zero: Count
    """Eliminated moves of a register known to be zero; always 0, since no model distinguishes them."""
    most: Count
    """The most moves eliminated in one cycle."""


class ColdEvent(msgspec.Struct, frozen=True, kw_only=True):
    """The cycles of one dynamic instruction's stages.

    An instruction that uses no port is ready, issued and executed in the cycle in which it is dispatched.
    """

    iteration: Count
    instruction: Index
    dispatched: Count
    ready: Count
    """The cycle from which its first µop could start if its port were free."""
    issued: Count
    """The cycle in which its first µop starts."""
    executed: Count
    """The cycle in which its last result is available."""
    retired: Count


class ColdWait(msgspec.Struct, frozen=True, kw_only=True):
    """llvm-mca's average waiting times in cycles."""

    executions: Count
    queue: Amount
    """Cycles from dispatch to the start of the first µop."""
    ready: Amount
    """The part of these cycles after its inputs were ready."""
    writeback: Amount
    """Cycles from the result to retirement."""


class PressureReport(msgspec.Struct, frozen=True, kw_only=True):
    """The causes of waiting µops, in cycles of the run."""

    increase: Count
    """Cycles in which more µops entered the schedulers than left them, or in which the schedulers were full."""
    resources: Count
    """The part of these cycles in which a µop with all inputs waited for its port or unit."""
    registers: Count
    """The part of these cycles in which a µop waited for a register or flag."""
    memory: Count
    """The part of these cycles in which a µop waited for a value that was stored and is loaded again."""
    data: Count
    """The part of these cycles counted in `registers` or `memory`."""
    by_resource: list[ResourcePressure]
    """The cycles of `resources` by port or unit; one cycle may count for several."""
    sequence: list[SequenceStepReport]
    """The critical sequence: each µop's start was delayed by the µop before it. The sequence repeats if its first and
    last µop are the same in different iterations."""


class ResourcePressure(msgspec.Struct, frozen=True):
    """The cycles in which µops waited for a resource."""

    resource: Annotated[int, Meta(ge=0)]
    """The index in `resources`."""
    cycles: Positive


SequenceKind = Literal["", "register", "memory", "resource"]


class SequenceStepReport(msgspec.Struct, frozen=True, kw_only=True):
    """A µop of the critical sequence."""

    instruction: Index
    iteration_offset: int
    """Iterations after that of the first µop."""
    kind: SequenceKind
    """The kind of dependency that delayed the µop; empty for the first."""
    via: str
    """The register, flag or resource."""
    cycles: int
    """Cycles since the start of the previous µop."""


class ResourceReport(msgspec.Struct, frozen=True, kw_only=True):
    """A port or another unit."""

    name: str
    kind: Literal["port", "unit"]
    title: str
    load: Amount
    """Occupied cycles per iteration."""
    busiest: bool
    """True for the ports that determine the port bound."""


class LlvmResource(msgspec.Struct, frozen=True, kw_only=True):
    """A unit as LLVM's scheduling model of the core names it."""

    name: str
    number: str
    """LLVM's number of the unit as llvm-mca prints it: 3, or 3.1 for a resource with several units."""
    resource: Index | None
    """The index of the corresponding entry of `resources`, the first if there are several; None if there is none or it
    is unused."""
    cycles: Amount
    """Occupied cycles per iteration."""
    instructions: list[Amount]
    """Occupied cycles by instruction."""


class CriticalPath(msgspec.Struct, frozen=True):
    """The longest dependency path through a single iteration."""

    cycles: Count
    instructions: list[Index]
    steps: list[StepReport]


class StepReport(msgspec.Struct, frozen=True, kw_only=True):
    """A dependency on a path."""

    producer: Index = msgspec.field(name="from")
    to: Index
    kind: Literal["register", "flag", "memory", "internal"]
    """The carrier of the dependency; internal: from an instruction's own load to its result."""
    via: str
    """The register or flag as the assembly writes it, "memory", or empty for internal steps."""
    latency: Count
    """Cycles from the producer's value to the consumer's value."""
    distance: Count
    """Iterations from producer to consumer."""


class Dependency(StepReport, frozen=True, kw_only=True):
    """An edge of the dependency graph."""

    critical_path: bool
    """True if the edge is part of the critical path."""
    chains: list[Count]
    """The indices of the chains that contain the edge."""


class UnknownInstruction(msgspec.Struct, frozen=True, kw_only=True):
    """An instruction that the model lacks; all figures exclude it."""

    index: Index
    line: Count
    text: str
    form: str


class LinesReport(msgspec.Struct, frozen=True, kw_only=True):
    """Cache lines per iteration between two levels."""

    read: Amount
    """Fetched for loads."""
    allocate: Amount
    """Fetched because a store misses (write-allocate)."""
    written: Amount
    """Modified, and written back."""
    passed: Amount
    """Unmodified, and passed on to a victim cache."""
    direct: Amount
    """Written by non-temporal stores, without being fetched."""

    @property
    def total(self) -> float:
        """All lines, in both directions, except for those passed on to a victim cache."""
        return self.read + self.allocate + self.written + self.direct


class DataLevel(msgspec.Struct, frozen=True, kw_only=True):
    """The prediction for data in one level of the memory hierarchy."""

    name: str
    """"L1", "L2", "L3" or "memory"."""
    cycles: Amount
    """Cycles per iteration."""
    cycles_per_element: Amount | None
    """Cycles per element of the source's loop; None if the elements are unknown."""
    least_cycles: Amount
    """Cycles per iteration if L1 holds all lines of which that is uncertain: those of neighbouring rows at an unknown
    distance, and those that share a set with too many others. Equal to `cycles` without such lines."""
    transfer: Amount
    """Cycles per iteration of the transfers between this level and the one inside."""
    lines: LinesReport
    """The lines that they move."""
    size: Count | None = None
    """The bytes that it holds; None for the memory."""
    requested: bool
    """True if the user asked for this level."""
    saturating_cores: Count | None
    """The number of cores from which on the level is saturated; None if it never is, or unknown."""
    figures: str
    """The source of the level's costs."""


class DataDistance(msgspec.Struct, frozen=True, kw_only=True):
    """A distance in memory."""

    bytes: Count
    elements: Count | None
    """In elements that the source's loop handles; None if these are unknown, or if it is no whole number of them."""


class DataReach(msgspec.Struct, frozen=True, kw_only=True):
    """The distance up to which a level holds lines until they are used again."""

    level: str
    distance: DataDistance


class DataStream(msgspec.Struct, frozen=True, kw_only=True):
    """Accesses that use the same cache lines at most a line apart."""

    instructions: list[Index]
    kind: AccessKind | Literal["non-temporal store"]
    step: int
    """Bytes by which the addresses move per iteration."""
    lines: Amount
    """Lines per iteration."""
    reuse_bytes: Amount | None
    """Bytes that the loop touches from one use of a line to the next by these accesses; None if the lines are new."""
    level: str
    """The level in which reused lines are found; empty for new lines."""
    distance: DataDistance | None
    """From these accesses to those ahead that used the same lines before, such as the length of a row; None for new
    lines."""
    reaches: list[DataReach]
    """The largest distances at which each cache holds the lines, if the loop's other distances grow in proportion.

    Of lines of a neighbouring row at an unknown distance, those at which they are surely found. Empty for other new
    lines."""
    neighbour: bool
    """True for new lines of an array that other accesses go through an unknown distance away, as in another row."""
    apart: str
    """This distance to the nearest of them in terms of the source's variables, such as "n elements"; empty if it
    depends on other values."""
    access: Index | None = None
    """The number of its pattern among the kernel's `accesses`."""


class DataPass(msgspec.Struct, frozen=True, kw_only=True):
    """A call that goes through data of a size once with a loop, when calls follow each other."""

    bytes: Count
    """The size of all data."""
    iterations: Count
    """The loop's iterations in the call."""
    cycles: Amount
    """The cycles of the call."""
    beyond_loop: float
    """The difference to these iterations of an endless loop; less than 0 where calls overlap."""
    misprediction_cycles: Amount
    """The cycles that the mispredicted exit of the loop costs, or may cost."""
    mispredictions_counted: bool
    """True if `cycles` includes these, False if it is not known for the core whether it mispredicts the exit."""
    text: str
    """The sentence in the report, without a full stop."""


class DataReport(msgspec.Struct, frozen=True, kw_only=True):
    """The predictions for data in each level of the memory hierarchy."""

    levels: list[DataLevel]
    """From L1 outwards; only L1 if some addresses are unknown."""
    streams: list[DataStream]
    overlapping: Amount
    """Cycles per iteration of everything but loads from L1 (T_OL of the ECM model)."""
    loading: Amount
    """Cycles per iteration in which the core loads from L1 (T_nOL)."""
    line_iterations: Amount | None
    """Iterations in which the fastest stream touches one cache line; None without streams."""
    line_bytes: Count
    cores: Count
    """The number of cores that run the kernel."""
    notation: str
    """The times per cache line of work as in the ECM model: {T_OL ‖ T_nOL | L2 | L3 | memory}.

    Of times with ‖ between them the longest counts; those with | add up."""
    prediction: str
    """The predictions per cache line of work: {L1 | L2 | L3 | memory}."""
    unknown: list[Index]
    """Instructions of which it is unknown which cache lines they move, or what that costs: nothing is predicted beyond
    L1."""
    deciding: list[str]
    """Variables of the source whose values decide which lines these instructions move, or how far apart rows are."""
    thrashing: list[str]
    """Sentences on streams that share few sets of L1."""
    configuration: str
    """The machine on which the costs were measured."""
    passes: list[DataPass] = []
    """For each requested size that L1 holds, if calls of the function can be followed and have one main loop."""

    @property
    def beyond_l1(self) -> list[DataLevel]:
        """The requested levels except for L1."""
        return [level for level in self.levels if level.requested and level.name != "L1"]


class PeakReport(msgspec.Struct, frozen=True, kw_only=True):
    """The most floating-point operations per cycle of one kind of arithmetic."""

    element_bits: Count
    vector_bits: Count
    """The width of the vectors; that of an element for scalar arithmetic."""
    kind: Literal["separate", "fused", "mixed"]
    """separate: additions and multiplications; fused: fused multiply-adds; mixed: all three, if that is more."""
    flop_per_cycle: Amount


class BandwidthReport(msgspec.Struct, frozen=True, kw_only=True):
    """The most bytes per cycle that a core moves between a level and the one inside."""

    level: str
    cores: Positive
    """The number of cores that use the level at the same time."""
    bytes_per_cycle: Amount
    """Bytes per cycle of each of them."""


class CeilingsReport(msgspec.Struct, frozen=True, kw_only=True):
    """The ceilings of a core in the roofline model, according to its model."""

    peaks: list[PeakReport]
    bandwidths: list[BandwidthReport]
    """From L1 outwards; for each level first that of a single core."""
    ghz: Amount | None
    """The clock for rates per second in GHz; None if none was given."""
    configuration: str
    """The machine on which the bandwidths beyond L1 were measured; empty without any."""


class RooflinePoint(msgspec.Struct, frozen=True, kw_only=True):
    """A kernel in the roofline model, with its data in one level."""

    level: str
    flop_per_byte: Above
    """Floating-point operations per byte that moves between this level and the one inside; for L1, per byte that
    instructions load and store."""
    flop_per_cycle: Above
    """Predicted floating-point operations per cycle."""
    measured: Amount | None
    """Measured floating-point operations per cycle; None unless the kernel was measured, with data in L1."""
    roof: Amount | None
    """The most operations per cycle that peak and bandwidth allow; None if the model has no figures for either."""
    roof_by: str
    """The ceiling that this is: "peak", or the level whose bandwidth it is; empty without one."""


class RooflineReport(msgspec.Struct, frozen=True, kw_only=True):
    """A kernel's points in the roofline model."""

    points: list[RooflinePoint]
    """A point for each requested level, else for L1."""
    remarks: list[str]
    """The reasons why points are missing, or not exact, in words."""


ProjectionName = Literal["vectorised", "arithmetic-vectorised", "without-overhead", "without-spills", "aligned", "fma"]
"""vectorised: all work as vectors of the core's full width; arithmetic-vectorised: only floating-point arithmetic, with
elements loaded and stored one by one; without-overhead: without address arithmetic, counters and branches;
without-spills: spilled values in registers; aligned: no load crosses a cache line; fma: products and sums fused."""


class ProjectionReport(msgspec.Struct, frozen=True, kw_only=True):
    """A kernel after a change to its code, which is simulated (docs/quality.md)."""

    change: ProjectionName
    cycles: Amount | None
    """Cycles for the work of an iteration as it is; None if the change cannot be made."""
    gained: float
    """Cycles that an iteration takes less, negative if it takes more; 0 if the change cannot be made."""
    applies: bool
    """False if there is nothing to change."""
    vector_bits: Count
    """The width of vectors after a change to vectors; 0 after others."""
    instructions: list[Index]
    """The instructions that prevent the change, or that are done in another order after it."""
    text: str
    """The reason why the change cannot be made, or its condition; empty if there is none."""


class QualityReport(CodeFigures, frozen=True, kw_only=True):
    """The quality of a kernel's code (docs/quality.md)."""

    projections: list[ProjectionReport]
    """The kernel after changes to its code."""


class KernelReport(msgspec.Struct, kw_only=True):
    """One loop or region."""

    kernel_id: str
    """The kernel's identifier within its unit, independent of line numbers: the function and the number of the loop or
    region."""
    content_hash: Annotated[str, Meta(pattern="^[0-9a-f]{16}$")]
    """A hash of the code without relocations and jump distances; equal code has equal hashes."""
    name: str
    """The kernel's name in messages."""
    cycles: Amount
    """The prediction: cycles per iteration in the steady state, as in bounds.prediction."""
    kind: RegionKind
    """loop: an innermost loop; marker: code between markers; address: machine code between two addresses; file: a whole
    assembly file; code: machine code without text."""
    function: str
    """The function's symbol."""
    function_name: str
    """The function as the source writes it, with C++ names demangled."""
    source: SourceLocation | None
    """The loop's place in the user's source according to the debug information, preferably the innermost line outside
    system headers; None if unknown."""
    column: Count
    """The column of the branch that closes the loop, in that line; 0 if unknown."""
    source_function: str
    """The function that contains that line, without parameters. After inlining it differs from the symbol's
    function."""
    near: SourceLocation | None
    """For assembly with line numbers but no other debug information: the nearest line of the function's own source if
    the kernel comes from another file, as inlined code does; otherwise None."""
    inlined: list[Frame]
    """The functions inlined at that place, outermost first; the last one contains the loop."""
    inlined_into: list[Frame]
    """The functions that source_function was inlined into, outermost first; the last frame's line is that of the
    call."""
    remarks: list[RemarkReport]
    """The compiler's remarks about the loop of the source, from a second run of the compiler."""
    role: RoleReport
    compiled: TransformationsReport | None
    """The compiler's own record of the loop (clang with incc's pass plugin); None if it was not requested or code
    generation dropped it."""
    elements: ElementsReport | None
    """The elements per iteration; None if unknown."""
    rates: Rates | None
    """Predicted rates; None if the kernel takes no time or has accesses of unknown size."""
    range: Range | None
    """The range of the prediction; None if it depends on nothing but the code."""
    mispredictions: MispredictionsReport | None
    """The cost of mispredictions; None if no rate was given, no inner branch depends on data, or the model has no
    penalty."""
    measured: MeasurementReport | None
    """The measurement; None if it was not requested."""
    at_least: bool
    """True if the prediction is a lower bound since some of the kernel's work is not counted."""
    overview: Overview
    label: str
    """The label of the loop's header."""
    first_line: Count
    """The region's first line in the assembly."""
    last_line: Count
    outer: SourceLocation | None = None
    """The place of the loop directly around, that of its last branch back; None if there is none, or it is unknown."""
    spans: list[CodeSpan] = []
    """The places of all of the loop's instructions relative to symbols, as profilers name places; empty if unknown."""
    depth: Count
    """The loop's nesting depth; 1 for an outermost loop, 0 for code that is not a loop."""
    is_loop: bool
    """True if the last instruction branches back to the first; other code is analysed as if it were repeated."""
    isa: str
    notes: list[str]
    """Caveats for the reader, one sentence each."""
    size: Size
    arithmetic: ArithmeticReport
    memory: Memory
    accesses: list[AccessPattern] = []
    """The patterns of its memory accesses, in program order."""
    access_notes: list[str] = []
    """Sentences on those by which a loop does not use all bytes that it passes, such as strided ones."""
    verdict: str
    """The kernel's limit, in one sentence."""
    hints: list[Hint]
    bounds: BoundsReport
    simulated: SimulationReport | None
    """The cycle-by-cycle simulation; None if the model does not describe the core's pipeline or no simulation was
    requested."""
    what_ifs: list[WhatIfReport]
    """Simulations with a changed core, fewest cycles first."""
    decrements: list[DecrementReport] | None = None
    """Simulations without each part of the kernel's work; None if they were not requested."""
    data: DataReport | None = None
    """The predictions for data beyond L1; None if they were not requested, or the model describes no such levels."""
    roofline: RooflineReport | None = None
    """The kernel's points in the roofline model; None if they were not requested."""
    quality: QualityReport | None = None
    """The quality of the code; None if it was not requested."""
    cold: Cold | None
    """The run of a fixed number of iterations from a cold start; None if it was not requested."""
    alignments: list[Ratio]
    """Simulated cycles per iteration with the first byte at offset 0 to 63 within 64 bytes; empty if they were not
    requested."""
    dispatch_width: Count
    """µops that the front end issues per cycle."""
    port_assignment: Literal["balanced", "equal"]
    """balanced: µops are distributed over their allowed ports so that the busiest carries least; equal: each allowed
    port gets an equal share."""
    resources: list[ResourceReport]
    llvm_resources: list[LlvmResource] | None
    """The resources under the names and in the order of LLVM's scheduling model of the core; None if its resources
    differ from the model's (docs/llvm-mca.md)."""
    instructions: list[InstructionReport]
    critical_path: CriticalPath
    chains: list[ChainReport]
    """Loop-carried dependencies, longest first."""
    chains_complete: bool
    """False if there are too many chains to list; the longest is listed in any case."""
    dependencies: list[Dependency]
    waits: WaitsReport | None
    """Waiting times and their causes (docs/report.md); None if they were not requested or nothing was simulated."""
    timeline: Timeline | None
    """The timeline; None if it was not requested."""
    unknown_instructions: list[UnknownInstruction]
    refused: list[Refused]
    summary: Summary
    incomplete: bool = False
    """True if a build left these for when somebody looks at the kernel: what_ifs, range, dependencies, timeline,
    notes on rare paths, hints on the code's address without a remedy, and what verdict and overview say of these. They
    are empty then, or None. All commands of incc that read reports complete what they show (docs/builds.md)."""


class FiguresOrigin(msgspec.Struct, frozen=True):
    """The origin of an instruction's figures."""

    source: str
    derived: str
    """The rule that derived them from another form; empty for figures of the form itself."""


class InstructionReport(msgspec.Struct, frozen=True, kw_only=True):
    """One instruction; the list is in execution order."""

    index: Index
    line: Count
    """The line in the assembly file."""
    source: SourceLocation | None
    text: str
    bytes: Count
    """The length of its encoding."""
    offset: int = -1
    """Bytes from the symbol of the kernel's first span to the instruction; negative if unknown."""
    encoding: Annotated[str, Meta(pattern="^([0-9a-f]{2})*$")]
    """Its bytes in hexadecimal, empty for a statement that was not assembled. If texts are LLVM's, the bytes that
    LLVM's assembler emits for it alone, with zeros for relocations and with long jumps."""
    form: str
    """The model's name for it."""
    unknown: bool
    """True if the model lacks the instruction."""
    latency: Count
    """Cycles from the slowest input to the slowest result."""
    load_latency: Count
    """Cycles from the address to the loaded value; 0 if it loads nothing."""
    issue_slots: Count
    retire_slots: Count
    uops: Count
    """µops on ports."""
    ports: str
    """µops times their allowed ports, such as 1*p01+1*p23; cycles on other units, such as 4*0DV."""
    work: list[str]
    """The work of the µops of each term of `ports`, in words: loads, store addresses, shuffles; the work of the whole
    instruction if it has no µop on a port."""
    rthroughput: Ratio
    """Cycles between two instances according to its own ports and units."""
    measured_rthroughput: Amount | None
    """The model's throughput figure if ports do not explain it; otherwise None."""
    loads: bool
    stores: bool
    may_load: bool
    """True if LLVM's description sets mayLoad; the description may be conservative, here and in the next four
    fields."""
    may_store: bool
    side_effects: bool
    """Effects beyond registers, flags and memory (hasUnmodeledSideEffects)."""
    load_barrier: bool
    store_barrier: bool
    frame: bool
    """True if it accesses a fixed place of the function's stack frame, as spills and reloads do."""
    macro_fused: bool
    """True for the second half of a macro-fused pair."""
    eliminated: bool
    """True for a move that the renamer eliminates."""
    zero_idiom: bool
    """True if the core recognises that the result does not depend on the inputs."""
    pressure: list[Amount]
    """Cycles on each of the resources."""
    critical_path_cycles: Count | None
    """Its share of the critical path; None if it is not on the path."""
    chain_cycles: Count | None
    """Its share of the longest loop-carried dependency; None if it is not part of it."""
    figures: FiguresOrigin | None
    remarks: Annotated[str, Meta(pattern="^X?F?E?Z?[DL]?$")]
    """X unknown, F macro-fused, E eliminated, Z zero idiom, D derived figures, L lacking on
    this core, with figures of another."""


class ChainReport(msgspec.Struct, frozen=True, kw_only=True):
    """A loop-carried dependency: a cycle of the dependency graph."""

    cycles_per_iteration: Ratio
    latency: Count
    """Cycles for one round of the chain."""
    iterations: Positive
    """Iterations that one round of the chain spans."""
    through: list[str]
    """The registers, flags or memory that carry it into later iterations."""
    instructions: list[Index]
    lines: list[Count]
    steps: list[StepReport]


class Moves(msgspec.Struct, frozen=True):
    """The shares of the eliminable register moves that were eliminated and executed."""

    eliminated: Amount
    executed: Amount


class SimulationReport(msgspec.Struct, frozen=True, kw_only=True):
    """Cycles per iteration in the steady state, and counters over the whole run including its start."""

    cycles: Amount
    exact: Exact
    period: Count
    """Iterations after which the retirement pattern repeats exactly; 0 if no period was seen."""
    iterations: Positive
    """Simulated iterations."""
    run_cycles: Count
    """Cycles of the whole run."""
    uops: UopsBySource
    """Shares of the fused µops."""
    lost_slots: LostSlots
    """Shares of the issue slots."""
    port_uops: list[Amount]
    """Average µops started per cycle on each of the resources."""
    moves: Moves


class EventReport(msgspec.Struct, frozen=True, kw_only=True):
    """The cycles of one dynamic instruction's stages."""

    iteration: Count
    instruction: Index
    dispatched: Count
    earliest: Count
    """The cycle in which its first µop could start if its inputs were ready."""
    ready: Count
    """The cycle in which the inputs of its first µop are ready."""
    started: Count
    executed: Count
    """The cycle in which its last result is available."""
    retired: Count
    ports: list[str | None]
    """The port of each µop."""


class UopInputReport(msgspec.Struct, frozen=True, kw_only=True):
    """A value that another µop produced for this one, possibly passed on by an eliminated move."""

    producer: Count
    """The producer's index in the timeline's µops."""
    kind: Literal["register", "flag", "memory", "internal"]
    """The carrier; internal: between the µops of one instruction. A load does not wait for a value passed through
    memory, but its result does, unless the renamer forwards the value."""
    via: str
    """The register or flag as the instruction names it, "memory", or empty between µops of one instruction."""
    arrived: Count
    """The cycle from which this input allows the µop to start; for memory the cycle in which the loaded value was
    available."""
    latency: int
    """Cycles from the producer's start; negative if the µop needs the value only later."""


class TimelineUop(msgspec.Struct, frozen=True, kw_only=True):
    """The cycles of one dynamic µop's stages."""

    iteration: Count
    instruction: Index
    kind: UopKindName
    """The µop's kind; renamer: a µop that the renamer inserts before an instruction, such as the stack engine's
    synchronisation."""
    port: str
    unit: str | None
    """Another unit that it occupies, such as the divider; None if there is none."""
    dispatched: Count
    """The cycle in which it enters its scheduler."""
    earliest: Count
    """The cycle from which it could start if its inputs were ready."""
    ready: Count
    """The cycle from which its inputs are ready and it waits for its port or unit."""
    started: Count
    executed: Count
    """The cycle in which its last result is available."""
    retired: Count
    """The cycle in which its instruction retires."""
    inputs: list[UopInputReport]
    """All values that other µops of the timeline produced for it."""
    last_input: Count | None
    """The index of the input that arrived last, for a load's result the one through memory; None if it waited for
    none."""


class Timeline(msgspec.Struct, frozen=True, kw_only=True):
    """The first simulated iterations, in cycles from 0."""

    iterations: Count
    cycles: Count
    events: list[EventReport]
    uops: list[TimelineUop]
    """The µops of the events, in program order."""
    waits: list[Wait]
    """Average waiting times by instruction."""
    total_wait: Wait


class WaitsInstruction(msgspec.Struct, frozen=True, kw_only=True):
    """The waiting times of one instruction; for_inputs and for_ports add up to had_to_wait."""

    had_to_wait: Amount
    for_inputs: Amount
    for_ports: Amount
    caused_to_wait: Amount


class InputWait(msgspec.Struct, frozen=True):
    """Cycles in which an instruction waited for a result of the producer."""

    instruction: Index
    producer: Index
    cycles: Amount


class WaitsReport(msgspec.Struct, frozen=True, kw_only=True):
    """Average waiting cycles per iteration in the second half of the simulation."""

    instructions: list[WaitsInstruction]
    inputs: list[InputWait]
    ports: list[PortWait]
    """Cycles in which the instruction waited for the resource."""
    blocked: list[PortWait]
    """Cycles in which others waited for the resource while the instruction occupied it."""


class PortWait(msgspec.Struct, frozen=True):
    """Waiting cycles that concern a port or unit."""

    instruction: Index
    resource: str
    """The name of the port or unit."""
    cycles: Amount


class Tool(msgspec.Struct, frozen=True):
    """The program that wrote the report."""

    name: str
    version: str


class AnalysisReport(msgspec.Struct, frozen=True):
    """A report of incc.

    Durations are in cycles of the core's clock, per iteration of the kernel unless stated otherwise. Instructions are
    numbered from 0 within their kernel and lines from 1; line 0 means that there is no line.
    """

    schema_version: Literal["1.0"]
    """The major number changes if readers of the old format would misread the new one, the minor number with every
    addition."""
    tool: Tool
    units: list[UnitReport]
    """Translation units, in the order of the command line."""
