"""Scans on Dask clusters: started for the scan, or by others; workers that die, are blind, or of another version."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyarrow", reason="no pyarrow")
pytest.importorskip("distributed", reason="no Dask")

import scan_faults
from scan_faults import Scans, check_harmful, check_signal, failures_of, rows_of, wait_for

from incc.fleet.cluster import ClusterEngine
from incc.fleet.cluster_worker import WorkerProgram
from incc.fleet.engines import EngineJob, Limits

scans, rows = scan_faults.scans, scan_faults.rows  # fixtures

NO_WORKERS = "incc-scan: note: the cluster has no workers; the scan waits for them\n"


class Cluster:
    """A scheduler and workers, each a process of its own."""

    def __init__(self, scans: Scans, folder: Path, **more: str) -> None:
        self.scans = scans
        self.folder = folder
        self.more = more
        self.started: list[subprocess.Popen[bytes]] = []
        self.scheduler = self.start("scheduler", "--port", "0", "--scheduler-file", "file", "--no-dashboard")
        while not (folder / "file").exists():
            assert self.scheduler.poll() is None
            time.sleep(0.05)
        self.address: str = json.loads((folder / "file").read_bytes())["address"]

    def start(self, what: str, *words: str, **more: str) -> subprocess.Popen[bytes]:
        log = (self.folder / f"log{len(self.started)}").open("wb")
        self.started.append(
            subprocess.Popen(
                [sys.executable, "-m", f"distributed.cli.dask_{what}", *words],
                cwd=self.folder,
                env=self.scans.environment({**self.more, **more}),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        )
        return self.started[-1]

    def worker(self, **more: str) -> subprocess.Popen[bytes]:
        """Start a worker."""
        return self.start("worker", self.address, "--nthreads", "1", "--no-dashboard", **more)

    def wait_for_workers(self, count: int) -> None:
        """Wait until so many workers have connected."""
        from distributed import Client

        with Client(self.address, set_as_default=False) as client:
            client.wait_for_workers(count)

    def end(self) -> None:
        """End all that was started, workers by their nannies."""
        for process in reversed(self.started):
            process.terminate()
        for process in self.started:
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


@contextmanager
def cluster(scans: Scans, folder: Path, **more: str) -> Iterator[Cluster]:
    """A scheduler, which ends with the context, as do its workers."""
    started = Cluster(scans, folder, **more)
    try:
        yield started
    finally:
        started.end()


def wait_for_serving(scans: Scans, process: subprocess.Popen[str]) -> None:
    """Wait until a worker of a scan has started a process, or the scan has ended."""
    while not any("scan.serve" in line for line in scans.processes().values()) and process.poll() is None:
        time.sleep(0.05)


def test_a_cluster_on_this_machine_gives_the_same_rows(scans: Scans, rows: list[dict[str, Any]]) -> None:
    status, _, errors = scans.run("--cluster=local:2", "-o", "local")
    assert status == 0, errors
    assert rows_of(scans.folder / "local") == rows
    assert not scans.left()


def test_harmful_inputs_are_listed_and_all_others_analysed(scans: Scans, rows: list[dict[str, Any]]) -> None:
    check_harmful(scans, rows, "--cluster=local:1")


@pytest.mark.parametrize("number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.long)])
def test_a_signal_ends_all_processes_and_the_scan_goes_on(
    scans: Scans, rows: list[dict[str, Any]], number: signal.Signals
) -> None:
    process = scans.start(["--cluster=local:2", "-o", number.name], SLOW="1")
    wait_for_serving(scans, process)
    check_signal(scans, rows, process, number)


STARTED = """
import signal, subprocess, sys, threading
from multiprocessing import resource_tracker
from incc.fleet.cluster import _without_the_terminal

MASK = "import signal; print(*sorted(signal.pthread_sigmask(signal.SIG_BLOCK, ()), key=int), flush=True)"

def start():
    resource_tracker.ensure_running()  # as Dask does in a thread of its own
    subprocess.run([sys.executable, "-c", MASK])

signal.pthread_sigmask(signal.SIG_SETMASK, ())
with _without_the_terminal():
    thread = threading.Thread(target=start)
    thread.start()
    thread.join()
