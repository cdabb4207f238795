"""Rules on loads and stores: addresses, and the order of accesses to arrays."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from incc.core.aliasing import known_pairs
from incc.frontends.isa import isa
from incc.frontends.kernel import KernelCode, MemoryAccess
from incc.models.binding.bound import UOP_LOAD, UOP_STORE_ADDRESS
from incc.models.throughput import port_bound
from incc.report import types as t
from incc.report import wording
from incc.report.hints.common import (
    WORTH,
    bound_without,
    hint,
    is_fixed,
    operations,
    speedup,
    step_of,
    steps,
    waits_for_results,
    written_roots,
)
from incc.report.hints.context import HintContext

if TYPE_CHECKING:
    from incc.core.analysis import KernelResult


def store_addresses(facts: KernelResult, context: HintContext) -> t.Hint | None:
    """Advise simple store addresses if indexed ones compete with loads for the load ports.

    This happens on cores with a port for simple store addresses only (port 7 of Haswell to Cascade Lake; Intel's
    optimisation manual, “Load and Store Operation Enhancements” of Haswell). The rule returns None unless the port
    bound would really be lower with simple addresses, and unless it alone limits the kernel.
    """
    if facts.limits != ("port",):
        return None
    bound, bounds = facts.bound, facts.bounds
    names = facts.model.functions.get("store_address", "").split(",")
    execution_ports = list(enumerate(bound.port_names[: bound.n_ports]))
    anywhere = sum(1 << p for p, name in execution_ports if name in names)
    shared = 0
    stores: list[int] = []
    loads: list[int] = []
    uops: list[tuple[int, int]] = []
    for i, instruction in enumerate(facts.kernel.instructions):
        for u in range(bound.uop_start[i], bound.uop_start[i + 1]):
            allowed, kind = bound.uop_ports[u], bound.uop_kind[u]
            if kind == UOP_LOAD:
                loads.append(i)
            elif kind == UOP_STORE_ADDRESS and "indexed" in instruction.traits and anywhere & ~allowed:
                stores.append(i)
                shared |= allowed
                allowed |= anywhere
            if not allowed >> bound.n_ports:
                uops.append((allowed, bound.uop_cycles[u]))
    if not stores or not loads:
        return None
    simple = [name for p, name in execution_ports if anywhere & ~shared & (1 << p)]
    busy = [name for p, name in execution_ports if shared & (1 << p)]
    numerator, denominator = port_bound(uops, bound.n_ports)
    if not simple or numerator >= facts.analysis.port_bound * denominator:
        return None
    take = "takes" if len(simple) == 1 else "take"
    subject = "the indexed store address" if len(stores) == 1 else f"the {len(stores)} indexed store addresses"
    return hint(
        "indexed-store-address",
        f"{subject} ({wording.places(facts.kernel, stores)}) and the loads compete for {wording.ports(busy)}, because "
        f"{wording.ports(simple)} {take} only simple addresses (base and displacement). Simple addresses lower the "
        f"port bound to {wording.cycles(numerator / denominator)}",
        {
            "stores": stores,
            "loads": list(dict.fromkeys(loads)),
            "ports": busy,
            "simple_ports": simple,
            "port_bound": numerator / denominator,
        },
        gain=speedup(
            facts, max(Fraction(numerator, denominator), bounds.front_end, bounds.retire, bounds.loop_carried)
        ),
    )


def strided(facts: KernelResult, context: HintContext) -> t.Hint | None:
    """Advise to rearrange data if neighbours in memory, such as members of structures, are not used together.

    They have to be sorted within vectors, or gathered at regular distances. Evidence is streams that advance at
    different rates, or elements that are loaded and not used; shuffles for conversions do not count, nor gathers of
    indices that are loaded, or shifted and masked, which may be the same for neighbours.
    """
    kernel = facts.kernel
    shuffles, gathers = operations(kernel, "shuffle"), operations(kernel, "gather")
    others = operations(kernel, "widen", "narrow", "from-integer", "to-integer")
    if not (shuffles or gathers) or others or waits_for_results(facts) or not kernel.is_loop:
        return None
    sources = {n for i in gathers for n in _index_sources(facts, i)}
    if _by_loaded_indices(facts, gathers) or not all(_is_linear(kernel, n) for n in sources):
        return None
    loads = [load for i in gathers for load in _loads(facts, i)[:1]]
    least = bound_without(facts, {*shuffles, *gathers}, loads)
    if least > WORTH * facts.cycles:
        return None
    why = "neighbouring elements of a vector lie apart in memory" if gathers else _reason_for_shuffles(kernel)
    if not why:
        return None
    rearranging = sorted({*shuffles, *gathers})
    do, does = "rearrange elements within vectors", "rearranges elements within vectors"
    if gathers:
        do, does = "collect elements one by one or rearrange them", "collects elements one by one"
    change = "keep values that are used together in arrays of their own (a structure of arrays)"
    return hint(
        "strided",
        f"{wording.counted(len(rearranging), 'instruction')} ({wording.places(kernel, rearranging)}) only "
        f"{does if len(rearranging) == 1 else do}, because {why}",
        {"instructions": rearranging, "bound_without": float(least)},
        None,
        change,
        gain=speedup(facts, least),
    )


def _loads(facts: KernelResult, i: int) -> list[tuple[int, int]]:
    """Return ports and cycles of an instruction's µops that load."""
    bound = facts.bound
    uops = range(bound.uop_start[i], bound.uop_start[i + 1])
    return [(bound.uop_ports[u], bound.uop_cycles[u]) for u in uops if bound.uop_kind[u] == UOP_LOAD]


