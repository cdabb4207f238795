"""Measurement of instruction forms on this processor, through a harness that runs loops.

For each form and condition: latencies between operands, throughput, issue slots, and µops by set of ports, measured
with blocking instructions. docs/measuring.md describes the method; `incc-model import measured` reads the records.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, cast

import iced_x86 as iced
import msgspec
from iced_x86 import Code, FlowControl, MemoryOperand, Mnemonic, OpKind, Register
from msgspec.structs import replace

from incc.measuring.forms.target import (
    MEMORY,
    ONE,
    ZERO,
    Blocker,
    MeasuredCore,
    blocking,
    full_register,
    registers_by_kind,
)
from incc.measuring.harness import LoopFailure, Machine, MachineLoop, Measurement
from incc.models.forms.shapes import FormDataflow, Shape, dataflow, example, features, root_name, shapes

# --- which forms, and with what registers ----------------------------------------------------------------------------

# Instructions that are not measured: they change control flow, stack pointer or system state, leave the x87 and MMX
# registers in another state, bypass the caches, wait, or do an amount of work that depends on register contents.
_SKIPPED = (
    "CLFLUSH CLFLUSHOPT CLWB CLDEMOTE CLZERO MASKMOVDQU VMASKMOVDQU LDMXCSR STMXCSR VLDMXCSR VSTMXCSR EMMS FEMMS PAUSE"
    " MFENCE LFENCE SFENCE CPUID RDTSC RDTSCP RDPMC RDRAND RDSEED SERIALIZE XGETBV STD CLD CLI STI LAHF SAHF ENTER"
    " LEAVE PUSHF PUSHFQ POPF POPFQ XLATB CLAC STAC MONITOR MWAIT UD0 UD1 UD2 VZEROALL VZEROUPPER CMPXCHG8B CMPXCHG16B"
    " IN OUT BOUND INTO INT INT1 INT3 IRET HLT LSL LAR VERR VERW SLDT STR SMSW SGDT SIDT LSS LFS LGS"
    " PREFETCHNTA PREFETCHT0 PREFETCHT1 PREFETCHT2 PREFETCHW PREFETCH WBINVD INVD SWAPGS SYSCALL SYSRET"
    " XBEGIN XEND XABORT XTEST UIRET TPAUSE UMWAIT UMONITOR ENQCMD ENQCMDS MOVDIR64B MOVDIRI RDFSBASE RDGSBASE"
    " WRFSBASE WRGSBASE INCSSPD INCSSPQ SETSSBSY ENDBR64 ENDBR32 XRESLDTRK XSUSLDTRK RDPKRU WRPKRU PTWRITE"
)
_OPERAND_REGISTERS = registers_by_kind("R8 R9 R10 R11", range(1, 5), range(2, 6))
# Independent copies write to these registers, except those that the form uses implicitly.
_TARGETS = registers_by_kind("RSI RDI RBX R12 RAX RCX RDX R11 R10", (0, *range(5, 12)), (6, 7))
# The parts of an address of lea, as uops.info names them: base, index (with scale), displacement, rip.
_ADDRESSES = "B B_D8 B_D32 B_I B_IS B_I_D8 B_I_D32 B_IS_D8 B_IS_D32 I_D32 IS_D32 R_D32 D32"


def measurable(core: MeasuredCore) -> list[Shape]:
    """Return the forms of a core that can be measured."""
    return [shape for shape in shapes() if not why_not(shape, core)]


def why_not(shape: Shape, core: MeasuredCore) -> str:
    """Return a clause that says why a form cannot be measured, or "" if it can."""
    info = shape.info
    if lacking := features(shape) - core.features:
        return f"needs {', '.join(sorted(lacking))}, which this processor does not have"
    if info.must_be_cpl0 or info.is_privileged or info.is_input_output:
        return "is privileged"
    if shape.mnemonic in _SKIPPED.split() or info.is_save_restore or "RESERVEDNOP" in shape.key:
        return "changes the system's state, waits, or does an amount of work that depends on register contents"
    if info.is_stack_instruction:
        return "moves the stack pointer"
    if info.is_non_temporal:
        return "bypasses the caches"
    if {"MM", "ST", "ST0", "BND", "TMM"} & set(shape.operands):
        return "leaves the registers of x87, MMX or AMX in another state"
    if {"SEG", "CR", "DR", "TR"} & set(shape.operands):
        return "has system registers for operands"
    if {"FAR", "STRING", "MOFFS"} & set(shape.operands) or any(o.startswith("VSIB") for o in shape.operands):
        return "has an address that is not taken from a register alone"
    instruction = example(shape)
    if instruction.flow_control != FlowControl.NEXT or any(o.startswith("REL") for o in shape.operands):
        return "is a jump"
    if any(root_name(instruction.op_register(n)) == "rsp" for n in range(instruction.op_count)):
        return "has the stack pointer for an operand"
    return ""


class FormVariant(msgspec.Struct, frozen=True):
    """A form with conditions, an instruction of it, and its dataflow.

    `instruction` has explicit operands in the registers of _OPERAND_REGISTERS, and memory at [r14].
    """

    shape: Shape
    conditions: tuple[str, ...]
    flow: FormDataflow

    @property
    def key(self) -> tuple[str, tuple[str, ...]]:
        """The form's name and its conditions."""
        return self.shape.key, self.conditions

    @property
    def has_memory(self) -> bool:
        return self.shape.has_memory

    def build(self, registers: dict[int, int] | None = None) -> iced.Instruction:
        """Return an instruction of the form; `registers` gives other registers by operand."""
        shape = self.shape
        i = example(shape, "mask" in self.conditions, "zeroing" in self.conditions, "bcast" in self.conditions)
        chosen = [n for n, operand in enumerate(shape.operands) if operand in _OPERAND_REGISTERS]
        for count, n in enumerate(chosen):
            register = (registers or {}).get(n, _OPERAND_REGISTERS[shape.operands[n]][count])
            i.set_op_register(n, cast("iced.Register_", register))
        for condition in self.conditions:
            if condition.startswith("agen:"):
                _set_address(i, condition.removeprefix("agen:").split("_"))
        if "same_reg" in self.conditions:
            alike = [n for n in chosen if n or "0" in self.flow.sources]
            for n in alike[1:]:
                i.set_op_register(n, i.op_register(alike[0]))
        return i


