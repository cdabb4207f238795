"""Follow each kind of hint on examples, and compare the predicted and the measured gain.

    bench/hints.py [--rule NAME,…] [--compiler NAME,…] [--example NAME,…] [--all] [--under COMMAND] [--markdown]
                   [--check]

Each file in bench/hints/ is an example of one rule of report/hints. Every installed compiler compiles it, and then
compiles it again as the hint says: with the hint's flags, and with -DCHANGED if the file has `#ifdef CHANGED`. The
output has a line for each, with the cycles per element before and after, predicted and measured, and three speedups:
that which the hint states, the predicted, and the measured one. Then it has the rules with few sources, the hints that
lose, and the medians of stated and predicted speedups over measured ones.

The prediction is the sum over all innermost loops of the example, weighted by the number of their iterations: a run of
the assembly with a counter in each loop yields these. The measurement runs on the host (runner.c), unless `--predict`
is given, with data in the first-level cache, or in memory if the example says `// memory: BYTES` (of each array). If
the host lacks the instructions, there is neither. Processors that share caches or clocks with others measure best
alone: `--under "taskset -c 1"` runs each measurement under a command.

`--all` also tries the rows of report/hints/advice.py that are not advised; their results are the reason for these
rows. `--check` exits with status 1 if advice does not gain 5 % (measured, otherwise predicted) in two of three
examples and on average, if a hint loses, or if a median is not between 0.8 and 1.25.
"""

from __future__ import annotations

import argparse
import pathlib
import re
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
from typing import Any

import msgspec
from msgspec.structs import replace

from incc.driver.pipeline import analyze_unit, find_regions, read_assembly
from incc.driver.settings import REPORTED, CoreSettings, Scope, Settings
from incc.frontends.asm.call_path import parse_trips
from incc.frontends.gcc_wrapper.compile import compile_units
from incc.report.build import build_report, unit_report
from incc.report.hints.advice import CompilerCall, read_build, tried
from incc.report.hints.work import calls, expected_cycles

FOLDER = pathlib.Path(__file__).with_name("hints")
WORTH = 0.05
"""The least gain of a hint that is worth following."""

ACCURATE = 0.8, 1.25
"""The range of the median of stated or predicted over measured speedups."""

IN_CACHE = 80 * 1024
"""The bytes of each array; examples use as much of it as fits the first-level cache."""

SUSPICIOUS, AGAIN = 1.5, 3
"""The factor between measured and predicted speedups from which on both versions are measured in turn, so often."""

RUNS = 0.1
"""The least share of an example's predicted cycles that belongs to a loop that the example is about."""

LANGUAGES = {
    ".c": ("gcc", "gcc-11", "gcc-13", "gcc-14", "clang-14", "clang-19"),
    ".cpp": ("g++", "clang++-14", "clang++-19"),
    ".f90": ("gfortran",),
}


class Example(msgspec.Struct, frozen=True, kw_only=True):
    """A file with a function `kernel`, and the settings in its comments."""

    file: pathlib.Path
    rule: str
    """The rule that it is an example of."""
    options: dict[str, str]
    """The compiler options by family of compilers; "" for all families."""
    n: int
    """The number of elements of a call."""
    data: tuple[str, ...]
    """The types of its data."""
    changed: bool
    """True if it has another source to try."""
    march: str | None
    """The processor that it is compiled for."""
    mcpu: str
    """The core that it is predicted for."""
    trip: str
    """The iterations of its loops, as `--trip` has them; empty if they are not stated."""
    memory: int
    """The bytes of each array, which is in memory; 0 if the arrays are in the first-level cache."""

    @property
    def name(self) -> str:
        return self.file.stem


def read_example(file: pathlib.Path) -> Example:
    text = file.read_text()
    said = {
        key: value.strip()
        for key, value in re.findall(
            r"^(?://|!) (rule|options(?: for \w+)?|n|data|march|mcpu|trip|memory):(.*)$", text, re.M
        )
    }
    options = {
        key.removeprefix("options").removeprefix(" for "): said[key] for key in said if key.startswith("options")
    }
    return Example(
        file=file,
        rule=said["rule"],
        options=options,
        n=int(said.get("n", "1024")),
        data=tuple(said.get("data", "double double double").split()),
        changed="CHANGED" in text,
        march=said.get("march"),
        mcpu=said.get("mcpu", ""),
        trip=said.get("trip", ""),
        memory=int(said.get("memory", "0")),
    )


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """Cycles an element, predicted and measured (None where that was not possible), and the hints."""

    predicted: float | None
    measured: float | None
    hints: list[dict[str, Any]]
    text: str
    calls: bool = False
    """True if functions are called, whose cycles are not predicted."""
    library: pathlib.Path | None = None
    """The shared object that was measured."""


