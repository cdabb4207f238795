"""Writing files that other processes read or write at the same time, and reading the inputs of commands."""

from __future__ import annotations

import errno
import os
import select
import sys
from typing import BinaryIO


def no_file_name(name: str) -> OSError:
    """Return the error for a file name with a NUL, for which Python would raise ValueError."""
    return OSError(errno.EINVAL, "its name contains a NUL", name)


def _unread(path: str) -> OSError:
    return OSError(errno.ENXIO, "a pipe without a reader", path)


def write_file(path: str, text: str | bytes, append: bool = False, wait: bool = True) -> None:
    """Write a file or append to it under a lock, so that appended texts of parallel jobs do not mix.

    Args:
        path: The file; - for standard output.
        text: The text; str is written as UTF-8.
        append: Append to the file.
        wait: Wait for a reader if the file is a pipe; a compilation must not wait.

    Raises:
        OSError: The file cannot be written.
    """
    import fcntl

    if path == "-":
        write_output(text)
        return
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
    """Append a text to a log with a single write, without waiting for a reader of a pipe. Raises OSError."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
    descriptor = os.open(path, flags, 0o666)
    try:
        write_all(descriptor, text, 0)
    finally:
        os.close(descriptor)


def replace_file(path: str, text: str | bytes) -> None:
    """Replace a file atomically: other processes read the old or the new contents. Raises OSError."""
    new = f"{path}.{os.getpid()}.new"
    try:
        write_file(new, text)
        os.replace(new, path)
    except OSError:
        if os.path.exists(new):
            os.unlink(new)
        raise


def write_output(text: str | bytes) -> None:
    """Write a text to standard output, behind what is still in its buffer. Raises OSError."""
    if sys.stdout is None:  # closed when we were started
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))
    sys.stdout.flush()
    write_all(1, text)


def write_whole(path: str, text: str) -> None:
    """Replace a file, or the target of a link, atomically; write to a pipe, a device, or - . Raises OSError."""
    if "\0" in path:
        raise no_file_name(path)
    path = os.path.realpath(path) if os.path.islink(path) else path
    if path == "-" or (os.path.exists(path) and not os.path.isfile(path)):
        write_file(path, text)
    else:
        replace_file(path, text)


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
            raise OSError(errno.EFBIG, f"more than {most >> 20} MiB")
    return b"".join(parts)
