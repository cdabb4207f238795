"""Compilations hand their jobs to warm workers, which nobody notices: not while they work, not afterwards."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from test_front import needs_gcc
from test_wrapper_same import DATA
from wrapper_launcher import front

pytestmark = needs_gcc


def slow(loops: int = 1600) -> str:
    """A source whose analysis takes a while."""
    functions = [f"void f{n}(float *a, int n) {{ for (int i = 0; i < n; i++) s += a[i] * {n}; }}" for n in range(loops)]
    return "\n".join(["float s;", *functions])


each_mode = pytest.mark.parametrize("mode", ["lean", "full"])


class Build:
    """Compilations with a run-time folder of their own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.run = Path(tempfile.mkdtemp(prefix="incc-test-", dir="/tmp"))  # names of sockets are short
        self.reports = folder / "reports"
        self.temporary = folder / "tmp"
        self.log = folder / "log"
        for place in (self.reports, self.temporary):
            place.mkdir(mode=0o700)
        shutil.copy(DATA / "triad.c", folder)
        self.environment = {
            **{name: os.environ[name] for name in ("PATH", "XDG_STATE_HOME")},
            "XDG_RUNTIME_DIR": str(self.run),
            "TMPDIR": str(self.temporary),
            "INCC_CC": "gcc",
            "INCC_ANALYZE": "1",
            "INCC_OUTPUT": str(self.reports),
            "INCC_FORMAT": "json",
            "INCC_MCPU": "skylake",
            "INCC_CACHE": "0",
            "INCC_LOG": str(self.log),
        }

    def start(self, command: str, **more: str) -> subprocess.Popen[bytes]:
        """Start a shell, a build's, in a session of its own."""
        return subprocess.Popen(
            ["sh", "-c", command.replace("incc -", f"{front()} -")],
            cwd=self.folder,
            env={**self.environment, **more},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def __call__(self, command: str, **more: str) -> bytes:
        """Run a build that succeeds, and return its output."""
        with self.start(command, **more) as process:
            output = process.stdout.read() if process.stdout else b""
        assert process.returncode == 0, output
        return output

    def report(self) -> object:
        """Return what the only report says of its only unit."""
        (path,) = self.reports.glob("*.json")
        return json.loads(path.read_text())["units"]

    def said(self) -> str:
        return self.log.read_text() if self.log.exists() else ""

    def workers(self) -> list[int]:
        """Return the processes of services of this folder."""
        found = []
        for process in map(int, filter(str.isdecimal, os.listdir("/proc"))):
            try:
                variables = Path(f"/proc/{process}/environ").read_bytes()
                command = Path(f"/proc/{process}/cmdline").read_bytes()
            except OSError:
                continue
            if os.fsencode(f"XDG_RUNTIME_DIR={self.run}\0") in variables and b"import serve" in command:
                found.append(process)
        return found

    def sockets(self) -> list[Path]:
        return list((self.run / "incc").glob("*"))


def wait_until(condition: Callable[[], object]) -> None:
    """Wait for something that happens soon, however busy the machine is."""
    for _ in range(3000):
        if condition():
            return
        time.sleep(0.01)
    raise AssertionError("it did not happen")


@pytest.fixture
def build(tmp_path: Path) -> Iterator[Build]:
    made = Build(tmp_path)
    yield made
    for process in made.workers():
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGCONT)
    wait_until(lambda: not made.workers())
    shutil.rmtree(made.run)


@each_mode
def test_a_worker_reports_the_same_as_a_python_of_its_own(build: Build, mode: str) -> None:
    build.environment["INCC_MODE"] = mode
    build("incc -O2 -c triad.c", INCC_WORKERS="0")
    assert not build.sockets()
    expected = build.report()
    shutil.rmtree(build.reports)
    build.reports.mkdir()
    build("incc -O2 -c triad.c; incc -O2 -c triad.c; ls $XDG_RUNTIME_DIR/incc | wc -l > sockets")
    assert build.report() == expected
    assert (build.folder / "sockets").read_text().strip() == "1"
    assert build.said() == ""
    assert list(build.temporary.iterdir()) == []


