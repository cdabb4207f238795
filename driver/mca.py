"""The command `incc-mca`: analyse assembly, its marked regions or its innermost loops, with llvm-mca's options."""

from __future__ import annotations

import sys

from incc.driver import UsageError
from incc.driver.options import MCA, Given, check_targets, find

TYPE_CHECKING = False
if TYPE_CHECKING:
    from incc.driver.deliver import Request
    from incc.driver.pipeline import Settings


class Options:
    """The parsed command line: `given`, the options, and the `file` to read, "" or - for standard input.

    Raises UsageError.
    """

    __slots__ = ("file", "given")

    def __init__(self, arguments: list[str]) -> None:
        self.given = Given(MCA)
        self.file = ""
        rest = iter(arguments)
        for argument in rest:
            if argument == "-" or not argument.startswith("-"):
                if self.file:
                    raise UsageError(f"one input file at a time, not {self.file} and {argument}")
                self.file = argument
                continue
            name, equals, text = argument.lstrip("-").partition("=")
            value: str | None = text if equals else None
            if value is None and find(MCA, f"-{name}").needs_value:
                value = next(rest, "")
            self.given.take(f"-{name}", value)
        files = {"o": self.given["o"], **self.given.files()}
        targets = [(f"-{name}", file) for name, file in files.items() if file not in ("", "-")]
        if targets:
            check_targets(targets, [self.file] if self.file not in ("", "-") else [])

    def request(self) -> Request:
        """How the report is to be delivered."""
        output = self.given["o"]
        return self.given.request("json" if self.given["json"] else "text", output if output != "-" else "")


def main(arguments: list[str] | None = None) -> int:
    """Run the command; returns its exit status."""
    arguments = sys.argv[1:] if arguments is None else arguments
    try:
        wanted = _wanted_help(arguments)
        if wanted:
            from incc.driver.help import print_help

            return print_help(MCA, wanted)
        if any(a in ("-version", "--version") for a in arguments):
            from incc import __version__
            from incc.driver.deliver import write_stream

            try:
                write_stream(sys.stdout, lambda width, colour: f"incc-mca {__version__}\n")
            except OSError:
                return 1
            return 0
        options = Options(arguments)
        settings = options.given.settings()
    except UsageError as error:
        sys.stderr.write(f"incc-mca: error: {error}; see incc-mca --help\n")
        return error.status
    return _run(options, settings)


def _wanted_help(arguments: list[str]) -> str:
    """Which help is asked for, whatever else is on the command line; "" for none."""
    for argument in arguments:
        name, equals, value = argument.partition("=")
        if name in ("-h", "-help", "--help"):
            given = Given(MCA)
            given.take("-help", value if equals else None)
            return str(given["help"])
    return ""


def _run(options: Options, settings: Settings) -> int:
    from incc.driver.deliver import deliver, unmet
    from incc.driver.pipeline import AnalysisError, analyze_units, model_notes
    from incc.driver.report.build import problems
    from incc.frontends.unit import Unit

    name = options.file if options.file not in ("", "-") else "<stdin>"
    try:
        text = _read(options.file)
    except OSError as error:
        sys.stderr.write(f"incc-mca: error: {name}: {error.strerror}\n")
        return 1
    try:
        report = analyze_units([Unit(text, name)], settings)
    except AnalysisError as error:
        sys.stderr.write(f"incc-mca: error: {error}\n")
        return 1
    for note in model_notes(report):
        sys.stderr.write(f"incc-mca: note: {note}\n")
    request = options.request()
    undelivered = deliver(report, request, sys.stdout)
    lines = [f"incc-mca: error: {message}" for message in (*undelivered.failures, *undelivered.empty)]
    lines += problems(report)
    lines += [f"{m.where}: error: {m.text}" for m in unmet(report, settings, request, "-")]
    for line in lines:
        sys.stderr.write(f"{line}\n")
    return 1 if lines else 0


def _read(file: str) -> str:
    # surrogateescape: comments and strings may hold any bytes, and bytes that are not UTF-8 are no reason to stop.
    if file in ("", "-"):
        if sys.stdin is None:  # closed when we were started
            import errno
            import os

            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        return sys.stdin.buffer.read().decode("utf-8", "surrogateescape")
    with open(file, "rb") as f:
        return f.read().decode("utf-8", "surrogateescape")


def command() -> None:
    """The installed command: `main` without what only longer runs have use for.

    Collections during the imports and taking the interpreter apart at the end cost 4 to 7 ms of a run on one kernel.
    """
    import gc
    import os

    gc.set_threshold(100_000)
    status = main()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (AttributeError, OSError):  # closed, or a reader that has gone; `main` has said what there was to say
        pass
    os._exit(status)


if __name__ == "__main__":
    command()
