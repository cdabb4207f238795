"""Kernels bound to a machine model as flat arrays, the input of the native core.

All indices count from 0, all times are whole cycles of the core's clock. Arrays named `*_start` have one
entry more than there are owners: the entries of owner i are [start[i], start[i+1]).

Generated from core/include/incc/fields.def by core/generate.py.
"""

from __future__ import annotations

# Flags of instructions (instruction_flags)
FUSED_INTO_PREVIOUS = 1
"""Second half of a macro-fused pair, without a µop and an issue slot of its own."""
ELIMINATED = 2
"""Register move that the renamer eliminates."""
ZEROED = 4
"""Zero or ones idiom that the core recognises, without an input dependency."""
NO_EXECUTION = 8
"""Instruction that takes issue slots but no port (nop, eliminated move, zero idiom, folded constant)."""
UNKNOWN = 16
"""Instruction that the model lacks: no µops, latency 0, excluded from every total."""
IS_LOAD = 32
"""Instruction that reads memory."""
IS_STORE = 64
"""Instruction that writes memory."""
IS_BRANCH = 128
"""Jump, call or return."""
FOLDED = 256
"""Addition of a constant that the renamer performs. A µop only computes the sum for those that need it."""
MISPREDICTED = 512
"""Branch that the core mispredicts: nothing after it is issued until `mispredict_penalty` cycles after its
execution."""

# Kinds of µop (uop_kind)
UOP_COMPUTE = 0
UOP_LOAD = 1
UOP_STORE_ADDRESS = 2
UOP_STORE_DATA = 3
UOP_BRANCH = 4

# Kinds of value (value_kind): what an instruction produces
VALUE_REGISTER = 0
VALUE_LOAD = 1
VALUE_STORE = 2

# Kinds of input (input_kind): where an input of a value comes from
INPUT_LOCATION = 0
INPUT_VALUE = 1

# Kinds of move (move_class): the slots that the renamer needs to eliminate it
MOVE_NONE = 0
MOVE_GPR = 1
MOVE_SIMD = 2

# Rules that bind µops to ports (port_binding), explained in core/lib/sim/ports.h
PORTS_LEAST_LOADED = 0
PORTS_SIX = 1
PORTS_EIGHT = 2
PORTS_TEN = 3

UNLIMITED = 1 << 20
"""The value of a parameter without a limit."""

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
    "mite_ms_stall": 2,
    "dsb_line_uops": 6,
    "dsb_lines": 3,
    "dsb_read_lines": 2,
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
    "store_commit_blocks": 1,
    "stores_stop_loads": 0,
    "store_word_bytes": 0,
    "store_word_window": 0,
    "store_word_cycles": 0,
    "page_crossing_store_cycles": 0,
    "crossing_takes_pipes": 0,
    "bank_bytes": 0,
    "bank_loads": 2,
    "bank_sets": 0,
    "starts_256bit": 0,
    "starts_512bit": 0,
    "wide_starts_ahead": 4,
    "stack_offset_limit": UNLIMITED,
    "alternating_imbalance": UNLIMITED,
    "general_registers": 0,
    "vector_registers": 0,
    "loads_leave_when_done": 0,
    "microcode_alone": 0,
    "rename_bundle": 0,
    "dsb_groups": 1,
    "dsb_block_again": 0,
    "wakes_early": 0,
    "decode_clusters": 1,
    "clusters_need_jumps": 0,
    "in_order": 0,
    "address_to_execute": 0,
    "store_address_to_load": 5,
    "store_data_to_load": 1,
    "ports_apart": 3,
    "second_port_slot": 3,
    "first_port_slot": 4,
    "mispredict_penalty": 0,
}
"""The model's parameters that are attributes of Pipeline, with their defaults."""

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
    "renames_repeated": 0,
    "line_places": 0,
    "alias_places": 0,
}
"""The defaults of all numbers, which are those of the core."""

PIPELINE_DEFAULTS = {
    "alignment": 0,
    "port_binding": 0,
    "slot_set": 0,
    "waiting_ports": 0,
    "waiting_entries": 0,
    "constants_beside": 0,
    "constants_each": 0,
    "constants_most": 0,
    "ports_at_start": 0,
    "renamer_ports": 0,
    "stack_location": -1,
    "register_file": 0,
    "aliasing_bits": 0,
    "aliasing_stores": 1,
    "aliasing_cycles": 0,
    "aliasing_after_retirement": 0,
    "aliasing_starts_again": 0,
    **PIPELINE_PARAMETERS,
}
"""The defaults of all numbers, which are those of the core."""

