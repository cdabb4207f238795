"""Probes of the front end: issue width, short loops, jumps, pairs that fuse, and the renamer's own work."""

from __future__ import annotations

from itertools import product

from incc.frontends.x86.work.removal import NO_OPS
from incc.measuring.pipeline.probing import Finding, ProbeBench, flag, listed, named, note, number, repeated, unknown

_NOP = "nopl 8(%rax)"  # four bytes: as many in a block of code as any µop cache holds
_IDIOMS = "xorl %eax, %eax\nxorl %ebx, %ebx\nxorl %ecx, %ecx\nxorl %edx, %edx"
_MOVES = "movq %rsi, %rax\nmovq %rdi, %rbx\nmovq %rbp, %rcx\nmovq %rsi, %rdx"


def issue_width(bench: ProbeBench) -> list[Finding]:
    """Measure the issue width with instructions that the renamer does alone: how many more take a cycle more.

    The best of three kinds counts, since moves need not be eliminated, and nops may be left out or merged before.
    """
    widths = {}
    for kind, text in (("nops", repeated(_NOP, 4)), ("zero idioms", _IDIOMS), ("moves", _MOVES)):
        short, long = bench.cycles([repeated(text, 9), repeated(text, 21)])
        widths[kind] = 48 / max(long - short, 0.01)
    text = "; ".join(f"{kind}: {width:.2f} a cycle" for kind, width in widths.items())
    # Nops that travel with others look like a wider renamer.
    bench.seen["moves"] = widths["moves"] / max(widths["zero idioms"], 0.1)
    bench.plain_nops = widths["nops"] <= 1.2 * max(widths["zero idioms"], widths["moves"])
    best = max(width for kind, width in widths.items() if bench.plain_nops or kind != "nops")
    if abs(best - round(best)) > 0.3 or not best:
        return [unknown("issue_width", f"{text}: no whole number")]
    return [number("issue_width", best, text)]


def loop_lengths(bench: ProbeBench) -> list[Finding]:
    """Measure loops of n nops: the loss at a loop's end, and the rate of the front end."""
    lengths = (5, 6, 8, 10, 12, 14, 16, 18, 20, 24, 30, 36, 48, 60, 96, 120)
    cycles = bench.cycles([repeated("nop", n) for n in lengths])
    return [note("front end", "cycles a trip of n nops of one byte and a fused jump", named(lengths, cycles, ": "))]


def long_code(bench: ProbeBench) -> list[Finding]:
    """Measure the decoders with code that no µop cache holds: nops of four bytes, 24 KiB."""
    if bench.quick:
        return []
    count = 6000
    cycles = bench.one(repeated(_NOP, count))
    return [note("decoders", round(count / cycles, 2), f"nops of four bytes a cycle, {count} in a loop: {cycles:.0f}")]


def taken_jumps(bench: ProbeBench) -> list[Finding]:
    """Measure jumps to the start of the next line of code, the usual case for a branch predictor."""
    few, many = bench.cycles([repeated("jmp 1f\n.p2align 6\n1:", n) for n in (4, 12)])
    each = (many - few) / 8
    return [note("taken jumps", round(each, 2), f"cycles per jump; 4 and 12 jumps in a row take {listed([few, many])}")]


# --- pairs that fuse --------------------------------------------------------------------------------------------------

_CONDITIONS = ["a", "ae", "b", "be", "e", "g", "ge", "l", "le", "ne", "no", "np", "ns", "o", "p", "s"]
_PAIRS = {name: f"{name}q %rbx, %rax" for name in ("add", "sub", "cmp", "and", "test", "or", "xor")}
_PAIRS |= {"inc": "incq %rax", "dec": "decq %rax"}
_MASK = (1 << 64) - 1
_SIGN = 1 << 63
_VALUES = (0, 1, 2, 3, _SIGN, _SIGN - 1, _MASK)


