"""What hints are worth: each is followed, and what comes of it is predicted and measured.

`bench/hints.py [--rule NAME,…] [--compiler NAME,…] [--example NAME,…] [--all] [--markdown] [--check]`: every file in
bench/hints/ is an example of one rule of driver/report/hints. It is compiled by each compiler at hand, analysed, and
compiled again as the hint says: with the hint's flags, and, where the file has `#ifdef CHANGED`, with the source changed. A
line for each has the cycles an element, predicted and measured, before and after, and what was gained.

Predicted are all innermost loops of the example together, each as often as it really runs: the assembly is run once with
a counter in front of each loop. They are measured on the host (runner.c) with data in the first-level cache, unless it
does not know the instructions; then the table has predictions alone.

`--all` also tries flags that driver/report/advice.py knows and does not advise, which is how it came to know. `--check`:
exit status 1 if something that is advised does not gain 5 % (measured, else predicted) in two examples of three, and on
the whole.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from typing import Any, NamedTuple

from incc.driver.pipeline import Settings, analyze_unit, find_regions, read_assembly
from incc.driver.report.build import build_report, unit_report
from incc.frontends.gcc_wrapper.compile import compile_units

FOLDER = pathlib.Path(__file__).with_name("hints")
WORTH = 0.05
"""What following a hint has to gain."""

LANGUAGES = {
    ".c": ("gcc", "gcc-11", "gcc-12", "gcc-13", "gcc-14", "clang-14", "clang-19"),
    ".cpp": ("g++", "clang++-14", "clang++-19"),
    ".f90": ("gfortran",),
}


class Example(NamedTuple):
    """A file with a function `kernel`, and what its comments say: the rule that it is an example of, the options that
    it is compiled with (`options`, or one set a compiler family), the elements of a call, and the types of its data."""

    file: pathlib.Path
    rule: str
    options: dict[str, str]
    n: int
    data: tuple[str, ...]
    changed: bool
    march: str | None

    @property
    def name(self) -> str:
        return self.file.stem


def read_example(file: pathlib.Path) -> Example:
    text = file.read_text()
    said = {key: value.strip() for key, value in re.findall(r"^(?://|!) (rule|options(?: for \w+)?|n|data|march):(.*)$", text, re.M)}
    options = {key.removeprefix("options").removeprefix(" for "): said[key] for key in said if key.startswith("options")}
    return Example(
        file, said["rule"], options, int(said.get("n", "1024")), tuple(said.get("data", "double double double").split()),
        "CHANGED" in text, said.get("march"),
    )  # fmt: skip


class Outcome(NamedTuple):
    """Cycles an element, predicted and measured (None where that was not possible), and the hints."""

    predicted: float | None
    measured: float | None
    hints: list[dict[str, Any]]
    text: str


class Bench:
    """Compiles, analyses and runs examples in a folder of its own."""

    def __init__(self, folder: pathlib.Path, march: str, mcpu: str, measure: bool) -> None:
        self.folder, self.march, self.mcpu = folder, march, mcpu
        self.measure = measure
        self.runner = folder / "runner"
        if measure:
            subprocess.run(["gcc", "-O2", "-o", self.runner, FOLDER / "runner.c", "-ldl"], check=True)
        self.known: dict[tuple[str, ...], Outcome] = {}

    def outcome(self, example: Example, compiler: str, flags: list[str]) -> Outcome:
        family = "clang" if "clang" in compiler else "gcc"
        options = example.options.get(family, example.options.get("", "-O3")).split()
        march = self.march if example.march is None else example.march
        command = [compiler, *options, *([f"-march={march}"] if march else []), "-g1", *flags, "-c", str(example.file)]
        key = tuple(command)
        if key not in self.known:
            self.known[key] = self._outcome(example, command)
        return self.known[key]

    def _outcome(self, example: Example, command: list[str]) -> Outcome:
        object_file = self.folder / "kernel.o"
        compiled = compile_units([*command, "-fPIC", "-o", str(object_file)], capture=True)
        if compiled.status or not compiled.units:
            said = compiled.errors.decode(errors="replace").strip().splitlines() or list(compiled.warnings)
            return Outcome(None, None, [], next((line for line in said if "error" in line), said[0] if said else "?"))
        (unit,) = compiled.units
        settings = Settings(mcpu=self.mcpu, timeline_iterations=0)
        (report,) = build_report([unit_report(analyze_unit(unit, settings))])["units"]
        predicted = self._predicted(example, command[0], unit.assembly, report["kernels"], settings)
        measured = None
        if self.measure:
            library = self._link(object_file)
            measured = self._run(library, example)
        hints = [dict(hint, cycles=kernel["cycles"]) for kernel in report["kernels"] for hint in kernel["hints"]]
        return Outcome(predicted, measured, hints, "")

    def _predicted(
        self, example: Example, compiler: str, assembly: str, kernels: list[Any], settings: Settings
    ) -> float | None:
        """Cycles an element: of each innermost loop as often as it runs."""
        if not kernels or not self.measure:
            return None
        from incc.frontends.unit import Unit

        regions, _ = find_regions(read_assembly(Unit(assembly, "kernel.s")), settings)
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
            [self.runner, library, str(example.n), *example.data, str(len(regions))], capture_output=True, text=True
        )
        if run.returncode:
            return None
        arrivals = [int(word) for word in run.stdout.split()]
        return sum(k["cycles"] * times for k, times in zip(kernels, arrivals, strict=True)) / example.n

    def _link(self, object_file: pathlib.Path) -> pathlib.Path:
        library = self.folder / "kernel.so"
        linker = "g++" if shutil.which("g++") else "gcc"
        subprocess.run([linker, "-shared", "-o", library, object_file, "-lm"], check=True)
        return library

    def _run(self, library: pathlib.Path, example: Example) -> float | None:
        times = []
        for _ in range(5):
            run = subprocess.run(
                [self.runner, library, str(example.n), *example.data], capture_output=True, text=True
            )
            if not run.returncode:
                times.append(float(run.stdout) / example.n)
        return min(times) if times else None


def explore(bench: Bench, examples: list[Example], compilers: list[str], candidates: list[str]) -> None:
    """Try each set of flags on each example, whatever the hints say."""
    for example in examples:
        for compiler in compilers:
            if compiler not in LANGUAGES[example.file.suffix] or not shutil.which(compiler):
                continue
            before = bench.outcome(example, compiler, [])
            print(f"{example.name:16} {compiler:10} {show(before)}  {' '.join(h['rule'] for h in before.hints)}")
            for flags in ([] if not example.changed else ["-DCHANGED"]) + candidates:
                after = bench.outcome(example, compiler, flags.split())
                gain = 100 * (before.measured / after.measured - 1) if before.measured and after.measured else 0
                print(f"    {show(after)} {gain:7.0f} %  {flags} {after.text}", flush=True)


def show(outcome: Outcome) -> str:
    return " ".join("      -" if v is None else f"{v:7.3f}" for v in (outcome.predicted, outcome.measured))


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rule", default="")
    parser.add_argument("--example", default="")
    parser.add_argument("--compiler", default="")
    parser.add_argument("--march", default="skylake-avx512")
    parser.add_argument("--flags", action="append", default=[])
    given = parser.parse_args()
    examples = [read_example(f) for f in sorted(FOLDER.iterdir()) if f.suffix in LANGUAGES and f.name != "runner.c"]
    examples = [e for e in examples if not given.rule or e.rule in given.rule.split(",")]
    examples = [e for e in examples if not given.example or e.name in given.example.split(",")]
    compilers = given.compiler.split(",") if given.compiler else [c for cs in LANGUAGES.values() for c in cs]
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(pathlib.Path(folder), given.march, "native", True)
        explore(bench, examples, compilers, given.flags)
    return 0


if __name__ == "__main__":
    sys.exit(main())
