"""From the text of one A64 statement to an `Instruction`: registers, flags, memory, form; no core in mind.

What an instruction reads and writes follows from its operands and the table of rules. Everything but the place is
worked out once for each distinct statement and kept.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec.structs import replace

from incc.frontends.aarch64.affine import affine
from incc.frontends.aarch64.arithmetic import arithmetic, divisor_of, sum_of
from incc.frontends.aarch64.branches import BRANCHES, CONDITIONS, SVE_CONDITIONS
from incc.frontends.aarch64.forms import form_of_operands, read
from incc.frontends.aarch64.operands import GRANULE, SPECIAL, AddressOperand, Operand, general
from incc.frontends.aarch64.rules import UNKNOWN, Rule, rule_of
from incc.frontends.isa import jump_target, word_set
from incc.frontends.kernel import Instruction, MemoryAccess, Register, RegisterAccess

LENGTH = 4
"""The bytes of an instruction."""
_FLAGS = {"N": "S", "Z": "Z", "C": "C", "V": "O"}
_SUFFIX_BYTES = {"b": 1, "sb": 1, "h": 2, "sh": 2, "w": 4, "sw": 4}
_SUFFIX = re.compile(r"s?[bhw]$")
_STRUCTURE = re.compile(r"(?:ld|st)(?:ap|l)?(?:nt|ff|nf)?([1234])(r?[qo]?)(s?[bhwdq])?$")
_ELEMENT_BYTES = {"b": 1, "h": 2, "w": 4, "s": 4, "d": 8, "q": 16}
_KEPT: dict[str, Instruction] = {}
_MOST_KEPT = 1 << 16


def decode(text: str, line: int = 0, offset: int = 0) -> Instruction:
    """Return the instruction of a statement. Raises ValueError for text that is none."""
    known = _KEPT.get(text)
    if known is None:
        if len(_KEPT) >= _MOST_KEPT:
            _KEPT.clear()
        known = _KEPT[text] = _decoded(text)
    if known.line == line and known.offset == offset:
        return known
    return replace(known, line=line, offset=offset)


def _rule(mnemonic: str, operands: Sequence[Operand]) -> Rule | None:
    shapes = [f"sysreg={o.text}" if o.shape == "sysreg" else o.shape for o in operands]
    return rule_of(mnemonic, ",".join(shapes))


def _decoded(text: str) -> Instruction:
    mnemonic, operands = read(text)
    form, traits = form_of_operands(mnemonic, operands)
    rule = _rule(mnemonic, operands) or UNKNOWN
    branch = BRANCHES.get(mnemonic, "")
    reads, writes = set(rule.reads.split()), set(rule.writes.split())
    flags_read = {f for word in reads if _is_flags(word) for f in word}
    flags_written = {f for word in writes if _is_flags(word) for f in word}
    if branch == "conditional":
        condition = mnemonic.rpartition(".")[2] if "." in mnemonic else mnemonic[1:]
        flags_read |= set(CONDITIONS.get(condition, "") + SVE_CONDITIONS.get(condition, ""))
    for each in operands:
        if each.shape == "cond":
            flags_read |= set(CONDITIONS[each.text])
    target = text.split()[-1] if operands and operands[-1].shape in ("label", "#") and branch else ""
    value = next((o.value for o in reversed(operands) if o.shape == "#"), None)
    return Instruction(
        text=text,
        line=0,
        offset=0,
        length=LENGTH,
        mnemonic=mnemonic,
        form=form,
        traits=traits,
        operands="".join(_letter(o, bool(branch)) for o in operands),
        registers=_accesses(rule, operands, reads, writes),
        memory=_memory(rule, mnemonic, operands),
        flags_read=_letters(flags_read),
        flags_written=_letters(flags_written),
        branch="" if branch == "stop" else branch,
        target=jump_target(target),
        affine=affine(mnemonic, operands),
        idiom="",
        move=_is_move(mnemonic, operands),
        arithmetic=arithmetic(mnemonic, operands),
        encoding=" ".join((mnemonic, *[o.text.replace("#", "") for o in operands])).encode(),
        assembled=False,
        immediate=value,
        sum=sum_of(mnemonic, operands),
        divisor=divisor_of(mnemonic, operands),
    )


def _letter(operand: Operand, branches: bool) -> str:
    if operand.address is not None:
        return "m"
    if operand.registers or operand.shape in ("x", "w"):
        return "r"
    return "b" if branches and operand.shape in ("label", "#") else "i"


def _is_flags(word: str) -> bool:
    return word.isupper()


def _letters(flags: set[str]) -> str:
    return "".join(sorted(_FLAGS[flag] for flag in flags))


# --- registers -------------------------------------------------------------------------------------------------------


def _accesses(rule: Rule, operands: Sequence[Operand], reads: set[str], writes: set[str]) -> tuple[RegisterAccess, ...]:
    accesses: list[RegisterAccess] = []
    addresses: list[RegisterAccess] = []
    merging = any(o.merging for o in operands)
    for number, operand in enumerate(operands):
        if operand.address is not None:
            addresses += _address_accesses(operand.address)
            continue
        access = rule.operands[min(number, len(rule.operands) - 1)]
        conditional = access == "w" and merging and not operand.merging
        for r in _registers(rule, operands, number) if access != "-" else ():
            accesses.append(
                RegisterAccess(
                    register=r,
                    # What is written in part keeps its other parts.
                    read=access != "w" or conditional or operand.lane,
                    write=access in "wu",
                    operand=number,
                    conditional=conditional,
                )
            )
        accesses += [RegisterAccess(register=r, read=True, write=False, operand=number) for r in operand.selects]
    for name in sorted(word for word in reads | writes if not _is_flags(word)):
        r = SPECIAL.get(name) or general(name)
        accesses.append(RegisterAccess(register=r, read=name in reads, write=name in writes, operand=None))
    return (*accesses, *addresses)


def _registers(rule: Rule, operands: Sequence[Operand], number: int) -> tuple[Register, ...]:
    """Return the registers that an operand stands for."""
    named = operands[number].registers
    if rule.registers == 1 or number != len(operands) - 2 or not named:
        return named
    first = int(named[0].root.removeprefix("x"))
    return tuple([general(f"x{first + n}") for n in range(rule.registers)])


def _address_accesses(address: AddressOperand) -> list[RegisterAccess]:
    return [
        RegisterAccess(register=r, read=True, write=write, operand=None, address=True)
        for r, write in (
            (address.base, address.written_back),
            (address.index, False),
            (address.step_register, False),
        )
        if r is not None
    ]


# --- memory ----------------------------------------------------------------------------------------------------------


def _memory(rule: Rule, mnemonic: str, operands: Sequence[Operand]) -> tuple[MemoryAccess, ...]:
    if rule.memory in ("", "prefetch"):
        return ()
    at = next((n for n, o in enumerate(operands) if o.address is not None or o.shape == "label"), -1)
    if at < 0:
        return ()
    data, address = operands[:at], operands[at].address
    base, index = (address.base, address.index) if address else (None, None)
    gathers = any(r is not None and r.kind == "vector" for r in (base, index))
    if base is not None and base.kind == "vector":  # a vector of addresses, and maybe an offset in a register
        base, index = index, base
    structure = _STRUCTURE.match(mnemonic)
    size, elements = _structure_size(structure, data, gathers) if structure else (_plain_size(rule, mnemonic, data), 1)
    displacement = address.displacement if address else 0
    if address and address.vectors:
        # The unit is a single vector of those that are loaded or stored, as long as it is in memory.
        displacement *= size // max(len(data[0].registers), 1)
    access = MemoryAccess(
        base=base,
        index=index,
        scale=address.scale if address else 1,
        displacement=displacement,
        symbol=address.symbol if address else operands[at].text,
        segment="",
        size=size,
        load="load" in rule.memory,
        store="store" in rule.memory,
        operand=at,
        elements=elements,
        element=_element_size(structure, data) if structure else 0,
        scalable=_is_scalable(structure, data),
    )
    return (access,)


def _is_scalable(structure: re.Match[str] | None, data: Sequence[Operand]) -> bool:
    """Return True if whole vectors or predicates of SVE are loaded or stored, and no repeated element."""
    return bool(data and data[0].registers and data[0].registers[0].width > 8 * GRANULE) and not (
        structure and structure[2]
    )


def _plain_size(rule: Rule, mnemonic: str, data: Sequence[Operand]) -> int:
    """Return the bytes of a load or store of whole registers, or of a part that the mnemonic names."""
    if rule.size or not data:
        return rule.size
    last = data[-1]
    if suffix := _SUFFIX.search(mnemonic):
        size = _SUFFIX_BYTES[suffix[0]]
    elif last.shape in ("w", "x"):
        size = 4 if last.shape == "w" else 8
    else:
        size = _bytes(last.registers[0]) if last.registers else 0
    return 2 * size if rule.pair else size


def _bytes(r: Register) -> int:
    """Return the bytes of a register, of the shortest vector for those of SVE."""
    if r.kind == "mask":
        return GRANULE // 8
    return GRANULE if r.width > 8 * GRANULE else r.width // 8


def _element_size(structure: re.Match[str], data: Sequence[Operand]) -> int:
    """Return the bytes of an element in memory, which may be smaller than in a register."""
    if structure[3]:
        return _ELEMENT_BYTES[structure[3].removeprefix("s")]
    return _register_element(data)


def _register_element(data: Sequence[Operand]) -> int:
    element = re.search(r"\.\d*([bhsdq])", data[0].shape) if data else None
    return _ELEMENT_BYTES[element[1]] if element else 1


def _structure_size(structure: re.Match[str], data: Sequence[Operand], gathers: bool) -> tuple[int, int]:
    """Return the bytes and the number of the accesses of a load or store of structures."""
    count, replicated, memory = int(structure[1]), structure[2], structure[3]
    if not data or not data[0].registers:
        return 0, 1
    width, part = _register_element(data), _element_size(structure, data)
    if replicated == "r" or (data[0].lane and not memory):
        return count * part, 1
    if replicated:
        return 16 if replicated == "rq" else 32, 1
    if gathers:
        return part, GRANULE // width
    registers = data[0].registers
    return sum(_bytes(r) for r in registers) * part // width, 1


# --- moves ----------------------------------------------------------------------------------------------------------

_MOVES = word_set("mov fmov")


def _is_move(mnemonic: str, operands: Sequence[Operand]) -> bool:
    """Return True for a copy of a whole register to another of its kind."""
    if mnemonic not in _MOVES or len(operands) != 2:
        return False
    to, source = operands
    return bool(to.shape == source.shape and to.registers and source.registers and not to.lane)
