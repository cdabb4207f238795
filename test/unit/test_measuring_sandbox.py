"""Measured code and the child that runs it reach no file and no other process, whatever they try.

An interpreter of the filter tells what it decides on every machine; this machine's kernel is asked for x86-64.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import platform
import re
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from incc.measuring import counters, harness, native, sandbox, server
from incc.measuring.harness import LoopFailure, MachineLoop

HERE = 0x7F00_0000_0000
"""An address that is not a loop's."""


def decision(machine: str, counts: bool, number: int, address: int = HERE, arch: int = 0, second: int = 0) -> int:
    """Run the filter on a call, as the kernel does."""
    data = struct.pack("<iIQ6Q", number, arch or sandbox.MACHINES[machine], address, 0, second, 0, 0, 0, 0)
    code = list(struct.iter_unpack("<HBBI", sandbox.program(machine, counts)))
    accumulator = at = 0
    for _ in range(len(code)):
        operation, yes, no, value = code[at]
        at += 1
        if operation == 0x20:
            (accumulator,) = struct.unpack_from("<I", data, value)
        elif operation == 0x15:
            at += yes if accumulator == value else no
        else:
            assert operation == 0x06
            return int(value)
    raise AssertionError("the filter does not end")


each_machine = pytest.mark.parametrize("machine", sandbox.MACHINES)
either = pytest.mark.parametrize("counts", [False, True])


def numbers(machine: str, counts: bool) -> set[int]:
    column = list(sandbox.MACHINES).index(machine)
    calls = sandbox.CALLS | (sandbox.COUNTING if counts else {})
    return {number for row in calls.values() if (number := row[column]) is not None}


@each_machine
@either
def test_calls_that_sampling_needs_pass_and_no_others(machine: str, counts: bool) -> None:
    passing = numbers(machine, counts) | ({counters.OPEN[machine]} if counts else set())
    for number in [*range(-1, 1000), *(0x4000_0000 + n for n in range(600)), 0x7FFF_FFFF, -0x8000_0000]:
        expected = sandbox.ALLOW if number in passing else sandbox.REFUSE
        assert decision(machine, counts, number) == expected, number


@each_machine
@either
def test_a_call_from_the_loop_ends_the_child(machine: str, counts: bool) -> None:
    for number in (*numbers(machine, counts), 1, 57, 222, 999):
        for address in (native.CODE, native.CODE + 2, native.STATE, native.CODE + 0xFFFF_FFFF):
            assert decision(machine, counts, number, address) == sandbox.KILL
        assert decision(machine, counts, number, native.CODE - 1) != sandbox.KILL


@each_machine
@either
def test_a_call_of_another_instruction_set_ends_the_child(machine: str, counts: bool) -> None:
    """`int 0x80` on x86-64, a child of 32 bits."""
    others = {0x4000_0003, 0x4000_0028, 0xC000_003E, 0xC000_00B7, 1} - {sandbox.MACHINES[machine]}
    for arch in others:
        for number in range(500):
            assert decision(machine, counts, number, arch=arch) == sandbox.KILL


@each_machine
def test_counters_are_those_of_the_child_alone(machine: str) -> None:
    opening = counters.OPEN[machine]
    assert decision(machine, True, opening, second=0) == sandbox.ALLOW
    for process in (1, os.getpid(), 0xFFFF_FFFF, -1 & 0xFFFF_FFFF_FFFF_FFFF):
        assert decision(machine, True, opening, second=process) == sandbox.REFUSE


@pytest.mark.parametrize(
    ("machine", "header", "prefix"),
    [
        ("x86_64", "x86_64-linux-gnu/asm/unistd_64.h", "__NR_"),
        ("aarch64", "asm-generic/unistd.h", "__NR(?:3264)?_"),
    ],
)
def test_numbers_are_those_of_the_kernel(machine: str, header: str, prefix: str) -> None:
    path = Path("/usr/include") / header
    if not path.exists():
        pytest.skip(f"no {header}")
    known = dict(re.findall(rf"#define {prefix}(\w+) (\d+)$", path.read_text(), re.MULTILINE))
    column = list(sandbox.MACHINES).index(machine)
    stated = {name: row[column] for name, row in (sandbox.CALLS | sandbox.COUNTING).items()}
    stated["perf_event_open"] = counters.OPEN[machine]
    for name, number in stated.items():
        assert known.get(name) == (None if number is None else str(number)), name


