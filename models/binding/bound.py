"""A kernel bound to a machine model, as flat arrays: the only thing that the native core sees.

All indices are 0-based, all times whole cycles of the core's clock. Arrays named `*_start` have one entry
more than there are owners: the entries of owner i are [start[i], start[i+1]).

Made from core/include/incc/fields.def by core/generate.py: change it there.
"""

from __future__ import annotations

# Flags of instructions (instruction_flags)
# Second half of a macro-fused pair: no µop and no slot of its own.
FUSED_INTO_PREVIOUS = 1
ELIMINATED = 2  # Register move done by the renamer.
ZEROED = 4  # Zero or ones idiom known to the core: no input dependency.
# Takes issue slots but no port (nop, eliminated move, zero idiom, folded constant).
NO_EXECUTION = 8
# Not in the model: no µops, latency 0, excluded from every total.
UNKNOWN = 16
IS_LOAD = 32
IS_STORE = 64
IS_BRANCH = 128
# Adds a constant to a register, which the renamer does; a µop only makes the sum up for those who need it.
FOLDED = 256

# Kinds of µop (uop_kind)
UOP_COMPUTE = 0
UOP_LOAD = 1
UOP_STORE_ADDRESS = 2
UOP_STORE_DATA = 3
UOP_BRANCH = 4

# Kinds of value (value_kind): what one instruction produces
VALUE_REGISTER = 0
VALUE_LOAD = 1
VALUE_STORE = 2

# Kinds of input (input_kind): where an input of a value comes from
INPUT_LOCATION = 0
INPUT_VALUE = 1

# What the renamer does with a move (move_class): nothing, or eliminates it if it has a slot of that kind to spare
MOVE_NONE = 0
MOVE_GPR = 1
MOVE_SIMD = 2

# How µops get their ports (port_binding); in the model as the names without PORTS_, see core/lib/sim/ports.h
PORTS_LEAST_LOADED = 0
PORTS_SIX = 1
PORTS_EIGHT = 2
PORTS_TEN = 3

UNLIMITED = 1 << 20
"""Of what has no limit."""

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
    "dsb_line_uops": 6,
    "dsb_lines": 3,
    "dsb_extra_slot_ends": 1,
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
    "store_commit_most": 0,
    "store_word_bytes": 0,
    "store_word_window": 0,
    "store_word_cycles": 0,
    "bank_bytes": 0,
    "bank_loads": 2,
    "bank_sets": 0,
    "starts_256bit": 0,
    "starts_512bit": 0,
    "stack_offset_limit": UNLIMITED,
    "alternating_imbalance": UNLIMITED,
    "loads_leave_when_done": 0,
    "microcode_alone": 0,
    "dsb_groups": 1,
    "decode_clusters": 1,
    "clusters_need_jumps": 0,
    "in_order": 0,
    "address_to_execute": 0,
    "store_address_to_load": 5,
    "store_data_to_load": 1,
    "ports_apart": 3,
    "second_port_slot": 3,
    "first_port_slot": 4,
}
"""Parameters of the model that are attributes of Pipeline, with what holds where the model does not say."""

KERNEL_DEFAULTS = {
    "n_ports": 0,
    "issue_width": 1,
    "retire_width": 1,
    "rob": 0,
    "rs": 0,
    "load_buffer": 0,
    "store_buffer": 0,
    "issue_to_execute": 1,
    "line_bytes": 0,
    "line_crossing_cycles": 0,
    "blocked_forward_cycles": 0,
    "merges_narrow_store": 0,
    "line_places": 0,
}
"""Of all numbers, as the core has them."""

PIPELINE_DEFAULTS = {
    "alignment": 0,
    "port_binding": 0,
    "slot_set": 0,
    "waiting_ports": 0,
    "waiting_entries": 0,
    "constants_beside": 0,
    "constants_each": 0,
    "constants_most": 0,
    "one_a_cycle": 0,
    "renamer_ports": 0,
    "stack_location": -1,
    "register_file": 0,
    **PIPELINE_PARAMETERS,
}
"""Of all numbers, as the core has them."""

