"""The options of the commands, one table for all: what is asked of an analysis is the same for `incc` and `incc-mca`.

From the table come the commands' help, manual pages and completion (`usage`, `manual`, `completion`), how an option is
read, and what the analysis is told. A new option of the analysis is a new entry here, and the field of
`pipeline.Settings` that the entry names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from incc.driver import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from incc.core.whatif import Change
    from incc.driver.deliver import Request
    from incc.driver.pipeline import Settings
    from incc.frontends.objects.spans import Addresses
    from incc.report.source.places import Choice, Place

MCA, WRAPPER = "incc-mca", "incc"
BOTH = (MCA, WRAPPER)

PREFIXES = {MCA: "-", WRAPPER: "--analyze-"}
"""What stands before an option's name on a command line. incc-mca takes a second dash, too."""

FEW = 4
"""Kernels of a report up to which each is shown with all views, unless views are named."""

PAGE_ITERATIONS = 10
"""Iterations of a timeline on a page of its own, which can be scrolled."""


class Option(msgspec.Struct, frozen=True, kw_only=True):
    """One option.

    `name`: as after the command's prefix, or with its dashes if it has no other prefix. `kind`: one of KINDS, how its
    value is read. `group`: the part of the help it stands in. `value`: what follows the name in the help; for kinds
    with a choice also what may. `help`: what it does, "" if the next option's says it for both; `wrapper_help`: what
    incc says instead, "" for the same. `commands`: which have it. `aliases`: other names. `field`: what of
    `pipeline.Settings` it sets, as it is or (READERS) together with others. `view`: which view of the text it shows.
    """

    name: str
    kind: str
    group: str
    value: str
    help: str
    default: Any = ""
    field: str = ""
    view: str = ""
    commands: tuple[str, ...] = BOTH
    aliases: tuple[str, ...] = ()
    wrapper_help: str = ""

    def spelled(self, command: str) -> str:
        """How it is written on a command line."""
        return self.name if self.name.startswith("-") else PREFIXES[command] + self.name

    def choices(self) -> list[str]:
        """The values of an option that has a choice."""
        return self.value.strip("[=]").split("|")

    @property
    def needs_value(self) -> bool:
        return self.kind not in ("switch", "flag", "mode", "changes")


_OF_MCA, _OF_WRAPPER = (MCA,), (WRAPPER,)
_VIEWS = (
    "port-model, compact, summary, what-if, info, pressure, waits, timeline, dependencies, critical-path, loop-carried"
)
_USUAL = "compact, summary, info, pressure, dependencies"
_SEVERAL = "may be given several times"
_HELP = "this text; or the manual page, or completion for bash and zsh"