def _by_loaded_indices(facts: KernelResult, gathers: Sequence[int]) -> list[int]:
    """Return the gathers whose indices the loop loads; it computes those of others."""
    kernel = facts.kernel
    moving = written_roots(kernel)
    loading = {
        i
        for i, instruction in enumerate(kernel.instructions)
        if any(access.load and not is_fixed(access, moving) for access in instruction.memory)
    }
    return [i for i in gathers if _index_sources(facts, i) & loading]


def _index_sources(facts: KernelResult, i: int) -> set[int]:
    """Return the instructions that compute the indices of a gather."""
    names, edges = facts.bound.location_names, facts.analysis.edges
    indices = {access.index.root for access in facts.kernel.instructions[i].memory if access.index is not None}
    sources = {e.producer for e in edges if e.consumer == i and e.location >= 0 and names[e.location] in indices}
    while more := {e.producer for e in edges if e.consumer in sources and e.location >= 0} - sources:
        sources |= more
    return sources


_LINEAR_KINDS = frozenset(("add", "sub", "mul", "fma", "sl", "sll", "convert"))
_LINEAR_WORK = frozenset(
    (
        *("integer additions", "vector additions", "integer multiplications", "address computations"),
        *("shuffles", "moves", "moves between register files"),
    )
)


def _is_linear(kernel: KernelCode, i: int) -> bool:
    """Return True if an instruction keeps different numbers different, as sums and multiples are; masks count too."""
    instruction, of = kernel.instructions[i], isa(kernel.isa)
    if all(access.register.kind == "mask" for access in instruction.registers if access.write):
        return True
    operation = of.operation(instruction.mnemonic, instruction.text)
    return operation.kind in _LINEAR_KINDS if operation else of.work_of(instruction) in _LINEAR_WORK


