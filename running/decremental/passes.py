"""The first passes of a program through an instruction, seen by a breakpoint: do two copies take the same course?"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import struct
import time
from collections.abc import Sequence

from incc.running.decremental.traced import ALL_CHILDREN, CONTINUE, OPTIONS, SET_OPTIONS, Start, started

MOST_PASSES = 5_000
"""The passes that are compared. Each takes some 50 µs."""
_MOST_SECONDS = 10.0
_BUSY_TRIES = 200

_SINGLE_STEP, _GET_REGISTERS, _SET_REGISTERS = 9, 12, 13
_REGISTERS = "r15 r14 r13 r12 rbp rbx r11 r10 r9 r8 rax rcx rdx rsi rdi orig_rax rip".split()  # noqa: SIM905
"""The beginning of `struct user_regs_struct`."""
_WORDS = 27
_RIP = _REGISTERS.index("rip")
_TRAP = b"\xcc"
_ENTRY = 9
"""AT_ENTRY in the auxiliary vector."""


def passes(start: Start, module: str, offset: int, registers: Sequence[str]) -> list[tuple[int, ...]] | None:
    """Return the values of registers at a program's first passes through an instruction.

    Args:
        start: the program.
        module: the absolute path of the program or library with the instruction.
        offset: the place of the instruction in the file.
        registers: the roots of general-purpose registers.

    Returns:
        None if the passes cannot be followed.

    Raises:
        AnalysisError: the program cannot be started.
    """
    places = [_REGISTERS.index(name) for name in registers if name in _REGISTERS]
    with started(start, fixed=True) as (libc, process):
        try:
            with contextlib.closing(_Tracee(libc, process.pid)) as tracee:
                return _follow(tracee, module, offset, places)
        except (OSError, ValueError):
            return None


class _Tracee:
    """A program that is traced, with at most one breakpoint. One of its threads is stopped by it."""

    def __init__(self, libc: ctypes.CDLL, pid: int) -> None:
        self.libc = libc
        self.pid = pid
        self.thread = pid
        """The thread that is stopped; 0 when the program has ended."""
        self.seen = {pid}
        self.end = time.monotonic() + _MOST_SECONDS
        os.waitpid(pid, ALL_CHILDREN)  # stopped by exec
        libc.ptrace(SET_OPTIONS, pid, None, OPTIONS)
        self.memory = os.open(f"/proc/{pid}/mem", os.O_RDWR)

    def close(self) -> None:
        os.close(self.memory)

    def entry(self) -> int:
        """Return the address at which the program starts, when its libraries are loaded."""
        with open(f"/proc/{self.pid}/auxv", "rb") as file:
            return int(dict(struct.iter_unpack("<2Q", file.read()))[_ENTRY])

    def address(self, module: str, offset: int) -> int:
        """Return the address of a place in a file. Raises ValueError if it is not loaded."""
        with open(f"/proc/{self.pid}/maps") as file:
            for line in file:
                span, _, start, _, _, *path = line.split(maxsplit=5)
                first, last = (int(number, 16) for number in span.split("-"))
                at = first + offset - int(start, 16)
                if path and path[0].rstrip("\n") == module and first <= at < last:
                    return at
        raise ValueError(module)

    def registers(self) -> list[int]:
        """Return the registers of the stopped thread."""
        buffer = ctypes.create_string_buffer(8 * _WORDS)
        self._ask(_GET_REGISTERS, ctypes.addressof(buffer))
        return list(struct.unpack(f"<{_WORDS}Q", buffer.raw))

    def reach(self, address: int) -> bool:
        """Let the program run until a thread reaches an address. Returns False if it has ended."""
        code = os.pread(self.memory, 1, address)
        os.pwrite(self.memory, _TRAP, address)
        self._ask(CONTINUE, 0)
        while self._wait() and self.registers()[_RIP] != address + 1:
            self._ask(CONTINUE, signal.SIGTRAP)
        if not self.thread:
            return False
        os.pwrite(self.memory, code, address)
        values = self.registers()
        values[_RIP] = address
        buffer = ctypes.create_string_buffer(struct.pack(f"<{_WORDS}Q", *values))
        self._ask(_SET_REGISTERS, ctypes.addressof(buffer))
        return True

    def step(self) -> bool:
        """Execute an instruction of the stopped thread. Returns False if it has ended."""
        self._ask(_SINGLE_STEP, 0)
        status = os.waitpid(self.thread, ALL_CHILDREN)[1]
        return os.WIFSTOPPED(status) and os.WSTOPSIG(status) == signal.SIGTRAP

    def _ask(self, request: int, data: int) -> None:
        if self.libc.ptrace(request, self.thread, None, data):
            raise OSError(ctypes.get_errno(), "ptrace")

    def _wait(self) -> bool:
        """Wait until a thread stops at a trap. Returns False if the program has ended."""
        tries = 0
        while time.monotonic() < self.end:
            self.thread, status = os.waitpid(-1, os.WNOHANG | ALL_CHILDREN)
            if not self.thread:
                # Most traps come at once.
                tries += 1
                time.sleep(0.001 if tries > _BUSY_TRIES else 0)
                continue
            if not os.WIFSTOPPED(status):
                if self.thread == self.pid:
                    break
                continue
            sent = os.WSTOPSIG(status)
            if sent == signal.SIGTRAP and not status >> 16:
                return True
            if self.thread not in self.seen or status >> 16:
                self.seen.add(self.thread)
                sent = 0
            self._ask(CONTINUE, sent)
        self.thread = 0
        return False


def _follow(tracee: _Tracee, module: str, offset: int, places: Sequence[int]) -> list[tuple[int, ...]]:
    found: list[tuple[int, ...]] = []
    if not tracee.reach(tracee.entry()):
        return found
    address = tracee.address(module, offset)
    while len(found) < MOST_PASSES and tracee.reach(address):
        values = tracee.registers()
        found.append(tuple(values[place] for place in places))
        if not tracee.step():
            break
    return found
