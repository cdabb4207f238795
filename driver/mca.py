"""The command `incc-mca`: analyse assembly, its marked regions or its innermost loops, with llvm-mca's options."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from incc.driver.pipeline import Settings, Unit
    from incc.driver.whatif import Change

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
  --detail=LINE                  the same for the instruction in that line, with each partner and port; may be
                                 given several times
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

_SWITCHES = {
    "auto": False,
    "fixed-ports": False,
    "simulate": True,
    "perfect-front-end": False,
    "unlimited-ports": False,
    "branch": False,
    "paths": False,
    "json": False,
    "summary-view": True,
    "instruction-info": True,
    "resource-pressure": True,
    "dependency-view": True,
    "wait-view": False,
    "timeline": False,
    "all-views": False,
}
_NUMBERS = {"iterations": 100, "timeline-max-iterations": 10, "timeline-max-cycles": 80, "loop": 0}
_TEXTS = {"mcpu": "", "o": "", "graph": "", "html": "", "cfg": "", "branch-probability": "", "alignment": ""}
_LISTS = ("function", "model-path", "what-if", "detail")
_ALIASES = {"dg": "graph"}
_VIEWS = {
    "summary-view": "summary",
    "instruction-info": "info",
    "resource-pressure": "pressure",
    "wait-view": "waits",
    "timeline": "timeline",
    "dependency-view": "dependencies",
}


class UsageError(Exception):
    """A mistake on the command line; the message says which."""


class Options:
    """The parsed command line: switches, numbers, texts and lists of texts by name, the input file.

    `no_dependencies`: "", or which dependencies to leave out: "all", "register" or "memory".
    """

    __slots__ = ("file", "given", "lists", "no_dependencies", "numbers", "switches", "texts")

    def __init__(self, arguments: list[str]) -> None:
        self.switches = dict(_SWITCHES)
        self.numbers = dict(_NUMBERS)
        self.texts = dict(_TEXTS)
        self.lists: dict[str, list[str]] = {name: [] for name in _LISTS}
        self.no_dependencies = ""
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
            name = _ALIASES.get(name, name)
            if name in self.switches:
                self._switch(name, value if equals else "true")
            elif name == "no-dependencies":
                if value not in ("", "all", "register", "memory"):
                    raise UsageError(f"-{name} takes register or memory, not {value!r}")
                self.no_dependencies = value or "all"
            elif name in self.numbers or name in self.texts or name in self.lists:
                if not equals:
                    value = next(rest, "")
                if not value:
                    raise UsageError(f"-{name} needs a value")
                self._set(name, value)
            else:
                raise UsageError(f"unknown option {argument}")

        if self.switches["json"] and (self.switches["branch"] or self.switches["paths"]):
            raise UsageError("-branch and -paths print tables, which are not part of the report as JSON")

    def first_side(self) -> float | None:
        """The probability of `-branch-probability`, None if it is not given. Raises UsageError."""
        text = self.texts["branch-probability"]
        try:
            value = float(text) if text else None
        except ValueError:
            value = -1.0
        if value is not None and not 0 <= value <= 1:
            raise UsageError(f"-branch-probability is a number from 0 to 1, not {text!r}")
        return value

    def _switch(self, name: str, value: str) -> None:
        if value not in ("true", "false", "1", "0"):
            raise UsageError(f"-{name} is true or false, not {value!r}")
        self.switches[name] = value in ("true", "1")
        self.given.add(name)

    def _set(self, name: str, value: str) -> None:
        if name == "alignment" and not (value == "all" or (value.isdecimal() and int(value) < 64)):
            raise UsageError(f"-{name} is a number below 64, or all, not {value!r}")
        if name == "detail" and not (value.isdecimal() and int(value) > 0):
            raise UsageError(f"-{name} takes the number of a line, not {value!r}")
        if name in self.texts:
            self.texts[name] = value
        elif name in self.lists:
            self.lists[name].append(value)
        elif value.isdecimal() and int(value) > 0:
            self.numbers[name] = int(value)
        else:
            raise UsageError(f"-{name} needs a number above 0, not {value!r}")

    def changes(self) -> tuple[Change, ...]:
        """What to change of the core. Raises UsageError for what is not in the language of --what-if."""
        named = {"perfect-front-end": "front-end", "unlimited-ports": "unlimited-ports"}
        chosen = [change for option, change in named.items() if self.switches[option]]
        if self.no_dependencies:
            chosen.append("dependencies" if self.no_dependencies == "all" else f"{self.no_dependencies}-dependencies")
        if not chosen and not self.lists["what-if"]:
            return ()
        from incc.driver.whatif import NAMED

        changes = [NAMED[name] for name in chosen]
        if self.lists["what-if"]:
            from incc.driver.changes import parse

            try:
                changes += [parse(text) for text in self.lists["what-if"]]
            except ValueError as error:
                raise UsageError(str(error)) from error
        return tuple(changes)

    def alignment(self) -> int:
        """As Settings.alignment."""
        text = self.texts["alignment"]
        return -2 if text == "all" else int(text or -1)

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
        changes = options.changes()
        options.first_side()
    except UsageError as error:
        sys.stderr.write(f"incc-mca: error: {error}; see incc-mca --help\n")
        return 2
    return _run(options, changes)


def _run(options: Options, changes: tuple[Change, ...]) -> int:
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
        functions=tuple(options.lists["function"]),
        fixed_ports=options.switches["fixed-ports"],
        regions="loops" if options.switches["auto"] else "marked",
        iterations=options.numbers["iterations"],
        timeline_iterations=options.numbers["timeline-max-iterations"] if timeline else 0,
        timeline_cycles=options.numbers["timeline-max-cycles"],
        model_path=tuple(options.lists["model-path"]),
        simulate=options.switches["simulate"],
        what_if=changes,
        waits=options.switches["wait-view"] or options.switches["all-views"] or bool(options.lists["detail"]),
        cold_iterations=options.numbers["loop"],
        alignment=options.alignment(),
    )
    try:
        unit = Unit(text, name)
        report = analyze_units([unit], settings)
        tables, refused = _branches_inside(unit, settings, options)
        _write_outputs(report, options, tables)
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
    return _complain(report, name, refused) | _complain_of_details(report, name, options)


def _read(file: str) -> str:
    # surrogateescape: comments and strings may hold any bytes, and bytes that are not UTF-8 are no reason to stop.
    if file in ("", "-"):
        return sys.stdin.buffer.read().decode("utf-8", "surrogateescape")
    with open(file, "rb") as f:
        return f.read().decode("utf-8", "surrogateescape")


def _branches_inside(unit: Unit, settings: Settings, options: Options) -> tuple[str, list[str]]:
    """The tables of `-branch` and `-paths`, and what was refused on these ways; writes the file of `-cfg`."""
    from incc.driver.pipeline import find_regions, read_assembly

    if options.texts["cfg"]:
        from incc.driver.views.flow import render as render_flow

        parsed = read_assembly(unit)
        page = render_flow(parsed, find_regions(parsed, settings)[0])
        with open(options.texts["cfg"], "w", encoding="utf-8", errors="surrogateescape") as f:
            f.write(page)
    tables = ""
    refused: dict[str, None] = {}
    for name in ("branch", "paths"):
        if options.switches[name]:
            from incc.driver.paths import analyze, render

            loops, problems = analyze(unit, settings, name == "branch", options.first_side())
            tables += render(loops, unit.assembly_file, name == "branch")
            refused |= dict.fromkeys(problems)
    return tables, list(refused)


def _write_outputs(report: dict[str, object], options: Options, tables: str) -> None:
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

        details = [int(line) for line in options.lists["detail"]]
        width, colour = terminal(sys.stdout) if target in ("", "-") else (120, False)
        text = render(report, width, colour, options.views(), options.numbers["iterations"], details) + tables
    if target in ("", "-"):
        _print(text)
    else:
        with open(target, "w", encoding="utf-8", errors="surrogateescape") as f:
            f.write(text)


def _print(text: str) -> int:
    sys.stdout.buffer.write(text.encode("utf-8", "surrogateescape"))
    sys.stdout.buffer.flush()
    return 0


def _complain(report: dict[str, object], name: str, refused: list[str]) -> int:
    """Say on stderr what was not analysed, `refused` on other ways through a loop; returns the exit status."""
    from incc.driver.report import problems

    found = list(dict.fromkeys([*problems(report), *refused]))
    for line in found:
        sys.stderr.write(f"{line}\n")
    return 1 if found else 0


def _complain_of_details(report: dict[str, Any], name: str, options: Options) -> int:
    """Say on stderr which lines of --detail have no analysed instruction; returns the exit status."""
    kernels = [kernel for unit in report["units"] for kernel in unit["kernels"]]
    lines = {instruction["line"] for kernel in kernels for instruction in kernel["instructions"]}
    missing = [line for line in options.lists["detail"] if int(line) not in lines]
    for line in missing:
        sys.stderr.write(f"{name}:{line}: error: -detail: no analysed instruction in this line\n")
    return 1 if missing else 0


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