def _reason_for_shuffles(kernel: KernelCode) -> str:
    """Return the reason why a loop must rearrange elements; "" if that is not certain."""
    packed = [(i, a) for i in kernel.instructions if (a := i.arithmetic) is not None and a.packed]
    # Elements of several kinds advance at different rates because of their sizes.
    if len({a.element for _, a in packed}) != 1 or not all(a.floating for _, a in packed):
        return ""
    streams = _streams(kernel)
    if streams is None:
        return ""
    stored = {step for access, step in streams if access.store}
    read = {step for access, step in streams if not access.store}
    slowest = min(stored or read, default=0)
    if several := {step // slowest for step in read if step > slowest and step % slowest == 0}:
        return f"{max(several)} neighbouring elements are not used together"
    loaded = sum(access.size * access.elements for access, _ in streams if access.load)
    used = sum(a.width // 8 * (2 if i.sum and i.sum.others else 1) for i, a in packed)
    return "the loop loads more elements than it uses" if 0 < 2 * used <= loaded else ""


def _streams(kernel: KernelCode) -> list[tuple[MemoryAccess, int]] | None:
    """Return the accesses that advance, with their steps in bytes; None if a step is unknown."""
    registers = steps(kernel)
    streams = []
    for instruction in kernel.instructions:
        for access in instruction.memory:
            step = step_of(access, registers)
            if step is None:
                return None
            if step > 0:
                streams.append((access, step))
    return streams


def gather(facts: KernelResult, context: HintContext) -> t.Hint | None:
    """Report gathers, which load each of their elements separately."""
    kernel = facts.kernel
    gathers = _by_loaded_indices(facts, operations(kernel, "gather"))
    if not gathers or not kernel.is_loop:
        return None
    least = bound_without(facts, gathers)
    if least > WORTH * facts.cycles:
        return None
    elements = sum(access.elements for i in gathers for access in kernel.instructions[i].memory)
    change = "if the same indices are used repeatedly, copy the elements into an array in that order once"
    return hint(
        "gather",
        f"{wording.counted(len(gathers), 'gather')} ({wording.places(kernel, gathers)}) "
        f"{'loads' if len(gathers) == 1 else 'load'} {elements} elements one by one",
        {"instructions": gathers, "elements": elements, "bound_without": float(least)},
        None,
        change,
        gain=speedup(facts, least),
    )


def distance_of_arrays(facts: KernelResult, context: HintContext) -> t.Hint | None:
    """Advise another distance of arrays if loads agree with stores in flight in the lower bits of their addresses.

    Only known distances count. The gain is that of a core that compares whole addresses.
    """
    pairs = known_pairs(facts.bound, facts.analysis.streams)
    after = facts.cycles_after("4k-aliasing") if pairs else None
    if after is None or after > WORTH * facts.cycles:
        return None
    loads, stores = sorted({p.load for p in pairs}), sorted({p.store for p in pairs})
    bits = facts.model.parameters["address_aliasing"]["bits"]
    subject, verb = ("the load", "agrees") if len(loads) == 1 else (f"the {len(loads)} loads", "agree")
    return hint(
        "distance-of-arrays",
        f"{subject} in {wording.places(facts.kernel, loads)} {verb} in the lower {bits} bits of the address with a "
        f"store in flight ({wording.places(facts.kernel, stores)})",
        {"loads": loads, "stores": stores},
        change="let the arrays, or the rows of the array, begin some cache lines closer or further apart",
        gain=speedup(facts, after),
    )


def repeated_place(facts: KernelResult, context: HintContext) -> t.Hint | None:
    """Report counters and sums in a table whose index is loaded.

    An update waits for the previous update's store if both have the same index. The range includes this cost, and the
    data determine how often it occurs. If keys do not repeat, several tables only add instructions, so the text limits
    the advice to repeated keys. Cores that rename memory do not wait, and get no hint.
    """
    spread = context.spread
    cause = next((c for c in spread.causes if c.kind == "aliasing"), None) if spread else None
    kernel = facts.kernel
    if cause is None or cause.most is None or facts.cycles > WORTH * cause.most:
        return None
    if any(meeting.distance > 1 for meeting in cause.meetings):  # the renamer hands on counts of repeated keys
        return None
    counting = sorted({meeting.store for meeting in cause.meetings})
    loads = {meeting.load for meeting in cause.meetings}
    sums = [(load, store) for load in loads for store in counting if _adds(facts, load, store)]
    if not loads <= {load for load, _ in sums} or not {*counting} <= {store for _, store in sums}:
        return None
    change = (
        "only if neighbouring keys are often equal (sorted data, few values), add to several tables in turn and "
        "combine them at the end; otherwise that is slower"
    )
    return hint(
        "repeated-place",
        f"each sum ({wording.places(kernel, counting)}) waits until the previous one with the same key is stored",
        {"instructions": counting, "most": float(cause.most)},
        None,
        change,
    )


_ADDITIONS = frozenset(("integer additions", "floating-point additions"))


def _adds(facts: KernelResult, load: int, store: int) -> bool:
    """Return True if a loop adds something to what one instruction loads, and the other one stores the sum."""
    work_of, instructions = isa(facts.kernel.isa).work_of, facts.kernel.instructions
    if load == store:
        return work_of(instructions[load]) in _ADDITIONS
    edges = [(e.producer, e.consumer) for e in facts.analysis.edges if not e.distance]
    sums = {i for i, reader in edges if reader == store and work_of(instructions[i]) in _ADDITIONS}
    return any(i == load or (load, i) in edges for i in sums)
