"""Check the roles, elements, vectors, trip counts, lines and bytes of loops against the truth (docs/plugin.md).

    python bench/roles.py [--compilers=clang-19,gcc-12] [--levels=-O2,-O3] [--targets=-march=haswell] [--functions=GLOB]
                          [--no-plugin] [--kernels] [-v]
    python bench/roles.py --reports DIR…

The loops of bench/roles (and with --kernels those of bench/elements_kernels.c) are compiled by each compiler, by a
clang with the pass plugin. A comment before each function, which has one innermost loop, says what holds whatever a
compiler does:

    //: CALL ; ITERATIONS ; entries=N trips=N sizes=4,8 bytes=N at=NAME width=N interleave=N unroll=N
    //~ CALL ; ITERATIONS

how it is called (bench/elements.py, whose program runs it, says with what), and how many iterations of the source that
is; `//~` is a call in which what a compiler would like to assume does not hold (so is one with A0, arrays that
overlap). `entries`: how often the loop is entered (1). `trips`: a trip count that is constant. `sizes`: bytes of the
elements that it loads and stores; `bytes`: how many bytes an iteration does. The loop is marked with `// loop` in the
line of its `for`, or, `at=NAME`, with `// loop: NAME` in another function; a line is right from there (with the pragmas
before it) to the function's end. `width`, `interleave` and `unroll` are what pragmas demand of clang.

What compilers decide is found out without the plugin, and without what incc infers. Counters in the assembly say how
often each of its loops runs, and in which order:

- elements of an iteration as in bench/elements.py; where that does not tell, but for all loops of the function together
  the answers come to exactly the source's iterations in each run, they are right;
- a main loop does the most iterations of the longest ordinary call; a remainder runs after it, and in some runs
  without it (`instead`) or in none; a prologue before it; a fallback in no run with it; an outer loop's rest where the
  source's loop has no iteration. Of functions with a loop that never runs roles are not known;
- trip counts that are told are compared with each run.

Width and interleaving are those of clang's optimisation record. Where a nest's loops run no oftener than the loop is
entered, it was unrolled completely: iterations are those of the one around it, and nothing is known of the rest.
`--reports` counts in reports (of --analyze-format=json) how many loops have a certain role, and for how many the plugin
has said nothing. The host must be able to run the code.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from fractions import Fraction
from pathlib import Path
from typing import Any

import elements
import msgspec

from incc.core.analysis import KernelSettings
from incc.driver.pipeline import analyze_unit
from incc.driver.settings import CoreSettings, Settings
from incc.frontends.clang_plugin.table import read_table
from incc.frontends.kernel import CompiledLoop, KernelCode
from incc.frontends.unit import Unit
from incc.report.build import unit_report

FOLDER = Path(__file__).with_name("roles")
COMPILERS = ("clang-14", "clang-16", "clang-19", "gcc-11", "gcc-12")
LEVELS = ("-O2", "-O3")
TARGETS = ("-march=haswell", "-march=skylake-avx512")
WHAT = ("role", "instead", "elements", "width", "interleave", "trips", "line", "sizes", "bytes")


@dataclass
class Case:
    """A function with one loop: its calls (call, ordinary, iterations, entries), what is known, the loop's lines."""

    function: str
    calls: list[tuple[str, bool, str, str]]
    facts: dict[str, str]
    lines: range
    around: range


@dataclass
class Run:
    """One call: iterations of the source, how often the loop is entered, and of each loop of the function how often it
    ran and when for the last time."""

    call: str
    ordinary: bool
    iterations: int
    entries: int
    counts: list[int]
    last: list[int]


@dataclass
class Truth:
    """The truth about a loop; None where it is unknown."""

    elements: Fraction | None = None
    role: str | None = None
    instead: bool | None = None
    mains: set[int] = field(default_factory=set)


