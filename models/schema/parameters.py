"""The parameters that a model file may state.

Loading, `incc-model check`, `model.schema.json` and the table in docs/models.md come from PARAMETERS; `python -m
incc.models.schema.describe` writes the latter two. This is only imported when a model is compiled, so it does not slow
down start-up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from incc.models.schema.kinds import (
    BY_EVENT,
    BY_FORMS,
    BY_UOPS,
    CYCLES_BY_CLASS,
    FLAG,
    FORMS_TO_FORMS,
    NAME,
    PORT_DELAYS,
    PORT_SETS,
    PORTS,
    Kind,
    by_ports,
    choice,
    full_table,
    unknown,
    whole,
    whole_or_unlimited,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

REQUIRED: Any = None
"""In place of a default: every model must state the parameter."""

BOUNDS, BINDING, RANGE = "bounds", "binding", "range"
MEASURING = "`incc-bench`"
FRONT_END, RENAMER, EXECUTION, MEMORY = (f"simulation: {x}" for x in ("front end", "renamer", "execution", "memory"))


class Parameter(NamedTuple):
    """A parameter of a core's pipeline."""

    name: str
    kind: Kind
    default: Any
    """The value where no model file states one; it never makes a kernel slower."""
    unit: str
    read_by: str
    """The bounds (and the simulation, too), binding (so both), a part of the simulation, or measuring."""
    text: str
    """Its meaning, in Markdown."""


