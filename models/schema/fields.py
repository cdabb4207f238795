"""The names in [ports.functions], and the fields of a form's entry."""

from __future__ import annotations

from typing import Any

import msgspec

REQUIRED_FUNCTIONS = ("load", "store_address", "store_data")

FUNCTIONS = {
    "load": "loads",
    "load_vector": "loads of vectors, if they use other ports",
    "load_512": "loads of 512 bits, if they use other ports",
    "load_x87": "x87 loads, if they use other ports",
    "store_address": "store addresses",
    "store_address_indexed": "store addresses with an index register, if they use other ports",
    "store_data": "store data",
    "store_vector": "the pipe that stored vectors pass through",
    "branch_taken": "taken conditional jumps, and jumps that are fused with a comparison",
    "branch_not_taken": "conditional jumps that are not taken",
    "fused_jump": "comparisons fused with jumps (`fused_jump_computes`)",
    "integer": "integer arithmetic (`incc-model import amd`)",
    "multiply": "integer multiplications (`incc-model import amd`)",
    "shift": "shifts (`incc-model import amd`)",
    "select": "conditional moves and sets (`incc-model import amd`)",
    "compare": "the pipe through which flags leave the vector unit (`incc-model import amd`)",
}
"""The names in [ports.functions], and the operations that use these ports."""


class Field(msgspec.Struct, frozen=True, kw_only=True):
    """A field of an entry."""

    name: str
    type: type | tuple[type, ...]
    schema: dict[str, Any]
    """Its JSON schema."""
    text: str
    """Its meaning, in Markdown."""


_FLAG: dict[str, Any] = {"type": "boolean"}
_COUNT: dict[str, Any] = {"type": "integer", "minimum": 0}

FIELDS: tuple[Field, ...] = (
    Field(
        name="ports",
        type=str,
        schema={"$ref": "#/$defs/usage"},
        text="µops in the unfused domain, in uops.info's notation: `1*p01+2*p23` is one µop for port 0 or 1 and two "
        'µops for port 2 or 3; `""` if the renamer does it. With other port names, `2*FP01` is FP0 or FP1, and '
        "`1*p(V0\\|V1)` lists names.",
    ),
    Field(
        name="retire",
        type=int,
        schema=_COUNT,
        text="µops in the fused domain at issue and retirement, after un-lamination",
    ),
    Field(
        name="latency",
        type=str,
        schema={"$ref": "#/$defs/latency"},
        text="cycles between operands, see [Latency](#latency)",
    ),
    Field(name="divider", type=int, schema=_COUNT, text="cycles for which the divider is busy"),
    Field(
        name="unit",
        type=str,
        schema={"type": "string", "minLength": 1},
        text="the unit of `ports.resources` that `divider` is about (default: the first)",
    ),
    Field(
        name="hold",
        type=int,
        schema=_COUNT,
        text="cycles for which each µop holds its port, if more than one (512 bits on pipes of 256)",
    ),
    Field(
        name="tp",
        type=(int, float),
        schema={"type": "number", "minimum": 0},
        text="measured reciprocal throughput in cycles, if ports and divider do not explain it",
    ),
    Field(name="breaks", type=bool, schema=_FLAG, text="the result does not depend on the inputs"),
    Field(name="fusion", type=str, schema={"type": "string"}, text="macro-fusion class"),
    Field(name="source", type=str, schema={"type": "string"}, text="source of the figures"),
    Field(
        name="derived", type=str, schema={"type": "string"}, text="form and rule from which the figures were derived"
    ),
    Field(name="absent", type=bool, schema=_FLAG, text="removes an inherited entry"),
    Field(
        name="uops_mite",
        type=int,
        schema=_COUNT,
        text="fused µops from the decoders (default: `retire` without `uops_ms`)",
    ),
    Field(name="uops_ms", type=int, schema=_COUNT, text="fused µops from the microcode sequencer (default: 0)"),
    Field(name="complex_decoder", type=bool, schema=_FLAG, text="only the first decoder takes it"),
    Field(
        name="simple_decoders",
        type=int,
        schema=_COUNT,
        text="simple decoders that work in the same cycle as the first one, which takes it (default: all)",
    ),
    Field(name="no_lsd", type=bool, schema=_FLAG, text="keeps a loop out of the loop stream detector"),
    Field(name="lcp_stall", type=bool, schema=_FLAG, text="its length-changing prefix stalls the predecoder"),
)