def cases(source: str) -> list[Case]:
    """The functions of a source, with what its comments say."""
    lines = source.split("\n")
    found: dict[str, Case] = {}
    at: dict[str, int] = {}
    for number, line in enumerate(lines, 1):
        if comment := re.match(r"//([:~]) (\w+)(\(.*?\)) ; ([^;]+?)(?: ; (.*))?$", line):
            kind, function, rest, iterations, more = comment.groups()
            facts = dict(fact.split("=") for fact in (more or "").split())
            case = found.setdefault(function, Case(function, [], facts, range(0), range(0)))
            ordinary = kind == ":" and not re.search(r"\bA\d", rest)
            case.calls.append((function + rest, ordinary, iterations, facts.get("entries", "1")))
        elif named := re.search(r"// loop: (\w+)$", line):
            at[named[1]] = number
    ends = [number for number, line in enumerate(lines, 1) if line.endswith("}") and not line.startswith(" ")]
    for case in found.values():
        head = next(n for n, line in enumerate(lines, 1) if re.search(rf"^\w.*[ *]{case.function}\(.*{{", line))
        start = at[case.facts["at"]] if "at" in case.facts else head
        end = next(number for number in ends if number >= start)
        marked = [number for number in range(start, end) if lines[number - 1].endswith("// loop")]
        first = marked[0] if marked else start
        while lines[first - 2].startswith("#pragma"):
            first -= 1
        case.lines = range(first, end + 1)
        case.around = range(head, end + 1) if head <= first else case.lines
    return list(found.values())


def instrumented(assembly: str, kernels: list[KernelCode]) -> str:
    """The assembly with two numbers for each kernel's loop: how often its header is reached, and when for the last time
    by a clock that all have in common; after them the clock."""
    lines = assembly.split("\n")
    for number, kernel in enumerate(kernels):
        assert kernel.region is not None
        at = kernel.region.lines[0] - 1
        clock = f"incc_counters+{16 * len(kernels)}(%rip)"
        code = [
            "leaq -128(%rsp), %rsp",
            "pushfq",
            "pushq %rax",
            f"incq {clock}",
            f"movq {clock}, %rax",
            f"movq %rax, incc_counters+{8 * (len(kernels) + number)}(%rip)",
            f"incq incc_counters+{8 * number}(%rip)",
            "popq %rax",
            "popfq",
            "leaq 128(%rsp), %rsp",
        ]
        lines[at] = "\n".join(["\t" + line for line in code] + [lines[at]])
    return "\n".join(lines) + f"\n\t.comm incc_counters,{8 * (2 * len(kernels) + 1)},64\n"


def run_all(
    compiler: str, folder: Path, assembly: str, kernels: list[KernelCode], source: str, wanted: list[Case]
) -> dict[str, list[Run]]:
    """The runs of each function; their loops in the kernels' order."""
    calls = [(case.function, call, [done, entries]) for case in wanted for call, _, done, entries in case.calls]
    ordinary = [ordinary for case in wanted for _, ordinary, _, _ in case.calls]
    if "Node;" not in source:
        source = "typedef struct Node { struct Node *next; long value; } Node;\n" + source
    found: dict[str, list[Run]] = {}
    # With more short ones, in which loops run alone that are remainders else.
    lengths = sorted({*elements.lengths(), *range(1, 140)})
    for index, (iterations, entries), counters in elements.counted_runs(
        compiler, folder, instrumented(assembly, kernels), 2 * len(kernels) + 1, source, calls, lengths
    ):
        function, call, _ = calls[index]
        own = [n for n, kernel in enumerate(kernels) if _function(kernel) == function]
        counts = [counters[n] for n in own]
        last = [counters[len(kernels) + n] for n in own]
        found.setdefault(function, []).append(Run(call, ordinary[index], iterations, entries, counts, last))
    return found


def _function(kernel: KernelCode) -> str:
    """The function of a kernel, of its parts that gcc makes functions of their own as well."""
    assert kernel.region is not None
    return kernel.region.function.partition(".")[0]


