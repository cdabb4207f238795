"""The child process of a cluster's worker that answers the requests of a scan: `python -m …scan.serve CONNECTION`."""

from __future__ import annotations

import sys

from incc.driver.commands.scan.request import responder_of
from incc.driver.messages import collect_seldom
from incc.fleet.cluster_worker import serve

if __name__ == "__main__":
    collect_seldom()
    serve(sys.argv[1], responder_of)
