"""What a model file may say: one table each of parameters, of functions of ports, and of fields of forms.

Loading (models.compile), `incc-model check`, models/model.schema.json and the tables in docs/models.md come from here;
`python -m incc.models.describe` writes the latter two anew. Only read when a model is compiled. A parameter
more is an entry more in PARAMETERS.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from incc.models.port_delays import port_delay_rules

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

# --- kinds of values --------------------------------------------------------------------------------------------------


class Kind(msgspec.Struct, frozen=True, kw_only=True):
    """A type of value.

    `text`: as the documentation names it; `schema`: its JSON schema; `problems(value)`: what is wrong with one, as (key
    within the value or "", message that goes on behind the name); `ports(value)`: the sets of ports, names joined by
    ",", that it mentions; `needed`: keys that a table must have in the end (one that completes another need not).
    """

    text: str
    schema: dict[str, Any]
    problems: Callable[[Any], list[tuple[str, str]]]
    ports: Callable[[Any], Iterable[str]]
    needed: tuple[str, ...] = ()


def _no_ports(value: Any) -> Iterable[str]:
    return ()


def _kind(text: str, schema: dict[str, Any], good: Callable[[Any], bool], demand: str = "") -> Kind:
    """A kind of values that are good or not as a whole."""

    def problems(value: Any) -> list[tuple[str, str]]:
        return [] if good(value) else [("", f"must be {demand or text}, not {value!r}")]

    return Kind(text=text, schema=schema, problems=problems, ports=_no_ports)


def _is_whole(value: Any, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def whole(least: int = 0) -> Kind:
    """A whole number that is not less than `least`."""
    return _kind(
        f"number ≥ {least}",
        {"type": "integer", "minimum": least},
        lambda v: _is_whole(v, least),
        f"a whole number, {least} or more",
    )


def whole_or_unlimited(least: int = 0) -> Kind:
    """As `whole`, or "unlimited"."""
    return _kind(
        f'number ≥ {least}, `"unlimited"`',
        {"anyOf": [{"type": "integer", "minimum": least}, {"const": "unlimited"}]},
        lambda v: v == "unlimited" or _is_whole(v, least),
        f'a whole number, {least} or more, or "unlimited"',
    )


FLAG = _kind("flag", {"type": "boolean"}, lambda v: isinstance(v, bool), "true or false")
NAME = _kind("name", {"type": "string"}, lambda v: isinstance(v, str), "a string")


def choice(*names: str) -> Kind:
    """One of some names."""

    def problems(value: Any) -> list[tuple[str, str]]:
        if not isinstance(value, str):
            return [("", f"must be one of {', '.join(names)}, not {value!r}")]
        return [] if value in names else [("", f"is unknown: {value!r}" + suggestion(value, names))]

    return Kind(
        text=", ".join(f"`{n}`" for n in names), schema={"enum": list(names)}, problems=problems, ports=_no_ports
    )


def _is_set(value: Any) -> bool:
    return isinstance(value, str) and all(value.split(","))


_SET_SCHEMA = {"type": "string", "pattern": "^[A-Za-z0-9_]+(,[A-Za-z0-9_]+)*$"}
_SET_TEXT = 'ports\' names joined by ","'
PORTS = replace(_kind("ports", _SET_SCHEMA, _is_set, _SET_TEXT), ports=lambda v: [v])
PORT_SETS = replace(
    _kind(
        "list of ports",
        {"type": "array", "items": _SET_SCHEMA},
        lambda v: isinstance(v, (list, tuple)) and all(_is_set(x) for x in v),
        f"a list of {_SET_TEXT}",
    ),
    ports=lambda v: v,
)


def by_ports(of: Kind) -> Kind:
    """A table from sets of ports to something."""

    def problems(value: Any) -> list[tuple[str, str]]:
        if not _is_table(value):
            return [("", f"must be a table, not {value!r}")]
        found = [(k, f"must be {_SET_TEXT}") for k in value if not _is_set(k)]
        return found + [(k, message) for k, v in value.items() for _, message in of.problems(v)]

    return Kind(
        text=f"table: ports to {of.text}",
        schema={"type": "object", "propertyNames": _SET_SCHEMA, "additionalProperties": of.schema},
        problems=problems,
        ports=lambda v: [*v, *[ports for x in v.values() for ports in of.ports(x)]],
    )


def table(what: str, fields: Mapping[str, Kind], needed: Iterable[str] = ()) -> Kind:
    """A table with no other keys than these."""

    def problems(value: Any) -> list[tuple[str, str]]:
        if not _is_table(value):
            return [("", f"must be a table, not {value!r}")]
        found = [(k, "is unknown" + suggestion(k, fields)) for k in value if k not in fields]
        return found + [(k, message) for k, v in value.items() if k in fields for _, message in fields[k].problems(v)]

    return Kind(
        text=what,
        schema={
            "type": "object",
            "additionalProperties": False,
            "properties": {k: f.schema for k, f in fields.items()},
        },
        problems=problems,
        ports=lambda v: [ports for k, x in v.items() if k in fields for ports in fields[k].ports(x)],
        needed=tuple(needed),
    )


CLASSES = ("gpr", "xmm", "ymm", "zmm", "simd", "sve")
"""Of accesses to memory: general-purpose registers; x86's vectors; AArch64's of 128 bits, and SVE's."""

