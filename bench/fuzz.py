"""Attacks the commands that strangers' input comes to: `bench/fuzz.py --seconds 3600` is to print no failure.

What is run is made by fuzz_inputs.py: incc-mca in both faces with changed texts, objects, machine code and options;
incc-scan on folders of damaged objects, incc-diff with damaged reports, incc-db with damaged databases; incc, which has
to compile as the compiler does whatever becomes of the analysis. Some runs are in processes of their own, with streams
that are closed or full, folders and pipes as files. A failure is a traceback, a signal, an exit status other than 0, 1
and 2, more than 10 seconds of the processor, or more than 1 GiB of memory; of incc another exit status or another
object than the compiler's.

Each run is made of its number alone, its seed, which is printed of what failed:

    bench/fuzz.py --seconds 60                  from seed 0 on; --first N: from N; --runs N: no more than so many
    bench/fuzz.py --seed 1234 [--keep FOLDER]   one run again, its files kept in FOLDER, its output printed

Code under attack is never run: -measure is not among the options.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import os
import pathlib
import resource
import select
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable

from fuzz_inputs import Run, cases, databases, made, objects, option_words, reports, run_function

SECONDS = 10
"""The limit of processor time in seconds."""
WAITED = 30 * SECONDS
"""By the clock: others may want the processor, too."""
MEMORY = 1 << 30
# Address space that programs without any input take: the interpreter and LLVM's library.
MAPPED = 1 << 30

# --- how it is run ---------------------------------------------------------------------------------------------------


def inside(run: Run) -> str:
    """Run it in this process; what is wrong, "" for nothing."""
    main = importlib.import_module(f"incc.driver.commands.{_module(run)}").main
    output = run_function(main, _face(run), run.case)
    return judged(output.status, output.stderr)


def _module(run: Run) -> str:
    return "mca" if run.command == "compat" else run.command


def _face(run: Run) -> list[str]:
    return ["--compat"] if run.command == "compat" else []


def _name(run: Run) -> str:
    return {"compat": "llvm-mca", "incc": "incc"}.get(run.command, f"incc-{run.command}")


def judged(status: int, said: str) -> str:
    if "Traceback (most recent" in said:
        return said[said.index("Traceback (most recent") :].rstrip()[-1500:]
    return "" if status in (0, 1, 2) else f"exit status {status}"


def _limited_apart() -> None:
    _limited()
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 1))


def _limited() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY + MAPPED, MEMORY + MAPPED))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def apart(run: Run, folder: str) -> str:
    """Run it in a process of its own, in a folder that is there; what is wrong, "" for nothing."""
    for name, data in run.case.files.items():
        path = pathlib.Path(folder, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    os.mkfifo(os.path.join(folder, "pipe"))
    if run.command == "incc":
        return compiled(run, folder)
    module = f"incc.driver.commands.{_module(run)}"
    start = f"import {module} as m; import sys; sys.exit(getattr(m, 'command', m.main)())"
    program = [sys.executable, "-c", start, *_face(run), *run.case.args]
    closed = {"stdin closed": "<&-", "stdout closed": ">&-", "stderr closed": "2>&-"}.get(run.streams or "", "")
    closed = {"stdout full": ">/dev/full", "stderr full": "2>/dev/full"}.get(run.streams or "", closed)
    command = ["sh", "-c", f'exec "$@" {closed}', "sh", *program]
    # Who writes nothing to the pipe, which a reader waits for.
    pipe = os.open(os.path.join(folder, "pipe"), os.O_RDWR | os.O_NONBLOCK) if "pipe" not in run.case.args else -1
    out: int = subprocess.PIPE
    if run.streams == "reader gone":
        gone, out = os.pipe()
        os.close(gone)
    try:
        done = subprocess.run(
            command, cwd=folder, input=run.case.stdin or b"", stdout=out, stderr=subprocess.PIPE, timeout=WAITED,
            preexec_fn=_limited_apart, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        # A pipe without a writer is waited for, as by any tool.
        return "" if "pipe" in run.case.args else f"more than {WAITED} s"
    finally:
        if pipe >= 0:
            os.close(pipe)
        if out >= 0:
            os.close(out)
    if done.returncode < 0 and not (run.streams == "reader gone" and done.returncode == -signal.SIGPIPE):
        return f"signal {-done.returncode}"
    return judged(done.returncode, done.stderr.decode("utf-8", "replace"))


def compiled(run: Run, folder: str) -> str:
    """Compile with gcc and with incc, each in a folder of its own; how what they do differs, "" for not at all."""
    at = run.case.args.index("--")
    own, given = run.case.args[:at], run.case.args[at + 1 :]
    found = []
    for command in (["gcc"], ["incc", *own]):
        # The folder's name is in what they write.
        place = pathlib.Path(folder, "place")
        place.mkdir()
        for name, data in run.case.files.items():
            (place / name).write_bytes(data)
        environment = {**os.environ, "INCC_CC": "gcc"}
        try:
            done = subprocess.run(
                [*command, *given], cwd=place, input=run.case.stdin or b"", capture_output=True, timeout=WAITED,
                preexec_fn=_limited_apart, check=False, env=environment,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return f"{command[0]}: more than {WAITED} s"
        except ValueError:  # a NUL among the words
            return ""
        if "Traceback (most recent" in done.stderr.decode("utf-8", "replace"):
            return judged(0, done.stderr.decode("utf-8", "replace"))
        # -flto names its sections at random, and a program has an identity of these.
        kept = {} if "-flto" in given else {f.name: f.read_bytes() for f in place.glob("*.[odi]")}
        found.append((done.returncode, kept))
        place.rename(pathlib.Path(folder, f"by {command[0]}"))
    (status, files), (own_status, own_files) = found
    if status != own_status:
        return f"gcc ends with status {status}, incc with {own_status}"
    other = [name for name in files.keys() | own_files.keys() if files.get(name) != own_files.get(name)]
    return f"gcc and incc write other files: {', '.join(sorted(other))}" if other else ""


class Worker:
    """A process that makes runs, one seed after the other: it says what was wrong with each."""

    def __init__(self) -> None:
        asks, self.asks = os.pipe()
        self.tells, tells = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(self.asks)
            os.close(self.tells)
            _limited()
            with contextlib.suppress(BaseException):
                self._serve(asks, tells)
            os._exit(99)
        os.close(asks)
        os.close(tells)

    @staticmethod
    def _serve(asks: int, tells: int) -> None:
        while line := os.read(asks, 100):
            before = time.process_time()
            try:
                wrong = inside(made(int(line)))
            except BaseException as error:
                wrong = f"{type(error).__name__}: {error}"
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
            if peak > MEMORY:
                wrong = wrong or f"memory: {peak >> 20} MiB"
            if time.process_time() - before > SECONDS:
                wrong = wrong or f"more than {SECONDS} s of the processor"
            # What is left over of many runs is not the next one's.
            last = peak > MEMORY // 2
            data = wrong.encode("utf-8", "replace")
            os.write(tells, len(data).to_bytes(4, "little") + bytes([last]) + data)
            if last:
                return

    def run(self, seed: int) -> tuple[str, bool]:
        """Return the fault, "" for none, and True if the process can continue."""
        os.write(self.asks, f"{seed}\n".encode())
        begin, waiting = self._used(), time.monotonic()
        while not select.select([self.tells], [], [], 1)[0]:
            used = self._used() - begin
            if used > 2 * SECONDS or time.monotonic() - waiting > WAITED:
                os.kill(self.pid, signal.SIGKILL)
                self.end()
                what = f"{2 * SECONDS} s of the processor" if used > 2 * SECONDS else f"{WAITED} s"
                return f"more than {what}", False
        head = os.read(self.tells, 5)
        if len(head) < 5:
            return f"ended: status {self.end():#x}", False
        left, data = int.from_bytes(head[:4], "little"), b""
        while len(data) < left:
            data += os.read(self.tells, left - len(data))
        if head[4]:
            self.end()
        return data.decode("utf-8", "replace"), not head[4]

    def _used(self) -> float:
        """Seconds of the processor so far."""
        fields = pathlib.Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def end(self) -> int:
        os.close(self.asks)
        os.close(self.tells)
        return os.waitpid(self.pid, 0)[1]


def fuzz(first: int, runs: int, seconds: float, tell: Callable[[str], None]) -> int:
    """Runs from a seed on; how many failed."""
    # What all workers have need of is loaded once.
    import incc.driver.llvm_mca.face
    import incc.driver.pipeline  # noqa: F401

    cases(), objects(), option_words(), reports(), databases()
    seed, failed, end = first, 0, time.monotonic() + seconds
    worker: Worker | None = None
    while time.monotonic() < end and seed - first < runs:
        run = made(seed)
        if run.streams is not None:
            with tempfile.TemporaryDirectory() as folder:
                wrong = apart(run, folder)
        else:
            worker = worker or Worker()
            wrong, alive = worker.run(seed)
            if not alive:
                worker = None
        if wrong:
            failed += 1
            streams = f" ({run.streams})" if run.streams else ""
            tell(f"seed {seed}{streams}: {_name(run)} {shlex.join(run.case.args)}\n  " + wrong.replace("\n", "\n  "))
        seed += 1
    if worker is not None:
        worker.end()
    tell(f"{seed - first} runs from seed {first}, {failed} failed")
    return failed


def once(seed: int, keep: str) -> int:
    """One run, shown."""
    run = made(seed)
    folder = keep or tempfile.mkdtemp()
    os.makedirs(folder, exist_ok=True)
    print(f"in {folder}: {_name(run)} {shlex.join(run.case.args)}", flush=True)
    if run.case.stdin is not None:
        pathlib.Path(folder, "stdin").write_bytes(run.case.stdin)
    start = time.monotonic()
    if any("\0" in word for word in run.case.args):  # which no process can be given
        worker = Worker()
        wrong, alive = worker.run(seed)
        if alive:
            worker.end()
    else:
        wrong = apart(run, folder)
    print(f"{time.monotonic() - start:.1f} s; {wrong or 'nothing wrong'}")
    if not keep:
        shutil.rmtree(folder)
    return bool(wrong)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--runs", type=int, default=1 << 62)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--keep", default="")
    given = parser.parse_args()
    if given.seed is not None:
        return once(given.seed, given.keep)
    return int(fuzz(given.first, given.runs, given.seconds, lambda text: print(text, flush=True)) > 0)


if __name__ == "__main__":
    sys.exit(main())
