"""Scans of small objects in processes of their own, in which inputs of some names do harm; fixtures for them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

HOOK = """
import os, sys, time
if "incc.driver" in " ".join(sys.orig_argv):
    from incc.driver.commands.scan import analysis, pieces, responders, table

    pieces._LEAST = pieces._MOST = 1  # a piece for each input
    table.SECONDS = 0  # a commit after each
    located, seen = analysis.located_kernels, responders._is_there

    def harmful(source, *more, **named):
        name = os.path.basename(source) if isinstance(source, str) else ""
        if os.environ.get("HARM") and name.startswith("z_"):
            if "die" in name:
                os.kill(os.getpid(), 9)
            if "eat" in name:
                raise MemoryError
            if "exit" in name:
                os._exit(7)
            while "loop" in name:
                pass
        time.sleep(float(os.environ.get("SLOW") or 0))
        if name and name == os.environ.get("CHANGED"):
            code = located(source, *more, **named)
            os.utime(source, ns=(0, 0))
            return code
        return located(source, *more, **named)

    analysis.located_kernels = harmful
    if os.environ.get("BLIND"):

        def is_there(stamp):
            if not stamp.here:
                with open(os.environ["BLIND"], "a") as file:
                    print(stamp.path, file=file)
            return bool(stamp.here)

        responders._is_there = is_there
    if os.environ.get("OTHER_VERSION"):
        from incc.fleet import cluster_worker

        cluster_worker.__version__ = "0.0.1"
    if os.environ.get("IMPATIENT"):
        from incc.fleet import cluster

        cluster._PATIENCE = 0
if os.environ.get("NO_COPIES") or os.environ.get("NO_PROCESSES"):
    from incc.fleet import cluster_worker

    def fail(*_, **__):
        raise OSError(28, "No space left on device")

    if os.environ.get("NO_COPIES"):
        cluster_worker._written = fail
    else:
        cluster_worker._Child = fail
