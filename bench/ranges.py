"""Compare the ranges of predictions with measurements at ten placements of the arrays, on this machine.

    python bench/ranges.py [--compilers=gcc,clang-19] [--options="-O3 -march=native;-O2 -march=native"] [--loops=100]
                           [--mcpu=native] [--data=FILE] [--placements] [FILE…]

The files are compiled, by default those of bench/functions, bench/calls.c and bench/elements_kernels.c. Of their
innermost loops, those that access memory are taken, each code once, and of these every so many, so that --loops are
left. A file of `hex [cycles [name]]` lines has the machine code of a loop in each line. Each loop's own code is timed
as `--measure` does, with its arrays at each of PLACEMENTS, until two readings agree within 2 %. --data keeps the
measurements in a file: what is in it is not measured again, so that another model can be judged with the same times.

A row has the prediction, its range, the least and the most cycles measured, and how many placements are inside; a
measurement is inside up to 2 % outside the ends, as far as readings may differ. `≥`: the range has no upper end.
--placements adds a row for each placement outside. The last lines have the shares of loops with all placements inside
and of placements inside, the same for loops whose prediction is right at the placement for which the harness always
measures, and how wide the ranges are.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import shlex
import statistics
import sys
import tempfile
from collections.abc import Iterator

import msgspec

from incc.core.analysis import KernelResult, analyze_kernel
from incc.core.ranges import find_range
from incc.core.ways import Ways
from incc.driver.pipeline import AnalysisError, analyze_unit, choose_model
from incc.driver.settings import REPORTED, CoreSettings, Scope, Settings
from incc.frontends.gcc_wrapper.compile import compile_units
from incc.frontends.isa import APART, Placement
from incc.frontends.kernel import KernelCode
from incc.frontends.x86.kernels import decode_bytes
from incc.measuring.harness import LoopFailure
from incc.measuring.kernels import Measurer

BENCH = pathlib.Path(__file__).parent


def _shifted(stores: int, loads: int) -> Placement:
    return Placement(tuple([at + stores for at in APART.stored]), tuple([at + loads for at in APART.loaded]))


PLACEMENTS = {
    "aligned": APART,
    "16 bytes off": _shifted(16, 16),
    "8 bytes off": _shifted(8, 8),
    "loads 8 off": _shifted(0, 8),
    "stores 8 off": _shifted(8, 0),
    "all different": Placement((0x58, 0x1A4, 0x2CC, 0x634), (0x9E8, 0xB3C, 0xC14, 0xD68, 0xEB0, 0x790, 0x4F4)),
    "ends of pages": Placement((0xFE8, 0xFD8), (0xBF0, 0xBD0, 0xFF4, 0xFB8)),
    # Large blocks of malloc all begin so.
    "malloc": Placement((0x10,), (0x10,)),
    # Loads meet stores of earlier iterations in the low 12 bits of their addresses, in whole and in part.
    "4 KiB apart": Placement((0x440,), (0x400, 0x420)),
    "4 KiB and 8 bytes": Placement((0x448,), (0x440, 0x428)),
}
TOLERANCE = 0.02


class Case(msgspec.Struct, frozen=True):
    """A loop to measure."""

    name: str
    kernel: KernelCode
    result: KernelResult
    ways: Ways | None = None


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """A loop's prediction and its measured cycles by placement."""

    name: str
    cycles: float
    least: float
    most: float | None
    measured: dict[str, float]

    def inside(self, cycles: float) -> bool:
        highest = float("inf") if self.most is None else self.most * (1 + TOLERANCE) + TOLERANCE
        return self.least * (1 - TOLERANCE) - TOLERANCE <= cycles <= highest

    @property
    def outside(self) -> dict[str, float]:
        return {name: cycles for name, cycles in self.measured.items() if not self.inside(cycles)}


def compiled(files: list[pathlib.Path], compilers: list[str], options: list[str], mcpu: str) -> Iterator[Case]:
    """Yield the loops of source files. Raises AnalysisError."""
    settings = Settings(scope=Scope(), core=CoreSettings(mcpu=mcpu), kernel=REPORTED)
    with tempfile.TemporaryDirectory() as folder:
        for compiler in compilers:
            for flags in options:
                for file in files:
                    own = compiler
                    if file.suffix == ".cpp":
                        own = compiler.replace("gcc", "g++").replace("clang", "clang++")
                    command = [own, *shlex.split(flags), "-w", "-c", str(file), "-o", f"{folder}/x.o"]
                    for unit in compile_units(command, folder=str(BENCH), capture=True).units:
                        result = analyze_unit(unit, settings)
                        inside = result.inside or [None] * len(result.results)
                        for each, ways in zip(result.results, inside, strict=True):
                            kernel = each.kernel
                            function = kernel.region.function if kernel.region else kernel.name
                            yield Case(f"{file.stem}.{function} {compiler} {flags.split()[0]}", kernel, each, ways)


def written(file: pathlib.Path, mcpu: str) -> Iterator[Case]:
    """Yield the loops of a file of machine code. Raises ValueError, AnalysisError."""
    model = choose_model(mcpu, "").model
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        if words := line.split("#")[0].split():
            kernel = decode_bytes(bytes.fromhex(words[0]))
            yield Case(f"{file.stem}:{number} {' '.join(words[2:])}", kernel, analyze_kernel(kernel, model, REPORTED))


