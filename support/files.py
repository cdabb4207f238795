"""Writes files that others read, or write to, at the same time; reads what commands are given."""

from __future__ import annotations

import errno
import os
import sys
from typing import BinaryIO


def no_file_name(name: str) -> OSError:
    """What is wrong with a name that has a NUL in it. No file has; Python alone has an error of its own for it."""
    return OSError(errno.EINVAL, "there is a NUL in its name", name)


def _unread(path: str) -> OSError:
    return OSError(errno.ENXIO, "a pipe that nobody reads", path)


def write_file(path: str, text: str | bytes, append: bool = False, wait: bool = True) -> None:
    """Write or add to a file; raises OSError. Additions of builds with many jobs do not mix: the file is locked for
    each. `wait`: for somebody to read, where it is a pipe; a compilation is not held up for that."""
    import fcntl

    if "\0" in path:
        raise no_file_name(path)
    flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | (os.O_APPEND if append else 0)
    try:
        descriptor = os.open(path, flags | (0 if wait else os.O_NONBLOCK), 0o666)
    except OSError as error:
        if error.errno == errno.ENXIO and not wait:
            raise _unread(path) from None
        raise
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        if not append and os.path.isfile(path):
            os.ftruncate(descriptor, 0)
        write_all(descriptor, text, None if wait else PATIENCE)
    except BlockingIOError:
        raise _unread(path) from None
    finally:
        os.close(descriptor)


def add_line(path: str, text: str) -> None:
    """Add to a log, with a single write; raises OSError. A pipe that nobody reads is not waited for."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
    descriptor = os.open(path, flags, 0o666)
    try:
        write_all(descriptor, text, 0)
    finally:
        os.close(descriptor)


def replace_file(path: str, text: str | bytes) -> None:
    """Write a file that others may read at any time: they find the old or the new one, whole. Raises OSError."""
    new = f"{path}.{os.getpid()}.new"
    try:
        write_file(new, text)
        os.replace(new, path)
    except OSError:
        if os.path.exists(new):
            os.unlink(new)
        raise


def write_whole(path: str, text: str) -> None:
    """Write a file of which there is never half: an old one stays until the new one is complete. What is no file, such
    as a pipe or /dev/stdout, is written to; links stay what they are. Raises OSError."""
    if "\0" in path:
        raise no_file_name(path)
    path = os.path.realpath(path) if os.path.islink(path) else path
    if os.path.exists(path) and not os.path.isfile(path):
        write_file(path, text)
    else:
        replace_file(path, text)


PATIENCE = 10
"""Seconds in which somebody has to read on from a pipe that a compilation writes to."""


def write_all(descriptor: int, text: str | bytes, patience: float | None = None) -> None:
    """Write all of it. Raises OSError: BlockingIOError for a pipe that does not block, and that nobody has read on from
    in so many seconds. None: without an end, since others may have made a stream so that we share."""
    # surrogateescape: names and comments may hold any bytes.
    data = memoryview(text.encode("utf-8", "surrogateescape") if isinstance(text, str) else text)
    while data:
        try:
            data = data[os.write(descriptor, data) :]
        except BlockingIOError:
            import select

            poll = select.poll()
            poll.register(descriptor, select.POLLOUT)
            if not poll.poll(None if patience is None else patience * 1000):
                raise


def read_input(file: str) -> str:
    """The text of a file, "" or - for standard input. Raises OSError."""
    return text_of(read_bytes(file))


def text_of(data: bytes) -> str:
    """A text whose comments and strings may hold any bytes: those that are not UTF-8 are no reason to stop."""
    return data.decode("utf-8", "surrogateescape")


LARGEST_INPUT = 1 << 28
"""Bytes of an input, which no assembly that is worth an analysis has; /dev/zero has them, too."""


def read_bytes(file: str, most: int = LARGEST_INPUT) -> bytes:
    """What is in a file, "" or - for standard input. Raises OSError, EFBIG for more than `most` bytes."""
    if file in ("", "-"):
        if sys.stdin is None:  # closed when we were started
            import errno

            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        return read_all(sys.stdin.buffer, most)
    if "\0" in file:
        raise no_file_name(file)
    with open(file, "rb") as f:
        return read_all(f, most)


LARGEST_STREAM = 1 << 29
"""Bytes of reports that come through a pipe, which are kept in memory as a whole."""


def read_all(stream: BinaryIO, most: int = LARGEST_STREAM) -> bytes:
    """What is left in a stream. Raises OSError, EFBIG for more than `most` bytes."""
    # In pieces: a read of so many bytes would begin with as much memory.
    parts = []
    left = most
    while part := stream.read(1 << 20):
        parts.append(part)
        left -= len(part)
        if left < 0:
            import errno

            raise OSError(errno.EFBIG, f"more than {most >> 20} MiB")
    return b"".join(parts)
