"""Prints what `--help` asks for: the help, the manual page, or completion for shells."""

from __future__ import annotations

import sys


def print_help(command: str, wanted: str) -> int:
    """Print what --help=`wanted` asks for ("all": the text); returns the exit status."""
    if wanted == "man":
        from incc.driver.manual import page

        text = page(command)
    elif wanted == "bash":
        from incc.driver.completion import script

        text = script()
    else:
        from incc.driver.usage import help_text

        text = help_text(command)
    from incc.driver.deliver import write_stream

    try:
        write_stream(sys.stdout, lambda width, colour: text)
    except OSError:
        return 1
    return 0
