"""Count the loops whose elements are inferred correctly, wrongly, or not at all (docs/report.md).

    python bench/elements.py [--compilers=gcc-12,clang-19] [--levels=-O3,…] [--functions=GLOB] [--lines=-g0] [--plugin]
                             [-v]

The loops of bench/elements_kernels.c are compiled by each compiler with each set of options. In a copy of the assembly
each innermost loop counts how often its header is reached; the functions are run with many lengths, and from two
lengths between which only one loop's count changes follows how many iterations of the source one of its own is. Loops
that never run so alone, or whose counts do not tell, are left out and counted as such. The host must be able to run
the code. With --plugin clang says itself what it made of each loop (docs/plugin.md); `compiler` counts the answers that
it gave.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from fnmatch import fnmatchcase
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from incc.core.analysis import KernelSettings
from incc.core.roles import LoopPart
from incc.driver.pipeline import analyze_unit
from incc.driver.settings import CoreSettings, Settings
from incc.frontends.clang_plugin.find import clang_major, plugin_for
from incc.frontends.clang_plugin.table import read_table
from incc.frontends.kernel import CompiledLoop, KernelCode
from incc.frontends.unit import Unit
from incc.report.build import unit_parts
from incc.support.errors import AnalysisError

if TYPE_CHECKING:
    from collections.abc import Iterable

SOURCE = Path(__file__).with_name("elements_kernels.c")
COMPILERS = ("gcc-12", "gcc-11", "clang-19", "clang-14")
LEVELS = ("-O1", "-O2", "-O3", "-Ofast", "-O3 -funroll-loops")
TARGETS = ("-march=x86-64", "-march=haswell", "-march=skylake-avx512 -mprefer-vector-width=512")

DRIVER = r"""
#include "kernels.c"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
extern long incc_counters[%(counters)d];
#define DOUBLES(p) for (long i = 0; i < 40000; ++i) ((double *)(p))[i] = 1.0 + i %% 7
static char *area(size_t bytes) {
  char *p;
  if (posix_memalign((void **)&p, 4096, bytes))
    exit(1);
  return memset(p, 0, bytes);
}
static void prepare(char *P0, char *P1, char *P2, char *A0, char *P3, char *P4, char *P5, long n) {
  DOUBLES(P0); DOUBLES(P1); DOUBLES(P2); DOUBLES(A0);
  memset(P3, 'x', n), P3[n] = 0;
  ((int *)P4)[n] = 77;
  for (long i = 0; i < n; ++i)
    ((Node *)P5)[i].next = i + 1 < n ? (Node *)P5 + i + 1 : 0;
  memset(incc_counters, 0, sizeof incc_counters);
}
int main(void) {
  char *P0 = area(1 << 21), *P1 = area(1 << 21), *P2 = area(1 << 21), *P3 = area(1 << 16), *P4 = area(1 << 17);
  char *A0 = area(1 << 21), *A1 = A0 + 8, *A2 = A0 + 16, *P5 = area(1 << 18);
  static const long lengths[] = {%(lengths)s};
  volatile double sink = 0;
  (void)A1, (void)A2, (void)sink;
  for (unsigned k = 0; k < sizeof lengths / sizeof *lengths; ++k) {
    long n = lengths[k];
%(calls)s
  }
}
"""


def lengths() -> list[int]:
    """Lengths of runs: short ones, all remainders of the widest loops, and long ones with the same remainders."""
    return [*range(1, 20), *range(1024, 1024 + 130), 1024 + 191, 1024 + 255, 2048, 2049, 2051, 4096, 4097, 4099]


def calls(source: str) -> list[tuple[str, str, str]]:
    """(function, call, iterations in the source) of each comment that says so."""
    found = []
    for call, iterations in re.findall(r"^//: (\w+\(.*\)) ; (.*)$", source, re.M):
        found.append((call.split("(")[0], call, iterations))
    return found


def instrumented(assembly: str, kernels: list[KernelCode]) -> str:
    """The assembly with a counter at the header of each kernel's loop."""
    lines = assembly.split("\n")
    for number, kernel in enumerate(kernels):
        assert kernel.region is not None
        at = kernel.region.lines[0] - 1
        # Flags, and what leaf functions keep below the stack pointer, stay as they are.
        lines[at] = (
            "\tleaq -128(%rsp), %rsp\n\tpushfq\n"
            f"\tincq incc_counters+{8 * number}(%rip)\n\tpopfq\n\tleaq 128(%rsp), %rsp\n" + lines[at]
        )
    return "\n".join(lines) + f"\n\t.comm incc_counters,{8 * max(1, len(kernels))},64\n"


