"""Hand-made kernels, bound kernels and analyses, so that reports and views are tested without decoder, model or core.

The figures are those of Skylake-X as the tests need them: eight ports, issue width 4, and a divider as ninth resource.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import msgspec

from incc.core import Analysis, Chain, Edge, Event, PathStep
from incc.core.analysis import KernelResult, KernelSettings
from incc.core.prediction import bounds_of
from incc.core.roles import LoopPart, Role
from incc.core.waits import Waits
from incc.frontends.kernel import (
    Arithmetic,
    Instruction,
    KernelCode,
    LeftOut,
    MemoryAccess,
    Refused,
    Region,
    Register,
    RegisterAccess,
    SourceLocation,
)
from incc.frontends.unit import Unit
from incc.frontends.x86.classify import divisor_of, sum_of
from incc.models.binding import bound as b
from incc.models.binding.bound import BoundKernel
from incc.models.llvm_names import Llvm, LlvmUnit
from incc.models.loading import load
from incc.models.model import Form, MachineModel
from incc.report import types as t
from incc.report.build import UnitResult, build_report, unit_report

PORTS = [*"01234567", "0DV"]
WIDTHS = {"x": 128, "y": 256, "z": 512}


def register(name: str) -> Register:
    """A full general-purpose or vector register by name."""
    if name[1:].startswith("mm"):
        return Register(name=name, root="z" + name[1:], offset=0, width=WIDTHS[name[0]], kind="vector")
    return Register(name=name, root=name, offset=0, width=64, kind="general")


def memory(
    base: str, index: str = "", *, displacement: int = 0, size: int = 8, load: bool = False, store: bool = False
) -> MemoryAccess:
    return MemoryAccess(
        base=register(base),
        index=register(index) if index else None,
        scale=1,
        displacement=displacement,
        symbol="",
        segment="",
        size=size,
        load=load,
        store=store,
        operand=None,
    )


def mask(ports: str) -> int:
    """Ports by their digits; "D" is the divider."""
    return sum(1 << (8 if p == "D" else int(p)) for p in ports)


class Row:
    """One instruction with all that is known about it, its µops as (ports, kind[, cycles])."""

    def __init__(
        self,
        text: str,
        operands: str,
        registers: list[tuple[int | None, str, str]],
        uops: list[tuple[Any, ...]],
        *,
        latency: int = 1,
        load_latency: int = 0,
        slots: int = 1,
        flags: int = 0,
        accesses: tuple[MemoryAccess, ...] = (),
        arithmetic: Arithmetic | None = None,
        branch: str = "",
        traits: tuple[str, ...] = (),
        length: int = 4,
        pressure: dict[str, float] | None = None,
        derived: str = "",
    ) -> None:
        self.text = text
        self.operands = operands
        self.registers = [
            RegisterAccess(
                register=register(name),
                read="r" in access,
                write="w" in access,
                operand=operand,
                address=access == "ra",
            )
            for operand, name, access in registers
        ]
        self.uops = uops
        self.latency = latency
        self.load_latency = load_latency
        self.slots = slots
        self.flags = flags
        self.accesses = accesses
        self.arithmetic = arithmetic
        self.branch = branch
        self.traits = traits
        self.length = length
        self.pressure = pressure or {}
        self.derived = derived


def make_kernel(
    rows: list[Row],
    *,
    name: str = "triad:.L4",
    function: str = "triad",
    first_line: int = 12,
    is_loop: bool = True,
    notes: tuple[str, ...] = (),
    refused: tuple[Refused, ...] = (),
    with_lines: bool = True,
) -> KernelCode:
    instructions = []
    for i, row in enumerate(rows):
        mnemonic = row.text.split()[0]
        instructions.append(
            Instruction(
                text=row.text,
                line=first_line + i if with_lines else 0,
                offset=4 * i,
                length=row.length,
                mnemonic=mnemonic,
                form=f"{mnemonic.upper()}/{'m' if row.accesses else 'r'}",
                traits=frozenset(row.traits),
                operands=row.operands,
                registers=tuple(row.registers),
                memory=row.accesses,
                flags_read="",
                flags_written="",
                branch=row.branch,
                target="",
                affine=None,
                idiom="",
                move=False,
                arithmetic=row.arithmetic,
                encoding=bytes(row.length),
                sum=sum_of(mnemonic, len(row.operands)),
                divisor=divisor_of(mnemonic, len(row.operands)),
            )
        )
    lines = tuple(i.line for i in instructions)
    region = Region(
        kind="loop",
        name=name,
        function=function,
        label=".L4",
        first_line=first_line,
        last_line=first_line + len(rows),
        lines=lines,
        body_lines=lines,
        is_loop=is_loop,
        depth=1,
        source=SourceLocation("triad.c", 4),
        notes=notes,
    )
    return KernelCode(
        name=name,
        isa="x86",
        region=region if with_lines else None,
        instructions=tuple(instructions),
        is_loop=is_loop,
        alignment=0,
        refused=refused,
    )


def make_bound(rows: list[Row], locations: list[str]) -> BoundKernel:
    """The arrays that reports read; the rest stays unset."""
    k = BoundKernel()
    k.port_names, k.n_ports = list(PORTS), 8
    k.issue_width, k.retire_width = 4, 4
    k.location_names = locations
    k.is_loop, k.pipeline = True, None
    k.blocked_forward_cycles = 0
    k.instruction_flags = [row.flags for row in rows]
    k.issue_slots = [row.slots for row in rows]
    k.retire_slots = [row.slots for row in rows]
    k.latency = [row.latency for row in rows]
    k.load_latency = [row.load_latency for row in rows]
    k.forward_group, k.forward_delay = [-1] * len(rows), [0] * len(rows)
    k.delays_from, k.delays_to, k.early_for = [0] * len(rows), [0] * len(rows), [0] * len(rows)
    k.uop_start, k.uop_ports, k.uop_cycles, k.uop_kind = [0], [], [], []
    for row in rows:
        for ports, kind, *cycles in row.uops:
            k.uop_ports.append(mask(ports))
            k.uop_kind.append(kind)
            k.uop_cycles.append(cycles[0] if cycles else 1)
        k.uop_start.append(len(k.uop_ports))
    return k


def make_analysis(
    rows: list[Row],
    *,
    busiest: str = "",
    port: Fraction | int = 0,
    divider: Fraction | int = 0,
    front_end: Fraction | int = 0,
    chains: tuple[Chain, ...] = (),
    edges: tuple[Edge, ...] = (),
    path: tuple[PathStep, ...] = (),
    path_instructions: tuple[int, ...] = (),
    path_cycles: int = 0,
    chains_complete: bool = True,
) -> Analysis:
    pressure = tuple(tuple(row.pressure.get(p, 0.0) for p in PORTS) for row in rows)
    load = tuple(sum(column) for column in zip(*pressure, strict=True)) if rows else (0.0,) * len(PORTS)
    fixed = []
    for row in rows:
        share = dict.fromkeys(PORTS, 0.0)
        for ports, _, *cycles in row.uops:
            for p in ports:
                share["0DV" if p == "D" else p] += (cycles[0] if cycles else 1) / len(ports)
        fixed.append(tuple(share.values()))
    fixed_load = tuple(sum(column) for column in zip(*fixed, strict=True)) if rows else (0.0,) * len(PORTS)
    return Analysis(
        pressure=pressure,
        port_load=load,
        fixed_pressure=tuple(fixed),
        fixed_port_load=fixed_load,
        busiest_ports=tuple(int(p) for p in busiest),
        port_bound=Fraction(port),
        fixed_port_bound=Fraction(max(fixed_load[:8])).limit_denominator(1000),
        resource_bound=Fraction(divider),
        front_end_bound=Fraction(front_end),
        retire_bound=Fraction(front_end),
        worst_alignment_port_bound=Fraction(0),
        line_crossings=Fraction(0),
        worst_line_crossings=Fraction(0),
        expected_line_crossings=Fraction(0),
        latency_bound=max((chain.cycles_per_iteration for chain in chains), default=Fraction(0)),
        critical_path_cycles=path_cycles,
        critical_path=path,
        critical_path_instructions=path_instructions,
        chains=chains,
        chains_complete=chains_complete,
        edges=edges,
    )


def make_model() -> MachineModel:
    """A model's name tag and functions, without any form."""
    model = MachineModel.__new__(MachineModel)
    model.name, model.title, model.version, model.isa = "skylake-avx512", "Intel Skylake-X", "1", "x86"
    model.aliases, model.ports, model.resources = ("SKX",), tuple("01234567"), ("0DV",)
    units = tuple(LlvmUnit(name=f"SKXPort{p}", number=p, of=p, forms="") for p in "01234567")
    model._llvm = msgspec.msgpack.encode(Llvm(cpu="skylake-avx512", units=units, schedulers=(), register_files=()))
    model.functions = {"load": "2,3", "store_address": "2,3,7", "store_address_indexed": "2,3", "store_data": "4"}
    model.parameters, model.files, model.caches = load("skylake-avx512").parameters, (), {}
    model._forms, model._cache = {}, {}  # type: ignore[assignment]
    return model


