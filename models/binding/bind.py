"""Binding: a decoded kernel meets a machine model and becomes flat arrays (models.bound).

Everything that depends on both sides is decided here: which form an instruction is, what its µops are, which register
parts and flags are renamed together, what is fused, eliminated or broken, and the latency from each input to each
result.
"""

from __future__ import annotations

from bisect import bisect_left

from incc.models.binding import bound as b
from incc.models.binding.folded_sums import EXECUTES, FOLDS, MADE_UP, NO_SUM, PASSES, find_sums
from incc.models.binding.fused_moves import find_fused_moves
from incc.models.binding.pieces import Piece, Shape, Whole, is_vector, join, known_for, register_facts, shape_key
from incc.models.binding.pipeline import bind_pipeline, facts
from incc.models.patterns import port_delay_rules, port_delays_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from incc.frontends.kernel import Instruction, Kernel, MemoryAccess, Register, RegisterAccess
    from incc.models.binding.pieces import RegisterFacts
    from incc.models.model import Form, MachineModel

# An input of a value: (kind, id, latency in cycles)
_Input = tuple[int, int, int]


def bind(kernel: Kernel, model: MachineModel) -> tuple[b.BoundKernel, tuple[Form | None, ...]]:
    """The kernel's arrays, and for each instruction its form in the model (None: not in the model).

    Raises ValueError if kernel and model are for different instruction sets.
    """
    if kernel.isa != model.isa:
        raise ValueError(
            f"kernel {kernel.name} is {kernel.isa} code, but {model.name} is a model of an {model.isa} core"
        )
    facts = [register_facts(i) for i in kernel.instructions]
    wide = model.parameters["wide_vectors"]
    if wide and max([f.vector_bits for f in facts], default=0) >= wide["width"]:
        forms = tuple([_form(model, i.form, i.traits | _WIDE) for i in kernel.instructions])
    else:
        wide, forms = {}, tuple([_form(model, i.form, i.traits) for i in kernel.instructions])
    return _Binder(kernel, model, forms, facts, wide).run(), forms


def _form(model: MachineModel, name: str, traits: frozenset[str]) -> Form | None:
    form = model.lookup(name, traits)
    return form if form is None or form.retire_slots <= MOST_SLOTS else None


MOST_SLOTS = 1 << 16
"""Issue slots of an instruction. What took more when it was measured (wbinvd: millions) did as much as there was to do,
and no figure says how much that is elsewhere."""

_WIDE = frozenset(["wide"])
"""The condition of figures that hold while the widest vectors are in flight (parameter `wide_vectors`)."""