CYCLES_BY_CLASS = table("cycles by class", dict.fromkeys(CLASSES, whole()))


def _is_range(text: str) -> bool:
    first, dash, last = text.partition("-")
    return first.isdigit() and int(first) > 0 and (not dash or (last.isdigit() and int(last) >= int(first)))


def _ranges(value: Any) -> list[tuple[str, str]]:
    if not _is_table(value):
        return [("", f"must be a table, not {value!r}")]
    found = [(k, 'must be a number of µops, or two as "9-12"') for k in value if not _is_range(k)]
    return found + [(k, message) for k, v in value.items() for _, message in whole(1).problems(v)]


BY_UOPS = Kind(
    text='table: µops ("5", "9-12") to number ≥ 1',
    schema={
        "type": "object",
        "propertyNames": {"pattern": "^[1-9][0-9]*(-[1-9][0-9]*)?$"},
        "additionalProperties": {"type": "integer", "minimum": 1},
    },
    problems=_ranges,
    ports=_no_ports,
)


def _by_event(value: Any) -> list[tuple[str, str]]:
    if not _is_table(value):
        return [("", f"must be a table, not {value!r}")]
    found = [(k, "must be a name of letters, digits and `_`") for k in value if not k.replace("_", "").isalnum()]
    return found + [(k, message) for k, v in value.items() for _, message in whole(1).problems(v)]


BY_EVENT = Kind(
    text="table: names to raw event codes",
    schema={
        "type": "object",
        "propertyNames": {"pattern": "^[A-Za-z0-9_]+$"},
        "additionalProperties": {"type": "integer", "minimum": 1},
    },
    problems=_by_event,
    ports=_no_ports,
)


def _by_forms(value: Any) -> list[tuple[str, str]]:
    if not _is_table(value):
        return [("", f"must be a table, not {value!r}")]
    found = [(k, "must be patterns of forms") for k in value if not k.split()]
    return found + [(k, message) for k, v in value.items() for _, message in whole().problems(v)]


BY_FORMS = Kind(
    text="table: patterns of forms to number ≥ 0",
    schema={"type": "object", "additionalProperties": {"type": "integer", "minimum": 0}},
    problems=_by_forms,
    ports=_no_ports,
)


def _forms_to_forms(value: Any) -> list[tuple[str, str]]:
    if not _is_table(value):
        return [("", f"must be a table, not {value!r}")]
    return [
        (k, "must be patterns of forms, separated by blanks")
        for k, v in value.items()
        if not k.split() or not isinstance(v, str)
    ]


FORMS_TO_FORMS = Kind(
    text="table: patterns of forms to patterns of forms",
    schema={"type": "object", "additionalProperties": {"type": "string"}},
    problems=_forms_to_forms,
    ports=_no_ports,
)


MOST_PORT_DELAYS = 16
_SIDE = "[A-Za-z_][A-Za-z0-9_]*@[A-Za-z0-9_]+(,[A-Za-z0-9_]+)*"


def _port_delays(value: Any) -> list[tuple[str, str]]:
    found = _PORT_DELAYS.problems(value)
    if found or not value:
        return found
    classes, rules = value.get("classes", {}), value.get("rules", {})
    found += [("classes", f"{k}: must be patterns of forms") for k, v in classes.items() if not v.split()]
    if len(rules) > MOST_PORT_DELAYS:
        found.append(("rules", f"are more than {MOST_PORT_DELAYS}"))
    for key in rules:
        sides = [side.split("@") for side in key.split()]
        if len(sides) != 2 or any(len(side) != 2 or not _is_set(side[1]) for side in sides):
            found.append(("rules", f"{key}: must be two of CLASS@PORTS, {_SET_TEXT}"))
            continue
        for name, _ in sides:
            if name not in classes:
                found.append(("rules", f"{key}: class {name} is unknown" + suggestion(name, classes)))
    return found


def _is_rules(value: Any) -> bool:
    return _is_table(value) and all(_is_whole(abs(v) if isinstance(v, int) else v, 1) for v in value.values())


_PORT_DELAYS = table(
    "table: classes, rules",
    {
        "classes": _kind(
            "table: names to patterns of forms",
            {"type": "object", "additionalProperties": {"type": "string"}},
            lambda v: _is_table(v) and all(isinstance(x, str) for x in v.values()),
            "a table of patterns of forms",
        ),
        "rules": _kind(
            "table: two of CLASS@PORTS to number",
            {
                "type": "object",
                "propertyNames": {"pattern": f"^{_SIDE} {_SIDE}$"},
                "additionalProperties": {"type": "integer", "not": {"const": 0}},
            },
            _is_rules,
            "a table of whole numbers other than 0",
        ),
    },
    needed=("classes", "rules"),
)
PORT_DELAYS = replace(
    _PORT_DELAYS,
    problems=_port_delays,
    ports=lambda v: [ports for r in port_delay_rules(v) for ports in (r.from_ports, r.to_ports)],
)


def _is_table(value: Any) -> bool:
    return hasattr(value, "items")


# --- parameters -------------------------------------------------------------------------------------------------------

REQUIRED: Any = None
"""In place of a default: every model must say it."""

