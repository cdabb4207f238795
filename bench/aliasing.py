"""Measure loops whose loads follow stores by 0 to 4,096 bytes within pages, on this machine.

    python bench/aliasing.py [--mcpu=native]

A processor that compares only the lower 12 bits of addresses takes a load for one of a store that is still in flight,
if these bits are equal. Each loop stores to one array and loads from others, which begin at each distance from it
modulo 4 KiB. Loops are timed as `--measure` does. A row has the prediction, which does not depend on the distance, the
least and the most cycles measured, and the distances at which the loop takes more than 5 % longer than at the median.
The last line has the share of measurements within 5 % of the prediction.
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

STORED = 0x40
"""The place within a page at which the array that is stored to begins."""
STEP = 64
TOLERANCE = 0.05
BODIES = {
    "copy of 8 bytes": "mov (%rsi), %rax; mov %rax, (%rdi); add $8, %rsi; add $8, %rdi",
    "copy of 16 bytes": "vmovaps (%rsi), %xmm0; vmovaps %xmm0, (%rdi); add $16, %rsi; add $16, %rdi",
    "copy of a line": "vmovaps (%rsi), %ymm0; vmovaps %ymm0, (%rdi); vmovaps 32(%rsi), %ymm1; vmovaps %ymm1, 32(%rdi);"
    "add $64, %rsi; add $64, %rdi",
    "triad": "vmovaps (%rsi), %ymm0; vfmadd213pd (%rdx), %ymm2, %ymm0; vmovaps %ymm0, (%rdi); vmovaps 32(%rsi), %ymm0;"
    "vfmadd213pd 32(%rdx), %ymm2, %ymm0; vmovaps %ymm0, 32(%rdi); add $64, %rsi; add $64, %rdi; add $64, %rdx",
    "daxpy": "vmovaps (%rsi), %ymm0; vfmadd213pd (%rdi), %ymm2, %ymm0; vmovaps %ymm0, (%rdi);"
    "add $32, %rsi; add $32, %rdi",
    "prefix sum": "vaddsd (%rsi), %xmm0, %xmm0; vmovsd %xmm0, (%rdi); add $8, %rsi; add $8, %rdi",
    "sum and fill": "vaddpd (%rsi), %ymm0, %ymm0; vmovaps %ymm1, (%rdi); add $32, %rsi; add $32, %rdi",
}
"""The loops, without their ends."""


def loop(body: str) -> KernelCode:
    """Return a loop of these instructions."""
    return decode_bytes(assemble(f"0: {body}; dec %r15; jne 0b".replace(";", "\n")))


def spans(distances: Sequence[int]) -> str:
    """Return ascending distances, those that follow each other as the first and the last of them."""
    groups: list[list[int]] = []
    for distance in distances:
        if groups and distance == groups[-1][-1] + STEP:
            groups[-1].append(distance)
        else:
            groups.append([distance])
    return ", ".join(f"{of[0]}–{of[-1]}" if len(of) > 1 else str(of[0]) for of in groups) or "none"


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
    close = total = 0
    print(f"{'loop':<20}{'predicted':>10}{'least':>8}{'most':>8}  slower at distances")
    with Measurer() as measurer:
        for name, body in BODIES.items():
            kernel = loop(body)
            predicted = float(analyze_kernel(kernel, model, KernelSettings(arrays="aligned")).cycles)
            cycles: dict[int, float] = {}
            for distance in range(0, 4097, STEP):
                time = measurer.measure(kernel, Placement((STORED,), ((STORED + distance) % 4096,)))
                if isinstance(time, LoopFailure):
                    print(f"{name:<20} not measured at {distance}: {time.text}")
                    continue
                cycles[distance] = time.cycles
            if not cycles:
                continue
            usual = statistics.median(cycles.values())
            slow = [distance for distance, time in cycles.items() if time > usual * (1 + TOLERANCE)]
            close += sum(abs(time - predicted) <= TOLERANCE * time for time in cycles.values())
            total += len(cycles)
            print(
                f"{name:<20}{predicted:>10.2f}{min(cycles.values()):>8.2f}{max(cycles.values()):>8.2f}  {spans(slow)}",
                flush=True,
            )
    if total:
        print(f"{100 * close / total:.0f} % of {total} measurements within {100 * TOLERANCE:.0f} % of the prediction")
    return 0 if total else 1


if __name__ == "__main__":
    sys.exit(main())
