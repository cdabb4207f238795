"""LLVM's names for each instruction set: processors (x86: to LLVM 22), and features with a line on each (LLVM 19)."""

from __future__ import annotations

from pathlib import Path


def cpus(isa: str) -> dict[str, bool]:
    """Return the processors that -mcpu takes, sorted as LLVM lists them, with False for those llvm-mca refuses.

    For these LLVM has no scheduling model.
    """
    return {
        name: not unscheduled for name, _, unscheduled in (line.partition(" ") for line in _lines(f"{isa}-cpus.txt"))
    }


def features(isa: str) -> dict[str, str]:
    """Return the features that -mattr takes, each with its meaning."""
    return {name: text for name, _, text in (line.partition("\t") for line in _lines(f"{isa}-features.txt"))}


def _lines(name: str) -> list[str]:
    return (Path(__file__).parent / name).read_text().splitlines()