BOUNDS, BINDING, RANGE = "bounds", "binding", "range"
MEASURING = "`incc-bench`"
FRONT_END, RENAMER, EXECUTION, MEMORY = (f"simulation: {x}" for x in ("front end", "renamer", "execution", "memory"))


class Parameter(msgspec.Struct, frozen=True, kw_only=True):
    """`read_by`: the bounds (and then the simulation, too), binding (what instructions become: so both), a part of the
    simulation, or measuring. `default`: what holds where no model file says it, nothing that would make a kernel
    slower. `text`: for docs/models.md, Markdown."""

    name: str
    kind: Kind
    default: Any
    unit: str
    read_by: str
    text: str


PARAMETERS: tuple[Parameter, ...] = (
    Parameter(
        name="issue_width",
        kind=whole(1),
        default=REQUIRED,
        unit="fused µops a cycle",
        read_by=BOUNDS,
        text="what the renamer issues",
    ),
    Parameter(
        name="retire_width",
        kind=whole(1),
        default=REQUIRED,
        unit="fused µops a cycle",
        read_by=BOUNDS,
        text="what retires",
    ),
    Parameter(name="rob", kind=whole(1), default=REQUIRED, unit="entries", read_by=EXECUTION, text="reorder buffer"),
    Parameter(
        name="rs",
        kind=whole(1),
        default=REQUIRED,
        unit="entries",
        read_by=EXECUTION,
        text="scheduler, or all of them together",
    ),
    Parameter(
        name="load_buffer",
        kind=whole(),
        default=0,
        unit="entries",
        read_by=MEMORY,
        text="loads from renaming until they retire; 0: no limit",
    ),
    Parameter(
        name="store_buffer",
        kind=whole(),
        default=0,
        unit="entries",
        read_by=MEMORY,
        text="stores from renaming until they are in the cache; 0: no limit",
    ),
    Parameter(
        name="loads_leave_when_done",
        kind=FLAG,
        default=False,
        unit="",
        read_by=MEMORY,
        text="loads keep their entry of `load_buffer` only until they have their data",
    ),
    Parameter(
        name="load_latency",
        kind=CYCLES_BY_CLASS,
        default=REQUIRED,
        unit="cycles",
        read_by=BINDING,
        text="address to loaded value, first-level cache",
    ),
    Parameter(
        name="store_forward",
        kind=CYCLES_BY_CLASS,
        default=REQUIRED,
        unit="cycles",
        read_by=BOUNDS,
        text="stored data ready to value loaded from the same address",
    ),
    Parameter(
        name="store_address_to_load",
        kind=whole(1),
        default=5,
        unit="cycles",
        read_by=MEMORY,
        text="start of a store's µop for the address to a load seeing it",
    ),
    Parameter(
        name="store_data_to_load",
        kind=whole(1),
        default=1,
        unit="cycles",
        read_by=MEMORY,
        text="start of a store's µop for the data to a load seeing them; the rest of `store_forward` is their way to "
        "it",
    ),
    Parameter(
        name="forward_delays",
        kind=BY_FORMS,
        default={},
        unit="cycles",
        read_by=BOUNDS,
        text='`{ "ADDPS_* SUBPS_*" = 1 }`: by which results of the forms that match one of the patterns come later '
        "to all "
        "that do not; latencies are those within the group",
    ),
    Parameter(
        name="port_delays",
        kind=PORT_DELAYS,
        default={},
        unit="cycles",
        read_by=BOUNDS,
        text='`classes = { float = "MULPS_*", simple = "PAND_*" }, rules = { "float@0,1 simple@0,1" = 1 }`: by which '
        "results of the forms of a class come later (earlier, if negative) to those of another, where the µops are on "
        "these ports; of several rules the largest number counts. The bounds count the pair of ports that is best",
    ),
    Parameter(
        name="late_beside_flags",
        kind=FORMS_TO_FORMS,
        default={},
        unit="",
        read_by=EXECUTION,
        text='`{ "TEST_* AND_*" = "CMOV* SET*" }`: what matches one of the latter starts a cycle later behind what '
        "it reads "
        "of registers, if its flags are from what matches one of the former. The bounds do not count it",
    ),
    Parameter(
        name="blocked_forward_cycles",
        kind=whole(),
        default=0,
        unit="cycles",
        read_by=BOUNDS,
        text="beyond `store_forward` for a load of which the store before it wrote only some bytes: it waits until the "
        "store is in the cache. 0: none is known",
    ),
    Parameter(
        name="merges_narrow_store",
        kind=FLAG,
        default=False,
        unit="",
        read_by=BOUNDS,
        text="a load that begins where the only store in flight to its bytes does takes `blocked_forward_cycles` "
        "longer, "
        "but does not wait for the cache",
    ),
    Parameter(
        name="mispredict_penalty",
        kind=whole(),
        default=0,
        unit="cycles",
        read_by=RANGE,
        text="from a branch that turns out to be predicted wrongly to the first µop of the right way. 0: not known",
    ),
    Parameter(
        name="line_bytes",
        kind=whole(),
        default=0,
        unit="bytes",
        read_by=BOUNDS,
        text="a cache line, or what else is read in one access; 0: every access is one",
    ),
    Parameter(
        name="line_crossing_cycles",
        kind=whole(),
        default=0,
        unit="cycles",
        read_by=BOUNDS,
        text="for which a load that crosses into another line holds its port beyond the first cycle",
    ),
    Parameter(
        name="memory_bits",
        kind=whole(),
        default=0,
        unit="bits",
        read_by=BINDING,
        text="of one access: wider ones take several µops, all of which are loads or stores; 0: no limit",
    ),
    Parameter(
        name="slow_256bit_memory",
        kind=FLAG,
        default=False,
        unit="",
        read_by=MEMORY,
        text="loads and stores of 256 bits hold their port for two cycles",
    ),
    Parameter(
        name="store_commit_bytes",
        kind=whole(),
        default=0,
        unit="bytes",
        read_by=MEMORY,
        text="retired stores go to the first-level cache in program order, an aligned block of so many bytes a "
        "cycle, together "
        "with those right behind that are to the same block; they keep their entry of `store_buffer` until "
        "then. 0: no "
        "limit",
    ),
    Parameter(
        name="store_commit_most",
        kind=whole(),
        default=0,
        unit="stores",
        read_by=MEMORY,
        text="so many go together at most, and neither those that reach into another block nor those that fill one. "
        "0: no limit",
    ),
    Parameter(
        name="store_word_bytes",
        kind=whole(),
        default=0,
        unit="bytes",
        read_by=MEMORY,
        text="of the words in a block (`store_commit_bytes`): one that goes to the cache with only some bytes of a "
        "word "
        "does so `store_word_cycles` later, if one with bytes of this word did in the last `store_word_window` cycles. "
        "0: it does not matter",
    ),
    Parameter(
        name="store_word_window",
        kind=whole(),
        default=0,
        unit="cycles",
        read_by=MEMORY,
        text="see `store_word_bytes`; 16 at most",
    ),
    Parameter(
        name="store_word_cycles", kind=whole(), default=0, unit="cycles", read_by=MEMORY, text="see `store_word_bytes`"
    ),
    Parameter(
        name="bank_bytes",
        kind=whole(),
        default=0,
        unit="bytes",
        read_by=MEMORY,
        text="lines of the first-level cache lie across banks of so many bytes: loads that need the same one wait "
        "for each "
        "other. 0: there are none",
    ),
    Parameter(
        name="bank_loads",
        kind=whole(1),
        default=2,
        unit="loads",
        read_by=MEMORY,
        text="that a bank serves in a cycle, 1 or 2",
    ),
    Parameter(
        name="bank_sets",
        kind=whole(),
        default=0,
        unit="sets",
        read_by=MEMORY,
        text="of the first-level cache, where loads from the same set do not hinder each other. 0: all do that need "
        "one "
        "bank, and one that crosses a line goes alone",
    ),
    Parameter(
        name="starts_256bit",
        kind=whole(),
        default=0,
        unit="µops a cycle",
        read_by=EXECUTION,
        text="that start at most on average, of loads, arithmetic and stored data of 256 bits: an instruction has "
        "one of "
        "each at most, in however many µops; a load that crosses a line is two. 0: no limit",
    ),
    Parameter(
        name="starts_512bit",
        kind=whole(),
        default=0,
        unit="µops a cycle",
        read_by=EXECUTION,
        text="the same of 512 bits. If both are limited, one of either width takes its share of the cycle",
    ),
    Parameter(
        name="wide_starts_ahead",
        kind=whole(1),
        default=4,
        unit="cycles",
        read_by=EXECUTION,
        text="whose share µops on wide vectors may take at once, so that `starts_256bit` and `starts_512bit` hold on "
        "average. With 1, loops whose loads, arithmetic and stores start in different cycles would be slower than "
        "measured; more than 3 makes no difference to them",
    ),
    Parameter(
        name="fast_pointer_chasing",
        kind=FLAG,
        default=False,
        unit="",
        read_by=BINDING,
        text="one cycle less for a load whose base register was just loaded, without index",
    ),
    Parameter(
        name="memory_renaming",
        kind=table(
            "table: indexed, bytes, computing, register_updates",
            {"indexed": FLAG, "bytes": FLAG, "computing": FLAG, "register_updates": FLAG},
            needed=("indexed", "bytes", "computing", "register_updates"),
        ),
        default={},
        unit="",
        read_by=BINDING,
        text="the renamer hands a stored value on to a load of it, in no time: 32 or 64 bits of general-purpose "
        "registers "
        "that are loaded with nothing but zeros above them, and read-modify-writes; with `indexed` also where one of "
        "the two addresses has an index, with `bytes` also 8 bits, with `computing` also where the load's instruction "
        "computes with it, with `register_updates` also read-modify-writes with a source beside the constants in "
        "their encoding",
    ),
    Parameter(
        name="wide_vectors",
        kind=table(
            "table: width, closes, instead",
            {"width": whole(1), "closes": PORTS, "instead": PORTS},
            needed=("width", "closes", "instead"),
        ),
        default={},
        unit="bits, ports",
        read_by=BINDING,
        text="with registers of `width` bits in use, µops on vectors do not go to the ports `closes`; those that "
        "could go "
        "nowhere else take `instead`",
    ),
    Parameter(
        name="taken_branch_cycles",
        kind=whole(1),
        default=1,
        unit="cycles",
        read_by=BINDING,
        text="for which a taken jump keeps its port",
    ),
    Parameter(
        name="fused_jump_computes",
        kind=FLAG,
        default=False,
        unit="",
        read_by=BINDING,
        text="a comparison fused with a jump takes its own port beside the jump's, or one of "
        "`ports.functions.fused_jump` if "
        "the model has them; these then also do jumps that are not taken",
    ),
    Parameter(
        name="stack_engine",
        kind=NAME,
        default="",
        unit="register",
        read_by=BINDING,
        text="whose implicit changes cost nothing until it is used itself, or they add up to more than "
        "`stack_offset_limit`",
    ),
    Parameter(
        name="stack_offset_limit",
        kind=whole_or_unlimited(),
        default="unlimited",
        unit="bytes",
        read_by=RENAMER,
        text="of the stack engine",
    ),
    Parameter(
        name="high8_renamed_separately",
        kind=FLAG,
        default=False,
        unit="",
        read_by=BINDING,
        text="`ah` … `dh` are renamed apart from the rest of the register",
    ),
    Parameter(
        name="sum_folding",
        kind=table(
            "table: constant_bits, taken_by, refused_by, late",
            {"constant_bits": whole(1), "taken_by": PORT_SETS, "refused_by": PORT_SETS, "late": whole(1)},
            needed=("constant_bits", "taken_by", "refused_by", "late"),
        ),
        default={},
        unit="bits, ports, ports, cycles",
        read_by=BINDING,
        text="the renamer adds a constant of so many bits, with sign, to a whole general-purpose register of 64 "
        "bits, in no "
        "time and without a µop. Loads, and instructions with a µop for exactly one of the sets `taken_by` and none "
        "for one of `refused_by`, take register and constant as they are; for others, and for the flags, a µop "
        "makes the sum up, on the ports in `refused_by` that the instruction has if it reads no flags, else on "
        "`renamer_ports`: `late` cycles, one for stored data, flags and what also waits for flags",
    ),
    Parameter(
        name="self_moves_execute",
        kind=FLAG,
        default=False,
        unit="",
        read_by=BINDING,
        text="a move of a register to itself, or of its lower part, is not eliminated: a µop on `renamer_ports`, one "
        "cycle",
    ),
    Parameter(
        name="move_fusion",
        kind=FORMS_TO_FORMS,
        default={},
        unit="",
        read_by=BINDING,
        text='`{ "MOV_R* MOV_RM*" = "ADD_* SUB_*" }`: an eliminated move of a form that matches one of the patterns '
        "shares the slot of the operation right behind it, if that matches one of the others, has no memory "
        "operand, and goes on with the copy in its place, with nothing else of it. An empty string: with none",
    ),
    Parameter(
        name="renamer_ports",
        kind=PORTS,
        default="",
        unit="",
        read_by=RENAMER,
        text="of the µops that the renamer inserts for the stack engine, and to merge `ah` … `dh` into their registers",
    ),
    Parameter(
        name="move_elim_gpr",
        kind=whole_or_unlimited(),
        default="unlimited",
        unit="slots",
        read_by=RENAMER,
        text="for eliminated moves of general-purpose registers",
    ),
    Parameter(
        name="move_elim_simd",
        kind=whole_or_unlimited(),
        default="unlimited",
        unit="slots",
        read_by=RENAMER,
        text="for eliminated moves of vector registers",
    ),
    Parameter(
        name="move_elim_pipeline",
        kind=whole(),
        default=1,
        unit="cycles",
        read_by=RENAMER,
        text="until a slot that was freed can be used again",
    ),
    Parameter(
        name="move_elim_all_aliases_overwritten",
        kind=FLAG,
        default=False,
        unit="",
        read_by=RENAMER,
        text="a slot is free when all registers that share it were overwritten, else when one is left",
    ),
    Parameter(
        name="microcode_alone",
        kind=FLAG,
        default=False,
        unit="",
        read_by=RENAMER,
        text="an instruction with `uops_ms` is issued alone, and with a cycle between it and another such one",
    ),
    Parameter(
        name="port_binding",
        kind=choice("least_loaded", "six_ports", "eight_ports", "ten_ports"),
        default="",
        unit="",
        read_by=EXECUTION,
        text="how a µop that may use several ports gets one at issue: the least loaded, or the rules found on "
        "Intel's cores; "
        "a model without it is not simulated; with `in_order`, ports are chosen when µops start",
    ),
    Parameter(
        name="issue_to_dispatch",
        kind=whole(),
        default=1,
        unit="cycles",
        read_by=EXECUTION,
        text="issue to the earliest execution",
    ),
    Parameter(
        name="just_ready_penalty",
        kind=whole(),
        default=0,
        unit="cycles",
        read_by=EXECUTION,
        text="lost by a µop whose operands become ready in the cycle in which it could leave at the earliest, or the "
        "next",
    ),
    Parameter(
        name="port_order",
        kind=PORT_SETS,
        default=[],
        unit="",
        read_by=EXECUTION,
        text='single ports, `["1", "0"]`: where a rule distinguishes between ports that are alike, these come first to '
        "last; the others follow in the order of `ports.names`",
    ),
    Parameter(
        name="ports_apart",
        kind=whole(1),
        default=3,
        unit="µops",
        read_by=EXECUTION,
        text="`six_ports`, `eight_ports`, `ten_ports`: a port with so many µops more than the least used one of its "
        "set "
        "is not taken",
    ),
    Parameter(
        name="ports_by_slot",
        kind=PORT_SETS,
        default=[],
        unit="",
        read_by=EXECUTION,
        text="`six_ports`: for each port of a set as the least used one, the ports for the issue slots of a cycle, "
        'beginning with itself, `["0,5,1,0", "1,5,0,1", "5,1,0,5"]`',
    ),
    Parameter(
        name="second_port_slot",
        kind=whole(),
        default=3,
        unit="issue slot",
        read_by=EXECUTION,
        text="`ten_ports`: in which the first µop of a set takes the second least used port",
    ),
    Parameter(
        name="first_port_slot",
        kind=whole(),
        default=4,
        unit="issue slot",
        read_by=EXECUTION,
        text="`ten_ports`: in which every µop takes the least used port",
    ),
    Parameter(
        name="alternating_ports",
        kind=PORT_SETS,
        default=[],
        unit="",
        read_by=EXECUTION,
        text='sets of ports that are taken in turn, `["2,3"]`',
    ),
    Parameter(
        name="alternating_imbalance",
        kind=whole_or_unlimited(),
        default="unlimited",
        unit="µops",
        read_by=EXECUTION,
        text="a port that would be the next in turn is left out while more than so many µops more are bound to it "
        "than to "
        "another one of the set",
    ),
    Parameter(
        name="schedulers",
        kind=by_ports(whole(1)),
        default={},
        unit="entries",
        read_by=EXECUTION,
        text='schedulers of their own for some ports, `{ "ALU0,AG0" = 24 }`: a µop gets a port whose scheduler has '
        "room, or "
        "waits before it, and with it all behind",
    ),
    Parameter(
        name="waiting_queue",
        kind=table("table: ports, entries", {"ports": PORTS, "entries": whole(1)}, needed=("ports", "entries")),
        default={},
        unit="ports, entries",
        read_by=EXECUTION,
        text='`{ ports = "FP0,FP1", entries = 64 }`: µops for these ports wait in a queue, in order, before their '
        "schedulers, "
        "and get their port when they leave it",
    ),
    Parameter(
        name="one_a_cycle",
        kind=PORTS,
        default="",
        unit="",
        read_by=EXECUTION,
        text="ports that get one µop a cycle at issue; one that finds none left waits, and all behind it",
    ),
    Parameter(
        name="queued_at",
        kind=by_ports(PORTS),
        default={},
        unit="",
        read_by=EXECUTION,
        text='`{ "AG0,AG1" = "AG0,AG1,AG2" }`: a µop for one of the first ports may wait at any of the second ones; '
        "as many as "
        "the first are start in a cycle, the oldest first, and one that must wait holds back those behind it at "
        "its port",
    ),
    Parameter(
        name="in_order",
        kind=FLAG,
        default=False,
        unit="",
        read_by=EXECUTION,
        text="µops start in program order, `issue_width` instructions a cycle; one that cannot go on holds up those "
        "behind it",
    ),
    Parameter(
        name="address_to_execute",
        kind=whole(),
        default=0,
        unit="cycles",
        read_by=EXECUTION,
        text="in order: from the stage in which addresses are computed to that of arithmetic, so that loaded values "
        "are there "
        "for the next instruction, and addresses just computed are so much later",
    ),
    Parameter(
        name="predecode_block_bytes",
        kind=whole(),
        default=0,
        unit="bytes",
        read_by=FRONT_END,
        text="that the predecoder takes at once; 0: not described",
    ),
    Parameter(
        name="predecode_width",
        kind=whole(1),
        default=1,
        unit="instructions a cycle",
        read_by=FRONT_END,
        text="of the predecoder",
    ),
    Parameter(
        name="predecode_to_decode",
        kind=whole(),
        default=0,
        unit="cycles",
        read_by=FRONT_END,
        text="from the predecoder to the decoders",
    ),
    Parameter(
        name="lcp_stall",
        kind=whole(),
        default=0,
        unit="cycles",
        read_by=FRONT_END,
        text="of the predecoder, for a length-changing prefix",
    ),
    Parameter(
        name="iq",
        kind=whole(),
        default=0,
        unit="entries",
        read_by=FRONT_END,
        text="instruction queue between predecoder and decoders",
    ),
    Parameter(
        name="decoders",
        kind=whole(),
        default=0,
        unit="decoders",
        read_by=FRONT_END,
        text="of which the first takes every instruction; 0: no limit",
    ),
    Parameter(
        name="ms_width",
        kind=whole(1),
        default=4,
        unit="µops a cycle",
        read_by=FRONT_END,
        text="of the microcode sequencer",
    ),
    Parameter(
        name="decode_clusters",
        kind=whole(1),
        default=1,
        unit="clusters",
        read_by=FRONT_END,
        text="groups of `decoders` that work at once, where nothing is said of the predecoder",
    ),
    Parameter(
        name="clusters_need_jumps",
        kind=FLAG,
        default=False,
        unit="",
        read_by=FRONT_END,
        text="all clusters but one need code behind taken jumps",
    ),
    Parameter(
        name="dsb_width",
        kind=whole(),
        default=0,
        unit="µops a cycle",
        read_by=FRONT_END,
        text="of the µop cache; 0: there is none",
    ),
    Parameter(
        name="dsb_block",
        kind=whole(1),
        default=32,
        unit="bytes",
        read_by=FRONT_END,
        text="of code to which an entry of the µop cache belongs",
    ),
    Parameter(
        name="dsb_ms_stall",
        kind=whole(),
        default=0,
        unit="cycles",
        read_by=FRONT_END,
        text="between µop cache and microcode",
    ),
    Parameter(
        name="mite_ms_stall",
        kind=whole(),
        default=2,
        unit="cycles",
        read_by=FRONT_END,
        text="between decoders and microcode, both ways together",
    ),
    Parameter(
        name="dsb_line_uops",
        kind=whole(1),
        default=6,
        unit="µops",
        read_by=FRONT_END,
        text="of a line of the µop cache",
    ),
    Parameter(
        name="dsb_read_lines",
        kind=whole(1),
        default=2,
        unit="lines",
        read_by=FRONT_END,
        text="of the µop cache that are read in a cycle",
    ),
    Parameter(
        name="dsb_lines",
        kind=whole_or_unlimited(1),
        default=3,
        unit="lines",
        read_by=FRONT_END,
        text="of the µop cache that 32 bytes of code may take; code of more comes from the decoders",
    ),
    Parameter(
        name="dsb_extra_slot_ends",
        kind=FLAG,
        default=True,
        unit="",
        read_by=FRONT_END,
        text="a µop that takes two places of a line, for a long immediate, is the last one that the µop cache "
        "delivers in a "
        "cycle",
    ),
    Parameter(
        name="dsb_groups",
        kind=whole(1),
        default=1,
        unit="groups a cycle",
        read_by=FRONT_END,
        text="of `dsb_width` from the µop cache, where nothing is said of the predecoder; each ends at a taken jump",
    ),
    Parameter(
        name="dsb_constants",
        kind=table(
            "table: beside, each, most",
            {"beside": whole(), "each": whole(), "most": whole(1)},
            needed=("beside", "each", "most"),
        ),
        default={},
        unit="constants",
        read_by=FRONT_END,
        text="where nothing is said of the predecoder: of the constants of instructions, displacements, immediates and "
        "targets of branches of 32 bits or less (64 count as two), a line of the µop cache, of `dsb_width` µops, has "
        "room for `beside` beside all of these, for `each` more instead of every one that is missing, and for `most` "
        "in all; a line comes in a cycle, and a loop in no fewer cycles than blocks of `dsb_block` bytes",
    ),
    Parameter(
        name="both_32B_halves_must_be_cacheable",
        kind=FLAG,
        default=False,
        unit="",
        read_by=FRONT_END,
        text="of a block of 64 bytes, either both are in the µop cache or none",
    ),
    Parameter(
        name="branch_may_end_cached_block",
        kind=FLAG,
        default=True,
        unit="",
        read_by=FRONT_END,
        text="a jump at the end of 32 bytes, or across it, does not keep them out of the µop cache",
    ),
    Parameter(
        name="idq", kind=whole(1), default=64, unit="entries", read_by=FRONT_END, text="µop queue before the renamer"
    ),
    Parameter(
        name="lsd",
        kind=FLAG,
        default=False,
        unit="",
        read_by=FRONT_END,
        text="loop stream detector: short loops run from the µop queue",
    ),
    Parameter(
        name="lsd_unroll",
        kind=BY_UOPS,
        default={},
        unit="times",
        read_by=FRONT_END,
        text="the loop stream detector unrolls a loop of so many µops; else once",
    ),
    Parameter(
        name="fusible_may_be_last_decoded",
        kind=FLAG,
        default=True,
        unit="",
        read_by=FRONT_END,
        text="what might fuse with the next instruction may be decoded as the last one in a cycle",
    ),
    Parameter(
        name="pop_rsp_r12_complex",
        kind=FLAG,
        default=False,
        unit="",
        read_by=FRONT_END,
        text="only the first decoder takes `pop rsp` and `pop r12`",
    ),
    Parameter(
        name="pop_rsp_r12_ends_group",
        kind=FLAG,
        default=False,
        unit="",
        read_by=FRONT_END,
        text="nothing is decoded behind them in the same cycle",
    ),
    Parameter(
        name="port_events",
        kind=BY_EVENT,
        default={},
        unit="`umask << 8 | event`",
        read_by=MEASURING,
        text="what counts µops that were sent to a port, or to several together, by a name for them; performance "
        "counters "
        "are asked for it where the kernel has them",
    ),
)