class Bench:
    """Compiles, analyses and runs examples in a folder of its own."""

    def __init__(self, folder: pathlib.Path, march: str, mcpu: str, run: bool, measure: bool, under: list[str]) -> None:
        self.folder, self.march, self.mcpu, self.under = folder, march, mcpu, under
        self.run, self.measure = run, measure and run
        self.runner = folder / "runner"
        if run:
            subprocess.run(["gcc", "-O2", "-o", self.runner, FOLDER / "runner.c", "-ldl"], check=True)
        self.known: dict[tuple[str, ...], Outcome] = {}
        self.builds: dict[tuple[str, str], CompilerCall] = {}

    def outcome(self, example: Example, compiler: str, flags: list[str]) -> Outcome:
        family = "clang" if "clang" in compiler else "gcc"
        options = example.options.get(family, example.options.get("", "-O3")).split()
        march = self.march if example.march is None else example.march
        # Where the linker puts a loop is luck, which may cost more than a hint gains.
        place = [] if example.rule == "code-placement" else ["-falign-functions=64", "-falign-loops=64"]
        core = [f"-march={march}"] if march else []
        command = [compiler, *options, *core, *place, "-g1", *flags, "-c", str(example.file)]
        key = tuple(command)
        if key not in self.known:
            self.known[key] = self._outcome(example, command)
        return self.known[key]

    def _outcome(self, example: Example, command: list[str]) -> Outcome:
        object_file = self.folder / "kernel.o"
        compiled = compile_units([*command, "-fPIC", "-o", str(object_file)], capture=True)
        if compiled.status or not compiled.units:
            said = compiled.errors.decode(errors="replace").strip().splitlines() or list(compiled.warnings)
            return Outcome(
                predicted=None,
                measured=None,
                hints=[],
                text=next((line for line in said if "error" in line), said[0] if said else "?"),
            )
        (unit,) = compiled.units
        self.builds.setdefault((example.name, command[0]), read_build(unit))
        settings = Settings(
            core=CoreSettings(mcpu=example.mcpu or self.mcpu),
            kernel=replace(REPORTED, timeline_iterations=0, data=("memory",) if example.memory else ()),
            scope=Scope(regions="loops", trips=parse_trips(example.trip) if example.trip else None),
        )
        (report,) = build_report([unit_report(analyze_unit(unit, settings))]).units
        spent = self._predicted(example, command[0], unit.assembly, report.kernels, settings)
        predicted = sum(spent) / example.n if spent else None
        measured = library = None
        if self.measure and not example.mcpu:
            library = self._link(object_file, f"kernel{len(self.known)}.so")
            measured = self._run(library, example)
        # Loops that hardly run, such as what is left over or what runs where arrays overlap, are not asked.
        whole = sum(spent)
        hints = [
            msgspec.to_builtins(hint)
            for number, kernel in enumerate(report.kernels)
            for hint in kernel.hints
            if not spent or spent[number] >= RUNS * whole or hint.rule in ("failing-check", "short-trips")
        ]
        called = any(calls(kernel) for kernel in report.kernels)
        return Outcome(predicted=predicted, measured=measured, hints=hints, text="", calls=called, library=library)

    def _predicted(
        self, example: Example, compiler: str, assembly: str, kernels: list[Any], settings: Settings
    ) -> list[float]:
        """The cycles of each innermost loop in a call, as often as it runs; none where that cannot be had."""
        if not kernels or not self.run:
            return []
        from incc.frontends.unit import Unit

        regions, _ = find_regions(read_assembly(Unit(assembly=assembly, assembly_file="kernel.s")), settings.scope)
        lines = assembly.splitlines()
        counted = {region.lines[0]: number for number, region in enumerate(regions)}
        # The red zone is the function's; lea leaves the flags alone.
        for line in sorted(counted, reverse=True):
            counter = f"incc_arrivals+{8 * counted[line]}(%rip)"
            code = ["leaq -128(%rsp), %rsp", "pushfq", f"incq {counter}", "popfq", "leaq 128(%rsp), %rsp"]
            lines[line - 1 : line - 1] = ["\t" + "\n\t".join(code)]
        lines += ["\t.bss", "\t.globl incc_arrivals", "\t.hidden incc_arrivals", "incc_arrivals:"]
        lines += [f"\t.zero {8 * max(1, len(regions))}", "\t.text", "\t.globl incc_read", "incc_read:"]
        lines += ["\tleaq incc_arrivals(%rip), %rax", "\tret", ""]
        source, object_file = self.folder / "counted.s", self.folder / "counted.o"
        source.write_text("\n".join(lines), errors="surrogateescape")
        subprocess.run([compiler, "-c", "-x", "assembler", "-o", object_file, source], check=True)
        library = self._link(object_file)
        run = subprocess.run(
            [self.runner, library, *_arguments(example), str(len(regions))], capture_output=True, text=True
        )
        if run.returncode:
            return []
        arrivals = [int(word) for word in run.stdout.split()]
        cycles = [k.data.levels[-1].cycles if example.memory and k.data else expected_cycles(k) for k in kernels]
        return [each * times for each, times in zip(cycles, arrivals, strict=True)]

    def compared(self, example: Example, before: Outcome, after: Outcome) -> tuple[Outcome, Outcome]:
        """Measure two outcomes in turn if their ratio is suspicious: no gain, or far from the prediction."""
        if not (before.library and after.library and before.measured and after.measured):
            return before, after
        gain = before.measured / after.measured
        predicted = before.predicted / after.predicted if before.predicted and after.predicted else gain
        if gain >= 1 + WORTH and 1 / SUSPICIOUS < gain / predicted < SUSPICIOUS:
            return before, after
        both = [before, after]
        for _ in range(AGAIN):
            for n, outcome in enumerate(both):
                again = self._run(outcome.library, example) if outcome.library else None
                both[n] = replace(outcome, measured=min(again or outcome.measured, outcome.measured))
        return both[0], both[1]

    def _link(self, object_file: pathlib.Path, name: str = "counted.so") -> pathlib.Path:
        library = self.folder / name
        linker = "g++" if shutil.which("g++") else "gcc"
        subprocess.run([linker, "-shared", "-o", library, object_file, "-lm"], check=True)
        return library

    def _run(self, library: pathlib.Path, example: Example) -> float | None:
        times = []
        for _ in range(3):
            command = [*self.under, self.runner, library, *_arguments(example)]
            run = subprocess.run(command, capture_output=True, text=True)
            if not run.returncode:
                times.append(float(run.stdout) / example.n)
        return min(times) if times else None


