"""Work that the renamer does without a µop: folded sums, and moves fused with the operation after them.

Folded sums: Golden Cove's renamer stores a register of 64 bits as a physical register and a constant of a few bits.
`add $8, %rax`, `inc`, `dec`, `sub` and `lea 8(%rax), %rbx` only change the constant, without a µop and in no time. The
units for simple arithmetic, multiplication and addresses add the constant to what they read. Shifts, moves out of the
register file, stores and readers of flags cannot: a µop computes the sum first, and they read its result. For shifts,
rotates and sign extensions into another register this µop runs on their own ports (measured: with enough independent
shifts, each addition that is shifted takes half a cycle more), for other instructions it does not. If several
instructions read one sum, each has such a µop on the core; the bound kernel has only one. (Where the renamer keeps a
stored value for a later load, it keeps register and constant.) A move of the whole register passes both on; a move of
its lower half needs the sum. An addition that is fused with a jump is a µop of its own and is not folded. The parameter
`sum_folding` has the rule's constants.

In the bound kernel, the register's location holds register and constant. The computed sum is a location of its own
("rax.sum"), which is written only if an instruction reads it. Constants that grow large are not modelled: in a chain of
additions of one constant to one register, an addition takes 0.2 cycles for 16 (the issue slots), 0.3 for 64, 0.35 for
127, 0.4 for 255 and 0.5 for 511 and 1,023, more than predicted; the same additions spread over six registers take no
more than their slots. Some additions must wait for a computed sum then, but no width of the constant explains all of
these times.

Fused moves: Redwood Cove makes one µop of `mov %rdx, %rax; and $7, %rax`, a move from register to register and an
operation right after it that continues with the copy. The pair computes the operation on the original register, so the
move takes no slot at issue and retirement. The parameter `move_fusion` names forms of moves, and the operations with
which these fuse.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Any

import msgspec
from msgspec.structs import replace

from incc.frontends.kernel import Instruction, KernelCode
from incc.models.model import Form, MachineModel
from incc.models.patterns import matches

# --- folded sums -----------------------------------------------------------------------------------------------------

COMPUTED_SUM = ".sum"
"""The suffix of a register's name for the location of its computed sum."""

FOLDS, PASSES, EXECUTES = "folds", "passes", "executes"
"""Roles of instructions: a folded addition; an eliminated move of a register with its constant; an instruction that
would be eliminated otherwise, but takes a µop and a cycle."""


class FoldedSum(msgspec.Struct, frozen=True, kw_only=True):
    """An instruction's part in the folding of sums."""

    role: str
    """FOLDS, PASSES, EXECUTES, or "" for all other instructions."""
    computed: bool
    """True if a µop computes the sum of this instruction, because others need it."""
    reads: frozenset[str]
    """Registers whose computed sum this instruction needs."""
    late: int
    """Cycles by which it gets such a sum later than other inputs."""
    ports: str = ""
    """Ports of the µop that computes the sum, "" for `renamer_ports`."""


NO_SUM = FoldedSum(role="", computed=False, reads=frozenset(), late=0)


def find_sums(
    kernel: KernelCode,
    forms: Sequence[Form | None],
    fused: Set[int],
    model: MachineModel,
) -> list[FoldedSum]:
    """Return the part of each instruction, an empty list for a core that does not fold sums.

    Args:
        kernel: The kernel.
        forms: The form of each instruction.
        fused: Indices of jumps that are fused into the instruction before them.
        model: The core, with its parameters `sum_folding` and `self_moves_execute`.
    """
    parameters = model.parameters
    rule = parameters["sum_folding"]
    if not rule and not parameters["self_moves_execute"]:
        return []
    roles = [
        "" if form is None or n in fused else _role(i, form, n + 1 in fused, rule, parameters["self_moves_execute"])
        for n, (i, form) in enumerate(zip(kernel.instructions, forms, strict=True))
    ]
    if not rule:
        return [
            FoldedSum(role=role, computed=False, reads=frozenset(), late=0) if role == EXECUTES else NO_SUM
            for role in roles
        ]
    return _SumSearch(kernel, forms, roles, model).run()


