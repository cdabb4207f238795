"""What a model file may say: one table each of parameters, of functions of ports, and of fields of forms.

Loading (models.files), `incc-model check`, `model.schema.json` and the tables in docs/models.md come from here; `python
-m incc.models.schema.describe` writes the latter two anew. Only read when a model is compiled, so it costs nothing at
start-up. A parameter more is an entry more in PARAMETERS.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from incc.models.patterns import port_delay_rules

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

# --- kinds of values --------------------------------------------------------------------------------------------------


class Kind(NamedTuple):
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

    return Kind(text, schema, problems, _no_ports)


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

    return Kind(", ".join(f"`{n}`" for n in names), {"enum": list(names)}, problems, _no_ports)


def _is_set(value: Any) -> bool:
    return isinstance(value, str) and all(value.split(","))


_SET_SCHEMA = {"type": "string", "pattern": "^[A-Za-z0-9_]+(,[A-Za-z0-9_]+)*$"}
_SET_TEXT = 'ports\' names joined by ","'
PORTS = _kind("ports", _SET_SCHEMA, _is_set, _SET_TEXT)._replace(ports=lambda v: [v])
PORT_SETS = _kind(
    "list of ports",
    {"type": "array", "items": _SET_SCHEMA},
    lambda v: isinstance(v, (list, tuple)) and all(_is_set(x) for x in v),
    f"a list of {_SET_TEXT}",
)._replace(ports=lambda v: v)


def by_ports(of: Kind) -> Kind:
    """A table from sets of ports to something."""

    def problems(value: Any) -> list[tuple[str, str]]:
        if not _is_table(value):
            return [("", f"must be a table, not {value!r}")]
        found = [(k, f"must be {_SET_TEXT}") for k in value if not _is_set(k)]
        return found + [(k, message) for k, v in value.items() for _, message in of.problems(v)]

    return Kind(
        f"table: ports to {of.text}",
        {"type": "object", "propertyNames": _SET_SCHEMA, "additionalProperties": of.schema},
        problems,
        lambda v: [*v, *[ports for x in v.values() for ports in of.ports(x)]],
    )


def table(what: str, fields: Mapping[str, Kind], needed: Iterable[str] = ()) -> Kind:
    """A table with no other keys than these."""

    def problems(value: Any) -> list[tuple[str, str]]:
        if not _is_table(value):
            return [("", f"must be a table, not {value!r}")]
        found = [(k, "is unknown" + suggestion(k, fields)) for k in value if k not in fields]
        return found + [(k, message) for k, v in value.items() if k in fields for _, message in fields[k].problems(v)]

    return Kind(
        what,
        {"type": "object", "additionalProperties": False, "properties": {k: f.schema for k, f in fields.items()}},
        problems,
        lambda v: [ports for k, x in v.items() if k in fields for ports in fields[k].ports(x)],
        tuple(needed),
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
    'table: µops ("5", "9-12") to number ≥ 1',
    {
        "type": "object",
        "propertyNames": {"pattern": "^[1-9][0-9]*(-[1-9][0-9]*)?$"},
        "additionalProperties": {"type": "integer", "minimum": 1},
    },
    _ranges,
    _no_ports,
)


def _by_event(value: Any) -> list[tuple[str, str]]:
    if not _is_table(value):
        return [("", f"must be a table, not {value!r}")]
    found = [(k, "must be a name of letters, digits and `_`") for k in value if not k.replace("_", "").isalnum()]
    return found + [(k, message) for k, v in value.items() for _, message in whole(1).problems(v)]


BY_EVENT = Kind(
    "table: names to raw event codes",
    {
        "type": "object",
        "propertyNames": {"pattern": "^[A-Za-z0-9_]+$"},
        "additionalProperties": {"type": "integer", "minimum": 1},
    },
    _by_event,
    _no_ports,
)


def _by_forms(value: Any) -> list[tuple[str, str]]:
    if not _is_table(value):
        return [("", f"must be a table, not {value!r}")]
    found = [(k, "must be patterns of forms") for k in value if not k.split()]
    return found + [(k, message) for k, v in value.items() for _, message in whole().problems(v)]


BY_FORMS = Kind(
    "table: patterns of forms to number ≥ 0",
    {"type": "object", "additionalProperties": {"type": "integer", "minimum": 0}},
    _by_forms,
    _no_ports,
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
    "table: patterns of forms to patterns of forms",
    {"type": "object", "additionalProperties": {"type": "string"}},
    _forms_to_forms,
    _no_ports,
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
PORT_DELAYS = _PORT_DELAYS._replace(
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


class Parameter(NamedTuple):
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
    Parameter("issue_width", whole(1), REQUIRED, "fused µops a cycle", BOUNDS, "what the renamer issues"),
    Parameter("retire_width", whole(1), REQUIRED, "fused µops a cycle", BOUNDS, "what retires"),
    Parameter("rob", whole(1), REQUIRED, "entries", EXECUTION, "reorder buffer"),
    Parameter("rs", whole(1), REQUIRED, "entries", EXECUTION, "scheduler, or all of them together"),
    Parameter("load_buffer", whole(), 0, "entries", MEMORY, "loads from renaming until they retire; 0: no limit"),
    Parameter(
        "store_buffer",
        whole(),
        0,
        "entries",
        MEMORY,
        "stores from renaming until they are in the cache; 0: no limit",
    ),
    Parameter(
        "loads_leave_when_done",
        FLAG,
        False,
        "",
        MEMORY,
        "loads keep their entry of `load_buffer` only until they have their data",
    ),
    Parameter(
        "load_latency", CYCLES_BY_CLASS, REQUIRED, "cycles", BINDING, "address to loaded value, first-level cache"
    ),
    Parameter(
        "store_forward",
        CYCLES_BY_CLASS,
        REQUIRED,
        "cycles",
        BOUNDS,
        "stored data ready to value loaded from the same address",
    ),
    Parameter(
        "store_address_to_load",
        whole(1),
        5,
        "cycles",
        MEMORY,
        "start of a store's µop for the address to a load seeing it",
    ),
    Parameter(
        "store_data_to_load",
        whole(1),
        1,
        "cycles",
        MEMORY,
        "start of a store's µop for the data to a load seeing them; the rest of `store_forward` is their way to it",
    ),
    Parameter(
        "forward_delays",
        BY_FORMS,
        {},
        "cycles",
        BOUNDS,
        '`{ "ADDPS_* SUBPS_*" = 1 }`: by which results of the forms that match one of the patterns come later to all '
        "that do not; latencies are those within the group",
    ),
    Parameter(
        "port_delays",
        PORT_DELAYS,
        {},
        "cycles",
        BOUNDS,
        '`classes = { float = "MULPS_*", simple = "PAND_*" }, rules = { "float@0,1 simple@0,1" = 1 }`: by which '
        "results of the forms of a class come later (earlier, if negative) to those of another, where the µops are on "
        "these ports; of several rules the largest number counts. The bounds count the pair of ports that is best",
    ),
    Parameter(
        "late_beside_flags",
        FORMS_TO_FORMS,
        {},
        "",
        EXECUTION,
        '`{ "TEST_* AND_*" = "CMOV* SET*" }`: what matches one of the latter starts a cycle later behind what it reads '
        "of registers, if its flags are from what matches one of the former. The bounds do not count it",
    ),
    Parameter(
        "blocked_forward_cycles",
        whole(),
        0,
        "cycles",
        BOUNDS,
        "beyond `store_forward` for a load of which the store before it wrote only some bytes: it waits until the "
        "store is in the cache. 0: none is known",
    ),
    Parameter(
        "merges_narrow_store",
        FLAG,
        False,
        "",
        BOUNDS,
        "a load that begins where the only store in flight to its bytes does takes `blocked_forward_cycles` longer, "
        "but does not wait for the cache",
    ),
    Parameter(
        "mispredict_penalty",
        whole(),
        0,
        "cycles",
        RANGE,
        "from a branch that turns out to be predicted wrongly to the first µop of the right way. 0: not known",
    ),
    Parameter(
        "line_bytes",
        whole(),
        0,
        "bytes",
        BOUNDS,
        "a cache line, or what else is read in one access; 0: every access is one",
    ),
    Parameter(
        "line_crossing_cycles",
        whole(),
        0,
        "cycles",
        BOUNDS,
        "for which a load that crosses into another line holds its port beyond the first cycle",
    ),
    Parameter(
        "memory_bits",
        whole(),
        0,
        "bits",
        BINDING,
        "of one access: wider ones take several µops, all of which are loads or stores; 0: no limit",
    ),
    Parameter(
        "slow_256bit_memory", FLAG, False, "", MEMORY, "loads and stores of 256 bits hold their port for two cycles"
    ),
    Parameter(
        "store_commit_bytes",
        whole(),
        0,
        "bytes",
        MEMORY,
        "retired stores go to the first-level cache in program order, an aligned block of so many bytes a "
        "cycle, together "
        "with those right behind that are to the same block; they keep their entry of `store_buffer` until "
        "then. 0: no "
        "limit",
    ),
    Parameter(
        "store_commit_most",
        whole(),
        0,
        "stores",
        MEMORY,
        "so many go together at most, and neither those that reach into another block nor those that fill one. "
        "0: no limit",
    ),
    Parameter(
        "store_word_bytes",
        whole(),
        0,
        "bytes",
        MEMORY,
        "of the words in a block (`store_commit_bytes`): one that goes to the cache with only some bytes of a word "
        "does so `store_word_cycles` later, if one with bytes of this word did in the last `store_word_window` cycles. "
        "0: it does not matter",
    ),
    Parameter("store_word_window", whole(), 0, "cycles", MEMORY, "see `store_word_bytes`; 16 at most"),
    Parameter("store_word_cycles", whole(), 0, "cycles", MEMORY, "see `store_word_bytes`"),
    Parameter(
        "bank_bytes",
        whole(),
        0,
        "bytes",
        MEMORY,
        "lines of the first-level cache lie across banks of so many bytes: loads that need the same one wait for each "
        "other. 0: there are none",
    ),
    Parameter("bank_loads", whole(1), 2, "loads", MEMORY, "that a bank serves in a cycle, 1 or 2"),
    Parameter(
        "bank_sets",
        whole(),
        0,
        "sets",
        MEMORY,
        "of the first-level cache, where loads from the same set do not hinder each other. 0: all do that need one "
        "bank, and one that crosses a line goes alone",
    ),
    Parameter(
        "starts_256bit",
        whole(),
        0,
        "µops a cycle",
        EXECUTION,
        "that start at most on average, of loads, arithmetic and stored data of 256 bits: an instruction has one of "
        "each at most, in however many µops; a load that crosses a line is two. 0: no limit",
    ),
    Parameter(
        "starts_512bit",
        whole(),
        0,
        "µops a cycle",
        EXECUTION,
        "the same of 512 bits. If both are limited, one of either width takes its share of the cycle",
    ),
    Parameter(
        "fast_pointer_chasing",
        FLAG,
        False,
        "",
        BINDING,
        "one cycle less for a load whose base register was just loaded, without index",
    ),
    Parameter(
        "memory_renaming",
        table(
            "table: indexed, bytes, computing, register_updates",
            {"indexed": FLAG, "bytes": FLAG, "computing": FLAG, "register_updates": FLAG},
            needed=("indexed", "bytes", "computing", "register_updates"),
        ),
        {},
        "",
        BINDING,
        "the renamer hands a stored value on to a load of it, in no time: 32 or 64 bits of general-purpose registers "
        "that are loaded with nothing but zeros above them, and read-modify-writes; with `indexed` also where one of "
        "the two addresses has an index, with `bytes` also 8 bits, with `computing` also where the load's instruction "
        "computes with it, with `register_updates` also read-modify-writes with a source beside the constants in "
        "their encoding",
    ),
    Parameter(
        "wide_vectors",
        table(
            "table: width, closes, instead",
            {"width": whole(1), "closes": PORTS, "instead": PORTS},
            needed=("width", "closes", "instead"),
        ),
        {},
        "bits, ports",
        BINDING,
        "with registers of `width` bits in use, µops on vectors do not go to the ports `closes`; those that could go "
        "nowhere else take `instead`",
    ),
    Parameter("taken_branch_cycles", whole(1), 1, "cycles", BINDING, "for which a taken jump keeps its port"),
    Parameter(
        "fused_jump_computes",
        FLAG,
        False,
        "",
        BINDING,
        "a comparison fused with a jump takes its own port beside the jump's, or one of "
        "`ports.functions.fused_jump` if "
        "the model has them; these then also do jumps that are not taken",
    ),
    Parameter(
        "stack_engine",
        NAME,
        "",
        "register",
        BINDING,
        "whose implicit changes cost nothing until it is used itself, or they add up to more than `stack_offset_limit`",
    ),
    Parameter("stack_offset_limit", whole_or_unlimited(), "unlimited", "bytes", RENAMER, "of the stack engine"),
    Parameter(
        "high8_renamed_separately",
        FLAG,
        False,
        "",
        BINDING,
        "`ah` … `dh` are renamed apart from the rest of the register",
    ),
    Parameter(
        "sum_folding",
        table(
            "table: constant_bits, taken_by, refused_by, late",
            {"constant_bits": whole(1), "taken_by": PORT_SETS, "refused_by": PORT_SETS, "late": whole(1)},
            needed=("constant_bits", "taken_by", "refused_by", "late"),
        ),
        {},
        "bits, ports, ports, cycles",
        BINDING,
        "the renamer adds a constant of so many bits, with sign, to a whole general-purpose register of 64 bits, in no "
        "time and without a µop. Loads, and instructions with a µop for exactly one of the sets `taken_by` and none "
        "for one of `refused_by`, take register and constant as they are; for others, and for the flags, a µop "
        "makes the sum up, on the ports in `refused_by` that the instruction has if it reads no flags, else on "
        "`renamer_ports`: `late` cycles, one for stored data, flags and what also waits for flags",
    ),
    Parameter(
        "self_moves_execute",
        FLAG,
        False,
        "",
        BINDING,
        "a move of a register to itself, or of its lower part, is not eliminated: a µop on `renamer_ports`, one cycle",
    ),
    Parameter(
        "move_fusion",
        FORMS_TO_FORMS,
        {},
        "",
        BINDING,
        '`{ "MOV_R* MOV_RM*" = "ADD_* SUB_*" }`: an eliminated move of a form that matches one of the patterns '
        "shares the slot of the operation right behind it, if that matches one of the others, has no memory "
        "operand, and goes on with the copy in its place, with nothing else of it. An empty string: with none",
    ),
    Parameter(
        "renamer_ports",
        PORTS,
        "",
        "",
        RENAMER,
        "of the µops that the renamer inserts for the stack engine, and to merge `ah` … `dh` into their registers",
    ),
    Parameter(
        "move_elim_gpr",
        whole_or_unlimited(),
        "unlimited",
        "slots",
        RENAMER,
        "for eliminated moves of general-purpose registers",
    ),
    Parameter(
        "move_elim_simd",
        whole_or_unlimited(),
        "unlimited",
        "slots",
        RENAMER,
        "for eliminated moves of vector registers",
    ),
    Parameter("move_elim_pipeline", whole(), 1, "cycles", RENAMER, "until a slot that was freed can be used again"),
    Parameter(
        "move_elim_all_aliases_overwritten",
        FLAG,
        False,
        "",
        RENAMER,
        "a slot is free when all registers that share it were overwritten, else when one is left",
    ),
    Parameter(
        "microcode_alone",
        FLAG,
        False,
        "",
        RENAMER,
        "an instruction with `uops_ms` is issued alone, and with a cycle between it and another such one",
    ),
    Parameter(
        "port_binding",
        choice("least_loaded", "six_ports", "eight_ports", "ten_ports"),
        "",
        "",
        EXECUTION,
        "how a µop that may use several ports gets one at issue: the least loaded, or the rules found on "
        "Intel's cores; "
        "a model without it is not simulated; with `in_order`, ports are chosen when µops start",
    ),
    Parameter("issue_to_dispatch", whole(), 1, "cycles", EXECUTION, "issue to the earliest execution"),
    Parameter(
        "just_ready_penalty",
        whole(),
        0,
        "cycles",
        EXECUTION,
        "lost by a µop whose operands become ready in the cycle in which it could leave at the earliest, or the next",
    ),
    Parameter(
        "port_order",
        PORT_SETS,
        [],
        "",
        EXECUTION,
        'single ports, `["1", "0"]`: where a rule distinguishes between ports that are alike, these come first to '
        "last; the others follow in the order of `ports.names`",
    ),
    Parameter(
        "ports_apart",
        whole(1),
        3,
        "µops",
        EXECUTION,
        "`six_ports`, `eight_ports`, `ten_ports`: a port with so many µops more than the least used one of its set "
        "is not taken",
    ),
    Parameter(
        "ports_by_slot",
        PORT_SETS,
        [],
        "",
        EXECUTION,
        "`six_ports`: for each port of a set as the least used one, the ports for the issue slots of a cycle, "
        'beginning with itself, `["0,5,1,0", "1,5,0,1", "5,1,0,5"]`',
    ),
    Parameter(
        "second_port_slot",
        whole(),
        3,
        "issue slot",
        EXECUTION,
        "`ten_ports`: in which the first µop of a set takes the second least used port",
    ),
    Parameter(
        "first_port_slot",
        whole(),
        4,
        "issue slot",
        EXECUTION,
        "`ten_ports`: in which every µop takes the least used port",
    ),
    Parameter("alternating_ports", PORT_SETS, [], "", EXECUTION, 'sets of ports that are taken in turn, `["2,3"]`'),
    Parameter(
        "alternating_imbalance",
        whole_or_unlimited(),
        "unlimited",
        "µops",
        EXECUTION,
        "a port that would be the next in turn is left out while more than so many µops more are bound to it than to "
        "another one of the set",
    ),
    Parameter(
        "schedulers",
        by_ports(whole(1)),
        {},
        "entries",
        EXECUTION,
        'schedulers of their own for some ports, `{ "ALU0,AG0" = 24 }`: a µop gets a port whose scheduler has '
        "room, or "
        "waits before it, and with it all behind",
    ),
    Parameter(
        "waiting_queue",
        table("table: ports, entries", {"ports": PORTS, "entries": whole(1)}, needed=("ports", "entries")),
        {},
        "ports, entries",
        EXECUTION,
        '`{ ports = "FP0,FP1", entries = 64 }`: µops for these ports wait in a queue, in order, before their '
        "schedulers, "
        "and get their port when they leave it",
    ),
    Parameter(
        "one_a_cycle",
        PORTS,
        "",
        "",
        EXECUTION,
        "ports that get one µop a cycle at issue; one that finds none left waits, and all behind it",
    ),
    Parameter(
        "queued_at",
        by_ports(PORTS),
        {},
        "",
        EXECUTION,
        '`{ "AG0,AG1" = "AG0,AG1,AG2" }`: a µop for one of the first ports may wait at any of the second ones; '
        "as many as "
        "the first are start in a cycle, the oldest first, and one that must wait holds back those behind it at "
        "its port",
    ),
    Parameter(
        "in_order",
        FLAG,
        False,
        "",
        EXECUTION,
        "µops start in program order, `issue_width` instructions a cycle; one that cannot go on holds up those "
        "behind it",
    ),
    Parameter(
        "address_to_execute",
        whole(),
        0,
        "cycles",
        EXECUTION,
        "in order: from the stage in which addresses are computed to that of arithmetic, so that loaded values "
        "are there "
        "for the next instruction, and addresses just computed are so much later",
    ),
    Parameter(
        "predecode_block_bytes", whole(), 0, "bytes", FRONT_END, "that the predecoder takes at once; 0: not described"
    ),
    Parameter("predecode_width", whole(1), 1, "instructions a cycle", FRONT_END, "of the predecoder"),
    Parameter("predecode_to_decode", whole(), 0, "cycles", FRONT_END, "from the predecoder to the decoders"),
    Parameter("lcp_stall", whole(), 0, "cycles", FRONT_END, "of the predecoder, for a length-changing prefix"),
    Parameter("iq", whole(), 0, "entries", FRONT_END, "instruction queue between predecoder and decoders"),
    Parameter("decoders", whole(), 0, "decoders", FRONT_END, "of which the first takes every instruction; 0: no limit"),
    Parameter("ms_width", whole(1), 4, "µops a cycle", FRONT_END, "of the microcode sequencer"),
    Parameter(
        "decode_clusters",
        whole(1),
        1,
        "clusters",
        FRONT_END,
        "groups of `decoders` that work at once, where nothing is said of the predecoder",
    ),
    Parameter("clusters_need_jumps", FLAG, False, "", FRONT_END, "all clusters but one need code behind taken jumps"),
    Parameter("dsb_width", whole(), 0, "µops a cycle", FRONT_END, "of the µop cache; 0: there is none"),
    Parameter("dsb_block", whole(1), 32, "bytes", FRONT_END, "of code to which an entry of the µop cache belongs"),
    Parameter("dsb_ms_stall", whole(), 0, "cycles", FRONT_END, "between µop cache and microcode"),
    Parameter("dsb_line_uops", whole(1), 6, "µops", FRONT_END, "of a line of the µop cache"),
    Parameter(
        "dsb_lines",
        whole_or_unlimited(1),
        3,
        "lines",
        FRONT_END,
        "of the µop cache that 32 bytes of code may take; code of more comes from the decoders",
    ),
    Parameter(
        "dsb_extra_slot_ends",
        FLAG,
        True,
        "",
        FRONT_END,
        "a µop that takes two places of a line, for a long immediate, is the last one that the µop cache delivers in a "
        "cycle",
    ),
    Parameter(
        "dsb_groups",
        whole(1),
        1,
        "groups a cycle",
        FRONT_END,
        "of `dsb_width` from the µop cache, where nothing is said of the predecoder; each ends at a taken jump",
    ),
    Parameter(
        "dsb_constants",
        table(
            "table: beside, each, most",
            {"beside": whole(), "each": whole(), "most": whole(1)},
            needed=("beside", "each", "most"),
        ),
        {},
        "constants",
        FRONT_END,
        "where nothing is said of the predecoder: of the constants of instructions, displacements, immediates and "
        "targets of branches of 32 bits or less (64 count as two), a line of the µop cache, of `dsb_width` µops, has "
        "room for `beside` beside all of these, for `each` more instead of every one that is missing, and for `most` "
        "in all; a line comes in a cycle, and a loop in no fewer cycles than blocks of `dsb_block` bytes",
    ),
    Parameter(
        "both_32B_halves_must_be_cacheable",
        FLAG,
        False,
        "",
        FRONT_END,
        "of a block of 64 bytes, either both are in the µop cache or none",
    ),
    Parameter(
        "branch_may_end_cached_block",
        FLAG,
        True,
        "",
        FRONT_END,
        "a jump at the end of 32 bytes, or across it, does not keep them out of the µop cache",
    ),
    Parameter("idq", whole(1), 64, "entries", FRONT_END, "µop queue before the renamer"),
    Parameter("lsd", FLAG, False, "", FRONT_END, "loop stream detector: short loops run from the µop queue"),
    Parameter(
        "lsd_unroll",
        BY_UOPS,
        {},
        "times",
        FRONT_END,
        "the loop stream detector unrolls a loop of so many µops; else once",
    ),
    Parameter(
        "fusible_may_be_last_decoded",
        FLAG,
        True,
        "",
        FRONT_END,
        "what might fuse with the next instruction may be decoded as the last one in a cycle",
    ),
    Parameter(
        "pop_rsp_r12_complex", FLAG, False, "", FRONT_END, "only the first decoder takes `pop rsp` and `pop r12`"
    ),
    Parameter("pop_rsp_r12_ends_group", FLAG, False, "", FRONT_END, "nothing is decoded behind them in the same cycle"),
    Parameter(
        "port_events",
        BY_EVENT,
        {},
        "`umask << 8 | event`",
        MEASURING,
        "what counts µops that were sent to a port, or to several together, by a name for them; performance counters "
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


class Field(NamedTuple):
    """A field of a form: its name, what it may be, its JSON schema, what it means (Markdown)."""

    name: str
    type: type | tuple[type, ...]
    schema: dict[str, Any]
    text: str


_FLAG: dict[str, Any] = {"type": "boolean"}
_COUNT: dict[str, Any] = {"type": "integer", "minimum": 0}

FIELDS: tuple[Field, ...] = (
    Field(
        "ports",
        str,
        {"$ref": "#/$defs/usage"},
        "µops in the unfused domain, in uops.info's notation: `1*p01+2*p23` is one µop on port 0 or 1 and two "
        "on 2 or 3; "
        '`""`: the renamer does it. Other port names: `2*FP01` is FP0 or FP1, `1*p(V0\\|V1)` lists names.',
    ),
    Field("retire", int, _COUNT, "µops in the fused domain at issue and retirement, after un-lamination"),
    Field("latency", str, {"$ref": "#/$defs/latency"}, "cycles between operands, see below"),
    Field("divider", int, _COUNT, "cycles for which the divider is taken"),
    Field(
        "unit",
        str,
        {"type": "string", "minLength": 1},
        "which of `ports.resources` `divider` is about, where it is not the first",
    ),
    Field(
        "hold",
        int,
        _COUNT,
        "cycles for which each µop holds its port, where it is more than one (512 bits on pipes of 256)",
    ),
    Field(
        "tp",
        (int, float),
        {"type": "number", "minimum": 0},
        "measured reciprocal throughput in cycles, where ports and divider do not explain it",
    ),
    Field("breaks", bool, _FLAG, "the result does not depend on the inputs"),
    Field("fusion", str, {"type": "string"}, "macro-fusion class"),
    Field("source", str, {"type": "string"}, "where the figures come from"),
    Field("derived", str, {"type": "string"}, "the form and the rule from which they were derived"),
    Field("absent", bool, _FLAG, "takes away what is inherited"),
    Field("uops_mite", int, _COUNT, "fused µops from the decoders (default: `retire` without `uops_ms`)"),
    Field("uops_ms", int, _COUNT, "fused µops from the microcode sequencer (default: 0)"),
    Field("complex_decoder", bool, _FLAG, "only the first decoder takes it"),
    Field(
        "simple_decoders",
        int,
        _COUNT,
        "how many simple decoders work beside the first, which takes it (default: all)",
    ),
    Field("no_lsd", bool, _FLAG, "keeps a loop out of the loop stream detector"),
    Field("lcp_stall", bool, _FLAG, "its prefix stalls the predecoder"),
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
