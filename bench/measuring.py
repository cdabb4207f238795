"""Measure how well measurements repeat, or how well they agree with functions that are called.

    python bench/measuring.py [--rounds=5]
    python bench/measuring.py --calls [--compilers=gcc,clang-19] [--options="-O2,-O3 -march=native"] [--functions=GLOB]

Without --calls, thirty loops are measured in turn under the machine's current load. For each loop, the output gives the
median of the rounds in core cycles and how far each round is from it. `!` marks rounds off by more than 1 % that the
harness itself called uncertain. The last lines give the share of rounds close to their median.

With --calls, the functions of bench/calls.c are compiled, and called with several lengths. The growth of their time
with the trips of the main loop, which a copy with counters tells, is compared with the figure of `--measure` for that
loop. The output has a line for each main loop, the share within 5 %, and the reasons for those without a figure.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from fnmatch import fnmatchcase
from itertools import combinations
from pathlib import Path

import msgspec
from elements import declarations, instrumented

from incc.driver.pipeline import decode_unit, find_regions, read_assembly
from incc.driver.settings import Scope
from incc.frontends.kernel import KernelCode
from incc.frontends.unit import Unit
from incc.measuring.forms.bench import CoreBench, encode, loop_of
from incc.measuring.forms.operands import read
from incc.measuring.forms.target import features_of_host, target
from incc.measuring.harness import Harness, LoopFailure, MachineLoop, Measurement, Unavailable
from incc.measuring.kernels import KernelMeasurement, Measurer
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


CALLS = Path(__file__).with_name("calls.c")
LENGTHS = (512, 640, 768, 896, 1024)
NEAR = 0.05
"""The relative difference up to which a measurement agrees with the calls."""
ALONE = 0.9
"""The least share of the executed instructions that the main loop has."""

DRIVER = r"""
#define _GNU_SOURCE
#include "kernels.c"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <x86intrin.h>
extern long incc_counters[%(counters)d];
enum { ARRAYS = 12, COUNT = 61, LENGTHS = %(lengths)d };
static char *array(int number) { /* 17 MiB apart, as the arrays of the harness */
  static char *all;
  if (!all)
    all = mmap(0, ARRAYS * 17ul << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return all + number * (17ul << 20) + (number ? 1024 + 192 * number : 64);
}
static double ticks(unsigned long long since) { unsigned a; _mm_lfence(); return __rdtscp(&a) - since; }
static unsigned long long now(void) {
  unsigned a;
  _mm_lfence();
  unsigned long long start = __rdtscp(&a);
  _mm_lfence();
  return start;
}
static double chain(void) {
  unsigned long long start = now();
  long value = 1;
  for (int i = 0; i < 100; ++i) __asm__ volatile(".rept 100\n\taddq %%0, %%0\n\t.endr" : "+r"(value));
  return ticks(start) / 10000;
}
static int compare(const void *a, const void *b) { double d = *(double *)a - *(double *)b; return (d > 0) - (d < 0); }
int main(void) {
  double *P0 = (double *)array(0), *P1 = (double *)array(1), *P2 = (double *)array(2);
  float *F0 = (float *)array(3), *F1 = (float *)array(4), *F2 = (float *)array(5);
  uint8_t *B0 = (uint8_t *)array(6), *B1 = (uint8_t *)array(7), *B2 = (uint8_t *)array(8);
  int *K0 = (int *)array(9);
  Node *L0 = (Node *)array(10);
  int *C0 = (int *)array(11);
  for (int i = 0; i < 8192; ++i) {
    P0[i] = P1[i] = P2[i] = 1 + i %% 8 / 8.0;
    F0[i] = F1[i] = F2[i] = 1 + i %% 8 / 8.0f;
    B0[i] = B1[i] = B2[i] = i * 7 %% 251 + 1;
    K0[i] = i * 7 %% 251;
  }
  static const long lengths[LENGTHS] = {%(values)s};
  static double times[LENGTHS][COUNT];
  _mm_setcsr(_mm_getcsr() | 0x8040);
%(calls)s
}
"""
CALL = r"""
  for (int k = 0; k < LENGTHS; ++k) {
    long n = lengths[k];
    for (int i = 0; i < n / 4; ++i) L0[i].next = i + 1 < n / 4 ? L0 + i + 1 : 0;
    memset(incc_counters, 0, sizeof incc_counters);
    @CALL@;
    printf("@NUMBER@ %ld", n);
    for (int c = 0; c < @COUNTERS@; ++c) printf(" %ld", incc_counters[c]);
    for (int i = 0; i < COUNT; ++i) {
      int many = 10;
      double before = chain();
      unsigned long long start = now();
      for (int m = 0; m < many; ++m) { @CALL@; _mm_lfence(); }
      double time = ticks(start) / many, after = chain();
      times[k][i] = time / (before < after ? before : after);
    }
    qsort(times[k], COUNT, sizeof(double), compare);
    printf(" %f\n", times[k][COUNT / 8]);
  }
"""


class Loop(msgspec.Struct, frozen=True):
    """The main loop of a function that was called."""

    function: str
    kernel: KernelCode
    cycles: float
    """Core cycles per trip of the calls."""


def _run(folder: Path, compiler: str, assembly: str, source: str, wanted: list[str], counters: int) -> dict[str, str]:
    """Run the driver with an assembly, and return the line of output of each call and length."""
    calls = "".join(
        CALL.replace("@CALL@", f'__asm__ volatile("" ::: "memory"); {call}')
        .replace("@NUMBER@", str(number))
        .replace("@COUNTERS@", str(counters))
        for number, call in enumerate(wanted)
    )
    values = {
        "counters": max(1, counters), "lengths": len(LENGTHS), "values": ", ".join(map(str, LENGTHS)), "calls": calls
    }  # fmt: skip
    (folder / "kernels.c").write_text(declarations(source, [call.split("(")[0] for call in wanted]))
    (folder / "driver.c").write_text(DRIVER % values)
    (folder / "kernels.s").write_text(assembly)
    subprocess.run([compiler, "-c", "kernels.s", "-o", "kernels.o"], cwd=folder, check=True)
    subprocess.run(["gcc", "-O1", "-w", "-no-pie", "driver.c", "kernels.o", "-o", "run", "-lm"], cwd=folder, check=True)
    output = subprocess.run([folder / "run"], check=True, capture_output=True, text=True).stdout
    return {" ".join(line.split()[:2]): line for line in output.splitlines()}


def main_loops(compiler: str, options: str, functions: str) -> list[Loop]:
    """Return the main loops of the functions in CALLS, with the cycles of their calls."""
    source = CALLS.read_text()
    wanted = [call for call in re.findall(r"^//: (.*)$", source, re.M) if fnmatchcase(call.split("(")[0], functions)]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        command = [compiler, *options.split(), "-fno-pie", "-fcf-protection=none", "-S", CALLS, "-o", folder / "in.s"]
        subprocess.run(command, check=True, capture_output=True)
        # The linker then keeps the places of loops within 64 bytes.
        assembly = "\t.text\n\t.p2align 6\n" + (folder / "in.s").read_text()
        unit = Unit(assembly=assembly, assembly_file="in.s")
        parsed = read_assembly(unit, "x86")
        regions, _ = find_regions(parsed, Scope())
        kernels = decode_unit(unit, parsed, regions)
        counters = len(kernels)
        counted = _run(folder, compiler, instrumented(assembly, kernels), source, wanted, counters)
        plain = f"{assembly}\n\t.comm incc_counters,{8 * max(1, counters)},64\n"
        runs = [_run(folder, compiler, plain, source, wanted, 0) for _ in range(5)]
    found = []
    for number, call in enumerate(wanted):
        keys = [f"{number} {n}" for n in LENGTHS]
        trips = [[int(word) for word in counted[key].split()[2 : 2 + counters]] for key in keys]
        # Of several runs of the same the shortest was disturbed least.
        times = [min(float(run[key].split()[-1]) for run in runs) for key in keys]
        growth = [b - a for a, b in zip(trips[0], trips[-1], strict=True)]
        work = [g * len(kernel.instructions) for g, kernel in zip(growth, kernels, strict=True)]
        main = max(range(counters), key=lambda n: work[n])
        if work[main] <= 0 or work[main] < ALONE * sum(map(abs, work)):
            continue
        slopes = [
            (times[j] - times[i]) / (trips[j][main] - trips[i][main])
            for i, j in combinations(range(len(keys)), 2)
            if trips[j][main] > trips[i][main]
        ]
        found.append(Loop(call.split("(")[0], kernels[main], statistics.median(slopes)))
    return found


def compare_calls(compilers: str, options: str, functions: str) -> None:
    """Print the table of main loops, called and measured."""
    total, near = 0, 0
    reasons: Counter[str] = Counter()
    print(f"{'':<44}{'called':>9}{'measured':>10}{'':>9}")
    with Measurer() as measurer:
        for compiler in filter(shutil.which, compilers.split(",")):
            for each in options.split(","):
                for loop in main_loops(compiler, each, functions):
                    total += 1
                    name = f"{compiler} {each} {loop.function}"
                    result = measurer.measure(loop.kernel)
                    if isinstance(result, LoopFailure):
                        reasons[result.kind] += 1
                        print(
                            f"{name:<44}{loop.cycles:>9.2f}{'-':>10}           {result.kind}: {result.text}", flush=True
                        )
                        continue
                    off = result.cycles / loop.cycles - 1
                    near += abs(off) <= NEAR
                    print(
                        f"{name:<44}{loop.cycles:>9.2f}{result.cycles:>10.2f}{100 * off:>+8.1f} %  {_said(result)}",
                        flush=True,
                    )
    figures = total - reasons.total()
    print(f"\n{total} main loops: {figures} measured, {near} of them within {100 * NEAR:.0f} % of the calls")
    print("without a figure: " + (", ".join(f"{kind} {n}" for kind, n in reasons.most_common()) or "none"))


def _said(result: KernelMeasurement) -> str:
    return "; ".join([result.exit, *result.notes])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--calls", action="store_true", help="compare with functions that are called")
    parser.add_argument("--compilers", default="gcc,clang-19", help="of --calls")
    parser.add_argument("--options", default="-O2,-O3 -march=native", help="of --calls: options of each compilation")
    parser.add_argument("--functions", default="*", metavar="GLOB", help="of --calls")
    options = parser.parse_args()
    if options.calls:
        compare_calls(options.compilers, options.options, options.functions)
        return
    rounds = options.rounds
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
    print(f"{'loop':<30}{'cycles':>9}  difference from the median in each round, in % (!: called uncertain)")
    near = dict.fromkeys((0.3, 1.0, 3.0), 0)
    far = warned = total = 0
    for name, results in found.items():
        middle = statistics.median(r.cycles for r in results) if results else 0.0
        cells = []
        for r in results:
            off = 100 * abs(r.cycles / middle - 1)
            wide = 100 * r.spread / middle > max(off / 2, 1)
            for limit in near:
                near[limit] += off <= limit
            far += off > 1
            warned += off > 1 and wide
            total += 1
            cells.append(f"{100 * (r.cycles / middle - 1):+6.2f}{'!' if off > 1 and wide else ' '}")
        print(f"{name:<30}{middle:>9.2f}  {' '.join(cells)}")
    shares = ", ".join(f"{100 * n / total:.0f} % within {limit} %" for limit, n in near.items())
    print(f"\n{total} measurements: {shares}; {warned} of {far} off by more than 1 % called uncertain")
    print(
        f"{1000 * took / total:.0f} ms each; {100 * busy:.0f} % of the samples disturbed; load {os.getloadavg()[0]:.1f}"
    )


if __name__ == "__main__":
    main()
