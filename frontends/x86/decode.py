"""From the bytes of one x86 instruction to an `Instruction`: registers, flags, memory, form; no core in mind.

Bytes are code of 64-bit mode unless they are `iced.Narrow`.

What does not depend on the address or the symbols is worked out once for each distinct encoding and kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
from iced_x86 import (
    Decoder,
    DecoderOptions,
    EncodingKind,
    FlowControl,
    Formatter,
    FormatterSyntax,
    InstructionInfoFactory,
    MemorySizeExt,
    Mnemonic,
    OpAccess,
    OpKind,
    RegisterExt,
    RflagsBits,
)
from msgspec.structs import replace

from incc.frontends.isa import word_set
from incc.frontends.kernel import Affine, Arithmetic, Instruction, MemoryAccess, Register, RegisterAccess, Relocation
from incc.frontends.x86.classify import (
    ArithmeticClass,
    arithmetic_class,
    divisor_of,
    move_class,
    same_source_idiom,
    sum_of,
)
from incc.frontends.x86.iced import (
    CODE32,
    CODE_NAMES,
    MNEMONIC_NAMES,
    NEAR_BRANCHES,
    REGISTER_NAMES,
    bits_of,
    constants,
)
from incc.frontends.x86.kept import keep

# --- registers -------------------------------------------------------------------------------------------------------

_KINDS = {"MM": "mmx", "K": "mask", "ST": "x87", "TMM": "tile"}


def _canonical(number: Any) -> Register:
    """Return the register of iced-x86's number."""
    name = REGISTER_NAMES[number]
    kind = "general" if RegisterExt.is_gpr(number) else "vector" if RegisterExt.is_vector_register(number) else ""
    if kind:
        # iced-x86 calls the low byte r8l; assemblers know it as r8b.
        own = name[:-1] + "B" if name[0] == "R" and name[-1] == "L" else name
        root = REGISTER_NAMES[RegisterExt.full_register(number)].lower()
        offset = 8 if name in ("AH", "BH", "CH", "DH") else 0
        return Register(name=own.lower(), root=root, offset=offset, width=8 * RegisterExt.size(number), kind=kind)
    stem = name.rstrip("0123456789")
    width = 16 if len(name) == 2 and name[1] == "S" else {"ST": 80, "TMM": 8192}.get(stem, 64)
    return Register(name=name.lower(), root=name.lower(), offset=0, width=width, kind=_KINDS.get(stem, ""))


class _Registers(dict[int, Register]):
    """iced-x86's register numbers to registers, made as they are met."""

    def __missing__(self, number: int) -> Register:
        register = self[number] = _canonical(number)
        return register


_REGISTERS = _Registers()
_NUMBERS = {name: number for number, name in enumerate(REGISTER_NAMES)}
_NONE, _RIP, _EIP, _FS, _GS = (_NUMBERS[name] for name in ("NONE", "RIP", "EIP", "FS", "GS"))
_SEGMENTS = frozenset(_NUMBERS[name] for name in ("ES", "CS", "SS", "DS", "FS", "GS"))
_LOW8 = {
    _NUMBERS[name]: i
    for i, name in enumerate(["AL", "CL", "DL", "BL", "SPL", "BPL", "SIL", "DIL"] + [f"R{i}L" for i in range(8, 16)])
}

# --- iced-x86's constants --------------------------------------------------------------------------------------------

READS = frozenset((OpAccess.READ, OpAccess.COND_READ, OpAccess.READ_WRITE, OpAccess.READ_COND_WRITE))
WRITES = frozenset((OpAccess.WRITE, OpAccess.COND_WRITE, OpAccess.READ_WRITE, OpAccess.READ_COND_WRITE))
_CONDITIONAL_WRITES = frozenset((OpAccess.COND_WRITE, OpAccess.READ_COND_WRITE))
_NO_ACCESS, _NO_MEMORY_ACCESS = OpAccess.NONE, OpAccess.NO_MEM_ACCESS

_KIND_REGISTER, _KIND_MEMORY = OpKind.REGISTER, OpKind.MEMORY
_KIND_LETTERS = {
    number: "r" if name == "REGISTER" else "m" if name.startswith("MEMORY") else "b" if "BRANCH" in name else "i"
    for name, number in constants(OpKind).items()
}

_BRANCHES = {
    FlowControl.UNCONDITIONAL_BRANCH: "unconditional",
    FlowControl.INDIRECT_BRANCH: "indirect",
    FlowControl.CONDITIONAL_BRANCH: "conditional",
    FlowControl.RETURN: "return",
    FlowControl.CALL: "call",
    FlowControl.INDIRECT_CALL: "call",
}


_SYSTEM_CALLS = (Mnemonic.SYSCALL, Mnemonic.SYSENTER)

_FLAGS = ["".join(f for f in "CPAZSO" if mask & getattr(RflagsBits, f + "F")) for mask in range(64)]

_FACTORY = InstructionInfoFactory()

# --- per instruction form --------------------------------------------------------------------------------------------

_SHIFTS = word_set("shl shr sal sar rol ror rcl rcr shld shrd")


class _Form(msgspec.Struct, frozen=True, kw_only=True):
    """The properties that all instructions of an iced-x86 Code share."""

    name: str
    mnemonic: str
    legacy: bool
    idiom: str
    move: str
    arithmetic: ArithmeticClass | None