exec(MASK)
"""


def test_a_cluster_on_this_machine_does_not_get_the_signals_of_a_terminal() -> None:
    ended = subprocess.run([sys.executable, "-c", STARTED], capture_output=True, text=True, check=True)
    stopping = signal.SIGHUP, signal.SIGINT, signal.SIGQUIT
    assert ended.stdout == " ".join(map(str, stopping)) + "\n\n"


def test_a_killed_client_leaves_no_processes(scans: Scans) -> None:
    process = scans.start(["--cluster=local:2", "--json"], SLOW="1")
    wait_for_serving(scans, process)
    process.kill()
    process.communicate()
    assert not scans.left()


@pytest.mark.long
def test_workers_that_are_killed_are_replaced(scans: Scans, rows: list[dict[str, Any]]) -> None:
    process = scans.start(["--cluster=local:2", "-o", "killed"], SLOW="0.3")
    wait_for_serving(scans, process)  # Dask gives up a worker that is killed while it starts
    for _ in range(3):
        time.sleep(1)
        workers = [n for n, line in scans.processes().items() if "spawn_main" in line and process.poll() is None]
        if workers:
            os.kill(workers[0], signal.SIGKILL)
    _, errors = process.communicate()
    assert process.returncode == 0, errors
    assert rows_of(scans.folder / "killed") == rows


def test_workers_elsewhere_get_the_contents_of_files(scans: Scans, rows: list[dict[str, Any]], tmp_path: Path) -> None:
    with cluster(scans, tmp_path) as started:
        process = scans.start([f"--cluster={started.address}", "-o", "elsewhere"])
        assert process.stderr is not None
        while process.stderr.readline() != NO_WORKERS:
            assert process.poll() is None
        worker = started.worker(BLIND=str(tmp_path / "unseen"))
        _, errors = process.communicate()
        assert process.returncode == 0, errors
        assert rows_of(scans.folder / "elsewhere") == rows
        # Each file was sent once, and its copy is removed at the end, as are the processes.
        assert sorted((tmp_path / "unseen").read_text().split()) == scans.objects
        check_ended(scans, tmp_path)
        # All workers go away, and another one comes.
        process = scans.start([f"--cluster={started.address}", "-o", "alone"], SLOW="1")
        assert process.stderr is not None
        wait_for(scans.folder / "alone" / "core=skylake", process)
        worker.terminate()
        while process.stderr.readline() != NO_WORKERS:
            assert process.poll() is None
        started.worker()
        _, errors = process.communicate()
        assert process.returncode == 0, errors
        assert rows_of(scans.folder / "alone") == rows
        # The scheduler goes away.
        process = scans.start([f"--cluster={started.address}", "-o", "lost"], SLOW="1")
        wait_for(scans.folder / "lost" / "core=skylake", process)
        started.scheduler.kill()
        _, errors = process.communicate()
        assert process.returncode == 1
        assert errors.splitlines()[-1] == "incc-scan: error: the connection to the scheduler is lost"
        assert "Traceback" not in errors
    assert not scans.left()
    status, _, errors = scans.run("-o", "lost", "--resume")
    assert status == 0, errors
    assert rows_of(scans.folder / "lost") == rows


def check_ended(scans: Scans, folder: Path) -> None:
    """Check that a cluster's workers have neither processes nor files left of a scan."""
    for _ in range(100):
        left = [line for line in scans.processes().values() if "scan.serve" in line]
        left += map(str, folder.rglob("incc-*"))
        if not left:
            break
        time.sleep(0.1)
    assert not left


def test_other_workers_do_the_work_of_one_that_cannot(scans: Scans, rows: list[dict[str, Any]], tmp_path: Path) -> None:
    with cluster(scans, tmp_path) as started:
        started.worker(NO_PROCESSES="1")
        started.worker(BLIND=str(tmp_path / "unseen"), NO_COPIES="1")
        started.wait_for_workers(2)
        status, _, errors = scans.run(f"--cluster={started.address}", "-o", "refused", IMPATIENT="1")
        assert status == 1, errors
        assert errors.count("; other workers are tried\n") == 2
        failures = failures_of(scans.folder / "refused")
        assert failures.keys() == {os.path.basename(name) for name in scans.objects}
        reasons = {
            f"no {what}: No space left on device" for what in ("copy of the file on a worker", "process for the work")
        }
        assert {reason for reason, quarantined in failures.values() if not quarantined} <= reasons
        # With another one everything is done.
        started.worker(BLIND=str(tmp_path / "unseen"))
        started.wait_for_workers(3)
        status, _, errors = scans.run(f"--cluster={started.address}", "-o", "taken")
        assert status == 0, errors
        assert rows_of(scans.folder / "taken") == rows