def truths(runs: list[Run], said: list[Fraction | None]) -> list[Truth]:
    """Return the truth about the loops of one function with these reported elements."""
    loops = range(len(said))
    true = [Truth(_elements(runs, loop)) for loop in loops]
    # All together: the source's iterations, in each run.
    if None not in said and all(
        sum(count * (each or 0) for count, each in zip(run.counts, said, strict=True)) == run.iterations
        for run in runs
        if run.iterations
    ):
        for each, answer in zip(true, said, strict=True):
            each.elements = each.elements or answer
    for loop in loops:
        if any(run.counts[loop] for run in runs if not run.iterations):
            true[loop].role = "outer" if not any(run.counts[loop] for run in runs if run.iterations) else None
    if not all(any(run.counts[loop] for run in runs) for loop in loops):
        return true
    mains: set[int] = set()
    for call in {run.call: None for run in runs if run.ordinary and run.iterations}:
        longest = max((run for run in runs if run.call == call), key=lambda run: run.iterations)
        mains |= _most(longest, true)
    if not mains:
        return true
    for loop in loops:
        truth = true[loop]
        truth.mains = mains
        if loop in mains:
            truth.role = "main"
            continue
        ran = [run for run in runs if run.counts[loop]]
        both = [run for run in ran if any(run.counts[main] for main in mains)]
        alone = [run for run in ran if run not in both and run.iterations]
        if any(not run.iterations for run in ran):
            continue
        if both:
            sides = {_side(run, loop, mains) for run in both}
            if len(sides) == 1 and (side := sides.pop()):
                truth.role = side
                truth.instead = bool(alone)
        else:
            truth.role = "fallback"
    return true


def _side(run: Run, loop: int, mains: set[int]) -> str:
    """Return whether a loop runs before or after the main loop.

    Each of several main loops, the copies of one, has its own: all are before them, or after.
    """
    ran = sorted((at, number) for number, at in enumerate(run.last) if run.counts[number])
    if sum(number in mains for _, number in ran) == 1:
        (main,) = (at for at, number in ran if number in mains)
        return "remainder" if run.last[loop] > main else "prologue"
    ends = ran[0][1] in mains, ran[-1][1] in mains
    return {(True, False): "remainder", (False, True): "prologue"}.get(ends, "")


def _unrolled_completely(case: Case, runs: list[Run]) -> bool:
    """Return True if the loop is gone, so that the remaining loops are the one around it."""
    return case.facts.get("entries", "1") != "1" and all(max(run.counts) <= run.entries for run in runs)


def _elements(runs: list[Run], loop: int) -> Fraction | None:
    by_call: dict[str, list[tuple[Fraction, list[int]]]] = {}
    for run in runs:
        by_call.setdefault(run.call, []).append((Fraction(run.iterations), run.counts))
    if (told := elements.truth(by_call, loop)) is not None:
        return told
    # The only one of a constant number of trips, if straight code beside it cannot be as much as one of its own
    # iterations for each of them.
    first = runs[0]
    if all(run.counts == first.counts and sum(run.counts) == run.counts[loop] > 0 for run in runs):
        each = Fraction(first.iterations, first.counts[loop])
        return each if each.denominator == 1 and first.counts[loop] > each else None
    return None


def _most(run: Run, true: list[Truth]) -> set[int]:
    """The loops that do the most iterations of a run; none where that is not known."""
    did = {loop: count * (true[loop].elements or 0) for loop, count in enumerate(run.counts) if count}
    unknown = [loop for loop in did if true[loop].elements is None]
    if len(unknown) > 1 or not did:
        return set()
    if unknown:
        did[unknown[0]] = run.iterations - sum(did.values())
    return {loop for loop, iterations in did.items() if iterations == max(did.values())}


def clang_records(text: str) -> dict[str, set[tuple[int, int]]]:
    """From clang's optimisation record, by functions: width and interleaving of its loops."""
    vectors: dict[str, set[tuple[int, int]]] = {}
    for record in text.split("\n---"):
        name = re.search(r"^Name: +(\w+)", record, re.M)
        function = re.search(r"^Function: +'?(\w+)", record, re.M)
        if not name or not function or "!Passed" not in record:
            continue
        if name[1] in ("Vectorized", "Interleaved"):
            width = re.search(r"VectorizationFactor: +'?(\d+)", record)
            copies = re.search(r"InterleaveCount: +'?(\d+)", record)
            pair = int(width[1]) if width else 1, int(copies[1]) if copies else 1
            vectors.setdefault(function[1], set()).add(pair)
    return vectors