OPTIONS: tuple[Option, ...] = (
    Option(
        name="--analyze",
        kind="text",
        group="write",
        value="[=FILE]",
        help="the report, to FILE or standard output (standard error if the compiler writes to that)",
        commands=_OF_WRAPPER,
    ),
    Option(
        name="format",
        kind="choice",
        group="write",
        value="=text|json",
        help="the report's format (text, in a folder json)",
        default="text",
        commands=_OF_WRAPPER,
    ),
    Option(
        name="json",
        kind="switch",
        group="write",
        value="",
        help="the report as JSON (docs/report.md)",
        default=False,
        commands=_OF_MCA,
    ),
    Option(name="o", kind="text", group="write", value="=FILE", help="write the report to FILE", commands=_OF_MCA),
    Option(
        name="graph",
        kind="file",
        group="write",
        value="=FILE.dot|FILE.graphml",
        help="the dependency graphs, in Graphviz's language or, by the ending, as GraphML",
        aliases=("dependency-graph", "dg"),
    ),
    Option(
        name="cfg",
        kind="file",
        group="write",
        value="=FILE.dot",
        help="the control-flow graphs of the functions that are analysed",
        field="control_flow",
        wrapper_help="the control-flow graphs of the functions with loops",
    ),
    Option(name="html", kind="file", group="write", value="=FILE.html", help="the report as a page for the browser"),
    Option(
        name="remarks",
        kind="flag",
        group="write",
        value="",
        help="the report as the compiler's diagnostics, at the loops' lines, on standard error; without --analyze "
        "instead of the text",
        default=False,
        commands=_OF_WRAPPER,
    ),
    Option(
        name="sarif",
        kind="file",
        group="write",
        value="=FILE.sarif",
        help="the report as SARIF 2.1.0, for editors and code hosting",
    ),
    Option(
        name="opt-record",
        kind="file",
        group="write",
        value="=FILE.opt.yaml",
        help="the report as LLVM's optimisation remarks, for opt-viewer and editors",
    ),
    Option(
        name="keep-assembly",
        kind="text",
        group="write",
        value="=FOLDER",
        help="the assembly that the report's lines refer to",
        commands=_OF_WRAPPER,
    ),
    Option(
        name="--emit-marked",
        kind="text",
        group="write",
        value="=FILE",
        help="the assembly with markers around the loops, for other tools",
        commands=_OF_WRAPPER,
    ),
    Option(
        name="--marker",
        kind="choice",
        group="write",
        value="=osaca|llvm-mca|iaca|all",
        help="whose markers (all)",
        default="all",
        commands=_OF_WRAPPER,
    ),
    Option(
        name="mcpu",
        kind="text",
        group="analyse",
        value="=NAME",
        help="the core, see `incc-model list`, or several with commas between them; default: the host",
        field="mcpu",
        wrapper_help="the core, see `incc-model list`, or several with commas between them; default: the one that "
        "the code is tuned or generated for (-mtune, -march, -mcpu), else the host",
    ),
    Option(
        name="model-path",
        kind="list",
        group="analyse",
        value="=FOLDER|FILE",
        help=f"look for models there first; {_SEVERAL} (also: INCC_MODEL_PATH)",
        default=(),
        field="model_path",
    ),
    Option(
        name="auto",
        kind="switch",
        group="analyse",
        value="",
        help="innermost loops instead of marked regions",
        default=False,
        field="regions",
        commands=_OF_MCA,
    ),
    Option(
        name="function",
        kind="list",
        group="analyse",
        value="=GLOB",
        help=f"only functions of this name (symbol, or C++ name with or without parameters); {_SEVERAL}",
        default=(),
        field="functions",
    ),
    Option(
        name="address",
        kind="addresses",
        group="analyse",
        value="=A-B|A+N",
        help=f"of an object only the code from address A up to B, or N bytes of it, in hexadecimal; {_SEVERAL}",
        default=(),
        field="addresses",
        commands=_OF_MCA,
    ),
    Option(
        name="raw",
        kind="switch",
        group="analyse",
        value="",
        help="FILE is machine code and nothing else",
        default=False,
        commands=_OF_MCA,
    ),
    Option(
        name="hex",
        kind="switch",
        group="analyse",
        value="",
        help="FILE is machine code written as hexadecimal numbers, with empty lines between blocks",
        default=False,
        commands=_OF_MCA,
    ),
    Option(
        name="system-headers",
        kind="switch",
        group="analyse",
        value="",
        help="also loops that are the system headers' alone, which are only counted otherwise",
        default=False,
        field="system_headers",
    ),
    Option(name="mtriple", kind="text", group="analyse", value="=TRIPLE", help="", commands=_OF_MCA),
    Option(
        name="march",
        kind="text",
        group="analyse",
        value="=NAME",
        help="the target, as x86_64-linux-gnu or x86-64; there is no other than x86",
        commands=_OF_MCA,
    ),
    Option(
        name="mattr",
        kind="commas",
        group="analyse",
        value="=+NAME,-NAME",
        help="features, or help for a list; whatever they are, every instruction is analysed",
        default=(),
        commands=_OF_MCA,
    ),
    Option(
        name="x86-asm-syntax",
        kind="choice",
        group="analyse",
        value="=att|intel",
        help="the syntax that the file begins in",
        default="att",
        commands=_OF_MCA,
    ),
    Option(
        name="skip-unsupported-instructions",
        kind="choice",
        group="analyse",
        value="=none|lack-sched|parse-failure|any",
        help="with --compat: go on without instructions that there are no figures for (lack-sched), lines that "
        "cannot be "
        "read (parse-failure), or both",
        default="none",
        commands=_OF_MCA,
    ),
    Option(
        name="dispatch",
        kind="uint",
        group="analyse",
        value="=N",
        help="",
        default=0,
        field="dispatch_width",
        commands=_OF_MCA,
    ),
    Option(
        name="register-file-size",
        kind="uint",
        group="analyse",
        value="=N",
        help="",
        default=0,
        field="register_file",
        commands=_OF_MCA,
    ),
    Option(
        name="lqueue",
        kind="uint",
        group="analyse",
        value="=N",
        help="",
        default=0,
        field="load_queue",
        commands=_OF_MCA,
    ),
    Option(
        name="squeue",
        kind="uint",
        group="analyse",
        value="=N",
        help="",
        default=0,
        field="store_queue",
        commands=_OF_MCA,
    ),
    Option(
        name="micro-op-queue-size",
        kind="uint",
        group="analyse",
        value="=N",
        help="",
        default=0,
        field="uop_queue",
        commands=_OF_MCA,
    ),
    Option(
        name="decoder-throughput",
        kind="uint",
        group="analyse",
        value="=N",
        help="another size of that part of the core, for the run from a cold start; 0: the model's",
        default=0,
        field="decoders",
        commands=_OF_MCA,
    ),
    Option(
        name="call-latency",
        kind="uint",
        group="analyse",
        value="=N",
        help="cycles that a call takes in that run",
        default=0,
        field="call_latency",
        commands=_OF_MCA,
    ),
    Option(
        name="noalias",
        kind="switch",
        group="analyse",
        value="=false",
        help="each load may depend on any store before it",
        default=True,
        field="noalias",
        commands=_OF_MCA,
    ),
    Option(name="disable-cb", kind="switch", group="analyse", value="", help="", default=False, commands=_OF_MCA),
    Option(
        name="disable-im",
        kind="switch",
        group="analyse",
        value="",
        help="taken for llvm-mca's sake, without a meaning",
        default=False,
        commands=_OF_MCA,
    ),
    Option(
        name="fixed-ports",
        kind="switch",
        group="analyse",
        value="",
        help="equal shares to all ports that a µop may use, instead of the best distribution",
        default=False,
        field="fixed_ports",
    ),
    Option(
        name="simulate",
        kind="switch",
        group="analyse",
        value="=false",
        help="bounds alone",
        default=True,
        field="simulate",
    ),
    Option(
        name="marks",
        kind="choice",
        group="analyse",
        value="=use|ignore",
        help="marks in the source (docs/source-marks.md): only what is "
        "marked, if there are any (use, the default), or everything",
        default="use",
        field="marks",
        commands=_OF_WRAPPER,
    ),
    Option(
        name="measure",
        kind="switch",
        group="analyse",
        value="",
        help="also run each kernel's code on this machine, and say what it takes; without -mcpu for this core",
        default=False,
        field="measure",
        wrapper_help="also run each loop's code on this machine, and say what it takes; without mcpu for this core",
    ),
    Option(
        name="lto",
        kind="choice",
        group="analyse",
        value="=link|compile",
        help="of link-time optimisation: report on the linked code, where it is linked (default), or on each source "
        "compiled with -fno-lto, where it is compiled (also: INCC_LTO)",
        default="link",
        commands=_OF_WRAPPER,
    ),
    Option(
        name="try",
        kind="flag",
        group="analyse",
        value="",
        help="compile again with the flags that hints name, to nowhere, and say what each brings",
        default=False,
        commands=_OF_WRAPPER,
        aliases=("--try",),
    ),
    Option(
        name="mode",
        kind="choice",
        group="analyse",
        value="=lean|full",
        help="what is analysed: the code that the compiler made "
        "(lean), or that of a second compilation beside it, with source lines (full; the default)",
        default="full",
        commands=_OF_WRAPPER,
    ),
    Option(
        name="strict",
        kind="flag",
        group="analyse",
        value="",
        help="an analysis that fails is an error (exit status 1), not a warning",
        default=False,
        commands=_OF_WRAPPER,
    ),
    Option(
        name="views",
        kind="views",
        group="show",
        value="=all|none|NAME,…",
        help=f"the views of each kernel by name: {_VIEWS} (default: {_USUAL})",
        default=(),
        wrapper_help=f"the views of each loop by name: {_VIEWS}; default: {_USUAL} and timeline in a report of up "
        f"to {FEW} loops, none in a longer one",
    ),
    Option(
        name="kernel",
        kind="kernels",
        group="show",
        value="=FUNCTION[:LINE]",
        help=f"of the text only the overview and these kernels (by function, name or line); {_SEVERAL}",
        default=(),
        wrapper_help="of the text only the overview and, with its views, the loop of that function (symbol, C++ "
        f"name, glob), in that line of source or assembly; {_SEVERAL}",
    ),
    Option(
        name="overview",
        kind="switch",
        group="show",
        value="=false",
        help="no row for each kernel before all else (with one kernel there is none)",
        default=True,
        wrapper_help="no row for each loop before all else",
    ),
    Option(name="compact-view", kind="switch", group="show", value="", help="", default=True, view="compact"),
    Option(name="summary-view", kind="switch", group="show", value="", help="", default=True, view="summary"),
    Option(name="instruction-info", kind="switch", group="show", value="", help="", default=True, view="info"),
    Option(name="resource-pressure", kind="switch", group="show", value="", help="", default=True, view="pressure"),
    Option(
        name="dependency-view",
        kind="switch",
        group="show",
        value="",
        help="on unless switched off with =false",
        default=True,
        view="dependencies",
    ),
    Option(name="critical-path", kind="switch", group="show", value="", help="", default=False, view="critical-path"),
    Option(
        name="loop-carried",
        kind="switch",
        group="show",
        value="",
        help="the critical path of one iteration, and each loop-carried chain, step by step",
        default=False,
        view="loop-carried",
    ),
    Option(
        name="port-model",
        kind="switch",
        group="show",
        value="",
        help="the core as its model has it: front end, window, ports and what each does",
        default=False,
        field="port_model",
        view="port-model",
    ),
    Option(
        name="wait-view",
        kind="switch",
        group="show",
        value="",
        help="who waits for whom, in the simulation",
        default=False,
        field="waits",
        view="waits",
        aliases=("wait-states",),
    ),
    Option(
        name="detail",
        kind="places",
        group="show",
        value="=LINE",
        help="the same for the instruction in that line, with each partner and port; FILE:LINE may be a line of the "
        f"source; {_SEVERAL}",
        default=(),
        field="waits",
        wrapper_help="the same for the instructions of that line of the source, with each partner and port; "
        f"FILE:LINE for a line of a header, or of the assembly that the report names; {_SEVERAL}",
    ),
    Option(
        name="timeline",
        kind="switch",
        group="show",
        value="",
        help="a timeline of the first iterations",
        default=False,
        field="timeline_iterations",
        view="timeline",
        commands=_OF_MCA,
    ),
    Option(
        name="timeline",
        kind="count",
        group="show",
        value="=N",
        help="how many iterations the timeline shows (2), 0 for none",
        default=-1,
        field="timeline_iterations",
        view="timeline",
        commands=_OF_WRAPPER,
    ),
    Option(
        name="timeline-uops",
        kind="switch",
        group="show",
        value="",
        help="a timeline with rows for the µops of an instruction",
        default=False,
        view="timeline",
        commands=_OF_MCA,
    ),
    Option(
        name="timeline-uops",
        kind="switch",
        group="show",
        value="=false",
        help="one row an instruction in the timeline, none for µops",
        default=True,
        commands=_OF_WRAPPER,
    ),
    Option(
        name="timeline-max-iterations",
        kind="uint",
        group="show",
        value="=N",
        help=f"how many ({PAGE_ITERATIONS})",
        default=PAGE_ITERATIONS,
        field="timeline_iterations",
        commands=_OF_MCA,
    ),
    Option(
        name="timeline-max-cycles",
        kind="uint",
        group="show",
        value="=N",
        help="cut it after N cycles (80), 0 for nowhere",
        default=80,
        field="timeline_cycles",
        commands=_OF_MCA,
    ),
    Option(
        name="timeline-max-cycles",
        kind="number",
        group="show",
        value="=N",
        help="cut it after N cycles (80)",
        default=80,
        field="timeline_cycles",
        commands=_OF_WRAPPER,
    ),
    Option(
        name="all-views",
        kind="switch",
        group="show",
        value="[=false]",
        help="every view, or only those named",
        default=False,
        field="waits",
    ),
    Option(
        name="all-stats",
        kind="switch",
        group="show",
        value="[=false]",
        help="the four statistics that follow",
        default=False,
        commands=_OF_MCA,
    ),
    Option(name="dispatch-stats", kind="switch", group="show", value="", help="", default=False, commands=_OF_MCA),
    Option(name="scheduler-stats", kind="switch", group="show", value="", help="", default=False, commands=_OF_MCA),
    Option(name="retire-stats", kind="switch", group="show", value="", help="", default=False, commands=_OF_MCA),
    Option(
        name="register-file-stats",
        kind="switch",
        group="show",
        value="",
        help="llvm-mca's statistics of the run from a cold start",
        default=False,
        commands=_OF_MCA,
    ),
    Option(
        name="bottleneck-analysis",
        kind="switch",
        group="show",
        value="",
        help="what holds up that run, as llvm-mca has it",
        default=False,
        field="pressure",
        commands=_OF_MCA,
    ),
    Option(name="show-encoding", kind="switch", group="show", value="", help="", default=False, commands=_OF_MCA),
    Option(
        name="show-barriers",
        kind="switch",
        group="show",
        value="",
        help="llvm-mca's instruction info with the instructions' bytes; with what bars memory accesses",
        default=False,
        commands=_OF_MCA,
    ),
    Option(
        name="instruction-tables",
        kind="switch",
        group="show",
        value="",
        help="llvm-mca's table of the resources that instructions take, in place of a run",
        default=False,
        commands=_OF_MCA,
    ),
    Option(
        name="output-asm-variant",
        kind="int",
        group="show",
        value="=0|1",
        help="instructions as LLVM prints them, in AT&T's (0) or Intel's (1) syntax, instead of as they are written",
        default=-1,
        field="syntax",
        commands=_OF_MCA,
    ),
    Option(
        name="print-imm-hex",
        kind="switch",
        group="show",
        value="",
        help="immediate values in hexadecimal",
        default=False,
        field="hex_immediates",
        commands=_OF_MCA,
    ),
    Option(
        name="iterations",
        kind="uint",
        group="show",
        value="=N",
        help="iterations that the summary counts (100)",
        default=100,
        field="iterations",
        commands=_OF_MCA,
    ),
    Option(
        name="iterations",
        kind="number",
        group="show",
        value="=N",
        help="iterations that the summary counts (100)",
        default=100,
        field="iterations",
        commands=_OF_WRAPPER,
    ),
    Option(name="perfect-front-end", kind="switch", group="show", value="", help="", default=False, field="what_if"),
    Option(name="unlimited-ports", kind="switch", group="show", value="", help="", default=False, field="what_if"),
    Option(
        name="no-dependencies",
        kind="mode",
        group="show",
        value="[=register|memory]",
        help="also simulate the core so changed; several: each alone and all together",
        default="",
        field="what_if",
    ),
    Option(
        name="what-if",
        kind="changes",
        group="show",
        value="[=CHANGE]",
        help=f"the same for a change like 'port 5 += 1', 'rob = 512' or 'latency VADDPD = 3'; {_SEVERAL}; without a "
        "change: a table of all those that are always tried",
        default=(),
        field="what_if",
    ),
    Option(
        name="what-if-view", kind="switch", group="show", value="", help="that table", default=False, view="what-if"
    ),
    Option(
        name="ghz",
        kind="clock",
        group="show",
        value="=GHZ",
        help="also GFLOP/s, GB/s and elements a second at that clock, as 3.5",
        default=0.0,
        field="ghz",
    ),
    Option(
        name="loop",
        kind="number",
        group="show",
        value="=N",
        help="cycles of exactly N iterations from a cold start; 1: the latency of one pass",
        default=0,
        field="cold_iterations",
    ),
    Option(
        name="alignment",
        kind="alignment",
        group="show",
        value="=N|all",
        help="simulate with the first byte at N within 64 bytes, or with all 64",
        default=-1,
        field="alignment",
        wrapper_help="simulate with a loop's first byte at N within 64 bytes, or with all 64",
    ),
    Option(
        name="branch",
        kind="switch",
        group="show",
        value="",
        help="a table of the sides of the first branch inside each innermost loop",
        default=False,
        field="ways",
    ),
    Option(
        name="paths",
        kind="switch",
        group="show",
        value="",
        help="a table of the ways through each innermost loop with branches inside, up to 16",
        default=False,
        field="ways",
    ),
    Option(
        name="branch-probability",
        kind="probability",
        group="show",
        value="=P",
        help="how likely a branch is not taken, 0 to 1, to weight them (default: sides alike)",
        default=None,
        field="branch_probability",
    ),
    Option(
        name="mispredict-rate",
        kind="probability",
        group="show",
        value="=R",
        help="the share of branches inside loops that is predicted wrongly, 0 to 1: adds what that costs",
        default=None,
        field="mispredict_rate",
    ),
    Option(
        name="compat",
        kind="flag",
        group="other",
        value="",
        help="print what llvm-mca prints, to the character but for the numbers; also if "
        "called by a name that begins with llvm-mca (docs/llvm-mca.md)",
        default=False,
        commands=_OF_MCA,
    ),
    Option(
        name="help", kind="mode", group="other", value="[=man|bash|zsh]", help=_HELP, commands=_OF_MCA, aliases=("h",)
    ),
    Option(name="help", kind="mode", group="other", value="[=man|bash|zsh]", help=_HELP, commands=_OF_WRAPPER),
    Option(name="version", kind="flag", group="other", value="", help="the version", default=False, commands=_OF_MCA),
    Option(
        name="--incc-cc",
        kind="text",
        group="other",
        value="=NAME",
        help='the compiler, with arguments if need be ("ccache gcc")',
        commands=_OF_WRAPPER,
    ),
)


