"""Options for jobs that several commands do, so that the same job has the same option in all of them.

`test_shared_options.py` lists the jobs, and the commands that lack one.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec.structs import replace

from incc.driver.cli.kinds import Option

MODEL_PATH = Option(
    "--model-path FOLDER|FILE", "list", "search this place for models first (repeatable)", (), sets="core.model_path"
)
OUTPUT = Option(
    "-o FILE",
    "output",
    "write the result to FILE (default: standard output)",
    None,
    aliases=("--output",),
    into="output",
)
UNSAFE = Option("--unsafe", "flag", "measure even if the system cannot isolate the code from files and other processes")
TRUST_INCLUDES = Option(
    "--trust-includes",
    "flag",
    "let assembly read the files that .include and .incbin name (default: skip them)",
    sets="scope.trust_includes",
)
MAX_SECONDS = Option(
    "--max-seconds N",
    "count",
    "compute only bounds of a kernel whose simulation takes more than N s (default: 60; 0: no limit)",
    60,
    sets="limits.seconds",
)
MAX_MEMORY = Option(
    "--max-memory SIZE",
    "bytes",
    "skip a kernel whose analysis would take more memory (default: 300M; 0: no limit)",
    300 << 20,
    sets="limits.memory",
)
DATA = Option(
    "--data L1|L2|L3|memory|SIZE|all",
    "data",
    "also predict loops whose data are in these levels, or of this size, such as L2,64M",
    (),
    sets="kernel.data",
)
CORES = Option(
    "--cores N",
    "thousand",
    "with --data: number of cores that run the loop at the same time, each on its own data (default: 1)",
    1,
    sets="kernel.cores",
)
LET = Option(
    "--let NAME=VALUE",
    "let",
    "value of a 64-bit register or a variable at the start of the loop, such as rsi=8000 (repeatable)",
    (),
    sets="kernel.let",
)
CLOCK = Option(
    "--ghz GHZ", "clock", "clock for GFLOP/s, GB/s and elements per second, such as 3.5", 0.0, sets="report.ghz"
)
HTML = Option("--html FILE", "file", "write an HTML page", None)
ROOFLINE = Option(
    "--roofline FILE.svg|FILE.html",
    "picture",
    "draw the loops below the core's ceilings (roofline model)",
    "",
    sets="report.roofline",
)
COMPILED = "C by $CC $CFLAGS, C++ by $CXX $CXXFLAGS, Fortran by $FC $FFLAGS; by default with -O3 and the core's -march."
"""The help on sources (driver/sources.py)."""
MCPU_HELP = "core, or cores separated by commas; see `incc-model list` (default: {})"


def mcpu(help: str) -> Option:
    """Return the option that names cores or models."""
    return Option("--mcpu NAME", "text", help, sets="core.mcpu", aliases=("-mcpu",))


def function(verb: str, **more: Any) -> Option:
    """Return the option that selects functions; its help begins with a verb."""
    help = f"{verb} only these functions: symbol, or C++ name with or without parameters (repeatable)"
    return Option("--function GLOB", "list", help, (), **more)


def jobs(work: str, more: str = "") -> Option:
    """Return the option for the number of processes that do some work; 0 if it is not given."""
    return Option("-j N", "number", f"processes that {work} (default: all CPUs{more})", 0, into="jobs")


def where(help: str, kind: str = "condition") -> Option:
    """Return the option that selects kernels by a condition of this kind."""
    return Option("--where CONDITION", kind, f"{help} (docs/filters.md)", None)


def top(rows: str, default: str = "all") -> Option:
    """Return the option for the most rows of a kind to show; 0 if it is not given."""
    return Option("--top N", "number", f"show at most N {rows} (default: {default})", 0)


def one_of(name: str, values: Iterable[str], default: str, help: str, **more: Any) -> Option:
    """Return an option with a default among its values."""
    return Option(f"{name} {'|'.join(values)}", "choice", f"{help} (default: {default})", default, **more)


def formats(*values: str, help: str = "output format") -> tuple[Option, Option]:
    """Return the options for the format of the output, the default first, and for JSON."""
    return (
        one_of("--format", values, values[0], help, excludes="format"),
        Option("--json", "flag", "like --format=json", excludes="format", into="format", stands_for="json"),
    )


def in_table(option: Option, **changes: Any) -> Option:
    """Return an option for the table of `incc` and `incc-mca`: without a prefix, its value after `=`."""
    aliases = tuple(name.lstrip("-") for name in option.aliases if name.lstrip("-") != option.name.lstrip("-"))
    syntax = option.syntax.lstrip("-").replace(" ", "=", 1)
    return replace(option, **{"syntax": syntax, "aliases": aliases, "into": "", **changes})