def _arguments(example: Example) -> list[str]:
    """Return the runner's arguments behind the library."""
    return [str(example.n), str(example.memory or IN_CACHE), *example.data]


REMEDIES = {
    "sum-chain": "reassociate",
    "sum-chain-packed": "accumulators",
    "invariant-divisor": "reciprocal",
    "math-errno": "errno",
    "math-call": "vector-functions",
    "extremum-chain": "extremum",
    "loop-overhead": "unroll",
    "conversions": "single-constants",
    "code-placement": "align-loops",
}
"""The remedy in report/hints/advice.py of each rule that has rows that are not advised."""


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """The outcomes of an example before and after following a hint."""

    example: Example
    compiler: str
    what: str
    """The flags, "source", or the reason why there is no hint."""
    kind: str
    """"flags", "source" or "not advised"; empty without a hint."""
    before: Outcome
    after: Outcome | None

    stated: float | None = None
    """The speedup that the hint states; None if it states none."""

    @property
    def gain(self) -> float | None:
        """The speedup minus 1, measured if possible, otherwise predicted; None if both are unknown."""
        speedup = self.speedup("measured") or self.speedup("predicted")
        return speedup - 1 if speedup else None

    def speedup(self, name: str) -> float | None:
        """Return the speedup, "measured" or "predicted" from the code that follows the hint; None if unknown."""
        old, new = getattr(self.before, name), getattr(self.after, name, None)
        return float(old / new) if old and new else None


