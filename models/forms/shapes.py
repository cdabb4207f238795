"""All x86 instruction forms that the decoder can produce, with their operands: importers match their sources to them.

They are built from iced-x86's opcode tables: one shape for each `Code` and kind of its modrm operand (register or
memory).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from typing import cast

import iced_x86 as iced
import msgspec
from iced_x86 import (
    Code,
    CpuidFeature,
    EncodingKind,
    MemorySizeExt,
    Mnemonic,
    OpAccess,
    OpCodeInfo,
    OpCodeOperandKind,
    OpKind,
    Register,
    RegisterExt,
    RflagsBits,
)
from msgspec.structs import astuple


class Shape(msgspec.Struct, frozen=True, kw_only=True):
    """An x86 instruction form."""

    key: str
    """The form's name, as `Instruction.form` ("ADD_RM64_R64/m")."""
    code: int
    """The number of iced-x86's `Code`."""
    mnemonic: str
    """The mnemonic in upper case."""
    operands: tuple[str, ...]
    """The operands in Intel's order.

    "R8" … "R64", "XMM", "YMM", "ZMM", "MM", "K", "BND", "ST", "SEG", "CR", "DR" and "TMM" are registers of any number;
    "AL", "AX", "EAX", "RAX", "CL", "DX", "ST0", "ES", "CS", "SS", "DS", "FS" and "GS" are that register; "I8" … "I64"
    are immediates, "1" is the constant; "REL8", "REL16" and "REL32" are branch targets, "FAR" a far one; "M" is memory,
    "VSIB_XMM" … memory with a vector index, "MOFFS" absolute memory, "STRING" memory addressed by rsi or rdi
    implicitly.
    """
    memory_bits: int
    """The size of "M" in bits."""
    opcode: int
    """The last byte or bytes of the opcode."""
    operand_size: int
    """16, 32, 64, or 0 if there is none."""
    encoding: str
    """"LEGACY", "VEX", "EVEX", …"""
    info: OpCodeInfo
    """iced-x86's description of the code."""

    @property
    def has_memory(self) -> bool:
        """True if a memory operand was used where a register could be, or where only memory can be."""
        return self.key.endswith("/m")

    @property
    def memory_operand(self) -> str:
        """The number of the operand "M" as latencies name it, "" without one."""
        return next((str(n) for n, operand in enumerate(self.operands) if operand == "M"), "")

    @property
    def has_vector(self) -> bool:
        """True if an operand is an XMM, YMM or ZMM register."""
        return not _WIDE_VECTORS.isdisjoint(self.operands)


VECTOR_BITS = {"MM": 64, "XMM": 128, "YMM": 256, "ZMM": 512}
"""The widths of vector registers by operand."""
_MEMORY = ("MEM", "SIBMEM")
_WIDE_VECTORS = frozenset(["XMM", "YMM", "ZMM"])
_FIXED = frozenset(["AL", "AX", "EAX", "RAX", "CL", "DX", "ST0", "ES", "CS", "SS", "DS", "FS", "GS"])
_SPECIAL = {
    **{name: name for name in _FIXED},
    **dict.fromkeys(("SEG_RSI", "ES_RDI", "SEG_RDI", "SEG_RBX_AL"), "STRING"),
    "MEM_OFFS": "MOFFS",
    "IMM8_CONST_1": "1",
    "IMM4_M2Z": "I8",
    "STI_OPCODE": "ST",
    "FARBR2_2": "FAR",
    "FARBR4_2": "FAR",
}
"""Operands by iced-x86's kinds whose names do not tell them."""
_OPERAND_KINDS = {v: k for k, v in vars(OpCodeOperandKind).items() if isinstance(v, int)}
_MNEMONICS = {v: k for k, v in vars(Mnemonic).items() if isinstance(v, int)}
CODE_NAMES = {v: k for k, v in vars(Code).items() if isinstance(v, int)}
_ENCODINGS = {v: k for k, v in vars(EncodingKind).items() if isinstance(v, int)}


@cache
def shapes(bits: int = 64) -> tuple[Shape, ...]:
    """Return all forms of 64-bit or 32-bit mode except Knights Corner's, sorted by key."""
    result = []
    for code, name in CODE_NAMES.items():
        info = OpCodeInfo(cast("iced.Code_", code))
        if not (info.mode64 if bits == 64 else info.mode32) or not info.is_instruction:
            continue
        if _ENCODINGS[info.encoding] == "MVEX" or name.startswith("VEX_KNC"):
            continue
        kinds = [_OPERAND_KINDS[k] for k in info.op_kinds()]
        either = any("_OR_MEM" in k for k in kinds)
        memory = any(k.startswith(_MEMORY) for k in kinds)
        ways = "rm" if either and not memory else "m" if memory else "r"
        result += [_shape(code, name, info, kind) for kind in ways]
    return tuple(sorted(result, key=astuple))


