"""Measure how far scans scale: with workers, with the number of kernels, and with the tasks of one scheduler.

    python bench/scan_scale.py [libraries] [kernels] [tasks] [--megabytes 2000] [--workers 1,2,4]
                               [--kernels 10000,100000,1000000] [--tasks 20000] [FILE|FOLDER…]

Each part prints a table; all of them by default.

libraries: scans the largest files of a folder (default: /usr/lib/x86_64-linux-gnu, as many as there are in so many
megabytes) to a dataset, with `-j N` and with `--cluster=local:N`, one after the other, with the processor time of all
processes, and the processor time and the largest memory of the client alone. More workers than CPUs show only what
that costs.

kernels: writes datasets of ever more kernels, which worker processes make up, no two alike. Reading, keys, results,
reports and rows take the way of a scan; reports have the size of real ones. So the client's memory and its processor
time for a kernel are seen.

tasks: sends empty tasks, and tasks with requests and answers of the size that scanning a library has, through a
scheduler in a process of its own. The processor time and the bytes of a task at the scheduler say how many workers it
feeds. The rate of empty tasks is compared with the rate that a thousand workers need.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import socket
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from incc.driver.cli.parsers import Parser
from incc.driver.commands.scan.analysis import Scan
from incc.driver.commands.scan.inputs import HexBlock, read_inputs
from incc.driver.commands.scan.options import COMMAND
from incc.driver.commands.scan.pieces import pieces
from incc.driver.commands.scan.request import requested_scan, responding
from incc.driver.commands.scan.table import DatasetRows, RowSelection
from incc.fleet import messages as m
from incc.fleet.cluster import ClusterEngine
from incc.fleet.cluster_worker import WorkerProgram, serve
from incc.fleet.dataset.columns import ANALYSED, PLACES
from incc.fleet.dataset.store import Store, hash_of, pack
from incc.fleet.dataset.writing import About, DatasetWriter
from incc.fleet.engines import Done, Engine, EngineJob, Limits, LocalEngine, Respond
from incc.fleet.flow import Piece, ScanFlow
from incc.report import columnar
from incc.support.version import __version__

LIBRARIES = "/usr/lib/x86_64-linux-gnu"

TRIAD = "c5fd1004 02c4e2eda80406 c5fd110407 4883c020 4c39c0 75e9".replace(" ", "")
"""A loop, whose report all made-up kernels have."""

OF_PIECE = 300
"""Made-up kernels of a piece: as many as a library has in a part (`frontends/objects/parts.py`)."""

INSTRUCTIONS = 50
"""Instructions of a made-up kernel."""

FILLER = 1300
"""Hexadecimal digits in each made-up report that no other one has: with them, it takes 1 KB in the dataset."""

MANY = 1000
"""The number of workers whose tasks one scheduler should pass on."""

_TICK = os.sysconf("SC_CLK_TCK")


# --- processes --------------------------------------------------------------------------------------------------------


def cpu_of(process: int | str) -> tuple[int, float]:
    """Return the session of a process and its processor time in seconds. Raises OSError if it has ended."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(") ")[2].split()
    return int(fields[3]), (int(fields[11]) + int(fields[12])) / _TICK