def rows_of(bench: Bench, example: Example, compiler: str, everything: bool) -> list[Row]:
    """Return the rows of an example: its hint's advice and, with `everything`, flags that are not advised."""
    before = bench.outcome(example, compiler, [])
    found = [h for h in before.hints if h["rule"] == example.rule.removesuffix("-packed")]
    rows = []
    # The first of several loops of a function is the main loop; others are remainders of unrolling.
    flags = next((h["flags"] for h in found if h["flags"]), [])
    stated = next((h["gain"] for h in found), None)
    if flags:
        before, after = bench.compared(example, before, bench.outcome(example, compiler, flags))
        what = " ".join(flags)
        rows.append(
            Row(example=example, compiler=compiler, what=what, kind="flags", before=before, after=after, stated=stated)
        )
    if example.changed and any(h["source_change"] for h in found):
        before, after = bench.compared(example, before, bench.outcome(example, compiler, ["-DCHANGED"]))
        rows.append(
            Row(
                example=example,
                compiler=compiler,
                what="source",
                kind="source",
                before=before,
                after=after,
                # Of two remedies, it is that of the flags.
                stated=None if flags else stated,
            )
        )
    if not rows:
        what = "no remedy" if found else before.text or "no hint"
        rows.append(Row(example=example, compiler=compiler, what=what, kind="", before=before, after=None))
    if everything and example.rule in REMEDIES:
        for advice in tried(REMEDIES[example.rule], bench.builds[example.name, compiler]):
            after = bench.outcome(example, compiler, list(advice.flags))
            rows.append(
                Row(
                    example=example,
                    compiler=compiler,
                    what=" ".join(advice.flags),
                    kind="not advised",
                    before=before,
                    after=after,
                )
            )
    return rows


COLUMNS = ("rule", "example", "compiler", "what", "predicted", "", "measured", "", "stated", "predicted", "measured")


def cells(row: Row) -> list[str]:
    """Return a row of the table: cycles per element before and after, and the speedups."""

    def number(outcome: Outcome | None, name: str) -> str:
        value = getattr(outcome, name, None)
        return "-" if value is None else f"{value:.3f}"

    pairs = [number(o, name) for name in ("predicted", "measured") for o in (row.before, row.after)]
    speedups = [
        f"×{gain:.2f}" if gain else "-" for gain in (row.stated, row.speedup("predicted"), row.speedup("measured"))
    ]
    what = row.what if row.kind != "not advised" else f"({row.what})"
    return [row.example.rule, row.example.name, row.compiler, what, *pairs, *speedups]


def verdicts(rows: list[Row]) -> list[tuple[str, str, str, list[float]]]:
    """Return the gains of the examples with the hint, by rule, compiler and kind of advice."""
    found: dict[tuple[str, str, str], list[float]] = {}
    for row in rows:
        if row.gain is not None:
            what = row.what if row.kind == "not advised" else row.kind
            found.setdefault((row.example.rule, row.compiler, what), []).append(row.gain)
    return [(*key, gains) for key, gains in sorted(found.items())]


def accuracy(rows: list[Row]) -> tuple[list[str], bool]:
    """Return sentences on the hints that lose and on the accuracy of speedups, and True if these are good enough."""
    followed = [row for row in rows if row.kind in ("flags", "source") and row.speedup("measured")]
    losing = [f"{row.example.name} ({row.compiler}, {row.what})" for row in followed if (row.gain or 0) < 0]
    sentences = [
        f"{len(followed)} hints followed and measured; {len(losing)} lose{': ' if losing else ''}{', '.join(losing)}"
    ]
    good = not losing
    counted = [row for row in followed if not row.before.calls and not (row.after and row.after.calls)]
    stated = [(row.stated, row) for row in counted]
    predicted = [(row.speedup("predicted"), row) for row in counted]
    for name, speedups in (("stated by the hint", stated), ("predicted", predicted)):
        ratios = [speedup / measured for speedup, row in speedups if speedup and (measured := row.speedup("measured"))]
        if ratios:
            quartiles = statistics.quantiles(ratios, n=4) if len(ratios) > 1 else ratios * 3
            good = good and ACCURATE[0] <= quartiles[1] <= ACCURATE[1]
            sentences.append(
                f"speedup {name} / measured: median {quartiles[1]:.2f}, half of {len(ratios)} between "
                f"{quartiles[0]:.2f} and {quartiles[2]:.2f}"
            )
    return sentences, good


def few_sources(rows: list[Row]) -> str:
    """Return a sentence on the rules that fewer than three sources follow, by the family of compilers."""
    sources: dict[tuple[str, str], set[str]] = {}
    for row in rows:
        family = "clang" if "clang" in row.compiler else "gcc"
        names = sources.setdefault((row.example.rule, family), set())
        names |= {row.example.name} if row.gain is not None and row.kind in ("flags", "source") else set()
    few = [
        f"{rule} with {family} ({len(names)})" for (rule, family), names in sorted(sources.items()) if len(names) < 3
    ]
    return f"followed on fewer than three sources: {', '.join(few) or 'none'}"