def _role(i: Instruction, form: Form, fused_with_next: bool, rule: Mapping[str, Any], self_moves_execute: bool) -> str:
    if _is_addition(i):
        if rule and not fused_with_next and _fits(i, rule["constant_bits"]) and _is_one_uop(form):
            return FOLDS
        return EXECUTES if rule and not form.uops else ""
    if _moves_to_itself(i, form) and self_moves_execute:
        return EXECUTES
    return PASSES if _is_whole_move(i) and not form.uops else ""


class _SumSearch:
    """The search for instructions that need computed sums, in program order."""

    def __init__(
        self,
        kernel: KernelCode,
        forms: Sequence[Form | None],
        roles: Sequence[str],
        model: MachineModel,
    ) -> None:
        self.instructions = kernel.instructions
        self.forms = forms
        self.roles = roles
        self.parameters = model.parameters
        rule = model.parameters["sum_folding"]
        self.late: int = rule["late"]
        self.taken_by = frozenset(map(_ports, rule["taken_by"]))
        self.refused_by = frozenset(map(_ports, rule["refused_by"]))
        self.memory_ports = frozenset(
            _ports(p) for name, p in model.functions.items() if name.startswith(("load", "store")) and p
        )
        self.reads: list[frozenset[str]] = [frozenset()] * len(forms)
        self.computed: set[int] = set()
        self.computed_on: dict[int, str] = {}
        """Ports of the µops that compute sums, by instruction, where they differ from `renamer_ports`."""
        self.sum_of: dict[str, int] = {}
        """The instruction that folded or passed on each register's constant."""
        self.flags_of: dict[str, int] = {}
        """The folded instruction that should have written each flag."""
        self.origin = [-1] * len(forms)
        """The instruction whose sum a move passes on."""

    def run(self) -> list[FoldedSum]:
        # The second pass starts with the state that an iteration leaves behind.
        for n in 2 * list(range(len(self.forms))):
            self._visit(n)
        self._add_origins()
        return [self._result(n) for n in range(len(self.forms))]

    def _visit(self, n: int) -> None:
        i, role = self.instructions[n], self.roles[n]
        self.computed.update(self.flags_of[flag] for flag in i.flags_read if flag in self.flags_of)
        if role == PASSES:
            self.origin[n] = self.sum_of.get(_source(i), -1)
        elif role != FOLDS and self.sum_of:
            self._read_sums(n)
        for register in {a.register.root for a in i.registers if a.write}:
            self.sum_of.pop(register, None)
        for flag in i.flags_written:
            self.flags_of.pop(flag, None)
        if role == FOLDS or (role == PASSES and self.origin[n] >= 0):
            assert i.affine is not None
            self.sum_of[i.affine.target] = n
        if role == FOLDS:
            self.flags_of.update(dict.fromkeys(i.flags_written, n))

    def _read_sums(self, n: int) -> None:
        """Note the sums that must be computed for an instruction."""
        i, form = self.instructions[n], self.forms[n]
        if form is None or not (form.uops or i.move or form.retire_slots):
            return
        compute = [_ports(p) for p, _ in form.uops if _ports(p) not in self.memory_ports]
        if _keeps_stored_sum(i, compute, self.parameters["memory_renaming"]):
            return
        if not self.refused_by.intersection(compute) and not self.taken_by.isdisjoint(compute):
            return
        registers = {a.register.root for a in i.registers if a.read and not a.address} & self.sum_of.keys()
        if any(m.operand is None for m in i.memory):
            registers.discard(self.parameters["stack_engine"])  # an address of push or pop
        self.reads[n] = frozenset(registers)
        self.computed.update(self.sum_of[register] for register in registers)
        ports = next((p for p, _ in form.uops if _ports(p) in self.refused_by), "")
        if ports and not i.flags_read:
            self.computed_on.update((self.sum_of[register], ports) for register in registers)

    def _add_origins(self) -> None:
        """Compute the sums that moves pass on to computed ones, too."""
        waiting = sorted(self.computed)
        while waiting:
            last = waiting.pop()
            n = self.origin[last]
            if n >= 0 and n not in self.computed:
                self.computed.add(n)
                waiting.append(n)
                if last in self.computed_on:
                    self.computed_on[n] = self.computed_on[last]

    def _result(self, n: int) -> FoldedSum:
        i, form, reads = self.instructions[n], self.forms[n], self.reads[n]
        if not self.roles[n] and not reads:
            return NO_SUM
        late = 0
        if reads and form is not None and not i.flags_read and not _only_moves(form, self.memory_ports):
            late = self.late - 1  # The other cycle is that of the µop that computes the sum.
        return FoldedSum(
            role=self.roles[n], computed=n in self.computed, reads=reads, late=late, ports=self.computed_on.get(n, "")
        )