def truth(runs: dict[str, list[tuple[Fraction, list[int]]]], loop: int) -> Fraction | None:
    """Iterations of the source for each of a loop's, from (iterations, counts of the function's loops) of its runs."""
    best: tuple[int, set[Fraction]] = (0, set())
    for of_call in runs.values():
        by_others: dict[tuple[int, ...], list[tuple[Fraction, int]]] = {}
        for iterations, counts in of_call:
            by_others.setdefault(tuple(counts[:loop] + counts[loop + 1 :]), []).append((iterations, counts[loop]))
        for alike in by_others.values():
            for iterations, count in alike:
                for other, less in alike:
                    change = count - less
                    if change >= max(best[0], 1):
                        ratios = best[1] if change == best[0] else set()
                        best = change, ratios | {(iterations - other) / change}
    change, ratios = best
    if change >= 8 and ratios:
        # Straight code after the loop takes a few of the iterations.
        rounded = {Fraction(round(r)) for r in ratios if r > 0.4}
        return rounded.pop() if len(rounded) == 1 else None
    return ratios.pop() if len(ratios) == 1 else None


def declarations(source: str, functions: Iterable[str]) -> str:
    """Return the declarations of functions for the driver in C, preceded by the source's types."""
    known = re.findall(r"^(?:#include <(?:complex|stddef|stdint)\.h>|typedef .*;)$", source, re.M)
    for function in dict.fromkeys(functions):
        found = re.search(rf"^(\w[\w ]*?[ *]{function}\([^{{\n]*\)) \{{", source, re.M)
        assert found, function
        known.append(f"{found[1]};")
    return "\n".join(known) + "\n"


def counted_runs(
    compiler: str,
    folder: Path,
    assembly: str,
    counters: int,
    source: str,
    wanted: list[tuple[str, str, list[str]]],
    run_lengths: list[int],
) -> list[tuple[int, list[int], list[int]]]:
    """Runs the functions of an instrumented assembly: (function, call, expressions) for each length. Of each run which
    call it is, the expressions' values and the counters."""
    (folder / "kernels.s").write_text(assembly)
    body = []
    for index, (_, call, expressions) in enumerate(wanted):
        values = ", ".join(f"(long)({expression})" for expression in expressions)
        body.append(
            "    prepare(P0, P1, P2, A0, P3, P4, P5, n);\n"
            f'    {call}; printf("{index}{" %ld" * len(expressions)}", {values});\n'
            f'    for (int c = 0; c < {counters}; ++c) printf(" %ld", incc_counters[c]);\n'
            '    puts(""); ((int *)P4)[n] = 0;'
        )
    text = DRIVER % {
        "counters": max(1, counters),
        "lengths": ", ".join(map(str, run_lengths)),
        "calls": "\n".join(body),
    }
    (folder / "kernels.c").write_text(declarations(source, [function for function, _, _ in wanted]))
    (folder / "driver.c").write_text(text)
    subprocess.run([compiler, "-c", "kernels.s", "-o", "kernels.o"], cwd=folder, check=True)
    subprocess.run(["gcc", "-O1", "-w", "-no-pie", "driver.c", "kernels.o", "-o", "run", "-lm"], cwd=folder, check=True)
    output = subprocess.run([folder / "run"], check=True, capture_output=True, text=True).stdout
    found = []
    for line in output.splitlines():
        index, *values = map(int, line.split())
        of = len(wanted[index][2])
        found.append((index, values[:of], values[of:]))
    return found


def measured(
    compiler: str, folder: Path, assembly: str, kernels: list[KernelCode], wanted: list[tuple[str, str, str]]
) -> list[Fraction | None]:
    """The truth for each kernel, None where it cannot be told."""
    runs: dict[str, dict[str, list[tuple[Fraction, list[int]]]]] = {}
    functions = [kernel.region.function if kernel.region else "" for kernel in kernels]
    code = instrumented(assembly, kernels)
    calls_of = [(function, call, [iterations]) for function, call, iterations in wanted]
    for index, (iterations,), counts in counted_runs(
        compiler, folder, code, len(kernels), SOURCE.read_text(), calls_of, lengths()
    ):
        function, call, _ = wanted[index]
        own = [count for count, of in zip(counts, functions, strict=True) if of == function]
        runs.setdefault(function, {}).setdefault(call, []).append((Fraction(iterations), own))
    found: list[Fraction | None] = []
    seen: Counter[str] = Counter()
    for function in functions:
        found.append(truth(runs.get(function, {}), seen[function]))
        seen[function] += 1
    return found


