"""Binding: a decoded kernel and a machine model become the flat arrays of `models.binding.bound`.

Everything that depends on both is decided here: the form of each instruction, its µops, the register parts and flags
that are renamed together, fusion, elimination and idioms, and the latency from each input to each result.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from typing import Any

from incc.frontends.kernel import Instruction, KernelCode, MemoryAccess, Register, RegisterAccess
from incc.models.binding import bound as b
from incc.models.binding.merging import without_zero_elements
from incc.models.binding.pieces import (
    BoundPiece,
    PieceShape,
    RegisterFacts,
    WholeKernel,
    cache_for,
    has_complex_address,
    is_vector,
    join,
    register_facts,
    shape_key,
)
from incc.models.binding.pipeline import CODE_LINE, bind_pipeline, pipeline_facts
from incc.models.binding.renamer import (
    COMPUTED_SUM,
    EXECUTES,
    FOLDS,
    NO_SUM,
    PASSES,
    find_fused_moves,
    find_sums,
    rule_sides,
    with_fused_prefixes,
)
from incc.models.model import MOST_SLOTS, Form, MachineModel
from incc.models.patterns import matches, port_delay_rules, port_delays_of

_Input = tuple[int, int, int, int]
"""An input of a value: (kind, id, latency, cycles by which it is shorter from other accumulators)."""


def bind(kernel: KernelCode, model: MachineModel) -> tuple[b.BoundKernel, tuple[Form | None, ...]]:
    """Return a kernel's arrays, and the form of each instruction (None if it is not in the model).

    Raises:
        ValueError: Kernel and model are for different instruction sets.
    """
    if kernel.isa != model.isa:
        raise ValueError(
            f"kernel {kernel.name} is {kernel.isa} code, but {model.name} is a model of an {model.isa} core"
        )
    if patterns := model.parameters["skips_zero_elements"]:
        kernel = without_zero_elements(kernel, patterns)
    facts = [register_facts(i) for i in kernel.instructions]
    wide = model.parameters["wide_vectors"]
    if wide and max([f.vector_bits for f in facts], default=0) >= wide["width"]:
        forms = tuple([_form(model, i.form, i.traits | _WIDE) for i in kernel.instructions])
    else:
        wide, forms = {}, tuple([_form(model, i.form, i.traits) for i in kernel.instructions])
    forms = with_fused_prefixes(kernel, forms, model)
    return _Binder(kernel, model, forms, facts, wide).run(), forms


def _form(model: MachineModel, name: str, traits: frozenset[str]) -> Form | None:
    form = model.lookup(name, traits)
    return form if form is None or form.retire_slots <= MOST_SLOTS else None


_WIDE = frozenset(["wide"])
"""The condition of figures that hold while the widest vectors are in flight (parameter `wide_vectors`)."""


class _Binder:
    """The state of one binding."""

    def __init__(
        self,
        kernel: KernelCode,
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
        self.writers: dict[str, list[int]] | None = None
        """The instructions that write each register, once a writer is needed."""
        self.fused = self._macro_fused()
        # Bits 8-15 of rax … rdx are a location of their own only if the kernel names one of them.
        split_roots: set[str] = set()
        if self.parameters["high8_renamed_separately"]:
            split_roots.update(*[f.high for f in self.facts if f.high])
        self.split_roots = frozenset(split_roots)
        self.closed = self.mask(wide["closes"]) if wide else 0
        self.closed_instead = self.mask(wide["instead"]) if wide else 0
        self.may_chase = bool(self.parameters["fast_pointer_chasing"])
        self.sums = find_sums(kernel, forms, self.fused, model)
        self.sum = NO_SUM
        self.fused_moves = find_fused_moves(kernel, forms, self.fused, model)
        self.cache = cache_for(model, self.split_roots, self.closed, self.closed_instead)

    # --- the parts ---------------------------------------------------------------------------------------------------

    def run(self) -> b.BoundKernel:
        instructions = self.kernel.instructions
        pieces = [self._piece(n, i, form) for n, (i, form) in enumerate(zip(instructions, self.forms, strict=True))]
        whole = WholeKernel(self.kernel, self.model, pieces, self.cache) if self._is_cacheable(pieces) else None
        k = None if whole is None else whole.find()
        if k is None or whole is None:
            k = self._join(pieces)
            if whole is not None:
                whole.keep(k)
        if self.kernel.entry:
            self._add_entry(k)
        return k

    def _is_cacheable(self, pieces: list[BoundPiece]) -> bool:
        """Return True if other kernels with these pieces have the same arrays.

        Kernels with columns of their own, or with parts of registers renamed separately, are not cached.
        """
        return bool(pieces) and not self.split_roots and all(piece.number >= 0 for piece in pieces)

    def _join(self, pieces: list[BoundPiece]) -> b.BoundKernel:
        """Return the kernel of these pieces, without the values of registers at its start."""
        k = b.BoundKernel()
        k.is_loop = self.kernel.is_loop
        if pieces:
            self.locations = join(k, pieces, self.cache)
        else:
            _init_arrays(k)
        k.location_names = list(self.locations)
        facts = [piece.facts for piece in pieces if piece.facts is not None]
        k.pipeline = bind_pipeline(
            self.kernel, self.model, self.forms, facts, k, self.mask, self.location, self.split_roots
        )
        k.entry_location, k.entry_constant, k.entry_term_start = [], [], [0]
        k.entry_term_unknown, k.entry_term_coefficient = [], []
        k.location_names = list(self.locations)
        k.port_names = list(self.port_names)
        k.n_ports = len(self.model.ports)
        self._set_parameters(k)
        return k

    def _piece(self, n: int, i: Instruction, form: Form | None) -> BoundPiece:
        """Return an instruction's part of the kernel: from the cache, or made and cached."""
        fused = n in self.fused
        fuses_with = self.forms[n + 1] if n + 1 in self.fused else None
        last = n == len(self.forms) - (2 if fuses_with is not None else 1) if fuses_with or i.branch else False
        chases: tuple[bool, ...] = ()
        if i.memory and self.may_chase:
            chases = tuple([self.chases_pointer(n, m) for m in i.memory if m.load])
        self.sum = self.sums[n] if self.sums else NO_SUM
        fused_move = n in self.fused_moves
        neighbours = fused, None if fuses_with is None else fuses_with.key, last, chases, self.sum, fused_move
        key = i.encoding, neighbours
        piece = self.cache.pieces.get(key)
        if piece is not None and piece.fits(i, form):
            return piece
        rest, roots = shape_key(i, self.split_roots)
        context = id(form), neighbours, rest
        shape = self.cache.shapes.get(context)
        # Columns that the kernel added have other numbers in another kernel.
        keep = True
        if shape is None or shape.form is not form:
            shape = self._shape(n, i, form, roots)
            own = len(self.model.ports) + len(self.model.resources)
            keep = not any(mask >> own for mask in shape.plain[0])
            if keep:
                self.cache.shapes[context] = shape
        piece = BoundPiece(i, shape, roots, pipeline_facts(i, shape, self.model, self.mask))
        if keep and i.encoding:
            self.cache.keep(key, piece)
        return piece

    def _shape(self, n: int, i: Instruction, form: Form | None, roots: dict[str, int]) -> PieceShape:
        self.locations, self.symbols = {}, {}
        k = b.BoundKernel()
        _init_arrays(k)
        flags = self._flags(n, i, form)
        self._add_uops(k, n, i, form, flags)
        has_slots = form is not None and not flags & b.FUSED_INTO_PREVIOUS and n not in self.fused_moves
        slots = form.retire_slots if form is not None and has_slots else 0
        k.issue_slots.append(slots)
        k.retire_slots.append(slots)
        k.instruction_flags.append(flags)
        group, delay = self.forwarding(form, flags)
        k.forward_group.append(group)
        k.forward_delay.append(delay)
        delays_from = delays_to = 0
        if form is not None and not flags & (b.FUSED_INTO_PREVIOUS | b.NO_EXECUTION):
            cache = self.model.caches.setdefault("port delays", {})
            delays_from, delays_to = port_delays_of(form.key, self.parameters["port_delays"], cache)
        k.delays_from.append(delays_from)
        k.delays_to.append(delays_to)
        k.early_for.append(sum(1 << n for n in rule_sides(form, "late_accumulators", self.model).second))
        _ValueBuilder(self, k, n, i, form, flags).add_values()
        self._add_affine(k, i)
        return PieceShape(form, k, self.locations, self.symbols, roots)

    def _set_parameters(self, k: b.BoundKernel) -> None:
        """Set the attributes that all kernels on a core have in common."""
        parameters: list[tuple[str, Any]] | None = self.model.caches.get("bound parameters")
        if parameters is None:
            core = self._core_parameters()
            parameters = [(name, getattr(core, name)) for name in core.__slots__ if hasattr(core, name)]
            self.model.caches["bound parameters"] = parameters
        for name, value in parameters:
            setattr(k, name, value)

    def _core_parameters(self) -> b.BoundKernel:
        p = self.parameters
        k = b.BoundKernel()
        for name in b.KERNEL_DEFAULTS:
            if name in p:
                setattr(k, name, int(p[name]))
        # The distance from issue to execution is the same for every µop; it only shifts a timeline to the right.
        k.issue_to_execute = 1
        forward = p["store_forward"]
        k.forward_class = [_CLASS_OF_NAME[c] for c in forward]
        k.forward_cycles = list(forward.values())
        rules = port_delay_rules(p["port_delays"])
        k.port_delay_from = [self.mask(rule.from_ports) for rule in rules]
        k.port_delay_to = [self.mask(rule.to_ports) for rule in rules]
        k.port_delay_cycles = [rule.cycles for rule in rules]
        k.line_places = k.alias_places = 0
        k.aligned_value = []
        k.assumed_load, k.assumed_store, k.assumed_distance = [], [], []
        return k

    # --- instructions ------------------------------------------------------------------------------------------------

    def _macro_fused(self) -> set[int]:
        """Return the indices of conditional jumps that are fused into the instruction before them.

        With `macro_fusion`, a jump at the start of a 64-byte line is not fused: the decoders do not see both
        instructions at once there (Abel and Reineke, uiCA).
        """
        fused = set()
        instructions = self.kernel.instructions
        origin = self.kernel.alignment - (instructions[0].offset if instructions else 0)
        for n in range(1, len(instructions)):
            first, jump = self.forms[n - 1], self.forms[n]
            if instructions[n].branch != "conditional" or first is None or jump is None:
                continue
            if first.fusion:
                in_line = (origin + instructions[n].offset) % CODE_LINE != 0
                fuses = in_line and self.model.fuses(first, instructions[n].mnemonic)
            else:
                sides = [rule_sides(form, "jump_fusion", self.model) for form in (first, jump)]
                fuses = bool(sides[0].first & sides[1].second)
            if fuses:
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
        if self.sum.role == FOLDS:
            flags |= b.FOLDED | (0 if self.sum.computed else b.NO_EXECUTION)
        elif not form.uops and self.sum.role != EXECUTES:
            flags |= b.NO_EXECUTION
            if i.move:
                flags |= b.ELIMINATED
        if form.breaks_dependency:
            flags |= b.ZEROED
        return flags

    def forwarding(self, form: Form | None, flags: int) -> tuple[int, int]:
        """Return an instruction's group in `forward_delays`, -1 for none, and the delay of its results to others."""
        groups = self.parameters["forward_delays"]
        if not groups or form is None or flags & (b.FUSED_INTO_PREVIOUS | b.NO_EXECUTION):
            return -1, 0
        cache: dict[str, tuple[int, int]] = self.model.caches.setdefault("forwarding", {})
        group = cache.get(form.key)
        if group is None:
            group = -1, 0
            for number, (patterns, cycles) in enumerate(groups.items()):
                if matches(form.key, patterns):
                    group = number, cycles
            cache[form.key] = group
        return group

    # --- µops --------------------------------------------------------------------------------------------------------

    def mask(self, ports: str) -> int:
        """Return the bits of a port set."""
        mask = self.masks.get(ports)
        if mask is None:
            mask = 0
            for port in ports.split(","):
                mask |= 1 << self.port_number[port]
            self.masks[ports] = mask
        return mask

    def _resource_mask(self, name: str) -> int:
        """Return the mask of an exclusive resource, which gets a column when it is first used.

        The core takes 64 columns: kernels with more kinds of serialising instructions share the last one.
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
        """Add the cycles for which an instruction holds a unit that is not pipelined."""
        measured = round(form.throughput) if form.throughput else 0
        if form.divider:
            unit = form.attributes.get("unit") or (self.model.resources[0] if self.model.resources else "DV")
            mask, cycles = self._resource_mask(unit), max(form.divider, measured)
        elif measured > 1:
            # The units that locked, serialising and microcoded instructions hold are unknown: each form has its own.
            mask, cycles = self._resource_mask("TP " + form.key.split("/")[0].lower()), measured
        else:
            return
        k.uop_ports.append(mask)
        k.uop_cycles.append(cycles)
        k.uop_kind.append(b.UOP_COMPUTE)

    def _uops(self, n: int, i: Instruction, form: Form, fused_branch: Form | None) -> list[tuple[int, int]]:
        """Return (port mask, kind) of each µop: loads first, then computations and branches, then stores."""
        if self.sum.role == FOLDS and not self.sum.computed:
            return []
        if self.sum.role in (FOLDS, EXECUTES) and fused_branch is None:
            return [(self.mask(self.sum.ports or self.parameters["renamer_ports"]), b.UOP_COMPUTE)]
        uops = self._uops_by_kind(i, form)
        if self.closed and any(is_vector(a.register) for a in i.registers):
            uops = [
                ((mask & ~self.closed) or self.closed_instead, kind) if kind == b.UOP_COMPUTE else (mask, kind)
                for mask, kind in uops
            ]
        if fused_branch is not None:
            uops = self._with_fused_jump(uops, n + 1, fused_branch)
        elif i.branch == "conditional":
            uops = [(self._branch_mask(n, form), k) if k == b.UOP_BRANCH else (m, k) for m, k in uops]
        uops.sort(key=lambda u: _UOP_ORDER[u[1]])
        return uops

    def _uops_by_kind(self, i: Instruction, form: Form) -> list[tuple[int, int]]:
        """Return (port mask, kind) of a form's µops; ports and memory operands tell the kinds."""
        functions = self.model.functions
        load = self._ports_within({ports for name, ports in functions.items() if name.startswith("load")}, form)
        address = {functions.get("store_address", ""), functions.get("store_address_indexed", "")} - {""}
        data = self._ports_within({functions.get("store_data", "")} - {""}, form)
        loads_left = self._load_uops(i, form, load)
        stores = any(m.store for m in i.memory)
        uops: list[tuple[int, int]] = []
        for ports, count in form.uops:
            mask = self.mask(ports)
            for _ in range(count):
                if ports in load and loads_left:
                    loads_left -= 1
                    kind = b.UOP_LOAD
                elif stores and ports in data:
                    kind = b.UOP_STORE_DATA
                elif stores and ports in address:
                    kind = b.UOP_STORE_ADDRESS
                elif i.branch:
                    kind = b.UOP_BRANCH
                else:
                    kind = b.UOP_COMPUTE
                uops.append((mask, kind))
        return uops

    def _ports_within(self, sets: set[str], form: Form) -> set[str]:
        """Return the sets of ports of a form's µops that are in `sets`, or else those that are part of one there."""
        used = {ports for ports, _ in form.uops}
        return used & sets or {ports for ports in used for whole in sets if not self.mask(ports) & ~self.mask(whole)}

    def _load_uops(self, i: Instruction, form: Form, load: set[str]) -> int:
        """Return the number of µops that load, of those on the ports `load`."""
        # An access that is wider than the core's takes several µops.
        widest = self.parameters["memory_bits"] or 1 << 16
        loads = sum(m.elements * max(1, -(-8 * m.size // widest)) for m in i.memory if m.load)
        from_load = [cycles for (_, source), cycles in _Latencies(form).pairs.items() if source == "m"]
        if from_load and not any(from_load) and not any(m.store for m in i.memory):
            # Nothing is computed from what is loaded, so all µops on these ports load, such as those of a pair.
            loads = max(loads, sum(count for ports, count in form.uops if ports in load))
        return loads

    def _with_fused_jump(self, uops: list[tuple[int, int]], n: int, form: Form) -> list[tuple[int, int]]:
        """Return the µops of an instruction that is fused with the n-th, a jump.

        The pair is one µop on the jump's port, in place of the instruction's last computation or in addition to it.
        """
        functions = self.model.functions
        compute = [u for u in uops if u[1] == b.UOP_COMPUTE]
        kept = compute if self.parameters["fused_jump_computes"] else compute[:-1]
        jump = [(self._branch_mask(n, form), b.UOP_BRANCH)]
        if "fused_jump" in functions:
            # These ports do both; the port of the jump only counts jumps that are taken.
            kept = [*compute[:-1], (self.mask(functions["fused_jump"]), b.UOP_COMPUTE)]
            jump = jump if n == len(self.forms) - 1 else []
        return [u for u in uops if u[1] != b.UOP_COMPUTE] + kept + jump

    def _branch_mask(self, n: int, form: Form) -> int:
        """Return the ports of a conditional jump; on the analysed path, only a jump at the end is taken."""
        ports = self.model.functions.get("branch_taken" if n == len(self.forms) - 1 else "branch_not_taken")
        if ports and len(form.uops) == 1 and form.uops[0][1] == 1:
            return self.mask(ports)
        return self.mask(form.uops[-1][0]) if form.uops else 0

    # --- locations ---------------------------------------------------------------------------------------------------

    def location(self, name: str) -> int:
        """Return the number of a location, which is added when it is first used."""
        return self.locations.setdefault(name, len(self.locations))

    def locations_of(self, r: Register) -> list[int]:
        """Return the locations of a register, or of the named part of one."""
        if r.root in self.split_roots:
            if r.offset == 8:
                return [self.location(r.root + ".high")]
            if r.width > 8:
                return [self.location(r.root), self.location(r.root + ".high")]
        return [self.location(r.root)]

    def merges(self, a: RegisterAccess) -> bool:
        """Return True if a write to a part of a register waits for the register's old value on this core.

        Writes to parts of general-purpose registers do, except to bits 8-15 where these are renamed separately. Legacy
        SSE writes do not while the upper halves are clean, which compilers ensure (vzeroupper).
        """
        if not a.merges or is_vector(a.register):
            return False
        return not (a.register.offset == 8 and a.register.root in self.split_roots)

    # --- memory ------------------------------------------------------------------------------------------------------

    def load_class(self, i: Instruction, m: MemoryAccess) -> str:
        """Return the class of an access in the parameters `load_latency` and `store_forward`."""
        width = 8 * m.size
        if not any(is_vector(a.register) for a in i.registers):
            return "gpr"
        widest = max(a.register.width for a in i.registers if is_vector(a.register))
        if "simd" in self.parameters["load_latency"]:
            return "sve" if widest > 128 and "sve" in self.parameters["load_latency"] else "simd"
        width = max(width, widest if m.elements > 1 else 0)
        # LLVM has figures for instructions that a core lacks (512 bits on Haswell): use the core's widest class.
        classes = ("zmm", "ymm", "xmm")[0 if width > 256 else 1 if width > 128 else 2 :]
        return next((c for c in classes if c in self.parameters["load_latency"]), "xmm")

    def is_renamed(self, i: Instruction, form: Form | None, m: MemoryAccess, latencies: _Latencies) -> bool:
        """Return True if the renamer hands a stored value on to this load (parameter `memory_renaming`)."""
        rule = self.parameters["memory_renaming"]
        narrow = self.parameters["renames_narrow"] and m.size in (1, 2) and i.mnemonic not in _EXTENDING
        sizes = (1, 4, 8) if rule and rule["bytes"] else (4, 8)
        if not rule or not self.keeps_stored(m) or not (narrow or m.size in sizes):
            return False
        if m.store:
            return rule["register_updates"] or not (i.flags_read or any(a.read and not a.address for a in i.registers))
        if rule["computing"]:
            return i.mnemonic not in _SIGN_EXTENDING
        # The load may also have an issue slot of its own.
        if form is not None and form.retire_slots == sum(count for _, count in form.uops) > 1:
            return True
        return all(cycles == 0 for (_, source), cycles in latencies.pairs.items() if source == "m")

    def keeps_stored(self, m: MemoryAccess) -> bool:
        """Return True if the address allows the renamer to hand on the stored value."""
        rule = self.parameters["memory_renaming"]
        return bool(rule) and m.elements == 1 and (rule["indexed"] or m.index is None)

    def chases_pointer(self, n: int, m: MemoryAccess) -> bool:
        """Return True if a load takes one cycle less, because its base register was just loaded by a move or pop.

        This needs an address without index and a displacement of 0 to 2047 (Intel's optimization manual, “4-cycle load
        latency”; Sandy Bridge to Rocket Lake).
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
        """Return the last instruction before the n-th that writes a register, or -1.

        It may belong to the previous iteration.
        """
        if self.writers is None:
            self.writers = {}
            for j, facts in enumerate(self.facts):
                for written in facts.written:
                    self.writers.setdefault(written, []).append(j)
        writers = self.writers.get(root)
        return -1 if not writers else writers[bisect_left(writers, n) - 1]

    # --- values of registers -----------------------------------------------------------------------------------------

    def _add_affine(self, k: b.BoundKernel, i: Instruction) -> None:
        if i.affine is not None:
            k.affine_target.append(self.location(i.affine.target) if i.affine.target else -1)
            k.affine_constant.append(i.affine.constant)
            for root, coefficient in i.affine.terms:
                k.affine_term_location.append(self.location(root))
                k.affine_term_coefficient.append(coefficient)
            k.affine_term_start.append(len(k.affine_term_location))
        k.affine_start.append(len(k.affine_target))

    def _add_entry(self, k: b.BoundKernel) -> None:
        """Add the values of registers at the kernel's start that the front end worked out."""
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


class _ValueBuilder:
    """Adds an instruction's values with their inputs and outputs: loads, then results, then stores."""

    def __init__(
        self, binder: _Binder, k: b.BoundKernel, n: int, i: Instruction, form: Form | None, flags: int
    ) -> None:
        self.binder = binder
        self.k = k
        self.n = n
        self.i = i
        self.form = form
        self.flags = flags
        self.sum = binder.sum
        self.latencies = _Latencies(form)
        rules = rule_sides(form, "late_accumulators", binder.model).first
        self.accumulates = min(rules, default=-1)
        """The rule in `late_accumulators` that the form matches, -1 for none."""
        self.loads: list[int] = []
        """Numbers of the loaded values."""
        self.partial = "mask" in i.traits

    def add_values(self) -> None:
        k, i = self.k, self.i
        load_latency = result_latency = 0
        if not (self.flags & b.FUSED_INTO_PREVIOUS):
            load_latency = self._add_loads()
            result_latency = self._add_results(load_latency)
            self._add_stores()
        k.value_start.append(len(k.value_kind))
        k.load_latency.append(load_latency)
        computes_stored = self.form and i.memory and not self.loads
        k.latency.append(max(result_latency, load_latency, self.latencies.longest if computes_stored else 0))

    def _add_loads(self) -> int:
        """Add the loaded values, and return their longest latency."""
        binder, latencies = self.binder, self.latencies
        longest = 0
        for m in self.i.memory:
            if not m.load:
                continue
            c = binder.load_class(self.i, m)
            cycles = 0
            if self.form is not None:
                cycles = latencies.get("m", _ADDRESS, _of_class(binder.parameters["load_latency"], c))
                if c == "gpr" and binder.chases_pointer(self.n, m):
                    cycles -= 1
                if has_complex_address(m):
                    cycles += binder.parameters["complex_address_cycles"]
            longest = max(longest, cycles)
            self.loads.append(len(self.k.value_kind))
            forward = -1 if c == "gpr" and binder.is_renamed(self.i, self.form, m, latencies) else _CLASS_OF_NAME[c]
            self._push(b.VALUE_LOAD, self._address_inputs(m, cycles), [], m, forward)
        return longest

    def _add_results(self, load_latency: int) -> int:
        """Add the results in registers and flags, and return the longest latency to one of them."""
        i = self.i
        longest = 0
        results: dict[tuple[_Input, ...], list[int]] = {}
        if self.sum.role in (FOLDS, PASSES):
            self._add_sum(results)
        for to, old, locations in self._results() if self.sum.role != FOLDS else ():
            inputs = self._inputs(to, old)
            longest = max([longest, *(x[2] + load_latency * (x[0] == b.INPUT_VALUE) for x in inputs)])
            # Results with the same inputs at the same latencies (a sum and its flags) are one value.
            results.setdefault(tuple(inputs), []).extend(locations)
        for shared, locations in results.items():
            self._push(b.VALUE_REGISTER, list(shared), locations)
        if i.branch == "conditional" and (tested := self._inputs("", [])):
            # Nothing depends on a jump, but the timeline must not let it start before its flags are ready.
            self._push(b.VALUE_REGISTER, tested, [])
        return longest

    def _add_stores(self) -> None:
        binder = self.binder
        for m in self.i.memory:
            if m.store:
                inputs = self._inputs("M", []) + self._address_inputs(m, 0)
                c = binder.load_class(self.i, m)
                forward = -1 if c == "gpr" and binder.keeps_stored(m) else _CLASS_OF_NAME[c]
                self._push(b.VALUE_STORE, inputs, [], m, forward)

    def _add_sum(self, results: dict[tuple[_Input, ...], list[int]]) -> None:
        """Add the results of a folded addition; for a move, only the sum that was computed before it."""
        i, location = self.i, self.binder.location
        assert i.affine is not None
        target, source = i.affine.target, i.affine.terms[0][0]
        computed = [location(target + COMPUTED_SUM)] if self.sum.computed else []
        if self.sum.role == PASSES:
            if computed:
                results[(b.INPUT_LOCATION, location(source + COMPUTED_SUM), 0, 0),] = computed
            return
        results[(b.INPUT_LOCATION, location(source), 0, 0),] = [location(target)]
        computed += [location(_FLAG_LOCATION[g]) for g in _FLAG_LOCATION if any(f in i.flags_written for f in g)]
        if computed:
            results[(b.INPUT_LOCATION, location(source), 1, 0),] = computed

    def _results(self) -> list[tuple[str, list[int], list[int]]]:
        """Return each result's name in latency pairs, the locations that it merges with, and those that it writes."""
        binder = self.binder
        results = []
        for a in self.i.registers:
            if a.write:
                old = binder.locations_of(a.register) if binder.merges(a) else []
                results.append((_operand_name(a), old, binder.locations_of(a.register)))
        for group, location in _FLAG_LOCATION.items():
            if any(f in self.i.flags_written for f in group):
                results.append((group, [], [binder.location(location)]))
        return results

    def _address_inputs(self, m: MemoryAccess, latency: int) -> list[_Input]:
        return [
            (b.INPUT_LOCATION, location, latency, 0)
            for r in (m.base, m.index)
            if r is not None
            for location in self.binder.locations_of(r)
        ]

    # --- inputs ------------------------------------------------------------------------------------------------------

    def _inputs(self, to: str, old: list[int]) -> list[_Input]:
        """Return the inputs of one result with their latencies; the longest where two name the same location."""
        i, form = self.i, self.form
        if to == _ADDRESS:
            used = [a.register for a in i.registers if a.address]
            cycles = self.latencies.write_back()
            return [(b.INPUT_LOCATION, n, cycles, 0) for r in used for n in self.binder.locations_of(r)]
        breaks = form is not None and form.breaks_dependency
        if breaks and not i.flags_read:
            return []
        stack = self.binder.parameters["stack_engine"]
        if to == stack and any(m.operand is None and m.base is not None and m.base.root == stack for m in i.memory):
            # push, pop, call and ret: the renamer keeps an offset to rsp, so the next one need not wait.
            return [(b.INPUT_LOCATION, self.binder.location(stack), 0, 0)]
        inputs: dict[tuple[int, int], int] = {}

        def add(kind: int, numbers: list[int], cycles: int) -> None:
            for number in numbers:
                inputs[kind, number] = max(cycles, inputs.get((kind, number), 0))

        for a in () if breaks else i.registers:
            if a.read:
                self._add_register_input(a, to, add)
        for group, location in _FLAG_LOCATION.items():
            if any(f in i.flags_read for f in group) and self.latencies.needs_flags(to, group):
                cycles = self.latencies.between(to, group)
                # Nothing is computed in no time: a register at that distance from flags was measured not to need them
                # (shifts by cl, of which one µop shifts and another one chooses between old and new flags).
                if cycles or form is None or not form.uops:
                    add(b.INPUT_LOCATION, [self.binder.location(location)], cycles)
        add(b.INPUT_LOCATION, old, self.latencies.between(to, to))
        add(b.INPUT_VALUE, self.loads, self._from_memory(to))
        early = self._read_late(inputs)
        return [(kind, number, cycles, early.get((kind, number), 0)) for (kind, number), cycles in inputs.items()]

    def _read_late(self, inputs: dict[tuple[int, int], int]) -> dict[tuple[int, int], int]:
        """Give accumulators the full latency, and return by how much it is shorter from other accumulations."""
        if self.accumulates < 0:
            return {}
        full = max(inputs.values(), default=0)
        rule = list(self.binder.parameters["late_accumulators"].values())[self.accumulates]
        early = {(b.INPUT_LOCATION, n): full - rule["cycles"] for n in self._accumulators() if full > rule["cycles"]}
        inputs.update(dict.fromkeys(early, full))
        return early

    def _accumulators(self) -> set[int]:
        """Return the locations that are read as the accumulator and as nothing else."""
        read = [(a.operand, a.register) for a in self.i.registers if a.read and not a.address and a.operand is not None]
        operands = {operand for operand, _ in read}
        accumulator = 0 if 0 in operands else max(operands, default=0)
        locations: dict[bool, set[int]] = {True: set(), False: set()}
        for operand, register in read:
            locations[operand == accumulator].update(self.binder.locations_of(register))
        return locations[True] - locations[False]

    def _add_register_input(self, a: RegisterAccess, to: str, add: Any) -> None:
        binder, latencies = self.binder, self.latencies
        executes = int(self.sum.role == EXECUTES)
        if not a.address:
            cycles = latencies.between(to, _operand_name(a))
            if a.register.root in self.sum.reads:
                location = binder.location(a.register.root + COMPUTED_SUM)
                add(b.INPUT_LOCATION, [location], cycles + self.sum.late)
            else:
                add(b.INPUT_LOCATION, binder.locations_of(a.register), max(cycles, executes))
        elif (latencies.has_address(to) or executes) and not self.loads:
            cycles = max(latencies.between(to, _ADDRESS), executes)
            add(b.INPUT_LOCATION, binder.locations_of(a.register), cycles)

    def _from_memory(self, to: str) -> int:
        cycles = self.latencies.between(to, "m")
        if self.binder.forwarding(self.form, self.flags)[1]:
            # The latency was measured by a chain that continues with another kind of instruction.
            own = [c for (t, source), c in self.latencies.pairs.items() if t == to and source != "m"]
            cycles = min(cycles, max(own, default=cycles))
        return cycles

    def _push(
        self,
        kind: int,
        inputs: list[_Input],
        locations: list[int],
        memory: MemoryAccess | None = None,
        forward: int = 0,
    ) -> None:
        """Add one value. `forward` is the class of a memory access for store forwarding."""
        k, location = self.k, self.binder.location
        k.value_kind.append(kind)
        for input_kind, number, cycles, early in inputs:
            k.input_kind.append(input_kind)
            k.input_id.append(number)
            k.input_latency.append(cycles)
            k.input_rule.append(self.accumulates if early else -1)
            k.input_early.append(early)
        k.input_start.append(len(k.input_id))
        k.output_location += locations
        k.output_start.append(len(k.output_location))
        if memory is None:
            k.memory_of_value.append(-1)
            return
        k.memory_of_value.append(len(k.memory_base))
        k.memory_base.append(-1 if memory.base is None else location(memory.base.root))
        k.memory_index.append(-1 if memory.index is None else location(memory.index.root))
        k.memory_scale.append(memory.scale)
        k.memory_displacement.append(memory.displacement)
        k.memory_size.append(memory.size)
        symbol, symbols = memory.symbol or memory.segment, self.binder.symbols
        k.memory_symbol.append(symbols.setdefault(symbol, len(symbols)) if symbol else -1)
        k.memory_class.append(forward)
        k.memory_elements.append(memory.elements)
        k.memory_partial.append(int(self.partial))


class _Latencies:
    """The latency pairs of a form, with assumptions for pairs that the model does not state."""

    __slots__ = ("in_model", "longest", "pairs")

    def __init__(self, form: Form | None) -> None:
        self.in_model = form is not None
        self.pairs: dict[tuple[str, str], int] = {}
        if form is not None:
            for to, source, cycles in form.latency:
                self.pairs[to, source] = max(cycles, self.pairs.get((to, source), 0))
        # Without any figure, one cycle: no execution port is faster.
        executes = form is not None and not self.pairs and any(count for _, count in form.uops)
        results = [c for (to, _), c in self.pairs.items() if to not in ("m", _ADDRESS)]
        self.longest = max(results, default=int(executes))

    def get(self, to: str, source: str, default: int) -> int:
        return self.pairs.get((to, source), default)

    def needs_flags(self, to: str, group: str) -> bool:
        """Return True if a result waits for flags that may stay as they are: shifts by cl do so on some cores only.

        A latency says so; without any latency to the register it is assumed.
        """
        is_register = to not in ("", "M", *_FLAG_LOCATION)
        return (to, group) in self.pairs or not is_register or not any(t == to for t, _ in self.pairs)

    def write_back(self) -> int:
        """Return the cycles from an address to the one that is written back; one without a figure."""
        return self.get(_ADDRESS, _ADDRESS, int(self.in_model))

    def has_address(self, to: str) -> bool:
        """Return True if address registers are plain inputs of this result (lea)."""
        return (to, _ADDRESS) in self.pairs

    def between(self, to: str, source: str) -> int:
        """Return the cycles from `source` to `to`.

        A pair that is not stated takes the longest latency to that result, else the longest of all. Stored data without
        a latency are ready at once, since the µop that stores them does not compute. An instruction that is not in the
        model passes its inputs on in no time.
        """
        if not self.in_model:
            return 0
        cycles = self.pairs.get((to, source))
        if cycles is not None:
            return cycles
        if to == "M":
            return max((c for (t, _), c in self.pairs.items() if t == "M"), default=0)
        return max((c for (t, _), c in self.pairs.items() if t == to), default=self.longest)


_ADDRESS = "a"
"""The name of address registers in latency pairs."""
_MOST_COLUMNS = 64
_SIGN_EXTENDING = ("movsx", "movsxd")
_EXTENDING = (*_SIGN_EXTENDING, "movzx")
"""Loads that the renamer cannot replace by the stored register, since they extend its value."""
_CLASS_OF_NAME = {"gpr": 0, "xmm": 128, "ymm": 256, "zmm": 512, "simd": 128, "sve": 2048}
_FLAG_LOCATION = {"C": "flag C", "SPAZO": "flags SPAZO"}
_UOP_ORDER = {b.UOP_LOAD: 0, b.UOP_COMPUTE: 1, b.UOP_BRANCH: 2, b.UOP_STORE_ADDRESS: 3, b.UOP_STORE_DATA: 4}


def _init_arrays(k: b.BoundKernel) -> None:
    for name in b.KERNEL_ARRAYS:
        setattr(k, name, [])
    for name in b.KERNEL_STARTS:
        setattr(k, name, [0])


def _operand_name(a: RegisterAccess) -> str:
    """Return the name of a register access in latency pairs (models.model.Form.latency)."""
    if a.operand is None:
        return _ADDRESS if a.address else a.register.root
    return "k" if a.operand < 0 else str(a.operand)


def _of_class(latencies: Mapping[str, int], kind: str) -> int:
    """Return the load latency of a class of registers, the longest of all if the model lacks the class."""
    return latencies[kind] if kind in latencies else max(latencies.values())