def verdicts(
    case: Case,
    kernels: list[Any],
    number: int,
    truth: Truth,
    runs: list[Run],
    vectors: set[tuple[int, int]] | None,
    lines: range,
) -> dict[str, str]:
    """Return for each statement about a kernel: "right", "wrong: …", "none" where nothing is said; nothing where the
    truth is not known. `vectors`: None for a compiler that does not tell."""
    kernel = kernels[number]
    compiled = kernel["compiled"]
    # Of a loop whose origin is lost nothing is said but what it is now.
    made = compiled if compiled and compiled["kind"] != "unknown" else None
    found: dict[str, str] = {}

    def compare(what: str, said: object, true: object) -> None:
        found[what] = "none" if said is None else "right" if said == true else f"wrong: {said}, true {true}"

    if truth.role is not None:
        compare("role", kernel["role"]["name"], truth.role)
        of = kernel["role"]["of"]
        if truth.role not in ("main", "outer") and of and of not in {kernels[m]["kernel_id"] for m in truth.mains}:
            found["role"] = f"wrong: of {of}"
        if truth.instead is not None and found["role"] == "right":
            compare("instead", kernel["role"]["instead"], truth.instead)
    if truth.elements is not None:
        said = kernel["elements"]["per_iteration"] if kernel["elements"] else None
        compare("elements", said, float(truth.elements))
    main = truth.role == "main"
    if main and vectors is not None:
        width, interleave = (
            min(vectors)
            if len(vectors) == 1
            else (int(case.facts.get("width", 0)), int(case.facts.get("interleave", 0)))
        )
        if not vectors:
            width, interleave = 1, 1
        if width:
            compare("width", made and made["width"], width)
        if interleave:
            compare("interleave", made and made["interleave"], interleave)
        if "unroll" in case.facts and made and made["unroll"] != int(case.facts["unroll"]):
            found["interleave"] = f"wrong: unrolled {made['unroll']} times, demanded {case.facts['unroll']}"
    if trips := _trips(case, compiled, number, runs, main):
        found["trips"] = trips
    place = kernel["source"]
    line = place and place["line"]
    found["line"] = "none" if line is None else "right" if line in lines else f"wrong: {line}, true {lines[0]}"
    if main:
        if "sizes" in case.facts:
            said_sizes = sorted({stream["element_bytes"] for stream in compiled["streams"]}) if compiled else None
            compare("sizes", said_sizes or None, sorted(map(int, case.facts["sizes"].split(","))))
        if "bytes" in case.facts:
            memory = kernel["memory"]
            each = kernel["elements"]["per_iteration"] if kernel["elements"] else None
            moved = memory["bytes_loaded"] + memory["bytes_stored"]
            if compiled:  # which does not count constants that are loaded again and again
                moved = sum(s["element_bytes"] * s["lanes"] * s["accesses"] for s in compiled["streams"])
            compare("bytes", each and moved / each, float(case.facts["bytes"]))
    return found


def _trips(case: Case, compiled: Any, loop: int, runs: list[Run], main: bool) -> str:
    """The verdict on trip counts: of the loop, and of the one of the source."""
    # Of all loops that one of the source became that is the trip count; it is expected of the main one alone.
    constant = "trips" in case.facts and (main or bool(compiled and compiled["source_trip_count"]))
    if not compiled:
        return "none" if constant else ""
    told = ""
    for run in runs:
        count, entries = run.counts[loop], run.entries
        if not count:
            continue
        if trips := compiled["trip_count"]:
            told = told or "right"
            if count % trips or count > trips * entries or (entries == 1 and count != trips):
                return f"wrong: {trips} trips, did {count} in {entries}"
        if (most := compiled["max_trip_count"]) and count > most * entries:
            return f"wrong: at most {most} trips, did {count} in {entries}"
        if count % compiled["trip_multiple"]:
            return f"wrong: a multiple of {compiled['trip_multiple']} trips, did {count}"
        source = compiled["source_trip_count"]
        if source and main and source * entries != run.iterations:
            return f"wrong: {source} iterations in the source, true {run.iterations} in {entries}"
    if constant:
        if compiled["source_trip_count"] is None:
            return "none"
        same = compiled["source_trip_count"] == int(case.facts["trips"])
        return "right" if same else f"wrong: {compiled['source_trip_count']}, true {case.facts['trips']}"
    return told


