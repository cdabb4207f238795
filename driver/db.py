"""The command `incc-db`: a database of reports, over commits and builds."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse


def main(arguments: list[str] | None = None) -> int:
    """Run the command; returns its exit status: 0, 1 if not all could be done, 2 for a mistake on the command line."""
    _parser().parse_args(sys.argv[1:] if arguments is None else arguments)
    return 2


def _parser() -> argparse.ArgumentParser:
    import argparse

    return argparse.ArgumentParser(prog="incc-db", description="Keep reports in a database.")
