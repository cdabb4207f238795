"""Sums that the renamer makes: which additions of constants are folded, and who needs one of them made up.

Golden Cove's renamer knows a register of 64 bits as a physical one and a constant of a few bits. `add $8, %rax`,
`inc`, `dec`, `sub` and `lea 8(%rax), %rbx` only change the constant: no µop, no time. The units for simple arithmetic,
multiplication and addresses add it to what they read. What shifts, what moves a register elsewhere, what stores it and
what needs the flags cannot: for those a µop makes the sum up, and they read that. For shifts, rotates and sign
extensions into another register it runs on their ports (beside enough independent shifts, each addition that is shifted
takes half a cycle more), for others it does not. Several such instructions that read one sum have a µop each, of which
only one is in the bound kernel. (Where the renamer keeps what is stored for a later load, it keeps register and
constant.) A move of the whole register passes both on, one of its lower half needs the sum. An addition that is fused
with a jump is a µop of its own and not folded. All of that as in the parameter `sum_folding`.

In the bound kernel the register's location holds what is passed on; what is made up is a location of its own,
"rax.sum", which is written only where something reads it. Sums that become large are not followed here: in a chain of
nothing but additions of one constant to one register, an addition takes 0.2 cycles for 16 (the slots), 0.3 for 64, 0.35
for 127, 0.4 for 255, 0.5 for 511 as for 1,023, and is predicted too fast; the same additions spread over six registers
take no more than their slots. So something must be made up now and then and the chain waits for it, but no width of
the constant explains all of these.
"""

from __future__ import annotations

from incc.frontends.records import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence, Set
    from typing import Any

    from incc.frontends.kernel import Instruction, Kernel
    from incc.models.model import Form, MachineModel

MADE_UP = ".sum"
"""Behind a register's name: the location of its sum where that is made up."""

FOLDS, PASSES, EXECUTES = "folds", "passes", "executes"


class Sum(NamedTuple):
    """What an instruction has to do with sums.

    `what`: FOLDS, PASSES (a move that is eliminated, of a register with a constant), EXECUTES (what would be eliminated
    otherwise: a µop, one cycle) or "". `made`: whether its sum is made up. `reads`: the registers of which it needs the
    sum made up, `late` cycles later than others read it. `ports`: where its sum is made up, "" for where the renamer's
    µops go.
    """

    what: str
    made: bool
    reads: frozenset[str]
    late: int
    ports: str = ""


NO_SUM = Sum("", False, frozenset(), 0)


