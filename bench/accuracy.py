"""Accuracy of predictions against references.

`bench/accuracy.py --set blocks [--worst N] FILE…`: files of `hex cycles` lines, the machine code of a block and its
cycles per iteration. The core is named by -mcpu, or by the file: `skl_loop.txt` is for skylake, `hsw_` haswell, `snb_`
sandybridge, a file in a folder `zen4` for znver4, in `redwood_cove` for graniterapids. A block that ends in a jump to
its start runs as a loop, another unrolled. Prints for each file the share of cases covered, the mean absolute
percentage error (MAPE) and Kendall's tau-b of the simulation and of the largest bound, and how long decoding, binding
and simulating took. With `--llvm-mca`, llvm-mca gets the same blocks, and a line has the errors of both on those that
it takes.

`bench/accuracy.py --host [--cases N] FILE…`: the blocks of such files (with or without cycles) are measured on this
machine, each twice, some time apart, and the model of the host's core, or of -mcpu, is compared with those that come
out alike. Prints how many cases could be run and why others could not, how many repeat, the error of the simulation and
of the largest bound against what was measured, and how far the file's own cycles are from that.

`bench/accuracy.py --set thesis [--arch TX2] DIR`: DIR holds `table_b1.csv` and the marked assembly files of Laukemann's
thesis (2020, Table B.1): 51 kernels with the cycles per assembly iteration measured on ThunderX2, Cascade Lake and Zen,
and what OSACA 0.3, llvm-mca 9 and IACA 3 said of them. The columns are the measured cycles, incc's larger bound of
ports and loop-carried dependencies, its simulation, and the other tools. llvm-mca and OSACA are run here where they are
installed, so that a peer is measured in the same run; otherwise the column is what the thesis recorded, and its head
says so. The last line of each core, and of all, is each column's MAPE. Errors are |prediction - measured| / measured.
"""

from __future__ import annotations

import argparse
import csv
import json
import pathlib
import re
import shutil
import subprocess
import sys
import time
from typing import Any

import msgspec
from msgspec.structs import replace

from incc import core
from incc.core import prediction
from incc.driver.pipeline import AnalysisError, analyze_units, choose_model, host_of
from incc.driver.settings import REPORTED, CoreSettings, Scope, Settings
from incc.frontends.kernel import KernelCode
from incc.frontends.unit import Unit
from incc.frontends.x86.kernels import decode_bytes
from incc.frontends.x86.llvm.text import printed
from incc.measuring.harness import LoopFailure
from incc.measuring.kernels import measure_kernels
from incc.models.binding.bind import bind
from incc.models.loading import load
from incc.models.model import ModelError

# What the table calls a core, and what it is called by incc and LLVM, by the triple that LLVM needs, and by OSACA.
CORES = {
    "CSX": ("cascadelake", "x86_64", "CSX"),
    "TX2": ("thunderx2t99", "aarch64", "TX2"),
    "ZEN": ("znver1", "x86_64", "ZEN1"),
}


def bounds(file: pathlib.Path, cpu: str) -> tuple[dict[str, float], float]:
    """incc's bounds and prediction for the one marked region in a file, in cycles per iteration."""
    report = analyze_units(
        [Unit(assembly=file.read_text(encoding="utf-8", errors="surrogateescape"), assembly_file=str(file))],
        Settings(
            scope=Scope(regions="marked"),
            core=CoreSettings(mcpu=cpu),
            kernel=replace(REPORTED, timeline_iterations=0, arrays="aligned"),
        ),
    )
    kernels = [kernel for unit in report.units for kernel in unit.kernels]
    if len(kernels) != 1:
        raise AnalysisError(f"{file}: {len(kernels)} regions instead of one")
    kernel = kernels[0]
    if kernel.unknown_instructions:
        print(f"{file.name}: {len(kernel.unknown_instructions)} instructions are not in the model", file=sys.stderr)
    bounds = msgspec.to_builtins(kernel.bounds)
    cycles = {name: bound["cycles"] for name, bound in bounds.items()}
    return cycles, cycles.pop("prediction")


