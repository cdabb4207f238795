"""What goes through in a cycle: issue width, short loops, jumps, pairs that fuse, and what the renamer does by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from incc.measuring.probing import (
    Bench,
    Finding,
    NotMeasured,
    flag,
    listed,
    note,
    number,
    repeated,
    unknown,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

_NOP = "nopl 8(%rax)"  # four bytes: as many in a block of code as any µop cache holds
_IDIOMS = "xorl %eax, %eax\nxorl %ebx, %ebx\nxorl %ecx, %ecx\nxorl %edx, %edx"
_MOVES = "movq %rsi, %rax\nmovq %rdi, %rbx\nmovq %rbp, %rcx\nmovq %rsi, %rdx"


def issue_width(bench: Bench) -> list[Finding]:
    """From instructions that the renamer does alone: how many more a cycle more takes. The best of three kinds, since
    moves need not be eliminated, and nops may be left out or put together before."""
    widths = {}
    for kind, text in (("nops", repeated(_NOP, 4)), ("zero idioms", _IDIOMS), ("moves", _MOVES)):
        short, long = bench.cycles([repeated(text, 9), repeated(text, 21)])
        widths[kind] = 48 / (long - short) if long > short else 0.0
    text = "; ".join(f"{kind}: {width:.2f} a cycle" for kind, width in widths.items())
    # Nops that travel with others look like a wider renamer.
    trusted = [widths["zero idioms"], widths["moves"]]
    best = max(trusted) if widths["nops"] > 1.2 * max(trusted) else max(widths.values())
    if abs(best - round(best)) > 0.3 or not best:
        return [unknown("issue_width", f"{text}: no whole number")]
    return [number("issue_width", best, text)]


def loop_lengths(bench: Bench) -> list[Finding]:
    """Cycles of loops of n nops: what is lost at a loop's end, and what the front end gives."""
    lengths = (5, 6, 8, 10, 12, 14, 16, 18, 20, 24, 30, 36, 48, 60, 96, 120)
    cycles = bench.cycles([repeated("nop", n) for n in lengths])
    text = ", ".join(f"{n}: {c:.2f}" for n, c in zip(lengths, cycles, strict=True))
    return [note("front end", "cycles a trip of n nops of one byte and a fused jump", text)]


def long_code(bench: Bench) -> list[Finding]:
    """Code that no µop cache holds comes from the decoders: nops of four bytes, 24 KiB."""
    if bench.quick:
        return []
    count = 6000
    cycles = bench.one(repeated(_NOP, count))
    return [note("decoders", round(count / cycles, 2), f"nops of four bytes a cycle, {count} in a loop: {cycles:.0f}")]


def taken_jumps(bench: Bench) -> list[Finding]:
    """Jumps to the start of the next line of code, which is what a predictor of jumps has to do with most of them."""
    few, many = bench.cycles([repeated("jmp 1f\n.p2align 6\n1:", n) for n in (4, 12)])
    each = (many - few) / 8
    return [note("taken jumps", round(each, 2), f"cycles a jump: 4 and 12 in a row {listed([few, many])}")]


# --- pairs that fuse --------------------------------------------------------------------------------------------------

_CONDITIONS = "a ae b be e g ge l le ne no np ns o p s".split()
_PAIRS = {
    "add": "addq %rbx, %rax",
    "sub": "subq %rbx, %rax",
    "cmp": "cmpq %rbx, %rax",
    "and": "andq %rbx, %rax",
    "test": "testq %rbx, %rax",
    "or": "orq %rbx, %rax",
    "xor": "xorq %rbx, %rax",
    "inc": "incq %rax",
    "dec": "decq %rax",
}
_MASK = (1 << 64) - 1
_SIGN = 1 << 63
_VALUES = (0, 1, 2, 3, _SIGN, _SIGN - 1, _MASK)


def _taken(operation: str, a: int, b: int, condition: str) -> bool:
    """Whether a jump is taken behind an operation on a (rax) and b (rbx), by Intel's manual."""
    carry = overflow = False
    if operation in ("add", "inc"):
        b = 1 if operation == "inc" else b
        result = (a + b) & _MASK
        carry = a + b > _MASK
        overflow = bool(~(a ^ b) & (a ^ result) & _SIGN)
    elif operation in ("sub", "cmp", "dec"):
        b = 1 if operation == "dec" else b
        result = (a - b) & _MASK
        carry = a < b
        overflow = bool((a ^ b) & (a ^ result) & _SIGN)
    else:
        result = {"and": a & b, "test": a & b, "or": a | b, "xor": a ^ b}[operation]
    if operation in ("inc", "dec"):
        carry = False  # as it was: the instructions before clear it
    zero, sign, even = not result, bool(result & _SIGN), bin(result & 255).count("1") % 2 == 0
    positive = {
        "a": not carry and not zero,
        "b": carry,
        "e": zero,
        "g": not zero and sign == overflow,
        "l": sign != overflow,
        "o": overflow,
        "p": even,
        "s": sign,
    }
    inverse = {"be": "a", "ae": "b", "ne": "e", "le": "g", "ge": "l", "no": "o", "np": "p", "ns": "s"}
    return not positive[inverse[condition]] if condition in inverse else positive[condition]


