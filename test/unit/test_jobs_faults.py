"""Jobs that take too much, and what killed processes leave."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from test_jobs import fill, make_job

from incc.driver.builds import limits
from incc.driver.builds.jobs import run_job
from incc.driver.builds.sweep import OLD, sweep_reports, sweep_scratch
from incc.driver.builds.workers import Pool, Queue, run_pending
from incc.driver.commands.report import main
from incc.support.trust import SEAL, make_key, read_key, seal_of


@pytest.fixture
def reports(tmp_path: Path) -> Path:
    folder = tmp_path / "reports"
    folder.mkdir()
    return folder


@pytest.fixture
def dead() -> int:
    """The number of a process that is no more."""
    process = subprocess.Popen(["true"])
    process.wait()
    return process.pid


def age(path: Path) -> None:
    os.utime(path, (0, os.stat(path).st_mtime - OLD - 60))


def busy(*arguments: Any, **more: Any) -> None:
    while True:
        pass


def test_a_unit_that_takes_too_long_is_left_out(
    tmp_path: Path,
    reports: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("incc.driver.pipeline.analyze_unit", busy)
    before = signal.getsignal(signal.SIGVTALRM)
    job = make_job(tmp_path / "job", reports, environment={"INCC_MAX_SECONDS": "1", "INCC_OUTPUT": str(reports)})
    (problem,) = run_job(str(job))
    assert problem.endswith("not analysed: takes more than 1 s of CPU time; INCC_MAX_SECONDS changes the limit")
    assert signal.getitimer(signal.ITIMER_VIRTUAL) == (0, 0)
    assert signal.getitimer(signal.ITIMER_PROF) == (0, 0)
    assert signal.getsignal(signal.SIGVTALRM) == before


@pytest.mark.long
def test_who_takes_the_first_word_for_a_mistake_is_told_again() -> None:
    tries = 0
    with limits.limited_time({"INCC_MAX_SECONDS": "1"}):
        while tries < 3:
            try:
                busy()
            except limits.UnitTookTooLong:
                tries += 1
    assert tries == 3


@pytest.mark.long
def test_native_code_that_does_not_end_ends_with_its_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """A handler of Python waits until native code returns; the second timer does not."""
    program = (
        "import signal\nfrom incc.driver.builds import limits\nlimits._MORE = 1\n"
        "with limits.limited_time({'INCC_MAX_SECONDS': '1'}):\n"
        "  signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGVTALRM])\n"
        "  while True: pass\n"
    )
    done = subprocess.run([sys.executable, "-c", program], env={**os.environ, "PYTHONPATH": ":".join(sys.path)})
    assert done.returncode == -limits.ENDED_BY


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("", limits.SECONDS),
        ("5", 5),
        ("0", 0),
        ("0" * 5000 + "7", 7),
        ("x", limits.SECONDS),
        ("9" * 30, 10**7),
        ("9" * 5000, 10**7),
    ],
)
def test_seconds(text: str, seconds: int) -> None:
    assert limits.max_seconds({"INCC_MAX_SECONDS": text}) == seconds


@pytest.mark.parametrize(
    ("text", "size"), [("", limits.MEMORY), ("2G", 2 << 30), ("0", 0), ("-1", limits.MEMORY), ("9" * 40, limits.MEMORY)]
)
def test_memory(text: str, size: int) -> None:
    assert limits.max_memory({"INCC_MAX_MEMORY": text}) == size


def test_a_unit_that_takes_too_much_memory_is_left_out(tmp_path: Path, reports: Path) -> None:
    """In a process of its own, whose limit it stays."""
    environment = {"INCC_MAX_MEMORY": "3G", "INCC_OUTPUT": str(reports)}
    job = make_job(tmp_path / "job", reports, environment=environment)
    program = (
        "import sys\nfrom incc.driver import pipeline\nfrom incc.driver.builds.jobs import run_job\n"
        "pipeline.analyze_unit = lambda *a: bytearray(4 << 30)\nprint(run_job(sys.argv[1])[0])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(job)],
        env={**os.environ, "PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "not analysed: takes more than 3.2 GB of memory; INCC_MAX_MEMORY changes the limit" in done.stdout


def test_a_job_whose_time_is_up_is_not_tried_again(reports: Path) -> None:
    fill(reports, 1)
    queue = Queue(str(reports))
    queue.make()

    def work(place: str) -> None:
        os.kill(os.getpid(), limits.ENDED_BY)

    pool = Pool(queue, 1, work)
    pool.start()
    pool.finish()
    while pool.tend():
        pass
    pool.stop()
    (name,) = pool.aside
    assert os.listdir(queue.failed) == [name]
    log = Path(queue.log).read_text()
    assert log.count("\n") == 1
    assert "not analysed: took too long" in log


def test_what_is_put_aside_is_a_line_in_the_log(reports: Path) -> None:
    fill(reports, 1)
    queue = Queue(str(reports))
    queue.make()
    pool = Pool(queue, 1, lambda place: os.kill(os.getpid(), signal.SIGKILL))
    pool.start()
    pool.finish()
    while pool.tend():
        pass
    pool.stop()
    assert Path(queue.log).read_text().count("not analysed: the analysis crashed") == 1


def test_workers_end_with_the_process_that_started_them(reports: Path) -> None:
    """Also where that was killed; what waits, waits for somebody else."""
    fill(reports, 3)
    Queue(str(reports)).make()
    program = (
        "import os, sys, time\nfrom incc.driver.builds.workers import Pool, Queue\n"
        "def work(place):\n  print(os.getpid(), flush=True)\n"
        "  while os.getppid() == int(sys.argv[2]): time.sleep(0.01)\n"
        "sys.argv.append(str(os.getpid()))\npool = Pool(Queue(sys.argv[1]), 1, work)\npool.start()\ntime.sleep(600)\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program, str(reports)],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": ":".join(sys.path)},
    )
    assert process.stdout is not None
    process.stdout.readline()
    process.kill()
    # The worker has the other end of this as well: it is closed when both are gone.
    assert process.stdout.read() == b""
    process.wait()
    assert len(Queue(str(reports)).waiting()) == 2


def test_jobs_that_cannot_be_taken_do_not_keep_workers_busy(reports: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(reports, 2)
    monkeypatch.setattr(Queue, "take", lambda self: "")
    run_pending(str(reports), 1)
    assert len(Queue(str(reports)).waiting()) == 2


@pytest.mark.parametrize("kind", ["file", "folder", "link"])
def test_files_in_a_queue_that_are_no_jobs_are_left_alone(reports: Path, kind: str, tmp_path: Path) -> None:
    queue = Queue(str(reports))
    queue.make()
    place = Path(queue.jobs) / "x"
    other = tmp_path / "other"
    other.mkdir()
    (other / "kept").touch()
    if kind == "file":
        place.touch()
    elif kind == "link":
        place.symlink_to(other)
    else:
        (place / "more" / "inside").mkdir(parents=True)
    run_pending(str(reports), 1)
    assert os.listdir(queue.taken) == []
    assert os.listdir(queue.jobs) == ["x"]
    assert (other / "kept").exists()


# --- jobs from elsewhere ----------------------------------------------------------------------------------------------


def test_a_job_without_the_seal_of_this_user_is_never_run(reports: Path, tmp_path: Path) -> None:
    """A folder of reports may come with jobs that write any file."""
    fill(reports, 3)
    jobs = reports / ".incc" / "jobs"
    (jobs / "j0" / SEAL).unlink()
    text = (jobs / "j1" / "job.json").read_bytes()
    (jobs / "j1" / "job.json").write_bytes(text.replace(b'"log": ""', f'"log": "{tmp_path}/mine"'.encode()))
    (jobs / "j2" / SEAL).write_text(seal_of((jobs / "j2" / "job.json").read_bytes(), b"another key" * 3))
    assert run_pending(str(reports), 1) == []
    assert sorted(os.listdir(jobs)) == ["j0", "j1", "j2"]
    assert not list(reports.glob("*.json"))
    assert not (tmp_path / "mine").exists()


@pytest.mark.parametrize("linked", [".incc", "jobs", "taken", "failed"])
def test_jobs_are_not_taken_through_links(reports: Path, tmp_path: Path, linked: str) -> None:
    fill(reports, 1)
    own = reports / ".incc"
    place = own if linked == ".incc" else own / linked
    (own / "taken").mkdir()
    (own / "failed").mkdir()
    place.rename(tmp_path / "elsewhere")
    place.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="because it is a link"):
        run_pending(str(reports), 1)
    assert len(Queue(str(reports)).waiting()) == 1


def test_jobs_are_not_taken_where_everybody_writes(reports: Path) -> None:
    fill(reports, 1)
    (reports / ".incc" / "jobs").chmod(0o777)
    with pytest.raises(OSError, match="because everybody can write to it"):
        run_pending(str(reports), 1)


@pytest.mark.parametrize("flaw", ["readable", "short", "link", "folder"])
def test_a_key_that_others_may_know_is_no_key(tmp_path: Path, flaw: str) -> None:
    path = tmp_path / "incc" / "key"
    make_key(str(path))
    assert len(read_key(str(path))) == 32
    if flaw == "readable":
        path.chmod(0o640)
    elif flaw == "short":
        path.write_bytes(b"x" * 31)
    else:
        path.rename(tmp_path / "other")
        path.mkdir() if flaw == "folder" else path.symlink_to(tmp_path / "other")
    assert read_key(str(path)) == b""


def test_incc_report_takes_jobs_only_when_told_to(
    reports: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(reports, 2)
    main([str(reports)])
    captured = capfd.readouterr()
    assert "2 jobs not analysed yet; --drain analyses" in captured.err
    assert "2 compilations wait" in captured.out
    (reports / ".incc" / "jobs" / "j1" / SEAL).unlink()
    assert main(["--drain", str(reports)]) == 0
    captured = capfd.readouterr()
    assert "1 job not analysed: not left there by an incc of this user" in captured.err
    assert captured.out.startswith("1 kernel of 1 unit")


# --- leftovers --------------------------------------------------------------------------------------------------------


def test_leftovers_of_the_dead_go(tmp_path: Path, dead: int) -> None:
    gone = [f"incc-{'0' * 20}-{dead}", f"incc-{dead}-0123abcd", f"incc-{dead}-xy_01234"]
    stay = [
        f"incc-{'0' * 20}-{os.getpid()}",  # alive
        f"incc-{os.getpid()}-0123abcd",
        f"incc-{dead}",  # no name of ours
        f"other-{dead}-0123abcd",
        f"incc-llvm-sched-0-{dead}",
    ]
    for name in (*gone, *stay):
        (tmp_path / name / "bin").mkdir(parents=True)
        (tmp_path / name / "bin" / "cc1").symlink_to(tmp_path)
        age(tmp_path / name)
    (tmp_path / f"incc-{dead}-99999999").mkdir()  # young
    (tmp_path / f"incc-{dead}-88888888").symlink_to(tmp_path / stay[2])
    sweep_scratch({"TMPDIR": str(tmp_path)})
    assert {p.name for p in tmp_path.iterdir()} == {*stay, f"incc-{dead}-99999999", f"incc-{dead}-88888888"}
    # Who has waited for a child knows that it is gone.
    (tmp_path / f"incc-{dead + 1}-99999999").mkdir()
    sweep_scratch({"TMPDIR": str(tmp_path)}, dead)
    assert {p.name for p in tmp_path.iterdir()} == {*stay, f"incc-{dead + 1}-99999999", f"incc-{dead}-88888888"}


def test_leftovers_among_reports(tmp_path: Path, dead: int) -> None:
    jobs = tmp_path / "jobs"
    for name in (f".tmp-{'0' * 20}-{dead}", f".tmp-{'0' * 20}-{os.getpid()}", f"{'0' * 20}-{dead}"):
        (jobs / name).mkdir(parents=True)
        age(jobs / name)
    for name in (f"a.json.{dead}.new", f"a.json.{os.getpid()}.new", "a.json", f"{dead}.new"):
        (tmp_path / name).touch()
        age(tmp_path / name)
    sweep_reports(str(tmp_path), str(jobs))
    assert {p.name for p in jobs.iterdir()} == {f".tmp-{'0' * 20}-{os.getpid()}", f"{'0' * 20}-{dead}"}
    assert {p.name for p in tmp_path.iterdir()} == {"jobs", f"a.json.{os.getpid()}.new", "a.json", f"{dead}.new"}


def test_whoever_takes_jobs_sweeps(reports: Path, tmp_path: Path, dead: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    left = tmp_path / f"incc-{dead}-11111111"
    left.mkdir()
    age(left)
    run_pending(str(reports), 1)
    assert not left.exists()