BY_NAME = {p.name: p for p in PARAMETERS}

# --- functions of ports, and fields of forms --------------------------------------------------------------------------

REQUIRED_FUNCTIONS = ("load", "store_address", "store_data")

FUNCTIONS = {
    "load": "loads",
    "load_vector": "loads of vectors, where other ports do them",
    "load_512": "loads of 512 bits, likewise",
    "load_x87": "loads of x87, likewise",
    "store_address": "addresses of stores",
    "store_address_indexed": "those with an index register, where that makes a difference",
    "store_data": "data of stores",
    "store_vector": "the pipe through which stored vectors go",
    "branch_taken": "conditional jumps that are taken, and those that are fused with a comparison",
    "branch_not_taken": "those that are not taken",
    "fused_jump": "comparisons fused with jumps (`fused_jump_computes`)",
    "integer": "integer arithmetic, for `incc-model import amd`",
    "multiply": "multiplications of integers, likewise",
    "shift": "shifts, likewise",
    "select": "conditional moves and sets, likewise",
    "compare": "the pipe by which flags leave the vector unit, likewise",
}
"""The names in [ports.functions], and what goes to these ports."""


class Field(msgspec.Struct, frozen=True, kw_only=True):
    """A field of a form: its name, what it may be, its JSON schema, what it means (Markdown)."""

    name: str
    type: type | tuple[type, ...]
    schema: dict[str, Any]
    text: str


