"""Performance counters, where the kernel lets a program have them.

The kernel's interface is perf_event_open(2), called through ctypes. It counts `cycles` and the raw events that the
caller names.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import platform
import struct
from collections.abc import Callable, Mapping
from typing import Any

OPEN = {"x86_64": 298, "aarch64": 241}
"""The numbers of perf_event_open."""
_HARDWARE, _RAW = 0, 4
_CPU_CYCLES = 0
_ENABLE, _DISABLE, _RESET = 0x2400, 0x2401, 0x2403
# disabled, exclude_kernel, exclude_hv of struct perf_event_attr's flags.
_FLAGS = 1 << 0 | 1 << 5 | 1 << 6
_ATTRIBUTE_BYTES = 112
_REPEATS = 9

Run = Callable[[int, int], None]
"""A function that runs a loop; its arguments are the trips per entry and the number of entries."""


class Counters:
    """The kernel's performance counters of cycles and of raw events, by name.

    `why_not` says why there are none for this process, and is empty if there are.
    """

    def __init__(self, wanted: bool = True, events: Mapping[str, int] | None = None) -> None:
        self.events = {"cycles": (_HARDWARE, _CPU_CYCLES)}
        self.events |= {name: (_RAW, code) for name, code in (events or {}).items()}
        self.why_not = "" if wanted else "not wanted"
        if wanted:
            try:
                os.close(_open(_HARDWARE, _CPU_CYCLES))
            except OSError as e:
                self.why_not = reason(e)

    def count(self, run: Run, trips: int, times: int) -> dict[str, float]:
        """Return counts a trip by event, "cycles" among them; empty without counters."""
        if self.why_not:
            return {}
        counts: dict[str, float] = {}
        # A few at a time: the kernel estimates events beyond the processor's counters.
        for event, (kind, config) in self.events.items():
            try:
                descriptor = _open(kind, config)
            except OSError:
                continue
            try:
                one = sorted(_counted(descriptor, run, trips, times) for _ in range(_REPEATS))
                two = sorted(_counted(descriptor, run, 2 * trips, times) for _ in range(_REPEATS))
            finally:
                os.close(descriptor)
            counts[event] = (two[_REPEATS // 3] - one[_REPEATS // 3]) / (trips * times)
        return counts if "cycles" in counts else {}


def _counted(descriptor: int, run: Run, trips: int, times: int) -> int:
    fcntl.ioctl(descriptor, _RESET, 0)
    fcntl.ioctl(descriptor, _ENABLE, 0)
    run(trips, times)
    fcntl.ioctl(descriptor, _DISABLE, 0)
    return int.from_bytes(os.read(descriptor, 8), "little")


def _open(kind: int, config: int) -> int:
    attribute = struct.pack("=IIQQQQQ", kind, _ATTRIBUTE_BYTES, config, 0, 0, 0, _FLAGS)
    buffer = ctypes.create_string_buffer(attribute, _ATTRIBUTE_BYTES)
    libc: Any = ctypes.CDLL(None, use_errno=True)
    number = OPEN.get(platform.machine())
    if number is None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    descriptor = libc.syscall(
        ctypes.c_long(number), buffer, ctypes.c_int(0), ctypes.c_int(-1), ctypes.c_int(-1), ctypes.c_ulong(0)
    )
    if descriptor < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return int(descriptor)


def reason(error: OSError) -> str:
    """Explain in words why perf_event_open failed."""
    if error.errno in (errno.EACCES, errno.EPERM):
        try:
            with open("/proc/sys/kernel/perf_event_paranoid", encoding="ascii") as f:
                level = f.read().strip()
        except OSError:
            level = "unknown"
        return f"the kernel does not allow them (kernel.perf_event_paranoid is {level}; 2 or less is needed)"
    if error.errno in (errno.ENOENT, errno.ENODEV, errno.EOPNOTSUPP):
        return "the processor shows none (a virtual machine without them)"
    if error.errno == errno.ENOSYS:
        return "the kernel has no perf_event_open"
    return error.strerror or str(error)