def _ports(ports: str) -> frozenset[str]:
    return frozenset(ports.split(","))


def _keeps_stored_sum(i: Instruction, compute: Sequence[frozenset[str]], memory_renaming: Mapping[str, bool]) -> bool:
    """Return True for a store of a register that the renamer keeps for a later load (measured: with its constant)."""
    return (
        bool(memory_renaming)
        and not compute
        and any(m.store for m in i.memory)
        and all(memory_renaming["indexed"] or m.index is None for m in i.memory)
        and all(a.register.kind == "general" for a in i.registers)
    )


def _only_moves(form: Form, memory_ports: Set[frozenset[str]]) -> bool:
    """Return True if no µop computes: for a store, or a move that is eliminated otherwise."""
    return all(_ports(p) in memory_ports for p, _ in form.uops)


def _is_whole(i: Instruction) -> bool:
    return all(a.register.width == 64 for a in i.registers)


def _is_addition(i: Instruction) -> bool:
    """Return True if a whole register becomes the sum of a register and a constant."""
    a = i.affine
    return (
        a is not None
        and a.target != ""
        and len(a.terms) == 1
        and a.terms[0][1] == 1
        and not i.move
        and not any(m.load or m.store for m in i.memory)
        and _is_whole(i)
    )


def _is_whole_move(i: Instruction) -> bool:
    return i.move and i.affine is not None and len(i.affine.terms) == 1 and not i.memory and _is_whole(i)


def _source(i: Instruction) -> str:
    assert i.affine is not None
    return i.affine.terms[0][0]


def _fits(i: Instruction, bits: int) -> bool:
    assert i.affine is not None
    return -(1 << bits - 1) <= i.affine.constant < 1 << bits - 1


def _is_one_uop(form: Form) -> bool:
    return sum(count for _, count in form.uops) <= 1 and form.retire_slots == 1


def _moves_to_itself(i: Instruction, form: Form) -> bool:
    """Return True if an instruction reads and writes one register only, and takes no time in the model."""
    written = [a.register.root for a in i.registers if a.write]
    read = [a.register.root for a in i.registers if a.read]
    if i.memory or i.flags_written or len(written) != 1 or read != written or form.breaks_dependency:
        return False
    return all(cycles == 0 for _, _, cycles in form.latency) if form.uops else i.move


# --- fused moves -----------------------------------------------------------------------------------------------------


class RuleSides(msgspec.Struct, frozen=True):
    """The rules of a parameter from patterns to patterns that a form matches, by number."""

    first: frozenset[int]
    """Rules whose key matches the form."""
    second: frozenset[int]
    """Rules whose value matches the form."""