def _set_address(i: iced.Instruction, parts: Sequence[str]) -> None:
    """Give an instruction an address of the parts that one of _ADDRESSES names."""
    i.memory_base = Register.RIP if "R" in parts else MEMORY if "B" in parts else Register.NONE
    i.memory_index = ZERO if {"I", "IS"} & set(parts) else Register.NONE
    i.memory_index_scale = 4 if "IS" in parts else 1
    if parts == ["D32"]:
        i.memory_displ_size, i.memory_displacement = 4, 0x10000000
    elif "D32" in parts:
        i.memory_displ_size, i.memory_displacement = 8, 4096
    elif "D8" in parts:
        i.memory_displ_size, i.memory_displacement = 1, 64
    else:
        i.memory_displ_size, i.memory_displacement = 0, 0


def variants(shape: Shape) -> Iterator[FormVariant]:
    """Yield a form without conditions, and with those that may make a difference."""
    plain = dataflow(shape)
    yield FormVariant(shape, (), plain)
    if shape.mnemonic == "LEA":
        for parts in _ADDRESSES.split():
            yield FormVariant(shape, (f"agen:{parts}",), plain)
    if shape.encoding == "EVEX":
        if shape.info.can_use_op_mask_register and not shape.info.require_op_mask_register:
            masked = dataflow(shape, mask=True)
            yield FormVariant(shape, ("mask",), masked)
            if shape.info.can_use_zeroing_masking:
                yield FormVariant(shape, ("mask", "zeroing"), masked)
        if shape.has_memory and shape.info.can_broadcast:
            yield FormVariant(shape, ("bcast",), plain)
    registers = [o for n, o in enumerate(shape.operands) if str(n) in plain.sources]
    if len(registers) == 2 and len(set(registers)) == 1 and not shape.has_memory and registers[0] in _OPERAND_REGISTERS:
        yield FormVariant(shape, ("same_reg",), plain)


# --- code ------------------------------------------------------------------------------------------------------------