def compare(compiler: str, options: str, source: Path, arguments: argparse.Namespace) -> Counter[str] | None:
    """For one compiler, its options and a source, how often what is (WHAT and a verdict's first word); None where it
    does not compile."""
    text = source.read_text()
    wanted = [case for case in cases(text) if fnmatchcase(case.function, arguments.functions)]
    clang = "clang" in compiler
    plugin = elements.plugin_of(compiler) if clang and arguments.plugin else ""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        command = [compiler, *options.split(), *elements_flags(), "-S", str(source), "-o"]
        loops: tuple[CompiledLoop, ...] = ()
        table = folder / "loops.json"
        environment = {**os.environ, "INCC_LOOP_TABLE": str(table)}
        with_plugin = [f"-fpass-plugin={plugin}"] if plugin else []
        out = str(folder / "in.s")
        if subprocess.run([*command, out, *with_plugin], capture_output=True, check=False, env=environment).returncode:
            return None
        if plugin:
            loops = read_table(table.read_text())
        vectors: dict[str, set[tuple[int, int]]] = {}
        if clang:
            # Without the plugin, which hears them too.
            record = folder / "record.yaml"
            subprocess.run([*command, os.devnull, f"-foptimization-record-file={record}"], check=True)
            vectors = clang_records(record.read_text())
        assembly = Path(out).read_text()
        cpu = (re.findall(r"-march=(\S+)", options) or ["skylake-avx512"])[-1]
        settings = Settings(core=CoreSettings(mcpu=cpu), kernel=KernelSettings(simulate=False))
        unit = analyze_unit(Unit(assembly=assembly, assembly_file="in.s", loops=loops), settings)
        kernels = [result.kernel for result in unit.results]
        report: list[Any] = msgspec.to_builtins(unit_report(unit).kernels)
        runs = run_all(compiler, folder, assembly, kernels, text, wanted)
    counted: Counter[str] = Counter()
    for case in wanted:
        own = [n for n, kernel in enumerate(kernels) if _function(kernel) == case.function]
        counted["functions"] += 1
        counted["gone"] += not own
        heard: set[tuple[int, int]] | None = vectors.get(case.function, set()) if clang else None
        if own and _unrolled_completely(case, runs[case.function]):
            heard = None
            for run in runs[case.function]:
                run.iterations, run.entries = run.entries, 1
            case = Case(case.function, case.calls, {}, case.around, case.around)
        said = [
            Fraction(report[n]["elements"]["per_iteration"]).limit_denominator(64) if report[n]["elements"] else None
            for n in own
        ]
        true = truths(runs[case.function], said) if own else []
        for place, n in enumerate(own):
            lines = case.around if true[place].role == "outer" else case.lines
            found = verdicts(case, [report[o] for o in own], place, true[place], runs[case.function], heard, lines)
            counted["loops"] += 1
            counted["compiler"] += report[n]["role"]["basis"] == "compiler"
            for what, verdict in found.items():
                counted[f"{what} {verdict.partition(':')[0]}"] += 1
                if (arguments.verbose and verdict.startswith("wrong")) or (arguments.functions != "*"):
                    print(f"  {compiler} {options}: {kernels[n].name} {report[n]['label']} {what} {verdict}")
    return counted


def elements_flags() -> list[str]:
    """The options for all sources."""
    return ["-g1", "-fopenmp-simd", "-fno-pie", "-fcf-protection=none", "-fno-asynchronous-unwind-tables", "-w"]


