"""Loads and stores: throughput, latency, line crossing, and forwarding from stores to loads."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import combinations

from incc.measuring.assemble import PAGES
from incc.measuring.pipeline.probing import Finding, ProbeBench, flag, listed, named, note, number, unknown

_WORDS = ["rax", "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11"]
_BYTES = {"gpr": 8, "xmm": 16, "ymm": 32, "zmm": 64}
# The move that any processor with registers of a class has, to and from memory.
_MOVE = {"gpr": "movq", "xmm": "movups", "ymm": "vmovups", "zmm": "vmovups"}
_VECTOR_TO_WORD = {"xmm": "movq %xmm0, %rsi", "ymm": "vmovq %xmm0, %rsi", "zmm": "vmovq %xmm0, %rsi"}


def _classes(bench: ProbeBench) -> list[str]:
    return [c for c in _BYTES if c in ("gpr", "xmm") or bench.runs(f"vmovups (%rsi), %{c}0")]


def _register(kind: str, n: int) -> str:
    return f"%{_WORDS[n % 8]}" if kind == "gpr" else f"%{kind}{n % 8}"


def _load(kind: str, place: int, n: int) -> str:
    return f"{_MOVE[kind]} {place}(%rsi), {_register(kind, n)}"


def _store(kind: str, place: int, n: int) -> str:
    return f"{_MOVE[kind]} {_register(kind, n)}, {place}(%rsi)"


def loads(bench: ProbeBench) -> list[Finding]:
    """Measure loads per cycle: twelve that follow each other in memory, and twelve from different lines."""
    return [_rate(bench, f"loads {kind}", kind, 12, _load, "in") for kind in _classes(bench)]


def stores(bench: ProbeBench) -> list[Finding]:
    return [
        _rate(bench, f"stores {kind}", kind, 12 if _BYTES[kind] < 64 else 6, _store, "to") for kind in _classes(bench)
    ]


def _rate(
    bench: ProbeBench, name: str, kind: str, count: int, access: Callable[[str, int, int], str], where: str
) -> Finding:
    size = _BYTES[kind]
    near, far = bench.cycles(
        ["\n".join(access(kind, step * n, n) for n in range(count)) for step in (size, max(64, size))]
    )
    lines = f"{where} different lines ({listed([near, far])} for {count})"
    return note(name, round(count / near, 2), f"a cycle, one behind the other; {round(count / far, 2)} {lines}")


def banks(bench: ProbeBench) -> list[Finding]:
    """Find the banks of the first-level cache.

    As many loads run as a cycle takes, of a byte each and each from another line: at the same place of their lines, and
    with the last one further on until they no longer conflict. Some wider loads follow for a note.
    """

    def load(place: int, n: int) -> str:
        return f"movzbl {place}(%rsi), %{('eax', 'ebx', 'ecx', 'edx', 'r8d', 'r9d', 'r10d', 'r11d')[n % 8]}"

    near = bench.one("\n".join(load(n, n) for n in range(12)))
    most = round(12 / near)
    groups = ((0, 8, 16), (0, 0, 0), (0, 0, 8), (0, 64, 128), (0, 64, 8), (0, 16, 32), (0, 4, 64), (0, 4096, 8192))
    cycles = bench.cycles(["\n".join(_load("gpr", p, n) for n, p in enumerate(group)) for group in groups])
    seen = named(("/".join(map(str, group)) for group in groups), cycles, ": ")
    findings = [note("banks", "cycles of three loads of eight bytes by their offsets", seen)]
    if most < 2:
        return [unknown("bank_bytes", f"{most} load a cycle"), *findings]
    steps = (0, 1, 2, 4, 8, 16, 32)
    # Twice, so that the loop's own instructions do not interfere.
    texts = [
        "\n".join(load(64 * n + (step if n % most == most - 1 else 0), n) for n in range(2 * most)) for step in steps
    ]
    cycles = bench.cycles(texts)
    shown = named(steps, [c / 2 for c in cycles], ": ")
    text = f"{most} loads in different lines, the last further on by {shown}"
    if cycles[0] < 2.3:
        return [number("bank_bytes", 0, f"{text} cycles"), *findings]
    apart = [s for s, c in zip(steps, cycles, strict=True) if c < 2.3]
    if not apart:
        return [unknown("bank_bytes", f"{text} cycles: hindered at any place"), *findings]
    loads = number("bank_loads", 2 * most / cycles[0], f"{text} cycles")
    return [number("bank_bytes", min(apart), f"{text} cycles"), loads, *findings]


def store_commit(bench: ProbeBench) -> list[Finding]:
    """Find the stores that commit to the cache together: two in a row, at offsets in one block or in two.

    This differs from the width of the store ports only if two stores to the same place take one cycle.
    """
    steps = (0, 8, 16, 32, 64)
    # The pairs of a trip are 128 bytes apart: in different blocks, whatever their size.
    texts = ["\n".join(_store("gpr", 128 * n + k * step, k) for n in range(6) for k in range(2)) for step in steps]
    cycles = [c / 6 for c in bench.cycles(texts)]
    text = f"two stores at 0 and {named(steps, cycles, ': ')} cycles"
    if cycles[1] > 1.5:
        return [unknown("store_commit_bytes", f"{text}: one store a cycle at most")]
    apart = [s for s, c in zip(steps, cycles, strict=True) if c > 1.5]
    if not apart:
        return [number("store_commit_bytes", 0, f"{text}: no limit is seen")]
    return [number("store_commit_bytes", min(apart), text), *_together(bench, min(apart))]


def _together(bench: ProbeBench, block: int) -> list[Finding]:
    """Find out if two stores commit at once: then three to a block and one to another take a cycle more."""
    step = min(8, block // 4)
    if step < 4:
        return []
    places = [step * k for k in range(3)]
    cycles = bench.one("\n".join(f"movl %eax, {p}(%rsi)" for p in [*places, 2 * block]))
    text = f"three stores to {block} bytes and one elsewhere: {cycles:.2f} cycles"
    if cycles > 2.7:
        return [number("store_commit_most", 2, text)]
    return [number("store_commit_most", 0, f"{text}: no limit is seen")]


# --- latencies --------------------------------------------------------------------------------------------------------


def load_latency(bench: ProbeBench) -> list[Finding]:
    """Measure load latencies with pointers that point to themselves.

    Vectors return by a move to a general-purpose register.

    That move's own latency is only measured together with its way back: it gets half of both, and the other half is the
    uncertainty of the figure.
    """
    simple, indexed = bench.each(["movq (%rsi), %rsi", "movq (%rsi,%rbx), %rsi"], 8, {"rbx": 0}, PAGES)
    text = f"chain of loads: {simple:.2f} cycles each, {indexed:.2f} with an index"
    findings = [number("load_latency.gpr", indexed, text), flag("fast_pointer_chasing", indexed - simple > 0.5, text)]
    for kind in _classes(bench)[1:]:
        back = _VECTOR_TO_WORD[kind]
        there = back.split()[0] + " %rsi, %xmm0"
        load = f"{_MOVE[kind]} (%rsi,%rbx), %{kind}0"
        both, whole = bench.each([f"{there}\n{back}", f"{load}\n{back}"], 6, {"rbx": 0}, PAGES)
        value = whole - both / 2
        text = f"load and move to a general-purpose register {whole:.2f} cycles, move there and back {both:.2f}"
        findings.append(number(f"load_latency.{kind}", value, text, whole - both + 0.5, whole - 0.5))
    return findings


def line_crossing(bench: ProbeBench) -> list[Finding]:
    """Measure a load that crosses a line among others, relative to the same number of loads within lines."""
    inside, across = bench.cycles(["\n".join(_load("gpr", place + 64 * n, n) for n in range(6)) for place in (0, 60)])
    # As many loads from different lines cost as much as two accesses for each: bank conflicts affect both alike.
    twice = bench.one("\n".join(_load("gpr", 64 * n, n) for n in range(12)))
    text = f"six loads: {inside:.2f} cycles in six lines, {across:.2f} across their ends; twelve in lines {twice:.2f}"
    extra = (across - inside) / (twice - inside) if twice > inside else 0
    if extra < 0.1:
        return [unknown("line_crossing_cycles", f"{text}: no cost is seen")]
    findings = [number("line_crossing_cycles", extra, text, math.floor(extra + 0.1), math.ceil(extra - 0.1))]
    offsets = (12, 28, 60)
    cycles = bench.cycles(["\n".join(_load("gpr", p + 64 * n, n) for n in range(6)) for p in offsets])
    text = f"six loads across {named((p + 4 for p in offsets), cycles, ': ')}"
    slow = [p + 4 for p, c in zip(offsets, cycles, strict=True) if c > inside + 0.5 * (across - inside)]
    if extra > 0.4 and slow:
        findings.append(number("line_bytes", min(slow), f"{text} cycles, {inside:.2f} aligned"))
    return findings


# --- from stores to loads ---------------------------------------------------------------------------------------------


def forwarding(bench: ProbeBench) -> list[Finding]:
    """Measure store forwarding by class, in chains of a store and a load of the same place.

    Where the renamer forwards, an indexed address makes the load wait.
    """
    texts = {
        "8 bytes": "movq %rax, (%rsi)\nmovq (%rsi), %rax",
        "with an index": "movq %rax, (%rsi,%rcx)\nmovq (%rsi,%rcx), %rax",
        "1 byte": "movb %al, (%rsi)\nmovzbl (%rsi), %eax",
        "2 bytes": "movw %ax, (%rsi)\nmovzwl (%rsi), %eax",
        "8 bytes, added": "movq %rax, (%rsi)\naddq (%rsi), %rax",
        "addq %rax, (m)": "addq %rax, (%rsi)",
        "addq $1, (m)": "addq $1, (%rsi)",
        "shlq $1, (m)": "shlq $1, (%rsi)",
        "addq %rax, (m) and load": "addq %rax, (%rsi)\nmovq (%rsi), %rax",
        "push, pop": "pushq %rax\npopq %rax",
    }
    seen = dict(zip(texts, bench.each(texts.values(), 4, {"rcx": 0}), strict=True))
    text = f"store and load of the same place, cycles in a chain: {named(seen, seen.values())}"
    # Through memory it takes four cycles on any core; through the renamer, the instruction's own at most.
    slowest = max(seen[n] for n in ("8 bytes", "with an index", "2 bytes"))
    findings = []
    if slowest < 3:
        findings.append(unknown("store_forward.gpr", f"{text}: all is renamed"))
    else:
        findings.append(number("store_forward.gpr", slowest, text, slowest - 0.6, slowest + 0.6))
    renamed = seen["8 bytes"] < 2 < slowest
    findings.append(flag("memory_renaming", renamed, text))
    if renamed:
        for key, name, most in (
            ("indexed", "with an index", 2),
            ("bytes", "1 byte", 2),
            ("computing", "8 bytes, added", 3),
            ("register_updates", "addq %rax, (m)", 3),
        ):
            findings.append(flag(f"memory_renaming.{key}", seen[name] < most, f"{name}: {seen[name]:.2f} cycles"))
    for kind in _classes(bench)[1:]:
        name, register = _MOVE[kind], _register(kind, 0)
        there = f"{name} {register}, (%rsi)\n{name} (%rsi), {register}"
        link = "mulps %xmm1, %xmm0" if kind == "xmm" else f"vmulps %{kind}1, %{kind}0, %{kind}0"
        alone, linked, bare = bench.each([link, f"{link}\n{there}", there], 4)
        # Loops compute the values that they pass through memory. Without a computation between, a store and a load
        # take longer on some cores (Golden Cove: 7.3 cycles instead of 5).
        each = linked - alone
        text = (
            f"multiplication, store and load of {_BYTES[kind]} bytes: {linked:.2f} cycles in a chain, "
            f"{alone:.2f} of them multiplying; store and load alone {bare:.2f}"
        )
        findings.append(number(f"store_forward.{kind}", each, text, each - 0.6, each + 0.6))
    return findings


def blocked_forwarding(bench: ProbeBench) -> list[Finding]:
    """Measure loads that forwarding cannot serve: eight bytes from two stores of four, or half written by one store.

    Both with data that such a load brought, and with others.
    """
    registers = {"rcx": 0}
    forwarded = ["movq %rax, (%rsi,%rcx)\nmovq (%rsi,%rcx), %rax", "movw %ax, (%rsi)\nmovzwl (%rsi), %eax"]
    whole = max(bench.each(forwarded, 4, registers))  # the renamer forwards it where possible
    blocked = [
        "movl %eax, (%rsi)\nmovl %eax, 4(%rsi)",
        "movl %eax, (%rsi)",
        "movl %eax, 4(%rsi)",
        "movl %ebx, (%rsi)",
        "movl %ebx, (%rsi)\nmovl %ebx, 4(%rsi)",
    ]
    halves, lower, upper, free, apart = bench.cycles([f"{b}\nmovq (%rsi), %rax" for b in blocked], registers)
    text = (
        f"load of 8 bytes behind a store of 8: {whole:.2f} cycles in a chain; of two stores of 4: {halves:.2f}; of one "
        f"to its lower half: {lower:.2f}, to its upper: {upper:.2f}; of data not from the load, one to its lower half: "
        f"{free:.2f}, two: {apart:.2f}"
    )
    if whole < 3:
        return [unknown("blocked_forward_cycles", f"{text}: all is renamed")]
    if halves < whole + 1.5:
        return [note("blocked forwarding", "none is seen", text)]
    # Such loads wait for each other, whatever was stored. Where that takes less than a link of the chain does, which
    # some cores have (Golden Cove: 16 and 19), one number says both no better than anything between.
    short, long = (apart, halves) if whole + 1.5 <= apart <= halves else (halves, halves)
    return [
        number("blocked_forward_cycles", short - whole, text, short - whole - 2, long - whole + 1.5),
        flag("merges_narrow_store", free < 0.5 * upper, text),
    ]


def ways(bench: ProbeBench) -> list[Finding]:
    """Measure the cost of passing a result to a unit of another kind: two links of a chain against each alone."""
    links = {
        "add": "vaddsd %xmm1, %xmm0, %xmm0",
        "mul": "vmulsd %xmm1, %xmm0, %xmm0",
        "fma": "vfmadd213sd %xmm2, %xmm1, %xmm0",
        "and": "vandpd %xmm0, %xmm0, %xmm0",
        "padd": "vpaddd %xmm2, %xmm0, %xmm0",
        "shuffle": "vpermilpd $1, %xmm0, %xmm0",
        "max": "vmaxsd %xmm1, %xmm0, %xmm0",
        "blend": "vblendvpd %xmm1, %xmm0, %xmm0, %xmm0",
    }
    if not bench.runs(links["fma"]):
        return []
    start = "vxorps %xmm2, %xmm2, %xmm2\n"
    alone = dict(zip(links, bench.each(links.values(), 8, start=start), strict=True))
    pairs = [pair for pair in combinations(links, 2) if not bench.quick or "add" in pair]
    cycles = bench.each([f"{links[a]}\n{links[b]}" for a, b in pairs], 4, start=start)
    more = {f"{a} {b}": c - alone[a] - alone[b] for (a, b), c in zip(pairs, cycles, strict=True)}
    text = ", ".join(f"{pair} {c:+.2f}" for pair, c in more.items() if abs(c) > 0.2)
    return [
        note("links", "cycles of each in a chain", named(alone, alone.values())),
        note("ways", "cycles by which two links in turn take longer than by themselves", text or "none"),
    ]


PROBES = (loads, stores, banks, store_commit, load_latency, line_crossing, forwarding, blocked_forwarding, ways)