def rule_sides(form: Form | None, parameter: str, model: MachineModel) -> RuleSides:
    """Return the rules of a model's parameter that a form matches; they are kept with the model."""
    if form is None:
        return RuleSides(frozenset(), frozenset())
    cache: dict[str, RuleSides] = model.caches.setdefault(("rules", parameter), {})
    sides = cache.get(form.key)
    if sides is None:
        rules: Mapping[str, Any] = model.parameters[parameter]
        after = [rule if isinstance(rule, str) else rule["after"] for rule in rules.values()]
        first, second = (
            frozenset([n for n, patterns in enumerate(side) if matches(form.key, patterns)]) for side in (rules, after)
        )
        sides = cache[form.key] = RuleSides(first, second)
    return sides


def find_fused_moves(
    kernel: KernelCode, forms: Sequence[Form | None], fused: Set[int], model: MachineModel
) -> frozenset[int]:
    """Return the indices of moves that are fused with the next instruction.

    Args:
        kernel: The kernel.
        forms: The form of each instruction.
        fused: Indices of jumps that are fused into the instruction before them.
        model: The core, with its parameter `move_fusion`.
    """
    if not model.parameters["move_fusion"]:
        return frozenset()
    moves = set()
    for n, (move, operation) in enumerate(zip(kernel.instructions, kernel.instructions[1:], strict=False)):
        first, second = forms[n], forms[n + 1]
        if (
            move.move
            and first is not None
            and not first.uops
            and second is not None
            # An operation that is fused with a jump is not fused twice.
            and n + 2 not in fused
            and _continues_with_copy(move, operation)
            and (rules := rule_sides(first, "move_fusion", model).first)
            and rules & rule_sides(second, "move_fusion", model).second
        ):
            moves.add(n)
    return frozenset(moves)


def with_fused_prefixes(
    kernel: KernelCode, forms: tuple[Form | None, ...], model: MachineModel
) -> tuple[Form | None, ...]:
    """Return the forms, with forms that cost nothing for prefixes that are fused with the next instruction.

    A prefix is an instruction that copies a register to the one that the next instruction reads and writes as its first
    operand (`movprfx`), and matches the model's parameter `prefix_fusion`.
    """
    if not model.parameters["prefix_fusion"]:
        return forms
    result = list(forms)
    for n, (prefix, operation) in enumerate(zip(kernel.instructions, kernel.instructions[1:], strict=False)):
        first = forms[n]
        if (
            first is not None
            and (rules := rule_sides(first, "prefix_fusion", model).first)
            and rules & rule_sides(forms[n + 1], "prefix_fusion", model).second
            and _prefixes(prefix, operation)
        ):
            result[n] = _without_cost(first, model)
    return tuple(result)


def _prefixes(prefix: Instruction, operation: Instruction) -> bool:
    """Return True if a prefix writes a register without reading it, and the operation reads and writes it."""
    copies = {a.register for a in prefix.registers if a.write}
    return copies.isdisjoint(a.register for a in prefix.registers if a.read) and copies == {
        a.register for a in operation.registers if a.operand == 0 and a.read and a.write
    }


def _without_cost(form: Form, model: MachineModel) -> Form:
    cache: dict[str, Form] = model.caches.setdefault("prefixes", {})
    if form.key not in cache:
        latency = tuple([(to, source, 0) for to, source, _ in form.latency])
        cache[form.key] = replace(form, uops=(), retire_slots=0, latency=latency)
    return cache[form.key]


def _continues_with_copy(move: Instruction, operation: Instruction) -> bool:
    """Return True if the operation replaces the copy by a result of it, and uses it in no other operand."""
    copies = [a.register for a in move.registers if a.write]
    if len(copies) != 1 or operation.memory or any(a.register == copies[0] and a.read for a in move.registers):
        return False
    copy = copies[0]
    first = [a for a in operation.registers if a.operand == 0]
    others = [a for a in operation.registers if a.operand != 0]
    return (
        len(first) == 1
        and first[0].read
        and first[0].write
        and first[0].register == copy
        and all(a.register.root != copy.root for a in others)
    )