def shape_of(form: str) -> Shape:
    """Return the form of this key without computing all others. Raises KeyError if there is none."""
    name, _, kind = form.partition("/")
    code = getattr(Code, name, None)
    if code is None or kind not in ("r", "m"):
        raise KeyError(form)
    return _shape(code, name, OpCodeInfo(code), kind)


def _shape(code: int, name: str, info: OpCodeInfo, kind: str) -> Shape:
    operands = tuple(_operand(_OPERAND_KINDS[k], kind) for k in info.op_kinds())
    bits = 8 * MemorySizeExt.size(info.memory_size) if kind == "m" else 0
    return Shape(
        key=f"{name}/{kind}",
        code=code,
        mnemonic=_MNEMONICS[info.mnemonic].upper(),
        operands=operands,
        memory_bits=bits,
        opcode=info.op_code,
        operand_size=info.operand_size,
        encoding=_ENCODINGS[info.encoding],
        info=info,
    )


@cache
def by_key() -> dict[str, Shape]:
    """Return all forms of 64-bit mode by their key."""
    return {s.key: s for s in shapes()}


def _operand(kind: str, form: str) -> str:
    """Return the operand of a kind that iced-x86 names, of a form with ("m") or without ("r") memory."""
    if kind in _SPECIAL:
        return _SPECIAL[kind]
    if kind.startswith(_MEMORY):
        vector = re.fullmatch("MEM_VSIB(?:32|64)([XYZ])", kind)
        return f"VSIB_{vector[1]}MM" if vector else "M"
    if immediate := re.match(r"IMM\d+", kind):
        return immediate[0].replace("IMM", "I")
    if kind.startswith(("BR", "XBEGIN")):
        return f"REL{8 * int(kind[-1])}"
    if "_OR_MEM" in kind and form == "m":
        return "M"
    # R64_OR_MEM, R64_REG, R64_RM, R64_VVVV, R64_OPCODE, XMM_IS4, KP1_REG, XMMP3_VVVV …
    return kind.partition("_")[0].removesuffix("P1").removesuffix("P3")


def title(shape: Shape, conditions: Iterable[str] = ()) -> str:
    """Return a form as people spell it, in Intel's order: "vaddpd ymm, ymm, m256", "lock add m64, r64"."""
    operands = [f"m{shape.memory_bits}" if o == "M" and shape.memory_bits else o.lower() for o in shape.operands]
    prefixes = [condition for condition in conditions if condition in ("lock", "rep", "repne")]
    marks = {"mask": " {k}", "zeroing": "{z}", "bcast": " {1toN}"}
    text = " ".join([*prefixes, f"{shape.mnemonic.lower()} {', '.join(operands)}"]).rstrip()
    return text + "".join(marks.get(c, f" [{c}]") for c in conditions if c not in prefixes)


# --- example instructions --------------------------------------------------------------------------------------------

_FIRST_REGISTER = {
    "R8": Register.R8L,
    "R16": Register.R8W,
    "R32": Register.R8D,
    "R64": Register.R8,
    "MM": Register.MM1,
    "XMM": Register.XMM4,
    "YMM": Register.YMM4,
    "ZMM": Register.ZMM4,
    "K": Register.K2,
    "BND": Register.BND0,
    "TMM": Register.TMM0,
    "ST": Register.ST1,
    "CR": Register.CR3,
    "DR": Register.DR3,
    "SEG": Register.FS,
    "TR": Register.TR3,
}
_INDEX_REGISTER = {"VSIB_XMM": Register.XMM12, "VSIB_YMM": Register.YMM12, "VSIB_ZMM": Register.ZMM12}
# For 32-bit mode, which has only eight registers of a kind.
_FIRST_NARROW = {"R8": Register.DL, "R16": Register.DX, "R32": Register.EDX, "SEG": Register.FS}
_IMMEDIATES = {
    "IMM8": OpKind.IMMEDIATE8,
    "IMM8SEX16": OpKind.IMMEDIATE8TO16,
    "IMM8SEX32": OpKind.IMMEDIATE8TO32,
    "IMM8SEX64": OpKind.IMMEDIATE8TO64,
    "IMM4_M2Z": OpKind.IMMEDIATE8,
    "IMM8_CONST_1": OpKind.IMMEDIATE8,
    "IMM16": OpKind.IMMEDIATE16,
    "IMM32": OpKind.IMMEDIATE32,
    "IMM32SEX64": OpKind.IMMEDIATE32TO64,
    "IMM64": OpKind.IMMEDIATE64,
}
# In 64-bit and in 32-bit mode.
_STRINGS = {
    "SEG_RSI": (OpKind.MEMORY_SEG_RSI, OpKind.MEMORY_SEG_ESI),
    "ES_RDI": (OpKind.MEMORY_ESRDI, OpKind.MEMORY_ESEDI),
    "SEG_RDI": (OpKind.MEMORY_SEG_RDI, OpKind.MEMORY_SEG_EDI),
}