# --- attempts, on this machine ----------------------------------------------------------------------------------------

x86_64 = pytest.mark.skipif(
    bool(harness.missing()) or platform.machine() != "x86_64", reason="no x86-64 Linux that measures"
)

# x86-64's numbers. Arguments are such that the call would do something without the filter.
ATTEMPTS: dict[str, tuple[Any, ...]] = {
    "open a file": (2, b"%s", os.O_RDONLY),
    "openat": (257, -100, b"%s", os.O_RDONLY),
    "openat2": (437, -100, b"%s", bytes(24), 24),
    "create a file": (85, b"%s.new", 0o600),
    "unlink": (87, b"%s"),
    "make a folder": (83, b"%s.folder", 0o700),
    "rename": (82, b"%s", b"%s.moved"),
    "link": (86, b"%s", b"%s.link"),
    "symlink": (88, b"%s", b"%s.link"),
    "chmod": (90, b"%s", 0o777),
    "truncate": (76, b"%s", 0),
    "stat": (4, b"%s", bytes(256)),
    "open by handle": (304, -100, bytes(64), 0),
    "write": (1, 2, b"", 0),
    "duplicate a descriptor": (32, 2),
    "fcntl": (72, 2, 1),
    "pipe": (22, bytes(8)),
    "memfd": (319, b"a", 0),
    "socket": (41, 1, 1, 0),
    "network": (41, 2, 1, 0),
    "fork": (57,),
    "vfork": (58,),
    "clone": (56, 17, 0, 0, 0, 0),
    "clone3": (435, bytes(88), 88),
    "execve": (59, b"/bin/true", 0, 0),
    "execveat": (322, -100, b"/bin/true", 0, 0, 0),
    "kill": (62, "parent", 0),
    "tgkill": (234, "parent", "parent", 0),
    "pidfd_open": (434, "parent", 0),
    "ptrace": (101, 16, "parent", 0, 0),
    "read another process": (310, "parent", bytes(16), 0, bytes(16), 0, 0),
    "write another process": (311, "parent", bytes(16), 0, bytes(16), 0, 0),
    "limits of another process": (302, "parent", 7, 0, bytes(16)),
    "io_uring": (425, 8, bytes(120)),
    "io_uring_enter": (426, 3, 1, 0, 0, 0),
    "prctl": (157, 4, 1, 0, 0, 0),
    "another filter": (317, 1, 0, 0),
    "arch_prctl": (158, 0x1003, bytes(8)),
    "set the clock": (227, 0, bytes(16)),
    "adjust the clock": (305, 0, bytes(208)),
    "settimeofday": (164, bytes(16), 0),
    "mount": (165, b"none", b"/tmp", b"tmpfs", 0, 0),
    "namespaces": (272, 0x1000_0000),
    "chroot": (161, b"/"),
    "bpf": (321, 0, bytes(128), 128),
    "userfaultfd": (323, 0),
    "keys": (250, 0, -3, 0),
    "shared memory": (29, 0, 4096, 0o1600),
    "counters": (298, bytes(112), 0, -1, -1, 0),
    "read": (0, 0, bytes(8), 0),
    "ioctl": (16, 2, 0x5413, bytes(8)),
    "close": (3, 2),
    "identity": (105, 0),
    "ports of the machine": (172, 3),
    "segments": (154, 0, bytes(16), 16),
    "a call that does not exist": (9999,),
    "x32's getpid": (0x4000_0000 | 39,),
    "x32's open": (0x4000_0000 | 2, b"%s", 0),
    "x32's execve": (0x4000_0000 | 520, b"/bin/true", 0, 0),
}


REFUSED = 555
"""An error that only the filter of these tests returns."""


