"""Measures instruction forms on the processor that this runs on, by time alone (measure.cpp).

`python -m incc.models.importers.measure znver4 > zen4.jsonl` writes one JSON object for each form and condition, which
`incc-model import measured` reads. What is measured and how is described in docs/models.md.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import iced_x86 as iced
from iced_x86 import Code, FlowControl, MemoryOperand, OpKind, Register, RegisterExt

from incc.models.importers.common import ImportFailed
from incc.models.importers.shapes import (
    Dataflow,
    Shape,
    dataflow,
    example,
    features,
    root_name,
    shapes,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence


class Blocker(NamedTuple):
    """An instruction whose copies, independent of each other, keep some ports busy and nothing else.

    `code` is iced-x86's name; the copies write to `registers` in turn and read `sources`, with `immediate` or `memory`.
    `ports`: how many of its µops a cycle takes.
    """

    name: str
    ports: int
    code: str
    registers: tuple[str, ...]
    sources: tuple[str, ...] = ()
    immediate: int | None = None
    memory: bool = False


class Core(NamedTuple):
    """How a core is measured.

    `dispatch`: macro-ops a cycle; `vector_load`: cycles from address to a loaded vector; `features`: CPUID features by
    iced-x86's names; `fusion`: mnemonics of the instructions that macro-fuse unless they have a memory operand, and the
    jumps; `blockers` for the sets of ports that can be told apart.
    """

    dispatch: int
    vector_load: int
    features: frozenset[str]
    fusion: dict[str, str]
    blockers: tuple[Blocker, ...]


_SCRATCH = ("RSI", "RDI", "RBX")
# Not wider: what writes the upper halves makes SSE instructions keep them.
_VECTORS = ("XMM5", "XMM6", "XMM7", "XMM8", "XMM9", "XMM10")
_X86_64_V4 = (
    "INTEL8086 INTEL8086_ONLY INTEL186 INTEL286 INTEL386 INTEL486 X64 CMOV SSE SSE2 SSE3 SSSE3 SSE4_1 SSE4_2 POPCNT"
    " LZCNT BMI1 BMI2 MOVBE ADX AES PCLMULQDQ SHA AVX AVX2 FMA F16C GFNI VAES VPCLMULQDQ MULTIBYTENOP"
    " AVX512F AVX512VL AVX512BW AVX512DQ AVX512CD AVX512_IFMA AVX512_VBMI AVX512_VBMI2 AVX512_VNNI AVX512_BITALG"
    " AVX512_VPOPCNTDQ AVX512_BF16"
)
ZEN_4 = Core(
    6,
    7,
    frozenset(_X86_64_V4.split()),
    {
        "add and cmp or sub test xor": "ja jae jb jbe je jg jge jl jle jne jno jnp jns jo jp js",
        "dec inc": "je jg jge jl jle jne jno jnp jns jo jp js",
    },
    (
        Blocker("ALU0123", 4, "LEA_R64_M", _SCRATCH, memory=True),
        Blocker("ALU12", 2, "VEX_RORX_R64_RM64_IMM8", _SCRATCH, ("R15",), 3),
        Blocker("ALU1", 1, "IMUL_R64_RM64_IMM8", _SCRATCH, ("R15",), 1),
        Blocker("ALU03", 2, "CMOVB_R64_RM64", _SCRATCH, ("R15",)),
        Blocker("FP5", 1, "VEX_VMOVD_RM32_XMM", ("ESI",), ("XMM12",)),
        Blocker("FP01", 2, "VEX_VMULPD_XMM_XMM_XMMM128", _VECTORS, ("XMM12", "XMM12")),
        Blocker("FP23", 2, "VEX_VADDPD_XMM_XMM_XMMM128", _VECTORS, ("XMM12", "XMM12")),
        Blocker("FP12", 2, "VEX_VPSHUFB_XMM_XMM_XMMM128", _VECTORS, ("XMM12", "XMM12")),
        Blocker("FP0123", 4, "VEX_VPADDD_XMM_XMM_XMMM128", _VECTORS, ("XMM12", "XMM12")),
        Blocker("AG012", 3, "MOV_R64_RM64", _SCRATCH, memory=True),
    ),
)
CORES = {"znver4": ZEN_4}

# --- which forms, and with what registers ----------------------------------------------------------------------------

# Not measured: what changes control, stack pointer or system state, leaves the x87 and MMX registers in another state,
# goes past the caches, waits, or does more or less work by the contents of registers.
_SKIPPED = (
    "CLFLUSH CLFLUSHOPT CLWB CLDEMOTE CLZERO MASKMOVDQU VMASKMOVDQU LDMXCSR STMXCSR VLDMXCSR VSTMXCSR EMMS FEMMS PAUSE"
    " MFENCE LFENCE SFENCE CPUID RDTSC RDTSCP RDPMC RDRAND RDSEED SERIALIZE XGETBV STD CLD CLI STI LAHF SAHF ENTER"
    " LEAVE PUSHF PUSHFQ POPF POPFQ XLATB CLAC STAC MONITOR MWAIT UD0 UD1 UD2 VZEROALL VZEROUPPER CMPXCHG8B CMPXCHG16B"
    " IN OUT BOUND INTO INT INT1 INT3 IRET HLT LSL LAR VERR VERW SLDT STR SMSW SGDT SIDT LSS LFS LGS"
    " PREFETCHNTA PREFETCHT0 PREFETCHT1 PREFETCHT2 PREFETCHW PREFETCH WBINVD INVD SWAPGS SYSCALL SYSRET"
)
_OPERAND_REGISTERS = {
    "R8": (Register.R8L, Register.R9L, Register.R10L, Register.R11L),
    "R16": (Register.R8W, Register.R9W, Register.R10W, Register.R11W),
    "R32": (Register.R8D, Register.R9D, Register.R10D, Register.R11D),
    "R64": (Register.R8, Register.R9, Register.R10, Register.R11),
    "XMM": (Register.XMM1, Register.XMM2, Register.XMM3, Register.XMM4),
    "YMM": (Register.YMM1, Register.YMM2, Register.YMM3, Register.YMM4),
    "ZMM": (Register.ZMM1, Register.ZMM2, Register.ZMM3, Register.ZMM4),
    "K": (Register.K2, Register.K3, Register.K4, Register.K5),
}
# Independent copies write to these, and to the operand's own register.
_TARGETS = {
    "R8": (Register.SIL, Register.DIL, Register.BL, Register.R12L),
    "R16": (Register.SI, Register.DI, Register.BX, Register.R12W),
    "R32": (Register.ESI, Register.EDI, Register.EBX, Register.R12D),
    "R64": (Register.RSI, Register.RDI, Register.RBX, Register.R12),
    "XMM": (Register.XMM0, *(Register.XMM5 + n for n in range(7))),
    "YMM": (Register.YMM0, *(Register.YMM5 + n for n in range(7))),
    "ZMM": (Register.ZMM0, *(Register.ZMM5 + n for n in range(7))),
    "K": (Register.K6, Register.K7),
}
_ONE, _ZERO = Register.R13, Register.R15
_MEMORY = Register.R14


# What an address of lea can be made of, as uops.info names it: base, index (with scale), displacement, rip.
_ADDRESSES = "B B_D8 B_D32 B_I B_IS B_I_D8 B_I_D32 B_IS_D8 B_IS_D32 I_D32 IS_D32 R_D32 D32"


def measurable(core: Core) -> list[Shape]:
    """The forms of a core that the harness can run."""
    found = []
    for shape in shapes():
        info = shape.info
        if not features(shape) <= core.features or shape.mnemonic in _SKIPPED.split():
            continue
        if info.must_be_cpl0 or info.is_privileged or info.is_stack_instruction or info.is_save_restore:
            continue
        if info.is_non_temporal or info.is_input_output or not info.amd_decoder64 or "RESERVEDNOP" in shape.key:
            continue
        if any(
            o in ("MM", "ST", "ST0", "SEG", "CR", "DR", "BND", "TMM", "FAR", "STRING", "MOFFS") for o in shape.operands
        ):
            continue
        if any(o.startswith(("VSIB", "REL")) for o in shape.operands):
            continue
        instruction = example(shape)
        if instruction is None or instruction.flow_control != FlowControl.NEXT:
            continue
        if any(root_name(instruction.op_register(n)) == "rsp" for n in range(instruction.op_count)):
            continue
        found.append(shape)
    return found


class Variant(NamedTuple):
    """A form with conditions, an instruction of it, and what it reads and writes.

    `instruction`: explicit operands in the registers of _OPERAND_REGISTERS, memory at [r14].
    """

    shape: Shape
    conditions: tuple[str, ...]
    flow: Dataflow

    def build(self, registers: dict[int, int] | None = None) -> iced.Instruction:
        """An instruction of the form; `registers`: other registers by operand."""
        shape = self.shape
        i = example(shape, "mask" in self.conditions, "zeroing" in self.conditions, "bcast" in self.conditions)
        assert i is not None
        count = 0
        for n, operand in enumerate(shape.operands):
            if operand in _OPERAND_REGISTERS:
                register: int = _OPERAND_REGISTERS[operand][count]
                count += 1
                if registers and n in registers:
                    register = registers[n]
                i.set_op_register(n, cast("iced.Register_", register))
        if agen := next((c for c in self.conditions if c.startswith("agen:")), ""):
            parts = agen.removeprefix("agen:").split("_")
            i.memory_base = Register.RIP if "R" in parts else _MEMORY if "B" in parts else Register.NONE
            i.memory_index = _ZERO if {"I", "IS"} & set(parts) else Register.NONE
            i.memory_index_scale = 4 if "IS" in parts else 1
            i.memory_displ_size = (
                1 if "D8" in parts else 8 if "D32" in parts and parts != ["D32"] else 4 if "D32" in parts else 0
            )
            i.memory_displacement = (
                0x10000000 if parts == ["D32"] else 64 if "D8" in parts else 4096 if "D32" in parts else 0
            )
        if "same_reg" in self.conditions:
            first = None
            for n, operand in enumerate(shape.operands):
                if operand in _OPERAND_REGISTERS and (n or str(n) in self.flow.sources):
                    first = i.op_register(n) if first is None else first
                    i.set_op_register(n, first)
        return i


def variants(shape: Shape) -> Iterator[Variant]:
    """A form without conditions, and with those that may make a difference."""
    plain = dataflow(shape)
    if plain is None:
        return
    yield Variant(shape, (), plain)
    if shape.mnemonic == "LEA":
        for parts in _ADDRESSES.split():
            yield Variant(shape, (f"agen:{parts}",), plain)
    if shape.encoding == "EVEX":
        if shape.info.can_use_op_mask_register and not shape.info.require_op_mask_register:
            masked = dataflow(shape, mask=True)
            if masked is not None:
                yield Variant(shape, ("mask",), masked)
                if shape.info.can_use_zeroing_masking:
                    yield Variant(shape, ("mask", "zeroing"), masked)
        if shape.has_memory and shape.info.can_broadcast:
            yield Variant(shape, ("bcast",), plain)
    registers = [o for n, o in enumerate(shape.operands) if str(n) in plain.sources]
    if len(registers) == 2 and len(set(registers)) == 1 and not shape.has_memory and registers[0] in _OPERAND_REGISTERS:
        yield Variant(shape, ("same_reg",), plain)


# --- code ------------------------------------------------------------------------------------------------------------


def encode(instructions: Iterable[iced.Instruction]) -> bytes:
    """Machine code. Raises ValueError if an instruction has none."""
    encoder = iced.Encoder(64)
    for i in instructions:
        encoder.encode(i, 0)
    return encoder.take_buffer()


def _code(name: str, *operands: Any) -> iced.Instruction:
    """An instruction by iced-x86's name of its code, with registers or memory as operands."""
    i = iced.Instruction
    create: dict[str, Any] = {
        "": i.create,
        "r": i.create_reg,
        "rr": i.create_reg_reg,
        "rrr": i.create_reg_reg_reg,
        "rm": i.create_reg_mem,
    }
    kinds = "".join("m" if isinstance(o, MemoryOperand) else "r" for o in operands)
    return cast("iced.Instruction", create[kinds](getattr(Code, name), *operands))