_FORMS: dict[int, _Form] = {}
"""Entries by Code. There are at most some thousands, the codes of iced-x86."""

# Forms of 32-bit mode that are another one in 64-bit mode only for the width of the stack, of an address or of a
# target: cores do the same, and it is the latter that has been measured.
_TWINS = (
    (r"JCXZ_REL8_32$", "JECXZ_REL8_64"),
    (r"(J\w+|LOOP\w*|CALL)_REL(8|32)_32(_ECX)?$", r"\1_REL\2_64\3"),
    (r"(LOOP\w*)_REL8_32_CX$", r"\1_REL8_64_ECX"),
    (r"(CALL|JMP|PUSH|POP)_(RM?)32$", r"\1_\g<2>64"),
    (r"(INC|DEC)_R(16|32)$", r"\1_RM\2"),
    (r"(PUSH|POP|PUSHF|POPF|RETN|LEAVE|ENTER)D((?:_IMM\d+|_FS|_GS)*)$", r"\1Q\2"),
    (r"([SL][GI]DT)_M1632$", r"\1_M1664"),
    (r"MOV_R32_([CD]R)$", r"MOV_R64_\1"),
    (r"MOV_([CD]R)_R32$", r"MOV_\1_R64"),
    (r"(VMREAD|VMWRITE)_(RM?)32_(RM?)32$", r"\1_\g<2>64_\g<3>64"),
    (r"(INVEPT|INVVPID|INVPCID)_R32_M128$", r"\1_R64_M128"),
    (r"RDPID_R32$", "RDPID_R64"),
)


def twin(name: str) -> str:
    """Return the form of 64-bit mode, by the name of its Code, that does the same as one of 32-bit mode.

    Nearly all have the same name.
    """
    for pattern, replacement in _TWINS:
        if re.match(pattern, name):
            return re.sub(pattern, replacement, name)
    return name


# The register is an address, whose width does not change the time: there are no separate figures for 32 bits.
_BY_ADDRESS = {
    f"{name}_R{bits}_M512": f"{name}_R64_M512" for name in ("ENQCMD", "ENQCMDS", "MOVDIR64B") for bits in (16, 32)
}


def _form(native: Any) -> _Form:
    code = native.code
    form = _FORMS.get(code)
    if form is None:
        mnemonic = MNEMONIC_NAMES[native.mnemonic].lower()
        form = _FORMS[code] = _Form(
            name=_BY_ADDRESS.get(CODE_NAMES[code], CODE_NAMES[code]),
            mnemonic=mnemonic,
            legacy=native.encoding == EncodingKind.LEGACY,
            idiom=same_source_idiom(mnemonic),
            move=move_class(mnemonic),
            arithmetic=arithmetic_class(mnemonic),
        )
    return form


def form_key(instruction: Any) -> str:
    """Return the key of an iced-x86 instruction's form in the model files: the name of its Code, and its use.

    "/m" with an explicit memory operand (ModRM or an absolute address), "/r" otherwise, also with implicit memory
    operands (push, movs).
    """
    name: str = CODE_NAMES[instruction.code]
    explicit = _KIND_MEMORY in [instruction.op_kind(i) for i in range(instruction.op_count)]
    # xlat's table is addressed by rbx and al, always.
    return name + ("/m" if explicit and name != "XLAT_M8" else "/r")


def traits(instruction: Any) -> frozenset[str]:
    """Return the traits of an iced-x86 instruction, see `incc.frontends.kernel.Instruction`.

    "same_reg" holds where all explicit register operands that are sources are the same register, if there are at least
    two of them; with a single source and two register operands, where it is also the destination (`mov eax, eax`,
    `movzx eax, al`). It never holds with a memory operand. "rm0-3" and "rm4-7" tell the lower three bits of the number
    of a low byte register in operand 0.
    """
    form = _form(instruction)
    kinds = [instruction.op_kind(i) for i in range(instruction.op_count)]
    info = _FACTORY.info(instruction)
    return _traits(instruction, form, kinds, [info.op_access(i) for i in range(len(kinds))])


def _traits(i: Any, form: _Form, kinds: list[int], accesses: Sequence[int]) -> frozenset[str]:
    names: list[str] = []
    if _KIND_MEMORY in kinds:
        if form.mnemonic == "lea":
            names.append("agen:" + _address_parts(i))
        if i.memory_index != _NONE:
            names.append("indexed")
        if i.is_broadcast:
            names.append("bcast")
    elif kinds[:2] == [_KIND_REGISTER, _KIND_REGISTER] and _has_same_sources(i, form, kinds, accesses):
        names.append("same_reg")
    for k, kind in enumerate(kinds[:2]):
        if kind == _KIND_REGISTER:
            number = i.op_register(k)
            register = _REGISTERS[number]
            if register.offset == 8:
                names.append(f"high8_{k}")
            elif k == 0 and number in _LOW8:
                names.append("rm4-7" if _LOW8[number] & 4 else "rm0-3")
    names += _prefix_traits(i)
    if any(_KIND_LETTERS[kind] == "i" and i.immediate(k) == 0 for k, kind in enumerate(kinds)):
        names.append("imm0")
    return frozenset(names) if names else _NO_TRAITS


