"""Machine code of independent copies of x86 forms.

Registers that are only read are never written. Forms that read a register they write have registers of their own, in
turn, so that no dependency between forms, such as through flags, leads back. Loads and stores are far from each other.
Forms with implicit registers that are read and written (`adc`, `mul`) are left out: their copies would wait for each
other.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from math import ceil, sqrt
from typing import cast

import iced_x86 as iced
from iced_x86 import FlowControl, Register

from incc.measuring.forms.bench import encode
from incc.measuring.forms.target import registers_by_kind
from incc.models.forms.shapes import FormDataflow, Shape, by_key, dataflow, example

BASE, COUNTER = "r14", 15
"""The register that memory is addressed by, and the number of the one that counts trips; forms touch neither."""

_READ = registers_by_kind("R13 RBP", range(15, 11, -1), range(1, 4))
_WRITTEN = registers_by_kind("RAX RCX RDX RSI RDI RBX R8 R9 R10 R11 R12", range(12), range(4, 8))
_MANY = {"gpr": len(_WRITTEN["R64"]), "vector": len(_WRITTEN["XMM"]), "mask": len(_WRITTEN["K"])}
_SHORTEST = 24
"""Instructions in a loop at least: fewer are repeated."""
_SHORTEST_COUNTED = 96
"""The instructions in a loop with a trip counter, whose own ports then are a hundredth of the measured work."""


class NotIndependent(ValueError):
    """A form that cannot be copied independently; the message gives the reason."""


@cache
def checked(form: str) -> tuple[Shape, FormDataflow]:
    """Return shape and dataflow of a form that can be copied independently. Raises NotIndependent."""
    shape = by_key().get(form)
    if shape is None:
        raise NotIndependent(f"{form}: no such form")
    flow, info = dataflow(shape), shape.info
    if example(shape).flow_control != FlowControl.NEXT:
        raise NotIndependent(f"{form}: cannot be run in a loop")
    if info.must_be_cpl0 or info.is_privileged or info.is_stack_instruction or info.is_input_output:
        raise NotIndependent(f"{form}: cannot be run in a loop")
    for n, operand in enumerate(shape.operands):
        if operand not in ("M", "1") and not operand.startswith("I") and operand not in _READ:
            raise NotIndependent(f"{form}: operand {n} is not a register that can be chosen, memory or a constant")
    both = sorted(s for s in flow.sources if s in flow.targets and not s.isdigit())
    if both:
        raise NotIndependent(f"{form}: reads and writes {both[0]}, so copies wait for each other")
    implicit = sorted(
        {r for r in (*flow.sources, *flow.targets) if not r.isdigit()} - {"C", "SPAZO", "m", "M", "k", "a"}
    )
    if implicit:
        raise NotIndependent(f"{form}: uses {implicit[0]} implicitly")
    return shape, flow


def _kind(operand: str) -> str:
    return "mask" if operand == "K" else "gpr" if operand.startswith("R") else "vector"


def waits(form: str) -> bool:
    """Return True if copies of a form read registers that they write, and so wait for some others of them."""
    flow = checked(form)[1]
    return any(t in flow.sources for t in flow.targets)


def _weight(form: str, kind: str, copies: int) -> float:
    """Return the share of the registers of a kind that a form should write to.

    A copy that reads a register it writes waits for the last one on that register. Some forms that do not are made to
    wait as well (`bsr`). Fast forms have many copies, so the share is neither the number of copies nor the same for
    all.
    """
    shape, flow = checked(form)
    written = [n for n, o in enumerate(shape.operands) if str(n) in flow.targets and _kind(o) == kind]
    waits = sum(str(n) in flow.sources or shape.operands[n] in ("R8", "R16") for n in written)
    return (len(written) + waits) * sqrt(copies)


def _shares(copies: Mapping[str, int]) -> dict[tuple[str, str], tuple[int, int]]:
    """Return the first register and the number of registers of each kind that each form writes."""
    shares = {}
    for kind, many in _MANY.items():
        weights = {form: _weight(form, kind, count) for form, count in copies.items()}
        first, left, total = 0, many, sum(weights.values())
        # The light ones first, so that each gets one at least.
        for form, weight in sorted(weights.items(), key=lambda item: (item[1], item[0])):
            if weight:
                share = max(1, min(left, round(left * weight / total)))
                shares[form, kind] = first % many, share
                first, left, total = first + share, max(1, left - share), total - weight
    return shares


def copies_of(copies: Mapping[str, int]) -> list[iced.Instruction]:
    """Return the instructions of a trip, the copies of each form spread evenly. Raises NotIndependent."""
    order = sorted(
        ((n + 0.5) / count, position, form)
        for position, (form, count) in enumerate(copies.items())
        for n in range(count)
    )
    shares = _shares(copies)
    used: dict[object, int] = {}
    code = []
    for _, _, form in order:
        shape, flow = checked(form)
        one = example(shape)
        read = 0
        for n, operand in enumerate(shape.operands):
            if operand not in _READ:
                continue
            if str(n) in flow.targets:
                part = form, _kind(operand)
                first, share = shares[part]
                pool, number = _WRITTEN[operand], first + used.get(part, 0) % share
                used[part] = used.get(part, 0) + 1
            else:
                # Two that are read are different: the renamer would do copies that subtract a register from itself.
                pool, number = _READ[operand], read
                read += 1
            one.set_op_register(n, cast("iced.Register_", pool[number % len(pool)]))
        if shape.has_memory:
            access = "store" if flow.stores else "load"
            one.memory_base = Register.R14
            # Side by side: at the same place of different lines, loads would share a bank, and stores not be
            # written together.
            size = max(1, shape.memory_bits // 8)
            one.memory_displacement = size * (used.get(access, 0) % 16) + (2048 if flow.stores else 0)
            one.memory_displ_size = 8
            used[access] = used.get(access, 0) + 1
        code.append(one)
    return code


def loop_of(copies: Mapping[str, int], counted: bool) -> tuple[bytes, int]:
    """Return (machine code, how often it repeats the copies in a trip); with `counted`, `dec` and `jne` are at the end.

    Raises NotIndependent, also for code that has no encoding.
    """
    times = max(1, ceil((_SHORTEST_COUNTED if counted else _SHORTEST) / max(1, sum(copies.values()))))
    code = copies_of({form: n * times for form, n in copies.items()})
    try:
        text = encode(code)
    except ValueError as e:
        raise NotIndependent(f"{', '.join(copies)}: {e}") from None
    if counted:
        text += bytes.fromhex("49ffcf")  # dec r15
        back = -(len(text) + 6)
        text += b"\x0f\x85" + back.to_bytes(4, "little", signed=True)
    return text, times
