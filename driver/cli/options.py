"""The options of `incc` and `incc-mca`, in one table.

The table is the source of the commands' help, manual pages and completion (`usage`, `manual`, `completion`), of the
parsing of options, and of the settings of an analysis. To add an option of the analysis, add an entry here and the
field of the part of `Settings` (driver/settings.py) that the entry names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from incc.driver import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from incc.core.whatif import Change
    from incc.driver.deliver import Request
    from incc.driver.settings import Settings
    from incc.frontends.objects.spans import Addresses
    from incc.report.source.places import Choice, Place

MCA, WRAPPER = "incc-mca", "incc"
BOTH = (MCA, WRAPPER)

ENVIRONMENT = (("INCC_MODEL_PATH", "folders and files of models separated by colons, after those of the option"),)
"""Environment variables of every command, with their meanings for help and manual pages."""

PREFIXES = {MCA: "-", WRAPPER: "--analyze-"}
"""The prefix of option names on a command's line. incc-mca also accepts a second dash."""

FEW = 4
"""Largest number of kernels for which a report shows all views, unless the user names views."""

PAGE_ITERATIONS = 10
"""Iterations of a timeline on an HTML page, which can be scrolled."""


class Option(msgspec.Struct, frozen=True):
    """An option of `incc`, of `incc-mca` or of both."""

    name: str
    """The name after the command's prefix, or with its dashes if it has no such prefix."""
    kind: str
    """One of KINDS: how its value is parsed."""
    value: str
    """The text that follows the name in the help; for choices and modes also the valid values."""
    help: str
    """The help text; empty if the next option's text covers both."""
    default: Any = ""
    sets: str = ""
    """The part and field of `Settings` that it sets, directly or (READERS) together with other options."""
    view: str = ""
    """The view of the text that it shows."""
    commands: tuple[str, ...] = BOTH
    aliases: tuple[str, ...] = ()
    wrapper_help: str = ""
    """The help text of `incc` where it differs."""

    def spelled(self, command: str) -> str:
        """Return the name as written on a command line."""
        return self.name if self.name.startswith("-") else PREFIXES[command] + self.name

    def choices(self) -> list[str]:
        """Return the valid values of a choice or mode."""
        return self.value.strip("[=]").split("|")

    @property
    def needs_value(self) -> bool:
        return self.kind not in ("switch", "flag", "mode", "changes")


def _switch(name: str, help: str = "", value: str = "", default: bool = False, **rest: Any) -> Option:
    return Option(name, "switch", value, help, default, **rest)


def _flag(name: str, help: str, **rest: Any) -> Option:
    return Option(name, "flag", "", help, False, **rest)


def _size(name: str, sets: str, help: str = "") -> Option:
    return Option(name, "uint", "=N", help, 0, sets, commands=_OF_MCA)


def _repeatable(name: str, kind: str, value: str, help: str, **rest: Any) -> Option:
    return Option(name, kind, value, help, (), **rest)


_OF_MCA, _OF_WRAPPER = (MCA,), (WRAPPER,)
_VIEWS = (
    "port-model, compact, summary, what-if, info, pressure, waits, timeline, dependencies, critical-path, loop-carried"
)
_USUAL = "compact, summary, info, pressure, dependencies"
_HELP = "show this help, the manual page, or completion for bash and zsh"

