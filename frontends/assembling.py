"""Processes of assemblers, with limits, and kept from other files than their input.

The commands are those of GNU as, clang and LLVM's assembler from llvmlite. Each instruction set writes their input.
"""

from __future__ import annotations

import errno
import os
import re
import resource
import select
import shutil
import signal
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress

import msgspec

from incc.frontends.isa import DecodeError
from incc.support.confined import NotConfinedError, confined
from incc.support.signals import temporary_places, tied


class AssemblerError(DecodeError):
    """A failure of the assembler: it is missing, crashed, or failed without naming a line."""


class TextError(AssemblerError):
    """A text that no assembler should be given: another one is not tried."""


class LimitError(TextError):
    """A text that takes the assembler too much time, memory or disk space. Another assembler would need as much."""


# The limits for a file of any size; less is allowed for smaller files. 100 MB of ordinary assembly take 30 s, but
# `.fill 100000000000` fills any disk, `.include "/dev/zero"` and `.rept 1000000000` never end, nor does a pipe that is
# included.
LIMIT_SECONDS = 300
LIMIT_BYTES = 1 << 30

_WRITING = r'(?i)\.inc(?:lude|bin)|\.(?:macro|irpc?|rept?|mri|altmacro)\b|^[ \t]*"|[;:][ \t]*"'
"""The text of a directive that reads files, or of the means to write one, without which no other file is read."""

_CANNOT_LOAD = 127
"""The exit status of a program whose shared libraries cannot be read."""


def temporary_folder() -> tempfile.TemporaryDirectory[str]:
    """Create a folder for the files of an assembler. Raises AssemblerError if there is no place for one."""
    prefix = f"incc-{os.getpid()}-"
    failures: list[str] = []
    for parent in temporary_places(os.environ):
        try:
            folder = os.path.abspath(parent)
            return tempfile.TemporaryDirectory(prefix=prefix, dir=folder, ignore_cleanup_errors=True)
        except OSError as error:
            failures.append(f"{parent}: {error.strerror}")
    raise AssemblerError(f"no folder for temporary files; set TMPDIR to one ({', '.join(failures)})")


def disk_full(folder: str) -> LimitError:
    return LimitError(f"no space left in the temporary folder {os.path.dirname(folder)}")


class AssemblerResult(msgspec.Struct, frozen=True):
    status: int
    """The exit status, or the negative number of a signal."""
    messages: str
    data: bytes
    """The object."""


_MOST_DESCRIPTORS = 1024
"""More files than a process that cannot list its own has open."""


def _descriptors() -> Iterable[int]:
    """Return the numbers that open files may have."""
    try:
        return [int(name) for name in os.listdir("/proc/self/fd")]
    except OSError:  # this process is confined itself, or a sandbox has no /proc
        return range(_MOST_DESCRIPTORS)


def _starting(program: str, arguments: list[str], environment: Mapping[str, str], messages: str) -> Callable[[], int]:
    """Return a function that starts an assembler with no open files but that for its messages. It raises OSError."""
    actions: list[tuple[int, ...] | tuple[int, int, str, int, int]] = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
        (os.POSIX_SPAWN_OPEN, 2, messages, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600),
    ]
    # A text could name what this process has inherited, such as the pipe of make, as /dev/fd/3.
    for number in _descriptors():
        with suppress(OSError):
            if number > 2 and os.get_inheritable(number):
                actions.append((os.POSIX_SPAWN_CLOSE, number))
    # Python ignores SIGXFSZ, and processes that it starts inherit that.
    reset = [signal.SIGXFSZ]
    program, arguments = tied(shutil.which(program) or program, arguments)
    return lambda: os.posix_spawnp(program, arguments, environment, file_actions=actions, setsigdef=reset)


def _finish(process: int, size: int, meanwhile: Callable[[], object] | None) -> int:
    """Wait for an assembler, and return its status as `_wait` does."""
    _limit(process, size)
    status = None
    try:
        if meanwhile is not None:
            meanwhile()
        status = _wait(process, _patience(size))
    finally:
        if status is None:  # an exception is on its way, and must not wait for the assembler
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)
    return status


READS_FILES = "a macro of the text reads another file, which needs --trust-includes"


def _check_inputs(dependencies: str, source: str) -> None:
    """Raise TextError if the assembler has read other files than the source, as a macro can make it."""
    with open(dependencies, encoding="utf-8", errors="replace") as file:
        words = file.read().replace("\\\n", " ").partition(": ")[2].split()
    if any(word != source for word in words):
        raise TextError(READS_FILES)


