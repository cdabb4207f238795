"""Compare predictions with measurements of loops whose loads follow stores by 0 to 4,096 bytes within pages.

    python bench/aliasing.py [--mcpu=native]

A processor that first compares only the lower 12 bits of addresses takes a load for one of a store in flight if these
bits agree. Each loop stores to one array and loads from others, which begin at each distance from it modulo 4 KiB. The
prediction is for these addresses (`--let`); loops are timed on this machine as `--measure` does. A row has the distance
and, for each loop, the predicted and the measured cycles. The last rows have the median and the largest difference in
per cent of the measurement, for each loop and for all.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Sequence

from incc.core.analysis import KernelSettings, analyze_kernel
from incc.driver.pipeline import AnalysisError, choose_model
from incc.frontends.isa import Placement
from incc.frontends.kernel import KernelCode
from incc.frontends.x86.kernels import decode_bytes
from incc.measuring.assemble import assemble
from incc.measuring.harness import LoopFailure
from incc.measuring.kernels import Measurer
from incc.models.model import MachineModel

STORED = 0x40
"""The place within a page at which the array that is stored to begins."""
STEP = 64
BODIES = {
    "copy 8": "mov (%rsi), %rax; mov %rax, (%rdi); add $8, %rsi; add $8, %rdi",
    "copy 16": "vmovaps (%rsi), %xmm0; vmovaps %xmm0, (%rdi); add $16, %rsi; add $16, %rdi",
    "copy line": "vmovaps (%rsi), %ymm0; vmovaps %ymm0, (%rdi); vmovaps 32(%rsi), %ymm1; vmovaps %ymm1, 32(%rdi);"
    "add $64, %rsi; add $64, %rdi",
    "triad": "vmovaps (%rsi), %ymm0; vfmadd213pd (%rdx), %ymm2, %ymm0; vmovaps %ymm0, (%rdi); vmovaps 32(%rsi), %ymm0;"
    "vfmadd213pd 32(%rdx), %ymm2, %ymm0; vmovaps %ymm0, 32(%rdi); add $64, %rsi; add $64, %rdi; add $64, %rdx",
    "daxpy": "vmovaps (%rsi), %ymm0; vfmadd213pd (%rdi), %ymm2, %ymm0; vmovaps %ymm0, (%rdi);"
    "add $32, %rsi; add $32, %rdi",
    "prefix sum": "vaddsd (%rsi), %xmm0, %xmm0; vmovsd %xmm0, (%rdi); add $8, %rsi; add $8, %rdi",
    "sum, fill": "vaddpd (%rsi), %ymm0, %ymm0; vmovaps %ymm1, (%rdi); add $32, %rsi; add $32, %rdi",
    "chain": "mov %rcx, (%rdi); mov (%rsi,%rax), %rbx; mov %rbx, %rax; sub %rbx, %rax",
    "chain, slow": "mov %rcx, (%rdi); mov (%rsi,%rax), %rbx; imul $1, %rbx, %rbx; mov %rbx, %rax; sub %rbx, %rax;"
    "add $0, %rax",
    "2 stores": "mov %rcx, (%rdi); mov %rcx, (%rdi); mov (%rsi,%rax), %rbx; imul $1, %rbx, %rbx; mov %rbx, %rax;"
    "sub %rbx, %rax; add $0, %rax",
}
"""The loops, without their ends. In the last three, each load waits for the one before, and addresses stay the same."""


def loop(body: str) -> KernelCode:
    """Return a loop of these instructions."""
    return decode_bytes(assemble(f"0: {body}; dec %r15; jne 0b".replace(";", "\n")))


def predicted(kernel: KernelCode, model: MachineModel, distance: int) -> float:
    """Return the predicted cycles if the arrays that are loaded from begin this far behind the one stored to."""
    place = (STORED + distance) % 4096
    let = (("rdi", 1 << 24 | STORED), ("rsi", 2 << 24 | place), ("rdx", 3 << 24 | place), ("rax", 0))
    return float(analyze_kernel(kernel, model, KernelSettings(arrays="aligned", let=let)).cycles)


def differences(pairs: Sequence[tuple[float, float]]) -> list[float]:
    """Return by how many per cent of the measurements predictions differ from them."""
    return [100 * abs(prediction / measurement - 1) for prediction, measurement in pairs]


def main() -> int:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mcpu", default="native", metavar="CORE", help="core of the prediction (native)")
    options = parser.parse_args()
    try:
        model = choose_model(options.mcpu, "").model
    except AnalysisError as error:
        print(f"bench/aliasing.py: error: {error}", file=sys.stderr)
        return 1
    kernels = {name: loop(body) for name, body in BODIES.items()}
    pairs: dict[str, list[tuple[float, float]]] = {name: [] for name in kernels}
    print("distance" + "".join(f"{name:>13}" for name in kernels))
    with Measurer() as measurer:
        for distance in range(0, 4097, STEP):
            row = f"{distance:>8}"
            for name, kernel in kernels.items():
                prediction = predicted(kernel, model, distance)
                time = measurer.measure(kernel, Placement((STORED,), ((STORED + distance) % 4096,)))
                if isinstance(time, LoopFailure):
                    row += f"{prediction:>7.2f}     –"
                    continue
                pairs[name].append((prediction, time.cycles))
                row += f"{prediction:>7.2f}{time.cycles:>6.2f}"
            print(row, flush=True)
    every = differences([pair for of in pairs.values() for pair in of])
    if not every:
        print("bench/aliasing.py: error: no loop could be measured", file=sys.stderr)
        return 1
    for title, function in (("median", statistics.median), ("largest", max)):
        cells = (f"{function(differences(of)):>11.1f} %" if of else f"{'–':>13}" for of in pairs.values())
        print(f"{title:>8}" + "".join(cells) + f"   all: {function(every):.1f} %")
    return 0


if __name__ == "__main__":
    sys.exit(main())
