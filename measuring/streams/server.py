"""The process that streams through arrays on one CPU: `python -m incc.measuring.streams.server`.

It reads jobs as JSON objects, one a line, and writes a line of JSON for each. Its loops are incc's own and access only
its own arrays, so that they run in this process itself; the kernel confines only code that users write
(`measuring/server.py`).

A sample is a piece of the arrays (or several passes through short ones) between two chains of dependent additions,
which tell the length of a core cycle at that moment, and two crowds, which show whether other work took issue slots.
"""

from __future__ import annotations

import ctypes
import json
import mmap
import os
import signal
import sys
import time
from collections.abc import Sequence
from typing import Any

from incc.measuring import native
from incc.measuring.server import ALONE, NOT_EXECUTED, UNITS, alone, outlive_nobody
from incc.measuring.streams.loops import LINE, UNROLL

CHUNK = 1 << 20
"""Bytes of all arrays in a sample, if the arrays are longer."""
_PAD = 4096 + 9 * LINE
"""Bytes between arrays, which keep them from beginning in the same sets of a cache."""
_SAMPLE_CYCLES = 60_000
"""The least core cycles of a sample."""
_BATCH = 8
"""The least number of samples of a call."""
_CALIBRATION = 4000
"""Samples of a crowd and a chain from which the times of an idle core are taken."""
_CODE_BYTES = 1 << 14
"""Room for the code of a function."""
_FAIR = 8
"""Undisturbed samples without which disturbed ones are used."""
_CONTENT = 0x3F
"""The byte that fills the arrays: doubles of it are neither denormal nor large."""


class StreamServer:
    """The arrays of one process, and the code that streams through them."""

    def __init__(self, most_bytes: int) -> None:
        self.native = native.Native()
        self.arrays = mmap.mmap(-1, most_bytes + 8 * _PAD)
        if hasattr(mmap, "MADV_HUGEPAGE"):
            self.arrays.madvise(mmap.MADV_HUGEPAGE)
        self.first = ctypes.addressof(ctypes.c_char.from_buffer(self.arrays))
        ctypes.memset(self.first, _CONTENT, len(self.arrays))
        self.code = mmap.mmap(-1, _CODE_BYTES)
        self.empty = min(self.native.empty(2000) for _ in range(5))
        ticks = (ctypes.c_uint64 * (2 * _CALIBRATION))()
        start = time.perf_counter_ns()
        self.native.beside(UNITS, _CALIBRATION, ctypes.addressof(ticks))
        self.ticks_per_ns = sum(ticks) / (time.perf_counter_ns() - start)
        self.alone = alone([ticks[i : i + 2] for i in range(0, 2 * _CALIBRATION, 2)], self.empty)

    def _load(self, code: bytes) -> int:
        """Make code executable, and return its address."""
        place = ctypes.addressof(ctypes.c_char.from_buffer(self.code))
        self._protect(place, mmap.PROT_READ | mmap.PROT_WRITE)
        ctypes.memmove(place, code, len(code))
        self._protect(place, mmap.PROT_READ | mmap.PROT_EXEC)
        return place

    def _protect(self, place: int, protection: int) -> None:
        libc: Any = ctypes.CDLL(None, use_errno=True)
        if libc.mprotect(ctypes.c_void_p(place), ctypes.c_size_t(_CODE_BYTES), protection):
            raise OSError(ctypes.get_errno(), NOT_EXECUTED)

    def measure(self, job: dict[str, Any]) -> dict[str, Any]:
        """Stream through arrays.

        Args:
            job: "code" of a function in hexadecimal, the number of "arrays", "bytes" of all of them, "seconds" to
                measure, and the time of the "start" (of time.monotonic), if other processes start then, too.

        Returns:
            "cycles" per line of each array, "spread", the share of "disturbed" samples, and the core's clock in "ghz".
        """
        each = max(job["bytes"] // job["arrays"] // UNROLL, 1) * UNROLL
        chunks = max(job["bytes"] // CHUNK, 1)
        chunk_bytes = each // chunks // UNROLL * UNROLL
        stream = native.StreamJob(self._load(bytes.fromhex(job["code"])), iterations=chunk_bytes // UNROLL, passes=1)
        place = self.first + -self.first % LINE
        stream.arrays[:] = [place + n * (each + _PAD) // LINE * LINE for n in range(4)]
        stream.chunks, stream.chunk_bytes = chunks, chunk_bytes
        at_once = max(chunks, _BATCH)
        ticks = (ctypes.c_uint64 * (native.STREAM_ROW * at_once))()

        def batch() -> list[list[int]]:
            self.native.streams(ctypes.addressof(stream), UNITS, at_once, ctypes.addressof(ticks))
            return [ticks[i : i + native.STREAM_ROW] for i in range(0, len(ticks), native.STREAM_ROW)]

        batch()
        if chunks == 1:
            shortest = min(row[2] * UNITS * native.LINKS / max(row[1], 1) for row in batch())
            stream.passes = max(int(_SAMPLE_CYCLES / max(shortest, 1)), 1)
        together = "start" in job
        while together and time.monotonic() < job["start"]:
            batch()
        end, rows = time.monotonic() + job["seconds"], batch()
        while time.monotonic() < end:
            rows += batch()
        while together and time.monotonic() < end + job["seconds"] / 2:
            batch()  # other processes have not finished yet
        return self._evaluated(rows, chunk_bytes // LINE * stream.passes)

    def _evaluated(self, rows: Sequence[Sequence[int]], lines: int) -> dict[str, Any]:
        links = UNITS * native.LINKS
        fair, every, clocks = [], [], []
        for crowd, before, took, after, again in (tuple(max(t - self.empty, 1) for t in row) for row in rows):
            chain = min(before, after)
            every.append(took * links / chain / lines)
            clocks.append(links / chain * self.ticks_per_ns)
            if max(crowd, again) <= self.alone * ALONE * chain:
                fair.append(every[-1])
        used = sorted(fair if len(fair) >= _FAIR else every)
        quarter, half = used[len(used) // 4], used[len(used) // 2]
        return {
            "cycles": quarter,
            "spread": half - quarter,
            "disturbed": 1 - len(fair) / len(rows),
            "ghz": sorted(clocks)[len(clocks) // 2],
        }


def main() -> int:
    """Answer jobs until the input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    arguments = json.loads(sys.argv[1])
    outlive_nobody(arguments["parent"])
    os.sched_setaffinity(0, {arguments["cpu"]})
    server = StreamServer(arguments["bytes"])
    print(json.dumps({"ready": True}), flush=True)
    for line in sys.stdin:
        print(json.dumps(server.measure(json.loads(line))), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