KERNEL_ARRAYS = (
    *("instruction_flags", "issue_slots", "retire_slots", "latency", "load_latency", "forward_group", "forward_delay"),
    *("delays_from", "delays_to", "early_for", "uop_ports", "uop_cycles", "uop_kind", "value_kind", "output_location"),
    *("input_kind", "input_id", "input_latency", "input_rule", "input_early", "memory_of_value", "memory_base"),
    *("memory_index", "memory_scale", "memory_displacement", "memory_size", "memory_symbol", "memory_class"),
    *("memory_elements", "memory_partial", "affine_target", "affine_constant", "affine_term_location"),
    *("affine_term_coefficient", "entry_location", "entry_constant", "entry_term_unknown", "entry_term_coefficient"),
    *("forward_class", "forward_cycles", "port_delay_cycles", "port_delay_from", "port_delay_to", "aligned_value"),
    *("assumed_load", "assumed_store", "assumed_distance"),
)
KERNEL_STARTS = (
    *("uop_start", "value_start", "output_start", "input_start", "affine_start", "affine_term_start"),
    "entry_term_start",
)
PIPELINE_ARRAYS = (
    *("length", "offset", "opcode_offset", "lcp", "fusible", "complex_decoder", "simple_decoders", "ends_group"),
    *("uops_mite", "uops_ms", "dsb_extra_slots", "constants", "no_lsd", "late_inputs", "merges_low", "merges_high"),
    *("uses_stack", "stack_change", "move_class", "move_from", "move_to", "move_ports", "move_latency"),
    *("general_writes", "vector_writes", "wide_memory", "vector_bits", "address_unit", "least_cycles", "port_order"),
    *("slot_ports", "alternating", "groups_in_turn", "picked_from", "queued_at", "scheduler_ports"),
    *("scheduler_entries", "limited_ports", "limited_uops", "lsd_unroll"),
)


