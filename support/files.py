"""Writing files that other processes read or write at the same time, and reading the inputs of commands."""

from __future__ import annotations

import contextlib
import errno
import os
import select
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO, TextIO

from incc.support.signals import unfinished


def no_file_name(name: str) -> OSError:
    """Return the error for a file name with a NUL, for which Python would raise ValueError."""
    return OSError(errno.EINVAL, "its name contains a NUL", name)


class OutputError(OSError):
    """An output cannot be written."""

    status = 2
    """The exit status of commands."""


def _unread(path: str) -> OSError:
    return OSError(errno.ENXIO, "a pipe without a reader", path)


def write_file(path: str, text: str | bytes, append: bool = False, wait: bool = True) -> None:
    """Write a file, completely or not at all: an existing one is replaced, or stays as it was after an error.

    Appended texts of parallel jobs do not mix.

    Args:
        path: The file; - for standard output.
        text: The text; str is written as UTF-8.
        append: Append to the file.
        wait: Wait for a reader if the file is a pipe; a compilation must not wait.

    Raises:
        OSError: The file cannot be written.
    """
    if path == "-":
        write_output(text)
        return
    if "\0" in path:
        raise no_file_name(path)
    if not append and _is_replaceable(path):
        replace_file(os.path.realpath(path), text)
        return
    flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | (os.O_APPEND if append else 0)
    try:
        descriptor = os.open(path, flags | (0 if wait else os.O_NONBLOCK), 0o666)
    except OSError as error:
        if error.errno == errno.ENXIO and not wait:
            raise _unread(path) from None
        raise
    try:
        _write_locked(descriptor, text, append, None if wait else PATIENCE)
    except BlockingIOError:
        raise _unread(path) from None
    finally:
        os.close(descriptor)


def _write_locked(descriptor: int, text: str | bytes, append: bool, patience: float | None) -> None:
    """Write to an open file under an exclusive lock. After an error, a regular file has nothing of the text."""
    import fcntl

    fcntl.flock(descriptor, fcntl.LOCK_EX)
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        write_all(descriptor, text, patience)
        return
    before = status.st_size if append else 0
    try:
        os.ftruncate(descriptor, before)
        write_all(descriptor, text, patience)
    except OSError:
        os.ftruncate(descriptor, before)
        raise


def _is_replaceable(path: str) -> bool:
    """Return True if a path can name another file afterwards: it is no pipe, device or open file of this process."""
    place = os.path.realpath(path)
    if path.startswith(("/dev/", "/proc/")) or (os.path.lexists(place) and not os.path.isfile(place)):
        return False
    return os.access(os.path.dirname(place), os.W_OK) and (os.access(place, os.W_OK) or not os.path.lexists(place))


