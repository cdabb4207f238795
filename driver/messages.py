"""What commands say on standard error, and how one ends that was interrupted."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def tell(text: str) -> None:
    """Text as it is on standard error. That nobody can be told changes nothing."""
    if sys.stderr is not None:  # closed when we were started
        try:
            sys.stderr.write(text)
            sys.stderr.flush()
        except OSError:
            pass


def tell_printable(text: str) -> None:
    """Write text to standard error. Control characters from files and names are escaped for the terminal's sake."""
    lines = text.split("\n")
    if not all(line.isprintable() for line in lines):
        from incc.driver.views.layout import harmless

        text = "\n".join([harmless(line.expandtabs(8), False) for line in lines])
    tell(text)


def say(command: str, message: str) -> None:
    """A line of a command on standard error. That nobody can be told changes nothing."""
    from incc.driver.views.layout import harmless

    if sys.stderr is not None:  # closed when we were started
        import contextlib

        with contextlib.suppress(OSError):
            print(harmless(f"{command}: {message}", False), file=sys.stderr, flush=True)


def interrupted(number: int = 2) -> int:
    """Ends as whoever started us expects of one that was interrupted: by the signal, SIGINT if it is not said."""
    import os
    import signal

    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
    return 128 + number  # where it is blocked


def interruptible(main: Callable[[], int]) -> int:
    """The exit status of a command. A signal that ends it lets it take away first what it has put in the way."""
    # `signal` makes enumerations of its numbers, which takes longer than all else here.
    signals = __import__("_signal")

    got: list[int] = []

    def end(number: int, frame: object) -> None:
        got.append(number)
        raise KeyboardInterrupt

    for number in (signals.SIGINT, signals.SIGTERM, signals.SIGHUP):
        if signals.getsignal(number) != signals.SIG_IGN:  # as by nohup
            signals.signal(number, end)
    try:
        return main()
    except KeyboardInterrupt:
        return interrupted(got[-1] if got else 2)
