"""The end of a process by a signal: with nothing left behind, and without a traceback.

The handler raises no exception, which might arrive in a destructor, a callback or another clean-up. It ends the process
where it stands: it kills the children, removes temporary files, and lets the signal's default action do the rest. So
the parent, a shell or make, sees which signal it was. Forked processes and programs that are started through `tied` die
with their parent, even if that is killed by SIGKILL.
"""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import FrameType
from typing import NoReturn

STOPPING = (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM)
"""The signals that stop a process."""

unfinished: set[str] = set()
"""Files that are being written, and have another name when they are complete."""

received: list[int] = []
"""Signals that `interruptible` has turned into exceptions."""


def temporary_places(environment: Mapping[str, str]) -> list[str]:
    """Return the folders for temporary files: the first in which files can be created is used.

    Sandboxes may have none but the working directory.
    """
    return list(dict.fromkeys((environment.get("TMPDIR") or "/tmp", "/tmp", "/var/tmp", "/dev/shm", os.curdir)))


def stopping() -> list[signal.Signals]:
    """Return the signals that stop this process. Those that were ignored at its start (nohup) stay ignored."""
    return [number for number in STOPPING if signal.getsignal(number) != signal.SIG_IGN]


def end_in_order(before: Callable[[int], int] | None = None) -> None:
    """Install handlers for signals, and unblock these.

    Args:
        before: Called with the signal first. It returns the exit status that the process shall have, or the negative
            number of the signal.
    """

    def end(number: int, frame: FrameType | None) -> NoReturn:
        end_by(number, before)

    for number in (numbers := stopping()):
        signal.signal(number, end)
    # The process that started this interpreter may have blocked them.
    signal.pthread_sigmask(signal.SIG_UNBLOCK, numbers)


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """Turn the first signal inside the context into KeyboardInterrupt, so that results can be written.

    Further signals end the process. `messages.run_command` ends it by the signal after its work.
    """

    def interrupt(number: int, frame: FrameType | None) -> NoReturn:
        received.append(number)
        restore()
        raise KeyboardInterrupt

    def unraisable(what: sys.UnraisableHookArgs) -> None:
        """End the process if the exception was raised in a callback, after which Python would go on."""
        if issubclass(what.exc_type, KeyboardInterrupt):
            end_by(received[-1])
        hook(what)

    def restore() -> None:
        for number, handler in handlers.items():
            signal.signal(number, handler)

    handlers = {number: signal.signal(number, interrupt) for number in stopping()}
    hook, sys.unraisablehook = sys.unraisablehook, unraisable
    try:
        yield
    finally:
        restore()
        sys.unraisablehook = hook


def end_by(number: int, before: Callable[[int], int] | None = None) -> NoReturn:
    """End this process by a signal, with its children and temporary files. `before` is that of `end_in_order`."""
    status = -number
    try:
        signal.pthread_sigmask(signal.SIG_BLOCK, STOPPING)
        if before is not None:
            status = before(number)
        # Other threads may complain about the ends of their children.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        _remove_files([os.getpid(), *kill_children()])
    finally:
        if status >= 0:
            os._exit(status)
        die_by(-status)


def die_by(number: int) -> NoReturn:
    """End this process by a signal, without a core file: the interpreter's would overwrite a compiler's."""
    _, limit = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (0, limit))
    if number not in (signal.SIGKILL, signal.SIGSTOP):
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, (number,))
    os.kill(os.getpid(), number)
    os._exit(128 + number)


def kill_children() -> list[int]:
    """Kill the descendants of this process, wait for its children, and return the numbers of all."""
    killed: list[int] = []
    # Other threads may still start processes.
    while started := [child for child in _children(os.getpid()) if child not in killed]:
        for child in started:
            killed += _kill_tree(child)
            with contextlib.suppress(OSError):
                os.waitpid(child, 0)
    return killed


def _kill_tree(process: int) -> list[int]:
    """Kill a process and its descendants, and return their numbers.

    All are stopped before one is killed, the last first: the children of one that has died are nobody's any more, and
    this process may be killed meanwhile.
    """
    tree = [process]
    for each in tree:
        with contextlib.suppress(OSError):
            os.kill(each, signal.SIGSTOP)
        tree += _children(each)
    for each in reversed(tree):
        with contextlib.suppress(OSError):
            os.kill(each, signal.SIGKILL)
    return tree


def _children(process: int) -> list[int]:
    """Return the children of a process, none where the system does not list them."""
    children: list[int] = []
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{process}/task"):
            with open(f"/proc/{process}/task/{thread}/children", encoding="ascii") as file:
                children += map(int, file.read().split())
    return children


_PATIENCE = 50
"""Attempts to remove a folder in which a dying process may still create files, every 20 ms."""


def _remove_files(processes: Sequence[int]) -> None:
    """Remove what processes that are ending have left in the folders for temporary files."""
    for file in [*unfinished]:
        with contextlib.suppress(OSError):
            os.unlink(file)
    # session.py and assembler.py name the folders.
    names = tuple(f"incc-{process}-" for process in processes)
    for place in temporary_places(os.environ):
        with contextlib.suppress(OSError):
            # Others may make links and folders of such names there.
            for entry in os.scandir(place):
                named = entry.name.startswith(names) and entry.is_dir(follow_symlinks=False)
                if named and entry.stat(follow_symlinks=False).st_uid == os.geteuid():
                    _remove_tree(entry.path)


def _remove_tree(folder: str) -> None:
    # Do not use shutil: the signal may have interrupted its import.
    for _ in range(_PATIENCE):
        for place, folders, files in os.walk(folder, topdown=False):
            for name in (*files, *folders):
                path = os.path.join(place, name)
                with contextlib.suppress(OSError):
                    (os.rmdir if name in folders and not os.path.islink(path) else os.unlink)(path)
        try:
            os.rmdir(folder)
        except FileNotFoundError:
            return
        except OSError:
            time.sleep(0.02)
        else:
            return


# --- processes that die with this one --------------------------------------------------------------------------------

_PR_SET_PDEATHSIG = 1


def fork() -> int:
    """Fork this process. The child dies with it, and signals end the child in order, too."""
    # Imported here, since the child might be killed before it is tied.
    import ctypes

    parent = os.getpid()
    process = os.fork()
    if process == 0:
        unfinished.clear()  # they are the parent's
        end_in_order()
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() != parent:
            os._exit(1)
    return process


TIED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "tied")

"""The program that ties others to their parent."""


def tied(path: str, words: Sequence[str], number: int = signal.SIGKILL) -> tuple[str, list[str]]:
    """Return the path and words to start a program with, such that it gets a signal when this process ends."""
    if not os.access(TIED, os.X_OK) or not os.access(path, os.X_OK):  # not Linux; or the error shall be that of `path`
        return path, [*words]
    return TIED, ["tied", str(os.getpid()), str(int(number)), path, *words]