def _has_same_sources(i: Any, form: _Form, kinds: list[int], accesses: Sequence[int]) -> bool:
    """Return True if all explicit register operands that are sources are the same register."""
    registers = [i.op_register(k) for k, kind in enumerate(kinds) if kind == _KIND_REGISTER]
    sources = [r for k, r in enumerate(registers) if _is_source(form, accesses[k], k)]
    if len(sources) < 2 and len(registers) == 2:
        sources = registers
    if len(sources) < 2:
        return False
    first, *others = [_REGISTERS[r] for r in sources]
    return all(other.root == first.root and other.offset == first.offset for other in others)


def _prefix_traits(i: Any) -> list[str]:
    """Return the traits of masks, rounding, and the prefixes lock, rep and repne."""
    names: list[str] = []
    if i.has_op_mask:
        names.append("mask")
        if i.zeroing_masking:
            names.append("zeroing")
    if i.rounding_control:
        names.append("er")
    elif i.suppress_all_exceptions:
        names.append("sae")
    if i.has_lock_prefix:
        names.append("lock")
    if i.is_string_instruction:
        if i.has_repne_prefix:
            names.append("repne")
        elif i.has_rep_prefix:
            names.append("rep")
    return names


_NO_TRAITS: frozenset[str] = frozenset()


def _is_source(form: _Form, access: int, operand: int) -> bool:
    # iced-x86 knows that zero idioms read nothing; whether a core does is for the model to say.
    return access in READS or (access == _NO_ACCESS and form.idiom != "" and operand > 0)


def _address_parts(i: Any) -> str:
    parts: list[str] = []
    if i.is_ip_rel_memory_operand:
        parts.append("R")
    elif i.memory_base != _NONE:
        parts.append("B")
    if i.memory_index != _NONE:
        parts.append("I" if i.memory_index_scale == 1 else "IS")
    if i.memory_displ_size:
        parts.append("D8" if i.memory_displ_size == 1 else "D32")
    return "_".join(parts)


# --- per encoding ----------------------------------------------------------------------------------------------------


class _Decoded(msgspec.Struct, frozen=True, kw_only=True):
    """An instruction at address 0, without its text and line, and the parts that its place changes."""

    instruction: Instruction
    explicit_memory: int
    """The index in `memory` of the operand with the displacement, -1 for none."""
    rip: bool
    """True if its displacement is relative to the start of the instruction."""
    branch: bool
    displacement_at: int
    """The position of the displacement's bytes."""
    native: Any
    """iced-x86's instruction."""


_DECODED: dict[bytes, _Decoded] = {}
_ALIKE: dict[bytes, _Decoded] = {}
"""An instruction for each encoding without the distance in it."""
_TEXTS: dict[bytes, str] = {}
"""The formatted text of instructions whose text does not depend on their place."""


class UndecodableError(ValueError):
    """Bytes that are no instruction of their mode; `offset` is where they start."""

    def __init__(self, code: bytes, offset: int) -> None:
        what = "x86-64 instruction" if bits_of(code) == 64 else "instruction of 32-bit mode"
        super().__init__(f"offset {offset:#x}: not an {what}: {code[:15].hex(' ')}")
        self.offset = offset


def decode(
    code: bytes,
    offset: int = 0,
    text: str = "",
    line: int = 0,
    relocations: Sequence[Relocation] = (),
    section: str = "",
) -> Instruction:
    """Decode the instruction at the start of `code`; bytes after it are ignored.

    `offset` is its address in the section or block, in bytes. Without `text` the instruction is formatted in AT&T
    syntax. `relocations` are those with an offset within the instruction, `section` names what a RIP-relative address
    without relocation lies in ("" for raw machine code, whose displacement is then the address in the block).

    Assumptions: addresses do not wrap around (so sign extension leaves a value as it is); the direction flag is clear;
    a call comes back with rsp as it was, since the callee is not part of the kernel.

    Raises UndecodableError.
    """
    decoded = _DECODED.get(code) or _decoded(code, offset)
    instruction = decoded.instruction
    if not (decoded.branch or decoded.rip or relocations):
        if not text:
            text = _TEXTS.get(instruction.encoding, "")
            if not text:
                text = keep(_TEXTS, instruction.encoding, _format(decoded.native, offset))
    else:
        instruction = _place(decoded, offset, text, relocations, section)
        text = text or _format(decoded.native, offset)
    return replace(instruction, text=text, line=line, offset=offset)


def seen(code: bytes, offset: int, text: str, line: int) -> Instruction | None:
    """Return the result of `decode` for bytes that it has decoded before, where their place does not matter.

    `text` is not empty. Returns None otherwise.
    """
    decoded = _DECODED.get(code)
    if decoded is None:
        return None
    if decoded.branch or decoded.rip:
        return None
    return replace(decoded.instruction, text=text, line=line, offset=offset)


def prefix_alone(code: bytes, offset: int, text: str, line: int) -> Instruction | None:
    """Return the instruction that LLVM makes of a prefix in a statement of its own, which does nothing.

    None for others.
    """
    if len(code) != 1 or not (code[0] in PREFIXES or code[0] & 0xF0 == 0x40):
        return None
    nothing = decode(b"\x90", offset, text, line)
    return replace(nothing, mnemonic=text.lower(), encoding=code)


