"""The comparison of analysed code with the object that a command has made."""

from __future__ import annotations

import os

from incc.frontends.isa import isa
from incc.report import types as t

_RELOCATABLE = (b"\x7fELF", b"\1\0")
"""The beginning of ELF files, and the type of objects at byte 16."""

_LEAST_BYTES = 8
"""Shorter code is found anywhere."""


def differs_from_object(unit: t.UnitReport) -> bool:
    """Return True if a loop of a unit is not in its object. False without an ELF object."""
    try:
        with open(os.path.join(unit.folder, unit.output), "rb") as file:
            beginning = file.read(18)
            if (beginning[:4], beginning[16:]) != _RELOCATABLE:
                return False
            code = beginning + file.read()
    except OSError:
        return False
    at = 0
    for kernel in unit.kernels:
        for part in _straight_parts(kernel):
            # Objects have functions in the order of the assembly, except where they have several sections.
            found = code.find(part, at)
            at = found if found >= 0 else code.find(part)
            if at < 0:
                return True
    return False


def _straight_parts(kernel: t.KernelReport) -> list[bytes]:
    """Return the code between branches, whose distances depend on code outside of the loop."""
    instruction_set = isa(kernel.isa)
    parts, part, end = [], b"", -1
    for instruction in kernel.instructions:
        encoding = bytes.fromhex(instruction.encoding)
        is_branch = bool(instruction_set.branch(instruction.text)[0])
        if is_branch or instruction.offset != end:
            parts.append(part)
            part = b""
        if not is_branch:
            part += encoding
        end = instruction.offset + len(encoding)
    return [part for part in (*parts, part) if len(part) >= _LEAST_BYTES]
