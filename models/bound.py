"""A kernel bound to a machine model, as flat arrays: the only thing that the native core sees.

All indices are 0-based, all times whole cycles of the core's clock. Arrays named `*_start` have one entry more than
there are owners: the entries of owner i are [start[i], start[i+1]).
"""

from __future__ import annotations

# Instruction flags (instruction_flags)
FUSED_INTO_PREVIOUS = 1  # second half of a macro-fused pair: no µop and no slot of its own
ELIMINATED = 2  # register move done by the renamer
ZEROED = 4  # zero or ones idiom known to the core: no input dependency
NO_EXECUTION = 8  # takes issue slots but no port (nop, eliminated move, zero idiom)
UNKNOWN = 16  # not in the model: no µops, latency 0, excluded from every total
IS_LOAD = 32
IS_STORE = 64
IS_BRANCH = 128

# Kinds of µop (uop_kind)
UOP_COMPUTE, UOP_LOAD, UOP_STORE_ADDRESS, UOP_STORE_DATA, UOP_BRANCH = range(5)

# Kinds of value (value_kind): what one instruction produces
VALUE_REGISTER, VALUE_LOAD, VALUE_STORE = range(3)

# Kinds of input (input_kind): where an input of a value comes from
INPUT_LOCATION, INPUT_VALUE = range(2)


# What the renamer does with a move (move_class): nothing, or eliminates it if it has a slot of that kind to spare.
MOVE_NONE, MOVE_GPR, MOVE_SIMD = range(3)

# How µops get their ports (port_binding)
PORTS_LEAST_LOADED, PORTS_SIX, PORTS_EIGHT, PORTS_TEN = range(4)

UNLIMITED = 1 << 20  # slots of move elimination

# Parameters of the model that are attributes of Pipeline, with what holds where the model does not say: nothing that
# would make a kernel slower.
PIPELINE_PARAMETERS = {
    "issue_to_dispatch": 1,
    "idq": 64,
    "predecode_block_bytes": 0,
    "predecode_width": 1,
    "predecode_to_decode": 0,
    "lcp_stall": 0,
    "iq": 0,
    "decoders": 0,
    "ms_width": 4,
    "dsb_width": 0,
    "dsb_block": 32,
    "dsb_ms_stall": 0,
    "both_32B_halves_must_be_cacheable": 0,
    "branch_may_end_cached_block": 1,
    "fusible_may_be_last_decoded": 1,
    "lsd": 0,
    "move_elim_gpr": UNLIMITED,
    "move_elim_simd": UNLIMITED,
    "move_elim_pipeline": 1,
    "move_elim_all_aliases_overwritten": 0,
    "slow_256bit_memory": 0,
    "just_ready_penalty": 0,
    "store_commit_bytes": 0,
    "stack_offset_limit": UNLIMITED,
    "alternating_imbalance": UNLIMITED,
    "loads_leave_when_done": 0,
    "microcode_alone": 0,
    "dsb_groups": 1,
    "decode_clusters": 1,
    "clusters_need_jumps": 0,
    "in_order": 0,
    "address_to_execute": 0,
}