def options_of(command: str) -> list[Option]:
    """The options that a command has, in the table's order."""
    return [option for option in OPTIONS if command in option.commands]


_found: dict[str, dict[str, Option]] = {}


def has(command: str, spelled: str) -> bool:
    """Whether an option is written like this (for incc-mca with one dash)."""
    if command not in _found:
        known = {option.spelled(command): option for option in options_of(command)}
        for option in list(known.values()):
            known |= {a if a.startswith("-") else PREFIXES[command] + a: option for a in option.aliases}
        _found[command] = known
    return spelled in _found[command]


def find(command: str, spelled: str) -> Option:
    """The option that is written like this (for incc-mca with one dash). Raises UsageError, with what may have been
    meant."""
    if not has(command, spelled):
        from difflib import get_close_matches

        # Only what follows the prefix that all have is compared.
        prefix = PREFIXES[command]
        names = sorted(name.removeprefix(prefix) for name in _found[command] if name.startswith(prefix))
        close = get_close_matches(spelled.removeprefix(prefix), names, n=1)
        likely = f", did you mean {prefix}{close[0]}?" if close else ""
        raise UsageError(f"unknown option {spelled}{likely}")
    return _found[command][spelled]


# --- values ----------------------------------------------------------------------------------------------------------


MOST = 10**12
"""The largest number of iterations or cycles that an option takes; the core counts in 64 bits."""