_FLAG: dict[str, Any] = {"type": "boolean"}
_COUNT: dict[str, Any] = {"type": "integer", "minimum": 0}

FIELDS: tuple[Field, ...] = (
    Field(
        name="ports",
        type=str,
        schema={"$ref": "#/$defs/usage"},
        text="µops in the unfused domain, in uops.info's notation: `1*p01+2*p23` is one µop on port 0 or 1 and two "
        "on 2 or 3; "
        '`""`: the renamer does it. Other port names: `2*FP01` is FP0 or FP1, `1*p(V0\\|V1)` lists names.',
    ),
    Field(
        name="retire",
        type=int,
        schema=_COUNT,
        text="µops in the fused domain at issue and retirement, after un-lamination",
    ),
    Field(name="latency", type=str, schema={"$ref": "#/$defs/latency"}, text="cycles between operands, see below"),
    Field(name="divider", type=int, schema=_COUNT, text="cycles for which the divider is taken"),
    Field(
        name="unit",
        type=str,
        schema={"type": "string", "minLength": 1},
        text="which of `ports.resources` `divider` is about, where it is not the first",
    ),
    Field(
        name="hold",
        type=int,
        schema=_COUNT,
        text="cycles for which each µop holds its port, where it is more than one (512 bits on pipes of 256)",
    ),
    Field(
        name="tp",
        type=(int, float),
        schema={"type": "number", "minimum": 0},
        text="measured reciprocal throughput in cycles, where ports and divider do not explain it",
    ),
    Field(name="breaks", type=bool, schema=_FLAG, text="the result does not depend on the inputs"),
    Field(name="fusion", type=str, schema={"type": "string"}, text="macro-fusion class"),
    Field(name="source", type=str, schema={"type": "string"}, text="where the figures come from"),
    Field(
        name="derived", type=str, schema={"type": "string"}, text="the form and the rule from which they were derived"
    ),
    Field(name="absent", type=bool, schema=_FLAG, text="takes away what is inherited"),
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
        text="how many simple decoders work beside the first, which takes it (default: all)",
    ),
    Field(name="no_lsd", type=bool, schema=_FLAG, text="keeps a loop out of the loop stream detector"),
    Field(name="lcp_stall", type=bool, schema=_FLAG, text="its prefix stalls the predecoder"),
)

