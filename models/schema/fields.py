"""The names in [ports.functions], and the fields of a form's entry."""

from __future__ import annotations

from typing import Any, NamedTuple

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


class Field(NamedTuple):
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
        "ports",
        str,
        {"$ref": "#/$defs/usage"},
        "µops in the unfused domain, in uops.info's notation: `1*p01+2*p23` is one µop for port 0 or 1 and two µops "
        'for port 2 or 3; `""` if the renamer does it. With other port names, `2*FP01` is FP0 or FP1, and '
        "`1*p(V0\\|V1)` lists names.",
    ),
    Field("retire", int, _COUNT, "µops in the fused domain at issue and retirement, after un-lamination"),
    Field("latency", str, {"$ref": "#/$defs/latency"}, "cycles between operands, see [Latency](#latency)"),
    Field("divider", int, _COUNT, "cycles for which the divider is busy"),
    Field(
        "unit",
        str,
        {"type": "string", "minLength": 1},
        "the unit of `ports.resources` that `divider` is about (default: the first)",
    ),
    Field(
        "hold",
        int,
        _COUNT,
        "cycles for which each µop holds its port, if more than one (512 bits on pipes of 256)",
    ),
    Field(
        "tp",
        (int, float),
        {"type": "number", "minimum": 0},
        "measured reciprocal throughput in cycles, if ports and divider do not explain it",
    ),
    Field("breaks", bool, _FLAG, "the result does not depend on the inputs"),
    Field("fusion", str, {"type": "string"}, "macro-fusion class"),
    Field("source", str, {"type": "string"}, "source of the figures"),
    Field("derived", str, {"type": "string"}, "form and rule from which the figures were derived"),
    Field("absent", bool, _FLAG, "removes an inherited entry"),
    Field("uops_mite", int, _COUNT, "fused µops from the decoders (default: `retire` without `uops_ms`)"),
    Field("uops_ms", int, _COUNT, "fused µops from the microcode sequencer (default: 0)"),
    Field("complex_decoder", bool, _FLAG, "only the first decoder takes it"),
    Field(
        "simple_decoders",
        int,
        _COUNT,
        "simple decoders that work in the same cycle as the first one, which takes it (default: all)",
    ),
    Field("no_lsd", bool, _FLAG, "keeps a loop out of the loop stream detector"),
    Field("lcp_stall", bool, _FLAG, "its length-changing prefix stalls the predecoder"),
)
