"""The description that x86-64 processors give of their caches (the instruction cpuid)."""

from __future__ import annotations

import ctypes
import mmap
from collections.abc import Callable, Iterator

from incc.measuring.assemble import assemble

Registers = tuple[int, int, int, int]
"""The results in eax, ebx, ecx and edx."""
Ask = Callable[[int, int], Registers]
"""Returns the results of a leaf and a subleaf."""

_INTEL, _AMD = 4, 0x8000_001D
"""The leaves that describe caches (Intel's manual, volume 2A, CPUID; AMD's manual, volume 3, E.4.15)."""
_CODE = """
push %rbx
mov %rdx, %r8
mov %edi, %eax
mov %esi, %ecx
cpuid
mov %eax, (%r8)
mov %ebx, 4(%r8)
mov %ecx, 8(%r8)
mov %edx, 12(%r8)
pop %rbx
ret
"""


def inclusive(ask: Ask | None = None) -> dict[str, bool]:
    """Return for each cache of data whether it has copies of all lines that caches closer to the core hold.

    The result is empty if the processor, or a virtual machine, does not say.
    """
    try:
        return dict(_caches(ask or _Processor().ask))
    except OSError:  # executable memory is refused
        return {}


def _caches(ask: Ask) -> Iterator[tuple[str, bool]]:
    highest, highest_of_amd = ask(0, 0)[0], ask(0x8000_0000, 0)[0]
    for leaf in (_INTEL, _AMD):
        if leaf > (highest if leaf == _INTEL else highest_of_amd):
            continue
        for number in range(8):
            eax, _, _, edx = ask(leaf, number)
            kind, level = eax & 31, eax >> 5 & 7
            if not kind:
                break
            if kind != 2:  # not a cache of instructions
                yield f"L{level}", bool(edx & 2)


class _Processor:
    """The processor that this process runs on. Raises OSError if the system refuses executable memory."""

    def __init__(self) -> None:
        memory = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
        memory.write(assemble(_CODE))
        self._place = ctypes.c_char.from_buffer(memory)
        arguments = (ctypes.c_uint32, ctypes.c_uint32, ctypes.c_void_p)
        self._function = ctypes.CFUNCTYPE(None, *arguments)(ctypes.addressof(self._place))

    def ask(self, leaf: int, subleaf: int) -> Registers:
        results = (ctypes.c_uint32 * 4)()
        self._function(leaf, subleaf, ctypes.addressof(results))
        return results[0], results[1], results[2], results[3]
