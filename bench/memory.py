"""Report the memory of a long-lived process that analyses ever new kernels, each time their number doubles.

    python bench/memory.py [--kernels 1000000] [--cores skylake,znver4] [--seed 1]

The kernels are random machine code of a few instructions each, no two alike, so that nothing that is kept for later is
of use. What is kept (facts of encodings, pieces of bound kernels, forms that were looked up) is bounded; with that
full, the process grows no more.
"""

from __future__ import annotations

import argparse
import random
import resource
import time

from incc.core.analysis import analyze_kernel
from incc.driver.pipeline import choose_model
from incc.frontends.x86.kernels import decode_bytes

REGISTERS = 16


def instruction(r: random.Random) -> bytes:
    """A random instruction: arithmetic, a load, a store or an immediate, with random registers and constants."""
    a, b = r.randrange(REGISTERS), r.randrange(REGISTERS)
    rex = 0x48 | (a >> 3) << 2 | b >> 3
    modrm = 0xC0 | (a & 7) << 3 | b & 7
    match r.randrange(4):
        case 0:
            return bytes((rex, r.choice((0x01, 0x21, 0x29, 0x31, 0x89)), modrm))
        case 1 if b & 7 not in (4, 5):
            displacement = r.randrange(1 << 31).to_bytes(4, "little")
            return bytes((rex, r.choice((0x8B, 0x89, 0x03)), 0x80 | (a & 7) << 3 | b & 7)) + displacement
        case _:
            immediate = r.randrange(1 << 31).to_bytes(4, "little")
            return bytes((0x48 | b >> 3, 0x81, 0xC0 | r.choice((0, 5, 6)) << 3 | b & 7)) + immediate


def resident_megabytes() -> float:
    """Return the memory that the process uses now."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * resource.getpagesize() / (1 << 20)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--kernels", type=int, default=1_000_000)
    parser.add_argument("--cores", default="skylake,znver4")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    models = [choose_model(name, "").model for name in options.cores.split(",")]
    r = random.Random(options.seed)
    print(f"{'kernels':>9}  {'MB':>6}  {'a second':>9}")
    start, due = time.perf_counter(), 1000
    for done in range(1, options.kernels + 1):
        code = b"".join(instruction(r) for _ in range(r.randrange(2, 8)))
        kernel = decode_bytes(code, text=False)
        for model in models:
            analyze_kernel(kernel, model)
        if done == due or done == options.kernels:
            print(f"{done:>9}  {resident_megabytes():>6.0f}  {done / (time.perf_counter() - start):>9.0f}", flush=True)
            due *= 2


if __name__ == "__main__":
    main()