class Pipeline:
    """The simulator's input beyond a kernel's µops and dependencies."""

    __slots__ = (*PIPELINE_DEFAULTS, *PIPELINE_ARRAYS)

    # --- front end, by instruction
    length: list[int]
    """Length in bytes. One entry per instruction."""
    offset: list[int]
    """Place of the first byte within the kernel's code. One entry per instruction."""
    opcode_offset: list[int]
    """Bytes of prefixes and escapes before the primary opcode. One entry per instruction."""
    lcp: list[int]
    """1 if a length-changing prefix stalls the predecoder. One entry per instruction."""
    fusible: list[int]
    """1 if the decoders wait for the next instruction, which might fuse with it. One entry per instruction."""
    complex_decoder: list[int]
    """1 if only the first decoder takes it. One entry per instruction."""
    simple_decoders: list[int]
    """Number of other decoders that work in the same cycle as the one that has it. One entry per instruction."""
    ends_group: list[int]
    """1 if nothing after it is decoded in the same cycle. One entry per instruction."""
    uops_mite: list[int]
    """Fused µops from the decoders or the µop cache. One entry per instruction."""
    uops_ms: list[int]
    """Fused µops from the microcode sequencer, which follow. One entry per instruction."""
    dsb_extra_slots: list[int]
    """Additional slots of the µop cache, for long immediates. One entry per instruction."""
    constants: list[int]
    """Constants of 32 bits, which take room in the µop cache. One entry per instruction."""
    no_lsd: list[int]
    """1 if it keeps a loop out of the loop stream detector. One entry per instruction."""

    # --- execution, by input
    late_inputs: list[int]
    """Cycles by which an input is late beyond its latency, on some ways through the core. The bounds do not count
    them. One entry per input."""

    # --- renamer, by instruction
    merges_low: list[int]
    """Location of a register whose bits 8-15 are renamed separately and must be merged first, else -1. One entry per
    instruction."""
    merges_high: list[int]
    """Location of these bits 8-15, else -1. One entry per instruction."""
    uses_stack: list[int]
    """1 if it needs the stack pointer itself (`stack_location`), to which the stack engine's offset must be added
    first. One entry per instruction."""
    stack_change: list[int]
    """Bytes by which push, pop, call and ret change the stack pointer, which the stack engine adds up. One entry per
    instruction."""
    move_class: list[int]
    """Kind of move (MOVE_NONE …). One entry per instruction."""
    move_from: list[int]
    """Location that a move reads, -1 if it cannot be eliminated. One entry per instruction."""
    move_to: list[int]
    """Location that a move writes, -1 if it cannot be eliminated. One entry per instruction."""
    move_ports: list[int]
    """Ports of the µop of a move that is not eliminated. One entry per instruction."""
    move_latency: list[int]
    """Latency of the µop of a move that is not eliminated. One entry per instruction."""
    general_writes: list[int]
    """General-purpose registers, all flags counted as one, for which it gets new physical registers. One entry per
    instruction."""
    vector_writes: list[int]
    """Vector and mask registers for which it gets new physical registers. One entry per instruction."""

    # --- execution, by instruction
    wide_memory: list[int]
    """1 if it accesses 256 bits of memory at once. One entry per instruction."""
    vector_bits: list[int]
    """Bits of the widest vector register that it names. One entry per instruction."""
    address_unit: list[int]
    """1 if it computes an address without accessing memory (lea). One entry per instruction."""
    least_cycles: list[int]
    """Cycles from the start of each of its µops before which it cannot retire, even if its results are there
    earlier. One entry per instruction."""

    # --- the code's place
    alignment: int
    """Place of the kernel's first byte, modulo 64."""

    # --- the core, beyond its parameters
    port_binding: int
    """Rule that binds µops to ports (PORTS_LEAST_LOADED …)."""
    port_order: list[int]
    """Order of ports for rules that distinguish ports which are alike. Ports that it does not name follow by number."""
    slot_set: int
    """The set of ports with a table by issue slot (`slot_ports`), for PORTS_SIX."""
    slot_ports: list[int]
    """Rows of ports, one for each port of `slot_set` when that is the least used one: the ports for the issue slots
    of a cycle, beginning with itself."""
    alternating: list[int]
    """Sets of ports that take turns."""
    groups_in_turn: list[int]
    """Groups of ports that the µops for any of these ports take in turn."""
    picked_from: list[int]
    """Sets of ports whose µops wait at more ports than these, those of the same place in `queued_at`."""
    queued_at: list[int]
    """Sets of ports at which µops for `picked_from` wait. As many start in a cycle as that set has ports."""
    scheduler_ports: list[int]
    """Ports of each scheduler."""
    scheduler_entries: list[int]
    """Entries of each scheduler."""
    waiting_ports: int
    """Ports before whose schedulers µops wait in a queue, in order. They are bound to ports when they leave it."""
    waiting_entries: int
    """Entries of this queue."""
    constants_beside: int
    """Constants for which a line of the µop cache has room in addition to as many µops as it holds, on a core of
    whose front end only widths are known."""
    constants_each: int
    """Constants that take the place of one µop."""
    constants_most: int
    """Constants that a line holds at most, 0 for any number."""
    limited_ports: list[int]
    """Sets of ports that get only so many µops per cycle from the renamer; they may overlap."""
    limited_uops: list[int]
    """The most µops per cycle for each of these sets."""
    ports_at_start: int
    """Ports that µops take when they start, not at issue: the oldest µop first, each the first port that is free."""
    renamer_ports: int
    """Ports of the µops that the renamer inserts, for the stack engine and to merge registers."""
    stack_location: int
    """Location of the stack pointer, -1 for a core without a stack engine."""
    register_file: int
    """Physical registers, of all kinds together, that instructions in flight may hold, 0 for no limit."""
    aliasing_bits: int
    """Lower bits of addresses in which loads are compared with stores in flight, 0 for all. The following are of no
    effect then."""
    aliasing_stores: int
    """Stores to other addresses with which a load must agree in these bits to be late."""
    aliasing_cycles: int
    """Cycles by which such a load is late."""
    aliasing_after_retirement: int
    """Cycles after its retirement for which a store is compared."""
    aliasing_starts_again: int
    """1 if such a load takes its port a second time."""
    lsd_unroll: list[int]
    """Factor by which the loop stream detector unrolls a loop of n + 1 µops; 1 for longer loops."""

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
    mite_ms_stall: int
    dsb_line_uops: int
    dsb_lines: int
    dsb_read_lines: int
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
    store_commit_blocks: int
    stores_stop_loads: int
    store_word_bytes: int
    store_word_window: int
    store_word_cycles: int
    page_crossing_store_cycles: int
    crossing_takes_pipes: int
    bank_bytes: int
    bank_loads: int
    bank_sets: int
    starts_256bit: int
    starts_512bit: int
    wide_starts_ahead: int
    stack_offset_limit: int
    alternating_imbalance: int
    general_registers: int
    vector_registers: int
    loads_leave_when_done: int
    microcode_alone: int
    rename_bundle: int
    dsb_groups: int
    dsb_block_again: int
    wakes_early: int
    decode_clusters: int
    clusters_need_jumps: int
    in_order: int
    address_to_execute: int
    store_address_to_load: int
    store_data_to_load: int
    ports_apart: int
    second_port_slot: int
    first_port_slot: int
    mispredict_penalty: int