def peak_of(process: int) -> float:
    """Return the largest memory that a process had so far, in megabytes."""
    status = Path(f"/proc/{process}/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024 if "VmHWM:" in status else 0.0


class Cost(NamedTuple):
    """The cost of a command."""

    seconds: float
    cpu: float
    """Processor time of all processes, in seconds."""
    client: float
    """The processor time of the command's own process."""
    megabytes: float
    """The largest memory of the command's own process."""


def cost_of(command: Sequence[str], output: Path, most: int = 0) -> Cost:
    """Run a command in a session of its own, and return its cost. Ends the program for a status above `most`."""
    start = time.perf_counter()
    times: dict[str, float] = {}
    megabytes = 0.0
    with open(output, "wb") as file:
        process = subprocess.Popen(command, stdout=file, stderr=subprocess.STDOUT, start_new_session=True)
    while process.poll() is None:
        for name in filter(str.isdecimal, os.listdir("/proc")):
            with contextlib.suppress(OSError):
                session, cpu = cpu_of(name)
                if session == process.pid:
                    times[name] = cpu
        with contextlib.suppress(OSError):
            megabytes = max(megabytes, peak_of(process.pid))
        time.sleep(0.2)
    seconds = time.perf_counter() - start
    if not 0 <= process.returncode <= most:
        sys.exit(f"{' '.join(command)}: status {process.returncode}\n{output.read_text()[-2000:]}")
    return Cost(seconds, sum(times.values()), times.get(str(process.pid), 0.0), megabytes)


# --- libraries --------------------------------------------------------------------------------------------------------


def chosen(names: Sequence[str], megabytes: int) -> list[str]:
    """Return files: the largest of the folders, up to a number of megabytes, and those that are named."""
    files = [Path(name) for name in names if not os.path.isdir(name)]
    in_folders = (path for name in names if os.path.isdir(name) for path in Path(name).iterdir())
    libraries = [path for path in in_folders if ".so" in path.name and path.is_file()]
    left = megabytes << 20
    for path in sorted({path.resolve() for path in libraries}, key=lambda path: -path.stat().st_size):
        if path.stat().st_size <= left:
            left -= path.stat().st_size
            files.append(path)
    return [str(path) for path in files]


def libraries(files: Sequence[str], workers: Sequence[int], folder: Path) -> None:
    """Print kernels per second of processes and of clusters."""
    size = sum(os.path.getsize(name) for name in files) / 1e6
    print(f"{len(files)} libraries of {size:,.0f} MB, -mcpu=skylake -o FOLDER")
    print(f"{'':24} {'s':>7} {'CPU s':>7} {'client s':>8} {'client MB':>9} {'kernels':>9} {'per s':>7} {'ratio':>6}")
    for count in workers:
        rate = 0.0
        for option in (f"-j{count}", f"--cluster=local:{count}"):
            out = folder / f"{count}{option.partition('=')[0]}"
            cost = cost_of(
                [sys.executable, "-m", "incc.driver.commands.scan", "-mcpu=skylake", option, f"-o{out}/", *files],
                folder / "output",
                1,  # some loops were not analysed
            )
            kernels = json.loads((out / "_about.json").read_text())["kernels"]
            ratio = f"{kernels / cost.seconds / rate:6.2f}" if rate else ""
            rate = rate or kernels / cost.seconds
            print(
                f"{option:24} {cost.seconds:7.1f} {cost.cpu:7.1f} {cost.client:8.1f} {cost.megabytes:9.0f} "
                f"{kernels:9,} {kernels / cost.seconds:7.0f} {ratio}",
                flush=True,
            )
    print()


# --- made-up kernels --------------------------------------------------------------------------------------------------


def requested() -> Scan:
    """Return a scan to a dataset."""
    return requested_scan(Parser(COMMAND).parse_args(["-mcpu=skylake", "-ofolder/", "--input-format=hex"]))


class MadeUp:
    """Answers requests with kernels that were not analysed."""

    def __init__(self) -> None:
        respond = responding(requested())
        answer = m.answer(respond(m.encoded(m.Read([m.encoded(HexBlock("triad", 1, TRIAD))]))))
        assert isinstance(answer, m.ReadAnswer)
        (read,) = answer.inputs
        (core,) = msgspec.msgpack.decode(read.analysed[0].cores, type=list[m.OnCore])
        with contextlib.closing(Store("")) as store:
            store.keep([(b"", b"", read.reports)])
            reports = store.reports(str(core.kernels[0][ANALYSED.index("hash")]))
        self._core = core
        self._places = read.groups[0].kernels[0].values
        self._text = reports[core.core]
        self._named = [PLACES.index(name) for name in ("symbol", "function", "function_name", "kernel_id")]

    def __call__(self, data: bytes) -> bytes:
        """Return the answer to a request."""
        request = m.request(data)
        if isinstance(request, m.Read):
            return m.encoded(m.ReadAnswer([self._read(name.decode()) for name in request.inputs]))
        answer = m.AnalyseAnswer([])
        reports = []
        for key in [key for keys in request.keys for key in keys]:
            name = hash_of(key, 0)
            values = list(self._core.kernels[0])
            values[ANALYSED.index("hash")] = name
            answer.groups.append(
                m.GroupResult(key, 1, m.encoded([msgspec.structs.replace(self._core, kernels=[values])]))
            )
            filler = os.urandom(FILLER // 2).hex().encode()
            reports.append((name, self._core.core, self._text[:-1] + b',"filler":"%b"}' % filler))
        answer.reports = pack(reports)
        return m.encoded(answer)

    def _read(self, name: str) -> m.InputRead:
        read = m.InputRead(name)
        for n in range(OF_PIECE):
            values = list(self._places)
            for index in self._named:
                values[index] = f"{name}_function_{n}"
            key = blake2b(f"{name} {n}".encode(), digest_size=16).digest()
            read.groups.append(m.Group(key, [m.PlacedKernel(n, values)], INSTRUCTIONS))
        return read


def sized(data: bytes) -> bytes:
    """Answer a request with as many bytes as its first four bytes say."""
    return bytes(int.from_bytes(data[:4], "little"))


RESPONDING: dict[bytes, Callable[[], Respond]] = {b"made up": MadeUp, b"sized": lambda: sized}


def responder(settings: bytes) -> Respond:
    """Return the function with which a worker's child process answers requests."""
    return RESPONDING[settings]()


def written(engine: Engine, made: Iterator[Piece], folder: str) -> int:
    """Write a dataset as incc-scan does, and return the number of its kernels."""
    scan = requested()
    about = About(incc_version=__version__, cores=[(scan.cores[0].core.mcpu, "1")], settings={}, inputs=[])
    with contextlib.closing(DatasetWriter.create(folder, about)) as writer:
        rows = DatasetRows(writer)
        table = RowSelection(scan, rows.write)
        flow = ScanFlow(engine, writer.store, made)
        for number, done in flow.results(lambda: None):
            for read, results in done:
                table.add(read, results)
            rows.commit_at_times(number + 1, table.kernels)
        rows.commit(flow.counts.pieces, table.kernels)
        writer.finish()
    return flow.counts.kernels


def write_made_up(engine_name: str, count: int, folder: str) -> None:
    """Write a dataset of made-up kernels; print the processor time of this process."""
    engine = engine_of(engine_name)
    before = time.process_time()
    try:
        made = (Piece([str(n)], [str(n).encode()], [None]) for n in range(count // OF_PIECE))
        kernels = written(engine, made, folder)
    finally:
        engine.end()
    print(json.dumps([kernels, time.process_time() - before]))


def engine_of(name: str) -> Engine:
    """Start two processes."""
    if name == "-j":
        return LocalEngine(MadeUp(), 2, Limits())
    os.environ["PYTHONPATH"] = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    return ClusterEngine("local:2", WorkerProgram(Path(__file__).stem, b"made up", Limits(), os.getcwd()), print)


def kernels(counts: Sequence[int], engines: Sequence[str], folder: Path) -> None:
    """Print the client's memory and processor time by the number of kernels."""
    print("made-up kernels to a dataset, two workers")
    print(f"{'':17} {'kernels':>9} {'s':>4} {'per s':>7} {'client MB':>9} {'client ms/kernel':>17} {'dataset MB':>10}")
    for name in engines:
        for count in counts:
            out = folder / f"made{name}{count}"
            command = [sys.executable, __file__, "--child", name, str(count), str(out)]
            cost = cost_of(command, folder / "output")
            made, cpu = json.loads((folder / "output").read_text().splitlines()[-1])
            size = sum(path.stat().st_size for path in out.rglob("*") if path.is_file()) / 1e6
            option = "--cluster=local:2" if name == "cluster" else "-j2"
            print(
                f"{option:17} {made:9,} {cost.seconds:4.0f} {made / cost.seconds:7.0f} {cost.megabytes:9.0f} "
                f"{1000 * cpu / made:17.3f} {size:10.0f}",
                flush=True,
            )
    print()


# --- tasks of a scheduler ---------------------------------------------------------------------------------------------


class Sample(NamedTuple):
    """The tasks of a scan, on average."""

    tasks: int
    kernels: int
    worker: float
    """Processor time of a task on a worker, in seconds."""
    client: float
    """Processor time that the client takes to write the results of a task to a dataset."""
    request: int
    """Bytes of a request."""
    answer: int


class Here:
    """An engine that answers in this process, and notes what that takes."""

    ships = False
    window = 36

    def __init__(self, respond: Respond) -> None:
        self.respond = respond
        self.jobs: list[EngineJob] = []
        self.sizes: list[tuple[int, int]] = []
        self.seconds = 0.0

    @property
    def room(self) -> int:
        return 4 - len(self.jobs)

    def add(self, job: EngineJob) -> None:
        self.jobs.append(job)

    def done(self, seconds: float) -> Iterator[Done]:
        if self.jobs:
            job = self.jobs.pop()
            start = time.process_time()
            answer = self.respond(job.request)
            self.seconds += time.process_time() - start
            self.sizes.append((len(job.request), len(answer)))
            yield Done(job, answer)

    def end(self) -> None:
        pass


def sampled(file: str, folder: str) -> Sample:
    """Scan a file in this process, and return what its tasks are."""
    engine = Here(responding(requested()))
    columnar.parquet()  # loads it
    start = time.process_time()
    kernels = written(engine, pieces(read_inputs([file], "obj")), folder)
    client = time.process_time() - start - engine.seconds
    count = len(engine.sizes)
    request, answer = (sum(size) // count for size in zip(*engine.sizes, strict=True))
    return Sample(count, kernels, engine.seconds / count, client / count, request, answer)


def bytes_at_scheduler(dask_scheduler: Any) -> tuple[int, int]:
    """Return the bytes that a scheduler has received and sent on the connections to its workers and clients."""
    received = sent = 0
    streams = [*dask_scheduler.stream_comms.values(), *dask_scheduler.client_comms.values()]
    seen = {id(stream.comm): stream.comm for stream in streams}
    # Results are fetched over other connections.
    seen |= {id(comm): comm for comm in dask_scheduler._comms}
    pools = dask_scheduler.rpc
    for comms in (*pools.available.values(), *pools.occupied.values()):
        seen |= {id(comm): comm for comm in comms}
    for comm in seen.values():
        with contextlib.suppress(AttributeError, OSError):
            info = comm.stream.socket.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256)
            acknowledged, got = struct.unpack_from("=QQ", info, 120)
            received, sent = received + got, sent + acknowledged
    return received, sent


@contextlib.contextmanager
def scheduler(folder: Path, workers: int, threads: int) -> Iterator[tuple[str, int, list[int]]]:
    """Start a scheduler and workers; yields its address, its process and theirs."""
    file = folder / "scheduler.json"
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path])}
    dask = [sys.executable, "-m", "dask"]
    with contextlib.ExitStack() as stack:
        started = []
        for words in (
            ["scheduler", "--port=0", "--host=127.0.0.1", "--no-dashboard", f"--scheduler-file={file}"],
            *[["worker", f"--scheduler-file={file}", "--no-nanny", "--no-dashboard", f"--nthreads={threads}"]]
            * workers,
        ):
            started.append(subprocess.Popen([*dask, *words], cwd=folder, env=environment, **quiet))
            stack.callback(started[-1].wait)
            stack.callback(started[-1].terminate)
            while not file.exists() and started[0].poll() is None:
                time.sleep(0.05)
        address = json.loads(file.read_text())["address"]
        yield address, started[0].pid, [each.pid for each in started[1:]]


class Rate(NamedTuple):
    """The cost of a task, by where it arises."""

    per_second: float
    scheduler: float
    """Processor time in seconds, as the next two."""
    client: float
    workers: float
    received: float
    """Bytes at the scheduler, as the next."""
    sent: float


def rate_of(engine: ClusterEngine, tasks: int, request: int, answer: int, processes: tuple[int, list[int]]) -> Rate:
    """Send tasks through a scheduler."""
    message = answer.to_bytes(4, "little") + bytes(max(0, request - 4))
    client = engine._client
    own, others = processes
    sent = done = 0
    first = max(200, tasks // 10)  # processes start
    begun, before = 0.0, [0.0] * 5

    def state() -> list[float]:
        return [
            cpu_of(own)[1],
            time.process_time(),
            sum(cpu_of(process)[1] for process in others),
            *client.run_on_scheduler(bytes_at_scheduler),
        ]

    while done < tasks + first:
        while engine.room > 0 and sent < tasks + first:
            engine.add(EngineJob(message))
            sent += 1
        for ended in engine.done(0.5):
            if ended.problem:
                sys.exit(f"a task failed: {ended.problem}")
            done += 1
            if done == first:
                before, begun = state(), time.perf_counter()
    seconds = time.perf_counter() - begun
    return Rate(tasks / seconds, *[(now - then) / tasks for now, then in zip(state(), before, strict=True)])


def tasks(file: str, count: int, folder: Path) -> None:
    """Print tasks per second, what a task costs, and how many workers one scheduler and one client feed."""
    sample = sampled(file, str(folder / "sample"))
    print(f"{sample.tasks} tasks of {os.path.basename(file)} with {sample.kernels:,} kernels; on average, a task has")
    print(f"{sample.worker:.2f} s of processor time on a worker, {1000 * sample.client:.1f} ms to write its results,")
    print(f"a request of {sample.request:,} bytes and an answer of {sample.answer:,} bytes")
    print(f"{'':24} {'tasks/s':>8} {'scheduler':>9} {'client':>7} {'workers':>7} {'bytes in':>9} {'bytes out':>9}")
    print(f"{'':24} {'':>8} {'ms/task':>9} {'ms/task':>7} {'ms/task':>7} {'per task':>9} {'per task':>9}")
    rates = []
    with scheduler(folder, 2, 16) as (address, own, others):
        engine = ClusterEngine(address, WorkerProgram(Path(__file__).stem, b"sized", Limits(), os.getcwd()), print)
        try:
            for name, request, answer in (("empty", 0, 0), ("as large as real ones", sample.request, sample.answer)):
                rate = rate_of(engine, count, request, answer, (own, others))
                rates.append(rate)
                print(
                    f"{name:24} {rate.per_second:8.0f} {1000 * rate.scheduler:9.2f} {1000 * rate.client:7.2f} "
                    f"{1000 * rate.workers:7.2f} {rate.received:9,.0f} {rate.sent:9,.0f}",
                    flush=True,
                )
        finally:
            engine.end()
    empty, real = rates
    for name, each in (("scheduler", real.scheduler), ("client", real.client + sample.client)):
        feeds = sample.worker / each
        print(
            f"The {name} has time for {1 / each:,.0f} tasks per second, those of {feeds:,.0f} workers; then the "
            f"scheduler receives {real.received / each / 1e6:,.0f} MB/s."
        )
    print(
        "This assumes that scheduler and client have a processor each, that workers' processors are as fast, that all"
    )
    print("tasks are as those of this file, no two kernels of it equal, and that the network passes as many bytes.")
    needed, fed = MANY / sample.worker, empty.per_second * sample.worker
    print(f"{MANY:,} workers need {needed:,.0f} tasks per second. {empty.per_second:,.0f} empty ones passed per")
    print(f"second, those of {fed:,.0f} workers, while everything shared {len(os.sched_getaffinity(0))} CPUs.")


# --- the program ------------------------------------------------------------------------------------------------------


def numbers(text: str) -> list[int]:
    return [int(part) for part in text.split(",")]


def main() -> None:
    if len(sys.argv) == 2 and sys.argv[1].isdecimal():  # a worker's child process
        serve(sys.argv[1], responder)
    if sys.argv[1:2] == ["--child"]:
        return write_made_up(sys.argv[2], int(sys.argv[3]), sys.argv[4])
    parts = ("libraries", "kernels", "tasks")
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("words", nargs="*", metavar="libraries|kernels|tasks|FILE|FOLDER")
    parser.add_argument("--megabytes", type=int, default=2000, help="the most to read of folders (default: 2000)")
    parser.add_argument("--workers", type=numbers, default=[1, 2, 4], help="for libraries (default: 1,2,4)")
    parser.add_argument(
        "--kernels", type=numbers, default=[10_000, 100_000, 1_000_000], help="made-up (default: 10000,100000,1000000)"
    )
    parser.add_argument(
        "--engines", default="cluster", help="for made-up kernels: cluster, -j, or cluster,-j (default: cluster)"
    )
    parser.add_argument("--tasks", type=int, default=20_000, help="of each size (default: 20000)")
    options = parser.parse_intermixed_args()
    wanted = [word for word in options.words if word in parts] or parts
    names = [word for word in options.words if word not in parts] or [LIBRARIES]
    files = chosen(names, options.megabytes)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if "libraries" in wanted:
            libraries(files, options.workers, folder)
        if "kernels" in wanted:
            kernels(options.kernels, options.engines.split(","), folder)
        if "tasks" in wanted:
            # A file of many parts spreads the cost of opening and closing a dataset; otherwise the smallest file.
            some = [file for file in files if os.path.getsize(file) < 20 << 20]
            tasks(some[0] if some else files[-1], options.tasks, folder)


if __name__ == "__main__":
    main()