def count_reports(folders: list[str]) -> None:
    """Print the origin of the roles of loops in reports, by compiler."""
    counted: dict[str, Counter[str]] = {}
    for folder in folders:
        for path in [Path(folder)] if Path(folder).is_file() else sorted(Path(folder).rglob("*.json")):
            try:
                units = json.loads(path.read_text())["units"]
            except (ValueError, KeyError, TypeError):
                continue  # another program's
            for unit in units:
                of = counted.setdefault(f"{unit['compiler']} {unit['compiler_version']}", Counter())
                of["units"] += 1
                for kernel in unit["kernels"]:
                    if kernel["kind"] != "loop":
                        continue
                    of["loops"] += 1
                    of["certain"] += kernel["role"]["basis"] == "compiler"
                    of["elements"] += bool(kernel["elements"]) and kernel["elements"]["basis"] == "compiler"
                    compiled = kernel.get("compiled")
                    of["lost"] += bool(compiled) and compiled["kind"] == "unknown"
                    of["without"] += not compiled
    print(f"{'':<60}{'units':>8}{'loops':>8}{'certain role':>20}{'elements':>18}{'lost':>8}{'no partner':>18}")
    for compiler, of in sorted(counted.items()):
        loops = max(1, of["loops"])
        print(
            f"{compiler[:59]:<60}{of['units']:>8}{of['loops']:>8}"
            f"{of['certain']:>12} {of['certain'] / loops:>6.1%}{of['elements']:>11} {of['elements'] / loops:>6.1%}"
            f"{of['lost']:>8}{of['without']:>11} {of['without'] / loops:>6.1%}"
        )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compilers", default=",".join(COMPILERS))
    parser.add_argument("--levels", default=",".join(LEVELS))
    parser.add_argument("--targets", default=",".join(TARGETS))
    parser.add_argument("--functions", default="*", help="those alone, with all verdicts")
    parser.add_argument("--no-plugin", dest="plugin", action="store_false", help="clang's loops are inferred as well")
    parser.add_argument("--kernels", action="store_true", help="the loops of bench/elements_kernels.c as well")
    parser.add_argument("--reports", nargs="+", metavar="DIR", help="count in reports, and compile nothing")
    parser.add_argument("-v", "--verbose", action="store_true", help="print what is wrong")
    arguments = parser.parse_args()
    if arguments.reports:
        count_reports(arguments.reports)
        return
    sources = sorted(FOLDER.iterdir()) + ([elements.SOURCE] if arguments.kernels else [])
    print("right/wrong/not told")
    print(f"{'':<44}{'loops':>6} {'certain':>7}" + "".join(f"{what:>13}" for what in WHAT), flush=True)
    totals: dict[str, Counter[str]] = {}
    for compiler in arguments.compilers.split(","):
        if not shutil.which(compiler):
            print(f"{compiler}: not here")
            continue
        total = totals.setdefault(compiler, Counter())
        for level in arguments.levels.split(","):
            for target in arguments.targets.split(","):
                options = f"{level} {target}"
                counted: Counter[str] = Counter()
                for source in sources:
                    one = compare(compiler, options, source, arguments)
                    if one is None:
                        print(f"{compiler} {options}: {source.name} does not compile")
                        continue
                    counted += one
                total += counted
                print(_row(f"{compiler} {options}", counted), flush=True)
    for compiler, total in totals.items():
        print(_row(f"{compiler}, all", total))
        shares = []
        for what in WHAT:
            known = sum(total[f"{what} {verdict}"] for verdict in ("right", "wrong", "none"))
            shares.append(f"{total[f'{what} right'] / known:>13.1%}" if known else f"{'':>13}")
        print(f"{'  right of what is known':<44}{'':>14}" + "".join(shares))
        print(f"  {total['gone']} of {total['functions']} functions have no loop left")


def _row(name: str, counted: Counter[str]) -> str:
    cells = ("/".join(str(counted[f"{what} {verdict}"]) for verdict in ("right", "wrong", "none")) for what in WHAT)
    return f"{name:<44}{counted['loops']:>6} {counted['compiler']:>7}" + "".join(f"{cell:>13}" for cell in cells)


if __name__ == "__main__":
    os.environ["LC_ALL"] = "C"
    sys.exit(main())
