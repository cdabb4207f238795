"""The command `incc-mca`: analyse assembly, its marked regions or its innermost loops, with llvm-mca's options."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from incc.driver.options import AnalysisOptions, UsageError, check_targets

if TYPE_CHECKING:
    from incc.driver.pipeline import Settings
    from incc.driver.report.places import Place

HELP = """\
usage: incc-mca [options] [FILE]

Analyse the assembly in FILE (standard input for - or none): its marked regions (markers of OSACA, llvm-mca or
IACA), or without any the whole file as one region. Options may be written with one dash or two.

what to analyse
  -mcpu=NAME                     the core, see `incc-model list`; default: the host
  --model-path=FOLDER|FILE       look for models there first; may be given several times
  --auto                         innermost loops instead of marked regions
  --function=GLOB                only functions of this name (symbol, or C++ name with or without
                                 parameters); may be given several times

what to show
  -summary-view, -instruction-info, -resource-pressure, -dependency-view
                                 on unless switched off with =false
  -wait-view                     who waits for whom, in the simulation
  --detail=LINE                  the same for the instruction in that line, with each partner and port; FILE:LINE may
                                 be a line of the source; may be given several times
  -timeline                      a timeline of the first iterations
  -timeline-max-iterations=N     how many (10)
  -timeline-max-cycles=N         cut after N cycles (80)
  -all-views[=false]             every view, or only those named
  -iterations=N                  iterations that the summary counts (100)
  --perfect-front-end, --unlimited-ports, --no-dependencies[=register|memory]
                                 also simulate the core so changed; several: each alone and all together
  --what-if=CHANGE               the same for a change like 'port 5 += 1', 'rob = 512' or 'latency VADDPD = 3';
                                 may be given several times
  --loop=N                       cycles of exactly N iterations from a cold start; 1: the latency of one pass
  --alignment=N|all              simulate with the first byte at N within 64 bytes, or with all 64
  --simulate=false               bounds alone
  --fixed-ports                  equal shares to all ports that a µop may use, instead of the best distribution
  --json                         the report as JSON (docs/report.md)
  --graph=FILE.dot               write the dependency graphs, in Graphviz's language
  --dg=FILE.dot                  the same
  --cfg=FILE.dot                 write the control-flow graphs of the functions that are analysed
  --branch                       a table of the sides of the first branch inside each innermost loop
  --paths                        a table of the ways through each innermost loop with branches inside, up to 16
  --branch-probability=P         how likely a branch is not taken, 0 to 1, to weight them (default: sides alike)
  --html=FILE.html               write the timeline as a page for the browser
  -o FILE                        write the report to FILE

  -h, --help                     this text
  --version