def llvm_mca(file: pathlib.Path, arch: str, program: str) -> float | None:
    """llvm-mca's cycles per iteration (total cycles over iterations), None where it does not take the file."""
    cpu, triple, _ = CORES[arch]
    # Its assembler stops at directives of other compilers; only the region matters.
    text = file.read_text(encoding="utf-8", errors="replace")
    region = re.search(r"# LLVM-MCA-BEGIN\n(.*?)# LLVM-MCA-END", text, re.S)
    if not region:
        return None
    command = [program, f"-mtriple={triple}", f"-mcpu={cpu}", "-iterations=1000"]
    run = subprocess.run(command, input=region[1], text=True, capture_output=True)
    cycles = re.search(r"Total Cycles:\s+(\d+)", run.stdout)
    return int(cycles[1]) / 1000 if cycles else None


def osaca(file: pathlib.Path, arch: str, program: str) -> float | None:
    """The larger of OSACA's throughput and loop-carried dependency, None where it does not take the file."""
    command = [program, "--arch", CORES[arch][2], "--ignore-unknown", str(file)]
    run = subprocess.run(command, text=True, capture_output=True)
    # The sums below the table: cycles of each port, then the critical path and the loop-carried dependency.
    sums = [line.split() for line in run.stdout.splitlines() if re.fullmatch(r"[\s\d.]+", line) and line.strip()]
    numbers = [float(word) for word in sums[-1]] if sums else []
    return max([*numbers[:-2], numbers[-1]]) if len(numbers) > 2 else None


def llvm_mca_of(kernels: list[KernelCode], cpu: str, program: str) -> list[float | None]:
    """llvm-mca's cycles per iteration of each block in the steady state, None where it lacks an instruction."""
    regions = []
    for number, kernel in enumerate(kernels):
        code = "\n".join(printed(instruction) for instruction in kernel.instructions)
        regions.append(f"# LLVM-MCA-BEGIN {number}\n{code}\n# LLVM-MCA-END\n")
    command = [program, "-mtriple=x86_64", f"-mcpu={cpu}", "--json", "-skip-unsupported-instructions=any"]
    cycles: list[dict[int, int]] = []
    for iterations in (100, 200):
        run = subprocess.run(
            [*command, f"-iterations={iterations}"], input="".join(regions), text=True, capture_output=True
        )
        found = json.loads(run.stdout)["CodeRegions"]
        cycles.append(
            {
                number: region["SummaryView"]["TotalCycles"]
                for region in found
                if len(region["Instructions"]) == len(kernels[number := int(region["Name"])].instructions)
            }
        )
    return [
        (cycles[1][number] - cycles[0][number]) / 100 if number in cycles[1] else None for number in range(len(kernels))
    ]


def table(rows: list[dict[str, Any]], columns: list[str]) -> None:
    """Print the kernels with each tool's prediction and error."""
    print(f"{'kernel':<28}{'measured':>9}" + "".join(f"{c:>15}{'error':>8}" for c in columns))
    for row in rows:
        line = f"{row['file']:<28}{row['measured']:>9.2f}"
        for column in columns:
            value = row[column]
            line += f"{'-':>15}{'':>8}" if value is None else f"{value:>15.2f}{100 * error(row, column):>7.1f}%"
        print(line)


def mape(name: str, rows: list[dict[str, Any]], columns: list[str]) -> None:
    """Print the mean absolute percentage error of each column over the kernels that it has."""
    line = f"{'MAPE ' + name:<37}"
    for column in columns:
        errors = [error(row, column) for row in rows if row[column] is not None]
        line += f"{'':>15}{100 * sum(errors) / len(errors):>7.1f}%" if errors else f"{'-':>15}{'':>8}"
    print(line)


def error(row: dict[str, Any], column: str) -> float:
    """Relative error of one tool on one kernel."""
    return abs(float(row[column]) - float(row["measured"])) / float(row["measured"])