def pays(gains: list[float]) -> bool:
    """Return True if advice is worth giving: two of three examples gain enough, and so does their average."""
    enough = sum(gain >= WORTH for gain in gains)
    return 3 * enough >= 2 * len(gains) and statistics.geometric_mean(1 + gain for gain in gains) >= 1 + WORTH


def table(lines: list[list[str]], head: tuple[str, ...], markdown: bool) -> None:
    """Print a table, for people or as Markdown."""
    if markdown:
        print("| " + " | ".join(head) + " |\n|" + " --- |" * len(head))
        for line in lines:
            print(
                "| "
                + " | ".join(f"`{cell}`" if cell.startswith("-") and len(cell) > 1 else cell for cell in line)
                + " |"
            )
        return
    widths = [max(map(len, column)) for column in zip(head, *lines, strict=True)]
    for line in (list(head), *lines):
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rule", default="", help="only examples of these")
    parser.add_argument("--example", default="", help="only these examples")
    parser.add_argument("--compiler", default="", help="only these compilers")
    parser.add_argument("--march", default="skylake-avx512", help="what the examples are compiled for")
    parser.add_argument("--mcpu", default="", help="the core of the predictions; default: the host, or that of --march")
    parser.add_argument("--all", action="store_true", help="also what is not advised")
    parser.add_argument("--predict", action="store_true", help="measure nothing")
    parser.add_argument("--under", default="", help="a command that runs each measurement, such as taskset -c 1")
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("--check", action="store_true", help="exit status 1 if something advised does not pay")
    given = parser.parse_args()

    def chosen(name: str, wanted: str) -> bool:
        return not wanted or name in wanted.split(",")

    examples = [read_example(f) for f in sorted(FOLDER.iterdir()) if f.suffix in LANGUAGES and f.name != "runner.c"]
    examples = [e for e in examples if chosen(e.rule, given.rule) and chosen(e.name, given.example)]
    examples.sort(key=lambda e: (e.rule, e.name))
    runs = runs_on_host(given.march)
    core = given.mcpu or ("native" if runs else given.march)
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(pathlib.Path(folder), given.march, core, runs, not given.predict, shlex.split(given.under))
        for example in examples:
            for compiler in LANGUAGES[example.file.suffix]:
                if chosen(compiler, given.compiler) and shutil.which(compiler):
                    rows += rows_of(bench, example, compiler, given.all)
                    print(f"\r{example.name} {compiler}\033[K", end="", file=sys.stderr, flush=True)
    print("\r\033[K", end="", file=sys.stderr)
    table([cells(row) for row in rows], COLUMNS, given.markdown)
    print()
    found = verdicts(rows)
    lines = [
        [
            rule,
            compiler,
            what,
            str(len(gains)),
            f"{100 * min(gains):+.0f} %",
            f"{100 * statistics.geometric_mean(1 + gain for gain in gains) - 100:+.0f} %",
            "yes" if pays(gains) else "NO",
        ]
        for rule, compiler, what, gains in found
    ]
    table(lines, ("rule", "compiler", "what", "examples", "least gain", "mean gain", "pays"), given.markdown)
    print()
    sentences, good = accuracy(rows)
    print("\n".join([few_sources(rows), *sentences]))
    wrong = int(not good)
    for line, (*_, what, gains) in zip(lines, found, strict=True):
        advised = what in ("flags", "source")
        if advised != pays(gains):
            # Other flags that are advised instead may gain more.
            print(f"{'advised' if advised else 'not advised'}: {' '.join(line)}", file=sys.stderr)
            wrong += advised
    return int(given.check and bool(wrong))


def runs_on_host(march: str) -> bool:
    """Return True if the host has the instructions that the examples are compiled to."""
    if not shutil.which("gcc"):
        return False
    asked = subprocess.run(
        ["gcc", f"-march={march}", "-dM", "-E", "-x", "c", "/dev/null"], capture_output=True, text=True
    )
    try:
        flags = set(pathlib.Path("/proc/cpuinfo").read_text().partition("flags")[2].partition("\n")[0].split())
    except OSError:
        return False
    needed = {
        "__AVX__": "avx", "__AVX2__": "avx2", "__FMA__": "fma", "__AVX512F__": "avx512f", "__AVX512VL__": "avx512vl",
        "__AVX512DQ__": "avx512dq", "__AVX512BW__": "avx512bw", "__BMI2__": "bmi2",
    }  # fmt: skip
    return not asked.returncode and all(flag in flags for macro, flag in needed.items() if macro in asked.stdout)


if __name__ == "__main__":
    sys.exit(main())
