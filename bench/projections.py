"""Compare projections with the code that they project, predicted and measured.

    bench/projections.py [--compiler NAME,…] [--pair NAME,…] [--kernel NAME,…] [--mcpu CORE] [--predict] [--check]

Each function of projections_kernels.c is compiled in pairs that differ in what a projection changes (`PAIRS`): scalar
and in vectors, without and with fused multiply-adds, with spills and without. For `aligned` the same vector code runs
with its arrays at multiples of 16 bytes and of 64, unless it loads from shifted places of one array. A line has the
cycles per element of the code before; then those that are projected from it, those predicted for the real code after
the change, and the measured ones. Measurements are made as `--measure` does, and are left out with `--predict`. The
last lines have the median differences of projections from predictions and from measurements, and the projections that
promise a gain of 5 % where the code became slower.

Vectors have the core's full width, and clang computes one at a time (`-force-vector-interleave=1`), as the projection
does. `--check` exits with status 1 if a median is above 10 %, or a gain was promised to slower code.
"""

from __future__ import annotations

import argparse
import itertools
import pathlib
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence

import msgspec

from incc.core.analysis import KernelResult, KernelSettings, analyze_kernel
from incc.core.elements import Elements
from incc.driver.pipeline import AnalysisError, analyze_unit
from incc.driver.settings import CoreSettings, Settings
from incc.frontends.isa import Placement
from incc.frontends.unit import Unit
from incc.measuring.harness import LoopFailure
from incc.measuring.kernels import Measurer
from incc.report.build import unit_parts
from incc.report.projections.changing import Changed, Obstacle
from incc.report.projections.code import aligned, with_fma, without_spills
from incc.report.projections.vectors import vectorised

SOURCE = pathlib.Path(__file__).with_name("projections_kernels.c")
WORTH, MEDIAN = 0.05, 0.10
"""The least gain that counts as a promise, and the largest median difference that `--check` accepts."""
COMPILERS = ("gcc", "clang-19")
COMMON = ("-O3", "-march=native", "-fno-math-errno", "-fno-stack-protector", "-fno-asynchronous-unwind-tables", "-S")
FAST = ("-ffast-math",)
UNFUSED = (*FAST, "-ffp-contract=off")
"""gcc fuses operations in scalar code and in vectors differently, which is no part of the projection to vectors."""
SCALAR = {
    "gcc": ("-fno-tree-vectorize", "-fno-tree-slp-vectorize", "-fno-unroll-loops"),
    "clang": ("-fno-vectorize", "-fno-slp-vectorize", "-fno-unroll-loops"),
}
VECTOR = {
    "gcc": ("-mprefer-vector-width=512",),
    "clang": ("-mprefer-vector-width=512", "-fno-unroll-loops", "-mllvm", "-force-vector-interleave=1"),
}
DISTANCES = (0xC0, 0x100, 0x140, 0x1C0, 0x3C0)
"""Bytes between the beginnings of arrays that are read, modulo a page."""
FEW_REGISTERS = ("-mno-avx512f", *[f"-ffixed-xmm{n}" for n in range(4, 16)])
"""Options of gcc for code that has four vector registers."""


class Pair(msgspec.Struct, frozen=True, kw_only=True):
    """Two versions of a function, and the projection of the first to the second."""

    before: Callable[[str], Sequence[str]]
    """The options of a compiler ("gcc", "clang")."""
    after: Callable[[str], Sequence[str]]
    project: Callable[[KernelResult, Elements | None], Changed]
    places: bool = False
    """The versions are the same code, with arrays at multiples of 16 bytes and of 64."""


PAIRS = {
    "vectorised": Pair(
        before=lambda family: (*UNFUSED, *SCALAR[family]),
        after=lambda family: (*UNFUSED, *VECTOR[family]),
        project=vectorised,
    ),
    "fma": Pair(
        before=lambda family: (*UNFUSED, *VECTOR[family]),
        after=lambda family: (*FAST, "-ffp-contract=fast", *VECTOR[family]),
        project=lambda facts, _: with_fma(facts),
    ),
    "aligned": Pair(
        before=lambda family: (*FAST, *VECTOR[family]),
        after=lambda family: (*FAST, *VECTOR[family]),
        project=lambda facts, _: aligned(facts),
        places=True,
    ),
    "spills": Pair(
        before=lambda family: (*FAST, *FEW_REGISTERS) if family == "gcc" else (),
        after=lambda family: (*FAST, "-mno-avx512f"),
        project=lambda facts, _: without_spills(facts),
    ),
}


class Version(msgspec.Struct, frozen=True):
    """A compiled function's loop."""

    facts: KernelResult
    elements: Elements

    def each(self, cycles: float) -> float:
        """Return cycles per element."""
        return float(cycles / self.elements.per_iteration)