def decode_refused(code: bytes, offset: int, text: str, line: int) -> Instruction | None:
    """Return an instruction with `lock`s that processors reject but LLVM's assembler writes, None for others."""
    native = Decoder(bits_of(code), code[:15], DecoderOptions.NO_INVALID_CHECK).decode()
    if native.is_invalid or not native.has_lock_prefix:
        return None
    encoding = code[: native.len]
    prefixes = len(encoding) - len(encoding.lstrip(bytes(PREFIXES)))
    unlocked = encoding[:prefixes].replace(b"\xf0", b"") + encoding[prefixes:]
    try:
        without = decode(type(code)(unlocked), offset, text, line)
    except UndecodableError:
        return None
    instruction = replace(without, length=native.len, encoding=encoding)
    keep(_DECODED, encoding, replace(_DECODED[without.encoding], instruction=instruction, native=native))
    return instruction


def lengths(code: bytes) -> Iterator[int]:
    """Yield the lengths in bytes of consecutive instructions; one decoder reads all of them.

    `decode` reports bytes that are no instruction.
    """
    decoder = Decoder(bits_of(code), code)
    while decoder.can_decode:
        native = decoder.decode()
        yield 15 if native.is_invalid else native.len


def disassemble(code: bytes, address: int) -> Iterator[Any]:
    """Yield iced-x86's instructions of machine code at an address, up to the first bytes that are none."""
    for native in Decoder(bits_of(code), code, ip=address):
        if native.is_invalid:
            return
        yield native


def x87_increment(instruction: Instruction) -> int:
    """Return the move of the x87 stack's top: -1 for a push, 1 or 2 for pops, else 0."""
    if instruction.mnemonic[0] != "f" or len(instruction.encoding) == 1:  # fwait, or a prefix alone, whatever its name
        return 0
    decoded = _DECODED.get(instruction.encoding) or _decoded(instruction.encoding, instruction.offset)
    return int(decoded.native.fpu_stack_increment_info().increment)


def native_of(instruction: Instruction) -> Any:
    """Return the instruction of iced-x86's that a decoded one was made from, at address 0."""
    decoded = _DECODED.get(instruction.encoding) or _decoded(instruction.encoding, instruction.offset)
    return decoded.native


def branch_of(native: Any) -> str:
    """Return `Instruction.branch` of an instruction of iced-x86's."""
    return _BRANCHES.get(native.flow_control, "") if native.mnemonic not in _SYSTEM_CALLS else ""


def constant_offsets(code: bytes) -> Any:
    """Return iced-x86's ConstantOffsets: the positions of displacement and immediates in an instruction's bytes."""
    decoder = Decoder(bits_of(code), code)
    return decoder.get_constant_offsets(decoder.decode())


def register_of(number: int) -> Register:
    """Return the register of iced-x86's number."""
    return _REGISTERS[number]


def _place(decoded: _Decoded, offset: int, text: str, relocations: Sequence[Relocation], section: str) -> Instruction:
    """Return the instruction at its place: with branch target, symbol and displacement of its memory operand."""
    instruction = decoded.instruction
    changes: dict[str, Any] = {}
    if decoded.branch and instruction.branch not in ("return", ""):
        changes["target"] = _target(decoded.native, offset, text)
    symbol, displacement = section, None
    for relocation in relocations:
        # An immediate or displacement that only the linker knows; what push and call add to rsp does not depend on it.
        if instruction.affine is not None and instruction.affine.target != "rsp":
            changes["affine"] = None
        if relocation.offset - offset + instruction.immediate_bytes == instruction.length:
            changes["immediate"] = None
        if relocation.offset - offset == decoded.displacement_at:
            symbol, displacement = relocation.symbol, relocation.addend
            if relocation.pc_relative:
                displacement += instruction.length - decoded.displacement_at
    if decoded.explicit_memory >= 0 and (decoded.rip or displacement is not None):
        memory = list(instruction.memory)
        access = memory[decoded.explicit_memory]
        if displacement is None:
            displacement = access.displacement + offset
        memory[decoded.explicit_memory] = replace(access, symbol=symbol, displacement=displacement)
        changes["memory"] = tuple(memory)
    return replace(instruction, **changes)


_JUMPS = ("j", "call", "loop", "xbegin", "bnd", "notrack", "data16", "rex", "cs", "ds", "{")


def _target(native: Any, offset: int, text: str) -> str:
    """Return the label of a direct branch from its statement, or its address in hexadecimal without one."""
    if _KIND_LETTERS[native.op0_kind] != "b":
        return ""
    statement = text.split()
    # The statement may be a macro of any name; only a jump's own last word is the target.
    if len(statement) > 1 and statement[0].lower().startswith(_JUMPS):
        return statement[-1].removesuffix("@PLT")
    if native.is_call_far or native.is_jmp_far:
        return ""
    return f"{(native.near_branch_target + offset) & _addresses(native):#x}"


def _addresses(native: Any) -> int:
    """Return the highest address of an instruction's mode."""
    return 0xFFFFFFFF if native.code_size == CODE32 else 0xFFFFFFFFFFFFFFFF


_FORMATTERS: list[Any] = []


