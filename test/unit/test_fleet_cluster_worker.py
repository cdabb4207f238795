"""A worker's child processes and copies of files: kept while a scan goes on, gone afterwards."""

from __future__ import annotations

import os
import resource
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from properties import examples

pytest.importorskip("distributed", reason="no Dask")

from incc.fleet import cluster_worker
from incc.fleet.cluster_worker import WorkerProgram, answer_here, end_scan
from incc.fleet.engines import ANSWER, ENDED, REFUSED, Limits
from incc.fleet.messages import Read, Stamp, encoded, request


@pytest.fixture(autouse=True)
def worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SimpleNamespace]:
    """A worker without a cluster, of whose scans nothing is left."""
    found = SimpleNamespace(address="here", local_directory=str(tmp_path), state=SimpleNamespace(nthreads=2, tasks={}))
    monkeypatch.setattr("distributed.get_worker", lambda: found)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(Path(__file__).parent), *sys.path]))
    scans = cluster_worker._Scans()
    monkeypatch.setattr(cluster_worker, "_scans", scans)
    yield found
    for each in list(scans._scans):
        end_scan(each)
    wait_until(lambda: not [*tmp_path.iterdir()])


def wait_until(condition: Callable[[], bool]) -> None:
    """Wait until something is so, for a while."""
    for _ in range(1000):
        if condition():
            return
        time.sleep(0.02)
    raise AssertionError("it is never so")


def program(client: str = "one") -> bytes:
    """A scan's program."""
    return msgspec.msgpack.encode(WorkerProgram("cluster_child", b"", Limits(), ".", client=client))


def answered(
    contents: dict[str, bytes] | None = None, client: str = "one", what: bytes = b"", sent: bool = True
) -> list[bytes]:
    """Have a request on files answered; return the number of its process, and the contents that this has seen."""
    files = [Stamp(name, len(content), 1) for name, content in (contents or {}).items()]
    message = encoded(Read([what], files))
    response = answer_here(program(client), message, *((contents or {}).values() if sent else ()))
    assert response.startswith(b"here\0" + ANSWER), response
    return response[len(b"here\0") + 1 :].split(b" ")


def lives(process: bytes) -> bool:
    return os.path.exists(f"/proc/{process.decode()}")


def test_a_file_is_sent_once() -> None:
    first = answered({"a": b"A", "b": b"B"})
    assert first[1:] == [b"A", b"B"]
    assert answered({"b": b"B"}, sent=False) == [first[0], b"B"]
    assert answered({"b": b"B", "c": b"C", "a": b"A"}, sent=False) == [first[0], b"B", b"A"]
    assert answered({"a": b"A"}, client="two", sent=False)[1:] == []  # whose file of this name may be another one


def test_a_copy_that_was_removed_is_not_used(worker: SimpleNamespace) -> None:
    answered({"a": b"A"})
    for path in Path(worker.local_directory).iterdir():
        path.unlink()
    assert answered({"a": b"A"}, sent=False)[1:] == []
    assert answered({"a": b"A"})[1:] == [b"A"]


files = st.dictionaries(st.sampled_from("abcdef"), st.none(), min_size=1, max_size=3).map(list)


@examples(50)
@given(st.lists(st.tuples(files, st.booleans(), st.integers(0, 2)), max_size=12), st.integers(0, 12))
def test_copies_take_no_more_room_than_is_allowed(requests: list[tuple[list[str], bool, int]], most: int) -> None:
    """Some requests end before others that began earlier."""
    contents = {name: name.encode() * (n + 1) for n, name in enumerate("abcdef")}
    copies = cluster_worker._Copies()
    running: list[tuple[list[str], ExitStack]] = []
    with pytest.MonkeyPatch.context() as patch, TemporaryDirectory() as folder:
        patch.setattr(cluster_worker, "MOST_COPIED", most)
        for names, sends, ends in requests:
            message = encoded(Read([], [Stamp(name, 1, 1) for name in names]))
            stack = ExitStack()
            sent = [contents[name] for name in names] if sends else []
            changed = request(stack.enter_context(copies.named(message, sent, folder)))
            running.append((names, stack))
            for stamp in changed.files:
                assert Path(stamp.here).read_bytes() == contents[stamp.path] if stamp.here else not sends
            used = {name for names, _ in running for name in names}
            kept = sorted(path.read_bytes() for path in Path(folder).iterdir())
            assert len({*kept}) == len(kept)
            assert sum(map(len, kept)) <= most or {chr(content[0]) for content in kept} <= used
            for _ in range(min(ends, len(running))):
                running.pop(0)[1].close()
        for _, stack in running:
            stack.close()
        copies.remove()
        assert not os.listdir(folder)


