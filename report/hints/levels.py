"""Rules for loops whose data come from memory, which apply with `--data=memory`."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from msgspec.structs import replace

from incc.core import streams
from incc.core.memory.levels import times
from incc.core.memory.traffic import Front
from incc.frontends.isa import isa
from incc.report import types as t
from incc.report import wording
from incc.report.hints.common import hint
from incc.report.hints.context import HintContext

if TYPE_CHECKING:
    from incc.core.analysis import KernelResult
    from incc.frontends.kernel import Instruction, KernelCode
    from incc.models.memory import MemoryLevel

_AHEAD = 64
"""Iterations between a prefetch and the access, as in the examples of `bench/hints.py`."""
_STEPS = 2
"""Instructions between the load of an index and the address that it is part of, such as a shift."""

_LEAST_VECTOR = 16
"""Bytes of the shortest non-temporal store of a vector: MOVNTPS and MOVNTDQ of XMM registers (Intel, "Intel 64 and
IA-32 Architectures Software Developer's Manual", volume 2), STNP of two D registers (Arm Architecture Reference Manual
for A-profile, C7.2)."""


def non_temporal_stores(facts: KernelResult, context: HintContext) -> t.Hint | None:
    """Advise non-temporal stores where lines are fetched only to be overwritten.

    The stores cover whole lines of arrays that the loop does not access otherwise.
    """
    caches = _caches(facts)
    if not caches or facts.data is None:
        return None
    fronts = facts.data.traffic.fronts
    overwritten = [front for front in fronts if _overwrites(facts, front, fronts)]
    direct = [replace(front, non_temporal=True, stores=()) if front in overwritten else front for front in fronts]
    gain = _gain(facts, direct)
    if not overwritten or gain is None:
        return None
    stores = sorted(number for front in overwritten for number in front.instructions)
    lines = sum((front.lines for front in overwritten), Fraction(0))
    return hint(
        "non-temporal-stores",
        f"with data in memory, the loop fetches the cache lines that it overwrites "
        f"({wording.places(facts.kernel, stores)})",
        {"instructions": stores, "lines": float(lines)},
        None,
        "if the results are not used again soon, store them with non-temporal stores (intrinsics, or clang's "
        "`__builtin_nontemporal_store`)",
        gain=gain,
    )


def _overwrites(facts: KernelResult, front: Front, fronts: Sequence[Front]) -> bool:
    """Return True if vector stores cover lines that nothing else in the loop accesses."""
    if front.non_temporal or front.behind is not None or sum(other.part == front.part for other in fronts) > 1:
        return False
    instructions = [facts.kernel.instructions[number] for number in front.instructions]
    if any(access.load for i in instructions for access in i.memory):
        return False
    # A second register is a mask, which may leave bytes of the line as they are.
    if any(sum(a.read and not a.address for a in i.registers) != 1 for i in instructions):
        return False
    covered = {place % abs(front.step) for span in front.stores for place in range(span.begin, span.end)}
    return len(covered) == abs(front.step) and all(span.end - span.begin >= _LEAST_VECTOR for span in front.stores)


def blocks(facts: KernelResult, context: HintContext) -> t.Hint | None:
    """Advise blocks if the loop uses data again so late that they come from memory a second time."""
    caches = _caches(facts)
    if not caches or facts.data is None:
        return None
    fronts, target = facts.data.traffic.fronts, caches[min(1, len(caches) - 1)]
    assert target.size is not None
    late = [front for front in fronts if front.reuse is not None and front.reuse > (caches[-1].size or 0)]
    if not late:
        return None
    # The gain is that of data that stay in the last cache: loops over blocks start and end more often.
    held = Fraction(caches[-1].size or 0)
    gain = _gain(facts, [replace(front, reuse=held) if front in late else front for front in fronts])
    if gain is None:
        return None
    nearest = min(late, key=lambda front: front.behind or 0)
    distance = (nearest.behind or 0) * abs(nearest.step)
    # Caches hold other data as well, and do not replace the oldest line only.
    limit = int(distance * target.size / (nearest.reuse or 1) / 2)
    again = sorted({number for front in late for number in front.instructions})
    return hint(
        "blocks",
        f"with data in memory, the loop uses data again at a distance of {int(distance):,} bytes, further than "
        f"{caches[-1].name} holds them ({wording.places(facts.kernel, again)})",
        {"instructions": again, "distance": int(distance), "limit": limit, "level": target.name},
        None,
        f"go through the arrays in blocks in which this distance is at most {limit:,} bytes, so that {target.name} "
        "holds them",
        gain=gain,
    )


def partly_used_lines(facts: KernelResult, context: HintContext) -> t.Hint | None:
    """Advise another order of data or loops if at most half of each line that comes from memory is used."""
    caches = _caches(facts)
    if not caches or facts.data is None:
        return None
    traffic = facts.data.traffic
    used = {front: _used(facts, front) / (front.lines * traffic.line) for front in traffic.fronts}
    partly = [front for front, share in used.items() if share <= Fraction(1, 2) and front.behind is None]
    gain = _gain(facts, [_dense(facts, f, f.lines * used[f]) if f in partly else f for f in traffic.fronts])
    if not partly or gain is None:
        return None
    worst = min(partly, key=lambda front: used[front])
    part = int(_used(facts, worst)), int(worst.lines * traffic.line)
    places = sorted({number for front in partly for number in front.instructions})
    fields = next(
        (
            pattern.structure
            for pattern in context.accesses
            if pattern.step == worst.step and worst.instructions[0] in pattern.instructions
        ),
        "",
    )
    why = f"like {fields} of an array of structures"
    remedy = "keep values that are used together in arrays of their own (a structure of arrays)"
    if fields:
        remedy += "; if they are a column of a matrix, interchange the loops"
    else:
        why = f"because addresses move by {abs(worst.step):,} bytes per iteration"
        remedy = f"if an outer loop goes through neighbouring elements, interchange the loops; otherwise {remedy}"
    return hint(
        "partly-used-lines",
        f"with data in memory, the loop uses {part[0]} of {part[1]} bytes that it fetches "
        f"({wording.places(facts.kernel, places)}), {why}",
        {"instructions": places, "used": part[0], "fetched": part[1], "step": worst.step},
        None,
        remedy,
        gain=gain,
    )


def prefetch(facts: KernelResult, context: HintContext) -> t.Hint | None:
    """Advise prefetches where data in memory are accessed at addresses that an array of indices contains."""
    if facts.data is None or (memory := facts.model.memory) is None or (least := memory.prefetch_uops) is None:
        return None
    if "memory" not in memory.holding(facts.settings.data):
        return None
    kernel = facts.kernel
    moves_lines = isa(kernel.isa).moves_lines
    if any(moves_lines(instruction.mnemonic) == "early" for instruction in kernel.instructions):
        return None
    arrays = {stream.instruction for stream in streams(facts.bound) if stream.step and not stream.store}
    indices = {number: _indices(kernel, number, arrays) for number in facts.data.traffic.unknown}
    chosen = [number for number, loads in indices.items() if loads]
    # A load and a store with the same registers access the same place.
    places = {(indices[number], _address_registers(kernel, number)) for number in chosen}
    if not chosen or sum(facts.bound.issue_slots) < least * len(places):
        return None
    loads = sorted(set().union(*indices.values()))
    return hint(
        "prefetch",
        f"with data in memory, accesses ({wording.places(kernel, chosen)}) go where an array of indices says "
        f"({wording.places(kernel, loads)}), which hardware does not prefetch",
        {"instructions": chosen, "indices": loads},
        None,
        f"prefetch them {_AHEAD} iterations ahead (`__builtin_prefetch(&x[index[i + {_AHEAD}]])`), as far as there "
        "are indices",
    )


def _address_registers(kernel: KernelCode, number: int) -> frozenset[str]:
    return frozenset({a.register.root for a in kernel.instructions[number].registers if a.address})


def _indices(kernel: KernelCode, number: int, arrays: Collection[int]) -> frozenset[int]:
    """Return the loads from arrays whose results the address of an access depends on.

    At most _STEPS instructions are between them.
    """
    found: set[int] = set()
    waiting = [(number, root, _STEPS) for root in _address_registers(kernel, number)]
    for before, root, left in waiting:
        writers = (n for n in range(before - 1, -1, -1) if _writes(kernel.instructions[n], root))
        writer = next(writers, None)
        if writer is None:
            continue
        if writer in arrays:
            found.add(writer)
        elif left:
            sources = {a.register.root for a in kernel.instructions[writer].registers if a.read}
            waiting += [(writer, source, left - 1) for source in sources]
    return frozenset(found)


def _writes(instruction: Instruction, root: str) -> bool:
    return any(a.write and a.register.root == root for a in instruction.registers)


def _used(facts: KernelResult, front: Front) -> Fraction:
    """Return the bytes per iteration that a front's accesses use, each counted once, in whichever iteration."""
    accesses = [
        (stream.offset, stream.size)
        for stream in streams(facts.bound)
        if (stream.part, stream.step) == (front.part, front.step) and stream.instruction in front.instructions
    ]
    return Fraction(len({place % front.step for begin, size in accesses for place in range(begin, begin + size)}))


