"""The core that is measured, from a model of it or of its nearest relative.

This module has no facts about any core: its width, its instructions and those that keep a set of ports busy come from
the model and from the processor's CPUID, and are tried before use.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import cast

import iced_x86 as iced
import msgspec
from iced_x86 import OpKind, Register, RegisterExt

from incc.models.forms.shapes import FEATURES, Shape, by_key, dataflow, example, features, root_name
from incc.models.model import Form, MachineModel
from incc.models.notation import port_set_name
from incc.models.processors.host import feature
from incc.models.throughput import of_form

# Features of every x86-64 processor, and those that have no name of their own in CPUID.
_ALWAYS = frozenset(
    ("X64", "CMOV", "SSE", "SSE2", "MULTIBYTENOP", "FPU", "CPUID", "INTEL8086", "INTEL8086_ONLY", "INTEL186")
).union(("INTEL286", "INTEL386", "INTEL486"))
_OTHER_NAMES = {"CMPXCHG16B": "cx16", "PCLMULQDQ": "pclmul", "LZCNT": "lzcnt", "AES": "aes", "SSE3": "sse3"}


class Blocker(msgspec.Struct, frozen=True):
    """A form whose copies, independent of each other, keep a set of ports busy."""

    name: str
    """The set as models write it (p015, ALU0123)."""
    ports: int
    """The number of its µops per cycle."""
    shape: Shape


class MeasuredCore(msgspec.Struct, frozen=True, kw_only=True):
    """The core that is measured."""

    name: str
    """The name of its model."""
    dispatch: int
    """Fused µops or macro-ops per cycle."""
    vector_load: int
    """Cycles from address to a loaded vector."""
    features: frozenset[str]
    """CPUID features by iced-x86's names."""
    fusion: dict[str, str]
    """Mnemonics of the instructions that macro-fuse unless they have a memory operand, and the jumps."""
    blockers: tuple[tuple[Blocker, ...], ...]
    """For each set of ports several blockers, the best first."""


def target(model: MachineModel, there: frozenset[str]) -> MeasuredCore:
    """Return the target that a model describes.

    `there` has the processor's features, by iced-x86's names (`features_of_host`, `features_of`).
    """
    load = model.parameters["load_latency"]
    return MeasuredCore(
        name=model.name,
        dispatch=int(model.parameters["issue_width"]),
        vector_load=int(load.get("xmm", load.get("vector", load["gpr"] + 2))),
        features=there,
        fusion={name.replace("_", " "): " ".join(jumps) for name, jumps in model.macro_fusion.items()},
        blockers=tuple(_blockers(model, there)),
    )


def features_of_host(seen: frozenset[str]) -> frozenset[str]:
    """Return iced-x86's names of features that `models.processors.host` saw."""
    return frozenset(
        name
        for name in FEATURES.values()
        if name in _ALWAYS or feature(name) in seen or _OTHER_NAMES.get(name, "?") in seen
    )


def features_of(model: MachineModel) -> frozenset[str]:
    """Return iced-x86's names of the features that a model's forms need."""
    forms = by_key()
    return _ALWAYS.union(*(features(forms[f]) for f in model.forms() if f in forms))


# --- blockers --------------------------------------------------------------------------------------------------------

ONE, ZERO, MEMORY = Register.R13, Register.R15, Register.R14
"""Registers that hold that value, and that nothing writes."""


def registers_by_kind(roots: str, vectors: Iterable[int], masks: Iterable[int]) -> dict[str, tuple[int, ...]]:
    """Return registers by the kind of an operand (`Shape.operands`), from roots ("RAX R8") and numbers of the others.

    Masks and vectors have the same numbers in each kind.
    """
    names = {kind: [_part(root, kind) for root in roots.split()] for kind in ("R8", "R16", "R32", "R64")}
    names |= {kind: [f"{kind}{n}" for n in vectors] for kind in ("XMM", "YMM", "ZMM")}
    names["K"] = [f"K{n}" for n in masks]
    return {kind: tuple(getattr(Register, name) for name in some) for kind, some in names.items()}


def _part(root: str, kind: str) -> str:
    """Return the name of a general-purpose register's part."""
    if root[1:].isdigit():
        return root + {"R64": "", "R32": "D", "R16": "W", "R8": "L"}[kind]
    return {"R64": root, "R32": f"E{root[1:]}", "R16": root[1:], "R8": f"{root[1:].rstrip('X')}L"}[kind]


_WRITTEN = registers_by_kind("RSI RDI RBX", range(5, 11), [6])
# The number of independent copies of a form that reads its result.
_READ_AND_WRITTEN = registers_by_kind("RSI RDI RBX R12 R11 R10 RAX RCX RDX", [], [])["R64"]
_READ = registers_by_kind("R15", [12], [7])
_NOT_ALIKE = ("BSF", "BSR", "LSL", "LAR", "RDPID", "SMSW", "SLDT", "STR")
"""Bit scans, which keep their destination if no bit is set, and instructions that do more than they seem to."""
_CANDIDATES = 6
"""The number of blockers of a set to try: the model does not describe their behaviour in combination with others."""


