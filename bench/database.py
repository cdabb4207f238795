"""Measure the time, disk space and memory of a database of reports.

    python bench/database.py [--kernels 100000] [--compiler gcc] [--keep FILE.db]

Fills a database with that many kernels over commits and then adds 1,000 reports, of one and of ten kernels each, to a
new commit; reads a commit of 10,000 kernels for a comparison; asks for a history, the best builds and a table. The
kernels are those of an example, made different from each other by their names, lines and figures, so that nothing is
shared but the commits' units where that is said. Each step runs in a process of its own, whose time on the CPU (imports
included) and largest memory are given.
"""

from __future__ import annotations

import argparse
import copy
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

EXAMPLE = """
double dot(const double *a, const double *b, long n) {
  double sum = 0;
  for (long i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}
void triad(double *a, const double *b, const double *c, long n) {
  for (long i = 0; i < n; ++i) a[i] = b[i] + 2.0 * c[i];
}
"""


def example(compiler: str) -> Any:
    """The report of the example, of four kernels."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "example.c"
        source.write_text(EXAMPLE)
        out = Path(folder) / "report.json"
        program = "from incc.driver.commands.incc import main; import sys; sys.exit(main())"
        flags = ["-O3", "-g1", "-march=skylake-avx512", "-c", str(source), "-o", os.devnull]
        subprocess.run(
            [sys.executable, "-c", program, f"--incc-cc={compiler}", *flags, "--analyze", "--analyze-format=json"],
            env={**os.environ, "INCC_OUTPUT": str(out)},
            check=True,
        )
        return json.loads(out.read_text())


def report(given: Any, number: int, kernels: int, state: int) -> bytes:
    """A report like the given one, of another source and other kernels; `state`: of the sources, which changes all."""
    made = {**given, "units": [{**given["units"][0], "source": f"src/{number}.c", "kernels": []}]}
    some = given["units"][0]["kernels"]
    for n in range(kernels):
        kernel = copy.copy(some[n % len(some)])
        name = f"function_{number}_{n}"
        kernel |= {"function": name, "function_name": name, "kernel_id": f"{name}/loop1"}
        kernel["content_hash"] = f"{hash((number, n, state)) & (1 << 64) - 1:016x}"
        kernel["cycles"] = kernel["cycles"] + (state % 7) / 8
        kernel["source"] = {"file": f"src/{number}.c", "line": 10 * n + state}
        made["units"][0]["kernels"].append(kernel)
    return json.dumps(made, ensure_ascii=False, separators=(",", ":")).encode()  # as incc writes it


def make(given: Any, folder: Path, reports: int, kernels: int, state: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(reports):
        (folder / f"{number}.json").write_bytes(report(given, number, kernels, state))


def child(arguments: list[str]) -> None:
    """A step, in its own process; prints its time and memory."""
    start = time.perf_counter()
    if arguments[0] == "entries":
        from incc.driver.sides.read import read_sides

        (side,) = read_sides([f"{arguments[1]}@{arguments[2]}"])
        result = f"{side.info.kernels} kernels"
    else:
        from incc.driver.commands.db import main as command

        with open(os.devnull, "w") as nowhere:
            stdout, sys.stdout = sys.stdout, nowhere
            status = command(arguments)
            sys.stdout = stdout
        result = f"status {status}"
    seconds = time.perf_counter() - start
    used = resource.getrusage(resource.RUSAGE_SELF)
    print(json.dumps([seconds, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, result]))


def step(text: str, database: str, *arguments: str) -> None:
    """Run a step and print its row."""
    found = subprocess.run(
        [sys.executable, __file__, "--child", *arguments], stdout=subprocess.PIPE, check=True, text=True
    )
    seconds, cpu, megabytes, result = json.loads(found.stdout)
    size = os.path.getsize(database) / 1e6
    print(f"{text:52} {seconds:7.2f} {cpu:7.2f} {megabytes:8.0f} {size:9.1f}  {result}", flush=True)


def main() -> None:
    if sys.argv[1:2] == ["--child"]:
        return child(sys.argv[2:])
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--kernels", type=int, default=100_000)
    parser.add_argument("--compiler", default="gcc")
    parser.add_argument("--keep", metavar="FILE", help="leave the database there")
    options = parser.parse_args()
    given = example(options.compiler)
    with tempfile.TemporaryDirectory() as folder:
        database = options.keep or os.path.join(folder, "bench.db")
        db = f"--db={database}"
        size = len(report(given, 0, 10, 0)) / 10_000
        print(f"{size:.1f} KB of JSON a kernel\n{'':52} {'s':>7} {'CPU s':>7} {'RSS MB':>8} {'file MB':>9}")
        for state in range(max(options.kernels // 10_000, 1)):
            reports = Path(folder) / "reports"
            make(given, reports, min(options.kernels, 10_000) // 10, 10, state)
            text = f"add 1,000 reports of 10 kernels, commit {state + 1}"
            step(text, database, "add", db, f"--commit=c{state}", f"--date=2026-01-{state + 1:02}", str(reports))
        step("add the same once more", database, "add", db, f"--commit=c{state}", str(reports))
        step("add the same to another commit", database, "add", db, "--commit=same", "--date=2026-02-01", str(reports))
        ones = Path(folder) / "ones"
        make(given, ones, 1000, 1, 99)
        step("add 1,000 reports of one kernel", database, "add", db, "--commit=ones", "--date=2026-02-02", str(ones))
        step("read the kernels of a commit", database, "entries", database, "c0")
        step("log of one kernel", database, "log", db, "function_5_0/loop1")
        step("log of a pattern", database, "log", db, "function_5_*")
        step("best of all", database, "best", db)
        step("export csv", database, "export", db, "--format=csv")
        step("merge into an empty one", database, "merge", f"--db={folder}/other.db", database)
        step("prune to 3 commits", database, "prune", db, "--keep=3")


if __name__ == "__main__":
    main()
