"""Compare the simulated with the measured effect of leaving out parts of a loop's work.

    bench/decremental.py [--compiler NAME,…] [--flags FLAGS] [--kernel NAME,…] [--mcpu CORE] [--check]

The functions of projections_kernels.c are compiled, and their main loops are predicted and measured as `--measure`
does: as they are, and without each part of their work (`incc-mca --views=decremental`). All data are in L1. A line has
the cycles per iteration of a loop, the number of its variants, those among them whose effects agree, and the variant
with the largest difference. Effects agree if they differ by at most 10 % of the loop's measured cycles; the last line
has the share of all variants that agree. `--check` exits with status 1 if it is below 90 %.
"""

from __future__ import annotations

import argparse
import pathlib
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence

import msgspec

from incc.core.analysis import KernelResult, KernelSettings
from incc.core.decrement import decrements, with_replaced
from incc.driver.pipeline import analyze_unit
from incc.driver.settings import CoreSettings, Settings
from incc.frontends.unit import Unit
from incc.measuring.harness import LoopFailure
from incc.measuring.kernels import Measurer
from incc.report.build import unit_parts
from incc.report.parts.decrements import work_text

SOURCE = pathlib.Path(__file__).with_name("projections_kernels.c")
ALLOWED, WANTED = 0.10, 0.90
"""The difference of effects that agree, relative to the loop's cycles, and the share of variants that should agree."""


class Variant(msgspec.Struct, frozen=True):
    """The cycles that are saved without some of the work, per iteration."""

    text: str
    predicted: float
    measured: float


class Row(msgspec.Struct, frozen=True):
    """A loop and its variants."""

    compiler: str
    kernel: str
    predicted: float
    measured: float
    variants: list[Variant]

    def off(self, variant: Variant) -> float:
        """Return the difference of a variant's effects relative to the loop's cycles."""
        return abs(variant.predicted - variant.measured) / self.measured

    @property
    def agreeing(self) -> int:
        return sum(self.off(variant) <= ALLOWED for variant in self.variants)


def main_loops(compiler: str, flags: Sequence[str], mcpu: str) -> dict[str, KernelResult]:
    """Return the main loop of each function: the one whose iterations do most."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "kernels.s"
        subprocess.run([compiler, *flags, "-S", str(SOURCE), "-o", str(path)], check=True, capture_output=True)
        unit = Unit(assembly=path.read_text(), assembly_file="kernels.s")
    settings = Settings(core=CoreSettings(mcpu=mcpu), kernel=KernelSettings(timeline_iterations=0, arrays="aligned"))
    result = analyze_unit(unit, settings)
    loops: dict[str, tuple[float, KernelResult]] = {}
    for facts, part in zip(result.results, unit_parts(result), strict=True):
        function = facts.kernel.region.function if facts.kernel.region else ""
        each = float(part.elements.per_iteration) if part.elements else 0.0
        if each > loops.get(function, (0.0, facts))[0]:
            loops[function] = each, facts
    return {function: facts for function, (_, facts) in loops.items()}


def rows(options: argparse.Namespace, measurer: Measurer) -> Iterator[Row]:
    """Yield a row for each loop that can be measured."""
    for compiler in options.compiler.split(","):
        for name, facts in main_loops(compiler, shlex.split(options.flags), options.mcpu).items():
            if options.kernel and name not in options.kernel.split(","):
                continue
            before = measurer.measure(facts.kernel)
            if isinstance(before, LoopFailure):
                print(f"{compiler} {name}: not measured: {before.text}", file=sys.stderr)
                continue
            variants = []
            for each in decrements(facts):
                time = measurer.measure(with_replaced(facts.kernel, each.work.replaced)) if each.work.left_out else None
                if time is not None and not isinstance(time, LoopFailure):
                    variants.append(
                        Variant(
                            work_text(facts.kernel, each.work),
                            float(facts.cycles - each.cycles),
                            before.cycles - time.cycles,
                        )
                    )
            yield Row(compiler, name, float(facts.cycles), before.cycles, variants)


def main() -> int:
    """Print the table and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compiler", default="gcc,clang-19", help="compilers (default: gcc,clang-19)")
    parser.add_argument("--flags", default="-O3 -march=native", help="their options (default: -O3 -march=native)")
    parser.add_argument("--kernel", default="", help="functions (default: all)")
    parser.add_argument("--mcpu", default="native", help="core of the predictions (default: the host)")
    parser.add_argument("--check", action="store_true", help=f"exit with status 1 if less than {WANTED:.0%} agree")
    options = parser.parse_args()
    print("compiler  loop        predicted  measured  variants  agree  largest difference: saved predicted, measured")
    agreeing = number = 0
    with Measurer() as measurer:
        for row in rows(options, measurer):
            agreeing += row.agreeing
            number += len(row.variants)
            worst = max(row.variants, key=row.off, default=None)
            text = f"{worst.predicted:.2f} {worst.measured:.2f} {worst.text}" if worst else ""
            cycles = f"{row.predicted:>8.2f}  {row.measured:>8.2f}"
            agree = f"{len(row.variants):>8}  {row.agreeing:>5}"
            print(f"{row.compiler:<9} {row.kernel:<12} {cycles}  {agree}  {text}", flush=True)
    share = agreeing / number if number else 0.0
    print(f"{agreeing} of {number} variants agree: {share:.1%}")
    return int(options.check and share < WANTED)


if __name__ == "__main__":
    sys.exit(main())
