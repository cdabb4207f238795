"""The number of instructions in flight: reorder buffer, scheduler, and the buffers of loads and stores.

A trip is a chain of k dependent square roots, or multiplications, of l cycles each, which begins anew in every trip,
and n fillers after it. Nothing retires past an unfinished chain. As long as the chain of the next trip enters the
window while this trip's chain runs, two overlap, and a trip takes half a chain or less. With too many fillers for that,
a trip takes a whole chain. The kind of filler determines which window is measured: no work (reorder buffer), wait for
the chain's end (scheduler), load, or store.

Between the two, the first link of the next chain enters when the j-th link of this one leaves. With a window of R
entries and k + n + x entries a trip, j = k + n + x - R, so that a trip takes l j cycles, one link more for each filler.
R is therefore read from a line with a known slope, not from a corner. Loads and stores are held by their own buffers,
in which the chain has no part: there one more filler makes a trip take a whole chain.
"""

from __future__ import annotations

import math

from incc.measuring.pipeline.probing import Finding, ProbeBench, ProbeFailure, listed, number, repeated, unknown

# Links of a chain, with AVX and without; where the unit for roots cannot work at two chains at once, multiplications.
_CHAINS = (
    (16, "vsqrtsd %xmm0, %xmm0, %xmm0", "sqrtsd %xmm0, %xmm0"),
    (40, "vmulsd %xmm0, %xmm0, %xmm0", "mulsd %xmm0, %xmm0"),
)
_TRIES = 12
"""The other thread of a core takes half of each window while it runs. No other measurement is affected as much."""


_PAUSES = 6


class _Chain:
    """A chain that begins anew in each trip: its text, links, and cycles of a link and of all."""

    def __init__(self, bench: ProbeBench) -> None:
        self.bench = bench
        bench.tries = max(bench.tries, 4 if bench.quick else _TRIES)
        self.vex = bench.runs("vmovapd %xmm1, %xmm0")
        start = "vmovapd %xmm1, %xmm0" if self.vex else "movapd %xmm1, %xmm0"
        for links, with_avx, without in _CHAINS:
            link = with_avx if self.vex else without
            # The next trip needs all links of one trip, which gives the latency; new chains give the throughput.
            whole, alone = bench.cycles([repeated(link, links), f"{start}\n{repeated(link, links)}"])
            self.links, self.link, self.cycles = links, whole / links, whole
            self.text = f"{start}\n{repeated(link, links)}"
            if alone < 0.6 * whole:
                return
        raise ProbeFailure(f"two chains do not overlap: {alone:.1f} of {whole:.1f} cycles")

    def trips(self, fillers: list[str]) -> list[float]:
        return self.bench.cycles([f"{self.text}\n{f}" for f in fillers])


def _text(filler: list[str], n: int) -> str:
    return "\n".join(filler[k % len(filler)] for k in range(n))


def _edge(chain: _Chain, filler: list[str], most: int) -> int:
    """Return the largest number of fillers with which two chains overlap, tried up to `most`.

    A bisection finds where a trip gets longer. If that was the end of one thread's half of the window, then two chains
    overlap with more fillers once the other thread is idle, so larger numbers are tried again.
    """

    def overlap(n: int, pauses: int = 1) -> bool:
        return chain.bench.reaches(f"{chain.text}\n{_text(filler, n)}", 0.78 * chain.cycles, pauses)

    if overlap(most):
        raise ProbeFailure(f"no end up to {most} entries")
    low, high = 2, most
    if not overlap(low):
        raise ProbeFailure(f"not even {low} fillers are in flight with a chain")
    while True:
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if overlap(middle) else (low, middle)
        further = [n for part in (1.9, 1.5, 1.2, 1.07) if low + 1 < (n := int(low * part) + 2) < most]
        beyond = next((n for n in further if overlap(n, _PAUSES)), 0)
        if not beyond:
            return low
        low, high = beyond, most


