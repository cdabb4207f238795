"""The process that runs loops: `python -m incc.measuring.server`, for `harness.Harness`.

It compiles the timing code once and has one thread, so that it can fork a child for each loop. It reads lists of JSON
objects, one a line ({"code": hexadecimal, "counter", "registers", "content"}), and writes a list for each: {"cycles",
"spread", "disturbed", "way", "events"} or {"kind", "text"}.

The loop runs n trips and 2 n trips, and the difference of the times cancels the cost of entering. Each run waits until
the one before is done, since the two would otherwise overlap, differently for each length. A sample takes some 25,000
core cycles, shorter than the time between disturbances; the time of a chain of 10,000 dependent additions on either
side of it tells the length of a core cycle at that moment. Times of n trips and of 2 n trips are sorted separately, so
that no disturbed sample of the former makes a difference look small, and lower quantiles are taken.

Another thread of the same core takes issue slots: a crowd of independent instructions that fills them all then takes
longer, while the chain does not. Such samples are not used as long as there are others; if there are few, more are
taken. A loop starts over from the same registers, so that it stays in the first-level cache: 2 n trips touch six pages
at most (`longest`).
"""

from __future__ import annotations

import ctypes
import gc
import json
import mmap
import os
import resource
import signal
import struct
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from incc.measuring import counters, native, sandbox

_PAGES = 6
_FEWEST, _MOST = 8, 3000
"""Trips of a sample."""
_PROBE = 400
"""Most trips of the runs from which the length of rough samples is estimated."""
_CYCLES = 25_000
"""Core cycles of a sample."""
UNITS = 100
"""Units of a chain, of native.LINKS additions each."""


class _Effort(msgspec.Struct, frozen=True, kw_only=True):
    """The samples that a figure rests on."""

    first: int
    """Samples from which the length of a sample is chosen."""
    samples: int
    """Samples of a round."""
    rounds: int
    """Rounds after which a figure that is not steady counts."""
    most_rounds: int
    enough: int
    """Undisturbed samples with which rounds end."""
    fair: int
    """Undisturbed samples without which disturbed ones are used."""
    steady: float
    """Relative spread above which more rounds are run."""


_EXACT = _Effort(first=5, samples=40, rounds=24, most_rounds=64, enough=30, fair=12, steady=0.01)
_ROUGH = _Effort(first=2, samples=10, rounds=1, most_rounds=6, enough=6, fair=4, steady=0.02)
_ENTERING = 300
"""Core cycles that entering a loop may cost: earlier work is waited for, registers are loaded, and the end is not
foreseen."""
_TWO_WAYS = 0.05
"""Relative spread above which a loop is taken to behave in more than one way."""
_UNSURE = 0.25
"""Relative spread of a figure that was never measured undisturbed."""
_CALIBRATION = 6000
ALONE = 1.04
"""The factor by which a crowd may take longer than alone."""
NOT_EXECUTED = "the system does not execute memory that was written (SELinux?)"
_IN_A_CHILD = 32
"""Loops that one child runs at most."""
_HEAD = struct.Struct("=Q")
"""The length of a child's answer, in front of it."""
_CPU_SECONDS, _SECONDS = 3, 120
_MEMORY = 1 << 30
_SIGNALS = {
    signal.SIGILL: ("SIGILL", "an instruction that this processor does not have, or that programs may not use"),
    signal.SIGFPE: ("SIGFPE", "a division by zero, or whose quotient is too large"),
    signal.SIGTRAP: ("SIGTRAP", "a breakpoint"),
    signal.SIGSEGV: (
        "SIGSEGV",
        "an access that the system does not allow, or an instruction that programs may not use",
    ),
    signal.SIGBUS: ("SIGBUS", "an access that the system does not allow"),
    signal.SIGPROF: ("timeout", f"it ran for more than {_CPU_SECONDS} seconds"),
    signal.SIGXCPU: ("timeout", f"it ran for more than {_CPU_SECONDS} seconds"),
    signal.SIGALRM: ("timeout", f"no figure after {_SECONDS} seconds: the machine is too busy"),
    signal.SIGKILL: ("killed", "the system killed it"),
    signal.SIGSYS: ("SIGSYS", "it called the system"),
}
_ENDS = {
    native.BAD_ADDRESS: ("address", "an address that no program has: below 64 KiB, or the system's"),
    native.PROTECTION: (
        "address",
        "an address that is not aligned as the instruction needs it, or not canonical, or an instruction that programs "
        "may not use",
    ),
    native.TOO_MANY_PAGES: ("memory", "it touches more memory than it may"),
    native.NO_MEMORY: ("memory", "memory that is not free"),
    native.OWN_MEMORY: ("memory", "memory that is not free"),
}


