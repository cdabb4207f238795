"""Compare the predicted path of whole calls with the blocks that real calls execute, on this machine.

    python bench/call_paths.py [--compilers=gcc,clang-19] [--options="-O2,-O3,-O3 -march=haswell"] [--functions=GLOB]
                               [--lengths=1,7,27,64,100,1000] [-v]

Each function of bench/elements_kernels.c, bench/calls.c and bench/functions (C only) is compiled to assembly. In a copy
each basic block counts how often it is entered; the functions are called with each length. A `CallFollower` is asked
for the same iterations, and predicts how often each block is entered. A call agrees if all counts of the function do.
`data` counts the calls that differ and whose path has guesses, since they depend on data; `refused` has those without a
path.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

import msgspec
from msgspec.structs import replace

sys.path.insert(0, str(Path(__file__).parent))
from elements import counted_runs

from incc.core.analysis import KernelSettings
from incc.driver.calls import source_loops
from incc.driver.pipeline import analyze_unit
from incc.driver.settings import CoreSettings, Settings
from incc.frontends.asm.call_path import CallFollower, CallPath, NoCallPath, WantedTrips
from incc.frontends.asm.control_flow import control_flow
from incc.frontends.asm.graph import ControlFlow
from incc.frontends.asm.parse import INSTRUCTION, Assembly, parse
from incc.frontends.isa import isa
from incc.frontends.kernel import Instruction, Region
from incc.frontends.unit import Unit
from incc.report.build import unit_parts
from incc.support.errors import AnalysisError

FOLDER = Path(__file__).parent
FLAGS = ["-fno-pie", "-fcf-protection=none", "-fno-asynchronous-unwind-tables", "-g1"]
# The arrays of bench/calls.c in the driver of bench/elements.py, which are at descending addresses. Paths assume that
# those of arguments ascend: they decide if the first of two checks for overlap is enough.
ARRAYS = {"P0": "P2", "P1": "P1", "P2": "P0"}
ARRAYS |= {"F0": "P2", "F1": "P1", "F2": "P0", "B0": "P3", "B1": "P1", "B2": "P0", "K0": "P4", "C0": "A0", "L0": "P5"}
# Iterations of the source's innermost loops where they are not the length in the call.
ITERATIONS = {
    "by_two": "(n + 1) // 2",
    "nbody": "n // 4",
    "list_sum": "n",
    "list_add": "n",
    "largest_place": "n - 1",
    "find": "n + 1",
    # Compilers leave out the comparison of the first element with itself.
    "largest": "n - 1",
    "smallest": "n - 1",
}
CALLED_ONCE = r"""
#define main timed
#include "functions_driver.c"
#undef main
extern long incc_counters[%d];
int main(void) {
  fill();
  CALL;
  for (int i = 0; i < %d; ++i) printf(" %%ld", incc_counters[i]);
}
"""


class Called(msgspec.Struct, frozen=True, kw_only=True):
    """A real call of a function."""

    function: str
    trips: list[WantedTrips]
    """The iterations of inner and outer loops, in one of these ways."""
    counts: list[int]
    """By block."""


class Code(msgspec.Struct, frozen=True, kw_only=True):
    """The assembly of a source, with its blocks."""

    text: str
    assembly: Assembly
    graphs: list[ControlFlow]
    elements: dict[int, int]
    lines: dict[int, int]

    @property
    def blocks(self) -> list[tuple[str, int]]:
        """The function and the first instruction of each block."""
        return [(graph.name, block.instructions[0]) for graph in self.graphs for block in graph.blocks]

    def instrumented(self) -> str:
        """Return the assembly with a counter at each block."""
        lines = self.text.split("\n")
        for counter, (_, number) in enumerate(self.blocks):
            at = self.assembly.statements[number].line - 1
            # Flags, and what leaf functions keep below the stack pointer, stay as they are.
            lines[at] = (
                "\tleaq -128(%rsp), %rsp\n\tpushfq\n"
                f"\tincq incc_counters+{8 * counter}(%rip)\n\tpopfq\n\tleaq 128(%rsp), %rsp\n" + lines[at]
            )
        return "\n".join(lines) + f"\n\t.comm incc_counters,{8 * max(1, len(self.blocks))},64\n"


def compiled(compiler: str, options: str, source: Path) -> Code | None:
    """Compile a source, and find its loops' elements as `incc-mca` does; None where it does not compile."""
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder, "in.s")
        command = [compiler, *options.split(), *FLAGS, "-S", str(source), "-o", str(output)]
        if subprocess.run(command, capture_output=True, check=False).returncode:
            return None
        text = output.read_text()
    assembly = parse(text, "x86")
    numbers = {statement.line: n for n, statement in enumerate(assembly.statements) if statement.kind == INSTRUCTION}
    settings = Settings(core=CoreSettings(mcpu="znver4"), kernel=KernelSettings(simulate=False))
    elements, lines = {}, {}
    with suppress(AnalysisError):
        unit = analyze_unit(Unit(assembly=text, assembly_file="in.s"), settings)
        regions = [of.kernel.region for of in unit.results]
        heads = {numbers[region.lines[0]]: n for n, region in enumerate(regions) if region is not None}
        elements, lines = source_loops(replace(unit, parts=unit_parts(unit)), heads)
    return Code(text=text, assembly=assembly, graphs=control_flow(assembly), elements=elements, lines=lines)