def make_forms(rows: list[Row]) -> tuple[Form | None, ...]:
    return tuple(
        None
        if row.flags & b.UNKNOWN
        else Form(
            key=row.text.split()[0],
            uops=(),
            retire_slots=1,
            latency=(),
            divider=0,
            throughput=None,
            breaks_dependency=False,
            fusion="",
            source="uops.info SKL",
            derived=row.derived,
            attributes={},
        )
        for row in rows
    )


def chain(*steps: tuple[int, int, int, int, int]) -> Chain:
    """A chain from (producer, consumer, location, latency, distance)."""
    made = tuple(PathStep(**dict(zip(PathStep.__struct_fields__, step, strict=True))) for step in steps)
    return Chain(sum(s.latency for s in made), sum(s.distance for s in made), made)


def edge(producer: int, consumer: int, location: int, latency: int, distance: int = 0) -> Edge:
    return Edge(
        producer=producer,
        producer_value=producer,
        consumer=consumer,
        consumer_value=consumer,
        location=location,
        latency=latency,
        distance=distance,
    )


def step(producer: int, consumer: int, location: int, latency: int, distance: int = 0) -> PathStep:
    return PathStep(producer=producer, consumer=consumer, location=location, latency=latency, distance=distance)


FMA = Arithmetic(packed=True, floating=True, element=64, width=256, operations=8)
SCALAR_ADD = Arithmetic(packed=False, floating=True, element=64, width=64, operations=1)