class LoopCycles(msgspec.Struct, frozen=True, kw_only=True):
    """The cycles of a loop, from its samples."""

    cycles: float
    """Cycles per trip."""
    spread: float
    """The spread between the lower of the samples."""
    used: int
    """The least number of undisturbed samples, of either length."""
    disturbed: float
    """The share of disturbed samples."""


def evaluate(
    rows: Sequence[Sequence[int]], trips: int, empty: int, alone: float, entries: int = 1, fair: int = _EXACT.fair
) -> LoopCycles:
    """Return a loop's figure from rows of times. Each measurement of a time took `empty`.

    A row is a crowd, a chain, one run, a chain, a crowd, a run twice as long, a chain, a crowd. `trips` are those of
    the shorter run, which is entered `entries` times; `alone` is a crowd's share of a chain's time on an idle core.
    With fewer than `fair` undisturbed samples, all are used.

    The time of the shorter run beyond half of the longer one is the cost of entering. Where it is more than entering
    can cost, or negative, the two ran in different states of the core, and the excess is the spread.
    """
    links = UNITS * native.LINKS
    one: list[tuple[bool, float]] = []
    two: list[tuple[bool, float]] = []
    for row in rows:
        crowd0, before, a, between, crowd1, b, after, crowd2 = (max(t - empty, 1) for t in row)
        first, second = min(before, between), min(between, after)
        most = alone * ALONE
        one.append((crowd0 > most * first or crowd1 > most * first, a * links / first))
        two.append((crowd1 > most * second or crowd2 > most * second, b * links / second))
    fair_one, fair_two = ([t for bad, t in times if not bad] for times in (one, two))
    used = min(len(fair_one), len(fair_two))
    if used < fair:
        fair_one, fair_two = ([t for _, t in times] for times in (one, two))
    fair_one.sort()
    fair_two.sort()
    short, long = _quantile(fair_one, 1 / 8), _quantile(fair_two, 1 / 8)
    cycles = (long - short) / trips
    spread = (_quantile(fair_two, 1 / 3) - _quantile(fair_one, 1 / 16)) / trips - cycles
    if abs(spread) > _TWO_WAYS * abs(cycles):
        # A loop that goes one of several ways each time it is entered: quantiles of short and long runs may be of
        # different ways, but rarely are those of one sample.
        pairs = sorted((b - a) / trips for (bad, a), (worse, b) in zip(one, two, strict=True) if not (bad or worse))
        if len(pairs) >= fair:
            cycles = _quantile(pairs, 1 / 3)
            spread = _quantile(pairs, 1 / 2) - _quantile(pairs, 1 / 6)
    spread = abs(spread)
    entering = 2 * short - long
    if not -0.02 * short <= entering <= _ENTERING * entries + 0.02 * short:
        spread = max(spread, abs(entering) / trips)
    return LoopCycles(cycles=cycles, spread=spread, used=used, disturbed=1 - used / len(rows))


