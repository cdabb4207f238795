"""LLVM's names of a core's resources, in LLVM's order, and the ports and units of ours that they stand for.

A model file has them in its table `llvm`, which `incc-model import llvm --resources` writes (docs/models.md);
llvm-mca's views print them. No analysis depends on them.
"""

from __future__ import annotations

import msgspec


class LlvmUnit(msgspec.Struct, frozen=True, kw_only=True):
    """A column of llvm-mca's resource pressure: one unit of a resource."""

    name: str
    """The resource's name, repeated for each of its units."""
    number: str
    """The number that llvm-mca prints in brackets: "3", or "3.0" of a resource with several units."""
    of: str
    """The port or other unit of ours that it stands for, "" for none, and an empty column.

    Several are joined by ",", if ours are kinds of unit behind one port of LLVM's.
    """
    forms: str
    """Patterns of forms (models.patterns) that are counted here, "" for all."""


class LlvmScheduler(msgspec.Struct, frozen=True, kw_only=True):
    """A resource with a buffer: a row of llvm-mca's “Scheduler's queue usage”."""

    name: str
    entries: int
    """LLVM's number of entries."""
    ports: tuple[str, ...]
    """Our ports whose µops wait there."""
    queue: str
    """"load" or "store" if it stands for the buffer of loads or stores, else ""."""


class LlvmRegisterFile(msgspec.Struct, frozen=True, kw_only=True):
    """A register file by LLVM's name."""

    name: str
    registers: int
    """LLVM's number of registers."""
    kind: str
    """The registers that are renamed there, "integer" or "vector"."""
    moves: int | None
    """The most moves that it eliminates in a cycle, 0 for no limit; None if LLVM counts no moves of its registers."""


class Llvm(msgspec.Struct, frozen=True, kw_only=True):
    """LLVM's names of the parts of a core."""

    cpu: str
    """LLVM's -mcpu name whose scheduling model has these names."""
    units: tuple[LlvmUnit, ...]
    """Empty if LLVM describes the core by the units of another one; then there are no schedulers either."""
    schedulers: tuple[LlvmScheduler, ...]
    register_files: tuple[LlvmRegisterFile, ...]


def unpacked(packed: bytes) -> Llvm | None:
    """Return the names in a model's header, None for a model without them."""
    return msgspec.msgpack.decode(packed, type=Llvm) if packed else None
