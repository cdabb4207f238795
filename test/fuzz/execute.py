"""Executes a run in a child process with limits, and says how it ended.

A child is forked from this process, in which incc is loaded: that takes 10 ms where a new interpreter takes 150. What
one run does to its process is not there in the next. Runs that name their streams are new processes.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import importlib
import os
import pkgutil
import resource
import select
import shutil
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import msgspec

from test.fuzz.runs import Run

SANITIZED = "libasan" in os.environ.pop("LD_PRELOAD", "")
"""True under AddressSanitizer, which needs address space without limit, and is slow. Forks have it, but no program that
they start: assemblers have limits of memory."""

CPU_SECONDS = 100 if SANITIZED else 10
WALL_SECONDS = 9 * CPU_SECONDS
"""Much more than CPU_SECONDS, since other processes may want the processor."""
MEMORY = 1 << 30
OUTPUT = 1 << 30
"""The largest file that may be written, in bytes."""

PROGRAMS = ("incc", "gcc")
"""Commands that are programs, not functions of Python."""


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of a run."""

    status: int
    """The exit status, or the negative number of the signal."""
    stdout: bytes
    stderr: bytes
    files: dict[str, bytes]
    """The files that it wrote or changed."""
    cpu: float
    """Processor time in seconds."""
    peak: int
    """The largest resident memory of one of its processes, in bytes, beyond that of the process that starts them."""
    hung: bool
    """True if it was killed after WALL_SECONDS."""
    left: str
    """Leftovers: processes, or files in the temporary folder."""


def execute(run: Run, top: Path) -> Outcome:
    """Execute a run below the folder `top`, which is emptied first."""
    place, temporary = top / "work", top / "tmp"
    for folder in (place, temporary):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
    for name, data in run.files.items():
        path = place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    (top / "stdin").write_bytes(run.stdin)
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    # A forked process begins with this one's memory, which grows in a long run of tests, but for what is mapped from
    # files, such as libraries.
    resident, of_files = map(int, Path("/proc/self/statm").read_text().split()[1:3])
    inherited = (resident - of_files) * resource.getpagesize()
    child = os.fork()
    if child == 0:
        _become(run, top)
    status, usage, hung = _wait(child)
    return Outcome(
        status=os.waitstatus_to_exitcode(status),
        stdout=(top / "stdout").read_bytes() if (top / "stdout").exists() else b"",
        stderr=(top / "stderr").read_bytes() if (top / "stderr").exists() else b"",
        files=_written(run, place),
        cpu=usage.ru_utime + usage.ru_stime,
        peak=max(0, (usage.ru_maxrss << 10) - inherited),
        hung=hung,
        left="" if hung else _left(child, temporary),
    )


def _wait(child: int) -> tuple[int, resource.struct_rusage, bool]:
    descriptor = os.pidfd_open(child)
    try:
        hung = not select.select([descriptor], [], [], WALL_SECONDS)[0]
    finally:
        os.close(descriptor)
    if hung:
        os.killpg(child, signal.SIGKILL)
    _, status, usage = os.wait4(child, 0)
    return status, usage, hung


def _left(group: int, temporary: Path) -> str:
    """Return what is left of a process group and in its folder. A process that is ending gets a second for it."""
    end = time.monotonic() + 1
    with contextlib.suppress(ProcessLookupError):
        while time.monotonic() < end:
            os.killpg(group, 0)
            time.sleep(0.01)
        if _alive(group):
            os.killpg(group, signal.SIGKILL)
            return "a process"
    names = sorted(os.listdir(temporary))
    return f"temporary files such as {names[0][:4]}" if names else ""


def _alive(group: int) -> bool:
    """Return True if a process of a group is running, that is, not a zombie that init has not reaped yet."""
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            state, _, its_group = path.read_text(errors="replace").rpartition(")")[2].split()[:3]
            if int(its_group) == group and state != "Z":
                return True
    return False


def _written(run: Run, place: Path) -> dict[str, bytes]:
    written = {}
    for path in sorted(place.rglob("*")):
        name = str(path.relative_to(place))
        if path.is_file() and not path.is_symlink():
            data = path.read_bytes()
            if run.files.get(name) != data:
                written[name] = data
    return written


def entry(command: str) -> Callable[[], int]:
    """Return the function that an installed command calls."""
    module = importlib.import_module(f"incc.driver.commands.{command.removeprefix('incc-')}")
    return getattr(module, "command", module.main)


@functools.cache
def load_commands() -> None:
    """Load all that runs would load, once for all of them."""
    import incc
    from incc.models.loading import load

    for module in pkgutil.walk_packages(incc.__path__, "incc."):
        if not module.name.endswith("__main__"):
            with contextlib.suppress(ImportError):  # of an optional library
                importlib.import_module(module.name)
    for library in ("lief", "llvmlite.binding", "jinja2", "networkx", "scipy.optimize", "sqlite3", "rich.console"):
        importlib.import_module(library)
    load("skylake")


def _become(run: Run, top: Path) -> NoReturn:
    """In the child: run the command, and end."""
    status = 99
    try:
        os.setsid()
        streams = "" if SANITIZED else run.streams
        _open_streams(streams, top)
        os.chdir(top / "work")
        os.environ.update(_environment(top))
        _limit()
        if streams or run.command in PROGRAMS:
            os.execvp(run.command, [run.command, *run.args])
        status = _call(run)
    finally:
        os._exit(status)


def _open_streams(streams: str, top: Path) -> None:
    os.dup2(os.open(top / "stdin", os.O_RDONLY), 0)
    for number, name in ((1, "stdout"), (2, "stderr")):
        path = "/dev/full" if streams == f"{name} full" else top / name
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
    if streams == "reader gone":
        reader, writer = os.pipe()
        os.close(reader)
        os.dup2(writer, 1)
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if streams == f"{name} closed":
            os.close(number)
    os.closerange(3, 256)


def _environment(top: Path) -> dict[str, str]:
    home = str(top / "home")
    return {
        "TMPDIR": str(top / "tmp"),
        "HOME": home,
        "XDG_STATE_HOME": home,
        "LC_ALL": "C.UTF-8",
        "COLUMNS": "100",
        "INCC_CC": "gcc",
        "INCC_CACHE": "0",
    }


def _limit() -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (OUTPUT, OUTPUT))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS + 5))
    if not SANITIZED:
        # A run that needs more than MEMORY is to say so itself, not to fail here.
        mapped = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (mapped + 2 * MEMORY, mapped + 2 * MEMORY))


def _call(run: Run) -> int:
    """Call the command's function as a new interpreter would, and return the exit status."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    atexit._clear()
    sys.argv = [run.command, *run.args]
    sys.stdin = open(0, encoding="utf-8", errors="surrogateescape", closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", encoding="utf-8", errors="surrogateescape", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115
    try:
        status = entry(run.command)()
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        sys.excepthook(*sys.exc_info())
        status = 1
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError):
            stream.flush()
    return status or 0