PARAMETERS: tuple[Parameter, ...] = (
    Parameter("issue_width", whole(1), REQUIRED, "fused µops a cycle", BOUNDS, "issue width of the renamer"),
    Parameter("retire_width", whole(1), REQUIRED, "fused µops a cycle", BOUNDS, "retirement width"),
    Parameter("rob", whole(1), REQUIRED, "entries", EXECUTION, "reorder buffer"),
    Parameter("rs", whole(1), REQUIRED, "entries", EXECUTION, "scheduler, or all schedulers together"),
    Parameter("load_buffer", whole(), 0, "entries", MEMORY, "loads from renaming to retirement; 0: no limit"),
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
        "loads leave `load_buffer` when they have their data, not at retirement",
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
        "start of a store's address µop until a load sees the address",
    ),
    Parameter(
        "store_data_to_load",
        whole(1),
        1,
        "cycles",
        MEMORY,
        "start of a store's data µop until a load sees the data; the rest of `store_forward` is their way to the load",
    ),
    Parameter(
        "forward_delays",
        BY_FORMS,
        {},
        "cycles",
        BOUNDS,
        '`{ "ADDPS_* SUBPS_*" = 1 }`: delay of results of forms that match one of the patterns, to all forms that do '
        "not; the forms' latencies are those within the group",
    ),
    Parameter(
        "port_delays",
        PORT_DELAYS,
        {},
        "cycles",
        BOUNDS,
        '`classes = { float = "MULPS_*", simple = "PAND_*" }, rules = { "float@0,1 simple@0,1" = 1 }`: delay of '
        "results (negative: earlier) from forms of one class to forms of another, if the µops run on these ports. If "
        "several rules apply, the largest number counts. The bounds assume the best pair of ports",
    ),
    Parameter(
        "late_beside_flags",
        FORMS_TO_FORMS,
        {},
        "",
        EXECUTION,
        '`{ "TEST_* AND_*" = "CMOV* SET*" }`: forms that match the value start a cycle later after the writers of '
        "their registers, if their flags come from a form that matches the key. The bounds ignore it",
    ),
    Parameter(
        "blocked_forward_cycles",
        whole(),
        0,
        "cycles",
        BOUNDS,
        "added to `store_forward` for a load of which an earlier store wrote only some bytes: it waits until the store "
        "is in the cache. 0: unknown",
    ),
    Parameter(
        "merges_narrow_store",
        FLAG,
        False,
        "",
        BOUNDS,
        "a load that begins at the same address as the only narrower store in flight takes `blocked_forward_cycles` "
        "longer, but does not wait for the cache",
    ),
    Parameter(
        "mispredict_penalty",
        whole(),
        0,
        "cycles",
        RANGE,
        "execution of a mispredicted branch to the first µop of the right path. 0: unknown",
    ),
    Parameter(
        "line_bytes",
        whole(),
        0,
        "bytes",
        BOUNDS,
        "cache line, or another block that one access reads; 0: every access is one",
    ),
    Parameter(
        "line_crossing_cycles",
        whole(),
        0,
        "cycles",
        BOUNDS,
        "for which a load across two lines holds its port beyond the first cycle",
    ),
    Parameter(
        "memory_bits",
        whole(),
        0,
        "bits",
        BINDING,
        "width of one access; wider accesses take several µops, all of them loads or stores; 0: no limit",
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
        "retired stores go to the first-level cache in program order, one aligned block of this size a cycle, together "
        "with the following stores to the same block; they stay in `store_buffer` until then. 0: no limit",
    ),
    Parameter(
        "store_commit_most",
        whole(),
        0,
        "stores",
        MEMORY,
        "most stores that go together; stores that reach into another block or fill one go alone. 0: no limit",
    ),
    Parameter(
        "store_word_bytes",
        whole(),
        0,
        "bytes",
        MEMORY,
        "size of the words in a block (`store_commit_bytes`): a store of only some bytes of a word goes to the cache "
        "`store_word_cycles` later if another store wrote to this word in the last `store_word_window` cycles. 0: no "
        "such delay",
    ),
    Parameter("store_word_window", whole(), 0, "cycles", MEMORY, "see `store_word_bytes`; at most 16"),
    Parameter("store_word_cycles", whole(), 0, "cycles", MEMORY, "see `store_word_bytes`"),
    Parameter(
        "bank_bytes",
        whole(),
        0,
        "bytes",
        MEMORY,
        "width of the banks across which lines of the first-level cache lie; loads from the same bank wait for each "
        "other. 0: no banks",
    ),
    Parameter("bank_loads", whole(1), 2, "loads", MEMORY, "that a bank serves in a cycle, 1 or 2"),
    Parameter(
        "bank_sets",
        whole(),
        0,
        "sets",
        MEMORY,
        "of the first-level cache, if loads from the same set do not conflict. 0: all loads from one bank conflict, "
        "and a load across two lines goes alone",
    ),
    Parameter(
        "starts_256bit",
        whole(),
        0,
        "µops a cycle",
        EXECUTION,
        "most loads, computations and stored data of 256 bits that start in a cycle on average. An instruction counts "
        "once for each of the three, however many µops it has; a load across two lines counts twice. 0: no limit",
    ),
    Parameter(
        "starts_512bit",
        whole(),
        0,
        "µops a cycle",
        EXECUTION,
        "the same for 512 bits. If both are limited, a µop of either width takes its share of the cycle",
    ),
    Parameter(
        "fast_pointer_chasing",
        FLAG,
        False,
        "",
        BINDING,
        "a load without index whose base register was just loaded takes one cycle less",
    ),
    Parameter(
        "memory_renaming",
        full_table({"indexed": FLAG, "bytes": FLAG, "computing": FLAG, "register_updates": FLAG}),
        {},
        "",
        BINDING,
        "the renamer hands a stored value on to a load of it in no time: for 32 and 64 bits of general-purpose "
        "registers that are loaded without sign extension, and for read-modify-writes. Also with an index in one of "
        "the two addresses (`indexed`), for 8 bits (`bytes`), if the loading instruction computes (`computing`), and "
        "for read-modify-writes with a register source (`register_updates`)",
    ),
    Parameter(
        "wide_vectors",
        full_table({"width": whole(1), "closes": PORTS, "instead": PORTS}),
        {},
        "bits, ports",
        BINDING,
        "while registers of `width` bits are in use, vector µops do not go to the ports `closes`; µops that have no "
        "other port take `instead`",
    ),
    Parameter("taken_branch_cycles", whole(1), 1, "cycles", BINDING, "for which a taken jump holds its port"),
    Parameter(
        "fused_jump_computes",
        FLAG,
        False,
        "",
        BINDING,
        "a comparison fused with a jump takes its own port in addition to the jump's; if the model has "
        "`ports.functions.fused_jump`, one of these, which then also execute jumps that are not taken",
    ),
    Parameter(
        "stack_engine",
        NAME,
        "",
        "register",
        BINDING,
        "stack pointer, whose implicit changes cost nothing until an instruction names it or they exceed "
        "`stack_offset_limit`",
    ),
    Parameter(
        "stack_offset_limit",
        whole_or_unlimited(),
        "unlimited",
        "bytes",
        RENAMER,
        "largest offset that the stack engine holds",
    ),
    Parameter(
        "high8_renamed_separately",
        FLAG,
        False,
        "",
        BINDING,
        "`ah` … `dh` are renamed separately from the rest of the register",
    ),
    Parameter(
        "sum_folding",
        full_table({"constant_bits": whole(1), "taken_by": PORT_SETS, "refused_by": PORT_SETS, "late": whole(1)}),
        {},
        "bits, ports, ports, cycles",
        BINDING,
        "the renamer adds a signed constant of this width to a 64-bit register in no time and without a µop. Loads, "
        "and instructions with a µop for exactly one of the sets `taken_by` and none for one of `refused_by`, read "
        "register and constant. For other instructions, and for flags, a µop computes the sum: on the instruction's "
        "ports in `refused_by` if it reads no flags, else on `renamer_ports`. It takes `late` cycles, but one cycle "
        "for stored data, for flags, and for instructions that also read flags",
    ),
    Parameter(
        "self_moves_execute",
        FLAG,
        False,
        "",
        BINDING,
        "a move of a register, or of its lower part, to itself is not eliminated: a µop on `renamer_ports`, one cycle",
    ),
    Parameter(
        "move_fusion",
        FORMS_TO_FORMS,
        {},
        "",
        BINDING,
        '`{ "MOV_R* MOV_RM*" = "ADD_* SUB_*" }`: an eliminated move that matches the key shares the slot of the next '
        "instruction, if that matches the value, has no memory operand, and replaces the copy by a result of it and "
        "nothing else of it. An empty value matches nothing",
    ),
    Parameter(
        "renamer_ports",
        PORTS,
        "",
        "",
        RENAMER,
        "ports of the µops that the renamer inserts: for the stack engine, and to merge `ah` … `dh` into their "
        "registers",
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
    Parameter("move_elim_pipeline", whole(), 1, "cycles", RENAMER, "until a freed slot can be used again"),
    Parameter(
        "move_elim_all_aliases_overwritten",
        FLAG,
        False,
        "",
        RENAMER,
        "a slot is free when all registers that share it were overwritten, not when one is left",
    ),
    Parameter(
        "microcode_alone",
        FLAG,
        False,
        "",
        RENAMER,
        "an instruction with `uops_ms` is issued alone, and two of them with a cycle in between",
    ),
    Parameter(
        "port_binding",
        choice("least_loaded", "six_ports", "eight_ports", "ten_ports"),
        "",
        "",
        EXECUTION,
        "choice of a µop's port at issue: the least loaded one, or the rules found on Intel's cores. A model without "
        "it is not simulated. With `in_order`, ports are chosen when µops start",
    ),
    Parameter("issue_to_dispatch", whole(), 1, "cycles", EXECUTION, "issue to the earliest execution"),
    Parameter(
        "just_ready_penalty",
        whole(),
        0,
        "cycles",
        EXECUTION,
        "lost by a µop whose operands become ready in the first cycle in which it could leave, or the next",
    ),
    Parameter(
        "port_order",
        PORT_SETS,
        [],
        "",
        EXECUTION,
        'single ports, `["1", "0"]`: where a rule distinguishes equal ports, these come first, in this order; the '
        "others follow in the order of `ports.names`",
    ),
    Parameter(
        "ports_apart",
        whole(1),
        3,
        "µops",
        EXECUTION,
        "`six_ports`, `eight_ports`, `ten_ports`: a port is not taken if it has this many µops more than the least "
        "used one of its set",
    ),
    Parameter(
        "ports_by_slot",
        PORT_SETS,
        [],
        "",
        EXECUTION,
        "`six_ports`: for each port of a set as the least used one, the ports by issue slot, beginning with itself, "
        '`["0,5,1,0", "1,5,0,1", "5,1,0,5"]`',
    ),
    Parameter(
        "second_port_slot",
        whole(),
        3,
        "issue slot",
        EXECUTION,
        "`ten_ports`: slot in which the first µop of a set takes the second least used port",
    ),
    Parameter(
        "first_port_slot",
        whole(),
        4,
        "issue slot",
        EXECUTION,
        "`ten_ports`: slot in which every µop takes the least used port",
    ),
    Parameter("alternating_ports", PORT_SETS, [], "", EXECUTION, 'port sets whose ports are taken in turn, `["2,3"]`'),
    Parameter(
        "alternating_imbalance",
        whole_or_unlimited(),
        "unlimited",
        "µops",
        EXECUTION,
        "most µops by which the next port in turn may be ahead of another one of the set; it is skipped beyond that",
    ),
    Parameter(
        "schedulers",
        by_ports(whole(1)),
        {},
        "entries",
        EXECUTION,
        '`{ "ALU0,AG0" = 24 }`: separate schedulers of some ports. A µop gets a port whose scheduler has room, or '
        "waits before it, and all younger µops with it",
    ),
    Parameter(
        "waiting_queue",
        full_table({"ports": PORTS, "entries": whole(1)}),
        {},
        "ports, entries",
        EXECUTION,
        '`{ ports = "FP0,FP1", entries = 64 }`: µops for these ports wait in a queue, in order, in front of their '
        "schedulers, and get their port when they leave it",
    ),
    Parameter(
        "one_a_cycle",
        PORTS,
        "",
        "",
        EXECUTION,
        "ports that get one µop a cycle at issue; a µop that finds no such port left waits, and all younger µops with "
        "it",
    ),
    Parameter(
        "queued_at",
        by_ports(PORTS),
        {},
        "",
        EXECUTION,
        '`{ "AG0,AG1" = "AG0,AG1,AG2" }`: a µop for one of the first ports may wait at any of the second ones; as many '
        "as there are first ports start in a cycle, the oldest first, and a waiting µop holds back those behind it at "
        "its port",
    ),
    Parameter(
        "in_order",
        FLAG,
        False,
        "",
        EXECUTION,
        "µops start in program order, `issue_width` instructions a cycle; a stalled one stalls all behind it",
    ),
    Parameter(
        "address_to_execute",
        whole(),
        0,
        "cycles",
        EXECUTION,
        "in order: from the address stage to the execution stage; loaded values are ready for the next instruction, "
        "and computed addresses are this much later",
    ),
    Parameter(
        "predecode_block_bytes",
        whole(),
        0,
        "bytes",
        FRONT_END,
        "fetch block of the predecoder; 0: the predecoder is not described",
    ),
    Parameter("predecode_width", whole(1), 1, "instructions a cycle", FRONT_END, "width of the predecoder"),
    Parameter("predecode_to_decode", whole(), 0, "cycles", FRONT_END, "from the predecoder to the decoders"),
    Parameter("lcp_stall", whole(), 0, "cycles", FRONT_END, "predecoder stall for a length-changing prefix"),
    Parameter("iq", whole(), 0, "entries", FRONT_END, "instruction queue between predecoder and decoders"),
    Parameter("decoders", whole(), 0, "decoders", FRONT_END, "the first one takes every instruction; 0: no limit"),
    Parameter("ms_width", whole(1), 4, "µops a cycle", FRONT_END, "width of the microcode sequencer"),
    Parameter(
        "decode_clusters",
        whole(1),
        1,
        "clusters",
        FRONT_END,
        "groups of `decoders` that work at the same time, if the predecoder is not described",
    ),
    Parameter("clusters_need_jumps", FLAG, False, "", FRONT_END, "all clusters but one need code behind taken jumps"),
    Parameter("dsb_width", whole(), 0, "µops a cycle", FRONT_END, "width of the µop cache; 0: no µop cache"),
    Parameter("dsb_block", whole(1), 32, "bytes", FRONT_END, "code that an entry of the µop cache covers"),
    Parameter("dsb_ms_stall", whole(), 0, "cycles", FRONT_END, "switch between µop cache and microcode"),
    Parameter("dsb_line_uops", whole(1), 6, "µops", FRONT_END, "in a line of the µop cache"),
    Parameter(
        "dsb_lines",
        whole_or_unlimited(1),
        3,
        "lines",
        FRONT_END,
        "of the µop cache for 32 bytes of code; code that needs more comes from the decoders",
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
        "of `dsb_width` µops from the µop cache, if the predecoder is not described; each ends at a taken jump",
    ),
    Parameter(
        "dsb_constants",
        full_table({"beside": whole(), "each": whole(), "most": whole(1)}),
        {},
        "constants",
        FRONT_END,
        "room for constants in a line of the µop cache, if the predecoder is not described: displacements, immediates "
        "and branch targets of up to 32 bits (64 bits count twice). A line of `dsb_width` µops has room for `beside` "
        "constants, for `each` more for every missing µop, and for `most` in all. One line comes in a cycle, and a "
        "loop takes at least a cycle for each block of `dsb_block` bytes",
    ),
    Parameter(
        "both_32B_halves_must_be_cacheable",
        FLAG,
        False,
        "",
        FRONT_END,
        "the halves of a 64-byte block are either both in the µop cache or neither",
    ),
    Parameter(
        "branch_may_end_cached_block",
        FLAG,
        True,
        "",
        FRONT_END,
        "32 bytes of code may be in the µop cache if a jump ends them or crosses their end",
    ),
    Parameter("idq", whole(1), 64, "entries", FRONT_END, "µop queue in front of the renamer"),
    Parameter("lsd", FLAG, False, "", FRONT_END, "loop stream detector: short loops run from the µop queue"),
    Parameter(
        "lsd_unroll",
        BY_UOPS,
        {},
        "times",
        FRONT_END,
        "how often the loop stream detector unrolls a loop of this many µops (else once)",
    ),
    Parameter(
        "fusible_may_be_last_decoded",
        FLAG,
        True,
        "",
        FRONT_END,
        "an instruction that might fuse with the next one may be decoded as the last one in a cycle",
    ),
    Parameter("pop_rsp_r12_complex", FLAG, False, "", FRONT_END, "`pop rsp` and `pop r12` need the first decoder"),
    Parameter("pop_rsp_r12_ends_group", FLAG, False, "", FRONT_END, "nothing is decoded behind them in the same cycle"),
    Parameter(
        "port_events",
        BY_EVENT,
        {},
        "`umask << 8 | event`",
        MEASURING,
        "performance counters of µops sent to a port or to several ports together, by a name for these; used if the "
        "kernel provides counters",
    ),
)

