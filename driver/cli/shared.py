"""Options that several commands share, apart from `incc` and `incc-mca`."""

from __future__ import annotations

from collections.abc import Iterable

from incc.driver.cli.kinds import Option

MODEL_PATH = Option(
    "--model-path FOLDER|FILE", "list", "look for models there first (repeatable)", sets="core.model_path"
)
OUTPUT = Option("-o FILE", "file", "output file (default: standard output)", None, aliases=("--output",), into="output")


def mcpu(help: str) -> Option:
    """Return the option that names cores or models."""
    return Option("--mcpu NAME", "text", help, sets="core.mcpu", aliases=("-mcpu",))


def jobs(help: str, default: int = 1) -> Option:
    """Return the option for the number of processes."""
    return Option("-j N", "number", help, default, into="jobs")


def where(help: str, kind: str = "condition") -> Option:
    """Return the option that selects kernels by a condition of this kind."""
    return Option("--where CONDITION", kind, f"{help} (docs/filters.md)", None)


def one_of(name: str, values: Iterable[str], default: str, help: str) -> Option:
    """Return an option with a default among its values."""
    return Option(f"{name} {'|'.join(values)}", "choice", f"{help} (default: {default})", default)


def formats(*values: str, help: str = "output format") -> Option:
    """Return the option for the format of the output; the first one is the default."""
    return one_of("--format", values, values[0], help)
