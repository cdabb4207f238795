"""The kernel's filter for a child that runs a loop: no system call reaches files or other processes.

A loop itself makes no system call: each one from its addresses ends the child. A loop may also overwrite the child's
code and data and make that code call the system. Of the other calls, the filter therefore permits only those that the
child needs to take samples; the rest fail with EPERM. The filter is a program for seccomp in classic BPF (bpf(4),
seccomp(2)), the same for all instruction sets except for the numbers of the calls.
"""

from __future__ import annotations

import errno
import struct

from incc.measuring import counters, native

CALLS: dict[str, tuple[int, int | None]] = {
    "mmap": (9, 222),
    "mprotect": (10, 226),
    "munmap": (11, 215),
    "brk": (12, 214),
    "rt_sigprocmask": (14, 135),
    "rt_sigreturn": (15, 139),
    "select": (23, None),
    "sched_yield": (24, 124),
    "mremap": (25, 216),
    "madvise": (28, 233),
    "nanosleep": (35, 101),
    "exit": (60, 93),
    "futex": (202, 98),
    "restart_syscall": (219, 128),
    "clock_gettime": (228, 113),
    "clock_nanosleep": (230, 115),
    "exit_group": (231, 94),
    "pselect6": (270, 72),
    "getrandom": (318, 278),
}
"""The numbers of the calls that pass on x86-64 and on AArch64; None if there is no such call."""

COUNTING = {"read": (0, 63), "close": (3, 57), "ioctl": (16, 29)}
"""Those that pass as well if performance counters are read; perf_event_open does for the child itself and no other
process."""

MACHINES = {"x86_64": 0xC000_003E, "aarch64": 0xC000_00B7}
"""AUDIT_ARCH_* of the instruction sets, in the order of the numbers.

Calls of another instruction set, such as those that `int 0x80` makes on x86-64, end the child.
"""

ALLOW, KILL, REFUSE = 0x7FFF_0000, 0x8000_0000, 0x0005_0000 | errno.EPERM
"""SECCOMP_RET_ALLOW, SECCOMP_RET_KILL_PROCESS and SECCOMP_RET_ERRNO."""

_LOAD, _EQUAL, _RETURN = 0x20, 0x15, 0x06
"""BPF_LD | BPF_W | BPF_ABS, BPF_JMP | BPF_JEQ | BPF_K and BPF_RET | BPF_K."""

_NUMBER, _ARCHITECTURE, _ADDRESS, _PROCESS = 0, 4, 12, 24
"""The places in struct seccomp_data of the call's number, its instruction set, the upper half of the address that it is
made from, and the lower half of its second argument."""


def program(machine: str, counts: bool) -> bytes:
    """Return the filter's instructions (struct sock_filter). `counts` is True if performance counters are read."""
    column = list(MACHINES).index(machine)
    calls = [*CALLS.values(), *(COUNTING.values() if counts else ())]
    numbers = [number for row in calls if (number := row[column]) is not None]
    filters = [
        (_LOAD, 0, 0, _ADDRESS),
        (_EQUAL, 0, 1, native.CODE >> 32),  # no other code has this upper half
        (_RETURN, 0, 0, KILL),
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_EQUAL, 1, 0, MACHINES[machine]),
        (_RETURN, 0, 0, KILL),
        (_LOAD, 0, 0, _NUMBER),
    ]
    for number in numbers:
        filters += [(_EQUAL, 0, 1, number), (_RETURN, 0, 0, ALLOW)]
    if counts:
        filters += [
            (_EQUAL, 0, 3, counters.OPEN[machine]),
            (_LOAD, 0, 0, _PROCESS),
            (_EQUAL, 0, 1, 0),
            (_RETURN, 0, 0, ALLOW),
        ]
    filters.append((_RETURN, 0, 0, REFUSE))
    return b"".join(struct.pack("=HBBI", *each) for each in filters)
