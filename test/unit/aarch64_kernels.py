"""Kernels of AArch64 code made by hand: what a decoder would make of a few instructions."""

from __future__ import annotations

from msgspec.structs import replace

from incc.frontends.aarch64.forms import form_of
from incc.frontends.kernel import Affine, Instruction, KernelCode, MemoryAccess, Register, RegisterAccess

VECTOR_BITS = {"q": 128, "v": 128, "d": 64, "s": 32, "z": 2048}


def register(name: str) -> Register:
    """`x3`, `w3`, `q0`, `d0`, `v0` (128 bits) or `z0`."""
    kind, number = name[0], name[1:]
    if kind in "xw":
        return Register(name=name, root="x" + number, offset=0, width=64 if kind == "x" else 32, kind="general")
    return Register(name=name, root="z" + number, offset=0, width=VECTOR_BITS[kind], kind="vector")


def instruction(text: str, operands: str, memory: str = "", adds: int = 0, **facts: str) -> Instruction:
    """An instruction from its text, its registers, and its address.

    `operands`: one word an operand, `w:` before those written, `rw:` read and written. `memory`: `load` or `store` and
    the bytes, then base and index, as in "load 16 x0 x1". `adds`: the constant that is added to the operand written.
    """
    accesses = []
    for number, word in enumerate(operands.split()):
        access, _, name = word.rpartition(":")
        accesses.append(
            RegisterAccess(register=register(name), read=access != "w", write="w" in access, operand=number)
        )
    places = []
    if memory:
        kind, size, base, *index = memory.split()
        for name in (base, *index):
            accesses.append(RegisterAccess(register=register(name), read=True, write=False, operand=None, address=True))
        places.append(
            MemoryAccess(
                base=register(base),
                index=register(index[0]) if index else None,
                scale=1,
                displacement=0,
                symbol="",
                segment="",
                size=int(size),
                load=kind == "load",
                store=kind == "store",
                operand=1,
            )
        )
    form, traits = form_of(text)
    target = next((a.register.root for a in accesses if a.write), "")
    return Instruction(
        text=text,
        line=0,
        offset=0,
        length=4,
        mnemonic=text.split()[0],
        form=form,
        traits=traits,
        operands="",
        registers=tuple(accesses),
        memory=tuple(places),
        flags_read=facts.get("reads", ""),
        flags_written=facts.get("writes", ""),
        branch=facts.get("branch", ""),
        target="",
        affine=Affine(target, ((target, 1),), adds) if adds else None,
        idiom="",
        move=False,
        arithmetic=None,
        encoding=text.encode(),
    )


def kernel(*instructions: Instruction) -> KernelCode:
    """A loop of the instructions, one behind another in memory."""
    placed = tuple(replace(i, offset=4 * n) for n, i in enumerate(instructions))
    return KernelCode(name="hand-made", isa="aarch64", region=None, instructions=placed, is_loop=True, alignment=0)


BACK = instruction("b.ne .L0", "", branch="conditional", reads="Z")

TRIAD = kernel(
    instruction("ldr q0, [x0, x3]", "w:q0", "load 16 x0 x3"),
    instruction("ldr q1, [x1, x3]", "w:q1", "load 16 x1 x3"),
    instruction("fmla v1.2d, v0.2d, v2.2d", "rw:v1 v0 v2"),
    instruction("str q1, [x2, x3]", "q1", "store 16 x2 x3"),
    instruction("add x3, x3, #16", "w:x3 x3", adds=16),
    instruction("cmp x3, x4", "x3 x4", writes="CPAZSO"),
    BACK,
)
"""a[i] = a[i] * s + b[i], in vectors of 128 bits."""

SUM = kernel(
    instruction("ldr d0, [x0]", "w:d0", "load 8 x0"),
    instruction("fadd d1, d1, d0", "w:d1 d1 d0"),
    instruction("add x0, x0, #8", "w:x0 x0", adds=8),
    instruction("cmp x0, x1", "x0 x1", writes="CPAZSO"),
    BACK,
)
"""A sum of doubles in one register."""