def versions(compiler: str, options: Sequence[str], mcpu: str) -> dict[str, Version]:
    """Return the main loop of each function that has one whose elements are known."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "kernels.s"
        command = [compiler, *COMMON, *options, str(SOURCE), "-o", str(path)]
        subprocess.run(command, check=True, capture_output=True)
        unit = Unit(assembly=path.read_text(), assembly_file="kernels.s")
    settings = Settings(
        core=CoreSettings(mcpu=mcpu), kernel=KernelSettings(what_ifs=False, timeline_iterations=0, arrays="aligned")
    )
    result = analyze_unit(unit, settings)
    loops: dict[str, Version] = {}
    for facts, part in zip(result.results, unit_parts(result), strict=True):
        function = facts.kernel.region.function if facts.kernel.region else ""
        if part.elements is None:
            continue
        known = loops.get(function)
        if known is None or part.elements.per_iteration > known.elements.per_iteration:
            loops[function] = Version(facts, part.elements)
    return loops


def measured(version: Version, measurer: Measurer, anywhere: bool) -> float | None:
    """Return the measured cycles per element, with arrays at multiples of 64 bytes, or `anywhere` at those of 16.

    It is the mean over all places within lines, and the median of several distances of the arrays, at which different
    accesses meet in the banks of the cache.
    """
    shifts = list(itertools.product((0, 16, 32, 48), repeat=2)) if anywhere else [(0, 0)]
    medians = []
    for stored, loaded in shifts:
        times = []
        for distance in DISTANCES:
            # Arrays of one kind lie apart from each other, and those of both kinds not at the same lines.
            place = Placement(
                tuple(0x40 + stored + 0x80 * n for n in range(8)),
                tuple(0x480 + loaded + distance * n for n in range(8)),
            )
            time = measurer.measure(version.facts.kernel, place)
            if isinstance(time, LoopFailure):
                return None
            times.append(time.cycles)
        medians.append(statistics.median(times))
    return version.each(statistics.mean(medians))


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """A pair of versions of a function, in cycles per element."""

    pair: str
    compiler: str
    kernel: str
    before: float
    projected: float
    predicted: float
    measured_before: float | None
    measured: float | None

    @property
    def broken(self) -> bool:
        """True if a gain was projected for code that is slower."""
        if self.measured is None or self.measured_before is None:
            return False
        gains = self.projected < self.before * (1 - WORTH)
        return gains and self.measured > self.measured_before * (1 + WORTH)


def rows(options: argparse.Namespace, measurer: Measurer | None) -> Iterator[Row]:
    """Yield a row for each projection that applies."""
    for name in options.pair:
        pair = PAIRS[name]
        for compiler in options.compiler:
            family = compiler.partition("-")[0]
            if not pair.before(family):
                continue
            try:
                before = versions(compiler, pair.before(family), options.mcpu)
                after = before if pair.places else versions(compiler, pair.after(family), options.mcpu)
            except (OSError, subprocess.CalledProcessError) as error:
                print(f"{compiler}: not compiled: {error}", file=sys.stderr)
                continue
            for kernel in sorted(before.keys() & after.keys()):
                if options.kernel and kernel not in options.kernel:
                    continue
                first, second = before[kernel], after[kernel]
                if pair.places and second.facts.analysis.expected_line_crossings:
                    continue  # shifted views of an array, which cannot all be aligned
                likely = KernelSettings(arrays="likely" if pair.places else "aligned")
                facts = analyze_kernel(first.facts.kernel, first.facts.model, likely)
                try:
                    changed = pair.project(facts, first.elements)
                except Obstacle as obstacle:
                    if options.verbose:
                        print(f"{name:<11}{compiler:<9}{kernel:<12}{obstacle.kind}")
                    continue
                yield Row(
                    pair=name,
                    compiler=compiler,
                    kernel=kernel,
                    before=first.each(facts.cycles),
                    projected=first.each(changed.cycles),
                    predicted=second.each(second.facts.cycles),
                    measured_before=measured(first, measurer, pair.places) if measurer else None,
                    measured=measured(second, measurer, False) if measurer else None,
                )


def _text(number: float | None) -> str:
    return f"{number:>10.3f}" if number is not None else f"{'-':>10}"


def _closing(found: Sequence[Row]) -> bool:
    """Print the median differences, and the broken promises. Returns True if they are as they should be."""
    good = True
    for name in (*PAIRS, "all"):
        mine = [row for row in found if name in (row.pair, "all")]
        for what, others in (
            ("predictions", [(row.projected, row.predicted) for row in mine]),
            ("measurements", [(row.projected, row.measured) for row in mine if row.measured]),
        ):
            if others:
                median = statistics.median(abs(one - other) / other for one, other in others)
                print(f"{name}: {len(others)} projections, median difference from {what} {100 * median:.1f} %")
                good &= name != "all" or median <= MEDIAN
    broken = [f"{row.pair} {row.compiler} {row.kernel}" for row in found if row.broken]
    print(f"promises of a gain for code that becomes slower: {', '.join(broken) or 'none'}")
    return good and not broken


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)

    def names(text: str) -> list[str]:
        return text.split(",")

    parser.add_argument("--compiler", type=names, default=COMPILERS, help="compilers (gcc,clang-19)")
    parser.add_argument("--pair", type=names, default=list(PAIRS), help=f"pairs ({','.join(PAIRS)})")
    parser.add_argument("--kernel", type=names, default=[], help="functions (all)")
    parser.add_argument("--mcpu", default="native", metavar="CORE", help="core of the prediction (native)")
    parser.add_argument("--predict", action="store_true", help="do not measure")
    parser.add_argument("--check", action="store_true", help="exit with status 1 if projections are not as they should")
    parser.add_argument("-v", "--verbose", action="store_true", help="also print what cannot be projected")
    options = parser.parse_args()
    found: list[Row] = []
    columns = ("before", "projected", "predicted", "measured:", "before", "after")
    print(f"{'pair':<11}{'compiler':<9}{'kernel':<12}{''.join(f'{column:>10}' for column in columns)}")
    try:
        with Measurer() as measurer:
            for row in rows(options, None if options.predict else measurer):
                found.append(row)
                numbers = (row.before, row.projected, row.predicted)
                print(
                    f"{row.pair:<11}{row.compiler:<9}{row.kernel:<12}{''.join(_text(each) for each in numbers)}"
                    f"{'':>10}{_text(row.measured_before)}{_text(row.measured)}{'  slower!' if row.broken else ''}",
                    flush=True,
                )
    except AnalysisError as error:
        print(f"bench/projections.py: error: {error}", file=sys.stderr)
        return 1
    return 0 if _closing(found) or not options.check else 1


if __name__ == "__main__":
    sys.exit(main())