GROUPS: dict[str, tuple[Option, ...]] = {
    "write": (
        Option(
            "--analyze",
            "text",
            "[=FILE]",
            "write the report to FILE (default: standard output, or stderr if the compiler uses that)",
            commands=_OF_WRAPPER,
        ),
        Option(
            "format",
            "choice",
            "=text|json",
            "report format (default: text; in a folder json)",
            "text",
            commands=_OF_WRAPPER,
        ),
        _switch("json", "write the report as JSON (docs/report.md)", commands=_OF_MCA),
        Option("o", "text", "=FILE", "write the report to FILE", commands=_OF_MCA),
        Option(
            "graph",
            "file",
            "=FILE.dot|FILE.graphml",
            "write the dependency graphs for Graphviz, or as GraphML if FILE ends in .graphml",
            aliases=("dependency-graph", "dg"),
        ),
        Option(
            "cfg",
            "file",
            "=FILE.dot",
            "write the control-flow graphs of the analysed functions",
            sets="report.control_flow",
        ),
        Option("html", "file", "=FILE.html", "write the report as an HTML page"),
        _flag(
            "remarks",
            "print the report as compiler diagnostics on stderr (without --analyze: not as text)",
            commands=_OF_WRAPPER,
        ),
        Option("sarif", "file", "=FILE.sarif", "write the report as SARIF 2.1.0, for editors and code hosting"),
        Option(
            "opt-record",
            "file",
            "=FILE.opt.yaml",
            "write the report as LLVM optimisation remarks, for opt-viewer and editors",
        ),
        Option(
            "keep-assembly",
            "text",
            "=FOLDER",
            "keep the assembly to which the report's lines refer",
            commands=_OF_WRAPPER,
        ),
        Option(
            "--emit-marked",
            "text",
            "=FILE",
            "write the assembly with markers around the loops, for other tools",
            commands=_OF_WRAPPER,
        ),
        Option(
            "--marker",
            "choice",
            "=osaca|llvm-mca|iaca|all",
            "markers that --emit-marked writes (default: all)",
            "all",
            commands=_OF_WRAPPER,
        ),
    ),
    "analyse": (
        Option(
            "mcpu",
            "text",
            "=NAME",
            "core, or cores separated by commas; see `incc-model list` (default: the host)",
            sets="core.mcpu",
            wrapper_help="core, or cores separated by commas; see `incc-model list` (default: that of -mtune, -march "
            "or -mcpu, else the host)",
        ),
        _repeatable(
            "model-path",
            "list",
            "=FOLDER|FILE",
            "look for models there first (repeatable; also: INCC_MODEL_PATH)",
            sets="core.model_path",
        ),
        _switch("auto", "analyse innermost loops instead of marked regions", sets="scope.regions", commands=_OF_MCA),
        _repeatable(
            "function",
            "list",
            "=GLOB",
            "analyse only these functions: symbol, or C++ name with or without parameters (repeatable)",
            sets="scope.functions",
        ),
        _repeatable(
            "address",
            "addresses",
            "=A-B|A+N",
            "analyse only this address range of an object file, in hexadecimal (repeatable)",
            sets="scope.addresses",
            commands=_OF_MCA,
        ),
        _switch("raw", "read FILE as plain machine code", commands=_OF_MCA),
        _switch("hex", "read FILE as hexadecimal machine code, with empty lines between blocks", commands=_OF_MCA),
        _switch(
            "system-headers",
            "include loops that come only from system headers (default: count them)",
            sets="scope.system_headers",
        ),
        Option("mtriple", "text", "=TRIPLE", "", commands=_OF_MCA),
        Option(
            "march",
            "text",
            "=NAME",
            "target, for example x86_64-linux-gnu or x86-64 (only x86 is accepted)",
            commands=_OF_MCA,
        ),
        _repeatable(
            "mattr",
            "commas",
            "=+NAME,-NAME",
            "accepted for compatibility with llvm-mca; no effect (help: list the features)",
            commands=_OF_MCA,
        ),
        Option(
            "x86-asm-syntax",
            "choice",
            "=att|intel",
            "syntax at the start of the file (default: att)",
            "att",
            commands=_OF_MCA,
        ),
        Option(
            "skip-unsupported-instructions",
            "choice",
            "=none|lack-sched|parse-failure|any",
            "with --compat: skip instructions missing in the model, unparsable lines, or both",
            "none",
            commands=_OF_MCA,
        ),
        _size("dispatch", "kernel.altered.dispatch_width"),
        _size("register-file-size", "kernel.altered.register_file"),
        _size("lqueue", "kernel.altered.load_queue"),
        _size("squeue", "kernel.altered.store_queue"),
        _size("micro-op-queue-size", "kernel.altered.uop_queue"),
        _size(
            "decoder-throughput",
            "kernel.altered.decoders",
            "override this width or size in the cold-start simulation (0: use the model's value)",
        ),
        _size("call-latency", "kernel.altered.call_latency", "cycles of a call in the cold-start simulation"),
        _switch(
            "noalias",
            "assume that each load may depend on any earlier store",
            "=false",
            True,
            sets="kernel.altered.noalias",
            commands=_OF_MCA,
        ),
        _switch("disable-cb", commands=_OF_MCA),
        _switch("disable-im", "accepted for compatibility with llvm-mca; no effect", commands=_OF_MCA),
        _switch(
            "fixed-ports",
            "split µops equally over their ports instead of balancing the ports",
            sets="kernel.fixed_ports",
        ),
        _switch("simulate", "report only bounds, without simulating", "=false", True, sets="kernel.simulate"),
        Option(
            "marks",
            "choice",
            "=use|ignore",
            "analyse only what marks in the source select, if any (docs/source-marks.md; default: use)",
            "use",
            "scope.marks",
            commands=_OF_WRAPPER,
        ),
        _switch(
            "measure",
            "also run each kernel on this machine and report its cycles (default core: the host)",
            sets="report.measure",
        ),
        Option(
            "lto",
            "choice",
            "=link|compile",
            "with LTO: analyse the linked code, or each source compiled with -fno-lto (default: link)",
            "link",
            commands=_OF_WRAPPER,
        ),
        _flag(
            "try",
            "compile again with the flags that hints suggest, and report the gain of each",
            commands=_OF_WRAPPER,
            aliases=("--try",),
        ),
        Option(
            "mode",
            "choice",
            "=lean|full",
            "analyse the code as compiled, or a second compilation with source lines (default: full)",
            "full",
            commands=_OF_WRAPPER,
        ),
        _flag("strict", "exit with status 1 if the analysis fails (default: warn)", commands=_OF_WRAPPER),
    ),
    "show": (
        _repeatable(
            "views",
            "views",
            "=all|none|NAME,…",
            f"views of each kernel: {_VIEWS} (default: {_USUAL})",
            wrapper_help=f"views of each loop: {_VIEWS} (default: {_USUAL} and timeline for up to {FEW} loops, none "
            "for more)",
        ),
        _repeatable(
            "kernel",
            "kernels",
            "=FUNCTION[:LINE]",
            "show only the overview and these kernels, by function, line or name (repeatable)",
            wrapper_help="show only the overview and the views of these loops, by function or line (repeatable)",
        ),
        _switch("overview", "omit the table with a row per kernel", "=false", True),
        _switch("compact-view", default=True, view="compact"),
        _switch("summary-view", default=True, view="summary"),
        _switch("instruction-info", default=True, view="info"),
        _switch("resource-pressure", default=True, view="pressure"),
        _switch("dependency-view", "views that are on unless =false follows", default=True, view="dependencies"),
        _switch("critical-path", view="critical-path"),
        _switch(
            "loop-carried",
            "show the critical path of one iteration, or each loop-carried chain, step by step",
            view="loop-carried",
        ),
        _switch(
            "port-model",
            "show the core's model: front end, window, ports and the µops of each port",
            sets="report.port_model",
            view="port-model",
        ),
        _switch(
            "wait-view",
            "show which instructions wait for which in the simulation",
            sets="kernel.waits",
            view="waits",
            aliases=("wait-states",),
        ),
        _repeatable(
            "detail",
            "places",
            "=LINE",
            "show all waits of the instruction in LINE, or in the source line FILE:LINE (repeatable)",
            sets="kernel.waits",
            wrapper_help="show all waits of source line LINE, or FILE:LINE of a header or the assembly (repeatable)",
        ),
        _switch(
            "timeline",
            "show a timeline of the first iterations",
            sets="kernel.timeline_iterations",
            view="timeline",
            commands=_OF_MCA,
        ),
        Option(
            "timeline",
            "count",
            "=N",
            "iterations in the timeline (default: 2; 0: no timeline)",
            -1,
            "kernel.timeline_iterations",
            "timeline",
            _OF_WRAPPER,
        ),
        _switch("timeline-uops", "show a timeline with a row per µop", view="timeline", commands=_OF_MCA),
        _switch(
            "timeline-uops",
            "show a timeline row per instruction instead of per µop",
            "=false",
            True,
            commands=_OF_WRAPPER,
        ),
        Option(
            "timeline-max-iterations",
            "uint",
            "=N",
            f"iterations in the timeline (default: {PAGE_ITERATIONS})",
            PAGE_ITERATIONS,
            "kernel.timeline_iterations",
            commands=_OF_MCA,
        ),
        Option(
            "timeline-max-cycles",
            "uint",
            "=N",
            "cycles in the timeline (default: 80; 0: no limit)",
            80,
            "kernel.timeline_cycles",
            commands=_OF_MCA,
        ),
        Option(
            "timeline-max-cycles",
            "number",
            "=N",
            "cycles in the timeline (default: 80)",
            80,
            "kernel.timeline_cycles",
            commands=_OF_WRAPPER,
        ),
        _switch("all-views", "show all views, or with =false only those named", "[=false]", sets="kernel.waits"),
        _switch("all-stats", "show the following four statistics", "[=false]", commands=_OF_MCA),
        _switch("dispatch-stats", commands=_OF_MCA),
        _switch("scheduler-stats", commands=_OF_MCA),
        _switch("retire-stats", commands=_OF_MCA),
        _switch("register-file-stats", "show llvm-mca's statistics of the cold-start simulation", commands=_OF_MCA),
        _switch(
            "bottleneck-analysis",
            "show llvm-mca's bottleneck analysis of the cold-start simulation",
            sets="kernel.pressure",
            commands=_OF_MCA,
        ),
        _switch("show-encoding", commands=_OF_MCA),
        _switch(
            "show-barriers",
            "show llvm-mca's instruction info with encodings, or with memory barriers",
            commands=_OF_MCA,
        ),
        _switch(
            "instruction-tables",
            "show llvm-mca's table of resources per instruction instead of a simulation",
            commands=_OF_MCA,
        ),
        Option(
            "output-asm-variant",
            "int",
            "=0|1",
            "print instructions as LLVM does, in AT&T (0) or Intel (1) syntax (default: as written)",
            -1,
            "report.syntax",
            commands=_OF_MCA,
        ),
        _switch(
            "print-imm-hex", "print immediate values in hexadecimal", sets="report.hex_immediates", commands=_OF_MCA
        ),
        Option(
            "iterations",
            "uint",
            "=N",
            "iterations in the summary (default: 100)",
            100,
            "report.iterations",
            commands=_OF_MCA,
        ),
        Option(
            "iterations",
            "number",
            "=N",
            "iterations in the summary (default: 100)",
            100,
            "report.iterations",
            commands=_OF_WRAPPER,
        ),
        _switch("perfect-front-end", sets="kernel.changes"),
        _switch("unlimited-ports", sets="kernel.changes"),
        Option(
            "no-dependencies",
            "mode",
            "[=register|memory]",
            "also simulate this idealised core; if several are given, each alone and all together",
            sets="kernel.changes",
        ),
        _repeatable(
            "what-if",
            "changes",
            "[=CHANGE]",
            "also simulate a change: 'port 5 += 1', 'rob = 512', 'latency VADDPD = 3' … (repeatable)",
            sets="kernel.changes",
        ),
        _switch(
            "what-if-view",
            "show a table of all standard changes, as --what-if without CHANGE",
            view="what-if",
            wrapper_help="show a table of all standard changes, as --analyze-what-if without CHANGE",
        ),
        Option(
            "ghz", "clock", "=GHZ", "clock for GFLOP/s, GB/s and elements per second, such as 3.5", 0.0, "report.ghz"
        ),
        Option(
            "loop",
            "number",
            "=N",
            "show the cycles of exactly N iterations from a cold start (1: latency of one pass)",
            0,
            "kernel.cold_iterations",
        ),
        Option(
            "alignment",
            "alignment",
            "=N|all",
            "simulate with the first byte of the code at offset N of 64 bytes, or at all 64 offsets",
            -1,
            "kernel.alignment",
        ),
        _switch("branch", "show both sides of the first branch in each innermost loop", sets="scope.ways"),
        _switch("paths", "show up to 16 paths through each innermost loop with branches", sets="scope.ways"),
        Option(
            "branch-probability",
            "probability",
            "=P",
            "probability that a branch is not taken, 0 to 1 (default: both sides equally likely)",
            None,
            "scope.branch_probability",
        ),
        Option(
            "mispredict-rate",
            "probability",
            "=R",
            "share of mispredicted branches in loops, 0 to 1; their cost is added",
            None,
            "report.mispredict_rate",
        ),
    ),
    "other": (
        _flag(
            "compat",
            "print what llvm-mca prints, except for the numbers (implied by the name llvm-mca…)",
            commands=_OF_MCA,
        ),
        Option("help", "mode", "[=man|bash|zsh]", _HELP, commands=_OF_MCA, aliases=("h",)),
        Option("help", "mode", "[=man|bash|zsh]", _HELP, commands=_OF_WRAPPER),
        _flag("version", "show the version", commands=_OF_MCA),
        Option(
            "--incc-cc",
            "text",
            "=NAME",
            'compiler to run, with arguments if needed ("ccache gcc")',
            commands=_OF_WRAPPER,
        ),
    ),
}