COUNTER = Row(
    "addq $32, %rax", "ri", [(0, "rax", "rw")], [("0156", b.UOP_COMPUTE)], pressure={"1": 0.5, "5": 0.5}, length=4
)
JUMP_COMPARE = Row(
    "cmpq %rax, %rcx", "rr", [(0, "rcx", "r"), (1, "rax", "r")], [("6", b.UOP_BRANCH)], pressure={"6": 1}
)
JUMP = Row("jne .L4", "b", [], [], slots=0, latency=0, flags=b.FUSED_INTO_PREVIOUS | b.IS_BRANCH, length=2)


def triad_rows() -> list[Row]:
    """a[i] = b[i] + s * c[i] in 256-bit vectors with an indexed store."""
    return [
        Row(
            "vmovupd (%rsi,%rax), %ymm0",
            "rm",
            [(0, "ymm0", "w"), (None, "rsi", "ra"), (None, "rax", "ra")],
            [("23", b.UOP_LOAD)],
            latency=7,
            load_latency=7,
            flags=b.IS_LOAD,
            accesses=(memory("rsi", "rax", size=32, load=True),),
            traits=("indexed",),
            length=5,
            pressure={"2": 0.5, "3": 0.5},
        ),
        Row(
            "vfmadd213pd (%rdx,%rax), %ymm1, %ymm0",
            "rrm",
            [(0, "ymm0", "rw"), (1, "ymm1", "r"), (None, "rdx", "ra"), (None, "rax", "ra")],
            [("23", b.UOP_LOAD), ("01", b.UOP_COMPUTE)],
            latency=11,
            load_latency=7,
            slots=2,
            flags=b.IS_LOAD,
            accesses=(memory("rdx", "rax", size=32, load=True),),
            arithmetic=FMA,
            traits=("indexed",),
            length=6,
            pressure={"0": 1, "2": 0.5, "3": 0.5},
        ),
        Row(
            "vmovupd %ymm0, (%rdi,%rax)",
            "mr",
            [(1, "ymm0", "r"), (None, "rdi", "ra"), (None, "rax", "ra")],
            [("23", b.UOP_STORE_ADDRESS), ("4", b.UOP_STORE_DATA)],
            latency=0,
            slots=2,
            flags=b.IS_STORE,
            accesses=(memory("rdi", "rax", size=32, store=True),),
            traits=("indexed",),
            length=5,
            pressure={"2": 0.5, "3": 0.5, "4": 1},
            derived="from the register form",
        ),
        COUNTER,
        JUMP_COMPARE,
        JUMP,
    ]