def blocking(blocker: Blocker, number: int) -> iced.Instruction:
    """The number-th copy of a blocker."""
    operands: list[Any] = [getattr(Register, blocker.registers[number % len(blocker.registers)])]
    operands += [getattr(Register, s) for s in blocker.sources]
    if blocker.memory:
        base = _ZERO if blocker.code.startswith("LEA") else _MEMORY
        operands.append(MemoryOperand(base, displ=8, displ_size=1))
    if blocker.immediate is not None:
        code = getattr(Code, blocker.code)
        return iced.Instruction.create_reg_reg_i32(code, operands[0], operands[1], blocker.immediate)
    return _code(blocker.code, *operands)


def _full(register: int) -> int:
    return RegisterExt.full_register(cast("iced.Register_", register))


def _kind(register: int) -> str:
    name = root_name(register)
    return "vector" if name.startswith("zmm") else "mask" if name.startswith("k") else "gpr"


def _move(to: int, source: int) -> list[tuple[iced.Instruction, float]]:
    """Instructions that bring a register's value to another one, each with what it adds to a chain in cycles.

    Moves within a class are done by the renamer. The way from vector or mask registers to general-purpose ones and back
    was measured as a whole; a half is attributed to each direction.
    """
    to, source = _full(to), _full(source)
    if to == source:
        return []
    a, b = _kind(source), _kind(to)
    if a == b == "gpr":
        return [(_code("MOV_R64_RM64", to, source), 0)]
    if a == b == "vector":
        narrow = [r - Register.ZMM0 + Register.XMM0 for r in (to, source)]
        return [(_code("VEX_VMOVAPS_XMM_XMMM128", *narrow), 0)]
    if a == b == "mask":
        return [(_code("VEX_KMOVQ_KR_KM64", to, source), -1)]
    if a == "gpr" and b == "vector":
        return [(_code("VEX_VMOVQ_XMM_RM64", to - Register.ZMM0 + Register.XMM0, source), -2)]
    if a == "vector" and b == "gpr":
        return [(_code("VEX_VMOVQ_RM64_XMM", to, source - Register.ZMM0 + Register.XMM0), -3)]
    if a == "gpr" and b == "mask":
        return [(_code("VEX_KMOVQ_KR_R64", to, source), -4)]
    if a == "mask" and b == "gpr":
        return [(_code("VEX_KMOVQ_R64_KR", to, source), -5)]
    through = Register.R12
    return [*_move(through, source), *_move(to, through)]


