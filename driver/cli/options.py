"""The options of `incc` and `incc-mca`, in one table.

The table is the source of the commands' help, manual pages and completion (`usage`, `manual`, `completion`), of the
parsing of options, and of the settings of an analysis. To add an option of the analysis, add an entry here and the
field of the part of `Settings` (driver/settings.py) that the entry names.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from incc.driver import UsageError
from incc.driver.cli import shared
from incc.driver.cli.command import VERSION
from incc.driver.cli.kinds import MCA, PREFIXES, WRAPPER, Option
from incc.driver.cli.shared import in_table
from incc.support.errors import nearest

PAGE_ITERATIONS = 10
"""Iterations of a timeline on an HTML page, which can be scrolled."""


def _switch(syntax: str, help: str = "", default: bool = False, **rest: Any) -> Option:
    return Option(syntax, "switch", help, default, **rest)


def _flag(syntax: str, help: str, **rest: Any) -> Option:
    return Option(syntax, "flag", help, False, **rest)


def _size(syntax: str, help: str = "", **rest: Any) -> Option:
    return Option(syntax, "uint", help, 0, **rest)


def _repeatable(syntax: str, kind: str, help: str, **rest: Any) -> Option:
    return Option(syntax, kind, help, (), **rest)


def _of_mca(*options: Option) -> list[Option]:
    return [replace(option, commands=(MCA,)) for option in options]


def _of_wrapper(*options: Option) -> list[Option]:
    return [replace(option, commands=(WRAPPER,)) for option in options]


_VIEWS = (
    "port-model, compact, summary, what-if, info, pressure, waits, timeline, dependencies, critical-path, "
    "loop-carried, memory, quality, decremental, assembly"
)
_USUAL = "compact, summary, info, pressure, dependencies"
_HELP = "show this help, the manual page, or completion for bash and zsh"
_FORMAT, _JSON = shared.formats("text", "json", help="report format")

GROUPS: dict[str, tuple[Option, ...]] = {
    "write": (
        *_of_wrapper(
            Option(
                "--analyze[=FILE]",
                "text",
                "write the report to FILE (default: standard output, or stderr if the compiler uses that)",
                aliases=("o", "output"),
            ),
        ),
        *_of_mca(
            in_table(shared.OUTPUT, kind="text", default="", help="write the report to FILE (default: standard output)")
        ),
        in_table(
            _FORMAT, wrapper_help="report format (default: text; in a folder json)", variable="INCC_FORMAT", excludes=""
        ),
        in_table(_JSON, kind="switch", default=False, wrapper_help="like --analyze-format=json", into="format"),
        Option(
            "graph=FILE.dot|FILE.graphml",
            "file",
            "write the dependency graphs for Graphviz, or as GraphML if FILE ends in .graphml",
            aliases=("dependency-graph", "dg"),
        ),
        Option(
            "cfg=FILE.dot",
            "file",
            "write the control-flow graphs of the analysed functions",
            sets="report.control_flow",
        ),
        Option("html=FILE.html", "file", "write the report as an HTML page"),
        in_table(shared.ROOFLINE),
        *_of_wrapper(
            _flag("remarks", "print the report as compiler diagnostics on stderr (without --analyze: not as text)")
        ),
        Option("sarif=FILE.sarif", "file", "write the report as SARIF 2.1.0, for editors and code hosting"),
        Option(
            "opt-record=FILE.opt.yaml",
            "file",
            "write the report as LLVM optimisation remarks, for opt-viewer and editors",
        ),
        *_of_wrapper(
            Option("keep-assembly=FOLDER", "text", "keep the assembly to which the report's lines refer"),
        ),
        Option(
            "--emit-marked=FILE",
            "attached",
            "write the assembly with markers around the loops or lines, for other tools; alone, no report",
            wrapper_help="write the assembly with markers around the loops, for other tools",
        ),
        Option("--marker=osaca|llvm-mca|iaca|all", "choice", "markers that --emit-marked writes (default: all)", "all"),
    ),
    "analyse": (
        in_table(
            shared.mcpu(shared.MCPU_HELP.format("the host")),
            wrapper_help=shared.MCPU_HELP.format("that of -mtune, -march or -mcpu, else the host"),
            variable="INCC_MCPU",
        ),
        in_table(shared.MODEL_PATH),
        in_table(shared.MAX_SECONDS),
        in_table(shared.MAX_MEMORY),
        *_of_mca(_switch("auto", "analyse innermost loops instead of marked regions", sets="scope.regions")),
        in_table(shared.function("analyse", sets="scope.functions"), variable="INCC_FUNCTION"),
        *_of_mca(
            Option(
                "lines=A-B,N,…",
                "lines",
                "analyse only these lines of the assembly, as one region",
                (),
                sets="scope.lines",
            ),
            _repeatable(
                "address=A-B|A+N",
                "addresses",
                "analyse only this address range of an object file, in hexadecimal (repeatable)",
                sets="scope.addresses",
            ),
            in_table(shared.TRUST_INCLUDES, kind="switch", default=False),
            _switch("raw", "read FILE as plain machine code"),
            _switch("hex", "read FILE as hexadecimal machine code, with empty lines between blocks"),
        ),
        _switch(
            "system-headers",
            "include loops that come only from system headers (default: count them)",
            sets="scope.system_headers",
        ),
        *_of_mca(
            Option("mtriple=TRIPLE", "text"),
            Option("march=NAME", "text", "target, for example x86_64-linux-gnu or aarch64: x86 or AArch64"),
            _repeatable(
                "mattr=+NAME,-NAME",
                "commas",
                "accepted for compatibility with llvm-mca; no effect (help: list the features)",
            ),
            Option("x86-asm-syntax=att|intel", "choice", "syntax at the start of the file (default: att)", "att"),
            Option(
                "skip-unsupported-instructions=none|lack-sched|parse-failure|any",
                "choice",
                "with --compat: skip instructions missing in the model, unparsable lines, or both",
                "none",
            ),
            _size("dispatch=N", sets="kernel.altered.dispatch_width"),
            _size("register-file-size=N", sets="kernel.altered.register_file"),
            _size("lqueue=N", sets="kernel.altered.load_queue"),
            _size("squeue=N", sets="kernel.altered.store_queue"),
            _size("micro-op-queue-size=N", sets="kernel.altered.uop_queue"),
            _size(
                "decoder-throughput=N",
                "override this width or size in the cold-start simulation (0: use the model's value)",
                sets="kernel.altered.decoders",
            ),
            _size(
                "call-latency=N", "cycles of a call in the cold-start simulation", sets="kernel.altered.call_latency"
            ),
            _switch(
                "noalias=false",
                "assume that each load may depend on any earlier store",
                True,
                sets="kernel.altered.noalias",
            ),
            _switch("disable-cb", "accepted for compatibility with llvm-mca; no effect"),
            _switch("disable-im", "ignore comments that set latencies (# LLVM-MCA-LATENCY 100)"),
        ),
        _switch(
            "fixed-ports",
            "split µops equally over their ports instead of balancing the ports",
            sets="kernel.fixed_ports",
        ),
        _flag(
            "no-flag-dependencies",
            "ignore dependencies through flags, as OSACA does by default",
            sets="kernel.flag_dependencies",
        ),
        _switch("simulate=false", "report only bounds, without simulating", True, sets="kernel.simulate"),
        *_of_wrapper(
            Option(
                "marks=use|ignore",
                "choice",
                "analyse only what marks in the source select, if any (docs/source-marks.md; default: use)",
                "use",
                sets="scope.marks",
            )
        ),
        _switch(
            "measure",
            "also run each kernel on this machine and report its cycles (default core: the host)",
            sets="report.measure",
        ),
        _switch(
            "unsafe",
            "measure even if the system cannot isolate the code from files and other processes",
            sets="report.unsafe",
        ),
        *_of_wrapper(
            Option(
                "lto=link|compile",
                "choice",
                "with LTO: analyse the linked code, or each source compiled with -fno-lto (default: link)",
                "link",
                variable="INCC_LTO",
            ),
            _flag(
                "try",
                "compile again with the flags that hints suggest, and report the gain of each",
                aliases=("--try",),
            ),
            Option(
                "mode=lean|full",
                "choice",
                "analyse the code as compiled, or a second compilation with source lines (default: full)",
                "full",
                variable="INCC_MODE",
            ),
            _flag(
                "probe",
                "put probes at innermost loops (those of --analyze-where); run the program with incc-run",
                variable="INCC_PROBE",
            ),
            _flag("strict", "exit with status 1 if the analysis fails (default: warn)", variable="INCC_STRICT"),
        ),
    ),
    "show": (
        _repeatable(
            "views=all|none|NAME,…",
            "views",
            f"views of each kernel: {_VIEWS} (default: {_USUAL} for one main loop, compact for several)",
            wrapper_help=f"views of each loop: {_VIEWS} (default: {_USUAL} and timeline for one main loop, compact "
            "for several)",
        ),
        _repeatable(
            "kernel=FUNCTION[:LINE]",
            "kernels",
            "show only the overview and these kernels, by function, line or name (repeatable)",
            wrapper_help="show only the overview and the views of these loops, by function or line (repeatable)",
        ),
        in_table(shared.where("show only kernels that meet a condition, such as 'cycles > 1.1*bound'")),
        in_table(shared.top("kernels, those with the most to gain")),
        _switch("overview=false", "omit the table with a row per kernel", True),
        _switch("compact-view", default=True, view="compact"),
        _switch("summary-view", default=True, view="summary"),
        _switch("instruction-info", default=True, view="info"),
        _switch("resource-pressure", default=True, view="pressure"),
        _switch("dependency-view", "views that are on unless =false follows", True, view="dependencies"),
        _switch("critical-path", view="critical-path"),
        _switch(
            "loop-carried",
            "show the critical path of one iteration, or each loop-carried chain, step by step",
            view="loop-carried",
        ),
        _switch(
            "assembly",
            "show the source lines by cost, each with its instructions",
            view="assembly",
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
            "detail=LINE",
            "places",
            "show all waits of the instruction in LINE, or in the source line FILE:LINE (repeatable)",
            sets="kernel.waits",
            wrapper_help="show all waits of source line LINE, or FILE:LINE of a header or the assembly (repeatable)",
        ),
        *_of_mca(
            _switch(
                "timeline",
                "show a timeline of the first iterations",
                sets="kernel.timeline_iterations",
                view="timeline",
            )
        ),
        *_of_wrapper(
            Option(
                "timeline=N",
                "count",
                "iterations in the timeline (default: 2; 0: no timeline)",
                -1,
                sets="kernel.timeline_iterations",
                view="timeline",
            )
        ),
        *_of_mca(_switch("timeline-uops", "show a timeline with a row per µop", view="timeline")),
        *_of_wrapper(_switch("timeline-uops=false", "show a timeline row per instruction instead of per µop", True)),
        *_of_mca(
            Option(
                "timeline-max-iterations=N",
                "uint",
                f"iterations in the timeline (default: {PAGE_ITERATIONS})",
                PAGE_ITERATIONS,
                sets="kernel.timeline_iterations",
            ),
        ),
        Option(
            "timeline-max-cycles=N",
            "uint",
            "cycles in the timeline (default: 80; 0: no limit)",
            80,
            sets="kernel.timeline_cycles",
        ),
        _switch(
            "all-views[=false]",
            "show all views, or with =false only those named",
            sets="kernel.waits",
            aliases=("v", "verbose"),
        ),
        *_of_mca(
            _switch("all-stats[=false]", "show the following four statistics"),
            _switch("dispatch-stats"),
            _switch("scheduler-stats"),
            _switch("retire-stats"),
            _switch("register-file-stats", "show llvm-mca's statistics of the cold-start simulation"),
            _switch(
                "bottleneck-analysis",
                "show llvm-mca's bottleneck analysis of the cold-start simulation",
                sets="kernel.pressure",
            ),
            _switch("show-encoding"),
            _switch("show-barriers", "show llvm-mca's instruction info with encodings, or with memory barriers"),
            Option(
                "instruction-tables[=none|normal|full]",
                "mode",
                "show llvm-mca's table of resources per instruction instead of a simulation",
                "none",
            ),
            Option(
                "output-asm-variant=0|1",
                "int",
                "print instructions as LLVM does, in AT&T (0) or Intel (1) syntax (default: as written)",
                -1,
                sets="report.syntax",
            ),
            _switch("print-imm-hex", "print immediate values in hexadecimal", sets="report.hex_immediates"),
        ),
        Option("iterations=N", "uint", "iterations in the summary (default: 100)", 100, sets="report.iterations"),
        _switch("perfect-front-end", sets="kernel.changes"),
        _switch("unlimited-ports", sets="kernel.changes"),
        Option(
            "no-dependencies[=register|memory]",
            "mode",
            "also simulate this idealised core; if several are given, each alone and all together",
            sets="kernel.changes",
        ),
        _repeatable(
            "what-if[=CHANGE]",
            "changes",
            "also simulate a change: 'port 5 += 1', 'rob = 512', 'latency VADDPD = 3' … (repeatable)",
            sets="kernel.changes",
        ),
        _switch(
            "what-if-view",
            "show a table of all standard changes, as --what-if without CHANGE",
            view="what-if",
            wrapper_help="show a table of all standard changes, as --analyze-what-if without CHANGE",
        ),
        in_table(shared.CLOCK),
        Option(
            "loop=N",
            "number",
            "show the cycles of exactly N iterations from a cold start (1: latency of one pass)",
            0,
            sets="kernel.cold_iterations",
        ),
        in_table(shared.DATA),
        in_table(
            shared.CORES,
            wrapper_help="with --analyze-data: number of cores that run the loop, each on its own data (default: 1)",
        ),
        in_table(shared.LET),
        _switch(
            "memory-view",
            "show the cache lines that each stream moves, and where they come from",
            sets="kernel.beyond_l1",
            view="memory",
        ),
        _switch(
            "quality-view",
            "show the use of vectors, registers and the stack, and the rates relative to the core's",
            sets="report.quality",
            view="quality",
        ),
        _switch(
            "decremental-view",
            "show the cycles without each load, store and array, and without arithmetic",
            sets="report.decrements",
            view="decremental",
        ),
        Option(
            "alignment=N|all",
            "alignment",
            "simulate with the first byte of the code at offset N of 64 bytes, or at all 64 offsets",
            -1,
            sets="kernel.alignment",
        ),
        _switch("branch", "show both sides of the first branch in each innermost loop", sets="scope.ways"),
        _switch("paths", "show up to 16 paths through each innermost loop with branches", sets="scope.ways"),
        Option(
            "branch-probability=P",
            "probability",
            "probability that a branch is not taken, 0 to 1 (default: both sides equally likely)",
            None,
            sets="scope.branch_probability",
        ),
        Option(
            "trip=N|inner=N,outer=N,LINE=N",
            "trips",
            "also predict whole calls: N iterations of innermost loops, of the loops around, of the loop in a line",
            None,
            sets="scope.trips",
        ),
        Option(
            "mispredict-rate=R",
            "probability",
            "share of mispredicted branches in loops, 0 to 1; their cost is added",
            None,
            sets="report.mispredict_rate",
        ),
    ),
    "other": (
        *_of_mca(
            _flag("compat", "print what llvm-mca prints, except for the numbers (implied by the name llvm-mca…)"),
            Option("help[=man|bash|zsh]", "mode", _HELP, aliases=("h",)),
        ),
        *_of_wrapper(Option("help[=man|bash|zsh]", "mode", _HELP)),
        in_table(VERSION),
        *_of_wrapper(Option("--incc-cc=NAME", "text", 'compiler to run, with arguments if needed ("ccache gcc")')),
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
    """Return True if the command has an option of this name."""
    return _one_dash(command, spelled) in _options_by_name(command)


def find(command: str, spelled: str) -> Option:
    """Return the option of this name.

    Raises:
        UsageError: There is no such option. The message suggests the nearest name.
    """
    options = _options_by_name(command)
    name = _one_dash(command, spelled)
    if name not in options:
        # The prefix that all names share would make all of them similar.
        prefix = PREFIXES[command]
        names = sorted(name.removeprefix(prefix) for name in options if name.startswith(prefix))
        near = nearest(name.removeprefix(prefix), names)
        dashes = "--" if spelled.startswith("--") and command == MCA else prefix
        meant = f"; did you mean {dashes}{near[0]}?" if near else ""
        raise UsageError(f"unknown option {spelled}{meant}")
    return options[name]


def _one_dash(command: str, spelled: str) -> str:
    """Return the name of an option; incc-mca accepts one dash or two."""
    return f"-{spelled.lstrip('-')}" if command == MCA else spelled