KERNEL_ARRAYS = (
    "instruction_flags",
    "issue_slots",
    "retire_slots",
    "latency",
    "load_latency",
    "forward_group",
    "forward_delay",
    "delays_from",
    "delays_to",
    "uop_ports",
    "uop_cycles",
    "uop_kind",
    "value_kind",
    "output_location",
    "input_kind",
    "input_id",
    "input_latency",
    "memory_of_value",
    "memory_base",
    "memory_index",
    "memory_scale",
    "memory_displacement",
    "memory_size",
    "memory_symbol",
    "memory_class",
    "memory_elements",
    "memory_partial",
    "affine_target",
    "affine_constant",
    "affine_term_location",
    "affine_term_coefficient",
    "entry_location",
    "entry_constant",
    "entry_term_unknown",
    "entry_term_coefficient",
    "forward_class",
    "forward_cycles",
    "port_delay_cycles",
    "port_delay_from",
    "port_delay_to",
    "assumed_load",
    "assumed_store",
    "assumed_distance",
)
KERNEL_STARTS = (
    "uop_start",
    "value_start",
    "output_start",
    "input_start",
    "affine_start",
    "affine_term_start",
    "entry_term_start",
)

PIPELINE_BY_INSTRUCTION = (
    "length",
    "offset",
    "opcode_offset",
    "lcp",
    "fusible",
    "complex_decoder",
    "simple_decoders",
    "ends_group",
    "uops_mite",
    "uops_ms",
    "dsb_extra_slots",
    "constants",
    "no_lsd",
    "merges_low",
    "merges_high",
    "uses_stack",
    "stack_change",
    "move_class",
    "move_from",
    "move_to",
    "move_ports",
    "move_latency",
    "general_writes",
    "vector_writes",
    "wide_memory",
    "vector_bits",
    "address_unit",
    "least_cycles",
)
PIPELINE_LISTS = (
    "port_order",
    "slot_ports",
    "alternating",
    "picked_from",
    "queued_at",
    "scheduler_ports",
    "scheduler_entries",
    "lsd_unroll",
)