def encode(instructions: Iterable[iced.Instruction]) -> bytes:
    """Return machine code. Raises ValueError if an instruction has none."""
    encoder = iced.Encoder(64)
    for i in instructions:
        encoder.encode(i, 0)
    return encoder.take_buffer()


def _code(name: str, *operands: Any) -> iced.Instruction:
    """Return an instruction by iced-x86's name of its code, with registers or memory as operands."""
    i = iced.Instruction
    create: dict[str, Any] = {
        "": i.create,
        "rr": i.create_reg_reg,
        "rrr": i.create_reg_reg_reg,
        "rm": i.create_reg_mem,
    }
    kinds = "".join("m" if isinstance(o, MemoryOperand) else "r" for o in operands)
    return cast("iced.Instruction", create[kinds](getattr(Code, name), *operands))


def _kind(register: int) -> str:
    name = root_name(register)
    return "vector" if name.startswith("zmm") else "mask" if name.startswith("k") else "gpr"


# Moves between classes of registers, with AVX and without, and the name of the way in `CoreBench.ways`.
_MOVES = {
    ("gpr", "gpr"): ("MOV_R64_RM64", "MOV_R64_RM64", -6),
    ("vector", "vector"): ("VEX_VMOVAPS_XMM_XMMM128", "MOVAPS_XMM_XMMM128", -7),
    ("mask", "mask"): ("VEX_KMOVQ_KR_KM64", "VEX_KMOVQ_KR_KM64", -1),
    ("gpr", "vector"): ("VEX_VMOVQ_XMM_RM64", "MOVQ_XMM_RM64", -2),
    ("vector", "gpr"): ("VEX_VMOVQ_RM64_XMM", "MOVQ_RM64_XMM", -3),
    ("gpr", "mask"): ("VEX_KMOVQ_KR_R64", "VEX_KMOVQ_KR_R64", -4),
    ("mask", "gpr"): ("VEX_KMOVQ_R64_KR", "VEX_KMOVQ_R64_KR", -5),
}


def _move(to: int, source: int, avx: bool = True) -> list[tuple[iced.Instruction, int]]:
    """Return instructions that move a register's value to another one, each with a negative number that names its way.

    The way from vector or mask registers to general-purpose ones and back is measured as a whole; a half is attributed
    to each direction.
    """
    to, source = full_register(to), full_register(source)
    if to == source:
        return []
    kinds = (_kind(source), _kind(to))
    if kinds not in _MOVES:
        through = Register.R12
        return [*_move(through, source, avx), *_move(to, through, avx)]
    with_avx, without, way = _MOVES[kinds]
    # The moves are of 128 bits.
    operands = [r - Register.ZMM0 + Register.XMM0 if _kind(r) == "vector" else r for r in (to, source)]
    return [(_code(with_avx if avx else without, *operands), way)]


# --- measurements ----------------------------------------------------------------------------------------------------

_TRIP = 16
"""Cycles for which blockers keep their ports busy around one instruction."""
_COPIES = 16
"""Links of a chain, and a third of the independent copies."""
_TRIES, _STEADY = 4, 0.1
"""The number of tries of a disturbed loop, and the relative spread of a disturbed one."""
_LIKE = 0.03
"""The largest deviation of a disturbed figure from an expected one that still counts as equal."""
_TRUE = 0.06
"""The largest deviation of a blocker from the model's figure."""
_NOTHING = 0.04
"""The cost in combination with others that counts as none, in cycles."""
_PLANS = 256
"""The number of forms whose loops are cached."""
ALL = ("latency", "tp", "ports")
"""The figures that can be measured of a form."""


def _read(v: FormVariant) -> Iterator[str]:
    """Yield the root names of the explicit operands that are read and not written."""
    instruction = v.build()
    for n in range(instruction.op_count):
        if instruction.op_kind(n) == OpKind.REGISTER and str(n) not in v.flow.targets:
            yield root_name(instruction.op_register(n))


class NotMeasured(Exception):
    """A loop failed; `failure` says why."""

    def __init__(self, failure: LoopFailure) -> None:
        super().__init__(failure.text)
        self.failure = failure