def chosen(cases: Iterator[Case], most: int) -> list[Case]:
    """Return loops that access memory, each code once, and of all so many evenly."""
    by_code: dict[bytes, Case] = {}
    for case in cases:
        instructions = case.kernel.instructions
        if case.kernel.is_loop and any(i.memory for i in instructions):
            by_code.setdefault(b"".join(i.encoding for i in instructions), case)
    every = list(by_code.values())
    return [every[n * len(every) // most] for n in range(most)] if len(every) > most else every


def measured(cases: list[Case], data: dict[str, dict[str, float | str]], save: pathlib.Path | None) -> Iterator[Row]:
    """Measure the loops and yield their rows; those that cannot run are left out."""
    with Measurer() as measurer:
        for case in cases:
            kernel = case.kernel
            code = f"{kernel.alignment}:" + "".join(i.encoding.hex() for i in kernel.instructions)
            times = data.setdefault(code, {})
            for name, placement in PLACEMENTS.items():
                if name not in times:
                    time = measurer.measure(kernel, placement)
                    times[name] = time.text if isinstance(time, LoopFailure) else time.cycles
                    if isinstance(time, LoopFailure) and not time.is_transient:
                        break
            if save:
                save.write_text(json.dumps(data))
            cycles = {name: time for name, time in times.items() if isinstance(time, float)}
            if not cycles:
                print(f"{case.name:<46} not measured: {next(iter(times.values()))}")
                continue
            ends = find_range(case.result, case.ways)
            predicted = float(case.result.cycles)
            yield Row(
                name=case.name,
                cycles=predicted,
                least=float(ends.least) if ends else predicted,
                most=(None if ends.most is None else float(ends.most)) if ends else predicted,
                measured=cycles,
            )


def line(row: Row) -> str:
    """Return a row of the table."""
    least, most = min(row.measured.values()), max(row.measured.values())
    upper = "≥" if row.most is None else f"{row.most:.2f}"
    inside = len(row.measured) - len(row.outside)
    return (
        f"{row.name:<46}{row.cycles:>8.2f}{row.least:>9.2f}{upper:>8}{least:>10.2f}{most:>8.2f}"
        f"{inside:>6}/{len(row.measured)}  {'' if not row.outside else 'outside'}"
    ).rstrip()


def summary(rows: list[Row]) -> Iterator[str]:
    """Yield the shares of loops and placements inside."""
    right = [row for row in rows if row.inside(next(iter(row.measured.values())))]
    for text, those in (("", rows), (" that are right for aligned arrays", right)):
        loops = sum(not row.outside for row in those)
        times = sum(len(row.measured) for row in those)
        inside = times - sum(len(row.outside) for row in those)
        if those:
            yield (
                f"of {len(those)} loops{text}: all placements inside {100 * loops / len(those):.0f} %, "
                f"placements inside {100 * inside / times:.1f} %"
            )
    for text, predicted in (("headline", lambda row: row.cycles), ("lower end", lambda row: row.least)):
        errors = [abs(predicted(row) / statistics.mean(row.measured.values()) - 1) for row in right]
        if errors:
            yield (
                f"{text} of these against the average over the placements: error {100 * statistics.mean(errors):.1f} % "
                f"on average, {100 * max(errors):.0f} % at most"
            )
    widths = [row.most / row.least - 1 for row in rows if row.most is not None and row.least > 0]
    spreads = [max(row.measured.values()) / min(row.measured.values()) - 1 for row in rows]
    if widths:
        yield (
            f"width of the ranges: average {100 * statistics.mean(widths):.0f} %, median "
            f"{100 * statistics.median(widths):.0f} %; of the measurements {100 * statistics.mean(spreads):.0f} %, "
            f"{100 * statistics.median(spreads):.0f} %; without an upper end: {len(rows) - len(widths)}"
        )
    for name in PLACEMENTS:
        times = [row for row in rows if name in row.measured]
        if times:
            share = sum(name not in row.outside for row in times) / len(times)
            yield f"  {name:<18} inside {100 * share:.0f} %"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compilers", default="gcc,clang-19", help="C compilers (gcc,clang-19)")
    parser.add_argument("--options", default="-O3 -march=native;-O2 -march=native", help="options, separated by ;")
    parser.add_argument("--loops", type=int, default=100, metavar="N", help="most loops (100)")
    parser.add_argument("--mcpu", default="native", metavar="CORE", help="core of the prediction (native)")
    parser.add_argument("--data", type=pathlib.Path, metavar="FILE", help="keep measurements in FILE")
    parser.add_argument("--placements", action="store_true", help="also print the placements outside")
    parser.add_argument("files", type=pathlib.Path, nargs="*", help="sources, or files of `hex [cycles [name]]` lines")
    options = parser.parse_args()
    sources = options.files or [
        BENCH / "calls.c",
        BENCH / "elements_kernels.c",
        *sorted(path for path in BENCH.glob("functions/*.c*") if path.suffix in (".c", ".cpp")),
    ]
    data = json.loads(options.data.read_text()) if options.data and options.data.exists() else {}

    def cases() -> Iterator[Case]:
        texts = [file for file in sources if file.suffix in (".txt", ".hex")]
        for file in texts:
            yield from written(file, options.mcpu)
        rest = [file.absolute() for file in sources if file not in texts]
        yield from compiled(rest, options.compilers.split(","), options.options.split(";"), options.mcpu)

    try:
        rows = []
        every = chosen(cases(), options.loops)
        print(f"{'loop':<46}{'pred.':>8}{'least':>9}{'most':>8}{'measured':>10}{'':>8}{'inside':>9}", flush=True)
        for row in measured(every, data, options.data):
            rows.append(row)
            print(line(row), flush=True)
            for name, cycles in row.outside.items() if options.placements else ():
                print(f"    {name:<20}{cycles:>8.2f}")
    except (OSError, ValueError, AnalysisError) as error:
        print(f"ranges.py: error: {error}", file=sys.stderr)
        return 1
    print("", *summary(rows), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
