"""Other instructions for the same work, in vectors or fused, and instructions without their access to memory.

The result is text, which is read like any other.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from msgspec.structs import replace

from incc.frontends.aarch64.decode import decode
from incc.frontends.kernel import Instruction, RegisterAccess

_BITS = {"h": 16, "s": 32, "d": 64}
_WIDTH = {64: "d", 128: "q"}
_SCALAR = re.compile(r"\b([hsd])(\d+)\b")
_ELEMENTWISE = re.compile(r"f(add|sub|mul|nmul|div|sqrt|neg|abs|max|min|maxnm|minnm|abd|rint[a-z])|[su]cvtf|fcvtz[su]")
_FUSED = {"fmadd": "fmla", "fmsub": "fmls", "fnmadd": "fmla", "fnmsub": "fmls"}
"""Those that negate take as long as others."""
_LARGEST_IMMEDIATE = 4095
_MOVED = re.compile(r"(ldu?r|stu?r|ldn?p|stn?p)$")


def widened(instruction: Instruction, times: int, bits: int) -> tuple[Instruction, ...]:
    """Return the result of `Isa.widened` for scalar floating point and vectors of up to 128 bits."""
    mnemonic, _, operands = instruction.text.strip().partition(" ")
    mnemonic = mnemonic.lower()
    scalars = _SCALAR.findall(operands.partition("[")[0])
    widths = {_BITS[letter] * times for letter, _ in scalars}
    general = any(a.register.kind == "general" and not a.address for a in instruction.registers)
    if bits != 128 or not scalars or general or not widths <= set(_WIDTH):
        return ()
    line, offset = instruction.line, instruction.offset
    if _MOVED.fullmatch(mnemonic):
        return _access(instruction, mnemonic, times)

    def vectors(text: str) -> str:
        return _SCALAR.sub(lambda m: f"v{m[2]}.{_BITS[m[1]] * times // _BITS[m[1]]}{m[1]}", text)

    if mnemonic in _FUSED and len(scalars) == 4:
        (_, target), first, second, (letter, addend) = scalars
        text = f"{_FUSED[mnemonic]} " + vectors(
            ", ".join(f"{kind}{n}" for kind, n in ((letter, addend), first, second))
        )
        return (_writing(decode(text, line, offset), f"z{target}"),)
    if mnemonic == "fmov" and len(scalars) == 2:
        return (decode(f"mov v{scalars[0][1]}.16b, v{scalars[1][1]}.16b", line, offset),)
    if mnemonic == "fcvt":
        name = "fcvtl" if _BITS[scalars[0][0]] > _BITS[scalars[1][0]] else "fcvtn"
        return (decode(f"{name} {vectors(operands)}", line, offset),)
    if _ELEMENTWISE.fullmatch(mnemonic):
        return (decode(f"{mnemonic} {vectors(operands)}", line, offset),)
    return ()


def _access(instruction: Instruction, mnemonic: str, times: int) -> tuple[Instruction, ...]:
    """Return a load or store of as many times the elements, at the address of another."""
    registers = _SCALAR.findall(instruction.text.partition("[")[0])
    base = next(access.base for access in instruction.memory)
    if base is None:
        return ()
    # Others than pairs have the same figures with and without an offset.
    plain = mnemonic.replace("u", "") if mnemonic.endswith("ur") else mnemonic
    targets = ", ".join(f"{_WIDTH[_BITS[letter] * times]}{number}" for letter, number in registers)
    line, offset, affine = instruction.line, instruction.offset, instruction.affine
    if affine is not None:  # the address is written back
        step = affine.constant * times
        place = f"[{base.root}, #{step}]!" if instruction.text.strip().endswith("!") else f"[{base.root}], #{step}"
        return (decode(f"{plain} {targets}, {place}", line, offset),)
    index = next((access.index for access in instruction.memory), None)
    place = f"[{base.root}, {index.root}]" if index is not None else f"[{base.root}]"
    made = decode(f"{plain} {targets}, {place}", line, offset)
    memory = [
        replace(old, size=new.size, element=new.element)
        for new, old in zip(made.memory, instruction.memory, strict=True)
    ]
    return (replace(made, memory=tuple(memory)),)


def fused(product: Instruction, addition: Instruction) -> tuple[Instruction, ...]:
    """Return the result of `Isa.fused`."""
    operands = [each.text.partition(" ")[2].split(",") for each in (product, addition)]
    if [len(each) for each in operands] != [3, 3] or product.mnemonic != "fmul":
        return ()
    (result, first, second), (target, *terms) = ([name.strip() for name in each] for each in operands)
    others = [term for term in terms if term != result]
    if len(others) != 1 or addition.mnemonic not in ("fadd", "fsub"):
        return ()
    line, offset = addition.line, addition.offset
    if re.fullmatch(r"[hsd]\d+", result):
        return (decode(f"fmadd {target}, {first}, {second}, {others[0]}", line, offset),)
    if re.fullmatch(r"v\d+\.\d+[hsd]", result):
        number = re.sub(r"\D.*", "", target[1:])
        return (_writing(decode(f"fmla {others[0]}, {first}, {second}", line, offset), f"z{number}"),)
    return ()


def _writing(instruction: Instruction, root: str) -> Instruction:
    """Return an instruction that writes another register than the one that it updates."""
    registers: list[RegisterAccess] = []
    for access in instruction.registers:
        if not access.write:
            registers.append(access)
            continue
        registers += [
            replace(access, write=False, merges=False),
            replace(access, register=replace(access.register, root=root), read=False, merges=False),
        ]
    return replace(instruction, registers=tuple(registers))


def no_operation(instruction: Instruction) -> tuple[Instruction, ...]:
    """Return a no-operation in place of an instruction."""
    return (decode("nop", instruction.line, instruction.offset),)


def without_access(
    instruction: Instruction, written: Collection[str], read: Sequence[str], move: bool
) -> tuple[Instruction, ...] | None:
    """Return what an instruction does besides its loads and stores; the arguments are those of `Isa.without_access`.

    That is to write back the new address, if it does. Returns None if no single instruction does the same.
    """
    line, offset = instruction.line, instruction.offset
    bases = {access.register.root for access in instruction.registers if access.address and access.write}
    targets = [a.register for a in instruction.registers if a.write and not a.address]
    if bases:
        affine = instruction.affine
        if affine is None or affine.target not in bases or not 0 < abs(affine.constant) <= _LARGEST_IMMEDIATE:
            return None
        operation = "add" if affine.constant > 0 else "sub"
        name = affine.target if affine.target != "x31" else "sp"
        return (decode(f"{operation} {name}, {name}, #{abs(affine.constant)}", line, offset),)
    if not move or not targets:
        return no_operation(instruction)
    letter, number = targets[0].root[0], targets[0].root[1:]
    if len(targets) > 1 or letter not in "xz":
        return None
    # A zero, since on most cores a move of a vector register takes as long as arithmetic.
    return (decode(f"mov x{number}, #0" if letter == "x" else f"movi v{number}.2d, #0", line, offset),)
