"""What the columns of `kernels` need of a kernel's report: the types into which it is decoded, which skips the rest.

A name of conditions that reads more of a report (`report/where.py`) needs it here too; a test holds that.
"""

from __future__ import annotations

from typing import Annotated, TypedDict

import msgspec

Count = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
"""What SQLite takes as an integer."""


class Source(TypedDict):
    file: str
    line: Count


class Overview(TypedDict):
    function: str
    limit: str
    vector: str


class Bound(TypedDict):
    cycles: float


class Prediction(TypedDict):
    limited_by: list[str]


class Bounds(TypedDict):
    port: Bound
    divider: Bound
    front_end: Bound
    retire: Bound
    loop_carried: Bound
    prediction: Prediction


class Elements(TypedDict):
    per_iteration: float
    cycles: float


class Range(TypedDict):
    least: float
    most: float | None


class Measured(TypedDict):
    cycles: float | None


class Role(TypedDict):
    name: str


class Summary(TypedDict):
    ipc: float


class Size(TypedDict):
    instructions: Count
    issue_slots: Count
    uops: Count
    bytes: Count


class Memory(TypedDict):
    bytes_loaded: Count
    bytes_stored: Count
    line_crossings: float
    loads: Count
    stores: Count
    spills: Count
    reloads: Count


class Arithmetic(TypedDict):
    flop: Count
    integer_operations: Count
    flop_per_byte: float | None
    packed_share: float | None
    vector_bits: Count


class Hint(TypedDict):
    rule: str


class Kernel(TypedDict):
    cycles: float
    bounds: Bounds
    critical_path: Bound
    range: Range | None
    measured: Measured | None
    at_least: bool
    elements: Elements | None
    role: Role
    summary: Summary
    size: Size
    memory: Memory
    arithmetic: Arithmetic
    unknown_instructions: list[msgspec.Raw]
    refused: list[msgspec.Raw]
    hints: list[Hint]
    depth: Count
    is_loop: bool
    simulated: dict[str, msgspec.Raw] | None
    function: str
    function_name: str
    name: str
    kernel_id: str
    content_hash: str
    kind: str
    label: str
    first_line: Count
    isa: str
    verdict: str
    source: Source | None
    overview: Overview


NEEDED = msgspec.json.Decoder(Kernel)