OPTIONS = tuple([option for group in GROUPS.values() for option in group])


def options_of(command: str, group: str = "") -> list[Option]:
    """Return the options of a command, or of one group of its help, in the table's order."""
    return [option for option in (GROUPS[group] if group else OPTIONS) if command in option.commands]


_by_name: dict[str, dict[str, Option]] = {}


def _options_by_name(command: str) -> dict[str, Option]:
    if command not in _by_name:
        names = {option.spelled(command): option for option in options_of(command)}
        for option in list(names.values()):
            names |= {a if a.startswith("-") else PREFIXES[command] + a: option for a in option.aliases}
        _by_name[command] = names
    return _by_name[command]


def has(command: str, spelled: str) -> bool:
    """Return True if the command has an option of this name (for incc-mca with one dash)."""
    return spelled in _options_by_name(command)


def find(command: str, spelled: str) -> Option:
    """Return the option of this name (for incc-mca with one dash).

    Raises:
        UsageError: There is no such option. The message suggests the nearest name.
    """
    options = _options_by_name(command)
    if spelled not in options:
        from difflib import get_close_matches

        # The prefix that all names share would make all of them similar.
        prefix = PREFIXES[command]
        names = sorted(name.removeprefix(prefix) for name in options if name.startswith(prefix))
        close = get_close_matches(spelled.removeprefix(prefix), names, n=1)
        likely = f", did you mean {prefix}{close[0]}?" if close else ""
        raise UsageError(f"unknown option {spelled}{likely}")
    return options[spelled]