def confined(attempt: Callable[[], int]) -> tuple[int, int]:
    """Return what an attempt returns in a child under the filter, and the child's status, negative for a signal."""
    shared = mmap.mmap(-1, mmap.PAGESIZE)
    libc = ctypes.CDLL(None, use_errno=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sandbox, "REFUSE", sandbox.REFUSE & 0xFFFF_0000 | REFUSED)
        filters = server._no_calls("x86_64", False)
    libc.prctl(server._PR_SET_NO_NEW_PRIVS, 0, 0, 0, 0)  # looked up before, since that reads files
    child = os.fork()
    if not child:
        libc.prctl(server._PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        if libc.prctl(server._PR_SET_SECCOMP, server._SECCOMP_MODE_FILTER, filters[0], 0, 0):
            os._exit(99)
        try:
            struct.pack_into("q", shared, 0, attempt())
            os._exit(0)
        finally:
            os._exit(98)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status == 99:
        pytest.skip("the kernel has no seccomp")
    return struct.unpack_from("q", shared)[0], status


@x86_64
@pytest.mark.parametrize("what", ATTEMPTS)
def test_the_child_s_own_code_reaches_nothing(what: str, tmp_path: Path) -> None:
    """A loop could make it do something, by writing where it has its code and data."""
    kept = tmp_path / "kept"
    kept.write_text("kept")
    kept.chmod(0o600)
    parent = os.getpid()
    arguments: list[Any] = []
    for value in ATTEMPTS[what]:
        if isinstance(value, bytes):
            arguments.append(ctypes.create_string_buffer(value.replace(b"%s", os.fsencode(kept))))
        else:
            arguments.append(ctypes.c_long(parent if value == "parent" else value))
    libc = ctypes.CDLL(None, use_errno=True)
    call = libc.syscall
    call.restype = ctypes.c_long

    def attempt() -> int:
        ctypes.set_errno(0)
        return -ctypes.get_errno() if call(*arguments) == -1 else 1

    assert confined(attempt) == (-REFUSED, 0)
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]
    assert kept.read_text() == "kept"
    assert kept.stat().st_mode & 0o777 == 0o600


def executable(code: bytes) -> Callable[[], int]:
    """Return machine code in memory that may be executed, as a function."""
    memory = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    memory.write(code)
    function = ctypes.CFUNCTYPE(ctypes.c_long)(ctypes.addressof(ctypes.c_char.from_buffer(memory)))
    function.memory = memory  # type: ignore[attr-defined]  # lives as long
    return function


GETPPID = b"\xb8\x6e\x00\x00\x00"  # mov eax, 110


@x86_64
def test_code_that_is_mapped_anew_has_no_other_calls() -> None:
    """Memory may be mapped and executed, since that needs no file; what is executed may call no more than before."""
    made: list[Callable[[], int]] = []

    def attempt() -> int:
        made.append(executable(GETPPID + b"\x0f\x05\xc3"))  # syscall; ret
        return made[0]()

    assert confined(attempt) == (-REFUSED, 0)
    assert executable(b"\xb8\x07\x00\x00\x00\xc3")() == 7


@x86_64
def test_a_call_of_32_bits_ends_the_child() -> None:
    """`int 0x80` has other numbers: x86's 5 is `open`, 20 is `getpid`, which works without the filter."""
    made = executable(b"\xb8\x14\x00\x00\x00\xcd\x80\xc3")
    assert confined(made)[1] == -31  # SIGSYS


CALLS_OF_LOOPS = {"syscall": b"\x0f\x05", "int 0x80": b"\xcd\x80", "sysenter": b"\x0f\x34"}


@x86_64
@pytest.mark.parametrize("what", CALLS_OF_LOOPS)
@pytest.mark.parametrize("number", [1, 12, 39, 57, 83, 231])
def test_a_loop_that_calls_the_system_has_no_figure(what: str, number: int, measuring: harness.Harness) -> None:
    body = b"\xb8" + number.to_bytes(4, "little") + CALLS_OF_LOOPS[what] + b"\xff\xcb\x75"
    loop = MachineLoop(
        code=body + (-(len(body) + 1)).to_bytes(1, signed=True), counter=3, registers=(0x2000_0000,) * 16, content=0
    )
    found = measuring.measure(loop)
    assert isinstance(found, LoopFailure)
    # AMD's processors do not have sysenter in programs of 64 bits. Kernels without calls of 32 bits forbid it, which
    # looks like an access to memory that is not there.
    assert found.kind == "SIGSYS" or (what == "sysenter" and found.kind in ("SIGILL", "memory"))


@pytest.fixture(scope="module")
def measuring() -> Any:
    with harness.Harness() as machine:
        yield machine