def test_a_scan_ends_if_no_worker_can_start_a_process(scans: Scans, rows: list[dict[str, Any]], tmp_path: Path) -> None:
    with cluster(scans, tmp_path) as started:
        started.worker(NO_PROCESSES="1")
        status, _, errors = scans.run(f"--cluster={started.address}", "-o", "unable", IMPATIENT="1")
        assert status == 1
        reason = "no process for the work: No space left on device"
        assert errors.splitlines()[-1] == f"incc-scan: error: the workers cannot take requests: {reason}"
    status, _, errors = scans.run("-o", "unable", "--resume")
    assert status == 0, errors
    assert rows_of(scans.folder / "unable") == rows


def test_a_job_near_a_lost_worker_is_cancelled_to_be_tried_elsewhere(scans: Scans, tmp_path: Path) -> None:
    """Dask never starts it if there was no worker when it came."""
    with cluster(scans, tmp_path) as started:
        engine = ClusterEngine(started.address, WorkerProgram("none", b"", Limits(), "."), lambda note: None)
        engine.add(EngineJob(b"", preferred_worker="tcp://127.0.0.1:1"))
        started.worker()
        while not (ended := [*engine.done(0.1)]):
            assert started.scheduler.poll() is None
        assert [done.problem for done in ended] == ["its task was cancelled"]
        assert not ended[0].final
        engine.end()


def test_workers_of_another_version_are_refused(scans: Scans, tmp_path: Path) -> None:
    with cluster(scans, tmp_path) as started:
        started.worker(OTHER_VERSION="1")
        status, _, errors = scans.run(f"--cluster={started.address}", "--json")
        assert status == 1
        assert "a worker has incc 0.0.1, but the scan needs " in errors


def certificates(folder: Path) -> Mapping[str, str]:
    """Make a key with a certificate, and return variables that have Dask use them for everything."""
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    request = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=incc"]
    try:
        subprocess.run([*request, "-keyout", key, "-out", certificate], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("no openssl")
    prefix = "DASK_DISTRIBUTED__COMM__"
    parts = {
        f"{prefix}TLS__{part}__{name}": str(path)
        for part in ("CLIENT", "SCHEDULER", "WORKER")
        for name, path in (("KEY", key), ("CERT", certificate))
    }
    return {**parts, f"{prefix}TLS__CA_FILE": str(certificate), f"{prefix}REQUIRE_ENCRYPTION": "true"}


@pytest.mark.long
def test_connections_can_be_encrypted(scans: Scans, rows: list[dict[str, Any]], tmp_path: Path) -> None:
    secure = certificates(tmp_path)
    with cluster(scans, tmp_path, **secure) as started:
        assert started.address.startswith("tls://")
        started.worker()
        status, _, errors = scans.run(f"--cluster={started.address}", "-o", "secure", **secure)
        assert status == 0, errors
        assert rows_of(scans.folder / "secure") == rows
    status, _, errors = scans.run("--cluster=local:1", "-o", "secure-local", **secure)
    assert status == 0, errors
    assert rows_of(scans.folder / "secure-local") == rows


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("local:", "'' is no number of workers"),
        ("local:0", "'0' is no number of workers"),
        ("local:x", "'x' is no number of workers"),
        ("nowhere", "missing port number in address 'nowhere'"),
        ("http://nowhere", "unknown address scheme 'http'"),
        ("tcp://127.0.0.1:1", ""),
    ],
)
def test_wrong_addresses_are_explained(scans: Scans, address: str, message: str) -> None:
    status, out, errors = scans.run(f"--cluster={address}", "--json", DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT="1s")
    assert (status, out) == (1, "")
    assert errors.startswith(f"incc-scan: error: --cluster={address}: {message}")
    assert errors.count("\n") == 1


def test_without_dask_the_message_names_the_extra(scans: Scans, tmp_path: Path) -> None:
    (tmp_path / "distributed.py").write_text("raise ImportError\n")
    path = os.pathsep.join([str(tmp_path), str(scans.folder / "site"), *sys.path])
    status, _, errors = scans.run("--cluster=local", "--json", PYTHONPATH=path)
    assert (status, errors) == (1, "incc-scan: error: --cluster needs Dask: pip install 'incc[cluster]'\n")
