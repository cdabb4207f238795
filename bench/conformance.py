"""Compare incc-mca with llvm-mca: `bench/conformance.py [CASE …]` runs both over a corpus.

What is compared, with every number masked, is in test/conformance/mca_masks.py; cases are what test/conformance has,
all of them or those named (`regions/nested`, `options/*`, a file of the corpus). Alike is a case in which sections,
rows, the text of instructions, standard error and exit status all are. Differences that are meant are in
test/conformance/exceptions.toml, each with its reason, and counted apart.

    bench/conformance.py                        the table
    bench/conformance.py -v options/hex         the differences
    bench/conformance.py --causes               the differences, those first that explain most cases
    bench/conformance.py --lit DIR              RUN lines of LLVM's own tests in DIR, instead of the corpus
    bench/conformance.py --recorded             without llvm-mca: beside what was recorded of it
    bench/conformance.py --record | --update    write what llvm-mca prints | what is alike, for the tests
"""

from __future__ import annotations

import argparse
import collections
import concurrent.futures
import fnmatch
import itertools
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterable

import msgspec

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "test" / "conformance"))

import mca_lit  # noqa: E402
import mca_table  # noqa: E402
from mca_cases import AS_LLVM_MCA, Case, corpus, run_command, run_function  # noqa: E402
from mca_masks import ASPECTS, Difference, Facts  # noqa: E402


class Result(msgspec.Struct, frozen=True):
    """A case and in what the two tools differ: what is excepted, and what is not."""

    case: Case
    differences: list[Difference]
    excepted: list[Difference]


def command_of(given: str, names: Iterable[str]) -> list[str] | None:
    """The command of an option, or the first of these programs beside this Python or on PATH."""
    if given:
        # Runs are in folders of their own: what is relative here is not there.
        program, *rest = shlex.split(given)
        return [os.path.abspath(program) if os.sep in program else program, *rest]
    for name in names:
        beside = pathlib.Path(sys.executable).parent / name
        if found := (str(beside) if beside.exists() else shutil.which(name)):
            return [found]
    return None


def chosen(cases: list[Case], names: list[str]) -> list[Case]:
    """The cases whose names match, or whose file is named."""
    if not names:
        return cases
    found = []
    for case in cases:
        stem = case.name.partition(".")[0]
        for name in names:
            path = pathlib.Path(name)
            of_file = path.exists() and f"{path.resolve().parent.name}/{path.stem}" == stem
            if of_file or fnmatch.fnmatch(case.name, name) or fnmatch.fnmatch(stem, name):
                found.append(case)
                break
    return found


def compare(
    case: Case, expected: Facts, command: list[str], seconds: float, exceptions: list[mca_table.Exception_]
) -> Result:
    """Run a command on a case, incc-mca in this process if there is none, and see in what it differs."""
    if command:
        got = run_command(command, case, seconds).facts()
    else:
        from incc.driver.commands.mca import main as incc_mca

        got = run_function(incc_mca, AS_LLVM_MCA, case).facts()
    differing, excepted = mca_table.judged(case, expected, got, exceptions)
    return Result(case, differing, excepted)


def group_of(case: Case, lit: bool) -> str:
    """A row of the table: the corpus' folders, of other tests two folders."""
    return "/".join(case.name.split("/")[:-1][:2]) or "." if lit else case.group


def print_table(results: list[Result], lit: bool) -> None:
    """Cases, how many are alike, but for exceptions too, and in each aspect; by group."""
    groups: dict[str, list[Result]] = collections.defaultdict(list)
    for result in results:
        groups[group_of(result.case, lit)].append(result)
    groups["all"] = results
    wide = max(12, *(len(name) for name in groups))
    heads = ("cases", "alike", "excepted", *ASPECTS)
    print(f"{'':<{wide}}" + "".join(f"{head:>10}" for head in heads))
    for name, rows in groups.items():
        counts = [len(rows), sum(not r.differences and not r.excepted for r in rows)]
        counts.append(sum(not r.differences and bool(r.excepted) for r in rows))
        counts += [sum(all(d.aspect != aspect for d in r.differences) for r in rows) for aspect in ASPECTS]
        print(f"{name:<{wide}}" + "".join(f"{count:>10}" for count in counts))
    alike = sum(not r.differences for r in results)
    print(f"\n{alike} of {len(results)} alike, {100 * alike / max(1, len(results)):.1f} %")


def print_differences(result: Result) -> None:
    """Return the lines that only one tool prints."""
    for difference in result.differences:
        where = f" in {difference.section}" if difference.section else ""
        print(f"{result.case.name}: {difference.aspect}{where}    ({shlex.join(result.case.args)})")
        for sign, lines in (("-", difference.expected), ("+", difference.got)):
            for line in lines[:20]:
                print(f"  {sign} {line}")
            if len(lines) > 20:
                print(f"  {sign} … {len(lines) - 20} more")