def triad_parts() -> tuple[KernelCode, BoundKernel, Analysis]:
    rows = triad_rows()
    locations = ["zmm0", "rax", "flag C", "flags SPAZO"]
    analysis = make_analysis(
        rows,
        busiest="23",
        port=Fraction(3, 2),
        front_end=Fraction(7, 4),
        chains=(chain((3, 3, 1, 1, 1)),),
        edges=(
            edge(0, 1, 0, 4),
            edge(1, 1, -1, 4),
            edge(1, 2, 0, 0),
            edge(3, 0, 1, 7, 1),
            edge(3, 1, 1, 7, 1),
            edge(3, 2, 1, 0, 1),
            edge(3, 3, 1, 1, 1),
            edge(3, 4, 1, 1),
            edge(4, 5, 3, 0),
        ),
        path=(step(0, 1, 0, 4), step(1, 2, 0, 0)),
        path_instructions=(0, 1, 2),
        path_cycles=11,
    )
    return make_kernel(rows), make_bound(rows, locations), analysis


def triad_events() -> tuple[Event, ...]:
    """Two iterations of the triad."""
    events = []
    lives = [
        (0, 0, 1, 8, 9),
        (0, 8, 8, 12, 13),
        (1, 12, 12, 13, 14),
        (1, 1, 2, 3, 14),
        (1, 3, 3, 4, 14),
        (1, 3, 3, 4, 14),
    ]
    for iteration in (0, 1):
        for i, life in enumerate(lives):
            shifted = [cycle + 2 * iteration for cycle in life]
            events.append(
                Event(
                    **dict(
                        zip(Event.__struct_fields__, (iteration, i, *shifted, (2,) if i == 0 else (-1,)), strict=True)
                    )
                )
            )
    return tuple(events)


def triad_waits() -> Waits:
    """The multiplication waits for the load, the load for a port that the store takes."""
    return Waits(
        had=(1.5, 4.0, 0.0, 0.0, 0.0, 0.0),
        for_inputs=(0.0, 4.0, 0.0, 0.0, 0.0, 0.0),
        caused=(4.0, 0.0, 1.5, 0.0, 0.0, 0.0),
        inputs={(1, 0): 4.0},
        ports={(0, 2): 1.5},
        blocked={(2, 2): 1.5},
    )


def sum_rows() -> list[Row]:
    """A scalar sum: one addition that waits for the one before."""
    return [
        Row(
            "vaddsd (%rdi,%rax), %xmm0, %xmm0",
            "rrm",
            [(0, "xmm0", "w"), (1, "xmm0", "r"), (None, "rdi", "ra"), (None, "rax", "ra")],
            [("23", b.UOP_LOAD), ("01", b.UOP_COMPUTE)],
            latency=10,
            load_latency=6,
            slots=2,
            flags=b.IS_LOAD,
            accesses=(memory("rdi", "rax", load=True),),
            arithmetic=SCALAR_ADD,
            traits=("indexed",),
            length=5,
            pressure={"0": 0.5, "1": 0.5, "2": 0.5, "3": 0.5},
        ),
        COUNTER,
        JUMP_COMPARE,
        JUMP,
    ]