def longest(touched: Callable[[int], int], most: int) -> int:
    """Return the trips of the longest run that touches at most _PAGES pages and has at most `most` trips.

    0 if the shortest touches more. `touched` runs a number of trips and returns the number of pages. Memory stays
    mapped, and all runs begin alike, so these are the pages of the longest run so far, which is why the limit is
    approached from below.
    """
    most = min(max(most, 2 * _FEWEST), 2 * _MOST)
    longest_run, trips = 0, 2 * _FEWEST
    while trips <= most and touched(trips) <= _PAGES:
        longest_run = trips
        trips += max(min(trips // 8, most - trips), 1)
    return longest_run


def _quantile(ordered: Sequence[float], part: float) -> float:
    return ordered[int(part * len(ordered))]


def alone(rows: Sequence[Sequence[int]], empty: int) -> float:
    """Return a crowd's share of a chain's time on an idle core, if three rows (a crowd, a chain) saw that.

    Each is sorted by itself: the quotient of a row whose chain was interrupted would be too small. Nothing makes either
    faster than it can be.
    """
    crowds, chains = (sorted(r[k] - empty for r in rows) for k in (0, 1))
    third = min(2, len(rows) - 1)
    return crowds[third] / max(chains[third], 1)


def _most_memory() -> int:
    """Return the limit of a child's memory in bytes: its current use and some more; None without /proc."""
    try:
        with open("/proc/self/statm", encoding="ascii") as f:
            return int(f.read().split()[0]) * resource.getpagesize() + _MEMORY
    except (OSError, ValueError):
        return resource.RLIM_INFINITY


def _lower(limit: int, most: int) -> None:
    """Lower a limit, which may be lower already: only the system may raise it."""
    hard = resource.getrlimit(limit)[1]
    if hard != resource.RLIM_INFINITY and (most == resource.RLIM_INFINITY or hard < most):
        most = hard
    resource.setrlimit(limit, (most, most))


class _Stack(ctypes.Structure):
    _fields_ = (("place", ctypes.c_void_p), ("flags", ctypes.c_int), ("size", ctypes.c_size_t))


class _Action(ctypes.Structure):
    """struct sigaction of Linux's C libraries on 64-bit systems."""

    _fields_ = (
        ("handler", ctypes.c_void_p),
        ("mask", ctypes.c_uint64 * 16),
        ("flags", ctypes.c_int),
        ("restorer", ctypes.c_void_p),
    )


_SA_SIGINFO, _SA_ONSTACK, _SA_NODEFER = 4, 0x0800_0000, 0x4000_0000
_PR_SET_PDEATHSIG, _PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS = 1, 22, 38
_SECCOMP_MODE_FILTER = 2
_MAP = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x10  # MAP_FIXED


def _no_calls(machine: str, counts: bool) -> tuple[Any, Any]:
    """Return a struct sock_fprog of the child's filter (measuring/sandbox.py), and the filter."""
    filters = sandbox.program(machine, counts)
    code = ctypes.create_string_buffer(filters, len(filters))
    return ctypes.create_string_buffer(struct.pack("=H6xQ", len(filters) // 8, ctypes.addressof(code))), code


def outlive_nobody(parent: int) -> None:
    """End this process together with its parent.

    The kernel only watches for later exits, so a parent that has already exited is detected by the new parent's id.
    """
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


class Server:
    """The server that runs loops, each in a child."""

    def __init__(self, counting: counters.Counters, unsafe: bool = False) -> None:
        self.native = native.Native()
        self.counting = counting
        self.unsafe = unsafe
        """Run loops even if the kernel does not confine them."""
        self.process = os.getpid()
        self.libc: Any = ctypes.CDLL(None, use_errno=True)
        self.libc.mmap.restype = ctypes.c_void_p
        self.libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
        # The child's results, in shared memory.
        self.shared = mmap.mmap(-1, 65536)
        self.alternate = ctypes.create_string_buffer(1 << 20)
        self.empty = min(self.native.empty(2000) for _ in range(5))
        self.alone = 0.0
        """A crowd's share of a chain's time on an idle core."""
        self.calibrate()
        # Every page that Python writes to in a child, and it writes to all that it looks at, is copied first. So what
        # can be done once is done here.
        self.filter = _no_calls(self.native.machine, not counting.why_not)
        self.most_memory = _most_memory()

    def confines(self) -> bool:
        """Return True if children can be confined."""
        child = os.fork()
        if not child:
            os._exit(0 if self._confine() else 1)
        return os.waitpid(child, 0)[1] == 0

    def calibrate(self) -> None:
        """Observe the core for some 30 ms. A thread that keeps it busy all the time stays unnoticed."""
        ticks = (ctypes.c_uint64 * (2 * _CALIBRATION))()
        self.native.beside(UNITS, _CALIBRATION, ctypes.addressof(ticks))
        self.alone = alone([ticks[i : i + 2] for i in range(0, 2 * _CALIBRATION, 2)], self.empty)

    def measure_all(self, jobs: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return the answers to loops, in their order."""
        answers: list[dict[str, Any]] = []
        many = _IN_A_CHILD
        while len(answers) < len(jobs):
            results, why = self._together(jobs[len(answers) : len(answers) + many])
            answers += results
            many = _IN_A_CHILD
            if why is not None and not results:
                answers.append(why)
            elif why is not None:
                # An earlier loop in the same child may be the cause.
                many = 1
        return answers

    def _together(self, jobs: Sequence[dict[str, Any]]) -> tuple[list[dict[str, Any]], dict[str, Any] | None]:
        """Return answers to the first loops, from one child, and how it ended, if not by finishing its work."""
        codes = []
        for job in jobs:
            code = native.align(self.native.machine, bytes.fromhex(job["code"]))
            if len(code) > native.LONGEST:
                break
            codes.append(code)
        if not codes:
            return [], {"kind": "code", "text": f"{len(code)} bytes of code are more than {native.LONGEST}"}
        self.shared[: _HEAD.size] = bytes(_HEAD.size)
        child = os.fork()
        if not child:
            # The child must never continue as a server.
            try:
                self._child(codes, jobs)
                os._exit(0)
            except BaseException as e:
                self._say({"kind": "harness", "text": f"{type(e).__name__}: {e}"})
                os._exit(1)
        _, status = os.waitpid(child, 0)
        results = self._said()
        for one in results:
            # The longer it looks, the surer it is.
            self.alone = min(self.alone, one.pop("alone", self.alone))
        end = os.waitstatus_to_exitcode(status)
        if end < 0 or end in _ENDS:
            kind, text = _ENDS.get(end) or _SIGNALS.get(signal.Signals(-end), ("signal", f"signal {-end}"))
            return results, {"kind": kind, "text": text}
        if end or not results:
            wrong = {"kind": "harness", "text": f"ended with status {end}"}
            return results[:-1], results[-1] if results and results[-1].get("kind") == "harness" else wrong
        return results, None

    def _say(self, what: dict[str, Any]) -> None:
        """Add to the child's results."""
        text = json.dumps(what).encode() + b"\n"
        (size,) = _HEAD.unpack_from(self.shared)
        self.shared[_HEAD.size + size : _HEAD.size + size + len(text)] = text
        _HEAD.pack_into(self.shared, 0, size + len(text))

    def _said(self) -> list[dict[str, Any]]:
        (size,) = _HEAD.unpack_from(self.shared)
        return [json.loads(line) for line in self.shared[_HEAD.size : _HEAD.size + size].splitlines()]

    # --- in the child ------------------------------------------------------------------------------------------------

    def _child(self, codes: Sequence[bytes], jobs: Sequence[dict[str, Any]]) -> None:
        self._limit()
        os.close(0)  # the requests are the server's
        for number, (code, job) in enumerate(zip(codes, jobs, strict=False)):
            if number and not self._clean():
                return  # the next child goes on
            slot = self._load(code, job)
            if not number and not self._confine() and not self.unsafe:
                raise OSError(ctypes.get_errno(), "the kernel does not confine the loop")
            self._say(self._run(slot, job))

    def _confine(self) -> bool:
        """Have the kernel refuse this process what no loop needs; return False if it has no seccomp."""
        self.libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        return not self.libc.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, self.filter[0], 0, 0)

    def _clean(self) -> bool:
        """Unmap the memory that the last loop touched; return False if that is more than was recorded.

        The next loop then starts in the same state as the first one.
        """
        faults = ctypes.c_uint64.from_address(native.STATE + native.FAULTS).value
        if faults > native.MOST_TOUCHED:
            return False
        pages = (ctypes.c_uint64 * faults).from_address(native.STATE + native.TOUCHED)
        size = resource.getpagesize()
        return not any(self.libc.munmap(ctypes.c_void_p(page), ctypes.c_size_t(size)) for page in pages)

    def _run(self, slot: int, job: dict[str, Any]) -> dict[str, Any]:
        """Take the samples of the loaded loop."""
        rough = bool(job.get("rough"))
        effort = _ROUGH if rough else _EXACT
        step, first = int(job.get("step", 1)), int(job.get("first", 0))
        ticks = (ctypes.c_uint64 * (native.ROW * effort.samples))()

        def sample(trips: int, times: int, count: int) -> list[list[int]]:
            starts = (first + step * trips, first + step * 2 * trips)
            self.native.samples(slot, *starts, times, UNITS, count, ctypes.addressof(ticks))
            return [ticks[i : i + native.ROW] for i in range(0, native.ROW * count, native.ROW)]

        def estimated(trips: int) -> float:
            """Return rough cycles of a trip."""
            rows = sample(trips, 1, effort.first)
            chain = min(r[1] for r in rows) / (UNITS * native.LINKS)
            return max(min(r[2] for r in rows) / chain / trips, 0.01)

        faults = ctypes.c_uint64.from_address(native.STATE + native.FAULTS)

        def touched(trips: int) -> int:
            self.native.run(slot, first + step * trips, 1)
            return faults.value

        trips = longest(touched, int(2 * _CYCLES / estimated(_FEWEST))) // 2
        trips = trips if trips >= _FEWEST else int(job.get("trips", 0)) // 2
        if trips < _FEWEST:
            return {"kind": "stride", "text": "it goes through memory too fast to stay in the first-level cache"}
        estimate = estimated(min(trips, _PROBE) if rough else trips)
        if estimate > 0.2 and trips * estimate > _CYCLES:
            trips = max(_FEWEST, int(_CYCLES / estimate))
        times = max(1, min(12000 // trips, int(_CYCLES / (trips * estimate))))
        if not rough:
            sample(trips, times, 3)
        rows = []
        for number in range(effort.most_rounds):
            rows += sample(trips, times, effort.samples)
            best = evaluate(rows, trips * times, self.empty, self.alone, times, effort.fair)
            steady = best.spread <= max(effort.steady * best.cycles, 0.01)
            if best.used >= effort.enough and (steady or number >= effort.rounds):
                break
            if best.used < effort.fair and number >= effort.rounds and not rough:
                # Wait for other work on the machine to pass.
                time.sleep(0.001 * (number - effort.rounds))
        if best.used < effort.fair:
            # The excess of this figure is unknown.
            best = replace(best, spread=max(best.spread, _UNSURE * best.cycles))
        events = self.counting.count(lambda n, m: self.native.run(slot, first + step * n, m), trips, times)
        result: dict[str, Any] = {
            "way": "counters" if events else "clock",
            "cycles": events.pop("cycles", best.cycles),
            "spread": best.spread,
            "disturbed": best.disturbed,
            "events": events,
        }
        # Few samples would give too small a figure.
        return result if rough else {**result, "alone": alone(rows, self.empty)}

    def _limit(self) -> None:
        """Limit the child: no file, no core dump, bounded time and memory, and no life after the server's."""
        outlive_nobody(self.process)
        _lower(resource.RLIMIT_CORE, 0)
        _lower(resource.RLIMIT_FSIZE, 0)
        _lower(resource.RLIMIT_CPU, _CPU_SECONDS + 2)
        _lower(resource.RLIMIT_AS, self.most_memory)
        signal.setitimer(signal.ITIMER_PROF, _CPU_SECONDS)
        signal.setitimer(signal.ITIMER_REAL, _SECONDS)
        stack = _Stack(ctypes.addressof(self.alternate), 0, len(self.alternate))
        action = _Action(handler=self.native.fault, flags=_SA_SIGINFO | _SA_ONSTACK | _SA_NODEFER)
        if self.libc.sigaltstack(ctypes.byref(stack), None):
            raise OSError(ctypes.get_errno(), "no stack for signals")
        for number in (signal.SIGSEGV, signal.SIGBUS):
            self.libc.sigaction(int(number), ctypes.byref(action), None)

    def _load(self, code: bytes, job: dict[str, Any]) -> int:
        """Load code and registers, and return the address of the counter's first value."""
        state = self.libc.mmap(native.STATE, native.STATE_BYTES, 3, _MAP, -1, 0)
        place = self.libc.mmap(native.CODE, native.CODE_BYTES, 3, _MAP, -1, 0)
        if (state, place) != (native.STATE, native.CODE):
            raise OSError(ctypes.get_errno(), "no memory for the loop")
        code += native.leave(self.native.machine, native.CODE + len(code))
        ctypes.memmove(native.CODE, code, len(code))
        if self.libc.mprotect(ctypes.c_void_p(native.CODE), ctypes.c_size_t(native.CODE_BYTES), 5):
            raise OSError(ctypes.get_errno(), NOT_EXECUTED)
        architecture = self.native.architecture
        content = job["content"] & (1 << 64) - 1
        words = {
            native.FLOATING: architecture.floating,
            native.MOST_FAULTS: 60000,
            native.PAGE: resource.getpagesize(),
        }
        words |= {native.VECTOR + 8 * n: content for n in range(8)}
        words |= {native.REGISTERS + 8 * n: v & (1 << 64) - 1 for n, v in enumerate(job["registers"])}
        memory = job.get("memory") or [content]
        words |= {native.MEMORY + 8 * n: memory[n % len(memory)] for n in range(native.WORDS)}
        for at, word in words.items():
            ctypes.c_uint64.from_address(native.STATE + at).value = word
        return native.STATE + native.REGISTERS + 8 * int(job["counter"])


def main() -> int:
    """Answer requests until the input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    arguments = json.loads(sys.argv[1])
    outlive_nobody(arguments["parent"])
    server = Server(counters.Counters(arguments["counters"], arguments["events"]), arguments["unsafe"])
    # The child copies no page because of a count of references that the collector would change.
    gc.collect()
    gc.freeze()
    gc.disable()
    ready = {"ready": server.native.machine, "counters": server.counting.why_not, "confines": server.confines()}
    print(json.dumps(ready), flush=True)
    for line in sys.stdin:
        print(json.dumps(server.measure_all(json.loads(line))), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
