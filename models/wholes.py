"""Bound kernels that are found again.

Kernels of one file are often alike but for the names of their registers: loops that a compiler cloned, regions that a
script wrote. Bound to a core they are the same numbers, and these are put together once.
"""

from __future__ import annotations

from itertools import chain, count
from operator import attrgetter

from incc.models.bound import BoundKernel
from incc.models.pieces import LONGEST_JOINED, MOST_JOINED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from incc.frontends.kernel import Kernel
    from incc.models.model import MachineModel
    from incc.models.pieces import Known, Piece

_FIELDS = tuple([name for name in BoundKernel.__slots__ if name != "location_names"])
_fields = attrgetter(*_FIELDS)


class Whole:
    """A kernel made of these pieces, none of which is of this kernel alone; no part of a register is renamed apart.

    What is bound depends on what is the same in all pieces of a number, on where they lie, and on which of their
    locations and registers are the same ones. `names` are those of the locations, in the order of their numbers.
    """

    __slots__ = ("_key", "_known", "names")

    def __init__(self, kernel: Kernel, model: MachineModel, pieces: Sequence[Piece], known: Known) -> None:
        self._known = known
        self.names: list[str] = []
        self._key: Any = None
        if len(pieces) > LONGEST_JOINED:
            return
        named = [*chain.from_iterable([piece.locations for piece in pieces])]
        # What the simulator adds to the locations, in its order (models.pipeline).
        stack = model.parameters.get("stack_engine", "")
        if stack and pieces[0].facts is not None:
            named.append(stack)
        moves = [piece.facts for piece in pieces if piece.facts is not None and piece.facts.move_to]
        named += [move.move_from for move in moves]
        named += [move.move_to for move in moves]
        numbers = dict(zip(dict.fromkeys(named), count()))  # there is no end to count
        self.names = list(numbers)
        first = kernel.instructions[0].offset
        registers: list[int] = []
        if model.parameters["late_beside_flags"]:
            # Registers of which a location is a part, or which have none.
            number = numbers.setdefault
            registers = [number(root, len(numbers)) for piece in pieces for root in piece.roots]
        self._key = (
            tuple([piece.number for piece in pieces]),
            tuple([numbers[name] for name in named]),
            tuple(registers),
            tuple([i.offset - first for i in kernel.instructions]),
            kernel.alignment,
            kernel.is_loop,
        )

    def find(self) -> BoundKernel | None:
        """The kernel, if one that is alike was kept, without what its registers hold at its start. It has its arrays
        and its pipeline in common with that one: who changes one of them puts another in its place."""
        known = self._known.wholes.get(self._key)
        if known is None:
            return None
        found = BoundKernel()
        for name, value in zip(_FIELDS, known, strict=True):
            setattr(found, name, value)
        found.location_names = self.names
        return found

    def keep(self, bound: BoundKernel) -> None:
        """Keep a kernel that was not found, as it is bound, without what its registers hold at its start."""
        if self._key is None:
            return
        wholes = self._known.wholes
        if len(wholes) >= MOST_JOINED:
            wholes.clear()
        wholes[self._key] = _fields(bound)