# --- values ----------------------------------------------------------------------------------------------------------


MOST = 10**12
"""The largest number of iterations or cycles that an option accepts; the core counts in 64 bits."""

_DIGITS = 20
"""Most digits of a number; Python raises an error beyond 4300."""


def _number(option: str, value: str) -> int:
    if value.isdecimal() and len(value) <= _DIGITS and 0 < int(value) <= MOST:
        return int(value)
    if value.isdecimal() and value.strip("0"):
        raise UsageError(f"{option} is at most {MOST}")
    raise UsageError(f"{option} needs a number above 0, not {value!r}")


def integer(text: str) -> int | None:
    """Return an unsigned number in LLVM's notation, where 0x, 0b, 0o or 0 chooses the base; None for other text."""
    base, digits = 10, text
    lower = text[:2].lower()
    if lower in ("0x", "0b", "0o"):
        base, digits = {"0x": 16, "0b": 2, "0o": 8}[lower], text[2:]
    elif text[:1] == "0" and len(text) > 1 and text[1].isdigit():
        base, digits = 8, text[1:]
    if not digits or not digits.isascii() or not digits.isalnum() or len(digits) > 64:
        return None
    try:
        return int(digits, base)
    except ValueError:
        return None


def _uint(option: str, value: str) -> int:
    """Parse a number like LLVM: 0x10, 0b1, 010 for 8."""
    if value.isascii() and value.isdecimal() and len(value) > _DIGITS:
        raise UsageError(f"{option} is at most {MOST}")
    number = integer(value)
    if number is None:
        raise UsageError(f"{option} needs a number, not {value!r}")
    if number > MOST:
        raise UsageError(f"{option} is at most {MOST}")
    return number


