"""`python -m incc.driver.scan`."""

import sys

from incc.driver.messages import interruptible
from incc.driver.scan import main

if __name__ == "__main__":
    sys.exit(interruptible(main))