def _operands(operation: str, condition: str) -> Iterator[tuple[int, int]]:
    """Operands with which the jump is not taken, then those with which it is."""
    pairs = [(a, b) for a in _VALUES for b in _VALUES]
    yield from sorted(pairs, key=lambda p: _taken(operation, *p, condition))


def fusion(bench: Bench) -> list[Finding]:
    """Which instructions fuse with which jumps: a pair behind ten slots of the renamer's own work takes one or two.

    A group has a move that brings the operand back, a test that clears the carry, and as many nops as make it two
    cycles of the renamer if the pair fuses; there are four of them, which run into the next instruction either way.
    """
    width = issue_width(bench)[0].value
    if not isinstance(width, int):
        return [unknown("macro_fusion", "the issue width is not known")]
    nops = 3 * width - 3
    fused = (4 * 3 * width + 1) / width
    # The counter and its jump may be two slots; a pair more than one in each of four groups are four.
    found: dict[str, list[str]] = {}
    unclear = []
    operations = [o for o in _PAIRS if not bench.quick or o in ("add", "cmp", "test", "dec")]
    conditions = [c for c in _CONDITIONS if not bench.quick or c in ("a", "b", "e", "l", "s")]
    for operation in operations:
        for condition in conditions:
            a, b = next(_operands(operation, condition))
            head = f"xorl %ecx, %ecx\nmovq %rsi, %rax\n{_PAIRS[operation]}\nj{condition} 1f\n1:\n"
            body, registers = repeated(head + repeated(_NOP, nops), 4), {"rsi": a, "rbx": b}
            if bench.reaches(body, fused + 2 / width, registers=registers):
                found.setdefault(operation, []).append(f"j{condition}")
            elif not bench.reaches(body, fused + 6.5 / width, registers=registers):
                unclear.append(f"{operation} j{condition}")
    findings = [
        Finding(f"macro_fusion.{operation}", " ".join(found.get(operation, ())), 0, 0, "pairs that take one slot")
        for operation in operations
        if not any(u.startswith(operation + " ") for u in unclear)
    ]
    if unclear:
        findings.append(unknown("macro_fusion", f"neither one slot nor two ({fused:.2f} cycles): " + "; ".join(unclear[:8])))
    return findings


# --- the renamer ------------------------------------------------------------------------------------------------------


def _elimination(bench: Bench, name: str, there: str, back: str, link: str, links: int = 6) -> Finding:
    """From chains of moves there and back: a slot each, and no time if they are eliminated."""
    alone, chained = bench.cycles([repeated(link, 8), repeated(f"{link}\n{there}\n{back}", 8)])
    each = (chained - alone) / 16
    text = f"{each:.2f} cycles a move of a chain ({listed([alone, chained])})"
    if each < 0.08:
        return Finding(name, "unlimited", 0, 0, text)
    if each > 0.85:
        return Finding(name, 0, 0, 0, text)
    return unknown(name, f"{text}: some are eliminated")


def move_elimination(bench: Bench) -> list[Finding]:
    multiply = "imulq %rsi, %rax"
    found = [_elimination(bench, "move_elim_gpr", "movq %rax, %rbx", "movq %rbx, %rax", multiply)]
    if bench.runs("vpaddd %xmm1, %xmm0, %xmm0"):
        vector = "vmulpd %xmm1, %xmm0, %xmm0"
        moves = ("vmovaps %xmm0, %xmm2", "vmovaps %xmm2, %xmm0")
    else:
        vector, moves = "mulpd %xmm1, %xmm0", ("movaps %xmm0, %xmm2", "movaps %xmm2, %xmm0")
    found.append(_elimination(bench, "move_elim_simd", *moves, vector))
    cycles = bench.cycles([repeated(t, 8) for t in ("movq %rax, %rax", "movl %eax, %eax", "movzbl %al, %eax")])
    found.append(
        note(
            "moves to itself",
            "cycles of each in a chain",
            ", ".join(
                f"{t} {c / 8:.2f}" for t, c in zip(("mov 64", "mov 32", "movzbl"), cycles, strict=True)
            ),
        )
    )
    return found


