"""Binding for the simulator: the work of front end and renamer on a kernel's instructions (see bound.Pipeline)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from incc.frontends.kernel import Instruction, KernelCode
from incc.models.binding import bound as b
from incc.models.binding.pieces import LONGEST_JOINED, MOST_JOINED, PieceShape, PipelineFacts, register_facts
from incc.models.binding.renamer import rule_sides
from incc.models.model import Form, MachineModel

PORT_BINDING = {
    "least_loaded": b.PORTS_LEAST_LOADED,
    "six_ports": b.PORTS_SIX,
    "eight_ports": b.PORTS_EIGHT,
    "ten_ports": b.PORTS_TEN,
}
"""Values of the model parameter `port_binding`; a core without it is not simulated."""

_FROM_FACTS = (
    *("length", "opcode_offset", "lcp", "fusible", "complex_decoder", "simple_decoders", "ends_group"),
    *("uops_mite", "uops_ms", "dsb_extra_slots", "constants", "no_lsd", "uses_stack", "stack_change"),
    *("move_class", "move_ports", "move_latency", "wide_memory"),
    *("vector_bits", "address_unit", "general_writes", "vector_writes"),
)
_MOST_KEPT = 256
"""The most facts that are cached for one shape."""


def bind_pipeline(
    kernel: KernelCode,
    model: MachineModel,
    forms: Sequence[Form | None],
    facts: Sequence[PipelineFacts],
    bound: b.BoundKernel,
    mask: Callable[[str], int],
    location: Callable[[str], int],
    split_roots: frozenset[str],
) -> b.Pipeline | None:
    """Return the kernel's `Pipeline`, or None if the model does not say how µops get their ports.

    Args:
        kernel: The kernel.
        model: The core.
        forms: The form of each instruction.
        facts: The `pipeline_facts` of each instruction.
        bound: The kernel's arrays.
        mask: Returns the bits of a port set.
        location: Returns the location of a register's root.
        split_roots: Registers whose bits 8-15 are renamed separately in this kernel.
    """
    core = _core(model, mask)
    if core is None:
        return None
    p = b.Pipeline()
    for name, value in core.attributes:
        setattr(p, name, value)
    p.alignment = kernel.alignment
    stack = model.parameters.get("stack_engine", "")
    p.stack_location = location(stack) if stack else -1
    p.offset = _offsets(kernel)
    for name, column in zip(_FROM_FACTS, _columns(core, facts), strict=False):
        setattr(p, name, column)
    merges = _high8_merges(kernel, split_roots)
    p.move_from = [location(f.move_from) if f.move_from else -1 for f in facts]
    p.move_to = [location(f.move_to) if f.move_to else -1 for f in facts]
    p.least_cycles = [0] * len(facts)
    p.merges_low = [-1] * len(facts)
    p.merges_high = [-1] * len(facts)
    p.late_inputs = _late_inputs(kernel, forms, bound, model)
    for n, root in merges.items():
        p.merges_low[n] = location(root)
        p.merges_high[n] = location(root + ".high")
    if not facts:
        for name in _FROM_FACTS:
            setattr(p, name, [])
    return p


def copied(pipeline: b.Pipeline) -> b.Pipeline:
    """Return a copy of a pipeline whose attributes can be set without changing the original."""
    result = b.Pipeline()
    for name in b.Pipeline.__slots__:
        setattr(result, name, getattr(pipeline, name))
    return result


class _Core(msgspec.Struct, frozen=True):
    """The part that all kernels on a core share. It is kept with the model, which does not change."""

    attributes: tuple[tuple[str, Any], ...]
    """Attributes of pipelines by name."""
    columns: dict[tuple[tuple[int, ...], ...], list[list[int]]]
    """Columns of kernels by the rows (`PipelineFacts.numbers`) that these consist of."""


def _core(model: MachineModel, mask: Callable[[str], int]) -> _Core | None:
    """Return the cached `_Core` of a model, None if it cannot be simulated."""
    cached: _Core | None = model.caches.get("pipeline")
    if cached is not None:
        return cached
    if model.why_not_simulated:
        return None
    parameters = model.parameters
    binding = PORT_BINDING[parameters["port_binding"]]

    def number(port: str) -> int:
        return mask(port).bit_length() - 1

    attributes: dict[str, Any] = {}
    for name, default in b.PIPELINE_PARAMETERS.items():
        value = parameters.get(name, default)
        attributes[name] = b.UNLIMITED if value == "unlimited" else int(value)
    attributes["port_binding"] = binding
    attributes["lsd_unroll"] = _unroll_table(parameters.get("lsd_unroll", {}))
    attributes["alternating"] = [mask(ports) for ports in parameters.get("alternating_ports", [])]
    attributes["groups_in_turn"] = [mask(ports) for ports in parameters.get("groups_in_turn", [])]
    queued = parameters.get("queued_at", {})
    attributes["picked_from"] = [mask(ports) for ports in queued]
    attributes["queued_at"] = [mask(ports) for ports in queued.values()]
    schedulers = parameters.get("schedulers", {})
    attributes["scheduler_ports"] = [mask(ports) for ports in schedulers]
    attributes["scheduler_entries"] = list(schedulers.values())
    attributes["register_file"] = 0
    attributes["ports_at_start"] = mask(parameters["ports_at_start"]) if parameters["ports_at_start"] else 0
    limits = parameters.get("dispatch_limits", {})
    attributes["limited_ports"] = [mask(ports) for ports in limits]
    attributes["limited_uops"] = list(limits.values())
    waiting = parameters.get("waiting_queue", {})
    attributes["waiting_ports"] = mask(waiting["ports"]) if waiting else 0
    attributes["waiting_entries"] = waiting["entries"] if waiting else 0
    constants = parameters["dsb_constants"]
    for name in ("beside", "each", "most"):
        attributes[f"constants_{name}"] = constants[name] if constants else 0
    aliasing = parameters["address_aliasing"]
    for name, default in {"bits": 0, "stores": 1, "cycles": 0, "after_retirement": 0, "starts_again": 0}.items():
        attributes[f"aliasing_{name}"] = int(aliasing.get(name, default))
    attributes["renamer_ports"] = mask(parameters["renamer_ports"]) if parameters["renamer_ports"] else 0
    attributes["port_order"] = [number(port) for port in parameters["port_order"]]
    by_slot = [[number(port) for port in ports.split(",")] for ports in parameters["ports_by_slot"]]
    attributes["slot_set"] = sum({1 << port for ports in by_slot for port in ports})
    attributes["slot_ports"] = [port for ports in by_slot for port in ports]
    core = model.caches["pipeline"] = _Core(tuple(attributes.items()), {})
    return core


def _columns(core: _Core, facts: Sequence[PipelineFacts]) -> list[list[int]]:
    """Return the facts of a kernel by column, in the order of _FROM_FACTS; nothing for no instructions.

    Kernels share them, as they share the arrays of `pieces.join`.
    """
    rows = tuple([f.numbers for f in facts])
    columns = core.columns.get(rows)
    if columns is None:
        columns = [list(column) for column in zip(*rows, strict=True)]
        if len(rows) <= LONGEST_JOINED:
            if len(core.columns) >= MOST_JOINED:
                core.columns.clear()
            core.columns[rows] = columns
    return columns


def pipeline_facts(
    i: Instruction, shape: PieceShape, model: MachineModel, mask: Callable[[str], int]
) -> PipelineFacts | None:
    """Return the facts about an instruction of this shape, None for a core that cannot be simulated.

    `mask` returns the bits of a port set.
    """
    if _core(model, mask) is None:
        return None
    # Properties in which instructions of one shape differ.
    moved = i.affine.constant if i.affine is not None and i.affine.target == model.parameters.get("stack_engine") else 0
    stack = _stack_use(i, model.parameters.get("stack_engine", ""))
    own = i.length, i.opcode_offset, i.constants, i.encoding_traits, i.traits, _takes_extra_slot(i), moved, stack
    cached = shape.facts.get(own)
    if cached is None:
        cached = _facts(i, shape.form, shape.row[0], shape.row[1], model, mask)
        if not cached.move_to:  # which names registers
            if len(shape.facts) >= _MOST_KEPT:
                shape.facts.clear()
            shape.facts[own] = cached
    return cached


def _facts(
    i: Instruction, form: Form | None, flags: int, slots: int, model: MachineModel, mask: Callable[[str], int]
) -> PipelineFacts:
    parameters = model.parameters
    stack = parameters.get("stack_engine", "")
    attributes: dict[str, Any] = form.attributes if form is not None else {}
    counted = form is not None and not flags & b.FUSED_INTO_PREVIOUS
    pop5c = "pop_rsp_r12" in i.encoding_traits
    complex_decoder = bool(attributes.get("complex_decoder") or (pop5c and parameters.get("pop_rsp_r12_complex")))
    implicit, explicit = _stack_use(i, stack)
    ms = attributes.get("uops_ms", 0)
    move_class, move_ports, move_latency, move_from, move_to = _move(i, form, flags, slots, model, mask)
    general, vector = _writes(i, flags, move_ports)
    numbers = {
        "length": i.length,
        "opcode_offset": i.opcode_offset,
        # Moves do not stall from Sandy Bridge on (Fog, The microarchitecture of Intel, AMD and VIA CPUs).
        "lcp": int(bool(attributes.get("lcp_stall")) or "lcp" in i.encoding_traits),
        "fusible": int(form is not None and form.fusion != ""),
        "complex_decoder": int(complex_decoder),
        "simple_decoders": attributes.get("simple_decoders", int(parameters.get("decoders", 0))),
        "ends_group": int(i.branch != "" or bool(pop5c and parameters.get("pop_rsp_r12_ends_group"))),
        "uops_mite": attributes.get("uops_mite", max(slots - ms, 0)) if counted and slots else 0,
        "uops_ms": ms if counted else 0,
        "dsb_extra_slots": int(_takes_extra_slot(i)),
        "constants": i.constants,
        "no_lsd": int(bool(attributes.get("no_lsd"))),
        "uses_stack": int(explicit),
        "stack_change": i.affine.constant if implicit and i.affine is not None else 0,
        "move_class": move_class,
        "move_ports": move_ports,
        "move_latency": move_latency,
        "wide_memory": int(any(m.size == 32 and m.elements == 1 for m in i.memory)),
        "vector_bits": register_facts(i).vector_bits,
        "address_unit": int(any(trait.startswith("agen:") for trait in i.traits)),
        "general_writes": general,
        "vector_writes": vector,
    }
    return PipelineFacts(tuple([numbers[name] for name in _FROM_FACTS]), move_from, move_to)


def _writes(i: Instruction, flags: int, move_ports: int) -> tuple[int, int]:
    """Return the numbers of general-purpose and of other registers that an instruction gets from the register files.

    All flags count as one general-purpose register. An instruction that the renamer does allocates none; a move of
    which that is decided later counts as executed.
    """
    if flags & b.UNKNOWN or (flags & (b.ELIMINATED | b.ZEROED) and not move_ports):
        return 0, 0
    written = {(a.register.root, a.register.kind) for a in i.registers if a.write and a.register.kind}
    general = sum(kind == "general" for _, kind in written)
    return general + bool(i.flags_written), len(written) - general


def _move(
    i: Instruction, form: Form | None, flags: int, slots: int, model: MachineModel, mask: Callable[[str], int]
) -> tuple[int, int, int, str, str]:
    """Return (class, ports, latency, from, to) of a move, the ports if the renamer may or may not eliminate it.

    If the renamer does not eliminate it, it executes like the same form from a register to itself. There are no ports
    for a move that always executes or never does. A move without a slot is fused with the next instruction: nothing is
    left to execute.
    """
    written = [a for a in i.registers if a.write]
    kind = b.MOVE_SIMD if written and written[0].register.kind in ("vector", "mmx") else b.MOVE_GPR
    if (
        form is not None
        and slots > 0
        and flags & (b.NO_EXECUTION | b.FOLDED) == b.NO_EXECUTION
        and not form.breaks_dependency
        and not i.memory
    ):
        read = [a for a in i.registers if a.read and not a.address]
        executed = model.lookup(i.form, i.traits | {"same_reg"})
        if len(written) == 1 and len(read) == 1 and executed is not None and executed.uops:
            source, target = read[0].register.root, written[0].register.root
            latency = max((cycles for _, _, cycles in executed.latency), default=1)
            return kind, mask(executed.uops[0][0]), latency, source, target
    return kind if i.move else b.MOVE_NONE, 0, 0, "", ""


def _late_inputs(
    kernel: KernelCode, forms: Sequence[Form | None], bound: b.BoundKernel, model: MachineModel
) -> list[int]:
    """Return the cycles of `late_beside_flags` for each input of the bound kernel."""
    late = [0] * len(bound.input_id)
    if not model.parameters["late_beside_flags"]:
        return late
    sides = [rule_sides(form, "late_beside_flags", model) for form in forms]
    if not any(side.second for side in sides):
        return late
    writers: dict[str, int] = {}
    for _ in range(2):  # The second pass starts with the state that an iteration leaves behind.
        for n, i in enumerate(kernel.instructions):
            flag_writers = {writers[f] for f in i.flags_read if f in writers} if sides[n].second else set()
            if any(sides[w].first & sides[n].second for w in flag_writers):
                for at in range(*_inputs_of(bound, n)):
                    if bound.input_kind[at] == b.INPUT_LOCATION:
                        name = bound.location_names[bound.input_id[at]]
                        late[at] = int(not name.startswith("flag") and writers.get(name, -1) not in flag_writers)
            writers.update(dict.fromkeys(i.flags_written, n))
            writers.update(dict.fromkeys([a.register.root for a in i.registers if a.write], n))
    return late


def _inputs_of(bound: b.BoundKernel, n: int) -> tuple[int, int]:
    first, end = bound.value_start[n], bound.value_start[n + 1]
    return bound.input_start[first], bound.input_start[end]


def _takes_extra_slot(i: Instruction) -> bool:
    """Return True for a 64-bit immediate, and for one of more than 16 bits with a memory operand."""
    if i.immediate_bytes == 8:
        return True
    if i.immediate_bytes != 4 or all(m.operand is None for m in i.memory):
        return False
    return i.immediate is not None and not -(1 << 15) <= i.immediate < 1 << 15


def _unroll_table(ranges: Mapping[str, int]) -> list[int]:
    """Return `lsd_unroll` of the model ({"1": 8, "9-12": 3}) as a list by µops, from 1."""
    table: list[int] = []
    for key, times in ranges.items():
        first, _, last = key.partition("-")
        for uops in range(int(first), int(last or first) + 1):
            table += [1] * (uops - len(table))
            table[uops - 1] = times
    return table


def _offsets(kernel: KernelCode) -> list[int]:
    """Return each instruction's offset from the first one.

    These are the decoded offsets if the code is one run; the analysed path may also leave out code, or go back. In a
    loop that goes back to before its start, all offsets are moved by whole lines so that none is negative; it may also
    repeat instructions. Where parts would overlap, as from several sections, they follow each other.
    """
    first = kernel.instructions[0].offset if kernel.instructions else 0
    offsets, end = [], 0
    ordered = True
    for i in kernel.instructions:
        ordered = ordered and i.offset - first >= end
        offsets.append(i.offset - first if ordered else end)
        end = offsets[-1] + i.length
    if not ordered and kernel.is_loop:
        places = sorted({(i.offset - first, i.length) for i in kernel.instructions})
        ends = [start + length for start, length in places]
        if all(end <= start for end, (start, _) in zip(ends, places[1:], strict=False)):
            lines = max(0, -(places[0][0] // CODE_LINE))
            return [i.offset - first + lines * CODE_LINE for i in kernel.instructions]
    return offsets


CODE_LINE = 64
"""Bytes of a line of the instruction cache; of an address only the place in a line matters."""


def _high8_merges(kernel: KernelCode, split_roots: frozenset[str]) -> dict[int, str]:
    """Return the instructions that read a register after a write to its bits 8-15, with that register.

    The renamer must merge both parts first.
    """
    merges: dict[int, str] = {}
    if not split_roots:
        return merges
    apart: set[str] = set()
    for _ in range(2):  # The second pass starts with the state that an iteration leaves behind.
        merges = {}
        for n, i in enumerate(kernel.instructions):
            wide = {a.register.root for a in i.registers if a.register.width > 8 and (a.read or a.register.width < 32)}
            if wide & apart:
                merges[n] = min(wide & apart)
                apart -= wide
            for a in i.registers:
                if a.write and a.register.root in split_roots:
                    if a.register.offset == 8:
                        apart.add(a.register.root)
                    elif a.register.width > 8:
                        apart.discard(a.register.root)
    return merges


def _stack_use(i: Instruction, stack: str) -> tuple[bool, bool]:
    """Return True if an instruction moves the stack pointer implicitly (push, call), and True if it reads it itself."""
    if not any(a.register.root == stack for a in i.registers):
        return False, False
    implicit = any(m.operand is None and m.base is not None and m.base.root == stack for m in i.memory)
    reads = any(a.register.root == stack and a.read and (a.operand is not None or a.address) for a in i.registers)
    if implicit:
        # Its address is the stack pointer, without being an operand.
        reads = any(a.register.root == stack and a.read and a.operand is not None for a in i.registers) or any(
            m.operand is not None and any(r is not None and r.root == stack for r in (m.base, m.index))
            for m in i.memory
        )
    return implicit, reads