# --- the harness -----------------------------------------------------------------------------------------------------


class Harness:
    """The running measure.cpp. `cycles` takes machine code, the body of a loop, and returns cycles a trip."""

    def __init__(self) -> None:
        self.process = subprocess.Popen([_program()], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def cycles(self, code: bytes, wide: bool) -> float | None:
        """Cycles of one trip through the loop, None if the code faults. `wide`: upper halves of vectors in use."""
        if not 0 < len(code) <= 16000:
            return None
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(code.hex() + (" wide\n" if wide else "\n"))
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise ImportFailed("the measuring program has ended")
        return None if line.startswith("fail") else float(line)


def _program() -> str:
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "measure.cpp")
    target = os.path.join(tempfile.mkdtemp(prefix="incc-measure-"), "measure")
    compiler = shutil.which(os.environ.get("CXX", "c++"))
    if compiler is None:
        raise ImportFailed("no C++ compiler: set CXX")
    done = subprocess.run([compiler, "-std=c++20", "-O2", source, "-o", target], capture_output=True, text=True)
    if done.returncode:
        raise ImportFailed(f"cannot build measure.cpp:\n{done.stderr.strip()}")
    return target


# --- measurements ----------------------------------------------------------------------------------------------------

_TRIP = 16
"""Cycles for which blockers keep their ports busy around one instruction."""
_COPIES = 16
"""Links of a chain, and a third of the independent copies."""