def refusal(*contents: bytes) -> str:
    """Have a request refused; return the reason."""
    message = encoded(Read([], [Stamp(str(n), len(content), 1) for n, content in enumerate(contents)]))
    response = answer_here(program(), message, *contents)
    assert response.startswith(b"here\0" + REFUSED), response
    return response[len(b"here\0") + 1 :].decode()


def test_a_copy_for_which_there_is_no_room_is_refused_and_leaves_nothing(worker: SimpleNamespace) -> None:
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, limits[1]))
    try:
        reason = refusal(b"small", bytes(200_000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert reason == "no copy of the file on a worker: File too large"
    assert [path.read_bytes() for path in Path(worker.local_directory).iterdir()] == [b"small"]


def test_unused_copies_are_removed_if_there_is_no_room(
    worker: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    answered({"a": b"A"})
    written = cluster_worker._written

    def full(content: bytes, folder: str) -> str:
        if os.listdir(folder):
            raise OSError(28, "No space left on device")
        return written(content, folder)

    monkeypatch.setattr(cluster_worker, "_written", full)
    assert answered({"b": b"B"})[1:] == [b"B"]
    assert [path.read_bytes() for path in Path(worker.local_directory).iterdir()] == [b"B"]


def test_a_process_that_cannot_be_started_is_a_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    def popen(*words: Any, **options: Any) -> None:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr("subprocess.Popen", popen)
    before = len(os.listdir("/proc/self/fd"))
    assert refusal() == "no process for the work: Resource temporarily unavailable"
    assert len(os.listdir("/proc/self/fd")) == before


def test_the_end_of_a_scan_ends_its_processes_and_no_others(worker: SimpleNamespace) -> None:
    (one, *_), (two, *_) = answered({"a": b"A"}), answered(client="two")
    assert answered()[0] == one
    end_scan(program())
    end_scan(program())
    wait_until(lambda: not lives(one))
    wait_until(lambda: not [*Path(worker.local_directory).iterdir()])
    assert answered(client="two")[0] == two
    assert answered()[0] != one


def test_the_end_of_a_scan_ends_requests(worker: SimpleNamespace) -> None:
    responses: list[bytes] = []
    message = encoded(Read([b"sleep"], [Stamp("a", 1, 1)]))
    thread = threading.Thread(target=lambda: responses.append(answer_here(program(), message, b"A")))
    thread.start()
    wait_until(lambda: any(scan.busy for scan in cluster_worker._scans._scans.values()))
    end_scan(program())
    thread.join()
    assert responses == [b"here\0" + ENDED + b"a worker's process was ended by signal 9"]
    assert not [*Path(worker.local_directory).iterdir()]


def test_a_worker_has_no_more_processes_than_threads(worker: SimpleNamespace) -> None:
    (one, *_), (two, *_), (three, *_) = (answered(client=name) for name in ("one", "two", "three"))
    assert [lives(each) for each in (one, two, three)] == [False, True, True]


def test_an_idle_scan_ends_and_goes_on_with_the_next_request(
    worker: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster_worker, "IDLE_SECONDS", 0.1)
    (process, *_) = answered({"a": b"A"})
    wait_until(lambda: not lives(process))
    wait_until(lambda: not [*Path(worker.local_directory).iterdir()])
    assert answered({"a": b"A"})[0] != process
