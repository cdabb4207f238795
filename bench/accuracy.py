"""Accuracy against measurements: `bench/accuracy.py --set thesis --arch CSX DIR`.

DIR holds `table_b1.csv` and the marked assembly files of Laukemann's thesis (2020, Table B.1): 51 kernels with the
cycles per assembly iteration measured on ThunderX2, Cascade Lake and Zen, and what OSACA 0.3, llvm-mca 9 and IACA 3
said of them. incc's column is max(port bound, loop-carried bound); `full` is the maximum of all its bounds. llvm-mca is
also run here where it is installed, so that a peer is measured in the same run. Errors are |prediction - measured| /
measured.
"""

from __future__ import annotations

import argparse
import csv
import pathlib
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from typing import Any

from incc.driver.pipeline import AnalysisError, Settings, Unit, analyze_units

# What the table calls a core, and what it is called by incc and by LLVM.
CORES = {"CSX": ("cascadelake", "cascadelake")}


def bounds(file: pathlib.Path, cpu: str) -> dict[str, float]:
    """incc's bounds of the one marked region in a file, in cycles per iteration."""
    report = analyze_units(
        [Unit(file.read_text(encoding="utf-8", errors="surrogateescape"), str(file))],
        Settings(mcpu=cpu, regions="marked", timeline_iterations=0),
    )
    kernels = [k for unit in report["units"] for k in unit["kernels"]]
    if len(kernels) != 1:
        raise AnalysisError(f"{file}: {len(kernels)} regions instead of one")
    kernel = kernels[0]
    if kernel["unknown_instructions"]:
        print(f"{file.name}: {len(kernel['unknown_instructions'])} instructions are not in the model", file=sys.stderr)
    return {name: bound["cycles"] for name, bound in kernel["bounds"].items() if name != "prediction"}


def llvm_mca(file: pathlib.Path, cpu: str, program: str) -> float | None:
    """llvm-mca's cycles per iteration (total cycles over iterations), None where it does not take the file."""
    # Its assembler stops at directives of other compilers; only the region matters.
    text = file.read_text(encoding="utf-8", errors="replace")
    region = re.search(r"# LLVM-MCA-BEGIN.*?# LLVM-MCA-END", text, re.S)
    if not region:
        return None
    run = subprocess.run([program, f"-mcpu={cpu}", "-iterations=1000"], input=region[0], text=True, capture_output=True)
    found = re.search(r"Total Cycles:\s+(\d+)", run.stdout)
    return int(found[1]) / 1000 if found else None


def table(rows: list[dict[str, Any]], columns: list[str]) -> None:
    """Print the kernels with each tool's prediction and error, then each tool's mean."""
    print(f"{'kernel':<28}{'measured':>9}" + "".join(f"{c:>12}{'error':>8}" for c in columns))
    for row in rows:
        line = f"{row['file']:<28}{row['measured']:>9.2f}"
        for column in columns:
            value = row[column]
            line += f"{'-':>12}{'':>8}" if value is None else f"{value:>12.2f}{100 * error(row, column):>7.1f}%"
        print(line)
    line = f"{'MAPE':<37}"
    for column in columns:
        errors = [error(row, column) for row in rows if row[column] is not None]
        line += f"{'':>12}{100 * sum(errors) / len(errors):>7.1f}%" if errors else f"{'-':>12}{'':>8}"
    print(line)


def error(row: dict[str, Any], column: str) -> float:
    """Relative error of one tool on one kernel."""
    return abs(float(row[column]) - float(row["measured"])) / float(row["measured"])


def thesis(folder: pathlib.Path, arch: str) -> int:
    """The table for one core; returns the exit status."""
    cpu, llvm_cpu = CORES[arch]
    program = shutil.which("llvm-mca-19") or shutil.which("llvm-mca")
    number: Callable[[str], float | None] = lambda text: float(text) if text else None  # noqa: E731
    rows = []
    with (folder / "table_b1.csv").open(encoding="utf-8") as f:
        for entry in csv.DictReader(f):
            if entry["arch"] != arch:
                continue
            file = folder / entry["file"]
            found = bounds(file, cpu)
            iaca = [float(entry[c]) for c in ("iaca_tp", "iaca_block_tp") if entry[c]]
            rows.append(
                {
                    "file": entry["file"],
                    "measured": float(entry["measured_cycles"]),
                    "incc": max(found["port"], found["loop_carried"]),
                    "incc full": max(found.values()),
                    "OSACA": max(float(entry["osaca_tp"]), float(entry["osaca_lcd"])),
                    "llvm-mca 9": max(filter(None, (number(entry["mca_tp"]), number(entry["mca_lcd"]))), default=None),
                    "IACA 3": max(iaca) if iaca else None,
                    "llvm-mca 19": llvm_mca(file, llvm_cpu, program) if program else None,
                }
            )
    if not rows:
        print(f"accuracy.py: no kernels of {arch} in {folder / 'table_b1.csv'}", file=sys.stderr)
        return 1
    table(rows, ["incc", "incc full", "OSACA", "llvm-mca 9", "IACA 3", "llvm-mca 19"])
    return 0


def main() -> int:
    """Parse the command line and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--set", choices=["thesis"], default="thesis")
    parser.add_argument("--arch", choices=sorted(CORES), default="CSX")
    parser.add_argument("folder", type=pathlib.Path)
    arguments = parser.parse_args()
    try:
        return thesis(arguments.folder, arguments.arch)
    except (OSError, AnalysisError) as problem:
        print(f"accuracy.py: {problem}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