def _int(option: str, value: str) -> int:
    number = _uint(option, value.removeprefix("-"))
    return -number if value.startswith("-") else number


def _count(option: str, value: str) -> int:
    if value.isdecimal() and len(value) <= _DIGITS and int(value) <= MOST:
        return int(value)
    if value.isdecimal():
        raise UsageError(f"{option} is at most {MOST}")
    raise UsageError(f"{option} takes a number of iterations, not {value!r}")


def _alignment(option: str, value: str) -> int:
    """Parse an offset within 64 bytes; "all" is -2, as in `KernelSettings`."""
    if value == "all":
        return -2
    if not (value.isdecimal() and int(value) < 64):
        raise UsageError(f"{option} is a number below 64, or all, not {value!r}")
    return int(value)


def _float(text: str) -> float:
    """Parse a number; -1 if the text is none."""
    try:
        return float(text)
    except ValueError:
        return -1.0


def _probability(option: str, text: str) -> float:
    value = _float(text)
    if not 0 <= value <= 1:
        raise UsageError(f"{option} is a number from 0 to 1, not {text!r}")
    return value


def clock(option: str, text: str) -> float:
    """Parse a clock in GHz. Raises UsageError."""
    value = _float(text)
    if not 0.001 <= value <= 1000:
        raise UsageError(f"{option} is a clock in GHz, as 3.5, not {text!r}")
    return value