@each_mode
def test_reports_appear_where_the_user_sees_them(build: Build, mode: str) -> None:
    build.environment["INCC_MODE"] = mode
    expected = build("incc -O2 -c triad.c", INCC_OUTPUT="", INCC_FORMAT="text", INCC_WORKERS="0")
    for _ in range(2):
        assert build("incc -O2 -c triad.c", INCC_OUTPUT="", INCC_FORMAT="text") == expected
    assert b"triad" in expected


def test_no_process_is_left_after_a_build(build: Build) -> None:
    build("incc -O2 -c triad.c | cat; exit 0")
    wait_until(lambda: not build.workers())
    assert not (build.run / "incc").exists()


def test_workers_hold_nothing_of_the_build(build: Build) -> None:
    (build.folder / "place").mkdir()
    with build.start("cd place; read x < /dev/null; incc -O2 -c ../triad.c; exec sleep 60") as process:
        wait_until(lambda: list(build.reports.glob("*.json")))
        wait_until(lambda: not list(build.temporary.iterdir()))
        try:
            (build.folder / "place/triad.o").unlink()
            (build.folder / "place").rmdir()
            workers = build.workers()
            assert 2 <= len(workers) <= 1 + len(os.sched_getaffinity(0))
            for worker in workers:
                # It leaves after it has answered.
                wait_until(lambda worker=worker: os.readlink(f"/proc/{worker}/cwd") == "/")
                files = {os.readlink(f"/proc/{worker}/fd/{n}") for n in os.listdir(f"/proc/{worker}/fd")}
                assert all(
                    name == "/dev/null" or name.startswith(("socket:", "pipe:", "anon_inode:")) for name in files
                )
                pipes = {name for name in files if name.startswith("pipe:")}
                assert os.readlink(f"/proc/{process.pid}/fd/1") not in pipes
        finally:
            process.kill()


def test_nothing_of_a_job_is_left_for_the_next(build: Build) -> None:
    """Options, streams, working directory and a limit of one compilation do not reach another of the same worker."""
    source = build.folder / "two.c"
    source.write_text(
        "void g(int *a, int n) { for (int i = 0; i < n; i++) a[i]++; }\n" + (DATA / "triad.c").read_text()
    )
    with build.start("incc -O2 -c two.c; incc -O2 -c two.c -o other.o; exec sleep 60", INCC_FUNCTION="g") as process:
        wait_until(lambda: len(list(build.reports.glob("*.json"))) == 2)
        for path in build.reports.glob("*.json"):
            path.unlink()
        try:
            build("incc -O2 -c two.c", INCC_MAX_MEMORY="4G")
            assert len({kernel["function"] for kernel in build.report()[0]["kernels"]}) > 1  # type: ignore[index]
            assert len(build.sockets()) == 1
        finally:
            process.kill()


def test_other_surroundings_have_other_workers(build: Build) -> None:
    models = build.folder / "models"
    models.mkdir()
    with build.start(
        f"incc -c triad.c; rm {build.reports}/*.json; umask 077; incc -c triad.c; ulimit -c 0; incc -c triad.c; "
        f"export INCC_MODEL_PATH={models}; incc -c triad.c; touch done; exec sleep 60"
    ) as process:
        wait_until(lambda: (build.folder / "done").exists())
        try:
            assert len(build.sockets()) >= 3  # cores may be off already
        finally:
            process.kill()
    (path,) = build.reports.glob("*.json")
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("kind", ["link", "open", "file"])
def test_a_run_time_folder_of_others_is_not_used(build: Build, kind: str) -> None:
    place = build.run / "incc"
    if kind == "link":
        (build.folder / "elsewhere").mkdir(mode=0o700)
        place.symlink_to(build.folder / "elsewhere")
    elif kind == "open":
        place.mkdir()
        place.chmod(0o777)
    else:
        place.touch()
    build("incc -O2 -c triad.c")
    assert build.report()
    assert build.workers() == []
    assert not (place.is_dir() and list(place.iterdir()))


def busy(build: Build) -> bool:
    """Return True if a worker is at a job: it has a child, or a temporary folder of its own, or more."""
    return any((job / "job").is_dir() for job in build.temporary.iterdir()) and len(build.workers()) > 1


