"""How much two kernels do in an iteration, and how long they take wherever the linker puts them: what must be known
before their cycles are compared."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from incc.report import types as t

NOTHING = 0.01
"""A smaller part of the cycles gained or lost is nothing: predictions are not that good."""


def work_ratio(before: t.Kernel, after: t.Kernel) -> float | None:
    """How many times as much of the source's loop an iteration of `after` does; None where that is not known.

    Elements say it where they are known of both, and are the same in both; else bytes by which their accesses move on;
    else their arithmetic, if what they load or store bears it out.
    """
    old, new = before.elements, after.elements
    if old and new and old.per_iteration and new.per_iteration:
        elements = new.per_iteration / old.per_iteration
        return _other_elements(before, after, elements) or elements
    # The same source moves on by the same bytes for an element; what is loaded tells less, since vectors may load more
    # than they use, or the same several times.
    old_step, new_step = before.memory.step, after.memory.step
    if old_step and new_step:
        return new_step / old_step
    return _by_arithmetic(before, after)


def elements_of(a: float | None, b: float | None, work: float | None) -> tuple[float, float] | None:
    """Elements of an iteration of two kernels, of which b does so many times as much `work`; None if they are known of
    neither. One kernel's tell the other's: those of code that moves data between lanes are often not seen. If the loop
    was unrolled by hand in one of them, they are those of the other one's source."""
    if not work:
        return (a, b) if a and b else None
    found = max(a or 0.0, b / work if b else 0.0)
    if a and b and abs(found * work / b - 1) < 1e-9 and abs(found / a - 1) < 1e-9:
        return a, b
    return (found, found * work) if found else None


def _other_elements(before: t.Kernel, after: t.Kernel, elements: float) -> float | None:
    """The ratio of the work where an iteration of the source's loop is not the same in both, since one was unrolled by
    hand: then steps, operations and bytes all say the same, and something else than the elements. With another layout
    of the data steps alone differ, with another type of them bytes do, with another computation operations."""
    old_step, new_step = before.memory.step, after.memory.step
    if not old_step or not new_step or new_step / old_step == elements:
        return None
    work = _by_arithmetic(before, after)
    return work if work == new_step / old_step else None


def _by_arithmetic(before: t.Kernel, after: t.Kernel) -> float | None:
    """The ratio of their operations, by element, if it is that of bytes as well: one alone may be chance."""
    if before.memory.unsized_accesses or after.memory.unsized_accesses:
        return None
    old, new = before.arithmetic, after.arithmetic
    moved, moves = before.memory, after.memory
    operations = ((old.flop, new.flop), (old.integer_operations, new.integer_operations))
    transfers = ((moved.bytes_loaded, moves.bytes_loaded), (moved.bytes_stored, moves.bytes_stored))
    done = {second / first for first, second in operations if first and second}
    both = done & {second / first for first, second in transfers if first and second}
    return both.pop() if len(done) == 1 and both else None


def expected_cycles(kernel: t.Kernel) -> float:
    """The prediction, for one that depends on where the linker puts the loop the average over the places."""
    found = places(kernel)
    return round(sum(found) / len(found), 6) if len(found) > 1 else found[0]


def places(kernel: t.Kernel) -> list[float]:
    """What is predicted for each place where the linker may put a loop, where that matters."""
    for hint in kernel.hints:
        if hint.rule == "code-placement":
            return list(hint.evidence["cycles_at"].values())
    return [kernel.cycles]


def calls(kernel: t.Kernel) -> list[str]:
    """The notes on functions that are called, whose time is not in the prediction."""
    return [note for note in kernel.notes if "call" in note and note.endswith("what it costs is not counted")]
