"""Accuracy of predictions for data beyond L1: `bench/memory_levels.py [--cpu CORE] [--worst] FILE.csv …`.

A file has rows `kernel,streams,total_bytes,core_cycles_per_8_doubles`: cycles of one core per eight doubles of each
stream, by the total size of all arrays. The kernels are those of `memory_kernels.c` beside it, which is compiled here
(`--compiler`, for the core). The core is named by the file (`memory_zen4.csv`) or by `--cpu`.

In L1, a prediction is that of passes through the arrays (calls of the kernel that follow each other), at the sizes that
were measured. Beyond L1 it is that of the loop.

Of the sizes of a level, those are used that are surely in it: from twice the size of the cache inside to 60 % of the
level's own, and from twice the size of the last cache. Printed are prediction, median of the measurements and error by
kernel and level, with * for kernels from which no figure of the model's table `memory` was set, and in the end for each
level the mean error of all kernels and of those. A further line has L1 from half of its size on: the beginning and the
end of a pass weigh less the longer the arrays are.
"""

from __future__ import annotations

import argparse
import csv
import pathlib
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict

from incc.driver.pipeline import AnalysisError, analyze_units
from incc.driver.settings import CoreSettings, KernelSettings, Scope, Settings
from incc.frontends.unit import Unit
from incc.models.loading import load
from incc.models.memory import ALL, MemoryHierarchy

CORES = {"redwood_cove": "graniterapids", "zen4": "znver4", "zen5": "znver5"}
"""The cores that files are named after."""

TARGETS = {
    "graniterapids": ("-march=sapphirerapids",),
    "znver4": ("-march=znver3", "-mavx512f"),
    "znver5": ("-march=znver3", "-mavx512f"),
}
"""The flags that gcc 12 has for cores that it does not know, as -march=native sets them there."""

HELD_OUT = ("schoenauer", "ddot", "update", "copy512", "triad512")
"""Kernels from which no figure was set, except that ddot was looked at for the memory of Redwood Cove."""

LONG = "L1 (long)"
"""The sizes of L1 from half of it on."""

LEFT_OUT = ("copy_scalar",)
"""Kernels whose measurements do not repeat."""


def measured(file: pathlib.Path, memory: MemoryHierarchy, most: int) -> dict[str, dict[str, dict[int, float]]]:
    """Return the cycles per eight doubles by kernel, level and size.

    Args:
        file: The measurements.
        memory: The core's memory hierarchy.
        most: The largest size in bytes to use; 0 for no limit.
    """
    values: dict[str, dict[str, dict[int, float]]] = defaultdict(lambda: defaultdict(dict))
    with file.open(newline="") as lines:
        for row in csv.DictReader(lines):
            size = int(row["total_bytes"])
            inside = 0
            for level in memory.levels:
                below = level.size * (1.0 if not inside else 0.6) if level.size else float("inf")
                if 2 * inside <= size <= below and row["kernel"] not in LEFT_OUT and not 0 < most < size:
                    cycles = float(row["core_cycles_per_8_doubles"])
                    values[row["kernel"]][level.name][size] = cycles
                    if not inside and 2 * size >= below:
                        values[row["kernel"]][LONG][size] = cycles
                inside = level.size or inside
    return values


def predicted(
    source: pathlib.Path, cpu: str, compiler: str, values: dict[str, dict[str, dict[int, float]]]
) -> dict[str, dict[str, float]]:
    """Return incc's cycles per eight doubles by kernel and level, in L1 the median for the sizes of `values`."""
    sizes = sorted({size for levels in values.values() for size in levels.get("L1", {})})
    with tempfile.TemporaryDirectory() as folder:
        assembly = pathlib.Path(folder, "kernels.s")
        target = TARGETS.get(cpu, (f"-march={cpu}",))
        subprocess.run([compiler, "-O3", *target, "-w", "-S", source, "-o", assembly], check=True)
        text = assembly.read_text()
    settings = Settings(
        scope=Scope(functions=("k_*",)), core=CoreSettings(mcpu=cpu), kernel=KernelSettings(data=(ALL, *sizes))
    )
    (unit,) = analyze_units([Unit(assembly=text, assembly_file=str(source))], settings).units
    result: dict[str, dict[str, float]] = {}
    for kernel in unit.kernels:
        if kernel.data and kernel.data.line_iterations:
            name = kernel.function.removeprefix("k_")
            levels = {level.name: level.cycles * kernel.data.line_iterations for level in kernel.data.levels}
            passes = {
                each.bytes: each.cycles / each.iterations * kernel.data.line_iterations for each in kernel.data.passes
            }
            for level in ("L1", LONG):
                measured_at = values.get(name, {}).get(level, {})
                levels[level] = statistics.median(
                    [passes.get(size, levels["L1"]) for size in measured_at] or [levels["L1"]]
                )
            result[name] = levels
    return result


def compare(file: pathlib.Path, cpu: str, compiler: str, most: int) -> None:
    """Print the table of a file."""
    memory = load(cpu).memory
    if memory is None:
        raise AnalysisError(f"the model of {cpu} has no table 'memory'")
    values = measured(file, memory, most)
    predictions = predicted(file.with_name("memory_kernels.c"), cpu, compiler, values)
    names = [level.name for level in memory.levels]
    print(f"{file.name}, {cpu}: predicted / measured core cycles per 8 doubles")
    print(f"{'kernel':<14}" + "".join(f"{name:>26}" for name in (*names, LONG)))
    errors: dict[str, dict[str, float]] = defaultdict(dict)
    for kernel, levels in values.items():
        line = f"{kernel + ('*' if kernel in HELD_OUT else ''):<14}"
        for name in (*names, LONG):
            ours, theirs = (
                predictions.get(kernel, {}).get(name),
                statistics.median(levels.get(name, {}).values() or [0]),
            )
            if ours is None or not theirs:
                line += f"{'-':>26}"
                continue
            error = errors[name][kernel] = (ours - theirs) / theirs
            line += f"{ours:>10.2f} /{theirs:>6.2f} {100 * error:>+6.1f}%"
        print(line)
    for name in (*names, LONG):
        of_level = errors[name]
        unseen = [abs(error) for kernel, error in of_level.items() if kernel in HELD_OUT]
        if of_level and unseen:
            mean = statistics.mean(abs(error) for error in of_level.values())
            print(
                f"{name} kernels={len(of_level)} mean={100 * mean:.1f}% held-out={100 * statistics.mean(unseen):.1f}%"
            )


def main() -> int:
    """Run the comparison."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=pathlib.Path, metavar="FILE.csv")
    parser.add_argument("--cpu", default="", help="the core (default: from the file's name)")
    parser.add_argument("--compiler", default="gcc", help="the compiler of the kernels (default: gcc)")
    parser.add_argument("--most", type=int, default=0, metavar="BYTES", help="ignore larger sizes (default: none)")
    options = parser.parse_args()
    for file in options.files:
        cpu = options.cpu or CORES.get(file.stem.removeprefix("memory_"), "")
        if not cpu:
            parser.error(f"{file}: the name does not tell the core; use --cpu")
        try:
            compare(file, cpu, options.compiler, options.most)
        except (AnalysisError, OSError, subprocess.CalledProcessError) as error:
            print(f"{file}: error: {error}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
