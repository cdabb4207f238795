"""What commands say on standard error, and how one ends that was interrupted."""

from __future__ import annotations

import sys


def tell(text: str) -> None:
    """Text as it is on standard error. That nobody can be told changes nothing."""
    if sys.stderr is not None:  # closed when we were started
        try:
            sys.stderr.write(text)
            sys.stderr.flush()
        except OSError:
            pass


def say(command: str, message: str) -> None:
    """A line of a command on standard error. That nobody can be told changes nothing."""
    from incc.driver.views.layout import harmless

    if sys.stderr is not None:  # closed when we were started
        import contextlib

        with contextlib.suppress(OSError):
            print(harmless(f"{command}: {message}", False), file=sys.stderr, flush=True)


def interrupted() -> int:
    """Ends as whoever started us expects of one that was interrupted: by the signal."""
    import os
    import signal

    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.kill(os.getpid(), signal.SIGINT)
    return 128 + signal.SIGINT  # where it is blocked
