"""Messages of commands on standard error, and their start and end."""

from __future__ import annotations

import errno
import gc
import os
import sys
from collections.abc import Callable, Sequence

from incc.driver import UsageError
from incc.support import signals


def tell(text: str) -> None:
    """Write text to standard error. A failed write is ignored: the exit status already reports the problem."""
    if sys.stderr is not None:  # None if it was closed at the start
        try:
            sys.stderr.write(text)
            sys.stderr.flush()
        except OSError:
            _discard(2)  # the rest of the buffer would fail again when Python exits, and change the exit status


def tell_printable(text: str) -> None:
    """Write text to standard error. Control characters from files and names are escaped for the terminal's sake."""
    lines = text.split("\n")
    if not all(line.isprintable() for line in lines):
        from incc.views.layout import harmless

        text = "\n".join([harmless(line.expandtabs(8), False) for line in lines])
    tell(text)


def say(command: str, message: str) -> None:
    """Write a command's message as a line to standard error, with control characters replaced."""
    from incc.views.layout import harmless

    tell(harmless(f"{command}: {message}", False) + "\n")


def fail(command: str, message: str, status: int) -> int:
    """Write an error's lines as messages of a command, and return its exit status."""
    for line in message.split("\n"):
        say(command, f"error: {line}")
    return status


def guarded(
    command: str, run: Callable[[], int], errors: tuple[type[Exception], ...], failed: int, prints: bool = True
) -> int:
    """Run a command whose command line is parsed, and return its exit status.

    Args:
        command: The command's name.
        run: Does the work and returns the exit status.
        errors: The exceptions for inputs that cannot be used.
        failed: The status after these, and if a file cannot be read or written.
        prints: True if the work needs standard output.
    """
    try:
        if prints and sys.stdout is None:  # closed when we were started
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        status = run()
        if sys.stdout is not None:
            sys.stdout.flush()
        return status
    except BrokenPipeError:  # the reader (head, less) has ended
        _leave_output()
        return 0
    except UsageError as error:
        return fail(command, f"{error}; see {command} --help", error.status)
    except errors as error:
        return fail(command, str(error), getattr(error, "status", failed))
    except OSError as error:
        if error.filename is None:
            _leave_output()
        status = getattr(error, "status", failed)
        return fail(command, f"{error.filename or 'the output could not be written'}: {error.strerror}", status)


def _leave_output() -> None:
    """Discard the rest of standard output's buffer when Python exits."""
    if sys.stdout is not None:
        _discard(1)


def _discard(descriptor: int) -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), descriptor)


def offenders(condition: str, names: Sequence[str]) -> str:
    """Return a message on the kernels of these names, which meet a condition."""
    from incc.support.text import counted

    each = list(dict.fromkeys(names))
    listed = ", ".join(each[:5]) + (f" and {len(each) - 5} more" if len(each) > 5 else "")
    return f"{counted(len(names), 'kernel')} for which {condition.strip()}: {listed}"


def collect_seldom() -> None:
    """Make Python search for reference cycles a thousand times less often.

    There are millions of objects in reports and tables of instructions, without reference cycles.
    """
    gc.freeze()
    gc.set_threshold(1_000_000, 50, 100)


def run_command(main: Callable[[], int]) -> int:
    """Run an installed command and return its exit status. A signal ends it in order (`support/signals.py`)."""
    signals.end_in_order()
    collect_seldom()
    try:
        status = main()
    finally:
        # Otherwise Python would search all objects for cycles before it exits. lief prints a list of the objects that
        # are left then, so it needs the search.
        if "lief" not in sys.modules:
            gc.freeze()
    if signals.received:
        signals.end_by(signals.received[-1])
    return status
