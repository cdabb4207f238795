"""Costs and accuracy of probes in programs: `bench/probes.py [--compiler NAME …]`.

The loops of probes_kernels.c, whose data are in L1, are built by each compiler with `-O3 -march=native -ffast-math`,
with probes and without. Printed are for each loop its iterations per entry, and cycles per iteration: from the probes,
measured alone (`--measure`), and predicted, with the parts that `incc-run` explains (places, exit). In the end come the
medians of the differences, and what the probes cost: an entry with its exit, one that is a sample, and the two readings
of the time-stamp counter that are part of a sample; the processor time of the program as a multiple of that without
probes, without recording and with it. `programs.py` compares the loops' shares of the time with those of a sampler.

Loops are left out whose entries have fewer than 100 iterations, and those that `--measure` cannot run.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence

from incc.driver.pipeline import analyze_unit
from incc.driver.settings import Settings, with_values
from incc.frontends.elf import read_elf
from incc.measuring.harness import LoopFailure
from incc.measuring.kernels import Measurer
from incc.running.profile import read_profile
from incc.running.units import SECTION, units_in

KERNELS = pathlib.Path(__file__).with_name("probes_kernels.c")
LEAST = 100
"""Iterations per entry from which on a loop counts."""


def built(compiler: str, folder: pathlib.Path, options: Sequence[str], probes: bool) -> pathlib.Path:
    """Return the program."""
    program = folder / f"kernels-{compiler}-{'probes' if probes else 'plain'}"
    words = ["incc", compiler, "--analyze-probe"] if probes else [compiler]
    subprocess.run([*words, *options, str(KERNELS), "-o", str(program), "-lm"], check=True)
    return program


def seconds(command: Sequence[str], environment: dict[str, str]) -> float:
    """Return the processor time of a command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def alone(program: pathlib.Path) -> dict[str, float]:
    """Return the measured cycles per iteration of the program's loops by their identities."""
    content = bytes(read_elf(program.read_bytes()).content(SECTION))
    result: dict[str, float] = {}
    with Measurer() as measurer:
        for _, unit in units_in(content):
            analysed = analyze_unit(unit, with_values(Settings(), {"core.mcpu": "native", "kernel.what_ifs": False}))
            for identity, each in zip(analysed.kernel_ids, analysed.results, strict=True):
                measured = measurer.measure(each.kernel)
                if not isinstance(measured, LoopFailure):
                    result[identity] = float(measured.cycles)
    return result


STAMPS = r"""
#include <stdio.h>
#include <x86intrin.h>
int main(void) {
  unsigned long long least = -1;
  for (int again = 0; again < 2000; ++again) {
    unsigned long long start = __rdtsc();
    for (int i = 0; i < 100; ++i)
      __rdtsc(), __rdtsc();
    unsigned long long took = __rdtsc() - start;
    least = took < least ? took : least;
  }
  printf("%g\n", least / 100.);
  return 0;
}
"""


def ticks_of_two_stamps(folder: pathlib.Path) -> float:
    """Return the ticks that two readings of the time-stamp counter take."""
    (folder / "stamps.c").write_text(STAMPS)
    program = folder / "stamps"
    subprocess.run(["gcc", "-O2", str(folder / "stamps.c"), "-o", str(program)], check=True)
    return float(subprocess.run([str(program)], check=True, capture_output=True, text=True).stdout)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--compiler", action="append", help="gcc and clang-19 by default")
    parser.add_argument("--repeat", type=int, default=20000, help="entries of each loop (20000)")
    parser.add_argument("--times", type=int, default=5, help="runs of each program, of which the fastest counts (5)")
    given = parser.parse_args()
    differences: dict[str, list[float]] = {"measured alone": [], "predicted with its parts": []}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for compiler in given.compiler or ("gcc", "clang-19"):
            if shutil.which(compiler) is None:
                print(f"{compiler}: not installed")
                continue
            report(compiler, folder, given.repeat, given.times, differences)
    for what, values in differences.items():
        if values:
            print(f"{what}: median difference {statistics.median(values):.1%} of {len(values)} loops")
    return 0


def report(compiler: str, folder: pathlib.Path, repeat: int, times: int, differences: dict[str, list[float]]) -> None:
    """Print the table of a compiler."""
    options = ["-O3", "-march=native", "-ffast-math"]
    plain, probed = built(compiler, folder, options, False), built(compiler, folder, options, True)
    run = ["incc-run", "--json", "--top=1000", "-o", str(folder / "run.json"), "--", str(probed), "all", str(repeat)]
    subprocess.run(run, check=True, stdout=subprocess.DEVNULL)
    loops = json.loads((folder / "run.json").read_bytes())["loops"]
    measured = alone(probed)
    print(f"{compiler} {' '.join(options)}")
    print(f"{'loop':22} {'iterations':>10} {'probes':>8} {'alone':>8} {'predicted':>10} {'with parts':>10}")
    for loop in sorted(loops, key=lambda loop: loop["kernel_id"]):
        iterations = loop["iterations"] / loop["entries"]
        if iterations < LEAST or loop["kernel_id"] not in measured or loop["entries"] < repeat:
            continue
        cycles, by_itself = loop["cycles"], measured[loop["kernel_id"]]
        explained = loop["predicted"] + sum(part["cycles"] for part in loop["parts"])
        print(
            f"{loop['kernel_id']:22} {iterations:10.1f} {cycles:8.3f} {by_itself:8.3f} {loop['predicted']:10.3f}"
            f" {explained:10.3f}"
        )
        # The entry and exit are in the program alone.
        entry = sum(part["cycles"] for part in loop["parts"] if part["kind"] == "entry")
        differences["measured alone"].append(abs(cycles - entry - by_itself) / by_itself)
        differences["predicted with its parts"].append(abs(explained - cycles) / cycles)
    profiles = folder / "profiles"
    profiles.mkdir(exist_ok=True)
    without = {key: value for key, value in os.environ.items() if not key.startswith("INCC_")}
    arguments = ["all", str(repeat)]
    fastest: dict[str, float] = {}
    for _ in range(times):
        for what, program, environment in (
            ("plain", plain, without),
            ("switched off", probed, without),
            ("recording", probed, {**without, "INCC_PROBES": str(profiles)}),
        ):
            took = seconds([str(program), *arguments], environment)
            fastest[what] = min(took, fastest.get(what, took))
    base = fastest.pop("plain")
    read = [read_profile(str(path)) for path in profiles.iterdir()]
    rate = statistics.median(profile.cycles_per_tick for profile in read)
    unsampled = rate * statistics.median(profile.unsampled_cost for profile in read)
    sampled = rate * statistics.median(profile.sampled_cost for profile in read)
    stamps = rate * ticks_of_two_stamps(folder)
    print(f"cycles of an entry: {unsampled:.1f}, as a sample {sampled:.0f}; of two time stamps: {stamps:.0f}")
    costs = ", ".join(f"{what} {took / base:.3f}" for what, took in fastest.items())
    print(f"processor time as a multiple of {base:.2f} s without probes: {costs}\n")


if __name__ == "__main__":
    sys.exit(main())