def decoder(code: Code) -> Callable[[int], Sequence[Instruction]]:
    """Return a function that decodes an instruction by its number."""
    lines = tuple(s.line for s in code.assembly.statements if s.kind == INSTRUCTION)
    region = Region(kind="file", name="", first_line=1, last_line=lines[-1], lines=lines, body_lines=lines)
    (kernel,) = isa("x86").decode_regions(code.text, [region], "in.s")
    by_line: dict[int, list[Instruction]] = {}
    for instruction in kernel.instructions:
        by_line.setdefault(instruction.line, []).append(instruction)
    return lambda number: by_line.get(code.assembly.statements[number].line, ())


def with_lengths(compiler: str, code: Code, source: Path, lengths: list[int], functions: str) -> Iterable[Called]:
    """Call the functions of a source that has a comment with the call before each."""
    text = source.read_text()
    wanted: dict[str, tuple[str, str, list[str]]] = {}
    iterations: dict[str, str] = {}
    for call, trips in re.findall(r"^//: (\w+\(.*?\))(?: ; (.*))?$", text, re.M):
        name = call.split("(")[0]
        if name in wanted or not fnmatchcase(name, functions):
            continue
        of_call = re.search(r"(?:\d \* )?\bn\b(?: / \d)?", call)
        # `3 * n` iterations of which n are in each entry.
        of_trips = re.sub(r"^\d \* ", "", trips) or (of_call[0] if of_call else "n")
        wanted[name] = name, re.sub(r"\b[PFBKCL]\d\b", lambda array: ARRAYS.get(array[0], array[0]), call), ["n"]
        iterations[name] = ITERATIONS.get(name, of_trips.replace("/", "//"))
    with tempfile.TemporaryDirectory() as folder:
        runs = counted_runs(
            compiler, Path(folder), code.instrumented(), len(code.blocks), text, list(wanted.values()), lengths
        )
    for index, (n,), counts in runs:
        name = list(wanted)[index]
        # A loop that is unrolled in the source has elements other than its iterations.
        ways = dict.fromkeys([eval(iterations[name], {"n": n}), n])
        yield Called(function=name, trips=[WantedTrips(inner=inner, outer=3) for inner in ways], counts=counts)


def once(compiler: str, code: Code, name: str, function: dict[str, str]) -> Iterable[Called]:
    """Call a function of bench/functions as its table says."""
    with tempfile.TemporaryDirectory() as folder:
        trips = function.get("trips", function["elements"])
        (Path(folder) / "call.h").write_text(
            f"{function['prototype']};\n#define CALL {function['call']}\n#define ELEMENTS 1\n#define TRIPS 1\n"
        )
        (Path(folder) / "code.s").write_text(code.instrumented())
        (Path(folder) / "main.c").write_text(CALLED_ONCE % (len(code.blocks), len(code.blocks)))
        subprocess.run([compiler, "-c", "code.s", "-o", "code.o"], cwd=folder, check=True)
        command = ["gcc", "-O1", "-w", f"-I{folder}", f"-I{FOLDER}", "main.c", "code.o", "-no-pie", "-o", "run", "-lm"]
        subprocess.run(command, cwd=folder, check=True)
        output = subprocess.run([Path(folder) / "run"], check=True, capture_output=True, text=True).stdout
    factors = [int(factor) for factor in re.findall(r"\d+", trips)] if re.fullmatch(r"[\d */]+", trips) else []
    factors = [*factors, 1][:2] if factors else [100, 1]
    ways = [WantedTrips(inner=factors[0], outer=factors[1]), WantedTrips(inner=factors[1], outer=factors[0])]
    yield Called(function=name, trips=ways, counts=[int(count) for count in output.split()])