def _line(chain: _Chain, filler: list[str], most: int, more: int) -> tuple[float, str]:
    """Return the window's entries, and the figures.

    `filler` gives the fillers in turn; `more` is the number of entries of a trip besides links and fillers. Raises
    NotMeasured if no line is seen.
    """
    edge = _edge(chain, filler, most)
    counts = [edge + d for d in range(-6, 4) if edge + d > 0]
    cycles = chain.trips([_text(filler, n) for n in counts])
    on_line = [(n, c) for n, c in zip(counts, cycles, strict=True) if 0.56 * chain.cycles < c < 0.97 * chain.cycles]
    seen = ", ".join(f"{n}: {c:.1f}" for n, c in zip(counts, cycles, strict=True))
    if len(on_line) < 2:
        raise ProbeFailure(f"no gradual end at {edge} fillers ({seen})")
    sizes = sorted(chain.links + n + more - c / chain.link for n, c in on_line)
    return sizes[len(sizes) // 2], f"{chain.links} links of {chain.link:.2f} cycles; a trip by fillers: {seen}"


def _step(chain: _Chain, filler: list[str], most: int) -> tuple[int, str]:
    """Return the largest number of fillers with which two chains overlap, and the figures."""
    edge = _edge(chain, filler, most)
    cycles = chain.trips([_text(filler, n) for n in (edge, edge + 1)])
    return edge, f"a trip takes {listed(cycles)} cycles with {edge} fillers and with one more"


def _range(size: float) -> tuple[float, float]:
    """Return the least and the most entries that a window of this measured size may have.

    Where groups of entries are given out or freed together, the last ones are never used; a group that waits before the
    window looks like entries. Of the 512 entries in Intel's manual for Golden Cove 493 to 500 are seen, of a scheduler
    of 97 entries 101 to 104.
    """
    return round(size) - 7, round(size * 1.06) + 8


def reorder_buffer(bench: ProbeBench) -> list[Finding]:
    """Measure the reorder buffer, with fillers that take one entry each and wait for nothing.

    Other windows that fill up before make it look smaller, so the largest figure counts, without nops where these take
    no slots of their own.
    """
    chain = _Chain(bench)
    sizes, problems = [], []
    fillers = [["nopl 8(%rax)"]] if bench.plain_nops else []
    for filler in [*fillers, ["xorl %eax, %eax", "xorl %ebx, %ebx"]]:
        # The fillers are followed by the counter and its jump, one entry if they fuse, and preceded by the chain's
        # start.
        try:
            sizes.append(_line(chain, filler, 900, 2))
        except ProbeFailure as e:
            problems.append(str(e))
    if not sizes:
        return [unknown("rob", "; ".join(problems))]
    size, text = max(sizes)
    bench.seen["rob"] = size
    return [number("rob", size, text, *_range(size))]


def scheduler(bench: ProbeBench) -> list[Finding]:
    chain = _Chain(bench)
    # Fillers that can go to many ports, so that they leave soon once they may start.
    add = "vpor %xmm0, %xmm1, %xmm{}" if chain.vex else "por %xmm0, %xmm{}"
    filler = [add.format(2 + n) for n in range(12)]
    try:
        size, text = _line(chain, filler, 400, 0)
    except ProbeFailure as e:
        return [unknown("rs", str(e))]
    return [number("rs", size, text, *_range(size))]


def load_buffer(bench: ProbeBench) -> list[Finding]:
    # Use registers of both kinds: a core may have fewer of one kind than entries of the reorder buffer.
    registers = ["rax", "xmm2", "rbx", "rcx", "xmm3", "rdx", "r8", "xmm4"]
    buffer = _buffer(bench, "load_buffer", [f"movq {8 * n}(%rsi), %{r}" for n, r in enumerate(registers)])
    if isinstance(buffer.value, int) and buffer.value > 0.9 * bench.seen.get("rob", math.inf):
        reason = "the reorder buffer ends before; loads may leave when they are done"
        return [unknown("load_buffer", f"{buffer.text}: {reason}")]
    return [buffer]


def store_buffer(bench: ProbeBench) -> list[Finding]:
    return [_buffer(bench, "store_buffer", [f"movq %rax, {8 * n}(%rsi)" for n in range(8)])]


def _buffer(bench: ProbeBench, name: str, filler: list[str]) -> Finding:
    """Measure the buffer that one kind of fillers takes entries of."""
    chain = _Chain(bench)
    try:
        size, text = _step(chain, filler, 400)
    except ProbeFailure as e:
        return unknown(name, str(e))
    return number(name, size, text, size - 1, round(size * 1.03) + 3)


PROBES = (reorder_buffer, scheduler, load_buffer, store_buffer)