def example(
    shape: Shape, mask: bool = False, zeroing: bool = False, broadcast: bool = False, bits: int = 64
) -> iced.Instruction:
    """Return an instruction of this form in which every register is a different one.

    No register coincides with an implicit operand: registers are r8 and up, xmm4 and up, and memory is at [r14]. 32-bit
    mode does not have enough registers for that.
    """
    narrow = bits == 32
    i = iced.Instruction()
    i.code = cast("iced.Code_", shape.code)
    kinds = [_OPERAND_KINDS[k] for k in shape.info.op_kinds()]
    for n, (kind, operand) in enumerate(zip(kinds, shape.operands, strict=True)):
        if operand in ("M", "MOFFS") or operand.startswith("VSIB"):
            _set_memory(i, n, kind, operand, narrow)
            i.is_broadcast = broadcast
        elif kind == "SEG_RBX_AL":
            i.set_op_kind(n, OpKind.MEMORY)
            i.memory_base, i.memory_index = Register.EBX if narrow else Register.RBX, Register.AL
        elif operand == "STRING":
            i.set_op_kind(n, _STRINGS[kind][narrow])
        elif kind in _IMMEDIATES:
            _set_immediate(i, n, kinds, operand)
        elif operand.startswith("REL"):
            i.set_op_kind(n, OpKind.NEAR_BRANCH32 if narrow else OpKind.NEAR_BRANCH64)
            if narrow:
                i.near_branch32 = 0x10
            else:
                i.near_branch64 = 0x10
        elif operand == "FAR":
            i.set_op_kind(n, OpKind.FAR_BRANCH32 if kind == "FARBR4_2" else OpKind.FAR_BRANCH16)
            i.far_branch_selector = 7
        else:
            register = _example_register(kind, operand, n, narrow)
            i.set_op_kind(n, OpKind.REGISTER)
            i.set_op_register(n, cast("iced.Register_", register))
    if mask or shape.info.require_op_mask_register:
        i.op_mask = Register.K1
    if zeroing:
        i.zeroing_masking = True
    return i


def _set_memory(i: iced.Instruction, n: int, kind: str, operand: str, narrow: bool) -> None:
    i.set_op_kind(n, OpKind.MEMORY)
    if operand == "MOFFS":
        i.memory_displacement, i.memory_displ_size = 0x11223344, 4 if narrow else 8
        return
    i.memory_base = Register.ESI if narrow else Register.R14
    if narrow:  # LLVM's disassembler takes a short `bound` for the beginning of EVEX
        i.memory_displacement, i.memory_displ_size = 0x1234, 4
    if operand in _INDEX_REGISTER:
        i.memory_index = cast("iced.Register_", _INDEX_REGISTER[operand] - 5 * narrow)
        i.memory_index_scale, i.memory_displ_size = 4, 1
        i.memory_displacement = 64
    elif kind in ("MEM_MIB", "SIBMEM"):
        i.memory_index = Register.EDI if narrow else Register.R15


def _set_immediate(i: iced.Instruction, n: int, kinds: Sequence[str], operand: str) -> None:
    if kinds[n] == "IMM8" and n and kinds[n - 1] in _IMMEDIATES:
        i.set_op_kind(n, OpKind.IMMEDIATE8_2ND)
        i.set_immediate_u64(n, 1)
        return
    i.set_op_kind(n, _IMMEDIATES[kinds[n]])
    if operand in ("I64", "1"):
        i.set_immediate_u64(n, 1)
    else:
        i.set_immediate_i32(n, 1)