exit status: 0; 1 if the input could not be read, or not all of it; 2 for a mistake on the command line
"""

_OWN_SWITCHES = ("auto", "json")


class Options:
    """The parsed command line: what to analyse and show, and what only this command has."""

    __slots__ = ("analysis", "auto", "file", "json", "output")

    def __init__(self, arguments: list[str]) -> None:
        self.analysis = AnalysisOptions()
        self.auto = False
        self.json = False
        self.output = ""
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
            if name in _OWN_SWITCHES:
                if value not in (None, "true", "false", "1", "0"):
                    raise UsageError(f"-{name} is true or false, not {value!r}")
                setattr(self, name, value in (None, "true", "1"))
                continue
            if name != "o" and not self.analysis.knows(name):
                raise UsageError(f"unknown option {argument}")
            if value is None and (name == "o" or self.analysis.takes_value(name)):
                value = next(rest, "")
            if name != "o":
                self.analysis.take(name, value)
            elif value:
                self.output = value
            else:
                raise UsageError("-o needs a value")
        files = self.analysis.files()
        targets = [(f"-{name}", file) for name, file in [("o", self.output), *files.items()] if file not in ("", "-")]
        if targets:
            check_targets(targets, [self.file] if self.file not in ("", "-") else [])

    def settings(self) -> Settings:
        """What the analysis is told. Raises UsageError."""
        switches, numbers = self.analysis.switches, self.analysis.numbers
        timeline = switches["timeline"] or switches["all-views"] or bool(self.analysis.texts["html"])
        return self.analysis.settings(
            "loops" if self.auto else "marked", numbers["timeline-max-iterations"] if timeline else 0
        )


def main(arguments: list[str] | None = None) -> int:
    """Run the command; returns its exit status."""
    arguments = sys.argv[1:] if arguments is None else arguments
    if any(a in ("-h", "-help", "--help") for a in arguments):
        return _print(HELP)
    if any(a in ("-version", "--version") for a in arguments):
        from incc import __version__

        return _print(f"incc-mca {__version__}\n")
    try:
        options = Options(arguments)
        settings = options.settings()
        places = options.analysis.places()
    except UsageError as error:
        sys.stderr.write(f"incc-mca: error: {error}; see incc-mca --help\n")
        return 2
    return _run(options, settings, places)


def _run(options: Options, settings: Settings, places: list[Place]) -> int:
    from incc.driver.pipeline import AnalysisError, analyze_units
    from incc.frontends.unit import Unit

    name = options.file if options.file not in ("", "-") else "<stdin>"
    try:
        text = _read(options.file)
    except OSError as error:
        sys.stderr.write(f"incc-mca: error: {name}: {error.strerror}\n")
        return 1
    try:
        report = analyze_units([Unit(text, name)], settings)
        _write_outputs(report, options, places)
    except AnalysisError as error:
        sys.stderr.write(f"incc-mca: error: {error}\n")
        return 1
    except BrokenPipeError:
        # The reader has gone (| head): not an error, and nothing more can be said on stdout.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 0
    except OSError as error:
        sys.stderr.write(f"incc-mca: error: {error.filename or 'output'}: {error.strerror}\n")
        return 1
    return _complain(report, name, settings, places)


def _read(file: str) -> str:
    # surrogateescape: comments and strings may hold any bytes, and bytes that are not UTF-8 are no reason to stop.
    if file in ("", "-"):
        return sys.stdin.buffer.read().decode("utf-8", "surrogateescape")
    with open(file, "rb") as f:
        return f.read().decode("utf-8", "surrogateescape")


def _write_outputs(report: Any, options: Options, places: list[Place]) -> None:
    files = options.analysis.files()
    if files:
        from incc.driver.outputs import render as render_file
        from incc.driver.pipeline import AnalysisError

        for name, path in files.items():
            try:
                page = render_file(name, report)
            except AnalysisError as error:
                raise AnalysisError(f"{path}: not written: {error}") from error
            with open(path, "w", encoding="utf-8", errors="surrogateescape") as f:
                f.write(page)
    target = options.output
    if options.json:
        from incc.driver.views.json import render as render_json

        text = render_json(report)
    else:
        from incc.driver.views.text import render, terminal

        width, colour = terminal(sys.stdout) if target in ("", "-") else (120, False)
        text = render(report, width, colour, options.analysis.views(), places)
    if target in ("", "-"):
        _print(text)
    else:
        with open(target, "w", encoding="utf-8", errors="surrogateescape") as f:
            f.write(text)


def _print(text: str) -> int:
    sys.stdout.buffer.write(text.encode("utf-8", "surrogateescape"))
    sys.stdout.buffer.flush()
    return 0


def _complain(report: Any, name: str, settings: Settings, places: list[Place]) -> int:
    """Say on stderr what was not analysed, and which lines of --detail and changes found nothing; returns the exit
    status."""
    from incc.driver.pipeline import untried
    from incc.driver.report.build import problems

    found = problems(report)
    found += [f"{name}: error: {message}" for message in untried(report, settings)]
    if places:
        from incc.driver.report.places import missing

        for place in missing(report, places):
            where = str(place) if place.file else f"{name}:{place.line}"
            found.append(f"{where}: error: -detail: no analysed instruction in this line")
    for line in found:
        sys.stderr.write(f"{line}\n")
    return 1 if found else 0


def command() -> None:
    """The installed command: `main` without what only longer runs have use for.

    Collections during the imports and taking the interpreter apart at the end cost 4 to 7 ms of a run on one kernel.
    """
    import gc

    gc.set_threshold(100_000)
    status = main()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:  # a reader that has gone; `main` has said what there was to say
        pass
    os._exit(status)


if __name__ == "__main__":
    command()
