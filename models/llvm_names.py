"""How LLVM's scheduling model of a core names and orders its resources, and which of ours each of them is.

A model file has them in its table `llvm`, which `incc-model import llvm --resources` writes (docs/models.md);
llvm-mca's views print them. Nothing of an analysis depends on them.
"""

from __future__ import annotations

from incc.frontends.records import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class LlvmUnit(NamedTuple):
    """A column of llvm-mca's resource pressure: one unit of a resource, in LLVM's order.

    `name`: of the resource; one with several units is there as often. `number`: "3", of one with several "3.0", as
    llvm-mca prints it in brackets. `of`: the port or other unit of ours that it stands for, or several with commas
    between them, as where ours are kinds of unit behind a port of LLVM's; "" where there is none, and the column always
    empty. `forms`: patterns of forms (models.patterns): only these are counted here, "" for all.
    """

    name: str
    number: str
    of: str
    forms: str


class LlvmScheduler(NamedTuple):
    """A resource with a buffer: a row of llvm-mca's “Scheduler's queue usage”, in LLVM's order.

    `entries`: LLVM's number of them; `ports`: our ports whose µops wait there. `queue`: "load" or "store" where it
    stands for the buffer of loads or stores, else "".
    """

    name: str
    entries: int
    ports: tuple[str, ...]
    queue: str


class LlvmRegisterFile(NamedTuple):
    """A register file by LLVM's name. `registers`: LLVM's number; `kind`: whose registers are renamed there, "integer"
    or "vector"; `moves`: the most moves that it eliminates in a cycle, 0 where there is no limit."""

    name: str
    registers: int
    kind: str
    moves: int


class Llvm(NamedTuple):
    """What LLVM calls the parts of a core. `cpu`: the -mcpu= of LLVM whose scheduling model has these names."""

    cpu: str
    units: tuple[LlvmUnit, ...]
    schedulers: tuple[LlvmScheduler, ...]
    register_files: tuple[LlvmRegisterFile, ...]


def from_header(packed: tuple[Any, ...] | None) -> Llvm | None:
    """What compiled tables have (models/files/llvm_table.py), None for a model without LLVM's names."""
    if not packed:
        return None
    cpu, units, schedulers, files = packed
    return Llvm(
        cpu,
        tuple([LlvmUnit(*u) for u in units]),
        tuple([LlvmScheduler(*s) for s in schedulers]),
        tuple([LlvmRegisterFile(*f) for f in files]),
    )