class Pipeline:
    """What the simulator knows of a kernel beyond its dependencies and µops. All arrays have one entry an instruction.

    front end
        `length`, `offset`: bytes, and the place of the first byte within the kernel's code, which begins `alignment`
        bytes behind a multiple of 64. `opcode_offset`: bytes of prefixes and escapes before the primary opcode.
        `lcp`: 1 with a length-changing prefix that stalls the predecoder. `fusible`: 1 if the decoders wait for the
        next instruction, which might fuse with it. `complex_decoder`: 1 if only the first decoder takes it;
        `simple_decoders`: how many others work beside it. `ends_group`: 1 if nothing is decoded behind it in the same
        cycle. `uops_mite`: fused µops from the decoders or the µop cache, `uops_ms`: from the microcode sequencer
        after those. `dsb_extra_slots`: of the µop cache, for long immediates. `no_lsd`: 1 keeps a loop out of the loop
        stream detector.
    renamer
        `merges_low`, `merges_high`: the locations of a register and of its bits 8-15, renamed apart, that must first be
        merged, else -1. `stack_change`: bytes
        by which push, pop, call and ret change the stack pointer, which the stack engine only adds up; `uses_stack`: 1
        for instructions that need the stack pointer itself, at `stack_location`, so that what was added up must be
        added to it before; so it must when it is larger than `stack_offset_limit` bytes. Merging and adding are µops of
        the renamer's own, for a port of `renamer_ports` (bit mask).
        `move_class`; `move_from`, `move_to`: locations; `move_ports`, `move_latency`: the µop if it is not eliminated.
    execution
        `wide_memory`: 1 if the instruction accesses 256 bits of memory at once. `address_unit`: 1 if it computes an
        address without accessing memory (lea).
    parameters
        Those of PIPELINE_PARAMETERS, by the same names (docs/models.md); `port_binding`; `load_mask`: the ports of
        loads; `alternating`: port sets (bit masks) whose ports are taken in turn; `picked_from[n]`, `queued_at[n]`:
        µops for the first set wait at the ports of the second, and as many start in a cycle as the first has ports;
        `one_a_cycle`: ports that get one µop a cycle from the renamer;
        `scheduler_ports[n]`, `scheduler_entries[n]`: the ports of a scheduler and how many µops it holds;
        `waiting_ports`, `waiting_entries`: before the schedulers of these ports µops wait in a queue, in order, and get
        their port when they leave it; `lsd_unroll[n]`: how often the loop stream detector unrolls a loop of n+1 µops, 1
        for longer ones.
    """

    __slots__ = (
        *PIPELINE_PARAMETERS,
        "address_unit",
        "alignment",
        "alternating",
        "complex_decoder",
        "dsb_extra_slots",
        "ends_group",
        "fusible",
        "lcp",
        "length",
        "load_mask",
        "lsd_unroll",
        "merges_high",
        "merges_low",
        "move_class",
        "move_from",
        "move_latency",
        "move_ports",
        "move_to",
        "no_lsd",
        "offset",
        "one_a_cycle",
        "opcode_offset",
        "picked_from",
        "port_binding",
        "queued_at",
        "renamer_ports",
        "scheduler_entries",
        "scheduler_ports",
        "simple_decoders",
        "stack_change",
        "stack_location",
        "uops_mite",
        "uops_ms",
        "uses_stack",
        "waiting_entries",
        "waiting_ports",
        "wide_memory",
    )

    alignment: int
    port_binding: int
    load_mask: int
    stack_location: int
    renamer_ports: int
    waiting_ports: int
    one_a_cycle: int
    waiting_entries: int
    alternating: list[int]
    picked_from: list[int]
    queued_at: list[int]
    scheduler_ports: list[int]
    scheduler_entries: list[int]
    lsd_unroll: list[int]
    address_unit: list[int]
    complex_decoder: list[int]
    dsb_extra_slots: list[int]
    ends_group: list[int]
    fusible: list[int]
    lcp: list[int]
    length: list[int]
    merges_high: list[int]
    merges_low: list[int]
    move_class: list[int]
    move_from: list[int]
    move_latency: list[int]
    move_ports: list[int]
    move_to: list[int]
    no_lsd: list[int]
    offset: list[int]
    opcode_offset: list[int]
    simple_decoders: list[int]
    stack_change: list[int]
    uses_stack: list[int]
    uops_mite: list[int]
    uops_ms: list[int]
    wide_memory: list[int]