_DIGITS = 20  # Python reads no more than 4300 digits


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
    """A number as LLVM reads it: 0x10, 0b1, 010 for 8."""
    if value.isascii() and value.isdecimal() and len(value) > _DIGITS:
        raise UsageError(f"{option} is at most {MOST}")
    found = integer(value)
    if found is None:
        raise UsageError(f"{option} needs a number, not {value!r}")
    if found > MOST:
        raise UsageError(f"{option} is at most {MOST}")
    return found


def _int(option: str, value: str) -> int:
    found = _uint(option, value.removeprefix("-"))
    return -found if value.startswith("-") else found


def _count(option: str, value: str) -> int:
    if value.isdecimal() and len(value) <= _DIGITS and int(value) <= MOST:
        return int(value)
    if value.isdecimal():
        raise UsageError(f"{option} is at most {MOST}")
    raise UsageError(f"{option} takes a number of iterations, not {value!r}")


def _alignment(option: str, value: str) -> int:
    """A place within 64 bytes; -2 for all, as `pipeline.Settings` has it."""
    if value == "all":
        return -2
    if not (value.isdecimal() and int(value) < 64):
        raise UsageError(f"{option} is a number below 64, or all, not {value!r}")
    return int(value)


def _probability(option: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise UsageError(f"{option} is a number from 0 to 1, not {text!r}")
    return value


def clock(option: str, text: str) -> float:
    """A clock in GHz. Raises UsageError."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
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
    known = [o.view for o in OPTIONS if o.view]
    chosen = [] if value == "none" else known if value == "all" else value.split(",")
    for name in chosen:
        if name not in known:
            from difflib import get_close_matches

            close = get_close_matches(name, known, n=1)
            likely = f", did you mean {close[0]}?" if close else f"; there are {', '.join(dict.fromkeys(known))}"
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
"""The values of a switch, as LLVM reads them."""

KINDS = frozenset(("switch", "flag", "mode", "choice", *_ONE, *_MANY))
"""The kinds of options. A switch may have the value true or false, a flag none, a mode none (which is "all") or one of
several, a choice must have one of several; views are names with commas between them; lists, places, kernels, changes
and addresses may be given several times, as may lists with commas; a file is written. A uint is a number as LLVM reads
it, an int may be negative."""


class Given:
    """What was asked of a command: the values of its options by name, and the names that were given."""

    __slots__ = ("_values", "command", "names")

    def __init__(self, command: str) -> None:
        self.command = command
        self.names: set[str] = set()
        self._values: dict[str, Any] = {option.name: option.default for option in options_of(command)}

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def take(self, spelled: str, value: str | None) -> None:
        """Take an option; None: without a value. Raises UsageError."""
        option = find(self.command, spelled)
        if option.kind == "changes" and value is None:
            # Nothing is named, so all that are tried are meant.
            option = next(o for o in options_of(self.command) if o.view == "what-if")
        self._values[option.name] = self._read(option, spelled, value)
        self.names.add(option.name)

    def put(self, name: str, value: Any) -> None:
        """Take the value of an option that was read already."""
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
        """What the analysis is told."""
        from incc.driver.pipeline import Settings

        fields = {option.field: option.name for option in options_of(self.command) if option.field}
        return Settings(**{f: READERS[f](self) if f in READERS else self[name] for f, name in fields.items()})

    def views(self) -> list[str]:
        """The views that the text has."""
        everything = self["all-views"]
        only_named = ("all-views" in self.names and not everything) or "views" in self.names
        chosen = []
        for option in options_of(self.command):
            if not option.view:
                continue
            if option.kind == "count":
                # Of so many iterations: there unless views are named, or it is on a page of its own.
                unsaid = not only_named and not self["html"]
                wanted = self[option.name] > 0 or (self[option.name] < 0 and (unsaid or option.view in self["views"]))
            elif option.name in self.names:
                wanted = self[option.name]
            else:
                named = option.view in self["views"]
                wanted = everything or named or (self[option.name] and not only_named)
            if wanted:
                chosen.append(option.view)
        return chosen

    def files(self) -> dict[str, str]:
        """The files to write beside the report, by the names of their options."""
        names = [option.name for option in options_of(self.command) if option.kind == "file"]
        return {name: self[name] for name in names if self[name]}

    def request(self, form: str, output: str, append: bool = False) -> Request:
        """How the report is to be delivered: in the format `form`, to `output`."""
        from incc.driver.deliver import Request

        chosen = {"views", "kernel", "all-views"}
        # The core's own view says nothing of what is wanted of kernels.
        chosen |= {o.name for o in options_of(self.command) if o.view and o.field != "port_model"}
        asked = bool(chosen & self.names)
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
            few=FEW if wrapper and not asked else None,
            uops=self["timeline-uops"],
            wait=not wrapper,
        )


# --- what the analysis is told ---------------------------------------------------------------------------------------


def _timeline(given: Given) -> int:
    if given.command == MCA:
        wanted = "timeline" in given.views() or given["timeline-uops"] or given["html"]
        return (given["timeline-max-iterations"] or PAGE_ITERATIONS) if wanted else 0
    if given["timeline"] >= 0:
        return int(given["timeline"])
    if given["html"]:
        return PAGE_ITERATIONS
    from incc.driver.pipeline import Settings

    return Settings().timeline_iterations


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
    """The options of views that are llvm-mca's alone, those that are asked for."""
    asked = {name for name in _LLVM_VIEWS if given[name]}
    general = _STATS if given["all-stats"] else ()
    if given["all-views"]:
        # As in llvm-mca -all-stats=0 leaves these out; a view that is named is as it is said.
        general = ("bottleneck-analysis", *(_STATS if given["all-stats"] or "all-stats" not in given.names else ()))
    return asked.union(name for name in general if name not in given.names)


READERS: dict[str, Callable[[Given], Any]] = {
    "regions": lambda given: "loops" if given["auto"] else "marked",
    "iterations": lambda given: given["iterations"] or 100,
    "timeline_cycles": lambda given: given["timeline-max-cycles"] or MOST,
    "pressure": lambda given: "bottleneck-analysis" in llvm_views(given),
    "syntax": lambda given: {0: "att", 1: "intel"}.get(given["output-asm-variant"], ""),
    "timeline_iterations": _timeline,
    "what_if": _changes,
    "port_model": lambda given: "port-model" in given.views(),
    "waits": lambda given: "waits" in given.views() or bool(given["detail"]),
    "ways": lambda given: tuple(name for name in ("branch", "paths") if given[name]),
    "control_flow": lambda given: bool(given["cfg"]),
}
"""The fields of `pipeline.Settings` that are made of several options, or are not what the option is."""


def check_targets(targets: Iterable[tuple[str, str]], inputs: Iterable[str] = ()) -> None:
    """Raises UsageError if two options name the same file, or one a file of the command that is not theirs to write, or
    what is no file's name.

    `targets` are pairs of the option and its file, `inputs` the names of those files.
    """
    import os

    taken: dict[str, str] = {}
    for option, file in targets:
        if "\0" in file:
            raise UsageError(f"{option}={file}: there is a NUL in the name".replace("\0", "\\0"))
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