# --- checking ---------------------------------------------------------------------------------------------------------


def suggestion(name: str, known: Iterable[str]) -> str:
    """ "; did you mean 'X'?" with the known name that comes closest, or ""."""
    import difflib

    near = difflib.get_close_matches(name, list(known), 1, 0.6)
    return f"; did you mean {near[0]!r}?" if near else ""


def unknown(what: str, name: str, known: Iterable[str]) -> str:
    """The message about a name that nobody reads."""
    return f"unknown {what} {name!r}{suggestion(name, known)}"


def problems_of(parameters: Mapping[str, Any]) -> list[tuple[tuple[str, ...], str]]:
    """What is wrong with parameters as they are written, ports apart: (where: name, or name and key; message)."""
    found: list[tuple[tuple[str, ...], str]] = []
    for name, value in parameters.items():
        parameter = BY_NAME.get(name)
        if parameter is None:
            found.append(((name,), unknown("parameter", name, BY_NAME)))
            continue
        for key, message in parameter.kind.problems(value):
            place = (name, key) if key else (name,)
            found.append((place, f"parameter {'.'.join(place)!r} {message}"))
    return found


def problems_together(parameters: Mapping[str, Any], ports: Sequence[str]) -> list[tuple[str, str]]:
    """What is wrong with all parameters of a core, each good by itself: (parameter or "", message).

    Required ones that are missing, also keys of tables, and sets of ports that name one that is not there.
    """
    found = []
    for p in PARAMETERS:
        if p.name not in parameters:
            if p.default is REQUIRED:
                found.append(("", f"parameter {p.name!r} is missing"))
            continue
        value = parameters[p.name]
        if value:
            found += [(p.name, f"parameter '{p.name}.{k}' is missing") for k in p.kind.needed if k not in value]
        found += [
            (p.name, f"{p.name} names an unknown port in {names!r} (ports: {', '.join(ports)})")
            for names in p.kind.ports(value)
            if names and not all(n in ports for n in names.split(","))
        ]
    return found


def defaults() -> dict[str, Any]:
    """What holds of parameters that a model does not say."""
    return {p.name: p.default for p in PARAMETERS if p.default is not REQUIRED}