def _place(option: str, value: str) -> Place:
    from incc.report.source.places import parse

    try:
        return parse(value)
    except ValueError as error:
        raise UsageError(f"{option} {error}") from error


def _choice(option: str, value: str) -> Choice:
    from incc.report.source.places import choice

    try:
        return choice(value)
    except ValueError as error:
        raise UsageError(f"{option} {error}") from error


def _views(option: str, value: str) -> tuple[str, ...]:
    views = [o.view for o in OPTIONS if o.view]
    chosen = [] if value == "none" else views if value == "all" else value.split(",")
    for name in chosen:
        if name not in views:
            from difflib import get_close_matches

            close = get_close_matches(name, views, n=1)
            likely = f", did you mean {close[0]}?" if close else f"; there are {', '.join(dict.fromkeys(views))}"
            raise UsageError(f"{option}: no view {name!r}{likely}")
    return tuple(dict.fromkeys(chosen))


def _change(option: str, value: str) -> Change:
    from incc.core.changes import parse

    try:
        return parse(value)
    except ValueError as error:
        raise UsageError(str(error)) from error


def _addresses(option: str, value: str) -> Addresses:
    from incc.driver.addresses import addresses

    return addresses(option, value)


def _text(option: str, value: str) -> str:
    return value


_ONE: dict[str, Callable[[str, str], Any]] = {
    "text": _text,
    "file": _text,
    "number": _number,
    "uint": _uint,
    "int": _int,
    "count": _count,
    "alignment": _alignment,
    "probability": _probability,
    "views": _views,
    "clock": clock,
}
_MANY: dict[str, Callable[[str, str], Any]] = {
    "list": _text,
    "commas": _text,
    "places": _place,
    "addresses": _addresses,
    "changes": _change,
    "kernels": _choice,
}

YES, NO = ("true", "1", "TRUE", "True"), ("false", "0", "FALSE", "False")
"""The values of a switch that LLVM accepts."""

