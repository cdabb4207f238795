"""The parameters that a model file may state.

Loading, `incc-model check`, `model.schema.json` and the table in docs/models.md come from `Parameters`; `python -m
incc.models.schema.describe` writes the latter two. This is only imported when a model is compiled, so it does not slow
down start-up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from incc.models.schema.kinds import (
    ACCUMULATORS,
    BY_EVENT,
    BY_FORMS,
    BY_UOPS,
    CYCLES_BY_CLASS,
    FLAG,
    FORMS_TO_FORMS,
    NAME,
    PATTERNS,
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

REQUIRED: Any = None
"""In place of a default: every model must state the parameter."""

BOUNDS, BINDING = "bounds", "binding"
MEASURING, CALLS, COUNTS = "`incc-bench`", "calls", "bytes and operations"
FRONT_END, RENAMER, EXECUTION, MEMORY = (f"simulation: {x}" for x in ("front end", "renamer", "execution", "memory"))


class Parameter(msgspec.Struct, frozen=True, kw_only=True):
    """A parameter of a core's pipeline."""

    name: str = ""
    kind: Kind
    default: Any
    """The value where no model file states one; it never makes a kernel slower."""
    read_by: str
    """The bounds (and the simulation, too), binding (so both), a part of the simulation, or something else."""
    unit: str = ""