BY_NAME = {p.name: p for p in PARAMETERS}

# --- checking ---------------------------------------------------------------------------------------------------------


def problems_of(parameters: Mapping[str, Any]) -> list[tuple[tuple[str, ...], str]]:
    """Return (name, or name and key; message) for each problem of stated parameters, whatever the core's ports are."""
    problems: list[tuple[tuple[str, ...], str]] = []
    for name, value in parameters.items():
        parameter = BY_NAME.get(name)
        if parameter is None:
            problems.append(((name,), unknown("parameter", name, BY_NAME)))
            continue
        for key, message in parameter.kind.problems(value):
            place = (name, key) if key else (name,)
            problems.append((place, f"parameter {'.'.join(place)!r} {message}"))
    return problems


def problems_together(parameters: Mapping[str, Any], ports: Sequence[str]) -> list[tuple[str, str]]:
    """Return (parameter or "", message) for problems of a core's parameters that are valid one by one.

    These are missing parameters, missing keys of tables, and port sets with an unknown port.
    """
    problems = []
    for p in PARAMETERS:
        if p.name not in parameters:
            if p.default is REQUIRED:
                problems.append(("", f"parameter {p.name!r} is missing"))
            continue
        value = parameters[p.name]
        if value:
            problems += [(p.name, f"parameter '{p.name}.{k}' is missing") for k in p.kind.needed if k not in value]
        problems += [
            (p.name, f"{p.name} names an unknown port in {names!r} (ports: {', '.join(ports)})")
            for names in p.kind.ports(value)
            if names and not all(n in ports for n in names.split(","))
        ]
    return problems


def defaults() -> dict[str, Any]:
    """Return the parameters that a model need not state."""
    return {p.name: p.default for p in PARAMETERS if p.default is not REQUIRED}