KINDS = frozenset(("switch", "flag", "mode", "choice", *_ONE, *_MANY))
"""The kinds of options, by their values.

A switch is true or false, true without a value. A flag has no value. A mode has one of several values or none, which
is "all"; a choice must have one of several. Kinds in `_MANY` are repeatable. A uint is a number in LLVM's notation, an
int may be negative, a file is a file to write.
"""


class Given:
    """The values of a command's options by name, and the names of the options on its command line."""

    __slots__ = ("_values", "command", "names")

    def __init__(self, command: str) -> None:
        self.command = command
        self.names: set[str] = set()
        self._values: dict[str, Any] = {option.name: option.default for option in options_of(command)}

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def take(self, spelled: str, value: str | None) -> None:
        """Parse an option and its value, None if it has none. Raises UsageError."""
        option = find(self.command, spelled)
        if option.kind == "changes" and value is None:
            # Without a change, the option selects the view of all standard changes.
            option = next(o for o in options_of(self.command) if o.view == "what-if")
        self._values[option.name] = self._read(option, spelled, value)
        self.names.add(option.name)

    def put(self, name: str, value: Any) -> None:
        """Set the value of an option."""
        self._values[name] = value
        self.names.add(name)

    def _read(self, option: Option, spelled: str, value: str | None) -> Any:
        if option.kind == "switch":
            if value not in (None, *YES, *NO):
                raise UsageError(f"{spelled} is true or false, not {value!r}")
            return value in (None, *YES)
        if option.kind == "flag":
            if value is not None:
                raise UsageError(f"{spelled} takes no value")
            return True
        if option.kind == "mode":
            if value not in (None, "all", *option.choices()):
                raise UsageError(f"{spelled} takes {' or '.join(option.choices())}, not {value!r}")
            return value or "all"
        if not value:
            raise UsageError(f"{spelled} needs a value: {spelled}=…")
        if option.kind == "choice":
            if value not in option.choices():
                raise UsageError(f"{spelled} is one of {', '.join(option.choices())}, not {value!r}")
            return value
        if option.kind == "commas":
            return (*self._values[option.name], *value.split(","))
        if option.kind in _MANY:
            return (*self._values[option.name], _MANY[option.kind](spelled, value))
        return _ONE[option.kind](spelled, value)

    def settings(self) -> Settings:
        """Return the settings of the analysis."""
        from incc.driver.settings import Settings, with_values

        names = {option.sets: option.name for option in options_of(self.command) if option.sets}
        values = {sets: READERS[sets](self) if sets in READERS else self[name] for sets, name in names.items()}
        return with_values(Settings(), values)

    def views(self) -> list[str]:
        """Return the views of the text."""
        everything = self["all-views"]
        only_named = ("all-views" in self.names and not everything) or "views" in self.names
        chosen = []
        for option in options_of(self.command):
            if not option.view:
                continue
            if option.kind == "count":
                # By default a timeline is shown, unless views are named or an HTML page has it.
                by_default = (not only_named and not self["html"]) or option.view in self["views"]
                wanted = self[option.name] > 0 or (self[option.name] < 0 and by_default)
            elif option.name in self.names:
                wanted = self[option.name]
            else:
                named = option.view in self["views"]
                wanted = everything or named or (self[option.name] and not only_named)
            if wanted:
                chosen.append(option.view)
        return chosen

    def files(self) -> dict[str, str]:
        """Return the additional files to write, by the names of their options."""
        names = [option.name for option in options_of(self.command) if option.kind == "file"]
        return {name: self[name] for name in names if self[name]}

    def request(self, form: str, output: str, append: bool = False) -> Request:
        """Return the request to deliver the report in the format `form` to `output`."""
        from incc.driver.deliver import Request

        chosen = {"views", "kernel", "all-views"}
        # The view of the core model does not concern kernels.
        chosen |= {o.name for o in options_of(self.command) if o.view and o.sets != "report.port_model"}
        wrapper = self.command == WRAPPER
        return Request(
            format=form,
            output=output,
            append=append,
            files=self.files(),
            views=self.views(),
            places=self["detail"],
            overview=(1 if wrapper else 2) if self["overview"] else 0,
            kernels=self["kernel"],
            few=FEW if wrapper and not chosen & self.names else None,
            uops=self["timeline-uops"],
            wait=not wrapper,
        )