class BoundKernel:
    """See the module's docstring; the fields in groups:

    ports
        `port_names[P]`: the execution ports ("0", "1", …) and then other resources that an instruction can occupy
        exclusively ("0DV", the divider). `n_ports` of them are ports; µop port sets are bit masks over all P ≤ 64.
    instructions (n of them)
        `instruction_flags[n]`; `issue_slots[n]`: fused-domain µops that the renamer issues, un-lamination done;
        `retire_slots[n]`; `latency[n]`: the longest latency from a register or loaded value to a result, for display;
        `load_latency[n]`: cycles from address to loaded value, 0 where nothing is loaded.
    µops
        `uop_start[n+1]`; `uop_ports[u]`: bit mask of allowed ports; `uop_cycles[u]`: how long the port is occupied (1
        for pipelined µops, more for the divider resource); `uop_kind[u]`.
    values: the results of instructions, the nodes of the dependency graph
        `value_start[n+1]`; `value_kind[v]`;
        `output_start[v+1]`, `output_location[]`: the locations that the value is written to (may be none);
        `input_start[v+1]`, `input_kind[]`, `input_id[]` (a location, or the index of a VALUE_LOAD of the same
        instruction), `input_latency[]`: cycles from that input to this value.
        A VALUE_LOAD's inputs are its address registers with the load-to-use latency; a VALUE_STORE's inputs are its
        data (latency of the compute part) and its address registers.
    locations
        `location_names[L]`: registers and flag groups as the hardware renames them ("rax", "rax.high", "zmm0", "flag
        C", "flags SPAZO", "k1").
    memory operands of VALUE_LOADs and VALUE_STOREs
        `memory_of_value[v]`: index of the memory operand, -1 for none;
        `memory_base[]`, `memory_index[]`: locations or -1; `memory_scale[]`, `memory_displacement[]`, `memory_size[]`
        (bytes, 0 unknown); `memory_symbol[]`: number of the symbol or -1; `memory_class[]`: 0 general-purpose, else
        vector width in bits: which forwarding latency applies; -1: none, the renamer hands the stored value on.
        `memory_elements[]`: accesses of a gather or scatter, else 1.
    address arithmetic
        `affine_start[n+1]`, `affine_target[]`, `affine_constant[]`, and for each its terms in
        `affine_term_start[]`, `affine_term_location[]`, `affine_term_coefficient[]`. A location written by an
        instruction without affine entry gets an unknown value. Target -1 is the memory that the instruction both loads
        and stores (`add $8, (mem)`): the stored value is the loaded one plus the terms and the constant.
    entry: what locations hold at first, where that is known; the others hold unknown values
        `entry_location[]`, `entry_constant[]`, and the terms to add in `entry_term_start[]`, `entry_term_unknown[]` (a
        number; the same value under the same number) and `entry_term_coefficient[]`.
    core parameters
        `issue_width`, `retire_width`, `rob`, `rs`, `load_buffer`, `store_buffer` (entries), `forward_latency`: cycles
        from stored data being ready to a load of it delivering, by memory class: `forward_class[]`, `forward_cycles[]`.
        `issue_to_execute`: cycles from issue to the earliest execution. `line_bytes`: bytes of a cache line, or of what
        else aligned is read at once, 0 to take
        every access for one; `line_crossing_cycles`: cycles for which a load that crosses a line holds its port beyond
        the first.
    kernel
        `is_loop`.
    simulation
        `pipeline`: what else the simulator needs to know, None for a core whose pipeline is not described.
    """

    __slots__ = (
        "affine_constant",
        "affine_start",
        "affine_target",
        "affine_term_coefficient",
        "affine_term_location",
        "affine_term_start",
        "entry_constant",
        "entry_location",
        "entry_term_coefficient",
        "entry_term_start",
        "entry_term_unknown",
        "forward_class",
        "forward_cycles",
        "input_id",
        "input_kind",
        "input_latency",
        "input_start",
        "instruction_flags",
        "is_loop",
        "issue_slots",
        "issue_to_execute",
        "issue_width",
        "latency",
        "line_bytes",
        "line_crossing_cycles",
        "load_buffer",
        "load_latency",
        "location_names",
        "memory_base",
        "memory_class",
        "memory_displacement",
        "memory_elements",
        "memory_index",
        "memory_of_value",
        "memory_scale",
        "memory_size",
        "memory_symbol",
        "n_ports",
        "output_location",
        "output_start",
        "pipeline",
        "port_names",
        "retire_slots",
        "retire_width",
        "rob",
        "rs",
        "store_buffer",
        "uop_cycles",
        "uop_kind",
        "uop_ports",
        "uop_start",
        "value_kind",
        "value_start",
    )

    port_names: list[str]
    location_names: list[str]
    is_loop: bool
    pipeline: Pipeline | None
    n_ports: int
    issue_width: int
    issue_to_execute: int
    line_bytes: int
    line_crossing_cycles: int
    retire_width: int
    rob: int
    rs: int
    load_buffer: int
    store_buffer: int
    entry_location: list[int]
    entry_constant: list[int]
    entry_term_start: list[int]
    entry_term_unknown: list[int]
    entry_term_coefficient: list[int]
    affine_constant: list[int]
    affine_start: list[int]
    affine_target: list[int]
    affine_term_coefficient: list[int]
    affine_term_location: list[int]
    affine_term_start: list[int]
    forward_class: list[int]
    forward_cycles: list[int]
    input_id: list[int]
    input_kind: list[int]
    input_latency: list[int]
    input_start: list[int]
    instruction_flags: list[int]
    issue_slots: list[int]
    latency: list[int]
    load_latency: list[int]
    memory_base: list[int]
    memory_class: list[int]
    memory_displacement: list[int]
    memory_elements: list[int]
    memory_index: list[int]
    memory_of_value: list[int]
    memory_scale: list[int]
    memory_size: list[int]
    memory_symbol: list[int]
    output_location: list[int]
    output_start: list[int]
    retire_slots: list[int]
    uop_cycles: list[int]
    uop_kind: list[int]
    uop_ports: list[int]
    uop_start: list[int]
    value_kind: list[int]
    value_start: list[int]

    def __repr__(self) -> str:
        return "BoundKernel(" + ", ".join(f"{k}={getattr(self, k, None)!r}" for k in self.__slots__) + ")"