def verdict(code: Code, graph: ControlFlow, called: Called, statement: Callable[[int], Sequence[Instruction]]) -> str:
    """Return "agree", "differ", "data" or "refused" with details behind a colon."""
    follower = CallFollower(graph, statement, isa("x86").evaluator(), code.elements, code.lines)  # type: ignore[arg-type]
    numbers = {number: n for n, (_, number) in enumerate(code.blocks)}
    result = ""
    for trips in called.trips:
        path = follower.path(trips)
        if isinstance(path, NoCallPath):
            result = result or f"refused: {path.reason}"
            continue
        predicted = Counter(numbers[number] for number in path.numbers if number in numbers)
        blocks = [numbers[block.instructions[0]] for block in graph.blocks]
        if all(predicted[block] == called.counts[block] for block in blocks):
            return "agree"
        result = (
            result or f"{'data' if path.guesses else 'differ'}: {_difference(code, path, called, blocks, predicted)}"
        )
    return result


def _difference(code: Code, path: CallPath, called: Called, blocks: list[int], predicted: Counter[int]) -> str:
    places = {block: code.assembly.statements[code.blocks[block][1]].line for block in blocks}
    wrong = {places[b]: (predicted[b], called.counts[b]) for b in blocks if predicted[b] != called.counts[b]}
    return f"inputs {path.inputs}, (predicted, executed) by line {wrong}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compilers", default="gcc,gcc-11,clang-14,clang-19")
    parser.add_argument("--options", default="-O2,-O3,-O3 -march=haswell,-O3 -march=znver4")
    parser.add_argument("--functions", default="*", metavar="GLOB")
    parser.add_argument("--lengths", default="1,7,27,64,100,1000")
    parser.add_argument("-v", "--verbose", action="store_true", help="print the calls that do not agree")
    arguments = parser.parse_args()
    lengths = [int(length) for length in arguments.lengths.split(",")]
    table = tomllib.loads((FOLDER / "functions" / "table.toml").read_text())
    sources = [FOLDER / "elements_kernels.c", FOLDER / "calls.c"]
    sources += [FOLDER / "functions" / f"{name}.c" for name in table if (FOLDER / "functions" / f"{name}.c").exists()]
    print(f"{'':<50}{'agree':>8}{'differ':>8}{'data':>8}{'refused':>8}")
    total: Counter[str] = Counter()
    for compiler in filter(shutil.which, arguments.compilers.split(",")):
        for options in arguments.options.split(","):
            counted: Counter[str] = Counter()
            for source in sources:
                if source.stem in table and not fnmatchcase(source.stem, arguments.functions):
                    continue
                code = compiled(compiler, options, source)
                if code is None:
                    continue
                statement = cache(decoder(code))
                graphs = {graph.name: graph for graph in code.graphs}
                calls = (
                    once(compiler, code, source.stem, table[source.stem])
                    if source.stem in table
                    else with_lengths(compiler, code, source, lengths, arguments.functions)
                )
                for called in calls:
                    text = verdict(code, graphs[called.function], called, statement)
                    counted[text.partition(":")[0]] += 1
                    if arguments.verbose and text != "agree":
                        print(f"  {called.function} {called.trips[0].inner}: {text}")
            print(_row(f"{compiler} {options}", counted), flush=True)
            total += counted
    print(_row("all", total))


def _row(name: str, counted: Counter[str]) -> str:
    return f"{name:<50}" + "".join(f"{counted[key]:>8}" for key in ("agree", "differ", "data", "refused"))


if __name__ == "__main__":
    main()
