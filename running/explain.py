"""Explains the cycles that a loop took in a program: what the prediction for endless iterations in L1 leaves out.

Each part comes from a simulation or from the model of memory:

- *places*: the loop is simulated with the addresses that samples recorded, in place of likely ones, on a core that
  compares whole addresses of loads and stores.
- *aliasing*: the same on the core as it is, which first compares the lower bits.
- *entry*: entries with as many iterations as the loop ran are simulated one after the other. They overlap as far as the
  core looks ahead. If the number of iterations varies, or is larger than the core foresees, the exit is mispredicted.
- *faults*: the page faults of samples, and the time of one as measured on the host.
- *sides*: registers tell how often each way through the loop was taken; iterations on these ways are
  simulated one after the other, evenly mixed.
- *data*: the addresses of samples tell how much data the loop goes through; the model of memory tells what that takes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction

import msgspec
from msgspec.structs import replace

from incc.core.aliasing import known_pairs
from incc.core.analysis import KernelResult, analyze_kernel
from incc.core.calls import OFTEN, call_cycles, pass_cycles
from incc.core.memory.traffic import Front
from incc.core.ranges import mispredictions
from incc.core.ways import Ways
from incc.report.runs import Part
from incc.report.wording import lines_of, listed, places
from incc.running.profile import LoopProfile, LoopSample
from incc.support.text import counted

_MOST_PLACES = 4
"""Samples whose addresses are simulated."""
_MOST_MIXED = 20
"""Iterations that are simulated for the ways through a loop."""
_LEAST_PART = 0.01
"""Smaller parts of the measured cycles are not listed."""


def size_text(size: int) -> str:
    """Return a size for a report: "48 KiB"."""
    for unit, power in (("GiB", 30), ("MiB", 20), ("KiB", 10)):
        if size >= 1 << power:
            return f"{size / (1 << power):.3g} {unit}"
    return counted(size, "byte")


class Explanation(msgspec.Struct, frozen=True, kw_only=True):
    """The causes of a loop's measured cycles."""

    parts: tuple[Part, ...]
    unexplained: float
    data_bytes: int | None
    possible: tuple[str, ...]
    """Causes that may explain the rest, with the most cycles that they can take."""
    notes: tuple[str, ...]


def explain(
    result: KernelResult, strided: KernelResult, profile: LoopProfile, cycles: float, ways: Ways | None = None
) -> Explanation:
    """Return what explains the difference between measured and predicted cycles per iteration of a loop.

    Args:
        result: the analysis of the loop.
        strided: its analysis with the strides of samples.
        profile: what its probes recorded.
        cycles: the measured cycles per iteration.
        ways: the ways through the loop, if there are branches inside.
    """
    steady = float(result.cycles)
    parts: list[Part] = []
    notes: list[str] = []
    parts += _placed(result, profile.examples)
    entry, text = _entry(result, profile) if profile.iterations else (0.0, "")
    parts.append(Part(kind="entry", cycles=entry, text=text))
    possible: list[str] = []
    if ways is not None:
        parts += _sides(result, profile, ways, possible)
    size, levels = _data(strided, profile, notes)
    if size is not None and levels:
        beyond, name = levels[0]
        parts.append(Part(kind="data", cycles=beyond, text=f"{size_text(size)} of data, in {name}"))
    if profile.faults and profile.ticks:
        per_fault = profile.fault_ticks / profile.faults * cycles * profile.iterations / profile.ticks
        text = f"{profile.faults:,.0f} first touches of memory, {per_fault:,.0f} cycles each"
        parts.append(Part(kind="faults", cycles=cycles * profile.fault_ticks / profile.ticks, text=text))
    explained = sum(part.cycles for part in parts)
    listed = [part for part in parts if abs(part.cycles) >= _LEAST_PART * max(cycles, steady)]
    return Explanation(
        parts=tuple(sorted(listed, key=lambda part: -abs(part.cycles))),
        unexplained=cycles - steady - explained,
        data_bytes=size,
        possible=(*possible, *_evicted(levels, cycles)),
        notes=tuple(notes),
    )


