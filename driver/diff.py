"""The command `incc-diff`: what became of kernels between compilers, versions, flags, cores and commits."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse


def main(arguments: list[str] | None = None) -> int:
    """Run the command; returns its exit status: 0, 1 if --fail-if holds for a kernel, 2 for a mistake on the command
    line or input that cannot be read."""
    _parser().parse_args(sys.argv[1:] if arguments is None else arguments)
    return 2


def _parser() -> argparse.ArgumentParser:
    import argparse

    return argparse.ArgumentParser(prog="incc-diff", description="Compare the kernels of several builds.")