class Parameters:
    """All parameters, in the order of docs/models.md.

    The text below a parameter is its description there (`describe.meaning`), in Markdown. It may begin with the unit.
    """

    issue_width = Parameter(kind=whole(1), default=REQUIRED, read_by=BOUNDS, unit="fused µops a cycle")
    """Issue width of the renamer."""
    retire_width = Parameter(kind=whole(1), default=REQUIRED, read_by=BOUNDS, unit="fused µops a cycle")
    """Retirement width."""
    rob = Parameter(kind=whole(1), default=REQUIRED, read_by=EXECUTION, unit="entries")
    """Reorder buffer."""
    rs = Parameter(kind=whole(1), default=REQUIRED, read_by=EXECUTION, unit="entries")
    """Scheduler, or all schedulers together."""
    load_buffer = Parameter(kind=whole(), default=0, read_by=MEMORY, unit="entries")
    """Loads from renaming to retirement; 0: no limit."""
    store_buffer = Parameter(kind=whole(), default=0, read_by=MEMORY, unit="entries")
    """Stores from renaming until they are in the cache; 0: no limit."""
    general_registers = Parameter(kind=whole(), default=0, read_by=RENAMER, unit="registers")
    """Physical general-purpose registers that instructions in flight may hold, without those of the architectural
    state; 0: no limit."""
    vector_registers = Parameter(kind=whole(), default=0, read_by=RENAMER, unit="registers")
    """Physical vector and mask registers, likewise; 0: no limit."""
    loads_leave_when_done = Parameter(kind=FLAG, default=False, read_by=MEMORY)
    """Loads leave `load_buffer` when they have their data, not at retirement."""
    load_latency = Parameter(kind=CYCLES_BY_CLASS, default=REQUIRED, read_by=BINDING, unit="cycles")
    """Address to loaded value, first-level cache."""
    complex_address_cycles = Parameter(kind=whole(), default=0, read_by=BINDING, unit="cycles")
    """Cycles added to `load_latency` if the address has a scaled index, or a base, an index and a displacement."""
    store_forward = Parameter(kind=CYCLES_BY_CLASS, default=REQUIRED, read_by=BOUNDS, unit="cycles")
    """Stored data ready to value loaded from the same address."""
    store_address_to_load = Parameter(kind=whole(1), default=5, read_by=MEMORY, unit="cycles")
    """Start of a store's address µop until a load sees the address."""
    store_data_to_load = Parameter(kind=whole(1), default=1, read_by=MEMORY, unit="cycles")
    """Start of a store's data µop until a load sees the data; the rest of `store_forward` is their way to the
    load."""
    forward_delays = Parameter(kind=BY_FORMS, default={}, read_by=BOUNDS, unit="cycles")
    """`{ "ADDPS_* SUBPS_*" = 1 }`: delay of results of forms that match one of the patterns, to all forms that do
    not; the forms' latencies are those within the group."""
    late_accumulators = Parameter(kind=ACCUMULATORS, default={}, read_by=BOUNDS, unit="cycles")
    """`{ "fmla/v*" = { after = "fmla/v* fmul/v*", cycles = 2 } }`: latency from the accumulator of forms that match the
    key, if its value is a result of a form that matches `after`; otherwise it is as long as the longest to that result.
    The accumulator is the first operand if the form reads and writes it, else the last one."""
    port_delays = Parameter(kind=PORT_DELAYS, default={}, read_by=BOUNDS, unit="cycles")
    """`classes = { float = "MULPS_*", simple = "PAND_*" }, rules = { "float@0,1 simple@0,1" = 1 }`: delay of
    results (negative: earlier) from forms of one class to forms of another, if the µops run on these ports. If
    several rules apply, the largest number counts. The bounds assume the best pair of ports."""
    late_beside_flags = Parameter(kind=FORMS_TO_FORMS, default={}, read_by=EXECUTION)
    """`{ "TEST_* AND_*" = "CMOV* SET*" }`: forms that match the value start a cycle later after the writers of
    their registers, if their flags come from a form that matches the key. The bounds ignore it."""
    blocked_forward_cycles = Parameter(kind=whole(), default=0, read_by=BOUNDS, unit="cycles")
    """Cycles added to `store_forward` for a load of which an earlier store wrote only some bytes: it waits until
    the store is in the cache. 0: unknown."""
    renames_repeated = Parameter(kind=FLAG, default=False, read_by=BOUNDS)
    """The renamer also hands stored values on to loads whose addresses are computed anew in each iteration, as long
    as each iteration loads what the one before stored (`memory_renaming` says which values)."""
    merges_narrow_store = Parameter(kind=FLAG, default=False, read_by=BOUNDS)
    """A load that begins at the same address as the only narrower store in flight takes `blocked_forward_cycles`
    longer, but does not wait for the cache."""
    skips_zero_elements = Parameter(kind=PATTERNS, default="", read_by=BINDING)
    """Forms that compute only the lowest element of a register (`cvtsi2sd`) and do not wait for the old value of the
    others while these are zero."""
    mispredict_penalty = Parameter(kind=whole(), default=0, read_by=RENAMER, unit="cycles")
    """Execution of a mispredicted branch to the first µop of the right path, for ranges and calls. 0: unknown."""
    foreseen_iterations = Parameter(kind=whole(), default=0, read_by=CALLS, unit="iterations")
    """Most iterations of a loop whose exit is predicted if it runs equally often each time. 0: unknown."""
    line_bytes = Parameter(kind=whole(), default=0, read_by=BOUNDS, unit="bytes")
    """Cache line, or another block that one access reads; 0: every access is one."""
    line_crossing_cycles = Parameter(kind=whole(), default=0, read_by=BOUNDS, unit="cycles")
    """Cycles for which a load across two lines holds its port beyond the first cycle."""
    memory_bits = Parameter(kind=whole(), default=0, read_by=BINDING, unit="bits")
    """Width of one access; wider accesses take several µops, all of them loads or stores; 0: no limit."""
    scalable_vector_bits = Parameter(kind=whole(), default=0, read_by=COUNTS, unit="bits")
    """Length of scalable vectors (SVE); 0: none, or the shortest, 128 bits."""
    slow_256bit_memory = Parameter(kind=FLAG, default=False, read_by=MEMORY)
    """Loads and stores of 256 bits hold their port for two cycles."""
    store_commit_bytes = Parameter(kind=whole(), default=0, read_by=MEMORY, unit="bytes")
    """Retired stores go to the first-level cache in program order, one aligned block of this size a cycle,
    together with the following stores to the same block; they stay in `store_buffer` until then. 0: no limit."""
    store_commit_most = Parameter(kind=whole(), default=0, read_by=MEMORY, unit="stores")
    """Most stores that go together; stores that reach into another block or fill one go alone. 0: no limit."""
    store_commit_blocks = Parameter(kind=whole(1), default=1, read_by=MEMORY, unit="blocks a cycle")
    """Blocks to which stores go in a cycle, if `store_commit_most` limits the stores."""
    stores_stop_loads = Parameter(kind=FLAG, default=False, read_by=MEMORY)
    """No load starts in a cycle in which a store goes to the first-level cache, which takes either (it needs
    `store_commit_bytes`)."""
    store_word_bytes = Parameter(kind=whole(), default=0, read_by=MEMORY, unit="bytes")
    """Size of the words in a block (`store_commit_bytes`): a store of only some bytes of a word goes to the cache
    `store_word_cycles` later if another store wrote to this word in the last `store_word_window` cycles. 0: no
    such delay."""
    store_word_window = Parameter(kind=whole(), default=0, read_by=MEMORY, unit="cycles")
    """See `store_word_bytes`; at most 16."""
    store_word_cycles = Parameter(kind=whole(), default=0, read_by=MEMORY, unit="cycles")
    """See `store_word_bytes`."""
    page_crossing_store_cycles = Parameter(kind=whole(), default=0, read_by=MEMORY, unit="cycles")
    """Cycles for which a store across two pages of 4 KiB keeps later ones from the cache, beyond the cycles of
    its blocks (`store_commit_bytes`). 0: none, or unknown."""
    address_aliasing = Parameter(
        kind=full_table(
            {"bits": whole(1), "stores": whole(1), "cycles": whole(), "after_retirement": whole(), "starts_again": FLAG}
        ),
        default={},
        read_by=MEMORY,
        unit="bits, stores, cycles",
    )
    """Loads are first compared with older stores in the lowest `bits` of their addresses. A load for which these agree
    with `stores` stores to other addresses gets its data `cycles` late, and takes its port a second time
    (`starts_again`). A store is compared from the start of its address µop until `after_retirement` cycles after it
    retired."""
    crossing_takes_pipes = Parameter(kind=FLAG, default=False, read_by=MEMORY)
    """A vector load across two lines takes all ports at which loads of vectors wait (`queued_at`) for a cycle, which
    delays later loads; `line_crossing_cycles` then holds only for other loads."""
    bank_bytes = Parameter(kind=whole(), default=0, read_by=MEMORY, unit="bytes")
    """Width of the banks across which lines of the first-level cache lie; loads from the same bank wait for each
    other. 0: no banks."""
    bank_loads = Parameter(kind=whole(1), default=2, read_by=MEMORY, unit="loads")
    """Loads that a bank serves in a cycle, 1 or 2."""
    bank_sets = Parameter(kind=whole(), default=0, read_by=MEMORY, unit="sets")
    """Sets of the first-level cache, if loads from the same set do not conflict. 0: all loads from one bank
    conflict, and a load across two lines goes alone."""
    starts_256bit = Parameter(kind=whole(), default=0, read_by=EXECUTION, unit="µops a cycle")
    """Most loads, computations and stored data of 256 bits that start in a cycle on average. An instruction counts
    once for each of the three, however many µops it has; a load across two lines counts twice. 0: no limit."""
    starts_512bit = Parameter(kind=whole(), default=0, read_by=EXECUTION, unit="µops a cycle")
    """µops a cycle: the same for 512 bits. If both are limited, a µop of either width takes its share of the
    cycle."""
    wide_starts_ahead = Parameter(kind=whole(1), default=4, read_by=EXECUTION, unit="cycles")
    """Period over which `starts_256bit` and `starts_512bit` hold on average: µops may take the share of so many
    cycles at once. With 1, loops whose loads, arithmetic and stores start in different cycles would be slower than
    measured; more than 3 makes no difference to them."""
    fast_pointer_chasing = Parameter(kind=FLAG, default=False, read_by=BINDING)
    """A load without index whose base register was just loaded takes one cycle less."""
    memory_renaming = Parameter(
        kind=full_table({"indexed": FLAG, "bytes": FLAG, "computing": FLAG, "register_updates": FLAG}),
        default={},
        read_by=BINDING,
    )
    """The renamer hands a stored value on to a load of it in no time: for 32 and 64 bits of general-purpose
    registers that are loaded without sign extension, and for read-modify-writes. Also with an index in one of the
    two addresses (`indexed`), for 8 bits (`bytes`), if the load and the computation share an issue slot
    (`computing`), and for read-modify-writes with a register source (`register_updates`)."""
    renames_narrow = Parameter(kind=FLAG, default=False, read_by=BINDING)
    """The renamer also hands on 8 and 16 bits (`memory_renaming`), but not to loads that extend them."""
    wide_vectors = Parameter(
        kind=full_table({"width": whole(1), "closes": PORTS, "instead": PORTS}),
        default={},
        read_by=BINDING,
        unit="bits, ports",
    )
    """While registers of `width` bits are in use, vector µops do not go to the ports `closes`; µops that have no
    other port take `instead`."""
    taken_branch_cycles = Parameter(kind=whole(1), default=1, read_by=BINDING, unit="cycles")
    """Cycles for which a taken jump holds its port."""
    fused_jump_computes = Parameter(kind=FLAG, default=False, read_by=BINDING)
    """A comparison fused with a jump takes its own port in addition to the jump's; if the model has
    `ports.functions.fused_jump`, one of these, which then also execute jumps that are not taken."""
    stack_engine = Parameter(kind=NAME, default="", read_by=BINDING, unit="register")
    """Stack pointer, whose implicit changes cost nothing until an instruction names it or they exceed
    `stack_offset_limit`."""
    stack_offset_limit = Parameter(kind=whole_or_unlimited(), default="unlimited", read_by=RENAMER, unit="bytes")
    """Largest offset that the stack engine holds."""
    high8_renamed_separately = Parameter(kind=FLAG, default=False, read_by=BINDING)
    """`ah` … `dh` are renamed separately from the rest of the register."""
    sum_folding = Parameter(
        kind=full_table({"constant_bits": whole(1), "taken_by": PORT_SETS, "refused_by": PORT_SETS, "late": whole(1)}),
        default={},
        read_by=BINDING,
        unit="bits, ports, ports, cycles",
    )
    """The renamer adds a signed constant of this width to a 64-bit register in no time and without a µop. Loads,
    and instructions with a µop for exactly one of the sets `taken_by` and none for one of `refused_by`, read
    register and constant. For other instructions, and for flags, a µop computes the sum: on the instruction's
    ports in `refused_by` if it reads no flags, else on `renamer_ports`. It takes `late` cycles, but one cycle for
    stored data, for flags, and for instructions that also read flags."""
    self_moves_execute = Parameter(kind=FLAG, default=False, read_by=BINDING)
    """A move of a register, or of its lower part, to itself is not eliminated: a µop on `renamer_ports`, one
    cycle."""
    move_fusion = Parameter(kind=FORMS_TO_FORMS, default={}, read_by=BINDING)
    """`{ "MOV_R* MOV_RM*" = "ADD_* SUB_*" }`: an eliminated move that matches the key shares the slot of the next
    instruction, if that matches the value, has no memory operand, and replaces the copy by a result of it and
    nothing else of it. An empty value matches nothing."""
    jump_fusion = Parameter(kind=FORMS_TO_FORMS, default={}, read_by=BINDING)
    """`{ "cmp/* adds/*" = "b.cond/*" }`: an instruction that matches the key and a conditional jump behind it that
    matches the value are one µop, wherever they are (`macro_fusion` is the like by classes, within 64 bytes)."""
    prefix_fusion = Parameter(kind=FORMS_TO_FORMS, default={}, read_by=BINDING)
    """`{ "movprfx/z,z" = "add/z.* mul/z.*" }`: an instruction that matches the key, and copies a register to the one
    that the next instruction reads and writes as its first operand, costs nothing if that matches the value."""
    renamer_ports = Parameter(kind=PORTS, default="", read_by=RENAMER)
    """Ports of the µops that the renamer inserts: for the stack engine, and to merge `ah` … `dh` into their
    registers."""
    move_elim_gpr = Parameter(kind=whole_or_unlimited(), default="unlimited", read_by=RENAMER, unit="slots")
    """Slots for eliminated moves of general-purpose registers."""
    move_elim_simd = Parameter(kind=whole_or_unlimited(), default="unlimited", read_by=RENAMER, unit="slots")
    """Slots for eliminated moves of vector registers."""
    move_elim_pipeline = Parameter(kind=whole(), default=1, read_by=RENAMER, unit="cycles")
    """Cycles until a freed slot can be used again."""
    move_elim_all_aliases_overwritten = Parameter(kind=FLAG, default=False, read_by=RENAMER)
    """A slot is free when all registers that share it were overwritten, not when one is left."""
    microcode_alone = Parameter(kind=FLAG, default=False, read_by=RENAMER)
    """An instruction with `uops_ms` is issued alone, and two of them with a cycle in between."""
    rename_bundle = Parameter(kind=whole(), default=0, read_by=RENAMER, unit="instructions")
    """Instructions that pass the renamer together, fused ones counted once: the next ones begin in another cycle,
    and more than `issue_width` µops of a bundle take several cycles. 0: the renamer takes µops of any instructions."""
    port_binding = Parameter(
        kind=choice("least_loaded", "six_ports", "eight_ports", "ten_ports"), default="", read_by=EXECUTION
    )
    """Choice of a µop's port at issue: the least loaded one, or the rules found on Intel's cores. A model without
    it is not simulated. With `in_order`, ports are chosen when µops start."""
    issue_to_dispatch = Parameter(kind=whole(), default=1, read_by=EXECUTION, unit="cycles")
    """Issue to the earliest execution."""
    just_ready_penalty = Parameter(kind=whole(), default=0, read_by=EXECUTION, unit="cycles")
    """Cycles lost by a µop whose operands become ready in the first cycle in which it could leave, or the next."""
    port_order = Parameter(kind=PORT_SETS, default=[], read_by=EXECUTION)
    """Single ports, `["1", "0"]`: where a rule distinguishes equal ports, these come first, in this order; the
    others follow in the order of `ports.names`."""
    ports_apart = Parameter(kind=whole(1), default=3, read_by=EXECUTION, unit="µops")
    """`six_ports`, `eight_ports`, `ten_ports`: a port is not taken if it has this many µops more than the least
    used one of its set."""
    ports_by_slot = Parameter(kind=PORT_SETS, default=[], read_by=EXECUTION)
    """`six_ports`: for each port of a set as the least used one, the ports by issue slot, beginning with itself,
    `["0,5,1,0", "1,5,0,1", "5,1,0,5"]`."""
    second_port_slot = Parameter(kind=whole(), default=3, read_by=EXECUTION, unit="issue slot")
    """`ten_ports`: slot in which the first µop of a set takes the second least used port."""
    first_port_slot = Parameter(kind=whole(), default=4, read_by=EXECUTION, unit="issue slot")
    """`ten_ports`: slot in which every µop takes the least used port."""
    alternating_ports = Parameter(kind=PORT_SETS, default=[], read_by=EXECUTION)
    """Port sets whose ports are taken in turn, `["2,3"]`."""
    alternating_imbalance = Parameter(kind=whole_or_unlimited(), default="unlimited", read_by=EXECUTION, unit="µops")
    """Most µops by which the next port in turn may be ahead of another one of the set; it is skipped beyond
    that."""
    groups_in_turn = Parameter(kind=PORT_SETS, default=[], read_by=EXECUTION)
    """Groups of ports, `["AG0,AG1", "AG2,AG3"]`, that all µops for some of these ports take in turn: each gets the
    next group behind that of the µop before it in which it can use a port, there the least loaded one."""
    schedulers = Parameter(kind=by_ports(whole(1)), default={}, read_by=EXECUTION, unit="entries")
    """`{ "ALU0,AG0" = 24 }`: separate schedulers of some ports. A µop gets a port whose scheduler has room, or
    waits before it, and all younger µops with it."""
    waiting_queue = Parameter(
        kind=full_table({"ports": PORTS, "entries": whole(1)}), default={}, read_by=EXECUTION, unit="ports, entries"
    )
    """`{ ports = "FP0,FP1", entries = 64 }`: µops for these ports wait in a queue, in order, in front of their
    schedulers, and get their port when they leave it."""
    ports_at_start = Parameter(kind=PORTS, default="", read_by=EXECUTION)
    """Ports of one scheduler that its µops take when they start, not at issue: the oldest µops first, each the first
    port that is free."""
    wakes_early = Parameter(kind=FLAG, default=False, read_by=EXECUTION)
    """A µop that takes its port at its start (`ports_at_start`), and waits only for the result of another one a cycle
    after its start, competes with it: if that one could have started before, it takes a port for a cycle in vain."""
    dispatch_limits = Parameter(kind=by_ports(whole(1)), default={}, read_by=EXECUTION, unit="µops a cycle")
    """`{ "AG0" = 1, "B0,B1,S0,S1" = 4 }`: most µops a cycle that get one of these ports at issue; a port may be in
    several sets. A µop that finds no port left waits, and all younger µops with it."""
    queued_at = Parameter(kind=by_ports(PORTS), default={}, read_by=EXECUTION)
    """`{ "AG0,AG1" = "AG0,AG1,AG2" }`: a µop for one of the first ports may wait at any of the second ones; as
    many as there are first ports start in a cycle, the oldest first, and a waiting µop holds back those behind it
    at its port."""
    in_order = Parameter(kind=FLAG, default=False, read_by=EXECUTION)
    """µops start in program order, `issue_width` instructions a cycle; a stalled one stalls all younger ones."""
    address_to_execute = Parameter(kind=whole(), default=0, read_by=EXECUTION, unit="cycles")
    """In order: from the address stage to the execution stage; loaded values are ready for the next instruction,
    and computed addresses are this much later."""
    predecode_block_bytes = Parameter(kind=whole(), default=0, read_by=FRONT_END, unit="bytes")
    """Fetch block of the predecoder; 0: the predecoder is not described."""
    predecode_width = Parameter(kind=whole(1), default=1, read_by=FRONT_END, unit="instructions a cycle")
    """Width of the predecoder."""
    predecode_to_decode = Parameter(kind=whole(), default=0, read_by=FRONT_END, unit="cycles")
    """Cycles from the predecoder to the decoders."""
    lcp_stall = Parameter(kind=whole(), default=0, read_by=FRONT_END, unit="cycles")
    """Predecoder stall for a length-changing prefix."""
    iq = Parameter(kind=whole(), default=0, read_by=FRONT_END, unit="entries")
    """Instruction queue between predecoder and decoders."""
    decoders = Parameter(kind=whole(), default=0, read_by=FRONT_END, unit="decoders")
    """The first one takes every instruction; 0: no limit."""
    ms_width = Parameter(kind=whole(1), default=4, read_by=FRONT_END, unit="µops a cycle")
    """Width of the microcode sequencer."""
    decode_clusters = Parameter(kind=whole(1), default=1, read_by=FRONT_END, unit="clusters")
    """Groups of `decoders` that work at the same time, if the predecoder is not described."""
    clusters_need_jumps = Parameter(kind=FLAG, default=False, read_by=FRONT_END)
    """All clusters but one need code after taken jumps."""
    dsb_width = Parameter(kind=whole(), default=0, read_by=FRONT_END, unit="µops a cycle")
    """Width of the µop cache; 0: no µop cache."""
    dsb_block = Parameter(kind=whole(1), default=32, read_by=FRONT_END, unit="bytes")
    """Code that an entry of the µop cache covers."""
    dsb_ms_stall = Parameter(kind=whole(), default=0, read_by=FRONT_END, unit="cycles")
    """Switch between µop cache and microcode."""
    mite_ms_stall = Parameter(kind=whole(), default=2, read_by=FRONT_END, unit="cycles")
    """Switch from the decoders to the microcode and back, together."""
    dsb_line_uops = Parameter(kind=whole(1), default=6, read_by=FRONT_END, unit="µops")
    """µops in a line of the µop cache."""
    dsb_read_lines = Parameter(kind=whole(1), default=2, read_by=FRONT_END, unit="lines")
    """Lines of the µop cache that are read in a cycle."""
    dsb_lines = Parameter(kind=whole_or_unlimited(1), default=3, read_by=FRONT_END, unit="lines")
    """Lines of the µop cache for 32 bytes of code; code that needs more comes from the decoders."""
    dsb_extra_slot_ends = Parameter(kind=FLAG, default=True, read_by=FRONT_END)
    """A µop that takes two places of a line, for a long immediate, is the last one that the µop cache delivers in
    a cycle."""
    dsb_groups = Parameter(kind=whole(1), default=1, read_by=FRONT_END, unit="groups a cycle")
    """Groups of `dsb_width` µops from the µop cache, if the predecoder is not described; each ends at a taken
    jump."""
    dsb_block_again = Parameter(kind=whole(), default=0, read_by=FRONT_END, unit="cycles")
    """Cycles until the µop cache reads a block of `dsb_block` bytes again, if `dsb_groups` groups were not all that
    begin in it. A group then has up to `dsb_width` instructions. Each cycle reads a block, or two that have one group
    each, if a taken jump ends one of them. 0: blocks do not matter."""
    dsb_constants = Parameter(
        kind=full_table({"beside": whole(), "each": whole(), "most": whole(1)}),
        default={},
        read_by=FRONT_END,
        unit="constants",
    )
    """Room for constants in a line of the µop cache, if the predecoder is not described: displacements, immediates
    and branch targets of up to 32 bits (64 bits count twice). A line of `dsb_width` µops has room for `beside`
    constants, for `each` more for every missing µop, and for `most` in all. One line comes in a cycle, and a loop
    takes at least a cycle for each block of `dsb_block` bytes."""
    both_32B_halves_must_be_cacheable = Parameter(kind=FLAG, default=False, read_by=FRONT_END)
    """The halves of a 64-byte block are either both in the µop cache or neither."""
    branch_may_end_cached_block = Parameter(kind=FLAG, default=True, read_by=FRONT_END)
    """32 bytes of code may be in the µop cache if a jump ends them or crosses their end."""
    idq = Parameter(kind=whole(1), default=64, read_by=FRONT_END, unit="entries")
    """µop queue in front of the renamer."""
    lsd = Parameter(kind=FLAG, default=False, read_by=FRONT_END)
    """Loop stream detector: short loops run from the µop queue."""
    lsd_unroll = Parameter(kind=BY_UOPS, default={}, read_by=FRONT_END, unit="times")
    """Times: how often the loop stream detector unrolls a loop of this many µops (else once)."""
    fusible_may_be_last_decoded = Parameter(kind=FLAG, default=True, read_by=FRONT_END)
    """An instruction that might fuse with the next one may be decoded as the last one in a cycle."""
    pop_rsp_r12_complex = Parameter(kind=FLAG, default=False, read_by=FRONT_END)
    """`pop rsp` and `pop r12` need the first decoder."""
    pop_rsp_r12_ends_group = Parameter(kind=FLAG, default=False, read_by=FRONT_END)
    """Nothing is decoded after them in the same cycle."""
    port_events = Parameter(kind=BY_EVENT, default={}, read_by=MEASURING, unit="`(umask << 8) + event`")
    """Performance counters of µops sent to a port or to several ports together, by a name for these; used if the
    kernel provides counters."""


BY_NAME = {name: replace(p, name=name) for name, p in vars(Parameters).items() if isinstance(p, Parameter)}
PARAMETERS = tuple(BY_NAME.values())

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