"""
"""A sitecustomize module. HARM, SLOW, OTHER_VERSION, NO_COPIES, NO_PROCESSES and IMPATIENT in the environment do what
their names say. CHANGED is the name of a file that changes after it was read; with BLIND, processes do not see files,
and write their names to this file."""

HARMFUL = {"z_die.o": "was ended by signal 9", "z_eat.o": "out of memory", "z_exit.o": "failed"}
"""Inputs that harm their processes, and what is said of them."""


def function(number: int) -> str:
    """A C function with a loop of its own."""
    terms = " + ".join(f"a[i + {n}]" for n in range(1 + number % 4))
    loop = f"for (long i = 0; i < n; i++) b[i] = {number}. * ({terms});"
    return f"void f{number}(double *a, double *b, long n) {{ {loop} }}\n"


def make_objects(folder: Path, count: int = 6) -> list[str]:
    """Compile objects, some with the same functions, the harmful ones, and some assembly; return their paths."""
    for n in range(count):
        (folder / f"a{n}.c").write_text(function(n) + function(n // 2 + 100))
        subprocess.run(["gcc", "-O2", "-c", f"a{n}.c"], cwd=folder, check=True)
    for number, name in enumerate(HARMFUL):
        (folder / f"z{number}.c").write_text(function(200 + number))
        subprocess.run(["gcc", "-O2", "-c", f"z{number}.c", "-o", name], cwd=folder, check=True)
    (folder / "b.c").write_text(function(300))
    subprocess.run(["gcc", "-O2", "-S", "b.c"], cwd=folder, check=True)
    site = folder / "site"
    site.mkdir()
    (site / "sitecustomize.py").write_text(HOOK)
    return sorted(map(str, folder.glob("*.[os]")))


class Scans:
    """Starts scans of a folder's objects, and tells whether processes are left of them."""

    def __init__(self, folder: Path, count: int = 6) -> None:
        self.folder = folder
        self.objects = make_objects(folder, count)
        self.mark = uuid.uuid4().hex

    def environment(self, more: Mapping[str, str]) -> dict[str, str]:
        """The variables of the processes."""
        path = os.pathsep.join([str(self.folder / "site"), *sys.path])
        return {**os.environ, "PYTHONPATH": path, "SCAN_MARK": self.mark, **more}

    def start(self, words: Sequence[str], preexec: Any = None, **more: str) -> subprocess.Popen[str]:
        """Start a scan in a process group of its own."""
        return subprocess.Popen(
            [sys.executable, "-m", "incc.driver.commands.scan", "-mcpu=skylake", *words, *self.objects],
            cwd=self.folder,
            env=self.environment(more),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            process_group=0,
            preexec_fn=preexec,
        )

    def run(self, *words: str, preexec: Any = None, **more: str) -> tuple[int, str, str]:
        """Scan, and return status, output and messages, without those on the cluster's dashboard."""
        process = self.start(words, preexec, **more)
        out, errors = process.communicate()
        lines = [line for line in errors.splitlines(True) if "dashboard" not in line]
        return process.returncode, out, "".join(lines)

    def left(self) -> list[str]:
        """The command lines of processes that are left after a while."""
        for _ in range(100):
            if not (processes := self.processes()):
                return []
            time.sleep(0.1)
        return list(processes.values())

    def processes(self) -> dict[int, str]:
        """The processes that scans have started, and their command lines."""
        found = {}
        for process in map(int, filter(str.isdecimal, os.listdir("/proc"))):
            try:
                place = Path("/proc") / str(process)
                if self.mark.encode() in (place / "environ").read_bytes():
                    found[process] = (place / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            except OSError:
                pass
        return found


def wait_for(path: Path, process: subprocess.Popen[str]) -> None:
    """Wait until a file is there, or a process has ended."""
    while not path.exists() and process.poll() is None:
        time.sleep(0.01)


def rows_of(folder: Path) -> list[dict[str, Any]]:
    """The rows of a dataset."""
    import pyarrow.dataset

    rows: list[dict[str, Any]] = (
        pyarrow.dataset.dataset(folder, format="parquet", partitioning="hive").to_table().to_pylist()
    )
    return sorted(rows, key=lambda row: row["row"])


def failures_of(folder: Path) -> dict[str, tuple[str, bool]]:
    """The failures of a dataset: reason, and whether it is in quarantine, by the name of the input."""
    import pyarrow.parquet

    rows = pyarrow.parquet.read_table(folder / "_failures.parquet").to_pylist()
    return {os.path.basename(row["input"]): (row["reason"], row["quarantined"]) for row in rows}


@pytest.fixture(scope="module")
def scans(tmp_path_factory: pytest.TempPathFactory) -> Scans:
    return Scans(tmp_path_factory.mktemp("objects"))


@pytest.fixture(scope="module")
def rows(scans: Scans) -> list[dict[str, Any]]:
    """The rows of an undisturbed scan."""
    status, _, errors = scans.run("-j1", "-o", "undisturbed")
    assert (status, errors.count("\n")) == (0, 1), errors
    undisturbed = rows_of(scans.folder / "undisturbed")
    assert [row["row"] for row in undisturbed] == [*range(len(undisturbed))]
    return undisturbed


def check_harmful(scans: Scans, rows: list[dict[str, Any]], engine: str) -> None:
    """Scan with the harmful inputs; check that these are listed, and that all others are analysed."""
    status, _, errors = scans.run(engine, "-o", "harmed", HARM="1")
    assert status == 1
    assert errors.count("error: ") == len(HARMFUL)
    failures = failures_of(scans.folder / "harmed")
    assert {*failures} == {*HARMFUL}
    for name, reason in HARMFUL.items():
        assert reason in failures[name][0]
        assert failures[name][1]
        assert f"{name}: not analysed: " in errors
    assert rows_of(scans.folder / "harmed") == [row for row in rows if os.path.basename(row["binary"]) not in HARMFUL]


def check_signal(
    scans: Scans, rows: list[dict[str, Any]], process: subprocess.Popen[str], number: signal.Signals
) -> None:
    """Send a signal to a scan's process group, as a terminal does; check that all processes end, and resume the scan.

    The scan writes to the folder of the signal's name.
    """
    os.killpg(process.pid, number)
    _, errors = process.communicate()
    assert process.returncode == -number, errors
    assert "Traceback" not in errors
    assert not scans.left()
    status, _, errors = scans.run("-o", number.name, "--resume")
    assert status == 0, errors
    assert rows_of(scans.folder / number.name) == rows
