"""The child process of a worker in tests: `python -m cluster_child CONNECTION`."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from incc.fleet.cluster_worker import serve
from incc.fleet.engines import Respond
from incc.fleet.messages import request


def respond(data: bytes) -> bytes:
    """Return the number of this process, and the contents of the request's files that have copies."""
    message = request(data)
    if message.inputs == [b"sleep"]:
        time.sleep(600)
    return b" ".join([b"%d" % os.getpid(), *[Path(stamp.here).read_bytes() for stamp in message.files if stamp.here]])


def load(settings: bytes) -> Respond:
    """Return the function that answers requests."""
    return respond


if __name__ == "__main__":
    serve(sys.argv[1], load)