def _dense(facts: KernelResult, front: Front, lines: Fraction) -> Front:
    """Return a front that moves by no more than the bytes that it uses, and touches so many lines per iteration."""
    step = int(_used(facts, front))
    return replace(front, lines=lines, step=step, stores=tuple([replace(span, step=step) for span in front.stores]))


def _caches(facts: KernelResult) -> Sequence[MemoryLevel]:
    """Return the caches, if the data are in memory and the loop's lines are known; else nothing."""
    if facts.data is None or (memory := facts.model.memory) is None or len(facts.data.levels) < len(memory.levels):
        return ()
    requested = memory.levels[-1].name == "memory" and "memory" in memory.holding(facts.settings.data)
    return memory.levels[:-1] if requested else ()


def _gain(facts: KernelResult, fronts: Sequence[Front]) -> Fraction | None:
    """Return the speedup with data in memory if the loop moved these lines; None if it is unknown."""
    data, memory = facts.data, facts.model.memory
    assert data is not None
    assert memory is not None
    traffic = replace(data.traffic, fronts=tuple(fronts))
    after = times(memory, traffic, facts.cycles, data.overlapping, data.loading, facts.settings.cores)
    if len(after.levels) < len(data.levels) or not after.levels[-1].least_cycles:
        return None
    old, new = data.levels[-1], after.levels[-1]
    return min(old.cycles / new.cycles, old.least_cycles / new.least_cycles)