def _format(native: Any, offset: int) -> str:
    if not _FORMATTERS:
        formatter = Formatter(FormatterSyntax.GAS)
        formatter.space_after_operand_separator = True
        formatter.hex_prefix, formatter.hex_suffix = "0x", ""
        formatter.rip_relative_addresses = True
        formatter.branch_leading_zeros = False
        _FORMATTERS.append(formatter)
    if native.ip != offset:
        native = native.copy()
        if _KIND_LETTERS[native.op0_kind] == "b" and native.op_count:
            target = (native.near_branch_target + offset) & _addresses(native)
            if native.code_size != CODE32:
                native.near_branch64 = target
            elif native.op0_kind == OpKind.NEAR_BRANCH32:
                native.near_branch32 = target
    return str(_FORMATTERS[0].format(native)).replace("\t", " ")


def _decoded(code: bytes, offset: int) -> _Decoded:
    """Decode the instruction at the start of `code`, which may be longer: only the decoder finds its end."""
    decoder = Decoder(bits_of(code), code[:15])
    native = decoder.decode()
    if native.is_invalid:
        raise UndecodableError(code, offset)
    encoding = code[: native.len]
    decoded = _DECODED.get(encoding)
    if decoded is None:
        offsets = decoder.get_constant_offsets(native)
        stencil = _without_distance(encoding, native, offsets)
        alike = _ALIKE.get(stencil)
        if alike is None:
            decoded = keep(_ALIKE, stencil, _decode_at_zero(encoding, native, offsets))
        else:
            decoded = _at_distance(alike, encoding, native)
        keep(_DECODED, encoding, decoded)
    return decoded


def _without_distance(code: bytes, i: Any, offsets: Any) -> bytes:
    """Return an encoding with 0 for the displacement of its address, or for the distance of its target."""
    if offsets.has_displacement:
        at, size = offsets.displacement_offset, offsets.displacement_size
    elif i.op0_kind in NEAR_BRANCHES and offsets.has_immediate:
        at, size = offsets.immediate_offset, offsets.immediate_size
    else:
        return code
    return type(code)(code[:at] + bytes(size) + code[at + size :])


def _at_distance(alike: _Decoded, code: bytes, i: Any) -> _Decoded:
    """Return an instruction that differs from another one only in what `_without_distance` leaves out."""
    changes: dict[str, Any] = {"encoding": code}
    form, kinds, info = _form(i), [i.op_kind(k) for k in range(i.op_count)], _FACTORY.info(i)
    if alike.instruction.memory:
        changes["memory"], _ = _memory_accesses(i, info, kinds, [info.op_access(k) for k in range(len(kinds))])
    if form.mnemonic == "lea":
        changes["affine"] = _affine(i, form, kinds, "")
    return replace(alike, instruction=replace(alike.instruction, **changes), native=i)


def _decode_at_zero(code: bytes, i: Any, offsets: Any) -> _Decoded:
    form = _form(i)
    info = _FACTORY.info(i)
    kinds = [i.op_kind(k) for k in range(i.op_count)]
    accesses = [info.op_access(k) for k in range(len(kinds))]
    registers = _register_accesses(i, form, info, kinds, accesses)
    memory, explicit_memory = _memory_accesses(i, info, kinds, accesses)
    idiom = _idiom(i, form, kinds)

    read, written = i.rflags_read & 63, i.rflags_modified & 63
    if written and (
        # A count of zero in cl, or of no repetitions, leaves the flags as they were.
        (form.mnemonic in _SHIFTS and i.op_kind(len(kinds) - 1) == _KIND_REGISTER)
        or (i.is_string_instruction and (i.has_rep_prefix or i.has_repne_prefix))
    ):
        read |= written

    opcode_offset = _opcode_offset(code, i.code_size != CODE32)
    immediate_bytes = offsets.immediate_size if "i" in [_KIND_LETTERS[kind] for kind in kinds] else 0
    immediate = None
    if immediate_bytes:
        at = offsets.immediate_offset
        immediate = int.from_bytes(code[at : at + immediate_bytes], "little", signed=True)
    branch = branch_of(i)
    instruction = Instruction(
        text="",
        line=0,
        offset=0,
        length=i.len,
        mnemonic=form.mnemonic,
        form=(form.name if i.code_size != CODE32 else twin(form.name))
        + ("/m" if _KIND_MEMORY in kinds and form.name != "XLAT_M8" else "/r"),
        traits=_traits(i, form, kinds, accesses),
        operands="".join(_KIND_LETTERS[kind] for kind in kinds),
        registers=registers,
        memory=memory,
        flags_read=_FLAGS[read],
        flags_written=_FLAGS[written],
        branch=branch,
        target="",
        affine=_affine(i, form, kinds, idiom),
        idiom=idiom,
        move=_is_move(i, form, kinds),
        arithmetic=None if idiom or form.arithmetic is None else _arithmetic(i, form.arithmetic, kinds),
        encoding=code,
        opcode_offset=opcode_offset,
        immediate_bytes=immediate_bytes,
        immediate=immediate,
        encoding_traits=_encoding_traits(code, opcode_offset, immediate_bytes, form.mnemonic),
        sum=sum_of(form.mnemonic, len(kinds)),
        divisor=divisor_of(form.mnemonic, len(kinds)),
        constants=0 if form.mnemonic.startswith("nop") else _constants(offsets),
    )
    return _Decoded(
        instruction=instruction,
        explicit_memory=explicit_memory,
        rip=i.is_ip_rel_memory_operand,
        branch=branch != "",
        displacement_at=offsets.displacement_offset if offsets.has_displacement else -1,
        native=i,
    )