class _Binder:
    """The state of one binding; one method for each part of a BoundKernel."""

    def __init__(
        self,
        kernel: Kernel,
        model: MachineModel,
        forms: tuple[Form | None, ...],
        facts: list[RegisterFacts],
        wide: Mapping[str, Any],
    ) -> None:
        self.kernel = kernel
        self.model = model
        self.forms = forms
        self.parameters: Mapping[str, Any] = model.parameters
        self.port_names = [*model.ports, *model.resources]
        self.port_number = {name: k for k, name in enumerate(self.port_names)}
        self.masks: dict[str, int] = {}
        self.locations: dict[str, int] = {}
        self.symbols: dict[str, int] = {}
        self.facts = facts
        self.writers: dict[str, list[int]] | None = None  # of each register, once one of them is asked for
        self.fused = self._macro_fused()
        # Bits 8-15 of rax … rdx are a location of their own only where the kernel names one of them.
        split_roots: set[str] = set()
        if self.parameters["high8_renamed_separately"]:
            split_roots.update(*[f.high for f in self.facts if f.high])
        self.split_roots = frozenset(split_roots)
        self.closed = self._mask(wide["closes"]) if wide else 0
        self.closed_instead = self._mask(wide["instead"]) if wide else 0
        self.may_chase = bool(self.parameters["fast_pointer_chasing"])
        self.sums = find_sums(kernel, forms, self.fused, self.parameters, model)
        self.sum = NO_SUM
        self.fused_moves = find_fused_moves(kernel, forms, self.fused, self.parameters, model)
        self.fused_move = False
        self.known = known_for(model, self.split_roots, self.closed, self.closed_instead)

    # --- the parts ---------------------------------------------------------------------------------------------------

    def run(self) -> b.BoundKernel:
        instructions = self.kernel.instructions
        pieces = [self._piece(n, i, form) for n, (i, form) in enumerate(zip(instructions, self.forms, strict=True))]
        whole = Whole(self.kernel, self.model, pieces, self.known) if self._may_be_known(pieces) else None
        k = None if whole is None else whole.find()
        if k is None or whole is None:
            k = self._bound(pieces)
            if whole is not None:
                whole.keep(k)
        if self.kernel.entry:
            self._add_entry(k)
        return k

    def _may_be_known(self, pieces: list[Piece]) -> bool:
        """Whether another kernel with these pieces may have had the same arrays: not with columns or parts of registers
        of its own."""
        return bool(pieces) and not self.split_roots and all(piece.number >= 0 for piece in pieces)

    def _bound(self, pieces: list[Piece]) -> b.BoundKernel:
        """The kernel of these pieces, with nothing known of what its registers hold at its start."""
        k = b.BoundKernel()
        k.is_loop = self.kernel.is_loop
        if pieces:
            self.locations = join(k, pieces, self.known)
        else:
            self._init_arrays(k)
        k.location_names = list(self.locations)
        found = [piece.facts for piece in pieces if piece.facts is not None]
        k.pipeline = bind_pipeline(
            self.kernel, self.model, self.forms, found, k, self._mask, self._location, self.split_roots
        )
        k.entry_location, k.entry_constant, k.entry_term_start = [], [], [0]
        k.entry_term_unknown, k.entry_term_coefficient = [], []
        k.location_names = list(self.locations)
        k.port_names = list(self.port_names)
        k.n_ports = len(self.model.ports)
        self._set_parameters(k)
        return k

    def _piece(self, n: int, i: Instruction, form: Form | None) -> Piece:
        """What the instruction adds to the kernel: known, or made and kept for the next one like it."""
        fused = n in self.fused
        fuses_with = self.forms[n + 1] if n + 1 in self.fused else None
        last = n == len(self.forms) - (2 if fuses_with is not None else 1) if fuses_with or i.branch else False
        chases: tuple[bool, ...] = ()
        if i.memory and self.may_chase:
            chases = tuple([self._chases_pointer(n, m) for m in i.memory if m.load])
        self.sum = self.sums[n] if self.sums else NO_SUM
        self.fused_move = n in self.fused_moves
        neighbours = fused, None if fuses_with is None else fuses_with.key, last, chases, self.sum, self.fused_move
        key = i.encoding, neighbours
        piece = self.known.pieces.get(key)
        if piece is not None and piece.fits(i, form):
            return piece
        rest, roots = shape_key(i, self.split_roots)
        like = id(form), neighbours, rest
        shape = self.known.shapes.get(like)
        # Columns that the kernel added have other numbers in another kernel.
        keep = True
        if shape is None or shape.form is not form:
            shape = self._shape(n, i, form, roots)
            own = len(self.model.ports) + len(self.model.resources)
            keep = not any(mask >> own for mask in shape.plain[0])
            if keep:
                self.known.shapes[like] = shape
        piece = Piece(i, shape, roots, facts(i, shape, self.model, self._mask))
        if keep and i.encoding:
            self.known.keep(key, piece)
        return piece

    def _shape(self, n: int, i: Instruction, form: Form | None, roots: dict[str, int]) -> Shape:
        self.locations, self.symbols = {}, {}
        k = b.BoundKernel()
        self._init_arrays(k)
        flags = self._flags(n, i, form)
        self._add_uops(k, n, i, form, flags)
        has_slots = form is not None and not flags & b.FUSED_INTO_PREVIOUS and not self.fused_move
        slots = form.retire_slots if form is not None and has_slots else 0
        k.issue_slots.append(slots)
        k.retire_slots.append(slots)
        k.instruction_flags.append(flags)
        group, delay = self._forwarding(form, flags)
        k.forward_group.append(group)
        k.forward_delay.append(delay)
        executes = not flags & (b.FUSED_INTO_PREVIOUS | b.NO_EXECUTION)
        gives = takes = 0
        if form is not None and executes:
            known = self.model.pieces.setdefault("port delays", {})
            gives, takes = port_delays_of(form.key, self.parameters["port_delays"], known)
        k.delays_from.append(gives)
        k.delays_to.append(takes)
        self._add_values(k, n, i, form, flags)
        self._add_affine(k, i)
        return Shape(form, k, self.locations, self.symbols, roots)

    @staticmethod
    def _init_arrays(k: b.BoundKernel) -> None:
        for name in b.KERNEL_ARRAYS:
            setattr(k, name, [])
        for name in b.KERNEL_STARTS:
            setattr(k, name, [0])

    def _set_parameters(self, k: b.BoundKernel) -> None:
        known: list[tuple[str, Any]] | None = self.model.pieces.get("bound parameters")
        if known is None:
            own = b.BoundKernel()
            self._find_parameters(own)
            known = [(name, getattr(own, name)) for name in own.__slots__ if hasattr(own, name)]
            self.model.pieces["bound parameters"] = known
        for name, value in known:
            setattr(k, name, value)

    def _find_parameters(self, k: b.BoundKernel) -> None:
        """What is the same for all kernels on a core."""
        p = self.parameters
        k.issue_width = p["issue_width"]
        k.retire_width = p["retire_width"]
        k.rob = p["rob"]
        k.rs = p["rs"]
        k.load_buffer = p["load_buffer"]
        k.store_buffer = p["store_buffer"]
        # The distance from issue to execution is the same for every µop; it only shifts a timeline to the right.
        k.issue_to_execute = 1
        k.line_bytes = p["line_bytes"]
        k.line_crossing_cycles = p["line_crossing_cycles"]
        forward = p["store_forward"]
        k.forward_class = [_CLASS_OF_NAME[c] for c in forward]
        k.forward_cycles = list(forward.values())
        rules = port_delay_rules(p["port_delays"])
        k.port_delay_from = [self._mask(rule.from_ports) for rule in rules]
        k.port_delay_to = [self._mask(rule.to_ports) for rule in rules]
        k.port_delay_cycles = [rule.cycles for rule in rules]
        k.blocked_forward_cycles = p["blocked_forward_cycles"]
        k.merges_narrow_store = int(p["merges_narrow_store"])
        k.line_places = 0
        k.assumed_load, k.assumed_store, k.assumed_distance = [], [], []

    # --- instructions ------------------------------------------------------------------------------------------------

    def _macro_fused(self) -> set[int]:
        """Indices of conditional jumps that are fused into the instruction before them.

        Not at the start of a 64-byte line: there the decoders do not see both at once (Abel and Reineke, uiCA).
        """
        fused = set()
        instructions = self.kernel.instructions
        origin = self.kernel.alignment - (instructions[0].offset if instructions else 0)
        for n in range(1, len(instructions)):
            first = self.forms[n - 1]
            if (
                first is not None
                and first.fusion
                and instructions[n].branch == "conditional"
                and self.forms[n] is not None
                and self.model.fuses(first, instructions[n].mnemonic)
                and (origin + instructions[n].offset) % 64 != 0
            ):
                fused.add(n)
        return fused

    def _flags(self, n: int, i: Instruction, form: Form | None) -> int:
        flags = 0
        if any(m.load for m in i.memory):
            flags |= b.IS_LOAD
        if any(m.store for m in i.memory):
            flags |= b.IS_STORE
        if i.branch:
            flags |= b.IS_BRANCH
        if form is None:
            return flags | b.UNKNOWN
        if n in self.fused:
            return flags | b.FUSED_INTO_PREVIOUS
        if self.sum.what == FOLDS:
            flags |= b.FOLDED | (0 if self.sum.made else b.NO_EXECUTION)
        elif not form.uops and self.sum.what != EXECUTES:
            flags |= b.NO_EXECUTION
            if i.move:
                flags |= b.ELIMINATED
        if form.breaks_dependency:
            flags |= b.ZEROED
        return flags

    def _forwarding(self, form: Form | None, flags: int) -> tuple[int, int]:
        """The group (`forward_delays`) that an instruction is of, and how much later others get its results."""
        groups = self.parameters["forward_delays"]
        if not groups or form is None or flags & (b.FUSED_INTO_PREVIOUS | b.NO_EXECUTION):
            return -1, 0
        known = self.model.pieces.setdefault("forwarding", {})
        found: tuple[int, int] | None = known.get(form.key)
        if found is None:
            from incc.models.patterns import matches

            found = -1, 0
            for number, (patterns, cycles) in enumerate(groups.items()):
                if matches(form.key, patterns):
                    found = number, cycles
            known[form.key] = found
        return found

    # --- µops --------------------------------------------------------------------------------------------------------

    def _mask(self, ports: str) -> int:
        mask = self.masks.get(ports)
        if mask is None:
            mask = 0
            for port in ports.split(","):
                mask |= 1 << self.port_number[port]
            self.masks[ports] = mask
        return mask

    def _resource(self, name: str) -> int:
        """The mask of an exclusive resource, added to the columns when first used.

        The core takes 64 columns: kernels with more kinds of serialising instructions share the last.
        """
        if name not in self.port_number and len(self.port_names) >= _MOST_COLUMNS:
            return 1 << (len(self.port_names) - 1)
        if name not in self.port_number:
            self.port_number[name] = len(self.port_names)
            self.port_names.append(name)
        return 1 << self.port_number[name]

    def _add_uops(self, k: b.BoundKernel, n: int, i: Instruction, form: Form | None, flags: int) -> None:
        if form is not None and not flags & b.FUSED_INTO_PREVIOUS:
            fused_branch = self.forms[n + 1] if n + 1 in self.fused else None
            hold = form.attributes.get("hold") or 1
            taken = self.parameters["taken_branch_cycles"]
            is_last = n == len(self.forms) - (2 if fused_branch is not None else 1)
            for mask, kind in self._uops(n, i, form, fused_branch):
                k.uop_ports.append(mask)
                k.uop_cycles.append(max(hold, taken) if kind == b.UOP_BRANCH and is_last else hold)
                k.uop_kind.append(kind)
            self._add_occupancy(k, form)
        k.uop_start.append(len(k.uop_ports))

    def _add_occupancy(self, k: b.BoundKernel, form: Form) -> None:
        """Cycles for which the instruction holds a unit that is not pipelined."""
        measured = round(form.throughput) if form.throughput else 0
        if form.divider:
            unit = form.attributes.get("unit") or (self.model.resources[0] if self.model.resources else "DV")
            mask, cycles = self._resource(unit), max(form.divider, measured)
        elif measured > 1:
            # Locked, serialising and microcoded instructions: what is held is not known, so each form has its own unit.
            mask, cycles = self._resource("TP " + form.key.split("/")[0].lower()), measured
        else:
            return
        k.uop_ports.append(mask)
        k.uop_cycles.append(cycles)
        k.uop_kind.append(b.UOP_COMPUTE)

    def _uops(self, n: int, i: Instruction, form: Form, fused_branch: Form | None) -> list[tuple[int, int]]:
        """(port mask, kind) of each µop, loads first, then compute, then stores."""
        if self.sum.what == FOLDS and not self.sum.made:
            return []
        if self.sum.what in (FOLDS, EXECUTES) and fused_branch is None:
            return [(self._mask(self.sum.ports or self.parameters["renamer_ports"]), b.UOP_COMPUTE)]
        functions = self.model.functions
        load = {ports for name, ports in functions.items() if name.startswith("load")}
        data = functions.get("store_data", "")
        address = {functions.get("store_address", ""), functions.get("store_address_indexed", "")} - {""}
        # An access that is wider than the core's takes several.
        widest = self.parameters["memory_bits"] or 1 << 16
        loads_left = sum(m.elements * max(1, -(-8 * m.size // widest)) for m in i.memory if m.load)
        stores = any(m.store for m in i.memory)
        vector = any(is_vector(a.register) for a in i.registers)
        uops: list[tuple[int, int]] = []
        for ports, count in form.uops:
            mask = self._mask(ports)
            for _ in range(count):
                if ports in load and loads_left:
                    loads_left -= 1
                    kind = b.UOP_LOAD
                elif stores and ports == data:
                    kind = b.UOP_STORE_DATA
                elif stores and ports in address:
                    kind = b.UOP_STORE_ADDRESS
                elif i.branch:
                    kind = b.UOP_BRANCH
                else:
                    kind = b.UOP_COMPUTE
                uops.append((mask, kind))
        if vector and self.closed:
            uops = [
                ((mask & ~self.closed) or self.closed_instead, kind) if kind == b.UOP_COMPUTE else (mask, kind)
                for mask, kind in uops
            ]
        if fused_branch is not None:
            # The pair is one µop on the jump's port in place of the first one's computation, or beside it.
            taken = self._branch_mask(n + 1, fused_branch)
            compute = [u for u in uops if u[1] == b.UOP_COMPUTE]
            kept = compute if self.parameters["fused_jump_computes"] else compute[:-1]
            jump = [(taken, b.UOP_BRANCH)]
            if "fused_jump" in functions:
                # These ports do both; that of the jump only counts those that are taken.
                kept = [*compute[:-1], (self._mask(functions["fused_jump"]), b.UOP_COMPUTE)]
                jump = jump if n + 1 == len(self.forms) - 1 else []
            uops = [u for u in uops if u[1] != b.UOP_COMPUTE] + kept + jump
        elif i.branch == "conditional":
            uops = [(self._branch_mask(n, form), k) if k == b.UOP_BRANCH else (m, k) for m, k in uops]
        uops.sort(key=lambda u: _UOP_ORDER[u[1]])
        return uops

    def _branch_mask(self, n: int, form: Form) -> int:
        """Ports of a conditional jump: a jump on the analysed path is taken only if it is the last instruction."""
        ports = self.model.functions.get("branch_taken" if n == len(self.forms) - 1 else "branch_not_taken")
        if ports and len(form.uops) == 1 and form.uops[0][1] == 1:
            return self._mask(ports)
        return self._mask(form.uops[-1][0]) if form.uops else 0

    # --- values, their inputs and outputs ----------------------------------------------------------------------------

    def _location(self, name: str) -> int:
        return self.locations.setdefault(name, len(self.locations))

    def _read_locations(self, r: Register) -> list[int]:
        """The locations that a read of the register, or part of one, depends on."""
        if r.root in self.split_roots:
            if r.offset == 8:
                return [self._location(r.root + ".high")]
            if r.width > 8:
                return [self._location(r.root), self._location(r.root + ".high")]
        return [self._location(r.root)]

    def _written_locations(self, a: RegisterAccess) -> list[int]:
        r = a.register
        if r.root in self.split_roots:
            if r.offset == 8:
                return [self._location(r.root + ".high")]
            if r.width > 8:
                return [self._location(r.root), self._location(r.root + ".high")]
        return [self._location(r.root)]

    def _merges(self, a: RegisterAccess) -> bool:
        """Whether a write to a part of a register waits for the register's old value on this core.

        General-purpose parts do, except bits 8-15 where they are renamed separately. Legacy SSE writes do not while the
        upper halves are clean, which compilers see to (vzeroupper).
        """
        if not a.merges or is_vector(a.register):
            return False
        return not (a.register.offset == 8 and a.register.root in self.split_roots)

    def _load_class(self, i: Instruction, m: MemoryAccess) -> str:
        width = 8 * m.size
        if not any(is_vector(a.register) for a in i.registers):
            return "gpr"
        widest = max(a.register.width for a in i.registers if is_vector(a.register))
        if "simd" in self.parameters["load_latency"]:
            return "sve" if widest > 128 and "sve" in self.parameters["load_latency"] else "simd"
        width = max(width, widest if m.elements > 1 else 0)
        # LLVM has figures of instructions that a core does not have (512 bits of Haswell): as the widest that it has.
        classes = ("zmm", "ymm", "xmm")[0 if width > 256 else 1 if width > 128 else 2 :]
        return next((c for c in classes if c in self.parameters["load_latency"]), "xmm")

    def _renamed(self, i: Instruction, m: MemoryAccess, latencies: _Latencies) -> bool:
        """Whether the renamer hands a value that was just stored on to this load (parameter `memory_renaming`)."""
        rule = self.parameters["memory_renaming"]
        if not rule or not self._keeps_stored(m) or m.size not in ((1, 4, 8) if rule["bytes"] else (4, 8)):
            return False
        if m.store:
            return rule["register_updates"] or not (i.flags_read or any(a.read and not a.address for a in i.registers))
        if rule["computing"]:
            return i.mnemonic not in _SIGN_EXTENDING
        return all(cycles == 0 for (_, source), cycles in latencies.pairs.items() if source == "m")

    def _keeps_stored(self, m: MemoryAccess) -> bool:
        """Whether the address allows that the renamer hands on what is stored there."""
        rule = self.parameters["memory_renaming"]
        return bool(rule) and m.elements == 1 and (rule["indexed"] or m.index is None)

    def _address_inputs(self, m: MemoryAccess, latency: int) -> list[_Input]:
        return [
            (b.INPUT_LOCATION, location, latency)
            for r in (m.base, m.index)
            if r is not None
            for location in self._read_locations(r)
        ]

    def _add_values(self, k: b.BoundKernel, n: int, i: Instruction, form: Form | None, flags: int) -> None:
        latencies = _Latencies(form)
        load_latency = 0
        loads: list[int] = []
        result_latency = 0
        partial = "mask" in i.traits
        if not (flags & b.FUSED_INTO_PREVIOUS):
            for m in i.memory:
                if m.load:
                    c = self._load_class(i, m)
                    cycles = 0
                    if form is not None:
                        cycles = latencies.get("m", "a", _of_class(self.parameters["load_latency"], c))
                        if c == "gpr" and self._chases_pointer(n, m):
                            cycles -= 1
                    load_latency = max(load_latency, cycles)
                    loads.append(len(k.value_kind))
                    forward = -1 if c == "gpr" and self._renamed(i, m, latencies) else _CLASS_OF_NAME[c]
                    self._push_value(k, b.VALUE_LOAD, self._address_inputs(m, cycles), [], m, forward, partial)
            results: dict[tuple[_Input, ...], list[int]] = {}
            if self.sum.what in (FOLDS, PASSES):
                self._add_sum(results, i)
            for to, old, locations in self._results(i) if self.sum.what != FOLDS else ():
                inputs = self._inputs(i, form, flags, latencies, to, old, loads)
                result_latency = max([result_latency, *(x[2] + load_latency * (x[0] == b.INPUT_VALUE) for x in inputs)])
                # Results with the same inputs at the same latencies (a sum and its flags) are one value.
                results.setdefault(tuple(inputs), []).extend(locations)
            for shared, locations in results.items():
                self._push_value(k, b.VALUE_REGISTER, list(shared), locations, None, 0)
            if i.branch == "conditional" and (tested := self._inputs(i, form, flags, latencies, "", [], loads)):
                # Nothing depends on a jump, but the timeline must not let it go before its flags are there.
                self._push_value(k, b.VALUE_REGISTER, tested, [], None, 0)
            for m in i.memory:
                if m.store:
                    inputs = self._inputs(i, form, flags, latencies, "M", [], loads)
                    inputs += self._address_inputs(m, 0)
                    c = self._load_class(i, m)
                    kept = -1 if c == "gpr" and self._keeps_stored(m) else _CLASS_OF_NAME[c]
                    self._push_value(k, b.VALUE_STORE, inputs, [], m, kept, partial)
        k.value_start.append(len(k.value_kind))
        k.load_latency.append(load_latency)
        k.latency.append(max(result_latency, load_latency, latencies.longest if form and i.memory and not loads else 0))

    def _add_sum(self, results: dict[tuple[_Input, ...], list[int]], i: Instruction) -> None:
        """The results of an addition that the renamer does; of a move only the sum that was made up before it."""
        assert i.affine is not None
        target, source = i.affine.target, i.affine.terms[0][0]
        made = [self._location(target + MADE_UP)] if self.sum.made else []
        if self.sum.what == PASSES:
            if made:
                results[(b.INPUT_LOCATION, self._location(source + MADE_UP), 0),] = made
            return
        results[(b.INPUT_LOCATION, self._location(source), 0),] = [self._location(target)]
        made += [
            self._location(_FLAG_LOCATION[group])
            for group, letters in (("C", "C"), ("SPAZO", "SPAZO"))
            if any(f in i.flags_written for f in letters)
        ]
        if made:
            results[(b.INPUT_LOCATION, self._location(source), 1),] = made

    def _results(self, i: Instruction) -> list[tuple[str, list[int], list[int]]]:
        """(name in latency pairs, locations of the old value that flow in, locations written) of each result."""
        results = []
        for a in i.registers:
            if a.write:
                old = self._read_locations(a.register) if self._merges(a) else []
                results.append((_operand_name(a), old, self._written_locations(a)))
        for group, letters in (("C", "C"), ("SPAZO", "SPAZO")):
            if any(f in i.flags_written for f in letters):
                results.append((group, [], [self._location(_FLAG_LOCATION[group])]))
        return results

    def _inputs(
        self,
        i: Instruction,
        form: Form | None,
        flags: int,
        latencies: _Latencies,
        to: str,
        old: list[int],
        loads: list[int],
    ) -> list[_Input]:
        """The inputs of one result with their latencies; the longest where two name the same location."""
        breaks = form is not None and form.breaks_dependency
        if breaks and not i.flags_read:
            return []
        stack = self.parameters["stack_engine"]
        if to == stack and any(m.operand is None and m.base is not None and m.base.root == stack for m in i.memory):
            # push, pop, call and ret: the renamer keeps an offset to rsp, so the next one need not wait.
            return [(b.INPUT_LOCATION, self._location(stack), 0)]
        inputs: dict[tuple[int, int], int] = {}

        def add(kind: int, number: int, cycles: int) -> None:
            inputs[kind, number] = max(cycles, inputs.get((kind, number), 0))

        for a in () if breaks else i.registers:
            if a.read and not a.address:
                cycles = latencies.between(to, _operand_name(a))
                if a.register.root in self.sum.reads:
                    add(b.INPUT_LOCATION, self._location(a.register.root + MADE_UP), cycles + self.sum.late)
                    continue
                if self.sum.what == EXECUTES:
                    cycles = max(cycles, 1)
                for location in self._read_locations(a.register):
                    add(b.INPUT_LOCATION, location, cycles)
            elif a.read and a.address and (latencies.has_address(to) or self.sum.what == EXECUTES) and not loads:
                cycles = max(latencies.between(to, "a"), int(self.sum.what == EXECUTES))
                for location in self._read_locations(a.register):
                    add(b.INPUT_LOCATION, location, cycles)
        for group in ("C", "SPAZO"):
            if any(f in i.flags_read for f in group) and latencies.needs_flags(to, group):
                cycles = latencies.between(to, group)
                # Nothing is computed in no time: a register at that distance from flags was measured not to need them
                # (shifts by cl, of which one µop shifts and another one chooses between old and new flags).
                if cycles or form is None or not form.uops:
                    add(b.INPUT_LOCATION, self._location(_FLAG_LOCATION[group]), cycles)
        for location in old:
            add(b.INPUT_LOCATION, location, latencies.between(to, to))
        from_memory = latencies.between(to, "m")
        if self._forwarding(form, flags)[1]:
            # Measured by a chain that goes on with something else.
            to_this = [cycles for (t, source), cycles in latencies.pairs.items() if t == to and source != "m"]
            from_memory = min(from_memory, max(to_this, default=from_memory))
        for value in loads:
            add(b.INPUT_VALUE, value, from_memory)
        return [(kind, number, cycles) for (kind, number), cycles in inputs.items()]

    def _chases_pointer(self, n: int, m: MemoryAccess) -> bool:
        """Loads take one cycle less when the base register was itself just loaded by a plain move or pop.

        No index, displacement of 0 to 2047 (Intel's optimization manual, “4-cycle load latency”; Sandy Bridge to Rocket
        Lake).
        """
        if not self.may_chase or m.base is None or m.index is not None:
            return False
        if not 0 <= m.displacement < 2048:
            return False
        j = self._last_writer(m.base.root, n)
        if j < 0:
            return False
        writer, form = self.kernel.instructions[j], self.forms[j]
        loads = [x for x in writer.memory if x.load]
        written = [a for a in writer.registers if a.write and a.register.root == m.base.root]
        return (
            form is not None
            and len(loads) == 1
            and loads[0].size == 8
            and not any(x.store for x in writer.memory)
            and all(a.register.width == 64 for a in written)
            and sum(count for _, count in form.uops) == 1
        )

    def _last_writer(self, root: str, n: int) -> int:
        """The instruction that wrote a register last before the n-th, in this iteration or the one before it, -1 if
        none does."""
        if self.writers is None:
            self.writers = {}
            for j, facts in enumerate(self.facts):
                for written in facts.written:
                    self.writers.setdefault(written, []).append(j)
        writers = self.writers.get(root)
        return -1 if not writers else writers[bisect_left(writers, n) - 1]

    def _push_value(
        self,
        k: b.BoundKernel,
        kind: int,
        inputs: list[_Input],
        locations: list[int],
        memory: MemoryAccess | None,
        memory_class: int,
        partial: bool = False,
    ) -> None:
        k.value_kind.append(kind)
        for input_kind, number, cycles in inputs:
            k.input_kind.append(input_kind)
            k.input_id.append(number)
            k.input_latency.append(cycles)
        k.input_start.append(len(k.input_id))
        k.output_location += locations
        k.output_start.append(len(k.output_location))
        if memory is None:
            k.memory_of_value.append(-1)
            return
        k.memory_of_value.append(len(k.memory_base))
        k.memory_base.append(-1 if memory.base is None else self._location(memory.base.root))
        k.memory_index.append(-1 if memory.index is None else self._location(memory.index.root))
        k.memory_scale.append(memory.scale)
        k.memory_displacement.append(memory.displacement)
        k.memory_size.append(memory.size)
        symbol = memory.symbol or memory.segment
        k.memory_symbol.append(self.symbols.setdefault(symbol, len(self.symbols)) if symbol else -1)
        k.memory_class.append(memory_class)
        k.memory_elements.append(memory.elements)
        k.memory_partial.append(int(partial))

    def _add_affine(self, k: b.BoundKernel, i: Instruction) -> None:
        if i.affine is not None:
            k.affine_target.append(self._location(i.affine.target) if i.affine.target else -1)
            k.affine_constant.append(i.affine.constant)
            for root, coefficient in i.affine.terms:
                k.affine_term_location.append(self._location(root))
                k.affine_term_coefficient.append(coefficient)
            k.affine_term_start.append(len(k.affine_term_location))
        k.affine_start.append(len(k.affine_target))

    def _add_entry(self, k: b.BoundKernel) -> None:
        """What the kernel's registers hold at its start, as far as the frontend found out."""
        k.entry_location, k.entry_constant, k.entry_term_start = [], [], [0]
        k.entry_term_unknown, k.entry_term_coefficient = [], []
        locations = {name: number for number, name in enumerate(k.location_names)}
        unknowns: dict[str, int] = {}
        for entry in self.kernel.entry:
            if entry.target not in locations:
                continue
            k.entry_location.append(locations[entry.target])
            k.entry_constant.append(entry.constant)
            for unknown, coefficient in entry.terms:
                k.entry_term_unknown.append(unknowns.setdefault(unknown, len(unknowns)))
                k.entry_term_coefficient.append(coefficient)
            k.entry_term_start.append(len(k.entry_term_unknown))


class _Latencies:
    """The latency pairs of a form, with what to assume for a pair that the data do not give."""

    __slots__ = ("known", "longest", "pairs")

    def __init__(self, form: Form | None) -> None:
        self.known = form is not None
        self.pairs: dict[tuple[str, str], int] = {}
        if form is not None:
            for to, source, cycles in form.latency:
                self.pairs[to, source] = max(cycles, self.pairs.get((to, source), 0))
        # Without any figure, one cycle: no execution port is faster.
        executes = form is not None and not self.pairs and any(count for _, count in form.uops)
        self.longest = max((c for (to, _), c in self.pairs.items() if to != "m"), default=int(executes))

    def get(self, to: str, source: str, default: int) -> int:
        return self.pairs.get((to, source), default)

    def needs_flags(self, to: str, group: str) -> bool:
        """Whether a register waits for flags that may stay as they are: shifts by cl do so on some cores only.

        A figure says so; without any figures for the register it is assumed.
        """
        register = to not in ("", "M", *_FLAG_LOCATION)
        return (to, group) in self.pairs or not register or not any(t == to for t, _ in self.pairs)

    def has_address(self, to: str) -> bool:
        """Whether addresses are plain inputs of this result (lea)."""
        return (to, "a") in self.pairs

    def between(self, to: str, source: str) -> int:
        """Cycles from `source` to `to`; for a pair without figure the longest to that result, else the longest of all.

        Stored data without figure are ready at once: the µop that stores them does not compute. An instruction that is
        not in the model passes its inputs on in no time.
        """
        if not self.known:
            return 0
        cycles = self.pairs.get((to, source))
        if cycles is not None:
            return cycles
        if to == "M":
            return max((c for (t, _), c in self.pairs.items() if t == "M"), default=0)
        return max((c for (t, _), c in self.pairs.items() if t == to), default=self.longest)


_MOST_COLUMNS = 64
_SIGN_EXTENDING = ("movsx", "movsxd")
"""Loads of which the renamer has no register to hand on."""
_CLASS_OF_NAME = {"gpr": 0, "xmm": 128, "ymm": 256, "zmm": 512, "simd": 128, "sve": 2048}
_FLAG_LOCATION = {"C": "flag C", "SPAZO": "flags SPAZO"}
_UOP_ORDER = {b.UOP_LOAD: 0, b.UOP_COMPUTE: 1, b.UOP_BRANCH: 2, b.UOP_STORE_ADDRESS: 3, b.UOP_STORE_DATA: 4}


def _operand_name(a: RegisterAccess) -> str:
    """The name of a register access in latency pairs (models.model.Form.latency)."""
    if a.operand is None:
        return a.register.root
    return "k" if a.operand < 0 else str(a.operand)


def _of_class(latencies: Mapping[str, int], kind: str) -> int:
    """The latency of loads to registers of a kind; of one that the model lacks that of the slowest."""
    return latencies[kind] if kind in latencies else max(latencies.values())