def _blockers(model: MachineModel, there: frozenset[str]) -> Iterator[tuple[Blocker, ...]]:
    """Yield blockers of each set of ports that one µop of some form has to itself, or that limits a larger form."""
    candidates: dict[str, list[tuple[tuple[object, ...], Blocker]]] = {}
    for key in model.forms():
        shape = by_key().get(key)
        form = model.lookup(key, frozenset())
        if shape is None or form is None or not features(shape) <= there or not _keeps_busy(shape, form):
            continue
        alone = len(form.uops) == 1
        ports = min(form.uops, key=lambda u: u[0].count(","))[0]
        if not alone and of_form(form.uops) != of_form([(ports, 1)]):
            continue
        names = ports.split(",")
        width = len(names)
        if not alone and any(u != ports and u.count(",") + 1 < 2 * width for u, _ in form.uops):
            continue
        blocker = Blocker(port_set_name(names), width, shape)
        candidates.setdefault(ports, []).append(((not alone, *_plainness(shape)), blocker))
    for ports in sorted(candidates, key=lambda p: (-len(p.split(",")), p)):
        ordered = sorted(candidates[ports], key=lambda b: (b[0], b[1].shape.key))
        # Each has another mnemonic, since siblings share their faults.
        others = {blocker.shape.mnemonic: blocker for _, blocker in reversed(ordered)}
        yield tuple([b for _, b in ordered if others[b.shape.mnemonic] == b][:_CANDIDATES])


def _keeps_busy(shape: Shape, form: Form) -> bool:
    """Return True if copies of the form with other results depend on nothing, and on nothing but ports."""
    if shape.has_memory and (shape.mnemonic != "MOV" or len(form.uops) > 1):
        return False
    return (
        _needs_only_ports(form)
        and _has_free_registers(shape)
        and not _may_be_renamed(shape)
        and _is_independent(shape, form)
    )


def _needs_only_ports(form: Form) -> bool:
    if not form.uops or any(n != 1 for _, n in form.uops) or form.divider or form.throughput:
        return False
    slow_to_decode = form.attributes.get("complex_decoder") or form.attributes.get("uops_ms")
    return form.retire_slots <= len(form.uops) and not slow_to_decode


def _has_free_registers(shape: Shape) -> bool:
    """Return True if the form runs anywhere, with registers that can be chosen: another to write for each copy."""
    info = shape.info
    if info.must_be_cpl0 or info.is_privileged or info.is_stack_instruction or info.is_non_temporal:
        return False
    if shape.mnemonic in _NOT_ALIKE or (shape.encoding == "EVEX" and "ZMM" not in shape.operands):
        return False
    # Parts of 8 and 16 bits keep the rest of their register.
    if not shape.operands or shape.operands[0] in ("R8", "R16") or shape.operands[0] not in _WRITTEN:
        return False
    return all(o in _READ or o[0] == "I" or o in ("M", "1") for o in shape.operands[1:])


def _may_be_renamed(shape: Shape) -> bool:
    """Return True for moves within a class of registers, which the renamer may do alone."""
    moves = "MOV" in shape.mnemonic and not any(m in shape.mnemonic for m in ("CMOV", "MOVSX"))
    return moves and not shape.has_memory and shape.operands[1][0] == shape.operands[0][0]


def _is_independent(shape: Shape, form: Form) -> bool:
    """Return True if copies of the form with other results do not wait for each other."""
    flow = dataflow(shape)
    if flow.stores:
        return False
    if "0" not in flow.targets:
        # Comparisons: nothing reads their results.
        if shape.has_memory or not flow.targets or "1" not in flow.sources or shape.operands[0] not in ("R64", "R32"):
            return False
    elif "0" in flow.sources and (shape.operands != ("R64", "R64") or ("0", "0", 1) not in form.latency):
        return False
    flags = {"C", "SPAZO"}
    if not {t for t in flow.targets if not t.isdigit()} <= flags:
        return False
    others = {s for s in flow.sources if not s.isdigit()} - {"m", "a"}
    return others <= flags and not (others and flags & set(flow.targets))


def _plainness(shape: Shape) -> tuple[object, ...]:
    """Return the sort key of a blocker: forms that cores treat like most others come first."""
    order = ("R64", "R32", "XMM", "YMM", "ZMM", "K")
    kinds = {"R" if o.startswith("R") else "K" if o == "K" else "V" for o in shape.operands if o[0] not in "I1"}
    flow = dataflow(shape)
    return (
        2 * ("0" in flow.sources) - ("0" not in flow.targets),
        shape.mnemonic == "LEA",
        len(kinds),
        shape.encoding == "LEGACY" and "XMM" in shape.operands,
        bool({"C", "SPAZO"} & set(flow.sources)),
        order.index(shape.operands[0]),
        # A renamer may take constants, and they make the code long.
        shape.operands[-1][0] == "I" and len(shape.operands) == 2,
        "I64" in shape.operands or shape.operand_size == 16,
        len(shape.operands),
    )


def blocking(blocker: Blocker, number: int, taken: frozenset[str] = frozenset()) -> iced.Instruction:
    """Return the number-th copy of a blocker. `taken` has root names of registers that it must not write."""
    shape = blocker.shape
    i, flow = example(shape), dataflow(shape)
    for n, operand in enumerate(shape.operands):
        if i.op_kind(n) != OpKind.REGISTER:
            continue
        if n == 0 and "0" in flow.targets:
            pool = _READ_AND_WRITTEN if "0" in flow.sources else _WRITTEN[operand]
            free = [r for r in pool if root_name(r) not in taken]
            register = free[number % len(free)]
        else:
            (register,) = _READ[operand]
        i.set_op_register(n, cast("iced.Register_", register))
    if shape.has_memory:
        i.memory_base = MEMORY
        # Some cores load from one bank of their cache once a cycle.
        i.memory_displacement, i.memory_displ_size = 8 * (number % 8 + 1), 1
    return i


def full_register(register: int) -> int:
    """Return the widest register that this one is a part of."""
    return RegisterExt.full_register(cast("iced.Register_", register))