def _placed(result: KernelResult, samples: Sequence[LoopSample]) -> Iterator[Part]:
    """Yield what the addresses of some samples explain; nothing without accesses to memory or addresses."""
    chosen = [s for s in samples if s.iterations > 0 and s.values][:_MOST_PLACES]
    if not result.bound.memory_size or not chosen:
        return
    settings = replace(result.settings.for_cycles_alone(), arrays="aligned")
    whole = result.model.with_parameters({"address_aliasing": {}})
    apart: list[float] = []
    aliased: list[float] = []
    loads: set[int] = set()
    stores: set[int] = set()
    for sample in chosen:
        placed = replace(settings, let=tuple(sorted(sample.values.items())))
        real = analyze_kernel(result.kernel, result.model, placed)
        pairs = known_pairs(real.bound, real.analysis.streams)
        cycles = analyze_kernel(result.kernel, whole, placed).cycles if pairs else real.cycles
        apart.append(float(cycles))
        aliased.append(float(real.cycles))
        if real.cycles != cycles:
            loads |= {pair.load for pair in pairs}
            stores |= {pair.store for pair in pairs}
    mean = sum(apart) / len(apart)
    text = f"the addresses of {counted(len(chosen), 'sample')}"
    yield Part(kind="places", cycles=mean - float(result.cycles), text=text)
    if loads:
        bits = result.model.parameters["address_aliasing"]["bits"]
        load, store = (places(result.kernel, sorted(of)) for of in (loads, stores))
        text = f"loads ({load}) that agree in the lower {bits} bits of the address with stores in flight ({store})"
        yield Part(kind="aliasing", cycles=sum(aliased) / len(aliased) - mean, text=text)


def _entry(result: KernelResult, profile: LoopProfile) -> tuple[float, str]:
    """Return the cycles per iteration that beginning and ending the loop takes, and the cause."""
    varies = len({sample.iterations for sample in profile.examples}) > 1
    mean = profile.iterations / profile.entries
    if mean < 1 or result.bound.pipeline is None:
        return 0.0, ""
    settings = replace(result.settings.for_cycles_alone(), arrays="aligned", let=())
    steady = analyze_kernel(result.kernel, result.model, settings).cycles
    iterations = round(mean)
    missed = varies or iterations > (result.model.parameters["foreseen_iterations"] or OFTEN)
    try:
        cycles = pass_cycles(result.kernel, result.model, iterations, steady, missed)
    except (ValueError, RuntimeError):
        return 0.0, ""
    often = f"{mean:,.0f}" if mean >= 1000 else f"{mean:.4g}"
    text = f"{often} iterations per entry{', then a misprediction' if missed else ''}"
    return float(cycles / iterations - steady), text


def way_shares(ways: Ways, profile: LoopProfile) -> list[float] | None:
    """Return the share of the iterations that took each way, None if it is unknown."""
    if not ways.complete or not profile.iterations or not profile.sides:
        return None
    unknown = [(set(range(len(ways.ways))), 1.0)]
    for line, passes in profile.sides.items():
        through = {n for n, way in enumerate(ways.ways) if line in way.path.region.lines}
        unknown.append((through, min(max(passes / profile.iterations, 0.0), 1.0)))
    shares: dict[int, float] = {}
    # If all but one of some ways are known, so is that one.
    while single := [(left, total) for left, total in unknown if len(left) == 1]:
        ((way, *_), share) = single[0]
        shares[way] = max(share, 0.0)
        unknown = [(left - {way}, total - shares[way] if way in left else total) for left, total in unknown]
    return [shares[n] for n in range(len(ways.ways))] if len(shares) == len(ways.ways) else None


def mixed(shares: Sequence[float]) -> list[int]:
    """Return numbers of ways in an order in which each has about its share, evenly spread."""

    def counts(length: int) -> list[int]:
        return [round(share * length) for share in shares]

    def error(length: int) -> float:
        return max(abs(count / length - share) for count, share in zip(counts(length), shares, strict=True))

    best = min(range(1, _MOST_MIXED + 1), key=lambda length: round(error(length), 3))
    return [n for _, n in sorted(((i + 0.5) / count, n) for n, count in enumerate(counts(best)) for i in range(count))]


def _sides(result: KernelResult, profile: LoopProfile, ways: Ways, possible: list[str]) -> Iterator[Part]:
    """Yield the difference between the ways that a loop took and the likeliest one."""
    shares = way_shares(ways, profile)
    if shares is None:
        return
    order = mixed(shares)
    on_ways = [i for n in order for i in ways.ways[n].result.kernel.instructions]
    try:
        cycles, steady = (
            call_cycles(replace(result.kernel, instructions=tuple(instructions), entry=()), result.model, []).cycles
            for instructions in (on_ways, result.kernel.instructions * len(order))
        )
    except (ValueError, RuntimeError):
        return
    through = [
        f"{100 * passes / profile.iterations:.0f} % through {lines_of(result.kernel, [line])} (asm {line})"
        for line, passes in profile.sides.items()
    ]
    text = f"of the iterations, {listed(through)}"
    yield Part(kind="sides", cycles=float(cycles - steady) / len(order), text=text)
    rate = 1 - max(shares)
    missed = mispredictions(result, ways, rate)
    if missed is not None and missed.cycles:
        possible.append(
            f"mispredicted branches: {100 * rate:.0f} % of the iterations take another way than most, which is up to "
            f"{missed.cycles:.3g} cycles per iteration if their order is random"
        )