_COUNTER = 5
"""rbp, which no form writes."""
_CONTENT = 0x3F80_3F80_3F80_3F80
"""Small floating-point numbers of any width."""
_PLACE = 0x2000_8000
_REGISTERS = tuple(
    {2: 0, 12: 0, 15: 0, 14: _PLACE, 6: _PLACE, 7: _PLACE, 4: _PLACE + 0x4000}.get(n, 1) for n in range(16)
)
_DEC_JNZ = b"\xff\xcd\x0f\x85"


def loop_of(code: bytes) -> MachineLoop:
    """Return a loop around code, which may use every register but rbp and rsp, and memory around r14."""
    body = code + _DEC_JNZ
    return MachineLoop(
        code=body + (-len(body) - 4).to_bytes(4, "little", signed=True),
        counter=_COUNTER,
        registers=_REGISTERS,
        content=_CONTENT,
    )


def _is_steady(result: Measurement | LoopFailure) -> bool:
    """Return True if a result need not be measured again; a failure would fail again."""
    return isinstance(result, LoopFailure) or result.spread <= _STEADY * result.cycles


def _unsteadiness(result: Measurement | LoopFailure) -> float:
    return float("inf") if isinstance(result, LoopFailure) else result.spread / max(result.cycles, 0.1)


class MeasuredFigure(msgspec.Struct, frozen=True):
    """Measured cycles, their spread, and counts of performance counters."""

    cycles: float
    spread: float
    events: Mapping[str, float] = MappingProxyType({})


class FormStep(msgspec.Struct, frozen=True, kw_only=True):
    """A loop that gives a figure of a form.

    Its cycles are `copies` times the figure and the cycles of `added`.
    """

    to: str
    """The latency's target, "" for a throughput."""
    source: str
    """The latency's source, "" for a throughput."""
    code: bytes
    copies: int
    added: tuple[int, ...] = ()
    """Cycles, or names of ways (negative numbers), that are not the form's own."""


class FormPlan(msgspec.Struct, frozen=True):
    """The loops of a form, and the figures that cannot be measured, with the reason."""

    steps: tuple[FormStep, ...]
    failed: Mapping[str, str]