def _taken(operation: str, a: int, b: int, condition: str) -> bool:
    """Return True if a jump is taken after an operation on a (rax) and b (rbx), by Intel's manual."""
    carry = overflow = False
    if operation in ("inc", "dec"):
        b = 1
    if operation in ("add", "inc"):
        result = (a + b) & _MASK
        carry = operation == "add" and a + b > _MASK  # `inc` leaves it as the instructions before: clear
        overflow = bool(~(a ^ b) & (a ^ result) & _SIGN)
    elif operation in ("sub", "cmp", "dec"):
        result = (a - b) & _MASK
        carry = operation != "dec" and a < b
        overflow = bool((a ^ b) & (a ^ result) & _SIGN)
    else:
        result = {"and": a & b, "test": a & b, "or": a | b, "xor": a ^ b}[operation]
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


def _operands(operation: str, condition: str) -> tuple[int, int]:
    """Return operands with which the jump is not taken, if there are any."""
    return min(product(_VALUES, _VALUES), key=lambda p: _taken(operation, p[0], p[1], condition))


def _slot(bench: ProbeBench, length: int) -> str:
    """Return an instruction of this length in bytes that takes only a slot of the renamer."""
    if bench.plain_nops:
        return ".byte " + ", ".join(f"0x{byte}" for byte in NO_OPS[length - 1].split())
    return ".byte " + "0x3e, " * (length - 2) + "0x31, 0xd2"  # xorl %edx, %edx


