"""`python -m incc.driver.commands.job FILE…`: analyse the jobs of compilations (`driver/builds/jobs.py`).

Not a command for users: the front starts it if no worker takes a job, and the service of workers for its own jobs. The
exit status is 0 even if an analysis fails, unless INCC_STRICT is set.
"""

from __future__ import annotations

import os
import sys

from incc.driver.builds.jobs import run_job
from incc.driver.messages import collect_seldom
from incc.support.signals import end_in_order


def main(arguments: list[str] | None = None) -> int:
    """Run the jobs in these folders or files and return the exit status."""
    end_in_order()
    collect_seldom()
    strict = os.environ.get("INCC_STRICT", "") not in ("", "0")
    failed = False
    # Each job changes the working directory.
    for place in [os.path.abspath(name) for name in (sys.argv[1:] if arguments is None else arguments)]:
        failed |= bool(run_job(place))
    return 1 if failed and strict else 0


def serve(arguments: list[str]) -> int:
    """Run the service of workers (builds/service.py) on a listening socket, given as its file descriptor."""
    import incc.driver.builds.wrapping  # noqa: F401 (imported for all workers)
    from incc.driver.builds import service
    from incc.driver.commands.incc import finished

    collect_seldom()
    return service.serve(int(arguments[0]), finished)


if __name__ == "__main__":
    sys.exit(main())
