"""Functions that the rules share: making hints, and facts about a kernel."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from incc.core.figures import DECIMALS
from incc.frontends.isa import isa
from incc.frontends.kernel import KernelCode, MemoryAccess
from incc.models.throughput import port_bound
from incc.report import types as t
from incc.report.hints.advice import Advice
from incc.report.verdict import chain_instructions
from incc.support.recent import recent

if TYPE_CHECKING:
    from incc.core.analysis import KernelResult

WORTH = Fraction(95, 100)
"""The largest share of the cycles that may remain after following a hint."""


def hint(
    rule: Any,
    cause: str,
    evidence: Mapping[str, Any],
    advice: Advice | None = None,
    change: str = "",
    clause: str = "",
    gain: Fraction | float | None = None,
) -> t.Hint:
    """Return a hint of one sentence for the cause and one for the remedy.

    Args:
        rule: The rule's name.
        cause: The reason why the loop is slow.
        evidence: The instructions and figures behind it.
        advice: Flags to compile with; None if there are none.
        change: A change to the source; empty for none.
        clause: An addition to the remedy, with the characters that separate them.
        gain: The predicted speedup of the loop; None if it is unknown, or depends on data.
    """
    remedies = [change] if change else []
    if advice is not None:
        remedies.append(f"compile with {advice.text}")
    remedy = ", or ".join(remedies)
    text = f"{cause}. {remedy[:1].upper()}{remedy[1:]}{clause}" if remedy else cause
    flags = list(advice.flags) if advice else []
    speedup = None if gain is None else round(float(gain), DECIMALS)
    return t.Hint(rule=rule, text=f"{text}.", evidence=dict(evidence), flags=flags, source_change=change, gain=speedup)


def speedup(facts: KernelResult, after: Fraction | None) -> Fraction | None:
    """Return the gain of a loop from its cycles after a change; None if these are unknown or 0."""
    return facts.cycles / after if after else None


def operations(kernel: KernelCode, *names: str) -> list[int]:
    """Return the instructions (indices) that do one of these operations (see `Isa.advice_class`)."""
    of_class = _by_class(kernel)
    return sorted([i for name in names for i in of_class.get(name, ())])


@recent
def _by_class(kernel: KernelCode) -> Mapping[str, list[int]]:
    found: dict[str, list[int]] = {}
    for i, instruction in enumerate(kernel.instructions):
        found.setdefault(_advice_class(kernel.isa, instruction.mnemonic, instruction.text), []).append(i)
    return found


@lru_cache(maxsize=1 << 14)
def _advice_class(instruction_set: str, mnemonic: str, text: str) -> str:
    return isa(instruction_set).advice_class(mnemonic, text)


@recent
def written_roots(kernel: KernelCode) -> frozenset[str]:
    """Return the registers that a kernel writes."""
    return frozenset(
        access.register.root
        for instruction in kernel.instructions
        for access in instruction.registers
        if access.write
    )  # fmt: skip


def stored_in_place(kernel: KernelCode) -> list[int]:
    """Return the instructions that store to the same address in each iteration.

    Stores to the stack are left out, since compilers spill registers there.
    """
    moving = written_roots(kernel) | isa(kernel.isa).stack_registers
    return [
        i
        for i, instruction in enumerate(kernel.instructions)
        for access in instruction.memory
        if access.store and access.elements == 1 and is_fixed(access, moving)
    ]


def is_fixed(access: MemoryAccess, moving: frozenset[str]) -> bool:
    """Return True if no register of an address is among the `moving` ones."""
    roots = [register.root for register in (access.base, access.index) if register is not None]
    return bool(roots or access.symbol) and moving.isdisjoint(roots)


def worth_breaking(facts: KernelResult) -> bool:
    """Return True if a kernel gains from ignoring dependencies, judged by simulations or else by the other bounds."""
    names = ("register-dependencies", "memory-dependencies", "dependencies")
    bounds = facts.bounds
    most = WORTH * facts.cycles
    if max(bounds.port, bounds.divider, bounds.front_end, bounds.retire) > most:
        return False
    tried = False
    for name in names:
        if (cycles := facts.cycles_after(name)) is not None:
            tried = True
            if cycles <= most:
                return True
    return not tried


def waits_for_results(facts: KernelResult) -> bool:
    """Return True if chains limit a loop, not counting those of its counter and pointers.

    Wider or unrolled code shortens these along with everything else.
    """
    overhead = set(counting(facts.kernel))
    return "loop_carried" in facts.limits and any(
        chain.cycles_per_iteration == facts.bounds.loop_carried and set(chain_instructions(chain)) - overhead
        for chain in facts.analysis.chains
    )


@recent
def counting(kernel: KernelCode) -> Sequence[int]:
    """Return the instructions of a loop that only count and jump back."""
    closing = len(kernel.instructions) - 1
    return [
        i
        for i, instruction in enumerate(kernel.instructions)
        if (
            instruction.affine is not None
            and not instruction.memory
            and instruction.affine.terms == ((instruction.affine.target, 1),)
        )
        or (i == closing - 1 and instruction.flags_written and not instruction.memory)
        or i == closing
    ]


def bound_without(facts: KernelResult, left_out: Collection[int], instead: Sequence[tuple[int, int]] = ()) -> Fraction:
    """Return the largest bound of ports, units and front end without some instructions (indices).

    `instead` are µops that replace them: a mask of ports, and cycles.
    """
    bound = facts.bound
    uops = list(instead)
    slots = len(instead)
    for i in range(len(facts.kernel.instructions)):
        if i not in left_out:
            slots += bound.issue_slots[i]
            uops += [
                (bound.uop_ports[u], bound.uop_cycles[u]) for u in range(bound.uop_start[i], bound.uop_start[i + 1])
            ]
    on_ports = Fraction(*port_bound([u for u in uops if not u[0] >> bound.n_ports], bound.n_ports))
    units: dict[int, int] = {}
    for mask, cycles in uops:
        if mask >> bound.n_ports:
            units[mask] = units.get(mask, 0) + cycles
    return max(on_ports, Fraction(slots, bound.issue_width), *map(Fraction, units.values()))


@recent
def calls(kernel: KernelCode) -> Sequence[int]:
    """Return the instructions (indices) that call functions, whose time is unknown."""
    return [i for i, instruction in enumerate(kernel.instructions) if instruction.branch == "call"]


def callee(kernel: KernelCode, i: int) -> str:
    """Return the function that an instruction calls, without a linkage suffix; "" if it is not named."""
    return kernel.instructions[i].target.partition("@")[0]


@recent
def inner_branches(kernel: KernelCode) -> Sequence[int]:
    """Return the conditional branches on the path, without the one that closes the loop."""
    return [i for i, instruction in enumerate(kernel.instructions[:-1]) if instruction.branch == "conditional"]


@recent
def steps(kernel: KernelCode) -> Mapping[str, int]:
    """Return the step per iteration of registers that only change by constants; 0 for invariant registers."""
    written = written_roots(kernel)
    steps_of: dict[str, int] = {}
    for instruction in kernel.instructions:
        affine = instruction.affine
        for access in instruction.registers:
            root = access.register.root
            if not access.write:
                if root not in written:
                    steps_of.setdefault(root, 0)
            elif affine is None or affine.target != root or affine.terms != ((root, 1),):
                steps_of[root] = _UNKNOWN
            elif steps_of.get(root) != _UNKNOWN:
                steps_of[root] = steps_of.get(root, 0) + affine.constant
    return {root: step for root, step in steps_of.items() if step != _UNKNOWN}


_UNKNOWN = 1 << 62


def step_of(access: MemoryAccess, registers: Mapping[str, int]) -> int | None:
    """Return the bytes by which an access advances per iteration, given the result of `steps`; None if unknown."""
    total = 0
    for register, factor in ((access.base, 1), (access.index, access.scale)):
        if register is not None:
            step = registers.get(register.root)
            if step is None:
                return None
            total += factor * step
    return total
