"""The queue of incc-web: order, places, and work that ends with its page."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from web_client import TRIAD, Server, running

MANY = 50


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with running() as started:
        yield started


def test_fifty_requests_are_answered_in_order_and_see_their_place(server: Server) -> None:
    compiler = next(c["name"] for c in server.choices()["compilers"] if "c" in c["languages"])
    connections = []
    for n in range(MANY):
        asked = {"source": TRIAD, "language": "c", "compiler": compiler, "options": f"-O1 -DN={n}"}
        connections.append(send(server, asked))
        time.sleep(0.01)  # so that they arrive in this order
    lines: list[list[dict[str, Any]]] = [[] for _ in connections]
    ends: list[float] = [0.0] * MANY

    def read(n: int) -> None:
        with connections[n].makefile("rb") as file:
            for line in file:
                if line.startswith(b"{"):
                    lines[n].append(json.loads(line))
        ends[n] = time.monotonic()

    threads = [threading.Thread(target=read, args=(n,)) for n in range(MANY)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(answers[-1]["result"] for answers in lines)
    places = [[line["waiting"] for line in answers[:-1]] for answers in lines]
    assert max(max(each) for each in places) > MANY // 2
    for each in places:
        assert each == sorted(each, reverse=True), "nobody is overtaken"
    # As many run at the same time as there are CPUs, so neighbours may change places.
    order = sorted(range(MANY), key=ends.__getitem__)
    assert max(abs(at - n) for at, n in enumerate(order)) <= 8


def test_a_closed_page_ends_its_work(server: Server) -> None:
    compiler = next(c["name"] for c in server.choices()["compilers"] if "c++" in c["languages"])
    endless = "constexpr long f(long n) { return n < 2 ? n : f(n - 1) + f(n - 2); }\nstatic_assert(f(99) > 0);"
    asked = {"source": endless, "language": "c++", "compiler": compiler, "options": "-std=c++20"}
    connection = send(server, asked)
    wait_for(lambda: compilers_of(server))
    connection.close()
    wait_for(lambda: not compilers_of(server))
    assert server.explore(TRIAD)["result"]


def test_a_server_that_ends_leaves_no_process() -> None:
    with running() as other:
        assert other.explore(TRIAD)["result"]
        processes = descendants(other.process.pid)
        assert processes
    wait_for(lambda: not any(alive(process) for process in processes))


CANCELLED = """
import asyncio, types
from incc.live.jobs import Jobs
jobs = Jobs(lambda: types.SimpleNamespace(large=lambda n: bytes([n]) * (4 << 20)))

async def run(n):
    task = asyncio.create_task(jobs.run("large", n))
    if n % 2:
        await asyncio.sleep(n / 5000)
        task.cancel()
        await asyncio.wait([task])
    else:
        assert await task == bytes([n]) * (4 << 20)

async def some(first):
    for n in range(first, first + 60):
        await run(n)

async def main():
    await asyncio.gather(*map(some, range(0, 240, 60)))

asyncio.run(main())
"""


def test_work_that_is_cancelled_while_its_result_arrives_leaves_others_alone() -> None:
    subprocess.run([sys.executable, "-c", CANCELLED], check=True, timeout=60)


def send(server: Server, asked: Any) -> socket.socket:
    """Send a request and return its connection, without reading the answer."""
    host, _, port = server.host.rpartition(":")
    connection = socket.create_connection((host, int(port)), timeout=300)
    body = json.dumps(asked).encode()
    head = (
        f"POST /explore HTTP/1.1\r\nHost: {server.host}\r\nOrigin: {server.base}\r\n"
        f"Cookie: {server.cookie}={server.token}\r\nConnection: close\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    connection.sendall(head.encode() + body)
    return connection


def descendants(process: int) -> list[int]:
    """Return the processes that a process has started, and those that these have."""
    text = subprocess.run(["ps", "-e", "-o", "pid=,ppid="], capture_output=True, text=True, check=True).stdout
    pairs = [tuple(map(int, line.split())) for line in text.splitlines()]
    found = [process]
    for parent in found:
        found += [child for child, its_parent in pairs if its_parent == parent]
    return found[1:]


def compilers_of(server: Server) -> bool:
    """Return True while a compiler runs for the server."""
    for process in descendants(server.process.pid):
        try:
            with open(f"/proc/{process}/comm", encoding="utf-8") as file:
                if file.read().startswith("cc1plus") or "clang" in file.read():
                    return True
        except OSError:
            continue
    return False


def alive(process: int) -> bool:
    try:
        with open(f"/proc/{process}/stat", encoding="utf-8") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_for(what: Callable[[], object]) -> None:
    end = time.monotonic() + 60
    while not what():
        assert time.monotonic() < end
        time.sleep(0.05)