class CoreBench:
    """The bench that measures the forms of one core.

    Each loop is measured `repeat` times, and the median is taken. `unroll` is the number of links of a
    chain, and a third of the independent copies.
    """

    def __init__(self, core: MeasuredCore, machine: Machine, repeat: int = 1, unroll: int = _COPIES) -> None:
        self.core = core
        self.machine = machine
        self.repeat = repeat
        self.unroll = unroll
        self.way = "clock"
        self.baselines: dict[tuple[object, ...], float] = {}
        self.ways: dict[int, float] = {}
        self.load_latency = {"gpr": 0, "vector": core.vector_load, "zmm": 0}
        self.filler: iced.Instruction | None = None
        self._found: tuple[Blocker, ...] | None = None
        self._plans: dict[tuple[str, tuple[str, ...]], FormPlan] = {}
        self._ready: dict[bytes, Measurement | LoopFailure] = {}
        self._avx = "AVX" in core.features
        self._measure_ways()

    def figure(self, instructions: Iterable[iced.Instruction]) -> MeasuredFigure:
        """Measure a loop of instructions.

        Raises NotMeasured, and ValueError for an instruction that has no encoding.
        """
        return self.cycles(encode(instructions))

    def cycles(self, code: bytes) -> MeasuredFigure:
        """Measure a loop of machine code. Raises NotMeasured."""
        samples = sorted((self._steady(loop_of(code)) for _ in range(self.repeat)), key=lambda m: m.cycles)
        middle = samples[len(samples) // 2]
        self.way = middle.way
        return MeasuredFigure(middle.cycles, max(middle.spread, samples[-1].cycles - samples[0].cycles), middle.events)

    def _steady(self, loop: MachineLoop) -> Measurement:
        """Measure a loop, again where it was disturbed, and return the steadiest of a few measurements."""
        best: Measurement | None = None
        for _ in range(_TRIES):
            fetched = self._ready.pop(loop.code, None)
            result = fetched or self.machine.measure(loop)
            if isinstance(result, LoopFailure):
                raise NotMeasured(result)
            if best is None or result.spread < best.spread:
                best = result
            if fetched or _is_steady(best):
                break
        assert best is not None
        return best

    @property
    def blockers(self) -> tuple[Blocker, ...]:
        """The blocker of each set of ports that keeps as many busy as the model says; the others are not used."""
        if self._found is None:
            self._found = tuple(b for candidates in self.core.blockers if (b := self._first_true(candidates)))
        return self._found

    def _first_true(self, candidates: Sequence[Blocker]) -> Blocker | None:
        for blocker in candidates:
            count = blocker.ports * 2 * _TRIP
            try:
                each = self.figure(blocking(blocker, n) for n in range(count)).cycles / count * blocker.ports
            except (NotMeasured, ValueError):
                continue
            if abs(each - 1) < _TRUE:
                return blocker
        return None

    def _move(self, to: int, source: int) -> list[tuple[iced.Instruction, int]]:
        return _move(to, source, self._avx)

    def _measure_ways(self) -> None:
        """Measure the ways between classes of registers, rounded to whole cycles (docs/measuring.md)."""
        x, y, r, k = Register.XMM1, Register.XMM2, Register.R8, Register.K2

        def chain(*code: iced.Instruction) -> float:
            return self.figure(code * _COPIES).cycles / _COPIES

        def there(to: int, source: int) -> iced.Instruction:
            return self._move(to, source)[0][0]

        there_and_back = chain(there(x, r), there(r, x))
        address = MemoryOperand(MEMORY, Register.R12, 1)
        and_zero = _code("AND_R64_RM64", Register.R12, ZERO)
        load = "VEX_VMOVD_XMM_RM32" if self._avx else "MOVD_XMM_RM32"
        loaded = chain(_code(load, x, address), there(Register.R12, x), and_zero)
        narrow = chain(_code("MOV_R64_RM64", Register.R12, address), and_zero)
        self.load_latency["gpr"] = round(narrow) - 1
        self.ways[-3] = round(loaded) - 1 - self.core.vector_load
        self.ways[-2] = round(there_and_back) - self.ways[-3]
        # Within a class, where the renamer does not do it.
        self.ways[-6] = round(chain(there(r, Register.R9), there(Register.R9, r)) / 2)
        self.ways[-7] = round(chain(there(x, y), there(y, x)) / 2)
        if "AVX512F" in self.core.features:
            wide = chain(
                _code("EVEX_VMOVUPS_ZMM_K1Z_ZMMM512", Register.ZMM1, address), there(Register.R12, x), and_zero
            )
            self.load_latency["zmm"] = self.core.vector_load + round(wide - loaded)
        if "AVX512BW" in self.core.features:
            through_mask = chain(there(k, r), there(r, k))
            self.ways[-1] = chain(there(k, Register.K3), there(Register.K3, k)) / 2
            self.ways[-4] = round(through_mask) // 2
            self.ways[-5] = round(through_mask) - self.ways[-4]

    def header(self) -> dict[str, Any]:
        """Return the first line of a file of records."""
        return {
            "core": self.core.name,
            "load_latency": self.load_latency,
            "fusion": self.core.fusion,
            "blockers": {b.name: b.shape.key for b in self.blockers},
        }

    def plan(self, v: FormVariant) -> FormPlan:
        """Return the loops for throughput and latencies of a form, made once.

        Raises NotMeasured if it has no encoding.
        """
        if v.key not in self._plans:
            failed: dict[str, str] = {}
            copies = 3 * self.unroll
            try:
                code = encode(i for n in range(copies) for i in self.copy(v, n))
            except ValueError as e:
                raise NotMeasured(LoopFailure("encoding", str(e))) from None
            steps = (FormStep(to="", source="", code=code, copies=copies), *self._chains(v, failed))
            if len(self._plans) >= _PLANS:
                del self._plans[next(iter(self._plans))]
            self._plans[v.key] = FormPlan(steps, failed)
        return self._plans[v.key]

    def with_plans_of(self, other: CoreBench) -> CoreBench:
        """Return this bench with another's cached loops. Both are for the same core, with the same unrolling."""
        self._plans = other._plans
        return self

    def fetch(self, some: Iterable[FormVariant], expected: CoreBench | None = None) -> None:
        """Measure the loops of forms together, in less time and less exactly; disturbed ones are repeated a few times.

        The next record of each form uses these figures, as sure as their spreads say. `expected` is another machine's
        bench. A loop that takes as long there is not measured a second time, disturbed or not: a disturbance adds to a
        loop's time, and hardly ever gives another machine's figure.
        """
        codes: list[bytes] = []
        for v in some:
            try:
                codes += [step.code for step in self.plan(v).steps]
            except NotMeasured:
                continue
        loops = [loop_of(code) for code in dict.fromkeys(codes)]
        self._ready = {}
        if expected is not None:
            expected._ready = {}
        for _ in range(_TRIES):
            if not loops:
                break
            for loop, result in zip(loops, self.machine.measure_all(loops), strict=True):
                before = self._ready.get(loop.code)
                if before is None or _unsteadiness(result) < _unsteadiness(before):
                    self._ready[loop.code] = result
            loops = [loop for loop in loops if not self._is_enough(loop, expected)]

    def _is_enough(self, loop: MachineLoop, expected: CoreBench | None) -> bool:
        result = self._ready[loop.code]
        if isinstance(result, LoopFailure) or _is_steady(result):
            return True
        if expected is None:
            return False
        if loop.code not in expected._ready:
            expected._ready[loop.code] = expected.machine.measure(loop)
        there = expected._ready[loop.code]
        return isinstance(there, Measurement) and abs(result.cycles - there.cycles) <= _LIKE * there.cycles

    def record(self, v: FormVariant, what: Collection[str] = ALL) -> dict[str, Any]:
        """Measure the requested figures of a form ("latency", "tp", "ports").

        Raises NotMeasured where it cannot be run.

        Under "failed" are figures that could not be measured, with the reason; spreads are in cycles.
        """
        plan = self.plan(v)
        spread: dict[str, float] = {}
        failed: dict[str, str] = {}
        record: dict[str, Any] = {"form": v.shape.key, "conditions": list(v.conditions)}
        latency: list[tuple[str, str, float]] = []
        throughput = None
        if "tp" in what or "ports" in what:
            throughput = self.figure_of(plan.steps[0])
            spread["tp"] = round(throughput.spread, 3)
            if throughput.events:
                record["counted"] = {name: round(count, 2) for name, count in throughput.events.items()}
        if "latency" in what or "ports" in what:
            failed.update(plan.failed)
            for step in plan.steps[1:]:
                try:
                    cycles = self.figure_of(step)
                except NotMeasured as e:
                    failed[f"{step.to}<{step.source}"] = str(e)
                    continue
                latency.append((step.to, step.source, max(0.0, cycles.cycles)))
                spread[f"{step.to}<{step.source}"] = round(cycles.spread, 2)
        if "ports" in what:
            # From one trip through the loop to the next, the instruction depends on itself.
            chain = max((c for t, s, c in latency if t == s), default=1)
            record["slots"] = round(self.slots(v, 1 + int(chain // (_TRIP // 2 - 2))), 2)
            record["seen"] = self.seen(v, 1 + int(chain // (_TRIP - 4)))
        record["tp"] = None if throughput is None else round(throughput.cycles, 3)
        record["latency"] = [[t, s, round(c, 2)] for t, s, c in latency]
        record["spread"] = spread
        record["way"] = self.way
        if failed:
            record["failed"] = failed
        return record

    def figure_of(self, step: FormStep) -> MeasuredFigure:
        """Measure cycles of an instruction, or from operand to result. Raises NotMeasured."""
        figure = self.cycles(step.code)
        added = sum(self.ways[c] if c < 0 else c for c in step.added)
        events = {name: count / step.copies for name, count in figure.events.items()}
        return MeasuredFigure(figure.cycles / step.copies - added, figure.spread / step.copies, events)

    def slots(self, v: FormVariant, scale: int) -> float:
        """Measure issue slots: those that the instruction takes from instructions without a µop on a port."""
        if self.filler is None:
            self.filler = self._find_filler()
        others = [self.filler] * (self.core.dispatch * _TRIP * scale // 2)
        without = self._baseline(("slots", scale), others)
        cycles = self._beside(others, v.build(), without)
        return (cycles - without) * self.core.dispatch

    def _find_filler(self) -> iced.Instruction:
        """Find an instruction that takes only an issue slot, so that the core runs its full issue width in a cycle.

        It is a move that the renamer eliminates, or a nop, although some cores put two nops into one slot.
        """
        moves = [_code("MOV_R64_RM64", Register.RSI, ZERO), _code("NOPD")]
        count = self.core.dispatch * _TRIP

        def wrong(filler: iced.Instruction) -> float:
            # The loop's own subtraction and jump are one.
            return abs(self.figure([filler] * count).cycles / (count + 1) * self.core.dispatch - 1)

        return min(moves, key=wrong)

    def seen(self, v: FormVariant, scale: int) -> dict[str, float]:
        """Measure µops by set of ports.

        This is an instruction's cycles in combination with blockers that keep the ports busy, times the number of
        ports.
        """
        counts = {}
        taken = frozenset({*v.flow.sources, *v.flow.targets} & {"rax", "rcx", "rdx"})
        for blocker in self.blockers:
            if (
                v.shape.encoding == "LEGACY"
                and {"YMM", "ZMM"} & set(blocker.shape.operands)
                and "XMM" in v.shape.operands
            ):
                continue  # SSE must keep the upper halves that these write.
            blockers = [blocking(blocker, n, taken) for n in range(blocker.ports * _TRIP * scale)]
            without = self._baseline((blocker.name, scale, *sorted(taken)), blockers)
            count = (self._beside(blockers, v.build(), without) - without) * blocker.ports
            if count > 0.25:
                counts[blocker.name] = round(count, 2)
        return counts

    def _beside(self, others: Sequence[iced.Instruction], one: iced.Instruction, without: float) -> float:
        """Measure cycles of one instruction among others: the least of three places, as ports may be shared unevenly.

        If the instruction costs nothing at one place, no other place is tried.
        """
        costs: list[float] = []
        for place in (len(others) // 3, len(others) // 2, len(others)):
            costs.append(self.figure([*others[:place], one, *others[place:]]).cycles)
            if costs[-1] - without < _NOTHING:
                break
        return min(costs)

    def _baseline(self, key: tuple[object, ...], code: Sequence[iced.Instruction]) -> float:
        """Measure cycles of the others alone, until one sample is undisturbed: all figures depend on it."""
        if key not in self.baselines:
            self.baselines[key] = min(self.figure(code).cycles for _ in range(5))
        return self.baselines[key]

    def copy(self, v: FormVariant, n: int, shift: int = 0) -> list[iced.Instruction]:
        """Return the n-th of copies of a form that write different registers, and different memory from `shift` on.

        Implicit registers that are read and written get a constant before each copy.
        """
        written = sum(str(k) in v.flow.targets for k in range(len(v.shape.operands)))
        registers = {}
        taken = {*v.flow.sources, *v.flow.targets, *_read(v)}
        for k, operand in enumerate(v.shape.operands):
            if operand in _TARGETS and str(k) in v.flow.targets:
                pool = [r for r in _TARGETS[operand] if root_name(r) not in taken]
                registers[k] = pool[(n * written + k) % len(pool)]
        code = self._constants(v, [r for r in v.flow.targets if r in v.flow.sources and not r.isdigit()], [])
        copy = v.build(registers)
        if v.flow.stores:
            # In order of addresses, for cores that merge stores to one line.
            copy.memory_displacement, copy.memory_displ_size = shift + max(v.shape.memory_bits // 8, 1) * n, 8
        return [*code, copy]

    def _constants(self, v: FormVariant, roots: Sequence[str], operands: Sequence[int]) -> list[iced.Instruction]:
        """Return instructions, done by the renamer if on registers, that end the dependency on earlier values."""
        code = []
        instruction = v.build()
        registers = [getattr(Register, r.upper()) for r in roots if r not in ("C", "SPAZO", "m", "M", "k", "a")]
        registers += [full_register(instruction.op_register(n)) for n in operands]
        for register in registers:
            kind = _kind(register)
            if kind == "gpr":
                code.append(_code("MOV_R64_RM64", register, ZERO if register == Register.RDX else ONE))
            elif kind == "vector":
                code += [i for i, _ in self._move(register, Register.ZMM0)]
            else:
                code.append(_code("VEX_KXNORW_KR_KR_KR", register, Register.K7, Register.K7))
        if {"C", "SPAZO"} & set(roots):
            code.append(_code("CMP_R64_RM64", ONE, ONE))
        return code

    def _chains(self, v: FormVariant, failed: dict[str, str]) -> Iterator[FormStep]:
        """Yield the chains between all pairs of registers and flags; those that cannot be encoded go into `failed`."""
        if v.flow.stores:
            return
        operands = [source for source in v.flow.sources if source.isdigit()]
        for source in v.flow.sources:
            # Operands in one register are one: breaking the dependency of the others would cut the chain.
            linked = operands[0] if "same_reg" in v.conditions and source in operands else source
            for target in v.flow.targets:
                if source in ("m", "a") and not v.shape.has_memory:
                    continue
                try:
                    step = self._chain(v, linked, target)
                except ValueError as e:
                    failed[f"{target}<{source}"] = str(e)
                    continue
                if step is not None:
                    yield replace(step, source=source)

    def _register(self, instruction: iced.Instruction, name: str) -> int | None:
        if name.isdigit():
            return instruction.op_register(int(name))
        if name == "k":
            return instruction.op_mask
        if name in ("C", "SPAZO"):
            return None
        if name in ("m", "a"):
            return cast("int", Register.R12)
        return cast("int", getattr(Register, name.upper()))

    def _chain(self, v: FormVariant, source: str, target: str) -> FormStep | None:
        """Return the chain from a source to a result, with the instructions that close it, or None if there is none.

        From "m" it is from the address register to the result; the load is in it.
        """
        instruction = v.build()
        if source in ("m", "a") and not _address_through_r12(instruction):
            return None
        start = self._register(instruction, source)
        end = self._register(instruction, target)
        if start is None and end is None and source != target:
            return None
        both = [s for s in v.flow.sources if s in v.flow.targets and s != source]
        operands = [int(s) for s in both if s.isdigit() and instruction.op_kind(int(s)) == OpKind.REGISTER]
        before = self._constants(v, [s for s in both if not s.isdigit()], operands)
        links = self._links(start, end, target, source in ("m", "a"))
        # Its bytes are position-independent, so they are encoded once and repeated.
        code = encode([*before, instruction, *(i for i, _ in links)]) * self.unroll
        return FormStep(to=target, source=source, code=code, copies=self.unroll, added=tuple(c for _, c in links))

    def _links(
        self, start: int | None, end: int | None, target: str, is_address: bool
    ) -> list[tuple[iced.Instruction, int]]:
        """Return instructions that bring a result back to the source, each with its cycles or its way.

        `start` and `end` are registers, None for flags; with `is_address` the source is R12, which has to be zero.
        """
        clear = [(_code("AND_R64_RM64", Register.R12, ZERO), 1)] if is_address else []
        if end is None and start is None:
            return []
        if end is None:
            # From a flag: a conditional move into the register that starts the next link.
            assert start is not None
            through = start if _kind(start) == "gpr" else Register.R12
            chosen = "CMOVB_R64_RM64" if target == "C" else "CMOVE_R64_RM64"
            set_one = (_code("MOV_R64_RM64", full_register(through), ONE), 0)
            return [set_one, (_code(chosen, full_register(through), ONE), 1), *clear, *self._move(start, through)]
        if start is None:
            through = end if _kind(end) == "gpr" else Register.R12
            return [*self._move(through, end), (_code("CMP_R64_RM64", full_register(through), ONE), 1)]
        return [*self._move(start, end), *clear]


def _address_through_r12(instruction: iced.Instruction) -> bool:
    """Make the address of an instruction depend on R12, which holds zero; False for one without registers."""
    if instruction.mnemonic != Mnemonic.LEA:
        instruction.memory_index, instruction.memory_index_scale = Register.R12, 1
    elif instruction.memory_base == MEMORY:
        instruction.memory_base = Register.R12
    elif instruction.memory_index != Register.NONE:
        instruction.memory_index = Register.R12
    else:
        return False
    return True