def find_sums(
    kernel: Kernel,
    forms: Sequence[Form | None],
    fused: Set[int],
    parameters: Mapping[str, Any],
    model: MachineModel,
) -> list[Sum]:
    """For each instruction; empty for a core that knows none of this. `fused`: jumps fused into the one before."""
    rule = parameters["sum_folding"]
    if not rule and not parameters["self_moves_execute"]:
        return []
    instructions = kernel.instructions
    what = [""] * len(forms)
    for n, (i, form) in enumerate(zip(instructions, forms, strict=True)):
        if form is None or n in fused:
            continue
        if _is_addition(i):
            if rule and n + 1 not in fused and _fits(i, rule["constant_bits"]) and _is_one_uop(form):
                what[n] = FOLDS
            elif rule and not form.uops:
                what[n] = EXECUTES
        elif _moves_to_itself(i, form) and parameters["self_moves_execute"]:
            what[n] = EXECUTES
        elif _is_move(i) and not form.uops:
            what[n] = PASSES
    if not rule:
        return [Sum(w, False, frozenset(), 0) if w == EXECUTES else NO_SUM for w in what]
    taken, refused = (frozenset(map(_ports, rule[key])) for key in ("taken_by", "refused_by"))
    reads: list[frozenset[str]] = [frozenset()] * len(forms)
    made: set[int] = set()
    made_at: dict[int, str] = {}  # By instruction: the ports, where they are not those of the renamer's µops.
    sums: dict[str, int] = {}  # By register: which instruction folded or passed on its constant.
    flags: dict[str, int] = {}  # By flag: the folded instruction that should have written it.
    memory_ports = frozenset(
        _ports(p) for name, p in model.functions.items() if name.startswith(("load", "store")) and p
    )
    origin = [-1] * len(forms)  # Of what a move passes on.
    for _ in range(2):  # The second time with what an iteration leaves behind.
        for n, (i, form) in enumerate(zip(instructions, forms, strict=True)):
            made.update(flags[f] for f in i.flags_read if f in flags)
            if what[n] == PASSES:
                origin[n] = sums.get(_source(i), -1)
            elif what[n] != FOLDS and form is not None and sums:
                compute = [_ports(p) for p, _ in form.uops if _ports(p) not in memory_ports]
                takes = _is_kept(i, compute, parameters["memory_renaming"])
                takes |= not refused.intersection(compute) and not taken.isdisjoint(compute)
                if not takes and (form.uops or i.move or form.retire_slots):
                    found = {a.register.root for a in i.registers if a.read and not a.address} & sums.keys()
                    if any(m.operand is None for m in i.memory):
                        found.discard(parameters["stack_engine"])  # push and pop: an address
                    reads[n] = frozenset(found)
                    made.update(sums[root] for root in found)
                    at = next((p for p, _ in form.uops if _ports(p) in refused), "")
                    if at and not i.flags_read:
                        made_at.update((sums[root], at) for root in found)
            written = {a.register.root for a in i.registers if a.write}
            for root in written:
                sums.pop(root, None)
            for flag in i.flags_written:
                flags.pop(flag, None)
            if what[n] == FOLDS:
                assert i.affine is not None
                sums[i.affine.target] = n
                flags.update(dict.fromkeys(i.flags_written, n))
            elif what[n] == PASSES and origin[n] >= 0:
                assert i.affine is not None
                sums[i.affine.target] = n
    waiting = list(made)
    while waiting:
        last = waiting.pop()
        n = origin[last]
        if n >= 0 and n not in made:
            made.add(n)
            waiting.append(n)
            if last in made_at:
                made_at[n] = made_at[last]
    result = []
    for n, (i, form) in enumerate(zip(instructions, forms, strict=True)):
        # One cycle of the delay is that of the µop that makes the sum up.
        late = 0
        if reads[n] and form is not None and not i.flags_read and not _only_moves(form, memory_ports):
            late = rule["late"] - 1
        found_sum = Sum(what[n], n in made, reads[n], late, made_at.get(n, ""))
        result.append(found_sum if what[n] or reads[n] else NO_SUM)
    return result


def _ports(ports: str) -> frozenset[str]:
    return frozenset(ports.split(","))


def _is_kept(i: Instruction, compute: Sequence[frozenset[str]], memory_renaming: Mapping[str, bool]) -> bool:
    """Whether it only stores a register that the renamer then knows where it is (measured: with its constant)."""
    return (
        bool(memory_renaming)
        and not compute
        and any(m.store for m in i.memory)
        and all(memory_renaming["indexed"] or m.index is None for m in i.memory)
        and all(a.register.kind == "general" for a in i.registers)
    )


def _only_moves(form: Form, memory_ports: Set[frozenset[str]]) -> bool:
    """Whether it has no µop that computes: a store, or a move that is eliminated otherwise."""
    return all(_ports(p) in memory_ports for p, _ in form.uops)


def _is_whole(i: Instruction) -> bool:
    return all(a.register.width == 64 for a in i.registers)


def _is_addition(i: Instruction) -> bool:
    """Whether a whole register becomes another one, or the same, plus a constant."""
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


def _is_move(i: Instruction) -> bool:
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
    """Whether it reads and writes one register only, and takes no time as the model has it."""
    written = [a.register.root for a in i.registers if a.write]
    read = [a.register.root for a in i.registers if a.read]
    if i.memory or i.flags_written or len(written) != 1 or read != written or form.breaks_dependency:
        return False
    return all(cycles == 0 for _, _, cycles in form.latency) if form.uops else i.move
