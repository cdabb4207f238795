"""Moves that are fused with the operation behind them.

Redwood Cove makes one µop of `mov %rdx, %rax; and $7, %rax`: of a move from register to register, and an operation
right behind it that goes on with the copy. The pair computes what the operation does, from the register that was
moved, so that the move takes no slot at issue and retirement either. Parameter `move_fusion` names forms of moves, and
the operations with which these fuse.
"""

from __future__ import annotations

from incc.frontends.records import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence, Set
    from typing import Any

    from incc.frontends.kernel import Instruction, Kernel
    from incc.models.model import Form, MachineModel


class _Matches(NamedTuple):
    """Which rules of `move_fusion`, by number, a form matches as the move, and which as the operation."""

    moves: frozenset[int]
    operations: frozenset[int]


def find_fused_moves(
    kernel: Kernel,
    forms: Sequence[Form | None],
    jumps: Set[int],
    parameters: Mapping[str, Any],
    model: MachineModel,
) -> frozenset[int]:
    """Indices of moves that are fused with the instruction behind; `jumps`: those fused with the one before."""
    rules = parameters["move_fusion"]
    if not rules:
        return frozenset()
    known: dict[str, _Matches] = model.pieces.setdefault("move fusion", {})

    def matches(form: Form) -> _Matches:
        found = known.get(form.key)
        if found is None:
            found = known[form.key] = _Matches(*[_matched(form.key, side) for side in (rules, rules.values())])
        return found

    fused = set()
    for n, (move, operation) in enumerate(zip(kernel.instructions, kernel.instructions[1:], strict=False)):
        first, second = forms[n], forms[n + 1]
        if (
            move.move
            and first is not None
            and not first.uops
            and second is not None
            # One that is fused with a jump is not fused twice.
            and n + 2 not in jumps
            and _goes_on(move, operation)
            and matches(first).moves & matches(second).operations
        ):
            fused.add(n)
    return frozenset(fused)


def _matched(key: str, sides: Any) -> frozenset[int]:
    from incc.models.patterns import matches

    return frozenset([number for number, patterns in enumerate(sides) if matches(key, patterns)])


def _goes_on(move: Instruction, operation: Instruction) -> bool:
    """Whether the operation is done on the copy, in its place, with something else than the copy."""
    copies = [a.register for a in move.registers if a.write]
    if len(copies) != 1 or operation.memory or any(a.register == copies[0] and a.read for a in move.registers):
        return False
    copy = copies[0]
    first = [a for a in operation.registers if a.operand == 0]
    others = [a for a in operation.registers if a.operand != 0]
    return (
        len(first) == 1
        and first[0].read
        and first[0].write
        and first[0].register == copy
        and all(a.register.root != copy.root for a in others)
    )
