"""Run every command on hostile input: `python -m test.fuzz --seconds 3600` is to end without a find.

A find is a traceback, a signal, an undocumented exit status, more than 10 seconds of the processor, more than 1 GiB of
memory, temporary files or processes left behind, or another result when the same is run again; of incc another exit
status or object than the compiler's. Each find is made small and written to test/fuzz/finds, where pytest replays it.

PATH has to begin with build/dev/bin or .venv/bin of the tree.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import Counter
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait

from test.fuzz.kinds import KINDS
from test.fuzz.runs import save
from test.fuzz.search import Batch, search

EXAMPLES = 20
"""Examples of a kind before it is the next one's turn."""


def fuzz(kinds: list[str], seed: int, seconds: float, rounds: int, jobs: int, keep: bool, first: bool) -> int:
    """Search until the time is up, print the finds and the number of runs by kind, and return the number of finds.

    Args:
        kinds: Kinds of input, which take turns.
        seed: Decides on the examples.
        seconds: How long to search; what is found then is still made small.
        rounds: Turns of each kind; 0 for as many as there is time for.
        jobs: Number of processes.
        keep: True to write the finds to files.
        first: True to stop at the first find.
    """
    begin = time.monotonic()
    started = 0
    runs: Counter[str] = Counter()
    finds: Counter[str] = Counter()

    def report(batch: Batch) -> None:
        runs[batch.kind] += batch.runs
        if found := batch.found:
            finds[found.signature] += 1
            if finds[found.signature] == 1:
                place = save(found.run, found.fault, found.kind) if keep else "not kept"
                text = found.fault.strip().replace("\n", "\n    ")
                print(f"find: {found.kind}, seed {batch.seed}: {place}\n    {text}", flush=True)

    with ProcessPoolExecutor(jobs) as pool:
        waiting: set[Future[Batch]] = set()

        def more() -> bool:
            complete = rounds and started == rounds * len(kinds)
            return not complete and time.monotonic() < begin + seconds and not (first and finds)

        while waiting or more():
            while more() and len(waiting) < jobs:
                left = begin + seconds - time.monotonic()
                waiting.add(pool.submit(search, kinds[started % len(kinds)], seed + started, EXAMPLES, left))
                started += 1
            done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            for each in done:
                report(each.result())
    for kind in kinds:
        print(f"{runs[kind]:>8} {kind}")
    summary = f"{runs.total()} runs of {len(kinds)} kinds in {time.monotonic() - begin:.0f} s from seed {seed}"
    print(f"fuzz: {summary}, {len(finds)} finds", flush=True)
    return len(finds)


def main(arguments: list[str] | None = None) -> int:
    """Run the command and return 1 if there was a find."""
    parser = argparse.ArgumentParser(
        "python -m test.fuzz", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, help="how long to search (default: 60)")
    parser.add_argument(
        "--rounds", type=int, default=0, metavar="N", help=f"search {EXAMPLES} examples of each kind N times instead"
    )
    parser.add_argument("--seed", type=int, help="number that decides on the examples (default: another each time)")
    parser.add_argument("--only", default="", metavar="KIND,…", help=f"only these of {', '.join(KINDS)}")
    parser.add_argument("-j", type=int, default=1, metavar="N", dest="jobs", help="number of processes (default: 1)")
    parser.add_argument("-x", action="store_true", dest="first", help="stop at the first find")
    parser.add_argument("--no-keep", action="store_true", help="print finds, but write no files")
    options = parser.parse_args(arguments)
    kinds = options.only.split(",") if options.only else list(KINDS)
    if unknown := set(kinds) - KINDS.keys():
        parser.error(f"unknown kind {', '.join(sorted(unknown))}")
    seed = options.seed if options.seed is not None else random.SystemRandom().randrange(1 << 30)
    seconds = options.seconds or (float("inf") if options.rounds else 60.0)
    finds = fuzz(kinds, seed, seconds, options.rounds, options.jobs, not options.no_keep, options.first)
    return int(finds > 0)


if __name__ == "__main__":
    sys.exit(main())