def _group(bench: ProbeBench, start: list[str], size: int, slots: int) -> str:
    """Return instructions of `size` bytes, then `slots` of the renamer's own work that fill whole blocks of 32 bytes.

    On some cores code with a jump at the end of a block does not come from the µop cache.
    """
    total = -(-(size + 4 * slots) // 32) * 32
    lengths = [(total - size + n) // slots for n in range(slots)]
    return "\n".join([*start, *[_slot(bench, length) for length in lengths]])


def fusion(bench: ProbeBench) -> list[Finding]:
    """Find the instructions that fuse with each jump.

    Loops have four groups of a pair, a move that brings its operand back, an instruction that clears the carry flag,
    and other work; they are compared with loops that have one or two instructions for the pair. The jumps lead to the
    next instruction and are not taken where possible.
    """
    width = issue_width(bench)[0].value
    if not isinstance(width, int):
        return [unknown("macro_fusion", "the issue width is not known")]
    head = ["xorl %ecx, %ecx", "movq %rsi, %rax"]
    slots = 3 * width - 3
    one, two = bench.cycles(
        [
            repeated(_group(bench, [*head, *pair], 10, slots), 4)
            for pair in ([_slot(bench, 5)], [_slot(bench, 3), "xorl %ebp, %ebp"])
        ]
    )
    if two - one < 0.3:
        return [unknown("macro_fusion", f"four slots more make no difference: {one:.2f} and {two:.2f} cycles")]
    findings = []
    text = f"four slots more take {two:.2f} cycles instead of {one:.2f}"
    operations = [o for o in _PAIRS if not bench.quick or o in ("add", "cmp", "test", "dec")]
    conditions = [c for c in _CONDITIONS if not bench.quick or c in ("a", "b", "e", "l", "s")]
    for operation, condition in product(operations, conditions):
        a, b = _operands(operation, condition)
        body = repeated(_group(bench, [*head, _PAIRS[operation], f"j{condition} 1f\n1:"], 10, slots), 4)
        registers = {"rsi": a, "rbx": b}
        name = f"macro_fusion.{operation}.j{condition}"
        if bench.reaches(body, one + 0.4 * (two - one), registers=registers):
            findings.append(flag(name, True, f"a pair is one slot; {text}"))
        elif bench.reaches(body, two + 0.4 * (two - one), registers=registers):
            findings.append(flag(name, False, f"a pair is two slots; {text}"))
        else:
            findings.append(unknown(name, f"neither one slot nor two; {text}"))
    return findings


# --- the renamer ------------------------------------------------------------------------------------------------------


def _elimination(bench: ProbeBench, name: str, there: str, back: str, link: str, links: int = 6) -> Finding:
    """Measure chains of moves there and back: a slot each, and no time if they are eliminated."""
    alone, chained = bench.cycles([repeated(link, 8), repeated(f"{link}\n{there}\n{back}", 8)])
    each = (chained - alone) / 16
    text = f"{each:.2f} cycles a move of a chain ({listed([alone, chained])})"
    # With a few slots for eliminated moves, most of a chain's are eliminated, but not most of many in a row.
    if each < 0.03 and bench.seen.get("moves", 0.0) > 0.97:
        return flag(name, "unlimited", text)
    if each > 0.85:
        return number(name, 0, text)
    return unknown(name, f"{text}: some are eliminated")


def move_elimination(bench: ProbeBench) -> list[Finding]:
    multiply = "imulq %rsi, %rax"
    findings = [_elimination(bench, "move_elim_gpr", "movq %rax, %rbx", "movq %rbx, %rax", multiply)]
    if bench.runs("vpaddd %xmm1, %xmm0, %xmm0"):
        vector = "vmulpd %xmm1, %xmm0, %xmm0"
        moves = ("vmovaps %xmm0, %xmm2", "vmovaps %xmm2, %xmm0")
    else:
        vector, moves = "mulpd %xmm1, %xmm0", ("movaps %xmm0, %xmm2", "movaps %xmm2, %xmm0")
    findings.append(_elimination(bench, "move_elim_simd", *moves, vector))
    cycles = bench.each(["movq %rax, %rax", "movl %eax, %eax", "movzbl %al, %eax"], 8)
    text = named(("mov 64", "mov 32", "movzbl"), cycles)
    return [*findings, note("moves to itself", "cycles of each in a chain", text)]


def idioms(bench: ProbeBench) -> list[Finding]:
    """Find instructions whose result does not depend on their operands when these are the same register."""
    texts = {
        "xor": "xorl %eax, %eax",
        "sub": "subl %eax, %eax",
        "sbb": "sbbl %eax, %eax",
        "cmp eq": "pcmpeqd %xmm0, %xmm0",
        "pxor": "pxor %xmm0, %xmm0",
        "psub": "psubd %xmm0, %xmm0",
        "xorps": "xorps %xmm0, %xmm0",
    }
    text = named(texts, bench.each(texts.values(), 16))
    return [note("idioms", "cycles of each in a row, with one register for all operands", text)]


def constants(bench: ProbeBench) -> list[Finding]:
    """Find additions of constants that the renamer does, and the instructions that have to wait for them."""
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
    cycles = bench.each(texts.values(), 4)
    findings = [note("constants", "cycles of each in a chain of four", named(texts, cycles))]
    if cycles[0] > 0.9:
        return findings
    users = {
        "and": "andq %rsi, %rax",
        "lea": "leaq (%rax,%rsi), %rax",
        "imul": "imulq %rsi, %rax",
        "adc": "adcq %rsi, %rax",
        "shl": "shlq $1, %rax",
        "rol": "rolq $1, %rax",
        "bswap": "bswapq %rax",
    }
    alone = bench.each(users.values(), 4)
    behind = bench.each([f"addq $5, %rax\n{text}" for text in users.values()], 4)
    text = named(users, [b - a for a, b in zip(alone, behind, strict=True)])
    return [
        *findings,
        note("constants cost", "cycles by which `add $5` before it makes a link of a chain longer", text),
    ]


# --- wrong predictions ------------------------------------------------------------------------------------------------


def misprediction(bench: ProbeBench) -> list[Finding]:
    """Measure the cycles from an unpredictable branch to the first µop after it, at every other branch.

    A number goes through dependent multiplications, and each branch depends on a bit of it; with these bits masked out,
    only the branch differs, which can then be predicted. A link takes the time to compute the bit and restart, instead
    of that of the multiplication alone. The predictor cannot learn the last bits of the time-stamp counter.
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
    *(issue_width, loop_lengths, long_code, taken_jumps),
    *(move_elimination, idioms, constants, misprediction, fusion),
)