def add_line(path: str, text: str) -> None:
    """Append a text to a log with a single write, without waiting for a reader of a pipe. Raises OSError."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
    descriptor = os.open(path, flags, 0o666)
    try:
        write_all(descriptor, text, 0)
    finally:
        os.close(descriptor)


def replace_file(path: str, text: str | bytes) -> None:
    """Replace a file atomically: other processes read the old or the new contents. Raises OSError."""
    with replacement(path) as file:
        write_all(file.fileno(), text)


@contextmanager
def replacement(path: str) -> Iterator[BinaryIO]:
    """Open a file that replaces another one when it is complete, and disappears after an error. Raises OSError.

    A file that is not regular, such as a pipe, is written directly.
    """
    if "\0" in path:
        raise no_file_name(path)
    if not _is_replaceable(path):
        with open(path, "wb") as file:
            yield file
        return
    path = os.path.realpath(path)
    folder, name = os.path.split(os.fsencode(path))
    # Names have at most 255 bytes.
    new = os.fsdecode(os.path.join(folder, name[:200])) + f".{os.getpid()}.new"
    unfinished.add(new)
    try:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(new)  # of a process that was killed
        with open(new, "xb") as file:
            yield file
        if os.path.exists(path):
            os.chmod(new, stat.S_IMODE(os.stat(path).st_mode))
        os.replace(new, path)
    except OSError as error:
        if error.filename not in (None, new):
            raise
        # No other process knows the new name.
        raise OSError(error.errno, error.strerror, path) from None
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(new)
        unfinished.discard(new)


def write_output(text: str | bytes) -> None:
    """Write a text to standard output, after the contents of its buffer. A closed pipe is no error. Raises OSError."""
    if sys.stdout is None:  # closed when we were started
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))
    with contextlib.suppress(BrokenPipeError):
        sys.stdout.flush()
        write_all(1, text)


PATIENCE = 10
"""Seconds that a compilation waits for the reader of a pipe."""


def write_all(descriptor: int, text: str | bytes, patience: float | None = None) -> None:
    """Write a whole text, even to a non-blocking pipe.

    Args:
        descriptor: The file descriptor.
        text: The text; str is written as UTF-8.
        patience: Seconds to wait for the reader of a non-blocking pipe; None for no limit.

    Raises:
        OSError: The text cannot be written.
        BlockingIOError: The reader of the pipe did not read on.
    """
    # surrogateescape, since names and comments may contain any bytes.
    data = memoryview(text.encode("utf-8", "surrogateescape") if isinstance(text, str) else text)
    while data:
        try:
            data = data[os.write(descriptor, data) :]
        except BlockingIOError:
            poll = select.poll()
            poll.register(descriptor, select.POLLOUT)
            if not poll.poll(None if patience is None else patience * 1000):
                raise


def has_reader(stream: TextIO | None) -> bool:
    """Return False if a stream is a pipe whose reader has ended."""
    try:
        poll = select.poll()
        poll.register(stream.fileno() if stream is not None else -1, 0)
        return not any(events & select.POLLERR for _, events in poll.poll(0))
    except (OSError, ValueError):  # a stream without a file, as in tests and notebooks
        return True


def read_input(file: str) -> str:
    """Return the text of a file, or of standard input for "" or -. Raises OSError."""
    return text_of(read_bytes(file))


def text_of(data: bytes) -> str:
    """Decode a text whose comments and strings may contain bytes that are not UTF-8."""
    return data.decode("utf-8", "surrogateescape")


LARGEST_INPUT = 1 << 28
"""Most bytes of an input; more is not assembly but, for example, /dev/zero."""


def read_bytes(file: str, most: int = LARGEST_INPUT) -> bytes:
    """Return the contents of a file, or of standard input for "" or -. Raises OSError, EFBIG beyond `most` bytes."""
    if file in ("", "-"):
        if sys.stdin is None:  # closed when we were started
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        return read_all(sys.stdin.buffer, most)
    if "\0" in file:
        raise no_file_name(file)
    with open(file, "rb") as f:
        return read_all(f, most)


def read_regular(path: str, most: int) -> bytes:
    """Return the contents of a regular file. Raises OSError for anything else, such as a pipe, without waiting."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    with open(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "not a regular file", path)
        return read_all(file, most)


LARGEST_STREAM = 1 << 29
"""Most bytes of reports from a pipe, which are kept in memory."""


def read_all(stream: BinaryIO, most: int = LARGEST_STREAM) -> bytes:
    """Return the rest of a stream. Raises OSError, EFBIG beyond `most` bytes."""
    # In pieces, since read(most) would allocate as much memory.
    parts = []
    left = most
    while part := stream.read(1 << 20):
        parts.append(part)
        left -= len(part)
        if left < 0:
            raise OSError(errno.EFBIG, f"more than {most / (1 << 20):.3g} MiB")
    return b"".join(parts)


# On these file systems, machines share files but not the memory that a write-ahead log needs.
_NETWORK = ("nfs", "cifs", "smb", "ncp", "afs", "9p", "ceph", "lustre", "gpfs", "beegfs", "glusterfs", "fuse.sshfs")


def on_network(path: str) -> bool:
    """Return True if the file is, or will be, on a network file system."""
    try:
        with open("/proc/self/mounts", encoding="utf-8", errors="surrogateescape") as file:
            mounts = [line.split(" ")[1:3] for line in file]
    except OSError:
        return False
    where = os.path.realpath(path)
    best, kind = "", ""
    for point, type_ in mounts:
        point = point.replace("\\040", " ").rstrip("/")
        if (where + "/").startswith(point + "/") and len(point) >= len(best):
            best, kind = point, type_
    return kind.startswith(_NETWORK)
