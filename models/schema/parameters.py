"""The parameters that a model file may state.

Loading, `incc-model check`, `model.schema.json` and the table in docs/models.md come from PARAMETERS; `python -m
incc.models.schema.describe` writes the latter two. This is only imported when a model is compiled, so it does not slow
down start-up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

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


class Parameter(msgspec.Struct, frozen=True, kw_only=True):
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
    Parameter(
        name="issue_width",
        kind=whole(1),
        default=REQUIRED,
        unit="fused µops a cycle",
        read_by=BOUNDS,
        text="issue width of the renamer",
    ),
    Parameter(
        name="retire_width",
        kind=whole(1),
        default=REQUIRED,
        unit="fused µops a cycle",
        read_by=BOUNDS,
        text="retirement width",
    ),
    Parameter(name="rob", kind=whole(1), default=REQUIRED, unit="entries", read_by=EXECUTION, text="reorder buffer"),
    Parameter(
        name="rs",
        kind=whole(1),
        default=REQUIRED,
        unit="entries",
        read_by=EXECUTION,
        text="scheduler, or all schedulers together",
    ),
    Parameter(
        name="load_buffer",
        kind=whole(),
        default=0,
        unit="entries",
        read_by=MEMORY,
        text="loads from renaming to retirement; 0: no limit",
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
        text="loads leave `load_buffer` when they have their data, not at retirement",
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
        text="start of a store's address µop until a load sees the address",
    ),
    Parameter(
        name="store_data_to_load",
        kind=whole(1),
        default=1,
        unit="cycles",
        read_by=MEMORY,
        text="start of a store's data µop until a load sees the data; the rest of `store_forward` is their way to "
        "the load",
    ),
    Parameter(
        name="forward_delays",
        kind=BY_FORMS,
        default={},
        unit="cycles",
        read_by=BOUNDS,
        text='`{ "ADDPS_* SUBPS_*" = 1 }`: delay of results of forms that match one of the patterns, to all forms '
        "that do "
        "not; the forms' latencies are those within the group",
    ),
    Parameter(
        name="port_delays",
        kind=PORT_DELAYS,
        default={},
        unit="cycles",
        read_by=BOUNDS,
        text='`classes = { float = "MULPS_*", simple = "PAND_*" }, rules = { "float@0,1 simple@0,1" = 1 }`: delay of '
        "results (negative: earlier) from forms of one class to forms of another, if the µops run on these ports. If "
        "several rules apply, the largest number counts. The bounds assume the best pair of ports",
    ),
    Parameter(
        name="late_beside_flags",
        kind=FORMS_TO_FORMS,
        default={},
        unit="",
        read_by=EXECUTION,
        text='`{ "TEST_* AND_*" = "CMOV* SET*" }`: forms that match the value start a cycle later after the writers of '
        "their registers, if their flags come from a form that matches the key. The bounds ignore it",
    ),
    Parameter(
        name="blocked_forward_cycles",
        kind=whole(),
        default=0,
        unit="cycles",
        read_by=BOUNDS,
        text="added to `store_forward` for a load of which an earlier store wrote only some bytes: it waits until "
        "the store "
        "is in the cache. 0: unknown",
    ),
    Parameter(
        name="merges_narrow_store",
        kind=FLAG,
        default=False,
        unit="",
        read_by=BOUNDS,
        text="a load that begins at the same address as the only narrower store in flight takes "
        "`blocked_forward_cycles` "
        "longer, but does not wait for the cache",
    ),
    Parameter(
        name="mispredict_penalty",
        kind=whole(),
        default=0,
        unit="cycles",
        read_by=RANGE,
        text="execution of a mispredicted branch to the first µop of the right path. 0: unknown",
    ),
    Parameter(
        name="line_bytes",
        kind=whole(),
        default=0,
        unit="bytes",
        read_by=BOUNDS,
        text="cache line, or another block that one access reads; 0: every access is one",
    ),
    Parameter(
        name="line_crossing_cycles",
        kind=whole(),
        default=0,
        unit="cycles",
        read_by=BOUNDS,
        text="for which a load across two lines holds its port beyond the first cycle",
    ),
    Parameter(
        name="memory_bits",
        kind=whole(),
        default=0,
        unit="bits",
        read_by=BINDING,
        text="width of one access; wider accesses take several µops, all of them loads or stores; 0: no limit",
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
        text="retired stores go to the first-level cache in program order, one aligned block of this size a cycle, "
        "together "
        "with the following stores to the same block; they stay in `store_buffer` until then. 0: no limit",
    ),
    Parameter(
        name="store_commit_most",
        kind=whole(),
        default=0,
        unit="stores",
        read_by=MEMORY,
        text="most stores that go together; stores that reach into another block or fill one go alone. 0: no limit",
    ),
    Parameter(
        name="store_word_bytes",
        kind=whole(),
        default=0,
        unit="bytes",
        read_by=MEMORY,
        text="size of the words in a block (`store_commit_bytes`): a store of only some bytes of a word goes to the "
        "cache "
        "`store_word_cycles` later if another store wrote to this word in the last `store_word_window` cycles. 0: no "
        "such delay",
    ),
    Parameter(
        name="store_word_window",
        kind=whole(),
        default=0,
        unit="cycles",
        read_by=MEMORY,
        text="see `store_word_bytes`; at most 16",
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
        text="width of the banks across which lines of the first-level cache lie; loads from the same bank wait for "
        "each "
        "other. 0: no banks",
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
        text="of the first-level cache, if loads from the same set do not conflict. 0: all loads from one bank "
        "conflict, "
        "and a load across two lines goes alone",
    ),
    Parameter(
        name="starts_256bit",
        kind=whole(),
        default=0,
        unit="µops a cycle",
        read_by=EXECUTION,
        text="most loads, computations and stored data of 256 bits that start in a cycle on average. An instruction "
        "counts "
        "once for each of the three, however many µops it has; a load across two lines counts twice. 0: no limit",
    ),
    Parameter(
        name="starts_512bit",
        kind=whole(),
        default=0,
        unit="µops a cycle",
        read_by=EXECUTION,
        text="the same for 512 bits. If both are limited, a µop of either width takes its share of the cycle",
    ),
    Parameter(
        name="wide_starts_ahead",
        kind=whole(1),
        default=4,
        unit="cycles",
        read_by=EXECUTION,
        text="period over which `starts_256bit` and `starts_512bit` hold on average: µops may take the share of so "
        "many "
        "cycles at once. With 1, loops whose loads, arithmetic and stores start in different cycles would be slower "
        "than measured; more than 3 makes no difference to them",
    ),
    Parameter(
        name="fast_pointer_chasing",
        kind=FLAG,
        default=False,
        unit="",
        read_by=BINDING,
        text="a load without index whose base register was just loaded takes one cycle less",
    ),
    Parameter(
        name="memory_renaming",
        kind=full_table({"indexed": FLAG, "bytes": FLAG, "computing": FLAG, "register_updates": FLAG}),
        default={},
        unit="",
        read_by=BINDING,
        text="the renamer hands a stored value on to a load of it in no time: for 32 and 64 bits of general-purpose "
        "registers that are loaded without sign extension, and for read-modify-writes. Also with an index in one of "
        "the two addresses (`indexed`), for 8 bits (`bytes`), if the loading instruction computes (`computing`), and "
        "for read-modify-writes with a register source (`register_updates`)",
    ),
    Parameter(
        name="wide_vectors",
        kind=full_table({"width": whole(1), "closes": PORTS, "instead": PORTS}),
        default={},
        unit="bits, ports",
        read_by=BINDING,
        text="while registers of `width` bits are in use, vector µops do not go to the ports `closes`; µops that "
        "have no "
        "other port take `instead`",
    ),
    Parameter(
        name="taken_branch_cycles",
        kind=whole(1),
        default=1,
        unit="cycles",
        read_by=BINDING,
        text="for which a taken jump holds its port",
    ),
    Parameter(
        name="fused_jump_computes",
        kind=FLAG,
        default=False,
        unit="",
        read_by=BINDING,
        text="a comparison fused with a jump takes its own port in addition to the jump's; if the model has "
        "`ports.functions.fused_jump`, one of these, which then also execute jumps that are not taken",
    ),
    Parameter(
        name="stack_engine",
        kind=NAME,
        default="",
        unit="register",
        read_by=BINDING,
        text="stack pointer, whose implicit changes cost nothing until an instruction names it or they exceed "
        "`stack_offset_limit`",
    ),
    Parameter(
        name="stack_offset_limit",
        kind=whole_or_unlimited(),
        default="unlimited",
        unit="bytes",
        read_by=RENAMER,
        text="largest offset that the stack engine holds",
    ),
    Parameter(
        name="high8_renamed_separately",
        kind=FLAG,
        default=False,
        unit="",
        read_by=BINDING,
        text="`ah` … `dh` are renamed separately from the rest of the register",
    ),
    Parameter(
        name="sum_folding",
        kind=full_table({"constant_bits": whole(1), "taken_by": PORT_SETS, "refused_by": PORT_SETS, "late": whole(1)}),
        default={},
        unit="bits, ports, ports, cycles",
        read_by=BINDING,
        text="the renamer adds a signed constant of this width to a 64-bit register in no time and without a µop. "
        "Loads, "
        "and instructions with a µop for exactly one of the sets `taken_by` and none for one of `refused_by`, read "
        "register and constant. For other instructions, and for flags, a µop computes the sum: on the instruction's "
        "ports in `refused_by` if it reads no flags, else on `renamer_ports`. It takes `late` cycles, but one cycle "
        "for stored data, for flags, and for instructions that also read flags",
    ),
    Parameter(
        name="self_moves_execute",
        kind=FLAG,
        default=False,
        unit="",
        read_by=BINDING,
        text="a move of a register, or of its lower part, to itself is not eliminated: a µop on `renamer_ports`, one "
        "cycle",
    ),
    Parameter(
        name="move_fusion",
        kind=FORMS_TO_FORMS,
        default={},
        unit="",
        read_by=BINDING,
        text='`{ "MOV_R* MOV_RM*" = "ADD_* SUB_*" }`: an eliminated move that matches the key shares the slot of the '
        "next "
        "instruction, if that matches the value, has no memory operand, and replaces the copy by a result of it and "
        "nothing else of it. An empty value matches nothing",
    ),
    Parameter(
        name="renamer_ports",
        kind=PORTS,
        default="",
        unit="",
        read_by=RENAMER,
        text="ports of the µops that the renamer inserts: for the stack engine, and to merge `ah` … `dh` into their "
        "registers",
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
        text="until a freed slot can be used again",
    ),
    Parameter(
        name="move_elim_all_aliases_overwritten",
        kind=FLAG,
        default=False,
        unit="",
        read_by=RENAMER,
        text="a slot is free when all registers that share it were overwritten, not when one is left",
    ),
    Parameter(
        name="microcode_alone",
        kind=FLAG,
        default=False,
        unit="",
        read_by=RENAMER,
        text="an instruction with `uops_ms` is issued alone, and two of them with a cycle in between",
    ),
    Parameter(
        name="port_binding",
        kind=choice("least_loaded", "six_ports", "eight_ports", "ten_ports"),
        default="",
        unit="",
        read_by=EXECUTION,
        text="choice of a µop's port at issue: the least loaded one, or the rules found on Intel's cores. A model "
        "without "
        "it is not simulated. With `in_order`, ports are chosen when µops start",
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
        text="lost by a µop whose operands become ready in the first cycle in which it could leave, or the next",
    ),
    Parameter(
        name="port_order",
        kind=PORT_SETS,
        default=[],
        unit="",
        read_by=EXECUTION,
        text='single ports, `["1", "0"]`: where a rule distinguishes equal ports, these come first, in this order; the '
        "others follow in the order of `ports.names`",
    ),
    Parameter(
        name="ports_apart",
        kind=whole(1),
        default=3,
        unit="µops",
        read_by=EXECUTION,
        text="`six_ports`, `eight_ports`, `ten_ports`: a port is not taken if it has this many µops more than the "
        "least "
        "used one of its set",
    ),
    Parameter(
        name="ports_by_slot",
        kind=PORT_SETS,
        default=[],
        unit="",
        read_by=EXECUTION,
        text="`six_ports`: for each port of a set as the least used one, the ports by issue slot, beginning with "
        "itself, "
        '`["0,5,1,0", "1,5,0,1", "5,1,0,5"]`',
    ),
    Parameter(
        name="second_port_slot",
        kind=whole(),
        default=3,
        unit="issue slot",
        read_by=EXECUTION,
        text="`ten_ports`: slot in which the first µop of a set takes the second least used port",
    ),
    Parameter(
        name="first_port_slot",
        kind=whole(),
        default=4,
        unit="issue slot",
        read_by=EXECUTION,
        text="`ten_ports`: slot in which every µop takes the least used port",
    ),
    Parameter(
        name="alternating_ports",
        kind=PORT_SETS,
        default=[],
        unit="",
        read_by=EXECUTION,
        text='port sets whose ports are taken in turn, `["2,3"]`',
    ),
    Parameter(
        name="alternating_imbalance",
        kind=whole_or_unlimited(),
        default="unlimited",
        unit="µops",
        read_by=EXECUTION,
        text="most µops by which the next port in turn may be ahead of another one of the set; it is skipped beyond "
        "that",
    ),
    Parameter(
        name="schedulers",
        kind=by_ports(whole(1)),
        default={},
        unit="entries",
        read_by=EXECUTION,
        text='`{ "ALU0,AG0" = 24 }`: separate schedulers of some ports. A µop gets a port whose scheduler has room, or '
        "waits before it, and all younger µops with it",
    ),
    Parameter(
        name="waiting_queue",
        kind=full_table({"ports": PORTS, "entries": whole(1)}),
        default={},
        unit="ports, entries",
        read_by=EXECUTION,
        text='`{ ports = "FP0,FP1", entries = 64 }`: µops for these ports wait in a queue, in order, in front of their '
        "schedulers, and get their port when they leave it",
    ),
    Parameter(
        name="one_a_cycle",
        kind=PORTS,
        default="",
        unit="",
        read_by=EXECUTION,
        text="ports that get one µop a cycle at issue; a µop that finds no such port left waits, and all younger "
        "µops with "
        "it",
    ),
    Parameter(
        name="queued_at",
        kind=by_ports(PORTS),
        default={},
        unit="",
        read_by=EXECUTION,
        text='`{ "AG0,AG1" = "AG0,AG1,AG2" }`: a µop for one of the first ports may wait at any of the second ones; '
        "as many "
        "as there are first ports start in a cycle, the oldest first, and a waiting µop holds back those behind it at "
        "its port",
    ),
    Parameter(
        name="in_order",
        kind=FLAG,
        default=False,
        unit="",
        read_by=EXECUTION,
        text="µops start in program order, `issue_width` instructions a cycle; a stalled one stalls all behind it",
    ),
    Parameter(
        name="address_to_execute",
        kind=whole(),
        default=0,
        unit="cycles",
        read_by=EXECUTION,
        text="in order: from the address stage to the execution stage; loaded values are ready for the next "
        "instruction, "
        "and computed addresses are this much later",
    ),
    Parameter(
        name="predecode_block_bytes",
        kind=whole(),
        default=0,
        unit="bytes",
        read_by=FRONT_END,
        text="fetch block of the predecoder; 0: the predecoder is not described",
    ),
    Parameter(
        name="predecode_width",
        kind=whole(1),
        default=1,
        unit="instructions a cycle",
        read_by=FRONT_END,
        text="width of the predecoder",
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
        text="predecoder stall for a length-changing prefix",
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
        text="the first one takes every instruction; 0: no limit",
    ),
    Parameter(
        name="ms_width",
        kind=whole(1),
        default=4,
        unit="µops a cycle",
        read_by=FRONT_END,
        text="width of the microcode sequencer",
    ),
    Parameter(
        name="decode_clusters",
        kind=whole(1),
        default=1,
        unit="clusters",
        read_by=FRONT_END,
        text="groups of `decoders` that work at the same time, if the predecoder is not described",
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
        text="width of the µop cache; 0: no µop cache",
    ),
    Parameter(
        name="dsb_block",
        kind=whole(1),
        default=32,
        unit="bytes",
        read_by=FRONT_END,
        text="code that an entry of the µop cache covers",
    ),
    Parameter(
        name="dsb_ms_stall",
        kind=whole(),
        default=0,
        unit="cycles",
        read_by=FRONT_END,
        text="switch between µop cache and microcode",
    ),
    Parameter(
        name="mite_ms_stall",
        kind=whole(),
        default=2,
        unit="cycles",
        read_by=FRONT_END,
        text="switch from the decoders to the microcode and back, together",
    ),
    Parameter(
        name="dsb_line_uops",
        kind=whole(1),
        default=6,
        unit="µops",
        read_by=FRONT_END,
        text="in a line of the µop cache",
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
        text="of the µop cache for 32 bytes of code; code that needs more comes from the decoders",
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
        text="of `dsb_width` µops from the µop cache, if the predecoder is not described; each ends at a taken jump",
    ),
    Parameter(
        name="dsb_constants",
        kind=full_table({"beside": whole(), "each": whole(), "most": whole(1)}),
        default={},
        unit="constants",
        read_by=FRONT_END,
        text="room for constants in a line of the µop cache, if the predecoder is not described: displacements, "
        "immediates "
        "and branch targets of up to 32 bits (64 bits count twice). A line of `dsb_width` µops has room for `beside` "
        "constants, for `each` more for every missing µop, and for `most` in all. One line comes in a cycle, and a "
        "loop takes at least a cycle for each block of `dsb_block` bytes",
    ),
    Parameter(
        name="both_32B_halves_must_be_cacheable",
        kind=FLAG,
        default=False,
        unit="",
        read_by=FRONT_END,
        text="the halves of a 64-byte block are either both in the µop cache or neither",
    ),
    Parameter(
        name="branch_may_end_cached_block",
        kind=FLAG,
        default=True,
        unit="",
        read_by=FRONT_END,
        text="32 bytes of code may be in the µop cache if a jump ends them or crosses their end",
    ),
    Parameter(
        name="idq",
        kind=whole(1),
        default=64,
        unit="entries",
        read_by=FRONT_END,
        text="µop queue in front of the renamer",
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
        text="how often the loop stream detector unrolls a loop of this many µops (else once)",
    ),
    Parameter(
        name="fusible_may_be_last_decoded",
        kind=FLAG,
        default=True,
        unit="",
        read_by=FRONT_END,
        text="an instruction that might fuse with the next one may be decoded as the last one in a cycle",
    ),
    Parameter(
        name="pop_rsp_r12_complex",
        kind=FLAG,
        default=False,
        unit="",
        read_by=FRONT_END,
        text="`pop rsp` and `pop r12` need the first decoder",
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
        text="performance counters of µops sent to a port or to several ports together, by a name for these; used if "
        "the "
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