def sum_parts() -> tuple[KernelCode, BoundKernel, Analysis]:
    rows = sum_rows()
    analysis = make_analysis(
        rows,
        busiest="6",
        port=1,
        front_end=1,
        chains=(chain((0, 0, 0, 4, 1)), chain((1, 1, 1, 1, 1))),
        edges=(edge(0, 0, 0, 4, 1), edge(1, 0, 1, 6, 1), edge(1, 1, 1, 1, 1), edge(1, 2, 1, 1), edge(2, 3, 2, 0)),
        path=(),
        path_instructions=(0,),
        path_cycles=10,
    )
    kernel = make_kernel(rows, name="sum:.L4", function="sum", first_line=40)
    return kernel, make_bound(rows, ["zmm0", "rax", "flags SPAZO"]), analysis


def unknown_parts() -> tuple[KernelCode, BoundKernel, Analysis]:
    """The sum with an instruction that no model has, and a statement that the assembler refused."""
    rows = [Row("vfoo %xmm1, %xmm2", "rr", [], [], slots=0, latency=0, flags=b.UNKNOWN), *sum_rows()]
    analysis = make_analysis(
        rows,
        busiest="6",
        port=1,
        front_end=1,
        chains=(chain((1, 1, 0, 4, 1)),),
        edges=(edge(1, 1, 0, 4, 1),),
        path_instructions=(1,),
        path_cycles=10,
    )
    refused = (Refused(47, "bogus %rax", "no such instruction: `bogus %rax'"),)
    kernel = make_kernel(rows, name="sum:.L9", function="sum", first_line=40, refused=refused)
    return kernel, make_bound(rows, ["zmm0", "rax"]), analysis


def make_result(
    kernel: KernelCode,
    bound: BoundKernel,
    analysis: Analysis,
    forms: tuple[Form | None, ...] | None = None,
    *,
    model: MachineModel | None = None,
    fixed_ports: bool = False,
    **found: Any,
) -> KernelResult:
    """The result of analysing a kernel, put together from its parts; `found` as KernelResult has it."""
    return KernelResult(
        kernel,
        model or make_model(),
        bound,
        (None,) * len(kernel.instructions) if forms is None else forms,
        bounds_of(analysis, fixed_ports),
        settings=KernelSettings(fixed_ports=fixed_ports),
        known_analysis=analysis,
        **found,
    )


def make_report(*parts: tuple[KernelCode, BoundKernel, Analysis], timeline: bool = False) -> t.AnalysisReport:
    """A report on one unit with the kernels given (the triad with its timeline, if asked)."""
    model = make_model()
    results = tuple(
        make_result(
            kernel,
            bound,
            analysis,
            events=triad_events() if timeline and kernel.region.function == "triad" else None,
            waits=triad_waits() if timeline and kernel.region.function == "triad" else None,
        )
        for kernel, bound, analysis in parts
    )
    unit = Unit(
        assembly="",
        assembly_file="triad.s",
        source="triad.c",
        compiler="gcc",
        compiler_version="12.2.0",
        command=("gcc", "-O3", "-c", "triad.c"),
        cpu="skylake-avx512",
    )
    left_out = (
        LeftOut(
            first_line=90, last_line=99, function="scan", label=".L20", reason="entered in the middle from line 85"
        ),
    )
    chosen_by = "the command's target, skylake-avx512"
    # Their arrays are no more than reports need: streams cannot be followed.
    alone = [LoopPart(Role(name="main", of=-1), None)] * len(results)
    return build_report(
        [
            unit_report(
                UnitResult(unit=unit, model=model, chosen_by=chosen_by, results=results, left_out=left_out, parts=alone)
            )
        ]
    )
