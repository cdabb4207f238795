"""The command `incc-mca`: analyse assembly, its marked regions or its innermost loops, with llvm-mca's options."""

from __future__ import annotations

import os
import sys

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
  -timeline                      a timeline of the first iterations
  -timeline-max-iterations=N     how many (10)
  -timeline-max-cycles=N         cut after N cycles (80)
  -all-views[=false]             every view, or only those named
  -iterations=N                  iterations that the summary counts (100)
  --fixed-ports                  equal shares to all ports that a µop may use, instead of the best distribution
  --json                         the report as JSON (docs/report.md)
  --graph=FILE.dot               write the dependency graphs, in Graphviz's language
  --html=FILE.html               write the timeline as a page for the browser
  -o FILE                        write the report to FILE

  -h, --help                     this text
  --version

exit status: 0; 1 if the input could not be read, or not all of it; 2 for a mistake on the command line
"""

_SWITCHES = {
    "auto": False,
    "fixed-ports": False,
    "json": False,
    "summary-view": True,
    "instruction-info": True,
    "resource-pressure": True,
    "dependency-view": True,
    "timeline": False,
    "all-views": False,
}
_NUMBERS = {"iterations": 100, "timeline-max-iterations": 10, "timeline-max-cycles": 80}
_TEXTS = {"mcpu": "", "o": "", "graph": "", "html": ""}
_VIEWS = {
    "summary-view": "summary",
    "instruction-info": "info",
    "resource-pressure": "pressure",
    "timeline": "timeline",
    "dependency-view": "dependencies",
}


class UsageError(Exception):
    """A mistake on the command line; the message says which."""


class Options:
    """The parsed command line: switches, numbers, texts by name, function globs, places of models, the input file."""

    __slots__ = ("file", "functions", "given", "model_path", "numbers", "switches", "texts")

    def __init__(self, arguments: list[str]) -> None:
        self.switches = dict(_SWITCHES)
        self.numbers = dict(_NUMBERS)
        self.texts = dict(_TEXTS)
        self.functions: list[str] = []
        self.model_path: list[str] = []
        self.file = ""
        self.given: set[str] = set()
        rest = iter(arguments)
        for argument in rest:
            if argument == "-" or not argument.startswith("-"):
                if self.file:
                    raise UsageError(f"one input file at a time, not {self.file} and {argument}")
                self.file = argument
                continue
            name, equals, value = argument.lstrip("-").partition("=")
            if name in self.switches:
                self._switch(name, value if equals else "true")
            elif name in self.numbers or name in self.texts or name in ("function", "model-path"):
                if not equals:
                    value = next(rest, "")
                if not value:
                    raise UsageError(f"-{name} needs a value")
                self._set(name, value)
            else:
                raise UsageError(f"unknown option {argument}")

    def _switch(self, name: str, value: str) -> None:
        if value not in ("true", "false", "1", "0"):
            raise UsageError(f"-{name} is true or false, not {value!r}")
        self.switches[name] = value in ("true", "1")
        self.given.add(name)

    def _set(self, name: str, value: str) -> None:
        if name in self.texts:
            self.texts[name] = value
        elif name == "function":
            self.functions.append(value)
        elif name == "model-path":
            self.model_path.append(value)
        elif value.isdecimal() and int(value) > 0:
            self.numbers[name] = int(value)
        else:
            raise UsageError(f"-{name} needs a number above 0, not {value!r}")

    def views(self) -> tuple[str, ...]:
        """The views to print, in the report's order."""
        everything = self.switches["all-views"]
        only_named = "all-views" in self.given and not everything
        chosen = []
        for name, view in _VIEWS.items():
            if name in self.given:
                wanted = self.switches[name]
            else:
                wanted = everything or (self.switches[name] and not only_named)
            if wanted:
                chosen.append(view)
        return tuple(chosen)


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
    except UsageError as error:
        sys.stderr.write(f"incc-mca: error: {error}; see incc-mca --help\n")
        return 2
    return _run(options)


def _run(options: Options) -> int:
    from incc.driver.pipeline import AnalysisError, Settings, Unit, analyze_units

    name = options.file if options.file not in ("", "-") else "<stdin>"
    try:
        text = _read(options.file)
    except OSError as error:
        sys.stderr.write(f"incc-mca: error: {name}: {error.strerror}\n")
        return 1
    timeline = options.switches["timeline"] or options.switches["all-views"] or bool(options.texts["html"])
    settings = Settings(
        mcpu=options.texts["mcpu"],
        functions=tuple(options.functions),
        fixed_ports=options.switches["fixed-ports"],
        regions="loops" if options.switches["auto"] else "marked",
        iterations=options.numbers["iterations"],
        timeline_iterations=options.numbers["timeline-max-iterations"] if timeline else 0,
        timeline_cycles=options.numbers["timeline-max-cycles"],
        model_path=tuple(options.model_path),
    )
    try:
        report = analyze_units([Unit(text, name)], settings)
        _write_outputs(report, options)
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
    return _complain(report, name)


def _read(file: str) -> str:
    # surrogateescape: comments and strings may hold any bytes, and bytes that are not UTF-8 are no reason to stop.
    if file in ("", "-"):
        return sys.stdin.buffer.read().decode("utf-8", "surrogateescape")
    with open(file, "rb") as f:
        return f.read().decode("utf-8", "surrogateescape")


def _write_outputs(report: dict[str, object], options: Options) -> None:
    from incc.driver.pipeline import AnalysisError

    if options.texts["graph"]:
        from incc.driver.views.dot import render as render_graph

        with open(options.texts["graph"], "w", encoding="utf-8") as f:
            f.write(render_graph(report))
    if options.texts["html"]:
        from incc.driver.views.html import render as render_page

        try:
            page = render_page(report)
        except ValueError as error:
            raise AnalysisError(f"{options.texts['html']}: not written: {error}") from error
        with open(options.texts["html"], "w", encoding="utf-8") as f:
            f.write(page)
    target = options.texts["o"]
    if options.switches["json"]:
        from incc.driver.views.json import render as render_json

        text = render_json(report)
    else:
        from incc.driver.views.text import render, terminal

        width, colour = terminal(sys.stdout) if target in ("", "-") else (120, False)
        text = render(report, width, colour, options.views(), options.numbers["iterations"])
    if target in ("", "-"):
        _print(text)
    else:
        with open(target, "w", encoding="utf-8", errors="surrogateescape") as f:
            f.write(text)


def _print(text: str) -> int:
    sys.stdout.buffer.write(text.encode("utf-8", "surrogateescape"))
    sys.stdout.buffer.flush()
    return 0


def _complain(report: dict[str, object], name: str) -> int:
    """Say on stderr what was not analysed; returns the exit status."""
    from incc.driver.report import problems

    found = problems(report)
    for line in found:
        sys.stderr.write(f"{line}\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