def run(
    command: Sequence[str],
    source: str,
    folder: str,
    meanwhile: Callable[[], object] | None = None,
    confine: bool = False,
    dependencies: str = "",
) -> AssemblerResult:
    """Run one assembler over a text.

    Args:
        command: The assembler, with its options but those for input and output.
        source: The text.
        folder: A folder for its files, where the text is `in.s`.
        meanwhile: Called while the assembler runs.
        confine: Keep the assembler from other files than the text and the system's software.
        dependencies: The option before the name of a file for the files that it reads; with it, only the text may be
            one.

    Raises:
        OSError: It cannot be started.
        TextError: It takes too much time or memory, or reads other files, or cannot be kept from them.
    """
    paths = [os.path.join(folder, name) for name in ("in.s", "out.o", "messages", "read")]
    with open(paths[0], "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write(source)
    for path in (paths[1], paths[3]):
        if os.path.exists(path):
            os.unlink(path)
    options = [dependencies, paths[3]] if dependencies else []
    arguments = [*command, *options, "-o", paths[1], paths[0]]
    # The messages are parsed, so they must be in English. With the other variable LLVM writes to a file.
    environment = {**os.environ, "LC_ALL": "C"}
    environment.pop("AS_SECURE_LOG_FILE", None)

    start = _starting(command[0], arguments, environment, paths[2])
    if not confine:
        status = _finish(start(), len(source), meanwhile)
    else:
        try:
            with confined(start, command[0], environment, folder) as process:
                status = _finish(process, len(source), meanwhile)
            if status == _CANNOT_LOAD:
                raise NotConfinedError(errno.EACCES, "its libraries are in an unusual place")
        except (NotConfinedError, PermissionError) as error:
            if re.search(_WRITING, source, re.MULTILINE):
                why = f"this system cannot confine the assembler's access to files ({error.strerror})"
                raise TextError(f"{why}, and the text may name some; --trust-includes assembles it") from None
            status = _finish(start(), len(source), meanwhile)
    if -status in _LIMITS:
        most = _LIMITS[-status](len(source))
        raise LimitError(f"the assembler {command[0]!r} was stopped: more than {most}")
    if dependencies and os.path.exists(paths[3]):
        _check_inputs(paths[3], paths[0])
    with open(paths[2], encoding="utf-8", errors="replace") as file:
        messages = file.read()
    data = b""
    if status == 0 and os.path.exists(paths[1]):
        with open(paths[1], "rb") as output:
            data = output.read()
    return AssemblerResult(status, messages, data)


_LIMITS: dict[int, Callable[[int], str]] = {
    signal.SIGALRM: lambda size: f"{_patience(size)} s",
    signal.SIGXCPU: lambda size: f"{processor_seconds(size)} s of the processor",
    signal.SIGXFSZ: lambda size: f"{_bytes(size) >> 20} MiB of output",
}
"""The limit that an assembler exceeded, by the signal that ended it and the size of the text."""


def processor_seconds(size: int) -> int:
    """Return the processor time that an assembler may take for a text of `size` characters."""
    return min(LIMIT_SECONDS, 5 + size // 500_000)


def _patience(size: int) -> int:
    """Return the seconds that an assembler may take by the clock. Other processes may use the processor, too."""
    return min(LIMIT_SECONDS, 12 * processor_seconds(size))


def _bytes(size: int) -> int:
    """Return the number of bytes that an assembler may write. All of them are read."""
    return min(LIMIT_BYTES, (1 << 28) + 16 * size)


def _limit(process: int, size: int) -> None:
    """Limit a process's output and time for a text of this size. The limits outlive this process."""
    try:
        resource.prlimit(process, resource.RLIMIT_FSIZE, (_bytes(size), _bytes(size)))
        seconds = processor_seconds(size)
        resource.prlimit(process, resource.RLIMIT_CPU, (seconds, seconds + 1))
        data = (1 << 30) + 64 * size
        resource.prlimit(process, resource.RLIMIT_DATA, (data, data))
        resource.prlimit(process, resource.RLIMIT_CORE, (0, 0))
    except (OSError, ValueError):  # it has ended, or has stricter limits already
        pass


def _wait(process: int, seconds: int) -> int:
    """Wait for a process at most some seconds, and return its exit status or the negative number of a signal.

    A process that takes too long is killed; the signal is then SIGALRM.
    """
    try:
        descriptor = os.pidfd_open(process)
    except OSError:  # an old kernel; only the processor time is limited
        return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    try:
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        if not poll.poll(seconds * 1000):
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)
            return -signal.SIGALRM
    finally:
        os.close(descriptor)
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