def _constants(offsets: Any) -> int:
    """Return the 32-bit fields of the displacement and of immediates, of which the target of a branch is one here."""
    sizes = offsets.displacement_size, offsets.immediate_size, offsets.immediate_size2
    return sum([-(-size // 4) for size in sizes])


PREFIXES = frozenset(b"\x26\x2e\x36\x3e\x64\x65\x66\x67\xf0\xf2\xf3")
_VECTOR_PREFIXES = {0xC5: 2, 0xC4: 3, 0x62: 4}


def _opcode_offset(code: bytes, wide: bool = True) -> int:
    """Return the primary opcode's offset.

    It follows legacy prefixes, REX, VEX or EVEX, and the escapes 0F, 0F 38 and 0F 3A.

    `wide`: in 64-bit mode; in the other one REX is an instruction, and so are VEX and EVEX before an operand in memory.
    """
    at = 0
    while code[at] in PREFIXES:
        at += 1
    if code[at] in _VECTOR_PREFIXES and (wide or code[at + 1] >= 0xC0):
        return at + _VECTOR_PREFIXES[code[at]]
    if wide and code[at] & 0xF0 == 0x40:
        at += 1
    if code[at] == 0x0F:
        at += 2 if code[at + 1] in (0x38, 0x3A) else 1
    return at


_NO_ENCODING_TRAITS: frozenset[str] = frozenset()
_LCP, _LCP_MOV, _POP_RSP_R12 = (frozenset((name,)) for name in ("lcp", "lcp_mov", "pop_rsp_r12"))


def _encoding_traits(code: bytes, opcode_offset: int, immediate_bytes: int, mnemonic: str) -> frozenset[str]:
    # An operand-size prefix before an immediate of 16 bits, which would be 32 bits without.
    if immediate_bytes == 2 and 0x66 in code[:opcode_offset]:
        return _LCP_MOV if mnemonic == "mov" else _LCP
    if mnemonic == "pop" and code[opcode_offset] == 0x5C:
        return _POP_RSP_R12
    return _NO_ENCODING_TRAITS


def _register_accesses(
    i: Any, form: _Form, info: Any, kinds: list[int], accesses: Sequence[int]
) -> tuple[RegisterAccess, ...]:
    if form.mnemonic == "vzeroupper":
        # It clears the upper halves; cores track that state separately, no register is renamed for it.
        return ()
    # iced-x86 lists what operands and addresses use first, in order, then the implicit uses. What operands account for
    # is taken off this list; the rest is implicit.
    rest = [(u.register, u.access) for u in info.used_registers()]
    register_accesses = _operand_accesses(i, form, kinds, accesses, rest)
    if i.has_op_mask:
        register = _REGISTERS[i.op_mask]
        write = any(_REGISTERS[n] == register and access in WRITES for n, access in rest)
        _take(rest, register.root, True, write)
        register_accesses.append(RegisterAccess(register=register, read=True, write=write, operand=-1))

    memory = info.used_memory()
    addresses = {u.base for u in memory} | {u.index for u in memory} if memory else set()
    register_accesses.extend(_implicit(rest, form.legacy, addresses))
    return tuple(register_accesses)


def _operand_accesses(
    i: Any, form: _Form, kinds: list[int], accesses: Sequence[int], rest: list[tuple[int, int]]
) -> list[RegisterAccess]:
    """Return the accesses of operands and of the registers in their addresses, which are removed from `rest`."""
    operands: list[RegisterAccess] = []
    for k, kind in enumerate(kinds):
        access = accesses[k]
        if kind == _KIND_REGISTER:
            number, read = i.op_register(k), _is_source(form, access, k)
            if number in _SEGMENTS or (access == _NO_ACCESS and not read):
                continue
            register, write = _REGISTERS[number], access in WRITES
            _take(rest, register.root, access in READS, write)
            if k == 0 and form.idiom and kinds[1:] == [_KIND_REGISTER] and accesses[1] == _NO_ACCESS:
                read = True
            conditional = write and (access in _CONDITIONAL_WRITES or (k == 0 and _may_stay(i, form, access)))
            operands.append(
                RegisterAccess(
                    register=register,
                    read=read or conditional,
                    write=write,
                    operand=k,
                    merges=write and _merges(register, form.legacy),
                    conditional=conditional,
                )
            )
        elif kind == _KIND_MEMORY and access != _NO_ACCESS:
            for number in (i.memory_base, i.memory_index):
                if number not in (_NONE, _RIP, _EIP):
                    register = _REGISTERS[number]
                    _take(rest, register.root, True, False)
                    operands.append(
                        RegisterAccess(register=register, read=True, write=False, operand=None, address=True)
                    )
    return operands


def _may_stay(i: Any, form: _Form, access: int) -> bool:
    """Return True if operand 0, which has this access, may keep its value: by a condition, a mask or a gather."""
    if i.has_op_mask and not i.zeroing_masking and access in READS:
        return True
    return form.mnemonic.startswith("cmov") or (i.is_vsib and access != _NO_MEMORY_ACCESS)


def _take(rest: list[tuple[int, int]], root: str, read: bool, write: bool) -> None:
    """Remove the first entries for `root` that together are the given access."""
    index = 0
    while index < len(rest) and (read or write):
        number, access = rest[index]
        reads, writes = access in READS, access in WRITES
        if _REGISTERS[number].root == root and (read or not reads) and (write or not writes):
            read, write = read and not reads, write and not writes
            del rest[index]
        else:
            index += 1


def _merges(register: Register, legacy: bool) -> bool:
    if register.kind == "general":
        return register.width < 32
    return legacy and register.kind == "vector"


def _implicit(rest: list[tuple[int, int]], legacy: bool, addresses: set[int]) -> list[RegisterAccess]:
    """Return implicit accesses; a read and a write of one register become one access."""
    implicit: list[RegisterAccess] = []
    for number, access in rest:
        if number in _SEGMENTS or number in (_RIP, _EIP):
            continue
        register = _REGISTERS[number]
        read, write = access in READS, access in WRITES
        conditional = access in _CONDITIONAL_WRITES
        merges = write and _merges(register, legacy)
        for index, other in enumerate(implicit):
            # "EAX read, RAX written" is a 32-bit operation on eax, which clears the upper half.
            same = other.register == register or (
                other.register.root == register.root and other.register.width == 32 and register.width == 64
            )
            if same:
                implicit[index] = RegisterAccess(
                    register=other.register,
                    read=other.read or read or conditional,
                    write=other.write or write,
                    operand=None,
                    merges=other.merges or merges,
                    conditional=other.conditional or conditional,
                )
                break
        else:
            implicit.append(
                RegisterAccess(
                    register=register,
                    read=read or conditional,
                    write=write,
                    operand=None,
                    merges=merges,
                    conditional=conditional,
                )
            )
    if not addresses:
        return implicit
    numbers = {_REGISTERS[number] for number in addresses if number != _NONE}
    return [replace(a, address=True) if a.register in numbers and not a.write else a for a in implicit]


def _memory_accesses(
    i: Any, info: Any, kinds: list[int], accesses: Sequence[int]
) -> tuple[tuple[MemoryAccess, ...], int]:
    """Return memory accesses, explicit ones first, and the index of that with the ModRM displacement, or -1."""
    explicit = [
        k
        for k, kind in enumerate(kinds)
        if _KIND_LETTERS[kind] == "m" and accesses[k] not in (_NO_ACCESS, _NO_MEMORY_ACCESS)
    ]
    memory: list[MemoryAccess] = []
    modrm = -1
    for used in info.used_memory():
        access = used.access
        load, store = access in READS, access in WRITES
        if not load and not store:
            continue
        operand = explicit.pop(0) if explicit else None
        if operand is not None and kinds[operand] == _KIND_MEMORY:
            modrm = len(memory)
        base, index, segment = used.base, used.index, used.segment
        size = MemorySizeExt.size(used.memory_size)
        elements = 1
        if used.vsib_size:
            data = next(_REGISTERS[i.op_register(k)].width for k, kind in enumerate(kinds) if kind == _KIND_REGISTER)
            elements = min(_REGISTERS[index].width // (8 * used.vsib_size), data // (8 * size))
        memory.append(
            MemoryAccess(
                base=None if base in (_NONE, _RIP, _EIP) else _REGISTERS[base],
                index=None if index == _NONE else _REGISTERS[index],
                scale=used.scale,
                displacement=used.displacement_i64 if i.code_size != CODE32 else signed(used.displacement, 32),
                symbol="",
                segment=_REGISTERS[segment].name if segment in (_FS, _GS) else "",
                size=size,
                load=load,
                store=store,
                operand=operand,
                elements=elements,
            )
        )
    return tuple(memory), modrm


def _idiom(i: Any, form: _Form, kinds: list[int]) -> str:
    if i.has_op_mask:
        return ""
    if form.mnemonic in ("vpternlogd", "vpternlogq"):
        # The truth table in the immediate is constant.
        return {0x00: "zero", 0xFF: "ones"}.get(i.immediate8, "")
    if form.idiom and all(kind == _KIND_REGISTER for kind in kinds) and len(kinds) in (2, 3):
        return form.idiom if i.op_register(len(kinds) - 2) == i.op_register(len(kinds) - 1) else ""
    return ""


def _is_move(i: Any, form: _Form, kinds: list[int]) -> bool:
    if not form.move or kinds != [_KIND_REGISTER, _KIND_REGISTER] or i.has_op_mask:
        return False
    to, source = _REGISTERS[i.op0_register], _REGISTERS[i.op1_register]
    match form.move:
        case "general":
            return to.kind == source.kind == "general" and to.width >= 32
        case "mmx" | "mask":
            return to.kind == source.kind == form.move
    return True


def _arithmetic(i: Any, kind: ArithmeticClass, kinds: list[int]) -> Arithmetic | None:
    registers = [_REGISTERS[i.op_register(k)] for k, operand in enumerate(kinds) if operand == _KIND_REGISTER]
    widths = [r.width for r in registers if r.kind in ("vector", "mmx")]
    if not widths:
        return None
    if not kind.packed:
        return Arithmetic(
            packed=False, floating=kind.floating, element=kind.element, width=kind.element, operations=kind.per_element
        )
    width = max(widths)
    return Arithmetic(
        packed=True,
        floating=kind.floating,
        element=kind.element,
        width=width,
        operations=kind.per_element * (width // kind.element),
    )


# --- address arithmetic ----------------------------------------------------------------------------------------------


def _sum(*terms: tuple[str, int]) -> tuple[tuple[str, int], ...]:
    total: dict[str, int] = {}
    for root, coefficient in terms:
        total[root] = total.get(root, 0) + coefficient
    return tuple((root, coefficient) for root, coefficient in total.items() if coefficient)


def _affine(i: Any, form: _Form, kinds: list[int], idiom: str) -> Affine | None:
    """Return the linear effect on a general-purpose register of at least 32 bits or on memory, or None."""
    mnemonic = form.mnemonic
    stack = i.stack_pointer_increment
    if stack:
        if mnemonic == "enter" or (mnemonic == "pop" and kinds[0] == _KIND_REGISTER and _root(i, 0) == "rsp"):
            return None
        return Affine("rsp", (("rsp", 1),), 0 if mnemonic == "call" else stack)
    if mnemonic == "leave":
        return Affine("rsp", (("rbp", 1),), 4 if i.code_size == CODE32 else 8)
    if mnemonic == "cdqe":
        return Affine("rax", (("rax", 1),), 0)
    if mnemonic in ("loop", "loope", "loopne"):
        return Affine("rcx", (("rcx", 1),), -1)
    if mnemonic[:4] in ("lods", "stos", "scas") and i.is_string_instruction and not i.has_rep_prefix:
        if i.has_repne_prefix:
            return None
        root = "rsi" if mnemonic[:4] == "lods" else "rdi"
        return Affine(root, ((root, 1),), int(MemorySizeExt.size(i.memory_size)))
    if not kinds or kinds[0] != _KIND_REGISTER:
        return _affine_memory(i, mnemonic, kinds)
    target = _REGISTERS[i.op0_register]
    if target.kind != "general" or target.width < 32:
        return None
    return _affine_register(i, mnemonic, kinds, idiom, target)


def _affine_register(i: Any, mnemonic: str, kinds: list[int], idiom: str, target: Register) -> Affine | None:
    """Return the linear effect on the general-purpose register in operand 0, or None."""
    root = target.root
    if idiom == "zero":
        return Affine(root, (), 0)
    if mnemonic == "lea":
        return _affine_lea(i, root)
    if mnemonic in ("inc", "dec"):
        return Affine(root, ((root, 1),), 1 if mnemonic == "inc" else -1)
    if mnemonic == "neg" and target.width == 64:
        return Affine(root, ((root, -1),), 0)
    if len(kinds) != 2:
        return None
    if kinds[1] == _KIND_REGISTER:
        source = _REGISTERS[i.op1_register]
        if source.kind != "general" or source.width < 32:
            return None
        if mnemonic in ("mov", "movsxd"):
            return Affine(root, ((source.root, 1),), 0)
        if mnemonic in ("add", "sub"):
            return Affine(root, _sum((root, 1), (source.root, 1 if mnemonic == "add" else -1)), 0)
        return None
    if _KIND_LETTERS[kinds[1]] == "i":
        return _affine_immediate(mnemonic, target, signed(i.immediate(1), 64))
    return None


def _affine_immediate(mnemonic: str, target: Register, immediate: int) -> Affine | None:
    """Return the linear effect on a register of an operation with a constant, or None."""
    root = target.root
    if mnemonic == "mov":
        return Affine(root, (), immediate)
    if mnemonic in ("add", "sub"):
        immediate = signed(immediate, target.width)
        return Affine(root, ((root, 1),), immediate if mnemonic == "add" else -immediate)
    if mnemonic in ("shl", "sal") and 0 <= immediate < 32:
        return Affine(root, ((root, 1 << immediate),), 0)
    return None


def _affine_memory(i: Any, mnemonic: str, kinds: list[int]) -> Affine | None:
    """Return the linear effect of a read-modify-write of 4 or 8 bytes of memory.

    Unoptimised code keeps its counters there.
    """
    if not kinds or _KIND_LETTERS[kinds[0]] != "m" or MemorySizeExt.size(i.memory_size) not in (4, 8):
        return None
    if mnemonic in ("inc", "dec"):
        return Affine("", (), 1 if mnemonic == "inc" else -1)
    if mnemonic not in ("add", "sub") or len(kinds) != 2:
        return None
    sign = 1 if mnemonic == "add" else -1
    if kinds[1] == _KIND_REGISTER:
        return Affine("", ((_root(i, 1), sign),), 0)
    return Affine("", (), sign * signed(i.immediate(1), 64))


def _affine_lea(i: Any, root: str) -> Affine | None:
    if i.is_ip_rel_memory_operand:
        return None
    terms = []
    if i.memory_base != _NONE:
        terms.append((_REGISTERS[i.memory_base].root, 1))
    if i.memory_index != _NONE:
        terms.append((_REGISTERS[i.memory_index].root, i.memory_index_scale))
    return Affine(root, _sum(*terms), signed(i.memory_displacement, 32 if i.code_size == CODE32 else 64))


def _root(i: Any, operand: int) -> str:
    return _REGISTERS[i.op_register(operand)].root


def signed(value: int, bits: int) -> int:
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value
