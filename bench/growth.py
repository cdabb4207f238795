"""Report how time and memory grow with the size of the input, in each dimension that an input can grow in.

    python bench/growth.py [--steps 3] [--first N] [DIMENSION…]

Each row is an input for incc-scan, twice as large as the one before. The exponent is the logarithm of the growth of the
time from one size to the next, to the base 2: 1 is linear, 2 quadratic. Time is that of the processor in all processes,
memory the most of a single process.
"""

from __future__ import annotations

import argparse
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

LOOP = "\tmovsd (%rdi,%rax,8), %xmm1\n\taddsd %xmm1, %xmm0\n\taddq $1, %rax\n\tcmpq %rdx, %rax\n"


def _function(name: str, body: str) -> str:
    return f"\t.globl {name}\n\t.type {name}, @function\n{name}:\n{body}\tret\n\t.size {name}, .-{name}\n"


ONE = _function("one", f".One:\n{LOOP}\tjne .One\n")
"""Something to analyse beside what has no loop."""


def functions(n: int) -> str:
    return "".join(_function(f"f{i}", f".L{i}:\n{LOOP}\tjne .L{i}\n") for i in range(n))


def loops(n: int) -> str:
    return _function("f", "".join(f".L{i}:\n{LOOP}\tjne .L{i}\n" for i in range(n)))


def nested(n: int) -> str:
    heads = "".join(f"\txorl %eax, %eax\n.L{i}:\n\taddq $1, %rbx\n" for i in range(n))
    return _function("f", heads + LOOP + "".join(f"\tjne .L{i}\n\taddq $1, %rcx\n" for i in range(n - 1, -1, -1)))


def branches(n: int) -> str:
    sides = "".join(f"\tcmpq ${i}, %rax\n\tje .S{i}\n\taddq $1, %rbx\n.S{i}:\n" for i in range(n))
    return _function("f", f".L:\n{sides}{LOOP}\tjne .L\n")


def exits(n: int) -> str:
    return _function("f", ".L:\n" + "".join(f"\tcmpq ${i}, %rax\n\tje .E\n" for i in range(n)) + "\tjmp .L\n.E:\n")


def cases(n: int) -> str:
    table = "\t.section .rodata\n.T:\n" + "".join(f"\t.quad .C{i}\n" for i in range(n)) + "\t.text\n"
    jump = "\tmovq .T(,%rax,8), %rcx\n\tjmp *%rcx\n"
    return _function("f", f".L:\n{jump}" + "".join(f".C{i}:\n{LOOP}\tjmp .L\n" for i in range(n)) + table)


def irreducible(n: int) -> str:
    each = "\tje .M{0}\n.L{0}:\n\taddq $1, %rax\n.M{0}:\n\taddq $1, %rbx\n\tcmpq %rax, %rbx\n\tjne .L{0}\n"
    return _function("f", "".join(each.format(i) for i in range(n)))


def labels(n: int) -> str:
    return _function("f", "".join(f".L{i}:\n\taddq $1, %rax\n\tjne .L{i + 1}\n" for i in range(n)) + f".L{n}:\n") + ONE


def directives(n: int) -> str:
    return ONE + "\t.data\n" + "".join(f"d{i}:\n\t.long {i}\n\t.p2align 3\n" for i in range(n))


def lines(n: int) -> str:
    places = "".join(f"\t.loc 1 {i + 1} 3\n\taddq $1, %rax\n" for i in range(n))
    return '\t.file 1 "a.c"\n' + _function("f", f"\t.loc 1 1\n.L:\n{LOOP}\tjne .L\n{places}")


def instructions(n: int) -> str:
    body = "".join(f"\taddsd {8 * i}(%rdi), %xmm{i % 8}\n" for i in range(n))
    return _function("f", f".L:\n{body}\taddq $1, %rax\n\tjne .L\n")


def chain(n: int) -> str:
    return _function("f", ".L:\n" + "\timulq %rax, %rax\n" * n + "\tsubq $1, %rdi\n\tjne .L\n")


