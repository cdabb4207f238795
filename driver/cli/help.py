"""Prints what `--help` asks for: the help, the manual page, or completion for shells."""

from __future__ import annotations

import sys


def print_help(command: str, wanted: str) -> int:
    """Print what --help=`wanted` of a command asks for ("all": the text); returns the exit status."""
    if wanted == "man":
        from incc.driver.cli.manual import page

        text = page(command)
    elif wanted in ("bash", "zsh"):  # one script is for both
        from incc.driver.cli.completion import script

        text = script()
    else:
        from incc.driver.cli.usage import help_text

        text = help_text(command)
    return write(text)


def write(text: str) -> int:
    """Write help to standard output; returns the exit status."""
    from incc.driver.deliver import write_stream

    try:
        write_stream(sys.stdout, lambda width, colour: text)
    except OSError:
        return 1
    return 0