class Pipeline:
    """What the simulator knows of a kernel beyond its dependencies and µops."""

    __slots__ = (
        "address_to_execute",
        "address_unit",
        "alignment",
        "alternating",
        "alternating_imbalance",
        "bank_bytes",
        "bank_loads",
        "bank_sets",
        "both_32B_halves_must_be_cacheable",
        "branch_may_end_cached_block",
        "clusters_need_jumps",
        "complex_decoder",
        "constants",
        "constants_beside",
        "constants_each",
        "constants_most",
        "decode_clusters",
        "decoders",
        "dsb_block",
        "dsb_extra_slot_ends",
        "dsb_extra_slots",
        "dsb_groups",
        "dsb_line_uops",
        "dsb_lines",
        "dsb_ms_stall",
        "dsb_width",
        "ends_group",
        "first_port_slot",
        "fusible",
        "fusible_may_be_last_decoded",
        "general_writes",
        "idq",
        "in_order",
        "iq",
        "issue_to_dispatch",
        "just_ready_penalty",
        "late_inputs",
        "lcp",
        "lcp_stall",
        "least_cycles",
        "length",
        "loads_leave_when_done",
        "lsd",
        "lsd_unroll",
        "merges_high",
        "merges_low",
        "microcode_alone",
        "move_class",
        "move_elim_all_aliases_overwritten",
        "move_elim_gpr",
        "move_elim_pipeline",
        "move_elim_simd",
        "move_from",
        "move_latency",
        "move_ports",
        "move_to",
        "ms_width",
        "no_lsd",
        "offset",
        "one_a_cycle",
        "opcode_offset",
        "picked_from",
        "port_binding",
        "port_order",
        "ports_apart",
        "predecode_block_bytes",
        "predecode_to_decode",
        "predecode_width",
        "queued_at",
        "register_file",
        "renamer_ports",
        "scheduler_entries",
        "scheduler_ports",
        "second_port_slot",
        "simple_decoders",
        "slot_ports",
        "slot_set",
        "slow_256bit_memory",
        "stack_change",
        "stack_location",
        "stack_offset_limit",
        "starts_256bit",
        "starts_512bit",
        "store_address_to_load",
        "store_commit_bytes",
        "store_commit_most",
        "store_data_to_load",
        "store_word_bytes",
        "store_word_cycles",
        "store_word_window",
        "uops_mite",
        "uops_ms",
        "uses_stack",
        "vector_bits",
        "vector_writes",
        "waiting_entries",
        "waiting_ports",
        "wide_memory",
    )

    # --- the front end, by instruction
    # By instruction. Bytes.
    length: list[int]
    # By instruction. The place of the first byte within the kernel's code.
    offset: list[int]
    # By instruction. Bytes of prefixes and escapes before the primary opcode.
    opcode_offset: list[int]
    # By instruction. 1 with a length-changing prefix that stalls the predecoder.
    lcp: list[int]
    # By instruction. 1 if the decoders wait for the next instruction, which might fuse with it.
    fusible: list[int]
    # By instruction. 1 if only the first decoder takes it.
    complex_decoder: list[int]
    # By instruction. How many other decoders work beside the one that has it.
    simple_decoders: list[int]
    # By instruction. 1 if nothing is decoded behind it in the same cycle.
    ends_group: list[int]
    # By instruction. Fused µops from the decoders or the µop cache,
    uops_mite: list[int]
    # By instruction. and from the microcode sequencer after those.
    uops_ms: list[int]
    # By instruction. Of the µop cache, for long immediates.
    dsb_extra_slots: list[int]
    # By instruction. Constants of 32 bits that it has, which take room in the µop cache.
    constants: list[int]
    # By instruction. 1 keeps a loop out of the loop stream detector.
    no_lsd: list[int]

    # --- execution
    # By input. Cycles by which an input is late beyond its latency, on some ways through the core: no part of the
    # bounds.
    late_inputs: list[int]

    # --- the renamer, by instruction
    # By instruction. The locations of a register and of its bits 8-15, renamed apart, that must first be merged, else
    # -1.
    merges_low: list[int]
    # By instruction.
    merges_high: list[int]
    # By instruction. 1 if it needs the stack pointer itself, at `stack_location`: what the stack engine added up must
    # be added to it first.
    uses_stack: list[int]
    # By instruction. Bytes by which push, pop, call and ret change the stack pointer, which the stack engine only adds
    # up.
    stack_change: list[int]
    # By instruction.
    move_class: list[int]
    # By instruction. Locations, -1 if it is no move that can be eliminated.
    move_from: list[int]
    # By instruction.
    move_to: list[int]
    # By instruction. The µop of a move that is not eliminated.
    move_ports: list[int]
    # By instruction.
    move_latency: list[int]
    # By instruction. General-purpose registers, with all flags as one, for which it gets new ones from the register
    # file,
    general_writes: list[int]
    # By instruction. and others: vector and mask registers.
    vector_writes: list[int]

    # --- execution, by instruction
    # By instruction. 1 if it accesses 256 bits of memory at once.
    wide_memory: list[int]
    # By instruction. Of the widest vector register that it names.
    vector_bits: list[int]
    # By instruction. 1 if it computes an address without accessing memory (lea).
    address_unit: list[int]
    # By instruction. Cycles from the start of each of its µops for which it cannot retire, should its results be there
    # before.
    least_cycles: list[int]

    # --- where the code is
    # Bytes behind a multiple of 64 at which the kernel's code begins.
    alignment: int

    # --- the core beyond its parameters
    port_binding: int
    # Where rules for ports distinguish between ports that are alike, these come first to last; ports that are not named
    # follow by number.
    port_order: list[int]
    # Of PORTS_SIX: the set of ports that are given out by issue slot,
    slot_set: int
    # and for each of them as the least used one the ports for the slots of a cycle, beginning with itself.
    slot_ports: list[int]
    # Sets whose ports are taken in turn.
    alternating: list[int]
    # µops for the first set of ports
    picked_from: list[int]
    # wait at the ports of the second, and as many start in a cycle as the first has ports.
    queued_at: list[int]
    # The ports of a scheduler
    scheduler_ports: list[int]
    # and how many µops it holds.
    scheduler_entries: list[int]
    # Before the schedulers of these ports µops wait in a queue, in order, and get their port when they leave it.
    waiting_ports: int
    waiting_entries: int
    # Of a core of which only widths of the front end are known: constants that a line of the µop cache has room for
    # beside as many µops as it holds, instead of each of those, and in all; 0: any number.
    constants_beside: int
    constants_each: int
    constants_most: int
    # Ports that get one µop a cycle from the renamer.
    one_a_cycle: int
    # Of the renamer's own µops: for the stack engine, and to merge registers.
    renamer_ports: int
    # The stack pointer's, -1 for a core without stack engine.
    stack_location: int
    # Registers, of all kinds together, that instructions may have got which have not retired yet; 0 for no limit.
    register_file: int
    # How often the loop stream detector unrolls a loop of n+1 µops; 1 for longer ones.
    lsd_unroll: list[int]

    # --- parameters of the core, by their names in the model (docs/models.md)
    issue_to_dispatch: int
    idq: int
    predecode_block_bytes: int
    predecode_width: int
    predecode_to_decode: int
    lcp_stall: int
    iq: int
    decoders: int
    ms_width: int
    dsb_width: int
    dsb_block: int
    dsb_ms_stall: int
    dsb_line_uops: int
    dsb_lines: int
    dsb_extra_slot_ends: int
    both_32B_halves_must_be_cacheable: int
    branch_may_end_cached_block: int
    fusible_may_be_last_decoded: int
    lsd: int
    move_elim_gpr: int
    move_elim_simd: int
    move_elim_pipeline: int
    move_elim_all_aliases_overwritten: int
    slow_256bit_memory: int
    just_ready_penalty: int
    store_commit_bytes: int
    store_commit_most: int
    store_word_bytes: int
    store_word_window: int
    store_word_cycles: int
    bank_bytes: int
    bank_loads: int
    bank_sets: int
    starts_256bit: int
    starts_512bit: int
    stack_offset_limit: int
    alternating_imbalance: int
    loads_leave_when_done: int
    microcode_alone: int
    dsb_groups: int
    decode_clusters: int
    clusters_need_jumps: int
    in_order: int
    address_to_execute: int
    store_address_to_load: int
    store_data_to_load: int
    ports_apart: int
    second_port_slot: int
    first_port_slot: int


