"""Measure the repeatability of measurements with thirty loops in turn, on this machine under its current load.

    python bench/measuring.py [--rounds=5]

Prints, for each loop, its median in core cycles, how far each round is from it, and whether the spread that the harness
gave told of those that are far; in the end how many are within what of their median.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time

from incc.measuring.forms.bench import CoreBench, encode, loop_of
from incc.measuring.forms.operands import read
from incc.measuring.forms.target import features_of_host, target
from incc.measuring.harness import Harness, MachineLoop, Measurement, Unavailable
from incc.models.loading import find_cpu, host_cpu_name, load
from incc.models.processors import host

FORMS = (
    "add r64, r64", "imul r64, r64", "lea r64, m", "adc r64, r64", "popcnt r64, r64", "shl r64, i", "rol r64, i",
    "mov r64, m", "mov m, r64", "cmovb r64, r64", "div r32", "bswap r64",
    "addsd xmm, xmm", "mulpd xmm, xmm", "divsd xmm, xmm", "sqrtpd xmm, xmm", "pshufb xmm, xmm", "paddd xmm, xmm",
    "movups xmm, m", "movups m, xmm", "cvtsi2sd xmm, r64", "pmulld xmm, xmm",
)  # fmt: skip
"""Return a throughput loop for each, and a chain for those with a result in their first operand, up to thirty loops."""
CHAINS = 30 - len(FORMS)


def loops(bench: CoreBench) -> dict[str, MachineLoop]:
    found = {}
    for text in FORMS:
        v = read(text, bench.core).variant
        found[text] = loop_of(encode(i for n in range(48) for i in bench.copy(v, n)))
    for text in [t for t in FORMS if t.split(" ", 1)[1][0] != "m"][:CHAINS]:
        found[f"{text}, in a chain"] = loop_of(encode([read(text, bench.core).variant.build()] * 32))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    try:
        machine = Harness()
    except Unavailable as error:
        sys.exit(f"measuring.py: error: {error}")
    model = load(find_cpu(host_cpu_name()).model)
    with machine:
        bench = CoreBench(target(model, features_of_host(host.read().features)), machine)
        wanted = loops(bench)
        found: dict[str, list[Measurement]] = {name: [] for name in wanted}
        start = time.perf_counter()
        for _ in range(rounds):
            for name, loop in wanted.items():
                result = machine.measure(loop)
                if isinstance(result, Measurement):
                    found[name].append(result)
        took = time.perf_counter() - start
        busy = machine.busy
    print(f"{'loop':<30}{'cycles':>9}  difference from the median in each round, in % (! told by the spread)")
    near = dict.fromkeys((0.3, 1.0, 3.0), 0)
    far = told = total = 0
    for name, results in found.items():
        middle = statistics.median(r.cycles for r in results) if results else 0.0
        cells = []
        for r in results:
            off = 100 * abs(r.cycles / middle - 1)
            wide = 100 * r.spread / middle > max(off / 2, 1)
            for limit in near:
                near[limit] += off <= limit
            far += off > 1
            told += off > 1 and wide
            total += 1
            cells.append(f"{100 * (r.cycles / middle - 1):+6.2f}{'!' if off > 1 and wide else ' '}")
        print(f"{name:<30}{middle:>9.2f}  {' '.join(cells)}")
    shares = ", ".join(f"{100 * n / total:.0f} % within {limit} %" for limit, n in near.items())
    print(f"\n{total} measurements: {shares}; {told} of {far} that are farther than 1 % are told by their spread")
    print(
        f"{1000 * took / total:.0f} ms each; {100 * busy:.0f} % of the samples disturbed; load {os.getloadavg()[0]:.1f}"
    )


if __name__ == "__main__":
    main()