class BoundKernel:
    """A kernel bound to a machine model."""

    __slots__ = (
        *KERNEL_DEFAULTS,
        *KERNEL_ARRAYS,
        *KERNEL_STARTS,
        "port_names",
        "location_names",
        "is_loop",
        "pipeline",
    )

    # --- ports
    port_names: list[str]
    """The execution ports ("0", "1", …), followed by other resources that an instruction can hold exclusively
    ("0DV", the divider). Sets of ports and resources are bit masks."""
    n_ports: int
    """The number of `port_names` that are ports."""

    # --- instructions
    instruction_flags: list[int]
    """Flags (IS_LOAD …), as a bit mask. One entry per instruction."""
    issue_slots: list[int]
    """Issue slots: the fused µops that the renamer issues, after un-lamination. One entry per instruction."""
    retire_slots: list[int]
    """Retire slots. One entry per instruction."""
    latency: list[int]
    """The longest latency from a register or loaded value to a result, for display."""
    load_latency: list[int]
    """Cycles from the address to the loaded value, 0 if nothing is loaded. One entry per instruction."""
    forward_group: list[int]
    """Number of a group of instructions that forward their results to each other without delay, -1 for none. One
    entry per instruction."""
    forward_delay: list[int]
    """Cycles by which results arrive later at instructions outside the group. One entry per instruction."""
    delays_from: list[int]
    """The delays between ports (`port_delay_cycles`) that concern the instruction's results, as bits by number. One
    entry per instruction."""
    delays_to: list[int]
    """The delays between ports that concern the instruction's inputs, as bits by number. One entry per instruction."""
    early_for: list[int]
    """The rules of accumulators (`input_rule`) whose inputs its results reach early, as bits by number. One entry
    per instruction."""

    # --- µops
    uop_start: list[int]
    """Index of the first of the µops of each instruction."""
    uop_ports: list[int]
    """The allowed ports, or the resource. One entry per µop."""
    uop_cycles: list[int]
    """Cycles for which the port or resource is occupied: 1 for pipelined µops, more for a divider. One entry per
    µop."""
    uop_kind: list[int]
    """Kind (UOP_COMPUTE …). One entry per µop."""

    # --- values, the results of instructions and nodes of the dependency graph
    value_start: list[int]
    """Index of the first of the values of each instruction."""
    value_kind: list[int]
    """Kind (VALUE_REGISTER …). One entry per value."""
    output_start: list[int]
    """Index of the first of the outputs of each value."""
    output_location: list[int]
    """Location that the value is written to. A value may have none. One entry per output."""
    input_start: list[int]
    """Index of the first of the inputs of each value. The inputs of a loaded value are its address registers, with
    the load latency. Those of a stored value are its data, with the latency of the computation, and its address
    registers."""
    input_kind: list[int]
    """Kind (INPUT_LOCATION, INPUT_VALUE). One entry per input."""
    input_id: list[int]
    """Index of a location, or of a VALUE_LOAD of the same instruction. One entry per input."""
    input_latency: list[int]
    """Cycles from the input to the value. One entry per input."""
    input_rule: list[int]
    """Rule of accumulators, by which some results arrive early; -1: none. One entry per input."""
    input_early: list[int]
    """Cycles by which the latency from such results is shorter. One entry per input."""

    # --- locations
    location_names: list[str]
    """Registers and groups of flags as the hardware renames them ("rax", "rax.high", "rax.sum", "zmm0", "flag C",
    "flags SPAZO", "k1")."""

    # --- memory operands of VALUE_LOADs and VALUE_STOREs
    memory_of_value: list[int]
    """Index of the value's memory operand, -1 for none. One entry per value."""
    memory_base: list[int]
    """Location of the base register, -1 for none. One entry per memory operand."""
    memory_index: list[int]
    """Location of the index register, -1 for none. One entry per memory operand."""
    memory_scale: list[int]
    """Factor of the index register. One entry per memory operand."""
    memory_displacement: list[int]
    """Displacement in bytes. One entry per memory operand."""
    memory_size: list[int]
    """Size in bytes, 0 if unknown. One entry per memory operand."""
    memory_symbol: list[int]
    """Number of the symbol in the address, -1 for none. One entry per memory operand."""
    memory_class: list[int]
    """Class that selects the forwarding latency: 0 for general-purpose registers, else the vector width in bits.
    Between a store and a load that both have -1, the renamer hands on the stored value without latency; otherwise -1
    counts as 0. One entry per memory operand."""
    memory_elements: list[int]
    """Number of accesses of a gather or scatter, else 1. One entry per memory operand."""
    memory_partial: list[int]
    """1 if a mask selects the bytes that are accessed. One entry per memory operand."""

    # --- address arithmetic
    affine_start: list[int]
    """Index of the first of the affine entries of each instruction."""
    affine_target: list[int]
    """Location that gets the sum of the terms and the constant. A location that an instruction writes without such
    an entry gets an unknown value. -1 is the memory that the instruction both loads and stores (`add $8, (mem)`):
    the stored value is the loaded one plus terms and constant. One entry per affine entry."""
    affine_constant: list[int]
    """Constant of the sum. One entry per affine entry."""
    affine_term_start: list[int]
    """Index of the first of the terms of each affine entry."""
    affine_term_location: list[int]
    """Location that the term reads. One entry per term."""
    affine_term_coefficient: list[int]
    """Factor of the term. One entry per term."""

    # --- contents of locations at entry, as far as they are known
    entry_location: list[int]
    """Location whose content is the sum of the terms and the constant. Locations without an entry hold unknown
    values. One entry per location with a known content."""
    entry_constant: list[int]
    """Constant of the sum. One entry per location with a known content."""
    entry_term_start: list[int]
    """Index of the first of the terms of each location with a known content."""
    entry_term_unknown: list[int]
    """Number of an unknown value, the same number for the same value. One entry per term."""
    entry_term_coefficient: list[int]
    """Factor of the term. One entry per term."""

    # --- the core, with slots per cycle and entries of buffers (0: unlimited)
    issue_width: int
    """Issue slots per cycle."""
    retire_width: int
    """Retire slots per cycle."""
    rob: int
    """Entries of the reorder buffer."""
    rs: int
    """Entries of all schedulers together."""
    load_buffer: int
    """Entries of the load buffer."""
    store_buffer: int
    """Entries of the store buffer."""
    issue_to_execute: int
    """Cycles from issue to the earliest execution, for a core whose pipeline is not described."""
    line_bytes: int
    """Bytes of a cache line, or of another aligned block that is read in one access. 0: every access is one."""
    line_crossing_cycles: int
    """Cycles beyond the first for which a load that crosses a line takes its port."""
    forward_class: list[int]
    """Class of memory operands (`memory_class`). One entry per class."""
    forward_cycles: list[int]
    """Cycles from the stored data being ready to a load of them delivering. One entry per class."""
    port_delay_cycles: list[int]
    """Cycles by which a result arrives late (early, if negative) between the ports of both µops. The bounds take the
    pair of ports that is best. One entry per delay between ports."""
    port_delay_from: list[int]
    """Ports of the µop that makes the result. One entry per delay between ports."""
    port_delay_to: list[int]
    """Ports of the µop that reads the result. One entry per delay between ports."""
    blocked_forward_cycles: int
    """Cycles beyond the forwarding latency for a load if a store wrote only some of its bytes: it waits until the
    store is in the cache."""
    merges_narrow_store: int
    """1 if such a load does not wait for the cache where it begins with the only store in flight to its bytes: the
    other bytes are merged, in as many cycles."""
    renames_repeated: int
    """1 if the renamer also hands stored values on to loads whose addresses are computed anew, as long as each
    iteration loads what the one before stored."""

    # --- assumptions about data and places that the code does not tell
    line_places: int
    """Places of pointers. 0: loads cross lines as LineCrossings::Expected has it (lines.h), and pointers have equal
    places in the banks of the cache; 1: lines as at the best, 2: as at the worst alignment; 3: each pointer
    anywhere, averaged over all places; 4: likely places (LineCrossings). Stores cross pages only with 2 to 4."""
    alias_places: int
    """1 if streams whose distance is not known have the one at which most loads agree with stores in the bits that
    the core compares first (address_aliasing.h); 0 if they do not agree."""
    aligned_value: list[int]
    """Loaded and stored values whose addresses are surely multiples of their size. One entry per aligned value."""
    assumed_load: list[int]
    """Value of a load that depends on a store, besides the dependencies that the addresses show. One entry per
    assumed dependency."""
    assumed_store: list[int]
    """Value of the store. One entry per assumed dependency."""
    assumed_distance: list[int]
    """Iterations from the store to the load. One entry per assumed dependency."""

    # --- kernel
    is_loop: bool
    """True if the kernel ends in a jump to its start."""
    pipeline: Pipeline | None
    """The simulator's other inputs; None for a core whose pipeline is not described."""

    def __repr__(self) -> str:
        return "BoundKernel(" + ", ".join(f"{k}={getattr(self, k, None)!r}" for k in self.__slots__) + ")"