def thesis(folder: pathlib.Path, arches: list[str]) -> int:
    """Print the tables of the cores; returns the exit status."""
    mca = shutil.which("llvm-mca-19") or shutil.which("llvm-mca")
    own = shutil.which("osaca")
    names = {
        "OSACA": "OSACA" if own else "OSACA (rec.)",
        "llvm-mca": pathlib.Path(mca).name if mca else "llvm-mca (rec.)",
        "IACA": "IACA (rec.)",
    }
    columns = ["incc bounds", "incc simulation", *names.values()]
    with (folder / "table_b1.csv").open(encoding="utf-8") as f:
        entries = [entry for entry in csv.DictReader(f) if entry["arch"] in arches]
    rows: list[dict[str, Any]] = []
    for entry in entries:
        file, arch = folder / entry["file"], entry["arch"]
        found, prediction = bounds(file, CORES[arch][0])
        recorded = {
            tool: max((float(entry[c]) for c in fields if entry[c]), default=None)
            for tool, fields in (
                ("OSACA", ("osaca_tp", "osaca_lcd")),
                ("llvm-mca", ("mca_tp", "mca_lcd")),
                ("IACA", ("iaca_tp", "iaca_block_tp")),
            )
        }
        rows.append(
            {
                "file": entry["file"],
                "arch": arch,
                "measured": float(entry["measured_cycles"]),
                "incc bounds": max(found["port"], found["loop_carried"]),
                "incc simulation": prediction,
                names["OSACA"]: osaca(file, arch, own) if own else recorded["OSACA"],
                names["llvm-mca"]: llvm_mca(file, arch, mca) if mca else recorded["llvm-mca"],
                names["IACA"]: recorded["IACA"],
            }
        )
    if not rows:
        print(f"accuracy.py: no kernels of {', '.join(arches)} in {folder / 'table_b1.csv'}", file=sys.stderr)
        return 1
    for arch in arches:
        of_core = [row for row in rows if row["arch"] == arch]
        table(of_core, columns)
        mape(arch, of_core, columns)
    if len(arches) > 1:
        mape("of all", rows, columns)
    return 0


# --- files of blocks -------------------------------------------------------------------------------------------------


def core_of(file: pathlib.Path) -> str:
    """The core that a file of references is for. Raises ValueError if its name does not say."""
    folders = {"zen4": "znver4", "redwood_cove": "graniterapids"}
    cores = {"snb": "sandybridge", "ivb": "ivybridge", "hsw": "haswell", "skl": "skylake", "clx": "cascadelake"}
    if file.parent.name in folders:
        return folders[file.parent.name]
    try:
        return cores[file.name.partition("_")[0]]
    except KeyError:
        raise ValueError(f"{file}: its name does not say for which core it is (use -mcpu)") from None


def read_reference(file: pathlib.Path) -> list[tuple[str, float]]:
    """(machine code in hexadecimal, cycles) of each case. Raises ValueError with file and line."""
    cases = []
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        words = line.split()
        try:
            cases.append((words[0], float(words[1])))
        except (IndexError, ValueError):
            raise ValueError(f"{file}:{number}: not a line of `hex cycles`") from None
    return cases