# --- settings of the analysis ----------------------------------------------------------------------------------------


def _timeline(given: Given) -> int:
    if given.command == MCA:
        wanted = "timeline" in given.views() or given["timeline-uops"] or given["html"]
        return (given["timeline-max-iterations"] or PAGE_ITERATIONS) if wanted else 0
    if given["timeline"] >= 0:
        return int(given["timeline"])
    if given["html"]:
        return PAGE_ITERATIONS
    from incc.driver.settings import REPORTED

    return REPORTED.timeline_iterations


def _changes(given: Given) -> tuple[Change, ...]:
    named = {"perfect-front-end": "front-end", "unlimited-ports": "unlimited-ports"}
    chosen = [change for option, change in named.items() if given[option]]
    left_out = given["no-dependencies"]
    if left_out:
        chosen.append("dependencies" if left_out == "all" else f"{left_out}-dependencies")
    if not chosen:
        return tuple(given["what-if"])
    from incc.core.whatif import NAMED

    return (*(NAMED[name] for name in chosen), *given["what-if"])


_STATS = ("dispatch-stats", "scheduler-stats", "retire-stats", "register-file-stats")
_LLVM_VIEWS = (*_STATS, "bottleneck-analysis", "instruction-tables", "show-encoding", "show-barriers")


def llvm_views(given: Given) -> set[str]:
    """Return the names of the requested views that only llvm-mca has."""
    requested = {name for name in _LLVM_VIEWS if given[name]}
    general = _STATS if given["all-stats"] else ()
    if given["all-views"]:
        # As in llvm-mca, -all-stats=0 excludes the statistics, and an option for a single view wins over -all-views.
        general = ("bottleneck-analysis", *(_STATS if given["all-stats"] or "all-stats" not in given.names else ()))
    return requested.union(name for name in general if name not in given.names)


READERS: dict[str, Callable[[Given], Any]] = {
    "scope.regions": lambda given: "loops" if given["auto"] else "marked",
    "report.iterations": lambda given: given["iterations"] or 100,
    "kernel.timeline_cycles": lambda given: given["timeline-max-cycles"] or MOST,
    "kernel.pressure": lambda given: "bottleneck-analysis" in llvm_views(given),
    "report.syntax": lambda given: {0: "att", 1: "intel"}.get(given["output-asm-variant"], ""),
    "kernel.timeline_iterations": _timeline,
    "kernel.changes": _changes,
    "report.port_model": lambda given: "port-model" in given.views(),
    "kernel.waits": lambda given: "waits" in given.views() or bool(given["detail"]),
    "scope.ways": lambda given: tuple(name for name in ("branch", "paths") if given[name]),
    "report.control_flow": lambda given: bool(given["cfg"]),
}
"""The fields of `Settings` that depend on several options, or differ from the option's value."""


def check_targets(targets: Iterable[tuple[str, str]], inputs: Iterable[str] = ()) -> None:
    """Raise UsageError if two options name the same file, or one would overwrite another file of the command.

    Args:
        targets: Pairs of an option and the file that it writes.
        inputs: Other files of the command.
    """
    import os

    taken: dict[str, str] = {}
    try:
        for option, file in targets:
            if "\0" in file:
                raise UsageError(f"{option}={file}: the name contains a NUL".replace("\0", "\\0"))
            if os.path.isdir(file) or file.startswith("/dev/"):
                continue
            path = os.path.realpath(file)
            if path in taken:
                raise UsageError(f"{taken[path]} and {option} name the same file, {file}")
            taken[path] = option
        for file in inputs:
            option_of = taken.get(os.path.realpath(file)) if "\0" not in file else None
            if option_of:
                raise UsageError(f"{option_of} would overwrite {file}")
    except FileNotFoundError:
        raise UsageError("the working directory does not exist any more; use absolute paths") from None