@each_mode
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_a_compilation_that_is_stopped_leaves_nothing(build: Build, number: signal.Signals, mode: str) -> None:
    build.environment["INCC_MODE"] = mode
    (build.folder / "slow.c").write_text(slow())
    process = build.start("exec incc -O1 -c slow.c")
    wait_until(lambda: busy(build))
    time.sleep(0.5)
    process.send_signal(number)
    assert process.wait() == -number
    wait_until(lambda: not build.workers())
    wait_until(lambda: not list(build.temporary.iterdir()))
    assert not list(build.reports.glob("*.new"))


@each_mode
def test_workers_that_are_killed_cost_nothing(build: Build, mode: str) -> None:
    build.environment["INCC_MODE"] = mode
    (build.folder / "slow.c").write_text(slow())
    with build.start("exec incc -O1 -c slow.c") as process:
        wait_until(lambda: busy(build))
        for worker in build.workers():
            os.kill(worker, signal.SIGKILL)
        process.wait()
    assert process.returncode == 0
    assert len(build.report()[0]["kernels"]) == 1600  # type: ignore[index]
    # What is left of the service does not keep the next one from its work.
    assert len(build.sockets()) == 1
    build("incc -O2 -c triad.c; ls $XDG_RUNTIME_DIR/incc | wc -l > sockets")
    assert (build.folder / "sockets").read_text().strip() == "1"
    assert build.said() == ""


def test_sockets_of_killed_services_are_removed_by_the_next_and_no_others(build: Build) -> None:
    with build.start("incc -O2 -c triad.c; ulimit -c 0; ulimit -t 99; incc -O2 -c triad.c; exec sleep 60") as process:
        wait_until(lambda: len(build.sockets()) == 2 and len(list(build.reports.glob("*.json"))) == 1)
        wait_until(lambda: not list(build.temporary.iterdir()))
        try:
            for worker in build.workers():
                os.kill(worker, signal.SIGKILL)
            wait_until(lambda: not build.workers())
            killed = build.sockets()
            (build.run / "incc/file").touch()
            build(
                "umask 077; incc -O2 -c triad.c; umask 027; incc -O2 -c triad.c; exec ls $XDG_RUNTIME_DIR/incc > names"
            )
        finally:
            process.kill()
    names = (build.folder / "names").read_text().split()
    assert len(names) == 3
    assert "file" in names
    assert not {path.name for path in killed} & {*names}


@pytest.mark.parametrize("command", ["incc -c nosuch.c", "incc -O2 -c broken.c"])
def test_errors_of_the_compiler_are_its_own_in_the_full_mode(build: Build, command: str) -> None:
    (build.folder / "broken.c").write_text("int f(void) { return x; }\n")
    results = []
    for more in ({"INCC_MODE": "full"}, {"INCC_ANALYZE": "0"}):
        with build.start(command, **more) as process:
            results.append(process.stdout.read() if process.stdout else b"")
        results.append(str(process.returncode).encode())
    assert results[:2] == results[2:]
    assert results[1] == b"1"
    assert list(build.temporary.iterdir()) == []


def test_a_unit_that_takes_too_long_is_a_line(build: Build) -> None:
    (build.folder / "slow.c").write_text(slow(1500))
    build("incc -O1 -c slow.c", INCC_MAX_SECONDS="1")
    assert build.said().count("\n") == 1
    assert "INCC_MAX_SECONDS" in build.said()
    assert list(build.temporary.iterdir()) == []


@each_mode
def test_strict_fails_and_says_why(build: Build, mode: str) -> None:
    build.environment["INCC_MODE"] = mode
    with build.start("incc -O2 -c triad.c", INCC_STRICT="1", INCC_MCPU="nosuch") as process:
        output = process.stdout.read() if process.stdout else b""
    assert process.returncode == 1
    assert b"nosuch" in output


@pytest.mark.long
def test_workers_that_are_stopped_are_given_up(build: Build) -> None:
    (build.folder / "slow.c").write_text(slow())
    with build.start("exec incc -O1 -c slow.c") as process:
        wait_until(lambda: busy(build))
        for worker in build.workers():
            os.kill(worker, signal.SIGSTOP)
        process.wait()
    assert process.returncode == 0
    assert build.report()
