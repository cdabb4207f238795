"""Entry point of `python -m incc.driver.commands.scan`."""

import sys

from incc.driver.commands.scan import command

if __name__ == "__main__":
    sys.exit(command())