def plugin_of(compiler: str) -> str:
    """The pass plugin for a compiler, "" for none."""
    line = subprocess.run([compiler, "--version"], check=True, capture_output=True, text=True).stdout
    return plugin_for(clang_major(line), os.environ)


def compare(compiler: str, options: str, lines: str, functions: str, plugin: str, verbose: bool) -> Counter[str] | None:
    """Right, wrong, none and unknown for one compiler and its options, and how many answers are the compiler's; None
    where it does not compile."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        command = [
            compiler,
            *options.split(),
            lines,
            "-fno-pie",
            "-fcf-protection=none",
            "-fno-asynchronous-unwind-tables",
            "-S",
            SOURCE,
            "-o",
            folder / "in.s",
        ]
        loops: tuple[CompiledLoop, ...] = ()
        if plugin:
            command.append(f"-fpass-plugin={plugin}")
        table = folder / "loops.json"
        environment = {**os.environ, "INCC_LOOP_TABLE": str(table)}
        if subprocess.run(command, capture_output=True, check=False, env=environment).returncode:
            return None
        if plugin:
            loops = read_table(table.read_text())
        assembly = (folder / "in.s").read_text()
        cpu = next((m for m in re.findall(r"-march=(\S+)", options) if m != "x86-64"), "skylake-avx512")
        try:
            unit = analyze_unit(
                Unit(assembly=assembly, assembly_file="in.s", loops=loops),
                Settings(core=CoreSettings(mcpu=cpu), kernel=KernelSettings(simulate=False)),
            )
        except AnalysisError as error:
            sys.exit(str(error))
        kernels = [result.kernel for result in unit.results]
        answers: list[LoopPart] = unit_parts(unit)
        known = measured(compiler, folder, assembly, kernels, calls(SOURCE.read_text()))
    counted: Counter[str] = Counter()
    for kernel, part, true in zip(kernels, answers, known, strict=True):
        assert kernel.region is not None
        if not fnmatchcase(kernel.region.function, functions):
            continue
        said = part.elements.per_iteration if part.elements else None
        verdict = "unknown" if true is None else "none" if said is None else "right" if said == true else "wrong"
        counted[verdict] += 1
        counted["compiler"] += part.elements is not None and part.elements.basis == "compiler"
        if (verbose and verdict in ("wrong", "none")) or functions != "*":
            print(
                f"  {compiler} {options}: {kernel.name} line {kernel.region.first_line} {part.role.name}: "
                f"{verdict}: {said}, true {true} ({part.elements.basis if part.elements else ''})"
            )
    return counted


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compilers", default=",".join(COMPILERS))
    parser.add_argument("--levels", default=",".join(LEVELS))
    parser.add_argument("--targets", default=",".join(TARGETS))
    parser.add_argument("--functions", default="*")
    parser.add_argument("--lines", default="-g1", help="-g0: without line information, as in most objects")
    parser.add_argument("--plugin", action="store_true", help="let clang say what it made of each loop")
    parser.add_argument("-v", "--verbose", action="store_true", help="print what is wrong or missing")
    options = parser.parse_args()
    total: Counter[str] = Counter()
    print(f"{'':<70}  right  wrong   none  unknown  compiler", flush=True)
    for compiler in options.compilers.split(","):
        if not shutil.which(compiler):
            print(f"{compiler}: not here")
            continue
        plugin = plugin_of(compiler) if options.plugin else ""
        for level in options.levels.split(","):
            for target in options.targets.split(","):
                counted = compare(
                    compiler, f"{level} {target}", options.lines, options.functions, plugin, options.verbose
                )
                if counted is None:
                    print(f"{compiler} {level} {target}: does not compile")
                    continue
                total += counted
                print(_row(f"{compiler} {level} {target}", counted), flush=True)
    print(_row("all", total))


def _row(name: str, counted: Counter[str]) -> str:
    return f"{name:<70}" + "".join(f"{counted[key]:>7}" for key in ("right", "wrong", "none", "unknown", "compiler"))


if __name__ == "__main__":
    os.environ["LC_ALL"] = "C"
    main()