def _example_register(kind: str, operand: str, n: int, narrow: bool) -> int:
    """Return the register for the n-th operand."""
    if operand in _FIXED:
        return cast("int", getattr(Register, operand))
    first = {**_FIRST_REGISTER, **_FIRST_NARROW} if narrow else _FIRST_REGISTER
    # Some operands stand for a block of two or four registers.
    block = 4 if "P3" in kind else 2 if "P1" in kind else 1
    register = first[operand] + (0 if operand in ("CR", "DR", "SEG", "TR") else n * (4 if block == 4 else 1))
    if block > 1:
        register -= (register - getattr(Register, operand + "0")) % block
    return register


def encode(instruction: iced.Instruction, bits: int = 64) -> bytes | None:
    """Return an instruction's machine code, None if it has none that decodes to the same form."""
    encoder = iced.Encoder(bits)
    try:
        encoder.encode(instruction, 0)
    except ValueError:
        return None
    code = encoder.take_buffer()
    back = iced.Decoder(bits, code).decode()
    return code if back.code == instruction.code else None


class FormDataflow(msgspec.Struct, frozen=True, kw_only=True):
    """The operands that a form reads and writes, named as in latencies (models.model.Form.latency)."""

    sources: tuple[str, ...]
    targets: tuple[str, ...]
    loads: bool
    """True if it loads, through an explicit or implicit memory operand."""
    stores: bool
    """True if it stores, likewise."""


# Segment registers are hardly ever written; the decoder leaves them out.
_SEGMENTS = frozenset(["SEG", "ES", "CS", "SS", "DS", "FS", "GS"])
_UNTRACKED = frozenset(["rip", "es", "cs", "ss", "ds", "fs", "gs"])
READS = {OpAccess.READ, OpAccess.COND_READ, OpAccess.READ_WRITE, OpAccess.READ_COND_WRITE}
WRITES = {OpAccess.WRITE, OpAccess.COND_WRITE, OpAccess.READ_WRITE, OpAccess.READ_COND_WRITE}
_FLAGS = {
    "C": RflagsBits.CF,
    "SPAZO": RflagsBits.SF | RflagsBits.PF | RflagsBits.AF | RflagsBits.ZF | RflagsBits.OF,
}
_REGISTER_NAMES = {v: k.lower() for k, v in vars(Register).items() if isinstance(v, int)}
FEATURES = {v: k for k, v in vars(CpuidFeature).items() if isinstance(v, int)}
"""Names of CPUID features by iced-x86's number."""


def root_name(register: int) -> str:
    """Return the name of the widest register that contains this one: "rax" for al."""
    return _REGISTER_NAMES[RegisterExt.full_register(cast("iced.Register_", register))]


def dataflow(shape: Shape, mask: bool = False) -> FormDataflow:
    """Return the operands that a form reads and writes."""
    instruction = example(shape, mask)
    info = iced.InstructionInfoFactory().info(instruction)
    sources: list[str] = []
    targets: list[str] = []
    explicit = set()
    address = {root_name(instruction.memory_base), root_name(instruction.memory_index)}
    for n in range(instruction.op_count):
        if instruction.op_kind(n) == OpKind.REGISTER:
            explicit.add(root_name(instruction.op_register(n)))
            if shape.operands[n] in _SEGMENTS:
                continue
            access = info.op_access(n)
            sources += [str(n)] * (access in READS)
            targets += [str(n)] * (access in WRITES)
    if instruction.op_mask != Register.NONE:
        explicit.add(root_name(instruction.op_mask))
        sources.append("k")
    stack = any(root_name(m.base) == "rsp" for m in info.used_memory())
    for used in info.used_registers():
        root = root_name(used.register)
        if root in explicit or root in address or (root == "rsp" and stack) or root in _UNTRACKED:
            continue
        sources += [root] * (used.access in READS and root not in sources)
        targets += [root] * (used.access in WRITES and root not in targets)
    loads = any(m.access in READS for m in info.used_memory())
    stores = any(m.access in WRITES for m in info.used_memory())
    sources += ["m"] * loads
    for group, bits in _FLAGS.items():
        sources += [group] * bool(instruction.rflags_read & bits)
        targets += [group] * bool(instruction.rflags_modified & bits)
    targets += ["M"] * stores
    if shape.mnemonic == "LEA":
        sources.append("a")
    return FormDataflow(sources=tuple(sources), targets=tuple(targets), loads=loads, stores=stores)


def features(shape: Shape) -> frozenset[str]:
    """Return the CPUID features that a form needs, as iced-x86 names them ("AVX512F", "AVX512VL")."""
    instruction = iced.Instruction()
    instruction.code = cast("iced.Code_", shape.code)
    return frozenset(FEATURES[f] for f in instruction.cpuid_features())