class BoundKernel:
    """See the module's docstring."""

    __slots__ = (
        "affine_constant",
        "affine_start",
        "affine_target",
        "affine_term_coefficient",
        "affine_term_location",
        "affine_term_start",
        "assumed_distance",
        "assumed_load",
        "assumed_store",
        "blocked_forward_cycles",
        "delays_from",
        "delays_to",
        "entry_constant",
        "entry_location",
        "entry_term_coefficient",
        "entry_term_start",
        "entry_term_unknown",
        "forward_class",
        "forward_cycles",
        "forward_delay",
        "forward_group",
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
        "line_places",
        "load_buffer",
        "load_latency",
        "location_names",
        "memory_base",
        "memory_class",
        "memory_displacement",
        "memory_elements",
        "memory_index",
        "memory_of_value",
        "memory_partial",
        "memory_scale",
        "memory_size",
        "memory_symbol",
        "merges_narrow_store",
        "n_ports",
        "output_location",
        "output_start",
        "pipeline",
        "port_delay_cycles",
        "port_delay_from",
        "port_delay_to",
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

    # --- ports
    # The execution ports ("0", "1", …) and then other resources that an instruction can occupy exclusively ("0DV", the
    # divider). Sets of them are bit masks.
    port_names: list[str]
    # So many of `port_names` are ports.
    n_ports: int

    # --- instructions
    # By instruction.
    instruction_flags: list[int]
    # By instruction. Fused-domain µops that the renamer issues, un-lamination done.
    issue_slots: list[int]
    # By instruction.
    retire_slots: list[int]
    # The longest latency from a register or loaded value to a result, for display.
    latency: list[int]
    # By instruction. Cycles from address to loaded value, 0 where nothing is loaded.
    load_latency: list[int]
    # By instruction. Instructions that pass their results to each other without delay; -1 for one that has no such
    # group.
    forward_group: list[int]
    # By instruction. Cycles by which results come later to instructions that are not of the group.
    forward_delay: list[int]
    # By instruction. Of the delays between ports (`port_delay_cycles`), as bits by number, those for the instruction's
    # results,
    delays_from: list[int]
    # By instruction. and those for its inputs.
    delays_to: list[int]

    # --- µops
    # By instruction, where its µops begin.
    uop_start: list[int]
    # By µop. The allowed ports.
    uop_ports: list[int]
    # By µop. How long the port is occupied: 1 for pipelined µops, more for the divider resource.
    uop_cycles: list[int]
    # By µop.
    uop_kind: list[int]

    # --- the results of instructions, the nodes of the dependency graph
    # By instruction, where its values begin.
    value_start: list[int]
    # By value.
    value_kind: list[int]
    # By value, where its outputs begin.
    output_start: list[int]
    # By output. The locations that a value is written to; there may be none.
    output_location: list[int]
    # By value, where its inputs begin. A loaded value's inputs are its address registers with the load-to-use latency,
    # a stored one's are its data (latency of the compute part) and its address registers.
    input_start: list[int]
    # By input.
    input_kind: list[int]
    # By input. A location, or the index of a VALUE_LOAD of the same instruction.
    input_id: list[int]
    # By input. Cycles from that input to this value.
    input_latency: list[int]

    # --- locations
    # Registers and flag groups as the hardware renames them ("rax", "rax.high", "rax.sum", "zmm0", "flag C", "flags
    # SPAZO", "k1").
    location_names: list[str]

    # --- memory operands of VALUE_LOADs and VALUE_STOREs
    # By value. Index of the value's memory operand, -1 for none.
    memory_of_value: list[int]
    # By memory operand. A location, or -1.
    memory_base: list[int]
    # By memory operand. A location, or -1.
    memory_index: list[int]
    # By memory operand.
    memory_scale: list[int]
    # By memory operand.
    memory_displacement: list[int]
    # By memory operand. Bytes, 0 unknown.
    memory_size: list[int]
    # By memory operand. Number of the symbol, or -1.
    memory_symbol: list[int]
    # By memory operand. Which forwarding latency applies: 0 general-purpose, else vector width in bits; -1: none
    # between a store and a load that both have it, the renamer hands the stored value on; else as 0.
    memory_class: list[int]
    # By memory operand. Accesses of a gather or scatter, else 1.
    memory_elements: list[int]
    # By memory operand. 1 if perhaps not all of its bytes are accessed: a mask says which.
    memory_partial: list[int]

    # --- address arithmetic
    # By instruction, where its affine entries begin.
    affine_start: list[int]
    # By affine entry. A location; one that is written by an instruction without affine entry gets an unknown value. -1
    # is the memory that the instruction both loads and stores (`add $8, (mem)`): the stored value is the loaded one
    # plus terms and constant.
    affine_target: list[int]
    # By affine entry.
    affine_constant: list[int]
    # By affine entry, where its terms begin.
    affine_term_start: list[int]
    # By term.
    affine_term_location: list[int]
    # By term.
    affine_term_coefficient: list[int]

    # --- what locations hold at first, where that is known; the others hold unknown values
    # By entry.
    entry_location: list[int]
    # By entry.
    entry_constant: list[int]
    # By entry, where its terms begin.
    entry_term_start: list[int]
    # By term. A number; the same unknown value under the same number.
    entry_term_unknown: list[int]
    # By term.
    entry_term_coefficient: list[int]

    # --- slots a cycle; entries of buffers, 0 for unlimited
    issue_width: int
    retire_width: int
    rob: int
    rs: int
    load_buffer: int
    store_buffer: int
    # Cycles from issue to the earliest execution, where the pipeline is not described.
    issue_to_execute: int
    # Bytes of a cache line, or of what else aligned is read at once; 0 to take every access for one.
    line_bytes: int
    # Cycles for which a load that crosses a line holds its port beyond the first.
    line_crossing_cycles: int
    # By class. Memory classes.
    forward_class: list[int]
    # By class. By memory class, cycles from stored data being ready to a load of it delivering.
    forward_cycles: list[int]
    # By delay between ports. Cycles by which a result is late (early, if negative) from µops on some ports
    port_delay_cycles: list[int]
    # By delay between ports. (these)
    port_delay_from: list[int]
    # By delay between ports. at µops on others; the bounds take the pair of ports that is best.
    port_delay_to: list[int]
    # Cycles beyond these for a load of which the store wrote only some bytes: it waits until the store is in the cache.
    blocked_forward_cycles: int
    # 1 if such a load does not wait for the cache where it begins with the only store in flight to its bytes: what the
    # store did not write is merged, in as many cycles.
    merges_narrow_store: int

    # --- what is assumed of data and of places that the code does not tell
    # 0: loads cross lines as often as is to be reckoned with (lines.h), and pointers begin at equal places of the banks
    # of the cache; 1: lines as at the best, 2: as at the worst alignment; 3: each pointer anywhere, the average over
    # places.
    line_places: int
    # By assumed dependency. Dependencies through memory beside those that addresses tell: the load, a value,
    assumed_load: list[int]
    # By assumed dependency. reads what the store, a value, wrote
    assumed_store: list[int]
    # By assumed dependency. so many iterations before.
    assumed_distance: list[int]

    # --- kernel
    is_loop: bool
    # What else the simulator needs to know; None for a core whose pipeline is not described.
    pipeline: Pipeline | None

    def __repr__(self) -> str:
        return "BoundKernel(" + ", ".join(f"{k}={getattr(self, k, None)!r}" for k in self.__slots__) + ")"