class Bench:
    """Measures the forms of one core."""

    def __init__(self, core: Core, harness: Harness) -> None:
        self.core = core
        self.harness = harness
        self.baselines: dict[tuple[int, int, bool], float] = {}
        self.ways: dict[int, float] = {}
        self.load_latency = {"gpr": 0, "vector": core.vector_load, "zmm": 0}
        self._measure_ways()

    def _measure_ways(self) -> None:
        """Cycles of the ways between classes of registers, rounded to whole cycles (docs/models.md)."""
        x, r, k = Register.XMM1, Register.R8, Register.K2

        def chain(*code: iced.Instruction) -> float:
            return (self.harness.cycles(encode(code * _COPIES), False) or 0.0) / _COPIES

        there_and_back = chain(_code("VEX_VMOVQ_XMM_RM64", x, r), _code("VEX_VMOVQ_RM64_XMM", r, x))
        address = MemoryOperand(_MEMORY, Register.R12, 1)
        loaded = chain(
            _code("VEX_VMOVD_XMM_RM32", x, address),
            _code("VEX_VMOVQ_RM64_XMM", Register.R12, x),
            _code("AND_R64_RM64", Register.R12, _ZERO),
        )
        through_mask = chain(_code("VEX_KMOVQ_KR_R64", k, r), _code("VEX_KMOVQ_R64_KR", r, k))
        self.ways[-1] = (
            chain(_code("VEX_KMOVQ_KR_KM64", k, Register.K3), _code("VEX_KMOVQ_KR_KM64", Register.K3, k)) / 2
        )
        narrow = chain(
            _code("MOV_R64_RM64", Register.R12, address),
            _code("AND_R64_RM64", Register.R12, _ZERO),
        )
        self.load_latency["gpr"] = round(narrow) - 1
        self.ways[-3] = round(loaded) - 1 - self.core.vector_load
        self.ways[-2] = round(there_and_back) - self.ways[-3]
        if "AVX512F" in self.core.features:
            wide = chain(
                _code("EVEX_VMOVUPS_ZMM_K1Z_ZMMM512", Register.ZMM1, address),
                _code("VEX_VMOVQ_RM64_XMM", Register.R12, x),
                _code("AND_R64_RM64", Register.R12, _ZERO),
            )
            self.load_latency["zmm"] = self.core.vector_load + round(wide - loaded)
        self.ways[-4] = round(through_mask) // 2
        self.ways[-5] = round(through_mask) - self.ways[-4]

    def record(self, v: Variant) -> dict[str, Any] | None:
        """All figures of a form, or None where it cannot be run."""
        wide = any(o in ("YMM", "ZMM") for o in v.shape.operands)
        latency = self.latencies(v, wide)
        # From one trip through the loop to the next, the instruction depends on itself.
        chain = max((c for t, s, c in latency if t == s), default=1)
        scale = 1 + int(chain // (_TRIP - 4))
        slots = self.slots(v, wide, 1 + int(chain // (_TRIP // 2 - 2)))
        if slots is None:
            return None
        seen = {}
        for number, blocker in enumerate(self.core.blockers):
            extra = self.extra(v, number, wide, scale)
            if extra is not None and extra * blocker.ports > 0.25:
                seen[blocker.name] = round(extra * blocker.ports, 2)
        throughput = self.throughput(v, wide)
        return {
            "form": v.shape.key,
            "conditions": list(v.conditions),
            "slots": round(slots, 2),
            "seen": seen,
            "tp": None if throughput is None else round(throughput, 3),
            "latency": [[t, s, round(c, 2)] for t, s, c in latency],
        }

    def slots(self, v: Variant, wide: bool, scale: int) -> float | None:
        """Macro-ops: what the instruction takes of the slots at dispatch that moves done by the renamer leave."""
        # Not nop, of which two can be one macro-op.
        moves = [_code("MOV_R64_RM64", Register.RSI, _ZERO)] * (self.core.dispatch * _TRIP * scale // 2)
        one = v.build()
        try:
            without = self._baseline((-1, scale, wide), moves)
            cycles = self._beside(moves, one, wide)
        except ValueError:
            return None
        return None if cycles is None or not without else (cycles - without) * self.core.dispatch

    def _beside(self, others: Sequence[iced.Instruction], one: iced.Instruction, wide: bool) -> float | None:
        """Cycles of one instruction among others, the least over three places: ports are not always shared out well."""
        found = []
        for place in (len(others) // 3, len(others) // 2, len(others)):
            cycles = self.harness.cycles(encode([*others[:place], one, *others[place:]]), wide)
            if cycles is None:
                return None
            found.append(cycles)
        return min(found)

    def extra(self, v: Variant, number: int, wide: bool, scale: int) -> float | None:
        """Cycles that one instruction costs beside as many blockers as keep their ports busy."""
        blocker = self.core.blockers[number]
        blockers = [blocking(blocker, n) for n in range(blocker.ports * _TRIP * scale)]
        cycles = self._beside(blockers, v.build(), wide)
        return None if cycles is None else cycles - self._baseline((number, scale, wide), blockers)

    def _baseline(self, key: tuple[int, int, bool], code: Sequence[iced.Instruction]) -> float:
        """Cycles of the others alone, measured often enough to be undisturbed once: all figures depend on it."""
        if key not in self.baselines:
            self.baselines[key] = min(self.harness.cycles(encode(code), key[2]) or 0.0 for _ in range(5))
        return self.baselines[key]

    def throughput(self, v: Variant, wide: bool) -> float | None:
        """Cycles an instruction in a row of copies that write to different registers.

        Implicit registers that are read and written get a constant before each copy.
        """
        code = []
        copies = 3 * _COPIES
        written = sum(str(k) in v.flow.targets for k in range(len(v.shape.operands)))
        for n in range(copies):
            registers = {}
            for k, operand in enumerate(v.shape.operands):
                if operand in _TARGETS and str(k) in v.flow.targets:
                    pool = _TARGETS[operand]
                    registers[k] = pool[(n * written + k) % len(pool)]
            code += self._constants(v, [r for r in v.flow.targets if r in v.flow.sources and not r.isdigit()], [])
            copy = v.build(registers)
            if v.flow.stores:
                copy.memory_displacement, copy.memory_displ_size = 64 * n, 4
            code.append(copy)
        try:
            cycles = self.harness.cycles(encode(code), wide)
        except ValueError:
            return None
        return None if cycles is None else cycles / copies

    def _constants(self, v: Variant, roots: Sequence[str], operands: Sequence[int]) -> list[iced.Instruction]:
        """Instructions, done by the renamer if on registers, that end the dependency on earlier values."""
        code = []
        instruction = v.build()
        registers = [getattr(Register, r.upper()) for r in roots if r not in ("C", "SPAZO", "m", "M", "k", "a")]
        registers += [_full(instruction.op_register(n)) for n in operands]
        for register in registers:
            kind = _kind(register)
            if kind == "gpr":
                code.append(_code("MOV_R64_RM64", register, _ZERO if register == Register.RDX else _ONE))
            elif kind == "vector":
                code.append(_code("VEX_VMOVAPS_XMM_XMMM128", register - Register.ZMM0 + Register.XMM0, Register.XMM0))
            else:
                code.append(_code("VEX_KXNORW_KR_KR_KR", register, Register.K7, Register.K7))
        if {"C", "SPAZO"} & set(roots):
            code.append(_code("CMP_R64_RM64", _ONE, _ONE))
        return code

    def latencies(self, v: Variant, wide: bool) -> list[tuple[str, str, float]]:
        """(to, from, cycles) for all pairs of registers and flags, by chains."""
        found = []
        if v.flow.stores:
            return []
        for source in v.flow.sources:
            for target in v.flow.targets:
                if source in ("m", "a") and not self._may_address(v):
                    continue
                cycles = self.chain(v, source, target, wide)
                if cycles is not None:
                    found.append((target, source, max(0.0, cycles)))
        return found

    def _may_address(self, v: Variant) -> bool:
        return v.shape.has_memory

    def _register(self, instruction: iced.Instruction, name: str) -> int | None:
        if name.isdigit():
            return instruction.op_register(int(name))
        if name == "k":
            return instruction.op_mask
        if name in ("C", "SPAZO"):
            return None
        if name in ("m", "a"):
            return cast(int, Register.R12)
        return cast(int, getattr(Register, name.upper()))

    def chain(self, v: Variant, source: str, target: str, wide: bool) -> float | None:
        """Cycles from a source to a result: what a link of a chain takes less what was put in to make it one.

        From "m": from the address register to the result; the load is in it.
        """
        instruction = v.build()
        if source in ("m", "a"):
            if v.shape.mnemonic != "LEA":
                instruction.memory_index = Register.R12
                instruction.memory_index_scale = 1
            elif instruction.memory_base == _MEMORY:
                instruction.memory_base = Register.R12
            elif instruction.memory_index != Register.NONE:
                instruction.memory_index = Register.R12
            else:
                return None
        others = [n for n in range(instruction.op_count) if instruction.op_kind(n) == OpKind.REGISTER]
        start = self._register(instruction, source)
        end = self._register(instruction, target)
        both = [s for s in v.flow.sources if s in v.flow.targets and s != source]
        if source in ("m", "a"):
            both = [s for s in v.flow.sources if s in v.flow.targets]
        before = self._constants(
            v, [s for s in both if not s.isdigit()], [int(s) for s in both if s.isdigit() and int(s) in others]
        )
        links: list[tuple[iced.Instruction, float]] = []
        if end is None:
            # From a flag: a conditional move into the register that starts the next link, or a sum.
            if start is None:
                if source != target:
                    return None
            else:
                through = start if _kind(start) == "gpr" and source not in ("m", "a") else Register.R12
                name = "CMOVB_R64_RM64" if target == "C" else "CMOVE_R64_RM64"
                links.append((_code("MOV_R64_RM64", _full(through), _ONE), 0))
                links.append((_code(name, _full(through), _ONE), 1))
                if source in ("m", "a"):
                    links.append((_code("AND_R64_RM64", Register.R12, _ZERO), 1))
                links += _move(start, through)
        elif start is None:
            through = end if _kind(end) == "gpr" else Register.R12
            links += _move(through, end)
            links.append((_code("CMP_R64_RM64", _full(through), _ONE), 1))
        elif source in ("m", "a"):
            links += _move(Register.R12, end)
            links.append((_code("AND_R64_RM64", Register.R12, _ZERO), 1))
        else:
            links += _move(start, end)
        code = []
        for _ in range(_COPIES):
            code += [*before, instruction, *(i for i, _ in links)]
        try:
            cycles = self.harness.cycles(encode(code), wide)
        except ValueError:
            return None
        if cycles is None:
            return None
        return cycles / _COPIES - sum(self.ways.get(int(c), c) if c < 0 else c for _, c in links)


def main() -> int:
    """Measures all forms, or those whose keys begin with one of the given prefixes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("core", choices=sorted(CORES))
    parser.add_argument("prefixes", nargs="*", help="only forms whose keys begin so")
    arguments = parser.parse_args()
    core = CORES[arguments.core]
    try:
        bench = Bench(core, Harness())
        print(json.dumps({"core": arguments.core, "load_latency": bench.load_latency, "fusion": core.fusion}))
        for shape in measurable(core):
            if arguments.prefixes and not shape.key.startswith(tuple(arguments.prefixes)):
                continue
            for v in variants(shape):
                record = bench.record(v)
                if record is not None:
                    print(json.dumps(record), flush=True)
    except ImportFailed as e:
        print(f"measure: {e}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
