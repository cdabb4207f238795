"""Rules on accesses that stay in a loop only because a store might change, or read, the same place."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from fractions import Fraction
from typing import TYPE_CHECKING

from incc.core import figures
from incc.core.dataflow import INVARIANT, Access, dataflow
from incc.frontends.isa import isa
from incc.frontends.kernel import Instruction, KernelCode
from incc.report import types as t
from incc.report import wording
from incc.report.hints.advice import CLANG, GCC, CompilerCall
from incc.report.hints.common import calls, counting, hint, inner_branches, speedup, steps
from incc.report.hints.context import HintContext
from incc.report.hints.estimates import access_step, changed, packed_cycles, packed_gain
from incc.report.verdict import chain_instructions

if TYPE_CHECKING:
    from incc.core.analysis import KernelResult

_OTHER_REGISTERS = 2
"""Registers that a loop may not use although it needs more: they hold values of the code around it, such as the stack
pointer and the counter of an outer loop."""


def invariant_access(facts: KernelResult, context: HintContext) -> t.Hint | None:
    """Advise local variables for values that are loaded again in each iteration although the loop does not change them.

    Compilers keep such loads only if a store of the loop might write to the same place.
    """
    kernel = facts.kernel
    loads = invariant_loads(kernel)
    if not loads or calls(kernel) or inner_branches(kernel):
        return None
    dropped, in_registers = _hoisted(kernel, loads)
    after = changed(facts, dropped, in_registers)
    cycles = after.cycles
    prevents = ""
    if context.build.vectorises and context.build.family and _is_elementwise(after, context.elements):
        packed = packed_cycles(after, context)
        if packed is not None and packed < cycles:
            cycles, prevents = packed, ", which also prevents vectorisation"
    values, it, variables = "a value is", "it", "a local variable"
    if len(loads) > 1:
        values, it, variables = f"{len(loads)} values are", "them", "local variables"
    stores = [i for i, each in enumerate(kernel.instructions) if any(access.store for access in each.memory)]
    return hint(
        "invariant-access",
        f"{values} loaded again in each iteration ({wording.places(kernel, loads)}), because the store in "
        f"{wording.places(kernel, stores)} might change {it}{prevents}",
        {"loads": loads, "stores": stores},
        change=f"unless it does, copy {it} to {variables} before the loop",
        gain=speedup(facts, cycles),
    )


_MOST_CHECKS = 10
"""The pairs of arrays that gcc compares before a loop (its parameter vect-max-version-for-alias-checks)."""


def many_arrays(facts: KernelResult, context: HintContext) -> t.Hint | None:
    """Advise restrict or ivdep if gcc would have to compare too many pairs of arrays to vectorise a loop.

    With fewer, it makes a version without vectors for arrays that overlap, and compares them before the loop. In
    Fortran, and for parts of one array, nothing can be declared, but ivdep states that iterations are independent.
    """
    kernel = facts.kernel
    build = context.build
    if build.family != GCC or not build.vectorises or calls(kernel) or inner_branches(kernel):
        return None
    if any(instruction.arithmetic and instruction.arithmetic.packed for instruction in kernel.instructions):
        return None
    pairs = pairs_not_compared(kernel, build)
    if not pairs or not _is_elementwise(facts, context.elements):
        return None
    return hint(
        "many-arrays",
        f"the loop is not vectorised, because {pairs} pairs of {'array sections' if build.fortran else 'arrays'} may "
        "overlap, more than gcc compares",
        {"pairs": pairs},
        change="if they do not, "
        + ("put !GCC$ ivdep" if build.fortran else "declare their pointers restrict, or put #pragma GCC ivdep")
        + " in front of the loop",
        gain=packed_gain(facts, context),
    )


def pairs_not_compared(kernel: KernelCode, build: CompilerCall) -> int:
    """Return the pairs of arrays that may overlap if the compiler does not compare so many before a loop, else 0."""
    flow = dataflow(kernel)
    stored, loaded = ({_array(access) for access in accesses} for accesses in (flow.stores, flow.loads))
    pairs = len(stored) * (len(stored) - 1) // 2 + len(stored) * len(loaded - stored)
    return pairs if build.family == GCC and pairs > _MOST_CHECKS else 0


def _array(access: Access) -> frozenset[tuple[str, int]]:
    """Return the part of an address that distinguishes arrays: the terms that the loop does not change."""
    return frozenset((symbol.name, times) for symbol, times in access.address.terms.items() if times == 1)


# The first clang that moves the checks of inner loops out of the loops around, and so compares whole arrays (LLVM 17,
# -hoist-runtime-checks).
_COMPARES_ARRAYS = 17

_NO_CHECK = "#pragma clang loop vectorize(assume_safety)"


def failing_check(facts: KernelResult, context: HintContext) -> t.Hint | None:
    """Advise a local variable for an element that lies in the range that a vectorised loop writes.

    The check at the loop's start finds that they overlap each time, so that only the scalar version ever runs.
    """
    instead = context.replaced_by
    loads = invariant_loads(instead.facts.kernel) if instead is not None else []
    if instead is None or not loads:
        return None
    kernel = instead.facts.kernel
    now = instead.facts.cycles / instead.share
    build = context.build
    change = "unless that changes the element, copy it to a local variable before the loop"
    if build.family == CLANG and build.version >= _COMPARES_ARRAYS and _reads_elsewhere(kernel):
        # Its check compares the rest of the array as well, and still fails.
        change += f" and, if no iteration needs the result of another one, put {_NO_CHECK} in front of the loop"
    stores = [i for i, each in enumerate(kernel.instructions) if any(access.store for access in each.memory)]
    times = wording.number(round(float(now / facts.cycles), 1))
    return hint(
        "failing-check",
        f"the vectorised loop never runs: the element loaded in {wording.places(kernel, loads)} lies in the row that "
        f"is written in {wording.places(kernel, stores)}, so the check for overlap fails, and a loop runs that takes "
        f"{times} times as long",
        {"loads": loads, "stores": stores},
        change=change,
        gain=now / facts.cycles,
    )


def _reads_elsewhere(kernel: KernelCode) -> bool:
    """Return True if a loop also loads varying elements that it does not write to."""
    flow = dataflow(kernel)
    stored = [access.address for access in flow.stores]
    return any(access.address.kind != INVARIANT and access.address not in stored for access in flow.loads)


def invariant_loads(kernel: KernelCode) -> list[int]:
    """Return the loads from addresses that do not change, and that only a store to another address keeps in the loop.

    Constants, spilled registers, and places that the loop itself writes to, perhaps in part, are left out.
    """
    if not kernel.is_loop or not _loads_and_stores(kernel):
        return []
    moving = {root for root, step in steps(kernel).items() if step}
    candidates = {
        i for i, instruction in enumerate(kernel.instructions) if _may_be_invariant(kernel, instruction, moving)
    }
    if not candidates or _lacks_registers(kernel):
        return []
    flow = dataflow(kernel)
    if not flow.stores:
        return []
    return [
        load.instruction
        for load in flow.loads
        if load.instruction in candidates
        and load.address.kind == INVARIANT
        and not any(_overlap(load, store) for store in flow.stores)
    ]


def _overlap(one: Access, other: Access) -> bool:
    """Return True if two accesses are known to have a byte in common."""
    distance = other.address.constant - one.address.constant
    return one.address.terms == other.address.terms and -other.size < distance < one.size


def _may_be_invariant(kernel: KernelCode, instruction: Instruction, moving: AbstractSet[str]) -> bool:
    """Return True for a single load, not of a constant or a spilled register, whose registers may stay as they are."""
    loads = [access for access in instruction.memory if access.load]
    if len(loads) != 1 or any(access.store for access in instruction.memory) or instruction.branch:
        return False
    (access,) = loads
    roots = [register.root for register in (access.base, access.index) if register is not None]
    variable = bool(roots) or _is_variable(access.symbol)
    return variable and moving.isdisjoint(roots) and not figures.on_frame(kernel, instruction)


def _loads_and_stores(kernel: KernelCode) -> bool:
    """Return True if some instructions only load and some store."""
    accesses = [i.memory for i in kernel.instructions if i.memory]
    stores = [any(access.store for access in memory) for memory in accesses]
    return any(stores) and not all(stores)


def _is_variable(symbol: str) -> bool:
    """Return True for the symbol of a variable, False for the label of a constant or of an address."""
    return bool(symbol) and not symbol.startswith((".", "L")) and "@" not in symbol


def _lacks_registers(kernel: KernelCode) -> bool:
    """Return True if the compiler may have run out of registers, and so loads values again."""
    used: dict[str, set[str]] = {}
    for instruction in kernel.instructions:
        for access in instruction.registers:
            used.setdefault(access.register.kind, set()).add(access.register.root)
    counts = isa(kernel.isa).register_counts(kernel.instructions)
    return any(len(used.get(kind, ())) >= count - _OTHER_REGISTERS for kind, count in counts.items())


def _hoisted(kernel: KernelCode, loads: list[int]) -> tuple[set[int], set[int]]:
    """Return the instructions that leave the loop with these loads, and those that only lose their memory operand."""
    inputs = _inputs(kernel)
    leaving: set[int] = set()
    while True:
        more = {
            i
            for i, instruction in enumerate(kernel.instructions)
            if i not in leaving
            and inputs[i] <= leaving
            and (i in loads or not instruction.memory)
            and not instruction.branch
            and any(access.write for access in instruction.registers)
        }
        if not more:
            return leaving, set(loads) - leaving
        leaving |= more


def _inputs(kernel: KernelCode) -> list[set[int]]:
    """Return for each instruction those that wrote its registers and flags, perhaps in the iteration before."""
    last: dict[str, int] = {}
    inputs: list[set[int]] = []
    for _ in range(2):
        inputs = []
        for i, instruction in enumerate(kernel.instructions):
            read = {access.register.root for access in instruction.registers if access.read} | {*instruction.flags_read}
            inputs.append({last[name] for name in read if name in last})
            last.update({access.register.root: i for access in instruction.registers if access.write})
            last.update(dict.fromkeys(instruction.flags_written, i))
    return inputs


def _is_elementwise(facts: KernelResult, elements: Fraction) -> bool:
    """Return True if nothing prevents vectorisation: the loop does the same for each element, and carries nothing."""
    kernel = facts.kernel
    overhead = set(counting(kernel))
    if any(set(chain_instructions(chain)) - overhead for chain in facts.analysis.chains):
        return False
    flow = dataflow(kernel)
    moved = [(access, access_step(access, kernel)) for access in (*flow.loads, *flow.stores)]
    return all(step in (0, access.size * elements) for access, step in moved) and all(
        access_step(access, kernel) for access in flow.stores
    )