def idioms(bench: Bench) -> list[Finding]:
    """What has a result that does not depend on its operands when they are the same register."""
    texts = {
        "xor": "xorl %eax, %eax",
        "sub": "subl %eax, %eax",
        "sbb": "sbbl %eax, %eax",
        "cmp eq": "pcmpeqd %xmm0, %xmm0",
        "pxor": "pxor %xmm0, %xmm0",
        "psub": "psubd %xmm0, %xmm0",
        "xorps": "xorps %xmm0, %xmm0",
    }
    cycles = bench.cycles([repeated(text, 16) for text in texts.values()])
    text = ", ".join(f"{name} {c / 16:.2f}" for name, c in zip(texts, cycles, strict=True))
    return [note("idioms", "cycles of each in a row, with one register for all operands", text)]


def constants(bench: Bench) -> list[Finding]:
    """Additions of constants that the renamer does, and what has to wait for them."""
    texts = {
        "add $5": "addq $5, %rax",
        "add $1023": "addq $1023, %rax",
        "add $1024": "addq $1024, %rax",
        "inc": "incq %rax",
        "dec": "decq %rax",
        "lea 5": "leaq 5(%rax), %rax",
        "add $5, 32 bits": "addl $5, %eax",
        "add register": "addq %rbx, %rax",
    }
    cycles = bench.cycles([repeated(text, 4) for text in texts.values()])
    seen = dict(zip(texts, (c / 4 for c in cycles), strict=True))
    text = ", ".join(f"{name} {c:.2f}" for name, c in seen.items())
    found = [note("constants", "cycles of each in a chain of four", text)]
    if seen["add $5"] > 0.9:
        return found
    users = {
        "and": "andq %rsi, %rax",
        "lea": "leaq (%rax,%rsi), %rax",
        "imul": "imulq %rsi, %rax",
        "adc": "adcq %rsi, %rax",
        "shl": "shlq $1, %rax",
        "rol": "rolq $1, %rax",
        "bswap": "bswapq %rax",
    }
    alone = bench.cycles([repeated(text, 4) for text in users.values()])
    behind = bench.cycles([repeated(f"addq $5, %rax\n{text}", 4) for text in users.values()])
    text = ", ".join(f"{u} {(b - a) / 4:.2f}" for u, a, b in zip(users, alone, behind, strict=True))
    found.append(note("constants cost", "cycles by which `add $5` before it makes a link of a chain longer", text))
    return found


# --- wrong predictions ------------------------------------------------------------------------------------------------


def misprediction(bench: Bench) -> list[Finding]:
    """From a branch on a bit that nobody can know to the first µop behind it, at every other branch.

    A number goes through multiplications, one after the other, and each branch depends on a bit of it; with the same
    bits masked out, all is the same but the branch can be predicted. A link takes as long as it takes to know the bit
    and start anew, instead of the multiplication alone. What the time-stamp counter says last cannot be learnt.
    """
    registers = {"rsi": 0x9E3779B97F4A7C15, "rbx": 0x123456789ABCDEF1}
    step = ["imulq %rsi, %rbx", "movq %rbx, %rax", "shrq $37, %rax", "testq %rax, %rdi", "jz 1f\n1:"]
    counts = (8, 24)
    bodies = ["\n".join(["rdtsc", "xorq %rax, %rbx", "imulq %rsi, %rbx", *step * n]) for n in counts]
    wrong, right = (bench.cycles(bodies, {**registers, "rdi": mask}) for mask in (1, 0))
    link, plain = ((c[1] - c[0]) / 16 for c in (wrong, right))
    # Half of the branches are wrong; the bit is known a shift and a test after the multiplication.
    penalty = 2 * (link - plain) - 2
    text = (
        f"8 and 24 branches on random bits {listed(wrong)} cycles a trip, predictable {listed(right)}, "
        f"each behind a multiplication of {plain:.2f}"
    )
    if penalty < 4 or penalty > 60:
        return [unknown("mispredict_penalty", text)]
    return [number("mispredict_penalty", penalty, text, penalty - 3, penalty + 3)]


PROBES = (
    issue_width,
    loop_lengths,
    long_code,
    taken_jumps,
    move_elimination,
    idioms,
    constants,
    misprediction,
    fusion,
)
