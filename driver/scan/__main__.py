"""Entry point of `python -m incc.driver.scan`."""

import sys

from incc.driver.scan import command

if __name__ == "__main__":
    sys.exit(command())
