"""Disturb scans, and report whether their datasets are those of an undisturbed one.

    python bench/scan_faults.py [--every SECONDS] [--kills N] [--cluster local:2] FILE|FOLDER…

Each row is a scan: one whose worker processes are killed at regular intervals, here and on a cluster, and one that is
killed itself at random moments and resumed. "lost" is the number of kernels that are missing, "failures" that of the
failures listed, and "equal" tells whether all other rows are those of the undisturbed scan.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow.dataset
import pyarrow.parquet

Rows = dict[tuple[Any, ...], dict[str, Any]]


def start(words: Sequence[str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "incc.driver.commands.scan", "-mcpu=skylake", *words],
        stdout=subprocess.DEVNULL,
    )


def rows_of(folder: Path) -> Rows:
    """Return the rows by file, function and kernel, without their numbers."""
    table = pyarrow.dataset.dataset(folder, format="parquet", partitioning="hive").to_table()
    rows = table.drop_columns(["row"]).to_pylist()
    return {(row["binary"], row["member"], row["symbol"], row["kernel_id"], row["assembly_line"]): row for row in rows}


def children(process: int) -> list[int]:
    """Return the processes that any thread of a process has started."""
    tasks = Path(f"/proc/{process}/task").glob("*/children")
    return [int(number) for task in tasks for number in task.read_text().split()]


def workers_of(process: int, on_cluster: bool) -> list[int]:
    """Return the processes that do the work, of a cluster the workers that have such processes by now."""
    return [child for child in children(process) if not on_cluster or children(child)]


def kill_workers(scan: subprocess.Popen[bytes], every: float, on_cluster: bool) -> int:
    """Kill a worker at regular intervals while a scan runs, and return how many were killed."""
    killed = 0
    while True:
        try:
            scan.wait(every)
            return killed
        except subprocess.TimeoutExpired:
            pass
        try:
            os.kill(random.choice(workers_of(scan.pid, on_cluster)), signal.SIGKILL)
            killed += 1
        except (OSError, IndexError):
            pass


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--every", type=float, default=20, help="seconds between two kills of workers (default: 20)")
    parser.add_argument("--kills", type=int, default=5, help="kills of a scan itself (default: 5)")
    parser.add_argument("--cluster", default="local:2", help="the cluster to use (default: local:2)")
    parser.add_argument("files", nargs="+")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        begun = time.monotonic()
        status = start(["-o", str(place / "whole"), *options.files]).wait()
        seconds = time.monotonic() - begun
        whole = rows_of(place / "whole")
        print(f"{'disturbed by':32} {'kills':>5} {'status':>6} {'kernels':>8} {'lost':>5} {'failures':>8}  equal")

        def report(what: str, kills: int, status: int, folder: Path) -> None:
            rows = rows_of(folder)
            equal = all(whole.get(key) == row for key, row in rows.items())
            failures = pyarrow.parquet.read_metadata(folder / "_failures.parquet").num_rows
            lost = len(whole.keys() - rows.keys())
            print(f"{what:32} {kills:5} {status:6} {len(rows):8,} {lost:5} {failures:8}  {'yes' if equal else 'NO'}")

        report("nothing", 0, status, place / "whole")
        for what, words in (("killed processes", []), ("killed workers", [f"--cluster={options.cluster}"])):
            scan = start([*words, "-o", str(place / what), *options.files])
            killed = kill_workers(scan, options.every, bool(words))
            report(f"{what}, every {options.every:g} s", killed, scan.returncode, place / what)
        folder, killed = place / "resumed", 0
        for attempt in range(options.kills + 1):
            resumed = ["--resume"] if (folder / "_kernels.sqlite").exists() else []
            scan = start(["-o", str(folder), *resumed, *options.files])
            if attempt < options.kills:
                timer = threading.Timer(random.uniform(0, 2 * seconds / options.kills), scan.kill)
                timer.start()
                scan.wait()
                timer.cancel()
            killed += scan.wait() == -signal.SIGKILL
        report("killed scans", killed, scan.returncode, folder)


if __name__ == "__main__":
    main()
