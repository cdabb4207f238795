"""Output of `--help`: the help, the manual page, or completion for shells."""

from __future__ import annotations

import sys

from incc.driver.cli.command import Command, help_text
from incc.driver.cli.completion import script
from incc.driver.cli.manual import page
from incc.driver.deliver import write_stream


def print_help(command: Command, wanted: str) -> int:
    """Print the output of `--help=wanted` ("all": the help text) and return the exit status."""
    if wanted == "man":
        return write(page(command))
    return write(script() if wanted in ("bash", "zsh") else help_text(command))  # the script supports both


def write(text: str) -> int:
    """Write help to standard output and return the exit status."""
    try:
        write_stream(sys.stdout, lambda width, colour: text)
    except OSError:
        return 1
    return 0