def print_causes(results: list[Result], most: int) -> None:
    """The first lines of every difference, llvm-mca's and incc-mca's, by how many cases have it."""
    causes: dict[tuple[str, str, str, str], list[str]] = collections.defaultdict(list)
    for result in results:
        for d in result.differences:
            first, second = ((lines[0][:100] if lines else "") for lines in (d.expected, d.got))
            causes[d.aspect, d.section, first, second].append(result.case.name)
    by_number = sorted(causes.items(), key=lambda item: (-len(set(item[1])), item[0]))
    for (aspect, where, first, second), names in by_number[:most]:
        unique = list(dict.fromkeys(names))
        place = f"{aspect} in {where}" if where else aspect
        print(f"{len(unique):5}  {place}: {', '.join(unique[:4])}{' …' if unique[4:] else ''}")
        print(f"         - {first}\n         + {second}")


def main() -> int:
    """Run the program; returns its exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("cases", nargs="*", metavar="CASE", help="names, patterns, or files of the corpus")
    parser.add_argument("--llvm-mca", default="", metavar="COMMAND", help="llvm-mca-19, or llvm-mca")
    parser.add_argument(
        "--incc-mca", default="", metavar="COMMAND", help="called with --compat (unless its name is llvm-mca)"
    )
    parser.add_argument("--lit", type=pathlib.Path, metavar="DIR", help="tests with RUN lines, or one of them")
    parser.add_argument("-v", "--verbose", action="store_true", help="print the differences")
    parser.add_argument(
        "--causes", nargs="?", type=int, const=60, default=0, metavar="N", help="print what differs most often"
    )
    parser.add_argument("--recorded", action="store_true", help="compare with what was recorded of llvm-mca")
    parser.add_argument("--record", action="store_true", help="write test/conformance/recorded")
    parser.add_argument("--update", action="store_true", help="write test/conformance/expected.toml")
    parser.add_argument(
        "--jobs", type=int, default=min(4, os.cpu_count() or 1), metavar="N", help="runs at the same time"
    )
    parser.add_argument("--in-process", action="store_true", help="incc-mca in this process: faster, of cases that end")
    parser.add_argument("--timeout", type=float, default=60, metavar="SECONDS", help="the longest run (60)")
    options = parser.parse_args()

    unusable: list[mca_lit.Unusable] = []
    if options.lit:
        found = list(mca_lit.cases(options.lit))
        cases = [each for each in found if isinstance(each, Case)]
        unusable = [each for each in found if isinstance(each, mca_lit.Unusable)]
    else:
        cases = corpus()
    cases = chosen(cases, options.cases)
    if not cases:
        print("conformance.py: no such case", file=sys.stderr)
        return 1

    llvm = None if options.recorded else command_of(options.llvm_mca, ("llvm-mca-19", "llvm-mca"))
    recorded = mca_table.read_recorded() if llvm is None and not options.lit else {}
    if llvm is None and (options.lit or options.record):
        print("conformance.py: no llvm-mca-19", file=sys.stderr)
        return 1
    if llvm is None:
        cases = [case for case in cases if case.name in recorded]

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:

        def reference(case: Case) -> Facts:
            return recorded[case.name] if llvm is None else run_command(llvm, case, options.timeout).facts()

        if options.record and llvm is not None:
            version = subprocess.run([*llvm, "--version"], capture_output=True, text=True).stdout
            kept = {} if not options.cases else mca_table.read_recorded()
            wanted = [case for case in cases if not case.host]
            kept.update(zip((case.name for case in wanted), pool.map(reference, wanted), strict=True))
            mca_table.write_recorded(kept, version)
            print(f"{len(wanted)} cases recorded")
            return 0

        incc = [] if options.in_process else command_of(options.incc_mca, ("incc-mca",))
        if incc is None:
            print("conformance.py: no incc-mca", file=sys.stderr)
            return 1
        if incc and not pathlib.Path(incc[-1]).name.startswith("llvm-mca"):
            incc = [*incc, *AS_LLVM_MCA]
        exceptions = mca_table.read_exceptions()
        # A process has one current folder, so runs in this one follow each other.
        compared = (map if options.in_process else pool.map)(
            lambda case: compare(case, reference(case), incc, options.timeout, exceptions),
            cases,
        )
        results = list(compared)

    for result in results if options.verbose else ():
        print_differences(result)
    if options.verbose and any(result.differences for result in results):
        print()
    if options.causes:
        print_causes(results, options.causes)
        print()
    print_table(results, bool(options.lit))
    if unusable:
        print(f"{len(unusable)} runs of llvm-mca in RUN lines cannot be repeated here:")
        by_reason = itertools.groupby(sorted(unusable, key=lambda each: each.reason), key=lambda each: each.reason)
        for reason, each in by_reason:
            names = [one.name for one in each]
            print(f"  {len(names):4}  {reason}  ({names[0]}{' …' if names[1:] else ''})")
    if options.update:
        mca_table.write_expected(
            {r.case.name: mca_table.verdict(r.case, r.differences) for r in results}, bool(options.cases)
        )
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except BrokenPipeError:
        os._exit(1)
