"""Function starts in machine code without symbols, from the padding between functions."""

from __future__ import annotations

import re
from collections.abc import Iterator

_ALIGNMENT = 16
"""The bytes to which compilers and assembly programmers align functions."""

_INT3 = re.compile(rb"\xcc+")

_NO_OPERATIONS = re.compile(rb"(?:\x90|\xcc|\x66|\x2e|\x0f\x1f[\x00\x40\x44\x80\x84]\x00{0,5})*")
"""Padding: the recommended no-operations (Intel's manual, volume 2, NOP) with prefixes, and `int3`."""


def after_int3(code: bytes | memoryview, start: int, end: int, address: int) -> Iterator[int]:
    """Yield the aligned offsets between `start` and `end` that follow padding of `int3`.

    LLVM's linker fills the gaps between functions with it (`trapInstr` in lld's ELF/Arch/X86_64.cpp). Its byte also
    occurs in other instructions, so that a single one counts only after an instruction that control does not pass.

    Args:
        code: a section's contents.
        start: an offset in bytes.
        end: an offset in bytes.
        address: the address of the section.
    """
    for gap in _INT3.finditer(code, start, end):
        at = gap.end()
        if at == end or (address + at) % _ALIGNMENT:
            continue
        if at - gap.start() > 1 or _stops(bytes(code[max(at - 8, 0) : at - 1])):
            yield at


def _stops(code: bytes) -> bool:
    """Return True if code ends in a return, a jump, a call (of a function that does not return) or `ud2`."""
    if code.endswith((b"\xc3", b"\x0f\x0b")) or code[-5:-4] in (b"\xe8", b"\xe9") or code[-2:-1] == b"\xeb":
        return True
    # Calls and jumps through a register (/2 and /4), or a pointer relative to the program counter.
    through_register = code[-2:-1] == b"\xff" and 0xD0 <= code[-1] <= 0xE7 and not code[-1] & 8
    return through_register or code[-6:-4] in (b"\xff\x15", b"\xff\x25")


def after_return(code: bytes | memoryview, start: int, end: int, address: int) -> int:
    """Return the first aligned offset between `start` and `end` that follows a return and padding, `start` without one.

    The arguments are those of `after_int3`.
    """
    for at in range(start + -(address + start) % _ALIGNMENT, end, _ALIGNMENT):
        before = bytes(code[max(at - _ALIGNMENT, 0) : at])
        padding = before.rfind(b"\xc3") + 1
        if padding and _NO_OPERATIONS.fullmatch(before, padding):
            return at
    return start