def _evicted(levels: Sequence[tuple[float, str]], cycles: float) -> Iterator[str]:
    """Yield the cost of data that other code evicts between entries, if it is a part of the measured cycles."""
    further = [(more - levels[0][0], name) for more, name in levels[1:]]
    if further and further[-1][0] >= _LEAST_PART * cycles:
        more, name = further[-1]
        yield f"data in {name}, if other code evicts them between entries: up to {more:.4g} cycles per iteration"


def _data(
    result: KernelResult, profile: LoopProfile, notes: list[str]
) -> tuple[int | None, Sequence[tuple[float, str]]]:
    """Return the size of a loop's data, and where they are: cycles per iteration beyond those of L1, and the level.

    The first level holds the data. Further ones follow if an entry goes through so many of the data that other code may
    evict them before the next one.
    """
    times = result.data
    memory = result.model.memory
    if times is None or memory is None or not profile.entries:
        return None, ()
    if times.traffic.unknown:
        if not any(i.branch == "call" for i in result.kernel.instructions):
            notes.append("The size of the data is unknown, because the addresses of some accesses are not regular.")
        return None, ()
    size = data_size(result, profile, times.traffic.fronts, times.traffic.line)
    if size is None:
        return None, ()
    levels = [
        (float(level.cycles - result.cycles), level.level, entry.size)
        for level in times.levels
        for entry in memory.levels
        if entry.name == level.level
    ]
    holding = next((n for n, (_, _, room) in enumerate(levels) if room is None or size <= room), len(levels) - 1)
    an_entry = times.traffic.furthest * times.traffic.line * round(profile.iterations) / profile.entries
    l1 = levels[0][2]
    further = l1 is not None and an_entry > l1 and 2 * an_entry >= size
    return size, [
        (cycles, name) for cycles, name, _ in (levels[holding:] if further else levels[holding : holding + 1])
    ]


def data_size(result: KernelResult, profile: LoopProfile, fronts: Iterable[Front], line: int) -> int | None:
    """Return an estimate of the bytes that a loop goes through again and again; None if the addresses are unknown.

    Each stream goes through the bytes between the addresses of a process's samples, but not through more than it
    touches in all entries of a process.
    """
    spans: dict[str, dict[int, list[tuple[int, int]]]] = {}
    touched = Fraction(0)
    per_entry = Fraction(round(profile.iterations), profile.entries)
    for front in fronts:
        if front.behind is None:
            touched += front.lines * line * per_entry * profile.entries
    addresses = _address_of(result)
    for sample in profile.examples:
        for front in fronts:
            start = addresses(front.instructions[0], sample)
            if start is None:
                return None
            end = start + front.step * sample.iterations
            of_process = spans.setdefault(sample.process, {})
            of_process.setdefault(front.part, []).append((min(start, end), max(start, end)))
    if not spans:
        return None
    hulls = [
        sum(max(end for _, end in of) - min(start for start, _ in of) for of in streams.values())
        for streams in spans.values()
    ]
    return min(max(hulls), int(touched / len(spans)))


def _address_of(result: KernelResult) -> Callable[[int, LoopSample], int | None]:
    """Return a function that computes the first address of an instruction from a sample's registers."""
    # Registers that the loop computes anew have another value at the entry.
    computed = {
        access.register.root
        for i in result.kernel.instructions
        for access in i.registers
        if access.write and not (i.affine and dict(i.affine.terms).get(access.register.root) == 1)
    }

    def address(number: int, sample: LoopSample) -> int | None:
        instruction = result.kernel.instructions[number]
        access = next((m for m in instruction.memory if m.load or m.store), None)
        if access is None:
            return None
        # The place of a symbol does not matter: only differences between samples do.
        total = access.displacement
        for register, scale in ((access.base, 1), (access.index, access.scale)):
            if register is not None:
                value = sample.values.get(register.root)
                if value is None or register.root in computed:
                    return None
                total += scale * value
        return total % (1 << 64)

    return address
