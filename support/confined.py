"""Programs and processes that can open no files but their own, through Linux's Landlock (since Linux 5.13).

They use no network either (TCP since Linux 6.7), and reach no process outside by a signal or an abstract socket (since
Linux 6.12).

Landlock restricts a thread and what it starts. Therefore a short-lived thread restricts itself and starts the program:
this process stays as it is, and neither privileges nor a helper program are needed. The loader of the program still
has to read shared libraries, so the folders of the system's software stay readable.

Source: Linux, Documentation/userspace-api/landlock.rst, and include/uapi/linux/landlock.h.
"""

from __future__ import annotations

import errno
import os
import shutil
import struct
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TypeVar

from incc.support.signals import TIED

R = TypeVar("R")

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION = 1
"""The flag of `_CREATE_RULESET` that asks for the version of the interface."""
_BENEATH = 1
"""A rule for a file, or a folder with everything in it."""
_WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 1, 1 << 2, 1 << 3
_ALL = ((1 << 13) - 1 - 1, (1 << 14) - 1 - 1, (1 << 15) - 1 - 1)
"""The rights that versions 1, 2 and 3 have, without that to execute a file: it also has to be read."""
_TCP, _SCOPES = 3, 3
"""The rights to bind and connect TCP sockets, of version 4, and the limits for abstract sockets and signals, of 6."""
_NO_NEW_PRIVILEGES = 38
"""The option of prctl(2) without which unprivileged threads cannot restrict themselves."""

_SOFTWARE = ("/usr", "/lib", "/lib32", "/lib64", "/libx32", "/bin", "/nix/store", "/gnu/store")
_LOADER = ("/etc/ld.so.cache", "/etc/ld.so.preload", "/etc/alternatives")
_LIBRARIES = ("LD_LIBRARY_PATH", "LD_PRELOAD")


class NotConfinedError(OSError):
    """This system cannot keep a program from files."""


@contextmanager
def confined(work: Callable[[], R], program: str, environment: Mapping[str, str], folder: str) -> Iterator[R]:
    """Do some work, which starts a program, in a thread that can use only the files in `folder` and read software.

    The thread lives as long as the context, since the program may end with it (`signals.tied`).

    Args:
        work: Starts the program.
        program: The name of the program.
        environment: The environment of the program.
        folder: The folder of its files.

    Raises:
        NotConfinedError: The kernel has no Landlock, or it is switched off.
        OSError: The program cannot be started.
    """
    results: list[R] = []
    errors: list[BaseException] = []
    started, finished = threading.Event(), threading.Event()

    def run() -> None:
        try:
            _restrict(_software(program, environment), folder)
            results.append(work())
        except BaseException as error:  # which is the caller's
            errors.append(error)
        started.set()
        finished.wait()

    thread = threading.Thread(target=run, name="incc-confined", daemon=True)
    try:
        thread.start()
    except RuntimeError:  # the limit of threads
        raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN)) from None
    try:
        started.wait()
        if errors:
            raise errors[0]
        yield results[0]
    finally:
        finished.set()
        thread.join()


def confine_process(program: str, environment: Mapping[str, str], folder: str, readable: Sequence[str] = ()) -> None:
    """Restrict this process for good, and what it starts, as `confined` does. It must have one thread.

    Args:
        program: The name of a program that it starts.
        environment: The environment of the program.
        folder: The folder of its files.
        readable: More files and folders that it may read.

    Raises:
        NotConfinedError: The kernel has no Landlock, or it is switched off.
    """
    _restrict([*_software(program, environment), *readable], folder)


def _software(program: str, environment: Mapping[str, str]) -> list[str]:
    """Return the files and folders that are read when a program starts."""
    path = os.path.realpath(shutil.which(program, path=environment.get("PATH")) or program)
    own = os.path.dirname(path)
    libraries = [os.path.join(os.path.dirname(own), name) for name in ("lib", "lib64")]
    named = [part for name in _LIBRARIES for part in environment.get(name, "").replace(" ", ":").split(":") if part]
    return [*_SOFTWARE, *_LOADER, TIED, path, *libraries, *named]


def _restrict(readable: Sequence[str], folder: str) -> None:
    """Restrict this thread, and the processes that it starts, to these files. Raises NotConfinedError."""
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)

    def call(number: int, *arguments: object) -> int:
        result = int(libc.syscall(ctypes.c_long(number), *arguments))
        if result < 0:
            error = ctypes.get_errno()
            raise NotConfinedError(error, os.strerror(error))
        return result

    version = call(_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(_VERSION))
    handled = _ALL[min(version, len(_ALL)) - 1]
    attributes = struct.pack("=QQQ", handled, _TCP if version >= 4 else 0, _SCOPES if version >= 6 else 0)
    rules = call(_CREATE_RULESET, attributes, ctypes.c_size_t(len(attributes)), ctypes.c_uint32(0))
    try:
        allowed = [(name, _READ_FILE | _READ_DIR) for name in readable]
        for name, rights in (*allowed, (os.devnull, _READ_FILE | _WRITE_FILE), (folder, handled)):
            with suppress(FileNotFoundError, PermissionError, NotADirectoryError):
                place = os.open(name, os.O_PATH | os.O_CLOEXEC)
                try:
                    # Other rights than these do not apply to a file.
                    of_place = rights if os.path.isdir(name) else rights & ~_READ_DIR
                    rule = struct.pack("=Qi", of_place, place)
                    call(_ADD_RULE, ctypes.c_int(rules), ctypes.c_int(_BENEATH), rule, ctypes.c_uint32(0))
                finally:
                    os.close(place)
        if libc.prctl(_NO_NEW_PRIVILEGES, *(ctypes.c_ulong(n) for n in (1, 0, 0, 0))):
            raise NotConfinedError(ctypes.get_errno(), "no_new_privs")
        call(_RESTRICT_SELF, ctypes.c_int(rules), ctypes.c_uint32(0))
    finally:
        os.close(rules)