def kendall_tau(x: list[float], y: list[float]) -> float:
    """Kendall's tau-b in O(n log n): pairs in the same order less pairs in the other, ties accounted for."""

    def ties(values: list[Any]) -> int:
        counts: dict[Any, int] = {}
        for value in values:
            counts[value] = counts.get(value, 0) + 1
        return sum(n * (n - 1) // 2 for n in counts.values())

    def discordant(values: list[float]) -> tuple[list[float], int]:
        if len(values) < 2:
            return values, 0
        left, a = discordant(values[: len(values) // 2])
        right, b = discordant(values[len(values) // 2 :])
        merged, swaps, i = [], a + b, 0
        for value in right:
            while i < len(left) and left[i] <= value:
                merged.append(left[i])
                i += 1
            swaps += len(left) - i
            merged.append(value)
        return merged + left[i:], swaps

    pairs = len(x) * (len(x) - 1) // 2
    ties_x, ties_y, ties_both = ties(x), ties(y), ties(list(zip(x, y, strict=True)))
    _, swaps = discordant([b for _, b in sorted(zip(x, y, strict=True))])
    norm = ((pairs - ties_x) * (pairs - ties_y)) ** 0.5
    return (pairs - ties_x - ties_y + ties_both - 2 * swaps) / norm if norm else float("nan")


def blocks(files: list[pathlib.Path], cpu: str | None, worst: int, peer: str | None) -> int:
    """The table for files of blocks; returns the exit status."""
    print(f"{'file':<28}{'cases':>7}{'covered':>9}{'MAPE':>8}{'tau':>8}{'bounds':>9}{'tau':>8}", end="")
    print(f"{'decode':>9}{'bind':>7}{'simulate':>10}{'us/block':>10}")
    for file in files:
        model = load(cpu or core_of(file))
        cases = read_reference(file)
        spent = [0.0, 0.0, 0.0]
        found: list[tuple[float, float, float, str, str]] = []
        kernels: list[KernelCode] = []
        for code, reference in cases:
            start = time.perf_counter()
            try:
                kernel = decode_bytes(bytes.fromhex(code))
                decoded = time.perf_counter()
                bound, forms = bind(kernel, model)
                bind_end = time.perf_counter()
                bounds, run = core.bounds_and_simulation(bound)
                predicted = float(prediction.predicted(bounds, run.cycles_per_iteration))
            except (ValueError, RuntimeError) as problem:
                print(f"{file}: {code}: {problem}", file=sys.stderr)
                continue
            end = time.perf_counter()
            spent = [spent[0] + decoded - start, spent[1] + bind_end - decoded, spent[2] + end - bind_end]
            text = "; ".join(i.text for i in kernel.instructions)
            unknown = [i.text for i, form in zip(kernel.instructions, forms, strict=True) if form is None]
            text += f" (not in the model: {', '.join(unknown)})" if unknown else ""
            found.append((reference, predicted, float(bounds.largest), code, text))
            kernels.append(kernel)
        if not found:
            return 1
        references = [f[0] for f in found]
        line = f"{'/'.join(file.parts[-2:]):<28}{len(cases):>7}{len(found) / len(cases):>9.3f}"
        for column in (1, 2):
            values = [f[column] for f in found]
            mape = sum(abs(v - r) / r for v, r in zip(values, references, strict=True)) / len(found)
            line += f"{100 * mape:>7.2f}%{kendall_tau(references, values):>8.4f}"
            line += " " if column == 1 else ""
        print(line + "".join(f"{1e6 * s / len(found):>9.0f}" for s in spent) + f"{1e6 * sum(spent) / len(found):>9.0f}")
        if peer:
            theirs = llvm_mca_of(kernels, model.name, peer)
            both = [(other, f[1], f[0]) for other, f in zip(theirs, found, strict=True) if other]
            errors = [_errors([each[n] for each in both], [each[2] for each in both]) for n in (0, 1)]
            print(f"  {pathlib.Path(peer).name} on {len(both)}: {errors[0]}; incc on these: {errors[1]}")
        for reference, predicted, most, code, text in sorted(found, key=lambda f: -abs(f[1] - f[0]) / f[0])[:worst]:
            error = 100 * (predicted - reference) / reference
            print(f"  {reference:8.2f} {predicted:8.2f} {error:+7.1f}% bounds {most:6.2f}  {code}\n      {text}")
    return 0


REPEATS = 0.02
"""Two measurements of a case are alike if they differ by no more of the smaller, or by a hundredth of a cycle."""


def read_cases(file: pathlib.Path) -> list[tuple[str, float | None]]:
    """(machine code in hexadecimal, cycles if there are any) of each line. Raises ValueError with file and line."""
    cases: list[tuple[str, float | None]] = []
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        try:
            bytes.fromhex(words[0])
            cases.append((words[0], float(words[1]) if len(words) > 1 else None))
        except ValueError:
            raise ValueError(f"{file}:{number}: not a line of `hex [cycles]`") from None
    return cases


def repeated(first: list[Any], second: list[Any]) -> list[float | None]:
    """Return the smaller of two measurements of each case, since disturbances add time; None if they differ."""
    found: list[float | None] = []
    for one, other in zip(first, second, strict=True):
        a, b = getattr(one, "cycles", None), getattr(other, "cycles", None)
        alike = a is not None and b is not None and abs(a - b) <= max(REPEATS * min(a, b), 0.01) and min(a, b) > 0
        found.append(min(a, b) if alike else None)
    return found


def host(files: list[pathlib.Path], cpu: str | None, worst: int, most: int) -> int:
    """The table for files whose cases are measured here; returns the exit status."""
    choice = choose_model(cpu or "native", "")
    name, same = host_of(choice.model)
    print(
        f"measured on {name or 'this processor'}, with the model of {choice.model.title}"
        + ("" if same else ", another core")
    )
    if choice.note:
        print(choice.note)
    for file in files:
        cases = read_cases(file)
        # Every so many, so that a part of a file is like the whole.
        cases = cases[:: -(-len(cases) // most)] if most and len(cases) > most else cases
        kernels = [decode_bytes(bytes.fromhex(code)) for code, _ in cases]
        start = time.perf_counter()
        rounds = [list(measure_kernels(kernels)) for _ in range(2)]
        spent = time.perf_counter() - start
        cycles = repeated(*rounds)
        failures = [found for found in rounds[0] if isinstance(found, LoopFailure)]
        rows: list[tuple[float, float, float, float | None, str, str]] = []
        for (code, reference), kernel, took in zip(cases, kernels, cycles, strict=True):
            if took is None:
                continue
            try:
                bound, _ = bind(kernel, choice.model)
                bounds, run = core.bounds_and_simulation(bound)
            except (ValueError, RuntimeError) as problem:
                print(f"{file}: {code}: {problem}", file=sys.stderr)
                continue
            predicted = float(prediction.predicted(bounds, run.cycles_per_iteration))
            text = "; ".join(i.text for i in kernel.instructions)
            rows.append((took, predicted, float(bounds.largest), reference, code, text))
        print(f"{'/'.join(file.parts[-2:])}: {len(cases)} cases, {len(cases) - len(failures)} measured", end="")
        print(f", {len(rows)} twice alike; {spent / max(len(cases), 1) / 2:.2f} s each")
        for kind in sorted({failure.kind for failure in failures}):
            those = [failure for failure in failures if failure.kind == kind]
            print(f"  not measured: {len(those):>5}  {kind}: {those[0].text}")
        if not rows:
            continue
        took_all = [row[0] for row in rows]
        for what, values in (("simulation", [row[1] for row in rows]), ("bounds", [row[2] for row in rows])):
            print(f"  {what:<12} {_errors(values, took_all)}")
        referenced = [(row[3], row[0], row[1]) for row in rows if row[3]]
        if referenced:
            of_file, of_host, of_model = ([row[n] for row in referenced] for n in range(3))
            print(f"  {'the file':<12} {_errors(of_file, of_host)}; simulation against it {_errors(of_model, of_file)}")
        for took, predicted, most_bound, reference, code, text in sorted(rows, key=lambda r: -abs(r[1] - r[0]) / r[0])[
            :worst
        ]:
            beside = f" file {reference:7.2f}" if reference else ""
            error = 100 * (predicted - took) / took
            print(
                f"  {took:8.2f} {predicted:8.2f} {error:+7.1f}% bounds {most_bound:6.2f}{beside}  {code}\n      {text}"
            )
    return 0


def _errors(values: list[Any], references: list[Any]) -> str:
    errors = sorted(abs(v - r) / r for v, r in zip(values, references, strict=True))
    mape, median = sum(errors) / len(errors), errors[len(errors) // 2]
    return f"MAPE {100 * mape:.2f} %, median {100 * median:.2f} %, tau {kendall_tau(references, values):.4f}"


def main() -> int:
    """Parse the command line and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--set", choices=["blocks", "thesis"], default="blocks")
    parser.add_argument("--arch", choices=sorted(CORES), help="with --set thesis: only the kernels of this core")
    parser.add_argument("-mcpu", metavar="CPU", help="with --set blocks: the core, else by the files' names")
    parser.add_argument("--worst", type=int, default=0, metavar="N", help="also print the N cases that are most off")
    parser.add_argument(
        "--host", action="store_true", help="measure the blocks here instead of taking the file's cycles"
    )
    parser.add_argument("--llvm-mca", action="store_true", help="with --set blocks: also run llvm-mca on them")
    parser.add_argument("--cases", type=int, default=0, metavar="N", help="with --host: no more than N of each file")
    parser.add_argument("paths", type=pathlib.Path, nargs="+")
    arguments = parser.parse_args()
    try:
        if arguments.set == "thesis":
            arches = [arguments.arch] if arguments.arch else list(CORES)
            return max(thesis(folder, arches) for folder in arguments.paths)
        if arguments.host:
            return host(arguments.paths, arguments.mcpu, arguments.worst, arguments.cases)
        peer = (shutil.which("llvm-mca-19") or shutil.which("llvm-mca")) if arguments.llvm_mca else None
        if arguments.llvm_mca and not peer:
            raise ValueError("no llvm-mca in PATH")
        return blocks(arguments.paths, arguments.mcpu, arguments.worst, peer)
    except (OSError, AnalysisError, ModelError, ValueError) as problem:
        print(f"accuracy.py: {problem}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