def stores(n: int) -> str:
    body = "".join(f"\tmovq %rax, {8 * i}(%rdi,%rcx,8)\n\tmovq {8 * i}(%rsi,%rcx,8), %rax\n" for i in range(n))
    return _function("f", f".L:\n{body}\taddq $1, %rcx\n\tjne .L\n")


def straight(n: int) -> str:
    return _function("f", "\taddq $1, %rax\n" * n) + ONE


def sections(n: int) -> str:
    return "".join(
        f'\t.section .text.f{i},"ax",@progbits\n' + _function(f"f{i}", f".L{i}:\n{LOOP}\tjne .L{i}\n") for i in range(n)
    )


def calls(n: int) -> str:
    return _function("f", "".join(f"\tcall g{i}\n\tmovq v{i}(%rip), %rax\n" for i in range(n))) + ONE


TEXTS: dict[str, tuple[Callable[[int], str], int]] = {
    "functions": (functions, 1000),
    "loops": (loops, 1000),
    "nested": (nested, 1500),
    "branches": (branches, 1000),
    "exits": (exits, 2000),
    "cases": (cases, 500),
    "irreducible": (irreducible, 500),
    "labels": (labels, 10_000),
    "directives": (directives, 20_000),
    "lines": (lines, 10_000),
    "instructions": (instructions, 2000),
    "chain": (chain, 2000),
    "stores": (stores, 1000),
    "straight": (straight, 20_000),
    "sections": (sections, 500),
    "calls": (calls, 10_000),
}
"""The generators of assembly, with the first sizes."""


def assembled(folder: Path, text: str, name: str) -> Path:
    (folder / f"{name}.s").write_text(text)
    subprocess.run(["as", "-o", folder / f"{name}.o", folder / f"{name}.s"], check=True)
    return folder / f"{name}.o"


def archive(folder: Path, n: int) -> Path:
    """A static library of `n` objects, each with a loop of its own."""
    files = []
    data = assembled(folder, ONE, "one").read_bytes()
    for i in range(n):
        files.append(folder / f"m{i}.o")
        files[-1].write_bytes(data)
    subprocess.run(["ar", "rc", folder / "a.a", *files], check=True)
    return folder / "a.a"


def measured(command: list[str]) -> tuple[float, float, int]:
    """Return the seconds of the processor and the MB of a command, and its exit status."""
    with open(os.devnull, "w") as null:
        process = subprocess.Popen(command, stdout=null, stderr=null)
        _, status, used = os.wait4(process.pid, 0)
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, os.waitstatus_to_exitcode(status)


def main() -> None:
    names = [*TEXTS, *(f"{name}.o" for name in TEXTS if name != "directives"), "archive"]
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("dimensions", nargs="*", metavar="DIMENSION", help=f"default: {', '.join(names)}")
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--first", type=int, default=0, help="first size (default: one for each dimension)")
    parser.add_argument("--command", default="incc-scan -mcpu=skylake -j1 --format=reports")
    options = parser.parse_args()
    print(f"{'dimension':<14} {'size':>7} {'input':>8} {'time':>8} {'exponent':>8} {'memory':>8}", flush=True)
    for name in options.dimensions or names:
        text, first = TEXTS.get(name.removesuffix(".o"), (loops, 500))
        before = 0.0
        for step in range(options.steps):
            size = (options.first or first) << step
            with tempfile.TemporaryDirectory() as place:
                folder = Path(place)
                if name == "archive":
                    file = archive(folder, size)
                elif name.endswith(".o"):
                    file = assembled(folder, text(size), "a")
                else:
                    file = folder / "a.s"
                    file.write_text(text(size))
                kilobytes = file.stat().st_size / 1024
                seconds, megabytes, status = measured([*options.command.split(), str(file)])
            exponent = f"{math.log2(seconds / before):8.2f}" if before else " " * 8
            before = seconds
            failed = f"  status {status}" if status else ""
            print(
                f"{name:<14} {size:>7} {kilobytes:>5.0f} KB {seconds:>6.2f} s {exponent} {megabytes:>5.0f} MB{failed}",
                flush=True,
            )


if __name__ == "__main__":
    sys.exit(main())
